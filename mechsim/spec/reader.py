"""From a file or a text to MechSpec: the top of this room, which reads as a sentence."""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mechsim.errors import OVERRIDES_FILE, Fault, Mark, SpecError
from mechsim.spec.actions import Actions
from mechsim.spec.animation import build_animation
from mechsim.spec.asked import with_signals
from mechsim.spec.contacts import build_contacts
from mechsim.spec.designing import build_optimize, build_tolerances
from mechsim.spec.document import MechSpec
from mechsim.spec.events import build_events
from mechsim.spec.functions import build_functions
from mechsim.spec.joints import build_joints
from mechsim.spec.known import build_reference
from mechsim.spec.language import DIMENSION, DOCUMENT
from mechsim.spec.living import Tape
from mechsim.spec.loads import build_loads
from mechsim.spec.motion import build_motion, build_output
from mechsim.spec.names import PLANE
from mechsim.spec.nodes import MAX_BYTES, DictNode, Node, compose
from mechsim.spec.parameters import resolve
from mechsim.spec.parted import parted
from mechsim.spec.parts import build_parts
from mechsim.spec.problem import build_forces, build_part_torques, build_problem, build_solver, build_torques
from mechsim.spec.repeat import repeated
from mechsim.spec.scope import Scope, points_mentioned
from mechsim.spec.shapes import MOST_FAULTS, Hopeless, Reading
from mechsim.spec.sweeping import build_sweep
from mechsim.spec.tablefile import TableFiles

ACTING = (
    *("AppliedForces", "Joints", "Drives", "Controllers", "Signals", "Piecewise"),
    *("Contacts", "Stops", "Bonds", "Events"),
)
MAX_FAULTS = 50  # nobody reads more; one slip may cause many


