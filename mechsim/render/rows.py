"""The rows of results that can be drawn, by column; and what had to be left out."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from mechsim.errors import Fault
from mechsim.model.mechanism import Mechanism
from mechsim.result.journal import OutputError
from mechsim.result.layout import Array
from mechsim.result.motion import Motion
from mechsim.result.trajectory import Trajectory
from mechsim.spec.number import LARGEST

Drawable = Trajectory | Motion  # what a picture can be made of


def table_of(trajectory: Drawable) -> Trajectory:
    """The table of a Motion, or the Trajectory itself."""
    return trajectory.trajectory if isinstance(trajectory, Motion) else trajectory


def state_columns(mechanism: Mechanism) -> set[str]:
    """Columns that say where the mechanism is and how it moves."""
    labels = {variable.label for variable in mechanism.variables}
    return labels | {f"{label}_dot" for label in labels}


def usable(trajectory: Trajectory, needed: Collection[str] | None = None) -> tuple[dict[str, Array], list[str]]:
    """Columns by name, without rows that do not go on in time (an event has two) or lack a number in a `needed` column
    (None: in any); and what was left out. A signal without a value takes nothing from the picture of the motion."""
    if "t" not in trajectory.labels:
        raise OutputError("the results have no column t")
    table, t = trajectory.table, trajectory.t
    chosen = [index for index, label in enumerate(trajectory.labels) if needed is None or label in {"t", *needed}]
    numbers = (np.abs(table[:, chosen]) <= LARGEST).all(axis=1)  # beyond, squares are no numbers any more
    forward = np.ones(len(t), bool)
    forward[1:] = t[1:] > np.fmax.accumulate(np.where(numbers, t, -np.inf))[:-1]
    again = np.equal(t[1:], t[:-1]) & forward[:-1] & np.asarray(numbers)[:-1]
    forward[1:] |= again  # the other side of an event
    notes = []
    if not numbers.all():
        notes.append(
            f"{_rows(~numbers)} with values that are no numbers left out, the first is row {np.argmin(numbers) + 1}"
        )
    if not forward[numbers].all():
        notes.append(f"{_rows(~forward & numbers)} left out, where time does not go on")
    kept = table[numbers & forward]
    if not len(kept):
        raise OutputError(Fault("the results hold no row that can be drawn", hint="the run may have stopped at once"))
    return {label: kept[:, index] for index, label in enumerate(trajectory.labels)}, notes


def _rows(mask: np.bool_ | NDArray[np.bool_]) -> str:
    count = int(mask.sum())
    return f"{count} row{'s' if count > 1 else ''}"
