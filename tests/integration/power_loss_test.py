"""Machines whose power is cut: their disks forget what was not synced. `bench/power_cuts` does the same a thousand times."""

import unittest

from power_cuts import Campaign, PowerCluster, why_not
from cluster import wait_until

CUTS = 30


@unittest.skipIf(why_not(), why_not())
class PowerLossTest(unittest.TestCase):
    def test_cuts_of_the_power_lose_nothing_that_was_acknowledged_and_run_nothing_twice(self):
        campaign = Campaign(seed=1, pause=0.3)
        try:
            campaign.run(CUTS)
            verdict = campaign.judge()
        except BaseException:
            campaign.clients.ended = True
            campaign.cluster.close(check=False)
            raise
        campaign.cluster.close()
        self.assertEqual([(promise, broken[:5]) for promise, broken in verdict if broken], [])
        self.assertGreater(len(campaign.clients.acknowledged), CUTS)
        self.assertGreater(min(campaign.lost), 0, "the cuts took nothing")


@unittest.skipIf(why_not(), why_not())
class FirstCutTest(unittest.TestCase):
    """The power fails soon after a state directory was made."""

    def test_a_new_state_directory_keeps_what_was_acknowledged(self):
        for seed in range(1, 9):
            with self.subTest(seed=seed):
                cluster = PowerCluster()
                try:
                    cluster.controller.start()
                    job = cluster.submit("--hold", "--wrap", "true")
                    cluster.cut_controller(seed)
                    cluster.controller.start()
                    self.assertIn(job, cluster.queue())
                finally:
                    cluster.close(check=False)


if __name__ == "__main__":
    unittest.main()
