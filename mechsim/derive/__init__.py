"""Equations of an element kind as a Taylor program: from the disk cache, or derived by JAX when first seen."""

from __future__ import annotations

from functools import lru_cache

from mechsim.derive import cache
from mechsim.derive.program import Program
from mechsim.lagrangian.kind import Kind

REMEMBERED = 32  # programs of kinds that are not cached


def program_for(kind: Kind, zero_parameters: frozenset[int] = frozenset(), complete: bool = False) -> Program:
    """The program of a kind whose parameters in `zero_parameters` (by number) are exactly zero."""
    if not kind.cacheable:
        return _remembered(kind, zero_parameters, complete)
    if (known := cache.load(kind, zero_parameters, complete)) is not None:
        return known
    program = _derived(kind, zero_parameters, complete)
    cache.store(kind, zero_parameters, complete, program)
    return program


def _derived(kind: Kind, zero_parameters: frozenset[int], complete: bool) -> Program:
    from mechsim.derive.equations import derive  # imports JAX

    return derive(kind, zero_parameters, complete)


# What no file keeps, a user's own functions: analyses ask for it again with each call.
_remembered = lru_cache(maxsize=REMEMBERED)(_derived)


def depends_on_time(kind: Kind) -> bool:
    """Whether time enters the kind's Lagrangian or constraints: then these do work."""
    from mechsim.derive.equations import depends_on_time as depends  # imports JAX

    return depends(kind)
