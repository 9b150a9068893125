"""A part made of shapes: its solids, and the mass, centroid and inertia that follow from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mechsim.errors import Fault, Mark, SpecError
from mechsim.frozen import frozen
from mechsim.spec.bodies import Body, lies_within, overlap
from mechsim.spec.document import Number, Rigid, Solid
from mechsim.spec.living import hypot, plain
from mechsim.spec.names import SPACE, points_of
from mechsim.spec.number import values_of
from mechsim.spec.polygon import ROUNDING, Polygon
from mechsim.spec.shapes import shown
from mechsim.spec.solids import FORMS, LENGTHWISE, Drawn, Named, Spot
from mechsim.spec.suggest import did_you_mean, listed
from mechsim.spec.weight import ORIGIN, UPRIGHT, Axes, Place, Weight, axes_along, axes_turned, joined, minus, placed
from mechsim.spec.weight import together as added

SHAPES = {"disc": "cylinder", "plate": "box", "polygon": "prism"}  # of the plane, as what they are in space
ROUND_HOLE = 48  # corners of a round hole in a prism, for pictures
DERIVED = "by shape"  # the text of a number that nobody wrote


def shaped(part: Rigid, drawn: Sequence[Drawn]) -> Rigid:
    """The part with these shapes. Those with a density or mass say what it weighs, if any has. Raises SpecError."""
    frame = Frame.of(part)
    made = [_make(each, frame) for each in drawn]
    part = replace(part, solids=tuple(_solid(*each, frame) for each in made))
    weights = [found for shape in made if (found := _weight(*shape)) is not None]
    if not weights:
        return part
    mark = next(each.mark for each in drawn if each.weighs)
    whole = added(weights)
    inertia = whole.inertia if frame.dimension == SPACE else whole.inertia[2:3]
    return replace(
        part,
        centroid=_numbers(whole.centre[: frame.dimension], mark),
        mass=Number(whole.mass, DERIVED, mark),
        inertia=_numbers(inertia, mark),
        by_solids=True,
    )


def _numbers(values: Sequence[float], mark: Mark) -> tuple[Number, ...]:
    return tuple(Number(value, DERIVED, mark) for value in values)


@frozen
class Frame:
    """Where shapes are placed: the frame of a part, or of the `body` out of which they are cut."""

    name: str
    points: dict[str, Place]
    line: tuple[Place, Place]
    dimension: int
    body: Body | None = None

    @staticmethod
    def of(part: Rigid) -> Frame:
        places = [_padded(values_of(corner)) for corner in part.geometry]
        dimension = len(part.geometry[0])
        return Frame(part.name, dict(zip(part.points, places, strict=True)), (places[0], places[1]), dimension)

    def place(self, spot: Spot, drawn: Drawn) -> Place:
        if not isinstance(spot, Named):
            return _padded(values_of(spot))
        if spot.point in self.points and not self.body:
            return self.points[spot.point]
        if self.body:
            hint = "a hole is placed in the frame of its shape: write coordinates"
            raise SpecError(Fault(f"{drawn.label} is placed at {spot.point}", spot.mark, hint))
        hint = did_you_mean(spot.point, self.points) or f"it has {listed(self.points)}"
        raise SpecError(Fault(f"{self.name} has no point {spot.point}", spot.mark, hint))


Made = tuple[Drawn, Body, list[Body]]


def _padded(values: Sequence[float]) -> Place:
    return (*values, *(0.0,) * (3 - len(values)))


def _make(drawn: Drawn, frame: Frame) -> Made:
    """A shape in its frame, and what is cut out of it, in its own."""
    body = _body(drawn, frame)
    inside = replace(frame, body=body)
    holes: list[Body] = []
    for each in drawn.values.get("holes", ()):
        hole = _body(each, inside)
        if not lies_within(hole, body):
            hint = f"it is placed in the frame of its {drawn.form}, whose origin is {_origin_words(drawn)}"
            raise SpecError(Fault(f"{each.label} is not within its {drawn.form}", each.mark, hint))
        other = next((number for number, earlier in enumerate(holes, 1) if overlap(hole, earlier)), None)
        if other:
            raise SpecError(Fault(f"{each.label} overlaps hole {other} of its {drawn.form}", each.mark))
        holes.append(hole)
    return drawn, body, holes


def _origin_words(drawn: Drawn) -> str:
    return "that of its coordinates" if drawn.outline is not None else "its centre of mass"


def _body(drawn: Drawn, frame: Frame) -> Body:
    ends = _ends(drawn, frame)
    shape, flat = SHAPES.get(drawn.form, drawn.form), frame.dimension != SPACE
    outline = _outline(drawn, frame)
    sizes = [*values_of(drawn.sizes)]
    if drawn.form in LENGTHWISE and len(sizes) < len(FORMS[drawn.form].sizes):
        sizes.append(_length(drawn, frame, ends))
    elif ends and drawn.form in LENGTHWISE:
        message = f"{drawn.label} has its {FORMS[drawn.form].sizes[-1]} twice: {shown(drawn.sizes[-1])}, and from..to"
        raise SpecError(Fault(message, drawn.sizes[-1].mark, "leave out one of them"))
    if shape == "prism" or drawn.form in SHAPES:
        sizes.append(_thickness(drawn, frame))
    return Body(shape, tuple(sizes), _at(drawn, frame, ends, sizes), _axes(drawn, frame, ends), outline, flat)


def _ends(drawn: Drawn, frame: Frame) -> tuple[Place, Place] | None:
    if "from" not in drawn.values:
        return None
    start, end = (frame.place(drawn.values[key], drawn) for key in ("from", "to"))
    if not any(minus(end, start)):
        raise SpecError(Fault(f"{drawn.label} begins where it ends", drawn.mark))
    return start, end


def _length(drawn: Drawn, frame: Frame, ends: tuple[Place, Place] | None) -> float:
    """Of a line that is given, of the part's own, or right through the body that is cut."""
    if ends is None and frame.body is not None:
        extent = frame.body.extent()
        if extent is None or drawn.form != "cylinder":
            raise SpecError(Fault(f"{drawn.label} needs a {FORMS[drawn.form].sizes[-1]}", drawn.mark))
        return extent
    start, end = ends or frame.line
    return hypot(*minus(end, start))


