"""Where a user's Lagrangian rests, how it moves near a state, how fast its motions part, and what they conserve."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mechsim.errors import MechsimError
from mechsim.facility.drawn import drawn_text
from mechsim.facility.functions import Function, said
from mechsim.facility.lowering import number, numbers
from mechsim.facility.starting import Starting
from mechsim.result import Motion
from mechsim.result.trajectory import Settings

if TYPE_CHECKING:
    from mechsim.analysis.exponents import Exponents
    from mechsim.analysis.invariants import Invariants
    from mechsim.analysis.linear import Linearised
    from mechsim.analysis.rest import Rest
    from mechsim.analysis.steady import Steady
    from mechsim.result import Trajectory

TOLERANCE = 1e-12
Values = Mapping[str, float]


class Local(Starting, ABC):
    """What LagrangianSystem takes of it."""

    def linearize(
        self,
        positions: Values,
        velocities: Values | None = None,
        *,
        t: float = 0.0,
        rest: bool = False,
        coordinates: Sequence[str] | Mapping[str, Function | None] | None = None,
        outputs: Sequence[str] | None = None,
        fixed: Sequence[str] = (),
        parameters: Values | None = None,
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

    def mode_motions(self, linear: Linearised, *, parameters: Values | None = None) -> tuple[Trajectory, ...]:
        """The modes of a linear motion, enlarged and put back on the constraints, as tables that can be saved and, with
        `draw`, be drawn; `parameters` as it was linearised with."""
        from mechsim.analysis.modes import Shown, motions_of_modes
        from mechsim.engine import State

        values = {**self.parameters, **(parameters or {})}
        known = {name: linear.positions[linear.coordinates.index(name)] for name in self._names}
        flow, (t, q, v) = self._flow(known, {}, linear.t, (), parameters)
        drawn = drawn_text(self.drawing, flow.system, State(t, q, v), values) if self.drawing else ""
        settings: Settings = {"t0": t, "tend": t, "overrides": {}, "branch": None}
        return motions_of_modes(Shown(flow.system, flow.system, self._facts(settings, drawn)), linear, self.title)

    def equilibria(self, positions: Values, *, t: float = 0.0, parameters: Values | None = None) -> tuple[Rest, ...]:
        """Rests that are found from these positions and from others that they can be moved to."""
        from mechsim.analysis.rest import rests

        flow, (_, q, _) = self._flow(positions, {}, t, (), parameters)
        return rests(flow, t, q)

    def steady_motions(
        self,
        positions: Values,
        velocities: Values | None = None,
        *,
        t: float = 0.0,
        parameters: Values | None = None,
    ) -> tuple[Steady, ...]:
        """Motions in which some coordinates that no equation notices go on steadily, and all others stand still: those
        that are found from a state, with its momenta along such coordinates."""
        from mechsim.analysis.steady import steady_motions

        flow, (_, q, v) = self._flow(positions, velocities or {}, t, (), parameters)
        return steady_motions(flow, t, q, v)

    def lyapunov(
        self,
        positions: Values,
        velocities: Values | None = None,
        *,
        tend: float,
        n: int | None = None,
        transient: float = 0.0,
        t0: float = 0.0,
        tol: float | None = None,
        order: int | None = None,
        fixed: Sequence[str] = (),
        scales: Values | None = None,
        parameters: Values | None = None,
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
        positions: Values,
        velocities: Values | None = None,
        *,
        tend: float,
        generators: Mapping[str, Function] | None = None,
        quantities: Mapping[str, Function] | None = None,
        t0: float = 0.0,
        tol: float = TOLERANCE,
        order: int | None = None,
        fixed: Sequence[str] = (),
        scales: Values | None = None,
        parameters: Values | None = None,
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

    @abstractmethod
    def simulate(
        self,
        positions: Values,
        velocities: Values | None = None,
        *,
        tend: float,
        t0: float = 0.0,
        tol: float = TOLERANCE,
        order: int | None = None,
        fixed: Sequence[str] = (),
        scales: Values | None = None,
        parameters: Values | None = None,
    ) -> Motion:
        """The motion from t0 to tend."""
