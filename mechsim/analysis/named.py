"""Directions that a person names: of the start of a motion, and of inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from mechsim.engine import InitialState
from mechsim.engine.tangents import Directions
from mechsim.errors import Fault, SpecError
from mechsim.kernel.system import System
from mechsim.spec.suggest import did_you_mean

DECIDED = 1e-14  # the square of a share of its scale: a coordinate that moves less does not move


Beside = Callable[[str], tuple[np.ndarray, np.ndarray] | None]  # changes of a start by a coordinate or rate of it


def joined(
    system: System,
    start: InitialState,
    wanted: Sequence[str],
    own: Directions | None,
    parameters: Iterable[str] = (),
    beside: Beside | None = None,
) -> Directions:
    """The directions of all names, in their order. `own` are those of parameters; all that there are is `parameters`.
    Others are inputs; coordinates of the start or their rates (`A_x`, `theta_OA_dot`), changed by one, the others as
    the start is found again (`beside`), or in a given state as little as the constraints allow; or "start", a basis of
    all changes of the start that these allow. Raises SpecError."""
    found: Directions | None = own
    names: list[str] = []
    for name in dict.fromkeys(wanted):
        if own is not None and name in own.names:
            names.append(name)
            continue
        more = _of_name(system, start, name, parameters, beside)
        found = more if found is None else found.joined(more)
        names += more.names
    if found is None:
        raise SpecError(Fault("nothing is named to differentiate by"))
    return found.ordered(names)


def _of_name(
    system: System, start: InitialState, name: str, parameters: Iterable[str], beside: Beside | None
) -> Directions:
    inputs = system.mechanism.inputs
    if name in inputs:
        return Directions.of_inputs(system, [name])
    basis = Directions.basis(system, start.t, start.positions, start.velocities)
    if name == "start":
        return basis
    labels = list(system.labels[: system.n])
    if name.removesuffix("_dot") not in labels:
        known = [*parameters, *inputs, *labels, *(f"{each}_dot" for each in labels), "start"]
        raise SpecError(Fault(f"there is nothing called {name} to differentiate by", hint=did_you_mean(name, known)))
    found = beside(name) if beside is not None else None
    return _of_coordinate(system, name, basis) if found is None else Directions.of_state(system, [name], *found)


def _of_coordinate(system: System, name: str, basis: Directions) -> Directions:
    """The smallest change of the start, in scales, that changes a coordinate or a rate by one."""
    label = name.removesuffix("_dot")
    place = list(system.labels).index(label)
    changes = np.stack([basis.positions, basis.velocities])  # an orthonormal basis in scales, of either level
    own = changes[int(label != name), place]
    length = float(own @ own)
    if not length > DECIDED * system.scales[place] ** 2:
        raise SpecError(Fault(f"nothing to differentiate by: the constraints decide {name} at the start"))
    return Directions.of_state(system, [name], *(changes @ (own / length)[:, None]))
