"""Submitting, and jobs as objects."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import secrets
import shlex
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

from muster import options as job_options
from muster.carried import Call, Carried
from muster.connection import RETRY_PAUSE, Client, default_client
from muster.errors import Error, JobFailed, NotFound, Refused, TimedOut, Unreachable
from muster.tables import ENDED, JobRow, row_of
from muster.wire import controller_pb2 as wire
from muster.wire import view_pb2

SCRIPT_BYTES_MAX = 4 << 20
READ_AGAIN = 1.0  # seconds
RESTART_PATIENCE = 60.0  # seconds for which a wait outlasts a controller that is away


class Job:
    """A job of the cluster, or an array of jobs: what submit() returns. `Job(7)` is job 7.

    >>> job = muster.submit(pow, 2, 10, time="5:00")
    >>> job.result()
    1024
    >>> muster.Job(job.id).result()
    1024
    >>> job.discard()
    """

    def __init__(self, job: int, *, client: Client | None = None) -> None:
        self.id = int(job)
        self.remark = ""  # why the nodes known at submission can never hold it; empty: they can
        self._client = client or default_client()
        self._carried: Carried | None = None

    def __int__(self) -> int:
        return self.id

    def __str__(self) -> str:
        return str(self.id)

    def __repr__(self) -> str:
        return f"muster.Job({self.id})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Job) and (self.id, self._client.controller) == (other.id, other._client.controller)

    def __hash__(self) -> int:
        return hash(self.id)

    def details(self) -> Sequence[view_pb2.JobDetail]:
        """All that `muster show` knows, as messages of proto/view.proto: of one job, or of an array's elements."""
        request = wire.ShowJobRequest(job=wire.JobSelector(job=self.id))
        found: Sequence[view_pb2.JobDetail] = self._client.call("ShowJob", request).jobs
        if not found:
            raise NotFound(f"job {self.id}: there is no such job")
        return found

    @property
    def rows(self) -> list[JobRow]:
        """The job as a row; of an array a row for each element."""
        return [row_of(detail.job) for detail in self.details()]

    @property
    def state(self) -> str:
        """"PENDING", "RUNNING", "COMPLETED", …; of an array the first that applies: a live state, the worst end."""
        states = [row.state for row in self.rows]
        live = [state for state in states if state not in ENDED]
        bad = [state for state in states if state != "COMPLETED"]
        return (live or bad or states)[0]

    def done(self) -> bool:
        return self.state in ENDED

    def wait(self, timeout: float | None = None) -> str:
        """Waits until the job, or each element of the array, has ended; the final state. TimedOut after `timeout` s."""
        until = None if timeout is None else time.monotonic() + timeout
        away = 0.0  # since when no controller has answered
        while True:
            try:
                while live := [row for row in self.rows if row.state not in ENDED]:
                    self._watch([row.id for row in live], until)
                return self.state
            except Unreachable:
                away = away or time.monotonic()
                if time.monotonic() > away + RESTART_PATIENCE:
                    raise
            except TimedOut:
                if until is not None and time.monotonic() >= until:
                    raise TimedOut(f"job {self.id}: has not ended within {timeout:g} s; it goes on") from None
            time.sleep(RETRY_PAUSE)

    def _watch(self, jobs: Sequence[int], until: float | None) -> None:
        """Follows jobs to their ends, one after the other; returns when it is time to read again which are left."""
        read = time.monotonic()
        for job in jobs:
            left = None if until is None else max(0.0, until - time.monotonic())
            with contextlib.closing(self._client.stream("WatchJob", wire.WatchJobRequest(job=job), left)) as stream:
                any(reply.job.state in ENDED for reply in stream)
            if time.monotonic() > read + READ_AGAIN:
                return

    def __await__(self) -> Generator[Any, None, str]:
        """`await job` is wait() beside the loop."""
        return asyncio.to_thread(self.wait).__await__()

    def result(self, timeout: float | None = None) -> Any:
        """What the job's function returned, once it has; raises what the function raised, or JobFailed."""
        state = self.wait(timeout)
        row = next((row for row in self.rows if row.state == state), self.rows[0])
        carried = self.carried()
        if carried is None:
            if state == "COMPLETED":
                return None
            ends = f"exit code {row.exit_code}" if not row.exit_signal else f"signal {row.exit_signal}"
            raise JobFailed(f"job {self.id}: {state}: {row.text or ends}", self.id, state)
        return carried.values(0, self.id, state, row.text)[0]

    def carried(self) -> Carried | None:
        """Where its function and its result are; nothing of a script."""
        if self._carried is None:
            self._carried = Carried.of_command(self.details()[0].command)
        return self._carried

    def output(self) -> str:
        """What the job has printed so far, out of its output file; of an array, element after element."""
        texts = []
        for detail in self.details():
            path = os.path.join(detail.work_dir, detail.stdout_path)
            try:
                with open(path, encoding="utf-8", errors="replace") as file:
                    texts.append(file.read())
            except FileNotFoundError:
                if detail.job.state not in ENDED and not detail.job.start_time:
                    continue  # it has not begun
                raise Error(f"{path}: is not on this machine: `muster logs {self.id}` has it from the node") from None
            except OSError as error:
                raise Error(f"{path}: {error.strerror}") from None
        return "".join(texts)

    def explain(self) -> str:
        """Why it waits, why it runs where it does, or how it ended, in one sentence."""
        request = wire.ExplainRequest(job=wire.JobSelector(job=self.id))
        return str(self._client.call("Explain", request).summary)

    def cancel(self) -> None:
        """Ends it; of a job that has ended it does nothing."""
        errors = self.cancel_all([self])
        if errors and not self.done():
            raise Refused(errors[0])

    @staticmethod
    def cancel_all(jobs: Sequence[Job]) -> Sequence[str]:
        """Ends jobs of one cluster in one call; a line for each that could not be ended, as one that has ended already."""
        request = wire.CancelRequest(jobs=[wire.JobSelector(job=job.id) for job in jobs])
        return list(jobs[0]._client.call("Cancel", request).errors)

    def hold(self) -> None:
        """Keeps it from starting until release()."""
        self._hold(True)

    def release(self) -> None:
        self._hold(False)

    def _hold(self, held: bool) -> None:
        reply = self._client.call("Hold", wire.HoldRequest(jobs=[wire.JobSelector(job=self.id)], held=held))
        if reply.errors:
            raise Refused(reply.errors[0])

    def discard(self) -> None:
        """Removes the files of its function and its result; result() needs them no more once it was called."""
        carried = self.carried()
        if carried is not None:
            carried.remove()


