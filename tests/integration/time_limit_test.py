"""The time limits of jobs that run: longer, shorter, through failures of every daemon; and the signal before the end."""

import json
import os
import sys
import time

from cluster import Cluster, ClusterTest, program, wait_until, with_checkpoints

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "topology")
MACHINE = os.path.join(FIXTURES, "h200x4.xml") + "+" + os.path.join(FIXTURES, "h200x4.topo_m.txt")
SAVES = """
import os, sys, time
sys.path.insert(0, {module!r})
import muster_checkpoint

with muster_checkpoint.open() as checkpoint:
    checkpoint.protect("field", bytearray(1 << 16))
    while not os.path.exists({save!r}):
        time.sleep(0.05)
    checkpoint.save()
    while not os.path.exists({done!r}):
        time.sleep(0.05)
"""


class TimeLimitTest(ClusterTest):
    own = True

    def make(self):
        return Cluster(nodes=1, topology=MACHINE).start()

    def detail(self, job):
        (detail,) = json.loads(self.cluster.must("show", job, "--json"))["jobs"]
        return detail

    def until_done(self, *options):
        """A job that runs until done() says so."""
        job = self.cluster.submit(*options, "--wrap", f"while [ ! -e {self.cluster.work}/done ]; do sleep 0.1; done")
        self.cluster.wait_state(job, "RUNNING")
        return job

    def touch(self, name):
        with open(os.path.join(self.cluster.work, name), "w", encoding="utf-8"):
            pass

    def assert_lives_on(self, job, seconds):
        """It runs past its first limit, and to its own end."""
        time.sleep(seconds)
        self.assertEqual(self.detail(job)["state"], "RUNNING")
        self.touch("done")
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "COMPLETED")

    def refused(self, *arguments):
        done = self.cluster.muster("update", *arguments)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assert_one_line(done.stderr)
        return done.stderr

    def test_a_job_that_was_given_more_lives_on(self):
        job = self.until_done("--time", "0:06")
        self.cluster.must("update", job, "--time", "10:00")
        self.assertRegex(self.cluster.must("show", job), r"limit +10:00\n")
        self.assert_lives_on(job, 8)

    def test_a_shortened_job_ends_at_its_new_limit(self):
        job = self.until_done("--time", "60:00")
        time.sleep(2)
        self.assertIn("has run for", self.refused(job, "--time", "0:01"))
        self.cluster.must("update", job, "--time", "0:08")
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "TIMEOUT")
        self.assertIn("time limit of 8 s reached", self.cluster.must("show", job))

    def test_a_controller_killed_right_after_its_answer_keeps_it(self):
        job = self.until_done("--time", "0:10")
        self.cluster.must("update", job, "--time", "10:00")
        self.cluster.controller.kill()
        self.cluster.controller.start()
        self.assertRegex(self.cluster.must("show", job), r"limit +10:00\n")
        self.assert_lives_on(job, 11)

    def test_what_was_given_while_the_agent_was_down_reaches_the_job(self):
        job = self.until_done("--time", "0:20")
        self.cluster.agents[0].kill()
        self.cluster.must("update", job, "--time", "10:00")
        self.cluster.agents[0].start()
        self.assert_lives_on(job, 21)

    def test_a_job_with_gpus_has_to_make_a_checkpoint_first(self):
        work = self.cluster.work
        module = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "checkpoint", "python"))
        with open(os.path.join(work, "saves.py"), "w", encoding="utf-8") as file:
            file.write(SAVES.format(module=module, save=os.path.join(work, "save"), done=os.path.join(work, "done")))
        job = self.cluster.submit("-G", 1, "--time", "5:00", "--wrap",
                                  f"{with_checkpoints()} exec {sys.executable} -B {work}/saves.py")
        self.cluster.wait_state(job, "RUNNING")
        self.assertIn("has made no checkpoint in this attempt", self.refused(job, "--time", "10:00"))
        self.touch("save")
        wait_until(lambda: self.detail(job)["checkpoints"]["count"] > 0, lambda: self.detail(job))
        self.cluster.must("update", job, "--time", "10:00")
        self.touch("done")
        self.cluster.wait_ended(job)
        os.remove(os.path.join(self.cluster.work, "done"))
        other = self.until_done("-G", 1, "--time", "5:00")
        self.refused(other, "--time", "10:00")
        self.cluster.must("update", other, "--time", "10:00", "--force")
        self.cluster.must("cancel", other)
        self.cluster.wait_ended(other)


class WarningTest(ClusterTest):
    own = True

    def make(self):
        return Cluster(nodes=1, topology=MACHINE).start()

    def submit(self, name, body):
        path = os.path.join(self.cluster.work, name + ".sh")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + body)
        return self.cluster.submit(path)

    def test_the_script_is_warned_by_b_and_the_ranks_without_it(self):
        work = self.cluster.work
        step = f"trap 'touch {work}/step.$name; exit 0' USR1; touch {work}/ready.$name; while :; do sleep 0.1; done"
        body = ("#SBATCH --time=0:20 --signal={signal}@12\nexport name={name}\n"
                "trap 'touch {work}/script.{name}; exit 0' USR1\n{muster} run sh -c \"{step}\" & wait; wait\n")
        jobs = {}
        for name, signal in (("b", "B:USR1"), ("r", "R:USR1"), ("plain", "USR1")):
            jobs[name] = self.submit(name, body.format(signal=signal, name=name, work=work, muster=program("muster"),
                                                       step=step.replace("$", "\\$")))
        self.cluster.wait_ended(*jobs.values())
        seen = {file for file in os.listdir(work) if file.startswith(("step.", "script."))}
        self.assertEqual(seen, {"script.b", "step.r", "step.plain"}, self.cluster.logs())

    def test_auto_learns_from_the_attempt_before(self):
        work = self.cluster.work
        job = self.submit(
            "learns",
            "#SBATCH --time=0:40 --requeue --signal=B:USR1@auto\n"
            f"trap 'echo $((MUSTER_JOB_END_TIME - $(date +%s))) >>{work}/left; exit 85' USR1\n"
            f"[ $MUSTER_RESTART_COUNT -lt 2 ] || exit 0\nwhile :; do sleep 0.1; done\n")
        (row,) = self.cluster.wait_ended(job, patience=180)
        self.assertEqual(row["state"], "COMPLETED")
        first, second = (int(line) for line in self.read("left").split())
        # Half of the limit until there is a measure; then the least there is, for it took no time.
        self.assertGreater(first, 15)
        self.assertLess(second, 13)

    def test_an_example_without_the_library_goes_on_past_its_limit(self):
        count = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "checkpoint", "examples", "count.sh"))
        job = self.submit(
            "counts",
            "#SBATCH --time=0:20 --requeue --signal=B:USR1@auto --output=counted\n"
            f"[ $MUSTER_RESTART_COUNT -gt 0 ] || exec sh {count} 1000000000000\n"
            'read -r number sum <"$MUSTER_CHECKPOINT_DIR/count"\n'
            f"echo $((number + 1000))\nexec sh {count} $((number + 1000))\n")
        (row,) = self.cluster.wait_ended(job, patience=120)
        self.assertEqual(row["state"], "COMPLETED", self.cluster.logs())
        said = self.read("counted").split("\n")
        last, total = int(said[0]), int(said[-2])
        self.assertGreater(last, 1000)
        self.assertEqual(total, last * (last + 1) // 2)
