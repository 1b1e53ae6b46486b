"""Jobs that write checkpoints in turns: one at a time, each again and again."""

import os
import sys
import unittest

from cluster import WIDE, Cluster, ClusterTest, wait_until, with_checkpoints

INTERVAL = 8  # seconds; a program waits for its turn for as long again
SIZE = 64 << 20
PROGRAM = """
import os, sys, time
sys.path.insert(0, {module!r})
import muster_checkpoint

with muster_checkpoint.open() as checkpoint:
    checkpoint.protect("field", bytearray({size}))
    checkpoint.restore_latest()
    checkpoint.save()  # what it costs is known from now on
    while not os.path.exists({enough!r}):
        if checkpoint.should():
            begin = time.monotonic()
            checkpoint.save()
            with open({log!r}, "a") as log:
                log.write(f"{{os.environ['MUSTER_JOB_ID']}} {{begin}} {{time.monotonic()}}\\n")
        time.sleep(0.02)
"""


class WriteSlotsTest(ClusterTest):
    @classmethod
    def make(cls):
        cluster = Cluster(nodes=1, topology=WIDE)
        cluster.configure("[checkpoint]\nwriters = 1\n")
        return cluster.start()

    def checkpoints(self):
        """[(begin, end, job)] of all that were made for their interval, in order."""
        rows = [line.split() for line in self.read("log").splitlines()]
        return sorted((float(begin), float(end), int(job)) for job, begin, end in rows)

    def test_no_two_write_at_once_and_all_come_again(self):
        work = self.cluster.work
        enough = os.path.join(work, "enough")
        program = os.path.join(work, "program.py")
        module = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "checkpoint", "python"))
        with open(program, "w", encoding="utf-8") as file:
            file.write(PROGRAM.format(module=module, size=SIZE, enough=enough, log=os.path.join(work, "log")))
        jobs = [self.cluster.submit("-n", 1, f"--checkpoint-interval={INTERVAL}s", "--wrap",
                                    f"{with_checkpoints()} exec {sys.executable} -B {program}")
                for _ in range(3)]

        def made():
            return [job for _, _, job in self.checkpoints()]
        wait_until(lambda: all(made().count(job) >= 3 for job in jobs),
                   lambda: f"{self.checkpoints()}; {self.cluster.logs()}", 180)
        with open(enough, "w", encoding="utf-8"):
            pass
        rows = self.cluster.wait_ended(*jobs)
        self.assertEqual({row["state"] for row in rows}, {"COMPLETED"})
        found = self.checkpoints()
        for (_, end, one), (begin, _, other) in zip(found, found[1:]):
            self.assertLess(end, begin, f"jobs {one} and {other} wrote at once: {found}")
        told = self.cluster._rows("SELECT count(*) AS told FROM journal WHERE kind = 'attempt_advised'")
        self.assertGreater(told[0]["told"], len(jobs))


if __name__ == "__main__":
    unittest.main()
