"""Slow links between switches: found by muster health --links, and kept from jobs until they are resumed."""

import json
import os
import subprocess
import unittest

from cluster import PATIENCE, ClusterTest, program, read_file, wait_until
from mpi_test import FOUR_CORES, Network, can_make_networks
from secured import OneUsersCluster

TREE = """SwitchName=root Switches=leaf[1-3]
SwitchName=leaf1 Nodes=node[1-2]
SwitchName=leaf2 Nodes=node[3-4]
SwitchName=leaf3 Nodes=node[5-6]
"""
SLOW = ["qdisc", "add", "dev", "eth1", "root", "tbf", "rate", "300mbit", "burst", "64kb", "latency", "50ms"]


class Switches(Network):
    """As the tree says; what the nodes of leaf3 send to those of leaf1 leaves by another device, a slow one."""

    def make(self):
        super().make()
        hub = self.names[0]
        for i in (5, 6):
            name = self.names[i]
            self.ip("-n", hub, "link", "add", f"w{i}", "type", "veth", "peer", "name", "eth1", "netns", name)
            self.ip("-n", hub, "link", "set", f"w{i}", "master", "br0", "up")
            self.ip("-n", name, "link", "set", "eth1", "up")
            subprocess.run(["ip", "netns", "exec", name, "tc", *SLOW], check=True, timeout=30)
            for other in (1, 2):
                self.ip("-n", name, "route", "add", self.address(other) + "/32", "dev", "eth1", "src",
                        self.address(i))


@unittest.skipUnless(os.geteuid() == 0 and can_make_networks(),
                     "NO NETWORK NAMESPACES CAN BE MADE HERE: links between switches are not measured")
class SlowSwitchesTest(ClusterTest):
    count = 6

    @classmethod
    def make(cls):
        network = Switches(cls.count)
        cls.addClassCleanup(network.remove)
        network.make()
        cluster = OneUsersCluster(nodes=cls.count, topology=FOUR_CORES, listen=network.address(0) + ":7117")
        with open(os.path.join(cluster.root, "topology.conf"), "w", encoding="utf-8") as file:
            file.write(TREE)
        cluster.configure('network = "topology.conf"\n')
        cluster.controller.before = ["ip", "netns", "exec", network.names[0], *cluster.controller.before]
        for i, agent in enumerate(cluster.agents, 1):
            agent.before = ["ip", "netns", "exec", network.names[i]]
        return cluster.start()

    def narrow_links(self):
        return [(link["first"], link["second"]) for link in
                json.loads(self.cluster.must("nodes", "--json"))["narrow_links"]]

    def measure(self, *options):
        return self.cluster.muster("health", "--links", "--least", 20, *options, patience=4 * PATIENCE)

    def test_the_pair_of_switches_is_found_and_jobs_are_kept_off_it(self):
        done = self.measure("--narrow")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("Most links between leaf1 and leaf3 are slow", done.stdout, done.stderr)
        self.assertIn("jobs are kept off the link between leaf1 and leaf3: links between them are slow", done.stderr)
        self.assertEqual(self.narrow_links(), [("leaf1", "leaf3")])
        again = self.measure("--json", "node1", "node3", "node5")
        self.assertIn("the link between leaf1 and leaf3 is narrow: left out", again.stderr)
        self.assertEqual({tuple(link["nodes"]) for link in json.loads(again.stdout)["links"]},
                         {("node1", "node3"), ("node3", "node5")})
        wide = self.cluster.submit("-N", 2, "-n", 2, "-w", "node1,node6", "--wrap", "true")
        self.cluster.wait_reason(wide, "switches leaf1 and leaf3 are joined by a narrow link")
        self.cluster.must("run", "-N", 2, "-n", 2, "-w", "node3,node6", "true")
        self.cluster.must("resume", "--link", "leaf1,leaf3")
        self.assertEqual(self.narrow_links(), [])
        self.assertEqual(self.cluster.wait_ended(wide)[0]["state"], "COMPLETED")
        self.cluster.must("resume", *(f"node{i}" for i in range(1, 7)))  # a busy machine may have made others slow


class ScheduledLinksTest(ClusterTest):
    nodes = 4
    topology = FOUR_CORES

    def test_a_job_that_comes_again_measures_on_schedule(self):
        job = self.cluster.submit("--every", "1m", "-w", "node1", "-t", 10, "-o", "links.json", "--wrap",
                                  f"{program('muster')} health --links --least 5 --json node2 node3 node4")
        written = os.path.join(self.cluster.work, "links.json")
        found = wait_until(lambda: document(written), lambda: f"{self.cluster.must('show', job)}", patience=3 * PATIENCE)
        self.assertEqual(sorted(tuple(link["nodes"]) for link in found["links"]),
                         [("node2", "node3"), ("node2", "node4"), ("node3", "node4")])
        self.assertEqual([link["failure"] for link in found["links"]], ["", "", ""])
        self.cluster.must("cancel", job)


def document(path):
    """What a whole document in the file says, or nothing yet."""
    try:
        return json.loads(read_file(path))
    except (OSError, ValueError):
        return None


if __name__ == "__main__":
    unittest.main()
