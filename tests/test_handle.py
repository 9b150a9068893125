"""A handle: one mechanism with many parameters and starts, stepped from outside, in threads, pickled."""

from __future__ import annotations

import contextlib
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from examples import some_of
from hypothesis import given
from hypothesis import strategies as st
from reference import SPECS

import mechsim
from mechsim.errors import AssemblyError, IntegrationError, MechsimError, SpecError

TOL = 1e-12
SWING = """
Title: a swing
Inputs: {tau: 0, wind: {start: 0, hold: linear}}
PhysicalParams: {l: 1, m: 2, g: 9.81, c: 0, twice: 2*m}
PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[l]], Dyna: [[l/2], m, twice*l**2/24]}}}
AppliedForces: {Gravity: [0, -g], Torques: {OA: tau + wind - c*omega_OA}}
Signals: {power: tau*omega_OA}
Output: {signals: [power]}
ProblemData: {tend: 3, positions: {A: [0.6, -0.8]}}
"""
FOUR_BAR = """
Title: a four-bar whose lengths may change
PhysicalParams: {a: 1, b: 3, c: 2.5, d: 3, up: 2}
PartData:
  Fixed: {O: [], Q: [d]}
  Rigids:
    OA: {Geom: [[a]], Dyna: [[a/2], 1, 0.1]}
    AB: {Geom: [[b]], Dyna: [[b/2], 1, 0.5]}
    QB: {Geom: [[c]], Dyna: [[c/2], 1, 0.4]}
AppliedForces: {Gravity: }
ProblemData: {tend: 1, positions: {A: [0.5, 0.8], B: [3, up]}, rates: {OA: 2}}
"""
TABLE = """
PhysicalParams: {k: 1}
PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 2, 1/6]}}}
AppliedForces: {Gravity: , Torques: {OA: k*push}}
Tables: {push: {points: [[0, 0], [0.31, 4], [0.77, -3], [1.5, 1], [2, 0]], outside: hold}}
ProblemData: {tend: 2.5, positions: {A: [0.6, -0.8]}}
"""

SAMPLED = """
PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 2, 1/6]}}}
AppliedForces: {Gravity: }
Controllers: {theta_OA: {target: sin(t), kp: 60, kd: 9, ki: 20, period: 0.07}}
ProblemData: {tend: 2, positions: {A: [0.6, -0.8]}}
"""


def same(one: mechsim.Motion, other: mechsim.Motion) -> bool:
    a, b = one.solution, other.solution
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("t", "q", "v", "lam", "coefficients"))


def near(one: mechsim.Motion, other: mechsim.Motion, times: np.ndarray, close: float = 1e-9) -> bool:
    return bool(np.abs(one.solution.sample(times)[0] - other.solution.sample(times)[0]).max() < close)


# --- parameters


@some_of(15)
@given(st.floats(0.02, 0.05), st.floats(3000, 6000))
def test_other_parameters_give_the_motion_of_the_file_read_anew(mom: float, c0: float) -> None:
    """Nothing of the start depends on these two, so that every bit is the same."""
    wanted = {"mom": mom, "c0": c0}
    motion = ANDREWS.simulate(parameters=wanted, tol=1e-10, tend=0.005)
    assert same(motion, mechsim.simulate(SPECS / "andrews.yaml", parameters=wanted, tol=1e-10, tend=0.005))
    assert motion.facts["settings"]["overrides"] == {name: repr(value) for name, value in wanted.items()}


ANDREWS = mechsim.mechanism(SPECS / "andrews.yaml")


def test_no_run_changes_a_later_one() -> None:
    handle = mechsim.mechanism(FOUR_BAR)
    first = handle.simulate(parameters={"b": 3.1, "up": 2.2})
    for b in (2.5, 3.4, 4.0):
        handle.simulate(parameters={"b": b})
    assert same(first, handle.simulate(parameters={"b": 3.1, "up": 2.2}))
    assert same(first, mechsim.mechanism(FOUR_BAR).simulate(parameters={"up": 2.2, "b": 3.1}))


@some_of(25)
@given(st.floats(0.8, 1.2), st.floats(2.7, 3.3), st.floats(2.2, 2.8), st.floats(2.8, 3.2))
def test_a_start_with_other_lengths_is_the_nearest_to_the_guesses(a: float, b: float, c: float, d: float) -> None:
    """As the file read anew finds it by its whole search; the search is good to 1e-9."""
    wanted = {"a": a, "b": b, "c": c, "d": d}
    handle = mechsim.mechanism(FOUR_BAR).with_parameters(**wanted)
    fresh = mechsim.mechanism(FOUR_BAR, wanted)
    for one, other in zip(handle.start(), fresh.start(), strict=True):
        assert one == pytest.approx(other, abs=1e-8)
    assert np.abs(handle.constraint_residuals(handle.start()[0])).max() < 1e-13


