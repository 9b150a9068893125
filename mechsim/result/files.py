"""Files of results by their ending: `.csv` for everyone, `.npz` with the Taylor series, `.parquet` for tables."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from mechsim.engine.segments import Segments
from mechsim.errors import Fault
from mechsim.result import csvtext
from mechsim.result.certificate import Certificate
from mechsim.result.happenings import as_arrays, from_arrays, read_beside, write_beside
from mechsim.result.journal import Journal
from mechsim.result.paths import OutputError, check_target, replacing, sources
from mechsim.result.soundness import Unsound, check
from mechsim.result.trajectory import MODE, Polynomials, Trajectory

FACTS = ("title", "spec_path", "spec_text", "settings", "version", "status")


def save(trajectory: Trajectory, path: str | Path) -> Path:
    """Write a trajectory; an existing file is replaced only when the new one is complete."""
    target = check_target(path, sources(trajectory.spec_path, trajectory.settings.get("files", ())))
    match target.suffix.lower():
        case ".npz":
            return _replace(target, lambda temporary: _write_npz(trajectory, temporary))
        case ".parquet":
            if trajectory.events is not None:
                write_beside(trajectory.events, target)
            return _replace(target, lambda temporary: _write_parquet(trajectory, temporary))
    head = csvtext.head(
        version=trajectory.version,
        title=trajectory.title,
        settings=trajectory.settings,
        spec_path=trajectory.spec_path,
        spec_text=trajectory.spec_text,
        labels=trajectory.labels,
        units=trajectory.units,
        not_unique=trajectory.not_unique,
        drawing=trajectory.drawing,
        status=trajectory.status if trajectory.status == MODE else "",
    )
    journal = Journal(target, head, csvtext.row_format(len(trajectory.labels)))
    journal.append(trajectory.table)
    path = journal.finish(csvtext.foot(trajectory.certificate))
    if trajectory.events is not None and path.is_file():
        write_beside(trajectory.events, path)
    return path


def load(path: str | Path) -> Trajectory:
    """Read a trajectory written by mechsim. What is wrong with a file is said in an OutputError."""
    source = Path(path)
    try:
        trajectory = _read(source)
        check(trajectory)
        return trajectory
    except OutputError:
        raise
    except Unsound as problem:
        hint = "it is damaged, or no file of mechsim"
        raise OutputError(Fault(f"cannot read {path}: {problem}", hint=hint)) from None
    except OSError as error:
        raise OutputError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from error
    except Exception as error:  # readers of foreign formats raise what they like
        hint = "results of mechsim end in .csv, .npz or .parquet"
        raise OutputError(Fault(f"cannot read {path}: it is damaged or no file of mechsim", hint=hint)) from error


def _read(source: Path) -> Trajectory:
    match source.suffix.lower():
        case ".npz":
            return _read_npz(source)
        case ".parquet":
            return _with_events(_read_parquet(source), source)
    return _with_events(csvtext.parse(source.read_text(encoding="utf-8"), str(source)), source)


def _with_events(trajectory: Trajectory, source: Path) -> Trajectory:
    """With the table beside the file, unless that is of another run."""
    told = trajectory.certificate.events if trajectory.certificate else 0
    events = read_beside(source) if told else None
    return replace(trajectory, events=events) if events is not None and len(events) == told else trajectory


def _replace(target: Path, write: Callable[[Path], None]) -> Path:
    with replacing(target) as temporary:
        write(temporary)
    return target


def _facts(trajectory: Trajectory) -> str:
    """All that is not an array, as JSON."""
    facts = {name: getattr(trajectory, name) for name in FACTS}
    facts |= {"labels": trajectory.labels, "units": trajectory.units, "not_unique": trajectory.not_unique}
    facts |= {"drawing": trajectory.drawing} if trajectory.drawing else {}
    facts["certificate"] = trajectory.certificate.as_dict() if trajectory.certificate else None
    return json.dumps(facts)


def _from_facts(
    text: str, table: np.ndarray, polynomials: Polynomials | None = None, segments: Segments | None = None
) -> Trajectory:
    facts = json.loads(text)
    certificate = facts.get("certificate")
    return Trajectory(
        labels=tuple(facts["labels"]),
        units=tuple(facts["units"]),
        not_unique=tuple(facts.get("not_unique", ())),
        drawing=facts.get("drawing", ""),
        table=table,
        certificate=Certificate.from_dict(certificate) if certificate else None,
        polynomials=polynomials,
        segments=segments,
        **{name: facts[name] for name in FACTS},
    )


def _write_npz(trajectory: Trajectory, path: Path) -> None:
    arrays: dict[str, np.ndarray] = {"facts": np.array(_facts(trajectory)), "table": trajectory.table}
    if series := trajectory.polynomials:
        arrays |= {"t": series.t, "ends": series.ends, "coefficients": series.coefficients}
        arrays["labels"] = np.array(series.labels)
    if (held := trajectory.segments) and len(held.numbers):
        arrays |= {"held_times": held.starts, "held_numbers": held.numbers, "held_values": held.values}
    if trajectory.events is not None:
        arrays |= as_arrays(trajectory.events)
    with open(path, "wb") as stream:
        np.savez(stream, **arrays)  # type: ignore[arg-type]  # a name may be that of an option


def _read_npz(path: Path) -> Trajectory:
    with np.load(path, allow_pickle=False) as arrays:
        polynomials = None
        if "coefficients" in arrays:
            labels = tuple(str(label) for label in arrays["labels"])
            polynomials = Polynomials(arrays["t"], arrays["ends"], arrays["coefficients"], labels)
        segments = None
        if "held_values" in arrays:
            segments = Segments(*(arrays[f"held_{name}"] for name in ("times", "numbers", "values")))
        found = _from_facts(str(arrays["facts"]), arrays["table"], polynomials, segments)
        return replace(found, events=from_arrays(dict(arrays))) if "events" in arrays else found


def _write_parquet(trajectory: Trajectory, path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    columns = [pyarrow.array(trajectory.table[:, index]) for index in range(len(trajectory.labels))]
    table = pyarrow.table(columns, names=list(trajectory.labels))
    pyarrow.parquet.write_table(table.replace_schema_metadata({"mechsim": _facts(trajectory)}), path)


def _read_parquet(path: Path) -> Trajectory:
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path)
    facts = (table.schema.metadata or {})[b"mechsim"].decode()
    columns = [column.to_numpy() for column in table.columns]
    return _from_facts(facts, np.column_stack(columns))
