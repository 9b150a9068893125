"""What a plan makes of derived programs: nothing of what stands still, rates of products, components as lanes.

Each is another way to compute the same numbers, so each is held against the program as it was derived, on series of no
special kind, and in marches. Programs differ by the order of sums and by products that are made once instead of twice:
some roundings of the largest term.
"""

import math

import numpy as np
import pytest
from examples import some_of
from hypothesis import given
from hypothesis import strategies as st

import mechsim
from mechsim.derive import program_for
from mechsim.derive.program import LINEAR, Input, Operation, Output, Program
from mechsim.engine.leading import planned
from mechsim.engine.machine import new_march
from mechsim.engine.state import state_of
from mechsim.kernel.components import WIDTH, rolled
from mechsim.kernel.plan import make_plan
from mechsim.kernel.rates import with_rates
from mechsim.kernel.twin import Twin, coefficient
from mechsim.lagrangian import kind_named
from mechsim.simulation import prepare
from mechsim.spec import parse

DEGREES = 9
ROUNDINGS = 1e-13  # of sums of some hundred products of numbers of about 1

TOP = """
Dimension: 3
PartData:
  Fixed: {O: []}
  Rigids: {OAB: {Geom: [[1], [0, 1]], Dyna: [[0.1, 0.8], 3, [0.2, 0.4, 0.3]]}}
ProblemData:
  tend: 1
  orientations: {OAB: [{axis: [0, 1, 0.3], angle: 0.4}, fixed]}
  spins: {OAB.OAB: [[3, 20, -4], fixed]}
SolverParams: {Integration: {tol: 1e-12}}
"""
TWO = """
Dimension: 3
PartData:
  Fixed: {O: []}
  Rigids:
    OAB: {Geom: [[1], [0, 1]], Dyna: [[0.1, 0.8], 3, [0.2, 0.4, 0.3]]}
    BCD: {Geom: [[1], [0, 1]], Dyna: [[0.3, 0.2], 2, [0.2, 0.4, 0.3]]}
ProblemData:
  tend: 1
  orientations: {OAB: [{axis: [0, 1, 0.3], angle: 0.4}, fixed], BCD: {axis: [1, 1, 0.3], angle: 1.4}}
  spins: {OAB.OAB: [[3, 9, -4], fixed], BCD: [1, 2, 3]}
SolverParams: {Integration: {tol: 1e-12}}
"""
# Its centroid stands beside the plane of its points: rows have vector products, whose components do not go alike.
BESIDE = TOP.replace("[0.1, 0.8], 3", "[0.1, 0.8, 0.2], 3").replace("[0.2, 0.4, 0.3]", "[1.2, 1.4, 1.3]")
FILES = {"a top": TOP, "two bodies": TWO, "a body beside its points": BESIDE}


def series_of(inputs, seed, still=()):
    """(input, degree): series of variables and their derivatives, and of all else."""
    rng = np.random.default_rng(seed)
    known, found = {}, []
    for number, source in enumerate(inputs):
        own = known.setdefault((source.kind, source.index), rng.normal(size=DEGREES + 3))
        if number in still:
            own[1:] = 0
        factors = [math.perm(n + source.order, source.order) for n in range(DEGREES + 1)]
        found.append(own[source.order : source.order + DEGREES + 1] * factors)
    return np.array(found)


def outputs_of(program, series, constants):
    """(output, degree); a lane of its own for each column of the constants."""
    count, lanes = len(program.inputs), constants.shape[1]
    registers = np.zeros((count + len(program.operations), DEGREES + 1, lanes))
    registers[:count] = series if series.ndim == 3 else series[:, :, None]
    for own, operation in enumerate(program.operations, count):
        last = DEGREES if operation.name == "rate" else DEGREES + 1  # of a rate one degree less is known
        for n in range(last):
            registers[own, n] = coefficient(operation, registers, own, n, constants)
    found = np.zeros((len(program.outputs), DEGREES, lanes))
    for row, output in enumerate(program.outputs):
        for constant, register in output.terms:
            found[row] += constants[constant] * registers[register, :DEGREES]
        if output.constant >= 0:
            found[row, 0] += constants[output.constant]
    return found


def body_rows():
    kind = kind_named("spatial_body", 3)
    program = program_for(kind).restrict(lambda key: key[0] == "row")
    return kind, program, program.constant_table(np.random.default_rng(3).normal(size=(len(kind.parameters), 1)))


@given(seed=st.integers(0, 10**6), fixed=st.sets(st.integers(0, 8), max_size=6))
@some_of(30)
def test_what_stands_still_is_left_out(seed, fixed):
    _, program, constants = body_rows()
    still = [i for i, source in enumerate(program.inputs) if source.index in fixed and source.order > 0]
    constant = {i for i, source in enumerate(program.inputs) if source.index in fixed}
    series = series_of(program.inputs, seed, constant)
    found = program.where_zero(still)
    kept = [program.inputs.index(source) for source in found.inputs]
    expected = outputs_of(program, series, constants)
    assert np.allclose(
        outputs_of(found, series[kept], constants), expected, rtol=0, atol=ROUNDINGS * abs(expected).max()
    )
    subtracted_from = {
        o.a for o in found.operations if o.name == "subtract"
    }  # nothing less something stays a difference
    assert all(kept.index(i) in subtracted_from for i in set(still) & set(kept))
    assert len(found.operations) <= len(program.operations)


