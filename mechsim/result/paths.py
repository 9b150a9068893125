"""Where results may be written: not on a folder, not on what they are made from, not on what is somebody else's."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from mechsim.errors import Fault, MechsimError

ENDINGS = (".csv", ".npz", ".parquet")
STANDARD_OUTPUT = Path("-")
SIGNATURE = b"# mechsim "  # how a CSV of ours begins


class OutputError(MechsimError):
    """A file of results cannot be read or written."""

    exit_code = 2


def check_target(path: str | Path, sources: Iterable[str | Path] = (), endings: Sequence[str] = ENDINGS) -> Path:
    """The path results can be written to (links followed), or an OutputError that says why not; `sources` are files
    that must stay as they are."""
    if Path(path) == STANDARD_OUTPUT:
        return STANDARD_OUTPUT
    with explained(path):
        target = real_path(path)
        if target.is_dir():
            raise OutputError(Fault(f"cannot write {path}: it is a folder", hint=f"name a file in it: {path}/out.csv"))
        if target.exists() and not target.is_file():
            return target
        if target.suffix.lower() not in endings:
            said = f"the ending {target.suffix!r}" if target.suffix else "a name without ending"
            hint = f"use one of {', '.join(endings)}"
            raise OutputError(Fault(f"cannot write {path}: {said} is not known", hint=hint))
        check_folder(target, path)
        for name in (target, partial_path(target)):
            refuse_sources(name, sources)
    return target


def named_after(source: str, ending: str, mark: bytes = b"", within: int = 0) -> str:
    """`specs/andrews.yaml` writes `andrews.csv` here, if nobody says otherwise. A file of that name that is not ours is
    left alone: one that lacks `mark` within its first bytes."""
    path = Path(Path(source).stem + ending)
    if not Path(source).stem:
        raise OutputError(Fault(f"cannot read {source!r}: it is no file"))
    with explained(path):
        if mark and path.is_file():
            with open(path, "rb") as stream:
                ours = mark in stream.read(within)
            if not ours:
                message = f"{path} exists and was not written by mechsim"
                raise OutputError(Fault(message, hint=f"to replace it say -o {path}"))
    return str(path)


def real_path(path: str | Path) -> Path:
    """The path with links followed. Raises OSError for what can be none."""
    if "\0" in str(path):
        raise OSError(errno.EINVAL, "no file can have such a name")
    return Path(os.path.realpath(path))


def check_folder(target: Path, path: str | Path) -> None:
    """Raise OutputError unless a file can be made in the folder of the target, or be replaced there."""
    if not target.parent.is_dir():
        folder = Path(path).parent
        raise OutputError(Fault(f"cannot write {path}: folder {folder} does not exist", hint=f"mkdir -p {folder}"))
    if target.exists() and not os.access(target, os.W_OK):
        raise OutputError(Fault(f"cannot write {path}: it is read-only", hint="choose another name with -o"))


def sources(spec_path: str, tables: Iterable[str]) -> list[Path]:
    """The files that a motion is computed from: the mechanism's, and those of its tables, named from its folder."""
    return [Path(spec_path), *(Path(spec_path).parent / name for name in tables)]


def refuse_sources(target: Path, sources: Iterable[str | Path]) -> None:
    """Raise OutputError if the target is one of these files, by whatever name or link."""
    for source in sources:
        with suppress(OSError, ValueError):  # one of them does not exist
            if os.path.samefile(target, source):
                message = f"cannot write {target}: the motion is computed from that file"
                raise OutputError(Fault(message, hint="choose another name with -o"))


def partial_path(target: Path) -> Path:
    """`out.csv`, `out.npz` and `out.parquet` all keep their rows in `out.partial.csv` while they are made."""
    return target.with_name(f"{target.stem}.partial.csv")