def test_a_parameter_that_is_zero_or_stops_being_so_is_noticed() -> None:
    """Without damping there is no law of it, and no account of its work: another structure."""
    handle, times = mechsim.mechanism(SWING), np.linspace(0, 3, 7)
    damped = handle.simulate(parameters={"c": 0.5}, tol=TOL)
    assert near(damped, mechsim.simulate(SWING, parameters={"c": 0.5}, tol=TOL), times)
    assert "work_OA" in damped.trajectory.labels and damped.certificate.doubts() == ()
    assert damped(3.0)["A_x"] != pytest.approx(handle.simulate(tol=TOL)(3.0)["A_x"], abs=1e-3)
    weightless = handle.simulate(parameters={"g": 0.0}, tol=TOL)
    assert weightless(3.0)["A"] == pytest.approx([0.6, -0.8], abs=1e-12)


def test_parameters_follow_from_others() -> None:
    handle, times = mechsim.mechanism(SWING), np.linspace(0, 3, 7)
    for wanted in ({"m": 3.0}, {"twice": 5.0}, {"m": "l + 0.5"}, {"m": 3.0, "l": "m/2"}):
        assert near(handle.simulate(parameters=wanted), mechsim.simulate(SWING, parameters=wanted), times)


def test_with_parameters_may_be_said_twice() -> None:
    handle = mechsim.mechanism(SWING).with_parameters(m=3).with_parameters(l=1.5)
    assert handle.parameters == {"l": 1.5, "m": 3.0, "g": 9.81, "c": 0.0, "twice": 6.0}
    assert handle.mass_matrix(handle.start()[0]) == pytest.approx(
        mechsim.mechanism(SWING, {"m": 3, "l": 1.5}).mass_matrix(handle.start()[0]), abs=1e-14
    )
    assert same(handle.simulate(), mechsim.mechanism(SWING).simulate(parameters={"m": 3, "l": 1.5}))


@pytest.mark.slow
def test_a_file_whose_own_parameters_cannot_close() -> None:
    handle = mechsim.mechanism(FOUR_BAR.replace("b: 3,", "b: 30,"))
    with pytest.raises(AssemblyError):
        handle.simulate()
    assert same(handle.simulate(parameters={"b": 3}), mechsim.simulate(FOUR_BAR, parameters={"b": 3}))


