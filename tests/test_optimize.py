"""Parameters chosen for the best: known answers, linkages through places, orbits by shooting, fits of measured columns;
what is refused, and what is told of a search that found nothing."""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from reference import SPECS
from scipy.integrate import solve_ivp

import mechsim
from mechsim.cli.main import cli, main
from mechsim.design.kink import Kink, pulls_of
from mechsim.design.standing import Iteration
from mechsim.design.trail import Trail
from mechsim.errors import MechsimError, SpecError, WritingWarning
from mechsim.result.paths import OutputError
from tests.test_sensitivity import coupler

PENDULUM = """
Title: Pendulum
PhysicalParams: {l: 0.8, m: 1.3, g: 9.81, c: 0.4, begin: 0.9, s: 2}
PartData:
  Fixed: {O: []}
  Rigids: {OA: {Geom: [[l]], Dyna: [[l], m, 0]}}
AppliedForces:
  Gravity: [0, -g]
  Torques: {OA: -c*omega_OA}
ProblemData:
  tend: 2
  angles: {OA: [begin - pi/2, fixed]}
SolverParams: {Integration: {tol: 1e-12}}
"""
LINKAGE = str(SPECS / "design" / "four_bar_points.yaml")


@pytest.fixture
def pendulum():
    return mechsim.mechanism(PENDULUM)


# --- known answers


def test_a_throw_is_farthest_at_the_angle_of_the_book():
    """From a height h at speed v it is farthest at sin(angle)**2 = v**2/(2 v**2 + 2 g h)."""
    text = """
PhysicalParams: {angle: 1.0, v: 7, g: 9.81, h: 1.5}
PartData: {Particles: {P: 1}}
AppliedForces: {Gravity: [0, -g]}
ProblemData:
  tend: 2.5
  positions: {P: [[0, fixed], [h, fixed]]}
  velocities: {P: [[v*cos(angle), fixed], [v*sin(angle), fixed]]}
"""
    found = mechsim.mechanism(text).optimize({"angle": (0.2, 1.4)}, "-at(P_x, first(-P_y))")
    v, g, h = 7, 9.81, 1.5
    assert found.status == "optimal"
    # Where it is best it changes with the square of the angle: IPOPT's 1e-8 of the goal is 1e-7 or so of the angle.
    assert found.values["angle"] == pytest.approx(math.asin(v / math.sqrt(2 * v * v + 2 * g * h)), abs=1e-6)
    assert -found.goal == pytest.approx(v / g * math.sqrt(v * v + 2 * g * h), rel=1e-10)


def test_bounds_and_relations_have_prices(pendulum):
    """The longer the pendulum, the farther it swings: -max(A_x) = -l sin(begin), and its price is that derivative."""
    found = pendulum.optimize({"l": (0.5, 1.1)}, "-max(A_x)")
    assert found.status == "optimal" and found.chosen[0].held == "most"
    assert found.values["l"] == pytest.approx(1.1, abs=1e-7)
    assert found.chosen[0].price == pytest.approx(math.sin(0.9), rel=1e-6)
    found = pendulum.optimize({"l": (0.5, 3)}, "-max(A_x)", subject=["l <= 1.3"])
    assert found.held[0].price == pytest.approx(math.sin(0.9), rel=1e-6) and found.held[0].active
    assert found.values["l"] == pytest.approx(1.3, abs=1e-7)


def test_a_price_does_not_depend_on_how_its_relation_is_written(pendulum):
    """The least l is what it must be: less if that gives way, more if the right side of an equation grows."""
    prices = {"l >= 1.3": 1, "1.3 <= l": 1, "0.9 + 0*l <= l - 0.4": 1, "l = 1.3": -1, "1.3 = l": 1}
    for text, price in prices.items():
        found = pendulum.optimize({"l": (0.5, 3)}, "l", subject=[text])
        assert found.values["l"] == pytest.approx(1.3, abs=1e-7)
        assert found.held[0].price == pytest.approx(price, rel=1e-6), text


@pytest.mark.parametrize("goal", ["abs(final(P_x) - 1.5)", "2*abs(1.5 - final(P_x)) + (final(P_x) - 1.5)**2"])
def test_a_goal_that_comes_to_zero_at_a_kink(goal):
    """x = v at the end; the search went on for 500 iterations, or ended where the goal has no derivative."""
    text = """
PhysicalParams: {v: 1}
PartData: {Particles: {P: 1}}
ProblemData: {tend: 1, positions: {P: [[0, fixed], 0]}, velocities: {P: [[v, fixed], 0]}}
"""
    found = mechsim.mechanism(text).optimize({"v": (0.5, 3)}, goal)
    assert found.status == "optimal" and len(found.history) < 60
    assert found.values["v"] == pytest.approx(1.5, abs=1e-12)  # 1e-13 of what the goal is made of
    assert any("has come to zero" in note for note in found.notes)
    # Where what must hold keeps it from zero it goes on to what that allows.
    found = mechsim.mechanism(text).optimize({"v": (0.5, 3)}, "abs(final(P_x) - 1.5)", subject=["v >= 2"])
    assert found.status == "optimal" and found.held[0].price == pytest.approx(1, rel=1e-6)


