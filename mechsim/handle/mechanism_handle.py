"""The handle of a file's mechanism: equations at any state, and motions for any parameters and starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from mechsim.analysis.asked import Wanted, equilibria, linearize, steady
from mechsim.analysis.conserved import conserved
from mechsim.analysis.exponents import Exponents
from mechsim.analysis.invariants import Invariants
from mechsim.analysis.joint_loads import joint_loads, points_of_joints, reactions_at
from mechsim.analysis.linear import Linearised
from mechsim.analysis.lyapunov import TOLERANCE, lyapunov
from mechsim.analysis.rest import Rest
from mechsim.analysis.steady import Steady
from mechsim.engine import State
from mechsim.equations import Equations
from mechsim.errors import AssemblyError, Fault, IntegrationError, MechsimError
from mechsim.handle.begun import Beginning, Beginnings, Begun
from mechsim.handle.chosen import Chosen, Coordinates
from mechsim.handle.component import Component
from mechsim.handle.dynamics import Dynamics
from mechsim.handle.family import Family, Member, Told, untold, warned
from mechsim.handle.many import Settings, many_motions
from mechsim.handle.motions import Motions
from mechsim.handle.optimization import Optimization
from mechsim.handle.poses import Poses
from mechsim.handle.run import Run
from mechsim.handle.subject import FileSubject
from mechsim.handle.symmetries import Questions, not_met, told
from mechsim.handle.wanted import Given, ManyParameters, ends_of
from mechsim.kernel.system import System
from mechsim.model import build
from mechsim.result import Motion
from mechsim.result.layout import Array
from mechsim.simulation import Prepared, adjust
from mechsim.source import Folders, Parameters, Source, given_number, read
from mechsim.spec.document import MechSpec

if TYPE_CHECKING:
    from mechsim.result import Trajectory

Times = tuple[float | None, float | None]  # from and to; None: the file's own


def mechanism(source: Source, parameters: Parameters | None = None, *, tables_from: Folders = ()) -> MechanismHandle:
    """The mechanism of a file, of its text, or of a MechSpec, ready to be asked about any state and to be simulated.
    Tables in files are read from the folder of the mechanism file, and from `tables_from`."""
    return MechanismHandle(read(source, parameters, tables_from))


class MechanismHandle(Equations, Dynamics, Optimization, Poses):
    """A mechanism that is read and derived once: `simulate` it with other parameters and from other starts.

    Several threads may use one handle, and it can be pickled.
    """

    def __init__(self, spec: MechSpec, given: Parameters | None = None, families: dict[Times, Family] | None = None):
        self._file = spec
        self._given = dict(given or {})
        self._families: dict[Times, Family] = {} if families is None else families

    @cached_property
    def spec(self) -> MechSpec:
        """The file, read with the parameters of this handle."""
        return read(self._file, self._given)

    @property
    def parameters(self) -> dict[str, float]:
        return {name: float(number) for name, number in self.spec.parameters.items()}

    @cached_property
    def system(self) -> System:
        if not self._given:
            return self._family().system
        return System(build(self.spec))

    def with_parameters(self, **parameters: float | str) -> MechanismHandle:
        """The same mechanism with other PhysicalParams; what these do not change is shared."""
        handle = MechanismHandle(self._file, {**self._given, **parameters}, self._families)
        handle.spec  # a mistake is told here and now  # noqa: B018
        return handle

    def start(self) -> tuple[Array, Array]:
        """Consistent positions and velocities of the file's initial-value problem."""
        start = self._run({}).prepared.start
        return start.positions.copy(), start.velocities.copy()

    def simulate(
        self,
        *,
        parameters: Parameters | None = None,
        start: Beginning | None = None,
        tol: float | None = None,
        order: int | None = None,
        t0: float | None = None,
        tend: float | None = None,
        reactions: Sequence[str] | None = None,
        accelerations: Sequence[str] | None = None,
        jerks: Sequence[str] | None = None,
        keep: str = "polynomials",
        tangents: Sequence[str] = (),
    ) -> Motion:
        """The motion with other `parameters` (numbers, or expressions as text), as `mechsim.simulate` has it.

        It starts from the file's start: the point nearest to the guesses, on the branch of the start that the file's
        own parameters have; where that branch ends on the way to these parameters, a BranchWarning tells so. Or from
        `start`: positions and velocities at t0, the state of a component, or where another motion ended, at its last
        time. No run changes a later one.

        `tangents` name what the motion is differentiated by, see `Motion.derivative`: parameters, inputs, coordinates
        of the start and their rates (`A_x`, `A_x_dot`), or "start" for a basis of all that the constraints allow.
        """
        run = self._run(parameters or {}, start, tol=tol, order=order, t0=t0, tend=tend)
        run = run.asking(accelerations, jerks)
        return run.motion(reactions, keep, (tangents,) if isinstance(tangents, str) else tangents)

    def lyapunov(
        self,
        *,
        tend: float | None = None,
        n: int | None = None,
        transient: float = 0.0,
        tol: float = TOLERANCE,
        order: int | None = None,
        t0: float | None = None,
        parameters: Parameters | None = None,
        start: Beginning | None = None,
    ) -> Exponents:
        """The Lyapunov exponents of a smooth motion, or the `n` largest: averages from `transient` after its start to
        `tend`, with error bars. Times, parameters and start are as for `simulate`."""
        prepared = self._run(parameters or {}, start, tol=tol, order=order, t0=t0, tend=tend).prepared
        return lyapunov(
            prepared.system,
            prepared.structure,
            prepared.start,
            tend=float(prepared.spec.problem.tend),
            n=n,
            transient=transient,
            tolerance=tol,
            order=order,
        )

    def conserved(
        self,
        *,
        generators: Mapping[str, object] | None = None,
        quantities: Mapping[str, str] | None = None,
        tend: float | None = None,
        tol: float | None = None,
        order: int | None = None,
        t0: float | None = None,
        parameters: Parameters | None = None,
        start: Beginning | None = None,
    ) -> Invariants:
        """What the model conserves: energy, momenta, angular momenta and sums of these, by Noether's theorem; by what
        the others change; and what the motion made of all of them.

        `generators` are further motions of points, by name: expressions of `x, y, z` for all points,
        {"screw": ["-y", "x", "0.1"]}, or for some, {"orbit": {"A": ["-A.y", "A.x"]}}. `quantities` are expressions of
        the state, by name, of which it is told whether they are conserved. The rest is as for `simulate`.
        """
        asked = Questions.of(self.spec, generators or {}, quantities or {})
        handle = MechanismHandle(asked.told_by(self._file), self._given) if generators or quantities else self
        run = handle._run(parameters or {}, start, tol=tol, order=order, t0=t0, tend=tend)
        solution = run.motion(None, "polynomials", ()).solution
        mechanism, beyond = solution.system.mechanism, not_met(handle.spec, solution.t)
        return conserved(solution, asked.asked(mechanism), asked.watched(mechanism), remarks=beyond)

    def simulate_many(
        self,
        parameters: ManyParameters | None = None,
        *,
        start: Beginnings = None,
        tol: float | None = None,
        order: int | None = None,
        t0: float | None = None,
        tend: ArrayLike | None = None,
        reactions: Sequence[str] | None = None,
        keep: str = "polynomials",
        threads: int = 1,
    ) -> Motions:
        """Many motions at once, in order: each is that of `simulate`, from the same start, within the tolerance.

        `parameters` are a mapping of arrays, or a sequence of mappings; `start` and `tend` one for all, or a list with
        one for each. Motions go side by side in the kernel (see `engine/many.py`), and in so many `threads`, neither of
        which changes a bit of any. One that fails is a case with its status and message; what is wrong with all, such
        as a name that the file has not, is raised. `keep="final"` keeps only where motions end, which is fastest.
        """
        settings = Settings(tol, order, t0, reactions, keep, threads)
        return many_motions(self, Given(parameters), Begun(self, start, t0), ends_of(tend), settings)

    def begin(
        self,
        *,
        parameters: Parameters | None = None,
        start: Beginning | None = None,
        tol: float | None = None,
        order: int | None = None,
        t0: float | None = None,
        tend: float | None = None,
    ) -> Component:
        """The mechanism as a component of a larger system, which is moved from outside: see `Component`. `tend` is how
        far tables of the file are needed; without tables there is no end."""
        if tend is None and not self._is_timed:  # the file's own end is none here
            own = self._file.problem
            begun = self._state(start, t0).t if start is not None else float(own.t0) if t0 is None else t0
            tend = max(float(own.tend), begun + 1.0)
        run = self._run(parameters or {}, start, tol=tol, order=order, t0=t0, tend=tend)
        return Component(run, float(run.prepared.spec.problem.tend) if self._is_timed else None)

    def linearize(
        self,
        at: float | None = None,
        *,
        rest: bool = False,
        start: Beginning | None = None,
        parameters: Parameters | None = None,
        coordinates: Coordinates | None = None,
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] | None = None,
        steady: bool = False,
    ) -> Linearised:
        """x' = A x + B u, y = C x + D u near a state: the start, the motion `at` a time, or the nearest `rest`.

        x are changes of `coordinates` and of their rates, as many as there are freedoms, or fewer where these move by
        themselves: names of the file's, or expressions of positions, by themselves or by names of your own
        ({"r": "dist(O,B)"}). u are changes of `inputs` of the file, y of `outputs`: coordinates, their rates
        (`A_x_dot`) and signals. With `steady` it is as seen by who is carried along by the steady motion that the
        state is in, or that is nearest.
        """
        chosen = Chosen.of(coordinates, self.coordinates if coordinates else ())
        handle = MechanismHandle(chosen.told_by(self._file), self._given) if chosen.expressions else self
        prepared = handle._run(parameters or {}, start).prepared
        return linearize(prepared, Wanted(at, rest, chosen.names, inputs, outputs, steady, chosen.functions))

    def mode_motions(
        self, linear: Linearised, *, start: Beginning | None = None, parameters: Parameters | None = None
    ) -> tuple[Trajectory, ...]:
        """The modes of a linear motion, enlarged and put back on the constraints, as tables that can be saved and
        drawn; `start` and `parameters` as it was linearised with."""
        from mechsim.analysis.modes import Shown, motions_of_modes

        prepared = self._run(parameters or {}, start).prepared
        return motions_of_modes(Shown.of(prepared), linear, prepared.mechanism.title)

    def equilibria(self, *, start: Beginning | None = None, parameters: Parameters | None = None) -> tuple[Rest, ...]:
        """Rests that are found from the start and from poses that it can be moved to, with their stability. First is
        the one that is found from the start itself, if there is one; before it one that leans on contacts."""
        return equilibria(self._run(parameters or {}, start).prepared)

    def reactions_at(
        self, rest: Rest | Steady, point: str, *, parameters: Parameters | None = None
    ) -> dict[str, list[float]]:
        """The force on each part at a point, in newtons, in a rest or steady motion that was found with these
        parameters; what it leans on pushes."""
        return reactions_at(self._run(parameters or {}).prepared, rest.linear, point, getattr(rest, "held", None))

    def joint_loads(self, rest: Rest | Steady, *points: str, parameters: Parameters | None = None) -> dict[str, float]:
        """Forces and moments in the joints at points, or in "all", as columns of results have them."""
        prepared = self._run(parameters or {}).prepared
        asked = points_of_joints(prepared, points)
        found = joint_loads(prepared, rest.linear, asked, getattr(rest, "held", None))
        return dict(zip(found.labels, found.values.tolist(), strict=True))

    def steady_motions(
        self, *, start: Beginning | None = None, parameters: Parameters | None = None
    ) -> tuple[Steady, ...]:
        """Motions in which it is carried along by a turn or shift that its equations do not notice, while nothing else
        moves: those that are found from the start, with the momenta that it has along such motions."""
        return steady(self._run(parameters or {}, start).prepared)

    def _dynamic(self, parameters: Parameters | None, start: Beginning | None, t0: float | None) -> FileSubject:
        """The file is read with these parameters: a zero that they replace would else make it be read for others again
        and again."""
        given = {**self._given, **(parameters or {})}
        if not given and start is None:
            return FileSubject(self, t0)
        begun = self._run(parameters or {}, start, t0=t0).prepared.start
        return FileSubject(MechanismHandle(read(self._file, given)) if given else self, t0, begun)

    def _measurable(self, t0: float | None, *, strict: bool = False) -> FileSubject:
        return FileSubject(self, t0, strict=strict)

    def _asked(self, parameters: Parameters, signals: Mapping[str, str]) -> MechanismHandle:
        return MechanismHandle(told(read(self._file, {**self._given, **parameters}), signals))

    @property
    def _duration(self) -> float:
        return float(self._file.problem.tend) - float(self._file.problem.t0)

    def _run(
        self,
        parameters: Parameters,
        start: Beginning | None = None,
        *,
        tol: float | None = None,
        order: int | None = None,
        t0: float | None = None,
        tend: float | None = None,
        tell: Told = warned,
        nearest: bool = False,
    ) -> Run:
        state = None if start is None else self._state(start, t0)
        since = self._since(state, t0)
        tell = tell if state is None else untold
        member = self._member(parameters, since, tend, tell)
        prepared = self._read_again(parameters, since, tend, tell) if member is None else member.prepared
        begun = t0 if state is None else state.t
        spec = adjust(prepared.spec, tol=tol, order=order, t0=begun, tend=tend)
        # Derivatives go through formulas that are given, too.
        formulas = {name: value for name, value in {**self._given, **parameters}.items() if isinstance(value, str)}
        run = Run(replace(prepared, spec=replace(spec, overrides={**spec.overrides, **formulas})), member)
        return run if state is None else run.starting(state, nearest)

    def _since(self, start: Beginning | None, t0: float | None) -> float | None:
        """What a file says of its own time holds for later starts too, but not for earlier ones."""
        return t0 if start is None else min(self._state(start, t0).t, float(self._file.problem.t0))

    def _read_again(self, parameters: Parameters, t0: float | None, tend: float | None, tell: Told) -> Prepared:
        """The file with another structure, started on the branch of its own start."""
        given = {**self._given, **parameters}
        spec = adjust(read(self._file, given), t0=t0, tend=tend)
        return self._family(t0, tend).prepared_anew(spec, tuple(sorted(given)), tell)

    def _member(self, parameters: Parameters, t0: float | None, tend: float | None, tell: Told) -> Member | None:
        """The mechanism as one of a family; None where its structure is another one."""
        given = self._numbers({**self._given, **parameters})
        try:
            variation = self._family(t0, tend).variation(tuple(sorted(given)))
        except (AssemblyError, IntegrationError):
            return None  # the file's own parameters have no start, but these may
        return variation.member(given, tell)  # where these have none, the file read again has none either

    def _numbers(self, given: Parameters) -> dict[str, float]:
        """Values of parameters; expressions are read in the file's place. Raises SpecError for names it has not."""
        if not any(isinstance(value, str) for value in given.values()) and given.keys() <= self._file.parameters.keys():
            return {name: given_number(name, value) for name, value in given.items()}  # type: ignore[arg-type]
        values = read(self._file, given).parameters
        return {name: float(values[name]) for name in given}

    def _family(self, t0: float | None = None, tend: float | None = None) -> Family:
        """What motions between these times have in common: tables and piecewise functions are built for all of it."""
        own = self._file.problem
        late = t0 is not None and t0 >= float(own.tend)  # its end is told, as the file's own would be before it
        key = (None if t0 == float(own.t0) else t0, tend if self._is_timed or late else None)
        if key not in self._families:
            self._families[key] = Family(self._file, *key)
        return self._families[key]

    @property
    def _is_timed(self) -> bool:
        """Whether something is built for the time of the run only."""
        return bool(self._file.actions.tables or self._file.actions.piecewise)

    def _state(self, start: Beginning, t0: float | None) -> State:
        """The state to start from, at t0 if that is given."""
        self._check_start(start)
        if isinstance(start, tuple):
            time = float(self._file.problem.t0) if t0 is None else t0
            return State(time, self.vector(start[0]), self.vector(start[1]))
        ending: State = start.solution.ending if isinstance(start, Motion) else start
        return ending if t0 is None or t0 == ending.t else State(t0, ending.positions, ending.velocities)

    def _check_start(self, start: object) -> None:
        if isinstance(start, Motion) and tuple(start.system.labels[: start.system.n]) != tuple(self.coordinates):
            raise MechsimError(Fault("the motion to start from is of another mechanism: its coordinates are others"))
        if not isinstance(start, Motion | State) and not (isinstance(start, tuple) and len(start) == 2):
            message = f"nothing can start from {type(start).__name__}"
            hint = "start is (positions, velocities), a motion, or the state of a component"
            raise MechsimError(Fault(message, hint=hint))

    def __reduce__(self) -> tuple[type[MechanismHandle], tuple[MechSpec, Parameters]]:
        return MechanismHandle, (self._file, self._given)

    def __repr__(self) -> str:
        return f"<mechanism {self._file.title!r}: coordinates {', '.join(self.coordinates)}>"
