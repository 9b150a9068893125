"""Every joint in space: how many freedoms it leaves, that it holds, that it takes no power, and that forces and moments
in it balance every part (the certificate's line, from mass, inertia and accelerations alone)."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin

import numpy as np
import pytest

import mechsim
from mechsim.errors import AssemblyError, SpecError
from mechsim.simulation import motion_of, prepare
from mechsim.spec import parse

# Two bodies without symmetry, thrown into space; joints are between them, so both sides move.
SHAPE = "Geom: [[1], [0.2, 0.9], [0.3, 0.1, 0.8]], Dyna: [[0.3, 0.25, 0.2], 2, [0.5, 0.6, 0.7, 0.05, -0.04, 0.03]]"
OTHER = "Geom: [[{length}], [{third}], [0.4, 0.3, -0.7]], Dyna: [[0.2, 0.3, -0.1], 3, [0.9, 0.8, 1, -0.06, 0.05, 0.02]]"
TEXT = """
Dimension: 3
PartData:
  Rigids:
    ABCD: {{{first}}}
    {name}: {{{second}}}
{more}
AppliedForces: {{Gravity: , Drag: {{D: [0.3]}}}}
ProblemData:
  tend: 1
  positions: {{A: [0.1, 0.2, 0.3], B: [1, 0.2, 0.4], C: [0.2, 1, 0.2]{guesses}}}
  velocities: {{B: [0.3, 1, -0.5], C: [0.2, 0.1, 1], D: [0.4, 0.2, 0.1]}}
Output: {{reactions: all}}
"""


@dataclass(frozen=True)
class Case:
    """`held` is how many of the twelve freedoms of two bodies the joint takes."""

    name: str
    joints: str
    held: int
    guesses: str = ""
    length: str = "1.1"
    third: str = "-0.1, 0.8"


ON_AXIS = ", E: [0.4, 0.2, 0.3], F: [1.5, 0.2, 0.4], G: [0.5, 1, 0.3]"
CASES = {
    "ball": Case("AEFG", "", 3),
    "hinge of two shared points": Case("ABEF", "", 5, length="1", third="0.3, 0.8"),
    "weld of three shared points": Case("ABCE", "", 6, length="1", third="0.2, 0.9"),
    "hinge": Case("AEFG", "Hinges: {AB-AE: []}", 5, ", E: [1.2, 0.2, 0.4]"),
    "universal": Case("AEFG", "Universals: {AB-AE: []}", 4, ", E: [0.1, 1, 1]"),
    "universal at an angle": Case("AEFG", "Universals: {AB-AE: [1.1]}", 4, ", E: [0.6, 1, 0.3]"),
    "cylinder": Case("EFGH", "Cylinders: {EF-AB: []}", 4, ON_AXIS),
    "cylinder on a rod": Case("EFGH", "Cylinders: {EF-AB: []}", 4, ON_AXIS),
    "prism": Case("EFGH", "Sliders: {EFG-ABC: []}", 5, ON_AXIS),
    "prism at an angle": Case("EFGH", "Sliders: {EFG-ABC: {angle: 0.4}}", 5, ON_AXIS),
    "screw": Case("EFGH", "Screws: {EFG-ABC: 0.3}", 5, ON_AXIS),
    "point on line": Case("EFGH", "Slots: {E-AB: []}", 2, ON_AXIS),
    "point on plane": Case("EFGH", "Planes: {E-ABC: [0.2]}", 1, ON_AXIS),
    "planar": Case("EFGH", "Planes: {EFG-ABC: [0.1]}", 3, ON_AXIS),
    "coupling": Case("AEFG", "Couplings: {ABC-AEF: []}", 4, ", E: [-1, 0.3, 0.3], F: [0.1, 1.2, 0.3]"),
    "weld": Case("AEFG", "Welds: {AEFG-ABCD: []}", 6, ", E: [1.2, 0.2, 0.4], F: [0.1, 1, 0.3]"),
    "surface": Case("EFGH", "Surfaces: {E: x**2 + y**2 + z**2 - 1}", 1, ", E: [1, 0, 0]"),
    "curve": Case("EFGH", "Curves: {E: {x: cos(s), y: sin(s), z: 0.1*s, s: 0}}", 2),
    "skate": Case("EFGH", "Skates: {ABCD.A: [1, 1, 0]}", 0),
}


def text_of(case: Case) -> str:
    second = OTHER.format(length=case.length, third=case.third)
    more = f"Joints: {{{case.joints}}}" if case.joints else ""
    return TEXT.format(first=SHAPE, name=case.name, second=second, more=more, guesses=case.guesses)


@pytest.mark.parametrize("label", CASES)
def test_a_joint_leaves_its_freedoms_holds_and_balances(label):
    case = CASES[label]
    prepared = prepare(parse(text_of(case)))
    assert prepared.structure.redundancy.rows == (), "no joint repeats a constraint"
    assert prepared.structure.dof == 12 - case.held
    certificate = motion_of(prepared, None, "polynomials").certificate
    # Tolerance 1e-12 a step, some dozen steps; the work of the drag is integrated beside.
    assert certificate.energy_drift < 2e-12
    assert certificate.position_residual < 1e-13
    assert certificate.velocity_residual < 1e-13
    assert certificate.reaction_balance < 1e-11


BEVEL = """
Dimension: 3
PartData:
  Fixed: {A: [], B: [0, 0, 1], D: [], E: [1], K: [1, 0, 0.5], N: [0, 1, 0]}
  Rigids:
    ABC: {Geom: [[1], [0, 0.5]], Dyna: [[0.5], 2, [0.1, 0.2, 0.2]]}
    DEF: {Geom: [[1], [0, 0.7]], Dyna: [[0.5], 2, [0.3, 0.2, 0.2]]}
