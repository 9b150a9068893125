"""What two quantities of a pose reach together: a region of the plane, by the curves that may bound it (see reach.py).

Curves are found from poses that are scattered over all that can be gone to, and followed. Where they meet they are cut;
of each piece both sides are asked for, by Newton's method from many poses: what is reached on one side only is
boundary. The area is that of the boundary by Green's theorem, on cubics through the curves' points and directions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mechsim.analysis.curves_of_reach import Search
from mechsim.analysis.pieces_of_arcs import DRAWN, Piece
from mechsim.analysis.reach import Reach
from mechsim.analysis.written import csv_of, written
from mechsim.errors import Fault, SpecError
from mechsim.frozen import frozen
from mechsim.kernel.linear import generic
from mechsim.result.layout import Array

Marks = NDArray[np.bool_]

POSES = 2000  # that are walked to
TRIED, MOST_TRIED = 40, 200  # from which curves are looked for, for each set of limits that are met, or for all
ABOUT, ABOUT_SIZE = 6, 0.02  # points about an end of the boundary, in whose poses more are looked for; of the size
MOST_SETS = 200
ASIDE = 2e-4  # of the size: how far beside a curve it is asked whether it is reached
SHARE = 5e-3  # or of the length of a piece
NEAR, WIDE, WIDEST = 24, 24, 400  # poses from which that is tried: those nearest, and others, more where it is in doubt
FINE = 64  # points of each cubic, where extents are looked for
CLOSED = 1e-3  # of the size: by which a boundary may miss its own beginning
CLEAR = 0.02  # of the size: so far from a boundary it is clear whether a point is within
PLACES = 24  # that are asked whether they are reached, if they are within
STANDS = 1e-9  # in units: what moves by less, while the pose moves by its scales, stands
SIDES = (0, -1.0), (1, -1.0), (0, 1.0), (1, 1.0)  # of each axis
LAST = 1e-11  # in units: how well ends are found where no boundary tells them
AGAIN = 7  # how often more curves are looked for where it does not


@frozen(eq=False)
class Workspace:
    """A region: `boundary` are its edges, with the region at their left, `inner` other curves on which the mechanism is
    singular or at a limit; `cloud` are values that poses have. The area is NaN where the boundary does not close, and
    zero where these change together, on a curve. `low` and `high` are infinite where something has no end."""

    names: tuple[str, str]
    units: tuple[str, str]
    boundary: tuple[Piece, ...]
    inner: tuple[Piece, ...]
    cloud: Array
    area: float
    low: tuple[float, float]
    high: tuple[float, float]
    limits: tuple[str, ...]  # what limits are called, by their numbers in pieces
    notes: tuple[str, ...]

    def contains(self, x: float, y: float) -> bool:
        """Whether a point is inside the boundary."""
        return bool(_contained(self.boundary, np.array([[x, y]]), DRAWN)[0])

    def save(self, path: str | Path) -> Path:
        """Write the curves, point by point (.csv, .npz), or what was found (.json); raises OutputError."""
        rows = [
            (number, sort, *point)
            for sort, pieces in (("boundary", self.boundary), ("inner", self.inner))
            for number, piece in enumerate(pieces, 1)
            for point in piece.points().tolist()
        ]
        arrays = {f"boundary_{number}": piece.points() for number, piece in enumerate(self.boundary, 1)}
        arrays |= {f"inner_{number}": piece.points() for number, piece in enumerate(self.inner, 1)}
        return written(
            path,
            csv=lambda: csv_of(["curve", "sort", *self.names], rows, f"area: {self.area!r}"),
            npz=lambda: {**arrays, "cloud": self.cloud, "area": np.array(self.area)},
            as_json=self.as_dict,
        )

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "of": list(self.names),
            "area": None if np.isnan(self.area) else self.area,
            "low": _finite(self.low),
            "high": _finite(self.high),
            "boundary": [{"limits": self.met(piece), "points": piece.points().tolist()} for piece in self.boundary],
            "inner": len(self.inner),
            "notes": list(self.notes),
        }

    def met(self, piece: Piece) -> list[str]:
        """Which limits hold the mechanism on a curve; none where it is stretched or folded."""
        return [self.limits[each] for each in piece.arc.met]


def _finite(values: Sequence[float]) -> list[float | None]:
    """For JSON, which knows no infinity."""
    return [each if np.isfinite(each) else None for each in values]


def workspace_of(
    reach: Reach, names: tuple[str, str], units: tuple[str, str], limits: Sequence[str], notes: Sequence[str] = ()
) -> Workspace:
    """Raises SpecError where nothing moves these, or there are no two of them."""
    _check(reach, names)
    poses = reach.walked(POSES)
    told = list(notes)
    boundary, inner, area = _region(reach, names, poses, told)
    low, high = _ends(reach, boundary, poses, area)
    told += [_endless(*each) for each in zip(names, low, high, strict=True) if not np.isfinite(each[1:]).all()]
    pieces = [[_in_units(piece, reach.axes) for piece in each] for each in (boundary, inner)]
    area *= float(reach.axes.prod())
    cloud = reach.of(poses) * reach.axes
    return Workspace(
        names, units, tuple(pieces[0]), tuple(pieces[1]), cloud, area, low, high, tuple(limits), tuple(told)
    )


def _check(reach: Reach, names: tuple[str, str]) -> None:
    """Raises SpecError."""
    both, freedoms = " and ".join(names), reach.freedoms
    if names[0] == names[1]:
        raise SpecError(Fault(f"{names[0]} is asked for twice", hint="a workspace is of two different quantities"))
    if freedoms < 2:
        message = f"with {freedoms} freedom{'s' * (freedoms != 1)} {both} reach no area"
        raise SpecError(Fault(message, hint="free another drive, or ask for the path of the point: mechsim cycle"))
    if not reach.within(reach.start[None])[0]:
        raise SpecError(Fault("the start is beyond a limit", hint="start within all limits and Stops"))


def _region(
    reach: Reach, names: tuple[str, str], poses: Array, told: list[str]
) -> tuple[list[Piece], list[Piece], float]:
    """The boundary, curves inside, and the area, all in units of what is wanted."""
    most, least = reach.ways(poses).max(axis=0).tolist()
    cloud = reach.of(poses)
    size = float(np.ptp(cloud, axis=0).max())
    if most < STANDS or size < STANDS:
        raise SpecError(Fault(f"{names[0]} and {names[1]} stand still whatever moves"))
    if least < STANDS * most:
        told.append(f"{names[0]} and {names[1]} always change together: they reach a curve, which has no area")
        return [], [], 0.0
    if np.isinf([reach.farthest(*side, poses) for side in SIDES]).any():
        return [], [], float("nan")
    search = Search(reach, _sets(reach, reach.freedoms, told), size)
    tried = max(TRIED, MOST_TRIED // len(search.edges))
    search.look_from(poses[np.linspace(0, len(poses) - 1, tried).astype(int)])
    wide = WIDE
    for _ in range(AGAIN):
        boundary, inner = _sorted(search.pieces(), reach, poses, cloud, size, wide)
        doubtful = _doubtful(boundary, reach, poses, cloud, size)
        if not len(doubtful) or (not search.look_from(doubtful) and wide == WIDEST):
            break
        wide = WIDEST  # a side of which no pose was found may have some
    if not _closes(boundary, size):
        told.append("the boundary that was found does not close: its area is not known")
    elif len(doubtful):
        told.append("the boundary that was found is not all: poses reach beyond it, or none reaches places within")
    else:
        return boundary, inner, sum(piece.area for piece in boundary)
    return boundary, inner, float("nan")


def _ends(
    reach: Reach, boundary: Sequence[Piece], poses: Array, area: float
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Between which values each goes: those of the boundary, or where there is none that holds, as far as it goes."""
    if area > 0:
        points = np.concatenate([piece.points(FINE) for piece in boundary])
        found = np.stack([points.min(axis=0), points.max(axis=0)])
    else:
        found = np.array([reach.farthest(*side, poses, LAST) for side in SIDES]).reshape(2, 2)
    low, high = (found * reach.axes).tolist()
    return (low[0], low[1]), (high[0], high[1])


