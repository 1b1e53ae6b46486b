"""Rogue nodes and strangers on a cluster with keys: what they hold is not theirs, or is no longer good.

Rows A1, A2, B6, D11 and F9 of the list of attacks, and that keys can be changed while everything runs.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import unittest

from cluster import PATIENCE, program, read_file, wait_until
from secured import USERS, SecuredCluster, why_not

REASON = why_not()


def listening(pid):
    """The TCP ports on which the process listens."""
    inodes = set()
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            target = os.readlink(f"/proc/{pid}/fd/{name}")
        except OSError:
            continue
        if target.startswith("socket:["):
            inodes.add(target[8:-1])
    ports = set()
    for table in ("tcp", "tcp6"):
        for line in read_file(f"/proc/net/{table}").decode().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and words[9] in inodes:
                ports.add(int(words[1].rpartition(":")[2], 16))
    return ports


@unittest.skipIf(REASON, f"SKIPPED: {REASON}")
class NodeAttacksTest(unittest.TestCase):
    def setUp(self):
        self.cluster = SecuredCluster()
        self.addCleanup(self.cluster.close)
        self.cluster.start()

    def node_states(self):
        nodes = json.loads(self.cluster.must("nodes", "--json"))["nodes"]
        return {node["name"]: node["state"] for node in nodes}

    def wait_node(self, name, states):
        wait_until(lambda: self.node_states()[name] in states,
                   lambda: f"{self.node_states()}; {self.cluster.logs()}")

    def gated(self, user, node):
        """A job of the user's on that node, which ends with 7 once `open` is called with it."""
        gate = self.cluster.place_of(user, "gate")
        job = self.cluster.submit_as(user, "-w", node, "-o", "/dev/null", "--wrap",
                                     f"while [ ! -e {gate} ]; do sleep 0.1; done; exit 7")
        self.cluster.wait_state(job, "RUNNING")
        return job, lambda: open(gate, "w", encoding="utf-8").close()

    def refused(self, arguments):
        """The last line with which a daemon refuses to start."""
        done = subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=PATIENCE, env=self.cluster.environment, check=False)
        self.assertIn(done.returncode, (1, 2), done)
        return done.stderr.splitlines()[-1]

    # A1.

    def test_an_agent_listens_to_nobody(self):
        for agent in self.cluster.agents:
            self.assertEqual(listening(agent.process.pid), set())

    # A2, D11.

    def test_an_agent_does_not_start_with_what_is_not_its_own(self):
        keys = os.path.join(self.cluster.keys, "agents", "node1")
        rogue = [program("muster-agent"), "--state", os.path.join(self.cluster.root, "rogue"),
                 "--controller", self.cluster.tcp]
        self.assertIn("of agent node1, and this is node node2",
                      self.refused([*rogue, "--name", "node2", "--keys", keys]))
        os.chmod(os.path.join(keys, "agent.key"), 0o640)
        self.assertIn("chmod 600", self.refused([*rogue, "--name", "node1", "--keys", keys]))
        os.chmod(os.path.join(keys, "agent.key"), 0o600)
        daemon = [program("musterd"), "--state", os.path.join(self.cluster.root, "other"),
                  "--listen", "127.0.0.1:0"]
        os.chmod(os.path.join(self.cluster.keys, "controller.key"), 0o604)
        self.assertIn("chmod 600", self.refused([*daemon, "--keys", self.cluster.keys]))
        os.chmod(os.path.join(self.cluster.keys, "controller.key"), 0o600)
        self.assertIn("of agent node1; the controller needs its own", self.refused(
            [*daemon, "--tls-cert", f"{keys}/agent.pem", "--tls-key", f"{keys}/agent.key",
             "--tls-ca", f"{keys}/ca.pem"]))

    def test_a_revoked_node_is_cut_off_and_comes_back_with_another_key(self):
        job, let_go = self.gated("alice", "node2")
        self.cluster.make_keys("revoke", "agent", "node2")
        self.wait_node("node2", ("DOWN", "DOWN*", "UNKNOWN", "UNREACHABLE"))
        self.assertRegex(self.cluster.log(), r"access: refused .*agent node2 by certificate .*revoked")
        self.assertEqual(self.cluster.queue()[job]["state"], "RUNNING")
        self.cluster.make_keys("agent", "node2")
        self.wait_node("node2", ("MIXED", "ALLOCATED"))
        let_go()
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual((row["exit_code"], row["state"]), (7, "FAILED"))

    def test_a_revoked_node_that_says_nothing_is_cut_off_at_once(self):
        agent = self.cluster.agents[1].process.pid
        refused = r"access: refused .*agent node2 by certificate .*revoked"
        before = len(re.findall(refused, self.cluster.log()))
        os.kill(agent, signal.SIGSTOP)
        try:
            self.cluster.make_keys("revoke", "agent", "node2")
            # Without a word of the agent's, and before its lease has run out.
            self.wait_node("node2", ("DOWN", "DOWN*", "UNKNOWN", "UNREACHABLE"))
            self.assertEqual(len(re.findall(refused, self.cluster.log())), before + 1)
        finally:
            os.kill(agent, signal.SIGCONT)
        self.cluster.make_keys("agent", "node2")
        self.wait_node("node2", ("IDLE",))

    def test_the_authority_is_changed_while_everything_runs(self):
        job, let_go = self.gated("alice", "node1")
        old = os.path.join(self.cluster.root, "old-trust")
        shutil.copytree(self.cluster.trust, old)
        self.cluster.make_keys("rotate")
        self.assertEqual(self.cluster.make_keys("rotate", "--finish", check=False).returncode, 1)
        shutil.copy(os.path.join(self.cluster.keys, "ca.pem"), self.cluster.trust)
        for i, agent in enumerate(self.cluster.agents):
            self.cluster.make_keys("agent", f"node{i + 1}")
            agent.stop()
            wait_until(lambda i=i: self.started(i), "the agent is not taken with its new key")
        self.cluster.make_keys("rotate", "--finish")
        wait_until(lambda: self.cluster.as_user("alice", "queue").returncode == 0,
                   "users are not served with the new authority")
        refused = wait_until(lambda: self.refusal_with(old), "the old authority is trusted on")
        self.assertIn("is not the controller that", refused)
        let_go()
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual((row["exit_code"], row["state"]), (7, "FAILED"))
        again = self.cluster.submit_as("alice", "-N", 2, "-o", "/dev/null", "--wrap", "true")
        (row,) = self.cluster.wait_ended(again)
        self.assertEqual(row["state"], "COMPLETED")

    def started(self, index):
        self.cluster.agents[index].start()
        return True

    def refusal_with(self, trust):
        done = self.cluster.as_user("alice", "queue", keys=trust)
        return done.stderr if done.returncode != 0 else None

    def test_a_controller_that_starts_again_is_known_and_its_orders_count(self):
        job, let_go = self.gated("alice", "node1")
        self.cluster.controller.kill()
        self.cluster.controller.start()
        self.wait_node("node1", ("MIXED", "ALLOCATED"))
        let_go()
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["exit_code"], 7)
        after = self.cluster.submit_as("alice", "-w", "node1", "-o", "/dev/null", "--wrap", "exit 5")
        (row,) = self.cluster.wait_ended(after)
        self.assertEqual(row["exit_code"], 5)

    # B6, F9.

    def test_who_talks_to_a_steps_sockets_without_its_secret_changes_nothing(self):
        run = subprocess.Popen(
            [program("muster"), "run", "--controller", self.cluster.tcp, "-N", "2", "-n", "2", "sh",
             "-c", "echo here; while [ ! -e go ]; do sleep 0.1; done; exit 3"],
            cwd=self.cluster.place_of("alice"), text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, user=USERS["alice"],
            group=USERS["alice"], extra_groups=[],
            env={"PATH": "/usr/bin:/bin", "MUSTER_KEYS": self.cluster.trust, "HOME": "/",
                 "MUSTER_MUNGE_SOCKET": self.cluster.munge})
        self.addCleanup(run.stdout.close)
        self.addCleanup(run.stderr.close)
        self.addCleanup(run.wait)
        self.addCleanup(run.terminate)
        self.assertEqual([run.stdout.readline(), run.stdout.readline()], ["here\n", "here\n"])
        supervisors = self.cluster.supervisors()
        self.assertEqual(len(supervisors), 2)
        doors = listening(run.pid).union(*map(listening, supervisors))
        self.assertTrue(doors, "nobody listens: nothing is tried here")
        bad = [b"", b"\0", struct.pack("<I", 0), struct.pack("<I", 0xffffffff) + b"x" * 64,
               struct.pack("<I", 0x7fffffff), struct.pack("<I", 64 << 20) + b"\xff" * 4096,
               struct.pack("<I", 5) + b"\x0a\xff\xff\xff\xff", b"\xff" * 65536,
               b"GET / HTTP/1.1\r\n\r\n", struct.pack("<I", 40) + b"\x0a\x26\x0a\x20" + b"0" * 36]
        held = []
        for port in doors:
            for bytes_ in bad:
                with socket.create_connection(("127.0.0.1", port), timeout=10) as stranger:
                    try:
                        stranger.sendall(bytes_)
                        stranger.shutdown(socket.SHUT_WR)
                        stranger.recv(65536)
                    except OSError:
                        pass  # it hung up, or says nothing
            held.append(socket.create_connection(("127.0.0.1", port)))  # and says nothing
        self.assertEqual(self.unix_doors_open_to(("mallory",)), [])
        # Ranks that an mpirun starts ask their supervisor for their places, and programs report values to it;
        # nonsense there harms nobody else.
        own = [path for _, path in self.unix_doors_open_to(("alice",))]
        self.assertEqual(sorted(os.path.basename(path) for path in own), ["ranks", "ranks", "report", "report"])
        for path in own:
            kind = socket.SOCK_DGRAM if os.path.basename(path) == "report" else socket.SOCK_SEQPACKET
            for bytes_ in bad:
                with socket.socket(socket.AF_UNIX, kind) as rank:
                    rank.connect(path)
                    with contextlib.suppress(OSError):
                        rank.sendall(bytes_)
        with open(self.cluster.place_of("alice", "go"), "w", encoding="utf-8"):
            pass
        out, err = run.communicate(timeout=PATIENCE)
        for each in held:
            each.close()
        self.assertEqual((run.returncode, out), (3, ""), err)

    def unix_doors_open_to(self, users):
        """The sockets of controller, agents and supervisors to which one of these could connect."""
        found = []
        for place, _, names in os.walk(self.cluster.state):
            for name in names:
                path = os.path.join(place, name)
                if not os.path.exists(path) or not os.path.isfile(path):
                    found.append(path)
        script = ("import socket,sys\n"
                  "for path in sys.argv[1:]:\n"
                  "  for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM):\n"
                  "    try:\n"
                  "      socket.socket(socket.AF_UNIX, kind).connect(path)\n"
                  "      print(path)\n"
                  "    except OSError: pass\n")
        self.assertGreaterEqual(len(found), 4, found)
        opened = []
        for user in users:
            done = subprocess.run(["python3", "-c", script, *found], user=USERS[user], text=True,
                                  group=USERS[user], extra_groups=[], capture_output=True,
                                  check=True, cwd="/")
            opened += [(user, path) for path in done.stdout.splitlines()]
        return opened


if __name__ == "__main__":
    unittest.main()
