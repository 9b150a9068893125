"""Which columns a table of results has, in the order of the seed (001 section 4.2, "Output file")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mechsim.frozen import frozen
from mechsim.model.labels import unused
from mechsim.model.mechanism import Element, Mechanism, Variable
from mechsim.spec.document import OutFile

Array = NDArray[np.float64]

# The units of a value and of its derivative; a mechanism file is written in SI.
UNITS = {"position": ("m", "m/s"), "angle": ("rad", "rad/s"), "coordinate": ("", "")}


@frozen
class Layout:
    """Column names, their units, and for each the place of its number in a wide row `t, q, v, T, V`."""

    labels: tuple[str, ...]
    units: tuple[str, ...]
    places: NDArray[np.int64]

    def table(self, wide: Array) -> Array:
        """The columns of this layout, out of wide rows."""
        return np.ascontiguousarray(wide[:, self.places])


def wide_rows(t: Array, q: Array, v: Array, kinetic: Array, potential: Array) -> Array:
    """Rows `t, q, v, T, V`: every number a layout can ask for."""
    return np.column_stack([t, q, v, kinetic, potential])


def full_layout(mechanism: Mechanism) -> Layout:
    """Every column: `t`, points, turn angles (each value followed by its derivative), `T`, `V`, work of forces."""
    return _layout(mechanism, {variable.label: 2 for variable in mechanism.variables})


def written_layout(mechanism: Mechanism, outfile: OutFile) -> Layout:
    """The columns `OutFile` asks for. Values of all coordinates stay, because the renderer needs them."""
    columns = {variable.label: _columns_asked(variable, outfile) for variable in mechanism.variables}
    return _layout(mechanism, columns)


def _columns_asked(variable: Variable, outfile: OutFile) -> int:
    asked: Mapping[str, int] | None = outfile.angles if variable.kind == "angle" else outfile.points
    return 2 if asked is None else max(1, asked.get(variable.owner, 1))


def _layout(mechanism: Mechanism, columns: Mapping[str, int]) -> Layout:
    count = len(mechanism.variables)
    taken = {variable.label for variable in mechanism.variables}  # coordinates keep their names
    entries: list[tuple[str, str, int]] = [("t", "s", 0)]
    for index in [i for kind in UNITS for i in _of_kind(mechanism.variables, kind)]:
        variable = mechanism.variables[index]
        unit, rate_unit = UNITS[variable.kind] if variable.units is None else variable.units
        entries.append((variable.label, unit, 1 + index))
        if columns[variable.label] > 1:
            entries.append((unused(f"{variable.label}_dot", taken), rate_unit, 1 + count + index))
    entries += [(unused("T", taken), "J", 1 + 2 * count), (unused("V", taken), "J", 2 + 2 * count)]
    work = work_states(mechanism)
    for index in _of_kind(mechanism.variables, "state"):
        # What a controller integrates has the unit of whatever it measures.
        entries.append((mechanism.variables[index].label, "J" if index in work else "", 1 + index))
    labels, units, places = zip(*entries, strict=True)
    return Layout(labels, units, np.array(places))


def work_states(mechanism: Mechanism) -> dict[int, Element]:
    """Coordinates that integrate the power of an element, with that element."""
    found = {element.slots[-1]: element for element in mechanism.elements if element.account}
    return {index: found[index] for index in sorted(found) if index >= 0}


def _of_kind(variables: Sequence[Variable], kind: str) -> list[int]:
    return [index for index, variable in enumerate(variables) if variable.kind == kind]
