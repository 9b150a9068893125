"""Drives and controllers as drafts of laws."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace

from mechsim.errors import Fault, SpecError
from mechsim.lagrangian.formula import Formula, constant, coordinate, number, parameter, tanh
from mechsim.model.book import Book, Draft, Forces, moves
from mechsim.model.mechanism import Sampler
from mechsim.model.origin import Origin
from mechsim.model.quantities import Quantities
from mechsim.spec.actions import Controller, Drive
from mechsim.spec.document import Number, Problem
from mechsim.spec.names import Reference, TurnAngle, reference
from mechsim.spec.scope import POSITION

# Jumps below this share are a person's rounding of where pieces meet.
JUMP = 1e-5
GRAINS = 1000  # the least sampling period, in distances of neighbouring times: a sample then comes at most 1e-3 early
MOST_SAMPLES = 1e8  # days of computing


def add_drives(quantities: Quantities, book: Book) -> None:
    """`quantity - motion` is kept at zero, by its value or by its rate; the multiplier is the drive's force, turned."""
    for drive in quantities.spec.actions.drives:
        motion = quantities.of(drive.motion)
        _refuse_jumps(drive, motion, quantities.book)
        quantity = quantities.of(drive.quantity)
        rows = [(f"drive_{drive.name}", quantity - motion)]
        if not moves(rows[0][1]):
            message = f"Drives.{drive.name} has nothing to move: what it names cannot change"
            raise SpecError(Fault(message, drive.mark))
        draft = Draft(f"drive of {drive.name}", drive.mark, account=f"work_drive_{drive.name}")
        draft.origin = Origin("drive", drive.name)
        if drive.level == POSITION:
            draft.constraints = rows
            _start_as_driven(quantity, motion, quantities)
        else:
            draft.nonholonomic = rows
        book.add(draft)


def _start_as_driven(quantity: Formula, motion: Formula, quantities: Quantities) -> None:
    """A coordinate or turn angle that is driven is known at the start, and other parts are placed by it."""
    if quantity.operation == "x":
        start = quantities.spec.problem.t0.value
        with suppress(ValueError, ZeroDivisionError, OverflowError):  # where it has no value, the start will say so
            quantities.book.guesses[quantity.operands[0]] = constant(motion, start, quantities.book.constants)


def _refuse_jumps(drive: Drive, motion: Formula, book: Book) -> None:
    """A speed that jumps at a break of a table or piecewise function would need an infinite force."""
    held = list(book.constants)
    used = {-1 - leaf.operands[0] for leaf in motion.leaves() if leaf.operation == "x"}
    for switch in book.switches:
        if used.isdisjoint(switch.values):
            continue
        before = _speeds(drive, motion, switch.time, held)
        for index, value in switch.values.items():
            held[index] = value
        after = _speeds(drive, motion, switch.time, held)
        for what, old, new in zip(("position", "speed"), before, after, strict=True):
            if abs(new - old) > JUMP * (1 + abs(old)):
                message = f"Drives.{drive.name}: the {what} jumps from {old:.6g} to {new:.6g} at t = {switch.time:g}"
                hint = (
                    "no force can do that: let the pieces meet, or write kind: cubic, with ends: clamped to end level"
                )
                raise SpecError(Fault(message, drive.mark, hint))


def _speeds(drive: Drive, motion: Formula, time: float, constants: list[float]) -> tuple[float, float]:
    """Position (0 where the speed is prescribed) and speed that the drive asks for."""
    try:
        if drive.level != POSITION:
            return 0.0, constant(motion, time, constants)
        step = 1e-6 * (1 + abs(time))  # a difference quotient is good to 1e-9 or so: JUMP is far above
        ahead, back = constant(motion, time + step, constants), constant(motion, time - step, constants)
        return constant(motion, time, constants), (ahead - back) / (2 * step)
    except (ArithmeticError, ValueError):  # no value there: the run will say so
        return math.nan, math.nan


def add_controllers(quantities: Quantities, book: Book) -> None:
    for controller in quantities.spec.actions.controllers:
        if controller.period is None:
            _continuous(controller, quantities, book)
        else:
            _refuse_fine(controller.name, controller.period, quantities.spec.problem)
            _sampled(controller, controller.period.value, quantities, book)


