"""What events of the user leave behind beside positions and velocities: inputs that they set, bonds that they open and
close. It is a part of the state between whose values there is nothing, so a motion is periodic only if that comes back
too, and Newton's method looks for one with what is set at each of its states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mechsim.analysis.subject import Case, Directed
from mechsim.engine import Solution
from mechsim.errors import Fault, IntegrationError
from mechsim.kernel.system import System
from mechsim.model.mechanism import Watched

Left = Mapping[int, float]  # values of inputs that events set, by constant
SAME = 1e-9  # of its size, of what a bond keeps: it is found where the bond takes hold


def is_set(system: System) -> bool:
    """Whether events leave anything behind."""
    return bool(_inputs(system)) or any(gap.bond for gap in system.gaps)


def refuse_continuous(system: System) -> None:
    """Raise where an event keeps a value of the motion: that is a state too, which may be any number."""
    for event in system.events:
        if not event.switch and _keeps_motion(system, event):
            message = f"event {event.name} keeps a value of the motion, which is a state too: periodic motions of it"
            raise IntegrationError(Fault(f"{message} are not known", event.mark, "let it set fixed values"))


def _keeps_motion(system: System, event: Watched) -> bool:
    group = next(group for group in system.groups if event.element in group.elements)
    lane = group.elements.index(event.element)
    for output in group.program.outputs:
        if output.key[0] != "signal" or output.key[1] == 0:  # the first is what is watched
            continue
        for source in group.program.depends_on(output):
            if source.kind != "variable" or group.variables[source.index][lane] >= 0:
                return True
    return False


def _inputs(system: System) -> list[int]:
    """Constants that events set."""
    return sorted({number for event in system.events if not event.switch for number in event.constants})


def left_in(system: System) -> Left:
    """What events have set by now."""
    return {number: float(system.constants[number]) for number in _inputs(system)}


def words(system: System, left: Left) -> str:
    """The same for a person."""
    names = {port.value: name for name, port in system.mechanism.inputs.items()}
    return ", ".join(f"{names[number]} = {value:g}" for number, value in left.items())


def begun_with(case: Case, left: Left) -> Case:
    """The case, but with what events had set before it begins."""
    if left == left_in(case.system):
        return case
    numbers = list(left)
    constants = case.system.constants.copy()
    constants[numbers] = list(left.values())

    def directed(names: Sequence[str]) -> Directed:
        there, directions = case.directed(names)
        directions.numbers.constants[numbers] = 0.0  # no parameter changes what has been set
        return begun_with(there, left), directions

    return replace(case, system=case.system.holding(constants), plan=None, directed=directed)


def refuse_other_bonds(there: System, system: System, where: str, hint: str) -> None:
    """Raise where bonds are not as in a system: other constraints hold then."""
    for row, gap in zip(system.gap_rows, system.gaps, strict=True):
        if not gap.bond:
            continue
        holds, kept = (there.constants[gap.mode], system.constants[gap.mode]), gap.held
        off = 0.0 if kept is None else abs(there.constants[kept] - system.constants[kept])
        if holds[0] != holds[1] or (holds[0] and off > SAME * system.constraint_sizes[row]):
            raise IntegrationError(Fault(f"bond {gap.name} is not as it is {where}", hint=hint))


def refuse_other(solution: Solution, system: System) -> None:
    """Raise where a motion ends with other things set than those with which the next one, of `system`, begins."""
    there = solution.system_at(float(solution.t[-1]))
    begun, ended = left_in(system), left_in(there)
    if begun != ended:
        message = f"events have set {words(system, ended)} where it comes back, and it begins with"
        hint = "it is no period of this motion: take several, or begin where these are the same"
        raise IntegrationError(Fault(f"{message} {words(system, begun)}", hint=hint))
    where, hint = "at the beginning where the motion comes back", "it is no period of this motion: take several"
    refuse_other_bonds(there, system, where, hint)
