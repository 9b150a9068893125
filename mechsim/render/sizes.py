"""How large quantities are, so that rounding is not drawn as if it were motion: an axis is scaled by the size of what
it shows, never by noise."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mechsim.frozen import frozen
from mechsim.render.scene import Scene
from mechsim.result.layout import Array

ROUNDING = 2.0**-52
LEAST_NOISE = 1e-13  # of a size: what roundings of many operations add up to
NOISE = 30.0  # tolerances of the run, that errors of its steps may come to


@frozen
class Sizes:
    """By unit the size of a quantity; changes below the share `noise` of it are no more than rounding."""

    by_unit: Mapping[str, float]
    noise: float = LEAST_NOISE

    def size(self, unit: str, *values: Array) -> float:
        """The size of quantities of this unit, which is not below any of these values."""
        peaks = [float(np.abs(each[np.isfinite(each)]).max(initial=0.0)) for each in values]
        return max([self.by_unit.get(unit, 0.0), *peaks])

    def is_nothing(self, unit: str, value: float) -> bool:
        """Whether a value is only rounding."""
        return abs(value) <= self.noise * self.by_unit.get(unit, 0.0)

    def limits(self, unit: str, *values: Array) -> tuple[float, float, bool]:
        """Lowest and highest of these values, and whether they do change. Where they do not, as far around them as the
        quantity is large: what is constant is seen as a straight line."""
        finite = np.concatenate([np.ravel(each[np.isfinite(each)]) for each in values] or [np.zeros(0)])
        low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
        size = self.size(unit, finite)
        if high - low > self.noise * size:
            return low, high, True
        middle = (low + high) / 2
        middle = 0.0 if abs(middle) <= self.noise * size else middle
        half = size / 2 or 0.5
        return middle - half, middle + half, False


def natural_sizes(scene: Scene, span: float) -> Sizes:
    """What the mechanism itself says about the sizes of its quantities, in a motion that lasts `span`."""
    length, energy, rate = scene.size, scene.energy, 1.0 / (span or 1.0)
    sizes = {"m": length, "m/s": length * rate, "rad": 1.0, "rad/s": rate, "J": energy, "W": energy * rate}
    sizes |= {"N": energy / length, "N m": energy}
    return Sizes(sizes, max(LEAST_NOISE, NOISE * scene.tolerance))


def with_peaks(sizes: Sizes, columns: Mapping[str, Array], units: Mapping[str, str]) -> Sizes:
    """Sizes that hold these columns too: what is large in one of them is not small in the others of its unit."""
    found = dict(sizes.by_unit)
    for label, values in columns.items():
        if unit := units.get(label, ""):
            found[unit] = Sizes(found).size(unit, values)
    return Sizes(found, sizes.noise)
