"""What a point of a file's mechanism reaches: its equations with limits, and quantities as constraints that can be
differentiated twice (see analysis/reach.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mechsim import simulation
from mechsim.analysis.limits import Limit, Limits, limit_texts
from mechsim.analysis.reach import Reach
from mechsim.analysis.unforced import unforced
from mechsim.analysis.workspace import Workspace, workspace_of
from mechsim.errors import AssemblyError, Fault, MechsimError, SpecError
from mechsim.handle.placed import point_texts
from mechsim.handle.poses import column_of, position_of
from mechsim.handle.symmetries import told
from mechsim.kernel.system import System
from mechsim.model import build
from mechsim.model.mechanism import Mechanism
from mechsim.spec import parse
from mechsim.spec.document import MechSpec
from mechsim.spec.names import AXES
from mechsim.spec.rewriting import with_entries
from mechsim.structure import redundancy


def workspace(spec: MechSpec, of: str | Sequence[str], limits: Limits, hold: Mapping[str, float | str]) -> Workspace:
    """`of` is a point, or two quantities. Raises SpecError, AssemblyError."""
    names, texts = _wanted(spec, of, hold)
    bounds = {name: _bounds(name, given) for name, given in limits.items()}
    held = {name: str(value) for name, value in hold.items()}
    wanted = {column_of(name) for name in held}
    text = with_entries(spec.text, "Stops", bounds, lambda key: key in bounds) if bounds else spec.text
    start = told(_read(spec, text), {f"reached_{k}": each for k, each in enumerate(texts)})
    try:
        prepared = simulation.prepare(start)
    except AssemblyError as error:
        raise AssemblyError(*_own_places(error, spec)) from None
    if held:
        text = with_entries(text, "Drives", held, lambda key: column_of(key) in wanted)
    driven = with_entries(text, "Drives", dict.fromkeys(texts, "0"), lambda key: False)
    system = System(build(told(_read(spec, driven), {f"reached_{k}": each for k, each in enumerate(texts)})))
    reach, notes, called = _reach(system, prepared, wanted)
    kinds = [_unit(each) for each in texts]
    return workspace_of(reach, names, (kinds[0], kinds[1]), called, notes)


def _read(spec: MechSpec, text: str) -> MechSpec:
    try:
        return parse(text, spec.path, spec.overrides, spec.files, tables_from=None if spec.files else ())
    except SpecError as error:
        raise SpecError(*_own_places(error, spec)) from None


def _own_places(error: MechsimError, spec: MechSpec) -> list[Fault]:
    """What is wrong, without places that are not in the user's own file."""
    own = len(spec.text.splitlines())
    faults = (
        Fault(each.message, None if each.mark and each.mark.line >= own else each.mark, each.hint)
        for each in error.faults
    )
    return list(dict.fromkeys(faults))


def _wanted(
    spec: MechSpec, of: str | Sequence[str], hold: Mapping[str, float | str]
) -> tuple[tuple[str, str], list[str]]:
    """What the axes are called, and their expressions."""
    if not isinstance(of, str):
        texts = [position_of(each) for each in of]
        if held := next((each for each in texts if each in map(position_of, hold)), None):
            hint = "name another quantity, or let it go"
            raise SpecError(Fault(f"{held} is held, so it goes nowhere", hint=hint))
        if len(texts) != 2:
            raise SpecError(Fault(f"a workspace is of a point or of two quantities, not of {len(texts)}"))
        return (texts[0], texts[1]), texts
    if of in spec.fixed:
        raise SpecError(Fault(f"{of} is fixed: it reaches no other place", hint="name a point that moves"))
    label, found = point_texts(spec, of)
    axes = [axis for axis in AXES[: spec.dimension] if f"{label}.{axis}" not in map(position_of, hold)]
    if len(axes) != 2:
        if len(axes) > 2:
            hint = f"hold one of its coordinates: a section at {label}.y=0"
            raise SpecError(Fault(f"what {label} reaches in space is a body", hint=hint))
        hint = "name two quantities that are not held, such as an angle beside it, or hold less"
        raise SpecError(Fault(f"with that held {label} goes along a line, or not at all: it has no area", hint=hint))
    names = [f"{label}.{axis}" if ":" not in label else axis for axis in axes]
    return (names[0], names[1]), [position_of(found[AXES.index(axis)]) for axis in axes]


def _bounds(name: str, given: Limit) -> str:
    """As an entry of Stops. Raises SpecError."""
    pair = zip(("min", "max"), limit_texts(name, given), strict=True)
    words = [f'{key}: "{each}"' for key, each in pair if each is not None]
    return "{" + ", ".join([*words, "e: 0"]) + "}"


def _unit(text: str) -> str:
    return "rad" if text.startswith("theta_") and "-" not in text else "m"


def _reach(system: System, prepared: simulation.Prepared, held: set[str]) -> tuple[Reach, list[str], list[str]]:
    mechanism, t = system.mechanism, float(prepared.start.t)
    notes: list[str] = []
    drives = [number for number, element in enumerate(mechanism.elements) if element.is_drive]
    wanted = drives[-2:]
    freed = {k for k in drives[:-2] if column_of(mechanism.elements[k].origin.name) not in held}
    limits = _limits(mechanism, notes)
    whole = unforced(system, t, freed, limits)
    labels = list(whole.labels[whole.n :])
    own = dict(zip(prepared.system.labels, prepared.start.positions, strict=False))
    q = np.array([own.get(label, 0.0) for label in whole.labels[: whole.n]])
    bare = unforced(system, t, freed | set(wanted), [k for k in limits if mechanism.gaps[k].bond])
    spare = [bare.labels[bare.n + row] for row in redundancy(bare, t, q).rows]
    whole = whole.without([labels.index(label) for label in spare])
    labels = list(whole.labels[whole.n :])
    gaps = [k for k in limits if not mechanism.gaps[k].bond]
    rows = [
        labels.index(mechanism.elements[mechanism.gaps[k].element].multipliers[mechanism.gaps[k].place]) for k in gaps
    ]
    goals = [labels.index(mechanism.elements[k].multipliers[0]) for k in wanted]
    fixed = tuple(row for row in range(len(labels)) if row not in rows and row not in goals)
    kept = [k for k in drives[:-2] if k not in freed]
    hold = tuple(labels.index(mechanism.elements[k].multipliers[0]) for k in kept)
    reach = Reach(whole, t, q, fixed, tuple(rows), tuple(goals)).holding(hold)
    return reach, notes, [mechanism.gaps[k].name for k in gaps]


def _limits(mechanism: Mechanism, notes: list[str]) -> list[int]:
    """Gaps that are limits, and bonds that hold."""
    lent = {each.gap for pair in mechanism.pairs for each in pair.lent}
    if lent:
        notes.append("outlines may touch in many ways, which are left aside: parts may overlap")
    kept = [k for k in range(len(mechanism.gaps)) if k not in lent]
    return [k for k in kept if not mechanism.gaps[k].bond or mechanism.constants[mechanism.gaps[k].mode]]
