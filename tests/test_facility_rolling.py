"""Velocity constraints and forces that see multipliers, in the facility: rolling and friction in closed form."""

from __future__ import annotations

from functools import cache
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from examples import some_of
from hypothesis import given
from hypothesis import strategies as st

import mechsim
from mechsim.facility import LagrangianSystem
from mechsim.result import Motion

FEW = some_of(20)
SOME = st.floats(0.2, 2.0)
SIGNED = st.floats(-2.0, 2.0)
CLOSE = 1e-11  # closed forms of size 1 to 10; tolerance 1e-13 over some hundred steps


def sound(motion: Motion) -> None:
    assert motion.certificate.doubts() == ()
    assert motion.certificate.energy_drift < 1e-12
    assert motion.certificate.velocity_residual < 1e-13


# --- velocity constraints


@cache
def sleigh() -> LagrangianSystem:
    """Chaplygin's: a skate at (x, y) along theta, the centre of mass a distance a ahead of it."""

    def lagrangian(q: Any, v: Any, t: Any, p: Any) -> Any:
        across = v[0] - p.a * jnp.sin(q[2]) * v[2], v[1] + p.a * jnp.cos(q[2]) * v[2]
        return p.m * (across[0] ** 2 + across[1] ** 2) / 2 + p.J * v[2] ** 2 / 2

    return mechsim.lagrangian_system(
        lagrangian,
        ["x", "y", "theta"],
        velocity_constraints=lambda q, v, t, p: [v[1] * jnp.cos(q[2]) - v[0] * jnp.sin(q[2])],
        parameters={"m": 1.0, "J": 1.0, "a": 1.0},
    )


@FEW
@given(SOME, SOME, SOME, SIGNED, SOME, SIGNED)
def test_chaplygins_sleigh(m: float, inertia: float, a: float, speed: float, rate: float, theta: float) -> None:
    """u' = a w^2, k^2 w' = -a u w with k^2 = J/m + a^2: u = A tanh(s), w = A/k sech(s), s' = a A/k^2."""
    motion = sleigh().simulate(
        {"theta": theta},
        {"x": speed * np.cos(theta), "y": speed * np.sin(theta), "theta": rate},
        tend=3,
        tol=1e-13,
        parameters={"m": m, "J": inertia, "a": a},
    )
    k = np.sqrt(inertia / m + a**2)
    amplitude = np.hypot(speed, k * rate)
    s = np.arctanh(speed / amplitude) + 3 * a * amplitude / k**2
    angle, v = motion(3)["theta"], motion.velocity(3)
    along = v["x"] * np.cos(angle) + v["y"] * np.sin(angle)
    assert along == pytest.approx(amplitude * np.tanh(s), abs=CLOSE)
    assert v["theta"] == pytest.approx(amplitude / k / np.cosh(s), abs=CLOSE)
    # The force of the skate, across it, is m (u w + a w'): -mu dpsi/dv is -mu across.
    w, u = v["theta"], along
    sideways = m * (u * w - a * (a * u * w / k**2))
    assert motion.multipliers(3)["psi_0"] == pytest.approx(-sideways, abs=CLOSE)
    sound(motion)


@cache
def disc() -> LagrangianSystem:
    """An upright disc that rolls: heading phi, spin psi."""
    return mechsim.lagrangian_system(
        lambda q, v, t, p: (v[0] ** 2 + v[1] ** 2 + p.R**2 * v[2] ** 2 / 4 + p.R**2 * v[3] ** 2 / 2) / 2,
        ["x", "y", "phi", "psi"],
        velocity_constraints=lambda q, v, t, p: [
            v[0] - p.R * v[3] * jnp.cos(q[2]),
            v[1] - p.R * v[3] * jnp.sin(q[2]),
        ],
        parameters={"R": 1.0},
    )


@FEW
@given(SOME, SOME, SIGNED)
def test_a_rolling_disc_runs_in_a_circle(radius: float, turn: float, spin: float) -> None:
    start = {"x": radius * spin, "phi": turn, "psi": spin}
    motion = disc().simulate({}, start, tend=5, tol=1e-13, parameters={"R": radius})
    circle = radius * spin / turn
    assert motion(5)["x"] == pytest.approx(circle * np.sin(5 * turn), abs=CLOSE * 10)
    assert motion(5)["y"] == pytest.approx(circle * (1 - np.cos(5 * turn)), abs=CLOSE * 10)
    sound(motion)


