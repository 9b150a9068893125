"""What holds a mechanism in space, as things: balls, hinges, stands, rails with sleeves, ropes, dashpots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise

import numpy as np

from mechsim.render.couplings import named_joints
from mechsim.render.curves import curve_shape
from mechsim.render.joints import Joint, joints_of
from mechsim.render.mesh import ball, bar, prism, tube
from mechsim.render.placements import spanning, standing, turned_along
from mechsim.render.polygon import circle, rounded_square
from mechsim.render.poses import shortest_turn
from mechsim.render.spatial_barriers import THICK, plates, rounds
from mechsim.render.stage import UNSEEN
from mechsim.render.things import DULL, SHINY, STEEL, STONE, Kit, Thing, bodies, particles, rod_between, springs
from mechsim.render.views import turned, upright
from mechsim.render.workshop import Line, Workshop

# Sizes of details, in radii of a usual bar.
BALL, SMALL_BALL = 1.25, 0.8
PIN, KNUCKLE, KNUCKLE_LENGTH, BEYOND = 0.6, 1.3, 5.0, 1.9  # of a hinge; how far its pin sticks out beyond its points
TURNING = frozenset({"hinge", "universal", "coupling"})  # have symbols of their own at the shared point
RAIL, SLEEVE, SLEEVE_LENGTH, ROPE, PISTON = 0.45, 1.1, 4.0, 0.25, 0.4
PLATE, PLATE_THICK, STAND, NECK = 2.7, 0.55, 3.0, 0.8  # of a ground symbol


def things_of(kit: Kit) -> list[Thing]:
    """Everything of a mechanism in space but forces."""
    makers = (bodies, springs, particles, _joints, named_joints, _stands, _guides, _curves, _ropes, _dampers, _barriers)
    return list(chain.from_iterable(maker(kit) for maker in (*makers, _bonds)))


def _joints(kit: Kit) -> Iterator[Thing]:
    """A ball where parts share a point, a pin with knuckles of both colours where they share a line."""
    joints = joints_of(kit.scene)
    hinged = {point for joint in joints if joint.kind == "hinge" for point in joint.points}
    balls = {joint.points[0] for joint in joints if joint.kind == "ball"}
    covered = {particle.point for particle in kit.scene.particles}
    covered |= {joint.first[0] for joint in kit.scene.actions.spatial if joint.sort in TURNING}
    for joint in joints:
        if joint.kind == "hinge":
            yield from _hinge(kit, joint)
    for name in kit.scene.pivots:
        if name in covered or (name in hinged and name not in balls):
            continue
        radius = (BALL if name in balls else SMALL_BALL) * kit.skin
        yield Thing(name, ball(radius), standing(kit.at(name)), STEEL, SHINY)


def _hinge(kit: Kit, joint: Joint) -> Iterator[Thing]:
    start, end = (kit.at(point) for point in joint.points)
    length, skin = float(np.linalg.norm(end - start, axis=1).mean()), kit.skin
    place, name = spanning(start, end, length), f"hinge {''.join(joint.points)}"
    yield Thing(name, bar(-BEYOND * skin, length + BEYOND * skin, PIN * skin), place, STEEL, SHINY, inner=True)
    # Knuckles of both parts in turn along the whole line: both may have bars there, which they hide.
    count = 2 * int(np.clip(length / KNUCKLE_LENGTH / skin, 3, 7) // 2) + 1
    for number in range(count):
        low, high = ((number + share) * length / count for share in (0.03, 0.97))
        mesh = bar(low - (skin if number == 0 else 0), high + (skin if number == count - 1 else 0), KNUCKLE * skin)
        yield Thing(name, mesh, place, kit.colour(joint.parts[number % 2]))


def _stands(kit: Kit) -> Iterator[Thing]:
    """A plate with a neck that holds a fixed point: from below, or from above where everything hangs."""
    skin = kit.skin
    plate = prism(rounded_square(PLATE * skin, 0.4 * skin), -(STAND + PLATE_THICK) * skin, -STAND * skin, 0.12 * skin)
    neck = prism(circle(NECK * skin, 24), -STAND * skin - 0.01 * skin, 0.0, 0.1 * skin)
    for name in kit.scene.footings:
        turn = np.eye(3) if not _hangs(kit, name) else np.diag([1.0, -1.0, -1.0])
        place = standing(kit.at(name), np.broadcast_to(turn, (len(kit.frames), 3, 3)))
        for mesh in (plate, neck):
            yield Thing(f"ground {name}", mesh, place, STONE, DULL)


def _hangs(kit: Kit, name: str) -> bool:
    """Whether what is fastened to a fixed point is below it most of the time."""
    ground = kit.scene.ground
    linked = [part.points for part in kit.scene.parts] + [spring.points for spring in kit.scene.springs]
    heights = [kit.mean(point)[2] for points in linked if name in points for point in points if point not in ground]
    return bool(heights) and float(np.mean(heights)) < kit.mean(name)[2]


def _guides(kit: Kit) -> Iterator[Thing]:
    """A rail as long as it is used, and a sleeve where a point slides on it."""
    shop = Workshop(kit.scene, kit.frames)
    lines: list[tuple[Line, Sequence[str]]] = []
    for names in kit.scene.guides:
        line = shop.line_through(names)
        lines.append((line, [name for name in names if name not in line]))
    lines += [(slot.line, [slot.point]) for slot in kit.scene.actions.slots]
    for line, sliding in lines:
        yield from _rail(kit, shop, line, sliding)


def _rail(kit: Kit, shop: Workshop, line: Line, sliding: Sequence[str]) -> Iterator[Thing]:
    name, skin = f"line {''.join((*line, *sliding))}", kit.skin
    start, end = (kit.at(point) for point in line)
    turn = turned_along(end - start)
    low, high = shop.extent(line, [*line, *sliding], SLEEVE_LENGTH * skin)
    carrier = None if shop.is_ground(line) else shop.carrier(line)
    colour = kit.colour(carrier.name) if carrier else STEEL
    yield Thing(name, bar(low, high, RAIL * skin), standing(start, turn), colour, SHINY, inner=True)
    sleeve = bar(-SLEEVE_LENGTH / 2 * skin, SLEEVE_LENGTH / 2 * skin, SLEEVE * skin, 0.2 * skin)
    for point in sliding:
        yield Thing(name, sleeve, standing(kit.at(point), turn), kit.theme.parts[-1])


def _curves(kit: Kit) -> Iterator[Thing]:
    """Wires along curves x(s), y(s), z(s) that stay where they are; they are told in the world's own directions."""
    turn = upright(kit.scene)
    shop = Workshop(kit.scene, turned(kit.frames, turn.T))
    place = standing(np.zeros((len(kit.frames), 3)), np.broadcast_to(turn, (len(kit.frames), 3, 3)))
    for curve in [each for each in kit.scene.actions.curves if each.implicit is None]:
        shape = curve_shape(curve, shop)
        for line in shape.lines(0) if shape and not shape.moves else ():
            yield Thing(f"curve of {curve.point}", tube(line, RAIL * kit.skin), place, STEEL, SHINY, inner=True)


