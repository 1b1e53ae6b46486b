"""Real GPUs: what each rank sees of them, that the kernel agrees, and what NCCL makes of it."""

import json
import os
import shutil
import subprocess
import sys
import unittest

from cluster import Cluster, ClusterTest, processes_with, read_file, wait_until

# Bytes per GPU, and turns, of the all-reduce that is timed.
NCCL = """
import os, time, torch, torch.distributed as dist
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
device = torch.device("cuda", 0 if torch.cuda.device_count() == 1 else rank)
torch.cuda.set_device(device)
dist.init_process_group("nccl")
data = torch.ones(1 << 28, dtype=torch.float32, device=device)
for turn in range(25):
    if turn == 5:
        torch.cuda.synchronize(); begin = time.monotonic()
    dist.all_reduce(data)
torch.cuda.synchronize()
seconds = (time.monotonic() - begin) / 20
if rank == 0:
    print(2 * (world - 1) / world * data.numel() * 4 / seconds / 1e9)
dist.destroy_process_group()
"""


def uuids():
    """The real GPUs of this machine, as NVIDIA's tool names them."""
    if shutil.which("nvidia-smi") is None:
        return []
    told = subprocess.run(["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False)
    return told.stdout.split()


def has_torch():
    return subprocess.run([sys.executable, "-c", "import torch; assert torch.cuda.is_available()"],
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


# How much of its GPU a process has: multiprocessors, and whether three quarters of the memory can be had.
HALF = """
import ctypes, sys, time
cuda = ctypes.CDLL("libcuda.so.1")
def do(name, *words):
    return getattr(cuda, name)(*words)
context, count, all_of_it, free, room = (ctypes.c_void_p(), ctypes.c_int(), ctypes.c_size_t(), ctypes.c_size_t(),
                                         ctypes.c_uint64())
assert do("cuInit", 0) == 0 and do("cuCtxCreate_v2", ctypes.byref(context), 0, 0) == 0
assert do("cuDeviceGetAttribute", ctypes.byref(count), 16, 0) == 0
assert do("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(all_of_it)) == 0
much = do("cuMemAlloc_v2", ctypes.byref(room), ctypes.c_size_t(all_of_it.value // 4 * 3)) == 0
print(count.value, much, flush=True)
time.sleep(float(sys.argv[1]))
"""


@unittest.skipIf(not uuids() or shutil.which("nvidia-cuda-mps-control") is None,
                 "NO GPU HERE, or no nvidia-cuda-mps-control")
class GpuShareTest(ClusterTest):
    own = True

    def make(self):
        return Cluster(nodes=1).start()

    @staticmethod
    def daemons():
        return [pid for pid, command in processes_with("nvidia-cuda-mps-control", in_environment=False).items()
                if command.startswith("nvidia-cuda-mps-control -f")]

    def test_jobs_that_share_a_gpu_have_a_part_each_by_an_mps_that_ends_with_them(self):
        with open(os.path.join(self.cluster.work, "half.py"), "w", encoding="utf-8") as file:
            file.write(HALF)
        whole = self.cluster.must("run", "-G", 1, sys.executable, "half.py", 0).split()
        self.assertEqual(whole[1], "True")
        self.assertEqual(self.daemons(), [])
        jobs = [self.cluster.submit("--gpu-share=0.5", "-o", f"{name}.out", "--wrap",
                                    f"{sys.executable} half.py 12") for name in "ab"]
        said = [os.path.join(self.cluster.work, f"{name}.out") for name in "ab"]
        wait_until(lambda: all(read_file(path).split() for path in said), "a half said nothing")
        self.assertEqual(len(self.daemons()), 1, "one user, one GPU: one daemon")
        for path in said:
            count, much = read_file(path).decode().split()
            self.assertLessEqual(int(count), int(whole[0]) // 2 + 1)
            self.assertEqual(much, "False")
        self.cluster.agents[0].kill()
        self.cluster.agents[0].start()
        self.assertEqual(len(self.daemons()), 1, "it outlives the agent, as jobs do")
        self.assertEqual([row["state"] for row in self.cluster.wait_ended(*jobs)], ["COMPLETED"] * 2)
        wait_until(lambda: not self.daemons(), "MPS runs on though no job needs it")


@unittest.skipIf(not uuids(), "NO GPU HERE")
class GpuVisibleTest(ClusterTest):
    own = True

    def make(self):
        return Cluster(nodes=1).start()

    def seen(self, *arguments):
        """[what each rank sees], and the words about the binding of the job."""
        count = len(uuids())
        lines = self.cluster.must("run", "-n", count, "--label", *arguments, "printenv", "CUDA_VISIBLE_DEVICES")
        seen = dict(line.split(": ", 1) for line in lines.splitlines())
        job = max(json.loads(self.cluster.must("history", "--json"))["jobs"], key=lambda job: int(job["id"]))
        return [seen[str(rank)].split(",") for rank in range(count)], job["binding"]

    def test_a_task_with_gpus_of_its_own_sees_those_alone_and_the_read_back_agrees(self):
        count = len(uuids())
        own, binding = self.seen("--gpus-per-task=1")
        print(own, binding)
        self.assertEqual(sorted(gpu for gpus in own for gpu in gpus), sorted(uuids()))
        self.assertEqual([len(gpus) for gpus in own], [1] * count)
        self.assertIn(f"verified {count}/{count}", binding)

    def test_gpus_of_the_job_or_of_a_node_are_seen_by_all_each_ranks_own_at_its_position(self):
        own = None
        for asked in (f"--gpus={len(uuids())}", f"--gpus-per-node={len(uuids())}", f"--gres=gpu:{len(uuids())}"):
            seen, binding = self.seen(asked)
            self.assertEqual(seen, [seen[0]] * len(seen), asked)
            self.assertEqual(sorted(seen[0]), sorted(uuids()), asked)
            self.assertIn("verified", binding)
            own = own or seen[0]
        alone, _ = self.seen("--gpus-per-task=1")
        self.assertEqual([gpus[0] for gpus in alone], own)
        shown, _ = self.seen("--gpus-per-task=1", "--gpu-bind=none")
        self.assertEqual(shown, [own] * len(own))

    @unittest.skipIf(len(uuids()) < 2, "ONE GPU: nothing to reduce over")
    @unittest.skipIf(not has_torch(), "NO TORCH WITH CUDA HERE: NCCL is not measured")
    def test_nccl_is_as_fast_with_one_visible_gpu_a_rank_as_with_all(self):
        count = len(uuids())
        program = os.path.join(self.cluster.work, "reduce.py")
        with open(program, "w", encoding="utf-8") as file:
            file.write(NCCL)
        speeds = {asked: float(self.cluster.must("run", "-n", count, asked, sys.executable, program, patience=300))
                  for asked in ("--gpus-per-task=1", f"--gpus={count}")}
        print("GB/s:", speeds)
        self.assertGreater(speeds["--gpus-per-task=1"], 0.9 * speeds[f"--gpus={count}"])


if __name__ == "__main__":
    unittest.main()
