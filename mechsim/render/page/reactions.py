"""Forces in the joints as arrows: what each rigid part feels at the points where others hold it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechsim.errors import MechsimError
from mechsim.model.mechanism import Mechanism
from mechsim.render.forces import Arrow
from mechsim.render.frames import Frames
from mechsim.render.scene import Scene
from mechsim.result.derived import Derived
from mechsim.result.layout import Array
from mechsim.result.reactions import ALL
from mechsim.result.trajectory import Trajectory

TOLERANCE = 1e-12  # where the results do not tell that of their run


def reactions_of(scene: Scene, frames: Frames, trajectory: Trajectory) -> list[Arrow]:
    """The force on each rigid part at each of its joints, at all frames, where the results can tell it.

    Not where redundant constraints leave it open, nor with a sampled controller: what it held is not in the results.
    """
    if scene.mechanism.samplers:
        return []
    try:
        derived = _derived(scene.mechanism, frames, trajectory.settings.get("tol", TOLERANCE))
        table = derived.table(frames.t, frames.coordinates, frames.rates, _constants(scene.mechanism, frames.t))
    except MechsimError:  # a singular position: no force is determined
        return []
    columns = dict(zip(derived.names, table.T, strict=True))
    colours = {part.name: part.colour for part in scene.parts}
    arrows = []
    for bearing in derived.reactions.bearings:
        point, part, labels = bearing.point, bearing.part.name, [f"{bearing.name}_F{axis}" for axis in "xy"]
        force = np.stack([columns[label] for label in labels], axis=1)
        if part in colours and labels[0] not in derived.not_unique and np.isfinite(force).all():
            arrows.append(Arrow(point, force, 1.0, colours[part], f"on {part} at {point}"))
    largest = max((float(np.hypot(*arrow.vectors.T).max()) for arrow in arrows), default=0.0) or 1.0
    return [replace(arrow, largest=largest) for arrow in arrows]


def _derived(mechanism: Mechanism, frames: Frames, tolerance: float) -> Derived:
    from mechsim.engine.leading import Leading
    from mechsim.kernel.system import System
    from mechsim.structure import analyse, redundant_constraints

    complete, start = System(mechanism), (float(frames.t[0]), frames.coordinates[0], frames.rates[0])
    reduced = complete.without(redundant_constraints(complete, *start[:2]))
    return Derived(complete, reduced, lambda: Leading(reduced, analyse(reduced), tolerance), start, [ALL])


def _constants(mechanism: Mechanism, times: Array) -> Array:
    """The constants at each time, (k, constants), after the switches of tables and piecewise functions until then."""
    held = np.tile(np.array(mechanism.constants, float), (len(times), 1))
    for switch in mechanism.switches:
        for number, value in switch.values.items():
            held[times >= switch.time, number] = value
    return held
