"""Constraints that say nothing new, told apart from positions where constraints only happen to agree.

A redundant constraint follows from others wherever the mechanism goes; it can be left out. At a dead centre the rows of
C_q are dependent too, but only there: nothing may be left out, and the motion from there is not determined.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechsim.errors import Mark
from mechsim.frozen import frozen
from mechsim.structure.positions import (
    DEPENDENT,
    EXCURSION,
    TRIALS,
    Array,
    Constrained,
    nearby,
    project,
    scaled_jacobian,
    velocity_jacobian,
)

# Rows with a smaller share in what makes constraints dependent do not take part in it.
SHARE = 1e-7
# Up to this many constraints a dense factorization is quicker than a sparse one.
DENSE = 300


@frozen
class Redundancy:
    """Constraints that are more than needed, wherever the mechanism goes.

    rows:   those that follow from constraints before them: what a person is told
    spare:  all that take part in such a dependence; as many as `rows` of these may be left out, and which ones are
            best left out changes with the position
    singular:  those that follow from others only here, in a singular position
    """

    rows: tuple[int, ...] = ()
    spare: tuple[int, ...] = ()
    singular: tuple[int, ...] = ()


NO_REDUNDANCY = Redundancy()


def redundancy(system: Constrained, t: float, q: Array) -> Redundancy:
    """The redundant constraints at the consistent position q; usually none."""
    if system.m == 0 or (system.m > DENSE and _surely_independent(system, t, q)):
        return NO_REDUNDANCY
    jacobian = scaled_jacobian(system, t, q)[0]
    here = _dependent_rows(jacobian)
    if not here:
        return NO_REDUNDANCY
    # The fewest dependent rows seen nearby are the ones that are dependent everywhere.
    places = [jacobian, *(scaled_jacobian(system, t, near)[0] for near in nearby(system, t, q))]
    everywhere, generic = min(((_dependent_rows(each), each) for each in places), key=lambda found: len(found[0]))
    singular = tuple(row for row in here if row not in everywhere) if len(everywhere) < len(here) else ()
    return Redundancy(tuple(everywhere), _taking_part(generic, len(everywhere)), singular)


def redundancy_along(system: Constrained, t: float, q: Array, v: Array) -> Redundancy:
    """The same for a singular position q that is left with velocity v: what holds a little later on this motion, for on
    others that pass through q the same constraints may not be redundant."""
    here = _dependent_rows(scaled_jacobian(system, t, q)[0])
    scales = np.asarray(system.scales)[: system.n]
    ahead = EXCURSION / np.max(np.abs(v / scales))
    for _ in range(TRIALS):
        near = project(system, t, q + ahead * v)
        if near is not None and np.max(np.abs((near - q - ahead * v) / scales)) < EXCURSION / 2:
            later = scaled_jacobian(system, t, near)[0]
            rows = _dependent_rows(later)
            singular = tuple(row for row in here if row not in rows)
            return Redundancy(tuple(rows), _taking_part(later, len(rows)), singular)
        ahead /= 2
    return redundancy(system, t, q)


def _taking_part(jacobian: Array, count: int) -> tuple[int, ...]:
    """The rows of the `count` combinations that vanish."""
    vanishing = np.linalg.svd(jacobian)[0][:, len(jacobian) - count :]
    return tuple(int(row) for row in np.flatnonzero(np.abs(vanishing).max(axis=1, initial=0.0) > SHARE))


def _dependent_rows(jacobian: Array) -> list[int]:
    """Rows that depend on rows before them: Gram-Schmidt in row order, orthogonalised twice for safety."""
    basis = np.zeros_like(jacobian)
    dependent: list[int] = []
    for i, row in enumerate(jacobian):
        known = basis[: i - len(dependent)]
        rest = row - known.T @ (known @ row)
        rest -= known.T @ (known @ rest)
        length = np.linalg.norm(rest)
        if length <= DEPENDENT:
            dependent.append(i)
        else:
            basis[len(known)] = rest / length
    return dependent


def _surely_independent(system: Constrained, t: float, q: Array) -> bool:
    """A sparse factorization of J J^T with no small pivot. A small pivot proves nothing; the dense way then decides."""
    from scipy.sparse import csc_array, diags_array
    from scipy.sparse.linalg import splu

    rows, columns, values = velocity_jacobian(system, t, q)
    jacobian = csc_array((values * np.asarray(system.scales)[columns], (rows, columns)), (system.m, system.n))
    lengths = np.sqrt((jacobian**2).sum(axis=1))
    if not lengths.all():
        return False
    jacobian = diags_array(1 / lengths) @ jacobian
    try:
        factors = splu(csc_array(jacobian @ jacobian.T), diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except RuntimeError:  # exactly singular
        return False
    return bool(np.abs(factors.U.diagonal()).min() > DEPENDENT)


def concerned(system: Constrained, rows: list[int]) -> list[tuple[str, Mark | None]]:
    """Which part or joint each of these constraints belongs to, and where it stands in the file."""
    owners = [(element.owner, element.mark) for element in system.mechanism.elements for _ in element.multipliers]
    labels = list(system.mechanism.multipliers)
    return [owners[labels.index(system.labels[system.n + row])] for row in rows]


def names_of(system: Constrained, rows: Sequence[int]) -> str:
    """Parts and joints these constraints belong to."""
    return ", ".join(dict.fromkeys(owner for owner, _ in concerned(system, list(rows))))
