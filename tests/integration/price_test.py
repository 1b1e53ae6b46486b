"""What jobs cost by a site's prices: shown, listed, reported by attempts, and never without prices."""

import datetime
import json
import os
import signal
import subprocess
import unittest

from cluster import Cluster, ClusterTest, program, wait_until

# So dear that a second of a CPU costs a whole unit.
HOUR = 3600
PRICES = f'[price]\ncurrency = "EUR"\ncpu_hour = {HOUR}\nnode_hour = "{HOUR}.5"\n'


class PriceTest(ClusterTest):
    """One node of four cores, and prices."""

    @classmethod
    def make(cls):
        cluster = Cluster(topology="pack:1 core:4 pu:1")
        cluster.configure(PRICES)
        return cluster.start()

    def shown(self, job):
        (detail,) = json.loads(self.cluster.must("show", job, "--json"))["jobs"]
        return detail

    def listed(self, job):
        (row,) = json.loads(self.cluster.must("history", job, "--json"))["jobs"]
        return row

    def cost_of(self, job, cpus):
        """By the attempts of the accounting."""
        held = sum(row["ended"] - row["started"] - row["suspended"] for row in self.cluster.attempts(job)) / 1000
        return held * (cpus + 1 + 0.5 / HOUR)

    def test_a_job_costs_what_it_held_while_it_runs_and_when_it_has_ended(self):
        job = self.cluster.submit("-n", 2, "--wrap", "sleep 600")
        wait_until(lambda: (self.shown(job)["cost"] or 0) > 1, "a job that runs costs nothing")
        self.cluster.must("cancel", job)
        self.cluster.wait_ended(job)
        row = self.listed(job)
        self.assertAlmostEqual(row["cost"], self.cost_of(job, 2), places=5)
        self.assertEqual(row["currency"], "EUR")
        self.assertEqual(self.shown(job)["cost"], row["cost"])
        text = f"{row['cost']:.2f} EUR"
        self.assertRegex(self.cluster.must("show", job), rf"cost +{text}")
        self.assertRegex(self.cluster.must("history", job), rf"COST(.*)\n(.*) {text} ")
        self.assertIn(str(row["cost"]), self.cluster.must("history", job, "-o", "id,cost,currency"))

    def test_one_that_never_started_costs_nothing(self):
        job = self.cluster.submit("--hold", "--wrap", "true")
        self.cluster.must("cancel", job)
        self.cluster.wait_ended(job)
        self.assertEqual(self.listed(job)["cost"], 0)
        self.assertNotIn("cost", self.cluster.must("show", job))
        self.assertNotIn("EUR", self.cluster.must("history", job))

    def usage(self, *options):
        return json.loads(self.cluster.must("report", "usage", "--json", *options))

    def test_a_report_counts_every_attempt_and_what_it_cost(self):
        begun = os.path.join(self.cluster.work, "begun")
        job = self.cluster.submit("-n", 3, "--requeue", "--job-name", "twice", "--wrap",
                                  f"if [ -e {begun} ]; then exec sleep 1; fi; touch {begun}; exec sleep 600")
        wait_until(lambda: os.path.exists(begun), "the job has not begun")
        self.cluster.must("requeue", job)
        self.cluster.wait_ended(job)
        self.assertEqual(len(self.cluster.attempts(job)), 2)
        (row,) = [row for row in self.usage("--by", "name")["usage"] if row["name"] == "twice"]
        held = sum(each["ended"] - each["started"] for each in self.cluster.attempts(job)) / 1000
        self.assertEqual(row["jobs"], 1)
        self.assertAlmostEqual(row["cpu_hours"], 3 * held / HOUR, places=5)
        self.assertAlmostEqual(row["cost"], self.cost_of(job, 3), places=4)
        self.assertAlmostEqual(self.listed(job)["cost"], row["cost"], places=4)
        self.assertEqual(row["currency"], "EUR")
        page = self.cluster.must("report", "usage", "--by", "name,month", "--tres", "cost,energy")
        self.assertRegex(page, r"\ANAME +MONTH +JOBS +FAILED +EUR +KWH")
        self.assertRegex(page, rf"twice +\d{{4}}-\d\d +1 +0 +{row['cost']:.2f} ")

    def test_a_report_counts_what_runs_now_as_far_as_now(self):
        job = self.cluster.submit("--job-name", "runs", "--wrap", "sleep 600")
        wait_until(lambda: (self.shown(job)["cost"] or 0) > 0, "a job that runs costs nothing")
        later = (datetime.datetime.now() + datetime.timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%S")
        (row,) = [row for row in self.usage("--by", "name", "--until", later)["usage"] if row["name"] == "runs"]
        self.assertLess(row["cpu_hours"], 1)
        self.assertLess(row["cost"], self.shown(job)["cost"])
        self.cluster.must("cancel", job)
        self.cluster.wait_ended(job)


class ChangedPricesTest(ClusterTest):
    """Prices that come, change from a day on, and are wrong."""

    own = True

    @classmethod
    def make(cls):
        cluster = Cluster()
        cluster.configure("")
        return cluster.start()

    def write(self, settings):
        with open(os.path.join(self.cluster.root, "muster.toml"), "w", encoding="utf-8") as file:
            file.write(settings)
        self.cluster.controller.process.send_signal(signal.SIGHUP)

    def cost(self, job):
        (row,) = json.loads(self.cluster.must("history", job, "--json"))["jobs"]
        return row["cost"], row["currency"]

    def test_prices_are_put_in_force_by_a_signal_and_count_from_their_day_on(self):
        job = self.cluster.submit("--wrap", "true")
        self.cluster.wait_ended(job)
        self.assertEqual(self.cost(job), (None, None))
        self.assertRegex(self.cluster.must("report", "usage", "--tres", "cost"), r"COST .*\n.* - ")
        self.assertNotIn("COST", self.cluster.must("history"))
        self.write(PRICES)
        wait_until(lambda: self.cost(job)[1] == "EUR", "the prices are not in force")
        today, _ = self.cost(job)
        self.assertGreater(today, 0)
        tomorrow = (datetime.date.today() + datetime.timedelta(days=2)).isoformat()
        self.write(PRICES + f"[price.{tomorrow}]\ncpu_hour = 0\nnode_hour = 0\n")
        yesterday = (datetime.date.today() - datetime.timedelta(days=2)).isoformat()
        self.assertEqual(self.cost(job)[0], today, "a price of a day to come counts already")
        self.write(PRICES + f"[price.{yesterday}]\ncpu_hour = {2 * HOUR}\nnode_hour = {2 * HOUR + 1}\n")
        # Each cost is rounded down to a millionth.
        wait_until(lambda: abs(self.cost(job)[0] - 2 * today) < 1e-5, "the newer price does not count")

    def test_what_is_no_price_is_refused_with_its_line_and_the_old_prices_stay(self):
        self.write(PRICES)
        path = os.path.join(self.cluster.root, "muster.toml")
        for wrong, why in (("cpu_hour = -1", "3: price.cpu_hour: expected a number from 0 to 1000000000"),
                           ("[price.tomorrow]\nkwh = 1", "3: price.tomorrow: is no day"),
                           ("pence = 1", "3: price.pence")):
            with self.subTest(wrong=wrong):
                self.write(f'[price]\ncurrency = "EUR"\n{wrong}\n')
                wait_until(lambda why=why: f"{path}:{why}" in self.cluster.logs(), lambda: self.cluster.logs())
                done = subprocess.run([program("musterd"), "--state", os.path.join(self.cluster.root, "other"),
                                       "--config", path], capture_output=True, text=True, timeout=60)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(why, done.stderr)
                self.assert_one_line(done.stderr)


if __name__ == "__main__":
    unittest.main()
