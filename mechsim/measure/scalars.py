"""Measures of some cases: the numbers, and why there is none."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

import numpy as np

from mechsim.errors import Mark
from mechsim.measure import piecewise
from mechsim.measure.bernstein import Array, Mask
from mechsim.measure.formulas import Look, Term, applied
from mechsim.measure.piecewise import Pieces
from mechsim.measure.quantities import Bound, End, Given, Happening, Inside, Quantity, Unknown
from mechsim.measure.reading import Asked, function_of, happening_key
from mechsim.measure.steps import Steps
from mechsim.spec.expression import name_of, operands_of, parse_expression

MOST_DIGITS = 16.0


class Scalars:
    """Evaluates measures; `messages` say, by case, why some are NaN: of each the first reason."""

    def __init__(self, steps: Steps):
        self.steps = steps
        self._reasons: dict[int, dict[str, str]] = {}  # by case and measure
        self._pieces: dict[str, Pieces] = {}
        self._values: dict[str, Array] = {}

    def of(self, asked: Asked) -> Array:
        """(cases,)"""
        found = Evaluation(self, asked).value(asked.expression.tree)
        return np.broadcast_to(np.where(np.isfinite(found), found, np.nan), self.steps.count)

    @property
    def messages(self) -> dict[int, str]:
        return {case: "; ".join(reasons.values()) for case, reasons in self._reasons.items()}

    def tell(self, cases: Mask, label: str, reasons: list[str]) -> None:
        """Why this measure has no value in these cases."""
        for case, reason in zip(np.flatnonzero(cases).tolist(), reasons, strict=True):
            self._reasons.setdefault(case, {}).setdefault(label, f"{label}: {reason}")


class Evaluation:
    """Of one measure."""

    def __init__(self, scalars: Scalars, asked: Asked):
        self.scalars, self.asked, self.steps = scalars, asked, scalars.steps

    def value(self, node: ast.expr) -> Array:
        if isinstance(node, ast.Constant):
            return np.asarray(float(node.value))  # type: ignore[arg-type]
        if (name := name_of(node)) is not None:
            return self._number(name)
        if (function := function_of(node)) is not None:
            assert isinstance(node, ast.Call)
            known, key = self.scalars._values, ast.unparse(node)
            if key not in known:
                known[key] = getattr(self, f"_{function}")(node, *operands_of(node))
            return known[key]
        operands = [self.value(child) for child in operands_of(node)]
        found = applied(node, Look(), *(Term(value, np.abs(value)) for value in operands)).values
        self._check(node, found, operands)
        return found

    def _number(self, name: str) -> Array:
        match self.asked.outside[name]:
            case Given():
                return self.steps.parameter(name)
            case Bound(is_end):
                return self.steps.t if is_end else self.steps.starts
            case constant:
                return np.asarray(constant, dtype=float)

    def _check(self, node: ast.expr, found: Array, operands: list[Array]) -> None:
        """Tell where there is no value, though all that it is made of has one."""
        bad = ~np.isfinite(found)
        for operand in operands:
            bad = bad & np.isfinite(operand)
        if not bad.any():
            return
        bad = np.broadcast_to(bad, self.steps.count)
        shown = [self.asked.expression.shown(child) for child in operands_of(node)]
        full = [np.broadcast_to(operand, self.steps.count)[bad] for operand in operands]
        parts = [
            [f"{name} is {value:.6g}" for value in column.tolist()] for name, column in zip(shown, full, strict=True)
        ]
        told = [", ".join(each) for each in zip(*parts, strict=True)]
        self._tell(bad, [f"{self.asked.expression.shown(node)} has no value: {why}" for why in told])

    def _tell(self, cases: Mask, message: str | list[str]) -> None:
        reasons = [message] * int(cases.sum()) if isinstance(message, str) else message
        self.scalars.tell(cases, self.asked.label, reasons)

    # --- functions of the motion

    def _quantity(self, node: ast.expr) -> Quantity:
        return Quantity(node, self.asked.inside)

    def pieces(self, node: ast.expr) -> Pieces:
        known, key = self.scalars._pieces, ast.unparse(node)
        if key not in known:
            pieces, fine = self._quantity(node).pieces(self.steps)
            self._tell_unresolved(node, fine)
            known[key] = self._finite(node, pieces, fine)
        return known[key]

    def _tell_unresolved(self, node: ast.expr, fine: Mask) -> None:
        if not fine.all():
            self._tell(~fine, f"{self.asked.expression.shown(node)} changes too fast to be followed")

    def _finite(self, node: ast.expr, pieces: Pieces, fine: Mask) -> Pieces:
        """The pieces, all zero in cases that have no values everywhere; these are told, and NaN in the end."""
        bad = ~np.isfinite(pieces.polynomials).all(axis=0)
        if not bad.any() and fine.all():
            return pieces
        first = piecewise.by_case(np.minimum, pieces.begins[bad], pieces.case[bad], np.full(pieces.count, np.inf))
        lost = np.isfinite(first)
        shown = self.asked.expression.shown(node)
        self._tell(lost, [f"{shown} has no value near t = {time:.6g}" for time in first[lost].tolist()])
        empty = (lost | ~fine)[pieces.case]
        polynomials = np.where(empty, 0.0, pieces.polynomials)
        return replace(pieces, polynomials=polynomials, noise=np.where(lost | ~fine, np.nan, pieces.noise))

    def _known(self, pieces: Pieces, values: Array) -> Array:
        """NaN where the pieces are not known."""
        return np.where(np.isnan(pieces.noise), np.nan, values)

    def _extreme(self, node: ast.expr, sign: float) -> Array:
        quantity = self._quantity(node)
        if quantity.plain is not None and ast.unparse(node) not in self.scalars._pieces:
            return quantity.plain_largest(self.steps, sign)
        pieces = self.pieces(node)
        return self._known(pieces, sign * piecewise.largest(pieces if sign > 0 else -pieces))

    def _max(self, node: ast.Call, quantity: ast.expr) -> Array:
        return self._extreme(quantity, 1.0)

    def _min(self, node: ast.Call, quantity: ast.expr) -> Array:
        return self._extreme(quantity, -1.0)

    def _time_of_max(self, node: ast.Call, quantity: ast.expr) -> Array:
        pieces = self.pieces(quantity)
        return self._known(pieces, piecewise.time_of_largest(sound(pieces)))

    def _time_of_min(self, node: ast.Call, quantity: ast.expr) -> Array:
        pieces = self.pieces(quantity)
        return self._known(pieces, piecewise.time_of_largest(-sound(pieces)))

    def _integral(self, node: ast.Call, quantity: ast.expr) -> Array:
        pieces = self.pieces(quantity)
        return self._known(pieces, piecewise.integral(pieces))

    def _mean(self, node: ast.Call, quantity: ast.expr) -> Array:
        return self._integral(node, quantity) / self._durations

    def _rms(self, node: ast.Call, quantity: ast.expr) -> Array:
        pieces = self.pieces(quantity)
        return self._known(pieces, np.sqrt(piecewise.square_integral(pieces) / self._durations))

    @property
    def _durations(self) -> Array:
        return self.steps.t - self.steps.starts

    def _count(self, node: ast.Call, quantity: ast.expr) -> Array:
        pieces = self.pieces(quantity)
        case, _ = piecewise.upward_crossings(sound(pieces))
        return self._known(pieces, np.bincount(case, minlength=pieces.count).astype(float))

    def _first(self, node: ast.Call, quantity: ast.expr) -> Array:
        pieces = self.pieces(quantity)
        case, times = piecewise.upward_crossings(sound(pieces))
        found = piecewise.by_case(np.minimum, times, case, np.full(pieces.count, np.inf))
        never = np.isinf(found) & ~np.isnan(pieces.noise)
        if never.any():
            self._tell(never, f"{self.asked.expression.shown(quantity)} does not cross zero upwards")
        return np.where(np.isinf(found), np.nan, found)

    def _period(self, node: ast.Call, quantity: ast.expr) -> Array:
        pieces = self.pieces(quantity)
        average = self._mean(node, quantity)
        case, times = piecewise.upward_crossings(sound(pieces).lowered(np.nan_to_num(average)))
        counts = np.bincount(case, minlength=pieces.count)
        first = piecewise.by_case(np.minimum, times, case, np.full(pieces.count, np.inf))
        last = piecewise.by_case(np.maximum, times, case, np.full(pieces.count, -np.inf))
        few = (counts < 2) & ~np.isnan(pieces.noise)
        if few.any():
            shown = self.asked.expression.shown(quantity)
            told = zip(average[few].tolist(), counts[few].tolist(), strict=True)
            words = {0: "never", 1: "once"}
            why = [f"{shown} crosses its average {mean:.6g} upwards {words[n]}: a period takes two" for mean, n in told]
            self._tell(few, why)
        with np.errstate(all="ignore"):
            return np.where(counts < 2, np.nan, (last - first) / (counts - 1))

    # --- of events

    def _happened(self, node: ast.expr) -> list[Array]:
        """Times of an event in each case."""
        meaning = self.asked.inside[happening_key(node)]
        assert isinstance(meaning, Happening)
        motions = (self.steps.motion(case) for case in range(self.steps.count))
        return [motion.events.of(meaning.name).column("t") for motion in motions]

    def _events(self, node: ast.Call, name: ast.expr) -> Array:
        return np.array([float(len(times)) for times in self._happened(name)])

    def _first_event(self, node: ast.Call, name: ast.expr) -> Array:
        return self._one_of(name, 0)

    def _last_event(self, node: ast.Call, name: ast.expr) -> Array:
        return self._one_of(name, -1)

    def _one_of(self, name: ast.expr, place: int) -> Array:
        found = np.array([times[place] if len(times) else np.nan for times in self._happened(name)])
        never = np.isnan(found)
        if never.any():
            self._tell(never, f"{self.asked.expression.shown(name)} does not happen")
        return found

    # --- at a time

    def _final(self, node: ast.Call, quantity: ast.expr) -> Array:
        return self._told(quantity, self._quantity(quantity).at(End(self.steps)), self.steps.t)

    def _start(self, node: ast.Call, quantity: ast.expr) -> Array:
        return self._sample(quantity, self.steps.starts)

    def _at(self, node: ast.Call, quantity: ast.expr, time: ast.expr) -> Array:
        times, inside = self._times(time)
        return np.where(inside, self._sample(quantity, times, inside), np.nan)

    def _times(self, node: ast.expr) -> tuple[Array, Mask]:
        """Times of all cases, where they are not inside of the motion its start, which is told."""
        times = np.broadcast_to(self.value(node), self.steps.count)
        starts, ends = self.steps.starts, self.steps.t
        inside = (times >= starts) & (times <= ends)
        out = ~inside & np.isfinite(times)
        if out.any():
            told = zip(times[out].tolist(), starts[out].tolist(), ends[out].tolist(), strict=True)
            why = [f"the time {t:.6g} is outside of the motion, which is from {a:.6g} to {b:.6g}" for t, a, b in told]
            self._tell(out, why)
        return np.where(inside, times, starts), inside

    def _sample(self, node: ast.expr, times: Array, wanted: Mask | None = None) -> Array:
        step, share = self.steps.at(times)
        return self._told(node, self._quantity(node).at(Inside(self.steps, step, share[None]))[0], times, wanted)

    def _told(self, node: ast.expr, values: Array, times: Array, wanted: Mask | None = None) -> Array:
        lost = ~np.isfinite(values) if wanted is None else ~np.isfinite(values) & wanted
        if lost.any():
            shown = self.asked.expression.shown(node)
            self._tell(lost, [f"{shown} has no value at t = {time:.6g}" for time in times[lost].tolist()])
        return np.where(lost, np.nan, values)

    def _digits(self, node: ast.Call, quantity: ast.expr, time: ast.expr, known: ast.expr) -> Array:
        """-log10 of the error over the largest size until then, between 0 and 16, as a Reference has it."""
        times, inside = self._times(time)
        value = np.broadcast_to(self.value(known), self.steps.count)
        found = self._sample(quantity, times, inside)
        size = np.maximum(np.abs(value), self._size(quantity, times))
        with np.errstate(all="ignore"):
            digits = np.clip(-np.log10(np.abs(found - value) / size), 0.0, MOST_DIGITS)
        digits = np.where(found == value, MOST_DIGITS, digits)
        return np.where(inside, digits, np.nan)

    def _size(self, node: ast.expr, times: Array) -> Array:
        """The largest size until a time: of a component of a vector, the length of that."""
        plain = self._quantity(node).plain
        if plain is None:
            pieces = self.pieces(node).until(times)
            known = np.abs(self._sample(node, times))
            return np.maximum(piecewise.largest(pieces, known), piecewise.largest(-pieces, known))
        unknown, labels = plain[0], _components(plain[0].label, self.steps.labels)
        square = parse_expression(" + ".join(f"{label}**2" for label in labels), Mark("", 1, 1))
        length = Quantity(square.tree, {label: Unknown(label, unknown.order) for label in labels})
        step, share = self.steps.at(times)
        here = length.at(Inside(self.steps, step, share[None]))[0]
        return np.sqrt(piecewise.largest(length.pieces(self.steps)[0].until(times), here))


def sound(pieces: Pieces) -> Pieces:
    """The same, also of cases whose pieces are not known."""
    return replace(pieces, noise=np.nan_to_num(pieces.noise))


def _components(label: str, labels: tuple[str, ...]) -> list[str]:
    """The coordinates of the vector that one belongs to."""
    found = re.fullmatch(r"(.*_)[xyz]", label)
    return [each for each in (f"{found[1]}{axis}" for axis in "xyz") if each in labels] if found else [label]
