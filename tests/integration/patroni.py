"""A PostgreSQL primary and its synchronous standby under Patroni, with etcd, of the test's own: on loopback and unix
sockets, as an ordinary user, gone with the test.
"""

import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from postgres import PROGRAMS, as_ordinary, rows_of

PROGRAM, ETCD = shutil.which("patroni"), shutil.which("etcd")
MEMBERS = ("p1", "p2")


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Member:
    """A server and the Patroni that starts it, promotes it and has it follow."""

    def __init__(self, name, directory, etcd):
        self.name, self.directory = name, directory
        self.port, self.rest = free_port(), free_port()
        self.process = None
        settings = {
            "scope": "cluster", "name": name,
            "restapi": {"listen": f"127.0.0.1:{self.rest}", "connect_address": f"127.0.0.1:{self.rest}"},
            "etcd3": {"hosts": f"127.0.0.1:{etcd}"},
            "bootstrap": {
                "dcs": {"ttl": 6, "loop_wait": 1, "retry_timeout": 2, "synchronous_mode": True,
                        "postgresql": {"use_pg_rewind": True, "use_slots": True}},
                "initdb": [{"encoding": "UTF8"}, {"locale": "C"}, {"auth": "trust"}, "data-checksums", "no-sync"]},
            "postgresql": {
                "listen": f"127.0.0.1:{self.port}", "connect_address": f"127.0.0.1:{self.port}",
                "data_dir": f"{directory}/data", "bin_dir": PROGRAMS, "pgpass": f"{directory}/pgpass",
                "authentication": {"superuser": {"username": "muster"}, "replication": {"username": "copier"},
                                   "rewind": {"username": "muster"}},
                "parameters": {"unix_socket_directories": directory, "fsync": False},
                "pg_hba": ["local all all trust", "host all all 127.0.0.1/32 trust",
                           "host replication all 127.0.0.1/32 trust"]},
        }
        with open(f"{directory}/patroni.json", "w", encoding="utf-8") as file:
            json.dump(settings, file)  # which YAML reads

    def start(self):
        with open(f"{self.directory}.log", "ab") as log:
            self.process = subprocess.Popen(as_ordinary([PROGRAM, f"{self.directory}/patroni.json"]), cwd="/",
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def kill(self):
        """Both at once, as a machine that loses its power."""
        pids = [self.process.pid, *children(self.process.pid)]
        try:
            with open(f"{self.directory}/data/postmaster.pid", encoding="utf-8") as file:
                server = int(file.readline())
            pids += [server, *children(server)]
        except OSError:
            pass
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
        self.process = None

    def answers(self, what):
        """Whether it says of itself that it is that: primary, replica, synchronous."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.rest}/{what}", timeout=2) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            found = [int(word) for word in file.read().split()]
    except OSError:
        return []
    return found + [grandchild for child in found for grandchild in children(child)]


class Patroni:
    """As Postgres, for those who ask it."""

    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix="mpa-", dir="/tmp")
        self.etcd = None
        self.members = []
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def _begin(self):
        port, peer = free_port(), free_port()
        with open(f"{self.directory}/etcd.log", "ab") as log:
            self.etcd = subprocess.Popen(
                [ETCD, "--data-dir", f"{self.directory}/etcd", "--listen-client-urls", f"http://127.0.0.1:{port}",
                 "--advertise-client-urls", f"http://127.0.0.1:{port}", "--listen-peer-urls", f"http://127.0.0.1:{peer}",
                 "--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}",
                 "--initial-cluster", f"default=http://127.0.0.1:{peer}"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        for name in MEMBERS:
            directory = f"{self.directory}/{name}"
            os.mkdir(directory)
            self.members.append(Member(name, directory, port))
        os.chmod(self.directory, 0o755)
        if os.geteuid() == 0:
            owner = pwd.getpwnam("postgres")
            for member in self.members:
                for path in (member.directory, f"{member.directory}/patroni.json"):
                    os.chown(path, owner.pw_uid, owner.pw_gid)
        for member in self.members:
            member.start()
        self.wait(self.is_whole, "no primary with a synchronous standby")
        self.ask("CREATE DATABASE cluster", "postgres")
        self.wait(lambda: len(self.ask("SELECT 1 AS found FROM pg_stat_replication WHERE replay_lsn = flush_lsn")) == 1,
                  "the standby does not have the database")

    def wait(self, condition, what, seconds=120):
        until = time.monotonic() + seconds
        while True:
            found = condition()
            if found:
                return found
            if time.monotonic() > until:
                raise AssertionError(f"{what}: {self.log()}")
            time.sleep(0.1)

    def log(self):
        texts = []
        for member in self.members:
            with open(f"{member.directory}.log", encoding="utf-8", errors="replace") as file:
                texts.append(f"--- {member.name}\n{file.read()[-2000:]}")
        return "\n".join(texts)

    def primary(self):
        return next((member for member in self.members if member.process and member.answers("primary")), None)

    def is_whole(self):
        primary = self.primary()
        return primary and any(member is not primary and member.answers("synchronous") for member in self.members)

    def fail_over(self):
        """The primary dies; how long it took until the standby was one, in seconds."""
        member = self.wait(self.primary, "no primary")
        begin = time.monotonic()
        member.kill()
        self.wait(self.primary, "no standby was promoted")
        return member, time.monotonic() - begin

    def url(self, database="cluster", host=None):
        assert host is None
        hosts = ",".join(member.directory.replace("/", "%2F") for member in self.members)
        ports = ",".join(str(member.port) for member in self.members)
        return f"postgresql://muster@/{database}?host={hosts}&port={ports}&target_session_attrs=read-write"

    def ask(self, query, database="cluster"):
        member = self.wait(self.primary, "no primary")
        return rows_of(f"postgresql://muster@{member.directory.replace('/', '%2F')}:{member.port}/{database}", query)

    def close(self):
        for member in self.members:
            if member.process is not None:
                member.kill()
        if self.etcd is not None:
            self.etcd.kill()
            self.etcd.wait()
        shutil.rmtree(self.directory, ignore_errors=True)
