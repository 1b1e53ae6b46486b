"""How we show who we are to a controller over TCP: a client's certificate, a token, or a MUNGE credential for each call.

A credential is good for the server's very certificate and for one method, and travels over TLS alone.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import secrets
import socket
import ssl
import stat

from muster.address import Address
from muster.errors import Error, NotAllowed, Unreachable

CONTROLLER_NAME = "muster-controller"  # the DNS name in each controller's certificate, and in no other
TOKEN_METADATA = "muster-token"
MUNGE_METADATA = "muster-munge"

_LIFE_SECONDS = 120
_OPTION_TTL, _OPTION_SOCKET = 4, 8  # munge.h: MUNGE_OPT_TTL, MUNGE_OPT_SOCKET
_ERROR_SOCKET = 6  # munge.h: EMUNGE_SOCKET


def read_file(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise Error(f"{path}: {error.strerror}") from None


def read_private_file(path: str) -> bytes:
    """The content of a key's file, which others must not be able to read or change."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise Error(f"{path}: not a plain file")
            if found.st_uid not in (0, os.geteuid()):
                raise NotAllowed(f"{path}: belongs to uid {found.st_uid}, who may change it; chown {os.geteuid()} it")
            if found.st_mode & 0o077:
                raise NotAllowed(f"{path}: others may read or change it (mode {stat.S_IMODE(found.st_mode):04o}); "
                                 "chmod 600 it")
            return file.read()
    except OSError as error:
        raise Error(f"{path}: {error.strerror}") from None


def server_fingerprint(address: Address, timeout: float = 5.0) -> str:
    """SHA-256 of the certificate by which the controller at `address` proves to be one."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.set_alpn_protocols(["h2"])
    try:
        context.load_verify_locations(address.keys.authority)
        with socket.create_connection((address.host, address.port), timeout) as plain:
            with context.wrap_socket(plain, server_hostname=CONTROLLER_NAME) as secured:
                return hashlib.sha256(secured.getpeercert(binary_form=True) or b"").hexdigest()
    except ssl.SSLError:
        raise NotAllowed(f"{address.text}: is not the controller that {address.keys.authority} vouches for: "
                         "bring the cluster's ca.pem there, or correct the address") from None
    except OSError as error:
        raise Unreachable(f"no controller at {address.text} ({error.strerror or error}): "
                          "check that musterd runs there") from None


class Munge:
    """libmunge, opened when it is wanted."""

    def __init__(self, munge_socket: str = "") -> None:
        try:
            self._library = ctypes.CDLL("libmunge.so.2")
        except OSError:
            raise Error("libmunge.so.2: not here; install MUNGE (Debian: libmunge2 and munge), give a token, or set "
                        "MUSTER_KEYS to where your key is (muster keys client)") from None
        self._socket = munge_socket
        self._free = ctypes.CDLL(None).free
        self._free.argtypes, self._free.restype = [ctypes.c_void_p], None
        library = self._library
        library.munge_ctx_create.restype = ctypes.c_void_p
        library.munge_ctx_destroy.argtypes, library.munge_ctx_destroy.restype = [ctypes.c_void_p], None
        library.munge_ctx_strerror.argtypes, library.munge_ctx_strerror.restype = [ctypes.c_void_p], ctypes.c_char_p
        library.munge_strerror.argtypes, library.munge_strerror.restype = [ctypes.c_int], ctypes.c_char_p
        library.munge_encode.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]

    def encode(self, payload: str) -> str:
        """A credential of this process's user over the payload."""
        library = self._library
        context = ctypes.c_void_p(library.munge_ctx_create())
        if not context:
            raise Error("MUNGE: no context")
        try:
            refused = library.munge_ctx_set(context, ctypes.c_int(_OPTION_TTL), ctypes.c_int(_LIFE_SECONDS))
            if self._socket:
                refused |= library.munge_ctx_set(
                    context, ctypes.c_int(_OPTION_SOCKET), ctypes.c_char_p(os.fsencode(self._socket)))
            credential = ctypes.c_void_p()
            data = payload.encode()
            code = refused or library.munge_encode(ctypes.byref(credential), context, data, len(data))
            if code:
                words = library.munge_ctx_strerror(context) or library.munge_strerror(code)
                hint = "; is munged running?" if code == _ERROR_SOCKET else ""
                raise NotAllowed(f"MUNGE: {words.decode(errors='replace')}{hint}")
            text = ctypes.string_at(credential.value or 0).decode()
            self._free(credential)
            return text
        finally:
            library.munge_ctx_destroy(context)


def munge_payload(fingerprint: str, method: str) -> str:
    """What a credential for one call of ours is over (scheduler/runtime/identity/munge.h)."""
    return f"muster call 1\n{fingerprint}\n{method}\n{secrets.token_hex(16)}\n"
