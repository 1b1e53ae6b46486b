"""Ranks that an `mpirun` or `mpiexec` in a job's script starts: each where the plan says, on every node, and read back."""

import json
import os
import re
import shutil
import subprocess
import unittest

from cluster import OPEN_MPI_AS_ROOT, Cluster, ClusterTest, mpirun_of_open_mpi

# What a rank says of itself. Its OpenMP places are true where each is within what it may run on.
WHERE = """#!/bin/sh
cpus=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
echo "rank ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} node $MUSTER_NODE_NAME cpus $cpus places ${OMP_PLACES:-none}" \\
  "threads ${OMP_NUM_THREADS:-none} numbers ${RANK:-none}/${WORLD_SIZE:-none} end"
"""
LINE = re.compile(r"rank (\d+) node (\S+) cpus (\S+) places (\S+) threads (\S+) numbers (\S+) end")
ALL = sorted(os.sched_getaffinity(0))
LAMMPS = """units lj
lattice fcc 0.8442
region box block 0 4 0 4 0 4
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
fix 1 all nve
run 20
"""


def cpus_of(text):
    """{0, 1, 5} of "0-1,5"."""
    cpus = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        cpus.update(range(int(first), int(last or first) + 1))
    return cpus


class MpirunTest(ClusterTest):
    """What the tests share. The machine's nodes are real: their bindings are enforced."""

    @classmethod
    def make(cls):
        cluster = Cluster(nodes=cls.nodes)
        cluster.environment.update({**OPEN_MPI_AS_ROOT, "OMPI_MCA_btl": "self,tcp"})
        for name in ("OMP_NUM_THREADS", "OMP_PLACES", "OMP_PROC_BIND"):
            cluster.environment.pop(name, None)
        return cluster.start()

    def setUp(self):
        super().setUp()
        for needed in self.needed:
            if not shutil.which(needed):
                self.skipTest(f"THERE IS NO {needed}: its ranks are not tested")
        if len(ALL) < self.nodes:
            self.skipTest(f"ONLY {len(ALL)} CPUS: {self.nodes} nodes need one each")
        self.where = os.path.join(self.cluster.work, "where.sh")
        with open(self.where, "w", encoding="utf-8") as file:
            file.write(WHERE)
        os.chmod(self.where, 0o755)

    def run_script(self, body, *options):
        """The job's number and {rank: what it said}."""
        body = body.replace("mpirun.openmpi", mpirun_of_open_mpi(self.cluster.work))
        job = self.cluster.submit(*options, "-o", "said.%j", self.cluster.script(body + "\nfinish $?"))
        (row,) = self.cluster.wait_ended(job)
        self.said = self.read(f"said.{job}")
        self.assertEqual((row["state"], row["exit_code"]), ("COMPLETED", 0), self.said + self.cluster.logs())
        return job, {int(m[1]): m for m in LINE.finditer(self.said)}

    def inner(self, job):
        """What `show` says of the ranks that a launcher started."""
        ranks = json.loads(self.cluster.must("show", "--json", job))["jobs"][0]["attempts"][-1]["ranks"]
        return [rank for rank in ranks if "of an mpi" in rank.get("text", "")]

    def expect_planned(self, job, said, size):
        """Each rank is where the plan has it, says so itself, and `show` has read it."""
        self.assertEqual(sorted(said), list(range(size)), self.said)
        inner = self.inner(job)
        self.assertEqual({rank["verdict"] for rank in inner}, {"verified"}, inner)
        self.assertEqual(sorted(rank.get("rank", 0) for rank in inner), list(range(size)), inner)
        for rank in inner:
            found = said[rank.get("rank", 0)]
            self.assertEqual((found[2], found[3]), (rank["node"], rank["cpus"]), self.said)
            self.assertEqual(rank["found_cpus"], rank["cpus"])
            self.assertEqual(int(found[5]), len(cpus_of(found[3])), self.said)
            if found[4] != "cores":  # those of what it is bound to
                places = {int(cpu) for cpu in re.findall(r"\d+", found[4])}
                self.assertEqual(places, cpus_of(found[3]), self.said)
        together = [cpu for rank in inner for cpu in cpus_of(rank["cpus"])]
        self.assertEqual(len(together), len(set(together)), "no two ranks share a core")
        self.assertIn("inner", self.cluster.must("show", job))


