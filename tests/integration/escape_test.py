"""Jobs that hide from their end or flood their node: nothing of them stays, nobody else is touched.

What control groups add (memory, processes) is in limits_test; here it is the supervisor alone.
"""

import json
import os
import signal
import sys
import unittest

from cluster import WIDE, Cluster, ClusterTest, processes_with, read_file, wait_until

GRACE = 1  # seconds
# Each hides in its own way: a session of its own behind two forks, deaf to SIGTERM and hangups; stopped by
# itself; under another name, with nothing of the job in its environment; traced by another of them.
HIDERS = """
import ctypes, os, signal, sys, time

def hide(how):
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)
    with open(sys.argv[1], "a") as file:
        file.write(f"{os.getpid()}\\n")
    how()
    while True:
        time.sleep(1000)

def stopped():
    os.kill(os.getpid(), signal.SIGSTOP)

def nameless():
    os.execve("/bin/sleep", ["kworker/u8:0", "1000"], {})

def traced():
    child = os.fork()
    if child == 0:
        ctypes.CDLL(None).ptrace(0, 0, 0, 0)
        with open(sys.argv[1], "a") as file:
            file.write(f"{os.getpid()}\\n")
        os.kill(os.getpid(), signal.SIGSTOP)
        while True:
            time.sleep(1000)
    os.waitpid(child, 0)

for how in (lambda: None, stopped, nameless, traced):
    hide(how)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    time.sleep(1000)
"""


class EscapeTest(ClusterTest):
    @classmethod
    def make(cls):
        cluster = Cluster(nodes=1, topology=WIDE)
        cluster.configure(f'[policy]\nkill_grace = "{GRACE}s"\n')
        return cluster.start()

    def path(self, name):
        return os.path.join(self.cluster.work, name)

    def pids(self, name):
        return [int(line) for line in self.read(name).split()]

    def bystander(self):
        """A job that runs to its own end beside what a test does, one lap after another."""
        job = self.cluster.submit("-n", 1, self.cluster.script(
            f"while [ ! -e {self.path('enough')} ]; do echo lap; sleep 0.1; done; finish 0"))
        wait_until(lambda: job in self.cluster.begun(), "the bystander did not begin")
        return job

    def assert_untouched(self, job):
        with open(self.path("enough"), "w", encoding="utf-8"):
            pass
        (row,) = self.cluster.wait_ended(job)
        os.unlink(self.path("enough"))
        self.assertEqual((row["state"], row["exit_code"]), ("COMPLETED", 0))
        self.assertEqual(self.cluster._rows("SELECT * FROM journal WHERE kind = 'node_lost'"), [])

    def test_whatever_hides_is_gone_soon_after_the_grace(self):
        with open(self.path("hiders.py"), "w", encoding="utf-8") as file:
            file.write(HIDERS)
        bystander = self.bystander()
        job = self.cluster.submit(
            "-n", 1, "--wrap", f"exec {sys.executable} {self.path('hiders.py')} {self.path('hidden')}")
        wait_until(lambda: len(self.read("hidden").split()) == 5, lambda: self.read("hidden"))
        hidden = self.pids("hidden")
        self.addCleanup(kill_all, hidden)
        self.assertEqual(len([pid for pid in hidden if alive(pid)]), 5)
        self.cluster.must("cancel", job)
        wait_until(lambda: not [pid for pid in hidden if alive(pid)],
                   lambda: f"left: {[pid for pid in hidden if alive(pid)]}", GRACE + 5)
        self.cluster.wait_ended(job)
        self.assert_untouched(bystander)

    def test_a_process_namespace_of_its_own_hides_nothing(self):
        if os.geteuid() != 0:
            self.skipTest("SKIPPED: only root makes process namespaces here")
        job = self.cluster.submit(
            "-n", 1, "--wrap", f"unshare --pid --fork sh -c 'trap \"\" TERM; sleep 1000 & sleep 1000 & "
                               f"echo up >{self.path('inside')}; wait; sleep 1000'")
        wait_until(lambda: self.read("inside") == "up\n", "it did not begin")
        self.cluster.must("cancel", job)

        def left():
            return [pid for pid in processes_with(self.cluster.state)
                    if f"MUSTER_JOB_ID={job}\0".encode() in read_file(f"/proc/{pid}/environ")]
        wait_until(lambda: not left(), lambda: f"left: {left()}", GRACE + 5)
        self.cluster.wait_ended(job)

    def test_a_flood_of_output_holds_nobody_up(self):
        bystander = self.bystander()
        flood = self.cluster.submit("-n", 1, "-o", "flood", "--wrap",
                                    "yes this is what it says all the time | head -c 500000000")
        # What a run prints goes through its supervisor, to somebody who does not read.
        run = self.cluster.begin("run", "-n", 1, "yes", "and this too")
        wait_until(lambda: os.path.exists(self.path("flood")) and
                   os.path.getsize(self.path("flood")) > 0, "no flood")
        (node,) = json.loads(self.cluster.must("nodes", "--json"))["nodes"]
        self.assertNotIn("DOWN", node["state"])
        (row,) = self.cluster.wait_ended(flood)
        self.assertEqual(row["state"], "COMPLETED")
        self.assertEqual(os.path.getsize(self.path("flood")), 500_000_000)
        os.unlink(self.path("flood"))
        self.assertIsNone(run.poll(), "the run that nobody reads still runs")
        self.assertTrue(run.stdout.read(1 << 16).startswith("and this too\n"))
        run.send_signal(signal.SIGKILL)
        run.communicate()
        self.assert_untouched(bystander)
        wait_until(lambda: not self.cluster.queue(), lambda: f"left: {self.cluster.queue()}")

    def test_open_files_without_end_are_the_jobs_own_trouble(self):
        bystander = self.bystander()
        job = self.cluster.submit(
            "-n", 1, "-o", "files", "--wrap",
            f"{sys.executable} -c \"import os\n"
            "files = []\n"
            "try:\n"
            "    while True: files.append(os.open('/dev/null', os.O_RDONLY))\n"
            "except OSError as error: print(error.strerror)\"")
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual((row["state"], self.read("files")), ("COMPLETED", "Too many open files\n"))
        self.assert_untouched(bystander)


def alive(pid):
    fields = read_file(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return bool(fields) and fields[0] not in (b"Z", b"X")


def kill_all(pids):
    for pid in pids:
        if alive(pid):
            os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    unittest.main()
