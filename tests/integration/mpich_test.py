"""Programs of MPICH, whose ranks meet by PMI-1: --mpi=pmi1."""

import os
import shutil
import subprocess
import unittest

from cluster import ClusterTest
from mpi_test import FOUR_CORES, ring_lines

COMPILER = shutil.which("mpicc.mpich")
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs", "mpi_ring.c")


@unittest.skipUnless(COMPILER, "THERE IS NO mpicc.mpich: programs of MPICH are not tested (apt-get install libmpich-dev)")
class MpichTest(ClusterTest):
    nodes = 2
    topology = FOUR_CORES

    def setUp(self):
        super().setUp()
        self.program = os.path.join(self.cluster.work, "mpich_ring")
        if not os.path.exists(self.program):
            subprocess.run([COMPILER, "-O1", "-o", self.program, SOURCE], check=True, timeout=120)

    def ring(self, nodes, size, *arguments):
        # MPICH would look for a network device by itself; here there is the loopback alone.
        return self.cluster.muster("run", "--mpi", "pmi1", "-N", nodes, "-n", size, self.program, *arguments,
                                   patience=120)

    def test_ranks_on_one_node_and_on_two_find_one_another(self):
        for nodes, size in ((1, 1), (1, 2), (1, 4), (2, 2), (2, 6)):
            with self.subTest(nodes=nodes, size=size):
                done = self.ring(nodes, size)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(sorted(done.stdout.splitlines()), ring_lines(size, size // nodes))

    def test_an_abort_ends_all_with_its_code(self):
        for nodes in (1, 2):
            with self.subTest(nodes=nodes):
                self.assertEqual(self.ring(nodes, 2, "--abort", 9).returncode, 9)

    def test_a_rank_that_leaves_the_others_ends_them(self):
        for nodes in (1, 2):
            with self.subTest(nodes=nodes):
                self.assertEqual(self.ring(nodes, 2, "--leave").returncode, 1)

    def test_a_spawn_is_refused(self):
        done = self.ring(1, 1, "--spawn")
        self.assertIn("spawn refused", done.stdout)

    def test_a_rank_that_speaks_nonsense_harms_nobody_but_its_step(self):
        done = self.cluster.muster("run", "--mpi", "pmi1", "-n", 1, "bash", "-c",
                                   "head -c 100000 /dev/zero >&3; cat <&3; echo closed")
        self.assertEqual(done.stdout, "closed\n", done.stderr)
        self.assertEqual(self.ring(1, 2).returncode, 0)


if __name__ == "__main__":
    unittest.main()
