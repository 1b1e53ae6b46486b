"""Nodes that are started again: by a program of the test's that ends the agent, which comes back with another boot id."""

import json
import os
import subprocess
import uuid

from cluster import Cluster, ClusterTest, program, wait_until

# In a mount namespace of its own, the kernel's boot id is what the file says.
BOOTED = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"']


class RebootTest(ClusterTest):
    nodes = 2
    own = True

    def make(self):
        cluster = Cluster(nodes=2)
        self.boot_id = os.path.join(cluster.root, "boot_id")
        self.asked = os.path.join(cluster.root, "asked")
        self.boot()
        tried = subprocess.run([*BOOTED, self.boot_id, "true"], capture_output=True, text=True, check=False)
        if tried.returncode != 0:
            cluster.close(check=False)
            self.skipTest(f"SKIPPED: no boot id can be mounted here: {tried.stderr.strip()}")
        reboot = os.path.join(cluster.root, "reboot")
        with open(reboot, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\necho >>{self.asked}\n")
        os.chmod(reboot, 0o700)
        settings = os.path.join(cluster.root, "agent.toml")
        with open(settings, "w", encoding="utf-8") as file:
            file.write(f'reboot = "{reboot}"\n')
        os.chmod(settings, 0o600)
        cluster.agents[1].arguments += ["--config", settings]
        cluster.agents[1].before = [*BOOTED, self.boot_id]
        return cluster.start()

    def boot(self):
        with open(self.boot_id, "w", encoding="utf-8") as file:
            file.write(f"{uuid.uuid4()}\n")

    def come_back(self):
        self.cluster.agents[1].kill()
        self.boot()
        self.cluster.agents[1].start()

    def node(self):
        return json.loads(self.cluster.must("nodes", "node2", "--json"))["nodes"][0]

    def on_node2(self, body):
        return self.cluster.submit("--nodelist", "node2", "-o", "/dev/null", "--wrap", body)

    def scontrol(self, *words):
        return subprocess.run([program("muster-slurm"), "scontrol", *words], capture_output=True, text=True, check=False,
                              env={**self.cluster.environment, "MUSTER_CONTROLLER": self.cluster.address})

    def test_nodes_are_drained_and_resumed_by_a_list_whatever_one_of_them_says(self):
        drained = self.cluster.muster("drain", "node[1-3]", "--reason", "a new switch")
        self.assertEqual((drained.returncode, drained.stdout), (1, ""))
        self.assertRegex(drained.stderr, r"\Amuster drain: node node3: [^\n]*\n\Z")
        states = [(node["name"], node["reason"]["text"] if isinstance(node.get("reason"), dict) else node.get("reason"))
                  for node in json.loads(self.cluster.must("nodes", "--json"))["nodes"]]
        self.assertEqual(states, [("node1", "a new switch"), ("node2", "a new switch")])
        self.cluster.must("resume", "node1,node2")
        self.cluster.wait_ended(self.on_node2("true"))

    def test_a_node_is_rebooted_once_its_job_has_ended_and_takes_jobs_again(self):
        first = self.on_node2(self.cluster.gate())
        self.cluster.wait_state(first, "RUNNING")
        self.cluster.must("reboot", "node2", "--reason", "new kernel")
        self.assertEqual(self.node()["reason"], "reboot: new kernel")
        second = self.on_node2("true")
        self.assertFalse(os.path.exists(self.asked), "a job is on it")
        self.cluster.open_gate()
        self.cluster.wait_ended(first)
        wait_until(lambda: os.path.exists(self.asked), "its agent is not told")
        self.assertEqual(self.node()["health"], "rebooting")
        self.come_back()
        (row,) = self.cluster.wait_ended(second)
        self.assertEqual(row["state"], "COMPLETED")
        (done,) = json.loads(self.cluster.must("health", "node2", "--history", 1, "--json"))["nodes"][0]["history"]
        self.assertEqual((done["kind"], done["outcome"]), ("reboot", "rebooted"))
        with open(self.asked, encoding="utf-8") as file:
            self.assertEqual(file.read(), "\n", "once")

    def test_slurms_command_reboots_and_takes_back(self):
        job = self.on_node2("sleep 100")
        self.cluster.wait_state(job, "RUNNING")
        self.assertEqual(self.scontrol("reboot", "ASAP", "reason=fan", "node2").returncode, 0)
        self.assertEqual(self.node()["reason"], "reboot: fan")
        self.assertEqual(self.scontrol("cancel_reboot", "node2").returncode, 0)
        self.assertNotIn("DRAIN", self.node()["state"])
        done = self.scontrol("cancel_reboot", "node2")
        self.assertEqual(done.returncode, 1)
        self.assert_one_line(done.stderr)
        self.assertIn("Invalid node name specified", self.scontrol("reboot", "nosuch").stderr)
        self.assertIn("Invalid nextstate", self.scontrol("reboot", "nextstate=PURPLE", "node2").stderr)
        self.cluster.must("cancel", job)

    def test_a_node_that_cannot_says_so_and_takes_jobs_again(self):
        done = self.cluster.muster("reboot", "node1", "--wait")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr, "muster reboot: node1: no program reboots this node: set reboot in agent.toml\n")
        self.cluster.must("run", "-w", "node1", "true")
        for words, text in ((("nosuch",), "no such node"), (("node2", "--when", "soon"), "--when: drained"),
                            (("node2", "--cancel"), "no reboot of it was asked for"),
                            (("node2", "--when", "idle", "--keep-drained"), "--keep-drained: only")):
            done = self.cluster.muster("reboot", *words)
            self.assertNotEqual(done.returncode, 0, words)
            self.assertIn(text, done.stderr)
            self.assert_one_line(done.stderr)
