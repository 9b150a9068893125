"""Where motions end: a search whose goal falls towards numbers without a motion comes to an edge.

IPOPT would halve its steps for as long as roundings let it, at the edge and again after each try to leave it. Once a
step fails that is next to nothing the edge is known, and no motion is looked for any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechsim.errors import Fault, MechsimError
from mechsim.result.layout import Array

NEAR = 3e-5  # of scales: as near to numbers with a motion as those without, it is an edge
NEVER = 1e-9  # of scales: what differs by less is the same
MOST_NAMED = 6


@dataclass(slots=True, eq=False)
class Edge:
    """The last numbers, in scales, with which there was no motion, and why; `reached` once these are at the edge."""

    beyond: Array | None = None
    fault: Fault | None = None
    reached: bool = False

    def hear(self, x: Array, last: Array | None, error: Exception) -> None:
        """There is no motion at x; the search stood at `last`."""
        self.beyond = np.array(x)
        self.fault = error.faults[0] if isinstance(error, MechsimError) else Fault(str(error))
        self.reached = last is not None and bool(np.abs(self.beyond - last).max(initial=0.0) <= NEAR)

    @property
    def why(self) -> str:
        return "" if self.fault is None else self.fault.message

    def words(self, names: Sequence[str], numbers: Array, scales: Array) -> str:
        """What a person should know of it, who has the best numbers."""
        assert self.beyond is not None and self.fault is not None
        moved = np.flatnonzero(np.abs(self.beyond - numbers / scales)[: len(names)] > NEVER)
        more = ", ..." if len(moved) > MOST_NAMED else ""
        tried = ", ".join(f"{names[k]} = {self.beyond[k] * scales[k]:.9g}" for k in moved[:MOST_NAMED].tolist())
        hint = f"; {self.fault.hint}" if self.fault.hint else ""
        return (
            "this is the best so far: the goal falls on towards numbers with which there is no such motion. With "
            f"{tried}{more}: {self.fault.message}{hint}. To go on along that edge, keep off it by relations of the "
            "numbers (--subject)"
        )
