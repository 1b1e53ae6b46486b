"""Muster from Python: submit functions and scripts, follow jobs, read the history.

>>> import muster
>>> job = muster.submit(sum, [1, 2, 3], ntasks=1, time="10:00", output="/dev/null")
>>> job.result()
6
>>> muster.submit("exit 3", output="/dev/null").wait()
'FAILED'

Which controller is meant, and who we are, is found as the command line finds it; see Client. Errors are muster.Error and
its kinds, one line each; wrong options are a TypeError, wrong values a ValueError.
"""

from muster.connection import Client
from muster.errors import (Error, JobFailed, NotAllowed, NotFound, Refused, RemoteError, TimedOut,
                           Unreachable)
from muster.event_stream import Event, Events, events
from muster.executor import Executor, JobFuture
from muster.jobs import Job, submit
from muster.tables import JobRow, Rows, history, queue

__all__ = ["Client", "Error", "Event", "Events", "Executor", "Job", "JobFailed", "JobFuture", "JobRow", "NotAllowed",
           "NotFound", "Refused", "RemoteError", "Rows", "TimedOut", "Unreachable", "events", "history", "queue",
           "submit"]
