"""Derivatives of a Lagrangian's motions by its parameters and its start, against closed forms and other coordinates."""

from __future__ import annotations

import math

import pytest
from jax import numpy as jnp

import mechsim
from mechsim.errors import SpecError


def oscillator(k: float = 2.0) -> mechsim.LagrangianSystem:
    return mechsim.lagrangian_system(
        lambda q, v, t, p: p.m * v[0] ** 2 / 2 - p.k * q[0] ** 2 / 2, ["x"], parameters={"m": 0.5, "k": k}
    )


def test_an_oscillator_has_the_derivatives_of_its_closed_form():
    t, w = 3.0, 2.0  # w = sqrt(k / m)
    motion = oscillator().simulate({"x": 1.0}, tend=t, tangents=["k", "m", "x", "x_dot"])
    slope = -t * math.sin(w * t)  # dx/dw
    expected = {"k": slope * w / 4, "m": -slope * w, "x": math.cos(w * t), "x_dot": math.sin(w * t) / w}
    for name, value in expected.items():
        # Tolerance 1e-12 of the motion, which tangents share, relative to values of order 1.
        assert motion.derivative(name, t)["x"] == pytest.approx(value, abs=2e-11), name


def test_a_parameter_that_is_zero_stays_in_the_equations():
    free = oscillator(k=0.0).simulate({"x": 1.0}, tend=3.0, tangents=["k"])
    # x = cos(sqrt(k / m) t) = 1 - k t^2 / (2 m) + ...
    assert free.derivative("k", 3.0)["x"] == pytest.approx(-9.0, abs=1e-10)


def test_a_start_that_is_nearest_to_its_guesses_changes_with_lengths():
    """A pendulum in x and y, guessed off its circle: the nearest point keeps the angle, so in angles only the length
    changes."""
    plane = mechsim.lagrangian_system(
        lambda q, v, t, p: (v[0] ** 2 + v[1] ** 2) / 2 - 9.81 * q[1],
        ["x", "y"],
        constraints=lambda q, t, p: [q[0] ** 2 + q[1] ** 2 - p.l**2],
        parameters={"l": 1.3},
    ).simulate({"x": 0.6, "y": -0.8}, tend=2.0, tangents="l")
    angle = mechsim.lagrangian_system(
        lambda q, v, t, p: p.l**2 * v[0] ** 2 / 2 + 9.81 * p.l * jnp.cos(q[0]), ["a"], parameters={"l": 1.3}
    ).simulate({"a": math.atan2(0.6, 0.8)}, tend=2.0, tangents="l")
    a, change = angle(2.0)["a"], angle.derivative("l", 2.0)["a"]
    expected = math.sin(a) + 1.3 * math.cos(a) * change
    assert plane.derivative("l", 2.0)["x"] == pytest.approx(expected, abs=1e-10)


def test_sizes_that_inertia_tells_are_refused_where_they_decide_the_start():
    system = mechsim.lagrangian_system(
        lambda q, v, t, p: (p.m * v[0] ** 2 + v[1] ** 2) / 2 - 9.81 * q[1],
        ["x", "y"],
        constraints=lambda q, t, p: [q[0] ** 2 + q[1] ** 2 - 1],
        parameters={"m": 1.5},
    )
    with pytest.raises(SpecError, match="how the start changes with m"):
        system.simulate({"x": 0.7, "y": -0.9}, tend=1.0, tangents="m")
    assert system.simulate({"x": 0.6, "y": -0.8}, tend=1.0, tangents="m").derivative("m", 0.0)["x"] == 0


def test_unknown_names_are_told():
    with pytest.raises(SpecError, match="nothing called kk"):
        oscillator().simulate({"x": 1.0}, tend=1.0, tangents=["kk"])
