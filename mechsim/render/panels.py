"""Panels of a plot: each draws the same thing for every result, and tells results apart by their dashes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mechsim.errors import Fault
from mechsim.render.frames import hermite
from mechsim.render.theme import Theme
from mechsim.result.journal import OutputError
from mechsim.result.layout import Array
from mechsim.result.trajectory import Trajectory

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


Panel = Callable[[Any, Sequence[Result], Theme], None]


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
