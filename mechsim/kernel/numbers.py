"""One program from the parameters of a file to all numbers of its equations: see spec/living.py.

The tape of the file goes on here: the constants of every element's program (derive/program.py) are functions of its
parameters, and so of those of the file. All of them are computed in one pass, for one set of parameters or for many.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from mechsim.kernel import _kernel
from mechsim.kernel.changes import NumberChanges
from mechsim.kernel.plan import Block, GapTable, Plan, constant_part
from mechsim.kernel.system import Group, System
from mechsim.model.mechanism import Friction, Gap, Mechanism, Sampler, Switch
from mechsim.spec.living import Living, Node, Settling, Tape, settled

# As `enum class Step` in src/constants.hpp.
STEPS = (
    *("value", "parameter", "add", "subtract", "multiply", "divide", "power", "atan2", "hypot"),
    *("root", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan"),
)

Record = TypeVar("Record")
TUNED = ("scales", "constants", "blocks", "jacobian_blocks", "matrix_constant")  # of a plan: its numbers


def program_of(nodes: Sequence[Node], count: int) -> _kernel.Constants:
    """The program of all nodes of a tape, for so many parameters."""
    steps = [(STEPS.index(name), *arguments, 0)[:3] if name != "value" else (0, 0, 0) for name, *arguments in nodes]
    values = [node[1] if node[0] == "value" else 0.0 for node in nodes]
    return _kernel.Constants(np.array(steps, dtype=np.int32).reshape(-1, 3), np.array(values, float), count)


class Numbers:
    """The numbers of a mechanism, Living as its file was read, as a program of the parameters of a tape.

    `further` are numbers of the file beside the mechanism's own, such as guesses for the start.
    """

    def __init__(self, tape: Tape, mechanism: Mechanism, system: System, further: Sequence[float] = ()):
        self.count = len(tape.varied)
        self.scales = self._places(tape, [variable.scale for variable in mechanism.variables])
        self.constants = self._places(tape, mechanism.constants)
        self.further = self._places(tape, further)
        self.gaps = self._places(tape, [gap.restitution for gap in mechanism.gaps])
        shares = [(friction.kinetic, friction.limit) for friction in mechanism.frictions]
        self.frictions = self._places(tape, [share for pair in shares for share in pair]).reshape(-1, 2)
        self.parameters = [_parameters(tape, mechanism, group) for group in system.groups]
        self.guards = Guards({**tape.guards, **tape.choices})
        self.nodes = list(tape.nodes)
        self.tables = [
            self._table(group, numbers) for group, numbers in zip(system.groups, self.parameters, strict=True)
        ]

    def _places(self, tape: Tape, numbers: Iterable[float]) -> np.ndarray:
        return np.array([tape.number_of(number) for number in numbers], dtype=np.intp)

    def _table(self, group: Group, parameters: np.ndarray) -> np.ndarray:
        """The nodes of a group's constants, (constants, lanes)."""
        table = np.empty((len(group.program.constants), group.lanes), dtype=np.intp)
        for lane in range(group.lanes):
            for place, (name, *arguments) in enumerate(group.program.constants):
                if name == "parameter":
                    table[place, lane] = parameters[arguments[0], lane]
                    continue
                if name != "value":
                    arguments = [int(table[argument, lane]) for argument in arguments]
                table[place, lane] = len(self.nodes)
                self.nodes.append((name, *arguments))
        return table

    @cached_property
    def program(self) -> _kernel.Constants:
        return program_of(self.nodes, self.count)

    def values(self, parameters: ArrayLike) -> np.ndarray:
        """The values of all nodes, (nodes, sets), for parameters (varied, sets)."""
        return self.program.values(np.ascontiguousarray(parameters, dtype=float))

    def changes(self, values: np.ndarray, directions: ArrayLike) -> np.ndarray:
        """How the values of one set, (nodes,), change with the parameters: (nodes, directions) for directions
        (varied, directions)."""
        steps = np.ascontiguousarray(directions, dtype=float)
        return self.program.changes(np.ascontiguousarray(values, dtype=float), steps)

    def as_changes(self, changes: np.ndarray) -> NumberChanges:
        """Changes of all nodes, (nodes, directions), as those of what they are numbers of."""
        tables = tuple(changes[table] for table in self.tables)
        rest = (changes[places] for places in (self.constants, self.scales, self.gaps, self.frictions))
        return NumberChanges(tables, *rest)

    def hold(self, values: np.ndarray) -> np.ndarray:
        """For each set, whether the mechanism is the same but for its numbers, and all of these are numbers."""
        finite: np.ndarray = np.isfinite(values).all(axis=0)
        return finite & self.guards.hold(values)