@cache
def turntable() -> LagrangianSystem:
    """A ball of radius 1 that rolls on a table turning at the rate w: constraints that do work. Rates of the ball about
    x and y are those of two coordinates, of which nothing depends on the values."""
    return mechsim.lagrangian_system(
        lambda q, v, t, p: (v[0] ** 2 + v[1] ** 2 + 0.4 * (v[2] ** 2 + v[3] ** 2)) / 2,
        ["x", "y", "a", "b"],
        velocity_constraints=lambda q, v, t, p: [v[0] - v[3] + p.w * q[1], v[1] + v[2] - p.w * q[0]],
        parameters={"w": 1.0},
    )


@FEW
@given(SOME, SIGNED, SIGNED, SIGNED, SIGNED)
def test_a_ball_on_a_turntable_runs_in_circles(w: float, x: float, y: float, u: float, v: float) -> None:
    """The centre moves on a circle at 2/7 of the table's rate, wherever it starts (Earnshaw 1844)."""
    start = {"x": u, "y": v, "a": w * x - v, "b": u + w * y}
    motion = turntable().simulate({"x": x, "y": y}, start, tend=4, tol=1e-13, parameters={"w": w})
    rate = 2 / 7 * w
    place, velocity = complex(x, y), complex(u, v)
    end = place + velocity * (np.exp(4j * rate) - 1) / (1j * rate)
    assert complex(motion(4)["x"], motion(4)["y"]) == pytest.approx(end, abs=CLOSE * 10)
    sound(motion)


@FEW
@given(SOME, st.floats(-1.2, 1.2))
def test_a_constraint_that_is_not_linear_in_velocities(speed: float, angle: float) -> None:
    """A speed kept at c by a force along it: alpha' = -(g/c) cos(alpha), so sin(alpha) = tanh(s0 - g t/c)."""
    motion = constant_speed().simulate(
        {},
        {"x": speed * np.cos(angle), "y": speed * np.sin(angle)},
        tend=0.5,
        tol=1e-13,
        parameters={"c": speed},
    )
    s = np.arctanh(np.sin(angle)) - 9.81 * 0.5 / speed
    v = motion.velocity(0.5)
    assert v["y"] == pytest.approx(speed * np.tanh(s), abs=CLOSE)
    assert v["x"] == pytest.approx(speed / np.cosh(s), abs=CLOSE)
    assert motion(0.5)["work"] == pytest.approx(9.81 * motion(0.5)["y"], abs=CLOSE)  # the speed is kept: all is lifting
    sound(motion)


@cache
def constant_speed() -> LagrangianSystem:
    return mechsim.lagrangian_system(
        lambda q, v, t, p: (v[0] ** 2 + v[1] ** 2) / 2 - 9.81 * q[1],
        ["x", "y"],
        velocity_constraints=lambda q, v, t, p: [v[0] ** 2 + v[1] ** 2 - p.c**2],
        parameters={"c": 1.0},
    )


# --- forces that see multipliers


@cache
def block() -> LagrangianSystem:
    """A block on a slope; the constraint is written k times the distance, so lam is 1/k of the normal force."""

    def friction(q: Any, v: Any, t: Any, lam: Any, p: Any) -> list[Any]:
        normal = -p.k * lam[0]
        return [-p.mu * normal * jnp.cos(p.slope), p.mu * normal * jnp.sin(p.slope)]

    return mechsim.lagrangian_system(
        lambda q, v, t, p: p.m * (v[0] ** 2 + v[1] ** 2) / 2 - 9.81 * p.m * q[1],
        ["x", "y"],
        constraints=lambda q, t, p: [p.k * (q[0] * jnp.sin(p.slope) + q[1] * jnp.cos(p.slope))],
        reactive_forces=friction,
        parameters={"m": 1.0, "k": 1.0, "slope": 0.7, "mu": 0.3},
    )


@FEW
@given(SOME, st.sampled_from([-3.0, -1.0, 0.01, 1.0, 100.0]), st.floats(0.4, 1.4), st.floats(0.01, 0.4))
def test_a_block_slides_against_friction(m: float, k: float, slope: float, mu: float) -> None:
    given = {"m": m, "k": k, "slope": slope, "mu": mu}
    motion = block().simulate({}, {}, tend=2, tol=1e-13, parameters=given)
    way = 9.81 * (np.sin(slope) - mu * np.cos(slope)) * 2  # a t^2 / 2
    assert motion(2)["x"] == pytest.approx(way * np.cos(slope), rel=CLOSE)
    assert motion(2)["y"] == pytest.approx(-way * np.sin(slope), rel=CLOSE)
    assert motion.multipliers(1)["C_0"] == pytest.approx(-m * 9.81 * np.cos(slope) / k, rel=CLOSE)
    assert motion(2)["work"] == pytest.approx(-mu * m * 9.81 * np.cos(slope) * way, rel=CLOSE)
    sound(motion)


