"""Reading results to draw: the mistakes that people make here get an answer of their own."""

from __future__ import annotations

from pathlib import Path

from mechsim.errors import Fault
from mechsim.result.files import load
from mechsim.result.journal import OutputError
from mechsim.result.trajectory import Trajectory


def results(path: str) -> Trajectory:
    """The trajectory in a file that mechsim wrote."""
    if path.lower().endswith((".yaml", ".yml")):
        stem = Path(path).stem
        hint = f"run it first: mechsim run {path} -o {stem}.csv"
        raise OutputError(Fault(f"{path} is a mechanism, not a result", hint=hint))
    return load(path)
