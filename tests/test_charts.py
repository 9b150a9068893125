"""Linear motion in coordinates of a user's choice, of files and Lagrangians, at rest and in motion; modes as tables."""

from __future__ import annotations

import math

import jax
import numpy as np
import pytest
from click.testing import CliRunner
from jax import numpy as jnp
from reference import SPECS

import mechsim
from mechsim.cli.main import cli
from mechsim.errors import MechsimError, SpecError

EXACT = 1e-10  # of entries of some tens: first derivatives of the same equations, in other coordinates
G = 9.81


def rods() -> mechsim.lagrangian_system:
    """The double pendulum of uniform rods by its angles from the vertical."""
    return mechsim.lagrangian_system(
        lambda q, v, t: (
            (4 * v[0] ** 2 + v[1] ** 2 + 3 * v[0] * v[1] * jnp.cos(q[0] - q[1])) / 6
            + G * (3 * jnp.cos(q[0]) + jnp.cos(q[1])) / 2
        ),
        ["alpha", "beta"],
    )


PENDULUM = """
PartData: {Fixed: {O: []}, Rods: {OA: 1}, Particles: {A: 1}}
AppliedForces: {Gravity: [0, -9.81]}
ProblemData: {tend: 1, positions: {A: [0, -1]}}
"""
ANGLES = {"alpha": "atan2(A.x, -A.y)", "beta": "atan2(B.x - A.x, A.y - B.y)"}


def test_angles_of_a_file_in_motion():
    """The flow at a moment depends on coordinates, their bending too: as in these angles from the beginning."""
    handle = mechsim.mechanism(SPECS / "double_pendulum.yaml")
    found = handle.linearize(at=0.7, coordinates=ANGLES)
    assert found.states == ("alpha", "beta", "alpha_dot", "beta_dot")
    motion = handle.simulate(tend=0.7)
    (ax, ay), (bx, by) = (motion(0.7)[name] for name in "AB")
    (au, av), (bu, bv) = (motion.velocity(0.7)[name] for name in "AB")
    angles = {"alpha": math.atan2(ax, -ay), "beta": math.atan2(bx - ax, ay - by)}
    rates = {"alpha": ax * av - ay * au, "beta": (bx - ax) * (bv - av) - (by - ay) * (bu - au)}
    own = rods().linearize(angles, rates)
    np.testing.assert_allclose(found.A, own.A, rtol=0, atol=1e-9)  # angles are known by two motions to 1e-12


@pytest.mark.slow
def test_functions_of_a_lagrangian():
    """Constrained points by functions of q, against the angle itself; with a parameter, and with time in a function."""
    pendulum = mechsim.lagrangian_system(
        lambda q, v, t, p: (v[0] ** 2 + v[1] ** 2) / 2 - 9.81 * q[1],
        ["x", "y"],
        constraints=lambda q, t, p: [q[0] ** 2 + q[1] ** 2 - p.l**2],
        forces=lambda q, v, t, p: [-0.2 * v[0], -0.2 * v[1]],
        parameters={"l": 2.0},
    )
    start = (
        {"x": 2 * math.sin(0.8), "y": -2 * math.cos(0.8)},
        {"x": 0.5 * 2 * math.cos(0.8), "y": 0.5 * 2 * math.sin(0.8)},
    )
    by_angle = mechsim.lagrangian_system(
        lambda q, v, t: 2 * v[0] ** 2 + 2 * 9.81 * jnp.cos(q[0]), ["a"], forces=lambda q, v, t: [-0.8 * v[0]]
    )
    found = pendulum.linearize(*start, coordinates={"a": lambda q, t, p: jnp.arctan2(q[0], -q[1])})
    own = by_angle.linearize({"a": 0.8}, {"a": 0.5})
    np.testing.assert_allclose(found.A, own.A, rtol=0, atol=EXACT)
    # In b = sin(a) + t/2 of the angle, by hand: b'' = cos(a) a'' - sin(a) a'^2.
    curved = by_angle.linearize({"a": 0.8}, {"a": 0.5}, coordinates={"b": lambda q, t: jnp.sin(q[0]) + t / 2})
    a, w = 0.8, 0.5
    second = -9.81 / 2 * math.sin(a) - 0.2 * w
    by_a = -math.sin(a) * second + math.cos(a) * (-9.81 / 2 * math.cos(a)) - math.cos(a) * w**2
    by_w = math.cos(a) * -0.2 - 2 * math.sin(a) * w
    # b' = cos(a) a' + 1/2: a change of b alone changes a' too.
    row = [(by_a + by_w * math.sin(a) * w / math.cos(a)) / math.cos(a), by_w / math.cos(a)]
    np.testing.assert_allclose(curved.A, [[0, 1], row], rtol=0, atol=EXACT)
    assert curved.states == curved.outputs == ("b", "b_dot")


def test_forces_do_not_hide_constraints():
    """A Lagrangian with both had eigenvalues too many."""
    pendulum = mechsim.lagrangian_system(
        lambda q, v, t: (v[0] ** 2 + v[1] ** 2) / 2 - 9.81 * q[1],
        ["x", "y"],
        constraints=lambda q, t: [q[0] ** 2 + q[1] ** 2 - 1],
        forces=lambda q, v, t: [-0.2 * v[0], -0.2 * v[1]],
    )
    values = pendulum.linearize({"x": 0, "y": -1}).eigenvalues
    root = math.sqrt(G - 0.01)
    np.testing.assert_allclose(sorted(values, key=lambda z: z.imag), [-0.1 - 1j * root, -0.1 + 1j * root], atol=1e-12)


