"""What a node cannot start or go on with: one line that says where and which rank, the right state, nothing left behind."""

import os
import shlex
import subprocess
import unittest

from cluster import Cluster, ClusterTest, program, wait_until
from secured import SecuredCluster, why_not

REASON = why_not()
FOREIGN = b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\0\xb7\0" + bytes(60)


def await_no_supervisor(cluster):
    """A supervisor leaves after its last report was taken, so it may live a moment longer than its job."""
    wait_until(lambda: not cluster.supervisors(), lambda: f"left behind: {cluster.supervisors()}")


class OneNodeDiffers(ClusterTest):
    """Two nodes; on the second a directory is empty that on the first is not."""

    @classmethod
    def make(cls):
        cluster = Cluster(nodes=2, topology="pack:1 core:4 pu:1")
        cls.hidden = os.path.join(cluster.work, "hidden")
        os.makedirs(os.path.join(cls.hidden, "below"))
        if os.geteuid() != 0:
            cluster.close(check=False)
            raise unittest.SkipTest("NOT ROOT: nodes of one machine cannot differ")
        cluster.agents[1].before = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"', cls.hidden]
        return cluster.start()

    def file(self, name, content, mode=0o755):
        path = os.path.join(self.cluster.work, name)
        with open(path, "wb") as file:
            file.write(content)
        os.chmod(path, mode)
        return path

    def exit_of(self, job):
        sheet = self.cluster.must("show", str(job))
        (line,) = [line for line in sheet.split("attempt 1")[0].splitlines() if line.startswith("  exit ")]
        return line

    def fails(self, job, code, pattern):
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "FAILED")
        self.assertEqual(row["exit_code"], code)
        self.assertRegex(self.exit_of(job), pattern)
        await_no_supervisor(self.cluster)

    def run_fails(self, code, pattern, *arguments):
        with self.subTest(arguments=arguments):
            done = self.cluster.muster("run", "-N", "2", "-n", "2", *arguments)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assert_one_line(done.stderr)
            self.assertRegex(done.stderr, pattern)
            self.fails(self.cluster.newest(), code, pattern.replace("rank 1 on node2", "node2: rank 1"))

    def test_a_run_says_which_rank_could_not_be_started_where_and_why(self):
        below = os.path.join(self.hidden, "below")
        there = self.file("hidden/there", b"#!/bin/sh\nsleep 1000\n")
        either = r"(rank 0 on node1|rank 1 on node2|node1: rank 0|node2: rank 1): (exit code 126: )?"
        self.run_fails(127, rf"rank 1 on node2: (exit code 127: )?cannot run {there}: No such file", there)
        self.run_fails(126, rf"rank 1 on node2: (exit code 126: )?.*working directory {below}: No such file",
                       "-D", below, "sleep", "1000")
        self.file("foreign", FOREIGN)
        self.run_fails(126, either + r"cannot run \./foreign: Exec format error", "./foreign")
        self.file("text", b"echo no first line\n")
        self.run_fails(126, either + r"cannot run \./text: Exec format error", "./text")

    def test_a_batch_job_says_so_too(self):
        below = os.path.join(self.hidden, "below")
        job = self.cluster.submit("-w", "node2", "-D", below, "--wrap", "sleep 1000")
        self.fails(job, 126, rf"exit code 126: node2: .*working directory {below}: No such file")
        job = self.cluster.submit("-w", "node2", "-o", os.path.join(below, "out"), "--wrap", "sleep 1000")
        self.fails(job, 126, rf"exit code 126: node2: cannot open output {below}/out: No such file")
        shell = self.file("hidden/shell", b"#!/bin/sh\nexec sh \"$@\"\n")
        job = self.cluster.submit("-w", "node2", self.file("other.sh", f"#!{shell}\nsleep 1000\n".encode()))
        self.fails(job, 127, rf"node2: cannot run the batch script: its interpreter {shell}: No such file")

    def test_a_step_inside_a_job_ends_with_the_code_of_the_rank_that_could_not_start(self):
        there = self.file("hidden/step", b"#!/bin/sh\nsleep 1000\n")
        line = shlex.join([program("muster"), "run", "-N", "2", "-n", "2", there])
        job = self.cluster.submit("-N", "2", "-n", "2", "-o", "step.out", "--wrap", f"{line}; echo code $?")
        self.cluster.wait_ended(job)
        said = self.read("step.out")
        self.assertRegex(said, rf"rank 1 on node2: exit code 127: cannot run {there}: No such file")
        self.assertIn("code 127\n", said)
        self.assertEqual(said.count("cannot run"), 1)

    def test_an_output_on_a_full_disk_is_the_reason_of_the_failure(self):
        full = os.path.join(self.cluster.work, "full")
        os.makedirs(full)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", full], check=True)
        try:
            # The second node sees no mount that came after its own namespace.
            job = self.cluster.submit("-w", "node1", "-o", full + "/out", "--wrap", "seq 1 100000")
            self.fails(job, 1, rf"exit code 1: node1: the file system of its output {full}/out is full")
            done = self.cluster.muster("run", "-o", full + "/run", "seq", "1", "100000")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, rf"{full}/run: cannot be written: No space left")
            self.assert_one_line(done.stderr)
        finally:
            subprocess.run(["umount", full], check=True)

    def test_more_ranks_than_there_are_slots_are_told_before_anything_starts(self):
        done = self.cluster.muster("submit", "--test-only", "-n", "200", "--wrap", "true")
        self.assertRegex(done.stdout + done.stderr, r"200 tasks|never")
        job = self.cluster.submit("-n", "200", "--wrap", "true")
        self.cluster.wait_reason(job, "never on this cluster")
        self.cluster.must("cancel", job)

    def tearDown(self):
        self.assertEqual([node.split()[1] for node in self.cluster.must("nodes").splitlines()[1:]], ["IDLE", "IDLE"])


