"""What is drawn of a user's Lagrangian: points as expressions of the coordinates, and parts between them.

The points become columns of the tables, by a function of the system's kind; the parts a file of the language with no
physics in it, which results carry so that they can be drawn later.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np

from mechsim.errors import Fault, Mark, MechsimError, SpecError
from mechsim.facility.functions import Function, called
from mechsim.facility.lowering import number, points_of
from mechsim.frozen import frozen
from mechsim.lagrangian.smooth import FUNCTIONS
from mechsim.lagrangian.vector import AXES, labels
from mechsim.result.layout import Array
from mechsim.spec.expression import Expression, parse_expression, undefined
from mechsim.spec.names import PART, PLANE, POINT, SPACE
from mechsim.spec.suggest import did_you_mean, listed

KEYS = ("points", "parts", "springs", "particles")
TRACED: Mapping[str, Callable[..., Any]] = {**FUNCTIONS, "**": pow}
STIFF = 1e-6  # of a part's extent: by so much its points may come nearer to each other or farther apart
Numbers = tuple[float, ...]
Draw = Mapping[str, Any]  # as a user gives it; see `lagrangian_system`


@frozen(slots=False)
class Place:
    """A point as expressions of coordinates, parameters and time, or as a function of q and t."""

    name: str
    by: tuple[Expression, ...] | Function

    def __call__(self, names: Sequence[str], q: Any, t: Any, p: Any) -> Sequence[Any]:
        if not isinstance(self.by, tuple):
            more = () if p is None else (p,)
            found: Sequence[Any] = self.by(q, t, *more)
            return found
        values = {**({} if p is None else vars(p)), **{name: q[i] for i, name in enumerate(names)}, "t": t}
        return [expression.evaluate(values, TRACED) for expression in self.by]

    def moves(self, names: Sequence[str]) -> bool:
        """Whether it may: an expression of parameters alone stands still."""
        if not isinstance(self.by, tuple):
            return True
        return any(name in (*names, "t") for expression in self.by for name in expression.names)


@frozen(slots=False)
class Places:
    """The coordinates of all points that move, as a function of a user would be."""

    names: tuple[str, ...]
    moving: tuple[Place, ...]

    def __call__(self, q: Any, t: Any, p: Any = None) -> list[Any]:
        return [value for place in self.moving for value in place(self.names, q, t, p)]


@frozen(slots=False)
class Drawing:
    """Points and parts, checked."""

    dimension: int
    places: Places
    fixed: tuple[Place, ...]
    own: tuple[str, ...]  # points that coordinates are: `A_x, A_y`
    parts: tuple[tuple[str, ...], ...]
    springs: tuple[tuple[str, ...], ...]
    particles: Mapping[str, float]

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns of its moving points: each coordinate, then its rate."""
        names = [label for place in self.places.moving for label in labels(place.name, self.dimension)]
        return tuple(label for name in names for label in (name, f"{name}_dot"))

    @property
    def place_count(self) -> int:
        return len(self.labels) // 2

    def standing(self, parameters: Mapping[str, float]) -> dict[str, Numbers]:
        """Points that do not move, with these parameters."""
        p = SimpleNamespace(**parameters)
        return {place.name: tuple(float(x) for x in place((), (), 0.0, p)) for place in self.fixed}

    def along(self, table: Array, columns: Mapping[str, Array], fixed: Mapping[str, Numbers]) -> dict[str, Array]:
        """Where all points are, (rows, dimension), from the table of its columns and from coordinates by name."""
        found = {name: np.broadcast_to(place, (len(table), self.dimension)) for name, place in fixed.items()}
        for k, place in enumerate(self.places.moving):
            found[place.name] = table[:, 2 * self.dimension * k : 2 * self.dimension * (k + 1) : 2]
        for name in self.own:
            found[name] = np.stack([columns[label] for label in labels(name, self.dimension)], axis=1)
        return found


# --- reading what a user gives


