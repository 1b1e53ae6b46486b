"""Who comes first and who gives way, on a real cluster: usage that is charged, shown and kept through
a crash, priority by it, preemption with real processes, and jobs with several requests."""

import json
import unittest

from cluster import ClusterTest, Cluster, WIDE, wait_until


class ShareTest(ClusterTest):
    own = True

    @classmethod
    def make(cls):
        cluster = Cluster(nodes=2, topology=WIDE)
        cluster.configure('[priority]\nweight_fairshare = 1000\nweight_qos = 500\nhalf_life = "1h"\n'
                          'billing = "CPU=1.0,Mem=0.25G"\n'
                          '[qos.low]\npriority = 1\n[qos.high]\npriority = 10\npreempt = ["low"]\n'
                          '[account.physics]\nfairshare = 1\n[account.chemistry]\nfairshare = 3\n')
        return cluster.start()

    def shares(self, *arguments):
        return json.loads(self.cluster.must("share", "--json", *arguments))

    def run_for(self, seconds, *arguments):
        job = self.cluster.submit(*arguments, "--wrap", f"sleep {seconds}")
        self.cluster.wait_ended(job)
        return job

    def test_usage_is_charged_explained_and_kept(self):
        first = self.run_for(1, "-A", "physics", "-n", 8)
        second = self.run_for(1, "-A", "physics", "-n", 4)
        self.run_for(0.2, "-A", "chemistry")
        (user,) = {row["user"] for row in self.shares()["users"]}
        receipts = {one["account"]: one for one in self.shares("--explain", user)["receipts"]}
        physics = receipts["physics"]
        self.assertEqual([run["job"] for run in physics["runs"]], [first, second])
        parts = [self.millionths(run["part"]) for run in physics["runs"]]
        self.assertEqual(sum(parts) + self.millionths(physics["earlier"]),
                         self.millionths(physics["total"]))
        self.assertGreater(parts[0], 8_000_000, "eight cores for a second, with their memory")
        self.assertEqual((physics["rank"], physics["rank_without"]), (1, 2))
        page = self.cluster.must("share", "--explain", user)
        self.assertIn("it costs 1 rank", page)
        ranks = {row["account"]: row["rank"] for row in self.shares()["users"]}
        self.assertGreater(ranks["chemistry"], ranks["physics"])
        self.cluster.controller.kill()
        self.cluster.controller.start()
        again = {one["account"]: one for one in self.shares("--explain", user)["receipts"]}
        self.assertEqual([run["job"] for run in again["physics"]["runs"]], [first, second])
        self.assertLessEqual(self.millionths(again["physics"]["total"]),
                             self.millionths(physics["total"]))
        done = self.cluster.muster("share", "--explain", "nobody-here")
        self.assertEqual(done.returncode, 1)
        self.assert_one_line(done.stderr)

    @staticmethod
    def millionths(text):
        whole, _, part = text.partition(".")
        return int(whole) * 1_000_000 + int((part + "000000")[:6])

    def test_who_has_used_less_comes_first(self):
        self.run_for(1, "-A", "physics", "-n", 16)
        holder = self.cluster.submit("-n", 128, "-q", "high", "-t", 5, "--wrap", "sleep 60")
        self.cluster.wait_state(holder, "RUNNING")
        greedy = self.cluster.submit("-A", "physics", "-n", 128, "-t", 5, "--wrap", "true")
        modest = self.cluster.submit("-A", "chemistry", "-n", 128, "-t", 5, "--wrap", "true")
        self.cluster.wait_reason(modest, "")
        wait_until(lambda: self.cluster.queue()[modest]["priority"] > 0, "the next scheduling cycle reckons it")
        rows = self.cluster.queue()
        self.assertGreater(rows[modest]["priority"], rows[greedy]["priority"])
        self.assertIn("fairshare", self.cluster.must("explain", greedy))
        self.cluster.must("cancel", holder)
        behind, before = self.cluster.wait_ended(greedy, modest)
        self.assertLess(before["started"], behind["started"])

    def test_a_job_gives_way_and_runs_again(self):
        low = self.cluster.submit("-q", "low", "-n", 128, "-t", 30, "--output", "low",
                                  "--open-mode", "append", "--wrap",
                                  'echo $SLURM_RESTART_COUNT; test "$SLURM_RESTART_COUNT" = 1 || sleep 60')
        self.cluster.wait_state(low, "RUNNING")
        high = self.cluster.submit("-q", "high", "-n", 64, "-t", 5, "--wrap", "sleep 0.5")
        (row,) = self.cluster.wait_ended(high)
        self.assertEqual(row["state"], "COMPLETED")
        (again,) = self.cluster.wait_ended(low)
        self.assertEqual(again["state"], "COMPLETED")
        first, second = self.cluster.attempts(low)
        self.assertEqual((first["cause"], second["exit_code"]), ("preempted", 0))
        self.assertLessEqual(row["ended"], again["started"])
        self.assertIn("preempted", self.cluster.must("show", low))
        self.assertEqual(self.read("low").split()[-1], "1")

    def test_the_alternative_that_starts_first_is_taken(self):
        job = self.cluster.submit("-n", 1, "--alt", "-n 1000 | -n 3 -t 7", "--output", "alt",
                                  "--wrap", "echo $SLURM_NTASKS")
        self.cluster.wait_ended(job)
        self.assertEqual(self.read("alt"), "3\n")
        detail = json.loads(self.cluster.must("show", job, "--json"))["jobs"][0]
        self.assertEqual(detail["time_limit"], 420.0)
        done = self.cluster.muster("submit", "--alt", "-n 1 | -J other", "--wrap", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--alt: --job-name: is the same for all alternatives", done.stderr)

    def test_a_trial_says_when_and_where_and_submits_nothing(self):
        holder = self.cluster.submit("-n", 128, "-t", 7, "--wrap", "sleep 60")
        self.cluster.wait_state(holder, "RUNNING")
        said = self.cluster.must("submit", "--test-only", "-n", 2, "-t", 1, "--wrap", "true")
        self.assertRegex(said, r"^would start by 20\d\d-.* on node1: Resources: ")
        self.cluster.must("cancel", holder)
        self.cluster.wait_ended(holder)
        said = self.cluster.must("submit", "--test-only", "-n", 2, "--wrap", "true")
        self.assertEqual(said, "would start now on node1")
        done = self.cluster.muster("submit", "--test-only", "-n", 2000, "--wrap", "true")
        self.assertEqual(done.returncode, 1)
        self.assertIn("never on this cluster", done.stdout)
        self.assertEqual(self.cluster.submitted(), [holder])

    def test_nodes_from_a_minimum_to_a_maximum_are_as_many_as_fit(self):
        job = self.cluster.submit("-N", "1-16", "--output", "wide", "--wrap",
                                  "echo $SLURM_NNODES $MUSTER_NTASKS")
        self.cluster.wait_ended(job)
        self.assertEqual(self.read("wide"), "2 2\n")


if __name__ == "__main__":
    unittest.main()
