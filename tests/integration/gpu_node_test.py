"""A node with real GPUs: one that is held busy is noticed, drained for its component and re-admitted; what is measured
of its links; a tile that one node searched is used by another."""

import json
import os
import shutil
import subprocess
import unittest

from cluster import KERNELS, Cluster, ClusterTest, wait_until

SETTINGS = """[health]
interval = "1h"
recheck = "1s"
samples = 3
confirm = 2
slack_percent = 25
"""
GPU = os.path.join(KERNELS, "gpu")


def gpus():
    """How many real GPUs the kernel can use here."""
    if not os.access(GPU, os.X_OK) or shutil.which("nvidia-smi") is None:
        return 0
    told = subprocess.run(["nvidia-smi", "-L"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return sum(line.startswith("GPU ") for line in told.stdout.splitlines())


@unittest.skipIf(gpus() == 0, "NO GPU HERE, or the kernel gpu is not built")
class GpuNodeTest(ClusterTest):
    own = True

    def make(self):
        cluster = Cluster(nodes=1)
        cluster.configure(SETTINGS)
        return cluster.start()

    def health(self):
        return json.loads(self.cluster.must("health", "node1", "--json"))["nodes"][0]

    def node(self):
        return json.loads(self.cluster.must("nodes", "--json"))["nodes"][0]

    def test_a_gpu_held_busy_drains_its_node_which_comes_back_once_it_is_free(self):
        learned = wait_until(lambda: (now := self.health())["health"] == "good" and now,
                             lambda: f"the class is not known: {self.health()}", patience=240, pause=0.5)
        components = {found["component"]: found for found in learned["last"]["components"]}
        self.assertEqual(components["GPU 0 matrix product"]["verdict"], "good")
        self.assertGreater(components["GPU 0 matrix product"]["roof"], 0)
        for peer in range(1, gpus()):
            self.assertGreater(components[f"GPU 0 link to GPU {peer}"]["value"], 0)
        print(json.dumps(learned["last"]["components"]))
        load = [subprocess.Popen([GPU, "--only", "gemm", "--side", "8192", "--n", "1K", "--repeat", "1000000"],
                                 stdout=subprocess.DEVNULL, env=self.cluster.environment) for _ in range(2)]
        try:
            self.assertEqual([process.poll() for process in load], [None, None])
            self.cluster.muster("health", "node1", "--quick", patience=120)
            reason = wait_until(lambda: self.node()["reason"],
                                lambda: f"it is not drained: {self.health()}", patience=240, pause=0.5)
            print(reason)
            self.assertRegex(reason, r"^health: .*GPU 0 [a-z ]+ [\d.]+ \S+, class median [\d.]+ \S+ \(MAD [\d.]+\).*"
                                     r", 2 checks in a row$")
            self.assertIn("DRAIN", self.node()["state"])
        finally:
            for process in load:
                process.kill()
                process.wait()
        wait_until(lambda: "DRAIN" not in self.node()["state"],
                   lambda: f"it is not back: {self.health()}", patience=240, pause=0.5)
        self.assertEqual(self.health()["history"][0]["cause"], "re-admission")
        self.cluster.must("run", "true")

    def test_a_tile_that_one_node_found_is_used_by_another(self):
        here, there = ({"XDG_CACHE_HOME": os.path.join(self.cluster.work, name)} for name in ("here", "there"))
        tuned = self.cluster.muster("kernel", "tune", "gpu-gemm", "--side", "512", "--budget", "30s", "--json",
                                    environment=here)
        self.assertEqual(tuned.returncode, 0, tuned.stderr)
        found = json.loads(tuned.stdout)
        print(tuned.stdout)
        self.assertTrue(found["shared"])
        self.assertEqual(found["rejected"], 0)
        run = self.cluster.muster("kernel", "run", "gpu-gemm", "--side", "512", "--json", environment=there)
        self.assertEqual(json.loads(run.stdout)["tile"], {**found["choice"], "source": "tuned"})
        other = self.cluster.muster("kernel", "run", "gpu-gemm", "--side", "513", "--json", environment=there)
        self.assertEqual(json.loads(other.stdout)["tile"]["source"], "rule", "another shape is another matter")


@unittest.skipIf(gpus() < 2, "NO TWO GPUS HERE: links between GPUs are not measured")
class GpuLinksTest(ClusterTest):
    """The links between the GPUs of this machine, a node by itself."""

    @classmethod
    def make(cls):
        return Cluster(nodes=1).start()

    def test_each_two_gpus_are_measured_or_the_missing_library_is_named(self):
        done = self.cluster.muster("health", "--links", "--json", patience=240)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        document = json.loads(done.stdout)
        self.assertEqual(document["links"], [])
        (inside,) = document["gpus"]
        lacking = [link["failure"] for link in inside["links"] if link["failure"]]
        if lacking:
            self.assertIn("no libnccl.so.2 is found", lacking[0])
            self.skipTest(lacking[0])
        self.assertEqual(len(inside["links"]), gpus() * (gpus() - 1) // 2)
        for link in inside["links"]:
            self.assertRegex(" ".join(link["nodes"]), r"^node1 GPU \d+ node1 GPU \d+$")
            self.assertGreater(link["bandwidth"], 1e9)
        self.assertEqual([each["class"] for each in inside["classes"]], ["inside a node"])
        print(self.cluster.muster("health", "--links", patience=240).stdout)


if __name__ == "__main__":
    unittest.main()
