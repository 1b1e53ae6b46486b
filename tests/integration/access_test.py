"""[access] of the configuration: what users are not shown of one another, and who may do more than others."""

import contextlib
import http.client
import json
import os
import signal
import subprocess
import unittest

from cluster import ClusterTest, read_file, wait_until
from secured import SecuredCluster, free_port, why_not

ACCESS = """[access]
private = ["jobs", "history", "usage", "nodes"]
{operators}
[access.coordinators]
physics = ["al"]
[account.physics]
[account.theory]
parent = "physics"
[account.chemistry]
"""


class GroupList:
    """Our own /etc/group, with mallory in a group of operators."""

    def __init__(self, directory):
        path = os.path.join(directory, "group")
        with open(path, "w", encoding="utf-8") as file:
            file.write(read_file("/etc/group").decode() + "muster-ops:x:61999:mallory\n")
        subprocess.run(["mount", "--bind", path, "/etc/group"], check=True)

    def close(self):
        subprocess.run(["umount", "/etc/group"], check=False)


class AccessTest(ClusterTest):
    own = True

    @classmethod
    def make(cls):
        reason = why_not()
        if reason:
            raise unittest.SkipTest("SKIPPED: " + reason)
        cluster = SecuredCluster()
        cls.door = f"unix:{cluster.root}/gateway.sock"
        cluster.controller.arguments += ["--gateway-socket", cls.door]
        cluster.configure(ACCESS.format(operators=""))
        cluster.start()
        return cluster

    def setUp(self):
        super().setUp()
        groups = GroupList(self.cluster.root)
        self.addCleanup(groups.close)
        self.cluster.must("accounts", "add", "theory", "user=alice")
        self.cluster.must("accounts", "add", "chemistry", "user=mallory")
        self.running = self.submit("--wrap", "sleep 600")
        self.cluster.wait_state(self.running, "RUNNING")
        self.ended = self.submit("--wrap", "true")
        self.cluster.wait_ended(self.ended)
        self.addCleanup(self.cluster.muster, "cancel", self.running)

    def submit(self, *words):
        return self.cluster.submit_as("alice", "-o", "/dev/null", "-A", "theory", *words)

    def said(self, user, *words):
        done = self.cluster.as_user(user, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def listed(self, user, *words, key="jobs"):
        return json.loads(self.said(user, *words, "--json"))[key]

    def refused(self, user, *words, says):
        done = self.cluster.as_user(user, *words)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn(says, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def name_operators(self):
        with open(self.cluster.controller.arguments[-1], "w", encoding="utf-8") as file:
            file.write(ACCESS.format(operators='operators = ["@muster-ops"]'))
        self.cluster.controller.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "the policy, [access]," in self.cluster.log(), "it is not read again")

    def test_others_are_shown_nothing_that_is_private(self):
        for job in (self.running, self.ended):
            self.refused("mallory", "show", job, says="no such job")
            self.refused("mallory", "explain", job, says="no such job")
        self.assertEqual(self.listed("mallory", "queue"), [])
        self.assertEqual(self.listed("mallory", "history"), [])
        self.assertEqual(self.listed("mallory", "nodes", key="nodes"), [])
        self.assertNotIn("alice", self.said("mallory", "share"))
        self.assertNotIn("alice", self.said("mallory", "report", "usage"))
        self.refused("mallory", "health", says="for operators and viewers alone")
        self.assertEqual([job["id"] for job in self.listed("alice", "queue")], [self.running])
        self.assertEqual([job["id"] for job in self.listed("alice", "history")], [self.ended])
        self.assertEqual(len(self.listed("alice", "nodes", key="nodes")), 1)
        self.assertEqual(len(json.loads(self.cluster.must("nodes", "--json"))["nodes"]), 2)

    def test_metrics_of_all_are_not_for_everybody(self):
        port = free_port()
        gateway = self.cluster._daemon("muster-gateway", ["--controller", self.door, "--listen", f"127.0.0.1:{port}"],
                                       "muster-gateway")
        gateway.start()
        self.addCleanup(gateway.stop)

        def status(token):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            with contextlib.closing(connection):
                connection.request("GET", "/metrics", headers={"Authorization": "Bearer " + token.strip()})
                answer = connection.getresponse()
                return answer.status, answer.read().decode()

        code, text = status(self.said("alice", "token", "--read-only"))
        self.assertEqual(code, 403, text)
        self.assertIn("for operators and viewers alone", text)
        code, text = status(self.cluster.must("token", "--read-only"))
        self.assertEqual(code, 200, text)
        self.assertIn("muster_jobs", text)

    def test_a_coordinator_has_the_account_and_those_below_it(self):
        self.assertEqual([job["id"] for job in self.listed("al", "queue")], [self.running])
        self.assertEqual([job["id"] for job in self.listed("al", "history")], [self.ended])
        waiting = self.submit("-H", "--wrap", "true")
        self.said("al", "update", waiting, "--time", "5")
        self.said("al", "accounts", "add", "physics", "user=mallory", "MaxJobs=1")
        self.refused("al", "accounts", "set", "physics", "MaxJobs=1", says="is for operators")
        self.refused("al", "qos", "add", "mine", says="is for operators")
        self.refused("al", "drain", "node1", "--reason", "mine", says="may not")
        self.refused("al", "exec", self.running, "--", "id", says="is not yours")
        self.said("al", "cancel", waiting, self.running)
        self.assertEqual(self.cluster.wait_ended(self.running)[0]["state"], "CANCELLED")
        others = self.cluster.submit_as("mallory", "-A", "chemistry", "-H", "-o", "/dev/null", "--wrap", "true")
        self.addCleanup(self.cluster.muster, "cancel", others)
        self.assertNotIn(others, [job["id"] for job in self.listed("al", "queue")])
        self.refused("al", "cancel", others, says="is not yours")

    def test_an_operator_of_a_group_changes_everything_and_is_nobody_else(self):
        self.refused("mallory", "cancel", self.running, says="is not yours")
        self.refused("mallory", "logs", self.running, says="is not yours")
        self.refused("mallory", "drain", "node2", "--reason", "mine", says="may not")
        self.name_operators()
        self.assertEqual([job["id"] for job in self.listed("mallory", "queue")], [self.running])
        self.assertEqual(len(self.listed("mallory", "nodes", key="nodes")), 2)
        self.said("mallory", "health")
        self.said("mallory", "drain", "node2", "--reason", "mine")
        self.said("mallory", "resume", "node2")
        self.said("mallory", "suspend", self.running)
        self.cluster.wait_state(self.running, "SUSPENDED")
        self.said("mallory", "resume", self.running)
        self.refused("mallory", "exec", self.running, "--", "id", says="belongs to alice")
        waiting = self.submit("-H", "--wrap", "true")
        done = self.cluster.as_user("mallory", "update", waiting, "-o", "/tmp/elsewhere")
        self.assertNotEqual(done.returncode, 0, "where a job writes is its owner's")
        self.said("mallory", "cancel", waiting, self.running)
        self.assertEqual(self.cluster.wait_ended(self.running)[0]["state"], "CANCELLED")


if __name__ == "__main__":
    unittest.main()
