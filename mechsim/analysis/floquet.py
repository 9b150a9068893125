"""Floquet multipliers: by what factors small changes of a periodic motion have grown when it comes back.

Where nothing depends on time, a change along the motion itself comes back as it was, and so does the energy of a system
that conserves it: two multipliers are one, a double one, of which roundings would leave seven digits. These are known,
so they are split off: the others are eigenvalues of what is left.
"""

from __future__ import annotations

import numpy as np

from mechsim.frozen import frozen
from mechsim.result.layout import Array

ON_CIRCLE = 1e-6  # sizes of multipliers that differ from one by less count as one
KNOWN = 1e-5  # a trivial multiplier that is off by more is none
MOTION, ENERGY = "along the motion", "energy"


@frozen(slots=False, eq=False)
class Multipliers:
    """The multipliers by falling size, without the `trivial` ones, which are named; these were off by `error`."""

    values: np.ndarray
    trivial: tuple[str, ...]
    error: float

    @property
    def stability(self) -> str:
        """`stable` where all small changes die out (but for a shift along the motion), `unstable` where some grow,
        `undecided` where none grows, and some do not die out."""
        sizes = np.abs(self.values)
        if np.any(sizes > 1 + ON_CIRCLE):
            return "unstable"
        return "stable" if np.all(sizes < 1 - ON_CIRCLE) and ENERGY not in self.trivial else "undecided"

    @property
    def all(self) -> np.ndarray:
        return np.concatenate([np.ones(len(self.trivial)), self.values])


def multipliers_of(monodromy: Array, forward: Array | None, energies: Array | None) -> Multipliers:
    """Of a monodromy matrix; `forward` is the direction of the motion, which it keeps, and `energies` how energy
    changes, which it keeps too, where these are so."""
    ways, trivial, error = np.eye(len(monodromy)), [], 0.0
    if forward is not None:
        unit = forward / np.linalg.norm(forward)
        off = float(np.linalg.norm(monodromy @ unit - unit))
        if off <= KNOWN * max(1.0, float(np.linalg.norm(monodromy, 2))):
            ways, error = _across(ways, unit), max(error, off)
            trivial.append(MOTION)
    if energies is not None and trivial and np.linalg.norm(energies) > 0:
        unit = energies / np.linalg.norm(energies)
        off = float(np.linalg.norm(unit @ monodromy - unit))
        if off <= KNOWN * max(1.0, float(np.linalg.norm(monodromy, 2))):
            ways, error = _across(ways, unit), max(error, off)
            trivial.append(ENERGY)
    values = np.linalg.eigvals(ways.T @ monodromy @ ways)
    return Multipliers(values[np.lexsort((-values.imag, -np.round(np.abs(values), 12)))], tuple(trivial), error)


def _across(ways: Array, unit: Array) -> Array:
    """Orthonormal columns that span what of these is across a direction."""
    along = ways.T @ unit
    _, _, right = np.linalg.svd(along[None])
    return np.asarray(ways @ right[1:].T)
