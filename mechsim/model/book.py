"""What is written down while a mechanism is built: variables, constants, elements, laws, switches, samplers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mechsim.errors import Fault, Mark, Note, SpecError
from mechsim.lagrangian.formula import LEAVES, TIME, Formula, constant, renamed, symbol
from mechsim.lagrangian.law import Law
from mechsim.model.grip import Grip
from mechsim.model.labels import unused
from mechsim.model.layout import Layout
from mechsim.model.mechanism import Element, Port, Sampler, Switch, Variable, titled
from mechsim.model.origin import NOT_OF_A_FILE, Origin
from mechsim.spec.expression import MAX_DEPTH

# People type lengths with ten digits or so; a misfit below this share of what is compared is their rounding.
FIT_TOLERANCE = 1e-9
MAX_SIZE = 5000  # operations of one formula; a person's are below a hundred
Forces = list[tuple[int, Formula]]  # slot, generalised force on it
Labelled = list[tuple[str, Formula]]
Held = tuple[int] | tuple[int, str]  # the slot of a coordinate and, if it is told, the part whose it is


@dataclass(slots=True)
class Draft:
    """One element to be, its formulas over slots of the mechanism (see Law for their meaning).

    states: (slot, rate) of its own states. account: the label under which its work is integrated, or "" for none.
    on_parts: its forces act on parts, which feel them at fixed points too, where the ground holds them.
    """

    owner: str
    mark: Mark | None
    potential: Formula | None = None
    dissipation: Formula | None = None
    forces: Forces = field(default_factory=list)
    constraints: Labelled = field(default_factory=list)
    nonholonomic: Labelled = field(default_factory=list)
    push: Formula | None = None  # a force along its one nonholonomic constraint
    states: Forces = field(default_factory=list)
    signals: list[Formula] = field(default_factory=list)
    account: str = ""
    shares: int | None = None  # the slot of another element's account that its work is added to
    scale: float = 0.0  # of its work; 0: the energy typical of what it acts on
    grips: list[Grip] = field(default_factory=list)
    on_parts: bool = False
    origin: Origin = NOT_OF_A_FILE
    readout: bool = False  # only tells values, so it is kept even where nothing moves
    phased: bool = False  # a constant of its constraint is chosen so that the first placement meets it

    def formulas(self) -> list[Formula]:
        """All of them, in a fixed order: local names are given in the order of appearance."""
        energies = [part for part in (self.potential, self.dissipation, self.push) if part is not None]
        rows = [row for _, row in (*self.forces, *self.constraints, *self.nonholonomic, *self.states)]
        return [*energies, *rows, *self.signals]


class Book:
    """Elements of laws, added one by one to those that have kinds of their own."""

    def __init__(self, layout: Layout, elements: Iterable[Element]):
        self.variables = list(layout.variables)
        self.constants = list(layout.constants)
        self._labels = {variable.label for variable in layout.variables}
        self._constraints: set[str] = set()
        self.elements = [self._labelled(element) for element in elements]
        self.layout = layout
        self.drafts: dict[int, Draft] = {}  # by the number of their elements
        self.laws: dict[str, Law] = {}
        self.samplers: list[Sampler] = []
        self.inputs: dict[str, Port] = {}
        self.guesses: dict[int, float] = {}
        self.notes: list[Note] = []
        self.faults: list[Fault] = []  # `build` raises them together
        self._switches: dict[float, dict[int, float]] = {}
        self.break_at_end: float | None = None
        self._timed: set[int] = set()

    def variable(self, label: str, owner: str, kind: str, scale: float) -> int:
        """A new variable; its slot."""
        self.variables.append(Variable(unused(label, self._labels), owner, kind, scale))
        return len(self.variables) - 1

    def _labelled(self, element: Element) -> Element:
        """With labels of constraints that no other has: whoever reads a multiplier finds it by its label."""
        labels = tuple(unused(label, self._constraints) for label in element.multipliers)
        return element if labels == element.multipliers else replace(element, multipliers=labels)

    def constant(self, value: float) -> int:
        """A new constant, which a switch or a sampler may change; its slot."""
        self.constants.append(value)
        return -len(self.constants)

    def in_time(self, slots: Iterable[int]) -> None:
        """Constants that change with time, though perhaps not within the run."""
        self._timed.update(slots)

    def switch(self, time: float, slot: int, value: float) -> None:
        self._switches.setdefault(time, {})[-1 - slot] = value

    @property
    def switches(self) -> tuple[Switch, ...]:
        return tuple(Switch(time, values) for time, values in sorted(self._switches.items()))

    def changes_with_time(self, tree: Formula) -> bool:
        """Whether a formula changes though nothing moves: by the time itself, or by a table or piecewise function. That
        does not depend on when a run ends, so neither do the coordinates of a mechanism."""
        return tree.uses("t") or any(
            leaf.operation == "x" and leaf.operands[0] in self._timed for leaf in tree.leaves()
        )

    def add(self, draft: Draft) -> int | None:
        """The number of the new element; None when it touches nothing that can move and no part feels it."""
        forces: dict[int, Formula] = {}
        for slot, force in draft.forces:
            if (slot >= 0 or draft.on_parts) and not (force.is_number and force.value == 0):
                forces[slot] = forces[slot] + force if slot in forces else force
        draft.forces = list(forces.items())
        for tree in draft.formulas():
            refuse_large(tree, draft.owner, draft.mark)
        self._leave_out_what_holds_nothing(draft)
        leaves = list(dict.fromkeys(leaf for tree in draft.formulas() for leaf in tree.leaves()))
        moving = [leaf for leaf in leaves if leaf.operation in "xva"]
        held = _held(draft, moving)
        slots = [slot for slot, *_ in held]
        if all(slot < 0 for slot in slots):
            if not draft.readout and not draft.on_parts:
                return None
            slots.append(0)  # a function of time alone, or a load on what stands still, belongs to some variable
            held.append((0,))
        parameters = [leaf for leaf in leaves if leaf.operation == "p"]
        observed = [leaf for leaf in leaves if leaf.operation == "m"]
        own = len(draft.constraints) + len(draft.nonholonomic)
        local = {TIME: TIME}
        local |= {leaf: Formula(leaf.operation, (held.index(leaf.operands),)) for leaf in moving}
        local |= {leaf: Formula("p", (index,)) for index, leaf in enumerate(parameters)}
        local |= {leaf: Formula("m", (own + index,)) for index, leaf in enumerate(observed)}
        if draft.shares is not None:
            slots.append(draft.shares)
            held.append((draft.shares,))
        elif draft.account:
            energy = draft.scale or self.layout.typical(slots).energy
            slots.append(self.variable(draft.account, draft.owner, "state", energy))
            held.append((slots[-1],))
        law = _law(draft, slots, len(parameters), len(observed), local)
        self.laws[law.name] = law
        element = Element(
            kind=law.name,
            owner=draft.owner,
            slots=tuple(slots),
            parameters={symbol(local[leaf]): leaf.operands[1] for leaf in parameters},
            multipliers=tuple(label for label, _ in (*draft.constraints, *draft.nonholonomic)),
            mark=draft.mark,
            observed=tuple(leaf.operands[0] for leaf in observed),
            account=law.account,
            grips=tuple(draft.grips),
            origin=draft.origin,
            phased=draft.phased,
            sides=tuple(side[0] if side else "" for _, *side in held) if any(len(each) > 1 for each in held) else (),
        )
        self.elements.append(self._labelled(element))
        number = len(self.elements) - 1
        self.drafts[number] = draft
        return number

    def _leave_out_what_holds_nothing(self, draft: Draft) -> None:
        """Constraints in which nothing can change are left out; one that does not hold then is a fault."""
        for rows in (draft.constraints, draft.nonholonomic):
            for label, row in [each for each in rows if not moves(each[1])]:
                rows.remove((label, row))
                if not draft.phased:
                    self.faults += self._misfit(row, titled(draft.owner, draft.origin), draft.mark)

    def _misfit(self, row: Formula, title: str, mark: Mark | None) -> list[Fault]:
        """Why a row of nothing but constants and time does not stay zero, if so."""
        if self.changes_with_time(row):
            return [Fault(f"{title} changes with time, but nothing in it can move", mark, "remove it")]
        value, size = constant(row, constants=self.constants), _magnitude(row, self.constants)
        if abs(value) <= FIT_TOLERANCE * size:
            return []
        message = f"{title} cannot be met: nothing in it can change, and it is off by {abs(value):.6g}"
        return [Fault(message, mark, "the parts and fixed points decide it already: change it, or remove it")]


def _law(draft: Draft, slots: list[int], parameters: int, observed: int, local: Mapping[Formula, Formula]) -> Law:
    """A draft's formulas over their `local` leaves."""

    def own(formulas: Iterable[Formula]) -> tuple[Formula, ...]:
        return tuple(renamed(each, local) for each in formulas)

    return Law(
        variables=len(slots),
        parameters=parameters,
        potential=renamed(draft.potential, local) if draft.potential is not None else None,
        dissipation=renamed(draft.dissipation, local) if draft.dissipation is not None else None,
        forces={slots.index(slot): renamed(force, local) for slot, force in draft.forces},
        constraints=own(row for _, row in draft.constraints),
        nonholonomic=own(row for _, row in draft.nonholonomic),
        push=renamed(draft.push, local) if draft.push is not None else None,
        observed=observed,
        states=own(rate for _, rate in draft.states),
        account=bool(draft.account) or draft.shares is not None,
        shares=draft.shares is not None,
        signals=own(draft.signals),
    )


