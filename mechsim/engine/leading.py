"""Accelerations and multipliers along a march: what the kernel finds first at a consistent state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial

import numpy as np

from mechsim.engine.control import REJECTION
from mechsim.engine.points import Points
from mechsim.kernel.compiled import make_march
from mechsim.kernel.plan import Plan, make_plan
from mechsim.kernel.system import System
from mechsim.structure import Structure

ROUNDINGS = 1e-15  # of a coordinate
ORDINARY = 30.0  # leverage; only beyond may roundings decide
UNSURE = 1e-7  # of the largest acceleration or multiplier of a row: then a series knows better,
LOST = 1e-2  # and then nothing is known without one
WILD = 1e9  # of scales and speeds: how far a state may be put back on constraints, whatever it was


def _shaken(points: Points) -> Points:
    """The same states, off by some roundings in directions of no special kind."""
    q, v = points.q, points.v
    signs = np.cos(1.0 + np.arange(q.shape[1]) ** 2)
    return replace(points, q=q + ROUNDINGS * signs * np.abs(q), v=v + ROUNDINGS * signs[::-1] * np.abs(v))


def _change(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """By what share of its largest entry each row changed, (k,); NaN where one is no number."""
    with np.errstate(all="ignore"):
        return np.abs(one - other).max(axis=1, initial=0.0) / np.abs(one).max(axis=1, initial=1e-300)


def planned(system: System, structure: Structure) -> Plan:
    """The plan for a system by its structure."""
    offsets = structure.march_equation_offsets, structure.march_variable_offsets
    return make_plan(system, *offsets, structure.redundancy.spare, len(structure.redundancy.rows))


class Leading:
    """Solves for accelerations and multipliers at many states, by the sparse factorization of the march.

    States are off by no more than the tolerance explains, unless they are `rough`, read from a file perhaps, or given
    with velocities of any kind (`wild`), of which what constraints allow is wanted. `order` are the terms of series.
    """

    def __init__(
        self,
        system: System,
        structure: Structure,
        tolerance: float,
        rough: bool = False,
        plan: Plan | None = None,
        wild: bool = False,
        order: int = 1,
    ):
        self.system = system
        self.plan = plan or planned(system, structure)
        rejection = WILD if wild else 1.0 if rough else REJECTION * tolerance
        self.order = order
        self.march = make_march(self.plan, order=order, tolerance=tolerance, safety=1.0, rejection=rejection)
        self._make = partial(Leading, system, structure, tolerance, rough, self.plan, wild)
        self.constants = np.array(system.constants)
        self._new = self.march.snapshot()

    def renew(self) -> None:
        """As if it had not been used: pivots that it chose before would change roundings."""
        self.march.restore(self._new)
        self.constants[:] = self.system.constants
        if "_further" in vars(self):
            self._further.renew()

    @cached_property
    def _further(self) -> Leading:
        return self._make(order=2)

    def __call__(self, points: Points) -> tuple[np.ndarray, np.ndarray]:
        """(k, n) accelerations and (k, m) multipliers at consistent states.

        Near a singular pose roundings decide them: where they would, they are those of the points' series, or NaN.
        """
        n, series = self.system.n, points.series
        found, leverage = self._found(points)
        accelerations, multipliers = 2.0 * found[:, 2, :n], found[:, 0, n:]
        near = np.flatnonzero(leverage > ORDINARY)
        if len(near):
            shaken, _ = self._found(_shaken(points[near]))
            change = _change(accelerations[near], 2.0 * shaken[:, 2, :n])
            if not self.plan.redundant:  # else rows may rest in several ways, and multipliers differ with them
                change = np.maximum(change, _change(multipliers[near], shaken[:, 0, n:]))
            instead = series or (np.full_like(accelerations, np.nan), np.full_like(multipliers, np.nan))
            known = np.isfinite(instead[0][near]).all(axis=1)
            unsure = near[~(change <= np.where(known, UNSURE, LOST))]
            accelerations[unsure], multipliers[unsure] = (each[unsure] for each in instead)
        return accelerations, multipliers

    def jerks(self, points: Points) -> np.ndarray:
        """(k, n) rates of accelerations at consistent states, by one term more of the series there; NaN where roundings
        would decide them."""
        n = self.system.n
        found, leverage = self._further._found(points)
        near = np.flatnonzero(leverage > ORDINARY)
        if len(near):
            change = _change(found[near, 3, :n], self._further._found(_shaken(points[near]))[0][:, 3, :n])
            found[near[~(change <= LOST)], 3] = np.nan
        return np.asarray(6.0 * found[:, 3, :n])

    def states(self, points: Points) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coordinates, velocities and multipliers of the consistent states nearest to these (unknowns and rates)."""
        n = self.system.n
        found, _ = self._found(points)
        return found[:, 0, :n], found[:, 1, :n], found[:, 0, n:]

    def _found(self, points: Points) -> tuple[np.ndarray, np.ndarray]:
        """What the kernel finds at states given by some or all of their unknowns, and the leverage there."""
        count, orders = len(points), int(self.plan.variable_offsets.max())
        states = np.zeros((count, orders, self.plan.size))
        for order, values in enumerate((points.q, points.v)[:orders]):
            states[:, order, : values.shape[1]] = values
        found, leverage = np.zeros((count, max(orders, 2) + self.order, self.plan.size)), np.zeros(count)
        for part in points.alike():
            self._hold(points.system_at(part.start).constants)
            found[part, : orders + self.order], leverage[part] = self.march.project(
                np.ascontiguousarray(points.t[part]), states[part]
            )
        return found, leverage

    def _hold(self, constants: np.ndarray) -> None:
        for number in np.flatnonzero(constants != self.constants):
            self.march.set_constant(int(number), float(constants[number]))
            self.constants[number] = constants[number]


class Leadings:
    """What several threads may ask at once: each takes a Leading of its own, as new."""

    def __init__(self, make: Callable[[], Leading]):
        self._make = make
        self._free: list[Leading] = []

    def __call__(self, points: Points) -> tuple[np.ndarray, np.ndarray]:
        with self._lent() as leading:
            return leading(points)

    def jerks(self, points: Points) -> np.ndarray:
        with self._lent() as leading:
            return leading.jerks(points)

    def states(self, points: Points) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        with self._lent() as leading:
            return leading.states(points)

    @contextmanager
    def _lent(self) -> Iterator[Leading]:
        try:
            leading = self._free.pop()  # one call: another thread gets another one
            leading.renew()
        except IndexError:
            leading = self._make()
        yield leading
        self._free.append(leading)  # not after an error
