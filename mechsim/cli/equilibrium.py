"""`mechsim equilibrium`: where a mechanism rests, and whether it stays there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from mechsim.cli import errors, interrupts, options, tables
from mechsim.cli.linearize import as_dict
from mechsim.cli.progress import Tally
from mechsim.spec.names import AXES

if TYPE_CHECKING:
    from mechsim.analysis.rest import Rest
    from mechsim.simulation import Prepared

SIDE_BY_SIDE = 4  # rests per table: fits 80 columns


@click.command(
    epilog="\b\nExamples:\n"
    "  mechsim equilibrium specs/mechanism1a.yaml\n"
    "  mechsim equilibrium crane.yaml --reactions A,B --json",
    short_help="Where a mechanism rests, and whether it stays there.",
)
@options.shared(
    options.SPEC,
    click.option(
        "--reactions", callback=options.names, metavar="POINTS", help="Forces on parts at these points, as A,B."
    ),
    options.T0,
    options.SET,
    options.TABLES,
    options.BRANCH,
    options.JSON,
    options.DEBUG,
)
def equilibrium(
    spec: str,
    reactions: tuple[str, ...] | None,
    t0: float | None,
    parameters: dict[str, str],
    folders: tuple[str, ...],
    branch: int | None,
    as_json: bool,
    debug: bool,
) -> None:
    """Find poses of SPEC.yaml in which all forces balance: first the one that is found from the start, then others that
    it can be moved to, by their potential energies; with their stability, by the exact linear motion near them."""
    from mechsim import simulation
    from mechsim.analysis import asked

    points = reactions or ()
    spec_read = simulation.adjust(simulation.read(spec, parameters, folders), t0=t0, branch=branch)
    with interrupts.at_once(), Tally("{} rests found from {} poses", quiet=as_json) as told:
        prepared = simulation.prepare(spec_read)
        simulation.reaction_points(prepared, points)
        found = asked.equilibria(prepared, told)
    forces = [_forces(prepared, rest, points) for rest in found]
    if as_json:
        listed = [_as_dict(rest, force) for rest, force in zip(found, forces, strict=True)]
        click.echo(json.dumps({"title": spec_read.title, "rests": listed}))
        return
    if found[0].linear.reads_time:
        errors.note(f"forces depend on time: these are rests for what they are at t = {found[0].linear.t:g}")
    tables.heading(spec_read.title or spec_read.path)
    words = "1 rest was found" if len(found) == 1 else f"{len(found)} rests were found"
    click.echo(f"  {words}; there may be others")
    for first in range(0, len(found), SIDE_BY_SIDE):
        _show(found[first : first + SIDE_BY_SIDE], forces[first : first + SIDE_BY_SIDE], first)


def _forces(prepared: Prepared, rest: Rest, points: Sequence[str]) -> dict[str, dict[str, list[float]]]:
    """On each part, at each point."""
    from mechsim.analysis.asked import reactions_at

    return {point: reactions_at(prepared, rest.linear, point) for point in points}


def _show(found: Sequence[Rest], forces: Sequence[dict[str, dict[str, list[float]]]], first: int) -> None:
    columns = ["rest", *(str(first + index + 1) for index in range(len(found)))]
    rows = [["stability", *(rest.stability for rest in found)]]
    rows.append(["V", *(f"{rest.energy:.8g}" for rest in found)])
    rows.append(["slowest", *(_slowest(rest) for rest in found)])
    if any(rest.neighbours for rest in found):
        rows.append(["rests beside it", *(_ways(rest.neighbours) for rest in found)])
    labels = found[0].linear.coordinates
    kept = [place for place, label in enumerate(labels) if not label.startswith("work_")]
    rows += [[labels[place], *(f"{round(rest.positions[place], 12) + 0.0:.9g}" for rest in found)] for place in kept]
    for point, parts in forces[0].items():
        for part in parts:
            for axis, name in enumerate(AXES[: len(parts[part])]):
                label = f"{point} on {part}, {name}"
                rows.append([label, *(f"{force[point][part][axis] + 0.0:.8g} N" for force in forces)])
    tables.table(columns, rows, right=range(1, len(columns)))


def _ways(neighbours: int) -> str:
    return "" if not neighbours else "1 way" if neighbours == 1 else f"{neighbours} ways"


def _slowest(rest: Rest) -> str:
    """What takes longest: a swing, a decay, or what grows fastest where something does."""
    modes = rest.linear.modes
    growing = [mode for mode in modes if not mode.undamped and mode.eigenvalue.real > 0]
    if growing:
        return f"grows in {1 / max(mode.eigenvalue.real for mode in growing):.4g} s"
    swings = [mode.frequency for mode in modes if mode.frequency > 0]
    return f"{min(swings):.6g} Hz" if swings else ""


def _as_dict(rest: Rest, forces: dict[str, dict[str, list[float]]]) -> dict[str, object]:
    linear = as_dict(rest.linear)
    kept = {name: linear[name] for name in ("t", "positions", "modes")}
    return {**kept, "stability": rest.stability, "V": rest.energy, "neighbours": rest.neighbours, "reactions": forces}
