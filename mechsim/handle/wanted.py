"""The motions that are asked for, as columns: parameters, starts and ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechsim.errors import Fault, MechsimError, SpecError
from mechsim.frozen import frozen
from mechsim.kernel.numbers import Guards, program_of
from mechsim.source import Parameters
from mechsim.spec import parse
from mechsim.spec.document import MechSpec
from mechsim.spec.living import Tape

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
ManyParameters = Mapping[str, ArrayLike | str] | Sequence[Parameters]


@frozen(slots=False)
class Alike:
    """Motions that name the same parameters: numbers as columns, (names, motions), and formulas common to all."""

    numbers: Indices  # of the motions, among all
    names: tuple[str, ...]
    columns: Array
    formulas: Mapping[str, str]


class Given(Sequence[Parameters]):
    """The parameters of each motion, as a person gave them: a mapping of columns, or one mapping for each."""

    def __init__(self, parameters: ManyParameters | None):
        given = {} if parameters is None else parameters
        self.rows: list[Parameters] | None = None if isinstance(given, Mapping) else [dict(each) for each in given]
        self.common: dict[str, float | str] = {}
        self.columns: dict[str, NDArray[np.generic]] = {}
        for name, value in given.items() if isinstance(given, Mapping) else ():
            if isinstance(value, str) or np.ndim(value) == 0:
                self.common[name] = value  # type: ignore[assignment]  # what is no number is told when it is read
            else:
                self.columns[name] = np.asarray(value)
        sizes = {name: len(column) for name, column in self.columns.items()}
        if len(set(sizes.values())) > 1:
            told = ", ".join(f"{size} of {name}" for name, size in sizes.items())
            raise MechsimError(Fault(f"the parameters are of different number: {told}"))
        self._count = len(self.rows) if self.rows is not None else next(iter(sizes.values()), 1)

    @property
    def names(self) -> set[str]:
        if self.rows is None:
            return {*self.common, *self.columns}
        return {name for row in self.rows for name in row}

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, k: int) -> Parameters:  # type: ignore[override]
        if self.rows is not None:
            return self.rows[k if len(self.rows) > 1 else 0]
        return {name: column[k] for name, column in self.columns.items()} | self.common

    def alike(self, count: int, own: Parameters) -> Iterator[Alike]:
        """The motions, together where only numbers differ; `own` are parameters of all that these do not give."""
        plain = self.rows is None and all(column.dtype.kind in "fiub" for column in self.columns.values())
        if plain:
            yield _alike(np.arange(count), {**own, **self.common}, self.columns)
            return
        groups: dict[tuple[tuple[str, str | None], ...], list[int]] = {}
        rows = [{**own, **self[k]} for k in range(count)]
        for k, row in enumerate(rows):
            key = tuple(sorted((name, value if isinstance(value, str) else None) for name, value in row.items()))
            groups.setdefault(key, []).append(k)
        for key, chosen in groups.items():
            formulas: dict[str, float | str] = {name: value for name, value in key if value is not None}
            columns = {name: np.array([_float(rows[k][name]) for k in chosen]) for name, value in key if value is None}
            yield _alike(np.array(chosen, dtype=np.intp), formulas, columns)


def _alike(numbers: Indices, common: Parameters, columns: Mapping[str, NDArray[np.generic]]) -> Alike:
    common = {name: value for name, value in common.items() if name not in columns}
    formulas = {name: value for name, value in common.items() if isinstance(value, str)}
    single = {name: np.full(len(numbers), _float(value)) for name, value in common.items() if name not in formulas}
    together = {**columns, **single}
    names = tuple(sorted(together))
    table = np.array([together[name] for name in names], dtype=float).reshape(len(names), len(numbers))
    return Alike(numbers, names, table, formulas)


def _float(value: object) -> float:
    """NaN for what is no number: it is told where that motion is looked at alone."""
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return float("nan")


def with_formulas(file: MechSpec, alike: Alike) -> Alike:
    """The same with the values of formulas as columns; NaN where only reading the file can tell them."""
    if not alike.formulas:
        return alike
    known = np.isfinite(alike.columns).all(axis=0)
    values = np.full((len(alike.formulas), len(alike.numbers)), np.nan)
    if np.any(known):
        values[:, known] = _evaluated(file, alike, alike.columns[:, known])
    together = dict(zip((*alike.names, *alike.formulas), (*alike.columns, *values), strict=True))
    return _alike(alike.numbers, {}, together)


def _evaluated(file: MechSpec, alike: Alike, columns: Array) -> Array:
    tape = Tape(alike.names)
    try:
        living = parse(
            file.text, file.path, {**file.overrides, **alike.formulas}, file.files, tape=tape, asked=file.asked
        )
    except SpecError:
        return np.full((len(alike.formulas), columns.shape[1]), np.nan)
    nodes = [tape.number_of(living.parameters[name].value) for name in alike.formulas]
    values = program_of(tape.nodes, len(alike.names)).values(np.ascontiguousarray(columns))
    return np.where(Guards(tape.guards).hold(values), values[nodes], np.nan)


def ends_of(tend: ArrayLike | None) -> Array | None:
    """The ends of all motions, or one for all; None: as the file has it."""
    if tend is None:
        return None
    try:
        ends = np.asarray(tend, dtype=float)
    except (TypeError, ValueError):
        raise MechsimError(Fault(f"tend must be a number, or one for each motion, but is {tend!r}")) from None
    if ends.ndim > 1:
        raise MechsimError(Fault(f"tend must be a number, or one for each motion, but is of shape {ends.shape}"))
    return ends


def common_count(sizes: Mapping[str, int]) -> int:
    """How many motions there are, where there is one of each, or as many."""
    several = {name: size for name, size in sizes.items() if size != 1}
    if len(set(several.values())) > 1:
        told = ", ".join(f"{size} {name}" for name, size in several.items())
        raise MechsimError(Fault(f"there are {told}", hint="give as many of each, or one for all"))
    return next(iter(several.values()), 1)
