"""Many starts of one mechanism: with parameters of their own, or with coordinates and rates that are given."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mechsim.analysis.cut import combined
from mechsim.analysis.flow import projected, with_rates
from mechsim.analysis.subject import Case, Subject
from mechsim.engine.state import States
from mechsim.errors import AssemblyError, Fault, SpecError
from mechsim.kernel.system import System
from mechsim.result.layout import Array
from mechsim.spec.suggest import did_you_mean

OFF = 1e-9  # of sizes, by which a constraint may be missed
STATE = ("t", "positions", "velocities", "singular")
STRIDES = (1, 8, 64)  # in which a coordinate is brought to its value, more where fewer fail

Columns = Mapping[str, Array]


def starts_of(subject: Subject, columns: Columns, given: Columns, count: int) -> States:
    """The subject's own start for each set of parameters, a column for each; of all of them all combinations of the
    values that are `given` for coordinates and rates, which vary faster."""
    grid, each = combined(given)
    found: list[States] = []
    for first in range(0, count, each):
        case = subject.case({name: float(values[first]) for name, values in columns.items()})
        found.append(placed(case, grid, each) if given else States.of([case.start], len(case.start.positions)))
        if not columns and not given:
            break
    t, q, v, singular = (np.concatenate([getattr(states, name) for states in found]) for name in STATE)
    return States(t, q, v, singular)


def placed(case: Case, given: Columns, count: int) -> States:
    """The start of a case with some coordinates (`A_x`) and rates (`A_x_dot`) given, a value for each start; others are
    as near to those of the case as the constraints allow. Raises SpecError and AssemblyError."""
    system = case.system.bilateral
    labels, n = list(system.labels[: system.n]), system.n
    _check(labels, given, system)
    places = {name: labels.index(name) for name in given if name in labels}
    rates = {name: labels.index(name.removesuffix("_dot")) for name in given if name not in labels}
    q = np.repeat(case.start.positions[None], count, axis=0)
    v = np.repeat(case.start.velocities[None], count, axis=0)
    for name, place in places.items():
        q[:, place] = given[name]
    for name, place in rates.items():
        v[:, place] = given[name]
    if system.m:
        _, first, group = np.unique(q[:, list(places.values())], axis=0, return_index=True, return_inverse=True)
        base = case.start.positions
        for number, row in enumerate(first.tolist()):
            rows = np.flatnonzero(group.ravel() == number)
            base = _closed(system, case.start.t, base, q[row], list(places.values()))
            q[rows] = base
            v[rows] = with_rates(system, case.start.t, base, v[rows], list(rates.values()))
        _check_rates(system, case.start.t, q, v, rates)
    t = np.full(count, float(case.start.t))
    assert q.shape == (count, n)
    return States(t, q, v, np.zeros(count, dtype=bool))


def _check(labels: list[str], given: Columns, system: System) -> None:
    known = [*labels, *(f"{label}_dot" for label in labels)]
    for name in given:
        if name not in known:
            raise SpecError(Fault(f"there is no coordinate or rate {name}", hint=did_you_mean(name, known)))
        if labels.index(name.removesuffix("_dot")) in system.accounts:
            raise SpecError(Fault(f"{name} is an account of work: where it starts does not matter"))


def _closed(system: System, t: float, near: Array, wanted: Array, held: list[int]) -> Array:
    """Positions with some of them given, come to from others that are near."""
    still = np.zeros(system.n)
    for strides in STRIDES:
        q = near.copy()
        for share in np.arange(1, strides + 1) / strides:
            q[held] = near[held] + share * (wanted[held] - near[held])
            q, _ = projected(system, t, q, still, held=held)
        lengths = system.gradient_lengths(t, q, still)
        off = np.abs(system.constraints(t, q)) / np.where(lengths > 0, lengths, 1.0)
        if np.isfinite(q).all() and off.max(initial=0.0) <= OFF:
            return q
    values = ", ".join(f"{system.labels[place]} = {wanted[place]:g}" for place in held)
    label = system.labels[system.n + int(np.argmax(off))]
    message = f"nothing can start with {values}: {label} is missed by {off.max():.3g} of the size"
    hint = "give values that the joints allow, of fewer coordinates perhaps; at the start they must be free to move"
    raise AssemblyError(Fault(message, hint=hint))


def _check_rates(system: System, t: float, q: Array, v: Array, rates: Mapping[str, int]) -> None:
    off = np.abs(np.asarray(system.constraint_rate(t, q, v)))
    speed = np.maximum(1.0, np.abs(v / system.scales[: system.n]).max(axis=1, initial=0.0))
    bad = np.flatnonzero(~(off.max(axis=1, initial=0.0) <= OFF * speed * max(system.mechanism.size, 1e-300)))
    if len(bad):
        values = ", ".join(f"{name} = {v[bad[0], place]:g}" for name, place in rates.items())
        message = f"nothing can start with the rates {values or 'of the file'}: the joints do not allow them"
        raise AssemblyError(Fault(message, hint="give rates of fewer coordinates"))
