"""Options several commands share, each written once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import click

Function = TypeVar("Function", bound=Callable[..., object])


def _parameters(context: click.Context, option: click.Parameter, values: Sequence[str]) -> dict[str, str]:
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
    return None if value is None else tuple(name.strip() for name in value.split(",") if name.strip())


SPEC = click.argument("spec", type=click.Path(), metavar="SPEC.yaml")
SET = click.option(
    "--set",
    "parameters",
    multiple=True,
    callback=_parameters,
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
