"""Finished cases while a sweep lasts: an Arrow stream beside its file, a record batch for each chunk, so that whatever
ends the sweep, what was finished is found again. `out.parquet` has its journal in `out.partial.arrow`.

The schema's metadata say which plan the rows belong to. Each batch carries a checksum of itself; what follows the last
sound one (a batch that was being written when the machine stopped, say) is dropped.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

import numpy as np

from mechsim.errors import Fault
from mechsim.result.paths import OutputError, explained, held
from mechsim.study.plan import Plan
from mechsim.study.rows import Rows, arrays_of, numbers, schema_of, values_of

if TYPE_CHECKING:
    import pyarrow

KEY = b"mechsim_sweep_plan"
CHECK = "check"
HEAD = 65536  # bytes within which the schema of a journal begins
CALLED = {
    "version": "mechsim",
    "mechanism": "the mechanism's text",
    "tables": "its tables",
    "parameters": "the set of parameters",
    "settings": "the settings",
    "vary": "--vary",
    "values": "the values of --vary",
    "cases": "the file of cases",
    "draws": "the draws",
    "measures": "--measure",
    "motions": "--motions",
}


class Batch(NamedTuple):
    """Where rows of cases that follow each other stand."""

    first: int
    rows: int
    offset: int


class Memory:
    """The rows of a sweep that has no file."""

    dropped = 0

    def __init__(self, plan: Plan):
        self.plan = plan
        self.found: dict[int, Rows] = {}

    @property
    def missing(self) -> list[tuple[int, int]]:
        return [(0, len(self.plan.cases))]

    def append(self, first: int, rows: Rows) -> None:
        self.found[first] = rows

    def in_order(self) -> Iterator[tuple[int, pyarrow.RecordBatch]]:
        import pyarrow

        columns = schema_of(self.plan.measures.labels)
        for first in sorted(self.found):
            yield first, pyarrow.RecordBatch.from_arrays(arrays_of(first, self.found[first]), schema=columns)

    def close(self) -> None:
        """There is nothing to keep."""

    def remove(self) -> None:
        """There is nothing to remove."""


def journal_path(target: Path) -> Path:
    return target.with_name(f"{target.stem}.partial.arrow")


class Journal:
    """The journal of a plan, open for writing and held against other sweeps until it is closed."""

    def __init__(self, target: Path, plan: Plan, *, resume: bool, restart: bool):
        self.path, self.plan = journal_path(target), plan
        self.batches: list[Batch] = []
        self.dropped = 0  # bytes after the last sound batch
        self._schema = _schema(plan)
        self.stream = held(self.path, _is_journal)
        try:
            self._begin(resume, restart)
        except BaseException:
            self.stream.close()
            raise

    def _begin(self, resume: bool, restart: bool) -> None:
        size = os.fstat(self.stream.fileno()).st_size
        found = _read_schema(self.stream) if size and not restart else None
        if found is not None and not resume:
            if next(_batches(self.stream, found), None) is not None:
                hint = "--resume goes on where it was, --restart begins anew"
                raise OutputError(Fault(f"{self.path} holds finished cases of a sweep that did not end", hint=hint))
            found = None
        if found is None:  # nothing there, not even a whole head, or nothing that is wanted
            self._truncate(0)
            self._write(memoryview(self._schema.serialize()))
            return
        self._refuse_other(_identity(found))
        self._recover(size)

    def _recover(self, size: int) -> None:
        """Find what batches there are; what follows the last sound one is dropped."""
        offset = self.stream.tell()
        reached: set[int] = set()
        for batch, table in _batches(self.stream, self._schema):
            if batch.first in reached or not _is_sound(table, batch, self.plan):
                break
            reached.add(batch.first)
            self.batches.append(batch)
            offset = self.stream.tell()
        self.dropped = size - offset
        self._truncate(offset)

    def _refuse_other(self, found: Mapping[str, str]) -> None:
        wanted = self.plan.identity
        others = [key for key in wanted if found.get(key) != wanted[key]]
        if "vary" in others and "values" in others:
            others.remove("values")
        if not others:
            return
        told = [_difference(key, found.get(key, ""), wanted[key]) for key in others]
        hint = "--restart begins anew; or choose another name with -o"
        raise OutputError(Fault(f"{self.path} is of another sweep: {'; '.join(told)}", hint=hint))

    @property
    def missing(self) -> list[tuple[int, int]]:
        """Cases that are not there, as (first, last + 1), in order."""
        gaps, reached = [], 0
        for batch in sorted(self.batches):
            if batch.first > reached:
                gaps.append((reached, batch.first))
            reached = max(reached, batch.first + batch.rows)
        return [*gaps, (reached, len(self.plan.cases))] if reached < len(self.plan.cases) else gaps

    def append(self, first: int, rows: Rows) -> None:
        """Keep the rows of cases from `first` on: handed to the operating system when this returns."""
        import pyarrow

        arrays = arrays_of(first, rows)
        check = numbers(np.full(len(rows), _checksum(arrays)))
        batch = pyarrow.RecordBatch.from_arrays([*arrays, check], schema=self._schema)
        offset = self.stream.tell()
        self._write(memoryview(batch.serialize()))
        self.batches.append(Batch(first, len(rows), offset))

    def in_order(self) -> Iterator[tuple[int, pyarrow.RecordBatch]]:
        """All rows, by their cases: the number of the first of each batch, and its columns."""
        for batch in sorted(self.batches):
            self.stream.seek(batch.offset)
            found = next(_batches(self.stream, self._schema), None)
            if found is None:
                raise OutputError(Fault(f"{self.path} cannot be read any more", hint="did another program change it?"))
            yield batch.first, found[1].drop_columns([CHECK])

    def close(self) -> None:
        """Leave the journal where it is, unless it has nothing to keep."""
        if self.batches:
            self.stream.close()
        else:
            self.remove()

    def remove(self) -> None:
        """The rows are elsewhere now. It is removed while it is held, for then nobody else is writing to it."""
        if os.name == "nt":  # where an open file cannot be removed
            self.stream.close()
        with suppress(OSError):
            self.path.unlink(missing_ok=True)
        self.stream.close()

    def _truncate(self, size: int) -> None:
        with explained(self.path):
            self.stream.truncate(size)
            self.stream.seek(size)

    def _write(self, content: memoryview) -> None:
        """All of it or nothing: after a write that failed half-way, the file ends where it did before."""
        begin = self.stream.tell()
        with explained(self.path):
            try:
                while content:
                    content = content[self.stream.write(content) :]
            except OSError:
                self.stream.truncate(begin)
                raise


def _schema(plan: Plan) -> pyarrow.Schema:
    import pyarrow

    columns = schema_of(plan.measures.labels)
    return columns.append(pyarrow.field(CHECK, pyarrow.int64())).with_metadata({KEY: json.dumps(plan.identity)})


def _is_journal(stream: IO[bytes]) -> bool:
    """Whether a file begins as a journal does, as far as it goes."""
    head = stream.read(HEAD)
    return KEY in head or (len(head) < HEAD and head[:4] == b"\xff\xff\xff\xff"[: len(head[:4])])


def _read_schema(stream: IO[bytes]) -> pyarrow.Schema | None:
    import pyarrow

    stream.seek(0)
    try:
        message = pyarrow.ipc.read_message(stream)
        schema = pyarrow.ipc.read_schema(message)
    except (pyarrow.ArrowException, EOFError, OSError):
        return None
    return schema if KEY in (schema.metadata or {}) else None


def _identity(schema: pyarrow.Schema) -> dict[str, str]:
    try:
        found = json.loads(schema.metadata[KEY])
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _batches(stream: IO[bytes], schema: pyarrow.Schema) -> Iterator[tuple[Batch, pyarrow.RecordBatch]]:
    """Record batches from where the stream stands, as long as they can be read."""
    import pyarrow

    while True:
        offset = stream.tell()
        try:
            table = pyarrow.ipc.read_record_batch(pyarrow.ipc.read_message(stream), schema)
            table.validate(full=True)
            first = table.column(0)[0].as_py()
        except (pyarrow.ArrowException, EOFError, OSError, IndexError, MemoryError):
            return
        yield Batch(first, table.num_rows, offset), table


def _is_sound(table: pyarrow.RecordBatch, batch: Batch, plan: Plan) -> bool:
    cases = values_of(table.column(0))
    follow = np.array_equal(cases, np.arange(batch.first, batch.first + batch.rows))
    within = batch.first >= 0 and batch.first + batch.rows <= len(plan.cases)
    arrays = table.columns[:-1]
    return follow and within and bool(np.all(values_of(table.column(CHECK)) == _checksum(arrays)))


def _checksum(arrays: list[pyarrow.Array]) -> int:
    """Of what the columns hold, however they hold it."""
    import pyarrow

    check = 0
    for array in arrays:
        plain = array.type in (pyarrow.int64(), pyarrow.float64())
        content = values_of(array).tobytes() if plain else "\0".join(array.to_pylist()).encode()
        check = zlib.crc32(content, check)
    return check


def _difference(key: str, found: str, wanted: str) -> str:
    called = CALLED.get(key, key)
    if key in ("mechanism", "tables", "values", "cases"):
        return f"{called} {'are' if called.endswith('s') else 'is'} another"
    was, is_now = ("were", "are") if called.endswith("settings") else ("was", "is")
    return f"{called} {was} {found}, {is_now} {wanted}"