Joints: {Gears: {ABC-DEF: [0.5, 0.7]}}
AppliedForces: {ConstTorques: {ABC-ABK: 1}}
ProblemData: {tend: 3, positions: {C: [0.5, 0, 0], F: [0, 0.7, 0]}, angles: {DEF-DEN: 0}}
Output: {reactions: all}
"""


def test_bevel_gears_turn_by_their_ratio_many_times():
    """One wheel about z, the other about x; together they have the inertia 0.1 + 0.3 (5/7)^2 about the first axis."""
    motion = mechsim.simulate(BEVEL)
    turned = 0.5 * 3.0**2 / (0.1 + 0.3 * (5 / 7) ** 2)
    end = motion(3.0)
    # Angles of some turns at tolerance 1e-12.
    assert end["theta_ABC_ABK"] == pytest.approx(turned, abs=1e-10)
    assert end["theta_DEF_DEN"] == pytest.approx(-turned * 5 / 7, abs=1e-10)
    assert motion.certificate.reaction_balance < 1e-11


ROLLING = """
Dimension: 3
PhysicalParams: {{m: 2, r: 0.5, g: 9.81}}
PartData:
  Fixed: {{K: [], L: [1], M: [0, 1]}}
  Rigids:
    ABC: {{Geom: [[1], [0, r]], Dyna: [[], m, [m*r**2/2, m*r**2/4, m*r**2/4]]}}
Joints: {{{joint}}}
AppliedForces: {{Gravity: [0, 0, -g]}}
ProblemData:
  tend: 2
  positions: {{A: [0, 0, r*cos(0.3)]}}
  orientations: {{ABC: {{axis: [0, 1, 0], angle: 0.3}}}}
  velocities: {{A: [0, 4, 0]}}
  spins: {{ABC.ABC: [-8, 0.4, 0.3]}}
Output: {{reactions: all}}
"""


@pytest.mark.parametrize("joint", ["Wheels: {ABC-KLM: r}", "Balls: {ABC-KLM: r}"])
def test_what_rolls_touches_the_plane_and_is_at_rest_there(joint):
    motion = mechsim.simulate(ROLLING.format(joint=joint))
    for t in np.linspace(0, 2, 7):
        place, rate = motion(t), motion.velocity(t)
        along, side = place["B"] - place["A"], (place["C"] - place["A"]) / 0.5
        axes = np.array([along, side, np.cross(along, side)])
        rates = [rate["B"] - rate["A"], (rate["C"] - rate["A"]) / 0.5]
        rates.append(np.cross(rates[0], side) + np.cross(along, rates[1]))
        up = np.array([0.0, 0.0, 1.0])
        down = -up if "Balls" in joint else -(up - along * along[2]) / np.sqrt(1 - along[2] ** 2)
        contact = place["A"] + 0.5 * down
        slip = rate["A"] + sum(0.5 * (down @ axis) * each for axis, each in zip(axes, rates, strict=True))
        # Constraints hold to rounding of lengths of a metre and speeds of some metres per second.
        assert abs(contact[2]) < 1e-13
        np.testing.assert_allclose(slip, 0.0, atol=1e-12)
    certificate = motion.certificate
    assert certificate.energy_drift < 1e-12
    assert certificate.reaction_balance < 1e-11


def reactions(text, *further):
    """The columns of forces and moments at the start."""
    table = mechsim.simulate(text.format(*further) if further else text).trajectory
    return {label: float(table[label][0]) for label in table.labels if "_F" in label or "_M" in label}


def test_a_torque_on_a_part_at_its_centroid_loads_no_joint():
    found = reactions("""
