"""Many motions of one handle as they ended: a sequence of cases, where one that fails is an entry like the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import overload

import numpy as np

from mechsim.errors import AssemblyError, Fault, IntegrationError, MechsimError, SpecError
from mechsim.model.mechanism import Mechanism
from mechsim.result import Motion
from mechsim.result.layout import Array
from mechsim.result.motion import State
from mechsim.simulation import CutShort
from mechsim.source import Parameters

FINISHED = "finished"
NOT_BEGUN = {SpecError: "not_read", AssemblyError: "not_assembled", IntegrationError: "not_started"}


@dataclass(eq=False)
class Case:
    """One of many motions. `status` is "finished", or why there is less: as of a Solution, or "not_read",
    "not_assembled", "not_started" where there is no motion at all; `message` says it in words.

    `t` is the time that was reached, `positions` and `velocities` are those there, by name; NaN and None without.
    """

    parameters: Parameters
    status: str
    message: str = ""
    t: float = np.nan
    error: MechsimError | None = None  # what `handle.simulate` would have raised
    # Where it ended: names and fixed points are those of a mechanism, but for constants.
    _ending: tuple[Mechanism, Sequence[float], Array, Array] | None = field(default=None, repr=False)
    _found: Motion | Callable[[], Motion] | None = field(default=None, repr=False)

    @property
    def finished(self) -> bool:
        return self.status == FINISHED

    @property
    def positions(self) -> State | None:
        return self._state(0)

    @property
    def velocities(self) -> State | None:
        return self._state(1)

    def _state(self, rate: int) -> State | None:
        if self._ending is None:
            return None
        like, constants, *state = self._ending
        return State(replace(like, constants=tuple(constants)), state[rate], constant=1.0 - rate)

    @property
    def motion(self) -> Motion:
        """The motion, as far as it came. Raises its error where there is none."""
        if callable(self._found) and not isinstance(self._found, Motion):
            self._found = self._found()
        if self._found is None:
            raise self.error or MechsimError(
                Fault("only where the motion ended was kept", hint='keep="table" or keep="polynomials"')
            )
        return self._found

    def __getstate__(self) -> dict[str, object]:
        if self._found is not None:
            assert self.motion is self._found
        return vars(self)


class Motions(Sequence[Case]):
    """The cases of `handle.simulate_many`, in the order in which they were asked for."""

    def __init__(self, cases: Sequence[Case], seconds: float = 0.0):
        self._cases = tuple(cases)
        self.seconds = seconds  # of wall time for all

    @overload
    def __getitem__(self, k: int) -> Case: ...
    @overload
    def __getitem__(self, k: slice) -> Motions: ...
    def __getitem__(self, k: int | slice) -> Case | Motions:
        return Motions(self._cases[k], self.seconds) if isinstance(k, slice) else self._cases[k]

    def __len__(self) -> int:
        return len(self._cases)

    def __iter__(self) -> Iterator[Case]:
        return iter(self._cases)

    @property
    def status(self) -> tuple[str, ...]:
        return tuple(case.status for case in self._cases)

    @property
    def finished(self) -> Array:
        """Which of them came to their ends."""
        return np.array([case.finished for case in self._cases], dtype=bool)

    def at_end(self, name: str, of: str = "positions") -> Array:
        """A point or a coordinate at the ends of all motions, (cases, ...): `motions.at_end("A")`; NaN for those that
        did not come to theirs. `of="velocities"`: how fast it is there."""
        states = [getattr(case, of) if case.finished else None for case in self._cases]
        known = [state[name] for state in states if state is not None]
        nothing = np.full(np.shape(known[0]) if known else (), np.nan)
        return np.array([nothing if state is None else state[name] for state in states])

    def __repr__(self) -> str:
        return f"<{len(self)} motions, {int(self.finished.sum())} finished>"


def of_motion(parameters: Parameters, motion: Motion, kept: bool, error: MechsimError | None = None) -> Case:
    """The case of a motion that was followed alone."""
    solution = motion.solution
    case = Case(parameters, motion.status, _words(error), error=error)
    if len(solution.t):
        own = motion.mechanism
        case.t, case._ending = float(solution.t[-1]), (own, own.constants, solution.q[-1], solution.v[-1])
        case._found = motion if kept else None
    return case


def of_error(parameters: Parameters, error: MechsimError, kept: bool) -> Case:
    if isinstance(error, CutShort):
        return of_motion(parameters, error.motion, kept, IntegrationError(*error.faults))
    status = next((name for kind, name in NOT_BEGUN.items() if isinstance(error, kind)), "not_started")
    return Case(parameters, status, _words(error), error=error)


def _words(error: MechsimError | None) -> str:
    return "" if error is None else "; ".join(fault.message for fault in error.faults)
