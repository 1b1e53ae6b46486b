"""Launchers in containers: an `mpirun` of the image has its ranks in the job's container on every node, bound and read back.

One class takes the node's own Open MPI into the tests' image, the other makes a Debian with it and with Python.
"""

import json
import os
import re
import shutil
import subprocess
import unittest

from cluster import BIN, OPEN_MPI_AS_ROOT, Cluster, mpirun_of_open_mpi, program, wait_until
from container import codename
from containers_test import Images
from mpirun_test import LINE, WHERE, cpus_of
from secured import USERS, SecuredCluster, why_not

ALL = sorted(os.sched_getaffinity(0))
OF_NODE = ("/usr", "/lib", "/lib64", "/etc/alternatives", "/etc/openmpi")
PACKAGES = "openmpi-bin,python3-minimal"
PYTHON = "import os, socket; print('python', os.environ['RANK'], open('/etc/of-image').read().strip())"


class Launchers(Images):
    """Two nodes whose bindings are real."""

    @classmethod
    def make(cls):
        cluster = Cluster(nodes=2)
        cluster.environment.update({**OPEN_MPI_AS_ROOT, "OMPI_MCA_btl": "self,tcp"})
        for name in ("OMP_NUM_THREADS", "OMP_PLACES", "OMP_PROC_BIND"):
            cluster.environment.pop(name, None)
        return cluster.start()

    def setUp(self):
        super().setUp()
        if len(ALL) < 2:
            self.skipTest("ONE CPU ONLY: there are no two nodes")
        self.where = os.path.join(self.cluster.work, "where.sh")
        with open(self.where, "w", encoding="utf-8") as file:
            file.write(WHERE)
        os.chmod(self.where, 0o755)

    def run_script(self, body, *options):
        """The job's number and what it wrote."""
        words = mpirun_of_open_mpi(self.cluster.work, "--oversubscribe")
        script = self.cluster.script(body.replace("MPIRUN", words) + "\nexit $?\n")
        job = self.cluster.submit("-N", 2, "-n", 2, "-o", "said.%j", *options, script)
        (row,) = self.cluster.wait_ended(job)
        said = self.read(f"said.{job}")
        self.assertEqual((row["state"], row["exit_code"]), ("COMPLETED", 0), said + self.cluster.logs())
        return job, said

    def expect_planned(self, job, said, launcher="an mpirun"):
        """A rank on each node, where the plan has it; it says so itself, and `show` has read it back."""
        lines = {int(found[1]): found for found in LINE.finditer(said)}
        self.assertEqual(sorted(lines), [0, 1], said)
        self.assertEqual({found[2] for found in lines.values()}, {"node1", "node2"})
        (shown,) = json.loads(self.cluster.must("show", "--json", job))["jobs"]
        inner = [rank for rank in shown["attempts"][-1]["ranks"] if f"of {launcher}" in rank.get("text", "")]
        self.assertEqual([rank["verdict"] for rank in inner], ["verified"] * 2, inner)
        for rank in inner:
            found = lines[rank.get("rank", 0)]
            self.assertEqual((found[2], found[3]), (rank["node"], rank["cpus"]), said)
            self.assertEqual(rank["found_cpus"], rank["cpus"])
            self.assertEqual(int(found[5]), len(cpus_of(found[3])), said)


