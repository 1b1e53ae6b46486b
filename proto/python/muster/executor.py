"""concurrent.futures over a cluster: each call is a job, and map() is an array."""

from __future__ import annotations

import concurrent.futures
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from muster.carried import Call, Carried
from muster.connection import Client, default_client
from muster.errors import Error
from muster.event_stream import Events, events
from muster.jobs import Job, submit_carried

ELEMENTS_MAX = 10_000  # of one array


class JobFuture(concurrent.futures.Future[Any]):
    """A call that a job makes; `job` is the job. cancel() ends a job that runs, too."""

    def __init__(self, job: Job, carried: Carried, index: int, alone: bool) -> None:
        super().__init__()
        self.job, self._carried, self._index = job, carried, index
        self._alone = alone  # one call, whose value is the future's; else the future has a list

    def cancel(self) -> bool:
        return cancel_all([self]) == 1

    def give_up(self) -> bool:
        """Takes no result any more; whether it still could have had one."""
        return super().cancel()

    def job_ended(self, state: str, why: str) -> None:
        """Takes the result, once the job has ended."""
        if not self.set_running_or_notify_cancel():
            return
        try:
            values = self._carried.values(self._index, self.job.id, state, why)
            self.set_result(values[0] if self._alone else values)
        except BaseException as error:
            self.set_exception(error)


def cancel_all(futures: Iterable[JobFuture]) -> int:
    """Ends the jobs of those futures that have no result yet, in one call of the controller; how many."""
    given_up = [future for future in futures if not future.done() and future.give_up()]
    if given_up:
        Job.cancel_all([future.job for future in given_up])
    return len(given_up)


class Executor(concurrent.futures.Executor):
    """Runs functions as jobs: `options` are those of submit(). Of one map() at most `max_workers` jobs run at once.

    >>> with muster.Executor(time="5:00", output="/dev/null") as cluster:
    ...     one = cluster.submit(divmod, 17, 5)
    ...     squares = cluster.map(lambda x: x * x, range(4))
    ...     print(one.result(), list(squares))
    (3, 2) [0, 1, 4, 9]
    """

    def __init__(self, max_workers: int | None = None, *, client: Client | None = None, directory: str | None = None,
                 python: str | None = None, **options: Any) -> None:
        if "array" in options:
            raise TypeError("array: map() makes the arrays")
        self._max, self._directory, self._python = max_workers, directory, python
        self._client, self._options = client or default_client(), options
        self._lock = threading.RLock()
        self._futures: dict[int, JobFuture] = {}
        self._places: list[tuple[Carried, list[JobFuture]]] = []
        self._events: Events | None = None
        self._ends = threading.Thread(target=self._take_ends, name="muster-executor", daemon=True)
        self._down = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> concurrent.futures.Future[Any]:
        """A future of one call: `fn(*args, **kwargs)` in a job."""
        return self._start(fn, [[(args, kwargs)]], array=False)[0]

    def map(self, fn: Callable[..., Any], *iterables: Iterable[Any], timeout: float | None = None,
            chunksize: int = 1) -> Iterator[Any]:
        """The results of fn over the iterables, in their order: one array, `chunksize` calls an element."""
        if chunksize < 1:
            raise ValueError("chunksize must be >= 1.")
        calls: list[Call] = [(arguments, {}) for arguments in zip(*iterables)]
        chunks = [calls[at:at + chunksize] for at in range(0, len(calls), chunksize)]
        until = None if timeout is None else time.monotonic() + timeout
        futures = [future for at in range(0, len(chunks), ELEMENTS_MAX)
                   for future in self._start(fn, chunks[at:at + ELEMENTS_MAX], array=True)]

        def results() -> Iterator[Any]:
            try:
                for future in futures:
                    yield from future.result(None if until is None else until - time.monotonic())
            finally:
                cancel_all(futures)
        return results()

    def _start(self, function: Callable[..., Any], calls: Sequence[Sequence[Call]], array: bool) -> list[JobFuture]:
        options = dict(self._options)
        if array:
            options["array"] = f"0-{len(calls) - 1}" + (f"%{self._max}" if self._max else "")
        with self._lock:  # while it is held no end of a job is taken
            if self._down:
                raise RuntimeError("cannot schedule new futures after shutdown")
            if self._events is None:
                self._events = events(client=self._client)
                self._ends.start()
            job = submit_carried(self._client, function, calls, self._directory, self._python, options)
            carried = job.carried()
            assert carried is not None
            futures = [JobFuture(Job(job.id + at, client=self._client), carried, at, not array)
                       for at in range(len(calls))]
            self._futures.update((future.job.id, future) for future in futures)
            self._places.append((carried, futures))
        return futures

    def _take_ends(self) -> None:
        assert self._events is not None
        try:
            for event in self._events:
                if event.type != "muster.job.ended":
                    continue
                first, count = event.job, int(event.data.get("count", 1))
                with self._lock:
                    ended = [self._futures.pop(job) for job in range(first, first + count) if job in self._futures]
                for future in ended:
                    future.job_ended(event.data["state"], event.data.get("text", ""))
                with self._lock:
                    if self._down and not self._futures:
                        return
        except Error as error:
            with self._lock:
                lost, self._futures, self._down = list(self._futures.values()), {}, True
            for future in lost:
                if future.set_running_or_notify_cancel():
                    future.set_exception(error)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Takes no more calls; waits for those under way, then removes their files."""
        with self._lock:
            self._down = True
            left = list(self._futures.values())
        if cancel_futures:
            cancel_all(left)
        if not wait:
            return
        concurrent.futures.wait([future for future in left if not future.cancelled()])
        if self._events is not None:
            self._events.close()
            self._ends.join()
        for carried, futures in self._places:
            if all(future.done() for future in futures):
                carried.remove()
        self._places.clear()

