"""What a mechanism may be given as: a file, its text, or a MechSpec."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import mechsim.spec
from mechsim.spec.document import MechSpec

Source = str | Path | MechSpec
Parameters = Mapping[str, float | str]


def read(source: Source, parameters: Parameters | None = None) -> MechSpec:
    """The MechSpec of a file, of its text (anything with a line break), or the MechSpec itself.

    `parameters` replace PhysicalParams: numbers, or expressions as text.
    """
    given = parameters or {}
    overrides = {name: value if isinstance(value, str) else repr(float(value)) for name, value in given.items()}
    if isinstance(source, MechSpec):
        together = {**source.overrides, **overrides}
        return mechsim.spec.parse(source.text, source.path, together, source.files) if overrides else source
    if isinstance(source, str) and "\n" in source:
        return mechsim.spec.parse(source, overrides=overrides)
    return mechsim.spec.read(str(source), overrides)
