"""What is small, light or exact in a mechanism does not depend on units, nor on what stands beside it or far away."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from examples import some_of
from hypothesis import given
from hypothesis import strategies as st

import mechsim
from mechsim import simulation
from mechsim.errors import AssemblyError

# Regular motions that magnify errors by less than 100, so runs at 1e-12 that err by 1e-12 of the size agree to this.
AGREE = 1e-9
END = 0.5


@dataclass(frozen=True)
class Told:
    """A crank with turn angle, or more, told in units of 1/`unit` m and 1/`mass` kg, with something beside it."""

    kind: str = "crank"
    unit: float = 1.0
    mass: float = 1.0
    fixed: str = ""
    rigids: str = ""
    joints: str = ""

    def rod(self, name: str, length: float) -> str:
        u, m = self.unit, self.mass
        inertia = m * (length * u) ** 2 / 12
        return f"{name}: {{Geom: [[{length * u!r}]], Dyna: [[{length * u / 2!r}], {m!r}, {inertia!r}]}}"

    @property
    def text(self) -> str:
        u = self.unit
        rods, ground, joints = {
            "crank": ([("OA", 1.0)], "", ""),
            "four-bar": ([("OA", 1.0), ("AB", 3.5), ("CB", 2.0)], f", C: [{3 * u!r}]", ""),
            "slider-crank": ([("OA", 1.0), ("AB", 3.0)], f", R: [{u!r}]", "Slots: {B-OR: []}"),
            "two cranks": ([("OA", 1.0), ("AB", 0.7)], "", ""),
        }[self.kind]
        parts = ", ".join([*(self.rod(*each) for each in rods), *filter(None, [self.rigids])])
        guesses = {"four-bar": f", B: [{3.4 * u!r}, {2 * u!r}]", "slider-crank": f", B: [{2.8 * u!r}]"}
        torques = self.mass * u**2
        return f"""
PartData:
  Fixed: {{O: []{ground}{self.fixed}}}
  Rigids: {{{parts}}}
Joints: {{{", ".join(filter(None, [joints, self.joints]))}}}
AppliedForces: {{Gravity: [0, {-9.81 * u!r}], Torques: {{OA: {torques!r}*(1 - omega_OA)}}}}
ProblemData:
  tend: {END}
  positions: {{A: [0, {u!r}]{guesses.get(self.kind, "")}}}
  angles: {{OA: [1.5, fixed]}}
  rates: {{OA: [2, fixed]}}
