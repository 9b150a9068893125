"""Euler-Lagrange rows, constraints, energies and their derivatives for one element kind, by JAX (DESIGN 3).

row_j  =  d/dt dL/dx'_j  -  dL/dx_j  -  Q_j  +  sum_i lam_i dC_i/dx_j          (seed 001, eq 1.2)
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mechsim.derive.graph import Emitter, Graph
from mechsim.derive.lowering import lower, trace
from mechsim.derive.program import Input, Program
from mechsim.lagrangian.kind import Kind


class _Functions:
    """The kind's functions with all arguments explicit, as JAX sees them: x, v, a, lam, t, p are arrays."""

    def __init__(self, kind: Kind):
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
        return jnp.stack([jnp.asarray(c, dtype=float) for c in self.kind.constraints(x, t, self.parameters(p))])

    def rows(self, x: Any, v: Any, a: Any, lam: Any, t: Any, p: Any) -> Any:
        def momentum(x: Any, v: Any, t: Any) -> Any:
            return jax.grad(self.lagrangian, argnums=1)(x, v, t, p)

        _, change = jax.jvp(momentum, (x, v, t), (v, a, jnp.ones_like(t)))
        row = change - jax.grad(self.lagrangian, argnums=0)(x, v, t, p)
        if self.kind.constraints:
            row = row + jax.grad(lambda x: jnp.dot(lam, self.constraints(x, t, p)))(x)
        if self.kind.force:
            force = self.kind.force(x, v, t, self.parameters(p))
            row = row - jnp.stack([jnp.asarray(q, dtype=float) for q in force])
        if self.kind.rates:
            rates = self.kind.rates(x, v, t, self.parameters(p))
            states = jnp.stack([v[self.count - self.kind.state_count + i] - r for i, r in enumerate(rates)])
            row = jnp.concatenate([row[: self.count - self.kind.state_count], states])
        return jnp.concatenate([row, self.constraints(x, t, p)])

    def constraint_rate(self, x: Any, v: Any, t: Any, p: Any) -> Any:
        return jax.jvp(lambda x, t: self.constraints(x, t, p), (x, t), (v, jnp.ones_like(t)))[1]

    def constraint_curvature(self, x: Any, v: Any, t: Any, p: Any) -> Any:
        """The second time derivative of the constraints but for its term in the accelerations."""
        tangents = (v, jnp.zeros_like(v), jnp.ones_like(t))
        return jax.jvp(lambda x, v, t: self.constraint_rate(x, v, t, p), (x, v, t), tangents)[1]

    def constraint_hessian(self, x: Any, lam: Any, t: Any, p: Any) -> Any:
        if not self.kind.constraints:
            return jnp.zeros((self.count, self.count))
        return jax.hessian(lambda x: jnp.dot(lam, self.constraints(x, t, p)))(x)


def derive(kind: Kind, zero_parameters: frozenset[int], complete: bool) -> Program:
    """One program with everything about a kind; users restrict it to the outputs they need.

    Outputs: ("row", i), rows of the n variables, then the m constraints; their derivatives ("mass", i, j) by x'',
    ("damping", i, j) by x', ("stiffness", i, j) by x, ("reaction", i, j) by the multipliers; ("constraint", i),
    ("gradient", i, j) = C_x, ("rate", i) = dC/dt, ("curvature", i), ("hessian", i, j) for i >= j; ("kinetic",),
    ("potential",). What is structurally zero is left out. Parameters in `zero_parameters` are folded as exact
    zeros. `complete` adds derivatives of the Euler-Lagrange rows with respect to positions and velocities, which only
    unusual structures need.
    """
    functions = _Functions(kind)
    n, m, parameter_count = functions.count, kind.constraint_count, len(kind.parameters)
    graph = Graph()
    arguments = _arguments(graph, n, m, parameter_count, zero_parameters)

    def everything(x: Any, v: Any, a: Any, lam: Any, t: Any, p: Any) -> dict[str, Any]:
        found = {
            "rows": functions.rows(x, v, a, lam, t, p),
            "kinetic": functions.kinetic(x, v, t, p),
            "potential": functions.potential(x, t, p),
            "mass": jax.jacfwd(functions.rows, argnums=2)(x, v, a, lam, t, p),
        }
        if m:
            found["reaction"] = jax.jacfwd(functions.rows, argnums=3)(x, v, a, lam, t, p)
            found["gradient"] = jax.jacfwd(functions.constraints)(x, t, p)
            found["rate"] = functions.constraint_rate(x, v, t, p)
            found["curvature"] = functions.constraint_curvature(x, v, t, p)
            found["hessian"] = functions.constraint_hessian(x, lam, t, p)
        if complete or kind.state_count:
            found["damping"] = jax.jacfwd(functions.rows, argnums=1)(x, v, a, lam, t, p)
        if complete:
            found["stiffness"] = jax.jacfwd(functions.rows, argnums=0)(x, v, a, lam, t, p)
        return found

    closed = trace(everything, (n,), (n,), (n,), (m,), (), (parameter_count,))
    flat = lower(closed, graph, arguments)
    keys = jax.tree.structure(
        dict.fromkeys(_names(m, complete, kind.state_count), 0)
    )  # a dict flattens in sorted order of its keys
    results = jax.tree.unflatten(keys, flat)
    return Emitter(graph).emit(_outputs(results, n, m))


def _names(m: int, complete: bool, states: int) -> list[str]:
    names = ["rows", "kinetic", "potential", "mass"]
    names += ["reaction", "gradient", "rate", "curvature", "hessian"] if m else []
    names += ["damping"] if complete or states else []
    return names + (["stiffness"] if complete else [])


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


def _outputs(results: dict[str, Any], n: int, m: int) -> dict[tuple[Any, ...], int]:
    outputs: dict[tuple[Any, ...], int] = {("row", i): results["rows"][i] for i in range(n + m)}
    for name in ("mass", "damping", "stiffness"):
        if name in results:
            outputs |= {(name, i, j): results[name][i, j] for i, j in np.ndindex(n, n)}
    if m:
        outputs |= {("constraint", i): results["rows"][n + i] for i in range(m)}
        outputs |= {("gradient", i, j): results["gradient"][i, j] for i, j in np.ndindex(m, n)}
        outputs |= {("reaction", i, j): results["reaction"][i, j] for i, j in np.ndindex(n, m)}
        outputs |= {("rate", i): results["rate"][i] for i in range(m)}
        outputs |= {("curvature", i): results["curvature"][i] for i in range(m)}
        outputs |= {("hessian", i, j): results["hessian"][i, j] for i in range(n) for j in range(i + 1)}
    outputs["kinetic",] = results["kinetic"].item()
    outputs["potential",] = results["potential"].item()
    return outputs
