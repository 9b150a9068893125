"""Periodic motions of a user's Lagrangian, and how they change: what it can be asked about its dynamics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mechsim.analysis.basin import Basins
    from mechsim.analysis.branch import Branches
    from mechsim.analysis.measured import Texts
    from mechsim.analysis.orbit import Orbit
    from mechsim.analysis.section import Section
    from mechsim.facility.subject import LagrangianSubject
    from mechsim.result.layout import Array

Values = Mapping[str, float]
Held = Sequence[str] | Mapping[str, float | None]

TOLERANCE = 1e-12


class Dynamics(ABC):
    """What LagrangianSystem takes of it. `tend` is how far a motion is followed to know how large its coordinates are,
    unless `scales` say it for all, and to find a return, where nothing gives a period."""

    def periodic(
        self,
        positions: Values,
        velocities: Values | None = None,
        *,
        period: str | float | None = None,
        multiple: int = 1,
        since: float | None = None,
        hold: Held = (),
        tend: float | None = None,
        t0: float = 0.0,
        fixed: Sequence[str] = (),
        scales: Values | None = None,
        parameters: Values | None = None,
        tol: float = TOLERANCE,
    ) -> Orbit:
        """The periodic motion that is found from a start, or from where the motion is at the time `since`: see
        `MechanismHandle.periodic`."""
        from mechsim.analysis.periodic import periodic, wanted_of

        wanted = wanted_of(period, multiple, since, tend, hold)
        return periodic(
            self._dynamic((positions, velocities or {}), (t0, tend), fixed, scales, parameters), wanted, tol
        )

    def periodic_over(
        self,
        over: str,
        first: float,
        last: float,
        positions: Values,
        velocities: Values | None = None,
        *,
        period: str | float | None = None,
        measure: Texts | None = None,
        branches: int = 0,
        multiple: int = 1,
        since: float | None = None,
        hold: Held = (),
        tend: float | None = None,
        t0: float = 0.0,
        fixed: Sequence[str] = (),
        scales: Values | None = None,
        parameters: Values | None = None,
        tol: float = TOLERANCE,
    ) -> Branches:
        """Periodic motions followed over a parameter: see `MechanismHandle.periodic_over`."""
        from mechsim.analysis.following import Over, follow
        from mechsim.analysis.periodic import wanted_of

        wanted = wanted_of(period, multiple, since, tend, hold)
        subject = self._dynamic((positions, velocities or {}), (t0, tend), fixed, scales, parameters)
        return follow(subject, wanted, Over(over, first, last), measure, branches, tol)

    def response(
        self,
        over: str,
        first: float,
        last: float,
        of: Sequence[str],
        positions: Values,
        velocities: Values | None = None,
        *,
        period: str | None = None,
        branches: int = 0,
        since: float | None = None,
        tend: float | None = None,
        t0: float = 0.0,
        fixed: Sequence[str] = (),
        scales: Values | None = None,
        parameters: Values | None = None,
        tol: float = TOLERANCE,
    ) -> Branches:
        """The frequency response: see `MechanismHandle.response`."""
        from mechsim.analysis.response import harmonics, period_of

        return self.periodic_over(
            over,
            first,
            last,
            positions,
            velocities,
            period=period_of(over, period),
            measure=harmonics((of,) if isinstance(of, str) else of, period_of(over, period)),
            branches=branches,
            since=since,
            tend=tend,
            t0=t0,
            fixed=fixed,
            scales=scales,
            parameters=parameters,
            tol=tol,
        )

    def poincare(
        self,
        positions: Values,
        velocities: Values | None = None,
        *,
        period: str | float | None = None,
        section: str | None = None,
        direction: str = "up",
        event: str | None = None,
        points: int = 1000,
        transient: str | float = 0.0,
        columns: Sequence[str] | None = None,
        vary: Mapping[str, ArrayLike] | None = None,
        starts: Mapping[str, ArrayLike] | None = None,
        tend: float,
        t0: float = 0.0,
        fixed: Sequence[str] = (),
        scales: Values | None = None,
        parameters: Values | None = None,
        tol: float | None = None,
    ) -> Section:
        """Points at which motions pass a section: see `MechanismHandle.poincare`. Motions are about `tend` long."""
        from mechsim.analysis.cut import Cut, Wanted, settings
        from mechsim.analysis.sections import poincare

        varied, given = settings(vary), settings(starts)
        cut = Cut(period, section, direction, event)
        wanted = Wanted(cut, points, transient, columns, (None, None), varied, given)
        subject = self._among(given, (positions, velocities or {}), (t0, tend), fixed, scales, parameters)
        return poincare(subject, wanted, tend - t0, tol)

    def bifurcation(
        self,
        over: str,
        values: ArrayLike,
        positions: Values,
        velocities: Values | None = None,
        *,
        period: str | float | None = None,
        section: str | None = None,
        direction: str = "up",
        event: str | None = None,
        points: int = 100,
        transient: str | float = 0.0,
        columns: Sequence[str] | None = None,
        follow: str | None = None,
        tend: float,
        t0: float = 0.0,
        fixed: Sequence[str] = (),
        scales: Values | None = None,
        parameters: Values | None = None,
        tol: float | None = None,
    ) -> Section:
        """A bifurcation diagram: see `MechanismHandle.bifurcation`."""
        from mechsim.analysis.cut import Cut, Wanted, settings
        from mechsim.analysis.sections import poincare

        varied = settings({over: values})
        cut = Cut(period, section, direction, event)
        wanted = Wanted(cut, points, transient, columns, (None, None), varied, {}, over, follow)
        return poincare(
            self._dynamic((positions, velocities or {}), (t0, tend), fixed, scales, parameters), wanted, tend - t0, tol
        )

    def basins(
        self,
        starts: Mapping[str, ArrayLike],
        positions: Values | None = None,
        velocities: Values | None = None,
        *,
        period: str | float | None = None,
        apart: bool = False,
        tend: float,
        t0: float = 0.0,
        fixed: Sequence[str] = (),
        scales: Values | None = None,
        parameters: Values | None = None,
        tol: float | None = None,
    ) -> Basins:
        """Which rest or periodic motion each of many starts goes to: see `MechanismHandle.basins`."""
        from mechsim.analysis.basins import basins
        from mechsim.analysis.cut import settings

        given = settings(starts)
        subject = self._among(given, (positions or {}, velocities or {}), (t0, tend), fixed, scales, parameters)
        return basins(subject, given, tend, period=period, apart=apart, tolerance=tol)

    def _among(
        self,
        starts: Mapping[str, Array],
        start: tuple[Values, Values],
        times: tuple[float, float | None],
        fixed: Sequence[str],
        scales: Values | None,
        parameters: Values | None,
    ) -> LagrangianSubject:
        """Motions from this start and from many others: no coordinate is smaller than where some of them begin."""
        subject = self._dynamic(start, times, fixed, scales, parameters)
        variables = subject.case({}).system.mechanism.variables
        sizes = {each.label: each.scale for each in variables if each.kind != "state"}
        farthest = {name: float(abs(starts[name]).max()) for name in sizes if name in starts}
        if all(size <= sizes[name] for name, size in farthest.items()):
            return subject
        larger = {name: max(size, farthest.get(name, 0.0)) for name, size in sizes.items()}
        return self._dynamic(start, times, fixed, {**larger, **(scales or {})}, parameters)

    @abstractmethod
    def _dynamic(
        self,
        start: tuple[Values, Values],
        times: tuple[float, float | None],
        fixed: Sequence[str],
        scales: Values | None,
        parameters: Values | None,
    ) -> LagrangianSubject:
        """Motions from this start."""
