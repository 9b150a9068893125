"""What is to be least: a measure of the motion, or a sum of squares, each with its derivatives by all that may vary.

A goal may have numbers of its own to choose (`extras`): the times at which a curve passes the places it is to come
near.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from mechsim.design.course import Course, Measurable
from mechsim.design.sizes import Sizes
from mechsim.design.task import Variable
from mechsim.engine.tangents import END
from mechsim.errors import Fault, Mark, SpecError
from mechsim.frozen import frozen
from mechsim.lagrangian.vector import AXES
from mechsim.measure.least import is_least
from mechsim.measure.quantities import Inside, Quantity
from mechsim.measure.reading import Asked, Reader
from mechsim.result.layout import Array
from mechsim.spec.suggest import did_you_mean, listed

LOOKS = 2000  # places of a curve that are looked at for those nearest to where it is to pass


@frozen(eq=False)
class Sloped:
    """A value with its derivatives, by the names of the course and then by extras. `bent` is the part of the second
    derivatives that needs no second derivatives of the motion."""

    value: float
    gradient: Array
    bent: Array


class Goal(ABC):
    """Raises MechsimError where it has no value."""

    extras: tuple[Variable, ...] = ()

    def begin(self, course: Course) -> Array:
        """First values of the extras."""
        return np.zeros(0)

    @abstractmethod
    def value(self, course: Course, extras: Array) -> float: ...

    @abstractmethod
    def sloped(self, course: Course, extras: Array) -> Sloped: ...

    @abstractmethod
    def size(self, sizes: Sizes) -> float:
        """How large it is as motions go: zero where nothing moves."""

    def is_least(self, course: Course) -> bool:
        """Whether nothing can be less: it may have no derivative there."""
        return False


@frozen(slots=False, eq=False)
class Least(Goal):
    """A measure."""

    asked: Asked

    def value(self, course: Course, extras: Array) -> float:
        return course.value(self.asked)

    def sloped(self, course: Course, extras: Array) -> Sloped:
        return Sloped(*course.gradients.of(self.asked), course.gradients.bent(self.asked))

    def size(self, sizes: Sizes) -> float:
        return sizes.of(self.asked)

    def is_least(self, course: Course) -> bool:
        return is_least(course.scalars, self.asked)


class Squares(Goal):
    """The sum of the squares of residuals."""

    @abstractmethod
    def residuals(self, course: Course, extras: Array) -> Array: ...

    @abstractmethod
    def jacobian(self, course: Course, extras: Array) -> Array:
        """Of the residuals, (residuals, names and extras)."""

    def value(self, course: Course, extras: Array) -> float:
        found = self.residuals(course, extras)
        return float(found @ found)

    def sloped(self, course: Course, extras: Array) -> Sloped:
        found, jacobian = self.residuals(course, extras), self.jacobian(course, extras)
        return Sloped(float(found @ found), 2.0 * jacobian.T @ found, 2.0 * jacobian.T @ jacobian)


@frozen(slots=False, eq=False)
class Measures(Squares):
    """Of measures."""

    asked: tuple[Asked, ...]

    def residuals(self, course: Course, extras: Array) -> Array:
        return np.array([course.value(each) for each in self.asked])

    def jacobian(self, course: Course, extras: Array) -> Array:
        return np.array([course.gradients.of(each)[1] for each in self.asked])

    def size(self, sizes: Sizes) -> float:
        return sum(sizes.of(each) ** 2 for each in self.asked)


class Samples(Squares):
    """Of quantities at times, less what they should be."""

    @abstractmethod
    def samples(self, course: Course, extras: Array) -> tuple[list[Quantity], Array, Array, Array]:
        """Quantities, the times of each, (quantities, times), and what they should be, each with a weight; NaN where
        nothing is known."""

    def residuals(self, course: Course, extras: Array) -> Array:
        quantities, times, wanted, weights = self.samples(course, extras)
        found = [quantity.at(place_of(course, own))[0] for quantity, own in zip(quantities, times, strict=True)]
        off = weights * (np.array(found) - wanted)
        return off[np.isfinite(wanted)]

    def jacobian(self, course: Course, extras: Array) -> Array:
        quantities, times, wanted, weights = self.samples(course, extras)
        rows: list[Array] = []
        for quantity, own, weight, goal in zip(quantities, times, weights, wanted, strict=True):
            place = place_of(course, own)
            change = course.changes.at(quantity, place.step, place.shares)[0]
            late, early, rates = own > course.end, own < course.begin, self.rates_of(len(rows), place)
            change = change + np.outer(np.where(late, rates, 0.0), course.changes.number(END))
            moved = np.diag(np.where(late | early, 0.0, rates)) if len(extras) else np.zeros((len(own), 0))
            both = np.concatenate([change, moved], axis=1)
            rows.append((weight[:, None] * both)[np.isfinite(goal)])
        return np.concatenate(rows)

    @abstractmethod
    def rates_of(self, number: int, place: Inside) -> Array:
        """How fast the samples of a quantity by number change with their times, if these are extras, or lie beyond the
        end."""


@frozen(slots=False, eq=False)
class Through(Samples):
    """Distances of a point of the mechanism from places, at times that may be chosen too."""

    point: str
    coordinates: tuple[Quantity, ...]
    rates: tuple[Quantity, ...]
    places: Array  # (places, coordinates)
    span: tuple[float, float]

    @property
    def extras(self) -> tuple[Variable, ...]:  # type: ignore[override]
        return tuple(Variable(f"time of {self.point} at {k + 1}", *self.span) for k in range(len(self.places)))

    def begin(self, course: Course) -> Array:
        """The times at which it is nearest."""
        times = np.linspace(course.begin, course.end, LOOKS)
        curve = np.stack([each.at(place_of(course, times))[0] for each in self.coordinates], axis=1)
        apart = np.linalg.norm(curve[:, None] - self.places, axis=2)
        return times[np.argmin(apart, axis=0)]

    def samples(self, course: Course, extras: Array) -> tuple[list[Quantity], Array, Array, Array]:
        times = np.broadcast_to(extras, self.places.T.shape)
        return list(self.coordinates), times, self.places.T, np.ones_like(self.places.T)

    def rates_of(self, number: int, place: Inside) -> Array:
        return self.rates[number].at(place)[0]

    def size(self, sizes: Sizes) -> float:
        return len(self.places) * sum(sizes.moves(each)[1] ** 2 for each in self.coordinates)


def through(
    point: str, places: Sequence[Sequence[float]], subject: Measurable, span: tuple[float, float], reader: Reader
) -> Through:
    """Raises SpecError for a point that is not there, or that has other coordinates."""
    found = np.array(places, dtype=float)
    mark = Mark("through", 1, 1)
    if found.ndim != 2 or not np.isfinite(found).all():
        raise SpecError(Fault(f"the places of {point} must be lists of coordinates, as many of each", mark))
    axes = [axis for axis in AXES if subject.names.meaning(f"{point}_{axis}") is not None]
    if not axes:
        known = sorted({name[:-2] for name in subject.names.states if name[-2:] in ("_x", "_y", "_z")})
        hint = f"there are {listed(known)}: the places are those of a point, with all its coordinates"
        raise SpecError(Fault(f"there is no point {point}", mark, did_you_mean(point, known) or hint))
    if len(axes) != found.shape[1]:
        own, given = (", ".join(f"{point}_{axis}" for axis in each) for each in (axes, AXES[: found.shape[1]]))
        hint = f'a place has all coordinates; of one of them alone: --squares "at({point}_x, 0.5) - 0.1"'
        raise SpecError(Fault(f"the places of {point} are given by {given}, and {point} has {own}", mark, hint))
    names = [f"{point}_{axis}" for axis in axes]
    coordinates, rates = (tuple(reader.quantity(name + end, mark) for name in names) for end in ("", "_dot"))
    return Through(point, coordinates, rates, found, span)


class Several(Squares):
    """Sums of squares, added up; their extras one after the other."""

    def __init__(self, parts: Sequence[Squares]):
        self.parts = tuple(parts)
        self.extras = tuple(extra for part in parts for extra in part.extras)
        self._ends = np.cumsum([0, *(len(part.extras) for part in parts)])

    def begin(self, course: Course) -> Array:
        return np.concatenate([np.zeros(0), *(part.begin(course) for part in self.parts)])

    def size(self, sizes: Sizes) -> float:
        return sum(part.size(sizes) for part in self.parts)

    def _own(self, extras: Array) -> list[Array]:
        return [extras[first:last] for first, last in zip(self._ends[:-1], self._ends[1:], strict=True)]

    def residuals(self, course: Course, extras: Array) -> Array:
        parts = zip(self.parts, self._own(extras), strict=True)
        return np.concatenate([part.residuals(course, own) for part, own in parts])

    def jacobian(self, course: Course, extras: Array) -> Array:
        count, rows = len(course.names), []
        for part, own, first in zip(self.parts, self._own(extras), self._ends[:-1], strict=True):
            found = part.jacobian(course, own)
            wide = np.zeros((len(found), count + len(extras)))
            wide[:, :count] = found[:, :count]
            wide[:, count + first : count + first + len(own)] = found[:, count:]
            rows.append(wide)
        return np.concatenate(rows)


def place_of(course: Course, times: Array) -> Inside:
    """Where times are in the steps; what is outside of the motion is at its ends."""
    times, begins = np.clip(times, course.begin, course.end), course.steps.begins
    step = np.maximum(np.searchsorted(begins, times, side="right") - 1, 0)
    return Inside(course.steps, step, ((times - begins[step]) / course.steps.durations[step])[None])
