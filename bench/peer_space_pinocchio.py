"""pinocchio on the problems in space: its accelerations of bodies on joints, in scipy's DOP853."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio
from scipy.integrate import solve_ivp

from bench import space_problems as problems
from bench.space_problems import AXES, BALL_INERTIA, BRICARD, CORNERS, GRAVITY, TOP

Rates = Callable[[float, np.ndarray], np.ndarray]
HINGES = (pinocchio.JointModelRX, pinocchio.JointModelRY, pinocchio.JointModelRZ)
PROXIMAL = (1e-14, 1e-10, 50)  # accuracy, regularisation and most iterations where constraints repeat each other


def on_balls(count: int, mass: float, centre: Any, moments: Any, down: Any) -> tuple[Any, Any]:
    model, joint = pinocchio.Model(), 0
    for i in range(count):
        place = pinocchio.SE3(np.eye(3), np.array([float(min(i, 1)), 0, 0]))
        joint = model.addJoint(joint, pinocchio.JointModelSpherical(), place, f"joint{i}")
        inertia = pinocchio.Inertia(mass, np.array(centre, float), np.diag(moments))
        model.appendBodyToJoint(joint, inertia, pinocchio.SE3.Identity())
    model.gravity.linear = np.array(down)
    return model, model.createData()


def unit(quaternions: np.ndarray) -> np.ndarray:
    return quaternions / np.sqrt((quaternions * quaternions).sum(axis=1))[:, None]


def quaternion_rates(model: Any, data: Any, count: int) -> Rates:
    torques = np.zeros(3 * count)

    def rates(t: float, state: np.ndarray) -> np.ndarray:
        q, w = state[: 4 * count].reshape(count, 4), state[4 * count :].reshape(count, 3)
        (x, y, z, s), (a, b, c) = q.T, w.T
        turning = 0.5 * np.stack(
            [s * a + y * c - z * b, s * b - x * c + z * a, s * c + x * b - y * a, -x * a - y * b - z * c], axis=1
        )
        accelerations = pinocchio.aba(model, data, unit(q).ravel(), state[4 * count :], torques)
        return np.concatenate([turning.ravel(), accelerations])

    return rates


def open_chain(problem: str) -> tuple[Rates, np.ndarray, Callable[[np.ndarray], Any]]:
    count = 1 if problem == TOP else problems.length_of(problem)
    down = (0, 0, -GRAVITY)
    if problem == TOP:
        model, data = on_balls(1, problems.TOP_MASS, (0, 1, 0), problems.TOP_INERTIA, down)
    else:
        model, data = on_balls(count, 1.0, (1, 0, 0), [BALL_INERTIA] * 3, down)
    state = np.concatenate([np.tile([0.0, 0, 0, 1], count), np.zeros(3 * count)])
    if problem == TOP:
        state[4:] = problems.TOP_SPIN
    else:
        state[4 * count + 2 :: 3] = np.diff(problems.turning(count), prepend=0.0)

    def judged(state: np.ndarray) -> Any:
        pinocchio.forwardKinematics(model, data, unit(state[: 4 * count].reshape(count, 4)).ravel())
        if problem == TOP:
            return data.oMi[1].rotation.copy()
        return [data.oMi[i + 1].act(np.array([1.0, 0, 0])) for i in range(count)]

    return quaternion_rates(model, data, count), state, judged


def bricard() -> tuple[Rates, np.ndarray, Callable[[np.ndarray], Any]]:
    """Five hinges in a row, the sixth closed by two points that must meet the ground."""
    model, joint = pinocchio.Model(), 0
    for i in range(5):
        place = pinocchio.SE3(np.eye(3), CORNERS[i] - (CORNERS[i - 1] if i else 0.0))
        joint = model.addJoint(joint, HINGES[int(np.argmax(AXES[i]))](), place, f"hinge{i}")
        inertia = pinocchio.Inertia(1.0, (CORNERS[i + 1] - CORNERS[i]) / 2, np.diag(problems.rod_inertia(i)))
        model.appendBodyToJoint(joint, inertia, pinocchio.SE3.Identity())
    model.gravity.linear = np.array([0, -GRAVITY, 0])
    data = model.createData()
    closings, closing_data = pinocchio.StdVec_RigidConstraintModel(), pinocchio.StdVec_RigidConstraintData()
    for own, ground in (([0, 1.0, 0], [0, 0, 1.0]), ([1.0, 1, 0], [1.0, 0, 1])):
        places = [pinocchio.SE3(np.eye(3), np.array(place)) for place in (own, ground)]
        kind, frame = pinocchio.ContactType.CONTACT_3D, pinocchio.ReferenceFrame.LOCAL
        closings.append(pinocchio.RigidConstraintModel(kind, model, joint, places[0], 0, places[1], frame))
        closing_data.append(closings[-1].createData())
    pinocchio.initConstraintDynamics(model, data, closings, closing_data)
    settings, torques = pinocchio.ProximalSettings(*PROXIMAL), np.zeros(5)

    def rates(t: float, state: np.ndarray) -> np.ndarray:
        q, v = state[:5], state[5:]
        found = pinocchio.constraintDynamics(model, data, q, v, torques, closings, closing_data, settings)
        return np.concatenate([v, found])

    def judged(state: np.ndarray) -> Any:
        pinocchio.forwardKinematics(model, data, state[:5])
        return data.oMi[4].translation.copy()

    return rates, np.zeros(10), judged


def prepare(problem: str, setting: str) -> problems.Run:
    rates, start, judged = bricard() if problem == BRICARD else open_chain(problem)
    tolerance, wanted = float(setting), problems.times(problem)

    def run() -> tuple[Any, int]:
        span = (0, wanted[-1])
        solved = solve_ivp(rates, span, start, method="DOP853", rtol=tolerance, atol=tolerance, t_eval=wanted)
        found = [judged(state) for state in solved.y.T]
        return found if problem == BRICARD else found[-1], solved.nfev // 12

    return run


if __name__ == "__main__":
    problems.main("pinocchio + DOP853", "bodies and joints, scipy's integrator", prepare)
