"""Directions in which the parameters of a file change: of its numbers, of its start, of what tables set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mechsim.derive import program_for
from mechsim.engine.tangents import Directions
from mechsim.errors import Fault, SpecError
from mechsim.frozen import frozen
from mechsim.initial import Start
from mechsim.initial.sensitivity import Living, start_changes
from mechsim.kernel.changes import NumberChanges
from mechsim.kernel.numbers import Numbers
from mechsim.kernel.system import System
from mechsim.model import build
from mechsim.model.mechanism import Mechanism
from mechsim.simulation import Prepared
from mechsim.spec import parse
from mechsim.spec.document import MechSpec, Problem
from mechsim.spec.living import Living as LivingNumber
from mechsim.spec.living import Tape, settled
from mechsim.spec.suggest import did_you_mean
from mechsim.structure import analyse

DECIDED = 1e-14  # the square of a share of its scale: a coordinate that moves less does not move
BESIDE = 1e-4  # of a parameter: how far beside its value it is looked whether placed points move


@frozen(slots=False)
class Differentiated:
    """A prepared problem whose equations keep every parameter asked for, and the directions of these."""

    prepared: Prepared
    directions: Directions | None

    def joined(self, more: Directions) -> Differentiated:
        """With these directions too."""
        return replace(self, directions=more if self.directions is None else self.directions.joined(more))


def directions_of(prepared: Prepared, wanted: Sequence[str]) -> Differentiated:
    """The directions that a person names: parameters and inputs of the file; coordinates of the start or their rates
    (`A_x`, `theta_OA_dot`), changed by one with the others as little as the constraints allow; or "start", a basis of
    all changes of the start that these allow. Raises SpecError."""
    parameters = [name for name in dict.fromkeys(wanted) if name in prepared.spec.parameters]
    found = by_parameters(prepared, parameters) if parameters else Differentiated(prepared, None)
    prepared = found.prepared  # its equations keep parameters that are zero
    system, start = prepared.system, prepared.start
    for name in dict.fromkeys(wanted):
        if name in parameters:
            continue
        if name in prepared.mechanism.inputs:
            found = found.joined(Directions.of_inputs(system, [name]))
        else:
            basis = Directions.basis(system, start.t, start.positions, start.velocities)
            found = found.joined(basis if name == "start" else _of_coordinate(prepared, name, basis))
    return found


def _of_coordinate(prepared: Prepared, name: str, basis: Directions) -> Directions:
    """The smallest change of the start, in scales, that changes a coordinate or a rate by one."""
    system = prepared.system
    labels = list(system.labels[: system.n])
    label = name.removesuffix("_dot")
    if label not in labels:
        known = [*prepared.spec.parameters, *prepared.mechanism.inputs, *labels, *(f"{each}_dot" for each in labels)]
        hint = did_you_mean(name, [*known, "start"])
        raise SpecError(Fault(f"there is nothing called {name} to differentiate by", hint=hint))
    changes = np.stack([basis.positions, basis.velocities])  # an orthonormal basis in scales, of either level
    own = changes[int(label != name), labels.index(label)]
    length = float(own @ own)
    if not length > DECIDED * system.scales[labels.index(label)] ** 2:
        raise SpecError(Fault(f"nothing to differentiate by: the constraints decide {name} at the start"))
    return Directions.of_state(system, [name], *(changes @ (own / length)[:, None]))


def by_parameters(prepared: Prepared, names: Sequence[str]) -> Differentiated:
    """The directions of these parameters, from the start of the prepared problem.

    A parameter that is zero stays in the equations. Raises SpecError where that makes them others, or where the file
    itself reads differently beside a parameter's value; AssemblyError where the start has no derivative.
    """
    spec = prepared.spec
    if missing := [name for name in names if name not in spec.parameters]:
        raise SpecError(Fault(f"there is no parameter {', '.join(missing)}", hint="see PhysicalParams of the file"))
    traced = _Traced(spec, tuple(names))
    system = traced.unfolded(prepared.system)
    if system is not prepared.system:
        prepared = _checked(prepared, system)
    changes = _Changes(traced, Numbers(traced.tape, traced.mechanism, system))
    changes.refuse()
    own = changes.of_numbers()
    told = Living(traced.mechanism, traced.problem, changes.of, own, changes.moved)
    if isinstance(prepared.start, Start):
        positions, velocities = start_changes(prepared.system, prepared.start, told)
    else:  # a given state stays as it is, but for what the constraints ask of it
        positions, velocities = (np.zeros((system.n, len(names))) for _ in range(2))
    switches = sorted(traced.mechanism.switches, key=lambda switch: switch.time)
    held = tuple({constant: changes.of(value) for constant, value in switch.values.items()} for switch in switches)
    return Differentiated(prepared, Directions(tuple(names), positions, velocities, own, held))


class _Traced:
    """A file read with some of its parameters living."""

    def __init__(self, spec: MechSpec, names: tuple[str, ...]):
        self.names, self.tape = names, Tape(names, follows=True)
        read = parse(spec.text, spec.path, spec.overrides, spec.files, tape=self.tape)
        moved = spec.problem.t0.value != settled(read.problem.t0).value
        self.problem: Problem = replace(read.problem, t0=spec.problem.t0) if moved else read.problem
        self.mechanism: Mechanism = build(read, noted=False)
        values = settled(read.parameters)
        self.here = np.array([[float(values[name])] for name in names]).reshape(len(names), 1)
        self.guards = dict(self.tape.guards)  # those of the file itself, before its equations add theirs

    def unfolded(self, system: System) -> System:
        """The system with programs that keep the parameters that are zero, and change; other zeros stay folded."""
        numbers = Numbers(self.tape, self.mechanism, system)
        values = numbers.values(self.here)[:, 0]
        changes = numbers.changes(values, np.eye(numbers.count))
        groups = []
        for group, nodes in zip(system.groups, numbers.parameters, strict=True):
            alive = {i for i in group.zero_parameters if np.any(changes[nodes[i]] != 0)}
            zeros = group.zero_parameters - alive
            program = program_for(group.kind, zeros, system.complete) if alive else group.program
            groups.append(replace(group, zero_parameters=zeros, program=program) if alive else group)
        if all(one is other for one, other in zip(groups, system.groups, strict=True)):
            return system
        found = System.__new__(System)
        found.__dict__.update({key: value for key, value in system.__dict__.items() if key != "_programs"})
        found.gaps, found.frictions = system.gaps, system.frictions  # which a tuned system computes
        found.mechanism, found.groups = system.mechanism, tuple(groups)
        return found


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
        tables = tuple(self.changes[table] for table in self.numbers.tables)
        return NumberChanges(tables, self.changes[self.numbers.constants], self.changes[self.numbers.scales])

    def moved(self, direction: int) -> tuple[Mechanism, Problem]:
        """Mechanism and problem beside the parameter's value."""
        beside = self.traced.here.copy()
        beside[direction] += BESIDE * (beside[direction] or 1.0)
        values = self.numbers.values(beside)[:, 0]

        def value_of(number: LivingNumber) -> float:
            return float(values[number.number])

        return settled(self.traced.mechanism, value_of), settled(self.traced.problem, value_of)

    def refuse(self) -> None:
        """Raise for what has no derivative, or none that is known."""
        names = self.traced.names
        for (comparison, a, b), outcome in self.traced.guards.items():
            apart = self.changes[a] - self.changes[b]
            if comparison == "equal" and outcome and np.any(apart != 0):
                name = names[int(np.flatnonzero(apart)[0])]
                message = f"the derivative by {name} is not known: the file has another structure beside its value"
                hint = "a zero may leave something out, and exponents are part of a formula: give it another value"
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


def _checked(prepared: Prepared, system: System) -> Prepared:
    """With other equations; SpecError where these have another structure."""
    structure = analyse(system, prepared.structure.redundancy)
    old = prepared.structure
    same = all(
        np.array_equal(getattr(structure, name), getattr(old, name))
        for name in ("march_equation_offsets", "march_variable_offsets")
    )
    if not same:
        message = "a parameter whose derivative is asked for is zero, and beside zero the equations are others"
        raise SpecError(Fault(message, hint="give it a value, however small"))
    start = prepared.start
    start = replace(start, system=system) if isinstance(start, Start) else start  # a given state is of no system
    return replace(prepared, system=system, structure=structure, start=start)
