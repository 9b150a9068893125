"""From a mechanism file to its motion: the whole way, once. The command line and the Python API both walk it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

from mechsim._version import __version__
from mechsim.errors import Fault, IntegrationError, MechsimError, Note, SpecError
from mechsim.frozen import frozen
from mechsim.source import Folders, Parameters, Source, read
from mechsim.spec.document import SMALLEST_TOLERANCE, MechSpec, Number, Reference
from mechsim.spec.number import LARGEST

if TYPE_CHECKING:
    from mechsim.engine import Points, Ready, Solution, State
    from mechsim.engine.leading import Leading
    from mechsim.engine.tangents import Directions
    from mechsim.initial.problem import InitialValueProblem
    from mechsim.initial.start import Start
    from mechsim.kernel.system import System
    from mechsim.model.mechanism import Mechanism
    from mechsim.result import Derived, Motion
    from mechsim.result.trajectory import Facts, Settings
    from mechsim.structure import Structure


LATEST = 10  # events of those that have no end, which are named
OTHER_ORDER = 5  # so many more, where two runs are to be different
KEPT = {"polynomials": "polynomials", "table": "steps"}  # what a motion keeps, in the engine's words


class CutShort(IntegrationError):
    """The motion could not be followed to its end; `motion` is what there is of it."""

    def __init__(self, fault: Fault, motion: Motion):
        super().__init__(fault)
        self.motion = motion


@frozen
class Prepared:
    """A problem ready to be integrated: the start satisfies its constraints, the structure is known."""

    spec: MechSpec
    system: System
    start: Start | State  # as it was found, or given
    structure: Structure

    @property
    def mechanism(self) -> Mechanism:
        return self.system.mechanism

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a person should know of the start; of a given state there is nothing to say."""
        return getattr(self.start, "notes", ())

    @property
    def independent(self) -> System:
        """The system without redundant constraints and gaps: what a person counts."""
        return self.system.bilateral.without(self.structure.redundancy.rows)

    @property
    def facts(self) -> Facts:
        """What the files of this run carry."""
        spec = self.spec
        settings: Settings = {
            "tol": spec.solver.tolerance,
            "order": spec.solver.order,
            "t0": float(spec.problem.t0),
            "tend": float(spec.problem.tend),
            "overrides": dict(spec.overrides),
            "branch": spec.problem.branch,
        }
        if spec.files:  # results need nothing beside themselves
            settings["files"] = dict(spec.files)
        return {
            "title": spec.title,
            "spec_path": spec.path,
            "spec_text": spec.text,
            "version": __version__,
            "settings": settings,
        }


def simulate(
    source: Source,
    *,
    tol: float | None = None,
    order: int | None = None,
    t0: float | None = None,
    tend: float | None = None,
    parameters: Parameters | None = None,
    branch: int | None = None,
    reactions: Sequence[str] | None = None,
    accelerations: Sequence[str] | None = None,
    jerks: Sequence[str] | None = None,
    tables_from: Folders = (),
    keep: str = "polynomials",
) -> Motion:
    """The motion of a mechanism, given as a file, as its text, or as a MechSpec.

    `parameters` replace PhysicalParams of the file (numbers or expressions); `tol`, `order`, `t0`, `tend` and
    `branch` replace what the file says. `reactions` are points whose forces the tables of the motion have, or
    ["all"]; `Motion.reaction` needs no such wish. `accelerations` and `jerks` likewise, of points and turn angles.
    Tables in files are read from the folder of the mechanism file, and from `tables_from`. `keep="table"` keeps the
    rows of its table, but not their polynomials, which take most of the memory: then the motion is its table, and is
    not known in between. Raises SpecError, AssemblyError or IntegrationError.
    """
    spec = adjust(read(source, parameters, tables_from), tol=tol, order=order, t0=t0, tend=tend, branch=branch)
    return motion_of(prepare(asking(spec, accelerations, jerks)), reactions, keep)


def asking(spec: MechSpec, accelerations: Sequence[str] | None, jerks: Sequence[str] | None = None) -> MechSpec:
    """The spec with these accelerations and jerks as columns, of points and turn angles, instead of those that its
    Output names. Raises SpecError."""
    from mechsim.model.layout import point_names
    from mechsim.spec.motion import MOVING, moving_faults
    from mechsim.spec.names import SPACE

    if accelerations is None and jerks is None:
        return spec
    output = spec.output
    names = [
        own if given is None else (given,) if isinstance(given, str) else tuple(given)
        for given, own in ((accelerations, output.accelerations), (jerks, output.jerks))
    ]
    rigids = None if spec.dimension == SPACE else [part.name for part in spec.rigids]
    points = point_names(spec) | set(spec.fixed)
    pairs = zip(MOVING, names, strict=True)
    if faults := [fault for key, own in pairs for fault in moving_faults(own, points, rigids, key, None)]:
        raise SpecError(*faults)
    return replace(spec, output=replace(output, accelerations=names[0], jerks=names[1]))


