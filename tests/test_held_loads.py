"""What is held is let go where its load, or what friction may bear, comes to its end, whatever hides it from a series.

While all is held nothing moves, so no coordinate tells how long a step may be. Times are closed forms; they are met to
roundings at any tolerance, for the event is found at the state itself.
"""

from __future__ import annotations

from math import asin, exp, log, pi, sqrt

import numpy as np
import pytest

import mechsim

EXACT = 1e-14  # relative: some roundings of the time
G = 9.81

TOLERANCES = pytest.mark.parametrize("tol", [1e-14, 1e-12, 1e-9])
FLOOR = """
PartData: {{Fixed: {{O: [-3], R: [3]}}, Particles: {{P: 1}}}}
AppliedForces: {{Gravity: [0, -9.81], Forces: {{P: ["{along}", "{up}"]}}}}
Contacts: {{P-OR: {{e: 0.5{mu}}}}}
ProblemData: {{tend: {tend}, positions: {{P: [[0, fixed], [0, fixed]]}}, velocities: {{P: [[0, fixed], [0, fixed]]}}}}
"""
SLIDE = """
PartData: {{Fixed: {{O: [-3], R: [3]}}}}
Joints: {{Pistons: {{A-OR: [1]}}}}
AppliedForces: {{Forces: {{A: ["{force}", 0]}}, Friction: {{A-OR: {{mu: 0.4, N: "{load}"}}}}}}
ProblemData: {{tend: 3, positions: {{A: [[0, fixed], 0]}}, velocities: {{A: [[0, fixed], 0]}}}}
"""


def first(motion, *kinds):
    return next(event.t for event in motion.events if event.kind in kinds)


@TOLERANCES
@pytest.mark.parametrize(
    ("up", "time"),
    [
        ("15*sin(30*t)", asin(G / 15) / 30),
        ("20/(1 + 1e4*(t - 2)**2)", 2 - sqrt((20 / G - 1) / 1e4)),
        ("20*exp(-1000*(t - 2)**2)", 2 - sqrt(log(20 / G) / 1000)),
        ("10*exp(-1000*(t - 2)**2)", 2 - sqrt(log(10 / G) / 1000)),
        ("9.9*sin(t)**20", asin((G / 9.9) ** (1 / 20))),
    ],
)
def test_a_pulse_lifts_what_lies_on_the_floor(up, time, tol):
    motion = mechsim.simulate(FLOOR.format(along=0, up=up, mu="", tend=time + 0.1), tol=tol)
    assert first(motion, "release") == pytest.approx(time, rel=EXACT)


@TOLERANCES
@pytest.mark.parametrize(
    ("along", "up", "time"),
    [
        ("8*exp(-1000*(t - 2)**2)", "0", 2 - sqrt(log(8 / (0.4 * G)) / 1000)),
        ("8/(1 + 1e4*(t - 2)**2)", "0", 2 - sqrt((8 / (0.4 * G) - 1) / 1e4)),
        ("2", "9.81*exp(-1000*(t - 2)**2)", 2 - sqrt(-log((G - 5) / G) / 1000)),
    ],
)
def test_a_pulse_moves_what_sticks(along, up, time, tol):
    motion = mechsim.simulate(FLOOR.format(along=along, up=up, mu=", mu: 0.4", tend=3), tol=tol)
    assert first(motion, "slip") == pytest.approx(time, rel=EXACT)


@TOLERANCES
@pytest.mark.parametrize(
    ("force", "load", "time"),
    [
        ("2", "10 - 9*exp(-1000*(t - 2)**2)", 2 - sqrt(-log(5 / 9) / 1000)),
        ("2", "10 - 9/(1 + 1e4*(t - 2)**2)", 2 - sqrt((9 / 5 - 1) / 1e4)),
        ("2", "10 - 6*sin(t)**20", asin((5 / 6) ** (1 / 20))),
        ("8*exp(-1000*(t - 2)**2)", "10", 2 - sqrt(log(2) / 1000)),
    ],
)
def test_a_limit_that_falls_for_a_moment(force, load, time, tol):
    motion = mechsim.simulate(SLIDE.format(force=force, load=load), tol=tol)
    assert first(motion, "slip") == pytest.approx(time, rel=EXACT)


WALL = """
PhysicalParams: {{w: {w}}}
PartData: {{Fixed: {{O: [], R: [1]}}}}
AppliedForces: {{Potentials: {{spring: A.x**2/2}}, Forces: {{A: [cos(w*t) - 0.1*A.vx]}}}}
Joints: {{Pistons: {{A-OR: [1]}}}}
Contacts: {{wall: {{gap: -A.x, e: 0.8}}}}
ProblemData: {{t0: {t0}, tend: 12, positions: {{A: [[0, fixed]]}}, velocities: {{A: [[0, fixed]]}}}}
"""


@TOLERANCES
@pytest.mark.parametrize("w", [1, 2, 2.7, 2.9, 3.3, 7.1])
def test_a_load_that_comes_to_nothing_where_nothing_moves(w, tol):
    """A mass at the wall: the spring pulls with nothing, and the force that presses it turns round at cos(wt) = 0."""
    motion = mechsim.simulate(WALL.format(w=w, t0=0), tol=tol)
    release = next(event for event in motion.events if event.kind == "release")
    assert release.t == pytest.approx(pi / (2 * w), rel=EXACT)
    again = next(event.t for event in motion.events if event.t > release.t)
    t = np.linspace(release.t + 1e-3, again - 1e-6, 7)
    np.testing.assert_allclose(
        [motion(each)["A"][0] for each in t], [swing(each, w) for each in t], rtol=0, atol=1e3 * tol
    )


def swing(t, w):
    """x'' + 0.1 x' + x = cos(wt) from rest at pi/(2w)."""
    matrix = np.array([[1 - w * w, 0.1 * w], [-0.1 * w, 1 - w * w]])
    a, b = np.linalg.solve(matrix, [1.0, 0.0])
    fast, begin = sqrt(1 - 0.05**2), pi / (2 * w)
    c = -b  # a cos + b sin is b there, and its rate -a w
    d = (a * w + 0.05 * c) / fast
    s = t - begin
    own = exp(-0.05 * s) * (c * np.cos(fast * s) + d * np.sin(fast * s))
    return own + a * np.cos(w * t) + b * np.sin(w * t)


def test_a_start_at_the_very_moment():
    motion = mechsim.simulate(WALL.format(w=2.9, t0="pi/(2*w)"), tol=1e-13)
    assert motion(1.0)["A"][0] == pytest.approx(swing(1.0, 2.9), abs=1e-11)