def _thickness(drawn: Drawn, frame: Frame) -> float:
    if frame.body is not None:
        if "thickness" not in drawn.values:
            extent = frame.body.extent()
            if extent is None:
                raise SpecError(Fault(f"{drawn.label} needs a thickness", drawn.mark))
            return extent
        if frame.dimension != SPACE:
            raise SpecError(Fault(f"{drawn.label} has a thickness, but goes right through", drawn.mark))
    number = drawn.values.get("thickness")
    if number is None:
        return 0.0
    if number.value <= 0:
        message = f"the thickness of {drawn.label} is {shown(number)}, but must be above zero"
        raise SpecError(Fault(message, number.mark))
    thickness: float = number.value
    return thickness


def _at(drawn: Drawn, frame: Frame, ends: tuple[Place, Place] | None, sizes: Sequence[float]) -> Place:
    if "at" in drawn.values:
        return frame.place(drawn.values["at"], drawn)
    if drawn.outline is not None or (frame.body is not None and ends is None):
        return ORIGIN
    start, end = ends or frame.line
    if drawn.form == "cone":  # its centre of mass is above its base
        share = sizes[-1] / 4 / hypot(*minus(end, start))
        return tuple(a + share * (b - a) for a, b in zip(start, end, strict=True))
    return tuple((a + b) / 2 for a, b in zip(start, end, strict=True))


def _axes(drawn: Drawn, frame: Frame, ends: tuple[Place, Place] | None) -> Axes:
    if "turn" in drawn.values:
        sequence, angles = drawn.values["turn"]
        return axes_turned(sequence, values_of(angles))
    if "along" in drawn.values:
        return axes_along(_padded(values_of(drawn.values["along"])))
    if ends is not None:
        return axes_along(minus(ends[1], ends[0]))
    if drawn.form in (*LENGTHWISE, "ring") and frame.body is None:
        return (0.0, 0.0, -1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)
    return UPRIGHT


# --- outlines


