"""The cases of a sweep: the product of its dimensions, the last one fastest. Their values are made when asked for, so
that millions of cases take no more memory than the values of each dimension by itself."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mechsim.errors import Fault, SpecError
from mechsim.frozen import frozen
from mechsim.result.given import read_numbers
from mechsim.result.layout import Array
from mechsim.spec.suggest import did_you_mean, listed
from mechsim.study.vary import Varied

MOST_CASES = 1_000_000_000


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

    def refused(title: str) -> tuple[str, str] | None:
        if title in parameters:
            return None
        hint = did_you_mean(title, parameters) or f"the mechanism has the parameters {listed(parameters)}"
        return f"the title {title!r} is no parameter", hint

    nothing = "there are no cases", "the first line names parameters, each further line is a case"
    titles, table = read_numbers(path, refused, nothing)
    return Dimension(titles, tuple(np.ascontiguousarray(column) for column in table.T))