def test_a_goal_that_is_least_at_a_kink():
    """u t - t**2 spreads over u**2/4 + max(0, 1 - u) on [0, 1], which is least where u is 1; s is held back there."""
    handle = mechsim.mechanism("""
PhysicalParams: {s: 0.3, u: 1.5}
PartData: {Particles: {P: 1}}
ProblemData: {tend: 1, positions: {P: [0, [s, fixed]]}, velocities: {P: [[0, fixed], [u, fixed]]}}
""")
    goal = "max(P_y - t**2) - min(P_y - t**2)"
    for added, subject in (("", []), (" + 3*s", []), (" + 3*s", ["s >= 0.1"])):
        vary = {"u": (0, 2), "s": (0 if subject else 0.1, 1)} if added else {"u": (0, 2)}
        found = handle.optimize(vary, goal + added, subject=subject)
        assert found.status == "acceptable" and any("has a kink" in note for note in found.notes), found.message
        assert len(found.history) < 100
        assert found.goal == pytest.approx(0.55 if added else 0.25, abs=1e-6)  # IPOPT takes it for smooth
        assert found.values["u"] == pytest.approx(1, abs=1e-6)
        prices = [each.price for each in (*found.chosen, *found.held)]
        assert sum(prices) == pytest.approx(3 if added else 0, abs=1e-2)  # by derivatives that were seen 1e-4 away


def test_a_kink_that_is_not_known_to_be_least_is_told():
    """Where derivatives of one side alone were seen no mean of them is zero; what holds back may make it one."""
    kink, x = Kink(), np.array([0.5, 0.2])
    for number in range(6):
        kink.hear(x + 1e-9 * number, 1.0, np.array([1.0, 0.5 * (number % 2)]), 20.0)
    limits = np.array([-np.inf]), np.array([0.0])
    bounds = np.zeros(2), np.ones(2)
    assert kink.reached
    assert kink.balance(x, pulls_of(np.array([-1.0]), np.ones((1, 2)), limits, x, bounds)) is None
    held = pulls_of(np.array([0.0]), np.array([[-4.0, 0.0]]), limits, x, bounds)
    shares = kink.balance(x, held)
    assert held.multipliers(shares, (1, 2))[0] == pytest.approx([0.25], abs=1e-12)
    at_bound = np.array([0.0, 0.2])
    kink.hear(at_bound, 1.0, np.array([1.0, 0.0]), 20.0)
    held = pulls_of(np.array([-1.0]), np.ones((1, 2)), limits, at_bound, bounds)
    assert held.multipliers(kink.balance(at_bound, held), (1, 2))[1] == pytest.approx([1, 0], abs=1e-12)


def test_a_period_is_met_by_a_length(pendulum):
    """Squares of one measure: the length whose quarter of a period is 0.5 s, by the arithmetic-geometric mean."""
    handle = pendulum.with_parameters(c=0)
    found = handle.optimize({"l": (0.4, 2)}, squares=["first(-A_x) - 0.5"])
    a, b = 1.0, math.cos(0.45)
    for _ in range(6):
        a, b = (a + b) / 2, math.sqrt(a * b)
    assert found.status == "optimal"
    assert found.values["l"] == pytest.approx(9.81 * (0.5 * 2 * a / math.pi) ** 2, rel=1e-8)


DROP = """
PhysicalParams: {h: 1, v0: 1, c: 0.5, g: 9.8}
PartData: {Particles: {P: 1}}
AppliedForces: {Gravity: [0, -g]}
ProblemData:
  tend: 1.5
  positions: {P: [[0, fixed], [h, fixed]]}
  velocities: {P: [[0.5, fixed], [v0, fixed]]}
"""


@pytest.fixture
def drop():
    return mechsim.mechanism(DROP)


@pytest.mark.parametrize(
    "vary, goal, words",
    [
        ({"c": (None, None)}, "c", "falls on and on with smaller c"),
        ({"c": (0, None)}, "-c", "falls on and on with larger c"),
        ({"c": (0, None), "h": (0.5, None)}, "-c**2 - h", "larger c"),
    ],
)
def test_a_goal_without_a_least_value_is_told_soon(drop, vary, goal, words):
    found = drop.optimize(vary, goal)
    assert found.status == "stopped" and words in found.message and "Give bounds" in found.message
    assert len(found.history) < 60


def test_what_is_far_is_found_without_bounds(drop):
    """It falls evenly for long, and then no more."""
    found = drop.optimize({"c": (0, None)}, "(c - 1000)**2")
    assert found.status == "optimal" and found.values["c"] == pytest.approx(1000)
    found = drop.optimize({"h": (0, None)}, "-final(P_y)", subject=["h <= 40"])
    assert found.status == "optimal" and found.values["h"] == pytest.approx(40)


@pytest.mark.parametrize("relation", ["1 <= 0", "g = 5", "final(P_x) = 0.8", "start(P_x) >= 1"])
def test_relations_that_nothing_changes_are_refused(drop, relation):
    with pytest.raises(SpecError, match="does not change with what is varied, and is missed by"):
        drop.optimize({"h": (0.5, 2)}, "final(P_y)", subject=[relation])


def test_relations_that_nothing_changes_and_that_hold_are_no_hindrance(drop):
    """As many equations as numbers leave something to choose where some follow from others: IPOPT alone would not
    look at the goal."""
    found = drop.optimize({"h": (0.5, 2)}, "final(P_y)", subject=["final(P_x) = 0.75", "g <= 10"])
    assert found.found and found.values["h"] == pytest.approx(0.5, abs=1e-6)
    assert sum("does not change with what is varied: it holds" in note for note in found.notes) == 2
    found = drop.optimize({"h": (0.5, 2), "v0": (0, 2)}, "-final(P_y)", subject=["h = 1", "2*h = 2"])
    assert found.found and found.values["v0"] == pytest.approx(2, abs=1e-6)
    assert found.values["h"] == pytest.approx(1, abs=1e-6)


