"""What the model of a mechanism says of its energy and momenta: which are conserved, and by what others change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial

import numpy as np

from mechsim.analysis import generators, named_sums
from mechsim.analysis.generators import Asked, Family
from mechsim.analysis.momenta import Balance, Loosened
from mechsim.analysis.named_sums import ENERGY, HAMILTONIAN, Named
from mechsim.analysis.scattered import States
from mechsim.analysis.symmetry import NOTHING, Contact, Rates, rates_of
from mechsim.frozen import frozen
from mechsim.lagrangian.vector import SPACE
from mechsim.model.mechanism import Mechanism
from mechsim.result.layout import Array

MOST_PARTS = 50  # that are looked at by themselves
SAME = 1e-9  # of a momentum: what is left of it beside others that it is a sum of


@frozen(eq=False)
class Claim:
    """A sum of the energy and the momenta of a family, by its factors; `broken` names what changes it."""

    named: Named
    unit: str
    factors: Array
    conserved: bool
    always_zero: bool
    broken: tuple[str, ...] = ()


Claims = list[tuple[Family, list[Claim]]]


class Model:
    """Claims by what happens at states of no special kind. `contacts` are what may push or rub besides."""

    def __init__(self, loosened: Loosened, states: States, contacts: Sequence[Contact], whole: Family):
        self.mechanism: Mechanism = loosened.mechanism
        self.tested: Balance = loosened.at(states.points, states.accelerations, states.multipliers)
        self.contacts, self.whole = contacts, whole

    def claims(self, asked: Sequence[Asked]) -> Claims:
        """Of the whole, of parts by themselves, and of generators that are asked for."""
        found = [(self.whole, self._whole()), *((family, own) for family, own in self._parts() if own)]
        return [*found, (generators.of_user(asked), self._asked(asked))] if asked else found

    @property
    def rigids(self) -> int:
        """How many parts could be looked at by themselves."""
        return sum(generators.has_frame(part, self.mechanism.dimension) for part in self.mechanism.parts)

    @property
    def is_natural(self) -> bool:
        """Whether T + V is the Hamiltonian; not so of a Lagrangian with terms of first degree in the velocities."""
        kinetic, potential = self.tested.energies()
        apart = np.abs(kinetic + potential - self.tested.energy).max()
        return bool(apart <= NOTHING * (np.abs(kinetic) + np.abs(potential)).max())

    def _rates(self, family: Family) -> Rates:
        return rates_of(self.tested, family, self.contacts)

    def _whole(self) -> list[Claim]:
        """The energy and every momentum of a mechanism of parts, and sums of them that are conserved; of a Lagrangian
        the energy, momenta of its coordinates, and such sums."""
        family, rates = self.whole, self._rates(self.whole)
        sums = rates.conserved(family.shifts)
        shown = 1 + (len(family.names) if is_of_a_file(self.mechanism) else family.shifts)
        single = [self._single(rates, number, sums) for number in range(shown)]
        more = [row for row in sums if np.count_nonzero(row) > 1 or not row[:shown].any()]
        several = [
            Claim(self._named(row), self._unit(row), row, True, False) for row in more if not rates.is_nothing(row)
        ]
        return single + several

    def _unit(self, row: Array) -> str:
        """Of a sum: that of what counts once in it; factors of the others have units of their own."""
        energy = "J" if is_of_a_file(self.mechanism) else ""
        units = [energy, *self.whole.units]
        once = [unit for unit, factor in zip(units, row, strict=True) if abs(abs(factor) - 1) <= named_sums.ROUNDED]
        return once[0] if len(set(once)) == 1 else ""

    def _single(self, rates: Rates, number: int, sums: Array) -> Claim:
        row = np.eye(len(self.whole.names) + 1)[number]
        conserved = any(np.count_nonzero(each) == 1 and each[number] for each in sums)
        unit = self.whole.units[number - 1] if number else "J" if is_of_a_file(self.mechanism) else ""
        broken = () if conserved else rates.broken(number)
        return Claim(self._named(row), unit, row, conserved, rates.is_nothing(row), broken)

    def _named(self, row: Array) -> Named:
        if is_of_a_file(self.mechanism):
            names = [ENERGY, *self.whole.names]
            return named_sums.of_mechanism(row, names, self._fixed, self.mechanism.dimension)
        text = named_sums.written(row, [HAMILTONIAN, *self.whole.names])
        return Named(text, "Hamiltonian v . dL/dv - L" if text == HAMILTONIAN else f"momentum {text}")

    @cached_property
    def _fixed(self) -> dict[str, Array]:
        """Points that do not move, with their places."""
        mechanism, first = self.mechanism, self.tested.loosened.moving
        fixed = {name: list(slots) for name, slots in mechanism.points.items() if min(slots) >= first}
        return {name: self.tested.q[0, slots] for name, slots in fixed.items()}

    def _parts(self) -> Iterator[tuple[Family, list[Claim]]]:
        """Momenta of single parts by themselves: where one is round, say, its spin is conserved."""
        dimension = self.mechanism.dimension
        rigids = [part for part in self.mechanism.parts if generators.has_frame(part, dimension)]
        for part in rigids if len(rigids) <= MOST_PARTS else ():
            own = generators.of_part(part, self.mechanism)
            yield own, self._of_part(own, partial(named_sums.of_part, part=part.name, dimension=dimension))
            if dimension == SPACE:
                still = generators.in_place(part, self.mechanism)
                yield still, self._of_part(still, partial(named_sums.in_place, part=part.name, names=still.names))

    def _of_part(self, family: Family, named: Callable[[Array], Named]) -> list[Claim]:
        rates = self._rates(family)
        sums = rates.conserved(family.shifts)
        found = [row for row in sums if not row[0] and not rates.is_nothing(row) and self._is_new(rates.values @ row)]
        # Shifts come first: a sum with a turn in it is an angular momentum.
        return [Claim(named(row), family.units[np.flatnonzero(row)[-1] - 1], row, True, False) for row in found]

    def _is_new(self, value: Array) -> bool:
        """Whether a momentum is no sum of those of the whole, and of parts that were looked at before."""
        known = np.column_stack(self._known)
        left = value - known @ np.linalg.lstsq(known, value, rcond=None)[0]
        self._known.append(value)
        return bool(np.abs(left).max() > SAME * np.abs(value).max())

    @cached_property
    def _known(self) -> list[Array]:
        return list(self.tested.momenta(self.whole.moved(self.tested)[0])[0].T)

    def _asked(self, asked: Sequence[Asked]) -> list[Claim]:
        rates = self._rates(generators.of_user(asked))
        found = []
        for number, each in enumerate(asked, 1):
            row, kept = np.eye(len(asked) + 1)[number], rates.is_conserved(number)
            broken = () if kept else rates.broken(number)
            named = Named(each.name, "momentum along the generator")
            found.append(Claim(named, "", row, kept, rates.is_nothing(row), broken))
        return found


def is_of_a_file(mechanism: Mechanism) -> bool:
    return any(element.origin.sort for element in mechanism.elements)
