"""How motions of a file's mechanism change, and what is best for them: what a handle can be asked by designers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mechsim.simulation import adjust

if TYPE_CHECKING:
    from mechsim.design.optimum import Optimum
    from mechsim.design.sensitivities import Sensitivity
    from mechsim.design.standing import Iteration
    from mechsim.handle.subject import FileSubject


class Optimization(ABC):
    """What MechanismHandle takes of it."""

    def sensitivity(
        self,
        measures: str | Sequence[str] = (),
        by: str | Sequence[str] = (),
        *,
        curves: str | Sequence[str] = (),
        tolerances: Mapping[str, float | str] | None = None,
        parameters: Mapping[str, float] | None = None,
        tol: float | None = None,
        order: int | None = None,
        t0: float | None = None,
        tend: float | None = None,
    ) -> Sensitivity:
        """Exact derivatives of measures ("max(A_y)"), and of quantities along the motion (`curves`, "A_x"), by
        parameters, inputs, coordinates of the start and their rates (`A_x`, `A_x_dot`), or "tend"; by all parameters if
        nothing is named. `tolerances` of parameters, {"l": 0.01, "k": "5%"}, tell which matters most."""
        from mechsim.design.course import Settings
        from mechsim.design.sensitivity import sensitivity

        subject = self._measurable(t0)
        handle = subject.handle
        adjust(handle.spec, tol=tol, order=order, t0=t0, tend=tend)  # a mistake is told here and now
        return sensitivity(
            subject,
            measures,
            by,
            curves=curves,
            tolerances=handle.spec.tolerances if tolerances is None else tolerances,
            parameters=handle._numbers(parameters or {}),
            settings=Settings(tend, tol, order),
        )

    def optimize(
        self,
        vary: Mapping[str, str | Sequence[float | None]] | None = None,
        minimise: str | None = None,
        *,
        squares: str | Sequence[str] = (),
        through: Mapping[str, Sequence[Sequence[float]]] | None = None,
        fit: str | Path | None = None,
        subject: str | Sequence[str] = (),
        tol: float | None = None,
        order: int | None = None,
        t0: float | None = None,
        tend: float | None = None,
        iterations: int | None = None,
        output: str | Path | None = None,
        resume: bool = False,
        observer: Callable[[Iteration], None] | None = None,
    ) -> Optimum:
        """The parameters, inputs or end that are best: `vary` has names with bounds, {"l": (0.5, 2)}, of an input also
        a number of intervals, {"u": (-5, 5, 20)}. A measure is to be least (`minimise`), or a sum of squares: of
        measures, of the distances of points from places they are to come `through`, of what is left of a file's columns
        (`fit`); `subject` to relations, ["max(A_y) <= 1"]. What is not given is as the file's Optimize says.

        What is best so far goes to `output` (.json, or .yaml with the mechanism's file); `resume` goes on from it.
        """
        from mechsim.design.course import Settings
        from mechsim.handle.optimizing import Given, optimize_file

        motions = self._measurable(t0, strict=True)
        adjust(motions.handle.spec, tol=tol, order=order, t0=t0, tend=tend)  # a mistake is told here and now
        return optimize_file(
            motions,
            Given(vary, minimise, squares, through, fit, subject),
            Settings(tend, tol, order),
            iterations=iterations,
            output=output,
            resume=resume,
            observer=observer,
        )

    @abstractmethod
    def _measurable(self, t0: float | None, *, strict: bool = False) -> FileSubject:
        """Motions of the file, from a time; `strict` as FileSubject has it."""