def _outline(drawn: Drawn, frame: Frame) -> Polygon | None:
    if drawn.outline is None:
        return None
    if isinstance(drawn.outline, Named):
        corners, marks = _named_corners(drawn, drawn.outline, frame), [drawn.outline.mark] * len(drawn.outline.point)
    else:
        corners = [(x, y) for x, y in map(values_of, drawn.outline)]
        marks = [corner[0].mark for corner in drawn.outline]
    for number, corner in enumerate(corners):
        if corner == corners[number - 1]:
            twice = f"corners {number or len(corners)} and {number + 1} of {drawn.label} are the same"
            hint = "the last corner is joined to the first by itself" if number == 0 else ""
            raise SpecError(Fault(twice, marks[number], hint))
    polygon = Polygon(tuple(corners))
    crossing = polygon.crossing()
    if crossing:
        one, other = (f"the edge from {_shown(edge[0])} to {_shown(edge[1])}" for edge in crossing)
        place = marks[corners.index(crossing[1][0])]
        raise SpecError(Fault(f"{drawn.label} crosses itself: {one} meets {other}", place))
    if abs(polygon.moments()[0]) <= ROUNDING * polygon.size**2:
        raise SpecError(Fault(f"the corners of {drawn.label} are on one line", marks[0]))
    return polygon


def _shown(corner: tuple[float, float]) -> str:
    return f"({plain(corner[0]):g}, {plain(corner[1]):g})"


def _named_corners(drawn: Drawn, names: Named, frame: Frame) -> list[tuple[float, float]]:
    points = points_of(names.point, names.mark)
    if len(points) < 3:
        raise SpecError(Fault(f"{drawn.label} has {len(points)} corners, it needs three or more", names.mark))
    for key in ("at", "turn"):
        if key in drawn.values:
            hint = f"leave out {key}, or write corners as [x, y]"
            raise SpecError(Fault(f"{drawn.label} has points of the part for corners, and `{key}`", names.mark, hint))
    places = [frame.place(Named(point, names.mark), drawn) for point in points]
    beside = next((point for point, place in zip(points, places, strict=True) if place[2] != 0), None)
    if beside:
        hint = "write corners as [x, y], and place them by `at` and `turn`"
        message = f"the corner {beside} of {drawn.label} is not in the xy plane of {frame.name}"
        raise SpecError(Fault(message, names.mark, hint))
    return [(x, y) for x, y, _ in places]


# --- what comes of it


def _weight(drawn: Drawn, body: Body, holes: Sequence[Body]) -> Weight | None:
    """In the frame of the part; None for a picture."""
    if not drawn.weighs:
        return None
    whole = body.weight()
    one = added([whole, *(hole.weight().placed(hole.at, hole.axes).times(-1.0) for hole in holes)])
    if one.mass <= ROUNDING * whole.mass:
        raise SpecError(Fault(f"the holes of {drawn.label} leave nothing of it", drawn.mark))
    factor = drawn.values["mass"].value / one.mass if "mass" in drawn.values else drawn.values["density"].value
    return one.times(factor).placed(body.at, body.axes)


def _solid(drawn: Drawn, body: Body, holes: Sequence[Body], frame: Frame) -> Solid:
    cut = tuple(
        _bare(drawn, replace(hole, at=placed(hole.at, body.at, body.axes), axes=joined(hole.axes, body.axes)), frame)
        for hole in holes
    )
    found = replace(_bare(drawn, body, frame), cut=cut)
    if body.outline is None:
        return found
    x, y, _ = body.weight().centre
    outlines = [_hole_outline(hole, (x, y)) for hole in holes if hole.goes_through(body)]
    return replace(found, holes=tuple(_corners(each, drawn.mark) for each in outlines))


def _bare(drawn: Drawn, body: Body, frame: Frame) -> Solid:
    centre = body.at
    outline: tuple[tuple[Number, ...], ...] = ()
    if body.outline is not None:
        middle = body.weight().centre
        centre = placed(middle, body.at, body.axes)
        outline = _corners([(x - middle[0], y - middle[1]) for x, y in body.outline.corners], drawn.mark)
    sizes, at = _numbers(body.sizes, drawn.mark), _numbers(centre[: frame.dimension], drawn.mark)
    return Solid(body.shape, sizes, at, body.axes, outline)


def _corners(corners: Sequence[tuple[float, float]], mark: Mark) -> tuple[tuple[Number, ...], ...]:
    return tuple(_numbers(corner, mark) for corner in corners)


def _hole_outline(hole: Body, centre: tuple[float, float]) -> list[tuple[float, float]]:
    section = hole.section()
    corners = section.corners if section else [(x, y) for x, y, _ in hole.farthest()[::2]]
    return [(x - centre[0], y - centre[1]) for x, y in corners]
