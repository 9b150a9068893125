"""Generators, quantities and coordinates of a user's Lagrangian, as elements that tell their values and rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from mechsim.analysis.conserved import Watched
from mechsim.analysis.generators import Asked
from mechsim.errors import Fault, MechsimError
from mechsim.facility.functions import Function, Given, called
from mechsim.frozen import frozen
from mechsim.kernel.system import System
from mechsim.lagrangian.kind import Kind
from mechsim.model.mechanism import Element

if TYPE_CHECKING:
    from mechsim.facility.starting import Starting


@frozen(slots=False)
class Told:
    """A function of (q, t) or of (q, v, t) as signals of a kind."""

    given: Given
    of_velocities: bool
    single: bool  # one number, and no list of them

    def __call__(self, x: Any, v: Any, t: Any, p: Any, a: Any, lam: Any) -> Sequence[Any]:
        found = self.given.call(0, (x, v) if self.of_velocities else (x,), [t], p)
        return [found] if self.single else found


@frozen(eq=False)
class Questions:
    """What is asked about the motions of a Lagrangian: the kinds that answer, of generators first."""

    kinds: tuple[Kind, ...]
    generators: tuple[str, ...]
    quantities: tuple[str, ...]
    count: int  # of coordinates

    @classmethod
    def of(cls, system: Starting, generators: Mapping[str, Function], quantities: Mapping[str, Function]) -> Questions:
        """Raises MechsimError where a function is not as it should be."""
        names = system.coordinates[: len(system.coordinates) - system.kind.account]
        kinds = [
            _kind(system, f"generator {name}(q, t)", function, len(names)) for name, function in generators.items()
        ]
        kinds += [_kind(system, f"quantity {name}(q, v, t)", function, 0) for name, function in quantities.items()]
        return cls(tuple(kinds), tuple(generators), tuple(quantities), len(names))

    @classmethod
    def about(cls, system: Starting, coordinates: Mapping[str, Function]) -> Questions:
        """Coordinates that are functions of (q, t). Raises MechsimError."""
        count = len(system.coordinates) - system.kind.account
        kinds = [_kind(system, f"coordinate {name}(q, t)", function, 0) for name, function in coordinates.items()]
        return cls(tuple(kinds), (), tuple(coordinates), count)

    @property
    def asked(self) -> tuple[Asked, ...]:
        slots = tuple(range(self.count))
        return tuple(
            Asked(name, slots, tuple((number, k) for k in slots)) for number, name in enumerate(self.generators, 1)
        )

    @property
    def watched(self) -> tuple[Watched, ...]:
        first = 1 + len(self.generators)
        return tuple(Watched(name, number) for number, name in enumerate(self.quantities, first))

    def told_by(self, system: System) -> System:
        """The system of a motion, with elements that answer."""
        mechanism, own = system.mechanism, system.mechanism.elements[0]
        more = [Element(kind.name, "what is asked", tuple(range(self.count)), own.parameters) for kind in self.kinds]
        kinds = {**system.kinds, **{kind.name: kind for kind in self.kinds}}
        readouts = {each.name: each.element for each in self.watched}
        together = replace(mechanism, elements=(*mechanism.elements, *more), readouts=readouts)
        return System(together, kinds, system.dropped, known=system._programs_known)


def _kind(system: Starting, name: str, function: Function, count: int) -> Kind:
    """Of a generator, with a signal for each of so many coordinates; or of one number. Its name says what it is of."""
    own, parameters = system.kind, system.parameters
    n = len(own.variables) - own.account
    more = [SimpleNamespace(**{key: np.float64(value) for key, value in parameters.items()})] if parameters else []
    q, v, t = np.linspace(0.4, 0.6, n), np.linspace(0.7, 0.5, n), np.float64(0.3)
    of_velocities = "(q, v, t)" in name
    found = called(function, name, [q, v, t, *more] if of_velocities else [q, t, *more])
    if np.shape(found) != ((count,) if count else ()):
        wanted = f"{count} numbers, one for each coordinate" if count else "one number"
        raise MechsimError(Fault(f"{name} must return {wanted}"))
    return Kind(
        name=f"{own.name}-{name.partition('(')[0].replace(' ', '-')}",
        variables=own.variables[:n],
        parameters=own.parameters,
        signals=Told(Given((function,), n, bool(parameters)), of_velocities, not count),
        signal_count=max(count, 1),
        cacheable=False,
    )
