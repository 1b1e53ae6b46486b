"""Files that are copied for jobs: before them, after them, and what becomes of the jobs when that fails."""

import json
import os
import shutil
import signal
import subprocess
import unittest

from cluster import PATIENCE, Cluster, ClusterTest, program, read_file, wait_until


class StagingTest(ClusterTest):
    """One node is enough: what copies is a job like others."""

    @classmethod
    def make(cls):
        cluster = Cluster()
        cluster.configure("[retention]\nkeep_script = true\n")
        return cluster.start()

    def setUp(self):
        super().setUp()
        self.place = os.path.join(self.cluster.work, self.id().rsplit(".", 1)[1])  # where its jobs run
        os.mkdir(self.place)

    def path(self, *names):
        return os.path.join(self.place, *names)

    def muster(self, *words):
        return self.cluster.muster(*words, cwd=self.place)

    def must(self, *words, **keywords):
        return self.cluster.must(*words, cwd=self.place, **keywords)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def submit(self, *arguments):
        return self.cluster.submit(*arguments, cwd=self.place)

    def staged(self, *arguments):
        """The three numbers."""
        return json.loads(self.must("submit", "--json", *arguments))

    def state_of(self, job):
        (row,) = self.cluster.wait_ended(job)
        return row["state"]

    def test_a_job_finds_its_files_and_its_results_are_brought_away_also_when_it_fails(self):
        self.write("data/deep/a", "hello")
        jobs = self.staged("--stage-in", "data:./in", "--stage-out", "out:./kept/", "--stage-out", "log:./kept/",
                           "-J", "train", "--wrap",
                           "mkdir out; cp in/deep/a out/b; echo done >log; [ -e kept ] || exit 7")
        self.assertEqual([self.state_of(jobs[name]) for name in ("stage_in", "job", "stage_out")],
                         ["COMPLETED", "FAILED", "COMPLETED"])
        self.assertEqual(read_file(self.path("kept/out/b")), b"hello")
        self.assertEqual(read_file(self.path("kept/log")), b"done\n")
        history = self.cluster.history()
        self.assertEqual(history[jobs["stage_in"]]["name"], "stage-in of train")
        self.assertLessEqual(history[jobs["stage_in"]]["ended"], history[jobs["job"]]["started"])
        self.assertLessEqual(history[jobs["job"]]["ended"], history[jobs["stage_out"]]["started"])
        said = read_file(self.path(f"muster-{jobs['stage_in']}.out")).decode()
        self.assertIn("data to ./in: 5 B, 1 file, ", said)

    def test_without_its_files_a_job_does_not_run_and_explain_says_what_to_do(self):
        jobs = self.staged("--stage-in", "none:./in", "--wrap", "touch ran")
        job, stage_in = jobs["job"], jobs["stage_in"]
        self.assertEqual(self.state_of(stage_in), "FAILED")
        self.cluster.wait_reason(job, f"afterok:{stage_in} can no longer be met")
        said = self.must("explain", job)
        self.assertIn(f"job {stage_in} (stage-in of wrap) FAILED: exit code 1; muster logs {stage_in} says why", said)
        self.assertIn(f"muster rerun {stage_in}", said)
        self.assertIn('"none": cannot be copied: No such file or directory',
                      self.must("logs", stage_in))
        self.assertFalse(os.path.exists(self.path("ran")))
        # As it says.
        self.write("none/a", "now")
        again = self.must("rerun", "--parsable", stage_in)
        self.must("update", job, "--dependency", f"afterok:{again}")
        self.assertEqual(self.state_of(job), "COMPLETED")
        self.assertEqual(read_file(self.path("in/a")), b"now")

    def test_who_waits_for_a_job_hears_that_its_files_did_not_come(self):
        done = self.muster("submit", "--wait", "--stage-in", "none:./in", "--wrap", "true")
        self.assertNotEqual(done.returncode, 0)
        self.write("log", "kept")
        self.must("submit", "--wait", "--stage-out", "log:./away", "--wrap", "true")
        self.assertEqual(read_file(self.path("away")), b"kept")

    def test_an_array_is_staged_as_a_whole_and_what_its_jobs_wait_for_comes_before(self):
        producer = self.submit("--wrap", self.cluster.gate() + "\nmkdir made; echo 5 >made/a")
        jobs = self.staged("-d", f"afterok:{producer}", "--array", "0-2", "--stage-in", "made:./in",
                           "--stage-out", "parts:./all", "--wrap",
                           "mkdir -p parts; cp in/a parts/$MUSTER_ARRAY_TASK_ID")
        self.cluster.wait_reason(jobs["stage_in"], f"waits for afterok:{producer}")
        self.cluster.open_gate()
        self.assertEqual(self.state_of(jobs["stage_out"]), "COMPLETED")
        self.assertEqual(sorted(os.listdir(self.path("all"))), ["0", "1", "2"])

    def test_cancel_takes_what_copies_for_the_job_alone_along(self):
        held = self.submit("-H", "--wrap", "true")
        jobs = self.staged("-d", f"afterok:{held}", "--stage-in", "a:./b", "--stage-out", "a:./c", "--wrap", "true")
        shared = self.submit("-d", f"afterok:{jobs['stage_in']}", "--wrap", "true")
        self.must("cancel", jobs["job"])
        self.assertEqual(self.state_of(jobs["job"]), "CANCELLED")
        self.assertEqual(self.state_of(jobs["stage_out"]), "COMPLETED")
        self.assertIn(f"job {jobs['job']} never started", self.must("logs", jobs["stage_out"]))
        self.assertIn(jobs["stage_in"], self.cluster.queue(), "another job waits for it")
        self.must("cancel", shared)
        self.assertEqual(self.state_of(jobs["stage_in"]), "CANCELLED")
        alone = self.staged("-d", f"afterok:{held}", "--stage-in", "a:./b", "--wrap", "true")
        self.must("cancel", alone["job"])
        self.assertEqual(self.state_of(alone["stage_in"]), "CANCELLED")
        self.must("cancel", held)

    def test_commands_that_wait_for_their_job_wait_for_its_files(self):
        self.write("data", "hello")
        self.assertEqual(self.must("run", "--stage-in", "data:./in", "cat", "in"), "hello")
        self.assertEqual(self.must("alloc", "--stage-in", "data:$HOUSE/in2", "cat", "in2",
                                   environment={"HOUSE": self.place}), "hello")
        self.must("run", "--stage-out", "made:./kept", "sh", "-c", "echo 5 >made")
        wait_until(lambda: os.path.exists(self.path("kept")), lambda: self.cluster.history())
        self.assertEqual(read_file(self.path("kept")), b"5\n")
        for verb in ("run", "alloc"):
            done = self.muster(verb, "--stage-in", "none:./in3", "touch", "ran")
            self.assertNotEqual(done.returncode, 0, verb)
        self.assertFalse(os.path.exists(self.path("ran")))
        self.assertEqual(self.cluster.queue(), {})

    def test_a_step_has_no_files_of_its_own(self):
        job = self.submit("--wrap", f"{program('muster')} run --stage-in a:/b true")
        self.assertEqual(self.state_of(job), "FAILED")
        self.assertIn("--stage-in: is of a job", self.must("logs", job))

    def test_lines_of_a_batch_are_staged_and_answered_in_their_order(self):
        self.write("data", "x")
        self.write("batch", "--wrap 'echo a'\n--stage-in data:./in --wrap 'cp in out'\n--stage-in a --wrap true\n")
        done = self.muster("submit", "--parsable", "--batch", "batch")
        self.assertEqual(done.returncode, 2)
        self.assertIn("batch:3: --stage-in", done.stderr)
        self.write("batch", "--wrap 'echo a'\n--stage-in data:./in --wrap 'cp in out'\n--wrap 'echo b'\n")
        first, copied, last = map(int, self.must("submit", "--parsable", "--batch", "batch").split())
        self.assertEqual([self.state_of(job) for job in (first, copied, last)], ["COMPLETED"] * 3)
        self.assertLess(first, copied)
        self.assertLess(copied, last)
        self.assertEqual(read_file(self.path("out")), b"x")

    def test_who_runs_again_has_its_files_copied_again(self):
        self.write("data", "old")
        jobs = self.staged("--stage-in", "data:./in", "--stage-out", "out:./kept", "--wrap", "cp in out")
        self.assertEqual(self.state_of(jobs["stage_out"]), "COMPLETED")
        for again in (("rerun", "--parsable", jobs["job"]), ("submit", "--parsable", "--like", jobs["job"])):
            self.write("data", "new " + again[0])
            self.assertEqual(self.state_of(int(self.must(*again))), "COMPLETED")
            wait_until(lambda: self.cluster.queue() == {}, self.cluster.queue)
            self.assertEqual(read_file(self.path("kept")).decode(), "new " + again[0])

    def test_slurms_commands_stage_by_options_and_directives(self):
        names = os.path.join(self.cluster.root, "names")
        self.must("slurm", "install", names)
        environment = {**self.cluster.environment, "MUSTER_CONTROLLER": self.cluster.address}
        self.write("data", "x")
        self.write("job.sh", "#!/bin/sh\n#MUSTER --stage-out=out:./kept\n#SBATCH --stage-in=data:./in\ncat in in2 >out\n")
        for words, ends in ((("sbatch", "--wait", "--stage-in", "data:./in2", "job.sh"), 0),
                            (("srun", "--stage-in", "data:./in3", "cat", "in3"), 0),
                            (("salloc", "--quiet", "--stage-in=data:./in4", "cat", "in4"), 0),
                            (("sbatch", "--stage-in", "data", "job.sh"), 1)):
            done = subprocess.run([os.path.join(names, words[0]), *words[1:]], cwd=self.place, env=environment,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False)
            self.assertEqual(done.returncode, ends, (words, done.stderr))
        self.assertIn("--stage-in", done.stderr)
        self.assertEqual(read_file(self.path("kept")), b"xx")

    def test_interrupting_who_waits_takes_the_copies_along(self):
        held = self.submit("-H", "--wrap", "true")
        waits = subprocess.Popen(self.cluster.command("run", "-d", f"afterok:{held}", "--stage-in", "a:./b", "true"),
                                 cwd=self.place, env=self.cluster.environment, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: len(self.cluster.queue()) == 3, self.cluster.queue)
        waits.send_signal(signal.SIGINT)
        waits.wait(PATIENCE)
        wait_until(lambda: list(self.cluster.queue()) == [held], self.cluster.queue)
        self.must("cancel", held)

    def test_one_that_is_refused_leaves_nothing(self):
        done = self.muster("submit", "--stage-in", "a:./b", "-d", "afterok:999999", "--wrap", "true")
        self.assertEqual(done.returncode, 1)
        self.assertIn("its stage-in job: --dependency: afterok:999999: no such job", done.stderr)
        self.assert_one_line(done.stderr)
        done = self.muster("submit", "--stage-in", "a:./b", "--reservation", "none", "--wrap", "true")
        self.assertEqual(done.returncode, 1)
        self.assert_one_line(done.stderr)
        self.assertEqual(self.cluster.queue(), {})

    def test_bad_words_are_refused_in_a_line(self):
        for words, says in (
                (("submit", "--stage-in", "a:b", "--wrap", "true"), 'use SRC:/PATH, SRC:./PATH or SRC:~/PATH'),
                (("submit", "--stage-out", "a", "--wrap", "true"), "use PATH:/PATH, PATH:./PATH or PATH:REMOTE:PATH"),
                (("submit", "--every", "1h", "--stage-in", "a:/b", "--wrap", "true"), "--every runs again"),
                (("run", "--stage-in", "a:b", "true"), 'use SRC:/PATH, SRC:./PATH or SRC:~/PATH'),
                (("service", "start", "web", "--stage-in", "a:/b", "web.sh"), "stage-in"),
                (("stage", "a", "b", "c"), '"c": has no destination')):
            done = self.muster(*words)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(says, done.stderr)
            self.assert_one_line(done.stderr)

    @unittest.skipUnless(shutil.which("rclone"), "SKIPPED: rclone is not installed: object stores are not tested")
    def test_remotes_are_copied_by_rclone(self):
        self.write("store/data/a", "hello")
        remote = f":local:{self.path('store')}"
        jobs = self.staged("--stage-in", f"{remote}/data:./in", "--stage-out", f"out:{remote}/out",
                           "--wrap", "cp -r in out")
        self.assertEqual([self.state_of(jobs[name]) for name in ("stage_in", "job", "stage_out")], ["COMPLETED"] * 3)
        self.assertEqual(read_file(self.path("store/out/a")), b"hello")
        jobs = self.staged("--stage-in", f"{remote}/none:./in2", "--wrap", "true")
        self.assertEqual(self.state_of(jobs["stage_in"]), "FAILED")
        said = self.must("logs", jobs["stage_in"])
        self.assertIn("rclone ended with the exit code", said)
        self.assertIn("not found", said)
        self.must("cancel", jobs["job"])

    def test_how_far_a_copy_is_is_explained(self):
        self.write("bin/rclone", """#!/bin/sh
until [ -e go ]; do
  echo '{"stats":{"bytes":1048576,"totalBytes":4194304}}' >&2
  sleep 1
done
""")
        os.chmod(self.path("bin/rclone"), 0o755)
        path = {"PATH": self.path("bin") + ":" + os.environ["PATH"]}
        jobs = json.loads(self.must("submit", "--json", "--stage-in", "s3:bucket/a:./in", "--wrap", "true",
                                            environment=path))
        wait_until(lambda: "RUNNING: 1 MiB of 4 MiB copied, " in self.must("explain", jobs["job"]),
                   lambda: self.must("explain", jobs["job"]))
        self.write("go", "")
        self.assertEqual(self.state_of(jobs["job"]), "COMPLETED")

    def test_a_job_that_is_held_gets_its_files_meanwhile(self):
        self.write("data", "x")
        jobs = self.staged("-H", "--stage-in", "data:./in", "--wrap", "true")
        self.assertEqual(self.state_of(jobs["stage_in"]), "COMPLETED")
        self.assertEqual(self.cluster.queue()[jobs["job"]]["state"], "PENDING")
        self.must("release", jobs["job"])
        self.assertEqual(self.state_of(jobs["job"]), "COMPLETED")
        out = self.staged("-H", "--stage-out", "data:./away", "--wrap", "true")
        self.cluster.wait_reason(out["job"], "held")
        self.must("release", out["job"])
        self.assertEqual(self.state_of(out["stage_out"]), "COMPLETED")


if __name__ == "__main__":
    unittest.main()
