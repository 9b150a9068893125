"""What a page knows of a mechanism in space: parts as pieces of simple shapes, joints by symbols, what is seen."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from mechsim.model.mechanism import Part
from mechsim.render.frames import Frames
from mechsim.render.page.channels import Channels
from mechsim.render.poses import shortest_turn
from mechsim.render.revolve import Surface
from mechsim.render.scene import Scene
from mechsim.render.spatial_barriers import THICK, Plate, Round, plates, rounds
from mechsim.render.surfaces import BAR, FLAT, Piece, bar_radius, own_surface, pieces_of, pose_of, surface_of
from mechsim.render.symbols import coil_turns
from mechsim.result.layout import Array

BALL = 1.55  # radii of a joint's ball, of a hinge's pin, of a mark and of a foot, in radii of the bars that meet there
PIN = 1.4
MARK = 1.3
FOOT = 3.4
FOOT_OF_REACH = 0.016  # and at least so large beside the way of the point that travels most
COIL, WIRE = 1.9, 0.32  # radii of a spring and of its wire
DAMPER = 1.7
STEPS = 32767  # of a 16-bit integer to either side
DIRECTIONS = 128  # in which it is asked how far the motion reaches
MOST_MOMENTS = 400


def in_space(scene: Scene, frames: Frames, channels: Channels | None = None) -> dict[str, Any]:
    """What the film of a mechanism in space has besides that of a flat one, or instead of it. What moves by itself is
    added to the channels of the film."""
    channels = channels or Channels(frames.t)
    parts, sizes = _rigid(scene), _radii(scene)
    meshes = Meshes()
    hinges = _hinges(scene, parts, sizes)
    particles = {each.point for each in scene.particles}
    hinged = {point for hinge in hinges for point in hinge["points"]}
    feet = [_foot(name, scene, frames, sizes) for name in scene.footings]
    walls = list(plates(scene, frames, np.eye(3)))
    stones = [each for each in rounds(scene, frames) if not each.rope]
    cloud = np.vstack([_cloud(scene, frames, parts, sizes), *(_around_foot(foot, scene) for foot in feet)])
    cloud = np.vstack(
        [cloud, *(_around_plate(wall) for wall in walls), *(_around_ball(each, scene) for each in stones)]
    )
    quiet = particles | hinged
    balls = [{"point": name, "radius": BALL * sizes[name]} for name in scene.pivots if name not in quiet]
    drawn = quiet | set(scene.pivots) | set(scene.footings)
    return {
        "bounds": [*map(float, cloud.min(axis=0)), *map(float, cloud.max(axis=0))],
        "cloud": short(outermost(cloud)),
        "up": scene.up.tolist(),
        "view": scene.view,
        "bodies": [_body(part, number, scene, meshes) for number, part in enumerate(parts)],
        "meshes": meshes.packed,
        "springs": [_spring(scene, spring.name, spring.points, spring.length) for spring in scene.springs],
        "dampers": [{"points": list(each.points), "radius": DAMPER * BAR * scene.size} for each in _dampers(scene)],
        "particles": [
            {"point": each.point, "radius": max(each.radius, 1.1 * BALL * sizes[each.point])}
            for each in scene.particles
        ],
        "hinges": hinges,
        "balls": balls,
        "feet": feet,
        "marks": [
            {"point": name, "radius": MARK * sizes[name], "colour": _owner(name, parts)}
            for name in scene.mechanism.points
            if name not in drawn
        ],
        "fittings": [],
        "plates": [_plate(wall, channels) for wall in walls],
        "stones": [{"point": each.points[0], "radius": each.radius} for each in stones],
        "ropes": [
            {"points": list(each.points), "radius": 0.35 * BAR * scene.size}
            for each in rounds(scene, frames)
            if each.rope
        ],
    }


def _plate(wall: Plate, channels: Channels) -> dict[str, Any]:
    """A box of unit size by its axes and its middle; one that moves also by channels of that."""
    (turn,), below = shortest_turn(np.eye(3)[[2]], wall.normal[:1]), THICK * wall.half
    axes = [_digits(x) for x in (2 * turn * [wall.half, wall.half, below]).T.ravel()]
    middle = wall.middle - below * wall.normal
    packed = {"axes": axes, "at": [_digits(x) for x in middle[0]]}
    return packed if wall.stands else {**packed, "channels": [channels.add(each) for each in middle.T]}


def _around_plate(wall: Plate) -> Array:
    (turn,) = shortest_turn(np.eye(3)[[2]], wall.normal[:1])
    corners = wall.half * np.array([[-1, -1, 0], [-1, 1, 0], [1, -1, 0], [1, 1, 0]]) @ turn.T
    ends = wall.middle[[np.argmin(wall.middle @ wall.normal[0]), np.argmax(wall.middle @ wall.normal[0])]]
    return np.concatenate([end + corners for end in ends])


def _around_ball(each: Round, scene: Scene) -> Array:
    sides = np.vstack([np.eye(3), -np.eye(3)])
    return np.asarray(scene.ground[each.points[0]] + each.radius * sides)


class Meshes:
    """Surfaces that are no simple shape, each once."""

    def __init__(self) -> None:
        self.packed: list[dict[str, Any]] = []
        self._numbers: dict[bytes, int] = {}

    def add(self, surface: Surface) -> int:
        scale = float(np.abs(surface.vertices).max()) / STEPS or 1.0
        places = np.round(surface.vertices / scale).astype("<i2")
        normals = np.round(127 * surface.normals).astype("i1")
        indices = "<u2" if len(places) <= np.iinfo("u2").max else "<u4"
        triangles, edges = surface.triangles.astype(indices), surface.edges.astype(indices)
        key = places.tobytes() + triangles.tobytes() + np.float64(scale).tobytes()
        if key not in self._numbers:
            self._numbers[key] = len(self.packed)
            arrays = {"places": places, "normals": normals, "triangles": triangles, "edges": edges}
            texts = {name: base64.b64encode(array.tobytes()).decode() for name, array in arrays.items()}
            self.packed.append({"scale": scale, "wide": indices == "<u4", **texts})
        return self._numbers[key]


def _rigid(scene: Scene) -> list[Part]:
    """The rigid parts, in the order of the scene."""
    known = {part.name: part for part in scene.mechanism.parts if part.kind == "rigid"}
    return [known[part.name] for part in scene.parts]


def _radii(scene: Scene) -> dict[str, float]:
    """How thick the parts are that meet at each point."""
    sizes = dict.fromkeys(scene.mechanism.points, 0.0)
    for part in _rigid(scene):
        for name in part.points:
            sizes[name] = max(sizes[name], bar_radius(part, scene.size))
    return {name: radius or 0.8 * BAR * scene.size for name, radius in sizes.items()}


def _body(part: Part, colour: int, scene: Scene, meshes: Meshes) -> dict[str, Any]:
    local = np.array(part.geometry, float)
    beside = np.flatnonzero(np.abs(local[:, 1]) > FLAT * np.abs(local).max())
    return {
        "name": part.name,
        "points": list(part.points),
        "local": short(local),
        "beside": int(beside[0]) if len(beside) else -1,
        "colour": colour,
        "pieces": [_packed(piece, meshes) for piece in pieces_of(part, scene.size)],
    }


def _packed(piece: Piece, meshes: Meshes) -> dict[str, Any]:
    """A piece as a mesh of the page, stretched along its axes and then swollen by a thickness."""
    stretch, swell = _stretch(piece)
    mesh: str | int = meshes.add(own_surface(piece)) if piece.shape == "prism" else piece.shape
    axes = [_digits(x) for x in (piece.axes * stretch).T.ravel()]
    return {"mesh": mesh, "at": [_digits(x) for x in piece.at], "axes": axes, "swell": swell}


def _stretch(piece: Piece) -> tuple[Array, float]:
    sizes = piece.sizes
    if piece.shape == "bar":
        return np.array([1.0, 1.0, sizes[1]]), sizes[0]
    if piece.shape == "ring":
        return np.array([sizes[0], sizes[0], 1.0]), sizes[1]
    if piece.shape in ("cylinder", "cone"):
        return np.array([sizes[0], sizes[0], sizes[1]]), 0.0
    if piece.shape == "prism":
        return np.ones(3), 0.0
    return np.broadcast_to(np.array(sizes), 3), 0.0


def _hinges(scene: Scene, parts: Sequence[Part], sizes: dict[str, float]) -> list[dict[str, Any]]:
    """Where two parts share two points or more, or a part has so many fixed ones: they turn about the line of these."""
    owners: dict[str, list[int]] = {}
    for number, part in enumerate(parts):
        for name in part.points:
            owners.setdefault(name, []).append(number)
    shared: dict[tuple[int, int], list[str]] = {}
    for name, numbers in owners.items():
        held = [-1, *numbers] if name in scene.ground else numbers
        for pair in combinations(held, 2):
            shared.setdefault(pair, []).append(name)
    found = {}
    for (_, number), names in shared.items():
        if len(names) > 1:
            found[frozenset(names)] = _ends(parts[number], names)
    return [{"points": ends, "radius": PIN * max(sizes[end] for end in ends)} for ends in found.values()]


def _ends(part: Part, names: Sequence[str]) -> list[str]:
    """The two of these points that are farthest apart."""
    places = {name: np.array(part.geometry[part.points.index(name)], float) for name in names}
    apart = {(a, b): float(np.linalg.norm(places[b] - places[a])) for a, b in combinations(names, 2)}
    ends = max(apart, key=lambda pair: apart[pair])
    return [*ends]


def _owner(name: str, parts: Sequence[Part]) -> int | None:
    """The first part that has this point, if any."""
    return next((number for number, part in enumerate(parts) if name in part.points), None)


def _foot(name: str, scene: Scene, frames: Frames, sizes: dict[str, float]) -> dict[str, Any]:
    """A fixed point stands on its foot or hangs from it, away from what is fastened to it."""
    groups = [part.points for part in scene.parts] + [spring.points for spring in scene.springs]
    others = {other for points in groups if name in points for other in points} - set(scene.ground)
    towards = sum(float(((frames.points[other] - scene.ground[name]) @ scene.up).mean()) for other in others)
    hangs = towards < -1e-6 * scene.size
    extent = max(float(np.ptp(places, axis=0).max()) for places in frames.points.values())
    return {"point": name, "radius": max(FOOT * sizes[name], FOOT_OF_REACH * extent), "side": 1 if hangs else -1}


def _around_foot(foot: dict[str, Any], scene: Scene) -> Array:
    """Places around the plate of a foot."""
    up = foot["side"] * scene.up
    across = np.cross(up, np.eye(3)[np.argmin(np.abs(up))])
    across /= np.linalg.norm(across)
    corners = np.array([across, np.cross(up, across), -across, -np.cross(up, across)])
    around: Array = scene.ground[foot["point"]] + foot["radius"] * (1.16 * up + corners)
    return around


def _spring(scene: Scene, name: str, points: Sequence[str], length: float) -> dict[str, Any]:
    radius = COIL * BAR * scene.size
    turns = coil_turns(length, 0.7 * radius)
    return {"name": name, "points": list(points), "turns": turns, "radius": radius, "wire": WIRE * BAR * scene.size}


def _dampers(scene: Scene) -> Iterable[Any]:
    return [each for each in scene.actions.dampers if all(name in scene.mechanism.points for name in each.points)]


def _cloud(scene: Scene, frames: Frames, parts: Sequence[Part], sizes: dict[str, float]) -> Array:
    """Places around all that is drawn during the motion."""
    moments = np.unique(np.linspace(0, len(frames.t) - 1, MOST_MOMENTS).astype(int))
    radii = {name: BALL * radius for name, radius in sizes.items()} | {
        each.point: each.radius for each in scene.particles
    }
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) / np.sqrt(3)
    clouds = [(frames.points[name][moments, None] + radii[name] * corners).reshape(-1, 3) for name in frames.points]
    for part in parts:
        if part.solids:
            vertices = surface_of(part, scene.size).vertices
            middle, half = (vertices.max(axis=0) + vertices.min(axis=0)) / 2, np.ptp(vertices, axis=0) / 2
            box = middle + half * np.sign(corners)
            origin, turn = pose_of(part, {name: frames.points[name][moments] for name in part.points})
            clouds.append((origin[:, None] + np.einsum("tij,pj->tpi", turn, box)).reshape(-1, 3))
    cloud = np.concatenate(clouds)
    least = 1e-3 * scene.size
    return cloud if np.ptp(cloud, axis=0).max() > least else np.vstack([cloud, cloud[0] + least * corners])


def outermost(cloud: Array) -> Array:
    """Those places that are farthest in one of many directions, evenly spread (a spiral around the sphere)."""
    number = np.arange(DIRECTIONS) + 0.5
    height = 1 - 2 * number / DIRECTIONS
    turn = np.pi * (1 + np.sqrt(5)) * number
    across = np.sqrt(1 - height**2)
    directions = np.stack([across * np.cos(turn), across * np.sin(turn), height])
    outer: Array = cloud[np.unique(np.argmax(cloud @ directions, axis=0))]
    return outer


def short(rows: Array) -> list[list[float]]:
    return [[_digits(x) for x in row] for row in rows]


def _digits(value: float) -> float:
    """Six digits are a thousandth of a pixel."""
    return float(f"{value:.6g}")