class OfTheNodeTest(Launchers):
    """The tests' small image, into which a job mounts the node's Open MPI where it needs one."""

    def mounts(self):
        if not shutil.which("mpirun.openmpi"):
            self.skipTest("THERE IS NO mpirun.openmpi: its ranks are not tested")
        of_node = [path for path in OF_NODE if os.path.exists(path)]
        ring = os.path.join(BIN, "..", "tests")
        return ",".join([f"{path}:{path}:ro" for path in of_node] +
                        [f"{ring}:/mnt:ro", f"{self.cluster.work}:{self.cluster.work}"])

    def inside(self):
        return ("--container-image", self.oci, "--container-mounts", self.mounts(), "--container-env", "PATH")

    def test_a_remote_shell_of_an_image_without_libraries_is_in_the_jobs_container_there(self):
        _, said = self.run_script('"$OMPI_MCA_plm_rsh_agent" node2 "cat /srv/inside; echo on \\$MUSTER_NODE_NAME; exit 4"\n'
                                  "echo code $?\n"
                                  '"$OMPI_MCA_plm_rsh_agent" node9 true; echo code $?; true',
                                  "--container-image", self.oci)
        self.assertRegex(said, r"^inside\non node2\n.*exit code 4\ncode 4\n")
        self.assertRegex(said, r"--nodelist: node9 is not a node of job .*\ncode [1-9]")

    def test_each_rank_of_an_mpirun_is_in_the_container_and_has_its_planned_cores(self):
        job, said = self.run_script(f"MPIRUN sh -c '{self.where}; cat /srv/inside'", *self.inside())
        self.expect_planned(job, said)
        self.assertEqual(said.splitlines().count("inside"), 2, said)

    def test_each_rank_of_mpichs_mpiexec_is_in_the_container_and_has_its_planned_cores(self):
        if not shutil.which("mpiexec.hydra"):
            self.skipTest("THERE IS NO mpiexec.hydra: its ranks are not tested")
        for words in ("", "-n 2"):
            job, said = self.run_script(f"mpiexec.hydra {words} sh -c '{self.where}; cat /srv/inside; sleep 1'",
                                        *self.inside())
            self.expect_planned(job, said, "an mpiexec")
            self.assertEqual(said.splitlines().count("inside"), 2, said)

    def test_the_ranks_find_their_peers(self):
        if not os.path.exists(os.path.join(BIN, "..", "tests", "mpi_ring")):
            self.skipTest("SKIPPED: NO mpi_ring beside the programs: build the tests")
        _, said = self.run_script("MPIRUN /mnt/mpi_ring", *self.inside())
        self.assertEqual(sorted(line.split(" local")[0] for line in said.splitlines() if line.startswith("rank")),
                         [f"rank {rank} size 2 sum 1 ring 2" for rank in range(2)])

    def test_a_step_with_a_container_of_its_own_has_its_ranks_in_that(self):
        words = mpirun_of_open_mpi(self.cluster.work, "--oversubscribe", "sh", "-c",
                                   "'cat /srv/inside; echo on $MUSTER_NODE_NAME'")
        said = self.cluster.must("alloc", "-N", 2, "-n", 2, program("muster"), "run", "-N", 1, "-n", 1, *self.inside(),
                                 "sh", "-c", words)
        self.assertEqual(sorted(said.splitlines()), ["inside", "inside", "on node1", "on node2"])

    def test_a_job_that_is_cancelled_leaves_nothing_of_its_mpirun(self):
        words = mpirun_of_open_mpi(self.cluster.work, "--oversubscribe")
        marks = os.path.join(self.cluster.work, "begun")
        job = self.cluster.submit("-N", 2, "-n", 2, *self.inside(), self.cluster.script(
            f"{words} sh -c 'touch {marks}.$OMPI_COMM_WORLD_RANK; exec sleep 1000.5'\n"))
        wait_until(lambda: all(os.path.exists(f"{marks}.{rank}") for rank in (0, 1)), "its ranks do not begin")
        self.cluster.must("cancel", job)
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "CANCELLED")
        wait_until(lambda: not subprocess.run(["pgrep", "-f", "sleep 1000[.]5"], stdout=subprocess.PIPE,
                                                 check=False).stdout, "its ranks stay")


