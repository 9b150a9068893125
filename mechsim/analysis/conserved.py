"""What a mechanism conserves, by Noether's theorem, and what its motion makes of it.

Claims are about the model: rates of momenta and of the energy are exact at any state (momenta.py), and what is zero at
states of no special kind (scattered.py) is zero at all (symmetry.py). The motion then shows how well it kept them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from mechsim.analysis import generators
from mechsim.analysis.claims import MOST_PARTS, Claim, Model, is_of_a_file
from mechsim.analysis.generators import Asked, Family
from mechsim.analysis.invariants import Invariant, Invariants
from mechsim.analysis.momenta import Balance, Loosened
from mechsim.analysis.named_sums import Named
from mechsim.analysis.scattered import near_motion, speed_of
from mechsim.analysis.symmetry import Rates, contacts_of, rates_of
from mechsim.engine.points import Points
from mechsim.engine.solution import Solution
from mechsim.errors import Fault, SpecError
from mechsim.frozen import frozen
from mechsim.kernel.system import System
from mechsim.result.layout import Array
from mechsim.result.multipliers import smallest

STATES = 40  # that claims are tested at, and three more for each generator
NODES = 12  # of a step, at which its rates are integrated (Gauss and Legendre): as exact as steps of order 24
MOST_STEPS = 2000  # over which they are
# A quantity is judged beside the largest that it was, or shares of what it could be at most: along the motion, at the
# tested states, and by what changes it, in the time in which things move. Roundings of one that is next to nothing are
# beside what it is made of.
SHARES = 0.1, 1e-3, 1e-2
PLAIN = 1e-9  # of a quantity and of how fast things move: a rate below this is none
AT_ONCE = 2_000_000  # numbers of generators that are held at a time


@frozen
class Watched:
    """A quantity of a user's: a signal of an element, whose rate is known."""

    name: str
    element: int
    number: int = 0


def conserved(
    solution: Solution,
    asked: Sequence[Asked] = (),
    watched: Sequence[Watched] = (),
    system: System | None = None,
    remarks: Sequence[str] = (),
) -> Invariants:
    """What the model of a finished motion conserves. `asked` are generators beside those of the whole, `watched`
    quantities; their elements are those of `system`, if the motion's own has none. `remarks` are told with it. Raises
    SpecError, AssemblyError."""
    system = system or solution.system
    if system.samplers:
        message = "a controller that is sampled acts by what it holds, which no symmetry of the equations knows of"
        raise SpecError(Fault(message, hint="leave out its period"))
    readouts = {element for each in asked for element in each.elements} | {each.element for each in watched}
    loosened, lasting = Loosened(system, tuple(readouts)), system.bilateral
    contacts = contacts_of(system, loosened)
    whole = (generators.whole if is_of_a_file(system.mechanism) else generators.of_coordinates)(system.mechanism)
    states = near_motion(solution, STATES + 3 * len(whole.names))
    tested = loosened if lasting is system else Loosened(lasting, tuple(readouts))
    model = Model(tested, states, contacts, whole)
    motion = _Motion(solution, loosened, model)
    quantities = [each for family, claims in model.claims(asked) for each in motion.of(family, claims)]
    plain = [*([] if model.is_natural else [_natural()]), *map(_watched, watched)]
    quantities += [motion.of_function(each) for each in plain]
    steps = int(solution.statistics.get("steps", len(solution.t) - 1))
    told = *_remarks(model, solution), *remarks
    times = np.asarray(motion.rows.t)
    return Invariants(times, tuple(quantities), len(states), steps, solution.tolerance, told)


def _remarks(model: Model, solution: Solution) -> tuple[str, ...]:
    found = []
    if model.rigids > MOST_PARTS:
        found.append(f"parts were not looked at by themselves: there are {model.rigids} of them")
    if len(solution.t) - 1 > MOST_STEPS:
        found.append(f"rates were held against the motion in its first {MOST_STEPS} steps")
    return tuple(found)


