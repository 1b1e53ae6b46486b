"""Runs in a job: calls the function that the submitter left in this file's directory, and leaves its result there.

A copy of this file stands beside the function, so that a job needs nothing of this package. The result is written under
another name and moved into place: whoever finds it finds all of it.
"""

import os
import pickle
import sys
import traceback
from typing import Any, Optional


def load(path: str) -> Any:
    with open(path, "rb") as file:
        return pickle.load(file)


def carried_back(error: BaseException) -> Optional[BaseException]:
    """The exception itself, where it can be pickled and read again; else nothing."""
    try:
        pickle.loads(pickle.dumps(error))
        return error
    except Exception:
        return None


def outcome(directory: str, index: str) -> bytes:
    """("value", value), or ("error", exception or None, "Type: text", traceback)."""
    try:
        with open(os.path.join(directory, "path"), encoding="utf-8", errors="surrogateescape") as file:
            sys.path[1:1] = file.read().splitlines()
        function = load(os.path.join(directory, "function.pickle"))
        calls = load(os.path.join(directory, f"call-{index}.pickle"))
        values = [function(*arguments, **keywords) for arguments, keywords in calls]
        try:
            import cloudpickle
            return bytes(cloudpickle.dumps(("value", values)))
        except ImportError:
            return pickle.dumps(("value", values))
    except BaseException as error:  # sys.exit() and KeyboardInterrupt, too, are the function's end
        text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        print(text, end="", file=sys.stderr)
        name = traceback.format_exception_only(type(error), error)[-1].strip()
        return pickle.dumps(("error", carried_back(error), name, text))


def main() -> None:
    directory = os.path.dirname(os.path.abspath(__file__))
    index = os.environ.get("MUSTER_ARRAY_TASK_ID", "0")
    content = outcome(directory, index)
    path = os.path.join(directory, f"result-{index}.pickle")
    part = f"{path}.{os.uname().nodename}.{os.getpid()}"
    with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)
    sys.stdout.flush()
    sys.exit(0 if pickle.loads(content)[0] == "value" else 1)


if __name__ == "__main__":
    main()
