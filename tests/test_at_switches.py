"""Values at the very time at which something happens: what is behind it, however the time was rounded; and whether
that value has a derivative, which it has where both come together, and where the quantity is smooth across."""

from __future__ import annotations

import numpy as np
import pytest

import mechsim
from mechsim.errors import MechsimError

BALL = """
PhysicalParams: {h: 0.3, g: 0.6, e: 0.5, T: 1}
PartData: {Particles: {P: 1}}
AppliedForces: {Gravity: [0, -g]}
Contacts: {floor: {gap: P.y, e: e}}
ProblemData: {tend: 2, positions: {P: [[0, fixed], [h, fixed]]}, velocities: {P: [[0, fixed], [0, fixed]]}}
"""
PUSHED = """
PhysicalParams: {F: 2, T: 0.5, m: 4}
PartData: {Particles: {P: m}}
AppliedForces: {Forces: {P: ["if(t - T, F, 0)", 0]}}
ProblemData: {tend: 1, positions: {P: [[0, fixed], [0, fixed]]}, velocities: {P: [[0, fixed], [0, fixed]]}}
"""


def sensitivity(text, measure, by, **values):
    return mechsim.mechanism(text, values).sensitivity(measure, by=by, tol=1e-13)


@pytest.mark.parametrize("h", np.linspace(0.1, 1.9, 19))
def test_the_value_is_what_is_behind(h):
    """The ball strikes at sqrt(2 h/g) = 1, as rounded; it is asked for by name and by number, by any direction."""
    values = {"h": float(h), "g": 2 * float(h)}
    for measure, by in (("at(P_y_dot, T)", ["e"]), ("at(P_y_dot, 1)", ["e"]), ("at(P_y_dot, 2*T - 1)", ["e"])):
        found = sensitivity(BALL, measure, by, **values)
        assert found.values[0] == pytest.approx(0.5 * 2 * h, abs=1e-11)
        assert found.derivatives[0, 0] == pytest.approx(2 * h, abs=1e-11)  # e times the speed of falling, 2 h


@pytest.mark.parametrize("by", ["h", "g", "T"])
def test_a_jump_has_no_derivative_and_a_kink_is_told(by):
    with pytest.raises(MechsimError, match=r"jumps from -0\.6 to 0\.3 at t = 1, where floor comes before or after it"):
        sensitivity(BALL, "at(P_y_dot, T)", [by])
    found = sensitivity(BALL, "at(P_y, T)", [by])
    # after the impact y = e g s (t - s), at t = s: e g s times (dt - ds), where s = sqrt(2 h/g) = 1
    exact = {"h": -0.3 / (2 * 0.3), "g": 0.3 / (2 * 0.6), "T": 0.3}[by]
    assert found.derivatives[0, 0] == pytest.approx(exact, abs=1e-11)
    assert any("has a kink at t = 1" in note for note in found.notes)


@pytest.mark.parametrize("by", ["F", "m", "T"])
def test_a_switch_that_moves_with_the_time_that_is_asked_for(by):
    found = sensitivity(PUSHED, "at(P.ax, T)", [by])
    assert found.values[0] == 0.5
    assert found.derivatives[0, 0] == pytest.approx({"F": 1 / 4, "m": -2 / 16, "T": 0}[by], abs=1e-14)
    assert not any("kink" in note for note in found.notes)


def test_a_switch_that_passes_a_time():
    with pytest.raises(MechsimError, match=r"`P\.ax` jumps from 0 to 0\.5 at t = 0\.5, where a switch comes before"):
        sensitivity(PUSHED, "at(P.ax, 0.5)", ["T"])
    assert sensitivity(PUSHED, "at(P.ax, 0.5)", ["F"]).derivatives[0, 0] == 0.25
    assert sensitivity(PUSHED, "at(P.x, 0.5)", ["T"]).notes == ("nothing here changes with T",)  # it has no kink
