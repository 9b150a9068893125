"""Exudyn (multibody C++ code, generalized alpha) on seven bodies and ten joints. Setting: the number of steps."""

from __future__ import annotations

import cmath
import math
import time
from typing import Any

import exudyn
import exudyn.itemInterface as items

from bench import andrews as p
from bench.protocol import Outcome, main

RIGHT_ANGLE = math.pi / 2


def bodies() -> dict[str, tuple[complex, float, complex, float, float]]:
    """Per part: origin and direction at the start, centroid in its own frame, mass, inertia."""
    beta, theta, gamma, phi, delta, omega, epsilon = p.START
    a, b = complex(p.xa, p.ya), complex(p.xb, p.yb)
    f = p.rr * cmath.exp(1j * beta)
    e = f - p.d * cmath.exp(1j * (beta + theta))
    h = a + p.u * cmath.exp(1j * (epsilon - RIGHT_ANGLE))
    return {
        "OF": (0j, beta, complex(p.ra), p.m1, p.i1),
        "FE": (f, beta + theta + math.pi, complex(p.da), p.m2, p.i2),
        "BED": (b, gamma - RIGHT_ANGLE, complex(p.sa, p.sb), p.m3, p.i3),
        "EG": (e, phi + delta + RIGHT_ANGLE, complex(p.ea), p.m4, p.i4),
        "AG": (a, delta, complex(p.ta, p.tb), p.m5, p.i5),
        "HE": (h, omega + epsilon, complex(p.zf - p.fa), p.m6, p.i6),
        "AH": (a, epsilon - RIGHT_ANGLE, complex(p.ua, -p.ub), p.m7, p.i7),
    }


# Pins: part (None: the world) and place in its frame, twice.
PINS: tuple[tuple[str | None, complex, str, complex], ...] = (
    (None, 0j, "OF", 0j),
    ("OF", complex(p.rr), "FE", 0j),
    ("FE", complex(p.d), "BED", complex(p.ss)),
    ("FE", complex(p.d), "EG", 0j),
    ("FE", complex(p.d), "HE", complex(p.zf)),
    (None, complex(p.xb, p.yb), "BED", 0j),
    (None, complex(p.xa, p.ya), "AG", 0j),
    ("EG", complex(p.e), "AG", complex(p.zt)),
    (None, complex(p.xa, p.ya), "AH", 0j),
    ("AH", complex(p.u), "HE", 0j),
)


def build(system: Any) -> dict[str, int]:
    """Fill the multibody system; returns the node of every part."""
    ground = system.AddObject(items.ObjectGround())
    nodes, objects, centroids = {}, {None: ground}, {None: 0j}
    for name, (origin, direction, centroid, mass, inertia) in bodies().items():
        place = origin + centroid * cmath.exp(1j * direction)
        nodes[name] = system.AddNode(items.NodeRigidBody2D(referenceCoordinates=[place.real, place.imag, direction]))
        body = items.ObjectRigidBody2D(mass=mass, inertia=inertia, nodeNumber=nodes[name])
        objects[name], centroids[name] = system.AddObject(body), centroid

    def marker(part: str | None, place: complex) -> int:
        local = place - centroids[part]
        position = items.MarkerBodyPosition(bodyNumber=objects[part], localPosition=[local.real, local.imag, 0])
        return system.AddMarker(position)

    for first, first_place, second, second_place in PINS:
        markers = [marker(first, first_place), marker(second, second_place)]
        system.AddObject(items.ObjectJointRevolute2D(markerNumbers=markers))
    ends = [marker(None, complex(p.xc, p.yc)), marker("BED", complex(p.sc, p.sd))]
    system.AddObject(items.ObjectConnectorSpringDamper(markerNumbers=ends, referenceLength=p.l0, stiffness=p.c0))
    crank = system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=nodes["OF"], coordinate=2))
    system.AddLoad(items.LoadCoordinate(markerNumber=crank, load=p.mom))
    system.Assemble()
    return nodes


def prepare(setting: str) -> Any:
    system = exudyn.SystemContainer().AddSystem()
    nodes = build(system)
    settings = exudyn.SimulationSettings()
    settings.timeIntegration.numberOfSteps = int(setting)
    settings.timeIntegration.endTime = p.END
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.minimumStepSize = 1e-12
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.newton.relativeTolerance = 1e-10
    settings.timeIntegration.newton.absoluteTolerance = 1e-12
    settings.solution.file.write = False
    settings.linearSolver.solverType = exudyn.LinearSolverType.EigenDense  # the fastest at this size
    return system, settings, nodes, system.systemData.GetSystemState(), int(setting)


def integrate(prepared: Any) -> Outcome:
    system, settings, nodes, start, steps = prepared
    system.systemData.SetSystemState(start)
    begun = time.perf_counter()
    system.SolveDynamic(settings, solverType=exudyn.DynamicSolverType.GeneralizedAlpha)
    seconds = time.perf_counter() - begun

    def direction(part: str) -> float:
        turned = system.GetNodeOutput(nodes[part], exudyn.OutputVariableType.Coordinates)[2]
        return float(turned + system.GetNodeParameter(nodes[part], "referenceCoordinates")[2])

    beta, delta, epsilon = direction("OF"), direction("AG"), direction("AH") + RIGHT_ANGLE
    phi = direction("EG") - RIGHT_ANGLE - delta
    theta, gamma = direction("FE") - math.pi - beta, direction("BED") + RIGHT_ANGLE
    return [beta, theta, gamma, phi, delta, direction("HE") - epsilon, epsilon], steps, seconds


if __name__ == "__main__":
    main("Exudyn", "bodies and joints, generalized alpha", prepare, integrate)
