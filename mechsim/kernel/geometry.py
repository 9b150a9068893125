"""Constraints of a system at one time, with their first and second derivatives, for many poses in one call.

What NumPy evaluates operation by operation (kernel/values.py) is here one straight program, as numbers of a file are
(kernel/numbers.py), with positions and multipliers for parameters. For one pose that is many times as fast.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mechsim.kernel import _kernel
from mechsim.kernel.numbers import Numbers, program_of
from mechsim.kernel.starts import Equations
from mechsim.kernel.system import System
from mechsim.kernel.written_out import Reference, Written
from mechsim.spec.living import Node, Tape

Array = NDArray[np.float64]


class Geometry:
    """All holonomic constraints, those of contacts too, as if they held. Positions are (poses, n)."""

    def __init__(self, system: System, t: float):
        self.n, self.m, self.t = system.n, system.m, t
        self._numbers = Numbers(Tape(()), system.mechanism, system)
        self._equations = Equations(system, self._numbers, ())

    def values(self, q: Array) -> Array:
        """(poses, m)"""
        return self._first.outputs(q)[:, : self.m]

    def slopes(self, q: Array) -> tuple[Array, Array]:
        """Values, and derivatives (poses, m, n)."""
        found = self._first.outputs(q)
        return found[:, : self.m], found[:, self.m :].reshape(-1, self.m, self.n)

    def bending(self, q: Array, weights: Array) -> Array:
        """Second derivatives of the sum of all constraints, weighted (poses, m): (poses, n, n)."""
        return self._second.outputs(q, weights).reshape(-1, self.n, self.n)

    @cached_property
    def _first(self) -> _Straight:
        return self._straight(self._equations.programs[0], self.m * (1 + self.n))

    @cached_property
    def _second(self) -> _Straight:
        return self._straight(self._equations.programs[1], self.n**2)

    def _straight(self, written: Written, outputs: int) -> _Straight:
        known = self._numbers.values(np.zeros((0, 1)))[:, 0]
        return _Straight(written, known, self._numbers.constants, self.t, (self.n, self.m), outputs)


class _Straight:
    """A program that was written out, with its constants, as one of the kernel's."""

    def __init__(
        self, written: Written, known: Array, constants: NDArray[np.intp], t: float, counts: Sequence[int], outputs: int
    ):
        n, m = counts
        self._nodes: list[Node] = [("parameter", k) for k in range(n + m)]
        self._nodes += [("value", 0.0), ("value", t)]
        self._known: dict[float, int] = {}
        first = {"position": 0, "multiplier": n, "zero": n + m, "velocity": n + m, "time": n + m + 1}
        lines: list[int] = []

        def place(reference: Reference) -> int:
            kind, number = reference
            if kind == "line":
                return lines[number]
            if kind in ("node", "constant"):
                return self._value(float(known[number if kind == "node" else constants[number]]))
            return first[kind] + (number if kind in ("position", "multiplier") else 0)

        for step, a, b in written.lines:
            lines.append(self._node(step, place(a), place(b)))
        totals: dict[int, int] = {}
        for output, result in written.stores:
            own = place(result)
            totals[output] = self._node("add", totals[output], own) if output in totals else own
        self._program: _kernel.Constants = program_of(self._nodes, n + m)
        self._outputs, self._places = np.array(list(totals), dtype=np.intp), np.array(list(totals.values()), np.intp)
        self._counts = n, m, outputs

    def _node(self, *node: object) -> int:
        self._nodes.append(node)
        return len(self._nodes) - 1

    def _value(self, value: float) -> int:
        if value not in self._known:
            self._known[value] = self._node("value", value)
        return self._known[value]

    def outputs(self, q: Array, weights: Array | None = None) -> Array:
        n, m, count = self._counts
        given = np.zeros((n + m, len(q)))
        given[:n] = q.T
        if weights is not None:
            given[n:] = weights.T
        found = np.zeros((len(q), count))
        found[:, self._outputs] = self._program.values(given)[self._places].T
        return found
