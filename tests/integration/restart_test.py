"""A job that keeps its work through the loss of nodes: heat2d with checkpoints, on two agents, requeued by itself."""

import contextlib
import json
import os
import random
import re
import shutil
import signal
import unittest

from cluster import BIN, KERNELS, ClusterTest, processes_with, read_file, start_time, wait_until

STEPS, EVERY = 6000, 50
PLATE = f"--nx 61 --ny 47 --steps {STEPS} --json"
# Open MPI keeps memory until the process ends; a leak of its own is not what these tests look for.
HEAT = ("env LSAN_OPTIONS=detect_leaks=0 OMP_NUM_THREADS=1 "
        f"OMPI_MCA_mpi_yield_when_idle=1 {KERNELS}/heat2d")
SEED = int(os.environ.get("MUSTER_SEED", "1"))


class RestartTest(ClusterTest):
    """Two nodes of four cores that this machine plays."""

    nodes = 2
    topology = "pack:1 core:4 pu:1"

    def processes_of(self, index):
        """Of a node: its agent's supervisors, and what they started."""
        own = {pid for pid, command in processes_with(self.cluster.agents[index].arguments[1]).items()
               if "muster-supervisor" in command}
        found = set(own)
        for entry in sorted((e for e in os.listdir("/proc") if e.isdigit()), key=int):
            parents = read_file(f"/proc/{entry}/stat").rpartition(b")")[2].split()
            if len(parents) > 1 and int(parents[1]) in found:
                found.add(int(entry))
        return found

    def lose_node(self, index):
        """Agent, supervisors and ranks go at once, and the node's own disk with them."""
        agent = self.cluster.agents[index]
        os.kill(agent.process.pid, signal.SIGSTOP)  # it starts nothing more
        victims = self.processes_of(index)
        for pid in victims:
            with contextlib.suppress(ProcessLookupError):  # a rank ends with its supervisor
                os.kill(pid, signal.SIGKILL)
        agent.kill()
        wait_until(lambda: not any(start_time(pid) for pid in victims), "what was killed lives")
        shutil.rmtree(agent.arguments[1])
        os.mkdir(agent.arguments[1], mode=0o700)

    def newest(self, directory):
        return max((int(name[4:]) for name in os.listdir(directory)
                    if re.fullmatch(r"gen-\d{10}", name)), default=0)

    def test_heat2d_loses_a_node_three_times_and_ends_as_if_it_had_not(self):
        chance = random.Random(SEED)
        alone = json.loads(self.cluster.must("run", "-n", 1, "sh", "-c",
                                             f"{HEAT} {PLATE} --repeat 1 --warmup 0"))
        state = os.path.join(self.cluster.work, "checkpoints")
        os.mkdir(state)
        script = self.cluster.script(
            f"{BIN}/muster run {HEAT} {PLATE} --checkpoint-dir {state} --checkpoint-every {EVERY} >out.json\n"
            "finish $?")
        job = self.cluster.submit("--requeue", "-N", 2, "-n", 4, script)
        for lost in range(3):
            target = self.newest(state) + chance.randint(2, 20)
            wait_until(lambda: self.newest(state) >= target or job in self.cluster.history(),
                       lambda: f"generation {target} was not made: {self.cluster.logs()}")
            self.assertNotIn(job, self.cluster.history())
            victim = chance.randrange(2)
            # Each loss before may have broken a generation off, and its number is not given again.
            reached = EVERY * (self.newest(state) - lost)
            self.lose_node(victim)
            self.cluster.agents[victim].start()
        wait_until(lambda: job in self.cluster.history(),
                   lambda: f"the job has not ended: {self.cluster.queue()}, {self.cluster.attempts(job)}")
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual((row["state"], row["exit_code"]), ("COMPLETED", 0),
                         self.read(f"muster-{job}.out") + self.cluster.logs())
        report = json.loads(self.read("out.json"))
        self.assertEqual(report["residual_text"], alone["residual_text"])
        # Of what the last loss took, less than an interval had no checkpoint.
        self.assertGreaterEqual(report["first_step"], reached)
        self.assertEqual(len(self.cluster.attempts(job)), 4)

    def test_a_requeued_program_is_told_by_its_hints_and_goes_on_from_its_checkpoint(self):
        place = self.cluster.work
        for name in ("kept", "local"):
            os.mkdir(os.path.join(place, name))
        # The notice comes with SIGTERM, which the program leaves to it; no interval ends in this test.
        script = self.cluster.script(
            "trap '' TERM\n"
            f"export MUSTER_CHECKPOINT_LOCAL_DIR={place}/local\n"
            f"exec {BIN}/checkpoint_pi {place}/kept 1000000 2>>err\n")
        job = self.cluster.submit("--requeue", "--checkpoint-interval=1h", "-t", "60", script)
        wait_until(lambda: os.path.exists(os.path.join(place, "kept", "lock"))
                   or any("rank-000000" in name for name in os.listdir(os.path.join(place, "local"))),
                   "the program has not begun")
        self.cluster.must("requeue", job)
        wait_until(lambda: b"going on at row" in read_file(os.path.join(place, "err")),
                   lambda: f"it did not go on: {self.read('err')} {self.cluster.attempts(job)}")
        self.assertNotIn(b"row 0", read_file(os.path.join(place, "err")))
        self.assertEqual(self.newest(os.path.join(place, "kept")), 1)  # the helper was waited for
        self.cluster.must("cancel", job)
        self.cluster.wait_ended(job)
        self.assertEqual(len(self.cluster.attempts(job)), 2)


if __name__ == "__main__":
    unittest.main()
