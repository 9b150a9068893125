"""Columns beyond the state: drives, the Hamiltonian, and on request forces in the joints, accelerations, signals, drawn
points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from mechsim.derive.program import Program
from mechsim.engine.points import Points
from mechsim.initial.beside import poses_beside
from mechsim.kernel.system import System
from mechsim.model.labels import unused
from mechsim.model.mechanism import Friction, Mechanism
from mechsim.result import multipliers
from mechsim.result.accelerations import Accelerations
from mechsim.result.balance import Balance
from mechsim.result.drives import drives, unit_of
from mechsim.result.layout import Array, full_layout
from mechsim.result.orientation import Orientations
from mechsim.result.reactions import Reactions
from mechsim.spec.motion import plain_name
from mechsim.structure import Redundancy

UNDETERMINED = 1e-9  # of the largest multiplier: below this, a drive does not take part in what is undetermined

Leading = Callable[[Points], tuple[Array, Array]]


class Derived:
    """`labels`, `units` and values of these columns; `not_unique` are those that redundant constraints leave open.

    `names` are what the labels would be if no other column had one of them.

    `leading` makes a function that gives accelerations and multipliers at consistent states, and is called only when a
    column needs them; `jerks` are the rates of accelerations, of which without it there are no columns. `state` is
    (t, q, v) at the start. `reactions` are points, or "all".
    """

    def __init__(
        self,
        system: System,
        redundancy: Redundancy,
        leading: Callable[[], Leading],
        state: tuple[float, Array, Array],
        reactions: Sequence[str] = (),
        jerks: Callable[[Points], Array] | None = None,
    ):
        self.system, self.redundant, self._make_leading = system, len(redundancy.rows), leading
        self.has_hamiltonian = has_hamiltonian(system)
        self.drives = drives(system.mechanism)
        shown = _shown(system)
        self.loads = system.gap_rows[shown]  # constraints whose forces are columns: of contacts, and of bonds
        self.together = _together(system)[shown]  # those of two outlines are added up
        self.gaps = 0  # rows in which the equations do not determine forces
        self.reactions = Reactions(system, reactions)
        self.balance = Balance(system.mechanism) if self.reactions.labels else None
        columns = [("H", "J")] if self.has_hamiltonian else []
        columns += [column for drive in self.drives for column in drive.columns]
        columns += load_columns(system)
        self.rubbing = {f"friction_{plain_name(each.name)}": each for each in system.frictions}
        columns += [(name, unit_of(system.mechanism, _slots(each, system))) for name, each in self.rubbing.items()]
        columns += list(zip(self.reactions.labels, self.reactions.units, strict=True))
        self.accelerations = Accelerations.of(system.mechanism, system.mechanism.accelerations)
        self.jerks = Accelerations.of(system.mechanism, system.mechanism.jerks if jerks else ()).jerks()
        self._find_jerks = jerks
        columns += [(column.label, column.unit) for column in (*self.accelerations.columns, *self.jerks.columns)]
        self.orientations = Orientations(system.mechanism, system.mechanism.attitudes)
        columns += list(zip(self.orientations.labels, self.orientations.units, strict=True))
        taken = set(full_layout(system.mechanism).labels)
        labels = [unused(name, taken) for name, _ in columns]
        self.signals = _signal_columns(system.mechanism, taken)
        drawn = system.mechanism.drawn
        self.labels = (*labels, *self.signals.values(), *drawn)
        self.names = (*(name for name, _ in columns), *self.signals.values(), *drawn)
        lengths = ("m/s" if label.endswith("_dot") else "m" for label in drawn)
        self.units = (*(unit for _, unit in columns), *("" for _ in self.signals), *lengths)
        open_names = self._undetermined(*state)
        self.not_unique = tuple(
            label for label, name in zip(self.labels, self.names, strict=True) if name in open_names
        )

    @property
    def imbalance(self) -> float | None:
        """By what share of the forces the parts of all rows so far miss their balance; None without any force."""
        return self.balance.worst if self.balance else None

    @cached_property
    def _leading(self) -> Leading:
        return self._make_leading()

    @property
    def _takes_leading(self) -> bool:
        forces = self.drives or len(self.loads) or self.rubbing or self.reactions.labels
        return bool(forces or self.accelerations.columns or self.jerks.columns)

    def table(self, points: Points) -> Array:
        """The columns at consistent states, (k, columns)."""
        if not len(points):
            return np.zeros((0, len(self.labels)))
        system, state = points.system, points.state
        columns = [np.zeros((len(points), 0))]
        if self.has_hamiltonian:
            columns.append(np.asarray(system.hamiltonian(*state), float)[:, None])
        if self._takes_leading:
            accelerations, found = self._leading(points)
            self.gaps += int(np.isnan(accelerations).any(axis=1).sum())
            full = multipliers.smallest(self.redundant, points, accelerations, found)
            columns += [drive.table(system, *state, accelerations, full) for drive in self.drives]
            columns.append(-full[:, self.loads] @ self.together + 0.0)
            columns.append(self._frictions(system, (*state, accelerations, full)))
            columns.append(self.reactions.table(system, *state, accelerations, full))
            columns.append(self.accelerations.table(accelerations))
            if self._find_jerks is not None and self.jerks.columns:
                columns.append(self.jerks.table(self._find_jerks(points)))
            if self.balance:
                self.balance.observe(system, *state, accelerations, full)
        if self.orientations.asked:
            columns.append(self.orientations.table(state[1], state[2]))
        with np.errstate(all="ignore"):  # a signal without a value somewhere is NaN there, and disturbs nothing else
            columns += [system.signals(element, *state) for element in system.mechanism.readouts.values()]
            if system.mechanism.drawn:
                columns.append(system.places(*state))
        return np.concatenate(columns, axis=1)

    def _frictions(self, system: System, state: tuple[Array, Array, Array, Array, Array]) -> Array:
        """With what frictions push, along their slides; those of two outlines are added up."""
        full = state[-1]
        found = np.zeros((len(full), len(self.rubbing)))
        names = list(self.rubbing)
        for row, each in zip(system.friction_rows, system.frictions, strict=True):
            sense = system.constants[..., each.sense]
            gap = each.gap >= 0
            load = -full[:, system.gap_rows[each.gap]] if gap else system.signals(each.element, *state)[:, 0]
            found[:, names.index(f"friction_{plain_name(each.name)}")] -= full[:, row] + sense * each.kinetic * load
        return found + 0.0

    def _undetermined(self, t: float, q: Array, v: Array) -> set[str]:
        """Columns that multipliers left open change, at the start or where the motion may lead. Forces are analytic
        along it, so what is not changed at poses in no special direction is not changed at any."""
        if not self.redundant or not (self.drives or self.reactions.labels):
            return set()
        beside = poses_beside(self.system, t, q)
        found: set[str] = set()
        for pose in (q, *(beside or ())):
            freedom = multipliers.freedom(self.system, self.redundant, t, pose, v)
            scale = np.abs(freedom).max() or 1.0
            for drive in self.drives:
                if np.abs(freedom[:, list(drive.rows)]).max() > UNDETERMINED * scale:
                    found.update(label for label, _ in drive.columns)
            found.update(self.reactions.undetermined(t, pose, v, freedom, whole=beside is None))
        return found


def _slots(friction: Friction, system: System) -> tuple[int, ...]:
    """The coordinates that it acts on."""
    return system.mechanism.elements[friction.element].slots


def load_columns(system: System) -> list[tuple[str, str]]:
    """`contact_floor`, the force with which a contact pushes, for each gap; names and units."""
    mechanism = system.mechanism
    first = np.argmax(_together(system), axis=0) if system.gaps else ()
    gaps = [system.gaps[number] for number in first]
    elements = [mechanism.elements[gap.element] for gap in gaps]
    return [
        (each.multipliers[gap.place], unit_of(mechanism, each.slots)) for gap, each in zip(gaps, elements, strict=True)
    ]


def _shown(system: System) -> list[int]:
    """Gaps whose forces are columns. A joint that is let go is like other joints, whose reactions come on request."""
    elements = system.mechanism.elements
    return [k for k, gap in enumerate(system.gaps) if elements[gap.element].origin.sort in ("contact", "bond")]


def _together(system: System) -> Array:
    """Which gaps have one column: (gaps, columns) of zeros and ones."""
    columns, shown = list(range(len(system.gaps))), set(_shown(system))
    for pair in system.mechanism.pairs:
        for lent in pair.lent:
            columns[lent.gap] = pair.lent[0].gap
    kept = sorted({column for column in columns if column in shown})
    return np.eye(len(columns))[columns][:, kept] if columns else np.zeros((0, 0))


def _signal_columns(mechanism: Mechanism, taken: set[str]) -> dict[str, str]:
    """The column of each signal asked for: its name, with `signal_` before it where a column or point has that name, or
    where it would look like work, which is added up."""
    known = {*taken, *mechanism.points}
    clashes = [name in known or name.startswith("work_") for name in mechanism.readouts]
    wanted = [f"signal_{name}" if clash else name for name, clash in zip(mechanism.readouts, clashes, strict=True)]
    return {name: unused(label, taken) for name, label in zip(mechanism.readouts, wanted, strict=True)}


def has_hamiltonian(system: System) -> bool:
    """Whether H is worth a column of its own: the Lagrangian is a user's own, or time enters the equations."""
    return any(group.kind.lagrangian or _depends_on_time(group.program) for group in system.groups)


def _depends_on_time(program: Program) -> bool:
    rows = (output for output in program.outputs if output.key[0] == "row")
    return any(source.kind == "time" for output in rows for source in program.depends_on(output))
