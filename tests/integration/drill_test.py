"""muster drill: heat2d with checkpoints, restarted from a copy of them beside the run."""

import hashlib
import json
import os
import re
import shutil
import signal
import time

from cluster import BIN, KERNELS, Cluster, ClusterTest, wait_until

# Steps that take long beside a look at the directory, and a run that does not end by itself.
HEAT = ("env LSAN_OPTIONS=detect_leaks=0 OMP_NUM_THREADS=1 "
        f"{KERNELS}/heat2d --nx 700 --ny 500 --checkpoint-every 1500")
ENDLESS = 40_000_000


class DrillTest(ClusterTest):
    """One node of eight cores that this machine plays."""

    topology = "pack:1 core:8 pu:1"

    @classmethod
    def make(cls):
        cluster = Cluster(topology=cls.topology)
        cluster.configure("[retention]\nkeep_script = true\n")
        return cluster.start()

    def start_heat(self, steps=ENDLESS, *options, kernel=HEAT, ranks=1):
        script = self.cluster.script(f"{BIN}/muster run {kernel} --steps {steps}\nfinish $?")
        return self.cluster.submit("-n", ranks, "-J", "heat", *options, script)

    def directory(self, job):
        return os.path.join(self.cluster.work, f"muster-{job}.checkpoint")

    def generations(self, directory):
        try:
            return sorted(int(name[4:]) for name in os.listdir(directory) if re.fullmatch(r"gen-\d{10}", name))
        except FileNotFoundError:
            return []

    def wait_generation(self, directory, number=1):
        wait_until(lambda: max(self.generations(directory), default=0) >= number,
                   lambda: f"no generation {number} in {directory}: {self.cluster.queue()} {self.cluster.logs()}")

    def contents(self, directory):
        found = {}
        for place, _, names in os.walk(directory):
            for name in names:
                path = os.path.join(place, name)
                with open(path, "rb") as file:
                    found[path] = hashlib.sha256(file.read()).hexdigest()
        return found

    def drill(self, *arguments, code=0):
        done = self.cluster.muster("drill", "--json", *arguments, patience=120)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr + self.cluster.logs())
        return json.loads(done.stdout)

    def assert_nothing_is_left(self, jobs):
        self.assertEqual([name for name in os.listdir(self.cluster.work) if ".drill-" in name], [])
        self.assertEqual(set(self.cluster.queue()), set(jobs))

    def end(self, *jobs):
        self.cluster.must("cancel", *jobs)
        self.cluster.wait_ended(*jobs)

    def test_a_running_job_recovers_to_the_same_state(self):
        job = self.start_heat()
        self.wait_generation(self.directory(job), 2)
        found = self.drill(job, "--exact", "--timeout", "100s")
        self.assertEqual((found["verdict"], found["state"]["match"]), ("recovered", "equal"))
        self.assertTrue(found["restored"])
        self.assertGreater(found["state"]["generation"], found["checkpoint"]["generation"])
        self.assertEqual(found["state"]["regions"], 2)
        self.assertGreater(found["back_at_work_s"], 0)
        self.assertGreaterEqual(found["first_checkpoint_s"], found["back_at_work_s"])
        self.assertGreaterEqual(found["would_be_lost_s"], 0)
        self.assert_nothing_is_left([job])
        self.assertEqual(self.cluster.queue()[job]["restarts"], 0)
        (row,) = self.cluster.wait_ended(int(found["drill_job"]))
        self.assertEqual((row["name"], row["state"]), ("drill-heat", "CANCELLED"))
        self.end(job)

    def test_all_ranks_of_an_mpi_job_recover_to_the_same_state(self):
        job = self.start_heat(ranks=3)
        self.wait_generation(self.directory(job), 2)
        found = self.drill(job, "--exact", "--timeout", "100s")
        self.assertEqual((found["verdict"], found["state"]["match"]), ("recovered", "equal"), found)
        self.assertEqual(found["checkpoint"]["ranks"], 3)
        self.assertEqual(found["state"]["regions"], 6)
        self.assert_nothing_is_left([job])
        self.end(job)
        # Fewer ranks restore it, too, and are not compared.
        found = self.drill(job, "--ntasks", "2")
        self.assertEqual(found["verdict"], "recovered", found)
        self.assertEqual(found["checkpoint"]["ranks"], 3)

    def test_one_element_of_an_array_is_drilled_and_the_others_are_left_alone(self):
        array = self.start_heat(ENDLESS, "--array=3-4", ranks=2)
        one, other = (json.loads(self.cluster.must("show", f"{array}_{index}", "--json"))["jobs"][0]["id"]
                      for index in (3, 4))
        self.wait_generation(self.directory(one), 2)
        self.wait_generation(self.directory(other), 1)
        refused = self.cluster.muster("drill", array)
        self.assertEqual(refused.returncode, 2)
        self.assertIn(f"is 2 jobs: name one element, as {array}_3", refused.stderr)
        found = self.drill(f"{array}_3", "--exact", "--timeout", "100s")
        self.assertEqual((found["verdict"], found["state"]["match"]), ("recovered", "equal"), found)
        self.assertEqual((found["job"], found["checkpoint"]["ranks"]), (f"{array}_3", 2))
        self.assertEqual(found["checkpoint"]["directory"], self.directory(one))
        self.assertTrue(found["drill_job"].endswith("_3"), found["drill_job"])
        self.assert_nothing_is_left([one, other])
        self.end(array)

    def test_a_job_that_has_ended_is_drilled_and_its_directory_stays_as_it_was(self):
        # A place of its own, which the record of the submission tells.
        place = os.path.join(self.cluster.work, "kept")
        job = self.start_heat(ENDLESS, "--checkpoint-dir", place)
        self.wait_generation(place, 2)
        self.end(job)
        before = self.contents(place)
        found = self.drill(job, "--keep")
        self.assertEqual(found["verdict"], "recovered", found)
        self.assertEqual(found["original_end"]["state"], "CANCELLED")
        self.assertEqual(found["checkpoint"]["directory"], place)
        self.assertEqual(self.contents(place), before)
        copy = os.path.join(found["kept"], "checkpoint")
        self.assertGreater(max(self.generations(copy)), found["checkpoint"]["generation"])
        shutil.rmtree(found["kept"])
        refused = self.cluster.muster("drill", job, "--exact")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("has no later checkpoint", refused.stdout)

    def test_a_damaged_checkpoint_fails_and_nothing_is_submitted(self):
        job = self.start_heat()
        self.wait_generation(self.directory(job), 3)
        self.end(job)
        older, newest = self.generations(self.directory(job))[-2:]
        with open(os.path.join(self.directory(job), f"gen-{newest:010}", "shard-000000"), "r+b") as shard:
            shard.seek(-100, os.SEEK_END)
            shard.write(b"damaged on purpose")
        before = self.contents(self.directory(job))
        submitted = self.cluster.submitted()
        found = self.drill(job, code=1)
        self.assertEqual((found["verdict"], found["recovered"], found["drill_job"]), ("failed", False, None))
        self.assertEqual(found["checkpoint"]["fallback"], older)
        self.assertIn(f"generation {newest} is damaged: ", found["text"])
        self.assertEqual(self.cluster.submitted(), submitted)
        self.assertEqual(self.contents(self.directory(job)), before)
        self.assertEqual(self.drill(job, "--generation", older)["verdict"], "recovered")
        self.assertEqual(self.contents(self.directory(job)), before)
        self.assert_nothing_is_left([])

    def test_a_program_that_begins_again_fails(self):
        # In a drill it does not look at what was copied.
        job = self.start_heat(kernel="sh -c '[ -z \"$DRILL_OF_JOB\" ] || rm -rf $MUSTER_CHECKPOINT_DIR/gen-*; "
                                     f"exec {HEAT} \"$@\"' sh")
        self.wait_generation(self.directory(job), 2)
        found = self.drill(job, "--timeout", "60s", code=1)
        self.assertEqual(found["verdict"], "failed", found)
        self.assertIn("started from the beginning", found["text"])
        self.assertFalse(found["restored"])
        self.assert_nothing_is_left([job])
        self.end(job)

    def test_a_program_that_fails_in_the_drill_shows_its_last_lines(self):
        job = self.start_heat(kernel="sh -c '[ -z \"$DRILL_OF_JOB\" ] || { echo no such plate >&2; exit 3; }; "
                                     f"exec {HEAT} \"$@\"' sh")
        self.wait_generation(self.directory(job))
        done = self.cluster.muster("drill", job, patience=120)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("the drill ended FAILED (exit code 3) without having restored generation", done.stdout)
        self.assertIn("no such plate", done.stdout)
        self.assert_nothing_is_left([job])
        self.end(job)

    def test_an_interrupt_ends_the_drill_and_clears_up(self):
        job = self.start_heat()
        self.wait_generation(self.directory(job))
        self.end(job)  # and its directory is locked by the drill
        others = self.cluster.submit("-n", 8, "--wrap", "sleep 1000")
        self.cluster.wait_state(others, "RUNNING")
        drill = self.cluster.begin("drill", job)
        wait_until(lambda: len(self.cluster.queue()) == 2, "nothing was submitted")
        (number,) = set(self.cluster.queue()) - {others}
        self.cluster.wait_reason(number, "")
        time.sleep(0.5)
        drill.send_signal(signal.SIGINT)
        out, err = drill.communicate(timeout=60)
        self.assertEqual(drill.returncode, 130, out + err)
        self.assertIn("not proven: the drill was interrupted", out)
        wait_until(lambda: set(self.cluster.queue()) == {others}, "the drill is still there")
        self.assert_nothing_is_left([others])
        self.end(others)

    def test_what_cannot_be_drilled_is_refused_in_one_line_and_nothing_is_submitted(self):
        plain = self.cluster.submit("-n", 1, "--wrap", "sleep 1000")
        named = self.cluster.script(f"{BIN}/muster run {HEAT} --steps 10 --checkpoint-dir {self.cluster.work}/n\n")
        own = self.cluster.submit("-n", 1, "--checkpoint-dir", f"{self.cluster.work}/n", "-H", named)
        submitted = self.cluster.submitted()
        for words, line in (([9999], "job 9999: no such job"), ([plain], "no checkpoints: "), ([own], "names "),
                            ([plain, "--from", self.cluster.work], "holds no complete generation")):
            done = self.cluster.muster("drill", *words)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn(line, done.stderr)
        self.assertEqual(self.cluster.muster("drill", plain, "--timeout", "soon").returncode, 2)
        self.assertEqual(self.cluster.submitted(), submitted)
        self.end(plain, own)
