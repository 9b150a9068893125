"""A motion that is stopped and continued equals one that was not."""

import numpy as np
import pytest
from reference import SPECS

from mechsim.engine import State, integrate
from mechsim.simulation import prepare
from mechsim.spec import parse, read

TABLE = """
PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 2, 1/6]}}}
AppliedForces: {Gravity: , Torques: {OA: push}}
Tables: {push: {points: [[0, 0], [0.31, 4], [0.77, -3], [1.5, 1], [2, 0]], kind: linear, outside: hold}}
ProblemData: {tend: 3, positions: {A: [0.6, -0.8]}}
"""
SAMPLED = """
PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 2, 1/6]}}}
AppliedForces: {Gravity: }
Controllers: {theta_OA: {target: sin(t), kp: 60, kd: 9, ki: 20, period: 0.07}}
ProblemData: {tend: 2, positions: {A: [0.6, -0.8]}}
"""
# Steps that do not see the blows are rejected or shortened: history that the next steps read.
PULSES = """
PartData: {Fixed: {O: []}, Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 2, 1/6]}}}
AppliedForces: {Gravity: , Torques: {OA: 300*exp(-((t - 0.8)/0.002)**2) + 20*tanh((t - 2)/1e-3)}}
ProblemData: {tend: 3, positions: {A: [0.6, -0.8]}}
"""
# Three parallel cranks on one coupler: a constraint follows from the others, and which one rests changes on the way.
CRANKS = """
PartData:
  Fixed: {O: [], Q: [2], R: [1]}
  Rigids:
    OA: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}
    QB: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}
    RC: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}
    ABC: {Geom: [[2], [1]], Dyna: [[1], 4, 1]}
AppliedForces: {Gravity: }
ProblemData: {tend: 3, positions: {A: [0.6, 0.8], B: [2.6, 0.8], C: [1.6, 0.8]}, rates: {OA: [3, fixed]}}
"""
# It passes change points, lying flat.
PARALLELOGRAM = """
PartData:
  Fixed: {O: [], Q: [2]}
  Rigids:
    OA: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}
    QB: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}
    AB: {Geom: [[2]], Dyna: [[1], 4, 1]}
AppliedForces: {Gravity: }
ProblemData: {tend: 3, positions: {A: [0.6, 0.8], B: [2.6, 0.8]}, rates: {OA: [8, fixed]}}
"""
# A sampler and a table whose times coincide but for roundings, a force in pieces, a spring with a law, and friction.
PUSHED = """
Tables: {stiff: {points: [[0, 20], [0.6, 60], [1.3, 5]], kind: linear}}
Piecewise: {push: [[0, 0], [0.7, 12], [1.5, -8*sin(5*t)]]}
PartData:
  Fixed: {O: [], R: [1]}
  Particles: {B: 2}
  Springs: {OB: {k: 100, l: 1, c: 8, law: 3*s + 0.5*v}}
Joints: {Slots: {B-OR: []}}
AppliedForces:
  Potentials: {cushion: stiff*(B.x - 1)**2/2}
  Forces: {B: [push, 0]}
  Friction: {B-OR: [0.2, 10, 0.01]}
Controllers: {'dist(O,B)': {target: 1.1, kp: 40, kd: 3, ki: 5, period: 0.1}}
ProblemData: {tend: 2, positions: {B: [1.2]}}
"""
TEXTS = {
    "table": TABLE,
    "sampled": SAMPLED,
    "pushed": PUSHED,
    "pulses": PULSES,
    "cranks": CRANKS,
    "parallelogram": PARALLELOGRAM,
}
FILES = ["andrews", "pendulum", "four_bar", "forces/arm2_pd", "forces/chaplygin_sleigh", "forces/friction_on_incline"]


def problem(name):
    return prepare(parse(TEXTS[name]) if name in TEXTS else read(SPECS / f"{name}.yaml"))


def marched(prepared, start, tend, **settings):
    tolerance = prepared.spec.solver.tolerance
    return integrate(prepared.system, prepared.structure, start, tend=tend, tolerance=tolerance, **settings)


def stops_of(whole, seed=5):
    """Ends of steps, times of no special kind, then times of a jump and just beside one."""
    rng = np.random.default_rng(seed)
    ends = whole.t[rng.integers(1, len(whole.t) - 1, 10)]
    jumps = rng.choice(whole.segments.starts[1:], 3) if len(whole.segments) > 1 else []
    beside = [time for jump in jumps for time in (jump, np.nextafter(jump, -9), np.nextafter(jump, 9))]
    return [*ends, *rng.uniform(whole.t[0], whole.t[-1], 10), *beside]


