"""From a motion to a film: times of the frames, pieces drawn in parallel processes, one file at the end."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from mechsim.errors import Fault
from mechsim.frozen import frozen
from mechsim.render import encode, workers
from mechsim.render.dynamics import Dynamics
from mechsim.render.forces import with_arrows
from mechsim.render.frames import Frames, sample, span, with_whole
from mechsim.render.marks import with_marks
from mechsim.render.options import Options, default_speed, traced
from mechsim.render.scene import Scene, scene_of
from mechsim.render.target import FILMS, check_film_target
from mechsim.render.times import frame_times, sheet_times
from mechsim.render.views import check_view
from mechsim.result.layout import Array
from mechsim.result.paths import OutputError, explained, replacing
from mechsim.spec.names import PLANE

if TYPE_CHECKING:
    from multiprocessing.sharedctypes import Synchronized
    from multiprocessing.synchronize import Event

    import numpy as np
    from numpy.typing import NDArray

    from mechsim.render.rows import Drawable

FEWEST_FRAMES = 24  # in a piece: less is not worth a process
MOST_FRAMES = 200_000
Job = tuple["Film", str, Path, int, int]  # form and file of a piece, its first frame and the one after its last
Observer = Callable[[int, int], None]  # frames done, frames in all


@frozen
class Film:
    """A film ready to be drawn."""

    scene: Scene
    frames: Frames
    options: Options  # with every choice made


def animate(trajectory: Drawable, path: str | Path, options: Options, observer: Observer | None = None) -> Film:
    """Draw the motion of a Trajectory (or a Motion) into a file; its ending says in which form."""
    target = check_film_target(path)
    form = target.suffix.lower()
    if form == ".gif" and options.fps > encode.MOST_GIF_RATE:
        hint = f"--fps {encode.MOST_GIF_RATE:g}, or -o film.mp4"
        raise OutputError(Fault(f"a GIF cannot show {options.fps:g} frames a second", hint=hint))
    film = prepare(trajectory, options, still=form == ".png", page=form == ".html")
    if form in FILMS:
        with explained(target):
            shoot(film, target, form, observer)
        return film
    with replacing(target) as temporary:
        if form == ".html":
            from mechsim.render import page

            notes = page.write(film.scene, film.frames, trajectory, temporary, film.options)
            film = replace(film, frames=film.frames.noting(*notes))
        else:
            from mechsim.render.still import write_still

            write_still(film, temporary)
    return film


def prepare(trajectory: Drawable, options: Options, *, still: bool = False, page: bool = False) -> Film:
    """Make every choice left open, and sample the motion. A page draws itself, in the browser."""
    scene = scene_of(trajectory)
    renderer = options.renderer or ("flat" if scene.dimension == PLANE else "solid")
    check_view(scene, replace(options, renderer=renderer))
    if renderer == "solid" and not page:
        from mechsim.render.solid import require_solid

        require_solid()
    start, stop = _range(span(trajectory, scene), options)
    if stop <= start and not still:
        hint = "-o picture.png draws the one moment there is"
        raise OutputError(Fault(f"there is no motion to show: it lasts from t = {start:g} to {stop:g}", hint=hint))
    count = 1 if stop <= start else options.frames or 6
    first, last = start, stop
    if still and count == 1 and (options.start is None or options.stop is None or stop <= start):
        first, last = span(trajectory, scene)  # one moment is seen as one of the whole motion
    speed = options.speed if options.speed is not None else default_speed(last - first)
    times = sheet_times(start, stop, count) if still else _film_times(start, stop, speed, options.fps)
    size = (options.size[0] // 2 * 2, options.size[1] // 2 * 2)  # the usual colour coding takes pixels in pairs
    chosen = replace(options, speed=speed, size=size, renderer=renderer, trace=traced(scene, options))
    frames = with_whole(sample(trajectory, times, scene), trajectory, scene, first, last)
    if "energy" in chosen.show:
        frames = with_energies(frames, scene)
    if "events" in chosen.show:
        frames = with_marks(frames, trajectory, scene)
    return Film(scene, with_arrows(frames, scene, chosen.show), chosen)


def _film_times(start: float, stop: float, speed: float, fps: float) -> Array:
    expected = (stop - start) / speed * fps
    if expected > MOST_FRAMES:
        hint = f"--speed {(stop - start) / 20:.3g} makes a film of 20 seconds; or show less with --from and --to"
        raise OutputError(Fault(f"the film would have {expected:.3g} frames", hint=hint))
    return frame_times(start, stop, speed, fps)


def with_energies(frames: Frames, scene: Scene) -> Frames:
    """The same frames of a motion whose energies come from the mechanism's own Lagrangian."""
    whole, dynamics = frames.motion, Dynamics(scene, frames.motion)
    exact = replace(whole, energies=dynamics.energies(whole))
    missing = "" if exact.energies else f"energies are not drawn: the results lack {', '.join(frames.lacking)}"
    return (replace(frames, whole=exact) if frames.whole else exact).noting(dynamics.guesswork(frames), missing)


