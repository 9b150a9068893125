"""Sizes of coordinates that nobody gives: start values, units and moments of a push may be any."""

from __future__ import annotations

from functools import cache
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from examples import some_of
from hypothesis import example, given
from hypothesis import strategies as st

import mechsim

FEW = some_of(25)
SIZES = st.floats(-60, 60).map(lambda x: 10.0**x) | st.just(0.0) | st.sampled_from([1e-7, 1.0, 1e7])
DECADES = st.floats(-12, 12).map(lambda x: 10.0**x)


@cache
def springs(coupling: float) -> mechsim.facility.LagrangianSystem:
    """Two masses of 1 between springs: x'' = -x - k (x - y), y'' = -y - k (y - x)."""
    return mechsim.lagrangian_system(
        lambda q, v, t: (v[0] ** 2 + v[1] ** 2 - q[0] ** 2 - q[1] ** 2 - coupling * (q[0] - q[1]) ** 2) / 2, ["x", "y"]
    )


@FEW
@given(SIZES, SIZES)
@example(1e-7, 1.0)
@example(1e-9, 1.0)
@example(0.0, 0.0)
@example(1e-300, 1.0)
@example(1e-300, 1e-300)
@example(1e60, 1e-60)
def test_coordinates_of_one_chain_may_start_anywhere(x: float, y: float) -> None:
    motion = springs(0.5).simulate({"x": x, "y": y}, tend=7)
    even, odd = (x + y) / 2 * np.cos(7), (x - y) / 2 * np.cos(7 * np.sqrt(2))
    # 7 s are one or two periods, some twenty steps: errors are a few roundings of the larger one.
    # Below 1e-100 nothing is told from rest.
    assert motion(7)["x"] == pytest.approx(even + odd, rel=0, abs=1e-13 * max(x, y, 1e-100))
    assert motion(7)["y"] == pytest.approx(even - odd, rel=0, abs=1e-13 * max(x, y, 1e-100))
    assert motion.certificate.doubts() == ()


@FEW
@given(SIZES, SIZES)
@example(1e12, 1.0)
@example(1e-12, 1e12)
def test_coordinates_that_do_not_meet_have_sizes_of_their_own(x: float, y: float) -> None:
    motion = springs(0.0).simulate({"x": x, "y": y}, tend=7)
    # each to its own last digits, however large the other is
    assert motion(7)["x"] == pytest.approx(x * np.cos(7), rel=1e-12)
    assert motion(7)["y"] == pytest.approx(y * np.cos(7), rel=1e-12)


@pytest.mark.parametrize("amplitude", [1.0, 1e-3, 1e-7, 1e-9, 1e-12])
def test_a_small_swing_in_x_and_y_has_the_digits_of_its_angle(amplitude: float) -> None:
    plane = mechsim.lagrangian_system(
        lambda q, v, t: (v[0] ** 2 + v[1] ** 2) / 2 - 9.81 * q[1],
        ["x", "y"],
        constraints=lambda q, t: [q[0] ** 2 + q[1] ** 2 - 1],
    )
    angle = mechsim.lagrangian_system(lambda q, v, t: v[0] ** 2 / 2 + 9.81 * jnp.cos(q[0]), ["theta"])
    swing = angle.simulate({"theta": amplitude}, tend=5, tol=1e-13)
    motion = plane.simulate({"x": np.sin(amplitude), "y": -np.cos(amplitude)}, tend=5)
    # x is asked for no better than roundings of y, which is 1; yet steps are short enough for its own digits.
    assert motion(5)["x"] == pytest.approx(np.sin(swing(5)["theta"]), rel=1e-9)
    assert motion(5)["y"] == pytest.approx(-np.cos(swing(5)["theta"]), rel=1e-12)


# --- units

UNITS = {"length": 1.0, "turn": 1.0, "time": 1.0, "energy": 1.0}


