"""Where joints take hold of parts.

Coordinates are points, so the equations say that a slot on the part AB pushes at A and at B. It does not: it pushes on
AB, where the pin is. A grip tells which rows of an element mean the part as a whole, and at which place.
"""

from __future__ import annotations

from mechsim.frozen import frozen
from mechsim.model.axis import NORMAL, Axis


@frozen
class Place:
    """At a point; or from there so far `along` the direction of a line, and `across` it to the left."""

    point: str
    line: tuple[str, str] | None = None
    along: float = 0.0
    across: float = 0.0

    @property
    def is_point(self) -> bool:
        return not (self.along or self.across)


@frozen
class Grip:
    """An element's hold on one part: what its rows put on these `points` of the part, and on its turn angle, acts on
    the part at `place`.

    With a `bearing` the rows know only a torque, as those of gears do: it is that of a force at `place`, across the
    line to it, and of the opposite force in the bearing, which the `carrier` (or the ground) takes.
    """

    part: str
    points: tuple[str, ...]
    place: Place
    directs: bool = False  # it keeps the direction of the part too, by a torque besides the force
    bearing: str = ""
    carrier: str = ""
    held: str = ""  # the centre of the other wheel, where that is fixed: there the carrier feels the opposite force
    axis: Axis = NORMAL  # what the part turns about, and its torque is about

    @property
    def is_toothed(self) -> bool:
        return bool(self.bearing)
