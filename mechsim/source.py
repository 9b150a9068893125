"""What a mechanism may be given as: a file, its text, or a MechSpec."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import mechsim.spec
from mechsim.errors import Fault, SpecError
from mechsim.spec.document import MechSpec

Source = str | Path | MechSpec
Parameters = Mapping[str, float | str]
Folders = str | Path | Sequence[str | Path]


def read(source: Source, parameters: Parameters | None = None, tables_from: Folders = ()) -> MechSpec:
    """The MechSpec of a file, of its text (anything with a line break), or the MechSpec itself.

    `parameters` replace PhysicalParams: numbers, or expressions as text. `tables_from` are folders (or one) that tables
    may be read from, beside the folder of the mechanism file; for a text that is the working folder.
    """
    folders = (tables_from,) if isinstance(tables_from, str | Path) else tuple(tables_from)
    given = parameters or {}
    overrides = {
        name: value if isinstance(value, str) else repr(given_number(name, value)) for name, value in given.items()
    }
    if isinstance(source, MechSpec):
        together = {**source.overrides, **overrides}
        if not overrides:
            return source
        return _again(source, together, source.asked)
    if isinstance(source, str) and "\n" in source:
        return mechsim.spec.parse(source, overrides=overrides, tables_from=folders)
    return mechsim.spec.read(str(source), overrides, folders)


def telling(spec: MechSpec, signals: Mapping[str, str]) -> MechSpec:
    """The same file with further signals, which a motion tells. Raises SpecError."""
    return _again(spec, spec.overrides, {**spec.asked, **signals}) if signals else spec


def _again(spec: MechSpec, overrides: Mapping[str, str], asked: Mapping[str, str]) -> MechSpec:
    return spec.as_this(mechsim.spec.parse(spec.text, spec.path, overrides, spec.files, asked=asked))


def given_number(name: str, value: float) -> float:
    """The value of a parameter that is given as a number. Raises SpecError for what is none."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        shown = float(value) if isinstance(value, float) else value  # one of NumPy's is called by its type
        raise SpecError(Fault(f"the parameter {name} must be a number or an expression as text, but is {shown!r}"))
    return number
