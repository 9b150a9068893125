"""What the proofs in space found wrong, and stays right: points of parts that stand still, drives of points without
mass, gears,
forces of joints that repeat each other, names of fixed points that only an angle uses."""

import numpy as np
import pytest

import mechsim
from mechsim.errors import SpecError
from mechsim.model.builder import build
from mechsim.simulation import prepare
from mechsim.spec import parse

BRACKET = """
Dimension: 3
PartData:
  Fixed: {K: [], L: [1], M: [0, 1], G: [5], H: [6]}
  Rigids:
    KLMC: {Geom: [[1], [0, 1], [0.3, 0.2, -0.4]]}
    GHQ: {Geom: [[1], [2.5]]}
  Rods: {CA: 1, QB: 1}
  Particles: {A: 1, B: 1}
AppliedForces: {Gravity: }
ProblemData: {tend: 1, positions: {A: [1.3, 0.2, -0.4], B: [7.5, 1, 0]}}
"""


def test_points_of_a_part_that_stands_still_stand_still():
    """On a body with three fixed points, and on a rod with two; pendulums hang there."""
    prepared = prepare(parse(BRACKET))
    assert prepared.structure.dof == 4
    motion = mechsim.simulate(BRACKET)
    np.testing.assert_allclose(motion(1.0)["C"], [0.3, 0.2, -0.4], rtol=0, atol=1e-15)
    np.testing.assert_allclose(motion(1.0)["Q"], [7.5, 0.0, 0.0], rtol=0, atol=1e-15)
    assert np.linalg.norm(motion(1.0)["A"] - motion(1.0)["C"]) == pytest.approx(1.0, rel=1e-14)


def test_a_driven_point_needs_no_mass():
    """Three drives, one for each coordinate, determine it."""
    text = """
Dimension: 3
PartData: {Rods: {PA: 1}, Particles: {A: 1}}
AppliedForces: {Gravity: }
Drives: {P: [sin(t), 0, 0]}
ProblemData: {tend: 0.5, positions: {P: [0], A: [0, 0, -1]}}
"""
    assert mechsim.simulate(text)(0.5)["P"][0] == pytest.approx(np.sin(0.5), rel=1e-13)
    with pytest.raises(SpecError, match="the motion of point P is undetermined"):
        mechsim.simulate(text.replace("Drives: {P: [sin(t), 0, 0]}", "Drives: {P.x: sin(t)}"))


GEARS = """
Dimension: 3
PartData:
  Fixed: {O: [], Z: [0, 0, 1], X: [1]}
  Rigids:
    OZA: {Geom: [[1], [0, 0.1]], Dyna: [[], 1, [0.02, 0.05, 0.05]]}
    OXB: {Geom: [[1], [0, 0.2]], Dyna: [[], 1, [0.3, 0.2, 0.2]]}
Joints: {Gears: {OZA-OXB: [0.1, 0.2]}}
AppliedForces: {Torques: {OZA-OZX: 1}}
ProblemData: {tend: 1}
"""


def test_gears_in_space_are_between_parts_about_their_axes():
    prepared = prepare(parse(GEARS))
    assert prepared.structure.dof == 1
    assert not any(
        "apart" in note.message for note in build(parse(GEARS)).notes
    )  # axes may cross: no distance is wrong
    with pytest.raises(SpecError, match="X, on the axis of OXB, is neither fixed nor on a carrier"):
        parse(GEARS.replace("X: [1]", "Y: [1]").replace("OZX", "OZY"))


def test_a_fixed_point_may_be_needed_by_an_angle_only():
    text = """
Dimension: 3
PartData:
  Fixed: {O: [], P: [1], E: [0, 1], F: [0, 0, 1]}
  Rigids: {OPA: {Geom: [[1], [0, 1]], Dyna: [[0, 0.5], 1, [0.1, 0.1, 0.1]]}}
AppliedForces: {Gravity: , Torques: {OPA: ["sin(theta_OPA_OPF)", 0, 0]}}
ProblemData: {tend: 1, angles: {OPA-OPE: 0.3}}
"""
    spec = parse(text)
    assert set(spec.fixed) == {"O", "P", "E", "F"}
    with pytest.raises(SpecError, match="the fixed point E is on no part"):
        parse(text.replace("angles: {OPA-OPE: 0.3}", "t0: 0"))


@pytest.mark.parametrize("joints", ["AB-AK: []", "CD-CL: []", "AB-AK: [], CD-CL: []"])
def test_hinges_that_repeat_others_share_no_forces_of_their_own(joints):
    """A door with A and C on the ground is hinged; further hinges there repeat it, and change no force that can be
    known."""
    used = {name for name in "KL" if name in joints}
    fixed = "".join(f", {name}: [0, 0, {2 + height}]" for height, name in enumerate("KL") if name in used)
    text = f"""
Dimension: 3
PartData:
  Fixed: {{A: [], C: [0, 0, 1.5]{fixed}}}
  Rigids:
    ABFCD: {{Geom: [[0.1], [0, 0.9], [1.5], [1.6]], Dyna: [[1, 0.45], 25, [2, 8, 10]]}}
AppliedForces: {{Gravity: [0.5, 0, -9.81]}}
ProblemData: {{tend: 1, positions: {{F: [0, 0.9, 0]}}}}
Output: {{reactions: all}}
"""
    plain = mechsim.simulate(text.replace(fixed, ""))
    hinged = mechsim.simulate(text + f"Joints: {{Hinges: {{{joints}}}}}\n")
    assert hinged.certificate.reaction_balance < 1e-13
    for column in ("A_ABFCD_Fx", "A_ABFCD_Fz", "A_ABFCD_Mx"):
        found, expected = hinged.sampled([0.5])[column][0], plain.sampled([0.5])[column][0]
        assert found == pytest.approx(expected, rel=1e-11, abs=1e-10)
