"""Elastic jobs on real agents: nodes are lost, fall silent and come, and the job goes on from its checkpoint."""

import json
import os
import signal
import sys
import unittest

from cluster import BIN, Cluster, ClusterTest, read_file, wait_until, with_checkpoints
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
                (("--progress-file", "x"), "--progress-file: has no effect without --progress-timeout")):
            ran = self.cluster.muster("submit", *options, script)
            self.assertNotEqual(ran.returncode, 0, options)
            self.assertIn(text, ran.stderr)
            self.assertEqual(ran.stderr.count("\n"), 1, ran.stderr)


INTERVAL = 1  # seconds of work between checkpoints
# Counts steps from where its newest checkpoint says, and notes each step and each checkpoint with its time.
WORKER = """
import os, signal, sys, time
sys.path.insert(0, {module!r})
import muster_checkpoint

signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it goes by the notice
step = bytearray(8)
epoch = os.environ["MUSTER_ELASTIC_EPOCH"]
with open("at", "a") as at:
    print(os.environ["MUSTER_NODE_NAME"], file=at)
with open("log", "a", buffering=1) as log, muster_checkpoint.open() as checkpoint:
    checkpoint.protect("step", step)
    checkpoint.restore_latest()
    while not os.path.exists("done"):
        why = checkpoint.should()
        if why:
            begun = time.time()
            checkpoint.save()
            log.write(f"{{epoch}} saved {{int.from_bytes(step, 'big')}} {{begun}} {{why}}\\n")
        time.sleep(0.01)
        step[:] = (int.from_bytes(step, "big") + 1).to_bytes(8, "big")
        log.write(f"{{epoch}} step {{int.from_bytes(step, 'big')}} {{time.time()}} 0\\n")
"""


class ElasticWorkTest(ClusterTest):
    """What a change of size costs a job that makes checkpoints, on three nodes of one core."""

    own = True

    @classmethod
    def make(cls):
        cluster = Cluster(nodes=3, topology="pack:1 core:1 pu:1")
        cluster.configure('[elastic]\nrestart_cost = "1s"\nlast_call = "2s"\npause_costs = 1\n')
        return cluster.start()

    def log(self):
        """[(epoch, what, step, time, why)], as written."""
        rows = [line.split() for line in self.read("log").splitlines()]
        return [(int(epoch), what, int(step), float(time), int(why)) for epoch, what, step, time, why in rows]

    def await_epoch(self, epoch):
        wait_until(lambda: any(row[0] == epoch and row[1] == "saved" and row[4] == 1 for row in self.log()),
                   lambda: f"no checkpoint of attempt {epoch}: {self.log()[-3:]} {self.cluster.logs()}", 90)

    def submit(self):
        module = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "checkpoint", "python"))
        with open(os.path.join(self.cluster.work, "worker.py"), "w", encoding="utf-8") as file:
            file.write(WORKER.format(module=module))
        return self.cluster.submit(
            "--elastic", "-N", "1-3", f"--checkpoint-interval={INTERVAL}s", "--wrap",
            f"trap '' TERM; {with_checkpoints()} exec {sys.executable} -B worker.py")

    # E7
    def test_no_change_costs_more_work_than_is_done_between_two_checkpoints(self):
        self.cluster.agents[2].stop()
        job = self.submit()
        self.await_epoch(1)
        self.cluster.agents[2].start()
        self.await_epoch(2)  # it has grown to three nodes
        other = self.cluster.submit("-N", 1, "--time", "60", "--wrap",
                                    "echo $MUSTER_NODE_NAME >>at; while [ ! -e go ]; do sleep 0.1; done")
        self.await_epoch(3)  # it has left one to the other job
        self.cluster.wait_state(other, "RUNNING")
        wait_until(lambda: len(self.read("at").split()) == 4, "the other job has not begun")
        (spare,) = {"node1", "node2", "node3"} - set(self.read("at").split()[2:])
        self.cluster.lose_node(int(spare[-1]) - 1)
        self.await_epoch(4)  # it goes on with the one that is left
        for name in ("done", "go"):
            with open(os.path.join(self.cluster.work, name), "w", encoding="utf-8"):
                pass
        rows = self.cluster.wait_ended(job, other)
        self.assertEqual({row["state"] for row in rows}, {"COMPLETED"}, self.cluster.logs())
        self.check_losses()

    def check_losses(self):
        log = self.log()
        for epoch in (1, 2, 3):
            mine = [row for row in log if row[0] == epoch]
            again = [row for row in log if row[0] == epoch + 1]
            saved = [row for row in mine if row[1] == "saved"][-1]
            self.assertEqual(again[0][2], saved[2] + 1, "it goes on from the newest checkpoint")
            gap = max(after[3] - before[3] for before, after in zip(mine, mine[1:]))
            lost = mine[-1][3] - saved[3]
            self.assertLessEqual(lost, INTERVAL + 2 * gap, f"attempt {epoch} lost {lost} s: {mine[-3:]}")
        notices = [(row[0], row[4]) for row in log if row[1] == "saved" and row[4] == 4]
        self.assertEqual(notices, [(1, 4), (2, 4)], "asked for a checkpoint before it grew, and before it shrank")


if __name__ == "__main__":
    unittest.main()
