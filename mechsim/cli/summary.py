"""What a run says at its end: the mechanism, the certificate, the file, and where everything is now."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from mechsim.cli import tables
from mechsim.frozen import frozen
from mechsim.spec.names import AXES

if TYPE_CHECKING:
    from mechsim.engine.solution import Solution
    from mechsim.kernel.system import System
    from mechsim.result import Agreement, Certificate
    from mechsim.result.pace import Pace
    from mechsim.simulation import Prepared
    from mechsim.structure import Structure
    from mechsim.study.references import Agreement as Answer

MANY_STEPS = 1000  # of fewer nobody asks what limits them
EVENTS_SHOWN = 5
MOST_ROWS_SHOWN = 12  # of the end state; the file has the rest
MOST_DIGITS, FEWEST_DIGITS = 9, 3  # of the end state; a narrow window gets fewer


@frozen
class Outcome:
    """Everything the summary of a finished run tells."""

    prepared: Prepared
    solution: Solution
    certificate: Certificate
    path: str
    rows: int
    columns: int
    not_unique: Sequence[str] = ()
    second_tolerance: float | None = None
    agreements: Sequence[Agreement] = ()
    seconds: float = 0.0
    answers: Sequence[Answer] = ()  # beside those that the file's Reference knows

    @property
    def doubts(self) -> tuple[str, ...]:
        """What a person should be told before they trust the motion."""
        from mechsim.result import disagreement

        return (*self.certificate.doubts(), *disagreement(self.agreements), *_missed(self.answers))


def show(outcome: Outcome, *, err: bool) -> None:
    """The summary for people."""
    prepared = outcome.prepared
    if prepared.spec.solver.show_signature:
        from mechsim.structure import tableau

        click.echo(tableau(prepared.independent, prepared.structure), err=err)
    tables.heading(prepared.spec.title or prepared.spec.path, err=err)
    tables.facts([*_mechanism(outcome), *_certificate(outcome), *_file(outcome)], err=err)
    _show_events(outcome, err)
    _show_end(outcome, err)
    if outcome.agreements:
        _show_agreement(outcome, err)


def count(number: int, noun: str) -> str:
    """`1 constraint`, `2 velocities`, `2 degrees of freedom`."""
    head, space, tail = noun.partition(" ")
    many = f"{head[:-1]}ies" if head.endswith("y") else f"{head}s"
    return f"{number} {head if number == 1 else many}{space}{tail}"


def equation_counts(system: System) -> str:
    """`7 coordinates, 6 constraints`; integrals of work or control are no coordinates."""
    states = integrals(system)
    counts = [count(system.n - states, "coordinate"), count(system.m, "constraint")]
    return ", ".join([*counts, count(states, "integral")] if states else counts)


def integrals(system: System) -> int:
    """Integrals of work or control, which are states but no coordinates."""
    return sum(variable.kind == "state" for variable in system.mechanism.variables)


def _freedom(system: System, structure: Structure) -> str:
    """Velocities that may be chosen; positions may be more of them where something rolls."""
    velocities = structure.total_dof - structure.dof - integrals(system)
    words = count(velocities, "degree of freedom")
    if drives := len(system.mechanism.prescribed):
        return f"{words} left by {count(drives, 'drive')}"
    return words if velocities == structure.dof else f"{words} ({count(structure.dof, 'position')} to choose)"


def redundant_labels(prepared: Prepared) -> list[str]:
    """Names of the constraints that follow from the others."""
    return [prepared.system.labels[prepared.system.n + row] for row in prepared.structure.redundancy.rows]


def _repetitions(prepared: Prepared) -> list[str]:
    """Which joints repeat what others fix."""
    if not prepared.structure.redundancy.rows:
        return []
    from mechsim.result.repeated import repetitions

    return repetitions(prepared.mechanism, prepared.structure.redundancy)


def _mechanism(outcome: Outcome) -> list[tuple[str, str]]:
    system, structure = outcome.prepared.independent, outcome.prepared.structure
    problem = outcome.prepared.spec.problem
    figures = outcome.certificate
    rejected = f" ({figures.rejected} rejected)" if figures.rejected else ""
    redundant = redundant_labels(outcome.prepared)
    left_out = f" ({', '.join(redundant)} left out as redundant)" if redundant else ""
    return [
        (
            "mechanism",
            f"{equation_counts(system)}{left_out}, {_freedom(system, structure)}, index {structure.index}",
        ),
        *(("", told) for told in _repetitions(outcome.prepared)),
        (
            "motion",
            f"t = {float(problem.t0):g} to {float(outcome.solution.t[-1]):g} "
            f"in {count(figures.steps, 'step')}{rejected}, "
            f"order {figures.order}, tolerance {figures.tolerance:g}",
        ),
        *(("steps", each.words) for each in [_pace(outcome)] if each),
        ("time", f"{_duration(figures.seconds)} to integrate, {_duration(outcome.seconds)} in all"),
    ]


def _pace(outcome: Outcome) -> Pace | None:
    """What limits the steps, where a person may ask."""
    if outcome.certificate.steps < MANY_STEPS:
        return None
    from mechsim.result.pace import pace

    return pace(outcome.solution, outcome.certificate.steps)


def _certificate(outcome: Outcome) -> list[tuple[str, str]]:
    figures = outcome.certificate
    account = _account(outcome)
    what = "T + V less all work " if account else ""
    energy = _measured_by("its largest term", figures.largest_energy, figures.least_energy, "J")
    speed = _measured_by("the peak speed", figures.peak_speed, figures.least_speed, "m/s")
    return [
        ("energy", f"{what}kept to {figures.energy_drift:.1e} {energy}"),
        *account,
        ("constraints", f"met to {figures.position_residual:.1e} of the size, {figures.size:.4g} m"),
        ("their rates", f"met to {figures.velocity_residual:.1e} {speed}"),
        *_balance(figures),
        *_overlap(outcome),
        *_answers(outcome),
    ]


def _measured_by(name: str, largest: float, least: float, unit: str) -> str:
    """What a figure is relative to; at rest that is no more than rounding, and something larger stands for it."""
    if largest >= least or not largest:
        return f"of {name}, {largest:.4g} {unit}"
    return f"of {least:.1e} {unit}: {name}, {largest:.1e} {unit}, is near what rounding makes"


def _overlap(outcome: Outcome) -> list[tuple[str, str]]:
    """How deep a contact was entered, and what happened at contacts."""
    figures, events = outcome.certificate, outcome.solution.events
    if events is None or not events.names:
        return []
    kinds = Counter(each.kind for each in events)
    words = {"impact": "impact", "contact": "contact", "attach": "bond", "release": "release", "event": "event"}
    words |= {"stick": "stick", "slip": "slip", "limited": "limited impact"}
    counts = [count(kinds[kind], word) for kind, word in words.items() if kinds[kind]]
    last = f", the last at t = {events[-1].t:.9g}" if len(events) else ""
    lost = float(events.column("lost").sum())
    last += f"; impacts took {lost:.4g} J" if lost > 0 else ""
    deepest = figures.deepest_overlap
    return [
        *([("overlap", f"deepest {deepest:.1e} of the size of a gap")] if deepest is not None else []),
        ("events", f"{', '.join(counts) or 'none'}{last}"),
        *(
            [("not unique", f"{_some(sorted(events.shared))}: other loads of these would do, too")]
            if events.shared
            else []
        ),
    ]


def _balance(figures: Certificate) -> list[tuple[str, str]]:
    if figures.reaction_balance is None:
        return []
    return [("reactions", f"balance to {figures.reaction_balance:.1e} of the largest force on each part")]


def _answers(outcome: Outcome) -> list[tuple[str, str]]:
    """How the motion compares with what its file knows of it."""
    if not outcome.answers:
        return []
    times = len({each.known.time for each in outcome.answers})
    fewest = min(each.digits for each in outcome.answers)
    values = f"{count(len(outcome.answers), 'value')} known at {count(times, 'time')}"
    return [("reference", f"{fewest:.1f} digits or more of {values}")]


def _missed(answers: Sequence[Answer]) -> tuple[str, ...]:
    missed = sorted((each for each in answers if each.missed), key=lambda each: each.margin)
    if not missed:
        return ()
    more = f" (and {len(missed) - 1} more)" if len(missed) > 1 else ""
    return (f"the motion is not the one that the file's Reference knows: {missed[0]}{more}",)


def _account(outcome: Outcome) -> list[tuple[str, str]]:
    """What forces and drives gave and dampers took, from the first row to the last."""
    from mechsim.result import accounts, balances

    mechanism = outcome.prepared.mechanism
    came_to = balances(mechanism, outcome.solution.q)
    titles = {"drive": "drives gave", "force": "forces gave", "dissipation": "dampers took", "contact": "contacts took"}
    lines = []
    for source, title in titles.items():
        sign = -1.0 if title.endswith("took") else 1.0
        chosen = [each.label for each in accounts(mechanism) if each.source == source]
        terms = [f"{sign * came_to[label] + 0.0:.4g} J ({label})" for label in chosen[:MOST_ROWS_SHOWN]]
        if len(chosen) > 1:
            terms.insert(0, f"{sign * sum(came_to[label] for label in chosen):.4g} J:")
        if chosen:
            lines.append((title, ", ".join(terms).replace(":,", ":")))
    return lines


def _file(outcome: Outcome) -> list[tuple[str, str]]:
    if outcome.path == "-":
        return []
    lines = [("file", f"{short(outcome.path)}: {count(outcome.rows, 'row')}, {count(outcome.columns, 'column')}")]
    if outcome.not_unique:
        shown = _some(outcome.not_unique)
        lines.append(("not unique", f"{shown}: redundant constraints share these forces; the smallest are given"))
    return lines


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:MOST_ROWS_SHOWN]) + (", ..." if len(names) > MOST_ROWS_SHOWN else "")


def short(path: str) -> str:
    """A path as the user would type it."""
    try:
        relative = os.path.relpath(path)
    except OSError:  # the working folder is gone
        return path
    return path if relative.startswith("..") else relative


def _duration(seconds: float) -> str:
    if seconds < 1.0:
        return f"{seconds * 1000:.3g} ms"
    return f"{seconds:.3g} s" if seconds < 120.0 else f"{seconds / 60.0:.3g} min"


def _show_events(outcome: Outcome, err: bool) -> None:
    """The first of what happened; the file of events has all."""
    events = outcome.solution.events
    if events is None or not len(events):
        return
    first = [events[number] for number in range(min(len(events), EVENTS_SHOWN))]
    rows = []
    for each in first:
        told = (each.before, each.after, each.impulse, each.lost)
        numbers = ["" if each.kind == "event" else f"{value + 0.0:.4g}" for value in told]
        rows.append([f"{each.t:.9g}", each.gap, each.kind, *numbers])
    columns = ["event at t", "of", "", "rate before", "after", "impulse", "energy lost"]
    tables.table(columns, rows, right=(0, 3, 4, 5, 6), err=err)
    if len(events) > len(first):
        click.echo(f"  and {len(events) - len(first)} more", err=err)


def _show_end(outcome: Outcome, err: bool) -> None:
    """Where every point is at the end, and how it moves, with as many digits as the window has room for."""
    axes = AXES[: outcome.prepared.mechanism.dimension]
    columns = [f"at t = {float(outcome.solution.t[-1]):g}", *axes, *(f"{axis}_dot" for axis in axes)]
    room = shutil.get_terminal_size().columns
    rows = end_rows(outcome, FEWEST_DIGITS)
    for digits in range(MOST_DIGITS, FEWEST_DIGITS, -1):
        candidate = end_rows(outcome, digits)
        if tables.width(columns, candidate) <= room:
            rows = candidate
            break
    tables.table(columns, rows[:MOST_ROWS_SHOWN], right=range(1, len(columns)), err=err)
    if len(rows) > MOST_ROWS_SHOWN:
        click.echo(f"  and {len(rows) - MOST_ROWS_SHOWN} more", err=err)


def end_rows(outcome: Outcome, digits: int) -> list[list[str]]:
    """Per moving point its position and velocity, then turn angles and states with their rates."""
    mechanism, q, v = outcome.prepared.mechanism, outcome.solution.q[-1], outcome.solution.v[-1]
    rows, blank = [], [""] * (mechanism.dimension - 1)
    for point, slots in mechanism.points.items():
        if all(slot >= 0 for slot in slots):
            rows.append([point, *(f"{values[slot]:.{digits}g}" for values in (q, v) for slot in slots)])
    for index, variable in enumerate(mechanism.variables):
        if variable.kind != "position":
            rows.append([variable.label, f"{q[index]:.{digits}g}", *blank, f"{v[index]:.{digits}g}", *blank])
    return rows


def _show_agreement(outcome: Outcome, err: bool) -> None:
    columns = [f"digits shared with tolerance {outcome.second_tolerance:g}", "at the end", "throughout"]
    rows = [[each.quantity, f"{each.at_end:.1f}", f"{each.throughout:.1f}"] for each in outcome.agreements]
    tables.table(columns, rows, right=(1, 2), err=err)


def as_json(outcome: Outcome) -> str:
    """The summary for programs: one JSON object."""
    from mechsim.result import balances
    from mechsim.result.happenings import as_list

    prepared, solution = outcome.prepared, outcome.solution
    labels = [variable.label for variable in prepared.mechanism.variables]
    summary: dict[str, object] = {
        "status": solution.status,
        "exit_code": 0,
        "title": prepared.spec.title,
        "spec": prepared.spec.path,
        "version": prepared.facts["version"],
        "settings": prepared.facts["settings"],
        "coordinates": prepared.system.n - integrals(prepared.system),
        "integrals": integrals(prepared.system),
        "constraints": prepared.independent.m,
        "dof": int(prepared.structure.dof),
        "index": int(prepared.structure.index),
        "redundant": redundant_labels(prepared),
        "notes": list(map(str, prepared.notes)),
        "doubts": list(outcome.doubts),
        "certificate": outcome.certificate.as_dict(),
        "accounts": balances(prepared.mechanism, solution.q),
        "not_unique": list(outcome.not_unique),
        "shared": sorted(solution.events.shared) if solution.events else [],
        "statistics": dict(solution.statistics),
        "seconds": outcome.seconds,
        "output": outcome.path,
        "rows": outcome.rows,
        "end": {
            "t": float(solution.t[-1]),
            "positions": dict(zip(labels, map(float, solution.q[-1]), strict=True)),
            "velocities": dict(zip(labels, map(float, solution.v[-1]), strict=True)),
        },
    }
    if solution.events is not None and solution.events.names:
        summary["events"] = as_list(solution.events)
        summary["event_count"] = len(solution.events)
    if found := _pace(outcome):
        rate = {"real": found.rate.real, "imag": found.rate.imag}
        summary["pace"] = {"limited_by": found.limit, "rate": rate, "step": found.step}
    if outcome.answers:
        summary["reference"] = [
            {
                "t": each.known.time,
                "column": each.known.column,
                "value": each.known.value,
                "found": each.found,
                "digits": each.digits,
                "asked": each.known.digits,
            }
            for each in outcome.answers
        ]
    if outcome.second_tolerance is not None:
        digits = {each.quantity: [each.at_end, each.throughout] for each in outcome.agreements}
        summary["verify"] = {"tol": outcome.second_tolerance, "digits": digits}
    return json.dumps(summary)
