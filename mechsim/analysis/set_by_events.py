"""What events of the user leave behind beside positions and velocities: inputs that they set, bonds that they open and
close. It is a part of the state between whose values there is nothing, so a motion is periodic only if that comes back
too, and Newton's method looks for one with what is set where its period begins."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from mechsim.analysis.subject import Case, Directed, Sides, Subject
from mechsim.engine import Solution, State
from mechsim.errors import Fault, IntegrationError
from mechsim.frozen import frozen
from mechsim.kernel.system import System
from mechsim.measure.reading import Vocabulary
from mechsim.model.mechanism import Watched
from mechsim.result.layout import Array
from mechsim.spec.living import Tape

SAME = 1e-9  # of what a bond keeps: it is found where the bond takes hold


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


def _bonds(system: System) -> dict[int, int]:
    """The constants that bonds keep, or -1, by those which tell whether they hold."""
    return {gap.mode: -1 if gap.held is None else gap.held for gap in system.gaps if gap.bond}


def at_the_end(solution: Solution) -> Array:
    """All constants where a motion ends."""
    return np.asarray(solution.system_at(float(solution.t[-1])).constants)


def remarks(subject: Subject, system: System) -> tuple[str, ...]:
    """What a person must know who begins there."""
    if not isinstance(subject, _AsLeft):
        return ()
    names = {port.value: name for name, port in system.mechanism.inputs.items()}
    left = ", ".join(f"{names[number]} = {value:g}" for number, value in subject.left.items())
    return (f"it begins with what events have left: {left}",)


def as_left(subject: Subject, system: System, constants: Array) -> Subject:
    """The subject whose motions begin with what events have set by then. Raises IntegrationError where bonds are not as
    they are at its own start: other constraints hold then."""
    modes = [mode for mode, kept in _bonds(system).items() if _differs(system, constants, mode, kept)]
    if modes:
        name = next(gap.name for gap in system.gaps if gap.mode == modes[0])
        message = f"bond {name} is not as it is at the start of the file where the period begins"
        raise IntegrationError(Fault(message, hint="begin the period at another time (t0, from), at which it is"))
    left = {number: float(constants[number]) for number in _inputs(system)}
    return subject if all(system.constants[n] == value for n, value in left.items()) else _AsLeft(subject, left)


def _differs(system: System, constants: Array, mode: int, kept: int) -> bool:
    if constants[mode] != system.constants[mode]:
        return True
    return bool(constants[mode] and kept >= 0 and abs(constants[kept] - system.constants[kept]) > SAME)


def refuse_other(solution: Solution, system: System) -> None:
    """Raise where a motion ends with other things set than those with which the next one, of `system`, begins."""
    constants = at_the_end(solution)
    for number in _inputs(system):
        begun, ended = float(system.constants[number]), float(constants[number])
        if begun != ended:
            port = next(name for name, port in system.mechanism.inputs.items() if port.value == number)
            message = f"events have set {port} to {ended:g} where it comes back, and it begins with {begun:g}"
            hint = "it is no period of this motion: take several, or begin where these are the same"
            raise IntegrationError(Fault(message, hint=hint))
    for gap in system.gaps:
        if gap.bond and _differs(system, constants, gap.mode, -1 if gap.held is None else gap.held):
            message = f"bond {gap.name} is not as it was at the beginning where it comes back"
            raise IntegrationError(Fault(message, hint="it is no period of this motion: take several"))


@frozen(slots=False, eq=False)
class _AsLeft:
    """A Subject whose motions begin with some constants as they are `left`."""

    subject: Subject
    left: Mapping[int, float]

    @property
    def parameters(self) -> Mapping[str, float]:
        return self.subject.parameters

    @property
    def names(self) -> Vocabulary:
        return self.subject.names

    def numbers(self, parameters: Mapping[str, float]) -> Callable[[str], Array]:
        return self.subject.numbers(parameters)

    def living(self, tape: Tape) -> Mapping[str, float]:
        return self.subject.living(tape)

    def sides(self, columns: Mapping[str, Array], count: int) -> Sides:
        return self.subject.sides(columns, count)

    def case(
        self,
        parameters: Mapping[str, float],
        start: State | None = None,
        tend: float | None = None,
        *,
        nearest: bool = False,
    ) -> Case:
        return self._begun(self.subject.case(parameters, start, tend, nearest=nearest))

    def _begun(self, case: Case) -> Case:
        constants = case.system.constants.copy()
        constants[list(self.left)] = list(self.left.values())

        def directed(names: Sequence[str]) -> Directed:
            there, directions = case.directed(names)
            directions.numbers.constants[list(self.left)] = 0.0
            return self._begun(there), directions

        return replace(case, system=case.system.holding(constants), plan=None, directed=directed)
