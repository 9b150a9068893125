"""What can go wrong, said so that a person can mend it. Every room may raise these; only `cli/` prints them."""

from __future__ import annotations

import re
import sys
import warnings
from types import FrameType

from mechsim.frozen import frozen

OVERRIDES_FILE = "<parameters>"  # where parameters stand that are given beside a file; the command line says --set

# What moves the cursor, changes colours or turns writing around; names and titles of a file may hold it.
BREAKS = re.compile("[\t\n\r\x0b\x0c\x85\u2028\u2029]+")
UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """The text on one line, with control characters written out (`\\x1b`), so that a terminal only shows it."""
    line = BREAKS.sub(" ", text)
    return UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode(), line)


@frozen
class Mark:
    """A place in a text file, counted from 1 as editors do."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{printable(self.file)}:{self.line}:{self.column}"


@frozen
class Fault:
    """One thing that is wrong: what, which value, where (if it stands in a file), and what to do.

    Messages may quote a file, so they are made printable.
    """

    message: str
    mark: Mark | None = None
    hint: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", printable(self.message))
        object.__setattr__(self, "hint", printable(self.hint))

    def __str__(self) -> str:
        where = f"{self.mark}: " if self.mark else ""
        hint = f"\n  hint: {self.hint}" if self.hint else ""
        return f"{where}error: {self.message}{hint}"


@frozen
class Note:
    """Something a person should know, though nothing is wrong: what, and where (if it stands in a file)."""

    message: str
    mark: Mark | None = None

    def __str__(self) -> str:
        return f"{self.mark}: {self.message}" if self.mark else self.message


class BranchWarning(UserWarning):
    """A handle's start could not be followed from that of its file, and may close in another way."""


class WritingWarning(UserWarning):
    """A result is returned, but could not be written where it was to go."""


class DrawingWarning(UserWarning):
    """What is drawn of a Lagrangian is not what moves."""


def warn_caller(message: str, kind: type[UserWarning] = BranchWarning) -> None:
    """A warning, at the line outside of mechsim that asked for what it is about."""
    level = 1
    caller: FrameType | None = sys._getframe()
    while caller is not None and caller.f_globals.get("__name__", "").partition(".")[0] == "mechsim":
        level, caller = level + 1, caller.f_back
    warnings.warn(message, kind, stacklevel=level)


class MechsimError(Exception):
    """A failure a user can understand. `exit_code` is what the shell sees."""

    exit_code = 1

    def __init__(self, *faults: Fault | str):
        self.faults = tuple(Fault(f) if isinstance(f, str) else f for f in faults)
        super().__init__("\n".join(map(str, self.faults)))


class SpecError(MechsimError):
    """The file cannot be read as a mechanism."""

    exit_code = 2


class AssemblyError(MechsimError):
    """No consistent start exists, or it was not found."""

    exit_code = 3


class IntegrationError(MechsimError):
    """The motion could not be followed to its end."""

    exit_code = 4
