"""Whether energy holds a steady motion: seen by who is carried along, small motions are M y'' + D y' + K y = 0, with y
displacements beside those that the symmetries make, momenta held. Where K is symmetric and positive, and D takes energy
or gives none (it may turn it around, as gyroscopes do), it is stable: Lagrange and Dirichlet, Routh, Kelvin and Tait.

Who is carried along may turn about what turns leave as it is, as about a top that sleeps: it is stable if its energy is
least as seen by any of those. Where two modes swing as w1 and w2 that is seen half way between them, if at all.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mechsim.analysis.carried import View
from mechsim.analysis.flow import Flow
from mechsim.kernel.linear import null_space
from mechsim.result.layout import Array

SYMMETRIC = 1e-8  # of the largest entry
RANK, NOTHING = 1e-8, 1e-11  # of the largest: of displacements, and of what the motion changes
IDLE = 1e-6  # of scales: what moves less does nothing


def is_least(flow: Flow, view: View, matrix: Array, others: Array, factors: Array, still: Array) -> bool:
    """`matrix` is of the linear motion along `others`, directions beside those of symmetries (columns); `factors` are
    of the motion that carries, `still` of those that leave the mechanism as it is."""
    if not (flow.system.levels == 2).all():  # of what rolls this is not known
        return False
    frames = _frames(view, matrix, others, factors, still)
    return any(_is_least(flow, view, seen, others, carries, still) for seen, carries in frames)


def _frames(view: View, matrix: Array, others: Array, factors: Array, still: Array) -> Iterator[tuple[Array, Array]]:
    """The linear motion, and what carries, as seen by some who are carried along."""
    yield matrix, factors
    for idle in null_space(view.carried @ still.T, absolute=IDLE).T @ still:
        turning = others.T @ (view.back @ view.bent(idle)) @ others
        fastest = np.abs(np.linalg.eigvals(turning)).max(initial=0.0)
        swings = np.linalg.eigvals(matrix).imag
        if fastest * view.time <= RANK:
            continue
        for rate in np.unique(np.add.outer(swings, swings)) / (2 * fastest):
            yield matrix - rate * turning, factors + rate * idle


def _is_least(flow: Flow, view: View, matrix: Array, others: Array, factors: Array, still: Array) -> bool:
    left, sizes, _ = np.linalg.svd(matrix) if matrix.size else (matrix, np.zeros(0), matrix)
    kept = left[:, sizes > NOTHING * sizes.max(initial=0.0)]  # what the motion changes: momenta are not among it
    if not kept.shape[1] or kept.shape[1] % 2:
        return False
    onward = view.time * kept.T @ matrix @ kept
    positions, velocities = _parts(view, others @ kept, factors)
    half = kept.shape[1] // 2
    places = _beside_symmetries(view, positions, still)
    rows, rank = _rows(places)
    if rank != half:
        return False
    shift = np.concatenate([rows, rows @ onward])  # displacements and their rates
    if np.linalg.cond(shift) > 1 / RANK:
        return False
    back = np.linalg.inv(shift)
    second = shift[half:] @ onward @ back
    local = flow.system.mass_matrix(view.local.t, view.local.q, view.local.v)
    own = velocities @ back[:, half:]  # of pure velocities: nothing is displaced
    mass = own.T @ np.asarray(local) @ own
    stiffness, damping = -mass @ second[:, :half], -mass @ second[:, half:]
    crooked = np.abs(stiffness - stiffness.T).max() > SYMMETRIC * np.abs(stiffness).max()
    largest = max(np.abs(damping).max(), np.sqrt(np.abs(stiffness).max() * np.abs(mass).max()))
    takes = np.linalg.eigvalsh(damping + damping.T).min() >= -SYMMETRIC * largest
    return bool(not crooked and takes and np.linalg.eigvalsh(stiffness + stiffness.T).min() > 0)


def _parts(view: View, directions: Array, factors: Array) -> tuple[Array, Array]:
    """Displacements in scales, and velocities as seen by who is carried along."""
    local, (q, v) = view.local, (each @ directions for each in view.moved[:2])
    speeds, _ = view.candidates.changes(local.q, local.v, q, v)
    return q, v - (speeds @ factors).T


def _beside_symmetries(view: View, positions: Array, still: Array) -> Array:
    """Displacements of points in scales, without what symmetries make of them."""
    rows, scales = view.candidates.points, view.local.flow.system.scales
    speeds, _ = view.candidates.moved(view.local.q[None], view.local.v[None])
    along = (speeds[0] @ still.T)[rows] / scales[rows, None]
    places = positions[rows] / scales[rows, None]
    return np.asarray(places - along @ np.linalg.lstsq(along, places, rcond=RANK)[0]) if along.size else places


def _rows(places: Array) -> tuple[Array, int]:
    """As many combinations of displacements as are independent."""
    left, sizes, _ = np.linalg.svd(places, full_matrices=False)
    rank = int((sizes > RANK * sizes.max(initial=0.0)).sum())
    return left[:, :rank].T @ places, rank