def open_held(path: Path) -> IO[str]:
    """An empty file to write to, held against other runs until it is closed.

    It is emptied only when it is held, for another run may be writing to it; and only if an earlier run wrote it.
    """
    with held(path, _is_csv) as stream:
        stream.seek(0)
        stream.truncate()
        return os.fdopen(os.dup(stream.fileno()), "w", encoding="utf-8", newline="\n")


def held(path: Path, is_ours: Callable[[IO[bytes]], bool]) -> IO[bytes]:
    """A file as it is, or a new one, held against other runs until it is closed. OutputError where somebody else holds
    it, or where what stands there was not written by an earlier run: `is_ours` looks at what it holds."""
    while True:
        with explained(path):
            stream = os.fdopen(_open(path), "r+b", buffering=0)
            try:
                _hold(stream, path)
                if _is_at(stream, path):
                    _refuse_foreign(stream, path, is_ours)
                    stream.seek(0)
                    return stream
            except BaseException:
                stream.close()
                raise
            stream.close()


def _is_csv(stream: IO[bytes]) -> bool:
    return stream.read(len(SIGNATURE)) == SIGNATURE


def _open(path: Path) -> int:
    """A link in the place of a partial file would lead to a file that is none."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        return os.open(path, flags | getattr(os, "O_CLOEXEC", 0), 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _foreign(path, "it is a link") from None
        raise


def _hold(stream: IO[bytes], path: Path) -> None:
    try:
        import fcntl
    except ImportError:  # no such locks on Windows, where a file in use cannot be renamed anyway
        return
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        hint = "wait for it, or choose another name with -o"
        raise OutputError(Fault(f"cannot write {path}: another run is writing it", hint=hint)) from None


def _is_at(stream: IO[bytes], path: Path) -> bool:
    """Whether the open file still has its name: another run may have finished and renamed it before it was held."""
    try:
        return os.path.samestat(os.fstat(stream.fileno()), os.stat(path, follow_symlinks=False))
    except FileNotFoundError:
        return False


def _refuse_foreign(stream: IO[bytes], path: Path, is_ours: Callable[[IO[bytes]], bool]) -> None:
    """Raise OutputError for what is no file of an earlier run of the same user."""
    found = os.fstat(stream.fileno())
    if not stat.S_ISREG(found.st_mode):
        raise _foreign(path, "it is no regular file")
    if hasattr(os, "geteuid") and found.st_uid != os.geteuid():
        raise _foreign(path, "it belongs to somebody else")
    if found.st_nlink > 1:
        raise _foreign(path, "it has other names too")
    if found.st_size and not is_ours(stream):
        raise _foreign(path, "it was not written by mechsim")


def _foreign(path: Path, reason: str) -> OutputError:
    message = f"cannot keep rows in {path}: {reason}"
    return OutputError(Fault(message, hint="move it away, or choose another name with -o"))


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A new file beside the target that takes its place when it is complete, and is removed when it is not."""
    with explained(target):
        temporary = _beside(target)
        try:
            yield temporary
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)


def _beside(target: Path) -> Path:
    """An empty file of a name that nothing had."""
    for number in range(1, 1000):
        path = target.with_name(f"{target.stem}.partial{number if number > 1 else ''}{target.suffix}")
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
            return path
    raise OSError(errno.EEXIST, f"{path.name} and many more are there already")


@contextmanager
def explained(path: str | Path) -> Iterator[None]:
    """Turn the operating system's refusal into words a person can act on."""
    try:
        yield
    except BrokenPipeError:
        raise  # the reader of a pipe has gone: the command line ends quietly
    except OSError as error:
        raise OutputError(Fault(f"cannot write {path}: {_reason(error)}", hint=_remedy(error))) from error


def _reason(error: OSError) -> str:
    named = {errno.ENOSPC: "the disk is full", errno.EDQUOT: "the disk quota is used up"}
    return named.get(error.errno or 0, (error.strerror or str(error)).lower())


def _remedy(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "free some space, or choose another disk with -o"
    return "choose another place with -o"
