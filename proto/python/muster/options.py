"""The job options: the command line's names with _ for -, and how each value becomes part of a submission.

What the command line alone reads (--alt, --export-file, layouts of ranks, options of Slurm's, …) is refused by name:
`muster submit` takes it.
"""

from __future__ import annotations

import difflib
import os
import socket
from collections.abc import Callable, Mapping
from typing import Any

from muster import readers
from muster.wire import container_pb2
from muster.wire import controller_pb2 as wire
from muster.wire import job_pb2
from muster.wire import request_pb2

OPEN_MODES = {"append": True, "truncate": False}
MPI = {"auto": job_pb2.MPI_FLAVOUR_AUTO, "none": job_pb2.MPI_FLAVOUR_NONE, "pmix": job_pb2.MPI_FLAVOUR_PMIX,
       "pmi1": job_pb2.MPI_FLAVOUR_PMI1}
MEANS = {"program": job_pb2.CHECKPOINT_MEANS_PROGRAM, "criu": job_pb2.CHECKPOINT_MEANS_CRIU}
SWITCHES_WAIT = 300_000  # milliseconds, as the command line has it
SHARE_NOT_KNOWN = 1001  # so that no controller takes it that does not know sizes
OCCUPIED = {"ok": True, "no": False}
CHOICES = {"yes": request_pb2.CHOICE_YES, "no": request_pb2.CHOICE_NO}

Setter = Callable[[wire.SubmitRequest, Any], None]


