"""Running specs for a batch: each in a process of its own, so that one that dies takes nothing with it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkContext, SpawnContext
from multiprocessing.process import BaseProcess
from pathlib import Path

from mechsim.errors import AssemblyError, IntegrationError, MechsimError, SpecError
from mechsim.frozen import frozen
from mechsim.study.regression import FINISHED, Figures, Value

Context = ForkContext | SpawnContext
Observer = Callable[[int, int], None]  # of specs done, and of all
LOOK = 0.5  # seconds between two looks for the process that leads
STATUSES = {SpecError: "not read", AssemblyError: "not assembled", IntegrationError: "stopped"}


def run_spec(path: str | Path) -> Figures | None:
    """Run a spec and hold it against its Reference; None: it has none. A failure is a status, with its message."""
    try:
        return _followed(path)
    except MechsimError as error:
        status = next((word for kind, word in STATUSES.items() if isinstance(error, kind)), "failed")
        return Figures(status, "; ".join(_words(error)))
    except Exception as error:  # a batch goes on whatever happens in one of its specs
        return Figures("crashed", f"unexpected {type(error).__name__}: {' '.join(str(error).split())}")


def _words(error: MechsimError) -> list[str]:
    marks = [f"{fault.mark}: " if fault.mark else "" for fault in error.faults]
    hints = [f" ({fault.hint})" if fault.hint else "" for fault in error.faults]
    return [f"{mark}{fault.message}{hint}" for mark, fault, hint in zip(marks, error.faults, hints, strict=True)]


def _followed(path: str | Path) -> Figures | None:
    from mechsim import simulation
    from mechsim.result.certificate import Monitor
    from mechsim.study.references import Witness, missed_bars

    began = time.perf_counter()
    spec = simulation.read(Path(path))
    if spec.reference is None:
        return None
    prepared = simulation.prepare(spec)
    monitor = Monitor(prepared.system)
    witness = Witness(prepared, monitor)
    solution = simulation.follow(prepared, keep="outline", observer=witness, detailed=True)
    if solution.status == "interrupted":
        raise KeyboardInterrupt
    if solution.status != "finished":
        raise IntegrationError(simulation.failure(solution))
    agreements = witness.agreements()
    certificate = monitor.certificate(spec.solver.tolerance, solution.statistics)
    return Figures(
        status=FINISHED,
        title=spec.title,
        values=tuple(Value(a.known.column, a.known.time, a.digits, a.known.digits) for a in agreements),
        missed=(*(str(a) for a in agreements if a.missed), *missed_bars(spec.reference, certificate)),
        energy=certificate.energy_drift,
        constraints=max(certificate.position_residual, certificate.velocity_residual),
        steps=certificate.steps,
        rejected=certificate.rejected,
        order=certificate.order,
        tolerance=certificate.tolerance,
        seconds=max(0.0, certificate.seconds - witness.seconds),
        seconds_in_all=time.perf_counter() - began,
    )


@frozen
class _Task:
    """A spec that is being run, and the process that does."""

    index: int
    process: BaseProcess


def run_all(
    paths: Sequence[str | Path], jobs: int, observer: Observer = lambda done, total: None
) -> list[Figures | None]:
    """The figures of every spec, in their order, from so many processes at a time. However this ends, they end too."""
    context = _context()
    found: dict[int, Figures | None] = {}
    running: dict[Connection, _Task] = {}
    waiting = list(enumerate(paths))[::-1]
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                index, path = waiting.pop()
                receiver, process = _begun(context, path)
                running[receiver] = _Task(index, process)
            for ready in wait(list(running)):
                assert isinstance(ready, Connection)
                task = running.pop(ready)
                found[task.index] = _received(ready, task.process)
                observer(len(found), len(paths))
    finally:
        for task in running.values():
            task.process.kill()
            task.process.join()
    return [found[index] for index in range(len(paths))]


def _begun(context: Context, path: str | Path) -> tuple[Connection, BaseProcess]:
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_report, args=(path, sender, os.getpid()), daemon=True)
    with _deaf_to_interrupts():
        process.start()
    sender.close()  # the process has it; only so its end is heard here
    return receiver, process


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Ctrl-C waits meanwhile: a process that is begun here must not hear it before it ignores it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _received(receiver: Connection, process: BaseProcess) -> Figures | None:
    try:
        figures: Figures | None = receiver.recv()
    except EOFError:
        process.join()
        number = -(process.exitcode or 0)
        how = f"was ended by {signal.Signals(number).name}" if number > 0 else f"ended with code {-number}"
        return Figures("crashed", f"its process {how}; perhaps memory ran out")
    finally:
        receiver.close()
    process.join()
    return figures


def _context() -> Context:
    """Forking spares each process what is imported here, but is safe only while there is one thread; JAX has many."""
    from mechsim import simulation  # noqa: F401
    from mechsim.initial import problem  # noqa: F401
    from mechsim.study import references  # noqa: F401

    fork = sys.platform == "linux" and threading.active_count() == 1 and "jax" not in sys.modules
    return multiprocessing.get_context("fork") if fork else multiprocessing.get_context("spawn")


def _report(path: str | Path, sender: Connection, leader: int) -> None:
    """In a process of its own: Ctrl-C is for the leader; when that is gone, this goes too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_go_with, args=(leader,), daemon=True).start()
    sender.send(run_spec(path))
    sender.close()


def _go_with(leader: int) -> None:
    while os.getppid() == leader:
        time.sleep(LOOK)
    os._exit(1)
