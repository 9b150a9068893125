"""The way that a mechanism of one freedom goes: all its poses from one on, until it comes back to it.

Along the way the mechanism moves as geometry alone (see unforced.py), so rates are changes per length of the way, and
ratios of rates are those of any motion through these poses: exact, and known at dead centres too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property

import numpy as np

from mechsim.analysis.flow import ANGLES_FIRST, projected, well_chosen
from mechsim.analysis.subject import Case
from mechsim.analysis.unforced import unforced
from mechsim.engine import Solution, State, integrate
from mechsim.engine.tangents import DEPENDENT
from mechsim.errors import Fault, SpecError
from mechsim.frozen import frozen
from mechsim.kernel.linear import allowed_motions, dense
from mechsim.kernel.system import System
from mechsim.measure import piecewise
from mechsim.measure.extremes import PLACE
from mechsim.measure.gathered import Gathered, steps_of
from mechsim.measure.piecewise import Pieces
from mechsim.measure.quantities import Given, Held, Meaning, Unknown, Written
from mechsim.measure.reading import Reader, Vocabulary
from mechsim.measure.steps import Steps
from mechsim.result.layout import Array
from mechsim.structure import analyse, redundancy

TOLERANCE = 1e-13
FIRST, LONGEST = 16.0, 4096.0  # lengths of the way, in scales, after which it is looked whether it has come back
BEYOND = 1 / 16  # of the way, that is gone twice: what happens at its beginning is then inside
LOOKS = 40  # for a return, in each unit of length
BACK = 1e-8  # in scales: how near a pose is to the one it comes back to
MOST_NAMED = 6
NEWTON = 8


@frozen(eq=False, slots=False)
class Round:
    """The way, as a motion whose time is its length. `length` is that of one round, or of all that was followed where
    it is not `closed`."""

    case: Case
    solution: Solution
    length: float
    closed: bool
    names: Vocabulary
    parameters: Callable[[str], Array]
    notes: tuple[str, ...]

    @cached_property
    def _steps(self) -> Steps:
        return steps_of(Gathered([self.case.motion(self.solution)], {}), self.parameters, changing=False)

    def pieces(self, text: str) -> Pieces:
        """A quantity of the pose along the way, twice at the beginning of a round. Raises SpecError."""
        quantity = Reader(self.names).quantity(text, PLACE)
        if not all(map(_is_of_pose, quantity.meanings.values())):
            hint = "name positions, turn angles, distances and expressions of them, no rates, forces or times"
            raise SpecError(Fault(f"{text} is not decided by the pose", hint=hint))
        pieces, fine = quantity.pieces(self._steps)
        if not fine.all() or not np.isfinite(pieces.polynomials).all():
            raise SpecError(Fault(f"{text} has no value at some pose, or changes too fast to be followed"))
        return pieces

    @property
    def window(self) -> tuple[float, float]:
        """From where to where the way is looked at: once."""
        first = BEYOND * self.length if self.closed else 0.0
        return first, first + self.length

    def once(self, places: Array) -> Array:
        """Of places along the way those of one round, from its beginning on."""
        first, last = self.window
        found = places[(places >= first) & (places < last)] if self.closed else places[places <= last]
        return np.sort(np.mod(found, self.length) if self.closed else found)

    def zeros(self, pieces: Pieces) -> Array:
        """Where something changes its sign, on one round."""
        found = [piecewise.upward_crossings(each)[1] for each in (pieces, -pieces)]
        return self.once(np.concatenate(found))

    def positions(self, places: Array) -> Array:
        return np.asarray(self.solution.sample(places)[0])


def _is_of_pose(meaning: Meaning) -> bool:
    if isinstance(meaning, Written):
        return all(map(_is_of_pose, meaning.meanings.values()))
    return meaning.order == 0 if isinstance(meaning, Unknown) else isinstance(meaning, Given | Held | float | int)


def gone_round(
    case: Case,
    names: Vocabulary,
    parameters: Callable[[str], Array],
    *,
    input: str = "",
    freed: Collection[int] = (),
    turning: Sequence[str] = (),
) -> Round:
    """All poses of a case from its start on, in the sense in which `input` grows there; elements that are `freed` hold
    nothing, and coordinates that are `turning`, like turn angles, are the same after 2 pi. Raises SpecError where there
    is not one freedom."""
    start, notes = case.start, []
    system = unforced(case.system, start.t, freed)
    q, _ = projected(system, start.t, start.positions, np.zeros(system.n))
    system = system.without(redundancy(system, start.t, q).rows)
    states = [place for place, each in enumerate(case.system.mechanism.variables) if each.kind == "state"]
    direction = way_of(system, start.t, q, states)
    mechanism = system.mechanism
    angles = [place for place, each in enumerate(mechanism.variables) if each.kind == "angle" or each.label in turning]
    if case.system.gaps:
        notes.append("contacts and stops are left aside: poses beyond them are among these")
    first = Round(case, _followed(system, q, direction, 1e-3), 1e-3, False, names, parameters, ())
    if input and float(piecewise.slopes(first.pieces(input)).polynomials[0, 0]) < 0:
        direction = -direction
    solution, back = way_back(system, q, direction, angles)
    if back is not None:
        solution = _followed(system, q, direction, (1 + 2 * BEYOND) * back)
        return Round(case, solution, back, True, names, parameters, tuple(notes))
    length = float(solution.t[-1])
    if solution.status != "finished":
        notes.append("the way ends at a pose from which it cannot be followed on: what is behind it is not known")
    else:
        notes.append(f"it does not come back to its first pose on a way of {length:g} sizes of it")
    return Round(case, solution, length, False, names, parameters, tuple(notes))


def way_back(
    system: System, q: Array, direction: Array, angles: Sequence[int], longest: float = LONGEST
) -> tuple[Solution, float | None]:
    """The way that geometry alone goes from a pose, and after what length it comes back; None where it does not."""
    length = FIRST
    while True:
        solution = _followed(system, q, direction, length)
        back = _return(solution, angles)
        if back is not None or solution.status != "finished" or length >= longest:
            return solution, back
        length *= 4


def way_of(system: System, t: float, q: Array, states: Sequence[int]) -> Array:
    """The one way to move, at speed 1 in scales; states stay as they are."""
    scales = system.scales[: system.n]
    jacobian = dense(system.rate_jacobian(t, q, np.zeros(system.n)), system.m, system.n) * scales
    basis = allowed_motions(np.concatenate([jacobian, np.eye(system.n)[states]]), DEPENDENT)
    if basis.shape[1] != 1:
        raise _many(system, basis) if basis.shape[1] else _none()
    return np.asarray(scales * basis[:, 0])


def _none() -> SpecError:
    message = "nothing can move: there is no freedom beside drives that are held"
    return SpecError(Fault(message, hint="give --input the quantity of the drive that is to move"))


def _many(system: System, basis: Array) -> SpecError:
    weights = [ANGLES_FIRST if each.kind == "angle" else 1.0 for each in system.mechanism.variables]
    names = [system.labels[place] for place in well_chosen(basis, np.array(weights))]
    more = ", ..." if len(names) > MOST_NAMED else ""
    message = f"one freedom is needed, but there are {len(names)}: {', '.join(names[:MOST_NAMED])}{more} can move"
    return SpecError(Fault(message, hint="hold the others by Drives (theta_AB: 0.3), or join what hangs loose"))


def _followed(system: System, q: Array, direction: Array, length: float) -> Solution:
    start = State(0.0, q, direction)
    return integrate(system, analyse(system), start, tend=length, tolerance=TOLERANCE)


def _return(solution: Solution, angles: Sequence[int]) -> float | None:
    """Where the way first comes back to its first pose, going the same way."""
    scales = solution.system.scales[: solution.system.n]
    length = float(solution.t[-1])
    places = np.linspace(0.0, length, int(LOOKS * length) + 2)
    q, v, _ = solution.sample(places)
    direction = v[0] / scales

    def apart(now: Array) -> Array:
        off = now - q[0]
        off[..., angles] -= 2 * np.pi * np.round(off[..., angles] / (2 * np.pi))
        return off / scales

    near = np.linalg.norm(apart(q), axis=1) < 2 / LOOKS
    left = np.flatnonzero(~near)
    if not len(left):
        return None
    for place in places[left[0] :][near[left[0] :]]:
        for _ in range(NEWTON):
            now, rate, _ = solution.sample(np.array([place]))
            place = float(np.clip(place - apart(now[0]) @ direction / (rate[0] / scales @ direction), 0.0, length))
        now, rate, _ = solution.sample(np.array([place]))
        if np.linalg.norm(apart(now[0])) < BACK and rate[0] / scales @ direction > 0.5:
            return float(place)
    return None
