"""How failures are said: `file:line:column: error: what` and a hint, on standard error; JSON too when asked for."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace

import click

from mechsim.errors import OVERRIDES_FILE, Fault, Mark, MechsimError, Note, printable


def colour(stream: object = None) -> bool:
    """Whether to colour what is written to `stream`: only for a terminal, and never against NO_COLOR."""
    stream = stream or sys.stderr
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(getattr(stream, "isatty", lambda: False)())


def say(text: str) -> None:
    """A line on standard error; what it quotes of a file must be printable."""
    click.echo(text, err=True, color=colour())


def note(told: Note | str) -> None:
    """Something a person should know, though it is no error."""
    where = click.style(printable(f"{_place(told.mark)}: "), bold=True) if isinstance(told, Note) and told.mark else ""
    message = told.message if isinstance(told, Note) else told
    say(where + click.style("note: ", fg="cyan") + printable(message))


def warn(text: str) -> None:
    """Something that makes a result doubtful."""
    say(click.style("warning: ", fg="yellow", bold=True) + printable(text))


def show(error: MechsimError, *, json_wanted: bool) -> None:
    """Every fault, one after the other; as JSON also on standard output, where a program waits for it."""
    for fault in error.faults:
        _show_fault(fault)
    if json_wanted:
        as_json(error.faults, error.exit_code)


def as_json(faults: Sequence[Fault], exit_code: int) -> None:
    """The one JSON object of a command that failed."""
    click.echo(json.dumps({"status": "error", "exit_code": exit_code, "faults": [_as_dict(fault) for fault in faults]}))


def show_unexpected(error: Exception, *, json_wanted: bool) -> None:
    """A bug of ours: one line, and how to see more."""
    message = f"unexpected {type(error).__name__}: {' '.join(str(error).split()) or 'no message'}"
    hint = "this is a bug of mechsim; run with --debug to see where"
    show(MechsimError(Fault(message, hint=hint)), json_wanted=json_wanted)


def _show_fault(fault: Fault) -> None:
    where = click.style(f"{_place(fault.mark)}: ", bold=True) if fault.mark else ""
    say(f"{where}{click.style('error: ', fg='red', bold=True)}{fault.message}")
    if fault.hint:
        say(f"  {click.style('hint: ', fg='cyan')}{fault.hint}")


def _as_dict(fault: Fault) -> dict[str, object]:
    place = asdict(_place(fault.mark)) if fault.mark else {}
    return {"message": fault.message, "hint": fault.hint, **place}


def _place(mark: Mark) -> Mark:
    """In the words of the command line."""
    return replace(mark, file="--set") if mark.file == OVERRIDES_FILE else mark
