"""Containers that podman makes, as the job's user, on a node whose configuration says so."""

import json
import os
import shutil
import unittest

from cluster import Cluster, processes_with, wait_until
from containers_test import Images
from secured import USERS, SecuredCluster, why_not


def with_podman(cluster):
    if shutil.which("podman") is None:
        raise unittest.SkipTest("SKIPPED: NO podman (apt-get install podman)")
    config = os.path.join(cluster.root, "podman.toml")
    with open(config, "w", encoding="utf-8") as file:
        file.write('[containers]\nruntime = "podman"\n')
    cluster.agents[0].arguments += ["--config", config]
    return cluster.start()


class PodmanTest(Images):
    """One user."""

    @classmethod
    def make(cls):
        return with_podman(Cluster())

    def inside(self, script, *options, ranks=1):
        return self.cluster.must("run", "-n", ranks, "--container-image", self.oci, *options, "sh", "-c", script)

    def test_ranks_are_in_the_image_bound_and_read_back(self):
        said = self.inside("cat inside; pwd; touch /srv/no 2>/dev/null || echo ro; id -u; test -w /dev/null && echo null")
        self.assertEqual(said.split("\n"), ["inside", "/srv", "ro", str(os.geteuid()), "null"])
        (shown,) = json.loads(self.cluster.must("show", self.cluster.newest(), "--json"))["jobs"]
        self.assertEqual({rank["verdict"] for attempt in shown["attempts"] for rank in attempt["ranks"]}, {"verified"})

    def test_ranks_share_mounts_memory_and_processes(self):
        said = self.inside("echo $$ >/made.$RANK; while ! test -s /made.$((1-RANK)); do sleep 0.02; done; "
                           "test -d /proc/$(cat /made.$((1-RANK))) && echo seen; "
                           "/bin/busybox readlink /proc/self/ns/mnt; test -w /dev/shm && echo shm; sleep 0.3",
                           "--container-writable", ranks=2).split("\n")
        self.assertEqual((said.count("seen"), said.count("shm"), len(set(said))), (2, 2, 3), said)

    def test_mounts_names_and_a_root_in_name_are_as_crun_has_them(self):
        data = os.path.join(self.place, "data")
        os.makedirs(data, exist_ok=True)
        said = self.inside("echo x >/data/rw; touch /ro/no 2>/dev/null || echo ro; cat /ro/rw", "--container-mounts",
                           f"{data}:/data,{data}:/ro:ro")
        self.assertEqual(said.split("\n"), ["ro", "x"])
        self.inside("echo kept >/srv/mine", "--container-name", "of-podman")
        wait_until(lambda: self.cluster.muster("run", "-n", 1, "--container-image", self.oci, "--container-name",
                                               "of-podman", "cat", "/srv/mine").stdout == "kept\n", "it is not kept")
        self.assertEqual(self.inside("id -u", "--container-remap-root"), "0")

    def test_nothing_of_podman_stays(self):
        self.inside("true")
        place = os.path.join(self.cluster.state, "agents/node1/images")
        wait_until(lambda: not processes_with(place, False), "podman's processes stay")
        self.assertFalse(os.path.exists("/dev/shm/libpod_lock"))

    def test_what_it_cannot_do_is_one_line(self):
        done = self.cluster.muster("run", "-n", 1, "--container-image", self.oci, "--container-workdir", "/nowhere", "true")
        self.assertEqual(done.returncode, 126)
        self.assertIn("--container-workdir: cannot enter /nowhere in the container", done.stderr)
        self.assert_one_line(done.stderr)


class PodmanOfUsersTest(Images):
    """An agent of root's, and jobs of ordinary users."""

    @classmethod
    def make(cls):
        reason = why_not()
        if reason:
            raise unittest.SkipTest("SKIPPED: " + reason)
        return with_podman(SecuredCluster(nodes=1))

    def test_each_is_who_they_are_and_no_more(self):
        for user in ("alice", "mallory"):
            done = self.cluster.as_user(user, "run", "--container-image", self.oci, "sh", "-c",
                                        "id -u; cat /srv/inside; cat /proc/1/root/etc/shadow 2>/dev/null || echo no shadow")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.split("\n")[:3], [str(USERS[user]), "inside", "no shadow"])


if __name__ == "__main__":
    unittest.main()
