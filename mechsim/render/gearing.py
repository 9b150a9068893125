"""Wheels with the lines they roll on, gears and racks. All teeth have one size, and mesh as the motion starts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mechsim.render import symbols
from mechsim.render.fitting import Fitting, Paint
from mechsim.render.scene import SceneBody
from mechsim.render.workshop import Workshop
from mechsim.spec.actions import Gear, Rolling

DISC = Paint(0.42, 0.9, 1.6, shadow=True)
RIM = Paint(None, 0.5, 1.2)
RING = Paint(0.42, None)
RING_EDGE = Paint(None, 0.9, 1.6)
GROUND = Paint(None, 0.6, 1.4)
ROAD = Paint(None, 0.8, 1.8)
UNDER = -0.1  # the height of a wheel's disc, seen from its part, which is its spoke
TEETH = range(24, 49)  # of the smallest gear
MOST_TEETH = 2000  # of the largest gear: a tooth is then a pixel or two
NEARLY = 0.02  # teeth, that a number of them may be from a whole one


def wheel_fittings(shop: Workshop) -> Iterator[Fitting]:
    for wheel in (each for each in shop.scene.actions.rollings if each.rack is None):
        body, radius = shop.bodies[wheel.part], float(wheel.radius)
        name = f"wheel {wheel.part} on {''.join(wheel.line)}"
        yield _road(shop, wheel, name)
        yield _on(body, name, "wheel", symbols.arc(abs(radius)), DISC, UNDER)
        yield _on(body, name, "wheel", symbols.arc(max(0.86 * abs(radius), abs(radius) - shop.skin)), RIM, UNDER / 2)


def _road(shop: Workshop, wheel: Rolling, name: str) -> Fitting:
    """The line, as far as the wheel rolls on it; hatched on the other side if it is fixed in the world."""
    radius = float(wheel.radius)
    centre = shop.bodies[wheel.part].points[0]
    points = [centre, *wheel.line] if shop.is_ground(wheel.line) else [centre]
    low, high = shop.extent(wheel.line, points, abs(radius) + 2 * shop.skin)
    if not shop.is_ground(wheel.line):
        road = np.array([[low, 0], [high, 0]])
        return Fitting(name, "wheel", (road,), ROAD, wheel.line[0], wheel.line, height=shop.on_top(wheel.line, 0.2))
    lines = symbols.hatching(low, high, max(shop.skin, 0.12 * abs(radius)))
    return Fitting(
        name, "wheel", tuple(line * (1, np.sign(radius)) for line in lines), GROUND, wheel.line[0], wheel.line
    )


def gear_fittings(shop: Workshop) -> Iterator[Fitting]:
    """Every gear once for each of its radii, and racks with their teeth."""
    actions = shop.scene.actions
    racks = [each for each in actions.rollings if each.rack]
    radii = [float(r) for gear in actions.gears for r in (gear.radius, gear.other_radius)]
    radii += [float(rack.radius) for rack in racks]
    if not radii:
        return
    module = _module([abs(radius) for radius in radii])
    phases: dict[tuple[str, float], float] = {}
    for gear in actions.gears:
        _mesh(shop, gear, module, phases)
    for rack in racks:
        phases.setdefault((rack.part, float(rack.radius)), 0.0)
    for (part, radius), phase in phases.items():
        yield from _gear(shop, shop.bodies[part], radius, module, phase)
    for rack in racks:
        yield _rack(shop, rack, module, phases[rack.part, float(rack.radius)])


def _module(radii: Sequence[float]) -> float:
    """The size of teeth, 2 r / z, that gives every gear a whole number of them; 0 if none does, or if the largest gear
    would have more than can be seen."""
    for teeth in TEETH:
        module = 2 * min(radii) / teeth
        if 2 * max(radii) > MOST_TEETH * module:
            return 0.0
        if all(abs(2 * radius / module - round(2 * radius / module)) < NEARLY for radius in radii):
            return module
    return 0.0


def _teeth(radius: float, module: float) -> int:
    return round(2 * abs(radius) / module) if module else 0


def _mesh(shop: Workshop, gear: Gear, module: float, phases: dict[tuple[str, float], float]) -> None:
    """Turn the second gear's teeth so that on the line of centres a gap of its stands where the first has a tooth."""
    one, other = (gear.part, float(gear.radius)), (gear.other, float(gear.other_radius))
    if other in phases and one not in phases:
        one, other = other, one
    phases.setdefault(one, 0.0)
    if other in phases or not module:
        phases.setdefault(other, 0.0)
        return
    (centre, theta), (other_centre, other_theta) = (_start(shop, each[0]) for each in (one, other))
    line = float(np.angle(other_centre - centre))
    passed = _teeth(one[1], module) * (line - theta - phases[one])  # of the first's teeth, as angles of a tooth
    if one[1] > 0 and other[1] > 0:
        phases[other] = line + np.pi - other_theta + (passed + np.pi) / _teeth(other[1], module)
        return
    # Gear and ring touch on the same side of both centres, and the line between them has teeth of both.
    side = np.pi if other[1] < 0 else 0.0
    passed += _teeth(one[1], module) * side
    phases[other] = line + side - other_theta - passed / _teeth(other[1], module)


