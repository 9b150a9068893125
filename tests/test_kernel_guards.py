"""A plan that does not fit the kernel is refused when read. `make sanitize` sees that none leads out of memory."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reference import SPECS

from mechsim.kernel import _kernel
from mechsim.kernel.compiled import _blocks
from mechsim.kernel.plan import make_plan
from mechsim.simulation import prepare
from mechsim.source import read

ORDER = 6
BLOCK = ("lanes", "constants", "inputs", "unknowns", "operations", "outputs", "terms", "rows", "no_row")
LEAD = {"operations": 6, "outputs": 0}  # the column of each table that says how far it runs ahead


@pytest.fixture(scope="module")
def plan():
    """Of a mechanism with a drive, so that there are formulas too."""
    prepared = prepare(read(SPECS / "forces" / "driven_slider_crank.yaml"))
    offsets = prepared.structure.march_equation_offsets, prepared.structure.march_variable_offsets
    return make_plan(prepared.system, *offsets)


def told(plan):
    own = [plan.size, plan.equation_offsets, plan.variable_offsets, plan.scales, plan.constants, plan.matrix_rows]
    own += [plan.matrix_columns, plan.matrix_constant, plan.spare, plan.redundant]
    own += [ORDER, ORDER, 1e-10, 1.0, 0.0, 0.0, 1.0]
    return own, [list(block) for block in _blocks(plan)]


def march(own, blocks):
    found = _kernel.March(*own)
    for block in blocks:
        found.add_block(*block)
    found.ready()
    return found


def used(own, blocks):
    """Whatever the numbers are, a march that was accepted can be asked."""
    found = march(own, blocks)
    found.set_state(0.0, np.zeros((max(*own[1], *own[2]), own[0])))
    found.prepare()
    found.expand()
    found.advance(1e-3, 2, 1.0, True)


def test_the_plan_itself_fits(plan):
    used(*told(plan))


@pytest.mark.parametrize("place", range(1, 10))
def test_a_block_with_too_few_columns_is_refused(plan, place):
    own, blocks = told(plan)
    if isinstance(blocks[0][place], np.ndarray):
        blocks[0][place] = np.ascontiguousarray(blocks[0][place][..., :-1])
        with pytest.raises(ValueError, match="the plan does not fit the kernel"):
            march(own, blocks)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ((0, lambda size: size + 1), "offsets and scales"),
        ((1, lambda offsets: offsets + 8), "differentiates too often"),
        ((1, lambda offsets: offsets - 9), "differentiates too often"),
        ((5, lambda rows: rows + 100), "outside of the matrix"),
        ((7, lambda matrix: matrix[:-1]), "entries have a row"),
        ((9, lambda redundant: 1), "more rows rest"),
        ((10, lambda order: 126), "the order is beyond"),
        ((10, lambda order: 0), "the order is beyond"),
    ],
)
def test_a_plan_that_is_too_large_or_incomplete_is_refused(plan, change, words):
    own, blocks = told(plan)
    place, changed = change
    own[place] = changed(own[place])
    with pytest.raises(ValueError, match=words):
        march(own, blocks)


@pytest.mark.parametrize("table", ["operations", "outputs"])
def test_what_makes_the_matrix_has_one_coefficient(plan, table):
    """Nothing there runs ahead: its rows hold degree 0 alone."""
    own, blocks = told(plan)
    place = BLOCK.index(table)
    block = next(block for block in blocks if block[-2] and block[place].size)
    block[place] = block[place].copy()
    block[place][0, LEAD[table]] = 1
    with pytest.raises(ValueError, match="runs too far ahead"):
        march(own, blocks)


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_number_in_any_table_is_refused_or_harmless(plan, data):
    own, blocks = told(plan)
    block = data.draw(st.sampled_from(blocks))
    place = data.draw(st.sampled_from([BLOCK.index(name) for name in BLOCK[2:8]]))
    table = block[place] = block[place].copy()
    if table.size:
        spot = data.draw(st.integers(0, table.size - 1))
        table.flat[spot] = data.draw(st.sampled_from([-(2**31), -1000, -2, -1, 0, 1, 2, 3, 7, 50, 1000, 2**31 - 1]))
    try:
        used(own, blocks)
    except ValueError as refused:
        assert "the plan does not fit the kernel" in str(refused)


def test_a_march_that_is_not_ready_or_asked_wrongly_says_so(plan):
    own, blocks = told(plan)
    empty = _kernel.March(*own)
    for ask in (empty.prepare, empty.expand, lambda: empty.advance(1.0, 1, 1.0, False)):
        with pytest.raises(ValueError, match="not ready"):
            ask()
    ready = march(own, blocks)
    with pytest.raises(ValueError, match="lacks derivatives"):
        ready.set_state(0.0, np.zeros((1, own[0])))
    with pytest.raises(ValueError, match="no such constant"):
        ready.set_constant(len(own[4]), 1.0)
    with pytest.raises(ValueError, match="states have a row"):
        ready.project(np.zeros(2), np.zeros((1, 2, own[0])))
    with pytest.raises(ValueError, match="after the march is ready"):
        ready.add_block(*blocks[0])


def test_patterns_outside_of_their_matrix_are_refused():
    numbers = np.array([0, 5], dtype=np.int32)
    for ask in (
        lambda: _kernel.transversal(2, numbers, numbers, numbers),
        lambda: _kernel.strong_components(2, numbers, numbers),
    ):
        with pytest.raises(ValueError, match="outside of the matrix"):
            ask()
