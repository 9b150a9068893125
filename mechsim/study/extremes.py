"""Where a quantity of one motion turns, between steps too: its maxima and minima, and the largest and smallest values.

Coordinates, velocities and accelerations are the polynomials of the steps and their derivatives, and other quantities
are made of polynomials (see resolving.py); of these no extreme is overlooked (see piecewise.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from mechsim.errors import Fault, Mark, MechsimError, SpecError
from mechsim.frozen import frozen
from mechsim.result import Motion
from mechsim.result.accelerations import all_columns
from mechsim.result.layout import full_layout
from mechsim.spec import parse
from mechsim.spec.document import MechSpec
from mechsim.spec.expression import CONSTANTS, parse_expression
from mechsim.spec.suggest import did_you_mean, listed
from mechsim.study import piecewise
from mechsim.study.bernstein import Array
from mechsim.study.gathered import Gathered
from mechsim.study.parameters import Parameters
from mechsim.study.piecewise import Pieces
from mechsim.study.quantities import Column, Energy, Instant, Meaning, Quantity, Unknown
from mechsim.study.reading import Reader
from mechsim.study.steps import Steps, blocks_of

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
    mean nothing, MechsimError where it has no value, or where the motion kept no polynomials.
    """
    pieces = _pieces(motion, quantity)
    tolerance = motion.solution.tolerance
    times, values, kinds = piecewise.turning_points(pieces, max(SEAM, LOOSE * tolerance))
    least = TOLD * tolerance * float(pieces.sizes.max())
    first, last = float(pieces.polynomials[0, 0]), float(pieces.polynomials[-1, -1])
    told = [(Extreme(float(times[k]), float(values[k])), kinds[k] > 0) for k in _told(values, first, last, least)]
    maxima, minima = (tuple(each for each, is_maximum in told if is_maximum == sort) for sort in (True, False))
    return Extremes(maxima, minima, _largest(pieces, 1.0), _largest(-pieces, -1.0))


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


def _largest(pieces: Pieces, sign: float) -> Extreme:
    return Extreme(float(piecewise.time_of_largest(pieces)[0]), sign * float(piecewise.largest(pieces)[0]))


def _pieces(motion: Motion, text: str) -> Pieces:
    many = Gathered([motion], motion.facts["settings"].get("overrides", {}))
    if motion.facts["spec_text"]:
        spec = _spec_of(motion)
        reader = Reader(spec)
        quantity, changing = reader.quantity(text, PLACE), reader.names.changing
        steps = _steps(many, Parameters(spec, many.parameters), changing)
    else:
        quantity, steps = _of_lagrangian(motion, text), _steps(many, _no_parameter, changing=False)
    pieces, fine = quantity.pieces(steps)
    if not fine.all() or not np.isfinite(pieces.polynomials).all():
        raise MechsimError(Fault(f"{text} has no value somewhere in the motion, or changes too fast to be followed"))
    return pieces


def _steps(many: Gathered, parameters: Callable[[str], Array], changing: bool) -> Steps:
    block = next(blocks_of(np.array([0]), many.polynomials), None)
    if block is None:
        raise MechsimError(Fault("the motion has no steps"))
    return Steps(many, block, parameters, changing)


def _no_parameter(name: str) -> Array:
    raise AssertionError(f"{name} has no meaning")  # `_of_lagrangian` knows no parameters


def _spec_of(motion: Motion) -> MechSpec:
    """The file of a motion, with the turn angles that were asked for beside it."""
    facts, settings = motion.facts, motion.facts["settings"]
    path, files = facts["spec_path"] or "<text>", settings.get("files", {})
    spec = parse(facts["spec_text"], path, settings.get("overrides", {}), files, tables_from=None)
    return replace(spec, output=replace(spec.output, accelerations=motion.mechanism.accelerations))


def _of_lagrangian(motion: Motion, text: str) -> Quantity:
    """The same for a Lagrangian of a user's own, which has coordinates and columns, but no file."""
    meanings = _meanings(motion)
    expression = parse_expression(text, PLACE, state=True, switches=False)
    known: dict[str, Meaning] = {}
    for name in expression.names:
        if name not in meanings:
            hint = did_you_mean(name, meanings) or f"columns are {listed(list(meanings))}"
            raise SpecError(Fault(f"there is no column {name}", expression.place(name), hint))
        known[name] = meanings[name]
    return Quantity(expression.tree, known)


def _meanings(motion: Motion) -> dict[str, Meaning]:
    mechanism = motion.mechanism
    labels, count = [each.label for each in mechanism.variables], len(mechanism.variables)
    layout = full_layout(mechanism)
    found: dict[str, Meaning] = dict(CONSTANTS)
    found |= {label: Column(label) for label in motion.trajectory.labels}
    found |= {each.label: Unknown(labels[each.slot], 2) for each in all_columns(mechanism) if each.slot >= 0}
    found |= {f"{label}_ddot": Unknown(label, 2) for label in labels}
    for label, place in zip(layout.labels, layout.places.tolist(), strict=True):
        if 0 < place <= 2 * count:
            found[label] = Unknown(labels[(place - 1) % count], int(place > count))
        else:
            found[label] = Energy(place - 2 * count - 1) if place else Instant()
    return found
