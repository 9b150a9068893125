"""Equations that follow from others where a search ends: of a motion that closes, where energy is kept, say."""

from __future__ import annotations

import numpy as np

from mechsim.nonlinear import Indices
from mechsim.result.layout import Array

LEFT = 1e-3  # of the largest that was seen of an equation: less of its derivatives is none


def dependent(slopes: Array, before: Array) -> Indices:
    """The equations whose derivatives, (equations, numbers), are zero or combinations of others here, by number; those
    `before` were found elsewhere. An equation that is met where it has no derivatives has no price."""
    sizes = np.maximum(np.linalg.norm(slopes, axis=1), np.linalg.norm(before, axis=1))
    left, lost = slopes / np.where(sizes > 0, sizes, 1.0)[:, None], []
    taken = np.zeros(len(slopes), dtype=bool)
    for _ in range(len(slopes)):
        lengths = np.where(taken, 0.0, np.linalg.norm(left, axis=1))
        best = int(np.argmax(lengths))
        if lengths[best] <= LEFT:
            lost = np.flatnonzero(~taken).tolist()
            break
        taken[best] = True
        way = left[best] / lengths[best]
        left = left - np.outer(left @ way, way)
    return np.array(lost, dtype=np.intp)
