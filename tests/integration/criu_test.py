"""Scripts that know nothing of checkpoints, saved and restored by CRIU where one works; refused in words where none does.

What needs a CRIU that works is skipped, with what the agent says of it, where there is none.
"""

import json
import os
import socket
import unittest

from cluster import ClusterTest, read_file, wait_until

# Counts, one line a step, until it is told to stop; its code says that it came to its own end.
COUNT = "i=0\nwhile [ ! -e done ]; do echo $i; i=$((i+1)); sleep 0.1; done\nfinish 7"


class WithoutCriuTest(ClusterTest):
    """A node that plays another machine has no CRIU, whatever is installed."""

    topology = "pack:1 core:4 pu:1"

    def refused(self, *options):
        ran = self.cluster.muster("submit", "--checkpoint-with=criu", *options, self.cluster.script("finish 0"))
        self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
        self.assert_one_line(ran.stderr)
        return ran.stderr

    def test_no_node_has_it_and_the_reason_says_so(self):
        for options, what in (((), "criu"), (("--constraint=big",), "big&criu")):
            job = self.cluster.submit("--checkpoint-with=criu", *options, self.cluster.script("finish 0"))
            self.assertIn("without the features", self.cluster.wait_reason(job, what)["text"])

    def test_what_criu_cannot_save_is_refused_by_its_option(self):
        for options, what in ((("--gpus=1",), "--gpus"), (("--nodes=2",), "--nodes"),
                              (("--elastic", "--nodes=1-3"), "--elastic"),
                              (("--progress-timeout=1m",), "--progress-timeout")):
            self.assertIn(f"--checkpoint-with=criu: {what}: ", self.refused(*options))
        ran = self.cluster.muster("run", "--checkpoint-with=criu", "true")
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn("--checkpoint-with=criu: run: ", ran.stderr)

    def test_a_script_may_ask_for_it_itself(self):
        path = os.path.join(self.cluster.work, "asks.sh")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n#MUSTER --checkpoint-with=criu\nexit 0\n")
        self.cluster.wait_reason(self.cluster.submit(path), "criu")


class CriuTest(ClusterTest):
    """One node, as this machine is."""

    own = True

    def setUp(self):
        super().setUp()
        (node,) = json.loads(self.cluster.must("nodes", "--json"))["nodes"]
        if "criu" not in node["features"]:
            said = [line for line in self.cluster.logs().splitlines() if "--checkpoint-with=criu" in line]
            self.skipTest("SKIPPED: nothing is saved and restored here: "
                          + (said[-1] if said else "CRIU is not installed"))

    def submit(self, *options, body=COUNT):
        job = self.cluster.submit("--checkpoint-with=criu", "--requeue", *options, self.cluster.script(body))
        wait_until(lambda: len(self.numbers(job)) >= 3, lambda: self.cluster.logs())
        return job

    def numbers(self, job):
        """What it counted; a shell whose command was killed with its node says that, too."""
        return [int(line) for line in self.read(f"muster-{job}.out").split("\n")[:-1] if line.isdigit()]

    def images(self, job):
        return os.path.join(self.cluster.work, f"muster-{job}.checkpoint", f"criu-{job}")

    def show(self, job):
        return self.cluster.must("show", job)

    def restarted(self, job):
        """Waits until the job's second attempt was restored, and counts on."""
        wait_until(lambda: " until it was back" in self.show(job), lambda: f"{self.show(job)} {self.cluster.logs()}")
        self.counts_on(job)

    def counts_on(self, job):
        before = len(self.numbers(job))
        wait_until(lambda: len(self.numbers(job)) > before + 3, lambda: f"{self.show(job)} {self.cluster.logs()}")

    def finish(self, job):
        with open(os.path.join(self.cluster.work, "done"), "w", encoding="utf-8"):
            pass
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual((row["state"], row["exit_code"]), ("FAILED", 7), self.cluster.logs())
        self.assertEqual(len(self.cluster.begun()), 1, "the script began once")
        self.assertFalse(os.path.exists(self.images(job)), "nothing is left to restore")
        return self.numbers(job)

    def test_a_script_that_is_requeued_goes_on_without_a_lost_or_repeated_step(self):
        job = self.submit()
        self.cluster.must("requeue", job)
        self.restarted(job)
        self.assertRegex(self.show(job), "restarts +1\n")
        numbers = self.finish(job)
        self.assertEqual(numbers, list(range(len(numbers))))

    def test_a_lost_node_costs_what_came_after_the_last_checkpoint(self):
        job = self.submit("--checkpoint-interval=1s")
        wait_until(lambda: os.path.exists(os.path.join(self.images(job), "2")), lambda: self.cluster.logs())
        self.cluster.lose_node(0)
        self.cluster.agents[0].start()
        self.restarted(job)
        numbers = self.finish(job)
        self.assertEqual(sorted(set(numbers)), list(range(max(numbers) + 1)), "no step is missing")
        self.assertEqual(numbers.count(0), 1, "it did not begin again")

    def test_a_time_limit_is_the_end_of_an_attempt_and_not_of_the_work(self):
        job = self.submit("--time=0:04")
        self.restarted(job)
        numbers = self.finish(job)
        self.assertEqual(numbers, list(range(len(numbers))))

    def test_a_drain_saves_and_ends_nothing(self):
        job = self.submit()
        self.cluster.must("drain", "node1", "--reason", "disk")
        wait_until(lambda: os.path.exists(os.path.join(self.images(job), "1")), lambda: self.cluster.logs())
        self.cluster.must("resume", "node1")
        self.counts_on(job)
        self.assertNotIn("restarts", self.show(job))
        numbers = self.finish(job)
        self.assertEqual(numbers, list(range(len(numbers))))

    def test_one_that_is_suspended_is_saved_all_the_same(self):
        job = self.submit()
        self.cluster.must("suspend", job)
        self.cluster.wait_state(job, "SUSPENDED")
        self.cluster.must("requeue", job)
        self.restarted(job)
        numbers = self.finish(job)
        self.assertEqual(numbers, list(range(len(numbers))))

    def test_what_talks_to_others_runs_on_and_is_told_of(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            body = f"exec bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}; {COUNT.replace('finish', 'exit')}'"
            job = self.submit("--checkpoint-interval=1s", body=body.replace("\n", ";").replace("do;", "do "))
            log = os.path.join(self.images(job), "failed.log")
            wait_until(lambda: os.path.exists(log), lambda: self.cluster.logs())
            self.assertIn(b"Error", read_file(log))
            self.finish(job)


if __name__ == "__main__":
    unittest.main()
