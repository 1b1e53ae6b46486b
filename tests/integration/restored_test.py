"""An old copy of the controller's state is put in place: nothing is given out twice, nothing that runs is harmed, and
no job starts before somebody has looked."""

import json
import os
import shutil
import subprocess
import unittest

from cluster import Cluster, ClusterTest, program, wait_until

FAR = 1_000_000  # numbers of jobs that are left out


class RestoredTest(ClusterTest):
    """Two nodes of two cores."""

    own = True

    @classmethod
    def make(cls):
        return Cluster(nodes=2, topology="pack:1 core:2 pu:1").start()

    def setUp(self):
        super().setUp()
        self.kept = os.path.join(self.cluster.state, "controller")
        self.copy = os.path.join(self.cluster.root, "copy")

    def gated(self, name):
        """A job of one node that ends once it may, and writes down that it did."""
        return ("-N", 1, "-c", 2, "--job-name", name, "--wrap",
                f"echo began >> {name}; while [ ! -e {name}.go ]; do sleep 0.1; done; echo ended >> {name}")

    def let(self, name):
        with open(os.path.join(self.cluster.work, name + ".go"), "w", encoding="utf-8"):
            pass

    def wrote(self, name):
        path = os.path.join(self.cluster.work, name)
        return self.read(name).split() if os.path.exists(path) else []

    def take_over(self, *arguments):
        where = arguments or ("--state", self.cluster.state)
        return subprocess.run([program("musterd"), *where, "--restored"], capture_output=True, text=True, timeout=60)

    def put_in_place(self):
        """What an operator does; the controller has been stopped."""
        shutil.rmtree(self.kept)
        shutil.copytree(self.copy, self.kept)

    def await_agents(self):
        """Until the nodes that the copy knows have said what runs there."""
        def back():
            nodes = json.loads(self.cluster.must("nodes", "--json"))["nodes"]
            return len(nodes) == 2 and not any("DOWN" in node["state"] for node in nodes)
        wait_until(back, self.cluster.logs)

    def state_of(self, job):
        return self.cluster.queue().get(job, {}).get("state")

    def test_jobs_that_the_copy_does_not_know_run_on_and_others_wait_until_they_are_released(self):
        cluster = self.cluster
        first = cluster.submit(*self.gated("first"))
        wait_until(lambda: self.wrote("first") == ["began"], "the first has not begun")
        ended = cluster.submit(*self.gated("ended"), "--hold")
        cluster.controller.stop()
        shutil.copytree(self.kept, self.copy)
        cluster.controller.start()
        cluster.must("release", ended)
        wait_until(lambda: self.wrote("ended") == ["began"], "it has not begun")
        self.let("ended")
        wait_until(lambda: ended in cluster.history(), "it has not ended")
        lost = cluster.submit(*self.gated("lost"))
        wait_until(lambda: self.wrote("lost") == ["began"], "the one that will be lost has not begun")

        cluster.controller.stop()
        self.put_in_place()
        done = self.take_over()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("all jobs are held", done.stderr)
        cluster.controller.start()
        self.await_agents()
        self.assertNotEqual(cluster.muster("show", lost).returncode, 0, "the copy knows what it cannot know")
        wait_until(lambda: self.state_of(first) == "RUNNING", cluster.logs)
        self.assertEqual(cluster.must("nodes").count("DRAIN"), 2)
        cluster.must("resume", "node1", "node2")

        # What ended since would run again; its owner may know better.
        self.assertIn("restored from a copy", cluster.must("explain", ended))
        fresh = cluster.submit(*self.gated("fresh"))
        self.assertGreater(fresh, FAR)
        wait_until(lambda: "node" in cluster.must("explain", fresh), "no cycle has looked at it")
        self.assertEqual(self.state_of(fresh), "PENDING")
        self.assertEqual(self.wrote("fresh"), [], "it shares cores with what the copy does not know")
        self.let("lost")
        wait_until(lambda: self.wrote("lost") == ["began", "ended"], "what the copy does not know was harmed")
        wait_until(lambda: self.wrote("fresh") == ["began"], "the node of what has ended is not given out")
        self.let("fresh")
        self.let("first")
        cluster.wait_ended(first, fresh)
        self.assertEqual(self.wrote("first"), ["began", "ended"], "the job that both know was harmed")
        self.assertEqual(self.wrote("ended"), ["began", "ended"], "it ran again though nobody said so")
        cluster.must("release", ended)
        cluster.wait_ended(ended)
        self.assertEqual(self.wrote("ended"), ["began", "ended"] * 2)

    def test_a_copy_that_is_not_said_to_be_one_is_refused_by_agents_in_words(self):
        cluster = self.cluster
        cluster.controller.stop()
        shutil.copytree(self.kept, self.copy)
        for _ in range(2):
            cluster.controller.start()
            cluster.wait_ended(cluster.submit("--wrap", "true"))
            cluster.controller.stop()
        self.put_in_place()
        cluster.controller.start()
        wait_until(lambda: "the state directory is older than the cluster" in cluster.logs(), cluster.logs)
        self.assertIn("--restored", cluster.logs())
        cluster.controller.stop()
        self.assertEqual(self.take_over().returncode, 0)
        cluster.controller.start()
        for agent in cluster.agents:  # one that was refused has ended; systemd starts it again
            agent.stop()
            agent.start()
        self.await_agents()
        cluster.must("resume", "node1", "node2")
        job = cluster.submit("--wrap", "true")
        self.assertGreater(job, FAR)
        cluster.wait_ended(job)

    def test_a_state_that_a_controller_has_or_that_is_not_there_is_not_taken_over(self):
        done = self.take_over()
        self.assertNotEqual(done.returncode, 0)
        self.assert_one_line(done.stderr)
        done = self.take_over("--state", self.copy)
        self.assertNotEqual(done.returncode, 0)
        self.assert_one_line(done.stderr)
        self.assertFalse(os.path.exists(self.copy), "a mistyped directory became a state")


if __name__ == "__main__":
    unittest.main()
