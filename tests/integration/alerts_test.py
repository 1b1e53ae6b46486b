"""Alerts: what begins and ends is an event, once, also through a controller's death."""

import json
import os
import unittest

from cluster import Cluster, ClusterTest, wait_until, with_checkpoints
from secured import KeyedCluster

FAILS = """
import os, resource, sys, time
sys.path.insert(0, {module!r})
import muster_checkpoint

with muster_checkpoint.open() as checkpoint:
    checkpoint.protect("field", bytearray(1 << 16))
    most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, most[1]))
    try:
        checkpoint.save()
        sys.exit(3)
    except muster_checkpoint.CheckpointError as error:
        print(error, file=sys.stderr)
    while not os.path.exists({mend!r}):
        time.sleep(0.05)
    resource.setrlimit(resource.RLIMIT_FSIZE, most)
    checkpoint.save()
    while True:
        time.sleep(1)
"""


class AlertsTest(ClusterTest):
    @classmethod
    def make(cls):
        made = Cluster()
        made.configure("[alert.NodeSilent]\nfor = \"0s\"\n[alert.NodeDrained]\nseverity = \"page\"\nfor = \"0s\"\n"
                       "[alert.CheckpointOverdue]\nfor = \"0s\"\n")
        return made.start()

    def alerts(self):
        alerts = json.loads(self.cluster.must("alerts", "--json"))["alerts"]
        return {(alert["rule"], alert["subject"]): alert for alert in alerts}

    def told(self, rule):
        """The types of the events of the rule's alerts, in order."""
        lines = self.cluster.must("events", "--json").splitlines()
        events = [json.loads(line) for line in lines]
        return [event["type"] for event in events if event["data"].get("rule") == rule]

    def test_an_alert_begins_once_and_ends_once_through_the_controllers_death(self):
        name = ("NodeDrained", "node1")
        self.assertIn("nothing needs attention", self.cluster.must("alerts"))
        self.cluster.must("drain", "node1", "--reason", "fans")
        wait_until(lambda: name in self.alerts(), self.alerts)
        alert = self.alerts()[name]
        self.assertEqual((alert["severity"], alert["node"]), ("page", "node1"))
        self.assertIn("fans", alert["text"])
        self.assertIn("fans", self.cluster.must("alerts"))
        self.cluster.controller.kill()
        self.cluster.controller.start()
        self.assertEqual(self.alerts()[name]["since"], alert["since"])
        self.cluster.must("resume", "node1")
        wait_until(lambda: name not in self.alerts(), self.alerts)
        self.assertEqual(self.told("NodeDrained"), ["muster.alert.began", "muster.alert.ended"])

    def test_a_node_that_falls_silent_is_an_alert_until_it_is_back(self):
        name = ("NodeSilent", "node1")
        self.cluster.agents[0].kill()
        wait_until(lambda: name in self.alerts(), self.alerts)
        self.cluster.agents[0].start()
        wait_until(lambda: name not in self.alerts(), self.alerts)
        self.assertEqual(self.told("NodeSilent")[-2:], ["muster.alert.began", "muster.alert.ended"])

    def test_a_job_whose_checkpoints_fail_is_an_alert_until_one_is_good(self):
        mend = os.path.join(self.cluster.work, "mend")
        program = os.path.join(self.cluster.work, "fails.py")
        module = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "checkpoint", "python")
        with open(program, "w", encoding="utf-8") as file:
            file.write(FAILS.format(module=module, mend=mend))
        job = self.cluster.submit("--checkpoint-dir", os.path.join(self.cluster.work, "kept"), "--wrap",
                                  f"{with_checkpoints()} python3 {program}")
        name = ("CheckpointFailing", f"job {job}")
        wait_until(lambda: name in self.alerts(), lambda: (self.alerts(), self.cluster.must("show", str(job))))
        self.assertIn("its newest checkpoint on node1 failed, and it has made none before", self.alerts()[name]["text"])
        self.assertEqual(int(self.alerts()[name]["job"]), int(job))
        with open(mend, "w", encoding="utf-8"):
            pass
        wait_until(lambda: name not in self.alerts(), self.alerts)
        self.cluster.must("cancel", str(job))

    def test_a_job_that_asked_for_checkpoints_and_makes_none_is_an_alert(self):
        job = self.cluster.submit("--checkpoint-interval", "1s", "--wrap", "sleep 600")
        quiet = self.cluster.submit("--wrap", "sleep 600")
        name = ("CheckpointOverdue", f"job {job}")
        wait_until(lambda: name in self.alerts(), self.alerts, patience=240)
        self.assertIn("has made none since it began", self.alerts()[name]["text"])
        self.assertNotIn(("CheckpointOverdue", f"job {quiet}"), self.alerts())
        self.cluster.must("cancel", job, quiet)
        wait_until(lambda: name not in self.alerts(), self.alerts)

    def test_bad_words_are_refused_in_one_line(self):
        for words, code, reason in ((["alerts", "list"], 2, "use test"),
                                    (["alerts", "--config", "x"], 2, "only muster alerts test"),
                                    (["alerts", "test", "--config", "/there/is/none"], 1, "/there/is/none")):
            refused = self.cluster.muster(*words)
            self.assertEqual(refused.returncode, code, refused.stdout)
            self.assert_one_line(refused.stderr)
            self.assertIn(reason, refused.stderr)


class CertificatesTest(ClusterTest):
    @classmethod
    def make(cls):
        made = KeyedCluster()
        made.make_keys("agent", "node1", "--renew", "--days", "5")
        return made.start()

    def subjects(self):
        alerts = json.loads(self.cluster.must("alerts", "--json"))["alerts"]
        return {alert["subject"]: alert for alert in alerts if alert["rule"] == "CertificateEnding"}

    def test_an_agents_certificate_that_ends_soon_is_an_alert_until_it_shows_another(self):
        name = "certificate of agent node1"
        wait_until(lambda: name in self.subjects(), self.subjects)
        self.assertEqual(set(self.subjects()), {name})
        alert = self.subjects()[name]
        self.assertEqual(alert["node"], "node1")
        self.assertIn("muster keys agent node1 --renew", alert["text"])
        self.cluster.agents[0].kill()
        self.cluster.make_keys("agent", "node1", "--renew")
        self.cluster.agents[0].start()
        wait_until(lambda: not self.subjects(), self.subjects)


if __name__ == "__main__":
    unittest.main()
