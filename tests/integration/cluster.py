"""A real cluster of the test's own: its daemons, its command line, and what its nodes wrote down.

Every process that a cluster starts, jobs included, carries the path of its state directory in its
command line or its environment, so close() can say whether anything was left behind. What ran and how
often is judged from the truth file, which the jobs write themselves, never from the controller.
"""

import contextlib
import json
import os
import re
import secrets
import select
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest

BIN = os.environ.get("MUSTER_BIN") or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "dev", "bin")
KERNELS = os.environ.get("MUSTER_KERNELS") or os.path.join(BIN, "..", "libexec", "muster", "kernels")
PATIENCE = float(os.environ.get("MUSTER_PATIENCE", "60"))  # seconds until a wait is a failure
ENDED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "DEADLINE",
         "PREEMPTED")
OURS = secrets.token_hex(4)  # in names that other tests can see: of networks, groups and machines
WIDE = "pack:2 core:32 pu:1"  # 64 cores to place jobs on, whatever the machine has

# What a job does first and last: "job attempt node begin pid time" and "job attempt node end code time".
# Only the shell's builtins: a hundred of these start at once on a small machine.
TRUTH = """record() {{
  read -r now rest </proc/uptime
  echo "$MUSTER_JOB_ID $MUSTER_RESTART_COUNT $MUSTER_NODE_NAME $1 $2 $now" >>{path}
}}
record begin $$
finish() {{
  record end $1
  exit $1
}}
"""


def program(name):
    return os.path.join(BIN, name)


def sanitizer():
    """The runtime that the programs are linked to where they are sanitized; else none."""
    linked = subprocess.run(["ldd", program("musterd")], capture_output=True, text=True, check=False).stdout
    found = re.search(r"libasan\.so\S* => (\S+)", linked)
    return found.group(1) if found else None


def with_checkpoints():
    """The assignments of a shell with which Python loads the checkpoint library. A sanitized one needs its runtime first;
    of Python's own the leaks are not ours to find."""
    library = os.path.abspath(os.path.join(BIN, "..", "lib", "libmuster-checkpoint.so.0"))
    first = f" LD_PRELOAD={sanitizer()} ASAN_OPTIONS=detect_leaks=0" if sanitizer() else ""
    return f"MUSTER_CHECKPOINT_LIBRARY={library}{first}"


# Variables by which Open MPI's mpirun runs as root.
OPEN_MPI_AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def mpirun_of_open_mpi(place, *words):
    """The words of a script that start it. Its daemons make the same directory in /tmp and fail when another is quicker,
    which they share here and on machines of their own do not: each node's are apart, by the shell that starts them."""
    for base in ("$MUSTER_NODE_NAME", "node1", "node2"):
        os.makedirs(os.path.join(place, base), exist_ok=True)
    return " ".join(["mpirun.openmpi", "--mca", "orte_tmpdir_base", f"'{place}/$MUSTER_NODE_NAME'", *words])


def wait_until(condition, what, patience=None, pause=0.05):
    """What `condition` returns as soon as that is true; fails with `what` after `patience` seconds."""
    patience = PATIENCE if patience is None else patience
    until = time.monotonic() + patience
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > until:
            raise AssertionError(f"after {patience:.0f} s: {what() if callable(what) else what}")
        time.sleep(pause)


