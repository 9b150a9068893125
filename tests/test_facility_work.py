"""Energy in the facility: H less the work of forces, of time in L and of moving constraints is kept."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from examples import some_of
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

import mechsim
from mechsim.facility import LagrangianSystem
from mechsim.result import Motion, accounts
from mechsim.result.certificate import Monitor

FEW = some_of(20)
KEPT = 1e-12  # of the largest term: a tolerance of 1e-14 in every step, and roundings of some hundred


def checked(motion: Motion, *, works: bool = True) -> None:
    """The account is there, is not idle, and closes."""
    table = motion.trajectory
    assert motion.certificate.energy_drift < KEPT
    assert motion.certificate.doubts() == ()
    assert np.ptp(table["H"] - table["work"]) < KEPT * motion.certificate.largest_energy
    assert not works or np.ptp(table["work"]) > 1e-3 * motion.certificate.largest_energy
    assert table["work"][0] == 0.0 and table.units[table.labels.index("work")] == "J"


@cache
def caldirola() -> LagrangianSystem:
    """L = exp(c t) (v^2 - k q^2) / 2, whose equation is x'' + c x' + k x = 0."""
    return mechsim.lagrangian_system(
        lambda q, v, t, p: jnp.exp(p.c * t) * (v[0] ** 2 - p.k * q[0] ** 2) / 2, ["x"], parameters={"c": 1.0, "k": 1.0}
    )


@FEW
@given(st.floats(0.05, 1.0), st.floats(1.0, 20.0), st.floats(-2, 2), st.floats(0.1, 2))
def test_time_in_the_lagrangian(c: float, k: float, x: float, v: float) -> None:
    motion = caldirola().simulate({"x": x}, {"x": v}, tend=3, tol=1e-14, parameters={"c": c, "k": k})
    w = np.sqrt(k - c**2 / 4)
    exact = np.exp(-1.5 * c) * (x * np.cos(3 * w) + (v + c * x / 2) / w * np.sin(3 * w))
    assert motion(3)["x"] == pytest.approx(exact, abs=1e-12)  # of an amplitude of a few
    checked(motion)


@cache
def turning_rod() -> LagrangianSystem:
    """A bead on a straight rod that turns at the rate w about the origin, in x and y."""
    return mechsim.lagrangian_system(
        lambda q, v, t, p: (v[0] ** 2 + v[1] ** 2) / 2,
        ["x", "y"],
        constraints=lambda q, t, p: [q[0] * jnp.sin(p.w * t) - q[1] * jnp.cos(p.w * t)],
        parameters={"w": 1.0},
    )


@FEW
@given(st.floats(0.2, 2.0), st.floats(0.1, 3.0))
def test_a_constraint_that_moves(w: float, r: float) -> None:
    motion = turning_rod().simulate({"x": r}, {"y": w * r}, tend=2, tol=1e-14, parameters={"w": w})
    way = r * np.cosh(2 * w)
    np.testing.assert_allclose(
        [motion(2)["x"], motion(2)["y"]], [way * np.cos(2 * w), way * np.sin(2 * w)], rtol=0, atol=1e-12 * way
    )
    speed = np.hypot(r * w * np.sinh(2 * w), way * w)
    assert motion(2)["work"] == pytest.approx((speed**2 - (w * r) ** 2) / 2, rel=1e-11)  # what the rod gave
    checked(motion)


@cache
def driven_duffing() -> LagrangianSystem:
    """Two coordinates with products of all kinds: a mass matrix that depends on q, a quartic potential, a force that
    turns about, a damper of odd power, and time in all three."""

    def lagrangian(q: Any, v: Any, t: Any, p: Any) -> Any:
        kinetic = (1 + q[1] ** 2) * v[0] ** 2 / 2 + v[1] ** 2 / 2 + p.a * jnp.cos(t) * v[0]
        return kinetic - q[0] ** 2 / 2 - q[1] ** 4 / 4 - p.b * q[0] * q[1] * jnp.sin(2 * t)

    def forces(q: Any, v: Any, t: Any, p: Any) -> list[Any]:
        return [p.c * q[1] - 0.1 * v[0] ** 3, -p.c * q[0] + jnp.cos(3 * t)]

    return mechsim.lagrangian_system(lagrangian, ["x", "y"], forces=forces, parameters={"a": 1.0, "b": 1.0, "c": 1.0})


def duffing_by_hand(t: float, state: Any, a: float, b: float, c: float) -> list[float]:
    x, y, u, w = state
    push = -x - b * y * np.sin(2 * t) + c * y - 0.1 * u**3 + a * np.sin(t) - 2 * y * w * u
    return [
        u,
        w,
        push / (1 + y**2),
        y * u**2 - y**3 - b * x * np.sin(2 * t) - c * x + np.cos(3 * t),
    ]


