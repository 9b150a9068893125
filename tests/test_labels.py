"""No two columns and no two constraints have one name, however the names of a file collide; nor does a name that a user
chose change what a thing is."""

from textwrap import dedent

import numpy as np
import pytest

import mechsim
from mechsim.model import build
from mechsim.spec import parse

ROD = "{Geom: [[1]], Dyna: [[0.5], 1, 1/12]}"
COLLISIONS = {
    "a particle that is a piston too": """
        PartData: {Fixed: {R: [], S: [1]}, Particles: {C: 5}}
        Joints: {Pistons: {C-RS: [0]}}
        AppliedForces: {Forces: {C: [3, 4]}}
        Output: {reactions: all}
        ProblemData: {tend: 0.1, positions: {C: [0.5]}}
    """,
    "the coordinate of a curve and that of a point": """
        PartData: {Particles: {s: 1, x: 2}}
        Joints: {Curves: {x: {x: cos(s), y: sin(s), s: 1}}}
        AppliedForces: {Gravity: }
        ProblemData: {tend: 0.1, positions: {s: [3, 4]}}
    """,
    "two forces at one place": f"""
        PartData: {{Fixed: {{O: []}}, Rigids: {{OA: {ROD}}}}}
        AppliedForces: {{ConstForces: {{OA.A: [1, 2]}}, Forces: {{OA.A: [t, 2]}}, Dissipations: {{OA_A: A.vx**2}}}}
        ProblemData: {{tend: 0.1}}
    """,
    "drives whose quantities read alike": """
        PhysicalParams: {power: 2}
        PartData: {Particles: {A: 1, B: 1}}
        Drives: {A.x+B.x: 3 + t, A.x-B.x: 1 - t, A.y: t, A.y*power: 2*t}
        ProblemData: {tend: 0.1, positions: {A: [2], B: [1]}}
    """,
    "signals called as columns are": f"""
        Signals: {{T: t, H: 2*t, A_x: 3*t, signal_T: 4*t, O_OA_Fx: 5*t, work_pump: 6*t, theta_OA_dot: 7*t, A: 8*t}}
        PartData: {{Fixed: {{O: []}}, Rigids: {{OA: {ROD}}}}}
        Drives: {{theta_OA: t**2}}
        Output: {{reactions: all, signals: [T, H, A_x, signal_T, O_OA_Fx, work_pump, theta_OA_dot, A]}}
        ProblemData: {{tend: 0.1}}
    """,
    "a part called work": f"""
        PartData:
          Fixed: {{w: []}}
          Rigids: {{wo: {ROD}, work: {{Geom: [[1], [1, 1], [0, 1]], Dyna: [[0.5], 1, 1]}}}}
        AppliedForces: {{Torques: {{work: 1}}, Dissipations: {{M: o.vx**2}}}}
        Output: {{reactions: all}}
        ProblemData: {{tend: 0.1, positions: {{o: [1], r: [1, 1], k: [0, 1]}}}}
    """,
    "constraints called as others are": """
        PartData: {Fixed: {O: []}, Rods: {OA: 1}, Particles: {A: 1, B: 1, C: 1}}
        Joints: {Holonomic: {l_OA: B.x - 1, drive_1: B.y - t, slot_A: C.x - 2}, Nonholonomic: {l_OA: C.vy - 1}}
        Output: {reactions: all}
        ProblemData: {tend: 0.1, positions: {A: [1], B: [1], C: [2]}}
    """,
}


@pytest.mark.parametrize("text", COLLISIONS.values(), ids=COLLISIONS.keys())
def test_names_are_made_different(text, tmp_path):
    motion = mechsim.simulate(dedent(text))
    table = motion.trajectory
    assert len(set(table.labels)) == len(table.labels) == len(table.units)
    assert len(set(motion.mechanism.multipliers)) == len(motion.mechanism.multipliers)
    for form in ("csv", "npz", "parquet"):
        loaded = mechsim.load(motion.save(tmp_path / f"out.{form}"))
        assert loaded.labels == table.labels
        assert np.array_equal(loaded.table, table.table, equal_nan=True)


def test_a_particle_that_is_a_piston_bears_one_force():
    motion = mechsim.simulate(dedent(COLLISIONS["a particle that is a piston too"]))
    # What everything else exerts: 3 N along the line, across it the 4 N and the line's answer.
    assert motion.reaction("C", 0.05)["C"] == pytest.approx([3, 0], abs=1e-12)
    assert [label for label in motion.trajectory.labels if "_F" in label] == ["C_C_Fx", "C_C_Fy"]


def test_the_torque_of_a_part_called_work():
    motion = mechsim.simulate(dedent(COLLISIONS["a part called work"]))
    assert "work_M" in motion.trajectory.labels and "work_M_2" in motion.trajectory.labels
    assert motion.torque("work", 0.05) == pytest.approx(1, abs=1e-10)


@pytest.mark.parametrize("name", ["gear_1", "rack_1", "drive_theta_OA", "slot_OA", "l_OA", "work_x", "theta_OA"])
def test_a_constraint_means_the_same_under_every_name(name):
    """A name that looks like one of ours (a gear finds its phase from the guess) does not make it one."""
    text = """
        PhysicalParams: {c: 0.6}
        PartData: {Fixed: {O: []}, Rods: {OA: 1}, Particles: {A: 1}}
        Joints: {Holonomic: {NAME: A.x - c - t}}
        ProblemData: {tend: 0.1, positions: {A: [0.5, 0.8]}}
    """
    motion = mechsim.simulate(dedent(text.replace("NAME", name)))
    assert motion(0.0)["A_x"] == pytest.approx(0.6, abs=1e-15)
    assert not any(label.startswith("drive_") for label in motion.trajectory.labels)


def test_friction_reads_the_pivot_of_its_own_part():
    """Two parts with the same reference points: their constraints have one label by our naming, two in the book."""
    text = """
        PartData:
          Fixed: {A: []}
          Rigids:
            ABC: {Geom: [[1], [0, 1]], Dyna: [[0.5], 2, 1]}
            ABD: {Geom: [[1], [0, -1]], Dyna: [[0.5], 7, 1]}
        AppliedForces: {Gravity: , Friction: {ABD: {mu: 0.1, v0: 0.1}}, Torques: {ABC: 0}}
        ProblemData: {tend: 1, positions: {B: [1], C: [0, 1], D: [0, -1]}}
    """
    built = build(parse(dedent(text)))
    assert len(set(built.multipliers)) == len(built.multipliers)
    friction = next(each for each in built.elements if each.observed)
    own = {label for each in built.elements if each.owner == "ABD" for label in each.multipliers}
    assert set(friction.observed) <= own


@pytest.mark.parametrize("sort", ["Potentials", "Dissipations"])
def test_a_load_that_bears_the_name_of_a_part_is_not_the_parts_own(sort):
    """Forces in joints are those of what acts from outside, whatever it is called."""
    text = """
        PartData:
          Fixed: {O: []}
          Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 2, 0.3]}}
        AppliedForces: {Gravity: [0, -9.81], SORT: {NAME: 3*A.vx + A.vy**2}}
        ProblemData: {tend: 0.5, positions: {A: [1, 0]}}
    """.replace("SORT", sort)
    text = text.replace("A.v", "A.") if sort == "Potentials" else text
    named, other = (mechsim.simulate(text.replace("NAME", name)).reaction("A", 0.4)["OA"] for name in ("OA", "wave"))
    assert np.abs(other).max() > 1
    np.testing.assert_array_equal(named, other)
