"""Which law of the mechanism made a march end before its time, if one did."""

from __future__ import annotations

import numpy as np

from mechsim.engine.solution import Solution
from mechsim.errors import Mark
from mechsim.frozen import frozen
from mechsim.kernel.system import System
from mechsim.model.mechanism import Element

AHEAD = 2.0 ** np.arange(-10, 4)  # of the last step: how far beyond the last point a formula is tried
EARLIER = 200  # points of the march, evenly in time, that the last one is compared with
TOUCHES = 1e-9  # of its size: how far a gap is open that may have been met, or the ends of a damper apart
IMMOVABLE = 1e-9  # of its gradient: what constraints leave of it moves nothing
ALONG = ("damper", "spring")  # sorts of what acts along the line between its ends
WITHOUT_BOUND = 1e4  # a force this much larger than it used to be is running into a pole


@frozen
class Culprit:
    """A law and what is wrong with it, in words that follow its name."""

    owner: str
    words: str
    mark: Mark | None
    hint: str = ""


def culprit(solution: Solution) -> Culprit | None:
    """The law whose formula has no value just after the last point, or runs into a pole there."""
    laws = solution.system.mechanism.laws
    elements = solution.system.mechanism.elements
    forces = {i for i, each in enumerate(elements) if each.kind in laws and (each.is_drive or not each.multipliers)}
    formulas = {i for i, each in enumerate(elements) if each.kind in laws}
    if len(solution.t) < 2 or not formulas:
        return None
    with np.errstate(all="ignore"):
        number = _without_value(solution, formulas)
        number = _meeting_damper(solution) if number is None else number
        if number is not None:
            return _has_no_value(elements[number], "beyond this point")
        number = _without_bound(solution, forces)
    return (
        None if number is None else Culprit(elements[number].owner, "grows without bound there", elements[number].mark)
    )


def driven_contact(solution: Solution) -> Culprit | None:
    """The contact that meets what nothing can stop, because all its motion is prescribed."""
    system, (t, q) = solution.system, (float(solution.t[-1]), solution.q[-1])
    constants = system.constants.copy()
    constants[system.gap_modes] = 1.0
    rows, columns, values = system.holding(constants).constraint_jacobian(t, q)
    gradients = np.zeros((system.m, system.n))
    np.add.at(gradients, (rows, columns), values * system.scales[columns])
    lasting = gradients[np.setdiff1d(np.arange(system.m), system.gap_rows)]
    heights = np.abs(system.gap_values(t, q)) / system.constraint_sizes[system.gap_rows]
    drives = [each.owner for each in system.mechanism.elements if each.is_drive]
    for number in np.argsort(heights).tolist():
        gap, own = system.gaps[number], gradients[system.gap_rows[number]]
        left = own - lasting.T @ np.linalg.lstsq(lasting.T, own, rcond=None)[0] if len(lasting) else own
        if heights[number] < TOUCHES and np.abs(left).max() <= IMMOVABLE * np.abs(own).max():
            by = f": the {' and the '.join(drives)} would not stop" if drives else ""
            hint = "let the drive end before, or move it by a force or a controller, which gives way"
            return Culprit(
                gap.name, f"contact {gap.name} meets what cannot give way{by}", gap.mark, hint if drives else ""
            )
    return None


def culprit_at(system: System, t: float, q: np.ndarray, v: np.ndarray) -> Culprit | None:
    """The law whose formula has no value at a state."""
    elements = system.mechanism.elements
    formulas = {i for i, each in enumerate(elements) if each.kind in system.mechanism.laws}
    if not formulas:
        return None
    with np.errstate(all="ignore"):
        rows = system.rows_of(formulas, t, q, v, np.zeros(system.n), np.ones(system.m))
    broken = [number for number, values in rows.items() if not np.isfinite(values).all()]
    return _has_no_value(elements[broken[0]], "there") if broken else None


def _has_no_value(element: Element, where: str) -> Culprit:
    """Of a damper, or a spring with damping, nothing else can have none."""
    why = ": its ends meet, and it has no direction" if element.origin.sort in ALONG else ""
    return Culprit(element.owner, f"has no value {where}{why}", element.mark)


def _without_value(solution: Solution, chosen: set[int]) -> int | None:
    """The first of these elements whose rows are no numbers when the motion is continued by its accelerations."""
    last = solution.points[-1:]
    system, (t, q, v) = last.system_at(0), last.state
    a, _ = solution.leading(last)
    a = np.where(np.isfinite(a), a, 0.0)[0]
    h = AHEAD * np.abs(np.diff(solution.t[-4:])).max()
    ahead = h[:, None]
    rows = system.rows_of(
        chosen, t + h, q + ahead * (v + ahead / 2 * a), v + ahead * a, a + 0 * ahead, np.ones((len(h), system.m))
    )
    first = {number: _first(~np.isfinite(values).all(axis=-1)) for number, values in rows.items()}
    broken = [number for number in first if first[number] < len(h)]
    return min(broken, key=lambda number: first[number]) if broken else None


def _meeting_damper(solution: Solution) -> int | None:
    """The damper, or spring with damping, whose ends have come together: exactly there, and at no number beside it, its
    formula has no value."""
    states = {i for i, each in enumerate(solution.system.mechanism.variables) if each.kind == "state"}
    constants = np.asarray(solution.system.mechanism.constants)
    for number, element in enumerate(solution.system.mechanism.elements):
        if element.origin.sort not in ALONG or element.kind not in solution.system.mechanism.laws:
            continue
        slots = [slot for slot in element.slots if slot not in states]  # of both ends, axis by axis
        ends = [solution.q[:, i] if i >= 0 else np.full(len(solution.t), constants[-1 - i]) for i in slots]
        apart = np.linalg.norm(np.array(ends[::2]) - np.array(ends[1::2]), axis=0)
        if apart[-1] <= TOUCHES * apart.max():
            return number
    return None


def _without_bound(solution: Solution, chosen: set[int]) -> int | None:
    """The element whose forces have grown most since earlier points, if they have grown very much."""
    # Steps crowd before a pole: times, not steps, tell what a force used to be.
    times = np.linspace(solution.t[0], solution.t[-1], EARLIER)
    points = np.abs(solution.t - times[:, None]).argmin(axis=1)
    points[-1] = len(solution.t) - 1
    t, q, v, lam = (values[points] for values in (solution.t, solution.q, solution.v, solution.lam))
    rows = solution.system_at(t, "before").rows_of(chosen, t, q, v, np.zeros_like(q), lam)
    states = {i for i, each in enumerate(solution.system.mechanism.variables) if each.kind == "state"}
    growth = {}
    for number, values in rows.items():
        slots = solution.system.mechanism.elements[number].slots
        size = np.abs(values[:, [local for local, slot in enumerate(slots) if slot not in states]]).max(axis=-1)
        growth[number] = size[-1] / max(float(np.median(size)), float(np.finfo(float).tiny))
    most = max(growth, key=lambda number: growth[number], default=None)
    return most if most is not None and growth[most] > WITHOUT_BOUND else None


def _first(flags: np.ndarray) -> int:
    return int(np.argmax(flags)) if flags.any() else len(flags)
