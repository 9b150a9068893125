"""Many motions of one handle at once: in the kernel's lanes where these can, else one by one, in threads if wished."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mechsim.engine import State
from mechsim.engine.fleets import Sets
from mechsim.engine.many import Many, integrate_many
from mechsim.errors import AssemblyError, Fault, IntegrationError, MechsimError
from mechsim.handle.family import Family, Variation
from mechsim.handle.motions import Case, Motions, of_error, of_motion
from mechsim.handle.run import consistent
from mechsim.result import Motion
from mechsim.simulation import KEPT, Prepared, adjust, reaction_points
from mechsim.source import Parameters, read
from mechsim.spec.document import MechSpec

if TYPE_CHECKING:
    from mechsim.handle.mechanism_handle import MechanismHandle

FINAL = "final"  # only where motions end is kept
ManyParameters = Mapping[str, Any] | Sequence[Parameters]


@dataclass(frozen=True, slots=True)
class Wish:
    """One motion that is wanted; `parameters` are those of the call."""

    parameters: Parameters
    start: Any
    tend: float | None


@dataclass(frozen=True, slots=True)
class Settings:
    """What all motions of a call have in common."""

    tol: float | None
    order: int | None
    t0: float | None
    reactions: Sequence[str] | None
    keep: str
    threads: int


def wishes_of(parameters: ManyParameters | None, starts: Any, tend: Any) -> list[Wish]:
    """One for each set of parameters, start or end, of which there is one, or as many as of the others."""
    columns = {
        "parameters": _sets(parameters),
        "starts": list(starts) if isinstance(starts, list) else [starts],
        "tend": [tend] if tend is None or np.ndim(tend) == 0 else [float(each) for each in tend],
    }
    sizes = {name: len(column) for name, column in columns.items() if len(column) != 1}
    if len(set(sizes.values())) > 1:
        told = ", ".join(f"{size} {name}" for name, size in sizes.items())
        raise MechsimError(Fault(f"there are {told}", hint="give as many of each, or one for all"))
    count = next(iter(sizes.values()), 1)
    full = [column * count if len(column) == 1 else column for column in columns.values()]
    return [Wish(*each) for each in zip(*full, strict=True)]


def _sets(parameters: ManyParameters | None) -> list[Parameters]:
    """Sets of parameters, of which each is given as a mapping, or all as a mapping of arrays."""
    if parameters is None:
        return [{}]
    if not isinstance(parameters, Mapping):
        return [dict(each) for each in parameters]
    single = {name for name, value in parameters.items() if isinstance(value, str) or np.ndim(value) == 0}
    sizes = {name: len(value) for name, value in parameters.items() if name not in single}
    if len(set(sizes.values())) > 1:
        told = ", ".join(f"{size} of {name}" for name, size in sizes.items())
        raise MechsimError(Fault(f"the parameters are of different number: {told}"))
    count = next(iter(sizes.values()), 1)
    rows = {name: [value] * count if name in single else list(value) for name, value in parameters.items()}
    return [{name: rows[name][k] for name in rows} for k in range(count)]


def many_motions(handle: MechanismHandle, wishes: Sequence[Wish], settings: Settings) -> Motions:
    """All that is wanted. What is wrong with one motion is told by its case; what is wrong with all is raised."""
    began = time.perf_counter()
    if settings.keep not in (*KEPT, FINAL):
        known = ", ".join(map(repr, (*KEPT, FINAL)))
        raise MechsimError(Fault(f"keep={settings.keep!r} is not known", hint=f"it is one of {known}"))
    _check_names(handle, {name for wish in wishes for name in wish.parameters})
    cases: list[Case | None] = [None] * len(wishes)
    for group, numbers in _groups(handle, wishes, settings).items():
        batch = _Batch(handle, *group, [(k, wishes[k]) for k in numbers], settings)
        for k, case in batch.cases():
            cases[k] = case
    alone = [k for k, case in enumerate(cases) if case is None]
    for k, case in zip(alone, _alone(handle, [wishes[k] for k in alone], settings), strict=True):
        cases[k] = case
    return Motions([case for case in cases if case is not None], time.perf_counter() - began)


def _check_names(handle: MechanismHandle, names: set[str]) -> None:
    """Raises SpecError for parameters that the file has not."""
    if unknown := sorted(names - set(handle._file.parameters)):
        read(handle._file, dict.fromkeys(unknown, 0.0))


def _alone(handle: MechanismHandle, wishes: Iterable[Wish], settings: Settings) -> list[Case]:
    """Motions as `handle.simulate` finds them."""
    kept = settings.keep != FINAL
    keep = settings.keep if kept else "table"

    def follow(wish: Wish) -> Case:
        try:
            motion = handle.simulate(
                parameters=wish.parameters,
                start=wish.start,
                tol=settings.tol,
                order=settings.order,
                t0=settings.t0,
                tend=wish.tend,
                reactions=settings.reactions,
                keep=keep,
            )
        except MechsimError as error:
            return of_error(wish.parameters, error, kept)
        return of_motion(wish.parameters, motion, kept)

    if settings.threads == 1:
        return [follow(wish) for wish in wishes]
    with ThreadPoolExecutor(settings.threads) as pool:
        return list(pool.map(follow, wishes))


Group = tuple[Family, tuple[str, ...]]


def _groups(handle: MechanismHandle, wishes: Sequence[Wish], settings: Settings) -> dict[Group, list[int]]:
    """Motions that have a plan in common, and the parameters that vary. Others have no group."""
    groups: dict[Group, list[int]] = {}
    for k, wish in enumerate(wishes):
        family = handle._family(handle._since(wish.start, settings.t0), wish.tend)
        names = tuple(sorted({*handle._given, *wish.parameters}))
        groups.setdefault((family, names), []).append(k)
    return {group: numbers for group, numbers in groups.items() if _is_for_lanes(group[0])}


def _is_for_lanes(family: Family) -> bool:
    try:
        return not (family.system.switches or family.system.samplers or family.plan.redundant)
    except (AssemblyError, IntegrationError):
        return False  # the file's own parameters have no start, but these may


@dataclass(frozen=True, slots=True)
class _Entry:
    """A motion that can go in a lane: its number among the wishes, its place among the values, what it starts from."""

    number: int
    place: int
    wish: Wish
    spec: MechSpec
    start: Any


class _Batch:
    """The motions of a group that can go in lanes; what is wrong with others is told when they are followed alone."""

    def __init__(
        self,
        handle: MechanismHandle,
        family: Family,
        names: tuple[str, ...],
        wishes: Sequence[tuple[int, Wish]],
        settings: Settings,
    ):
        self.handle, self.family, self.settings = handle, family, settings
        self.variation: Variation = family.variation(names)
        self.points = reaction_points(family.prepared, settings.reactions)
        self._specs: dict[tuple[float | None, float | None], MechSpec] = {}
        readable = [(k, wish, column) for k, wish in wishes if (column := self._column(wish)) is not None]
        columns = np.array([column for *_, column in readable]).reshape(len(readable), len(names))
        self.values = self.variation.numbers.values(columns.T)
        starts = self.variation.starts(self.values, [wish.start is None for _, wish, _ in readable])
        found = [self._entry(k, place, wish, starts[place]) for place, (k, wish, _) in enumerate(readable)]
        self.entries = [entry for entry in found if entry is not None]
        chosen = [entry.place for entry in self.entries]
        self.sets = Sets(self.variation.numbers, self.values[:, chosen], self.variation.mechanism)

    def _column(self, wish: Wish) -> list[float] | None:
        try:
            numbers = self._numbers(wish)
        except MechsimError:
            return None
        return [numbers[name] for name in self.variation.names]

    def _numbers(self, wish: Wish) -> dict[str, float]:
        return self.handle._numbers({**self.handle._given, **wish.parameters})

    def _entry(self, number: int, place: int, wish: Wish, start: Any) -> _Entry | None:
        """None where the structure is another one, or where something is wrong."""
        if start is None:
            return None
        try:
            state = None if wish.start is None else self.handle._state(wish.start, self.settings.t0)
            spec = self._adjusted(self.settings.t0 if state is None else state.t, wish.tend)
            start = start if state is None else self._consistent(state, place, spec, start)
        except MechsimError:
            return None
        goes_alone = start.singular and np.any(start.velocities)
        return None if goes_alone else _Entry(number, place, wish, spec, start)

    def _consistent(self, state: State, place: int, spec: MechSpec, start: Any) -> State:
        system = self.variation.system(np.ascontiguousarray(self.values[:, place]))
        return consistent(Prepared(spec, system, start, self.family.prepared.structure), state)

    def _adjusted(self, t0: float | None, tend: float | None) -> MechSpec:
        if (t0, tend) not in self._specs:
            settings, spec = self.settings, self.family.prepared.spec
            self._specs[t0, tend] = adjust(spec, tol=settings.tol, order=settings.order, t0=t0, tend=tend)
        return self._specs[t0, tend]

    def cases(self) -> list[tuple[int, Case]]:
        if not self.entries:
            return []
        solver = self.entries[0].spec.solver
        fleets = self.variation.fleets(solver.order, solver.tolerance)
        many = integrate_many(
            self.variation.like,
            self.family.prepared.structure,
            [entry.start for entry in self.entries],
            tends=[float(entry.spec.problem.tend) for entry in self.entries],
            tolerance=solver.tolerance,
            sets=self.sets,
            keep=KEPT.get(self.settings.keep, FINAL),
            threads=self.settings.threads,
            fleets=fleets,
        )
        if "interrupted" in many.status:
            raise KeyboardInterrupt
        return [(entry.number, self._case(entry, many, k)) for k, entry in enumerate(self.entries)]

    def _case(self, entry: _Entry, many: Many, k: int) -> Case:
        message = many.message(k)
        error = None if many.status[k] == "finished" else IntegrationError(f"the integration stopped: {message}")
        case = Case(entry.wish.parameters, many.status[k], message, error=error)
        if np.isfinite(many.t[k]):
            constants = self.sets.values[self.variation.numbers.constants, k].tolist()
            case.t, case._ending = float(many.t[k]), (self.variation.like.mechanism, constants, many.q[k], many.v[k])
            case._found = (lambda: self._motion(entry, many, k)) if many.kept else None
        return case

    def _motion(self, entry: _Entry, many: Many, k: int) -> Motion:
        solution = many.solution(k)
        overrides = {name: repr(value) for name, value in self._numbers(entry.wish).items()}
        spec = replace(entry.spec, overrides={**entry.spec.overrides, **overrides})
        return Motion(solution, Prepared(spec, solution.system, entry.start, solution.structure).facts, self.points)
