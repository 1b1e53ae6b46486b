"""Jobs that run again by a calendar, what two jobs differ in, and a submission like an earlier one."""

import datetime
import json
import os
import subprocess
import unittest

from cluster import ClusterTest, wait_until


class RecurringTest(ClusterTest):
    """One node."""

    def row(self, job):
        return json.loads(self.cluster.must("show", job, "--json"))["jobs"][0]

    def differences(self, *jobs):
        done = self.cluster.muster("diff", "--json", *jobs)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return {(each["group"], each["name"]): (each["first"], each["second"])
                for each in json.loads(done.stdout)["differences"]}

    def test_a_job_runs_at_its_moments_and_waits_for_the_next_after_each_run(self):
        job = self.cluster.submit("--every", "1m", "-o", "runs", "--open-mode=append", "--wrap", "date +%s; exit 3")
        waiting = self.row(job)
        self.assertEqual(waiting["every"].split(";")[0], "*/1 * * * *")
        begin, submitted = (datetime.datetime.fromisoformat(waiting[name].replace("Z", "+00:00"))
                            for name in ("begin_time", "submit_time"))
        self.assertEqual((begin.second, begin.microsecond), (0, 0))
        self.assertLessEqual(datetime.timedelta(0), begin - submitted)
        self.assertLessEqual(begin - submitted, datetime.timedelta(minutes=1))
        wait_until(lambda: len(self.row(job)["attempts"]) >= 2 and self.row(job)["state"] == "PENDING",
                   self.cluster.logs)
        runs = [int(line) for line in self.read("runs").split()]
        self.assertEqual(len(runs), 2)
        for at in runs:
            self.assertLess(at % 60, 50, "a run begins at its minute")
        self.assertGreaterEqual(runs[1] // 60, runs[0] // 60 + 1)
        row = self.row(job)
        self.assertEqual([attempt["exit"]["code"] for attempt in row["attempts"]], [3, 3])
        self.assertIn("every", self.cluster.must("show", job))
        self.cluster.must("update", job, "--every", "none")
        self.cluster.must("update", job, "--begin", "now")
        self.assertEqual(self.cluster.wait_ended(job)[0]["exit_code"], 3)

    def test_a_cancelled_job_does_not_come_again(self):
        job = self.cluster.submit("--every", "Mon 03:00", "--wrap", "true")
        self.cluster.must("cancel", job)
        self.assertEqual(self.cluster.wait_ended(job)[0]["state"], "CANCELLED")

    def test_moments_that_cannot_be_are_refused_in_one_line(self):
        for words, why in (
                (("--every", "sometimes"), r"--every: \"sometimes\" says no time: write 'Mon 03:00'"),
                (("--every", "61 * * * *"), r"--every: \"61\" is no minute \(0 to 59"),
                (("--every", "0 0 31 2 *"), "--every: no such day comes within eight years"),
                (("--every", "1h", "--array", "0-3"), "--every: not for an array"),
                (("--every", "1h", "--deadline", "now+1day"), "--every: excludes --deadline")):
            done = self.cluster.muster("submit", *words, "--wrap", "true")
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(done.stderr, f"^muster submit: {why}[^\n]*\n$")

    def test_two_jobs_differ_in_what_was_different(self):
        place = os.path.join(self.cluster.work, "repository")
        os.mkdir(place)

        def git(*words):
            subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=place, check=True,
                           capture_output=True)

        git("init", "-q")
        git("commit", "-q", "--allow-empty", "-m", "one")
        submit = ("submit", "--parsable", "-o", "/dev/null", "--job-name", "train")
        environment = {**self.cluster.environment, "PYTHONHASHSEED": "0"}
        one = self.cluster.must(*submit, "--wrap", "exit 0", cwd=place, environment=environment)
        again = self.cluster.must(*submit, "--wrap", "exit 0", cwd=place, environment=environment)
        git("commit", "-q", "--allow-empty", "-m", "two")
        environment["PYTHONHASHSEED"] = "1"
        other = self.cluster.must(*submit, "-c", "2", "--wrap", "exit 5", cwd=place, environment=environment)
        self.cluster.wait_ended(int(one), int(again), int(other))
        same = self.differences(one, again)
        self.assertFalse([what for what in same if what[0] in ("program", "record", "asked")], same)
        found = self.differences(one, other)
        self.assertEqual(found["record", "seed.PYTHONHASHSEED"], ("0", "1"))
        self.assertEqual(found["asked", "request.cpus_per_task"], ("1", "2"))
        self.assertEqual(found["outcome", "exit"], ("0", "5"))
        commits = found["record", "git.commit"]
        self.assertEqual(len(set(commits)), 2)
        text = self.cluster.muster("diff", one, other)
        self.assertEqual(text.returncode, 1)
        self.assertIn(commits[1], text.stdout)
        self.assertEqual(self.cluster.muster("diff", one, one).returncode, 0)

    def test_a_submission_like_another_is_it_but_for_what_is_said(self):
        first = self.cluster.submit("-H", "-c", "2", "-t", "10", "-J", "model", "--wrap", "exit 7")
        second = self.cluster.submit("--like", "model", "-t", "20", "-H")
        found = self.differences(first, second)
        asked = {name: values for (group, name), values in found.items() if group == "asked"}
        self.assertEqual(asked, {"time_limit": ("0:10:00", "0:20:00")})
        self.cluster.must("release", second)
        self.assertEqual(self.cluster.wait_ended(second)[0]["exit_code"], 7)
        done = self.cluster.muster("submit", "--like", str(first), "--array", "0-3")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, "^muster submit: --array: is not changed with --like; [^\n]+\n$")
        done = self.cluster.muster("submit", "--like", "999999")
        self.assertRegex(done.stderr, "^muster submit: job 999999: no such job; see muster queue and muster history\n$")
        self.cluster.must("cancel", first)


if __name__ == "__main__":
    unittest.main()
