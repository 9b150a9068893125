"""What coordinates of a user's Lagrangian reach: its constraints at one time, with limits and quantities as rows (see
analysis/reach.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mechsim.analysis.limits import Limits, limit_texts
from mechsim.analysis.reach import Reach
from mechsim.analysis.unforced import unforced
from mechsim.facility.lowering import numbers
from mechsim.facility.rows import Asked
from mechsim.kernel.system import System
from mechsim.model.mechanism import Mechanism
from mechsim.result.layout import Array
from mechsim.structure import redundancy


def limit_rows(limits: Limits) -> dict[str, str]:
    """What stays above zero, by name. Raises SpecError."""
    rows: dict[str, str] = {}
    for name, given in limits.items():
        low, high = limit_texts(name, given)
        rows |= {f"{name} min": f"({name}) - ({low})"} if low is not None else {}
        rows |= {f"{name} max": f"({high}) - ({name})"} if high is not None else {}
    return rows


def sized(mechanism: Mechanism, turning: Sequence[str], scales: Mapping[str, float]) -> Mechanism:
    """With these sizes of coordinates, and with angles. Raises MechsimError."""
    names = [variable.label for variable in mechanism.variables]
    numbers(dict.fromkeys(turning, 0.0), names, "turning")
    known = {**dict.fromkeys(turning, 1.0), **numbers(scales, names, "scales")}
    return replace(
        mechanism,
        variables=tuple(
            replace(each, kind="angle" if each.label in turning else each.kind, scale=known.get(each.label, each.scale))
            for each in mechanism.variables
        ),
    )


def reach_of(own: System, asked: Asked, t: float, q: Array) -> Reach:
    """From a pose on. Raises AssemblyError where what is held cannot hold."""
    whole = unforced(System(asked.mechanism, own.kinds), t)
    spare = redundancy(unforced(own, t), t, q).rows  # the user's own constraints come first
    whole = whole.without(spare)
    labels = list(whole.labels[whole.n :])
    goals, held, limits = (tuple(labels.index(label) for label in each) for each in asked.labels)
    fixed = tuple(row for row in range(len(labels)) if row not in goals and row not in limits)
    return Reach(whole, t, q, fixed, limits, goals).holding(held)