@given(seed=st.integers(0, 10**6))
@some_of(30)
def test_rates_of_products_are_what_leibniz_wrote_out(seed):
    _, program, constants = body_rows()
    found = with_rates(program, lambda source: False)
    kept = [program.inputs.index(source) for source in found.inputs]
    series = series_of(program.inputs, seed)
    expected = outputs_of(program, series, constants)
    assert np.allclose(
        outputs_of(found, series[kept], constants), expected, rtol=0, atol=ROUNDINGS * abs(expected).max()
    )
    products = [sum(o.name not in LINEAR for o in each.operations) for each in (program, found)]
    assert products[1] < products[0]


@given(data=st.data())
@some_of(60)
def test_rates_are_found_in_any_program(data):
    """Sums of products of three variables and their rates, at random: pairs that are no rates must stay."""
    inputs = tuple(Input("variable", index, order) for index in range(3) for order in range(3))
    operations: list[Operation] = []
    for _ in range(data.draw(st.integers(1, 12))):
        register = st.integers(0, len(inputs) + len(operations) - 1)
        name = data.draw(st.sampled_from(["multiply", "multiply", "add", "subtract", "square"]))
        b = -1 if name == "square" else data.draw(register)
        operations.append(Operation(name, data.draw(register), b))
    register = st.integers(0, len(inputs) + len(operations) - 1)
    terms = data.draw(st.lists(st.tuples(st.integers(0, 1), register), min_size=1, max_size=6))
    program = Program(inputs, (("value", 1.0), ("value", -2.0)), tuple(operations), (Output(("row", 0), tuple(terms)),))
    constants = np.array([[1.0], [-2.0]])
    found = with_rates(program, lambda source: source.index == 2)
    series = series_of(inputs, 5, {6, 7, 8})
    kept = [inputs.index(source) for source in found.inputs]
    expected = outputs_of(program, series, constants)
    size = max(1.0, abs(outputs_of(program, abs(series), abs(constants))).max())
    assert np.allclose(outputs_of(found, series[kept], constants), expected, rtol=0, atol=ROUNDINGS * size)


def test_a_body_on_its_plane_is_three_products():
    """d' e, whose total is the rate of twist w; w e' and w d, of which the rate is what the rows have."""
    prepared = prepare(parse(TOP, "top.yaml"))
    body, lengths = planned(prepared.system, prepared.structure).blocks
    assert [o.name for o in body.program.operations].count("multiply") == 3
    assert {"total", "rate"} <= {o.name for o in body.program.operations}
    assert body.lanes == WIDTH and body.written_out is not None and lengths.written_out is None


def test_vector_products_are_not_laid_side_by_side():
    kind, program, _ = body_rows()
    assert rolled(program, 3, kind.component_count // 3) is None


def march_of(plan, prepared, order=16):
    march = new_march(plan, order, 1e-12)
    march.set_state(prepared.start.t, state_of(prepared.system, plan.variable_offsets, prepared.start))
    return march


@pytest.mark.parametrize("file", FILES)
def test_series_are_those_of_the_program_written_out(file):
    """In the kernel, in its twin, and in the twin with extended precision."""
    prepared = prepare(parse(FILES[file], "body.yaml"))
    plan = planned(prepared.system, prepared.structure)
    state = state_of(prepared.system, plan.variable_offsets, prepared.start)
    found = []
    for each, dtype in ((plan, float), (plan, np.longdouble), (plan.written_out, np.longdouble)):
        twin = Twin(each, 16, dtype)
        twin.set_state(prepared.start.t, state)
        found.append(twin.expand().astype(np.longdouble))
    for each in (plan, plan.written_out):
        march = march_of(each, prepared)
        march.prepare()
        found.append(march.expand()[:, : plan.size].astype(np.longdouble))
    reach = 0.03 ** np.arange(len(found[2]))[:, None]  # about a step of it
    size = np.abs(found[2] * reach).max()
    assert np.abs((found[1] - found[2]) * reach).max() < 1e-17 * size
    for other in (found[0], found[3], found[4]):
        # A coefficient is a sum of terms of 2^n its size: some thousand roundings where n is 16.
        assert np.abs((other - found[2]) * reach).max() < 1e-13 * size


@pytest.mark.parametrize("file", FILES)
def test_tangents_are_those_of_the_program_written_out(file, monkeypatch):
    """By parameters in all constants of the body; both are followed to 1e-12, relative to what they are."""
    text = FILES[file].replace("], 3, [0.2, 0.4, 0.3]", "], m, [0.2, J, 0.3]") + "PhysicalParams: {m: 3, J: 0.4}\n"
    if "beside" in file:
        text = text.replace("], 3, [1.2, 1.4, 1.3]", "], m, [1.2, J, 1.3]").replace("J: 0.4", "J: 1.4")

    def derivatives():
        motion = mechsim.mechanism(text).simulate(tend=0.5, tangents=["m", "J"])
        names = motion.derivative("m", 0.5)
        return np.array([[motion.derivative(name, 0.5)[column] for column in names] for name in ("m", "J")])

    found = derivatives()
    monkeypatch.setattr("mechsim.engine.leading.make_plan", lambda *given: make_plan(*given).written_out)
    expected = derivatives()
    assert np.isfinite(found).all() and abs(expected).max() > 0.1
    assert np.abs(found - expected).max() < 1e-10 * np.abs(expected).max()
