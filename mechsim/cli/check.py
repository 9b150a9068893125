"""`mechsim check`: what the structure of the equations tells before anything is simulated."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from mechsim.cli import errors, interrupts, options, tables, weights
from mechsim.cli.assemble import redundant_labels
from mechsim.cli.summary import count, equation_counts, integrals
from mechsim.errors import AssemblyError
from mechsim.frozen import frozen

if TYPE_CHECKING:
    from mechsim.initial import Start
    from mechsim.kernel.system import System
    from mechsim.model.mechanism import Mechanism
    from mechsim.spec.document import MechSpec
    from mechsim.structure import Choice, Freedom, Structure

SIZES_SHOWN = 6  # of the blocks


@frozen
class Findings:
    """What was found. `failure` says why there is no consistent start; then freedoms of parts are not known."""

    spec: MechSpec
    mechanism: Mechanism
    complete: System  # with all constraints
    system: System  # without redundant ones
    structure: Structure
    start: Start | None
    freedom: Freedom | None
    failure: AssemblyError | None


@click.command(
    epilog="\b\nExample:\n  mechsim check specs/mechanism1a.yaml",
    short_help="Degrees of freedom, index and structure, without simulating.",
)
@options.shared(options.SPEC, options.T0, options.SET, options.TABLES, options.BRANCH, options.JSON, options.DEBUG)
def check(
    spec: str,
    t0: float | None,
    parameters: dict[str, str],
    folders: tuple[str, ...],
    branch: int | None,
    as_json: bool,
    debug: bool,
) -> None:
    """Read SPEC.yaml and tell its degrees of freedom, index, signature tableau, redundant constraints, which values
    may be fixed, which parts share which degrees of freedom, and what parts made of shapes weigh."""
    from mechsim import simulation

    with interrupts.at_once():
        adjusted = simulation.adjust(simulation.read(spec, parameters, folders), t0=t0, branch=branch)
        _check_sections(adjusted)
        found = _examine(adjusted)
    if as_json and not found.failure:
        click.echo(json.dumps(_as_dict(found)))
    elif not as_json:
        _show(found)
    if found.failure:
        raise found.failure


def _check_sections(spec: MechSpec) -> None:
    """Of what few files have: nothing is imported for others."""
    if spec.sweep or spec.tolerances or spec.optimize:
        from mechsim.study.sections import check_sections

        check_sections(spec)


def _examine(spec: MechSpec) -> Findings:
    from mechsim.initial.problem import InitialValueProblem
    from mechsim.structure import NO_REDUNDANCY, analyse, freedom

    problem = InitialValueProblem.of(spec)
    complete, start, failure = problem.system.bilateral, None, None
    try:
        start = problem.start
    except AssemblyError as error:
        failure = error  # the structure may still be told, and may explain it
    redundant = start.redundancy if start else NO_REDUNDANCY
    system = complete.without(redundant.rows)
    try:
        structure = analyse(complete, redundant)
    except AssemblyError as error:
        raise failure or error from None
    found = freedom(complete, start.t, start.positions, start.velocities) if start else None
    return Findings(spec, problem.mechanism, complete, system, structure, start, found, failure)


def _show(found: Findings) -> None:
    from mechsim.structure import tableau

    text = tableau(found.system, found.structure)
    click.echo("\n".join([text, *_what_dof_counts(found)]) + "\n")
    widest, room = max(map(len, text.split("\n"))), shutil.get_terminal_size().columns
    if sys.stdout.isatty() and widest > room:
        errors.note(f"the tableau is {widest} characters wide, the window {room}: try  mechsim check ... | less -S")
    for note in found.start.notes if found.start else found.mechanism.notes:
        errors.note(note)
    tables.heading(found.spec.title or found.spec.path)
    tables.facts([*_freedom_facts(found), *_equation_facts(found), *weights.facts(found.spec)])


def _what_dof_counts(found: Findings) -> list[str]:
    """The seed's DOF counts start values; people count degrees of freedom."""
    freedom = found.freedom
    states = integrals(found.system)
    if not found.structure.total_dof:
        return []
    if freedom is None or freedom.positions + freedom.velocities + states != found.structure.total_dof:
        return ["(DOF counts start values: positions, velocities and integrals)"]
    counts = [count(freedom.positions, "position"), count(freedom.velocities, "velocity")]
    counts += [count(states, "integral")] if states else []
    return [f"(DOF counts start values: {', '.join(counts[:-1])} and {counts[-1]})"]


