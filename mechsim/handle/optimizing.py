"""Optimisation of a file's mechanism: what its Optimize section and a person say, and the file that comes of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from mechsim.design.course import Settings
from mechsim.design.optimum import FORMS, Optimum, numbers_in, write_best
from mechsim.design.running import Watched
from mechsim.design.sensitivities import check_file
from mechsim.design.shooting import Shooting
from mechsim.design.standing import Iteration
from mechsim.design.task import Bounds, Text
from mechsim.design.wanted import FIT, GOAL, THROUGH, Places, Wanted, check_vary, least_of, optimum_of, texts
from mechsim.errors import Fault, Mark, SpecError, WritingWarning, warn_caller
from mechsim.frozen import frozen
from mechsim.handle.subject import FileSubject
from mechsim.result.layout import Array
from mechsim.result.paths import OutputError
from mechsim.spec.document import MechSpec, Optimize, Written
from mechsim.spec.rewriting import Course, Polynomials, rewritten

SECONDS = 1.0  # between two times that what is best so far is written
Observer = Callable[[Iteration], None]


@frozen(eq=False)
class Given:
    """What a person says beside the file; None and nothing: as the file has it. `marks` are the places of what varies,
    where that is not a file."""

    vary: Mapping[str, Bounds] | None = None
    minimise: str | None = None
    squares: str | Sequence[str] = ()
    through: Mapping[str, Places] | None = None
    fit: str | Path | None = None
    subject: str | Sequence[str] = ()
    marks: Mapping[str, Mark] | None = None


def wanted_of(spec: MechSpec, given: Given) -> Wanted:
    """The file's section with what is given in its place: bounds by name, the goal as a whole, relations as a whole."""
    own = spec.optimize or Optimize({}, None, (), {}, None, (), Mark("", 1, 1), {})
    vary: dict[str, Bounds] = {name: each.text for name, each in own.vary.items()}
    if given.vary is not None:
        check_vary(given.vary)
        vary |= given.vary
    marks = {name: each.mark for name, each in own.vary.items()} | dict(given.marks or {})
    subject = texts(given.subject, "--subject") or tuple(map(_text, own.subject))
    goal = given.minimise, texts(given.squares, "--squares"), given.through, given.fit
    if any(goal):
        return Wanted(vary, least_of(given.minimise), goal[1], given.through, given.fit, subject, marks)
    fit = None if own.fit is None else _beside(own.fit, spec)
    minimise = None if own.minimise is None else _text(own.minimise)
    through = {f"{THROUGH} {name}": mark for name, mark in own.marks.items()}
    marks = {
        **marks,
        **through,
        **({FIT: own.fit.mark} if own.fit else {}),
        **({GOAL: own.mark} if spec.optimize else {}),
    }
    return Wanted(vary, minimise, tuple(map(_text, own.squares)), own.through, fit, subject, marks)


def _text(written: Written) -> Text:
    return Text(written.text, written.mark)


def _beside(given: Written, spec: MechSpec) -> Path:
    """A file that a mechanism file names: it must be in its folder, or below."""
    folder = Path(spec.path).parent.resolve() if Path(spec.path).is_file() else Path.cwd()
    found = (folder / given.text).resolve()
    if not found.is_relative_to(folder):
        hint = "name it on the command line: --fit FILE"
        message = f"cannot read {given.text}: it is not in the folder of the mechanism file"
        raise SpecError(Fault(message, given.mark, hint))
    return found


def optimize_file(
    motions: FileSubject,
    given: Given,
    settings: Settings,
    *,
    iterations: int | None = None,
    output: str | Path | None = None,
    resume: bool = False,
    observer: Observer | None = None,
    saved: bool = True,
) -> Optimum:
    """The optimum of a file's mechanism. What is best so far is written to `output` (.json, or .yaml) while it is
    searched for, and, if `saved`, at the end; where that fails then a WritingWarning tells it, and a note of what is
    returned. With `resume` the search goes on from there."""
    if output is not None:
        check_file(output, FORMS)
    begin = _resumed(output) if resume else None
    spec, keepers = motions.handle.spec, []

    def keeper(shooting: Shooting) -> Watched:
        keepers.append(_Keeper(spec, shooting, output, motions.t0))
        return keepers[0].keep

    found = optimum_of(
        wanted_of(spec, given),
        motions,
        settings,
        iterations=iterations,
        begin=begin,
        observer=observer,
        keeper=keeper,
    )
    found = replace(found, text=keepers[0].text(found.numbers))
    return _saved(found, output) if output is not None and saved else found


def _saved(found: Optimum, output: str | Path) -> Optimum:
    """What was found is not lost where it cannot be written: that is told, and `save` may try again elsewhere."""
    try:
        found.save(output)
    except OutputError as error:
        told = f"{error.faults[0].message}: what was found is not in that file"
        warn_caller(told, WritingWarning)
        return replace(found, told=(*found.told, told))
    return found


class _Keeper:
    """Writes what is best so far, now and then."""

    def __init__(self, spec: MechSpec, shooting: Shooting, output: str | Path | None, t0: float | None):
        self.spec, self.shooting, self.output, self.t0 = spec, shooting, output, t0
        self.written = time.monotonic()

    def keep(self, iteration: Iteration, best: Array) -> None:
        now = time.monotonic()
        if self.output is None or now - self.written < SECONDS:
            return
        self.written = now
        told = {"status": "running", "iteration": iteration.number, "numbers": best.tolist()}
        with suppress(OutputError):  # a disk that is full now need not be so at the end, which is told
            write_best(self.output, told, self.text(best))

    def text(self, numbers: Array) -> str:
        """The file with these numbers."""
        shooting, x = self.shooting, numbers[: len(self.shooting.names)]
        grid = shooting.grid(x)
        inputs: dict[str, float | Course | Polynomials] = {}
        for control in shooting.controls:
            values = x[control.first : control.first + control.count].tolist()
            if control.count == 1:
                inputs[control.name] = values[0]
            elif control.degree < 2:
                inputs[control.name] = Course(control.times(grid).tolist(), values, control.degree == 1)
            else:
                pieces = [control.polynomial(x, k, float(grid[k + 1] - grid[k])) for k in range(shooting.count)]
                inputs[control.name] = Polynomials(grid[:-1].tolist(), [each.tolist() for each in pieces])
        given = {name: float(self.spec.parameters[name]) for name in self.spec.overrides}
        times = {} if self.t0 is None else {"t0": self.t0}
        if shooting.ends or shooting.settings.tend is not None:
            times["tend"] = shooting.tend(x)
        return rewritten(self.spec.text, {**given, **shooting.values(x)}, inputs, times)


def _resumed(output: str | Path | None) -> Array:
    """The numbers that a search came to."""
    if output is None:
        raise SpecError(Fault("there is nothing to go on from", hint="say -o FILE, where the best so far was written"))
    try:
        return numbers_in(Path(output).read_text(encoding="utf-8"))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise OutputError(Fault(f"cannot go on from {output}: {reason}", hint="begin without --resume")) from None
    except (ValueError, KeyError, TypeError):
        raise OutputError(Fault(f"cannot go on from {output}: it was not written by mechsim optimize")) from None
