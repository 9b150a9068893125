"""Many motions of one handle at once: in the kernel's lanes where these can, else one by one, in threads if wished.

What can be done for all of them together is done in columns: the numbers of their equations, comparisons that must
hold, starts, states. Nothing that a motion is found from depends on which others there are.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from mechsim.engine.fleets import Sets
from mechsim.engine.many import integrate_many
from mechsim.engine.state import States
from mechsim.errors import (
    AssemblyError,
    BranchWarning,
    Fault,
    IntegrationError,
    MechsimError,
    SpecError,
    warn_caller,
)
from mechsim.frozen import frozen
from mechsim.handle.batch import Batch
from mechsim.handle.begun import Begun, consistent_many
from mechsim.handle.cases import NOT_FOLLOWED, STATUSES, Alone, Ends, of_error, of_motion
from mechsim.handle.family import Family, Variation
from mechsim.handle.motions import Motions
from mechsim.handle.wanted import Alike, Array, Given, Indices, common_count, with_formulas
from mechsim.simulation import KEPT, adjust, reaction_points
from mechsim.source import read
from mechsim.spec.document import MechSpec

if TYPE_CHECKING:
    from mechsim.handle.mechanism_handle import MechanismHandle

FINAL = "final"  # only where motions end is kept
AT_ONCE = 1024  # motions for each thread whose numbers are in memory together, and nearly in the cache
SHOWN = 6  # parameters of a case that a warning names


@frozen
class Settings:
    """What all motions of a call have in common."""

    tol: float | None
    order: int | None
    t0: float | None
    reactions: Sequence[str] | None
    keep: str
    threads: int


def many_motions(
    handle: MechanismHandle, given: Given, begun: Begun, tends: Array | None, settings: Settings
) -> Motions:
    """All that is wanted. What is wrong with one motion is told by its case; what is wrong with all is raised."""
    began = time.perf_counter()
    if settings.keep not in (*KEPT, FINAL):
        known = ", ".join(map(repr, (*KEPT, FINAL)))
        raise MechsimError(Fault(f"keep={settings.keep!r} is not known", hint=f"it is one of {known}"))
    if not isinstance(settings.threads, Integral) or settings.threads < 1:
        raise MechsimError(Fault(f"threads={settings.threads!r} is not a whole number from 1 on"))
    if unknown := sorted(given.names - set(handle._file.parameters)):
        read(handle._file, dict.fromkeys(unknown, 0.0))  # tells of parameters that the file has not
    ends = 1 if tends is None or tends.ndim == 0 else len(tends)
    count = common_count({"parameters": len(given), "starts": len(begun), "tend": ends})
    work = _Work(handle, given, begun, None if tends is None else np.broadcast_to(tends, (count,)), settings, count)
    work.do()
    return work.motions(time.perf_counter() - began)


class _Work:
    """All motions of a call, so many at a time as memory should hold."""

    def __init__(
        self, handle: MechanismHandle, given: Given, begun: Begun, tends: Array | None, settings: Settings, count: int
    ):
        self.handle, self.given, self.begun, self.tends, self.settings = handle, given, begun, tends, settings
        system = handle._family().system
        self.labels, self.n = tuple(system.labels), system.n
        self.ends = Ends.unknown(count, system.n, system.m)
        self.batches: list[Batch] = []
        self.group, self.place = (np.full(count, -1, dtype=np.intp) for _ in range(2))
        self.alone: dict[int, Alone] = {}
        self.remarks: dict[int, str] = {}

    def do(self) -> None:
        for alike in self.given.alike(len(self.group), self.handle._given):
            alike = with_formulas(self.handle._file, alike)
            for family, places in self._families(alike):
                size = AT_ONCE * self.settings.threads
                for first in range(0, len(places), size):
                    self._in_lanes(family, alike, places[first : first + size])
        rest = [k for k in np.flatnonzero(self.group < 0).tolist() if k not in self.alone]
        threads = self.settings.threads
        if threads == 1 or len(rest) < 2:
            for k in rest:
                self._follow(k)
        else:
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(self._follow, rest))

    def motions(self, seconds: float) -> Motions:
        return Motions(
            self.labels[: self.n],
            self.labels[self.n :],
            self.given,
            seconds,
            _ends=self.ends,
            _told=list(self.batches),
            _group=self.group,
            _place=self.place,
            _alone=self.alone,
            _numbers=np.arange(len(self.group)),
            _file=self.handle._family().system.mechanism,
            _remarks=self.remarks,
        )

    # --- in lanes

    def _families(self, alike: Alike) -> Iterator[tuple[Family, Indices]]:
        """Motions that have a plan and the way they start in common; of those that are not for lanes nothing."""
        begun, rows = self.begun, self.begun.rows(alike.numbers)
        own, t0 = float(self.handle._file.problem.t0), self.settings.t0
        since = np.where(begun.given[rows], np.minimum(begun.t[rows], own), np.nan if t0 is None else t0)
        tends = np.full(len(rows), np.nan) if self.tends is None else self.tends[alike.numbers]
        sound = np.flatnonzero(~begun.wrong[rows])
        keys, group = _distinct(since[sound], tends[sound], begun.given[rows][sound])
        found: dict[tuple[Family, bool], list[Indices]] = {}
        for number, (*times, given) in enumerate(keys):
            family = self.handle._family(*(None if np.isnan(time) else time for time in times))
            found.setdefault((family, bool(given)), []).append(sound[group == number])
        for (family, _), places in found.items():
            if _is_for_lanes(family) and family.system.n == self.n:
                yield family, np.sort(np.concatenate(places))

    def _in_lanes(self, family: Family, alike: Alike, places: Indices) -> None:
        """Those that can go in lanes; others wait to be followed alone."""
        variation = family.variation(alike.names)
        values = variation.numbers.values(np.ascontiguousarray(alike.columns[:, places]))
        hold = variation.numbers.hold(values) & np.isfinite(alike.columns[:, places]).all(axis=0)
        numbers = alike.numbers[places]
        tends = self.tends[numbers] if self.tends is not None else np.full(len(numbers), _end_of(family))
        rows = self.begun.rows(numbers)
        kept = np.flatnonzero(hold & self._are_sound(family, self.begun.t[rows], tends))
        if not len(kept):
            return
        values, numbers, tends, rows = _chosen(kept, values, numbers, tends, rows)
        if self.begun.given[rows[0]]:
            states = consistent_many(variation, values, self.begun.t[rows], self.begun.q[rows], self.begun.v[rows])
        else:
            states = self._starts(variation, values, numbers)
        moving = states.singular & (states.velocities != 0).any(axis=1)
        ready = np.flatnonzero(np.isfinite(states.t) & ~moving)
        if len(ready):
            values, numbers, tends = _chosen(ready, values, numbers, tends)
            columns = np.ascontiguousarray(alike.columns[:, places[kept[ready]]])
            self._march(variation, columns, values, states.chosen(ready), tends, numbers)

    def _are_sound(self, family: Family, t0: Array, tends: Array) -> np.ndarray:
        """Whether settings make sense; what is wrong with them is told of each alone."""
        pairs, group = _distinct(t0, tends)
        return np.array([self._adjusted(family, *pair) is not None for pair in pairs], dtype=bool)[group]

    def _adjusted(self, family: Family, t0: float, tend: float) -> MechSpec | None:
        settings, begins = self.settings, self.settings.t0 if np.isnan(t0) else t0
        try:
            return adjust(family.prepared.spec, tol=settings.tol, order=settings.order, t0=begins, tend=tend)
        except SpecError:
            return None

    def _starts(self, variation: Variation, values: Array, numbers: Indices) -> States:
        """Where motions start; the time is NaN where a motion must be looked at alone, or has failed already."""
        found = variation.starts(values)
        t, q, v, singular = found.t, found.positions, found.velocities, found.singular
        for k in np.flatnonzero(~found.found).tolist():
            t[k] = np.nan
            try:
                tell = partial(self._tell, int(numbers[k]))
                start = variation.start_alone(np.ascontiguousarray(values[:, k]), tell)
            except (AssemblyError, IntegrationError) as error:  # asking again would take seconds, and change nothing
                self._fail(int(numbers[k]), error)
                continue
            except BranchWarning as warning:  # a person has made it an error
                self._refuse(int(numbers[k]), warning)
                continue
            if start is not None:
                t[k], q[k], v[k], singular[k] = start.t, start.positions, start.velocities, start.singular
        return States(t, q, v, singular)

    def _march(
        self, variation: Variation, columns: Array, values: Array, begun: States, tends: Array, numbers: Indices
    ) -> None:
        family, settings = variation.family, self.settings
        spec = self._adjusted(family, float(begun.t[0]), float(tends[0]))
        assert spec is not None  # it was sound
        many = integrate_many(
            variation.like,
            family.prepared.structure,
            begun,
            tends=tends,
            tolerance=spec.solver.tolerance,
            sets=Sets(variation.numbers, values, variation.mechanism),
            keep=KEPT.get(settings.keep, FINAL),
            threads=settings.threads,
            fleets=variation.fleets(spec.solver.order, spec.solver.tolerance),
        )
        if np.any(many.codes == STATUSES.index("interrupted")):
            raise KeyboardInterrupt
        self.ends.take(numbers, many)
        self.group[numbers], self.place[numbers] = len(self.batches), np.arange(len(numbers))
        points = reaction_points(family.prepared, settings.reactions)
        self.batches.append(Batch(variation, columns, many.without_sets(), begun.t, tends, spec, points))

    # --- one by one

    def _follow(self, k: int) -> None:
        """A motion as `handle.simulate` finds it."""
        settings, kept = self.settings, self.settings.keep != FINAL
        try:
            run = self.handle._run(
                self.given[k],
                self.begun.of(k),
                tol=settings.tol,
                order=settings.order,
                t0=settings.t0,
                tend=None if self.tends is None else float(self.tends[k]),
                tell=partial(self._tell, k),
            )
            alone, status = of_motion(run.motion(settings.reactions, settings.keep if kept else "table"), kept)
        except MechsimError as error:
            self._fail(k, error)
            return
        except BranchWarning as warning:
            self._refuse(k, warning)
            return
        self._take(k, alone, status)

    def _fail(self, k: int, error: MechsimError) -> None:
        self._take(k, *of_error(error, self.settings.keep != FINAL))

    def _take(self, k: int, alone: Alone, status: str) -> None:
        self.alone[k] = alone
        self.ends.take_alone(k, alone, STATUSES.index(status), self.labels)

    def _tell(self, k: int, message: str) -> None:
        """That a branch could not be followed, of this motion."""
        self.remarks[k] = message
        given = [f"{name} = {value}" for name, value in self.given[k].items()]
        shown = ", ".join([*given[:SHOWN], *["..."] * (len(given) > SHOWN)])
        warn_caller(f"case {k} ({shown}): {message}")

    def _refuse(self, k: int, warning: BranchWarning) -> None:
        self.alone[k] = Alone(problem=AssemblyError(Fault(str(warning))))
        self.ends.codes[k] = STATUSES.index(NOT_FOLLOWED)


def _distinct(*columns: Array) -> tuple[list[tuple[float, ...]], Indices]:
    """The different rows of some columns, and which of them each row is; NaN is like NaN."""
    codes = np.zeros(len(columns[0]), dtype=np.intp)
    for column in columns:
        values, number = np.unique(column, return_inverse=True)
        codes = codes * len(values) + number
    _, first, group = np.unique(codes, return_index=True, return_inverse=True)
    return [tuple(float(column[k]) for column in columns) for k in first], group


def _chosen(places: Indices, *columns: np.ndarray) -> tuple[np.ndarray, ...]:
    """Of each the columns at these places; all, mostly, which need no copy."""
    if len(places) == columns[0].shape[-1]:
        return columns
    return tuple(np.ascontiguousarray(each[..., places]) for each in columns)


def _is_for_lanes(family: Family) -> bool:
    try:
        system = family.system
        changing = system.switches or system.samplers or system.gaps or system.events
        return not (changing or family.plan.redundant)
    except (AssemblyError, IntegrationError):
        return False  # the file's own parameters have no start, but these may


def _end_of(family: Family) -> float:
    return float(family.prepared.spec.problem.tend)
