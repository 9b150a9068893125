"""Forces and moments in joints in space against statics by hand; joints take no power."""

import numpy as np
import pytest
from reference import SPECS
from test_space_joints import CASES, text_of

import mechsim

SPACE = SPECS / "space"
G = 9.81


def force(table, name, row=0):
    return np.array([table[f"{name}_F{axis}"][row] for axis in "xyz"])


def moment(table, name, row=0):
    return np.array([table[f"{name}_M{axis}"][row] for axis in "xyz"])


def test_tripod_carries_its_load():
    """Three forces along three rods balance the weight: one linear solve."""
    motion = mechsim.simulate(SPACE / "tripod.yaml")
    top, feet = np.array([0.1, 0.2, 1.5]), np.array([[1, 0, 0], [-0.5, 0.8, 0], [-0.4, -0.9, 0.2]])
    along = (feet - top) / np.linalg.norm(feet - top, axis=1)[:, None]
    pulls = np.linalg.solve(along.T, [0.0, 0.0, 10 * G])  # of the rods on the mass, towards their feet
    table = motion.sampled([0.0, 1.0])
    for name, pull, direction in zip(("KA", "LA", "MA"), pulls, along, strict=True):
        np.testing.assert_allclose(force(table, f"A_{name}", 1), -pull * direction, rtol=0, atol=1e-12 * 10 * G)


def test_shelf_hangs_on_its_cable():
    """Moments about the hinge: pull times lever = m g d/2. The rest is the hinge's, about A."""
    motion = mechsim.simulate(SPACE / "shelf.yaml")
    m, b, d, h = 12.0, 1.2, 0.4, 0.5
    pull = m * G * d / 2 / (d * h / np.hypot(d, h))
    cable = pull * np.array([0.0, -d, h]) / np.hypot(d, h)
    table = motion.sampled([0.0, 1.0])
    np.testing.assert_allclose(force(table, "F_ABCF", 1), cable, rtol=0, atol=1e-12 * m * G)
    hinge = np.array([0.0, 0.0, m * G]) - cable
    np.testing.assert_allclose(force(table, "A_ABCF", 1), hinge, rtol=0, atol=1e-12 * m * G)
    weight = np.cross([b / 2, d / 2, 0], [0.0, 0.0, -m * G])
    np.testing.assert_allclose(
        moment(table, "A_ABCF", 1), -weight - np.cross([b, d, 0], cable), rtol=0, atol=1e-11 * m * G
    )


def test_load_inside_a_rotating_beam():
    """Quadrature over the outer half of the beam, instead of the closed form of the file."""
    motion = mechsim.simulate(SPACE / "rotating_beam.yaml")
    length, density, lean, rate = 2.0, 3.0, 0.4, 6.0
    nodes, weights = np.polynomial.legendre.leggauss(4)
    s, ds = 1.5 + nodes / 2, weights / 2 * density
    t = 1.3
    outward, upward = np.array([np.cos(rate * t), np.sin(rate * t), 0]), np.array([0, 0, 1.0])
    beam = np.cos(lean) * outward + np.sin(lean) * upward
    needed = [-(rate**2) * each * np.cos(lean) * outward + G * upward for each in s]  # per mass, beside the weight
    push = sum(part * each for part, each in zip(ds, needed, strict=True))
    turn = sum(part * np.cross((at - length / 2) * beam, each) for part, at, each in zip(ds, s, needed, strict=True))
    table = motion.sampled([t])
    np.testing.assert_allclose(force(table, "S_STUA"), push, rtol=0, atol=1e-12 * np.linalg.norm(push))
    np.testing.assert_allclose(moment(table, "S_STUA"), turn, rtol=0, atol=1e-12 * np.linalg.norm(turn))


PASSIVE = [label for label in CASES if label not in ("surface", "curve")]  # these are joints with the ground


@pytest.mark.parametrize("label", PASSIVE)
def test_joints_take_no_power(label):
    """All reactions times the velocities of their points and parts: nothing but roundings of the powers that pass
    through the joint."""
    case = CASES[label]
    text = text_of(case).replace(", Drag: {D: [0.3]}", "") + "\n"
    parts = ["ABCD", case.name]
    text = text.replace("Output: {reactions: all}", f"Output: {{reactions: all, spins: [{', '.join(parts)}]}}")
    motion = mechsim.simulate(text, tend=0.5)
    t = 0.5
    table, places, speeds = motion.sampled([t]), motion(t), motion.velocity(t)
    columns = [each for each in table.to_pandas().columns if each.endswith("_Fx")]
    powers = []
    for column in columns:
        point, part = column.removesuffix("_Fx").rsplit("_", 1)
        spin = np.array([table[f"{part}_w{axis}"][0] for axis in "xyz"])
        # The matter of the part that is there just now, for the point may be the other part's.
        speed = speeds[part[0]] + np.cross(spin, places[point] - places[part[0]])
        powers.append(force(table, f"{point}_{part}") @ speed)
        if f"{point}_{part}_Mx" in table.to_pandas().columns:
            powers.append(moment(table, f"{point}_{part}") @ spin)
    assert not columns or abs(sum(powers)) < 1e-11 * max(1.0, np.abs(powers).max())