def submit(what: Callable[..., Any] | str | os.PathLike[str], *args: Any, client: Client | None = None,
           directory: str | None = None, python: str | None = None, keywords: Mapping[str, Any] | None = None,
           **options: Any) -> Job:
    """Submits a function with its arguments, a script's file, or a command; returns the Job.

    A function is carried by value (cloudpickle), with `args` and `keywords`, and runs once, on the job's first node; its
    result comes back through `directory` (see Carried). `python` runs it there: this interpreter, or the image's python3.
    A path to a file that begins with #! is a script, and `args` are its arguments; its #MUSTER lines are read, and what is
    given here counts more. Any other text is a command for /bin/sh, and `args` are words after it.
    `options` are those of `muster submit`: gpus=1, ntasks=4, time="10:00", image="docker.io/library/debian:12", ….

    >>> muster.submit("echo", "one  two", time=1, output="/dev/null").wait()
    'COMPLETED'
    >>> muster.submit(abs, -1, gpuz=1)
    Traceback (most recent call last):
    TypeError: 'gpuz' is not a job option: did you mean gpus?
    """
    client = client or default_client()
    job_options.check_names(options)
    if not callable(what):
        if keywords or python or directory:
            raise TypeError("keywords, python and directory are for functions")
        return _submit_script(client, os.fspath(what), args, options)
    if options.get("array") is not None:
        raise TypeError("array: a function has one call a job; muster.Executor's map() makes arrays")
    call: Call = (args, dict(keywords or {}))
    return submit_carried(client, what, [[call]], directory, python, options)


