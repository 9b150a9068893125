"""Pairs of outlines as gaps. Few of the ways in which two may touch do so at one time, so they share some rows, whose
constants say which way each is lent to (kernel/src/pairs.hpp)."""

from __future__ import annotations

import numpy as np

from mechsim.errors import Fault, SpecError
from mechsim.lagrangian.formula import Formula, coordinate, sqrt
from mechsim.lagrangian.vector import Vector, cross, left, square, turned
from mechsim.model.book import Book, Draft, moves
from mechsim.model.contacts import gap_of
from mechsim.model.friction import Rubbing, slide, spin_of
from mechsim.model.mechanism import Gap, Lent, Pair
from mechsim.model.origin import Origin
from mechsim.model.outlines import (
    APART,
    CORNER_OF_SECOND,
    CORNERS,
    MOST_WAYS,
    ROUNDED,
    Outline,
    outline_of,
    two_sided,
    ways,
)
from mechsim.model.quantities import Arrow, Quantities
from mechsim.spec.actions import Meeting
from mechsim.spec.motion import plain_name

MOST_TOGETHER = 6  # ways of one sort that touch at one time; more stop the motion with a message
MOST_OF_CORNER = 3  # ... of one corner


def add_pairs(
    quantities: Quantities, book: Book, first_gap: int, rubbings: list[Rubbing]
) -> tuple[tuple[Gap, ...], tuple[Pair, ...]]:
    """Each row of a pair becomes an element; one has the account of them all."""
    gaps: list[Gap] = []
    pairs: list[Pair] = []
    for meeting in quantities.spec.actions.meetings:
        try:
            first, second = _outlines(meeting, quantities)
            _refuse_one_part(meeting, first, second, quantities)
        except SpecError as error:
            book.faults += error.faults
            continue
        found = _Rows(meeting, first, second, quantities, book)
        if not all(moves(row) for _, row in found.rows):
            message = f"contact {meeting.name}: nothing in it can move"
            book.faults.append(Fault(message, meeting.mark, "both stand in the world: remove it"))
            continue
        own, pair = found.add(first_gap + len(gaps))
        rubbings += found.rubbings(first_gap + len(gaps))
        gaps += own
        pairs.append(pair)
    return tuple(gaps), tuple(pairs)


def _outlines(meeting: Meeting, quantities: Quantities) -> tuple[Outline, Outline]:
    user = f"Contacts.{meeting.name}"
    offset = float(meeting.offset.value) if meeting.offset is not None else 0.0
    first = outline_of(meeting.first, offset, quantities.spec, quantities.layout, user, meeting.mark)
    second = outline_of(meeting.second, 0.0, quantities.spec, quantities.layout, user, meeting.mark)
    if meeting.second.sort == "segment":
        if (first.corners[:, 2] > 0).all():
            return first, two_sided(second)
        if meeting.first.sort != "point":
            hint = "give it an offset: half of its thickness"
            raise SpecError(Fault(f"{user}: the line has no thickness that a polygon could meet", meeting.mark, hint))
    return first, second


def _refuse_one_part(meeting: Meeting, first: Outline, second: Outline, quantities: Quantities) -> None:
    def carriers(outline: Outline) -> set[str]:
        on = {part.name for part in quantities.holders.get(outline.point, ())} if outline.point else set()
        return on | ({outline.part} if outline.part else set())

    both = carriers(first) & carriers(second)
    if both:
        message = f"contact {meeting.name}: both are on the rigid part {both.pop()}, so nothing in it can move"
        raise SpecError(Fault(message, meeting.mark, "remove it"))


