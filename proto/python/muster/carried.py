"""Functions that jobs call: carried to them, and their results back, in files of a directory of the user's.

Invariants: the directory is the user's and nobody else reads or writes it (mode 0700): what is in it is unpickled. A file
is there whole or not at all.
"""

from __future__ import annotations

import os
import pickle
import secrets
import shlex
import shutil
import stat
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from muster import run_carried
from muster.errors import Error, JobFailed, RemoteError

ARRIVAL_PATIENCE = 5.0  # seconds; a shared file system may show a node's file late
MARK = "python3-muster"

Call = tuple[tuple[Any, ...], dict[str, Any]]


class RemoteTraceback(Exception):
    """The cause of an exception that a job's function raised: where it did."""

    def __str__(self) -> str:
        return f'\n"""\n{self.args[0]}"""'


def results_directory(directory: str | None = None) -> str:
    """Where functions and results are kept: `directory`, $MUSTER_PYTHON_DIR, or ~/.local/state/muster-python. Nodes and
    the submitter need to see the same."""
    place = os.path.abspath(directory or os.environ.get("MUSTER_PYTHON_DIR") or os.path.join(
        os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state"), "muster-python"))
    try:
        os.makedirs(place, mode=0o700, exist_ok=True)
    except OSError as error:
        raise Error(f"{place}: cannot be made ({error.strerror}): set MUSTER_PYTHON_DIR to a directory of yours that "
                    "the nodes see too") from None
    return place


def check_own(place: str) -> None:
    """Refuses a directory that another user could have written to: what lies there is unpickled."""
    try:
        found = os.lstat(place)
    except OSError as error:
        raise Error(f"{place}: {error.strerror}: the job's function and results are gone") from None
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise Error(f"{place}: is not a directory of yours alone (mode 0700): nothing is read from there")


def _write(path: str, content: bytes) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(content)


def _dumps(what: Any, name: str) -> bytes:
    try:
        import cloudpickle
    except ImportError:
        cloudpickle = pickle
    try:
        return bytes(cloudpickle.dumps(what))
    except Exception as error:
        raise TypeError(f"{name} cannot be carried to a job: {error}") from None


class Carried:
    """One function with the calls of one job: one call, or for each element of an array some."""

    def __init__(self, place: str) -> None:
        self.place = place

    @classmethod
    def make(cls, function: Callable[..., Any], calls: Sequence[Sequence[Call]], directory: str | None = None) -> Carried:
        """Writes the function, and for element i the calls that calls[i] lists."""
        name = getattr(function, "__qualname__", repr(function))
        content = _dumps(function, name)
        arguments = [_dumps(list(each), f"an argument of {name}") for each in calls]
        place = os.path.join(results_directory(directory), f"{time.strftime('%Y%m%d')}-{secrets.token_hex(8)}")
        try:
            os.mkdir(place, 0o700)
            with open(run_carried.__file__, "rb") as file:
                _write(os.path.join(place, "run.py"), file.read())
            path = [os.path.abspath(entry) for entry in sys.path if not entry.endswith(".zip")]
            _write(os.path.join(place, "path"), "\n".join(path).encode(errors="surrogateescape"))
            _write(os.path.join(place, "function.pickle"), content)
            for index, each in enumerate(arguments):
                _write(os.path.join(place, f"call-{index}.pickle"), each)
        except OSError as error:
            shutil.rmtree(place, ignore_errors=True)
            raise Error(f"{place}: cannot be written ({error.strerror})") from None
        except BaseException:
            shutil.rmtree(place, ignore_errors=True)
            raise
        return cls(place)

    @classmethod
    def of_command(cls, command: Sequence[str]) -> Carried | None:
        """What a job's command says of where its function is; nothing of other jobs' commands."""
        ours = len(command) == 2 and command[0] == MARK and os.path.isabs(command[1])
        return cls(command[1]) if ours else None

    @property
    def command(self) -> list[str]:
        """The script's arguments, which the controller keeps when it forgets the script."""
        return [MARK, self.place]

    @staticmethod
    def script(python: str) -> str:
        return f'#!/bin/sh\n# Made by python3-muster.\nexec {shlex.quote(python)} "$2/run.py"\n'

    def values(self, index: int, job: int, state: str, why: str) -> list[Any]:
        """What the calls of an ended element returned; raises what its function raised."""
        check_own(self.place)
        path = os.path.join(self.place, f"result-{index}.pickle")
        until = time.monotonic() + (ARRIVAL_PATIENCE if state in ("COMPLETED", "FAILED") else 0)
        while not os.path.exists(path):
            if time.monotonic() > until or (state == "FAILED" and why):
                raise JobFailed(f"job {job}: {state}{': ' if why else ''}{why}: it left no result", job, state)
            os.listdir(self.place)  # has a shared file system look again
            time.sleep(0.05)
        with open(path, "rb") as file:
            kind, *rest = pickle.load(file)
        if kind == "value":
            return list(rest[0])
        error, name, text = rest
        raise (error or RemoteError(f"job {job}: {name}")) from RemoteTraceback(text)

    def remove(self) -> None:
        shutil.rmtree(self.place, ignore_errors=True)
