"""Which sums of momenta are conserved: those whose rates vanish at states of no special kind.

Rates of momenta along generators are linear in the generators. So all sums, with constant factors, of the energy, of
momenta along each axis and of angular momenta about each are tried at once: the null space of their rates. A rotation
about any point, a screw about any axis and the energy as seen in a frame that turns are such sums.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from mechsim.analysis.generators import Family
from mechsim.analysis.momenta import Balance, Loosened
from mechsim.frozen import frozen
from mechsim.kernel.linear import null_space
from mechsim.kernel.system import System
from mechsim.model.mechanism import Lent, Pair
from mechsim.result.layout import Array

# Of the sum of the sizes of all terms: below, a rate is rounding.
NOTHING = 1e-11
ROUNDED, SMALL = 2e-14, 1e-9  # of what single forces could do
SAME = 1e-8  # of the largest factor of a sum: below, a factor is none
ENOUGH = 8  # states at which contacts are looked at: each gives several rows
MOST_WAYS = 6  # of two outlines to touch, that are looked at


@frozen(eq=False)
class Rates:
    """Of the energy and of momenta along generators, at states: values and rates, with the sums of the sizes of their
    terms, (states, quantities); by what they change; and rows of what contacts would do to them."""

    values: Array
    value_sizes: Array
    rates: Array
    rate_sizes: Array
    terms: dict[str, Array]
    contacts: dict[str, Array]

    @classmethod
    def joined(cls, parts: Sequence[Rates]) -> Rates:
        """Of the states of all parts, one after the other."""
        names = dict.fromkeys(name for each in parts for name in each.terms)
        columns = [
            np.concatenate([getattr(each, name) for each in parts])
            for name in ("values", "value_sizes", "rates", "rate_sizes")
        ]
        terms = {
            name: np.concatenate([each.terms.get(name, np.zeros_like(each.values)) for each in parts]) for name in names
        }
        return cls(columns[0], columns[1], columns[2], columns[3], terms, {})

    @property
    def along(self) -> tuple[Array, Array]:
        """Values and rates."""
        return self.values, self.rates

    @property
    def _sizes(self) -> Array:
        """The largest that any rate could be, were there no cancelling; 1 where nothing acts. Where all that anything
        does is far less and no rounding, as what a light knee is turned by the load that it carries, it is that."""
        largest = self.rate_sizes.max(axis=0, initial=0.0)
        done = np.max([np.abs(each).max(axis=0, initial=0.0) for each in self.terms.values()] or [0 * largest], axis=0)
        small = (done > ROUNDED * largest) & (done < SMALL * largest)
        return np.where(small, done, np.where(largest > 0, largest, 1.0))

    @property
    def matrix(self) -> Array:
        """Rates in units of their sizes, and rows of contacts, each as large as one can be."""
        rows = [self.rates / self._sizes]
        for each in self.contacts.values():
            sized = each / np.maximum(np.abs(each).max(initial=0.0), 1e-300)
            rows.append(np.where(np.abs(sized) > SAME, sized, 0.0))
        return np.concatenate(rows)

    def conserved(self, shifts: int) -> Array:
        """All sums that are, by their factors, (sums, quantities): each has one factor 1 that the others have not. That
        is of the energy, if it can be, rather of an angular momentum than of one of the `shifts` that come first."""
        matrix = self.matrix
        triangle = np.linalg.qr(matrix)[1]  # rows may be many
        found = null_space(triangle, absolute=NOTHING * np.sqrt(len(matrix))).T
        order = [0, *range(1 + shifts, found.shape[1]), *range(1, 1 + shifts)]
        rows = reduced(found[:, order])[:, np.argsort(order)] / self._sizes
        first = [next(k for k in order if row[k]) for row in rows]
        return rows / rows[np.arange(len(rows)), first][:, None] if len(rows) else rows

    def is_conserved(self, quantity: int) -> bool:
        """Whether one of them is, by itself."""
        quiet = np.abs(self.rates[:, quantity]).max(initial=0.0) <= NOTHING * self._sizes[quantity]
        return bool(quiet and not any(self._touches(each, quantity) for each in self.contacts.values()))

    def _touches(self, contact: Array, quantity: int) -> bool:
        return bool(np.abs(contact[:, quantity]).max(initial=0.0) > SAME)

    def largest(self, name: str, factors: Array) -> float:
        """The most that something did to a sum."""
        return float(np.abs(self.terms[name] @ factors).max(initial=0.0)) if name in self.terms else 0.0

    def broken(self, quantity: int) -> tuple[str, ...]:
        """By what one of them changes, most of all first."""
        largest = {name: float(np.abs(each[:, quantity]).max(initial=0.0)) for name, each in self.terms.items()}
        limit = max(NOTHING * float(self._sizes[quantity]), SAME * max(largest.values(), default=0.0))
        acting = sorted((name for name, size in largest.items() if size > limit), key=lambda name: -largest[name])
        touching = [name for name, each in self.contacts.items() if self._touches(each, quantity)]
        return (*acting, *touching)

    def is_nothing(self, factors: Array) -> bool:
        """Whether a sum is zero at all states."""
        value = np.abs(self.values @ factors).max(initial=0.0)
        return bool(value <= NOTHING * (self.value_sizes @ np.abs(factors)).max(initial=0.0))


def rates_of(balance: Balance, family: Family, contacts: Sequence[Contact] = ()) -> Rates:
    generators, changes = family.moved(balance)
    generators = balance.completed(generators)
    momenta, momentum_sizes = balance.momenta(generators)
    terms, sizes = balance.rates(generators, changes)
    powers, power_sizes = balance.powers()
    kinetic, potential = balance.energies()
    energy_sizes = np.abs(kinetic) + np.abs(potential)
    none = np.zeros((len(balance.t), len(family.names) + 1))
    together = {name: none.copy() for name in (*powers, *terms)}
    for name, power in powers.items():
        together[name][:, :1] += power
    for name, term in terms.items():
        together[name][:, 1:] += term
    return Rates(
        np.column_stack([balance.energy, momenta]),
        np.column_stack([energy_sizes, momentum_sizes]),
        sum(together.values(), none),
        np.column_stack([power_sizes, sizes]),
        together,
        _by_name((each.name, each.row(balance, generators)) for each in contacts),
    )


def _by_name(rows: Iterable[tuple[str, Array]]) -> dict[str, Array]:
    found: dict[str, Array] = {}
    for name, row in rows:
        found[name] = np.concatenate([found[name], row]) if name in found else row
    return found


@frozen(eq=False)
class Contact:
    """What pushes only where it touches, or rubs: what a push of size one would do to the energy and to momenta."""

    name: str
    loosened: Loosened  # with all its gaps
    element: int
    loses: bool  # it takes energy
    ways: tuple[Mapping[int, float], ...] = ({},)  # in which it may touch, by what constants are then

    def row(self, balance: Balance, generators: Array) -> Array:
        """(rows, quantities)."""
        lost = np.eye(1, generators.shape[2] + 1) * float(self.loses)
        some = slice(None, None, -(-len(balance.t) // ENOUGH))
        state = balance.t[some], balance.q[some], balance.v[some]
        return np.concatenate([*(self._in_way(way, state, generators[some]) for way in self.ways), lost])

    def _in_way(self, way: Mapping[int, float], state: tuple[Array, Array, Array], generators: Array) -> Array:
        t, q, v = state
        system = self.loosened.system
        constants = system.constants.copy()
        constants[list(way)] = list(way.values())
        system = system.holding(constants)
        group = next(group for group in system.groups if self.element in group.elements)
        lane, shape = group.elements.index(self.element), (len(t), group.lanes)
        slots = np.array(self.loosened.mechanism.elements[self.element].slots)
        along = np.where((slots >= 0)[:, None], generators[:, np.maximum(slots, 0)], 0.0)
        along[:, slots >= self.loosened.moving] = 0.0
        found = np.zeros((len(t), generators.shape[2] + 1))
        if along.any():
            for _, keys, values in system._values(("gradient", "slope"), t, q, v, groups=(group,)):
                for key, value in zip(keys, values, strict=True):
                    found[:, 1:] += np.broadcast_to(value, shape)[:, lane, None] * along[:, key[2]]
        if any(source.kind == "time" for source in group.program.inputs):  # a barrier that moves gives energy
            for _, _, values in system._values(("rate",), t, q, np.zeros_like(v), groups=(group,)):
                for value in values:
                    found[:, 0] -= np.broadcast_to(value, shape)[:, lane]
        return found


def contacts_of(system: System, loosened: Loosened) -> list[Contact]:
    """Of a mechanism with gaps and friction that sticks."""
    mechanism = system.mechanism
    attached = {name for event in mechanism.events for name in event.attaches}
    ways = {lent.gap: _ways(pair, lent) for pair in mechanism.pairs for lent in pair.lent}
    firsts = {(pair.name, lent.sort): lent.gap for pair in mechanism.pairs for lent in reversed(pair.lent)}
    alike = ways.keys() - set(firsts.values())  # rows that are lent to the same ways as the first of their sort
    found = []
    for number, gap in enumerate(mechanism.gaps):
        if number in alike:
            continue
        loses = gap.name in attached if gap.bond else gap.restitution < 1
        name = f"bond {gap.name}" if gap.bond else f"contact {gap.name}"
        found.append(Contact(name, loosened, gap.element, loses, ways.get(number, ({},))))
    for each in mechanism.frictions:
        if each.gap in alike:
            continue
        found.append(Contact(f"friction {each.name}", loosened, each.element, True, ways.get(each.gap, ({},))))
    return found


def _ways(pair: Pair, lent: Lent) -> tuple[Mapping[int, float], ...]:
    """Some of those in which two outlines may touch, by the constants that make them."""
    known = np.flatnonzero(pair.ways[:, 0] == lent.sort)
    chosen = known[np.unique(np.linspace(0, len(known) - 1, min(MOST_WAYS, len(known))).astype(int))]
    return tuple(dict(zip(lent.constants, pair.values[way].tolist(), strict=False)) for way in chosen)


def reduced(rows: Array) -> Array:
    """The same space by rows of which each has a 1 where all others have 0, as far left as can be: so that a quantity
    that is conserved by itself has a row of its own. Columns are of one size."""
    rows, done = rows.copy(), 0
    for column in range(rows.shape[1]):
        if done == len(rows):
            break
        best = done + int(np.argmax(np.abs(rows[done:, column])))
        if abs(rows[best, column]) <= SAME:
            rows[done:, column] = 0.0
            continue
        rows[[done, best]] = rows[[best, done]]
        rows[done] /= rows[done, column]
        others = np.delete(np.arange(len(rows)), done)
        rows[others] -= np.outer(rows[others, column], rows[done])
        done += 1
    return np.where(np.abs(rows) > SAME, rows, 0.0)
