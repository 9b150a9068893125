"""Many motions of one handle as they ended: columns with a row for each, where one that fails is a row like the others.

A `Case` is one of them, made when it is asked for; so is its Motion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, overload

import numpy as np
from numpy.typing import NDArray

from mechsim.engine.many import COUNTS
from mechsim.errors import Fault, MechsimError, SpecError
from mechsim.handle.batch import Batch, Settled
from mechsim.handle.cases import STATUSES, Alone, Ends
from mechsim.handle.series import Series, Steps, joined, steps_of
from mechsim.handle.wanted import Given
from mechsim.model.mechanism import Mechanism
from mechsim.result import Motion
from mechsim.result.layout import Array
from mechsim.result.motion import State
from mechsim.source import Parameters
from mechsim.spec.suggest import did_you_mean

Indices = NDArray[np.intp]


class Case:
    """One of many motions. `status` is "finished", or why there is less: as of a Solution, or "not_read",
    "not_assembled", "not_started", "not_followed" where there is no motion at all; `message` says it in words.

    `t` is the time that was reached, `positions` and `velocities` are those there, by name; NaN and None without.
    """

    def __init__(self, motions: Motions, number: int):
        self._motions, self._number = motions, number

    @property
    def parameters(self) -> Parameters:
        return self._motions._parameters(self._number)

    @property
    def status(self) -> str:
        return STATUSES[self._motions.codes[self._number]]

    @property
    def finished(self) -> bool:
        return bool(self._motions.codes[self._number] == 0)

    @property
    def message(self) -> str:
        return self._motions.message(self._number)

    @property
    def error(self) -> MechsimError | None:
        """What `handle.simulate` would have raised."""
        return self._motions.error(self._number)

    @property
    def t(self) -> float:
        return float(self._motions.t[self._number])

    @property
    def positions(self) -> State | None:
        return self._motions._state(self._number, 0)

    @property
    def velocities(self) -> State | None:
        return self._motions._state(self._number, 1)

    @property
    def motion(self) -> Motion:
        """The motion, as far as it came. Raises its error where there is none."""
        return self._motions.motion(self._number)

    def __repr__(self) -> str:
        return f"<case {self._number}: {self.status}>"


@dataclass(eq=False)
class Motions(Sequence[Case]):
    """The motions of `handle.simulate_many`, in the order in which they were asked for.

    `t`, `q`, `v` and `lam` are the times that were reached, and positions, velocities and multipliers there, a row for
    each motion: columns as `coordinates` and `multipliers` name them, NaN where a motion has none.
    """

    STATUSES: ClassVar[tuple[str, ...]] = STATUSES

    coordinates: tuple[str, ...]
    multipliers: tuple[str, ...]
    given: Given
    seconds: float  # of wall time for all
    _ends: Ends
    _told: list[Batch | Settled]  # of motions that went in lanes
    _group: Indices  # which of these a motion is of, -1 for one that went alone,
    _place: Indices  # and its place there
    _alone: dict[int, Alone]
    _numbers: Indices  # among all that were asked for
    _file: Mechanism = field(repr=False)  # with the file's own parameters
    _motions: dict[int, Motion] = field(default_factory=dict, repr=False)
    _remarks: dict[int, str] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self._ends.t)

    @overload
    def __getitem__(self, k: int) -> Case: ...
    @overload
    def __getitem__(self, k: slice) -> Motions: ...
    def __getitem__(self, k: int | slice) -> Case | Motions:
        if not isinstance(k, slice):
            return Case(self, range(len(self))[k])
        chosen = range(len(self))[k]
        alone = {place: self._alone[number] for place, number in enumerate(chosen) if number in self._alone}
        remarks = {place: self._remarks[number] for place, number in enumerate(chosen) if number in self._remarks}
        return replace(
            self,
            _ends=self._ends.chosen(k),
            _group=self._group[k],
            _place=self._place[k],
            _alone=alone,
            _numbers=self._numbers[k],
            _motions={},
            _remarks=remarks,
        )

    @property
    def t(self) -> Array:
        return self._ends.t

    @property
    def q(self) -> Array:
        return self._ends.q

    @property
    def v(self) -> Array:
        return self._ends.v

    @property
    def lam(self) -> Array:
        return self._ends.lam

    @property
    def codes(self) -> NDArray[np.int8]:
        """How each ended, as a number of STATUSES; 0 is finished."""
        return self._ends.codes

    @property
    def status(self) -> tuple[str, ...]:
        return tuple(STATUSES[code] for code in self.codes.tolist())

    @property
    def finished(self) -> NDArray[np.bool_]:
        """Which of them came to their ends."""
        return np.asarray(self.codes == 0)

    @property
    def statistics(self) -> dict[str, Array | NDArray[np.int64]]:
        counts: dict[str, Array | NDArray[np.int64]] = {n: self._ends.counts[:, i] for i, n in enumerate(COUNTS)}
        return {**counts, "largest_projection": self._ends.projections}

    @property
    def parameters(self) -> dict[str, NDArray[np.generic] | float | str]:
        """As they were given: columns, or one for all; of a list of mappings, a column for each name."""
        if self.given.rows is None:
            columns = {name: column[self._numbers] for name, column in self.given.columns.items()}
            return {**columns, **self.given.common}
        rows = [self._parameters(k) for k in range(len(self))]
        return {name: np.array([row.get(name, np.nan) for row in rows]) for name in sorted(self.given.names)}

    def _parameters(self, k: int) -> Parameters:
        return self.given[int(self._numbers[k])]

    def message(self, k: int) -> str:
        """Why a motion has not come to its end; nothing if it has."""
        if k in self._alone:
            return self._alone[k].words
        return self._told[self._group[k]].message(int(self._place[k]))

    def remark(self, k: int) -> str:
        """What a BranchWarning said of a motion; nothing if there was none."""
        return self._remarks.get(k, "")

    @property
    def remarked(self) -> list[int]:
        """The motions of which there is a remark."""
        return sorted(self._remarks)

    def error(self, k: int) -> MechsimError | None:
        """What `handle.simulate` would have raised."""
        if k in self._alone:
            return self._alone[k].problem
        return self._told[self._group[k]].error(int(self._place[k]))

    def motion(self, k: int) -> Motion:
        """One motion, as far as it came. Raises its error where there is none."""
        if k not in self._motions:
            alone = self._alone.get(k)
            told = None if alone else self._told[self._group[k]]
            found = alone.found if alone else told.motion(int(self._place[k])) if told else None
            if found is None:
                hint = 'keep="table" or keep="polynomials"'
                raise self.error(k) or MechsimError(Fault("only where the motion ended was kept", hint=hint))
            self._motions[k] = found
        return self._motions[k]

    def _state(self, k: int, rate: int) -> State | None:
        if np.isnan(self.t[k]):
            return None
        if k in self._alone:
            ending = self._alone[k].ending
            return None if ending is None else State(ending.mechanism, (ending.q, ending.v)[rate], constant=1.0 - rate)
        like = self._told[self._group[k]].mechanism
        constants = tuple(self._constants[k, : len(like.constants)].tolist())
        return State(replace(like, constants=constants), (self.q[k], self.v[k])[rate], constant=1.0 - rate)

    @cached_property
    def _constants(self) -> Array:
        """Of the mechanism of each motion that went in a lane; NaN of others."""
        tables = [told.constants for told in self._told]
        result = np.full((len(self), max((table.shape[1] for table in tables), default=0)), np.nan)
        for number, table in enumerate(tables):
            rows = np.flatnonzero(self._group == number)
            result[rows, : table.shape[1]] = table[self._place[rows]]
        return result

    def at_end(self, name: str, of: str = "positions") -> Array:
        """A point or a coordinate at the ends of all motions, (motions, ...): `motions.at_end("A")`; NaN for those that
        did not come to theirs. `of="velocities"`: how fast it is there."""
        rate = {"positions": 0, "velocities": 1}[of]
        if name in self.coordinates:
            return np.where(self.finished, (self.q, self.v)[rate][:, self.coordinates.index(name)], np.nan)
        slots = self._points.get(name)
        if slots is None:
            raise KeyError(
                f"no point or coordinate {name!r}; there are {', '.join((*self._points, *self.coordinates))}"
            )
        columns = [np.where(self.finished, self._slot(slot, rate), np.nan) for slot in slots]
        return np.stack(columns, axis=-1)

    def column(self, name: str) -> Array:
        """A number of each motion where it stopped, finished or not: "t", coordinates ("A_x", of fixed points too) and
        their rates ("A_x_dot"), multipliers by their labels, the energies "T" and "V"."""
        label = name.removesuffix("_dot")
        for rate, wanted in ((0, name), (1, label)):
            if wanted in self.coordinates:
                return (self.q, self.v)[rate][:, self.coordinates.index(wanted)].copy()
            if wanted in self._fixed:
                return self._slot(self._fixed[wanted], rate)
        if name in self.multipliers:
            return self.lam[:, self.multipliers.index(name)].copy()
        if name in ("T", "V"):
            return self._energies[int(name == "V")]
        if name == "t":
            return self.t.copy()
        known = ("t", *self.coordinates, *(f"{each}_dot" for each in self.coordinates), *self._fixed, "T", "V")
        hint = did_you_mean(name, [*known, *self.multipliers])
        raise SpecError(Fault(f"there is no column {name} of where motions end", hint=hint))

    @cached_property
    def _mechanism(self) -> Mechanism:
        """One of their mechanisms, for its names; where there is no motion, that of the file."""
        if self._told:
            return self._told[0].mechanism
        return next((each.ending.mechanism for each in self._alone.values() if each.ending), self._file)

    @property
    def _points(self) -> Mapping[str, tuple[int, ...]]:
        return self._mechanism.points

    @cached_property
    def _fixed(self) -> dict[str, int]:
        """The slots of coordinates of fixed points, by label."""
        points = ((name, slots) for name, slots in self._points.items() if any(slot < 0 for slot in slots))
        return {f"{name}_{axis}": slot for name, slots in points for axis, slot in zip("xyz", slots, strict=False)}

    def _slot(self, slot: int, rate: int) -> Array:
        if slot >= 0:
            return (self.q, self.v)[rate][:, slot]
        result = self._constants[:, -1 - slot].copy() if len(self._told) else np.full(len(self), np.nan)
        for k, alone in self._alone.items():
            result[k] = alone.ending.mechanism.constants[-1 - slot] if alone.ending else np.nan
        return np.where(np.isnan(self.t), np.nan, result) if rate == 0 else np.where(np.isnan(self.t), np.nan, 0.0)

    @cached_property
    def _energies(self) -> Array:
        """Kinetic and potential, (2, motions)."""
        result = np.full((2, len(self)), np.nan)
        for number, told in enumerate(self._told):
            rows = np.flatnonzero(self._group == number)
            result[:, rows] = told.energies[:, self._place[rows]]
        for k, alone in self._alone.items():
            result[:, k] = alone.ending.energies if alone.ending else np.nan
        return result

    @property
    def polynomials(self) -> Series:
        """The Taylor polynomials of all steps of all motions, where they were kept."""
        unknowns = (*self.coordinates, *self.multipliers)
        steps = [self._steps(k, unknowns) for k in range(len(self))]
        if len(steps) and all(each is None for each in steps) and not np.isnan(self.t).all():
            raise MechsimError(Fault("the polynomials of the motions were not kept", hint='keep="polynomials"'))
        return joined(unknowns, steps, self._constants)

    def _steps(self, k: int, unknowns: tuple[str, ...]) -> Steps | None:
        if k in self._alone:
            found = self._alone[k].found
            return None if found is None else steps_of(found.solution, unknowns)
        return self._told[self._group[k]].steps(int(self._place[k]))

    def __getstate__(self) -> dict[str, object]:
        told = [each.settled() for each in self._told]
        own = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**own, "_told": told, "_motions": {}}

    def __repr__(self) -> str:
        return f"<{len(self)} motions, {int(self.finished.sum())} finished>"
