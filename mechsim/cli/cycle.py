"""`mechsim cycle`: a mechanism of one freedom through all its poses: dead centres, mechanical advantage, transmission
angles, coupler curves."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from mechsim.cli import errors, interrupts, options, tables

if TYPE_CHECKING:
    from mechsim.analysis.curve import Curve
    from mechsim.analysis.cycle import Cycle, Place

FORMS = (".csv", ".npz", ".json")
MOST_MARKS = 12  # cusps or double points that are listed
ROUNDED = 1e-12  # below this a number is zero


@click.command(
    epilog="\b\nExamples:\n  mechsim cycle specs/forces/four_bar_driven.yaml --output theta_CB --angle A,B,C\n"
    "  mechsim cycle press.yaml --input theta_OA --output B.x -o press.csv --plot press.png\n"
    '  mechsim cycle four_bar.yaml --point P --point "AB: 0.5, 0.3" --plot curve.png\n\n'
    "docs/design.md tells more.",
    short_help="A mechanism of one freedom through all its poses: dead centres, advantage, coupler curves.",
)
@options.shared(
    options.SPEC,
    click.option("--input", "driven", metavar="EXPR", help="What is turned or pushed. Default: what the drive moves."),
    click.option("--output", "outputs", multiple=True, metavar="EXPR", help="What follows, as theta_CB; repeatable."),
    click.option("--angle", "angles", multiple=True, metavar="A,B,C", help="A transmission angle, at B; repeatable."),
    click.option(
        "--point",
        "points",
        multiple=True,
        metavar="P",
        help='A point whose path is wanted: P, or "AB: 0.5, 0.3" in the frame of AB; repeatable.',
    ),
    click.option("--rows", type=click.IntRange(min=4), metavar="N", help="Rows of the file; 361 if left out."),
    options.SET,
    options.TABLES,
    click.option("-o", "--out", "output", metavar="FILE", help="Write columns: .csv, .npz; or what was found: .json."),
    click.option("--plot", "picture", metavar="FILE", help="Draw all of it: .png, .svg or .pdf."),
    options.JSON,
    options.DEBUG,
)
def cycle(
    spec: str,
    driven: str | None,
    outputs: Sequence[str],
    angles: Sequence[str],
    points: Sequence[str],
    rows: int | None,
    parameters: dict[str, str],
    folders: tuple[str, ...],
    output: str | None,
    picture: str | None,
    as_json: bool,
    debug: bool,
) -> None:
    """Move the mechanism of SPEC.yaml, which has one freedom beside its drive, through all its poses, past dead centres
    too: how far the input goes, how outputs follow it and with which force (mechanical advantage, by virtual power),
    transmission angles, and paths of points with their cusps and double points. Masses and forces do not matter."""
    from mechsim.handle import mechanism
    from mechsim.render.paper import FORMS as PICTURES
    from mechsim.render.target import check_film_target
    from mechsim.result.paths import check_target

    if output is not None:
        check_target(output, endings=FORMS)
    if picture is not None:
        check_film_target(picture, PICTURES)
    with interrupts.at_once():
        handle = mechanism(spec, parameters, tables_from=folders)
        found = handle.cycle(driven, outputs, points=points, angles=angles, rows=None if rows is None else rows - 1)
    title = handle.spec.title or handle.spec.path
    if output is not None:
        found.save(output)
    if picture is not None:
        from mechsim.render.cycle import plot_cycle

        plot_cycle(title, found, picture)
    if as_json:
        click.echo(json.dumps({"title": handle.spec.title, **found.as_dict()}))
        return
    _show(title, found, [path for path in (output, picture) if path is not None])


def _show(title: str, found: Cycle, written: list[str]) -> None:
    for remark in found.notes:
        errors.note(remark)
    tables.heading(title)
    facts = [("input", f"{found.input}: {_goes(found)}")]
    tables.facts(facts)
    units = {found.input: found.unit, **found.outputs}
    ranges = [
        [name, *(text for place in (each.smallest, each.largest) for text in _where(place, units[name], found.unit))]
        for name, each in found.ranges.items()
        if name != found.input or not found.turns
    ]
    ranges += [
        [name, *(text for place in (each.smallest, each.largest) for text in _where(place, "rad", found.unit))]
        for name, each in found.angles.items()
    ]
    if ranges:
        tables.table(["", "smallest", f"at {found.input}", "largest", f"at {found.input}"], ranges, right=range(1, 5))
    if found.dead_centres:
        dead = [
            [
                each.of,
                _shown(each.place.value, units[each.of]),
                _shown(each.place.input, found.unit),
                _meaning(found, each.of),
            ]
            for each in found.dead_centres
        ]
        tables.table(["dead centre of", "at", found.input, "there"], dead, right=(1, 2))
    for curve in found.curves.values():
        _show_curve(found, curve)
    tables.facts([("file", path) for path in written])


def _goes(found: Cycle) -> str:
    if found.turns:
        times = "once" if found.turns == 1 else f"{found.turns} times"
        return f"turns fully, {times} until all is as at first"
    each = found.ranges[found.input]
    low, high = _shown(each.smallest.value, found.unit), _shown(each.largest.value, found.unit)
    return f"goes from {low} to {high}" + (" and back" if found.closed else ", and on")


def _meaning(found: Cycle, of: str) -> str:
    return "the input cannot drive on" if of == found.input else "it stands; advantage without bound"


def _where(place: Place, unit: str, input_unit: str) -> list[str]:
    return [_shown(place.value, unit), _shown(place.input, input_unit)]


def _shown(value: float, unit: str) -> str:
    value = 0.0 if abs(value) < ROUNDED else value
    if unit == "rad":
        return f"{math.degrees(value):.7g}°"
    return f"{value:.8g} {unit}".strip()


def _show_curve(found: Cycle, curve: Curve) -> None:
    if curve.stands:
        place = ", ".join(f"{_rounded(each):.8g}" for each in curve.low)
        tables.facts([(f"path of {curve.name}", f"it does not move, it is at ({place}) m")])
        return
    extent = ", ".join(
        f"{axis} {low:.6g} to {high:.6g} m" for axis, low, high in zip("xyz", curve.low, curve.high, strict=False)
    )
    facts = [(f"path of {curve.name}", extent)]
    for words, marks in (("cusps", curve.cusps), ("double points", curve.doubles)):
        if len(curve.low) > 2 and words == "double points":
            continue  # a curve in space has none but by chance
        told = "; ".join(
            f"({', '.join(f'{_rounded(each):.8g}' for each in mark.at)}) at {_inputs(found, mark.places)}"
            for mark in marks[:MOST_MARKS]
        )
        more = f"; {len(marks) - MOST_MARKS} more" if len(marks) > MOST_MARKS else ""
        facts.append((words, f"{told or 'none'}{more}"))
    tables.facts(facts)


def _rounded(value: float) -> float:
    return 0.0 if abs(value) < ROUNDED else value


def _inputs(found: Cycle, places: Sequence[float]) -> str:
    values = [_shown(float(found.at(found.input, place)[0]), found.unit) for place in places]
    return f"{found.input} = {' and '.join(values)}"
