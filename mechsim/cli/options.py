"""Options several commands share, each written once."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from mechsim.errors import Mark

Function = TypeVar("Function", bound=Callable[..., object])


def assignments(context: click.Context, option: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    """`NAME=EXPR`, repeated, as a mapping."""
    given: dict[str, str] = {}
    for value in values:
        name, equals, expression = value.partition("=")
        if not equals or not name.strip() or not expression.strip():
            raise click.BadParameter(f"{value!r} is not of the form NAME=EXPR, for example m=2.5")
        if name.strip() in given:
            raise click.BadParameter(f"{name.strip()} is set twice")
        given[name.strip()] = expression.strip()
    return given


def names(context: click.Context, option: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """`A,theta_OA` as names; None if nothing is asked."""
    if value is None:
        return None
    found = tuple(name.strip() for name in value.split(",") if name.strip())
    if not found:
        raise click.BadParameter("it names nothing: give one or more, as A,theta_OA, or leave the option out")
    return found


def assigned(texts: Sequence[str], option: str, form: str, example: str) -> tuple[dict[str, str], dict[str, Mark]]:
    """`NAME=VALUE`, repeated, with the place where each value begins in what was written."""
    from mechsim.errors import Mark

    given: dict[str, str] = {}
    marks: dict[str, Mark] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            message = f"{json.dumps(text)} is not of the form {form}, for example {example}"
            raise click.BadParameter(message, param_hint=option)
        if name.strip() in given:
            raise click.BadParameter(f"{name.strip()} is varied twice", param_hint=option)
        given[name.strip()] = value
        marks[name.strip()] = Mark(option, 1, len(name) + 2)
    return given, marks


def expressions(context: click.Context, option: click.Parameter, value: str | None) -> dict[str, str | None] | None:
    """`theta_OA,r=dist(O,B)` as names, with expressions if they have one; commas in parentheses are theirs."""
    if value is None:
        return None
    parts, depth = [""], 0
    for letter in value:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    found: dict[str, str | None] = {}
    for part in filter(None, map(str.strip, parts)):
        name, equals, expression = (word.strip() for word in part.partition("="))
        if not name or (equals and not expression):
            raise click.BadParameter(f"{part!r} is not of the form NAME or NAME=EXPR, for example r=dist(O,B)")
        if name in found:
            raise click.BadParameter(f"{name} is named twice")
        found[name] = expression if equals else None
    if not found:
        raise click.BadParameter("it names nothing: give one or more, as theta_OA,r=dist(O,B), or leave the option out")
    return found


SPEC = click.argument("spec", type=click.Path(), metavar="SPEC.yaml")
SET = click.option(
    "--set",
    "parameters",
    multiple=True,
    callback=assignments,
    metavar="NAME=EXPR",
    help="Replace a PhysicalParam; may be repeated.",
)
TABLES = click.option(
    "--tables-from",
    "folders",
    multiple=True,
    metavar="FOLDER",
    help="A folder that tables may be read from, beside SPEC's own; may be repeated.",
)
T0 = click.option("--t0", type=float, metavar="T", help="Start time instead of the file's.")
BRANCH = click.option(
    "--branch", type=click.IntRange(min=1), metavar="K", help="Which way to close, as listed by assemble --all."
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
DEBUG = click.option("--debug", is_flag=True, help="On an error show the traceback.")


def shared(*options: Callable[[Function], Function]) -> Callable[[Function], Function]:
    """Several options as one decorator, listed in help in the order given."""

    def decorate(function: Function) -> Function:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate
