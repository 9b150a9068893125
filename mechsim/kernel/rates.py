"""Rates of products: x y' + x' y is the rate of x y.

The rows of a Lagrangian with a mass matrix that moves are rates of momenta, written out by the rule of Leibniz when
they were derived. Here that is undone: the coefficients of a rate are those of its series, one degree further on, so
two products of series become one, which runs one degree ahead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from mechsim.derive.program import Input, Operation, Output, Program
from mechsim.frozen import frozen
from mechsim.kernel.sums import Registers, Signed, Writer

NOTHING = -1  # the rate of what does not move


def with_rates(program: Program, is_still: Callable[[Input], bool]) -> Program:
    """The same program with rates where it has none of its own; `is_still` tells inputs that do not move."""
    inputs = len(program.inputs)
    if any(max(operation.operands()) >= own for own, operation in enumerate(program.operations, inputs)):
        return program  # a function before its slope
    found = _Leibniz(program, is_still).result()
    return found if any(operation.name == "rate" for operation in found.operations) else program


@frozen(slots=False)
class _Pair:
    """Two terms of a sum that are the rate of a product x y."""

    first: int
    second: int
    x: int
    y: int


class _Leibniz:
    def __init__(self, program: Program, is_still: Callable[[Input], bool]):
        self.program, self.is_still = program, is_still
        self.old = Registers(program)
        self.writer = Writer(self.old.inputs)
        self.number = dict(enumerate(range(self.old.inputs)))  # of old registers, in the new program
        self.terms: dict[int, list[Signed]] = {}  # of new sums
        self.rates: dict[int, int] = {}  # of new products, and of sums of them
        self.once: set[int] = set()  # new registers that are used once

    def result(self) -> Program:
        for register in self.old.own[self.old.inputs :]:
            self.number[register] = self._sum(register) if self.old.is_sum(register) else self._copy(register)
            if self.old.uses[register] == 1:
                self.once.add(self.number[register])
        outputs = tuple(self._output(output) for output in self.program.outputs)
        operations = tuple(self.writer.operations)
        return Program(self.program.inputs, self.program.constants, operations, outputs).restrict(lambda _: True)

    def _copy(self, register: int) -> int:
        o = self.old.operation(register)
        a, b, extra = (self.number[r] if r >= 0 else -1 for r in (o.a, o.b, o.extra))
        return self.writer.write(replace(o, a=a, b=b, extra=extra))

    def _sum(self, register: int) -> int:
        terms = self._paired([(self.number[r], sign) for r, sign in self.old.terms(register)])
        sources = {rate: source for source, rate in self.rates.items()}
        if all(r in sources for r, _ in terms):
            whole = [(sources[r], sign) for r, sign in terms]
            source = self.writer.add_up(whole)
            if source is not None:
                self.terms[source] = whole
                return self._rate(source)
        found = self.writer.add_up(terms)
        if found is None:
            return self._copy_of_sum(register)
        self.terms[found] = terms
        return found

    def _copy_of_sum(self, register: int) -> int:
        """As it was, with its parts."""
        o = self.old.operation(register)
        a, b = (self._copy_of_sum(r) if r in self.old.inner else self.number[r] for r in (o.a, o.b))
        return self.writer.write(replace(o, a=a, b=b))

    def _rate(self, source: int) -> int:
        return self.rates.setdefault(source, self.writer.write(Operation("rate", source)))

    def _paired(self, terms: list[Signed]) -> list[Signed]:
        """With the rate of a product for each pair that is one; terms are alike where their second entries are."""
        found = list(terms)
        while (pair := self._pair(found)) is not None:
            factor = found[pair.first][1]
            found = [term for place, term in enumerate(found) if place not in (pair.first, pair.second)]
            product = self.writer.write(Operation("multiply", pair.x, pair.y))
            found.append((self._rate(product), factor))
        return found

    def _pair(self, terms: list[Signed]) -> _Pair | None:
        products = [(place, *self._factors(r), like) for place, (r, like) in enumerate(terms) if r in self.once]
        products = [product for product in products if product[1] >= 0]
        for first, p, q, like in products:
            for second, s, t, other in products:
                if first >= second or like != other:
                    continue
                for x, y_rate, x_rate, y in ((p, q, s, t), (p, q, t, s), (q, p, s, t), (q, p, t, s)):
                    if self._rate_of(x) == x_rate and self._rate_of(y) == y_rate:
                        return _Pair(first, second, x, y)
        return None

    def _factors(self, register: int) -> tuple[int, int]:
        if register < self.old.inputs:
            return NOTHING, NOTHING
        o = self.writer.operations[register - self.old.inputs]
        return (o.a, o.b) if o.name == "multiply" else (NOTHING, NOTHING)

    def _rate_of(self, register: int) -> int | None:
        """The register that has the rate of one, if there is one."""
        if register < self.old.inputs:
            return self._rate_of_input(self.program.inputs[register])
        if register in self.rates:
            return self.rates[register]
        if register not in self.terms:
            return None
        parts = [(self._rate_of(r), sign) for r, sign in self.terms[register]]
        moving = [(rate, sign) for rate, sign in parts if rate is not None and rate != NOTHING]
        if len(moving) < sum(rate != NOTHING for rate, _ in parts):
            return None
        return moving[0][0] if len(moving) == 1 and moving[0][1] > 0 else self.writer.sum_of(moving)

    def _rate_of_input(self, source: Input) -> int | None:
        if source.kind != "variable":
            return None
        if self.is_still(source):
            return NOTHING
        wanted = replace(source, order=source.order + 1)
        return self.program.inputs.index(wanted) if wanted in self.program.inputs else None

    def _output(self, output: Output) -> Output:
        terms = self._paired([(self.number[r], constant) for constant, r in output.terms])
        return Output(output.key, tuple((constant, r) for r, constant in terms), output.constant)
