"""Components of vectors as lanes of a block.

A kind is written with vectors and derived as a program of scalars, which does the same to x, y and z. One instance
alone fills one lane of a vector of the machine with each of its operations. Where the program is the same after
x -> y -> z -> x, its operations are done once for all components side by side; a scalar product becomes a product and
its `total`, which all lanes then have. An instance has as many lanes as a vector; those beyond its components hold 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from mechsim.derive.program import LINEAR, Input, Operation, Output, Program
from mechsim.frozen import frozen
from mechsim.kernel.sums import RegisterKey, Registers, Signed, Writer, operation_key, sum_key

WIDTH = 4  # lanes of a vector of the machine
PLAIN = frozenset({"add", "subtract", "multiply", "square", "scale", "rate"})  # zero where their operands are


class Unlike(Exception):
    """The components of a program do not go alike."""


@frozen(slots=False)
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


class _Rolling:
    def __init__(self, program: Program, dimension: int, vectors: int):
        self.program, self.dimension, self.vectors = program, dimension, vectors
        self.old = Registers(program)
        self.places = {self._key(register): register for register in self.old.own}
        self.next: dict[int, int] = {}  # the register that does to y what one does to x
        self.lane: dict[int, int] = {}  # of a register that belongs to a component; others belong to all
        self.padded: set[int] = set()  # registers of components that are not zero beyond these
        self.numbers: dict[int, int] = {}  # of first registers, in the new program

    def result(self) -> Rolled:
        for register in self.old.own:
            self.next[register] = self._find_next(register)
        for register in self.old.own:
            self._place(register)
        first = [register for register in self.old.own if self._is_first(register)]
        inputs = [register for register in first if register < self.old.inputs]
        self.numbers = {register: number for number, register in enumerate(inputs)}
        self.writer = Writer(len(inputs))
        for register in first[len(inputs) :]:
            self.numbers[register] = self._write(register)
        pairs = list(self._outputs())
        program = Program(
            tuple(self.program.inputs[r] for r in inputs),
            self.program.constants,
            tuple(self.writer.operations),
            tuple(output for output, _ in pairs),
        )
        return Rolled(program, tuple(self._orbit(r) for r in inputs), tuple(places for _, places in pairs))

    # What goes to what

    def _key(self, register: int) -> RegisterKey:
        """What a register is, by the registers it is made of."""
        if register < self.old.inputs:
            return ("input", self.program.inputs[register])
        if self.old.is_sum(register):
            return sum_key(self.old.terms(register))
        return operation_key(self.old.operation(register))

    def _find_next(self, register: int) -> int:
        if register < self.old.inputs:
            key: RegisterKey = ("input", self._next_input(self.program.inputs[register]))
        elif self.old.is_sum(register):
            key = sum_key([(self.next[r], sign) for r, sign in self.old.terms(register)])
        else:
            o = self.old.operation(register)
            if any(operand > register for operand in o.operands()):
                raise Unlike  # a function before its slope
            a, b, extra = (self.next[r] if r >= 0 else -1 for r in (o.a, o.b, o.extra))
            key = operation_key(replace(o, a=a, b=b, extra=extra))
        if key not in self.places:
            raise Unlike
        return self.places[key]

    def _next_input(self, source: Input) -> Input:
        if source.kind != "variable" or source.index >= self.vectors * self.dimension:
            return source
        component = source.index % self.dimension
        return replace(source, index=source.index - component + (component + 1) % self.dimension)

    # Which component a register belongs to

    def _is_shared(self, register: int) -> bool:
        return self.next[register] == register

    def _place(self, register: int) -> None:
        if self._is_shared(register):
            return
        if register < self.old.inputs:
            self.lane[register] = self.program.inputs[register].index % self.dimension
            return
        lanes = {self.lane[r] for r in self.old.operands(register) if not self._is_shared(r)}
        if len(lanes) != 1 or self.old.operation(register).name not in PLAIN:
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

    def _write(self, register: int) -> int:
        orbit = self._orbit(register)
        operands = self.old.operands(register)
        of_components = [r for r in operands if not self._is_shared(r)]
        if self.old.is_sum(register):
            found = self._sum(register, of_components)
            padded = len(of_components) < len(operands) or any(r in self.padded for r in of_components)
        else:
            if self._is_shared(register) and of_components:
                raise Unlike
            o = self.old.operation(register)
            a, b, extra = (self.numbers[self._first(r)] if r >= 0 else -1 for r in (o.a, o.b, o.extra))
            found = self.writer.write(replace(o, a=a, b=b, extra=extra))
            padded = bool(of_components) and all(r in self.padded for r in of_components)
        if padded and not self._is_shared(register):
            self.padded.update(orbit)
        return found

    def _sum(self, register: int, of_components: list[int]) -> int:
        terms = list(self.old.terms(register))
        if not self._is_shared(register):
            return self._add_up([(self.numbers[self._first(r)], sign) for r, sign in terms])
        if any(r in self.padded for r in of_components):
            raise Unlike
        own = [(self.numbers[r], sign) for r, sign in terms if self._is_shared(r)]
        parts = [(self.numbers[r], sign) for r, sign in terms if r in of_components and self.lane[r] == 0]
        if parts:
            own.insert(0, (self.writer.write(Operation("total", self._add_up(parts))), 1))
        return self._add_up(own)

    def _add_up(self, terms: list[Signed]) -> int:
        total = self.writer.add_up(terms)
        if total is None:
            raise Unlike
        return total

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
        for output, following in pairwise(outputs):
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
