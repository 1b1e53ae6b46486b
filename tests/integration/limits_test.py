"""Limits that hold: what a job may use, read back from inside it, and what becomes of one that wants more.

They hold where the machine has cgroup v2 with the controllers cpuset, memory and pids and we may make groups: as root,
or below MUSTER_CGROUP_ROOT, a group delegated to us. Elsewhere those tests are skipped, and say why.
"""

import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
import unittest.mock

from cluster import (BIN, OURS, PATIENCE, Cluster, ClusterTest, processes_with, program, read_file,
                     wait_until)
from secured import OneUsersCluster

MIB = 1 << 20
PIDS = 200
NEEDED = {"cpuset", "memory", "pids"}

# Says what it finds in its own group, one file a line.
LOOK = """
mount=$(while read -r _ at kind _; do [ "$kind" = cgroup2 ] && echo "$at" && break; done </proc/mounts)
own=$(sed -n s/^0:://p /proc/self/cgroup)
echo "own $own"
for file in cpuset.cpus.effective cpuset.mems.effective; do echo "$file $(cat "$mount$own/$file")"; done
for file in memory.max memory.swap.max memory.oom.group pids.max; do
  [ -e "$mount$own/../$file" ] && echo "$file $(cat "$mount$own/../$file")"
done
echo "nproc $(nproc)"
"""
# Fills memory for ever, a page at a time.
HOG = "import mmap\nkept = []\nwhile True:\n    kept.append(bytearray(b'x') * (1 << 22))\n"
# Every process of it starts others for as long as it may.
BOMB = """import os, time
while True:
    try:
        os.fork()
    except OSError:
        time.sleep(0.05)
"""


def group_root():
    """(a group of this test's own, why there is none)."""
    given = os.environ.get("MUSTER_CGROUP_ROOT")
    mounts = [line.split() for line in read_file("/proc/mounts").decode().splitlines()]
    mount = next((words[1] for words in mounts if words[2] == "cgroup2"), None)
    if given is None and mount is None:
        return None, "no cgroup v2 is mounted"
    above = given or mount
    offered = set(read_file(os.path.join(above, "cgroup.controllers")).decode().split())
    if not NEEDED <= offered:
        return None, f"{above} offers the controllers {sorted(offered)}, not {sorted(NEEDED)}"
    root = os.path.join(above, f"muster-test-{OURS}")
    try:
        for controller in sorted(NEEDED):
            with open(os.path.join(above, "cgroup.subtree_control"), "w", encoding="utf-8") as file:
                file.write("+" + controller)
        os.mkdir(root)
    except OSError as error:
        return None, f"{above}: {error}"
    return root, None