@pytest.mark.parametrize("name", [*TEXTS, *FILES])
def test_a_motion_that_is_stopped_and_continued_equals_one_that_was_not(name):
    """Bitwise, wherever it is stopped: a step that the stop cut short is taken anew. In between, polynomials about the
    stop are those of the step, moved: they differ by roundings of their terms, which are as large as the state."""
    prepared = problem(name)
    tend = float(prepared.spec.problem.tend)
    whole = marched(prepared, prepared.start, tend)
    assert whole.status == "finished"
    for stop in stops_of(whole):
        first = marched(prepared, prepared.start, stop)
        rest = marched(prepared, first.ending, tend)
        assert rest.status == "finished" and rest.t[0] == stop
        np.testing.assert_array_equal(rest.t[1:], whole.t[whole.t > stop])
        for one, other in zip((rest.q, rest.v, rest.lam), (whole.q, whole.v, whole.lam), strict=True):
            np.testing.assert_array_equal(one[1:], other[whole.t > stop])
        assert rest.coefficients.shape[0] == len(rest.t) - 1
        np.testing.assert_array_equal(rest.coefficients[1:], whole.coefficients[len(whole.t) - len(rest.t) + 1 :])
        times = np.linspace(stop, rest.t[1], 5)
        for one, other in zip(rest.sample(times)[:2], whole.sample(times)[:2], strict=True):
            size = np.abs(whole.q).max() * max(1.0, np.abs(other).max())
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-11 * size)


@pytest.mark.parametrize("name", ["sampled", "pushed", "andrews", "pulses"])
def test_it_may_be_stopped_again_and_again(name):
    prepared = problem(name)
    tend = float(prepared.spec.problem.tend)
    whole = marched(prepared, prepared.start, tend)
    for seed in range(3):
        at = prepared.start
        for stop in np.unique(np.random.default_rng(seed).choice(stops_of(whole, seed), 5)):
            at = marched(prepared, at, stop).ending
        rest = marched(prepared, at, tend)
        np.testing.assert_array_equal(rest.t[1:], whole.t[whole.t > at.t])
        np.testing.assert_array_equal(rest.q[-1], whole.q[-1])
        np.testing.assert_array_equal(rest.v[-1], whole.v[-1])


@pytest.mark.parametrize("name", ["andrews", "parallelogram", "cranks"])
def test_backwards_too(name):
    prepared = problem(name)
    start = prepared.start
    tend = start.t - (float(prepared.spec.problem.tend) - start.t) / 2
    whole = marched(prepared, start, tend)
    rng = np.random.default_rng(2)
    for stop in [whole.t[len(whole.t) // 2], *rng.uniform(tend, start.t, 3)]:
        rest = marched(prepared, marched(prepared, start, stop).ending, tend)
        np.testing.assert_array_equal(rest.t[1:], whole.t[whole.t < stop])
        np.testing.assert_array_equal(rest.q[-1], whole.q[-1])


def test_it_may_turn_round():
    """Forth, back beyond the start, and forth again: a step that was cut short is not taken up the other way."""
    prepared = problem("andrews")
    whole = marched(prepared, prepared.start, 0.03)
    at = marched(prepared, prepared.start, 0.0123).ending
    for stop in (0.0119, -0.002, 0.03):
        at = marched(prepared, at, stop).ending
    # An error of 1e-14 grows by the motion there and back, some ten times.
    np.testing.assert_allclose(at.positions, whole.q[-1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["sampled", "pushed"])
def test_what_controllers_hold_is_handed_on_whatever_the_tolerance(name):
    """The output that is held, and the sum of errors, are part of the state; only bits of the march are not."""
    prepared = problem(name)
    tend = float(prepared.spec.problem.tend)
    whole = marched(prepared, prepared.start, tend)
    for stop in (0.33, whole.segments.starts[5], np.nextafter(whole.segments.starts[6], -9)):
        at = marched(prepared, prepared.start, stop).ending
        rest = integrate(prepared.system, prepared.structure, at, tend=tend, tolerance=1e-13)
        assert rest.status == "finished" and np.all(np.diff(rest.t) > 0)
        np.testing.assert_allclose(rest.q[-1], whole.q[-1], rtol=0, atol=1e-10)  # a hundred tolerances of the file


def test_a_controller_that_begins_later_samples_at_its_times():
    prepared = problem("sampled")
    at = marched(prepared, prepared.start, 0.5).ending
    fresh = marched(prepared, State(at.t, at.positions, at.velocities), 1.0)  # nobody tells what was held
    np.testing.assert_allclose(fresh.segments.starts, [0.5, *(0.07 * np.arange(8, 15))], rtol=0, atol=1e-12)


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("name", ["pushed", "pulses", "andrews"])
def test_the_size_of_batches_changes_nothing(name, size, monkeypatch):
    """Large mechanisms take few steps at once; a batch that ends before its goal must not begin its last steps anew."""
    prepared = problem(name)
    tend = float(prepared.spec.problem.tend)
    whole = marched(prepared, prepared.start, tend)
    monkeypatch.setattr("mechsim.engine.BATCH_STEPS", size)
    small = marched(prepared, prepared.start, tend)
    np.testing.assert_array_equal(small.t, whole.t)
    np.testing.assert_array_equal(small.coefficients, whole.coefficients)
