"""What acts on a mechanism and what holds it beyond pins: after reading. Frozen, like MechSpec.

An `Expression` here may use time and state (see spec/scope.py); a `Number` is a constant of the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Literal

from mechsim.errors import Mark
from mechsim.frozen import frozen
from mechsim.spec.expression import Expression
from mechsim.spec.number import Number

SpatialSort = Literal["hinge", "universal", "cylinder", "prism", "screw", "plane", "coupling", "disc", "ball"]


@frozen
class Term:
    """A named expression: a signal, a potential, a dissipation function or a constraint."""

    name: str
    expression: Expression
    mark: Mark


@frozen
class StateForce:
    """A force at a point: in the world frame, or in the frame of `part` when that is given."""

    point: str
    part: str | None
    force: tuple[Expression, ...]
    mark: Mark


@frozen
class StateTorque:
    """A torque on `part`; its reaction acts on `against` (None: the world)."""

    part: str
    against: str | None
    torque: Expression
    mark: Mark


@frozen
class Damper:
    """A viscous damper between two points: its tension is `damping` times the rate of their distance."""

    points: tuple[str, str]
    damping: Number
    mark: Mark


@frozen
class TorsionSpring:
    """A spring and damper between two parts (None: the world). `law` and `energy` are expressions in `s`, the
    deflection theta_part - theta_against - rest; `law` is a torque added to the linear one, `energy` a potential."""

    part: str
    against: str | None
    stiffness: Number
    rest: Number
    damping: Number
    law: Expression | None
    energy: Expression | None
    mark: Mark


@frozen
class SpringLaw:
    """What a spring between points has beyond its linear law; as TorsionSpring, with `s` the stretch."""

    points: tuple[str, str]
    length: Number
    damping: Number
    law: Expression | None
    energy: Expression | None
    mark: Mark


@frozen
class Drag:
    """Resistance of the air at a point: -(linear + quadratic*sqrt(v**2 + slow**2)) * velocity."""

    point: str
    linear: Number
    quadratic: Number
    slow: Number
    mark: Mark


@frozen
class Friction:
    """Coulomb's friction mu*load of a point on a line, or of a part turning on another: smooth, times tanh(v/slow), or
    where there is no `slow`, exact; then what sticks does so up to `static` times as much. The line is a belt that runs
    with `belt`.

    `load` None: the reaction of the slot or piston that holds the point on the line.
    """

    name: str
    point: str | None
    line: tuple[str, str] | None
    part: str | None
    against: str | None
    coefficient: Expression
    load: Expression | None
    radius: Number
    slow: Number | None
    mark: Mark
    static: float = 1.0
    belt: Expression | None = None


@frozen
class CentralGravity:
    """Gravity towards a point: the acceleration is mu/r**2."""

    mu: Number
    centre: str
    mark: Mark


@frozen
class Drive:
    """`quantity` moves as `motion` says; `level` 2: positions, 3: velocities (spec/scope.py)."""

    name: str
    quantity: Expression
    motion: Expression
    level: int
    mark: Mark


@frozen
class Controller:
    """A PID controller. Its output acts on `actuated` (terms +-1 and a reference), its error is target - measured."""

    name: str
    actuated: tuple[tuple[float, str], ...]
    measured: Expression
    rate: Expression | None  # None: the rate of what it acts on
    target: Expression
    target_rate: Expression | None
    proportional: Expression
    integral: Expression | None
    derivative: Expression | None
    feedforward: Expression | None
    limit: Number | None
    period: Number | None
    mark: Mark


@frozen
class Input:
    """A value that is set from outside while the mechanism moves: between two times a polynomial of this degree."""

    name: str
    start: Number
    degree: int
    mark: Mark


@frozen
class Table:
    """A function of time through given values. `kind`: step, linear, cubic, pchip or quintic; outside,
    values are held."""

    name: str
    times: tuple[float, ...]
    values: tuple[float, ...]
    kind: str
    ends: str  # of a cubic one: not-a-knot, natural or clamped
    hold: bool  # False: using it outside its times is an error
    mark: Mark


@frozen
class Piecewise:
    """A function of time: each expression holds from its time on, the first one before that too."""

    name: str
    times: tuple[float, ...]
    pieces: tuple[Expression, ...]
    mark: Mark


@frozen
class Slider:
    """A part that slides along a line without turning against it, `offset` to its left and turned by `angle`."""

    part: str
    line: tuple[str, str]
    offset: Number
    angle: Number
    mark: Mark


@frozen
class Slot:
    """A point that slides along a line, `offset` to its left. A piston is a slot whose point has a mass."""

    point: str
    line: tuple[str, str]
    offset: Number
    mark: Mark


@frozen
class SpatialJoint:
    """A joint in space beyond shared points (spec/space_joints.py): points of the one part, and of the other."""

    sort: SpatialSort
    first: tuple[str, ...]
    second: tuple[str, ...]
    number: Number
    mark: Mark

    @property
    def name(self) -> str:
        return f"{''.join(self.first)},{''.join(self.second)}"


@frozen
class Weld:
    """Two parts that do not turn on each other and share a point: in the plane `part` is at an angle from `other`; in
    space their axes have one direction."""

    part: str
    other: str
    angle: Number
    mark: Mark


@frozen
class PartTorque:
    """A torque vector on a part in space, in the world or in the frame of a part."""

    part: str
    frame: str | None
    torque: tuple[Number | Expression, ...]
    mark: Mark


@frozen
class Curve:
    """A point on a curve: `implicit` in its coordinates, or each of them in s (`parametric`), with the value of s to
    start from."""

    point: str
    implicit: Expression | None
    parametric: tuple[Expression, ...] | None
    start: Number
    mark: Mark


@frozen
class Rope:
    """A rope of constant length from point to point; a point may come twice."""

    points: tuple[str, ...]
    length: Number
    mark: Mark


@frozen
class Gear:
    """Two parts that roll on each other; a negative radius is that of a ring. The carrier holds both centres."""

    part: str
    other: str
    radius: Number
    other_radius: Number
    carrier: str | None
    mark: Mark


@frozen
class Rolling:
    """A wheel on a line between two points, or a pinion on a rack. Its part's first point is the centre."""

    part: str
    line: tuple[str, str]
    rack: str | None
    radius: Number
    mark: Mark


