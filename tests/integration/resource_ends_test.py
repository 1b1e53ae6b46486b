"""What becomes of a cluster whose machine runs out of something: descriptors, processes, space, memory, or a disk that
answers. The daemon says so in one line, running jobs go on, and service comes back by itself.
"""

import contextlib
import os
import resource
import signal
import subprocess
import time
import unittest

from cluster import (OURS, WIDE, Cluster, ClusterTest, processes_with, read_file, sanitizer, start_time, start_up,
                     wait_until)
from power_cuts import PowerCluster, keep_attempts_on_disk, why_not

ROOT = os.geteuid() == 0
NOBODY = 65534
STALL = float(os.environ.get("MUSTER_STALL", "30"))  # seconds
LIMITS = {resource.RLIMIT_NOFILE: ("nofile", "Max open files"), resource.RLIMIT_NPROC: ("nproc", "Max processes")}


def as_nobody(*words):
    return ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups", *words]


class UserCluster(Cluster):
    """Of an ordinary user, to whom limits on processes apply."""

    def __init__(self, **keywords):
        super().__init__(**keywords)
        for directory in (self.root, self.work):
            subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", directory], check=True)
        for daemon in [self.controller, *self.agents]:
            daemon.before = as_nobody()
        self.identity = {"user": NOBODY, "group": NOBODY, "extra_groups": []}


def set_limit(pid, kind, soft):
    """Sets the soft limit of a running process, as who it is; what it was."""
    word, title = LIMITS[kind]
    lines = read_file(f"/proc/{pid}/limits").decode().splitlines()
    (before,) = [line[len(title):].split()[0] for line in lines if line.startswith(title)]
    who = as_nobody() if os.stat(f"/proc/{pid}").st_uid == NOBODY else []
    subprocess.run([*who, "prlimit", f"--pid={pid}", f"--{word}={soft}:"], check=True)
    return before


@contextlib.contextmanager
def limited(pid, kind, soft):
    before = set_limit(pid, kind, soft)
    try:
        yield
    finally:
        set_limit(pid, kind, before)


def lowest_free(pid):
    """The number that its next descriptor has."""
    taken = {int(name) for name in os.listdir(f"/proc/{pid}/fd")}
    return next(number for number in range(len(taken) + 1) if number not in taken)


def without_descriptors(pid):
    """No further one, once what it has for a moment only is closed: a client's connection may still be there."""
    numbers = []
    wait_until(lambda: numbers.append(lowest_free(pid)) or len(set(numbers[-10:])) == 1 and len(numbers) > 9,
               "its descriptors come and go", pause=0.1)
    return limited(pid, resource.RLIMIT_NOFILE, numbers[-1])


def without_processes(pid):
    return limited(pid, resource.RLIMIT_NPROC, 0)


def ticks_of(pid):
    """The processor time that it used, in hundredths of a second."""
    fields = read_file(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return int(fields[11]) + int(fields[12])


class StandingJob(ClusterTest):
    """A cluster with a job that runs all the time."""

    topology = WIDE
    own = True

    def setUp(self):
        super().setUp()
        cluster = self.cluster
        self.standing = cluster.submit("-o", "/dev/null", *self.where(), cluster.script(cluster.gate() + "\nfinish 6"))
        wait_until(lambda: self.standing in cluster.begun(), "the standing job did not begin")
        cluster.wait_state(self.standing, "RUNNING")
        self.began = start_time(cluster.begun()[self.standing])

    def where(self):
        return []

    def supervisor(self):
        """The standing job's."""
        (found,) = [pid for pid, words in processes_with(self.cluster.agents[0].arguments[1]).items()
                    if "muster-supervisor" in words and f"/{self.standing}.1" in words]
        return found

    def wait_said(self, daemon, pattern):
        wait_until(lambda: pattern in read_file(daemon.log).decode(errors="replace"),
                   lambda: f"no {pattern!r} in {daemon.last_words()}")

    def submit_exit(self, code):
        return self.cluster.submit("-o", "/dev/null", *self.where(), "--wrap", f"exit {code}")

    def check_service(self, *jobs):
        """Nothing was started again by hand: these jobs and another end with 5, and the one that ran goes on."""
        cluster = self.cluster
        for daemon in [cluster.controller, *cluster.agents]:
            self.assertIsNone(daemon.process.poll(), f"{daemon.name} ended: {daemon.last_words()}")
        for row in cluster.wait_ended(*jobs, self.submit_exit(5)):
            self.assertEqual((row["state"], row["exit_code"]), ("FAILED", 5), cluster.logs())
        self.check_standing()

    def check_standing(self):
        cluster = self.cluster
        self.assertEqual(start_time(cluster.begun()[self.standing]), self.began, "the job that ran has ended")
        cluster.open_gate(lambda: self.standing in cluster.history())
        self.assertEqual(cluster.history()[self.standing]["exit_code"], 6)
        cluster.begun()


class DescriptorsTest(StandingJob):
    @classmethod
    def make(cls):
        if sanitizer():
            raise unittest.SkipTest("SKIPPED: a sanitized program asks by a pipe whether an object can be read, and ends "
                                    "itself where it has no descriptor for that")
        return super().make()

    def test_a_controller_refuses_in_one_line_until_it_has_some_again(self):
        controller = self.cluster.controller
        with without_descriptors(controller.process.pid):
            done = self.cluster.muster("submit", "-o", "/dev/null", "--wrap", "true")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assert_one_line(done.stderr)
            self.wait_said(controller, "no descriptor left")
        self.check_service()

    def test_an_agent_starts_later_what_it_cannot_start_now(self):
        agent = self.cluster.agents[0]
        with without_descriptors(agent.process.pid):
            job = self.submit_exit(5)
            self.wait_said(agent, "Too many open files; trying again")
        self.check_service(job)

    def test_a_job_that_cannot_be_started_yet_can_be_cancelled(self):
        agent = self.cluster.agents[0]
        with without_descriptors(agent.process.pid):
            job = self.submit_exit(5)
            self.wait_said(agent, "Too many open files; trying again")
            self.cluster.must("cancel", job)
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "CANCELLED")
        self.check_service()

    def test_a_supervisor_takes_orders_later_and_does_not_turn_in_circles(self):
        supervisor = self.supervisor()
        with without_descriptors(supervisor):
            ordered = self.cluster.begin("exec", self.standing, "--", "true")
            log = os.path.join(self.cluster.agents[0].arguments[1], "attempts", f"{self.standing}.1", "log")
            wait_until(lambda: b"no descriptor is left" in read_file(log), "it says nothing")
            before = ticks_of(supervisor)
            time.sleep(3)
            self.assertLess(ticks_of(supervisor) - before, 60)
        self.assertEqual(ordered.communicate()[1], "")
        self.assertEqual(ordered.returncode, 0)
        self.check_service()


