"""Contacts that give way (Hunt and Crossley): against closed forms, and with their energy accounted for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from examples import some_of
from hypothesis import given
from hypothesis import strategies as st

import mechsim
from mechsim.errors import SpecError

BALL = """
PhysicalParams: {{k: {k}, d: {d}, n: {n}, m: {m}, v: {v}, g: 0}}
PartData: {{Particles: {{P: m}}}}
AppliedForces: {{Gravity: [-g, 0]}}
Contacts: {{wall: {{gap: P.x, stiffness: k, exponent: n, damping: d}}}}
Events:
  deepest: {{when: P.vx, direction: up}}
  away: {{when: P.x, direction: up}}
  there: {{when: P.x, direction: down}}
ProblemData:
  tend: {tend}
  positions: {{P: [[{x}, fixed], [0, fixed]]}}
  velocities: {{P: [[-v, fixed], [0, fixed]]}}
SolverParams: {{Integration: {{tol: 1e-14}}}}
"""


def ball(k=1000.0, d=0.0, n=1.0, m=3.0, v=2.0, x=0.2, tend=1.0):
    return mechsim.simulate(BALL.format(k=k, d=d, n=n, m=m, v=v, x=x, tend=tend))


def time_of(motion, name: str) -> float:
    (event,) = motion.events.of(name)
    return event.t


def met(k: float, d: float, n: float, m: float, v: float) -> tuple[float, float]:
    """Depth and speed after: m v dv = -k s^n (1 + c v) ds with c = 3 d/2 gives both, whatever n is to the second."""
    c = 1.5 * d

    def taken(speed: float) -> float:
        """Of v dv/(1 + c v), from zero; series where c is small."""
        if abs(c * speed) < 1e-3:
            return speed**2 * sum((-c * speed) ** j / (j + 2) for j in range(8))
        return speed / c - math.log1p(c * speed) / c**2

    low, high = 0.0, min(v, (1 - 1e-16) / c if c else v)
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if taken(-middle) < taken(v) else (low, middle)
    return ((n + 1) * m / k * taken(v)) ** (1 / (n + 1)), low


def test_a_linear_spring_holds_it_for_half_a_period():
    motion = ball()
    assert time_of(motion, "away") - time_of(motion, "there") == pytest.approx(math.pi * math.sqrt(3 / 1000), abs=1e-15)
    assert motion(time_of(motion, "deepest"))["P"][0] == pytest.approx(-2 * math.sqrt(3 / 1000), abs=1e-15)
    assert motion.velocity(1.0)["P"][0] == pytest.approx(2.0, abs=1e-14)
    assert motion.certificate.doubts() == ()
    assert motion.certificate.steps < 15


def test_depth_of_hertz():
    """(5 m v^2/(4 k))^(2/5); the force begins 1e-9 of the size deep, which changes nothing that could be told."""
    motion = ball(n=1.5)
    assert motion(time_of(motion, "deepest"))["P"][0] == pytest.approx(-((5 * 3 * 4 / 4000) ** 0.4), abs=1e-13)
    assert motion.velocity(1.0)["P"][0] == pytest.approx(2.0, abs=1e-12)
    held = time_of(motion, "away") - time_of(motion, "there")
    reach = math.sqrt(math.pi) * math.gamma(0.4) / (2.5 * math.gamma(0.9))  # of the integral of 1/sqrt(1 - s^2.5)
    assert held == pytest.approx(2 * reach * (5 * 3 * 4 / 4000) ** 0.4 / 2, abs=1e-12)
    assert motion.certificate.doubts() == ()


def test_restitution_falls_with_the_speed_at_first():
    """Hunt and Crossley: e = 1 - d v for small d."""
    for d in (1e-3, 1e-4):
        assert ball(d=d, n=1.5).velocity(1.0)["P"][0] / 2 == pytest.approx(1 - 2 * d, abs=6 * d**2)


def number(least: float, most: float) -> st.SearchStrategy[float]:
    return st.floats(least, most).map(lambda value: round(value, 4))


@some_of(15)
@given(
    k=number(100, 5000), d=number(0, 1.5), n=st.sampled_from([1, 1.5, 2, 2.2, 3]), m=number(0.5, 3), v=number(0.5, 3)
)
def test_depth_speed_and_loss_of_any_contact(k, d, n, m, v):
    motion = ball(k=k, d=d, n=n, m=m, v=v, tend=4.0)
    depth, speed = met(k, d, n, m, v)
    assert motion(time_of(motion, "deepest"))["P"][0] == pytest.approx(-depth, rel=1e-10)
    assert motion.velocity(4.0)["P"][0] == pytest.approx(speed, rel=1e-9)
    assert motion.certificate.doubts() == ()
    assert motion.certificate.energy_drift < 1e-12
    push = motion.trajectory["contact_wall"]
    assert push.min() >= 0
    if d:
        assert motion.trajectory["work_contact_wall"][-1] == pytest.approx(m / 2 * (speed**2 - v**2), rel=1e-9)


def test_handles_know_stiffness_and_damping():
    handle = mechsim.mechanism(BALL.format(k=1000, d=0.1, n=1.5, m=3, v=2, x=0.2, tend=1))
    wanted = {"k": 700.0, "d": 0.3, "m": 2.0}
    motion = handle.simulate(parameters=wanted)
    fresh = mechsim.simulate(handle.spec, parameters=wanted)
    assert np.array_equal(motion.solution.q[-1], fresh.solution.q[-1])
    assert motion.velocity(1.0)["P"][0] == pytest.approx(met(700, 0.3, 1.5, 2.0, 2.0)[1], rel=1e-9)
    table = mechsim.sweep(handle.spec, vary={"k": [500.0, 2000.0]}, measure=["max(contact_wall)"], processes=1)
    for k, most in zip((500.0, 2000.0), table["max(contact_wall)"], strict=True):
        assert most > k * met(k, 0.1, 1.5, 3.0, 2.0)[0] ** 1.5 * (1 - 1e-9)  # damping pushes before it is deepest


def test_it_comes_to_rest_as_deep_as_its_weight_presses():
    motion = mechsim.simulate(BALL.format(k=1000, d=2, n=1.5, m=3, v=0, x=0.1, tend=20), parameters={"g": 9.81})
    assert motion(20.0)["P"][0] == pytest.approx(-((3 * 9.81 / 1000) ** (2 / 3)), abs=1e-6)
    assert motion.trajectory["contact_wall"][-1] == pytest.approx(3 * 9.81, abs=1e-3)
    assert motion.certificate.doubts() == ()
    assert not motion.certificate.deepest_overlap


def test_stops_pairs_and_lines_give_way():
    motion = mechsim.simulate("""