def _refuse_fine(name: str, period: Number, problem: Problem) -> None:
    """A sampling period that the run cannot resolve, or that nobody waits for."""
    start, end = problem.t0.value, problem.tend.value
    grain = max(math.ulp(start), math.ulp(end))
    if period.value < GRAINS * grain:
        message = (
            f"Controllers.{name}: a period of {period.value:g} is too short for times as large as those of this run"
        )
        hint = f"they are {grain:.2g} apart: choose a period of {GRAINS * grain:.2g} or more, or let the run start at 0"
        raise SpecError(Fault(message, period.mark, hint))
    if (end - start) / period.value > MOST_SAMPLES:
        message = (
            f"Controllers.{name}: a period of {period.value:g} asks for {(end - start) / period.value:.3g} samples"
        )
        raise SpecError(
            Fault(message, period.mark, "choose a longer one; without `period` the controller is continuous")
        )


def _continuous(controller: Controller, quantities: Quantities, book: Book) -> None:
    """The integral of the error is a state of the law."""
    error = _error(controller, quantities)
    draft = _draft(controller)
    integral = number(0)
    if controller.integral is not None:
        slot = book.variable(f"int_{controller.name}", controller.name, "state", _scale(controller, quantities))
        draft.states = [(slot, error)]
        integral = coordinate(slot)
    draft.forces = _acting(controller, _output(controller, error, integral, quantities), quantities)
    book.add(draft)


def _sampled(controller: Controller, period: float, quantities: Quantities, book: Book) -> None:
    """Output and integral are computed every `period` and held in constants in between."""
    error = _error(controller, quantities)
    output, integral = book.constant(0.0), book.constant(0.0)
    total = coordinate(integral) + parameter("period", period) * error
    draft = _draft(controller)
    draft.forces = _acting(controller, coordinate(output), quantities)
    draft.signals = [_output(controller, error, total, quantities)]
    held = [output]
    if controller.integral is not None:
        draft.signals.append(total)
        held.append(integral)
    number_of_element = book.add(draft)
    if number_of_element is not None:
        constants = tuple(-1 - slot for slot in held)
        start = quantities.spec.problem.t0.value
        book.samplers.append(Sampler(number_of_element, start, period, constants))


def _draft(controller: Controller) -> Draft:
    name = controller.name
    origin = Origin("controller", name)
    return Draft(f"controller of {name}", controller.mark, account=f"work_control_{name}", origin=origin)


def _error(controller: Controller, quantities: Quantities) -> Formula:
    return quantities.of(controller.target) - quantities.of(controller.measured)


def _output(controller: Controller, error: Formula, integral: Formula, quantities: Quantities) -> Formula:
    """kp e + ki int e + kd e' + feedforward, smoothly limited."""
    output = quantities.of(controller.proportional) * error
    if controller.integral is not None:
        output = output + quantities.of(controller.integral) * integral
    if controller.derivative is not None:
        wanted = quantities.of(controller.target_rate) if controller.target_rate else number(0)
        output = output + quantities.of(controller.derivative) * (wanted - _rate(controller, quantities))
    if controller.feedforward is not None:
        output = output + quantities.of(controller.feedforward)
    if controller.limit is None:
        return output
    limit = parameter("limit", controller.limit.value)
    return limit * tanh(output / limit)


def _rate(controller: Controller, quantities: Quantities) -> Formula:
    if controller.rate is not None:
        return quantities.of(controller.rate)
    total = number(0)
    for sign, name in controller.actuated:
        total = total + sign * quantities.referred(replace(_moved(name), is_rate=True))
    return total


def _acting(controller: Controller, output: Formula, quantities: Quantities) -> Forces:
    actuated = [(sign * output, _moved(name)) for sign, name in controller.actuated]
    return [pair for force, moved in actuated for pair in quantities.generalised_force(moved, force)]


def _moved(name: str) -> Reference:
    moved = reference(name)
    assert moved is not None  # the reader has seen to it
    return moved


def _scale(controller: Controller, quantities: Quantities) -> float:
    """Of the integral of an error: radians or metres times a second."""
    moved = [_moved(name) for _, name in controller.actuated]
    points = [point for each in moved if not isinstance(each, TurnAngle) for point in each.points]
    return quantities.layout.chains.at(points).size if points else 1.0
