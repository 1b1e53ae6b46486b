"""Data that nodes have copies of: made once for a user and node, found by the next job, preferred by its placement."""

import json
import os
import shutil
import unittest

from cluster import Cluster, ClusterTest, program, read_file, wait_until
from secured import USERS, SecuredCluster, why_not


class StagingCacheTest(ClusterTest):
    """Two nodes that keep 1 MB of a user's data each."""

    nodes = 2

    @classmethod
    def make(cls):
        cluster = Cluster(nodes=2)
        cluster.configure("[retention]\nkeep_script = true\n")
        path = os.path.join(cluster.root, "agent.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write('[staging]\nsize = "1M"\n')
        for agent in cluster.agents:
            agent.arguments += ["--config", path]
        return cluster.start()

    def setUp(self):
        super().setUp()
        self.place = os.path.join(self.cluster.work, self.id().rsplit(".", 1)[1])
        os.mkdir(self.place)

    def write(self, name, text):
        path = os.path.join(self.place, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def job(self, *options, script='cat $MUSTER_STAGED/*'):
        """The number of such a job that has ended well, and what it printed."""
        job = self.cluster.submit(*options, "--wrap", script, cwd=self.place)
        (row,) = self.cluster.wait_ended(job)
        output = read_file(os.path.join(self.place, f"muster-{job}.out")).decode()
        self.assertEqual(row["state"], "COMPLETED", (output, self.detail(job)))
        return job, output

    def detail(self, job):
        (shown,) = json.loads(self.cluster.must("show", job, "--json"))["jobs"]
        return shown

    def data_of(self, job):
        return self.detail(job)["attempts"][-1]["data"]

    def test_the_second_job_finds_the_data_where_the_first_left_them(self):
        source = self.write("data/deep/a", "hello")
        first, output = self.job("-w", "node2", "--stage-in-node", "data", script="cat $MUSTER_STAGED/data/deep/a")
        self.assertEqual(output, "hello")
        self.assertEqual(self.data_of(first), "copied to node2 (5 B)")
        self.assertEqual(self.detail(first)["node_data"], [os.path.dirname(os.path.dirname(source))])
        second, output = self.job("--stage-in-node", os.path.join(self.place, "data"),
                                  script="cat $MUSTER_STAGED/data/deep/a; sleep 1")
        self.assertEqual(output, "hello")
        self.assertEqual(self.data_of(second), "found on node2")
        self.assertIn("found on node2", self.cluster.must("show", second))
        # What has changed is copied again.
        self.write("data/deep/a", "changed")
        third, output = self.job("--stage-in-node", "data", script="cat $MUSTER_STAGED/data/deep/a")
        self.assertEqual(output, "changed")
        self.assertEqual(self.data_of(third), "copied to node2 (7 B)")
        self.assertEqual(self.data_of(int(self.again(third))), "found on node2")

    def again(self, job):
        job = self.cluster.must("rerun", "--parsable", job, cwd=self.place)
        self.cluster.wait_ended(int(job))
        return job

    def test_explain_says_that_the_node_kept_the_data(self):
        self.write("data", "x")
        self.job("-w", "node2", "--stage-in-node", "data")
        job = self.cluster.submit("--stage-in-node", "data", "--wrap", "sleep 1000", cwd=self.place)
        wait_until(lambda: self.cluster.queue()[job]["state"] == "RUNNING", self.cluster.queue)
        said = self.cluster.must("explain", job)
        self.assertIn("of equal ones those that keep most of its image and data", said)
        self.assertIn("kept its data", said)
        self.cluster.must("cancel", job)
        self.cluster.wait_ended(job)

    def test_all_nodes_of_a_job_have_them_and_its_ranks_know_where(self):
        self.write("data", "x")
        self.write("more", "y")
        job, output = self.job("-N", "2", "--stage-in-node", "data", "--stage-in-node", "more",
                               script=f"{program('muster')} run -N 2 -n 2 sh -c 'cat $MUSTER_STAGED/data $MUSTER_STAGED/more'")
        self.assertEqual(output, "xyxy")
        self.assertIn("copied to node[1-2]", self.data_of(job))

    def test_what_is_not_there_ends_the_job_with_its_reason(self):
        job = self.cluster.submit("--stage-in-node", "none", "--wrap", "touch ran", cwd=self.place)
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "FAILED")
        self.assertIn("--stage-in-node: ", self.cluster.must("show", job))
        self.assertIn("cannot be copied: No such file or directory", self.cluster.must("show", job))
        self.assertFalse(os.path.exists(os.path.join(self.place, "ran")))

    def test_the_least_recently_used_go_and_the_cluster_knows_it(self):
        self.write("a", "a" * 600_000)
        self.write("b", "b" * 600_000)
        self.write("c", "c" * 1_100_000)
        self.job("-w", "node2", "--stage-in-node", "a", script="true")
        self.job("-w", "node2", "--stage-in-node", "b", script="true")
        last, _ = self.job("--stage-in-node", "a", script="true")
        self.assertEqual(self.data_of(last), "copied to node1 (585.9 KiB)")
        job = self.cluster.submit("--stage-in-node", "c", "--wrap", "true", cwd=self.place)
        self.cluster.wait_ended(job)
        self.assertIn("this node keeps 1 MiB of a user's data", self.cluster.must("show", job))

    def test_while_data_are_copied_the_job_says_so(self):
        self.write("bin/rclone", """#!/bin/sh
if [ $1 = lsf ]; then printf '2024\\t3\\ta\\n'; exit; fi
until [ -e go ]; do
  echo '{"stats":{"bytes":1,"totalBytes":3}}' >&2
  sleep 0.2
done
for last; do :; done
printf abc >$last
""".replace("-e go", f"-e {self.place}/go"))
        os.chmod(os.path.join(self.place, "bin/rclone"), 0o755)
        path = {"PATH": os.path.join(self.place, "bin") + ":" + os.environ["PATH"]}
        job = int(self.cluster.must("submit", "--parsable", "--stage-in-node", "s3:bucket/a", "--wrap",
                                    "cat $MUSTER_STAGED/a", cwd=self.place, environment=path))
        wait_until(lambda: self.cluster.queue()[job]["reason"]["text"].startswith("its data are brought to node"),
                   self.cluster.queue)
        self.write("go", "")
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "COMPLETED", self.detail(job))
        self.assertEqual(read_file(os.path.join(self.place, f"muster-{job}.out")), b"abc")

    def copies(self, *options):
        """Source and node of each copy that nodes keep."""
        kept = json.loads(self.cluster.must("stage", "--list", "--json", *options))["copies"]
        return {(copy["source"], copy["node"]) for copy in kept}

    def behind_a_job_that_holds_all(self, *options, script="cat $MUSTER_STAGED/*"):
        """A job that waits, and what has it start."""
        holder = self.cluster.submit("-N", "2", "--exclusive", "-t", "10", "--wrap", "sleep 1000")
        wait_until(lambda: self.cluster.queue()[holder]["state"] == "RUNNING", self.cluster.queue)
        self.addCleanup(self.cluster.muster, "cancel", holder)
        job = self.cluster.submit(*options, "--exclusive", "-t", "5", "--wrap", script, cwd=self.place)
        self.addCleanup(self.cluster.muster, "cancel", job)
        return job, lambda: self.cluster.must("cancel", holder)

    def test_a_job_that_waits_has_its_data_copied_before_it_holds_anything(self):
        source = self.write("ahead/a", "hello")
        job, release = self.behind_a_job_that_holds_all("-w", "node2", "--stage-in-node", "ahead",
                                                        script="cat $MUSTER_STAGED/ahead/a")
        directory = os.path.dirname(source)
        wait_until(lambda: (directory, "node2") in self.copies(), self.copies)
        self.assertEqual(self.cluster.queue()[job]["state"], "PENDING")
        self.assertNotIn((directory, "node1"), self.copies())
        release()
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "COMPLETED", self.detail(job))
        self.assertEqual(self.data_of(job), "found on node2")
        self.assertEqual(read_file(os.path.join(self.place, f"muster-{job}.out")), b"hello")

    def test_what_cannot_be_copied_ahead_is_copied_at_the_start_and_the_job_says_why(self):
        job, release = self.behind_a_job_that_holds_all("-w", "node2", "--stage-in-node", "late")
        failed = os.path.join(self.cluster.state, "agents", "node2", "staged", str(os.geteuid()), "failed")
        wait_until(lambda: os.path.exists(failed), "nobody tried")
        self.write("late", "hello")
        release()
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "COMPLETED", self.detail(job))
        self.assertIn("copied to node2 (5 B); not while it waited: --stage-in-node: ", self.data_of(job))
        self.assertIn("No such file or directory", self.data_of(job))

    def test_copies_are_shown_and_taken_away(self):
        first, second = self.write("one", "1"), self.write("two", "2")
        self.job("-w", "node2", "--stage-in-node", "one", "--stage-in-node", "two", script="true")
        self.assertLessEqual({(first, "node2"), (second, "node2")}, self.copies("-w", "node2"))
        self.assertIn(first, self.cluster.must("stage", "--list"))
        self.assertEqual(self.cluster.must("stage", "--remove", "one", cwd=self.place),
                         f"{first}: removed from node2 (1 B)")
        self.assertNotIn((first, "node2"), self.copies())
        again = self.cluster.muster("stage", "--remove", "one", cwd=self.place)
        self.assertEqual(again.returncode, 1)
        self.assert_one_line(again.stderr)
        self.cluster.must("stage", "--prune", "--older-than", "1h")
        self.assertIn((second, "node2"), self.copies())
        gate = self.cluster.gate()
        job = self.cluster.submit("-w", "node2", "--stage-in-node", "two", "--wrap", gate, cwd=self.place)
        wait_until(lambda: self.cluster.queue()[job]["state"] == "RUNNING", self.cluster.queue)
        self.assertIn(f"{second}: in use on node2, stays", self.cluster.must("stage", "--prune"))
        self.cluster.open_gate()
        self.cluster.wait_ended(job)
        self.cluster.must("stage", "--prune")
        self.assertEqual(self.copies(), set())
        self.assertEqual(self.cluster.muster("stage", "--list", "--prune").returncode, 2)

    def test_who_cancels_a_copy_leaves_none(self):
        self.write("bin/rclone", "#!/bin/sh\nif [ $1 = lsf ]; then printf '2024\\t3\\ta\\n'; exit; fi\nexec sleep 1000\n")
        os.chmod(os.path.join(self.place, "bin/rclone"), 0o755)
        path = {"PATH": os.path.join(self.place, "bin") + ":" + os.environ["PATH"]}
        job = int(self.cluster.must("submit", "--parsable", "--stage-in-node", "s3:bucket/b", "--wrap", "true",
                                    cwd=self.place, environment=path))
        wait_until(lambda: self.cluster.queue()[job]["reason"]["text"] != "", self.cluster.queue)
        self.cluster.must("cancel", job)
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "CANCELLED")

    @unittest.skipUnless(shutil.which("rclone"), "SKIPPED: rclone is not installed: object stores are not tested")
    def test_data_of_a_remote_are_found_again(self):
        self.write("store/data/a", "hello")
        remote = f":local:{self.place}/store/data"
        job, output = self.job("-w", "node2", "--stage-in-node", remote, script="cat $MUSTER_STAGED/data/a")
        self.assertEqual((output, self.data_of(job)), ("hello", "copied to node2 (5 B)"))
        job, output = self.job("--stage-in-node", remote, script="cat $MUSTER_STAGED/data/a")
        self.assertEqual((output, self.data_of(job)), ("hello", "found on node2"))

    def test_commands_take_it_and_steps_do_not(self):
        self.write("data", "x")
        self.assertEqual(self.cluster.must("run", "--stage-in-node", "data", "sh", "-c", "cat $MUSTER_STAGED/data",
                                           cwd=self.place), "x")
        done = self.cluster.muster("submit", "--stage-in-node", "/", "--wrap", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("has no name of its own at its end", done.stderr)
        self.assert_one_line(done.stderr)


class UsersOwnCopies(ClusterTest):
    """An agent of root's, and jobs of ordinary users."""

    @classmethod
    def make(cls):
        reason = why_not()
        if reason:
            raise unittest.SkipTest("SKIPPED: " + reason)
        return SecuredCluster(nodes=1).start()

    def test_what_is_copied_ahead_is_its_users_and_shown_to_no_other(self):
        cluster = self.cluster

        def does(user, *words):
            done = cluster.as_user(user, *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout
        does("alice", "submit", "--exclusive", "-t", "10", "--wrap", "sleep 1000")
        does("alice", "submit", "--exclusive", "-t", "5", "--stage-in-node", "/etc/passwd", "--wrap", "true")
        images = os.path.join(cluster.state, "agents", "node1", "staged", str(USERS["alice"]), "images")

        def kept():
            return [name for name in os.listdir(images) if not name.startswith(".")] if os.path.isdir(images) else []
        wait_until(kept, "the data are not copied")
        self.assertEqual(os.stat(os.path.join(images, kept()[0], "rootfs/passwd")).st_uid, USERS["alice"])
        self.assertIn("/etc/passwd", does("alice", "stage", "--list"))
        self.assertNotIn("/etc/passwd", does("mallory", "stage", "--list"))
        refused = cluster.as_user("mallory", "stage", "--list", "--user", "alice")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("is shown to operators", refused.stderr)
        self.assertIn("/etc/passwd", cluster.must("stage", "--list", "--user", "alice"))
        does("alice", "cancel", "--all")


if __name__ == "__main__":
    unittest.main()
