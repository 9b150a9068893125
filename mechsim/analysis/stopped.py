"""A mechanism with time standing still: what depends on it is as it is at one moment."""

from __future__ import annotations

from dataclasses import replace

from mechsim.kernel.system import System
from mechsim.lagrangian.formula import TIME, Formula, number, renamed
from mechsim.lagrangian.law import Law


def stopped(system: System, t: float) -> System:
    """The same system as it is at t, whatever the time of a motion is."""
    mechanism = system.mechanism
    timed = {name: _at(law, t) for name, law in mechanism.laws.items() if _reads_time(law)}
    if not timed and not mechanism.switches:
        return system
    elements = tuple(
        replace(each, kind=timed[each.kind].name) if each.kind in timed else each for each in mechanism.elements
    )
    laws = {**mechanism.laws, **{law.name: law for law in timed.values()}}
    constants = tuple(system.constants.tolist())
    still = replace(mechanism, elements=elements, laws=laws, switches=(), constants=constants)
    return System(still, system.kinds, system.dropped, known=system._programs_known)


def _rows(law: Law) -> list[Formula]:
    alone = [each for each in (law.potential, law.dissipation, law.push) if each is not None]
    return [*alone, *law.forces.values(), *law.constraints, *law.nonholonomic, *law.states, *law.signals]


def _reads_time(law: Law) -> bool:
    return any(leaf == TIME for row in _rows(law) for leaf in row.leaves())


def _at(law: Law, t: float) -> Law:
    leaves = {leaf: leaf for row in _rows(law) for leaf in row.leaves()} | {TIME: number(t)}

    def one(row: Formula | None) -> Formula | None:
        return None if row is None else renamed(row, leaves)

    def rows(several: tuple[Formula, ...]) -> tuple[Formula, ...]:
        return tuple(renamed(row, leaves) for row in several)

    return replace(
        law,
        potential=one(law.potential),
        dissipation=one(law.dissipation),
        push=one(law.push),
        forces={variable: renamed(force, leaves) for variable, force in law.forces.items()},
        constraints=rows(law.constraints),
        nonholonomic=rows(law.nonholonomic),
        states=rows(law.states),
        signals=rows(law.signals),
    )
