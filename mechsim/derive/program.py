"""Taylor programs: short lists of scalar operations that compute coefficient k of their outputs from coefficients
0..k of their inputs (DESIGN 3).

Registers are numbered: inputs first, then the result of each operation. Constants (what depends on parameters only)
live in a table of their own, computed once per instance. An output is a linear combination of registers with constant
coefficients plus a constant, so sums and constant factors at the top cost no operation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from mechsim.frozen import frozen

Key = tuple[Any, ...]  # of an output: its name, then local numbers
# Operations on series, operands a, b (registers) and c (constant or third register); see kernel/src for recurrences.
OPERATIONS = (
    "add",
    "subtract",
    "multiply",
    "square",
    "divide",
    "ratio",
    "root",
    "scale",
    "shift",
    "function",
    "total",
    "rate",
)
LINEAR = frozenset({"add", "subtract", "scale", "shift", "total", "rate"})

# Functions w(u) with w' = sign * g * u', where g is a series of its own. `zero` starts at 0 (part of atan2).
FUNCTIONS = (
    "exp",
    "log",
    "sin",
    "cos",
    "tan",
    "sinh",
    "cosh",
    "tanh",
    "asin",
    "acos",
    "atan",
    "power",
    "atan2",
    "zero",
)
NEGATIVE_SLOPE = frozenset({"cos", "acos"})


@frozen
class Operation:
    """One operation. `a`, `b` are registers; `constant` indexes the constant table; -1 where not used.

    add, subtract, multiply, divide: a, b.  square, root: a.  ratio: constant / a.  scale: constant * a.
    shift: a + constant.  function: value from `name` at degree 0 (power uses `constant`, atan2 uses `extra`),
    then w' = +-b a' with the slope series b.  total: the sum of a over the components of an instance, where these are
    lanes (kernel/components.py).  rate: a' (kernel/rates.py). Both are not derived; a plan has them.
    """

    name: str
    a: int
    b: int = -1
    constant: int = -1
    extra: int = -1
    function: str = ""

    def operands(self) -> tuple[int, ...]:
        return tuple(r for r in (self.a, self.b, self.extra) if r >= 0)


@frozen
class Input:
    """What an input register holds: derivative `order` of local variable `index`, a multiplier, or the time."""

    kind: str  # "variable", "multiplier" or "time"
    index: int = 0
    order: int = 0


@frozen
class Output:
    """key, and the linear combination: `terms` are (constant index, register); `constant` is an index or -1."""

    key: Key
    terms: tuple[tuple[int, int], ...]
    constant: int = -1


@frozen
class Program:
    """`constants` are (name, arguments): ("value", x), ("parameter", i), or an operation on earlier constants."""

    inputs: tuple[Input, ...]
    constants: tuple[tuple[Any, ...], ...]
    operations: tuple[Operation, ...]
    outputs: tuple[Output, ...]

    def restrict(self, keep: Callable[[Key], bool]) -> Program:
        """The same program with only some outputs, and only the operations and inputs these need."""
        outputs = [o for o in self.outputs if keep(o.key)]
        needed = self._needed(register for o in outputs for _, register in o.terms)
        count = len(self.inputs)
        # An operation may read a slope computed after it, so needed registers are renumbered in one go.
        renumber = {old: new for new, old in enumerate(sorted(needed))}
        renumber[-1] = -1
        operations = tuple(
            Operation(o.name, renumber[o.a], renumber[o.b], o.constant, renumber[o.extra], o.function)
            for i, o in enumerate(self.operations)
            if i + count in needed
        )
        inputs = tuple(x for i, x in enumerate(self.inputs) if i in needed)
        kept = tuple(Output(o.key, tuple((c, renumber[r]) for c, r in o.terms), o.constant) for o in outputs)
        return Program(inputs, self.constants, operations, kept)

    def where_zero(self, zeros: Iterable[int]) -> Program:
        """The same program where these inputs are zero for good: what is zero with them is left out."""
        count, zero = len(self.inputs), set(zeros)
        same = list(range(count + len(self.operations)))  # the register that a register is equal to
        for own, operation in enumerate(self.operations, count):
            a, b = same[operation.a], same[operation.b]
            if operation.name in ("multiply", "square", "scale") and {a, b if operation.b >= 0 else a} & zero:
                zero.add(own)
            elif operation.name in ("add", "subtract") and b in zero:
                same[own] = a
            elif operation.name == "add" and a in zero:
                same[own] = b
        operations = tuple(
            Operation(
                o.name,
                same[o.a],
                same[o.b] if o.b >= 0 else -1,
                o.constant,
                same[o.extra] if o.extra >= 0 else -1,
                o.function,
            )
            for o in self.operations
        )
        outputs = tuple(
            Output(o.key, tuple((c, same[r]) for c, r in o.terms if same[r] not in zero), o.constant)
            for o in self.outputs
        )
        return Program(self.inputs, self.constants, operations, outputs).restrict(lambda _: True)

    def _needed(self, registers: Iterable[int]) -> set[int]:
        needed: set[int] = set()
        stack = list(registers)
        while stack:
            register = stack.pop()
            if register in needed:
                continue
            needed.add(register)
            if register >= len(self.inputs):
                stack.extend(self.operations[register - len(self.inputs)].operands())
        return needed

    def depends_on(self, output: Output) -> tuple[Input, ...]:
        """The inputs an output structurally depends on."""
        needed = self._needed(register for _, register in output.terms)
        return tuple(x for i, x in enumerate(self.inputs) if i in needed)

    def constant_table(self, parameters: np.ndarray) -> np.ndarray:
        """Values of the constants, one column per instance. `parameters` has one row per parameter of the kind."""
        return constant_values(self.constants, parameters)


def constant_values(constants: Sequence[tuple[Any, ...]], parameters: np.ndarray) -> np.ndarray:
    """Values of constants, given as in Program, one row for each and one column for each set of parameters."""
    table = np.empty((len(constants), parameters.shape[1]), dtype=parameters.dtype)
    for i, (name, *arguments) in enumerate(constants):
        if name == "value":
            table[i] = arguments[0]
        elif name == "parameter":
            table[i] = parameters[arguments[0]]
        else:
            table[i] = CONSTANT_FUNCTIONS[name](*(table[j] for j in arguments))
    return table


CONSTANT_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "root": np.sqrt,
    "power": np.power,
    "exp": np.exp,
    "log": np.log,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "hypot": np.hypot,
}


def to_document(program: Program) -> dict[str, Any]:
    """Plain data for the disk cache."""
    return {
        "inputs": [[x.kind, x.index, x.order] for x in program.inputs],
        "constants": [list(c) for c in program.constants],
        "operations": [[o.name, o.a, o.b, o.constant, o.extra, o.function] for o in program.operations],
        "outputs": [[list(o.key), [list(t) for t in o.terms], o.constant] for o in program.outputs],
    }


def from_document(document: dict[str, Any]) -> Program:
    return Program(
        tuple(Input(*x) for x in document["inputs"]),
        tuple(tuple(c) for c in document["constants"]),
        tuple(Operation(*o) for o in document["operations"]),
        tuple(Output(tuple(k), tuple((c, r) for c, r in terms), n) for k, terms, n in document["outputs"]),
    )
