"""Motions that events end: their derivatives go with the end, and so does what is best for them. All by closed forms,
in complex numbers."""

from __future__ import annotations

import cmath
import json
import math

import numpy as np
import pytest
from click.testing import CliRunner

import mechsim
from mechsim.cli.main import cli
from mechsim.errors import MechsimError, SpecError

THROW = """
PhysicalParams: {g: 9.81, h: 2, v: 8, a: 0.5}
PartData: {Particles: {P: 1}}
AppliedForces: {Gravity: [0, -g]}
Events: {land: {when: P.y, direction: down, do: stop}}
ProblemData:
  tend: [10, land]
  positions: {P: [[0, fixed], [h, fixed]]}
  velocities: {P: [[v*cos(a), fixed], [v*sin(a), fixed]]}
SolverParams: {Integration: {tol: 1e-12}}
"""
VALUES = {"g": 9.81, "h": 2.0, "v": 8.0, "a": 0.5}
MOTOR = """
PhysicalParams: {F: 3, a: 0.4, b: 0.4, m: 2, x0: 0.1}
Inputs: {u: F}
PartData:
  Fixed: {O: [], R: [1]}
Joints: {Pistons: {A-OR: [m]}}
AppliedForces: {Forces: {A: [u, 0]}}
Events:
  off: {when: A.x - a, direction: up, do: {set: {u: -1}}}
  also: {when: A.x - b, direction: up}
  over: {when: A.vx, direction: down, do: stop}
ProblemData:
  tend: [10, over]
  positions: {A: [[x0, fixed]]}
  velocities: {A: [[0, fixed]]}
"""


@pytest.fixture
def throw():
    return mechsim.mechanism(THROW)


def slopes(function, values, names):
    """Derivatives by complex steps."""
    step = 1e-30
    return [function({**values, name: values[name] + step * 1j}).imag / step for name in names]


def landing(p):
    """When it lands, and the components of the speed with which it was thrown."""
    x, y = p["v"] * cmath.cos(p["a"]), p["v"] * cmath.sin(p["a"])
    return (y + cmath.sqrt(y * y + 2 * p["g"] * p["h"])) / p["g"], x, y


def height_squared(p, t):
    """The integral of the square of the height until a time."""
    _, _, y = landing(p)
    powers = np.polynomial.Polynomial([p["h"], y, -p["g"] / 2])
    return (powers * powers).integ()(t)


def heights(p, t):
    """The integral of the height."""
    return p["h"] * t + landing(p)[2] * t**2 / 2 - p["g"] * t**3 / 6


MEASURES = {
    "final(P_x)": lambda p, t, x, y: x * t,
    "final(P_y)": lambda p, t, x, y: 0j,
    "final(P_y_dot)": lambda p, t, x, y: y - p["g"] * t,
    "final(T)": lambda p, t, x, y: (x**2 + (y - p["g"] * t) ** 2) / 2,
    "final(V)": lambda p, t, x, y: 0j,
    "final(t)": lambda p, t, x, y: t,
    "final(P_x*P_y_dot + t*tend)": lambda p, t, x, y: x * t * (y - p["g"] * t) + t * t,
    "tend": lambda p, t, x, y: t,
    "mean(P_y)": lambda p, t, x, y: heights(p, t) / t,
    "rms(P_y)": lambda p, t, x, y: cmath.sqrt(height_squared(p, t) / t),
    "integral(P_y)": lambda p, t, x, y: heights(p, t),
    "integral(P_y_dot)": lambda p, t, x, y: -p["h"],
    "integral(tend - t)": lambda p, t, x, y: t * t / 2,
    "max(P_x)": lambda p, t, x, y: x * t,
    "min(P_y_dot)": lambda p, t, x, y: y - p["g"] * t,
    "max(P_y)": lambda p, t, x, y: p["h"] + y * y / (2 * p["g"]),
    "max(P_x*tend)": lambda p, t, x, y: x * t * t,
    "time_of_max(P_x)": lambda p, t, x, y: t,
    "at(P_x, tend/2)": lambda p, t, x, y: x * t / 2,
    "at(P_x, first_event(land))": lambda p, t, x, y: x * t,
    "last_event(land)": lambda p, t, x, y: t,
    "mean(P_x)*g + tend**2": lambda p, t, x, y: x * t / 2 * p["g"] + t * t,
}


