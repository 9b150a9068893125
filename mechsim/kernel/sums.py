"""The registers of a program with sums as what they add up, in whatever order it was written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from mechsim.derive.program import Operation, Program

SUMS = frozenset({"add", "subtract"})
COMMUTATIVE = frozenset({"add", "multiply"})

Signed = tuple[int, int]  # a register and its sign in a sum
RegisterKey = tuple[object, ...]


class Registers:
    """Of a program: a sum that is only a part of another is `inner`, and none of its own."""

    def __init__(self, program: Program):
        self.program = program
        self.inputs = len(program.inputs)
        self.uses: Counter[int] = Counter(r for output in program.outputs for _, r in output.terms)
        in_sums: Counter[int] = Counter()
        for operation in program.operations:
            self.uses.update(operation.operands())
            if operation.name in SUMS:
                in_sums.update(operation.operands())
        self.inner = {r for r in self.uses if self.is_sum(r) and self.uses[r] == 1 == in_sums[r]}
        self.own = [r for r in range(self.inputs + len(program.operations)) if r not in self.inner]

    def operation(self, register: int) -> Operation:
        return self.program.operations[register - self.inputs]

    def is_sum(self, register: int) -> bool:
        return register >= self.inputs and self.operation(register).name in SUMS

    def terms(self, register: int, sign: int = 1) -> Iterator[Signed]:
        """What a sum adds up."""
        operation = self.operation(register)
        for operand, own in ((operation.a, sign), (operation.b, -sign if operation.name == "subtract" else sign)):
            if operand in self.inner:
                yield from self.terms(operand, own)
            else:
                yield operand, own

    def operands(self, register: int) -> list[int]:
        if register < self.inputs:
            return []
        if self.is_sum(register):
            return [operand for operand, _ in self.terms(register)]
        return list(self.operation(register).operands())


def sum_key(terms: Iterator[Signed] | list[Signed]) -> RegisterKey:
    return ("sum", frozenset(Counter(terms).items()))


def operation_key(operation: Operation) -> RegisterKey:
    a, b = operation.a, operation.b
    operands = tuple(sorted((a, b))) if operation.name in COMMUTATIVE else (a, b)
    return (operation.name, operands, operation.constant, operation.extra, operation.function)


class Writer:
    """The operations of a program as it is written, after its inputs. What is written already is not written again."""

    def __init__(self, inputs: int):
        self.inputs = inputs
        self.operations: list[Operation] = []
        self._known: dict[RegisterKey, int] = {}

    def write(self, operation: Operation) -> int:
        key = operation_key(operation)
        if key not in self._known:
            self.operations.append(operation)
            self._known[key] = self.inputs + len(self.operations) - 1
        return self._known[key]

    def add_up(self, terms: list[Signed]) -> int | None:
        """A sum, which begins with what is added; None where nothing is."""
        key = sum_key(terms)
        if key in self._known:
            return self._known[key]
        (total, sign), *others = sorted(terms, key=lambda term: -term[1])
        if sign < 0:
            return None
        for register, own in others:
            total = self.write(Operation("add" if own > 0 else "subtract", total, register))
        self._known[key] = total
        return total

    def sum_of(self, terms: list[Signed]) -> int | None:
        """One that is there already."""
        return self._known.get(sum_key(terms))
