"""Simple bodies in a frame: what they weigh, and whether one lies within another, from which it is cut."""

from __future__ import annotations

import math

from mechsim.frozen import frozen
from mechsim.spec import weight
from mechsim.spec.living import hypot
from mechsim.spec.polygon import ROUNDING, Polygon
from mechsim.spec.weight import ORIGIN, UPRIGHT, Axes, Place, Weight

ROUND = 48  # places on a rim that are looked at
MOST = 1e300


@frozen
class Body:
    """A shape with the meaning of `document.Solid`, its numbers bare. `flat`: it is part of the plane, and has an area
    in the place of a volume if its thickness is not known (zero)."""

    shape: str
    sizes: tuple[float, ...]
    at: Place = ORIGIN  # of its centre; for a prism, of the origin of its outline
    axes: Axes = UPRIGHT
    outline: Polygon | None = None
    flat: bool = False

    def weight(self) -> Weight:
        """Of the density one, in its own frame."""
        match self.shape, self.sizes:
            case "box", (x, y, z):
                return weight.box(x, y, z, x * y * self._thick(z))
            case "cylinder", (radius, length):
                return weight.cylinder(radius, length, math.pi * radius * radius * self._thick(length))
            case "prism", (thickness,):
                assert self.outline is not None
                area, (x, y), spread = self.outline.moments()
                amount = abs(area) * self._thick(thickness)
                return weight.prism(area, spread, thickness, amount).placed((x, y, 0.0), UPRIGHT)
            case "sphere", (radius,):
                return weight.sphere(radius)
            case "ring", (radius, tube):
                return weight.ring(radius, tube)
            case "cone", (radius, height):
                return weight.cone(radius, height)
        return weight.rod(*self.sizes)

    def _thick(self, thickness: float) -> float:
        return 1.0 if self.flat and thickness == 0 else thickness

    @property
    def size(self) -> float:
        """Roughly."""
        return self.outline.size if self.outline else max(self.sizes)

    def extent(self) -> float | None:
        """Along its own z axis, if that is the same everywhere: how long what goes right through it is."""
        return self.sizes[-1] if self.shape in ("box", "cylinder", "prism") else None

    # --- cutting

    def depth(self, place: Place) -> float:
        """How deep a place of its own frame lies in it, negative outside."""
        x, y, z = place
        height = MOST if self.flat else self.sizes[-1] / 2 - abs(z)
        match self.shape, self.sizes:
            case "box", (a, b, _):
                return _behind(a / 2 - abs(x), b / 2 - abs(y), height)
            case "cylinder", (radius, _):
                return _behind(radius - hypot(x, y), height)
            case "prism", _:
                assert self.outline is not None
                return _behind(self.outline.depth((x, y)), height)
            case "cone", (radius, tall):
                above = z + tall / 4
                slant = (radius * (1 - above / tall) - hypot(x, y)) * tall / hypot(radius, tall)
                return min(above, slant)
        return self.sizes[0] - hypot(x, y, z)

    def farthest(self) -> list[Place]:
        """Corners, or places on rims, in the frame in which it stands."""
        x, y, z = self.sizes if self.shape == "box" else (0.0, 0.0, self.sizes[-1])
        match self.shape:
            case "box":
                found = [(i * x / 2, j * y / 2, k * z / 2) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]
            case "prism":
                assert self.outline is not None
                found = [(x, y, k * z / 2) for x, y in self.outline.corners for k in (-1, 1)]
            case "cylinder":
                found = [(x, y, k * z / 2) for x, y in self._rim() for k in (-1, 1)]
            case "cone":
                found = [(0.0, 0.0, 3 * z / 4), *((x, y, -z / 4) for x, y in self._rim())]
            case _:
                found = []
        return [weight.placed(place, self.at, self.axes) for place in found]

    def _rim(self) -> list[tuple[float, float]]:
        """Beginning with the place that is farthest from the origin."""
        x, y, _ = weight.seen_from(ORIGIN, self.at, self.axes)
        away = hypot(x, y)
        a, b = (-x / away, -y / away) if away > 0 else (1.0, 0.0)
        turns = [(math.cos(angle), math.sin(angle)) for angle in (2 * math.pi * i / ROUND for i in range(ROUND))]
        radius = self.sizes[0]
        return [(radius * (a * c - b * s), radius * (a * s + b * c)) for c, s in turns]

    def goes_through(self, body: Body) -> bool:
        """Whether it is a straight hole from one side to the other, along z of the body."""
        if self.extent() is None or self.axes[2] != UPRIGHT[2]:
            return False
        return self.sizes[-1] >= body.sizes[-1] * (1 - ROUNDING)

    def section(self) -> Polygon | None:
        """What a prism or an upright box is, seen along z of the frame in which it stands."""
        if self.shape not in ("box", "prism") or self.axes[2] != UPRIGHT[2]:
            return None
        corners = self.outline.corners if self.outline else _rectangle(*self.sizes[:2])
        places = [weight.placed((x, y, 0.0), self.at, self.axes) for x, y in corners]
        return Polygon(tuple((x, y) for x, y, _ in places))


def _behind(*faces: float) -> float:
    """How deep a place is that has these depths behind faces at right angles."""
    outside = [depth for depth in faces if depth < 0]
    return -hypot(*outside) if outside else min(faces)


def _rectangle(x: float, y: float) -> list[tuple[float, float]]:
    return [(-x / 2, -y / 2), (x / 2, -y / 2), (x / 2, y / 2), (-x / 2, y / 2)]


def lies_within(hole: Body, body: Body) -> bool:
    """Whether a hole, placed in the frame of the body, is a part of it; it may touch the surface."""
    least = -ROUNDING * body.size
    if hole.shape == "sphere":
        return body.depth(hole.at) - hole.sizes[0] >= least
    outline, section = body.outline, hole.section()
    if outline and section and section.crosses(outline):
        return False
    if outline and hole.shape == "cylinder" and hole.axes[2] == UPRIGHT[2]:
        x, y, _ = hole.at
        if outline.depth((x, y)) - hole.sizes[0] < least:
            return False
    return all(body.depth(place) >= least for place in hole.farthest())


def overlap(one: Body, other: Body) -> bool:
    """Whether two holes of a body surely have places in common."""
    least = ROUNDING * (one.size + other.size)
    sections = one.section(), other.section()
    if one.flat and sections[0] and sections[1] and sections[0].crosses(sections[1]):
        return True
    return _reaches(one, other, least) or _reaches(other, one, least)


def _reaches(one: Body, other: Body, least: float) -> bool:
    """Whether the middle of one, a ball about it, or a place on its rim lies in the other."""
    middle = one.weight().centre
    if one.depth(middle) > 0 and other.shape != "cone":
        is_ball = one.shape == "sphere" or (one.flat and one.shape == "cylinder")
        place = weight.seen_from(weight.placed(middle, one.at, one.axes), other.at, other.axes)
        if other.depth(place) + (one.sizes[0] if is_ball else 0.0) > least:
            return True
    return any(other.depth(weight.seen_from(place, other.at, other.axes)) > least for place in one.farthest())
