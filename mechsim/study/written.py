"""The file of a sweep: Parquet, or CSV by its ending; a row for each case, in their order. It is made from the journal
in pieces of fixed size, so that its bytes depend on nothing but the rows, and memory on nothing but the piece."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from mechsim._version import __version__
from mechsim.errors import Fault
from mechsim.result.paths import OutputError, check_target, explained
from mechsim.study.plan import Plan
from mechsim.study.rows import BESIDE, numbers, schema_of

if TYPE_CHECKING:
    import pyarrow

ENDINGS = (".parquet", ".csv")
KEY = b"mechsim_sweep"
PIECE = 65536  # rows
HEAD_LINE = "# sweep: "
Found = Iterable[tuple[int, "pyarrow.RecordBatch"]]


def sweep_target(path: str | Path, sources: Iterable[str | Path] = ()) -> Path:
    """The path that a sweep can be written to, or an OutputError that says why not."""
    hint = f"use one of {', '.join(ENDINGS)}"
    if Path(path).suffix.lower() == ".npz" or str(path) == "-":
        raise OutputError(Fault(f"cannot write a sweep to {path}", hint=hint))
    if Path(path).suffix.lower() not in ENDINGS and (Path(path).is_file() or not Path(path).exists()):
        raise OutputError(Fault(f"cannot write {path}: its ending is not known", hint=hint))
    target = check_target(path, sources)
    if target.exists() and not target.is_file():
        raise OutputError(Fault(f"cannot write a sweep to {path}: it is no regular file"))
    return target


def write(target: Path, plan: Plan, found: Found) -> None:
    """Put all rows in the target's place in one move."""
    with _beside(target) as (temporary, stream):
        make = _write_csv if target.suffix.lower() == ".csv" else _write_parquet
        make(stream, plan, found)
        stream.flush()
        os.fsync(stream.fileno())  # the journal is removed next
        os.replace(temporary, target)


@contextmanager
def _beside(target: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """A file to be renamed. Its name belongs to the journal, which is held, so what stands there was left behind."""
    temporary = target.with_name(f"{target.stem}.partial.arrow{target.suffix}")
    with explained(target):
        temporary.unlink(missing_ok=True)
        try:
            with open(temporary, "xb") as stream:
                yield temporary, stream
        finally:
            temporary.unlink(missing_ok=True)


def schema(plan: Plan) -> pyarrow.Schema:
    return schema_of(plan.measures.labels, plan.cases.names).with_metadata({KEY: json.dumps(plan.facts)})


def pieces(plan: Plan, found: Found) -> Iterator[pyarrow.Table]:
    """Rows with their parameters, so many at a time, whatever batches they come in."""
    import pyarrow

    columns = schema(plan)
    waiting: list[pyarrow.RecordBatch] = []
    count = 0
    for first, batch in found:
        values = plan.cases.columns(first, first + batch.num_rows).values()
        arrays = [batch.column(0), *map(numbers, values), *batch.columns[1:]]
        waiting.append(pyarrow.RecordBatch.from_arrays(arrays, schema=columns))
        count += batch.num_rows
        if count >= PIECE:
            table = pyarrow.Table.from_batches(waiting).combine_chunks()
            whole = count - count % PIECE
            yield from (table.slice(begin, PIECE).combine_chunks() for begin in range(0, whole, PIECE))
            waiting, count = table.slice(whole).to_batches(), count - whole
    if count or not len(plan.cases):
        yield pyarrow.Table.from_batches(waiting, columns).combine_chunks()


def _write_parquet(stream: IO[bytes], plan: Plan, found: Found) -> None:
    import pyarrow.parquet

    with pyarrow.parquet.ParquetWriter(stream, schema(plan), compression="zstd") as writer:
        for table in pieces(plan, found):
            writer.write_table(table, row_group_size=PIECE)


def _write_csv(stream: IO[bytes], plan: Plan, found: Found) -> None:
    import pyarrow.csv

    head = io.StringIO()
    head.write(f"# mechsim {__version__}\n{HEAD_LINE}{json.dumps(plan.facts)}\n")
    csv.writer(head, lineterminator="\n").writerow(schema(plan).names)
    stream.write(head.getvalue().encode())
    options = pyarrow.csv.WriteOptions(include_header=False, quoting_style="needed")
    for table in pieces(plan, found):
        pyarrow.csv.write_csv(table, stream, options)


def is_sweep(path: str | Path) -> bool:
    """Whether a file was written by a sweep, as far as its head tells; False too for what cannot be read."""
    import pyarrow

    try:
        if Path(path).suffix.lower() == ".parquet":
            import pyarrow.parquet

            return KEY in (pyarrow.parquet.read_schema(path).metadata or {})
        if Path(path).suffix.lower() == ".csv":
            with open(path, encoding="utf-8") as stream:
                return stream.readline().startswith("# mechsim ") and stream.readline().startswith(HEAD_LINE)
    except (OSError, ValueError, pyarrow.ArrowException):
        return False
    return False


def read_facts(path: str | Path) -> dict[str, object]:
    """The facts of a file that is a sweep."""
    import pyarrow.parquet

    if Path(path).suffix.lower() == ".parquet":
        found = json.loads(pyarrow.parquet.read_schema(path).metadata[KEY])
    else:
        with open(path, encoding="utf-8") as stream:
            stream.readline()
            found = json.loads(stream.readline().removeprefix(HEAD_LINE))
    return dict(found)


def read_columns(path: str | Path) -> tuple[dict[str, object], pyarrow.Table]:
    """The facts of a sweep's file and its columns. Raises what the readers of its form raise, or KeyError."""
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet

    if Path(path).suffix.lower() == ".parquet":
        table = pyarrow.parquet.read_table(path)
        return json.loads(table.schema.metadata[KEY]), table
    with open(path, "rb") as stream:
        lines = [stream.readline().decode() for _ in range(3)]
        facts = json.loads(lines[1].removeprefix(HEAD_LINE))
        titles = next(csv.reader([lines[2]]))
        kinds = dict.fromkeys(titles, pyarrow.float64()) | {"case": pyarrow.int64(), "steps": pyarrow.int64()}
        kinds |= dict.fromkeys(("status", "message"), pyarrow.string())
        table = pyarrow.csv.read_csv(
            stream,
            pyarrow.csv.ReadOptions(column_names=titles),
            convert_options=pyarrow.csv.ConvertOptions(column_types=kinds, strings_can_be_null=False),
        )
    return facts, table


def columns_of(facts: dict[str, object], names: Iterable[str]) -> bool:
    """Whether a file has the columns that its facts tell of."""
    vary, measures = facts["vary"], facts["measures"]
    assert isinstance(vary, list) and isinstance(measures, list)
    wanted = ["case", *(each["name"] for each in vary), *(each["label"] for each in measures), *BESIDE]
    return sorted(wanted) == sorted(names)
