"""muster scale: programs whose behaviour is known, run by one rank, two, four, as jobs and as steps."""

import datetime
import json
import os
import pty
import select
import signal
import subprocess
import time

from cluster import BIN, WIDE, ClusterTest, wait_until

# 0.5 s that are not shared, and 1.5 s that are.
SHARED = ["sh", "-c", "case $MUSTER_STEP_NUM_TASKS in 1) sleep 2;; 2) sleep 1.25;; 4) sleep 0.875;; esac"]
# What it would take by a serial fraction of 0.2, as a program prints it.
PRINTED = ["sh", "-c", "echo begun; case $MUSTER_STEP_NUM_TASKS in 1) t=10;; 2) t=6.0;; 4) t=4;; 8) t=3;; esac; "
                       "[ $MUSTER_PROCID = 0 ] && echo \"Elapsed: $t s\"; exit 0"]
ELAPSED = "^Elapsed: ([0-9.]+) s$"


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def amdahl(numbers, times):
    """The serial fraction by the least squares of T = a + b/n with neither below 0, from its normal equations."""
    shares = [1 / n for n in numbers]
    count, x, t = len(times), sum(shares), sum(times)
    xx, xt = sum(s * s for s in shares), sum(s * t for s, t in zip(shares, times))
    b = (count * xt - x * t) / (count * xx - x * x)
    a = (t - b * x) / count
    return 1 if b < 0 else max(a, 0) / (max(a, 0) + b)


