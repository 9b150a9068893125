"""Whether what a file of results holds is what it should be: a file may be damaged, or made by anybody."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

import numpy as np

from mechsim.engine.events import COLUMNS, Events
from mechsim.result.trajectory import Polynomials, Trajectory
from mechsim.spec.number import LARGEST

LABEL = re.compile(r"[^\W\d]\w*")  # as columns are called


class Unsound(ValueError):
    """What is wrong, in words that follow `cannot read out.csv:`."""


def check(trajectory: Trajectory) -> None:
    """Raise Unsound unless the trajectory is one that mechsim could have written."""
    for name in ("title", "spec_path", "spec_text", "version", "status", "drawing"):
        _require(isinstance(getattr(trajectory, name), str), f"its {name} is no text")
    _check_labels(trajectory)
    _check_settings(trajectory.settings)
    table = trajectory.table
    _require(
        isinstance(table, np.ndarray) and table.dtype.kind == "f" and table.ndim == 2, "its table is not of numbers"
    )
    wanted = len(trajectory.labels)
    _require(table.shape[1] == wanted, f"it has {table.shape[1]} columns of numbers, but {wanted} names for them")
    if trajectory.certificate is not None:
        figures = trajectory.certificate.as_dict().values()
        _require(all(_is_number(figure) for figure in figures), "a figure of its certificate is no number")
    if trajectory.polynomials is not None:
        _check_polynomials(trajectory.polynomials)
    if trajectory.events is not None:
        _check_events(trajectory.events)


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise Unsound(what)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _check_labels(trajectory: Trajectory) -> None:
    for label in trajectory.labels:
        named = isinstance(label, str) and LABEL.fullmatch(label) is not None
        _require(named, f"{str(label)[:40]!r} is no name of a column")
    twice = [label for label, count in Counter(trajectory.labels).items() if count > 1]
    _require(not twice, f"it has two columns called {twice[0]}" if twice else "")
    _require(all(isinstance(unit, str) for unit in trajectory.units), "a unit is no text")
    _require(len(trajectory.units) == len(trajectory.labels), "it has not one unit for each column")
    _require(all(isinstance(label, str) for label in trajectory.not_unique), "its not_unique are no names")


def _check_settings(settings: object) -> None:
    if not isinstance(settings, Mapping):
        raise Unsound("its settings are no dictionary")
    for name in ("tol", "t0", "tend"):
        value = settings.get(name, 0.0)
        _require(_is_number(value) and abs(value) <= LARGEST, f"its setting {name} is no number to compute with")
    _require(settings.get("tol", 1e-12) > 0, "its setting tol is not above zero")
    for name in ("overrides", "files"):
        given = settings.get(name, {})
        texts = isinstance(given, Mapping) and all(isinstance(text, str) for pair in given.items() for text in pair)
        _require(texts, f"its setting {name} is no dictionary of texts")


def _check_events(events: Events) -> None:
    """A row of numbers for each, of gaps that have names."""
    table = events.table
    fits = table.dtype.kind == "f" and table.ndim == 2 and table.shape[1] == len(COLUMNS)
    _require(fits and events.overlaps.ndim == 1, "its events are not of numbers")
    gaps = events.column("gap")
    _require(bool(np.all((gaps >= 0) & (gaps < len(events.names)))), "an event is of no contact")


def _check_polynomials(series: Polynomials) -> None:
    """One row of coefficients for each step and variable, steps in the order of time."""
    arrays = (series.t, series.ends, series.coefficients)
    _require(all(each.dtype.kind == "f" for each in arrays), "its polynomials are not of numbers")
    steps = len(series.t) if series.t.ndim == 1 else -1
    shapes = series.ends.shape == (steps,) and series.coefficients.ndim == 3
    fits = shapes and series.coefficients.shape[:2] == (steps, len(series.labels)) and series.coefficients.shape[2] > 0
    _require(fits and steps > 0, "its polynomials do not fit together")
    _require(bool(np.all(np.diff(series.t) > 0)), "the steps of its polynomials are not in the order of time")