"""

    def motion(self) -> mechsim.Motion:
        return mechsim.simulate(self.text, tol=1e-12)


KINDS = ("crank", "four-bar", "slider-crank", "two cranks")
FAR = {
    "far rod": {"fixed": ", F: [{far!r}], G: [{far!r}, {u!r}]", "rigids": "FG: {{Geom: [[{u!r}]]}}"},
    "far marks of a slot": {
        "fixed": ", F: [{far!r}], G: [{near!r}]",
        "joints": "Pistons: {{P-GF: [{m!r}]}}",
    },
    "far pendulum": {
        "fixed": ", F: [{far!r}]",
        "rigids": "FP: {{Geom: [[{u!r}]], Dyna: [[{u!r}], {m!r}, {i!r}]}}",
    },
}
HEAVY = {
    "heavy rod at rest": "HK: {{Geom: [[{size!r}]], Dyna: [[{half!r}], {mass!r}, {inertia!r}]}}",
}


def described(motion: mechsim.Motion, told: Told) -> tuple[float, float]:
    return float(motion(END)["theta_OA"]), float(motion(END)["A"][0]) / told.unit


@pytest.fixture(scope="module")
def plain() -> dict[str, tuple[float, float]]:
    return {kind: described(Told(kind).motion(), Told(kind)) for kind in KINDS}


@some_of(25)
@given(kind=st.sampled_from(KINDS), unit=st.floats(-6, 6), mass=st.floats(-6, 6))
def test_units_change_no_digit(plain: dict, kind: str, unit: float, mass: float) -> None:
    """Micrometres to megametres, micrograms to gigagrams."""
    told = Told(kind, unit=10.0**unit, mass=10.0**mass)
    assert described(told.motion(), told) == pytest.approx(plain[kind], abs=AGREE)


@some_of(25)
@given(kind=st.sampled_from(KINDS), way=st.sampled_from(list(FAR)), distance=st.floats(2, 9), unit=st.floats(-3, 3))
def test_what_stands_far_away_changes_no_digit(plain: dict, kind: str, way: str, distance: float, unit: float) -> None:
    u = 10.0**unit
    values = {"far": u * 10.0**distance, "near": u * 10.0**distance / 2, "u": u, "m": 1.0, "i": u**2}
    told = Told(kind, unit=u, **{key: text.format(**values) for key, text in FAR[way].items()})
    assert described(told.motion(), told) == pytest.approx(plain[kind], abs=AGREE)


@some_of(25)
@given(kind=st.sampled_from(KINDS), size=st.floats(-6, 6), mass=st.floats(-6, 9))
def test_a_body_beside_changes_no_digit(plain: dict, kind: str, size: float, mass: float) -> None:
    """It hangs at rest, however large or heavy: nothing in the equations joins it to the crank."""
    l, m = 10.0**size, 10.0**mass
    body = HEAVY["heavy rod at rest"].format(size=l, half=l / 2, mass=m, inertia=m * l**2)
    told = Told(kind, fixed=", H: [9]", rigids=body)
    text = told.text.replace("positions: {", f"positions: {{K: [9, {-l!r}], ")
    motion = mechsim.simulate(text, tol=1e-12)
    assert described(motion, told) == pytest.approx(plain[kind], abs=AGREE)


@some_of(25)
@given(light=st.floats(-6, 0), heavy=st.floats(0, 6), massless=st.booleans())
def test_only_a_part_without_mass_is_undetermined(light: float, heavy: float, massless: bool) -> None:
    """A light rod on a heavy one moves as mechanics says; without mass it has no definite motion, beside any mass."""
    rods = f"OA: {{Geom: [[1]], Dyna: [[0.5], {10.0**heavy!r}, {10.0**heavy!r}]}}"
    m = 0.0 if massless else 10.0**light
    rods += f", AB: {{Geom: [[1]], Dyna: [[1], {m!r}, 0]}}" if m else ", AB: {Geom: [[1]]}"
    far = "F: [1e6], G: [1e6, 1]"
    text = f"""
PartData: {{Fixed: {{O: [], {far}}}, Rigids: {{{rods}, FG: {{Geom: [[1]]}}}}}}
AppliedForces: {{Gravity: , JointDampers: {{AB-OA: 0}}}}
ProblemData: {{tend: 0.1, positions: {{A: [1], B: [1, -1]}}}}
"""
    if massless:
        with pytest.raises(mechsim.MechsimError, match=r"no mass|nothing with mass|undetermined"):
            simulation.prepare(simulation.read(text))
    else:
        simulation.prepare(simulation.read(text))


def test_a_misfit_is_judged_by_the_part_not_by_a_point_far_away() -> None:
    text = """
PartData:
  Fixed: {O: [], P: [1.001], F: [1e9]}
  Rigids: {OP: {Geom: [[1]]}, OA: {Geom: [[1]], Dyna: [[0.5], 1, 1]}, FB: {Geom: [[1]], Dyna: [[0.5], 1, 1]}}
ProblemData: {tend: 1}
"""
    with pytest.raises(mechsim.MechsimError, match="part OP does not fit"):
        simulation.prepare(simulation.read(text))


def test_a_gap_beside_a_point_far_away_is_not_closed() -> None:
    """1e-6 of a metre is not rounding, though it is 1e-15 of the distance to F."""
    text = """
PartData:
  Fixed: {O: [], C: [2.000001], F: [1e9]}
  Rigids: {"OA, CA": {Geom: [[1]], Dyna: [[0.5], 1, 1]}, FB: {Geom: [[1]], Dyna: [[0.5], 1, 1]}}
ProblemData: {tend: 1}
"""
    with pytest.raises(AssemblyError, match=r"CA and OA cannot be closed|OA and CA cannot be closed"):
        simulation.prepare(simulation.read(text))