def _equation_facts(found: Findings) -> list[tuple[str, str]]:
    structure = found.structure
    redundant = redundant_labels(found.start, found.complete) if found.start else []
    sizes = sorted((len(block) for block in structure.blocks), reverse=True)
    more = ", ..." if len(sizes) > SIZES_SHOWN else ""
    return [
        ("equations", equation_counts(found.system)),
        ("redundant", ", ".join(redundant) if redundant else "none" if found.start else "not known"),
        *(("", told) for told in _repetitions(found)),
        ("index", str(structure.index)),
        ("blocks", f"{len(sizes)}, of size {', '.join(map(str, sizes[:SIZES_SHOWN]))}{more}"),
    ]


def _repetitions(found: Findings) -> list[str]:
    from mechsim.result.repeated import repetitions

    return repetitions(found.complete.mechanism, found.start.redundancy) if found.start else []


def _freedom_facts(found: Findings) -> list[tuple[str, str]]:
    from mechsim.structure import describe_sharing

    freedom = found.freedom
    if freedom is None:
        return [("freedom", count(found.structure.dof, "degree of freedom"))]
    facts = [("freedom", freedom_words(freedom))]
    if freedom.groups:
        facts.append(("parts", describe_sharing(freedom.groups)))
    return [*facts, *_choice_facts(freedom)]


def freedom_words(freedom: Freedom) -> str:
    """`1 degree of freedom, driven by theta_OA`, and what differs between positions and velocities."""
    words = count(freedom.own, "degree of freedom")
    driven = freedom.own - freedom.velocities
    if freedom.drives:
        which = "" if driven == freedom.own else f"{driven} of them "
        words += f", {which}driven by {', '.join(freedom.drives)}"
    if freedom.rolling:
        binds = "binds" if len(freedom.rolling) == 1 else "bind"
        words += f" ({', '.join(freedom.rolling)} {binds} velocities only)"
    return words


def _choice_facts(freedom: Freedom) -> list[tuple[str, str]]:
    """What may be fixed at the start."""
    positions, velocities = freedom.position_choices, freedom.velocity_choices
    if not positions and not velocities:
        return [("may be fixed", "nothing: the drives decide all")] if freedom.drives else []
    if positions == velocities:
        single = len(positions) == len(positions[0].labels) == 1
        lines = [*_choice_words(positions), "and its velocity" if single else "and as many of their velocities"]
    else:
        lines = [f"positions: {words}" for words in _choice_words(positions) or ["none"]]
        lines += [f"velocities: {words}" for words in _choice_words(velocities) or ["none"]]
    return [("may be fixed" if number == 0 else "", line) for number, line in enumerate(lines)]


def _choice_words(choices: Sequence[Choice]) -> list[str]:
    return [
        ", ".join(choice.labels)
        if choice.count == len(choice.labels)
        else f"{choice.count} of {', '.join(choice.labels)}"
        for choice in choices
    ]


def _as_dict(found: Findings) -> dict[str, object]:
    structure, freedom = found.structure, found.freedom
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
        "redundant": redundant_labels(found.start, found.complete) if found.start else [],
        "freedom": asdict(freedom) if freedom else None,
        "groups": [{"parts": list(group.parts), "dof": group.freedom} for group in freedom.groups] if freedom else [],
        "may_fix": _choices_as_dicts(freedom.position_choices) if freedom else [],
        "may_fix_velocities": _choices_as_dicts(freedom.velocity_choices) if freedom else [],
        "weights": weights.as_dict(found.spec),
        "notes": list(map(str, found.start.notes)) if found.start else [],
    }


def _choices_as_dicts(choices: Sequence[Choice]) -> list[dict[str, object]]:
    return [{"count": choice.count, "of": list(choice.labels)} for choice in choices]
