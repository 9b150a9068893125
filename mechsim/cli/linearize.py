"""`mechsim linearize`: the linear motion near a state, its modes and its matrices."""

from __future__ import annotations

import cmath
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mechsim.cli import errors, interrupts, options, tables

if TYPE_CHECKING:
    from mechsim.analysis.linear import Linearised, Mode
    from mechsim.analysis.modes import Shown
    from mechsim.spec.document import MechSpec

MOST_NAMED = 4  # coordinates of a mode
MOST_STATES = 8
SEEN = 0.02  # of the largest: what moves less is not named
WORDS = {
    "stable": "stable: small changes die out",
    "unstable": "unstable: small changes grow",
    "neutral": "neutral: it may be moved to other rests beside it",
    "undecided": "not decided by linear terms: nothing grows, and something does not die out",
}
SHOWN = 6  # coordinates of a pose
FORMS = (".npz", ".json", ".csv")


@click.command(
    epilog="\b\nExamples:\n"
    "  mechsim linearize specs/mechanism1a.yaml --equilibrium\n"
    "  mechsim linearize robot.yaml --at 1.5 --inputs tau --outputs theta_OA -o robot.npz --plot bode.png\n"
    "  mechsim linearize frame.yaml --equilibrium --motion 2 second.mp4 --modes modes.html",
    short_help="Modes, stability and matrices of the linear motion near a state.",
)
@options.shared(
    options.SPEC,
    click.option("--at", type=float, metavar="T", help="At this time of the motion, instead of its start."),
    click.option("--equilibrium", is_flag=True, help="At the rest that is found from the start."),
    click.option(
        "--steady",
        is_flag=True,
        help="As seen by who is carried along by its steady motion; with --equilibrium, by the nearest one.",
    ),
    click.option(
        "--coordinates",
        callback=options.expressions,
        metavar="NAMES",
        help="Coordinates to use, as theta_OA,A_x; or expressions of positions: r=dist(O,B).",
    ),
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
        help="Mode K, enlarged: results to animate (.csv, .npz), or a film (.mp4, .gif, .png); may be repeated.",
    ),
    click.option("--modes", "page", metavar="FILE", help="A page on which all modes can be picked: .html."),
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
    steady: bool,
    coordinates: Mapping[str, str | None] | None,
    inputs: Sequence[str] | None,
    outputs: Sequence[str] | None,
    output: str | None,
    picture: str | None,
    motions: Sequence[tuple[int, str]],
    page: str | None,
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
    from mechsim.analysis.modes import Shown
    from mechsim.handle.chosen import Chosen

    if at is not None and equilibrium:
        raise click.UsageError("--at is a time of the motion, --equilibrium a rest: use one of them.")
    _check_paths([output, picture, page, *(path for _, path in motions)], output, picture, page)
    file = simulation.read(spec, parameters, folders)
    with interrupts.at_once():
        chosen = Chosen.of(coordinates, _labels(file) if coordinates else ())
        spec_read = simulation.adjust(chosen.told_by(file), t0=t0, branch=branch)
        prepared = simulation.prepare(spec_read)
        wanted = asked.Wanted(at, equilibrium, chosen.names, inputs, outputs, steady, chosen.functions)
        found = asked.linearize(prepared, wanted)
    for number, _ in motions:
        if number > len(found.modes):
            raise click.UsageError(f"there is no mode {number}: there are {len(found.modes)}.")
    title = spec_read.title or spec_read.path
    if output:
        _write(found, Path(output))
    if motions or page:
        _draw_modes(Shown.of(prepared), found, title, motions, page)
    if picture:
        from mechsim.render.linear import plot_linear

        plot_linear(title, found, picture)
    if as_json:
        click.echo(json.dumps(as_dict(found)))
        return
    _show(title, found)


def _labels(file: MechSpec) -> list[str]:
    """Coordinates of a file."""
    from mechsim.model import build

    return [variable.label for variable in build(file, noted=False).variables]


def _check_paths(written: Sequence[str | None], output: str | None, picture: str | None, page: str | None) -> None:
    """Raise before anything is computed."""
    from mechsim.render import paper
    from mechsim.render.target import check_film_target

    for path, forms in ((output, FORMS), (picture, paper.FORMS), (page, (".html",))):
        if path is not None:
            check_film_target(path, forms)
    named = [Path(path).absolute() for path in written if path is not None]
    if twice := next((path for path in named if named.count(path) > 1), None):
        raise click.UsageError(f"{twice.name} is to be written twice: give each its own name.")


