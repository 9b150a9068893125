"""A search at a kink of its goal: of the largest of several peaks the least, of sizes that cannot all be zero.

IPOPT takes the goal for smooth, and at a kink halves its steps until they are roundings, again and again. There a mean
of the derivatives on all its sides is zero (Clarke 1975), with the pull of what holds back: these were seen on the way.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mechsim.frozen import frozen
from mechsim.result.layout import Array

LITTLE = 1e-7  # of scales: a shorter step leads nowhere
CUT = 8  # halvings of a step, at least, that was so cut
GAIN = 1e-9  # of the goal: less is none
PATIENCE = 3  # such steps in a row
BESIDE = 1e-4  # of scales: derivatives of the sides of a kink are those that were seen so near
ZERO = 1e-3  # of the largest on the way: a mean that is less is zero, to as many digits as such distances allow
HELD = 1e-6  # of scales, or of what must hold: so near to a limit it may hold back
SEEN = 60  # derivatives that are remembered


@frozen(eq=False)
class Pulls:
    """What may hold back at some numbers: how it changes with these, (pulls, numbers), as it would be exceeded, and
    whose multiplier says how much: the kind (of relations, bounds below, bounds above), the place, and the sign."""

    slopes: Array
    places: tuple[tuple[int, int, float], ...]

    def multipliers(self, shares: Array, counts: tuple[int, int]) -> list[Array]:
        """Of relations, bounds below and bounds above, of so many relations and numbers."""
        found = [np.zeros(counts[0]), np.zeros(counts[1]), np.zeros(counts[1])]
        for (kind, place, sign), share in zip(self.places, shares.tolist(), strict=True):
            found[kind][place] += sign * share
        return found


def pulls_of(values: Array, slopes: Array, limits: tuple[Array, Array], x: Array, bounds: tuple[Array, Array]) -> Pulls:
    """Of relations with these values, and of numbers in scales, next to their limits."""
    rows: list[Array] = []
    places: list[tuple[int, int, float]] = []
    for is_relation, own, sides in ((True, values, limits), (False, x, bounds)):
        near = own - sides[0] <= HELD, sides[1] - own <= HELD
        for above, sign in enumerate((-1.0, 1.0)):
            for k in np.flatnonzero(near[above]).tolist():
                rows.append(sign * (slopes[k] if is_relation else np.eye(len(x))[k]))
                places.append((0, k, sign) if is_relation else (1 + above, k, 1.0))
    return Pulls(np.array(rows).reshape(-1, len(x)), tuple(places))


@dataclass(slots=True, eq=False)
class Kink:
    """Of numbers in scales. `reached`: steps lead nowhere any more; `sharp`: derivatives there are not small by
    themselves, as where roundings of a smooth goal end a search."""

    reached: bool = False
    sharp: bool = True
    _largest: float = 0.0
    _still: int = 0
    _goal: float = np.inf
    _seen: list[tuple[Array, Array]] = field(default_factory=list)

    def hear(self, x: Array, goal: float, gradient: Array, trials: float) -> None:
        """Where the search stands, after how many trials of a step."""
        before = self._seen[-1][0] if self._seen else np.full_like(x, np.inf)
        self._seen = [*self._seen[1 - SEEN :], (x.copy(), gradient.copy())]
        self._largest = max(self._largest, float(np.abs(gradient).max(initial=0.0)))
        little = np.abs(x - before).max(initial=0.0) <= LITTLE and goal >= self._goal - GAIN * abs(goal)
        self._still = self._still + 1 if little and trials > CUT else 0
        self._goal = min(self._goal, goal)
        self.reached = self._still >= PATIENCE

    def balance(self, x: Array, pulls: Pulls) -> Array | None:
        """The pull of each that makes a mean of the derivatives on all sides of a kink zero; None if there is none."""
        from scipy.optimize import nnls  # seldom needed

        sides = np.array([gradient for place, gradient in self._seen if np.abs(place - x).max() <= BESIDE])
        size = self._largest
        self.sharp = bool(np.abs(sides).max(initial=0.0) > ZERO * size)
        if not len(sides) or size == 0.0:
            return None
        both = np.concatenate([sides / size, pulls.slopes])
        is_side = (np.arange(len(both)) < len(sides)).astype(float)
        shares, _ = nnls(np.column_stack([both, is_side]).T, np.append(np.zeros(len(x)), 1.0))
        total = float(shares @ is_side)
        if total == 0.0 or np.linalg.norm(shares @ both) > ZERO * total:
            return None
        return np.asarray(size * shares[len(sides) :] / total)
