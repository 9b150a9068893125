"""Coordinates that describe a state: those of the mechanism, or functions y = f(q, t) of a user's choice; and how they,
their rates and their second rates change.

With y' = f_q v + f_t and y'' = c(q, v, t) + f_q a, where c is y'' along a straight motion, all changes follow from
first derivatives of f, y' and c: that of f_q a is the change of y' where a stands for v, less that where nothing moves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import scipy.linalg

from mechsim.analysis.flow import NEVER, Local
from mechsim.derive.told import curved
from mechsim.errors import Fault, SpecError
from mechsim.frozen import frozen
from mechsim.kernel.changes import NumberChanges, changes_of
from mechsim.kernel.system import System
from mechsim.result.layout import Array
from mechsim.spec.suggest import did_you_mean


@frozen(eq=False)
class Charted:
    """Coordinates and rates that describe a state, and how these states and the rates of them change along all
    directions there, (states, directions) each."""

    coordinates: tuple[str, ...]
    names: tuple[str, ...]
    states: Array
    rates: Array


def charted(local: Local, coordinates: Sequence[str] | None, functions: Mapping[str, str]) -> Charted:
    """By the coordinates asked for, or by some that describe the state well. `functions` are names of coordinates that
    are signals, with the names of these. Raises SpecError."""
    if coordinates is None:
        return _well_charted(local)
    labels, wanted = local.flow.labels, tuple(dict.fromkeys(coordinates))
    for name in wanted:
        if name not in labels and name not in functions:
            raise SpecError(Fault(f"there is no coordinate {name}", hint=did_you_mean(name, [*labels, *functions])))
    rows, gradients = _rows(local, wanted, functions)
    _require_independent(wanted, gradients @ local.bases[0])
    states = [labels[place] for place in local.flow.states]
    moving = [k for k, name in enumerate(wanted) if name not in states]
    moving = [moving[k] for k in _independent(gradients[moving] @ local.bases[1])]
    return Charted(
        wanted,
        (*wanted, *(f"{wanted[k]}_dot" for k in moving)),
        np.concatenate([rows[0], rows[1][moving]]),
        np.concatenate([rows[1], rows[2][moving]]),
    )


def _well_charted(local: Local) -> Charted:
    chart, (q, v, a) = local.chart(), local.moved
    places, rates = list(chart.positions), list(chart.velocities)
    names = tuple(chart.labels[place] for place in places)
    return Charted(names, chart.names, np.concatenate([q[places], v[rates]]), np.concatenate([v[places], a[rates]]))


def _rows(local: Local, wanted: Sequence[str], functions: Mapping[str, str]) -> tuple[Array, Array]:
    """Changes of coordinates and of their first two rates, (3, coordinates, directions), and how coordinates change
    with positions in scales, as directions of length one."""
    labels, n = local.flow.labels, len(local.flow.labels)
    rows, gradients = np.zeros((3, len(wanted), local.moved[0].shape[1])), np.zeros((len(wanted), n))
    own = [k for k, name in enumerate(wanted) if name in functions]
    others = [k for k in range(len(wanted)) if k not in own]
    places = [labels.index(wanted[k]) for k in others]
    rows[:, others] = [changes[places] for changes in local.moved]
    gradients[others] = np.eye(n)[places]
    if own:
        told = Functions(local.flow.system, {wanted[k]: functions[wanted[k]] for k in own})
        rows[:, own] = told.changes(local)
        slopes = told.gradients(local)
        gradients[own] = slopes / np.maximum(np.linalg.norm(slopes, axis=1, keepdims=True), np.finfo(float).tiny)
    return rows, gradients


def _require_independent(names: Sequence[str], ways: Array) -> None:
    """Raise where coordinates do not change with the freedoms (coordinates, freedoms), or not each in its own way."""
    for name, way in zip(names, ways, strict=True):
        if not np.linalg.norm(way) > NEVER:
            raise SpecError(Fault(f"{name} cannot move here", hint="choose another coordinate"))
    count = ways.shape[1]
    if len(names) > count:
        message = f"{', '.join(names)} are {len(names)} coordinates, but only {count} can change by themselves"
        raise SpecError(Fault(message, hint=f"choose {count}, or none, and they are chosen for you"))
    apart = np.linalg.svd(ways / np.linalg.norm(ways, axis=1, keepdims=True), compute_uv=False)
    if not apart.min(initial=1.0) > NEVER:
        message = f"{', '.join(names)} do not describe the state here: some change together only"
        raise SpecError(Fault(message, hint="choose others: near this state these are singular"))


def _independent(ways: Array) -> list[int]:
    """Rows that change each in its own way: what rolls or skates has fewer velocities than positions."""
    if not ways.size:
        return []
    _, triangle, order = scipy.linalg.qr(ways.T, mode="economic", pivoting=True)
    return sorted(order[: int(np.sum(np.abs(np.diag(triangle)) > NEVER))].tolist())


class Functions:
    """Signals of a system, as coordinates by names of their own."""

    def __init__(self, system: System, signals: Mapping[str, str]):
        mechanism = system.mechanism
        numbers = [mechanism.readouts[signal] for signal in signals.values()]
        kinds, elements = dict(system.kinds), list(mechanism.elements)
        for name, number in zip(signals, numbers, strict=True):
            _refuse_velocities(system, name, number)
            kind = curved(kinds[elements[number].kind])
            kinds.setdefault(kind.name, kind)
            elements[number] = replace(elements[number], kind=kind.name)
        self.system = System(replace(mechanism, elements=tuple(elements)), kinds, system.dropped)
        self._numbers = numbers
        self._groups = tuple(group for group in self.system.groups if set(group.elements) & set(numbers))

    def changes(self, local: Local) -> Array:
        """Of y, y' and y'' along all directions, (3, functions, directions)."""
        dq, dv, da = local.moved
        constants = local.directions.numbers.constants
        still, none = np.zeros_like(local.v), np.zeros_like(dv)
        own = self._at(local, local.v, (dq, dv), constants)
        along = self._at(local, local.a, (dq, da), constants)
        drifting = self._at(local, still, (dq, none), constants)
        return np.stack([own[0], own[1], own[2] + along[1] - drifting[1]])

    def gradients(self, local: Local) -> Array:
        """How y changes with positions in scales, (functions, positions)."""
        n = self.system.n
        scaled = np.diag(self.system.scales[:n])
        none = NumberChanges.none(self.system, n).constants
        return np.asarray(self._at(local, local.v, (scaled, np.zeros((n, n))), none)[0])

    def _at(self, local: Local, v: Array, moved: tuple[Array, Array], constants: Array) -> Array:
        """Changes of f, y' and c at a state with other velocities."""
        count = moved[0].shape[1]
        numbers = replace(NumberChanges.none(self.system, count), constants=constants)
        system = self.system.holding(local.flow.system.constants)
        found = changes_of(system, ("signal",), (local.t, local.q, v), moved, numbers, self._groups)
        told = np.zeros((3, len(self._numbers), count))
        for group, keys, values in found:
            half = group.kind.signal_count // 3
            for (_, place), value in zip(keys, values, strict=True):
                for k, number in enumerate(self._numbers):
                    if number in group.elements and place % half == 0:  # a readout has one signal
                        told[place // half, k] = value[group.elements.index(number)]
        return told


def _refuse_velocities(system: System, name: str, number: int) -> None:
    group = next(group for group in system.groups if number in group.elements)
    for output in group.program.outputs:
        if output.key[0] == "signal" and any(source.order > 0 for source in group.program.depends_on(output)):
            message = f"{name} changes with velocities, but a coordinate may use positions and time"
            raise SpecError(Fault(message, hint="its rate is a state of its own"))
