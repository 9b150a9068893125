"""Chunks on a Dask cluster: one that runs somewhere, named by the address of its scheduler, or `local`, started here.

Dask finds workers, sends chunks, and runs those of a lost worker elsewhere. A chunk that took too many workers with it
is given back.
"""

from __future__ import annotations

import logging
import pickle
import queue
import re
import time
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING

from mechsim._version import __version__
from mechsim.errors import Fault, MechsimError
from mechsim.result.paths import OutputError
from mechsim.study.executors import Done, cores
from mechsim.study.plan import Job
from mechsim.study.worker import Chunk, Worker

if TYPE_CHECKING:
    from distributed import Client, Future

LOCAL = "local"
CONNECT = 5.0  # seconds to find the scheduler
ADDRESS = re.compile(r"((tcp|tls|ucx|ws|wss)://)?[^\s/]+:\d+|inproc://.+")
FIRST_WORKER = 30.0  # seconds to wait for a worker
PATIENCE = 60.0  # seconds without any worker, or without the scheduler
LOOK = 2.0  # seconds between two counts of workers


class ClusterError(MechsimError):
    """The cluster cannot be reached, or cannot run cases; what was finished is kept."""

    exit_code = 2


class Cluster:
    """A client of a scheduler."""

    def __init__(self, scheduler: str, job: Job, processes: int | None = None):
        self.address = scheduler
        self._cluster: object = None
        self._client = self._connect(scheduler, processes)
        self._done: queue.Queue[Future] = queue.Queue()
        self._given: dict[object, tuple[Future, Chunk]] = {}
        self._looked = 0.0
        self._alone_since: float | None = None
        self.workers = 1
        try:
            self._count()
            payload = pickle.dumps(job, pickle.HIGHEST_PROTOCOL)
            # A task, not scattered data: where it is lost with a worker, the scheduler makes it again.
            self._job = self._client.submit(_kept, payload, pure=False)
        except BaseException:
            self.close()
            raise

    def _connect(self, scheduler: str, processes: int | None) -> Client:
        try:
            from distributed import Client, LocalCluster
        except ImportError:
            hint = "pip install 'mechsim[cluster]'"
            raise ClusterError(Fault("a cluster needs dask.distributed, which is not installed", hint=hint)) from None
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what a person should know we say ourselves
        if scheduler == LOCAL:
            self._cluster = LocalCluster(
                n_workers=cores() if processes is None else processes,
                threads_per_worker=1,
                dashboard_address=None,
                silence_logs=logging.CRITICAL,
            )
            return Client(self._cluster, set_as_default=False)
        hint = "is `dask scheduler` running there? An address is tcp://host:port, or local"
        if not ADDRESS.fullmatch(scheduler):  # Dask would say so too, but leave a client that cannot be closed
            raise ClusterError(Fault(f"the scheduler {scheduler} cannot be reached: that is no address", hint=hint))
        try:
            client = Client(scheduler, timeout=CONNECT, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            message = f"the scheduler {scheduler} cannot be reached: {_words(error)}"
            raise ClusterError(Fault(message, hint=hint)) from None
        try:
            client.wait_for_workers(1, timeout=FIRST_WORKER)
        except (TimeoutError, OSError):
            client.close(timeout=CONNECT)
            hint = f"start some: dask worker {scheduler}"
            raise ClusterError(Fault(f"the scheduler {scheduler} has no workers", hint=hint)) from None
        return client

    @property
    def described(self) -> str:
        return f"{self.workers} Dask worker{'s' if self.workers > 1 else ''}"

    def give(self, chunk: Chunk) -> None:
        future = self._client.submit(_run, self._job, chunk, __version__, pure=False)
        self._given[future.key] = future, chunk
        future.add_done_callback(self._done.put)

    def wait(self, timeout: float) -> list[Done]:
        if time.monotonic() - self._looked > LOOK:
            self._count()
        found: list[Done] = []
        with suppress(queue.Empty):
            found.append(self._taken(self._done.get(timeout=timeout)))
            while True:
                found.append(self._taken(self._done.get_nowait()))
        return found

    def busy(self) -> dict[str, Chunk]:
        return {}

    def close(self) -> None:
        with suppress(Exception):
            self._client.cancel([future for future, _ in self._given.values()])
        with suppress(Exception):
            self._client.close(timeout=CONNECT)
        if self._cluster is not None:
            with suppress(Exception):
                self._cluster.close(timeout=CONNECT)  # type: ignore[attr-defined]

    def _taken(self, future: Future) -> Done:
        from distributed.scheduler import KilledWorker

        _, chunk = self._given.pop(future.key)
        if future.status == "finished":
            rows, seconds, worker = future.result()
            return Done(chunk, rows, seconds, worker)
        if future.status == "error":
            error = future.exception()
            if isinstance(error, KilledWorker):
                return Done(chunk, None, 0.0, "", "several workers were lost with it")
            if isinstance(error, OutputError):
                raise error
            raise self._unable(error)
        self._count()  # it was lost: with the scheduler, which is told there, or by itself
        return Done(chunk, None, 0.0, "", "it was lost on the cluster")

    def _unable(self, error: BaseException) -> ClusterError:
        if isinstance(error, OtherVersion):
            hint = f"install mechsim {__version__} on all machines of the cluster"
            return ClusterError(Fault(f"a worker of {self.address} has {error}, here is {__version__}", hint=hint))
        hint = f"is mechsim {__version__} installed on all machines of the cluster?"
        return ClusterError(Fault(f"workers of {self.address} cannot run cases: {_words(error)}", hint=hint))

    def _count(self) -> None:
        """How many workers there are; raises ClusterError where they, or the scheduler, are gone for long."""
        self._looked = time.monotonic()
        threads: dict[str, int] = {}
        if self._client.status == "running":
            with suppress(OSError, TimeoutError):
                threads = dict(self._client.nthreads())
        if threads:
            self.workers, self._alone_since = max(1, sum(threads.values())), None
            return
        self._alone_since = self._alone_since or self._looked
        if self._client.status in ("closed", "closing") or self._looked - self._alone_since > PATIENCE:
            gone = "has no workers any more" if self._client.status == "running" else "is gone"
            raise ClusterError(
                Fault(f"the scheduler {self.address} {gone}", hint="go on with --resume when it is back")
            )


class OtherVersion(Exception):
    """A worker has another mechsim."""


def _kept(payload: bytes) -> bytes:
    return payload


@lru_cache(maxsize=2)
def _worker(payload: bytes) -> Worker:
    return Worker(pickle.loads(payload))


def _run(payload: bytes, chunk: Chunk, version: str) -> tuple[object, float, str]:
    """On a worker: rows, the seconds they took, and who ran them."""
    from distributed import get_worker

    if version != __version__:
        raise OtherVersion(f"mechsim {__version__}")
    began = time.perf_counter()
    rows = _worker(payload).run(Chunk(*chunk))
    return rows, time.perf_counter() - began, str(get_worker().address)


def _words(error: BaseException) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__
