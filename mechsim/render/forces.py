"""Forces as arrows: those applied, and those of springs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mechsim.render.frames import Frames
from mechsim.render.scene import Scene
from mechsim.result.layout import Array

USUAL = 85  # per cent of all moments


@dataclass(frozen=True, slots=True)
class Arrow:
    """A force at a point, (k, 2), or a torque about it, (k,); `largest` is the strength drawn longest."""

    point: str
    vectors: Array
    largest: float
    colour: int
    label: str


def arrows_of(scene: Scene, frames: Frames) -> list[Arrow]:
    """Every force that the file applies, and both ends of each spring. Forces share one scale."""
    found = [*_applied(scene, frames), *_of_springs(scene, frames)]
    largest = max((float(np.hypot(*vectors.T).max()) for _, vectors, _, _ in found), default=0.0) or 1.0
    arrows = [Arrow(point, vectors, largest, colour, label) for point, vectors, colour, label in found]
    for torque in scene.torques:
        for part, sign in ((torque.part, 1.0), (torque.against, -1.0)):
            body = next((body for body in scene.parts if body.name == part), None)
            if body is not None:
                strength = np.full(len(frames), sign * float(torque.torque))
                arrows.append(Arrow(body.points[0], strength, abs(float(torque.torque)), 0, f"torque on {part}"))
    return arrows


def at_usual_strength(arrows: tuple[Arrow, ...]) -> tuple[Arrow, ...]:
    """Forces in joints have sharp peaks: let a strength be long that is exceeded only at some moments."""
    usual = max((float(np.percentile(np.hypot(*arrow.vectors.T), USUAL)) for arrow in arrows), default=0.0)
    return tuple(replace(arrow, largest=usual or arrow.largest) for arrow in arrows)


def _applied(scene: Scene, frames: Frames) -> list[tuple[str, Array, int, str]]:
    found = []
    for force in scene.forces:
        vectors = np.tile([float(x) for x in force.force], (len(frames), 1))
        if force.part is not None:
            turned = (vectors @ (1, 1j)) * np.exp(1j * frames.poses[force.part][1])
            vectors = np.column_stack([turned.real, turned.imag])
        found.append((force.point, vectors, 0, f"force at {force.point}"))
    return found


def _of_springs(scene: Scene, frames: Frames) -> list[tuple[str, Array, int, str]]:
    """A stretched spring pulls its ends together: k (length - rest) along it."""
    stiffness = {
        element.owner: element.parameters["stiffness"]
        for element in scene.mechanism.elements
        if element.kind == "spring"
    }
    found = []
    for spring in scene.springs:
        first, second = (frames.points[name] for name in spring.points)
        length = np.hypot(*(second - first).T)[:, None]
        pull = stiffness[spring.name] * (length - spring.length) * (second - first) / np.where(length, length, 1.0)
        found += [
            (spring.points[0], pull, 1, f"spring {spring.name}"),
            (spring.points[1], -pull, 1, f"spring {spring.name}"),
        ]
    return found
