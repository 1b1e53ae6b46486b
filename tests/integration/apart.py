"""Runs a command apart from whatever else runs on this machine, so that tests can run side by side.

Usage: apart.py [--online] COMMAND...    (--online: with this machine's network, for a command that calls a mirror)
       apart.py --check                  exit code 0 where a command can be run so

The command has processes, mounts, IPC, a network, a /tmp and a /dev/shm of its own: no port, process number or name of
a file of one test is another's. All that it started ends with it. An ordinary user needs a kernel that lets users make
namespaces.
"""

import ctypes
import fcntl
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile

CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWPID, CLONE_NEWNET = 0x20000, 0x8000000, 0x20000000, 0x40000000
CLONE_NEWUSER = 0x10000000
MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE = 0x2, 0x4, 0x1000, 0x4000, 0x40000
PR_SET_PDEATHSIG = 1
HERE = os.path.dirname(os.path.abspath(__file__))
NEEDED = (os.path.dirname(os.path.dirname(HERE)), os.path.abspath(os.environ.get("MUSTER_BIN") or HERE))
LIBC = ctypes.CDLL(None, use_errno=True)


def unshare(flags):
    if LIBC.unshare(flags) != 0:
        raise OSError(ctypes.get_errno(), "unshare")


def mount(source, target, kind, flags, options=None):
    """The system call: a program that an ordinary user starts has no rights in his namespaces."""
    words = [None if word is None else word.encode() for word in (source, target, kind)]
    if LIBC.mount(*words, ctypes.c_ulong(flags), None if options is None else options.encode()) != 0:
        raise OSError(ctypes.get_errno(), f"mount {target}")


def own_namespaces_of_user():
    """A user namespace in which the caller is who he is: the others are made in it. His programs are his, without rights."""
    uid, gid = os.geteuid(), os.getegid()
    unshare(CLONE_NEWUSER)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)


def make_mounts(own):
    """Our own /proc, /dev/shm and /tmp; what is built or read below /tmp stays there."""
    mount(None, "/", None, MS_REC | MS_PRIVATE)
    mount("proc", "/proc", "proc", 0)
    if os.path.isdir("/dev/shm"):
        mount("shm", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777")
    for path in NEEDED:
        if os.path.commonpath((path, "/tmp")) == "/tmp":
            there = os.path.join(own, os.path.relpath(path, "/tmp"))
            os.makedirs(there, exist_ok=True)
            mount(path, there, None, MS_BIND | MS_REC)
    mount(own, "/tmp", None, MS_BIND | MS_REC)
    os.chdir(os.getcwd())  # what it is called now


def attribute(kind, value):
    """One attribute of a netlink message."""
    return (struct.pack("=HH", 4 + len(value), kind) + value).ljust((4 + len(value) + 3) & ~3, b"\0")


def make_pair():
    """A pair of network devices that are joined, eth0 and another: Open MPI talks over no loopback device."""
    ifla_ifname, ifla_linkinfo, ifla_info_kind, rtm_newlink, create = 3, 18, 1, 16, 0x605  # REQUEST | ACK | EXCL | CREATE
    body = (struct.pack("=BxHiII", socket.AF_UNSPEC, 0, 0, 0, 0) + attribute(ifla_ifname, b"eth0\0")
            + attribute(ifla_linkinfo, attribute(ifla_info_kind, b"veth")))
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as route:
        route.send(struct.pack("=IHHII", 16 + len(body), rtm_newlink, create, 1, 0) + body)
        error = struct.unpack_from("=i", route.recv(4096), 16)[0]
    if error:
        raise OSError(-error, "no pair of network devices can be made")


def make_network():
    """The loopback, and a device with the address that this machine's name stands for, where that is another."""
    siocsifflags, siocsifaddr, up = 0x8914, 0x8916, 0x41  # IFF_UP | IFF_RUNNING
    try:
        address = socket.gethostbyname(socket.gethostname())
    except OSError:
        address = "127.0.0.1"
    make_pair()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        wanted = "198.18.0.1" if address.startswith("127.") else address
        request = struct.pack("16sHH4s16x", b"eth0", socket.AF_INET, 0, socket.inet_aton(wanted))
        fcntl.ioctl(any_socket, siocsifaddr, request)
        for _, name in socket.if_nameindex():
            if name in ("lo", "eth0") or name.startswith("veth"):
                fcntl.ioctl(any_socket, siocsifflags, struct.pack("16sH22x", name.encode(), up))


def exit_code(status):
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def first_process(own, online, command):
    """Of the new namespaces: prepares them, runs the command and reaps what it leaves."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    unshare(CLONE_NEWNS | CLONE_NEWIPC | (0 if online else CLONE_NEWNET))
    make_mounts(own)
    if not online:
        make_network()
    child = subprocess.Popen(command)  # pylint: disable=consider-using-with
    while True:
        pid, status = os.wait()
        if pid == child.pid:
            return exit_code(status)


def run_apart(online, command):
    own = tempfile.mkdtemp(prefix="mit-apart-", dir="/tmp")
    os.chmod(own, 0o1777)
    try:
        if os.geteuid() != 0:
            own_namespaces_of_user()
        unshare(CLONE_NEWPID)  # for what is forked from here on
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                code = first_process(own, online, command)
            except (OSError, subprocess.SubprocessError) as error:
                print(f"apart.py: {error}", file=sys.stderr)
            finally:
                sys.stderr.flush()
                os._exit(code)  # pylint: disable=protected-access
        return exit_code(os.waitpid(pid, 0)[1])
    finally:
        shutil.rmtree(own, ignore_errors=True)


def main(arguments):
    if arguments == ["--check"]:
        return run_apart(False, ["true"])
    online = arguments[0] == "--online"
    command = arguments[1:] if online else arguments
    return run_apart(online, command)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except OSError as error:
        sys.exit(f"apart.py: {error}")
