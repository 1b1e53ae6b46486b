"""Readers of option values: Python's own types, or the texts of the command line.

Each returns what the wire carries, or raises a ValueError whose text says what would do.
"""

from __future__ import annotations

import datetime
import re
import signal
from collections.abc import Iterable, Mapping
from typing import Any

from muster.wire import job_pb2
from muster.wire import request_pb2

COUNT_MAX = 1_000_000
LIMIT_MAX = 36525 * 24 * 3600  # seconds; as long means UNLIMITED
_SIZE = re.compile(r"(\d+)([BKMGTPE]?)(?:I?B)?", re.IGNORECASE | re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9._-]+", re.ASCII)
_UNITS = {"w": 604800.0, "d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


def count(value: Any) -> int:
    """
    >>> count("8")
    8
    """
    whole = isinstance(value, int) and not isinstance(value, bool)
    digits = isinstance(value, str) and value.isascii() and value.isdigit()
    if (whole or digits) and 1 <= int(value) <= COUNT_MAX:
        return int(value)
    raise ValueError(f"{value!r} is not a number from 1 to {COUNT_MAX}")


def whole_number(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ValueError(f"{value!r} is not a whole number")


def yes(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError(f"{value!r} is not True or False")


def text(value: Any) -> str:
    if isinstance(value, str) and value and "\n" not in value and "\0" not in value:
        return value
    raise ValueError(f"{value!r} is not a text of one line")


def size(value: Any) -> int:
    """Bytes; a plain number is MiB.

    >>> size("4G") == size(4096)
    True
    """
    found = _SIZE.fullmatch(str(value)) if isinstance(value, (int, str)) and not isinstance(value, bool) else None
    if found and int(found[1]) > 0:
        amount = int(found[1]) << (10 * "BKMGTPE".index((found[2] or "M").upper()))
        if amount <= 1 << 60:
            return amount
    raise ValueError(f"{value!r} is not a size: use a positive whole number with K, M, G or T, like '4G'")


def _clock(value: str) -> int | None:
    """Seconds of minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM or D-HH:MM:SS."""
    days, dash, rest = value.rpartition("-")
    parts = rest.split(":")
    if not all(part.isascii() and part.isdigit() for part in [*parts, *([days] if dash else [])]) or len(parts) > 3:
        return None
    units = [3600, 60, 1] if dash or len(parts) == 3 else [60, 1]
    numbers = [int(part) for part in parts]
    bounds = [24 if dash else LIMIT_MAX, 60, 60]
    if any(number >= bound for number, bound in zip(numbers, bounds)):
        return None
    return (int(days) * 86400 if dash else 0) + sum(number * unit for number, unit in zip(numbers, units))


def time_limit(value: Any) -> int:
    """Milliseconds of a timedelta, of minutes, or of a time limit's text.

    >>> time_limit("1:30:00") == time_limit(90) == time_limit(datetime.timedelta(hours=1.5)) == 5400000
    True
    """
    seconds: float | None = None
    if isinstance(value, datetime.timedelta):
        seconds = value.total_seconds()
    elif isinstance(value, int) and not isinstance(value, bool):
        seconds = value * 60
    elif isinstance(value, str):
        seconds = LIMIT_MAX if value.lower() in ("unlimited", "infinite") else _clock(value)
    if seconds is None or not 0 < seconds <= LIMIT_MAX:
        raise ValueError(f"{value!r} is not a time limit: use a timedelta, minutes, 'MM:SS', 'HH:MM:SS', 'D-HH:MM:SS' "
                         "or 'UNLIMITED'")
    return round(seconds * 1000)


def period(value: Any) -> int:
    """Milliseconds of a timedelta or of texts like '90s', '1h30m'."""
    seconds: float | None = None
    if isinstance(value, datetime.timedelta):
        seconds = value.total_seconds()
    elif isinstance(value, str) and re.fullmatch(r"(?:\d+(?:ms|[wdhms]))+", value, re.ASCII):
        seconds = sum(int(n) * _UNITS[unit] for n, unit in re.findall(r"(\d+)(ms|[wdhms])", value))
    if not seconds or seconds < 0:
        raise ValueError(f"{value!r} is no time: use a timedelta, '30s', '10m' or '1h'")
    return round(seconds * 1000)


def moment(value: Any) -> int:
    """Milliseconds since 1970 of a datetime (without a zone: local), a timedelta from now, or an ISO text.

    >>> moment("2030-01-31T08:00:00+00:00")
    1896076800000
    """
    if isinstance(value, datetime.timedelta):
        value = datetime.datetime.now() + value
    elif isinstance(value, str):
        try:
            value = datetime.datetime.fromisoformat(value)
        except ValueError:
            value = None
    if not isinstance(value, datetime.datetime):
        raise ValueError("not a moment: use a datetime, a timedelta from now, or a text like '2030-01-31T08:00'")
    return round(value.timestamp() * 1000)


def gpus(value: Any) -> request_pb2.GpuRequest:
    kind, colon, number = str(value).rpartition(":")
    if isinstance(value, bool) or (colon and not _NAME.fullmatch(kind)):
        raise ValueError(f"{value!r} is not a number of GPUs: use COUNT or 'TYPE:COUNT', like 'h100:2'")
    return request_pb2.GpuRequest(type=kind, count=count(number))


def nodes(value: Any) -> tuple[int, int]:
    """The fewest and the most, of a number, 'MIN-MAX' or a pair."""
    parts = value if isinstance(value, tuple) else str(value).split("-")
    if len(parts) not in (1, 2) or isinstance(value, bool) or count(parts[-1]) < count(parts[0]):
        raise ValueError(f"{value!r} is not a number of nodes: use MIN, 'MIN-MAX' or (MIN, MAX)")
    return count(parts[0]), count(parts[-1])


def names(value: Any) -> list[str]:
    found = value.split(",") if isinstance(value, str) else list(value) if isinstance(value, Iterable) else []
    if not found or not all(isinstance(name, str) and _NAME.fullmatch(name) for name in found):
        raise ValueError(f"{value!r} are no names: use a list, or a text with commas and without brackets")
    return found


def features(value: Any) -> request_pb2.Constraint:
    """Features that each node has: 'a&b', or a list."""
    all_of = names(value.split("&") if isinstance(value, str) else value)
    tokens = [request_pb2.FeatureToken(op=request_pb2.FEATURE_OP_HAS, name=all_of[0])]
    for name in all_of[1:]:
        tokens += [request_pb2.FeatureToken(op=request_pb2.FEATURE_OP_HAS, name=name),
                   request_pb2.FeatureToken(op=request_pb2.FEATURE_OP_AND)]
    return request_pb2.Constraint(every=request_pb2.FeatureExpression(postfix=tokens))


def counted(value: Any) -> list[tuple[str, int]]:
    """Pairs of a dict, or of 'NAME:N,…'."""
    pairs = value.items() if isinstance(value, Mapping) else [
        (name, number or 1) for name, _, number in (item.partition(":") for item in text(value).split(","))]
    return [(names([name])[0], count(number)) for name, number in pairs]


def array(value: Any) -> request_pb2.ArraySpec:
    """A range, a list of indices, or a text as of --array.

    >>> array("0-9:3%2").ranges[0].last, array(range(4)).ranges[0].last
    (9, 3)
    """
    try:
        if isinstance(value, range):
            value = f"{value[0]}-{value[-1]}:{value.step}" if value.step > 0 else list(reversed(value))
        if not isinstance(value, str):
            value = ",".join(str(index) for index in value)
        listed, percent, running = value.partition("%")
        spec = request_pb2.ArraySpec(max_running=count(running) if percent else 0)
        for item in listed.split(","):
            found = re.fullmatch(r"(\d+)(?:-(\d+)(?::(\d+))?)?", item, re.ASCII)
            first, last, step = (int(group) if group else None for group in found.groups())  # type: ignore[union-attr]
            last, step = first if last is None else last, step or 1
            last = first + (last - first) // step * step  # type: ignore[operator]
            spec.ranges.add(first=first, last=last, step=1 if last == first else step)
    except (AttributeError, TypeError, IndexError, ValueError):
        raise ValueError(f"{value!r} is not an array: use a range, a list of indices, or a text like '0-99%10'") from None
    return spec


def dependency(value: Any) -> request_pb2.Dependency:
    """Terms like 'afterok:12:13', 'after:14+5', 'afterany:15_3' or 'singleton', joined by , (all) or ? (any)."""
    kinds = {"after": request_pb2.DEPENDENCY_KIND_AFTER, "afterany": request_pb2.DEPENDENCY_KIND_AFTER_ANY,
             "afterok": request_pb2.DEPENDENCY_KIND_AFTER_OK, "afternotok": request_pb2.DEPENDENCY_KIND_AFTER_NOT_OK,
             "aftercorr": request_pb2.DEPENDENCY_KIND_AFTER_CORR}
    found = request_pb2.Dependency()
    listed = text(value)
    for term in re.split(r"[,?]", listed):
        kind, *targets = term.split(":")
        if term == "singleton":
            found.terms.add(kind=request_pb2.DEPENDENCY_KIND_SINGLETON)
        elif kind not in kinds or not targets or ("," in listed and "?" in listed):
            raise ValueError(f"{value!r} is not a dependency: use terms like 'afterok:12:13', all joined by , or by ?")
        for target in targets:
            parts = re.fullmatch(r"(\d+)(?:_(\d+))?(?:\+(\d+))?", target, re.ASCII)
            if not parts or (parts[3] and kind != "after"):
                raise ValueError(f"{value!r} is not a dependency: {target!r} is not a job")
            made = found.terms.add(kind=kinds[kind], job=int(parts[1]), delay=int(parts[3] or 0) * 60_000)
            if parts[2]:
                made.element = int(parts[2])
    found.any = "?" in listed and len(found.terms) > 1
    return found


def warning(value: Any) -> job_pb2.WarningSignal:
    """'USR1@120', 'B:TERM@300', 'USR1@auto': a signal, and seconds before the limit."""
    parts = re.fullmatch(r"(?:([BR]):)?(?:SIG)?([A-Z0-9]+)(?:@(\d+|auto))?", text(value), re.ASCII)
    number = 0
    if parts and parts[2].isdigit():
        number = int(parts[2])
    elif parts and "SIG" + parts[2] in signal.Signals.__members__:
        number = signal.Signals["SIG" + parts[2]].value
    if not parts or not 0 < number < 65:
        raise ValueError(f"{value!r} is no warning: use '[B:]SIGNAL[@SECONDS|@auto]', like 'USR1@120'")
    before = 60 if parts[3] in (None, "auto") else int(parts[3])
    return job_pb2.WarningSignal(signal=number, before=before * 1000, automatic=parts[3] == "auto", batch=parts[1] == "B")


def share(value: Any) -> int:
    """Thousandths of a GPU, of a number from 0.001 to 1."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 1 <= round(value * 1000) <= 1000:
        return round(value * 1000)
    raise ValueError(f"{value!r} is not a part of a GPU: use 0.001 to 1, like 0.25, or a size of its memory, like '20G'")


def share_size(value: str) -> int:
    """Bytes of a GPU's memory, with the unit that tells a size from a part.

    >>> share_size("20G") == size("20G")
    True
    """
    return size(value) if value[-1:].isalpha() else share(value)
