"""Checkpoints for Python programs, by ctypes over libmuster-checkpoint.

    checkpoint = muster_checkpoint.open(directory="state")
    checkpoint.protect("step", step)              # bytearray, array.array, numpy array, …
    checkpoint.protect_file("model", "model.pt")  # or what torch.save writes
    if not checkpoint.restore_latest():
        ...                                       # a first start
    while ...:
        ...
        if checkpoint.should():
            checkpoint.save()

A call that fails raises CheckpointError with the library's line and its code. The library is looked
for beside this file, in ../lib, in $MUSTER_CHECKPOINT_LIBRARY, then by the system's loader.
"""

import ctypes
import os
import pathlib
import socket

OK, USAGE, SYSTEM, NOT_FOUND, CORRUPT, FOREIGN, RANKS, REGIONS, BUSY, NOT_SHARED, OVER_QUOTA = range(11)
NOT_NOW, INTERVAL, PREEMPTION, DRAIN, RESIZE, TIME_LIMIT = range(6)
_NAME = "libmuster-checkpoint.so.0"


class CheckpointError(Exception):
    """A call that failed: str() is the line, code one of the codes above."""

    def __init__(self, code, line):
        super().__init__(line)
        self.code = code


class _Options(ctypes.Structure):
    _fields_ = [
        ("directory", ctypes.c_char_p),
        ("job", ctypes.c_char_p),
        ("attempt", ctypes.c_uint32),
        ("rank", ctypes.c_uint32),
        ("ranks", ctypes.c_uint32),
        ("repartitionable", ctypes.c_int),
        ("keep", ctypes.c_uint32),
        ("interval_s", ctypes.c_double),
        ("hints", ctypes.c_char_p),
        ("topology", ctypes.c_char_p),
        ("software", ctypes.c_char_p),
        ("hardware", ctypes.c_char_p),
        ("milestone", ctypes.c_uint64),
        ("age_s", ctypes.c_double),
        ("bytes_max", ctypes.c_uint64),
        ("local_directory", ctypes.c_char_p),
        ("parities", ctypes.c_uint32),
        ("set_size", ctypes.c_uint32),
        ("failure_domain", ctypes.c_char_p),
    ]


def _load():
    here = pathlib.Path(__file__).resolve().parent
    named = os.environ.get("MUSTER_CHECKPOINT_LIBRARY")
    places = [pathlib.Path(named)] if named else [here / _NAME, here.parent / "lib" / _NAME]
    path = next((str(place) for place in places if place.exists()), named or _NAME)
    library = ctypes.CDLL(path)
    handle = ctypes.c_void_p
    library.muster_checkpoint_open.argtypes = [
        ctypes.POINTER(_Options), ctypes.POINTER(handle), ctypes.c_char_p, ctypes.c_size_t]
    library.muster_checkpoint_close.argtypes = [handle]
    library.muster_checkpoint_close.restype = None
    library.muster_checkpoint_error.argtypes = [handle]
    library.muster_checkpoint_error.restype = ctypes.c_char_p
    library.muster_checkpoint_protect.argtypes = [
        handle, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_uint64]
    library.muster_checkpoint_protect_cuda.argtypes = library.muster_checkpoint_protect.argtypes
    library.muster_checkpoint_protect_file.argtypes = [handle, ctypes.c_char_p, ctypes.c_char_p]
    for name in ("save", "restore_latest", "confirm"):
        getattr(library, "muster_checkpoint_" + name).argtypes = [handle]
    library.muster_should_checkpoint.argtypes = [handle]
    return library


