"""IPOPT, for a nearest point that Newton's method does not find: it has a line search and restores closure."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from mechsim.initial.closure import Closure, numbering
from mechsim.initial.start import Array, Indices

ITERATIONS = 60  # a mechanism that closes takes about ten; one that does not would wander in restoration
TOLERANCE = 1e-9  # Newton's method polishes afterwards, so IPOPT need not squeeze out the last digits


@contextmanager
def signals_kept_back() -> Iterator[list[int]]:
    """Signals that come meanwhile, which their handlers hear of only afterwards.

    An exception that a handler raises within a callback (Ctrl-C) passes IPOPT's own frames, which may end the process.
    """
    heard: list[int] = []
    if threading.current_thread() is not threading.main_thread():  # handlers never run in others
        yield heard
        return
    handlers = {number: handler for number in signal.valid_signals() if callable(handler := signal.getsignal(number))}
    for number in handlers:
        signal.signal(number, lambda number, _: heard.append(number))
    try:
        yield heard
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for first in heard[:1]:
            signal.raise_signal(first)


class Distance:
    """The callbacks of `min 1/2 sum w_j (y_j - target_j)^2` subject to the closure, in the scaled free coordinates."""

    def __init__(self, closure: Closure, target: Array, weights: Array, interrupted: list[int]):
        self.closure = closure
        self.interrupted = interrupted
        self.start = target
        self.weights = weights[closure.free]
        self.rows, self.columns, _ = closure.jacobian(target)
        self.hessian_rows, self.hessian_columns, self.hessian_kept = self._hessian_pattern()

    def _hessian_pattern(self) -> tuple[Indices, Indices, Indices]:
        closure, diagonal = self.closure, np.arange(len(self.closure.free))
        if closure.hessian_of is None:
            return diagonal, diagonal, np.zeros(0, dtype=np.intp)
        number = numbering(closure.free, len(closure.scales))
        rows, columns, _ = closure.hessian_of(self.start, np.ones(len(closure.row_scales)))
        kept = np.flatnonzero((number[rows] >= 0) & (number[columns] >= 0))
        first, second = number[rows[kept]], number[columns[kept]]
        # Duplicates are summed by IPOPT, so the objective's diagonal simply comes first; it wants the lower triangle.
        return (
            np.concatenate([diagonal, np.maximum(first, second)]),
            np.concatenate([diagonal, np.minimum(first, second)]),
            kept,
        )

    def intermediate(self, *_: float) -> bool:
        """Called after each iteration; False ends the search."""
        return not self.interrupted

    def objective(self, y: Array) -> float:
        return 0.5 * float(self.weights @ (y * y))

    def gradient(self, y: Array) -> Array:
        return self.weights * y

    def constraints(self, y: Array) -> Array:
        return self.closure.residual(self.closure.moved(self.start, y))

    def jacobianstructure(self) -> tuple[Indices, Indices]:
        return self.rows, self.columns

    def jacobian(self, y: Array) -> Array:
        return self.closure.jacobian(self.closure.moved(self.start, y))[2]

    def hessianstructure(self) -> tuple[Indices, Indices]:
        return self.hessian_rows, self.hessian_columns

    def hessian(self, y: Array, multipliers: Array, factor: float) -> Array:
        closure, objective = self.closure, factor * self.weights
        if closure.hessian_of is None:
            return objective
        full = np.zeros(len(closure.row_scales))
        full[closure.rows] = multipliers / closure.row_scales[closure.rows]
        rows, columns, values = closure.hessian_of(closure.moved(self.start, y), full)
        scaled = values * closure.scales[rows] * closure.scales[columns]
        return np.concatenate([objective, scaled[self.hessian_kept]])


def minimise(closure: Closure, target: Array, weights: Array, start: Array) -> Array | None:
    """IPOPT's last point from `start`, None if that is no point."""
    from cyipopt import Problem  # here only: it imports scipy.optimize, which takes longer than most runs

    count, equations = len(closure.free), len(closure.rows)
    zeros = np.zeros(equations)
    infinite = np.full(count, 1e20)
    options = {"print_level": 0, "sb": "yes", "max_iter": ITERATIONS, "tol": TOLERANCE}
    if closure.hessian_of is None:
        options |= {"jac_c_constant": "yes", "hessian_constant": "yes"}
    with signals_kept_back() as interrupted:
        distance = Distance(closure, target, weights, interrupted)
        problem = Problem(count, equations, distance, lb=-infinite, ub=infinite, cl=zeros, cu=zeros)
        for name, value in options.items():
            problem.add_option(name, value)
        solution, _ = problem.solve(((start - target) / closure.scales)[closure.free])
    return closure.moved(target, solution) if np.all(np.isfinite(solution)) else None
