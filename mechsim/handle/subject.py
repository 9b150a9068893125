"""The mechanism of a file as what analyses are about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mechsim.analysis.subject import Case, Directed, Sides
from mechsim.engine import InitialState, State
from mechsim.engine.fleets import Sets
from mechsim.frozen import frozen
from mechsim.handle.derivatives import by_numbers, directions_of
from mechsim.handle.family import refused, warned
from mechsim.handle.run import Run
from mechsim.measure.meanings import Names
from mechsim.measure.parameters import Parameters
from mechsim.result.layout import Array
from mechsim.simulation import Prepared
from mechsim.source import read
from mechsim.spec import parse
from mechsim.spec.expression import NUMERAL
from mechsim.spec.living import Tape

if TYPE_CHECKING:
    from mechsim.handle.mechanism_handle import MechanismHandle


@frozen(slots=False, eq=False)
class FileSubject:
    """See `analysis.subject.Subject` and `design.course.Measurable`; `t0` is where motions begin, if not at the file's
    own time, and `begun` their own start, if that is not the file's; `strict`: no start is searched for where the
    branch of the file's own start has none."""

    handle: MechanismHandle
    t0: float | None = None
    begun: InitialState | None = None
    strict: bool = False

    @property
    def parameters(self) -> Mapping[str, float]:
        return self.handle.parameters

    @property
    def tolerance(self) -> float:
        return self.handle.spec.solver.tolerance

    @cached_property
    def names(self) -> Names:
        return Names(self.handle.spec)

    def tend(self, parameters: Mapping[str, float]) -> float:
        end = self.handle.spec.problem.tend
        changed = parameters and NUMERAL.fullmatch(end.text.strip()) is None
        return float(read(self.handle.spec, parameters).problem.tend if changed else end)

    def numbers(self, parameters: Mapping[str, float]) -> Callable[[str], Array]:
        return Parameters(self.handle.spec, parameters)

    def case(
        self,
        parameters: Mapping[str, float],
        start: State | None = None,
        tend: float | None = None,
        *,
        nearest: bool = False,
    ) -> Case:
        if start is None and self.begun is not None:
            own = self.begun
            start, nearest = State(float(own.t), own.positions, own.velocities), nearest or bool(parameters)
        begun = self.t0 if start is None else None
        tell = refused if self.strict else warned
        run = self.handle._run(dict(parameters), start, t0=begun, tend=tend, nearest=nearest, tell=tell)
        return case_of_run(run)

    def sides(self, columns: Mapping[str, Array], count: int) -> Sides:
        names = tuple(sorted({**self.handle._given, **columns}))
        family = self.handle._family(self.t0)
        variation = family.variation(names)
        own = self.handle.parameters
        table = [np.broadcast_to(np.asarray(columns.get(name, own[name]), dtype=float), count) for name in names]
        values = variation.numbers.values(np.array(table, dtype=float).reshape(len(names), count))
        sets = Sets(variation.numbers, values, variation.mechanism)
        return Sides(variation.like, family.prepared.structure, family.plan, sets)

    def living(self, tape: Tape) -> Mapping[str, float]:
        spec = self.handle.spec
        read = parse(spec.text, spec.path, spec.overrides, spec.files, tape=tape)
        return {name: number.value for name, number in read.parameters.items()}


def case_of(prepared: Prepared) -> Case:
    """A prepared problem of a file as a case."""

    def directed(names: Sequence[str]) -> Directed:
        found = directions_of(prepared, names)
        return case_of(found.prepared), found.directions

    return Case(prepared.system, prepared.structure, prepared.start, directed, prepared.facts)


def case_of_run(run: Run) -> Case:
    """The same where more is known: the plan, and how numbers change with parameters, without the file being read."""
    case = replace(case_of(run.prepared), plan=run.plan)

    def directed(names: Sequence[str]) -> Directed:
        known = by_numbers(run, names)
        return case_of(run.prepared).directed(names) if known is None else (case, known)

    return replace(case, directed=directed)
