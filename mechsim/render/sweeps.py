"""Plots of a sweep: what is asked for, or what shows it best by how its cases lie.

one grid        every measure against it
two             every measure as a heat map
more            heat maps of the two longest, small ones side by side for values of the others
draws           histograms with quantiles, dots against the parameter that matters most, shares of variance
grid and draws  bands of quantiles against the grid
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mechsim.errors import Fault
from mechsim.frozen import frozen
from mechsim.render.draw_panels import dots_panel, histogram_panel, share_panel
from mechsim.render.paper import Drawing, sheet_of, write_sheet
from mechsim.render.sweep_panels import curve_panel, heat_panel
from mechsim.render.swept import Fixed, Swept
from mechsim.result.paths import OutputError
from mechsim.spec.suggest import listed

if TYPE_CHECKING:
    from mechsim.study.table import SweepTable

KINDS = ("curves", "heat", "scatter", "histogram", "dots", "shares")
MOST_PANELS = 12
MOST_MEASURES = 6  # of draws in an overview, with two panels each


@frozen
class SweepOptions:
    """What to plot; nothing named: an overview. `x` and `y` may name parameters or measures; where both are parameters
    on grids, `z` is drawn over them as colours."""

    x: str | None = None
    y: tuple[str, ...] = ()
    z: tuple[str, ...] = ()
    kind: str | None = None
    theme: str = "light"
    size: tuple[int, int] | None = None


def plot_sweep(name: str, table: SweepTable, path: str | Path, options: SweepOptions) -> tuple[str, ...]:
    """Plot a sweep into a file; its ending says in which form. Returns what a person should be told."""
    swept = Swept(table)
    if not swept.measures and not options.x:
        raise OutputError(Fault(f"{name} has no measures to plot", hint='sweep with --measure "max(A_y)", say'))
    drawn, notes = panels_of(swept, options)
    title = str(table.facts.get("title") or name)
    figure = sheet_of([title], drawn, options.theme, options.size, remark=swept.told)
    write_sheet(figure, Path(path))
    return (*swept.notes, *notes)


def panels_of(swept: Swept, options: SweepOptions) -> tuple[list[Drawing], list[str]]:
    """The panels, and what is left out of them."""
    x = None if options.x is None else swept.named(options.x, "--x")
    y = [label for word in options.y for label in swept.matching(word, "--y")]
    z = [label for word in options.z for label in swept.matching(word, "--z")]
    grid = swept.grid
    kind = options.kind or _kind(swept, x, y, z)
    if kind == "heat":
        return _heat(swept, x, y, z)
    if z:
        raise OutputError(Fault("--z is for heat maps", hint="--x and --y then name two parameters on grids"))
    measured = y or list(swept.measures)
    match kind:
        case "curves":
            return _curves(swept, x, measured)
        case "histogram":
            return [histogram_panel(swept, label) for label in measured], []
        case "shares":
            return [_shares(swept)], []
        case "dots":
            return [dots_panel(swept, x or _first(swept), measured, small=True)], []
        case "scatter":
            across = [x] if x else list(grid.drawn or (axis.name for axis in grid.axes))
            return [dots_panel(swept, each, [label]) for label in measured for each in across][:MOST_PANELS], []
    return _overview(swept)


def _kind(swept: Swept, x: str | None, y: Sequence[str], z: Sequence[str]) -> str:
    grid = swept.grid
    if z or any(grid.axis(label) is not None for label in y):
        return "heat"
    if x is not None:
        return "curves" if grid.axis(x) is not None else "scatter"
    if len(grid.axes) >= 2 and grid.draws == 1:
        return "heat"
    if grid.axes:
        return "curves"
    drawn = any(each["kind"] == "draws" for each in swept.table.vary)
    return "histogram" if y else "overview" if drawn else "scatter"


def _overview(swept: Swept) -> tuple[list[Drawing], list[str]]:
    """Draws: how each measure is spread, and where that comes from."""
    measures = swept.statistics.points[0].measures
    drawn: list[Drawing] = []
    for each in measures[:MOST_MEASURES]:
        known = [share for share in each.shares if np.isfinite(share.value)]
        strongest = max(known, key=lambda share: share.value).parameter if known else swept.grid.drawn[0]
        drawn += [histogram_panel(swept, each.label), dots_panel(swept, strongest, [each.label])]
    notes = []
    if left_out := [each.label for each in measures[MOST_MEASURES:]]:
        notes.append(f"not drawn: {listed(left_out)}; name them with --y")
    return [*drawn, share_panel(measures)], notes


def _shares(swept: Swept) -> Drawing:
    statistics = swept.statistics
    if not statistics.points or not statistics.points[0].measures[0].shares:
        raise OutputError(
            Fault("shares of variance need draws", hint="sweep with --vary L=normal:1:0.001 --draws 1000")
        )
    if len(statistics.points) > 1:
        hint = "--kind curves shows quantiles against it"
        raise OutputError(Fault(f"shares would differ along {swept.grid.axes[0].name}, which is on a grid", hint=hint))
    return share_panel(statistics.points[0].measures)


def _curves(swept: Swept, x: str | None, labels: Sequence[str]) -> tuple[list[Drawing], list[str]]:
    """A panel per column; the longest other axis makes a family, further axes make small multiples."""
    across = _axis(swept, x or _first(swept), "--x", "curves")
    others = sorted((k for k in range(len(swept.grid.axes)) if k != across), key=lambda k: -_length(swept, k))
    family = others[0] if others else None
    places, notes = _multiples(swept, others[1:], len(labels))
    return [curve_panel(swept, label, across, family, at) for label in labels for at in places], notes


def _heat(swept: Swept, x: str | None, y: Sequence[str], z: Sequence[str]) -> tuple[list[Drawing], list[str]]:
    axes = swept.grid.axes
    if len(axes) < 2:
        there = f"only {axes[0].name} is on one" if axes else "none is"
        raise OutputError(Fault(f"a heat map needs two parameters on grids, but {there}", hint="try --kind scatter"))
    parameters = [label for label in y if swept.grid.axis(label) is not None]
    labels = list(z) or [label for label in y if label not in parameters] or list(swept.measures)
    if len(parameters) > 1 or (z and not parameters and y):
        raise OutputError(Fault("--y names one parameter of a heat map", hint=f"it has {listed(a.name for a in axes)}"))
    longest = sorted(range(len(axes)), key=lambda k: -_length(swept, k))[:2]
    across = min(longest) if x is None else _axis(swept, x, "--x", "a heat map")
    free = [k for k in (*sorted(longest), *range(len(axes))) if k != across]
    up = _axis(swept, parameters[0], "--y", "a heat map") if parameters else free[0]
    if x is None and up == across:
        across = next(k for k in (*sorted(longest), *range(len(axes))) if k != up)
    if up == across:
        raise OutputError(Fault(f"--x and --y both name {x}", hint=f"on grids are {listed(a.name for a in axes)}"))
    others = [k for k in range(len(axes)) if k not in (across, up)]
    places, notes = _multiples(swept, others, len(labels))
    return [heat_panel(swept, label, across, up, at, places) for label in labels for at in places], notes


def _multiples(swept: Swept, others: Sequence[int], labels: int) -> tuple[list[Fixed], list[str]]:
    """The points of further axes that have a panel of their own: as many as one sheet holds, evenly chosen."""
    room = max(1, MOST_PANELS // max(labels, 1))
    chosen = [list(range(_length(swept, k))) for k in others]
    while prod(map(len, chosen)) > room:
        longest = max(range(len(chosen)), key=lambda k: len(chosen[k]))
        count = len(chosen[longest]) - 1
        whole = _length(swept, others[longest]) - 1
        chosen[longest] = (
            sorted({round(share) for share in np.linspace(0, whole, count)}) if count > 1 else [whole // 2]
        )
    cut = [k for k, own in zip(others, chosen, strict=True) if len(own) < _length(swept, k)]
    notes = [f"not all values of {listed(swept.grid.axes[k].name for k in cut)} are drawn"] if cut else []
    return [dict(zip(others, point, strict=True)) for point in product(*chosen)], notes


def _length(swept: Swept, k: int) -> int:
    return len(swept.grid.axes[k].values)


def _first(swept: Swept) -> str:
    """The parameter that a plot is drawn against: the axis with most values, else what is drawn first."""
    axes: Iterable[str] = (axis.name for axis in sorted(swept.grid.axes, key=lambda axis: -len(axis.values)))
    return next(iter((*axes, *swept.parameters)))


def _axis(swept: Swept, name: str, option: str, kind: str) -> int:
    place = swept.grid.axis(name)
    if place is None:
        there = listed(axis.name for axis in swept.grid.axes) or "none"
        hint = f"on grids or lists: {there}; --kind scatter draws dots"
        raise OutputError(Fault(f"{option} {name}: {kind} need a parameter on a grid", hint=hint))
    return place
