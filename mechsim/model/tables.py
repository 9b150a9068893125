"""Functions of time in pieces: constants of the mechanism that switches change, so that the integrator steps exactly to
each break and every piece is smooth.

However many pieces there are, the formula stays short: a table is one polynomial whose coefficients switch, and pieces
of `Piecewise` that differ only in their numbers are one formula whose numbers switch.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import factorial
from typing import TYPE_CHECKING

import numpy as np

from mechsim.errors import Fault, Note, SpecError
from mechsim.frozen import frozen
from mechsim.lagrangian.formula import LEAVES, TIME, Formula, coordinate, number
from mechsim.model.book import Book
from mechsim.spec.actions import Piecewise, Table
from mechsim.spec.document import Problem
from mechsim.spec.living import Living, settled

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MAX_FORMS = 100  # of the pieces of one function; a person writes a handful, and all are evaluated at all times
FAR = 0.25  # of the range of a table's values: a spline that leaves it further than this is noted
LOOKS = 16  # places within each interval where a spline is looked at

Coefficients = Sequence[tuple[float, ...]]  # of a polynomial in the time since the break, for each piece


def table(given: Table, problem: Problem, book: Book) -> Formula:
    """A table as a polynomial in the time since its last break: value, slopes, then the time of the break."""
    start, end = problem.t0.value, problem.tend.value
    if not given.hold and not (given.times[0] <= start and end <= given.times[-1]):
        message = (
            f"table {given.name} ends before the run does: it covers {given.times[0]:g} to {given.times[-1]:g}, "
            f"the run {start:g} to {end:g}"
        )
        raise SpecError(Fault(message, given.mark, "extend the table, or write outside: hold"))
    inside = _polynomials(given)
    plain = np.array(settled(inside))
    if not np.isfinite(plain).all():
        message = (
            f"table {given.name} cannot be followed: its values jump too far between times too close to each other"
        )
        raise SpecError(Fault(message, given.mark, "give its times and values in units that keep them near 1"))
    if given.kind in ("cubic", "quintic"):
        _note_overshoot(settled(given), plain, book)
    level = (0.0,) * (len(inside[0]) - 1)
    before, after = (given.values[0], *level, given.times[0]), (given.values[-1], *level, given.times[-1])
    pieces = [(*values, time) for time, values in zip(given.times, inside, strict=False)]
    rows = [before, *pieces, after] if len(pieces) < len(given.times) else [before, *pieces]
    slots = _switched((float("-inf"), *given.times), [dict(enumerate(row)) for row in rows], problem, book)
    *coefficients, origin = (coordinate(slots[place]) for place in range(len(before)))
    value = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        value = coefficient + (TIME - origin) * value
    return value


def _polynomials(given: Table) -> Coefficients:
    """For each interval of the table; for a step one more, from the last time on. They know nothing of the run."""
    if given.kind == "step":
        return [(value,) for value in given.values]
    if given.kind == "linear":
        points = pairwise(zip(given.times, given.values, strict=True))
        return [(a, (b - a) / (t - s)) for (s, a), (t, b) in points]
    if given.kind in ("cubic", "quintic") and any(isinstance(value, Living) for value in given.values):
        return _living_spline(given)
    return [tuple(map(float, column)) for column in _splines(given, given.values).T]


def _splines(given: Table, values: ArrayLike) -> np.ndarray:
    """The coefficients of splines through one column of values, or through many: (degree + 1, intervals, ...)."""
    from scipy.interpolate import CubicSpline, PchipInterpolator  # half a second to import, and rarely needed

    with np.errstate(all="ignore"):
        try:
            if given.kind == "quintic":
                return _quintics(given.times, values)
            if given.kind == "pchip":
                spline = PchipInterpolator(given.times, values)
            else:
                spline = CubicSpline(given.times, values, bc_type=given.ends)
        except ValueError:  # numbers so far apart that the equations of the spline overflow
            return np.full((4, 1, *np.shape(values)[1:]), np.nan)
    return np.asarray(spline.c[::-1])


def _quintics(times: Sequence[float], values: ArrayLike) -> np.ndarray:
    """The spline of degree five whose ends are smooth at the two points next to them, too (not-a-knot)."""
    from scipy.interpolate import make_interp_spline

    spline = make_interp_spline(times, values, k=5)
    return np.stack([spline(times[:-1], nu=order) / factorial(order) for order in range(6)])


def _living_spline(given: Table) -> Coefficients:
    """A spline is linear in its values, so it follows from those through a single 1 how it changes with them."""
    shares = _splines(given, np.eye(len(given.values)))
    return [
        tuple(sum((float(share) * value for share, value in zip(row, given.values, strict=True)), 0.0) for row in piece)
        for piece in shares.transpose(1, 0, 2)
    ]


def _note_overshoot(given: Table, pieces: np.ndarray, book: Book) -> None:
    """A spline may swing far out between its points, above all where their distances differ much."""
    low, high = min(given.values), max(given.values)
    since = np.diff(given.times)[:, None] * np.arange(1, LOOKS) / LOOKS
    values = np.zeros_like(since)
    for coefficients in reversed(pieces.T):
        values = coefficients[:, None] + since * values
    beyond = np.maximum(low - values, values - high)
    place = np.unravel_index(np.argmax(beyond), beyond.shape)
    if beyond[place] > FAR * (high - low):
        message = (
            f"table {given.name} swings to {values[place]:.4g} at t = {given.times[place[0]] + since[place]:.4g}, far "
            f"beyond its values, {low:.4g} to {high:.4g}; kind: pchip stays between them"
        )
        book.notes.append(Note(message, given.mark))


def piecewise(given: Piecewise, pieces: Sequence[Formula], problem: Problem, book: Book) -> Formula:
    """The forms of the pieces, each weighted by a constant: 1 while it holds, else 0. A form that is a mere number
    needs no weight, for it is 0 itself; nor does a form that is the only one."""
    forms: dict[Formula, _Form] = {}
    rows: list[dict[int, float]] = []
    places = 0
    for piece in pieces:
        values: list[float] = []
        shape = _shape(piece, values)
        if shape not in forms:
            weight = -1 if shape.operation == HOLE else places + len(values)
            forms[shape] = _Form(places, len(values), weight)
            places += len(values) + 1
            _refuse_many(given, len(forms))
        rows.append(_row(forms[shape], values))
    if len(forms) > 1:
        rows = _exclusive(rows, list(forms.values()))
    times = (float("-inf"), *given.times[1:])
    slots = _switched(times, rows, problem, book)
    terms = []
    for shape, form in forms.items():
        value = _filled(shape, [slots[form.first + place] for place in range(form.count)])
        weighted = len(forms) > 1 and form.weight >= 0
        terms.append(coordinate(slots[form.weight]) * value if weighted else value)
    return _total(terms)


HOLE = "hole"


@frozen
class _Form:
    """Where the numbers of a form stand among the constants of its function, and its weight (-1: it has none)."""

    first: int
    count: int
    weight: int


def _shape(tree: Formula, values: list[float]) -> Formula:
    """The formula with its numbers taken out, which are appended to `values`. An exponent is part of the shape: what
    a power means depends on it."""
    if tree.operation in ("number", "p"):
        values.append(tree.operands[-1])
        return Formula(HOLE, (number(len(values) - 1),))
    if tree.operation in LEAVES:
        return tree
    kept = [tree.operation == "**" and operand.operation in ("number", "p") for operand in tree.operands]
    operands = (operand if keep else _shape(operand, values) for operand, keep in zip(tree.operands, kept, strict=True))
    return Formula(tree.operation, tuple(operands))


def _filled(shape: Formula, slots: Sequence[int]) -> Formula:
    if shape.operation == HOLE:
        return coordinate(slots[int(shape.operands[0].value)])
    if shape.operation in LEAVES:
        return shape
    return Formula(shape.operation, tuple(_filled(operand, slots) for operand in shape.operands))


def _row(form: _Form, values: Sequence[float]) -> dict[int, float]:
    row = {form.first + place: value for place, value in enumerate(values)}
    return row | ({form.weight: 1.0} if form.weight >= 0 else {})


def _exclusive(rows: list[dict[int, float]], forms: list[_Form]) -> list[dict[int, float]]:
    """With the form that held before switched off where another takes over, and every form in the first row."""
    owner = {place: form for form in forms for place in (form.weight, *range(form.first, form.first + form.count))}
    off = {form: form.weight if form.weight >= 0 else form.first for form in forms}
    holding = [owner[next(iter(row))] for row in rows]
    first = dict(rows[0])
    for row in rows:
        for place, value in row.items():
            first.setdefault(place, value)
    first |= {off[form]: 0.0 for form in forms if form is not holding[0]}
    changed = [{off[old]: 0.0} if old is not new else {} for old, new in pairwise(holding)]
    return [first, *({**change, **row} for change, row in zip(changed, rows[1:], strict=True))]


def _total(terms: list[Formula]) -> Formula:
    """The sum, as a tree that is no deeper than it must be."""
    while len(terms) > 1:
        pairs = [terms[first : first + 2] for first in range(0, len(terms), 2)]
        terms = [pair[0] + pair[1] if len(pair) == 2 else pair[0] for pair in pairs]
    return terms[0]


def _refuse_many(given: Piecewise, count: int) -> None:
    if count > MAX_FORMS:
        message = f"Piecewise.{given.name} has more than {MAX_FORMS} pieces of different form"
        hint = "pieces that differ only in their numbers count as one; or give values in Tables"
        raise SpecError(Fault(message, given.mark, hint))


def _switched(times: Sequence[float], rows: Sequence[dict[int, float]], problem: Problem, book: Book) -> dict[int, int]:
    """Constants, by place, that hold `rows[i]` from `times[i]` on; a row may leave out what does not change. The slot
    of each."""
    start, end = problem.t0.value, problem.tend.value
    current = dict(rows[0])
    later = 1
    while later < len(rows) and times[later] <= start:
        current |= rows[later]
        later += 1
    slots = {place: book.constant(value) for place, value in current.items()}
    if len(rows) > 1:
        book.in_time(slots.values())
    for time, row in zip(times[later:], rows[later:], strict=True):
        if not time < end:
            if not end < time and any(current[place] != value for place, value in row.items()):
                book.break_at_end = time
            break
        for place, value in row.items():
            if current[place] != value:
                book.switch(time, slots[place], value)
                current[place] = value
    return slots
