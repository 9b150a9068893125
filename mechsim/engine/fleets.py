"""Fleets of the kernel: motions of one plan, with any numbers of it, side by side in SIMD lanes (src/fleet.hpp)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import NamedTuple, NoReturn

import numpy as np

from mechsim.engine.machine import new_march
from mechsim.engine.state import InitialState, state_of
from mechsim.frozen import frozen
from mechsim.kernel import _kernel
from mechsim.kernel.numbers import KernelNodes, Numbers, TunedPlan, TunedSystem
from mechsim.kernel.plan import Plan
from mechsim.kernel.system import System
from mechsim.model.mechanism import Mechanism


class Tables(NamedTuple):
    """The numbers of a plan, as the kernel reads them."""

    blocks: np.ndarray
    constants: np.ndarray  # of the mechanism
    scales: np.ndarray
    matrix: np.ndarray  # its constant parts


class Fleets:
    """Fleets of one plan; they may serve many calls, and threads take one each.

    The pivots are chosen at `reference`, a state of the plan's own numbers: with the same reference a motion is the
    same bit by bit, whatever other motions there are.
    """

    def __init__(self, system: System, plan: Plan, reference: InitialState, order: int, tolerance: float):
        self.plan, self.order, self.tolerance = plan, order, tolerance
        self.t = float(reference.t)
        self.state = state_of(system, plan.variable_offsets, reference)
        self._free: list[_kernel.Fleet] = []

    @contextmanager
    def one(self) -> Iterator[_kernel.Fleet]:
        """A fleet for one caller."""
        try:
            fleet = self._free.pop()  # one call: another thread gets another fleet
        except IndexError:
            march = new_march(self.plan.written_out, self.order, self.tolerance)
            fleet = _kernel.Fleet(march, self.t, self.state, 0)
        yield fleet
        self._free.append(fleet)

    @cached_property
    def width(self) -> int:
        """How many motions go side by side."""
        with self.one() as fleet:
            return int(fleet.width)

    def __reduce__(self) -> NoReturn:
        raise TypeError("fleets are not pickled; they are made anew")


@frozen(slots=False)
class Sets:
    """Many sets of parameters: the values of all nodes of a tape, (nodes, sets), see `Numbers.values`."""

    numbers: Numbers
    values: np.ndarray
    living: Mechanism

    @cached_property
    def hold(self) -> np.ndarray:
        """For each set, whether the mechanism is the same but for its numbers."""
        return self.numbers.hold(self.values)

    def system(self, like: System, k: int) -> System:
        return TunedSystem(like, self.numbers, np.ascontiguousarray(self.values[:, k]), self.living)

    def plan(self, like: Plan, system: System, k: int) -> Plan:
        return TunedPlan(like, self.numbers, np.ascontiguousarray(self.values[:, k]), system)


class NumberTables:
    """The numbers that the kernel reads, for chosen sets of parameters: (sets, ...) each, or (1, ...) of the plan."""

    def __init__(self, plan: Plan, sets: Sets | None):
        plan = plan.written_out
        self.plan, self.sets = plan, sets
        if sets is None:
            tables = [block.constants.ravel() for block in (*plan.blocks, *plan.jacobian_blocks)]
            own = (np.concatenate([*tables, np.zeros(0)]), plan.constants, plan.scales, plan.matrix_constant)
            self._own = Tables(*(np.ascontiguousarray(table, dtype=float) for table in own))
        else:
            self._nodes = KernelNodes(plan, sets.numbers)

    def of(self, chosen: np.ndarray) -> Tables:
        if self.sets is None:
            return self._own
        plan, numbers, values = self.plan, self.sets.numbers, self.sets.values[:, chosen]
        others = plan.scales[len(numbers.scales) :, None] * np.ones(len(chosen))
        columns = (
            values[self._nodes.tables],
            np.concatenate([values[numbers.constants], np.zeros((1, len(chosen)))]),
            np.concatenate([values[numbers.scales], others]),
            self._nodes.matrix(values),
        )
        return Tables(*(np.ascontiguousarray(column.T) for column in columns))
