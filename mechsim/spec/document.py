"""MechSpec: a mechanism file after reading. Frozen; every number is evaluated and knows where it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mechsim.errors import Mark
from mechsim.spec.actions import Actions, Output
from mechsim.spec.living import PLAIN
from mechsim.spec.number import Number

Vector = tuple[Number, ...]
NUMBER_FORMAT = r"%[-+ #0]*\d{0,2}(\.\d{1,2})?[eEfFgG]"  # prints one number, as in C, and nothing else
SMALLEST_TOLERANCE = 1e-16  # a double holds no more digits: beyond, steps only become shorter and roundings more

__all__ = ["Collinear", "FixedPoint", "MechSpec", "Number", "OutFile", "Particle", "PointForce", "Problem", "Rigid"]
__all__ += ["Solver", "Spring", "StartValue", "Sweep", "Torque", "Vector", "Written"]


@dataclass(frozen=True, slots=True)
class FixedPoint:
    name: str
    coordinates: Vector  # padded with zeros to the dimension
    mark: Mark


@dataclass(frozen=True, slots=True)
class Rigid:
    """A rigid part. `points` are its RPs, then UPs; `geometry[i]` are local coordinates of `points[i]`."""

    name: str
    points: tuple[str, ...]
    geometry: tuple[Vector, ...]
    centroid: Vector
    mass: Number
    inertia: Number  # about the centroid
    mark: Mark


@dataclass(frozen=True, slots=True)
class Spring:
    name: str
    points: tuple[str, str]
    stiffness: Number
    length: Number
    mass: Number  # zero if not given
    mark: Mark


@dataclass(frozen=True, slots=True)
class Particle:
    point: str
    mass: Number
    mark: Mark


@dataclass(frozen=True, slots=True)
class Collinear:
    """Three or more points that stay on one straight line."""

    points: tuple[str, ...]
    mark: Mark


@dataclass(frozen=True, slots=True)
class PointForce:
    """A constant force at a point: in the world frame, or in the frame of `part` when that is given."""

    point: str
    part: str | None
    force: Vector
    mark: Mark


@dataclass(frozen=True, slots=True)
class Torque:
    """A constant torque on `part`; its reaction acts on `against` (None: the world)."""

    part: str
    against: str | None
    torque: Number
    mark: Mark


@dataclass(frozen=True, slots=True)
class StartValue:
    """A guess for one coordinate, or a value to be held exactly."""

    number: Number
    fixed: bool


@dataclass(frozen=True, slots=True)
class Problem:
    """The initial-value problem. A coordinate without an entry (None) is free; angles are keyed by part."""

    t0: Number
    tend: Number
    positions: Mapping[str, tuple[StartValue | None, ...]]
    velocities: Mapping[str, tuple[StartValue | None, ...]]
    angles: Mapping[str, StartValue]
    rates: Mapping[str, StartValue]
    branch: int | None = None


@dataclass(frozen=True, slots=True)
class OutFile:
    """How results are written for people. None: everything. Numbers are columns per coordinate (1 or 2)."""

    time_format: str = "%.17g"
    value_format: str = "%.17g"
    points: Mapping[str, int] | None = None
    angles: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Solver:
    mode: str = "solve"
    tolerance: float = 1e-12
    order: int | None = None  # None: chosen from the tolerance
    show_signature: bool = False
    outfile: OutFile = field(default_factory=OutFile)


@dataclass(frozen=True, slots=True)
class Written:
    """Text of the file that is read later, and its place."""

    text: str
    mark: Mark


@dataclass(frozen=True, slots=True)
class Sweep:
    """Which parameters vary in a sweep, what is measured, and how draws are made; None: not said."""

    vary: Mapping[str, Written]
    measures: tuple[Written, ...]
    draws: int | None
    latin: bool
    seed: int | None
    mark: Mark


@dataclass(frozen=True, slots=True)
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
    overrides: Mapping[str, str] = field(default_factory=dict)  # --set NAME=EXPR, as given
    files: Mapping[str, str] = field(default_factory=dict)  # texts of tables that stand in files of their own
    actions: Actions = field(default_factory=Actions)  # expression forces, drives, controllers, further joints
    output: Output = field(default_factory=Output)
    unused: tuple[str, ...] = ()  # parameters that nothing depends on
    sweep: Sweep | None = field(default=None, metadata=PLAIN)  # what `mechsim sweep` does unless told otherwise
