"""An image of a registry is fetched once for a cluster, and goes from node to node."""

import hashlib
import http.server
import json
import os
import shutil
import subprocess
import time
import unittest

from cluster import Cluster, wait_until
from containers_test import Images
from registries import Serving, allow_registries
from secured import USERS, SecuredCluster, why_not

NODES = 5
INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"


class CountingRegistry(Serving):
    """Gives what lies in a layout, and keeps what it was asked for. A layer takes a second."""

    daemon_threads = True

    def __init__(self, blobs):
        super().__init__(("127.0.0.1", 0), CountedAnswer)
        self.blobs, self.asked, self.open = blobs, [], True
        self.name = f"127.0.0.1:{self.server_address[1]}/team/app"
        self.begin()

    def layers(self):
        """How often each was asked for: blobs that are no JSON."""
        counts = {}
        for path in self.asked:
            digest = path.rpartition(":")[2]
            if "/blobs/" in path and read(self.blobs, digest)[:1] != b"{":
                counts[digest] = counts.get(digest, 0) + 1
        return counts


def read(blobs, digest):
    with open(os.path.join(blobs, digest), "rb") as file:
        return file.read()


class CountedAnswer(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_HEAD(self):  # noqa: N802
        self.do_GET()

    def do_GET(self):  # noqa: N802
        if not self.server.open:
            self.close_connection = True
            return
        digest = self.path.rpartition(":")[2]
        known = len(digest) == 64 and os.path.exists(os.path.join(self.server.blobs, digest))
        body = read(self.server.blobs, digest) if known else b"{}"
        if self.command == "GET":
            self.server.asked.append(self.path)
        if "/blobs/" in self.path and body[:1] != b"{":
            time.sleep(1)
        self.send_response(200 if known or self.path == "/v2/" else 404)
        self.send_header("Content-Type", INDEX if b'"manifests"' in body else MANIFEST)
        self.send_header("Docker-Content-Digest", f"sha256:{digest}")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)


def add_index(layout, digest):
    """An index of images for two machines, of which that one is this machine's."""
    blobs = os.path.join(layout, "blobs", "sha256")
    architecture = json.loads(read(blobs, json.loads(read(blobs, digest.split(":")[1]))["config"]["digest"].split(":")[1]))[
        "architecture"]
    entries = [{"mediaType": MANIFEST, "digest": name, "size": size, "platform": {"os": "linux", "architecture": machine}}
               for name, size, machine in (("sha256:" + "0" * 64, 7, "sparc"),
                                           (digest, len(read(blobs, digest.split(":")[1])), architecture))]
    text = json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": entries}).encode()
    name = hashlib.sha256(text).hexdigest()
    with open(os.path.join(blobs, name), "wb") as file:
        file.write(text)
    return "sha256:" + name


class SharedImages(Images):
    """Nodes, and a registry that counts what it is asked for."""

    def setUp(self):
        super().setUp()
        self.cluster.muster("images", "prune", "--all")
        # Of its own for each test: what nodes know of an image, they know by its digest.
        layout = os.path.join(self.place, self.id().rpartition(".")[2])
        shutil.copytree(os.path.join(self.place, "oci"), layout)
        data = os.path.join(self.place, "data")
        with open(data, "wb") as file:
            file.write(os.urandom(4 << 20))
        subprocess.run(["umoci", "insert", "--rootless", "--image", f"{layout}:v1", data, "/srv/data"], check=True)
        with open(os.path.join(layout, "index.json"), encoding="utf-8") as file:
            self.own_digest = next(entry["digest"] for entry in json.load(file)["manifests"]
                                   if entry["annotations"]["org.opencontainers.image.ref.name"] == "v1")
        self.layout = layout
        self.registry = CountingRegistry(os.path.join(layout, "blobs", "sha256"))
        self.addCleanup(self.registry.end)
        allow_registries(self.home, self.registry.name.partition("/")[0])
        self.image = f"{self.registry.name}@{self.own_digest}"

    def assert_fetched_once(self):
        counts = self.registry.layers()
        self.assertEqual(set(counts.values()), {1}, counts)

    def kept_on(self):
        images = json.loads(self.cluster.must("images", "list", "--json"))["images"]
        return sorted(image["node"] for image in images if image["name"] == self.image)


