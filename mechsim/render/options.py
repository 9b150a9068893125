"""What a person may choose about a film, and what is chosen for them."""

from __future__ import annotations

import math

from mechsim.errors import Fault
from mechsim.frozen import frozen
from mechsim.render.scene import Scene
from mechsim.result.journal import OutputError

SHOWABLE = ("params", "time", "energy", "forces", "reactions", "events")
THEMES = ("light", "dark")
MOST_CURVES = 9  # in one panel of a plot: as many as there are colours

FILM = 10.0  # seconds that a motion of unseen speed is stretched or shrunk to
SLOWEST_SHOWN_AS_IS, LONGEST_SHOWN_AS_IS = 3.0, 30.0  # motions as long as this are shown in real time
LONG_FILM = 20.0  # a long motion needs more time to be followed


@frozen
class Options:
    """How to draw. `speed` is seconds of motion per second of film; None, also for `trace`: chosen by the motion."""

    size: tuple[int, int] = (1280, 720)
    fps: float = 30.0
    speed: float | None = None
    start: float | None = None  # --from
    stop: float | None = None  # --to
    theme: str = "light"
    show: tuple[str, ...] = ("params", "time", "events")
    trace: tuple[str, ...] | None = None
    view: str | None = None  # in the plane, flat: "X0,X1,Y0,Y1", the window; solid, and in space: a direction or a move
    renderer: str | None = None  # flat or solid; None: flat in the plane, solid in space
    loop: bool | None = None
    frames: int | None = None  # pictures on a contact sheet


def usual(path: str) -> Options:
    """What a file of this ending has if nobody says otherwise: GIFs are large, so they are small and slow."""
    return Options(size=(640, 360), fps=25.0) if path.lower().endswith(".gif") else Options()


def default_speed(duration: float) -> float:
    """Real time where that is pleasant to watch; short motions fill ten seconds, long ones about twenty."""
    if duration <= 0:
        return 1.0
    if duration < SLOWEST_SHOWN_AS_IS:
        return 1.0 / round(FILM / duration)
    if duration <= LONGEST_SHOWN_AS_IS:
        return 1.0
    rough = duration / LONG_FILM
    power = 10.0 ** math.floor(math.log10(rough))
    return power * min((1, 2, 5, 10), key=lambda step: abs(math.log(step * power / rough)))


def speed_text(speed: float) -> str:
    """`1/333 of real time`, `real time`, `10 × real time`."""
    if math.isclose(speed, 1.0, rel_tol=1e-3):
        return "real time"
    if speed > 1:
        return f"{speed:.3g} × real time"  # noqa: RUF001
    return f"1/{1 / speed:.{0 if speed < 0.1 else 3}{'f' if speed < 0.1 else 'g'}} of real time"


def unit_of(size: tuple[int, int]) -> float:
    """The size of words and lines beside a picture of 1280x720; in small pictures they shrink less than the rest."""
    ratio = min(size[0] / 1280, size[1] / 720)
    return float(ratio if ratio > 1 else ratio**0.75)


def traced(scene: Scene, options: Options) -> tuple[str, ...]:
    """The points that leave a trace: those asked for, else the free ends (points of one part only that move) and
    particles that nothing holds."""
    if options.trace is not None:
        known = scene.mechanism.points
        if unknown := [point for point in options.trace if point not in known]:
            hint = f"points are {', '.join(known)}"
            raise OutputError(
                Fault(f"--trace names {', '.join(unknown)}, which the mechanism does not have", hint=hint)
            )
        return options.trace
    owners: dict[str, int] = {}
    for points in [*(part.points for part in scene.parts), *(spring.points for spring in scene.springs)]:
        for point in points:
            owners[point] = owners.get(point, 0) + 1
    free = [particle.point for particle in scene.particles if particle.point not in owners]
    ends = [point for point, count in owners.items() if count == 1]
    return tuple(point for point in (*ends, *free) if point not in scene.ground)
