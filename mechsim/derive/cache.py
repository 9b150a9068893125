"""Programs on disk, so that a normal run never imports JAX. Safe when several processes write at once.

A file says what it is for and carries a checksum of itself; its name alone proves nothing. What is read is checked
against its kind before anything runs it; what is damaged is derived again and replaced.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from mechsim.derive.program import Program, from_document, to_document
from mechsim.derive.soundness import check
from mechsim.lagrangian.kind import Kind

MOST_BYTES = 100_000_000  # a large one has 1 MB


def folder() -> Path:
    """$MECHSIM_CACHE, else the user's cache folder."""
    if os.environ.get("MECHSIM_CACHE"):
        return Path(os.environ["MECHSIM_CACHE"])
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "mechsim"


@functools.cache
def _derivation_fingerprint() -> str:
    """Hash of what turns a kind into a program: this room's sources, what kinds are made with, and the JAX version."""
    digest = hashlib.sha256()
    room = Path(__file__).parent
    shared = [
        room.parent / "lagrangian" / name for name in ("formula.py", "kind.py", "law.py", "smooth.py", "vector.py")
    ]
    # The file in which JAX tells its version: importing JAX, or `importlib.metadata` to ask, would take its time.
    jax = find_spec("jax")
    assert jax is not None and jax.origin is not None
    for source in [*sorted(room.glob("*.py")), *shared, Path(jax.origin).parent / "version.py"]:
        digest.update(source.read_bytes())
    return digest.hexdigest()


def _purpose(kind: Kind, zero_parameters: frozenset[int], complete: bool) -> str:
    """What a program is for: its kind in all detail, and what derived it."""
    if kind.source:
        source = kind.source.encode()
    else:
        declared = {inspect.getfile(inspect.unwrap(value)) for value in vars(kind).values() if callable(value)}
        source = b"".join(Path(file).read_bytes() for file in sorted(declared))
    key = f"{kind.name} {kind.dimension} {sorted(zero_parameters)} {complete} {_derivation_fingerprint()}".encode()
    return f"{kind.name} {hashlib.sha256(key + source).hexdigest()}"


def _path(purpose: str) -> Path:
    name, key = purpose.split()
    return folder() / f"{name}-{key[:24]}.json"


def _checksum(purpose: str, document: Any) -> str:
    return hashlib.sha256(f"{purpose} {json.dumps(document)}".encode()).hexdigest()


def load(kind: Kind, zero_parameters: frozenset[int], complete: bool) -> Program | None:
    """The program of a kind, or None: absent, or damaged in any way."""
    purpose = _purpose(kind, zero_parameters, complete)
    try:
        path = _path(purpose)
        if not path.is_file() or path.stat().st_size > MOST_BYTES:
            return None
        entry = json.loads(path.read_bytes())
        if entry["for"] != purpose or entry["checksum"] != _checksum(purpose, entry["program"]):
            return None
        program = from_document(entry["program"])
        check(program, kind, complete)
    except (OSError, ValueError, LookupError, TypeError, RuntimeError):  # the last: nested too deep, or no home
        return None
    return program


def store(kind: Kind, zero_parameters: frozenset[int], complete: bool, program: Program) -> None:
    """Write beside, then rename: a reader sees the old file or the whole new one. A read-only home only costs time."""
    purpose = _purpose(kind, zero_parameters, complete)
    import tempfile  # not when programs are only read, which is nearly always

    document, temporary = to_document(program), ""
    try:
        path = _path(purpose)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        with os.fdopen(handle, "w") as file:
            json.dump({"for": purpose, "checksum": _checksum(purpose, document), "program": document}, file)
        os.replace(temporary, path)
    except (OSError, RuntimeError) as problem:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        reason = getattr(problem, "strerror", None) or problem
        _complain(f"mechsim: derived equations could not be cached ({reason}); MECHSIM_CACHE names another folder")


@functools.cache
def _complain(message: str) -> None:
    """Say it once, not for every kind."""
    print(message, file=sys.stderr)
