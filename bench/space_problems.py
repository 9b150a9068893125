"""Three problems in space on which codes are compared: a heavy top, a chain of balls on ball joints, and the Bricard
mechanism, whose hinges repeat each other. What every code needs to know of them, so mechsim is not imported."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray
GRAVITY = 9.81
TOP, BRICARD = "heavy top", "Bricard"
LENGTHS = (10, 40, 100)
BALLS = tuple(f"chain of {count} balls" for count in LENGTHS)
MASSES = tuple(f"chain of {count} point masses" for count in LENGTHS)  # heyoka's hand-made equations have no inertia
PROBLEMS = (TOP, *BALLS, *MASSES, BRICARD)
REFERENCE = Path(__file__).parent / "space_reference.json"

# The heavy top of Geradin and Cardona: centre of mass at (0, 1, 0) of the body, whose frame is the world's at t = 0.
TOP_MASS, TOP_INERTIA = 15.0, (0.234375, 0.46875, 0.234375)  # about the centre of mass
TOP_ABOUT_TIP = (15.234375, 0.46875, 15.234375)
TOP_SPIN = (0.0, 150.0, -4.61538)
# Balls of 1 kg on rods of 1 m without mass, all along x at t = 0; rod i begins to turn with 0.1 cos(i) about z.
BALL_INERTIA = 0.004
# IFToMM A04: points of the hinges at t = 0, and their axes; rod i goes from point i to point i + 1.
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]], dtype=float)
AXES = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]], dtype=float)
ROD_ALONG, ROD_ACROSS = 0.02 / 12, 1.01 / 12


def length_of(problem: str) -> int:
    """How many links a chain has."""
    return int(problem.split()[2])


def ball_inertia(problem: str) -> float:
    return BALL_INERTIA if problem in BALLS else 0.0


def turning(count: int) -> Array:
    return 0.1 * np.cos(np.arange(count))


def times(problem: str) -> tuple[float, ...]:
    """When the motion is judged; the last is its end."""
    if problem == BRICARD:
        return (1.0, 2.0, 5.0, 10.0)
    return (2.0,) if problem == TOP or length_of(problem) == LENGTHS[0] else (1.0,)


def rod_inertia(rod: int) -> Array:
    """Of a rod of Bricard's mechanism about the axes of the world at t = 0."""
    along = CORNERS[rod + 1] - CORNERS[rod]
    return np.where(np.abs(along) > 0.5, ROD_ALONG, ROD_ACROSS)