def test_an_end_before_the_begin_is_refused(drop):
    with pytest.raises(SpecError, match="tend may be as small as -3, but the motion begins at t0 = 0"):
        drop.optimize({"tend": (-3, 2)}, "final(P_y)")
    for least in (0, None):
        found = drop.optimize({"tend": (least, 2)}, "(final(P_x) - 0.25)**2")
        assert found.found and found.values["tend"] == pytest.approx(0.5, abs=1e-4)
    with pytest.raises(SpecError) as refused:
        drop.optimize({"tend": (2, 3)}, "final(P_y)")
    assert "--tend" in str(refused.value) and "--set" not in str(refused.value)


@pytest.mark.parametrize(
    "point, places, words",
    [
        ("P", [[0.1], [0.2]], "the places of P are given by P_x, and P has P_x, P_y"),
        ("P", [[0.1, 0.2, 0.3]], "are given by P_x, P_y, P_z, and P has P_x, P_y"),
        ("P.x", [[0.1, 0.2]], "there is no point P.x"),
    ],
)
def test_places_that_no_point_has_are_told(drop, point, places, words):
    with pytest.raises(SpecError, match=words):
        drop.optimize({"h": (0.5, 2)}, through={point: places})


def test_places_are_read_by_the_titles_of_their_columns(tmp_path):
    (tmp_path / "drop.yaml").write_text(DROP)
    found = []
    for number, rows in enumerate((["x,y", "0.1,0.9", "0.4,0.5"], ["y,x", "0.9,0.1", "0.5,0.4"])):
        path = tmp_path / f"{number}.csv"
        path.write_text("\n".join(rows) + "\n")
        words = ["optimize", str(tmp_path / "drop.yaml"), "--vary", "h=0.5:2", "--through", f"P={path}", "--json"]
        found.append(json.loads(CliRunner().invoke(cli, words).stdout)["after"])
    assert found[0] == pytest.approx(found[1], rel=1e-12)


def test_what_is_found_is_never_worse_than_what_was_seen(drop):
    """A narrow valley at the bound where the search begins: IPOPT moves off it first, and settles in a higher one."""
    goal = "0.5 + 0.1*(c - 2)**2 - 0.8*exp(-(300*(c - 0.5))**2)"
    found = drop.optimize({"c": (0.5, 4)}, goal)
    assert found.goal <= found.before == pytest.approx(-0.075)
    assert found.values["c"] == pytest.approx(0.5, abs=1e-2)


def test_derivatives_that_do_not_bear_out_are_told():
    """Of x**2, with its own derivative and with that of -x**2 / 2; a kink within one of several steps is no matter."""
    for slope, doubtful in ((2.0, False), (-1.0, True)):
        trail = Trail(np.zeros(1, dtype=bool), np.zeros(1, dtype=bool))
        for x in (4.0, 3.2, 2.5, 2.0):
            trail.hear(np.array([x]), x * x, np.array([slope * x]), np.zeros((0, 1)))
        assert trail.doubtful is doubtful and not trail.without_end


# --- linkages


def places_of(values, times):
    return [[part.real for part in coupler(values, t)] for t in times]


KNOWN = {"a": 0.4, "b": 1.0, "c": 0.8, "d": 1.0, "px": 0.55, "py": 0.4}


def test_a_four_bar_goes_through_six_places_of_a_known_one(tmp_path):
    times = [0.05, 0.2, 0.35, 0.55, 0.7, 0.9]
    target = tmp_path / "found.yaml"
    found = mechsim.mechanism(LINKAGE).optimize(through={"P": places_of(KNOWN, times)}, output=target)
    assert found.status == "optimal" and found.goal < 1e-15
    # Twelve numbers for twelve coordinates: it is that one, for others are far.
    for name, value in KNOWN.items():
        assert found.values[name] == pytest.approx(value, abs=1e-5), name
    assert [found.values[f"time of P at {k}"] for k in range(1, 7)] == pytest.approx(times, abs=1e-6)
    text = target.read_text()
    assert "Optimize:" in text and "# crank, m" in text and "Reference" not in text
    assert mechsim.mechanism(str(target)).parameters["a"] == pytest.approx(0.4, abs=1e-5)


def test_what_places_hardly_tell_is_told_and_the_rest_is_exact():
    """IPOPT alone ends at gradients of 1e-8, with lengths to 1e-5; steps of the residuals go on to rounding. Places
    next to each other tell some lengths by their seventh digits only."""
    handle, known = mechsim.mechanism(LINKAGE), KNOWN | {"a": 0.42, "c": 0.83, "py": 0.37}
    found = handle.optimize(through={"P": places_of(known, [0.1, 0.25, 0.4, 0.5, 0.75, 0.9])})
    assert found.status == "optimal" and found.goal < 1e-25 and not found.notes
    for name, value in known.items():
        assert found.values[name] == pytest.approx(value, abs=1e-11), name
    close = handle.optimize(through={"P": places_of(known, [0.3, 0.32, 0.34, 0.36, 0.38, 0.4])})
    assert any("hardly tell" in note for note in close.notes)


@pytest.mark.slow
def test_a_four_bar_comes_as_near_as_it_can_to_places_that_no_one_of_it_meets():
    """The corners and the middles of the sides of a rectangle: no linkage meets them all; the sum of squares falls to
    less than a third of what it was, to an optimum beside which nothing is better."""
    corners = [[0.5, 0.9], [0.15, 0.9], [-0.2, 0.9], [-0.2, 0.5], [0.15, 0.5], [0.5, 0.5]]
    handle = mechsim.mechanism(LINKAGE)
    found = handle.optimize(through={"P": corners})
    assert found.status in ("optimal", "acceptable") and found.goal < 0.3 * found.before
    assert found.missed < 1e-7
    # Of 12 numbers those that no bound holds have no slope left.
    again = handle.with_parameters(**{name: found.values[name] for name in KNOWN}).optimize(through={"P": corners})
    assert again.goal == pytest.approx(found.goal, rel=1e-6)


