"""Mechanisms at rest: roundings are compared with what rounding explains; a wrong motion is doubted all the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

import mechsim

DOOR = """
Dimension: 3
PhysicalParams: {{tilt: {tilt}, w: 0.9, h: 2, m: 25}}
PartData:
  Fixed:
    A: []
    B: [0.1*sin(tilt), 0, 0.1*cos(tilt)]
    C: [1.5*sin(tilt), 0, 1.5*cos(tilt)]
    D: [1.6*sin(tilt), 0, 1.6*cos(tilt)]
  Rigids:
    ABFCD: {{Geom: [[0.1], [0, w], [1.5], [1.6]], Dyna: [[h/2, w/2], m, [m*w**2/12, m*h**2/12, m*(w**2 + h**2)/12]]}}
AppliedForces: {{Gravity: }}
Output: {{reactions: all}}
ProblemData: {{tend: 10, positions: {{F: [w*cos(tilt), 0, -w*sin(tilt)]}}}}
"""
SEESAW = """
PartData:
  Fixed: {{O: []}}
  Rigids: {{OAB: {{Geom: [[1], [-1]]}}}}
  Particles: {{A: 1, B: 1}}
AppliedForces: {{Gravity: }}
Output: {{reactions: all}}
ProblemData: {{tend: 10, positions: {{A: [cos({tilt}), sin({tilt})]}}}}
"""


@pytest.mark.parametrize("tolerance", [1e-14, 1e-9, 1e-6])
@pytest.mark.parametrize("tilt", ["0.05", "0.1", "0.3", "1.2", "pi/2"])
@pytest.mark.parametrize("text", [DOOR, SEESAW], ids=["door", "seesaw"])
def test_a_mechanism_at_rest_is_not_doubted(text: str, tilt: str, tolerance: float) -> None:
    """Of a door that hangs where it rests the peak speed is 1e-36 m/s or less, of a seesaw the energy 1e-30 J."""
    figures = mechsim.simulate(text.format(tilt=tilt), tol=tolerance).certificate
    assert figures is not None and figures.peak_speed < 1e-12
    assert figures.doubts() == ()
    assert max(figures.energy_drift, figures.velocity_residual, figures.position_residual) < 1e-14


def test_what_stands_for_the_peak_speed_is_far_below_a_motion() -> None:
    """A door that swings has its figures relative to its own speed and energy."""
    figures = mechsim.simulate(DOOR.format(tilt="0.05").replace("cos(tilt), 0, -w", "cos(tilt), 0.3, -w")).certificate
    assert figures is not None
    assert figures.least_speed < 1e-5 * figures.peak_speed and figures.least_energy < 1e-3 * figures.largest_energy
    assert replace(figures, velocity_residual=1e-8).doubts() and replace(figures, energy_drift=1e-6).doubts()


def test_what_stands_for_them_goes_with_the_units() -> None:
    """A run ten times as long sees rates that are a tenth."""
    short, long = (mechsim.simulate(SEESAW.format(tilt="0.3"), tend=end).certificate for end in (1.0, 10.0))
    assert short is not None and long is not None
    assert short.least_speed == pytest.approx(10 * long.least_speed)
    assert short.least_energy == pytest.approx(long.least_energy)
