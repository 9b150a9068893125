"""A planar mechanism in space in any orientation moves as in the plane; the world may be turned, points renamed and
permuted, units changed."""

import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import mechsim

# Links of a four-bar and of a slider-crank: name, length, mass, inertia.
FOUR_BAR = """
PartData:
  Fixed: {O: [], C: [3]}
  Rigids:
    OA: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}
    AB: {Geom: [[3.5]], Dyna: [[1.75, 0.2], 3.5, 3.57]}
    CB: {Geom: [[2]], Dyna: [[1], 2, 2/3]}
AppliedForces: {Gravity: [1, -9.81]}
ProblemData:
  tend: 3
  positions: {A: [[0.3, fixed], 0.954], B: [2.8, 2]}
  velocities: {A: [[2, fixed]]}
SolverParams: {Integration: {tol: 1e-14}}
"""
SLIDER_CRANK = """
PartData:
  Fixed: {O: [], R: [1]}
  Rigids:
    OA: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}
    AB: {Geom: [[3]], Dyna: [[1.5], 3, 27/12]}
Joints: {Pistons: {B-OR: [2]}}
AppliedForces: {Gravity: [1, -9.81]}
ProblemData:
  tend: 3
  positions: {A: [[0.3, fixed], 0.954], B: [3.1, 0]}
  velocities: {A: [[2, fixed]]}
SolverParams: {Integration: {tol: 1e-14}}
"""
LINKS = {
    "four-bar": (
        ("OA", 1.0, (0.5, 0.0), 1.0, 1 / 12),
        ("AB", 3.5, (1.75, 0.2), 3.5, 3.57),
        ("CB", 2.0, (1.0, 0.0), 2.0, 2 / 3),
    ),
    "slider-crank": (("OA", 1.0, (0.5, 0.0), 1.0, 1 / 12), ("AB", 3.0, (1.5, 0.0), 3.0, 27 / 12)),
}
PLANAR = {
    "four-bar": (FOUR_BAR, {"O": (0, 0), "C": (3, 0)}),
    "slider-crank": (SLIDER_CRANK, {"O": (0, 0), "R": (1, 0)}),
}


def written(vector):
    return "[" + ", ".join(repr(float(each)) for each in vector) + "]"


def embedded(name, turn, offset, start):
    """Every point X has a companion X1 along the normal, so that a pair of them is a hinge; links have three or more
    points. `start` has places and
    velocities in the plane."""

    def place(x, y, z=0.0):
        return turn @ [x, y, z] + offset

    fixed = {f"{key}{n}": place(*at, n) for key, at in PLANAR[name][1].items() for n in (0, 1) if (key, n) != ("R", 1)}
    parts = []
    for link, length, (x, y), mass, inertia in LINKS[name]:
        a, b = link
        # Reference points a0, b0, a1: the frame's x axis is along the link, y along the normal, z = x cross y
        # against the planar y.
        parts.append(
            f"    {a}0{b}0{a}1{b}1: {{Geom: [[{length!r}], [0, 1], [{length!r}, 1]], "
            f"Dyna: [[{x!r}, 0, {-y!r}], {mass!r}, [{inertia!r}, {inertia!r}, {inertia!r}]]}}"
        )
    places = {f"{key}{n}": place(*at, n) for key, (at, _) in start.items() for n in (0, 1)}
    speeds = {f"{key}{n}": turn @ [*rate, 0.0] for key, (_, rate) in start.items() for n in (0, 1)}
    joints = "Joints: {Pistons: {B0-O0R0: [2]}}\n" if name == "slider-crank" else ""
    return (
        "Dimension: 3\nPartData:\n  Fixed: {" + ", ".join(f"{k}: {written(v)}" for k, v in fixed.items()) + "}\n"
        "  Rigids:\n"
        + "\n".join(parts)
        + "\n"
        + joints
        + f"AppliedForces: {{Gravity: {written(turn @ [1, -9.81, 0])}}}\n"
        "ProblemData:\n  tend: 3\n"
        "  positions: {" + ", ".join(f"{k}: {written(v)}" for k, v in places.items()) + "}\n"
        "  velocities: {" + ", ".join(f"{k}: {written(v)}" for k, v in speeds.items()) + "}\n"
        "SolverParams: {Integration: {tol: 1e-14}}\n"
    )


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", ["four-bar", "slider-crank"])
def test_a_planar_mechanism_moves_alike_in_space(name, seed):
    """The bar is 1e-12: three seconds of motion, sizes of 4 m; the start is the planar one, rounded once by the
    turn."""
    draw = np.random.default_rng(seed)
    turn, offset = Rotation.random(random_state=seed).as_matrix(), draw.normal(size=3)
    planar = mechsim.simulate(PLANAR[name][0])
    start = {key: (planar(0.0)[key], planar.velocity(0.0)[key]) for key in "AB"}
    space = mechsim.simulate(embedded(name, turn, offset, start))
    t = np.linspace(0.0, 3.0, 31)
    for key in "AB":
        flat = planar(t)[key]
        expected = np.column_stack([flat, np.zeros(len(t))]) @ turn.T + offset
        np.testing.assert_allclose(space(t)[f"{key}0"], expected, rtol=0, atol=1e-12 * 4)
    energies = [planar.sampled(t)["T"], space.sampled(t)["T"]]
    np.testing.assert_allclose(energies[1], energies[0], rtol=0, atol=1e-12 * np.max(energies[0]))