def _draw_modes(
    shown: Shown, found: Linearised, title: str, motions: Sequence[tuple[int, str]], page: str | None
) -> None:
    """Modes as results, films and a page."""
    from mechsim.analysis.modes import motions_of_modes
    from mechsim.render.film import animate
    from mechsim.render.options import usual
    from mechsim.render.page.modes import PERIOD, write_modes
    from mechsim.render.target import FORMS as DRAWN

    if motions:
        all_modes = motions_of_modes(shown, found, title)
    for number, path in motions:
        if Path(path).suffix.lower() in DRAWN:
            animate(all_modes[number - 1], path, usual(path))
        else:
            all_modes[number - 1].save(path)
    if page:
        write_modes(motions_of_modes(shown, found, title, PERIOD), found.modes, page)


def _show(title: str, found: Linearised) -> None:
    if not found.rest and not found.steady:
        errors.note(
            "it is not at rest there: this is its flow at one moment, whose eigenvalues depend on coordinates and tell "
            "of no stability; --equilibrium linearises at a rest, --steady in a steady motion"
        )
    tables.heading(title)
    resting = f"at rest on {', '.join(found.leaning)}, closed as they are" if found.leaning else "at rest"
    place = resting if found.rest else f"in steady motion: {found.steady}" if found.steady else f"at t = {found.t:g}"
    tables.facts(
        [
            ("linearised", place + _as_of(found)),
            *([("pose", _pose(found))] if found.rest else []),
            ("states", f"{len(found.states)}: {_states(found)}"),
            ("stability", _stability(found)),
            *([("inputs", ", ".join(found.inputs))] if found.inputs else []),
            *([("outputs", ", ".join(found.outputs))] if found.inputs else []),
        ]
    )
    rows = [[str(number), *_row(mode, found)] for number, mode in enumerate(found.modes, 1)]
    tables.table(["mode", "eigenvalue 1/s", "frequency Hz", "damping ratio", "time s", "moves"], rows, right=range(5))
    if found.rest and found.stability == "undecided" and found.lost:
        errors.note(
            f"modes slower than {found.lost:.1g} 1/s cannot be told from rest here: "
            "roundings of what is stiff are as large"
        )


def _pose(found: Linearised) -> str:
    """Where it rests: there may be several, and this is the one that was found from the start."""
    places = [k for k, label in enumerate(found.coordinates) if not label.startswith("work_")]
    told = [f"{found.coordinates[k]} = {round(float(found.positions[k]), 12) + 0.0:.6g}" for k in places[:SHOWN]]
    return ", ".join(told) + (f" and {len(places) - SHOWN} more" if len(places) > SHOWN else "")


def _stability(found: Linearised) -> str:
    if not found.rest and not found.steady:
        return "not told by the eigenvalues of one moment of a motion"
    if found.stability == "stable" and found.least:
        return "stable: its energy, momenta held, is least"
    if found.stability == "stable" and found.verdict and found.stability_by_modes != "stable":
        return "stable: its potential energy is least, and nothing dies out"
    others = ", but for those to other steady motions" if found.neighbours and found.stability == "stable" else ""
    return WORDS[found.stability] + others


def _as_of(found: Linearised) -> str:
    return f", forces as they are at t = {found.t:g}" if found.reads_time and not found.steady else ""


def _states(found: Linearised) -> str:
    if found.steady:
        return _some(found.states)
    freedoms = [name for name in found.states if f"{name}_dot" in found.states]
    rates = {f"{name}_dot" for name in freedoms}
    alone = [name for name in found.states if name not in freedoms and name not in rates]  # of controllers, say
    with_rates = [_some(freedoms) + (" and their rates" if len(freedoms) > 1 else " and its rate")] if freedoms else []
    return "; ".join([*with_rates, *([_some(alone)] if alone else [])])


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:MOST_STATES]) + (", ..." if len(names) > MOST_STATES else "")


def _row(mode: Mode, found: Linearised) -> list[str]:
    swings = mode.eigenvalue.imag != 0
    return [
        mode.words,
        f"{mode.frequency:.8g}" if swings else "",
        f"{mode.damping:.4g}" if swings else "",
        "" if mode.time == float("inf") else f"{mode.time:.5g}",
        moves(mode, found),
    ]


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
        "steady": found.steady or None,
        "leaning": list(found.leaning),
        "stability": found.stability if found.rest or found.steady else None,
        "states": list(found.states),
        "inputs": list(found.inputs),
        "outputs": list(found.outputs),
        **{name: getattr(found, name).tolist() for name in ("A", "B", "C", "D")},
        "transfer": [_transfer(found, output, input) for input in found.inputs for output in found.outputs],
        "positions": dict(zip(found.coordinates, found.positions.tolist(), strict=True)),
        "velocities": dict(zip(found.coordinates, found.velocities.tolist(), strict=True)),
        "modes": [mode_dict(mode, found) for mode in found.modes],
    }


def _transfer(found: Linearised, output: str, input: str) -> dict[str, object]:
    above, below = found.transfer(output, input)
    return {"output": output, "input": input, "numerator": above.tolist(), "denominator": below.tolist()}


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
