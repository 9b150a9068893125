"""Whether a program read from disk is one that the kernel can run for its kind: every number within its bounds.

The kernel trusts its tables. A file may be damaged, or be another kind's; then it is derived again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import product
from typing import Any

from mechsim.derive.emitter import MATRICES
from mechsim.derive.program import CONSTANT_FUNCTIONS, FUNCTIONS, OPERATIONS, Input, Operation, Output, Program
from mechsim.lagrangian.kind import Kind

# Which of b, constant and extra an operation has beside its operand a.
OPERANDS = {
    **dict.fromkeys(("add", "subtract", "multiply", "divide"), ("b",)),
    **dict.fromkeys(("square", "root"), ()),
    **dict.fromkeys(("ratio", "scale", "shift"), ("constant",)),
    "function": ("b",),
}
FUNCTION_OPERANDS = {"power": ("b", "constant"), "atan2": ("b", "extra")}
BINARY = frozenset({"add", "subtract", "multiply", "divide", "power", "atan2"})  # constants of two others


class Unsound(ValueError):
    """The program is not one of this kind."""


def check(program: Program, kind: Kind, complete: bool) -> None:
    """Raise Unsound unless the program has the inputs, operations and outputs of this kind, all within bounds."""
    registers = len(program.inputs) + len(program.operations)
    for source in program.inputs:
        _input(source, kind)
    _require(len(set(program.inputs)) == len(program.inputs))
    for place, constant in enumerate(program.constants):
        _constant(constant, place, len(kind.parameters))
    for place, operation in enumerate(program.operations, len(program.inputs)):
        _operation(operation, place, registers, len(program.constants))
    for output in program.outputs:
        _output(output, registers, len(program.constants))
    keys = [output.key for output in program.outputs]
    _require(len(set(keys)) == len(keys))
    known = _keys(kind, complete)
    needed = {key for key in known if key[0] not in MATRICES}
    _require(needed <= set(keys) <= known)


def _require(condition: bool) -> None:
    if not condition:
        raise Unsound


def _within(value: Any, first: int, end: int) -> bool:
    """Whether it is a whole number (True is none) from `first` on and below `end`."""
    return type(value) is int and first <= value < end


def _input(source: Input, kind: Kind) -> None:
    counts = {
        "variable": (len(kind.variables), 3),
        "multiplier": (kind.multiplier_count + kind.observed_count, 1),
        "time": (1, 1),
    }
    _require(source.kind in counts)
    count, orders = counts[source.kind]
    _require(_within(source.index, 0, count) and _within(source.order, 0, orders))


def _constant(constant: tuple[Any, ...], place: int, parameters: int) -> None:
    name, *arguments = constant
    if name == "value":
        (value,) = arguments
        _require(type(value) in (int, float) and math.isfinite(value))
    elif name == "parameter":
        (number,) = arguments
        _require(_within(number, 0, parameters))
    else:
        _require(name in CONSTANT_FUNCTIONS and len(arguments) == (2 if name in BINARY else 1))
        _require(all(_within(argument, 0, place) for argument in arguments))


def _operation(operation: Operation, place: int, registers: int, constants: int) -> None:
    """Operands come before the operation that reads them; only a slope may come later."""
    is_function = operation.name == "function"
    _require(operation.name in OPERATIONS)
    _require(operation.function in FUNCTIONS if is_function else operation.function == "")
    wanted = FUNCTION_OPERANDS.get(operation.function, ("b",)) if is_function else OPERANDS[operation.name]
    _require(_within(operation.a, 0, place))
    ends = {"b": registers if is_function else place, "constant": constants, "extra": place}
    for name, end in ends.items():
        value = getattr(operation, name)
        _require(_within(value, 0, end) if name in wanted else type(value) is int and value == -1)


def _output(output: Output, registers: int, constants: int) -> None:
    _require(_within(output.constant, -1, constants))
    _require(
        all(_within(factor, 0, constants) and _within(register, 0, registers) for factor, register in output.terms)
    )
    _require(isinstance(output.key[0], str) and all(type(index) is int for index in output.key[1:]))


def _keys(kind: Kind, complete: bool) -> set[tuple[Any, ...]]:
    """Every output that a program of this kind may have (see `derive`)."""
    n, own, seen = len(kind.variables), kind.multiplier_count, kind.multiplier_count + kind.observed_count
    sizes: dict[str, tuple[int, ...]] = {
        **dict.fromkeys(("kinetic", "potential", "hamiltonian"), ()),
        "row": (n + own,),
        "mass": (n, n),
        "reaction": (n, seen),
        "constraint": (kind.constraint_count,),
        "gradient": (kind.constraint_count, n),
        "hessian": (n, n),
        "rate": (own,),
        "curvature": (own,),
        "slope": (kind.nonholonomic_count, n),
        "signal": (kind.signal_count,),
        **dict.fromkeys(("place", "speed"), (kind.place_count,)),
        "damping": (n, n),
        "stiffness": (n, n) if complete else (0, 0),
    }
    return {(name, *index) for name, size in sizes.items() for index in _indices(size)}


def _indices(size: tuple[int, ...]) -> Iterable[tuple[int, ...]]:
    return product(*map(range, size))
