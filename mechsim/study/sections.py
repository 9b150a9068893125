"""Whether what a file asks of its motions makes sense: what is in its sections Sweep, Tolerances and Optimize."""

from __future__ import annotations

from collections.abc import Callable

from mechsim.design.tolerances import sizes_of
from mechsim.design.wanted import read_task
from mechsim.errors import Fault, SpecError
from mechsim.handle import mechanism
from mechsim.handle.optimizing import Given, wanted_of
from mechsim.handle.subject import FileSubject
from mechsim.spec.document import MechSpec
from mechsim.study.plan import plan_of


def check_sections(spec: MechSpec) -> None:
    """Raises SpecError with all that is wrong in them."""
    checks = {check: asked for check, asked in _CHECKS.items() if asked(spec)}
    faults: list[Fault] = []
    for check in checks:
        try:
            check(spec)
        except SpecError as error:
            faults += error.faults
    if faults:
        raise SpecError(*faults)


def _tolerances(spec: MechSpec) -> None:
    sizes_of(FileSubject(mechanism(spec)), spec.tolerances, {})


def _optimize(spec: MechSpec) -> None:
    subject = FileSubject(mechanism(spec))
    inputs = [each.name for each in spec.actions.inputs]
    span = float(spec.problem.t0), float(spec.problem.tend)
    read_task(wanted_of(spec, Given()), subject, inputs, span, ())


_CHECKS: dict[Callable[[MechSpec], object], Callable[[MechSpec], object]] = {
    plan_of: lambda spec: spec.sweep,
    _tolerances: lambda spec: spec.tolerances,
    _optimize: lambda spec: spec.optimize,
}
