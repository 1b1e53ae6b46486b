"""Collective checkpoints of real MPI ranks: killed, out of space, come back on another number of ranks.

Usage: mpi_test.py MPI_CHECKPOINT
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.path.abspath(sys.argv[1])
MPIRUN = shutil.which("mpirun")
SEED = int(os.environ.get("MUSTER_SEED", "1"))
# Open MPI keeps memory until the process ends; a leak of its own is not what these tests look for.
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_btl="self,vader",
                   OMPI_MCA_btl_vader_single_copy_mechanism="none",
                   OMPI_MCA_mpi_yield_when_idle="1", LSAN_OPTIONS="detect_leaks=0")


@unittest.skipUnless(MPIRUN, "THERE IS NO mpirun HERE: collective checkpoints are not tested with MPI")
class MpiCheckpoint(unittest.TestCase):
    def setUp(self):
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        place = tempfile.TemporaryDirectory(prefix="muster-mpi-", dir=memory)
        self.addCleanup(place.cleanup)
        self.directory = place.name

    def begin(self, ranks, steps, *arguments):
        return subprocess.Popen([MPIRUN, "-n", str(ranks), PROGRAM, self.directory, str(steps), *arguments],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=ENVIRONMENT, start_new_session=True)

    def run_ranks(self, ranks, steps, *arguments):
        run = self.begin(ranks, steps, *arguments)
        out, err = run.communicate(timeout=120)
        return run.returncode, out, err

    def expect(self, line, ranks, steps, *arguments):
        code, out, err = self.run_ranks(ranks, steps, *arguments)
        self.assertEqual((code, out), (0, line + "\n"), err)

    def generations(self):
        return sorted(name for name in os.listdir(self.directory) if name.startswith("gen-"))

    def newest(self):
        return max((int(name[4:]) for name in self.generations() if "." not in name), default=0)

    def test_ranks_go_on_where_they_were(self):
        self.expect("from 0 to 3 saved 3", 4, 3)
        self.expect("from 3 to 5 saved 2", 4, 5)
        self.assertEqual(self.generations(), ["gen-0000000004", "gen-0000000005"])

    def test_no_space_and_io_errors_of_one_rank_fail_the_commit_on_all(self):
        self.expect("from 0 to 2 saved 2", 3, 2)
        for trouble, rank, call in (("nospace", 2, 2), ("nospace", 1, 3), ("nospace", 0, 9),
                                    ("ioerror", 2, 4)):
            with self.subTest(trouble=trouble, rank=rank, call=call):
                code, out, err = self.run_ranks(3, 3, "--trouble", trouble, str(rank), str(call))
                self.assertNotEqual(code, 0)
                self.assertIn("from 2 to 3 saved 0\n", out)
                self.assertIn(f"rank {rank}: ", err)
                self.assertEqual(self.generations(), ["gen-0000000001", "gen-0000000002"])
        self.expect("from 2 to 3 saved 1", 3, 3)

    def test_a_rank_killed_in_a_commit_leaves_the_generation_before(self):
        self.expect("from 0 to 2 saved 2", 3, 2)
        for rank, call in ((1, 0), (2, 3), (0, 6), (0, 14)):
            with self.subTest(rank=rank, call=call):
                code, _, _ = self.run_ranks(3, 3, "--trouble", "kill", str(rank), str(call))
                self.assertNotEqual(code, 0)
                complete = [name for name in self.generations() if name.count(".") == 0]
                self.assertEqual(complete, ["gen-0000000001", "gen-0000000002"])
        self.expect("from 2 to 3 saved 1", 3, 3)

    def test_ranks_killed_from_outside_at_random_lose_no_complete_generation(self):
        chance = random.Random(SEED)
        reached = 0
        for _ in range(4):
            run = self.begin(3, 1_000_000, "--size", "300000")
            deadline = time.monotonic() + 60
            while self.newest() <= reached:
                self.assertIsNone(run.poll(), "it ended before it was killed")
                self.assertLess(time.monotonic(), deadline, "no generation was made")
                time.sleep(0.002)
            time.sleep(0.3 * chance.random())
            before = self.newest()
            os.kill(chance.choice(self.ranks_of(run)), signal.SIGKILL)
            self.assertNotEqual(run.wait(timeout=60), 0)
            for pipe in (run.stdout, run.stderr):
                pipe.close()
            reached = self.newest()
            self.assertGreaterEqual(reached, before)
        code, out, err = self.run_ranks(3, 0, "--size", "300000")
        self.assertEqual(code, 0, err)
        self.assertGreater(int(out.split()[1]), 0)

    def ranks_of(self, run):
        """The live ranks that `run` started."""
        found = []
        for entry in os.listdir("/proc"):
            try:
                with open(f"/proc/{entry}/stat", encoding="utf-8") as file:
                    parent = int(file.read().rpartition(")")[2].split()[1])
                if entry.isdigit() and parent == run.pid:
                    found.append(int(entry))
            except (OSError, ValueError):
                pass
        return found

    def test_a_directory_that_is_not_there_is_one_verdict(self):
        self.directory += "/none"
        code, _, err = self.run_ranks(2, 1)
        self.assertNotEqual(code, 0)
        self.assertIn("open: rank 0: ", err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
