"""Steps of one job: side by side, waiting for one another, signalled, looked at, with a terminal."""

import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
import unittest

from cluster import BIN, WIDE, ClusterTest, program, read_file, wait_until

MUSTER = f"{BIN}/muster"


def read_some(fd, until, patience=30):
    """What comes from `fd` up to and with `until`."""
    text, end = b"", time.monotonic() + patience
    while until.encode() not in text and time.monotonic() < end:
        readable, _, _ = select.select([fd], [], [], 0.2)
        if readable:
            try:
                more = os.read(fd, 65536)
            except OSError:
                break
            if not more:
                break
            text += more
    return text.decode(errors="replace")


class StepsTest(ClusterTest):
    """One node of 64 cores to place on, whatever the machine has."""

    topology = WIDE

    def hold(self, *arguments):
        """A job that holds its resources; commands inside it are run by inside()."""
        self.gate_text = self.cluster.gate()
        self.job = self.cluster.submit(*arguments, self.cluster.script(
            f"{self.gate_text}; env | grep ^MUSTER_ >variables; finish 0"))
        self.cluster.wait_state(self.job, "RUNNING")
        self.addCleanup(self.cluster.muster, "cancel", self.job)
        return self.job

    def inside(self, *arguments, **keywords):
        """Starts `muster VERB …` as a process of the job would."""
        environment = {**self.cluster.environment, "MUSTER_JOB_ID": str(self.job),
                       "SLURM_JOB_ID": str(self.job)}
        keywords.setdefault("stdin", subprocess.DEVNULL)
        started = subprocess.Popen(
            self.cluster.command(*arguments), cwd=self.cluster.work, text=True, env=environment,
            stdout=keywords.pop("stdout", subprocess.PIPE),
            stderr=keywords.pop("stderr", subprocess.PIPE), **keywords)
        self.addCleanup(self.end, started)
        return started

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()

    def steps(self, job=None):
        (detail,) = json.loads(self.cluster.must("show", "--json", job or self.job))["jobs"]
        return {step["step"]: step for step in detail["steps"]}

    def wait_step(self, step, state):
        return wait_until(lambda: self.steps().get(step, {}).get("state") == state,
                          lambda: f"step {step} is not {state}: {self.steps()}")

    def test_steps_run_side_by_side_and_one_too_many_waits_in_order(self):
        self.hold("-n", 4)
        first = self.inside("run", "-n", 2, "sh", "-c", "sleep 1000")
        self.wait_step(1, "RUNNING")
        second = self.inside("run", "-n", 2, "cat", stdin=subprocess.PIPE)
        self.wait_step(2, "RUNNING")
        waits = self.inside("run", "-n", 1, "echo", "third")
        self.wait_step(3, "PENDING")
        last = self.inside("run", "-n", 1, "echo", "fourth")
        self.wait_step(4, "PENDING")
        done = self.inside("run", "-I", "-n", 1, "true")
        _, err = done.communicate(timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assert_one_line(err)
        self.assertIn(f"step of job {self.job} would wait: 4 of its 4 CPUs are in use by steps "
                      f"{self.job}.1 and {self.job}.2", err)
        shares = self.inside("run", "--overlap", "-n", 4, "true")
        self.assertEqual(shares.wait(60), 0, "who overlaps does not wait")
        # It says so only when it has waited for a while.
        self.assertIn(f"step of job {self.job} waits: 4 of its 4 CPUs are in use by steps "
                      f"{self.job}.1 and {self.job}.2", waits.stderr.readline())
        second.communicate("", timeout=60)
        out, err = waits.communicate(timeout=60)
        self.assertEqual((waits.returncode, out, err), (0, "third\n", ""))
        out, err = last.communicate(timeout=60)
        self.assertEqual((last.returncode, out), (0, "fourth\n"), err)
        self.assertIsNone(first.poll())
        cpus = [step["cpus"] for step in self.steps().values()]
        self.assertEqual(cpus, [2, 2, 1, 1, 4])
        self.assertEqual(self.cluster.must("cancel", f"{self.job}.1"), "")
        self.assertNotEqual(first.wait(60), 0)
        sheet = self.cluster.must("show", self.job)
        self.assertRegex(sheet, rf"{self.job}\.3 +echo +COMPLETED +node1 +1 +1 ")
        self.cluster.open_gate()
        self.cluster.wait_ended(self.job)
        self.assertIn(f"{self.job}.2 ", self.cluster.must("history", "--steps", self.job))

    def test_a_step_that_waits_is_withdrawn_by_its_client_or_by_number_and_survives_a_crash(self):
        self.hold("-n", 2)
        first = self.inside("run", "sleep", "1000")
        self.wait_step(1, "RUNNING")
        gone = self.inside("run", "-n", 1, "echo", "never")
        self.wait_step(2, "PENDING")
        named = self.inside("run", "-n", 1, "echo", "nor this")
        self.wait_step(3, "PENDING")
        kept = self.inside("run", "-n", 1, "echo", "but this")
        self.wait_step(4, "PENDING")
        gone.send_signal(signal.SIGINT)
        self.assertEqual(gone.wait(60), 130)
        self.cluster.must("cancel", f"{self.job}.3")
        self.cluster.controller.kill()
        self.cluster.controller.start()
        self.assertEqual([step["state"] for step in self.steps().values()],
                         ["RUNNING", "CANCELLED", "CANCELLED", "PENDING"])
        wait_until(lambda: self.cluster.muster("cancel", f"{self.job}.1").returncode == 0,
                   "the node is not back")
        out, err = kept.communicate(timeout=60)
        self.assertEqual((kept.returncode, out), (0, "but this\n"), err)
        self.assertEqual(named.wait(60), 1)
        self.assertIn(f"step {self.job}.3 will not start", named.stderr.read())
        self.assertNotEqual(first.wait(60), 0)

    def test_memory_and_cpus_that_a_step_asks_for_are_its_own(self):
        self.hold("-n", 2, "--mem", "100M")
        first = self.inside("run", "-n", 1, "--mem", "60M", "sleep", "1000")
        self.wait_step(1, "RUNNING")
        done = self.inside("run", "-I", "-n", 1, "--mem", "60M", "true")
        self.assertEqual(done.wait(60), 1)
        self.assertEqual(self.inside("run", "-n", 1, "--mem", "30M", "true").wait(60), 0)
        done = self.inside("run", "-n", 3, "true")
        _, err = done.communicate(timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assert_one_line(err)
        self.assertIn("the step asks 3 tasks of 1 CPUs; the allocation has 1 nodes with 2 CPUs", err)
        self.assertIsNone(first.poll())

    def test_signals_reach_the_ranks_or_the_script_or_all(self):
        trap = "for s in USR1 USR2; do trap \"echo $s >>{0}; exit 3\" $s; done; echo up >>{0}; "
        wait = "while :; do sleep 0.05; done"
        self.job = self.cluster.submit("-n", 2, self.cluster.script(
            f"{MUSTER} run -n 1 sh -c '{trap.format('rank')}{wait}' & trap 'echo USR1 >>script' USR1\n"
            f"echo up >>script; {wait}"))
        self.addCleanup(self.cluster.muster, "cancel", self.job)
        wait_until(lambda: self.read("rank") == "up\n" and self.read("script") == "up\n", "not begun")
        self.cluster.must("cancel", "-s", "USR1", "--batch", self.job)
        wait_until(lambda: self.read("script") == "up\nUSR1\n", "the script has no signal")
        self.assertEqual(self.read("rank"), "up\n")
        self.cluster.must("cancel", "-s", "SIGUSR2", self.job)
        wait_until(lambda: self.read("rank") == "up\nUSR2\n", "the rank has no signal")
        wait_until(lambda: self.steps()[1]["state"] == "FAILED", "the step goes on")
        self.assertEqual(self.steps()[1]["exit"]["code"], 3)
        self.assertEqual(self.steps()[1]["text"], "rank 0 on node1")
        refused = self.cluster.muster("cancel", "-s", "USR2", self.job)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("no step of it runs", refused.stderr)
        self.cluster.must("cancel", "-s", "KILL", "--full", self.job)
        (row,) = self.cluster.wait_ended(self.job)
        self.assertEqual(row["exit_signal"], signal.SIGKILL)
        for arguments, code in ((("-s", "NONE", 1), 2), (("--batch", 1), 2), (("-s", 1, "1.x"), 2),
                                (("-s", 1, 999), 1), (("999.1",), 1)):
            with self.subTest(arguments=arguments):
                done = self.cluster.muster("cancel", *arguments)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assert_one_line(done.stderr)

    def test_ctrl_c_tells_how_the_ranks_are_and_twice_ends_them(self):
        before = set(self.cluster.queue())  # a job of another test may be about to leave
        run = self.cluster.begin("run", "-n", 2, "sh", "-c", "[ $RANK = 0 ] || exit 0; exec sleep 1000")
        self.addCleanup(self.end, run)
        wait_until(lambda: set(self.cluster.queue()) - before, "it does not run")
        (job,) = set(self.cluster.queue()) - before
        self.cluster.wait_state(job, "RUNNING")
        time.sleep(0.5)  # until rank 1 is gone; else it is told to run
        run.send_signal(signal.SIGINT)
        self.assertIn(f"job {job}: ranks 0 running, 1 ended; Ctrl-C again within 1 s ends it",
                      run.stderr.readline())
        self.assertIsNone(run.poll())
        time.sleep(1.2)
        run.send_signal(signal.SIGINT)
        self.assertIn("Ctrl-C again within 1 s", run.stderr.readline())
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(60), 128 + signal.SIGINT)

    def test_attach_shows_what_a_step_prints_and_leaves_it_alone(self):
        self.hold("-n", 2)
        seen = os.path.join(self.cluster.work, "seen")
        run = self.inside("run", "--label", "-n", 2, "sh", "-c",
                          f"until [ -e {seen} ]; do echo waits; sleep 0.1; done; read line; echo got $line; read more",
                          "-", stdin=subprocess.PIPE)
        self.wait_step(1, "RUNNING")
        looks = [self.cluster.begin("attach", "--label", f"{self.job}.1") for _ in range(2)]
        left = self.cluster.begin("attach", self.job)
        for each in [*looks, left]:
            self.addCleanup(self.end, each)
        for each in [*looks, left]:
            self.assertIn("waits", each.stdout.readline())
        left.send_signal(signal.SIGINT)
        self.assertEqual(left.wait(60), 0)
        with open(seen, "w", encoding="utf-8"):
            pass
        run.stdin.write("text\n")
        run.stdin.flush()
        for each in [*looks, run]:
            line = next(line for line in each.stdout if "waits" not in line)
            self.assertIn(line, ("0: got text\n", "1: got\n"))
        run.stdin.close()
        codes = [each.wait(60) for each in [*looks, run]]
        self.assertEqual(len(set(codes)), 1, codes)
        run.stdin = None
        refused = self.cluster.muster("attach", f"{self.job}.1")
        self.assertEqual(refused.returncode, 1)
        self.assert_one_line(refused.stderr)
        self.assertIn("no such step runs", refused.stderr)

    def test_attach_to_a_step_whose_end_is_still_to_be_told_says_that_it_has_ended(self):
        self.hold("-n", 1)
        over = os.path.join(self.cluster.work, "over")
        run = self.inside("run", "sh", "-c", f"until [ -e {over} ]; do sleep 0.05; done")
        self.wait_step(1, "RUNNING")
        agents = [agent.process.pid for agent in self.cluster.agents]
        for agent in agents:
            os.kill(agent, signal.SIGSTOP)  # none can tell the controller
        try:
            with open(over, "w", encoding="utf-8"):
                pass
            self.assertEqual(run.wait(60), 0)
            late = self.cluster.begin("attach", f"{self.job}.1")
            self.addCleanup(self.end, late)
            with self.assertRaises(subprocess.TimeoutExpired):
                late.wait(1)
        finally:
            for agent in agents:
                os.kill(agent, signal.SIGCONT)
        self.assertEqual(late.wait(60), 1)
        said = late.stderr.read()
        self.assert_one_line(said)
        self.assertIn("no such step runs", said)

    def in_terminal(self, *arguments):
        """Runs `muster VERB …` with a terminal of 30 lines of 100 characters; its pid and our end."""
        pid, ours = pty.fork()
        if pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
            os.chdir(self.cluster.work)
            os.execve(program("muster"), self.cluster.command(*arguments), self.cluster.environment)
        return pid, ours

    def test_a_run_with_a_terminal_is_a_terminal_and_ends_with_the_shells_code(self):
        pid, ours = self.in_terminal("run", "--pty", "bash", "--norc", "--noprofile", "-i")
        try:
            os.write(ours, b"echo ready-$((1+1))\n")
            self.assertIn("ready-2", read_some(ours, "ready-2"))
            raw = termios.tcgetattr(ours)
            self.assertFalse(raw[3] & termios.ECHO, "ours is raw while theirs is there")
            os.write(ours, b"tty; stty size; ps -o tty=,tpgid= -p $$; echo done-$((2+2))\n")
            text = read_some(ours, "done-4")
            self.assertIn("/dev/pts/", text)
            self.assertIn("30 100", text)
            fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
            wait_until(lambda: os.write(ours, b"stty size; echo end-$((3+3))\n") and
                       "40 120" in read_some(ours, "end-6"), "the new size does not come")
            os.write(ours, b"sleep 1000\n")
            time.sleep(0.5)
            os.write(ours, b"\x03")
            os.write(ours, b"echo after-$((4+4))\n")
            self.assertIn("after-8", read_some(ours, "after-8"), "Ctrl-C is the shell's")
            os.write(ours, b"exit 7\n")
            read_some(ours, "\0", patience=10)
            _, status = os.waitpid(pid, 0)
            self.assertEqual(os.waitstatus_to_exitcode(status), 7)
        finally:
            os.close(ours)

    def test_a_terminal_that_goes_takes_its_shell_with_it(self):
        pid, ours = self.in_terminal("run", "--pty", "bash", "--norc", "--noprofile", "-i")
        os.write(ours, b"echo ready-$((1+1))\n")
        read_some(ours, "ready-2")
        job = max(self.cluster.queue())
        os.close(ours)
        os.waitpid(pid, 0)
        self.cluster.wait_ended(job)

    def test_the_terminal_is_as_before_when_the_run_ends(self):
        pid, ours = pty.fork()
        if pid == 0:
            os.chdir(self.cluster.work)
            os.environ.clear()
            os.environ.update(self.cluster.environment)
            os.execvp("sh", ["sh", "-c", "stty -a >before; \"$@\"; stty -a >after", "-",
                             *self.cluster.command("run", "--pty", "sh", "-c", "stty -echo; exit 0")])
        read_some(ours, "\0", patience=20)
        os.waitpid(pid, 0)
        os.close(ours)
        self.assertEqual(self.read("after"), self.read("before"))
        self.assertIn("echo", self.read("before"))

    def test_without_a_terminal_pty_is_refused_in_one_line(self):
        done = self.cluster.muster("run", "--pty", "true")
        self.assertEqual(done.returncode, 1)
        self.assert_one_line(done.stderr)
        self.assertIn("--pty: standard input is not a terminal", done.stderr)

    def test_two_terminals_share_a_shell(self):
        pid, ours = self.in_terminal("run", "--pty", "bash", "--norc", "--noprofile", "-i")
        other_pid, other = None, None
        try:
            os.write(ours, b"echo ready-$((1+1))\n")
            read_some(ours, "ready-2")
            job = max(self.cluster.queue())
            other_pid, other = self.in_terminal("attach", "--input", job)
            time.sleep(1)
            os.write(other, b"echo typed-$((3+3))\n")
            self.assertIn("typed-6", read_some(ours, "typed-6"))
            self.assertIn("typed-6", read_some(other, "typed-6"))
            os.write(other, b"\x1d")
            _, status = os.waitpid(other_pid, 0)
            self.assertEqual(os.waitstatus_to_exitcode(status), 0, "Ctrl-] leaves")
            os.write(ours, b"exit 3\n")
            read_some(ours, "\0", patience=10)
            _, status = os.waitpid(pid, 0)
            self.assertEqual(os.waitstatus_to_exitcode(status), 3)
        finally:
            os.close(ours)
            if other is not None:
                os.close(other)


class BadStepTest(ClusterTest):
    """What cannot run is told in one line that says where and why."""

    nodes = 2
    topology = WIDE

    def expect(self, code, pattern, *arguments, environment=None):
        with self.subTest(arguments=arguments):
            done = self.cluster.muster("run", *arguments, environment=environment)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assert_one_line(done.stderr)
            self.assertRegex(done.stderr, pattern)

    def test_programs_that_no_node_can_run(self):
        for name, content in (("foreign", b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\0\xb7\0" + bytes(60)),
                              ("lost", b"#!/no/such/interpreter\n")):
            path = os.path.join(self.cluster.work, name)
            with open(path, "wb") as file:
                file.write(content)
            os.chmod(path, 0o755)
        self.expect(126, r"rank 0 on node1: .*cannot run \./foreign: Exec format error: it is built for another",
                    "./foreign")
        self.expect(127, r"rank 0 on node1: .*cannot run \./lost: .* interpreter that its first line names", "./lost")
        self.expect(1, r"/no/such: cannot use the working directory", "-D", "/no/such", "true")
        self.expect(1, r"/dev/full: cannot be written: No space left", "-o", "/dev/full", "echo", "text")

    def test_steps_that_do_not_fit_their_job(self):
        job = self.cluster.submit("-N", 2, "-n", 2, "--wrap", "sleep 1000")
        self.addCleanup(self.cluster.muster, "cancel", job)
        self.cluster.wait_state(job, "RUNNING")
        inside = {"MUSTER_JOB_ID": str(job)}
        for code, pattern, *arguments in (
                (1, "the step asks 200 tasks of 1 CPUs; the allocation has 2 nodes with 2 CPUs", "-n", 200, "true"),
                (1, "the step asks 3 tasks", "-N", 3, "-n", 3, "true"),
                (1, "--ntasks: 1 for 2 nodes", "-N", 2, "-n", 1, "true"),
                (1, f"--nodelist: node7 is not a node of job {job}", "-w", "node7", "-n", 1, "true"),
                (1, "and 2 GPUs; the allocation has 2 nodes with 2 CPUs and 0 GPUs", "-n", 1, "-G", 2, "true"),
                (2, "--overlap: shares what --exact", "--overlap", "--exact", "true"),
                (2, "--time: a step inside a job", "-t", 1, "true"),
                (139, "rank 1 on node2: ended by signal 11; the others are ended", "-K", "-N", 2, "-n", 2, "sh",
                 "-c", "[ $RANK = 1 ] && kill -SEGV $$; sleep 1000"),
                (5, "rank 1 on node2: exit code 5", "-N", 2, "-n", 2, "sh", "-c", "[ $RANK = 0 ] || exit 5")):
            self.expect(code, pattern, *arguments, environment=inside)

        # The ranks' own end is what `muster run` waits for; the controller hears of it from the agents.
        def failed():
            (detail,) = json.loads(self.cluster.must("show", "--json", job))["jobs"]
            return [(step["state"], step["text"]) for step in detail["steps"]] == 2 * [("FAILED", "rank 1 on node2")]
        wait_until(failed, "two failed steps")


class CastTest(ClusterTest):
    """Four nodes, which share this machine's files: each writes below a directory of its own."""

    nodes = 4
    topology = WIDE

    def setUp(self):
        super().setUp()
        for node in range(1, 5):
            os.makedirs(os.path.join(self.cluster.work, f"node{node}"), exist_ok=True)

    def cast(self, *arguments, wrap=""):
        """`muster cast` in a job of all four nodes, whose destination is the same path on each."""
        out = f"cast{len(os.listdir(self.cluster.work))}.out"
        job = self.cluster.submit("-N", 4, "-n", 4, "-o", out, self.cluster.script(
            f"{wrap}{MUSTER} cast {' '.join(arguments)}; finish $?"))
        (row,) = self.cluster.wait_ended(job)
        return row["exit_code"], self.read(out)

    def test_the_file_is_there_whole_and_as_it_was(self):
        source = os.path.join(self.cluster.work, "source")
        with open(source, "wb") as file:
            file.write(os.urandom(5_000_000))
        os.chmod(source, 0o750)
        # All nodes write to one place here, one after the other: --force lets them.
        code, text = self.cast("--force", source, os.path.join(self.cluster.work, "copy"))
        self.assertEqual(code, 0, text)
        copy = os.path.join(self.cluster.work, "copy")
        self.assertEqual(read_file(copy), read_file(source))
        self.assertEqual(os.stat(copy).st_mode & 0o777, 0o750)
        with open(source, "wb"):
            pass
        code, text = self.cast("--force", source, os.path.join(self.cluster.work, "copy"))
        self.assertEqual((code, read_file(copy)), (0, b""), text)
        self.assertEqual([name for name in os.listdir(self.cluster.work) if ".muster-" in name], [])

    def test_what_is_there_and_links_are_left_alone(self):
        work = self.cluster.work
        with open(os.path.join(work, "small"), "w", encoding="utf-8") as file:
            file.write("small")
        with open(os.path.join(work, "there"), "w", encoding="utf-8") as file:
            file.write("old")
        os.symlink("there", os.path.join(work, "link"))
        os.symlink(".", os.path.join(work, "way"))
        for destination, why in (("there", "is there already; --force replaces it"),
                                 ("link", "is there already, and no ordinary file"),
                                 ("way/new", "a symbolic link is on the way there"),
                                 ("nowhere/new", "cannot open its directory"),
                                 ("node1", "is there already, and no ordinary file")):
            with self.subTest(destination=destination):
                code, text = self.cast("small", os.path.join(work, destination))
                self.assertEqual(code, 1, text)
                self.assertIn(f"{destination}: {why}", text)
        code, text = self.cast("--force", "small", os.path.join(work, "link"))
        self.assertEqual(code, 1, text)
        self.assertEqual(self.read("there"), "old")
        self.assertFalse(os.path.exists(os.path.join(work, "new")))

    def test_bad_usage_is_one_line(self):
        for arguments, code in ((("a",), 2), (("/dev/null", "/tmp/x"), 1), (("a", "b"), 1)):
            with self.subTest(arguments=arguments):
                done = self.cluster.muster("cast", *arguments)
                self.assertEqual(done.returncode, code)
                self.assert_one_line(done.stderr)


class NoKillTest(ClusterTest):
    """A node of two is lost."""

    nodes = 2
    topology = WIDE
    own = True

    def lose_the_second_node(self, *options):
        """A job on both nodes, whose second loses its supervisor; the job's number."""
        job = self.cluster.submit("-N", 2, "-n", 2, *options, self.cluster.script(
            f"{self.cluster.gate()}; {MUSTER} run -n 1 echo on the first >first; finish 0"))
        self.cluster.wait_state(job, "RUNNING")
        second = [pid for pid in self.cluster.supervisors()
                  if b"/agents/node2/" in read_file(f"/proc/{pid}/cmdline")]
        self.assertEqual(len(second), 1)
        os.kill(second[0], signal.SIGKILL)
        return job

    def test_a_job_ends_with_its_node_unless_it_says_no_kill(self):
        (row,) = self.cluster.wait_ended(self.lose_the_second_node())
        self.assertEqual(row["state"], "FAILED")
        self.assertEqual(self.cluster.ended_by_themselves(), {})
        job = self.lose_the_second_node("--no-kill")
        time.sleep(1)
        self.assertEqual(self.cluster.queue()[job]["state"], "RUNNING")
        self.cluster.open_gate(lambda: job in self.cluster.ended_by_themselves())
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual((row["state"], row["exit_code"]), ("COMPLETED", 0))
        self.assertEqual(self.read("first"), "on the first\n")


if __name__ == "__main__":
    unittest.main()
