"""Many starts beside a known one: what `Beside` finds for each, found by the kernel (kernel/src/starts.hpp).

The rules are those of warm.py, nearest.py and branch.py, and so are their bounds, which are handed over here. Whatever
is not plain (a singular pose, a branch that ends, a file to be read again on the way) is left to `Beside`, one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mechsim.frozen import frozen
from mechsim.initial import branch, nearest
from mechsim.initial.assembly import ABSURD
from mechsim.initial.closure import CLOSED
from mechsim.initial.start import Array, Indices, Wishes
from mechsim.initial.warm import INDEPENDENT, SAME, Beside
from mechsim.kernel.numbers import Guards, Numbers
from mechsim.kernel.starts import Equations, make_starts
from mechsim.structure import SINGULAR

if TYPE_CHECKING:
    from mechsim.kernel.system import System

Marks = NDArray[np.bool_]

MOST = 60  # coordinates: the matrices of more are too sparse for the kernel's way
FULL = 1e-5  # singular values of constraints by what may move: less is a dead point, or near one
OFF = 1e-6  # of the mechanism's size, or of its speed: a state that misses its constraints by more is not meant

# In the order of `struct Rules` in kernel/src/starts.hpp.
RULES = (
    *(branch.CONTRACTION, nearest.CONTRACTION, branch.STRIDE, nearest.SETTLED, branch.CLOSE),
    *(branch.GOLDEN, branch.SHORTEST, branch.FIRM, branch.PUSH),
    *(CLOSED, SAME, INDEPENDENT, FULL, ABSURD, OFF, SINGULAR),
)


@frozen(slots=False)
class Asked:
    """The nodes of what a start is found from, in the numbers of a file with living parameters."""

    system: System
    numbers: Numbers
    here: Array  # the file's own parameters
    time: int
    guesses: Indices  # of all coordinates: where they are asked to be, or placed
    rates: Indices
    placed: Guards  # they are placed so while these hold
    positions: Wishes
    velocities: Wishes


@frozen(slots=False)
class ManyStarts:
    """Starts of many sets, a row for each; nothing is said of those that are not `found`."""

    t: Array
    positions: Array  # (sets, coordinates)
    velocities: Array
    found: Marks
    singular: Marks  # on a singular pose, or so near that its equations are of no use


class ManyBeside:
    """The starts beside a known one for many sets of numbers."""

    def __init__(self, beside: Beside, asked: Asked):
        self.asked, known, system = asked, beside.known, asked.system
        variables = system.mechanism.variables
        states = [place for place, variable in enumerate(variables) if variable.kind == "state"]
        free_rates = beside.moving[~np.isin(beside.moving, asked.velocities.fixed)]
        few = system.n <= MOST and (len(beside.rows) <= len(beside.free) or not len(beside.free))
        plain = not (known.singular or known.redundancy.rows or known.redundancy.singular)
        self.finds = few and plain and not _bends(system)
        follows = self.finds  # else the kernel only looks at states
        weights = (nearest.weights_of(wishes.guessed, system.n) for wishes in (asked.positions, asked.velocities))
        costs = tuple(weight[free] for weight, free in zip(weights, (beside.free, free_rates), strict=True))
        none = np.zeros(0)
        self._search = make_starts(
            Equations(system, asked.numbers, states),
            here=asked.here,
            placed=asked.placed,
            time=asked.time,
            guesses=asked.guesses,
            rates=asked.rates,
            coordinates={
                "moving": beside.moving,
                "free": beside.free if follows else [],
                "held": beside.held,
                "angles": beside.angles if follows else [],
                "free_rates": free_rates,
                "states": states,
            },
            rows=beside.rows if follows else np.zeros(0, dtype=np.intp),
            known=known.positions,
            costs=(costs[0] if follows else none, costs[1]),
            rules=RULES,
        )

    def starts(self, values: Array, parameters: Array) -> ManyStarts:
        """For the values of all nodes, (nodes, sets), all of which hold, and the parameters that they are of."""
        t, q, v, found = self._search.find(values, np.ascontiguousarray(parameters))
        return ManyStarts(t, q, v, found != 0, np.zeros(len(t), dtype=bool))

    def checked(self, values: Array, t: Array, q: Array, v: Array) -> tuple[Array, Marks, Marks]:
        """Of given states: velocities with the rates of integrals, which of them satisfy the constraints, and which are
        surely near no singular pose."""
        rates, close, regular = self._search.check(values, *map(np.ascontiguousarray, (t, q, v)))
        return rates, close != 0, regular != 0

    def with_state_rates(self, values: Array, t: float, q: Array, v: Array) -> Array:
        """The velocities of one state with the rates of integrals for each set, (sets, coordinates)."""
        return self._search.state_rates(values, t, q, v)


def _bends(system: System) -> bool:
    """Whether a nonholonomic constraint is not linear in velocities."""
    for group in system.groups:
        slopes = group.program.restrict(lambda key: key[0] == "slope")
        if any(source.order == 1 for output in slopes.outputs for source in slopes.depends_on(output)):
            return True
    return False
