"""What holds and moves a mechanism, as fittings: rails, wheels, ropes, dashpots, torsion springs, motors, blades."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise

import numpy as np

from mechsim.render import symbols
from mechsim.render.barriers import barrier_fittings
from mechsim.render.curves import curve_shape
from mechsim.render.fitting import ACCENT, FLOOR, Fitting, Paint
from mechsim.render.frames import Frames
from mechsim.render.gearing import gear_fittings, wheel_fittings
from mechsim.render.scene import Scene
from mechsim.render.symbols import moved
from mechsim.render.workshop import Line, Workshop
from mechsim.spec.names import PLANE, Distance, reference

RAIL = Paint(0.16, 0.4, 1.2)
GROOVE = Paint(0.05, 0.75, 1.2)
HATCHING = Paint(None, 0.5, 1.2)
TRACK = Paint(None, 0.5, 2.2)
BLOCK = Paint(0.42, 1.0, 1.5, shadow=True)
ROPE = Paint(None, 0.85, 2.2)
SHEAVE = Paint(0.3, 1.0, 1.4, shadow=True)
CYLINDER = Paint(0.1, 0.9, 1.5)
ROD = Paint(None, 0.9, 2.2)
WIRE = Paint(None, 0.95, 2.0)
BADGE = Paint(0.22, 1.0, 1.5)
SIGN = Paint(None, 1.0, 2.0)
BLADE = Paint(0.85, 1.0, 1.2)
TIE = Paint(None, 0.5, 1.4)
PIN, PIN_CENTRE = Paint(0.0, 1.0, 1.5), Paint(1.0, 1.0, 1.0)


def fittings_of(scene: Scene, frames: Frames) -> tuple[Fitting, ...]:
    """All of them, lowest first. They are shapes of the plane; joints in space are solids of their own."""
    if scene.dimension != PLANE:
        return ()
    shop = Workshop(scene, frames)
    found = chain(
        _guides(shop), _curves(shop), wheel_fittings(shop), gear_fittings(shop), _ropes(shop), _dampers(shop),
        _pivot_springs(shop), _skates(shop), _motors(shop), barrier_fittings(shop), _pins(shop),
    )  # fmt: skip
    return tuple(sorted(found, key=lambda fitting: fitting.height))


def _guides(shop: Workshop) -> Iterator[Fitting]:
    """A rail or a groove as long as it is used, with a block on it where something heavy or a whole part slides."""
    actions = shop.scene.actions
    for names in shop.scene.guides:
        line = shop.line_through(names)
        yield from _rail(shop, f"line {''.join(names)}", "collinear", line, names, 0.0)
    for slot in actions.slots:
        name = f"slot of {slot.point} along {''.join(slot.line)}"
        yield from _rail(shop, name, "slot", slot.line, [slot.point], float(slot.offset))
        ball = shop.particle(slot.point)
        size = (1.6 * ball, 1.15 * ball) if ball else (1.15 * shop.skin, 0.62 * shop.skin)
        bond = shop.bond(f"{slot.point}-{''.join(slot.line)}")
        yield _block(shop, name, "slot", slot.point, slot.line, size, bond)
    for slider in actions.sliders:
        first = shop.bodies[slider.part].points[0]
        name = f"slider {slider.part} along {''.join(slider.line)}"
        yield from _rail(shop, name, "slider", slider.line, [first], float(slider.offset), margin=4.0)
        bond = shop.bond(f"{slider.part}-{''.join(slider.line)}")
        yield _block(shop, name, "slider", first, slider.line, (3.0 * shop.skin, 1.3 * shop.skin), bond)


def _rail(
    shop: Workshop, name: str, kind: str, line: Line, points: Sequence[str], offset: float, margin: float = 3.0
) -> Iterator[Fitting]:
    skin = shop.skin
    low, high = shop.extent(line, points, margin * skin)
    if shop.is_ground(line):
        band = moved(symbols.capsule(low, high, 0.36 * skin), 0, offset)
        strokes = tuple(moved(stroke, 0, offset - 0.36 * skin) for stroke in symbols.hatching(low, high, skin))
        yield Fitting(name, kind, strokes, HATCHING, line[0], line)
        yield Fitting(name, kind, (band,), RAIL, line[0], line)
    else:
        groove = moved(symbols.capsule(low, high, 0.5 * skin), 0, offset)
        yield Fitting(name, kind, (groove,), GROOVE, line[0], line, height=shop.on_top(line, 0.2))


def _block(
    shop: Workshop, name: str, kind: str, point: str, line: Line, size: tuple[float, float], bond: str
) -> Fitting:
    height = FLOOR / 2 if shop.is_ground(line) else shop.on_top(line, 0.3)
    return Fitting(name, kind, (symbols.rounded_block(*size),), BLOCK, point, line, height=height, bond=bond)


def _curves(shop: Workshop) -> Iterator[Fitting]:
    for curve in shop.scene.actions.curves:
        name, shape = f"curve of {curve.point}", curve_shape(curve, shop)
        if shape is None:
            continue
        if shape.moves:
            yield Fitting(name, "curve", shape.reach, TRACK, moving=shape)
        elif lines := shape.lines(0):
            yield Fitting(name, "curve", lines, TRACK)


def _ropes(shop: Workshop) -> Iterator[Fitting]:
    for rope in shop.scene.actions.ropes:
        name, bond, line = f"rope {''.join(rope.points)}", shop.bond("".join(rope.points)), (symbols.UNIT_LINE,)
        for pair in dict.fromkeys(pairwise(rope.points)):
            height = max(shop.height(point) for point in pair) + 0.35
            yield Fitting(name, "rope", line, ROPE, pair[0], pair, stretched=True, height=height, bond=bond)
        for point in dict.fromkeys(rope.points[1:-1]):
            disc = symbols.arc(1.3 * shop.skin)
            yield Fitting(name, "rope", (disc,), SHEAVE, point, height=shop.height(point) + 0.3)


def _pins(shop: Workshop) -> Iterator[Fitting]:
    """Pins that bonds are while they hold; a point beside the part that holds it hangs on lines to that."""
    for bond in shop.scene.actions.bonds:
        for pair in [
            (point, end) for point in bond.points for part in bond.parts for end in shop.bodies[part].points[:2]
        ]:
            line, height = (symbols.UNIT_LINE,), shop.height(pair[1]) - 0.05
            yield Fitting(f"bond {bond.name}", "bond", line, TIE, pair[0], pair, True, height, bond=bond.name)
        if not bond.points or any(map(shop.particle, bond.points)):
            continue  # it is no pin, or hidden by what it holds
        joined = [*bond.points, *(shop.bodies[part].points[0] for part in bond.parts)]
        height = max(map(shop.height, joined)) + 0.5
        for radius, paint in ((0.52, PIN), (0.18, PIN_CENTRE)):
            disc = (symbols.arc(radius * shop.skin),)
            yield Fitting(f"bond {bond.name}", "pin", disc, paint, bond.points[0], height=height, bond=bond.name)


def _dampers(shop: Workshop) -> Iterator[Fitting]:
    """Dashpots; beside the coil where a spring joins the same points. Rams of drives look alike, in their colour."""
    actions = shop.scene.actions
    sprung = {frozenset(spring.points) for spring in shop.scene.springs}
    damping = [(each.points, float(each.damping)) for each in actions.dampers]
    damping += [(each.points, float(each.damping)) for each in actions.spring_laws]
    for points in [points for points, strength in damping if strength]:
        side = 3.0 * shop.skin if frozenset(points) in sprung else 0.0
        yield from _dashpot(shop, f"damper {''.join(points)}", "damper", points, side, None)
    for name, kind, quantities in shop.moved():
        for distance in [each for each in map(reference, quantities) if isinstance(each, Distance)]:
            yield from _dashpot(shop, name, kind, distance.points, 0.0, ACCENT)


def _dashpot(shop: Workshop, name: str, kind: str, points: Line, side: float, colour: int | None) -> Iterator[Fitting]:
    """A cylinder on the first point, a piston on the second. Where the stroke is too long for one, it is drawn out."""
    a, b = points
    start, length, rod, rigid = _dashpot_lengths(shop.distances(a, b))
    half = 1.15 * shop.skin
    head = np.array([[rod, -side - 0.75 * half], [rod, -side + 0.75 * half]])
    foot_line = np.array([[0, 0], [0, side], [start, side]])
    rod_line = np.array([[0, 0], [0, -side], [rod, -side]])
    barrel = moved(np.array([[0, -half], [length, -half], [length, half], [0, half]]), start, side)
    height = max(shop.height(a), shop.height(b)) + 0.4
    pieces = (((barrel,), CYLINDER, a, (a, b)), ((foot_line,), ROD, a, (a, b)), ((rod_line, head), ROD, b, (b, a)))
    for order, (shapes, paint, at, along) in enumerate(pieces):
        yield Fitting(name, kind, shapes, paint, at, along, not rigid, height + 0.01 * order, colour)


def _dashpot_lengths(distances: np.ndarray) -> tuple[float, float, float, bool]:
    """Where the cylinder begins, its length, the length of the rod; in metres if True, else in shares of the whole."""
    least, most = float(distances.min()), float(distances.max())
    length = max(1.25 * (most - least), 0.3 * least)
    if length > 0.75 * least:
        return 0.25, 0.42, 0.54, False
    start = 0.45 * (least - length)
    return start, length, (least + most) / 2 - start - length / 2, True


def _pivot_springs(shop: Workshop) -> Iterator[Fitting]:
    """A spiral for a torsion spring, an arc in a bracket for a viscous pivot."""
    for spring in shop.scene.actions.torsion_springs:
        at, along = shop.joint(spring.part, spring.against)
        name, height = f"torsion spring of {spring.part}", shop.height(at) + 0.45
        size = max(shop.skin, 1.25 * shop.particle(at))
        if float(spring.stiffness) or spring.law or spring.energy:
            wire = symbols.spiral(0.75 * size, 2.3 * size, 2.5)
            yield Fitting(name, "torsion spring", (wire,), WIRE, at, along, height=height)
        if float(spring.damping):
            yield Fitting(
                name,
                "joint damper",
                symbols.brake(max(1.7 * shop.skin, 1.3 * shop.particle(at))),
                WIRE,
                at,
                along,
                height=height,
            )


def _skates(shop: Workshop) -> Iterator[Fitting]:
    for skate in shop.scene.actions.skates:
        body = shop.bodies[skate.part]
        shape = symbols.turned(shop.skin * symbols.BLADE, float(skate.angle))
        along = (body.points[0], body.points[1])
        name = f"blade of {skate.part} at {skate.point}"
        yield Fitting(name, "skate", (shape,), BLADE, skate.point, along, height=body.layer + 0.55)


def _motors(shop: Workshop) -> Iterator[Fitting]:
    """A badge where a drive or a controller acts: a turning arrow at a joint, a straight one at a point."""
    for name, kind, quantities in shop.moved():
        for at, turning in dict.fromkeys(shop.acted_on(quantities)):
            radius = max(2.3 * shop.skin, 1.7 * shop.particle(at))
            sign = symbols.turn_sign(radius) if turning else symbols.push_sign(radius)
            height = shop.height(at) + 0.46
            yield Fitting(name, kind, (symbols.arc(radius),), BADGE, at, height=height, colour=ACCENT)
            yield Fitting(name, kind, sign, SIGN, at, height=height + 0.01, colour=ACCENT)
