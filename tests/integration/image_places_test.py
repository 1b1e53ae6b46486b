"""Where images are: jobs go to nodes that keep theirs, and those fetch it while the job still waits."""

import json
import os
import shutil
import socket
import threading
import time
import unittest

from cluster import Cluster, wait_until
from containers_test import Images
from secured import USERS, SecuredCluster, why_not


class DeafRegistry(threading.Thread):
    """Ends every call at once, and counts them."""

    def __init__(self):
        super().__init__(daemon=True)
        self.calls = 0
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.start()

    def run(self):
        while True:
            try:
                self.socket.accept()[0].close()
            except OSError:
                return
            self.calls += 1


class ImagePlaces(Images):
    """Three nodes."""

    @classmethod
    def make(cls):
        return Cluster(nodes=3, topology="pack:1 core:2 pu:1").start()

    def kept_on(self, name):
        images = json.loads(self.cluster.must("images", "list", "--json"))["images"]
        return {image["node"] for image in images if image["name"] == name}

    def await_idle(self):
        def states():
            return {node["state"] for node in json.loads(self.cluster.must("nodes", "--json"))["nodes"]}
        wait_until(lambda: states() == {"IDLE"}, lambda: f"the nodes are not idle: {states()}")

    def test_a_job_goes_to_the_equal_node_that_keeps_its_image(self):
        image = f"oci:{self.place}/oci:v1"
        script = ("sh", "-c", "echo $MUSTER_NODE_NAME")
        self.await_idle()
        first = self.cluster.must("run", *script)
        other = next(name for name in ("node1", "node2", "node3") if name != first)
        self.cluster.must("images", "pull", "-w", other, image)
        self.assertEqual(self.kept_on(image), {other})
        self.assertEqual(self.cluster.must("run", "--container-image", image, *script), other)
        self.cluster.controller.kill()
        self.cluster.controller.start()
        self.await_idle()
        self.assertEqual(self.cluster.must("run", "--container-image", image, *script), other)
        self.assertEqual(self.cluster.must("run", *script), first)

    def fill(self):
        """Jobs wait from now on; what has them start."""
        holder = self.cluster.submit("-N", 3, "--exclusive", "-t", "10", "--wrap", "sleep 1000")
        wait_until(lambda: "RUNNING" in self.cluster.must("show", holder), "the first job does not run")
        self.addCleanup(self.cluster.muster, "cancel", holder)
        return lambda: self.cluster.must("cancel", holder)

    def test_the_image_of_a_waiting_job_is_fetched_where_it_will_start(self):
        image = f"oci:{self.place}/ahead:v1"
        shutil.copytree(os.path.join(self.place, "oci"), os.path.join(self.place, "ahead"))
        self.cluster.muster("images", "prune", "--all")
        release = self.fill()
        job = self.cluster.submit("-N", 2, "--exclusive", "-t", "5", "--container-image", image, "--wrap", "cat inside")
        self.addCleanup(self.cluster.muster, "cancel", job)
        wait_until(lambda: len(self.kept_on(image)) == 2, "the image is not fetched on two nodes")
        (shown,) = json.loads(self.cluster.must("show", job, "--json"))["jobs"]
        self.assertEqual(shown["state"], "PENDING")
        release()
        (end,) = self.cluster.wait_ended(job)
        self.assertEqual(end["state"], "COMPLETED")

    def test_a_fetch_that_fails_is_not_tried_again_while_the_job_waits(self):
        registry = DeafRegistry()
        self.addCleanup(registry.socket.close)
        image = f"127.0.0.1:{registry.port}/team/none@sha256:{'0' * 64}"
        self.fill()
        job = self.cluster.submit("--exclusive", "-t", "5", "--container-image", image, "--wrap", "true")
        self.addCleanup(self.cluster.muster, "cancel", job)
        wait_until(lambda: registry.calls > 0, "no node fetches the image")
        time.sleep(8)  # the fetch itself asks once more
        calls = registry.calls
        time.sleep(12)  # the controller has looked twice again
        self.assertEqual(registry.calls, calls)


class UsersOwnFetch(Images):
    """An agent of root's, and jobs of an ordinary user."""

    @classmethod
    def make(cls):
        reason = why_not()
        if reason:
            raise unittest.SkipTest("SKIPPED: " + reason)
        return SecuredCluster(nodes=1).start()

    def as_alice(self, *words):
        done = self.cluster.as_user("alice", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_what_is_fetched_ahead_is_its_users_alone(self):
        self.as_alice("submit", "--exclusive", "-t", "10", "--wrap", "sleep 1000")
        self.as_alice("submit", "--exclusive", "-t", "5", "--container-image", f"oci:{self.place}/oci:v1", "--wrap",
                      "cat inside")
        images = os.path.join(self.cluster.state, "agents", "node1", "images", str(USERS["alice"]), "images")

        def kept():
            return [name for name in os.listdir(images) if not name.startswith(".")] if os.path.isdir(images) else []
        wait_until(kept, "the image is not fetched")
        self.assertEqual(os.stat(os.path.join(images, kept()[0], "rootfs")).st_uid, USERS["alice"])
        self.as_alice("cancel", "--all")


if __name__ == "__main__":
    unittest.main()
