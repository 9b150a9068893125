"""Equations of an element kind as a Taylor program: from the disk cache, or derived by JAX when first seen."""

from __future__ import annotations

from mechsim.derive import cache
from mechsim.derive.program import Program
from mechsim.lagrangian.kind import Kind


def program_for(kind: Kind, zero_parameters: frozenset[int] = frozenset(), complete: bool = False) -> Program:
    """The program of a kind whose parameters in `zero_parameters` (by number) are exactly zero."""
    if kind.cacheable and (known := cache.load(kind, zero_parameters, complete)) is not None:
        return known
    from mechsim.derive.equations import derive  # imports JAX

    program = derive(kind, zero_parameters, complete)
    if kind.cacheable:
        cache.store(kind, zero_parameters, complete, program)
    return program


def depends_on_time(kind: Kind) -> bool:
    """Whether time enters the kind's Lagrangian or constraints: then these do work."""
    from mechsim.derive.equations import depends_on_time as depends  # imports JAX

    return depends(kind)