def rotation(quaternion: Sequence[float]) -> Array:
    """The attitude that a quaternion (real part first) of any length stands for."""
    w, x, y, z = np.asarray(quaternion, float) / np.linalg.norm(quaternion)
    return np.array(
        [
            [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
        ]
    )


def reference(problem: str) -> Array:
    """Attitude of the top; places of all balls; place of the third corner at the times of Bricard's mechanism."""
    return np.array(json.loads(REFERENCE.read_text())[problem])


def digits(problem: str, found: Any) -> float:
    """Correct decimals of the worst number."""
    worst = float(np.max(np.abs(np.asarray(found, float) - reference(problem))))
    return -math.log10(worst) if 0 < worst < math.inf else (17.0 if worst == 0 else -9.0)


# --- the files that mechsim reads


def text(problem: str) -> str:
    if problem == TOP:
        return TOP_TEXT
    return _bricard_text() if problem == BRICARD else _chain_text(problem)


TOP_TEXT = """
Title: Heavy top
Dimension: 3
PhysicalParams: {m: 15, g: 9.81}
PartData:
  Fixed: {O: []}
  Rigids: {OAB: {Geom: [[1], [0, 1]], Dyna: [[0, 1], m, [0.234375, 0.46875, 0.234375]]}}
AppliedForces: {Gravity: [0, 0, -g]}
ProblemData:
  tend: 2
  positions: {A: [1, [0, fixed], [0, fixed]], B: [0, 1, [0, fixed]]}
  velocities: {A: [0, -4.61538, -150], B: [4.61538, 0, 0]}
"""


def _chain_text(problem: str) -> str:
    count, inertia = length_of(problem), ball_inertia(problem)
    names = ", ".join(f"P{i}P{i + 1}" for i in range(count))
    speeds = np.cumsum(turning(count)).tolist()
    places = "\n".join(f"    P{i + 1}: [{i + 1}, 0, 0]" for i in range(count))
    rates = "\n".join(f"    P{i + 1}: [0, {speed!r}, 0]" for i, speed in enumerate(speeds))
    rods = f"Rigids: {{'{names}': {{Geom: [[1]], Dyna: [[1], 1, {inertia}]}}}}"
    if not inertia:
        balls = ", ".join(f"P{i + 1}" for i in range(count))
        rods = f"Rigids: {{'{names}': {{Geom: [[1]]}}}}\n  Particles: {{'{balls}': 1}}"
    return f"""
Title: {problem}
Dimension: 3
PartData:
  Fixed: {{P0: []}}
  {rods}
AppliedForces: {{Gravity: [0, 0, -9.81]}}
ProblemData:
  tend: {times(problem)[-1]}
  positions:
{places}
  velocities:
{rates}
"""


def _bricard_text() -> str:
    """Each rod has two points of each of its hinges: Q, and H a metre along the axis from it."""
    sides = [round(float(np.cross(CORNERS[i + 1] - CORNERS[i], AXES[i]) @ AXES[i + 1])) for i in range(5)]
    inertia = "Dyna: [[0.5], 1, [along, across, across]]"
    rods = "\n".join(
        f"    Q{i}Q{i + 1}H{i}H{i + 1}: {{Geom: [[1], [0, 1], [1, 0, {side}]], {inertia}}}"
        for i, side in enumerate(sides)
    )
    ends = CORNERS + AXES
    places = "\n".join(f"    Q{i}: {CORNERS[i].tolist()}\n    H{i}: {ends[i].tolist()}" for i in range(1, 5))
    return f"""
Title: Bricard mechanism
Dimension: 3
PhysicalParams: {{along: 0.02/12, across: 1.01/12}}
PartData:
  Fixed: {{Q0: [], H0: [0, 1, 0], Q5: [0, 0, 1], H5: [1, 0, 1]}}
  Rigids:
{rods}
AppliedForces: {{Gravity: [0, -9.81, 0]}}
ProblemData:
  tend: 10
  positions:
{places}
"""


# --- a peer's run

Run = Callable[[], tuple[Any, int]]  # what is judged, and steps


def main(peer: str, form: str, prepare: Callable[[str, str], Run]) -> None:
    """`repeats problem/setting problem/setting ...`: one JSON line for each, with processor times. The first run is not
    counted."""
    repeats, *asked = sys.argv[1:]
    for problem, setting in (each.split("/", 1) for each in asked):
        begun = time.perf_counter()
        try:
            run = prepare(problem, setting)
            preparing = time.perf_counter() - begun
            found = timed(problem, run, int(repeats))
        except Exception as error:
            print(f"{peer} cannot do {problem} with {setting}: {error}", file=sys.stderr, flush=True)
            continue
        row = {"peer": peer, "form": form, "problem": problem, "setting": setting, "preparing": preparing}
        print(json.dumps(row | found), flush=True)


PATIENCE = 6.0  # seconds after which a setting is not run again


def timed(problem: str, run: Run, repeats: int) -> dict[str, Any]:
    """Processor times of some runs, how many digits the last has, and its steps."""
    begun, spent, found, steps = time.perf_counter(), [], None, 0
    for _ in range(repeats + 1):
        before = time.process_time()
        found, steps = run()
        spent.append(time.process_time() - before)
        if time.perf_counter() - begun > PATIENCE:
            break
    return {"digits": round(digits(problem, found), 2), "steps": steps, "times": spent[1:] or spent}
