"""A personal cluster that outlives its terminal: muster up --service where no systemd runs for the user, and muster down."""

import os
import signal
import subprocess
import tempfile
import unittest

import cluster
from cluster import PATIENCE, processes_with, program, wait_until


class UpServiceTest(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="mup")
        self.addCleanup(place.cleanup)
        self.place = place.name
        self.state = os.path.join(place.name, "state")
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": place.name, "MUSTER_STATE": self.state}
        self.environment.pop("MUSTER_CONTROLLER", None)
        self.addCleanup(self.muster, "down")

    def muster(self, *arguments):
        return subprocess.run([program("muster"), *arguments], cwd=self.place, env=self.environment, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False)

    def one_line(self, done, code):
        self.assertEqual(done.returncode, code, (done.stdout, done.stderr))
        self.assertRegex(done.stderr, r"\A[^\n]+\n\Z")
        return done.stderr

    def test_it_runs_on_until_it_is_stopped_and_its_jobs_do(self):
        up = self.muster("up", "--service", "--topology", cluster.WIDE)
        self.assertEqual(up.returncode, 0, up.stderr)
        self.assertIn("ready: 1 node", up.stdout)
        gate = os.path.join(self.place, "gate")
        os.mkfifo(gate)
        begun = os.path.join(self.place, "begun")
        job = self.muster("submit", "--parsable", "-o", "/dev/null", "--wrap", f"echo >{begun}; read -r x <{gate}; exit 3")
        self.assertEqual(job.returncode, 0, job.stderr)
        wait_until(lambda: os.path.exists(begun), lambda: self.muster("show", "last").stdout)
        self.assertIn("up.lock", self.one_line(self.muster("up", "--service"), 1))
        down = self.muster("down")
        self.assertEqual(down.returncode, 0, down.stderr)
        self.assertNotEqual(self.muster("queue").returncode, 0)
        self.assertIn("no personal cluster runs in", self.one_line(self.muster("down"), 1))
        self.assertEqual(self.muster("up", "--service", "--topology", cluster.WIDE).returncode, 0)
        with open(gate, "w", encoding="utf-8") as file:
            file.write("\n")
        wait_until(lambda: "FAILED" in self.muster("show", "last").stdout, lambda: self.muster("show", "last").stdout)

    def test_when_it_is_killed_its_daemons_stop_and_it_can_be_started_again(self):
        up = self.muster("up", "--service", "--topology", cluster.WIDE)
        self.assertEqual(up.returncode, 0, up.stderr)
        self.assertEqual(len(self.daemons()), 2)
        with open(os.path.join(self.state, "up.lock"), encoding="utf-8") as file:
            os.kill(int(file.read()), signal.SIGKILL)
        wait_until(lambda: not self.daemons(), self.daemons)
        again = self.muster("up", "--service", "--topology", cluster.WIDE)
        self.assertEqual(again.returncode, 0, again.stderr)

    def daemons(self):
        lines = processes_with(self.state, in_environment=False).values()
        return [line for line in lines if os.path.basename(line.split()[0]) in ("musterd", "muster-agent")]

    def test_what_cannot_be_started_is_told_in_a_line(self):
        config = os.path.join(self.place, "muster.toml")
        with open(config, "w", encoding="utf-8") as file:
            file.write("[policy]\nno_such_key = 1\n")
        self.assertIn("no_such_key", self.one_line(self.muster("up", "--service", "--config", "muster.toml"), 1))


if __name__ == "__main__":
    unittest.main()
