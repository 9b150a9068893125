"""mechsim: a mechanism written as text, its motion to the last digits a double holds.

    import mechsim
    motion = mechsim.simulate("specs/andrews.yaml", tol=1e-12)
    motion(0.01)["F"]          # where the point F is at t = 0.01
    motion.to_pandas()         # rows of the steps taken

Names are imported when they are first used, so that importing mechsim costs nothing.
"""

from __future__ import annotations

from importlib import import_module

from mechsim._version import __version__

TYPE_CHECKING = False  # as in `typing`, which takes its time to import
if TYPE_CHECKING:  # what the names below are, for type checkers and editors
    from typing import Any

    from mechsim.errors import (
        AssemblyError,
        BranchWarning,
        DrawingWarning,
        IntegrationError,
        MechsimError,
        SpecError,
    )
    from mechsim.facility import lagrangian_system
    from mechsim.handle import mechanism
    from mechsim.measure.extremes import extremes
    from mechsim.result import Motion, Trajectory
    from mechsim.simulation import simulate
    from mechsim.study.sweep import sweep
    from mechsim.study.table import SweepTable, load

_HOMES = {
    "simulate": "mechsim.simulation",
    "mechanism": "mechsim.handle",
    "lagrangian_system": "mechsim.facility",
    "load": "mechsim.study.table",
    "extremes": "mechsim.measure.extremes",
    "sweep": "mechsim.study.sweep",
    "SweepTable": "mechsim.study.table",
    "Motion": "mechsim.result",
    "Trajectory": "mechsim.result",
    "MechsimError": "mechsim.errors",
    "SpecError": "mechsim.errors",
    "AssemblyError": "mechsim.errors",
    "IntegrationError": "mechsim.errors",
    "BranchWarning": "mechsim.errors",
    "DrawingWarning": "mechsim.errors",
}

__all__ = [
    "AssemblyError",
    "BranchWarning",
    "DrawingWarning",
    "IntegrationError",
    "MechsimError",
    "Motion",
    "SpecError",
    "SweepTable",
    "Trajectory",
    "__version__",
    "extremes",
    "lagrangian_system",
    "load",
    "mechanism",
    "simulate",
    "sweep",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'mechsim' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