@cache
def spring_pendulum() -> mechsim.facility.LagrangianSystem:
    """A mass on a spring that swings, with a damper, in any units: r, theta, time and energy each in their own."""

    def lagrangian(q: Any, v: Any, t: Any, p: Any) -> Any:
        r, theta = q[0] / p.length, q[1] / p.turn
        dr, dtheta = v[0] * p.time / p.length, v[1] * p.time / p.turn
        return p.energy * ((dr**2 + r**2 * dtheta**2) / 2 + 9.81 * r * jnp.cos(theta) - 50 * (r - 1) ** 2)

    return mechsim.lagrangian_system(
        lagrangian,
        ["r", "theta"],
        forces=lambda q, v, t, p: [-0.3 * p.energy * p.time * v[0] / p.length**2, 0.0 * t],
        parameters=UNITS,
    )


def swung(units: dict[str, float], start: tuple[float, float], spin: float) -> tuple[Any, Any]:
    motion = spring_pendulum().simulate(
        {"r": start[0] * units["length"], "theta": start[1] * units["turn"]},
        {"theta": spin * units["turn"] / units["time"]},
        tend=3 * units["time"],
        parameters=units,
    )
    end = motion(3 * units["time"])
    place = float(end["r"]) / units["length"], float(end["theta"]) / units["turn"], float(end["work"]) / units["energy"]
    return motion.certificate, place


@FEW
@given(st.fixed_dictionaries(dict.fromkeys(UNITS, DECADES)), st.sampled_from([(1.0, 0.5), (1.0, 0.0), (1.2, 1e-9)]))
def test_units_change_nothing(units: dict[str, float], start: tuple[float, float]) -> None:
    spin = 1.0 if start[1] == 0 else 0.0
    (ours, place), (theirs, same) = swung(UNITS, start, spin), swung(units, start, spin)
    # roundings of other numbers, over some hundred steps; the swing is not chaotic in so short a time
    assert same == pytest.approx(place, rel=1e-11)
    assert abs(theirs.steps - ours.steps) <= 1
    assert theirs.energy_drift < 1e-12 and theirs.doubts() == ()


@FEW
@given(st.floats(-20, 20).map(lambda x: 10.0**x), st.floats(1, 9))
@example(1e-12, 5.0)
def test_a_push_on_what_rests_at_zero_is_met_whatever_its_size(strength: float, moment: float) -> None:
    motion = pushed().simulate({"y": 1.0}, tend=10, parameters={"strength": strength, "moment": moment})
    # x' = strength * 0.1 * sqrt(pi) after a pulse of 0.1 s; y beside it, which does not meet x, is of size 1
    assert motion.velocity(10)["x"] == pytest.approx(strength * 0.1 * np.sqrt(np.pi), rel=1e-10)
    assert motion(10)["y"] == pytest.approx(np.cos(10), abs=1e-11)


@cache
def pushed() -> mechsim.facility.LagrangianSystem:
    return mechsim.lagrangian_system(
        lambda q, v, t, p: (v[0] ** 2 + v[1] ** 2 - q[1] ** 2) / 2,
        ["x", "y"],
        forces=lambda q, v, t, p: [p.strength * jnp.exp(-(((t - p.moment) / 0.1) ** 2)), 0.0 * t],
        parameters={"strength": 1.0, "moment": 5.0},
    )


# --- what a user says


def test_scales_are_what_errors_are_judged_by() -> None:
    motion = springs(0.5).simulate({"x": 1.0, "y": 0.5}, tend=7, scales={"x": 1e3})
    assert [variable.scale for variable in motion.mechanism.variables] == [1e3, pytest.approx(1.0, rel=0.7)]
    fewer = springs(0.5).simulate({"x": 1.0, "y": 0.5}, tend=7, scales={"x": 2.0, "y": 2.0})
    assert fewer.mechanism.size == 2.0


@pytest.mark.parametrize(
    ("scales", "said"),
    [({"x": 0.0}, "above 0"), ({"z": 1.0}, "'z'"), ({"x": "big"}, "a number"), ({"x": np.nan}, "big|number")],
)
def test_scales_that_make_no_sense_are_refused(scales: dict[str, Any], said: str) -> None:
    with pytest.raises(mechsim.MechsimError, match=said):
        springs(0.5).simulate({"x": 1.0}, tend=1, scales=scales)