def test_derivatives_go_with_the_end(throw):
    found = throw.sensitivity(list(MEASURES), list(VALUES))
    for row, (measure, known) in enumerate(MEASURES.items()):

        def value(p, known=known):
            return known(p, *landing(p))

        assert found.values[row] == pytest.approx(value(VALUES).real, abs=1e-10), measure
        assert found.derivatives[row] == pytest.approx(slopes(value, VALUES, VALUES), abs=1e-9), measure


def test_the_state_at_the_end_is_that_of_the_tangents(throw):
    """What is measured if nothing is said, beside what the engine says of end and state."""
    found, names = throw.sensitivity(by=["a", "h"]), ["P_x", "P_x_dot", "P_y", "P_y_dot"]
    solution = throw.simulate(tangents=["a", "h"]).solution
    q = solution.tangents.positions[-1] + np.outer(solution.v[-1], solution.tangents.end)
    v = solution.tangents.velocities[-1] + np.outer([0, -9.81], solution.tangents.end)
    assert found.labels == tuple(names)
    assert found.derivatives == pytest.approx(np.array([q[0], v[0], q[1], v[1]]), abs=1e-12)


@pytest.mark.parametrize("tend", ["[0.3*h, land]", "[h/5 + 9, land]"])
def test_an_end_that_comes_before_its_event_is_that_of_its_time(tend):
    """A time that moves with a parameter counts where it ends the motion, and only there."""
    found = mechsim.mechanism(THROW.replace("[10, land]", tend)).sensitivity(["final(P_x)", "tend"], ["h", "a"])

    def end(p):
        return landing(p)[0] if "9" in tend else 0.3 * p["h"]

    def far(p):
        return landing(p)[1] * end(p)

    assert found.derivatives == pytest.approx(np.array([slopes(f, VALUES, ["h", "a"]) for f in (far, end)]), abs=1e-9)


def test_tend_has_no_part_in_an_end_by_an_event(throw):
    found = throw.sensitivity(["final(P_x)", "mean(P_y)"], ["tend", "h"])
    assert (found.derivatives[:, 0] == 0).all() and np.isnan(found.given[0])
    assert any("by the event land: tend has no part in it" in note for note in found.notes)
    assert throw.sensitivity("final(P_x)", "tend", tend=0.5).derivative("final(P_x)", "tend") == pytest.approx(
        8 * math.cos(0.5)
    )


def test_curves_are_changes_at_fixed_times_and_say_so(throw):
    found = throw.sensitivity(curves=["P_y", "P_x/tend"], by=["h", "v"])
    assert found.curve("P_y", "v") == pytest.approx(math.sin(0.5) * found.times, abs=1e-12)
    end, x, _ = landing(VALUES)
    moved = slopes(lambda p: landing(p)[0], VALUES, ["h"])[0]
    known = -x.real * found.times * moved / end.real**2
    assert found.curve("P_x/tend", "h") == pytest.approx(known, abs=1e-9)
    assert any("until the event land ends the motion" in note for note in found.notes)


def test_tolerances_go_with_the_end(throw):
    found = throw.sensitivity("final(P_x)", tolerances={"a": 1e-4, "h": 1e-4}).budget
    size = np.abs(slopes(lambda p: landing(p)[0] * landing(p)[1], VALUES, ["a", "h"])) * 1e-4
    assert found.contributions[0] == pytest.approx(size, rel=1e-8)
    assert found.corners[0] - found.values[0] == pytest.approx([-size.sum(), size.sum()], rel=1e-3)


