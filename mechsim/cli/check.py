"""`mechsim check`: what the structure of the equations tells before anything is simulated."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from mechsim.cli import errors, interrupts, options, tables
from mechsim.cli.assemble import redundant_labels
from mechsim.cli.summary import count
from mechsim.errors import AssemblyError

if TYPE_CHECKING:
    from mechsim.model.mechanism import Mechanism
    from mechsim.spec.document import MechSpec

SIZES_SHOWN = 6  # of the blocks


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found. `failure` says why there is no consistent start; then freedoms of parts are not known."""

    spec: MechSpec
    mechanism: Mechanism
    complete: Any  # the system with all constraints
    system: Any  # without redundant ones
    structure: Any
    start: Any
    groups: list[Any]
    failure: AssemblyError | None


@click.command(
    epilog="\b\nExample:\n  mechsim check specs/mechanism1a.yaml",
    short_help="Degrees of freedom, index and structure, without simulating.",
)
@options.shared(options.SPEC, options.T0, options.SET, options.BRANCH, options.JSON, options.DEBUG)
def check(
    spec: str, t0: float | None, parameters: dict[str, str], branch: int | None, as_json: bool, debug: bool
) -> None:
    """Read SPEC.yaml and tell its degrees of freedom, index, signature tableau, redundant constraints, which values
    may be fixed, and which parts share which degrees of freedom."""
    from mechsim import simulation

    with interrupts.at_once():
        found = _examine(simulation.adjust(simulation.read(spec, parameters), t0=t0, branch=branch))
    if as_json and not found.failure:
        click.echo(json.dumps(_as_dict(found)))
    elif not as_json:
        _show(found)
    if found.failure:
        raise found.failure


def _examine(spec: MechSpec) -> Findings:
    from mechsim.initial import assemble
    from mechsim.kernel.system import System
    from mechsim.model import build
    from mechsim.structure import analyse, sharing

    mechanism = build(spec)
    complete = System(mechanism)
    start, failure = None, None
    try:
        start = assemble(mechanism, complete, spec.problem)
    except AssemblyError as error:
        failure = error  # the structure may still be told, and may explain it
    system = start.system if start else complete
    try:
        structure = analyse(system)
    except AssemblyError as error:
        raise failure or error from None
    groups = sharing(system, start.t, start.positions) if start else []
    return Findings(spec, mechanism, complete, system, structure, start, groups, failure)


def may_fix(mechanism: Mechanism, groups: list[Any]) -> list[tuple[int, list[str]]]:
    """Per group of parts: how many of which coordinates may be `fixed` (and as many of their velocities)."""
    parts = {part.name: part for part in mechanism.parts}
    taken: set[str] = set()
    choices = []
    for group in (group for group in groups if group.freedom):
        points = sorted({point for name in group.parts for point in parts[name].points} - taken)
        owners = {*points, *group.parts}
        labels = [each.label for each in mechanism.variables if each.owner in owners and each.kind != "state"]
        choices.append((group.freedom, labels))
        taken.update(points)
    return choices


def _show(found: Findings) -> None:
    from mechsim.structure import tableau

    text = tableau(found.system, found.structure)
    click.echo(text + "\n")
    widest, room = max(map(len, text.split("\n"))), shutil.get_terminal_size().columns
    if sys.stdout.isatty() and widest > room:
        errors.note(f"the tableau is {widest} characters wide, the window {room}: try  mechsim check ... | less -S")
    tables.heading(found.spec.title or found.spec.path)
    tables.facts([*_size_facts(found), *_freedom_facts(found)])
    for note in found.start.notes if found.start else ():
        errors.note(note)


def _size_facts(found: Findings) -> list[tuple[str, str]]:
    system, structure = found.system, found.structure
    redundant = redundant_labels(found.start, found.complete) if found.start else []
    sizes = sorted((len(block) for block in structure.blocks), reverse=True)
    more = ", ..." if len(sizes) > SIZES_SHOWN else ""
    return [
        ("equations", f"{count(system.n, 'coordinate')}, {count(system.m, 'constraint')}"),
        ("freedom", count(structure.dof, "degree of freedom")),
        ("index", str(structure.index)),
        ("redundant", ", ".join(redundant) if redundant else "none" if found.start else "not known"),
        ("blocks", f"{len(sizes)}, of size {', '.join(map(str, sizes[:SIZES_SHOWN]))}{more}"),
    ]


def _freedom_facts(found: Findings) -> list[tuple[str, str]]:
    from mechsim.structure import describe_sharing

    if not found.groups:
        return []
    facts = [("parts", describe_sharing(found.groups))]
    for number, (freedom, labels) in enumerate(may_fix(found.mechanism, found.groups)):
        facts.append(("may be fixed" if number == 0 else "", f"{freedom} of {', '.join(labels)}"))
    return [*facts, ("", "and as many of their velocities")] if len(facts) > 1 else facts


def _as_dict(found: Findings) -> dict[str, Any]:
    structure = found.structure
    return {
        "status": "checked",
        "title": found.spec.title,
        "dof": int(structure.dof),
        "total_dof": int(structure.total_dof),
        "index": int(structure.index),
        "labels": list(found.system.labels),
        "equation_offsets": [int(c) for c in structure.equation_offsets],
        "variable_offsets": [int(d) for d in structure.variable_offsets],
        "assignment": [int(column) for column in structure.assignment],
        "blocks": [[int(row) for row in block] for block in structure.blocks],
        "redundant": redundant_labels(found.start, found.complete),
        "groups": [{"parts": list(group.parts), "dof": int(group.freedom)} for group in found.groups],
        "may_fix": [{"count": freedom, "of": labels} for freedom, labels in may_fix(found.mechanism, found.groups)],
        "notes": list(map(str, found.start.notes)),
    }