@unittest.skipIf(REASON, f"SKIPPED: {REASON}")
class OneNodeDoesNotKnowHimTest(unittest.TestCase):
    """Two nodes by keys; the second has no user mallory."""

    def test_a_user_whom_one_node_of_several_does_not_know(self):
        cluster = SecuredCluster()
        self.addCleanup(cluster.close)
        without = os.path.join(cluster.root, "passwd-of-node2")
        with open(cluster.users.path, encoding="utf-8") as known, open(without, "w", encoding="utf-8") as fewer:
            fewer.writelines(line for line in known if not line.startswith("mallory:"))
        cluster.agents[1].before = ["unshare", "-m", "sh", "-c", 'mount --bind "$0" /etc/passwd && exec "$@"', without]
        cluster.start()
        done = cluster.as_user("mallory", "run", "-N", "2", "-n", "2", "sleep", "1000")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, r"\A[^\n]*node2: user 61002 \(mallory\) is not known here[^\n]*\n\Z")
        job = cluster.newest()
        (row,) = cluster.wait_ended(job)
        self.assertEqual(row["state"], "FAILED")
        self.assertIn("node2: user 61002 (mallory) is not known here: add him, or drain the node",
                      cluster.must("show", str(job)))
        await_no_supervisor(cluster)
        nodes = [node.split()[1] for node in cluster.must("nodes").splitlines()[1:]]
        self.assertEqual(nodes, ["IDLE", "IDLE"])
        batch = cluster.submit_as("mallory", "-N", "2", "-n", "2", "-o", "/dev/null", "--wrap", "sleep 1000")
        (row,) = cluster.wait_ended(batch)
        self.assertEqual(row["state"], "FAILED")
        known = cluster.submit_as("alice", "-N", "2", "-n", "2", "-o", "/dev/null", "--wrap", "true")
        (row,) = cluster.wait_ended(known)
        self.assertEqual(row["state"], "COMPLETED")


if __name__ == "__main__":
    unittest.main()
