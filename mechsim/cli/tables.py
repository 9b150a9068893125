"""Tables for people: drawn by rich on a terminal, plain aligned text in a pipe (rich then costs nothing)."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Sequence

import click

from mechsim.cli.errors import colour
from mechsim.errors import printable

Row = Sequence[str]
NARROWEST = 20  # characters for a text; a window narrower than this may break lines itself


def heading(text: str, *, err: bool = False) -> None:
    click.echo(click.style(printable(text), bold=True), err=err, color=colour(sys.stderr if err else sys.stdout))


def facts(rows: Sequence[tuple[str, str]], *, err: bool = False) -> None:
    """Names and what they are, one per line; long ones go on below themselves on a terminal."""
    stream = sys.stderr if err else sys.stdout
    margin = max((len(name) for name, _ in rows), default=0)
    room = max(NARROWEST, shutil.get_terminal_size().columns - margin - 4) if stream.isatty() else sys.maxsize
    for name, text in rows:
        first, *more = textwrap.wrap(printable(text), room) or [""]
        click.echo(f"  {click.style(name.ljust(margin), dim=True)}  {first}", err=err, color=colour(stream))
        for line in more:
            click.echo(" " * (margin + 4) + line, err=err)


def table(columns: Row, rows: Sequence[Row], *, right: Sequence[int] = (), err: bool = False) -> None:
    """Rows under column names; the columns listed in `right` are numbers and aligned to the right."""
    stream = sys.stderr if err else sys.stdout
    columns, rows = [printable(cell) for cell in columns], [[printable(cell) for cell in row] for row in rows]
    if stream.isatty():
        _rich_table(columns, rows, right, err)
    else:
        _plain_table(columns, rows, right, err)


def width(columns: Row, rows: Sequence[Row]) -> int:
    """Characters a table needs beside each other, with the space rich puts between columns."""
    return sum(_widths(columns, rows)) + 3 * len(columns)


def _widths(columns: Row, rows: Sequence[Row]) -> list[int]:
    return [max(len(row[index]) for row in (columns, *rows)) for index in range(len(columns))]


def _plain_table(columns: Row, rows: Sequence[Row], right: Sequence[int], err: bool) -> None:
    click.echo(err=err)
    widths = _widths(columns, rows)
    for row in (columns, *rows):
        cells = (
            text.rjust(width) if index in right else text.ljust(width)
            for index, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        click.echo(f"  {'  '.join(cells)}".rstrip(), err=err)


def _rich_table(columns: Row, rows: Sequence[Row], right: Sequence[int], err: bool) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    for index, name in enumerate(columns):
        drawn.add_column(Text(name), justify="right" if index in right else "left", overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(cell) for cell in row))
    Console(stderr=err, highlight=False).print(drawn)
