"""Squashfs files as images: mounted by squashfuse where all is root's, unpacked otherwise; gone with the last process."""

import os
import shutil
import subprocess
import time
import unittest

from cluster import Cluster, processes_with, wait_until
from containers_test import Images


class SquashfsTest(Images):
    """Two nodes: on the second squashfuse is not wanted."""

    @classmethod
    def make(cls):
        if shutil.which("squashfuse") is None:
            raise unittest.SkipTest("SKIPPED: NO squashfuse (apt-get install squashfuse)")
        if not os.access("/dev/fuse", os.R_OK | os.W_OK):
            raise unittest.SkipTest("SKIPPED: /dev/fuse may not be opened here")
        cluster = Cluster(nodes=2, topology="pack:1 core:4 pu:1")
        config = os.path.join(cluster.root, "agent.toml")
        with open(config, "w", encoding="utf-8") as file:
            file.write("[containers]\nsquashfuse = false\n")
        cluster.agents[1].arguments += ["--config", config]
        return cluster.start()

    def setUp(self):
        super().setUp()
        self.image = os.path.join(self.place, "mine.sqsh")
        shutil.copy(os.path.join(self.place, "image.sqsh"), self.image)

    def unpacked(self, node):
        """How many images with files are in the node's cache."""
        images = os.path.join(self.cluster.state, "agents", node, "images", str(os.geteuid()), "images")
        return sum(1 for name in os.listdir(images) if os.listdir(os.path.join(images, name, "rootfs")))

    def servers(self):
        return processes_with("mine.sqsh\0/dev/fd/3", False)

    def begin(self, script, *options, node="node1"):
        run = self.cluster.begin("run", "-n", 1, "-w", node, "--container-image", self.image, *options, "sh", "-c",
                                 "echo begun; " + script, stdin=subprocess.PIPE)
        self.assertEqual(run.stdout.readline(), "begun\n")
        return run

    def rest(self, run, text="on\n"):
        """What it writes from now on; not by communicate(), which forgets what was read ahead."""
        run.stdin.write(text)
        run.stdin.close()
        with run:
            said = run.stdout.read()
        self.assertEqual(run.returncode, 0)
        return said

    def test_its_files_are_served_while_somebody_is_there_and_nothing_is_unpacked(self):
        before = self.unpacked("node1")
        run = self.begin("read line; cat /srv/inside; touch /srv/no 2>/dev/null || echo ro; "
                         "test -c /dev/evil || echo no device; test -u /bin/busybox && echo marked")
        try:
            self.assertEqual(len(self.servers()), 1)
            os.remove(self.image)  # which is open
            said = self.rest(run)
        finally:
            run.kill()
        self.assertEqual(said, "inside\nro\nno device\nmarked\n")
        self.assertEqual(self.unpacked("node1"), before)
        wait_until(lambda: not self.servers(), "squashfuse stays")

    def test_what_a_named_container_changes_is_kept(self):
        words = ("--container-name", "over-squashfs")
        self.rest(self.begin("read line; echo more >>/srv/inside", *words))
        wait_until(lambda: not self.servers(), "squashfuse stays")
        self.assertEqual(self.rest(self.begin("read line; cat /srv/inside", *words)), "inside\nmore\n")

    def test_a_rank_that_is_told_to_end_may_read_for_its_grace_and_the_job_ends_with_it(self):
        job = self.cluster.submit("-w", "node1", "--container-image", self.image, "-o", "said.%j",
                                  "--wrap", "trap 'sleep 1; cat /srv/inside; exit 0' TERM; echo begun; "
                                  "while true; do sleep 0.1; done")
        wait_until(lambda: "begun" in self.read(f"said.{job}"), "it does not begin")
        began = time.monotonic()
        self.cluster.must("cancel", job)
        self.cluster.wait_ended(job)
        self.assertIn("inside", self.read(f"said.{job}"))
        self.assertLess(time.monotonic() - began, 25, "squashfuse held the job up")
        wait_until(lambda: not self.servers(), "squashfuse stays")

    def test_where_it_is_not_wanted_and_where_files_are_others_it_is_unpacked(self):
        self.assertEqual(self.rest(self.begin("read line; cat /srv/inside", node="node2")), "inside\n")
        self.assertEqual(self.unpacked("node2"), 1)
        tree = os.path.join(self.place, "tree")
        subprocess.run(["unsquashfs", "-no-progress", "-quiet", "-d", tree, self.image], check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.remove(self.image)
        subprocess.run(["mksquashfs", tree, self.image, "-quiet", "-no-progress", "-force-uid", "7"], check=True,
                       stdout=subprocess.DEVNULL)
        before = self.unpacked("node1")
        run = self.begin("read line; cat /srv/inside")
        self.assertEqual(self.servers(), {})
        self.assertEqual(self.rest(run), "inside\n")
        self.assertEqual(self.unpacked("node1"), before + 1)

    def test_a_file_that_is_no_image_is_refused_in_one_line(self):
        with open(self.image, "r+b") as file:
            file.truncate(200)
        done = self.cluster.muster("run", "-n", 1, "-w", "node1", "--container-image", self.image, "true")
        self.assertEqual(done.returncode, 126, done.stderr)
        self.assertIn(f"image {self.image}: ", done.stderr)
        self.assert_one_line(done.stderr)


if __name__ == "__main__":
    unittest.main()