def read_file(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def start_time(pid):
    """When the process began, in clock ticks since boot; None when it is gone or a zombie."""
    fields = read_file(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return int(fields[19]) if len(fields) > 19 and fields[0] not in (b"Z", b"X") else None


def processes_with(text, in_environment=True):
    """{pid: command line} of the live processes that name `text`."""
    found = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid() or start_time(entry) is None:
            continue
        command = read_file(f"/proc/{entry}/cmdline")
        if text.encode() in command or (
                in_environment and text.encode() in read_file(f"/proc/{entry}/environ")):
            found[int(entry)] = command.replace(b"\0", b" ").decode(errors="replace").strip()
    return found


class Daemon:
    """One long-running program of ours: started until ready, killed and started again by the test."""

    def __init__(self, name, arguments, log, environment):
        self.name, self.arguments, self.log, self.environment = name, arguments, log, environment
        self.process = None
        self.programs = BIN  # the folder of the version that it runs
        self.before = []  # words before the command, as of `ip netns exec NAME`

    def start(self):
        ready, theirs = os.pipe()
        try:
            with open(self.log, "ab") as log:
                self.process = subprocess.Popen(
                    [*self.before, os.path.join(self.programs, self.name), *self.arguments, "--ready-fd", str(theirs)],
                    pass_fds=[theirs], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                    env=self.environment, start_new_session=True)
        finally:
            os.close(theirs)
        try:
            readable, _, _ = select.select([ready], [], [], PATIENCE)
            if not readable or os.read(ready, 6) != b"ready\n":
                raise AssertionError(f"{self.name} is not ready: {self.last_words()}")
        finally:
            os.close(ready)

    def last_words(self):
        return read_file(self.log)[-2000:].decode(errors="replace")

    def kill(self):
        """kill -9, and wait until it is gone."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        """SIGTERM; its exit status."""
        if self.process is None or self.process.poll() is not None:
            return None
        self.process.terminate()
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self.name} did not stop on SIGTERM: {self.last_words()}")


class Cluster:
    """A controller and agents, started one by one so that each can be killed by the test."""

    def __init__(self, nodes=1, topology=None, root=None, work=None):
        self.root = root or tempfile.mkdtemp(prefix="mit-", dir="/tmp")
        self.state = os.path.join(self.root, "state")
        self.work = work or tempfile.mkdtemp(prefix="mit-work-", dir="/tmp")  # where jobs run and write
        self.truth_path = os.path.join(self.work, "truth")
        self.environment = {
            key: value for key, value in os.environ.items()
            if not key.startswith(("MUSTER_", "SLURM_", "XDG_", "PMIX_", "OMPI_"))}
        # Nodes that this machine plays share its cores, of which Open MPI knows nothing: a rank that waits lets others on.
        self.environment["OMPI_MCA_mpi_yield_when_idle"] = "1"
        self.identity = {}  # as whom the command line is run, where not as ourselves
        self.address = f"unix:{self.state}/controller.sock"
        os.makedirs(os.path.join(self.state, "log"), mode=0o700)
        self.controller = self._daemon("musterd", ["--state", self.state, "--listen", self.address], "musterd")
        self.agents = [self._agent(i, nodes, topology) for i in range(nodes)]
        self.up = None

    def _daemon(self, name, arguments, log):
        path = os.path.join(self.state, "log", log + ".log")
        return Daemon(name, arguments, path, self.environment)

    def _agent(self, index, nodes, topology):
        name = f"node{index + 1}"
        directory = os.path.join(self.state, "agents", name)
        os.makedirs(directory, mode=0o700)
        arguments = ["--state", directory, "--controller", self.address, "--name", name]
        if topology:
            arguments += ["--topology", topology]
        elif nodes > 1:
            arguments += ["--slice", f"{index}/{nodes}"]
        return self._daemon("muster-agent", arguments, "agent-" + name)

    def configure(self, settings):
        """The controller's configuration, before it is started."""
        path = os.path.join(self.root, "muster.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(settings)
        self.controller.arguments += ["--config", path]

    def start(self):
        try:
            self.controller.start()
            for agent in self.agents:
                agent.start()
        except BaseException:
            self.close(check=False)
            raise
        return self

    # The command line.

    def command(self, *arguments):
        verb, rest = arguments[0], list(arguments[1:])
        return [program("muster"), verb, "--state", self.state, *[str(a) for a in rest]]

    def muster(self, *arguments, input=None, cwd=None, patience=None, environment=None):
        """Runs `muster VERB …` to its end: returncode, stdout, stderr as text."""
        return subprocess.run(
            self.command(*arguments), cwd=cwd or self.work, text=True, errors="replace",
            stdin=subprocess.DEVNULL if input is None else None, input=input,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=patience or PATIENCE,
            env={**self.environment, **(environment or {})}, **self.identity)

    def begin(self, *arguments, **keywords):
        """Starts `muster VERB …`; the test waits for it."""
        return subprocess.Popen(
            self.command(*arguments), cwd=self.work, text=True, env=self.environment,
            stdin=keywords.get("stdin", subprocess.DEVNULL), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, **self.identity)

    def must(self, *arguments, **keywords):
        """As muster(), and it has to exit 0; its standard output without the last newline."""
        done = self.muster(*arguments, **keywords)
        if done.returncode != 0:
            raise AssertionError(f"muster {' '.join(map(str, arguments))}: exit {done.returncode}: "
                                 f"{done.stderr.strip()}")
        return done.stdout.rstrip("\n")

    def submit(self, *arguments, **keywords):
        """The number of a job that was acknowledged."""
        return int(self.must("submit", "--parsable", *arguments, **keywords))

    def script(self, body, name=None):
        """The path of a script that writes its begin to the truth file, then runs `body`; the body
        says `finish CODE` to write its end."""
        path = os.path.join(self.work, name or f"script{len(os.listdir(self.work))}.sh")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + TRUTH.format(path=self.truth_path) + body + "\n")
        return path

    # What is known of jobs.

    def _rows(self, query, values=()):
        path = os.path.join(self.state, "controller", "state.db")
        for attempt in range(50):
            try:
                with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10) as database:
                    database.row_factory = sqlite3.Row
                    rows = [dict(row) for row in database.execute(query, values)]
                database.close()
                return rows
            except sqlite3.OperationalError:  # a controller that starts holds it for a moment
                if attempt == 49:
                    raise
                time.sleep(0.1)
        return []

    def history(self):
        """{id: accounting row} of every job that has ended."""
        return {row["id"]: row for row in self._rows("SELECT * FROM history")}

    def attempts(self, job):
        """The accounting rows of a job's attempts."""
        return self._rows("SELECT * FROM attempts WHERE job = ? ORDER BY number", (job,))

    def step_rows(self, job):
        """The accounting rows of a job's steps."""
        return self._rows("SELECT * FROM steps WHERE job = ? ORDER BY attempt, step", (job,))

    def submitted(self):
        """Every id that was ever given out, as a list: an id that was given out twice is in it twice."""
        ids = []
        for row in self._rows("SELECT first, count FROM submissions"):
            ids.extend(range(row["first"], row["first"] + row["count"]))
        return ids

    def wait_ended(self, *jobs, patience=None):
        """Waits until these jobs have ended; their accounting rows."""
        def ended():
            rows = self.history()
            return rows if all(job in rows for job in jobs) else None

        def missing():
            rows = self.history()
            left = [job for job in jobs if job not in rows]
            return (f"{len(left)} of {len(jobs)} jobs have not ended: {left[:10]}, of which ran "
                    f"{[job for job in left if job in self.ended_by_themselves()][:10]}; {self.logs()}")
        rows = wait_until(ended, missing, patience)
        return [rows[job] for job in jobs]

    def newest(self):
        """The job that was submitted last, once it has ended: a command may be back before the accounting knows."""
        job = max(self.submitted())
        self.wait_ended(job)
        return job

    def queue(self):
        """{id: what `queue --json` says} of pending and running jobs."""
        return {job["id"]: job for job in json.loads(self.must("queue", "--json"))["jobs"]}

    def wait_state(self, job, state):
        return wait_until(lambda: self.queue().get(job, {}).get("state") == state,
                          f"job {job} is not {state}")

    def wait_reason(self, job, pattern):
        """Waits until a pending job's reason has `pattern` in it; the reason."""
        def reason():
            found = self.queue().get(job, {}).get("reason") or {}
            return found if pattern in found.get("text", "") else None
        return wait_until(reason, lambda: f"job {job}: no {pattern!r} in {self.queue().get(job)}")

    def truth(self):
        """{(job, attempt, node): [(word, value, seconds since boot), …]} as the jobs wrote it."""
        runs = {}
        for line in read_file(self.truth_path).decode().splitlines():
            job, attempt, node, word, value, when = line.split()
            runs.setdefault((int(job), int(attempt), node), []).append(
                (word, int(value), float(when)))
        return runs

    def begun(self):
        """{job: pid} of every job that began; fails when one began twice."""
        jobs = {}
        for (job, attempt, node), lines in self.truth().items():
            begins = [value for word, value, _ in lines if word == "begin"]
            if len(begins) != 1 or job in jobs:
                raise AssertionError(f"job {job} attempt {attempt} on {node} began again: {lines}")
            jobs[job] = begins[0]
        return jobs

    def ended_by_themselves(self):
        """{job: exit code} of every job that came to its own end."""
        return {job: value for (job, _, _), lines in self.truth().items()
                for word, value, _ in lines if word == "end"}

    # The gate: jobs wait at it without using any processor, however many.

    def gate(self):
        """Shell text that waits until open_gate()."""
        path = os.path.join(self.work, "gate")
        if not os.path.exists(path):
            os.mkfifo(path)
        return f'[ -e {path}.open ] || read -r opened <{path} || :'

    def open_gate(self, done=lambda: True):
        """Lets everybody through, and goes on doing so until `done`."""
        path = os.path.join(self.work, "gate")
        with open(path + ".open", "w", encoding="utf-8"):
            pass

        def let_through():
            try:
                os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
            except OSError:
                pass  # nobody waits
            return done()
        wait_until(let_through, lambda: f"jobs did not pass the gate: {self.leftovers()}", pause=0.2)

    # Its end.

    def logs(self):
        words = []
        for daemon in [self.controller, *self.agents]:
            words.append(f"--- {daemon.log}\n{daemon.last_words()}")
        return "\n".join(words)

    def daemons_of_up(self, name):
        """The pids of the daemons `name` of this cluster, however they were started."""
        return sorted(pid for pid, command in processes_with(self.state, False).items()
                      if os.path.basename(command.split(" ")[0]) == name)

    def supervisors(self):
        return self.daemons_of_up("muster-supervisor")

    def processes_of(self, index):
        """Of a node: its agent's supervisors, and what they started."""
        found = {pid for pid, command in processes_with(self.agents[index].arguments[1]).items()
                 if "muster-supervisor" in command}
        for entry in sorted((e for e in os.listdir("/proc") if e.isdigit()), key=int):
            parents = read_file(f"/proc/{entry}/stat").rpartition(b")")[2].split()
            if len(parents) > 1 and int(parents[1]) in found:
                found.add(int(entry))
        return found

    def lose_node(self, index):
        """Agent, supervisors and what they started go at once."""
        agent = self.agents[index]
        os.kill(agent.process.pid, signal.SIGSTOP)  # it starts nothing more
        victims = self.processes_of(index)
        for how in (signal.SIGSTOP, signal.SIGKILL):  # nobody sees another's end and writes it down
            for pid in victims:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, how)
        agent.kill()
        wait_until(lambda: not any(start_time(pid) for pid in victims), "what was killed lives")

    def leftovers(self):
        return processes_with(self.state)

    def replay(self):
        """What `muster replay --json` says of the state directory."""
        done = subprocess.run([program("muster"), "replay", self.state, "--verify", "--json"],
                              text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=PATIENCE, env=self.environment,
                              check=False)
        try:
            return json.loads(done.stdout)
        except ValueError:
            raise AssertionError(f"muster replay: exit {done.returncode}: {done.stderr}") from None

    def close(self, check=True):
        """Cancels all jobs, stops what was started, and fails when a process is left, or when the
        journal does not lead to the same state by the same decisions again."""
        left, trouble = {}, []
        try:
            if check:
                self.muster("cancel", "--all")
                try:
                    wait_until(lambda: not self.supervisors(), "supervisors are left")
                except AssertionError as error:
                    trouble.append(f"{error}: {self.leftovers()}")
            for daemon in [*self.agents, self.controller]:
                try:
                    daemon.stop()
                except AssertionError as error:
                    trouble.append(str(error))
            if self.up is not None and self.up.poll() is None:
                self.up.terminate()
                self.up.wait(PATIENCE)
            try:
                wait_until(lambda: not self.leftovers(), "processes are left", 10)
            except AssertionError:
                left = self.leftovers()
            if check and os.path.exists(os.path.join(self.state, "controller", "state.db")):
                replay = self.replay()
                if not replay["same"]:
                    trouble.append(f"replayed, it is not the same: {replay}")
        finally:
            for pid in left or self.leftovers():
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            if self.up is not None and self.up.stdout:
                self.up.stdout.close()
        if check and (left or trouble):
            raise AssertionError(f"left behind: {left}; {trouble}; {self.logs()}")
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.rmtree(self.work, ignore_errors=True)


