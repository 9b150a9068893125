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
    constraints(x, t, p):  holonomic constraints, a list of `constraint_count` scalars that are kept at zero
    force(x, v, t, p):  generalised force on each local coordinate
    rates(x, v, t, p):  time derivatives of the last `state_count` variables, which are states of the kind itself
    """

    name: str
    variables: tuple[str, ...]
    parameters: tuple[str, ...] = ()
    kinetic: Callable[..., Any] | None = None
    potential: Callable[..., Any] | None = None
    lagrangian: Callable[..., Any] | None = None
    constraints: Callable[..., Scalars] | None = None
    constraint_count: int = 0
    force: Callable[..., Scalars] | None = None
    rates: Callable[..., Scalars] | None = None
    state_count: int = 0
    cacheable: bool = True  # a function a user passed in has no source we could key a cache by
