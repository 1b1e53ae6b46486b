"""Real GPUs, and training scripts as they are written for Slurm: Lightning's environment with requeue, and torchrun on
the nodes that scontrol names.

Needs the built programs and a python3 with torch and Lightning; what is missing is skipped, loudly.
"""

import os
import shutil
import subprocess
import sys
import unittest

from cluster import PATIENCE, Cluster, ClusterTest

PYTHON = shutil.which("python3") or sys.executable
# Saves when it is told that the time is nearly over, has itself requeued, and goes on from there: Lightning's own work.
LIGHTNING = """
import os, signal, sys, time
try:
    import lightning.pytorch as pl
    from lightning.pytorch.demos.boring_classes import BoringModel
    from lightning.pytorch.plugins.environments import SLURMEnvironment
except ImportError:
    import pytorch_lightning as pl
    from pytorch_lightning.demos.boring_classes import BoringModel
    from pytorch_lightning.plugins.environments import SLURMEnvironment

class Slow(BoringModel):
    def training_step(self, batch, index):
        time.sleep(0.25)
        return super().training_step(batch, index)

assert SLURMEnvironment.detect(), "it does not see that it runs under Slurm"
trainer = pl.Trainer(default_root_dir=sys.argv[1], max_steps=int(sys.argv[2]), max_epochs=-1, accelerator="gpu", devices=1,
                     num_nodes=1, logger=False, enable_progress_bar=False, enable_checkpointing=False,
                     limit_val_batches=0, plugins=[SLURMEnvironment(auto_requeue=True, requeue_signal=signal.SIGUSR1)])
trainer.fit(Slow())
print("done at", trainer.global_step, "after", os.environ.get("SLURM_RESTART_COUNT", "0"), "restarts", flush=True)
"""
TORCHRUN = """#!/bin/bash
nodes=($(scontrol show hostnames "$SLURM_JOB_NODELIST"))
head=${nodes[0]}
srun --ntasks="$SLURM_NNODES" --ntasks-per-node=1 PYTHON -m torch.distributed.run --nnodes="$SLURM_NNODES" \\
  --nproc_per_node="$SLURM_GPUS_ON_NODE" --rdzv_id="$SLURM_JOB_ID" --rdzv_backend=c10d --rdzv_endpoint=localhost:0 sum.py
echo "head $head of ${#nodes[@]}"
"""
SUM = """
import os, torch, torch.distributed as dist
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
value = torch.ones(1, device="cuda") * (dist.get_rank() + 1)
dist.all_reduce(value)
if dist.get_rank() == 0:
    print("sum", int(value.item()), "of", dist.get_world_size(), flush=True)
dist.destroy_process_group()
"""


def gpus():
    if shutil.which("nvidia-smi") is None:
        return 0
    told = subprocess.run(["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False)
    return len(told.stdout.split())


def can(text):
    return subprocess.run([PYTHON, "-c", text], stderr=subprocess.DEVNULL, check=False).returncode == 0


@unittest.skipIf(not gpus(), "NO GPU HERE")
class TrainingTest(ClusterTest):
    @classmethod
    def make(cls):
        return Cluster(nodes=1).start()

    def setUp(self):
        super().setUp()
        self.names = os.path.join(self.cluster.root, "names")
        self.cluster.must("slurm", "install", self.names)
        self.environment = {**self.cluster.environment, "MUSTER_CONTROLLER": self.cluster.address,
                            "PATH": self.names + ":" + os.environ["PATH"]}

    def file(self, name, text):
        path = os.path.join(self.cluster.work, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("PYTHON", PYTHON))
        os.chmod(path, 0o755)
        return path

    def batch(self, *words):
        done = subprocess.run(["sbatch", "--parsable", "-o", "said.%j", "--open-mode=append", *words],
                              cwd=self.cluster.work, env=self.environment, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return int(done.stdout)

    def ended(self, job):
        (row,) = self.cluster.wait_ended(job, patience=max(PATIENCE, 400))
        text = self.read(f"said.{job}")
        self.assertEqual(row["state"], "COMPLETED", text + self.cluster.logs())
        return text

    @unittest.skipIf(not can("import pytorch_lightning") and not can("import lightning"), "NO LIGHTNING HERE")
    def test_lightning_saves_before_the_limit_is_requeued_and_goes_on(self):
        train = self.file("train.py", LIGHTNING)
        steps = 240  # a minute of work, with a warning after some 40 s of two minutes
        job = self.batch("-J", "train", "-t", "2", "--signal=SIGUSR1@80", "--requeue", "-n", "1", "--ntasks-per-node=1",
                         "--gpus-per-task=1", "--wrap", f"srun {PYTHON} {train} {self.cluster.work} {steps}")
        text = self.ended(job)
        self.assertRegex(text, rf"(?m)^done at {steps} after [1-9]\d* restarts$")

    @unittest.skipIf(not can("import torch"), "NO TORCH HERE")
    def test_torchrun_starts_a_process_on_each_gpu_of_the_nodes_that_scontrol_names(self):
        self.file("sum.py", SUM)
        count = gpus()
        job = self.batch("-N", "1", "-n", "1", f"--gpus-per-node={count}", "-t", "10", self.file("torchrun.sh", TORCHRUN))
        text = self.ended(job)
        self.assertIn(f"sum {count * (count + 1) // 2} of {count}", text)
        self.assertRegex(text, r"(?m)^head \S+ of 1$")


if __name__ == "__main__":
    unittest.main()