@pytest.mark.slow
def test_another_chart_is_the_same_motion():
    """With y = f(q) the matrix is (T A + T') T^-1, T the change of (y, y') by (q, q') and T' its rate along the motion,
    all written out by hand for y = (x + x^2 z / 3, z + sin(x)) of a Lagrangian that moves and is damped."""
    system = mechsim.lagrangian_system(
        lambda q, v, t: (v[0] ** 2 + 2 * v[1] ** 2 + v[0] * v[1] * q[0]) / 2 - jnp.cos(q[0] - 2 * q[1]),
        ["x", "z"],
        forces=lambda q, v, t: [-0.3 * v[0], -0.1 * v[1] ** 3],
    )
    state = {"x": 0.4, "z": -0.7}, {"x": 1.1, "z": 0.6}

    def chart(s):
        x, z, u, w = s
        rates = [u + (2 * x * z * u + x**2 * w) / 3, w + jnp.cos(x) * u]
        return jnp.stack([x + x**2 * z / 3, z + jnp.sin(x), *rates])

    own = system.linearize(*state)
    coordinates = {"y": lambda q, t: q[0] + q[0] ** 2 * q[1] / 3, "w": lambda q, t: q[1] + jnp.sin(q[0])}
    found = system.linearize(*state, coordinates=coordinates)
    flow = np.array([1.1, 0.6, *system.accelerations(*state)[:2]])
    with jax.enable_x64():
        at = jnp.array([0.4, -0.7, 1.1, 0.6])
        turned = np.asarray(jax.jacfwd(chart)(at))
        rate = np.asarray(jax.jvp(jax.jacfwd(chart), (at,), (jnp.asarray(flow),))[1])
    expected = (turned @ own.A + rate) @ np.linalg.inv(turned)
    np.testing.assert_allclose(found.A, expected, rtol=0, atol=EXACT)


def test_eigenvalues_at_rest_are_those_of_any_chart():
    """Angles, points, and distances of them, of a file at rest: eigenvalues belong to the mechanism."""
    handle = mechsim.mechanism(SPECS / "mechanism1a.yaml")
    own = handle.linearize(rest=True)
    labels = [name for name in own.states if not name.endswith("_dot")]
    point = labels[0].split("_")[0]
    others = {"first": f"exp(0.3*{point}.x) - {point}.y", labels[1]: None}
    found = handle.linearize(rest=True, coordinates=others)
    assert found.states == ("first", labels[1], "first_dot", f"{labels[1]}_dot")
    for value in found.eigenvalues:
        assert min(abs(own.eigenvalues - value)) < EXACT
    for mode, same in zip(found.modes, own.modes, strict=True):  # shapes are of all coordinates, in any chart
        np.testing.assert_allclose(mode.shape, same.shape, rtol=0, atol=1e-8)


def test_a_sleigh_has_fewer_rates_than_coordinates():
    handle = mechsim.mechanism(SPECS / "forces" / "chaplygin_sleigh.yaml")
    own = handle.linearize(at=0.3)
    labels = [name for name in own.states if not name.endswith("_dot")]
    found = handle.linearize(at=0.3, coordinates=labels[::-1])
    assert len(found.states) == 5 and found.states[:3] == tuple(labels[::-1])
    assert np.isfinite(found.A).all()


def test_command(tmp_path):
    spec = str(SPECS / "double_pendulum.yaml")
    words = ["linearize", spec, "--at", "0.7", "--coordinates", "alpha=atan2(A.x,-A.y),B_x"]
    said = CliRunner().invoke(cli, words, catch_exceptions=False).stdout
    assert "alpha, B_x" in said or "B_x, alpha" in said
    said = (
        CliRunner().invoke(cli, ["linearize", spec, "--coordinates", "dist(O,B), A_y"], catch_exceptions=False).stdout
    )
    assert "dist(O,B)" in said


def test_what_is_no_coordinate():
    handle = mechsim.mechanism(SPECS / "double_pendulum.yaml")
    with pytest.raises(SpecError, match="changes with velocities"):
        handle.linearize(coordinates={"u": "A.vx", "w": "B.x"})
    with pytest.raises(SpecError, match="K is not defined"):
        handle.linearize(coordinates={"u": "K*A.x", "w": "B.x"})
    with pytest.raises(SpecError, match="depends on coordinates that are left out"):
        handle.linearize(at=0.5, coordinates=["dist(O,B)"])
    with pytest.raises(SpecError, match="are 3 coordinates, but only 2 can change"):
        handle.linearize(at=0.5, coordinates=["A_x", "B_x", "B_y"])
    with pytest.raises(SpecError, match="some change together only"):  # the angle and the point on its circle
        handle.linearize(at=0.5, coordinates=["A_x", "atan2(A.x, -A.y)"])
    with pytest.raises(SpecError, match="r cannot move here"):  # a rod keeps its length
        handle.linearize(at=0.5, coordinates={"r": "dist(O,A)", "w": "B.x"})
    with pytest.raises(
        SpecError, match=r"A\.x\*\*2 cannot move here"
    ):  # at its smallest value a square is no coordinate
        mechsim.mechanism(PENDULUM).linearize(coordinates=["A.x**2"])
    system = rods()
    with pytest.raises(MechsimError, match="must return one number"):
        system.linearize({"alpha": 0.1}, coordinates={"u": lambda q, t: [q[0], q[1]]})