def test_a_corner_that_another_event_ends_has_no_value():
    """At one corner the time of the file is over before it lands."""
    text = THROW.replace("[10, land]", "[1.14, land]")
    found = mechsim.mechanism(text).sensitivity("final(P_x)", tolerances={"v": 0.1})
    assert np.isfinite(found.budget.corners[0, 0]) and np.isnan(found.budget.corners[0, 1])
    assert any("at a corner" in note for note in found.notes)


def test_events_at_one_time_count_once():
    """A motor that is reversed at x = a, where another event is too: velocities then are zero, so is its impulse."""
    handle = mechsim.mechanism(MOTOR)
    found = handle.sensitivity(["final(A_x)", "mean(A_x_dot)", "tend"], ["a", "x0"])
    # It goes back as (a - x0) F = (x - a) * 1, in sqrt(2 m (a - x0)/F) * (1 + F).
    end = math.sqrt(2 * 2 * 0.3 / 3) * 4
    mean = 4 * 0.3 / end
    known = [[4, -3], [4 / end - mean / 0.6, -4 / end + mean / 0.6], [end / 0.6, -end / 0.6]]
    assert found.derivatives == pytest.approx(np.array(known), abs=1e-9)
    same = mechsim.mechanism(MOTOR.replace("A.x - b", "A.x - a"))
    assert same.sensitivity("integral(A_x_dot*u)", "a").derivatives[0, 0] == pytest.approx(3 - 3, abs=1e-9)
    # What is only recorded makes nothing jump; of two that set something it is not known which comes first.
    assert handle.sensitivity("integral(A_x_dot*u)", "a").derivatives[0, 0] == pytest.approx(3 - 3, abs=1e-9)
    both = mechsim.mechanism(MOTOR.replace("A.x - b, direction: up", "A.x - b, direction: up, do: {set: {u: -1}}"))
    with pytest.raises(MechsimError, match="come at once that move apart: off, also"):
        both.sensitivity("integral(A_x_dot*u)", "a")
    times = handle.sensitivity(["first_event(off)", "first_event(also)"], ["a", "b"])
    slope = math.sqrt(2 * 2 * 0.3 / 3) / 0.6
    assert times.derivatives == pytest.approx(np.diag([slope, slope]), abs=1e-9)


def test_measures_of_one_long_step_do_not_change_each_other(throw):
    """The coefficients of a motion of one step were taken for a table of their own, and changed in place."""
    alone = [throw.sensitivity(each, "h").values[0] for each in ("rms(P_y)", "integral(P_y_dot)", "rms(P_x)")]
    found = throw.sensitivity(["rms(P_y)", "integral(P_y_dot)", "rms(P_x)"], "h")
    assert found.values == pytest.approx(alone, rel=1e-14)
    assert found.values[1] == pytest.approx(-2, abs=1e-12)


def test_inputs_that_an_event_sets_change_as_it_says():
    """u is F until x = a, then -F/3: m v = F t1 at t1 = sqrt(2 m (a - x0)/F), and it stands after 3 t1 more."""
    handle = mechsim.mechanism(MOTOR.replace("u: -1", "u: -F/3"))
    values = {"F": 3.0, "a": 0.4, "m": 2.0, "x0": 0.1}

    def first(p):
        return cmath.sqrt(2 * p["m"] * (p["a"] - p["x0"]) / p["F"])

    known = {
        "final(u)": lambda p: -p["F"] / 3,
        "start(u)": lambda p: p["F"],
        "integral(u)": lambda p: 0j * p["F"],
        "mean(u**2)": lambda p: p["F"] ** 2 / 3 + 0 * first(p),
        "rms(u)": lambda p: p["F"] / math.sqrt(3) + 0j,
        "integral(T)": lambda p: 2 / 3 * p["F"] ** 2 * first(p) ** 3 / p["m"],
        "at(T, 1)": lambda p: (p["F"] * first(p) - p["F"] / 3 * (1 - first(p))) ** 2 / (2 * p["m"]),
        "tend": lambda p: 4 * first(p),
    }
    found = handle.sensitivity(list(known), list(values))
    for row, (measure, value) in enumerate(known.items()):
        assert found.values[row] == pytest.approx(value(values).real, abs=1e-10), measure
        assert found.derivatives[row] == pytest.approx(slopes(value, values, values), abs=1e-9), measure


