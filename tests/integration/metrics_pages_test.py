"""The pages of Slurm 25.11's metrics as a scraper of theirs reads them: parsed by promtool where it is installed."""

import re
import shutil
import subprocess
import unittest

from cluster import wait_until
from door import Door

PAGES = ("jobs", "jobs-users-accts", "nodes", "partitions", "scheduler")


class MetricsPagesTest(Door):
    def page(self, name):
        status, headers, body = self.ask("GET", f"/metrics/{name}", self.reader)
        self.assertEqual(status, 200, body)
        self.assertIn("text/plain", headers["Content-Type"])
        return body.decode()

    def sample(self, page, name):
        found = re.search(rf"(?m)^{re.escape(name)} (\S+)$", self.page(page))
        return float(found.group(1)) if found else -1

    def test_each_page_has_the_numbers_of_its_name_and_promtool_reads_it(self):
        held = self.submit("--hold", "--wrap", "true")
        self.submit("--wrap", "exit 3")
        wait_until(lambda: self.sample("jobs", "slurm_jobs_failed") == 1, lambda: self.page("jobs"))
        self.assertEqual(self.sample("jobs", "slurm_jobs_hold"), 1)
        node = re.search(r'slurm_node_cpus{node="([^"]+)"} (\S+)', self.page("nodes"))
        self.assertEqual(float(node.group(2)), 64)
        self.assertEqual(self.sample("nodes", "slurm_nodes_idle"), 1)
        self.assertRegex(self.page("jobs-users-accts"), r'slurm_user_jobs_hold{username="[^"]+"} 1')
        self.assertGreaterEqual(self.sample("scheduler", "slurm_sdiag_jobs_submitted"), 2)
        self.assertIn("slurm_partitions ", self.page("partitions"))
        for name in PAGES:
            if shutil.which("promtool"):
                checked = subprocess.run(["promtool", "check", "metrics"], input=self.page(name), text=True,
                                         capture_output=True, check=False)
                self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        self.cluster.must("cancel", held)

    def test_what_is_no_page_is_not_found_and_nothing_is_told_without_a_token(self):
        status, _, body = self.ask("GET", "/metrics/job", self.token)
        self.assertEqual((status, body["code"]), (404, "NOT_FOUND"))
        self.assertIn("there are jobs, jobs-users-accts, nodes", body["detail"])
        self.assertEqual(self.ask("GET", "/metrics/jobs")[0], 401)
        self.assertEqual(self.ask("POST", "/metrics/jobs", self.token, {})[0], 405)
        self.assertEqual(self.ask("GET", "/metricsjobs", self.token)[0], 404)


if __name__ == "__main__":
    unittest.main()
