"""A motion that is stopped and continued equals one that was not."""

import numpy as np
import pytest
from reference import SPECS

from mechsim.engine import integrate
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
TEXTS = {"table": TABLE, "sampled": SAMPLED, "pulses": PULSES, "cranks": CRANKS, "parallelogram": PARALLELOGRAM}
FILES = ["andrews", "pendulum", "four_bar", "forces/arm2_pd", "forces/chaplygin_sleigh", "forces/friction_on_incline"]


def problem(name):
    return prepare(parse(TEXTS[name]) if name in TEXTS else read(SPECS / f"{name}.yaml"))


def marched(prepared, start, tend, **settings):
    tolerance = prepared.spec.solver.tolerance
    return integrate(prepared.system, prepared.structure, start, tend=tend, tolerance=tolerance, **settings)


def stops_of(whole, seed=5):
    """Ends of steps, then times of no special kind."""
    rng = np.random.default_rng(seed)
    ends = whole.t[rng.integers(1, len(whole.t) - 1, 10)]
    return [*ends, *rng.uniform(whole.t[0], whole.t[-1], 10)]


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
