"""Velocities at a change point: there the constraints are dependent, and more than one motion passes through.

Velocities that the constraints allow are too many there. Those of a motion also satisfy u.(C_qq v v + 2 C_qt v + C_tt)
= 0 for every combination u of constraints whose gradients cancel, for u.C'' has no term in the accelerations. Which
motion it is, the velocity says; at rest nothing does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mechsim.errors import AssemblyError, Fault
from mechsim.frozen import frozen
from mechsim.initial.start import Array, Wishes
from mechsim.kernel.linear import null_space, scaled_jacobian
from mechsim.structure import concerned, names_of

if TYPE_CHECKING:
    from mechsim.kernel.system import System

DEPENDENT = 1e-6  # combinations of constraints shorter than this are taken to cancel
LAST_DIGITS = 1e-13  # shorter than this they do cancel
ITERATIONS = 40
SETTLED = 1e-14  # of the speed
AT_REST = 1e-9  # of the mechanism's size per second
ALLOWED = 1e-4  # of the speed squared: what may be missing after all, a little beside the position itself
HINT = "give a velocity of the motion you mean, or start a little beside this position"


def velocity_of_a_motion(system: System, t: float, q: Array, guess: Array, wishes: Wishes) -> Array:
    """The velocity nearest to the guess with which a motion passes through the singular position q.

    Values marked `fixed` are held. Raises AssemblyError where nothing chooses, or no motion has these velocities.
    """
    pose = _Pose.at(system, t, q, guess, wishes.fixed)
    nearest = v = pose.allowed(guess)
    speed = pose.size(v)
    if speed <= AT_REST:
        raise AssemblyError(_fault(pose, "at rest ", "nothing chooses"))
    for _ in range(ITERATIONS if pose.motions.size else 0):
        # Towards a motion, and along motions towards what was asked.
        missing, slopes = pose.second_order(v, speed)
        back = np.linalg.lstsq(pose.motions / pose.scales[:, None], (nearest - v) / (pose.scales * speed))[0]
        back -= np.linalg.lstsq(slopes, slopes @ back, rcond=1e-8)[0]
        step = speed * pose.motions @ (back + np.linalg.lstsq(slopes, -missing, rcond=1e-8)[0])
        v = v + step
        if pose.size(step) <= SETTLED * speed:
            break
    v = pose.polished(v)
    far = pose.size(v) < 1e-3 * speed or pose.size(v) > 1e3 * speed
    if far or np.max(np.abs(pose.second_order(v, speed)[0]), initial=0.0) > ALLOWED:
        asked = f" with {wishes.named(wishes.fixed[0])}" if wishes.fixed else ""
        raise AssemblyError(_fault(pose, "", f"no motion{asked} passes, so nothing says"))
    return v


@frozen
class _Pose:
    """The constraints' gradients at a singular position, rows of length 1, columns in scales of the coordinates."""

    system: System
    t: float
    q: Array
    scales: Array
    lengths: Array  # what the rows were
    jacobian: Array
    held: Array  # a row for each velocity that is fixed
    combinations: Array  # of constraints that cancel, in columns
    motions: Array  # velocities that all else allows, in columns

    @classmethod
    def at(cls, system: System, t: float, q: Array, v: Array, fixed: tuple[int, ...]) -> _Pose:
        scales = np.asarray(system.scales)[: system.n]
        jacobian, lengths = scaled_jacobian(system, system.rate_jacobian(t, q, v))
        held = np.eye(system.n)[list(fixed)]
        combinations = null_space(jacobian.T, DEPENDENT)
        motions = scales[:, None] * null_space(np.vstack([jacobian, held]), DEPENDENT)
        return cls(system, t, q, scales, lengths, jacobian, held, combinations, motions)

    def size(self, v: Array) -> float:
        return float(np.max(np.abs(v / self.scales), initial=0.0))

    def allowed(self, v: Array) -> Array:
        """The nearest velocity that the constraints allow, but for combinations that cancel."""
        return self._corrected(v, DEPENDENT)

    def polished(self, v: Array) -> Array:
        """The same with all that is not quite cancelled."""
        return self._corrected(self._corrected(v, LAST_DIGITS), LAST_DIGITS)

    def _corrected(self, v: Array, negligible: float) -> Array:
        rates = self.system.constraint_rate(self.t, self.q, v) / self.lengths
        right = np.concatenate([-rates, np.zeros(len(self.held))])
        matrix = np.vstack([self.jacobian, self.held])
        return v + self.scales * np.linalg.lstsq(matrix, right, rcond=negligible)[0]

    def second_order(self, v: Array, speed: float) -> tuple[Array, Array]:
        """What is missing at v, and how it changes with each motion; over the speed squared."""
        weights = self.combinations.T / self.lengths / speed**2
        missing = weights @ self.system.curvature(self.t, self.q, v)
        # A second rate is quadratic in v, so that differences are exact.
        along = np.zeros((self.system.m, self.motions.shape[1]))
        for k, way in enumerate(speed * self.motions.T):
            ahead, back = (self.system.curvature(self.t, self.q, v + sign * way) for sign in (1, -1))
            along[:, k] = (ahead - back) / 2
        return missing, weights @ along


def _fault(pose: _Pose, how: str, why: str) -> Fault:
    shares = np.abs(pose.combinations).max(axis=1)
    rows = [int(row) for row in np.flatnonzero(shares > 0.1 * shares.max())]
    message = (
        f"the mechanism starts {how}in a singular position (a dead centre or change point): there the constraints of "
        f"{names_of(pose.system, rows)} say less than elsewhere, and {why} which way it goes on"
    )
    return Fault(message, concerned(pose.system, rows)[0][1], HINT)
