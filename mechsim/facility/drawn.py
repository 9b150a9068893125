"""What is drawn of the motions of a user's Lagrangian."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from mechsim.errors import DrawingWarning
from mechsim.facility.drawing import Drawing, limp_part, text_of
from mechsim.kernel.system import System
from mechsim.result.layout import Array

if TYPE_CHECKING:
    from mechsim.engine import InitialState, Solution


def drawn_text(drawing: Drawing, system: System, start: InitialState, parameters: Mapping[str, float]) -> str:
    """The file that draws a motion with this start."""
    times, q, v = np.array([start.t]), start.positions[None], start.velocities[None]
    places = _places(drawing, system, (times, q, v), parameters)
    standing = drawing.standing(parameters)
    return text_of(drawing, system.mechanism.title, standing, {name: along[0] for name, along in places.items()})


def warn_of_limp_parts(drawing: Drawing, solution: Solution, parameters: Mapping[str, float]) -> None:
    state = np.asarray(solution.t), solution.q, solution.v
    if limp := limp_part(drawing, _places(drawing, solution.system, state, parameters)):
        warnings.warn(DrawingWarning(limp), stacklevel=3)


def _places(
    drawing: Drawing, system: System, state: tuple[Array, Array, Array], parameters: Mapping[str, float]
) -> dict[str, Array]:
    """Where all points of a drawing are, at many states."""
    columns = {variable.label: state[1][:, i] for i, variable in enumerate(system.mechanism.variables)}
    return drawing.along(system.places(*state), columns, drawing.standing(parameters))
