"""Reading results to draw: the mistakes that people make here get an answer of their own."""

from __future__ import annotations

from pathlib import Path

from mechsim.errors import Fault
from mechsim.result.files import load
from mechsim.result.journal import OutputError
from mechsim.result.trajectory import Trajectory


def is_sweep(path: str) -> bool:
    """Whether a file is that of a sweep. What else it may be pays for no import that only sweeps need."""
    if path.lower().endswith(".csv"):
        try:
            with open(path, encoding="utf-8") as stream:
                stream.readline()
                if not stream.readline().startswith("# sweep: "):
                    return False
        except (OSError, ValueError):
            return False
    elif not path.lower().endswith(".parquet"):
        return False
    from mechsim.study.written import is_sweep as known

    return known(path)


def results(path: str) -> Trajectory:
    """The trajectory in a file that mechsim wrote."""
    if path.lower().endswith((".yaml", ".yml")):
        stem = Path(path).stem
        hint = f"run it first: mechsim run {path} -o {stem}.csv"
        raise OutputError(Fault(f"{path} is a mechanism, not a result", hint=hint))
    return load(path)
