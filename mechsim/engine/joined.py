"""Motions that follow each other as one: where one ends and the next begins the state may jump."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mechsim.engine.segments import Segments
from mechsim.engine.solution import Solution


def joined(parts: Sequence[Solution]) -> Solution:
    """One solution of several, of one system but for what switches set, with polynomials of one order. Between two it
    has a step without length, as there is one at an impact; tangents stay with the parts."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    t, q, v, lam = (np.concatenate([getattr(part, name) for part in parts]) for name in ("t", "q", "v", "lam"))
    return replace(
        first,
        t=t,
        q=q,
        v=v,
        lam=lam,
        coefficients=_polynomials(parts),
        segments=_segments([part.segments for part in parts]),
        statistics=_statistics(parts),
        handed_on=None,
        tangents=None,
        directions=None,
    )


def _polynomials(parts: Sequence[Solution]) -> np.ndarray:
    found: list[np.ndarray] = []
    for part in parts:
        assert part.coefficients is not None
        if found:
            between = np.zeros((1, *part.coefficients.shape[1:]))
            between[0, :, 0] = part.coefficients[0, :, 0]
            found.append(between)
        found.append(part.coefficients)
    return np.concatenate(found)


def _segments(parts: Sequence[Segments]) -> Segments:
    starts, values = (np.concatenate([getattr(part, name) for part in parts]) for name in ("starts", "values"))
    return Segments(starts, parts[0].numbers, values, parts[-1].end)


def _statistics(parts: Sequence[Solution]) -> dict[str, float]:
    """Those of the first, with what can be added up."""
    added = "steps", "rejected", "factorizations", "evaluations", "seconds"
    return {**parts[0].statistics, **{key: sum(part.statistics[key] for part in parts) for key in added}}
