"""The kernel's twin in plain NumPy: slow, obvious, in any floating-point type. It is the oracle in tests.

Where the compiled kernel keeps a schedule and corrects operations after a solve, the twin simply evaluates every
stage again once its unknowns are known. It runs the same plan.
"""

from __future__ import annotations

import math
from typing import SupportsFloat

import numpy as np

from mechsim.derive.program import NEGATIVE_SLOPE, Operation
from mechsim.kernel.components import WIDTH
from mechsim.kernel.evaluate import degree_zero
from mechsim.kernel.plan import Block, Plan
from mechsim.kernel.schedule import ALWAYS

NEWTON_STEPS = 6  # at a stage k <= 0; Newton doubles digits, so this is plenty from a good start


class Twin:
    """Expands a system in Taylor series at a state, and marches with fixed steps."""

    def __init__(self, plan: Plan, order: int, dtype: type[np.floating] = np.float64):
        self.plan = plan
        self.order = order
        self.dtype = dtype
        self.c, self.d = plan.equation_offsets, plan.variable_offsets
        self.degrees = order + int(self.d.max())
        self.series = [self._registers(block) for block in plan.blocks]
        self.x = np.zeros((self.degrees, plan.size + len(plan.constants)), dtype=dtype)
        self.x[0, plan.size :] = plan.constants

    def _registers(self, block: Block) -> np.ndarray:
        count = len(block.program.inputs) + len(block.program.operations)
        return np.zeros((count, self.degrees, block.lanes), dtype=self.dtype)

    def set_state(self, t: SupportsFloat, state: np.ndarray) -> None:
        """Derivatives 0..d_j - 1 of every unknown, one row each; derivative d_j, if given, is a first guess."""
        self.t = self.dtype(t)
        size = self.plan.size
        self.x[:, :size] = 0
        for derivative, values in enumerate(state):
            wanted = derivative <= self.d
            given = np.asarray(values, dtype=self.dtype) / math.factorial(derivative)
            self.x[derivative, :size][wanted] = given[wanted]

    def expand(self) -> np.ndarray:
        """Project the state, find all coefficients: (degree, unknown)."""
        for stage in range(-int(self.d.max()), 1):
            for _ in range(NEWTON_STEPS):
                self._solve(stage)
            self._evaluate(stage)
        for stage in range(1, self.order):
            self._solve(stage)
            self._evaluate(stage)
        return self.x[:, : self.plan.size]

    def march(self, step: float | np.floating, count: int) -> None:
        """`count` steps of fixed size, ending in a projected state."""
        size, orders = self.plan.size, int(self.d.max())
        for _ in range(count):
            coefficients = self.expand().copy()
            state = np.zeros((orders, size), dtype=self.dtype)
            for derivative in range(orders):
                total = np.zeros(size, dtype=self.dtype)
                for n in reversed(range(derivative, self.degrees)):
                    total = total * step + coefficients[n] * math.perm(n, derivative)
                state[derivative] = total
            self.set_state(self.t + self.dtype(step), state)
        self.expand()

    def _solve(self, stage: int) -> None:
        residual = self._evaluate(stage)
        for i in range(self.plan.size):
            degree = stage + self.c[i]
            residual[i] *= -_stage_factor(stage, int(self.c[i])) if degree >= 0 else 0
        change = solve(self._matrix(), residual)
        for j in range(self.plan.size):
            degree = stage + self.d[j]
            if degree >= 0:
                self.x[degree, j] += change[j] / _stage_factor(stage, int(self.d[j]))

    def _evaluate(self, stage: int) -> np.ndarray:
        """Coefficients of this stage of every operation; returns the residual of the active rows."""
        residual = np.zeros(self.plan.size + 1, dtype=self.dtype)
        for block, series in zip(self.plan.blocks, self.series, strict=True):
            self._load(block, series, stage)
            inputs = len(block.program.inputs)
            constants = block.constants.astype(self.dtype)
            for i, operation in enumerate(block.program.operations):
                degree = stage + int(block.schedule.lead[inputs + i])
                if degree >= 0:
                    series[inputs + i, degree] = coefficient(operation, series, inputs + i, degree, constants)
            for output, rows, lead in zip(block.program.outputs, block.rows, block.row_leads, strict=True):
                degree = stage + int(lead)
                if degree < 0:
                    continue
                value = sum((constants[c] * series[r, degree] for c, r in output.terms), np.zeros(block.lanes))
                if degree == 0 and output.constant >= 0:
                    value = value + constants[output.constant]
                np.add.at(residual, rows, value)
        return residual[: self.plan.size]

    def _load(self, block: Block, series: np.ndarray, stage: int) -> None:
        for i, source in enumerate(block.program.inputs):
            if source.kind == "time":
                series[i, 0] = self.t
                series[i, 1:2] = 1
                continue
            # All coefficients that exist so far; later ones are still zero.
            for degree in range(self.degrees - source.order):
                known = block.schedule.available[i] == ALWAYS or degree <= stage + block.schedule.available[i]
                values = self.x[degree + source.order, block.unknowns[i]] if known else 0
                series[i, degree] = values * math.perm(degree + source.order, source.order)

    def _matrix(self) -> np.ndarray:
        plan = self.plan
        entries = np.append(plan.matrix_constant.astype(self.dtype), 0)
        for block in plan.jacobian_blocks:
            registers = []
            for i, source in enumerate(block.program.inputs):
                if source.kind == "time":
                    registers.append(np.full(block.lanes, self.t))
                else:
                    registers.append(self.x[source.order, block.unknowns[i]] * math.factorial(source.order))
            series = np.zeros((len(registers) + len(block.program.operations), 1, block.lanes), dtype=self.dtype)
            series[: len(registers), 0] = registers
            constants = block.constants.astype(self.dtype)
            for i, operation in enumerate(block.program.operations):
                own = len(registers) + i
                series[own, 0] = coefficient(operation, series, own, 0, constants)
            for output, places in zip(block.program.outputs, block.rows, strict=True):
                for factor, register in output.terms:
                    np.add.at(entries, places, constants[factor] * series[register, 0])
        matrix = np.zeros((plan.size, plan.size), dtype=self.dtype)
        matrix[plan.matrix_rows, plan.matrix_columns] = entries[:-1]
        return matrix


