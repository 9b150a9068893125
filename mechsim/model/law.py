"""Law: a formula as an element kind. What a user writes as an expression, and every joint, drive or controller that
can be said in one line, becomes a law; equal laws share one program whatever points they are used on.

Formulas are texts of the expression language over local symbols: variable `x0`, its rate `v0`, its second derivative
`a0`; parameter `p0`; multiplier `m0` of this law's constraints, then of constraints it only observes; time `t`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Law:
    """Which formulas a law has. Absent ones mean: no such contribution.

    variables:     how many local variables there are, own states included (states come last)
    potential:     V(x, t)
    dissipation:   Rayleigh's R(x, v, t): its force is -dR/dv
    forces:        generalised force by local variable; may use multipliers and second derivatives
    constraints:   holonomic, kept at zero: C(x, t)
    nonholonomic:  kept at zero: psi(x, v, t)
    states:        rates of the law's own states, in the order of the last variables (the account excepted)
    account:       the very last variable integrates the power of everything here that is not conservative
    signals:       values that are read at sampling times and held (see Mechanism.samplers)
    """

    variables: int
    parameters: int = 0
    potential: str | None = None
    dissipation: str | None = None
    forces: Mapping[int, str] = field(default_factory=dict)
    constraints: tuple[str, ...] = ()
    nonholonomic: tuple[str, ...] = ()
    observed: int = 0
    states: tuple[str, ...] = ()
    account: bool = False
    signals: tuple[str, ...] = ()

    @property
    def is_prescribed(self) -> bool:
        """Whether a constraint of it depends on time: then it moves what it binds."""
        return any(re.search(r"\bt\b", row) for row in (*self.constraints, *self.nonholonomic))

    @property
    def text(self) -> str:
        """All there is to know about the law: what a cache is keyed by."""
        parts = [self.variables, self.parameters, self.potential, self.dissipation, sorted(self.forces.items())]
        return repr(
            [*parts, self.constraints, self.nonholonomic, self.observed, self.states, self.account, self.signals]
        )

    @property
    def name(self) -> str:
        return f"law_{hashlib.sha256(self.text.encode()).hexdigest()[:20]}"
