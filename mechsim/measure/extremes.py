"""Where a quantity of one motion turns, between steps too: its maxima and minima, and the largest and smallest values.

Coordinates, velocities and accelerations are the polynomials of the steps and their derivatives, and other quantities
are made of polynomials (see resolving.py); of these no extreme is overlooked (see piecewise.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from mechsim.errors import Fault, Mark, SpecError
from mechsim.frozen import frozen
from mechsim.measure import piecewise
from mechsim.measure.bernstein import Array
from mechsim.measure.gathered import Gathered, steps_of
from mechsim.measure.meanings import Names
from mechsim.measure.parameters import Parameters
from mechsim.measure.piecewise import Pieces
from mechsim.measure.plain import PlainNames
from mechsim.measure.reading import Reader, Vocabulary
from mechsim.result import Motion
from mechsim.simulation import adjust
from mechsim.spec import parse
from mechsim.spec.document import MechSpec

SEAM = 1e-9  # of the largest value: steps that miss each other by less go on smoothly,
LOOSE = 1e3  # or by less than so many tolerances: derivatives are off by more than what they are derivatives of
TOLD = 10.0  # tolerances of the largest value: what turns by less may be an error of the motion
PLACE = Mark("extremes", 1, 1)


@frozen
class Extreme:
    """A time, and the value then."""

    t: float
    value: float


@frozen
class Extremes:
    """All that a quantity turns at inside its motion, in the order of time, and its largest and smallest values, which
    it may have at an end of the motion too; of several that are equal to 1e-9 of its range the first. What it turns by
    less than the motion's error is left out."""

    maxima: tuple[Extreme, ...]
    minima: tuple[Extreme, ...]
    largest: Extreme
    smallest: Extreme


def extremes(motion: Motion, quantity: str) -> Extremes:
    """The extremes of a column, or of any expression that measures take: `extremes(motion, "A_ax")`.

    Where the quantity jumps, as a velocity in an impact, it has an extreme on a side. Raises SpecError for names that
    mean nothing, where it has no value somewhere, and where the motion kept no polynomials.
    """
    pieces = pieces_of(motion, quantity)
    tolerance = motion.solution.tolerance
    times, values, kinds = piecewise.turning_points(pieces, max(SEAM, LOOSE * tolerance))
    least = TOLD * tolerance * float(pieces.sizes.max())
    first, last = float(pieces.polynomials[0, 0]), float(pieces.polynomials[-1, -1])
    told = [(Extreme(float(times[k]), float(values[k])), kinds[k] > 0) for k in _told(values, first, last, least)]
    maxima, minima = (tuple(each for each, is_maximum in told if is_maximum == sort) for sort in (True, False))
    return Extremes(maxima, minima, highest(pieces), lowest(pieces))


def _told(values: Array, first: float, last: float, least: float) -> list[int]:
    """Which of the values at which a function turns are extremes that it leaves by more than `least` on both sides;
    `first` and `last` are those at its ends. Of neighbours that it hardly leaves the highest or lowest stands."""
    found: list[int] = []
    way, high, low = 0, (first, -1), (first, -1)
    for k, value in enumerate([*values.tolist(), last]):
        high, low = max(high, (value, k)), min(low, (value, k))
        turned = -1 if way >= 0 and high[0] - value > least else int(way <= 0 and value - low[0] > least)
        if turned:
            found += [each for _, each in [high if turned < 0 else low] if each >= 0]
            way, high, low = turned, (value, k), (value, k)
    return found


def highest(pieces: Pieces) -> Extreme:
    """The largest value of a function."""
    return Extreme(float(piecewise.time_of_largest(pieces)[0]), float(piecewise.largest(pieces)[0]))


def lowest(pieces: Pieces) -> Extreme:
    """The smallest value of a function."""
    found = highest(-pieces)
    return Extreme(found.t, -found.value)


def pieces_of(motion: Motion, text: str) -> Pieces:
    """A column or expression of a motion, as polynomials on its steps."""
    return reading(motion)(text)


def reading(motion: Motion) -> Callable[[str], Pieces]:
    """What gives columns and expressions of a motion so."""
    many = Gathered([motion], motion.facts["settings"].get("overrides", {}))
    if motion.facts["spec_text"]:
        spec = _spec_of(motion)
        names: Vocabulary = Names(spec)
        steps = steps_of(many, Parameters(spec, many.parameters), names.changing)
    else:
        names, steps = PlainNames(motion.system), steps_of(many, _no_parameter, changing=False)

    def read(text: str) -> Pieces:
        pieces, fine = Reader(names).quantity(text, PLACE).pieces(steps)
        if not fine.all() or not np.isfinite(pieces.polynomials).all():
            message = f"{text} has no value somewhere in the motion, or changes too fast to be followed"
            raise SpecError(Fault(message, hint="is something divided by zero, or a root taken of less than that?"))
        return pieces

    return read


def _no_parameter(name: str) -> Array:
    raise AssertionError(f"{name} has no meaning")  # a motion does not know those of its Lagrangian


def _spec_of(motion: Motion) -> MechSpec:
    """The file of a motion, with its times, and with the turn angles that were asked for beside it."""
    facts, settings = motion.facts, motion.facts["settings"]
    path, files = facts["spec_path"] or "<text>", settings.get("files", {})
    spec = parse(facts["spec_text"], path, settings.get("overrides", {}), files, tables_from=None)
    spec = adjust(spec, t0=settings["t0"], tend=settings["tend"])
    own = motion.mechanism
    return replace(spec, output=replace(spec.output, accelerations=own.accelerations, jerks=own.jerks))
