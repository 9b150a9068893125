"""A batch: which specs there are, where their accepted figures are kept, and the rows of a run of all of them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mechsim.errors import Fault, SpecError
from mechsim.frozen import frozen
from mechsim.result.paths import OutputError, replacing
from mechsim.study.regression import FAILED, NO_REFERENCE, VANISHED, Accepted, Row, judged
from mechsim.study.regression_runs import Observer, run_all

ENDINGS = (".yaml", ".yml")
ACCEPTED_FILE = "accepted.json"
FORMAT = "mechsim accepted figures 1"
HAS_REFERENCE = re.compile(r"^[^#\n]*\bReference\s*[\"']?\s*:", re.MULTILINE)  # a first look, before a file is read


@frozen
class Found:
    """A spec that is to be run, and the file that keeps what was accepted for it."""

    path: Path
    book: Path

    @property
    def key(self) -> str:
        """Its name there."""
        return _key(self.path, self.book)


@dataclass(slots=True)
class Batch:
    """What was found in the places given: specs to run, others without a Reference, books of accepted figures."""

    specs: list[Found] = field(default_factory=list)
    without: list[Path] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    books: dict[Path, dict[str, Accepted]] = field(default_factory=dict)


def gather(places: Sequence[str | Path]) -> Batch:
    """Specs in these folders, recursively, and these files. Raises SpecError for a place that is not there, and for
    accepted figures that cannot be read."""
    if missing := [place for place in places if not Path(place).exists()]:
        raise SpecError(*(Fault(f"there is no file or folder {place}") for place in missing))
    batch, seen = Batch(), set()
    for place in map(Path, places):
        book = _book_of(place)
        batch.books.setdefault(book, {} if not book.is_file() else read_book(book))
        batch.folders += [place] if place.is_dir() else []
        for path in _specs_in(place):
            if (real := path.resolve()) not in seen:
                seen.add(real)
                if place.is_dir() and not _may_have_reference(path):
                    batch.without.append(path)
                else:
                    batch.specs.append(Found(path, book))
    return batch


def carry_out(batch: Batch, jobs: int, observer: Observer = lambda done, total: None) -> list[Row]:
    """Run every spec of the batch and judge it; then those that vanished, and those without a Reference."""
    rows, kept = [], set()
    for found, figures in zip(batch.specs, run_all([each.path for each in batch.specs], jobs, observer), strict=True):
        if figures is None:
            batch.without.append(found.path)
            continue
        kept.add((found.book, found.key))
        rows.append(judged(shown(found.path), figures, batch.books[found.book].get(found.key)))
    gone = _vanished(batch, kept)
    rows += [Row(shown(path), VANISHED, (reason,)) for path, reason in gone.items()]
    return rows + [Row(shown(path), NO_REFERENCE) for path in batch.without if path.resolve() not in gone]


def accept(batch: Batch, rows: Sequence[Row]) -> dict[Path, list[str]]:
    """Write what these rows came to as accepted, but never what failed: that keeps what it had. Returns, per file that
    changed, what changed in it."""
    by_spec = {row.spec: row for row in rows}
    told: dict[Path, list[str]] = {}
    for book, old in batch.books.items():
        new = dict(old)
        for found in batch.specs:
            row = by_spec.get(shown(found.path))
            if found.book == book and row and row.figures and row.verdict not in (FAILED, NO_REFERENCE):
                new[found.key] = Accepted.of(row.figures)
        for key in old:
            row = by_spec.get(shown(book.parent / key))
            if row and row.verdict == VANISHED:
                del new[key]
        if new != old:
            write_book(book, new)
            told[book] = _changes(old, new)
    return told


def read_book(path: Path) -> dict[str, Accepted]:
    """Accepted figures by spec. Raises SpecError that says what is wrong with the file."""
    hint = "mend it, or take it away and accept figures anew with --update"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content.get("format") != FORMAT:
            raise SpecError(Fault(f"{path} is no file of accepted figures", hint=f"its format is not {FORMAT!r}"))
        return {key: Accepted.from_dict(values) for key, values in content["specs"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"{type(error).__name__}: {error}"
        raise SpecError(Fault(f"cannot read accepted figures in {path}: {reason}", hint=hint)) from None


def write_book(path: Path, figures: Mapping[str, Accepted]) -> None:
    """One line per spec, in alphabetical order, so that a comparison of two versions reads well."""
    lines = [f"    {json.dumps(key)}: {json.dumps(figures[key].as_dict())}" for key in sorted(figures)]
    text = f'{{\n  "format": {json.dumps(FORMAT)},\n  "specs": {{\n' + ",\n".join(lines) + "\n  }\n}\n"
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def shown(path: Path) -> str:
    """A path as a person would type it, with / on every system."""
    try:
        relative = os.path.relpath(path)
    except (OSError, ValueError):  # the working folder is gone, or another drive
        return path.as_posix()
    return path.resolve().as_posix() if relative.startswith("..") else Path(relative).as_posix()


def _specs_in(place: Path) -> Iterable[Path]:
    if not place.is_dir():
        return [place]
    found = (path for path in place.rglob("*") if path.suffix in ENDINGS and path.is_file())
    return sorted(path for path in found if not any(part.startswith(".") for part in path.relative_to(place).parts))


def _may_have_reference(path: Path) -> bool:
    """Other YAML may lie about: what does not look like a mechanism with a Reference is not read further."""
    try:
        return HAS_REFERENCE.search(path.read_text(encoding="utf-8", errors="replace")) is not None
    except OSError:
        return True  # reading it will say why


def _book_of(place: Path) -> Path:
    """The file of accepted figures in this folder, or in the nearest above it that has one; else a new one here."""
    folder = (place if place.is_dir() else place.parent).resolve()
    for each in (folder, *folder.parents):
        if _is_book(each / ACCEPTED_FILE):
            return each / ACCEPTED_FILE
    if (folder / ACCEPTED_FILE).exists():
        hint = f"move it away, or your specs: accepted figures are kept in a file of that name, {FORMAT!r}"
        raise OutputError(Fault(f"{shown(folder / ACCEPTED_FILE)} is no file of accepted figures", hint=hint))
    return folder / ACCEPTED_FILE


def _is_book(path: Path) -> bool:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return FORMAT.rpartition(" ")[0] in file.read(200)
    except OSError:
        return False


def _key(path: Path, book: Path) -> str:
    return Path(os.path.relpath(path.resolve(), book.parent)).as_posix()


def _vanished(batch: Batch, kept: set[tuple[Path, str]]) -> dict[Path, str]:
    """Specs with accepted figures, in the folders given, that have no figures now, and why."""
    gone = {}
    folders = [folder.resolve() for folder in batch.folders]
    files = {found.path.resolve() for found in batch.specs}
    for book, accepted in batch.books.items():
        for key in accepted:
            path = (book.parent / key).resolve()
            asked = path in files or any(folder in path.parents for folder in folders)
            if asked and (book, key) not in kept:
                reason = "it has no Reference any more" if path.is_file() else "its file is gone"
                gone[path] = f"{reason}, but figures of it were accepted"
    return gone


def _changes(old: Mapping[str, Accepted], new: Mapping[str, Accepted]) -> list[str]:
    told = []
    for key in sorted({*old, *new}):
        if key not in new:
            told.append(f"{key}: removed")
        elif key not in old:
            told.append(f"{key}: new")
        elif changes := old[key].changes(new[key]):
            told.append(f"{key}: {', '.join(changes)}")
    return told
