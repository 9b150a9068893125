"""Frames into films: raw pictures are piped to ffmpeg, which comes inside the wheel of imageio-ffmpeg."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from mechsim.errors import Fault
from mechsim.render import workers
from mechsim.result.journal import OutputError

# A piece of a film, in a form that can be joined without coding again. GIF needs one palette for all of its pieces,
# so its pieces are lossless.
PIECES = {
    ".mp4": (".mp4", "-c:v libx264 -preset veryfast -crf 19 -tune animation -pix_fmt yuv420p"),
    ".webm": (".webm", "-c:v libvpx-vp9 -crf 30 -b:v 0 -deadline realtime -cpu-used 7 -pix_fmt yuv420p"),
    ".gif": (".mkv", "-c:v libx264rgb -preset ultrafast -qp 0"),
}
# Players take a film without a colour matrix for one or the other; say which, and convert by it.
COLOURS = "-vf scale=out_color_matrix=bt709:out_range=tv -colorspace bt709 -color_primaries bt709 -color_trc bt709"
GIF_COLOURS = "split[a][b];[a]palettegen=max_colors=160:stats_mode=full[p];[b][p]paletteuse=dither=none"
MOST_GIF_RATE = 50.0  # browsers slow down a GIF whose frames last less than 1/50 s
PIPE = 1 << 20  # bytes; Linux gives a pipe 64 kB unless asked, and a frame has megabytes


def ffmpeg() -> str:
    """The program that encodes."""
    try:
        import imageio_ffmpeg

        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except (ImportError, RuntimeError) as error:
        hint = "pip install imageio-ffmpeg"
        raise OutputError(Fault("no film encoder: imageio-ffmpeg is not installed", hint=hint)) from error


class Piece:
    """An encoder that takes frames, one after the other; leaving it closes the file, or says why there is none."""

    def __init__(self, path: Path, form: str, size: tuple[int, int], fps: float, channels: int):
        self.path = path
        picture = f"-f rawvideo -pix_fmt {'rgba' if channels == 4 else 'rgb24'} -s {size[0]}x{size[1]}"
        codec = PIECES[form][1].split() + ([] if form == ".gif" else COLOURS.split())
        words = [*picture.split(), "-r", rate(fps), "-i", "-", "-an", *codec, "-threads", "1", str(path)]
        self.log = tempfile.TemporaryFile("w+")  # noqa: SIM115 (a pipe nobody reads could fill up and block)
        self.process = _start(words, self.log)
        _widen(self.process)

    def write(self, frame: NDArray[np.uint8]) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(np.ascontiguousarray(frame).data)
        except OSError as error:  # the encoder has gone: closing says why
            raise self._failure() from error

    def __enter__(self) -> Piece:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self.process.kill()
        try:
            self.process.communicate()
        except OSError:
            self.process.wait()
        if error is None and self.process.returncode != 0:
            raise self._failure()
        self.log.close()

    def _failure(self) -> OutputError:
        self.process.kill()
        self.process.wait()
        self.log.seek(0)
        return failure(self.log.read(), self.process.returncode)


def join(pieces: Sequence[Path], target: Path, form: str, *, loop: bool) -> None:
    """Put the pieces of a film together, in their order."""
    listing = pieces[0].with_name("pieces.txt")
    listing.write_text("".join(f"file '{piece.name}'\n" for piece in pieces))
    words = ["-f", "concat", "-safe", "0", "-i", str(listing)]
    if form == ".gif":
        words += ["-filter_complex", GIF_COLOURS, "-loop", "0" if loop else "-1", "-f", "gif"]
    else:
        words += ["-c", "copy", *(["-movflags", "+faststart", "-f", "mp4"] if form == ".mp4" else ["-f", "webm"])]
    with tempfile.TemporaryFile("w+") as log:
        process = _start([*words, str(target)], log)
        process.communicate()
        if process.returncode != 0:
            log.seek(0)
            raise failure(log.read(), process.returncode)


def rate(fps: float) -> str:
    """Frames per second as ffmpeg likes them: 30, or 30000/1001."""
    fraction = Fraction(fps).limit_denominator(1001)
    return f"{fraction.numerator}/{fraction.denominator}"


def failure(log: str, code: int) -> OutputError:
    """What the encoder said last, in our words where we know them."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    said = lines[-1] if lines else f"exit code {code}"
    if "Unknown encoder" in log:
        hint = "choose another form, for example -o film.mp4"
        return OutputError(Fault("this ffmpeg cannot write that form", hint=hint))
    if "No space left" in log:
        return OutputError(Fault("the film cannot be written: the disk is full", hint="free some space"))
    return OutputError(
        Fault(f"the film encoder stopped: {said}", hint="no film was written; older files are untouched")
    )


def _start(words: Sequence[str], log: object) -> subprocess.Popen[bytes]:
    """ffmpeg in a session of its own, so that Ctrl-C reaches us alone and we end it in good order."""
    command = [ffmpeg(), "-y", "-hide_banner", "-loglevel", "error", "-nostdin", *words]
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE if "-" in words else subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,  # type: ignore[call-overload]
            start_new_session=True,
            preexec_fn=workers.ending_with_us(),
        )
    except OSError as error:
        raise OutputError(f"cannot start the film encoder: {error.strerror or error}") from error


def _widen(process: subprocess.Popen[bytes]) -> None:
    try:
        import fcntl

        assert process.stdin is not None
        fcntl.fcntl(process.stdin.fileno(), fcntl.F_SETPIPE_SZ, PIPE)
    except (ImportError, AttributeError, OSError):  # not on Linux, or not allowed: only slower
        return


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
