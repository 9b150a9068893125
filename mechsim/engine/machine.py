"""A march that is used for many motions of one plan, each as if it were the first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from mechsim.engine.control import REJECTION, SETTLED, SHARE, order_near_poses, safety_for
from mechsim.kernel.compiled import make_march
from mechsim.kernel.march import March
from mechsim.kernel.numbers import KernelNodes, Numbers
from mechsim.kernel.plan import Plan


def new_march(plan: Plan, order: int, tolerance: float, fixed_step: float = 0.0, share: float = SHARE) -> March:
    """A march with the step control of the engine."""
    return make_march(
        plan,
        order=order,
        careful_order=order_near_poses(order, tolerance),
        tolerance=tolerance,
        safety=safety_for(order, share),
        fixed_step=fixed_step,
        settled=SETTLED * tolerance,
        rejection=REJECTION * tolerance,
    )


class Machines:
    """Marches of one plan for any numbers of it. Threads take one each."""

    def __init__(self, plan: Plan, numbers: Numbers, order: int, tolerance: float):
        self.plan, self.order, self.tolerance = plan, order, tolerance
        self._nodes = KernelNodes(plan, numbers)
        self._free: list[tuple[March, bytes]] = []

    @contextmanager
    def march(self, plan: Plan, values: np.ndarray) -> Iterator[March]:
        """A march as new for the values of all nodes of the numbers; `plan` is this one tuned to them."""
        try:
            march, new = self._free.pop()  # one call: another thread gets another march
        except IndexError:
            march = new_march(self.plan, self.order, self.tolerance)
            new = march.snapshot()
        march.restore(new)
        march.tune(values[self._nodes.tables], plan.constants, plan.scales, self._nodes.matrix(values))
        march.tune_gaps(plan.gaps.numbers)
        march.tune_frictions(plan.frictions.numbers)
        yield march
        self._free.append((march, new))  # one that failed strangely is not used again