class LimitsTest(ClusterTest):
    """On a machine that can hold jobs to their limits."""

    @classmethod
    def setUpClass(cls):
        cls.root, why = group_root()
        if cls.root is None:
            raise unittest.SkipTest(f"SKIPPED: limits cannot be tested here: {why}")
        cls.addClassCleanup(os.rmdir, cls.root)  # fails when a job's group was left
        super().setUpClass()

    @classmethod
    def make(cls):
        cluster = Cluster(nodes=1)
        cluster.configure('[policy]\nkill_grace = "1s"\n')
        cluster.agents[0].arguments += ["--cgroup-root", cls.root, "--pids-max", str(PIDS)]
        return cluster.start()

    def write(self, name, text):
        path = os.path.join(self.cluster.work, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def detail(self, job):
        (detail,) = json.loads(self.cluster.must("show", "--json", job))["jobs"]
        return detail

    def found(self, *arguments):
        lines = self.cluster.must("run", *arguments, "sh", "-c", LOOK).splitlines()
        return dict(line.split(" ", 1) for line in lines)

    def test_what_was_planned_is_what_the_job_finds(self):
        found = self.found("-n", 1, "-c", 1, "--mem", "256M")
        self.assertTrue(found["own"].endswith("/step.1"), found)
        self.assertEqual(found["memory.max"], str(256 * MIB))
        self.assertEqual(found.get("memory.swap.max", "0"), "0")
        self.assertEqual(found["memory.oom.group"], "1")
        self.assertEqual(found["pids.max"], str(PIDS))
        job = self.cluster.newest()
        (rank,) = self.detail(job)["attempts"][0]["ranks"]
        self.assertEqual(found["cpuset.cpus.effective"], rank["cpus"])
        self.assertEqual(found["nproc"], "1")
        sheet = self.cluster.must("show", job)
        self.assertRegex(sheet, rf"limits +cpuset {rank['cpus']}, memory 256 MiB, pids {PIDS}")

    def test_nodes_and_topo_say_what_holds(self):
        (node,) = json.loads(self.cluster.must("nodes", "--json"))["nodes"]
        self.assertTrue(node["limits"].startswith("cpuset, memory, pids"), node["limits"])
        self.assertIn("limits: cpuset, memory, pids", self.cluster.must("topo"))
        self.assertIn("cpuset, memory, pids", self.cluster.must("nodes"))

    def test_a_job_that_wants_more_memory_ends_as_out_of_memory_with_its_peak(self):
        script = self.write("hog.py", HOG)
        job = self.cluster.submit("--mem", "128M", "-t", 1, "--wrap", f"python3 {script}")
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "OUT_OF_MEMORY")
        said = r"out of memory: it reached its limit of 128 MiB; at its peak it had 12[78](\.\d)? MiB"
        self.assertRegex(self.cluster.must("show", job), said)
        self.assertRegex(self.cluster.must("history"), said)

    def test_a_step_is_held_to_the_memory_that_it_asked_for_and_the_job_goes_on(self):
        hog = self.write("hog.py", HOG)
        job = self.cluster.submit("--mem", "256M", "-t", 1, "-o", "step.out", "--wrap",
                                  f"{BIN}/muster run --mem=64M -n 1 python3 {hog}; echo rc=$?; "
                                  f"{BIN}/muster run -n 1 echo goes on")
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "COMPLETED")
        said = self.read("step.out")
        self.assertIn("goes on", said)
        self.assertNotIn("rc=0", said)
        self.assertRegex(said, r"out of memory: it reached its limit of 64 MiB")

    def test_a_step_that_runs_out_of_memory_tells_the_same_of_a_run(self):
        done = self.cluster.muster("run", "--mem", "128M", "python3", "-c", HOG)
        self.assertNotEqual(done.returncode, 0)
        job = self.cluster.newest()
        self.assertEqual(self.detail(job)["state"], "OUT_OF_MEMORY")

    def test_a_fork_bomb_is_held_and_gone_soon_after_its_end(self):
        script = self.write("bomb.py", BOMB)
        job = self.cluster.submit("-t", 5, "--wrap", f"python3 {script}")
        self.cluster.wait_state(job, "RUNNING")
        (group,) = wait_until(lambda: self.groups(job), "the job has no group")

        def count():
            return int(read_file(os.path.join(group, "pids.current")) or 0)
        wait_until(lambda: count() >= PIDS - 2, lambda: f"the bomb made only {count()} processes")
        self.assertLessEqual(count(), PIDS)
        self.cluster.must("cancel", job)
        begin = time.monotonic()
        self.cluster.wait_ended(job)
        self.assertLess(time.monotonic() - begin, 6)  # a second of them is its grace
        self.assertEqual(self.groups(job), [])

    def groups(self, job):
        found = []
        for agent in os.listdir(self.root):
            path = os.path.join(self.root, agent, f"{job}.1")
            found += [path] if os.path.isdir(path) else []
        return found

    def test_each_step_has_a_group_of_its_own_in_the_jobs(self):
        look = self.write("look.sh", LOOK)
        run = f"{program('muster')} run -n 1 sh {look}"
        job = self.cluster.submit("-o", "steps.out", "-t", 5, "--wrap", f"sh {look}; {run}; {run}")
        self.cluster.wait_ended(job)
        text = read_file(os.path.join(self.cluster.work, "steps.out")).decode()
        owns = [line.split()[1] for line in text.splitlines() if line.startswith("own ")]
        self.assertEqual([own.rsplit("/", 2)[1:] for own in owns],
                         [[f"{job}.1", "batch"], [f"{job}.1", "step.1"], [f"{job}.1", "step.2"]])

    def test_a_suspended_job_stands_still_and_is_killed_all_the_same(self):
        job = self.cluster.submit("-t", 5, "--wrap", "setsid sleep 1000 & sleep 1000")
        self.cluster.wait_state(job, "RUNNING")
        self.cluster.must("suspend", job)
        wait_until(lambda: self.detail(job)["suspended_since"] is not None, "it is not suspended")
        (group,) = self.groups(job)
        self.assertIn("frozen 1", read_file(os.path.join(group, "cgroup.events")).decode())
        self.cluster.must("cancel", job)
        self.cluster.wait_ended(job)
        self.assertEqual(self.groups(job), [])

    @unittest.skipUnless(os.path.exists("/dev/nvidia0"), "SKIPPED: no /dev/nvidia0 to guard here")
    def test_a_job_without_gpus_opens_none(self):
        done = self.cluster.muster("run", "sh", "-c", ": </dev/nvidia0")
        self.assertIn("Operation not permitted", done.stderr)
        self.assertEqual(self.cluster.muster("run", "sh", "-c", ": </dev/null").returncode, 0)


