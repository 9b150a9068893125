"""Rows of a sweep's file: what was measured of some cases that follow each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mechsim.result.layout import Array

if TYPE_CHECKING:
    import pyarrow

FINISHED = "finished"
WORKER_DIED = "worker_died"
BESIDE = ("steps", "status", "message")  # columns after parameters and measures
COLUMNS = ("case", *BESIDE)


@dataclass(frozen=True, slots=True)
class Rows:
    """Measures (cases, labels), numbers of steps, `codes` of statuses in `words`, messages of those that have one."""

    values: Array
    steps: np.ndarray
    codes: np.ndarray
    words: tuple[str, ...]
    messages: Mapping[int, str]

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def failed(self) -> int:
        known = [code for code, word in enumerate(self.words) if word == FINISHED]
        return int(np.count_nonzero(~np.isin(self.codes, known)))

    @property
    def status(self) -> list[str]:
        return [self.words[code] for code in self.codes.tolist()]


def failed_rows(count: int, labels: int, status: str, message: str) -> Rows:
    """Rows of cases that all failed alike."""
    nothing = np.full((count, labels), np.nan)
    steps, codes = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int8)
    return Rows(nothing, steps, codes, (status,), dict.fromkeys(range(count), message))


def joined(rows: Sequence[Rows]) -> Rows:
    """Rows one after the other."""
    words = tuple(dict.fromkeys(word for each in rows for word in each.words))
    codes, first = [], 0
    messages: dict[int, str] = {}
    for each in rows:
        translated = np.array([words.index(word) for word in each.words], dtype=np.int8)
        codes.append(translated[each.codes])
        messages |= {first + k: message for k, message in each.messages.items()}
        first += len(each)
    values = np.concatenate([each.values for each in rows])
    return Rows(values, np.concatenate([each.steps for each in rows]), np.concatenate(codes), words, messages)


def schema_of(labels: Sequence[str], names: Sequence[str] = ()) -> pyarrow.Schema:
    """Columns of rows: with `names` those of the parameters too."""
    import pyarrow

    numbers = [(label, pyarrow.float64()) for label in (*names, *labels)]
    texts = [("status", pyarrow.string()), ("message", pyarrow.string())]
    return pyarrow.schema([("case", pyarrow.int64()), *numbers, ("steps", pyarrow.int64()), *texts])


def arrays_of(first: int, rows: Rows) -> list[pyarrow.Array]:
    """The columns of `schema_of(labels)`, of cases from `first` on."""
    import pyarrow

    count = len(rows)
    messages = [""] * count
    for k, message in rows.messages.items():
        messages[k] = message
    statuses = pyarrow.DictionaryArray.from_arrays(rows.codes, list(rows.words)).cast(pyarrow.string())
    values = [pyarrow.array(np.ascontiguousarray(column)) for column in rows.values.T]
    numbers = pyarrow.array(np.arange(first, first + count, dtype=np.int64))
    return [numbers, *values, pyarrow.array(rows.steps), statuses, pyarrow.array(messages, pyarrow.string())]
