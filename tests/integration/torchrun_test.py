"""An elastic PyTorch job: a node is lost in the middle, and the job carries on.

With two GPUs or more each node has one of them, otherwise a part of the cores; the nodes are slices of this machine.
Skipped, aloud, where there is no PyTorch.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from cluster import BIN, Cluster, ClusterTest, read_file, wait_until

EXAMPLES = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "checkpoint", "examples"))
STEPS = ("--steps", "1500", "--every", "50", "--pause", "0.01")
NODES_MAX = 4


def gpus():
    """How many GPUs this machine has."""
    if not shutil.which("nvidia-smi"):
        return 0
    listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False)
    return sum(line.startswith("GPU ") for line in listed.stdout.splitlines())


def why_no_torchrun():
    """None where it runs a script; else one line."""
    if not shutil.which("torchrun"):
        return "it is not installed"
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        try:
            tried = subprocess.run(["torchrun", "--standalone", "--nproc_per_node=1", script.name],
                                   capture_output=True, text=True, check=False, timeout=120)
        except subprocess.TimeoutExpired:
            return "it does not end"
    return None if tried.returncode == 0 else tried.stderr.strip().rpartition("\n")[2]


class TorchrunTest(ClusterTest):
    gpus = min(gpus(), NODES_MAX) >= 2
    nodes = min(gpus(), NODES_MAX) if gpus else 2

    @classmethod
    def make(cls):
        if (why := why_no_torchrun()) is not None:
            raise unittest.SkipTest("SKIPPED: NO torchrun (PyTorch) HERE: " + why)
        if not cls.gpus:
            print("THERE ARE NO TWO GPUS: the workers compute on cores", file=sys.stderr)
        cluster = Cluster(nodes=cls.nodes)
        cluster.environment.update({
            "ELASTIC_TRAIN": EXAMPLES, "PATH": BIN + ":" + os.environ["PATH"],
            # Several nodes of one machine are several machines to NCCL, which meet on the loopback.
            "NCCL_SOCKET_IFNAME": "lo", "NCCL_IB_DISABLE": "1"})
        return cluster.start()

    def output(self, job):
        return read_file(os.path.join(self.cluster.work, f"muster-{job}.out")).decode()

    def submit(self):
        with open(os.path.join(EXAMPLES, "elastic_train.sh"), encoding="utf-8") as file:
            script = file.read()
        self.assertEqual(script.count("muster run torchrun"), 1)
        script = script.replace("muster run torchrun",
                                "muster run sh -c 'exec env NCCL_HOSTID=$MUSTER_NODE_NAME \"$@\"' - torchrun")
        if not self.gpus:
            script = script.replace("--gpus-per-node=1 --cpus-per-task=4", "--cpus-per-task=1", 1)
        path = os.path.join(self.cluster.work, "train.sh")
        with open(path, "w", encoding="utf-8") as file:
            file.write(script)
        return self.cluster.submit("-N", f"1-{self.nodes}", "--time=10", "--open-mode=append", path, *STEPS)

    def losses(self, job):
        """With which runs of the job ended, as they say."""
        return re.findall(r"loss ([0-9.]+)", self.output(job))

    def test_a_job_that_loses_a_node_carries_on_to_the_same_loss(self):
        whole = self.submit()
        (row,) = self.cluster.wait_ended(whole, patience=200)
        self.assertEqual(row["state"], "COMPLETED", self.output(whole))
        job = self.submit()
        saved = os.path.join(self.cluster.work, f"muster-{job}.checkpoint", "elastic.pt")
        wait_until(lambda: os.path.exists(saved), lambda: self.output(job) + self.cluster.logs(), 150)
        self.cluster.lose_node(self.nodes - 1)
        wait_until(lambda: self.output(job).count("workers, step") >= 2,
                   lambda: self.output(job) + self.cluster.logs(), 150)
        (row,) = self.cluster.wait_ended(job, patience=200)
        self.assertEqual(row["state"], "COMPLETED", self.output(job))
        begun = [(int(workers), int(step)) for workers, step in
                 re.findall(r"(\d+) workers, step (\d+)", self.output(job))]
        self.assertEqual([workers for workers, _ in begun], [self.nodes, self.nodes - 1], begun)
        self.assertGreater(begun[1][1], 0, "it began again at a checkpoint")
        self.assertEqual(self.losses(job)[-1], self.losses(whole)[-1])


if __name__ == "__main__":
    unittest.main()
