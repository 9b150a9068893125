"""What draws say about measures: quantiles, mean and spread with their errors, and which parameters they come from."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mechsim.frozen import frozen
from mechsim.study.grid import Grid, failures, values_of
from mechsim.study.sobol import first_order

if TYPE_CHECKING:
    from mechsim.study.table import MeasureFact, SweepTable

Array = NDArray[np.float64]

LEVELS = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)  # of the quantiles that are told


@frozen
class Share:
    """How much of a measure's variance a parameter explains alone, and the standard error of that. It may be a little
    below zero: an estimate of nothing is as often below as above it. NaN: there is no variance, or too few cases."""

    parameter: str
    value: float
    error: float


@frozen
class Measured:
    """One measure over many cases, of which `count` have a value and `missing` have none.

    Errors are standard errors of independent draws; a Latin hypercube is better than they say.
    """

    label: str
    unit: str
    count: int
    missing: int
    mean: float
    mean_error: float
    deviation: float
    deviation_error: float
    quantiles: tuple[float, ...]  # at LEVELS
    shares: tuple[Share, ...]


@frozen
class At:
    """The draws at one point of the grids that were varied beside them; `where` is empty if there were none."""

    where: tuple[tuple[str, float], ...]
    measures: tuple[Measured, ...]


@frozen
class Statistics:
    """What the draws of a sweep say; `points` is empty for a sweep without draws."""

    cases: int
    failed: tuple[tuple[str, int], ...]  # status and how many cases ended with it, most first; they are left out
    points: tuple[At, ...]

    def as_dict(self) -> dict[str, object]:
        """For JSON: what is no number is None."""
        return {
            "cases": self.cases,
            "failed": dict(self.failed),
            "points": [
                {"where": dict(point.where), "measures": {each.label: _plain(each) for each in point.measures}}
                for point in self.points
            ],
        }


def summary(table: SweepTable) -> Statistics:
    """The statistics of a sweep's draws, apart at every point of its grids. Cases that failed are left out and counted;
    so is, for each measure, a case without a value of it."""
    grid = Grid.of(table)
    points = []
    if grid.drawn:
        # Shares are of what was drawn independently; cases of a file may be anything.
        drawn = tuple(each["name"] for each in table.vary if each["kind"] == "draws")
        for where, cases in _groups(grid):
            measures = [_measured(table, each, cases, drawn) for each in table.measures]
            points.append(At(where, tuple(measures)))
    return Statistics(len(table.status), tuple(failures(table.status).items()), tuple(points))


def measured(label: str, unit: str, values: Array, parameters: dict[str, Array]) -> Measured:
    """The statistics of values (NaN: there is none) of one measure, with shares of these parameters."""
    known = np.isfinite(values)
    y = values[known]
    shares = tuple(Share(name, *first_order(x[known], y)) for name, x in parameters.items()) if len(y) else ()
    nothing = (math.nan,) * len(LEVELS)
    quantiles = tuple(float(each) for each in np.quantile(y, LEVELS)) if len(y) else nothing
    mean, deviation = (float(y.mean()) if len(y) else math.nan), _deviation(y)
    errors = deviation / math.sqrt(len(y)) if len(y) else math.nan, _deviation_error(y, deviation)
    return Measured(label, unit, len(y), len(values) - len(y), mean, errors[0], deviation, errors[1], quantiles, shares)


def _measured(table: SweepTable, measure: MeasureFact, cases: NDArray[np.int64], drawn: tuple[str, ...]) -> Measured:
    parameters = {name: values_of(table, name)[cases] for name in drawn}
    return measured(measure["label"], measure["unit"], values_of(table, measure["label"])[cases], parameters)


def _groups(grid: Grid) -> Iterator[tuple[tuple[tuple[str, float], ...], NDArray[np.int64]]]:
    """The cases at each point of the axes: draws stand together there."""
    points = list(product(*(axis.values for axis in grid.axes)))
    cases = np.arange(len(points) * grid.draws).reshape(len(points), -1)
    names = [axis.name for axis in grid.axes]
    for point, own in zip(points, cases, strict=True):
        yield tuple(zip(names, point, strict=True)), own


def _deviation(y: Array) -> float:
    return float(y.std(ddof=1)) if len(y) > 1 else math.nan


def _deviation_error(y: Array, deviation: float) -> float:
    """Of the standard deviation, from the fourth moment: Var(s^2) = (m4 - s^4 (n - 3)/(n - 1)) / n."""
    count = len(y)
    if count < 4 or not deviation > 0:
        return math.nan if count < 4 else 0.0
    fourth = float(((y - y.mean()) ** 4).mean())
    variance = max(0.0, fourth - deviation**4 * (count - 3) / (count - 1)) / count
    return math.sqrt(variance) / (2 * deviation)


def _plain(each: Measured) -> dict[str, object]:
    return {
        "unit": each.unit,
        "count": each.count,
        "missing": each.missing,
        "mean": _number(each.mean),
        "mean_error": _number(each.mean_error),
        "deviation": _number(each.deviation),
        "deviation_error": _number(each.deviation_error),
        "quantiles": {f"{level:g}": _number(value) for level, value in zip(LEVELS, each.quantiles, strict=True)},
        "shares": {
            share.parameter: {"value": _number(share.value), "error": _number(share.error)} for share in each.shares
        },
    }


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
