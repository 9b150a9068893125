"""Rigid parts as they are drawn: in the plane as plates in layers, in space as they stand."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypedDict

import numpy as np

from mechsim.frozen import frozen
from mechsim.render.outline import area, layers_of, outline_around, outline_of_shapes
from mechsim.result.layout import Array
from mechsim.spec.document import MechSpec, Rigid, Solid
from mechsim.spec.names import PLANE, POINT

THIN = 0.6  # the skin of a rod without mass, as a share of the others'
NO_OUTLINE = np.zeros((0, 2))


class Skel(TypedDict, total=False):
    """How the file draws a part: its outline, letter by letter, and points that only this names."""

    path: str
    newpts: Mapping[str, Sequence[float]]


@frozen
class SceneBody:
    """A rigid part. `local`, `path` and `outline` are in its own frame: origin at its first point, x to the second."""

    name: str
    points: tuple[str, ...]
    local: Array  # (k, dimension), one row per point
    path: Array  # the skeleton: in the plane the file's path of the part, else its points
    outline: Array  # in the plane: closed, counter-clockwise, first corner not repeated: the skeleton with its skin
    centroid: Array
    mass: float
    layer: int  # 0 lies lowest
    colour: int  # index into a theme's colours
    solids: tuple[Solid, ...] = ()  # what it looks like, if the file says so


def bodies_of(spec: MechSpec, skin: float) -> tuple[SceneBody, ...]:
    """The rigid parts in the order of the file."""
    return _plates(spec, skin) if spec.dimension == PLANE else _free_bodies(spec)


def local(part: Rigid) -> Array:
    """The points of a part in its own frame."""
    return np.array([[float(x) for x in point] for point in part.geometry])


def _body(part: Rigid, number: int, path: Array, outline: Array, layer: int) -> SceneBody:
    return SceneBody(
        name=part.name,
        points=part.points,
        local=local(part),
        path=path,
        outline=outline,
        centroid=np.array([float(x) for x in part.centroid]),
        mass=float(part.mass),
        layer=layer,
        colour=number,
        solids=part.solids,
    )


def _free_bodies(spec: MechSpec) -> tuple[SceneBody, ...]:
    """In space parts hide each other by where they are: nothing lies in layers, and no outline holds from all sides."""
    return tuple(_body(part, number, local(part), NO_OUTLINE, 0) for number, part in enumerate(spec.rigids))


def _plates(spec: MechSpec, skin: float) -> tuple[SceneBody, ...]:
    skels: Mapping[str, Skel] = spec.animation.get("Skels") or {}
    discs = _discs(spec)
    racks = {each.rack: float(each.radius) for each in spec.actions.rollings if each.rack}
    paths, outlines = [], []
    for part in spec.rigids:
        own = skels.get(part.name) or Skel()
        path, drawn = _path(part, own), bool(own.get("path"))
        # The rim of a wheel is its disc: what reaches it ends inside.
        inside = discs.get(part.name, 0.0) - 1.2 * skin
        beyond = np.hypot(*path.T)
        on_disc = (beyond > inside) & (beyond < inside + 1.3 * skin) & (inside > 0) & (not drawn)
        path = np.where(on_disc[:, None], path * (inside / np.maximum(beyond, 1e-300))[:, None], path)
        thin = not drawn and len(part.points) == 2 and not float(part.mass) and part.name not in discs
        if part.name in racks and not drawn:  # hidden behind its teeth, which begin at the line of its points
            path, thin = path - np.array([0, skin + 0.06 * racks[part.name]]), True
        shaped = None if drawn else _shaped(part, path, skin)
        paths.append(path if shaped is None else shaped)
        outlines.append(outline_around(path, THIN * skin if thin else skin, drawn=drawn) if shaped is None else shaped)
    circle = outline_around(np.zeros((1, 2)), 1.0, drawn=False)
    areas = [max(outline, discs.get(part.name, 0.0) * circle, key=area)
             for part, outline in zip(spec.rigids, outlines, strict=True)]  # fmt: skip
    layers = layers_of([part.points for part in spec.rigids], areas)
    return tuple(
        _body(part, number, path, outline, layer)
        for number, (part, path, outline, layer) in enumerate(zip(spec.rigids, paths, outlines, layers, strict=True))
    )


def _shaped(part: Rigid, path: Array, skin: float) -> Array | None:
    """The outline of a part by the shapes that the file gives it, which is what others meet; None without any."""
    regions, discs = [], []
    for solid in part.solids:
        turn, at = np.array(solid.axes)[:2, :2].T, np.array([float(x) for x in solid.at])[:2]
        if solid.shape == "cylinder":
            discs.append((at, float(solid.sizes[0])))
        elif solid.shape == "box":
            half = np.array([float(size) for size in solid.sizes[:2]]) / 2
            regions.append(half * [[-1, -1], [1, -1], [1, 1], [-1, 1]] @ turn.T + at)
        elif solid.shape == "prism":
            regions.append(np.array([[float(x) for x in corner[:2]] for corner in solid.outline]) @ turn.T + at)
    return outline_of_shapes(regions, discs, path, 0.5 * skin) if regions or discs else None


def _discs(spec: MechSpec) -> dict[str, float]:
    """Wheels, gears and pinions and their radii. A gear's negative radius is that of a ring, which is no disc."""
    gears = [(gear.part, float(gear.radius)) for gear in spec.actions.gears]
    gears += [(gear.other, float(gear.other_radius)) for gear in spec.actions.gears]
    wheels = [(wheel.part, abs(float(wheel.radius))) for wheel in spec.actions.rollings]
    discs: dict[str, float] = {}
    for part, radius in (pair for pair in (*gears, *wheels) if pair[1] > 0):
        discs[part] = max(radius, discs.get(part, 0.0))
    return discs


def _path(part: Rigid, skel: Skel) -> Array:
    """The corners of a part's path, as Skels gives it by letters; without one, its points."""
    places = dict(zip(part.points, local(part), strict=True))
    places |= {name: np.array(place, float) for name, place in skel.get("newpts", {}).items()}
    names = re.findall(POINT, skel.get("path", "")) or part.points
    return np.array([places[name] for name in names])
