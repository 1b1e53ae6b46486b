"""Real GPUs in containers: PyTorch sees those of the job and no others, and NCCL is as fast as outside.

The image holds directories alone; the programs and PyTorch are this machine's own, mounted. The driver's libraries are
not among them: they come with the GPUs.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from cluster import Cluster, ClusterTest
from gpu_visible_test import NCCL, has_torch, uuids

TOOLS = ("crun", "umoci", "skopeo")
# What python3 and PyTorch are made of, wherever they lie.
SYSTEM = ("/usr/bin", "/usr/lib", "/usr/local/lib", "/opt", "/etc/ssl")
SEEN = "import torch; print(torch.cuda.device_count(), float(torch.ones(1 << 20, device='cuda').sum()))"


def why_not():
    if not uuids():
        return "NO GPU HERE"
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        return f"NO {' '.join(missing)} HERE"
    return None if has_torch() else "NO TORCH WITH CUDA HERE"


@unittest.skipIf(why_not(), why_not())
class GpuContainerTest(ClusterTest):
    @classmethod
    def make(cls):
        return Cluster(nodes=1).start()

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.mkdtemp(prefix="mit-gpu-image-", dir="/tmp")
        cls.addClassCleanup(shutil.rmtree, cls.place, ignore_errors=True)

        def run(*words):
            subprocess.run(words, cwd=cls.place, check=True, stdout=subprocess.DEVNULL)
        run("umoci", "init", "--layout", "oci")
        run("umoci", "new", "--image", "oci:v1")
        run("umoci", "unpack", "--rootless", "--image", "oci:v1", "made")
        root = os.path.join(cls.place, "made", "rootfs")
        for directory in ("etc", "root", "tmp", "usr/local", *(path[1:] for path in SYSTEM)):
            os.makedirs(os.path.join(root, directory), exist_ok=True)
        for link in ("bin", "lib", "lib64"):
            os.symlink(os.readlink("/" + link), os.path.join(root, link))
            os.makedirs(os.path.join(root, os.readlink("/" + link)), exist_ok=True)
        run("umoci", "repack", "--image", "oci:v1", "made")
        run("umoci", "config", "--image", "oci:v1", "--config.env", "PATH=/usr/bin")
        super().setUpClass()
        (node,) = json.loads(cls.cluster.must("nodes", "--json"))["nodes"]
        if "containers" not in node["features"]:
            said = [line for line in cls.cluster.logs().splitlines() if "no containers" in line]
            cls.cluster.close(check=False)
            raise unittest.SkipTest("SKIPPED: " + (said[-1] if said else "the node has no feature containers"))

    def container(self, *more):
        mounts = [path for path in (*SYSTEM, os.path.realpath("/lib64"), *more) if os.path.isdir(path)]
        return ("--container-image", f"oci:{self.place}/oci:v1", "--container-mounts",
                ",".join(f"{path}:{path}:ro" for path in mounts))

    def test_pytorch_sees_the_gpus_of_its_job(self):
        for count in range(1, len(uuids()) + 1):
            said = self.cluster.must("run", f"--gpus={count}", *self.container(), sys.executable, "-c", SEEN,
                                     patience=300)
            self.assertEqual(said.split(), [str(count), str(float(1 << 20))])

    @unittest.skipIf(len(uuids()) < 2, "ONE GPU: nothing to reduce over")
    def test_nccl_is_as_fast_inside_as_outside(self):
        count = len(uuids())
        program = os.path.join(self.cluster.work, "reduce.py")
        with open(program, "w", encoding="utf-8") as file:
            file.write(NCCL)

        def speed(*options):
            return float(self.cluster.must("run", "-n", count, f"--gpus={count}", *options, sys.executable, program,
                                           patience=300))
        speeds = {"outside": max(speed() for _ in range(2)),
                  "inside": max(speed(*self.container(self.cluster.work)) for _ in range(2))}
        print("GB/s:", speeds)
        self.assertGreater(speeds["inside"], 0.97 * speeds["outside"])


if __name__ == "__main__":
    unittest.main()
