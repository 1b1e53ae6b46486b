"""muster dev: sessions with a server and with a shell, left, come back to, idle and held, on a real cluster."""

import datetime
import fcntl
import json
import os
import pty
import re
import signal
import struct
import termios
import time
import unittest
import urllib.error
import urllib.request

from cluster import WIDE, Cluster, ClusterTest, program, wait_until
from containers_test import Images
from steps_test import read_some

# A server that asks for its token.
SERVER = """#!/usr/bin/env python3
# purpose: answers who asks well
# url: /first?token={token}
#MUSTER --job-name=answers
import http.server, os

class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        known = self.path == "/first?token=" + os.environ["MUSTER_DEV_TOKEN"]
        self.send_response(200 if known else 403)
        self.end_headers()
        self.wfile.write(("job " + os.environ["MUSTER_JOB_ID"]).encode() if known else b"who?")

http.server.HTTPServer(("127.0.0.1", int(os.environ["MUSTER_DEV_PORT"])), Answers).serve_forever()
"""


def open_terminal(cluster, *arguments):
    """A visit on a terminal: its pid and our end."""
    pid, ours = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        os.chdir(cluster.work)
        os.execve(program("muster"), cluster.command("dev", *arguments), {**cluster.environment, "TERM": "vt100"})
    return pid, ours


