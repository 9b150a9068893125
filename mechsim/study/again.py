"""Cases of a sweep simulated again, from the text that its table carries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mechsim.simulation import adjust
from mechsim.spec import parse

if TYPE_CHECKING:
    from mechsim.handle import MechanismHandle
    from mechsim.handle.motions import Motions
    from mechsim.study.table import SweepTable


def handle_of(table: SweepTable) -> MechanismHandle:
    """The mechanism of a sweep, with the settings of its runs."""
    from mechsim.handle import MechanismHandle

    facts, settings = table.facts, table.facts["settings"]
    name = facts["spec_path"] or "<text>"
    spec = parse(facts["spec_text"], name, settings["overrides"], facts["files"], tables_from=None)
    tol, order, t0, tend = settings["tol"], settings["order"], settings["t0"], settings["tend"]
    return MechanismHandle(adjust(spec, tol=tol, order=order, t0=t0, tend=tend))


def motions_of(table: SweepTable, handle: MechanismHandle, cases: Sequence[int]) -> Motions:
    """The motions of these cases, side by side; one that fails is an entry like the others."""
    columns = {each["name"]: table[each["name"]][list(cases)] for each in table.vary}
    return handle.simulate_many(columns, keep="polynomials")
