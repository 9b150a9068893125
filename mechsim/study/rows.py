"""Rows of a sweep's file: what was measured of some cases that follow each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mechsim.frozen import frozen
from mechsim.result.layout import Array

if TYPE_CHECKING:
    import pyarrow

FINISHED = "finished"
WORKER_DIED = "worker_died"
BESIDE = ("steps", "status", "message")  # columns after parameters and measures
COLUMNS = ("case", *BESIDE)


@frozen
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
    count = len(rows)
    words, messages = [word.encode() for word in rows.words], [b""] * count
    for k, message in rows.messages.items():
        messages[k] = message.encode()
    cases = numbers(np.arange(first, first + count))
    statuses = texts([words[code] for code in rows.codes.tolist()])
    return [cases, *map(numbers, rows.values.T), numbers(rows.steps), statuses, texts(messages)]


def numbers(values: np.ndarray) -> pyarrow.Array:
    """A column of floats, or of whole numbers. `pyarrow.array` would import pandas, which takes as long as a start."""
    import pyarrow

    kind, wide = (pyarrow.float64(), np.float64) if values.dtype.kind == "f" else (pyarrow.int64(), np.int64)
    content = np.ascontiguousarray(values, dtype=wide)
    return pyarrow.Array.from_buffers(kind, len(content), [None, pyarrow.py_buffer(content)])


def texts(values: Sequence[bytes]) -> pyarrow.Array:
    """A column of texts, given in UTF-8."""
    import pyarrow

    ends = np.zeros(len(values) + 1, dtype=np.int32)
    np.cumsum([len(value) for value in values], out=ends[1:])
    buffers = [None, pyarrow.py_buffer(ends), pyarrow.py_buffer(b"".join(values))]
    return pyarrow.Array.from_buffers(pyarrow.string(), len(values), buffers)


def values_of(column: pyarrow.Array) -> np.ndarray:
    """The numbers of a column without gaps; `to_numpy` would import pandas too."""
    import pyarrow

    kind = np.float64 if column.type == pyarrow.float64() else np.int64
    return np.frombuffer(column.buffers()[1], dtype=kind, count=len(column), offset=8 * column.offset)
