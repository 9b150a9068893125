"""An outline of a march: points all along it, and its last ones, in a table that is as large however long it lasts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

MOST_POINTS = 4096  # who looks for the cause of an ending takes 200 of them
MOST_NUMBERS = 200_000  # some 2 MB: of large mechanisms there are fewer points
LAST_KEPT = 8  # points at the end of an outline: they tell why a march stopped


class Outline:
    """Points are copied, so that nothing else of their batches stays in memory. `beside` are numbers kept elsewhere for
    a point: the constants of its segment."""

    def __init__(self, beside: int):
        self.beside = beside
        self.rows = 0
        self._table = np.empty((0, 0))
        self._bounds: list[int] = []  # of columns
        self._shapes: list[tuple[int, ...]] = []

    def take(self, part: Sequence[np.ndarray]) -> bool:
        """Add points. Whether others had to be left out for them."""
        if not self.rows:
            self._shapes = [column.shape[1:] for column in part]
            self._bounds = np.cumsum([0, *(column[0].size for column in part)]).tolist()
        last = self.rows + len(part[0])
        self._make_room(last)
        for begin, end, column in zip(self._bounds, self._bounds[1:], part, strict=False):
            self._table[self.rows : last, begin:end] = column.reshape(len(column), -1)
        self.rows = last
        if self.rows <= self.most:
            return False
        while self.rows > self.most:
            self._thin()
        return True

    @property
    def most(self) -> int:
        """So many points are kept."""
        return max(4 * LAST_KEPT, min(MOST_POINTS, MOST_NUMBERS // (self._bounds[-1] + self.beside)))

    @property
    def times(self) -> np.ndarray:
        return self._table[: self.rows, 0]

    @property
    def columns(self) -> tuple[np.ndarray, ...]:
        """The points, in columns as they were given."""
        pieces = zip(self._bounds, self._bounds[1:], self._shapes, strict=False)
        return tuple(
            self._table[: self.rows, begin:end].reshape(self.rows, *shape).copy() for begin, end, shape in pieces
        )

    def _thin(self) -> None:
        """Keep half of the points: the last ones, and of the others as many evenly in time as evenly in number, for
        steps crowd before a pole."""
        t, others = self.times, self.rows - LAST_KEPT
        kept = np.zeros(self.rows, dtype=bool)
        in_time = np.abs(t - t[0]).searchsorted(np.linspace(0.0, abs(t[-1] - t[0]), others // 4))
        kept[:others:4] = kept[np.minimum(in_time, others)] = kept[others:] = True
        rows = int(kept.sum())
        self._table[:rows] = self._table[: self.rows][kept]
        self.rows = rows

    def _make_room(self, rows: int) -> None:
        """Memory is taken once, but for a batch that is larger than those before; pages are touched when written."""
        if rows > len(self._table):
            table = np.empty((max(rows, self.most + rows - self.rows), self._bounds[-1]))
            table[: self.rows] = self._table[: self.rows] if self.rows else 0.0
            self._table = table
