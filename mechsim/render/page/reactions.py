"""Forces in the joints: what each rigid part feels at the points where others hold it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mechsim.model.mechanism import Element, Mechanism, Variable
from mechsim.render.forces import Arrow
from mechsim.render.frames import Frames
from mechsim.render.scene import Scene
from mechsim.result.layout import Array
from mechsim.result.trajectory import Polynomials, Trajectory

MOST_SOLVED = 1000  # frames: about a second


def reactions_of(scene: Scene, frames: Frames, trajectory: Trajectory) -> list[Arrow]:
    """The force on each rigid part at each of its joints, at all frames; nothing where the results cannot tell.

    The Euler-Lagrange rows of a part alone, with its own multipliers, are zero but for what acts on it from outside:
    the forces in its joints.
    """
    known = _from_series(scene.mechanism, frames, trajectory.polynomials) or _from_equations(scene.mechanism, frames)
    if known is None:
        return []
    accelerations, multipliers = known
    free, fixed = released(scene.mechanism)
    still = np.zeros((len(frames), len(fixed)))
    state = (
        np.hstack([frames.coordinates, still + fixed]),
        np.hstack([frames.rates, still]),
        np.hstack([accelerations, still]),
    )
    found = [arrow for part in scene.parts for arrow in _on_part(part, free, scene, frames.t, state, multipliers)]
    largest = max((float(np.hypot(*arrow.vectors.T).max()) for arrow in found), default=0.0) or 1.0
    return [replace(arrow, largest=largest) for arrow in found]


def released(mechanism: Mechanism) -> tuple[Mechanism, Array]:
    """The mechanism with its fixed points as coordinates too, after the others, and the values those have.

    A point that is a constant has no row; as a coordinate, its row tells the force of the ground.
    """
    count = len(mechanism.variables)
    slots = sorted({slot for place in mechanism.points.values() for slot in place if slot < 0}, reverse=True)
    moved = {slot: count + index for index, slot in enumerate(slots)}

    def renumbered(places: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(moved.get(slot, slot) for slot in places)

    held = tuple(Variable(f"fixed {index}", "", "position", 1.0) for index in range(len(slots)))
    free = replace(
        mechanism,
        variables=(*mechanism.variables, *held),
        elements=tuple(replace(element, slots=renumbered(element.slots)) for element in mechanism.elements),
        points={name: renumbered(place) for name, place in mechanism.points.items()},
    )
    return free, np.array([mechanism.constants[-1 - slot] for slot in slots])


def _on_part(
    part: Any, free: Mechanism, scene: Scene, t: Array, state: tuple[Array, Array, Array], multipliers: dict[str, Array]
) -> list[Arrow]:
    from mechsim.kernel.system import System

    own: tuple[Element, ...] = tuple(element for element in free.elements if element.owner == part.name)
    alone = System(replace(free, elements=own))
    lam = [multipliers[label] for element in own for label in element.multipliers]
    rows = alone.residuals(t, *state, np.stack(lam, axis=1) if lam else np.zeros((len(t), 0)))
    held = {*scene.pivots, *(each.point for each in scene.particles), *(name for line in scene.guides for name in line)}
    joints = [name for name in part.points if name in held]
    return [
        Arrow(name, rows[:, list(free.points[name])], 1.0, part.colour, f"on {part.name} at {name}") for name in joints
    ]


Known = tuple[Array, dict[str, Array]]  # accelerations (k, n), multipliers by label


def _from_series(mechanism: Mechanism, frames: Frames, series: Polynomials | None) -> Known | None:
    """The Taylor series differentiated twice. A redundant constraint has no multiplier of its own there."""
    labels = [variable.label for variable in mechanism.variables]
    if series is None or not {*labels, *mechanism.multipliers} <= set(series.labels):
        return None
    steps = np.clip(np.searchsorted(series.t, frames.t, side="right") - 1, 0, len(series.t) - 1)
    local = (frames.t - series.t[steps])[:, None]
    values = np.zeros((len(frames), len(series.labels)))
    bent = np.zeros_like(values)
    for order in reversed(range(series.coefficients.shape[2])):  # Horner's rule
        coefficients = series.coefficients[steps, :, order]
        values = values * local + coefficients
        if order > 1:
            bent = bent * local + order * (order - 1) * coefficients
    accelerations = bent[:, [series.labels.index(label) for label in labels]]
    return accelerations, {label: values[:, series.labels.index(label)] for label in mechanism.multipliers}


def _from_equations(mechanism: Mechanism, frames: Frames) -> Known | None:
    """Solved for at each frame, where they are not too many and the constraints independent."""
    from mechsim.kernel.system import System

    system = System(mechanism)
    rows, columns, values = system.constraint_jacobian(frames.t[0], frames.coordinates[0])
    jacobian = np.zeros((system.m, system.n))
    np.add.at(jacobian, (rows, columns), values)
    if len(frames) > MOST_SOLVED or (system.m and np.linalg.matrix_rank(jacobian) < system.m):
        return None
    try:
        solved = [
            system.accelerations(*state) for state in zip(frames.t, frames.coordinates, frames.rates, strict=True)
        ]
    except np.linalg.LinAlgError:
        return None
    accelerations, multipliers = (np.stack(each) for each in zip(*solved, strict=True))
    return accelerations, dict(zip(system.labels[system.n :], multipliers.T, strict=True))
