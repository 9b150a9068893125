"""Parts in space as formulas: their axes, directions that turn with them, lines and what is across them, turn angles.

Every point stands for the part it is meant of (its side), for two parts of a joint may share it: then what the joint
does to each of them is known by virtual power (result/contacts.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mechsim.errors import Fault, Mark, SpecError
from mechsim.frozen import frozen
from mechsim.lagrangian.formula import Formula, cos, number, parameter, sin
from mechsim.lagrangian.vector import SPACE, dot, vector, vector_product
from mechsim.model.book import Draft
from mechsim.model.frames import across
from mechsim.model.geometry import Place, axis, collinear, unit
from mechsim.model.grip import Grip
from mechsim.model.grip import Place as Where
from mechsim.model.inertia import Triangle
from mechsim.model.quantities import Arrow, Quantities
from mechsim.spec.document import Rigid
from mechsim.spec.number import values_of

GROUND = ""
ROUNDING = 1e-15


def constant_arrow(name: str, place: Iterable[float]) -> Arrow:
    """A unit vector that stays as it is; what is zero but for a rounding is left out."""
    labelled = zip("xyz", place, strict=True)
    return vector(
        parameter(f"{name}_{axis}", value) if value**2 > ROUNDING**2 else number(0) for axis, value in labelled
    )


@frozen
class BodyFrame:
    """The axes of a body in space by its reference points: d = b - a, e = c - a, and d x e."""

    part: Rigid
    quantities: Quantities

    @property
    def triangle(self) -> Triangle:
        second, third = (values_of(corner) for corner in self.part.geometry[1:3])
        return Triangle(second[0], third[0], third[1])

    def direction(self, name: str, local: Iterable[float]) -> Arrow:
        """A vector of the part's frame as it stands in the world."""
        return self._turned(name, local, [self.quantities.point(each, self.part.name) for each in self.part.points[:3]])

    def turning(self, name: str, local: Iterable[float]) -> Arrow:
        """Its rate."""
        side, names = self.part.name, self.part.points[:3]
        places = [self.quantities.point(each, side) for each in names]
        rates = [self.quantities.velocity(each, side) for each in names]
        (d, e), (turned, bent) = ((each[1] - each[0], each[2] - each[0]) for each in (places, rates))
        normal = vector_product(turned, e) + vector_product(d, bent)
        return self._combined(name, local, (turned, bent, normal))

    def _turned(self, name: str, local: Iterable[float], places: Sequence[Arrow]) -> Arrow:
        d, e = places[1] - places[0], places[2] - places[0]
        return self._combined(name, local, (d, e, vector_product(d, e)))

    def _combined(self, name: str, local: Iterable[float], axes: tuple[Arrow, Arrow, Arrow]) -> Arrow:
        total = None
        for label, share, each in zip(("xi", "eta", "zeta"), self.triangle.shares(tuple(local)), axes, strict=True):
            if share:
                term = each * parameter(f"{name}_{label}", share)
                total = term if total is None else total + term
        assert total is not None  # no direction has length zero
        return total

    def world(self, components: Arrow) -> Arrow:
        """A vector given by its components along the axes of the part."""
        axes = [self.direction(f"axis{n}", axis(n, SPACE)) for n in range(SPACE)]
        total = axes[0] * components[0]
        for each, component in zip(axes[1:], list(components)[1:], strict=True):
            total = total + each * component
        return total

    def local(self, *names: str) -> list[Place]:
        corners = dict(zip(self.part.points, self.part.geometry, strict=True))
        return [vector(values_of(corners[name])) for name in names]


