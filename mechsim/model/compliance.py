"""Contacts that give way: what they push with is a function of how deep they are entered, and how fast (Hunt and
Crossley 1975), and nothing else is asked of the motion.

The force begins at a depth, which is a switch (`Quantities.sign`): the march steps on it exactly. A power that is no
whole number has no series where the depth is zero, so there the force begins a little deeper, at LEAST of the
mechanism's size.
"""

from __future__ import annotations

from mechsim.errors import Fault
from mechsim.lagrangian.formula import TIME, Formula, derivative, formula, number, parameter, velocity
from mechsim.model.book import Book, Draft, Forces, moves
from mechsim.model.contacts import contact_row, grips_of, stop_rows
from mechsim.model.origin import Origin
from mechsim.model.quantities import Quantities
from mechsim.spec.actions import Compliance, Contact, Stop
from mechsim.spec.motion import plain_name

LEAST = 1e-9  # of the size: the energy of a depth below is 1e-18 of one of a thousandth, or less


def add_compliances(quantities: Quantities, book: Book) -> dict[str, int]:
    """Elements of all contacts and stops that give way; and those that tell how hard each pushes, by their columns."""
    actions, columns = quantities.spec.actions, {}
    found: list[tuple[Contact | Stop, Compliance, tuple[str, Formula]]] = []
    found += [(each, each.compliance, contact_row(each, quantities)) for each in actions.contacts if each.compliance]
    found += [
        (each, each.compliance, row) for each in actions.stops if each.compliance for row in stop_rows(each, quantities)
    ]
    for given, law, (name, gap) in found:
        if not moves(gap):
            hint = "its points are on one part, or fixed in the world: remove it"
            book.faults.append(Fault(f"contact {given.name}: nothing in it can move", given.mark, hint))
            continue
        label = plain_name(name)
        draft, push = _drafted(name, gap, law, quantities)
        draft.grips = grips_of(given, quantities) if isinstance(given, Contact) else []
        draft.mark, draft.account = given.mark, f"work_contact_{label}" if draft.account else ""
        book.add(draft)
        told = Draft(f"contact {name}", given.mark, signals=[push], readout=True, origin=Origin("signal", name))
        element = book.add(told)
        assert element is not None  # a readout is kept
        columns[f"contact_{label}"] = element
        book.add(
            Draft(f"gap of {name}", None, signals=[gap], readout=True, origin=Origin("soft contact", name))
        )  # drawn
    return columns


def _drafted(name: str, gap: Formula, law: Compliance, quantities: Quantities) -> tuple[Draft, Formula]:
    """Its potential and what damping adds to it; and how hard it pushes."""
    stiffness, damping = parameter("stiffness", law.stiffness.value), law.damping.value
    exponent = number(float(law.exponent.value))
    depth, least = -gap, number(0)
    if not float(law.exponent.value).is_integer():
        length = parameter("length", quantities.layout.size)
        least = LEAST * length
    entered = (1 + quantities.sign(depth - least, at_first=-1.0)) / 2
    if not least.is_number:
        depth = entered * depth + (1 - entered) * length  # where it is open its power has a value too
    elastic = entered * stiffness * depth**exponent
    draft = Draft(f"contact {name}", None, origin=Origin("contact", name))
    draft.potential = entered * stiffness / (exponent + 1) * depth ** (exponent + 1)
    slopes, rate = _slopes(gap)
    push = elastic
    if damping:
        share = 1 - parameter("damping", 1.5 * damping) * rate
        held = (1 + quantities.sign(share)) / 2  # it never pulls
        push = elastic * held * share
        draft.forces = [(slot, (push - elastic) * slope) for slot, slope in slopes]
    draft.account = "needed" if damping or quantities.book.changes_with_time(draft.potential) else ""
    return draft, push


def _slopes(gap: Formula) -> tuple[Forces, Formula]:
    """How the gap widens with each coordinate, and its rate."""
    leaves = sorted({leaf for leaf in gap.leaves() if leaf.operation == "x" and leaf.operands[0] >= 0}, key=str)
    slopes = [(leaf.operands[0], formula(derivative(gap, leaf))) for leaf in leaves]
    rate = formula(derivative(gap, TIME)) if gap.uses("t") else number(0)
    for slot, slope in slopes:
        rate = rate + slope * velocity(slot)
    return slopes, rate
