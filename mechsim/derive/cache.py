"""Programs on disk, so that a normal run never imports JAX. Safe when several processes write at once."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import os
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from mechsim.derive.program import Program, from_document, to_document
from mechsim.lagrangian.kind import Kind


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
    shared = [room.parent / "lagrangian" / name for name in ("kind.py", "law.py", "smooth.py")]
    for source in [*sorted(room.glob("*.py")), *shared]:
        digest.update(source.read_bytes())
    digest.update(version("jax").encode())
    return digest.hexdigest()


def _path(kind: Kind, zero_parameters: frozenset[int], complete: bool) -> Path:
    if kind.source:
        source = kind.source.encode()
    else:
        declared = {inspect.getfile(value) for value in vars(kind).values() if callable(value)}
        source = b"".join(Path(file).read_bytes() for file in sorted(declared))
    key = f"{kind.name} {sorted(zero_parameters)} {complete} {_derivation_fingerprint()}".encode()
    return folder() / f"{kind.name}-{hashlib.sha256(key + source).hexdigest()[:24]}.json"


def load(kind: Kind, zero_parameters: frozenset[int], complete: bool) -> Program | None:
    try:
        return from_document(json.loads(_path(kind, zero_parameters, complete).read_text()))
    except (OSError, ValueError, KeyError, TypeError):
        return None  # absent, or damaged: it is derived again


def store(kind: Kind, zero_parameters: frozenset[int], complete: bool, program: Program) -> None:
    """Write beside, then rename: a reader sees the old file or the whole new one. A read-only home only costs time."""
    path = _path(kind, zero_parameters, complete)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        with os.fdopen(handle, "w") as file:
            json.dump(to_document(program), file)
        os.replace(temporary, path)
    except OSError as problem:
        _complain(f"mechsim: derived equations could not be cached ({problem.strerror or problem}): {path.parent}")


@functools.cache
def _complain(message: str) -> None:
    """Say it once, not for every kind."""
    print(message, file=sys.stderr)
