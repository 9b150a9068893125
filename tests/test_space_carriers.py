"""Gears on carriers that move, in space: Willis' ratio, and accelerations by Lagrange's equations by hand."""

from __future__ import annotations

import numpy as np
import pytest

import mechsim
from mechsim.errors import SpecError

# Side wheels about x, named so that their axes OX and XO point at each other; the planet about CD, across the axis.
DIFFERENTIAL = """
Dimension: 3
PhysicalParams: {r: 0.3, p: 0.2, I: 0.4, K: 0.7, L: 1.1, J: 0.05, T: 0.03, m: 2, d: 0.3, one: 1.5, cage: -4}
PartData:
  Fixed: {O: [], X: [1], E: [0, 1]}
  Rigids:
    OXA: {Geom: [[1], [0, r]], Dyna: [[], 1, [I, 0.5, 0.5]]}
    XOB: {Geom: [[1], [0, r]], Dyna: [[], 1, [K, 0.5, 0.5]]}
    OXCD: {Geom: [[1], [0.5, d], [0.5, 2*d]], Dyna: [[0.5], 1, [L, 0.8, 0.8]]}
    CDP: {Geom: [[d], [0, p]], Dyna: [[], m, [J, T, T]]}
Joints:
  Gears: {OXA-CDP: [r, p, OXCD], XOB-CDP: [r, p, OXCD]}
AppliedForces: {Torques: {OXA-OXE: one, OXC-OXE: cage}}
Output: {spins: [OXA, XOB, OXCD, CDP], reactions: all}
ProblemData:
  tend: 2
  positions: {A: [0, 0.3], B: [1, 0.3], C: [0.5, 0.3], D: [0.5, 0.6]}
  angles: {OXA-OXE: 0, XOB-XOE: 0, OXC-OXE: 0}
SolverParams: {Integration: {tol: 1e-13}}
"""


@pytest.mark.slow
def test_a_bevel_differential_follows_its_equations() -> None:
    """With w = wc + s and wc - s of the wheels the planet turns by r/p s; the two freedoms have constant mass."""
    motion = mechsim.simulate(DIFFERENTIAL)
    last = motion.to_pandas().iloc[-1]
    spins = np.array([last[f"{part}_wx"] for part in ("OXA", "XOB", "OXCD")])
    assert spins[0] + spins[1] == pytest.approx(2 * spins[2], rel=1e-12)
    whole = 0.4 + 0.7 + 1.1 + 0.03 + 2 * 0.3**2
    mass = [[whole, 0.4 - 0.7], [0.4 - 0.7, 0.4 + 0.7 + 0.05 * (0.3 / 0.2) ** 2]]
    turning, apart = np.linalg.solve(mass, [-4 + 1.5, 1.5])
    np.testing.assert_allclose(spins, 2 * np.array([turning + apart, turning - apart, turning]), rtol=1e-11)
    own = motion(2.0)["D"] - motion(2.0)["C"]
    along = own @ np.array([last[f"CDP_w{axis}"] for axis in "xyz"]) / np.linalg.norm(own)
    assert abs(along) == pytest.approx(2 * abs(apart) * 0.3 / 0.2, rel=1e-11)
    assert motion.certificate is not None and motion.certificate.doubts() == ()
    assert motion.certificate.energy_drift < 1e-12 and motion.certificate.reaction_balance < 1e-10


# A sun and a ring about z, a planet between them on an arm that turns about z too.
PLANETARY = """
Dimension: 3
PhysicalParams: {s: 0.2, p: 0.15, R: s + 2*p, a: s + p}
PartData:
  Fixed: {O: [], Z: [0, 0, 1], E: [1]}
  Rigids:
    OZS: {Geom: [[1], [0, s]], Dyna: [[], 1, [0.1, 0.2, 0.2]]}
    OZR: {Geom: [[1], [0, R]], Dyna: [[], 1, [0.6, 0.5, 0.5]]}
    OZCD: {Geom: [[1], [0, a], [1, a]], Dyna: [[], 1, [0.3, 0.2, 0.2]]}
    CDP: {Geom: [[1], [0, p]], Dyna: [[], 0.5, [0.02, 0.01, 0.01]]}
Joints:
  Gears: {OZS-CDP: [s, p, OZCD], CDP-OZR: [p, -R, OZCD]}
AppliedForces: {Torques: {OZS-OZE: 2, OZR-OZE: sin(3*t)}}
Output: {spins: [OZS, OZR, OZCD, CDP]}
ProblemData:
  tend: 3
  positions: {S: [0.2], R: [0.5], C: [0.35], D: [0.35, 0, 1]}
  rates: {OZC-OZE: [0.7, fixed]}
  angles: {OZC-OZE: 0, OZS-OZE: 0, OZR-OZE: 0}
"""


def test_a_planetary_gear_has_the_ratio_of_willis() -> None:
    """s (ws - wc) = -R (wr - wc), and the planet turns by -s/p of the sun, both seen from the arm; all along."""
    table = mechsim.simulate(PLANETARY).to_pandas()
    sun, ring, arm, planet = (table[f"{part}_wz"].to_numpy() for part in ("OZS", "OZR", "OZCD", "CDP"))
    assert np.ptp(sun) > 1 and np.ptp(arm) > 0.1
    np.testing.assert_allclose(0.2 * (sun - arm), -0.5 * (ring - arm), atol=1e-12)
    np.testing.assert_allclose(0.15 * (planet - arm), -0.2 * (sun - arm), atol=1e-12)


@pytest.mark.parametrize(
    ("old", "new", "message", "hint"),
    [
        (
            "OXA-CDP: [r, p, OXCD]",
            "OXA-CDP: [r, p]",
            "Gears.OXA-CDP: C, on the axis of CDP, is neither fixed nor on a carrier",
            "a gear turns about the line of its first two points; name the part that carries both axes as carrier",
        ),
        (
            "OXA-CDP: [r, p, OXCD]",
            "OXA-CDP: [r, p, CDP]",
            "Gears.OXA-CDP: O, on the axis of OXA, is not on the carrier CDP",
            "a gear turns about the line of its first two points; name the part that carries both axes as carrier",
        ),
        (
            "Gears:",
            "Wheels: {OXA-ECD: 0.3}\n  Gears:",
            "wheel OXA-ECD: the plane ECD moves: C and D are not fixed",
            "it rolls only on planes of three fixed points",
        ),
        (
            "Torques: {OXA-OXE: one",
            "Friction: {OXA-OXE: {mu: 0.1, r: 0.02, v0: 0.01}}, Torques: {OXA-OXE: one",
            "Friction.OXA-OXE has no load N, and in space a joint gives none",
            "write N, the load in newtons, a number or an expression of time and state: N: 20",
        ),
        (
            "Gears:",
            "Racks: {OXA-CD: 0.3}\n  Gears:",
            "there are no Racks in space",
            "write Screws, or a Holonomic expression",
        ),
    ],
    ids=["no carrier", "wrong carrier", "moving plane", "load of a joint", "rack"],
)
def test_what_space_does_not_have_is_refused_in_words(old: str, new: str, message: str, hint: str) -> None:
    with pytest.raises(SpecError) as refused:
        mechsim.simulate(DIFFERENTIAL.replace(old, new))
    told = {(fault.message, fault.hint) for fault in refused.value.faults if fault.mark is not None}
    assert (message, hint) in told