@frozen
class Skate:
    """A blade at a point of a part: the point moves only along the direction `angle` of the part's frame; in space not
    `across`, a direction of that frame."""

    part: str
    point: str
    angle: Number
    mark: Mark
    across: tuple[Number, ...] = ()


@frozen
class Rubs:
    """Coulomb's friction in a contact: `mu` of the load while it slides, up to `static` while it sticks."""

    mu: Number
    static: Number


@frozen
class Compliance:
    """How a contact gives way: stiffness * depth**exponent * (1 + 3/2 * damping * rate of depth)."""

    stiffness: Number
    exponent: Number
    damping: Number


@frozen
class Bounce:
    """What an impact leaves: a part, the restitution, of what its `law` says (spec/contacts.py, LAWS), but none where
    a gap closes more slowly than `slow`."""

    restitution: Number
    slow: Number | None = None
    law: int = 0


@frozen
class Contact:
    """A gap that stays open. `gap` itself, or what meets: a point and the two points of a line, `number` to whose left
    it stays; a point and a `curve`, likewise; or two points whose distance stays above `number`, or, `inside`, below
    it."""

    name: str
    bounce: Bounce
    mark: Mark
    points: tuple[str, ...] = ()
    number: Number | None = None
    inside: bool = False
    gap: Expression | None = None
    rubs: Rubs | None = None
    curve: Curve | None = None
    compliance: Compliance | None = None  # instead of a bounce


@frozen
class Side:
    """One of two things that meet. `sort`: "point", "line", "segment", "polygon" or "plane" of these points, or the
    `part` of that name with all its shapes; `hollow`: the other one is inside."""

    sort: Literal["point", "line", "segment", "polygon", "plane", "part"]
    points: tuple[str, ...]
    part: str = ""
    hollow: bool = False


