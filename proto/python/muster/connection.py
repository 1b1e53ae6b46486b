"""Calls to the controllers of a cluster, with deadlines and retries.

A call that changes something is made again with the same token while the controller restarts, for ten seconds; one that
only reads gives up earlier. Of several controllers the one that leads is called, or else a standby that answers.
"""

from __future__ import annotations

import errno
import os
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

# gRPC's handlers of fork() can wait for ever for its threads, and do nothing for a child that runs another program. A
# child that goes on in Python is told apart below.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "false")

import grpc  # noqa: E402

from muster.address import Address, controller_addresses
from muster.errors import Error, NotAllowed, NotFound, Refused, TimedOut, Unreachable
from muster.identity import (CONTROLLER_NAME, MUNGE_METADATA, TOKEN_METADATA, Munge, munge_payload, read_file,
                             read_private_file, server_fingerprint)
from muster.wire import controller_pb2 as wire
from muster.wire import leadership_pb2

READING_PATIENCE, CHANGING_PATIENCE = 1.5, 10.0  # seconds, while no controller answers
ALONE_TIMEOUT, ONE_OF_SEVERAL_TIMEOUT, STATUS_TIMEOUT = 30.0, 6.0, 0.7
RETRY_PAUSE, BUSY_PAUSE = 0.05, 0.5
FIRST_CALL_BYTES_MAX = 32 << 10  # what a controller over TCP takes before it knows the caller
FROM_CONTROLLER = b"controller"  # proto/convert/origin.h

_METHODS = wire.DESCRIPTOR.services_by_name["Controller"].methods_by_name
_NO_SIDE_EFFECTS = 1
_OPTIONS = [("grpc.enable_http_proxy", 0), ("grpc.service_config_disable_resolution", 1),
            ("grpc.initial_reconnect_backoff_ms", 100), ("grpc.min_reconnect_backoff_ms", 5000),
            ("grpc.max_reconnect_backoff_ms", 300), ("grpc.keepalive_time_ms", 20000),
            ("grpc.keepalive_timeout_ms", 20000), ("grpc.max_receive_message_length", 256 << 20)]


_pid = 0  # of the process that uses gRPC


def _refuse_after_fork() -> None:
    """gRPC's threads are gone in a child of fork(): its calls would wait for ever."""
    global _pid
    _pid = _pid or os.getpid()
    if _pid != os.getpid():
        raise Error("this process was forked from one that had called the controller, which gRPC does not survive: use "
                    "multiprocessing's \"spawn\", or start a program")


class _Busy(Exception):
    """The controller has too much to do; it said so itself."""


class _Away(Exception):
    """Nothing answers."""


def _refusal(error: grpc.RpcError) -> Error:
    code, text = error.code(), (error.details() or "").partition("\n")[0]
    kinds = {grpc.StatusCode.NOT_FOUND: NotFound, grpc.StatusCode.PERMISSION_DENIED: NotAllowed,
             grpc.StatusCode.UNAUTHENTICATED: NotAllowed, grpc.StatusCode.DEADLINE_EXCEEDED: TimedOut,
             grpc.StatusCode.UNAVAILABLE: Unreachable}
    return kinds.get(code, Refused)(text or f"the controller refused ({code.name})")