class _Motion:
    """Quantities along a motion."""

    def __init__(self, solution: Solution, loosened: Loosened, model: Model):
        self.solution, self.loosened, self.model = solution, loosened, model

    @cached_property
    def rows(self) -> Points:
        return self.solution.rows

    def of(self, family: Family, claims: Sequence[Claim]) -> list[Invariant]:
        """What is claimed of a family, along the motion."""
        rates, tested = self._rates(self.rows, family), rates_of(self.model.tested, family)
        changes = self._changes(lambda points: self._rates(points, family).along)
        found = []
        for claim in claims:
            row, sizes = claim.factors, (rates.value_sizes, tested.value_sizes, self._time * rates.rate_sizes)
            values = rates.values @ row
            shares = [share * (size @ np.abs(row)).max() for share, size in zip(SHARES, sizes, strict=True)]
            size = float(max(np.abs(values).max(), *shares))
            most = {name: rates.largest(name, row) for name in claim.broken}
            found.append(_invariant(claim, (values, rates.rates @ row), size, most, changes.of(row)))
        return found

    @cached_property
    def _time(self) -> float:
        """In which things move, or that there is."""
        return min(abs(float(self.solution.t[-1] - self.solution.t[0])), 1 / speed_of(self.solution))

    def of_function(self, plain: _Plain) -> Invariant:
        """A function of the state, which is conserved where its rate is nothing beside it, and nothing may touch."""
        value, rate = plain.at(self.model.tested)
        if not (np.isfinite(value).all() and np.isfinite(rate).all()):
            message = f"{plain.name} has no value at states near the motion, or no rate"
            raise SpecError(Fault(message, hint="is something divided by zero, or a root taken of less than zero?"))
        size = float(np.abs(value).max())
        kept = np.abs(rate).max() <= PLAIN * size * speed_of(self.solution) and not self.model.contacts
        claim = Claim(Named(plain.name, plain.words), "", np.ones(1), bool(kept), size == 0.0)

        def along(points: Points) -> tuple[Array, Array]:
            found = [plain.at(balance) for balance in self._balances(points, 1)]
            values, rates = (np.concatenate(column)[:, None] for column in zip(*found, strict=True))
            return values, rates

        values, rates = (column[:, 0] for column in along(self.rows))
        least = max(SHARES[1] * size, SHARES[2] * self._time * float(np.abs(rate).max()))
        beside = max(float(np.abs(values).max()), least)
        return _invariant(claim, (values, rates), beside, {}, self._changes(along).of(np.ones(1)))

    def _balances(self, points: Points, count: int) -> Iterator[Balance]:
        """At many states, some at a time."""
        chunk = max(1, AT_ONCE // (self.loosened.system.n * count))
        redundant = len(self.solution.structure.redundancy.rows)
        for first in range(0, len(points), chunk):
            some = points[first : first + chunk]
            accelerations, multipliers = self.solution.leading(some)
            yield self.loosened.at(some, accelerations, smallest(redundant, some, accelerations, multipliers))

    def _rates(self, points: Points, family: Family) -> Rates:
        return Rates.joined([rates_of(balance, family) for balance in self._balances(points, len(family.names))])

    def _changes(self, along: Callable[[Points], tuple[Array, Array]]) -> _Changes:
        """Over steps, of what has these values and rates at states, (states, quantities) each."""
        points = self.solution.points[: MOST_STEPS + 1]
        values, _ = along(points)
        changed, lengths = np.diff(values, axis=0), np.diff(points.t)
        long = np.flatnonzero(lengths != 0)
        nodes, weights = np.polynomial.legendre.leggauss(NODES)
        times = points.t[long, None] + lengths[long, None] * (0.5 + 0.5 * nodes)
        rates = along(self.solution.sampled(times.ravel()))[1] if len(long) else values[:0]
        rates = rates.reshape(len(long), NODES, values.shape[1])
        integrals = np.einsum("sjk,j,s->sk", rates, 0.5 * weights, lengths[long])
        return _Changes(changed[long], changed[lengths == 0], integrals)


@frozen(eq=False)
class _Changes:
    """Over steps, (steps, quantities) each: how much quantities changed, how much they jumped in steps without length,
    and the integrals of their rates."""

    changed: Array
    jumped: Array
    integrals: Array

    def of(self, factors: Array) -> tuple[float, float]:
        """How far the integral of the rate of a sum was off what it changed by, and what it jumped, in size."""
        off = np.cumsum((self.changed - self.integrals) @ factors)
        return float(np.abs(off).max(initial=0.0)), float(np.abs(self.jumped @ factors).sum())


def _invariant(
    claim: Claim, along: tuple[Array, Array], size: float, most: Mapping[str, float], changes: tuple[float, float]
) -> Invariant:
    values, rates = along
    missed, jumps = changes
    return Invariant(
        name=claim.named.name,
        words=claim.named.words,
        unit=claim.unit,
        conserved=claim.conserved,
        always_zero=claim.always_zero,
        values=values,
        rate=float(np.abs(rates).max()),
        size=size,
        broken_by=most,
        missed=missed / size if size > 0 else 0.0,
        jumps=jumps,
    )


@frozen(eq=False)
class _Plain:
    """A function of the state, with its rate."""

    name: str
    words: str
    at: Callable[[Balance], tuple[Array, Array]]


def _watched(each: Watched) -> _Plain:
    def at(balance: Balance) -> tuple[Array, Array]:
        values, rates = balance.signals(each.element)
        return values[:, each.number], rates[:, each.number]

    return _Plain(each.name, "as asked for", at)


def _natural() -> _Plain:
    def at(balance: Balance) -> tuple[Array, Array]:
        kinetic, potential = balance.energies()
        return kinetic + potential, balance.natural_rate

    return _Plain("T + V", "kinetic and potential energy, which is not the Hamiltonian here", at)
