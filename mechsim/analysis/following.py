"""Periodic motions followed over a parameter, or over their energy or period: from a guess to branches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechsim.analysis.branch import Branches
from mechsim.analysis.branching import Follower, Observer
from mechsim.analysis.continuation import Tracer
from mechsim.analysis.cut import parameters_hint
from mechsim.analysis.followed import Followed, OverFamily, OverParameter
from mechsim.analysis.formula import formula_of
from mechsim.analysis.measured import Measured, Texts
from mechsim.analysis.orbit import Orbit
from mechsim.analysis.periodic import TOLERANCE, Wanted, periodic
from mechsim.analysis.ring import ENERGY, PERIOD, Unknowns
from mechsim.analysis.subject import Subject
from mechsim.errors import Fault, SpecError
from mechsim.frozen import frozen
from mechsim.spec.living import Tape


@frozen
class Over:
    """What motions are followed over, from its first value, where the guess is, to its last."""

    name: str
    first: float
    last: float


def follow(
    subject: Subject,
    wanted: Wanted,
    over: Over,
    measures: Texts | None = None,
    depth: int = 0,
    tolerance: float = TOLERANCE,
    observer: Observer | None = None,
) -> Branches:
    """Periodic motions over a parameter of the subject, or over `energy` or `period` where energy is conserved, with
    branches that leave them, so many times over. Raises SpecError, AssemblyError and IntegrationError."""
    if not (np.isfinite([over.first, over.last]).all() and over.first != over.last):
        raise SpecError(Fault(f"{over.name} is to go from {over.first:g} to {over.last:g}: these must be two numbers"))
    if over.name in subject.parameters:
        begun = periodic(subject, wanted, tolerance, {over.name: over.first})
        followed: Followed = _over_parameter(subject, wanted, over, begun, tolerance)
    else:
        begun = _member(subject, wanted, over, tolerance)
        span, unknowns = abs(over.last - over.first), Unknowns(phase=True, period=True)
        followed = OverFamily(over.name, span, True, True, subject, unknowns, tolerance)
    measured = Measured.of(subject, _default(begun) if measures is None else measures)
    tracer = Tracer(followed, (over.first, over.last), tolerance)
    follower = Follower(tracer, measured, depth, observer)
    branches = follower.all(begun.linear.ring)
    status = "interrupted" if follower.interrupted else "finished"
    return Branches(over.name, measured.labels, measured.units, begun.coordinates, branches, status, begun.remarks)


def _over_parameter(subject: Subject, wanted: Wanted, over: Over, begun: Orbit, tolerance: float) -> OverParameter:
    own = begun.linear.unknowns
    if begun.conserved and own.period and not own.held:
        message = f"energy is conserved, so for each {over.name} there are many periodic motions"
        raise SpecError(Fault(message, hint="hold something: energy, period, or a coordinate of the start"))
    formula = None
    if not begun.autonomous and wanted.period is not None:
        tape = Tape((over.name,))
        formula = formula_of(wanted.period, tape, subject.living(tape), "period")
    span, kind = abs(over.last - over.first), (begun.autonomous, begun.conserved)
    return OverParameter(over.name, span, *kind, subject, own, tolerance, formula, wanted.multiple)


def _member(subject: Subject, wanted: Wanted, over: Over, tolerance: float) -> Orbit:
    """The motion of a family where the branch is to begin."""
    if over.name not in (ENERGY, PERIOD):
        hint = parameters_hint(over.name, [*subject.parameters, ENERGY, PERIOD])
        raise SpecError(Fault(f"there is no parameter {over.name}", hint=hint))
    begun = periodic(subject, wanted, tolerance)
    if not begun.conserved:
        message = f"periodic motions cannot be followed over their {over.name} here: no energy is conserved"
        raise SpecError(Fault(message, hint="follow them over a parameter"))
    given = {"held": {ENERGY: over.first}} if over.name == ENERGY else {"held": {PERIOD: None}, "period": over.first}
    return periodic(subject, replace(wanted, **given), tolerance)


def _default(begun: Orbit) -> list[str]:
    """The largest value of what moves most, in scales."""
    system, solution = begun.case.system, begun.solution
    moves = np.ptp(solution.q, axis=0) / system.scales[: system.n]
    moves[system.accounts] = -1.0
    return [f"max({begun.coordinates[int(np.argmax(moves))]})"]