Dimension: 3
PartData:
  Fixed: {O: []}
  Rigids: {OAB: {Geom: [[1], [0, 1]], Dyna: [[], 2, [1, 1, 1]]}}
AppliedForces: {ConstTorques: {OAB: [0.3, 0.2, -0.5]}}
Output: {reactions: all}
ProblemData: {tend: 1}
""")
    assert max(map(abs, found.values())) < 1e-14


def test_a_slider_bears_all_of_a_weight_at_its_first_point():
    """2 kg at (0.5, 0.2, 0) on a slide along y, under 10 m/s^2: 20 N and a moment of (4, -10, 0) N m about C."""
    found = reactions("""
Dimension: 3
PartData:
  Fixed: {A: [], B: [0, 1], F: [1]}
  Rigids: {CDE: {Geom: [[1], [0, 1]], Dyna: [[0.2, 0.5], 2, [1, 1, 1]]}}
Joints: {Sliders: {CDE-ABF: []}}
AppliedForces: {Gravity: [0, 0, -10]}
Output: {reactions: all}
ProblemData: {tend: 1, positions: {C: [], D: [0, 1], E: [1]}}
""")
    wanted = {"Fx": 0, "Fy": 0, "Fz": 20, "Mx": 4, "My": -10, "Mz": 0}
    assert found == pytest.approx({f"C_CDE_{name}": value for name, value in wanted.items()}, abs=1e-12)


WELDED = """
Dimension: 3
PartData:
  Fixed: {{O: [], P: [0, 1], Q: [0, 0, 1]}}
  Rigids:
    OPQC: {{Geom: [[1], [0, 1], [0, 0, 1]]}}
    CDE: {{Geom: [[1], [0, 1]], Dyna: [[0.3, 0.3], 1, [1, 1, 1]]}}
Joints: {{Welds: {{CDE-OPQC: []}}}}
ProblemData: {{tend: 1{}}}
"""


@pytest.mark.parametrize("guess", ["", ", positions: {D: [2, 0.3, 0.1], E: [1, 1, 0.2]}"])
def test_a_weld_holds_axes_along_each_other_also_where_a_guess_turns_them_about(guess):
    start = mechsim.simulate(WELDED.format(guess))(0.0)
    np.testing.assert_allclose([start["D"], start["E"]], [[1, 1, 0], [1, 0, 1]], atol=1e-14)


def test_points_on_one_line_are_no_plane():
    text = BEVEL.replace("Gears: {ABC-DEF: [0.5, 0.7]}", "Planes: {C-KDE: []}").replace("K: [1, 0, 0.5]", "K: [2]")
    with pytest.raises(mechsim.SpecError, match="are on one line, so they give no plane"):
        mechsim.simulate(text)


# --- rows that hold half a turn away too


SLIDER = """
Dimension: 3
PartData:
  Fixed: {{A: [], B: [0, 1], F: [1], K: [-1], L: [-1, 1]}}
  Rigids: {{CDE: {{Geom: [[1], [0, 1]], Dyna: [[0.2, 0.5], 2, [1, 1, 1]]}}}}