def _one_of(choices: Mapping[str, Any]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if isinstance(value, str) and value in choices:
            return choices[value]
        raise ValueError(f"{value!r} is not one of {', '.join(choices)}")
    return read


def _field(path: str, read: Callable[[Any], Any]) -> Setter:
    """Sets the field at `path` of the request to what `read` makes of a value."""
    *parts, last = path.split(".")

    def take(request: wire.SubmitRequest, value: Any) -> None:
        message: Any = request
        for part in parts:
            message = getattr(message, part)
        made = read(value)
        if isinstance(made, list):
            del getattr(message, last)[:]
            getattr(message, last).extend(made)
        elif hasattr(made, "CopyFrom"):
            getattr(message, last).CopyFrom(made)
        else:
            setattr(message, last, made)
    return take


def _nodes(request: wire.SubmitRequest, value: Any) -> None:
    request.spec.request.min_nodes, request.spec.request.max_nodes = readers.nodes(value)


def _switches(request: wire.SubmitRequest, value: Any) -> None:
    request.spec.request.switches = readers.count(value)
    request.spec.request.switches_wait = SWITCHES_WAIT


def _gpu_share(request: wire.SubmitRequest, value: Any) -> None:
    """A part of a GPU, or a size of its memory, of which the controller makes a part."""
    if isinstance(value, str):
        request.spec.request.gpu_share_memory = readers.share_size(value)
        request.spec.request.gpu_share = SHARE_NOT_KNOWN
    else:
        request.spec.request.gpu_share = readers.share(value)


def _requeue(request: wire.SubmitRequest, value: Any) -> None:
    request.spec.requeue = CHOICES["yes" if readers.yes(value) else "no"]


def _licenses(value: Any) -> list[request_pb2.LicenseCount]:
    return [request_pb2.LicenseCount(name=name, count=number) for name, number in readers.counted(value)]


def _file(value: Any) -> str:
    return os.path.join(os.getcwd(), readers.text(value))


def _image(value: Any) -> str:
    """A registry's image as it is; files and directories by whole paths."""
    named = readers.text(value)
    scheme, colon, path = named.partition(":")
    if colon and scheme in ("oci", "docker-archive", "bundle"):
        return f"{scheme}:{os.path.join(os.getcwd(), path)}"
    return os.path.join(os.getcwd(), named) if named.endswith((".sqsh", ".squashfs")) else named


def _mounts(value: Any) -> list[container_pb2.ContainerMount]:
    made = []
    for item in value.split(",") if isinstance(value, str) else list(value):
        source, _, rest = str(item).partition(":")
        destination, _, mode = rest.partition(":")
        if not source or mode not in ("", "ro", "rw"):
            raise ValueError(f"{item!r} is no mount: use 'SOURCE[:DESTINATION[:ro]]'")
        made.append(container_pb2.ContainerMount(source=os.path.join(os.getcwd(), source),
                                                 destination=destination or source, read_only=mode == "ro"))
    return made


OPTIONS: dict[str, Setter] = {
    "account": _field("spec.account", readers.text),
    "array": _field("spec.array", readers.array),
    "begin": _field("spec.begin", readers.moment),
    "chdir": _field("program.work_dir", readers.text),
    "checkpoint_with": _field("spec.checkpoint_with", _one_of(MEANS)),
    "comment": _field("spec.comment", readers.text),
    "constraint": _field("spec.request.constraint", readers.features),
    "container_entrypoint": _field("spec.container.entrypoint", readers.yes),
    "container_env": _field("spec.container.env", readers.names),
    "container_image": _field("spec.container.image", _image),
    "container_mount_home": _field("spec.container.mount_home", readers.yes),
    "container_mounts": _field("spec.container.mounts", _mounts),
    "container_name": _field("spec.container.name", readers.text),
    "container_remap_root": _field("spec.container.remap_root", readers.yes),
    "container_save": _field("spec.container.save", _file),
    "container_workdir": _field("spec.container.work_dir", readers.text),
    "container_writable": _field("spec.container.writable", readers.yes),
    "cpus_per_task": _field("spec.request.cpus_per_task", readers.count),
    "deadline": _field("spec.deadline", readers.moment),
    "dependency": _field("spec.dependency", readers.dependency),
    "elastic": _field("spec.elastic", readers.yes),
    "error": _field("program.stderr_path", readers.text),
    "exclude": _field("spec.request.exclude", readers.names),
    "exclusive": _field("spec.request.exclusive", readers.yes),
    "exclusive_user": _field("spec.request.exclusive_user", readers.yes),
    "gpu_occupied": _field("spec.request.gpu_occupied", _one_of(OCCUPIED)),
    "gpu_share": _gpu_share,
    "gpus": _field("spec.request.gpus", readers.gpus),
    "gpus_per_node": _field("spec.request.gpus_per_node", readers.gpus),
    "gpus_per_task": _field("spec.request.gpus_per_task", readers.gpus),
    "hold": _field("spec.held", readers.yes),
    "image": _field("spec.container.image", _image),
    "input": _field("program.stdin_path", readers.text),
    "job_name": _field("spec.name", readers.text),
    "kill_on_invalid_dep": _field("spec.kill_on_invalid_dep", _one_of(CHOICES)),
    "licenses": _field("spec.licenses", _licenses),
    "mem": _field("spec.request.memory_per_node", readers.size),
    "mem_per_cpu": _field("spec.request.memory_per_cpu", readers.size),
    "mincpus": _field("spec.request.min_cpus", readers.count),
    "mpi": _field("program.mpi", _one_of(MPI)),
    "nice": _field("spec.nice", readers.whole_number),
    "no_kill": _field("spec.no_kill", readers.yes),
    "nodelist": _field("spec.request.nodelist", readers.names),
    "nodes": _nodes,
    "ntasks": _field("spec.request.tasks", readers.count),
    "ntasks_per_node": _field("spec.request.tasks_per_node", readers.count),
    "open_mode": _field("program.append_output", _one_of(OPEN_MODES)),
    "output": _field("program.stdout_path", readers.text),
    "overcommit": _field("spec.request.overcommit", readers.yes),
    "partition": _field("spec.partition", readers.text),
    "prefer": _field("spec.prefer", readers.features),
    "priority": _field("spec.priority", readers.whole_number),
    "progress_file": _field("program.progress_path", readers.text),
    "progress_timeout": _field("spec.progress_timeout", readers.period),
    "qos": _field("spec.qos", readers.text),
    "replace_wait": _field("spec.replace_wait", readers.period),
    "requeue": _requeue,
    "requeue_exit": _field("spec.requeue_exit", readers.count),
    "reservation": _field("spec.reservation", readers.text),
    "segment": _field("spec.request.segment", readers.count),
    "signal": _field("spec.warning", readers.warning),
    "sockets_per_node": _field("spec.request.sockets_per_node", readers.count),
    "switches": _switches,
    "time": _field("spec.time_limit", readers.time_limit),
    "time_min": _field("spec.time_min", readers.time_limit),
    "tmp": _field("spec.request.tmp", readers.size),
}
# Not of one field each: which variables the job gets.
EXPORT = "export"


def check_names(options: Mapping[str, Any]) -> None:
    """Raises a TypeError for the first option that there is not, as a function does for an argument that it lacks."""
    known = [*OPTIONS, EXPORT]
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(name.replace("-", "_"), known, 3, 0.5)
            mend = f"did you mean {' or '.join(near)}?" if near else "see help(muster.options)"
            raise TypeError(f"{name!r} is not a job option: {mend}")


def exported(value: Any) -> list[str]:
    """The variables that the job gets: 'ALL', 'NONE', or a dict of them, which is all it gets then."""
    if value == "ALL":
        inside = "MUSTER_JOB_ID" in os.environ  # what the enclosing job was given stays there
        chosen = {name: text for name, text in os.environ.items()
                  if not (inside and name.startswith(("MUSTER_", "SLURM_", "PMIX_", "PMI_")))}
    elif value == "NONE":
        chosen = {}
    elif isinstance(value, Mapping):
        chosen = {str(name): str(text) for name, text in value.items()}
    else:
        raise ValueError(f"{value!r} are no variables: use 'ALL', 'NONE' or a dict")
    entries = [f"{name}={text}" for name, text in chosen.items() if "\0" not in text]
    return [entry for entry in entries if not any("\udc80" <= c <= "\udcff" for c in entry)]


def fill(request: wire.SubmitRequest, options: Mapping[str, Any]) -> None:
    """Puts the options into a submission, which has its script already."""
    check_names(options)
    for both in (("mem", "mem_per_cpu"), ("image", "container_image")):
        if all(name in options for name in both):
            raise ValueError(f"{both[0]} and {both[1]} exclude each other: give one")
    for name, value in options.items():
        if name == EXPORT or value is None:
            continue
        try:
            OPTIONS[name](request, value)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    program, spec = request.program, request.spec
    spec.kind = job_pb2.JOB_KIND_BATCH
    spec.request.cpus_per_task = spec.request.cpus_per_task or 1
    program.work_dir = os.path.normpath(os.path.join(os.getcwd(), program.work_dir))
    said = ",".join(name.replace("_", "-") for name in options)
    program.environment[:] = [*exported(options.get(EXPORT, "ALL")), f"MUSTER_SUBMIT_SAID={said}",
                              f"MUSTER_SUBMIT_HOST={socket.gethostname()}", f"MUSTER_SUBMIT_DIR={os.getcwd()}"]
    program.umask = _umask()


def _umask() -> int:
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        return next((int(line.split()[1], 8) for line in file if line.startswith("Umask:")), 0o022)
