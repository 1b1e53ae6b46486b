"""What a user may keep of checkpoints: room is made, what a restart needs stays, and what is refused is said."""

import json
import os
import re
import sys

from cluster import ClusterTest, Cluster, wait_until, with_checkpoints

SIZE = 1 << 20
PROGRAM = """
import os, sys, time
sys.path.insert(0, {module!r})
import muster_checkpoint

state = bytearray({size})
with muster_checkpoint.open() as checkpoint:
    checkpoint.protect("state", state)
    for _ in range(int(sys.argv[1])):
        try:
            checkpoint.save()
            print("saved", flush=True)
        except muster_checkpoint.CheckpointError as error:
            print(error, flush=True)
    while len(sys.argv) > 2 and not os.path.exists(sys.argv[2]):
        time.sleep(0.05)
"""


class QuotaTest(ClusterTest):
    """One node, and a quota of four checkpoints and a little."""

    own = True

    @classmethod
    def make(cls):
        cluster = Cluster(topology="pack:1 core:4 pu:1")
        cluster.configure('[checkpoint]\nquota = "4500K"\n')
        return cluster.start()

    def setUp(self):
        super().setUp()
        self.ledger = os.path.join(self.cluster.work, "ledger")
        self.program = os.path.join(self.cluster.work, "program.py")
        module = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "checkpoint", "python"))
        with open(self.program, "w", encoding="utf-8") as file:
            file.write(PROGRAM.format(module=module, size=SIZE))

    def begin(self, saves, wait=True, options=(), more=""):
        script = self.cluster.script(
            f"export {with_checkpoints()}\n{more}"
            f"exec {sys.executable} -B {self.program} {saves} {os.path.join(self.cluster.work, 'enough') if wait else ''}")
        return self.cluster.submit("-n", 1, *options, script,
                                   environment={"MUSTER_CHECKPOINT_LEDGER": self.ledger})

    def said(self, job):
        return self.read(f"muster-{job}.out")

    def await_words(self, job, count):
        wait_until(lambda: len(self.said(job).splitlines()) >= count, lambda: self.said(job) + self.cluster.logs())
        return self.said(job).splitlines()

    def kept(self, job):
        return [name for name in os.listdir(os.path.join(self.cluster.work, f"muster-{job}.checkpoint"))
                if re.fullmatch(r"gen-\d{10}", name)]

    def usage(self):
        return json.loads(self.cluster.must("checkpoint", "usage", "--json",
                                            environment={"MUSTER_CHECKPOINT_LEDGER": self.ledger}))

    def test_room_is_made_of_what_no_restart_needs_and_the_rest_is_refused_in_a_line(self):
        done = self.begin(3, wait=False)
        (row,) = self.cluster.wait_ended(done)
        self.assertEqual(row["state"], "COMPLETED", self.said(done))
        self.assertEqual(len(self.kept(done)), 2)
        usage = self.usage()
        self.assertEqual(usage["count"], 2)
        self.assertEqual(usage["quota"], {"bytes": 4500 << 10, "count": None})
        self.assertEqual([entry["job"] for entry in usage["directories"]], [int(done)])

        first = self.begin(2)
        self.assertEqual(self.await_words(first, 2), ["saved"] * 2)
        self.assertEqual(len(self.kept(done)), 2, "there was room")
        second = self.begin(2)
        self.assertEqual(self.await_words(second, 2), ["saved"] * 2, self.usage())
        self.assertEqual((len(self.kept(done)), len(self.kept(first)), len(self.kept(second))), (0, 2, 2))

        third = self.begin(1, options=("--requeue",))
        (line,) = self.await_words(third, 1)
        self.assertIn("over quota: 1 MiB more, 4 MiB kept, 4.4 MiB allowed", line)
        self.assertEqual((len(self.kept(first)), len(self.kept(second)), len(self.kept(third))), (2, 2, 0))
        wait_until(lambda: "over quota" in self.cluster.must("show", third), lambda: self.cluster.must("show", third))
        shown = self.cluster.must("show", third)
        self.assertIn("a checkpoint of it was refused: gen-0000000001: over quota", shown)
        directory = os.path.join(self.cluster.work, f"muster-{third}.checkpoint")
        listed = self.cluster.must("checkpoint", "list", directory, environment={"MUSTER_CHECKPOINT_LEDGER": self.ledger})
        self.assertIn("The newest was refused: over quota", listed)
        page = self.cluster.must("checkpoint", "usage", environment={"MUSTER_CHECKPOINT_LEDGER": self.ledger})
        self.assertIn("4 MiB of 4.4 MiB, 4 checkpoints", page)
        for job in (first, second, third):
            self.cluster.must("cancel", job)
            self.cluster.wait_ended(job)

        # Cancelled jobs may be submitted again: their newest stays, and is enough of room for one of two.
        fourth = self.begin(2, wait=False)
        self.cluster.wait_ended(fourth)
        self.assertEqual(self.said(fourth).splitlines(), ["saved"] * 2, self.usage())
        self.assertEqual((len(self.kept(first)), len(self.kept(second)), len(self.kept(fourth))), (1, 1, 2))

    def test_what_is_copied_from_a_node_is_refused_there_and_stays_on_the_node(self):
        local = os.path.join(self.cluster.work, "local")
        os.mkdir(local)
        self.cluster.wait_ended(self.begin(2, wait=False, options=("--checkpoint-dir", "kept")))
        first = self.begin(2)
        self.await_words(first, 2)
        job = self.begin(1, more=f"export MUSTER_CHECKPOINT_LOCAL_DIR={local}\n")
        self.assertEqual(self.await_words(job, 1), ["saved"])
        # It has the room of the other's older one, and no more.
        wait_until(lambda: self.kept(job), lambda: self.usage())
        other = self.begin(1, more=f"export MUSTER_CHECKPOINT_LOCAL_DIR={local}\n")
        wait_until(lambda: "over quota" in self.cluster.must("show", other), lambda: self.cluster.must("show", other))
        self.assertEqual(self.kept(other), [])
        for name in os.listdir(local):
            self.assertTrue(any(re.fullmatch(r"gen-\d{10}", each) for each in os.listdir(os.path.join(local, name))))
