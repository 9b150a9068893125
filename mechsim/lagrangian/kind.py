"""What an element kind is: its local variables and parameters, and pure functions of ONE element.

The functions use plain arithmetic and `mechsim.lagrangian.smooth`, so declaring a kind imports nothing heavy; JAX is
loaded only when a kind is derived (`derive/`). `x` and `v` are the local variables and their rates in declared order,
`t` is time, `p` holds the parameters as attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Scalars = Sequence[Any]


@dataclass(frozen=True)
class Kind:
    """An element kind. Absent functions mean: no such contribution.

    variables:   names of the local coordinates, then of the kind's own states
    parameters:  names of the parameters
    kinetic(x, v, t, p), potential(x, t, p):  energies
    lagrangian(x, v, t, p):  instead of these two, where T and V are not given apart
    dissipation(x, v, t, p):  Rayleigh's R, whose force is -dR/dv
    constraints(x, t, p):  holonomic constraints, a list of `constraint_count` scalars that are kept at zero
    nonholonomic(x, v, t, p):  the same at the level of velocities, `nonholonomic_count` scalars
    force(x, v, t, p):  generalised force on each local coordinate; of a `reactive` kind force(x, v, t, p, a, lam),
        where lam are the multipliers of its own constraints, then `observed_count` of other elements
    rates(x, v, t, p):  time derivatives of the kind's own `state_count` states, which follow the coordinates
    account:  the very last variable integrates the power of all that is not conservative here (force, dissipation,
        constraints that move with time, a Lagrangian that depends on time)
    signals(x, v, t, p):  `signal_count` values that are sampled and held
    """

    name: str
    variables: tuple[str, ...]
    parameters: tuple[str, ...] = ()
    kinetic: Callable[..., Any] | None = None
    potential: Callable[..., Any] | None = None
    lagrangian: Callable[..., Any] | None = None
    constraints: Callable[..., Scalars] | None = None
    constraint_count: int = 0
    dissipation: Callable[..., Any] | None = None
    nonholonomic: Callable[..., Scalars] | None = None
    nonholonomic_count: int = 0
    force: Callable[..., Scalars] | None = None
    reactive: bool = False
    observed_count: int = 0
    rates: Callable[..., Scalars] | None = None
    state_count: int = 0
    account: bool = False
    signals: Callable[..., Scalars] | None = None
    signal_count: int = 0
    source: str = ""  # what a cache is keyed by where it is not the file that declares the kind
    cacheable: bool = True  # a function a user passed in has no source we could key a cache by

    @property
    def is_formula(self) -> bool:
        """Whether a user wrote it: then it may hold anything, pulses and walls too."""
        return bool(self.source) or not self.cacheable

    @property
    def multiplier_count(self) -> int:
        """Of its own constraints, holonomic ones first."""
        return self.constraint_count + self.nonholonomic_count
