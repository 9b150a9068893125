"""A program's outputs at a point (Taylor degree 0) in NumPy, over all instances and any number of points at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechsim.derive.program import CONSTANT_FUNCTIONS, Operation, Program

Registers = Sequence[np.ndarray] | np.ndarray  # their values at a point


def evaluate(program: Program, constants: np.ndarray, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """One array per output, shaped like the inputs: (..., instances). `constants` is the program's constant table."""
    registers = registers_of(program, constants, inputs)
    results = []
    for output in program.outputs:
        total = constants[output.constant] if output.constant >= 0 else np.zeros(constants.shape[1:])
        for factor, register in output.terms:
            total = total + constants[factor] * registers[register]
        results.append(total)
    return results


def registers_of(program: Program, constants: np.ndarray, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The inputs and the results of all operations."""
    registers: list[np.ndarray] = list(inputs)
    with np.errstate(all="ignore"):  # a root of a negative number is nan here; who reads the values says what it means
        for operation in program.operations:
            registers.append(_operation(operation, registers, constants))
    return registers


def _operation(operation: Operation, registers: list[np.ndarray], constants: np.ndarray) -> np.ndarray:
    a = registers[operation.a]
    name = operation.name
    if name == "add":
        return a + registers[operation.b]
    if name == "subtract":
        return a - registers[operation.b]
    if name == "multiply":
        return a * registers[operation.b]
    if name == "square":
        return a * a
    if name == "divide":
        return a / registers[operation.b]
    if name == "root":
        return np.sqrt(a)
    constant = constants[operation.constant] if operation.constant >= 0 else None
    if name == "ratio":
        return constant / a
    if name == "scale":
        return constant * a
    if name == "shift":
        return a + constant
    return degree_zero(operation, a, constant, registers)


def degree_zero(operation: Operation, a: np.ndarray, constant: np.ndarray | None, registers: Registers) -> np.ndarray:
    """Value of a function operation at degree 0."""
    if operation.function == "power":
        assert constant is not None
        return np.asarray(np.power(a, constant))
    if operation.function == "atan2":
        return np.arctan2(a, registers[operation.extra])
    if operation.function == "zero":
        return np.zeros_like(a)
    result: np.ndarray = CONSTANT_FUNCTIONS[operation.function](a)
    return result
