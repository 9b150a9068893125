"""Which cases are run next, and how far a sweep has come."""

from __future__ import annotations

import math
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence

import numpy as np

from mechsim.frozen import frozen
from mechsim.study.cases import Cases
from mechsim.study.executors import Done
from mechsim.study.rows import FINISHED, Rows
from mechsim.study.worker import Chunk

TARGET = 0.5  # seconds that a chunk should take: long beside what handing it over costs, short for who waits
LARGEST = 20_000  # cases of a chunk
FEWEST = 32  # that fill the kernel's lanes; a chunk has less only where these take too long
GROWTH = 8
WINDOW = 10.0  # seconds over which the rate is taken


class Schedule:
    """Chunks of missing cases, sized by what cases took so far."""

    def __init__(self, cases: Cases, missing: Sequence[tuple[int, int]], workers: int):
        self.cases, self.workers = cases, workers
        self.outstanding = 0
        self._gaps = list(reversed(missing))
        self._back: list[Chunk] = []  # chunks whose workers died
        self._deaths: Counter[int] = Counter()
        self._each: float | None = None  # seconds for a case
        self._largest = 0  # chunk that came back

    @property
    def left(self) -> int:
        """Cases that were not handed out."""
        return sum(last - first for first, last in self._gaps) + sum(map(len, self._back))

    def next(self) -> Chunk:
        self.outstanding += 1
        if self._back:
            return self._back.pop()
        size = self._size()
        first, last = self._gaps.pop()
        end = min(last, first + size)
        if end < last:
            self._gaps.append((end, last))
        return Chunk(first, self.cases.columns(first, end))

    def _size(self) -> int:
        if self._each is None:
            return 1
        wanted = TARGET / max(self._each, 1e-9)
        share = math.ceil(self.left / (2 * self.workers))  # so that all end at about the same time
        most = min(LARGEST, GROWTH * self._largest, max(share, FEWEST))
        return int(max(1, min(wanted, most)))

    def returned(self, done: Done) -> bool:
        """Whether a chunk is done for good. One whose worker died is halved and tried again; a single case that does so
        twice is not."""
        self.outstanding -= 1
        count = len(done.chunk)
        if done.rows is None:
            if count == 1:
                self._deaths[done.chunk.first] += 1
                if self._deaths[done.chunk.first] > 1:
                    return True
                self._back.append(done.chunk)
            else:
                self._back += reversed(done.chunk.halves())
            return False
        each = done.seconds / count
        # A chunk of few cases tells little of what one of many takes.
        known = self._each is not None and count < self._largest
        self._each = each if not known or self._each is None else 0.7 * self._each + 0.3 * max(each, self._each)
        self._largest = max(self._largest, count)
        return True


class Tally:
    """What is told of rows at the end: how many of each status, with a message of the first; the range of measures."""

    def __init__(self, labels: Sequence[str]):
        self.labels = tuple(labels)
        self.counts: Counter[str] = Counter()
        self.examples: dict[str, tuple[int, str]] = {}  # by status: the first case, and what it says
        self.remarks: tuple[int, int, str] | None = None  # finished cases with a message: how many, the first, what
        self.least = np.full(len(self.labels), np.inf)
        self.greatest = np.full(len(self.labels), -np.inf)
        self.unknown = np.zeros(len(self.labels), dtype=np.int64)  # finished cases without a number

    def add(self, first: int, rows: Rows) -> None:
        finished = np.array([word == FINISHED for word in rows.words], dtype=bool)[rows.codes]
        for code, number in zip(*np.unique(rows.codes, return_counts=True), strict=True):
            self.counts[rows.words[code]] += int(number)
        for k, message in rows.messages.items():
            self._remark(first + k, rows.words[rows.codes[k]], message)
        values = rows.values[finished]
        known = np.isfinite(values)
        self.unknown += (~known).sum(axis=0)
        self.least = np.minimum(self.least, np.where(known, values, np.inf).min(axis=0, initial=np.inf))
        self.greatest = np.maximum(self.greatest, np.where(known, values, -np.inf).max(axis=0, initial=-np.inf))

    def _remark(self, case: int, status: str, message: str) -> None:
        if status == FINISHED:
            count, first, text = self.remarks or (0, case, message)
            self.remarks = (count + 1, *min((first, text), (case, message)))
        else:
            self.examples[status] = min(self.examples.get(status, (case, message)), (case, message))

    @property
    def done(self) -> int:
        return self.counts.total()

    @property
    def failed(self) -> int:
        return self.done - self.counts[FINISHED]


@frozen
class AtWork:
    """One worker: what it is at, and what it has done."""

    name: str
    cases: int
    rate: float  # cases a second of its own time
    chunk: tuple[int, int] | None  # first and last case


@frozen
class Standing:
    """How far a sweep has come."""

    done: int
    count: int
    failed: int
    rate: float  # cases a second, lately
    seconds: float
    workers: Sequence[AtWork]

    @property
    def left(self) -> float | None:
        """Seconds that the rest will take."""
        return (self.count - self.done) / self.rate if self.rate > 0 else None


class Watch:
    """Rates, lately and of each worker."""

    def __init__(self) -> None:
        self.began = time.perf_counter()
        self._seen: deque[tuple[float, int]] = deque([(self.began, 0)])
        self._workers: dict[str, tuple[int, float]] = {}
        self._ran = 0

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.began

    @property
    def rate(self) -> float:
        """Over the whole time."""
        return self._ran / max(self.seconds, 1e-9)

    def saw(self, done: Done) -> None:
        self._ran += len(done.chunk)
        now = time.perf_counter()
        self._seen.append((now, self._ran))
        while len(self._seen) > 2 and now - self._seen[0][0] > WINDOW:
            self._seen.popleft()
        cases, seconds = self._workers.get(done.worker, (0, 0.0))
        self._workers[done.worker] = cases + len(done.chunk), seconds + done.seconds

    def standing(self, tally: Tally, count: int, busy: Mapping[str, Chunk]) -> Standing:
        (then, before), (now, after) = self._seen[0], self._seen[-1]
        rate = (after - before) / (now - then) if now > then else 0.0
        lines = []
        for name in sorted({*self._workers, *busy}):
            cases, seconds = self._workers.get(name, (0, 0.0))
            chunk = busy.get(name)
            place = None if chunk is None else (chunk.first, chunk.first + len(chunk) - 1)
            lines.append(AtWork(name, cases, cases / seconds if seconds else 0.0, place))
        return Standing(tally.done, count, tally.failed, rate, self.seconds, lines)
