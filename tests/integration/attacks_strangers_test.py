"""Strangers before a controller with keys: nobody whom it knows, who only connect, send too much, or send and take back.

Rows F5 to F8 of the list of attacks. Each is made by mallory's user from this machine, where alice calls from, too; what it
cost is the controller's own memory, processor time and descriptors.
"""

import os
import socket
import subprocess
import sys
import time
import unittest
import zlib

import http2
from cluster import PATIENCE, read_file, sanitizer, wait_until
from secured import USERS, SecuredCluster, why_not

REASON = why_not()
HERE = os.path.dirname(os.path.abspath(__file__))
PING = "/muster.wire.Controller/Ping"
MIB = 1 << 20
UNAUTHENTICATED = 16
COSTS_MIB_MAX = 64

# As mallory: so many connections that say nothing, held until told to go.
HOLD = """
import socket, time
host, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
held = []
end = time.monotonic() + 180
while len(held) < count and time.monotonic() < end:
    try:
        held.append(socket.create_connection((host, port), timeout=180))
    except OSError:
        time.sleep(0.01)
print(len(held), flush=True)
sys.stdin.read()
"""

# As mallory: streams that are taken back at once, over as many connections as are taken, for so many seconds.
RESETS = """
import time
address, authority, end = sys.argv[1], sys.argv[2], time.monotonic() + float(sys.argv[3])
sent = 0
while time.monotonic() < end:
    try:
        peer = http2.over_tls(address, authority)
        while time.monotonic() < end and not peer.closed:
            block = http2.grpc_headers("/muster.wire.Controller/Ping")
            streams = range(peer.next, peer.next + 400, 2)
            peer.next += 400
            peer.send(b"".join(http2.frame(1, 4, i, block) + http2.frame(3, 0, i, bytes(4)) for i in streams))
            sent += len(streams)
    except OSError:
        time.sleep(0.005)
print(sent)
"""


@unittest.skipIf(REASON, f"SKIPPED: {REASON}")
class StrangersTest(unittest.TestCase):
    def setUp(self):
        self.cluster = SecuredCluster(nodes=1)
        self.addCleanup(self.cluster.close)
        if sanitizer():  # what was given back is kept from use, and counts as taken
            self.cluster.environment["ASAN_OPTIONS"] = "quarantine_size_mb=1:thread_local_quarantine_size_kb=64"
        self.cluster.start()
        self.pid = self.cluster.controller.process.pid
        self.authority = os.path.join(self.cluster.trust, "ca.pem")
        self.alice_calls()
        self.rest = self.memory()

    # What the controller has taken.

    def memory(self):
        """MiB of it that were ever in memory."""
        for line in read_file(f"/proc/{self.pid}/status").decode().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
        raise AssertionError("the controller is gone: " + self.cluster.log()[-2000:])

    def processor(self):
        fields = read_file(f"/proc/{self.pid}/stat").rpartition(b")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def cost_no_memory(self):
        self.assertLess(self.memory() - self.rest, COSTS_MIB_MAX)

    def alice_calls(self):
        done = self.cluster.as_user("alice", "queue")
        self.assertEqual(done.returncode, 0, done.stderr)

    def as_mallory(self, code, *arguments):
        # She becomes mallory only once it runs: not every python, nor this folder, is hers to read.
        become = f"import encodings.idna, os, sys\nsys.path.insert(0, {HERE!r})\nimport http2\n" \
                 f"os.setgroups([]), os.setgid({USERS['mallory']}), os.setuid({USERS['mallory']})\n"
        return subprocess.Popen([sys.executable, "-c", become + code, *map(str, arguments)], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, text=True, cwd="/")

    def stranger(self):
        return http2.over_tls(self.cluster.tcp, self.authority)

    # F7, F8.

    def test_silence_takes_no_descriptors_away(self):
        subprocess.run(["prlimit", f"--pid={self.pid}", "--nofile=512:512"], check=True)
        host, _, port = self.cluster.tcp.rpartition(":")
        crowds = [self.as_mallory(HOLD, host, port, 900) for _ in range(2)]
        try:
            for crowd in crowds:
                self.assertEqual(crowd.stdout.readline(), "900\n")
            for _ in range(3):
                self.alice_calls()
                self.cluster.must("nodes")  # over the unix socket
            self.assertLess(self.descriptors(), 300)
            self.cost_no_memory()
        finally:
            for crowd in crowds:
                crowd.communicate()
        self.alice_calls()
        wait_until(lambda: "connections of strangers" in self.cluster.log(), "the log does not tell of them")

    def test_who_says_nothing_more_is_closed(self):
        host, _, port = self.cluster.tcp.rpartition(":")
        greeted, silent = self.stranger(), socket.create_connection((host, int(port)))
        self.addCleanup(silent.close)
        silent.settimeout(PATIENCE)
        self.assertEqual(silent.recv(1), b"")
        wait_until(lambda: greeted.read(0.2) or greeted.closed, "a stranger keeps a connection")

    def test_many_strangers_who_shake_hands_keep_nobody_out(self):
        crowd = []
        for _ in range(100):
            try:
                peer = self.stranger()
                peer.close() if peer.closed else crowd.append(peer)
            except OSError:
                pass
            if len(crowd) > 8:
                break
        before = time.monotonic()
        self.alice_calls()
        self.assertLess(time.monotonic() - before, 30)
        for peer in crowd:
            peer.close()

    # F5.

    def test_a_strangers_message_is_not_read(self):
        peer = self.stranger()
        status, went = peer.call("/muster.wire.Controller/Cancel", b"\x0a\x00" * (31 * MIB))
        self.assertIn(status, (UNAUTHENTICATED, -1, None))
        self.assertLess(went, MIB)
        self.cost_no_memory()
        self.alice_calls()

    def bomb(self, unpacked):
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        return b"".join(packer.compress(bytes(MIB)) for _ in range(unpacked // MIB)) + packer.flush()

    def test_nobodys_message_is_unpacked(self):
        body, encoding = self.bomb(1024 * MIB), [("grpc-encoding", "gzip")]
        status, _ = self.stranger().call(PING, body, encoding, compressed=True)
        self.assertIn(status, (UNAUTHENTICATED, -1, None))
        # Nor one of a caller who is known.
        owner = http2.over_unix(os.path.join(self.cluster.state, "controller.sock"))
        status, _ = owner.call(PING, body, encoding, secure=False, compressed=True)
        self.assertNotEqual(status, 0)
        self.cost_no_memory()
        self.alice_calls()

    def test_a_known_callers_message_has_a_limit(self):
        owner = http2.over_unix(os.path.join(self.cluster.state, "controller.sock"))
        status, _ = owner.call(PING, secure=False)
        self.assertEqual(status, 0)
        status, _ = owner.call("/muster.wire.Controller/Cancel", b"\x0a\x00" * (20 * MIB // 2), secure=False)
        self.assertNotEqual(status, 0)
        self.alice_calls()

    # F6.

    def test_streams_that_are_taken_back_cost_next_to_nothing(self):
        before, seconds = self.processor(), 8
        flood = self.as_mallory(RESETS, self.cluster.tcp, self.authority, seconds)
        time.sleep(seconds / 2)
        self.alice_calls()
        sent, _ = flood.communicate()
        self.assertGreater(int(sent), 1000)
        slower = 3 if sanitizer() else 1
        self.assertLess(self.processor() - before, slower * seconds / 4)
        self.cost_no_memory()


if __name__ == "__main__":
    unittest.main()
