"""A gateway before a controller of the test's own, and how to ask it."""

import contextlib
import http.client
import json
import socket
import unittest

import cluster
from cluster import Cluster


class Door(unittest.TestCase):
    settings = ""  # the controller's
    topology = cluster.WIDE

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(topology=cls.topology)
        cls.addClassCleanup(cls.cluster.close)
        if cls.settings:
            cls.cluster.configure(cls.settings)
        door = f"unix:{cls.cluster.state}/gateway.sock"
        cls.cluster.controller.arguments += ["--gateway-socket", door]
        cls.cluster.start()
        cls.gateway = cls.cluster._daemon("muster-gateway", ["--controller", door], "muster-gateway")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            cls.port = free.getsockname()[1]
        cls.gateway.arguments += ["--listen", f"127.0.0.1:{cls.port}"]
        cls.gateway.start()
        cls.addClassCleanup(cls.gateway.stop)
        cls.token = cls.make_token()
        cls.reader = cls.make_token("--read-only")

    @classmethod
    def make_token(cls, *options):
        made = cls.cluster.muster("token", *options)
        assert made.returncode == 0, made.stderr
        return made.stdout.strip()

    def ask(self, method, path, token=None, body=None, headers=None):
        """Status, headers and body of the answer, read as JSON where it is."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=cluster.PATIENCE)
        with contextlib.closing(connection):
            said = dict(headers or {})
            if token is not None:
                said["Authorization"] = "Bearer " + token
            if body is not None:
                said.setdefault("Content-Type", "application/json")
            connection.request(method, path, body if body is None or isinstance(body, bytes)
                               else json.dumps(body), said)
            answer = connection.getresponse()
            text = answer.read()
            if "json" in answer.headers.get("Content-Type", ""):
                text = json.loads(text)
            return answer.status, answer.headers, text

    def get(self, path, token=None):
        status, _, body = self.ask("GET", path, token or self.token)
        self.assertEqual(status, 200, body)
        return body

    def raw(self, data, patience=30):
        """What comes back for these bytes, until the end of the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=patience) as caller:
            with contextlib.suppress(OSError):
                caller.sendall(data)
            answer = b""
            with contextlib.suppress(OSError):
                while piece := caller.recv(65536):
                    answer += piece
            return answer

    def submit(self, *options):
        made = self.cluster.muster("submit", "--parsable", *options)
        self.assertEqual(made.returncode, 0, made.stderr)
        return made.stdout.strip()
