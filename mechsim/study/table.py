"""The table of a sweep, and the files that hold it: a row per case, with all that is needed to run it again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mechsim.errors import Fault
from mechsim.handle.mechanism_handle import MechanismHandle, mechanism
from mechsim.handle.motions import Motions
from mechsim.result import Motion
from mechsim.result.paths import OutputError
from mechsim.simulation import adjust
from mechsim.spec import parse

KEY = b"mechsim_sweep"


@dataclass(frozen=True)
class SweepTable:
    """One row per case: parameters, measures, `steps`, `status` and `message` by name in `columns`."""

    columns: Mapping[str, np.ndarray]
    facts: Mapping[str, Any]

    @property
    def vary(self) -> list[dict[str, Any]]:
        return list(self.facts["vary"])

    @property
    def measures(self) -> list[dict[str, str]]:
        return list(self.facts["measures"])

    @property
    def status(self) -> np.ndarray:
        return self.columns["status"]

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]

    def __len__(self) -> int:
        return len(self.status)

    def case(self, k: int) -> dict[str, float]:
        return {each["name"]: float(self.columns[each["name"]][k]) for each in self.vary}

    @cached_property
    def handle(self) -> MechanismHandle:
        facts, settings = self.facts, self.facts["settings"]
        spec = parse(facts["spec_text"], facts["spec_path"], settings["overrides"], facts["files"], tables_from=None)
        return mechanism(adjust(spec, t0=settings["t0"], tend=settings["tend"]))

    def motion(self, k: int) -> Motion:
        """The motion of a case, simulated again."""
        return self.motions([k])[0].motion

    def motions(self, cases: Sequence[int]) -> Motions:
        """The motions of these cases, simulated again."""
        settings = self.facts["settings"]
        parameters = {each["name"]: self.columns[each["name"]][list(cases)] for each in self.vary}
        return self.handle.simulate_many(parameters, tol=settings["tol"], order=settings.get("order"))


def is_sweep(path: str | Path) -> bool:
    if not str(path).lower().endswith(".parquet"):
        return False
    import pyarrow.parquet

    try:
        return KEY in (pyarrow.parquet.read_schema(path).metadata or {})
    except Exception:
        return False


def load_sweep(path: str | Path) -> SweepTable:
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(path)
        facts = json.loads(table.schema.metadata[KEY])
    except Exception as error:
        raise OutputError(Fault(f"cannot read {path}: it is damaged or no sweep of mechsim")) from error
    return SweepTable({name: table[name].to_numpy(zero_copy_only=False) for name in table.column_names}, facts)
