"""What the makers of fittings ask about a scene and its motion: where, how far, how high, at which joint."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from mechsim.render.frames import Frames
from mechsim.render.scene import Scene, SceneBody
from mechsim.result.layout import Array
from mechsim.spec.names import Coordinate, TurnAngle, reference

Line = tuple[str, str]


class Workshop:
    """`drawn` are the frames that are drawn, `frames` all of the motion: a rail is as long as it is used, also in a
    picture of one moment."""

    def __init__(self, scene: Scene, drawn: Frames):
        self.scene, self.drawn, self.frames = scene, drawn, drawn.motion
        self.skin = scene.fleshoutwid
        self.bodies: dict[str, SceneBody] = {body.name: body for body in scene.parts}
        self.heights: dict[str, float] = {}
        for body in scene.parts:
            for point in body.points:
                self.heights[point] = max(self.heights.get(point, 0.0), body.layer)

    def bond(self, name: str) -> str:
        """The name of a joint, if events let it go."""
        return name if name in self.scene.bonds else ""

    def height(self, point: str) -> float:
        """The layer of the highest part at a point."""
        return self.heights.get(point, 0.0)

    def particle(self, point: str) -> float:
        """The radius of the particle at a point, 0 without one."""
        return next((each.radius for each in self.scene.particles if each.point == point), 0.0)

    def is_ground(self, line: Line) -> bool:
        return all(point in self.scene.ground for point in line)

    def carrier(self, line: Line) -> SceneBody | None:
        """The part that a line belongs to."""
        return next((body for body in self.scene.parts if set(line) <= set(body.points)), None)

    def on_top(self, line: Line, share: float) -> float:
        """A height above the part that a line belongs to."""
        carrier = self.carrier(line)
        return (carrier.layer if carrier else 0.0) + share

    def line_through(self, points: Sequence[str]) -> Line:
        """Two of several points on one line to measure it by: fixed ones, else two of one part, else the first two."""
        pairs = [(a, b) for index, a in enumerate(points) for b in points[index + 1 :]]
        rigid = [pair for pair in pairs if self.carrier(pair)]
        return next((pair for pair in pairs if self.is_ground(pair)), (rigid or pairs)[0])

    def places(self, line: Line, point: str) -> Array:
        """In the plane: where a point is (k, 2), measured along a line from its first point and to its left."""
        start, end = (self.frames.points[name] @ (1, 1j) for name in line)
        way = (end - start) / np.maximum(np.abs(end - start), 1e-300)
        seen = (self.frames.points[point] @ (1, 1j) - start) * way.conj()
        return np.column_stack([seen.real, seen.imag])

    def extent(self, line: Line, points: Iterable[str], margin: float) -> tuple[float, float]:
        """How far points come along a line, from where to where, and a little more."""
        start, end = (self.frames.points[name] for name in line)
        way = (end - start) / np.maximum(np.linalg.norm(end - start, axis=1), 1e-300)[:, None]
        along = np.concatenate([((self.frames.points[point] - start) * way).sum(axis=1) for point in points])
        return float(along.min()) - margin, float(along.max()) + margin

    def distances(self, a: str, b: str) -> Array:
        way: Array = np.hypot.reduce(self.frames.points[b] - self.frames.points[a], axis=1)
        return way

    def box(self) -> tuple[Array, Array]:
        """The smallest box around all places that points come to, grown by a fifth of its longer side."""
        cloud = np.vstack(list(self.frames.points.values()))
        low, high = cloud.min(axis=0), cloud.max(axis=0)
        margin = 0.2 * float((high - low).max()) + 2 * self.skin
        return low - margin, high + margin

    def joint(self, part: str, against: str | None) -> tuple[str, Line]:
        """The point at which a part turns on another or on the ground, and the two points that tell how it turns."""
        points = self.bodies[part].points
        others = self.bodies[against].points if against else tuple(self.scene.ground)
        at = next((point for point in points if point in others), points[0])
        return at, (points[0], points[1])

    def moved(self) -> Iterator[tuple[str, str, list[str]]]:
        """What drives and controllers move: a name, a kind, and quantities as `theta_OA`, `A.x` or `dist(A,B)`."""
        for drive in self.scene.actions.drives:
            yield f"drive of {drive.name}", "drive", list(drive.quantity.names)
        for controller in self.scene.actions.controllers:
            yield f"controller of {controller.name}", "controller", [name for _, name in controller.actuated]

    def acted_on(self, quantities: Sequence[str]) -> Iterator[tuple[str, bool]]:
        """Points at which quantities are moved, and whether by turning."""
        referred = [reference(name) for name in quantities]
        turned = [each.part for each in referred if isinstance(each, TurnAngle) and each.part in self.bodies]
        if len(turned) == 2 and set(self.bodies[turned[0]].points) & set(self.bodies[turned[1]].points):
            yield self.joint(turned[0], turned[1])[0], True
        else:
            yield from ((self.joint(part, None)[0], True) for part in turned)
        yield from ((each.point, False) for each in referred if isinstance(each, Coordinate))