def motion_of(
    prepared: Prepared,
    reactions: Sequence[str] | None = None,
    keep: str = "polynomials",
    ready: Ready | None = None,
    order: int | None = None,
    tangents: Directions | None = None,
) -> Motion:
    """The motion of a prepared problem. Raises IntegrationError where it ends too early."""
    from mechsim.engine.sampling import StepRows
    from mechsim.result import Motion

    if keep not in KEPT:
        raise MechsimError(Fault(f"keep={keep!r} is not known", hint=f"it is one of {', '.join(map(repr, KEPT))}"))
    points = reaction_points(prepared, reactions)
    rows = StepRows(lambda: leading(prepared), remember=True) if keep == "table" else None
    solution = follow(
        prepared,
        keep=KEPT[keep],
        observer=rows,
        detailed=rows is not None,
        ready=ready,
        order=order,
        tangents=tangents,
    )
    motion = Motion(solution, prepared.facts, points, rows.remembered(solution) if rows else None)
    if solution.status == "interrupted":
        raise KeyboardInterrupt
    if solution.status != "finished":
        raise CutShort(failure(solution), motion)
    return motion


def adjust(
    spec: MechSpec,
    *,
    tol: float | None = None,
    order: int | None = None,
    t0: float | None = None,
    tend: float | None = None,
    branch: int | None = None,
) -> MechSpec:
    """The spec with other settings; raises SpecError naming all that make no sense."""
    solver, problem = spec.solver, spec.problem
    changed = replace(
        spec,
        reference=_answers(spec, other_accuracy=(tol, order) != (None, None), other_start=(t0, branch) != (None, None)),
        solver=replace(
            solver,
            tolerance=solver.tolerance if tol is None else float(tol),
            order=solver.order if order is None else order,
        ),
        problem=replace(
            problem,
            t0=_changed(problem.t0, t0),
            tend=_changed(problem.tend, tend),
            branch=problem.branch if branch is None else branch,
        ),
    )
    times = float(changed.problem.t0), float(changed.problem.tend)
    if faults := setting_faults(changed.solver.tolerance, changed.solver.order, *times):
        raise SpecError(*faults)
    return changed


def _answers(spec: MechSpec, *, other_accuracy: bool, other_start: bool) -> Reference | None:
    """What the file knows of a motion with other settings: of another start nothing; at another tolerance or order its
    answers hold, but it does not say how many of their digits can be asked for."""
    if spec.reference is None or other_start:
        return None
    if not other_accuracy:
        return spec.reference
    values = tuple(replace(each, digits=0.0) for each in spec.reference.values)
    return replace(spec.reference, values=values, energy=None, constraints=None, steps=None)


def prepare(spec: MechSpec, problem: InitialValueProblem | None = None) -> Prepared:
    """Build the mechanism, give it equations (they are the `problem`, where it is known), find a consistent start, and
    analyse its structure."""
    from mechsim.engine.ending import culprit_at
    from mechsim.initial.overlaps import refuse_overlaps
    from mechsim.initial.problem import InitialValueProblem

    problem = InitialValueProblem.of(spec) if problem is None else problem
    start = problem.start
    if found := culprit_at(start.system, start.t, start.positions, start.velocities):
        message = f"the motion cannot start at t = {start.t:g}: the formula of {found.owner} {found.words}"
        raise IntegrationError(Fault(message, found.mark))
    refuse_overlaps(problem.system, start)
    return Prepared(spec, problem.system, start, problem.structure)


def follow(
    prepared: Prepared,
    *,
    tolerance: float | None = None,
    order: int | None = None,
    keep: str = "polynomials",
    observer: Callable[[Points], None] | None = None,
    detailed: bool = False,
    ready: Ready | None = None,
    tangents: Directions | None = None,
) -> Solution:
    """Integrate a prepared problem, by default at tolerance and order of its spec; other settings as in `integrate`."""
    from mechsim.engine import integrate

    solver = prepared.spec.solver
    return integrate(
        prepared.system,
        prepared.structure,
        prepared.start,
        tend=float(prepared.spec.problem.tend),
        tolerance=solver.tolerance if tolerance is None else tolerance,
        order=order or solver.order,
        keep=keep,
        observer=observer,
        detailed=detailed,
        ready=ready,
        tangents=tangents,
    )


def another_order(order: int) -> int:
    """One at which steps have another length and end elsewhere, at the same tolerance too."""
    from mechsim.engine import LARGEST_ORDER

    return order + OTHER_ORDER if order + OTHER_ORDER <= LARGEST_ORDER else order - OTHER_ORDER


def reaction_points(prepared: Prepared, asked: Sequence[str] | None = None) -> tuple[str, ...]:
    """The points whose forces are wanted: those asked for, else those the file's Output names. Raises SpecError."""
    from mechsim.result.bearings import bearings

    asked = (asked,) if isinstance(asked, str) else asked
    points = tuple(prepared.spec.output.reactions if asked is None else asked)
    if points:
        bearings(prepared.mechanism, points)
    return points


