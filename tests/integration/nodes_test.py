"""Nodes that are drained for a time, left by a deadline, and forgotten once they are gone."""

import json
import unittest

from cluster import WIDE, Cluster, ClusterTest, wait_until


class NodesTest(ClusterTest):
    own = True

    @classmethod
    def make(cls):
        return Cluster(nodes=2, topology=WIDE).start()

    def states(self):
        return {node["name"]: node["state"] for node in json.loads(self.cluster.must("nodes", "--json"))["nodes"]}

    def test_a_drained_node_is_resumed_at_its_time(self):
        self.cluster.must("drain", "node2", "--reason", "fans", "--until", "now+3seconds")
        self.assertIn("DRAIN", self.states()["node2"])
        self.assertIn("resumes", self.cluster.must("nodes", "node2"))
        wait_until(lambda: "DRAIN" not in self.states()["node2"], "it was not resumed", 60)

    def test_jobs_leave_a_drained_node_by_its_deadline(self):
        stays = self.cluster.submit("--nodelist", "node2", "--no-requeue", "-o", "/dev/null",
                                    self.cluster.script("sleep 600\n"))
        moves = self.cluster.submit("--requeue", "--nodelist", "node2", "-o", "/dev/null",
                                    self.cluster.script("sleep 600\n"))
        for job in (stays, moves):
            self.cluster.wait_state(job, "RUNNING")
        self.cluster.must("drain", "node2", "--reason", "fans", "--deadline", "now+2seconds")
        row = self.cluster.wait_ended(stays)[0]
        self.assertEqual(row["state"], "CANCELLED")
        self.cluster.wait_state(moves, "PENDING")
        self.assertIn("drain of node node2 (fans)", self.cluster.must("show", str(stays)))

    def test_a_node_that_is_gone_is_forgotten_and_comes_back_as_a_new_one(self):
        refused = self.cluster.muster("nodes", "forget", "node2")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("its agent is connected", refused.stderr)
        self.cluster.agents[1].stop()
        wait_until(lambda: self.states()["node2"].startswith("DOWN"), "it is not down", 120)
        self.cluster.must("nodes", "forget", "node2")
        self.assertEqual(list(self.states()), ["node1"])
        self.cluster.controller.kill()
        self.cluster.controller.start()
        self.assertEqual(list(self.states()), ["node1"])
        self.cluster.agents[1].start()
        wait_until(lambda: self.states().get("node2") == "IDLE", "it does not come back", 120)
        job = self.cluster.submit("--nodelist", "node2", "-o", "/dev/null", self.cluster.script("true\n"))
        self.assertEqual(self.cluster.wait_ended(job)[0]["state"], "COMPLETED")

    def test_times_that_cannot_be_are_refused_in_one_line(self):
        for words, says in ((["--until", "yesterday-ish"], "--until"),
                            (["--deadline", "2020-01-01T00:00"], "--deadline: that time has passed")):
            done = self.cluster.muster("drain", "node1", "--reason", "x", *words)
            self.assertNotEqual(done.returncode, 0)
            self.assert_one_line(done.stderr)
            self.assertIn(says, done.stderr)


if __name__ == "__main__":
    unittest.main()
