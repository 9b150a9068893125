"""MuJoCo on the problems in space: bodies on ball joints and hinges, Bricard's loop closed by two stiff constraints."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from bench import space_problems as problems
from bench.space_problems import AXES, BALL_INERTIA, BRICARD, CORNERS, GRAVITY, TOP


def words(values: Any) -> str:
    return " ".join(repr(float(value)) for value in values)


def inertial(place: Any, mass: float, moments: Any) -> str:
    return f'<inertial pos="{words(place)}" mass="{mass}" diaginertia="{words(moments)}"/>'


def nested(bodies: list[tuple[Any, str]]) -> str:
    """Each body inside the one before it, at a place there."""
    begins = "".join(f'<body pos="{words(place)}">{inside}' for place, inside in bodies)
    return begins + "</body>" * len(bodies)


def top() -> tuple[str, str]:
    body = '<joint type="ball"/>' + inertial((0, 1, 0), problems.TOP_MASS, problems.TOP_INERTIA)
    return nested([((0, 0, 0), body)]), ""


def chain(problem: str) -> tuple[str, str]:
    ball = '<joint type="ball"/>' + inertial((1, 0, 0), 1.0, [BALL_INERTIA] * 3)
    return nested([((min(i, 1), 0, 0), ball) for i in range(problems.length_of(problem))]), ""


def bricard(step: float) -> tuple[str, str]:
    bodies = []
    for i in range(5):
        middle = (CORNERS[i + 1] - CORNERS[i]) / 2
        inside = f'<joint type="hinge" axis="{words(AXES[i])}"/>' + inertial(middle, 1.0, problems.rod_inertia(i))
        inside += '<site name="corner"/>' if i == 3 else ""
        inside += '<site name="e1" pos="0 1 0"/><site name="e2" pos="1 1 0"/>' if i == 4 else ""
        bodies.append((CORNERS[i] - (CORNERS[i - 1] if i else 0.0), inside))
    stiff = f'solref="{2 * step} 1" solimp="0.9999 0.9999 0.001 0.5 2"'
    closing = "".join(f'<connect site1="e{n}" site2="g{n}" {stiff}/>' for n in (1, 2))
    ground = '<site name="g1" pos="0 0 1"/><site name="g2" pos="1 0 1"/>'
    return ground + nested(bodies), f"<equality>{closing}</equality>"


def prepare(problem: str, setting: str) -> problems.Run:
    step = 1 / int(setting)
    builders = {TOP: top, BRICARD: lambda: bricard(step)}
    bodies, more = builders[problem]() if problem in builders else chain(problem)
    down = (0, -GRAVITY, 0) if problem == BRICARD else (0, 0, -GRAVITY)
    option = (
        f'<option timestep="{step!r}" gravity="{words(down)}" integrator="RK4" tolerance="1e-14" iterations="100"/>'
    )
    model = mujoco.MjModel.from_xml_string(f"<mujoco>{option}<worldbody>{bodies}</worldbody>{more}</mujoco>")
    data = mujoco.MjData(model)

    def judged() -> Any:
        if problem == TOP:
            return problems.rotation(data.qpos)
        return data.site("corner").xpos.copy() if problem == BRICARD else data.xipos[1:].copy()

    def run() -> tuple[Any, int]:
        mujoco.mj_resetData(model, data)
        if problem == TOP:
            data.qvel[:] = problems.TOP_SPIN
        elif problem != BRICARD:
            data.qvel[2::3] = np.diff(problems.turning(problems.length_of(problem)), prepend=0.0)
        found, steps = [], 0
        for t in problems.times(problem):
            count = round(t / step) - steps
            mujoco.mj_step(model, data, nstep=count)
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            steps += count
            found.append(judged())
        return np.array(found) if problem == BRICARD else found[-1], steps

    return run


if __name__ == "__main__":
    problems.main("MuJoCo", "bodies and joints, RK4", prepare)
