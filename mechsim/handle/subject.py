"""The mechanism of a file as what analyses are about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mechsim.analysis.subject import Case, Directed
from mechsim.engine import State
from mechsim.frozen import frozen
from mechsim.handle.derivatives import directions_of
from mechsim.simulation import Prepared

if TYPE_CHECKING:
    from mechsim.handle.mechanism_handle import MechanismHandle


@frozen(eq=False)
class FileSubject:
    """See `analysis.subject.Subject`; `t0` is where motions begin, if not at the file's own time."""

    handle: MechanismHandle
    t0: float | None = None

    @property
    def parameters(self) -> Mapping[str, float]:
        return self.handle.parameters

    def case(self, parameters: Mapping[str, float], start: State | None = None, tend: float | None = None) -> Case:
        begun = self.t0 if start is None else None
        return case_of(self.handle._run(dict(parameters), start, t0=begun, tend=tend).prepared)


def case_of(prepared: Prepared) -> Case:
    """A prepared problem of a file as a case."""

    def directed(names: Sequence[str]) -> Directed:
        found = directions_of(prepared, names)
        return case_of(found.prepared), found.directions

    return Case(prepared.system, prepared.structure, prepared.start, directed)
