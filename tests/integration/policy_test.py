"""Who may have what, on a real cluster: limits, partitions and reservations, changed live and by the
configuration, kept through a crash, with their history."""

import json
import os
import signal
import unittest

from cluster import ClusterTest, Cluster, WIDE, read_file, wait_until


class PolicyTest(ClusterTest):
    nodes = 2
    topology = WIDE
    own = True

    def refused(self, *arguments):
        done = self.cluster.muster(*arguments)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assert_one_line(done.stderr)
        return done.stderr

    def test_a_limit_holds_says_why_and_lets_go(self):
        self.cluster.must("qos", "add", "small", "MaxTRESPerUser=cpu=3", "priority=5")
        first = self.cluster.submit("-q", "small", "-n", 2, "-t", 5, "--wrap", "sleep 60")
        self.cluster.wait_state(first, "RUNNING")
        second = self.cluster.submit("-q", "small", "-n", 2, "--wrap", "true")
        reason = self.cluster.wait_reason(second, "2 of 3 in use, it needs 2")
        self.assertEqual(reason["kind"], "QOSMaxCpuPerUserLimit")
        self.assertIn(f"held by job {first}", reason["text"])
        other = self.cluster.submit("-n", 2, "--wrap", "true")
        self.cluster.wait_ended(other)
        self.cluster.must("cancel", first)
        (row,) = self.cluster.wait_ended(second)
        self.assertEqual(row["state"], "COMPLETED")

    def test_jobs_go_to_their_partition_and_know_it(self):
        self.cluster.must("partition", "add", "left", "Nodes=node1", "Default=YES", "MaxTime=10")
        self.cluster.must("partition", "add", "right", "Nodes=node2")
        job = self.cluster.submit("-p", "right", "--output", "out", "--wrap",
                                  "echo $SLURM_JOB_PARTITION $SLURM_JOB_QOS $MUSTER_NODE_NAME")
        self.cluster.wait_ended(job)
        self.assertEqual(self.read("out"), "right normal node2\n")
        by_environment = self.cluster.submit("--output", "out2", "--wrap",
                                             "echo $SLURM_JOB_PARTITION",
                                             environment={"SBATCH_PARTITION": "right"})
        self.cluster.wait_ended(by_environment)
        self.assertEqual(self.read("out2"), "right\n")
        self.assertIn("there is no partition middle; there are left, right",
                      self.refused("submit", "-p", "middle", "--wrap", "true"))
        long = self.cluster.submit("-t", 60, "--wrap", "true")
        self.assertEqual(self.cluster.wait_reason(long, "allows 0:10:00")["kind"],
                         "PartitionTimeLimit")
        self.assertIn("1 job names it", self.refused("partition", "delete", "left"))

    def test_nothing_starts_that_would_run_into_maintenance(self):
        self.cluster.must("reservation", "add", "upgrade", "StartTime=now+1hour", "Duration=60",
                          "Nodes=ALL", "Flags=MAINT")
        long = self.cluster.submit("-t", 90, "--wrap", "true")
        self.assertEqual(self.cluster.wait_reason(long, "reservation upgrade begins at")["kind"],
                         "Reservation")
        self.cluster.wait_ended(self.cluster.submit("-t", 30, "--wrap", "true"))
        self.cluster.must("reservation", "delete", "upgrade")
        self.cluster.wait_ended(long)

    def test_policy_and_its_history_survive_a_crash(self):
        self.cluster.must("accounts", "add", "physics", "Fairshare=10", "GrpTRESMins=cpu=1000")
        self.cluster.must("accounts", "add", "theory", "Parent=physics")
        job = self.cluster.submit("-A", "theory", "-n", 2, "-t", 5, "--wrap", "sleep 1")
        self.cluster.wait_ended(job)
        before = json.loads(self.cluster.must("accounts", "list", "--json"))
        spent = {one["name"]: one["spent"] for one in before["objects"]}
        self.assertRegex(spent["physics"], r"wall=\d+$")
        self.cluster.controller.kill()
        self.cluster.controller.start()
        self.assertEqual(json.loads(self.cluster.must("accounts", "list", "--json")), before)
        changes = json.loads(self.cluster.must("accounts", "history", "--json"))["changes"]
        self.assertEqual([change["name"] for change in changes], ["theory", "physics"])
        self.assertEqual(changes[1]["text"], "added Fairshare=10, GrpTRESMins=cpu=1000")
        self.assertIn("is needed", self.refused("accounts", "delete", "physics"))


class ConfigurationTest(ClusterTest):
    own = True

    @classmethod
    def make(cls):
        cluster = Cluster(nodes=1, topology=WIDE)
        cls.config = os.path.join(cluster.root, "muster.toml")
        cls.write('[qos.high]\npriority = 5\n')
        cluster.controller.arguments += ["--config", cls.config]
        return cluster.start()

    @classmethod
    def write(cls, text):
        with open(cls.config, "w", encoding="utf-8") as file:
            file.write(text)

    def reload(self, said):
        self.cluster.controller.process.send_signal(signal.SIGHUP)
        wait_until(lambda: said in read_file(self.cluster.controller.log).decode(),
                   lambda: self.cluster.controller.last_words())

    def names(self):
        return [one["name"] for one in json.loads(self.cluster.must("qos", "--json"))["objects"]]

    def test_a_mistake_is_told_with_its_line_and_the_old_stays_in_force(self):
        self.assertEqual(self.names(), ["normal", "high"])
        self.write('[qos.low]\n\npreempt = ["none"]\n')
        self.reload(f"{self.config}:3: qos.low.preempt: there is no QOS none; the old configuration "
                    "stays in force")
        self.assertEqual(self.names(), ["normal", "high"])
        self.write('[qos.low]\nmax_wall = "1h"\n')
        self.reload("are in force")
        self.assertEqual(self.names(), ["normal", "low"])

    def test_priorities_are_read_again_and_a_mistake_leaves_the_old_ones(self):
        job = self.cluster.must("submit", "--hold", "--parsable", "--wrap", "true").strip()
        self.addCleanup(self.cluster.must, "cancel", job)

        def priority():
            return json.loads(self.cluster.must("queue", "--json", job))["jobs"][0]["priority"]

        wait_until(lambda: priority() == 0, "no priority is reckoned")
        self.write('[priority]\nweight_age = 1000\nhalf_life = "1h"\n')
        self.reload("are in force")
        wait_until(lambda: priority() > 0, "a priority is reckoned")
        self.write('[priority]\nweight_age = -1\n')
        self.reload(f"{self.config}:2: priority.weight_age")
        self.assertGreater(priority(), 0)
        self.write('[policy]\nbackfill = "none"\n')
        self.reload("are in force")
        wait_until(lambda: priority() == 0, "no priority is reckoned")


if __name__ == "__main__":
    unittest.main()
