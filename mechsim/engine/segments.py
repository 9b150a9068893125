"""Segments: the smooth pieces of a motion. Where one ends and the next begins, constants of the mechanism change.

At such a time there are two answers to every question: that of the segment that ends there ("before") and that of the
one that begins ("after"). There may be as many segments as steps, so they are kept as columns, and seen as a list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from mechsim.frozen import frozen
from mechsim.kernel.system import System
from mechsim.model.mechanism import Friction, Gap, Mechanism, Pair, Sampler, Switch, Watched

Side = Literal["before", "after"]
SIDES: dict[Side, Literal["left", "right"]] = {"before": "left", "after": "right"}


def last_begun(starts: np.ndarray, times: ArrayLike, side: Side, backwards: bool) -> np.ndarray:
    """The number of the last start until each time, or `before` it, in the order of a motion; the first at least."""
    if side not in SIDES:
        raise ValueError(f'side={side!r} is not known: it is "before" or "after"')
    way = -1.0 if backwards else 1.0
    return np.maximum(np.searchsorted(way * starts, way * np.asarray(times, dtype=float), side=SIDES[side]) - 1, 0)


def same_times(times: np.ndarray) -> np.ndarray:
    """Rows whose time another one has too."""
    same = times[1:] == times[:-1]
    return np.flatnonzero(np.append(same, False) | np.append(False, same))


@frozen
class Segment:
    """From t0 to t1 a motion is smooth; `constants` are those, by number, that differ between segments."""

    t0: float
    t1: float
    constants: Mapping[int, float]


@frozen(eq=False)
class Segments:
    """Segment i begins at `starts[i]`; from there on the constants `numbers` of the mechanism have `values[i]`, all
    others their own. The last one lasts until `end`."""

    starts: np.ndarray
    numbers: np.ndarray
    values: np.ndarray  # (segments, numbers)
    end: float = np.inf

    @classmethod
    def of_tables(cls, mechanism: Mechanism, t0: float, end: float = np.inf) -> Segments:
        """Those that tables and piecewise functions make from t0 on, which are functions of time."""
        constants = np.array(mechanism.constants, dtype=float)
        log = Log(changing(mechanism.switches, mechanism.samplers), constants, t0, end)
        for switch in mechanism.switches:
            for number, value in switch.values.items():
                constants[number] = value
            log.begin(max(switch.time, t0), constants)
        return log.segments

    @classmethod
    def whole(cls, t0: float, end: float) -> Segments:
        """One segment, where nothing changes constants."""
        return cls(np.array([t0]), np.zeros(0, dtype=int), np.zeros((1, 0)), end)

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, number: int) -> Segment:
        number = range(len(self))[number]
        t1 = self.starts[number + 1] if number + 1 < len(self) else self.end
        constants = dict(zip(self.numbers.tolist(), self.values[number].tolist(), strict=True))
        return Segment(float(self.starts[number]), float(t1), constants)

    def __iter__(self) -> Iterator[Segment]:
        return (self[number] for number in range(len(self)))

    @property
    def changing(self) -> np.ndarray:
        """Which of the constants `numbers` change indeed."""
        return np.flatnonzero((self.values != self.values[0]).any(axis=0))

    def at(self, times: ArrayLike, side: Side = "after") -> np.ndarray:
        """The number of the segment at each time. The first one has its start on both sides."""
        return last_begun(self.starts, times, side, self.end < self.starts[0])

    def of_rows(self, times: np.ndarray) -> np.ndarray:
        """The number of the segment of each row, in order: of two rows at one time the first is before, the second
        after what happens then."""
        found = self.at(times)
        first = np.flatnonzero(times[1:] == times[:-1])
        found[first] = self.at(times[first], "before")
        return found

    def system_of_rows(self, system: System, times: np.ndarray) -> System:
        """The system as it is at each row."""
        return self.system(system, self.of_rows(np.asarray(times)))

    def constants(self, own: Sequence[float] | np.ndarray, number: np.ndarray) -> np.ndarray:
        """All constants of the mechanism in segments by number, (..., constants); `own` are the mechanism's own."""
        found = np.empty((*number.shape, len(own)))
        found[:] = own
        found[..., self.numbers] = self.values[number]
        return found

    def system(self, system: System, number: np.ndarray) -> System:
        """The system as it is in a segment, or in one for each of many points."""
        if not len(self.numbers):
            return system
        return system.holding(self.constants(system.constants, number if len(self) > 1 else np.array(0)))

    def system_at(self, system: System, times: ArrayLike, side: Side = "after") -> System:
        """The system as it is at each time."""
        return self.system(system, self.at(times, side))


def changing(
    switches: Iterable[Switch],
    samplers: Iterable[Sampler],
    gaps: Iterable[Gap] = (),
    events: Iterable[Watched] = (),
    pairs: Iterable[Pair] = (),
    frictions: Iterable[Friction] = (),
) -> np.ndarray:
    """The numbers of all constants that these may change."""
    gaps = tuple(gaps)
    found = {number for friction in frictions for number in (friction.mode, friction.sense)}
    found |= {gap.mode for gap in gaps} | {number for event in events for number in event.constants}
    found |= {gap.held for gap in gaps if gap.held is not None}
    found |= {number for pair in pairs for lent in pair.lent for number in lent.constants}
    found |= {number for switch in switches for number in switch.values}
    found |= {number for sampler in samplers for number in sampler.constants}
    return np.array(sorted(found), dtype=int)


class Log:
    """The segments of a motion that goes on, from the start of the first; or the last one if it need not `remember`."""

    def __init__(self, numbers: np.ndarray, constants: np.ndarray, t0: float, end: float, remember: bool = True):
        self.numbers, self.end, self.remember = numbers, end, remember
        self._starts, self._values = np.full(8, t0), np.tile(constants[numbers], (8, 1))
        self._count = 1

    @property
    def segments(self) -> Segments:
        """All until now. Columns only grow, so they are shared, not copied."""
        return Segments(self._starts[: self._count], self.numbers, self._values[: self._count], self.end)

    def begin(self, t: float, constants: np.ndarray) -> None:
        """From t on the mechanism has these constants. At the start itself they are those of the first segment."""
        if not self.remember:
            self._starts[0] = t
        elif t != self._starts[0]:
            self._make_room(self._count + 1)
            self._starts[self._count] = t
            self._count += 1
        self._values[self._count - 1] = constants[self.numbers]

    def extend(self, starts: np.ndarray, values: np.ndarray) -> None:
        """The same for many times, with the constants that may change at each."""
        if not self.remember:
            self._starts[0], self._values[0] = starts[-1], values[-1]
            return
        if starts[0] == self._starts[0]:
            self._values[self._count - 1] = values[0]
            starts, values = starts[1:], values[1:]
        last = self._count + len(starts)
        self._make_room(last)
        self._starts[self._count : last], self._values[self._count : last] = starts, values
        self._count = last

    def keep(self, times: np.ndarray) -> None:
        """Forget segments in which none of these times lies, nor ends or begins."""
        now = self.segments
        seen = np.zeros(self._count, dtype=bool)
        seen[now.at(times, "before")] = seen[now.at(times)] = seen[-1] = True
        kept = np.flatnonzero(seen)
        self._starts, self._values, self._count = self._starts[kept], self._values[kept], len(kept)

    def _make_room(self, count: int) -> None:
        while count > len(self._starts):
            self._starts, self._values = (np.concatenate([each, each]) for each in (self._starts, self._values))