class Checkpoint:
    """One rank's checkpoints. One thread at a time."""

    def __init__(self, library, handle):
        self._library = library
        self._handle = handle
        self._kept = []  # the protected objects live as long as we do

    def _check(self, code):
        if code != OK:
            line = self._library.muster_checkpoint_error(self._handle)
            raise CheckpointError(code, line.decode("utf-8", "replace"))

    def protect(self, name, buffer):
        """Protects writable memory: anything with the buffer protocol, or a tensor of PyTorch.

        A tensor is contiguous; one on a GPU passes through as much memory of the host.
        """
        if hasattr(buffer, "data_ptr"):
            self._protect_tensor(name, buffer)
            return
        view = memoryview(buffer).cast("B")
        if view.readonly:
            raise TypeError("protect needs memory that can be written, such as a bytearray")
        memory = (ctypes.c_char * len(view)).from_buffer(view)
        self._check(self._library.muster_checkpoint_protect(
            self._handle, name.encode(), ctypes.addressof(memory), len(view)))
        self._kept.append(memory)

    def _protect_tensor(self, name, tensor):
        if not tensor.is_contiguous():
            raise TypeError("protect needs a contiguous tensor: call .contiguous() first")
        call = (self._library.muster_checkpoint_protect_cuda if tensor.is_cuda
                else self._library.muster_checkpoint_protect)
        self._check(call(self._handle, name.encode(), tensor.data_ptr(),
                         tensor.nelement() * tensor.element_size()))
        self._kept.append(tensor)

    def protect_file(self, name, path):
        """The file's content travels with the checkpoint; restoring replaces it whole."""
        self._check(self._library.muster_checkpoint_protect_file(
            self._handle, name.encode(), os.fsencode(path)))

    def save(self):
        """With a local directory, NOT_SHARED means: saved there, but not copied to the shared one."""
        self._check(self._library.muster_checkpoint_save(self._handle))

    def restore_latest(self):
        """True when something was restored, False on a first start."""
        code = self._library.muster_checkpoint_restore_latest(self._handle)
        if code == NOT_FOUND:
            return False
        self._check(code)
        return True

    def confirm(self):
        """The restart went well; the first save says so, too."""
        self._check(self._library.muster_checkpoint_confirm(self._handle))

    def should(self):
        """Why a checkpoint is wanted now, or NOT_NOW, which is false."""
        return self._library.muster_should_checkpoint(self._handle)

    def close(self):
        if self._handle:
            self._library.muster_checkpoint_close(self._handle)
            self._handle = None

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        # An exception on the way is no end that went well: what was restored stays unconfirmed.
        if kind is None:
            self.close()


def report(**values):
    """Says how the program gets on: report(loss=0.31, step=400). Names with other characters come as
    report(**{"train/loss": 0.31}). False when it did not arrive: outside of a job, or too much at once.
    Without this module: a datagram "loss=0.31 step=400" to the unix socket $MUSTER_REPORT_SOCKET."""
    words = " ".join(f"{name}={float(value)!r}" for name, value in values.items())
    folder, _, name = os.environ.get("MUSTER_REPORT_SOCKET", "").rpartition("/")
    if not name:
        return False
    place = os.open(folder or "/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as out:
            out.sendto(words.encode(), f"/proc/self/fd/{place}/{name}")
    except OSError:
        return False
    finally:
        os.close(place)
    return True


def open(directory=None, job=None, attempt=0, keep=0, interval_s=0.0, hints=None, software=None,
         milestone=0, age_s=0.0, bytes_max=0, local_directory=None):
    """Opens the checkpoints of a program of one rank; what is None comes from the environment."""
    library = _load()
    encode = lambda text: None if text is None else os.fsencode(text)
    options = _Options(directory=encode(directory), job=encode(job), attempt=attempt, keep=keep,
                       interval_s=interval_s, hints=encode(hints), software=encode(software),
                       milestone=milestone, age_s=age_s, bytes_max=bytes_max,
                       local_directory=encode(local_directory))
    handle = ctypes.c_void_p()
    line = ctypes.create_string_buffer(512)
    code = library.muster_checkpoint_open(
        ctypes.byref(options), ctypes.byref(handle), line, len(line))
    if code != OK:
        raise CheckpointError(code, line.value.decode("utf-8", "replace"))
    return Checkpoint(library, handle)