Joints: {{Sliders: {{CDE-ABF: {{angle: {angle}}}}}, Slots: {{{slot}-KL: []}}}}
ProblemData: {{tend: 1{guess}}}
"""


@pytest.mark.parametrize("angle", [0.0, 0.4, pi / 2, -2.0, 3.0, pi])
@pytest.mark.parametrize("way", [1, -1])
@pytest.mark.parametrize("off", [None, 0.0, 0.5, 2.0, pi])
def test_a_slider_stands_at_its_angle_however_it_is_guessed(angle, way, off):
    """Half a turn away its row is met too, and nothing was said. CD may point along AB or against it."""
    guess = ""
    if off is not None:
        turn = angle + off  # about y, from x: a point at the angle a is at (cos a, 0, -sin a)
        guess = f", positions: {{C: [0, 0.2], D: [0, {0.2 + way}], E: [{cos(turn)!r}, 0.2, {-sin(turn)!r}]}}"
    text = SLIDER.format(angle=repr(angle), slot="", guess=guess)
    text = text.replace(", K: [-1], L: [-1, 1]", "").replace(", Slots: {-KL: []}", "")
    start = mechsim.simulate(text)(0.0)
    beside = start["E"] - start["C"]
    np.testing.assert_allclose(beside, [np.cos(angle), 0, -np.sin(angle)], atol=1e-12)


@pytest.mark.slow
def test_a_slider_that_can_only_be_half_a_turn_off_is_refused():
    text = SLIDER.format(angle=0, slot="E", guess=", positions: {C: [], D: [0, 1], E: [-1]}")
    with pytest.raises(mechsim.AssemblyError) as refused:
        mechsim.simulate(text)
    fault = refused.value.faults[0]
    assert fault.message.startswith("slider CDE-ABF: the start found has E half a turn away, at 0 + pi from")
    assert "{CDE-ABF: {angle: 3.14159}}" in fault.hint and fault.mark.line == 6


def test_redundant_joints_leave_a_closed_guess_where_it_is():
    """Combinations of rows without gradient and curvature are no dead point to settle on: C went to y = -0.45."""
    text = SLIDER.format(angle=pi, slot="E", guess=", positions: {C: [], D: [0, 1], E: [-1]}")
    np.testing.assert_allclose(mechsim.simulate(text)(0.0)["E"], [-1, 0, 0], atol=1e-14)


SHAFTS = """
Dimension: 3
PartData:
  Fixed: {{O: [], P: [-1], R: [cos(0.5), sin(0.5)]}}
  Rigids:
    OPC: {{Geom: [[1], [0, 1]], Dyna: [[0.5], 1, [1, 1, 1]]}}
    ORD: {{Geom: [[1], [0, 1]], Dyna: [[0.5], 1, [1, 1, 1]]}}
Joints: {{Couplings: {{OPC-ORD: []}}}}
AppliedForces: {{Gravity: }}
ProblemData: {{tend: 1{}}}
"""


@pytest.mark.parametrize(
    "guess",
    [
        "",
        ", positions: {C: [0, 0, 1], D: [0, 0, -1]}",
        ", positions: {C: [0, 0, 1], D: [0, 0, 1]}",
        ", positions: {C: [0, 1, 0.2], D: [0.4, -0.9, 0.1]}",
    ],
)
def test_shafts_of_a_coupling_have_their_points_on_one_side(guess):
    """Bent straight about the axis across both (here z), D is where C is."""
    start = mechsim.simulate(SHAFTS.format(guess))(0.0)
    x, y, z = start["D"]
    straight = [x * np.cos(0.5) + y * np.sin(0.5), y * np.cos(0.5) - x * np.sin(0.5), z]
    np.testing.assert_allclose(straight, start["C"], atol=1e-12)


@pytest.mark.parametrize("guess", ["", "A: [0.2, 0, -1], B: [-1, 0, -1.1]", "A: [0, 0, -1], B: [-1, 0, -1]"])
def test_a_body_on_a_hinge_is_not_flipped(guess):
    """The ground keeps the distance of Q and R, so the part asks only for their line, which it meets flipped too."""
    start = mechsim.simulate(f"""
Dimension: 3
PartData:
  Fixed: {{Q: [], R: [1]}}
  Rigids: {{ABQR: {{Geom: [[1], [0, 1], [1, 1, 0]], Dyna: [[0.5, 0.5], 1, [1, 1, 1]]}}}}
AppliedForces: {{Gravity: }}
ProblemData: {{tend: 1, positions: {{{guess}}}}}
""")(0.0)
    np.testing.assert_allclose(start["B"] - start["A"], [1, 0, 0], atol=1e-12)


@pytest.mark.parametrize("line", ["AB", "PQ"])
def test_friction_takes_its_load_from_a_slot_in_space(line):
    """On a slope the acceleration is g (sin - mu cos), on a line of the ground and of a part that stands still."""
    motion = mechsim.simulate(f"""
