"""Collective checkpoints of real MPI ranks: killed, out of space, come back on another number of ranks.

Usage: mpi_test.py MPI_CHECKPOINT HELPER
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
HELPER = os.path.abspath(sys.argv[2])
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

    def local(self, ranks, *sets, helper="/bin/true"):
        """Arguments for local levels, each rank's in a directory of its own; the helper does nothing."""
        place = os.path.join(self.directory, "local")
        for rank in range(ranks):
            os.makedirs(f"{place}/rank-{rank}", exist_ok=True)
        return ("--local", place, helper, *(("--sets", *map(str, sets)) if sets else ()))

    def lose(self, *ranks):
        for rank in ranks:
            shutil.rmtree(f"{self.directory}/local/rank-{rank}")

    def test_local_levels_hold_what_never_reached_the_shared_directory(self):
        local = self.local(3)
        self.expect("from 0 to 3 saved 3", 3, 3, *local)
        self.assertEqual(self.generations(), [])
        self.expect("from 3 to 5 saved 2", 3, 5, *local)
        self.lose(1)
        code, _, err = self.run_ranks(3, 5, *self.local(3))
        self.assertNotEqual(code, 0)
        self.assertIn("rank 1 has no good one on its local level, and it cannot be rebuilt", err)

    def test_the_helpers_of_all_ranks_bring_generations_to_the_shared_directory(self):
        local = self.local(3, helper=HELPER)
        self.expect("from 0 to 4 saved 4", 3, 4, *local, "--size", "3000000")
        deadline = time.monotonic() + 60
        while self.newest() < 4:
            self.assertLess(time.monotonic(), deadline, self.generations())
            time.sleep(0.01)
        self.lose(0, 1, 2)
        self.expect("from 4 to 5 saved 1", 3, 5, *self.local(3, helper=HELPER), "--size", "3000000")

    def test_one_lost_local_level_is_rebuilt_by_xor(self):
        local = self.local(4, 4, 1)
        step = 2
        self.expect("from 0 to 2 saved 2", 4, 2, *local, "--size", "2500000")
        for rank in range(4):
            with self.subTest(rank=rank):
                self.lose(rank)
                self.expect(f"from {step} to {step + 1} saved 1", 4, step + 1, *self.local(4, 4, 1),
                            "--size", "2500000")
                step += 1
        self.lose(0, 3)
        code, _, err = self.run_ranks(4, step, *self.local(4, 4, 1), "--size", "2500000")
        self.assertNotEqual(code, 0)
        self.assertIn("cannot be rebuilt from the others", err)

    def test_two_lost_local_levels_are_rebuilt_by_reed_solomon(self):
        self.expect("from 0 to 1 saved 1", 5, 1, *self.local(5, 5, 2))
        for pair in ((0, 1), (1, 3), (2, 4), (0, 4)):
            with self.subTest(pair=pair):
                self.lose(*pair)
                self.expect("from 1 to 1 saved 0", 5, 1, *self.local(5, 5, 2))
        self.lose(2)
        self.expect("from 1 to 2 saved 1", 5, 2, *self.local(5, 5, 2))

    def test_partners_hold_each_others(self):
        self.expect("from 0 to 1 saved 1", 4, 1, *self.local(4, 2, 1))
        self.lose(0, 3)
        self.expect("from 1 to 2 saved 1", 4, 2, *self.local(4, 2, 1))

    def test_a_damaged_local_shard_is_rebuilt_like_a_lost_one(self):
        self.expect("from 0 to 2 saved 2", 3, 2, *self.local(3, 3, 1))
        own = os.path.join(self.directory, "local", "rank-1")
        own = os.path.join(own, os.listdir(own)[0], "gen-0000000002", "shard-000001")
        with open(own, "r+b") as file:
            file.seek(500)
            file.write(b"\0\0\0\0damage")
        self.expect("from 2 to 3 saved 1", 3, 3, *self.local(3, 3, 1))

    def test_what_fails_in_a_local_commit_is_one_verdict_and_the_generation_before_stands(self):
        self.expect("from 0 to 2 saved 2", 3, 2, *self.local(3, 3, 1))
        for trouble, rank, call in (("nospace", 1, 9), ("ioerror", 2, 14), ("nospace", 0, 20)):
            with self.subTest(trouble=trouble, rank=rank, call=call):
                code, out, err = self.run_ranks(3, 3, *self.local(3, 3, 1), "--trouble", trouble,
                                                str(rank), str(call))
                self.assertNotEqual(code, 0, out)
                self.assertIn("from 2 to 3 saved 0\n", out)
                self.assertIn(f"rank {rank}: ", err)
        for rank, call in ((1, 3), (2, 12), (0, 18), (1, 24)):
            with self.subTest(rank=rank, call=call):
                code, _, _ = self.run_ranks(3, 3, *self.local(3, 3, 1), "--trouble", "kill",
                                            str(rank), str(call))
                self.assertNotEqual(code, 0)
        code, out, err = self.run_ranks(3, 4, *self.local(3, 3, 1))
        self.assertEqual(code, 0, err)
        self.assertIn(out, ("from 2 to 4 saved 2\n", "from 3 to 4 saved 1\n"))

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
