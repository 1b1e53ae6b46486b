"""Suspension, end to end: real processes stop and go on, through a restart of everything that may be restarted."""

import json
import os
import time
import unittest

from cluster import ClusterTest, wait_until


class SuspendTest(ClusterTest):
    """A counter that counts while it runs tells whether it runs."""

    def counting(self, *options):
        path = os.path.join(self.cluster.work, f"count{time.monotonic_ns()}")
        body = f"i=0; while true; do i=$((i+1)); echo $i > {path}.new; mv {path}.new {path}; sleep 0.02; done"
        job = self.cluster.submit(*options, "--wrap", body)
        wait_until(lambda: os.path.exists(path), f"job {job} does not count")
        self.cluster.wait_state(job, "RUNNING")
        return job, path

    def count(self, path):
        with open(path, encoding="utf-8") as file:
            return int(file.read())

    def status(self, job):
        (detail,) = json.loads(self.cluster.must("show", str(job), "--json"))["jobs"]
        return detail

    def frozen(self, job):
        wait_until(lambda: self.status(job)["suspended_since"] is not None, f"job {job} is not frozen")

    def assert_counts(self, path, counts):
        before = self.count(path)
        if counts:
            wait_until(lambda: self.count(path) > before + 2, "the job does not count")
        else:
            time.sleep(0.5)
            self.assertEqual(self.count(path), before)

    def test_a_suspended_job_does_nothing_and_then_goes_on(self):
        job, path = self.counting()
        self.assert_counts(path, True)
        self.cluster.must("suspend", str(job))
        self.frozen(job)
        self.assert_counts(path, False)
        self.assertEqual(self.status(job)["state"], "SUSPENDED")
        self.assertIn("muster resume", self.status(job)["reason"]["text"])
        self.cluster.must("resume", str(job))
        self.cluster.wait_state(job, "RUNNING")
        self.assert_counts(path, True)
        self.cluster.must("cancel", str(job))
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "CANCELLED")
        self.assertGreater(self.status(job)["suspended"], 0.4)

    def test_it_stays_so_through_a_restart_of_controller_and_agent(self):
        job, path = self.counting()
        self.cluster.must("suspend", str(job))
        self.frozen(job)
        self.cluster.controller.kill()
        self.cluster.agents[0].kill()
        self.cluster.controller.start()
        self.cluster.agents[0].start()
        self.assertEqual(self.status(job)["state"], "SUSPENDED")
        self.assert_counts(path, False)
        self.cluster.must("resume", str(job))
        self.cluster.wait_state(job, "RUNNING")
        self.assert_counts(path, True)
        self.cluster.must("cancel", str(job))
        self.cluster.wait_ended(job)

    def test_a_suspended_job_is_cancelled_at_once(self):
        job, _ = self.counting()
        self.cluster.must("suspend", str(job))
        self.frozen(job)
        self.cluster.must("cancel", str(job))
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "CANCELLED")

    def test_the_time_limit_stands_still(self):
        job, path = self.counting("--time", "0:08")
        self.cluster.must("suspend", str(job))
        self.frozen(job)
        time.sleep(8.5)
        self.assertEqual(self.status(job)["state"], "SUSPENDED")
        self.cluster.must("resume", str(job))
        self.cluster.wait_state(job, "RUNNING")
        self.assert_counts(path, True)
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "TIMEOUT")

    def test_what_cannot_be_suspended_is_said_in_one_line(self):
        job = self.cluster.submit("-H", "--wrap", "true")
        for verb, says in (("suspend", "has not started"), ("resume", "is not suspended")):
            refused = self.cluster.muster(verb, str(job))
            self.assertEqual(refused.returncode, 1)
            self.assertIn(says, refused.stderr)
            self.assert_one_line(refused.stderr)
        self.cluster.must("cancel", str(job))


if __name__ == "__main__":
    unittest.main()