def _start(shop: Workshop, part: str) -> tuple[complex, float]:
    """The centre and the angle of a gear in the first frame."""
    a, b = (shop.frames.points[name][0] @ (1, 1j) for name in shop.bodies[part].points[:2])
    return complex(a), float(np.angle(b - a))


def _gear(shop: Workshop, body: SceneBody, radius: float, module: float, phase: float) -> Iterator[Fitting]:
    name, teeth = f"gear {body.name}", _teeth(radius, module)
    edge = symbols.toothed(abs(radius), teeth, phase)
    if radius > 0:
        yield _on(body, name, "gear", edge, DISC, UNDER)
        yield _on(body, name, "gear", symbols.arc(0.82 * radius), RIM, UNDER / 2)
        return
    outer = symbols.arc(abs(radius) + max(2.2 * module, 2.5 * shop.skin), phase, phase + 2 * np.pi - 1e-3)
    edge = np.vstack([edge, edge[:1]])
    yield _on(body, name, "gear", np.vstack([outer, edge[::-1]]), RING, UNDER)
    yield _on(body, name, "gear", edge, RING_EDGE, UNDER / 2)
    yield _on(body, name, "gear", outer, RING_EDGE, UNDER / 2)


def _rack(shop: Workshop, rack: Rolling, module: float, phase: float) -> Fitting:
    """A bar below the pitch line with teeth above it, as far as the part goes."""
    assert rack.rack
    body, radius = shop.bodies[rack.rack], float(rack.radius)
    line, theta = rack.line, _start(shop, rack.part)[1]
    start, end = (shop.frames.points[name][0] @ (1, 1j) for name in line)
    contact, height = shop.places(line, shop.bodies[rack.part].points[0])[0]
    low, high = shop.extent(line, body.points, 0.0)
    depth = max(2.2 * module, 2.0 * shop.skin)
    x = np.linspace(low, high, 400)
    y = np.zeros_like(x)
    if module:
        down = float(np.angle(end - start)) - np.pi / 2 - theta - phase  # of the pinion, counted from its first tooth
        passed = 2 * (x - contact) / module + _teeth(radius, module) * down + np.pi
        y = symbols.tooth(passed, module)
    bar = np.vstack(
        [np.column_stack([x, height - radius + y]), [[high, height - radius - depth], [low, height - radius - depth]]]
    )
    return _on(body, f"rack {rack.rack}", "rack", bar, DISC, -UNDER)


def _on(body: SceneBody, name: str, kind: str, shape: np.ndarray, paint: Paint, above: float) -> Fitting:
    """A shape fixed to a part, in its colour."""
    along = (body.points[0], body.points[1])
    return Fitting(name, kind, (shape,), paint, body.points[0], along, height=body.layer + above, colour=body.colour)