def start_up(cluster, *arguments, fresh=True):
    """Runs `muster up` in place of a cluster's own daemons until it says ready; that line."""
    if fresh:
        shutil.rmtree(cluster.state)
    cluster.up = subprocess.Popen(
        cluster.command("up", *arguments), cwd=cluster.work, env=cluster.environment,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True)
    lines = []
    for line in cluster.up.stdout:
        lines.append(line.rstrip("\n"))
        if line.startswith("ready: "):
            return lines[-1]
    cluster.up.wait()
    raise AssertionError(f"muster up ended: {lines}")


class ClusterTest(unittest.TestCase):
    """One cluster for all tests of a class, or, with `own`, one for each test."""

    nodes = 1
    topology = None
    own = False

    @classmethod
    def make(cls):
        return Cluster(nodes=cls.nodes, topology=cls.topology).start()

    @classmethod
    def setUpClass(cls):
        if not cls.own:
            cls.cluster = cls.make()
            cls.addClassCleanup(cls.cluster.close)

    def setUp(self):
        if self.own:
            self.cluster = self.make()
            self.addCleanup(self.cluster.close)

    def read(self, name):
        return read_file(os.path.join(self.cluster.work, name)).decode()

    def assert_one_line(self, text):
        self.assertRegex(text, r"\A[^\n]+\n\Z", "one line, and no more")
