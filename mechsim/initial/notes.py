"""What may surprise about a start, in a line each: one function per note, each silent unless it applies."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import pi
from typing import TYPE_CHECKING

import numpy as np

from mechsim.errors import Note
from mechsim.initial.closure import Closure
from mechsim.initial.freedom import NULL_SPACE_LIMIT, drive_rows, drives_in_words, joined, motions
from mechsim.initial.levenberg import approach_all
from mechsim.initial.poses import angles_followed, images, place
from mechsim.initial.start import Array, Wishes
from mechsim.lagrangian.vector import cross, dot
from mechsim.model.geometry import swung
from mechsim.model.mechanism import Mechanism
from mechsim.structure import Redundancy, names_of, near_singular

if TYPE_CHECKING:
    from mechsim.kernel.system import System

MOVED = 0.01  # of a scale: another place
FAR = 0.25  # of a coordinate's scale (of the largest speed for velocities): worth a note
SHOWN = 4


def chosen_without_guess(mechanism: Mechanism, closure: Closure, q: Array, chosen: Sequence[str]) -> Iterator[Note]:
    """Points with two places where their parts meet, and nothing in the file that tells which."""
    looked_at = chosen if len(q) <= NULL_SPACE_LIMIT else ()
    points = [name for name in looked_at if _could_be_elsewhere(mechanism, closure, q, name)]
    if points:
        names = joined([*points[:SHOWN], *([f"{len(points) - SHOWN} more"] if len(points) > SHOWN else [])])
        places = "has two places" if len(points) == 1 else "have two places each"
        yield Note(f"{names} {places} and no guess: the lower was taken; a guess under positions chooses")


def _could_be_elsewhere(mechanism: Mechanism, closure: Closure, q: Array, point: str) -> bool:
    """Whether the mechanism closes with the point on another side of its neighbours."""
    starts = [angles_followed(mechanism, closure, image) for image in images(mechanism, closure, q, point)]
    slots = mechanism.points[point]
    moved = [np.abs(end - q)[list(slots)] / closure.scales[list(slots)] for end in approach_all(closure, starts, 50)]
    return any(float(np.max(apart)) > MOVED for apart in moved)


def equally_near(several: bool) -> Iterator[Note]:
    """Guesses on a line, or none that matters: mirror images are as near as each other."""
    if several:
        yield Note("several ways to close are as near to the guesses: the lowest was taken; better guesses choose")


def far_positions(mechanism: Mechanism, level: Wishes, obtained: Array, scales: Array) -> Iterator[Note]:
    if names := _far_from_guess(mechanism, level, obtained, scales):
        others = "`mechsim assemble --all` lists other ways to close"
        yield Note(f"the consistent position is far from its guess: {joined(names)}; {others}")


def far_velocities(mechanism: Mechanism, level: Wishes, closure: Closure, obtained: Array) -> Iterator[Note]:
    """A guess that the fixed velocities overrule is what they are for."""
    overruled: set[int] = set()
    if level.fixed and len(closure.free) <= NULL_SPACE_LIMIT:
        overruled = _free(closure, obtained) - _free(closure.holding(level.fixed), obtained)
    speed = float(np.max(np.abs(obtained / closure.scales), initial=0.0)) or 1.0
    if names := _far_from_guess(mechanism, level, obtained, closure.scales * speed, overruled):
        yield Note(f"the consistent velocity is far from its guess: {joined(names)}")


def _free(closure: Closure, x: Array) -> set[int]:
    """Coordinates that some possible motion moves."""
    moved = np.max(np.abs(motions(closure, x)), axis=1, initial=0.0) > 1e-7  # a basis is orthonormal
    return set(closure.free[moved].tolist())


def _far_from_guess(
    mechanism: Mechanism, level: Wishes, obtained: Array, scales: Array, overruled: Collection[int] = ()
) -> list[str]:
    names = []
    for index in (each for each in level.guessed if each not in overruled):
        value = level.values[index]
        assert value is not None
        difference = obtained[index] - value.number.value
        if mechanism.variables[index].kind == "angle" and level.quantity == "position":
            difference -= 2 * pi * round(difference / (2 * pi))
        if abs(difference) > FAR * scales[index]:
            names.append(f"{level.labels[index]} (guess {value.number.value:.6g}, obtained {obtained[index]:.6g})")
    return names[:SHOWN] + ([f"{len(names) - SHOWN} more"] if len(names) > SHOWN else [])


def turned_about(mechanism: Mechanism, q: Array) -> Iterator[Note]:
    """A slider's angle holds up to half a turn; its part may stand the other way round on the line."""
    parts = {part.name: part for part in mechanism.parts}
    for guide in mechanism.guides:
        if guide.part:
            ends = [mechanism.points[name] for name in (*guide.line, *parts[guide.part].points[:2])]
            a, b, c, d = (place(mechanism, q, slots) for slots in ends)
            if dot(d - c, swung(b - a, guide.angle)) < 0:
                name = f"Sliders.{guide.part}-{''.join(guide.line)}"
                message = f"{name}: {guide.part} stands the other way round, at {guide.angle:.6g} + pi"
                yield Note(f"{message}: a slider keeps its angle up to half a turn, and guesses choose", guide.mark)


def on_the_other_side(mechanism: Mechanism, level: Wishes, q: Array) -> Iterator[Note]:
    """Wheels that were guessed on the side of their line that they cannot be on."""
    guess = level.written_into(q)
    for element in mechanism.elements:
        if element.origin.sort == "wheel":
            where = element.grips[0].place
            assert where.line is not None
            slots = [mechanism.points[name] for name in (*where.line, where.point)]
            (a, b, guessed), centre = (place(mechanism, guess, each) for each in slots), place(mechanism, q, slots[-1])
            heights = [cross(b - a, each - a) for each in (guessed, centre)]
            if heights[0] * heights[1] < 0 and abs(heights[0]) > FAR * abs(heights[1]):
                name, line = where.point, "".join(where.line)
                message = (
                    f"{name} was guessed on the other side of the line {line}, where wheels of negative radius roll"
                )
                yield Note(message, element.mark)


def cannot_move(mechanism: Mechanism, closure: Closure, velocities: Array) -> Iterator[Note]:
    """No degree of freedom, and nothing that depends on time: the motion is rest."""
    if mechanism.prescribed or mechanism.switches or not 0 < len(closure.free) <= NULL_SPACE_LIMIT:
        return
    if not motions(closure, velocities).shape[1]:
        yield Note("nothing can move: there is no degree of freedom and no drive")


def passing(system: System, redundant: Redundancy) -> Iterator[Note]:
    """Started on a change point: several motions pass there."""
    if redundant.singular:
        names = names_of(system, redundant.singular)
        yield Note(
            f"the start is a change point, where the constraints of {names} follow from the others and several motions "
            "pass: the one nearest to the velocities asked for is taken"
        )


def at_rest_near_a_singular_pose(system: System, t: float, q: Array, v: Array) -> Iterator[Note]:
    """Where forces decide alone, tiny differences of lengths matter; a motion passes in the way that it goes."""
    if not np.any(v) and (near := near_singular(system, t, q)):
        yield Note(near)


def repeated_drives(mechanism: Mechanism, redundant: Sequence[int], closure: Closure, v: Array) -> Iterator[Note]:
    """Drives that prescribe one freedom twice and agree."""
    if set(redundant) & drive_rows(mechanism).keys():
        words, mark = drives_in_words(mechanism, closure, v)
        if words:
            yield Note(f"{words} agree at the start", mark)
