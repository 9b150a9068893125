"""What draws say, as tables: quantiles and spread of each measure, and which parameters it comes from."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mechsim.cli import tables
from mechsim.study.sobol import ROUNDING

if TYPE_CHECKING:
    from mechsim.study.statistics import At, Measured, Statistics

MOST_POINTS = 12  # of a grid, whose statistics are printed


def show(statistics: Statistics, *, err: bool = False) -> None:
    """Print the statistics of a sweep's draws; nothing for a sweep without any."""
    if not statistics.points:
        return
    from mechsim.study.statistics import LEVELS

    for point in statistics.points[:MOST_POINTS]:
        if point.where:
            tables.heading(", ".join(f"{name} = {value:.6g}" for name, value in point.where), err=err)
        titles = ["measure", "mean", "deviation", *(f"{100 * level:g} %" for level in LEVELS), "cases"]
        rows = [_row(each) for each in point.measures]
        tables.table(titles, rows, right=range(1, len(titles)), err=err)
        _show_shares(point, err)
    if (more := len(statistics.points) - MOST_POINTS) > 0:
        tables.facts([("and", f"{more:,} more points of the grid: mechsim plot draws all of them")], err=err)


def _show_shares(point: At, err: bool) -> None:
    """First-order Sobol shares, where there are any."""
    known = [each for each in point.measures if any(math.isfinite(share.value) for share in each.shares)]
    if not known:
        return
    titles = ["share of the variance", *(share.parameter for share in known[0].shares)]
    rows = [[each.label, *(_with_error(share.value, share.error, 2) for share in each.shares)] for each in known]
    tables.table(titles, rows, right=range(1, len(titles)), err=err)


def _row(each: Measured) -> list[str]:
    label = f"{each.label} / {each.unit}" if each.unit else each.label
    count = f"{each.count:,}" + (f" ({each.missing:,} without)" if each.missing else "")
    nothing = each.deviation <= ROUNDING * max(map(abs, each.quantiles))
    deviation = "0" if nothing else _with_error(each.deviation, each.deviation_error)
    spread = [_with_error(each.mean, each.mean_error), deviation]
    return [label, *spread, *(_number(value) for value in each.quantiles), count]


def _number(value: float) -> str:
    return f"{value:.5g}" if math.isfinite(value) else "none"


def _with_error(value: float, error: float, decimals: int | None = None) -> str:
    """`1.2346 ± 0.0012`: the value to the second digit of its error."""
    if not math.isfinite(value):
        return "none"
    if decimals is not None:
        return f"{value:.{decimals}f} ± {error:.{decimals}f}"
    if not (math.isfinite(error) and error > 1e-12 * abs(value)):
        return f"{value:.6g}"
    digits = 1 - math.floor(math.log10(error))
    if not 0 <= digits <= 6:
        return f"{value:.{max(3, min(12, digits + 1 + math.floor(math.log10(abs(value) or 1.0))))}g} ± {error:.2g}"
    return f"{value:.{digits}f} ± {error:.{digits}f}"
