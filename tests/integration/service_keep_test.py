"""Services that are kept: replicas that ended are replaced, their number follows their load, and a node that dies or
cannot be reached leaves the file of endpoints, over TCP and several agents."""

import json
import os
import re
import signal
import subprocess
import time
import unittest

from cluster import Cluster, processes_with, program, read_file, wait_until
from mpi_test import Network, can_make_networks
from secured import OneUsersCluster
from services import SERVER, ServiceCase

TCP_LOSS = 60  # seconds until a connection that has gone silent is given up: keepalive asks every 20 s, and waits 20 s


class KeptService(ServiceCase):
    """Replicas of which some end."""

    def jobs(self):
        return [replica["job"] for replica in self.replicas()]

    def wait_whole(self, count, without=()):
        def whole():
            ready = self.ready()
            return len(ready) == count == len(self.replicas()) and not {each["job"] for each in ready} & set(without)
        wait_until(whole, lambda: f"{count} are not ready without {without}: {self.replicas()}", pause=0.2)


class KeptTest(KeptService):
    """On one node."""

    def load(self, value):
        """What each replica reports from now on."""
        path = os.path.join(self.place, "sickload")
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(str(value))
        os.rename(path + ".new", path)

    def test_replicas_whose_jobs_ended_are_replaced_until_the_service_is_stopped(self):
        job = self.start(2)
        stop = self.keep()
        self.cluster.must("cancel", f"{job}_0")
        self.wait_whole(2, {f"{job}_0"})
        keeper = next(pid for pid, command in processes_with(self.cluster.state).items()
                      if "service replica" in command and "muster-supervisor" not in command)
        os.kill(keeper, signal.SIGKILL)
        self.cluster.must("cancel", *(each for each in self.jobs()))
        self.wait_whole(2, {f"{job}_0", f"{job}_1"})
        self.must("stop", self.name)
        stop.process.wait(timeout=30)
        self.assertRegex(stop(), r"^1 replica is missing: job \d+\n(.+\n)*the service is stopped\n$")
        wait_until(lambda: self.replicas() == [], self.replicas)

    def test_a_keeper_may_be_a_job_whose_replicas_are_jobs_of_their_own(self):
        job = self.start(2)
        keeper = self.cluster.submit("-c", 1, "--mem", "64M", "--wrap", f"{program('muster')} service keep {self.name}")
        self.cluster.wait_state(keeper, "RUNNING")
        self.cluster.must("cancel", f"{job}_0")
        self.wait_whole(2, {f"{job}_0"})
        self.must("stop", self.name)
        self.assertEqual(self.cluster.wait_ended(keeper)[0]["state"], "COMPLETED")

    def test_a_keeper_that_begins_after_the_script_was_erased_says_so(self):
        job = self.start(1)
        self.cluster.must("cancel", f"{job}_0")
        wait_until(lambda: self.replicas() == [], self.replicas)
        done = self.muster("keep", self.name)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("its script was erased when it ended", done.stderr)
        self.assert_one_line(done.stderr)
        self.assertEqual(self.must("stop", self.name), f"Stopped service {self.name}: 0 replicas")

    def test_scaling_and_rolling_are_not_undone_by_a_keeper_or_by_two(self):
        self.start(2)
        keepers = [self.keep("--drain", "0s"), self.keep("--drain", "0s")]
        self.must("scale", self.name, 4)
        self.wait_whole(4)
        self.must("scale", self.name, 3, "--drain", "3s")
        self.wait_whole(3)
        before = self.jobs()
        self.must("roll", self.name, "--rolling", 2, "--drain", "3s")
        self.wait_whole(3, before)
        time.sleep(4)
        self.wait_whole(3, before)
        self.assertEqual([stop() for stop in keepers], ["", ""])

    def test_the_number_follows_what_the_replicas_report_within_its_bounds(self):
        self.load(30)
        self.start(1)
        said = self.must("scale", self.name, "--min", 1, "--max", 3, "--metric", "inflight", "--target", 10, "--window",
                         "10s", "--settle", "5s")
        self.assertEqual(said, "1 replica already\nfrom now on 1-3 by inflight/10, by muster service keep")
        stop = self.keep("--drain", "0s")
        self.wait_whole(3)
        scaled = json.loads(self.must("list", "--json"))["services"][0]
        self.assertEqual((scaled["asked"], scaled["scaled"]["metric"], scaled["scaled"]["max"]), (3, "inflight", 3))
        self.assertIn("1-3 by inflight/10", self.must("list"))
        self.load(2)
        self.wait_whole(1)
        said = stop()
        self.assertRegex(said, r"(?m)^from 1 to 3 replicas: inflight is [\d.]+, to be 10$")
        self.assertRegex(said.splitlines()[-1], r"^job \d+_\d+ is ended: it is one too many$")


