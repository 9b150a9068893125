"""A sweep as it came out: a column for each parameter and each measure, a row for each case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, cast

import numpy as np

from mechsim.errors import Fault, MechsimError
from mechsim.frozen import frozen
from mechsim.result import Motion, Trajectory
from mechsim.result import load as load_motion
from mechsim.result.layout import Array
from mechsim.result.paths import OutputError
from mechsim.spec.suggest import did_you_mean, listed
from mechsim.study.rows import FINISHED
from mechsim.study.written import columns_of, is_sweep, read_columns

if TYPE_CHECKING:
    import pandas
    import pyarrow
    import xarray


class VaryFact(TypedDict):
    name: str
    text: str
    kind: str  # "grid", "list", "draws" or "cases"
    scale: str  # "linear" or "log"
    values: list[float] | None  # of a grid or list


class MeasureFact(TypedDict):
    label: str
    text: str
    unit: str


class SettingFacts(TypedDict):
    tol: float
    order: int | None
    t0: float
    tend: float
    overrides: dict[str, str]


class SweepFacts(TypedDict):
    """What the file of a sweep says beside its rows."""

    version: str
    title: str
    spec_path: str
    spec_text: str
    files: dict[str, str]
    settings: SettingFacts
    vary: list[VaryFact]
    measures: list[MeasureFact]
    draws: int | None
    latin: bool
    seed: int
    count: int


@frozen(eq=False)
class SweepTable:
    """The rows of a sweep, in the order of its cases. `table["max(A_y)"]` is a column, `table.case(3)` has the
    parameters of a case."""

    columns: Mapping[str, Array]
    facts: SweepFacts

    @property
    def vary(self) -> list[VaryFact]:
        return self.facts["vary"]

    @property
    def measures(self) -> list[MeasureFact]:
        return self.facts["measures"]

    @property
    def parameters(self) -> tuple[str, ...]:
        """The parameters that vary."""
        return tuple(each["name"] for each in self.vary)

    @property
    def labels(self) -> tuple[str, ...]:
        """The measures."""
        return tuple(each["label"] for each in self.measures)

    @property
    def status(self) -> Array:
        return self.columns["status"]

    @property
    def finished(self) -> Array:
        """Which cases came to their ends."""
        return np.asarray(self.status == FINISHED)

    def __len__(self) -> int:
        return len(self.status)

    def __getitem__(self, name: str) -> Array:
        if name not in self.columns:
            hint = did_you_mean(str(name), self.columns) or f"it has {listed(self.columns)}"
            raise MechsimError(Fault(f"the sweep has no column {name!r}", hint=hint))
        return self.columns[name]

    def case(self, k: int) -> dict[str, float]:
        """The parameters of a case."""
        if not -len(self) <= k < len(self):
            raise IndexError(f"there is no case {k}: the sweep has {len(self)}")
        return {name: float(self.columns[name][k]) for name in self.parameters}

    def motion(self, k: int, *, reactions: Sequence[str] | None = None) -> Motion:
        """The motion of a case, simulated again from the text that the table carries. Raises the error of a case that
        fails."""
        from mechsim.handle import MechanismHandle
        from mechsim.spec import parse

        facts, settings = self.facts, self.facts["settings"]
        text, overrides = facts["spec_text"], settings["overrides"]
        spec = parse(text, facts["spec_path"] or "<text>", overrides, facts["files"], tables_from=None)
        return MechanismHandle(spec).simulate(
            parameters=self.case(k),
            tol=settings["tol"],
            order=settings["order"],
            t0=settings["t0"],
            tend=settings["tend"],
            reactions=reactions,
        )

    def to_pandas(self) -> pandas.DataFrame:
        """All columns, by case."""
        try:
            import pandas
        except ImportError:
            raise _missing("pandas") from None
        return pandas.DataFrame({name: np.asarray(column) for name, column in self.columns.items()}).set_index("case")

    def to_xarray(self) -> xarray.Dataset:
        """Measures over their grid: a dimension for each parameter of a grid or list, and one, `draw`, for those that
        are drawn or come from a file of cases."""
        try:
            import xarray
        except ImportError:
            raise _missing("xarray") from None
        axes = {each["name"]: np.asarray(each["values"]) for each in self.vary if each["values"] is not None}
        shape = [len(values) for values in axes.values()]
        names = list(axes)
        coordinates: dict[str, object] = dict(axes)
        others = [each["name"] for each in self.vary if each["values"] is None]
        if others:
            inner = len(self) // int(np.prod(shape, dtype=np.int64))
            shape.append(inner)
            names.append("draw")
            listed_ones = self._repeats(others, inner)
            coordinates |= {name: ("draw", self.columns[name][:inner]) for name in listed_ones}
        beside = (*(name for name in others if name not in coordinates), *self.labels, "steps", "status", "message")
        data = {name: (names, self.columns[name].reshape(shape)) for name in beside}
        found = xarray.Dataset(data, coordinates, {"title": self.facts["title"]})
        for each in self.measures:
            found[each["label"]].attrs["units"] = each["unit"]
        return found

    def _repeats(self, names: Sequence[str], inner: int) -> list[str]:
        """Of these parameters those that are the same in each block of so many cases."""
        return [
            name
            for name in names
            if np.array_equal(self.columns[name], np.resize(self.columns[name][:inner], len(self)))
        ]

    def __repr__(self) -> str:
        varied, measured = ", ".join(self.parameters), ", ".join(self.labels)
        return f"<sweep over {varied}: {len(self)} cases, {int(self.finished.sum())} finished; {measured}>"


def table_of(facts: SweepFacts, table: pyarrow.Table) -> SweepTable:
    return SweepTable({name: _column(table[name]) for name in table.column_names}, facts)


def _column(column: pyarrow.ChunkedArray) -> Array:
    """Equal texts are one object, for there may be millions."""
    import pyarrow

    if not pyarrow.types.is_string(column.type):
        return np.asarray(column.to_numpy())
    found = column.combine_chunks().dictionary_encode()
    return np.array(found.dictionary.to_pylist(), dtype=object)[found.indices.to_numpy()]


def load_sweep(path: str | Path) -> SweepTable:
    """The sweep in a file. What is wrong with it is said in an OutputError."""
    try:
        facts, table = read_columns(path)
        sound = columns_of(facts, table.column_names) and facts["count"] == table.num_rows
    except OSError as error:
        raise OutputError(Fault(f"cannot read {path}: {(error.strerror or str(error)).lower()}")) from error
    except Exception as error:  # readers of foreign formats raise what they like
        raise _unsound(path) from error
    if not sound:
        raise _unsound(path)
    return table_of(cast(SweepFacts, facts), table)


def load(path: str | Path) -> Trajectory | SweepTable:
    """What mechsim wrote to a file: the trajectory of a run, or the table of a sweep."""
    return load_sweep(path) if is_sweep(path) else load_motion(path)


def _unsound(path: str | Path) -> OutputError:
    return OutputError(Fault(f"cannot read {path}: it is damaged or no sweep", hint="a sweep ends in .parquet or .csv"))


def _missing(package: str) -> MechsimError:
    return MechsimError(Fault(f"{package} is not installed", hint=f"pip install 'mechsim[{package}]'"))
