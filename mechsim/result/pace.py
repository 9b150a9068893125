"""What sets the pace of a march that took many steps: the fastest vibration or decay of the mechanism, and whose it is.

A step of a Taylor series is some radians of the fastest vibration long, or some time constants of the fastest decay
(docs/running.md). Both are eigenvalues of the equations, linearised about points of the motion along what constraints
allow: M x'' + D x' + K x = 0. An element is to blame by its share in x* (s D + K) x for the mode s, x.
"""

from __future__ import annotations

from math import pi

import numpy as np
from numpy.typing import NDArray

from mechsim.engine.points import Points
from mechsim.engine.solution import Solution
from mechsim.frozen import frozen
from mechsim.kernel import linear
from mechsim.kernel.system import System
from mechsim.model.mechanism import Element
from mechsim.model.origin import WORDS
from mechsim.result.layout import Array

MOST_COORDINATES = 150  # dense matrices of more take longer than a person waits for a remark
LOOKED_AT = 7  # points of the motion, evenly by number, for steps crowd where they are short
# Radians, or time constants, in a step: if it has fewer, something else limits it. Steps over what hardly moves have 3
# to 8, those of swings and turns 0.2 to 1, for what goes far is not linear.
LEAST = 0.15
DIFFERENCE = 1e-6  # of scales
MASSLESS = 1e-12  # of the largest mass
DEPENDENT = 1e-9
Motion = NDArray[np.complex128]


@frozen
class Pace:
    """What limits steps: the element with the largest share in the fastest mode, whose eigenvalue is `rate`, 1/s; ""
    where they are shorter than that mode asks for."""

    limit: str
    rate: complex
    step: float  # seconds, on average

    @property
    def words(self) -> str:
        if not self.limit:
            return "as long as the motion itself allows: no vibration or decay is fast beside them"
        if abs(self.rate.imag) > abs(self.rate.real):
            way = "swing or turn" if self.limit.startswith("part ") else "vibration"
            return f"limited by {self.limit}: a {way} with a period of {_time(2 * pi / abs(self.rate))}"
        way = "decay" if self.rate.real < 0 else "growth"
        return f"limited by {self.limit}: a {way} with a time constant of {_time(1 / abs(self.rate))}"


def pace(solution: Solution, steps: int) -> Pace | None:
    """What limits the steps of a march; None for mechanisms that are too large for this to be quick."""
    system = solution.system
    if system.n > MOST_COORDINATES or not system.mechanism.parts:
        return None
    step = abs(float(solution.t[-1] - solution.t[0])) / steps
    rows = np.unique(np.linspace(0, len(solution.t) - 1, LOOKED_AT).astype(int))
    with np.errstate(all="ignore"):
        found = [_Linearised(solution, solution.points[row : row + 1]) for row in rows.tolist()]
    fastest = max(found, key=lambda each: abs(each.rate))
    limited = abs(fastest.rate) * step >= LEAST
    return Pace(fastest.blamed() if limited else "", fastest.rate, step)


class _Linearised:
    """The equations about one point."""

    def __init__(self, solution: Solution, point: Points):
        self.system: System = point.system_at(0)
        leading = solution.leading(point)
        self.state = (point.t[0], point.q[0], point.v[0], leading[0][0], leading[1][0])
        self.scales = np.asarray(self.system.scales)[: self.system.n]
        self.allowed = self._allowed()
        self.rate, self.mode = self._fastest()

    def _allowed(self) -> Array:
        """Motions that the constraints allow, in columns; integrals take no part."""
        moving = np.array([each.kind != "state" for each in self.system.mechanism.variables])
        jacobian = linear.scaled_jacobian(self.system, self.system.rate_jacobian(*self.state[:3]))[0]
        free = linear.null_space(jacobian[:, moving], absolute=DEPENDENT)
        motions = np.zeros((self.system.n, free.shape[1]))
        motions[moving] = free
        return motions * self.scales[:, None]

    def _fastest(self) -> tuple[complex, Motion]:
        """The eigenvalue of the largest size and its motion; 0 where nothing can move or equations have no value."""
        none = 0j, np.zeros(self.system.n, dtype=complex)
        mass = self.allowed.T @ self.system.mass_matrix(*self.state[:3]) @ self.allowed
        stiffness, damping = (self.allowed.T @ self._slopes(level) for level in (1, 2))
        if not mass.size or not all(np.isfinite(each).all() for each in (mass, stiffness, damping)):
            return none
        sizes, axes = np.linalg.eigh(mass)
        axes = axes[:, sizes > MASSLESS * sizes.max()] / np.sqrt(sizes[sizes > MASSLESS * sizes.max()])
        stiffness, damping = (axes.T @ each @ axes for each in (stiffness, damping))
        count = len(stiffness)
        companion = np.block([[np.zeros((count, count)), np.eye(count)], [-stiffness, -damping]])
        rates, modes = np.linalg.eig(companion)
        first = int(np.argmax(np.abs(rates)))
        return complex(rates[first]), np.asarray(self.allowed @ axes @ modes[:count, first], dtype=complex)

    def _slopes(self, level: int) -> Array:
        """Of the equations' rows by positions (1) or velocities (2) along what is allowed, in columns."""
        count, shift = self.allowed.shape[1], DIFFERENCE * self.allowed.T
        sides = []
        for sign in (1, -1):
            state = [np.broadcast_to(each, (count, *np.shape(each))).copy() for each in self.state]
            state[level] = state[level] + sign * shift
            sides.append(self.system.residuals(*state)[:, : self.system.n])
        return np.asarray((sides[0] - sides[1]).T / (2 * DIFFERENCE))

    def blamed(self) -> str:
        """The element with the largest share in the mode."""
        elements = self.system.mechanism.elements
        mode = self.mode * DIFFERENCE / np.max(np.abs(self.mode) / self.scales)
        changes = [self._change(side(mode), side(self.rate * mode)) for side in (np.real, np.imag)]
        shares = []
        for number, element in enumerate(elements):
            pushes = changes[0][number] + 1j * changes[1][number]
            pairs = zip(element.slots, pushes, strict=False)
            shares.append(abs(sum(np.conj(mode[slot]) * push for slot, push in pairs if slot >= 0)))
        return _named(elements[int(np.argmax(shares))])

    def _change(self, moved: Array, turned: Array) -> dict[int, Array]:
        """Of what each element adds to its rows."""
        t, q, v, a, multipliers = self.state
        numbers = range(len(self.system.mechanism.elements))
        ahead, back = (
            self.system.rows_of(numbers, t, q + sign * moved, v + sign * turned, a, multipliers) for sign in (1, -1)
        )
        return {number: (ahead[number] - back[number]) / 2 for number in ahead}


def _named(element: Element) -> str:
    """`spring AB`, as the file has it."""
    sort, name = element.origin.sort or "constraint", element.origin.name or element.owner
    return f"{'part' if sort == 'rigid' else WORDS.get(sort, sort)} {name.replace(',', '-')}"


def _time(seconds: float) -> str:
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.1e} s"
