"""A notice in the terminal when a job has ended: muster tell, and submit --tell."""

import json
import os
import pty
import re
import select
import shutil
import subprocess
import time
import unittest

from cluster import PATIENCE, ClusterTest, processes_with, wait_until

DESKTOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "desktop.py")


class Screen:
    """A terminal whose screen the test reads."""

    def __init__(self, mode=0o620):
        self.master, self.slave = pty.openpty()
        os.fchmod(self.slave, mode)
        self.text = ""

    def close(self):
        for end in (self.master, self.slave):
            if end is not None:
                os.close(end)
        self.master = self.slave = None

    def until(self, pattern, patience=PATIENCE):
        until = time.monotonic() + patience
        while not re.search(pattern, self.text):
            ready, _, _ = select.select([self.master], [], [], max(0, until - time.monotonic()))
            if not ready:
                raise AssertionError(f"no {pattern!r} on the screen: {self.text!r}")
            self.text += os.read(self.master, 4096).decode()
        return self.text


class TellTest(ClusterTest):
    """One node."""

    def screen(self, mode=0o620):
        screen = Screen(mode)
        self.addCleanup(screen.close)
        return screen

    def at(self, screen, *words):
        """Runs the verb to its end at that terminal."""
        done = subprocess.run(
            self.cluster.command(*words), cwd=self.cluster.work, env=self.cluster.environment, stdin=screen.slave,
            stdout=screen.slave, stderr=screen.slave, timeout=PATIENCE, check=False)
        return done.returncode

    def held(self, *words):
        """A job that runs until its file is there; and that file."""
        go = os.path.join(self.cluster.work, f"go{time.monotonic_ns()}")
        return self.cluster.submit(*words, "--wrap", f"while ! test -e {go}; do sleep 0.05; done; exit 3"), go

    def release(self, go):
        with open(go, "w", encoding="utf-8"):
            pass

    def test_the_end_of_a_job_is_told_where_it_was_asked_for(self):
        job, go = self.held("--job-name", "train")
        screen = self.screen()
        self.assertEqual(self.at(screen, "tell", "train"), 0)
        screen.until(rf"job {job}: its end will be told here")
        self.release(go)
        screen.until(rf"\x07muster: job {job} \(train\) FAILED: exit code 3, after \d")
        wait_until(lambda: not processes_with("--waits", False), "the process that waited stays")

    def test_a_job_is_told_that_was_submitted_so(self):
        screen = self.screen()
        self.assertEqual(self.at(screen, "submit", "--tell", "--array", "0-2", "--wrap", "true"), 0)
        screen.until(r"Submitted batch job \d+")
        screen.until(r"muster: job \d+ \(wrap\) 3 COMPLETED")

    def test_an_end_that_was_quicker_than_who_waits_is_told(self):
        job = self.cluster.submit("--job-name", "quick", "--wrap", "true")
        self.cluster.wait_ended(job)
        screen = self.screen()
        self.assertEqual(self.at(screen, "tell", "--waits", job), 0)
        screen.until(rf"muster: job {job} \(quick\) COMPLETED")

    def test_a_terminal_that_lets_no_messages_in_gets_none(self):
        job, go = self.held()
        screen = self.screen(0o600)
        self.assertEqual(self.at(screen, "tell", job), 1)
        screen.until(r"muster tell: the terminal lets no messages in \(mesg n\)")
        os.fchmod(screen.slave, 0o620)
        self.assertEqual(self.at(screen, "tell", job), 0)
        screen.until("will be told here")
        os.fchmod(screen.slave, 0o600)
        self.release(go)
        wait_until(lambda: not processes_with("--waits", False), "the process that waited stays")
        while select.select([screen.master], [], [], 0.2)[0]:
            screen.text += os.read(screen.master, 4096).decode()
        self.assertNotIn("\x07", screen.text)

    def test_who_waits_goes_with_the_terminal(self):
        job, go = self.held()
        screen = self.screen()
        self.assertEqual(self.at(screen, "tell", job), 0)
        wait_until(lambda: processes_with("--waits", False), "nobody waits")
        screen.close()
        wait_until(lambda: not processes_with("--waits", False), "the process that waits stays")
        self.release(go)

    def test_what_cannot_be_told_is_refused_in_one_line(self):
        ended = self.cluster.submit("--wrap", "true")
        self.cluster.wait_ended(ended)
        for words, pattern, code in (((ended,), "has ended as COMPLETED", 1), (("999",), "job 999: no such job", 1),
                                     ((), "", 2)):
            screen = self.screen()
            self.assertEqual(self.at(screen, "tell", *words), code, words)
            screen.until(pattern)
        for words in (("tell", ended), ("submit", "--tell", "--wrap", "true")):
            done = self.cluster.muster(*words)
            self.assertEqual(done.returncode, 1)
            self.assertIn("there is no terminal here to tell", done.stderr)
            self.assert_one_line(done.stderr)


