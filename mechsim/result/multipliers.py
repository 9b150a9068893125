"""Multipliers of all constraints where some are redundant: then they are not unique, and the smallest are taken."""

from __future__ import annotations

from typing import Any

import numpy as np

from mechsim.result.layout import Array


def smallest(
    system: Any, redundant: int, t: Array, q: Array, v: Array, multipliers: Array, constants: Array | None = None
) -> Array:
    """The multipliers (k, m) that do what these do, of least norm where `redundant` constraints leave a choice.

    The norm is of forces: constraints are scaled to unit gradients, coordinates by their sizes.
    """
    if not redundant:
        return multipliers
    least = np.empty_like(multipliers)
    for row in range(len(t)):
        held = system if constants is None else system.holding(constants[row])
        jacobian, sizes = _scaled_jacobian(held, t[row], q[row], v[row])
        reach = np.linalg.svd(jacobian, full_matrices=False)[0][:, : system.m - redundant]
        # Only what lies in the range of the Jacobian does anything; the rest would only make them larger.
        least[row] = reach @ (reach.T @ (multipliers[row] * sizes)) / sizes
    return least


def freedom(system: Any, redundant: int, t: float, q: Array, v: Array) -> Array:
    """Changes of the multipliers that change no motion, (redundant, m); as forces of size 1."""
    if not redundant:
        return np.zeros((0, system.m))
    jacobian, sizes = _scaled_jacobian(system, t, q, v)
    return np.asarray(np.linalg.svd(jacobian)[0][:, system.m - redundant :].T / sizes)


def _scaled_jacobian(system: Any, t: float, q: Array, v: Array) -> tuple[Array, Array]:
    """The constraints' gradients by scaled coordinates, each of length 1, and the lengths they had."""
    rows, columns, values = system.rate_jacobian(t, q, v)
    jacobian = np.zeros((system.m, system.n))
    np.add.at(jacobian, (rows, columns), values)
    jacobian *= system.scales[: system.n]
    sizes = np.linalg.norm(jacobian, axis=1)
    sizes[sizes == 0.0] = 1.0
    return jacobian / sizes[:, None], sizes