class DevTest(ClusterTest):
    """One node of 64 cores to place on, whatever the machine has."""

    topology = WIDE

    def setUp(self):
        super().setUp()
        config = os.path.join(self.cluster.work, "config")
        os.makedirs(os.path.join(config, "muster", "dev"), exist_ok=True)
        self.cluster.environment["XDG_CONFIG_HOME"] = config
        self.cluster.environment["SHELL"] = "/bin/sh"
        self.template("answers", SERVER)

    def template(self, name, text):
        with open(os.path.join(self.cluster.environment["XDG_CONFIG_HOME"], "muster", "dev", name), "w",
                  encoding="utf-8") as file:
            file.write(text)

    def file(self, name, body):
        """A template of a file's own."""
        path = os.path.join(self.cluster.work, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + body)
        return path

    def job(self, number):
        return json.loads(self.cluster.must("show", "--json", number))["jobs"][0]

    def newest(self):
        return max(self.cluster.queue(), default=0)

    def begin(self, *arguments):
        """A visit that has said its URL: the process and the URL."""
        visit = self.cluster.begin("dev", *arguments)
        self.addCleanup(lambda: (visit.kill(), visit.communicate()))
        url = visit.stdout.readline().strip()
        self.assertRegex(url, r"^http://127\.0\.0\.1:[0-9]+/first\?token=[0-9a-f]{32}$", url or visit.stderr.read())
        return visit, url

    @staticmethod
    def get(url):
        with urllib.request.urlopen(url, timeout=30) as answer:
            return answer.read().decode()

    def terminal(self, *arguments):
        return open_terminal(self.cluster, *arguments)

    def refused(self, code, pattern, *arguments):
        with self.subTest(arguments=arguments):
            done = self.cluster.muster("dev", *arguments)
            self.assertEqual(done.returncode, code, (done.stdout, done.stderr))
            self.assert_one_line(done.stderr)
            self.assertIn(pattern, done.stderr)

    # A server

    def test_a_server_is_reached_by_its_url_left_and_reached_again(self):
        visit, url = self.begin("answers", "--idle-timeout=none")
        job = self.newest()
        self.assertEqual(self.get(url), f"job {job}")
        self.assertEqual(self.job(job)["name"], "answers")
        with self.assertRaises(urllib.error.HTTPError) as refused:
            self.get(re.sub("token=.*", "token=guess", url))
        self.assertEqual(refused.exception.code, 403)
        refused.exception.close()
        # The token is in nothing that the controller keeps.
        token = url.rpartition("=")[2]
        self.assertNotIn(token, self.cluster.must("show", "--json", job))
        visit.send_signal(signal.SIGINT)
        _, err = visit.communicate(timeout=60)
        self.assertEqual(visit.returncode, 0, err)
        self.assertIn(f"job {job} goes on; muster dev {job} comes back to it", err)
        self.assertEqual(self.job(job)["state"], "RUNNING")

        visit, again = self.begin("last")
        self.assertEqual(again.rpartition("=")[2], token)
        self.assertEqual(self.get(again), f"job {job}")
        self.cluster.must("cancel", job)
        _, err = visit.communicate(timeout=120)
        self.assertEqual(visit.returncode, 1, err)
        self.assertIn(f"job {job} has ended: CANCELLED", err)
        self.assertEqual([name for name in os.listdir("/tmp") if re.fullmatch(f"muster-dev-.*-{job}", name)], [])

    def test_a_server_that_ends_at_once_is_told_of(self):
        visit = self.cluster.begin("dev", self.file("broken", "echo no such server >&2\nexit 127\n"))
        _, err = visit.communicate(timeout=120)
        self.assertEqual(visit.returncode, 1, err)
        job = re.search(r"job ([0-9]+) has ended: FAILED", err)
        self.assertIsNotNone(job, err)
        self.assertIn("no such server", self.cluster.must("logs", job[1]))

    # Idle

    def test_an_idle_session_ends_and_one_that_computes_does_not(self):
        idle = int(self.cluster.must("dev", "answers", "--detach", "--idle-timeout=4s", "-o", "idle.txt"))
        works = self.file("busy", "end=$(($(date +%s) + 12))\nwhile [ $(date +%s) -lt $end ]; do :; done\n"
                                  "exec sleep 1000\n")
        # It never listens, so it cannot be visited; it is kept all the same.
        busy = int(self.cluster.must("dev", works, "--detach", "--idle-timeout=4s"))
        self.cluster.wait_ended(idle, busy)
        self.assertEqual(self.job(idle)["state"], "COMPLETED")
        self.assertEqual(self.job(busy)["state"], "COMPLETED")
        self.assertIn("muster dev: idle for 0:00:04; the session ends", self.cluster.must("logs", idle))

        attempt = json.loads(self.cluster.must("show", "--json", busy))["jobs"][0]["attempts"][-1]
        self.assertGreaterEqual(self.took(attempt), 14)

    @staticmethod
    def took(attempt):
        begin, end = (datetime.datetime.fromisoformat(attempt[key].replace("Z", "+00:00"))
                      for key in ("start_time", "end_time"))
        return (end - begin).total_seconds()

    def test_one_that_is_held_when_idle_waits_and_goes_on(self):
        job = int(self.cluster.must("dev", "answers", "--detach", "--idle-timeout=4s", "--when-idle=hold"))

        def held():
            view = self.job(job)
            return view["state"] == "PENDING" and "Held" in view["reason"]["kind"]
        wait_until(held, lambda: self.job(job))
        time.sleep(1)
        self.assertEqual(self.job(job)["state"], "PENDING")
        self.cluster.must("release", job)
        visit, url = self.begin(job)
        self.assertEqual(self.get(url), f"job {job}")
        self.cluster.must("cancel", job)
        visit.communicate(timeout=120)

    # A shell

    def test_a_shell_ends_its_session_when_it_is_left(self):
        pid, ours = self.terminal("--idle-timeout=none")
        try:
            # Keys that are typed before the shell is there are not lost.
            os.write(ours, b"echo in-$MUSTER_JOB_ID-$((2+2)); stty size\n")
            said = read_some(ours, "30 100", patience=120)
            self.assertIn("30 100", said)
            job = self.newest()
            self.assertIn(f"in-{job}-4", said)
            os.write(ours, b"exit 3\n")
            read_some(ours, "\0", patience=30)
            _, status = os.waitpid(pid, 0)
            self.assertEqual(os.waitstatus_to_exitcode(status), 3)
        finally:
            os.close(ours)
        self.cluster.wait_ended(job)
        self.assertEqual(self.job(job)["state"], "COMPLETED")

    def test_a_lost_terminal_leaves_the_session_and_keys_keep_it(self):
        pid, ours = self.terminal("--idle-timeout=40s")
        os.write(ours, b"echo in-$((2+2))\n")
        self.assertIn("in-4", read_some(ours, "in-4", patience=120))
        job = self.newest()
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(ours)
        pid, ours = self.terminal(job)
        try:
            begun = time.monotonic()
            while time.monotonic() < begun + 60:
                os.write(ours, b":\n")
                read_some(ours, "\0", patience=2)
            os.write(ours, b"echo still-$((2+2))\n")
            self.assertIn("still-4", read_some(ours, "still-4", patience=60))
            self.assertEqual(self.job(job)["state"], "RUNNING")
            self.cluster.wait_ended(job)  # now no key is typed
        finally:
            os.close(ours)
            os.waitpid(pid, 0)
        self.assertEqual(self.job(job)["state"], "COMPLETED")

    # Refusals

    def test_what_cannot_be_is_refused_in_a_line(self):
        self.refused(1, "no template \"anwsers\"; there are answers, jupyter, shell", "anwsers")
        self.refused(2, "--idle-timeout: \"soon\" is no time", "answers", "--idle-timeout=soon")
        self.refused(2, "--when-idle: \"sleep\" is neither end nor hold", "answers", "--when-idle=sleep")
        self.refused(2, "--local-port: \"0\" is no port", "answers", "--local-port=0")
        self.refused(1, "a shell needs a terminal", "shell")
        self.refused(1, "job 999: no such job", 999)
        job = self.cluster.submit(self.cluster.script("exec sleep 1000"))
        self.addCleanup(self.cluster.muster, "cancel", job)
        self.cluster.wait_state(job, "RUNNING")
        done = self.cluster.muster("dev", job, patience=120)
        self.assertEqual(done.returncode, 1)
        self.assertIn("the job is no session of muster dev", done.stderr)

    def test_templates_are_listed_with_where_they_are(self):
        listed = self.cluster.must("dev", "--templates").splitlines()
        self.assertEqual(listed[0], "answers: answers who asks well (" + os.path.join(
            self.cluster.environment["XDG_CONFIG_HOME"], "muster", "dev", "answers") + ")")
        self.assertEqual([line.partition(":")[0] for line in listed], ["answers", "jupyter", "shell"])


