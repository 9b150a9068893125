"""Motions that are prescribed, by formulas or by tables, and what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from mechsim import simulation
from mechsim.errors import Fault, Mark, SpecError
from mechsim.frozen import frozen
from mechsim.result import Motion
from mechsim.result.given import read_numbers
from mechsim.result.layout import Array
from mechsim.spec.expression import CONSTANTS, Expression, parse_expression
from mechsim.spec.functions import FEWEST
from mechsim.spec.names import AXES

TIME = "t"
LATER = 400  # times at which a formula is looked at where it cannot be followed
UNITS = {"rad": 1.0, "deg": np.pi / 180, "m": 1.0, "mm": 1e-3, "cm": 1e-2, "s": 1.0, "ms": 1e-3}
UNITED = re.compile(r"(.*?)\s*\[\s*([a-zA-Z]+)\s*\]")
KINDS = ("quintic", "cubic")

Given = str | tuple[ArrayLike, ArrayLike]


@frozen(eq=False)
class Prescribed:
    """Motions by what they move: formulas, or values at times; and from when to when these are known."""

    formulas: Mapping[str, str]
    tables: Mapping[str, tuple[Array, Array]]

    @classmethod
    def of(cls, given: Mapping[str, Given], table: str | Path | None, *, spoken: bool = True) -> Prescribed:
        """Columns of a table are `spoken` as in files, A_x as A.x, or are names as they stand. Raises SpecError."""
        formulas = {name: each for name, each in given.items() if isinstance(each, str)}
        tables = {name: _checked(name, *each) for name, each in given.items() if not isinstance(each, str)}
        return cls(formulas, {**tables, **(read_motion(table, spoken) if table is not None else {})})

    @property
    def times(self) -> tuple[float, float] | None:
        """When all tables are known."""
        if not self.tables:
            return None
        found = [(float(t[0]), float(t[-1])) for t, _ in self.tables.values()]
        first, last = max(each[0] for each in found), min(each[1] for each in found)
        if first >= last:
            raise SpecError(Fault("the tables of the motion have no time in common"))
        return first, last

    def spline(self, name: str, kind: str) -> str:
        """The kind of table that a motion becomes: few rows are joined by cubics."""
        return kind if len(self.tables[name][0]) >= FEWEST.get(kind, 0) else "cubic"

    def check_covers(self, start: float, end: float) -> None:
        """Raises SpecError where a table does not."""
        for name, (times, _) in self.tables.items():
            if start < times[0] or end > times[-1]:
                known = f"the motion of {name} is known from t = {times[0]:g} to {times[-1]:g}"
                message = f"{known}, not from {start:g} to {end:g}"
                raise SpecError(Fault(message, hint="give more rows, or another t0 and tend"))


def read_motion(path: str | Path, spoken: bool = True) -> dict[str, tuple[Array, Array]]:
    """A CSV file: a column `t`, and one for each quantity, with a unit if it is not SI: `theta_OA [deg]`. Cells may be
    empty at both ends of a column, but not between. Raises SpecError."""

    def refused(title: str) -> tuple[str, str] | None:
        found = UNITED.fullmatch(title)
        if not title:
            return "a column has no title", "titles are t and what moves: t,theta_OA,B_x"
        if found and found[2] not in UNITS:
            return f"the unit {found[2]} is not known", f"units are {', '.join(UNITS)}"
        return None

    hint = "write titles t,theta_OA in the first line, and a row of numbers for each time"
    titles, table = read_numbers(path, refused, (f"{path} has no motion in it", hint), holes=True)
    named = [UNITED.fullmatch(title) for title in titles]
    names = [each[1] if each else title for each, title in zip(named, titles, strict=True)]
    sizes = [UNITS[each[2]] if each else 1.0 for each in named]
    if TIME not in names or len(names) < 2:
        message = f"{path} has no column t" if TIME not in names else f"{path} has times, but nothing that moves"
        raise SpecError(Fault(message, hint=hint))
    columns = {name: size * column for name, size, column in zip(names, sizes, table.T, strict=True)}
    times = columns.pop(TIME)
    return {_spoken(name) if spoken else name: _checked(name, times, values) for name, values in columns.items()}


def _spoken(name: str) -> str:
    """`A_x`, as columns are called, is `A.x` in files."""
    point, _, axis = name.rpartition("_")
    return f"{point}.{axis}" if point and axis in AXES else name


def _checked(name: str, times: ArrayLike, values: ArrayLike) -> tuple[Array, Array]:
    t, v = np.asarray(times, float), np.asarray(values, float)
    if t.shape != v.shape or t.ndim != 1:
        raise SpecError(Fault(f"the motion of {name} needs as many values as times, but has {v.size} and {t.size}"))
    known = np.flatnonzero(np.isfinite(v))
    if not len(known):
        raise SpecError(Fault(f"the motion of {name} has no values"))
    t, v = t[known[0] : known[-1] + 1], v[known[0] : known[-1] + 1]
    holes = np.flatnonzero(~np.isfinite(v) | ~np.isfinite(t))
    if len(holes):
        message = f"the motion of {name} has {len(holes)} gap{'s' * (len(holes) > 1)}, the first at t = {t[holes[0]]:g}"
        raise SpecError(Fault(message, hint="fill it, or leave out its row: a spline goes through the others"))
    back = np.flatnonzero(np.diff(t) <= 0)
    if len(back):
        message = f"the motion of {name}: times must increase, but {t[back[0] + 1]:g} follows {t[back[0]]:g}"
        raise SpecError(Fault(message, hint="sort the rows by time; each time once"))
    if len(t) < FEWEST["not-a-knot"]:
        raise SpecError(Fault(f"the motion of {name} has {len(t)} rows, but a spline needs {FEWEST['not-a-knot']}"))
    return t, v


def checked_times(
    prescribed: Prescribed, kind: str, t0: float | None, tend: float | None
) -> tuple[float | None, float | None]:
    """From when to when, by tables where nothing else is given. Raises SpecError."""
    if kind not in KINDS:
        raise SpecError(Fault(f"a motion is no {kind} spline", hint=f"it is one of {', '.join(KINDS)}"))
    first, last = prescribed.times or (None, None)
    return first if t0 is None else float(t0), last if tend is None else float(tend)


def left_free(motion: Motion) -> int:
    """How many velocities of a motion no drive decides: one that prescribes a speed leaves the position free, from
    where it starts, but not how it moves. States, as of controllers, are no freedoms."""
    structure, variables = motion.solution.structure, motion.mechanism.variables
    return structure.total_dof - structure.dof - sum(each.kind == "state" for each in variables)


def undriven(freedoms: int) -> tuple[str, ...]:
    """What is to be noted of freedoms that no motion decides."""
    words = "freedom is" if freedoms == 1 else "freedoms are"
    return (f"{freedoms} {words} not driven: what is free moves by itself, from the start",) if freedoms else ()


def beyond(
    error: simulation.CutShort, prescribed: Prescribed, known: Mapping[str, float], tend: float
) -> simulation.CutShort:
    """Where the mechanism cannot follow, and how far the motion would go on from there."""
    motion = error.motion
    t = float(motion.t[-1])
    formulas = {name: _values(text, known, np.linspace(t, tend, LATER)) for name, text in prescribed.formulas.items()}
    for name, (now, later) in formulas.items():
        if len(later) and not np.isfinite([now, later[0]]).all():
            message = f"the motion of {name} has no value beyond t = {t:.6g}: {prescribed.formulas[name]}"
            return simulation.CutShort(Fault(message, None, "end before that, or give a formula that goes on"), motion)
    went = []
    for name, (times, values) in prescribed.tables.items():
        went.append(_gone_on(name, float(np.interp(t, times, values)), values[times >= t]))
    went += [_gone_on(name, *each) for name, each in formulas.items() if np.isfinite(each[0])]
    message = f"the mechanism cannot follow the motion beyond t = {t:.6g}{': ' if went else ''}{'; '.join(went)}"
    hint = "; ".join(fault.message for fault in error.faults)
    return simulation.CutShort(Fault(message, None, hint), motion)


def _gone_on(name: str, now: float, later: Array) -> str:
    far = float(later[np.argmax(np.abs(later - now))]) if len(later) else now
    on = f" and would go on to {far:.6g}, {abs(far - now):.3g} further" if far != now else ""
    return f"{name} is {now:.6g} there{on}"


def _values(text: str, known: Mapping[str, float], times: Array) -> tuple[float, Array]:
    """A formula of time at times, the first of them apart, NaN at those at which it has no value; none but NaN where it
    takes more than parameters."""
    try:
        expression = parse_expression(text, Mark("", 1, 1), state=True)
        found = np.array([_value(expression, {**CONSTANTS, **known, TIME: float(t)}) for t in times])
    except (SpecError, KeyError):
        found = np.full(1, np.nan)
    return float(found[0]), found[1:]


def _value(expression: Expression, environment: Mapping[str, float]) -> float:
    """NaN where a function is not defined."""
    try:
        return float(expression.evaluate(environment))
    except SpecError:
        return float("nan")