Dimension: 3
PartData:
  Fixed: {{A: [], B: [1, 1, -1], K: [0, 0, 1]}}
  Rigids: {{ABKPQ: {{Geom: [[sqrt(3)], [-1/sqrt(3), sqrt(2/3)], [0.5], [1.7]]}}}}
Joints: {{Pistons: {{C-{line}: [2]}}}}
AppliedForces: {{Gravity: [0, 0, -10], Friction: {{C-{line}: {{mu: 0.3, v0: 1e-3}}}}}}
ProblemData: {{tend: 1, positions: {{C: [[1, fixed], 1, -1]}}, velocities: {{C: [[1, fixed], 1, -1]}}}}
""")
    steep = 1 / np.sqrt(3)
    way = 2 * np.sqrt(3) + 0.5 * 10 * (steep - 0.3 * np.sqrt(1 - steep**2))
    assert motion(1.0)["C"][0] * np.sqrt(3) == pytest.approx(way, rel=1e-12)


HINGED = """
Dimension: 3
PartData:
  Fixed: {O: [], C: [0, 0, 1], E: [1]}
  Rigids:
    OCDF: {Geom: [[1], [0, 1], [0.6, 1, 0.8]], Dyna: [[], 1, [0.1, 0.1, 0.1]]}
    DFG: {Geom: [[1], [0, 1]], Dyna: [[0, 0.5], 1, [0.1, 0.1, 0.1]]}
"""


@pytest.mark.parametrize("asked", [0.0, 3.0, 11.0])
@pytest.mark.parametrize("way", ["Drives", "angles"])
@pytest.mark.parametrize("off", [(1.6, 0), (3.1, 0), (0, pi), (-2.5, 2), (pi, pi)])
def test_a_turn_angle_is_met_from_points_guessed_on_the_other_side(asked, way, off):
    """As in the plane, however far guesses of points are; the equation of an angle holds half a turn away too."""
    there = mechsim.simulate(f"""{HINGED}
ProblemData: {{tend: 1e-3, angles: {{OCD-OCE: [{asked + off[0]}, fixed], DFG-DFO: [{0.4 + off[1]}, fixed]}}}}""")(0.0)
    guesses = ", ".join(f"{point}: {list(map(float, there[point]))}" for point in "DFG")
    names = {"OCD-OCE": asked, "DFG-DFO": 0.4}
    drives = ", ".join(f"theta_{name.replace('-', '_')}: {value} + t" for name, value in names.items())
    angles = ", ".join(f"{name}: [{value}, fixed]" for name, value in names.items())
    asking = f"Drives: {{{drives}}}" if way == "Drives" else ""
    held = f", angles: {{{angles}}}" if way == "angles" else ""
    start = mechsim.simulate(f"{HINGED}{asking}\nProblemData: {{tend: 1e-3, positions: {{{guesses}}}{held}}}")(0.0)
    np.testing.assert_allclose(start["D"], [cos(asked), sin(asked), 0], atol=1e-12)
    axis, arm, zero = start["F"] - start["D"], start["G"] - start["D"], -start["D"]
    turn = np.arctan2(np.dot(arm, np.cross(axis, zero)), np.dot(arm, zero) - np.dot(arm, axis) * np.dot(zero, axis))
    assert turn == pytest.approx(0.4, abs=1e-12)


@pytest.mark.slow
def test_an_angle_that_can_only_be_half_a_turn_off_is_refused_with_its_place():
    """A rod holds D at (-0.8, 0.6), and the drive wants it opposite."""
    text = HINGED.replace("E: [1]", "E: [1], N: [-1.8, 0.6]") + "  Rods: {DN: 1}\n"
    with pytest.raises(AssemblyError) as refused:
        mechsim.simulate(text + "Drives: {theta_OCD_OCE: -atan(0.75)}\nProblemData: {tend: 1}")
    (fault,) = refused.value.faults
    assert fault.message == "the start found has theta_OCD_OCE half a turn off"
    assert fault.mark and (fault.mark.line, fault.mark.column) == (9, 10)


ON_CYLINDER = """
Dimension: 3
PartData:
  Fixed: {A: [], B: [sin(0.5), 0, cos(0.5)], F: [cos(0.5), 0, -sin(0.5)]}
  Rigids: {CDE: {Geom: [[0.4], [0.1, 0.5]], Dyna: [[0.2, 0.3, 0.1], 3, [0.2, 0.3, 0.4, 0.02, -0.03, 0.05]]}}