def test_formulas_that_switch_make_quantities_jump():
    """A force F until x = a, then -1: what is added up of it goes with the time of the switch."""
    text = MOTOR.replace("[u, 0]", '["if(A.x - a, -1, F)", 0]').split("Events:")[0]
    text += "ProblemData: {tend: 1, positions: {A: [[x0, fixed]]}, velocities: {A: [[0, fixed]]}}\n"
    values = {"F": 3.0, "a": 0.4, "m": 2.0, "x0": 0.1}

    def first(p):
        return cmath.sqrt(2 * p["m"] * (p["a"] - p["x0"]) / p["F"])

    known = {
        "integral(A_ax)": lambda p: (p["F"] * first(p) - (1 - first(p))) / p["m"],
        "mean(A_ax*t)": lambda p: (p["F"] * first(p) ** 2 - (1 - first(p) ** 2)) / 2 / p["m"],
        "integral(A_ax**2)": lambda p: (p["F"] ** 2 * first(p) + (1 - first(p))) / p["m"] ** 2,
        "rms(A_ax)": lambda p: cmath.sqrt(p["F"] ** 2 * first(p) + (1 - first(p))) / p["m"],
    }
    found = mechsim.mechanism(text).sensitivity(list(known), list(values))
    for row, (measure, value) in enumerate(known.items()):
        assert found.values[row] == pytest.approx(value(values).real, abs=1e-10), measure
        assert found.derivatives[row] == pytest.approx(slopes(value, values, values), abs=1e-9), measure


def test_what_a_controller_holds_changes_with_what_it_saw():
    """The last force of one that is sampled, by the drive it loads: from sample to sample by hand."""
    text = """
PhysicalParams: {K: 3, D: 0.5, m: 2, x0: 0.5}
PartData:
  Fixed: {O: [], R: [1]}
Joints: {Pistons: {A-OR: [m]}}
Controllers:
  A.x: {target: 0, kp: K, kd: D, period: 0.1}
ProblemData:
  tend: 0.75
  positions: {A: [[x0, fixed]]}
  velocities: {A: [[0, fixed]]}
SolverParams: {Integration: {tol: 1e-12}}
"""
    values = {"K": 3.0, "D": 0.5, "m": 2.0, "x0": 0.5}

    def energies(p):
        """At the end, and all that was added up."""
        x, v, total = p["x0"] + 0j, 0j, 0j
        for step in [0.1] * 7 + [0.05]:
            a = -(p["K"] * x + p["D"] * v) / p["m"]
            total += p["m"] / 2 * (v**2 * step + v * a * step**2 + a**2 * step**3 / 3)
            x, v = x + v * step + a * step**2 / 2, v + a * step
        return p["m"] / 2 * v**2, total, a

    found = mechsim.mechanism(text).sensitivity(["final(T)", "integral(T)", "final(A_ax)"], list(values))
    for row in range(3):
        assert found.values[row] == pytest.approx(energies(values)[row].real, abs=1e-10)
        known = slopes(lambda p, row=row: energies(p)[row], values, values)
        assert found.derivatives[row] == pytest.approx(known, abs=1e-8)


# --- optimisation


def test_the_farthest_throw_is_that_of_the_book(throw):
    found = throw.optimize({"a": (0.1, 1.4)}, "-final(P_x)")
    v, g, h = 8, 9.81, 2
    assert found.status == "optimal"
    assert found.values["a"] == pytest.approx(math.asin(v / math.sqrt(2 * v * v + 2 * g * h)), abs=1e-6)
    assert -found.goal == pytest.approx(v / g * math.sqrt(v * v + 2 * g * h), rel=1e-10)


