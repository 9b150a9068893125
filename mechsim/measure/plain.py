"""What names mean in a measure of a Lagrangian: its coordinates, parameters and columns, for there is no file."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from mechsim.kernel.system import System
from mechsim.measure.quantities import Column, Energy, Given, Instant, Meaning, Unknown
from mechsim.measure.reading import BOUNDS
from mechsim.result.accelerations import all_columns, jerk_of
from mechsim.result.derived import has_hamiltonian
from mechsim.result.drives import drives
from mechsim.result.layout import full_layout
from mechsim.spec.expression import CONSTANTS
from mechsim.spec.suggest import did_you_mean, listed


class PlainNames:
    """A Vocabulary. Columns come before parameters, as in files."""

    changing = False
    happenings: Mapping[str, str] = {}

    def __init__(self, system: System, parameters: Collection[str] = (), times: tuple[float, float] | None = None):
        self.times = times
        self.parameters = parameters
        mechanism = system.mechanism
        layout = full_layout(mechanism)
        self.units = dict(zip(layout.labels, layout.units, strict=True))
        labels, count = [each.label for each in mechanism.variables], len(mechanism.variables)
        columns = [*(["H"] if has_hamiltonian(system) else []), *mechanism.drawn]
        columns += [label for drive in drives(mechanism) for label, _ in drive.columns]
        found: dict[str, Meaning] = {label: Column(label) for label in columns}
        found |= {each.label: Unknown(labels[each.slot], 2) for each in all_columns(mechanism) if each.slot >= 0}
        found |= {f"{label}_ddot": Unknown(label, 2) for label in labels}
        jerks = map(jerk_of, all_columns(mechanism))
        found |= {each.label: Unknown(labels[each.slot], 3) for each in jerks if each.slot >= 0}
        found |= {f"{label}_dddot": Unknown(label, 3) for label in labels}
        for label, place in zip(layout.labels, layout.places.tolist(), strict=True):
            if 0 < place <= 2 * count:
                found[label] = Unknown(labels[(place - 1) % count], int(place > count))
            else:
                found[label] = Energy(place - 2 * count - 1) if place else Instant()
        self.meanings = found
        self.states = tuple(label for label in layout.labels if isinstance(found[label], Unknown))

    def meaning(self, name: str) -> Meaning | None:
        """Of a name within a function of the motion; None if it has none."""
        if name in self.meanings:
            return self.meanings[name]
        return self.number(name)

    def number(self, name: str) -> Meaning | None:
        """Of a name outside of functions of the motion."""
        return Given(name) if name in self.parameters else CONSTANTS.get(name, BOUNDS.get(name))

    def unit(self, name: str) -> str | None:
        return self.units.get(name)

    def hint(self, name: str) -> str:
        """What to do about a name that has no meaning."""
        known = [*self.meanings, *self.parameters]
        return did_you_mean(name, known) or f"columns are {listed(list(self.meanings))}"