def drawing_of(draw: Any, coordinates: Sequence[str], parameters: Mapping[str, float]) -> Drawing:
    """The drawing that a user asks for. Raises MechsimError where it is not as it should be."""
    if not isinstance(draw, Mapping):
        raise MechsimError(Fault(f"draw must be a mapping with {listed(KEYS)}, but is {str(draw)[:60]}"))
    if unknown := [str(key) for key in draw if key not in KEYS]:
        hint = did_you_mean(unknown[0], KEYS) or f"it may have {listed(KEYS)}"
        raise MechsimError(Fault(f"draw has {unknown[0]}, which is not known", hint=hint))
    given = _points(draw.get("points") or {}, coordinates, parameters)
    own = {name: slots for name, slots in points_of(coordinates).items() if len(slots) > 1}
    dimension = _dimension({name: place for name, (place, _) in given.items()}, own, coordinates, parameters)
    _refuse_taken(given, own, coordinates, dimension)
    own = {name: slots for name, slots in own.items() if len(slots) == dimension and re.fullmatch(POINT, name)}
    known = [*given, *own]
    parts, springs = (_fastened(draw.get(key) or (), key, known) for key in ("parts", "springs"))
    if wrong := [points for points in springs if len(points) != 2]:
        raise MechsimError(Fault(f"draw: the spring {''.join(wrong[0])} has {len(wrong[0])} points, but needs 2"))
    particles = _particles(draw.get("particles") or (), known)
    used = {name for points in (*parts, *springs) for name in points} | {*particles}
    moving = tuple(place for place, moves in given.values() if moves)
    return Drawing(
        dimension,
        Places(tuple(coordinates), moving),
        tuple(place for place, moves in given.values() if not moves),
        tuple(name for name in own if name in used),
        parts,
        springs,
        # What is in nothing else is a small disc.
        particles | {place.name: 0.0 for place in moving if place.name not in used},
    )


def _points(points: Any, coordinates: Sequence[str], parameters: Mapping[str, float]) -> dict[str, tuple[Place, bool]]:
    """Each point, and whether it moves."""
    if not isinstance(points, Mapping):
        raise MechsimError(Fault(f"points of draw must be a mapping of names, but is {str(points)[:60]}"))
    found = {}
    for name, given in points.items():
        if not (isinstance(name, str) and re.fullmatch(POINT, name)):
            hint = "a letter and digits, as A or P12, so that OA is the part from O to A"
            raise MechsimError(Fault(f"{name!r} is no name for a point of draw", hint=hint))
        place = Place(name, given if callable(given) else _expressions(name, given, coordinates, parameters))
        found[name] = place, place.moves(coordinates)
    return found


def _expressions(
    name: str, given: Any, coordinates: Sequence[str], parameters: Mapping[str, float]
) -> tuple[Expression, ...]:
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) not in (PLANE, SPACE):
        hint = "give an expression for each coordinate, as (0, '-l*cos(theta)'), or a function of q and t"
        raise MechsimError(Fault(f"draw: {name} must have 2 coordinates, or 3 in space", hint=hint))
    return tuple(
        _expression(each, f"{name}_{axis}", {*coordinates, *parameters, "t"})
        for axis, each in zip(AXES, given, strict=False)
    )


def _expression(given: Any, label: str, known: set[str]) -> Expression:
    text = given if isinstance(given, str) else repr(number(given, f"{label} of draw"))
    try:
        expression = parse_expression(text, Mark(f"draw of {label}", 1, 1), switches=False)
        if faults := undefined(expression, known):
            raise SpecError(*faults)
        if place := expression.unsmooth(lambda name: True):
            raise SpecError(Fault("abs has no rate at zero", place, "use sqrt(x**2 + eps**2)"))
    except SpecError as error:
        told = (Fault(f"{label} of draw, {text!r}: {fault.message}", hint=fault.hint) for fault in error.faults)
        raise MechsimError(*told) from None
    return expression


def _dimension(
    given: Mapping[str, Place],
    own: Mapping[str, tuple[int, ...]],
    coordinates: Sequence[str],
    parameters: Mapping[str, float],
) -> int:
    """That of the points; of those that coordinates are, where no other is given."""
    more = [SimpleNamespace(**{name: np.float64(value) for name, value in parameters.items()})] if parameters else []
    trial = [np.linspace(0.4, 0.6, len(coordinates)), np.float64(0.3), *more]
    counts = {}
    for name, place in given.items():
        if isinstance(place.by, tuple):
            counts[name] = len(place.by)
        else:
            counts[name] = len(called(place.by, f"{name} of draw(q, t)", trial))
    counts = counts or {name: len(slots) for name, slots in own.items()}
    if not counts:
        raise MechsimError(Fault("draw names no points", hint="give some: {'points': {'A': ('x', 'y')}}"))
    first, *others = counts
    if wrong := [name for name in others if counts[name] != counts[first]]:
        raise MechsimError(
            Fault(f"draw: {wrong[0]} has {counts[wrong[0]]} coordinates, but {first} has {counts[first]}")
        )
    if counts[first] not in (PLANE, SPACE):
        raise MechsimError(Fault(f"draw: {first} has {counts[first]} coordinates, but must have 2, or 3 in space"))
    return counts[first]


def _refuse_taken(given: Mapping[str, Any], own: Mapping[str, Any], coordinates: Sequence[str], dimension: int) -> None:
    for name in given:
        taken = [label for label in labels(name, dimension) if label in coordinates]
        if name in own or taken:
            hint = "leave it out: parts may have it all the same" if name in own else "give the point another name"
            raise MechsimError(Fault(f"draw: {name} would have the column {taken[0]}, a coordinate", hint=hint))


