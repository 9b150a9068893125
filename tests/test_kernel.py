"""The kernel: series against Cauchy's integral, the compiled kernel against its twin, factorizations, endings."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from reference import SPECS
from reference.expressions import BINARY, UNARY, ComplexNumbers, expressions, series, system_of, traced, value

from mechsim.kernel.compiled import Status, make_march
from mechsim.kernel.plan import make_plan
from mechsim.kernel.system import System
from mechsim.kernel.twin import Twin
from mechsim.lagrangian.kind import Kind
from mechsim.simulation import prepare
from mechsim.source import read
from mechsim.structure import analyse

# Deriving takes some tenths of a second, so examples are few; and always the same, so that a failure is found again.
FEW = settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],  # shrinking would take minutes
    suppress_health_check=list(HealthCheck),
)
ORDER = 12


def planned(system):
    structure = analyse(system)
    return make_plan(system, structure.march_equation_offsets, structure.march_variable_offsets)


def expanded(plan, t, state, order=ORDER, dtype=np.float64):
    """Coefficients (degree, unknown) by the compiled kernel and by its twin, from the same consistent state."""
    march = make_march(plan, order=order, tolerance=1e-12, safety=1.0, rejection=1.0)
    orders = int(plan.variable_offsets.max())
    consistent = np.asarray(state, dtype=float)[:orders]
    for _ in range(8):  # a march starts close to its constraints; what is far from them comes closer each time
        march.set_state(t, np.ascontiguousarray(consistent))
        status = march.prepare()
        consistent = np.array(march.expand()[:orders])  # values and rates
    assert status == Status.REACHED
    twin = Twin(plan, order, dtype)
    twin.set_state(t, consistent)
    return march.expand(), twin.expand()


def assert_same_series(compiled, twin, limit=1e-12, step=0.1):
    """Terms over a step, compared with the largest of all: rounding of each stage enters the next ones, growing."""
    terms = step ** np.arange(len(twin))[:, None]
    difference = np.abs(compiled - twin) * terms
    assert difference.max() <= limit * max(np.abs(twin * terms).max(), 1.0)


# --- every operation, against Cauchy's integral


def assert_integrates(tree):
    """s' = f(t) has coefficients s_{n+1} = f_n / (n + 1), where f is the expression of t."""
    kind = Kind(
        "integral", ("s",), rates=lambda x, v, t, p: [traced(tree, t=t) + 0.0 * t], state_count=1, cacheable=False
    )
    point = 0.4
    for found in expanded(planned(system_of(kind, 1)), point, [[0.0]]):
        exact = series(lambda z: value(tree, ComplexNumbers(), t=z), point, ORDER)
        scales = 0.25 ** np.arange(ORDER)
        # The oracle's circle has radius 1/4: terms on it are at most max |f|, and rounding is relative to that.
        limit = 1e-13 * max(1.0, np.abs(exact * scales).max())
        np.testing.assert_allclose(found[1:, 0] * np.arange(1, ORDER + 1) * scales, exact * scales, rtol=0, atol=limit)


@pytest.mark.parametrize("name", UNARY)
def test_a_function_of_time_has_its_taylor_series(name):
    assert_integrates((name, ("sin", "t")))


@pytest.mark.parametrize("name", BINARY)
def test_a_function_of_two_has_its_taylor_series(name):
    assert_integrates((name, ("exp", "t"), ("cos", "t")))


@FEW
@given(expressions(["t"]))
def test_any_expression_of_time_has_its_taylor_series(tree):
    assert_integrates(tree)


# --- the compiled kernel against its twin, where stages find what operations are waiting for


def residual_along(system, coefficients, t, step):
    """The equations' residual at t + step, from the polynomials alone: no recurrence has a say in it."""
    n = system.n
    values = [np.polynomial.polynomial.polyval(step, derivative) for derivative in _derivatives(coefficients)]
    return system.residuals(t + step, *(x[:n] for x in values), values[0][n:])


def _derivatives(coefficients):
    first = np.polynomial.polynomial.polyder(coefficients)
    return coefficients, first, np.polynomial.polynomial.polyder(first)


def assert_solves(system, t, state, limit=1e-12):
    """Compiled kernel and twin agree, and their polynomials satisfy the equations up to the terms left out."""
    plan = planned(system)
    compiled, twin = expanded(plan, t, state)
    assert np.all(np.isfinite(twin))
    assert_same_series(compiled, twin, limit)
    # Residuals of an order-p expansion are of order h^p: a factor 2^p between two steps, while above rounding.
    size = max(1.0, np.abs(twin).max())
    near, far = (np.abs(residual_along(system, compiled, t, h)).max() / size for h in (0.01, 0.02))
    assert near <= 1e-12 + 2.0 ** (2 - ORDER) * far