@frozen
class Meeting:
    """Two outlines that stay apart, `offset` farther than their own shapes say."""

    name: str
    first: Side
    second: Side
    bounce: Bounce
    offset: Number | None
    mark: Mark
    rubs: Rubs | None = None


@frozen
class Stop:
    """A quantity that stays between two limits, or on one side of one."""

    name: str
    quantity: Expression
    least: Expression | None
    most: Expression | None
    bounce: Bounce
    mark: Mark
    compliance: Compliance | None = None


@frozen
class Bond:
    """What events let go and take hold of: a `joint`, by its section, whose key is the name; or two points, a point and
    a part, two parts, or quantities that keep what they are. Of a `pin` the part leaves the point (spec/parted.py)."""

    name: str
    mark: Mark
    attached: bool  # at the start
    points: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    quantities: tuple[Expression, ...] = ()
    joint: str = ""
    pin: bool = False


@frozen
class Event:
    """Where `when` crosses zero, upwards (direction 1), downwards (-1) or either way (0): inputs are set, bonds are
    released and attached, or the motion stops; in any case it is written down."""

    name: str
    when: Expression
    direction: int
    stops: bool
    sets: tuple[tuple[str, Expression], ...]
    mark: Mark
    releases: tuple[str, ...] = ()
    attaches: tuple[str, ...] = ()


@frozen
class Actions:
    """All of it, in the order of the file."""

    inputs: tuple[Input, ...] = ()
    signals: tuple[Term, ...] = ()
    tables: tuple[Table, ...] = ()
    piecewise: tuple[Piecewise, ...] = ()
    forces: tuple[StateForce, ...] = ()
    torques: tuple[StateTorque, ...] = ()
    potentials: tuple[Term, ...] = ()
    dissipations: tuple[Term, ...] = ()
    spring_laws: tuple[SpringLaw, ...] = ()
    torsion_springs: tuple[TorsionSpring, ...] = ()
    dampers: tuple[Damper, ...] = ()
    drags: tuple[Drag, ...] = ()
    frictions: tuple[Friction, ...] = ()
    central_gravity: CentralGravity | None = None
    drives: tuple[Drive, ...] = ()
    controllers: tuple[Controller, ...] = ()
    sliders: tuple[Slider, ...] = ()
    slots: tuple[Slot, ...] = ()
    curves: tuple[Curve, ...] = ()
    ropes: tuple[Rope, ...] = ()
    gears: tuple[Gear, ...] = ()
    rollings: tuple[Rolling, ...] = ()
    skates: tuple[Skate, ...] = ()
    spatial: tuple[SpatialJoint, ...] = ()
    welds: tuple[Weld, ...] = ()
    part_torques: tuple[PartTorque, ...] = ()
    holonomic: tuple[Term, ...] = ()
    nonholonomic: tuple[Term, ...] = ()
    contacts: tuple[Contact, ...] = ()
    meetings: tuple[Meeting, ...] = ()
    stops: tuple[Stop, ...] = ()
    events: tuple[Event, ...] = ()
    bonds: tuple[Bond, ...] = ()

    def expressions(self) -> Iterator[Expression]:
        """Every expression of time and state."""
        return (each for each in written(self) if isinstance(each, Expression))


@frozen
class Output:
    """What is computed on request: reactions at these points, values of these signals, of parts in space how they
    stand and turn (model/mechanism.py: Attitude), and accelerations and jerks of points and turn angles."""

    reactions: tuple[str, ...] = ()
    signals: tuple[str, ...] = ()
    attitudes: tuple[tuple[str, str], ...] = ()
    accelerations: tuple[str, ...] = ()
    jerks: tuple[str, ...] = ()


def written(value: object) -> Iterator[Expression | str]:
    """The expressions and names that stand anywhere in these records."""
    if isinstance(value, Expression | str):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from written(item)
    elif is_dataclass(value) and not isinstance(value, Number | Mark):
        for item in fields(value):
            yield from written(getattr(value, item.name))
