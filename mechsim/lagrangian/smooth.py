"""Smooth functions for element kinds. Each looks up `jax.numpy` when called, so importing this costs nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _lazy(name: str) -> Callable[..., Any]:
    def function(*arguments: Any) -> Any:
        import jax.numpy

        return getattr(jax.numpy, name)(*arguments)

    function.__name__ = name
    return function


sin = _lazy("sin")
cos = _lazy("cos")
sqrt = _lazy("sqrt")
