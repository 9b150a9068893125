"""Nonlinear programs by IPOPT: the one place that knows it. It is imported when a program is solved, and not before."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mechsim.frozen import frozen

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
UNBOUNDED = 1e20  # what IPOPT takes for infinite
OPTIONS: Mapping[str, str | float | int] = {"print_level": 0, "sb": "yes"}


class NoValue(Exception):
    """At such a point a program has no value: IPOPT then takes a shorter step."""


class Program(Protocol):
    """What IPOPT asks for; `hessianstructure` and `hessian` too, where it does not approximate that. `intermediate` is
    called after each iteration, and ends the search by False."""

    def objective(self, x: Array) -> float: ...
    def gradient(self, x: Array) -> Array: ...
    def constraints(self, x: Array) -> Array: ...
    def jacobianstructure(self) -> tuple[Indices, Indices]: ...
    def jacobian(self, x: Array) -> Array: ...
    def intermediate(self, *told: float) -> bool: ...


@frozen(eq=False)
class Solved:
    """IPOPT's last point, with multipliers of the constraints and of the bounds below and above, by the signs of
    f + multipliers * g - below * (x - lower) - above * (upper - x); its status, 0 and 1 being good, and its words."""

    x: Array
    multipliers: Array
    below: Array
    above: Array
    status: int
    words: str


def solve(
    program: Program,
    start: Array,
    bounds: tuple[Array, Array],
    limits: tuple[Array, Array],
    options: Mapping[str, str | float | int],
) -> Solved:
    """Minimise from a start, with x between `bounds` and the constraints between `limits`."""
    from cyipopt import Problem  # here only: it imports scipy.optimize, which takes longer than most runs

    lower, upper, least, most = (np.clip(each, -UNBOUNDED, UNBOUNDED) for each in (*bounds, *limits))
    asked = _Asked(program)
    problem = Problem(len(start), len(least), asked, lb=lower, ub=upper, cl=least, cu=most)
    for name, value in {**OPTIONS, **options}.items():
        problem.add_option(name, value)
    with _frames.of_ipopt(True):
        x, told = problem.solve(start)
    if asked.ended or _frames.late:
        raise KeyboardInterrupt
    words = told["status_msg"]
    return Solved(
        np.asarray(x),
        np.asarray(told["mult_g"]),
        np.asarray(told["mult_x_L"]),
        np.asarray(told["mult_x_U"]),
        int(told["status"]),
        words.decode() if isinstance(words, bytes) else str(words),
    )


class _Frames(threading.local):
    """Whose code is running: where it is IPOPT's nothing may be raised, and what should have been is `late`."""

    ipopt = False
    late = False

    @contextmanager
    def of_ipopt(self, ipopt: bool) -> Iterator[None]:
        before, self.ipopt = self.ipopt, ipopt
        try:
            yield
        finally:
            self.ipopt = before

    def interrupt(self) -> None:
        """Raise KeyboardInterrupt as soon as that may be done."""
        self.late = self.ipopt
        if not self.ipopt:
            raise KeyboardInterrupt


_frames = _Frames()


class _Asked:
    """A program whose lack of values is told in IPOPT's way; it has none any more once it was interrupted."""

    def __init__(self, program: Program):
        self.program = program
        self.ended = False

    def __getattr__(self, name: str) -> object:
        from cyipopt import CyIpoptEvaluationError

        own = getattr(self.program, name)

        def ask(*arguments: object) -> object:
            self.ended |= _frames.late
            try:
                if not self.ended:
                    with _frames.of_ipopt(False):
                        return own(*arguments)
            except NoValue as error:
                raise CyIpoptEvaluationError(str(error)) from None
            except KeyboardInterrupt:  # it passes none of IPOPT's frames, and is raised behind them
                self.ended = True
            if name == "intermediate":
                return False
            raise CyIpoptEvaluationError("interrupted")

        return ask


@contextmanager
def signals_kept_back(heeded: tuple[int, ...] = ()) -> Iterator[list[int]]:
    """Signals that come meanwhile, which their handlers hear of only afterwards; of those that are `heeded` within,
    they never do, but a second one raises KeyboardInterrupt at once.

    An exception that a handler raises within a callback (Ctrl-C) passes IPOPT's own frames, which may end the process.
    """
    heard: list[int] = []
    if threading.current_thread() is not threading.main_thread():  # handlers never run in others
        yield heard
        return
    handlers = {number: handler for number in signal.valid_signals() if callable(handler := signal.getsignal(number))}

    def hear(number: int, _: object) -> None:
        heard.append(number)
        if number in heeded and heard.count(number) > 1:
            _frames.interrupt()

    for number in handlers:
        signal.signal(number, hear)
    try:
        yield heard
    finally:
        _frames.late = False
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for first in [number for number in heard if number not in heeded][:1]:
            signal.raise_signal(first)