@unittest.skipUnless(ROOT, "NOT ROOT: a cluster cannot be given to another user, to whom the limit applies")
class ProcessesTest(StandingJob):
    @classmethod
    def make(cls):
        return UserCluster(topology=cls.topology).start()

    def test_a_controller_serves_on(self):
        with without_processes(self.cluster.controller.process.pid):
            clients = [self.cluster.begin("submit", "-o", "/dev/null", "--wrap", "true") for _ in range(20)]
            self.assertEqual([(client.communicate()[1], client.returncode) for client in clients], [("", 0)] * 20)
        self.check_service()

    def test_an_agent_starts_later_what_it_cannot_start_now(self):
        agent = self.cluster.agents[0]
        with without_processes(agent.process.pid):
            for pid in processes_with("--prepared", in_environment=False):  # whose copies are its own processes
                if str(agent.process.pid) == read_file(f"/proc/{pid}/stat").decode().rpartition(")")[2].split()[1]:
                    os.kill(pid, signal.SIGKILL)
            job, other = self.submit_exit(5), self.submit_exit(5)
            self.wait_said(agent, f"{other}.1 cannot be started yet: ")
            self.assertIn("Resource temporarily unavailable; trying again", read_file(agent.log).decode())
            self.cluster.must("cancel", other)
            self.assertEqual(self.cluster.wait_ended(other)[0]["state"], "CANCELLED")
        self.check_service(job)

    def test_a_supervisor_refuses_in_one_line_until_it_has_some_again(self):
        with without_processes(self.supervisor()):
            done = self.cluster.muster("exec", self.standing, "--", "true")
            self.assertEqual((done.returncode, done.stdout), (126, ""))
            self.assertRegex(done.stderr, r"\A[^\n]*cannot fork: Resource temporarily unavailable\n\Z")
        self.cluster.must("exec", self.standing, "--", "true")
        self.check_service()


@unittest.skipUnless(ROOT, "NOT ROOT: no small file system can be mounted to fill it up")
class NodesDiskTest(StandingJob):
    """The agent's state directory, with the attempts in it, on a file system of 4 MiB."""

    def make(self):
        cluster = Cluster(topology=self.topology)
        place = cluster.agents[0].arguments[1]
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m,mode=0700", "tmpfs", place], check=False)
        if done.returncode != 0:
            cluster.close(check=False)
            self.skipTest("NO MOUNT HERE (a container without CAP_SYS_ADMIN): cannot fill a disk")
        self.addCleanup(subprocess.run, ["umount", "-l", place], stderr=subprocess.DEVNULL, check=False)
        keep_attempts_on_disk(place)
        return cluster.start()

    def test_on_a_full_disk_a_job_waits_to_begin_and_another_ends_as_it_should(self):
        cluster = self.cluster
        agent = cluster.agents[0]
        filler = os.path.join(agent.arguments[1], "filler")
        with open(filler, "ab", buffering=0) as file:
            for size in (65536, 4096, 1):
                with contextlib.suppress(OSError):
                    while file.write(b"x" * size):
                        pass
        job = self.submit_exit(5)
        self.wait_said(agent, "No space left on device; trying again")
        self.assertEqual(start_time(cluster.begun()[self.standing]), self.began)
        cluster.open_gate(lambda: self.standing in cluster.ended_by_themselves())
        os.unlink(filler)
        rows = cluster.wait_ended(job, self.standing)
        self.assertEqual([row["exit_code"] for row in rows], [5, 6], cluster.logs())
        self.assertEqual(cluster.wait_ended(self.submit_exit(4))[0]["exit_code"], 4)
        cluster.begun()


