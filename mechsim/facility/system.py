"""A mechanical system from its Lagrangian, and its motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

from mechsim.errors import Fault, MechsimError
from mechsim.facility.designing import Designing
from mechsim.facility.drawing import Draw, drawing_of
from mechsim.facility.drawn import drawn_text, warn_of_limp_parts
from mechsim.facility.dynamics import Dynamics
from mechsim.facility.functions import Function, Functions, kind_of, said
from mechsim.facility.local import Local
from mechsim.facility.lowering import number, numbers, problem_of
from mechsim.facility.optimization import Optimization
from mechsim.kernel.system import System
from mechsim.result import Motion
from mechsim.result.layout import Array
from mechsim.result.trajectory import Settings
from mechsim.spec.document import Problem

if TYPE_CHECKING:
    from mechsim.analysis.cycle import Cycle
    from mechsim.engine import InitialState, State
    from mechsim.facility.subject import LagrangianSubject, Stated
    from mechsim.structure import Structure

DEFAULT_TOLERANCE = 1e-12


def lagrangian_system(
    lagrangian: Function,
    coordinates: Sequence[str],
    *,
    constraints: Function | None = None,
    velocity_constraints: Function | None = None,
    forces: Function | None = None,
    reactive_forces: Function | None = None,
    parameters: Mapping[str, float] | None = None,
    title: str = "Lagrangian system",
    draw: Draw | None = None,
) -> LagrangianSystem:
    """A mechanical system from its Lagrangian.

    lagrangian(q, v, t) -> L; q and v are arrays in the order of `coordinates`
    constraints(q, t) -> list of scalars C that are kept at zero
    velocity_constraints(q, v, t) -> list of scalars psi that are kept at zero, such as the sideways speed of a skate;
        linear in v or not, and not derivatives of a C
    forces(q, v, t) -> generalised force on each coordinate: its power is the sum of force times velocity
    reactive_forces(q, v, t, lam) -> more of these, which depend on the multipliers, as friction does; lam are those of
        the constraints, then those of the velocity constraints

    The equations are d/dt dL/dv_i - dL/dq_i = Q_i - sum_k lam_k dC_k/dq_i - sum_k mu_k dpsi_k/dv_i. So a multiplier is
    no force: the force of constraint k on coordinate i is -lam_k dC_k/dq_i.

    With `parameters`, each function takes them as a last argument with attributes (`p.mass`); they can be changed
    without deriving again. Coordinates named `A_x, A_y, A_z` are also the point `A` of the result. Where forces, time
    or velocity constraints do work, a column `work` integrates it, and the certificate says whether the energy
    v dL/dv - L less this work is kept.

    `draw` says what films, pages and plots show: {"points": {"O": (0, 0), "A": ("l*sin(theta)", "-l*cos(theta)")},
    "parts": ["OA"]}. A point has an expression of coordinates, parameters and t for each of its two or three
    coordinates, or is a function of (q, t); parts and "springs" are named by their points, "particles" are discs.
    """
    names = _names(coordinates)
    values = numbers(parameters or {}, tuple(parameters or {}), "parameters")
    functions = Functions(lagrangian, constraints, velocity_constraints, forces, reactive_forces)
    drawing = None if draw is None else drawing_of(draw, names, values)
    if drawing and drawing.place_count:
        functions = replace(functions, places=drawing.places, place_count=drawing.place_count)
    return LagrangianSystem(kind_of(functions, names, values), values, title, drawing)


def _names(coordinates: Sequence[str]) -> tuple[str, ...]:
    names = tuple(coordinates)
    if len(set(names)) != len(names) or not names:
        raise MechsimError(
            Fault(f"coordinates must have different names, but are {', '.join(map(str, names)) or 'none'}")
        )
    if "t" in names:
        raise MechsimError(Fault("no coordinate can be called t, for that is the time"))
    if odd := [name for name in names if not (isinstance(name, str) and name.isidentifier())]:
        hint = "letters, digits and _, as in Python: they become names of columns"
        raise MechsimError(Fault(f"{odd[0]!r} is no name for a coordinate", hint=hint))
    return names


class LagrangianSystem(Local, Dynamics, Optimization, Designing):
    """A user's Lagrangian with its equations, at any state, and its motions."""

    def simulate(
        self,
        positions: Mapping[str, float],
        velocities: Mapping[str, float] | None = None,
        *,
        tend: float,
        t0: float = 0.0,
        tol: float = DEFAULT_TOLERANCE,
        order: int | None = None,
        fixed: Sequence[str] = (),
        scales: Mapping[str, float] | None = None,
        parameters: Mapping[str, float] | None = None,
        tangents: Sequence[str] = (),
        accelerations: Sequence[str] = (),
        jerks: Sequence[str] = (),
    ) -> Motion:
        """The motion from t0 to tend. Start values are guesses, made consistent with the constraints.

        A coordinate named in `fixed` keeps its start values exactly. `scales` is the size an error of a coordinate is
        judged by: an error of `tol` times the scale counts. By default a coordinate is as large as the largest value it
        takes, in a rough run that is made first. `parameters` replace some. `tangents` name what the motion is
        differentiated by: parameters, coordinates of the start and their rates (`x`, `x_dot`), or "start".
        `accelerations` and `jerks` of coordinates, or of points that coordinates are, become columns.
        """
        from mechsim.engine import integrate
        from mechsim.simulation import CutShort, failure, setting_faults

        parameters = {**self.parameters, **numbers(parameters or {}, self.kind.parameters, "parameters")}
        asked = self._asked(positions, velocities or {}, fixed, (t0, tend))
        if faults := setting_faults(number(tol, "tol"), order, asked.t0.value, asked.tend.value):
            raise MechsimError(*faults)
        sized, structure, start = self._prepared(asked, parameters, self._scales(scales or {}), tol)
        if accelerations or jerks:
            sized = _telling(sized, accelerations, jerks)
        drawn = drawn_text(self.drawing, sized, start, parameters) if self.drawing else ""
        directions = None
        if tangents:
            names = (tangents,) if isinstance(tangents, str) else tangents
            stated = self._stated(asked, parameters, (sized, structure, start), self._scales(scales or {}))
            kept, directions = stated.directed(names)
            sized, structure = kept.system, kept.structure
        solution = integrate(
            sized, structure, start, tend=asked.tend.value, tolerance=tol, order=order, tangents=directions
        )
        settings: Settings = {"tol": tol, "order": order, "t0": t0, "tend": tend, "overrides": {}, "branch": None}
        if self.drawing:
            warn_of_limp_parts(self.drawing, solution, parameters)
        motion = Motion(solution, self._facts(settings, drawn))
        if solution.status == "interrupted":
            raise KeyboardInterrupt
        if solution.status != "finished":
            raise CutShort(failure(solution), motion)
        return motion

    def cycle(
        self,
        positions: Mapping[str, float],
        input: str,
        outputs: str | Sequence[str] = (),
        *,
        points: Mapping[str, Sequence[str]] | None = None,
        turning: Sequence[str] = (),
        t: float = 0.0,
        rows: int | None = None,
        fixed: Sequence[str] = (),
        parameters: Mapping[str, float] | None = None,
    ) -> Cycle:
        """All poses that constraints with one freedom allow, as they are at t: see `MechanismHandle.cycle`. `points`
        are expressions of coordinates, by name; coordinates that are `turning` are the same again after 2 pi."""
        from mechsim.analysis.cycle import ROWS, cycle_of
        from mechsim.analysis.round import gone_round

        subject = self._subject(positions, {}, (t, t + 1.0), fixed=fixed, parameters=parameters)
        way = said(
            lambda: gone_round(subject.case({}), subject.names, subject.numbers({}), input=input, turning=turning)
        )
        return cycle_of(way, input, (outputs,) if isinstance(outputs, str) else outputs, None, points, rows or ROWS)

    def _is_start(self, name: str) -> bool:
        return name not in self.parameters and name.removesuffix("_dot") in self._names

    def _checked(self, t0: float, tend: float, tol: float, order: int | None) -> tuple[float, float]:
        """Times as numbers. Raises MechsimError for settings that are wrong."""
        from mechsim.simulation import setting_faults

        times = number(t0, "t0"), number(tend, "tend")
        if faults := setting_faults(number(tol, "tol"), order, *times):
            raise MechsimError(*faults)
        return times

    def _subject(
        self,
        positions: Mapping[str, float],
        velocities: Mapping[str, float],
        times: tuple[float, float],
        *,
        fixed: Sequence[str] = (),
        scales: Mapping[str, float] | None = None,
        parameters: Mapping[str, float] | None = None,
        tol: float = DEFAULT_TOLERANCE,
        starts: Sequence[str] = (),
    ) -> LagrangianSubject:
        """Motions from this start, for analyses; sizes of coordinates are those between the `times`, with the system's
        own parameters. `starts` are start values that may vary as parameters do: coordinates, and rates as `x_dot`."""
        from mechsim.facility.subject import LagrangianSubject
        from mechsim.facility.tuned import Family, Tuned
        from mechsim.structure import analyse

        given = {**self.parameters, **numbers(parameters or {}, self.kind.parameters, "parameters")}
        asked, known = self._asked(positions, velocities, fixed, times), self._scales(scales or {})
        first = self._prepared(asked, given, known, tol)
        sizes = [variable.scale for variable in first[0].mechanism.variables]
        own = {name: _start_value(name, positions, velocities) for name in starts}

        def made(values: Mapping[str, float]) -> Tuned:
            system = self._with(values).rebuilt(self._mechanism(values, sizes))
            return Tuned(self._mechanism, values, system, analyse(system))

        def started(values: Mapping[str, float]) -> Problem:
            q, v = dict(positions), dict(velocities)
            for name, value in values.items():
                if name in self._names:
                    q[name] = value
                else:
                    v[name.removesuffix("_dot")] = value
            return problem_of(self.mechanism, q, v, set(fixed), times)

        def stated(values: Mapping[str, float], state: State | None) -> Stated:
            here = {name: float(values.get(name, value)) for name, value in own.items()}
            now = {name: float(values.get(name, value)) for name, value in given.items()}
            if state is not None:
                system, structure, plan = family.problem(now)
                return replace(self._stated(asked, now, (system, structure, state), known), plan=plan)
            if now == given and here == own:
                found = self._stated(asked, given, first, known)
            else:
                problem = started(here)
                system, structure, start, _ = self._consistent(problem, now, known)
                sized = system.rebuilt(self._mechanism(now, sizes))
                found = self._stated(problem, now, (sized, structure, start), known)
            return replace(found, starts=here, started=started if own else None)

        family = Family(made, given)
        return LagrangianSubject({**given, **own}, stated, family, own, times, tol)

    def _dynamic(
        self,
        start: tuple[Mapping[str, float], Mapping[str, float]],
        times: tuple[float, float | None],
        fixed: Sequence[str],
        scales: Mapping[str, float] | None,
        parameters: Mapping[str, float] | None,
    ) -> LagrangianSubject:
        t0, tend = times
        if tend is None and not set(self._names) <= set(scales or {}):
            message = "nobody says how large coordinates are"
            raise MechsimError(Fault(message, hint="give tend, how far a motion is followed for it, or scales for all"))
        end = t0 + 1.0 if tend is None else tend
        return self._subject(*start, (t0, end), fixed=fixed, scales=scales, parameters=parameters)

    def _stated(
        self,
        asked: Problem,
        parameters: Mapping[str, float],
        problem: tuple[System, Structure, InitialState],
        scales: Array,
    ) -> Stated:
        from mechsim.facility.subject import Stated

        def guessed(parameters: Mapping[str, float]) -> Array:
            return self._guessed(asked, parameters, scales)[1]

        settings: Settings = {"t0": float(asked.t0), "tend": float(asked.tend), "overrides": {}, "branch": None}
        drawn = drawn_text(self.drawing, problem[0], problem[2], parameters) if self.drawing else ""
        return Stated(self._mechanism, parameters, asked, *problem, guessed, self._facts(settings, drawn))


def _telling(system: System, accelerations: Sequence[str], jerks: Sequence[str]) -> System:
    """With columns of these. Raises MechsimError for names that have none."""
    from mechsim.result.accelerations import columns_of

    asked = [tuple([each] if isinstance(each, str) else each) for each in (accelerations, jerks)]
    for name in (each for names in asked for each in names):
        columns_of(system.mechanism, name)
    told = copy(system)
    told.mechanism = replace(system.mechanism, accelerations=asked[0], jerks=asked[1])
    return told


def _start_value(name: str, positions: Mapping[str, float], velocities: Mapping[str, float]) -> float:
    """A coordinate without a start value starts from 0."""
    return number(
        positions.get(name, velocities.get(name.removesuffix("_dot"), 0.0) if name.endswith("_dot") else 0.0), name
    )
