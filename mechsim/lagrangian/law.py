"""A law (model/law.py) as an element kind: its formulas, read by the expression language and traced by JAX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mechsim.errors import Mark
from mechsim.lagrangian import smooth
from mechsim.lagrangian.kind import Kind
from mechsim.model.law import Law
from mechsim.spec.expression import MAX_FORMULA, Expression, parse_expression


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
