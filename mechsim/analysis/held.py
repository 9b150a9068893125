"""Momenta along symmetries at a state, and how they change with it: what steady motions of one start have in common."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechsim.analysis.carried import View
from mechsim.derive.told import impelled
from mechsim.kernel.changes import NumberChanges, changes_of
from mechsim.kernel.system import System
from mechsim.result.layout import Array


class Momenta:
    """dL/dv . G of sums of candidates, by their factors (sums, candidates)."""

    def __init__(self, system: System, factors: Array):
        self.factors = factors
        kinds = dict(system.kinds)
        told = {kind.name: impelled(kind) for kind in system.kinds.values() if kind.kinetic or kind.lagrangian}
        kinds |= {kind.name: kind for kind in told.values()}
        elements = tuple(
            replace(each, kind=told[each.kind].name) if each.kind in told else each
            for each in system.mechanism.elements
        )
        self.system = System(replace(system.mechanism, elements=elements), kinds, system.dropped)
        names = {kind.name for kind in told.values()}
        self._groups = tuple(group for group in self.system.groups if group.kind.name in names)

    def at(self, view: View) -> tuple[Array, Array]:
        """(sums,), and how they change along what is allowed, (sums, directions)."""
        return self._along(view, view.moved[0], view.moved[1])

    def rates(self, view: View) -> Array:
        """How they change as the motion goes on, 1/s of the largest that they could."""
        local = view.local
        _, changes = self._along(view, local.v[:, None], local.a[:, None])
        _, most = self.at(view)
        speed = max(float(np.linalg.norm(view.flow)) / view.time, 1e-300)
        return np.asarray(changes[:, 0] / np.maximum(np.linalg.norm(most, axis=1), 1e-300) / speed)

    def _along(self, view: View, dq: Array, dv: Array) -> tuple[Array, Array]:
        local = view.local
        speeds, _ = view.candidates.moved(local.q[None], local.v[None])
        bends, _ = view.candidates.changes(local.q, local.v, dq, dv)
        momentum, changes = self._momentum((local.t, local.q, local.v), (dq, dv))
        along = speeds[0] @ self.factors.T
        turning = np.einsum("n,dnk->kd", momentum, bends @ self.factors.T)
        return along.T @ momentum, along.T @ changes + turning

    def _momentum(self, point: tuple[float, Array, Array], moved: tuple[Array, Array]) -> tuple[Array, Array]:
        """dL/dv of the coordinates, and its changes, (n, directions)."""
        n, count = self.system.n, moved[0].shape[1]
        changes = changes_of(
            self.system, ("signal",), point, moved, NumberChanges.none(self.system, count), self._groups
        )
        values = self.system._values(("signal",), *point, groups=self._groups)
        total, change = np.zeros(n + 1), np.zeros((n + 1, count))  # what is fixed goes to the end
        for (group, keys, own), (_, _, other) in zip(values, changes, strict=True):
            for (_, place), value, changed in zip(keys, own, other, strict=True):
                slots = np.where(group.variables[place] < 0, n, group.variables[place])
                np.add.at(total, slots, np.broadcast_to(value, (group.lanes,)))
                np.add.at(change, slots, changed)
        return total[:n], change[:n]