@unittest.skipIf(why_not(), why_not())
class StalledDiskTest(StandingJob):
    """A disk that does not answer for half a minute."""

    def make(self):
        return PowerCluster().start()

    def where(self):
        return ["--nodelist", "node2"]  # whose attempts lie on its disk

    def test_a_controller_answers_once_its_disk_does(self):
        cluster = self.cluster
        cluster.machine.off()
        waiting = cluster.begin("submit", "--parsable", "-o", "/dev/null", *self.where(), "--wrap", "exit 5")
        time.sleep(STALL)
        self.assertIsNone(waiting.poll(), "it was answered by a disk that does not answer")
        self.assertIn("goes on: its disk is slow or hangs", cluster.logs())
        cluster.machine.on()
        said, complaint = waiting.communicate(timeout=60)
        self.assertEqual((waiting.returncode, complaint), (0, ""))
        wait_until(lambda: "the journal is written again" in cluster.logs(), cluster.logs)
        self.check_service(int(said))

    def test_an_agent_and_its_supervisors_go_on_once_their_disk_does(self):
        cluster = self.cluster
        cluster.disks[1].off()
        job = self.submit_exit(5)
        time.sleep(STALL)
        self.assertNotIn(job, cluster.history())
        cluster.disks[1].on()
        self.check_service(job)
        wait_until(lambda: "was held up for" in cluster.logs(), cluster.logs)


def memory_group():
    """(a new control group with a limit on memory, the file that holds it), or why there is none."""
    if not ROOT:
        return None, "NOT ROOT: no control group can be made"
    for above, name in (("/sys/fs/cgroup", "memory.max"), ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")):
        group = os.path.join(above, f"muster-test-{OURS}")
        with contextlib.suppress(OSError):
            os.mkdir(group)
            if os.path.exists(os.path.join(group, name)):
                return group, name
            os.rmdir(group)
    return None, "NO CONTROL GROUPS WITH MEMORY HERE"


class MemoryTest(unittest.TestCase):
    """A daemon that the kernel ends because its group has no memory left, under `muster up`, which starts it again."""

    def setUp(self):
        self.group, self.limit = memory_group()
        if self.group is None:
            self.skipTest(self.limit)
        self.addCleanup(wait_until, self.remove, "the group has processes")
        self.cluster = Cluster()
        self.addCleanup(self.cluster.close)
        start_up(self.cluster, "--topology", WIDE)

    def remove(self):
        with contextlib.suppress(OSError):
            os.rmdir(self.group)
        return not os.path.exists(self.group)

    def starve(self, daemon, work):
        """Calls `work` until the daemon is another one."""
        (pid,) = self.cluster.daemons_of_up(daemon)
        for name, text in ((self.limit, str(1 << 20)), ("cgroup.procs", str(pid))):
            with open(os.path.join(self.group, name), "w", encoding="ascii") as file:
                file.write(text)
        if os.path.exists(os.path.join(self.group, "memory.swap.max")):
            with open(os.path.join(self.group, "memory.swap.max"), "w", encoding="ascii") as file:
                file.write("0")

        def gone():
            work()
            return start_time(pid) is None
        wait_until(gone, f"{daemon} lives without memory", 60)
        wait_until(lambda: [p for p in self.cluster.daemons_of_up(daemon) if p != pid], f"{daemon} is not started again")

    def check(self, daemon):
        cluster = self.cluster
        job = cluster.submit("-o", "/dev/null", cluster.script(cluster.gate() + "\nfinish 6"))
        wait_until(lambda: job in cluster.begun(), "the job did not begin")
        began = start_time(cluster.begun()[job])
        acknowledged = []

        def submit():
            done = cluster.muster("submit", "--parsable", "-a", "0-19", "-o", "/dev/null", "--comment", "c" * 200,
                                  "--wrap", "true # " + "x" * 50000)
            if done.returncode == 0:
                acknowledged.extend(range(int(done.stdout), int(done.stdout) + 20))
        self.starve(daemon, submit)
        cluster.wait_ended(*acknowledged)
        self.assertEqual(start_time(cluster.begun()[job]), began)
        cluster.open_gate(lambda: job in cluster.history())
        self.assertEqual(cluster.history()[job]["exit_code"], 6)

    def test_a_controller_is_started_again_and_has_what_it_acknowledged(self):
        self.check("musterd")

    def test_an_agent_is_started_again_and_jobs_go_on(self):
        self.check("muster-agent")


if __name__ == "__main__":
    unittest.main()
