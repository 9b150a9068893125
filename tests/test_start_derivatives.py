"""Starts that nothing fixes: the nearest to first guesses, of which shapes of parts make those that the file leaves
out. Their derivatives are differences of the starts of the file read with other values."""

from __future__ import annotations

import pytest

import mechsim
from mechsim.handle.derivatives import by_parameters
from mechsim.simulation import prepare
from mechsim.source import read

STEP = 1e-5  # of values of order one: its square, and roundings divided by it, are 1e-10
CLOSE = 1e-8

PENDULUM = """
PhysicalParams: {L: 0.8, x: 0.2, a: 0.3}
PartData:
  Fixed: {O: [x, 0]}
  Rigids: {OA: {Geom: [[L]], Dyna: [[0.4], 1, 0.1]}}
AppliedForces: {Gravity: }
ProblemData: {tend: 1, angles: {OA: a}}
"""
FOUR_BAR = """
PhysicalParams: {a: 0.35, b: 1.1, c: 0.85, d: 1.05, g: 0.2, p: 0.5, q: 0.3}
PartData:
  Fixed: {O: [], Q: [d, g]}
  Rigids:
    OA: {Geom: [[a]], Dyna: [[a/2], 1, 0.1]}
    ABP: {Geom: [[b], [p, q]], Dyna: [[b/2], 1, 0.1]}
    QB: {Geom: [[c]], Dyna: [[c/2], 1, 0.1]}
ProblemData: {tend: 1, angles: {OA: 1.1}}
"""
SLIDER = """
PhysicalParams: {r: 0.4, l: 1.3, h: 0.15, s: 0.5}
PartData:
  Fixed: {O: [], R: [1, h], S: [2, h + 0.1*r]}
  Rigids: {OA: {Geom: [[r]], Dyna: [[r/2], 1, 0.1]}, AB: {Geom: [[l]], Dyna: [[l/3], 1, 0.2]}}
  Particles: {B: 1, C: 1}
  Springs: {BC: [10, s]}
Joints: {Slots: {B-RS: [0.1*h]}, Holonomic: {even: C.y - h}}
ProblemData: {tend: 1, angles: {OA: 0.7}}
"""
GEARS = """
PhysicalParams: {r: 1, R: 2, a: 0.3, z: 0.1}
PartData:
  Fixed: {O: [z, 0], Q: [r + R, z]}
  Rigids: {OA: {Geom: [[1]], Dyna: [[], 1, 1]}, QB: {Geom: [[r]], Dyna: [[], 2, 1]}}
Joints: {Gears: {OA-QB: [r, R]}}
ProblemData: {tend: 2, angles: {OA: a, QB: -a/2}}
"""
SPATIAL = """
Dimension: 3
PhysicalParams: {l: 0.9, w: 0.3, x: 0.1, a: 0.8}
PartData:
  Fixed: {O: [x, 0, 0], C: [x, 1, 0], D: [x + 1, 0, 0]}
  Rigids:
    OCA: {Geom: [[1], [w, l, 0]], Dyna: [[0, l/2, 0], 1, [1, 1, 1]]}
AppliedForces: {Gravity: }
ProblemData: {tend: 1, angles: {OCA-OCD: a}}
"""
SCREW = """
Dimension: 3
PhysicalParams: {p: 0.2, x: 3, y: 0.1, w: 0.3, u: 0.2}
PartData:
  Fixed: {O: [x], Q: [x, 0, 1], E: [x + 1, y]}
  Rigids: {CDF: {Geom: [[0.5], [0.1, w]], Dyna: [[0.2, 0.1], 1, [0.05, 0.05, 0.05]]}}
Joints: {Screws: {CDF-OQE: p}}
ProblemData: {tend: 1, positions: {C: [x, 0, 0.2], D: [x, 0, 0.7], F: [x + w, u, 0.3]}}
"""


@pytest.mark.parametrize("text", [PENDULUM, FOUR_BAR, SLIDER, GEARS, SPATIAL, SCREW])
def test_starts_change_as_they_do_beside(text):
    here = prepare(read(text))
    names = tuple(here.spec.parameters)
    found = by_parameters(here, names)
    for place, name in enumerate(names):
        value = float(here.spec.parameters[name])
        sides = [prepare(read(text, {name: value + side})).start.positions for side in (STEP, -STEP)]
        assert found.directions.positions[:, place] == pytest.approx((sides[0] - sides[1]) / (2 * STEP), abs=CLOSE)


def test_a_pendulum_that_is_told_by_its_angle():
    """The angle stays, and all lengths grow alike, but the centre of mass, which is a number of its own."""
    found = mechsim.mechanism(PENDULUM).sensitivity(["start(A_x)", "start(theta_OA)", "final(theta_OA)"], by=["L", "a"])
    assert found.derivatives[:2, 0] == pytest.approx([0.9553364891256060, 0], abs=1e-14)  # cos(0.3)
    assert found.derivatives[1, 1] == pytest.approx(1, abs=1e-14)
    assert found.derivatives[2, 0] == pytest.approx(0, abs=1e-12)
