"""A job's terms, end to end: dependencies, requeue, update, deadlines, features, licences; also over a restart."""

import json
import unittest

from cluster import ClusterTest


class TermsTest(ClusterTest):
    """One node is enough: these are about when jobs start, not where."""

    def status(self, job):
        (detail,) = json.loads(self.cluster.must("show", str(job), "--json"))["jobs"]
        return detail

    def test_a_job_starts_after_the_one_that_it_depends_on_and_only_if_that_went_well(self):
        first = self.cluster.submit("--wrap", self.cluster.gate() + "\nexit 0")
        after = self.cluster.submit("-d", f"afterok:{first}", "--wrap", "true")
        never = self.cluster.submit("-d", f"afternotok:{first}", "--kill-on-invalid-dep=yes",
                                    "--wrap", "true")
        self.cluster.wait_reason(after, f"waits for afterok:{first}")
        self.cluster.open_gate()
        rows = dict(zip((first, after, never), self.cluster.wait_ended(first, after, never)))
        self.assertEqual(rows[after]["state"], "COMPLETED")
        self.assertLessEqual(rows[first]["ended"], rows[after]["started"])
        self.assertEqual(rows[never]["state"], "CANCELLED")

    def test_what_ended_long_ago_is_looked_up(self):
        bad = self.cluster.submit("--wrap", "exit 1")
        self.cluster.wait_ended(bad)
        refused = self.cluster.muster("submit", "-d", f"afterok:{bad}", "--wrap", "true")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("can never be met", refused.stderr)
        self.assert_one_line(refused.stderr)
        told = self.cluster.submit("-d", f"afterok:{bad}", "--kill-on-invalid-dep=no", "--wrap", "true")
        self.cluster.wait_reason(told, "can no longer be met")
        after = self.cluster.submit("-d", f"afternotok:{bad}", "--wrap", "true")
        (row,) = self.cluster.wait_ended(after)
        self.assertEqual(row["state"], "COMPLETED")
        self.cluster.must("cancel", str(told))

    def test_a_dependency_outlives_the_controller(self):
        first = self.cluster.submit("--array=0-1", "--wrap", "exit $MUSTER_ARRAY_TASK_ID")
        self.cluster.wait_ended(first, first + 1)
        held = self.cluster.submit("-H", "--wrap", "true")
        waits = self.cluster.submit("-d", f"afterok:{held}", "--wrap", "true")
        corr = self.cluster.submit("-H", "-d", f"aftercorr:{first}", "--kill-on-invalid-dep=no",
                                   "--array=0-1", "--wrap", "true")
        self.cluster.controller.kill()
        self.cluster.controller.start()
        self.cluster.wait_reason(waits, f"waits for afterok:{held}")
        self.cluster.must("release", str(held), str(corr))
        self.cluster.wait_ended(held, waits, corr)
        self.cluster.wait_reason(corr + 1, "can no longer be met")
        self.cluster.must("cancel", str(corr))

    def test_what_waits_is_given_a_start_that_half_and_nine_tenths_of_the_futures_keep(self):
        runs = self.cluster.submit("-t", "10:00", "--exclusive", "--wrap", "sleep 1000")
        self.cluster.wait_state(runs, "RUNNING")
        waits = self.cluster.submit("-t", "5:00", "--exclusive", "--wrap", "true")
        self.cluster.wait_reason(waits, "short")
        held = self.cluster.submit("-H", "-t", "5:00", "--wrap", "true")
        document = json.loads(self.cluster.must("whatif", "--live", "--json"))
        self.assertEqual(document["left_out"], 1, "the held one")
        (start,) = document["jobs"]
        self.assertEqual(start["id"], waits)
        self.assertLessEqual(self.status(runs)["start_time"], start["p50"])
        self.assertLessEqual(start["p50"], start["p90"])
        self.cluster.must("cancel", str(held), str(runs))
        self.cluster.wait_ended(runs, waits)

    def test_a_requeued_job_runs_again_under_its_number(self):
        job = self.cluster.submit("--wrap", "[ $MUSTER_RESTART_COUNT = 1 ] || sleep 300")
        self.cluster.wait_state(job, "RUNNING")
        self.cluster.must("requeue", str(job))
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "COMPLETED")
        self.assertEqual(len(self.cluster.attempts(job)), 2)
        self.assertEqual(self.status(job)["restarts"], 1)

    def test_a_script_that_has_kept_its_work_asks_to_run_again(self):
        job = self.cluster.submit("--requeue", "--wrap", "[ $MUSTER_RESTART_COUNT = 2 ] || exit 85")
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual((row["state"], row["exit_code"]), ("COMPLETED", 0))
        self.assertEqual(len(self.cluster.attempts(job)), 3)

    def test_an_update_is_shown_and_kept(self):
        job = self.cluster.submit("-H", "--wrap", "true")
        self.cluster.must("update", str(job), "--time", "7", "--nice", "5", "--comment", "mine")
        self.cluster.controller.kill()
        self.cluster.controller.start()
        detail = self.status(job)
        self.assertEqual((detail["time_limit"], detail["nice"], detail["comment"]), (420, 5, "mine"))
        self.cluster.must("cancel", str(job))

    def test_a_job_ends_at_its_deadline(self):
        job = self.cluster.submit("--deadline", "now+3", "--wrap", "sleep 300")
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "DEADLINE")

    def test_a_feature_that_no_node_has_is_named(self):
        job = self.cluster.submit("-C", "gold&!iron", "--wrap", "true")
        self.cluster.wait_reason(job, "without the features gold&!iron")
        self.cluster.must("cancel", str(job))


if __name__ == "__main__":
    unittest.main()
