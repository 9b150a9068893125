"""Directions in which the parameters of a file change: of its numbers, of its start, of what tables set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mechsim.analysis.kept import keeping, unfolded
from mechsim.analysis.named import joined
from mechsim.engine.tangents import BREAK_AT_END, END, Directions
from mechsim.errors import Fault, SpecError
from mechsim.frozen import frozen
from mechsim.initial import Start
from mechsim.initial.coordinates import coordinate_changes
from mechsim.initial.problem import InitialValueProblem
from mechsim.initial.sensitivity import Living, start_changes
from mechsim.kernel.changes import NumberChanges
from mechsim.kernel.numbers import Numbers
from mechsim.kernel.system import System
from mechsim.model import build
from mechsim.model.mechanism import Mechanism
from mechsim.model.placement import placed
from mechsim.simulation import Prepared
from mechsim.spec import parse
from mechsim.spec.document import MechSpec, Problem
from mechsim.spec.living import Living as LivingNumber
from mechsim.spec.living import Tape, settled

if TYPE_CHECKING:
    from mechsim.handle.run import Run

SAME = 1e-9  # metres or radians: two starts that differ by less are one

StartChanges = tuple[np.ndarray, np.ndarray]  # of positions and of velocities, (n, directions)


@frozen(slots=False)
class Differentiated:
    """A prepared problem whose equations keep every parameter asked for, and the directions of these."""

    prepared: Prepared
    directions: Directions


def directions_of(prepared: Prepared, wanted: Sequence[str]) -> Differentiated:
    """The directions that a person names: parameters of the file, and what `analysis.named` knows. Raises SpecError."""
    parameters = [name for name in dict.fromkeys(wanted) if name in prepared.spec.parameters]
    own = by_parameters(prepared, parameters) if parameters else None
    prepared = prepared if own is None else own.prepared  # its equations keep parameters that are zero
    known = None if own is None else own.directions
    given, beside = prepared.spec.parameters, partial(_beside, prepared)
    return Differentiated(prepared, joined(prepared.system, prepared.start, wanted, known, given, beside))


def by_parameters(prepared: Prepared, names: Sequence[str]) -> Differentiated:
    """The directions of these parameters, from the start of the prepared problem.

    A parameter that is zero stays in the equations. Raises SpecError where that makes them others, or where the file
    itself reads differently beside a parameter's value; AssemblyError where the start has no derivative.
    """
    spec = prepared.spec
    if missing := [name for name in names if name not in spec.parameters]:
        raise SpecError(Fault(f"there is no parameter {', '.join(missing)}", hint="see PhysicalParams of the file"))
    traced = _Traced(spec, tuple(names))
    prepared = _keeping(prepared, traced)
    system = prepared.system
    changes = _Changes(traced, Numbers(traced.tape, traced.mechanism, system))
    changes.refuse()
    own = changes.of_numbers()
    if isinstance(prepared.start, Start):
        positions, velocities = _start_changes(prepared, prepared.start, traced)
    else:  # a given state stays as it is, but for what the constraints ask of it
        positions, velocities = (np.zeros((system.n, len(names))) for _ in range(2))
    switches = sorted(traced.mechanism.switches, key=lambda switch: switch.time)
    held = tuple({constant: changes.of(value) for constant, value in switch.values.items()} for switch in switches)
    given = {name: changes.of(number) for name, number in traced.given.items()}
    if (last := traced.mechanism.break_at_end) is not None:
        given[BREAK_AT_END] = changes.of(last)
    return Differentiated(prepared, Directions(tuple(names), positions, velocities, own, held, given))


def by_numbers(run: Run, names: Sequence[str]) -> Directions | None:
    """The same of a member of a family that starts from a given state, by the numbers that the family knows; None where
    that is not all there is to it: a start that changes too, tables, a zero that would be left out."""
    member, start = run.member, run.prepared.start
    if member is None or isinstance(start, Start) or run.prepared.system.switches:
        return None
    variation = member.variation
    if any(name not in variation.names for name in names):
        return None
    units = np.eye(len(variation.names))[:, [variation.names.index(name) for name in names]]
    changes = variation.numbers.changes(member.values, units)
    zeros = zip(run.prepared.system.groups, variation.numbers.parameters, strict=True)
    if any(np.any(changes[nodes[i]] != 0) for group, nodes in zeros for i in group.zero_parameters):
        return None
    if not np.isfinite(changes).all():
        return None
    still = np.zeros((run.prepared.system.n, len(names)))
    return Directions(tuple(names), still, still.copy(), variation.numbers.as_changes(changes))


def _keeping(prepared: Prepared, traced: _Traced) -> Prepared:
    """The problem with equations that keep the parameters of the tape."""
    system, structure = keeping(prepared.system, prepared.structure, traced.tape, traced.mechanism, traced.here)
    if system is prepared.system:
        return prepared
    start = prepared.start
    start = replace(start, system=system) if isinstance(start, Start) else start  # a given state is of no system
    return replace(prepared, system=system, structure=structure, start=start)


def _beside(prepared: Prepared, name: str) -> StartChanges | None:
    """Of a start that was found, by a coordinate or a rate of it; None where it was given, or if that coordinate is
    none that it was found by, as those of a pin's second half."""
    start = prepared.start
    if not isinstance(start, Start):
        return None
    if prepared.spec.whole is None:
        system = prepared.system.bilateral
        return coordinate_changes(system, replace(start, system=system), prepared.spec.problem, name)
    whole = _whole(prepared)
    if name.removesuffix("_dot") not in whole.system.labels:
        return None
    system = whole.system.bilateral
    found = coordinate_changes(system, replace(whole.start, system=system), whole.asked, name)
    return _parted(prepared, start, whole, found)


