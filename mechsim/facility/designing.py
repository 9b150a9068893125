"""What a designer asks of a user's Lagrangian: forces for a motion, what coordinates can reach together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mechsim.errors import Fault, SpecError
from mechsim.facility.dynamics import TOLERANCE
from mechsim.facility.functions import said
from mechsim.facility.lowering import NOWHERE

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mechsim.analysis.flow import Flow
    from mechsim.analysis.limits import Limits
    from mechsim.analysis.needs import Inverse
    from mechsim.analysis.prescribed import Prescribed
    from mechsim.analysis.workspace import Workspace
    from mechsim.facility.drawing import Drawing
    from mechsim.facility.rows import Drives
    from mechsim.facility.system import LagrangianSystem
    from mechsim.result.layout import Array

Values = Mapping[str, float]
ENDS = "not-a-knot"  # of cubic tables


class Designing(ABC):
    """What LagrangianSystem takes of it."""

    drawing: Drawing | None
    parameters: dict[str, float]

    def inverse(
        self,
        motions: Mapping[str, str | tuple[ArrayLike, ArrayLike]] | None = None,
        positions: Values | None = None,
        velocities: Values | None = None,
        *,
        table: str | Path | None = None,
        kind: str = "quintic",
        t0: float | None = None,
        tend: float | None = None,
        tol: float = TOLERANCE,
        fixed: Sequence[str] = (),
        scales: Values | None = None,
        parameters: Values | None = None,
    ) -> Inverse:
        """The generalised forces that a motion needs: see `MechanismHandle.inverse`. `motions` are of coordinates, or
        of expressions of these, {"q1": "0.5*sin(3*t)", "q2 - q1": (t, values)}; positions and velocities are guesses
        for what these leave open."""
        from mechsim.analysis.needs import Inverse, needs_of
        from mechsim.analysis.prescribed import Prescribed, beyond, checked_times, left_free, undriven
        from mechsim.simulation import CutShort

        prescribed = Prescribed.of(motions or {}, table, spoken=False)
        if not prescribed.formulas and not prescribed.tables:
            raise SpecError(Fault("no motion is given", hint='say what moves, and how: {"q1": "0.5*sin(3*t)"}'))
        start, end = checked_times(prescribed, kind, t0, tend)
        if end is None:
            raise SpecError(Fault("nothing says when the motion ends", hint="give tend"))
        times = start or 0.0, end
        prescribed.check_covers(*times)
        known = {**self.parameters, **(parameters or {})}
        driven = self._driven(_drives(prescribed, kind, times))
        try:
            motion = driven.simulate(
                positions or {},
                velocities,
                t0=times[0],
                tend=times[1],
                fixed=fixed,
                scales=scales,
                parameters=parameters,
                tol=tol,
            )
        except CutShort as error:
            raise beyond(error, prescribed, known, end) from None
        freedoms = left_free(motion)
        return Inverse(motion, freedoms, needs_of(motion), "", undriven(freedoms))

    def workspace(
        self,
        of: str | Sequence[str],
        positions: Values,
        *,
        limits: Limits | None = None,
        hold: Mapping[str, float | str] | None = None,
        turning: Sequence[str] = (),
        t: float = 0.0,
        fixed: Sequence[str] = (),
        scales: Values | None = None,
        parameters: Values | None = None,
    ) -> Workspace:
        """What two expressions of coordinates, or a point that is drawn, reach together: see
        `MechanismHandle.workspace`. Coordinates that are `turning` are the same again after 2 pi. `scales` say how far
        others go, where the start does not tell."""
        from mechsim.analysis.workspace import workspace_of
        from mechsim.facility.reaching import limit_rows, reach_of, sized
        from mechsim.facility.rows import asked_rows

        names = self._axes(of)
        rows = limit_rows(limits or {})
        held = {f"what is held: {name}": f"({name}) - ({value})" for name, value in (hold or {}).items()}
        goals = {f"axis {k}": text for k, text in enumerate(names.values())}
        known = {**self.parameters, **(parameters or {})}
        flow, (at, q, _) = self._flow(positions, {}, t, fixed, parameters)
        mechanism = sized(flow.system.mechanism, turning, scales or {})
        reach = said(lambda: reach_of(flow.system, asked_rows(mechanism, known, (goals, held, rows)), at, q))
        x, y = names
        return workspace_of(reach, (x, y), ("", ""), tuple(rows))

    def _axes(self, of: str | Sequence[str]) -> dict[str, str]:
        """What the axes are called, and their expressions."""
        texts = self._point(of) if isinstance(of, str) else {each: each for each in of}
        if len(texts) != 2:
            hint = "a section of what is reached in space is that of two expressions"
            message = f"a workspace is of a point or of two expressions, not of {len(texts)}"
            raise SpecError(Fault(message, hint=hint))
        return texts

    def _point(self, name: str) -> dict[str, str]:
        """The coordinates of a point, as expressions."""
        own = [label for label in (f"{name}_x", f"{name}_y", f"{name}_z") if label in self.coordinates]
        if own:
            return {label: label for label in own}
        places = () if self.drawing is None else (*self.drawing.places.moving, *self.drawing.fixed)
        for place in places:
            if place.name == name and isinstance(place.by, tuple):
                return {f"{name}_{axis}": each.text for axis, each in zip("xyz", place.by, strict=False)}
        hint = "draw it by expressions of coordinates, or give two expressions"
        raise SpecError(Fault(f"there is no point {name}", hint=hint))

    @property
    @abstractmethod
    def coordinates(self) -> tuple[str, ...]:
        """All variables by name."""

    @abstractmethod
    def _driven(self, drives: Drives) -> LagrangianSystem:
        """The system, with these."""

    @abstractmethod
    def _flow(
        self, positions: Values, velocities: Values, t: float, fixed: Sequence[str], parameters: Values | None
    ) -> tuple[Flow, tuple[float, Array, Array]]: ...


def _drives(prescribed: Prescribed, kind: str, times: tuple[float, float]) -> Drives:
    from mechsim.facility.rows import Drives
    from mechsim.spec.actions import Table
    from mechsim.spec.document import Number, Problem

    tables = {
        name: Table(
            name, tuple(t.tolist()), tuple(values.tolist()), prescribed.spline(name, kind), ENDS, False, NOWHERE
        )
        for name, (t, values) in prescribed.tables.items()
    }
    t0, tend = (Number(each, repr(each), NOWHERE) for each in times)
    return Drives({**prescribed.formulas, **tables}, Problem(t0, tend, {}, {}, {}, {}))
