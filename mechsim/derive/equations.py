"""Euler-Lagrange rows, constraints, energies and their derivatives for one element kind, by JAX (DESIGN 3).

row_j  =  d/dt dL/dx'_j  -  dL/dx_j  -  Q_j  +  sum_i lam_i dC_i/dx_j          (seed 001, eq 1.2)
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mechsim.derive.emitter import Emitter
from mechsim.derive.graph import Graph
from mechsim.derive.lowering import lower, trace
from mechsim.derive.program import Input, Program
from mechsim.lagrangian.kind import Kind


class Functions:
    """The kind's functions with all arguments explicit, as JAX sees them: x, v, a, lam, t, p are arrays."""

    def __init__(self, kind: Kind):
        if kind.points or kind.vectors:
            raise ValueError(f"{kind.name} has points of no dimension yet: derive kind.at(dimension)")
        self.kind = kind
        self.count = len(kind.variables)

    def parameters(self, p: Any) -> SimpleNamespace:
        return SimpleNamespace(**{name: p[i] for i, name in enumerate(self.kind.parameters)})

    def kinetic(self, x: Any, v: Any, t: Any, p: Any) -> Any:
        if self.kind.lagrangian:  # what vanishes at rest
            return self.lagrangian(x, v, t, p) + self.potential(x, t, p)
        return self.kind.kinetic(x, v, t, self.parameters(p)) * 1.0 if self.kind.kinetic else jnp.zeros(())

    def potential(self, x: Any, t: Any, p: Any) -> Any:
        if self.kind.lagrangian:
            return -self.lagrangian(x, jnp.zeros_like(x), t, p)
        return self.kind.potential(x, t, self.parameters(p)) * 1.0 if self.kind.potential else jnp.zeros(())

    def lagrangian(self, x: Any, v: Any, t: Any, p: Any) -> Any:
        if self.kind.lagrangian:
            return jnp.asarray(self.kind.lagrangian(x, v, t, self.parameters(p)), dtype=float)
        return self.kinetic(x, v, t, p) - self.potential(x, t, p)

    def constraints(self, x: Any, t: Any, p: Any) -> Any:
        if not self.kind.constraints:
            return jnp.zeros(0)
        return _stack(self.kind.constraints(x, t, self.parameters(p)))

    def nonholonomic(self, x: Any, v: Any, t: Any, p: Any) -> Any:
        if not self.kind.nonholonomic:
            return jnp.zeros(0)
        return _stack(self.kind.nonholonomic(x, v, t, self.parameters(p)))

    def dissipation(self, x: Any, v: Any, t: Any, p: Any) -> Any:
        return self.kind.dissipation(x, v, t, self.parameters(p)) * 1.0 if self.kind.dissipation else jnp.zeros(())

    def force(self, x: Any, v: Any, a: Any, lam: Any, t: Any, p: Any) -> Any:
        if not self.kind.force:
            return jnp.zeros(self.count)
        more = (a, lam) if self.kind.reactive else ()
        return _stack(self.kind.force(x, v, t, self.parameters(p), *more))

    def rows(self, x: Any, v: Any, a: Any, lam: Any, t: Any, p: Any) -> Any:
        kind = self.kind

        def momentum(x: Any, v: Any, t: Any) -> Any:
            return jax.grad(self.lagrangian, argnums=1)(x, v, t, p)

        _, change = jax.jvp(momentum, (x, v, t), (v, a, jnp.ones_like(t)))
        row = change - jax.grad(self.lagrangian, argnums=0)(x, v, t, p) - self._applied(x, v, a, lam, t, p)
        coordinates = self.count - kind.state_count - kind.account
        states = []
        if kind.rates:
            rates = kind.rates(x, v, t, self.parameters(p))
            states += [v[coordinates + i] - rate for i, rate in enumerate(rates)]
        if kind.account:
            own = 0.0 if kind.shares else v[self.count - 1]
            states.append(own - self._power(x, v, a, lam, t, p))
        if states:
            row = jnp.concatenate([row[:coordinates], _stack(states)])
        return jnp.concatenate([row, self.constraints(x, t, p), self.nonholonomic(x, v, t, p)])

    def _applied(self, x: Any, v: Any, a: Any, lam: Any, t: Any, p: Any) -> Any:
        """All forces that do not come from the Lagrangian: applied, dissipative, and those of the constraints."""
        kind = self.kind
        total = self.force(x, v, a, lam, t, p)
        if kind.dissipation:
            total = total - jax.grad(self.dissipation, argnums=1)(x, v, t, p)
        if kind.constraints:
            own = lam[: kind.constraint_count]
            total = total - jax.grad(lambda x: jnp.dot(own, self.constraints(x, t, p)))(x)
        if kind.nonholonomic:
            own = lam[kind.constraint_count : kind.multiplier_count]
            if kind.push:
                own = own - kind.push(x, v, t, self.parameters(p), a, lam)
            total = total - jax.grad(lambda v: jnp.dot(own, self.nonholonomic(x, v, t, p)))(v)
        return total

    def _power(self, x: Any, v: Any, a: Any, lam: Any, t: Any, p: Any) -> Any:
        """What changes the energy T + V: the power of those forces, less what a Lagrangian loses by time alone."""
        power = jnp.dot(self._applied(x, v, a, lam, t, p), v)
        if self.kind.kinetic or self.kind.potential or self.kind.lagrangian:
            power = power - jax.grad(self.lagrangian, argnums=2)(x, v, t, p)
        return power

    def hamiltonian(self, x: Any, v: Any, t: Any, p: Any) -> Any:
        return jnp.dot(jax.grad(self.lagrangian, argnums=1)(x, v, t, p), v) - self.lagrangian(x, v, t, p)

    def signals(self, x: Any, v: Any, a: Any, lam: Any, t: Any, p: Any) -> Any:
        if not self.kind.signals:
            return jnp.zeros(0)
        return _stack(self.kind.signals(x, v, t, self.parameters(p), a, lam))

    def places(self, x: Any, v: Any, t: Any, p: Any) -> tuple[Any, Any]:
        """Coordinates of points that are only drawn, and their rates."""
        places = self.kind.places
        assert places is not None
        moving = (x, t), (v, jnp.ones_like(t))
        found: tuple[Any, Any] = jax.jvp(lambda x, t: _stack(places(x, t, self.parameters(p))), *moving)
        return found

    def rate(self, x: Any, v: Any, t: Any, p: Any) -> Any:
        """What vanishes at the level of velocities: dC/dt of holonomic constraints, and the nonholonomic ones."""
        holonomic = jax.jvp(lambda x, t: self.constraints(x, t, p), (x, t), (v, jnp.ones_like(t)))[1]
        return jnp.concatenate([holonomic, self.nonholonomic(x, v, t, p)])

    def curvature(self, x: Any, v: Any, t: Any, p: Any) -> Any:
        """The time derivative of `rate` but for its term in the accelerations."""
        tangents = (v, jnp.zeros_like(v), jnp.ones_like(t))
        return jax.jvp(lambda x, v, t: self.rate(x, v, t, p), (x, v, t), tangents)[1]

    def hessian(self, x: Any, lam: Any, t: Any, p: Any) -> Any:
        return jax.hessian(lambda x: jnp.dot(lam[: self.kind.constraint_count], self.constraints(x, t, p)))(x)


