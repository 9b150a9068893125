"""Pins and rods that events let go. A pin that opens is two points from the start, which a bond holds together: the
part that leaves gets a point of its own, and the point keeps its name with all else. A rod that opens is a rope."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import count
from typing import Any

from mechsim.errors import Fault, SpecError
from mechsim.spec.actions import Actions, Bond, Rope, Side
from mechsim.spec.document import MechSpec, Problem, StartValue
from mechsim.spec.names import POINT, TurnAngle, reference


def parted(spec: MechSpec) -> MechSpec:
    """The file with these pins and rods as bonds hold them. Raises SpecError."""
    kept = tuple(bond for bond in spec.actions.bonds if not (bond.pin or bond.joint == "rod"))
    if len(kept) == len(spec.actions.bonds):
        return spec
    actions = replace(spec.actions, bonds=kept, events=())
    spec = replace(spec, whole=replace(spec, actions=actions, is_whole=True))
    for bond in spec.actions.bonds:
        if bond.pin:
            spec = _pin(spec, bond)
        elif bond.joint == "rod":
            spec = _rod(spec, bond)
    return spec


def _pin(spec: MechSpec, bond: Bond) -> MechSpec:
    (point,), (name,) = bond.points, bond.parts
    part = next(each for each in spec.rigids if each.name == name)
    others = [each.points for each in spec.rigids if each is not part]
    others += [each.points for each in spec.springs]
    if not any(point in points for points in others) and point not in _single(spec):
        raise SpecError(Fault(f"nothing but {name} is at {point}", bond.mark, "a pin joins it to something else"))
    for weld in spec.actions.welds:
        if name in (weld.part, weld.other):
            hint = f"weld them by a bond: Bonds: {{name: {{hold: {weld.part}-{weld.other}, attached: yes}}}}"
            raise SpecError(Fault(f"{name} is welded at {point}, which a pin alone does not let go", bond.mark, hint))
    own = _unused(spec, point)
    points = tuple(own if each == point else each for each in part.points)
    rigids = tuple(replace(each, points=points) if each is part else each for each in spec.rigids)
    bonds = tuple(
        replace(each, points=(point, own), parts=(), pin=False) if each is bond else each for each in spec.actions.bonds
    )
    forces = tuple(
        replace(each, point=own) if (each.part, each.point) == (name, point) else each for each in spec.forces
    )
    return replace(
        spec,
        rigids=rigids,
        forces=forces,
        twins={**spec.twins, own: point},
        problem=_started(spec, point, own),
        animation=_drawn(spec.animation, name, point, own),
        actions=replace(_of_part(spec.actions, name, part.points, point, own), bonds=bonds),
    )


def _single(spec: MechSpec) -> set[str]:
    """Points that are fixed, or have a mass of their own."""
    return {*spec.fixed, *(each.point for each in spec.particles)}


def _unused(spec: MechSpec, point: str) -> str:
    """`B1` for B, or the next number that no point has."""
    taken = _single(spec).union(*(each.points for each in spec.rigids), *(each.points for each in spec.springs))
    return next(name for number in count(1) if (name := f"{point[0]}{number}") not in taken)


def _started(spec: MechSpec, point: str, own: str) -> Problem:
    """The new point is guessed where the old one is, and fixed by the bond alone."""

    def guessed(values: Mapping[str, tuple[StartValue | None, ...]]) -> dict[str, tuple[StartValue | None, ...]]:
        loose = tuple(each and replace(each, fixed=False) for each in values.get(point, ()))
        return {**values, own: loose} if loose else dict(values)

    positions, velocities = guessed(spec.problem.positions), guessed(spec.problem.velocities)
    if point in spec.fixed:
        positions[own] = tuple(StartValue(number, False) for number in spec.fixed[point].coordinates)
    return replace(spec.problem, positions=positions, velocities=velocities)


def _drawn(animation: Mapping[str, Any], part: str, point: str, own: str) -> Mapping[str, Any]:
    """The outline that the file draws of the part goes through its own point."""
    skel = animation.get("Skels", {}).get(part) or {}
    if "path" not in skel:
        return animation
    path = re.sub(POINT, lambda found: own if found[0] == point else found[0], skel["path"])
    return {**animation, "Skels": {**animation["Skels"], part: {**skel, "path": path}}}


def _of_part(actions: Actions, part: str, points: tuple[str, ...], point: str, own: str) -> Actions:
    """What means a point as one of the part takes that with it: forces in its frame, blades, lines and outlines."""

    def renamed(names: tuple[str, ...]) -> tuple[str, ...]:
        """Points of the part, two or more of them."""
        inside = len(names) > 1 and set(names) <= set(points)
        return tuple(own if each == point else each for each in names) if inside else names

    def moved(records: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(_moved(each) for each in records)

    def _moved(record: Any) -> Any:
        if getattr(record, "line", None):
            record = replace(record, line=renamed(record.line))
        if getattr(record, "part", None) == part and getattr(record, "point", None) == point:
            record = replace(record, point=own)
        return record

    return replace(
        actions,
        forces=moved(actions.forces),
        sliders=moved(actions.sliders),
        slots=moved(actions.slots),
        rollings=moved(actions.rollings),
        skates=moved(actions.skates),
        frictions=moved(actions.frictions),
        contacts=tuple(replace(each, points=each.points[:1] + renamed(each.points[1:])) for each in actions.contacts),
        meetings=tuple(
            replace(each, first=_side(each.first, renamed), second=_side(each.second, renamed))
            for each in actions.meetings
        ),
    )


def _side(side: Side, renamed: Callable[[tuple[str, ...]], tuple[str, ...]]) -> Side:
    return replace(side, points=renamed(side.points)) if len(side.points) > 1 else side


def _rod(spec: MechSpec, bond: Bond) -> MechSpec:
    rod = next(each for each in spec.rigids if each.name == bond.name)
    if rod.name in _directed(spec):
        message = f"the rod {rod.name} is let go, and has no direction then"
        raise SpecError(Fault(message, bond.mark, "do not use its turn angle or its frame"))
    rope = Rope((rod.points[0], rod.points[1]), rod.geometry[1][0], rod.mark)
    rigids = tuple(each for each in spec.rigids if each is not rod)
    bonds = tuple(replace(each, joint="Ropes") if each is bond else each for each in spec.actions.bonds)
    return replace(spec, rigids=rigids, actions=replace(spec.actions, ropes=(*spec.actions.ropes, rope), bonds=bonds))


def _directed(spec: MechSpec) -> set[str | None]:
    """Parts whose turn angle or frame something needs."""
    actions, problem = spec.actions, spec.problem
    names = {name for expression in actions.expressions() for name in expression.names}
    found: set[str | None] = {angle.part for angle in map(reference, names) if isinstance(angle, TurnAngle)}
    found |= {*problem.angles, *problem.rates, *(spec.solver.outfile.angles or ())}
    found |= {part for each in spec.torques for part in (each.part, each.against)}
    found |= {part for each in actions.torques for part in (each.part, each.against)}
    found |= {part for each in actions.torsion_springs for part in (each.part, each.against)}
    found |= {part for each in actions.frictions for part in (each.part, each.against)}
    found |= {part for each in actions.gears for part in (each.part, each.other, each.carrier)}
    found |= {part for each in actions.welds for part in (each.part, each.other)}
    found |= {part for each in actions.bonds for part in each.parts}
    found |= {each.part for each in actions.sliders} | {each.part for each in actions.skates}
    found |= {part for each in actions.rollings for part in (each.part, each.rack)}
    return found | {each.part for each in spec.forces} | {each.part for each in actions.forces}