class OwnGroupTest(ClusterTest):
    """`muster up` alone in a group, as systemd starts it by delegation: its daemons step aside in it."""

    @classmethod
    def setUpClass(cls):
        cls.root, why = group_root()
        if cls.root is None:
            raise unittest.SkipTest(f"SKIPPED: limits cannot be tested here: {why}")
        cls.addClassCleanup(remove_groups, cls.root)
        super().setUpClass()

    @classmethod
    def make(cls):
        cluster = Cluster(nodes=1)
        shutil.rmtree(cluster.state)
        enter = f'echo $$ >{cls.root}/cgroup.procs && exec "$@"'
        cluster.up = subprocess.Popen(
            ["sh", "-c", enter, "sh", *cluster.command("up", "--nodes", 2)], cwd=cluster.work,
            env=cluster.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, start_new_session=True)
        cls.said = []
        for line in cluster.up.stdout:
            cls.said.append(line)
            if line.startswith("ready: "):
                return cluster
        raise AssertionError(f"muster up ended: {cls.said}")

    def test_limits_hold_without_any_option(self):
        nodes = json.loads(self.cluster.must("nodes", "--json"))["nodes"]
        self.assertEqual(len(nodes), 2)
        for node in nodes:
            self.assertTrue(node["limits"].startswith("cpuset, memory, pids"), node["limits"])
        own = self.cluster.must("run", "--mem", "64M", "sed", "-n", "s/^0:://p", "/proc/self/cgroup")
        self.assertRegex(own, r"/muster-node\d-[0-9a-f]+/\d+\.1/step\.1\Z")
        with open(os.path.join(self.root, "cgroup.procs"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "")

    def test_an_agent_that_comes_back_finds_its_groups(self):
        job = self.cluster.submit("-t", 5, "--wrap", "sleep 1000")
        self.cluster.wait_state(job, "RUNNING")
        (node,) = self.cluster.queue()[job]["nodes"]
        for pid in self.cluster.daemons_of_up("muster-agent"):
            os.kill(pid, signal.SIGKILL)

        def again():
            nodes = json.loads(self.cluster.must("nodes", "--json"))["nodes"]
            return all(each["state"] != "DOWN" and each["limits"].startswith("cpuset, memory, pids")
                       for each in nodes) and len(self.cluster.daemons_of_up("muster-agent")) == 2
        wait_until(again, "the agents do not come back")
        self.assertEqual(self.cluster.queue()[job]["nodes"], [node])
        self.cluster.must("cancel", job)
        self.cluster.wait_ended(job)
        groups = [entry.name for entry in os.scandir(self.root) if entry.is_dir()]
        self.assertEqual(len(groups), 3, groups)  # two agents' and the daemons' own


def version_two():
    """(where cgroup v2 is mounted, why no group can be made there)."""
    mounts = [line.split() for line in read_file("/proc/mounts").decode().splitlines()]
    mount = next((words[1] for words in mounts if words[2] == "cgroup2"), None)
    if mount is None or os.geteuid() != 0:
        return None, "no cgroup v2 is mounted" if mount is None else "we are not root"
    if os.path.exists(os.path.join(mount, "cgroup.type")) and read_file(os.path.join(mount, "cgroup.procs")).strip():
        return None, f"{mount} is not the root of the tree, and has processes"
    try:
        os.mkdir(os.path.join(mount, f"muster-test-{OURS}"))
    except OSError as error:
        return None, f"{mount}: {error}"
    return mount, None


class PlainShellTest(ClusterTest):
    """`muster up` in a shell: the shell is in the group, too, so that it makes one for itself and its agents."""

    count = 2 if len(os.sched_getaffinity(0)) > 1 else 1

    @classmethod
    def setUpClass(cls):
        cls.mount, why = version_two()
        if cls.mount is None:
            raise unittest.SkipTest(f"SKIPPED: no control group can be made here: {why}")
        cls.shell = os.path.join(cls.mount, f"muster-test-{OURS}")
        cls.addClassCleanup(os.rmdir, cls.shell)
        super().setUpClass()

    @classmethod
    def start_up(cls, cluster):
        """The cluster, and the shell, which stays in its group."""
        enter = f'echo $$ >{cls.shell}/cgroup.procs && {{ "$@" & trap "kill $!" TERM; wait; wait; }}'
        cluster.up = subprocess.Popen(
            ["sh", "-c", enter, "sh", *cluster.command("up", "--nodes", cls.count)], cwd=cluster.work,
            env=cluster.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, start_new_session=True)
        cls.said = []
        for line in cluster.up.stdout:
            cls.said.append(line)
            if line.startswith("ready: "):
                return cluster
        raise AssertionError(f"muster up ended: {cls.said}")

    @classmethod
    def make(cls):
        cluster = Cluster(nodes=1)
        shutil.rmtree(cluster.state)
        return cls.start_up(cluster)

    def group_of(self, pid):
        lines = read_file(f"/proc/{pid}/cgroup").decode().splitlines()
        return next(line[3:] for line in lines if line.startswith("0::"))

    def processes(self, group):
        return [int(pid) for pid in read_file(os.path.join(group, "cgroup.procs")).split()]

    def ups(self):
        return [pid for pid, command in processes_with(self.cluster.state, in_environment=False).items()
                if command.startswith(program("muster") + " up")]

    def test_its_daemons_are_in_a_group_of_their_own_and_the_shell_stays(self):
        self.assertEqual(self.processes(self.shell), [self.cluster.up.pid])
        daemons = [*self.ups(), *self.cluster.daemons_of_up("muster-agent"), *self.cluster.daemons_of_up("musterd")]
        self.assertEqual(len(daemons), 2 + self.count)
        (group,) = {self.group_of(pid) for pid in daemons}
        self.assertRegex(group, r"\A/muster-up-[0-9a-f]{8}/muster-daemons\Z")
        own = self.cluster.must("run", "sed", "-n", "s/^0:://p", "/proc/self/cgroup")
        above = group.removesuffix("/muster-daemons")
        # A step has a group of its own where something is held.
        self.assertRegex(own, rf"\A{above}/muster-node\d-[0-9a-f]+/\d+\.1(/step\.1)?\Z")

    def test_jobs_are_held_to_what_the_kernel_can_hold(self):
        offered = set(read_file(os.path.join(self.mount, "cgroup.controllers")).decode().split())
        if not {"memory", "pids"} <= offered:
            self.skipTest(f"SKIPPED: limits cannot be tested here: {self.mount} offers {sorted(offered)}")
        for node in json.loads(self.cluster.must("nodes", "--json"))["nodes"]:
            for controller in NEEDED & offered:
                self.assertRegex(node["limits"], rf"\A[^;]*\b{controller}\b", node["limits"])
        script = os.path.join(self.cluster.work, "hog.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(HOG)
        job = self.cluster.submit("--mem", "128M", "-t", 1, "--wrap", f"python3 {script}")
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "OUT_OF_MEMORY")

    def test_it_takes_its_group_away_again_and_leaves_that_of_a_job_that_runs_on(self):
        job = self.cluster.submit("-t", 5, "--wrap", "sleep 1000")
        self.cluster.wait_state(job, "RUNNING")
        (supervisor,) = wait_until(self.cluster.supervisors, "there is no supervisor")
        group = self.group_of(supervisor)
        above = self.mount + re.match(r"/muster-up-[0-9a-f]{8}", group).group()
        self.stop_up()
        self.assertTrue(os.path.isdir(above), "a job runs in it")
        self.start_up(self.cluster)
        self.assertEqual({self.group_of(pid) for pid in self.ups()}, {group}, "the same one again")
        self.cluster.must("cancel", job)
        self.cluster.wait_ended(job)
        self.stop_up()
        self.assertFalse(os.path.exists(above))
        self.start_up(self.cluster)

    def stop_up(self):
        self.cluster.up.terminate()  # the shell, which passes it on
        self.cluster.up.communicate(timeout=PATIENCE)

    def test_a_group_that_cannot_be_made_is_one_line_with_the_reason(self):
        if shutil.which("setpriv") is None:
            self.skipTest("SKIPPED: no setpriv here")
        user = pwd.getpwnam("nobody")
        state = tempfile.mkdtemp(prefix="muster-nobody-")
        self.addCleanup(shutil.rmtree, state, ignore_errors=True)
        os.chown(state, user.pw_uid, user.pw_gid)
        enter = f'echo $$ >{self.shell}/cgroup.procs && setpriv --reuid={user.pw_uid} --regid={user.pw_gid} ' \
                '--clear-groups "$@"; exit $?'
        command = [program("muster"), "up", "--state", f"{state}/s", "--nodes", str(self.count)]
        up = subprocess.Popen(["sh", "-c", enter, "sh", *command],
                              cwd="/", env=self.cluster.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, start_new_session=True)
        said = []
        try:
            for line in up.stdout:
                said.append(line)
                if "limits" in line or "stopped" in line:
                    break
        finally:
            for pid, command in processes_with(f"{state}/s", in_environment=False).items():
                if command.startswith(program("muster") + " up"):
                    os.kill(pid, signal.SIGINT)
            said += up.communicate(timeout=PATIENCE)[0].splitlines(keepends=True)
        lines = [line for line in said if "limits" in line]
        self.assertEqual(len(lines), 1, said)
        self.assertRegex(lines[0], r"\Anode\S+: limits: not enforced \(no control group of our own: .*/muster-up-"
                                   r"[0-9a-f]{8}: cannot make: Permission denied.*systemd-run --user.*\)\n\Z")


def remove_groups(path):
    """A group with all below it."""
    for entry in os.scandir(path):
        if entry.is_dir(follow_symlinks=False):
            remove_groups(entry.path)
    os.rmdir(path)


@unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"),
                     "SKIPPED: only root, with setpriv, can run an agent for another user's cluster")
