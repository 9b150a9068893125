"""Levenberg's method is one method, for one start and for many, dense and sparse."""

from dataclasses import replace

import numpy as np
import pytest
from reference import SPECS

from mechsim.initial import levenberg
from mechsim.initial.assembly import all_positions
from mechsim.initial.closure import velocity_closure
from mechsim.initial.levenberg import NEARLY_CLOSED, approach, ends_of
from mechsim.kernel.system import System
from mechsim.model import build
from mechsim.model.placement import guess_positions
from mechsim.spec import read


@pytest.fixture(scope="module")
def andrews():
    spec = read(SPECS / "andrews.yaml")
    mechanism = build(spec)
    guess = guess_positions(mechanism, spec.problem)
    closure = all_positions(mechanism, System(mechanism), spec.problem, guess)
    noise = np.random.default_rng(1).standard_normal((12, len(closure.free)))
    return closure, [closure.moved(guess, 0.1 * each) for each in noise]


def test_many_starts_lead_where_each_leads_alone(andrews):
    closure, starts = andrews
    ends = ends_of(closure, starts, levenberg.ITERATIONS)
    assert sum(size <= NEARLY_CLOSED for _, size in ends) > len(starts) / 2
    for start, (end, size) in zip(starts, ends, strict=True):
        alone = approach(closure, start)
        if size <= NEARLY_CLOSED:  # one start is followed further: from a residual of this size it moves as much
            assert np.abs((end - alone) / closure.scales).max() < 10 * NEARLY_CLOSED


def test_starts_do_not_see_each_other(andrews):
    closure, starts = andrews
    backwards = ends_of(closure, starts[::-1], 40)[::-1]
    for (end, size), (other, other_size) in zip(ends_of(closure, starts, 40), backwards, strict=True):
        assert np.array_equal(end, other) and size == other_size


def test_the_sparse_step_is_the_dense_one(andrews, monkeypatch):
    closure, starts = andrews
    dense = [approach(closure, start) for start in starts]
    monkeypatch.setattr(levenberg, "DENSE_LIMIT", 0)
    for start, end in zip(starts, dense, strict=True):
        if np.abs(closure.residual(end)).max() > levenberg.CLOSELY:
            continue
        # Damping differs where gradients have grown, so the way does; both end on the constraints.
        assert np.abs(closure.residual(approach(closure, start))).max() <= NEARLY_CLOSED


def test_what_contradicts_itself_is_left_where_it_is_least(andrews):
    """Linear equations of which none can be met: everything that could move is held."""
    spec = read(SPECS / "andrews.yaml")
    mechanism = build(spec)
    system = System(mechanism)
    q = guess_positions(mechanism, spec.problem)
    rates = velocity_closure(system, 0.0, q, np.ones(system.n), np.arange(system.n))
    v = np.random.default_rng(2).standard_normal(system.n)
    held = rates.restricted(np.arange(1), rates.rows)
    for closure in (held, rates.restricted(np.arange(0), rates.rows)):
        found = approach(closure, v)
        assert np.array_equal(found[1:], v[1:])
        assert np.linalg.norm(closure.residual(found)) <= np.linalg.norm(closure.residual(v))
    slope = held.dense_jacobian(v)[:, 0] @ held.residual(approach(held, v))
    # A promised decrease of the share 1e-7 ends the search, and that is the square of the slope's share.
    assert abs(slope) < np.sqrt(2 * levenberg.STATIONARY) * np.linalg.norm(held.residual(v))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_equations_without_a_slope_end_the_way(andrews, bad, monkeypatch):
    """Dense or sparse, nothing is raised, and the start is given back."""
    closure, starts = andrews
    broken = replace(closure, jacobian_of=lambda q: _spoilt(closure.jacobian_of(q), bad), jacobians_of=None)
    with np.errstate(all="ignore"):
        assert np.array_equal(approach(broken, starts[0]), starts[0])
        monkeypatch.setattr(levenberg, "DENSE_LIMIT", 0)
        assert np.array_equal(approach(broken, starts[0]), starts[0])


def _spoilt(jacobian, bad):
    rows, columns, values = jacobian
    return rows, columns, np.where(np.arange(len(values)) == 0, bad, values)
