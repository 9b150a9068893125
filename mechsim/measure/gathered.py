"""Motions that are at hand, as the many that measures are taken of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np

from mechsim.engine.points import lasting
from mechsim.errors import Fault, MechsimError
from mechsim.frozen import frozen
from mechsim.measure.bernstein import Array, Indices
from mechsim.measure.steps import Steps, Value, blocks_of
from mechsim.result import Motion


@frozen(eq=False)
class Joined:
    """Polynomials of motions, one after the other."""

    offsets: Indices
    begins: Array
    ends: Array
    coefficients: Array
    constants: Array


class Gathered:
    """Finished motions of one mechanism as Many, with polynomials of one order."""

    def __init__(self, motions: Sequence[Motion], parameters: Mapping[str, Value]):
        self._motions, self.parameters = tuple(motions), dict(parameters)
        solutions = [motion.solution for motion in motions]
        self.coordinates = solutions[0].system.labels[: solutions[0].system.n]
        self.t = np.array([solution.t[-1] for solution in solutions])
        self.q, self.v = (np.stack([getattr(each, name)[-1] for each in solutions]) for name in "qv")
        self.finished = np.array([solution.status == "finished" for solution in solutions])
        if any(solution.t[-1] < solution.t[0] for solution in solutions):
            raise MechsimError(Fault("measures are of motions that go forward in time"))

    @cached_property
    def polynomials(self) -> Joined:
        solutions = [motion.solution for motion in self._motions]
        kept = [solution.coefficients for solution in solutions]
        if any(each is None for each in kept):
            raise MechsimError(Fault("the motion kept no polynomials", hint='keep="polynomials"'))
        pairs = zip(solutions, kept, strict=True)
        times, series = zip(*(lasting(one.t, np.asarray(each).transpose(0, 2, 1)) for one, each in pairs), strict=True)
        return Joined(
            np.concatenate([[0], np.cumsum([len(each) for each in series])]),
            np.concatenate([each[:-1] for each in times]),
            np.concatenate([each[1:] for each in times]),
            np.concatenate(series),
            np.stack([solution.system.constants for solution in solutions]),
        )

    def column(self, name: str) -> Array:
        """`T` or `V` at the ends."""
        found = [
            each.solution.system_at(t, "before").energies(t, q, v)["TV".index(name)]
            for each, t, q, v in zip(self._motions, self.t, self.q, self.v, strict=True)
        ]
        return np.array(found, dtype=float)

    def motion(self, k: int) -> Motion:
        return self._motions[k]


def steps_of(many: Gathered, parameters: Callable[[str], Array], changing: bool) -> Steps:
    """The steps of the only motion."""
    block = next(blocks_of(np.array([0]), many.polynomials), None)
    if block is None:
        raise MechsimError(Fault("the motion has no steps"))
    return Steps(many, block, parameters, changing)
