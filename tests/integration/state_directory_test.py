"""What becomes of a cluster whose state directory is full, read-only, or in use by another."""

import os
import re
import shutil
import socket
import subprocess
import unittest

from cluster import Cluster, ClusterTest, PATIENCE, program, start_up, wait_until
from secured import OneUsersCluster

ROOT = os.geteuid() == 0


def mount(directory):
    """Whether a small file system of its own could be mounted on `directory`."""
    return subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m,mode=0700", "tmpfs", directory],
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


@unittest.skipUnless(ROOT, "NOT ROOT: no small file system can be mounted to fill it up")
class FullDirectoryTest(unittest.TestCase):
    """The state directory on a file system of 8 MiB."""

    def setUp(self):
        self.cluster = Cluster()
        if not mount(self.cluster.root):
            self.cluster.close(check=False)
            self.skipTest("NO MOUNT HERE (a container without CAP_SYS_ADMIN): cannot fill a disk")
        self.addCleanup(self.finish)
        os.makedirs(os.path.join(self.cluster.state, "log"), mode=0o700)
        os.makedirs(os.path.join(self.cluster.state, "agents", "node1"), mode=0o700)
        self.filler = os.path.join(self.cluster.root, "filler")
        self.cluster.start()

    def finish(self):
        try:
            self.free()
            self.cluster.close()
        finally:
            subprocess.run(["umount", "-l", self.cluster.root], check=False)
            shutil.rmtree(self.cluster.root)

    def fill(self):
        with open(self.filler, "ab", buffering=0) as file:
            for size in (65536, 4096, 1):
                try:
                    while file.write(b"x" * size):
                        pass
                except OSError:
                    pass

    def free(self):
        if os.path.exists(self.filler):
            os.unlink(self.filler)

    def refused(self):
        """Fills what is left and submits until a submission is refused; what it said."""
        for _ in range(200):
            self.fill()
            done = self.cluster.muster("submit", "-o", "/dev/null", "--hold", "--comment",
                                       "c" * 200, "--wrap", "true # " + "x" * 20000)
            if done.returncode != 0:
                return done
        raise AssertionError("200 submissions of 20 kB were taken on a full file system")

    def test_submissions_are_refused_in_one_line_and_running_jobs_survive(self):
        cluster = self.cluster
        job = cluster.submit("-o", "/dev/null",
                             cluster.script(cluster.gate() + "\nfinish 6"))
        wait_until(lambda: job in cluster.begun(), "the job did not begin")
        done = self.refused()
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, r"\A[^\n]+\n\Z")
        self.assertRegex(done.stderr, r"(?i)full|no space")
        cluster.open_gate(lambda: job in cluster.ended_by_themselves())
        self.assertEqual(cluster.ended_by_themselves()[job], 6)
        self.free()
        self.revive()
        (row,) = cluster.wait_ended(job)
        self.assertEqual((row["state"], row["exit_code"]), ("FAILED", 6))
        cluster.begun()
        again = cluster.submit("-o", "/dev/null", "--wrap", "exit 2")
        (row,) = cluster.wait_ended(again)
        self.assertEqual((row["state"], row["exit_code"]), ("FAILED", 2), (row, cluster.logs()))

    def revive(self):
        """A daemon that chose to end rather than to lie is started again, as `up` would."""
        for daemon in [self.cluster.controller, *self.cluster.agents]:
            if daemon.process.poll() is not None:
                self.assertIn("space", daemon.last_words().lower() + " full")
                daemon.start()


