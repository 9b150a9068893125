"""Kinds that tell more of themselves along a motion: momenta and forces of what moves, rates of signals.

They have the rows of the kinds that they are made of, and signals besides; so they are derived, cached and evaluated
as all kinds are. Only questions about a motion have them, no march.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from mechsim.frozen import frozen
from mechsim.lagrangian.kind import Kind

# What a kind with a kinetic energy tells of each of its variables, in this order: dL/dx', dT/dx, -dV/dx, the force
# that is neither of these nor of a constraint; then the forces of its constraints, one constraint after the other.
OF_VARIABLES = ("momentum", "swing", "pull", "force")
SINKING = "sinking"
OF_ALL = ("clock", "energy")  # last, one number each: dL/dt at a fixed state, and the rate of T + V


def telling(kind: Kind) -> Kind:
    """The kind, with its momenta and forces as signals."""
    count = (len(OF_VARIABLES) + kind.multiplier_count) * len(kind.variables) + len(OF_ALL)
    return _with_signals(kind, "telling", Telling(kind), count)


def impelled(kind: Kind) -> Kind:
    """The kind, with its momenta dL/dx' alone as signals."""
    return _with_signals(kind, "impelled", Impelled(kind), len(kind.variables))


def forced(kind: Kind) -> Kind:
    """The kind, with the forces that come neither from its Lagrangian nor from its constraints as signals."""
    return _with_signals(kind, "forced", Forced(kind), len(kind.variables))


def curved(kind: Kind) -> Kind:
    """The kind, with each of its signals' rates after them, and then what their second rates are where nothing
    accelerates. They are of positions and time."""
    return _with_signals(kind, "curved", Curved(kind), 3 * kind.signal_count)


def sinking(kind: Kind) -> Kind:
    """The kind as it sinks: what has inertia is damped in proportion to it, by a parameter more."""
    source = f"sinking {kind.source}" if kind.source else ""
    parameters = (*kind.parameters, SINKING)
    return replace(kind, name=f"{kind.name}_sinking", parameters=parameters, dissipation=Sinking(kind), source=source)


def moving(kind: Kind) -> Kind:
    """The kind, with the rates of its signals after them."""
    return _with_signals(kind, "moving", Moving(kind), 2 * kind.signal_count)


def _with_signals(kind: Kind, word: str, signals: Any, count: int) -> Kind:
    source = f"{word} {kind.source}" if kind.source else ""
    return replace(kind, name=f"{kind.name}_{word}", signals=signals, signal_count=count, source=source)


def _numbers(p: Any, kind: Kind) -> Any:
    """Parameters as an array, as functions of equations have them."""
    import jax.numpy as jnp

    return jnp.stack([jnp.asarray(getattr(p, name), float) for name in kind.parameters] or [jnp.zeros(())])


@frozen(slots=False)
class Telling:
    """Signals of a kind that moves."""

    kind: Kind

    @property
    def __wrapped__(self) -> Any:  # whose file a cache is keyed by: the room's own files always are
        return telling

    def __call__(self, x: Any, v: Any, t: Any, p: Any, a: Any, lam: Any) -> Sequence[Any]:
        import jax
        import jax.numpy as jnp

        from mechsim.derive.equations import Functions

        own, kind = Functions(self.kind), self.kind
        numbers = _numbers(p, kind)
        state = x, v, t, numbers
        momentum, swing = jax.grad(own.lagrangian, argnums=1)(*state), jax.grad(own.kinetic)(*state)
        force = own.force(x, v, a, lam, t, numbers)
        if kind.dissipation:
            force = force - jax.grad(own.dissipation, argnums=1)(*state)
        holonomic = jax.jacfwd(own.constraints)(x, t, numbers)
        rolling = jax.jacfwd(own.nonholonomic, argnums=1)(*state)
        holds = [-lam[i] * row for i, row in enumerate([*holonomic, *rolling])]
        rate = jax.jvp(
            lambda x, v, t: own.kinetic(x, v, t, numbers) + own.potential(x, t, numbers),
            (x, v, t),
            (v, a, jnp.ones_like(t)),
        )[1]
        columns = [momentum, swing, -jax.grad(own.potential)(x, t, numbers), force, *holds]
        return [*(entry for column in columns for entry in column), jax.grad(own.lagrangian, argnums=2)(*state), rate]


@frozen(slots=False)
class Impelled:
    """Momenta of a kind."""

    kind: Kind

    @property
    def __wrapped__(self) -> Any:
        return impelled

    def __call__(self, x: Any, v: Any, t: Any, p: Any, a: Any, lam: Any) -> Sequence[Any]:
        import jax

        from mechsim.derive.equations import Functions

        return list(jax.grad(Functions(self.kind).lagrangian, argnums=1)(x, v, t, _numbers(p, self.kind)))


@frozen(slots=False)
class Forced:
    """Forces of a kind."""

    kind: Kind

    @property
    def __wrapped__(self) -> Any:
        return forced

    def __call__(self, x: Any, v: Any, t: Any, p: Any, a: Any, lam: Any) -> Sequence[Any]:
        import jax

        from mechsim.derive.equations import Functions

        own, numbers = Functions(self.kind), _numbers(p, self.kind)
        force = own.force(x, v, a, lam, t, numbers)
        if self.kind.dissipation:
            force = force - jax.grad(own.dissipation, argnums=1)(x, v, t, numbers)
        return list(force)


@frozen(slots=False)
class Curved:
    """Signals of a kind, their rates, and their second rates along a straight motion."""

    kind: Kind

    @property
    def __wrapped__(self) -> Any:
        return curved

    def __call__(self, x: Any, v: Any, t: Any, p: Any, a: Any, lam: Any) -> Sequence[Any]:
        import jax
        import jax.numpy as jnp

        signals = self.kind.signals
        assert signals is not None

        def values(x: Any, t: Any) -> Any:
            return jnp.stack([jnp.asarray(each, float) for each in signals(x, jnp.zeros_like(v), t, p, a, lam)])

        def rates(x: Any, t: Any) -> Any:
            return jax.jvp(values, (x, t), (v, jnp.ones_like(t)))[1]

        first, second = jax.jvp(rates, (x, t), (v, jnp.ones_like(t)))
        return [*values(x, t), *first, *second]


@frozen(slots=False)
class Sinking:
    """Rayleigh's function of what sinks: its kinetic energy, times a rate."""

    kind: Kind

    @property
    def __wrapped__(self) -> Any:
        return sinking

    def __call__(self, x: Any, v: Any, t: Any, p: Any) -> Any:
        assert self.kind.kinetic is not None
        return getattr(p, SINKING) * self.kind.kinetic(x, v, t, p)


@frozen(slots=False)
class Moving:
    """Signals of a kind, and their rates."""

    kind: Kind

    @property
    def __wrapped__(self) -> Any:
        return moving

    def __call__(self, x: Any, v: Any, t: Any, p: Any, a: Any, lam: Any) -> Sequence[Any]:
        import jax
        import jax.numpy as jnp

        signals = self.kind.signals
        assert signals is not None

        def values(x: Any, v: Any, t: Any) -> Any:
            return jnp.stack([jnp.asarray(each, float) for each in signals(x, v, t, p, a, lam)])

        found, rates = jax.jvp(values, (x, v, t), (v, a, jnp.ones_like(t)))
        return [*found, *rates]