def _range(known: tuple[float, float], options: Options) -> tuple[float, float]:
    first, last = known
    start = first if options.start is None else options.start
    stop = last if options.stop is None else options.stop
    if start > last or stop < first or start > stop:
        hint = f"the motion is known from t = {first:g} to {last:g}"
        raise OutputError(Fault(f"nothing to show from t = {start:g} to {stop:g}", hint=hint))
    return max(start, first), min(stop, last)


def shoot(film: Film, target: Path, form: str, observer: Observer | None = None) -> None:
    """Draw and encode all frames, in as many processes as there are processors."""
    with workers.workplace() as folder:
        bounds = _pieces(len(film.frames))
        paths = [folder / f"{index:03d}{encode.PIECES[form][0]}" for index in range(len(bounds))]
        jobs = [(film, form, path, *bound) for path, bound in zip(paths, bounds, strict=True)]
        _carry_out(jobs, len(film.frames), folder, observer or (lambda done, total: None))
        with replacing(target) as temporary:
            encode.join(paths, temporary, form, loop=film.options.loop is not False)


def _pieces(count: int) -> list[tuple[int, int]]:
    pieces = max(1, min(encode.cores(), count // FEWEST_FRAMES))
    cuts = [round(count * index / pieces) for index in range(pieces + 1)]
    return list(pairwise(cuts))


def _carry_out(jobs: Sequence[Job], total: int, folder: Path, observer: Observer) -> None:
    # Forking spares each process what is imported here, but is safe only while there is one thread; JAX has many.
    from mechsim.render import flat  # noqa: F401

    fork = sys.platform == "linux" and threading.active_count() == 1 and "jax" not in sys.modules
    context = multiprocessing.get_context("fork" if fork else "spawn")
    done, halt = context.Value("l", 0), context.Event()
    start = (done, halt, os.getpid(), folder)
    with ProcessPoolExecutor(len(jobs), context, initializer=_begin, initargs=start) as pool:
        futures: list[Future[None]] = [pool.submit(_draw_piece, *job) for job in jobs]
        try:
            _watch(futures, lambda: observer(done.value, total))
        except BrokenProcessPool:
            hint = "perhaps memory ran out; try a smaller --size"
            raise OutputError(Fault("a process that draws the film was ended from outside", hint=hint)) from None
        finally:
            halt.set()


def _watch(futures: Sequence[Future[None]], report: Callable[[], None]) -> None:
    pending = set(futures)
    while pending:
        finished, pending = wait(pending, timeout=0.1)
        for future in finished:
            future.result()  # raises what went wrong there
        report()


_done: Synchronized[int] | None = None
_halt: Event | None = None


def _begin(done: Synchronized[int], halt: Event, leader: int, folder: Path) -> None:
    global _done, _halt
    _done, _halt = done, halt
    workers.follow(leader, folder)


def _draw_piece(film: Film, form: str, path: Path, start: int, stop: int) -> None:
    frames = render_frames(film, start, stop)
    first = next(frames)
    with encode.Piece(path, form, film.options.size, film.options.fps, first.shape[2]) as piece:
        for frame in chain([first], frames):
            assert _halt is not None and _done is not None  # `_begin` was the process's first act
            if _halt.is_set():
                raise KeyboardInterrupt
            piece.write(frame)
            with _done.get_lock():
                _done.value += 1


def render_frames(film: Film, start: int, stop: int) -> Iterator[NDArray[np.uint8]]:
    """Frames as arrays (height, width, 3 or 4), by the renderer asked for."""
    if film.options.renderer == "solid":
        from mechsim.render import solid

        return iter(solid.render_frames(film.scene, film.frames, film.options, start, stop))
    from mechsim.render import flat

    return flat.render_frames(film.scene, film.frames, film.options, start, stop)
