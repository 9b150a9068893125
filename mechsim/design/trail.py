"""What a search shows of its goal on its way: whether it falls without end, and whether derivatives bear out.

A goal that is straight has no least value where no bound is in its way, and IPOPT would walk on for as long as it may.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechsim.result.layout import Array

EVENLY = 25  # steps in a row over which the goal falls evenly: it is then straight
STRAIGHT = 1e-9  # of its size: a gradient that changes by less does not
FAR = 1e6  # of scales: a number without bound is not looked for any farther
# Where both ends of a step tell nearly the same slope along it, within a factor, the goal must have changed by that
# much, but for so large a share of it; changes below roundings of the goal tell nothing.
ALIKE, OFF, ROUND = 1.5, 0.5, 1e-9
FEWEST = 2  # steps that do not bear out, and more than half of all that tell: else it may be a kink


@dataclass(slots=True, eq=False)
class Trail:
    """Of numbers in scales: which may become smaller without end, and which larger."""

    below: Array
    above: Array
    told: int = 0  # steps that tell of derivatives
    off: int = 0  # those of them over which the goal changed otherwise
    even: int = 0
    moved: Array | None = None  # by the last step
    without_end: bool = False
    _last: tuple[Array, float, Array] | None = None

    def hear(self, x: Array, goal: float, gradient: Array, slopes: Array) -> None:
        """Where the search stands; `slopes` are those of what must hold, (relations, numbers)."""
        before, self._last = self._last, (x.copy(), goal, gradient.copy())
        if before is None or not (step := x - before[0]).any():
            return
        self.moved = step
        free = np.where(step < 0, self.below, self.above)[step != 0].all()
        straight = np.linalg.norm(gradient - before[2]) <= STRAIGHT * np.linalg.norm(gradient)
        falls = straight and free and goal < before[1] and not (slopes @ step).any()
        self.even = self.even + 1 if falls else 0
        far = np.where(x < 0, self.below, self.above)[: len(x)] & (np.abs(x) > FAR)
        self.without_end = self.even >= EVENLY or bool(far.any())
        sides = float(before[2] @ step), float(gradient @ step)
        self._compare(goal - before[1], *sides, max(abs(goal), abs(before[1])))

    def _compare(self, change: float, first: float, second: float, size: float) -> None:
        """The change of the goal over a step with its slopes along it at both ends."""
        least, most = sorted((abs(first), abs(second)))
        if first * second <= 0 or most > ALIKE * least or least <= ROUND * size:
            return
        self.told += 1
        expected = 0.5 * (first + second)
        self.off += bool(abs(change - expected) > OFF * abs(expected))

    @property
    def doubtful(self) -> bool:
        """Whether the goal changes otherwise than its derivatives say."""
        return self.off >= FEWEST and 2 * self.off > self.told

    def endless(self, names: tuple[str, ...]) -> str:
        """What a person should know of a goal that falls without end."""
        assert self.moved is not None and self._last is not None
        x = self._last[0]
        lost = [
            f"{'smaller' if step < 0 else 'larger'} {names[k]}"
            for k, step in enumerate(self.moved[: len(names)].tolist())
            if (self.below[k] if step < 0 else self.above[k]) and abs(step) > STRAIGHT * np.abs(x).max()
        ]
        return f"the goal falls on and on with {', '.join(lost)}: it has no least value as far as is seen. Give bounds"
