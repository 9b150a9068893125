"""The command `mechsim`: words in, exit code out. Commands live in modules of their own, imported when called."""

from __future__ import annotations

import errno
import io
import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

import click

from mechsim._version import __version__
from mechsim.errors import Fault, MechsimError, printable

EXIT_CODES = (
    "Exit codes: 0 done, 2 a bad file or option, 3 cannot be assembled, 4 integration failed, 5 a regression (bench), "
    "130 interrupted."
)

# Every command and the module that holds it; `--help` lists them without importing any.
COMMANDS = {
    "run": "Simulate a mechanism and write its motion.",
    "open": "Simulate a mechanism and look at it in the browser.",
    "check": "Degrees of freedom, index and structure, without simulating.",
    "assemble": "Find a consistent start and show it.",
    "animate": "Draw the motion: film, picture or interactive page.",
    "plot": "Plot energies, coordinates, paths; compare results.",
    "bench": "Run specs with known answers and compare with what was accepted.",
    "sweep": "Run a mechanism with many parameters and measure each motion.",
    "equilibrium": "Where a mechanism rests, or moves steadily, and whether it stays there.",
    "linearize": "Modes, stability and matrices of the linear motion near a state.",
    "lyapunov": "Lyapunov exponents: how fast motions beside each other part.",
    "periodic": "Periodic motions, their stability, and how they change with a parameter.",
    "poincare": "Poincaré sections and bifurcation diagrams.",
    "response": "Frequency response: periodic motions over the frequency of a forcing.",
    "basins": "Basins of attraction: where each of many starts goes.",
    "sensitivity": "How measures of a motion change with parameters and with the start.",
    "optimize": "Choose parameters or inputs so that a measure of the motion is least.",
    "peaks": "Largest and smallest values of any column, between steps too.",
    "cycle": "One freedom through all its poses: dead centres, advantage, coupler curves.",
    "inverse": "Torques and forces that drives must give for a motion.",
    "workspace": "What a point can reach: boundary, area.",
    "conserved": "Which momenta and energies the model keeps, and what breaks the others.",
    "schema": "Print the JSON Schema of mechanism files.",
    "version": "Print versions of mechsim and what it stands on.",
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called, so that help is instant."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command = getattr(import_module(f"mechsim.cli.{name}"), name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            self._refuse(context, args[0])
        return super().resolve_command(context, args)

    def _refuse(self, context: click.Context, word: str) -> NoReturn:
        if word.endswith((".yaml", ".yml")):
            context.fail(f"No such command '{word}'. To simulate the file: mechsim run {word}")
        from difflib import get_close_matches

        near = get_close_matches(word, COMMANDS, n=1)
        context.fail(f"No such command '{word}'." + (f" Did you mean {near[0]}?" if near else ""))


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=f"\b\nExample:\n  mechsim run specs/andrews.yaml -o out.csv\n\n{EXIT_CODES}",
)
@click.version_option(__version__, prog_name="mechsim", message="%(prog)s %(version)s")
def cli() -> None:
    """Mechanisms written as text, their motion to the last digits.

    Write a mechanism in YAML, then let it move: "mechsim COMMAND --help" says more.
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave with its exit code; no traceback unless --debug asks for one."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    sys.exit(_guarded(words))


def _guarded(words: list[str]) -> int:
    from mechsim.cli import errors, interrupts
    from mechsim.cli.interrupts import INTERRUPTED

    try:
        interrupts.listen()
        _prepare_streams()
        if "--debug" not in words:
            warnings.simplefilter("ignore")  # libraries warn programmers; what users should know we say ourselves
        result = cli.main(words, prog_name="mechsim", standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except click.ClickException as error:
        said = io.StringIO()
        error.show(said)
        for line in said.getvalue().split("\n")[:-1]:
            errors.say(printable(line))
        if "--json" in words:
            errors.as_json([Fault(error.format_message())], error.exit_code)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        errors.say("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has gone (`| head`). Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MechsimError as error:
        if "--debug" in words:
            raise
        errors.show(error, json_wanted="--json" in words)
        return error.exit_code
    except Exception as error:
        if "--debug" in words:
            raise
        if isinstance(error, OSError) and error.filename is None and error.errno == errno.ENOSPC:
            errors.show(MechsimError("cannot write to standard output: the disk is full"), json_wanted=False)
            return 1
        errors.show_unexpected(error, json_wanted="--json" in words)
        return 1


def _prepare_streams() -> None:
    """A shell may start us without standard output or error (`>&-`); then what is said goes nowhere. A terminal may
    lack the letters of a title, which must not fail for that."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
