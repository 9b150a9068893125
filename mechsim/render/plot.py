"""Plots of results: energies and their drift, constraint residuals, coordinates, phase planes, paths of points."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mechsim.errors import Fault
from mechsim.render.film import replacing
from mechsim.render.frames import hermite, usable
from mechsim.render.options import MOST_CURVES
from mechsim.render.theme import THEMES, Theme
from mechsim.result.journal import OutputError
from mechsim.result.layout import Array
from mechsim.result.trajectory import Trajectory

FORMS = (".png", ".svg", ".pdf")
HEADING = 46  # pixels above the panels
SMOOTH = 8  # points drawn per row of the results, where they have velocities


@dataclass(frozen=True, slots=True)
class Result:
    """One file to plot: its usable columns, and how its curves are told from those of other files."""

    name: str
    trajectory: Trajectory
    columns: dict[str, Array]
    dash: str

    def unit(self, label: str) -> str:
        units = dict(zip(self.trajectory.labels, self.trajectory.units, strict=False))
        return units.get(label, "")

    def column(self, label: str) -> Array:
        if label not in self.columns:
            hint = f"columns are {', '.join(self.columns)}"
            raise OutputError(Fault(f"{self.name} has no column {label}", hint=hint))
        return self.columns[label]

    def smooth(self, label: str) -> tuple[Array, Array]:
        """A column against time; between rows by cubic Hermite interpolation where its derivative is known."""
        t, values = self.columns["t"], self.column(label)
        if f"{label}_dot" not in self.columns or len(t) < 2:
            return t, values
        fine = np.interp(np.arange(SMOOTH * (len(t) - 1) + 1) / SMOOTH, np.arange(len(t)), t)
        return fine, hermite(t, values, self.columns[f"{label}_dot"], fine)[0]


@dataclass(frozen=True, slots=True)
class PlotOptions:
    """What to plot; nothing named: an overview."""

    phase: tuple[tuple[str, str], ...] = ()
    path: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    theme: str = "light"
    size: tuple[int, int] | None = None


Panel = Callable[[Any, Sequence[Result], Theme], None]


def plot(named: Sequence[tuple[str, Trajectory]], path: str | Path, options: PlotOptions) -> tuple[str, ...]:
    """Plot results into a file; its ending says in which form. Returns what a person should be told."""
    target = Path(path)
    notes: list[str] = []
    results = []
    for number, (name, trajectory) in enumerate(named):
        columns, left_out = usable(trajectory)
        notes += [*trajectory.notes, *(f"{name}: {note}" for note in left_out)]
        results.append(Result(name, trajectory, columns, ("-", "--", ":", "-.")[number % 4]))
    figure = _figure(results, _panels(results, options), options)
    with replacing(target) as temporary:
        figure.savefig(temporary, format=target.suffix[1:].lower(), facecolor=figure.get_facecolor())
    return tuple(notes)


def _panels(results: Sequence[Result], options: PlotOptions) -> list[Panel]:
    asked: list[Panel] = [phase_panel(x, y) for x, y in options.phase]
    asked += [path_panel(options.path)] if options.path else []
    asked += [columns_panel([label]) for label in options.columns]
    if asked:
        return asked
    first = results[0].columns
    panels: list[Panel] = []
    if {"T", "V"} <= set(first):
        panels += [energy_panel, drift_panel]
    if any(result.trajectory.spec_text for result in results):
        panels.append(residual_panel)
    for ending, words in (("_x", "x"), ("_y", "y"), ("_z", "z")):
        if labels := [label for label in first if label.endswith(ending)]:
            panels.append(columns_panel(labels[:MOST_CURVES], words))
    if labels := [label for label in first if label.startswith("theta_") and not label.endswith("_dot")]:
        panels.append(columns_panel(labels[:MOST_CURVES], "turn angle"))
    return [*panels, difference_panel] if len(results) > 1 else panels


def _figure(results: Sequence[Result], panels: Sequence[Panel], options: PlotOptions) -> Any:
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    theme = THEMES[options.theme]
    columns = 1 if len(panels) == 1 else 2
    rows = math.ceil(len(panels) / columns)
    width, height = options.size or ((1000, 720) if columns == 1 else (1280, 100 + 290 * rows))
    with rc_context(_style(theme)):
        figure = Figure(figsize=(width / 100, height / 100), dpi=100, layout="constrained", facecolor=theme.background)
        titles = dict.fromkeys(result.trajectory.title or result.name for result in results)
        top = 1 - HEADING / height
        figure.get_layout_engine().set(rect=(0.005, 0.005, 0.99, top - 0.005))  # type: ignore[call-arg, union-attr]
        figure.text(0.012, (1 + top) / 2, "  ·  ".join(titles), fontsize=15, fontweight="bold", va="center")
        for number, panel in enumerate(panels):
            axes = figure.add_subplot(rows, columns, number + 1)
            panel(axes, results, theme)
        if len(results) > 1:
            _name_files(figure, results, theme)
        return figure


def _style(theme: Theme) -> Any:
    from cycler import cycler

    return {
        "axes.facecolor": theme.background,
        "axes.edgecolor": theme.faint,
        "axes.labelcolor": theme.text,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.titlesize": 11,
        "axes.titlelocation": "left",
        "axes.titlecolor": theme.text,
        "axes.prop_cycle": cycler(color=theme.parts),
        "axes.formatter.useoffset": False,
        "grid.color": theme.grid,
        "text.color": theme.text,
        "xtick.color": theme.faint,
        "ytick.color": theme.faint,
        "legend.frameon": False,
        "legend.fontsize": 9,
        "lines.linewidth": 1.5,
        "font.size": 10,
        "svg.hashsalt": "mechsim",  # the same results give the same file
    }


def _name_files(figure: Any, results: Sequence[Result], theme: Theme) -> None:
    """Which dashes belong to which file, at the top of the sheet."""
    from matplotlib.lines import Line2D

    lines: list[Any] = [Line2D([], [], color=theme.text, ls=result.dash) for result in results]
    names = [result.name for result in results]
    figure.legend(lines, names, loc="upper right", ncols=len(results), bbox_to_anchor=(0.99, 0.995))


def _legend(axes: Any, count: int) -> None:
    """A legend beside the title, where it covers no curve."""
    axes.legend(
        loc="lower right", bbox_to_anchor=(1.0, 0.99), ncols=min(5, count), borderaxespad=0.0, columnspacing=1.2
    )


def _positive(values: Array) -> Array:
    """Errors for an axis of logarithms, which has no place for none at all."""
    return np.where(values > 0, values, np.nan)


def energy_panel(axes: Any, results: Sequence[Result], theme: Theme) -> None:
    colours = dict(zip("TVE", (theme.trace[0], theme.trace[1], theme.text), strict=True))
    for result in results:
        t = result.columns["t"]
        curves = {"T": result.column("T"), "V": result.column("V")}
        curves["E"] = curves["T"] + curves["V"]
        for key, values in curves.items():
            name = {"T": "kinetic T", "V": "potential V", "E": "T + V"}[key] if result is results[0] else None
            axes.plot(t, values, result.dash, color=colours[key], label=name)
    axes.set(title="Energies", xlabel="t / s", ylabel="J")
    _legend(axes, 3)


def drift_panel(axes: Any, results: Sequence[Result], theme: Theme) -> None:
    for number, result in enumerate(results):
        work = sum(result.columns[label] for label in result.columns if label.startswith("work_"))
        total = result.column("T") + result.column("V") - work
        largest = max(np.abs(result.column(key)).max() for key in "TV") or 1.0
        drift = _positive(np.abs(total - total[0]) / largest)
        axes.semilogy(result.columns["t"], drift, result.dash, color=theme.parts[number % len(theme.parts)])
    axes.set(title="Energy drift, over the largest energy", xlabel="t / s")


def residual_panel(axes: Any, results: Sequence[Result], theme: Theme) -> None:
    for number, result in enumerate(results):
        if result.trajectory.spec_text:
            values = _positive(constraint_residuals(result))
            axes.semilogy(result.columns["t"], values, result.dash, color=theme.parts[number % len(theme.parts)])
    axes.set(title="Largest constraint residual, over the size", xlabel="t / s")


def constraint_residuals(result: Result) -> Array:
    """Per row the largest distance by which a constraint is missed, over the size of the mechanism."""
    from mechsim.kernel.system import System
    from mechsim.model import build
    from mechsim.render.scene import spec_of

    mechanism = build(spec_of(result.trajectory))
    system = System(mechanism)
    t = result.columns["t"]
    missing = [each.label for each in mechanism.variables if each.label not in result.columns]
    if not system.m or missing:
        return np.zeros(len(t))
    q = np.column_stack([result.columns[variable.label] for variable in mechanism.variables])
    scales = np.array([variable.scale for variable in mechanism.variables])
    rows, columns, values = system.constraint_jacobian(t[0], q[0])
    gradients = np.zeros((system.m, system.n))
    np.add.at(gradients, (rows, columns), values)
    norms = np.linalg.norm(gradients * scales, axis=1)
    worst: Array = (np.abs(system.constraints(t, q)) / norms).max(axis=1)
    return worst


def columns_panel(labels: Sequence[str], words: str = "") -> Panel:
    """Columns against time."""

    def panel(axes: Any, results: Sequence[Result], theme: Theme) -> None:
        for result in results:
            for number, label in enumerate(labels):
                name = label if result is results[0] else None
                colour = theme.parts[number % len(theme.parts)]
                axes.plot(*result.smooth(label), result.dash, color=colour, label=name)
        unit = results[0].unit(labels[0])
        axes.set(title=words or labels[0], xlabel="t / s", ylabel=unit)
        if words:
            _legend(axes, len(labels))

    return panel


def phase_panel(horizontal: str, vertical: str) -> Panel:
    """One column against another."""

    def panel(axes: Any, results: Sequence[Result], theme: Theme) -> None:
        for number, result in enumerate(results):
            (t, x), (s, y) = result.smooth(horizontal), result.smooth(vertical)
            if len(t) != len(s):  # a value smoothed, its derivative not
                x, y = _together(result, horizontal, vertical)
            colour = theme.parts[number % len(theme.parts)]
            axes.plot(x, y, result.dash, color=colour, linewidth=1.1)
            axes.plot(x[0], y[0], "o", color=colour)
        axes.set(title=f"{vertical} against {horizontal} (the dot is the start)")
        axes.set(xlabel=_label(results[0], horizontal), ylabel=_label(results[0], vertical))

    return panel


def _together(result: Result, horizontal: str, vertical: str) -> tuple[Array, Array]:
    """Two columns at the same fine times: a derivative comes from the interpolation of its value."""
    t = result.columns["t"]
    fine = result.smooth(horizontal)[0] if f"{horizontal}_dot" in result.columns else result.smooth(vertical)[0]
    found = []
    for label in (horizontal, vertical):
        value = label.removesuffix("_dot")
        if label != value and value in result.columns:
            found.append(hermite(t, result.column(value), result.column(label), fine)[1])
        else:
            found.append(hermite(t, result.column(label), result.columns.get(f"{label}_dot"), fine)[0])
    return found[0], found[1]


def path_panel(points: Sequence[str]) -> Panel:
    """The ways of points through the plane, true to scale."""

    def panel(axes: Any, results: Sequence[Result], theme: Theme) -> None:
        for result in results:
            for number, point in enumerate(points):
                name = point if result is results[0] else None
                x, y = result.smooth(f"{point}_x")[1], result.smooth(f"{point}_y")[1]
                colour = theme.parts[number % len(theme.parts)]
                axes.plot(x, y, result.dash, color=colour, linewidth=1.1, label=name)
                axes.plot(x[0], y[0], "o", color=colour)
        axes.set(title="Paths (the dots are the start)", xlabel="x / m", ylabel="y / m", aspect="equal")
        axes.set_adjustable("datalim")
        _legend(axes, len(points))

    return panel


def difference_panel(axes: Any, results: Sequence[Result], theme: Theme) -> None:
    """How far each further result is from the first, at the first one's times."""
    base = results[0]
    t = base.columns["t"]
    for number, result in enumerate(results[1:], start=1):
        other = result.columns["t"]
        common = (t >= other[0]) & (t <= other[-1])
        labels = [each for each in base.columns if each.endswith(("_x", "_y", "_z")) and each in result.columns]
        if not common.any() or not labels:
            continue
        gaps = [np.abs(base.columns[each][common] - _at(result, each, t[common])) for each in labels]
        worst = _positive(np.max(gaps, axis=0))
        axes.semilogy(t[common], worst, result.dash, color=theme.parts[number % len(theme.parts)])
    cubic = any(result.trajectory.polynomials is None for result in results[1:])
    remark = ", by cubic interpolation between rows" if cubic else ""
    axes.set(title=f"Largest difference of a coordinate from {base.name}{remark}", xlabel="t / s", ylabel="m")


def _at(result: Result, label: str, times: Array) -> Array:
    series = result.trajectory.polynomials
    if series is not None and label in series.labels:
        return series(times)[:, series.labels.index(label)]
    return hermite(result.columns["t"], result.columns[label], result.columns.get(f"{label}_dot"), times)[0]


def _label(result: Result, label: str) -> str:
    unit = result.unit(label)
    return f"{label} / ({unit})" if "/" in unit else f"{label} / {unit}" if unit else label