def read(path: str | Path, overrides: Mapping[str, str] = {}, tables_from: Sequence[str | Path] = ()) -> MechSpec:
    """Read a mechanism file. `overrides` replace expressions of parameters; tables in files of their own are read from
    the folder of this one or below, and from `tables_from`. Raises SpecError with all faults."""
    name = str(path)
    try:
        with open(path, "rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise SpecError(Fault(f"cannot read {name}: {reason.lower()}")) from None
    return parse(_decode(content, name), name, overrides, tables_from=tables_from)


def parse(
    text: str,
    path: str = "<text>",
    overrides: Mapping[str, str] = {},
    files: Mapping[str, str] = {},
    tables_from: Sequence[str | Path] | None = (),
    tape: Tape | None = None,
    asked: Mapping[str, str] = {},
) -> MechSpec:
    """Read a mechanism from text; `path` is what faults call it, and its folder is where its tables are looked for
    unless their texts are in `files`; `tables_from` None: nowhere else. Raises SpecError with all faults. With a `tape`
    numbers that follow from its parameters are Living. `asked` are further Signals, which are told as those of Output
    are."""
    text = text.removeprefix("\ufeff")
    if len(text) > MAX_BYTES:
        raise _too_large(path)
    root, faults = compose(text, path)
    root = with_signals(root, asked)
    folder = None if tables_from is None else Path(path).parent
    tables = TableFiles(folder, tables_from or (), dict(files))
    reading = Reading(faults=faults, files=tables, changed=bool(overrides) or tape is not None, tape=tape)
    try:
        spec = _build(root, reading, text, path, overrides)
    except Hopeless:
        raise SpecError(*_sorted(_once_a_place(reading.faults, root))) from None
    if reading.faults:
        raise SpecError(*_sorted(_once_a_place(reading.faults, root)))
    spec = parted(spec)
    needed = _needed(reading)
    unused = tuple(name for name in spec.parameters if name not in needed)
    return replace(spec, unused=unused, asked=dict(asked))


def _needed(reading: Reading) -> set[str]:
    """Parameters that something beside PhysicalParams uses, directly or through other parameters."""
    needed, waiting = set(reading.used), list(reading.used)
    while waiting:
        found = set(reading.needs.get(waiting.pop(), ())) - needed
        needed |= found
        waiting += found
    return needed


def _build(root: DictNode, reading: Reading, text: str, path: str, overrides: Mapping[str, str]) -> MechSpec:
    nodes = {key.text: node for key, node in root.entries}
    parameters = resolve(_unless_empty(nodes.get("PhysicalParams")), overrides, reading, _names(nodes.get("Inputs")))
    root = _repeated(root, reading)
    nodes = {key.text: node for key, node in root.entries}
    rest = [(key, node) for key, node in root.entries if key.text != "PhysicalParams"]
    if "Dimension" in nodes:  # before all else: vectors are padded to it
        reading.dimension = reading.attempt(DIMENSION.read, nodes["Dimension"], Reading(), "Dimension") or PLANE
    values = DOCUMENT.read_entries(DictNode(root.mark, rest), reading, "")
    if "PartData" not in values:
        raise SpecError(*_sorted(reading.faults))  # without parts all names below would look wrong
    pistons = values.get("Joints", {}).get("Pistons", {})
    beside = points_mentioned({key: values[key] for key in ACTING if key in values} | _angles(values))
    parts = build_parts(values["PartData"], nodes["PartData"], reading, beside, pistons)
    forces: dict[str, Any] = values.get("AppliedForces", {})
    scope = Scope(parts, reading)
    actions = _actions(values, scope)
    constant = build_part_torques(forces.get("ConstTorques", {}), parts, reading)
    actions = replace(actions, part_torques=(*constant, *actions.part_torques))
    gravity = forces.get("Gravity")
    place = nodes["ProblemData"].mark if "ProblemData" in nodes else root.mark
    problem = build_problem(values.get("ProblemData", {}), place, parts, reading)
    return MechSpec(
        path=path,
        text=text,
        title=values.get("Title", ""),
        dimension=reading.dimension,
        parameters=parameters,
        fixed=parts.fixed,
        rigids=tuple(parts.rigids),
        springs=tuple(parts.springs),
        particles=tuple(parts.particles),
        collinear=tuple(parts.collinear),
        gravity=None if isinstance(gravity, dict) else gravity,
        forces=build_forces(forces.get("ConstForces", {}), parts, reading),
        torques=build_torques(forces.get("ConstTorques", {}), parts, reading),
        problem=problem,
        solver=build_solver(values.get("SolverParams", {}), parts, reading),
        animation=build_animation(values, parts.rigid_points | parts.spring_points, reading),
        overrides=dict(overrides),
        files=dict(reading.files.texts),
        actions=actions,
        output=build_output(values.get("Output", {}), nodes["Output"].mark if "Output" in nodes else root.mark, scope),
        reference=build_reference(values, nodes.get("Reference", root).mark, problem, parts, reading),
        sweep=build_sweep(values.get("Sweep"), nodes["Sweep"].mark if "Sweep" in nodes else root.mark, reading),
        tolerances=build_tolerances(values, reading),
        optimize=build_optimize(values, nodes.get("Optimize", root).mark, reading),
    )


def _repeated(root: DictNode, reading: Reading) -> DictNode:
    """Without its repetitions a file makes no sense, so their faults are told alone."""
    found = reading.attempt(repeated, root, reading)
    if found is None:
        raise SpecError(*_sorted(reading.faults))
    return found


def _actions(values: Mapping[str, Any], scope: Scope) -> Actions:
    """Everything that acts; named functions first, because all expressions may use them."""
    functions = build_functions(values, scope)
    springs = values["PartData"].get("Springs", {})
    loads = build_loads(values.get("AppliedForces", {}), springs, scope)
    motion = build_motion(values, scope)
    joints = build_joints(values.get("Joints", {}), scope)
    contacts, events = build_contacts(values, scope), build_events(values, scope)
    return Actions(**functions, **loads, **motion, **joints, **contacts, **events)


def _unless_empty(node: Node | None) -> Node | None:
    return None if getattr(node, "empty", False) else node


def _angles(values: Mapping[str, Any]) -> dict[str, Any]:
    """Where turn angles are named beside what acts."""
    problem, outfile = values.get("ProblemData", {}), values.get("SolverParams", {}).get("OutFile", {})
    return {"angles": problem.get("angles"), "rates": problem.get("rates"), "columns": outfile.get("angles")}


def _names(node: Node | None) -> set[str]:
    return {key.text for key, _ in node.entries} if isinstance(node, DictNode) else set()


def _once_a_place(faults: list[Fault], root: DictNode) -> list[Fault]:
    """What is repeated stands at one place of the file, and so do its faults: the first of them is told."""
    if all(key.text != "Repeat" for key, _ in root.entries):
        return faults
    places: dict[Mark | Fault, dict[Fault, None]] = {}
    for fault in faults:
        places.setdefault(fault.mark or fault, {})[fault] = None
    return [_and_more(*alike) for alike in places.values()]


def _and_more(first: Fault, *others: Fault) -> Fault:
    return replace(first, message=f"{first.message} (and {len(others)} more at this place)") if others else first


def _sorted(faults: list[Fault]) -> list[Fault]:
    """Faults in the order of the file, those of `overrides` first; at most MAX_FAULTS."""
    places = {fault: fault.mark or Mark("", 0, 0) for fault in faults}  # equal faults merge here
    ordered = sorted(places, key=lambda f: (places[f].file != OVERRIDES_FILE, places[f].line, places[f].column))
    more = f"{len(ordered) - MAX_FAULTS}{' or more' if len(faults) > MOST_FAULTS else ''}"
    return ordered[:MAX_FAULTS] + ([Fault(f"and {more} more")] if len(ordered) > MAX_FAULTS else [])


def _decode(content: bytes, name: str) -> str:
    if len(content) > MAX_BYTES:
        raise _too_large(name)
    encoding = "utf-16" if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        before = content[: error.start].decode(encoding, errors="replace")
        mark = Mark(name, before.count("\n") + 1, len(before) - before.rfind("\n"))
        hint = "save the file as UTF-8; is it a mechanism file?"
        raise SpecError(Fault(f"the byte 0x{content[error.start]:02x} is not text", mark, hint)) from None
    return text.replace("\r\n", "\n")


def _too_large(path: str) -> SpecError:
    return SpecError(Fault(f"{path} is larger than {MAX_BYTES // 1_000_000} MB: this cannot be a mechanism file"))