class Line:
    """The way to one controller; safe from any thread."""

    def __init__(self, address: Address, token: str, timeout: float) -> None:
        self.address, self.timeout = address, timeout
        self._token = token
        self._lock = threading.Lock()
        self._opened: grpc.Channel | None = None
        self._munge: Munge | None = None
        self._fingerprint = ""
        self._known = False  # to the controller, on this connection

    def _credentials(self) -> grpc.ChannelCredentials:
        keys = self.address.keys
        chain = key = None
        if keys.certificate and not self._token:
            chain, key = read_file(keys.certificate), read_private_file(keys.key)
        elif not self._token:
            self._munge = Munge(keys.munge_socket)
        return grpc.ssl_channel_credentials(read_file(keys.authority), key, chain)

    @property
    def channel(self) -> grpc.Channel:
        _refuse_after_fork()
        with self._lock:
            if self._opened is None:
                if self.address.is_unix:
                    self._opened = grpc.insecure_channel(self.address.target, _OPTIONS)
                else:
                    self._opened = grpc.secure_channel(
                        self.address.target, self._credentials(),
                        [*_OPTIONS, ("grpc.ssl_target_name_override", CONTROLLER_NAME)])
            return self._opened

    def close(self) -> None:
        with self._lock:
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    def nobody(self) -> Unreachable:
        mend = ('start one with "muster up"' if self.address.is_unix
                else "check that musterd runs there, with the keys that ours are of")
        return Unreachable(f"no controller at {self.address.text}: {mend}")

    def probe(self) -> int:
        """What connect(2) says of the controller's socket: 0, or an errno; 0 of anything over TCP."""
        if not self.address.is_unix:
            return 0
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as found:
            try:
                code = found.connect_ex(self.address.path)
            except OSError as error:  # the path is too long
                raise Error(f"{self.address.path}: {error.args[0]}: use a shorter state directory") from None
        return 0 if code == errno.EAGAIN else code

    def refuse_hopeless(self, code: int, first: bool) -> None:
        if code in (errno.EACCES, errno.EPERM):
            raise NotAllowed(f"{self.address.text}: this controller belongs to another user: "
                             "give another state or controller")
        if code == errno.ENOENT and first:  # a restarting controller leaves its socket behind
            raise self.nobody()

    def metadata(self, path: str) -> list[tuple[str, str]]:
        """What shows the controller who calls the method of that path."""
        if self._token:
            return [(TOKEN_METADATA, self._token)]
        if self._munge is None:
            return []
        if not self._fingerprint:
            self._fingerprint = server_fingerprint(self.address)
        return [(MUNGE_METADATA, self._munge.encode(munge_payload(self._fingerprint, path)))]

    def once(self, method: str, request: Any, timeout: float, service: Any = wire, name: str = "Controller") -> Any:
        """Makes a unary call; a gRPC error is what it is."""
        path = f"/muster.wire.{name}/{method}"
        answer = getattr(service, service.DESCRIPTOR.services_by_name[name].methods_by_name[method].output_type.name)
        channel = self.channel
        call = channel.unary_unary(path, type(request).SerializeToString, answer.FromString)
        return call(request, timeout=timeout, metadata=self.metadata(path))

    def call(self, method: str, request: Any) -> Any:
        """Makes a call; _Away and _Busy are worth another try."""
        try:
            if not self.address.is_unix and not self._known and request.ByteSize() > FIRST_CALL_BYTES_MAX:
                self.once("Ping", wire.PingRequest(), self.timeout)
            reply = self.once(method, request, self.timeout)
            self._known = True
            return reply
        except grpc.RpcError as error:
            raise self.judge(error) from None

    def judge(self, error: grpc.RpcError) -> Exception:
        """What a failed call is to its caller."""
        if error.code() == grpc.StatusCode.UNAUTHENTICATED and self._fingerprint:
            self._fingerprint = ""  # the controller may have another certificate now
        if error.code() != grpc.StatusCode.UNAVAILABLE:
            return _refusal(error)
        self._known, self._fingerprint = False, ""
        if ("grpc-status-details-bin", FROM_CONTROLLER) in (tuple(one) for one in error.trailing_metadata() or ()):
            return _Busy(error.details())
        text = error.details() or ""
        if "handshake failed" in text.lower() or "Peer name" in text:
            return NotAllowed(f"{self.address.text}: is not the controller that {self.address.keys.authority} vouches "
                              "for: bring the cluster's ca.pem there, or correct the address")
        return _Away(text)

    def connect(self, patience: float = 0.5) -> None:
        """Waits until gRPC's channel is connected, for a while."""
        try:
            grpc.channel_ready_future(self.channel).result(timeout=patience)
        except grpc.FutureTimeoutError:
            pass

    def persist(self, method: str, request: Any, patience: float) -> Any:
        """Makes a call again and again while nobody answers."""
        give_up = time.monotonic() + patience
        first = True
        while True:
            busy = False
            code = self.probe()
            self.refuse_hopeless(code, first)
            if code == 0:
                try:
                    return self.call(method, request)
                except _Busy as error:
                    busy = True
                    if time.monotonic() >= give_up:
                        raise Unreachable(str(error)) from None
                except _Away:
                    pass
            if time.monotonic() >= give_up:
                raise self.nobody()
            time.sleep(BUSY_PAUSE if busy else RETRY_PAUSE)
            if code == 0 and not busy:
                self.connect()
            first = False


