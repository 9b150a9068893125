"""The segments of a motion that is drawn: which constants of the mechanism held when. A motion and an .npz tell; for
other files, tables are known functions of time, and what a sampled controller held is computed again from the rows at
its sampling times."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace

import numpy as np

from mechsim.engine.events import Events
from mechsim.engine.segments import Log, Segments, changing
from mechsim.model.mechanism import Mechanism
from mechsim.result.layout import Array

CHANGES = ("contact", "attach", "release")  # kinds of events after which a gap is closed, or open, that was not
NEAR = 1e-9  # of a sampling period: a row this near is the one at the sampling time


def segments_along(
    mechanism: Mechanism, columns: Mapping[str, Array], told: Segments | None, events: Events | None = None
) -> tuple[Segments, tuple[str, ...]]:
    """From what the results tell, else from the mechanism, the rows in `columns` and the events. With them, sampled
    controllers and events whose output cannot be told: forces that depend on them must not be drawn, while energies and
    constraints do not."""
    if told is not None and _fits(told, mechanism):
        return told, ()
    by_time = Segments.of_tables(mechanism, float(columns["t"][0]), float(columns["t"][-1]))
    if mechanism.gaps or mechanism.events or mechanism.frictions:
        return _with_modes(mechanism, by_time, events)
    if not mechanism.samplers:
        return by_time, ()
    replayed = _replayed(mechanism, columns)
    names = tuple(mechanism.elements[sampler.element].owner for sampler in mechanism.samplers)
    return (by_time, names) if replayed is None else (replayed, ())


def _with_modes(mechanism: Mechanism, by_time: Segments, events: Events | None) -> tuple[Segments, tuple[str, ...]]:
    """With the contacts that are closed after each event. What events of the user set is not told by them."""
    modes = {gap.name: gap.mode for gap in mechanism.gaps}
    happened = [event for event in events or () if event.kind in CHANGES and event.gap in modes]
    numbers = changing(mechanism.switches, mechanism.samplers, mechanism.gaps)
    log = Log(numbers, np.array(mechanism.constants, float), float(by_time.starts[0]), by_time.end)
    closed: dict[int, float] = {}
    for time in np.union1d(by_time.starts, [event.t for event in happened]).tolist():
        constants = by_time.constants(mechanism.constants, by_time.at(np.array(time)))
        closed |= {modes[event.gap]: float(event.kind != "release") for event in happened if event.t == time}
        for number, mode in closed.items():
            constants[number] = mode
        log.begin(time, constants)
    setting = tuple(event.name for event in mechanism.events if event.constants)
    setting += tuple(
        dict.fromkeys(gap.name for gap in mechanism.gaps if gap.held is not None)
    )  # what it keeps is not told
    setting += tuple(friction.name for friction in mechanism.frictions)  # nor the sense in which it slides
    lost = () if events is not None else tuple(gap.name for gap in mechanism.gaps)
    sampled = tuple(mechanism.elements[sampler.element].owner for sampler in mechanism.samplers)
    return log.segments, (*sampled, *setting, *lost)


def _fits(told: Segments, mechanism: Mechanism) -> bool:
    numbers, values = told.numbers, told.values
    if numbers.dtype.kind not in "iu" or not len(told) or values.shape != (len(told), len(numbers)):
        return False
    return bool(np.all((numbers >= 0) & (numbers < len(mechanism.constants))))


def _replayed(mechanism: Mechanism, columns: Mapping[str, Array]) -> Segments | None:
    """The stops of the march, made again on its rows. None where the results lack a row that a controller saw."""
    from mechsim.engine.stops import Stops
    from mechsim.kernel.system import System

    labels = [variable.label for variable in mechanism.variables]
    rates = [f"{variable.label}_dot" for variable in mechanism.variables if variable.kind != "state"]
    if any(label not in columns for label in (*labels, *rates)):
        return None
    t, nothing = columns["t"], np.zeros(len(columns["t"]))
    near = NEAR * min(sampler.period for sampler in mechanism.samplers)
    if any(abs(t[0] - sampler.start) > near for sampler in mechanism.samplers):
        return None  # sums of errors began before these rows
    q = np.column_stack([columns[label] for label in labels])
    v = np.column_stack([columns.get(f"{label}_dot", nothing) for label in labels])
    stops = Stops(System(mechanism), SimpleNamespace(t=t[0], positions=q[0], velocities=v[0]), float(t[-1]))
    nobody = SimpleNamespace(set_constant=lambda number, value: None)
    stops.begin(nobody)
    while stops.next < t[-1]:
        row = int(np.searchsorted(t, stops.next - near))
        if abs(t[row] - stops.next) > near:
            return None
        stops.reached(nobody, stops.next, q[row], v[row])
    return stops.log.segments
