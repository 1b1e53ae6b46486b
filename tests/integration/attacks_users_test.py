"""User against user, and everybody against root: a controller, two agents, a munged and three users on this machine.

Rows A5, A6, B2, C1 to C4, C6, C7, D1, D8, D9, E1 and G4 of the list of attacks: each has to be refused in one line, to leave a line that
names who it really was, and to change nothing.
"""

import json
import os
import re
import shutil
import subprocess
import time
import unittest

from cluster import program, read_file, start_time
from secured import USERS, SecuredCluster, why_not

REASON = why_not()
SLEEP = "exec sleep 600"


@unittest.skipIf(REASON, f"SKIPPED: {REASON}")
class UserAttacksTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = SecuredCluster()
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.start()

    def tearDown(self):
        """The next legitimate request succeeds, whatever was tried."""
        job = self.cluster.submit_as("alice", "-o", "/dev/null", "--wrap", "true")
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "COMPLETED")

    def refused(self, user, *arguments, by=None, each_line=False, **keywords):
        """The one line (or one for each job) with which the user's command was refused; the log
        names him."""
        before = len(self.cluster.log())
        done = self.cluster.as_user(user, *arguments, **keywords)
        self.assertEqual(done.returncode, 1, (done.stdout, done.stderr))
        if not each_line:
            self.assertRegex(done.stderr, r"\A[^\n]+\n\Z")
        if by:
            self.assertRegex(self.cluster.log()[before:], rf"access: refused .*{by}")
        return done.stderr

    def running(self, user, *arguments):
        """A job of the user's that sleeps, once it does."""
        job = self.cluster.submit_as(user, "-o", "/dev/null", *arguments, "--wrap", SLEEP)
        self.cluster.wait_state(job, "RUNNING")
        self.addCleanup(self.cluster.must, "cancel", job)
        return job

    def output(self, user, name):
        return read_file(self.cluster.place_of(user, name)).decode()

    # A5, D9.

    def test_a_job_has_its_users_identity_and_nothing_else(self):
        job = self.cluster.submit_as(
            "alice", "-o", "who", "--wrap",
            "id -ru; id -u; id -rg; id -G; grep -E '^(Groups|Cap|NoNewPrivs|Seccomp)' "
            "/proc/self/status; echo fds $(ls /proc/self/fd | wc -l); pwd; umask")
        self.cluster.wait_ended(job)
        said = self.output("alice", "who")
        uid = str(USERS["alice"])
        self.assertEqual(said.split()[:4], [uid] * 4, said)
        for line in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
            self.assertRegex(said, rf"{line}:\s+0+\n")
        self.assertRegex(said, r"NoNewPrivs:\s+1\n")
        self.assertRegex(said, rf"Groups:\s+{uid}\s*\n")
        self.assertIn("fds 4\n", said)  # ls has its directory open
        self.assertIn(self.cluster.place_of("alice").rstrip("/") + "\n", said)

    def test_who_somebody_claims_to_be_counts_for_nothing(self):
        for claim in ({"USER": "root", "LOGNAME": "root", "SLURM_JOB_UID": "0", "UID": "0"},
                      {"MUSTER_JOB_USER": "alice", "USER": "alice"}):
            job = self.cluster.submit_as("mallory", "-o", "who", "--wrap", "id -u",
                                         environment=claim)
            self.cluster.wait_ended(job)
            self.assertEqual(self.output("mallory", "who"), f"{USERS['mallory']}\n")

    # A6.

    def test_no_job_of_roots_is_taken_whichever_way_it_comes(self):
        self.assertIn("jobs of root", self.refused("root", "submit", "--wrap", "true",
                                                   by=r"Submit of user root \(uid 0\) by MUNGE"))
        self.assertIn("jobs of root", self.refused("root", "run", "true", by=r"user root"))
        done = self.cluster.muster("submit", "--wrap", "true")  # by the owner's socket
        self.assertEqual(done.returncode, 1)
        self.assertIn("jobs of root", done.stderr)

    # B2: without proof, with that of another connection or of nobody.

    def test_without_munge_nobody_is_anybody(self):
        line = self.refused("alice", "queue", environment={"MUSTER_MUNGE_SOCKET": "/nowhere"})
        self.assertIn("MUNGE", line)
        other = os.path.join(self.cluster.root, "other-trust")
        os.makedirs(other, mode=0o755)
        subprocess.run([program("muster"), "keys", "init", "--keys", other + "-keys"], check=True,
                       stdout=subprocess.DEVNULL)
        shutil.copy(os.path.join(other + "-keys", "ca.pem"), other)
        line = self.refused("alice", "queue", keys=other)
        self.assertIn("is not the controller that", line)

    # C2, C3.

    def test_nobody_reads_or_enters_anothers_job(self):
        job = self.cluster.submit_as("alice", "-o", "secret", "--wrap", f"echo private; {SLEEP}")
        self.cluster.wait_state(job, "RUNNING")
        self.addCleanup(self.cluster.muster, "cancel", job)
        own = self.cluster.as_user("alice", "logs", "-f", "--head", "1", job)
        self.assertEqual((own.returncode, own.stdout), (0, "private\n"), own.stderr)
        entered = self.cluster.as_user("alice", "exec", job, "--", "id", "-u")
        self.assertEqual((entered.returncode, entered.stdout), (0, f"{USERS['alice']}\n"), entered.stderr)
        for verb in (["logs", job], ["logs", "-f", job], ["top", job], ["exec", job, "--", "id"]):
            self.assertIn("belongs to alice", self.refused("mallory", *verb))
        # What alice's job names is opened as alice, wherever it points.
        self.cluster.must("cancel", job)
        self.cluster.wait_ended(job)
        path = self.cluster.place_of("alice", "secret")
        os.unlink(path)
        os.symlink("/etc/shadow", path)
        self.assertIn("cannot be read", self.refused("alice", "logs", job))

    # C1, C4.

    def test_nobody_touches_anothers_job_by_any_name(self):
        job = self.running("alice", "-J", "mine")
        array = self.cluster.submit_as("alice", "-o", "/dev/null", "-a", "0-3", "--hold", "--wrap",
                                       "true")
        self.addCleanup(self.cluster.must, "cancel", array)
        for user in ("mallory", "al"):
            for verb in (["cancel"], ["hold"], ["release"], ["requeue"],
                         ["update", "--time", "1:00"]):
                for name in (job, array, f"{array}_[0-3]", f"{array}_1"):
                    lines = self.refused(user, *verb[:1], name, *verb[1:], each_line=True,
                                         by=rf"of user {user} \(uid {USERS[user]}\) by MUNGE")
                    self.assertRegex(lines, r"\A([^\n]*belongs to alice[^\n]*\n)+\Z")
            self.assertIn("who runs the controller", self.refused(user, "suspend", job, by=user))
            self.cluster.as_user(user, "cancel", "--all")
        for name in ("-1", f"-{job}", f"{job}*", "*", "mine", "[0-9]*", f"0x{job:x}", f"{job}.0"):
            done = self.cluster.as_user("mallory", "cancel", "--", name)
            self.assertNotEqual(done.returncode, 0, name)
        queue = self.cluster.queue()
        self.assertEqual(queue[job]["state"], "RUNNING")
        self.assertEqual([each["state"] for each in queue.values()
                          if each.get("array_job_id") == array], ["PENDING"] * 4)

    def test_only_an_operator_gives_a_running_job_more_time(self):
        job = self.running("alice", "--time", "10:00")
        denied = "Update of user alice"
        for limit in ("20:00", "UNLIMITED"):
            line = self.refused("alice", "update", job, "--time", limit, by=denied)
            self.assertIn("only an operator gives a running job more time", line)
        self.assertIn("--force: is for operators",
                      self.refused("alice", "update", job, "--time", "20:00", "--force", by=denied))
        self.assertIn("belongs to alice", self.refused("mallory", "update", job, "--time", "1:00", by="user mallory"))
        self.assertEqual(self.cluster.as_user("alice", "update", job, "--time", "9:00").returncode, 0)
        self.refused("alice", "update", job, "--time", "10:00", by=denied)
        self.cluster.must("update", job, "--time", "30:00")
        self.assertRegex(self.cluster.must("show", job), r"limit +30:00\n")

    # C2.

    def test_nobody_starts_a_step_in_anothers_job(self):
        job = self.running("alice")
        line = self.refused("mallory", "run", "id",
                            environment={"MUSTER_JOB_ID": str(job), "SLURM_JOB_ID": str(job)},
                            by=r"StartStep of user mallory")
        self.assertIn("belongs to alice", line)

    def test_nobody_looks_at_anothers_step_or_signals_it(self):
        job = self.running("alice")
        line = self.refused("mallory", "attach", job, by=r"Attach of user mallory")
        self.assertIn("belongs to alice", line)
        for scope in ([], ["--batch"], ["--full"]):
            line = self.refused("mallory", "cancel", "-s", "USR1", *scope, job, by=r"Signal of user mallory")
            self.assertIn("belongs to alice", line)
        self.assertEqual(self.cluster.queue()[job]["state"], "RUNNING")

    # C3.

    def test_nobody_reads_anothers_program_through_the_controller(self):
        job = self.cluster.submit_as("alice", "-o", "private.out", "--comment", "x", "--wrap",
                                     "echo canary-3fe1; " + SLEEP)
        self.addCleanup(self.cluster.must, "cancel", job)
        self.cluster.wait_state(job, "RUNNING")
        for verb in (["show", job], ["show", job, "--json"], ["queue", "--json"],
                     ["explain", job, "--json"]):
            seen = self.cluster.as_user("mallory", *verb)
            for secret in ("canary-3fe1", "private.out", self.cluster.place_of("alice")):
                self.assertNotIn(secret, seen.stdout + seen.stderr, verb)
        own = self.cluster.as_user("alice", "show", job, "--json")
        self.assertEqual(json.loads(own.stdout)["jobs"][0]["stdout_path"], "private.out")
        held = self.cluster.submit_as("alice", "--hold", "-o", "/dev/null", "--wrap", "true")
        self.addCleanup(self.cluster.must, "cancel", held)
        self.assertEqual(self.cluster.as_user("alice", "update", held, "-o", "moved-7be2.out").returncode, 0)
        for user, seen in (("alice", self.assertIn), ("mallory", self.assertNotIn)):
            seen("moved-7be2.out", self.cluster.as_user(user, "show", held, "--json").stdout, user)

    def test_nobody_reads_anothers_files_of_ours(self):
        job = self.running("alice")
        kept = [self.cluster.keys, os.path.join(self.cluster.state, "controller")]
        for path in kept:
            self.assertEqual(os.stat(path).st_mode & 0o077, 0, path)
        (attempt,) = [path for path in self.attempts() if path.endswith(f"/{job}.1")]
        done = subprocess.run(["ls", attempt], user=USERS["mallory"], group=USERS["mallory"],
                              extra_groups=[], capture_output=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        # What the hints say (when it ends, whether it is to save) the queue tells everybody.
        for name in set(os.listdir(attempt)) - {"checkpoint-hints"}:
            path = os.path.join(attempt, name)
            info = os.lstat(path)
            self.assertEqual(info.st_mode & 0o077 & ~0o011, 0, path)
            for user in ("mallory", "al"):
                done = subprocess.run(["cat", path], user=USERS[user], group=USERS[user],
                                      extra_groups=[], capture_output=True, check=False)
                self.assertNotEqual(done.returncode, 0, (user, path))
                self.assertEqual(done.stdout, b"")

    def attempts(self):
        for agent in sorted(os.listdir(os.path.join(self.cluster.state, "agents"))):
            place = os.path.join(self.cluster.state, "agents", agent, "attempts")
            for name in os.listdir(place):
                yield os.path.join(place, name)

    # C6: what is another's may be named, and does nothing.

    def test_nobody_gets_into_anothers_reservation_or_checkpoint(self):
        self.cluster.must("reservation", "add", "alices", "Nodes=node1", "Users=alice", "StartTime=now", "Duration=1:00:00")
        self.addCleanup(self.cluster.must, "reservation", "delete", "alices")
        line = self.refused("mallory", "submit", "--reservation", "alices", "--wrap", "true")
        self.assertIn("alices", line)
        kept = self.cluster.place_of("alice", "kept")
        os.mkdir(kept, mode=0o700)
        os.chown(kept, USERS["alice"], USERS["alice"])
        job = self.cluster.submit_as("mallory", "-o", "stolen.out", "--checkpoint-dir", kept, "--wrap", f"ls {kept}")
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "FAILED")
        self.assertEqual(os.listdir(kept), [])

    # C7: an operator's business is an operator's, and nobody's own weight is his own business.

    def test_nobody_raises_what_is_his_own(self):
        job = self.cluster.submit_as("mallory", "-o", "/dev/null", "--hold", "--wrap", "true")
        self.addCleanup(self.cluster.must, "cancel", job)
        for words in (["accounts", "add", "physics", "user=mallory", "Fairshare=1000"], ["qos", "set", "normal", "Priority=1000"], ["submit", "--nice=-5", "--wrap", "true"],
                      ["update", str(job), "--nice=-5"]):
            done = self.cluster.as_user("mallory", *words)
            self.assertIn(done.returncode, (1, 2), (words, done.stdout, done.stderr))
            self.assertRegex(done.stderr, r"\A[^\n]+\n\Z")


    def test_only_operators_change_nodes_and_policy(self):
        for words in (["drain", "node1", "--reason", "x"], ["resume", "node1"],
                      ["partition", "add", "mine", "Nodes=node1"],
                      ["qos", "set", "normal", "Priority=1000"],
                      ["accounts", "add", "mine", "Fairshare=1000"]):
            self.refused("mallory", *words, by=r"user mallory \(uid 61002\)")
        nodes = json.loads(self.cluster.must("nodes", "--json"))["nodes"]
        self.assertEqual({node["state"] for node in nodes} - {"IDLE", "MIXED", "ALLOCATED"}, set())

    # F1: an order that no agent takes broke the link of its node again and again.

    def test_no_job_is_too_large_for_the_nodes_of_others(self):
        place = self.cluster.place_of("mallory")
        script = os.path.join(place, "large.sh")
        with open(script, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\ntrue\n#" + "x" * 4_180_000 + "\n")
        wide = ["submit", "--overcommit", "-N", "1", "-n", "1000000", "-c", "8", "-o", "/dev/null"]
        for words in (wide + [script], wide + ["--wrap", "true"]):
            self.assertIn("a node runs at most 65536", self.refused("mallory", *words))
        said = self.refused("mallory", "submit", "-o", "/dev/null", "--export", "BIG=" + "x" * 100_000, script)
        self.assertIn("bytes together; at most 4194304 are allowed", said)
        job = self.running("mallory")
        said = self.cluster.as_user("mallory", "run", "--overlap", "--overcommit", "-n", "1000000", "true",
                                    environment={"MUSTER_JOB_ID": str(job)})
        self.assertEqual(said.returncode, 1, (said.stdout, said.stderr))
        self.assertIn("more tasks than an order to one node can hold", said.stderr)
        before = self.cluster.log().count("registered")
        for node in json.loads(self.cluster.must("nodes", "--json"))["nodes"]:
            self.assertIn(node["state"], ("IDLE", "MIXED", "ALLOCATED"))
        self.assertEqual(self.cluster.log().count("registered"), before)

    # D1.

    def test_output_is_opened_as_the_user_wherever_it_points(self):
        secret = os.path.join(self.cluster.root, "secret")
        with open(secret, "w", encoding="utf-8") as file:
            file.write("untouched")
        os.chmod(secret, 0o600)
        alices = self.cluster.place_of("alice", "alices")
        with open(alices, "w", encoding="utf-8") as file:
            file.write("untouched")
        os.chown(alices, USERS["alice"], USERS["alice"])
        place = self.cluster.place_of("mallory")
        targets = {"link": secret, "other": alices, "shadow": "/etc/shadow", "none": "/no/such/x",
                   "sysrq": "/proc/sysrq-trigger", "directory": "/tmp"}
        for name, target in targets.items():
            os.symlink(target, os.path.join(place, name))
        for name in targets:
            before = {path: os.stat(path) for path in (secret, "/etc/shadow")}
            done = self.cluster.as_user("mallory", "submit", "--parsable", "-o",
                                        os.path.join(place, name), "--wrap", "echo owned")
            if done.returncode == 0:
                (row,) = self.cluster.wait_ended(int(done.stdout))
                self.assertEqual(row["state"], "FAILED", (name, row))
            for path, info in before.items():
                now = os.stat(path)
                self.assertEqual((now.st_mtime_ns, now.st_size, now.st_uid, now.st_mode),
                                 (info.st_mtime_ns, info.st_size, info.st_uid, info.st_mode), path)
        for path in (secret, alices):
            self.assertEqual(read_file(path), b"untouched")

    def test_a_fifo_for_output_holds_nobody_up(self):
        fifo = self.cluster.place_of("mallory", "fifo")
        os.mkfifo(fifo)
        os.chown(fifo, USERS["mallory"], USERS["mallory"])
        done = self.cluster.as_user("mallory", "submit", "--parsable", "-o", fifo, "--wrap", "true")
        # The node goes on whatever becomes of it: tearDown runs a job of alice's there.
        if done.returncode == 0:
            self.addCleanup(self.cluster.muster, "cancel", int(done.stdout))
        for node in ("node1", "node2"):
            job = self.cluster.submit_as("alice", "-w", node, "-o", "/dev/null", "--wrap", "true")
            (row,) = self.cluster.wait_ended(job)
            self.assertEqual(row["state"], "COMPLETED")

    # D8.

    def test_a_user_who_is_gone_by_the_start_starts_nothing(self):
        job = self.cluster.submit_as("mallory", "-o", "/dev/null", "--hold", "--wrap",
                                     "touch " + self.cluster.place_of("mallory", "ran"))
        self.cluster.users.set({name: uid for name, uid in USERS.items() if name != "mallory"})
        self.addCleanup(self.cluster.users.set, USERS)
        self.cluster.must("release", job)
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "FAILED")
        self.assertFalse(os.path.exists(self.cluster.place_of("mallory", "ran")))
        told = json.loads(self.cluster.must("show", job, "--json"))["jobs"][0]
        self.assertIn("is not known here", json.dumps(told))

    def test_a_user_of_another_name_by_the_start_starts_nothing(self):
        job = self.cluster.submit_as("mallory", "-o", "/dev/null", "--hold", "--wrap",
                                     "touch " + self.cluster.place_of("mallory", "ran"))
        self.cluster.users.set({"alice": 61001, "eve": USERS["mallory"]})
        self.addCleanup(self.cluster.users.set, USERS)
        self.cluster.must("release", job)
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "FAILED")
        self.assertFalse(os.path.exists(self.cluster.place_of("mallory", "ran")))

    # E1.

    def test_what_a_user_sets_reaches_no_privileged_process(self):
        marked = {name: "/canary-77aa" for name in (
            "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "GCONV_PATH", "BASH_ENV", "ENV", "IFS",
            "PYTHONPATH", "PERL5LIB", "TMPDIR", "MUSTER_CANARY")}
        marked["PATH"] = "/canary-77aa:/usr/bin:/bin"
        exported = ",".join(f"{name}={value}" for name, value in marked.items())
        job = self.cluster.submit_as("mallory", "-o", "/dev/null", f"--export={exported}",
                                     "--wrap", SLEEP)
        self.addCleanup(self.cluster.must, "cancel", job)
        self.cluster.wait_state(job, "RUNNING")
        seen = 0
        for pid in filter(str.isdigit, os.listdir("/proc")):
            words = read_file(f"/proc/{pid}/cmdline").split(b"\0")
            if self.cluster.root.encode() not in b" ".join(words) or start_time(pid) is None:
                continue
            owner = re.search(rb"^Uid:\s+(\d+)", read_file(f"/proc/{pid}/status"), re.M)
            if owner and owner.group(1) == b"0":
                seen += 1
                self.assertNotIn(b"canary-77aa", read_file(f"/proc/{pid}/environ"), words)
        self.assertGreaterEqual(seen, 4)  # the controller, two agents, the supervisor