class _Rows:
    """The rows of one pair, as many as ways of each sort may touch at one time."""

    def __init__(self, meeting: Meeting, first: Outline, second: Outline, quantities: Quantities, book: Book):
        self.meeting, self.outlines, self.quantities, self.book = meeting, (first, second), quantities, book
        self.ways, self.values = ways(first, second)
        if len(self.ways) > MOST_WAYS:
            message = f"contact {meeting.name}: there are {len(self.ways)} ways to touch, {MOST_WAYS} are allowed"
            book.faults.append(Fault(message, meeting.mark, "give the outlines fewer corners"))
        self.rows: list[tuple[str, Formula]] = []
        self.speeds: list[Formula] = []
        self.lent: list[tuple[int, tuple[int, ...]]] = []
        label = plain_name(meeting.name)
        for sort in range(3):
            known = np.flatnonzero(self.ways[:, 0] == sort)
            of_corners = MOST_OF_CORNER * len(np.unique(self.ways[known, 1]))
            for _ in range(min(len(known), MOST_TOGETHER, of_corners)):
                slots = [book.constant(float(value)) for value in self.values[known[0]]]
                if not meeting.rubs:
                    slots = slots[: 5 if sort == CORNERS else ROUNDED]
                self.lent.append((sort, tuple(-1 - slot for slot in slots)))
                name = f"contact_{label}" + (f"_{len(self.rows) + 1}" if self.rows else "")
                values = [coordinate(slot) for slot in slots]
                self.rows.append((name, self._row(sort, values)))
                if meeting.rubs:
                    self.speeds.append(self._slide(sort, values))

    def _row(self, sort: int, values: list[Formula]) -> Formula:
        own, other = self.outlines[::-1] if sort == CORNER_OF_SECOND else self.outlines
        corner = self._place(own, Vector((values[0], values[1])))
        at = self._place(other, Vector((values[2], values[3])))
        if sort == CORNERS:
            return sqrt(square(corner - at)) - values[4]
        along = Vector((values[4], values[5]))
        if other.part:
            along = turned(self.quantities.frame(other.part), along)
        return cross(along, corner - at) - values[APART]

    def _slide(self, sort: int, values: list[Formula]) -> Formula:
        """How fast the one slides along the other, where they touch."""
        own, other = self.outlines[::-1] if sort == CORNER_OF_SECOND else self.outlines
        corner = self._place(own, Vector((values[0], values[1])))
        at = self._place(other, Vector((values[2], values[3])))
        if sort == CORNERS:
            along = -left((corner - at) / sqrt(square(corner - at)))
        else:
            along = Vector((values[4], values[5]))
            if other.part:
                along = turned(self.quantities.frame(other.part), along)
        spins = [spin_of(each.part, self.quantities) for each in (own, other)]
        return slide(corner, spins[0], at, spins[1], corner - values[ROUNDED] * left(along), along)

    def rubbings(self, first_gap: int) -> list[Rubbing]:
        """What rubs, for each row."""
        meeting, rubs = self.meeting, self.meeting.rubs
        if rubs is None:
            return []
        numbers = rubs.mu.value, rubs.static.value / rubs.mu.value
        return [
            Rubbing(meeting.name, speed, meeting.mark, first_gap + k, *numbers) for k, speed in enumerate(self.speeds)
        ]

    def _place(self, outline: Outline, local: Arrow) -> Arrow:
        """A place in the frame of an outline, in the world."""
        if outline.part:
            origin = self.quantities.rigids[outline.part].points[0]
            return self.quantities.point(origin) + turned(self.quantities.frame(outline.part), local)
        return self.quantities.point(outline.point) + local if outline.point else local

    def add(self, first_gap: int) -> tuple[list[Gap], Pair]:
        meeting, label = self.meeting, plain_name(self.meeting.name)
        gaps: list[Gap] = []
        for row in self.rows:
            draft = Draft(f"contact {meeting.name}", meeting.mark, constraints=[row])
            draft.origin = Origin("contact", meeting.name)
            if not gaps:
                draft.account = f"work_contact_{label}"
            number = self.book.add(draft)
            assert number is not None  # something in it moves
            # Nothing in these rows moves by itself, so one account serves them all.
            account = gaps[0].account if gaps else self.book.elements[number].slots[-1]
            mode = -1 - self.book.constant(0.0)
            gaps.append(gap_of(meeting.name, number, mode, account, meeting))
        lent = tuple(Lent(first_gap + place, *each) for place, each in enumerate(self.lent))
        return gaps, Pair(meeting.name, *self.outlines, self.ways, self.values, lent, meeting.mark)
