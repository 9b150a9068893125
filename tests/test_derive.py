"""Derivation: rows against Euler and Lagrange written out, structural zeros, simplification, the cache on disk."""

import json
import multiprocessing
from itertools import pairwise
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from reference import SPECS
from reference.expressions import expressions, in_complex_numbers, system_of, traced

import mechsim
from mechsim.derive import cache, program_for
from mechsim.derive.emitter import Emitter
from mechsim.derive.graph import Graph
from mechsim.derive.program import Input, from_document, to_document
from mechsim.errors import MechsimError
from mechsim.kernel import system as system_module
from mechsim.kernel.evaluate import evaluate
from mechsim.lagrangian import kind_named
from mechsim.lagrangian.kind import Kind

FEW = settings(
    max_examples=6,  # deriving takes some tenths of a second
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def keys(program, name):
    return {output.key[1:] for output in program.outputs if output.key[0] == name}


def zeros(kind, *names):
    return frozenset(kind.parameters.index(name) for name in names)


# --- the equations


@FEW
@given(
    inertia=expressions(["x", "y", "t"]), coupling=expressions(["x", "y"]), guide=expressions(["x", "t"]),
)  # fmt: skip
def test_rows_are_euler_and_lagrange_written_out(inertia, coupling, guide):
    """row = d/dt dL/dv - dL/dx + lam dC/dx, where the derivatives are found without JAX."""

    def kinetic(x, v, t, p):
        return (2 + traced(inertia, x=x[0], y=x[1], t=t)) * v[0] ** 2 + v[0] * v[1] * traced(coupling, x=x[0], y=x[1])

    def potential(x, t, p):
        return p.k * traced(coupling, x=x[1], y=x[0]) ** 2 + t * x[0]

    def constraints(x, t, p):
        return [x[1] * 0.5 - traced(guide, x=x[0], t=t)]

    kind = Kind("any", ("x", "y"), ("k",), kinetic=kinetic, potential=potential, constraints=constraints,
                constraint_count=1, cacheable=False)  # fmt: skip
    system = system_of(kind, 1, [[1.3]])
    numbers = Values(kinetic, potential, constraints, SimpleNamespace(k=1.3))
    x, v, a, t, lam = np.array([0.3, -0.7]), np.array([0.9, 0.4]), np.array([-0.2, 0.8]), 0.6, 1.7
    # Cauchy's integral is right to 1e-14 of the largest value on its circle, which is below 100 here.
    near = {"rtol": 0, "atol": 1e-11}
    gradient = numbers.gradient(x, t)
    np.testing.assert_allclose(
        system.residuals(t, x, v, a, [lam])[:2], numbers.rows(x, v, a, t) + lam * gradient, **near
    )
    np.testing.assert_allclose(system.constraint_rate(t, x, v), [numbers.along(x, v, t)[1]], **near)
    found = np.zeros((2, 2))
    np.add.at(found, system.constraint_jacobian(t, x)[:2], system.constraint_jacobian(t, x)[2])
    np.testing.assert_allclose(found[0], gradient, **near)
    accelerations, multipliers = system.accelerations(t, x, v)
    curvature = 2 * numbers.along(x, v, t)[2]
    np.testing.assert_allclose(gradient @ accelerations, -curvature, **near)
    np.testing.assert_allclose(numbers.rows(x, v, accelerations, t), -multipliers[0] * gradient, **near)


class Values:
    """Derivatives of a kind's functions by Cauchy's integral, in complex NumPy: no JAX, no recurrence.

    The functions are written with `traced`, which looks up its namespace when called.
    """

    def __init__(self, kinetic, potential, constraints, p):
        self.lagrangian = in_complex_numbers(lambda x, v, t: kinetic(x, v, t, p) - potential(x, t, p))
        self.constraint = in_complex_numbers(lambda x, t: constraints(x, t, p)[0])

    def rows(self, x, v, a, t):
        """d/dt dL/dv - dL/dx: coefficient s e of L along the motion with v_j + e, less e with x_j + e."""
        found = []
        for unit in np.eye(len(x)):
            mixed = coefficients(
                lambda s, e, u=unit: self.lagrangian(
                    [xi + vi * s + ai * s**2 / 2 for xi, vi, ai in zip(x, v, a, strict=True)],
                    [vi + ai * s + ui * e for vi, ai, ui in zip(v, a, u, strict=True)],
                    t + s,
                )
            )[1, 1]
            slope = coefficients(
                lambda s, e, u=unit: self.lagrangian([xi + ui * e for xi, ui in zip(x, u, strict=True)], v, t)
            )[0, 1]
            found.append(mixed - slope)
        return np.array(found)

    def gradient(self, x, t):
        def moved(unit):
            return lambda s, e: self.constraint([xi + ui * e for xi, ui in zip(x, unit, strict=True)], t)

        return np.array([coefficients(moved(unit))[0, 1] for unit in np.eye(len(x))])

    def along(self, x, v, t):
        """Taylor coefficients of the constraint along x + v s."""
        return coefficients(lambda s, e: self.constraint([xi + vi * s for xi, vi in zip(x, v, strict=True)], t + s))[
            :, 0
        ]


def coefficients(function, radius=0.2, count=32):
    """c[i, j] of s^i e^j at 0, by Cauchy's integral over two circles."""
    circle = radius * np.exp(2j * np.pi * np.arange(count) / count)
    values = function(circle[:, None], circle[None, :]) * np.ones((count, count))
    scale = radius ** np.arange(count)
    return (np.fft.fft2(values) / count**2).real / scale[:, None] / scale[None, :]


@pytest.mark.parametrize("name", ["planar_body", "spring", "placement", "turned_length", "collinear", "length"])
def test_outputs_are_the_same_alone_and_together(name):
    """Restricting a program to some outputs changes none of them, not even in the last bit."""
    kind = kind_named(name, 2)
    program = program_for(kind)
    random = np.random.default_rng(3)
    values = {source: random.uniform(0.5, 1.5, 3) for source in program.inputs}
    constants = program.constant_table(random.uniform(0.5, 1.5, (len(kind.parameters), 3)))
    whole = dict(
        zip(
            [o.key for o in program.outputs],
            evaluate(program, constants, [values[x] for x in program.inputs]),
            strict=True,
        )
    )
    for output in program.outputs:
        alone = program.restrict(lambda key, wanted=output.key: key == wanted)
        [found] = evaluate(alone, constants, [values[x] for x in alone.inputs])
        assert np.array_equal(found, whole[output.key])


# --- structural zeros


def test_a_rod_with_its_mass_on_its_axis_does_not_couple_x_and_y():
    """Seed 001 section 4.2: the signature matrix has a -inf between A_x and A_y; they meet only with xi_y != 0."""
    body = kind_named("planar_body", 2)
    straight = keys(program_for(body, zeros(body, "xi_y")), "mass")
    assert straight == {(i, j) for i in range(4) for j in range(4) if (i - j) % 2 == 0}
    # A centroid off the axis couples A and B crosswise; a point with itself never (Theorem 3.2: |1 - xi|^2, |xi|^2).
    bent = keys(program_for(body), "mass")
    assert bent - straight == {(0, 3), (3, 0), (1, 2), (2, 1)}


def test_a_spring_without_mass_has_no_inertia_and_a_part_without_gravity_no_weight():
    spring = kind_named("spring", 2)
    assert not keys(program_for(spring, zeros(spring, "mass", "g_x", "g_y")), "mass")
    assert len(keys(program_for(spring), "mass")) == 8
    body = kind_named("planar_body", 2)
    [potential] = [o for o in program_for(body, zeros(body, "g_x", "g_y")).outputs if o.key == ("potential",)]
    assert not potential.terms and potential.constant == -1


def test_length_and_placement_constraints_have_the_derivatives_they_should():
    length, placement = program_for(kind_named("length", 2)), program_for(kind_named("placement", 2))
    assert keys(length, "gradient") == {(0, j) for j in range(4)}
    assert keys(length, "hessian") == {(0, 0), (1, 1), (2, 0), (2, 2), (3, 1), (3, 3)}
    assert not keys(placement, "hessian")  # linear
    gradients = [o for o in placement.outputs if o.key[0] == "gradient"]
    assert gradients and not any(o.terms for o in gradients)  # so its Jacobian is computed once


# --- the graph


def test_equal_expressions_are_one_node_whatever_their_constant_factors():
    graph = Graph()
    x, y = (graph.input(Input("variable", j)) for j in range(2))
    two = graph.value(2.0)
    product = graph.multiply(x, y)
    assert graph.multiply(y, x) == product
    assert graph.multiply(graph.scale(two, y), graph.negate(x)) == graph.scale(graph.value(-2.0), product)
    assert graph.subtract(product, product) == graph.zero
    assert graph.multiply(graph.function("root", x), graph.function("root", x)) == x
    assert graph.divide(graph.scale(two, x), x) == two
    assert graph.power(x, 4.0) == graph.power(graph.power(x, 2.0), 2.0)
    program = Emitter(graph).emit({("a",): graph.scale(two, product), ("b",): graph.add(product, x)})
    assert [operation.name for operation in program.operations] == ["multiply"]  # sums at the top cost none


def test_products_are_one_however_they_were_multiplied():
    graph = Graph()
    x, y, z = (graph.input(Input("variable", j)) for j in range(3))
    first, second = graph.multiply(x, graph.multiply(y, z)), graph.multiply(graph.multiply(x, y), z)
    assert first != second
    program = Emitter(graph).emit({("a",): graph.subtract(first, second), ("b",): graph.add(x, second)})
    assert program.outputs[0].terms == ()
    assert len(program.operations) == 2
    square = graph.multiply(graph.multiply(x, x), y), graph.multiply(x, graph.multiply(x, y))
    assert Emitter(graph).emit({("a",): graph.subtract(*square)}).operations == ()


def test_what_moves_a_momentum_and_a_slope_alike_cancels():
    """Of v' cos(x) S with S = v cos(x) + w cos(y), d/dt dL/dv and dL/dx have -v sin(x) S in common."""

    def kinetic(x, v, t, p):
        return (v[0] * jnp.cos(x[0]) + v[1] * jnp.cos(x[1])) ** 2 / 2

    program = program_for(Kind("two", ("x", "y"), kinetic=kinetic, cacheable=False))
    rows = program.restrict(lambda key: key[0] == "row")
    # v sin and its product with v, a cos, of each; then cos(x), cos(y) times the sum of these
    assert [operation.name for operation in rows.operations].count("multiply") == 8


def test_sine_and_cosine_of_one_angle_are_found_together():
    graph = Graph()
    x = graph.input(Input("variable", 0))
    program = Emitter(graph).emit({("s",): graph.function("sin", x), ("c",): graph.function("cos", x)})
    assert [operation.function for operation in program.operations] == ["sin", "cos"]


@pytest.mark.parametrize("function", [jnp.floor, jax.scipy.special.erf, jnp.cbrt])
def test_a_function_without_a_recurrence_is_named(function):
    kind = Kind("odd", ("x",), kinetic=lambda x, v, t, p: v[0] ** 2 * (2 + function(x[0])), cacheable=False)
    name = {"cbrt": "cbrt", "erf": "erf", "floor": "floor"}[function.__name__]
    with pytest.raises(MechsimError, match=name):
        program_for(kind)


# --- the cache


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MECHSIM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.parametrize("name", ["planar_body", "spring", "turned_length", "placement"])
def test_a_program_survives_the_disk(name):
    program = program_for(kind_named(name, 2))
    assert from_document(json.loads(json.dumps(to_document(program)))) == program


def test_what_was_derived_is_read_back(folder, monkeypatch):
    kind = kind_named("particle", 2)
    derived = program_for(kind)
    assert [path.suffix for path in folder.iterdir()] == [".json"]  # no temporary file stays behind
    monkeypatch.setattr("mechsim.derive.equations.derive", None)  # would fail if it were called
    assert program_for(kind) == derived


def test_a_folder_that_cannot_be_written_costs_only_time(tmp_path, monkeypatch, capsys):
    obstacle = tmp_path / "file"
    obstacle.write_text("not a folder")
    monkeypatch.setenv("MECHSIM_CACHE", str(obstacle))
    assert program_for(kind_named("length", 2)).outputs
    assert "could not be cached" in capsys.readouterr().err


def _hammer(rounds):
    """Write and read one program again and again; True if every reading was whole."""
    kind = kind_named("length", 2)
    program = cache.load(kind, frozenset(), False)
    for _ in range(rounds):
        cache.store(kind, frozenset(), False, program)
        if cache.load(kind, frozenset(), False) != program:
            return False
    return True


def test_several_processes_write_the_same_program_at_once(folder):
    program_for(kind_named("length", 2))
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert all(pool.map(_hammer, [100] * 4, chunksize=1))
    assert len(list(folder.iterdir())) == 1


# --- per kind, not per part


def test_a_long_chain_is_derived_like_a_short_one(monkeypatch):
    """Counted, not timed: each kind is asked for once, whatever the number of its elements."""
    asked = []

    def counting(kind, *arguments):
        asked.append(kind.name)
        return program_for(kind, *arguments)

    monkeypatch.setattr(system_module, "program_for", counting)

    def kinds_of(count):
        asked.clear()
        points = [f"P{i}" for i in range(count + 1)]
        rods = ", ".join(a + b for a, b in pairwise(points))
        mechanism = mechsim.mechanism(f"""
PartData:
  Fixed: {{P0: []}}
  Rigids:
    {rods}: {{Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}
AppliedForces: {{Gravity: }}
ProblemData: {{tend: 1}}
""")
        assert mechanism.system.n == 2 * count
        return list(asked)

    assert kinds_of(2) == kinds_of(40)


def test_other_parameters_need_no_other_program():
    first = mechsim.mechanism(SPECS / "mechanism1a.yaml")
    second = first.with_parameters(m=3.0, l=1.1)
    assert [g.program for g in first.system.groups] == [g.program for g in second.system.groups]
    assert not np.array_equal(first.system.groups[0].constants, second.system.groups[0].constants)
