"""Smooth functions for element kinds. Each looks up `jax.numpy` when called, so importing this costs nothing; of a
formula (lagrangian/formula.py) it is written down."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

NAMES = "sqrt exp log sin cos tan asin acos atan atan2 sinh cosh tanh".split()
JAX_NAMES = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2"}


def _lazy(name: str) -> Callable[..., Any]:
    def function(*arguments: Any) -> Any:
        formula = next((each for each in arguments if hasattr(each, "applied")), None)
        if formula is not None:
            return formula.applied(name, *arguments)
        import jax.numpy

        return getattr(jax.numpy, JAX_NAMES.get(name, name))(*arguments)

    function.__name__ = name
    return function


FUNCTIONS: dict[str, Callable[..., Any]] = {name: _lazy(name) for name in NAMES}
sin, cos, sqrt = (FUNCTIONS[name] for name in ("sin", "cos", "sqrt"))
