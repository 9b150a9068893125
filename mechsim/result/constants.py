"""Constants of a mechanism along a motion: tables, piecewise functions and sampled controllers change some of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechsim.model.mechanism import Mechanism
from mechsim.result.layout import Array


@dataclass(frozen=True, slots=True)
class Changes:
    """The constants numbered `numbers` have `values[i]` from `times[i]` on; all others keep the mechanism's own."""

    times: Array
    numbers: NDArray[np.int64]
    values: Array  # (times, numbers)

    @classmethod
    def of(cls, times: Sequence[float] | Array, values: Array) -> Changes:
        """From all constants, (times, constants), as they were from each of the times on."""
        changed = np.flatnonzero((values != values[0]).any(axis=0))
        return cls(np.asarray(times, float), changed, values[:, changed])

    @classmethod
    def known(cls, mechanism: Mechanism) -> Changes:
        """Those of tables and piecewise functions, which are functions of time."""
        held = [np.array(mechanism.constants, float)]
        for switch in mechanism.switches:
            held.append(held[-1].copy())
            held[-1][list(switch.values)] = list(switch.values.values())
        return cls.of([-np.inf, *(switch.time for switch in mechanism.switches)], np.array(held))

    def at(self, mechanism: Mechanism, times: Any, *, before: bool = False) -> Array:
        """All constants at each time, (times, constants), for `System.holding`; at a change itself the new ones, or
        those `before` it, which belong to the step that ends there. What is set at the start holds there either way."""
        side: Any = "left" if before else "right"
        start = np.searchsorted(self.times, self.times[0], side="right")
        row = np.maximum(np.searchsorted(self.times, np.asarray(times, float), side=side), start) - 1
        found = np.tile(np.array(mechanism.constants, float), (len(row), 1))
        found[:, self.numbers] = self.values[row]
        return found
