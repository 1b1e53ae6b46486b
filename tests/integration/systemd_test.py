"""The packages on a Debian with a real systemd: installed, started, upgraded and restarted under a running job.

Skipped, with the reason, where no container can be booted: see container.py.
"""

import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from cluster import BIN, OURS, PATIENCE, sanitizer, wait_until
from container import Container, make_tree, why_not

BUILD = os.path.dirname(os.path.abspath(BIN))
UNITS = ("musterd.service", "musterd.socket", "muster-agent.service", "muster-jobs.service")
ADDRESS = "127.0.0.1:7117"
EXPOSURE_MAX = "20"  # tenths: systemd's own word for below it is OK
# Counts until the file that it is given is there; one that was ended, started twice or stopped for good would show it.
BEAT = '#!/bin/sh\ni=0\nuntil [ -e "$1" ]; do i=$((i + 1)); echo "$i $$"; sleep 0.1; done\n'


def make_packages(directory):
    """The packages of this build."""
    made = subprocess.run(["cpack", "-G", "DEB", "-B", directory], cwd=BUILD, capture_output=True, text=True,
                          timeout=5 * PATIENCE, check=False)
    if made.returncode != 0:
        raise AssertionError(made.stdout + made.stderr)
    return sorted(glob.glob(os.path.join(directory, "*.deb")))


def field(package, name):
    return subprocess.run(["dpkg-deb", "-f", package, name], capture_output=True, text=True, check=True).stdout.strip()


def needed(packages):
    """What Debian must bring for them."""
    names = set()
    for package in packages:
        for depend in field(package, "Depends").split(","):
            names.add(depend.split()[0])
    return sorted(names - {field(package, "Package") for package in packages})


