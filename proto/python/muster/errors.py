"""What calls raise: each error is one line that says what failed, where, and how to mend it."""

from __future__ import annotations


class Error(Exception):
    """Any failure that this package reports; wrong usage is a TypeError or a ValueError instead."""


class Unreachable(Error):
    """No controller answers at the address."""


class NotAllowed(Error):
    """The controller does not know who we are, or we may not do that."""


class Refused(Error):
    """The controller refused the request."""


class NotFound(Refused):
    """There is no such job, node or partition."""


class TimedOut(Error, TimeoutError):
    """The time that the caller gave is over; the job goes on."""


class JobFailed(Error):
    """The job ended without a result: `job` is its number, `state` its final state."""

    def __init__(self, text: str, job: int = 0, state: str = "") -> None:
        super().__init__(text)
        self.job = job
        self.state = state


class RemoteError(Error):
    """A function of a job raised an exception that could not be carried back: its type and text, and its traceback."""
