"""The consistent start of a motion, through IPOPT: `assemble` finds one, `configurations` those a search finds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from mechsim.errors import AssemblyError, Fault
from mechsim.initial import assembly, branches
from mechsim.initial.start import Row, Start
from mechsim.initial.warm import Beside, Lost, Stage, Way
from mechsim.model.mechanism import Mechanism
from mechsim.spec.document import Problem

if TYPE_CHECKING:
    from mechsim.kernel.system import System

__all__ = ["Beside", "Lost", "Row", "Stage", "Start", "Way", "assemble", "configurations", "start_beside"]


def assemble(mechanism: Mechanism, system: System, problem: Problem, *, branch: int | None = None) -> Start:
    """The consistent start of the problem; AssemblyError if there is none, or none was found.

    `branch` (counted from 1, else the file's `Branch`) picks one of `configurations`.
    """
    with _explained():
        return assembly.assemble(mechanism.bilateral, system.bilateral, problem, branch=branch)


def start_beside(beside: Beside, system: System, problem: Problem, way: Way, *, thorough: bool = False) -> Start | Lost:
    """The start of a mechanism on the branch of one that is known; else why only `assemble` can tell (see `warm`)."""
    with _explained():
        return beside.start(system, problem, way, thorough)


def configurations(
    mechanism: Mechanism,
    system: System,
    problem: Problem,
    *,
    random_starts: int = branches.RANDOM_STARTS,
    told: branches.Told = branches.untold,
) -> list[Start]:
    """The different ways the mechanism closes, as far as a search finds them (see `branches`)."""
    with _explained():
        return branches.configurations(
            mechanism.bilateral, system.bilateral, problem, random_starts=random_starts, told=told
        )


@contextmanager
def _explained() -> Iterator[None]:
    """Numbers that are too far apart break the linear algebra: its words mean nothing to whoever wrote the file."""
    try:
        with np.errstate(all="ignore"):
            yield
    except (np.linalg.LinAlgError, ArithmeticError):
        hint = "look for a length, mass, position or speed that is many orders of magnitude off"
        raise AssemblyError(
            Fault("no start can be computed: the numbers of the file are too far apart", hint=hint)
        ) from None
