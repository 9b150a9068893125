"""Energies for many sets of numbers at once, each at a state of its own.

Arrays have the sets as their last axis, and every operation is one over all of them. Nothing is summed along the sets,
so what is found for one is the same whatever others there are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mechsim.derive.program import Input
from mechsim.kernel.evaluate import evaluate
from mechsim.kernel.groups import Group
from mechsim.kernel.numbers import Numbers
from mechsim.kernel.system import System

Array = NDArray[np.float64]

ABREAST = 8  # the widest registers hold so many numbers: with whole ones, no number is a remainder computed otherwise


def energies_of(system: System, numbers: Numbers, values: Array, t: Array, q: Array, v: Array) -> Array:
    """Kinetic and potential energy, (2, sets), of states (sets, coordinates) with the values of all nodes, (nodes,
    sets)."""
    count = len(t)
    wide = np.minimum(np.arange(-(-count // ABREAST) * ABREAST), count - 1)
    values, t = values[:, wide], t[wide]
    constants = values[numbers.constants]
    # Constant k is slot -1 - k: a negative index counts from the end.
    levels = np.concatenate([q[wide].T, constants[::-1]]), np.concatenate([v[wide].T, np.zeros_like(constants)])
    result = np.zeros((2, len(wide)))
    for group, table in zip(system.groups, numbers.tables, strict=True):
        for row, name in enumerate(("kinetic", "potential")):
            program = system._restricted(group, (name,))
            inputs = [_input(group, source, t, levels) for source in program.inputs]
            for value in evaluate(program, values[table], inputs):
                for lane in np.broadcast_to(value, (group.lanes, len(wide))):
                    result[row] += lane
    return result[:, :count]


def _input(group: Group, source: Input, t: Array, levels: tuple[Array, Array]) -> Array:
    if source.kind == "time":
        return np.ones((group.lanes, 1)) * t
    return np.asarray(levels[source.order][group.variables[source.index]])
