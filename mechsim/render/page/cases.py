"""The page of a sweep: its table, and the motions of as many cases as a page may hold, simulated again.

All films share one window, one scale of arrows and one axis per curve, so that cases can be compared. A film is kept as
what differs from that of the first case; its numbers are 16-bit integers, which is a fiftieth of a pixel.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Sequence
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mechsim.errors import Fault, MechsimError
from mechsim.render.frames import sample, span
from mechsim.render.options import Options
from mechsim.render.page.data import film_of
from mechsim.render.page.document import number_text, page_text
from mechsim.render.page.packing import packed, patch_of, together
from mechsim.render.page.samples import Fineness
from mechsim.render.rows import Drawable, table_of
from mechsim.render.scene import scene_of
from mechsim.render.swept import Swept
from mechsim.result.motion import Motion
from mechsim.result.paths import OutputError, replacing
from mechsim.study.again import handle_of, motions_of
from mechsim.study.rows import FINISHED

if TYPE_CHECKING:
    from mechsim.handle import MechanismHandle
    from mechsim.study.table import SweepTable

MOST_BYTES = 5_000_000  # of a page
MOST_FILMS = 200  # a film takes about a tenth of a second to make
MOST_CASES = 20_000  # in the charts of a page
CHUNK = 24  # motions that are in memory at once
COARSE = Fineness(121, 60_000)
CHARTS = 3
MOST_NOTES = 3
Observer = Callable[[int, int], None]


def write_sweep(
    table: SweepTable, path: str | Path, options: Options, observer: Observer | None = None
) -> tuple[str, ...]:
    """Write the page of a sweep. Returns what a person should be told."""
    swept = Swept(table)
    cases = thinned(swept.grid.shape, MOST_CASES)
    data = _table(swept, cases)
    first, last = _finished(table, cases)
    handle = handle_of(table)
    films, scene = {}, scene_of(motions_of(table, handle, [first])[0].motion)
    room = MOST_BYTES - len(page_text({}, scene)) - _size(data)
    for arrows in (True, False):
        films = {
            number: film_of_case(motion, options, arrows=arrows)
            for number, motion in _motions(table, handle, [first, last])
        }
        base, other = packed(films[first]), packed(films[last])
        count = (room - _size(base)) // _size(patch_of(base, other))
        if len(cases) <= min(count, MOST_FILMS):
            break
    chosen = cases[_on_grid(swept, cases, min(count, MOST_FILMS))].tolist()
    for number, motion in _motions(table, handle, [case for case in chosen if case not in films]):
        films[number] = film_of_case(motion, options, arrows=arrows)
        if observer:
            observer(len(films), len(chosen))
    notes = _notes(swept, len(cases), films, arrows)
    together(list(films.values()))
    base = packed(films[first])
    data |= {
        "first": int(np.searchsorted(cases, first)),
        "films": [
            {"case": int(np.searchsorted(cases, number)), "patch": patch_of(base, packed(film))}
            for number, film in films.items()
        ],
        "shown": _nearest(swept, cases, list(films)).tolist(),
    }
    with replacing(Path(path)) as temporary:
        temporary.write_text(page_text(base, scene, notes, data), encoding="utf-8")
    return notes


def film_of_case(motion: Drawable, options: Options, *, arrows: bool) -> dict[str, Any]:
    """The film of one case, by itself."""
    scene = scene_of(motion)
    start, end = span(motion, scene)
    begin = start if options.start is None else min(max(options.start, start), end)
    frames = sample(motion, np.array([begin]), scene)
    film = film_of(scene, frames, table_of(motion), options, fineness=COARSE, arrows=arrows)
    film["parameters"] = [[name, number_text(value)] for name, value in scene.parameters_to_show]
    return film


def thinned(shape: Sequence[int], most: int) -> NDArray[np.int64]:
    """Numbers of at most so many cases, evenly spread over each axis; of draws (the last) the first ones."""
    lengths = [*shape]
    while prod(lengths) > most:
        longest = max(range(len(lengths)), key=lambda k: lengths[k])
        lengths[longest] = max(1, lengths[longest] - max(1, lengths[longest] // 20))
    spread = [np.unique(np.round(np.linspace(0, whole - 1, count)).astype(int)) if count > 1 else np.array([whole // 2])
              for whole, count in zip(shape[:-1], lengths[:-1], strict=True)]  # fmt: skip
    return np.ravel_multi_index(np.ix_(*spread, np.arange(lengths[-1])), tuple(shape)).ravel()


def _table(swept: Swept, cases: NDArray[np.int64]) -> dict[str, Any]:
    """What the charts show. Where cases were left out, the axes are those of the ones that are there."""
    grid, table = swept.grid, swept.table
    axes: list[dict[str, Any]] = []
    for axis in grid.axes:
        own = set(swept.flat(axis.name)[cases].tolist())
        axes.append({"name": axis.name, "log": axis.log, "values": [value for value in axis.values if value in own]})
    status = np.asarray(table.status)[cases]
    failed = np.flatnonzero(status != FINISHED)
    why = [f"{status[k]}: {table['message'][cases[k]]}".rstrip(": ") for k in failed]
    reasons = {text: index for index, text in enumerate(dict.fromkeys(why))}
    return {
        "total": len(table.status),
        "numbers": None if len(cases) == len(table.status) else cases.tolist(),
        "axes": axes,
        "drawn": list(grid.drawn),
        "draws": len(cases) // prod(len(axis["values"]) for axis in axes),
        "columns": [_column(swept, label, cases) for label in (*swept.parameters, *swept.measures)],
        "failed": {int(k): reasons[text] for k, text in zip(failed, why, strict=True)},
        "reasons": list(reasons),
        "charts": _charts(swept),
        "noise": 30 * float(table.facts["settings"].get("tol") or 1e-13),
    }


def _column(swept: Swept, label: str, cases: NDArray[np.int64]) -> dict[str, Any]:
    values = swept.flat(label)[cases]
    known = values[np.isfinite(values)]
    offset = float((known.min() + known.max()) / 2) if len(known) else 0.0
    numbers = base64.b64encode((values - offset).astype("<f4").tobytes()).decode()
    unit = swept.measures.get(label, "")
    return {"label": label, "unit": unit, "varied": label in swept.parameters, "offset": offset, "numbers": numbers}


def _charts(swept: Swept) -> list[dict[str, Any]]:
    """What is seen at first: a map over two axes, a curve along the first; else each measure along one parameter."""
    axes = [axis.name for axis in swept.grid.axes]
    measures = list(swept.measures)
    if len(axes) > 1 and swept.grid.draws == 1:
        pairs: list[tuple[str, str | None]] = [(axes[0], axes[1]), (axes[0], None)]
        return [{"measure": label, "across": x, "up": y} for label in measures[:2] for x, y in pairs][:CHARTS]
    if axes:
        return [{"measure": label, "across": axes[0], "up": None} for label in measures[:CHARTS]]
    charts = []
    points = swept.statistics.points
    for each in points[0].measures[:CHARTS] if points else ():
        known = [share for share in each.shares if np.isfinite(share.value)]
        across = max(known, key=lambda share: share.value).parameter if known else swept.parameters[0]
        charts.append({"measure": each.label, "across": across, "up": None})
    return charts


def _finished(table: SweepTable, cases: NDArray[np.int64]) -> tuple[int, int]:
    """Of the cases that finished the one in the middle, which is shown first, and the last."""
    finished = cases[np.asarray(table.status)[cases] == FINISHED]
    if not len(finished):
        why = next((str(message) for message in table["message"] if message), "")
        raise OutputError(Fault("no case of the sweep has a motion to show", hint=why))
    return int(finished[len(finished) // 2]), int(finished[-1])


def _motions(table: SweepTable, handle: MechanismHandle, cases: Sequence[int]) -> Iterator[tuple[int, Motion]]:
    """The motions of these cases that have any."""
    for begin in range(0, len(cases), CHUNK):
        chunk = cases[begin : begin + CHUNK]
        for number, case in zip(chunk, motions_of(table, handle, chunk), strict=True):
            try:
                motion = case.motion
            except MechsimError:
                continue  # its row says why
            if len(motion.t) > 1:
                yield number, motion


def _on_grid(swept: Swept, cases: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Which of these cases get a film: all, or evenly spread ones."""
    lengths = [len({*swept.flat(axis.name)[cases].tolist()}) for axis in swept.grid.axes]
    return thinned([*lengths, len(cases) // prod(lengths)], max(1, count))


def _nearest(swept: Swept, cases: NDArray[np.int64], filmed: Sequence[int]) -> NDArray[np.int64]:
    """For each case the number of its film, or that of the nearest case that finished; -1 for one that failed without
    a motion of its own."""
    table, own = swept.table, {number: index for index, number in enumerate(filmed)}
    status = np.asarray(table.status)
    places = np.array([_place(swept, name) for name in swept.parameters]).T
    whole = [number for number in filmed if status[number] == FINISHED]
    films = np.array([own[number] for number in whole])
    found = np.full(len(cases), -1)
    for k, number in enumerate(cases):
        if int(number) in own:
            found[k] = own[int(number)]
        elif status[number] == FINISHED:
            found[k] = films[np.argmin(((places[whole] - places[number]) ** 2).sum(axis=1))]
    return found


def _place(swept: Swept, name: str) -> NDArray[np.float64]:
    """Where cases stand along a parameter, from 0 to 1."""
    place = swept.grid.axis(name)
    log = place is not None and swept.grid.axes[place].log
    values = np.log(swept.flat(name)) if log else swept.flat(name)
    return np.asarray((values - values.min()) / (np.ptp(values) or 1.0))


def _notes(swept: Swept, cases: int, films: dict[int, dict[str, Any]], arrows: bool) -> tuple[str, ...]:
    total = len(swept.table.status)
    notes = [*swept.notes]
    if cases < total:
        notes.append(f"the page shows {cases:,} of {total:,} cases")
    finished = int((np.asarray(swept.table.status) == FINISHED).sum())
    if len(films) < finished:
        notes.append(f"the page has the motions of {len(films):,} cases; for others the nearest one moves")
    if not arrows:
        notes.append("forces and reactions are left out, to make room for more motions")
    said = list(dict.fromkeys(note for film in films.values() for note in film.pop("notes")))
    if len(said) > MOST_NOTES:
        said = [*said[:MOST_NOTES], f"{len(said) - MOST_NOTES} more notes on motions of other cases"]
    return (*notes, *said)


def _size(value: Any) -> int:
    return len(json.dumps(value, separators=(",", ":")))
