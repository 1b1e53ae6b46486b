"""Registries of images that a test makes itself, and who may speak to them."""

import http.server
import json
import os
import threading


def allow_registries(home, *addresses):
    """Has programs with that home speak plain HTTP to those registries, beside those that it allows already."""
    settings = os.path.join(home, ".config", "containers", "registries.conf")
    os.makedirs(os.path.dirname(settings), exist_ok=True)
    with open(settings, "a", encoding="utf-8") as file:
        for address in addresses:
            file.write(f'[[registry]]\nlocation = "{address}"\ninsecure = true\n')


class Serving(http.server.ThreadingHTTPServer):
    """Serves in a thread of its own from begin() to end()."""

    def begin(self):
        self.thread = threading.Thread(target=self.serve_forever)
        self.thread.start()

    def end(self):
        self.shutdown()
        self.thread.join()
        self.server_close()


class StallingRegistry(Serving):
    """Serves a manifest and its configuration, and of each layer one byte."""

    def __init__(self, address, blobs, digest):
        super().__init__(address, StalledAnswer)
        self.blobs, self.digest = blobs, digest
        self.asked_for_layer, self.over = threading.Event(), threading.Event()
        with open(os.path.join(blobs, digest.split(":")[1]), "rb") as file:
            self.manifest = file.read()
        self.config = json.loads(self.manifest)["config"]["digest"]
        self.begin()

    def end(self):
        self.over.set()
        super().end()


class StalledAnswer(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_HEAD(self):  # noqa: N802
        self.do_GET()

    def do_GET(self):  # noqa: N802
        kind, _, name = self.path.rpartition("/")
        body = b"{}"
        if kind.endswith("/manifests"):
            body = self.server.manifest
        elif kind.endswith("/blobs"):
            with open(os.path.join(self.server.blobs, name.split(":")[1]), "rb") as file:
                body = file.read()
        self.send_response(200)
        self.send_header("Content-Type", "application/vnd.oci.image.manifest.v1+json")
        self.send_header("Docker-Content-Digest", self.server.digest)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "HEAD":
            return
        if kind.endswith("/blobs") and name != self.server.config:
            self.server.asked_for_layer.set()
            self.wfile.write(body[:1])
            self.wfile.flush()
            self.server.over.wait(60)
        else:
            self.wfile.write(body)
