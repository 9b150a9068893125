"""What is asked of IPOPT, in numbers without units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mechsim.design.task import Relation
from mechsim.frozen import frozen
from mechsim.nonlinear import Solved
from mechsim.result.layout import Array


@frozen(eq=False)
class Asking:
    """What is asked of IPOPT: relations as they are held, between which limits these and gaps must be, how large the
    goal and relations are, and by what numbers are divided."""

    relations: tuple[Relation, ...]
    limits: tuple[Array, Array]
    size: float
    sizes: Array
    scales: Array

    def of(self, found: Solved) -> Solved:
        """IPOPT's answer for the numbers, the goal and relations themselves."""
        count = len(self.relations)
        per_relation = np.concatenate([1.0 / self.sizes, np.ones(len(found.multipliers) - count)])
        return replace(
            found,
            x=found.x * self.scales,
            multipliers=self.size * found.multipliers * per_relation,
            below=self.size * found.below / self.scales,
            above=self.size * found.above / self.scales,
        )


def missed_of(values: Array, limits: tuple[Array, Array]) -> Array:
    """By how much each constraint is missed."""
    least, most = limits
    return np.maximum(0.0, np.maximum(least - values, values - most))


def limits_of(relations: Sequence[Relation], gaps: int) -> tuple[Array, Array]:
    """Between what constraints must be."""
    least, most = (np.array([getattr(each, key) for each in relations] + [0.0] * gaps) for key in ("least", "most"))
    return least, most
