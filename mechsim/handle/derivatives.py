"""Directions in which the parameters of a file change: of its numbers, of its start, of what tables set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mechsim.derive import program_for
from mechsim.engine.tangents import Directions
from mechsim.errors import Fault, SpecError
from mechsim.initial.sensitivity import Living, start_changes
from mechsim.kernel.changes import NumberChanges
from mechsim.kernel.numbers import Numbers
from mechsim.kernel.system import System
from mechsim.model import build
from mechsim.simulation import Prepared
from mechsim.spec import parse
from mechsim.spec.document import MechSpec
from mechsim.spec.living import Living as LivingNumber
from mechsim.spec.living import Tape, settled
from mechsim.structure import analyse

BESIDE = 1e-4  # of a parameter: how far beside its value it is looked whether placed points move


@dataclass(frozen=True)
class Differentiated:
    """A prepared problem whose equations keep every parameter asked for, and the directions of these."""

    prepared: Prepared
    directions: Directions


def by_parameters(prepared: Prepared, names: Sequence[str]) -> Differentiated:
    """The directions of these parameters, from the file's own start.

    A parameter that is zero stays in the equations. Raises SpecError where that makes them others, or where the file
    itself reads differently beside a parameter's value; AssemblyError where the start has no derivative.
    """
    spec = prepared.spec
    if missing := [name for name in names if name not in spec.parameters]:
        raise SpecError(Fault(f"there is no parameter {', '.join(missing)}", hint="see PhysicalParams of the file"))
    tape = Tape(tuple(names))
    read = parse(spec.text, spec.path, spec.overrides, spec.files, tape=tape)
    living = build(read, noted=False)
    here = np.array([[float(spec.parameters[name])] for name in names])
    pinned = list(tape.guards.items())
    system = _unfolded(prepared.system, Numbers(tape, living, prepared.system), here)
    numbers = Numbers(tape, living, system)
    values = numbers.values(here)[:, 0]
    changes = numbers.changes(values, np.eye(len(names)))
    _refuse_pinned(names, pinned, values, changes)
    if system is not prepared.system:
        prepared = _checked(prepared, system)
    if not np.isfinite(changes).all():
        column = int(np.flatnonzero(~np.isfinite(changes).all(axis=0))[0])
        raise SpecError(Fault(f"the numbers of the file have no derivative by {names[column]} at its value"))
    tables = tuple(changes[table] for table in numbers.tables)
    own = NumberChanges(tables, changes[numbers.constants], changes[numbers.scales])

    def change_of(number: float) -> np.ndarray:
        return changes[number.number] if isinstance(number, LivingNumber) else np.zeros(len(names))

    def moved(direction: int) -> tuple[object, object]:
        beside = here.copy()
        beside[direction] += BESIDE * (beside[direction] or 1.0)
        all_values = numbers.values(beside)[:, 0]
        plain = (settled(each, lambda number: float(all_values[number.number])) for each in (living, read.problem))
        return next(plain), next(plain)

    _refuse_times(living, change_of)
    told = Living(living, _timed(read, prepared.spec), change_of, own, moved)
    positions, velocities = start_changes(prepared.system, prepared.start, told)
    switches = tuple({c: change_of(value) for c, value in switch.values.items()} for switch in sorted(living.switches, key=lambda switch: switch.time))
    return Differentiated(prepared, Directions(tuple(names), positions, velocities, own, switches))


def _timed(read: MechSpec, spec: MechSpec) -> object:
    """The problem of the file, at the times of the run."""
    if float(spec.problem.t0) != read.problem.t0.value + 0.0:
        return replace(read.problem, t0=spec.problem.t0)
    return read.problem


def _unfolded(system: System, numbers: Numbers, here: np.ndarray) -> System:
    """The system with programs that keep the parameters that are zero, and change. Elements whose other zeros stay
    keep these folded."""
    values = numbers.values(here)[:, 0]
    changes = numbers.changes(values, np.eye(numbers.count))
    groups = []
    for group, nodes in zip(system.groups, numbers.parameters, strict=True):
        alive = {i for i in group.zero_parameters if np.any(changes[nodes[i]] != 0)}
        if alive:
            zeros = group.zero_parameters - alive
            group = replace(group, zero_parameters=zeros, program=program_for(group.kind, zeros, system.complete))
        groups.append(group)
    if all(one is other for one, other in zip(groups, system.groups, strict=True)):
        return system
    found = System.__new__(System)
    found.__dict__.update({key: value for key, value in system.__dict__.items() if key != "_programs"})
    found.groups = tuple(groups)
    return found


def _checked(prepared: Prepared, system: System) -> Prepared:
    """With other equations; SpecError where these have another structure."""
    structure = analyse(system, prepared.start.redundancy)
    old = prepared.structure
    same = all(
        np.array_equal(getattr(structure, name), getattr(old, name))
        for name in ("march_equation_offsets", "march_variable_offsets")
    )
    if not same:
        message = "a parameter whose derivative is asked for is zero, and beside zero the equations are others"
        raise SpecError(Fault(message, hint="give it a value, however small"))
    return replace(prepared, system=system, structure=structure, start=replace(prepared.start, system=system))


def _refuse_pinned(
    names: Sequence[str], guards: list[tuple[tuple[str, int, int], bool]], values: np.ndarray, changes: np.ndarray
) -> None:
    """The file reads differently where two numbers are equal: a parameter that would part them has no derivative."""
    for (comparison, a, b), outcome in guards:
        apart = changes[a] - changes[b]
        if comparison == "equal" and outcome and np.any(apart != 0):
            name = names[int(np.flatnonzero(apart)[0])]
            message = f"the derivative by {name} is not known: the file has another structure beside its value"
            hint = "a zero may leave something out, and exponents are part of a formula: give it another value"
            raise SpecError(Fault(message, hint=hint))


def _refuse_times(living: object, change_of: object) -> None:
    """Times at which tables and controllers change something must stay."""
    moving = [
        *(switch.time for switch in living.switches),  # type: ignore[attr-defined]
        *(time for sampler in living.samplers for time in (sampler.start, sampler.period)),  # type: ignore[attr-defined]
    ]
    if any(np.any(change_of(time)) for time in moving):  # type: ignore[operator]
        message = "a break of a table, or a sampling time, moves with a parameter whose derivative is asked for"
        raise SpecError(Fault(message, hint="let these times be numbers"))