class OfUsersTest(Images):
    """Agents of root's, and an ordinary user who is known by MUNGE."""

    @classmethod
    def make(cls):
        reason = why_not()
        if reason:
            raise unittest.SkipTest("SKIPPED: " + reason)
        return SecuredCluster(nodes=2).start()

    def test_the_daemons_of_an_mpirun_are_its_users_who_says_whom_to_trust(self):
        if not shutil.which("mpirun.openmpi"):
            self.skipTest("THERE IS NO mpirun.openmpi: its ranks are not tested")
        own = self.cluster.place_of("alice").rstrip("/")
        words = mpirun_of_open_mpi(own, "--oversubscribe", "--mca", "btl", "self,tcp")
        for name in os.listdir(own):
            os.chown(os.path.join(own, name), USERS["alice"], USERS["alice"])
        with open(os.path.join(own, "job"), "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\nexport MUSTER_KEYS={self.cluster.trust} MUSTER_MUNGE_SOCKET={self.cluster.munge}\n"
                       f"{words} sh -c 'echo $(cat /srv/inside) on $MUSTER_NODE_NAME as $(id -u)'\n")
        os.chmod(os.path.join(own, "job"), 0o755)
        mounts = ",".join([f"{path}:{path}:ro" for path in OF_NODE if os.path.exists(path)] + [f"{own}:{own}"])
        done = self.cluster.as_user("alice", "submit", "--wait", "-N", 2, "-n", 2, "-o", f"{own}/said", "--container-image",
                                    self.oci, "--container-mounts", mounts, "--container-env", "PATH", f"{own}/job")
        with open(os.path.join(own, "said"), encoding="utf-8") as file:
            said = file.read()
        self.assertEqual(done.returncode, 0, done.stderr + said)
        self.assertEqual(sorted(said.splitlines()),
                         [f"inside on node{number} as {USERS['alice']}" for number in (1, 2)])


class OfDebianTest(Launchers):
    """A Debian with Open MPI and Python, made by mmdebstrap and umoci: nothing of the node is in it."""

    @classmethod
    def make(cls):
        if shutil.which("mmdebstrap") is None or os.geteuid() != 0:
            raise unittest.SkipTest("SKIPPED: root and mmdebstrap make the Debian")
        archive = os.path.join(cls.place, "debian.tar")
        made = subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", "--include=" + PACKAGES,
                               "--customize-hook=echo debian >$1/etc/of-image", codename(), archive],
                              capture_output=True, text=True, timeout=900, check=False)
        if made.returncode != 0:
            raise unittest.SkipTest("SKIPPED: mmdebstrap: " + (made.stderr.splitlines() or ["failed"])[-1])
        for words in (("new", "--image", "oci:debian"),
                      ("raw", "add-layer", "--image", "oci:debian", archive),
                      ("config", "--image", "oci:debian", "--config.env",
                       "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")):
            subprocess.run(["umoci", *words], cwd=cls.place, check=True, stdout=subprocess.DEVNULL)
        os.remove(archive)
        ring = os.path.join(BIN, "..", "tests", "mpi_ring")
        cls.ring = ring if os.path.exists(ring) else None
        return super().make()

    def inside(self, *more):
        mounts = ",".join([f"{self.cluster.work}:{self.cluster.work}", *more])
        return ("--container-image", f"oci:{self.place}/oci:debian", "--container-mounts", mounts)

    def test_a_python_program_runs_in_it_on_each_node(self):
        said = self.cluster.must("run", "-N", 2, *self.inside(), "python3", "-c", PYTHON)
        self.assertEqual(sorted(said.splitlines()), ["python 0 debian", "python 1 debian"])

    def test_each_rank_of_its_mpirun_is_in_it_and_has_its_planned_cores(self):
        job, said = self.run_script(f"MPIRUN sh -c '{self.where}; cat /etc/of-image'", *self.inside())
        self.expect_planned(job, said)
        self.assertEqual(said.splitlines().count("debian"), 2, said)

    def test_its_ranks_find_their_peers(self):
        if self.ring is None:
            self.skipTest("SKIPPED: NO mpi_ring beside the programs: build the tests")
        _, said = self.run_script("MPIRUN /mnt/mpi_ring", *self.inside(f"{os.path.dirname(self.ring)}:/mnt:ro"))
        self.assertEqual(sorted(re.findall(r"rank \d+ size \d+ sum \d+ ring \d+", said)),
                         [f"rank {rank} size 2 sum 1 ring 2" for rank in range(2)])


if __name__ == "__main__":
    unittest.main()
