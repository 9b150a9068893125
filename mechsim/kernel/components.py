"""Components of vectors as lanes of a block.

A kind is written with vectors and derived as a program of scalars, which does the same to x, y and z. One instance alone
fills one lane of a vector of the machine with each of its operations. Where the program is the same after x -> y -> z -> x,
its operations are done once for all components side by side; a scalar product becomes a product and its `total`, which
all lanes then have. An instance has as many lanes as a vector: those beyond its components hold zeros.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from mechsim.derive.program import LINEAR, Input, Operation, Output, Program

WIDTH = 4  # lanes of a vector of the machine
SUMS = frozenset({"add", "subtract"})
COMMUTATIVE = frozenset({"add", "multiply"})
PLAIN = frozenset({"add", "subtract", "multiply", "square", "scale"})  # zero where their operands are

Signed = tuple[int, int]  # a register and its sign in a sum
RegisterKey = tuple[object, ...]


class Unlike(Exception):
    """The components of a program do not go alike."""


@dataclass(frozen=True)
class Rolled:
    """A program over components, and where its lanes have what the scalar one has in registers of their own."""

    program: Program
    inputs: tuple[tuple[int, ...], ...]  # of each input, the scalar ones: of each component, or the only one
    outputs: tuple[tuple[int, ...], ...]  # of each output, the scalar ones; -1 where a lane has none


def rolled(program: Program, dimension: int, vectors: int) -> Rolled | None:
    """The program over components, or None where they do not go alike.

    The first `vectors * dimension` variables are those of points.
    """
    try:
        return _Rolling(program, dimension, vectors).result()
    except Unlike:
        return None


def is_shorter(scalar: Program, rolled: Program, lanes: int) -> bool:
    """Whether so many instances take less work with components as lanes."""
    return lanes * _work(rolled) < -(-lanes // WIDTH) * _work(scalar)


def _work(program: Program) -> float:
    """Operations on vectors of the machine, by what a product costs."""
    return sum(0.3 if operation.name in LINEAR else 1.0 for operation in program.operations)


def spread(table: np.ndarray, places: Sequence[tuple[int, ...]], nothing: int) -> np.ndarray:
    """Rows of a table (rows, instances) as lanes of components, (len(places), WIDTH * instances): each component has a
    row of its own, or all the only one; `nothing` beyond them, and where a place is -1."""
    lanes = np.full((len(places), table.shape[1], WIDTH), nothing, dtype=table.dtype)
    for row, chosen in enumerate(places):
        for lane, place in enumerate(chosen if len(chosen) > 1 else chosen * WIDTH):
            if place >= 0:
                lanes[row, :, lane] = table[place]
    return lanes.reshape(len(places), -1)


@dataclass
class _Rolling:
    program: Program
    dimension: int
    vectors: int
    operations: list[Operation] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.count = len(self.program.inputs)
        self.inner = self._inner_sums()
        self.keys = [self._key(register) for register in range(self.count + len(self.program.operations))]
        self.places = {key: r for r, key in enumerate(self.keys) if r not in self.inner}
        self.next: dict[int, int] = {}  # the register that does to y what one does to x
        self.lane: dict[int, int] = {}  # of a register that belongs to a component; others belong to all
        self.padded: set[int] = set()  # first registers of components that are not zero beyond these
        self.numbers: dict[int, int] = {}  # of a register, by that of the first component, in the new program

    def result(self) -> Rolled:
        for register in range(len(self.keys)):
            if register not in self.inner:
                self.next[register] = self._find_next(register)
        for register in range(len(self.keys)):
            if register not in self.inner:
                self._place(register)
        inputs = [r for r in range(self.count) if self._is_first(r)]
        self.numbers = {register: number for number, register in enumerate(inputs)}
        for register in range(self.count, len(self.keys)):
            if register not in self.inner and self._is_first(register):
                self.numbers[register] = self._write(register, len(inputs))
        pairs = list(self._outputs())
        rolled = Program(
            tuple(self.program.inputs[r] for r in inputs),
            self.program.constants,
            tuple(self.operations),
            tuple(output for output, _ in pairs),
        )
        return Rolled(rolled, tuple(self._orbit(r) for r in inputs), tuple(places for _, places in pairs))

    # What goes to what

    def _operation(self, register: int) -> Operation:
        return self.program.operations[register - self.count]

    def _is_sum(self, register: int) -> bool:
        return register >= self.count and self._operation(register).name in SUMS

    def _inner_sums(self) -> set[int]:
        """Sums that are only a part of another."""
        uses: Counter[int] = Counter(r for output in self.program.outputs for _, r in output.terms)
        in_sums: Counter[int] = Counter()
        for operation in self.program.operations:
            uses.update(operation.operands())
            if operation.name in SUMS:
                in_sums.update(operation.operands())
        return {r for r in uses if self._is_sum(r) and uses[r] == 1 == in_sums[r]}

    def _terms(self, register: int, sign: int = 1) -> Iterator[Signed]:
        """What a sum adds up."""
        operation = self._operation(register)
        for operand, own in ((operation.a, sign), (operation.b, -sign if operation.name == "subtract" else sign)):
            if operand in self.inner:
                yield from self._terms(operand, own)
            else:
                yield operand, own

    def _key(self, register: int) -> RegisterKey:
        """What a register is, by the registers it is made of."""
        if register < self.count:
            return ("input", self.program.inputs[register])
        if self._is_sum(register):
            return ("sum", frozenset(Counter(self._terms(register)).items()))
        o = self._operation(register)
        return self._operation_key(o, o.a, o.b, o.extra)

    @staticmethod
    def _operation_key(o: Operation, a: int, b: int, extra: int) -> RegisterKey:
        operands = tuple(sorted((a, b))) if o.name in COMMUTATIVE else (a, b)
        return (o.name, operands, o.constant, extra, o.function)

    def _find_next(self, register: int) -> int:
        if register < self.count:
            key: RegisterKey = ("input", self._next_input(self.program.inputs[register]))
        elif self._is_sum(register):
            terms = Counter((self.next[r], sign) for r, sign in self._terms(register))
            key = ("sum", frozenset(terms.items()))
        else:
            o = self._operation(register)
            if o.b > register or o.extra > register:
                raise Unlike
            key = self._operation_key(o, *(self.next[r] if r >= 0 else -1 for r in (o.a, o.b, o.extra)))
        if key not in self.places:
            raise Unlike
        return self.places[key]

    def _next_input(self, source: Input) -> Input:
        if source.kind != "variable" or source.index >= self.vectors * self.dimension:
            return source
        return replace(source, index=self._turned(source.index))

    def _turned(self, index: int) -> int:
        component = index % self.dimension
        return index - component + (component + 1) % self.dimension

    # Which component a register belongs to

    def _is_shared(self, register: int) -> bool:
        return self.next[register] == register

    def _operands(self, register: int) -> list[int]:
        if register < self.count:
            return []
        if self._is_sum(register):
            return [operand for operand, _ in self._terms(register)]
        return list(self._operation(register).operands())

    def _place(self, register: int) -> None:
        if self._is_shared(register):
            return
        if register < self.count:
            self.lane[register] = self.program.inputs[register].index % self.dimension
            return
        lanes = {self.lane[r] for r in self._operands(register) if not self._is_shared(r)}
        if len(lanes) != 1 or (not self._is_sum(register) and self._operation(register).name not in PLAIN):
            raise Unlike  # a component of a vector product, or a function of each component
        self.lane[register] = lanes.pop()

    def _is_first(self, register: int) -> bool:
        return self._is_shared(register) or self.lane[register] == 0

    def _orbit(self, register: int) -> tuple[int, ...]:
        """A first register and those that do the same to the other components."""
        if self._is_shared(register):
            return (register,)
        found = [register]
        while (following := self.next[found[-1]]) != register:
            found.append(following)
        if [self.lane[r] for r in found] != list(range(self.dimension)):
            raise Unlike
        return tuple(found)

    def _first(self, register: int) -> int:
        while not self._is_first(register):
            register = self.next[register]
        return register

    # The new program

    def _write(self, register: int, inputs: int) -> int:
        self._orbit(register)
        if not self._is_sum(register):
            o = self._operation(register)
            a, b, extra = (self.numbers[self._first(r)] if r >= 0 else -1 for r in (o.a, o.b, o.extra))
            of_components = [r for r in o.operands() if not self._is_shared(r)]
            if self._is_shared(register) and of_components:
                raise Unlike
            if of_components and all(r in self.padded for r in of_components):
                self.padded.update(self._orbit(register))
            return self._append(replace(o, a=a, b=b, extra=extra), inputs)
        terms = list(self._terms(register))
        if not self._is_shared(register):
            if any(self._is_shared(r) or r in self.padded for r, _ in terms):
                self.padded.update(self._orbit(register))
            return self._sum([(self.numbers[self._first(r)], sign) for r, sign in terms], inputs)
        own = [(self.numbers[r], sign) for r, sign in terms if self._is_shared(r)]
        parts = [(r, sign) for r, sign in terms if not self._is_shared(r) and self.lane[r] == 0]
        if any(r in self.padded for r, _ in parts):
            raise Unlike
        if parts:
            vector = self._sum([(self.numbers[r], sign) for r, sign in parts], inputs)
            own.insert(0, (self._append(Operation("total", vector), inputs), 1))
        return self._sum(own, inputs)

    def _sum(self, terms: list[Signed], inputs: int) -> int:
        terms = sorted(terms, key=lambda term: -term[1])  # a sum begins with what is added
        (total, sign), *others = terms
        if sign < 0:
            raise Unlike
        for register, sign in others:
            total = self._append(Operation("add" if sign > 0 else "subtract", total, register), inputs)
        return total

    def _append(self, operation: Operation, inputs: int) -> int:
        self.operations.append(operation)
        return inputs + len(self.operations) - 1

    # Its rows

    def _outputs(self) -> Iterator[tuple[Output, tuple[int, ...]]]:
        """Each with the scalar outputs whose rows its lanes are added to."""
        numbers = {output.key: number for number, output in enumerate(self.program.outputs)}
        for number, output in enumerate(self.program.outputs):
            name, row, *rest = output.key
            if row >= self.vectors * self.dimension:
                yield from self._shared_output(number, output)
                continue
            if row % self.dimension:
                continue
            keys = [(name, row + component, *rest) for component in range(self.dimension)]
            if any(key not in numbers for key in keys):
                raise Unlike
            yield from self._component_outputs([numbers[key] for key in keys])

    def _shared_output(self, number: int, output: Output) -> Iterator[tuple[Output, tuple[int, ...]]]:
        """A row of no component: lanes of components add up to it."""
        own = [(c, r) for c, r in output.terms if self._is_shared(r)]
        parts = [(c, r) for c, r in output.terms if not self._is_shared(r)]
        images = Counter((c, self.next[r]) for c, r in parts)
        if images != Counter(parts):
            raise Unlike
        first = tuple((c, self.numbers[r]) for c, r in parts if self.lane[r] == 0)
        if first:
            yield Output(output.key, first), (number,) * self.dimension
        only = tuple((c, self.numbers[r]) for c, r in own)
        yield Output(output.key, only, output.constant), (number,) + (-1,) * (WIDTH - 1)

    def _component_outputs(self, chosen: list[int]) -> Iterator[tuple[Output, tuple[int, ...]]]:
        outputs = [self.program.outputs[number] for number in chosen]
        for output, following in zip(outputs, outputs[1:], strict=False):
            if Counter((c, self.next[r]) for c, r in output.terms) != Counter(following.terms):
                raise Unlike
        first = outputs[0]
        if any(not self._is_first(r) for _, r in first.terms):
            raise Unlike
        yield Output(first.key, tuple((c, self.numbers[r]) for c, r in first.terms)), tuple(chosen)
        for component, output in enumerate(outputs):  # the weight of a part may have one component only
            if output.constant >= 0:
                rows = [-1] * WIDTH
                rows[component] = chosen[component]
                yield Output(output.key, (), output.constant), tuple(rows)