@pytest.mark.slow
def test_poses_that_cannot_be_assembled_are_stepped_back_from():
    """Without Grashof's rules, and with bounds that allow lengths which do not close."""
    handle = mechsim.mechanism(LINKAGE)
    wide = dict.fromkeys(("a", "b", "c", "d"), (0.1, 2.5))
    found = handle.optimize(
        wide | {"px": (-1, 2), "py": (-1, 2)},
        through={"P": places_of(KNOWN, [0.05, 0.2, 0.35, 0.55, 0.7, 0.9])},
        subject=["a + b + c + d <= 10"],
    )
    assert found.goal < 1e-3 * found.before
    # A goal that pulls to where it does not close ends beside it, and says so.
    found = handle.optimize({"c": (0.05, 1.3)}, "c", subject=["c >= 0"], iterations=12)
    assert 0.35 < found.values["c"] < 0.85
    if not found.found:
        assert "no such motion" in found.message


# --- impacts

BALL = """
PhysicalParams: {h: 1.3, g: 9.81, e: 0.7, vx: 1}
Inputs: {u: 0}
PartData: {Particles: {P: 1}}
AppliedForces: {Gravity: [0, -g], Forces: {P: [u, 0]}}
Contacts: {floor: {gap: P.y, e: e}}
ProblemData: {tend: 1.3, positions: {P: [[0, fixed], [h, fixed]]}, velocities: {P: [[vx, fixed], [0, fixed]]}}
"""


EDGE = """
PhysicalParams: {a: 0.3, b: 0.9, c: 0.7}
PartData:
  Fixed: {O: [], P: [1]}
  Rods: {OA: a, AB: b, PB: c}
  Particles: {B: 1}
Drives: {theta_OA: 2*pi*t}
ProblemData: {tend: 1, positions: {A: [a, 0], B: [0.9, 0.7]}}
"""
SWING = "min(B_x) - max(B_x)"  # of the rocker's end, the wider the longer the crank


def test_a_goal_that_pulls_into_a_dead_centre_ends_there_in_words():
    """The crank goes round while a + 1 <= b + c (Grashof): 0.6, where coupler and rocker are in line. Before, IPOPT
    halved its steps down to roundings, again and again: 197 motions."""
    found = mechsim.mechanism(EDGE).optimize({"a": (0.1, 0.9)}, minimise=SWING)
    assert found.status == "stopped" and 0.6 - 3e-5 < found.values["a"] < 0.6  # within the nearest step that fails
    assert found.goal == pytest.approx(-1.08, abs=1e-4)
    assert "best so far" in found.message and "constraints of AB, OA, PB become dependent" in found.message
    assert found.evaluations < 80


@pytest.mark.slow
def test_relations_keep_a_search_off_the_edge():
    """Both of Grashof's conditions, less a little: the optimum has a + 1 = b + c and a + c = 1 + b then."""
    off = 1e-3
    relations = [f"a + 1 <= b + c - {off}", f"a + c <= 1 + b - {off}"]
    found = mechsim.mechanism(EDGE).optimize({"a": (0.1, 0.95), "c": (0.3, 1.2)}, minimise=SWING, subject=relations)
    assert found.status == "optimal"
    assert found.values["a"] == pytest.approx(0.9 - off, abs=1e-7)
    assert found.values["c"] == pytest.approx(1.0, abs=1e-7)


def test_impacts_are_chosen():
    """It falls for 0.4 s from 0.7848 m, and is back on the ground after 2 e 0.4 s."""
    found = mechsim.mechanism(BALL).optimize(
        {"e": (0.3, 0.95), "h": (0.5, 2)},
        squares=["first_event(contact_floor) - 0.4", "last_event(contact_floor) - 1.1"],
    )
    assert found.status == "optimal"
    assert found.values == pytest.approx({"e": 0.875, "h": 0.7848}, abs=1e-8)


def test_inputs_over_intervals_are_refused_with_contacts():
    with pytest.raises(SpecError, match="inputs over intervals are not known with contacts"):
        mechsim.mechanism(BALL).optimize({"u": (-1, 1, 4)}, "integral(u**2)", subject=["final(P_x) = 2"])


# --- orbits


def test_a_periodic_motion_is_found_by_shooting():
    """Van der Pol's: the period of mu = 1 is 6.6632868593 (Krogdahl and others have all these digits)."""
    text = """
PhysicalParams: {x0: 1.8, mu: 1}
PartData: {Particles: {P: 1}}
AppliedForces: {Forces: {P: [mu*(1 - P.x**2)*P.vx - P.x, 0]}}
ProblemData: {tend: 6.5, positions: {P: [[x0, fixed], [0, fixed]]}}
SolverParams: {Integration: {tol: 1e-13}}
"""
    found = mechsim.mechanism(text).optimize(
        {"x0": (1, 3), "tend": (5, 8)}, squares=["final(P_x) - x0", "final(P_x_dot)"]
    )
    assert found.status == "optimal" and found.values["tend"] == pytest.approx(6.66328685932313, abs=1e-7)
    assert found.values["x0"] == pytest.approx(2.00861986087, abs=1e-7)
    found = mechsim.mechanism(text).optimize(
        {"x0": (1, 3), "tend": (5, 8)}, "tend", subject=["final(P_x) = x0", "final(P_x_dot) = 0"]
    )
    assert found.values["tend"] == pytest.approx(6.66328685932313, abs=1e-7)