@cache
def hoop() -> LagrangianSystem:
    """A ring on a level hoop: friction mu N against its motion, with N = 2 lam R towards the centre."""

    def friction(q: Any, v: Any, t: Any, lam: Any, p: Any) -> list[Any]:
        share = p.mu * 2 * lam[0] * p.R / jnp.sqrt(v[0] ** 2 + v[1] ** 2)
        return [-share * v[0], -share * v[1]]

    return mechsim.lagrangian_system(
        lambda q, v, t, p: (v[0] ** 2 + v[1] ** 2) / 2,
        ["x", "y"],
        constraints=lambda q, t, p: [q[0] ** 2 + q[1] ** 2 - p.R**2],
        reactive_forces=friction,
        parameters={"R": 1.0, "mu": 0.3},
    )


@FEW
@given(SOME, st.floats(0.01, 1.0), SOME)
def test_a_ring_on_a_hoop_slows_down(radius: float, mu: float, speed: float) -> None:
    """s'' = -mu s'^2 / R: s' = v / (1 + mu v t/R), s = R/mu log(1 + mu v t/R)."""
    motion = hoop().simulate({"x": radius}, {"y": speed}, tend=5, tol=1e-13, parameters={"R": radius, "mu": mu})
    slowed = 1 + mu * speed * 5 / radius
    angle = np.log(slowed) / mu
    place = motion(5)
    assert place["x"] == pytest.approx(radius * np.cos(angle), abs=CLOSE)
    assert place["y"] == pytest.approx(radius * np.sin(angle), abs=CLOSE)
    assert np.hypot(motion.velocity(5)["x"], motion.velocity(5)["y"]) == pytest.approx(speed / slowed, abs=CLOSE)
    assert place["work"] == pytest.approx((speed / slowed) ** 2 / 2 - speed**2 / 2, abs=CLOSE)
    sound(motion)


def test_multipliers_come_in_the_order_of_constraints_then_velocity_constraints() -> None:
    """z is held by C_0 against gravity (lam = -m g), the speed along x at 1 by psi_0 against mu m g of friction."""
    motion = mechsim.lagrangian_system(
        lambda q, v, t: jnp.dot(v, v) - 2 * 9.81 * q[2],
        ["A_x", "A_y", "A_z"],
        constraints=lambda q, t: [q[2] - 1],
        velocity_constraints=lambda q, v, t: [v[0] - 1],
        forces=lambda q, v, t: [0.0, 2 * jnp.cos(t), 0.0],
        reactive_forces=lambda q, v, t, lam: [0.3 * lam[0], 0.1 * lam[1], 0.0],
    ).simulate({"A_z": 1.0}, {"A_x": 1.0}, tend=2, tol=1e-13)
    assert motion.multipliers(1)["C_0"] == pytest.approx(-2 * 9.81)
    pull = -0.3 * 2 * 9.81  # mu: what is needed is -mu dpsi/dv = +pull, against the friction
    assert motion.multipliers(1)["psi_0"] == pytest.approx(pull)
    assert motion.velocity(2)["A_y"] == pytest.approx(np.sin(2) + 0.1 * pull * 2 / 2, abs=CLOSE)
    sound(motion)


def test_friction_that_no_unique_multiplier_decides_is_refused() -> None:
    """The same line twice: the motion is determined, but not how the two share the load."""
    twice: dict[str, Any] = {
        "lagrangian": lambda q, v, t: (v[0] ** 2 + v[1] ** 2) / 2 - 9.81 * q[1],
        "coordinates": ["x", "y"],
        "constraints": lambda q, t: [q[1], 2 * q[1]],
    }
    start: dict[str, Any] = {"positions": {}, "velocities": {"x": 1.0}, "tend": 1.0}
    assert mechsim.lagrangian_system(**twice).simulate(**start)(1.0)["x"] == pytest.approx(1.0)
    rubbed = mechsim.lagrangian_system(**twice, reactive_forces=lambda q, v, t, lam: [0.1 * lam[0], 0.0])
    with pytest.raises(mechsim.AssemblyError, match="C_1 follows from"):
        rubbed.simulate(**start)
