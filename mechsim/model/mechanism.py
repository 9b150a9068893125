"""Mechanism: points, coordinates and elements, ready to be given equations. Frozen; knows no equation itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING

import numpy as np

from mechsim.errors import Mark, Note
from mechsim.frozen import frozen
from mechsim.lagrangian.law import Law
from mechsim.model.axis import Axis
from mechsim.model.grip import Grip
from mechsim.model.origin import NAMED_BY_SORT, NOT_OF_A_FILE, WORDS, Origin
from mechsim.spec.document import Solid
from mechsim.spec.living import PLAIN

if TYPE_CHECKING:
    from mechsim.model.outlines import Outline


@frozen
class Variable:
    """One coordinate of q. `label` is its column name (`A_x`, `theta_OF`); errors are judged relative to `scale`."""

    label: str
    owner: str  # the point, or the part of a turn angle
    kind: str  # "position", "angle", "coordinate" (of a curve, without mass), or "state" (first order)
    scale: float
    units: tuple[str, str] | None = None  # of the value and its rate; None: those of its kind
    axis: Axis | None = None  # of a turn angle: what it turns about


@frozen
class Element:
    """One instance of an element kind: which coordinates are its local variables, and its parameters.

    A slot >= 0 is an index into `Mechanism.variables`; a slot s < 0 is the constant `Mechanism.constants[-1 - s]`,
    so a point fixed in the world needs no kind of its own.
    """

    kind: str
    owner: str  # the part or joint a person would name, in words
    slots: tuple[int, ...]
    parameters: Mapping[str, float]
    multipliers: tuple[str, ...] = ()  # labels of its constraints, as in seed 001 section 4.5; nonholonomic ones last
    mark: Mark | None = None
    observed: tuple[str, ...] = ()  # labels of other elements' multipliers that it reads
    account: bool = False  # its last slot integrates the power of what is not conservative in it
    grips: tuple[Grip, ...] = ()  # parts that it acts on as wholes; on all else it acts at points
    origin: Origin = NOT_OF_A_FILE
    phased: bool = False  # its last parameter is subtracted from its constraint, and its first guess decides it
    sides: tuple[str, ...] = ()  # of each slot the part whose coordinate it is, where that matters; else none at all

    @property
    def title(self) -> str:
        """What a message calls it: `OA`, `slot C-AB`."""
        return titled(self.owner, self.origin)

    @property
    def is_drive(self) -> bool:
        """Whether it prescribes a motion under Drives."""
        return self.origin.sort == "drive"


@frozen
class Part:
    """A part as a person sees it: its points, and where they stand in its own frame (rigid parts only)."""

    name: str
    kind: str  # "rigid", "spring", "particle"
    points: tuple[str, ...]
    geometry: tuple[tuple[float, ...], ...] = ()
    solids: tuple[Solid, ...] = ()  # what it looks like, if the file says so


@frozen
class Guide:
    """A joint that keeps a point on a line, `offset` to its left; and a part turned by `angle` against it, or turned
    about by half a turn, which satisfies the same equation."""

    point: str
    line: tuple[str, str]
    offset: float = 0.0
    part: str = ""  # "": only the point is kept
    angle: float = 0.0
    mark: Mark | None = None


@frozen
class Switch:
    """At `time` some constants of the mechanism take new values: a break of a table or of a piecewise function."""

    time: float
    values: Mapping[int, float]  # constant number -> value


@frozen
class Port:
    """The constants that hold an input: its value and, where it is a polynomial in time, since when, and its further
    coefficients, the slope first."""

    value: int
    since: int = -1
    slopes: tuple[int, ...] = ()


@frozen
class Sampler:
    """Every `period` from `start` on, the signals of `element` are computed and held until the next time."""

    element: int
    start: float
    period: float
    constants: tuple[int, ...]  # one per signal


@frozen
class Gap:
    """A constraint that only pushes: its element keeps h(q, t) at zero while the constant `mode` is 1, and nothing
    while that is 0; h >= 0 always. `account` is the coordinate that tells the energy it took.

    A `bond` holds both ways, and only events of the user open and close it; its rows are gaps of one name and mode.
    """

    name: str
    element: int
    mode: int
    account: int  # -1: of a bond that never takes hold
    restitution: float
    mark: Mark | None = None
    law: int = 0  # what restitution is of, in an impact with friction (spec/contacts.py, LAWS)
    slow: float = 0.0  # what closes more slowly does not bounce
    bond: bool = False
    place: int = 0  # of its constraint among those of its element
    held: int | None = None  # of a bond: the constant that its row keeps, as found where it takes hold; None: zero


@frozen
class Friction:
    """Coulomb's friction: its element keeps a speed at zero while the constant `mode` is 1, and else rubs against the
    `sense` in which it slides, a constant too. It is `kinetic` times what the gap of a number pushes with, or where
    that is -1, the first signal of its element; up to `limit` times as much while it sticks."""

    name: str
    element: int
    mode: int
    sense: int
    gap: int
    kinetic: float
    limit: float
    account: int
    mark: Mark | None = None


@frozen
class Lent:
    """A gap, by its number, that is lent to ways to touch of one sort; its constants say to which."""

    gap: int
    sort: int
    constants: tuple[int, ...]


@frozen(eq=False)
class Pair:
    """Two outlines that stay apart, all ways in which they may touch, what each gives to the constants of a gap that is
    lent to it, and these gaps."""

    name: str
    first: Outline
    second: Outline
    ways: np.ndarray
    values: np.ndarray
    lent: tuple[Lent, ...]
    mark: Mark | None = None


@frozen
class Watched:
    """An event of the user: where the first signal of `element` crosses zero, upwards (1), downwards (-1) or either way
    (0), constants take the values of its other signals, bonds open and close, or the motion stops."""

    name: str
    element: int
    direction: int
    stops: bool
    constants: tuple[int, ...]
    mark: Mark | None = None
    releases: tuple[str, ...] = ()  # bonds, by their names
    attaches: tuple[str, ...] = ()
    switch: bool = False  # its one constant is the sign of what is watched, which other formulas read


@frozen
class Weld:
    """Two rigid parts that have one direction: in the plane `part` is at an angle from `other`."""

    part: str
    other: str
    angle: float
    mark: Mark | None = None


@frozen
class Facing:
    """A joint in space that tells how one side is turned against the other, by a row that holds half a turn away
    too: points of the one side, those of the other, and the angle from that to the one."""

    sort: str  # "prism", "coupling"
    first: tuple[str, ...]
    second: tuple[str, ...]
    angle: float
    mark: Mark | None = None


@frozen
class Attitude:
    """What is to be written of how a part in space stands: "quaternion", a sequence of Euler angles such as "zxz",
    "spin" in the world or "own spin" about its axes."""

    part: str
    way: str


@frozen
class Mechanism:
    title: str
    dimension: int
    variables: tuple[Variable, ...]
    constants: tuple[float, ...]
    elements: tuple[Element, ...]
    points: Mapping[str, tuple[int, ...]]  # every point's slots, moving points in lexicographic order, then fixed
    parts: tuple[Part, ...]
    size: float  # a length typical of the mechanism
    laws: Mapping[str, Law] = field(default_factory=dict, metadata=PLAIN)  # by their names: kinds of elements
    switches: tuple[Switch, ...] = ()  # by time; the integrator steps exactly to each
    break_at_end: float | None = None  # where something would switch just as the run ends
    samplers: tuple[Sampler, ...] = ()
    inputs: Mapping[str, Port] = field(default_factory=dict)  # what is set from outside
    readouts: Mapping[str, int] = field(default_factory=dict)  # signals asked for: the element that computes each
    drawn: tuple[str, ...] = ()  # columns of points that are only drawn: what `System.places` gives
    guesses: Mapping[int, float] = field(default_factory=dict)  # of variables that no part places, such as `s_P`
    guides: tuple[Guide, ...] = ()
    notes: tuple[Note, ...] = ()  # what the file says that may not be meant
    welds: tuple[Weld, ...] = ()
    facings: tuple[Facing, ...] = ()
    attitudes: tuple[Attitude, ...] = ()  # columns about parts in space that are asked for
    accelerations: tuple[str, ...] = ()  # points and turn angles whose accelerations are; or "all"
    jerks: tuple[str, ...] = ()  # ... and whose rates of these
    events: tuple[Watched, ...] = ()
    gaps: tuple[Gap, ...] = ()  # their elements are the last that have constraints
    pairs: tuple[Pair, ...] = field(default=(), metadata=PLAIN)
    frictions: tuple[Friction, ...] = ()  # their elements come after those of gaps

    @property
    def binding(self) -> tuple[Element, ...]:
        """The element of every constraint."""
        return tuple(element for element in self.elements for _ in element.multipliers)

    @property
    def prescribed(self) -> dict[int, Element]:
        """Constraints that move what they bind, with their elements: drives, and others that depend on time."""
        timed = {name for name, law in self.laws.items() if law.is_prescribed}
        return {row: element for row, element in enumerate(self.binding) if element.is_drive or element.kind in timed}

    @property
    def multipliers(self) -> tuple[str, ...]:
        return tuple(label for element in self.elements for label in element.multipliers)

    @property
    def bilateral(self) -> Mechanism:
        """The same without gaps and what sticks: what holds at the start, bonds that are closed there among it."""
        return self._without(tuple(gap for gap in self.gaps if not (gap.bond and self.constants[gap.mode])))

    @property
    def loose(self) -> Mechanism:
        """The same without gaps and without bonds: what always holds."""
        return self._without(self.gaps)

    def leaning(self, closed: Collection[int], stuck: Collection[int]) -> Mechanism:
        """The same with some gaps, by their numbers, as joints that always hold, and what sticks in some frictions
        held; all others hold nothing."""
        return self._without(tuple(gap for k, gap in enumerate(self.gaps) if k not in closed), stuck)

    @property
    def unaccounted(self) -> Mechanism:
        """The same without accounts of work, which no motion depends on; contacts need theirs."""
        accounts = {element.slots[-1] for element in self.elements if element.account}
        if not accounts or self.gaps or self.frictions:
            return self
        kept = [slot for slot in range(len(self.variables)) if slot not in accounts]
        nothing = -1 - len(self.constants)
        renamed = {slot: place for place, slot in enumerate(kept)} | dict.fromkeys(accounts, nothing)

        def renumbered(slots: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(renamed.get(slot, slot) for slot in slots)

        return replace(
            self,
            variables=tuple(self.variables[slot] for slot in kept),
            constants=(*self.constants, 0.0),
            elements=tuple(replace(each, slots=renumbered(each.slots), account=False) for each in self.elements),
            points={name: renumbered(slots) for name, slots in self.points.items()},
            guesses={renamed[slot]: value for slot, value in self.guesses.items()},
        )

    def _without(self, gaps: tuple[Gap, ...], stuck: Collection[int] = ()) -> Mechanism:
        """Elements of the gaps stay, with nothing but their accounts; the other ones are constraints like all. So do
        those of frictions, but for what sticks."""
        if not self.gaps and not self.frictions:
            return self
        elements, laws = list(self.elements), dict(self.laws)
        holding = {friction.element for k, friction in enumerate(self.frictions) if k in stuck}
        for number in (*(gap.element for gap in gaps), *(friction.element for friction in self.frictions)):
            element = elements[number]
            law = replace(laws[element.kind], push=None, signals=(), observed=0)
            if number not in holding:
                law = replace(law, constraints=(), nonholonomic=())
            laws[law.name] = law
            multipliers = element.multipliers if number in holding else ()
            elements[number] = replace(element, kind=law.name, multipliers=multipliers, observed=())
        return replace(self, elements=tuple(elements), laws=laws, gaps=(), pairs=(), frictions=())

    @property
    def gap_rows(self) -> tuple[int, ...]:
        """The number of each gap's constraint."""
        if not self.gaps:
            return ()
        first = np.cumsum([0, *(len(element.multipliers) for element in self.elements)])
        return tuple(int(first[gap.element]) + gap.place for gap in self.gaps)

    @property
    def friction_rows(self) -> tuple[int, ...]:
        """The number of each friction's constraint."""
        last = sum(len(element.multipliers) for element in self.elements)
        return tuple(range(last - len(self.frictions), last))


def titled(owner: str, origin: Origin) -> str:
    """An owner in words: `slot C-AB` where its name alone, `C,AB`, says too little."""
    if origin.sort not in NAMED_BY_SORT:
        return owner
    return f"{WORDS.get(origin.sort, origin.sort)} {owner.replace(',', '-')}"
