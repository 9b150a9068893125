"""Multipliers of all constraints where some are redundant: then they are not unique, and the smallest are taken."""

from __future__ import annotations

from typing import Any

import numpy as np

from mechsim.result.layout import Array


def of_all_constraints(
    complete: Any, reduced: Any, t: Array, q: Array, v: Array, multipliers: Array, constants: Array | None = None
) -> Array:
    """Multipliers (k, m) of `complete` that do what those of `reduced` do; of least norm where there is a choice.

    The norm is of forces: constraints are scaled to unit gradients, coordinates by their sizes.
    """
    if complete.m == reduced.m:
        return multipliers
    full = np.zeros((len(t), complete.m))
    full[:, reduced.kept] = multipliers
    for row in range(len(t)):
        system = complete if constants is None else complete.holding(constants[row])
        jacobian, sizes = _scaled_jacobian(system, t[row], q[row], v[row])
        reach = np.linalg.svd(jacobian, full_matrices=False)[0][:, : reduced.m]
        # Only what lies in the range of the Jacobian does anything; the rest would only make them larger.
        full[row] = reach @ (reach.T @ (full[row] * sizes)) / sizes
    return full


def freedom(complete: Any, reduced: Any, t: float, q: Array, v: Array) -> Array:
    """Changes of the multipliers of all constraints that change no motion, (count, m); as forces of size 1."""
    if complete.m == reduced.m:
        return np.zeros((0, complete.m))
    jacobian, sizes = _scaled_jacobian(complete, t, q, v)
    return np.asarray(np.linalg.svd(jacobian)[0][:, reduced.m :].T / sizes)


def _scaled_jacobian(system: Any, t: float, q: Array, v: Array) -> tuple[Array, Array]:
    """The constraints' gradients by scaled coordinates, each of length 1, and the lengths they had."""
    rows, columns, values = system.rate_jacobian(t, q, v)
    jacobian = np.zeros((system.m, system.n))
    np.add.at(jacobian, (rows, columns), values)
    jacobian *= system.scales[: system.n]
    sizes = np.linalg.norm(jacobian, axis=1)
    sizes[sizes == 0.0] = 1.0
    return jacobian / sizes[:, None], sizes
