"""GPUs that are divided by MIG for waiting jobs. The library is a stand-in (tests/programs/fake_nvml_mig.cc)."""

import json
import os
import unittest

from cluster import BIN, Cluster, ClusterTest, wait_until

# As a real H200 told them.
PROFILES = [
    {"id": 19, "name": "1g.18gb", "slices": 1, "instances": 7, "memory_mib": 16384,
     "placements": [[start, 1] for start in range(7)]},
    {"id": 14, "name": "2g.35gb", "slices": 2, "instances": 3, "memory_mib": 33280,
     "placements": [[0, 2], [2, 2], [4, 2]]},
    {"id": 9, "name": "3g.71gb", "slices": 3, "instances": 2, "memory_mib": 71424, "placements": [[0, 4], [4, 4]]},
    {"id": 0, "name": "7g.141gb", "slices": 7, "instances": 1, "memory_mib": 143360, "placements": [[0, 8]]}]


class MigTest(ClusterTest):
    """Two H200 of one node."""

    own = True

    @classmethod
    def make(cls):
        cluster = Cluster(nodes=1)
        gpus = os.path.join(cluster.root, "gpus.json")
        cls.say(gpus)
        cluster.configure('[mig.all]\nnodes = "ALL"\n')
        cluster.agents[0].environment = {**cluster.environment, "MUSTER_FAKE_NVML_JSON": gpus,
                                         "MUSTER_NVML": os.path.join(BIN, "..", "tests", "libfake_nvml.so")}
        return cluster.start()

    @staticmethod
    def say(path, **words):
        """The GPUs as they are at first; `words` are more of each."""
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"devices": [{"uuid": f"GPU-{name}", "name": "NVIDIA H200", "memory": 143771 << 20,
                                    "pci": [0, 1 + i, 0], "minor": i, "profiles": PROFILES, **words}
                                   for i, name in enumerate("ab")]}, file)

    def gpus(self):
        """What the node has: models, in the order of the UUIDs of what was divided."""
        (node,) = json.loads(self.cluster.must("topo", "--json"))["nodes"]
        return sorted(gpu["model"] for gpu in node["machine"]["gpus"])

    def holds(self, gpus, name):
        """A job that has these GPUs, writes which, and waits for the file `name`."""
        return self.cluster.submit(
            f"--gpus={gpus}", "-t", 5, "-c", 1, "-o", f"{name}.out", "--wrap",
            f"echo $CUDA_VISIBLE_DEVICES; while [ ! -e {name} ]; do sleep 0.1; done")

    def let_go(self, name):
        open(os.path.join(self.cluster.work, name), "w", encoding="utf-8").close()

    def shown(self, name):
        """The GPUs that the job saw."""
        wait_until(lambda: os.path.exists(os.path.join(self.cluster.work, f"{name}.out")) and self.read(f"{name}.out"),
                   lambda: self.cluster.must("queue"))
        return self.read(f"{name}.out").split()[0].split(",")

    def test_a_gpu_is_divided_for_a_job_and_made_whole_for_another_while_a_third_goes_on(self):
        beside = self.holds(1, "beside")
        self.cluster.wait_state(beside, "RUNNING")
        (held,) = self.shown("beside")
        self.assertRegex(held, "^GPU-[ab]$")
        small = self.holds("1g.18gb:2", "small")
        self.cluster.wait_state(small, "RUNNING")
        other = "GPU-b" if held == "GPU-a" else "GPU-a"
        for uuid in self.shown("small"):
            self.assertRegex(uuid, f"^MIG-{other}-[0-9]+$")
        self.assertEqual(len(self.shown("small")), 2)
        self.assertEqual(self.gpus(), ["NVIDIA H200"] + 4 * ["NVIDIA H200 MIG 1g.18gb"] +
                         ["NVIDIA H200 MIG 3g.71gb"])
        whole = self.holds(1, "whole")
        words = f"is to be made whole for job {whole} once the jobs there have ended"
        wait_until(lambda: words in self.cluster.must("nodes"), lambda: self.cluster.must("nodes"))
        self.cluster.controller.kill()
        self.cluster.controller.start()
        wait_until(lambda: words in self.cluster.must("nodes"), lambda: self.cluster.must("nodes"))
        self.assertEqual(self.cluster.queue()[whole]["state"], "PENDING")
        self.let_go("small")
        self.cluster.wait_state(whole, "RUNNING")
        self.assertEqual(self.shown("whole"), [other])
        self.assertEqual(self.gpus(), 2 * ["NVIDIA H200"])
        self.assertEqual(self.cluster.queue()[beside]["state"], "RUNNING")
        self.let_go("beside")
        self.let_go("whole")
        for record in self.cluster.wait_ended(beside, small, whole):
            self.assertEqual(record["state"], "COMPLETED")

    def test_a_call_that_fails_is_told_and_the_gpu_stays_as_it_was(self):
        self.cluster.agents[0].stop()
        self.say(os.path.join(self.cluster.root, "gpus.json"), fails={"create": 23})
        self.cluster.agents[0].start()
        job = self.holds("3g.71gb:1", "small")
        reason = self.cluster.wait_reason(job, "could not be divided")["text"]
        self.assertRegex(reason, f"could not be divided into .* 3g.71gb for job {job}: an instance 2g.35gb at slice 0 "
                                 "cannot be made: ")
        # The agent may just register again.
        wait_until(lambda: "could not be divided" in self.cluster.must("explain", job),
                   lambda: self.cluster.must("explain", job))
        self.assertEqual(self.gpus(), 2 * ["NVIDIA H200"])
        self.assertIn("could not be divided", self.cluster.must("nodes"))
        whole = self.cluster.submit("--gpus=1", "-t", 5, "--wrap", "true")
        self.assertEqual(self.cluster.wait_ended(whole)[0]["state"], "COMPLETED")
        self.cluster.must("cancel", job)
        self.cluster.wait_ended(job)

    def test_an_agent_that_dies_over_an_order_carries_it_out_when_it_is_back(self):
        self.cluster.agents[0].kill()
        job = self.holds("1g.18gb:1", "small")
        self.cluster.agents[0].start()
        self.cluster.wait_state(job, "RUNNING")
        self.cluster.agents[0].kill()
        self.cluster.agents[0].start()
        self.let_go("small")
        self.assertEqual(self.cluster.wait_ended(job)[0]["state"], "COMPLETED")
        self.assertIn("NVIDIA H200 MIG 1g.18gb", self.gpus())

    def test_bad_input_is_one_line(self):
        done = self.cluster.muster("submit", "--gpus=9g.99gb:1", "--wrap", "true")
        self.assertIn("never on this cluster", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
