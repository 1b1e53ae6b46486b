"""muster run --profile: perf as it is here, and small programs of the other tools' names."""

import json
import os
import shutil
import subprocess
import unittest

from cluster import BIN, KERNELS, WIDE, ClusterTest


def why_no_perf():
    if not shutil.which("perf"):
        return "NO perf HERE (Debian: linux-perf)"
    tried = subprocess.run(["perf", "record", "-q", "-o", "/dev/null", "--", "true"], capture_output=True, text=True,
                           check=False)
    return "perf CANNOT MEASURE HERE: " + tried.stderr.strip() if tried.returncode else None


class ProfileTest(ClusterTest):
    """muster run --profile, on one node."""

    topology = WIDE

    @unittest.skipIf(why_no_perf(), why_no_perf() or "")
    def test_perf_has_a_file_of_each_rank_and_the_exit_code_is_the_ranks(self):
        spin = "i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; exit $MUSTER_PROCID"
        done = self.cluster.muster("run", "-n", 2, "--profile=perf", "sh", "-c", spin)
        self.assertEqual(done.returncode, 1, done.stderr)
        job = self.cluster.newest()
        for rank in (0, 1):
            path = os.path.join(self.cluster.work, f"perf-{job}.1.{rank}.data")
            report = subprocess.run(["perf", "report", "-i", path, "--stdio", "--sort", "comm"], capture_output=True,
                                    text=True, check=True, stdin=subprocess.DEVNULL).stdout
            self.assertRegex(report, r"(?m)^ +\d+\.\d+%.*\bsh\b")

    @unittest.skipIf(why_no_perf(), why_no_perf() or "")
    def test_an_mpi_program_finds_its_ranks_under_perf(self):
        heat = ["env", "LSAN_OPTIONS=detect_leaks=0", os.path.join(KERNELS, "heat2d"), "--n", "100", "--steps", "20"]
        done = self.cluster.muster("run", "-n", 2, "--profile=perf", *heat, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["ranks"], 2)

    def tools(self, *names):
        """A PATH with small programs of these names before the rest: each writes its words to its output's file."""
        place = os.path.join(self.cluster.work, "tools")
        os.makedirs(place, exist_ok=True)
        for name in names:
            path = os.path.join(place, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\nfor w in \"$@\"; do case $w in --output=*) o=${w#--output=}; esac; done\n"
                           "echo \"$*\" >\"$o.nsys-rep\"\nshift 3\nexec \"$@\"\n")
            os.chmod(path, 0o755)
        return {"PATH": place + ":" + self.cluster.environment["PATH"]}

    def test_steps_of_a_job_have_files_of_their_own(self):
        # No Nsight Systems is needed: a program of its name stands for it, and is really run.
        script = self.cluster.script("\n".join(
            [f"{BIN}/muster run -n 2 --profile=nsys sh -c 'echo rank $MUSTER_PROCID' >>said"] * 2 + ["finish 0"]))
        job = self.cluster.submit("-n", 2, script, environment=self.tools("nsys"))
        self.cluster.wait_ended(job)
        self.assertEqual(sorted(self.read("said").split("\n")), ["", *["rank 0"] * 2, *["rank 1"] * 2])
        for step in (1, 2):
            for rank in (0, 1):
                name = f"nsys-{job}.{step}.{rank}"
                self.assertEqual(self.read(name + ".nsys-rep"),
                                 f"profile --force-overwrite=true --output={self.cluster.work}/{name} "
                                 f"{shutil.which('sh')} -c echo rank $MUSTER_PROCID\n")
        (shown,) = json.loads(self.cluster.must("show", job, "--json"))["jobs"]
        self.assertEqual([step["name"] for step in shown["steps"] if step["step"] in (1, 2)], ["sh", "sh"])

    def test_a_tool_that_is_not_installed_is_refused_before_the_start(self):
        before = len(self.cluster.history())
        done = self.cluster.muster("run", "--profile=ncu", "/bin/true", environment={"PATH": "/nowhere"})
        self.assertEqual((done.returncode, done.stderr),
                         (1, "muster run: --profile=ncu: ncu is not installed: install it, or add its directory to "
                             "PATH\n"))
        done = self.cluster.muster("run", "--profile=gdb", "true")
        self.assertEqual(done.returncode, 2)
        self.assert_one_line(done.stderr)
        self.assertEqual(len(self.cluster.history()), before)
        self.assertEqual(self.cluster.queue(), {})
