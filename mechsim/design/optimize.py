"""Optimisation: parameters, starts and inputs chosen so that a measure of the motion is least and others hold.

IPOPT with exact first derivatives. Second ones are those of formulas, where these are sums of squares or alike (Gauss
and Newton), else IPOPT gathers them on its way (limited memory).
"""

from __future__ import annotations

import signal
import time

import numpy as np

from mechsim.design.optimum import Optimum
from mechsim.design.posed import Task, refuse_no_end, refuse_outside, refuse_overdetermined
from mechsim.design.running import Running, Watched
from mechsim.design.shooting import Shooting
from mechsim.design.telling import Telling
from mechsim.errors import Fault, SpecError
from mechsim.nonlinear import signals_kept_back
from mechsim.result.layout import Array

ITERATIONS = 500


def optimize(
    shooting: Shooting,
    task: Task,
    *,
    begin: Array | None = None,
    iterations: int = ITERATIONS,
    observer: Watched | None = None,
) -> Optimum:
    """The numbers that make the goal least, from the subject's own values, or from those that another search came to
    (`begin`). Raises SpecError, and what else hinders the first motion; later ones that fail are stepped back from."""
    began = time.perf_counter()
    refuse_outside(shooting, begin)
    refuse_overdetermined(shooting, task)
    first = shooting.course(shooting.start, sloped=True)
    refuse_no_end(shooting, first)
    start = np.concatenate([shooting.start, task.goal.begin(first)])
    if begin is not None:
        start = _resumed(begin, start)
    with signals_kept_back(heeded=(signal.SIGINT,)) as interrupted:  # the best so far is told
        running = Running(shooting, task, start, first.ended_by, interrupted, observer)
        found = running.solved(iterations)
        return Telling(running, found).optimum(time.perf_counter() - began)


def _resumed(begin: Array, start: Array) -> Array:
    if len(begin) != len(start) or not np.isfinite(begin).all():
        message = f"what the search is to go on from has {len(begin)} numbers, and there are {len(start)} to choose"
        raise SpecError(Fault(message, hint="it is of another problem: begin anew, without --resume"))
    return np.asarray(begin, dtype=float)
