"""One motion of a handle: a prepared problem, and the march of its family where it belongs to one."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace

import numpy as np

from mechsim.analysis.flow import projected
from mechsim.engine import State
from mechsim.engine.leading import planned
from mechsim.errors import AssemblyError, Fault, SpecError
from mechsim.frozen import frozen
from mechsim.handle.derivatives import directions_of
from mechsim.handle.family import Member
from mechsim.initial.assembly import with_state_rates
from mechsim.initial.many import OFF
from mechsim.initial.overlaps import refuse_overlaps
from mechsim.kernel.plan import Plan
from mechsim.kernel.system import System
from mechsim.result import Motion
from mechsim.result.layout import Array
from mechsim.simulation import Prepared, asking, motion_of
from mechsim.structure import is_singular


@frozen
class Run:
    """What is to be integrated; `member` is None where the file had to be read again."""

    prepared: Prepared
    member: Member | None

    @property
    def plan(self) -> Plan:
        return planned(self.prepared.system, self.prepared.structure) if self.member is None else self.member.plan

    def starting(self, state: State, nearest: bool = False) -> Run:
        """The same from a state, which must satisfy the constraints, or from the one `nearest` to it that does."""
        if nearest:
            positions = projected(self.prepared.independent, state.t, state.positions, state.velocities)
            state = State(state.t, *positions)
        return replace(self, prepared=replace(self.prepared, start=consistent(self.prepared, state)))

    def asking(self, accelerations: Sequence[str] | None, jerks: Sequence[str] | None = None) -> Run:
        """The same with these accelerations and jerks as columns. Raises SpecError."""
        prepared = self.prepared
        spec = asking(prepared.spec, accelerations, jerks)
        if spec is prepared.spec:
            return self
        labels = {variable.label for variable in prepared.mechanism.variables}
        output = spec.output
        for angle in (name for name in (*output.accelerations, *output.jerks) if name.startswith("theta_")):
            if angle not in labels:
                hint = "name it in Output.accelerations (or jerks) of the file, which makes it one"
                raise SpecError(Fault(f"the turn angle {angle} is no coordinate of this mechanism", hint=hint))
        system = copy(prepared.system)
        system.mechanism = replace(system.mechanism, accelerations=output.accelerations, jerks=output.jerks)
        return replace(self, prepared=replace(prepared, spec=spec, system=system))

    def motion(self, reactions: Sequence[str] | None, keep: str, tangents: Sequence[str] = ()) -> Motion:
        """The motion, with its derivatives by what `tangents` name."""
        if tangents:
            found = directions_of(self.prepared, tangents)
            return motion_of(found.prepared, reactions, keep, tangents=found.directions)
        if self.member is None:
            return motion_of(self.prepared, reactions, keep)
        solver = self.prepared.spec.solver
        machines = self.member.machines(solver.order, solver.tolerance)
        with machines.march(self.member.plan, self.member.values) as march:
            return motion_of(self.prepared, reactions, keep, ready=(self.member.plan, march), order=machines.order)


def consistent(prepared: Prepared, state: State) -> State:
    """A state to start from, with the rates of integrals; AssemblyError where it does not satisfy the constraints."""
    system, t, q, v = prepared.system, state.t, state.positions, state.velocities
    bonds = [row for row, gap in zip(system.gap_rows, system.gaps, strict=True) if gap.bond]
    for what, off in misfits(system, t, q, v).items():
        if state.handed_on is not None:
            off[bonds] = 0.0  # they are as that motion left them
        if len(off) and not off.max() <= OFF:
            label = system.labels[system.n + int(np.argmax(off))]
            message = f"the {what} to start from are not consistent: {label} is missed by {off.max():.3g} of the size"
            raise AssemblyError(Fault(message, hint="start from a state of a motion, or from `handle.start()`"))
    v = with_state_rates(prepared.mechanism, system, t, q, v.copy())
    refuse_overlaps(system, state)
    singular = bool(is_singular(prepared.independent, t, q))
    return replace(state, positions=q.copy(), velocities=v, singular=singular)


def misfits(system: System, t: float, q: Array, v: Array) -> dict[str, Array]:
    """By how much each constraint is missed: in positions relative to size, in velocities to size and speed."""
    lengths = system.gradient_lengths(t, q, v)
    lengths = np.where(lengths > 0, lengths, 1.0)
    speed = max(1.0, float(np.max(np.abs(v / system.scales[: system.n]), initial=0.0)))
    rates = system.constraint_rate(t, q, v) / (lengths * speed)
    return {"positions": np.abs(system.constraints(t, q) / lengths), "velocities": np.abs(rates)}
