"""Periodic motions of a file's mechanism, and how they change: what a handle can be asked about its dynamics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mechsim.analysis.measured import Texts
from mechsim.analysis.periodic import TOLERANCE

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mechsim.analysis.basin import Basins
    from mechsim.analysis.branch import Branches
    from mechsim.analysis.orbit import Orbit
    from mechsim.analysis.section import Section
    from mechsim.handle.begun import Beginning
    from mechsim.handle.subject import FileSubject
    from mechsim.source import Parameters

Held = Sequence[str] | Mapping[str, float | None]


class Dynamics(ABC):
    """What MechanismHandle takes of it."""

    def periodic(
        self,
        period: str | float | None = None,
        *,
        multiple: int = 1,
        since: float | None = None,
        hold: Held = (),
        tend: float | None = None,
        parameters: Parameters | None = None,
        start: Beginning | None = None,
        t0: float | None = None,
        tol: float = TOLERANCE,
    ) -> Orbit:
        """The periodic motion that is found from the start, or from where the motion is at the time `since`.

        `period` is a number or an expression of the parameters ("2*pi/w"): that of the forcing, of which `multiple` are
        looked for; where nothing depends on time it is a guess, and is left out for the first return until `tend`.
        What `hold` names keeps its value, which chooses one of a family: coordinates of the start, "energy", "period".
        """
        from mechsim.analysis.periodic import periodic, wanted_of

        subject = self._dynamic(parameters, start, t0)
        return periodic(subject, wanted_of(period, multiple, since, tend or subject.tend({}), hold), tol)

    def periodic_over(
        self,
        over: str,
        first: float,
        last: float,
        period: str | float | None = None,
        *,
        measure: Texts | None = None,
        branches: int = 0,
        multiple: int = 1,
        since: float | None = None,
        hold: Held = (),
        tend: float | None = None,
        parameters: Parameters | None = None,
        start: Beginning | None = None,
        t0: float | None = None,
        tol: float = TOLERANCE,
    ) -> Branches:
        """Periodic motions followed over a parameter from its `first` value to its `last`, around folds too, or over
        "energy" or "period" where energy is conserved. `measure` are numbers of each motion, as of sweeps; `branches`
        is how many times over those are followed that leave others. The rest is as for `periodic`."""
        from mechsim.analysis.following import Over, follow
        from mechsim.analysis.periodic import wanted_of

        subject = self._dynamic(parameters, start, t0)
        wanted = wanted_of(period, multiple, since, tend or subject.tend({}), hold)
        return follow(subject, wanted, Over(over, first, last), measure, branches, tol)

    def response(
        self,
        over: str,
        first: float,
        last: float,
        of: Sequence[str],
        *,
        period: str | None = None,
        branches: int = 0,
        since: float | None = None,
        tend: float | None = None,
        parameters: Parameters | None = None,
        start: Beginning | None = None,
        t0: float | None = None,
        tol: float = TOLERANCE,
    ) -> Branches:
        """The frequency response: periodic motions over the angular frequency of the forcing, with the largest and
        smallest values of some columns, and amplitudes and phases of their first harmonics."""
        from mechsim.analysis.response import harmonics, period_of

        return self.periodic_over(
            over,
            first,
            last,
            period_of(over, period),
            measure=harmonics((of,) if isinstance(of, str) else of, period_of(over, period)),
            branches=branches,
            since=since,
            tend=tend,
            parameters=parameters,
            start=start,
            t0=t0,
            tol=tol,
        )

    def poincare(
        self,
        period: str | float | None = None,
        *,
        section: str | None = None,
        direction: str = "up",
        event: str | None = None,
        points: int = 1000,
        transient: str | float = 0.0,
        columns: Sequence[str] | None = None,
        vary: Mapping[str, ArrayLike] | None = None,
        starts: Mapping[str, ArrayLike] | None = None,
        parameters: Parameters | None = None,
        start: Beginning | None = None,
        t0: float | None = None,
        tol: float | None = None,
    ) -> Section:
        """Points at which motions pass a section: at whole periods of a forcing ("2*pi/w"), where the expression
        `section` crosses zero, or at an `event` of the file. Of each motion so many `points`, after a `transient`; all
        combinations of parameters that `vary` and of coordinates of `starts` are motions of their own."""
        from mechsim.analysis.cut import Cut, Wanted, settings
        from mechsim.analysis.sections import poincare

        varied, given = settings(vary), settings(starts)
        cut = Cut(period, section, direction, event)
        wanted = Wanted(cut, points, transient, columns, (None, None), varied, given)
        return poincare(self._dynamic(parameters, start, t0), wanted, self._duration, tol)

    def bifurcation(
        self,
        over: str,
        values: ArrayLike,
        period: str | float | None = None,
        *,
        section: str | None = None,
        direction: str = "up",
        event: str | None = None,
        points: int = 100,
        transient: str | float = 0.0,
        columns: Sequence[str] | None = None,
        follow: str | None = None,
        parameters: Parameters | None = None,
        start: Beginning | None = None,
        t0: float | None = None,
        tol: float | None = None,
    ) -> Section:
        """A bifurcation diagram: the points of a section for many values of a parameter, each from the start, or, where
        motions `follow` each other "up", "down" or "both", from where the one before ended."""
        from mechsim.analysis.cut import Cut, Wanted, settings
        from mechsim.analysis.sections import poincare

        varied = settings({over: values})
        cut = Cut(period, section, direction, event)
        wanted = Wanted(cut, points, transient, columns, (None, None), varied, {}, over, follow)
        return poincare(self._dynamic(parameters, start, t0), wanted, self._duration, tol)

    def basins(
        self,
        starts: Mapping[str, ArrayLike],
        *,
        period: str | float | None = None,
        apart: bool = False,
        tend: float | None = None,
        parameters: Parameters | None = None,
        start: Beginning | None = None,
        t0: float | None = None,
        tol: float | None = None,
    ) -> Basins:
        """Which rest or periodic motion each of many starts goes to: all combinations of `starts`, values of
        coordinates and rates (`A_x`, `A_x_dot`), others as in the file. Motions are followed to `tend`, or to the
        file's end; `period` is that of a forcing; rests that differ by whole turns are different ones if `apart`."""
        from mechsim.analysis.basins import basins
        from mechsim.analysis.cut import settings

        subject = self._dynamic(parameters, start, t0)
        end = subject.tend({}) if tend is None else tend
        return basins(subject, settings(starts), end, period=period, apart=apart, tolerance=tol)

    @abstractmethod
    def _dynamic(self, parameters: Parameters | None, start: Beginning | None, t0: float | None) -> FileSubject:
        """Motions with these parameters, from this start."""

    @property
    @abstractmethod
    def _duration(self) -> float:
        """How long motions of the file last."""
