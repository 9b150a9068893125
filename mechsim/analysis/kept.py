"""Equations that keep parameters whose derivatives are asked for: one that is zero would be left out otherwise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechsim.derive import program_for
from mechsim.errors import Fault, SpecError
from mechsim.kernel.numbers import Numbers
from mechsim.kernel.system import System
from mechsim.model.mechanism import Mechanism
from mechsim.spec.living import Tape
from mechsim.structure import Structure, analyse, with_gaps


def keeping(
    system: System, structure: Structure, tape: Tape, mechanism: Mechanism, here: np.ndarray
) -> tuple[System, Structure]:
    """The system with programs that keep what is zero, and changes with the parameters of a tape, whose values are
    `here` and by which `mechanism` is living; other zeros stay left out. Raises SpecError where that makes its
    structure another one."""
    found = unfolded(system, tape, mechanism, here)
    if found is system:
        return system, structure
    held = unfolded(system.bilateral, tape, mechanism.bilateral, here) if system.gaps or system.frictions else found
    now = with_gaps(analyse(held, structure.redundancy), found)
    offsets = "march_equation_offsets", "march_variable_offsets"
    if not all(np.array_equal(getattr(now, name), getattr(structure, name)) for name in offsets):
        message = "a parameter whose derivative is asked for is zero, and beside zero the equations are others"
        raise SpecError(Fault(message, hint="give it a value, however small"))
    return found, now


def unfolded(system: System, tape: Tape, mechanism: Mechanism, here: np.ndarray) -> System:
    """The system with such programs, without a look at its structure."""
    numbers = Numbers(tape, mechanism, system)
    changes = numbers.changes(numbers.values(here)[:, 0], np.eye(numbers.count))
    groups = []
    for group, nodes in zip(system.groups, numbers.parameters, strict=True):
        alive = {i for i in group.zero_parameters if np.any(changes[nodes[i]] != 0)}
        zeros = group.zero_parameters - alive
        program = program_for(group.kind, zeros, system.complete) if alive else group.program
        groups.append(replace(group, zero_parameters=zeros, program=program) if alive else group)
    if all(one is other for one, other in zip(groups, system.groups, strict=True)):
        return system
    found = System.__new__(System)
    found.__dict__.update({key: value for key, value in system.__dict__.items() if key != "_programs"})
    found.gaps, found.frictions = system.gaps, system.frictions  # which a tuned system computes
    found.mechanism, found.groups = system.mechanism, tuple(groups)
    return found
