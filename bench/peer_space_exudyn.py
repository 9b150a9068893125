"""Exudyn on the open chains in space: explicit RK67. Its generalized alpha, which loops need, stops where the hinges of
Bricard's mechanism repeat each other, or is off by more than the mechanism is large."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import exudyn
import exudyn.itemInterface as items
import numpy as np

from bench import space_problems as problems
from bench.space_problems import BALL_INERTIA, GRAVITY, TOP

Judge = Callable[[], Any]
Output = exudyn.OutputVariableType
warnings.simplefilter("ignore")


def top(system: Any) -> Judge:
    """The node stands at the tip, so no joint is needed; its translation is free, and means nothing."""
    spin = list(problems.TOP_SPIN)
    node = system.AddNode(items.NodeRigidBodyRotVecLG(referenceCoordinates=[0] * 6, initialVelocities=[0] * 3 + spin))
    moments = [*problems.TOP_ABOUT_TIP, 0, 0, 0]
    body = system.AddObject(
        items.ObjectRigidBody(physicsMass=problems.TOP_MASS, physicsInertia=moments, nodeNumber=node)
    )
    centre = system.AddMarker(items.MarkerBodyPosition(bodyNumber=body, localPosition=[0, 1, 0]))
    weight = [0, 0, -problems.TOP_MASS * GRAVITY]
    system.AddLoad(items.LoadForceVector(markerNumber=centre, loadVector=weight))
    return lambda: np.array(system.GetNodeOutput(node, Output.RotationMatrix)).reshape(3, 3)


def chain(system: Any, problem: str) -> Judge:
    """A kinematic tree; each ball joint is three hinges, about y, z and x."""
    count = problems.length_of(problem)
    rates = np.zeros((count, 3))
    rates[:, 1] = np.diff(problems.turning(count), prepend=0.0)
    start, size = [0.0] * (3 * count), 3 * count
    node = system.AddNode(
        items.NodeGenericODE2(
            referenceCoordinates=start,
            initialCoordinates=start,
            initialCoordinates_t=rates.ravel().tolist(),
            numberOfODE2Coordinates=size,
        )
    )
    kinds = exudyn.JointType
    turns, offsets = exudyn.Matrix3DList(), exudyn.Vector3DList()
    moments, centres = exudyn.Matrix3DList(), exudyn.Vector3DList()
    for i in range(size):
        last = i % 3 == 2
        turns.Append(np.eye(3))
        offsets.Append([1.0 if i % 3 == 0 and i else 0.0, 0, 0])
        moments.Append(np.eye(3) * (BALL_INERTIA if last else 0.0))
        centres.Append([1.0 if last else 0.0, 0, 0])
    system.AddObject(
        items.ObjectKinematicTree(
            nodeNumber=node,
            jointTypes=[kinds.RevoluteY, kinds.RevoluteZ, kinds.RevoluteX] * count,
            linkParents=list(range(-1, size - 1)),
            jointTransformations=turns,
            jointOffsets=offsets,
            linkInertiasCOM=moments,
            linkCOMs=centres,
            linkMasses=[0.0, 0.0, 1.0] * count,
            baseOffset=[0, 0, 0],
            gravity=[0, 0, -GRAVITY],
        )
    )
    return lambda: balls(system.GetNodeOutput(node, Output.Coordinates))


def balls(angles: Any) -> np.ndarray:
    """Where they are, from the angles about y, z and x of all joints."""
    turn, place, found = np.eye(3), np.zeros(3), []
    for about_y, about_z, about_x in np.reshape(angles, (-1, 3)):
        (cy, cz, cx), (sy, sz, sx) = (f([about_y, about_z, about_x]) for f in (np.cos, np.sin))
        turn = (
            turn @ np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]]) @ np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
        )
        turn = turn @ np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
        place = place + turn[:, 0]
        found.append(place)
    return np.array(found)


def prepare(problem: str, setting: str) -> problems.Run:
    """The setting is steps a second."""
    system = exudyn.SystemContainer().AddSystem()
    judged = top(system) if problem == TOP else chain(system, problem)
    system.Assemble()
    (end,), initial = problems.times(problem), exudyn.ConfigurationType.Initial
    start = system.systemData.GetSystemState(initial)
    settings = exudyn.SimulationSettings()
    settings.solutionSettings.writeSolutionToFile = False
    settings.solutionSettings.sensorsWritePeriod = 1e9
    integration = settings.timeIntegration
    integration.verboseMode, integration.endTime, integration.numberOfSteps = 0, end, round(end * int(setting))
    integration.explicitIntegration.computeEndOfStepAccelerations = False
    integration.explicitIntegration.eliminateConstraints = False

    def run() -> tuple[Any, int]:
        system.systemData.SetSystemState(start, initial)
        system.SolveDynamic(settings, solverType=exudyn.DynamicSolverType.RK67, showHints=False)
        return judged(), integration.numberOfSteps

    return run


if __name__ == "__main__":
    problems.main("Exudyn", "bodies and joints, RK67", prepare)