class ScaleTest(ClusterTest):
    """One node of 64 cores to place on, whatever the machine has."""

    topology = WIDE

    def step_of(self, run):
        """The step of one run, as muster show has it."""
        (job,) = json.loads(self.cluster.must("show", run["job"], "--json"))["jobs"]
        (step,) = [step for step in job["steps"] if step["step"] == run["step"]]
        return step

    def test_each_run_is_a_job_of_its_own_whose_time_the_controller_measured(self):
        document = json.loads(self.cluster.must("scale", "--max", 4, "--json", "--", *SHARED))
        points = document["points"]
        self.assertEqual([point["n"] for point in points], [1, 2, 4])
        self.assertEqual(len({point["runs"][0]["job"] for point in points}), 3)
        for point, least in zip(points, (2, 1.25, 0.875)):
            (run,) = point["runs"]
            step = self.step_of(run)
            self.assertEqual(step["state"], "COMPLETED")
            took = moment(step["end_time"]) - moment(step["start_time"])
            self.assertAlmostEqual(run["value"], took.total_seconds(), places=6)
            self.assertGreaterEqual(run["value"], least)
            self.assertAlmostEqual(point["speedup"], points[0]["value"] / point["value"])
            self.assertAlmostEqual(point["efficiency"], point["speedup"] / point["n"])
        self.assertEqual((document["law"], document["over"]), ("amdahl", "ranks"))
        self.assertAlmostEqual(document["serial_fraction"], amdahl([1, 2, 4], [point["value"] for point in points]))

    def test_inside_a_job_the_runs_are_its_steps_up_to_its_tasks(self):
        text = self.cluster.must("alloc", "-n", 4, f"{BIN}/muster", "scale", "--json", "--measure", ELAPSED, "--",
                                 *PRINTED)
        runs = [run for point in json.loads(text)["points"] for run in point["runs"]]
        self.assertEqual([run["step"] for run in runs], [1, 2, 3])
        self.assertEqual([run["value"] for run in runs], [10, 6, 4])
        self.assertEqual(len({run["job"] for run in runs}), 1)
        self.assertEqual([self.step_of(run)["tasks"] for run in runs], [1, 2, 4])

    def test_what_a_program_prints_gives_its_serial_fraction_and_its_knee(self):
        page = self.cluster.must("scale", "--max", 8, "--measure", ELAPSED, "--", *PRINTED)
        _, *lines = page.splitlines()
        self.assertEqual([line.split() for line in lines[:5]], [
            ["RANKS", "MEASURED", "SPEEDUP", "EFFICIENCY"], ["1", "10", "1.00", "1.00"], ["2", "6", "1.67", "0.83"],
            ["4", "4", "2.50", "0.62"], ["8", "3", "3.33", "0.42"]])
        self.assertEqual(lines[5:], [
            "Serial fraction 0.200 (Amdahl): never more than 5.0 times as fast as one; the law misses these times by "
            "up to 0 %.",
            "Knee at 2 ranks: the efficiency of 4 is 0.62, below 0.70."])

    def test_weak_scaling_of_a_rate_gives_the_command_its_number_and_takes_the_median(self):
        # The third run of three is slow; the median does not see it.
        counted = os.path.join(self.cluster.work, "counted")
        program = (f"echo . >>{counted}; [ $(($(wc -l <{counted}) % 3)) = 0 ] && {{ echo rate 1; exit; }}; "
                   "echo rate $(({N} * 100 - ({N} - 1) * 20))")
        document = json.loads(self.cluster.must(
            "scale", "--weak", "--max", 4, "--repeat", 3, "--measure", "rate ([0-9]+)", "--higher-is-better", "--json",
            "-N", 1, "--", "sh", "-c", f"[ $MUSTER_PROCID = 0 ] || exit 0; {program}"))
        self.assertEqual([point["value"] for point in document["points"]], [100, 180, 340])
        self.assertEqual([len(point["runs"]) for point in document["points"]], [3, 3, 3])
        self.assertEqual(document["law"], "gustafson")
        self.assertAlmostEqual(document["serial_fraction"], 0.2)
        self.assertEqual((document["knee"], document["knee_is_last"]), (4, True))

    def test_a_run_that_fails_ends_it_and_what_was_measured_is_shown(self):
        done = self.cluster.muster("scale", "--max", 4, "--measure", "([0-9]+)", "--", "sh", "-c",
                                   "echo 5; [ $MUSTER_STEP_NUM_TASKS != 4 ] || exit 3")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.splitlines()[-1], r"^muster scale: 4 ranks: job \d+ failed with exit code 3$")
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines()[1:4]], ["RANKS", "1", "2"])

    def test_what_does_not_match_or_never_fits_or_is_no_pattern_is_one_line(self):
        before = len(self.cluster.history())
        for arguments, code, line in (
                (["--measure", "("], 2, "muster scale: --measure: \"(\" is no regular expression: missing ): (\n"),
                ([], 1, "muster scale: 1 rank: \"no-such-program\": not found in PATH: name its path\n")):
            done = self.cluster.muster("scale", "--max", 2, *arguments, "--", "no-such-program")
            self.assertEqual((done.returncode, done.stderr, done.stdout), (code, line, ""))
        self.assertEqual(len(self.cluster.history()), before)
        done = self.cluster.muster("scale", "--max", 2, "--measure", "took ([0-9]+)", "--", "echo", "nothing")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assert_one_line(done.stderr)
        self.assertIn("1 rank: --measure: no line of its standard output matches \"took ([0-9]+)\"", done.stderr)
        done = self.cluster.muster("scale", "--max", 1000, "-N", 1, "-c", 64, "--measure", "([0-9]+)", "--", "echo", 1)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assert_one_line(done.stderr)
        self.assertRegex(done.stderr, "^muster scale: 2 ranks: ")

    def test_a_terminal_sees_each_run_and_bars(self):
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        started = subprocess.Popen(
            self.cluster.command("scale", "--max", 2, "--repeat", 2, "--measure", ELAPSED, "--", *PRINTED),
            cwd=self.cluster.work, env={**self.cluster.environment, "LC_ALL": "C", "TERM": "xterm", "COLUMNS": "100"},
            stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        text, until = b"", time.monotonic() + 120
        while time.monotonic() < until:
            readable, _, _ = select.select([ours], [], [], 1)
            try:
                text += os.read(ours, 65536) if readable else b""
            except OSError:
                break
        self.assertEqual(started.wait(10), 0)
        text = text.decode()
        for line in ("1 rank, run 1 of 2: 10", "2 ranks, run 2 of 2: 6", "#" * 17 + "..."):
            self.assertIn(line, text)

    def test_ctrl_c_ends_the_run_and_its_job(self):
        started = self.cluster.begin("scale", "--max", 2, "--", "sleep", "1000")
        wait_until(lambda: any(job["state"] == "RUNNING" for job in self.cluster.queue().values()), "nothing runs")
        # A signal before the rank is there ends the job; one after it, the rank.
        started.send_signal(signal.SIGINT)
        out, err = started.communicate(timeout=60)
        self.assertEqual((started.returncode, out), (1, ""))
        self.assertRegex(err.splitlines()[-1], r"^muster scale: 1 rank: job \d+ failed with exit code 130$")
        wait_until(lambda: not self.cluster.queue(), "the job goes on")
