"""How a start changes with the numbers it is found from: the derivative of the nearest-point problem that it solves.

Positions (and then velocities) minimise a weighted distance to what was asked for, subject to the constraints, with
fixed values held. At the minimum `W (x - g) + J^T multipliers = 0` and `C = 0`; both stay so as numbers change, by a
linear system for the changes, with the matrix of Newton's method in nearest.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mechsim.errors import AssemblyError, Fault
from mechsim.frozen import frozen
from mechsim.initial.assembly import moving_coordinates
from mechsim.initial.closure import dense
from mechsim.initial.nearest import weights_of
from mechsim.initial.newton import DEPENDENT
from mechsim.initial.start import Array, Indices, Start, Wishes, wishes
from mechsim.kernel.changes import Found, NumberChanges, changes_of, gathered
from mechsim.model.mechanism import Element, Mechanism
from mechsim.model.placement import defining_elements
from mechsim.spec.document import Problem
from mechsim.spec.living import plain

if TYPE_CHECKING:
    from mechsim.derive.program import Key
    from mechsim.kernel.system import Group, System

NEAREST = 1e-6  # of the pull towards the guesses: what is left of it along the constraints at a nearest point
CLOSED = 1e-9  # of the changes asked for: constraints that follow from others still do


@frozen(slots=False)
class Living:
    """A mechanism and its problem as the tape of a file has them, and how each number of it changes."""

    mechanism: Mechanism
    problem: Problem
    change_of: Callable[[float], Array]  # of a number, living or not: one change per direction
    numbers: NumberChanges
    placed: Sequence[float]  # where each coordinate is first guessed to be, living too


def start_changes(system: System, start: Start, living: Living) -> tuple[Array, Array]:
    """Changes of the positions and velocities of a start, (n, directions). AssemblyError where they are not known."""
    if start.singular or start.redundancy.rows:
        message = "a start on a singular pose, or with redundant constraints, cannot be differentiated"
        raise AssemblyError(Fault(message))
    if np.any(living.change_of(living.problem.t0.value)):
        raise AssemblyError(Fault("t0 changes with a parameter whose derivative is asked for: give it as a number"))
    return asked_changes(system, start, living, wishes(living.mechanism, living.problem))


def asked_changes(
    system: System, start: Start, living: Living, asked: tuple[Wishes, Wishes], pulled: bool = True
) -> tuple[Array, Array]:
    """The same for what is asked of positions and velocities; if it is not `pulled` towards guesses, the start changes
    as little as it can."""
    q = _positions(system, start, living, asked[0], pulled)
    return q, _velocities(system, start, living, asked[1], q, pulled)


def _positions(system: System, start: Start, living: Living, asked: Wishes, pulled: bool) -> Array:
    t, q, count = start.t, start.positions, living.numbers.count
    target, change = _targets(system, living, asked)
    still = np.zeros((system.n, count))
    point, rows = (t, q, start.velocities), np.flatnonzero(system.levels == 2)

    def gradient_changes(multipliers: Array) -> Array:
        found = changes_of(system, ("gradient",), point, (still, still), living.numbers)
        return _pulled(found, system, multipliers, count)

    def bending(multipliers: Array) -> Array:
        lower = dense(system.constraint_hessian(t, q, multipliers), system.n, system.n)
        return np.asarray(lower + np.tril(lower, -1).T)

    found = changes_of(system, ("constraint",), point, (still, still), living.numbers)
    nearest = _Nearest(
        "positions",
        system,
        (q - target) * pulled,
        change,
        asked,
        rows,
        dense(system.constraint_jacobian(t, q), system.m, system.n),
    )
    missed = gathered(found, lambda g, k: g.multipliers[k[1]], system.m, count)
    return nearest.changes(living.numbers.scales, missed, gradient_changes, bending)


def _velocities(system: System, start: Start, living: Living, asked: Wishes, of_q: Array, pulled: bool) -> Array:
    t, q, v, count = start.t, start.positions, start.velocities, living.numbers.count
    target = asked.written_into(np.zeros(system.n))
    change = np.zeros((system.n, count))
    for index, value in enumerate(asked.values):
        if value is not None:
            change[index] = living.change_of(value.number.value)
    still = np.zeros((system.n, count))

    def gradient_changes(multipliers: Array) -> Array:
        return _pulled(
            changes_of(system, ("gradient", "slope"), (t, q, v), (of_q, still), living.numbers),
            system,
            multipliers,
            count,
        )

    def bending(multipliers: Array) -> Array:
        """Of nonholonomic constraints that are not linear in velocities; there are few, so directions are all tried."""
        none = NumberChanges.none(system, system.n)
        directions = np.zeros((system.n, system.n)), np.eye(system.n)
        return _pulled(changes_of(system, ("slope",), (t, q, v), directions, none), system, multipliers, system.n)

    found = changes_of(system, ("rate",), (t, q, v), (of_q, still), living.numbers)
    jacobian = dense(system.rate_jacobian(t, q, v), system.m, system.n)
    nearest = _Nearest("velocities", system, (v - target) * pulled, change, asked, np.arange(system.m), jacobian)
    missed = gathered(found, lambda g, k: g.multipliers[k[1]], system.m, count)
    bends = bool(np.any(system.levels == 1))
    return nearest.changes(living.numbers.scales, missed, gradient_changes, bending if bends else None)


def _pulled(found: Found, system: System, multipliers: Array, count: int) -> Array:
    """Changes of the gradients of constraints, times their multipliers: (n, directions)."""
    total = np.zeros((system.n + 1, count))
    for group, keys, values in found:
        for key, value in zip(keys, values, strict=True):
            row, column = _place(group, key)
            inside = (row >= 0) & (column >= 0)
            np.add.at(total, column[inside], multipliers[row[inside]][:, None] * value[inside])
    return total[: system.n]


def _place(group: Group, key: Key) -> tuple[np.ndarray, np.ndarray]:
    first = group.kind.constraint_count if key[0] == "slope" else 0
    return group.multipliers[first + key[1]], group.variables[key[2]]


class _Nearest:
    """The point of least weighted distance on the constraints of `rows`, `off` its target; in scaled coordinates."""

    def __init__(
        self, what: str, system: System, off: Array, target_change: Array, asked: Wishes, rows: Indices, jacobian: Array
    ):
        self.what, self.system, self.rows = what, system, rows
        self.scales = system.scales[: system.n]
        self.free = np.setdiff1d(moving_coordinates(system.mechanism), asked.fixed)
        self.held = np.setdiff1d(np.arange(system.n), self.free)
        self.cost = weights_of(asked.guessed, system.n)
        self.off, self.target_change = off / self.scales, target_change / self.scales[:, None]
        scaled = jacobian[rows] * self.scales
        lengths = np.linalg.norm(scaled, axis=1)
        self.lengths = np.where(lengths > 0, lengths, 1.0)
        self.jacobian = scaled / self.lengths[:, None]
        left, sizes, right = np.linalg.svd(self.jacobian[:, self.free])
        rank = int(np.sum(sizes > DEPENDENT))
        self.along = right[rank:].T
        self.solved = (right[:rank].T / sizes[:rank]) @ left[:, :rank].T  # the smallest step that meets the constraints

    def changes(
        self,
        scale_changes: Array,
        missed: Array,
        gradient_changes: Callable[[Array], Array],
        bending: Callable[[Array], Array] | None,
    ) -> Array:
        """(n, directions). `missed` is how the constraints change, `gradient_changes` how their gradients do, times
        multipliers, at this point; `bending` their second derivatives."""
        free, held = self.free, self.held
        change = self.target_change.copy()  # what is held goes where it is told to
        wanted = -(missed[self.rows] / self.lengths[:, None]) - self.jacobian[:, held] @ change[held]
        step = self.solved @ wanted
        left = np.abs(self.jacobian[:, free] @ step - wanted).max(initial=0.0)
        if left > CLOSED * max(1.0, np.abs(wanted).max(initial=0.0)):
            message = f"the constraints at the start can not all be met beside it: its {self.what} have no derivative"
            raise AssemblyError(Fault(message, hint="fixed values that depend on each other must stay as they are"))
        change[free] = step
        if self.along.shape[1]:
            change[free] += self._along(change, scale_changes, gradient_changes, bending)
        return np.asarray(change * self.scales[:, None])

    def _along(
        self,
        change: Array,
        scale_changes: Array,
        gradient_changes: Callable[[Array], Array],
        bending: Callable[[Array], Array] | None,
    ) -> Array:
        """What keeps the distance least."""
        free, scales = self.free, self.scales[:, None]
        pull = self.cost * self.off
        balance = -self.solved.T @ pull[free]
        rest = self.along.T @ pull[free]
        if np.abs(rest).max() > NEAREST * max(np.abs(pull).max(), NEAREST):
            message = f"the {self.what} of this start are not those nearest to the guesses: they have no derivative"
            raise AssemblyError(Fault(message, hint="fix or guess more of them, near to what they are"))
        multipliers = np.zeros(self.system.m)
        multipliers[self.rows] = balance / self.lengths
        curvature = np.diag(self.cost)
        if bending is not None:
            curvature = curvature + bending(multipliers) * self.scales * scales
        inverse = np.linalg.inv(self.along.T @ curvature[np.ix_(free, free)] @ self.along)
        force = self.cost[:, None] * self.target_change - scales * gradient_changes(multipliers)
        # The distance is measured in scales, which change too.
        force = force + 2 * (self.cost * self.off)[:, None] * scale_changes / scales
        force = force - curvature @ change
        return np.asarray(self.along @ (inverse @ (self.along.T @ force[free])))


def _targets(system: System, living: Living, asked: Wishes) -> tuple[Array, Array]:
    """What positions are nearest to, and its changes. Points that nobody placed go with the shapes that place them."""
    mechanism = system.mechanism
    target = asked.written_into(np.array([plain(number) for number in living.placed]))
    change = np.zeros((system.n, living.numbers.count))
    for index, (value, guess) in enumerate(zip(asked.values, living.placed, strict=True)):
        change[index] = living.change_of(guess if value is None else value.number.value)
    parts, defining = {part.name: part for part in mechanism.parts}, defining_elements(mechanism)
    for index, variable in enumerate(mechanism.variables):
        if variable.kind != "angle" or asked.values[index] is not None or index in living.mechanism.guesses:
            continue
        if index in defining:
            change[index] = _turning_about(index, defining[index], target, change, system, living)
        else:
            ends = [mechanism.points[name] for name in parts[variable.owner].points[:2]]
            change[index] = _turning(target, change, system, living, ends)
    if len(lost := np.flatnonzero(~np.isfinite(change).all(axis=1))):
        name = system.labels[lost[0]]
        message = f"the start has no derivative: how the place of {name} changes, which shapes of parts tell, has none"
        raise AssemblyError(Fault(message, hint=f"give a guess for {name}, or fix it"))
    return target, change


def _turning_about(
    index: int, defining: Element, target: Array, change: Array, system: System, living: Living
) -> Array:
    """The change of an angle about an axis with the points that tell it, by the row that defines it."""
    number = next(place for place, each in enumerate(system.mechanism.elements) if each is defining)
    group = next(each for each in system.groups if number in each.elements)
    moved = np.column_stack([change, np.zeros(system.n)])
    moved[index] = np.append(np.zeros(living.numbers.count), 1.0)  # the angle alone is one more direction
    numbers = living.numbers.joined(NumberChanges.none(system, 1))
    still = np.zeros_like(moved), np.zeros_like(target)
    ((_, _, values),) = changes_of(
        system, ("constraint",), (0.0, target, still[1]), (moved, still[0]), numbers, (group,)
    )
    *missed, slope = values[0][group.elements.index(number)]
    with np.errstate(all="ignore"):
        return np.divide(np.negative(missed), slope)


def _turning(target: Array, change: Array, system: System, living: Living, ends: Sequence[Sequence[int]]) -> Array:
    """The change of a part's direction with its first two points."""
    (ax, ay), (bx, by) = ([target[s] if s >= 0 else system.constants[-1 - s] for s in end[:2]] for end in ends)
    moved = [[change[s] if s >= 0 else living.numbers.constants[-1 - s] for s in end[:2]] for end in ends]
    x, y = bx - ax, by - ay
    dx, dy = moved[1][0] - moved[0][0], moved[1][1] - moved[0][1]
    return np.asarray((x * dy - y * dx) / (x * x + y * y))