def _start_changes(prepared: Prepared, start: Start, traced: _Traced) -> StartChanges:
    """Of a start that was found. One of pins that events let go is that of the mechanism in which they are whole."""
    if traced.spec.whole is None:
        return _nearest_changes(prepared.system, start, traced, traced.mechanism, traced.problem)
    whole = _whole(prepared)
    mechanism = build(traced.spec.whole, noted=False)
    found = _nearest_changes(whole.system, whole.start, traced, mechanism, traced.timed(traced.spec.whole.problem))
    return _parted(prepared, start, whole, found)


def _whole(prepared: Prepared) -> InitialValueProblem:
    whole = InitialValueProblem.of(prepared.spec).whole
    assert whole is not None
    return whole


def _parted(prepared: Prepared, start: Start, whole: InitialValueProblem, found: StartChanges) -> StartChanges:
    """The changes of the whole mechanism's start in the coordinates of the one whose pins are taken apart."""
    places = _places_in(whole.mechanism, prepared.mechanism, prepared.spec.twins)
    known = places >= 0
    if not np.allclose(whole.start.positions[places[known]], start.positions[known], rtol=0, atol=SAME):
        message = "how the start changes is not known: pins that events let go close in another way"
        raise SpecError(Fault(message, hint="give guesses near to where it starts"))
    return found[0][places] * known[:, None], found[1][places] * known[:, None]


def _nearest_changes(
    system: System, start: Start, traced: _Traced, mechanism: Mechanism, problem: Problem
) -> tuple[np.ndarray, np.ndarray]:
    """Contacts and what sticks have no part in where a motion begins."""
    mechanism = mechanism.bilateral
    system = unfolded(system.bilateral, traced.tape, mechanism, traced.here)
    places = placed(mechanism, problem).numbers()
    changes = _Changes(traced, Numbers(traced.tape, mechanism, system))
    told = Living(mechanism, problem, changes.of, changes.of_numbers(), places)
    return start_changes(system, replace(start, system=system), told)


def _places_in(whole: Mechanism, parted: Mechanism, twins: Mapping[str, str]) -> np.ndarray:
    """Where each coordinate of a parted mechanism is in the whole one; -1 for what that has not, such as accounts."""
    labels = {variable.label: place for place, variable in enumerate(whole.variables)}
    places = np.array([labels.get(variable.label, -1) for variable in parted.variables])
    for own, point in twins.items():
        for slot, other in zip(parted.points[own], whole.points[point], strict=True):
            places[slot] = other
    return places


class _Traced:
    """A file read with some of its parameters living."""

    def __init__(self, spec: MechSpec, names: tuple[str, ...]):
        self.names, self.tape = names, Tape(names, follows=True)
        self.spec: MechSpec = parse(spec.text, spec.path, spec.overrides, spec.files, tape=self.tape, asked=spec.asked)
        self._t0 = spec.problem.t0
        self.problem = self.timed(self.spec.problem)
        self.mechanism: Mechanism = build(self.spec, noted=False)
        values = settled(self.spec.parameters)
        self.given = {name: number.value for name, number in self.spec.parameters.items()}
        if settled(self.spec.problem.tend).value == spec.problem.tend.value:  # else somebody said when it ends
            self.given[END] = self.spec.problem.tend.value
        self.here = np.array([[float(values[name])] for name in names]).reshape(len(names), 1)
        self.guards = dict(self.tape.guards)  # those of the file itself, before its equations add theirs

    def timed(self, problem: Problem) -> Problem:
        """The problem as it is asked, from a time that may not be the file's own."""
        moved = self._t0.value != settled(problem.t0).value
        return replace(problem, t0=self._t0) if moved else problem


class _Changes:
    """How all numbers of a traced file change with its living parameters."""

    def __init__(self, traced: _Traced, numbers: Numbers):
        self.traced, self.numbers = traced, numbers
        self.values = numbers.values(traced.here)[:, 0]
        self.changes = numbers.changes(self.values, np.eye(len(traced.names)))

    def of(self, number: float) -> np.ndarray:
        """The changes of a number, one per parameter."""
        if isinstance(number, LivingNumber):
            return np.asarray(self.changes[number.number])
        return np.zeros(len(self.traced.names))

    def of_numbers(self) -> NumberChanges:
        return self.numbers.as_changes(self.changes)

    def refuse(self) -> None:
        """Raise for what has no derivative, or none that is known."""
        names = self.traced.names
        for (comparison, a, b), outcome in self.traced.guards.items():
            apart = self.changes[a] - self.changes[b]
            if comparison == "equal" and outcome and np.any(apart != 0):
                name = names[int(np.flatnonzero(apart)[0])]
                message = f"the derivative by {name} is not known: the file has another structure beside its value"
                hint = "a zero may leave something out; exponents and outlines of contacts are not differentiated"
                raise SpecError(Fault(message, hint=hint))
        if not np.isfinite(self.changes).all():
            name = names[int(np.flatnonzero(~np.isfinite(self.changes).all(axis=0))[0])]
            raise SpecError(Fault(f"the numbers of the file have no derivative by {name} at its value"))
        mechanism = self.traced.mechanism
        times = [switch.time for switch in mechanism.switches]
        times += [time for sampler in mechanism.samplers for time in (sampler.start, sampler.period)]
        if any(np.any(self.of(time)) for time in times):
            message = "a break of a table, or a sampling time, moves with a parameter whose derivative is asked for"
            raise SpecError(Fault(message, hint="let these times be numbers"))