def test_a_throw_comes_as_far_as_is_wanted(throw):
    found = throw.optimize({"a": (0.1, 1.4)}, squares=["final(P_x) - 8"])
    assert found.status == "optimal" and found.goal < 1e-20
    end, x, _ = landing({**VALUES, "a": found.values["a"]})
    assert (end * x).real == pytest.approx(8, abs=1e-9)
    assert found.values["a"] == pytest.approx(0.49955117, abs=1e-8)
    held = throw.optimize({"a": (0.1, 1.4), "v": (1, 20)}, "v", subject=["final(P_x) = 8"])
    v = held.values["v"]  # the least speed that comes so far: (v/g) sqrt(v**2 + 2 g h) = 8
    assert held.found and v / 9.81 * math.sqrt(v * v + 2 * 9.81 * 2) == pytest.approx(8, abs=1e-6)


def test_the_end_may_be_what_is_least():
    handle = mechsim.mechanism(MOTOR)
    found = [handle.optimize({"F": (0.2, 5)}, goal) for goal in ("tend", "first_event(over)")]
    assert all(each.status == "optimal" for each in found)
    assert found[0].goal == pytest.approx(found[1].goal, rel=1e-12)
    # sqrt(2 m (a - x0)/F) (1 + F) is least for F = 1.
    assert found[0].values["F"] == pytest.approx(1, abs=1e-5)


def test_a_search_does_not_leave_the_event_that_ends_the_motion(throw):
    """With little gravity it does not land within 10 s: those motions are of another branch."""
    found = throw.optimize({"g": (0.1, 10)}, "-final(P_x)")
    assert found.status == "stopped" and "not by the event land" in found.message
    assert landing({**VALUES, "g": found.values["g"]})[0].real == pytest.approx(10, abs=1e-2)
    other = throw.optimize({"v": (1, 20)}, "final(P_x)", tend=0.8)
    assert other.status == "stopped" and "by the event land, and not when its time is over" in other.message
    assert landing({**VALUES, "v": other.values["v"]})[0].real > 0.8


def test_an_end_that_has_no_part_is_not_chosen(throw):
    with pytest.raises(SpecError, match="tend has no part in it"):
        throw.optimize({"a": (0.1, 1.4), "tend": (5, 20)}, "-final(P_x)")


def test_places_and_rows_are_of_the_motion_there_is(throw, tmp_path):
    """A place beyond the landing is not reached by what would come after it."""
    places = [[2.0, 2.6], [9.0, -0.5]]
    found = throw.optimize({"a": (0.1, 1.4)}, through={"P": places})
    end, x, _ = landing({**VALUES, "a": found.values["a"]})
    assert found.found and found.goal > 0.25  # it never is below the ground
    assert found.goal >= (9.0 - (end * x).real) ** 2 + 0.25 - 1e-9
    rows = tmp_path / "rows.csv"
    rows.write_text("t,P_x\n0.5,3.4\n1.5,10\n")
    with pytest.raises(MechsimError, match="by the event land, before what was measured"):
        throw.optimize({"v": (1, 20)}, fit=rows)
    times = np.linspace(0, 1, 20)
    rows.write_text("\n".join(["t,P_x", *(f"{t!r},{7.5 * math.cos(0.5) * t!r}" for t in times.tolist())]) + "\n")
    assert throw.optimize({"v": (7.4, 20)}, fit=rows).values["v"] == pytest.approx(7.5, abs=1e-9)


def test_the_command_has_it_too(tmp_path):
    path = tmp_path / "throw.yaml"
    path.write_text(THROW)
    words = ["sensitivity", str(path), "--measure", "final(P_x)", "--by", "a", "--json"]
    told = json.loads(CliRunner().invoke(cli, words).stdout)
    assert told["measures"][0]["derivatives"]["a"] == pytest.approx(3.27682797, abs=1e-8)