def test_a_state_that_comes_back_is_a_relation_of_its_own():
    """A driven oscillator answers in step: amplitude and phase of the book."""
    text = """
PhysicalParams: {x0: 0.1, v0: 0.1, k: 4, c: 0.3, w: 1.5}
PartData: {Particles: {P: 1}}
Joints: {Sliders: {P-OQ: []}}
AppliedForces: {Forces: {P: [cos(w*t) - k*P.x - c*P.vx, 0]}}
ProblemData:
  tend: 2*pi/w
  positions: {P: [[x0, fixed], [0, fixed]]}
  velocities: {P: [[v0, fixed], [0, fixed]]}
""".replace("Joints: {Sliders: {P-OQ: []}}\n", "")
    found = mechsim.mechanism(text).optimize(
        {"x0": (-3, 3), "v0": (-3, 3)},
        "integral(P_x**2)",
        subject=["final(P_x) = start(P_x)", "final(P_x_dot) = start(P_x_dot)"],
    )
    answer = 1 / (4 - 1.5**2 + 0.3j * 1.5)
    assert found.values["x0"] == pytest.approx(answer.real, abs=1e-7)
    assert found.values["v0"] == pytest.approx(-1.5 * answer.imag, abs=1e-7)


def test_the_word_periodic_stands_for_the_whole_state():
    text = PENDULUM.replace("-c*omega_OA", "-c*omega_OA + cos(3*t)").replace("tend: 2\n", "tend: 2*pi/3\n")
    text = text.replace("s: 2}", "spin: 0.3}").replace("ProblemData:", "ProblemData:\n  rates: {OA: [spin, fixed]}")
    handle = mechsim.mechanism(text)
    found = handle.optimize({"begin": (-1, 1.2), "spin": (-3, 3)}, "integral(T)", subject="periodic")
    assert [each.text for each in found.held] == [
        "final(theta_OA) = start(theta_OA)",
        "final(theta_OA_dot) = start(theta_OA_dot)",
    ]
    # Damping has it that there is one such motion, and two periods later it is the same still.
    motion = handle.simulate(parameters=found.values, tend=2 * math.pi)
    assert motion.solution.q[-1][:3] == pytest.approx(motion.solution.q[0][:3], abs=1e-7)
    with pytest.raises(SpecError, match="2 equations must hold, and there is 1 number to choose"):
        handle.optimize({"begin": (-1, 1.2)}, "integral(T)", subject="periodic")


# --- fits

TRUTH = {"l": 0.9, "c": 0.55, "begin": 0.7}


def measured(noise, count=60, seed=7):
    """A_x and the angle of a pendulum by an ODE of one's own, with errors; some cells are empty."""
    l, c, begin = TRUTH.values()
    times = np.linspace(0, 2, count)
    y = solve_ivp(
        lambda t, y: [y[1], -9.81 / l * np.sin(y[0]) - c / (1.3 * l * l) * y[1]],
        (0, 2),
        [begin, 0],
        t_eval=times,
        rtol=1e-12,
        atol=1e-12,
    ).y[0]
    random = np.random.default_rng(seed)
    x = l * np.sin(y) + noise * random.standard_normal(count)
    angle = y - np.pi / 2 + noise * random.standard_normal(count)
    rows = [f"{t!r},{a!r},{b!r}" for t, a, b in zip(times.tolist(), x.tolist(), angle.tolist(), strict=True)]
    rows[3] = rows[3].rsplit(",", 1)[0] + ","
    return "\n".join(["t,A_x,theta_OA", *rows]) + "\n"


VARY = {"l": (0.5, 2), "c": (0, 2), "begin": (0.2, 1.5)}


def test_columns_without_errors_give_the_parameters_back(pendulum, tmp_path):
    path = tmp_path / "measured.csv"
    path.write_text(measured(0.0))
    found = pendulum.optimize(VARY, fit=path)
    assert found.status == "optimal" and found.goal < 1e-14
    for name, value in TRUTH.items():
        assert found.values[name] == pytest.approx(value, abs=1e-7)


def test_columns_with_errors_give_them_within_their_standard_errors(pendulum, tmp_path):
    path, off = tmp_path / "measured.csv", []
    for seed in range(4):
        path.write_text(measured(0.01, seed=seed))
        found = pendulum.optimize(VARY, fit=path)
        assert found.status == "optimal"
        assert found.quality.left["A_x"] == pytest.approx(0.01, rel=0.35)
        off += [(each.after - TRUTH[each.name]) / each.error for each in found.chosen]
    # 12 draws of a standard normal: their mean square is 1 within 0.41, of which three are taken.
    assert 0.05 < np.mean(np.square(off)) < 2.3


def test_what_data_do_not_tell_is_told(tmp_path):
    """Only k/m matters to a mass on a spring."""
    text = """
PhysicalParams: {k: 3, m: 1}
PartData: {Particles: {P: m}}
AppliedForces: {Forces: {P: [-k*P.x, 0]}}
ProblemData: {tend: 3, positions: {P: [[1, fixed], [0, fixed]]}}
"""
    path = tmp_path / "measured.csv"
    times = np.linspace(0, 3, 30)
    path.write_text("t,P_x\n" + "".join(f"{t!r},{math.cos(2 * t)!r}\n" for t in times.tolist()))
    found = mechsim.mechanism(text).optimize({"k": (1, 9), "m": (0.5, 2)}, fit=path)
    assert found.values["k"] / found.values["m"] == pytest.approx(4, rel=1e-6)
    assert all(math.isinf(each.error) for each in found.chosen)
    assert any("the data do not tell k, m apart" in note for note in found.notes)


