"""A gateway as a site runs it: HTTPS for callers, and a controller with keys over TCP, to which it shows a token alone."""

import contextlib
import http.client
import json
import os
import shutil
import socket
import ssl
import subprocess
import time
import unittest
import warnings

import cluster
from cluster import wait_until
from secured import KeyedCluster, free_port

HEADER_TIME = 2  # seconds, as the gateway is told here


@unittest.skipUnless(shutil.which("openssl"), "openssl(1) is not installed: nothing makes a certificate for browsers")
class GatewayTlsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = KeyedCluster(topology=cluster.WIDE)
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.start()
        cls.certificate, cls.key = cls.make_certificate("web")
        cls.settings = os.path.join(cls.cluster.root, "gateway.toml")
        with open(cls.settings, "w", encoding="utf-8") as file:
            file.write(f'[limits]\nheader_time = "{HEADER_TIME}s"\n')
        cls.port = free_port()
        cls.gateway = cls.make_gateway(cls.port, cls.certificate, cls.key)
        cls.gateway.start()
        cls.addClassCleanup(cls.gateway.stop)
        cls.token = cls.cluster.must("token")

    @classmethod
    def make_certificate(cls, name):
        """What the site's own authority would give: for this address, with its key."""
        certificate, key = (os.path.join(cls.cluster.root, name + end) for end in (".pem", ".key"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ed25519", "-nodes", "-days", "2", "-subj", "/CN=" + name,
                        "-addext", "subjectAltName=IP:127.0.0.1", "-out", certificate, "-keyout", key], check=True,
                       capture_output=True)
        os.chmod(key, 0o600)
        return certificate, key

    @classmethod
    def make_gateway(cls, port, certificate, key, authority=None):
        return cls.cluster._daemon("muster-gateway", [
            "--controller", cls.cluster.tcp, "--ca", authority or os.path.join(cls.cluster.keys, "ca.pem"), "--listen",
            f"127.0.0.1:{port}", "--tls-cert", certificate, "--tls-key", key, "--config", cls.settings], "gateway")

    def ask(self, method, path, token="", body=None, port=None):
        trust = ssl.create_default_context(cafile=self.certificate)
        caller = http.client.HTTPSConnection("127.0.0.1", port or self.port, context=trust, timeout=cluster.PATIENCE)
        with contextlib.closing(caller):
            caller.request(method, path, body and json.dumps(body),
                           {"Authorization": "Bearer " + token, "Content-Type": "application/json"})
            answer = caller.getresponse()
            return answer.status, json.loads(answer.read() or "null")

    def test_metrics_tell_when_the_certificate_ends(self):
        trust = ssl.create_default_context(cafile=self.certificate)
        caller = http.client.HTTPSConnection("127.0.0.1", self.port, context=trust, timeout=cluster.PATIENCE)
        with contextlib.closing(caller):
            caller.connect()
            shown = ssl.cert_time_to_seconds(caller.sock.getpeercert()["notAfter"])
            caller.request("GET", "/metrics", headers={"Authorization": "Bearer " + self.token})
            text = caller.getresponse().read().decode()
        self.assertIn(f"\nmuster_gateway_certificate_end_seconds {shown}\n", text)

    def connect(self, newest=None):
        """A connection by TLS that checks nothing, and speaks what it spoke long ago where `newest` says so."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        if newest is not None:
            context.set_ciphers("ALL:@SECLEVEL=0")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                context.minimum_version = context.maximum_version = newest
        return context.wrap_socket(socket.create_connection(("127.0.0.1", self.port), timeout=cluster.PATIENCE))

    @staticmethod
    def read_to_end(caller):
        answer = b""
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            while piece := caller.recv(65536):
                answer += piece
        return answer

    def test_calls_pass_from_https_to_the_controller_with_the_callers_token_alone(self):
        for drained, state in ((True, "IDLE+DRAIN"), (False, "IDLE")):
            status, said = self.ask("POST", "/v1/Drain", self.token, {"node": "node1", "drained": drained, "reason": "by TLS"})
            self.assertEqual(status, 200, said)
            wait_until(lambda: self.ask("GET", "/v1/nodes/node1", self.token)[1]["nodes"][0]["state"] == state,
                       lambda: self.ask("GET", "/v1/nodes/node1", self.token))
        for token in ("", "x.y.z", self.token[:-4] + "AAAA"):
            self.assertEqual(self.ask("GET", "/v1/jobs", token)[0], 401)
        with open(self.cluster.controller.log, encoding="utf-8") as log:
            self.assertNotIn(self.token.rpartition(".")[2], log.read())

    def test_a_controller_of_another_authority_is_not_called(self):
        port = free_port()
        gateway = self.make_gateway(port, self.certificate, self.key, authority=self.certificate)
        gateway.start()
        self.addCleanup(gateway.stop)
        self.assertEqual(self.ask("GET", "/v1/jobs", self.token, port=port)[0], 503)

    def test_what_is_no_tls_or_an_old_one_gets_nothing(self):
        with socket.create_connection(("127.0.0.1", self.port), timeout=cluster.PATIENCE) as plain:
            plain.sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
            self.assertNotIn(b"HTTP/1.1 200", self.read_to_end(plain))
        with self.assertRaisesRegex(ssl.SSLError, "(?i)alert protocol version"):
            self.connect(newest=ssl.TLSVersion.TLSv1_1)
        with self.connect() as caller:
            self.assertIn(caller.version(), ("TLSv1.2", "TLSv1.3"))

    def test_the_silent_and_the_slow_are_let_go_and_cost_nobody_else_anything(self):
        begun = time.monotonic()
        with contextlib.ExitStack() as stack:
            silent = [stack.enter_context(socket.create_connection(("127.0.0.1", self.port), timeout=cluster.PATIENCE))
                      for _ in range(20)]
            for half in silent[10:]:  # a record that never becomes whole
                half.sendall(b"\x16\x03\x01\x02\x00\x01")
            slow = stack.enter_context(self.connect())
            slow.sendall(b"GET / HTTP/1.1\r\nX: ")
            self.assertEqual(self.ask("GET", "/v1/ping", self.token)[0], 200)
            for caller in (*silent, slow):
                self.assertNotIn(b"HTTP/1.1 200", self.read_to_end(caller))
        self.assertGreaterEqual(time.monotonic() - begun, HEADER_TIME - 0.5)

    def test_a_head_that_two_readers_could_read_differently_is_refused_within_tls(self):
        for head, status in ((b"POST /v1/Ping HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
                              b"4"), (b"GET /livez\xff HTTP/1.1\r\nHost: x\r\n\r\n", b"400"),
                             (b"GET /livez HTTP/1.0\r\n\r\n", b"200")):
            with self.connect() as caller:
                caller.sendall(head)
                answer = self.read_to_end(caller)
            self.assertTrue(answer.startswith(b"HTTP/1.1 " + status), (head, answer[:200]))
            self.assertEqual(answer.count(b"HTTP/1.1 "), 1, answer[:400])

    def test_a_key_that_others_can_read_or_that_is_anothers_is_refused_in_one_line(self):
        other, other_key = self.make_certificate("other")
        open_key = os.path.join(self.cluster.root, "open.key")
        shutil.copy(self.key, open_key)
        os.chmod(open_key, 0o644)
        for certificate, key, said in ((self.certificate, open_key, open_key), (other, self.key, "--tls-key"),
                                       (other_key, other_key, "--tls-cert")):
            tried = self.make_gateway(free_port(), certificate, key)
            ended = subprocess.run([cluster.program("muster-gateway"), *tried.arguments], capture_output=True, text=True,
                                   timeout=cluster.PATIENCE)
            self.assertNotEqual(ended.returncode, 0)
            self.assertEqual(len(ended.stderr.strip().splitlines()), 1, ended.stderr)
            self.assertIn(said, ended.stderr)


if __name__ == "__main__":
    unittest.main()
