"""The health of a node, end to end: the real program measures, a slowed node is noticed, drained and re-admitted,
and a job never waits for a check."""

import json
import os
import signal
import threading
import time
import unittest

from cluster import Cluster, ClusterTest, processes_with, wait_until

# Other programs share this machine: only what is far from the median is slow here.
SETTINGS = """[health]
interval = "1h"
recheck = "1s"
samples = 3
confirm = 2
slack_percent = 70
"""


class Brake:
    """Stops every health program of a cluster nine tenths of the time, as a capped clock would, or a load on the
    node's memory that nobody knows of."""

    def __init__(self, root):
        self.root, self.going = root, True
        self.thread = threading.Thread(target=self.run)

    def run(self):
        found, looked = [], 0.0
        while self.going:
            if time.monotonic() - looked > 0.3:
                found = [pid for pid, line in processes_with(self.root).items() if "kernels/health" in line]
                looked = time.monotonic()
            self.send(found, signal.SIGSTOP)
            time.sleep(0.045)
            self.send(found, signal.SIGCONT)
            time.sleep(0.005)

    @staticmethod
    def send(pids, number):
        for pid in pids:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.going = False
        self.thread.join()


class OneNode:
    """What the tests share."""

    own = True
    settings = SETTINGS

    def make(self):
        cluster = Cluster(nodes=1)
        cluster.configure(self.settings)
        return cluster.start()

    def health(self, *options):
        return json.loads(self.cluster.must("health", "node1", "--json", *options))["nodes"][0]

    def node(self):
        return json.loads(self.cluster.must("nodes", "--json"))["nodes"][0]

    def checking(self):
        return [pid for pid, line in processes_with(self.cluster.root).items() if "kernels/health" in line]


class SlowNodeTest(OneNode, ClusterTest):
    def test_a_slowed_node_is_drained_for_its_component_and_readmitted_once_it_passes(self):
        learned = wait_until(lambda: (now := self.health())["health"] == "good" and now,
                             lambda: f"the class is not known: {self.health()}", patience=240, pause=0.5)
        components = {found["component"]: found for found in learned["last"]["components"]}
        self.assertEqual(components["memory bandwidth"]["verdict"], "good")
        self.assertGreater(components["memory bandwidth"]["value"], 0)
        self.assertEqual(learned["history"][-1]["cause"], "boot")
        with Brake(self.cluster.root):
            self.cluster.muster("health", "node1", "--quick", patience=120)
            reason = wait_until(lambda: self.node()["reason"],
                                lambda: f"it is not drained: {self.health()}", patience=240, pause=0.5)
            self.assertRegex(reason, r"^health: .*(clock|memory bandwidth|memory latency|matrix product) [\d.]+ "
                                     r"\S+, class median [\d.]+ \S+ \(MAD [\d.]+\).*, 2 checks in a row$")
            self.assertTrue(self.health()["drained_by_health"])
            self.assertIn("DRAIN", self.node()["state"])
        wait_until(lambda: "DRAIN" not in self.node()["state"],
                   lambda: f"it is not back: {self.health()}", patience=240, pause=0.5)
        self.assertEqual(self.health()["history"][0]["cause"], "re-admission")
        self.cluster.must("run", "true")


class YieldTest(OneNode, ClusterTest):
    settings = ""

    def test_a_job_has_the_node_at_once_and_the_check_says_that_it_yielded(self):
        check = self.cluster.begin("health", "node1", "--burn-in", "--json")
        wait_until(self.checking, "no check begins")
        self.cluster.must("run", "true")
        self.assertEqual(self.checking(), [])
        out, _ = check.communicate(timeout=60)
        self.assertEqual(check.returncode, 1)
        self.assertEqual(json.loads(out)["nodes"][0]["history"][0]["outcome"], "yielded")
        self.assertEqual(self.node()["health"], "", "it was never measured")

    def test_a_busy_node_is_refused_in_one_line_or_waited_for(self):
        job = self.cluster.submit("--wrap", "sleep 600")
        self.cluster.wait_state(job, "RUNNING")
        refused = self.cluster.muster("health", "node1", "--quick")
        self.assertEqual(refused.returncode, 1)
        self.assert_one_line(refused.stderr)
        self.assertIn("node1: 1 job is on it; --wait", refused.stderr)
        waiting = self.cluster.begin("health", "node1", "--quick", "--wait")
        time.sleep(0.5)
        self.assertEqual(self.checking(), [])
        self.cluster.must("cancel", str(job))
        out, _ = waiting.communicate(timeout=120)
        self.assertEqual(waiting.returncode, 0, out)
        self.assertIn("memory bandwidth", out)

    def test_what_is_known_survives_the_controller_and_a_check_the_agent(self):
        self.cluster.must("health", "node1", "--quick", patience=120)
        check = self.cluster.begin("health", "node1", "--quick")
        wait_until(self.checking, "no check begins")
        self.cluster.controller.kill()
        self.cluster.controller.start()
        wait_until(lambda: self.health()["last"] is not None and self.health()["last"]["number"] == 2,
                   lambda: f"the check is lost: {self.health()}", patience=120, pause=0.5)
        check.communicate(timeout=60)
        wait_until(lambda: not self.checking(), "a program is left")
        check = self.cluster.begin("health", "node1", "--quick")
        wait_until(self.checking, "no check begins")
        self.cluster.agents[0].kill()
        wait_until(lambda: not self.checking(), "the program outlives the agent")
        self.cluster.agents[0].start()
        check.communicate(timeout=120)
        history = self.health()["history"]
        self.assertEqual([record["number"] for record in history], [3, 2, 1])
        self.assertEqual([record["outcome"] for record in history], ["measured"] * 3)


class TuningTest(ClusterTest):
    def test_block_sizes_that_one_node_found_are_used_by_another(self):
        here, there = ({"XDG_CACHE_HOME": os.path.join(self.cluster.work, name)} for name in ("here", "there"))
        tuned = self.cluster.muster("kernel", "tune", "gemm", "--n", "96", "--budget", "500ms", "--json", environment=here)
        self.assertEqual(tuned.returncode, 0, tuned.stderr)
        found = json.loads(tuned.stdout)
        self.assertTrue(found["shared"])
        self.assertEqual(found["rejected"], 0)
        run = self.cluster.muster("kernel", "run", "gemm", "--n", "96", "--json", environment=there)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(json.loads(run.stdout)["blocking"], {**found["choice"], "source": "tuned"})
        other = self.cluster.muster("kernel", "run", "gemm", "--n", "95", "--json", environment=there)
        self.assertEqual(json.loads(other.stdout)["blocking"]["source"], "rule", "another shape is another matter")


if __name__ == "__main__":
    unittest.main()