# --- Lagrangians


def test_a_lagrangian_has_parameters_starts_and_ends_to_choose(tmp_path):
    from jax import numpy as jnp

    system = mechsim.lagrangian_system(
        lambda q, v, t, p: p.l**2 * v[0] ** 2 / 2 + 9.81 * p.l * jnp.cos(q[0]),
        ["angle"],
        forces=lambda q, v, t, p: [-p.c * v[0]],
        parameters={"l": 1.0, "c": 0.0},
    )
    found = system.optimize(
        {"angle": 0.5}, {"angle": 0.5}, tend=2.0, vary={"angle_dot": (-4, 4)}, squares=["max(angle) - 1.2"]
    )
    # By energy: v**2/2 = 9.81 (cos 0.5 - cos 1.2).
    expected = math.sqrt(2 * 9.81 * (math.cos(0.5) - math.cos(1.2)))
    assert abs(found.values["angle_dot"]) == pytest.approx(expected, rel=1e-7)
    path = tmp_path / "measured.csv"
    motion = system.simulate({"angle": 0.5}, tend=2.0, parameters={"l": 1.4, "c": 0.2})
    times = np.linspace(0, 2, 21)
    angles = motion.solution.sampled(times).q[:, 0]
    path.write_text(
        "t,angle\n" + "".join(f"{t!r},{a!r}\n" for t, a in zip(times.tolist(), angles.tolist(), strict=True))
    )
    found = system.optimize({"angle": 0.5}, tend=2.0, vary={"l": (0.5, 2), "c": (0, 1)}, fit=path)
    assert found.values == pytest.approx({"l": 1.4, "c": 0.2}, abs=1e-6)


# --- bad input


def test_a_goal_that_never_changes_is_refused_by_name(pendulum):
    with pytest.raises(SpecError, match=r"max\(A_x\) never changes with s"):
        pendulum.optimize({"s": (0, 3)}, "max(A_x)")
    found = pendulum.optimize({"s": (0, 3), "l": (0.5, 1)}, "max(A_x)")
    assert any("nothing changes with s" in note for note in found.notes)


def test_a_goal_that_changes_by_roundings_alone_is_refused_too(tmp_path):
    """How far the crank's end goes to the right is its length wherever the rocker is pinned, but for the last digit."""
    file = tmp_path / "bare.yaml"
    file.write_text(Path(LINKAGE).read_text().partition("Optimize:")[0])
    with pytest.raises(mechsim.SpecError, match="never changes with d"):
        mechsim.mechanism(str(file)).optimize({"d": (0.9, 1.2)}, minimise="max(A_x)")


def test_an_input_that_begins_outside_of_its_bounds_is_told_once():
    text = BALL.replace("Inputs: {u: 0}", "Inputs: {u: 9}").replace("Contacts: {floor: {gap: P.y, e: e}}\n", "")
    with pytest.raises(SpecError, match="u begins at 9, outside of its bounds -1 to 1") as caught:
        mechsim.mechanism(text).optimize({"u": (-1, 1, 4)}, "integral(u**2)")
    assert len(caught.value.faults) == 1 and "in Inputs" in (caught.value.faults[0].hint or "")


def test_relations_that_cannot_be_met_are_told_with_what_is_missing(pendulum):
    found = pendulum.optimize({"l": (0.5, 2)}, "-max(A_x)", subject=["l <= 1.5", "max(A_x) <= -1"])
    assert found.status == "infeasible" and not found.found
    assert "missed: max(A_x) <= -1, by 1.39" in found.message and "l <= 1.5" not in found.message
    assert found.missed == pytest.approx(1 + 0.5 * math.sin(0.9), abs=1e-4)


