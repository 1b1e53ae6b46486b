"""Several controllers on one database: what jobs, clients and agents notice when the one that leads is lost."""

import json
import unittest

from cluster import PATIENCE, wait_until
from several import Campaign, Several


class StandbyTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Several(controllers=2).start()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.close()

    def standby(self):
        leader = wait_until(self.cluster.leader, "nobody leads")
        return f"unix:{self.cluster.state}/c{3 - leader}/socket"

    def at_standby(self, *arguments):
        """Runs a verb that knows the standby alone."""
        everywhere, self.cluster.address = self.cluster.address, self.standby()
        try:
            return self.cluster.muster(*arguments)
        finally:
            self.cluster.address = everywhere

    def test_a_standby_answers_questions_and_says_how_old_its_answer_is(self):
        job = self.cluster.submit("--hold", "--wrap", "true")
        wait_until(lambda: str(job) in self.at_standby("queue").stdout, "the standby does not know the job")
        rows = json.loads(self.at_standby("controller", "status", "--json").stdout)["controllers"]
        self.assertFalse(rows[0]["leads"])
        self.assertLess(rows[0]["age_ms"], PATIENCE * 1000)
        self.cluster.must("cancel", job)

    def test_a_standby_refuses_a_change_in_one_line(self):
        done = self.at_standby("submit", "--wrap", "true")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"^muster submit: this controller is a standby: name all [^\n]*\n$")

    def test_a_handover_names_who_leads_then(self):
        before = wait_until(self.cluster.leader, "nobody leads")
        self.assertEqual(self.cluster.must("controller", "handover", f"c{3 - before}"), f"c{3 - before} leads")
        job = self.cluster.submit("-o", "/dev/null", self.cluster.script("finish 3"))
        self.assertEqual(self.cluster.wait_ended(job)[0]["exit_code"], 3)

    def test_a_handover_to_who_leads_already_is_refused(self):
        leader = wait_until(self.cluster.leader, "nobody leads")
        done = self.cluster.muster("controller", "handover", f"c{leader}")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, rf"^muster controller: c{leader} leads already\n$")


class FailoverTest(unittest.TestCase):
    def test_no_job_is_lost_run_twice_or_ended_whatever_happens_to_the_lead(self):
        campaign = Campaign(seed=25)
        try:
            for fault in ("kill", "stop", "cut", "away", "handover"):
                with self.subTest(fault=fault):
                    campaign.strike(fault)
            for promise, broken in campaign.judge():
                self.assertEqual(broken, [], promise)
        except BaseException:
            campaign.clients.ending = True
            campaign.cluster.close(check=False)
            raise
        campaign.cluster.close()


if __name__ == "__main__":
    unittest.main()
