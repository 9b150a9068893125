"""What happens at one time in a motion and moves apart beside it: another thing comes first on each side, so that
derivatives are those of one side at most. The start and the end of the motion are among it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from mechsim.engine.segments import Side
from mechsim.engine.tangents import BREAK_AT_END, END
from mechsim.measure.bernstein import Array
from mechsim.measure.changes import Changes
from mechsim.measure.stretches import BREAK, SWITCH, Seam, Stretch

APART = 1e-6  # of how times move: what differs by more moves apart,
NOISE = 1e-10  # and by more than this share of the motion's duration, where the whole motion changes by its size
THE_START, THE_END = "the start of the motion", "the end of the motion"


def told_of_coinciding(changes: Changes, names: Sequence[str]) -> list[str]:
    """What a person should know of it, in words; of the same at several times the first."""
    found: dict[str, str] = {}
    for group in _groups(changes):
        own = [name for name, apart in zip(names, _apart(group, changes), strict=True) if apart]
        if own:
            *others, last = dict.fromkeys(seam.name for seam in group)
            what = f"{', '.join(others)} and {last} come together and move apart with {', '.join(own)}"
            side = "derivatives of what depends on their order are those of one side at most"
            found.setdefault(what, f"at t = {group[0].time:.6g} {what}: {side}")
    return list(found.values())


def _groups(changes: Changes) -> Iterator[list[Seam]]:
    """What comes at one time."""
    happening = sorted(_happening(changes), key=lambda seam: seam.time)
    near, group = changes.stretches[0].near, happening[:1]
    for before, seam in pairwise(happening):
        if seam.time - before.time > near:
            yield group
            group = []
        group.append(seam)
    yield group


def _apart(group: Sequence[Seam], changes: Changes) -> Array:
    """With which directions the times of what comes together move apart."""
    moves = np.stack([seam.moved for seam in group])
    spread, size = np.ptp(moves, axis=0), np.abs(moves).max(axis=0)
    return np.asarray(spread > APART * size + NOISE * _sizes(changes))


def _sizes(changes: Changes) -> Array:
    """How much the whole motion changes in each direction, by its size, times its duration."""
    found = np.zeros(changes.count)
    duration = float(changes.steps.t[0] - changes.steps.starts[0])
    for stretch in changes.stretches:
        tangents, system = stretch.solution.tangents, stretch.solution.system
        assert tangents is not None
        scales = system.scales[: system.n, None]
        both = np.abs(tangents.positions), duration * np.abs(tangents.velocities)
        own = np.max([(each / scales).max(axis=(0, 1)) for each in both], axis=0)
        found[stretch.columns] = np.maximum(found[stretch.columns], own)
    return duration * found


def _happening(changes: Changes) -> Iterator[Seam]:
    first, last = changes.stretches[0], changes.stretches[-1]
    start, end = float(first.solution.t[0]), float(last.solution.t[-1])
    yield from (seam for seam in changes.seams if seam.jumps)
    for stretch in changes.stretches:
        within = (seam for seam in stretch.stops if seam.time > stretch.solution.t[0])
        yield from (stretch.spread(seam, changes.count) for seam in within)
    yield Seam(start, np.zeros(changes.count), THE_START)
    yield Seam(end, changes.number(END), THE_END)
    yield from (first.spread(seam, changes.count) for seam in _watched(first, start, "after"))
    yield from (last.spread(seam, changes.count) for seam in (*_watched(last, end, "before"), *_beyond(last, end)))


def _watched(stretch: Stretch, time: float, side: Side) -> Iterator[Seam]:
    """Events of the user and switches that come just at the start or at the end."""
    for event in stretch.solution.system.events:
        if event.constants or event.releases or event.attaches or event.stops:
            late, moved = stretch.crossing(event, time, side)
            if abs(late) <= stretch.near and np.isfinite(moved).all():
                yield Seam(time, moved, SWITCH if event.switch else event.name)


def _beyond(stretch: Stretch, end: float) -> Iterator[Seam]:
    """Gaps that close just at the end, and a break there, which the march does not come to."""
    for name, late, moved in stretch.closing(end):
        if abs(late) <= stretch.near:
            yield Seam(end, moved, name)
    last = stretch.solution.system.mechanism.break_at_end
    if last is not None and abs(last - end) <= stretch.near:
        yield Seam(end, stretch.directions.change_of(BREAK_AT_END), BREAK)
