"""Where energy comes from and goes to: work of forces and drives, and what dampers take, integrated as states.

T + V less the sum of these accounts is constant, whatever acts on the mechanism.
"""

from __future__ import annotations

from mechsim.frozen import frozen
from mechsim.model.mechanism import Element, Mechanism
from mechsim.result.layout import Array, work_states


@frozen
class Account:
    """One account: its coordinate, its column, and whether it is of a drive, of dampers alone, or of forces."""

    index: int
    label: str
    source: str  # "drive", "dissipation", "contact" or "force"


def accounts(mechanism: Mechanism) -> list[Account]:
    """The accounts of a mechanism, in the order of its coordinates."""
    return [
        Account(index, mechanism.variables[index].label, _source(mechanism, element))
        for index, element in work_states(mechanism).items()
    ]


def balances(mechanism: Mechanism, q: Array) -> dict[str, float]:
    """What each account has come to over the rows of q, (k, n)."""
    return {each.label: float(q[-1, each.index] - q[0, each.index]) for each in accounts(mechanism)} if len(q) else {}


def _source(mechanism: Mechanism, element: Element) -> str:
    law = mechanism.laws.get(element.kind)
    if element.is_drive:
        return "drive"
    if element.origin.sort == "contact":
        return "contact"
    return "dissipation" if law and law.dissipation and not law.forces else "force"