@pytest.mark.parametrize(
    ("wanted", "message"),
    [({"mm": 1}, "no parameter mm"), ({"m": -1}, "must not be negative"), ({"l": "1 +"}, "."), ({"l": 1e90}, "large")],
)
def test_mistakes_are_told_as_ever(wanted: dict[str, float | str], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        mechsim.mechanism(SWING).simulate(parameters=wanted)
    with pytest.raises(SpecError, match=message):
        mechsim.mechanism(SWING).with_parameters(**wanted)


def test_tables_are_built_for_the_time_of_the_run() -> None:
    handle = mechsim.mechanism(TABLE)
    for tend in (0.5, 2.5, 4.0):
        motion = handle.simulate(parameters={"k": 2.0}, tend=tend)
        assert same(motion, mechsim.simulate(TABLE, parameters={"k": 2.0}, tend=tend))


# --- starts


@pytest.mark.parametrize("text", [SWING, FOUR_BAR, TABLE, (SPECS / "andrews.yaml").read_text()])
def test_a_motion_goes_on_where_another_ended(text: str) -> None:
    """Bit by bit at a step's end, within the tolerance elsewhere."""
    handle = mechsim.mechanism(text)
    whole = handle.simulate()
    step_end = float(whole.t[len(whole.t) // 2])
    first = handle.simulate(tend=step_end)
    rest = handle.simulate(start=first)
    assert rest.t[0] == step_end
    assert np.array_equal(rest.solution.q[-1], whole.solution.q[-1])
    first = handle.simulate(tend=0.4 * float(whole.t[-1]))
    assert handle.simulate(start=first).solution.q[-1] == pytest.approx(whole.solution.q[-1], abs=1e-9)


def test_a_start_may_be_any_state_of_a_motion() -> None:
    handle = mechsim.mechanism(FOUR_BAR)
    whole = handle.simulate()
    later = handle.simulate(start=(whole(0.4), whole.velocity(0.4)), t0=0.4)
    assert near(later, whole, np.linspace(0.4, 1, 5))
    heavier = handle.simulate(start=whole, tend=2.0, parameters={"up": 2.0})
    assert heavier.t[0] == 1.0 and heavier.solution.q[0] == pytest.approx(whole.solution.q[-1], abs=1e-12)


def test_a_state_that_is_not_consistent_is_refused() -> None:
    handle = mechsim.mechanism(SWING)
    with pytest.raises(AssemblyError, match="positions to start from are not consistent"):
        handle.simulate(start=({"A": (0.5, 0.5), "theta_OA": 0.0}, {"A": (0, 0), "theta_OA": 0}))
    q, _ = handle.start()
    with pytest.raises(AssemblyError, match="velocities to start from are not consistent"):
        handle.simulate(start=(q, {"A": (1, 0), "theta_OA": 0}))
    with pytest.raises(ValueError, match="no value for"):
        handle.simulate(start=({"A": (0.6, -0.8)}, q))


# --- many at once


def test_threads_share_a_handle() -> None:
    """Each motion is bitwise that of a handle of its own."""
    handle = mechsim.mechanism(FOUR_BAR)
    wanted = [{"b": 2.8 + 0.02 * k, "up": 2.0} for k in range(12)]
    with ThreadPoolExecutor(4) as pool:
        motions = list(pool.map(lambda each: handle.simulate(parameters=each), wanted))
    for each, motion in zip(wanted, motions, strict=True):
        assert same(motion, mechsim.mechanism(FOUR_BAR).simulate(parameters=each))


def test_handles_are_pickled() -> None:
    handle = mechsim.mechanism(FOUR_BAR).with_parameters(b=3.1)
    again = pickle.loads(pickle.dumps(handle))
    assert same(handle.simulate(), again.simulate())
    assert again.parameters == handle.parameters
    table = pickle.loads(pickle.dumps(mechsim.mechanism(TABLE)))
    assert same(table.simulate(), mechsim.simulate(TABLE))


# --- equations


@pytest.mark.parametrize(
    "name", ["four_bar", "andrews", "forces/friction_on_incline", "forces/chaplygin_sleigh", "forces/arm2_pd"]
)
def test_equations_at_a_state_fit_together(name: str) -> None:
    """M a + J^T lam = f and J a = g, with accelerations and multipliers from the march's own factorization. Roundings
    of Andrews' forces (1e3 N) leave 1e-12."""
    handle = mechsim.mechanism(SPECS / f"{name}.yaml")
    q, v = handle.start()
    a, lam = handle.accelerations(q, v), handle.multipliers(q, v)
    jacobian = handle.constraint_jacobian(q, v)
    forces = handle.mass_matrix(q, v) @ a + jacobian.T @ lam - handle.generalised_forces(q, v, lam)
    mechanical = [label not in handle.states for label in handle.coordinates]
    assert np.abs(forces[mechanical]).max() < 1e-11
    assert np.abs(jacobian @ a - handle.constraint_right_side(q, v)).max(initial=0.0) < 1e-11


def test_friction_that_depends_on_a_reaction_counts_in_accelerations() -> None:
    """A block on a slope with mu: a matrix without the derivative of forces by the multiplier would miss it."""
    handle = mechsim.mechanism(SPECS / "forces/friction_on_incline.yaml")
    motion = handle.simulate(tend=0.5)
    q, v = motion.solution.q[-1], motion.solution.v[-1]
    series = motion.solution.evaluate(np.array([0.5]))[2][0, : len(q)]
    mechanical = [label not in handle.states for label in handle.coordinates]
    found = handle.accelerations(q, v, t=0.5)
    assert found[mechanical] == pytest.approx(series[mechanical], abs=1e-9)
    assert np.abs(found).max() > 0.1


def test_a_lagrangian_of_ones_own_has_them_too() -> None:
    pendulum = mechsim.lagrangian_system(
        lambda q, v, t: (v[0] ** 2 + v[1] ** 2) / 2 - 9.81 * q[1],
        ["x", "y"],
        constraints=lambda q, t: [q[0] ** 2 + q[1] ** 2 - 1],
    )
    q, v = [0.6, -0.8], [0.8, 0.6]
    assert pendulum.mass_matrix(q) == pytest.approx(np.eye(2), abs=0)
    assert pendulum.generalised_forces(q, v) == pytest.approx([0, -9.81], abs=1e-15)
    assert pendulum.constraint_jacobian(q) == pytest.approx(np.array([[1.2, -1.6]]), abs=1e-15)
    assert pendulum.constraint_right_side(q, v) == pytest.approx([-2.0], abs=1e-15)  # -2 v.v
    tension = 9.81 * 0.8 + 1.0  # m g cos + m v^2 / l
    assert pendulum.multipliers(q, v) == pytest.approx([tension / 2], rel=1e-14)


# --- components


def test_a_component_that_is_not_touched_is_the_motion_itself() -> None:
    sim, whole = mechsim.mechanism(SWING).begin(tol=TOL), mechsim.mechanism(SWING).simulate(tol=TOL)
    for k in range(300):
        sim.advance(to=(k + 1) * 0.01)
    assert np.array_equal(sim.state.positions, whole.solution.q[-1])
    assert sim.output("A") == pytest.approx(whole(3.0)["A"], abs=1e-15)
    assert sim.output("theta_OA") == sim.positions["theta_OA"]
    assert sim.output("A_x_dot") == sim.velocities["A_x"]


def test_inputs_held_or_linear_are_tables_of_their_values() -> None:
    """The same constants at the same times, so every bit is the same as with the table in the file."""
    values = [2.0, -1.0, 0.5]
    tables = "Tables: {tau: {points: [[0, 2], [1, -1], [2, 0.5]], kind: step}, wind: {points: [[0, 0], [3, 0]]}}"
    reference = mechsim.simulate(SWING.replace(SWING.splitlines()[2], tables), tol=TOL)
    sim = mechsim.mechanism(SWING).begin(tol=TOL)
    for k, value in enumerate(values):
        sim.inputs["tau"] = value
        assert sim.inputs["tau"] == value
        sim.advance(to=k + 1)
    assert sim.state.positions == pytest.approx(reference.solution.q[-1], abs=1e-13)
    assert sim.output("power") == pytest.approx(0.5 * sim.velocities["theta_OA"], rel=1e-14)
    tables = "Tables: {wind: {points: [[0, 0], [1, 2], [2, -1], [3, 0.5]]}, tau: {points: [[0, 0], [3, 0]]}}"
    reference = mechsim.simulate(SWING.replace(SWING.splitlines()[2], tables), tol=TOL)
    sim = mechsim.mechanism(SWING).begin(tol=TOL)
    for k, value in enumerate(values):
        sim.inputs["wind"] = value
        sim.advance(to=k + 1)
    assert sim.state.positions == pytest.approx(reference.solution.q[-1], abs=1e-13)


def test_a_snapshot_is_a_place_to_return_to() -> None:
    handle = mechsim.mechanism(SWING)
    sim = handle.begin()
    sim.inputs["tau"] = 1.5
    sim.advance(to=0.73)
    kept = pickle.loads(pickle.dumps(sim.snapshot()))
    sim.inputs["tau"] = -3
    sim.advance(to=1.2)
    other = handle.begin()
    for each in (sim, other):
        each.restore(kept)
        assert each.time == 0.73 and each.inputs["tau"] == 1.5
        each.advance(to=2)
    assert np.array_equal(sim.state.positions, other.state.positions)
    straight = handle.begin()
    straight.inputs["tau"] = 1.5
    straight.advance(to=2)
    assert straight.state.positions == pytest.approx(sim.state.positions, abs=1e-11)


def test_a_motion_may_start_from_a_component() -> None:
    handle = mechsim.mechanism(SWING)
    sim = handle.begin()
    sim.advance(to=1.5)
    assert near(handle.simulate(start=sim.state), handle.simulate(), np.linspace(1.5, 3, 5))


@pytest.mark.parametrize("text", [TABLE, SAMPLED])
def test_a_component_with_tables_and_samples(text: str) -> None:
    handle = mechsim.mechanism(text)
    whole = handle.simulate()
    sim = handle.begin()
    for to in np.linspace(0, whole.t[-1], 23)[1:]:
        sim.advance(to=to)
    assert sim.state.positions == pytest.approx(whole.solution.q[-1], abs=1e-9)


def test_what_a_component_cannot_do_it_says() -> None:
    sim = mechsim.mechanism(SWING).begin()
    with pytest.raises(MechsimError, match="no input wnd"):
        sim.inputs["wnd"] = 1
    with pytest.raises(MechsimError, match="must be a number"):
        sim.inputs["wind"] = float("nan")
    with pytest.raises(MechsimError, match="no output powr"):
        sim.output("powr")
    sim.advance(to=1)
    with pytest.raises(MechsimError, match="cannot advance"):
        sim.advance(to=0.5)
    sim = mechsim.mechanism(TABLE).begin(tend=1)
    with pytest.raises(MechsimError, match="tables are known to t = 1"):
        sim.advance(to=1.5)


def test_an_input_that_would_make_a_position_jump_is_refused() -> None:
    driven = SWING.replace("Torques: {OA: tau + wind - c*omega_OA}", "").replace(
        "Gravity: [0, -g], ", "Gravity: [0, -g]"
    )
    driven = driven.replace("AppliedForces", "Drives: {theta_OA: sin(t)*tau}\nAppliedForces")
    sim = mechsim.mechanism(driven).begin()
    sim.advance(to=1)
    sim.inputs["tau"] = 0.5
    with pytest.raises(IntegrationError, match="would make positions jump at t = 1"):
        sim.advance(to=2)
    sim.inputs["tau"] = 0
    sim.advance(to=2)


# --- derivatives

TURNED = """
PhysicalParams: {w: 0.3, a: -0.7}
Inputs: {tau: 0.1}
PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 2, 1/6]}}}
AppliedForces: {Gravity: , Torques: {OA: tau}}
ProblemData: {tend: 3, angles: {OA: [a, fixed]}, rates: {OA: [w, fixed]}}
"""


def test_a_coordinate_of_the_start_is_what_a_parameter_fixes() -> None:
    """The same derivative by another way: through the file's start, or as a direction of the state. Roundings of both
    grow with the derivative itself, about 1. The work of the torque is a state too, without a rate to choose."""
    motion = mechsim.mechanism(TURNED).simulate(tangents=["w", "a", "theta_OA", "theta_OA_dot", "start"], tol=1e-13)
    times = np.linspace(0, 3, 11)
    for parameter, coordinate in (("w", "theta_OA_dot"), ("a", "theta_OA")):
        for of in ("positions", "velocities"):
            one, other = (motion.derivative(name, times, of=of)["theta_OA"] for name in (parameter, coordinate))
            assert one == pytest.approx(other, abs=1e-11)
    assert motion.solution.tangents.names[-3:] == ("position 1", "position 2", "velocity 1")


def test_derivatives_are_those_of_difference_quotients() -> None:
    """A step of 1e-5 leaves the third derivative, 1e-10 of it, and roundings of 1e-9."""
    handle = mechsim.mechanism(TURNED)
    own = handle.parameters
    motion = handle.simulate(tangents="w", tol=1e-13)
    ahead, back = (handle.simulate(parameters={"w": own["w"] + step}, tol=1e-13)(3.0) for step in (1e-5, -1e-5))
    assert motion.derivative("w", 3.0)["A"] == pytest.approx((ahead["A"] - back["A"]) / 2e-5, abs=1e-7)


def test_derivatives_by_inputs_and_from_a_state() -> None:
    handle = mechsim.mechanism(TURNED)
    motion = handle.simulate(tangents=["tau"], tol=1e-13)
    sims = [handle.begin(tol=1e-13) for _ in range(2)]
    for sim, step in zip(sims, (1e-5, -1e-5), strict=True):
        sim.inputs["tau"] = 0.1 + step
        sim.advance(to=3)
    quotient = (sims[0].output("theta_OA") - sims[1].output("theta_OA")) / 2e-5
    assert motion.derivative("tau", 3.0)["theta_OA"] == pytest.approx(quotient, abs=1e-7)
    later = handle.simulate(start=(motion(1.0), motion.velocity(1.0)), t0=1.0, tangents=["theta_OA", "w"], tol=1e-13)
    assert later.derivative("theta_OA", 1.0)["theta_OA"] == pytest.approx(1.0, abs=1e-14)
    assert later.derivative("w", 2.0)["theta_OA"] == 0  # a given state does not depend on it


def test_what_has_no_derivative_is_refused() -> None:
    handle = mechsim.mechanism(TURNED)
    with pytest.raises(SpecError, match="nothing called ww"):
        handle.simulate(tangents=["ww"])
    with pytest.raises(KeyError, match="differentiated by: nothing"):
        handle.simulate().derivative("w", 1.0)
    upright = TURNED.replace("a: -0.7", "a: 0")
    with pytest.raises(SpecError, match="constraints decide A_x at the start"):
        mechsim.mechanism(upright).simulate(tangents=["A_x"])


# --- all examples


def compared(path: Path, handle: mechsim.handle.MechanismHandle, wanted: dict[str, float]) -> None:
    """A handle's motion is that of the file read anew: starts agree to what the search finds (1e-9 of the size), and
    errors of starts grow by less than ten in a twentieth of a run."""
    problem = handle.spec.problem
    tend = problem.t0.value + 0.05 * (problem.tend.value - problem.t0.value)
    fresh = mechsim.simulate(path, parameters=wanted, tend=tend, tol=1e-11)
    motion = handle.simulate(parameters=wanted, tend=tend, tol=1e-11)
    scales = fresh.system.scales[: fresh.system.n]
    for place, close in ((0, 1e-9), (-1, 1e-8)):
        assert np.abs((motion.solution.q[place] - fresh.solution.q[place]) / scales).max() < close, wanted


HELD = sorted(SPECS.glob("**/*.yaml"))


LONG = {"dominoes", "mult_pend_uj"}


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.slow] if path.stem in LONG else [], id=path.stem) for path in HELD],
)
def test_every_file_with_other_parameters(path: Path) -> None:
    handle = mechsim.mechanism(path)
    if nonzero := {name: value for name, value in handle.parameters.items() if value and not value.is_integer()}:
        compared(path, handle, {name: 1.002 * value for name, value in nonzero.items()})


