"""Where a search stands: what was evaluated there, and what was best so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mechsim.design.course import Course
from mechsim.design.goals import Sloped
from mechsim.frozen import frozen
from mechsim.result.layout import Array


@frozen(eq=False)
class Evaluated:
    """At some numbers: the motion, the goal, what relations are, in their sizes, and gaps; derivatives where these were
    asked for."""

    numbers: Array
    course: Course
    goal: float
    relations: Array
    gaps: Array
    sloped: Sloped | None = None
    slopes: Array | None = None  # (relations, numbers)

    @property
    def constraints(self) -> Array:
        return np.concatenate([self.relations, self.gaps])


@frozen
class Iteration:
    """How a search stands: the goal, and by how much constraints are missed at most, in their sizes."""

    number: int
    goal: float
    missed: float


@dataclass(slots=True, eq=False)
class Best:
    """The best numbers so far: those that miss constraints by less than `met`, then the lowest goal."""

    met: float
    numbers: Array
    goal: float = np.inf
    missed: float = np.inf

    def hear(self, numbers: Array, goal: float, missed: float) -> bool:
        """Whether these are better."""
        key, own = (max(missed, self.met), goal), (max(self.missed, self.met), self.goal)
        if np.isfinite(goal) and key < own:
            self.numbers, self.goal, self.missed = numbers.copy(), goal, missed
            return True
        return False


Told = Callable[[Iteration, Best], None]