class Client:
    """A cluster's controllers, as one user sees them; safe from any thread.

    `controller` and `state` name them as --controller and --state do; without either the environment does
    ($MUSTER_CONTROLLER, $MUSTER_STATE, …). `token`, else $MUSTER_TOKEN, speaks for its user instead of a certificate or
    MUNGE.

    >>> muster.Client(state=muster.Client().state).ping()["nodes_connected"] >= 1
    True
    """

    def __init__(self, controller: str | None = None, *, state: str | None = None, token: str | None = None,
                 environment: Mapping[str, str] | None = None) -> None:
        environment = os.environ if environment is None else environment
        addresses = controller_addresses(controller, state, environment)
        token = environment.get("MUSTER_TOKEN", "") if token is None else token
        timeout = ALONE_TIMEOUT if len(addresses) == 1 else ONE_OF_SEVERAL_TIMEOUT
        self.addresses = addresses
        self._lines = [Line(each, token, timeout) for each in addresses]
        self._at = 0
        self._sought = False

    @property
    def controller(self) -> str:
        """The addresses, as $MUSTER_CONTROLLER takes them."""
        return ",".join(each.text for each in self.addresses)

    @property
    def state(self) -> str:
        """The state directory of a personal cluster: where its socket is."""
        return os.path.dirname(self.addresses[0].path)

    @property
    def is_local(self) -> bool:
        return self.addresses[0].is_local

    def __repr__(self) -> str:
        return f"muster.Client({self.controller!r})"

    def close(self) -> None:
        for line in self._lines:
            line.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _seek(self) -> None:
        self._sought = True
        request = leadership_pb2.ReadControllerStatusRequest()
        for at, line in enumerate(self._lines):
            try:
                if line.probe():
                    continue
                line.connect(STATUS_TIMEOUT)
                status = line.once("ReadControllerStatus", request, STATUS_TIMEOUT, leadership_pb2, "Leadership")
            except (grpc.RpcError, Error):
                continue
            self._at = at
            if status.leads:
                return

    def call(self, method: str, request: Any) -> Any:
        """Makes a call of the service in proto/controller.proto: a message in, a message out."""
        reads = _METHODS[method].GetOptions().idempotency_level == _NO_SIDE_EFFECTS
        patience = READING_PATIENCE if reads else CHANGING_PATIENCE
        if len(self._lines) == 1:
            return self._lines[0].persist(method, request, patience)
        repeatable = reads or bool(getattr(request, "token", ""))
        give_up = time.monotonic() + patience
        first = True
        while True:
            if not first or not self._sought:
                self._seek()
            first = False
            try:
                return self._lines[self._at].persist(method, request, 0)
            except (Unreachable, TimedOut) as error:
                again = isinstance(error, Unreachable) or repeatable
                if not again or time.monotonic() >= give_up:
                    raise
            time.sleep(RETRY_PAUSE)

    def stream(self, method: str, request: Any, timeout: float | None = None) -> Stream:
        """Opens a stream of the service: an iterator over its messages. Unreachable and Refused come out of it, and
        TimedOut after `timeout` seconds."""
        if len(self._lines) > 1:
            self._seek()
        return Stream(self._lines[self._at], method, request, timeout)

    def ping(self) -> dict[str, Any]:
        """Who answers: the cluster's name, the version, the numbers of nodes and jobs."""
        reply = self.call("Ping", wire.PingRequest())
        return {field.name: getattr(reply, field.name) for field in reply.DESCRIPTOR.fields if field.name != "licenses"}


class Stream:
    """Messages of one stream; close() ends it from any thread."""

    def __init__(self, line: Line, method: str, request: Any, timeout: float | None) -> None:
        path = f"/muster.wire.Controller/{method}"
        answer = getattr(wire, _METHODS[method].output_type.name)
        self._line = line
        code = line.probe()
        line.refuse_hopeless(code, True)
        if code:
            raise line.nobody()
        line.connect()
        call = line.channel.unary_stream(path, type(request).SerializeToString, answer.FromString)
        self._call = call(request, timeout=timeout, metadata=line.metadata(path))  # keepalive finds the dead

    def __iter__(self) -> Iterator[Any]:
        try:
            yield from self._call
        except grpc.RpcError as error:
            if error.code() == grpc.StatusCode.CANCELLED:
                return
            if error.code() == grpc.StatusCode.ABORTED:  # we read too slowly, and may go on where we were
                raise Unreachable(error.details() or "the controller has ended the stream") from None
            raised = self._line.judge(error)
            raise (self._line.nobody() if isinstance(raised, (_Away, _Busy)) else raised) from None

    def close(self) -> None:
        self._call.cancel()


_default_lock = threading.Lock()
_default: tuple[str, str, Client] | None = None


def default_client() -> Client:
    """The client that the environment names."""
    global _default
    with _default_lock:
        meant = ",".join(each.text for each in controller_addresses())
        token = os.environ.get("MUSTER_TOKEN", "")
        if _default is None or _default[:2] != (meant, token):
            _default = (meant, token, Client())
        return _default[2]
