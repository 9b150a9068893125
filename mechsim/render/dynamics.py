"""The equations of a mechanism along its frames, with the constants that hold at each time: energies, accelerations,
multipliers, and what each element exerts."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mechsim.engine.points import Points
from mechsim.errors import MechsimError
from mechsim.kernel.system import System
from mechsim.render.frames import Frames
from mechsim.render.scene import Scene
from mechsim.result.bearings import ALL
from mechsim.result.derived import Derived
from mechsim.result.layout import Array
from mechsim.structure import Redundancy

if TYPE_CHECKING:
    from mechsim.engine.leading import Leading

# Of the largest term of the equations. Interpolated states obey them to 1e-4 or so; at a singular position, where
# nothing is determined, what comes out has nothing to do with them.
OBEYED = 1e-2

Rows = dict[int, Array]  # per element, the generalised forces that it adds to the rows of its variables


class Dynamics:
    """Made once for a motion; `start` are frames that begin with the first of it that is drawn."""

    def __init__(self, scene: Scene, start: Frames):
        self.scene = scene
        self.start = start
        self.system = System(scene.mechanism)

    def guesswork(self, frames: Frames) -> str:
        """A note where energies or forces rest on rates that the results do not have."""
        if not self.scene.mechanism.elements:
            return ""
        _, columns, orders = self.system.signature()
        rated = {self.system.labels[column] for column, order in zip(columns, orders, strict=True) if order}
        needed = [label for label in frames.guessed if label in rated]
        return f"rates of {', '.join(needed)}, from neighbouring rows, are in what is drawn" if needed else ""

    def energies(self, frames: Frames) -> dict[str, Array]:
        """T and V from the mechanism's own Lagrangian; where these are not told, or coordinates lack, those of the
        table, interpolated."""
        if frames.lacking or not self.scene.mechanism.elements:
            return dict(frames.energies)
        points = self.points(frames)
        kinetic, potential = points.system.energies(*points.state)
        return {"T": np.asarray(kinetic, float), "V": np.asarray(potential, float)}

    def exerted(self, frames: Frames, elements: set[int]) -> Rows:
        """What these elements exert on their variables, (k, local variables) each; NaN where that is not determined."""
        points = self.points(frames)
        with np.errstate(invalid="ignore"):
            rows = points.system.rows_of(elements, *points.state, *self.leading(points))
        return {element: -values for element, values in rows.items()}

    def leading(self, points: Points) -> tuple[Array, Array]:
        """Accelerations and the multipliers of all constraints; NaN where the equations do not determine them."""
        from mechsim.result.multipliers import smallest

        accelerations, found = self._solved(points)
        return accelerations, smallest(len(self._redundancy.rows), points, accelerations, found)

    @cached_property
    def reactions(self) -> Derived:
        """The forces in all joints: labels, bearings, and which redundant constraints leave open."""
        start = (float(self.start.t[0]), self.start.coordinates[0], self.start.rates[0])
        return Derived(self._first, self._redundancy, lambda: self._solved, start, [ALL])

    def reaction_columns(self, frames: Frames) -> dict[str, Array]:
        """The columns of `reactions` at all frames, NaN where the equations do not determine them."""
        table = self.reactions.table(self.points(frames))
        return dict(zip(self.reactions.names, table.T, strict=True))

    @cached_property
    def left_open(self) -> set[str]:
        """The columns of `reactions` that redundant constraints leave open."""
        derived = self.reactions
        pairs = zip(derived.names, derived.labels, strict=True)
        return {name for name, label in pairs if label in derived.not_unique}

    def points(self, frames: Frames) -> Points:
        """The states of frames, with the system as it is at their times."""
        system = self.scene.segments.system_at(self.system, frames.t)
        return Points(system, frames.t, frames.coordinates, frames.rates)

    @property
    def _first(self) -> System:
        """The system as it is at the first frame."""
        return self.scene.segments.system_at(self.system, self.start.t[0])

    @cached_property
    def _redundancy(self) -> Redundancy:
        """Constraints that follow from others. Gaps are none of these, open or closed."""
        from mechsim.structure import redundancy

        first = self._first.bilateral.holding(self._first.constants)
        return redundancy(first, float(self.start.t[0]), self.start.coordinates[0])

    @cached_property
    def _solve(self) -> Leading:
        from mechsim.engine.leading import Leading
        from mechsim.structure import analyse, with_gaps

        structure = with_gaps(analyse(self.system.bilateral, self._redundancy), self.system)
        return Leading(self.system, structure, self.scene.tolerance, rough=True)

    def _solved(self, points: Points) -> tuple[Array, Array]:
        """Accelerations and multipliers; NaN where they do not obey the equations of motion."""
        try:
            accelerations, multipliers = self._solve(points)
        except MechsimError:
            return np.full((len(points), self.system.n), np.nan), np.full((len(points), self.system.m), np.nan)
        obeyed = self._obeyed(points, accelerations, multipliers)[:, None]
        return np.where(obeyed, accelerations, np.nan), np.where(obeyed, multipliers, np.nan)

    def _obeyed(self, points: Points, accelerations: Array, multipliers: Array) -> NDArray[np.bool_]:
        """Whether the equations of motion hold, by row: what is left of them, as energies, over the largest in them."""
        variables = self.scene.mechanism.variables
        weights = np.array([0.0 if each.kind == "state" else each.scale for each in variables])
        none, free = np.zeros_like(accelerations), np.zeros_like(multipliers)
        with np.errstate(all="ignore"):
            left, inertia, loads = (
                np.abs(points.system.residuals(*points.state, *each)[:, : len(weights)]) @ weights
                for each in ((accelerations, multipliers), (accelerations, free), (none, free))
            )
        return np.asarray(left <= OBEYED * (inertia + loads + self.scene.energy))
