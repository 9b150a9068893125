"""The stretches of one motion, each from where it begins, with the directions in which it is differentiated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mechsim.analysis.subject import Case
from mechsim.design.controls import Control
from mechsim.design.course import TEND
from mechsim.design.nodes import Settled, settled
from mechsim.engine import InitialState, State, integrate, order_for
from mechsim.engine.leading import planned
from mechsim.engine.machine import new_march
from mechsim.engine.tangents import END, Directions
from mechsim.errors import IntegrationError
from mechsim.kernel.changes import NumberChanges
from mechsim.kernel.system import System
from mechsim.measure.stretches import Seam, Stretch
from mechsim.model.mechanism import Switch
from mechsim.result.layout import Array
from mechsim.simulation import failure

if TYPE_CHECKING:
    from mechsim.design.shooting import Shooting

INTERVAL = "the end of an interval"


class Parts:
    """The stretches of one motion."""

    def __init__(
        self,
        shooting: Shooting,
        case: Case,
        own: Directions | None,
        grid: Array,
        x: Array,
        sloped: bool,
        probed: bool,
    ):
        self.shooting, self.case, self.own, self.grid, self.x = shooting, case, own, grid, x
        self.sloped, self.probed = sloped, probed
        self.plan = planned(case.system, case.structure)
        order = shooting.settings.order or order_for(shooting.tolerance, self.plan)
        self.order, self.march = order, new_march(self.plan, order, shooting.tolerance)

    def stretch(self, piece: int) -> Stretch:
        shooting, system = self.shooting, self.case.system
        held = shooting.held(self.x, self.grid, piece)
        begun = float(self.grid[piece])
        switches = (*system.switches, Switch(begun, held)) if held else system.switches
        system = system.switching(switches) if held else system
        start, directions = self._begun(piece, system, held)
        solution = integrate(
            system,
            self.case.structure,
            start,
            tend=float(self.grid[piece + 1]),
            tolerance=shooting.tolerance,
            order=self.order,
            ready=(self.plan, self.march),
            tangents=directions if self.sloped else None,
        )
        if solution.status == "interrupted":
            raise KeyboardInterrupt
        if solution.status != "finished":
            raise IntegrationError(failure(solution))
        acting = shooting.acting(piece)
        if self.probed and not piece:
            acting = np.append(acting, len(shooting.names) + np.arange(shooting.width))
        return Stretch(solution, directions, acting)

    def _begun(self, piece: int, system: System, held: Mapping[int, float]) -> tuple[InitialState, Directions]:
        """Where a stretch begins, and the directions in which it is differentiated."""
        shooting, own = self.shooting, self.own or _none(system)
        if not piece:
            start, node = self.case.start, None
            if self.probed:
                chart, q = shooting.charts[0], start.positions
                unknowns = chart.of(q, start.velocities)
                node = settled(_holding(system, held), start.t, chart, unknowns, q, own.numbers)
            return start, self._directed(0, system, start, own, node) if self.sloped else own
        chart, near = shooting.charts[piece], shooting.near(piece)
        t, unknowns = float(self.grid[piece]), shooting.state(self.x, piece)
        node = settled(_holding(system, held), t, chart, unknowns, near, own.numbers if self.sloped else None)
        shooting.known[piece] = node.positions
        begun = State(t, node.positions, node.velocities)
        if not self.sloped:
            return begun, own
        own = replace(
            own, positions=node.by_positions[:, chart.width :], velocities=node.by_velocities[:, chart.width :]
        )
        return begun, self._directed(piece, system, begun, own, node)

    def _directed(
        self, piece: int, system: System, start: InitialState, own: Directions, node: Settled | None
    ) -> Directions:
        """In the order of `Shooting.acting`."""
        place = sum(switch.time <= self.grid[piece] for switch in self.case.system.switches)
        found = replace(own, switches=_with(own.switches, place, {}) if self.shooting.controls else own.switches)
        for _ in self.shooting.ends:
            still = np.zeros((system.n, 1))
            numbers = NumberChanges.none(system, 1)
            found = found.joined(Directions((TEND,), still, still.copy(), numbers, given={END: np.ones(1)}))
        for control in self.shooting.controls:
            found = found.joined(self._of_control(control, piece, system, place))
        if node is not None:
            found = found.joined(self._of_node(system, node))
        return self._moving(found, piece, system, start, place)

    def _of_control(self, control: Control, piece: int, system: System, place: int) -> Directions:
        port, count = control.port, len(control.columns(piece))
        duration = float(self.grid[piece + 1] - self.grid[piece])
        value, *slopes = control.powers / duration ** np.arange(count)[:, None]
        changes = {port.value: value}
        if port.slopes:
            changes |= zip(port.slopes, slopes or [np.zeros(count)] * len(port.slopes), strict=True)
            changes[port.since] = np.zeros(count)
        still = np.zeros((system.n, count))
        names = tuple(f"{control.name} {k}" for k in range(count))
        return Directions(names, still, still.copy(), NumberChanges.none(system, count), _with((), place, changes))

    def _of_node(self, system: System, node: Settled) -> Directions:
        names = tuple(f"state {k}" for k in range(self.shooting.width))
        q, v = (each[:, : len(names)] for each in (node.by_positions, node.by_velocities))
        return Directions.of_state(system, names, q, v)

    def _moving(self, found: Directions, piece: int, system: System, start: InitialState, place: int) -> Directions:
        """Where the motion ends later, this stretch begins later too: at one time it is that much behind."""
        later = found.change_of(END) / self.shooting.count
        if not self.shooting.controls or not later.any():
            return found
        begins, duration = piece * later, float(self.grid[piece + 1] - self.grid[piece])
        changes, held = dict(found.switches[place]), self.shooting.held(self.x, self.grid, piece)
        for port in (control.port for control in self.shooting.controls):
            for power, slope in enumerate(port.slopes, 1):
                changes[slope] = changes[slope] - power * held[slope] / duration * later
            if port.slopes:
                changes[port.since] = changes[port.since] + begins
        switches = (*found.switches[:place], changes, *found.switches[place + 1 :])
        if not piece:
            return replace(found, switches=switches)
        here = _holding(system, held)
        accelerations, _ = here.accelerations(start.t, start.positions, start.velocities)
        positions = found.positions - np.outer(start.velocities, begins)
        velocities = found.velocities - np.outer(accelerations, begins)
        return replace(found, positions=positions, velocities=velocities, switches=switches)

    def seams(self, changes: Array) -> tuple[Seam, ...]:
        """Where stretches meet, and how these times move; `changes` are those of the end."""
        count = self.shooting.count
        if not changes.any():
            return ()
        return tuple(Seam(float(self.grid[k]), k / count * changes, INTERVAL) for k in range(1, count))


Changed = tuple[Mapping[int, np.ndarray], ...]  # what switches set, one after the other


def _with(switches: Changed, place: int, changes: Mapping[int, np.ndarray]) -> Changed:
    """One more among switches, at a place."""
    padded = [*switches, *({} for _ in range(place - len(switches)))]
    return (*padded[:place], changes, *padded[place:])


def _none(system: System) -> Directions:
    nothing = np.zeros((system.n, 0))
    return Directions((), nothing, nothing.copy(), NumberChanges.none(system, 0))


def _holding(system: System, held: Mapping[int, float]) -> System:
    constants = system.constants.copy()
    constants[list(held)] = list(held.values())
    return system.holding(constants)
