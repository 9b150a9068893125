"""`mechsim schema`: what editors need to check and complete mechanism files."""

from __future__ import annotations

import json

import click

from mechsim.cli import options


@click.command(epilog="\b\nExample:\n  mechsim schema > mechspec.schema.json")
@options.DEBUG
def schema(debug: bool) -> None:
    """Print the JSON Schema of mechanism files, for editors that complete and check YAML."""
    from mechsim.spec import schema as describe

    click.echo(json.dumps(describe(), indent=2))