def test_a_search_that_is_too_short_says_so_and_goes_on(tmp_path):
    target = tmp_path / "so_far.json"
    handle = mechsim.mechanism(LINKAGE)
    short = handle.optimize(iterations=3, output=target)
    assert short.status == "unfinished" and "as many iterations" in short.message
    assert short.goal < short.before
    told = json.loads(target.read_text())
    assert told["status"] == "unfinished" and told["after"] == short.goal
    found = handle.optimize(output=target, resume=True)
    assert found.status == "optimal" and found.before == pytest.approx(short.goal)
    with pytest.raises(SpecError, match="what the search is to go on from has 12 numbers, and there are 7"):
        handle.optimize(through={"P": [[0, 0]]}, output=target, resume=True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"vary": {"length": (0, 1)}, "minimise": "max(A_x)"}, "there is no parameter length, and no input"),
        ({"vary": {"A_x": (0, 1)}, "minimise": "max(A_x)"}, "A_x follows from the start"),
        ({"vary": {"l": (2, 1)}, "minimise": "max(A_x)"}, "turned around"),
        ({"vary": {"l": (1, 1)}, "minimise": "max(A_x)"}, "leave nothing to choose"),
        ({"vary": {"l": (1, 2)}, "minimise": "max(A_x)"}, "l begins at 0.8, outside of its bounds 1 to 2"),
        ({"vary": {"l": (1,)}, "minimise": "max(A_x)"}, "must have a least and a most"),
        ({"vary": {"l": (0.5, 2, 10)}, "minimise": "max(A_x)"}, "has intervals, but is no input"),
        ({"vary": {"l": "0.5:x"}, "minimise": "max(A_x)"}, "x"),
        ({"vary": {"l": (0.5, 2)}}, "it is not said what is to be least"),
        ({"minimise": "max(A_x)"}, "nothing may vary"),
        ({"vary": {"l": (0.5, 2)}, "minimise": "max(A_x)", "squares": ["max(A_y)"]}, "two things"),
        ({"vary": {"l": (0.5, 2)}, "minimise": "max(A_z)"}, "there is no column A_z"),
        ({"vary": {"l": (0.5, 2)}, "minimise": "max(A_x)", "subject": ["max(A_y)"]}, "is no relation"),
        ({"vary": {"l": (0.5, 2)}, "minimise": "max(A_x)", "subject": ["max(A_y) < B"]}, "B"),
        ({"vary": {"l": (0.5, 2)}, "through": {"B": [[0, 0]]}}, "there is no point B"),
        ({"vary": {"l": (0.5, 2)}, "through": {"A": [[0, 0, 0]]}}, "A_z"),
        ({"vary": {"l": (0.5, 2)}, "minimise": "first(A_x - 9)"}, "first"),
        ({"vary": {5: (0.5, 2)}, "minimise": "max(A_x)"}, "is given by names, which must be text, not 5"),
        ({"vary": {"l": 5}, "minimise": "max(A_x)"}, "must have a least and a most, not 5"),
        ({"vary": {"l": (0.5, 2)}, "minimise": 5}, "what is to be least must be text, not 5"),
        ({"vary": {"l": (0.5, 2)}, "squares": [5]}, "must be text, not 5"),
        ({"vary": {"l": (0.5, 2)}, "minimise": "max(A_x)", "subject": [5]}, "must be text, not 5"),
        ({"vary": {"l": (0.5, 2)}, "through": {5: [[0, 0]]}}, "the name of a point must be text, not 5"),
        ({"vary": {"l": (0.5, 2)}, "fit": "nowhere.csv"}, "cannot read nowhere.csv"),
        ({"vary": {"l": (0.5, 2)}, "minimise": "max(A_x)", "resume": True}, "nothing to go on from"),
    ],
)
def test_bad_input_is_refused_in_words(pendulum, arguments, message):
    with pytest.raises(MechsimError) as caught:
        pendulum.optimize(**arguments)
    assert message in str(caught.value) or any(message in (fault.hint or "") for fault in caught.value.faults)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("t,A_x,B_x\n0,1,2\n", "'B_x' is no column of the motion"),
        ("t,A_x\n0,1\n1,nan\n", "'nan' is no number for A_x"),
        ("t,A_x\n0,1\n,2\n", "a row has no time"),
        ("t,A_x\n0,1\n7,2\n", "the time 7 is outside of the motion"),
        ("t,A_x\n0,1,3\n", "3 values, but there are 2 titles"),
        ("t,A_x\n0,\n1,\n", "a column has no numbers"),
        ("A_x\n0\n1\n", "a fit needs a column t"),
        ("t,A_x\n", "there are no measured rows"),
        ("t,A_x,A_x\n0,1,1\n", "two columns A_x"),
    ],
)
def test_files_that_cannot_be_fitted_are_refused_with_places(pendulum, tmp_path, text, message):
    path = tmp_path / "measured.csv"
    path.write_text(text)
    with pytest.raises(SpecError, match=message) as caught:
        pendulum.optimize({"l": (0.5, 2)}, fit=path)
    assert str(path) in str(caught.value)


def test_files_that_cannot_be_written_are_told_at_once(pendulum, tmp_path):
    with pytest.raises(OutputError, match="is not known"):
        pendulum.optimize({"l": (0.5, 2)}, "max(A_x)", output=tmp_path / "found.txt")
    with pytest.raises(OutputError):
        pendulum.optimize({"l": (0.5, 2)}, "max(A_x)", output=tmp_path / "nowhere" / "found.json")


# --- the command


