"""HTTP/2 as an attacker writes it: frames by hand, over TLS or not, with no client library's manners.

Enough of RFC 9113 and RFC 7541 to make gRPC calls, good ones and others: literal headers without Huffman coding, and
answers of which only the frames' heads and gRPC's status are read.
"""

import re
import socket
import ssl
import struct
import time

DATA, HEADERS, RESET, SETTINGS, GOAWAY, WINDOW = 0, 1, 3, 4, 7, 8
END_STREAM, END_HEADERS = 1, 4
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
FRAME_MAX = 16384


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def number(value, bits, head=0):
    """An integer of RFC 7541, section 5.1."""
    most = (1 << bits) - 1
    if value < most:
        return bytes([head | value])
    out = [head | most]
    value -= most
    while value >= 128:
        out.append(value % 128 + 128)
        value //= 128
    return bytes([*out, value])


def text(value):
    value = value.encode() if isinstance(value, str) else value
    return number(len(value), 7) + value


def header(name, value):
    return b"\0" + text(name) + text(value)


def grpc_headers(path, secure=True, extra=()):
    """The header block of a gRPC call."""
    block = b"\x83" + (b"\x87" if secure else b"\x86")  # :method POST, :scheme
    block += header(":path", path) + header(":authority", "muster-controller")
    block += header("content-type", "application/grpc") + header("te", "trailers")
    return block + b"".join(header(name, value) for name, value in extra)


def message(body, compressed=False):
    return bytes([compressed]) + struct.pack(">I", len(body)) + body


class Peer:
    """One connection to a gRPC server."""

    def __init__(self, connection):
        self.socket = connection
        self.received = b""
        self.windows = {0: 65535}
        self.status = {}  # of each stream that has ended
        self.closed = False
        self.next = 1
        self.send(PREFACE + frame(SETTINGS, 0, 0))

    def send(self, data):
        """False when the other side has closed the connection."""
        try:
            self.socket.sendall(data)
        except OSError:
            self.closed = True
        return not self.closed

    def read(self, wait):
        """Takes what comes within so many seconds."""
        try:
            self.socket.settimeout(wait)
            data = self.socket.recv(1 << 16)
            self.closed = self.closed or not data
            self.received += data
        except (TimeoutError, socket.timeout, ssl.SSLWantReadError):
            pass
        except OSError:
            self.closed = True
        finally:
            if not self.closed:
                self.socket.settimeout(30)
        while len(self.received) >= 9:
            length = int.from_bytes(self.received[:3], "big")
            if len(self.received) < 9 + length:
                return
            self.take(self.received[3], self.received[4], int.from_bytes(self.received[5:9], "big") & 0x7fffffff,
                      self.received[9:9 + length])
            self.received = self.received[9 + length:]

    def take(self, kind, flags, stream, payload):
        if kind == WINDOW:
            self.windows[stream] = self.windows.get(stream, 65535) + (int.from_bytes(payload, "big") & 0x7fffffff)
        elif kind == SETTINGS and not flags & 1:
            self.send(frame(SETTINGS, 1, 0))
        elif kind == HEADERS and flags & END_STREAM:
            found = re.search(rb"grpc-status[\x01-\x03](\d+)", payload)
            self.status[stream] = int(found.group(1)) if found else None
        elif kind == RESET:
            self.status.setdefault(stream, -1)
        elif kind == GOAWAY:
            self.status.setdefault(self.next - 2, -1)

    def begin(self, path, extra=(), secure=True):
        stream = self.next
        self.next += 2
        self.windows[stream] = 65535
        self.send(frame(HEADERS, END_HEADERS, stream, grpc_headers(path, secure, extra)))
        return stream

    def write(self, stream, data, patience=30):
        """Sends data as the windows let it, until it is over or answered; how much of it went."""
        at, until = 0, time.monotonic() + patience
        while at < len(data) and not self.closed and stream not in self.status and time.monotonic() < until:
            now = min(FRAME_MAX, len(data) - at, self.windows[0], self.windows[stream])
            if now > 0:
                self.send(frame(DATA, END_STREAM if at + now == len(data) else 0, stream, data[at:at + now]))
                self.windows[0] -= now
                self.windows[stream] -= now
                at += now
            self.read(0.001 if now > 0 else 0.05)
        return at

    def answer(self, stream, patience=30):
        """gRPC's status of the call; None when the connection ended without."""
        until = time.monotonic() + patience
        while stream not in self.status and not self.closed and time.monotonic() < until:
            self.read(0.1)
        return self.status.get(stream)

    def call(self, path, body=b"", extra=(), secure=True, compressed=False, patience=30):
        """(status, how many bytes of the message went)."""
        stream = self.begin(path, extra, secure)
        went = self.write(stream, message(body, compressed), patience)
        return self.answer(stream, patience), went

    def close(self):
        self.socket.close()


def over_tls(address, authority):
    """A caller who trusts the controller and shows no certificate."""
    host, _, port = address.rpartition(":")
    context = ssl.create_default_context(cafile=authority)
    context.set_alpn_protocols(["h2"])
    plain = socket.create_connection((host, int(port)), timeout=30)
    return Peer(context.wrap_socket(plain, server_hostname="muster-controller"))


def over_unix(path):
    plain = socket.socket(socket.AF_UNIX)
    plain.settimeout(30)
    plain.connect(path)
    return Peer(plain)