class OneNodeOfOpenMpiTest(MpirunTest):
    nodes = 1
    needed = ("mpirun.openmpi",)

    def test_each_rank_has_its_planned_cores(self):
        job, said = self.run_script(f"mpirun.openmpi {self.where}", "-n", len(ALL))
        self.expect_planned(job, said, len(ALL))
        self.assertEqual([said[rank][6] for rank in sorted(said)],
                         [f"{rank}/{len(ALL)}" for rank in range(len(ALL))])

    @unittest.skipUnless(len(ALL) > 1, "ONE CPU ONLY")
    def test_a_job_whose_cores_do_not_begin_at_0_has_its_own(self):
        first = self.cluster.submit("-n", 1, self.cluster.script(self.cluster.gate() + "\nfinish 0"))
        self.cluster.wait_state(first, "RUNNING")
        job, said = self.run_script(f"mpirun.openmpi {self.where}", "-n", 1)
        self.cluster.open_gate(lambda: first in self.cluster.history())
        self.expect_planned(job, said, 1)
        self.assertNotIn(ALL[0], cpus_of(said[0][3]), "the first job has that one")

    def test_other_counts_than_the_plans_share_what_the_job_has(self):
        for size in (1, len(ALL) + 1):
            if size == len(ALL):
                continue
            with self.subTest(size=size):
                job, said = self.run_script(f"mpirun.openmpi --oversubscribe -n {size} {self.where}", "-n", len(ALL))
                self.assertEqual(sorted(said), list(range(size)), self.said)
                self.assertEqual({frozenset(cpus_of(line[3])) for line in said.values()}, {frozenset(ALL)})
                self.assertEqual({line[4] for line in said.values()}, {"none"})
                self.assertEqual({rank["verdict"] for rank in self.inner(job)}, {"verified"})
                self.assertEqual(len(self.inner(job)), size)

    def test_what_its_user_says_of_binding_stands(self):
        for words, variables in (("--bind-to none", ""), ("", "OMPI_MCA_hwloc_base_binding_policy=none")):
            with self.subTest(words=words, variables=variables):
                job, said = self.run_script(f"{variables} OMP_PLACES=threads mpirun.openmpi {words} {self.where}",
                                            "-n", len(ALL))
                self.assertEqual({frozenset(cpus_of(line[3])) for line in said.values()}, {frozenset(ALL)})
                self.assertEqual({line[4] for line in said.values()}, {"threads"})
                self.assertIn("was given a binding", self.inner(job)[0]["text"])

    def test_a_rank_that_cannot_be_started_says_so(self):
        job = self.cluster.submit("-n", 1, "-o", "bad.out", self.cluster.script(
            f"printf '#!/nowhere\\n' >bad; chmod +x bad; mpirun.openmpi ./bad; finish $?"))
        (row,) = self.cluster.wait_ended(job)
        self.assertNotEqual(row["exit_code"], 0)
        self.assertIn("bad", self.read("bad.out"))


