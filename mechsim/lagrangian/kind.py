"""What an element kind is: points, scalars and parameters of ONE element, and pure functions of them.

The functions use plain arithmetic, `mechsim.lagrangian.vector` and `mechsim.lagrangian.smooth`, so declaring a kind
imports nothing heavy; JAX is loaded only when a kind is derived (`derive/`). `x` and `v` are the points, then the local
variables, and their rates in declared order; `t` is time, `p` holds the parameters as attributes. A point is a vector
whose dimension is not known before a mechanism has one: `at` then gives the kind as it is derived, of scalars only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from mechsim.frozen import frozen
from mechsim.lagrangian.vector import PLANE, SPACE, Vector, labels

Scalars = Sequence[Any]

# The functions of a kind and their arguments: those of letters x, v, a hold a value for each variable.
ARGUMENTS = {
    "kinetic": "xvtp",
    "potential": "xtp",
    "lagrangian": "xvtp",
    "dissipation": "xvtp",
    "constraints": "xtp",
    "nonholonomic": "xvtp",
    "push": "xvtpam",
    "force": "xvtpam",
    "rates": "xvtp",
    "signals": "xvtpam",
    "places": "xtp",
}


@frozen(slots=False)
class Kind:
    """An element kind. Absent functions mean: no such contribution.

    points:      names of the points it holds, vectors of the mechanism's dimension
    variables:   names of the other local coordinates, turn angles and such, then of the kind's own states
    parameters:  names of the parameters; `vectors` of those that have components
    kinetic(x, v, t, p), potential(x, t, p):  energies
    lagrangian(x, v, t, p):  instead of these two, where T and V are not given apart
    dissipation(x, v, t, p):  Rayleigh's R, whose force is -dR/dv
    constraints(x, t, p):  holonomic constraints, a list of `constraint_count` scalars that are kept at zero, with
        `constraint_vectors` vectors before them
    nonholonomic(x, v, t, p):  the same at the level of velocities, `nonholonomic_count` scalars
    push(x, v, t, p, a, lam):  a force along the first of these, besides its multiplier
    force(x, v, t, p):  generalised force on each point and variable; of a `reactive` kind force(x, v, t, p, a, lam),
        where lam are the multipliers of its own constraints, then `observed_count` of other elements
    rates(x, v, t, p):  time derivatives of the kind's own `state_count` states, which follow the coordinates
    account:  the very last variable integrates the power of all that is not conservative here (force, dissipation,
        constraints that move with time, a Lagrangian that depends on time); one that `shares` it adds to the account of
        another element
    signals(x, v, t, p, a, lam):  `signal_count` values that are sampled and held, or watched
    places(x, t, p):  `place_count` coordinates of points that are only drawn
    """

    name: str
    variables: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    vectors: tuple[str, ...] = ()
    planar: bool = False  # it turns by complex numbers or has a left side, which only the plane knows
    spatial: bool = False  # it has vector products
    kinetic: Callable[..., Any] | None = None
    potential: Callable[..., Any] | None = None
    lagrangian: Callable[..., Any] | None = None
    constraints: Callable[..., Scalars] | None = None
    constraint_count: int = 0
    constraint_vectors: int = 0
    dissipation: Callable[..., Any] | None = None
    nonholonomic: Callable[..., Scalars] | None = None
    nonholonomic_count: int = 0
    push: Callable[..., Any] | None = None
    force: Callable[..., Scalars] | None = None
    reactive: bool = False
    observed_count: int = 0
    rates: Callable[..., Scalars] | None = None
    state_count: int = 0
    account: bool = False
    shares: bool = False
    signals: Callable[..., Scalars] | None = None
    signal_count: int = 0
    places: Callable[..., Scalars] | None = None
    place_count: int = 0
    source: str = ""  # what a cache is keyed by where it is not the file that declares the kind
    cacheable: bool = True  # a function a user passed in has no source we could key a cache by
    dimension: int = 0  # 0: not known yet, or of no matter
    component_count: int = 0  # of the variables the first that are components of points

    @property
    def is_formula(self) -> bool:
        """Whether a user wrote it: then it may hold anything, pulses and walls too."""
        return bool(self.source) or not self.cacheable

    @property
    def multiplier_count(self) -> int:
        """Of its own constraints, holonomic ones first."""
        return self.constraint_count + self.nonholonomic_count

    def at(self, dimension: int) -> Kind:
        """The kind in so many dimensions: points and vectors are their components, `a_x`, `a_y`."""
        if not (self.points or self.vectors or self.constraint_vectors):
            return self
        if (self.planar and dimension != PLANE) or (self.spatial and dimension != SPACE):
            home = "the plane" if self.planar else "space"
            raise ValueError(f"{self.name} is a kind of {home}; there is none in {dimension} dimensions")
        functions: dict[str, Any] = {
            name: InDimension(function, letters, len(self.points), self.vectors, dimension)
            for name, letters in ARGUMENTS.items()
            if (function := getattr(self, name))
        }
        return replace(
            self,
            variables=(*_components(self.points, dimension), *self.variables),
            parameters=(*self.parameters, *_components(self.vectors, dimension)),
            points=(),
            vectors=(),
            constraint_count=dimension * self.constraint_vectors + self.constraint_count,
            constraint_vectors=0,
            dimension=dimension,
            component_count=dimension * len(self.points),
            **functions,
        )


def _components(names: Sequence[str], dimension: int) -> tuple[str, ...]:
    return tuple(label for name in names for label in labels(name, dimension))


@frozen(slots=False)
class InDimension:
    """A function of points as one of their components: it is handed scalars, and hands scalars back."""

    function: Callable[..., Any]
    letters: str
    points: int
    vectors: tuple[str, ...]
    dimension: int

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        return self.function

    def __call__(self, *values: Any) -> Any:
        pairs = zip(self.letters, values, strict=False)
        found = self.function(*(self._gathered(letter, value) for letter, value in pairs))
        return _scalars(found) if isinstance(found, list) else found

    def _gathered(self, letter: str, value: Any) -> Any:
        if letter == "p":
            vectors = {
                name: Vector(tuple(getattr(value, label) for label in labels(name, self.dimension)))
                for name in self.vectors
            }
            return SimpleNamespace(**vars(value), **vectors)
        return self._points(value) if letter in "xva" else value

    def _points(self, values: Any) -> list[Any]:
        n = self.dimension
        ends = range(0, n * self.points, n)
        points = [Vector(tuple(values[first + axis] for axis in range(n))) for first in ends]
        return [*points, *(values[place] for place in range(n * self.points, len(values)))]


def _scalars(values: Sequence[Any]) -> list[Any]:
    return [scalar for value in values for scalar in (value if isinstance(value, Vector) else (value,))]
