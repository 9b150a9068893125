"""Points and discs beside curves, by an equation or by a parameter: against closed forms and against each other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from test_contacts import no_doubt

import mechsim
from mechsim.errors import IntegrationError, SpecError

G = 9.81
BEAD = """
PhysicalParams: {g: 9.81, r: 0.1}
PartData: {Particles: {P: 2}}
AppliedForces: {Gravity: [0, -g]}
Contacts: {%s}
ProblemData:
  tend: %s
  positions: {P: [[%r, fixed], [%r, fixed]]}
  velocities: {P: [[%r, fixed], [0, fixed]]}
SolverParams: {Integration: {tol: 1e-14}}
"""


def bead(contact: str, x: float, y: float, v: float = 0.0, tend: float = 2.0):
    return mechsim.simulate(BEAD % (contact, tend, x, y, v))


HILL = ["P: {curve: x**2 + y**2 - 1, e: 0}", "P: {curve: {x: sin(s), y: cos(s), s: 0.1}, e: 0}"]
BOWL = ["P: {curve: 1 - x**2 - y**2, e: 0}", "P: {curve: {x: cos(s), y: sin(s), s: -pi/2}, e: 0}"]


@pytest.mark.parametrize("contact", HILL)
def test_a_bead_leaves_a_round_hill_at_two_thirds_of_its_height(contact):
    motion = bead(contact, math.sin(0.1), math.cos(0.1))
    assert [each.kind for each in motion.events] == ["contact", "release"]
    assert motion(motion.events[1].t)["P"][1] == pytest.approx(2 / 3 * math.cos(0.1), abs=1e-14)
    assert motion.trajectory["contact_P"][0] == pytest.approx(2 * G * math.cos(0.1), abs=1e-13)  # in newtons
    no_doubt(motion)


@pytest.mark.parametrize("contact", BOWL)
def test_a_bead_leaves_a_circle_from_within(contact):
    """m v^2 = -m g h there, and v^2 = v0^2 - 2 g (1 + h): it leaves at h = (v0^2 - 2 g)/(3 g), and meets it again."""
    motion = bead(contact, 0.0, -1.0, 6.0, tend=1.0)
    assert [each.kind for each in motion.events][:2] == ["contact", "release"]
    assert motion(motion.events[1].t)["P"][1] == pytest.approx((36 - 2 * G) / (3 * G), abs=1e-14)
    no_doubt(motion)


def test_a_disc_leaves_a_hill_whose_radius_is_larger_by_its_own():
    motion = bead(
        "P: {curve: {x: sin(s), y: cos(s), s: 0.1}, offset: r, e: 0}", 1.1 * math.sin(0.1), 1.1 * math.cos(0.1)
    )
    release = motion.events[1]
    assert motion(release.t)["P"][1] == pytest.approx(1.1 * 2 / 3 * math.cos(0.1), abs=1e-14)
    point = bead(HILL[0], math.sin(0.1), math.cos(0.1))
    assert release.t == pytest.approx(math.sqrt(1.1) * point.events[1].t, abs=1e-13)
    no_doubt(motion)


def test_a_bead_in_a_parabola_by_equation_and_by_parameter():
    """The same motion, impacts and rests: both gaps are distances where it touches."""
    one = bead("P: {curve: y - x**2, e: 0.5}", 0.3, 1.0)
    other = bead("P: {curve: {x: s, y: s**2, s: 0.3}, e: 0.5}", 0.3, 1.0)
    table, known = one.events.table, other.events.table
    assert len(table) == len(known) > 5
    # Bounces too low to be made end at their own rounding; before, times and impulses agree.
    assert np.abs(table[:8] - known[:8]).max() < 1e-12
    assert one(2.0)["P"] == pytest.approx(other(2.0)["P"], abs=1e-9)
    no_doubt(one)
    no_doubt(other)


def test_a_bead_on_a_cycloid_swings_in_one_period_whatever_its_start():
    """Huygens: from rest to the lowest point in pi sqrt(a/g), where x = a (s + sin s), y = -a (1 + cos s)."""
    for start in (-0.5, -1.5, -2.5):
        a = 0.7
        text = f"P: {{curve: {{x: {a}*(s + sin(s)), y: -{a}*(1 + cos(s)), s: {start}}}, e: 0}}"
        x, y = a * (start + math.sin(start)), -a * (1 + math.cos(start))
        motion = bead(text, x, y, tend=math.pi * math.sqrt(a / G))
        assert motion(motion.t[-1])["P"] == pytest.approx([0, -2 * a], abs=1e-12)
        no_doubt(motion)


def test_a_start_in_the_middle_of_a_circle_has_a_gap():
    motion = bead(BOWL[0], 0.0, 0.0, 0.5)
    assert motion.events[0].kind in ("impact", "contact")
    no_doubt(motion)


def test_a_foot_that_is_lost_is_told():
    """Thrown out of a bowl, past its centres of curvature: the place that was nearest is so no longer."""
    with pytest.raises(IntegrationError, match="the foot of P on its curve comes to an end") as found:
        bead("P: {curve: {x: s, y: s**2, s: 0}, offset: r, e: 1}, side: {gap: P.y, e: 1}", 0.4, 3.0, 0.2, tend=5.0)
    assert "write the curve as an equation" in str(found.value)
    motion = bead("P: {curve: y - x**2, e: 1}", 0.4, 3.0, 0.2, tend=5.0)
    no_doubt(motion)


def test_a_surface_in_space_is_left_at_two_thirds():
    motion = mechsim.simulate(f"""