@unittest.skipUnless(len(ALL) > 1, "ONE CPU ONLY: there are no two nodes")
class TwoNodesOfOpenMpiTest(MpirunTest):
    nodes = 2
    needed = ("mpirun.openmpi",)

    def test_each_rank_has_its_planned_cores_on_its_own_node(self):
        job, said = self.run_script(f"mpirun.openmpi --oversubscribe {self.where}", "-N", 2, "-n", 2)
        self.expect_planned(job, said, 2)
        self.assertEqual({line[2] for line in said.values()}, {"node1", "node2"})

    def test_lammps_runs_without_a_word_of_its_places(self):
        if not shutil.which("lmp"):
            self.skipTest("THERE IS NO lmp: LAMMPS is not tested (apt-get install lammps)")
        with open(os.path.join(self.cluster.work, "melt.in"), "w", encoding="utf-8") as file:
            file.write(LAMMPS)
        job, _ = self.run_script("mpirun.openmpi --oversubscribe lmp -in melt.in", "-N", 2, "-n", 2)
        self.assertIn("Loop time", self.said)
        self.assertIn("on 2 procs", self.said)
        self.assertNotIn("places", self.said)
        self.assertEqual([rank["verdict"] for rank in self.inner(job)], ["verified"] * 2)

    def test_hpcc_succeeds(self):
        example = "/usr/share/doc/hpcc/examples/_hpccinf.txt"
        if not shutil.which("hpcc") or not os.path.exists(example):
            self.skipTest("THERE IS NO hpcc: it is not tested (apt-get install hpcc)")
        with open(example, encoding="utf-8") as file:
            text = file.read()
        text = re.sub(r"(?m)^\S+(\s+Ns)$", r"64\1", re.sub(r"(?m)^\d+(\s+Ps)$", r"1\1", re.sub(
            r"(?m)^\d+(\s+Qs)$", r"2\1", text)))
        with open(os.path.join(self.cluster.work, "hpccinf.txt"), "w", encoding="utf-8") as file:
            file.write(text)
        self.run_script("mpirun.openmpi --oversubscribe hpcc", "-N", 2, "-n", 2)
        self.assertIn("Success=1", self.read("hpccoutf.txt"))


class OneNodeOfMpichTest(MpirunTest):
    nodes = 1
    needed = ("mpiexec.hydra",)

    def test_each_rank_has_its_planned_cores(self):
        for words in ("", f"-n {len(ALL)}"):
            with self.subTest(words=words):
                job, said = self.run_script(f"mpiexec.hydra {words} sh -c '{self.where}; sleep 1'", "-n", len(ALL))
                self.expect_planned(job, said, len(ALL))

    @unittest.skipUnless(len(ALL) > 1, "ONE CPU ONLY")
    def test_another_count_than_the_plans_shares_what_the_job_has(self):
        job, said = self.run_script(f"mpiexec.hydra -n 1 sh -c '{self.where}; sleep 1'", "-n", len(ALL))
        self.assertEqual(cpus_of(said[0][3]), set(ALL), self.said)
        self.assertEqual([rank["verdict"] for rank in self.inner(job)], ["verified"])

    def test_what_its_user_says_of_binding_stands(self):
        _, said = self.run_script(f"mpiexec.hydra -bind-to user:{ALL[-1]} -n 1 {self.where}", "-n", len(ALL))
        self.assertEqual(cpus_of(said[0][3]), {ALL[-1]}, self.said)

    def test_ranks_that_end_too_soon_to_be_read_are_said_to(self):
        job, _ = self.run_script("mpiexec.hydra true", "-n", 1)
        (rank,) = self.inner(job)
        self.assertIn(rank["verdict"], ("unreadable", "verified"))


@unittest.skipUnless(len(ALL) > 1, "ONE CPU ONLY: there are no two nodes")
class TwoNodesOfMpichTest(MpirunTest):
    nodes = 2
    needed = ("mpiexec.hydra", "mpicc.mpich")

    def test_each_rank_has_its_planned_cores_on_its_own_node(self):
        job, said = self.run_script(f"mpiexec.hydra sh -c '{self.where}; sleep 1'", "-N", 2, "-n", 2)
        self.expect_planned(job, said, 2)
        self.assertEqual({line[2] for line in said.values()}, {"node1", "node2"})

    def test_a_program_of_mpich_finds_its_peers(self):
        ring = os.path.join(self.cluster.work, "ring")
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs", "mpi_ring.c")
        subprocess.run(["mpicc.mpich", "-O1", "-o", ring, source], check=True, timeout=120)
        self.run_script(f"mpiexec.hydra {ring}", "-N", 2, "-n", 2)
        self.assertEqual(sorted(line.split(" local ")[0] for line in self.said.splitlines() if "rank" in line),
                         [f"rank {rank} size 2 sum 1 ring 2" for rank in range(2)])


if __name__ == "__main__":
    unittest.main()