Joints: {Cylinders: {CD-AB: []}}
AppliedForces: {Gravity: , ConstTorques: {TORQUE}}
Output: {reactions: all}
ProblemData:
  tend: 1
  positions: {C: [0.7*sin(0.5), 0, 0.7*cos(0.5)], D: [1.1*sin(0.5), 0, 1.1*cos(0.5)], E: [1, 0, 0.5]}
"""


@pytest.mark.parametrize("pair", ["ABE-ABF", "CDE-CDF", "BAE-BAF", "DCE-DCF"])
def test_a_torque_about_an_axis_is_a_pure_torque_on_the_part_in_one_joint(pair):
    """Whichever points name the axis: a torque vector along it does the same, but is a load of its part and no part of
    the reaction."""
    axis = np.array([sin(0.5), 0, cos(0.5)])
    sense = 1 if pair[0] in "AC" else -1
    about = mechsim.simulate(ON_CYLINDER.replace("TORQUE", f"{pair}: {2 * sense}"))
    without = ON_CYLINDER.replace(", F: [cos(0.5), 0, -sin(0.5)]", "")
    loaded = mechsim.simulate(without.replace("TORQUE", f"CDE: {list(map(float, 2 * axis))}"))
    columns = [f"C_CDE_{what}{axis}" for what in "FM" for axis in "xyz"]
    for motion in (about, loaded):
        assert [label for label in motion.trajectory.labels if "_F" in label or "_M" in label] == columns
    for t in (0.0, 0.5, 1.0):
        np.testing.assert_allclose(about(t)["E"], loaded(t)["E"], atol=1e-10)
    for row in (0, -1):
        one, other = (np.array([each.trajectory[column][row] for column in columns]) for each in (about, loaded))
        np.testing.assert_allclose(one - other, [0, 0, 0, *(2 * axis)], atol=1e-9)


@pytest.mark.slow
def test_a_screw_presses_along_and_about_its_axis_only():
    """Coaxial bodies whose way is s = lead * turn. No power is lost in the thread, so that its torque is -lead F, and
    F / m_reduced = s'' = lead (1.5 / I_2 - lead F (1 / I_1 + 1 / I_2))."""
    motion = mechsim.simulate("""
Dimension: 3
PartData:
  Rigids:
    ABF: {Geom: [[1], [0, 1]], Dyna: [[0.3], 2, [0.3, 0.4, 0.4]]}
    CDE: {Geom: [[0.4], [0, 1]], Dyna: [[0.1], 1, [0.2, 0.25, 0.25]]}
Joints: {Screws: {CDE-ABF: -0.25}}
AppliedForces: {ConstTorques: {CDE.CDE: [1.5, 0, 0]}}
Output: {reactions: all}
ProblemData:
  tend: 1
  positions: {A: [], B: [1], F: [0, 1], C: [0.2], D: [0.6], E: [0.2, 1]}
""")
    lead, reduced = -0.25 / (2 * pi), 2 / 3
    force = lead * 1.5 / 0.2 / (1 / reduced + lead**2 * (1 / 0.2 + 1 / 0.3))
    expected = {"Fx": force, "Fy": 0, "Fz": 0, "Mx": -lead * force, "My": 0, "Mz": 0}
    table = motion.trajectory
    labels = [label for label in table.labels if "_F" in label or "_M" in label]
    assert labels == [f"C_{part}_{what}" for part in ("CDE", "ABF") for what in expected]
    for sign, part in ((1, "CDE"), (-1, "ABF")):
        for what, value in expected.items():
            np.testing.assert_allclose(table[f"C_{part}_{what}"], sign * value, rtol=0, atol=1e-13)
    # Points E and F have no inertia of their own along the axis: no pivot is measured by roundings that stand for it.
    assert motion.certificate.reaction_balance < 1e-13


@pytest.mark.parametrize(
    "sort",
    [
        "AppliedForces: {ConstTorques: {OCD-OCE: 2}}",
        "AppliedForces: {Torques: {OCD-OCE: t}}",
        "AppliedForces: {JointDampers: {OCD-OCE: 1}}",
        "Controllers: {theta_OCD_OCE: {target: 1, kp: 2}}",
    ],
)
def test_a_torque_about_an_axis_that_its_part_does_not_turn_on_is_refused(sort):
    """It would be a force at D: a free body would be pushed away by it."""
    text = f"""