@unittest.skipUnless(shutil.which("notify-send") and shutil.which("dbus-daemon"), "notify-send or dbus is not installed")
class DesktopTest(ClusterTest):
    """A session with a bus and a notification service, as a desktop has them."""

    def setUp(self):
        super().setUp()
        self.bus = self.start("dbus-daemon", "--session", "--nofork", "--print-address=1")
        self.environment = {**self.cluster.environment, "DBUS_SESSION_BUS_ADDRESS": self.bus.stdout.readline().strip()}
        self.desktop = self.start("/usr/bin/python3", "-B", DESKTOP)
        self.assertEqual(self.desktop.stdout.readline().strip(), "ready")

    def shown(self):
        """The next notice that the desktop was given."""
        ready, _, _ = select.select([self.desktop.stdout], [], [], PATIENCE)
        self.assertTrue(ready, "nothing is shown")
        return json.loads(self.desktop.stdout.readline())

    def start(self, *words):
        environment = getattr(self, "environment", self.cluster.environment)
        process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def muster(self, *words, **environment):
        return subprocess.run(self.cluster.command(*words), cwd=self.cluster.work, env={**self.environment, **environment},
                              capture_output=True, text=True, timeout=PATIENCE, check=False)

    def test_a_job_that_ended_is_shown_on_the_desktop_from_which_it_was_submitted(self):
        made = self.muster("submit", "--parsable", "--job-name", "train", "--notify=desktop", "--wrap", "exit 3")
        self.assertEqual(made.returncode, 0, made.stderr)
        shown = self.shown()
        self.assertEqual(shown["program"], "Muster")
        self.assertRegex(shown["body"], rf"^muster: job {made.stdout.strip()} \(train\) FAILED: exit code 3, after \d")
        wait_until(lambda: not processes_with("--waits", False), "the process that waited stays")

    def test_a_job_of_before_is_shown_when_it_is_asked_for(self):
        job = self.cluster.submit("--hold", "--wrap", "true")
        told = self.muster("tell", "--desktop", job)
        self.assertIn("will be told on the desktop", told.stdout)
        self.cluster.must("release", job)
        self.assertIn(f"job {job}", self.shown()["body"])

    def test_without_a_desktop_nothing_is_submitted(self):
        before = len(self.cluster.queue())
        for words, environment, reason in (
                (("submit", "--notify=desktop", "--wrap", "true"), {"DBUS_SESSION_BUS_ADDRESS": "", "XDG_RUNTIME_DIR": ""},
                 "no session bus"),
                (("submit", "--notify=desktop", "--wrap", "true"), {"PATH": "/nowhere"}, "libnotify-bin"),
                (("run", "--notify=desktop", "true"), {}, "is for muster submit"),
                (("tell", "--desktop", "999"), {}, "no such job")):
            refused = self.muster(*words, **environment)
            self.assertNotEqual(refused.returncode, 0, words)
            self.assertIn(reason, refused.stderr)
            self.assert_one_line(refused.stderr)
        self.assertEqual(len(self.cluster.queue()), before)


if __name__ == "__main__":
    unittest.main()
