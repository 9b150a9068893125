"""Functions of time in pieces: constants of the mechanism that switches change, so that the integrator steps exactly to
each break and every piece is smooth."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from mechsim.errors import Fault, SpecError
from mechsim.model.book import Book
from mechsim.model.formula import TIME, Formula, coordinate, number
from mechsim.spec.actions import Piecewise, Table
from mechsim.spec.document import Problem

Segment = tuple[float, tuple[float, ...]]  # from this time on, these constants


def table(given: Table, problem: Problem, book: Book) -> Formula:
    """A table as a polynomial in the time since its last break: value, slopes, then the time of the break."""
    start, end = problem.t0.value, problem.tend.value
    if not given.hold and not (given.times[0] <= start and end <= given.times[-1]):
        message = (
            f"table {given.name} ends before the run does: it covers {given.times[0]:g} to {given.times[-1]:g}, "
            f"the run {start:g} to {end:g}"
        )
        raise SpecError(Fault(message, given.mark, "extend the table, or write outside: hold"))
    slots = _held(_segments(given, start, end), start, end, book)
    *coefficients, origin = (coordinate(slot) for slot in slots)
    value = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        value = coefficient + (TIME - origin) * value
    return value


def piecewise(given: Piecewise, pieces: Sequence[Formula], problem: Problem, book: Book) -> Formula:
    """Pieces weighted by constants, of which one is 1 and the others 0 at any time."""
    times = (float("-inf"), *given.times[1:])
    chosen = [tuple(float(k == index) for k in range(len(pieces))) for index in range(len(pieces))]
    slots = _held(list(zip(times, chosen, strict=True)), problem.t0.value, problem.tend.value, book)
    total = number(0)
    for slot, piece in zip(slots, pieces, strict=True):
        total = total + coordinate(slot) * piece
    return total


def _held(segments: list[Segment], start: float, end: float, book: Book) -> list[int]:
    """Slots of constants that hold the segment at the start, and change at the breaks of the run."""
    past = [values for time, values in segments if time <= start]
    current = past[-1]
    slots = [book.constant(value) for value in current]
    for time, values in segments:
        if start < time < end:
            for slot, old, new in zip(slots, current, values, strict=True):
                if old != new:
                    book.switch(time, slot, new)
            current = values
    return slots


def _segments(given: Table, start: float, end: float) -> list[Segment]:
    first, last = (given.times[0], given.values[0]), (given.times[-1], given.values[-1])
    coefficients: list[tuple[float, ...]]
    if given.kind == "step":
        coefficients = [(value,) for value in given.values]
    elif given.kind == "linear":
        slopes = [(b - a) / (t - s) for (s, a), (t, b) in pairwise(zip(given.times, given.values, strict=True))]
        coefficients = [*zip(given.values, slopes, strict=False), (last[1], 0.0)]
    else:
        coefficients = [*_cubic(given, start, end), (last[1], 0.0, 0.0, 0.0)]
    before = (first[1], *(0.0,) * (len(coefficients[0]) - 1), first[0])
    inside = [(time, (*values, time)) for time, values in zip(given.times, coefficients, strict=True)]
    return [(float("-inf"), before), *inside]


def _cubic(given: Table, start: float, end: float) -> list[tuple[float, ...]]:
    """The spline with two continuous derivatives. Where the run leaves the table its slope is zero, so that the value
    passes smoothly into the held one; elsewhere the ends are not-a-knot."""
    from scipy.interpolate import CubicSpline  # half a second to import, and rarely needed

    flat, free = (1, 0.0), "not-a-knot"
    left = flat if start < given.times[0] else free
    right = flat if end > given.times[-1] else free
    spline = CubicSpline(given.times, given.values, bc_type=(left, right))
    return [tuple(float(c) for c in column) for column in spline.c[::-1].T]
