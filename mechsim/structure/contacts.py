"""Offsets of gaps. What a mechanism is free to do does not depend on them, so they come last, after the analysis."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechsim.errors import AssemblyError, Fault
from mechsim.kernel.system import System
from mechsim.structure.offsets import Structure, analyse

CLOSED = 2  # a gap is planned as if it were closed: a constraint of positions
STUCK = 1  # ... and friction as if it stuck: one of velocities


def with_gaps(structure: Structure, system: System) -> Structure:
    """The structure of the system without its gaps, with the offsets that a march gives to gaps. Raises AssemblyError
    where one meets what has no mass to be stopped."""
    if not len(system.gap_rows) and not len(system.friction_rows):
        return structure
    always = _without_bonds(structure, system)
    d = always.march_variable_offsets
    rows, columns, _ = system.signature()
    for row, gap in zip(system.gap_rows, system.gaps, strict=True):
        met = columns[rows == system.n + row]
        light = [int(column) for column in met if column < system.n and d[column] != CLOSED]
        if light:
            what = f"bond {gap.name} holds" if gap.bond else f"contact {gap.name} meets"
            message = f"{what} {system.labels[light[0]]}, which has no mass that an impact could stop"
            raise AssemblyError(Fault(message, gap.mark, "give it a mass"))
    rubbing = {friction.element for friction in system.frictions if friction.gap >= 0}
    reactive = [group for group in system.groups if group.kind.reactive and not rubbing.issuperset(group.elements)]
    if not len(system.gap_rows):
        reactive = []
    if reactive:
        owner = system.mechanism.elements[reactive[0].elements[0]]
        message = (
            f"{owner.title} depends on reactions, which impacts make infinite: this is not known together with contacts"
        )
        raise AssemblyError(Fault(message, owner.mark, "friction with a constant load is"))
    offsets = [CLOSED] * len(system.gap_rows) + [STUCK] * len(system.friction_rows)
    return replace(
        structure,
        march_equation_offsets=np.append(always.march_equation_offsets, offsets),
        march_variable_offsets=np.append(d, [0] * len(offsets)),
    )


def _without_bonds(structure: Structure, system: System) -> Structure:
    """The structure of what holds whether bonds do or not: offsets of a march must serve both. Raises AssemblyError
    where a bond repeats what other joints hold, or where something has no motion once it is let go."""
    closed = [gap for gap in system.gaps if gap.bond and system.mechanism.constants[gap.mode]]
    if not closed:
        return structure
    always = system.loose
    if any(row >= always.m for row in (*structure.redundancy.rows, *structure.redundancy.spare)):
        message = (
            f"bond {closed[0].name} holds what other joints hold already, so nothing tells what each of them bears"
        )
        raise AssemblyError(Fault(message, closed[0].mark, "leave out what is held twice"))
    try:
        found = analyse(always, structure.redundancy)
    except AssemblyError as error:
        message = f"when bond {closed[0].name} is released, {error.faults[0].message}"
        raise AssemblyError(Fault(message, closed[0].mark, "give a mass to what is let go")) from None
    d = structure.march_variable_offsets[: len(always.labels)]
    changed = np.flatnonzero(found.march_variable_offsets != d)
    if len(changed):
        message = f"when bond {closed[0].name} is released, nothing determines {always.labels[changed[0]]}"
        raise AssemblyError(Fault(message, closed[0].mark, "give a mass to what is let go"))
    return found
