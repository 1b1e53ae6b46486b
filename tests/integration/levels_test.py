"""A job whose checkpoints are done on its node, and some of them copied: what it comes back from."""

import json
import os
import re
import shutil
import signal
import sys
import unittest

from cluster import ClusterTest, wait_until, with_checkpoints

NODES = ["node1", "node2"]
SIZE = 8  # of the step that it keeps, in bytes: the end of its shard
PROGRAM = """
import os, sys, time
sys.path.insert(0, {module!r})
import muster_checkpoint

step = bytearray({size})
with muster_checkpoint.open() as checkpoint:
    checkpoint.protect("step", step)
    checkpoint.restore_latest()
    with open({log!r}, "a") as log:
        log.write(f"{{int.from_bytes(step, 'little')}}\\n")
    while not os.path.exists({enough!r}):
        step[:] = (int.from_bytes(step, "little") + 1).to_bytes({size}, "little")
        checkpoint.save()
        checkpoint.should()
        time.sleep(0.1)
"""


class LevelsTest(ClusterTest):
    """Two nodes that this machine plays, each with a directory of its own."""

    own = True
    nodes = len(NODES)
    topology = "pack:1 core:4 pu:1"

    def path(self, *names):
        return os.path.join(self.cluster.work, *names)

    def local(self, node):
        """The directory of the job's rank on the node's disk."""
        (name,) = os.listdir(self.path("local", node))
        return self.path("local", node, name)

    @staticmethod
    def generations(directory):
        return sorted(name for name in os.listdir(directory) if re.fullmatch(r"gen-\d{10}", name))

    def newest_step(self, directory):
        with open(os.path.join(directory, self.generations(directory)[-1], "shard-000000"), "rb") as file:
            return int.from_bytes(file.read()[-SIZE:], "little")

    def begin(self):
        for node in NODES:
            os.makedirs(self.path("local", node))
        module = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "checkpoint", "python"))
        with open(self.path("program.py"), "w", encoding="utf-8") as file:
            file.write(PROGRAM.format(module=module, size=SIZE, log=self.path("log"),
                                      enough=self.path("enough")))
        script = self.cluster.script(
            f"export {with_checkpoints()}\n"
            f"export MUSTER_CHECKPOINT_LOCAL_DIR={self.path('local')}/$MUSTER_NODE_NAME\n"
            f"exec {sys.executable} -B {self.path('program.py')}")
        return self.cluster.submit("--requeue", "-n", 1, "--checkpoint-interval=auto",
                                   f"--checkpoint-dir={self.path('shared')}", script)

    def attempt(self, job):
        attempts = json.loads(self.cluster.must("show", "--json", job))["jobs"][0]["attempts"]
        return attempts[-1] if attempts else None

    def await_attempt(self, job, number):
        """The running attempt once it made checkpoints and told of both levels."""
        def made():
            attempt = self.attempt(job)
            return (attempt is not None and attempt["number"] == number
                    and attempt["checkpoints"]["count"] > 0 and attempt["checkpoints"]["copy_every"] > 0
                    and len(self.read("log").splitlines()) == number)
        wait_until(made, lambda: f"attempt {number} told of no copy: {self.attempt(job)} {self.cluster.logs()}")
        return self.attempt(job)

    def began_from(self, number):
        """The step from which the attempt went on."""
        wait_until(lambda: len(self.read("log").splitlines()) >= number, self.cluster.logs)
        return int(self.read("log").splitlines()[number - 1])

    def where(self, attempt):
        (allocated,) = attempt["nodes"]
        return allocated["name"] if isinstance(allocated, dict) else allocated

    def test_it_comes_back_from_its_node_and_after_that_is_lost_from_the_copy(self):
        job = self.begin()
        first = self.await_attempt(job, 1)
        self.assertGreater(first["checkpoints"]["flush"], 0)
        text = self.cluster.must("show", job)
        self.assertRegex(text, r"every .* on the node \(Daly: cost .* measured, one failure in .* on 1 node\), "
                               r"(each|every \d+(st|nd|rd|th)) to the shared directory \(copied in .*, one loss "
                               r"of a node in .*\)")

        home = self.where(first)
        (other,) = set(NODES) - {home}
        self.cluster.must("drain", other, "--reason", "kept free")
        (supervisor,) = self.cluster.supervisors()
        os.kill(supervisor, signal.SIGKILL)
        came_back = self.began_from(2)
        self.assertGreater(came_back, 0)
        second = self.await_attempt(job, 2)
        self.assertEqual(self.where(second), home)
        # All that was committed on the node was there.
        self.assertGreaterEqual(came_back, first["checkpoints"]["count"])

        self.cluster.must("resume", other)
        self.cluster.lose_node(NODES.index(home))
        copied = self.newest_step(self.path("shared"))
        self.assertLessEqual(copied, self.newest_step(self.local(home)))
        agent = self.cluster.agents[NODES.index(home)]
        state = agent.arguments[1]
        for directory in (self.path("local", home), state):
            shutil.rmtree(directory)
            os.mkdir(directory, mode=0o700)
        agent.start()
        self.assertEqual(self.began_from(3), copied)
        with open(self.path("enough"), "w", encoding="utf-8"):
            pass
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "COMPLETED")
        # It closed, and then the last one was copied, too.
        last = json.loads(self.cluster.must("show", "--json", job))["jobs"][0]
        self.assertEqual(len(last["attempts"]), 3)
        found = {self.newest_step(self.local(node)) for node in NODES if os.listdir(self.path("local", node))}
        self.assertEqual(self.newest_step(self.path("shared")), max(found))


if __name__ == "__main__":
    unittest.main()
