"""How muster run ends when its ranks do not read all of their input: with the ranks' own code, each time.

Each case runs MUSTER_RUNS times (50 unless said), four at a time: MUSTER_RUNS=4000 makes 20,000 runs for each cluster.
"""

import concurrent.futures
import os
import socket
import subprocess
import tempfile
import unittest

from cluster import PATIENCE, Cluster, program
from secured import USERS, SecuredCluster, free_port, why_not

RUNS = int(os.environ.get("MUSTER_RUNS", "50"))
AT_A_TIME = 4
LINE = "a line of what nobody reads\n"
EIGHT_CORES = "pack:1 core:8 pu:1"

# What is run, its exit code and its standard output.
CASES = {
    "the first line of much": (["-n", 1, "head", "-1"], 0, LINE),
    "nothing of it": (["-n", 1, "true"], 0, ""),
    "nothing on the first of two nodes": (["-N", 2, "-n", 2, "-i", "1", "head", "-c", 1000000], 0,
                                          (LINE * 40000)[:1000000]),
    "nothing, and each closes its end": (
        ["-N", 2, "-n", 2, "-i", "all", "sh", "-c", "exec <&-; echo out; exit 3"], 3, "out\nout\n"),
    "some, when a signal kills it": (["-n", 1, "sh", "-c", "head -c 100000 >/dev/null; kill -9 $$"], 128 + 9, ""),
}


class RunEnds:
    """The cases, on `cluster`; `call` says how a command line begins, and who calls with which environment."""

    def setUp(self):
        with tempfile.NamedTemporaryFile("w", prefix="mit-input-", delete=False) as file:
            file.write(LINE * 600000)  # 17 MB
        self.input = file.name
        self.addCleanup(os.unlink, file.name)

    def run_once(self, arguments):
        with open(self.input, encoding="utf-8") as file:
            command, caller = self.call()
            return subprocess.run([*command, *map(str, arguments)], cwd="/", stdin=file, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, check=False, **caller)

    def test_each_run_has_its_ranks_code_and_output_whatever_of_the_input_they_read(self):
        for what, (arguments, code, output) in CASES.items():
            with self.subTest(read=what), concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as at_a_time:
                wrong = [done.stderr or f"exit code {done.returncode}, {len(done.stdout)} bytes"
                         for done in at_a_time.map(self.run_once, [arguments] * RUNS)
                         if done.returncode != code or done.stdout != output or "lost" in done.stderr]
                self.assertEqual(wrong[:3], [], f"{len(wrong)} of {RUNS} runs")

    def test_what_follows_on_the_input_is_left_to_the_next_once_no_rank_takes_it(self):
        command, caller = self.call()
        with open(self.input, encoding="utf-8") as file:
            done = subprocess.run([*command, "-n", "1", "sh", "-c", "exec <&-; sleep 1"], cwd="/", **caller, stdin=file, stderr=subprocess.PIPE, timeout=PATIENCE, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertLess(os.lseek(file.fileno(), 0, os.SEEK_CUR), os.path.getsize(self.input))


class LocalRunEndsTest(RunEnds, unittest.TestCase):
    """By unix sockets."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(nodes=2, topology=EIGHT_CORES).start()
        cls.addClassCleanup(cls.cluster.close)

    def call(self):
        return self.cluster.command("run"), {"env": self.cluster.environment}


def unsecured():
    """Why no cluster with keys can be called by this machine's name, or nothing."""
    try:
        if not socket.gethostbyname(socket.gethostname()).startswith("127."):
            return "THIS MACHINE'S NAME IS NO ADDRESS OF THE LOOPBACK"
    except OSError:
        return "THIS MACHINE'S NAME HAS NO ADDRESS"
    return why_not()


REASON = unsecured()


@unittest.skipIf(REASON, f"SKIPPED: {REASON}")
class SecuredRunEndsTest(RunEnds, unittest.TestCase):
    """By TCP, as from another machine: called by its name, this one is none of the loopback's."""

    @classmethod
    def setUpClass(cls):
        # Debian gives a machine's own name an address of its own, 127.0.1.1.
        cls.cluster = SecuredCluster(listen=f"{socket.gethostbyname(socket.gethostname())}:{free_port()}")
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.start()
        cls.address = f"{socket.gethostname()}:{cls.cluster.tcp.rpartition(':')[2]}"

    def call(self):
        alice = USERS["alice"]
        return [program("muster"), "run", "--controller", self.address], {
            "user": alice, "group": alice, "extra_groups": [],
            "env": {"PATH": "/usr/bin:/bin", "HOME": "/", "MUSTER_KEYS": self.cluster.trust,
                    "MUSTER_MUNGE_SOCKET": self.cluster.munge}}


if __name__ == "__main__":
    unittest.main()