class TunedSystem(System):
    """A system with numbers of its own and the structure of another; what only some ask for is made when asked."""

    def __init__(self, like: System, numbers: Numbers, values: np.ndarray, living: Mechanism | Settling):
        for name in ("kinds", "dropped", "n", "m", "labels", "levels", "complete", "_known", "_constraint_number"):
            setattr(self, name, getattr(like, name))
        for name in ("events", "gap_rows", "gap_modes", "friction_rows", "friction_modes"):
            setattr(self, name, getattr(like, name))
        self._like, self._numbers, self._all, self._living = like, numbers, values, living
        self._programs = like._programs  # parts of programs, which have no numbers yet
        self.constants = values[numbers.constants]
        self.scales = np.concatenate([values[numbers.scales], like.scales[like.n :]])

    @property
    def _record(self) -> Mechanism:
        return self._living.record if isinstance(self._living, Settling) else self._living

    def _value_of(self, number: Living) -> float:
        return float(self._all[number.number])

    @cached_property
    def mechanism(self) -> Mechanism:  # type: ignore[override]
        settling = self._living if isinstance(self._living, Settling) else Settling(self._living)
        return settling(self._value_of)

    @cached_property
    def switches(self) -> tuple[Switch, ...]:
        return settled(self._record.switches, self._value_of)

    @cached_property
    def samplers(self) -> tuple[Sampler, ...]:
        return settled(self._record.samplers, self._value_of)

    @cached_property
    def gaps(self) -> tuple[Gap, ...]:  # type: ignore[override]
        return settled(self._record.gaps, self._value_of)

    @cached_property
    def frictions(self) -> tuple[Friction, ...]:  # type: ignore[override]
        return settled(self._record.frictions, self._value_of)

    @cached_property
    def groups(self) -> tuple[Group, ...]:  # type: ignore[override]
        parameters = [self._all[nodes] for nodes in self._numbers.parameters]
        return tuple(replace(group, parameters=p) for group, p in zip(self._like.groups, parameters, strict=True))

    def __reduce__(self) -> tuple[type[System], tuple[object, ...]]:
        return System, (self.mechanism, self.kinds, self.dropped, self.complete, self._programs_known)


class TunedPlan(Plan):
    """The plan of another, with numbers of its own; only who makes a march of it asks for the tables."""

    _like: Plan
    _numbers: Numbers
    _all: np.ndarray

    def __init__(self, like: Plan, numbers: Numbers, values: np.ndarray, system: System):
        shared = {name: value for name, value in vars(like).items() if name not in TUNED}
        own: dict[str, object] = {"scales": system.scales, "constants": np.append(system.constants, 0.0)}
        own |= {"gaps": GapTable.of(system)} if len(like.gaps) else {}
        own |= {"frictions": like.frictions.tuned(system)} if len(like.frictions) else {}
        vars(self).update(shared, _like=like, _numbers=numbers, _all=values, **own)

    @cached_property
    def _tables(self) -> list[np.ndarray]:
        return [self._all[table] for table in self._numbers.tables]

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        return tuple(block.tuned(self._tables) for block in self._like.blocks)

    @cached_property
    def jacobian_blocks(self) -> tuple[Block, ...]:
        return tuple(block.tuned(self._tables) for block in self._like.jacobian_blocks)

    @cached_property
    def matrix_constant(self) -> np.ndarray:
        return constant_part(self, self._tables)

    def __reduce__(self) -> tuple[type[Plan], tuple[object, ...]]:
        return Plan, tuple(getattr(self, field.name) for field in fields(Plan))


class KernelNodes:
    """The nodes of what the kernel reads for a plan: constants of its blocks, and constant parts of its matrix."""

    def __init__(self, plan: Plan, numbers: Numbers):
        blocks, sources = (*plan.blocks, *plan.jacobian_blocks), plan.matrix_sources
        self.count = len(plan.matrix_rows)
        self.tables = _joined(numbers.tables[block.group][:, block.members].ravel() for block in blocks)
        self._sources = _joined(numbers.tables[group][constant, members] for _, group, constant, members in sources)
        self._entries = _joined(entries for entries, *_ in sources)

    def matrix(self, values: np.ndarray) -> np.ndarray:
        """(entries, ...) for values (nodes, ...)."""
        if values.ndim == 1:
            return np.bincount(self._entries, values[self._sources], minlength=self.count)
        total = np.zeros((self.count, *values.shape[1:]))
        np.add.at(total, self._entries, values[self._sources])
        return total


def _joined(pieces: Iterable[np.ndarray]) -> np.ndarray:
    return np.concatenate([*pieces, np.zeros(0, dtype=np.intp)]).astype(np.intp)


class Guards:
    """Comparisons of a tape, all at once."""

    def __init__(self, comparisons: Mapping[tuple[str, int, int], bool]):
        guards = [(a, b, outcome, name) for (name, a, b), outcome in comparisons.items()]
        self.less = self._columns(guards, "less")
        self.equal = self._columns(guards, "equal")

    @staticmethod
    def _columns(guards: list[tuple[int, int, bool, str]], wanted: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        chosen = [(a, b, outcome) for a, b, outcome, name in guards if name == wanted]
        a, b, outcome = np.array(chosen, dtype=np.intp).reshape(-1, 3).T
        return a, b, outcome.astype(bool)[:, None]

    def table(self) -> np.ndarray:
        """As the kernel reads them: whether less or equal, both nodes, and the outcome."""
        rows = [
            np.stack([np.full(len(a), less), a, b, outcome[:, 0]], axis=1)
            for less, (a, b, outcome) in ((1, self.less), (0, self.equal))
        ]
        return np.ascontiguousarray(np.concatenate(rows), dtype=np.int32)

    def hold(self, values: np.ndarray) -> np.ndarray:
        comparisons = ((np.less, self.less), (np.equal, self.equal))
        kept = [compare(values[a], values[b]) == outcome for compare, (a, b, outcome) in comparisons]
        return np.asarray(kept[0].all(axis=0) & kept[1].all(axis=0))


def _parameters(tape: Tape, mechanism: Mechanism, group: Group) -> np.ndarray:
    """The nodes of a group's parameters, (parameters, lanes). A zero may select another program."""
    elements = [mechanism.elements[number].parameters for number in group.elements]
    for element in elements:
        for name in group.kind.parameters:
            tape.guard("equal", element[name], 0.0, bool(element[name] == 0))
    nodes = [[tape.number_of(element[name]) for element in elements] for name in group.kind.parameters]
    return np.array(nodes, dtype=np.intp).reshape(len(group.kind.parameters), group.lanes)
