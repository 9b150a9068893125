"""Forces in the joints as columns of results, in newtons (see bearings.py)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechsim.kernel.system import System
from mechsim.lagrangian.vector import AXES, PLANE, SPACE
from mechsim.model.mechanism import Mechanism
from mechsim.result.bearings import Actions, Bearing, bearings
from mechsim.result.contacts import direction, turned_left
from mechsim.result.layout import Array

NEGLIGIBLE = 1e-9  # of a force: below this, a force does not take part in what is undetermined


def _judged(vector: Array, whole: bool) -> Array:
    """The sizes by which components count: their own, or that of the largest."""
    sizes = np.abs(vector)
    return np.full_like(sizes, sizes.max(initial=0.0)) if whole else sizes


class Reactions:
    """Columns of forces at chosen points. `system` has all constraints, redundant ones too.

    Per point and part: `A_OA_Fx, A_OA_Fy` in the world frame, `A_OA_Fu, A_OA_Fv` along and across the part (from its
    first to its second point) in the plane; the moment about the point, `A_OA_M` or `A_OAB_Mx` and so on, where the
    joint there has one; then the torque `OA_M` on each part of the plane that something turns.
    """

    def __init__(self, system: System, points: Sequence[str]):
        self.system = system
        self.mechanism: Mechanism = system.mechanism
        self.bearings = bearings(self.mechanism, points)
        self.torques = Actions(self.mechanism).torques({bearing.part.name for bearing in self.bearings})
        self.elements = {number for bearing in self.bearings for number in bearing.elements}
        self.elements |= {number for torque in self.torques.values() for number in torque.elements}
        columns = [column for bearing in self.bearings for column in self._columns(bearing)]
        self.labels = (*columns, *(f"{part}_M" for part in self.torques))
        units = [unit for bearing in self.bearings for unit in self._units(bearing)]
        self.units = (*units, *("N m",) * len(self.torques))

    def table(self, system: System, t: Array, q: Array, v: Array, accelerations: Array, multipliers: Array) -> Array:
        """The columns at many states, (k, columns); `system` as here, perhaps with other constants."""
        rows = system.rows_of(self.elements, t, q, v, accelerations, multipliers)
        columns = []
        for bearing in self.bearings:
            force = bearing.force(rows, q, self.mechanism.dimension)
            columns += [force, self.in_part_frame(bearing, force, q)] if self._has_frame(bearing) else [force]
            columns += [bearing.moment(rows, q, self.mechanism)] if bearing.has_moment else []
        columns += [torque.about_axis(rows, q)[:, None] for torque in self.torques.values()]
        return np.concatenate(columns, axis=1) if columns else np.zeros((len(t), 0))

    def forces(self, t: float, q: Array, v: Array, accelerations: Array, multipliers: Array) -> dict[str, Array]:
        """The force on each part, in the world frame, at one state and at the one point chosen."""
        rows = self.system.rows_of(self.elements, t, q, v, accelerations, multipliers)
        return {each.key: each.force(rows, q, self.mechanism.dimension) for each in self.bearings}

    def undetermined(self, t: float, q: Array, v: Array, freedom: Array, whole: bool) -> set[str]:
        """Columns that change at a pose with multipliers which constraints leave open: `freedom` spans those, forces of
        size 1, (count, m). `whole`: where the direction of a force may turn, all components in the world count."""
        n, m = self.system.n, self.system.m
        at_rest = self.system.rows_of(self.elements, t, q, v, np.zeros(n), np.zeros(m))
        arm = self.mechanism.size or 1.0
        changed: set[str] = set()
        for multipliers in freedom:
            rows = self.system.rows_of(self.elements, t, q, v, np.zeros(n), multipliers)
            change = {element: rows[element] - at_rest[element] for element in rows}
            for bearing in self.bearings:
                force = bearing.force(change, q, self.mechanism.dimension)
                moment = bearing.moment(change, q, self.mechanism) / arm if bearing.has_moment else np.zeros(0)
                within = self.in_part_frame(bearing, force, q) if self._has_frame(bearing) else np.zeros(0)
                groups = [_judged(each, whole) for each in (force, within, moment)]
                columns = zip(self._columns(bearing), np.concatenate(groups), strict=True)
                changed.update(label for label, share in columns if share > NEGLIGIBLE)
            for part, torque in self.torques.items():
                if abs(torque.about_axis(change, q)) / arm > NEGLIGIBLE:
                    changed.add(f"{part}_M")
        return changed

    def in_part_frame(self, bearing: Bearing, force: Array, q: Array) -> Array:
        """A force in the frame of the part of a plane, (..., 2): along it, and across it to the left."""
        first, second = bearing.part.points[:2]
        along = direction((first, second), self.mechanism, q)
        return np.stack([(force * axis).sum(axis=-1) for axis in (along, turned_left(along))], axis=-1)

    def _has_frame(self, bearing: Bearing) -> bool:
        return len(bearing.part.points) > 1 and self.mechanism.dimension == PLANE

    def _columns(self, bearing: Bearing) -> list[str]:
        axes = [*AXES[: self.mechanism.dimension], *("uv" if self._has_frame(bearing) else "")]
        return [*(f"{bearing.name}_F{axis}" for axis in axes), *self._moments(bearing)]

    def _moments(self, bearing: Bearing) -> list[str]:
        """Of the moment about the point: one in the plane."""
        if not bearing.has_moment:
            return []
        return [f"{bearing.name}_M{axis}" for axis in (AXES if self.mechanism.dimension == SPACE else ("",))]

    def _units(self, bearing: Bearing) -> list[str]:
        return ["N m" if label in self._moments(bearing) else "N" for label in self._columns(bearing)]
