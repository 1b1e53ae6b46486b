"""Rows of jobs: those that are live, and those that ended."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterable, Sequence
from typing import Any

from muster.connection import Client, default_client
from muster.wire import controller_pb2 as wire
from muster.wire import view_pb2

ENDED = frozenset(("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "DEADLINE", "PREEMPTED"))


@dataclasses.dataclass(frozen=True)
class JobRow:
    """One job, or one element of an array. Times are UTC, and None where there is none yet."""

    id: int
    label: str  # "7", "7_3" for element 3 of array 7
    name: str
    user: str
    account: str
    partition: str
    qos: str
    state: str
    reason: str  # why it waits
    nodes: tuple[str, ...]
    tasks: int
    cpus: int
    gpus: int
    memory: int  # bytes
    submitted: datetime.datetime | None
    started: datetime.datetime | None
    ended: datetime.datetime | None
    time_limit: datetime.timedelta | None
    exit_code: int
    exit_signal: int
    text: str  # why it ended, when it did not end by itself
    restarts: int
    comment: str
    cpu_seconds: float  # used
    cost: float | None  # of all its attempts, once it has ended; None where the site has no prices
    currency: str


class Rows(list[JobRow]):
    """A list of rows that pandas can take: rows.to_pandas(), or pandas.DataFrame(rows)."""

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with a column for each field; pandas has to be installed."""
        import pandas
        columns = [field.name for field in dataclasses.fields(JobRow)]
        return pandas.DataFrame([dataclasses.astuple(row) for row in self], columns=columns)


def _moment(milliseconds: int) -> datetime.datetime | None:
    return datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.timezone.utc) if milliseconds > 0 else None


def row_of(view: view_pb2.JobView) -> JobRow:
    limit = datetime.timedelta(milliseconds=view.time_limit) if view.time_limit > 0 else None
    return JobRow(
        view.id, view.label, view.name, view.user, view.account, view.partition, view.qos, view.state, view.reason.text,
        tuple(view.nodes), view.tasks, view.cpus, view.gpus, view.memory, _moment(view.submit_time),
        _moment(view.start_time), _moment(view.end_time), limit, view.exit_code, view.exit_signal, view.exit_text,
        view.restarts, view.comment, (view.usage.user_cpu + view.usage.system_cpu) / 1000,
        view.cost / 1e6 if view.currency else None, view.currency)


def queue(*, user: str = "", states: Sequence[str] = (), jobs: Iterable[int] = (), client: Client | None = None) -> Rows:
    """The jobs that wait or run, by number.

    >>> muster.queue(user="no-such-user")
    []
    """
    request = wire.ListJobsRequest(states=list(states), user=user, jobs=[int(job) for job in jobs])
    reply = (client or default_client()).call("ListJobs", request)
    return Rows(row_of(view) for view in reply.jobs if states or view.state not in ENDED)


def history(*, user: str = "", states: Sequence[str] = (), since: datetime.datetime | None = None, limit: int = 100,
            jobs: Iterable[int] = (), client: Client | None = None) -> Rows:
    """The jobs that ended, the newest first; `since` means those that ended then or later.

    >>> muster.submit("true", time=1).wait()
    'COMPLETED'
    >>> muster.history(limit=1)[0].state
    'COMPLETED'
    """
    request = wire.ListHistoryRequest(
        user=user, states=list(states), since=round(since.timestamp() * 1000) if since else 0, limit=limit,
        jobs=[int(job) for job in jobs])
    return Rows(row_of(view) for view in (client or default_client()).call("ListHistory", request).jobs)