@pytest.mark.slow
@pytest.mark.parametrize("path", HELD, ids=lambda path: path.stem)
def test_every_parameter_of_every_file(path: Path) -> None:
    handle = mechsim.mechanism(path)
    for name, value in handle.parameters.items():
        compared(path, handle, {name: changed(path, name, value)})


def changed(path: Path, name: str, value: float) -> float:
    """A hundredth more, or less where the file cannot be read with that (no body is so); one more of what counts."""
    for other in (1.01 * value or 0.01, 0.99 * value, value + 1):
        with contextlib.suppress(SpecError):
            mechsim.mechanism(path, parameters={name: other})
            return other
    raise AssertionError(f"{name} cannot be changed")


def test_a_snapshot_of_other_parameters_is_refused() -> None:
    handle = mechsim.mechanism(SWING)
    kept = handle.begin().snapshot()
    for other in (handle.begin(parameters={"g": 1.6}), handle.with_parameters(l=2).begin()):
        with pytest.raises(MechsimError, match="same parameters"):
            other.restore(kept)
    handle.begin(tol=1e-6).restore(kept)


def test_a_component_begins_where_a_file_without_tables_has_ended() -> None:
    handle = mechsim.mechanism(SWING)
    sim = handle.begin()
    sim.advance(to=5)
    late = handle.begin(start=sim.state)
    late.advance(to=6)
    sim.advance(to=6)
    assert late.output("theta_OA") == pytest.approx(sim.output("theta_OA"), rel=0, abs=1e-9)
    assert handle.begin(t0=50.0).time == 50.0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"parameters": {"g": float("nan")}}, "parameter g must be a number"),
        ({"parameters": {"g": None}}, "parameter g must be a number"),
        ({"order": 5.5}, "whole number"),
        ({"parameters": {"l": "1/0"}}, "^<parameters>:1:3: error: division by zero"),
        ({"start": 3}, "nothing can start from int"),
        ({"start": (1,)}, "nothing can start from tuple"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_words(settings, words) -> None:
    with pytest.raises(MechsimError, match=words):
        mechsim.mechanism(SWING).simulate(**settings)


def test_an_input_is_no_parameter() -> None:
    handle = mechsim.mechanism(SWING)
    name = next(iter(handle.mechanism.inputs))
    for call in (handle.simulate, handle.begin, handle.simulate_many):
        with pytest.raises(SpecError, match=f"{name} is an input, not a parameter"):
            call(parameters={name: 1.0})


def test_no_times_are_no_rows() -> None:
    motion = mechsim.mechanism(SWING).simulate(tend=0.1)
    assert motion([])["A"].shape == motion.velocity([])["A"].shape == (0, 2)
    assert len(motion.sampled([])) == 0


def test_a_motion_of_another_mechanism_is_no_start() -> None:
    with pytest.raises(MechsimError, match="another mechanism"):
        mechsim.mechanism(SWING).simulate(start=mechsim.simulate(SPECS / "four_bar.yaml", tend=0.1))