def run(*words):
    found = CliRunner().invoke(cli, ["optimize", *map(str, words)], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return found


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "pendulum.yaml"
    path.write_text(PENDULUM + "Optimize:\n  vary: {l: [0.5, 1.1]}\n  minimise: -max(A_x)\n  subject: [l >= 0.6]\n")
    return path


def test_the_command_tells_writes_and_draws(spec, tmp_path):
    target, picture = tmp_path / "found.yaml", tmp_path / "found.png"
    out = run(spec, "-o", target, "--plot", picture).output
    assert "at its most, price 0.78" in out and "optimal" in out and "l >= 0.6" in out
    assert "Ipopt" not in out and "EXIT" not in out
    assert mechsim.mechanism(str(target)).parameters["l"] == pytest.approx(1.1, abs=1e-7)
    assert picture.read_bytes().startswith(b"\x89PNG")
    told = json.loads(run(spec, "--json").stdout)
    assert told["status"] == "optimal" and told["chosen"][0]["held"] == "most" and told["history"]
    (tmp_path / "fit.csv").write_text(measured(0.001))
    fitted = run(spec, "--vary", "c=0:2", "--vary", "begin=0.2:1.5", "--fit", tmp_path / "fit.csv", "--set", "l=0.7")
    assert "root mean square: A_x 0.000" in fitted.output and "± error" in fitted.output


def test_the_command_refuses_and_gives_exit_codes(spec, tmp_path, capfd):
    for words, code, message in (
        (("--minimise", "max(A_z)"), 2, "there is no column A_z"),
        (("--vary", "l"), 2, "NAME=LEAST:MOST"),
        (("--vary", "l=2:1"), 2, "turned around: 1 to 2"),
        (("--subject", "max(A_x) <= -1"), 4, "missed: max(A_x) <= -1, by 1.39"),
        (("--iterations", "1", "--minimise", "(max(A_x) - 0.5)**2"), 4, "as many iterations"),
        (("-o", spec), 2, ""),
        (("--resume",), 2, "nothing to go on from"),
        (("--fit", "nowhere.csv"), 2, "cannot read nowhere.csv"),
        (("--through", "A=nowhere.csv"), 2, "cannot read nowhere.csv"),
    ):
        with pytest.raises(SystemExit) as left:
            main(["optimize", str(spec), *map(str, words)])
        told = capfd.readouterr()
        assert left.value.code == code and message in told.err, (words, left.value.code, told)
        assert "Traceback" not in told.err and "bug of mechsim" not in told.err and "Ipopt" not in told.out + told.err


@pytest.mark.parametrize("times", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_ctrl_c_keeps_and_tells_the_best_so_far(times, tmp_path):
    """A second one leaves the file as it was, whole, unless the first had ended the search already."""
    target = tmp_path / "so_far.yaml"
    words = [sys.executable, "-m", "mechsim", "optimize", str(SPECS / "design" / "swing_up.yaml"), "-o", str(target)]
    process = subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # tests may run in the background
    )
    deadline = time.monotonic() + 120
    while not target.exists() and time.monotonic() < deadline:
        time.sleep(0.2)
    for _ in range(times):
        os.kill(process.pid, signal.SIGINT)
        time.sleep(0.02)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, (out, err)
    assert "Traceback" not in err and list(tmp_path.iterdir()) == [target]
    mechsim.mechanism(str(target))  # and it is a mechanism
    if times == 1:
        assert "the search was ended: this is the best so far" in err and "interrupted" in out and str(target) in out
        assert '"status": "interrupted"' in target.read_text()


def test_signals_end_a_search_in_python(spec, tmp_path):
    """Real ones, in the midst of an evaluation. The first lets it end, and no other begins but that of the result; the
    second is a KeyboardInterrupt, behind IPOPT; handlers are what they were."""
    script = f"""
import os, signal, mechsim
from mechsim.design.search import Search

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
whole, times, begun = Search.evaluated, 0, 0

def evaluated(self, *given, **named):
    global begun
    begun += 1
    if len(self.history) == 2 and not self.interrupted:
        begun = 0
        for _ in range(times):
            os.kill(os.getpid(), signal.SIGINT)
    return whole(self, *given, **named)

Search.evaluated = evaluated
handle = mechsim.mechanism({str(spec)!r})
for times in (1, 2):
    try:
        found = handle.optimize(output={str(tmp_path / "found.json")!r})
        print(times, found.status, begun, found.goal < found.before, found.message)
    except KeyboardInterrupt:
        print(times, "KeyboardInterrupt", begun)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    told = "1 interrupted 1 True the search was ended: this is the best so far\n2 KeyboardInterrupt 0\n"
    assert (found.returncode, found.stdout) == (0, told), found.stderr
    assert json.loads((tmp_path / "found.json").read_text())["status"] == "interrupted"  # of the first, and whole


def test_the_file_that_is_written_has_the_times_that_were_given(tmp_path):
    """Also where an event may end the motion, and where the file says nothing of t0."""
    target = tmp_path / "found.yaml"
    text = """
PhysicalParams: {v: 8}
PartData: {Particles: {P: 1}}
AppliedForces: {Gravity: [0, -9.81]}
Events: {land: {when: P.y, direction: down, do: stop}}
ProblemData: {tend: [9, land], positions: {P: [[0, fixed], [1, fixed]]}, velocities: {P: [[1, fixed], [v, fixed]]}}
"""
    found = mechsim.mechanism(text).optimize({"v": (0, 30)}, squares="final(P_y) - 2", t0=0.5, tend=1.5, output=target)
    motion = mechsim.simulate(target)
    assert found.status == "optimal" and found.values["v"] == pytest.approx(1 + 9.81 / 2, rel=1e-9)
    assert (motion.t[0], motion.t[-1]) == (0.5, 1.5)
    assert motion.solution.q[-1, 1] == pytest.approx(2, rel=1e-9)
    assert "tend: [1.5, land]" in target.read_text()


def test_what_was_found_is_not_lost_with_its_file(pendulum, tmp_path):
    """The folder goes while the search lasts."""
    folder = tmp_path / "gone"
    folder.mkdir()

    def watch(_: Iteration) -> None:
        shutil.rmtree(folder, ignore_errors=True)

    with pytest.warns(WritingWarning, match=r"folder .* does not exist: what was found is not in that file"):
        found = pendulum.optimize({"l": (0.5, 1.1)}, "-max(A_x)", output=folder / "found.json", observer=watch)
    assert found.status == "optimal" and found.values["l"] == pytest.approx(1.1, abs=1e-7)
    assert "does not exist" in found.notes[-1]
    found.save(tmp_path / "found.json")


def test_a_full_disk_is_told_after_what_was_found(spec, tmp_path, capfd, monkeypatch):
    from mechsim.design import optimum

    def full(*_, **__):
        raise OutputError(mechsim.errors.Fault("cannot write found.json: no space left on device"))

    monkeypatch.setattr(optimum, "replacing", full)
    with pytest.raises(SystemExit) as left:
        main(["optimize", str(spec), "-o", str(tmp_path / "found.json")])
    told = capfd.readouterr()
    assert left.value.code not in (0, None) and "no space left" in told.err and "-max(A_x): -0.62" in told.out