class SystemdTest(unittest.TestCase):
    """One container, booted once; each test leaves both services running and no job."""

    @classmethod
    def setUpClass(cls):
        why = why_not() or (sanitizer() and "sanitized programs are none that a package holds")
        if why is not None:
            raise unittest.SkipTest(f"SKIPPED: the units cannot be tested here: {why}")
        cls.root = tempfile.mkdtemp(prefix="muster-systemd-")
        cls.addClassCleanup(shutil.rmtree, cls.root, ignore_errors=True)
        debs = os.path.join(cls.root, "debs")
        os.mkdir(debs)
        cls.packages = make_packages(debs)
        tree = os.path.join(cls.root, "tree")
        why = make_tree(tree, ["systemd", "systemd-sysv", "dbus", "munge", "openssh-client", "openssh-server",
                               "libpam-systemd", "procps", *needed(cls.packages)])
        if why is not None:
            raise unittest.SkipTest(f"SKIPPED: the units cannot be tested here: {why}")
        cls.box = Container(tree, f"muster-{OURS}", {debs: "/debs"})
        cls.addClassCleanup(cls.box.close)
        cls.run_in("dpkg", "-i", *(f"/debs/{os.path.basename(package)}" for package in cls.packages))
        cls.node = cls.run_in("hostname").stdout.strip()
        cls.without_keys = {unit: cls.first_words(unit) for unit in ("musterd.service", "muster-agent.service")}
        cls.configure()
        cls.run_in("systemctl", "enable", "--now", "musterd.service", "muster-agent.service")

    @classmethod
    def first_words(cls, unit):
        """What the service says when it is started as it was installed, without keys."""
        cls.run_in("systemctl", "start", unit, check=False)
        said = cls.run_in("journalctl", "--no-pager", "--output=cat", f"--unit={unit}").stdout
        cls.run_in("systemctl", "stop", *UNITS[:3], check=False)
        cls.run_in("systemctl", "reset-failed")
        return said

    @classmethod
    def configure(cls):
        """As an operator would: keys for the daemons, MUNGE for the users, one of whom is ada."""
        cls.run_in("useradd", "--create-home", "ada")
        cls.run_in("systemctl", "start", "munge.service")
        keys = "/var/lib/muster/keys"
        for words in (("init",), ("agent", cls.node)):
            cls.run_in("runuser", "-u", "muster", "--", "muster", "keys", *words, "--keys", keys)
        cls.run_in("sh", "-c", f"install -D -m 0600 -t /etc/muster/keys {keys}/agents/{cls.node}/* && "
                   f"install -m 0644 {keys}/ca.pem /etc/muster/ca.pem")

    @classmethod
    def as_ada(cls, *command):
        return cls.run_in("runuser", "-u", "ada", "--", "env", "HOME=/home/ada", f"MUSTER_CONTROLLER={ADDRESS}", *command)

    @classmethod
    def run_in(cls, *command, **how):
        return cls.box.run(*command, **how)

    def main_pid(self, unit):
        return int(self.run_in("systemctl", "show", "--property=MainPID", "--value", unit).stdout)

    def is_active(self, unit):
        return self.run_in("systemctl", "is-active", unit, check=False).stdout.strip() == "active"

    def submit(self, name, script, *options, arguments=()):
        """Submits a job; its id."""
        path = os.path.join(self.root, "tree", "home/ada", name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(script)
        said = self.as_ada("muster", "submit", *options, f"/home/ada/{name}", *arguments).stdout
        return re.fullmatch(r"Submitted batch job (\d+)\n", said).group(1)

    def read(self, path):
        try:
            with open(os.path.join(self.root, "tree", path.lstrip("/")), encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def start_beat(self, path):
        """A job that counts into `path`, once it counts."""
        job = self.submit("beat.sh", BEAT, "-o", path, arguments=[path + ".enough"])
        wait_until(lambda: self.read(path), "the job does not begin")
        return job

    def end_of(self, job):
        def ended():
            jobs = json.loads(self.run_in("muster", "history", "--json").stdout)["jobs"]
            return next((found for found in jobs if str(found["id"]) == job), None)
        return wait_until(ended, f"job {job} does not end")

    def expect_whole_beat(self, job, path):
        """It counts until it is told to end, once, as one process, and nobody thinks otherwise."""
        self.run_in("touch", path + ".enough")
        end = self.end_of(job)
        self.assertEqual((end["state"], end["exit_code"]), ("COMPLETED", 0), end)
        lines = [line.split() for line in self.read(path).splitlines()]
        self.assertEqual([int(line[0]) for line in lines], list(range(1, len(lines) + 1)))
        self.assertEqual(len({line[1] for line in lines}), 1)

    def test_a_users_python_program_calls_the_controller_with_munge(self):
        call = "import muster; print(muster.submit(pow, 2, 10, output='/dev/null').result(60))"
        self.assertEqual(self.as_ada("python3", "-c", call).stdout, "1024\n")

    def test_without_keys_each_daemon_says_in_one_line_what_to_do(self):
        self.assertRegex(self.without_keys["musterd.service"],
                         r"(?m)^musterd: .*make keys, as muster: muster keys init --keys /var/lib/muster/keys$")
        self.assertRegex(self.without_keys["muster-agent.service"],
                         rf"(?m)^muster-agent: /etc/muster/keys/agent.key: .*\(muster keys agent {self.node}\)")

    def test_the_units_have_no_mistake_and_little_exposure(self):
        verified = self.run_in("systemd-analyze", "verify", "--man=no",
                               *(f"/lib/systemd/system/{unit}" for unit in UNITS))
        self.assertEqual(verified.stdout + verified.stderr, "")
        exposed = self.run_in("systemd-analyze", "security", "--no-pager", f"--threshold={EXPOSURE_MAX}",
                              "musterd.service", check=False)
        self.assertEqual(exposed.returncode, 0, exposed.stdout)

    def test_a_user_is_known_by_munge_and_the_job_is_theirs(self):
        path = "/home/ada/who"
        job = self.submit("who.sh", "#!/bin/sh\nid -un\ngrep ^0:: /proc/self/cgroup\n", "-o", path)
        self.assertEqual(self.end_of(job)["state"], "COMPLETED")
        user, group = self.read(path).splitlines()[:2]
        self.assertEqual(user, "ada")
        self.assertIn("/muster.slice/muster-jobs.service/muster-", group)
        refused = self.box.run("muster", "submit", "--wrap", "true", check=False)
        self.assertEqual(refused.returncode, 1, "root's own jobs, and the controller's, are not taken")
        self.assertRegex(refused.stderr, r"\A[^\n]*uid[^\n]*\n\Z")

    def test_a_job_has_a_tmp_of_its_own_which_goes_with_it(self):
        agent = os.path.join(self.root, "tree", "etc/muster/agent.toml")
        with open(agent, encoding="utf-8") as file:
            before = file.read()
        try:
            with open(agent, "w", encoding="utf-8") as file:
                file.write("private_tmp = true\n" + before)
            self.run_in("systemctl", "restart", "muster-agent.service")
            self.run_in("sh", "-c", "echo outside >/tmp/seen; echo outside >/dev/shm/seen")
            script = ("#!/bin/sh\nfor d in /tmp /dev/shm; do ls -A $d; echo inside >$d/mine; cat $d/mine; done\n"
                      "stat -c %a /tmp /dev/shm\n")
            job = self.submit("tmp.sh", script, "-o", "/home/ada/tmp")
            self.assertEqual(self.end_of(job)["state"], "COMPLETED", self.read("/home/ada/tmp"))
            self.assertEqual(self.read("/home/ada/tmp"), "inside\ninside\n1777\n1777\n")
            ran = self.as_ada("sh", "-c", "cd && muster run sh -c 'ls -A /tmp; echo ran'").stdout
            self.assertEqual(ran, "ran\n")
            self.assertNotEqual(self.run_in("ls", "/tmp/mine", check=False).returncode, 0)
            self.assertNotEqual(self.run_in("ls", "/dev/shm/mine", check=False).returncode, 0)
            wait_until(lambda: not os.path.exists(
                os.path.join(self.root, "tree", f"var/lib/muster-agent/attempts/{job}.1")), "its /tmp is left")
        finally:
            with open(agent, "w", encoding="utf-8") as file:
                file.write(before)
            self.run_in("systemctl", "restart", "muster-agent.service")

    def let_ada_log_in(self, *session):
        """Has sshd ask pam_muster.so, and open sessions by those lines."""
        self.run_in("sh", "-c", "cd /root && if [ ! -e .ssh/known_hosts ]; then mkdir -p -m 0700 .ssh && "
                    "ssh-keygen -q -t ed25519 -N '' -f .ssh/id_ed25519 && systemctl start ssh.service && "
                    "install -D -o ada -m 0644 .ssh/id_ed25519.pub /home/ada/.ssh/authorized_keys && "
                    "echo 127.0.0.1 $(cut -d ' ' -f 1,2 /etc/ssh/ssh_host_ed25519_key.pub) >.ssh/known_hosts; fi")
        with open(os.path.join(self.root, "tree/etc/pam.d/sshd"), "w", encoding="utf-8") as file:
            file.write("auth required pam_permit.so\naccount required pam_unix.so\naccount required pam_muster.so\n"
                       "session required pam_unix.so\n" + "".join(f"session {line}\n" for line in session))

    def log_in(self, *words):
        return self.run_in("ssh", "-o", "BatchMode=yes", "ada@127.0.0.1", *words, check=False)

    def test_who_has_no_job_does_not_get_in_by_ssh_and_a_session_ends_with_its_job(self):
        self.let_ada_log_in("required pam_muster.so")
        refused = self.log_in("echo in")
        self.assertEqual((refused.returncode, refused.stdout), (255, ""))
        self.assertIn(f"no job of yours runs on {self.node}; submit one: muster alloc -w {self.node}", refused.stderr)
        job = self.start_beat("/home/ada/held")
        said = self.log_in("grep ^0:: /proc/self/cgroup; echo $MUSTER_JOB_ID")
        self.assertRegex(said.stdout, rf"\A0::/muster.slice/muster-jobs.service/muster-\S+/{job}.1/sessions\n{job}\n\Z")
        self.run_in("systemd-run", "--unit=login", "ssh", "-o", "BatchMode=yes", "ada@127.0.0.1",
                    "trap '' TERM HUP; while :; do sleep 1; done")
        group = re.search(r"^0::(.*)$", said.stdout, re.MULTILINE).group(1)
        wait_until(lambda: self.run_in("pgrep", "-u", "ada", "-f", "while :; do sleep", check=False).stdout,
                   "the session does not begin")
        self.as_ada("muster", "cancel", job)
        self.assertEqual(self.end_of(job)["state"], "CANCELLED")
        self.assertNotEqual(self.run_in("test", "-d", f"/sys/fs/cgroup{group}", check=False).returncode, 0)
        wait_until(lambda: not self.is_active("login.service"), "the session outlives its job")

    def test_beside_logind_the_last_word_on_a_session_is_the_jobs(self):
        job = self.start_beat("/home/ada/beside")
        held = rf"\A0::/muster.slice/muster-jobs.service/muster-\S+/{job}.1/sessions\n"
        self.let_ada_log_in("optional pam_systemd.so", "required pam_muster.so")
        self.assertRegex(self.log_in("grep ^0:: /proc/self/cgroup").stdout, held)
        self.assertIn("pam_systemd is in this service", self.run_in("journalctl", "--no-pager", "-t", "sshd").stdout)
        # As the page says, that order is never right.
        self.let_ada_log_in("required pam_muster.so", "optional pam_systemd.so")
        self.assertRegex(self.log_in("grep ^0:: /proc/self/cgroup").stdout, r"\A0::/user.slice/")
        self.expect_whole_beat(job, "/home/ada/beside")

    def test_a_personal_cluster_is_a_service_of_its_users_systemd(self):
        uid = self.run_in("id", "-u", "ada").stdout.strip()
        self.run_in("loginctl", "enable-linger", "ada")
        self.addCleanup(self.run_in, "loginctl", "disable-linger", "ada")
        wait_until(lambda: self.run_in("test", "-S", f"/run/user/{uid}/systemd/private", check=False).returncode == 0,
                   "no systemd runs for ada")

        def as_user(words, **how):
            return self.run_in("runuser", "-u", "ada", "--", "env", "HOME=/home/ada", f"XDG_RUNTIME_DIR=/run/user/{uid}",
                               "sh", "-c", f"cd && exec {words}", **how)
        self.addCleanup(as_user, "muster down", check=False)
        self.assertIn("ready: 1 node", as_user("muster up --service").stdout)
        job = as_user("muster submit --parsable -o mine --wrap 'grep ^0:: /proc/self/cgroup; echo $$; "
                      "until [ -e enough ]; do sleep 0.1; done; exit 3'").stdout.strip()
        wait_until(lambda: self.read("/home/ada/mine").count("\n") == 2, lambda: as_user(f"muster show {job}").stdout)
        group, pid = self.read("/home/ada/mine").splitlines()
        self.assertRegex(group, rf"\A0::/user.slice/user-{uid}.slice/user@{uid}.service/app.slice/muster.service/\S+")

        def first():
            return int(as_user("systemctl --user show --property=MainPID --value muster.service").stdout)
        killed = first()
        os.kill(self.outer_pid(killed), 9)
        wait_until(lambda: first() not in (0, killed), "systemd does not start it again")
        wait_until(lambda: as_user("muster queue", check=False).returncode == 0, "it does not serve again")
        as_user("muster down")
        self.assertIn("no personal cluster runs", as_user("muster down", check=False).stderr)
        self.assertFalse(glob.glob(os.path.join(self.root, "tree/home/ada/.config/systemd/user/muster*")))
        self.run_in("test", "-d", f"/proc/{pid}")
        self.assertIn("ready: 1 node", as_user("muster up --service").stdout)
        self.run_in("touch", "/home/ada/enough")

        def end():
            jobs = json.loads(as_user("muster history --json").stdout)["jobs"]
            return next((found for found in jobs if str(found["id"]) == job), None)
        ended = wait_until(end, f"job {job} does not end")
        self.assertEqual((ended["state"], ended["exit_code"]), ("FAILED", 3), ended)

    def test_ready_means_serving(self):
        status = self.run_in("systemctl", "show", "--property=StatusText", "--value", "muster-agent").stdout
        self.assertRegex(status, r"^node \S+ of cluster muster$")
        self.assertRegex(self.run_in("muster", "nodes").stdout, r"\n\S+ +IDLE ")

    def test_an_agent_without_a_controller_is_not_ready(self):
        self.run_in("systemctl", "stop", "muster-agent.service")
        self.run_in("systemctl", "stop", "musterd.socket", "musterd.service")
        try:
            self.run_in("systemctl", "start", "--no-block", "muster-agent.service")

            def status():
                return self.run_in("systemctl", "show", "--property=StatusText", "--value", "muster-agent").stdout
            wait_until(lambda: f"waiting for the controller at {ADDRESS}" in status(), status)
            self.assertEqual(self.run_in("systemctl", "is-active", "muster-agent", check=False).stdout.strip(), "activating")
        finally:
            self.run_in("systemctl", "start", "musterd.socket", "musterd.service")
        wait_until(lambda: self.is_active("muster-agent"), "the agent is not ready with its controller")

    def test_no_job_notices_what_becomes_of_the_services(self):
        path = "/home/ada/beat"
        job = self.start_beat(path)
        supervisors = self.read_group("muster-daemons")
        self.run_in("systemctl", "restart", "muster-agent.service")
        os.kill(self.outer_pid(self.main_pid("muster-agent.service")), 9)
        wait_until(lambda: self.is_active("muster-agent.service"), "the agent is not started again")
        self.run_in("systemctl", "restart", "musterd.service")
        os.kill(self.outer_pid(self.main_pid("musterd.service")), 9)
        wait_until(lambda: self.is_active("musterd.service"), "the controller is not started again")
        before = self.main_pid("muster-agent.service")
        self.run_in("dpkg", "-i", *(f"/debs/{os.path.basename(package)}" for package in self.packages))
        wait_until(lambda: self.is_active("muster-agent.service"), "the new agent is not there")
        self.assertNotEqual(self.main_pid("muster-agent.service"), before, "the upgrade starts the new agent")
        self.run_in("systemctl", "daemon-reexec")
        self.assertEqual(self.read_group("muster-daemons"), supervisors)
        told = self.run_in("journalctl", "--no-pager", *(f"--unit={unit}" for unit in UNITS)).stdout
        self.assertNotIn("left-over process", told)
        self.expect_whole_beat(job, path)

    def read_group(self, name):
        found = self.run_in("cat", f"/sys/fs/cgroup/muster.slice/muster-jobs.service/{name}/cgroup.procs").stdout.split()
        self.assertTrue(found, "the keeper and the supervisors are there")
        # The agent's prepared supervisor owns no attempt: it comes and goes with its agent.
        return [pid for pid in found if "--prepared" not in self.run_in("cat", f"/proc/{pid}/cmdline").stdout]

    def outer_pid(self, inner):
        """Our number for a process of the container."""
        for path in glob.glob("/proc/[0-9]*/status"):
            try:
                with open(path, encoding="utf-8") as file:
                    numbers = re.search(r"^NSpid:\t(\d+)\t(\d+)$", file.read(), re.MULTILINE)
            except OSError:
                continue
            if numbers and int(numbers.group(2)) == inner and self.is_ours(numbers.group(1)):
                return int(numbers.group(1))
        raise AssertionError(f"no process {inner} in the container")

    def is_ours(self, pid):
        return os.readlink(f"/proc/{pid}/ns/pid") == os.readlink(f"/proc/{self.box.init}/ns/pid")

    def test_callers_wait_while_the_controller_is_away(self):
        self.run_in("systemctl", "stop", "musterd.service")
        self.assertFalse(self.is_active("musterd.service"))
        self.assertIn("NAME", self.run_in("muster", "nodes").stdout)
        # It answers a moment before it says that it is ready.
        wait_until(lambda: self.is_active("musterd.service"), "the first caller starts it")

    def test_a_controller_that_hangs_is_started_again(self):
        dropin = "/run/systemd/system/musterd.service.d"
        self.run_in("mkdir", "-p", dropin)
        self.run_in("sh", "-c", f"printf '[Service]\\nWatchdogSec=3\\n' > {dropin}/short.conf")
        try:
            self.run_in("systemctl", "daemon-reload")
            self.run_in("systemctl", "restart", "musterd.service")
            hung = self.main_pid("musterd.service")
            os.kill(self.outer_pid(hung), 19)
            wait_until(lambda: self.main_pid("musterd.service") not in (0, hung), "systemd does not notice")
            wait_until(lambda: self.is_active("musterd.service"), "it is not started again")
            told = self.run_in("journalctl", "--no-pager", "--unit=musterd.service").stdout
            self.assertIn("Watchdog timeout", told)
        finally:
            self.run_in("rm", "-r", dropin)
            self.run_in("systemctl", "daemon-reload")
            self.run_in("systemctl", "restart", "musterd.service")

    def test_reload_reads_the_configuration_again(self):
        path = os.path.join(self.root, "tree", "etc/muster/agent.toml")
        with open(path, encoding="utf-8") as file:
            packaged = file.read()
        before = self.main_pid("muster-agent.service")
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(packaged + 'features = ["fast"]\n')
            self.run_in("systemctl", "reload", "muster-agent.service", "musterd.service")
            wait_until(lambda: "fast" in self.run_in("muster", "nodes", "--json").stdout, "the feature is not there")
            with open(path, "w", encoding="utf-8") as file:
                file.write(packaged + "features = [7]\n")
            self.run_in("systemctl", "reload", "muster-agent.service")
            wait_until(lambda: re.search(r"SIGHUP: /etc/muster/agent.toml:\d+: features: .*the old settings stay in force",
                                         self.run_in("journalctl", "--no-pager", "--unit=muster-agent").stdout),
                       "the mistake is not told")
            self.assertIn("fast", self.run_in("muster", "nodes", "--json").stdout)
        finally:
            with open(path, "w", encoding="utf-8") as file:
                file.write(packaged)
            self.run_in("systemctl", "reload", "muster-agent.service")
        self.assertEqual(self.main_pid("muster-agent.service"), before)

    def test_the_journal_finds_the_lines_of_a_job(self):
        job = self.submit("gone.sh", "#!/bin/sh\nsleep 600\n", "-o", "/home/ada/gone")
        supervised = f"/var/lib/muster-agent/attempts/{job}.1/claim"
        wait_until(lambda: self.read(supervised), "the job does not begin")
        self.run_in("muster", "cancel", job)
        self.assertEqual(self.end_of(job)["state"], "CANCELLED")
        found = [json.loads(line) for line in
                 self.run_in("journalctl", "--no-pager", "--output=json", f"MUSTER_JOB={job}").stdout.splitlines()]
        self.assertTrue(any("ending the attempt" in entry["MESSAGE"] for entry in found), found)
        self.assertTrue(all(entry["PRIORITY"] in "3456" for entry in found), found)

    def test_what_the_controller_may_not_do_it_cannot(self):
        pid = str(self.main_pid("musterd.service"))
        status = self.run_in("cat", f"/proc/{pid}/status").stdout
        self.assertRegex(status, r"CapEff:\t0+\n")
        self.assertRegex(status, r"NoNewPrivs:\t1\n")
        self.assertRegex(status, r"Seccomp:\t2\n")
        self.assertEqual(self.run_in("stat", "--format=%U %a", "/run/muster/controller.sock").stdout, "muster 600\n")
        self.assertEqual(self.run_in("stat", "--format=%U %a", "/var/lib/muster").stdout, "muster 700\n")

    def test_what_is_installed_serves_the_command_line(self):
        for path in ("/usr/share/bash-completion/completions/muster", "/usr/share/man/man8/musterd.8",
                     "/usr/share/man/man1/muster-submit.1", "/usr/include/checkpoint/muster_checkpoint.h"):
            self.run_in("test", "-s", path)
        self.assertIn("stream", self.run_in("muster", "kernel", "list").stdout)


if __name__ == "__main__":
    unittest.main()