class SharingTest(SharedImages):
    @classmethod
    def make(cls):
        cluster = Cluster(nodes=NODES, topology="pack:1 core:2 pu:1")
        cls.home = cluster.environment["HOME"] = os.path.join(cluster.root, "home")
        return cluster.start()

    def test_a_job_on_all_nodes_fetches_its_image_once(self):
        said = self.cluster.must("run", "-N", NODES, "--container-image", self.image, "sh", "-c", "cat inside; ls data")
        self.assertEqual(sorted(said.split()), ["data"] * NODES + ["inside"] * NODES)
        self.assertEqual(len(self.kept_on()), NODES)
        self.assert_fetched_once()

    def test_elements_of_an_array_that_begin_together_fetch_their_image_once(self):
        job = self.cluster.submit("-a", f"1-{NODES}", "--exclusive", "-t", "5", "--container-image", self.image, "--wrap",
                                  "cat inside; sleep 3")
        for end in self.cluster.wait_ended(job):
            self.assertEqual(end["state"], "COMPLETED")
        self.assertGreater(len(self.kept_on()), 1)
        self.assert_fetched_once()

    def test_a_later_job_elsewhere_has_it_from_a_node_that_keeps_it_though_the_registry_is_gone(self):
        self.cluster.must("run", "-w", "node1", "--container-image", self.image, "cat", "inside")
        self.registry.open = False
        said = self.cluster.must("run", "-w", "node2", "--container-image", self.image, "cat", "inside")
        self.assertEqual(said, "inside")
        self.assertEqual(self.kept_on(), ["node1", "node2"])
        # After a start of the controller it is known by what jobs have had.
        self.cluster.controller.kill()
        self.cluster.controller.start()
        wait_until(lambda: self.cluster.muster("run", "-w", "node3", "--container-image", self.image, "cat",
                                               "inside").stdout.strip() == "inside", "node3 does not have the image")
        self.assert_fetched_once()

    def test_a_node_that_keeps_it_no_more_holds_nobody_up(self):
        self.cluster.must("run", "-w", "node1", "--container-image", self.image, "cat", "inside")
        self.cluster.controller.kill()  # which then knows of node1 by its own record alone
        self.cluster.controller.start()
        wait_until(lambda: self.cluster.muster("images", "prune", "--all", "-w", "node1").returncode == 0,
                   "node1's image is not taken away")
        self.cluster.must("run", "-w", "node2", "--container-image", self.image, "cat", "inside")
        self.assertIn("node1: the image is not given: muster-container: it is not here any more", self.cluster.logs())
        self.assertEqual(set(self.registry.layers().values()), {2})

    def test_an_image_chosen_from_an_index_is_proved_by_the_index(self):
        self.image = f"{self.registry.name}@{add_index(self.layout, self.own_digest)}"
        self.cluster.must("run", "-w", "node1", "--container-image", self.image, "cat", "inside")
        self.registry.open = False
        said = self.cluster.must("run", "-N", 3, "--container-image", self.image, "cat", "inside")
        self.assertEqual(said.split(), ["inside"] * 3)
        self.assert_fetched_once()

    def test_bytes_of_a_node_that_are_others_are_not_believed(self):
        self.cluster.must("run", "-w", "node1", "--container-image", self.image, "cat", "inside")
        layer = max(self.registry.layers(), key=lambda digest: len(read(self.registry.blobs, digest)))
        found = subprocess.run(["find", self.cluster.state, "-name", layer], check=True, text=True,
                               stdout=subprocess.PIPE).stdout.split()
        self.assertEqual(len(found), 1, "the layout is not kept")
        with open(found[0], "r+b") as file:
            file.write(b"other")
        said = self.cluster.must("run", "-w", "node2", "--container-image", self.image, "cat", "inside")
        self.assertEqual(said, "inside")
        self.assertEqual(self.registry.layers()[layer], 2, "node2 has it from elsewhere")

    def test_what_waiting_jobs_will_want_is_fetched_once(self):
        holder = self.cluster.submit("-N", NODES, "--exclusive", "-t", "10", "--wrap", "sleep 1000")
        wait_until(lambda: "RUNNING" in self.cluster.must("show", holder), "the first job does not run")
        self.addCleanup(self.cluster.muster, "cancel", holder)
        job = self.cluster.submit("-N", NODES, "--exclusive", "-t", "5", "--container-image", self.image, "--wrap",
                                  "cat inside")
        wait_until(lambda: len(self.kept_on()) == NODES, lambda: f"it is on {self.kept_on()} alone")
        self.assert_fetched_once()
        self.cluster.must("cancel", holder)
        (end,) = self.cluster.wait_ended(job)
        self.assertEqual(end["state"], "COMPLETED")
        self.assert_fetched_once()


class AloneTest(SharedImages):
    @classmethod
    def make(cls):
        cluster = Cluster()
        cls.home = cluster.environment["HOME"] = os.path.join(cluster.root, "home")
        return cluster.start()

    def test_where_no_other_node_can_want_it_no_second_copy_is_kept(self):
        self.cluster.must("run", "--container-image", self.image, "cat", "inside")
        self.assert_fetched_once()
        layouts = subprocess.run(["find", self.cluster.state, "-path", "*/layout/index.json"], check=True,
                                 stdout=subprocess.PIPE).stdout.split()
        self.assertEqual(layouts, [])


class OfUsersTest(SharedImages):
    """Agents of root's on two nodes, and jobs of an ordinary user."""

    @classmethod
    def make(cls):
        reason = why_not()
        if reason:
            raise unittest.SkipTest("SKIPPED: " + reason)
        cls.home = os.path.join(cls.place, "home")
        return SecuredCluster(nodes=2).start()

    def test_it_goes_from_process_to_process_of_the_user(self):
        done = self.cluster.as_user("alice", "run", "-N", 2, "--container-image", self.image, "id", "-u",
                                    environment={"HOME": self.home})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split(), [str(USERS["alice"])] * 2)
        self.assert_fetched_once()
        for node in ("node1", "node2"):
            images = os.path.join(self.cluster.state, "agents", node, "images", str(USERS["alice"]), "images")
            (image,) = [name for name in os.listdir(images) if not name.startswith(".")]
            self.assertEqual(os.stat(os.path.join(images, image, "layout")).st_uid, USERS["alice"])


if __name__ == "__main__":
    unittest.main()