def derived(prepared: Prepared, points: Sequence[str] = ()) -> Derived:
    """The columns beyond the state for a prepared problem, with the forces at these points."""
    from mechsim.result import Derived

    start = prepared.start
    state = (start.t, start.positions, start.velocities)
    made = cache(partial(leading, prepared))
    return Derived(
        prepared.system, prepared.structure.redundancy, made, state, points, lambda states: made().jerks(states)
    )


def leading(prepared: Prepared) -> Leading:
    """What finds accelerations and multipliers, and projects states on the constraints."""
    from mechsim.engine.leading import Leading

    return Leading(prepared.system, prepared.structure, prepared.spec.solver.tolerance)


def failure(solution: Solution) -> Fault:
    """Why an integration stopped early: what, when, and which law or drive; the hint says what is special there."""
    from mechsim.engine import NO_DERIVATIVE
    from mechsim.engine.ending import culprit, driven_contact
    from mechsim.structure import why_stopped

    reason = f"the integration stopped: {solution.message or solution.status}"
    if not len(solution.t) and solution.status != "unwatched":
        return Fault(reason)
    if solution.status == "contradiction":
        return _contradiction(reason, solution)
    if solution.status in ("misfit", "unwatched"):
        return _at_event(reason, solution)
    crossing = solution.status != "not_differentiable"
    special = why_stopped(solution.system.bilateral, float(solution.t[-1]), solution.q[-1], crossing)
    if solution.status == "undecided" and (held := driven_contact(solution)):
        return Fault(f"{reason}; {held.words}", held.mark, held.hint)
    drives = {each.owner: each.mark for each in solution.system.mechanism.elements if each.is_drive}
    followed = [owner for owner in drives if owner in special]
    if followed:
        names = " and the ".join(followed)
        return Fault(f"{reason}; the mechanism cannot follow the {names} any further", drives[followed[0]], special)
    if solution.status == "endless" and solution.events is not None and len(solution.events):
        latest = dict.fromkeys(event.gap for event in solution.events[-LATEST:])
        return Fault(f"{reason}; the last were of {' and '.join(latest)}", hint=special)
    found = None if NO_DERIVATIVE in reason else culprit(solution)
    if found:
        return Fault(f"{reason}; the formula of {found.owner} {found.words}", found.mark, special)
    return Fault(reason, hint=special)


def _contradiction(reason: str, solution: Solution) -> Fault:
    label = solution.message.partition(" ")[0]
    owner = next(each for each in solution.system.mechanism.elements if label in each.multipliers)
    hint = "at the start it followed from them, but later it asks for another motion: remove one, or let them agree"
    return Fault(reason, owner.mark, hint)


def _at_event(reason: str, solution: Solution) -> Fault:
    """A bond that cannot take hold, or an event whose expression has no value."""
    if solution.status == "misfit":
        marks = {f"bond {gap.name} ": gap.mark for gap in solution.system.gaps if gap.bond}
        hint = "let the event be where they meet; quantities, and a point on a part, are held as they are"
        hint = hint if "apart" in reason else ""
    else:
        marks = {f"event {event.name} ": event.mark for event in solution.system.events}
        hint = "an expression that is watched needs a value all along"
    return Fault(reason, next((mark for words, mark in marks.items() if words in reason), None), hint)


def _changed(number: Number, value: float | None) -> Number:
    return number if value is None else replace(number, value=float(value), text=repr(float(value)))


def setting_faults(tolerance: float, order: int | None, t0: float, tend: float) -> list[Fault]:
    """What is wrong with the settings of an integration."""
    from mechsim.engine import LARGEST_ORDER, SMALLEST_ORDER

    faults = []
    if order is not None and int(order) != order:
        faults.append(Fault(f"the order {order} is not a whole number", hint="leave it out to have it chosen"))
    if not SMALLEST_TOLERANCE <= tolerance < 1.0:
        message = f"the tolerance {tolerance:g} is not between {SMALLEST_TOLERANCE:g} and 1"
        hint = "a double holds 16 digits; 1e-14 is tight, 1e-12 the default"
        faults.append(Fault(message, hint=hint))
    if order is not None and not SMALLEST_ORDER <= order <= LARGEST_ORDER:
        message = f"the order {order} is not between {SMALLEST_ORDER} and {LARGEST_ORDER}"
        faults.append(Fault(message, hint="leave it out to have it chosen"))
    if not max(abs(t0), abs(tend)) <= LARGEST:
        faults.append(Fault(f"t0 = {t0:g} and tend = {tend:g} must be numbers up to {LARGEST:g}"))
    elif not tend > t0:
        faults.append(Fault(f"tend = {tend:g} is not after t0 = {t0:g}"))
    return faults
