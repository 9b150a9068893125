"""Drake on the problems in space: bodies and joints, error-controlled Runge-Kutta of order 5; loops only in steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydrake.all import (
    ApplySimulatorConfig,
    BallRpyJoint,
    FixedOffsetFrame,
    MultibodyPlant,
    RevoluteJoint,
    RigidTransform,
    RollPitchYaw,
    RotationalInertia,
    RotationMatrix,
    Simulator,
    SimulatorConfig,
    SpatialInertia,
    UnitInertia,
)

from bench import space_problems as problems
from bench.space_problems import AXES, BALL_INERTIA, BRICARD, CORNERS, GRAVITY, TOP

ALONG = RotationMatrix(np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]))  # a joint's x is the body's y: roll is the spin
CLEAR = np.array([-0.65774343, 0.3919499, 0.64323313])  # 41 degrees from all that the spin axis comes to


class Top:
    """On a BallRpyJoint, whose frame keeps its singular pitch away from the motion."""

    def __init__(self, plant: Any):
        moments = np.array(problems.TOP_ABOUT_TIP) / problems.TOP_MASS
        self.plant = plant
        self.body = plant.AddRigidBody("top", SpatialInertia(problems.TOP_MASS, [0, 1, 0], UnitInertia(*moments)))
        z = CLEAR / np.linalg.norm(CLEAR)
        x = np.array([0.0, 1, 0]) - z * z[1]
        x /= np.linalg.norm(x)
        self.turn = np.column_stack([x, np.cross(z, x), z])
        place = RigidTransform(RotationMatrix(self.turn), [0, 0, 0])
        outer = plant.AddFrame(FixedOffsetFrame("outer", plant.world_frame(), place))
        inner = plant.AddFrame(FixedOffsetFrame("inner", self.body.body_frame(), RigidTransform(ALONG, [0, 0, 0])))
        self.joint = plant.AddJoint(BallRpyJoint("tip", outer, inner))

    def begin(self, context: Any) -> None:
        angles = RollPitchYaw(RotationMatrix(self.turn.T @ ALONG.matrix())).vector()
        self.joint.set_angles(context, angles)
        self.joint.set_angular_velocity(context, self.turn.T @ np.array(problems.TOP_SPIN))

    def judged(self, context: Any) -> Any:
        return self.plant.EvalBodyPoseInWorld(context, self.body).rotation().matrix()


class Chain:
    def __init__(self, plant: Any, problem: str):
        self.plant, self.count = plant, problems.length_of(problem)
        self.bodies, self.joints = [], []
        before = plant.world_frame()
        moments = UnitInertia(BALL_INERTIA, 1 + BALL_INERTIA, 1 + BALL_INERTIA)
        for i in range(self.count):
            body = plant.AddRigidBody(f"ball{i}", SpatialInertia(1.0, [1, 0, 0], moments))
            outer = FixedOffsetFrame(f"outer{i}", before, RigidTransform(ALONG, [min(i, 1), 0, 0]))
            inner = FixedOffsetFrame(f"inner{i}", body.body_frame(), RigidTransform(ALONG, [0, 0, 0]))
            self.joints.append(plant.AddJoint(BallRpyJoint(f"joint{i}", plant.AddFrame(outer), plant.AddFrame(inner))))
            self.bodies.append(body)
            before = body.body_frame()

    def begin(self, context: Any) -> None:
        for joint, rate in zip(self.joints, np.diff(problems.turning(self.count), prepend=0.0), strict=True):
            joint.set_angles(context, [0, 0, 0])
            joint.set_angular_velocity(context, [0, 0, rate])

    def judged(self, context: Any) -> Any:
        end = np.array([1.0, 0, 0])
        return [self.plant.EvalBodyPoseInWorld(context, body).multiply(end) for body in self.bodies]


class Bricard:
    """The loop is cut at the third corner: a ball constraint to the world crashes drake 1.51."""

    def __init__(self, plant: Any):
        self.plant, self.bodies, self.origins = plant, {}, {}
        for rod, before, corner in ((0, None, 0), (1, 0, 1), (2, 1, 2), (4, None, 5), (3, 4, 4)):
            middle = (CORNERS[rod + 1] + CORNERS[rod]) / 2 - CORNERS[corner]
            inertia = RotationalInertia(*(float(x) for x in problems.rod_inertia(rod)))
            body = plant.AddRigidBody(f"rod{rod}", SpatialInertia.MakeFromCentralInertia(1.0, middle, inertia))
            base = plant.world_frame() if before is None else self.bodies[before].body_frame()
            place = CORNERS[corner] - (0.0 if before is None else self.origins[before])
            frame = plant.AddFrame(FixedOffsetFrame(f"frame{rod}", base, RigidTransform(place)))
            plant.AddJoint(RevoluteJoint(f"hinge{rod}", frame, body.body_frame(), AXES[corner]))
            self.bodies[rod], self.origins[rod] = body, CORNERS[corner]
        for point in (CORNERS[3], CORNERS[3] + AXES[3]):
            one, other = point - self.origins[2], point - self.origins[3]
            plant.AddBallConstraint(self.bodies[2], one, self.bodies[3], other)

    def begin(self, context: Any) -> None:
        self.plant.SetPositions(context, np.zeros(5))
        self.plant.SetVelocities(context, np.zeros(5))

    def judged(self, context: Any) -> Any:
        return self.plant.EvalBodyPoseInWorld(context, self.bodies[2]).multiply(CORNERS[3] - self.origins[2])


def prepare(problem: str, setting: str) -> problems.Run:
    """The setting is an accuracy; of the loop, which only discrete steps close, steps a second."""
    plant = MultibodyPlant(1 / int(setting) if problem == BRICARD else 0.0)
    model = {TOP: Top, BRICARD: Bricard}[problem](plant) if problem in (TOP, BRICARD) else Chain(plant, problem)
    down = [0, -GRAVITY, 0] if problem == BRICARD else [0, 0, -GRAVITY]
    plant.mutable_gravity_field().set_gravity_vector(down)
    plant.Finalize()
    simulator = Simulator(plant)
    if problem != BRICARD:
        wanted = {"integration_scheme": "runge_kutta5", "accuracy": float(setting), "max_step_size": 0.1}
        ApplySimulatorConfig(SimulatorConfig(**wanted), simulator)
    context = simulator.get_mutable_context()

    def run() -> tuple[Any, int]:
        context.SetTime(0.0)
        model.begin(context)
        simulator.Initialize()
        found = []
        for t in problems.times(problem):
            simulator.AdvanceTo(t)
            found.append(model.judged(context))
        if problem == BRICARD:
            return found, round(t * int(setting))
        return found[-1], int(simulator.get_integrator().get_num_steps_taken())

    return run


if __name__ == "__main__":
    problems.main("Drake", "bodies and joints", prepare)