def coefficient(operation: Operation, series: np.ndarray, own: int, n: int, constants: np.ndarray) -> np.ndarray:
    """Taylor coefficient n of an operation's result, by its recurrence."""
    a, b, w = series[operation.a], series[operation.b], series[own]
    constant = constants[operation.constant]
    name = operation.name
    if name == "add":
        return a[n] + b[n]
    if name == "subtract":
        return a[n] - b[n]
    if name == "multiply":
        return _convolution(a, b, n, 0)
    if name == "square":
        return _convolution(a, a, n, 0)
    if name == "divide":
        return (a[n] - _convolution(b, w, n, 1)) / b[0]
    if name == "ratio":
        return constant / a[0] if n == 0 else -_convolution(a, w, n, 1) / a[0]
    if name == "root":
        return np.sqrt(a[0]) if n == 0 else (a[n] - sum((w[i] * w[n - i] for i in range(1, n)), 0 * a[n])) / (2 * w[0])
    if name == "scale":
        return constant * a[n]
    if name == "rate":
        return (n + 1) * a[n + 1]
    if name == "total":
        return np.repeat(a[n].reshape(-1, WIDTH).sum(axis=1), WIDTH)
    if name == "shift":
        return a[n] + constant if n == 0 else a[n]
    if n == 0:
        return degree_zero(operation, a[0], constant, series[:, 0])
    sign = -1 if operation.function in NEGATIVE_SLOPE else 1
    return sign * sum((i * a[i] * b[n - i] for i in range(1, n + 1)), 0 * a[n]) / n


def _convolution(a: np.ndarray, b: np.ndarray, n: int, first: int) -> np.ndarray:
    """sum of a_i b_{n-i} for i = first..n."""
    return sum((a[i] * b[n - i] for i in range(first, n + 1)), 0 * a[0])


def _stage_factor(stage: int, offset: int) -> int:
    return math.factorial(stage + offset) // math.factorial(max(stage, 0))


def solve(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Gaussian elimination with complete row scaling and row exchanges, in the matrix's own floating-point type."""
    matrix, right = matrix.copy(), right.copy()
    scale = 1 / np.max(np.abs(matrix), axis=1)
    matrix, right = matrix * scale[:, None], right * scale
    size = len(right)
    for k in range(size):
        pivot = k + int(np.argmax(np.abs(matrix[k:, k])))
        matrix[[k, pivot]], right[[k, pivot]] = matrix[[pivot, k]], right[[pivot, k]]
        factors = matrix[k + 1 :, k] / matrix[k, k]
        matrix[k + 1 :, k:] -= factors[:, None] * matrix[k, k:]
        right[k + 1 :] -= factors * right[k]
    for k in reversed(range(size)):
        right[k] = (right[k] - matrix[k, k + 1 :] @ right[k + 1 :]) / matrix[k, k]
    return right
