"""Why a motion may have stopped where it did: what is special about the last position, in mechanism words."""

from __future__ import annotations

import numpy as np

from mechsim.model.mechanism import Mechanism
from mechsim.structure.positions import Array, Constrained, scaled_jacobian
from mechsim.structure.redundancy import DENSE, concerned

# Rows whose least independent combination is shorter than this are about to become dependent; the rows of mechanisms
# in ordinary positions keep it above a few hundredths.
NEARLY_DEPENDENT = 1e-3
SINGULAR = 1e-3
NAMED = 0.1  # rows with a smaller share in that combination are not to blame
ENDS_MEET = 1e-3  # of its length: nearer ends turn a spring's force faster than steps can follow


def why_stopped(system: Constrained, t: float, q: Array, crossing: bool = True) -> str:
    """A sentence about the position q, or nothing when it looks ordinary. `crossing`: steps may carry across it."""
    if springs := meeting_springs(system.mechanism, q, ENDS_MEET):
        return f"there the ends of spring {', '.join(springs)} meet, and its force has no direction"
    names, _ = _nearly_dependent(system, t, q)
    if names:
        # Formulas may prescribe motion, which no tolerance carries beyond its reach.
        advice = "" if system.mechanism.laws or not crossing else "; a looser tolerance may step across"
        return (
            f"there the constraints of {', '.join(names)} become dependent (a dead centre or change point), where the "
            f"mechanism may lock or go on in more than one way{advice}"
        )
    return ""


def near_singular(system: Constrained, t: float, q: Array) -> str:
    """A note about a start at rest so near a singular position that digits are lost, or nothing.

    A rounding of positions is amplified by the inverse of how independent the constraints are, and changes velocities
    by that once more.
    """
    names, independence = _nearly_dependent(system, t, q)
    if not names:
        return ""
    lost = min(16, round(-2 * np.log10(max(independence, 1e-16))))
    return (
        f"the start is close to a singular position (a dead centre): the constraints of {', '.join(names)} are nearly "
        f"dependent there, and about {lost} of 16 digits of the motion are lost"
    )


def is_singular(system: Constrained, t: float, q: Array) -> bool:
    """Whether the constraints are dependent at q, or so nearly that accelerations there are worth little."""
    return _nearly_dependent(system, t, q)[1] < SINGULAR


def meeting_springs(mechanism: Mechanism, q: Array, share: float) -> list[str]:
    """Springs whose ends are nearer to each other than this share of their length at rest.

    A spring of no length pulls by its ends' difference, smooth also where they meet: it is not listed.
    """
    constants = np.asarray(mechanism.constants)
    found = []
    for element in mechanism.elements:
        if element.kind == "spring" and element.parameters["length"] != 0:
            ends = np.array([q[slot] if slot >= 0 else constants[-1 - slot] for slot in element.slots])
            first, second = ends.reshape(2, -1)
            if float(np.linalg.norm(second - first)) <= share * element.parameters["length"]:
                found.append(element.owner)
    return found


def _nearly_dependent(system: Constrained, t: float, q: Array) -> tuple[list[str], float]:
    """Owners of the constraints that nearly say the same at q, and how independent they still are (1: fully)."""
    if not 0 < system.m <= min(DENSE, system.n) or not np.all(np.isfinite(q)):
        return [], 1.0
    left, lengths, _ = np.linalg.svd(scaled_jacobian(system, t, q)[0], full_matrices=False)
    if lengths[-1] > NEARLY_DEPENDENT:
        return [], 1.0
    shares = np.abs(left[:, -1])
    rows = [row for row in range(system.m) if shares[row] > NAMED * shares.max()]
    return list(dict.fromkeys(owner for owner, _ in concerned(system, rows))), float(lengths[-1])
