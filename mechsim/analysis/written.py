"""Files of what analyses find, by their endings."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from mechsim._version import __version__
from mechsim.result.paths import SIGNATURE, check_target, replacing

Texts = Callable[[], str]
Arrays = Callable[[], Mapping[str, np.ndarray]]
Told = Callable[[], Mapping[str, object]]


def written(
    path: str | Path,
    *,
    csv: Texts | None = None,
    npz: Arrays | None = None,
    as_json: Told | None = None,
    parquet: Arrays | None = None,
) -> Path:
    """Write what there is for the ending of a path; raises OutputError."""
    known = {".csv": csv, ".npz": npz, ".json": as_json, ".parquet": parquet}
    target = check_target(path, endings=[ending for ending, made in known.items() if made is not None])
    with replacing(target) as temporary:
        if target.suffix.lower() == ".npz" and npz is not None:
            with open(temporary, "wb") as stream:
                np.savez(stream, allow_pickle=False, **npz())
        elif target.suffix.lower() == ".json" and as_json is not None:
            temporary.write_text(json.dumps(as_json(), indent=1) + "\n", encoding="utf-8")
        elif target.suffix.lower() == ".parquet" and parquet is not None:
            import pyarrow
            import pyarrow.parquet

            pyarrow.parquet.write_table(pyarrow.table(dict(parquet())), temporary, compression="zstd")
        elif csv is not None:
            temporary.write_text(csv(), encoding="utf-8")
    return target


def csv_of(names: Sequence[str], rows: Iterable[Sequence[object]], *remarks: str) -> str:
    """A table as text: numbers to the last digit, remarks above it."""
    lines = [f"{SIGNATURE.decode()}{__version__}", *(f"# {remark}" for remark in remarks)]
    lines.append(",".join(_cell(name) for name in names))
    lines += [",".join(_cell(each) for each in row) for row in rows]
    return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    if not isinstance(value, str):
        return repr(float(value) if isinstance(value, np.floating) else value)
    return f'"{value}"' if "," in value else value