def _stack(scalars: Any) -> Any:
    return jnp.stack([jnp.asarray(value, dtype=float) for value in scalars])


def derive(kind: Kind, zero_parameters: frozenset[int], complete: bool) -> Program:
    """One program with everything about a kind; users restrict it to the outputs they need.

    Outputs: ("row", i), rows of the n variables, then the constraints; their derivatives ("mass", i, j) by x'',
    ("damping", i, j) by x', ("stiffness", i, j) by x, ("reaction", i, j) by the multipliers; ("constraint", i) and
    ("gradient", i, j) = C_x of holonomic constraints; ("rate", i) and ("curvature", i) of all, ("slope", i, j) of the
    nonholonomic ones by x'; ("hessian", i, j) for i >= j; ("kinetic",), ("potential",), ("hamiltonian",);
    ("signal", i); ("place", i) and its rate ("speed", i). What is structurally zero is left out. Parameters in
    `zero_parameters` are folded as exact zeros.
    `complete` adds derivatives of the rows with respect to positions and velocities, which only unusual structures
    need.
    """
    functions = Functions(kind)
    n, multipliers, parameter_count = functions.count, kind.multiplier_count, len(kind.parameters)
    graph = Graph()
    arguments = _arguments(graph, n, multipliers + kind.observed_count, parameter_count, zero_parameters)

    def everything(x: Any, v: Any, a: Any, lam: Any, t: Any, p: Any) -> dict[str, Any]:
        state = (x, v, a, lam, t, p)
        found = {
            "row": functions.rows(*state),
            "kinetic": functions.kinetic(x, v, t, p),
            "potential": functions.potential(x, t, p),
            "hamiltonian": functions.hamiltonian(x, v, t, p),
            "mass": jax.jacfwd(functions.rows, argnums=2)(*state)[:n],
        }
        if multipliers + kind.observed_count:
            found["reaction"] = jax.jacfwd(functions.rows, argnums=3)(*state)[:n]
        if kind.constraints:
            found["constraint"] = functions.constraints(x, t, p)
            found["gradient"] = jax.jacfwd(functions.constraints)(x, t, p)
            found["hessian"] = functions.hessian(x, lam, t, p)
        if multipliers:
            found["rate"] = functions.rate(x, v, t, p)
            found["curvature"] = functions.curvature(x, v, t, p)
        if kind.nonholonomic:
            found["slope"] = jax.jacfwd(functions.nonholonomic, argnums=1)(x, v, t, p)
        if kind.signals:
            found["signal"] = functions.signals(*state)
        if kind.places:
            found["place"], found["speed"] = functions.places(x, v, t, p)
        if complete or kind.state_count or kind.account:
            found["damping"] = jax.jacfwd(functions.rows, argnums=1)(*state)[:n]
        if complete:
            found["stiffness"] = jax.jacfwd(functions.rows, argnums=0)(*state)[:n]
        return found

    names: list[str] = []

    def flattened(*state: Any) -> list[Any]:
        found = everything(*state)
        names[:] = list(found)
        return list(found.values())

    shapes = [(n,), (n,), (n,), (multipliers + kind.observed_count,), (), (parameter_count,)]
    closed = trace(flattened, *shapes)
    results = dict(zip(names, lower(closed, graph, arguments), strict=True))
    return Emitter(graph).emit(_outputs(results))