@pytest.mark.parametrize("name", sorted(UNARY | BINARY))
def test_every_operation_may_wait_for_the_velocity_it_determines(name):
    """s' = a + f(s' + s)/10 is implicit: Newton at stage 0, then corrections of every operation of f."""
    operands = [("add", "v", "s"), ("multiply", "v", "s")][: 1 if name in UNARY else 2]

    def rates(x, v, t, p):
        return [p.a + 0.1 * traced((name, *operands), v=v[0], s=x[0])]

    kind = Kind("implicit", ("s",), ("a",), rates=rates, state_count=1, cacheable=False)
    system = system_of(kind, 5, [np.linspace(0.2, 0.9, 5)])
    assert_solves(system, 0.0, [np.linspace(-0.5, 0.5, 5)])


@pytest.mark.parametrize("name", sorted(UNARY | BINARY))
def test_every_operation_may_stand_in_a_constraint(name):
    """y = f(x, t): operations run two coefficients ahead of the rows, and reactions use their gradients."""
    tree = (name, *["x", ("multiply", "x", "t")][: 1 if name in UNARY else 2])
    kind = Kind(
        "guide",
        ("x", "y"),
        ("a",),
        kinetic=lambda x, v, t, p: v[0] ** 2 / 2 + p.a * v[1] ** 2,
        potential=lambda x, t, p: x[1],
        constraints=lambda x, t, p: [x[1] - traced(tree, x=x[0], t=t)],
        constraint_count=1,
        cacheable=False,
    )
    system = system_of(kind, 3, [np.array([0.5, 1.0, 2.0])])
    state = np.zeros((2, system.n + system.m))
    for lane, (x, u) in enumerate([(0.3, 0.5), (-0.2, 1.0), (0.7, -0.4)]):
        # y and y' on the guide, from its series along x = x0 + u (t - 0.2)
        path = series(lambda z, x=x, u=u: value(tree, ComplexNumbers(), x=x + u * (z - 0.2), t=z), 0.2, 2)
        state[:, 2 * lane], state[:, 2 * lane + 1] = (x, u), path
    assert_solves(system, 0.2, state)


def test_a_sum_of_what_is_known_and_what_is_waited_for():
    """s' + s in a sine, where a constraint on s makes its series run ahead: the sum is not zero before the solve."""
    kind = Kind(
        "follower",
        ("y", "s"),
        kinetic=lambda x, v, t, p: v[0] ** 2 / 2,
        constraints=lambda x, t, p: [x[0] - x[1]],
        constraint_count=1,
        rates=lambda x, v, t, p: [0.3 + 0.2 * traced(("sin", ("add", "u", "s")), u=v[1], s=x[1])],
        state_count=1,
        cacheable=False,
    )
    assert_solves(system_of(kind, 1), 0.0, [[0.3, 0.3, 0.0], [0.4, 0.4, 0.0]])


@FEW
@given(
    energy=expressions(["x", "y", "t"]),
    inertia=expressions(["x", "y", "t"]),
    guide=expressions(["x", "t"]),
    rate=expressions(["x", "y", "s", "u", "t"]),
    lanes=st.integers(1, 6),
)
def test_any_mixture_agrees_with_the_twin(energy, inertia, guide, rate, lanes):
    """A mass matrix that depends on q and t, a guide, a state of its own; some lanes share or lack a variable."""

    def kinetic(x, v, t, p):
        factor = 1.5 + 0.3 * traced(("sin", inertia), x=x[0], y=x[1], t=t)
        return factor * (v[0] + 0.2 * t * x[0]) ** 2 / 2 + p.a * (v[1] ** 2 + v[2] ** 2) + 0.2 * v[1] * v[2]

    kind = Kind(
        "mixture",
        ("x", "y", "z", "s"),
        ("a",),
        kinetic=kinetic,
        potential=lambda x, t, p: traced(energy, x=x[0], y=x[1], t=t) + x[2],
        constraints=lambda x, t, p: [x[2] - traced(guide, x=x[0], t=t)],
        constraint_count=1,
        rates=lambda x, v, t, p: [traced(("sin", rate), x=x[0], y=x[1], s=x[3], u=v[0], t=t)],
        state_count=1,
        cacheable=False,
    )
    slots = [list(range(4 * i, 4 * i + 4)) for i in range(lanes)]
    slots[-1][1] = -1  # the last one's y is fixed in the world
    if lanes > 2:
        slots[1][1] = slots[0][1]  # two share their y
    used = sorted({s for row in slots for s in row if s >= 0})
    slots = [[used.index(s) if s >= 0 else s for s in row] for row in slots]
    system = compact(kind, lanes, slots, len(used))
    state = np.zeros((2, system.n + system.m))
    state[:, : system.n] = np.random.default_rng(lanes).uniform(-0.5, 0.5, (2, system.n))
    assert_solves(system, 0.3, state, limit=1e-11)


