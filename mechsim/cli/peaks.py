"""`mechsim peaks`: where columns of a motion, or expressions of them, are largest and smallest, between steps too."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from mechsim.cli import errors, interrupts, options, tables

if TYPE_CHECKING:
    from mechsim.measure.extremes import Extremes


@click.command(
    epilog="\b\nExamples:\n  mechsim peaks specs/forces/four_bar_driven.yaml B.ax B.jx drive_theta_OA\n"
    '  mechsim peaks crane.yaml "sqrt(A.ax**2 + A.ay**2)" A_OA_Fu --tend 3 --all -o peaks.csv',
    short_help="Largest and smallest values of any column, between steps too.",
)
@options.shared(
    options.SPEC,
    click.argument("quantities", nargs=-1, required=True, metavar="EXPR..."),
    click.option("--all", "every", is_flag=True, help="List all maxima and minima, in the order of time."),
    options.T0,
    click.option("--tend", type=float, metavar="T", help="End time instead of the file's."),
    click.option("--tol", type=float, metavar="TOL", help="Error tolerance per step instead of the file's."),
    options.SET,
    options.TABLES,
    click.option("-o", "--output", metavar="FILE", help="Write all of them: .csv or .json."),
    options.JSON,
    options.DEBUG,
)
def peaks(
    spec: str,
    quantities: Sequence[str],
    every: bool,
    t0: float | None,
    tend: float | None,
    tol: float | None,
    parameters: dict[str, str],
    folders: tuple[str, ...],
    output: str | None,
    as_json: bool,
    debug: bool,
) -> None:
    """Tell where quantities of the motion of SPEC.yaml are largest and smallest: columns of its results (reactions,
    drives, energies too), accelerations (A.ax), jerk (A.jx), and expressions of these. They come from the polynomials
    of the steps, so none between rows is overlooked."""
    from mechsim.analysis.written import csv_of, written
    from mechsim.handle import mechanism
    from mechsim.measure.extremes import extremes
    from mechsim.result.paths import check_target

    if output is not None:
        check_target(output, endings=(".csv", ".json"))
    with interrupts.at_once():
        handle = mechanism(spec, parameters, tables_from=folders)
        motion = handle.simulate(t0=t0, tend=tend, tol=tol)
        found = {text: extremes(motion, text) for text in quantities}
    told = {text: as_dict(each) for text, each in found.items()}
    rows = [(text, *row) for text, each in found.items() for row in _listed(each)]
    if output is not None:
        written(output, csv=lambda: csv_of(["quantity", "sort", "t", "value"], rows), as_json=lambda: told)
    if as_json:
        click.echo(json.dumps({"title": handle.spec.title, "quantities": told}))
        return
    for doubt in motion.certificate.doubts():
        errors.warn(doubt)
    tables.heading(handle.spec.title or handle.spec.path)
    if every:
        cells = [[text, sort, f"{t:.9g}", f"{value:.9g}"] for text, sort, t, value in rows]
        tables.table(["quantity", "", "at t", "value"], cells, right=(2, 3))
        return
    cells = [[text, *_row(each)] for text, each in found.items()]
    tables.table(["quantity", "largest", "at t", "smallest", "at t"], cells, right=range(1, 5))


def _row(each: Extremes) -> list[str]:
    return [f"{number:.9g}" for one in (each.largest, each.smallest) for number in (one.value, one.t)]


def _listed(each: Extremes) -> list[tuple[str, float, float]]:
    """All that it turns at, and what is largest and smallest at its ends."""
    found = [("maximum", one.t, one.value) for one in each.maxima] + [
        ("minimum", one.t, one.value) for one in each.minima
    ]
    ends = (("largest", each.largest), ("smallest", each.smallest))
    found += [(sort, one.t, one.value) for sort, one in ends if one not in (*each.maxima, *each.minima)]
    return sorted(found, key=lambda row: row[1])


def as_dict(each: Extremes) -> dict[str, object]:
    """For JSON."""
    return {
        "largest": {"t": each.largest.t, "value": each.largest.value},
        "smallest": {"t": each.smallest.t, "value": each.smallest.value},
        "maxima": [[one.t, one.value] for one in each.maxima],
        "minima": [[one.t, one.value] for one in each.minima],
    }