def _endless(name: str, low: float, high: float) -> str:
    sides = "up and down" if np.isinf([low, high]).all() else "up" if np.isinf(high) else "down"
    return f"{name} goes on and on {sides}, no end of it was found: a limit would bound it"


def _in_units(piece: Piece, axes: Array) -> Piece:
    return replace(piece, arc=replace(piece.arc, u=piece.arc.u * axes, du=piece.arc.du * axes))


def _sets(reach: Reach, freedoms: int, told: list[str]) -> list[tuple[int, ...]]:
    """All sets of limits that may be met together: up to one fewer than there are freedoms."""
    count = len(reach.limits)
    sets = [each for number in range(min(freedoms, count + 1)) for each in combinations(range(count), number)]
    if len(sets) > MOST_SETS:
        told.append(f"limits may be met in {len(sets)} ways together, of which {MOST_SETS} were looked at")
    return sets[:MOST_SETS]


def _sorted(
    pieces: Sequence[Piece], reach: Reach, poses: Array, cloud: Array, size: float, wide: int
) -> tuple[list[Piece], list[Piece]]:
    """Those with what is reached on one side, which is then their left, and those inside."""
    boundary, inner = [], []
    for piece in pieces:
        aside = min(ASIDE * size, SHARE * piece.length)
        near = reach.beside(piece.pose(0.5)[None])
        left, right = (_is_reached(reach, piece.beside(sign * aside), poses, cloud, near, wide) for sign in (1.0, -1.0))
        if left != right:
            boundary.append(piece if left else piece.turned())
        elif left:
            inner.append(piece)
    return boundary, inner