def compact(kind, lanes, slots, count):
    """The system with only the variables that the slots name."""
    whole = system_of(kind, lanes, [np.linspace(0.6, 1.4, lanes)], [0.35], slots)
    states = {row[-1] for row in slots}
    variables = tuple(
        replace(whole.mechanism.variables[3 if i in states else 0], label=f"q{i}", owner=f"q{i}") for i in range(count)
    )
    return System(replace(whole.mechanism, variables=variables), {kind.name: kind})


# What is redundant is left out before a kernel sees it, and what stands still has no series.
OTHERS = {"bricard", "crane", "door", "five_bar", "shelf", "tripod"}
FILES = [path for path in sorted(SPECS.rglob("*.yaml")) if path.stem not in OTHERS and "contacts" not in path.parts]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_twin_and_the_compiled_kernel_agree_on_every_spec(path):
    assert_twin_agrees(prepare(read(path)), 17)


def assert_twin_agrees(prepared, order):
    system, start = prepared.system, prepared.start
    state = np.zeros((2, system.n + system.m))
    state[:, : system.n] = start.positions, start.velocities
    compiled, twin = expanded(planned(system), start.t, state, order=order)
    # Terms over a step that the kernel itself would take: the last one is then 1e-14 of the first, or less.
    last = np.abs(twin[-1, : system.n] / system.scales[: system.n]).max()
    assert_same_series(
        compiled / system_scales(system), twin / system_scales(system), 1e-12, (1e-14 / last) ** (1 / (order + 1))
    )


@pytest.mark.parametrize("rods", [124, 128, 130])
def test_rows_that_are_longer_than_their_instances_agree_with_the_twin(rods):
    """128 instances would crowd in the cache, so that their rows have one line more; others fill vectors only."""
    names = ", ".join(f"P{i}P{i + 1}" for i in range(rods))
    places = ", ".join(f"P{i}: [{i}, {0.3 * (i % 2)}]" for i in range(1, rods + 1))
    text = f"""
PartData:
  Fixed: {{P0: []}}
  Rigids:
    ? {names}
    : {{Geom: [[1.044]], Dyna: [[0.5], 1, 0.1]}}
AppliedForces: {{Gravity: [0, -9.81]}}
ProblemData: {{tend: 1, positions: {{{places}}}}}
"""
    assert_twin_agrees(prepare(read(text)), 7)  # from rest there are even powers only


def system_scales(system):
    return np.where(np.arange(system.n + system.m) < system.n, system.scales, 1e4)


UNUSUAL = {
    "a follower force, whose work is a state": """
PartData:
  Fixed: {O: []}
  Rigids: {OA: {Geom: [[1]], Dyna: [[0.4, 0.1], 2, 0.3]}, ABC: {Geom: [[1], [0.5, 0.4]], Dyna: [[0.5, 0.2], 1, 0.1]}}
AppliedForces: {Gravity: , ConstForces: {ABC.C: [3, -1], OA.A: [0, 2]}, ConstTorques: {ABC-OA: 0.7}}
ProblemData: {tend: 1, positions: {A: [0.6, -0.8], B: [1.2, -1.6]}, velocities: {A: [0.8, 0.6]}}
""",
    "a third bar, whose constraint is redundant": """
PartData:
  Fixed: {O: [], Q: [2], R: [1]}
  Rigids:
    OA, QB, RC: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}
    ABC: {Geom: [[2], [1]], Dyna: [[1], 4, 1]}
AppliedForces: {Gravity: }
ProblemData: {tend: 1, positions: {A: [0.6, -0.8], B: [2.6, -0.8], C: [1.6, -0.8]}, velocities: {A: [0.8, 0.6]}}
""",
    "a slider in a slot, and points without mass of their own": """
PartData:
  Fixed: {O: [], R: [1]}
  Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}, AB: {Geom: [[3]]}}
  Particles: {B: 2}
  Collinear: [ORB]
ProblemData: {tend: 1, positions: {A: [0.1, 1], B: [2.8]}, rates: {OA: [2, fixed]}}
""",
}


@pytest.mark.parametrize("text", UNUSUAL.values(), ids=UNUSUAL)
def test_unusual_structures_agree_with_the_twin_too(text):
    prepared = prepare(read(text))
    system, start = prepared.independent, prepared.start  # the twin knows no constraints that rest
    state = np.zeros((2, system.n + system.m))
    state[:, : system.n] = start.positions, start.velocities
    assert_solves(system, 0.0, state)
