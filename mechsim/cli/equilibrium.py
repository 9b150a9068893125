"""`mechsim equilibrium`: where a mechanism rests, or moves steadily, and whether it stays there."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mechsim.cli import errors, interrupts, options, tables
from mechsim.cli.linearize import as_dict
from mechsim.cli.progress import Tally

if TYPE_CHECKING:
    from mechsim.analysis.joint_loads import JointLoads
    from mechsim.analysis.rest import Rest
    from mechsim.analysis.steady import Steady
    from mechsim.simulation import Prepared

SIDE_BY_SIDE = 4  # rests per table: fits 80 columns
FORMS = (".csv", ".npz", ".json")


@click.command(
    epilog="\b\nExamples:\n"
    "  mechsim equilibrium specs/mechanism1a.yaml\n"
    "  mechsim equilibrium crane.yaml --reactions A,B -o rests.csv --plot rests.png\n"
    "  mechsim equilibrium specs/space/governor.yaml --steady",
    short_help="Where a mechanism rests, or moves steadily, and whether it stays there.",
)
@options.shared(
    options.SPEC,
    click.option("--steady", is_flag=True, help="Steady motions: carried along by a turn or shift, and else at rest."),
    click.option(
        "--reactions",
        callback=options.names,
        metavar="POINTS",
        help="Forces on parts at these points, as A,B, or at all.",
    ),
    options.T0,
    options.SET,
    options.TABLES,
    options.BRANCH,
    click.option("-o", "--output", metavar="FILE", help="Write them: .csv, .npz or .json."),
    click.option("--plot", "picture", metavar="FILE", help="Draw the poses, energies and stability: .png, .svg, .pdf."),
    options.JSON,
    options.DEBUG,
)
def equilibrium(
    spec: str,
    steady: bool,
    reactions: tuple[str, ...] | None,
    t0: float | None,
    parameters: dict[str, str],
    folders: tuple[str, ...],
    branch: int | None,
    output: str | None,
    picture: str | None,
    as_json: bool,
    debug: bool,
) -> None:
    """Find poses of SPEC.yaml in which all forces balance: first the one that is found from the start, then others that
    it can be moved to, by their potential energies; with their stability, by the exact linear motion near them. A
    mechanism with contacts sinks from its start until it leans on them.

    With --steady, motions in which it is carried along by a steady turn or shift that its equations do not notice (of a
    drive, or of its own), while nothing else moves."""
    import numpy as np

    from mechsim import simulation
    from mechsim.analysis.joint_loads import joint_loads, points_of_joints

    targets = _targets(output, picture)
    spec_read = simulation.adjust(simulation.read(spec, parameters, folders), t0=t0, branch=branch)
    words = "steady motions" if steady else "rests"
    with interrupts.at_once(), Tally(f"{{}} {words} found from {{}} poses", quiet=as_json) as told:
        prepared = simulation.prepare(spec_read)
        points = points_of_joints(prepared, reactions or ())
        found = _found(prepared, steady, told)
    forces = [joint_loads(prepared, rest.linear, points, getattr(rest, "held", None)) for rest in found]
    listed = [_as_dict(rest, force) for rest, force in zip(found, forces, strict=True)]
    whole: dict[str, object] = {"title": spec_read.title, "steady" if steady else "rests": listed}
    if output is not None:
        _write(whole, found, forces, targets[0])
    title = spec_read.title or spec_read.path
    if picture is not None:
        _draw(title, prepared, found, targets[-1], words)
    if as_json:
        click.echo(json.dumps(whole))
        return
    if found[0].linear.reads_time and not steady:
        errors.note(f"forces depend on time: these are rests for what they are at t = {found[0].linear.t:g}")
    tables.heading(title)
    said = f"1 {words[:-1]} was found" if len(found) == 1 else f"{len(found)} {words} were found"
    click.echo(f"  {said}; there may be others")
    for first in range(0, len(found), SIDE_BY_SIDE):
        _show(found[first : first + SIDE_BY_SIDE], forces[first : first + SIDE_BY_SIDE], first)
    if shared := dict.fromkeys(name for force in forces for name in force.shared):
        errors.note(f"not unique: {', '.join(shared)}: redundant constraints share these; the smallest are given")
    for number, force in enumerate(forces, 1):
        if not np.isfinite(force.values).all():
            errors.warn(f"rest {number}: no forces in its joints could hold it there, for the pose is singular")
    for number, rest in enumerate(found, 1):
        if getattr(rest, "singular", False):
            errors.note(_near(number, rest.within))  # type: ignore[union-attr]
        if not getattr(rest, "spins", True):
            errors.note(_spinning(number))


def _spinning(number: int) -> str:
    return (
        f"steady motion {number} has the angular momentum of the start about the origin, not about its centre of "
        "mass: what spins while its centre moves on goes along with no turn or shift. Start it with its centre at "
        "rest, and see how it spins"
    )


def _near(number: int, within: float) -> str:
    return (
        f"rest {number} is nearly singular: next to nothing pulls it back in one direction, so it is known to "
        f"{within:.1g} of the mechanism's size only, and others may be as near. Change a load or a length a little to "
        "see them apart"
    )


def _found(prepared: Prepared, steady: bool, told: Tally) -> Sequence[Rest | Steady]:
    from mechsim.analysis import asked

    return asked.steady(prepared, told) if steady else asked.equilibria(prepared, told)


def _targets(output: str | None, picture: str | None) -> list[Path]:
    from mechsim.render import paper
    from mechsim.render.target import check_film_target

    given = (output, FORMS), (picture, paper.FORMS)
    return [check_film_target(path, forms) for path, forms in given if path is not None]


def _draw(title: str, prepared: Prepared, found: Sequence[Rest | Steady], target: Path, words: str) -> None:
    from mechsim.analysis.modes import poses_in_turn
    from mechsim.render.rests import plot_rests

    poses = poses_in_turn(prepared, [rest.positions for rest in found], title)
    energies, stabilities = [rest.energy for rest in found], [rest.stability for rest in found]
    plot_rests(title, poses, energies, stabilities, target, words)


def _show(found: Sequence[Rest | Steady], forces: Sequence[JointLoads], first: int) -> None:
    columns = ["steady" if _is_steady(found[0]) else "rest", *(str(first + k + 1) for k in range(len(found)))]
    rows = [["stability", *(rest.stability for rest in found)]]
    rows.append(["V - T" if _is_steady(found[0]) else "V", *(f"{rest.energy:.8g}" for rest in found)])
    rows.append(["slowest", *(_slowest(rest) for rest in found)])
    if any(rest.neighbours for rest in found):
        rows.append(["others beside it", *(_ways(rest.neighbours) for rest in found)])
    labels = found[0].linear.coordinates
    kept = [place for place, label in enumerate(labels) if not label.startswith("work_")]
    rows += [[labels[place], *(f"{round(rest.positions[place], 12) + 0.0:.9g}" for rest in found)] for place in kept]
    rows += [[label, *(column[label] for column in map(_leans, found))] for label in _labels_of(map(_leans, found))]
    rows += [[label, *(force.shown(place) for force in forces)] for place, label in enumerate(forces[0].labels)]
    tables.table(columns, rows, right=range(1, len(columns)))
    if _is_steady(found[0]):
        tables.facts([(str(first + k + 1), rest.words) for k, rest in enumerate(found)])  # type: ignore[union-attr]


def _is_steady(rest: Rest | Steady) -> bool:
    return bool(rest.linear.steady)


def _leans(rest: Rest | Steady) -> defaultdict[str, str]:
    """What contacts bear, and which stick."""
    told: defaultdict[str, str] = defaultdict(str)
    for name, load in getattr(rest, "loads", {}).items():
        told[f"contact {name}"] = f"{load:.8g}"
    for name in getattr(rest, "sticks", ()):
        told[f"friction {name}"] = "sticks"
    return told


def _labels_of(columns: Iterable[Mapping[str, str]]) -> list[str]:
    return list(dict.fromkeys(label for column in columns for label in column))


def _ways(neighbours: int) -> str:
    return "" if not neighbours else "1 way" if neighbours == 1 else f"{neighbours} ways"


def _slowest(rest: Rest | Steady) -> str:
    """What takes longest: a swing, a decay, or what grows fastest where something does."""
    modes = rest.linear.modes
    growing = [mode for mode in modes if not mode.undamped and mode.eigenvalue.real > 0]
    if growing:
        return f"grows in {1 / max(mode.eigenvalue.real for mode in growing):.4g} s"
    swings = [mode.frequency for mode in modes if mode.frequency > 0]
    return f"{min(swings):.6g} Hz" if swings else ""


def _as_dict(rest: Rest | Steady, forces: JointLoads) -> dict[str, object]:
    linear = as_dict(rest.linear)
    kept = {name: linear[name] for name in ("t", "positions", "modes")}
    told = {**kept, "stability": rest.stability, "neighbours": rest.neighbours, "reactions": forces.forces}
    columns = dict(zip(forces.labels, forces.values.tolist(), strict=True))
    told |= {"reaction_columns": columns, "not_unique": list(forces.shared)}
    if _is_steady(rest):
        return {**told, "V - T": rest.energy, "steady": rest.linear.steady, "velocities": linear["velocities"]}
    return {
        **told,
        "V": rest.energy,
        "within": getattr(rest, "within", 0.0),
        "singular": getattr(rest, "singular", False),
        "loads": dict(getattr(rest, "loads", {})),
        "sticks": list(getattr(rest, "sticks", ())),
    }


def _write(
    whole: dict[str, object], found: Sequence[Rest | Steady], forces: Sequence[JointLoads], target: Path
) -> None:
    import numpy as np

    from mechsim.result.paths import replacing

    labels, energy = found[0].linear.coordinates, "V - T" if _is_steady(found[0]) else "V"
    with replacing(target) as temporary:
        if target.suffix == ".json":
            Path(temporary).write_text(json.dumps(whole, indent=1), encoding="utf-8")
        elif target.suffix == ".npz":
            arrays = {
                "coordinates": np.array(labels),
                "positions": np.array([rest.positions for rest in found]),
                "velocities": np.array([rest.linear.velocities for rest in found]),
                "energies": np.array([rest.energy for rest in found]),
                "stability": np.array([rest.stability for rest in found]),
                "reaction_columns": np.array(forces[0].labels, dtype=str),
                "reactions": np.array([force.values for force in forces]),
            }
            with open(temporary, "wb") as stream:
                np.savez(stream, allow_pickle=False, **arrays)
        else:
            lines = [_columns(rest, force) for rest, force in zip(found, forces, strict=True)]
            extra = _labels_of(lines)
            rows = [",".join(["number", "stability", energy, *labels, *extra])]
            for number, (rest, more) in enumerate(zip(found, lines, strict=True), 1):
                numbers = [f"{value:.17g}" for value in (rest.energy, *rest.positions)]
                rows.append(
                    ",".join([str(number), rest.stability, *numbers, *(more.get(label, "") for label in extra)])
                )
            Path(temporary).write_text("\n".join(rows) + "\n", encoding="utf-8")


def _columns(rest: Rest | Steady, forces: JointLoads) -> dict[str, str]:
    """Loads and reactions by the names of columns."""
    found = {f"contact_{name.replace('-', '_')}": f"{load:.17g}" for name, load in getattr(rest, "loads", {}).items()}
    return found | {label: f"{value:.17g}" for label, value in zip(forces.labels, forces.values, strict=True)}