@FEW
@given(st.tuples(*[st.floats(-1, 1)] * 3), st.tuples(*[st.floats(-1, 1)] * 4))
def test_forces_and_time_at_once(parameters: tuple[float, ...], start: tuple[float, ...]) -> None:
    names = dict(zip("abc", parameters, strict=True))
    x, y, u, w = start
    motion = driven_duffing().simulate({"x": x, "y": y}, {"x": u, "y": w}, tend=4, tol=1e-14, parameters=names)
    by_hand = solve_ivp(
        duffing_by_hand, (0, 4), [x, y, u, w], "DOP853", rtol=1e-12, atol=1e-13, args=tuple(names.values())
    )
    end = [motion(4)["x"], motion(4)["y"], motion.velocity(4)["x"], motion.velocity(4)["y"]]
    np.testing.assert_allclose(end, by_hand.y[:, -1], rtol=0, atol=1e-9)  # what that integrator is good for
    checked(motion, works=False)


def test_a_pivot_that_moves_by_constraint_and_by_lagrangian_give_the_same_motion_and_their_own_work() -> None:
    plane = mechsim.lagrangian_system(
        lambda q, v, t: jnp.dot(v, v) / 2 - 9.81 * q[1],
        ["x", "y"],
        constraints=lambda q, t: [(q[0] - 0.1 * jnp.sin(3 * t)) ** 2 + q[1] ** 2 - 1],
    )

    def lagrangian(q: Any, v: Any, t: Any) -> Any:
        speed_x, speed_y = 0.3 * jnp.cos(3 * t) + jnp.cos(q[0]) * v[0], jnp.sin(q[0]) * v[0]
        return (speed_x**2 + speed_y**2) / 2 + 9.81 * jnp.cos(q[0])

    one = plane.simulate({"x": np.sin(0.5), "y": -np.cos(0.5)}, {"x": 0.3}, tend=4, tol=1e-14)
    theta = np.arcsin(one(0)["x"])
    rate = (one.velocity(0)["x"] - 0.3) / np.cos(theta)
    other = mechsim.lagrangian_system(lagrangian, ["theta"]).simulate(
        {"theta": theta}, {"theta": rate}, tend=4, tol=1e-14
    )
    assert one(4)["x"] == pytest.approx(0.1 * np.sin(12) + np.sin(other(4)["theta"]), abs=1e-12)
    checked(one)
    checked(other)


# --- it is a check


def drift(motion: Motion, change: Any) -> float:
    """The drift that the certificate would see if the rows were others."""
    points = motion.solution.points
    q, v = points.q.copy(), points.v.copy()
    change(q, v)
    monitor = Monitor(motion.system)
    monitor.observe(replace(points, q=q, v=v))
    return float(monitor.certificate(1e-14, {}).energy_drift)


def damaged(q: Any, v: Any) -> None:
    v[len(v) // 2 :, 0] *= 1 + 1e-8


def other_sign(q: Any, v: Any) -> None:
    q[:, -1] *= -1


def no_work(q: Any, v: Any) -> None:
    q[:, -1] = 0


@pytest.mark.parametrize(("change", "least"), [(damaged, 1e-10), (other_sign, 0.1), (no_work, 0.1)])
def test_a_lost_digit_or_a_wrong_sign_is_seen(change: Any, least: float) -> None:
    motions = [
        caldirola().simulate({"x": 1.0}, {"x": 0.5}, tend=3, tol=1e-14),
        turning_rod().simulate({"x": 1.0}, {"y": 1.0}, tend=2, tol=1e-14),
        driven_duffing().simulate({"x": 0.5}, {"y": 1.0}, tend=4, tol=1e-14),
    ]
    for motion in motions:
        assert drift(motion, lambda q, v: None) < KEPT
        assert drift(motion, change) > least


def test_a_loose_tolerance_shows_in_the_balance() -> None:
    """Errors of the motion and of the balance are of one size: neither is hidden by the other."""
    for tol in (1e-4, 1e-6, 1e-8):
        motion = driven_duffing().simulate({"x": 0.5}, {"y": 1.0}, tend=4, tol=tol)
        exact = driven_duffing().simulate({"x": 0.5}, {"y": 1.0}, tend=4, tol=1e-14)
        error = abs(motion(4)["x"] - exact(4)["x"]) + abs(motion(4)["y"] - exact(4)["y"])
        assert 1e-3 * error < motion.certificate.energy_drift < 1e2 * tol


# --- the column


def test_what_keeps_its_energy_has_no_account() -> None:
    free = mechsim.lagrangian_system(lambda q, v, t: v[0] ** 2 / 2 + 0.0 * t, ["x"]).simulate({"x": 1.0}, tend=1)
    assert "work" not in free.trajectory.labels and accounts(free.mechanism) == []


def test_a_coordinate_may_be_called_work() -> None:
    motion = mechsim.lagrangian_system(
        lambda q, v, t: v[0] ** 2 / 2, ["work"], forces=lambda q, v, t: [2.0 + 0.0 * t]
    ).simulate({"work": 0.0}, tend=3)
    assert motion(3)["work"] == pytest.approx(9.0)
    assert motion(3)["work_2"] == pytest.approx(18.0)
    assert [account.label for account in accounts(motion.mechanism)] == ["work_2"]


def test_the_account_is_kept_in_files(tmp_path: Any) -> None:
    motion = turning_rod().simulate({"x": 1.0}, {"y": 1.0}, tend=2)
    for name in ("out.csv", "out.npz", "out.parquet"):
        table = mechsim.load(motion.save(tmp_path / name))
        assert table["work"][-1] == pytest.approx(motion(2)["work"], rel=1e-14)
        assert table.certificate is not None and table.certificate.energy_drift < 1e-11
