"""Is the motion determined? Every possible motion must move a mass."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mechsim.errors import AssemblyError, Fault, Mark
from mechsim.initial.closure import Closure
from mechsim.initial.freedom import NULL_SPACE_LIMIT, RANK_TOLERANCE, joined
from mechsim.initial.start import Array, Indices
from mechsim.kernel.linear import dense, generic, null_space
from mechsim.model.mechanism import Mechanism

if TYPE_CHECKING:
    from mechsim.kernel.system import System

UNDETERMINED = 1e-13  # of an inertia of 1: a square, so what moves by 3e-7 of its neighbours still counts
NO_PARTS = "let the Lagrangian give it a kinetic energy, or eliminate it by its balance of forces"
ROUNDING = 1e-12  # of the largest entry of a constraint's gradient: smaller ones tie nothing
NO_MASS = 1e-28  # of the inertia beside: the square of a rounding error, as of a centroid at cos(pi/2)


def check_determined(mechanism: Mechanism, system: System, t: float, closure: Closure, q: Array) -> None:
    """Raise if `[[M, C_q^T], [C_q, 0]]` is singular: some coordinate then has no definite acceleration.

    `closure` is that of velocities, which nonholonomic constraints bind too.
    """
    if len(closure.free) > NULL_SPACE_LIMIT:
        return  # dense null spaces cost too much here; the engine's factorization reports a zero pivot
    scales = closure.scales[closure.free]
    mass = _dense_mass(system, t, q)[np.ix_(closure.free, closure.free)] * np.outer(scales, scales)
    jacobian = closure.dense_jacobian(closure.scales * generic(len(q)))
    columns, rows = _balance(mass, jacobian)
    basis = null_space(jacobian * columns / rows[:, None], relative=RANK_TOLERANCE)
    inertia, vectors = np.linalg.eigh(basis.T @ (mass * np.outer(columns, columns)) @ basis)
    loose = np.abs(inertia) <= UNDETERMINED
    if not np.any(loose):
        return
    share = np.max(np.abs(columns[:, None] * (basis @ vectors[:, loose])), axis=1)
    chosen = closure.free[share > 0.1 * share.max()]
    names = [mechanism.variables[int(index)].label for index in chosen]
    owners = list(dict.fromkeys(mechanism.variables[int(index)].owner for index in chosen))
    raise AssemblyError(
        Fault(
            f"the motion is not determined: nothing with mass moves with {joined(names)}",
            _mark_of_owner(mechanism, chosen),
            f"give a mass to a part at {joined(owners, 'or')}, or add a Particle there"
            if mechanism.parts
            else NO_PARTS,
        )
    )


def _balance(mass: Array, jacobian: Array) -> tuple[Array, Array]:
    """Units for coordinates and constraints that are the mechanism's own: a coordinate with mass has inertia 1, and a
    constraint or a coordinate without mass compares with what it touches. So neither the file's units nor a heavy or
    large body beside decide what counts as zero."""
    inertia, sizes = np.abs(np.diag(mass)), np.abs(jacobian)
    sizes = np.where(sizes > ROUNDING * sizes.max(axis=1, initial=0.0, keepdims=True), sizes, 0.0)
    beside = np.max(np.where(mass != 0, inertia, 0.0), axis=1, initial=0.0)
    massive = inertia > NO_MASS * beside
    columns = np.where(massive, 1 / np.sqrt(np.where(massive, inertia, 1.0)), 0.0)  # 0: not known yet
    rows = np.zeros(len(jacobian))
    while not (np.all(rows) and np.all(columns)):
        rows = np.where(rows > 0, rows, np.max(sizes * columns, axis=1, initial=0.0))
        known = np.where(rows > 0, 1 / np.where(rows > 0, rows, 1.0), 0.0)
        largest = np.max(sizes * known[:, None], axis=0, initial=0.0)
        found = (columns == 0) & (largest > 0)
        if not np.any(found):  # what is left has no mass anywhere: any units will do
            columns, rows = np.where(columns > 0, columns, 1.0), np.where(rows > 0, rows, 1.0)
        columns = np.where(found, 1 / np.where(found, largest, 1.0), columns)
    return columns, rows


def _dense_mass(system: System, t: float, q: Array) -> Array:
    mass = system.mass_matrix(t, q)
    if isinstance(mass, tuple):
        return dense(mass, system.n, system.n)
    return np.asarray(mass)


def _mark_of_owner(mechanism: Mechanism, chosen: Indices) -> Mark | None:
    indices = set(map(int, chosen))
    return next((e.mark for e in mechanism.elements if e.mark and indices & set(e.slots)), None)
