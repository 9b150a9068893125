"""Pictures of periodic motions: an orbit with its multipliers, and branches of orbits over a parameter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mechsim.analysis.branch import Branches
from mechsim.analysis.continuation import BRANCHES, DOUBLES, FOLD, TORUS
from mechsim.analysis.orbit import Orbit
from mechsim.render.labels import named
from mechsim.render.panels import colour_of, legend
from mechsim.render.paper import Drawing, sheet_of, write_sheet
from mechsim.render.theme import Theme
from mechsim.result.layout import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROWS = 600  # of an orbit
MOST_ORBITS = 3
MARKS = {FOLD: ("o", "fold"), BRANCHES: ("s", "branch point"), DOUBLES: ("D", "period doubling"), TORUS: ("^", "torus")}
MOST_PANELS = 16
FOLLOWED = {"energy": "J", "period": "s"}  # units of what may be followed beside parameters
BETWEEN = 12  # places of a curve between two motions
DASHES = {"stable": "-", "undecided": "-", "unstable": (0, (3, 1.6))}


def plot_orbit(title: str, found: Orbit, path: str | Path) -> None:
    """The motion of what moves most in the plane of its value and rate, and the multipliers about the unit circle."""
    drawn: list[Drawing] = [partial(_multipliers, found)]
    drawn += [partial(_orbit, found, place) for place in _moving(found)]
    remark = f"period {found.period:.8g} s, {found.stability}"
    write_sheet(sheet_of([title], drawn, "light", None, remark=remark), Path(path))


def _moving(found: Orbit) -> list[int]:
    """Coordinates that move most, in scales."""
    system, q = found.case.system, found.solution.q
    moves = np.ptp(q, axis=0) / system.scales[: system.n]
    moves[system.accounts] = 0.0
    order = np.argsort(-np.round(moves, 6), kind="stable")
    return [int(place) for place in order[:MOST_ORBITS] if moves[place] > 1e-9 * max(moves.max(), 1e-300)]


def _orbit(found: Orbit, place: int, axes: Axes, theme: Theme) -> None:
    times = found.t + found.period * np.linspace(0, 1, ROWS + 1)
    points = found.solution.sampled(times)
    q, v = points.q[:, place], points.v[:, place]
    if found.linear.ring.turns[place]:
        q = (q + np.pi) % (2 * np.pi) - np.pi
        q[np.abs(np.diff(q, append=q[-1])) > np.pi] = np.nan
    name = found.coordinates[place]
    axes.plot(q, v, color=colour_of(theme, 0), lw=1.6)
    axes.plot(q[:1], v[:1], "o", color=colour_of(theme, 1), markersize=6)
    variable = found.case.system.mechanism.variables[place]
    units = variable.units or (("rad", "rad/s") if variable.kind == "angle" else ("m", "m/s"))
    axes.set(title=name, xlabel=named(name, units[0]), ylabel=named(f"{name}_dot", units[1]))
    axes.margins(0.08)


def _multipliers(found: Orbit, axes: Axes, theme: Theme) -> None:
    angle = np.linspace(0, 2 * np.pi, 361)
    axes.fill(np.cos(angle), np.sin(angle), color=theme.grid, zorder=0)
    axes.plot(np.cos(angle), np.sin(angle), color=theme.faint, lw=1)
    values, trivial = found.multipliers, len(found.floquet.trivial)
    grows = np.abs(values) > 1 + 1e-6
    for chosen, number, words in ((~grows, 0, "stays or dies out"), (grows, 1, "grows")):
        if chosen.any():
            axes.plot(values[chosen].real, values[chosen].imag, "o", color=colour_of(theme, number), label=words, ms=7)
    if trivial:
        words = "trivial" if trivial == 1 else f"trivial, {trivial} times"
        axes.plot([1], [0], "o", color=theme.faint, fillstyle="none", label=words, ms=9)
    reach = max(1.25, 1.15 * float(np.abs(values).max(initial=0.0)))
    axes.plot([-reach, reach], [-reach, reach], alpha=0)  # room for all
    axes.set(xlabel="real", ylabel="imaginary", title="Floquet multipliers")
    axes.set_aspect("equal", adjustable="datalim")
    legend(axes)


def plot_branches(title: str, found: Branches, path: str | Path) -> None:
    """All measures over what was followed, dashed where motions are unstable; the period too, where it is not told by
    what was followed."""
    places: list[int | None] = [*range(min(len(found.labels), MOST_PANELS))]
    places = places or [None]
    panels: list[Drawing] = [partial(_measure, found, place) for place in places]
    left = len(found.labels) - len(places)
    remark = "dashed: unstable" + (f"; not drawn: {', '.join(found.labels[-left:])}" if left > 0 else "")
    write_sheet(sheet_of([title], panels, "light", None, remark=remark), Path(path))


def _measure(found: Branches, place: int | None, axes: Axes, theme: Theme) -> None:
    label = "period" if place is None else found.labels[place]
    told: set[str] = set()
    for number in range(len(found.branches)):
        rows = [row for row in found.rows() if row[0] == number]
        values = np.array([sample.value for _, sample, _ in rows])
        heights = np.array([sample.period if place is None else sample.measures[place] for _, sample, _ in rows])
        heights = np.unwrap(heights) if label.startswith("phase(") else heights  # phases go on beyond half a turn
        for part, stability in _runs([(sample.stability, mark) for _, sample, mark in rows]):
            axes.plot(
                *_smooth(values[part], heights[part]), color=colour_of(theme, number), ls=DASHES[stability], lw=1.6
            )
        for row, (_, _, mark) in enumerate(rows):
            if mark:
                shape, words = MARKS[mark]
                known = None if words in told else words
                told.add(words)
                axes.plot(values[row], heights[row], shape, color=theme.text, fillstyle="none", ms=6.5, label=known)
    axes.set(title=label, xlabel=named(found.name, FOLLOWED.get(found.name, "")))
    axes.set_ylabel(named(label, "s" if place is None else _unit(found, place)))
    axes.margins(0.03, 0.06)
    if told:
        legend(axes)


def _smooth(values: Array, heights: Array) -> tuple[Array, Array]:
    """A curve through motions of a branch: they are as far apart as it is straight, and their polygon has corners."""
    from scipy.interpolate import Akima1DInterpolator

    steps = [np.diff(each) / (np.ptp(each) or 1.0) for each in (values, heights)]
    length = np.hypot(*steps)
    if len(values) < 4 or not np.isfinite(length).all():
        return values, heights
    apart = np.append(True, length > 1e-9)
    along = np.append(0.0, np.cumsum(length))[apart]
    if len(along) < 4:
        return values, heights
    places = np.interp(np.linspace(0, len(along) - 1, BETWEEN * (len(along) - 1) + 1), np.arange(len(along)), along)
    found = Akima1DInterpolator(along, np.column_stack([values, heights])[apart])(places)
    return found[:, 0], found[:, 1]


def _unit(found: Branches, place: int) -> str:
    """Of a measure; those of a response are formulas, of which nobody says it."""
    function, _, column = found.labels[place].partition("(")
    if function == "amplitude":
        alike = f"max({column}"
        return found.units[found.labels.index(alike)] if alike in found.labels else ""
    return "rad" if function == "phase" else found.units[place]


def _runs(rows: Sequence[tuple[str, str]]) -> Iterator[tuple[slice, str]]:
    """Parts of one stability, by the stability of each row and what happens there: where something does, both sides
    meet; else a part goes on to the first row of the next."""
    begin, kind = 0, next(stability for stability, mark in rows if not mark)
    for row, (stability, mark) in enumerate(rows):
        if not mark and stability != kind:
            end = row - 1 if rows[row - 1][1] else row
            yield slice(begin, end + 1), kind
            begin, kind = end, stability
    yield slice(begin, len(rows)), kind
