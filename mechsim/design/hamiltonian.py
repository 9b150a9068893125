"""The control Hamiltonian of an optimum, H = l + p . x' (seed 002): of a problem that does not depend on time by itself
it is constant, which tells how well intervals resolve the optimum.

Costates p are the multipliers of the joints between stretches. At the begin of each interval the control that makes H
least there is known too, to a higher order than the one that is held over the interval.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

import numpy as np

from mechsim.design.course import Course
from mechsim.design.shooting import Shooting
from mechsim.frozen import frozen
from mechsim.measure.quantities import Inside, Instant, Meanings, Quantity, Written
from mechsim.measure.reading import Asked
from mechsim.measure.slopes import leaves
from mechsim.result.layout import Array
from mechsim.spec.expression import name_of

FLAT = 1e-12  # of the largest: second derivatives of H by controls below this are none
SAME = 1e-9  # of the accelerations: less change with time is none
ELSEWHEN = (0.31, 0.74)  # shares of the motion at which it is looked whether time itself matters


@frozen(slots=False, eq=False)
class Hamiltonian:
    """At the begin of each interval: H, with the control that makes it least, and the costates, (times, states)."""

    times: Array
    values: Array
    controls: Array  # (times, inputs), by H
    held: Array  # the same, as they were chosen
    names: tuple[str, ...]
    states: tuple[str, ...]
    costates: Array
    autonomous: bool  # nothing depends on time by itself, so H is constant along an optimum

    @property
    def mean(self) -> float:
        return float(self.values.mean())

    @property
    def spread(self) -> float:
        """How far H is from its mean, at most."""
        return float(np.abs(self.values - self.mean).max())

    def as_dict(self) -> dict[str, object]:
        return {
            "mean": self.mean,
            "spread": self.spread,
            "autonomous": self.autonomous,
            "t": self.times.tolist(),
            "H": self.values.tolist(),
            "controls": {name: self.controls[:, k].tolist() for k, name in enumerate(self.names)},
            "costates": {name: self.costates[:, k].tolist() for k, name in enumerate(self.states)},
        }


def hamiltonian(
    shooting: Shooting, x: Array, asked: Asked, multipliers: Array, relations: Sequence[tuple[float, Asked]] = ()
) -> Hamiltonian:
    """Of an optimum of a measure, with the multipliers of gaps; `relations` are measures that must hold, each with its
    multiplier, which count beside the goal."""
    course = shooting.course(x, sloped=True, probed=True)
    count, width = shooting.count, shooting.width
    weights = [(1.0, asked), *relations]
    gradient = sum(weight * course.gradients.of(each)[1] for weight, each in weights)
    costates = np.zeros((count, width))
    if count > 1:
        sizes = np.array([shooting.state_scales(piece) for piece in range(1, count)])
        costates[1:] = multipliers.reshape(count - 1, width) / sizes
    first = np.asarray(gradient)[-width:]
    if count > 1:
        first = first + shooting.end_slopes(course, 0)[:, -width:].T @ costates[1]
    costates[0] = first
    running = [(weight * own, each) for weight, goal in weights for own, each in course.gradients.running(goal)]
    found = [_at(shooting, course, x, k, costates[k], running) for k in range(count)]
    return Hamiltonian(
        times=shooting.grid(x)[:-1],
        values=np.array([value for value, _, _ in found]),
        controls=np.array([best for _, best, _ in found]),
        held=np.array([held for _, _, held in found]),
        names=tuple(control.name for control in shooting.controls),
        states=tuple(shooting.charts[0].names(shooting.system)),
        costates=costates,
        autonomous=_autonomous(shooting, course, x, running),
    )


def _at(
    shooting: Shooting, course: Course, x: Array, piece: int, costate: Array, running: Sequence[tuple[float, Quantity]]
) -> tuple[float, Array, Array]:
    """H at the begin of an interval with the best control there, that control, and the one that is held."""
    stretch = course.stretches[piece]
    n, chart = shooting.n, shooting.charts[piece]
    step, share = np.array([course.changes.first(stretch)]), np.zeros((1, 1))
    series = stretch.solution.coefficients
    assert series is not None
    rates = chart.of(series[0, :n, 1], 2.0 * series[0, :n, 2])
    place = Inside(course.steps, step, share)
    value = sum(weight * quantity.at(place).item() for weight, quantity in running) + costate @ rates
    columns = [control.columns(piece)[0] for control in shooting.controls]
    local = [stretch.columns.tolist().index(column) for column in columns]
    # At the begin of a stretch nothing but the control itself changes with it, and accelerations do at once.
    change = stretch.coefficients[0]  # (degrees, unknowns, directions)
    slope = costate @ chart.of(change[1, :n][:, local], 2.0 * change[2, :n][:, local])
    bent = np.zeros((len(local), len(local)))
    for weight, quantity in running:
        slope = slope + weight * course.changes.at(quantity, step, share)[0, 0, columns]
        bent += weight * course.changes.bent(quantity, step, share, np.ones((1, 1)))[np.ix_(columns, columns)]
    held = x[columns]
    off = _step(slope, bent, held, shooting.bounds[0][columns], shooting.bounds[1][columns])
    return float(value + slope @ off + 0.5 * off @ bent @ off), held + off, held


def _step(slope: Array, bent: Array, held: Array, least: Array, most: Array) -> Array:
    """From the held control to that which makes H least, between its bounds."""
    sizes, ways = np.linalg.eigh(bent)
    round_ = sizes > FLAT * max(1.0, np.abs(sizes).max(initial=0.0))
    if not round_.any():
        return np.zeros_like(slope)
    off = -(ways[:, round_] / sizes[round_]) @ (ways[:, round_].T @ slope)
    return np.clip(held + off, least, most) - held


def _autonomous(shooting: Shooting, course: Course, x: Array, running: Sequence[tuple[float, Quantity]]) -> bool:
    """Whether neither motion nor goal depends on time by itself."""
    if any(_reads_time(each.node, each.meanings) for _, each in running):
        return False
    solution, grid = course.solution, shooting.grid(x)
    held = shooting.held(x, grid, 0)
    for control in shooting.controls:
        held |= dict.fromkeys(control.port.slopes, 0.0)  # what is held does not count
    constants = solution.system.constants.copy()
    constants[list(held)] = list(held.values())
    system, q, v = solution.system.holding(constants), solution.q[0], solution.v[0]
    times = [float(grid[0] + share * (grid[-1] - grid[0])) for share in (0.0, *ELSEWHEN)]
    found = [np.concatenate([each.ravel() for each in system.accelerations(t, q, v)]) for t in times]
    size = SAME * max(1.0, *(float(np.abs(each).max(initial=0.0)) for each in found))
    return all(np.abs(each - found[0]).max(initial=0.0) <= size for each in found[1:])


def _reads_time(node: ast.expr, meanings: Meanings) -> bool:
    found = [meanings[name] for leaf in leaves(node) if (name := name_of(leaf)) is not None]
    inner = [each for each in found if isinstance(each, Written)]
    return any(isinstance(each, Instant) for each in found) or any(
        _reads_time(each.expression.tree, each.meanings) for each in inner
    )
