"""`mechsim linearize`: the linear motion near a state, its modes and its matrices."""

from __future__ import annotations

import cmath
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mechsim.cli import errors, interrupts, options, tables

if TYPE_CHECKING:
    from mechsim.analysis.linear import Linearised, Mode

MOST_NAMED = 4  # coordinates of a mode
MOST_STATES = 8
SEEN = 0.02  # of the largest: what moves less is not named
WORDS = {
    "stable": "stable: small changes die out",
    "unstable": "unstable: small changes grow",
    "undecided": "not decided by linear terms: nothing grows, and something does not die out",
}
FORMS = (".npz", ".json", ".csv")


@click.command(
    epilog="\b\nExamples:\n"
    "  mechsim linearize specs/mechanism1a.yaml --equilibrium\n"
    "  mechsim linearize robot.yaml --at 1.5 --inputs tau --outputs theta_OA -o robot.npz --plot bode.png\n"
    "  mechsim linearize frame.yaml --equilibrium --motion 2 second.csv && mechsim animate second.csv",
    short_help="Modes, stability and matrices of the linear motion near a state.",
)
@options.shared(
    options.SPEC,
    click.option("--at", type=float, metavar="T", help="At this time of the motion, instead of its start."),
    click.option("--equilibrium", is_flag=True, help="At the rest that is found from the start."),
    click.option("--coordinates", callback=options.names, metavar="NAMES", help="Coordinates to use, as theta_OA,A_x."),
    click.option("--inputs", callback=options.names, metavar="NAMES", help="Inputs of the file. Default: all."),
    click.option(
        "--outputs", callback=options.names, metavar="NAMES", help="Coordinates, rates (A_x_dot) and signals."
    ),
    click.option("-o", "--output", metavar="FILE", help="Write A, B, C, D, names, modes: .npz, .json; .csv: modes."),
    click.option("--plot", "picture", metavar="FILE", help="Draw eigenvalues and Bode plots: .png, .svg or .pdf."),
    click.option(
        "--motion",
        "motions",
        nargs=2,
        type=(click.IntRange(min=1), str),
        multiple=True,
        metavar="K FILE",
        help="Write mode K, enlarged, as results to animate; may be repeated.",
    ),
    options.T0,
    options.SET,
    options.TABLES,
    options.BRANCH,
    options.JSON,
    options.DEBUG,
)
def linearize(
    spec: str,
    at: float | None,
    equilibrium: bool,
    coordinates: Sequence[str] | None,
    inputs: Sequence[str] | None,
    outputs: Sequence[str] | None,
    output: str | None,
    picture: str | None,
    motions: Sequence[tuple[int, str]],
    t0: float | None,
    parameters: dict[str, str],
    folders: tuple[str, ...],
    branch: int | None,
    as_json: bool,
    debug: bool,
) -> None:
    """Linearise the motion of SPEC.yaml: x' = A x + B u, y = C x + D u near its start, near its state at a time, or
    near a rest. x are changes of coordinates and rates, as many as there are freedoms; derivatives are exact."""
    from mechsim import simulation
    from mechsim.analysis import asked

    if at is not None and equilibrium:
        raise click.UsageError("--at is a time of the motion, --equilibrium a rest: use one of them.")
    _check_paths(output, picture)
    spec_read = simulation.adjust(simulation.read(spec, parameters, folders), t0=t0, branch=branch)
    with interrupts.at_once():
        prepared = simulation.prepare(spec_read)
        found = asked.linearize(prepared, asked.Wanted(at, equilibrium, coordinates, inputs, outputs))
    for number, _ in motions:
        if number > len(found.modes):
            raise click.UsageError(f"there is no mode {number}: there are {len(found.modes)}.")
    title = spec_read.title or spec_read.path
    if output:
        _write(found, Path(output))
    for number, path in motions:
        from mechsim.analysis.modes import motion_of_mode

        words = f"{title}: mode {number}, {_eigenvalue(found.modes[number - 1])} 1/s"
        motion_of_mode(prepared, found, found.modes[number - 1], words).save(path)
    if picture:
        from mechsim.render.linear import plot_linear

        plot_linear(title, found, picture)
    if as_json:
        click.echo(json.dumps(as_dict(found)))
        return
    _show(title, found)


def _check_paths(output: str | None, picture: str | None) -> None:
    """Raise before anything is computed."""
    from mechsim.render import paper
    from mechsim.render.target import check_film_target

    for path, forms in ((output, FORMS), (picture, paper.FORMS)):
        if path:
            check_film_target(path, forms)