class OtherUserTest(ClusterTest):
    """An ordinary user's cluster with an agent of root's: his jobs are his there too."""

    @classmethod
    def make(cls):
        return OneUsersCluster().start()

    def setUp(self):
        super().setUp()
        self.user = self.cluster.user

    def test_a_script_and_its_output_are_the_users(self):
        job = self.cluster.submit("-o", "id.out", "--wrap", "id -un; id -G; touch made")
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "COMPLETED", self.cluster.logs())
        self.assertEqual(self.read("id.out"), f"nobody\n{self.user.pw_gid}\n")
        for name in ("id.out", "made"):
            self.assertEqual(os.stat(os.path.join(self.cluster.work, name)).st_uid, self.user.pw_uid)

    def test_a_run_is_too_and_gains_nothing_by_a_program_of_roots(self):
        self.assertEqual(self.cluster.must("run", "id", "-un"), "nobody")
        raised = os.path.join(self.cluster.work, "raised")
        shutil.copy(shutil.which("id"), raised)
        os.chmod(raised, 0o4755)
        self.assertEqual(self.cluster.must("run", raised, "-un"), "nobody")

    def test_a_path_that_he_may_not_write_is_not_written_for_him(self):
        target = os.path.join(self.cluster.root, "roots.out")
        with unittest.mock.patch.object(self.cluster, "identity", {}):  # the command line would tell him at once
            job = self.cluster.submit("-o", target, "--wrap", "true")
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "FAILED")
        self.assertIn("Permission denied", self.cluster.must("show", job))
        self.assertFalse(os.path.exists(target))

    def test_what_a_lost_supervisor_leaves_of_him_is_killed(self):
        job = self.cluster.submit("-t", 5, "--wrap", "setsid sleep 1000 & sleep 1000")
        self.cluster.wait_state(job, "RUNNING")
        (supervisor,) = wait_until(self.cluster.supervisors, "there is no supervisor")
        os.kill(supervisor, signal.SIGKILL)
        self.cluster.wait_ended(job)
        jobs = f"SLURM_JOB_ID={job}".encode()
        left = [pid for pid in self.cluster.leftovers()
                if jobs in read_file(f"/proc/{pid}/environ").split(b"\0")]
        self.assertEqual(left, [])


