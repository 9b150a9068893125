"""Motions side by side in SIMD lanes: each is what it is alone, and what it is does not depend on its neighbours."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples import some_of
from hypothesis import given
from hypothesis import strategies as st
from reference import SPECS
from reference.change_points import kite, row, slider_crank

from mechsim.engine import State, integrate, order_for
from mechsim.engine.fleets import Fleets, Sets
from mechsim.engine.leading import planned
from mechsim.engine.many import Many, integrate_many
from mechsim.kernel.numbers import Numbers
from mechsim.kernel.system import System
from mechsim.model import build
from mechsim.simulation import Prepared, adjust, prepare
from mechsim.source import read
from mechsim.spec import parse
from mechsim.spec.living import Tape, settled

REDUNDANT = {"bricard", "door"}  # followed one by one, not in lanes
FILES = [
    path for path in sorted(SPECS.glob("**/*.yaml")) if path.stem not in REDUNDANT and "contacts" not in path.parts
]
# Its leverage comes and goes between 100 and 210 as the wheels turn, some 40 degrees a step: as where a pose is near,
# such steps are taken alone, with the careful order.
ROLLING = {"bicycle"}
SHORT = {"andrews": 0.01, "arm10": 0.5}  # the rest run for a second, so that the tests are fast
# Steps end at other times, by a rounding, so results differ as those of two good runs do: by errors of the tolerance,
# grown by what the motion itself does with them.
ALIKE = 1e-9


@lru_cache
def problem(name: str, tol: float = 1e-12) -> Prepared:
    path = next(path for path in FILES if path.stem == name)
    spec = read(str(path))
    tend = float(spec.problem.t0) + SHORT.get(name, min(1.0, float(spec.problem.tend) - float(spec.problem.t0)))
    return prepare(adjust(spec, tol=tol, tend=tend))


def starts(prepared: Prepared, factors: Any) -> list[State]:
    """The start of the file, going faster or slower: velocities that are met stay so, but for drives."""
    start = prepared.start
    return [State(start.t, start.positions, start.velocities * factor) for factor in factors]


def many(prepared: Prepared, states: list[State], **settings: Any) -> Many:
    tends = settings.pop("tends", float(prepared.spec.problem.tend))
    tolerance = prepared.spec.solver.tolerance
    arguments = {"tends": tends, "tolerance": tolerance, "reference": prepared.start, **settings}
    return integrate_many(prepared.system, prepared.structure, states, **arguments)


def alone(prepared: Prepared, state: State, **settings: Any) -> Any:
    arguments = {"tend": float(prepared.spec.problem.tend), "tolerance": prepared.spec.solver.tolerance, **settings}
    return integrate(prepared.system, prepared.structure, state, **arguments)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_mechanism_goes_in_lanes_as_alone(path: Path):
    prepared = problem(path.stem)
    t, q, v = prepared.start.t, prepared.start.positions, prepared.start.velocities
    driven = np.any(prepared.system.constraint_rate(t, q, 0 * v))
    states = starts(prepared, [1.0] * 5 if driven else [1.0, 0.97, 0.9, 0.8, 0.5])
    found = many(prepared, states, keep="polynomials")
    scales = prepared.system.scales[: prepared.system.n]
    assert found.finished.all()
    for k, state in enumerate(states):
        solution = alone(prepared, state)
        assert found.t[k] == solution.t[-1]
        assert np.max(np.abs(found.q[k] - solution.q[-1]) / scales) < ALIKE
        # The same step control: as many steps, but for roundings in it.
        assert found.statistics["steps"][k] == pytest.approx(solution.statistics["steps"], rel=0.05, abs=2)
        own = found.solution(k)
        middle = 0.5 * (own.t[0] + own.t[-1])
        assert np.max(np.abs(own.sample(middle)[0] - solution.sample(middle)[0]) / scales) < ALIKE
    # Lanes are for ordinary mechanisms: hardly a step of these files is taken elsewhere.
    ordinary = path.stem not in ROLLING
    assert not ordinary or found.statistics["alone"].sum() <= 0.25 * found.statistics["steps"].sum()


@given(
    name=st.sampled_from(["pendulum", "double_pendulum", "andrews", "arm3_pd", "friction_on_incline", "mechanism1b"]),
    neighbours=st.lists(st.floats(0.3, 1.5), max_size=70),
    place=st.integers(0, 70),
    threads=st.sampled_from([1, 2]),
)
@some_of(25)
def test_neighbours_change_no_bit(name: str, neighbours: list[float], place: int, threads: int):
    prepared = problem(name, 1e-8)
    own = starts(prepared, [0.9])[0]
    others = starts(prepared, neighbours)
    place = min(place, len(others))
    tend = float(prepared.spec.problem.tend)
    single = many(prepared, [own], tends=0.5 * tend)
    ends = tend * np.linspace(0.1, 1.0, len(others))
    between = many(
        prepared,
        [*others[:place], own, *others[place:]],
        tends=[*ends[:place], 0.5 * tend, *ends[place:]],
        threads=threads,
    )
    for column in ("t", "q", "v", "lam"):
        assert np.array_equal(getattr(between, column)[place], getattr(single, column)[0])
    for name, column in between.statistics.items():
        assert column[place] == single.statistics[name][0]


@pytest.mark.parametrize("tolerance", [1e-4, 1e-10])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_who_is_settled_early_waits_unchanged(path: Path, tolerance: float):
    """Beside others that need more corrections, or other ones, or have ended."""
    prepared = problem(path.stem, tolerance)
    t, q, v = prepared.start.t, prepared.start.positions, prepared.start.velocities
    driven = np.any(prepared.system.constraint_rate(t, q, 0 * v))
    random = np.random.default_rng(len(path.stem))
    states = starts(prepared, np.ones(20) if driven else random.uniform(0.2, 2.0, 20))
    ends = t + (float(prepared.spec.problem.tend) - t) * random.uniform(0.05, 1.0, 20)
    together = many(prepared, states, tends=ends)
    for k in (3, 8, 19):
        single = many(prepared, [states[k]], tends=ends[k])
        for column in ("t", "q", "v", "lam"):
            assert np.array_equal(getattr(together, column)[k], getattr(single, column)[0], equal_nan=True)
        for name, column in together.statistics.items():
            assert column[k] == single.statistics[name][0]


ARM = """
Title: an arm whose numbers vary
PhysicalParams: {a: 1.2, m: 0.7, k: 30, g: 9.81}
PartData:
  Fixed: {O: [0, 0], P: [2*a, 0]}
  Rigids:
    OA: {Geom: [[a]], Dyna: [[a/2], m, m*a**2/12]}
    AB: {Geom: [[a/2]], Dyna: [[a/4], 2*m, m*a**2/24]}
  Springs: {PB: {k: k, l: a}}
