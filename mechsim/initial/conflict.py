"""Why a mechanism does not close: an irreducible set of parts, joints and fixed values that contradict each other.

Small sets are tried first, then a deletion filter: leave one member out; if the rest closes, the member is needed for
the conflict, else it goes.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from time import perf_counter

import numpy as np

from mechsim.errors import AssemblyError, Fault, Mark
from mechsim.frozen import frozen
from mechsim.initial.closure import Closure
from mechsim.initial.freedom import joined
from mechsim.initial.levenberg import approach, approach_all, ends_of
from mechsim.initial.poses import joined_points, place
from mechsim.initial.start import Array, Indices, Wishes
from mechsim.model.geometry import norm
from mechsim.model.mechanism import Element, Mechanism

FEASIBLE = 1e-7  # relative to size; a real conflict leaves far more, a converged approach far less
SECONDS = 1.0  # a person waits for this message
ITERATIONS = 150
FEW = 12  # up to this many suspects, all pairs are worth trying
MANY = 60  # coordinates; beyond, the filter is too slow and one start must do
SHOWN = 6  # names in a message; a chain that is too short has hundreds to blame


@frozen
class Member:
    """One thing the user could change: an element's constraints, or a value marked `fixed`."""

    name: str
    mark: Mark | None
    rows: tuple[int, ...] = ()
    coordinate: int | None = None
    element: Element | None = None


