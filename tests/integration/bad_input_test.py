"""Bad input gets one line that says what and where, exit 2 or 1, and the cluster goes on."""

import os
import subprocess
import unittest

from cluster import ClusterTest, program

LONG = "x" * (100 * 1024)  # the kernel passes no argument longer than 128 KiB

# Arguments of `muster`, the exit code, and what the one line has to say.
TABLE = [
    (["submit", "--no-such-option", "--wrap", "true"], 2, r"--no-such-option"),
    (["no-such-verb"], 2, r"no-such-verb"),
    (["submit", "-n", "0", "--wrap", "true"], 2, r"--ntasks.*0"),
    (["submit", "-n", "-1", "--wrap", "true"], 2, r"--ntasks.*-1"),
    (["submit", "-n", "1e3", "--wrap", "true"], 2, r"--ntasks.*1e3"),
    (["submit", "-N", "3-2", "--wrap", "true"], 2, r"--nodes.*3-2"),
    (["submit", "--mem=10Q", "--wrap", "true"], 2, r"--mem.*10Q"),
    (["submit", "--mem=-1", "--wrap", "true"], 2, r"--mem.*-1"),
    (["submit", "-t", "99:99:99:99", "--wrap", "true"], 2, r"--time.*99:99:99:99"),
    (["submit", "-a", "9-0", "--wrap", "true"], 2, r"--array.*9-0"),
    (["submit", "-a", "0-4294967295", "--wrap", "true"], 2, r"--array"),
    (["submit", "-G", str(2 ** 63), "--wrap", "true"], 2, r"--gpus.*9223372036854775808"),
    (["submit", "-G", str(2 ** 64 + 1), "--wrap", "true"], 2, r"--gpus"),
    (["submit", "-J", LONG, "--wrap", "true"], 2, r"--job-name"),
    (["submit", "-J", "two\nlines", "--wrap", "true"], 2, r"--job-name"),
    (["submit", "-J", b"\xff\xfe", "--wrap", "true"], 2, r"--job-name"),
    (["submit", "-p", "nowhere", "--wrap", "true"], (1, 2), r"nowhere"),
    (["submit", "--wrap", ""], 2, r"--wrap"),
    (["submit"], 2, r"(?i)script"),
    (["submit", "missing.sh"], 1, r"missing\.sh.*No such file"),
    (["submit", "."], 1, r"directory"),
    (["submit", "plain.txt"], 2, r"plain\.txt.*#!"),
    (["submit", "binary.sh"], 2, r"binary\.sh.*NUL"),
    (["submit", "directive.sh"], 2, r"directive\.sh:3.*--mem.*10Q"),
    (["submit", "nul.sh"], 2, r"nul\.sh"),
    (["submit", "long.sh"], 2, r"long\.sh"),
    (["submit", "-D", "/no/such/place", "--wrap", "true"], 1, r"/no/such/place.*working directory"),
    (["submit", "-o", "/no/such/place/out", "--wrap", "true"], 1, r"--output.*/no/such/place"),
    (["submit", "-e", "/", "--wrap", "true"], 1, r"--error"),
    (["submit", "-i", "/no/such/input", "--wrap", "true"], 1, r"--input.*/no/such/input"),
    (["submit", "-d", "afterok:x", "--wrap", "true"], 2, r"--dependency"),
    (["submit", "-d", "afterok:999999", "--wrap", "true"], 1, r"--dependency.*no such job"),
    (["submit", "-C", "a&", "--wrap", "true"], 2, r"--constraint"),
    (["submit", "-w", "n[3-1]", "--wrap", "true"], 2, r"--nodelist"),
    (["submit", "-L", "ansys:2", "--wrap", "true"], 1, r"--licenses.*no such licence"),
    (["submit", "--deadline", "2001-01-01", "--wrap", "true"], 1, r"--deadline"),
    (["requeue", "999999"], 1, r"no such job"),
    (["update", "12"], 2, r"nothing to change"),
    (["run"], 2, r"(?i)command|program|cmd"),
    (["run", "no-such-program-anywhere"], 1, r"no-such-program-anywhere"),
    (["cancel"], 2, r"(?i)job"),
    (["cancel", "999999"], 1, r"999999"),
    (["cancel", "one"], 1, r"one"),
    (["cancel", "1x"], 2, r"1x"),
    (["cancel", "18446744073709551617"], 2, r"18446744073709551617"),
    (["hold", "999999"], 1, r"999999"),
    (["release", "999999"], 1, r"999999"),
    (["show", "999999"], 1, r"999999"),
    (["drain", "no-such-node", "--reason", "x"], 1, r"no-such-node"),
    (["drain", "node1"], 2, r"--reason"),
    (["resume", "no-such-node"], 1, r"no-such-node"),
]


class BadInputTest(ClusterTest):
    """Each line of the table, then a job that shows that nothing was hurt."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        files = {
            "plain.txt": b"echo no first line\n",
            "binary.sh": b"#!/bin/sh\n\0\1\2\n",
            "directive.sh": b"#!/bin/sh\n\n#SBATCH --mem=10Q\n",
            "nul.sh": b"#!/bin/sh\n#SBATCH --job-name=a\0b\n",
            "long.sh": b"#!/bin/sh\n#SBATCH --job-name=" + b"x" * (1 << 20) + b"\n",
        }
        for name, content in files.items():
            with open(os.path.join(cls.cluster.work, name), "wb") as file:
                file.write(content)

    def bad(self, arguments):
        cluster = self.cluster
        return subprocess.run(
            [program("muster"), *arguments], cwd=cluster.work, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
            env={**cluster.environment, "MUSTER_CONTROLLER": cluster.address})

    def test_each_mistake_gets_one_line_and_its_exit_code(self):
        for arguments, codes, pattern in TABLE:
            with self.subTest(arguments=[str(a)[:60] for a in arguments]):
                done = self.bad(arguments)
                err = done.stderr.decode(errors="replace")
                self.assertIn(done.returncode, codes if isinstance(codes, tuple) else (codes,), err)
                self.assertEqual(done.stdout, b"")
                self.assert_one_line(err)
                self.assertRegex(err, pattern)
                self.assertLess(len(err), 1000)

    def test_nothing_of_it_reached_the_queue_and_the_cluster_works(self):
        before = self.cluster.submitted()
        for arguments, _, _ in TABLE:
            self.bad(arguments)
        self.assertEqual(self.cluster.submitted(), before)
        self.assertIsNone(self.cluster.controller.process.poll())
        job = self.cluster.submit("--wrap", "exit 8")
        self.assertEqual(self.cluster.wait_ended(job)[0]["exit_code"], 8)

    def test_a_request_larger_than_any_node_is_taken_and_can_be_cancelled(self):
        job = self.cluster.submit("-G", 1000, "--wrap", "true")
        self.cluster.wait_reason(job, "never on this cluster")
        self.cluster.must("cancel", job)
        self.assertEqual(self.cluster.wait_ended(job)[0]["state"], "CANCELLED")

    def test_an_output_that_cannot_be_written_on_the_node_fails_that_job_alone(self):
        job = self.cluster.submit("-o", "/proc/%j/x/out", "--wrap", "true")
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "FAILED")
        self.assertIn("/proc/", row["detail"].decode(errors="replace"))


if __name__ == "__main__":
    unittest.main()