class KeptScriptsTest(KeptService):
    """Where scripts of jobs that ended are kept, as on a personal cluster."""

    @classmethod
    def make(cls):
        cluster = Cluster(topology=cls.topology)
        cluster.configure("[retention]\nkeep_script = true\n")
        return cluster.start()

    def test_what_ended_while_no_keeper_ran_is_replaced_when_one_begins(self):
        job = self.start(2)
        self.cluster.must("cancel", f"{job}_0", f"{job}_1")
        wait_until(lambda: self.replicas() == [], self.replicas)
        stop = self.keep()
        self.wait_whole(2)
        self.assertRegex(stop(), r"^2 replicas are missing: job \d+\n$")
        self.cluster.must("cancel", *self.jobs())
        wait_until(lambda: self.replicas() == [], self.replicas)
        self.assertEqual(self.must("stop", self.name), f"Stopped service {self.name}: 0 replicas")
        done = self.muster("keep", self.name)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("no such service runs", done.stderr)


class TcpCluster(OneUsersCluster):
    """Whose user calls over TCP, as jobs do. `before`: words before each of the commands."""

    before = ()

    def command(self, *arguments):
        verb, rest = arguments[0], list(arguments[1:])
        return [*self.before, program("muster"), verb, "--controller", self.tcp, *[str(a) for a in rest]]

    def start(self):
        self.environment["MUSTER_KEYS"] = self.client_keys
        return super().start()


class OverTcp(ServiceCase):
    """Three nodes, of which two run a replica each."""

    own = True
    count = 3
    lost_after = "2s"

    @classmethod
    def make(cls):
        return TcpCluster(nodes=cls.count, topology="pack:1 core:8 pu:1").start()

    def begin_kept(self, *options):
        """Starts two replicas that are kept and followed; the path of the file, the keeper, and the nodes' numbers."""
        self.start(2, "-c", 5, *options)
        path = os.path.join(self.place, "web.conf")
        self.follow(path)
        wait_until(lambda: self.servers(path) == self.addresses(), lambda: read_file(path))
        nodes = [int(replica["nodes"][0][-1]) - 1 for replica in self.replicas()]
        self.assertEqual(len(set(nodes)), 2)
        return path, self.keep("--lost-after", self.lost_after, "--drain", "0s"), nodes

    @staticmethod
    def servers(path):
        return sorted(re.findall(r"server ([\d.:]+);", read_file(path).decode()))

    def addresses(self):
        return sorted(f"{each['host']}:{each['ports']['http']}" for each in self.ready())

    def address_of(self, number):
        return next(f"{each['host']}:{each['ports']['http']}" for each in self.replicas()
                    if each["nodes"] == [f"node{number + 1}"])

    def wait_recovered(self, path, address):
        """Without that address, and two again."""
        def recovered():
            servers = self.servers(path)
            return len(servers) == 2 and address not in servers and servers == self.addresses()
        wait_until(recovered, lambda: f"{read_file(path)} {self.replicas()}", pause=0.2)

    def wait_given_up(self, job):
        """Whose end is ordered, though its node does not know yet."""
        wait_until(lambda: (job, "RUNNING") not in [(each["job"], each["job_state"]) for each in self.replicas()],
                   self.replicas, pause=0.2)