def _show(title: str, found: Linearised) -> None:
    if not found.rest:
        errors.note("it is not at rest there: this is its flow at one moment, whose eigenvalues depend on coordinates")
    tables.heading(title)
    place = "at rest" if found.rest else f"at t = {found.t:g}"
    stability = WORDS[found.stability] if found.rest else "not told by the eigenvalues of one moment of a motion"
    freedoms = [name for name in found.states if name in found.coordinates]
    more = ", ..." if len(freedoms) > MOST_STATES else ""
    tables.facts(
        [
            ("linearised", place + (", forces as they are at t = " + f"{found.t:g}" if found.reads_time else "")),
            ("states", f"{len(found.states)}: {', '.join(freedoms[:MOST_STATES])}{more} and their rates"),
            ("stability", stability),
            *([("inputs", ", ".join(found.inputs))] if found.inputs else []),
            *([("outputs", ", ".join(found.outputs))] if found.inputs else []),
        ]
    )
    rows = [[str(number), *_row(mode, found)] for number, mode in enumerate(found.modes, 1)]
    tables.table(["mode", "eigenvalue 1/s", "frequency Hz", "damping ratio", "time s", "moves"], rows, right=range(5))


def _row(mode: Mode, found: Linearised) -> list[str]:
    swings = mode.eigenvalue.imag != 0
    return [
        _eigenvalue(mode),
        f"{mode.frequency:.8g}" if swings else "",
        f"{mode.damping:.4g}" if swings else "",
        "" if mode.time == float("inf") else f"{mode.time:.5g}",
        moves(mode, found),
    ]


def _eigenvalue(mode: Mode) -> str:
    real, imaginary = mode.eigenvalue.real, mode.eigenvalue.imag
    parts = [] if mode.undamped and imaginary else [f"{0.0 if mode.undamped else real:.8g}"]
    return " ".join([*parts, *([f"± {abs(imaginary):.8g}i"] if imaginary else [])])


def moves(mode: Mode, found: Linearised) -> str:
    """What moves most in a mode, with its sign; what is out of step, by its size."""
    sizes = {name: mode.shape[place] for place, name in enumerate(found.coordinates)}
    largest = sorted(sizes, key=lambda name: -round(abs(sizes[name]), 6))[:MOST_NAMED]
    return ", ".join(f"{name} {_share(sizes[name])}" for name in largest if abs(sizes[name]) > SEEN)


def _share(value: complex) -> str:
    in_step = abs(value.imag) <= 1e-6 * abs(value)
    return f"{value.real:.3g}" if in_step else f"{abs(value):.3g}∠{cmath.phase(value):.2f}"


def as_dict(found: Linearised) -> dict[str, object]:
    return {
        "t": found.t,
        "rest": found.rest,
        "stability": found.stability if found.rest else None,
        "states": list(found.states),
        "inputs": list(found.inputs),
        "outputs": list(found.outputs),
        **{name: getattr(found, name).tolist() for name in ("A", "B", "C", "D")},
        "positions": dict(zip(found.coordinates, found.positions.tolist(), strict=True)),
        "velocities": dict(zip(found.coordinates, found.velocities.tolist(), strict=True)),
        "modes": [mode_dict(mode, found) for mode in found.modes],
    }


def mode_dict(mode: Mode, found: Linearised) -> dict[str, object]:
    shape = {name: [value.real, value.imag] for name, value in zip(found.coordinates, mode.shape.tolist(), strict=True)}
    return {
        "eigenvalue": [mode.eigenvalue.real, mode.eigenvalue.imag],
        "frequency": mode.frequency,
        "damping_ratio": mode.damping,
        "time": None if mode.time == float("inf") else mode.time,
        "undamped": mode.undamped,
        "shape": shape,
    }


def _write(found: Linearised, path: Path) -> None:
    import numpy as np

    from mechsim.result.paths import replacing

    with replacing(path) as temporary:
        if path.suffix == ".npz":
            with open(temporary, "wb") as stream:
                np.savez(stream, allow_pickle=False, **found.as_arrays())
        elif path.suffix == ".json":
            Path(temporary).write_text(json.dumps(as_dict(found), indent=1), encoding="utf-8")
        else:
            lines = ["mode,real,imaginary,frequency,damping_ratio"]
            for number, mode in enumerate(found.modes, 1):
                numbers = mode.eigenvalue.real, mode.eigenvalue.imag, mode.frequency, mode.damping
                lines.append(",".join([str(number), *(f"{each:.17g}" for each in numbers)]))
            Path(temporary).write_text("\n".join(lines) + "\n", encoding="utf-8")
