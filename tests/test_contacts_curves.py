"""Points and discs beside curves, by an equation or by a parameter: against closed forms and against each other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from test_contacts import no_doubt

import mechsim
from mechsim.errors import SpecError

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


HILL = "P: {curve: x**2 + y**2 - 1, e: 0}"
BOWL = "P: {curve: 1 - x**2 - y**2, e: 0}"


def test_a_bead_leaves_a_round_hill_at_two_thirds_of_its_height():
    motion = bead(HILL, math.sin(0.1), math.cos(0.1))
    assert [each.kind for each in motion.events] == ["contact", "release"]
    assert motion(motion.events[1].t)["P"][1] == pytest.approx(2 / 3 * math.cos(0.1), abs=1e-14)
    assert motion.trajectory["contact_P"][0] == pytest.approx(2 * G * math.cos(0.1), abs=1e-13)  # in newtons
    no_doubt(motion)


def test_a_bead_leaves_a_circle_from_within():
    """m v^2 = -m g h there, and v^2 = v0^2 - 2 g (1 + h): it leaves at h = (v0^2 - 2 g)/(3 g), and meets it again."""
    motion = bead(BOWL, 0.0, -1.0, 6.0, tend=1.0)
    assert [each.kind for each in motion.events][:2] == ["contact", "release"]
    assert motion(motion.events[1].t)["P"][1] == pytest.approx((36 - 2 * G) / (3 * G), abs=1e-14)
    no_doubt(motion)


@pytest.mark.parametrize("begin", [0.2, 0.0], ids=["pressed", "beside the middle, where nothing presses yet"])
@pytest.mark.parametrize("mu", [0.0, 0.2])
@pytest.mark.parametrize(
    "contact", ["P: {curve: 1 - x**2 - y**2, e: 0, mu: MU}", "P-O: {radius: 1, inside: yes, e: 0, mu: MU}"]
)
def test_friction_beside_a_curve_is_that_of_its_normal_force(contact, mu, begin):
    """Down a round bowl, or at a taut rope: a'' = g cos a - mu (a'^2 + g sin a), against SciPy in the angle."""
    text = BEAD % (contact.replace("MU", str(mu)), 0.8, -math.cos(begin), -math.sin(begin), 0.0)
    if "P-O" in contact:
        text = text.replace("PartData: {", "PartData: {Fixed: {O: []}, ")
    motion = mechsim.simulate(text)

    def slide(t, y):
        return [y[1], G * math.cos(y[0]) - mu * (y[1] ** 2 + G * math.sin(y[0]))]

    solved = solve_ivp(slide, (0, 0.8), [begin, 0.0], "DOP853", rtol=1e-13, atol=1e-14)
    angle = solved.y[0, -1]
    assert motion(0.8)["P"] == pytest.approx([-math.cos(angle), -math.sin(angle)], abs=1e-11)
    no_doubt(motion)


def test_a_start_in_the_middle_of_a_circle_has_a_gap():
    motion = bead(BOWL, 0.0, 0.0, 0.5)
    assert motion.events[0].kind in ("impact", "contact")
    no_doubt(motion)


def test_a_bead_thrown_out_of_a_bowl_meets_it_again():
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
        ("P: {curve: 1 - x**2, offset: 1, e: 0}", "does not belong here: its curve says all"),
        ("P: {curve: 1 - x**2}", "Contacts.P lacks e"),
        ("P: {curve: 1 - z, e: 0}", "z is not defined"),
        ("P: {curve: {x: s}, e: 0}", "Contacts.P.curve lacks y"),
        ("P: {curve: {x: s, y: s**2, s: 0}, e: 0}", "known by an equation of it only"),
        ("Q: {curve: y, e: 0}", "Q"),
        ("P: {curve: y, gap: P.y, e: 0}", "does not belong here"),
        ("P: {curve: y, radius: 1, e: 0}", "does not belong here"),
    ],
)
def test_bad_curves_are_told(contact, words):
    with pytest.raises(SpecError) as found:
        bead(contact, 0.0, 0.0)
    assert words in str(found.value)