def _fastened(given: Any, key: str, known: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The points of each part: `OA` is the one from O to A."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise MechsimError(Fault(f"{key} of draw must be a list of names, as ['OA'], but is {str(given)[:60]}"))
    found: list[tuple[str, ...]] = []
    for name in given:
        if not (isinstance(name, str) and PART.fullmatch(name)):
            raise MechsimError(Fault(f"{key} of draw: {name!r} is not made of names of points, as OA is"))
        points = tuple(re.findall(POINT, name))
        if missing := [point for point in points if point not in known]:
            hint = did_you_mean(missing[0], known) or f"there are {listed(known)}"
            raise MechsimError(
                Fault(f"{key} of draw: {name} has the point {missing[0]}, which is not drawn", hint=hint)
            )
        if len(points) < 2 or len({*points}) < len(points) or points in found:
            raise MechsimError(Fault(f"{key} of draw: {name} needs two points or more, each once, and stands once"))
        found.append(points)
    return tuple(found)


def _particles(given: Any, known: Sequence[str]) -> dict[str, float]:
    """Masses by point: a list gives all the same size."""
    masses = given if isinstance(given, Mapping) else dict.fromkeys(given, 1.0)
    for name in masses:
        if name not in known:
            hint = did_you_mean(str(name), known) or f"there are {listed(known)}"
            raise MechsimError(Fault(f"particles of draw has {name}, which is not drawn", hint=hint))
    return {name: number(mass, f"particles of draw: {name}") for name, mass in masses.items()}


# --- the file that results carry


def text_of(drawing: Drawing, title: str, fixed: Mapping[str, Numbers], start: Mapping[str, Array]) -> str:
    """A file of the language that has the points and parts; shapes are those at the start."""
    parts = {"".join(points): {"Geom": _corners("".join(points), [start[name] for name in points])}
             for points in drawing.parts}  # fmt: skip
    springs = {"".join(points): [0, float(np.linalg.norm(start[points[1]] - start[points[0]]))]
               for points in drawing.springs}  # fmt: skip
    sections = {
        "Fixed": {name: list(place) for name, place in fixed.items()},
        "Rigids": parts,
        "Springs": springs,
        "Particles": drawing.particles,
    }
    positions = {name: place.tolist() for name, place in start.items() if name not in fixed}
    lines = [
        "# What is drawn of a Lagrangian: its points and parts, without physics.",
        f"Title: {json.dumps(title)}",
        f"Dimension: {drawing.dimension}",
        "PartData:",
        *(f"  {name}: {json.dumps(section)}" for name, section in sections.items() if section),
        f"ProblemData: {json.dumps({'tend': 1, 'positions': positions})}",
    ]
    return "\n".join([*lines, ""])


def _corners(name: str, world: Sequence[Array]) -> list[list[float]]:
    """The points of a part in its own frame: x from the first to the second, y towards the third."""
    arms = np.array(world[1:]) - world[0]
    if not np.linalg.norm(arms[0]) > STIFF * np.abs(arms).max():
        hint = "name two points first that are apart, or draw it among springs"
        raise MechsimError(Fault(f"draw: the first two points of the part {name} are one at the start", hint=hint))
    axes: list[Array] = []
    spans: list[int] = []  # in how many axes each arm lies
    for arm in arms:
        spans.append(len(world[0]) if len(axes) == 2 else 0)
        rest = arm - sum((axis * (axis @ arm) for axis in axes), np.zeros(len(arm)))
        if np.linalg.norm(rest) > STIFF * np.abs(arms).max() and len(axes) < 2:
            axes.append(rest / np.linalg.norm(rest))
        spans[-1] = spans[-1] or len(axes)
    if len(world[0]) == PLANE:
        axes[1:] = [np.array([-axes[0][1], axes[0][0]])]
    elif len(axes) == 2:
        axes.append(np.cross(axes[0], axes[1]))
    # What spans the frame lies in it exactly, however the processor rounds.
    return [
        [float(axis @ arm) if k < span else 0.0 for k, axis in enumerate(axes)]
        for arm, span in zip(arms, spans, strict=True)
    ]


def limp_part(drawing: Drawing, along: Mapping[str, Array]) -> str:
    """What to know of a part that is drawn stiff and is not: two of its points do not keep their distance."""
    for points in drawing.parts:
        for one, other in combinations(points, 2):
            apart = np.linalg.norm(along[other] - along[one], axis=1)
            if np.ptp(apart) > STIFF * apart.max():
                return (
                    f"the part {''.join(points)} is drawn stiff, but {one} and {other} are from {apart.min():.6g} to "
                    f"{apart.max():.6g} apart; draw what changes its length among springs"
                )
    return ""