def depends_on_time(kind: Kind) -> bool:
    """Whether the derivatives by time of the Lagrangian and of the constraints are anything but zero."""
    functions = Functions(kind)
    n, parameter_count = functions.count, len(kind.parameters)
    graph = Graph()

    def rates(x: Any, v: Any, a: Any, lam: Any, t: Any, p: Any) -> list[Any]:
        constraints = jax.jacfwd(lambda t: functions.constraints(x, t, p))(t)
        return [jax.grad(functions.lagrangian, argnums=2)(x, v, t, p), constraints]

    closed = trace(rates, (n,), (n,), (n,), (0,), (), (parameter_count,))
    found = lower(closed, graph, _arguments(graph, n, 0, parameter_count, frozenset()))
    return any(node != graph.zero for array in found for node in np.ravel(array))


def _arguments(graph: Graph, n: int, m: int, parameter_count: int, zeros: frozenset[int]) -> list[np.ndarray]:
    def array(nodes: list[int]) -> np.ndarray:
        result = np.empty(len(nodes), dtype=object)
        result[:] = nodes
        return result

    derivatives = [array([graph.input(Input("variable", j, order)) for j in range(n)]) for order in range(3)]
    multipliers = array([graph.input(Input("multiplier", i)) for i in range(m)])
    time = np.array(graph.input(Input("time")), dtype=object)
    parameters = array([graph.zero if i in zeros else graph.parameter(i) for i in range(parameter_count)])
    return [*derivatives, multipliers, time, parameters]


def _outputs(results: dict[str, Any]) -> dict[tuple[Any, ...], int]:
    """Every entry of every result under its own key (name, *indices)."""
    outputs: dict[tuple[Any, ...], int] = {}
    for name, array in results.items():
        for index in np.ndindex(np.shape(array)):
            if name != "hessian" or index[0] >= index[1]:
                outputs[(name, *index)] = array[index]
    return outputs
