"""Joints in space that the file names, as things: hinges, crosses, sleeves on rails, threads, pads, what rolls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mechsim.render.mesh import Mesh, ball, bar, prism, tube, turned_to_x
from mechsim.render.placements import Matrices, spanning, standing, turned_along
from mechsim.render.polygon import circle, rounded_square
from mechsim.render.things import SHINY, STEEL, Kit, Thing
from mechsim.render.workshop import Workshop
from mechsim.result.layout import Array
from mechsim.spec.actions import SpatialJoint

# Sizes in radii of a usual bar.
PIN, KNUCKLE, REACH = 0.6, 1.3, 3.0  # of hinges and crosses; how far they reach to either side
RAIL, SLEEVE, BEYOND, THREAD = 0.7, 1.5, 1.5, 0.2  # of what slides; how far a sleeve goes on beyond its points
PAD, PAD_THICK, SOCKET, WHEEL = 2.0, 0.6, 1.8, 0.5
STEPS = 16  # of a thread in one turn
MOST_TURNS = 40


def named_joints(kit: Kit) -> Iterator[Thing]:
    for joint in kit.scene.actions.spatial:
        if joint.sort in ("cylinder", "prism", "screw"):
            yield from _slider(kit, joint)
        elif joint.sort == "hinge":
            yield from _hinge(kit, joint)
        elif joint.sort == "universal":
            yield from _cross(kit, joint)
        elif joint.sort == "plane":
            yield from _pads(kit, joint)
        elif joint.sort == "coupling":
            yield Thing(joint.name, ball(SOCKET * kit.skin), standing(kit.at(joint.first[0])), STEEL, SHINY)
        elif not kit.has_shape(joint.first):
            yield from _rolling(kit, joint)


def _part(kit: Kit, points: tuple[str, ...]) -> str:
    """The part that has all of these points; the ground if none."""
    return next((body.name for body in kit.scene.parts if set(points) <= set(body.points)), "")


def _along(kit: Kit, line: Sequence[str], at: str) -> Matrices:
    """At a point, with the x axis from the first point of a line to the second."""
    return standing(kit.at(at), turned_along(kit.at(line[1]) - kit.at(line[0])))


def _hinge(kit: Kit, joint: SpatialJoint) -> Iterator[Thing]:
    """A pin along the line that both parts have, and knuckles of both colours."""
    skin, place = kit.skin, _along(kit, joint.first, joint.first[0])
    yield Thing(joint.name, bar(-1.35 * REACH * skin, 1.35 * REACH * skin, PIN * skin), place, STEEL, SHINY, inner=True)
    for number, points in enumerate((joint.first, joint.second, joint.first)):
        low, high = (REACH * skin * (2 * (number + share) / 3 - 1) for share in (0.04, 0.96))
        yield Thing(joint.name, bar(low, high, KNUCKLE * skin), place, kit.colour(_part(kit, points)))


def _cross(kit: Kit, joint: SpatialJoint) -> Iterator[Thing]:
    """Two arms, each borne by its part at both ends."""
    skin = kit.skin
    for line in (joint.first, joint.second):
        place = _along(kit, line, joint.first[0])
        yield Thing(joint.name, bar(-1.25 * REACH * skin, 1.25 * REACH * skin, PIN * skin), place, STEEL, SHINY)
        for side in (-1, 1):
            low, high = sorted((0.7 * side * REACH * skin, 1.1 * side * REACH * skin))
            yield Thing(joint.name, bar(low, high, KNUCKLE * skin), place, kit.colour(_part(kit, line)))
    yield Thing(joint.name, ball(KNUCKLE * skin), standing(kit.at(joint.first[0])), STEEL, SHINY)


def _slider(kit: Kit, joint: SpatialJoint) -> Iterator[Thing]:
    """A rail as long as it is used and a sleeve on it: both round where it may turn, both square where not."""
    skin, shop = kit.skin, Workshop(kit.scene, kit.frames)
    line, sliding = (joint.second[0], joint.second[1]), (joint.first[0], joint.first[1])
    low, high = shop.extent(line, [*line, *sliding], 2 * BEYOND * skin)
    rail, square = _along(kit, line, line[0]), joint.sort == "prism"
    yield Thing(joint.name, _beam(low, high, RAIL * skin, square), rail, STEEL, SHINY, inner=True)
    if joint.sort == "screw":
        yield Thing(joint.name, _thread(low, high, abs(float(joint.number)), skin), rail, STEEL, SHINY, inner=True)
    start, end = (kit.at(point) for point in sliding)
    length = float(np.linalg.norm(end - start, axis=1).mean())
    sleeve = _beam(-BEYOND * skin, length + BEYOND * skin, SLEEVE * skin, square)
    yield Thing(joint.name, sleeve, spanning(start, end, length), kit.colour(_part(kit, joint.first)))


def _beam(low: float, high: float, half: float, square: bool) -> Mesh:
    if not square:
        return bar(low, high, half)
    return turned_to_x(prism(rounded_square(half, 0.2 * half), low, high, 0.15 * half))


def _thread(low: float, high: float, pitch: float, skin: float) -> Mesh:
    """A wire around a rail; a pitch too fine to be seen is drawn coarser."""
    turns = min((high - low) / max(pitch, 1e-12), MOST_TURNS)
    share = np.linspace(0, 1, int(turns * STEPS) + 2)
    angle = 2 * np.pi * turns * share
    around = RAIL * skin * np.column_stack([np.cos(angle), np.sin(angle)])
    return tube(np.column_stack([low + (high - low) * share, around]), THREAD * skin)


def _pads(kit: Kit, joint: SpatialJoint) -> Iterator[Thing]:
    """A flat pad under each point that stays in a plane."""
    a, b, c = (kit.at(point) for point in joint.second)
    normal: Array = np.cross(b - a, c - a)
    mesh = bar(-PAD_THICK * kit.skin, PAD_THICK * kit.skin, PAD * kit.skin)
    for point in joint.first:
        place = standing(kit.at(point), turned_along(normal))
        yield Thing(joint.name, mesh, place, kit.colour(_part(kit, joint.first)))


def _rolling(kit: Kit, joint: SpatialJoint) -> Iterator[Thing]:
    """A wheel about the line of its first two points, or a ball about the first."""
    radius, colour, centre = float(joint.number), kit.colour(_part(kit, joint.first)), joint.first[0]
    if joint.sort == "ball":
        place = _along(kit, joint.first, centre)
        yield Thing(joint.name, ball(radius, 20, 40), place, colour)
        return
    half = min(WHEEL * kit.skin, 0.1 * radius)
    mesh = turned_to_x(prism(circle(radius, 64), -half, half, 0.5 * half))
    yield Thing(joint.name, mesh, _along(kit, joint.first, centre), colour)
