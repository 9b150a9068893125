"""Element kinds: each a small file that declares its points and the pure functions of one element."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from mechsim.lagrangian.kind import Kind


@cache
def kind_named(name: str, dimension: int) -> Kind:
    """The kind declared in the module `mechsim.lagrangian.<name>`, in so many dimensions."""
    kind: Kind = import_module(f"mechsim.lagrangian.{name}").kind
    return kind.at(dimension)
