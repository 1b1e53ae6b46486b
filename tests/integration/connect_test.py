"""Ways into a job for other programs: ssh, scp and rsync through muster connect, ports through muster forward."""

import os
import shlex
import shutil
import signal
import socket
import subprocess
import threading
import unittest

from cluster import WIDE, ClusterTest, program

SSH = shutil.which("ssh")
SSHD = shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


class ConnectTest(ClusterTest):
    """Two nodes of 64 cores to place on, whatever the machine has."""

    nodes = 2
    topology = WIDE

    def setUp(self):
        super().setUp()
        # Keys of the test's own, here and in its jobs.
        self.state = os.path.join(self.cluster.work, "keys")
        self.cluster.environment["XDG_STATE_HOME"] = self.state

    def proxy(self, *arguments):
        return "ProxyCommand=" + " ".join(map(str, self.cluster.command("connect", *arguments)))

    def running(self, *options):
        job = self.cluster.submit(*options, self.cluster.script("exec sleep 1000"))
        self.addCleanup(self.cluster.muster, "cancel", job)
        self.cluster.wait_state(job, "RUNNING")
        return job

    def refused(self, code, pattern, *arguments):
        with self.subTest(arguments=arguments):
            done = self.cluster.muster(*arguments)
            self.assertEqual(done.returncode, code, (done.stdout, done.stderr))
            self.assert_one_line(done.stderr)
            self.assertIn(pattern, done.stderr)

    def client(self, name, *arguments, **options):
        """One of ssh's programs, with the lines of muster connect --config."""
        config = os.path.join(self.cluster.work, "ssh_config")
        if not os.path.exists(config):
            with open(config, "w", encoding="utf-8") as file:
                file.write(self.cluster.must("connect", "--config") + "\n")
        return subprocess.run([name, "-F", config, *map(str, arguments)], env=self.cluster.environment,
                              cwd=self.cluster.work, capture_output=True, text=True, timeout=60, check=False, **options)

    # --host

    def elsewhere(self):
        """A machine to which ssh leads: this one, by an sshd of the test's own."""
        place = os.path.join(self.cluster.work, "elsewhere")
        os.mkdir(place)
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", os.path.join(place, name)], check=True)
        shutil.copy(os.path.join(place, "user.pub"), os.path.join(place, "authorized"))
        # A home of its own: what the user's own profile does for a shell from ssh may take long.
        muster = shlex.join([f"HOME={place}", f"PATH={os.path.dirname(program('muster'))}:{os.environ['PATH']}",
                             f"MUSTER_CONTROLLER={self.cluster.address}"])
        with open(os.path.join(place, "sshd_config"), "w", encoding="utf-8") as file:
            file.write(f"HostKey {place}/host\nAuthorizedKeysFile {place}/authorized\nStrictModes no\nUsePAM no\n"
                       f"PermitRootLogin yes\nSetEnv {muster}\n")
        with open(os.path.join(place, "ssh_config"), "w", encoding="utf-8") as file:
            file.write(f"Host box\n  ProxyCommand {SSHD} -i -f {place}/sshd_config\n  IdentityFile {place}/user\n"
                       "  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n")
        return {"MUSTER_SSH": f"ssh -F {place}/ssh_config", "MUSTER_CONTROLLER": "unix:/nowhere"}

    @unittest.skipUnless(SSH and SSHD, "SKIPPED: needs openssh-client and openssh-server")
    def test_a_verb_runs_on_another_machine_and_a_script_goes_along(self):
        os.makedirs("/run/sshd", exist_ok=True)
        environment = self.elsewhere()

        def on_box(*arguments):
            return subprocess.run([program("muster"), "--host", "box", *map(str, arguments)], cwd=self.cluster.work,
                                  env={**self.cluster.environment, **environment}, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=60, check=False)
        output = os.path.join(self.cluster.work, "said")
        script = self.cluster.script(f"echo \"$1\" >{output}")
        done = on_box("submit", "--parsable", "--wait", script, "it's two")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.cluster.wait_ended(int(done.stdout))[0]["state"], "COMPLETED")
        with open(output, encoding="utf-8") as file:
            self.assertEqual(file.read(), "it's two\n")
        done = on_box("run", "-n1", "sh", "-c", "exit 7")
        self.assertEqual(done.returncode, 7, done.stderr)
        done = on_box("submit", "no-such-script.sh")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no-such-script.sh", done.stderr)
        self.assert_one_line(done.stderr)

    # connect

    @unittest.skipUnless(SSH and SSHD, "SKIPPED: needs openssh-client and openssh-server")
    def test_ssh_lands_in_the_job_with_its_environment_and_code(self):
        job = self.running("-N", 2, "--export=ALL,DATA=of the \"job\" \\ here", "-J", "held")
        say = "echo \"$DATA|$MUSTER_JOB_ID|$MUSTER_NODE_NAME\"; cat; exit 7"
        done = self.client("ssh", f"muster-{job}", say, input="from here\n")
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (7, f"of the \"job\" \\ here|{job}|node1\nfrom here\n", ""))
        entered = self.client("ssh", f"muster-{job}", "cat /proc/self/cgroup").stdout.strip()
        self.assertEqual(os.path.dirname(entered),
                         os.path.dirname(self.cluster.must("exec", job, "--", "cat", "/proc/self/cgroup")))
        other = self.client("ssh", "-o", self.proxy("--node", "node2", job), "muster-last",
                            "echo $MUSTER_NODE_NAME")
        self.assertEqual(other.stdout, "node2\n")

    @unittest.skipUnless(SSH and SSHD, "SKIPPED: needs openssh-client and openssh-server")
    def test_files_go_in_and_out_and_only_the_callers_key_opens(self):
        job = self.running()
        data = os.urandom(3_000_000)
        with open(os.path.join(self.cluster.work, "sent"), "wb") as file:
            file.write(data)
        target = os.path.join(self.cluster.work, "there")
        sent = self.client("scp", "-q", "sent", f"muster-{job}:{target}")
        self.assertEqual((sent.returncode, sent.stderr), (0, ""))
        back = self.client("scp", "-q", f"muster-last:{target}", "back")
        self.assertEqual(back.returncode, 0, back.stderr)
        with open(os.path.join(self.cluster.work, "back"), "rb") as file:
            self.assertEqual(file.read(), data)
        if shutil.which("rsync"):
            synced = self.client("rsync", "-e", f"ssh -F {self.cluster.work}/ssh_config", "sent", f"muster-{job}:{target}2")
            self.assertEqual(synced.returncode, 0, synced.stderr)
        other = os.path.join(self.cluster.work, "other_key")
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", other], check=True)
        denied = self.client("ssh", "-o", f"IdentityFile={other}", "-o", "BatchMode=yes", "-F", "none", "-o",
                             self.proxy(job), "-o", "StrictHostKeyChecking=no",
                             "-o", "UserKnownHostsFile=/dev/null", "job", "true")
        self.assertEqual(denied.returncode, 255)
        self.assertIn("Permission denied", denied.stderr)
        state = os.path.join(self.state, "muster/connect")
        for name in os.listdir(state):
            self.assertFalse(name.startswith("run."), "the settings are gone")
        self.assertEqual(os.stat(f"{state}/id_ed25519").st_mode & 0o777, 0o600)
        self.assertEqual(os.stat(state).st_mode & 0o777, 0o700)

    def test_what_cannot_be_connected_is_one_line(self):
        job = self.running()
        self.refused(1, f"job {job}: --node: \"node9\" is none of its nodes", "connect", "--node", "node9", job)
        if not SSHD:
            self.refused(1, "node node1: has no sshd: install openssh-server", "connect", job)
        self.cluster.must("cancel", job)
        self.cluster.wait_ended(job)
        self.refused(1, f"job {job}: is CANCELLED; connect needs it running", "connect", f"muster-{job}")
        self.refused(1, "job 999: no such job", "connect", "muster-999")
        self.refused(1, "has no job of that name", "connect", "x")
        for arguments in (("connect",), ("connect", "--config", job), ("connect", "1x"), ("forward", job),
                          ("forward", job, "x"), ("forward", job, "0"), ("forward", job, "1:2:3:4"),
                          ("forward", job, "70000")):
            done = self.cluster.muster(*arguments)
            self.assertEqual(done.returncode, 2, (arguments, done.stderr))
            self.assert_one_line(done.stderr)

    # forward

    def serve(self, answer):
        """A port of loopback on which `answer(connection)` serves each caller."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def accept():
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=answer, args=(connection,), daemon=True).start()
        threading.Thread(target=accept, daemon=True).start()
        return listener.getsockname()[1]

    def forward(self, *arguments):
        forwards = self.cluster.begin("forward", *arguments)
        self.addCleanup(forwards.communicate)
        self.addCleanup(forwards.kill)
        line = forwards.stdout.readline()
        self.assertRegex(line, r"^127\.0\.0\.1:\d+ leads to ")
        return forwards, int(line.split()[0].rpartition(":")[2])

    def test_connections_go_into_the_job_at_once_and_end_each_way(self):
        def count(connection):
            with connection:
                total = 0
                while data := connection.recv(65536):
                    total += len(data)
                connection.sendall(f"{total} bytes".encode())  # after their end: the half that is open
        job = self.running()
        port = self.serve(count)
        forwards, local = self.forward(job, f"0:{port}")
        idle = socket.create_connection(("127.0.0.1", local))
        callers = [socket.create_connection(("127.0.0.1", local)) for _ in range(8)]
        for number, caller in enumerate(callers):
            caller.sendall(b"x" * (number * 300_000))
            caller.shutdown(socket.SHUT_WR)
        for number, caller in enumerate(callers):
            with caller:
                caller.settimeout(30)
                self.assertEqual(caller.recv(100), f"{number * 300_000} bytes".encode())
                self.assertEqual(caller.recv(100), b"")
        idle.close()
        forwards.send_signal(signal.SIGINT)
        _, err = forwards.communicate(timeout=30)
        self.assertEqual((forwards.returncode, err), (0, ""))
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", local))

    def test_who_reads_nothing_holds_up_nobody(self):
        def flood(connection):
            with connection:
                if connection.recv(1) == b"f":
                    connection.sendall(bytes(8_000_000))
                else:
                    connection.sendall(b"here")
        job = self.running()
        forwards, local = self.forward("--node", "node1", "last", f"0:localhost:{self.serve(flood)}")
        with socket.create_connection(("127.0.0.1", local)) as slow, \
                socket.create_connection(("127.0.0.1", local)) as quick:
            slow.sendall(b"f")
            quick.settimeout(30)
            quick.sendall(b"q")
            self.assertEqual(quick.recv(10), b"here")
            slow.settimeout(30)
            total = 0
            while data := slow.recv(1 << 20):
                total += len(data)
            self.assertEqual(total, 8_000_000)
        self.cluster.must("cancel", job)
        forwards.communicate(timeout=60)
        self.assertNotEqual(forwards.returncode, 0, "the job has ended")

    def test_a_port_that_cannot_be_forwarded_is_one_line(self):
        job = self.running()
        self.refused(1, f"job {job}: --node: \"node9\" is none of its nodes", "forward", "--node", "node9", job, "0:80")
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            self.refused(1, f"port {port} of this machine: Address already in use", "forward", job, port)
        self.refused(1, f"no program listens on 127.0.0.1:{port}: Connection refused", "forward", job, port)
        self.refused(1, "no program listens on nowhere.invalid:80: ", "forward", job, "0:nowhere.invalid:80")
        self.refused(1, "job 999: no such job", "forward", 999, 8888)


if __name__ == "__main__":
    unittest.main()