PartData: {Fixed: {U: [-3, -1], W: [3, -1]}, Particles: {P: 1, Q: 1}}
AppliedForces: {Gravity: [0, -10]}
Contacts:
  P-Q: {radius: 0.2, stiffness: 1e4}
  P-UW, Q-UW: {offset: 0.1, stiffness: 1e4, exponent: 1, damping: 0.1}
Stops: {P.x: {min: -1, max: 1, stiffness: 1e3, exponent: 2}}
ProblemData:
  tend: 3
  positions: {P: [[0, fixed], [0, fixed]], Q: [[0.15, fixed], [0.5, fixed]]}
  velocities: {P: [[2, fixed], [0, fixed]]}
""")
    table = motion.sampled(np.linspace(0, 3, 500))
    apart = np.hypot(table["P_x"] - table["Q_x"], table["P_y"] - table["Q_y"])
    assert 0 < apart.min() < 0.2  # they met, gave way, and did not pass through each other
    # P comes to its stop at 2 m/s: m v^2/2 = k s^3/3.
    assert table["P_x"].max() == pytest.approx(1 + (3 * 4 / 2000) ** (1 / 3), abs=2e-4)
    assert table["P_y"].min() > -1.0
    assert motion.certificate.doubts() == ()


SOFT = """
PartData: {{Fixed: {{U: [-1.5, -1], W: [2, -1]}}, Particles: {{P: 1, Q: 1}}}}
AppliedForces: {{Gravity: [0, -10]}}
Contacts:
  P-Q: {{radius: 0.3, stiffness: 1e4}}
  P-UW, Q-UW: {{offset: 0.15, stiffness: 2e3, exponent: 1, damping: 0.1}}
  ramp: {{gap: {curve}, stiffness: 1e3}}
Stops: {{P.x: {{min: -1, max: 1.2, stiffness: 1e3, exponent: 2}}}}
ProblemData:
  tend: 2
  positions: {{P: [[0, fixed], [0, fixed]], Q: [[0.25, fixed], [0.7, fixed]]}}
  velocities: {{P: [[{v}, fixed], [0, fixed]]}}
"""


@some_of(20)
@given(v=number(0, 1.5))
def test_many_soft_contacts_at_once(v):
    """A switch that is met with its rounding, beside a step as short as where a power begins, was thrown for ever."""
    motion = mechsim.simulate(SOFT.format(v=v, curve="Q.y + 1 - (Q.x - 1)**2"))
    assert motion.certificate.doubts() == ()
    assert motion.certificate.energy_drift < 1e-10  # some hundred steps, each good to 1e-12


def test_they_are_drawn():
    from mechsim.render.film import prepare
    from mechsim.render.fittings import fittings_of
    from mechsim.render.options import Options

    motion = mechsim.simulate(SOFT.format(v=1.0, curve="Q.y + 1 - (Q.x - 1)**2"), tend=0.5)
    film = prepare(motion, Options(size=(320, 180), fps=20))
    drawn = {each.name for each in fittings_of(film.scene, film.frames) if each.kind == "contact"}
    assert drawn >= {"contact P-UW", "contact ramp", "contact P.x min"}  # P and Q are balls themselves


@pytest.mark.parametrize(
    ("contact", "words"),
    [
        ("{gap: P.x, stiffness: -1}", "must not be negative"),
        ("{gap: P.x, stiffness: 0}", "is zero"),
        ("{gap: P.x, stiffness: 1, exponent: 0.5}", "must be at least 1"),
        ("{gap: P.x, stiffness: 1, e: 0.5}", "unknown key e in Contacts.wall"),
        ("{gap: P.x, exponent: 2}", "Contacts.wall lacks stiffness"),
    ],
)
def test_bad_laws_are_told(contact, words):
    text = BALL.format(k=1, d=0, n=1, m=1, v=1, x=1, tend=1)
    text = text.replace("{gap: P.x, stiffness: k, exponent: n, damping: d}", contact)
    with pytest.raises(SpecError) as found:
        mechsim.simulate(text)
    assert words in str(found.value)


def test_outlines_do_not_give_way():
    with pytest.raises(SpecError, match="has a stiffness, which is not known of what meets here"):
        mechsim.simulate("""
PartData: {Fixed: {U: [-3, -1], W: [3, -1]}, Rigids: {AB: {Geom: [[0.4]], Dyna: {plate: [0.4, 0.2], density: 3}}}}
Contacts: {AB-UW: {stiffness: 1000}}
ProblemData: {tend: 1}
""")
