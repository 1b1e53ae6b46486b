"""What root's agent and supervisors do in a user's space they do as him: connect, open, remove; and nothing of it keeps a node.

Rows B6, C3, D1, D3, D9 and F9 of the list of attacks.
"""

import contextlib
import ctypes
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest

from cluster import PATIENCE, program, read_file, wait_until
from mpi_test import RING, ring_lines
from secured import USERS, SecuredCluster, why_not

REASON = why_not()


class Listener:
    """A socket of root's that notes who connects: (uid, the first bytes)."""

    def __init__(self, path, mode):
        self.path = path
        self.seen = []
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(path)
        os.chmod(path, mode)
        self.socket.listen(8)
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                peer, _ = self.socket.accept()
                uid = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]
                peer.settimeout(2)
                data = b""
                with contextlib.suppress(OSError):
                    data = peer.recv(4096)
                self.seen.append((uid, data))
                peer.close()

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


@unittest.skipIf(REASON, f"SKIPPED: {REASON}")
class RootAttacksTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # As of a service of systemd's: the daemons have a session keyring, and hand it on.
        ctypes.CDLL(None).syscall(250, 1, b"agent-session")
        # With a private /tmp nothing of the cluster's may lie in the machine's.
        root, work = (tempfile.mkdtemp(prefix="mit-", dir="/var/lib") for _ in range(2))
        cls.cluster = SecuredCluster(nodes=1, agent_options=["--private-tmp"], root=root, work=work)
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.start()
        cls.node = os.path.join(cls.cluster.state, "agents", "node1")

    def tearDown(self):
        """The next legitimate request succeeds, whatever was tried."""
        job = self.cluster.submit_as("alice", "-o", "/dev/null", "--wrap", "true")
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "COMPLETED")

    def listener(self, directory_mode, mode):
        place = tempfile.mkdtemp(dir=self.cluster.root)
        os.chmod(place, directory_mode)
        made = Listener(os.path.join(place, "root.sock"), mode)
        self.addCleanup(made.close)
        return made

    def start_as(self, user, *words):
        """The command runs on; its sockets lie in a directory of the user's own."""
        runtime = self.cluster.place_of(user, "runtime")
        shutil.rmtree(runtime, ignore_errors=True)
        os.mkdir(runtime, mode=0o700)
        os.chown(runtime, USERS[user], USERS[user])
        process = subprocess.Popen(
            [program("muster"), words[0], "--controller", self.cluster.tcp, *words[1:]],
            cwd=self.cluster.place_of(user), text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, user=USERS[user], group=USERS[user],
            extra_groups=[],
            env={"PATH": "/usr/bin:/bin", "MUSTER_KEYS": self.cluster.trust, "HOME": "/",
                 "MUSTER_MUNGE_SOCKET": self.cluster.munge, "XDG_RUNTIME_DIR": runtime})
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        return process, runtime

    def point_elsewhere(self, runtime, target):
        """Lays a link over the socket at which a `muster run` listens, as its user may."""
        def found():
            for name in os.listdir(runtime):
                path = os.path.join(runtime, name, "io.sock")
                if os.path.exists(path):
                    return path
            return None
        path = wait_until(found, "nobody listens")
        os.unlink(path)
        os.symlink(target, path)

    def redirected_run(self, target):
        """mallory's `muster run`, whose socket became a link to `target` before the start."""
        self.cluster.must("drain", "node1", "--reason", "test")
        run, runtime = self.start_as("mallory", "run", "sleep", "5")
        wait_until(lambda: [job for job, row in self.cluster.queue().items()
                            if row["state"] == "PENDING"], "it is not queued")
        self.point_elsewhere(runtime, target)
        self.cluster.must("resume", "node1")
        return run

    # F9: the supervisor connects to what the user names.

    def test_a_socket_of_roots_is_not_connected_to_for_a_user(self):
        listener = self.listener(0o700, 0o600)
        run = self.redirected_run(listener.path)
        _, err = run.communicate(timeout=PATIENCE)
        self.assertNotEqual(run.returncode, 0)
        self.assertEqual(listener.seen, [])
        self.assertIn("Permission denied", err + str(self.last_detail()))

    def last_detail(self):
        return self.cluster.must("show", self.cluster.newest(), "--json")

    def test_a_socket_that_all_may_open_sees_the_user_and_not_root(self):
        listener = self.listener(0o755, 0o666)
        run = self.redirected_run(listener.path)
        run.communicate(timeout=PATIENCE)
        wait_until(lambda: listener.seen, "nobody connected: nothing was tried here")
        self.assertEqual({uid for uid, _ in listener.seen}, {USERS["mallory"]})

    def test_the_same_of_a_socket_for_attach(self):
        listener = self.listener(0o755, 0o666)
        run, _ = self.start_as("mallory", "run", "sleep", "20")
        (job,) = wait_until(lambda: [job for job, row in self.cluster.queue().items()
                                     if row["state"] == "RUNNING"], "it does not run")
        agent = self.cluster.agents[0].process
        kept = self.cluster.place_of("mallory", "kept")
        os.rename(self.cluster.place_of("mallory", "runtime"), kept)
        agent.send_signal(19)  # it passes the order on only once the link is there
        try:
            _, runtime = self.start_as("mallory", "attach", str(job))
            self.point_elsewhere(runtime, listener.path)
            time.sleep(1)
        finally:
            agent.send_signal(18)
        wait_until(lambda: listener.seen, "nobody connected: nothing was tried here")
        self.assertEqual({uid for uid, _ in listener.seen}, {USERS["mallory"]})
        self.cluster.must("cancel", job)
        run.wait()

    # D1: the supervisor opens what the user names.

    def test_a_jobs_input_shows_nothing_of_roots_memory(self):
        for name in ("maps", "environ", "auxv"):
            out = self.cluster.place_of("mallory", "shown")
            with contextlib.suppress(FileNotFoundError):
                os.unlink(out)
            done = self.cluster.as_user("mallory", "submit", "--parsable", "-o", out, "-i",
                                        f"/proc/self/{name}", "--wrap", "exec head -c 4000 2>/dev/null")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.cluster.wait_ended(int(done.stdout))
            self.assertEqual(read_file(out), b"", name)

    # D3: whatever a job leaves, its node goes on and the agent starts.

    def trash(self):
        return os.listdir(os.path.join(self.node, "trash"))

    def restart(self):
        self.cluster.agents[0].stop()
        self.cluster.agents[0].start()

    def test_a_deep_private_tmp_is_removed_and_keeps_no_agent(self):
        job = self.cluster.submit_as(
            "mallory", "-o", "/dev/null", "--wrap",
            "cd /tmp && mkdir closed && chmod 0 closed && for i in $(seq 300); do mkdir d && cd d; done")
        self.cluster.wait_ended(job)
        wait_until(lambda: not self.trash(), lambda: f"it stays: {self.trash()}")
        self.restart()

    # B6: whoever knows a step's PMIx namespace may join it.

    def test_nobody_else_learns_the_name_under_which_ranks_join(self):
        name, gate = self.cluster.place_of("alice", "name"), self.cluster.place_of("alice", "gate")
        ranks = threading.Thread(target=self.cluster.as_user, args=(
            "alice", "run", "-n", "2", "--mpi=pmix", "sh", "-c",
            f"[ $PMIX_RANK = 0 ] && echo $PMIX_NAMESPACE >{name}; until [ -e {gate} ]; do sleep 0.1; done"))
        ranks.start()
        self.addCleanup(ranks.join)
        self.addCleanup(lambda: pathlib.Path(gate).touch())
        wait_until(lambda: os.path.exists(name) and read_file(name).endswith(b"\n"), "rank 0 has not begun")
        shown, code = read_file(name).decode().strip().rsplit(".", 1)
        self.assertRegex(shown, r"^muster\.\d+\.1\.1$")
        self.assertRegex(code, r"^[0-9a-f]{24}$")
        look = ("ls -R /dev/shm /tmp /run /var/lib; cat /proc/net/unix /proc/*/cmdline /proc/*/environ | tr '\\0' '\\n'; "
                "ls -l /proc/*/fd /proc/*/cwd")
        seen = subprocess.run(["sh", "-c", look], user=USERS["mallory"], group=USERS["mallory"], extra_groups=[],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout.decode(errors="replace")
        self.assertIn("/dev/shm:\n", seen)  # they looked; that of the ranks is out of their sight
        self.assertNotIn(code, seen)

    def test_deep_session_directories_of_mpi_are_removed_and_keep_no_agent(self):
        dig = self.cluster.place_of("mallory", "dig.py")
        with open(dig, "w", encoding="utf-8") as file:
            file.write("import os\n"
                       "os.chdir(os.environ['PMIX_SERVER_TMPDIR'] + '/' + os.environ['PMIX_NAMESPACE'] + '.0')\n"
                       "for i in range(5000):\n    os.mkdir('d')\n    os.chdir('d')\n")
        os.chmod(dig, 0o644)
        done = self.cluster.as_user(
            "mallory", "run", "-n", "2", "--mpi=pmix", "sh", "-c",
            f"[ $PMIX_RANK = 0 ] && exec /usr/bin/python3 {dig}; sleep 1")
        self.assertEqual(done.returncode, 0, done.stderr)
        wait_until(lambda: not self.trash() and not os.listdir(os.path.join(self.node, "attempts")),
                   lambda: f"it stays: {self.trash()}")
        self.restart()

    def test_what_a_user_moved_into_his_session_directory_is_not_removed_as_its_owner(self):
        shared = self.cluster.place_of("mallory", "project")
        hers = os.path.join(shared, "hers")
        os.makedirs(os.path.join(hers, "private"))
        with open(os.path.join(hers, "private", "thesis"), "w", encoding="utf-8") as file:
            file.write("years of work")
        for path, mode, group in ((os.path.join(hers, "private", "thesis"), 0o600, "alice"),
                                  (os.path.join(hers, "private"), 0o700, "alice"), (hers, 0o770, "mallory")):
            os.chown(path, USERS["alice"], USERS[group])
            os.chmod(path, mode)
        os.chmod(shared, 0o777)
        move = self.cluster.place_of("mallory", "move.py")
        with open(move, "w", encoding="utf-8") as file:
            file.write(f"import os\nos.rename({hers!r}, os.environ['PMIX_SERVER_TMPDIR'] + '/hers')\n")
        os.chmod(move, 0o644)
        with contextlib.suppress(FileNotFoundError):  # without it the directory is there before a rank calls PMIx
            os.unlink(os.path.join(self.node, f"pmix.{USERS['mallory']}"))
        done = self.cluster.as_user("mallory", "run", "-n", "1", "--mpi=pmix", "/usr/bin/python3", move)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(os.path.exists(hers))
        wait_until(lambda: not self.trash() and not os.listdir(os.path.join(self.node, "attempts")),
                   lambda: f"it stays: {self.trash()}")
        quarantine = os.path.join(self.node, "quarantine")
        kept = [os.path.join(at, name) for at, _, names in os.walk(quarantine) for name in names]
        self.assertEqual([os.path.basename(path) for path in kept], ["thesis"])
        self.assertEqual(read_file(kept[0]), b"years of work")
        self.assertEqual(os.stat(kept[0]).st_uid, USERS["alice"])
        self.assertEqual((os.stat(quarantine).st_uid, os.stat(quarantine).st_mode & 0o777), (0, 0o700))
        log = self.cluster.agents[0].log
        wait_until(lambda: f"of uid {USERS['alice']}, was in another user's directory".encode() in read_file(log),
                   lambda: read_file(log))

    def test_an_agent_starts_with_trash_that_cannot_be_removed(self):
        self.cluster.agents[0].stop()
        place = os.path.join(self.node, "trash", "7", "mounted")
        os.makedirs(place)
        subprocess.run(["mount", "-t", "tmpfs", "none", place], check=True)
        try:
            self.cluster.agents[0].start()
            job = self.cluster.submit_as("alice", "-o", "/dev/null", "--wrap", "true")
            (row,) = self.cluster.wait_ended(job)
            self.assertEqual(row["state"], "COMPLETED")
            log = self.cluster.agents[0].log
            wait_until(lambda: b"could not all be removed" in read_file(log), lambda: read_file(log))
        finally:
            subprocess.run(["umount", place], check=True)
        self.restart()
        wait_until(lambda: not self.trash(), lambda: f"it stays: {self.trash()}")

    # C3: a private /tmp is private.

    def test_nobody_else_gets_into_a_private_tmp(self):
        job = self.cluster.submit_as("alice", "-o", "/dev/null", "--wrap",
                                     "echo secret >/tmp/mine && chmod 777 /tmp/mine && exec sleep 600")
        self.addCleanup(self.cluster.must, "cancel", job)
        self.cluster.wait_state(job, "RUNNING")
        attempt = os.path.join(self.node, "attempts", f"{job}.1")
        (mine,) = wait_until(lambda: [os.path.join(place, "mine") for place, _, names in
                                      os.walk(attempt) if "mine" in names], "alice's /tmp is not there")
        for command in (["ls", os.path.dirname(mine)], ["cat", mine],
                        ["ln", "-s", "/etc/passwd", os.path.join(os.path.dirname(mine), "planted")]):
            done = subprocess.run(command, user=USERS["mallory"], group=USERS["mallory"],
                                  extra_groups=[], capture_output=True, check=False)
            self.assertNotEqual(done.returncode, 0, command)
            self.assertEqual(done.stdout, b"")

    def test_ranks_on_one_node_meet_in_their_private_shared_memory(self):
        for known in (False, True):  # what ranks have to be told
            with self.subTest(known=known):
                done = self.cluster.as_user("alice", "run", "-n", 2, RING)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(sorted(done.stdout.splitlines()), ring_lines(2, 2))

    def test_a_script_watches_its_steps_from_its_private_tmp(self):
        path = self.cluster.place_of("alice", "steps")
        run = f"{program('muster')} run --controller {self.cluster.tcp} echo ran"
        job = self.cluster.submit_as("alice", "-o", path, "--wrap", run)
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "COMPLETED")
        self.assertEqual(read_file(path), b"ran\n")

    # D9: a session keyring for each attempt.

    KEY = """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
if sys.argv[1] == "put":
    print(libc.syscall(248, b"user", b"ticket", b"canary-11d2", 11, -3) > 0)
else:
    text = ctypes.create_string_buffer(64)
    key = libc.syscall(250, 10, -3, b"user", b"ticket", 0)
    print(text.raw[:libc.syscall(250, 11, key, text, 64, 0)] if key > 0 else "none")
"""

    def test_no_job_finds_what_another_user_put_into_the_session_keyring(self):
        said = {}
        for user, what in (("alice", "put"), ("alice", "get"), ("mallory", "get")):
            code = self.cluster.place_of(user, "key.py")
            with open(code, "w", encoding="utf-8") as file:
                file.write(self.KEY)
            os.chmod(code, 0o644)
            job = self.cluster.submit_as(user, "-o", "keys", "--wrap", f"/usr/bin/python3 key.py {what}")
            self.cluster.wait_ended(job)
            said[user, what] = read_file(self.cluster.place_of(user, "keys")).decode().strip()
        self.assertEqual(said, {("alice", "put"): "True", ("alice", "get"): "none",
                                ("mallory", "get"): "none"})


if __name__ == "__main__":
    unittest.main()
