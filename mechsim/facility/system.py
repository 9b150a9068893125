"""A mechanical system from its Lagrangian, and its motion."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mechsim._version import __version__
from mechsim.equations import Equations
from mechsim.errors import AssemblyError, DrawingWarning, Fault, IntegrationError, MechsimError
from mechsim.facility.drawing import Draw, Drawing, drawing_of, limp_part, text_of
from mechsim.facility.functions import Function, Functions, kind_of, said
from mechsim.facility.lowering import mechanism_of, number, numbers, problem_of, without_place
from mechsim.kernel.system import System
from mechsim.lagrangian.kind import Kind
from mechsim.model.mechanism import Mechanism
from mechsim.result import Motion
from mechsim.result.layout import Array
from mechsim.result.trajectory import Facts, Settings
from mechsim.spec.document import Problem

if TYPE_CHECKING:
    from mechsim.analysis.exponents import Exponents
    from mechsim.analysis.flow import Flow
    from mechsim.analysis.linear import Linearised
    from mechsim.analysis.rest import Rest
    from mechsim.engine import Solution
    from mechsim.facility.sizes import Sizes
    from mechsim.facility.subject import LagrangianSubject, Stated
    from mechsim.initial import Start
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


class LagrangianSystem(Equations):
    """A user's Lagrangian with its equations, at any state, and its motions."""

    def __init__(self, kind: Kind, parameters: Mapping[str, float], title: str, drawing: Drawing | None = None):
        self.kind = kind
        self.parameters = dict(parameters)
        self.title = title
        self.drawing = drawing
        self._names = kind.variables[:-1] if kind.account else kind.variables
        self._variants: dict[frozenset[str], System] = {}
        self._system = self._with(self.parameters)

    @property
    def system(self) -> System:
        return self._system

    def _with(self, parameters: Mapping[str, float]) -> System:
        """The equations with these parameters; zeros change the structure, so each set of them is derived once."""
        zeros = frozenset(name for name, value in parameters.items() if value == 0)
        mechanism = self._mechanism(parameters, [1.0] * len(self.kind.variables))
        if zeros not in self._variants:
            self._variants[zeros] = said(lambda: System(mechanism, {self.kind.name: self.kind}))
        return self._variants[zeros].rebuilt(mechanism)

    def _mechanism(self, parameters: Mapping[str, float], scales: Sequence[float]) -> Mechanism:
        return mechanism_of(self.kind, parameters, self.title, scales, self.drawing.labels if self.drawing else ())

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
    ) -> Motion:
        """The motion from t0 to tend. Start values are guesses, made consistent with the constraints.

        A coordinate named in `fixed` keeps its start values exactly. `scales` is the size an error of a coordinate is
        judged by: an error of `tol` times the scale counts. By default a coordinate is as large as the largest value it
        takes, in a rough run that is made first. `parameters` replace some. `tangents` name what the motion is
        differentiated by: parameters, coordinates of the start and their rates (`x`, `x_dot`), or "start".
        """
        from mechsim.engine import integrate
        from mechsim.simulation import CutShort, failure, setting_faults

        parameters = {**self.parameters, **numbers(parameters or {}, self.kind.parameters, "parameters")}
        asked = self._asked(positions, velocities or {}, fixed, (t0, tend))
        if faults := setting_faults(number(tol, "tol"), order, asked.t0.value, asked.tend.value):
            raise MechsimError(*faults)
        sized, structure, start = self._prepared(asked, parameters, self._scales(scales or {}), tol)
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
        facts: Facts = {
            "title": self.title,
            "spec_path": "",
            "spec_text": "",
            "version": __version__,
            "settings": settings,
        }
        if self.drawing:
            facts["drawing"] = drawn
            _warn_of_limp_parts(self.drawing, solution, parameters)
        motion = Motion(solution, facts)
        if solution.status == "interrupted":
            raise KeyboardInterrupt
        if solution.status != "finished":
            raise CutShort(failure(solution), motion)
        return motion

    def linearize(
        self,
        positions: Mapping[str, float],
        velocities: Mapping[str, float] | None = None,
        *,
        t: float = 0.0,
        rest: bool = False,
        coordinates: Sequence[str] | None = None,
        outputs: Sequence[str] | None = None,
        fixed: Sequence[str] = (),
        parameters: Mapping[str, float] | None = None,
    ) -> Linearised:
        """x' = A x, y = C x near a state, made consistent with the constraints, or near the `rest` nearest to it.
        x are changes of `coordinates` and of their rates, y of `outputs`: see `MechanismHandle.linearize`."""
        from mechsim.analysis.asked import Wanted, linear_at

        wanted = Wanted(None, rest, coordinates, (), outputs)
        return linear_at(*self._flow(positions, velocities or {}, t, fixed, parameters), wanted)

    def equilibria(
        self, positions: Mapping[str, float], *, t: float = 0.0, parameters: Mapping[str, float] | None = None
    ) -> tuple[Rest, ...]:
        """Rests that are found from these positions and from others that they can be moved to."""
        from mechsim.analysis.rest import rests

        flow, (_, q, _) = self._flow(positions, {}, t, (), parameters)
        return rests(flow, t, q)

    def _flow(
        self,
        positions: Mapping[str, float],
        velocities: Mapping[str, float],
        t: float,
        fixed: Sequence[str],
        parameters: Mapping[str, float] | None,
    ) -> tuple[Flow, tuple[float, Array, Array]]:
        from mechsim.analysis.flow import Flow

        parameters = {**self.parameters, **numbers(parameters or {}, self.kind.parameters, "parameters")}
        asked = self._asked(positions, velocities, fixed, (t, t + 1.0))
        system, _, start, _ = self._consistent(asked, parameters, self._scales({}))
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
        from mechsim.simulation import setting_faults

        tol = TOLERANCE if tol is None else number(tol, "tol")
        transient = number(transient, "transient")
        parameters = {**self.parameters, **numbers(parameters or {}, self.kind.parameters, "parameters")}
        asked = self._asked(positions, velocities or {}, fixed, (t0, tend))
        if faults := setting_faults(tol, order, asked.t0.value, asked.tend.value):
            raise MechsimError(*faults)
        problem = self._prepared(asked, parameters, self._scales(scales or {}), tol)
        return lyapunov(*problem, tend=asked.tend.value, n=n, transient=transient, tolerance=tol, order=order)

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

    def _scales(self, given: Mapping[str, float]) -> Array:
        """Of all variables; NaN where nobody says it."""
        known = numbers(given, self._names, "scales")
        if wrong := [name for name, scale in known.items() if not scale > 0]:
            raise MechsimError(Fault(f"scales of {wrong[0]} must be above 0, but is {known[wrong[0]]:g}"))
        return np.array([known.get(name, np.nan) for name in self.kind.variables])

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
    ) -> LagrangianSubject:
        """Motions from this start, for analyses; sizes of coordinates are those between the `times`, with the system's
        own parameters."""
        from mechsim.facility.subject import LagrangianSubject

        given = {**self.parameters, **numbers(parameters or {}, self.kind.parameters, "parameters")}
        asked, known = self._asked(positions, velocities, fixed, times), self._scales(scales or {})
        first = self._prepared(asked, given, known, tol)
        sizes = [variable.scale for variable in first[0].mechanism.variables]

        def stated(parameters: Mapping[str, float]) -> Stated:
            if parameters == given:
                return self._stated(asked, given, first, known)
            system, structure, start, _ = self._consistent(asked, parameters, known)
            sized = system.rebuilt(self._mechanism(parameters, sizes))
            return self._stated(asked, parameters, (sized, structure, start), known)

        return LagrangianSubject(given, stated)

    def _stated(
        self, asked: Problem, parameters: Mapping[str, float], problem: tuple[System, Structure, Start], scales: Array
    ) -> Stated:
        from mechsim.facility.subject import Stated

        def guessed(parameters: Mapping[str, float]) -> Array:
            return self._guessed(asked, parameters, scales)[1]

        return Stated(self._mechanism, parameters, asked, *problem, guessed)

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


def _drawn(drawing: Drawing, system: System, start: Start, parameters: Mapping[str, float]) -> str:
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
