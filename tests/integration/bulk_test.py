"""Bulk copies and the NICs that they go by: nodes with two NICs each, one of which is for copies."""

import json
import os
import shutil
import subprocess
import sys
import time
import unittest

from cluster import ClusterTest, program, read_file, wait_until
from mpi_test import FOUR_CORES, Network, can_make_networks
from secured import OneUsersCluster, free_port

SIZE = 12 << 20
RATE = 6 << 20
DSCP = 10
# Counts the large packets of TCP over IPv4 that pass a NIC by their mark, until its input ends.
MARKS = """
import collections, json, select, socket, sys
packets = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
packets.bind((sys.argv[1], 0x0800))
print("ready", flush=True)
marks = collections.Counter()
while sys.stdin not in (ready := select.select([packets, sys.stdin], [], [])[0]):
    packet = packets.recv(65536)
    if len(packet) > 1000 and packet[9] == socket.IPPROTO_TCP:
        marks[packet[1]] += 1
print(json.dumps(marks))
"""


class TwoNets(Network):
    """A second bridge, with eth1 of each node; the first node of the list, the hub, has an address on both."""

    def make(self):
        super().make()
        hub = self.names[0]
        self.ip("-n", hub, "link", "add", "br1", "type", "bridge")
        self.ip("-n", hub, "addr", "add", self.copies_address(0) + "/24", "dev", "br1")
        self.ip("-n", hub, "link", "set", "br1", "up")
        for i, name in enumerate(self.names[1:], 1):
            self.ip("-n", hub, "link", "add", f"w{i}", "type", "veth", "peer", "name", "eth1", "netns", name)
            self.ip("-n", hub, "link", "set", f"w{i}", "master", "br1", "up")
            self.ip("-n", name, "addr", "add", self.copies_address(i) + "/24", "dev", "eth1")
            self.ip("-n", name, "link", "set", "eth1", "up")

    @staticmethod
    def copies_address(index):
        return f"10.78.0.{index or 254}"

    def inside(self, index, *words):
        return ["ip", "netns", "exec", self.names[index], *words]

    def bytes_by(self, index, nic):
        """Received and sent."""
        return sum(int(subprocess.run(self.inside(index, "cat", f"/sys/class/net/{nic}/statistics/{way}_bytes"),
                                      check=True, timeout=30, stdout=subprocess.PIPE).stdout) for way in ("rx", "tx"))


@unittest.skipUnless(os.geteuid() == 0 and can_make_networks(),
                     "NO NETWORK NAMESPACES CAN BE MADE HERE: by which NIC copies go is not tested")
class BulkTest(ClusterTest):
    """Three nodes with addresses of their own."""

    count = 3

    @classmethod
    def make(cls):
        network = cls.network = TwoNets(cls.count)
        cls.addClassCleanup(network.remove)
        network.make()
        cluster = OneUsersCluster(nodes=cls.count, topology=FOUR_CORES, listen=network.address(0) + ":7117")
        cluster.controller.before = ["ip", "netns", "exec", network.names[0], *cluster.controller.before]
        path = os.path.join(cluster.root, "agent.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'[network.class.staging]\nnics = ["eth1"]\ndscp = {DSCP}\nrate = "{RATE >> 20}M"\n')
        for i, agent in enumerate(cluster.agents, 1):
            agent.before = network.inside(i)
            agent.arguments += ["--config", path]
        return cluster.start()

    def setUp(self):
        super().setUp()
        self.source = os.path.join(self.cluster.work, "source")
        with open(self.source, "wb") as file:
            file.write(os.urandom(SIZE))

    def counted(self, index):
        return {nic: self.network.bytes_by(index, nic) for nic in ("eth0", "eth1")}

    def run_script(self, nodes, body):
        job = self.cluster.submit("-N", nodes, "-n", nodes, self.cluster.script(
            f"export MUSTER_KEYS={self.cluster.client_keys}\n{body}; finish $?"))
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["exit_code"], 0, self.read(f"muster-{job}.out") + self.cluster.logs())

    def test_cast_goes_by_the_nic_of_its_class_marked_and_no_faster_than_its_rate(self):
        watch = subprocess.Popen(self.network.inside(2, sys.executable, "-c", MARKS, "eth1"),
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(watch.kill)
        self.assertEqual(watch.stdout.readline(), "ready\n")
        before = [self.counted(i) for i in range(1, self.count + 1)]
        begun = time.monotonic()
        target = os.path.join(self.cluster.work, "copy")
        self.run_script(self.count, f"{program('muster')} cast --force {self.source} {target}")
        took = time.monotonic() - begun
        after = [self.counted(i) for i in range(1, self.count + 1)]
        self.assertEqual(read_file(target), read_file(self.source))
        for i, (old, new) in enumerate(zip(before, after), 1):
            self.assertGreater(new["eth1"] - old["eth1"], SIZE, f"node{i}")
            self.assertLess(new["eth0"] - old["eth0"], SIZE // 4, f"node{i}")
        self.assertGreater(took, SIZE / RATE * 0.8)
        marks = json.loads(watch.communicate("", 30)[0])
        # All of it that is large: what the first node sends to the second, and takes for itself.
        self.assertEqual(list(marks), [str(DSCP << 2)], marks)

    @unittest.skipUnless(shutil.which("rclone"), "SKIPPED: rclone is not installed: object stores are not tested")
    def test_rclone_begins_at_the_address_of_its_nic_where_the_machine_routes_by_source(self):
        network = self.network
        # A store that both NICs lead to; what begins at eth1's address goes by eth1.
        store = "10.79.0.1"
        network.ip("-n", network.names[0], "addr", "add", f"{store}/32", "dev", "lo")
        node = network.names[1]
        network.ip("-n", node, "route", "add", f"{store}/32", "via", network.address(0), "dev", "eth0")
        network.ip("-n", node, "rule", "add", "from", network.copies_address(1), "lookup", "100")
        network.ip("-n", node, "route", "add", f"{store}/32", "via", network.copies_address(0), "dev", "eth1",
                   "table", "100")
        port = free_port()
        server = subprocess.Popen(network.inside(0, "rclone", "serve", "http", "--addr", f"{store}:{port}",
                                                 self.cluster.work),
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait, 30)
        self.addCleanup(server.kill)
        wait_until(lambda: subprocess.run(network.inside(1, "bash", "-c", f"exec 3<>/dev/tcp/{store}/{port}"),
                                          stderr=subprocess.DEVNULL).returncode == 0, "the store does not answer")
        before = self.counted(1)
        begun = time.monotonic()
        target = os.path.join(self.cluster.work, "fetched")
        self.run_script(1, f"[ $MUSTER_NODE_NAME = node1 ] && {program('muster')} stage "
                           f"\":http,url='http://{store}:{port}':source\" {target}")
        took = time.monotonic() - begun
        after = self.counted(1)
        self.assertEqual(read_file(target), read_file(self.source))
        self.assertGreater(after["eth1"] - before["eth1"], SIZE)
        self.assertLess(after["eth0"] - before["eth0"], SIZE // 4)
        self.assertGreater(took, SIZE / RATE * 0.8)
