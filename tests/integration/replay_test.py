"""A live cluster under load, stopped, and all its decisions made again from its own records."""

import json
import sqlite3
import subprocess
import unittest

from cluster import ClusterTest, PATIENCE, WIDE, program


class ReplayTest(ClusterTest):
    """Two nodes of 64 cores; cluster.close() itself replays what each class of tests left."""

    nodes = 2
    topology = WIDE
    own = True

    def load(self):
        """Jobs of many kinds, with holds, cancels, an array, priorities and reservations for the
        blocked; through kill -9 of the controller."""
        cluster = self.cluster
        cluster.must("qos", "add", "high", "Priority=1000")
        ids = []
        for i in range(40):
            ids.append(cluster.submit("-n", 8 + 11 * i % 60, "-t", 1 + i % 3, "--wrap",
                                      f"sleep 0.{i % 4}"))
        held, gone = [cluster.submit("--hold", "--wrap", "true") for _ in range(2)]
        wide = [cluster.submit("-N", 2, "--exclusive", "-t", 5, "--wrap", "sleep 0.2")
                for _ in range(3)]
        array = cluster.submit("-a", "0-19%4", "-q", "high", "--wrap", "true")
        cluster.must("cancel", gone)
        cluster.must("drain", "node2", "--reason", "a look")
        cluster.controller.kill()
        cluster.controller.start()
        late = cluster.submit("--nice", 50, "-d", f"afterok:{ids[0]}", "--wrap", "true")
        cluster.must("resume", "node2")
        cluster.must("release", held)
        cluster.wait_ended(*ids, held, *wide, late, *range(array, array + 20))

    def test_every_decision_under_load_is_made_again_hash_for_hash(self):
        self.load()
        running = self.cluster.replay()  # with the controller at work
        self.assertTrue(running["same"], running)
        self.assertEqual(self.cluster.controller.stop(), 0)
        replay = self.cluster.replay()
        self.assertTrue(replay["same"], replay)
        self.assertEqual(replay["starts_unchecked"], 0)
        self.assertEqual(replay["starts"], 40 + 1 + 3 + 20 + 1)  # all but the one that was cancelled
        self.assertGreaterEqual(replay["cycles"], 10)
        self.simulate()

    def simulate(self):
        """The cluster's own history, as a trace."""
        def say(*arguments):
            done = subprocess.run([program("muster"), *arguments, "--json"], text=True,
                                  capture_output=True, timeout=PATIENCE, check=True)
            return json.loads(done.stdout)
        self.assertEqual(say("trace", "info", self.cluster.state)["jobs"], 40 + 1 + 3 + 20 + 1)
        simulated = say("simulate", "--trace", self.cluster.state, "--nodes", "2",
                        "--cpus-per-node", "64", "--audit")
        self.assertEqual(simulated["ended"], 40 + 1 + 3 + 20 + 1)
        self.assertEqual(simulated["trace"], self.cluster.state)
        self.assertTrue(simulated["audit"]["legal"], simulated["audit"])

    def change(self, sql):
        with sqlite3.connect(self.cluster.state + "/controller/state.db") as database:
            database.execute(sql)
        database.close()

    def test_a_changed_record_is_told(self):
        self.cluster.wait_ended(self.cluster.submit("--wrap", "true"))
        self.assertEqual(self.cluster.controller.stop(), 0)
        self.change("UPDATE passes SET time = time + 86400000, hash = hash + 1")
        done = subprocess.run([program("muster"), "replay", self.cluster.state], text=True,
                              capture_output=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"(?m)^  version \d+, \d+-.*Z: a cycle made plan [0-9a-f]{16}, "
                                      r"made again it is [0-9a-f]{16}$")
        self.change("UPDATE passes SET time = time - 86400000, hash = hash - 1")

    def test_bad_input_is_refused_in_one_line(self):
        done = subprocess.run([program("muster"), "trace", "info", "/etc"], text=True,
                              capture_output=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("/etc: no state.db there; name the state directory", done.stderr)
        self.assert_one_line(done.stderr)
        for arguments, code, words in ((["/nowhere"], 1, "/nowhere: No such file or directory; name"),
                                       (["/etc"], 1, "/etc: no state.db there; name"),
                                       (["/etc/hostname"], 1, "not a replay bundle"),
                                       ([], 2, "muster replay")):
            done = subprocess.run([program("muster"), "replay", *arguments], text=True,
                                  capture_output=True, timeout=PATIENCE, check=False)
            self.assertEqual(done.returncode, code, done)
            self.assertIn(words, done.stderr)
            self.assert_one_line(done.stderr)


if __name__ == "__main__":
    unittest.main()