def _is_reached(
    reach: Reach, target: Array, poses: Array, cloud: Array, near: Array | None = None, wide: int = WIDE
) -> bool:
    """From poses that are near, if there are such, or from others."""
    if near is not None and len(reach.reached(target, near)):
        return True
    return len(reach.reached(target, _chosen(target, poses, cloud, wide))) > 0


def _chosen(target: Array, poses: Array, cloud: Array, wide: int = WIDE) -> Array:
    """Poses nearest to a target, and so many others."""
    order = np.argsort(np.linalg.norm(cloud - target, axis=1))
    return poses[np.concatenate([order[:NEAR], order[NEAR :: max(1, (len(order) - NEAR) // wide)]])]


def _open(boundary: Sequence[Piece], size: float) -> list[tuple[Piece, bool]]:
    """Where pieces begin or end (True) and no other goes on."""
    begins = np.array([piece.points()[0] for piece in boundary]).reshape(-1, 2)
    ends = np.array([piece.points()[-1] for piece in boundary]).reshape(-1, 2)
    apart = np.linalg.norm(ends[:, None] - begins[None], axis=2) > CLOSED * size
    last, first = np.flatnonzero(apart.all(axis=1)).tolist(), np.flatnonzero(apart.all(axis=0)).tolist()
    return [*((boundary[k], True) for k in last), *((boundary[k], False) for k in first)]


def _closes(boundary: Sequence[Piece], size: float) -> bool:
    """Whether there is one, and pieces end where others begin."""
    gone = sum((piece.points()[-1] - piece.points()[0] for piece in boundary), np.zeros(2))
    return bool(boundary and not _open(boundary, size) and np.abs(gone).max() <= CLOSED * size)


def _doubtful(boundary: Sequence[Piece], reach: Reach, poses: Array, cloud: Array, size: float) -> Array:
    """Poses from which curves that are missed may be found: where the boundary does not go on, poses beyond it, and
    those nearest to places within it that none reaches."""
    if not _closes(boundary, size):
        return _poses_about(boundary, reach, poses, cloud)
    clear = _is_clear(boundary, cloud, CLEAR * size)
    beyond = np.flatnonzero(clear & ~_contained(boundary, cloud))
    found = [poses[beyond[:: 1 + len(beyond) // TRIED]]]
    places = cloud.min(axis=0) + 0.5 * (1 + generic(2 * PLACES).reshape(-1, 2)) * np.ptp(cloud, axis=0)
    for place in places[_is_clear(boundary, places, CLEAR * size) & _contained(boundary, places)]:
        if not _is_reached(reach, place, poses, cloud):
            found.append(poses[np.argsort(np.linalg.norm(cloud - place, axis=1))[:NEAR]])
    return np.concatenate(found)


def _contained(boundary: Sequence[Piece], points: Array, each: int = 1) -> Marks:
    """Which points are inside: a boundary turns about these once. `each` are points of it on each cubic."""
    turns = np.zeros(len(points))
    for piece in boundary:
        off = piece.points(each) - points[:, None]
        angles = np.unwrap(np.arctan2(off[..., 1], off[..., 0]), axis=1)
        turns += angles[:, -1] - angles[:, 0]
    return np.asarray(turns > np.pi)


def _is_clear(boundary: Sequence[Piece], points: Array, distance: float) -> Marks:
    """Which points are farther from all curves than this."""
    clear = np.ones(len(points), dtype=bool)
    for piece in boundary:
        drawn = piece.points(1)
        chords, off = np.diff(drawn, axis=0), points[:, None] - drawn[:-1]
        shares = np.clip((off * chords).sum(axis=2) / np.maximum((chords**2).sum(axis=1), 1e-300), 0.0, 1.0)
        clear &= np.linalg.norm(off - shares[..., None] * chords, axis=2).min(axis=1) > distance
    return clear


def _poses_about(boundary: Sequence[Piece], reach: Reach, poses: Array, cloud: Array) -> Array:
    """Poses beside those in which it does not go on, and poses in which points about there are reached; where there are
    none, all."""
    size = float(np.ptp(cloud, axis=0).max())
    turns = 2 * np.pi * np.arange(ABOUT) / ABOUT
    ring = ABOUT_SIZE * size * np.stack([np.cos(turns), np.sin(turns)], axis=1)
    found = [poses[:0]]
    for piece, last in _open(boundary, size):
        found.append(reach.beside(piece.pose(float(last))[None]))
        for target in piece.points()[-int(last)] + ring:
            found.append(reach.reached(target, _chosen(target, poses, cloud), NEAR))
    return np.concatenate(found) if sum(map(len, found)) else poses