class NotEnforcedTest(ClusterTest):
    """Where nothing can be held every view says so; a machine that is only played is such a one everywhere."""

    @classmethod
    def make(cls):
        return Cluster(nodes=1, topology="pack:1 core:4 pu:1").start()

    def test_every_view_says_why(self):
        job = self.cluster.submit("--wrap", "true")
        self.cluster.wait_ended(job)
        (node,) = json.loads(self.cluster.must("nodes", "--json"))["nodes"]
        self.assertRegex(node["limits"], r"\Anot enforced \(.+\)\Z")
        self.assertIn("not enforced", self.cluster.must("nodes"))
        self.assertIn("limits: " + node["limits"], self.cluster.must("topo"))
        self.assertRegex(self.cluster.must("show", job), r"limits +not enforced \(.+\)")

    def test_a_root_that_is_no_group_is_refused_in_one_line(self):
        for command in (["muster-agent", "--state", self.cluster.work, "--controller", "unix:/x"],
                        ["muster", "up", "--state", os.path.join(self.cluster.work, "up")]):
            done = subprocess.run([program(command[0]), *command[1:], "--cgroup-root", "/tmp"],
                                  text=True, capture_output=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 2, done)
            self.assert_one_line(done.stderr)
            self.assertIn("--cgroup-root", done.stderr)


if __name__ == "__main__":
    unittest.main()