@unittest.skipIf(REASON, f"SKIPPED: {REASON}")
class FloodTest(unittest.TestCase):
    """Row G4: what each user may ask in a time."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = SecuredCluster()
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.configure("[limits]\ncalls_per_second = 1\ncalls_burst = 4\n"
                              "program_bytes_per_second = \"1K\"\nprogram_bytes_burst = \"1M\"\n"
                              "[policy]\nsubmit_jobs_max = 3\n")
        cls.cluster.start()

    def test_a_user_who_is_too_fast_waits_and_is_served(self):
        begun = time.monotonic()
        for _ in range(8):
            done = self.cluster.as_user("mallory", "queue")
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(time.monotonic() - begun, 3)
        for _ in range(3):  # nobody else has to
            self.assertEqual(self.cluster.as_user("alice", "queue").returncode, 0)

    def test_nobody_fills_the_store_with_programs(self):
        large = self.cluster.place_of("mallory", "large.sh")
        with open(large, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + "# filled\n" * 80_000)
        os.chmod(large, 0o755)
        first = self.cluster.as_user("mallory", "submit", "--hold", "-o", "/dev/null", large)
        self.assertEqual(first.returncode, 0, first.stderr)
        second = self.cluster.as_user("mallory", "submit", "--hold", "-o", "/dev/null", large)
        self.assertEqual(second.returncode, 1, second.stdout)
        self.assertRegex(second.stderr, r"\Amuster submit: mallory asks too much of the controller at once: more than "
                                        r"1 (KiB of scripts and environments|calls) a second; try again in \d+\.\d s\n\Z")

    def test_nobody_fills_the_queue(self):
        done = self.cluster.as_user("al", "submit", "--hold", "-a", "0-3", "-o", "/dev/null", "--wrap", "true")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stderr, r"user al: 0 of 3 jobs wait or run \(policy\.submit_jobs_max\), 4 more do not fit")
        self.cluster.submit_as("al", "--hold", "-a", "0-2", "-o", "/dev/null", "--wrap", "true")


if __name__ == "__main__":
    unittest.main()
