"""Rests of what has one freedom: on the one way that it goes from a pose, and all of them.

Along that way forces are a function of one number, the length, and rests are its zeros. Nothing is missed but what it
does between two places next to each other, and nothing is told that is on another way. A way that does not come back,
as where a spring feels whole turns, is looked at on both sides of the pose as far as that makes sense.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise

import numpy as np

from mechsim.analysis.flow import Flow, projected
from mechsim.analysis.round import way_back, way_of
from mechsim.analysis.statics import along
from mechsim.analysis.turning import TURN
from mechsim.analysis.unforced import unforced
from mechsim.engine import Solution
from mechsim.errors import MechsimError
from mechsim.frozen import frozen
from mechsim.result.layout import Array
from mechsim.structure import redundancy

LONGEST = 64.0  # in scales: a way that has not come back by then
PLACES, APART, EACH = 240, 0.1, 4  # along the way, at least; in scales, of one that is long; in each of its steps
NARROWED = 4  # times that a place between two signs is looked for
ROUNDED = 1e-12  # of the sizes of all forces
ON, NEWTON = 1e-6, 6  # in scales: how near to the way a pose is on it


@frozen(eq=False, slots=False)
class OneWay:
    """Poses of a flow with one freedom, at places from 0 to a length, after which they come again; or at places on both
    sides of 0, behind which they are those of `back`."""

    flow: Flow
    t: float
    solution: Solution
    back: Solution | None
    length: float
    places: Array

    @classmethod
    def of(cls, flow: Flow, t: float, q: Array) -> OneWay | None:
        """None where there are more freedoms, what rolls, or an end of the way."""
        system, states = flow.system, set(flow.states)
        if flow.rolls.any() or states - set(system.accounts.tolist()):
            return None
        try:
            if flow.pose(t, q)[1].shape[1] != 1:
                return None
            bare = unforced(system, t)
            q, _ = projected(bare, t, q, np.zeros(bare.n))
            bare = bare.without(redundancy(bare, t, q).rows)
            angles, direction = np.flatnonzero(flow.angles).tolist(), way_of(bare, t, q, sorted(states))
            solution, length = way_back(bare, q, direction, angles, LONGEST)
            if length is not None:
                return cls(flow, t, solution, None, length, _places(solution, length))
            back, _ = way_back(bare, q, -direction, angles, LONGEST)
        except MechsimError:
            return None
        ends = float(solution.t[-1]), float(back.t[-1])
        if (solution.status, back.status) != ("finished", "finished"):
            return None
        places = np.unique(np.append(_places(solution, ends[0]), -_places(back, ends[1])))
        return cls(flow, t, solution, back, np.inf, places)

    def poses(self) -> Iterator[Array]:
        """Next to where forces change their sign along it, and where they are least."""
        pushed, known = self._pushed
        for k, (one, other) in enumerate(pairwise(known.tolist())):
            ends = self.places[one], self.places[other]
            if other > one + 1:
                yield self._pose(0.5 * (ends[0] + ends[1]))
            elif pushed[one] * pushed[other] < 0:
                yield self._pose(self._narrowed(*ends, pushed[one], pushed[other]))
            elif k and abs(pushed[one]) < min(abs(pushed[known[k - 1]]), abs(pushed[other])):
                yield self._pose(ends[0])

    @property
    def is_free(self) -> bool:
        """Whether nothing pulls anywhere, as on what is balanced: all of it is one family of rests."""
        pushed, known = self._pushed
        return not len(known) and bool(np.isfinite(pushed).all())

    @cached_property
    def _pushed(self) -> tuple[Array, np.ndarray]:
        """What is left over of forces at the places, and at which of these it is more than rounding."""
        pushed, sizes = self._along(self.places)
        return pushed, np.flatnonzero(np.abs(pushed) > ROUNDED * sizes)

    def has(self, q: Array) -> bool:
        """Whether a pose is on it."""
        scales = self.flow.system.scales[: len(q)]
        found, _ = self._sampled(self.places)
        place = float(self.places[np.argmin(np.linalg.norm(self._apart(found, q) / scales, axis=1))])
        for _ in range(NEWTON):
            found, rates = self._sampled(np.array([place]))
            off, rate = self._apart(found[0], q) / scales, rates[0] / scales
            place -= float(off @ rate / (rate @ rate))
        return bool(np.abs(self._apart(self._pose(place), q) / scales).max(initial=0.0) <= ON)

    def _apart(self, now: Array, q: Array) -> Array:
        off = now - q
        off = off - TURN * np.where(self.flow.angles, np.round(off / TURN), 0.0)
        off[..., self.flow.system.accounts] = 0.0
        return off

    def _pose(self, place: float) -> Array:
        """Without whole turns since the start: stops feel these."""
        q = self._sampled(np.array([place]))[0][0]
        turns = np.round((q - self.solution.q[0]) / TURN)
        return np.asarray(q - TURN * np.where(self.flow.angles, turns, 0.0))

    def _sampled(self, places: Array) -> tuple[Array, Array]:
        """Poses, and how they change along the way."""
        if self.back is None:
            q, v, _ = self.solution.sample(np.mod(places, self.length))
            return q, v
        q, v, _ = self.solution.sample(np.clip(places, 0.0, self.solution.t[-1]))
        behind = places < 0
        if behind.any():
            found = self.back.sample(np.clip(-places[behind], 0.0, self.back.t[-1]))
            q[behind], v[behind] = found[0], -found[1]
        return q, v

    def _along(self, places: Array) -> tuple[Array, Array]:
        """What is left over of forces along the way, and the sizes of all; NaN where there is no value."""
        q, v = self._sampled(places)
        found = np.array([along(self.flow, self.t, *each) for each in zip(q, v, strict=True)])
        return found[:, 0], found[:, 1]

    def _narrowed(self, low: float, high: float, below: float, above: float) -> float:
        for _ in range(NARROWED):
            middle = 0.5 * (low + high)
            ((here,), _) = self._along(np.array([middle]))
            if below * here > 0:
                low, below = middle, here
            else:
                high, above = middle, here
        return low - below * (high - low) / (above - below) if above != below else low


def _places(solution: Solution, length: float) -> Array:
    """From 0 to a length, next to each other."""
    steps = solution.t[solution.t < length]
    own = np.interp(np.arange(EACH * len(steps)) / EACH, np.arange(len(steps) + 1), np.append(steps, length))
    count = max(PLACES, int(length / APART)) + 1
    return np.unique(np.append(own, np.linspace(0.0, length, count)))
