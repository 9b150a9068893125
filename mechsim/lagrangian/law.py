"""Law: a formula as an element kind. What a user writes as an expression, and every joint, drive or controller that
can be said in one line, becomes a law; equal laws share one program whatever points they are used on.

Formulas are trees over local symbols: variable `x0`, its rate `v0`, its second derivative `a0`; parameter `p0`;
multiplier `m0` of this law's constraints, then of constraints it only observes; time `t`. Their text only tells laws
apart; nobody reads it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any

from mechsim.frozen import frozen
from mechsim.lagrangian import smooth
from mechsim.lagrangian.formula import Formula, evaluated, number, symbol, write
from mechsim.lagrangian.kind import Kind


@frozen(slots=False)
class Law:
    """Which formulas a law has. Absent ones mean: no such contribution.

    variables:     how many local variables there are, own states included (states come last)
    potential:     V(x, t)
    dissipation:   Rayleigh's R(x, v, t): its force is -dR/dv
    forces:        generalised force by local variable; may use multipliers and second derivatives
    constraints:   holonomic, kept at zero: C(x, t)
    nonholonomic:  kept at zero: psi(x, v, t)
    push:          a force along the one of these there is, besides its multiplier; may use multipliers too
    states:        rates of the law's own states, in the order of the last variables (the account excepted)
    account:       the very last variable integrates the power of everything here that is not conservative
    shares:        ... together with that of another law, whose account it is
    signals:       values that are read at sampling times and held (see Mechanism.samplers)
    """

    variables: int
    parameters: int = 0
    potential: Formula | None = None
    dissipation: Formula | None = None
    forces: Mapping[int, Formula] = field(default_factory=dict)
    constraints: tuple[Formula, ...] = ()
    nonholonomic: tuple[Formula, ...] = ()
    push: Formula | None = None
    observed: int = 0
    states: tuple[Formula, ...] = ()
    account: bool = False
    shares: bool = False
    signals: tuple[Formula, ...] = ()

    @property
    def is_prescribed(self) -> bool:
        """Whether a constraint of it depends on time: then it moves what it binds."""
        return any(row.uses("t") for row in (*self.constraints, *self.nonholonomic))

    @property
    def text(self) -> str:
        """All there is to know about the law: what a cache is keyed by."""
        given = self.potential, self.dissipation, *([self.push] if self.push is not None else [])
        energies = [None if energy is None else write(energy) for energy in given]
        forces = [(variable, write(force)) for variable, force in sorted(self.forces.items())]
        constraints, nonholonomic, states, signals = (
            tuple(map(write, rows)) for rows in (self.constraints, self.nonholonomic, self.states, self.signals)
        )
        parts = [self.variables, self.parameters, *energies, forces, constraints, nonholonomic]
        return repr([*parts, self.observed, states, "shared" if self.shares else self.account, signals])

    @property
    def name(self) -> str:
        return f"law_{hashlib.sha256(self.text.encode()).hexdigest()[:20]}"


def kind_of(law: Law) -> Kind:
    """The kind of a law. Its multipliers `m0..` are its own constraints', then those it observes."""
    acting = [*law.forces.values(), *([law.push] if law.push is not None else [])]
    reactive = any(leaf.operation in "am" for force in acting for leaf in force.leaves())
    forces = [law.forces.get(variable, number(0)) for variable in range(law.variables)]
    return Kind(
        name=law.name,
        variables=tuple(f"x{i}" for i in range(law.variables)),
        parameters=tuple(f"p{i}" for i in range(law.parameters)),
        potential=_function(law.potential, "xtp"),
        dissipation=_function(law.dissipation, "xvtp"),
        constraints=_functions(law.constraints, "xtp"),
        constraint_count=len(law.constraints),
        nonholonomic=_functions(law.nonholonomic, "xvtp"),
        nonholonomic_count=len(law.nonholonomic),
        push=_function(law.push, "xvtpam"),
        force=_functions(forces, "xvtpam" if reactive else "xvtp") if law.forces else None,
        reactive=reactive,
        observed_count=law.observed,
        rates=_functions(law.states, "xvtp"),
        state_count=len(law.states),
        account=law.account,
        shares=law.shares,
        signals=_functions(law.signals, "xvtpam"),
        signal_count=len(law.signals),
        source=law.text,
    )


@frozen(slots=False)
class Functions:
    """Formulas as a function of the arguments named by these letters, one value for each. It can be pickled."""

    formulas: tuple[Formula, ...]
    arguments: str

    def __call__(self, *values: Any) -> list[Any]:
        given = dict(zip(self.arguments, values, strict=True))

        def value(leaf: Formula) -> Any:
            argument = given[leaf.operation]
            if leaf.operation == "t":
                return argument
            return getattr(argument, symbol(leaf)) if leaf.operation == "p" else argument[leaf.operands[0]]

        known: dict[int, Any] = {}
        return [evaluated(formula, value, FUNCTIONS, known) for formula in self.formulas]


@frozen(slots=False)
class Function:
    """One of them."""

    functions: Functions

    def __call__(self, *values: Any) -> Any:
        return self.functions(*values)[0]


def _function(formula: Formula | None, arguments: str) -> Function | None:
    return None if formula is None else Function(Functions((formula,), arguments))


def _functions(formulas: Iterable[Formula], arguments: str) -> Functions | None:
    """None where there is none."""
    formulas = tuple(formulas)
    return Functions(formulas, arguments) if formulas else None


def _power(base: Any, exponent: Any) -> Any:
    """A whole exponent is a product, so that negative bases keep their meaning."""
    if isinstance(exponent, float) and exponent.is_integer():
        return base ** int(exponent)
    return base**exponent


FUNCTIONS: dict[str, Callable[..., Any]] = {"**": _power, **smooth.FUNCTIONS}
