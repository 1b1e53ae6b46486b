"""Where the controller is, and by which keys it and we are known: the rules of the command line."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass

from muster.errors import Error

SYSTEM_SOCKET = "/run/muster/controller.sock"
CLUSTER_AUTHORITY = "/etc/muster/ca.pem"


@dataclass(frozen=True)
class Keys:
    """By what a controller is known over TCP, and we to it."""

    authority: str = ""  # whom to trust, a file in PEM
    certificate: str = ""  # ours; empty: MUNGE or a token identifies us
    key: str = ""
    munge_socket: str = ""  # empty: where libmunge looks


@dataclass(frozen=True)
class Address:
    """A unix socket (`path`), or a host and a port."""

    text: str
    path: str = ""
    host: str = ""
    port: int = 0
    keys: Keys = Keys()

    @property
    def is_unix(self) -> bool:
        return bool(self.path)

    @property
    def is_local(self) -> bool:
        """Whether the controller runs on this machine, so that a path here is a path there."""
        if self.is_unix or self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def target(self) -> str:
        """As gRPC writes it."""
        if self.is_unix:
            return "unix:" + self.path
        host = "127.0.0.1" if self.host == "localhost" else self.host
        try:
            version = ipaddress.ip_address(host).version
        except ValueError:
            return f"dns:///{host}:{self.port}"
        return f"ipv6:[{host}]:{self.port}" if version == 6 else f"ipv4:{host}:{self.port}"


def parse_address(text: str) -> Address:
    """Reads one address.

    >>> parse_address("unix:/run/muster/controller.sock").path
    '/run/muster/controller.sock'
    >>> parse_address("[::1]:7117").target
    'ipv6:[::1]:7117'
    >>> parse_address("somewhere")
    Traceback (most recent call last):
    ValueError: 'somewhere' is not an address: use unix:PATH or HOST:PORT
    """
    if text.startswith("unix:") and len(text) > 5:
        return Address(text, path=text[5:])
    host, colon, port = text.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    plain = host[1:-1] if bracketed else host
    fits = plain and (bracketed or not any(c in ":/ " for c in plain)) and not text.startswith("unix:")
    if colon and fits and port.isascii() and port.isdigit() and 0 < int(port) < 65536:
        return Address(text, host=plain, port=int(port))
    raise ValueError(f"{text!r} is not an address: use unix:PATH or HOST:PORT")


def find_keys(text: str, environment: Mapping[str, str]) -> Keys:
    """The keys for TCP: in $MUSTER_KEYS, else /etc/muster/ca.pem. Nothing goes over TCP in the clear."""
    munge = environment.get("MUSTER_MUNGE_SOCKET", "")
    place = environment.get("MUSTER_KEYS", "")
    if not place:
        if not os.path.exists(CLUSTER_AUTHORITY):
            raise Error(f"{text}: over TCP, and nothing says whom to trust: bring the cluster's ca.pem to "
                        f"{CLUSTER_AUTHORITY}, or set MUSTER_KEYS to where it is")
        return Keys(CLUSTER_AUTHORITY, munge_socket=munge)
    if not os.path.exists(f"{place}/ca.pem"):
        raise Error(f"MUSTER_KEYS: {place} has no ca.pem that you can read: bring it there")
    if os.path.exists(f"{place}/client.pem"):
        return Keys(f"{place}/ca.pem", f"{place}/client.pem", f"{place}/client.key", munge)
    return Keys(f"{place}/ca.pem", munge_socket=munge)


def state_directory(state: str | None, environment: Mapping[str, str]) -> str:
    """Where a personal cluster keeps its state."""
    home = environment.get("HOME")
    for place in (state, environment.get("MUSTER_STATE"),
                  environment.get("XDG_STATE_HOME") and environment["XDG_STATE_HOME"] + "/muster",
                  home and home + "/.local/state/muster"):
        if place:
            return os.path.abspath(place)
    raise Error("no state directory: HOME is not set; give state=DIR")


def controller_addresses(controller: str | None = None, state: str | None = None,
                         environment: Mapping[str, str] | None = None) -> list[Address]:
    """The controllers of the cluster that is meant: `controller`, else the socket in `state`, else $MUSTER_CONTROLLER,
    else the socket of the default state directory, else the packages' socket."""
    environment = os.environ if environment is None else environment
    said = controller or (not state and environment.get("MUSTER_CONTROLLER")) or ""
    if not said:
        own = state_directory(state, environment) + "/controller.sock"
        meant = state or environment.get("MUSTER_STATE")
        other = not meant and not os.path.exists(own) and os.access(SYSTEM_SOCKET, os.R_OK | os.W_OK)
        return [parse_address("unix:" + (SYSTEM_SOCKET if other else own))]
    found = [parse_address(each) for each in said.split(",")]
    if len({each.is_unix for each in found}) != 1:
        raise ValueError(f"{said!r}: controllers are all at sockets, or all at HOST:PORT")
    if found[0].is_unix:
        return found
    keys = find_keys(said, environment)
    return [Address(each.text, host=each.host, port=each.port, keys=keys) for each in found]
