"""Jobs in containers of images that the test makes itself: what they see, what they cannot do, and what is refused.

Skipped, with the reason, where a node has no feature `containers`, or the programs that make images are missing.
"""

import hashlib
import io
import json
import os
import shutil
import socket
import subprocess
import tarfile
import tempfile
import unittest
import urllib.request

from cluster import BIN, Cluster, ClusterTest, processes_with, program, wait_until
from registries import StallingRegistry, allow_registries
from secured import USERS, SecuredCluster, free_port, why_not

TOOLS = ("crun", "umoci", "skopeo", "mksquashfs")
PROGRAMS = ("sh", "id", "cat", "ls", "rm", "pwd", "echo", "touch", "sleep", "mount", "chown", "test", "tr", "true")


def why_no_images():
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        return f"NO {' '.join(missing)} (apt-get install crun umoci skopeo squashfs-tools)"
    return None if os.path.exists("/bin/busybox") else "NO /bin/busybox (apt-get install busybox-static)"


def make_images(place):
    """An OCI layout, a squashfs file and a docker archive of one image."""
    def run(*words):
        subprocess.run(words, cwd=place, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    run("umoci", "init", "--layout", "oci")
    run("umoci", "new", "--image", "oci:v1")
    run("umoci", "unpack", "--rootless", "--image", "oci:v1", "made")
    root = os.path.join(place, "made", "rootfs")
    for directory in ("bin", "etc", "srv", "root", "usr"):
        os.mkdir(os.path.join(root, directory))
    shutil.copy("/bin/busybox", os.path.join(root, "bin"))
    os.symlink("../bin", os.path.join(root, "usr", "bin"))
    os.chmod(os.path.join(root, "bin", "busybox"), 0o4755)
    for name in PROGRAMS:
        os.symlink("busybox", os.path.join(root, "bin", name))
    with open(os.path.join(root, "etc", "passwd"), "w", encoding="utf-8") as file:
        file.write("root:x:0:0:root:/root:/bin/sh\n")
    with open(os.path.join(root, "srv", "inside"), "w", encoding="utf-8") as file:
        file.write("inside\n")
    # Out of the tree, by a link to a directory and one to a file.
    os.symlink("/etc", os.path.join(root, "srv", "etc"))
    os.symlink("../../../../../../etc/shadow", os.path.join(root, "etc", "group"))
    run("umoci", "repack", "--image", "oci:v1", "made")
    run("umoci", "config", "--image", "oci:v1", "--config.env", "PATH=/bin", "--config.env", "OF_IMAGE=yes",
        "--config.env", "RANK=99", "--config.workingdir", "/srv", "--config.entrypoint", "/bin/echo",
        "--config.entrypoint", "entered")
    run("mksquashfs", root, "image.sqsh", "-quiet", "-no-progress", "-all-root", "-p", "dev d 755 0 0",
        "-p", "dev/evil c 666 0 0 1 1")
    run("skopeo", "--insecure-policy", "copy", "oci:oci:v1", "docker-archive:image.tar")
    run("umoci", "tag", "--image", "oci:v1", "v2")
    run("umoci", "config", "--image", "oci:v2", "--architecture", "sparc")
    shutil.rmtree(os.path.join(place, "made"))
    subprocess.run(["chmod", "-R", "a+rX", place], check=True)
    with open(os.path.join(place, "oci", "index.json"), encoding="utf-8") as file:
        return next(entry["digest"] for entry in json.load(file)["manifests"]
                    if entry["annotations"]["org.opencontainers.image.ref.name"] == "v1")


class Images(ClusterTest):
    """Images in a directory of their own that every user may read."""

    @classmethod
    def setUpClass(cls):
        reason = why_no_images()
        if reason:
            raise unittest.SkipTest("SKIPPED: " + reason)
        cls.place = tempfile.mkdtemp(prefix="mit-images-", dir="/tmp")
        cls.digest = make_images(cls.place)
        cls.addClassCleanup(shutil.rmtree, cls.place, ignore_errors=True)
        super().setUpClass()
        nodes = json.loads(cls.cluster.must("nodes", "--json"))["nodes"]
        if any("containers" not in node["features"] for node in nodes):
            said = [line for line in cls.cluster.logs().splitlines() if "no containers" in line]
            cls.cluster.close(check=False)
            raise unittest.SkipTest("SKIPPED: " + (said[-1] if said else "no node has the feature containers"))

    @property
    def oci(self):
        return f"oci:{self.place}/oci:v1"


class ContainerTest(Images):
    """One node, as this machine is, and one user, whose images may have 200 MB."""

    @classmethod
    def make(cls):
        cluster = Cluster()
        path = os.path.join(cluster.root, "agent.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write('[containers]\ncache_size = "200M"\nfetch_patience = "2s"\n')
        cluster.agents[0].arguments += ["--config", path]
        return cluster.start()

    def inside(self, script, *options, image=None, ranks=1):
        return self.cluster.must("run", "-n", ranks, "--container-image", image or self.oci, *options,
                                 "sh", "-c", script)

    def refused(self, pattern, *options, code=126):
        done = self.cluster.muster("run", *options, "true")
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertRegex(done.stderr, pattern)
        self.assert_one_line(done.stderr)

    def test_each_kind_of_image_has_its_files_and_its_environment(self):
        for image in (self.oci, f"docker-archive:{self.place}/image.tar"):
            said = self.inside("pwd; cat inside; echo $OF_IMAGE $RANK $PWD; ls /", image=image).split("\n")
            self.assertEqual(said[:3], ["/srv", "inside", "yes 0 /srv"])
            self.assertNotIn("home", said)
        said = self.inside("cat /srv/inside; pwd; test -c /dev/evil || echo no device",
                           image=f"{self.place}/image.sqsh")
        self.assertEqual(said.split("\n"), ["inside", "/", "no device"])

    def test_the_digest_that_ran_is_shown(self):
        job = self.cluster.submit("--container-image", self.oci, "--wrap", "cat /srv/inside")
        self.cluster.wait_ended(job)
        self.assertEqual(self.read(f"muster-{job}.out"), "inside\n")
        (shown,) = json.loads(self.cluster.must("show", job, "--json"))["jobs"]
        self.assertEqual(shown["container"]["image"], self.oci)
        self.assertEqual(shown["container"]["digest"], self.digest)
        self.assertIn(self.digest, self.cluster.must("show", job))

    def test_ranks_are_bound_and_share_memory_and_files(self):
        script = ("echo $RANK >/dev/shm/$NAME.$RANK; while ! test -e /dev/shm/$NAME.$((1-RANK)); do sleep 0.02; done; "
                  "echo $RANK >/made.$RANK; sleep 0.3; cat /made.0 /made.1")
        name = os.path.basename(self.place)
        try:
            said = self.inside(f"NAME={name}; {script}", "--container-writable", "--label", ranks=2)
        finally:
            for rank in (0, 1):
                if os.path.exists(f"/dev/shm/{name}.{rank}"):
                    os.remove(f"/dev/shm/{name}.{rank}")
        self.assertEqual(sorted(said.split("\n")), ["0: 0", "0: 1", "1: 0", "1: 1"])
        job = self.cluster.newest()
        (shown,) = json.loads(self.cluster.must("show", job, "--json"))["jobs"]
        verdicts = {rank["verdict"] for attempt in shown["attempts"] for rank in attempt["ranks"]}
        self.assertEqual(verdicts, {"verified"})

    def test_what_is_mounted_is_seen_and_what_is_not_cannot_be_changed(self):
        data = os.path.join(self.place, "data")
        os.makedirs(data, exist_ok=True)
        with open(os.path.join(data, "file"), "w", encoding="utf-8") as file:
            file.write("data\n")
        mounts = f"{data}:/data:ro,{data}:/rw"
        said = self.inside("cat /data/file; touch /data/no 2>/dev/null || echo ro; touch /rw/yes && echo rw; "
                           "touch /srv/no 2>/dev/null || echo image ro", "--container-mounts", mounts)
        self.assertEqual(said.split("\n"), ["data", "ro", "rw", "image ro"])
        self.assertEqual(self.inside("pwd", "--container-workdir", "/bin"), "/bin")
        self.assertEqual(self.inside("echo $OF_IMAGE", "--container-entrypoint"), "entered sh -c echo $OF_IMAGE")

    def test_a_named_container_keeps_its_changes(self):
        self.inside("echo kept >/srv/mine", "--container-name", "dev")
        self.assertEqual(self.inside("cat /srv/mine", "--container-name", "dev"), "kept")
        self.assertEqual(self.inside("ls /srv"), "etc\ninside")
        self.refused(r"--container-name: .* made from another image", "--container-name", "dev", "--container-image",
                     f"{self.place}/image.sqsh")

    def test_a_name_in_use_is_refused_at_submission_unless_the_job_waits_for_it(self):
        run = self.cluster.begin("run", "-n", 1, "--container-image", self.oci, "--container-name", "taken",
                                 "sh", "-c", "echo begun; read line", stdin=subprocess.PIPE)
        try:
            self.assertEqual(run.stdout.readline(), "begun\n")
            taken = r"--container-name: the container taken is in use on node1: use another name, or --dependency"
            words = ("--container-image", self.oci, "--container-name", "taken")
            self.refused(taken, *words, code=1)
            for command in (("submit", *words, "--wrap", "true"), ("alloc", *words, "true")):
                done = self.cluster.muster(*command)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertRegex(done.stderr, taken)
                self.assert_one_line(done.stderr)
            (job,) = {each["id"] for each in json.loads(self.cluster.must("queue", "--json"))["jobs"]}
            later = self.cluster.submit(*words, "--dependency", f"afterany:{job}", "--wrap", "cat /srv/inside")
        finally:
            run.communicate("end\n")
        (end,) = self.cluster.wait_ended(later)
        self.assertEqual(end["state"], "COMPLETED")

    def test_an_image_for_no_node_is_refused_by_every_way_to_submit(self):
        image = f"oci:{self.place}/oci:v2"
        for command in (("submit", "--container-image", image, "--wrap", "true"),
                        ("alloc", "--container-image", image, "true")):
            done = self.cluster.muster(*command)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("is for sparc", done.stderr)
            self.assert_one_line(done.stderr)
        links = os.path.join(self.cluster.root, "slurm")
        self.cluster.must("slurm", "install", links)
        for name, words in (("sbatch", ("--wrap", "true")), ("srun", ("true",)), ("salloc", ("--no-shell",))):
            done = subprocess.run([os.path.join(links, name), "--container-image", image, *words], text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                                  env={**self.cluster.environment, "MUSTER_CONTROLLER": self.cluster.address},
                                  cwd=self.cluster.work)
            self.assertNotEqual(done.returncode, 0, name)
            self.assertIn("is for sparc", done.stderr, name)

    def test_steps_run_in_their_jobs_container(self):
        done = self.cluster.must("alloc", "-n", 1, "--container-image", self.oci,
                                 program("muster"), "run", "cat", "inside")
        self.assertEqual(done, "inside")

    def test_what_a_container_has_become_is_saved_and_can_be_used(self):
        saved = os.path.join(self.cluster.root, "saved.sqsh")
        self.inside("echo more >/srv/more; rm /srv/inside", "--container-save", saved)
        self.assertEqual(os.stat(saved).st_uid, os.geteuid())
        self.assertEqual(self.inside("cat /srv/more; ls /srv; echo $OF_IMAGE", image=saved),
                         "more\netc\nmore\nyes")
        self.assertEqual([name for name in os.listdir(self.cluster.root) if name.endswith(".part")], [])
        self.refused(r"--container-save: .*saved.sqsh exists: name another", "--container-image", self.oci,
                     "--container-save", saved, code=1)

    def test_a_job_whose_container_cannot_be_saved_has_failed(self):
        saved = os.path.join(self.cluster.root, "taken.sqsh")
        job = self.cluster.submit("--container-image", self.oci, "--container-save", saved, "--container-mounts",
                                  f"{self.cluster.root}:/out", "--wrap", "echo first >/out/taken.sqsh")
        (end,) = self.cluster.wait_ended(job)
        self.assertEqual(end["state"], "FAILED")
        self.assertRegex(self.cluster.must("show", job), r"--container-save: .*taken\.sqsh exists")
        with open(saved, encoding="utf-8") as file:
            self.assertEqual(file.read(), "first\n")

    def test_a_registry_that_stalls_is_given_up_and_its_job_waits_without_its_nodes(self):
        silent = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(silent.close)
        image = f"127.0.0.1:{silent.getsockname()[1]}/team/app:v1"
        self.refused(r"image 127.0.0.1:.*: its registry has sent nothing for 2 s \(\[containers\] fetch_patience\)",
                     "--container-image", image)
        job = self.cluster.submit("--container-image", image, "--wrap", "true")
        wait_until(lambda: "there was no image " + image in self.cluster.must("explain", job),
                   "the job does not wait for its image")
        (shown,) = json.loads(self.cluster.must("show", job, "--json"))["jobs"]
        self.assertEqual(shown["state"], "PENDING")
        self.assertIn("there was no image", self.cluster.must("queue"))
        self.assertEqual(self.inside("cat inside"), "inside")
        self.cluster.must("cancel", job)

    def test_a_step_saves_its_own_container_before_its_job_ends(self):
        saved = os.path.join(self.cluster.root, "step.sqsh")
        self.cluster.must("alloc", "-n", 1, program("muster"), "run", "--container-image", self.oci,
                          "--container-save", saved, "sh", "-c", "echo step >/srv/mine")
        wait_until(lambda: os.path.exists(saved), "the step's container is not saved")
        self.assertEqual(self.inside("cat /srv/mine", image=saved), "step")

    def test_no_process_but_the_ranks_stays_with_a_container(self):
        run = self.cluster.begin("run", "-n", 1, "--container-image", self.oci,
                                 "sh", "-c", "echo begun; exec sleep 1000")
        try:
            self.assertEqual(run.stdout.readline(), "begun\n")
            wait_until(lambda: not processes_with(os.path.join(self.cluster.state, "agents/node1/images"), False),
                       "the runtime's process stays")
        finally:
            run.terminate()
            run.communicate()

    def images(self):
        return json.loads(self.cluster.must("images", "list", "--json"))["images"]

    def test_images_are_pulled_listed_and_pruned(self):
        self.cluster.muster("images", "prune", "--all")
        self.assertNotIn(self.oci, [image["name"] for image in self.images()])
        said = self.cluster.must("images", "pull", self.oci)
        self.assertRegex(said, r"oci:\S+ +[0-9a-f]{12} +[0-9.]+ [KM]iB +\S+ ago +node1")
        (image,) = [each for each in self.images() if each["name"] == self.oci]
        self.assertEqual((image["node"], image["digest"], image["in_use"]), ("node1", self.digest, False))
        self.assertGreater(image["size"], 100000)
        self.assertIn("oci", self.cluster.must("images", "list"))
        self.assertIn("node1", self.cluster.must("alloc", "-n", 1, program("muster"), "images", "pull", self.oci))
        run = self.cluster.begin("run", "-n", 1, "--container-image", self.oci, "sh", "-c", "echo begun; read line",
                                 stdin=subprocess.PIPE)
        try:
            self.assertEqual(run.stdout.readline(), "begun\n")
            done = self.cluster.must("images", "prune", self.digest[7:19])
            self.assertEqual(done, f"{self.oci}: in use on node1, stays")
        finally:
            run.communicate("end\n")
        self.assertRegex(self.cluster.must("images", "prune", self.oci),
                         r"^oci:\S+: removed from node1 \([0-9.]+ \w+\)$")
        self.assertEqual([each for each in self.images() if each["name"] == self.oci], [])
        again = self.cluster.muster("images", "prune", self.oci)
        self.assertEqual(again.returncode, 1)
        self.assertIn("nothing of yours is called so", again.stderr)
        self.assertEqual(self.inside("cat inside"), "inside")

    def test_a_named_container_is_listed_and_pruned_by_its_name_alone(self):
        self.inside("echo kept >/srv/mine", "--container-name", "gone")
        self.cluster.muster("images", "prune", "--all")
        (shown,) = [each for each in self.images() if each["container"] == "gone"]
        self.assertEqual((shown["digest"], shown["size"]), (self.digest, 5))
        self.cluster.must("images", "prune", "--container-name", "gone")
        self.assertEqual(self.inside("ls /srv", "--container-name", "gone"), "etc\ninside")

    def test_a_pull_needs_no_program_of_the_image(self):
        image = os.path.join(self.place, "empty.sqsh")
        os.mkdir(os.path.join(self.place, "nothing"))
        subprocess.run(["mksquashfs", os.path.join(self.place, "nothing"), image, "-quiet", "-no-progress"],
                       check=True, stdout=subprocess.DEVNULL)
        self.assertIn(image, self.cluster.must("images", "pull", "empty.sqsh", cwd=self.place))
        self.assertEqual([each["container"] for each in self.images() if each["name"] == image], [""])

    def test_words_that_mean_nothing_are_refused_in_one_line(self):
        for words, code, pattern in ((("pull", "UPPER"), 2, "is no image"), (("prune",), 2, "say what goes"),
                                     (("drop",), 2, "expected list, pull or prune"),
                                     (("list", "-w", "nowhere"), 1, "node nowhere: no such node")):
            done = self.cluster.muster("images", *words)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(pattern, done.stderr)
            self.assert_one_line(done.stderr)

    def test_what_cannot_be_is_refused_in_one_line(self):
        self.refused(r"--container-image: \"a b\" is no image", "--container-image", "a b", code=2)
        self.refused(r"image oci:/none: .*No such file", "--container-image", "oci:/none")
        self.refused(r"holds no image \"v9\"", "--container-image", f"oci:{self.place}/oci:v9")
        self.refused(r"image oci:\S+: is for sparc, and the nodes that run containers are \w+: name an image for these",
                     "--container-image", f"oci:{self.place}/oci:v2", code=1)
        self.refused(r"--container-mounts: cannot read /no/such", "--container-image", self.oci, "--container-mounts",
                     "/no/such:/data")
        self.refused(r"--container-workdir: cannot enter /nowhere in the container", "--container-image", self.oci,
                     "--container-workdir", "/nowhere")
        self.refused(r"--container-image: the other --container options", "--container-writable", code=2)

    def add_layer(self, tag, members):
        """The image with a layer more: (name, type, link, mode, content) of each member."""
        layer = os.path.join(self.place, tag + ".tar")
        with tarfile.open(layer, "w") as archive:
            for name, kind, link, mode, content in members:
                entry = tarfile.TarInfo(name)
                entry.type, entry.linkname, entry.mode, entry.size = kind, link, mode, len(content)
                entry.devmajor, entry.devminor = 1, 3
                archive.addfile(entry, io.BytesIO(content))
        for words in (("tag", "--image", "oci:v1", tag), ("raw", "add-layer", "--image", "oci:" + tag, layer)):
            subprocess.run(["umoci", *words], cwd=self.place, check=True, stdout=subprocess.DEVNULL)
        return f"oci:{self.place}/oci:{tag}"

    def test_a_hostile_layer_changes_nothing_outside_and_gives_no_right(self):
        outside = os.path.join(self.place, "outside")
        os.mkdir(outside)
        image = self.add_layer("hostile", [
            ("out", tarfile.SYMTYPE, outside, 0o777, b""), ("out/by-link", tarfile.REGTYPE, "", 0o644, b"x"),
            ("../" * 12 + outside[1:] + "/by-dots", tarfile.REGTYPE, "", 0o644, b"x"),
            (outside + "/by-path", tarfile.REGTYPE, "", 0o644, b"x"), ("null", tarfile.CHRTYPE, "", 0o666, b""),
            ("setuid", tarfile.REGTYPE, "", 0o4755, b"#!/bin/sh\n")])
        self.assertEqual(self.inside("test -c /null || echo no device", image=image), "no device")
        self.assertEqual(os.listdir(outside), [])
        self.assertRegex(self.inside("while read d p k o r; do test $p = / && echo $o; done </proc/self/mounts; true",
                                     image=image), r"^ro,nosuid,nodev,")

    def test_an_image_that_unpacks_to_too_much_is_refused_while_it_does(self):
        image = self.add_layer("bomb", [("zero", tarfile.REGTYPE, "", 0o644, bytes(300 << 20))])
        self.refused(r"the image unpacks to more than ", "--container-image", image)
        self.assertEqual([name for name in os.listdir(os.path.join(self.cluster.state, "agents/node1/images/",
                                                                   str(os.geteuid()), "images"))
                          if name.startswith(".")], [])

    def test_a_layer_that_is_not_what_its_digest_says_is_refused(self):
        broken = os.path.join(self.place, "broken")
        shutil.copytree(os.path.join(self.place, "oci"), broken)
        blobs = os.path.join(broken, "blobs", "sha256")
        layer = max(os.listdir(blobs), key=lambda name: os.path.getsize(os.path.join(blobs, name)))
        with open(os.path.join(blobs, layer), "r+b") as file:
            file.seek(os.path.getsize(file.name) // 2)
            file.write(b"other bytes")
        with open(os.path.join(broken, "index.json"), "r+", encoding="utf-8") as file:  # another image, by its digest
            index = json.load(file)
            entry = next(e for e in index["manifests"] if e["annotations"]["org.opencontainers.image.ref.name"] == "v1")
            path = os.path.join(blobs, entry["digest"].split(":")[1])
            with open(path, "rb") as manifest:
                text = manifest.read() + b"\n"
            digest = hashlib.sha256(text).hexdigest()
            with open(os.path.join(blobs, digest), "wb") as manifest:
                manifest.write(text)
            entry["digest"], entry["size"] = "sha256:" + digest, len(text)
            file.seek(0)
            file.truncate()
            json.dump(index, file)
        self.refused(r"umoci: ", "--container-image", f"oci:{broken}:v1")


class SeveralNodesTest(Images):
    """Two nodes; images of a registry, and MPI from the node's own programs."""

    @classmethod
    def make(cls):
        cluster = Cluster(nodes=2, topology="pack:1 core:4 pu:1")
        cls.port = free_port()
        home = os.path.join(cluster.root, "home")
        allow_registries(home, f"127.0.0.1:{cls.port}")
        cluster.environment["HOME"] = home
        config = os.path.join(cluster.root, "agent.toml")
        with open(config, "w", encoding="utf-8") as file:
            file.write('[containers]\nfetch_patience = "3s"\n')
        for agent in cluster.agents:
            agent.arguments += ["--config", config]
        return cluster.start()

    def serve(self):
        """A registry on loopback that has the image; its name there."""
        if shutil.which("docker-registry") is None:
            self.skipTest("SKIPPED: NO docker-registry (apt-get install docker-registry)")
        settings = os.path.join(self.place, "registry.yml")
        with open(settings, "w", encoding="utf-8") as file:
            file.write(f"version: 0.1\nlog: {{level: error}}\nhttp: {{addr: '127.0.0.1:{self.port}'}}\n"
                       f"storage: {{filesystem: {{rootdirectory: '{self.place}/registry'}}}}\n")
        registry = subprocess.Popen(["docker-registry", "serve", settings], stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL)
        self.addCleanup(registry.wait)
        self.addCleanup(registry.kill)

        def answers():
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/v2/", timeout=5) as answer:
                    return answer.status == 200
            except OSError:
                return False
        wait_until(answers, "the registry does not answer")
        name = f"127.0.0.1:{self.port}/team/app"
        subprocess.run(["skopeo", "--insecure-policy", "copy", "--dest-tls-verify=false", f"oci:{self.place}/oci:v1",
                        f"docker://{name}:v1"], check=True, stdout=subprocess.DEVNULL)
        return name

    def test_an_image_of_a_registry_is_fetched_once_a_node_and_pinned_by_its_digest(self):
        name = self.serve()
        for image in (f"{name}:v1", f"docker://{name}:v1", name.replace("/", "#", 1) + "@" + self.digest):
            said = self.cluster.must("run", "-N", 2, "--container-image", image,
                                     "sh", "-c", "cat inside; echo $OF_IMAGE")
            self.assertEqual(sorted(said.split("\n")), ["inside", "inside", "yes", "yes"])
        (shown,) = json.loads(self.cluster.must("show", self.cluster.newest(), "--json"))["jobs"]
        self.assertEqual(shown["container"]["digest"], self.digest)
        self.assertEqual(shown["container"]["image"].split("@")[1], self.digest)
        job = self.cluster.submit("--hold", "--container-image", f"{name}:v1", "--wrap", "true")
        (waits,) = json.loads(self.cluster.must("show", job, "--json"))["jobs"]
        self.assertEqual(waits["container"]["digest"], self.digest)
        self.cluster.must("cancel", job)
        for image, code in ((f"{name}:v9", 1), (f"{name}@sha256:{'0' * 64}", 126)):
            done = self.cluster.muster("run", "--container-image", image, "true")
            self.assertEqual(done.returncode, code)
            self.assertIn(f"image {image}: ", done.stderr)
            self.assertIn("manifest unknown", done.stderr)
            self.assert_one_line(done.stderr)

    def test_a_registry_that_stalls_within_a_layer_is_given_up(self):
        server = StallingRegistry(("127.0.0.1", self.port), os.path.join(self.place, "oci", "blobs", "sha256"),
                                  self.digest)
        self.addCleanup(server.end)
        image = f"127.0.0.1:{self.port}/team/stalls:v1"
        done = self.cluster.muster("run", "--container-image", image, "true")
        self.assertEqual(done.returncode, 126, done.stderr)
        self.assertIn(f"image {image}@{self.digest}: its registry has sent nothing for 3 s", done.stderr)
        self.assert_one_line(done.stderr)
        self.assertTrue(server.asked_for_layer.is_set())

    def test_a_pull_on_two_nodes_is_one_line_and_a_silent_node_is_told(self):
        self.assertRegex(self.cluster.must("images", "pull", "-N", 2, self.oci), r"\bnode\[1-2\]$")
        self.cluster.agents[1].kill()
        wait_until(lambda: self.cluster.muster("images", "list").returncode == 1, "the killed agent still answers")
        done = self.cluster.muster("images", "list", "--json")
        listed = json.loads(done.stdout)
        self.assertEqual({image["node"] for image in listed["images"]}, {"node1"})
        self.assertRegex(listed["silent"][0], r"^node node2: its agent is not connected")
        done = self.cluster.muster("images", "list", "-w", "node1")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.cluster.agents[1].start()
        wait_until(lambda: self.cluster.muster("images", "list").returncode == 0, "the agent does not come back")
        self.cluster.must("images", "prune", "--all")
        self.assertEqual(json.loads(self.cluster.must("images", "list", "--json"))["images"], [])

    def test_mpi_over_two_nodes_in_containers(self):
        ring = os.path.join(BIN, "..", "tests", "mpi_ring")
        if not os.path.exists(ring):
            self.skipTest("SKIPPED: NO mpi_ring beside the programs: build the tests")
        of_node = [path for path in ("/usr", "/lib", "/lib64", "/etc/alternatives", "/etc/openmpi")
                   if os.path.exists(path)]
        mounts = ",".join([f"{path}:{path}:ro" for path in of_node] + [f"{os.path.dirname(ring)}:/mnt:ro"])
        said = self.cluster.must("run", "-N", 2, "-n", 4, "--container-image", self.oci, "--container-mounts", mounts,
                                 "/mnt/mpi_ring")
        self.assertEqual(sorted(line.split(" local")[0] for line in said.split("\n")),
                         [f"rank {rank} size 4 sum 6 ring 4" for rank in range(4)])


class SeveralUsersTest(Images):
    """Agents of root's, and jobs of ordinary users."""

    @classmethod
    def make(cls):
        reason = why_not()
        if reason:
            raise unittest.SkipTest("SKIPPED: " + reason)
        return SecuredCluster(nodes=1).start()

    def inside(self, script, *options, user="alice"):
        done = self.cluster.as_user(user, "run", "--container-image", self.oci, *options, "sh", "-c", script)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.rstrip("\n").split("\n")

    def test_a_user_is_the_user_inside_and_root_only_in_name(self):
        uid = USERS["alice"]
        self.assertEqual(self.inside("id -u; id -un; cat /proc/self/uid_map | tr -s ' '"),
                         [str(uid), "alice", f" {uid} 0 1"])
        own = self.cluster.place_of("alice")
        said = self.inside("id -u; touch /home/made; cat /proc/1/root/etc/shadow 2>/dev/null || echo no shadow; "
                           "chown 1:1 /home/made 2>/dev/null || echo no chown; "
                           "mount -t tmpfs none /srv && echo own mount",
                           "--container-remap-root", "--container-mounts", f"{own}:/home")
        self.assertEqual(said, ["0", "no shadow", "no chown", "own mount"])
        made = os.stat(os.path.join(own, "made"))
        self.assertEqual((made.st_uid, made.st_gid), (uid, uid))

    def test_a_users_images_are_listed_and_pruned_by_that_user_alone(self):
        self.inside("true")
        self.inside("true", user="mallory")

        def images(user):
            done = self.cluster.as_user(user, "images", "list", "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            return [image["digest"] for image in json.loads(done.stdout)["images"]]
        self.assertEqual((images("alice"), images("mallory")), ([self.digest], [self.digest]))
        done = self.cluster.as_user("mallory", "images", "prune", "--all")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((images("alice"), images("mallory")), ([self.digest], []))

    def test_others_images_and_files_are_not_seen(self):
        other = self.cluster.place_of("mallory")
        done = self.cluster.as_user("alice", "run", "--container-image", self.oci,
                                    "--container-mounts", f"{other}:/other", "true")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"--container-mounts: cannot read {other}", done.stderr)
        self.inside("true", user="mallory")
        for root, directories, _ in os.walk(os.path.join(self.cluster.state, "agents", "node1", "images")):
            for name in directories:
                status = os.stat(os.path.join(root, name))
                self.assertEqual(status.st_mode & 0o077, 0, name)
                self.assertIn(status.st_uid, USERS.values())
            break


if __name__ == "__main__":
    unittest.main()
