"""Element kinds: each a small file that declares its variables and the pure functions of one element."""

from __future__ import annotations

from importlib import import_module

from mechsim.lagrangian.kind import Kind


def kind_named(name: str) -> Kind:
    """The kind declared in the module `mechsim.lagrangian.<name>`."""
    kind: Kind = import_module(f"mechsim.lagrangian.{name}").kind
    return kind