class RefusalTest(unittest.TestCase):
    """Daemons that must not start, and what they say."""

    def refuse(self, cluster, arguments, user=None):
        """The one line with which a program refuses, after what it logged before."""
        done = subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.PIPE, timeout=PATIENCE, env=cluster.environment,
                              user=user, group=user, extra_groups=[] if user else None, cwd="/")
        self.assertIn(done.returncode, (1, 2), done)
        self.assertEqual(done.stdout, "")
        said = re.sub(r"(?m)^\d{4}-\d\d-\d\dT\S+ (info|warn)  .*\n", "", done.stderr)
        self.assertRegex(said, r"\A[^\n]+\n\Z")
        return said

    def cluster(self):
        cluster = Cluster()
        self.addCleanup(cluster.close, check=False)
        return cluster

    def test_a_directory_that_cannot_be_written_is_refused_in_one_line(self):
        cluster = self.cluster()
        place = os.path.join(cluster.root, "readonly")
        os.mkdir(place, mode=0o500)
        user = None
        if ROOT:
            user = 65534
            os.chmod(cluster.root, 0o755)
            os.chown(place, user, user)
            if subprocess.run([program("musterd"), "--help"], user=user, check=False, cwd="/",
                              stdout=subprocess.DEVNULL).returncode != 0:
                self.skipTest("THE PROGRAMS LIE WHERE ONLY ROOT CAN REACH THEM")
        for command in ([program("musterd"), "--state", place],
                        [program("muster"), "up", "--state", place],
                        [program("musterd"), "--state", place + "/below"]):
            with self.subTest(command=command[1:]):
                line = self.refuse(cluster, command, user)
                self.assertIn(place, line)
                self.assertRegex(line, r"(?i)permission denied|read-only|cannot")

    def test_a_second_up_on_one_directory_is_refused_and_names_the_first(self):
        cluster = self.cluster()
        start_up(cluster)
        line = self.refuse(cluster, cluster.command("up"))
        self.assertIn(str(cluster.up.pid), line)
        (controller,) = cluster.daemons_of_up("musterd")
        line = self.refuse(cluster, [program("musterd"), "--state", cluster.state])
        self.assertIn(str(controller), line)
        job = cluster.submit("--wrap", "exit 4")
        self.assertEqual(cluster.wait_ended(job)[0]["exit_code"], 4)

    def test_a_second_agent_on_one_directory_is_refused(self):
        cluster = self.cluster()
        cluster.start()
        line = self.refuse(cluster, [program("muster-agent"), *cluster.agents[0].arguments])
        self.assertIn(str(cluster.agents[0].process.pid), line)

    def test_without_keys_a_controller_listens_on_no_tcp_address(self):
        cluster = self.cluster()
        for address in ("0.0.0.0:7117", "[::]:7117", "192.0.2.1:7117", "127.0.0.1:0", "[::1]:0", "localhost:0",
                        "127.evil.example:7117"):
            with self.subTest(address=address):
                line = self.refuse(cluster, [program("musterd"), "--state", cluster.state,
                                             "--listen", address])
                self.assertIn(address, line)
                self.assertIn("muster keys init", line)
        line = self.refuse(cluster, cluster.command("up", "--listen", "127.0.0.1:7117"))
        self.assertIn("muster keys init", line)

    def test_without_keys_an_agent_calls_no_tcp_address(self):
        cluster = self.cluster()
        with socket.create_server(("127.0.0.1", 0)) as fake:
            port = fake.getsockname()[1]
            for host in ("192.0.2.1", "127.0.0.1", "localhost", "127.evil.example"):
                with self.subTest(host=host):
                    line = self.refuse(cluster, [program("muster-agent"), "--state", cluster.state + "/a", "--name", "n7",
                                                 "--controller", f"{host}:{port}"])
                    self.assertIn("muster keys agent n7", line)
            fake.settimeout(0.2)
            self.assertRaises(TimeoutError, fake.accept)

    def test_without_anybody_to_trust_the_command_line_says_nothing_over_tcp(self):
        cluster = self.cluster()
        with socket.create_server(("127.0.0.1", 0)) as fake:
            port = fake.getsockname()[1]
            for host in ("127.0.0.1", "localhost", "127.evil.example"):
                with self.subTest(host=host):
                    line = self.refuse(cluster, [program("muster"), "submit", "--controller", f"{host}:{port}",
                                                 "--wrap", "echo secret"])
                    self.assertIn("MUSTER_KEYS", line)
            fake.settimeout(0.2)
            self.assertRaises(TimeoutError, fake.accept)


class TcpTest(ClusterTest):
    """Agents and clients over TCP on this machine, with keys."""

    nodes = 2 if len(os.sched_getaffinity(0)) > 1 else 1

    @classmethod
    def make(cls):
        return OneUsersCluster(nodes=cls.nodes).start()

    def test_agents_and_clients_work_over_tcp(self):
        done = self.cluster.over_tcp("submit", "--wait", "--parsable", "--wrap", "exit 5")
        self.assertEqual(done.returncode, 5, done.stderr)
        (row,) = self.cluster.wait_ended(int(done.stdout))
        self.assertEqual(row["exit_code"], 5)

    def test_a_run_works_over_tcp(self):
        done = self.cluster.over_tcp("run", "-n", str(self.nodes), "--label", "echo", "here")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(done.stdout.splitlines()),
                         [f"{rank}: here" for rank in range(self.nodes)])

    def test_agents_come_back_to_a_controller_that_was_killed(self):
        self.cluster.controller.kill()
        self.cluster.controller.start()
        done = self.cluster.over_tcp("submit", "--wait", "--wrap", "exit 6")
        self.assertEqual(done.returncode, 6, done.stderr)


if __name__ == "__main__":
    unittest.main()