PENDULUM = """
Dimension: 3
PartData:
  Fixed: {{O: {O}, P: {P}}}
  Rigids:
    OPAQ: {{Geom: [[{one}], [{b}, {l}], [{c}, {l}, {d}]], Dyna: [[0, {h}], {m}, [{I}, {J}, {I}]]}}
    AQB: {{Geom: [[{q}], [0, {l}]], Dyna: [[0, {h}], {m}, [{I}, {J}, {I}]]}}
AppliedForces: {{Gravity: {gravity}}}
ProblemData:
  tend: {tend}
  positions: {{A: {A}, Q: {Q}, B: {B}}}
  velocities: {{B: {V}}}
SolverParams: {{Integration: {{tol: 1e-14}}}}
"""


def pendulum(turn, offset, metre=1.0, second=1.0, kilogram=1.0):
    """Two rods on skew hinges, turned, moved, and in other units."""
    c, d = np.cos(0.7), np.sin(0.7)
    O, P, A, Q = (
        np.zeros(3),
        np.array([1.0, 0, 0]),
        np.array([0, 0.6, -0.8]),
        np.array([c, 0.6 + 0.8 * d, -0.8 + 0.6 * d]),
    )
    B = A + np.array([0, 0, -1.0])
    places = {key: written(metre * (turn @ each + offset)) for key, each in zip("OPAQB", (O, P, A, Q, B), strict=True)}
    numbers = {"one": 1.0, "b": 0.0, "l": 1.0, "c": c, "d": d, "h": 0.5, "q": 1.0}
    lengths = {key: repr(float(metre * each)) for key, each in numbers.items()}
    inertia = {key: repr(kilogram * metre**2 * each) for key, each in (("I", 1 / 12), ("J", 0.001))}
    gravity = written(metre / second**2 * (turn @ [0, 0.5, -9.81]))
    speed = written(metre / second * (turn @ [1.0, 0.5, 0]))
    scalars = {"m": repr(kilogram), "gravity": gravity, "V": speed, "tend": repr(2 * second)}
    return PENDULUM.format(**places, **lengths, **inertia, **scalars)


T = np.linspace(0.0, 2.0, 21)


@pytest.fixture(scope="module")
def still():
    return mechsim.simulate(pendulum(np.eye(3), np.zeros(3)))


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_the_world_may_be_turned(still, seed):
    """Roundings of the start are multiplied by less than ten in two seconds: 1e-12."""
    turn, offset = Rotation.random(random_state=seed).as_matrix(), np.random.default_rng(seed).normal(size=3)
    turned = mechsim.simulate(pendulum(turn, offset))
    for key in "AQB":
        np.testing.assert_allclose((turned(T)[key] - offset) @ turn, still(T)[key], rtol=0, atol=1e-12)
    np.testing.assert_allclose(turned.sampled(T)["T"], still.sampled(T)["T"], rtol=0, atol=1e-12 * 20)


@pytest.mark.parametrize(
    ("metre", "second", "kilogram"), [(1000.0, 1.0, 1.0), (1e-3, 1.0, 1e3), (0.3048, 60.0, 0.4536)]
)
def test_units_do_not_matter(still, metre, second, kilogram):
    """Millimetres, feet and minutes: places to 1e-12 of their size."""
    other = mechsim.simulate(pendulum(np.eye(3), np.zeros(3), metre, second, kilogram))
    for key in "AQB":
        np.testing.assert_allclose(other(T * second)[key] / metre, still(T)[key], rtol=0, atol=1e-12)


def test_names_and_their_order_do_not_matter(still):
    """Points get other names; useful points and parts another order. The body's own frame stays, for Geom is about
    it."""
    names = dict(zip("OPAQB", ["Z", "b", "M3", "C", "A"], strict=True))
    text = pendulum(np.eye(3), np.zeros(3))

    def renamed(match):
        return "".join(names[each] for each in match[0])

    text = re.sub(r"\b[OPAQB]+(?=:)", renamed, text)
    lines = text.splitlines()
    first, second = (k for k, line in enumerate(lines) if "Dyna" in line)
    lines[first], lines[second] = lines[second], lines[first]
    other = mechsim.simulate("\n".join(lines))
    for key in "AQB":
        np.testing.assert_allclose(other(T)[names[key]], still(T)[key], rtol=0, atol=1e-12)