Dimension: 3
PartData: {{Particles: {{P: 1}}}}
AppliedForces: {{Gravity: [0, 0, -{G}]}}
Contacts: {{P: {{curve: x**2 + y**2 + z**2 - 1, e: 0}}}}
ProblemData:
  tend: 1.2
  positions: {{P: [[0.6*sin(0.1), fixed], [0.8*sin(0.1), fixed], [cos(0.1), fixed]]}}
SolverParams: {{Integration: {{tol: 1e-14}}}}
""")
    assert motion(motion.events[1].t)["P"][2] == pytest.approx(2 / 3 * math.cos(0.1), abs=1e-14)


def test_two_curves_of_one_point_and_handles():
    """Between a floor and a roof that follow parameters."""
    text = BEAD % ("P-floor: {curve: y - h*x**2, e: 1}, P-roof: {curve: 1.5 - y - h*x**2, e: 1}", 3, 0.1, 1.0, 0.3)
    text = text.replace("r: 0.1}", "h: 0.2}")
    handle = mechsim.mechanism(text)
    motion = handle.simulate(parameters={"h": 0.3, "g": 0.5})
    fresh = mechsim.simulate(text, parameters={"h": 0.3, "g": 0.5})
    assert {each.gap for each in motion.events} >= {"P-floor"}
    assert np.array_equal(motion.events.table, fresh.events.table)
    no_doubt(motion)


@pytest.mark.parametrize(
    ("contact", "words"),
    [
        ("P: {curve: 1 - x**2, offset: 1, e: 0}", "Contacts.P has an offset, which an equation does not tell"),
        ("P: {curve: 1 - x**2}", "Contacts.P lacks e"),
        ("P: {curve: 1 - z, e: 0}", "z is not defined"),
        ("P: {curve: {x: s}, e: 0}", "Contacts.P.curve lacks y"),
        ("Q: {curve: y, e: 0}", "Q"),
        ("P: {curve: y, gap: P.y, e: 0}", "does not belong here"),
        ("P: {curve: y, radius: 1, e: 0}", "does not belong here"),
    ],
)
def test_bad_curves_are_told(contact, words):
    with pytest.raises(SpecError) as found:
        bead(contact, 0.0, 0.0)
    assert words in str(found.value)