@frozen
class Conflict:
    """The search for the irreducible set. `closure` has all coordinates but the fixed ones free."""

    mechanism: Mechanism
    closure: Closure
    wishes: Wishes
    guess: Array

    def explain(self) -> AssemblyError:
        members = self._suspects()
        members, complete = self._filtered(members)
        point = self._best(members)
        return AssemblyError(self._fault(members, point, complete))

    def _members(self) -> list[Member]:
        members, row = [], 0
        for element in self.mechanism.elements:
            count = len(element.multipliers)
            suspects = {element.title: tuple(range(row, row + count))} if count else {}
            if not self.mechanism.parts:  # a user's Lagrangian has all its constraints in one element
                suspects = {label: (row + number,) for number, label in enumerate(element.multipliers)}
            members += [Member(name, element.mark, rows, element=element) for name, rows in suspects.items()]
            row += count
        for index in self.wishes.fixed:
            value = self.wishes.values[index]
            assert value is not None
            members.append(Member(self.wishes.labels[index], value.number.mark, coordinate=index))
        return members

    def _part_of(self, members: Iterable[Member]) -> Closure:
        """The equations of these members only; a fixed value outside them may move."""
        chosen = list(members)
        held = {member.coordinate for member in chosen}
        freed = [index for index in self.wishes.fixed if index not in held]
        free: Indices = np.union1d(self.closure.free, np.array(freed, dtype=np.intp)).astype(np.intp)
        rows = np.array(sorted(row for member in chosen for row in member.rows), dtype=np.intp)
        return self.closure.restricted(free, rows)

    def _suspects(self) -> list[Member]:
        """At the point of least squares conflicting equations pull against each other; the rest are satisfied."""
        members = self._members()
        if len(self.guess) > MANY:
            return members
        point = self._best(members)
        full = self._part_of(member for member in members if member.rows)
        residual = full.residual(point)
        pull = np.abs(full.dense_jacobian(point).T @ residual)
        strong_row = dict(zip(full.rows.tolist(), np.abs(residual) > 1e-5 * np.max(np.abs(residual)), strict=True))
        strong_pull = dict(zip(full.free.tolist(), pull > 1e-5 * np.max(pull, initial=0.0), strict=True))
        suspects = [
            member
            for member in members
            if any(strong_row[row] for row in member.rows)
            or (member.coordinate is not None and strong_pull.get(member.coordinate, False))
        ]
        return members if self._closes(suspects) else suspects

    def _filtered(self, members: list[Member]) -> tuple[list[Member], bool]:
        """An irreducible conflict among the members, and whether there was time enough to make sure of that."""
        if len(self.guess) > MANY:
            return members, False
        deadline, kept = perf_counter() + SECONDS, list(members)
        # Of several explanations the shortest reads best; sets that close are dismissed quickly.
        for count in (1, 2):
            for few in combinations(members, count) if len(members) <= FEW else ():
                if perf_counter() < deadline - SECONDS / 2 and not self._closes(list(few)):
                    return list(few), True
        for member in members:
            if perf_counter() > deadline:
                return kept, False
            rest = [other for other in kept if other is not member]
            if not self._closes(rest):
                kept = rest
        return kept, True

    def _starts(self) -> Iterable[Array]:
        yield self.guess
        generator = np.random.default_rng(5)
        linear = self.closure.hessian_of is None
        for spread in (0.05, 0.3, 0.8) if len(self.guess) <= MANY and not linear else ():
            yield self.guess + spread * self._reach() * generator.standard_normal(len(self.guess))

    def _reach(self) -> Array:
        """How far coordinates may have to go: a fixed point in the wrong place may lie far beyond the parts' size."""
        result = self.closure.scales.copy()
        for points in joined_points(self.mechanism):
            places = [place(self.mechanism, self.guess, self.mechanism.points[name]) for name in points]
            slots = [slot for name in points for slot in self.mechanism.points[name] if slot >= 0]
            result[slots] = np.maximum(result[slots], max(norm(here - places[0]) for here in places))
        return result

    def _closes(self, members: list[Member]) -> bool:
        closure = self._part_of(members)
        if not len(closure.rows):
            return True
        starts = [self._held(start, members) for start in self._starts()]
        if len(starts) > 1:
            return bool(approach_all(closure, starts, ITERATIONS, one_is_enough=True))
        return _gap(closure, approach(closure, starts[0])) < FEASIBLE

    def _best(self, members: list[Member]) -> Array:
        closure = self._part_of(members)
        starts = [self._held(start, members) for start in self._starts()]
        if len(starts) == 1:
            return approach(closure, starts[0])
        return min(ends_of(closure, starts, ITERATIONS), key=lambda end: end[1])[0]

    def _held(self, start: Array, members: list[Member]) -> Array:
        """Fixed values keep their exact value in every start."""
        result = start.copy()
        for member in members:
            if member.coordinate is not None:
                result[member.coordinate] = self.guess[member.coordinate]
        return result

    def _fault(self, members: list[Member], point: Array, complete: bool) -> Fault:
        values = [member for member in members if member.coordinate is not None]
        parts = list(dict.fromkeys(member.name for member in members if member.element))
        fixed = [self.wishes.named(member.coordinate) for member in values if member.coordinate is not None]
        names = _listed([*parts, *(f"fixed {name}" for name in fixed)])
        together = " together" if len(parts) + len(fixed) > 1 else ""
        verb = f"cannot be closed{together}" if self.wishes.quantity == "position" else "contradict each other"
        message = f"{names} {verb}{self._gap_words(members, point)}"
        if not complete:
            message += " (not all of them may be to blame)"
        marked = [*values, *members]
        return Fault(message, next((m.mark for m in marked if m.mark), None), self._hint(members, values, point))

    def _gap_words(self, members: list[Member], point: Array) -> str:
        if self.wishes.quantity != "position" or len(self.guess) > MANY:
            return ""
        gap = self.distance_left(members, point)
        return f": a gap of about {gap:.3g} remains ({_percent(gap / self.mechanism.size)} of the mechanism's size)"

    def distance_left(self, members: list[Member], point: Array) -> float:
        """How far a fixed value is from what can be reached; without one, by how much one part alone must give way.

        At the point of least squares the residuals are the direction w of the conflict, so that what all members miss
        together, w.e with their errors e as lengths, falls to member k alone when it gives way by w.e / w_k.
        """
        value = next((member for member in members if member.coordinate is not None), None)
        if value is not None and value.coordinate is not None:
            return float(abs(self._nearest_value(members, value) - self.guess[value.coordinate]))
        closure = self._part_of(members)
        errors, slopes = self._errors_as_lengths(members, closure.rows, point)
        direction = closure.residual(point) * slopes / closure.row_scales[closure.rows]
        return float(abs(direction @ errors) / np.max(np.abs(direction)))

    def _errors_as_lengths(self, members: list[Member], rows: Indices, point: Array) -> tuple[Array, Array]:
        """For each row its error as a length, exact for length constraints, and its slope by that length."""
        numbers, _, values = self.closure.jacobian_of(point)
        slopes = np.array([np.max(np.abs(values[numbers == row]), initial=0.0) or 1.0 for row in rows])
        residuals = self.closure.residual_of(point)[rows]
        errors = residuals / slopes
        lengths = {
            m.rows[0]: m.element.parameters["length"] for m in members if m.element and m.element.kind == "length"
        }
        for number, row in enumerate(rows.tolist()):
            if row in lengths:
                distance = float(np.sqrt(residuals[number] + lengths[row] ** 2))
                errors[number], slopes[number] = distance - lengths[row], 2 * distance
        return errors, slopes

    def _nearest_value(self, members: list[Member], soft: Member) -> float:
        """The value nearest to a fixed one with which the rest closes: IPOPT's own question, for one coordinate."""
        from mechsim.initial.nearest import nearest

        assert soft.coordinate is not None
        closure = self._part_of(member for member in members if member is not soft)
        near = approach(closure, self.guess)
        end = approach(closure, nearest(closure, self.guess, (soft.coordinate,), near))
        return float(end[soft.coordinate])

    def _hint(self, members: list[Member], values: list[Member], point: Array) -> str:
        advice = [self._value_advice(members, value) for value in values]
        if self.wishes.quantity == "position":
            short, long = self._too_short_or_long(members, point)
            anchors = self._anchors(members)
            advice += [f"make {_listed(short, 'or')} longer"] if short else []
            advice += [f"make {_listed(long, 'or')} shorter"] if long else []
            advice += [f"move the fixed points {joined(anchors)}"] if len(anchors) > 1 else []
        return ", or ".join(advice) or "change the geometry of one of them"

    def _value_advice(self, members: list[Member], value: Member) -> str:
        reached = self._nearest_value(members, value)
        return f"remove `fixed` from {value.name} (the nearest possible value is {reached:.6g})"

    def _too_short_or_long(self, members: list[Member], point: Array) -> tuple[list[str], list[str]]:
        short: list[str] = []
        long: list[str] = []
        for member in members if len(self.guess) <= MANY else ():
            if member.element and member.element.kind == "length":
                residual = float(self.closure.residual_of(point)[member.rows[0]])
                (short if residual > 0 else long).append(member.name)
        return short, long

    def _anchors(self, members: list[Member]) -> list[str]:
        """Points fixed in the world that the members hold on to."""
        used = {slot for member in members if member.element for slot in member.element.slots}
        return [name for name, slots in self.mechanism.points.items() if slots[0] < 0 and used & set(slots)]


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%" if share >= 0.1 else f"{100 * share:.2g}%"


def _gap(closure: Closure, point: Array) -> float:
    return float(np.max(np.abs(closure.residual(point)), initial=0.0))


def _listed(names: list[str], word: str = "and") -> str:
    if len(names) <= SHOWN:
        return joined(names, word)
    return joined([*names[: SHOWN - 2], f"{len(names) - SHOWN + 1} more", names[-1]], word)
