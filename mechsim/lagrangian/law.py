"""Law: a formula as an element kind. What a user writes as an expression, and every joint, drive or controller that
can be said in one line, becomes a law; equal laws share one program whatever points they are used on.

Formulas are texts of the expression language over local symbols: variable `x0`, its rate `v0`, its second derivative
`a0`; parameter `p0`; multiplier `m0` of this law's constraints, then of constraints it only observes; time `t`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from mechsim.errors import Mark
from mechsim.lagrangian import smooth
from mechsim.lagrangian.kind import Kind
from mechsim.spec.expression import MAX_FORMULA, Expression, parse_expression


@dataclass(frozen=True)
class Law:
    """Which formulas a law has. Absent ones mean: no such contribution.

    variables:     how many local variables there are, own states included (states come last)
    potential:     V(x, t)
    dissipation:   Rayleigh's R(x, v, t): its force is -dR/dv
    forces:        generalised force by local variable; may use multipliers and second derivatives
    constraints:   holonomic, kept at zero: C(x, t)
    nonholonomic:  kept at zero: psi(x, v, t)
    states:        rates of the law's own states, in the order of the last variables (the account excepted)
    account:       the very last variable integrates the power of everything here that is not conservative
    signals:       values that are read at sampling times and held (see Mechanism.samplers)
    """

    variables: int
    parameters: int = 0
    potential: str | None = None
    dissipation: str | None = None
    forces: Mapping[int, str] = field(default_factory=dict)
    constraints: tuple[str, ...] = ()
    nonholonomic: tuple[str, ...] = ()
    observed: int = 0
    states: tuple[str, ...] = ()
    account: bool = False
    signals: tuple[str, ...] = ()

    @property
    def is_prescribed(self) -> bool:
        """Whether a constraint of it depends on time: then it moves what it binds."""
        return any(re.search(r"\bt\b", row) for row in (*self.constraints, *self.nonholonomic))

    @property
    def text(self) -> str:
        """All there is to know about the law: what a cache is keyed by."""
        parts = [self.variables, self.parameters, self.potential, self.dissipation, sorted(self.forces.items())]
        return repr(
            [*parts, self.constraints, self.nonholonomic, self.observed, self.states, self.account, self.signals]
        )

    @property
    def name(self) -> str:
        return f"law_{hashlib.sha256(self.text.encode()).hexdigest()[:20]}"


def kind_of(law: Law) -> Kind:
    """The kind of a law. Its multipliers `m0..` are its own constraints', then those it observes."""
    reactive = any(_uses(formula, "am") for formula in law.forces.values())
    return Kind(
        name=law.name,
        variables=tuple(f"x{i}" for i in range(law.variables)),
        parameters=tuple(f"p{i}" for i in range(law.parameters)),
        potential=_function(law.potential, "xtp") if law.potential is not None else None,
        dissipation=_function(law.dissipation, "xvtp") if law.dissipation is not None else None,
        constraints=_functions(law.constraints, "xtp") if law.constraints else None,
        constraint_count=len(law.constraints),
        nonholonomic=_functions(law.nonholonomic, "xvtp") if law.nonholonomic else None,
        nonholonomic_count=len(law.nonholonomic),
        force=_force(law, "xvtpam" if reactive else "xvtp") if law.forces else None,
        reactive=reactive,
        observed_count=law.observed,
        rates=_functions(law.states, "xvtp") if law.states else None,
        state_count=len(law.states),
        account=law.account,
        signals=_functions(law.signals, "xvtp") if law.signals else None,
        signal_count=len(law.signals),
        source=law.text,
    )


def _parse(formula: str) -> Expression:
    return parse_expression(formula, Mark("law", 1, 1), longest=MAX_FORMULA)


def _uses(formula: str, letters: str) -> bool:
    return any(name[0] in letters and name[1:].isdigit() for name in _parse(formula).names)


@dataclass(frozen=True)
class Formulas:
    """Formulas as a function of the arguments named by these letters, one value for each. It can be pickled."""

    texts: tuple[str, ...]
    arguments: str

    @cached_property
    def expressions(self) -> list[Expression]:
        return [_parse(text) for text in self.texts]

    def __call__(self, *values: Any) -> list[Any]:
        environment: dict[str, Any] = {}
        for letter, value in zip(self.arguments, values, strict=True):
            if letter == "t":
                environment["t"] = value
            elif letter == "p":
                environment.update(vars(value))
            else:
                environment.update((f"{letter}{i}", value[i]) for i in range(len(value)))
        return [expression.evaluate(environment, FUNCTIONS) for expression in self.expressions]

    def __getstate__(self) -> dict[str, Any]:
        return {"texts": self.texts, "arguments": self.arguments}


@dataclass(frozen=True)
class Formula:
    """One of them."""

    formulas: Formulas

    def __call__(self, *values: Any) -> Any:
        return self.formulas(*values)[0]


def _function(formula: str, arguments: str) -> Formula:
    return Formula(Formulas((formula,), arguments))


def _functions(formulas: Sequence[str], arguments: str) -> Formulas:
    return Formulas(tuple(formulas), arguments)


def _force(law: Law, arguments: str) -> Formulas:
    return Formulas(tuple(law.forces.get(variable, "0") for variable in range(law.variables)), arguments)


def _power(base: Any, exponent: Any) -> Any:
    """A whole exponent is a product, so that negative bases keep their meaning."""
    if isinstance(exponent, float) and exponent.is_integer():
        return base ** int(exponent)
    return base**exponent


FUNCTIONS: dict[str, Callable[..., Any]] = {"**": _power, **smooth.FUNCTIONS}
