"""A job that keeps its work through the loss of nodes: heat2d with checkpoints, on two agents, requeued by itself."""

import datetime
import json
import os
import random
import re
import shutil
import time
import unittest

from cluster import BIN, KERNELS, PATIENCE, Cluster, ClusterTest, read_file, wait_until

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

    def lose_node(self, index):
        """And the node's own disk with it."""
        self.cluster.lose_node(index)
        state = self.cluster.agents[index].arguments[1]
        shutil.rmtree(state)
        os.mkdir(state, mode=0o700)

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


INTERVAL = 2  # seconds; each attempt is lost before its second checkpoint: all that counts was told at once
GRACE = 3600  # of a job that is preempted: more than this test may take


class AccountTest(RestartTest):
    """What the scheduler knows of it: the same by the hints' interval, and by preemption."""

    own = True
    test_heat2d_loses_a_node_three_times_and_ends_as_if_it_had_not = None
    test_a_requeued_program_is_told_by_its_hints_and_goes_on_from_its_checkpoint = None

    @classmethod
    def make(cls):
        cluster = Cluster(nodes=cls.nodes, topology=cls.topology)
        cluster.configure(f'[qos.low]\npriority = 1\ngrace_time = "{GRACE}s"\n'
                          '[qos.high]\npriority = 10\npreempt = ["low"]\n')
        return cluster.start()

    def document(self, job):
        return json.loads(self.cluster.must("show", "--json", job))["jobs"][0]

    def newest_attempt(self, job):
        attempts = self.document(job)["attempts"]
        return attempts[-1] if attempts else None

    def plate_for(self, run_seconds):
        """The options of a plate that four ranks on two nodes need about so long for."""
        plate = "--nx 611 --ny 473"  # large enough to be far from at rest then
        trial = json.loads(self.cluster.must("run", "-N", 2, "-n", 4, "sh", "-c",
                                             f"{HEAT} {plate} --steps 2000 --repeat 1 --warmup 0 --json"))
        rate = 2000 / trial["seconds"]["best"]
        return f"{plate} --steps {int(rate * run_seconds)} --json"

    def begin_heat(self, plate, *options):
        os.mkdir(os.path.join(self.cluster.work, "checkpoints"))
        # The notice comes with SIGTERM, which the ranks leave to it.
        script = self.cluster.script(
            f"trap '' TERM\n{BIN}/muster run sh -c \"trap '' TERM; exec {HEAT} {plate} "
            f"--checkpoint-dir {self.cluster.work}/checkpoints --checkpoint-every hints\" >out.json\n"
            "finish $?")
        return self.cluster.submit("--requeue", "-N", 2, "-n", 4, *options, script)

    def assert_undisturbed(self, job, plate, attempts):
        wait_until(lambda: job in self.cluster.history(),
                   lambda: f"the job has not ended: {self.cluster.queue()}, {self.cluster.attempts(job)}",
                   patience=4 * PATIENCE)
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual((row["state"], row["exit_code"]), ("COMPLETED", 0),
                         self.read(f"muster-{job}.out") + self.cluster.logs())
        alone = json.loads(self.cluster.must("run", "-n", 2, "sh", "-c",
                                             f"{HEAT} {plate} --repeat 1 --warmup 0",
                                             patience=4 * PATIENCE))
        self.assertNotEqual(alone["residual"], 0)
        self.assertEqual(json.loads(self.read("out.json"))["residual_text"], alone["residual_text"])
        document = self.document(job)
        self.assertEqual(len(document["attempts"]), attempts)
        self.assert_adds_up(document)
        return document

    def assert_adds_up(self, document):
        totals, attempts = document["checkpoints"], document["attempts"]
        self.assertEqual(totals["count"], sum(each["checkpoints"]["count"] for each in attempts))
        for key, value in (("lost", lambda each: each["lost"]),
                           ("stall", lambda each: each["checkpoints"]["stall"]),
                           ("restart", lambda each: each["checkpoints"]["restart"]),
                           ("held", lambda each: self.length(each["start_time"], each["end_time"]))):
            self.assertAlmostEqual(totals[key], sum(map(value, attempts)), places=2, msg=key)
        kept = totals["held"] - totals["stall"] - totals["restart"] - totals["lost"]
        self.assertAlmostEqual(document["ettr"], kept / totals["held"], places=6)
        self.assertEqual(attempts[-1]["lost"], 0)
        for each in attempts[1:]:
            self.assertGreater(each["checkpoints"]["restart"], 0)
        page = self.cluster.must("history", "--checkpoints", document["id"])
        self.assertIn("EFFECTIVE", page)

    @staticmethod
    def length(begin, end):
        begin, end = (datetime.datetime.fromisoformat(text.replace("Z", "+00:00")) for text in (begin, end))
        return (end - begin).total_seconds()

    @staticmethod
    def now():
        return datetime.datetime.now(datetime.timezone.utc).isoformat()

    def test_three_lost_nodes_cost_an_interval_and_the_time_to_notice_each(self):
        chance = random.Random(SEED)
        plate = self.plate_for(10 * INTERVAL)  # each attempt lives to a checkpoint, and the last to the end
        job = self.begin_heat(plate, f"--checkpoint-interval={INTERVAL}s")
        killed = []
        for lost in range(3):
            wait_until(lambda: len(self.cluster.attempts(job)) == lost and job in self.cluster.queue()
                       and (self.newest_attempt(job) or {}).get("number") == lost + 1
                       and self.newest_attempt(job)["checkpoints"]["count"] > 0,
                       lambda: f"attempt {lost + 1} told of no checkpoint: {self.cluster.logs()}")
            time.sleep(chance.uniform(0, 0.75 * INTERVAL))
            killed.append(self.now())
            victim = chance.randrange(2)
            self.lose_node(victim)
            self.cluster.agents[victim].start()
        document = self.assert_undisturbed(job, plate, 4)
        for at, attempt in zip(killed, document["attempts"]):
            noticed = self.length(at, attempt["end_time"])
            record = attempt["checkpoints"]
            # A report may be a second late, and the one before it is an interval older.
            self.assertLessEqual(attempt["lost"], noticed + 2 * INTERVAL + 4 * record["cost"] + 2)
            self.assertGreater(attempt["lost"], 0)

    def test_a_preempted_run_loses_nothing_but_what_followed_its_answer(self):
        plate = self.plate_for(6)
        job = self.begin_heat(plate, "-q", "low", "-t", 60, "--exclusive", "--checkpoint-interval=auto")
        wait_until(lambda: (self.newest_attempt(job) or {}).get("checkpoints", {}).get("interval"),
                   lambda: f"it was advised nothing: {self.cluster.logs()}")
        self.assertIn("until one has shown its cost", self.cluster.must("show", job))
        high = self.cluster.submit("-q", "high", "-N", 2, "-t", 5, "--exclusive", "--wrap", "true")
        (first,) = self.cluster.wait_ended(high)  # though the grace is an hour
        self.assertEqual(first["state"], "COMPLETED")
        document = self.assert_undisturbed(job, plate, 2)
        preempted = document["attempts"][0]
        record = preempted["checkpoints"]
        self.assertEqual((preempted["cause"], record["count"]), ("preempted", 1))
        self.assertGreater(record["notice"], 0)
        self.assertAlmostEqual(preempted["lost"], self.length(record["committed"], preempted["end_time"]),
                               places=2)
        self.assertGreaterEqual(json.loads(self.read("out.json"))["first_step"], 1)


if __name__ == "__main__":
    unittest.main()
