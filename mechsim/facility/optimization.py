"""How motions of a user's Lagrangian change, and what is best for them: what it can be asked by designers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mechsim.design.optimum import Optimum
    from mechsim.design.sensitivities import Sensitivity
    from mechsim.design.standing import Iteration
    from mechsim.facility.subject import LagrangianSubject

Values = Mapping[str, float]

TOLERANCE = 1e-12


class Optimization(ABC):
    """What LagrangianSystem takes of it."""

    def sensitivity(
        self,
        positions: Values,
        velocities: Values | None = None,
        *,
        tend: float,
        measures: str | Sequence[str] = (),
        by: str | Sequence[str] = (),
        curves: str | Sequence[str] = (),
        tolerances: Mapping[str, float | str] | None = None,
        t0: float = 0.0,
        tol: float = TOLERANCE,
        order: int | None = None,
        fixed: Sequence[str] = (),
        scales: Values | None = None,
        parameters: Values | None = None,
    ) -> Sensitivity:
        """Exact derivatives of measures ("max(x)"), and of quantities along the motion (`curves`), by parameters,
        coordinates of the start and their rates (`x`, `x_dot`), or "tend": see `MechanismHandle.sensitivity`."""
        from mechsim.design.course import Settings
        from mechsim.design.sensitivity import sensitivity

        times = self._checked(t0, tend, tol, order)
        subject = self._subject(
            positions, velocities or {}, times, fixed=fixed, scales=scales, parameters=parameters, tol=tol
        )
        settings = Settings(times[1], tol, order)
        return sensitivity(subject, measures, by, curves=curves, tolerances=tolerances, settings=settings)

    def optimize(
        self,
        positions: Values,
        velocities: Values | None = None,
        *,
        tend: float,
        vary: Mapping[str, str | Sequence[float | None]],
        minimise: str | None = None,
        squares: Sequence[str] = (),
        through: Mapping[str, Sequence[Sequence[float]]] | None = None,
        fit: str | Path | None = None,
        subject: Sequence[str] = (),
        t0: float = 0.0,
        tol: float = TOLERANCE,
        order: int | None = None,
        fixed: Sequence[str] = (),
        scales: Values | None = None,
        parameters: Values | None = None,
        iterations: int | None = None,
        observer: Callable[[Iteration], None] | None = None,
    ) -> Optimum:
        """The parameters, start values (`x`, `x_dot`) or end that are best, between bounds: see
        `MechanismHandle.optimize`."""
        from mechsim.design.course import Settings
        from mechsim.design.wanted import optimum_of, wanted_of

        times = self._checked(t0, tend, tol, order)
        starts = [name for name in vary if self._is_start(name)]
        motions = self._subject(
            positions,
            velocities or {},
            times,
            fixed=fixed,
            scales=scales,
            parameters=parameters,
            tol=tol,
            starts=starts,
        )
        wanted = wanted_of(vary, minimise, squares, through, fit, subject)
        return optimum_of(wanted, motions, Settings(None, tol, order), iterations=iterations, observer=observer)

    @abstractmethod
    def _is_start(self, name: str) -> bool:
        """Whether it is a coordinate or a rate, and no parameter."""

    @abstractmethod
    def _checked(self, t0: float, tend: float, tol: float, order: int | None) -> tuple[float, float]:
        """Times as numbers. Raises MechsimError for settings that are wrong."""

    @abstractmethod
    def _subject(
        self,
        positions: Values,
        velocities: Values,
        times: tuple[float, float],
        *,
        fixed: Sequence[str] = (),
        scales: Values | None = None,
        parameters: Values | None = None,
        tol: float = TOLERANCE,
        starts: Sequence[str] = (),
    ) -> LagrangianSubject:
        """Motions from this start."""
