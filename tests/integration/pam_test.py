"""Logins by a real sshd through pam_muster.so: no job on this node, no entry; else in the job's group, with its /tmp,
and its time is the job's.

sshd listens on loopback, with a service file of the test's own in place of /etc/pam.d. Needs root, MUNGE, sshd and a
cgroup v2 that root can make groups in; says loudly which is missing.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from cluster import BIN, PATIENCE, read_file, sanitizer, wait_until
from secured import SecuredCluster, free_port, why_not

MODULE = os.path.abspath(os.path.join(BIN, "..", "lib", "security", "pam_muster.so"))
TOOLS = "/usr/sbin:/usr/bin:/sbin:/bin"
SSHD = shutil.which("sshd", path=TOOLS)
SLEEP = "exec sleep 600"
HOST = socket.gethostname().partition(".")[0]
DENIAL = f"no job of yours runs on {HOST}; submit one: muster alloc -w {HOST}"


def no_groups():
    """Why jobs have no control groups here; None when they have."""
    mounts = [line.split() for line in read_file("/proc/mounts").decode().splitlines()]
    mount = next((words[1] for words in mounts if words[2] == "cgroup2"), None)
    if mount is None:
        return "no cgroup v2 is mounted"
    probe = os.path.join(mount, f"muster-pam-{os.getpid()}")
    try:
        os.mkdir(probe)
        os.rmdir(probe)
    except OSError as error:
        return f"{mount}: groups cannot be made: {error.strerror}"
    return None


REASON = why_not() or (sanitizer() and "a sanitized module needs its runtime in sshd") or \
    (None if SSHD and shutil.which("ssh") else "no sshd (apt-get install openssh-server openssh-client)")
GROUPS = no_groups()


class Sshd:
    """One that lets each user in by the same key, and asks pam_muster.so with those options."""

    def __init__(self, place, state):
        self.place, self.state = place, state
        self.services = os.path.join(place, "pam.d")
        os.mkdir(self.services)
        os.makedirs("/run/sshd", exist_ok=True)
        for name in ("host_key", "key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{place}/{name}"], check=True)
        os.chmod(f"{place}/key.pub", 0o644)
        self.set_options()
        subprocess.run(["mount", "--bind", self.services, "/etc/pam.d"], check=True)
        self.port = free_port()
        with open(f"{place}/known_hosts", "w", encoding="utf-8") as file:
            file.write(f"[127.0.0.1]:{self.port} " + read_file(f"{place}/host_key.pub").decode())
        with open(f"{place}/sshd_config", "w", encoding="utf-8") as file:
            file.write(f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {place}/host_key\nUsePAM yes\n"
                       f"AuthorizedKeysFile {place}/key.pub\nStrictModes no\nPidFile none\nPermitRootLogin yes\n"
                       "Subsystem sftp internal-sftp\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n"
                       "UseDNS no\nLogLevel VERBOSE\n")
        with open(f"{place}/log", "ab") as log:
            self.process = subprocess.Popen(  # pylint: disable=consider-using-with
                [SSHD, "-D", "-e", "-f", f"{place}/sshd_config"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(self.listens, lambda: f"sshd does not listen: {self.log()}")

    def set_options(self, *options):
        words = " ".join((MODULE, f"state={self.state}", *options))
        with open(f"{self.services}/sshd", "w", encoding="utf-8") as file:
            file.write(f"auth required pam_permit.so\naccount required {words}\naccount required pam_permit.so\n"
                       f"session required {words}\nsession required pam_permit.so\n")

    def listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.port)).close()
            return True
        except OSError:
            return False

    def log(self):
        return read_file(f"{self.place}/log").decode(errors="replace")

    def command(self, user, *words):
        return ["ssh", "-F", "none", "-p", str(self.port), "-i", f"{self.place}/key", "-o", "BatchMode=yes",
                "-o", "StrictHostKeyChecking=yes", "-o", f"UserKnownHostsFile={self.place}/known_hosts",
                f"{user}@127.0.0.1", *words]

    def login(self, user, *words):
        return subprocess.run(self.command(user, *words), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=PATIENCE, check=False)

    def begin(self, user, *words):
        return subprocess.Popen(self.command(user, *words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def close(self):
        self.process.terminate()
        self.process.wait()
        subprocess.run(["umount", "/etc/pam.d"], check=False)


@unittest.skipIf(REASON, f"SKIPPED: no login through pam_muster.so is tested: {REASON}")
class PamLoginTest(unittest.TestCase):
    """One node, whose jobs have a /tmp of their own."""

    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.mkdtemp(prefix="muster-pam-", dir="/var/tmp")
        cls.addClassCleanup(shutil.rmtree, cls.root, ignore_errors=True)
        os.chmod(cls.root, 0o755)
        places = [os.path.join(cls.root, name) for name in ("root", "work", "sshd")]
        for place in places:
            os.mkdir(place, mode=0o711)
        cls.cluster = SecuredCluster(nodes=1, agent_options=["--private-tmp"], root=places[0], work=places[1])
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.start()
        cls.state = os.path.join(cls.cluster.state, "agents", "node1")
        cls.sshd = Sshd(places[2], cls.state)
        cls.addClassCleanup(cls.sshd.close)

    def setUp(self):
        self.addCleanup(self.sshd.set_options)

    def running(self, user, *arguments):
        """A job of the user's that sleeps, once it does."""
        job = self.cluster.submit_as(user, "-o", "/dev/null", "-c1", *arguments, "--wrap", SLEEP)
        self.cluster.wait_state(job, "RUNNING")
        self.addCleanup(self.cancel, job)
        wait_until(lambda: os.path.exists(self.attempt(job) + "/claim"), "the job is not there")
        wait_until(lambda: self.children_of(self.supervisor(job)), "the job does not begin")
        return job

    def cancel(self, job):
        self.cluster.muster("cancel", job)
        return self.cluster.wait_ended(job)[0]

    def attempt(self, job):
        return os.path.join(self.state, "attempts", f"{job}.1")

    def supervisor(self, job):
        found = [pid for pid in self.cluster.supervisors()
                 if re.search(rf"/{job}\.1\b", read_file(f"/proc/{pid}/cmdline").replace(b"\0", b" ").decode())]
        return found[0] if found else None

    def children_of(self, pid):
        return read_file(f"/proc/{pid}/task/{pid}/children").split() if pid else []

    def refused(self, user, pattern):
        done = self.sshd.login(user, "echo in")
        self.assertNotEqual(done.returncode, 0, done)
        self.assertEqual(done.stdout, "", "nothing of the user's ran")
        self.assertRegex(done.stderr, pattern)
        return done

    def let_in(self, user, *words):
        done = self.sshd.login(user, *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""), self.sshd.log()[-3000:])
        return done.stdout

    # Who gets in.

    def test_without_a_job_a_user_is_refused_in_one_line_and_root_is_not(self):
        self.refused("mallory", re.escape(DENIAL))
        self.assertIn("0\n", self.let_in("root", "id -u; cat /proc/self/cgroup"))
        self.sshd.set_options("ignore_root=0")
        self.refused("root", re.escape(DENIAL))

    def test_the_site_may_let_in_who_has_no_job(self):
        self.sshd.set_options("action_no_jobs=ignore")
        self.assertEqual(self.let_in("mallory", "echo $MUSTER_JOB_ID"), "\n")

    def test_a_word_that_is_no_option_lets_nobody_in_and_is_logged(self):
        self.sshd.set_options("action_no_job=ignore")
        self.refused("mallory", rf"pam_muster is configured wrongly on {HOST}; ask its operator")
        self.sshd.set_options("state=/nothing/here")
        self.refused("mallory", f"cannot tell whether a job of yours runs on {HOST}")
        self.sshd.set_options("state=/nothing/here", "action_generic_failure=ignore")
        self.assertEqual(self.let_in("mallory", "echo in"), "in\n")

    @unittest.skipIf(GROUPS is None, "SKIPPED: this machine has control groups")
    def test_without_control_groups_a_job_lets_no_session_in(self):
        job = self.running("alice")
        self.refused("alice", f"your job {job} on {HOST} lets no session in: this node has no control groups")

    # Where he is then.

    def groups_or_skip(self):
        if GROUPS is not None:
            self.skipTest(f"SKIPPED: no session is put into a job here: {GROUPS}")

    def group_of(self, text):
        return re.search(r"^0::(.*)$", text, re.MULTILINE).group(1)

    def test_a_session_is_in_its_users_job_and_nobody_elses(self):
        self.groups_or_skip()
        job = self.running("alice")
        others = self.running("al")
        self.refused("mallory", re.escape(DENIAL))
        said = self.let_in("alice", "cat /proc/self/cgroup; id -un; echo $MUSTER_JOB_ID $SLURM_JOB_ID $MUSTER_NODE_NAME")
        self.assertTrue(self.group_of(said).endswith(f"/{job}.1/sessions"), said)
        self.assertTrue(said.endswith(f"\nalice\n{job} {job} node1\n"), said)
        said = self.let_in("al", "cat /proc/self/cgroup")
        self.assertTrue(self.group_of(said).endswith(f"/{others}.1/sessions"), said)

    def test_a_session_has_the_jobs_tmp(self):
        self.groups_or_skip()
        job = self.running("alice")
        self.let_in("alice", "echo inside >/tmp/mine; echo shared >/dev/shm/mine")
        self.assertEqual(self.let_in("alice", "cat /tmp/mine /dev/shm/mine"), "inside\nshared\n")
        self.assertEqual(read_file(f"{self.attempt(job)}/tmp/tmp/mine"), b"inside\n")
        self.assertFalse(os.path.exists("/tmp/mine"))

    def test_of_several_jobs_it_is_the_newest_that_lets_him_in(self):
        self.groups_or_skip()
        first = self.running("alice")
        time.sleep(0.01)
        second = self.running("alice")
        self.assertEqual(self.let_in("alice", "echo $MUSTER_JOB_ID"), f"{second}\n")
        self.sshd.set_options("action_unknown=deny")
        self.refused("alice", f"2 jobs of yours run on {HOST}, and it is not known which you mean")
        self.cancel(second)
        self.assertEqual(self.let_in("alice", "echo $MUSTER_JOB_ID"), f"{first}\n")

    def test_files_go_through_sftp_into_the_job(self):
        self.groups_or_skip()
        self.running("alice")
        path = os.path.join(self.root, "sent")
        with open(path, "w", encoding="utf-8") as file:
            file.write("sent\n")
        words = [word if word != "-p" else "-P" for word in self.sshd.command("alice")[1:-1]]
        sent = subprocess.run(["scp", "-q", *words, path, "alice@127.0.0.1:/tmp/there"], capture_output=True, text=True,
                              timeout=PATIENCE, check=False)
        self.assertEqual((sent.returncode, sent.stderr), (0, ""))
        self.assertEqual(self.let_in("alice", "cat /tmp/there"), "sent\n")

    # What becomes of it.

    def test_the_job_takes_its_sessions_with_it_and_has_their_time(self):
        self.groups_or_skip()
        job = self.running("alice")
        burn = ("i=0; while [ $i -lt 1000000 ]; do i=$((i + 1)); done; echo burnt $$; "
                "trap '' TERM HUP; while :; do sleep 1; done")
        session = self.sshd.begin("alice", burn)
        try:
            word, pid = session.stdout.readline().split()
            self.assertEqual(word, "burnt")
            row = self.cancel(job)
            self.assertFalse(os.path.exists(f"/proc/{pid}"), "what ignores signals is gone before the job is over")
            self.assertEqual(row["state"], "CANCELLED")
            self.assertGreater(row["user_cpu_ms"] + row["system_cpu_ms"], 200, "its time is the job's")
            self.assertNotEqual(session.wait(PATIENCE), 0)
        finally:
            session.kill()
            session.communicate()
        self.refused("alice", re.escape(DENIAL))

    def test_a_job_that_ends_by_itself_takes_them_along(self):
        self.groups_or_skip()
        gate = os.path.join(self.cluster.work, "alice", "gate")
        job = self.cluster.submit_as("alice", "-o", "/dev/null", "-c1", "--wrap",
                                     f"until [ -e {gate} ]; do sleep 0.1; done")
        self.cluster.wait_state(job, "RUNNING")
        wait_until(lambda: self.children_of(self.supervisor(job)), "the job does not begin")
        session = self.sshd.begin("alice", "echo here; exec sleep 600")
        try:
            self.assertEqual(session.stdout.readline(), "here\n")
            with open(gate, "w", encoding="utf-8"):
                pass
            self.assertEqual(self.cluster.wait_ended(job)[0]["state"], "COMPLETED")
            self.assertNotEqual(session.wait(PATIENCE), 0)
        finally:
            session.kill()
            session.communicate()

    def test_a_suspended_job_lets_no_session_in(self):
        self.groups_or_skip()
        job = self.running("alice")
        self.cluster.must("suspend", job)
        self.cluster.wait_state(job, "SUSPENDED")
        self.refused("alice", f"your job {job} on {HOST} lets no session in: it is suspended")
        self.cluster.must("resume", job)
        self.cluster.wait_state(job, "RUNNING")
        self.let_in("alice", "true")

    def test_a_dead_agent_keeps_nobody_out_and_a_hanging_supervisor_holds_nobody_up(self):
        self.groups_or_skip()
        job = self.running("alice")
        (agent,) = self.cluster.agents
        agent.kill()
        try:
            self.assertEqual(self.let_in("alice", "echo $MUSTER_JOB_ID"), f"{job}\n")
            supervisor = self.supervisor(job)
            os.kill(supervisor, signal.SIGSTOP)
            try:
                begun = time.monotonic()
                self.refused("alice", f"your job on {HOST} does not answer; try again")
                self.assertLess(time.monotonic() - begun, 20)
            finally:
                os.kill(supervisor, signal.SIGCONT)
            self.let_in("alice", "true")
        finally:
            agent.start()

    def test_a_supervisor_that_dies_takes_its_sessions_with_it(self):
        self.groups_or_skip()
        job = self.running("alice")
        session = self.sshd.begin("alice", "echo here; exec sleep 600")
        try:
            self.assertEqual(session.stdout.readline(), "here\n")
            os.kill(self.supervisor(job), signal.SIGKILL)
            self.assertNotEqual(session.wait(PATIENCE), 0)
        finally:
            session.kill()
            session.communicate()


if __name__ == "__main__":
    unittest.main()
