"""Stages solved by the inverse of a small matrix are those that factors solve, and no other matrix's."""

import math

import numpy as np
import pytest
from reference import SPECS

from mechsim.engine import state_of
from mechsim.engine.leading import planned
from mechsim.engine.machine import new_march
from mechsim.kernel.compiled import Status
from mechsim.simulation import prepare
from mechsim.source import read

FEW_STAGES, MANY_STAGES = 5, 12  # only the latter are worth an inverse (kManyStages in kernel/src/policy.hpp)
NAMES = ("andrews.yaml", "mechanism1a.yaml", "double_pendulum.yaml", "space/tennis_racket.yaml")


def begun(name):
    problem = prepare(read(SPECS / name))
    plan = planned(problem.system, problem.structure)
    return problem, plan, state_of(problem.system, plan.variable_offsets, problem.start)


def expanded(order, problem, plan, state):
    march = new_march(plan, order, 1e-12)
    march.set_state(problem.start.t, state)
    assert march.prepare() == Status.REACHED
    return np.array(march.expand())


@pytest.mark.parametrize("name", NAMES)
def test_both_ways_give_the_same_series(name):
    problem, plan, state = begun(name)
    few, many = (expanded(order, problem, plan, state) for order in (FEW_STAGES, MANY_STAGES))
    # Both have these terms of all unknowns; the inverse rounds by as much more as the matrix is badly conditioned.
    few, many = few[:FEW_STAGES], many[:FEW_STAGES]
    sizes = np.abs(few).max(axis=1, keepdims=True)
    assert np.all(np.abs(many - few) <= 1e-11 * np.maximum(sizes, 1e-300))


def test_a_march_that_is_restored_has_no_inverse_of_what_it_left():
    problem, plan, state = begun("andrews.yaml")
    march = new_march(plan, MANY_STAGES, 1e-8)
    march.set_state(problem.start.t, state)
    march.advance(0.005, 1_000_000, math.inf, False)
    kept = march.snapshot()
    straight = march.advance(0.01, 1_000_000, math.inf, False)[2]
    march.expand()  # with another matrix
    march.restore(kept)
    assert np.array_equal(march.advance(0.01, 1_000_000, math.inf, False)[2], straight)
