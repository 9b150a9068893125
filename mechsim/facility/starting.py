"""A user's Lagrangian with its equations, and where its motions start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Self

import numpy as np

from mechsim._version import __version__
from mechsim.equations import Equations
from mechsim.errors import AssemblyError, Fault, IntegrationError, MechsimError
from mechsim.facility.drawing import Drawing
from mechsim.facility.functions import said
from mechsim.facility.lowering import mechanism_of, number, numbers, problem_of, without_place
from mechsim.kernel.system import System
from mechsim.lagrangian.kind import Kind
from mechsim.model.mechanism import Mechanism
from mechsim.result.layout import Array
from mechsim.result.trajectory import Facts, Settings
from mechsim.spec.document import Problem

if TYPE_CHECKING:
    from mechsim.analysis.flow import Flow
    from mechsim.facility.rows import Drives
    from mechsim.facility.sizes import Sizes
    from mechsim.facility.symmetries import Questions
    from mechsim.initial import Start
    from mechsim.structure import Structure


class Starting(Equations):
    """What LagrangianSystem is before anybody asks about motions."""

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

    def _driven(self, drives: Drives) -> Self:
        """The same with motions that are prescribed."""
        driven = copy(self)
        driven._drives, driven._variants = drives, {}
        driven._system = driven._with(self.parameters)
        return driven

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