def submit_carried(client: Client, function: Callable[..., Any], calls: Sequence[Sequence[Call]], directory: str | None,
                   python: str | None, options: Mapping[str, Any]) -> Job:
    """Submits a function with the calls of each element; without options["array"] there is one."""
    name = getattr(function, "__name__", type(function).__name__)
    options = {"job_name": re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:200], **options}
    image = options.get("image") or options.get("container_image")
    job_options.fill(wire.SubmitRequest(), options)  # a mistake is told before a file is made
    carried = Carried.make(function, calls, directory)
    request = wire.SubmitRequest()
    request.program.script = carried.script(python or ("python3" if image else sys.executable))
    request.program.argv[:] = carried.command
    try:
        job_options.fill(request, options)
        if image:
            request.spec.container.mounts.add(source=carried.place, destination=carried.place)
        job = _send(client, request)
    except Unreachable:
        raise  # it may have been taken after all: its files stay
    except BaseException:
        carried.remove()
        raise
    job._carried = carried
    return job


def _submit_script(client: Client, what: str, args: Sequence[Any], options: Mapping[str, Any]) -> Job:
    words = [str(word) for word in args]
    request = wire.SubmitRequest()
    directives: dict[str, Any] = {}
    if os.path.sep in what or os.path.isfile(what):
        text = _read_script(what)
        directives = read_directives(text, what)
        request.program.script, request.program.argv[:] = text, words
        name = os.path.basename(what)
    else:
        request.program.script = f"#!/bin/sh\n# Made by python3-muster.\n{' '.join([what, *map(shlex.quote, words)])}\n"
        name = what.split()[0] if what.split() else ""
    if not name:
        raise ValueError("the command is empty: give one")
    job_options.fill(request, {"job_name": name[:200], **directives, **options})
    return _send(client, request)


def _read_script(path: str) -> str:
    try:
        with open(path, "rb") as file:
            content = file.read(SCRIPT_BYTES_MAX + 1)
        text = content.decode()
    except OSError as error:
        raise ValueError(f"{path}: cannot read the script: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path}: the script is not UTF-8: convert it with iconv") from None
    if len(content) > SCRIPT_BYTES_MAX:
        raise ValueError(f"{path}: the script is larger than 4 MiB: move data out of it")
    if not text.startswith("#!") or "\0" in text:
        raise ValueError(f"{path}: the script does not begin with #!: make its first line #!/bin/sh")
    return text


def read_directives(script: str, name: str) -> dict[str, str | bool]:
    """The options in #MUSTER lines before the first command. Slurm's directives are the command line's to read."""
    found: dict[str, str | bool] = {}
    for number, line in enumerate(script.split("\n"), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            break
        if re.match(r"#SBATCH(\s|$)", line):
            raise ValueError(f"{name}:{number}: #SBATCH lines are read by `muster submit` alone: use that, or write them "
                             "as #MUSTER --NAME=VALUE")
        if not re.match(r"#MUSTER(\s|$)", line):
            continue
        for word in shlex.split(line[7:], comments=True):
            option = re.fullmatch(r"--([a-z][a-z-]*)(?:=(.*))?", word)
            key = option[1].replace("-", "_") if option else ""
            if not option or key not in job_options.OPTIONS:
                raise ValueError(f"{name}:{number}: {word!r} is not read here: write --NAME=VALUE, or use `muster submit`")
            found[key] = True if option[2] is None else option[2]
    return found


def _send(client: Client, request: wire.SubmitRequest) -> Job:
    request.token = secrets.token_hex(16)  # made again after a failure, the same submission has one effect
    reply = client.call("Submit", request)
    job = Job(reply.job, client=client)
    job.remark = reply.remark
    return job
