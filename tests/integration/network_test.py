"""A cluster that knows its network: the smallest span, few switches, and the map read again."""

import json
import os
import signal
import subprocess
import unittest

from cluster import Cluster, ClusterTest, program, read_file, start_up, wait_until

SMALL = "core:2 pu:1"
TREE = """SwitchName=root Switches=left,right
SwitchName=left Nodes=node[1-2]
SwitchName=right Nodes=node[3-4]
"""


class NetworkTest(ClusterTest):
    own = True

    @classmethod
    def make(cls):
        cluster = Cluster(nodes=4, topology=SMALL)
        cls.map = os.path.join(cluster.root, "topology.conf")
        cls.config = os.path.join(cluster.root, "muster.toml")
        cls.write(cls.map, TREE)
        cls.write(cls.config, 'network = "topology.conf"\n')
        cluster.controller.arguments += ["--config", cls.config]
        return cluster.start()

    @classmethod
    def write(cls, path, text):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def reload(self, said):
        self.cluster.controller.process.send_signal(signal.SIGHUP)
        wait_until(lambda: said in read_file(self.cluster.controller.log).decode(),
                   lambda: self.cluster.controller.last_words())

    def fill(self, *nodes):
        """Jobs that keep these nodes."""
        jobs = [self.cluster.submit("-w", node, "-n", 2, "-N", 1, "-t", 60, "--wrap", "sleep 1000")
                for node in nodes]
        for job in jobs:
            self.cluster.wait_state(job, "RUNNING")
        return jobs

    def nodes_of(self, job):
        self.cluster.wait_state(job, "RUNNING")
        return sorted(self.cluster.queue()[job]["nodes"])

    def test_a_job_on_two_nodes_stays_below_one_switch(self):
        self.fill("node2")
        job = self.cluster.submit("-N", 2, "-n", 4, "--wrap", "sleep 1000")
        self.assertEqual(self.nodes_of(job), ["node3", "node4"])

    def test_few_switches_are_waited_for_with_numbers_and_not_for_ever(self):
        self.fill("node2", "node4")
        job = self.cluster.submit("-N", 2, "-n", 4, "-t", 5, "--switches=1@0:20", "--wrap",
                                  "sleep 1000")
        reason = self.cluster.wait_reason(job, "on at most 1 leaf switch there is room for 2 of its "
                                               "4 tasks now")
        self.assertEqual(reason["kind"], "Switches")
        self.assertIn("no --switches", self.cluster.must("explain", job))
        self.assertEqual(self.nodes_of(job), ["node1", "node3"])

    def test_a_script_can_ask_for_few_switches(self):
        self.fill("node2")
        job = self.cluster.submit("-", input="#!/bin/sh\n#SBATCH -N 2 -n 4 --switches=1@60\n"
                                             "sleep 1000\n")
        self.assertEqual(self.nodes_of(job), ["node3", "node4"])

    def test_no_job_lies_on_both_sides_of_a_narrow_link_until_it_is_resumed(self):
        self.assertEqual(self.cluster.must("drain", "--link", "right,left", "--reason", "one of two cables"), "")
        (link,) = json.loads(self.cluster.must("nodes", "--json"))["narrow_links"]
        self.assertEqual((link["first"], link["second"], link["reason"]), ("left", "right", "one of two cables"))
        for verb in ("nodes", "topo"):
            self.assertRegex(self.cluster.must(verb), r"NARROW LINK.*\n *left - right .*one of two cables")
        three = self.cluster.submit("-N", 3, "-n", 3, "--wrap", "true")
        self.cluster.wait_reason(three, "switches left and right are joined by a narrow link")
        self.assertIn("switches left and right are joined by a narrow link", self.cluster.must("explain", three))
        self.fill("node1")
        self.assertEqual(self.nodes_of(self.cluster.submit("-N", 2, "-n", 4, "--wrap", "sleep 1000")),
                         ["node3", "node4"])
        self.cluster.controller.kill()
        self.cluster.controller.start()
        self.assertEqual(len(json.loads(self.cluster.must("nodes", "--json"))["narrow_links"]), 1)
        self.cluster.must("cancel", "--all")
        four = self.cluster.submit("-N", 4, "-n", 4, "--wrap", "true")
        self.cluster.wait_reason(four, "switches left and right are joined by a narrow link")
        self.cluster.must("resume", "--link", "left,right")
        self.assertEqual(self.cluster.wait_ended(four)[0]["state"], "COMPLETED")
        self.assertNotIn("NARROW LINK", self.cluster.must("nodes"))

    def test_a_narrow_link_is_between_two_switches_that_there_are(self):
        for words, said in ((("left,nowhere", "--reason", "x"), 'there is no switch "nowhere"'),
                            (("left,root", "--reason", "x"), "one is above the other"),
                            (("left", "--reason", "x"), "is not two switches"),
                            (("left,right",), "--reason")):
            done = self.cluster.muster("drain", "--link", *words)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(said, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_the_map_is_read_again_and_a_mistake_leaves_the_old_one(self):
        self.write(self.map, "SwitchName=left Nodes=node1\nSwitchName=left Nodes=node2\n")
        self.reload(f"{self.config}:1: network: {self.map}:2: ")
        self.fill("node2")
        job = self.cluster.submit("-N", 2, "-n", 4, "--wrap", "sleep 1000")
        self.assertEqual(self.nodes_of(job), ["node3", "node4"])
        self.cluster.must("cancel", job)
        self.cluster.wait_ended(job)
        self.write(self.map, "SwitchName=a Nodes=node[1,4]\nSwitchName=b Nodes=node2,other\n"
                             "SwitchName=c Switches=a,b\n")
        self.reload("1 node of it not registered (yet): other")
        self.assertIn("1 node of the cluster not on it, near to no other: node3",
                      read_file(self.cluster.controller.log).decode())
        job = self.cluster.submit("-N", 2, "-n", 4, "--wrap", "sleep 1000")
        self.assertEqual(self.nodes_of(job), ["node1", "node4"])

    def test_the_map_is_there_again_after_a_crash(self):
        self.cluster.controller.kill()
        self.cluster.controller.start()
        wait_until(lambda: all(node["state"].upper() != "DOWN" for node in
                               json.loads(self.cluster.must("nodes", "--json"))["nodes"]), "all nodes are back")
        self.fill("node2")
        job = self.cluster.submit("-N", 2, "-n", 4, "--wrap", "sleep 1000")
        self.assertEqual(self.nodes_of(job), ["node3", "node4"])


class UpTest(unittest.TestCase):
    def setUp(self):
        self.cluster = Cluster()
        self.addCleanup(self.cluster.close)
        self.map = os.path.join(self.cluster.work, "topology.conf")

    def write(self, text):
        with open(self.map, "w", encoding="utf-8") as file:
            file.write(text)

    def test_up_runs_the_networks_nodes_under_their_names(self):
        self.write("SwitchName=s Nodes=gold[1-2]\n")
        ready = start_up(self.cluster, "--topology", SMALL, "--network", self.map)
        self.assertIn("ready: 2 nodes", ready)
        nodes = json.loads(self.cluster.must("nodes", "--json"))["nodes"]
        self.assertEqual(sorted(node["name"] for node in nodes), ["gold1", "gold2"])
        job = self.cluster.submit("-N", 2, "-n", 4, "--switches=1", "--wrap", "true")
        self.cluster.wait_ended(job)

    def test_up_refuses_a_broken_map_in_one_line(self):
        self.write("SwitchName=a Switches=b\nSwitchName=b Switches=a\n")
        done = subprocess.run(
            [program("muster"), "up", "--state", self.cluster.state, "--network", self.map],
            env=self.cluster.environment, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stderr, rf"\A[^\n]*--network: {self.map}:\d+: [^\n]+\n\Z")


if __name__ == "__main__":
    unittest.main()