class ContainedDevTest(Images):
    """One node, as this machine is."""

    @classmethod
    def make(cls):
        return Cluster().start()

    def test_a_sessions_server_is_in_its_container_and_its_keeper_is_not(self):
        server = os.path.join(self.cluster.work, "httpd")
        with open(server, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n# url: /inside\nexec busybox httpd -f -p 127.0.0.1:$MUSTER_DEV_PORT -h /srv\n")
        before = set(self.cluster.history())
        for image, why in (("no image", '"no image" is no image'), (f"oci:{self.place}/oci:v2", "is for sparc"),
                           (f"{self.place}/none.sqsh", "cannot read")):
            done = self.cluster.muster("dev", server, "--image", image)
            self.assertIn(why, done.stderr)
            self.assert_one_line(done.stderr)
        self.assertEqual(set(self.cluster.history()), before)
        visit = self.cluster.begin("dev", server, "--idle-timeout=10s", "--image", self.oci)
        self.addCleanup(lambda: (visit.kill(), visit.communicate()))
        url = visit.stdout.readline().strip()
        self.assertTrue(url, visit.communicate()[1] if not url else "")
        with urllib.request.urlopen(url, timeout=30) as answer:
            self.assertEqual(answer.read(), b"inside\n")
        _, err = visit.communicate(timeout=120)
        self.assertIn("has ended: COMPLETED", err)

    def shown(self, job):
        (one,) = json.loads(self.cluster.must("show", job, "--json"))["jobs"]
        return one

    def test_a_shell_is_in_its_container_and_so_is_the_next(self):
        job = int(self.cluster.must("dev", "--detach", "--idle-timeout=none", "--image", self.oci))
        self.addCleanup(self.cluster.muster, "cancel", job)
        self.cluster.wait_state(job, "RUNNING")
        for number in (1, 2):
            pid, ours = open_terminal(self.cluster, job)
            try:
                os.write(ours, f"cat /srv/inside; echo shell-$(({number}+10)) $OF_IMAGE\n".encode())
                said = read_some(ours, f"shell-{number + 10} yes", patience=60)
                self.assertIn("inside", said)
            finally:
                os.close(ours)  # the connection goes; the session stays
                os.waitpid(pid, 0)
            self.assertEqual(self.shown(job)["state"], "RUNNING")
        pid, ours = open_terminal(self.cluster, job)
        os.write(ours, b"exit\n")
        os.waitpid(pid, 0)
        os.close(ours)
        (end,) = self.cluster.wait_ended(job)
        self.assertEqual(end["state"], "COMPLETED")

    def test_a_session_with_an_image_waits_for_a_node_that_runs_containers(self):
        job = int(self.cluster.must("dev", "--detach", "--image", self.oci))
        self.assertIn("containers", json.dumps(self.shown(job)))
        self.cluster.must("cancel", job)
        self.cluster.wait_ended(job)


if __name__ == "__main__":
    unittest.main()
