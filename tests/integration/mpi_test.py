"""Open MPI programs whose ranks run on several nodes, started without mpirun: results, aborts, deaths."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

from cluster import (BIN, KERNELS, OPEN_MPI_AS_ROOT, OURS, PATIENCE, Cluster, ClusterTest, mpirun_of_open_mpi,
                     processes_with, program, read_file, start_up, wait_until)
from secured import OneUsersCluster

RING = os.path.join(BIN, "..", "tests", "mpi_ring")
# Open MPI keeps memory until the process ends; a leak of its own is not what these tests look for.
HEAT = ["env", "LSAN_OPTIONS=detect_leaks=0", os.path.join(KERNELS, "heat2d"), "--n", "64", "--steps",
        "20", "--json"]
HALO = ["env", "LSAN_OPTIONS=detect_leaks=0", os.path.join(KERNELS, "halo"), "--n", "1024", "--json"]
FOUR_CORES = "pack:1 core:4 pu:1"  # of each node, whatever the machine has
ROUNDS = int(os.environ.get("MUSTER_MPI_ROUNDS", "20"))


def ring_lines(size, local):
    """What the ranks of mpi_ring print, `local` on each node in a row."""
    return sorted(f"rank {rank} size {size} sum {size * (size - 1) // 2} ring {size} "
                  f"local {rank % local} of {local}" for rank in range(size))


class Mpi:
    """What the tests share."""

    def ranks(self):
        """{MPI rank: pid} of the live ranks of this cluster's mpi_ring."""
        found = {}
        for pid, command in processes_with(self.cluster.state).items():
            if "mpi_ring" in command.split(" ")[0]:
                for entry in read_file(f"/proc/{pid}/environ").split(b"\0"):
                    if entry.startswith(b"PMIX_RANK="):
                        found[int(entry[10:])] = pid
        return found

    def nothing_left(self):
        wait_until(lambda: not self.ranks(), lambda: f"ranks are left: {self.ranks()}", 30)
        wait_until(lambda: not self.cluster.supervisors(), "supervisors are left", 30)

    def ring(self, nodes, size, *arguments, before=()):
        return self.cluster.muster("run", "-N", nodes, "-n", size, *before, RING, *arguments)

    def expect_sums(self, nodes, size):
        done = self.ring(nodes, size)
        self.assertEqual(done.returncode, 0, done.stderr + self.cluster.logs())
        self.assertEqual(sorted(done.stdout.splitlines()), ring_lines(size, size // nodes))

    def expect_serial_heat(self, nodes, size):
        alone = json.loads(subprocess.run(HEAT, stdout=subprocess.PIPE, check=True, timeout=60,
                                          env=self.cluster.environment).stdout)
        done = self.cluster.muster("run", "-N", nodes, "-n", size, *HEAT)
        self.assertEqual(done.returncode, 0, done.stderr)
        together = json.loads(done.stdout)
        self.assertEqual(together["ranks"], size)
        self.assertEqual(together["residual_text"], alone["residual_text"])

    def hanging(self, nodes, size):
        """A run whose ranks have all talked to one another and wait to be ended."""
        run = self.cluster.begin("run", "-N", nodes, "-n", size, RING, "--hang")
        lines = [run.stdout.readline() for _ in range(size)]
        self.assertEqual(sorted(line.strip() for line in lines), ring_lines(size, size // nodes))
        self.assertEqual(len(self.ranks()), size)
        return run

    def code_of(self, run):
        out, err = run.communicate(timeout=60)
        self.last_words = out + err
        return run.returncode


class PersonalClusterTest(Mpi, ClusterTest):
    """The nodes of `muster up`, all on this machine."""

    own = True

    @classmethod
    def make(cls):
        return Cluster()

    def up(self, nodes):
        start_up(self.cluster, "--nodes", nodes, "--topology", FOUR_CORES)

    def test_two_nodes_reduce_ring_and_halo_right(self):
        self.up(2)
        self.expect_sums(2, 4)
        self.expect_sums(2, 2)
        self.expect_serial_heat(2, 4)

    def test_ranks_that_never_call_have_no_process_that_serves_them(self):
        self.up(2)
        self.expect_sums(2, 4)  # from now on each node knows what ranks have to be told
        beside = "for child in $(cat /proc/$PPID/task/*/children); do cat /proc/$child/cmdline | tr '\\0' ' '; done"
        silent = self.cluster.must("run", "-N", 2, "-n", 4, "sh", "-c", f"env; {beside}")
        self.assertIn("PMIX_RANK=3", silent)
        self.assertNotIn("muster-pmix", silent)
        called = self.cluster.must("run", "-N", 2, "-n", 4, "sh", "-c", f"{RING} >/dev/null; {beside}")
        self.assertIn("muster-pmix", called)

    def test_four_nodes_reduce_ring_and_halo_right(self):
        self.up(4)
        self.expect_sums(4, 8)
        self.expect_serial_heat(4, 4)

    def test_eight_nodes_reduce_ring_and_halo_right(self):
        self.up(8)
        self.expect_sums(8, 8)
        self.expect_serial_heat(8, 8)

    def test_ten_nodes_are_a_tree_of_two_levels(self):
        self.up(10)
        self.expect_sums(10, 10)


class MpirunTest(Mpi, ClusterTest):
    """An `mpirun` of Open MPI in a job's script, which starts its daemons by muster-rsh."""

    nodes = 2
    topology = FOUR_CORES

    def script_of(self, *words):
        return self.cluster.script(mpirun_of_open_mpi(self.cluster.work, "--oversubscribe", "--mca", "btl", "self,tcp",
                                                      *words) + "; finish $?")

    def setUp(self):
        super().setUp()
        if not shutil.which("mpirun.openmpi"):
            self.skipTest("THERE IS NO mpirun.openmpi")
        self.cluster.environment.update(OPEN_MPI_AS_ROOT)

    def test_it_has_the_jobs_nodes_and_slots(self):
        job = self.cluster.submit("-N", 2, "-n", 4, "-o", "mpirun.out", self.script_of(RING))
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual((row["state"], row["exit_code"]), ("COMPLETED", 0), self.read("mpirun.out"))
        lines = [line for line in self.read("mpirun.out").splitlines() if line.startswith("rank ")]
        self.assertEqual(len(lines), 4)
        self.assertEqual({line.split(" local ")[0] for line in lines},
                         {f"rank {rank} size 4 sum 6 ring 4" for rank in range(4)})
        nodes = {step["nodes"] for step in self.cluster.step_rows(job)}
        self.assertIn("node2", nodes, "the other node's daemon is a step")

    def test_a_host_of_another_job_is_refused(self):
        job = self.cluster.submit("-N", 2, "-n", 2, "-o", "rsh.out", self.cluster.script(
            "\"$OMPI_MCA_plm_rsh_agent\" node2 'echo on $MUSTER_NODE_NAME; exit 4'; echo $?\n"
            "\"$OMPI_MCA_plm_rsh_agent\" node9 true; echo $?"))
        self.cluster.wait_ended(job)
        text = self.read("rsh.out")
        self.assertIn("on node2\n", text)
        self.assertIn("\n4\n", text)
        self.assertIn("--nodelist: node9 is not a node of job", text)


class TwoNodesTest(Mpi, ClusterTest):
    """Two nodes of four cores that this machine plays."""

    nodes = 2
    topology = FOUR_CORES

    def test_many_in_a_row_are_all_right(self):
        for round_number in range(ROUNDS):
            with self.subTest(round=round_number):
                self.expect_sums(2, 4)
        self.nothing_left()

    def test_ranks_that_ask_one_by_one_for_their_peers_find_them(self):
        asking = {"OMPI_MCA_pmix_base_async_modex": "1", "OMPI_MCA_pmix_base_collect_data": "0"}
        done = self.cluster.muster("run", "-N", 2, "-n", 4, RING, environment=asking)
        self.assertEqual(done.returncode, 0, done.stderr + self.cluster.logs())
        self.assertEqual(sorted(done.stdout.splitlines()), ring_lines(4, 2))

    def test_mpi_abort_is_the_exit_code_wherever_it_was_called(self):
        for rank in (0, 3):
            with self.subTest(rank=rank):
                done = self.ring(2, 4, "--abort", 7, rank)
                self.assertEqual(done.returncode, 7, done.stderr)
                self.assertIn(f"rank {rank} on node{rank // 2 + 1}: exit code 7: it called MPI_Abort",
                              done.stderr)
                self.nothing_left()
                job = self.cluster.newest()
                (row,) = self.cluster.wait_ended(job)
                self.assertEqual((row["exit_code"], row["exit_signal"]), (7, 0), dict(row))

    def test_a_killed_rank_takes_the_others_with_it(self):
        for rank in (0, 3):
            with self.subTest(rank=rank):
                run = self.hanging(2, 4)
                os.kill(self.ranks()[rank], signal.SIGKILL)
                self.assertEqual(self.code_of(run), 128 + signal.SIGKILL, self.last_words)
                self.nothing_left()

    def test_a_rank_that_leaves_without_a_word_fails_the_run(self):
        done = self.ring(2, 4, "--leave")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("before MPI_Finalize", done.stderr)
        self.nothing_left()

    def test_a_rank_that_never_joins_does_not_leave_the_others_waiting(self):
        for code in (3, 0):
            with self.subTest(code=code):
                done = self.cluster.muster(
                    "run", "-N", 2, "-n", 2, "sh", "-c", f'[ $RANK = 1 ] && exit {code}; exec {RING}')
                self.assertEqual(done.returncode, code or 1, done.stderr)
                self.nothing_left()

    def test_a_killed_supervisor_leaves_no_rank_on_any_node(self):
        run = self.hanging(2, 4)
        victim = self.ranks()[2]
        supervisor = int(read_file(f"/proc/{victim}/stat").rpartition(b")")[2].split()[1])
        os.kill(supervisor, signal.SIGKILL)
        self.assertNotEqual(self.code_of(run), 0)
        self.nothing_left()
        (row,) = self.cluster.wait_ended(max(self.cluster.submitted()))
        self.assertEqual(row["state"], "FAILED")

    def test_ranks_whose_server_is_killed_leave_nothing_in_shared_memory(self):
        for known in (False, True):  # what ranks have to be told
            with self.subTest(known=known):
                run = self.hanging(2, 4)
                segments, servers = set(), set()
                for rank in self.ranks().values():
                    segments.add(re.search(rb"OMPI_MCA_btl_vader_backing_directory=([^\0]+)",
                                           read_file(f"/proc/{rank}/environ")).group(1).decode())
                    supervisor = read_file(f"/proc/{rank}/stat").rpartition(b")")[2].split()[1].decode()
                    children = read_file(f"/proc/{supervisor}/task/{supervisor}/children").split()
                    servers.update(int(child) for child in children
                                   if b"muster-pmix" in read_file(f"/proc/{int(child)}/cmdline"))
                self.assertEqual([os.path.isdir(each) for each in segments], [True, True])
                self.assertEqual(len(servers), 2)
                for server in servers:
                    os.kill(server, signal.SIGKILL)
                self.assertNotEqual(self.code_of(run), 0)
                self.nothing_left()
                self.assertEqual([each for each in segments if os.path.exists(each)], [])

    def test_a_killed_agent_and_a_killed_controller_change_nothing(self):
        run = self.hanging(2, 4)
        before = self.ranks()
        self.cluster.agents[1].kill()
        self.cluster.controller.kill()
        time.sleep(1)
        self.assertEqual(self.ranks(), before)
        self.cluster.controller.start()
        self.cluster.agents[1].start()
        self.cluster.must("cancel", max(self.cluster.submitted()))
        self.assertNotEqual(self.code_of(run), 0)
        self.nothing_left()
        (row,) = self.cluster.wait_ended(max(self.cluster.submitted()))
        self.assertEqual(row["state"], "CANCELLED")

    def test_ranks_come_together_though_an_agent_dies_as_they_start(self):
        run = self.cluster.begin("run", "-N", 2, "-n", 2, RING)
        wait_until(lambda: len(self.cluster.supervisors()) == 2 or run.poll() is not None,
                   "the supervisors did not start")
        self.cluster.agents[1].kill()
        self.cluster.agents[1].start()
        self.assertEqual(self.code_of(run), 0, self.last_words)

    def test_a_step_of_a_batch_script_has_its_ranks_on_both_nodes(self):
        script = os.path.join(self.cluster.work, "step.sh")
        with open(script, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n"
                       f"{BIN}/muster run {RING} >ring.txt || exit 20\n"
                       f"{BIN}/muster run {RING} --abort 9 3; [ $? = 9 ] || exit 21\n"
                       f"{BIN}/muster run {RING} >again.txt || exit 22\n"
                       "exit 11\n")
        job = self.cluster.submit("-N", 2, "-n", 4, script)
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["exit_code"], 11, self.read(f"muster-{job}.out") + self.cluster.logs())
        for name in ("ring.txt", "again.txt"):
            self.assertEqual(sorted(self.read(name).splitlines()), ring_lines(4, 2))

    def test_more_processes_are_refused_in_words(self):
        done = self.ring(2, 2, "--spawn")
        self.assertEqual(done.stdout.count("spawn refused"), 2, done.stdout + done.stderr)

    def test_the_secret_is_in_no_environment_and_no_command_line(self):
        run = self.hanging(2, 2)
        job = max(self.cluster.submitted())
        order = read_file(os.path.join(self.cluster.state, "agents", "node1", "attempts", f"{job}.1",
                                       "order"))
        secret = self.hex_digits(order)
        for pid in processes_with(self.cluster.state):
            for where in ("environ", "cmdline"):
                self.assertNotIn(secret, read_file(f"/proc/{pid}/{where}"))
        run.terminate()
        self.code_of(run)
        self.nothing_left()

    def hex_digits(self, order):
        found = re.search(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])", order)
        self.assertIsNotNone(found, "the order holds no secret")
        return found.group()


class Network:
    """Network namespaces, each with an address of its own, joined by a bridge in one of them."""

    def __init__(self, count):
        self.names = [f"mit{OURS}-{i}" for i in range(count + 1)]  # the first has the bridge

    def ip(self, *words):
        subprocess.run(["ip", *words], check=True, timeout=30, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT)

    def make(self):
        hub = self.names[0]
        for name in self.names:
            self.ip("netns", "add", name)
            self.ip("-n", name, "link", "set", "lo", "up")
        self.ip("-n", hub, "link", "add", "br0", "type", "bridge")
        self.ip("-n", hub, "addr", "add", self.address(0) + "/24", "dev", "br0")
        self.ip("-n", hub, "link", "set", "br0", "up")
        for i, name in enumerate(self.names[1:], 1):
            self.ip("-n", hub, "link", "add", f"v{i}", "type", "veth", "peer", "name", "eth0", "netns",
                    name)
            self.ip("-n", hub, "link", "set", f"v{i}", "master", "br0", "up")
            self.ip("-n", name, "addr", "add", self.address(i) + "/24", "dev", "eth0")
            self.ip("-n", name, "link", "set", "eth0", "up")

    def address(self, index):
        return f"10.77.0.{index or 254}"

    def remove(self):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL, timeout=30)


def can_make_networks():
    network = Network(1)
    try:
        network.make()
        return True
    except (OSError, subprocess.CalledProcessError):
        return False
    finally:
        network.remove() if os.geteuid() == 0 else None


@unittest.skipUnless(os.geteuid() == 0 and can_make_networks(),
                     "NO NETWORK NAMESPACES CAN BE MADE HERE: MPI between addresses is not tested")
class NamespacesTest(Mpi, ClusterTest):
    """Eight nodes with addresses of their own, and a controller under mutual TLS."""

    count = 8

    @classmethod
    def make(cls):
        network = cls.network = Network(cls.count)
        cls.addClassCleanup(network.remove)
        network.make()
        cluster = OneUsersCluster(nodes=cls.count, topology=FOUR_CORES, listen=network.address(0) + ":7117")
        cluster.controller.before = ["ip", "netns", "exec", network.names[0], *cluster.controller.before]
        for i, agent in enumerate(cluster.agents, 1):
            agent.before = ["ip", "netns", "exec", network.names[i]]
        return cluster.start()

    def test_ranks_of_two_four_and_eight_nodes_reduce_ring_and_halo_right(self):
        for nodes, size in ((2, 4), (4, 4), (8, 8)):
            with self.subTest(nodes=nodes):
                self.expect_sums(nodes, size)
                self.expect_serial_heat(nodes, size)
        self.nothing_left()

    def test_many_in_a_row_are_all_right(self):
        for round_number in range(ROUNDS):
            with self.subTest(round=round_number):
                self.expect_sums(4, 4)

    def test_a_node_whose_cable_is_slow_is_found_beside_the_others(self):
        nodes = [f"node{i}" for i in range(1, 6)]
        found = json.loads(self.cluster.muster("health", "--links", "--least", 20, "--json", *nodes[2:],
                                               patience=4 * PATIENCE).stdout)
        self.assertEqual(found["bad_nodes"], [])
        self.assertEqual(len(found["links"]), 3)
        self.assertEqual([link for link in found["links"] if link["failure"]], [])
        self.slowed(self.network.names[3], "add", "dev", "eth0", "root", "tbf", "rate", "200mbit", "burst", "64kb",
                    "latency", "50ms")
        try:
            done = self.cluster.muster("health", "--links", "--least", 20, "--narrow", *nodes,
                                       patience=4 * PATIENCE)
        finally:
            self.slowed(self.network.names[3], "del", "dev", "eth0", "root")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("Most links of node3 are slow", done.stdout)
        self.assertNotIn("not measured", done.stdout)
        self.assertIn("drained node3 for jobs that may span nodes: its links are slow", done.stderr)
        (node,) = json.loads(self.cluster.must("nodes", "--json", "node3"))["nodes"]
        self.assertEqual(node["state"], "IDLE+NARROW")
        self.cluster.must("run", "-w", "node3", "true")
        wide = self.cluster.submit("-N", 2, "-n", 2, "-w", "node3", "--wrap", "true")
        self.cluster.wait_reason(wide, "drained for jobs that may span nodes")
        self.cluster.must("resume", *nodes)  # a busy machine may have made others slow
        self.assertEqual(self.cluster.wait_ended(wide)[0]["state"], "COMPLETED")
        self.nothing_left()

    def slowed(self, name, *words):
        subprocess.run(["ip", "netns", "exec", name, "tc", "qdisc", *words], check=True, timeout=30)

    def test_halo_over_a_slow_network_is_bound_by_communication_and_on_one_node_it_is_not(self):
        slow = self.network.names[1:3]
        begin = time.monotonic()
        for name in slow:
            self.slowed(name, "add", "dev", "eth0", "root", "tbf", "rate", "20mbit", "burst", "64kb", "latency", "50ms")
        try:
            done = self.cluster.muster("run", "-w", "node[1-2]", "-N", 2, "-n", 2, *HALO, "--repeat", 1500,
                                       patience=4 * PATIENCE)
        finally:
            for name in slow:
                self.slowed(name, "del", "dev", "eth0", "root")
        elapsed = time.monotonic() - begin
        self.assertEqual(done.returncode, 0, done.stderr)
        sheet = self.cluster.must("show", "last")
        self.assertRegex(sheet, r"bound by +communication: network busy \d+ % of the time, \S+ [KM]iB/s sent, CPUs ")
        self.assertRegex(sheet, r"network +at least \S+ MiB sent \(.*/s\), \S+ MiB received \(.*/s\), .*busy \d+ %")
        (row,) = json.loads(self.cluster.must("history", "last", "--json"))["jobs"]
        self.assertGreater(float(row["usage"]["net_blocked"]), 5, "seconds")
        self.assertLessEqual(float(row["usage"]["net_blocked"]), 2 * elapsed, "it is within the time of two nodes")
        self.assertGreater(int(row["usage"]["net_sent"]), 8 << 20)
        done = self.cluster.muster("run", "-w", "node3", "-N", 1, "-n", 2, *HALO, "--repeat", 4000,
                                   patience=4 * PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        sheet = self.cluster.must("show", "last")
        self.assertRegex(sheet, r"bound by +\S")
        self.assertNotRegex(sheet, r"bound by +communication")
        self.nothing_left()

    def test_aborts_and_deaths_end_the_ranks_on_every_node(self):
        done = self.ring(4, 4, "--abort", 7, 2)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.nothing_left()
        run = self.hanging(4, 4)
        os.kill(self.ranks()[3], signal.SIGKILL)
        self.assertEqual(self.code_of(run), 128 + signal.SIGKILL, self.last_words)
        self.nothing_left()


if __name__ == "__main__":
    unittest.main()
