"""What happens in the cluster, as CloudEvents: for a loop, or for asyncio."""

from __future__ import annotations

import asyncio
import concurrent.futures
import dataclasses
import itertools
import json
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

from muster.connection import Client, Stream, default_client
from muster.errors import Unreachable
from muster.wire import controller_pb2 as wire

BETWEEN_TRIES = 0.5


@dataclasses.dataclass(frozen=True)
class Event:
    """One event. `number` grows, with gaps: events(start=number + 1) goes on after it."""

    number: int
    type: str  # "muster.job.ended"
    time: str
    data: dict[str, Any]

    @property
    def job(self) -> int:
        """The job that it is about; 0: none."""
        return int(self.data.get("job", 0))


class Events:
    """Events, one after the other: `for event in …` or `async for event in …`.

    A follower goes on where it was when the controller restarts or another takes over, and misses nothing.
    """

    def __init__(self, client: Client, request: wire.WatchEventsRequest) -> None:
        self._client, self._request = client, request
        self._closed = False
        self._stream: Stream | None = None
        self._opened: Iterator[Any] | None = self._open()

    def _open(self) -> Iterator[Any]:
        """Opens the stream; its first message says that it is there, and where it begins."""
        self._stream = self._client.stream("WatchEvents", self._request)
        messages = iter(self._stream)
        first = next(messages, None)
        return itertools.chain([] if first is None else [first], messages)

    def _replies(self) -> Iterator[Any]:
        while not self._closed:
            try:
                messages, self._opened = self._opened or self._open(), None
                for reply in messages:
                    yield reply
                    setattr(self._request, "from", reply.next)
                if not self._request.follow:
                    return
            except Unreachable:
                if not self._request.follow:
                    raise
            if not self._closed:
                time.sleep(BETWEEN_TRIES)

    def __iter__(self) -> Iterator[Event]:
        for reply in self._replies():
            for line in reply.events:
                told = json.loads(line.json)
                yield Event(line.number, line.type, told["time"], told["data"])

    async def __aiter__(self) -> AsyncIterator[Event]:
        loop = asyncio.get_running_loop()
        iterator = iter(self)
        with concurrent.futures.ThreadPoolExecutor(1, "muster-events") as waits:
            try:
                while (event := await loop.run_in_executor(waits, _next, iterator)) is not None:
                    yield event
            finally:
                self.close()

    def close(self) -> None:
        """Ends the events, for whoever waits for the next one, too."""
        self._closed = True
        if self._stream is not None:
            self._stream.close()


def _next(iterator: Iterator[Event]) -> Event | None:
    return next(iterator, None)


def events(*, job: int = 0, user: str = "", start: int = 0, follow: bool = True, client: Client | None = None) -> Events:
    """The events of jobs that you may see, and of nodes; `job`: of that job or array alone.

    From `start`, the number of an event, on; else those to come, or without `follow` the last thousand.

    >>> job = muster.submit("true")
    >>> job.wait()
    'COMPLETED'
    >>> [event.type for event in muster.events(job=job.id, follow=False)][-1]
    'muster.job.ended'
    """
    request = wire.WatchEventsRequest(job=int(job), user=user, follow=follow)
    setattr(request, "from", start)
    return Events(client or default_client(), request)
