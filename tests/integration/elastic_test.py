"""Elastic jobs on real agents: nodes are lost, fall silent and come, and the job goes on from its checkpoint."""

import json
import os
import signal
import unittest

from cluster import BIN, ClusterTest, read_file, wait_until
# Counts in steps, on each node by a worker of its own, from where its file says; checkpoints when told to end.
SCRIPT = f"""echo "$MUSTER_RESTART_COUNT $MUSTER_JOB_NUM_NODES $MUSTER_ELASTIC_EPOCH" >>sizes
echo "${{PET_NNODES:-}} ${{PET_RDZV_ID:-}} ${{RANK:-none}}" >>meeting
{BIN}/muster run sh -c 'while [ ! -e done ]; do echo "$MUSTER_ELASTIC_EPOCH $MUSTER_NODE_NAME" >>work; sleep 0.2; done'
code=$?
[ -e done ] && finish 0
finish $code
"""


class ElasticTest(ClusterTest):
    """Three nodes of one core that this machine plays."""

    nodes = 3
    topology = "pack:1 core:1 pu:1"
    own = True

    def lines(self, name):
        return read_file(os.path.join(self.cluster.work, name)).decode().split("\n")[:-1]

    def sizes(self):
        """[(restart, nodes, epoch)] of the job's attempts so far."""
        return [tuple(int(word) for word in line.split()) for line in self.lines("sizes")]

    def submit(self, *options):
        job = self.cluster.submit("--elastic", "-N", "1-3", *options, self.cluster.script(SCRIPT))
        wait_until(lambda: self.sizes() and self.lines("work"), lambda: self.cluster.logs())
        return job

    def finish(self, job):
        with open(os.path.join(self.cluster.work, "done"), "w", encoding="utf-8"):
            pass
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual((row["state"], row["exit_code"]), ("COMPLETED", 0),
                         self.read(f"muster-{job}.out") + self.cluster.logs())

    def test_a_job_goes_on_with_the_nodes_that_are_left(self):
        job = self.submit()
        self.assertEqual(self.sizes(), [(0, 3, 1)])
        for lost, left in ((2, 2), (0, 1)):  # the second has the script, and the store of a rendezvous
            self.cluster.lose_node(lost)
            wait_until(lambda: len(self.sizes()) == 4 - left,
                       lambda: f"{self.sizes()} {self.cluster.logs()}")
            self.assertEqual(self.sizes()[-1][1], left)
        self.finish(job)
        self.assertEqual(len(self.cluster.attempts(job)), 3)

    def test_a_job_grows_once_onto_nodes_that_come(self):
        for index in (1, 2):
            self.cluster.agents[index].stop()
        job = self.submit()
        self.assertEqual(self.sizes(), [(0, 1, 1)])
        for index in (1, 2):
            self.cluster.agents[index].start()
        wait_until(lambda: json.loads(self.cluster.must("show", "--json", job))["jobs"][0]["elastic"].startswith(
            "1-3 nodes; grows to "), "show does not say that it grows")
        wait_until(lambda: len(self.sizes()) == 2, lambda: f"{self.sizes()} {self.cluster.logs()}", 90)
        self.assertEqual(self.sizes()[-1], (1, 3, 2))
        self.finish(job)
        self.assertEqual(len(self.cluster.attempts(job)), 2)

    def test_a_node_that_stops_and_comes_back_does_no_work_of_an_old_attempt(self):
        job = self.submit()
        stopped = self.cluster.agents[2].process.pid
        os.kill(stopped, signal.SIGSTOP)  # the agent alone; supervisor and worker run on
        try:
            wait_until(lambda: len(self.sizes()) == 2, lambda: f"{self.sizes()} {self.cluster.logs()}", 90)
            self.assertEqual(self.sizes()[-1], (1, 2, 2))
            self.assertEqual(self.cluster.processes_of(2), set(), "its supervisor has ended by itself")
        finally:
            os.kill(stopped, signal.SIGCONT)
        wait_until(lambda: all(node["state"] not in ("DOWN", "down") for node in
                               json.loads(self.cluster.must("nodes", "--json"))["nodes"]), "the node is back")
        mark = len(self.lines("work"))
        wait_until(lambda: len(self.lines("work")) > mark + 10, "the job goes on")
        epochs = {line.split()[0] for line in self.lines("work")[mark:]}
        self.assertEqual(epochs, {"2"})
        self.finish(job)

    def test_what_another_launcher_left_in_the_environment_has_no_effect(self):
        for name, value in (("PET_NNODES", "99"), ("RANK", "7"), ("PET_RDZV_ID", "old")):
            self.cluster.environment[name] = value
        job = self.submit()
        nodes, meeting, rank = self.lines("meeting")[0].split()
        self.assertEqual((nodes, rank), ("3", "none"))
        self.assertTrue(meeting.startswith(f"{job}.1."), meeting)
        self.finish(job)

    def test_a_job_that_hangs_is_ended_and_runs_again(self):
        script = self.cluster.script(
            'if [ "$MUSTER_RESTART_COUNT" = 0 ]; then while :; do sleep 1; done; fi\nfinish 0')
        job = self.cluster.submit("--requeue", "--progress-timeout", "1s", script)
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "COMPLETED", self.cluster.logs())
        self.assertEqual(len(self.cluster.attempts(job)), 2)

    def test_what_cannot_be_elastic_is_refused_in_one_line(self):
        script = self.cluster.script("finish 0")
        for options, text in (
                (("--elastic", "-N", "1-3", "-n", "3"), "--elastic: --ntasks or --gpus: says one size"),
                (("--elastic", "-N", "1-3", "--no-requeue"), "--elastic: --no-requeue:"),
                (("--replace-wait", "5m"), "--replace-wait: only for --elastic jobs"),
                (("--progress-file", "x"), "--progress-file: nobody looks at it without --progress-timeout")):
            ran = self.cluster.muster("submit", *options, script)
            self.assertNotEqual(ran.returncode, 0, options)
            self.assertIn(text, ran.stderr)
            self.assertEqual(ran.stderr.count("\n"), 1, ran.stderr)


if __name__ == "__main__":
    unittest.main()
