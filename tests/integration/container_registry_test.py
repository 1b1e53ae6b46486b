"""Registries that ask who one is, that are reached through a proxy, or that lie."""

import base64
import crypt
import http.client
import http.server
import json
import os
import shutil
import subprocess
import unittest
import urllib.error
import urllib.request

from cluster import Cluster, wait_until
from containers_test import Images
from registries import Serving, StalledAnswer, StallingRegistry, allow_registries
from secured import free_port

NAME, SECRET = "team-reader", "correct-horse-battery"


class LyingAnswer(StalledAnswer):
    """Of each layer as many bytes as it has, and others."""

    def do_GET(self):  # noqa: N802
        name = self.path.rpartition("/")[2]
        if "/blobs/" not in self.path or name == self.server.config:
            super().do_GET()
            return
        size = os.path.getsize(os.path.join(self.server.blobs, name.split(":")[1]))
        self.send_response(200)
        self.send_header("Content-Length", str(size))
        self.end_headers()
        self.wfile.write(bytes(size))


class Proxy(Serving):
    """Takes what is for any machine to the registry here, and keeps what was asked for."""

    def __init__(self, port):
        super().__init__(("127.0.0.1", 0), ProxiedRequest)
        self.to, self.asked = port, []
        self.begin()


class ProxiedRequest(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_HEAD(self):  # noqa: N802
        self.do_GET()

    def do_GET(self):  # noqa: N802
        self.server.asked.append(self.path)
        there = http.client.HTTPConnection("127.0.0.1", self.server.to, timeout=60)
        there.putrequest(self.command, "/" + self.path.split("/", 3)[3], skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            there.putheader(name, value)
        there.endheaders()
        answer = there.getresponse()
        body = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "connection"):
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        there.close()


class RegistryTest(Images):
    """A registry here that lets in one user alone, by a name and a password."""

    @classmethod
    def make(cls):
        if shutil.which("docker-registry") is None:
            raise unittest.SkipTest("SKIPPED: NO docker-registry (apt-get install docker-registry)")
        cluster = Cluster()
        cls.port, cls.lying = free_port(), free_port()
        home = os.path.join(cluster.root, "home")
        allow_registries(home, f"127.0.0.1:{cls.port}", f"127.0.0.1:{cls.lying}", "registry.invalid")
        cluster.environment["HOME"] = home
        cls.auth = os.path.join(home, "auth.json")
        cls.key = base64.b64encode(f"{NAME}:{SECRET}".encode()).decode()
        with open(cls.auth, "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), 0o600)
            json.dump({"auths": {place: {"auth": cls.key} for place in (f"127.0.0.1:{cls.port}", "registry.invalid")}}, file)
        cls.serve()
        return cluster.start()

    @classmethod
    def serve(cls):
        users = os.path.join(cls.place, "users")
        with open(users, "w", encoding="utf-8") as file:
            file.write(f"{NAME}:{crypt.crypt(SECRET, crypt.mksalt(crypt.METHOD_BLOWFISH))}\n")
        settings = os.path.join(cls.place, "private.yml")
        with open(settings, "w", encoding="utf-8") as file:
            file.write(f"version: 0.1\nlog: {{level: error}}\nhttp: {{addr: '127.0.0.1:{cls.port}'}}\n"
                       f"storage: {{filesystem: {{rootdirectory: '{cls.place}/private'}}}}\n"
                       f"auth: {{htpasswd: {{realm: tests, path: '{users}'}}}}\n")
        registry = subprocess.Popen(  # pylint: disable=consider-using-with
            ["docker-registry", "serve", settings], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        cls.addClassCleanup(registry.wait)
        cls.addClassCleanup(registry.kill)

        def answers():
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{cls.port}/v2/", timeout=5):
                    return True
            except urllib.error.HTTPError as error:
                return error.code == 401
            except OSError:
                return False
        wait_until(answers, "the registry does not answer")
        subprocess.run(["skopeo", "--insecure-policy", "copy", "--dest-tls-verify=false", f"--dest-creds={NAME}:{SECRET}",
                        f"oci:{cls.place}/oci:v1", f"docker://127.0.0.1:{cls.port}/team/app:v1"], check=True,
                       stdout=subprocess.DEVNULL)

    def run_in(self, image, **variables):
        return self.cluster.muster("run", "-n", 1, "--container-image", image, "cat", "/srv/inside",
                                   environment=variables)

    def test_a_private_image_is_had_with_ones_own_credentials_which_go_no_further(self):
        image = f"127.0.0.1:{self.port}/team/app@{self.digest}"
        done = self.run_in(image)
        self.assertEqual(done.returncode, 126, done.stdout)
        self.assertRegex(done.stderr, r"(?i)unauthorized|authentication required")
        self.assert_one_line(done.stderr)
        done = self.run_in(image, REGISTRY_AUTH_FILE=self.auth)
        self.assertEqual((done.returncode, done.stdout), (0, "inside\n"), done.stderr)
        found = subprocess.run(["grep", "-rlaE", f"{SECRET}|{self.key}", self.cluster.state], text=True,
                               stdout=subprocess.PIPE, check=False).stdout
        self.assertEqual(found, "", "what opens the registry was kept")

    def test_a_registry_is_reached_through_the_proxy_of_the_users_environment(self):
        proxy = Proxy(self.port)
        self.addCleanup(proxy.end)
        image = "registry.invalid/team/app:v1"
        address = f"http://127.0.0.1:{proxy.server_address[1]}"
        done = self.run_in(image, REGISTRY_AUTH_FILE=self.auth, http_proxy=address, HTTP_PROXY=address)
        self.assertEqual((done.returncode, done.stdout), (0, "inside\n"), done.stderr)
        self.assertTrue(any(path.startswith("http://registry.invalid/v2/") for path in proxy.asked), proxy.asked)

    def test_other_bytes_than_the_digest_says_are_not_believed(self):
        server = StallingRegistry(("127.0.0.1", self.lying), os.path.join(self.place, "oci", "blobs", "sha256"),
                                  self.digest)
        server.RequestHandlerClass = LyingAnswer
        self.addCleanup(server.end)
        self.cluster.muster("images", "prune", "--all")
        done = self.run_in(f"127.0.0.1:{self.lying}/team/lies@{self.digest}")
        self.assertEqual(done.returncode, 126, done.stderr)
        self.assertRegex(done.stderr, r"(?i)digest|corrupt|gzip|invalid")
        self.assert_one_line(done.stderr)
        kept = json.loads(self.cluster.must("images", "list", "--json"))["images"]
        self.assertFalse([image for image in kept if "lies" in image["name"]])


if __name__ == "__main__":
    unittest.main()
