"""A first job, end to end: from its submission to its accounting, and every way in which it can end."""

import contextlib
import json
import os
import pty
import subprocess
import time
import unittest

from cluster import PATIENCE, ClusterTest, WIDE, processes_with, program, read_file, start_time, wait_until


class FirstJobTest(ClusterTest):
    """On this machine's own cores, so that binding is real."""

    nodes = 2 if len(os.sched_getaffinity(0)) > 1 else 1

    def test_a_job_runs_bound_and_is_accounted(self):
        script = self.cluster.script(
            "grep Cpus_allowed_list /proc/self/status\n"
            "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done\nfinish 3")
        job = self.cluster.submit("-n", 1, script)
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual((row["state"], row["exit_code"], row["exit_signal"]), ("FAILED", 3, 0))
        self.assertIn("Cpus_allowed_list:", self.read(f"muster-{job}.out"))
        self.assertEqual(self.cluster.ended_by_themselves()[job], 3)
        (attempt,) = self.cluster.attempts(job)
        self.assertRegex(attempt["binding"], r"^verified 1(/1)?$")
        self.assertGreater(row["user_cpu_ms"] + row["system_cpu_ms"], 0)
        self.assertGreater(row["peak_memory"], 100_000)
        self.assertLessEqual(row["submitted"], row["started"])
        self.assertLessEqual(row["started"], row["ended"])

    def test_submit_says_the_number_in_the_usual_words(self):
        said = self.cluster.must("submit", "--wrap", "true")
        self.assertRegex(said, r"^Submitted batch job \d+$")

    def test_wait_ends_with_the_jobs_exit_code(self):
        for code in (0, 3, 255):
            with self.subTest(code=code):
                done = self.cluster.muster("submit", "--wait", "--wrap", f"exit {code}")
                self.assertEqual(done.returncode, code, done.stderr)

    def test_explain_says_how_a_job_ended(self):
        job = self.cluster.submit("--wrap", "exit 3")
        self.cluster.wait_ended(job)
        self.assertRegex(self.cluster.must("explain", job), rf"(?s)^job {job} FAILED: .*\n  ended .* on .*exit code 3")
        self.assertEqual(json.loads(self.cluster.must("explain", "--json", job))["job"]["state"], "FAILED")
        done = self.cluster.muster("explain", "999999")
        self.assertEqual((done.returncode, done.stderr),
                         (1, "muster explain: job 999999: no such job; see muster queue and muster history\n"))

    def test_wait_ends_with_128_and_the_signal_of_a_killed_job(self):
        done = self.cluster.muster("submit", "--wait", "--wrap", "kill -KILL $$")
        self.assertEqual(done.returncode, 128 + 9, done.stderr)

    def test_a_script_can_come_from_standard_input(self):
        job = self.cluster.submit("-", input="#!/bin/sh\necho from stdin $0 $#\n")
        self.cluster.wait_ended(job)
        self.assertIn("from stdin", self.read(f"muster-{job}.out"))

    def test_a_scripts_arguments_reach_it_as_they_are(self):
        script = os.path.join(self.cluster.work, "arguments.sh")
        with open(script, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\nfor a in "$@"; do echo "[$a]"; done\n')
        job = self.cluster.submit(script, "-n", "a b", "", "$HOME", "*")
        self.cluster.wait_ended(job)
        self.assertEqual(self.read(f"muster-{job}.out"), "[-n]\n[a b]\n[]\n[$HOME]\n[*]\n")

    def test_sbatch_directives_are_obeyed_and_the_command_line_wins(self):
        text = ("#!/bin/bash\n#SBATCH --job-name=of-script --output=%x-%j.txt\n"
                "#SBATCH -t 5\necho $SLURM_JOB_NAME\n#SBATCH --job-name=too-late\n")
        first = self.cluster.submit("-", input=text)
        second = self.cluster.submit("-J", "of-line", "-", input=text)
        self.cluster.wait_ended(first, second)
        self.assertEqual(self.read(f"of-script-{first}.txt"), "of-script\n")
        self.assertEqual(self.read(f"of-line-{second}.txt"), "of-line\n")

    def test_standard_error_goes_where_it_is_sent(self):
        job = self.cluster.submit("-o", "o-%j-%N", "-e", "e-%j", "--wrap", "echo out; echo err >&2")
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(self.read(f"o-{job}-{row['nodes']}"), "out\n")
        self.assertEqual(self.read(f"e-{job}"), "err\n")

    def test_a_job_past_its_limit_is_ended_even_when_it_ignores_sigterm(self):
        job = self.cluster.submit("-t", "0:1", self.cluster.script(
            "trap '' TERM\nsleep 1000 & sleep 1000\nwhile :; do sleep 1; done"))
        (row,) = self.cluster.wait_ended(job, patience=90)
        self.assertEqual(row["state"], "TIMEOUT")
        self.assertIsNone(start_time(self.cluster.begun()[job]))
        self.assert_nothing_left(job)

    def test_a_daemon_that_a_job_left_behind_is_gone_with_it(self):
        job = self.cluster.submit("--wrap", "(setsid sh -c 'sleep 1000 & exec sleep 1000' &) ; "
                                            "sleep 0.3; exit 5")
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual((row["state"], row["exit_code"]), ("FAILED", 5))
        self.assert_nothing_left(job)

    def assert_nothing_left(self, job):
        def left():
            return [pid for pid in processes_with(self.cluster.state)
                    if f"MUSTER_JOB_ID={job}\0".encode() in read_file(f"/proc/{pid}/environ")]
        wait_until(lambda: not left(), lambda: f"of job {job} is left: {left()}", 10)


class ManyCoresTest(ClusterTest):
    """On a node that plays a larger machine, so that much can run or wait at once."""

    topology = WIDE

    def test_an_array_runs_whole_and_never_more_at_once_than_it_allows(self):
        script = self.cluster.script("sleep 0.2; echo task $MUSTER_ARRAY_TASK_ID; "
                                     "finish $((MUSTER_ARRAY_TASK_ID % 3))")
        first = self.cluster.submit("-a", "0-19%5", "-o", "array-%A-%a", script)
        rows = self.cluster.wait_ended(*range(first, first + 20))
        self.assertEqual([row["exit_code"] for row in rows], [i % 3 for i in range(20)])
        self.assertEqual([row["array_index"] for row in rows], list(range(20)))
        for index in range(20):
            self.assertEqual(self.read(f"array-{first}-{index}"), f"task {index}\n")
        changes = []
        for (job, _, _), lines in self.cluster.truth().items():
            if first <= job < first + 20:
                self.assertEqual([word for word, _, _ in lines], ["begin", "end"])
                changes += [(when, 1 if word == "begin" else -1) for word, _, when in lines]
        most, now = 0, 0
        for _, change in sorted(changes):  # at one instant, ends before begins
            now += change
            most = max(most, now)
        self.assertLessEqual(most, 5)
        self.assertGreater(most, 1, "nothing ran side by side")

    def test_a_cancelled_job_never_starts_or_ends_at_once(self):
        running = self.cluster.submit(self.cluster.script("exec sleep 1000"))
        held = self.cluster.submit("--hold", self.cluster.script("finish 0"))
        wait_until(lambda: running in self.cluster.begun(), "the job did not begin")
        self.cluster.must("cancel", running, held)
        rows = self.cluster.wait_ended(running, held)
        self.assertEqual([row["state"] for row in rows], ["CANCELLED", "CANCELLED"])
        self.assertNotIn(held, self.cluster.begun())
        self.assertIsNone(start_time(self.cluster.begun()[running]))

    def test_cancel_all_ends_everything_and_complains_of_nothing(self):
        first = self.cluster.submit("--hold", "-a", "0-9", "--wrap", "true")
        alone = self.cluster.submit("--hold", "--wrap", "true")
        running = self.cluster.submit(self.cluster.script("exec sleep 1000"))
        wait_until(lambda: running in self.cluster.begun(), "the job did not begin")
        done = self.cluster.muster("cancel", "--all")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = self.cluster.wait_ended(*range(first, first + 10), alone, running)
        self.assertEqual({row["state"] for row in rows}, {"CANCELLED"})

    def test_a_held_job_waits_for_its_release(self):
        job = self.cluster.submit("--hold", self.cluster.script("finish 0"))
        reason = self.cluster.wait_reason(job, "held")
        self.assertEqual(reason["kind"], "JobHeldUser")
        time.sleep(0.5)
        self.assertNotIn(job, self.cluster.begun())
        self.cluster.must("release", job)
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "COMPLETED")

    def test_many_jobs_that_wait_alike_are_one_line_and_each_where_that_is_asked(self):
        batch = os.path.join(self.cluster.work, "batch")
        with open(batch, "w", encoding="utf-8") as file:
            file.write("--hold --wrap true\n" * 20)
        jobs = [int(job) for job in self.cluster.must("submit", "--parsable", "--batch", batch).split()]
        self.assertEqual(jobs, list(range(jobs[0], jobs[0] + 20)))

        def first_column(*arguments):
            lines = self.cluster.must("queue", "--noheader", *arguments).splitlines()
            return [line.split()[0] for line in lines]
        each = [str(job) for job in jobs]
        self.assertEqual(first_column(), [f"[{jobs[0]}-{jobs[-1]}]"])
        self.assertEqual(first_column(first_column()[0]), each)
        self.assertEqual(first_column("--array"), each)
        self.assertEqual(first_column("--start"), each)
        self.assertEqual(first_column("--format", "id"), each)
        self.assertEqual(first_column(each[3], each[4]), each[3:5])
        self.assertEqual(sorted(self.cluster.queue()), jobs)
        self.assertNotIn("alike", self.cluster.queue()[jobs[0]])
        squeue = subprocess.run([program("muster-slurm"), "squeue", "-h", "-o", "%i"], text=True, check=True, env={
            **self.cluster.environment, "MUSTER_CONTROLLER": self.cluster.address}, stdout=subprocess.PIPE).stdout
        self.assertEqual(sorted(squeue.split(), key=int), each)
        self.cluster.must("release", each[10])
        self.cluster.wait_ended(jobs[10])
        self.assertEqual(first_column(), each[:10] + each[11:], "fewer than 16 on either side")

    def test_a_job_that_can_never_fit_says_so(self):
        job = self.cluster.submit("-n", 1000, "--wrap", "true")
        reason = self.cluster.wait_reason(job, "never on this cluster")
        self.assertTrue(reason["never"])
        self.cluster.must("cancel", job)

    def submit_at_a_terminal(self, *arguments):
        """(number, what the terminal shows besides)."""
        master, slave = pty.openpty()
        try:
            done = subprocess.run(self.cluster.command("submit", "--parsable", *arguments), stdout=subprocess.PIPE,
                                  stderr=slave, stdin=subprocess.DEVNULL, cwd=self.cluster.work, text=True,
                                  env=self.cluster.environment, timeout=PATIENCE, check=True)
        finally:
            os.close(slave)
        shown = b""
        with contextlib.suppress(OSError):  # what Linux says when nobody has it open any more
            while part := os.read(master, 4096):
                shown += part
        os.close(master)
        return int(done.stdout), shown.decode().replace("\r\n", "\n")

    def test_submit_takes_a_job_that_can_never_fit_and_says_so(self):
        job, shown = self.submit_at_a_terminal("-N", 1, "-n", 1000, "--wrap", "true")
        self.assertRegex(shown, rf"\Amuster submit: job {job} waits: never on this cluster: 1 node: "
                                rf".*1000.*64.*; muster cancel {job} takes it back\n\Z")
        pair, shown = self.submit_at_a_terminal("-n", 1, ":", "-G", 9, "--wrap", "true")
        self.assertRegex(shown, rf"\Amuster submit: job {pair} waits: component 1: never on this cluster: .*GPU.*\n\Z")
        array, shown = self.submit_at_a_terminal("-a", "3-5", "--mem", "900T", "--wrap", "true")
        self.assertRegex(shown, rf"\Amuster submit: job {array} waits: never on this cluster: .*[TG]iB.*\n\Z")
        for number in (job, pair, array):
            self.cluster.must("cancel", number)
        done = self.cluster.muster("submit", "-n", 1000, "--wrap", "true")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"\Amuster submit: job \d+ waits: never on this cluster: .*\n\Z")
        self.cluster.must("cancel", done.stdout.split()[-1])

    def test_submit_says_nothing_of_a_job_that_some_node_can_take_one_day(self):
        _, shown = self.submit_at_a_terminal("-n", 1, "--wrap", "true")
        self.assertEqual(shown, "")
        self.cluster.must("drain", "node1", "--reason", "bad DIMM")
        job, shown = self.submit_at_a_terminal("-n", 64, "--wrap", "true")
        self.assertEqual(shown, "")
        self.cluster.must("cancel", job)
        self.cluster.must("resume", "node1")

    def test_a_report_counts_what_ran_and_what_failed(self):
        name = f"reported{os.getpid()}"
        jobs = [self.cluster.submit("-J", name, "-o", "/dev/null", "--wrap", body) for body in ("sleep 1", "exit 3")]
        self.cluster.wait_ended(*jobs)
        usage = json.loads(self.cluster.must("report", "usage", "--by", "name", "--name", name, "--json"))["usage"]
        self.assertEqual([(row["name"], row["jobs"], row["failed"]) for row in usage], [(name, 2, 1)])
        self.assertGreater(usage[0]["cpu_hours"], 1 / 3600)
        waits = json.loads(self.cluster.must("report", "waits", "--name", name, "--json"))["waits"]
        self.assertEqual([row["jobs"] for row in waits], [2])
        load = json.loads(self.cluster.must("report", "utilization", "--since", "1h", "--every", "30m", "--json"))
        self.assertEqual(len(load["utilization"]), 2)
        self.assertGreater(load["utilization"][-1]["cpus"], 0)
        self.assert_one_line(self.cluster.muster("report", "nonsense").stderr)

    def test_nothing_starts_on_a_drained_node_until_it_is_resumed(self):
        running = self.cluster.submit(self.cluster.script(self.cluster.gate() + "\nfinish 4"))
        wait_until(lambda: running in self.cluster.begun(), "the job did not begin")
        self.cluster.must("drain", "node1", "--reason", "bad DIMM")
        job = self.cluster.submit(self.cluster.script("finish 0"))
        self.cluster.wait_reason(job, "drained")
        self.cluster.open_gate(lambda: running in self.cluster.history())
        self.assertEqual(self.cluster.history()[running]["exit_code"], 4)
        self.assertNotIn(job, self.cluster.begun())
        self.cluster.must("resume", "node1")
        self.cluster.wait_ended(job)

    def test_a_node_that_plays_another_says_that_its_binding_is_not_enforced(self):
        job = self.cluster.submit("--wrap", "true")
        self.cluster.wait_ended(job)
        (attempt,) = self.cluster.attempts(job)
        self.assertNotIn("verified", attempt["binding"])


if __name__ == "__main__":
    unittest.main()
