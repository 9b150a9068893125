"""A mechanical system from its Lagrangian, and its motion."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mechsim._version import __version__
from mechsim.equations import Equations
from mechsim.errors import AssemblyError, DrawingWarning, Fault, IntegrationError, MechsimError
from mechsim.facility.designing import Designing
from mechsim.facility.drawing import Draw, Drawing, drawing_of, limp_part, text_of
from mechsim.facility.dynamics import Dynamics
from mechsim.facility.functions import Function, Functions, kind_of, said
from mechsim.facility.lowering import mechanism_of, number, numbers, problem_of, without_place
from mechsim.facility.optimization import Optimization
from mechsim.kernel.system import System
from mechsim.lagrangian.kind import Kind
from mechsim.model.mechanism import Mechanism
from mechsim.result import Motion
from mechsim.result.layout import Array
from mechsim.result.trajectory import Facts, Settings
from mechsim.spec.document import Problem

if TYPE_CHECKING:
    from mechsim.analysis.cycle import Cycle
    from mechsim.analysis.exponents import Exponents
    from mechsim.analysis.flow import Flow
    from mechsim.analysis.invariants import Invariants
    from mechsim.analysis.linear import Linearised
    from mechsim.analysis.rest import Rest
    from mechsim.analysis.steady import Steady
    from mechsim.engine import InitialState, Solution, State
    from mechsim.facility.rows import Drives
    from mechsim.facility.sizes import Sizes
    from mechsim.facility.subject import LagrangianSubject, Stated
    from mechsim.facility.symmetries import Questions
    from mechsim.initial import Start
    from mechsim.result import Trajectory
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


class LagrangianSystem(Equations, Dynamics, Optimization, Designing):
    """A user's Lagrangian with its equations, at any state, and its motions."""

    def __init__(self, kind: Kind, parameters: Mapping[str, float], title: str, drawing: Drawing | None = None):
        self.kind = kind
        self.parameters = dict(parameters)
        self.title = title
        self.drawing = drawing
        self._names = kind.variables[:-1] if kind.account else kind.variables
        self._drives: Drives | None = None
        self._variants: dict[frozenset[str], System] = {}
        self._system = self._with(self.parameters)

    @property
    def system(self) -> System:
        return self._system

    def _with(self, parameters: Mapping[str, float]) -> System:
        """The equations with these parameters; zeros change the structure, so each set of them is derived once."""
        zeros = frozenset(name for name, value in parameters.items() if value == 0)
        mechanism = self._mechanism(parameters, [1.0] * len(self._variables))
        if zeros not in self._variants:
            self._variants[zeros] = said(lambda: System(mechanism, {self.kind.name: self.kind}))
        return self._variants[zeros].rebuilt(mechanism)

    def _mechanism(self, parameters: Mapping[str, float], scales: Sequence[float]) -> Mechanism:
        n = len(self.kind.variables)
        drawn = self.drawing.labels if self.drawing else ()
        own = mechanism_of(self.kind, parameters, self.title, scales[:n], drawn)
        return own if self._drives is None else self._drives.added(own, parameters, scales[n:])

    @property
    def _variables(self) -> tuple[str, ...]:
        return (*self.kind.variables, *(self._drives.accounts if self._drives is not None else ()))

    def _driven(self, drives: Drives) -> LagrangianSystem:
        """The same with motions that are prescribed."""
        driven = copy(self)
        driven._drives, driven._variants = drives, {}
        driven._system = driven._with(self.parameters)
        return driven

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
        drawn = _drawn(self.drawing, sized, start, parameters) if self.drawing else ""
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
            _warn_of_limp_parts(self.drawing, solution, parameters)
        motion = Motion(solution, self._facts(settings, drawn))
        if solution.status == "interrupted":
            raise KeyboardInterrupt
        if solution.status != "finished":
            raise CutShort(failure(solution), motion)
        return motion

    def _facts(self, settings: Settings, drawn: str) -> Facts:
        """What files of results carry."""
        facts: Facts = {
            "title": self.title,
            "spec_path": "",
            "spec_text": "",
            "version": __version__,
            "settings": settings,
        }
        return {**facts, "drawing": drawn} if self.drawing else facts

    def linearize(
        self,
        positions: Mapping[str, float],
        velocities: Mapping[str, float] | None = None,
        *,
        t: float = 0.0,
        rest: bool = False,
        coordinates: Sequence[str] | Mapping[str, Function | None] | None = None,
        outputs: Sequence[str] | None = None,
        fixed: Sequence[str] = (),
        parameters: Mapping[str, float] | None = None,
        steady: bool = False,
    ) -> Linearised:
        """x' = A x, y = C x near a state, made consistent with the constraints, or near the `rest` nearest to it.
        x are changes of `coordinates` and of their rates, y of `outputs`: see `MechanismHandle.linearize`. Coordinates
        may be functions of (q, t), parameters last, by names of your own: {"r": lambda q, t: q[0] - q[1]}."""
        from mechsim.analysis.asked import Wanted, linear_at
        from mechsim.facility.symmetries import Questions

        given = coordinates if isinstance(coordinates, Mapping) else dict.fromkeys(coordinates or ())
        functions = {name: function for name, function in given.items() if function is not None}
        names = None if coordinates is None else tuple(given)
        told = Questions.about(self, functions) if functions else None
        flow, state = self._flow(positions, velocities or {}, t, fixed, parameters, told)
        same = {name: name for name in functions}
        return linear_at(flow, state, Wanted(None, rest, names, (), outputs, steady, same))

    def mode_motions(
        self, linear: Linearised, *, parameters: Mapping[str, float] | None = None
    ) -> tuple[Trajectory, ...]:
        """The modes of a linear motion, enlarged and put back on the constraints, as tables that can be saved and, with
        `draw`, be drawn; `parameters` as it was linearised with."""
        from mechsim.analysis.modes import Shown, motions_of_modes
        from mechsim.engine import State

        values = {**self.parameters, **(parameters or {})}
        known = {name: linear.positions[linear.coordinates.index(name)] for name in self._names}
        flow, (t, q, v) = self._flow(known, {}, linear.t, (), parameters)
        drawn = _drawn(self.drawing, flow.system, State(t, q, v), values) if self.drawing else ""
        settings: Settings = {"t0": t, "tend": t, "overrides": {}, "branch": None}
        return motions_of_modes(Shown(flow.system, flow.system, self._facts(settings, drawn)), linear, self.title)

    def equilibria(
        self, positions: Mapping[str, float], *, t: float = 0.0, parameters: Mapping[str, float] | None = None
    ) -> tuple[Rest, ...]:
        """Rests that are found from these positions and from others that they can be moved to."""
        from mechsim.analysis.rest import rests

        flow, (_, q, _) = self._flow(positions, {}, t, (), parameters)
        return rests(flow, t, q)

    def steady_motions(
        self,
        positions: Mapping[str, float],
        velocities: Mapping[str, float] | None = None,
        *,
        t: float = 0.0,
        parameters: Mapping[str, float] | None = None,
    ) -> tuple[Steady, ...]:
        """Motions in which some coordinates that no equation notices go on steadily, and all others stand still: those
        that are found from a state, with its momenta along such coordinates."""
        from mechsim.analysis.steady import steady_motions

        flow, (_, q, v) = self._flow(positions, velocities or {}, t, (), parameters)
        return steady_motions(flow, t, q, v)

    def _flow(
        self,
        positions: Mapping[str, float],
        velocities: Mapping[str, float],
        t: float,
        fixed: Sequence[str],
        parameters: Mapping[str, float] | None,
        told: Questions | None = None,
    ) -> tuple[Flow, tuple[float, Array, Array]]:
        """The flow, with elements that tell what is asked, and the state."""
        from mechsim.analysis.flow import Flow

        parameters = {**self.parameters, **numbers(parameters or {}, self.kind.parameters, "parameters")}
        asked = self._asked(positions, velocities, fixed, (t, t + 1.0))
        system, _, start, _ = self._consistent(asked, parameters, self._scales({}))
        if told is not None:
            system = said(lambda: told.told_by(system))
        return Flow(system, start.t, start.positions), (start.t, start.positions, start.velocities)

    def lyapunov(
        self,
        positions: Mapping[str, float],
        velocities: Mapping[str, float] | None = None,
        *,
        tend: float,
        n: int | None = None,
        transient: float = 0.0,
        t0: float = 0.0,
        tol: float | None = None,
        order: int | None = None,
        fixed: Sequence[str] = (),
        scales: Mapping[str, float] | None = None,
        parameters: Mapping[str, float] | None = None,
    ) -> Exponents:
        """The Lyapunov exponents of the motion from t0 on, or the `n` largest: averages from `transient` after t0 to
        `tend`, with error bars. Other arguments are as for `simulate`; `tol` is 1e-9 unless it is given."""
        from mechsim.analysis.lyapunov import TOLERANCE, lyapunov
        from mechsim.facility.sizes import UNSEEN
        from mechsim.simulation import setting_faults

        tol = TOLERANCE if tol is None else number(tol, "tol")
        transient = number(transient, "transient")
        parameters = {**self.parameters, **numbers(parameters or {}, self.kind.parameters, "parameters")}
        asked = self._asked(positions, velocities or {}, fixed, (t0, tend))
        if faults := setting_faults(tol, order, asked.t0.value, asked.tend.value):
            raise MechsimError(*faults)
        problem = self._prepared(asked, parameters, self._scales(scales or {}, work=UNSEEN), tol)
        return lyapunov(*problem, tend=asked.tend.value, n=n, transient=transient, tolerance=tol, order=order)

    def conserved(
        self,
        positions: Mapping[str, float],
        velocities: Mapping[str, float] | None = None,
        *,
        tend: float,
        generators: Mapping[str, Function] | None = None,
        quantities: Mapping[str, Function] | None = None,
        t0: float = 0.0,
        tol: float = DEFAULT_TOLERANCE,
        order: int | None = None,
        fixed: Sequence[str] = (),
        scales: Mapping[str, float] | None = None,
        parameters: Mapping[str, float] | None = None,
    ) -> Invariants:
        """What the Lagrangian conserves by Noether's theorem: the Hamiltonian, momenta of coordinates, and sums of
        these and of momenta in proportion to coordinates; and what the motion from t0 to tend made of them.

        `generators` are further motions G(q, t) of all coordinates, by name; `quantities` functions of (q, v, t) of
        which it is told whether they are conserved. With parameters, these come last. The rest is as for `simulate`.
        """
        from mechsim.analysis.conserved import conserved
        from mechsim.facility.symmetries import Questions

        asked = Questions.of(self, generators or {}, quantities or {})
        motion = self.simulate(
            positions,
            velocities,
            tend=tend,
            t0=t0,
            tol=tol,
            order=order,
            fixed=fixed,
            scales=scales,
            parameters=parameters,
        )
        system = motion.solution.system
        return conserved(motion.solution, asked.asked, asked.watched, said(lambda: asked.told_by(system)))

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

    def _asked(
        self,
        positions: Mapping[str, float],
        velocities: Mapping[str, float],
        fixed: Sequence[str],
        times: tuple[float, float],
    ) -> Problem:
        names = self._names
        levels = numbers(positions, names, "positions"), numbers(velocities, names, "velocities")
        numbers(dict.fromkeys(fixed, 0.0), names, "fixed")
        t0, tend = number(times[0], "t0"), number(times[1], "tend")
        return problem_of(self.mechanism, *levels, set(fixed), (t0, tend))

    def _scales(self, given: Mapping[str, float], work: float = np.nan) -> Array:
        """Of all variables, `work` of what forces have done; NaN where nobody says it."""
        known = numbers(given, self._names, "scales")
        if wrong := [name for name, scale in known.items() if not scale > 0]:
            raise MechsimError(Fault(f"scales of {wrong[0]} must be above 0, but is {known[wrong[0]]:g}"))
        return np.array([known.get(name, np.nan if name in self._names else work) for name in self._variables])

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
        drawn = _drawn(self.drawing, problem[0], problem[2], parameters) if self.drawing else ""
        return Stated(self._mechanism, parameters, asked, *problem, guessed, self._facts(settings, drawn))

    def _prepared(
        self, asked: Problem, parameters: Mapping[str, float], scales: Array, tol: float
    ) -> tuple[System, Structure, Start]:
        """The system with its scales, its structure, and a consistent start."""
        from mechsim.facility.sizes import Reach

        system, structure, start, sizes = self._consistent(asked, parameters, scales)

        def sized(sizes: Array) -> System:
            return system.rebuilt(self._mechanism(parameters, sizes.tolist()))

        def follow(rough: Array) -> Reach:
            return Reach(sized(rough), structure, start, asked.tend.value)

        return sized(sizes.reached(follow, start.positions, tol)), structure, start

    def _consistent(
        self, asked: Problem, parameters: Mapping[str, float], scales: Array
    ) -> tuple[System, Structure, Start, Sizes]:
        """The system with scales that are guessed where nobody says them, its structure, a start, and what finds better
        scales."""
        from mechsim.initial.problem import InitialValueProblem

        t0, (sizes, guessed, guess) = asked.t0.value, self._guessed(asked, parameters, scales)
        system = self._with(parameters).rebuilt(self._mechanism(parameters, guessed.tolist()))
        _check_constraints(system, t0, guess)
        problem = InitialValueProblem(system, asked)
        try:
            start = problem.start
        except AssemblyError as error:
            raise AssemblyError(*map(without_place, error.faults)) from error
        structure = problem.structure
        self._check_inertia(structure.march_variable_offsets)
        self._check_multipliers(system, start)
        _check_values(system, start)
        return system, structure, start, sizes

    def _guessed(self, asked: Problem, parameters: Mapping[str, float], scales: Array) -> tuple[Sizes, Array, Array]:
        """What finds scales, those that it guesses for the start, and where the start is guessed."""
        from mechsim.facility.sizes import Sizes
        from mechsim.initial.start import wishes

        unsized = self._with(parameters)
        guess = wishes(self.mechanism, asked)[0].written_into(np.zeros(unsized.n))
        sizes = Sizes(unsized, asked.t0.value, guess, scales)
        return sizes, sizes.guessed(guess), guess

    def _check_inertia(self, offsets: np.ndarray) -> None:
        """A coordinate without inertia has no velocity to start with: its equation would be one of balance."""
        massless = [name for name, offset in zip(self._names, offsets, strict=False) if offset == 0]
        if massless:
            hint = "give it a mass, or eliminate it by its balance of forces"
            raise MechsimError(Fault(f"the Lagrangian gives no inertia to {', '.join(massless)}", hint=hint))

    def _check_multipliers(self, system: System, start: Start) -> None:
        """Where constraints follow from each other, any multipliers with one sum of forces will do."""
        if self.kind.reactive and start.redundancy.rows:
            names = ", ".join(system.labels[system.n + row] for row in start.redundancy.rows)
            message = (
                f"reactive_forces are not determined: {names} follows from other constraints, and so no multiplier is"
            )
            hint = "remove it, or give forces that do not depend on multipliers"
            raise AssemblyError(Fault(message, hint=hint))


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


