"""Images on a node: many ranks of one, a cache that is full, a disk that is full."""

import json
import os
import subprocess
import unittest

from cluster import Cluster
from containers_test import Images

RANKS = 100
MEGABYTE = 1 << 20


class ManyRanksTest(Images):
    """A node of as many cores as this machine plays."""

    @classmethod
    def make(cls):
        return Cluster(topology=f"pack:1 core:{RANKS} pu:1").start()

    def test_a_hundred_ranks_of_an_image_that_the_node_lacks_share_one_container(self):
        begun = os.path.join(self.cluster.root, "begun")
        os.mkdir(begun)
        said = self.cluster.must("run", "-n", RANKS, "--container-image", self.oci, "--container-writable",
                                 "--container-mounts", f"{begun}:/begun", "sh", "-c",
                                 f"touch /begun/$RANK; while test $(ls /begun | /bin/busybox wc -l) -lt {RANKS}; "
                                 "do sleep 0.2; done; echo $RANK >/srv/of.$RANK; "
                                 "echo $RANK $(/bin/busybox readlink /proc/self/ns/mnt) $(cat /srv/inside)")
        lines = [line.split() for line in said.splitlines()]
        self.assertEqual(sorted(int(line[0]) for line in lines), list(range(RANKS)))
        self.assertEqual(len({line[1] for line in lines}), 1, "they do not share their mounts")
        self.assertEqual({line[2] for line in lines}, {"inside"})
        (image,) = json.loads(self.cluster.must("images", "list", "--json"))["images"]
        self.assertEqual(image["digest"], self.digest)
        first = self.cluster.newest()
        self.cluster.must("run", "-n", 1, "--container-image", self.oci, "true")  # whose container sweeps
        changed = os.listdir(os.path.join(self.cluster.state, "agents/node1/images", str(os.geteuid()), "run"))
        self.assertEqual([name for name in changed if name.startswith(f"{first}.")], [])


class FullCacheTest(Images):
    """Two nodes: one whose cache may have 16 MB, and one whose disk has 4."""

    @classmethod
    def make(cls):
        if os.geteuid() != 0:
            raise unittest.SkipTest("SKIPPED: only root makes a disk that is full")
        cluster = Cluster(nodes=2, topology="pack:1 core:4 pu:1")
        cls.disk = os.path.join(cluster.root, "disk")
        os.mkdir(cls.disk)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m,mode=755", "tmpfs", cls.disk], check=True)
        cls.addClassCleanup(subprocess.run, ["umount", "--lazy", cls.disk], check=False)
        for number, text in enumerate(('cache_size = "16M"', f'cache = "{cls.disk}/images"')):
            path = os.path.join(cluster.root, f"agent{number}.toml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"[containers]\n{text}\n")
            cluster.agents[number].arguments += ["--config", path]
        return cluster.start()

    def image_of(self, tag, megabytes):
        """The tests' image with a layer that is hard to press."""
        folder = os.path.join(self.place, tag)
        os.makedirs(folder)
        with open(os.path.join(folder, "noise." + tag), "wb") as file:
            file.write(os.urandom(megabytes * MEGABYTE))
        archive = folder + ".tar"
        subprocess.run(["tar", "-C", folder, "-cf", archive, "."], check=True)
        for words in (("tag", "--image", "oci:v1", tag), ("raw", "add-layer", "--image", "oci:" + tag, archive)):
            subprocess.run(["umoci", *words], cwd=self.place, check=True, stdout=subprocess.DEVNULL)
        return f"oci:{self.place}/oci:{tag}"

    def kept(self):
        images = json.loads(self.cluster.must("images", "list", "-w", "node1", "--json"))["images"]
        return {image["name"].rpartition(":")[2] for image in images}

    def run_on(self, node, image, script="cat /srv/inside", **more):
        return self.cluster.muster("run", "-w", node, "-n", 1, "--container-image", image, "sh", "-c", script, **more)

    def test_what_was_not_used_for_the_longest_time_makes_room_and_what_is_in_use_stays(self):
        first, second, third = (self.image_of(tag, 7) for tag in ("first", "second", "third"))
        holder = self.cluster.begin("run", "-w", "node1", "-n", 1, "--container-image", first, "sh", "-c",
                                    "echo begun; read line; cat /srv/inside", stdin=subprocess.PIPE)
        try:
            self.assertEqual(holder.stdout.readline(), "begun\n")
            for image in (second, third):
                done = self.run_on("node1", image)
                self.assertEqual((done.returncode, done.stdout), (0, "inside\n"), done.stderr)
            self.assertIn("first", self.kept(), "it is in use")
            self.assertNotIn("second", self.kept())
        finally:
            said, _ = holder.communicate("end\n")
        self.assertEqual(said, "inside\n")
        done = self.run_on("node1", second)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("first", self.kept(), "nobody uses it any more")

    def test_an_image_that_the_cache_can_never_hold_is_refused(self):
        done = self.run_on("node1", self.image_of("large", 24))
        self.assertEqual(done.returncode, 126, done.stderr)
        self.assertRegex(done.stderr, r"the image unpacks to more than ")
        self.assert_one_line(done.stderr)

    def test_a_disk_that_is_full_is_said_and_left_as_it_was(self):
        done = self.run_on("node2", self.image_of("wide", 6))
        self.assertEqual(done.returncode, 126, done.stderr)
        self.assertRegex(done.stderr, r"(?i)no space left on device")
        self.assert_one_line(done.stderr)
        images = os.path.join(self.disk, "images", str(os.geteuid()), "images")
        self.assertEqual(os.listdir(images), [])
        done = self.run_on("node2", self.oci)
        self.assertEqual((done.returncode, done.stdout), (0, "inside\n"), done.stderr)


if __name__ == "__main__":
    unittest.main()
