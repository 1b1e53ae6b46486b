"""Heterogeneous jobs, end to end: components that start and end together, and what runs on which."""

import json
import unittest

from cluster import BIN, WIDE, ClusterTest


class HetTest(ClusterTest):
    """Two nodes; the components have one each."""

    nodes = 2
    topology = WIDE

    def rows(self, job):
        return json.loads(self.cluster.must("show", str(job), "--json"))["jobs"]

    def test_the_script_runs_on_the_first_component_and_steps_on_the_one_that_they_name(self):
        script = ("echo size $MUSTER_HET_SIZE $SLURM_HET_SIZE\n"
                  "echo ids $MUSTER_JOB_ID_HET_GROUP_0 $SLURM_JOB_ID_HET_GROUP_1\n"
                  "echo tasks $MUSTER_NTASKS_HET_GROUP_0 $MUSTER_NTASKS_HET_GROUP_1\n"
                  f"{BIN}/muster run sh -c 'echo zero $MUSTER_JOB_ID'\n"
                  f"{BIN}/muster run --het-group=1 sh -c 'echo one $MUSTER_JOB_ID'\n")
        job = self.cluster.submit("-n2", "-o", "het.out", ":", "-n1", "--wrap", script)
        rows = self.cluster.wait_ended(job, job + 1)
        self.assertEqual([row["state"] for row in rows], ["COMPLETED", "COMPLETED"])
        self.assertEqual(sorted(self.read("het.out").split("\n")), sorted([
            "size 2 2", f"ids {job} {job + 1}", "tasks 2 1", f"zero {job}", f"zero {job}",
            f"one {job + 1}", ""]))
        self.assertEqual([row["label"] for row in self.rows(job)], [f"{job}+0", f"{job}+1"])

    def test_components_wait_together_and_are_cancelled_together(self):
        job = self.cluster.submit("-H", "-n1", ":", "-n1", "--wrap", "sleep 300")
        self.assertEqual([row["het_offset"] for row in self.rows(job)], [0, 1])
        (one,) = self.rows(f"{job}+1")
        self.assertEqual((one["id"], one["het_job"], one["het_size"]), (job + 1, job, 2))
        alone = self.cluster.muster("cancel", f"{job}+1")
        self.assertNotEqual(alone.returncode, 0)
        self.assert_one_line(alone.stderr)
        by_id = self.cluster.muster("cancel", str(job + 1))
        self.assertIn("name the whole", by_id.stderr)
        self.cluster.must("cancel", str(job))
        self.assertEqual([row["state"] for row in self.cluster.wait_ended(job, job + 1)],
                         ["CANCELLED", "CANCELLED"])

    def test_only_says_when_all_components_would_start_and_explain_which_to_make_smaller(self):
        said = self.cluster.must("submit", "--test-only", "-n1", ":", "-n1", "--wrap", "true")
        self.assertRegex(said, r"\Awould start now on node1")
        never = self.cluster.muster("submit", "--test-only", "-n1", ":", "-n4000", "--wrap", "true")
        self.assertEqual(never.returncode, 1)
        self.assertRegex(never.stdout, "the start is not known: ")
        holder = self.cluster.submit("-n", 100, "-t", 30, "--wrap", "sleep 300")
        job = self.cluster.submit("-n1", ":", "-n", 40, "-t", 10, "--wrap", "true")
        self.cluster.wait_state(job, "PENDING")
        self.assertIn("component 1: --ntasks=20", self.cluster.must("explain", f"{job}+1"))
        self.cluster.must("cancel", str(job))
        self.cluster.must("cancel", str(holder))
        self.cluster.wait_ended(job, job + 1, holder)

    def test_a_heterogeneous_job_outlives_the_controller(self):
        job = self.cluster.submit("-H", "-n1", ":", "-n2", "--wrap", "true")
        self.cluster.controller.kill()
        self.cluster.controller.start()
        self.assertEqual([row["tasks"] for row in self.rows(job)], [1, 2])
        self.cluster.must("release", str(job))
        self.assertEqual([row["state"] for row in self.cluster.wait_ended(job, job + 1)],
                         ["COMPLETED", "COMPLETED"])

    def test_run_starts_each_components_command_and_exits_with_the_worst(self):
        done = self.cluster.muster("run", "-n2", "sh", "-c", "echo a", ":", "-n1", "sh", "-c",
                                   "echo b; exit 3")
        self.assertEqual(sorted(done.stdout.split()), ["a", "a", "b"])
        self.assertEqual(done.returncode, 3)


if __name__ == "__main__":
    unittest.main()
