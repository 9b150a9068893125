"""The cases of a sweep: the product of its dimensions, the last one fastest. Their values are made when asked for, so
that millions of cases take no more memory than the values of each dimension by itself."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mechsim.errors import Fault, Mark, SpecError
from mechsim.frozen import frozen
from mechsim.result.layout import Array
from mechsim.spec.expression import NUMERAL
from mechsim.study.vary import Varied

MOST_CASES = 1_000_000_000
MOST_BYTES = 2_000_000_000  # of a file of cases


@frozen
class Dimension:
    """Parameters that change together: one of a grid, all that are drawn, or those of a file of cases."""

    names: tuple[str, ...]
    columns: tuple[Array, ...]

    def __len__(self) -> int:
        return len(self.columns[0])


@frozen
class Cases:
    """All cases, numbered from 0."""

    dimensions: tuple[Dimension, ...]

    def __len__(self) -> int:
        return math.prod(len(dimension) for dimension in self.dimensions)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for dimension in self.dimensions for name in dimension.names)

    def columns(self, first: int, last: int) -> dict[str, Array]:
        """The values of each parameter in the cases from `first` on and before `last`."""
        numbers = np.unravel_index(np.arange(first, last), [len(dimension) for dimension in self.dimensions])
        return {
            name: column[places]
            for dimension, places in zip(self.dimensions, numbers, strict=True)
            for name, column in zip(dimension.names, dimension.columns, strict=True)
        }


def cases_of(varied: Sequence[Varied], listed: Dimension | None, count: int | None, latin: bool, seed: int) -> Cases:
    """Grids and lists in their order, then the cases of a file, then draws. Raises SpecError where there are none, or
    too many, and where it is not said how many draws there are."""
    drawn = [each for each in varied if each.quantile is not None]
    if drawn and count is None:
        names = ", ".join(each.name for each in drawn)
        hint = "say --draws 1000, or --latin 1000 for a Latin hypercube"
        raise SpecError(Fault(f"it is not said how many draws there are of {names}", hint=hint))
    if count is not None and not drawn:
        hint = "for example --vary L=normal:1:0.001"
        raise SpecError(Fault(f"there is nothing to draw {count} times: no parameter has a distribution", hint=hint))
    dimensions = [Dimension((each.name,), (each.values,)) for each in varied if each.values is not None]
    if listed is not None:
        dimensions.append(listed)
    if drawn and count is not None:
        columns = tuple(_draws(each, count, latin, seed) for each in drawn)
        dimensions.append(Dimension(tuple(each.name for each in drawn), columns))
    if not dimensions:
        hint = "say --vary k=500:1500:21, or --cases cases.csv; or give the file a Sweep section"
        raise SpecError(Fault("no parameter varies", hint=hint))
    cases = Cases(tuple(dimensions))
    if (count := math.prod(map(len, dimensions))) > MOST_CASES:
        sizes = " x ".join(str(len(dimension)) for dimension in dimensions)
        raise SpecError(Fault(f"{sizes} = {count:.3g} cases are too many", hint=f"the most are {MOST_CASES:g}"))
    return cases


def _draws(varied: Varied, count: int, latin: bool, seed: int) -> Array:
    """Draws of one parameter. They depend on the seed and on its name only, so that others may come and go; they are
    made of bits, whose sequence NumPy promises to keep."""
    assert varied.quantile is not None
    key = zlib.crc32(varied.name.encode())
    bits = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(key,)))
    shares = ((bits.random_raw(count) >> np.uint64(12)).astype(float) + 0.5) * 2.0**-52  # never 0, nor 1
    if latin:  # one draw in each of `count` equal shares, in random order
        order = np.argsort(bits.random_raw(count), kind="stable")
        shares = (order + shares) / count
    return varied.quantile(shares)


def listed_cases(path: str | Path, parameters: Sequence[str]) -> Dimension:
    """The cases of a CSV file: a row each, under names of parameters. Raises SpecError with places."""
    name = str(path)
    try:
        with open(path, "rb") as file:
            content = file.read(MOST_BYTES + 1)
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise SpecError(Fault(f"cannot read {name}: {(error.strerror or str(error)).lower()}")) from None
    except UnicodeDecodeError:
        raise SpecError(Fault(f"cannot read {name}: it is not text", hint="save the cases as CSV, in UTF-8")) from None
    if len(content) > MOST_BYTES:
        raise SpecError(Fault(f"cannot read {name}: it is larger than {MOST_BYTES:g} bytes"))
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip() and line[0] != "#"]
    if len(lines) < 2:
        hint = "the first line names parameters, each further line is a case"
        raise SpecError(Fault("there are no cases", Mark(name, 1, 1), hint))
    titles = _titles(lines[0][1], Mark(name, lines[0][0], 1), parameters)
    table = _numbers(lines[1:], titles, name)
    return Dimension(titles, tuple(np.ascontiguousarray(column) for column in table.T))


def _titles(line: str, mark: Mark, parameters: Sequence[str]) -> tuple[str, ...]:
    from mechsim.spec.suggest import did_you_mean, listed

    titles, faults, column = [], [], 1
    for cell in line.split(","):
        title = cell.strip().strip('"').strip()
        place = Mark(mark.file, mark.line, column)
        if title not in parameters:
            hint = did_you_mean(title, parameters) or f"the mechanism has the parameters {listed(parameters)}"
            faults.append(Fault(f"the title {title!r} is no parameter", place, hint))
        elif title in titles:
            faults.append(Fault(f"there are two columns {title}", place))
        titles.append(title)
        column += len(cell) + 1
    if faults:
        raise SpecError(*faults)
    return tuple(titles)


def _numbers(lines: Sequence[tuple[int, str]], titles: tuple[str, ...], name: str) -> Array:
    try:
        table = np.loadtxt([line for _, line in lines], delimiter=",", ndmin=2, comments=None)
        if table.shape[1] == len(titles) and np.isfinite(table).all():
            return table
    except ValueError:
        pass
    faults = [fault for number, line in lines if (fault := _fault(line, titles, Mark(name, number, 1)))]
    raise SpecError(*faults[:20])  # one slip may be in every line


def _fault(line: str, titles: tuple[str, ...], mark: Mark) -> Fault | None:
    cells = line.split(",")
    if len(cells) != len(titles):
        return Fault(f"{len(cells)} values, but there are {len(titles)} titles", mark)
    column = 1
    for title, cell in zip(titles, cells, strict=True):
        if not NUMERAL.fullmatch(cell.strip()) or not math.isfinite(float(cell)):
            return Fault(f"{cell.strip()!r} is no number for {title}", Mark(mark.file, mark.line, column))
        column += len(cell) + 1
    return None
