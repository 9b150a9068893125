"""Inverse dynamics of a file: drives for a motion that is given as formulas or as a table, and what they need."""

from __future__ import annotations

from collections.abc import Mapping

from mechsim import simulation
from mechsim.analysis.needs import Inverse, needs_of
from mechsim.analysis.prescribed import KINDS, Prescribed, beyond, checked_times, left_free, undriven
from mechsim.errors import AssemblyError, Fault, SpecError
from mechsim.handle.poses import column_of
from mechsim.spec import parse
from mechsim.spec.document import MechSpec
from mechsim.spec.rewriting import Course, driven


def inverse_of(
    spec: MechSpec,
    prescribed: Prescribed,
    *,
    kind: str = KINDS[0],
    t0: float | None = None,
    tend: float | None = None,
    tol: float | None = None,
) -> Inverse:
    """What drives need to move the mechanism of a file so. Raises SpecError, AssemblyError, IntegrationError."""
    given = zip(("t0", "tend"), checked_times(prescribed, kind, t0, tend), strict=True)
    times = {name: value for name, value in given if value is not None}
    asked = driven_spec(spec, prescribed, kind, times)
    if not asked.actions.drives:
        hint = "give what moves, and how: theta_OA=0.5*sin(3*t), or a table with columns t,theta_OA"
        raise SpecError(Fault("no motion is given, and the file has no Drives", hint=hint))
    asked = simulation.adjust(asked, tol=tol, t0=times.get("t0"), tend=times.get("tend"))
    prescribed.check_covers(float(asked.problem.t0), float(asked.problem.tend))
    try:
        prepared = simulation.prepare(asked)
    except AssemblyError as error:
        start = float(asked.problem.t0)
        fault = Fault(f"the mechanism cannot be where the motion begins, at t = {start:g}", None, "")
        raise AssemblyError(fault, *error.faults) from None
    try:
        motion = simulation.motion_of(prepared)
    except simulation.CutShort as error:
        known = {name: float(number) for name, number in asked.parameters.items()}
        raise beyond(error, prescribed, known, float(asked.problem.tend)) from None
    freedoms = left_free(motion)
    return Inverse(motion, freedoms, needs_of(motion), asked.text, undriven(freedoms))


def driven_spec(spec: MechSpec, prescribed: Prescribed, kind: str, times: Mapping[str, float]) -> MechSpec:
    """The file with drives for these motions, in the place of those of its own that move the same."""
    laws, courses = dict(prescribed.formulas), {}
    for number, (name, (t, values)) in enumerate(prescribed.tables.items(), 1):
        table = f"motion_{number}"
        courses[table] = Course(t.tolist(), values.tolist(), False, prescribed.spline(name, kind))
        laws[name] = table
    if not laws:
        return spec
    wanted = {column_of(name) for name in laws}
    text = driven(spec.text, laws, lambda key: column_of(key) in wanted, courses, times)
    try:
        found = parse(text, spec.path, spec.overrides, spec.files, tables_from=None if spec.files else ())
    except SpecError as error:
        raise SpecError(*(_told(fault, spec) for fault in error.faults)) from None
    return found


def _told(fault: Fault, spec: MechSpec) -> Fault:
    """Without a place where it is not one of the user's own file."""
    own = len(spec.text.splitlines())
    if fault.mark is not None and fault.mark.line > own - 1:
        return Fault(fault.message, None, fault.hint)
    return fault
