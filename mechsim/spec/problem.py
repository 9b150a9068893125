"""AppliedForces, ProblemData and SolverParams after reading, checked against the parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mechsim.errors import Mark
from mechsim.spec.actions import PartTorque
from mechsim.spec.document import Number, OutFile, PointForce, Problem, Solver, StartValue, Torque
from mechsim.spec.loads import one_number, part_torque
from mechsim.spec.names import SPACE
from mechsim.spec.parts import Parts
from mechsim.spec.records import Entry
from mechsim.spec.shapes import Reading, shown
from mechsim.spec.standing import Standing
from mechsim.spec.suggest import listed
from mechsim.spec.turning import known_angle


def build_torques(entries: Mapping[str, Entry], parts: Parts, reading: Reading) -> tuple[Torque, ...]:
    """`OA: tau` acts on OA; `AB-OA: tau` acts on AB and back on OA (seed 001, section 4.3)."""
    torques = []
    for entry in entries.values():
        part, _, against = (name.strip() for name in entry.name.partition("-"))
        user = f"ConstTorques.{entry.name}"
        if isinstance(entry.value, list):
            continue  # see build_part_torques
        if reading.dimension == SPACE:
            if not against:
                reading.faults += one_number(entry, user, parts).faults
            elif reading.attempt(known_angle, entry.name, entry.mark, user, parts, reading) and entry.value is not None:
                torques.append(Torque(part, against, entry.value, entry.mark))
            continue
        known = [parts.known_rigid(name, entry.mark, user, reading) for name in (part, against) if name]
        if not all(known):
            continue
        if part == against:
            reading.fault(f"{user} acts between {part} and itself", entry.mark)
        elif entry.value is not None:
            torques.append(Torque(part, against or None, entry.value, entry.mark))
    return tuple(torques)


def build_part_torques(entries: Mapping[str, Entry], parts: Parts, reading: Reading) -> tuple[PartTorque, ...]:
    """Constant torque vectors, in space."""
    vectors = [entry for entry in entries.values() if isinstance(entry.value, list)]
    found = [part_torque(entry, f"ConstTorques.{entry.name}", parts, reading) for entry in vectors]
    return tuple(each for each in found if each is not None)


def build_forces(entries: Mapping[str, Entry], parts: Parts, reading: Reading) -> tuple[PointForce, ...]:
    """`A: [f_x, f_y]` is constant in the world; `OA.A: [f_x, f_y]` keeps its direction in OA's frame."""
    forces = []
    for entry in entries.values():
        part, _, point = (name.strip() for name in entry.name.rpartition("."))
        user = f"ConstForces.{entry.name}"
        if part and not parts.known_frame(part, entry.mark, user, reading):
            continue
        if not parts.known_point(point, entry.mark, user, reading):
            continue
        if part and point not in parts.rigid_points.get(part, (point,)):
            hint = f"{part} has the points {listed(parts.rigid_points[part])}"
            reading.fault(f"{user}: the point {point} is not on {part}", entry.mark, hint)
        elif point in parts.fixed_names:
            reading.fault(f"{user} acts on {point}, which is fixed and cannot move", entry.mark, "remove it")
        elif entry.value is not None:
            forces.append(PointForce(point, part or None, entry.value, entry.mark))
    return tuple(forces)


def build_problem(values: Mapping[str, Any], place: Mark, parts: Parts, reading: Reading) -> Problem:
    """`place` is where ProblemData stands, for values that are not written."""
    t0 = values.get("t0", Number(0.0, "0", place))
    tend = values["tend"][0] if "tend" in values else None
    if tend is not None and tend.value <= t0.value:
        reading.fault(f"tend is {shown(tend)}, but must be later than t0, which is {shown(t0)}", tend.mark)
    standing = Standing(
        parts,
        reading,
        _start_vectors("positions", values.get("positions", {}), parts, reading),
        _start_vectors("velocities", values.get("velocities", {}), parts, reading),
        {},
    )
    for entry in values.get("orientations", {}).values():
        standing.stand(entry)
    for entry in values.get("spins", {}).values():
        standing.spin(entry)
    return Problem(
        t0,
        tend or Number(t0.value + 1.0, "1", place),  # only when a fault is recorded: nobody sees it
        standing.positions,
        standing.velocities,
        _start_angles("angles", values.get("angles", {}), parts, reading),
        _start_angles("rates", values.get("rates", {}), parts, reading),
        values.get("Branch"),
        standing.rotations,
    )


def _start_vectors(
    user: str, entries: Mapping[str, Entry], parts: Parts, reading: Reading
) -> dict[str, tuple[StartValue | None, ...]]:
    for entry in entries.values():
        if parts.known_point(entry.name, entry.mark, user, reading) and entry.name in parts.fixed_names:
            hint = "remove it here, or from PartData.Fixed"
            reading.fault(f"{user} gives the point {entry.name}, which is fixed in the world", entry.mark, hint)
    return {entry.name: entry.value for entry in entries.values() if entry.value is not None}


def _start_angles(user: str, entries: Mapping[str, Entry], parts: Parts, reading: Reading) -> dict[str, StartValue]:
    found = {}
    for entry in entries.values():
        key = reading.attempt(known_angle, entry.name, entry.mark, user, parts, reading)
        if key and entry.value is not None:
            found[key] = entry.value
    return found


def build_solver(values: Mapping[str, Any], parts: Parts, reading: Reading) -> Solver:
    """What SolverParams says; what it does not say is the default of the class."""
    integration = values.get("Integration", {})
    default = Solver()
    return Solver(
        values.get("Mode", default.mode),
        integration.get("tol", default.tolerance),
        integration.get("order", default.order),
        values.get("Display", {}).get("signature", default.show_signature),
        _build_outfile(values.get("OutFile", {}), parts, reading),
    )


def _build_outfile(values: Mapping[str, Any], parts: Parts, reading: Reading) -> OutFile:
    default = OutFile()
    for entry in values.get("points", {}).values():
        if parts.known_point(entry.name, entry.mark, "OutFile.points", reading) and entry.name in parts.fixed_names:
            reading.fault(f"OutFile.points names {entry.name}, which is fixed: it has no columns", entry.mark)
    angles = values.get("angles")
    if angles is not None:
        keys = [
            (reading.attempt(known_angle, each.name, each.mark, "OutFile.angles", parts, reading), each.value)
            for each in angles.values()
        ]
        angles = {key: value for key, value in keys if key}
    return OutFile(
        values.get("tformat", default.time_format),
        values.get("qformat", default.value_format),
        _columns(values.get("points")),
        angles,
    )


def _columns(entries: Mapping[str, Entry] | None) -> dict[str, int] | None:
    return None if entries is None else {entry.name: entry.value for entry in entries.values()}