def _ropes(kit: Kit) -> Iterator[Thing]:
    for rope in kit.scene.actions.ropes:
        name = "".join(rope.points)
        for pair in dict.fromkeys(pairwise(rope.points)):
            line = rod_between(kit, f"rope {name}", pair, ROPE * kit.skin, kit.theme.edge)
            yield _while_held(kit, name, line) if name in kit.scene.bonds else line


def _bonds(kit: Kit) -> Iterator[Thing]:
    """A ball where a bond holds two points together, while it does."""
    for bond in kit.scene.actions.bonds:
        if len(bond.points) == 2:
            mesh, place = ball(BALL * kit.skin), standing(kit.at(bond.points[0]))
            yield _while_held(kit, bond.name, Thing(f"bond {bond.name}", mesh, place, STEEL, SHINY))


def _while_held(kit: Kit, bond: str, thing: Thing) -> Thing:
    """Too small to be seen while its bond is open."""
    matrices = thing.matrices.copy()
    matrices[~kit.scene.holds(bond, kit.frames.t), :3, :3] *= UNSEEN
    return replace(thing, matrices=matrices)


def _dampers(kit: Kit) -> Iterator[Thing]:
    """A cylinder on the first point, a piston rod on the second; around it the coil of a spring, where there is one."""
    actions = kit.scene.actions
    damping = [(each.points, float(each.damping)) for each in actions.dampers]
    damping += [(each.points, float(each.damping)) for each in actions.spring_laws]
    sprung = {frozenset(spring.points) for spring in kit.scene.springs}
    for points in [points for points, strength in damping if strength]:
        wide = (0.55 if frozenset(points) in sprung else 1.0) * kit.skin
        start, end = (kit.at(point) for point in points)
        name = f"damper {''.join(points)}"
        length = float(np.linalg.norm(end - start, axis=1).mean()) or kit.skin
        yield Thing(name, bar(0.12 * length, 0.6 * length, wide), spanning(start, end, length), STONE)
        yield rod_between(kit, name, points, PISTON * wide, STEEL)


def _barriers(kit: Kit) -> Iterator[Thing]:
    """Plates for planes that points stay above, balls to stay out of, and what holds like a rope."""
    for plate in plates(kit.scene, kit.frames, upright(kit.scene)):
        mesh = prism(
            rounded_square(plate.half, 0.05 * plate.half), -2 * THICK * plate.half, 0.0, 0.1 * THICK * plate.half
        )
        turn = shortest_turn(np.broadcast_to(np.eye(3)[2], plate.normal.shape), plate.normal)
        yield Thing(plate.name, mesh, standing(plate.middle, turn), STONE, DULL)
    for each in rounds(kit.scene, kit.frames):
        if each.rope:
            yield rod_between(kit, each.name, (each.points[0], each.points[1]), ROPE * kit.skin, kit.theme.edge)
        else:
            yield Thing(each.name, ball(each.radius), standing(kit.at(each.points[0])), STONE, DULL)
