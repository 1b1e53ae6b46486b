"""What is left of a job once it has ended: no environment and no script, unless scripts are kept."""

import json
import os
import sqlite3
import subprocess
import unittest

from cluster import Cluster, ClusterTest, program, wait_until

SECRET = "not-for-ever-3f1c"


def files_with(root, text):
    """The files of the daemons that hold the text. SQLite writes its log over in turn, and truncates it."""
    found = []
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            if not name.endswith(("-wal", "-shm")) and os.path.isfile(path):
                with open(path, "rb") as file:
                    if text.encode() in file.read():
                        found.append(os.path.relpath(path, root))
    return found


class RetentionTest(ClusterTest):
    settings = ""

    @classmethod
    def make(cls):
        cluster = Cluster()
        if cls.settings:
            cluster.configure(cls.settings)
        return cluster.start()

    def end_a_job(self):
        """A script with a secret, whose step has another in its environment."""
        script = self.cluster.script(f"# {SECRET} of the script\n{program('muster')} run -n1 true\n{self.cluster.gate()}\n")
        job = self.cluster.submit("-o", "/dev/null", script, environment={"API_KEY": f"{SECRET} of the environment"})
        self.cluster.wait_state(job, "RUNNING")
        wait_until(lambda: self.cluster.step_rows(job), "no step began")
        os.unlink(script)
        self.assertTrue(self.rows_with_secret(), "the test looks at the wrong place")
        self.cluster.open_gate()
        self.cluster.wait_ended(job)
        return job

    def rows_with_secret(self):
        # A copy of the store, log and all, as whoever has its files reads it.
        path = os.path.join(self.cluster.root, "state", "controller", "state.db")
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
            return [line for line in database.iterdump() if SECRET.encode().hex() in line.lower()]


class ErasedTest(RetentionTest):
    def test_nothing_of_an_ended_jobs_script_and_environment_is_left(self):
        job = self.end_a_job()
        self.assertEqual(self.rows_with_secret(), [])
        wait_until(lambda: not files_with(self.cluster.root, SECRET), "a file still has it")
        shown = self.cluster.must("show", str(job), "--json")
        self.assertNotIn(SECRET, shown)
        self.assertIn('"submit_host"', shown)


    def test_an_erased_script_cannot_be_run_again(self):
        job = self.cluster.submit("-o", "/dev/null", "--wrap", "false")
        self.cluster.wait_ended(job)
        refused = self.cluster.muster("rerun", str(job))
        self.assertEqual(refused.returncode, 1)
        self.assertIn(f"job {job}: its script was erased", refused.stderr)


