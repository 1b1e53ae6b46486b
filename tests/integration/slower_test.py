"""A job that has become slower than its own earlier runs says so, and what was different."""

import json
import unittest

from cluster import Cluster, ClusterTest


class SlowerTest(ClusterTest):
    @classmethod
    def make(cls):
        return Cluster().start()

    def run_once(self, seconds, modules):
        """The same program each time: how long it takes comes from outside."""
        job = self.cluster.submit("-J", "train", "-o", "/dev/null", "--export", f"ALL,TAKES={seconds},LOADEDMODULES={modules}",
                                  "--wrap", "sleep $TAKES")
        self.cluster.wait_ended(job)
        return job

    def warnings(self, job):
        (shown,) = json.loads(self.cluster.must("show", job, "--json"))["jobs"]
        return [(warning["rule"], warning["text"]) for warning in shown["warnings"]]

    def test_the_third_run_in_a_row_is_told_of_with_the_first_difference(self):
        for _ in range(2):
            self.run_once(0.2, "gcc/12")
        before = self.run_once(0.2, "gcc/12")
        first = self.run_once(4, "gcc/13")
        second = self.run_once(4, "gcc/13")
        self.assertEqual(self.warnings(second), [])
        third = self.run_once(4, "gcc/13")
        ((rule, text),) = self.warnings(third)
        self.assertEqual(rule, "Slower")
        self.assertRegex(text, r"\Ahas a rate \d\d % below that of its earlier runs \(.*\), 3 times in a row since job "
                         rf"{first}; modules was gcc/12, is gcc/13: muster diff {before} {first}\Z")
        self.assertIn(text, self.cluster.must("show", third))
        self.assertIn("gcc/13", self.cluster.muster("diff", before, first).stdout)
        self.assertEqual(self.warnings(before), [])
        other = self.cluster.submit("-J", "train", "-o", "/dev/null", "--wrap", "sleep 3")
        self.cluster.wait_ended(other)
        self.assertEqual(self.warnings(other), [], "another program of that name")


if __name__ == "__main__":
    unittest.main()