class Space:
    """What joints ask of the parts of a mechanism in space."""

    def __init__(self, quantities: Quantities):
        self.quantities = quantities
        self.owners = {slot: name for name, slots in quantities.layout.points.items() for slot in slots}

    def body(self, *points: str) -> str:
        """The part that has all these points and a frame, GROUND if they are fixed or no part has."""
        if self.quantities.layout.is_fixed(*points):
            return GROUND
        holders = self.quantities.holders[points[0]]
        found = (part.name for part in holders if set(points) <= set(part.points) and not part.is_rod)
        return next(found, GROUND)

    def side(self, *points: str) -> str:
        """The part that has all these points, with a frame if there is one; GROUND if none has."""
        found = self.body(*points)
        if found or self.quantities.layout.is_fixed(*points):
            return found
        holders = self.quantities.holders[points[0]]
        return next((part.name for part in holders if set(points) <= set(part.points)), GROUND)

    def frame(self, part: str) -> BodyFrame:
        return BodyFrame(self.quantities.rigids[part], self.quantities)

    def body_with(self, points: Sequence[str], title: str, mark: Mark) -> BodyFrame:
        """The frame of the moving part that has all these points; raises SpecError if none has."""
        if body := self.body(*points):
            return self.frame(body)
        rod, named = self.side(*points), ", ".join(points)
        if rod:
            message = f"{title}: {named} are points of {rod}, a rod: all on one line, so it has no axes across it"
            raise SpecError(Fault(message, mark, f"give {rod} a point beside its line, and name it here"))
        message = f"{title}: no part that can move has the points {named}"
        raise SpecError(Fault(message, mark, "name points of one part that has three or more, not all on one line"))

    def has_directions(self, line: Sequence[str]) -> bool:
        """Whether something tells what is across this line: the ground, or a body."""
        return self.quantities.layout.is_fixed(*line) or bool(self.body(*line))

    def across(self, line: tuple[str, str]) -> list[Arrow]:
        """Two unit vectors across a line that belongs to the ground or to a body."""
        part = self.body(*line)
        if part:
            frame = self.frame(part)
            start, end = frame.local(*line)
            return [frame.direction(f"across{n}", each) for n, each in enumerate(across([unit(end - start)]))]
        fixed = [vector(self.quantities.layout.fixed_position(name)) for name in line]
        found = across([unit(fixed[1] - fixed[0])])
        return [constant_arrow(f"across{n}", each) for n, each in enumerate(found)]

    def normal(self, plane: tuple[str, str, str], mark: Mark) -> Arrow:
        """The unit vector across a plane of three points, upward if they go round against the clock."""
        part = self.body(*plane)
        known = self.frame(part).local(*plane) if part else self.fixed(plane)
        if known and collinear(*known):
            message = f"the points {', '.join(plane)} are on one line, so they give no plane"
            raise SpecError(Fault(message, mark, "name a third point beside the line"))
        if part:
            a, b, c = self.frame(part).local(*plane)
            return self.frame(part).direction("normal", unit(vector_product(b - a, c - a)))
        if self.quantities.layout.is_fixed(*plane):
            a, b, c = (vector(self.quantities.layout.fixed_position(name)) for name in plane)
            return constant_arrow("normal", unit(vector_product(b - a, c - a)))
        first, second, third = (self.quantities.point(name) for name in plane)
        return vector_product(second - first, third - first)

    def fixed(self, points: Sequence[str]) -> list[Place]:
        """Where these points are, if all of them are fixed."""
        layout = self.quantities.layout
        return [vector(layout.fixed_position(name)) for name in points] if layout.is_fixed(*points) else []

    def arm(self, start: str, end: str, side: str) -> Arrow:
        return self.quantities.point(end, side) - self.quantities.point(start, side)

    def held(self, draft: Draft, point: str) -> Draft:
        """With a grip on every part whose points its rows name: they act on it as a whole, at this point."""
        names: dict[str, dict[str, None]] = {}
        for tree in draft.formulas():
            for leaf in tree.leaves():
                if leaf.operation in "xv" and len(leaf.operands) > 1:
                    slot, part = leaf.operands
                    names.setdefault(part, {})[self.owners[slot]] = None
        draft.grips += [Grip(part, tuple(points), Where(point), directs=True) for part, points in names.items()]
        return draft


def turn_row(angle: Formula, sine: Formula, cosine: Formula) -> Formula:
    """Zero where an angle is that of a direction with these components, up to half a turn."""
    return sine * cos(angle) - cosine * sin(angle)


def turned_components(axis: Arrow, length: Formula, arm: Arrow, zero: Arrow) -> tuple[Formula, Formula]:
    """Sine and cosine, times a length, of how far an arm is turned about an axis from where zero is."""
    sine = dot(arm, vector_product(axis, zero)) / length
    cosine = dot(arm, zero) - dot(arm, axis) * dot(zero, axis) / length**2
    return sine, cosine
