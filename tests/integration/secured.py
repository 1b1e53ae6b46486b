"""Clusters whose controller and agents know one another by keys of `muster keys`, over TCP: one of an ordinary user's, and
one of several users on this machine, with a munged of its own and users who are not in the machine's own list.

Those users are made by laying a list of our own over /etc/passwd in a mount namespace of the test's process: needs root,
and says so where it is not there.
"""

import ctypes
import os
import pwd
import shutil
import socket
import subprocess
import tempfile

from cluster import PATIENCE, Cluster, program, read_file, wait_until

USERS = {"alice": 61001, "mallory": 61002, "al": 61003}
CLONE_NEWNS = 0x20000


def why_not():
    """Why no such cluster can be had here, or nothing."""
    if os.geteuid() != 0:
        return "NOT ROOT: users can neither be made nor become"
    if shutil.which("munged") is None:
        return "NO munged (apt-get install munge): users on a cluster are known by MUNGE"
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS) != 0:
        return "NO MOUNT NAMESPACES HERE: users cannot be made"
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    return None


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class UserList:
    """Our own /etc/passwd, which can be changed while daemons run."""

    def __init__(self, directory):
        self.path = os.path.join(directory, "passwd")
        self.base = read_file("/etc/passwd").decode()
        self.set(USERS)
        subprocess.run(["mount", "--bind", self.path, "/etc/passwd"], check=True)

    def set(self, users):
        lines = [f"{name}:x:{uid}:{uid}::/:/bin/sh" for name, uid in users.items()]
        with open(self.path, "w", encoding="utf-8") as file:  # the same inode: it is mounted
            file.write(self.base + "\n".join(lines) + "\n")

    def close(self):
        subprocess.run(["umount", "/etc/passwd"], check=False)


class KeyedCluster(Cluster):
    """A controller and agents that know one another by keys, over TCP."""

    def __init__(self, nodes=1, topology=None, listen=None, root=None, work=None):
        super().__init__(nodes=nodes, topology=topology, root=root, work=work)
        self.keys = os.path.join(self.root, "keys")
        self.tcp = listen or f"127.0.0.1:{free_port()}"
        self.make_keys("init")
        self.controller.arguments += ["--listen", self.tcp, "--keys", self.keys]
        for i, agent in enumerate(self.agents):
            name = f"node{i + 1}"
            self.make_keys("agent", name)
            place = agent.arguments.index("--controller")
            agent.arguments[place + 1] = self.tcp
            agent.arguments += ["--keys", os.path.join(self.keys, "agents", name)]

    def make_keys(self, *words, check=True):
        return subprocess.run([program("muster"), "keys", *words, "--keys", self.keys], check=check,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class OneUsersCluster(KeyedCluster):
    """An ordinary user's controller and agents of our own, who run his jobs as him.

    Where we are root he is nobody, as root's agents run no job of root's; elsewhere he is ourselves."""

    def __init__(self, nodes=1, topology=None, listen=None):
        super().__init__(nodes=nodes, topology=topology, listen=listen)
        self.user = pwd.getpwnam("nobody") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
        self.make_keys("client", self.user.pw_name)
        self.client_keys = os.path.join(self.work, "client")
        shutil.copytree(os.path.join(self.keys, "clients", self.user.pw_name), self.client_keys)
        if os.geteuid() == 0:
            self.give_away()

    def give_away(self):
        """Makes the controller, what is its, and who types the commands the user's."""
        uid, gid = self.user.pw_uid, self.user.pw_gid
        os.chmod(self.root, 0o711)
        for path in (self.state, os.path.join(self.state, "log"), self.work, self.keys):
            os.chown(path, uid, gid)
        for directory in (self.keys, self.client_keys):
            os.chown(directory, uid, gid)
            for entry in os.scandir(directory):
                if entry.is_file():
                    os.chown(entry.path, uid, gid)
        self.controller.before += ["setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups"]
        self.identity = {"user": uid, "group": gid, "extra_groups": []}
        self.environment["HOME"] = self.work

    def over_tcp(self, *arguments):
        """Runs `muster VERB …` as him, who calls over TCP: returncode, stdout, stderr."""
        return subprocess.run(
            [program("muster"), arguments[0], "--controller", self.tcp, *map(str, arguments[1:])], cwd=self.work,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE,
            env={**self.environment, "MUSTER_KEYS": self.client_keys}, check=False, **self.identity)


class SecuredCluster(KeyedCluster):
    """Two nodes and a controller that know one another by keys, and users who are known by MUNGE."""

    def __init__(self, nodes=2, daemon_options=(), agent_options=(), root=None, work=None, listen=None):
        super().__init__(nodes=nodes, topology="pack:1 core:8 pu:1", listen=listen, root=root, work=work)
        os.chmod(self.root, 0o711)
        os.chmod(self.work, 0o711)
        for above in ("state", "state/agents"):
            os.chmod(os.path.join(self.root, above), 0o711)
        self.trust = os.path.join(self.root, "trust")
        self.users = UserList(self.root)
        os.makedirs(self.trust, mode=0o755)
        shutil.copy(os.path.join(self.keys, "ca.pem"), self.trust)
        self.munge = os.path.join(self.root, "munge", "socket")
        self.controller.arguments += ["--munge-socket", self.munge, *daemon_options]
        for agent in self.agents:
            agent.arguments += agent_options
        for name, uid in USERS.items():
            os.mkdir(os.path.join(self.work, name), mode=0o700)
            os.chown(os.path.join(self.work, name), uid, uid)
        self.munged = None

    def start(self):
        self.start_munged()
        return super().start()

    def start_munged(self):
        place = os.path.dirname(self.munge)
        os.makedirs(place, mode=0o755)
        with open(os.path.join(place, "key"), "wb") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(os.urandom(1024))
        self.munged = subprocess.Popen(
            ["munged", "--foreground", "--force", f"--socket={self.munge}",
             f"--key-file={place}/key", f"--pid-file={place}/pid", f"--log-file={place}/log",
             f"--seed-file={place}/seed"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: os.path.exists(self.munge), "munged does not listen")

    def close(self, check=True):
        try:
            if check:
                for job in self.queue():  # other users', whom "cancel --all" does not mean
                    self.muster("cancel", job)
            super().close(check)
        finally:
            if self.munged is not None:
                self.munged.terminate()
                self.munged.wait()
            self.users.close()
            shutil.rmtree(self.root, ignore_errors=True)

    def place_of(self, user, name=""):
        return os.path.join(self.work, user, name)

    def as_user(self, user, *arguments, environment=None, keys=None):
        """Runs `muster VERB …` as that user, who calls over TCP: returncode, stdout, stderr."""
        uid = USERS.get(user, 0)
        variables = {"PATH": "/usr/bin:/bin", "MUSTER_KEYS": keys or self.trust,
                     "MUSTER_MUNGE_SOCKET": self.munge, "HOME": "/", **(environment or {})}
        return subprocess.run(
            [program("muster"), arguments[0], "--controller", self.tcp, *map(str, arguments[1:])],
            cwd=self.place_of(user) if uid else "/", env=variables, text=True, errors="replace",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
            user=uid, group=uid, extra_groups=[])

    def submit_as(self, user, *arguments, **keywords):
        """The number of a job of that user's which was acknowledged."""
        done = self.as_user(user, "submit", "--parsable", *arguments, **keywords)
        if done.returncode != 0:
            raise AssertionError(f"{user} may not submit: {done.stderr}")
        return int(done.stdout)

    def log(self):
        return read_file(self.controller.log).decode(errors="replace")
