"""MechSpec: a mechanism file after reading. Frozen; every number is evaluated and knows where it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from mechsim.errors import Mark
from mechsim.frozen import frozen
from mechsim.spec.actions import Actions, Output
from mechsim.spec.living import PLAIN
from mechsim.spec.number import Number

Vector = tuple[Number, ...]
NUMBER_FORMAT = r"%[-+ #0]*\d{0,2}(\.\d{1,2})?[eEfFgG]"  # prints one number, as in C, and nothing else
SMALLEST_TOLERANCE = 1e-16  # a double holds no more digits: beyond, steps only become shorter and roundings more

__all__ = ["Collinear", "FixedPoint", "Known", "MechSpec", "Number", "OutFile", "Particle", "PointForce", "Problem"]
__all__ += ["Optimize"]
__all__ += ["Reference", "Rigid", "Solid", "Solver", "Spring", "StartValue", "Sweep", "Torque", "Vector", "Written"]


@frozen
class FixedPoint:
    name: str
    coordinates: Vector  # padded with zeros to the dimension
    mark: Mark


@frozen
class Solid:
    """A simple shape in the frame of its part: what the part looks like and, with a density, what it weighs.

    `shape` and `sizes`, about its own centre of mass: "box" (x, y, z), "cylinder" (radius, length along z), "sphere"
    (radius), "ring" (radius, radius of its tube; about z), "rod" (length along z), "cone" (radius, height along z),
    "prism" (thickness along z; its `outline` is a polygon in its xy plane, with `holes`). A shape of the plane is the
    one of space that is seen from above; its thickness is 0 if the file does not say it.
    """

    shape: str
    sizes: Vector
    at: Vector  # its centre of mass before anything is cut out, in the frame of the part
    axes: tuple[tuple[float, ...], ...]  # the directions of its own x, y and z axes there, always three by three
    outline: tuple[Vector, ...] = ()
    holes: tuple[tuple[Vector, ...], ...] = ()  # of a prism: outlines of `cut`, as polygons
    cut: tuple[Solid, ...] = ()  # what is cut out of it, in the frame of the part


@frozen
class Rigid:
    """A rigid part. `points` are its RPs, then UPs; `geometry[i]` are local coordinates of `points[i]`."""

    name: str
    points: tuple[str, ...]
    geometry: tuple[Vector, ...]
    centroid: Vector
    mass: Number
    inertia: Vector  # about the centroid: one number in the plane; in space xx, yy, zz, xy, xz, yz of its matrix
    mark: Mark
    solids: tuple[Solid, ...] = ()
    by_solids: bool = False  # whether centroid, mass and inertia follow from them

    @property
    def is_rod(self) -> bool:
        """Of a part in space: whether all its points are on the line of the first two. Nothing tells then how it turns
        about it, and it has no axes across."""
        return not any(number.value for corner in self.geometry for number in corner[1:])


@frozen
class Spring:
    name: str
    points: tuple[str, str]
    stiffness: Number
    length: Number
    mass: Number  # zero if not given
    mark: Mark


@frozen
class Particle:
    point: str
    mass: Number
    mark: Mark


@frozen
class Collinear:
    """Three or more points that stay on one straight line."""

    points: tuple[str, ...]
    mark: Mark


@frozen
class PointForce:
    """A constant force at a point: in the world frame, or in the frame of `part` when that is given."""

    point: str
    part: str | None
    force: Vector
    mark: Mark


@frozen
class Torque:
    """A constant torque on `part`; its reaction acts on `against` (None: the world)."""

    part: str
    against: str | None
    torque: Number
    mark: Mark


@frozen
class StartValue:
    """A guess for one coordinate, or a value to be held exactly."""

    number: Number
    fixed: bool


@frozen
class Problem:
    """The initial-value problem. A coordinate without an entry (None) is free; angles are keyed by part."""

    t0: Number
    tend: Number
    positions: Mapping[str, tuple[StartValue | None, ...]]
    velocities: Mapping[str, tuple[StartValue | None, ...]]
    angles: Mapping[str, StartValue]
    rates: Mapping[str, StartValue]
    branch: int | None = None
    # Of parts in space: rows of a matrix whose columns are the directions of their axes.
    orientations: Mapping[str, tuple[tuple[float, ...], ...]] = field(default_factory=dict)


@frozen
class OutFile:
    """How results are written for people. None: everything. Numbers are columns per coordinate (1 or 2)."""

    time_format: str = "%.17g"
    value_format: str = "%.17g"
    points: Mapping[str, int] | None = None
    angles: Mapping[str, int] | None = None


@frozen
class Solver:
    mode: str = "solve"
    tolerance: float = 1e-12
    order: int | None = None  # None: chosen from the tolerance
    show_signature: bool = False
    outfile: OutFile = field(default_factory=OutFile)


@frozen
class Known:
    """A value that a column has at a time, known from elsewhere; so many of its digits must agree. `size` is what an
    error is relative to; None: the largest that the quantity was until then."""

    time: float
    column: str
    value: float
    digits: float
    size: float | None
    mark: Mark


@frozen
class Written:
    """Text of the file that is read later, and its place."""

    text: str
    mark: Mark


@frozen
class Reference:
    """What a run is judged by: known values in the order of time, and the most that certificate and steps may come to;
    None: not judged."""

    values: tuple[Known, ...]
    energy: float | None
    constraints: float | None
    steps: int | None
    mark: Mark


@frozen
class Sweep:
    """Which parameters vary in a sweep, what is measured, and how draws are made; None: not said."""

    vary: Mapping[str, Written]
    measures: tuple[Written, ...]
    draws: int | None
    latin: bool
    seed: int | None
    mark: Mark


@frozen
class Optimize:
    """What is chosen for the best, and what for: `through` are places by point, `fit` is a file of measured columns."""

    vary: Mapping[str, Written]
    minimise: Written | None
    squares: tuple[Written, ...]
    through: Mapping[str, tuple[tuple[float, ...], ...]]
    fit: Written | None
    subject: tuple[Written, ...]
    mark: Mark
    marks: Mapping[str, Mark]  # of points that are to come through places


@frozen
class MechSpec:
    path: str
    text: str
    title: str
    dimension: int
    parameters: Mapping[str, Number]
    fixed: Mapping[str, FixedPoint]
    rigids: tuple[Rigid, ...]
    springs: tuple[Spring, ...]
    particles: tuple[Particle, ...]
    collinear: tuple[Collinear, ...]
    gravity: Vector | None  # the acceleration, or None when the key is absent
    forces: tuple[PointForce, ...]
    torques: tuple[Torque, ...]
    problem: Problem
    solver: Solver
    animation: Mapping[str, Any]  # the Animation section and its subsections, plain values, for the renderer
    overrides: Mapping[str, str] = field(default_factory=dict)  # parameters given beside the file
    files: Mapping[str, str] = field(default_factory=dict)  # texts of tables that stand in files of their own
    actions: Actions = field(default_factory=Actions)  # expression forces, drives, controllers, further joints
    output: Output = field(default_factory=Output)
    asked: Mapping[str, str] = field(default_factory=dict)  # signals given beside the file, for what is asked of it
    unused: tuple[str, ...] = ()  # parameters that nothing depends on
    reference: Reference | None = field(default=None, metadata=PLAIN)  # answers known from elsewhere
    sweep: Sweep | None = field(default=None, metadata=PLAIN)  # what `mechsim sweep` does unless told otherwise
    tolerances: Mapping[str, Written] = field(default_factory=dict, metadata=PLAIN)
    optimize: Optimize | None = field(default=None, metadata=PLAIN)  # what `mechsim optimize` does
    # The file before pins and rods that events let go were taken apart: its start is that of the motion. By the names
    # of points that this made, the points whose twins they are.
    whole: MechSpec | None = field(default=None, metadata=PLAIN)
    twins: Mapping[str, str] = field(default_factory=dict)
    is_whole: bool = False  # it is such a file

    def as_this(self, read: MechSpec) -> MechSpec:
        """Of the same text read again, what this spec is of its own."""
        return read.whole if self.is_whole and read.whole is not None else read