def moves(row: Formula) -> bool:
    """Whether a row has a coordinate or velocity of something that can move, or a multiplier."""
    return any(leaf.operation in "vam" or (leaf.operation == "x" and leaf.operands[0] >= 0) for leaf in row.leaves())


def _magnitude(tree: Formula, constants: Sequence[float]) -> float:
    """What a formula of constants would come to without cancelling: its value is to be compared with this."""
    sizes = [] if tree.operation in LEAVES else [_magnitude(operand, constants) for operand in tree.operands]
    if tree.operation in ("+", "-", "neg"):
        return sum(sizes)
    if tree.operation == "*":
        return sizes[0] * sizes[1]
    if tree.operation == "/":
        return sizes[0] / abs(constant(tree.operands[1], constants=constants))
    value = abs(constant(tree, constants=constants))
    return max(1.0, value) if tree.operation in ("sin", "cos") else value


def refuse_large(tree: Formula, owner: str, mark: Mark | None) -> None:
    """Signals within signals may multiply a formula beyond all measure."""
    if tree.size > MAX_SIZE:
        message = f"the formula of {owner} grows to {tree.size} operations when its signals are put in"
        raise SpecError(Fault(message, mark, f"{MAX_SIZE} are allowed: use fewer signals within signals"))
    if tree.depth >= MAX_DEPTH:
        message = f"the formula of {owner} is nested {tree.depth} deep when its signals are put in"
        raise SpecError(Fault(message, mark, f"{MAX_DEPTH - 1} are allowed: use fewer signals within signals"))


def _held(draft: Draft, moving: list[Formula]) -> list[Held]:
    """Coordinates and constants in the order of appearance, then the draft's own states."""
    states: list[Held] = [(slot,) for slot, _ in draft.states]
    named: list[Held] = [(slot,) for slot, _ in draft.forces] + [leaf.operands for leaf in moving]
    return [each for each in dict.fromkeys(named) if each not in states] + states