AppliedForces:
  Gravity: [0, -g]
ProblemData:
  tend: 2
  positions: {A: [a, 0], B: [a, -a/2]}
"""


def varied(parameters: np.ndarray, names: tuple[str, ...]) -> tuple[System, Any, list[Any], Sets]:
    tape = Tape(names)
    living = build(parse(ARM, "arm", {}, {}, tape=tape), noted=False)
    system = System(settled(living))
    numbers = Numbers(tape, living, system)
    problems = [
        prepare(parse(ARM, "arm", dict(zip(names, map(repr, map(float, column)), strict=True))))
        for column in parameters.T
    ]
    return system, problems[0].structure, problems, Sets(numbers, numbers.values(parameters), living)


def test_each_motion_has_parameters_of_its_own():
    parameters = np.array([[30.0, 31.0, 45.0, 12.0, 30.0, 33.0], [0.7, 0.7, 0.9, 0.7, 1.4, 0.2]])
    system, structure, problems, sets = varied(parameters, ("k", "m"))
    ends = np.array([2.0, 1.0, 1.5, 2.0, 0.7, 2.0])
    found = integrate_many(
        system, structure, [each.start for each in problems], tends=ends, tolerance=1e-11, sets=sets, keep="steps"
    )
    for k, each in enumerate(problems):
        solution = integrate(each.system, each.structure, each.start, tend=ends[k], tolerance=1e-11)
        assert np.max(np.abs(found.q[k] - solution.q[-1])) < ALIKE
        assert found.solution(k).system.constants == pytest.approx(each.system.constants)


def test_a_set_that_changes_the_structure_is_a_status_of_its_own():
    system, structure, problems, sets = varied(np.array([[30.0, 0.0, 31.0]]), ("k",))
    states = [problems[0].start] * 3
    found = integrate_many(system, structure, states, tends=0.5, tolerance=1e-10, sets=sets)
    assert found.status == ("finished", "other_structure", "finished")
    assert "read anew" in found.message(1)


def test_a_motion_that_fails_leaves_the_others_alone():
    prepared = problem("double_pendulum")
    good = starts(prepared, [1.0, 0.9])
    broken = State(0.0, prepared.start.positions * np.nan, prepared.start.velocities)
    apart = State(0.0, prepared.start.positions * 1e3, prepared.start.velocities)
    found = many(prepared, [good[0], broken, good[1], apart])
    alone_again = many(prepared, good)
    assert found.status[1] not in ("finished", "interrupted") and found.message(1)
    assert [found.status[0], found.status[2]] == ["finished", "finished"]
    assert np.array_equal(found.q[[0, 2]], alone_again.q)


def test_motions_end_where_they_begin_and_run_backwards():
    prepared = problem("pendulum")
    states = starts(prepared, [1.0, 1.0, 1.0])
    found = many(prepared, states, tends=[0.0, 1.0, -1.0])
    assert np.array_equal(found.t, [0.0, 1.0, -1.0])
    assert found.statistics["steps"][0] == 0
    back = alone(prepared, states[2], tend=-1.0)
    assert np.max(np.abs(found.q[2] - back.q[-1])) < ALIKE


def test_no_motions_are_no_motions():
    found = many(problem("pendulum"), [])
    assert len(found) == 0 and found.finished.all()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", [row, slider_crank, kite])
def test_change_points_are_passed(kind: Any, seed: int):
    """As tests/test_change_points.py: near a flat pose a motion leaves its lane, and the march knows the way."""
    case = kind(seed)
    prepared = prepare(adjust(parse(case.text, "case"), tol=case.tolerance, tend=case.tend))
    found = many(prepared, [prepared.start] * 3)
    place = [found.q[:, prepared.system.labels.index(f"{case.last}_{axis}")] for axis in "xy"]
    assert np.max(np.abs(np.array(place).T - case.place)) / case.size <= 1e4 * case.tolerance + 1e-9


def test_fleets_serve_many_calls_and_keep_the_pivots():
    prepared = problem("four_bar")
    plan = planned(prepared.system, prepared.structure)
    tolerance = prepared.spec.solver.tolerance
    fleets = Fleets(prepared.system, plan, prepared.start, order_for(tolerance, plan), tolerance)
    states = starts(prepared, [1.0, 0.7])
    first = many(prepared, states, fleets=fleets)
    again = many(prepared, states[::-1], fleets=fleets)
    assert np.array_equal(first.q, again.q[::-1])
    assert fleets.width in (4, 8, 16, 32)


def test_what_lanes_cannot_do_is_done_one_by_one():
    prepared = problem("pendulum")
    singular = replace(starts(prepared, [1.0])[0], singular=True)
    found = many(prepared, [*starts(prepared, [1.0]), singular], keep="steps")
    assert found.finished.all()
    assert np.max(np.abs(found.q[0] - found.q[1])) < ALIKE
    assert found.solution(1).status == "finished"
