"""A PostgreSQL server of the test's own: on a unix socket, as an ordinary user, gone with the test. And the way to it for
one controller, which can be cut.
"""

import csv
import glob
import io
import os
import pwd
import re
import selectors
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

PROGRAMS = max(glob.glob("/usr/lib/postgresql/*/bin"), default="")
SOCKET = ".s.PGSQL.5432"


def as_ordinary(words):
    """The server refuses to run as root."""
    return ["runuser", "-u", "postgres", "--", *words] if os.geteuid() == 0 else words


def rows_of(url, query):
    """The rows of a query, with numbers as numbers; none of a command."""
    copied = query if not query.startswith("SELECT") else f"COPY ({query}) TO STDOUT WITH CSV HEADER"
    done = subprocess.run([f"{PROGRAMS}/psql", "-qX", "-v", "ON_ERROR_STOP=1", "-c", copied, url],
                          check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    return [{key: int(value) if re.fullmatch(r"-?\d+", value) else value for key, value in row.items()}
            for row in csv.DictReader(io.StringIO(done.stdout))]


class Postgres:
    def __init__(self, synced=False, size=None):
        """`size`: it has a disk of its own of that size, which can be filled; that takes root."""
        self.directory = tempfile.mkdtemp(prefix="mpg-", dir="/tmp")
        self.has_disk = size is not None
        if self.has_disk:
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", self.directory], check=True)
        if os.geteuid() == 0:
            owner = pwd.getpwnam("postgres")
            os.chown(self.directory, owner.pw_uid, owner.pw_gid)
        os.chmod(self.directory, 0o755)
        self.synced = synced  # a commit reaches the disk
        self.process = None
        subprocess.run(as_ordinary([f"{PROGRAMS}/initdb", "-D", f"{self.directory}/data", "-U", "muster", "-A", "trust",
                                    "-E", "UTF8", "--locale=C", "--no-sync"]),
                       check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        self.start()
        self.ask("CREATE DATABASE cluster", "postgres")

    def url(self, database="cluster", host=None):
        return f"postgresql://muster@{(host or self.directory).replace('/', '%2F')}/{database}"

    def start(self):
        with open(f"{self.directory}.log", "ab") as log:
            self.process = subprocess.Popen(
                as_ordinary([f"{PROGRAMS}/postgres", "-D", f"{self.directory}/data", "-k", self.directory,
                             "-c", "listen_addresses=", "-c", "max_wal_size=64MB", *([] if self.synced else ["-F"])]),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", start_new_session=True)
        until = time.monotonic() + 60
        while not self.is_ready():
            if time.monotonic() > until:
                raise AssertionError("the database does not start")
            time.sleep(0.05)

    def is_ready(self):
        return subprocess.run([f"{PROGRAMS}/pg_isready", "-q", "-h", self.directory], check=False).returncode == 0

    def pid(self):
        with open(f"{self.directory}/data/postmaster.pid", encoding="utf-8") as file:
            return int(file.readline())

    def stop(self, how=signal.SIGQUIT):
        """SIGQUIT: at once, as a crash is."""
        if self.process is not None:
            os.kill(self.pid(), how)
            self.process.wait()
            self.process = None

    def fill(self):
        """Its disk is full from now on."""
        with open(f"{self.directory}/filler", "wb", buffering=0) as file:
            for size in (1 << 20, 1 << 12):
                try:
                    while True:
                        file.write(bytes(size))
                except OSError:
                    pass

    def free(self):
        """There is room again; the server may have given up meanwhile."""
        os.unlink(f"{self.directory}/filler")
        until = time.monotonic() + 60
        while not self.is_ready():
            if time.monotonic() > until:
                raise AssertionError("the database does not come back")
            if self.process.poll() is not None:
                self.start()
            time.sleep(0.05)

    def ask(self, query, database="cluster"):
        return rows_of(self.url(database), query)

    def close(self):
        self.stop()
        if self.has_disk:
            subprocess.run(["umount", "-l", self.directory], check=True)
        shutil.rmtree(self.directory, ignore_errors=True)
        os.unlink(f"{self.directory}.log")


class Way:
    """A socket through which one controller reaches the database, or others reach it, until it is cut: then nothing that
    is sent arrives, and nobody is told."""

    def __init__(self, target, directory, name):
        self.target, self.directory = target, directory
        os.makedirs(directory, exist_ok=True)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(os.path.join(directory, name))
        self.listener.listen(64)
        self.cut = False
        self.lock = threading.Lock()
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.listener, selectors.EVENT_READ, None)
        self.closing = False
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.closing:
            for key, _ in self.selector.select(0.1):
                if self.cut:
                    time.sleep(0.02)
                elif key.data is None:
                    self._accept()
                else:
                    self._forward(key.fileobj, key.data)

    def _accept(self):
        client, _ = self.listener.accept()
        server = socket.socket(socket.AF_UNIX)
        try:
            server.connect(self.target)
        except OSError:
            client.close()
            return
        self.selector.register(client, selectors.EVENT_READ, server)
        self.selector.register(server, selectors.EVENT_READ, client)

    def _forward(self, source, target):
        try:
            data = source.recv(1 << 16)
            if data:
                target.sendall(data)
                return
        except OSError:
            pass
        for end in (source, target):
            try:
                self.selector.unregister(end)
            except (KeyError, ValueError):
                pass
            end.close()

    def close(self):
        self.closing = True
        self.thread.join()
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()
        self.selector.close()