def _drawn(drawing: Drawing, system: System, start: InitialState, parameters: Mapping[str, float]) -> str:
    """The file that draws a motion with this start."""
    times, q, v = np.array([start.t]), start.positions[None], start.velocities[None]
    places = _places(drawing, system, (times, q, v), parameters)
    standing = drawing.standing(parameters)
    return text_of(drawing, system.mechanism.title, standing, {name: along[0] for name, along in places.items()})


def _warn_of_limp_parts(drawing: Drawing, solution: Solution, parameters: Mapping[str, float]) -> None:
    state = np.asarray(solution.t), solution.q, solution.v
    if limp := limp_part(drawing, _places(drawing, solution.system, state, parameters)):
        warnings.warn(DrawingWarning(limp), stacklevel=3)


def _places(
    drawing: Drawing, system: System, state: tuple[Array, Array, Array], parameters: Mapping[str, float]
) -> dict[str, Array]:
    """Where all points of a drawing are, at many states."""
    columns = {variable.label: state[1][:, i] for i, variable in enumerate(system.mechanism.variables)}
    return drawing.along(system.places(*state), columns, drawing.standing(parameters))


def _check_constraints(system: System, t: float, q: Array) -> None:
    with np.errstate(all="ignore"):
        values = *system.constraints(t, q), *system.constraint_jacobian(t, q)[2]
    if not np.isfinite(values).all():
        hint = "guess positions where they and their derivatives have values"
        raise AssemblyError(Fault(f"the constraints have no value where {_told(system, t, q)}", hint=hint))


def _check_values(system: System, start: Start) -> None:
    with np.errstate(all="ignore"):
        rows = system.residuals(start.t, start.positions, start.velocities, np.zeros(system.n), np.ones(system.m))
    if not np.isfinite(rows).all():
        told = _told(system, start.t, start.positions)
        hint = "start where the functions and their derivatives have values"
        raise IntegrationError(Fault(f"the motion cannot start: a function has no value where {told}", hint=hint))


def _told(system: System, t: float, q: Array) -> str:
    values = [f"{v.label} = {x:g}" for v, x in zip(system.mechanism.variables, q, strict=True) if v.kind != "state"]
    return ", ".join([*values, f"t = {t:g}"])
