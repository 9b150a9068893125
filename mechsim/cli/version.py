"""`mechsim version`: what to write into a report."""

from __future__ import annotations

import platform
from importlib import metadata

import click

from mechsim._version import __version__
from mechsim.cli import options, tables

PACKAGES = ("numpy", "scipy", "jax", "cyipopt-wheels", "pyyaml", "click", "rich", "pyarrow")


@click.command(epilog="\b\nExample:\n  mechsim version")
@options.DEBUG
def version(debug: bool) -> None:
    """Print the versions of mechsim, of Python and of the libraries it stands on."""
    rows = [("mechsim", __version__), ("python", f"{platform.python_version()} on {platform.platform()}")]
    tables.facts(rows + [(name, _installed(name)) for name in PACKAGES])


def _installed(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
