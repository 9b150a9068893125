"""From where a mechanism in space is seen: directions by name, by angles, and moves between them.

Gravity is always down in a picture: where it does not pull against z the world is turned until it does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from mechsim.errors import Fault
from mechsim.render.camera import View, views_of
from mechsim.render.frames import Frames
from mechsim.render.options import Options
from mechsim.render.poses import shortest_turn
from mechsim.render.scene import Scene
from mechsim.result.journal import OutputError
from mechsim.result.layout import Array
from mechsim.spec.names import PLANE

THREE_QUARTERS = (-37.5, 24.0)  # x to the right, y away from the camera, a little from above
# Azimuth and elevation. Front: x to the right, z up; side: y to the right, z up; top: x to the right, y up.
NAMED: Mapping[str, View] = {"front": (0.0, 0.0), "side": (90.0, 0.0), "top": (0.0, 90.0), "iso": THREE_QUARTERS}
ORBIT = "orbit"  # once around


def spatial_views(scene: Scene, options: Options) -> tuple[View, ...]:
    """The views of a film: one, or several that the camera moves between."""
    usual = scene.view or (THREE_QUARTERS if options.renderer == "solid" else NAMED["front"])
    if options.view is None:
        return (usual,)
    if options.view == ORBIT:
        azimuth, elevation = scene.view or THREE_QUARTERS
        return (azimuth, elevation), (azimuth + 360.0, elevation)
    return tuple(view for word in options.view.split(":") for view in _view(word.strip(), options.view))


def _view(word: str, asked: str) -> tuple[View, ...]:
    if word in NAMED:
        return (NAMED[word],)
    try:
        return views_of(word)
    except OutputError:
        hint = (
            f"write {', '.join(NAMED)}, {ORBIT}, azimuth,elevation in degrees such as 30,20, or a move: front:iso:90,30"
        )
        raise OutputError(Fault(f"--view {asked} is no direction of view", hint=hint)) from None


def check_view(scene: Scene, options: Options) -> None:
    """Raise OutputError for a view that cannot be drawn, before anything is."""
    if options.view is None:
        return
    if scene.dimension == PLANE:
        named = [word for word in options.view.split(":") if word.strip() in {*NAMED, ORBIT}]
        if named:
            hint = "--view X0,X1,Y0,Y1 chooses the window; with --renderer solid, azimuth,elevation such as -12,64"
            raise OutputError(Fault(f"--view {named[0]} is for mechanisms in space, and this one is plane", hint=hint))
        return
    views = spatial_views(scene, options)
    if len(views) > 1 and options.renderer == "flat":
        hint = f"choose one of {', '.join(NAMED)} or azimuth,elevation; the solid picture's camera can move"
        raise OutputError(Fault(f"--view {options.view} is a move, which the flat picture cannot make", hint=hint))


def upright(scene: Scene) -> Array:
    """The turn (3, 3) after which gravity is down."""
    return shortest_turn(scene.up[None], np.array([[0.0, 0.0, 1.0]]))[0]


def turned_upright(scene: Scene, frames: Frames) -> Frames:
    """A motion in space, turned as a whole so that gravity is down."""
    return turned(frames, upright(scene))


def turned(frames: Frames, turn: Array) -> Frames:
    """A motion in space, turned as a whole."""
    if np.array_equal(turn, np.eye(3)):
        return frames
    arrows = [
        replace(arrow, vectors=arrow.vectors @ turn.T, arm=None if arrow.arm is None else arrow.arm @ turn.T)
        for arrow in frames.arrows
    ]
    return replace(
        frames,
        points={name: places @ turn.T for name, places in frames.points.items()},
        velocities={name: speeds @ turn.T for name, speeds in frames.velocities.items()},
        poses={name: (origin @ turn.T, turn @ own) for name, (origin, own) in frames.poses.items()},
        arrows=tuple(arrows),
        marks=frames.marks
        and replace(frames.marks, places=frames.marks.places @ turn.T, pushes=frames.marks.pushes @ turn.T),
        whole=frames.whole and turned(frames.whole, turn),
    )