Dimension: 3
PartData:
  Fixed: {{O: [], C: [0, 0, 1], E: [1]}}
  Rigids: {{ABD: {{Geom: [[0.4], [0.1, 0.5]], Dyna: [[0.2, 0.3, 0.1], 3, [0.2, 0.3, 0.4]]}}}}
{sort}
ProblemData: {{tend: 1}}
"""
    with pytest.raises(SpecError) as refused:
        mechsim.simulate(text)
    (fault,) = refused.value.faults
    assert fault.message == "a torque OCD-OCE is about the line OC, but ABD, which has D, is not held on it"
    assert fault.mark and fault.mark.line == 6 and "{ABD: [x, y, z]}" in fault.hint


@pytest.mark.parametrize("joint", ["Balls", "Wheels"])
def test_a_contact_force_is_given_at_the_centre_with_its_moment(joint):
    """Under it, at the point of contact, there is none: neither a ball nor a thin disc knows rolling resistance."""
    disc = mechsim.simulate(f"""
Dimension: 3
PartData:
  Fixed: {{K: [], L: [1], M: [0, 1]}}
  Rigids: {{ABC: {{Geom: [[1], [0, 1]], Dyna: [[0.02, 0.03], 2, [0.03, 0.02, 0.02]]}}}}
Joints: {{{joint}: {{ABC-KLM: 0.2}}}}
AppliedForces: {{Gravity: }}
Output: {{reactions: all}}
ProblemData:
  tend: 0.3
  positions: {{A: [0, 0, 0.2]}}
  velocities: {{A: [0.1, 0.8, 0]}}
  orientations: {{ABC: {{euler: [zxz, 0.1, 0, 0]}}}}
  spins: {{ABC: [-4, 0.5, 0.3]}}
""")
    table = disc.trajectory
    force, moment = (np.stack([table[f"A_ABC_{what}{axis}"] for axis in "xyz"], axis=1) for what in "FM")
    along = table["B"] - table["A"] if joint == "Wheels" else np.zeros_like(force)
    down = np.array([0, 0, -1]) + along * along[:, 2:]
    arm = 0.2 * down / np.linalg.norm(down, axis=1, keepdims=True)
    np.testing.assert_allclose(moment, np.cross(arm, force), atol=1e-10)
    assert np.abs(moment).max() > 0.01


def test_a_torque_about_an_axis_of_a_universal_joint_turns_its_cross():
    """A massless cross OAB between them hands it on: the same motion as with a cross that is a part almost without
    mass, hinged to both."""
    parts = """
Dimension: 3
PartData:
  Fixed: {O: [], A: [1], E: [0, 1]}
  Rigids:
    OBF: {Geom: [[1], [0, 1]], Dyna: [[0.2, 0.3, 0.1], 1, [0.2, 0.3, 0.4]]}
"""
    rest = """
AppliedForces: {Gravity: , ConstTorques: {OAB-OAE: 3}}
ProblemData: {tend: 0.5, positions: {B: [0, 1, 0], F: [1, 0, 0.2]}}
"""
    bare = mechsim.simulate(f"{parts}Joints: {{Universals: {{OB-OA: []}}}}{rest}", reactions=["all"])
    turned = rest.replace("OAB-OAE: 3", "AOB-AOE: -3")
    about = mechsim.simulate(f"{parts}Joints: {{Universals: {{OB-OA: []}}}}{turned}", reactions=["all"])
    one, other = (
        {label: each.trajectory[label][-1] for label in each.trajectory.labels if "_F" in label or "_M" in label}
        for each in (bare, about)
    )
    assert [*one] == [f"O_OBF_{what}" for what in ("Fx", "Fy", "Fz", "Mx", "My", "Mz")]
    assert other == pytest.approx(one, abs=1e-9) and one["O_OBF_Mx"] == pytest.approx(3, abs=1e-9)
    cross = "    OAB: {Geom: [[1], [0, 1]], Dyna: [[], 0, [1e-9, 1e-9, 1e-9]]}\n"
    whole = mechsim.simulate(f"{parts}{cross}{rest}")
    for t in (0.2, 0.5):
        np.testing.assert_allclose(bare(t)["F"], whole(t)["F"], atol=1e-7)
