"""What names mean in a measure: columns of result tables, names of the file's language, parameters."""

from __future__ import annotations

import ast
from functools import cached_property

from mechsim.errors import Mark, SpecError
from mechsim.kernel.system import System
from mechsim.lagrangian.vector import AXES
from mechsim.measure.quantities import Column, Energy, Given, Held, Instant, Meaning, Unknown, Written
from mechsim.measure.reading import BOUNDS
from mechsim.measure.spins import spin_of
from mechsim.model import build
from mechsim.result.accelerations import Column as AccelerationColumn
from mechsim.result.accelerations import all_columns, jerk_of
from mechsim.result.derived import has_hamiltonian, load_columns
from mechsim.result.drives import drives
from mechsim.result.layout import full_layout
from mechsim.result.orientation import Orientations
from mechsim.result.reactions import Reactions
from mechsim.spec.document import MechSpec
from mechsim.spec.expression import CONSTANTS, SWITCHING, Expression, parse_expression
from mechsim.spec.motion import plain_name
from mechsim.spec.names import Coordinate, Distance, TurnAngle, reference
from mechsim.spec.suggest import did_you_mean, listed


class Names:
    """The names of one file, a Vocabulary. Columns come before parameters: in a function of the motion `T` is the
    kinetic energy."""

    def __init__(self, spec: MechSpec):
        self.spec, self.mechanism = spec, build(spec)
        self.labels = tuple(variable.label for variable in self.mechanism.variables)
        mechanism = self.mechanism
        self.changing = bool(mechanism.switches or mechanism.samplers or mechanism.gaps or mechanism.events)
        contacts = {f"contact_{plain_name(gap.name)}": gap.name for gap in mechanism.gaps}
        # What events are called in measures: contacts as their columns are.
        self.happenings = contacts | {each.name: each.name for each in mechanism.events if not each.switch}
        layout = full_layout(self.mechanism)
        self.units = dict(zip(layout.labels, layout.units, strict=True))
        places = dict(zip(layout.labels, layout.places.tolist(), strict=True))
        self._columns: dict[str, Meaning] = {label: self._placed(place) for label, place in places.items()}
        self.states = tuple(label for label, meaning in self._columns.items() if isinstance(meaning, Unknown))
        for point, slots in self.mechanism.points.items():
            for axis, slot in zip(AXES, slots, strict=False):
                if slot < 0:
                    self._columns.setdefault(f"{point}_{axis}", Held(-1 - slot))
                    self._columns.setdefault(f"{point}_{axis}_dot", 0.0)
        # Not among the columns that come before parameters: a file need not know of accelerations.
        columns = all_columns(mechanism)
        self._accelerations = {column.label: (column, 2) for column in columns}
        self._accelerations |= {jerk.label: (jerk, 3) for jerk in map(jerk_of, columns)}
        self._signals = {signal.name: signal.expression for signal in spec.actions.signals}
        self._known: dict[str, Meaning | None] = {}  # signals, spins: one that others use often is worked out once
        self._attitudes = Orientations(mechanism, mechanism.attitudes).labels
        self._tabled = {each.name for each in spec.actions.tables} | {each.name for each in spec.actions.piecewise}

    @property
    def times(self) -> tuple[float, float]:
        return float(self.spec.problem.t0), float(self.spec.problem.tend)

    def _placed(self, place: int) -> Meaning:
        count = len(self.labels)
        if place == 0:
            return Instant()
        if place > 2 * count:
            return Energy(place - 2 * count - 1)
        return Unknown(self.labels[(place - 1) % count], int(place > count))

    @cached_property
    def _system(self) -> System:
        return System(self.mechanism)

    @cached_property
    def _further(self) -> dict[str, tuple[Column, str]]:
        """Columns beyond the state with their units; finding them takes some time."""
        columns = [("H", "J")] if has_hamiltonian(self._system) else []
        columns += [column for drive in drives(self.mechanism) for column in drive.columns]
        columns += load_columns(self._system)
        columns += [(name, "") for name in self.mechanism.readouts if name not in self._signals]
        found = {label: (Column(label), unit) for label, unit in columns}
        for point in self.mechanism.points:
            for label, unit in self._reactions(point):
                found.setdefault(label, (Column(label, (point,)), unit))
        return found

    def _reactions(self, point: str) -> list[tuple[str, str]]:
        try:
            reactions = Reactions(self._system, [point])
        except SpecError:  # nothing bears there
            return []
        return list(zip(reactions.labels, reactions.units, strict=True))

    def meaning(self, name: str) -> Meaning | None:
        """Of a name within a function of the motion; None if it has none."""
        if name in self._columns:
            return self._columns[name]
        if (found := self._spoken(name)) is not None:
            return found
        if (accelerated := self._acceleration(name)) is not None:
            moved, order = accelerated
            return Unknown(self.labels[moved.slot], order) if moved.slot >= 0 else 0.0
        column = self._further.get(name)
        return self._spin(name) if column is None else column[0]

    def _spin(self, name: str) -> Meaning | None:
        if name not in self._known:
            self._known[name] = spin_of(name, self.mechanism, self._spoken)
        return self._known[name]

    def _acceleration(self, name: str) -> tuple[AccelerationColumn, int] | None:
        """`A_ax`, or `A.ax` as velocities are written in files, or `theta_OA_ddot`; of a jerk `A_jx`."""
        return self._accelerations.get(name.replace(".", "_"))

    def _spoken(self, name: str) -> Meaning | None:
        """What the file's own expressions would mean by it."""
        if name in self.spec.parameters:
            return Given(name)
        if name in self._signals:
            if name not in self._known:
                self._known[name] = self._signal(name)
            return self._known[name]
        if name == "t":
            return Instant()
        if name in self.mechanism.inputs:
            port = self.mechanism.inputs[name]
            return Held(port.value, port.since, port.slopes)
        match reference(name):
            case Coordinate(point, axis, is_rate):
                return self._columns.get(f"{point}_{axis}_dot" if is_rate else f"{point}_{axis}")
            case TurnAngle(part, is_rate) if f"theta_{part}" in self.labels:
                return Unknown(f"theta_{part}", int(is_rate))
            case Distance(points, is_rate):
                return self._distance(points, is_rate)
        return CONSTANTS.get(name, BOUNDS.get(name))

    def _signal(self, name: str) -> Meaning | None:
        """Its expression; one that takes tables, or jumps by itself, is a column of its own, where the file asks for
        that: constants of the mechanism then say on which side it is."""
        expression = self._signals[name]
        meanings = {used: self._spoken(used) for used in expression.names}
        if all(meaning is not None for meaning in meanings.values()) and not _jumps(expression):
            return Written(expression, {used: meaning for used, meaning in meanings.items() if meaning is not None})
        return Column(name) if name in self.mechanism.readouts else None

    def _distance(self, points: tuple[str, str], is_rate: bool) -> Meaning | None:
        if any(point not in self.mechanism.points for point in points) or points[0] == points[1]:
            return None
        a, b = points
        axes = AXES[: self.mechanism.dimension]
        length = "sqrt(" + " + ".join(f"({b}.{axis} - {a}.{axis})**2" for axis in axes) + ")"
        change = " + ".join(f"({b}.{axis} - {a}.{axis})*({b}.v{axis} - {a}.v{axis})" for axis in axes)
        expression = parse_expression(f"({change})/{length}" if is_rate else length, Mark("", 1, 1), state=True)
        meanings = {name: self._spoken(name) for name in expression.names}
        return Written(expression, {name: meaning for name, meaning in meanings.items() if meaning is not None})

    def unit(self, name: str) -> str | None:
        """Of a name within a function of the motion; None if nobody says."""
        if name in self.units:
            return self.units[name]
        match self.meaning(name):
            case Unknown(label, order) if order < 2:
                return self.units[f"{label}_dot" if order else label]
            case Column(label) if label in self._further:
                return self._further[label][1]
        if accelerated := self._acceleration(name):
            return accelerated[0].unit
        if self._spin(name) is not None:
            return "rad/s"
        match reference(name):
            case Distance(_, is_rate) | Coordinate(_, _, is_rate):
                return "m/s" if is_rate else "m"
        return "m" if name.endswith(("_x", "_y", "_z")) and name in self._columns else None

    def hint(self, name: str) -> str:
        """What to do about a name that has no meaning."""
        match reference(name):
            case TurnAngle(part) if any(rigid.name == part for rigid in self.spec.rigids):
                return f"the turn angle of {part} is no coordinate here: name it in SolverParams.OutFile.angles"
            case Coordinate(point) | Distance((point, _)) if point not in self.mechanism.points:
                return did_you_mean(point, self.mechanism.points) or f"points are {listed(self.mechanism.points)}"
        if name in self._attitudes:
            return "how a part stands is no measure; places of its points are (A_x), turn angles and spins (OAB_wx)"
        if name in self._tabled:
            return f"a function by tables is measured as a signal: Signals: {{s: {name}}}, Output: {{signals: [s]}}"
        if name in self._signals:
            return f"it takes tables, or switches: name it in Output.signals: [{name}]"
        if name in self.mechanism.points:
            return f"a point has {listed([f'{name}_{axis}' for axis in AXES[: self.mechanism.dimension]])}"
        known = [*self._columns, *self.spec.parameters, *self.mechanism.inputs, *self._signals]
        known += [*self._accelerations, *self._further]
        return did_you_mean(name, known) or f"columns are {listed(self._columns)}"

    def number(self, name: str) -> Meaning | None:
        """Of a name outside of functions of the motion: what is one number for each case."""
        return Given(name) if name in self.spec.parameters else CONSTANTS.get(name, BOUNDS.get(name))


JUMPING = set(SWITCHING) - {"abs"}


def _jumps(expression: Expression) -> bool:
    """Whether it has a function whose sides or slopes are others beyond zero, which the march steps on; |u| is known by
    itself."""
    calls = (node.func for node in ast.walk(expression.tree) if isinstance(node, ast.Call))
    return any(isinstance(function, ast.Name) and function.id in JUMPING for function in calls)