class LostNodeTest(OverTcp):
    """A node and all that runs on it dies at once."""

    def test_a_dead_nodes_replica_leaves_the_endpoints_and_is_replaced(self):
        path, stop, nodes = self.begin_kept()
        job, address = self.replicas()[0]["job"], self.address_of(nodes[0])
        self.cluster.lose_node(nodes[0])
        wait_until(lambda: address not in self.servers(path), lambda: read_file(path), 15)
        self.wait_recovered(path, address)
        self.wait_given_up(job)
        self.cluster.agents[nodes[0]].start()
        self.wait_ready(2)
        self.assertNotIn(job, [replica["job"] for replica in self.replicas()])
        self.assertRegex(stop(), rf"^1 replica is missing: job \d+\njob {job} is ended: its node is lost\n$")

    def test_a_dead_nodes_replica_is_lost_in_the_list_and_comes_back_with_it(self):
        self.start(2, "-c", 5)
        replica = self.replicas()[0]
        number = int(replica["nodes"][0][-1]) - 1
        self.cluster.lose_node(number)
        wait_until(lambda: self.replicas()[0]["state"] == "lost", self.replicas, 15)
        self.assertEqual(len(self.endpoints()), 1)
        self.cluster.agents[number].start()
        self.wait_ready(2)
        self.assertEqual(self.replicas()[0]["job"], replica["job"], "it was requeued")

    def test_a_restart_of_agents_takes_no_replica_from_the_endpoints(self):
        path, stop, nodes = self.begin_kept()
        before = self.servers(path)
        seen = set()

        def watch(seconds):
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                seen.add(tuple(self.servers(path)))
                time.sleep(0.05)
        for number in nodes:
            self.cluster.agents[number].stop()
        watch(5)  # longer than a lost replica is waited for
        for number in nodes:
            self.cluster.agents[number].start()
        watch(2)
        self.assertEqual((seen, stop()), ({tuple(before)}, ""))


@unittest.skipUnless(os.geteuid() == 0 and can_make_networks(),
                     "NO NETWORK NAMESPACES CAN BE MADE HERE: services are not tested between addresses")
class CutNodeTest(OverTcp):
    """Nodes have addresses of their own, and the cable of one is pulled: it goes on, and nobody reaches it."""

    def setUp(self):
        network = self.network = Network(self.count)
        self.addCleanup(network.remove)
        network.make()
        cluster = TcpCluster(nodes=self.count, topology="pack:1 core:8 pu:1", listen=network.address(0) + ":7117")
        hub = ["ip", "netns", "exec", network.names[0]]
        cluster.controller.before = [*hub, *cluster.controller.before]
        cluster.before = [*hub, "setpriv", f"--reuid={cluster.user.pw_uid}", f"--regid={cluster.user.pw_gid}",
                          "--clear-groups"]
        cluster.identity = {}
        for i, agent in enumerate(cluster.agents, 1):
            agent.before = ["ip", "netns", "exec", network.names[i]]
        self.make = cluster.start
        super().setUp()

    def write(self, name, version):
        path = os.path.join(self.place, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(SERVER.replace("VERSION", f"v{version}").replace('"127.0.0.1"', '""'))
        return path

    def cable(self, number, state):
        subprocess.run(["ip", "-n", self.network.names[0], "link", "set", f"v{number + 1}", state], check=True)

    def test_a_node_without_its_cable_leaves_the_endpoints_and_its_job_ends_when_it_is_back(self):
        path, stop, nodes = self.begin_kept()
        job, address = self.replicas()[0]["job"], self.address_of(nodes[0])
        self.assertTrue(address.startswith(self.network.address(nodes[0] + 1) + ":"), address)
        self.cable(nodes[0], "down")
        began = time.monotonic()
        wait_until(lambda: address not in self.servers(path), lambda: read_file(path), TCP_LOSS)
        self.wait_recovered(path, address)
        self.assertLess(time.monotonic() - began, TCP_LOSS + 30)
        self.wait_given_up(job)
        self.cable(nodes[0], "up")
        wait_until(lambda: len(self.replicas()) == 2, self.replicas)
        self.wait_ready(2)
        self.assertRegex(stop(), rf"^1 replica is missing: job \d+\njob {job} is ended: its node is lost\n$")


if __name__ == "__main__":
    unittest.main()
