"""heat2d goes on from its checkpoints: killed at random, asked to leave, on other numbers of ranks.

Usage: heat2d_restart_test.py HEAT2D MPIEXEC RANKS_FLAG
"""

import json
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

HEAT, MPIEXEC, RANKS_FLAG = sys.argv[1:4]
SEED = int(os.environ.get("MUSTER_SEED", "1"))
STEPS, EVERY = 6000, 100
PLATE = ["--nx", "61", "--ny", "47", "--steps", str(STEPS), "--json"]


class Heat2dRestart(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        alone = subprocess.run([HEAT, *PLATE, "--repeat", "1", "--warmup", "0", "--verify"], timeout=120,
                               stdout=subprocess.PIPE, check=True)
        cls.undisturbed = json.loads(alone.stdout)["residual_text"]

    def setUp(self):
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        place = tempfile.TemporaryDirectory(prefix="muster-heat-", dir=memory)
        self.addCleanup(place.cleanup)
        self.directory = os.path.join(place.name, "state")
        os.mkdir(self.directory)
        self.hints = os.path.join(place.name, "hints")

    def begin(self, ranks, *arguments, every=EVERY, plate=PLATE):
        launcher = [] if ranks == 1 else [MPIEXEC, RANKS_FLAG, str(ranks)]
        return subprocess.Popen(
            [*launcher, HEAT, *plate, "--checkpoint-dir", self.directory, "--checkpoint-every", str(every),
             *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def end(self, run):
        out, err = run.communicate(timeout=120)
        return run.returncode, out, err

    def newest(self):
        return max((int(name[4:]) for name in os.listdir(self.directory)
                    if name.startswith("gen-") and "." not in name), default=0)

    def last_number(self):
        """Also of a generation that was broken off with the run: its number is not given again."""
        return max((int(name[4:14]) for name in os.listdir(self.directory) if name.startswith("gen-")), default=0)

    def ranks_of(self, run):
        if run.args[0] == HEAT:
            return [run.pid]
        with open(f"/proc/{run.pid}/task/{run.pid}/children", encoding="utf-8") as file:
            return [int(pid) for pid in file.read().split()]

    def kill_after(self, run, generation, victim):
        """Kills a rank once that generation is complete."""
        deadline = time.monotonic() + 100
        while self.newest() < generation:
            self.assertIsNone(run.poll(), "it ended before it was killed")
            self.assertLess(time.monotonic(), deadline, "no generation was made")
            time.sleep(0.002)
        os.kill(victim(self.ranks_of(run)), signal.SIGKILL)
        self.assertNotEqual(self.end(run)[0], 0)

    def finish(self, ranks):
        code, out, err = self.end(self.begin(ranks, "--verify"))
        self.assertEqual(code, 0, err)
        report = json.loads(out)
        self.assertGreater(report["first_step"], 0)
        self.assertEqual(report["first_step"] % EVERY, 0)
        self.assertTrue(report["verified"])
        self.assertEqual(report["residual_text"], self.undisturbed)
        return report

    def test_killed_three_times_at_random_it_ends_with_the_residual_of_an_undisturbed_run(self):
        for ranks in (1, 2, 4):
            chance = random.Random(SEED + ranks)
            with self.subTest(ranks=ranks):
                self.setUp()
                for _ in range(3):
                    self.kill_after(self.begin(ranks), self.newest() + chance.randint(1, 12), chance.choice)
                # Of the lost run, less than one interval had no checkpoint.
                self.assertGreaterEqual(self.finish(ranks)["first_step"], 3 * EVERY)

    def test_it_goes_on_on_another_number_of_ranks(self):
        chance = random.Random(SEED)
        for ranks in (4, 3, 1):
            self.kill_after(self.begin(ranks), self.newest() + chance.randint(1, 9), chance.choice)
        self.finish(2)

    def test_another_plate_or_too_few_steps_are_refused(self):
        self.kill_after(self.begin(1), 2, max)
        for words, line in ((["--alpha", "0.2"], "holds another plate"), (["--seed", "9"], "holds another plate"),
                            (["--nx", "50"], "bytes in the checkpoint"), (["--steps", "50"], "steps old already")):
            code, out, err = self.end(self.begin(1, *words))
            self.assertEqual((code, out), (2, ""), err)
            self.assertEqual(err.count("\n"), 1)
            self.assertIn(line, err)
        code, _, err = self.end(self.begin(2, "--seed", "9"))
        self.assertNotEqual(code, 0)
        self.assertIn("holds another plate", err)
        self.finish(1)  # none of them made the generation a bad one

    def test_options_that_make_no_sense_are_one_line(self):
        for words, line in ((["--checkpoint-every", "10"], "needs --checkpoint-dir"),
                            (["--checkpoint-dir", "d"], "needs --checkpoint-every"),
                            (["--checkpoint-dir", "d", "--checkpoint-every", "0"], "neither a number of steps"),
                            (["--checkpoint-dir", "d", "--checkpoint-every", "often"], "neither a number"),
                            (["--checkpoint-dir", "d", "--checkpoint-every", "hints"], "there are none here"),
                            (["--checkpoint-dir=", "--checkpoint-every", "1"], "names no directory"),
                            (["--checkpoint-dir"], "unknown option"),
                            (["--checkpoint-dir", "/none", "--checkpoint-every=1"], "No such file or directory")):
            end = subprocess.run([HEAT, "--n", "8", *words], capture_output=True, text=True, timeout=60)
            self.assertEqual((end.returncode, end.stdout, end.stderr.count("\n")), (2, "", 1), end.stderr)
            self.assertIn(line, end.stderr)

    def test_without_a_name_it_uses_the_directory_of_the_job(self):
        environment = dict(os.environ, MUSTER_CHECKPOINT_DIR=os.path.join(self.directory, "muster-7.checkpoint"))
        end = subprocess.run([HEAT, "--n", "16", "--steps", "30", "--checkpoint-every", "10"], timeout=60,
                             capture_output=True, text=True, env=environment)
        self.assertIn("2 saved and 0 failed", end.stdout, end.stderr)
        self.assertIn("gen-0000000002", os.listdir(environment["MUSTER_CHECKPOINT_DIR"]))

    def publish(self, notice=0, number=0, interval_ms=0):
        """Writes a hint page as the scheduler does (checkpoint/advice/hints.cc)."""
        page = struct.pack("<QIIIIQQ", 0x31544e4948534d00, 2, notice, number, 0, interval_ms, 0)
        with open(self.hints, "wb") as file:
            file.write(page.ljust(4096, b"\0"))

    def test_hints_make_it_checkpoint_and_a_preemption_makes_it_leave_to_be_run_again(self):
        environment = {"MUSTER_CHECKPOINT_HINTS": self.hints}
        os.environ.update(environment)
        self.addCleanup(os.environ.pop, "MUSTER_CHECKPOINT_HINTS")
        self.publish(interval_ms=1)
        self.kill_after(self.begin(2, every="hints"), 2, max)
        before = self.last_number()
        self.publish(notice=1, number=1)
        code, out, err = self.end(self.begin(2, every="hints"))
        self.assertEqual((code, out), (85, ""), err)
        self.assertIn("run me again", err)
        self.assertEqual(self.newest(), before + 1)
        self.publish()
        code, out, err = self.end(self.begin(2, every="hints"))
        self.assertEqual(code, 0, err)
        self.assertEqual(json.loads(out)["residual_text"], self.undisturbed)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