class KeptTest(RetentionTest):
    settings = "[retention]\nkeep_script = true\n"

    def test_failed_elements_and_no_others_run_again(self):
        done = os.path.join(self.cluster.root, "done")
        os.mkdir(done)
        script = self.cluster.script('[ "$MUSTER_ARRAY_TASK_ID" -lt 4 ] || [ -n "$MEND" ]; code=$?\n'
                                     f'echo "$1" >{done}/$MUSTER_ARRAY_JOB_ID.$MUSTER_ARRAY_TASK_ID; exit $code')
        job = self.cluster.submit("-o", "/dev/null", "--array=0-5", "--job-name=parts", script, "word")
        os.unlink(script)
        self.cluster.wait_ended(*range(job, job + 6))
        again = int(self.cluster.must("rerun", "parts", "--failed", "--parsable", environment={"MEND": "1"}))
        for row in self.cluster.wait_ended(again, again + 1):
            self.assertEqual(row["state"], "COMPLETED")
        self.assertEqual(sorted(name for name in os.listdir(done) if name.startswith(f"{again}.")), [f"{again}.4", f"{again}.5"])
        with open(os.path.join(done, f"{again}.4"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "word\n")
        nothing = self.cluster.muster("rerun", "last", "--failed")
        self.assertEqual((nothing.returncode, nothing.stdout), (1, ""))
        self.assertIn("nothing of it has failed", nothing.stderr)
        missing = self.cluster.muster("rerun", f"{job}_9")
        self.assertEqual(missing.returncode, 1)
        self.assertIn("has no element 9", missing.stderr)

    def test_a_script_that_is_kept_is_shown_later_and_its_environment_is_gone(self):
        job = self.end_a_job()
        written = subprocess.run([program("muster-slurm"), "scontrol", "write", "batch_script", str(job), "-"],
                                 capture_output=True, text=True, check=False,
                                 env={**self.cluster.environment, "MUSTER_CONTROLLER": self.cluster.address})
        self.assertIn(f"{SECRET} of the script", written.stdout, written.stderr)
        rows = "".join(self.rows_with_secret())
        self.assertIn(f"{SECRET} of the script".encode().hex(), rows.lower())
        self.assertNotIn(f"{SECRET} of the environment".encode().hex(), rows.lower())


class JournalTest(ClusterTest):
    """A journal that begins again, on a cluster that works."""

    @classmethod
    def make(cls):
        cluster = Cluster()
        cluster.configure('[retention]\njournal = "10s"\njobs = "1d"\n')
        return cluster.start()

    def begins(self):
        rows = self.cluster._rows("SELECT value FROM meta WHERE key = 'journal_begins'")
        return rows[0]["value"] if rows else 1

    def test_the_journal_begins_again_and_nothing_is_lost(self):
        script = self.cluster.script("true\n")
        old = self.cluster.submit("-o", "/dev/null", script)
        self.cluster.wait_ended(old)
        held = self.cluster.submit("--hold", "-o", "/dev/null", script)
        written = self.cluster._rows("SELECT max(version) AS last FROM journal")[0]["last"]
        wait_until(lambda: self.begins() > written, "the journal did not begin again", 60)
        later = self.cluster.submit("-o", "/dev/null", script)
        self.cluster.wait_ended(later)
        self.cluster.controller.kill()
        self.cluster.controller.start()
        self.cluster.must("release", str(held))
        self.cluster.wait_ended(held)
        self.assertRegex(self.cluster.must("history"), rf"(?m)^ *{old} ")
        rest = self.cluster.replay()
        self.assertTrue(rest["same"], rest)
        self.assertGreater(rest["begins"], written)
        self.assertGreater(rest["starts"], 0, rest)
        archive = os.path.join(self.cluster.state, "controller", "archive")
        segments = [name for name in os.listdir(archive) if name.endswith(".db.zst")]
        self.assertTrue(segments)
        for name in segments:
            self.assertIn("no difference", self.cluster.must("replay", os.path.join(archive, name)))
        refused = self.cluster.muster("events", "--from", "1")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("are in the archive", refused.stderr)

    def test_then_old_jobs_go_to_the_archive_and_come_back(self):
        """Runs after the journal began again: a job goes when the journal names it no more."""
        job = self.cluster.submit("-o", "/dev/null", self.cluster.script("true\n"))
        self.cluster.wait_ended(job)
        shown = json.loads(self.cluster.must("show", str(job), "--json"))
        written = self.cluster._rows("SELECT max(version) AS last FROM journal")[0]["last"]
        self.cluster.submit("--hold", self.cluster.script("true\n"))
        wait_until(lambda: self.begins() > written, "the journal did not begin again", 60)
        self.cluster.controller.kill()
        with sqlite3.connect(os.path.join(self.cluster.state, "controller", "state.db")) as database:
            database.execute("UPDATE history SET ended = ended - 172800000 WHERE id = ?", (job,))
        self.cluster.controller.start()

        def files():
            listed = json.loads(self.cluster.must("archive", "list", "--json"))["files"]
            return [file for file in listed if file["kind"] == "jobs"]

        wait_until(files, "no file of jobs was written", 60)
        wait_until(lambda: self.cluster.muster("show", str(job)).returncode == 1, "the job did not go", 60)
        self.assertEqual(files()[0]["jobs"], 1)
        name = files()[0]["name"]
        self.assertIn("1 job loaded", self.cluster.must("archive", "load", name, "--keep", "1h"))
        self.assertIn("0 jobs loaded, 1 were there already", self.cluster.must("archive", "load", name))
        again = json.loads(self.cluster.must("show", str(job), "--json"))
        self.assertEqual(again, shown)
        self.assertRegex(self.cluster.must("history"), rf"(?m)^ *{job} ")
        for words, error in ((("load", "jobs-1-2-3.db.zst"), "not in the archive"),
                             (("load", "../state.db"), "no file of ended jobs"),
                             (("load",), "needs a FILE"), (("look",), "expected list or load"),
                             (("load", name, "--keep", "never"), "--keep")):
            refused = self.cluster.muster("archive", *words)
            self.assertIn(refused.returncode, (1, 2), words)
            self.assertIn(error, refused.stderr, words)


del RetentionTest

if __name__ == "__main__":
    unittest.main()
