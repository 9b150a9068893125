"""A mechanism as geometry alone: its constraints as they are at one time, and nothing that has mass or force.

Every coordinate has the same inertia in its scale. So a motion is a geodesic of the constraints: it goes on at constant
speed, and its time is the length of its way. Where there is one freedom, that way is all there is, dead centres
included, and the engine follows it as any other motion: its steps are exact polynomials of all coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from mechsim.frozen import frozen
from mechsim.kernel.system import System
from mechsim.lagrangian.formula import TIME, Formula, number, renamed
from mechsim.lagrangian.kind import Kind, Scalars
from mechsim.lagrangian.law import Law
from mechsim.model.mechanism import Element, Mechanism

INERTIA = "unit_inertia"


def unforced(system: System, t: float, freed: Collection[int] = (), closed: Collection[int] | None = None) -> System:
    """The geometry of a system at a time; what sticks is left out, and elements (by number) that are `freed`, and
    contacts but for those that are `closed`, by their numbers: bonds that hold at the start, if these are not given."""
    now = replace(system.mechanism, constants=tuple(system.constants.tolist()))
    own = now.bilateral if closed is None else now.leaning(closed, ())
    laws, kinds = dict(own.laws), dict(system.kinds)
    elements = []
    for place, element in enumerate(own.elements):
        if not element.multipliers or place in freed:
            continue
        if element.kind in laws:
            law = _geometric(laws[element.kind], t)
            laws[law.name] = law
            element = replace(element, kind=law.name)
        elif not (kind := kinds[element.kind]).cacheable:  # a user's Lagrangian, with all there is of it
            bare = _bare(kind, t)
            kinds[bare.name] = bare
            element = replace(element, kind=bare.name)
        elements.append(replace(element, observed=(), account=False, grips=()))
    return System(_still(own, [*elements, *_inertias(own)], laws), kinds)


def _inertias(mechanism: Mechanism) -> list[Element]:
    return [
        Element(INERTIA, variable.label, (slot,), {"inertia": variable.scale**-2})
        for slot, variable in enumerate(mechanism.variables)
    ]


def _still(mechanism: Mechanism, elements: list[Element], laws: dict[str, Law]) -> Mechanism:
    """With these elements only; states, of controllers and accounts, are coordinates that stay as they are."""
    variables = [replace(each, kind="coordinate") if each.kind == "state" else each for each in mechanism.variables]
    return replace(
        mechanism,
        variables=tuple(variables),
        elements=tuple(elements),
        laws=laws,
        switches=(),
        samplers=(),
        readouts={},
        events=(),
        drawn=(),
        attitudes=(),
        accelerations=(),
        jerks=(),
    )


def _geometric(law: Law, t: float) -> Law:
    """Its constraints alone, as they are at t."""

    def at(rows: tuple[Formula, ...]) -> tuple[Formula, ...]:
        leaves = {leaf: leaf for row in rows for leaf in row.leaves()} | {TIME: number(t)}
        return tuple(renamed(row, leaves) for row in rows)

    return replace(
        law,
        potential=None,
        dissipation=None,
        forces={},
        push=None,
        observed=0,
        states=(),
        account=False,
        shares=False,
        signals=(),
        constraints=at(law.constraints),
        nonholonomic=at(law.nonholonomic),
    )


@frozen(slots=False)
class AtTime:
    """Constraints of a user as they are at one time."""

    function: Callable[..., Scalars]
    t: float

    def __call__(self, *arguments: object) -> Scalars:
        *moving, _, p = arguments
        return self.function(*moving, self.t, p)


def _bare(kind: Kind, t: float) -> Kind:
    """Its constraints alone, as they are at t."""
    return replace(
        kind,
        name=f"{kind.name}-bare",
        kinetic=None,
        potential=None,
        lagrangian=None,
        dissipation=None,
        push=None,
        force=None,
        reactive=False,
        observed_count=0,
        rates=None,
        state_count=0,
        account=False,
        shares=False,
        signals=None,
        signal_count=0,
        places=None,
        place_count=0,
        constraints=AtTime(kind.constraints, t) if kind.constraints else None,
        nonholonomic=AtTime(kind.nonholonomic, t) if kind.nonholonomic else None,
    )
