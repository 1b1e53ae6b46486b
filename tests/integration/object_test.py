"""Checkpoints on an object store: copied beside the script, and fetched where a restart finds none."""

import json
import os
import re
import shutil
import sys
import unittest

from cluster import ClusterTest, wait_until, with_checkpoints

PROGRAM = """
import os, sys, time
sys.path.insert(0, {module!r})
import muster_checkpoint

step = bytearray(8)
with muster_checkpoint.open() as checkpoint:
    checkpoint.protect("step", step)
    try:
        checkpoint.restore_latest()
    except muster_checkpoint.CheckpointError:
        pass
    with open({log!r}, "a") as log:
        log.write(f"{{int.from_bytes(step, 'little')}}\\n")
    while not os.path.exists({enough!r}):
        step[:] = (int.from_bytes(step, "little") + 1).to_bytes(8, "little")
        checkpoint.save()
        time.sleep(0.2)
"""


@unittest.skipUnless(shutil.which("rclone"), "SKIPPED: rclone is not installed: object stores are not tested")
class ObjectTest(ClusterTest):
    """One node is enough."""

    own = True

    def path(self, *names):
        return os.path.join(self.cluster.work, *names)

    def begin(self, *options, place=None):
        module = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "checkpoint", "python"))
        with open(self.path("program.py"), "w", encoding="utf-8") as file:
            file.write(PROGRAM.format(module=module, log=self.path("log"), enough=self.path("enough")))
        script = self.cluster.script(f"export {with_checkpoints()}\n"
                                     f"{sys.executable} -B {self.path('program.py')}; finish $?")
        return self.cluster.submit("--requeue", "-n", 1, f"--checkpoint-object={place or self.remote()},every=1s",
                                   *options, script)

    def remote(self):
        return f":local:{self.path('store')}"

    def whole(self, name):
        """Numbers of the generations that are whole on the store, the newest last."""
        place = self.path("store", name)
        return sorted(int(found[4:14]) for found in (os.listdir(place) if os.path.isdir(place) else [])
                      if re.fullmatch(r"gen-\d{10}\.whole", found))

    def logged(self):
        try:
            with open(self.path("log"), encoding="utf-8") as file:
                return [int(line) for line in file.read().split()]
        except FileNotFoundError:
            return []

    def test_a_restart_that_finds_nothing_fetches_the_newest_whole_one_and_the_last_is_copied_at_the_end(self):
        job = self.begin()
        name = f"muster-{job}.checkpoint"
        wait_until(lambda: self.whole(name) and self.whole(name)[-1] >= 4,
                   lambda: f"nothing is copied: {self.read(f'muster-{job}.out')}{self.cluster.logs()}")
        says = f"At {self.remote()}/{name}: generation "
        wait_until(lambda: says in self.cluster.must("checkpoint", "list", self.path(name)), "the list does not say it")
        self.cluster.must("drain", "node1", "--reason", "its disk")
        self.cluster.must("requeue", job)
        self.cluster.wait_state(job, "PENDING")
        # One that was cut off half way, newer than any; and the shared directory is lost.
        newest = self.whole(name)[-1]
        cut = self.path("store", name, f"gen-{newest + 50:010}")
        os.mkdir(cut)
        shutil.copy(self.path("store", name, f"gen-{newest:010}", "shard-000000"), cut)
        shutil.rmtree(self.path(name))
        self.cluster.must("resume", "node1")
        wait_until(lambda: len(self.logged()) == 2, lambda: self.read(f"muster-{job}.out") + self.cluster.logs())
        self.assertEqual(self.logged(), [0, newest])
        self.assertIn(f"fetched checkpoint {newest} from ", self.read(f"muster-{job}.out"))
        with open(self.path("enough"), "w", encoding="utf-8"):
            pass
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "COMPLETED", self.read(f"muster-{job}.out"))
        kept = sorted(int(found[4:]) for found in os.listdir(self.path(name)) if re.fullmatch(r"gen-\d{10}", found))
        self.assertEqual(self.whole(name)[-1], kept[-1], "the newest at the end of the job")
        self.assertEqual(len(self.whole(name)), 2)

    def test_a_store_that_does_not_answer_costs_no_job_that_needs_nothing_of_it(self):
        with open(self.path("enough"), "w", encoding="utf-8"):
            pass
        job = self.begin("--checkpoint-dir", "first", place="nowhere:bucket")
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "FAILED")
        self.assertIn("its checkpoint cannot be fetched, so that its script was not started", self.read(f"muster-{job}.out"))
        job = self.begin(place="nowhere:bucket")
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "COMPLETED", self.read(f"muster-{job}.out"))

    def test_what_cannot_work_is_refused_in_a_line(self):
        for words, says in ((("--checkpoint-object=/scratch",), "is no remote of rclone"),
                            (("--checkpoint-object=s3:b", "--checkpoint-with=criu"), "--checkpoint-with=criu")):
            done = self.cluster.muster("submit", *words, "--wrap", "true")
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(says, done.stderr)
            self.assert_one_line(done.stderr)

    def test_push_fetch_and_list_do_it_by_hand(self):
        with open(self.path("enough"), "w", encoding="utf-8"):
            pass
        done = self.cluster.muster("checkpoint", "push", self.cluster.work, "s3")
        self.assertEqual(done.returncode, 2)
        self.assert_one_line(done.stderr)
        os.makedirs(self.path("store", "empty"))
        listed = json.loads(self.cluster.must("checkpoint", "list", "--json", f"{self.remote()}/empty"))
        self.assertEqual(listed["generations"], [])
