"""A cluster whose disks forget what was not synced, and a campaign that cuts the power of its machines again and again.

The controller's machine has one disk (tests/faults), each node another. A cut ends every process of the machine
at once; then its disk shows what is durable and what the seed drew of the rest, and a node has another boot id. The jobs'
own ledger and the clients are elsewhere and stay. A node that lost its power loses the jobs that ran there: they may run
again as another attempt, never as the same.
"""

import glob
import os
import random
import shutil
import signal
import subprocess
import threading
import time
import uuid

from cluster import BIN, Cluster, ENDED, WIDE, processes_with, program, read_file, start_time, wait_until

CLIENTS = 4
CODES = 7   # job N ends with exit code N modulo this
ARRAY = 8   # elements, of every fourth submission
LOOKED = 300  # ends that are read before each cut of the controller's power
# In a mount namespace of its own, the kernel's boot id is what the file says.
BOOTED = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"']


class ForgetfulDisk:
    """A file system of the test's, mounted on an empty directory."""

    program = os.path.join(BIN, "..", "tests", "forgetful-disk")

    def __init__(self, place):
        self.place = place
        os.makedirs(place, mode=0o700, exist_ok=True)
        self.process = subprocess.Popen([self.program, place], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        start_new_session=True)
        self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line.startswith("ok"):
            raise AssertionError(f"the disk on {self.place} says {line!r}")
        return [int(word) for word in line.split()[1:]]

    def order(self, words):
        self.process.stdin.write(words + "\n")
        self.process.stdin.flush()
        return self.answer()

    def off(self):
        """From now on whoever uses the disk waits."""
        self.order("off")

    def on(self):
        self.order("on")

    def cut(self, seed):
        """What waits fails; the disk comes back as the power left it. How many names and pieces of files were lost."""
        return self.order(f"cut {seed}")

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def why_not():
    """Why no such disk can be had here; None where it can."""
    if os.geteuid() != 0:
        return "NOT ROOT: nodes cannot be given a boot id of their own"
    if not os.path.exists("/dev/fuse"):
        return "NO /dev/fuse HERE: load the kernel's module fuse"
    if not os.path.exists(ForgetfulDisk.program):
        return f"{ForgetfulDisk.program} IS NOT BUILT"
    return None


def keep_attempts_on_disk(place):
    """Where something lies in the directory already, an agent does not move it into memory."""
    os.mkdir(os.path.join(place, "attempts"), mode=0o700)
    for path in ("attempts/kept", "attempts", "."):
        fd = os.open(os.path.join(place, path), os.O_CREAT if path.endswith("kept") else os.O_RDONLY, 0o600)
        os.fsync(fd)
        os.close(fd)


class PowerCluster(Cluster):
    """Two nodes. node1 keeps its attempts in memory, node2 on its disk."""

    def __init__(self):
        super().__init__(nodes=2, topology=WIDE)
        shutil.rmtree(self.state)
        self.machine = ForgetfulDisk(self.state)
        self.disks = [ForgetfulDisk(f"{self.state}-node{index + 1}") for index in range(2)]
        # Nodes and clients reach the controller over a network, not over its disk.
        self.address = f"unix:{self.root}/controller.sock"
        self.controller.arguments[3] = self.address
        for daemon, log in zip([self.controller, *self.agents], ("musterd", "node1", "node2")):
            daemon.log = os.path.join(self.root, log + ".log")
        for index, agent in enumerate(self.agents):
            agent.arguments[1] = self.disks[index].place
            agent.arguments[3] = self.address
            agent.before = [*BOOTED, self.boot(index)]
        keep_attempts_on_disk(self.disks[1].place)

    def command(self, *arguments):
        return [program("muster"), arguments[0], "--controller", self.address, *[str(word) for word in arguments[1:]]]

    def boot(self, index):
        """Another boot of the node: the file with its id."""
        path = os.path.join(self.root, f"boot-node{index + 1}")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"{uuid.uuid4()}\n")
        return path

    def cut_controller(self, seed):
        self.machine.off()
        self.controller.process.kill()
        lost = self.machine.cut(seed)
        self.controller.process.wait()
        return lost

    def cut_node(self, index, seed):
        """All that lives there ends; what it kept in memory is gone, too."""
        agent, disk = self.agents[index], self.disks[index]
        instance = read_file(os.path.join(disk.place, "instance")).decode().strip()
        disk.off()
        os.kill(agent.process.pid, signal.SIGSTOP)  # it starts nothing more
        victims = self.living(index)
        for pid in victims:
            end(pid)
        agent.process.kill()
        lost = disk.cut(seed)
        agent.process.wait()
        wait_until(lambda: not [end(pid) for pid in self.living(index)], lambda: f"they live: {self.living(index)}")
        for place in glob.glob(f"/run/muster-*-{instance}") + glob.glob(f"/dev/shm/muster-*-{instance}"):
            shutil.rmtree(place)
        self.boot(index)
        return lost

    def living(self, index):
        """Processes of the node, but its disk."""
        found = self.processes_of(index) | set(processes_with(self.disks[index].place))
        return {pid for pid in found if pid != self.disks[index].process.pid and start_time(pid) is not None}

    def leftovers(self):
        ours = {disk.process.pid for disk in [self.machine, *self.disks]}
        return {pid: command for pid, command in super().leftovers().items() if pid not in ours}

    def close(self, check=True):
        root = self.root
        self.root = os.path.join(root, "unmounted later")
        try:
            super().close(check)
        finally:
            for disk in [self.machine, *self.disks]:
                disk.close()
            shutil.rmtree(root, ignore_errors=True)


def end(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    return pid


class Clients:
    """Who submit from elsewhere, one after the other, each until it is answered."""

    def __init__(self, cluster, script, seed):
        self.cluster, self.script, self.draw = cluster, script, random.Random(seed)
        self.lock = threading.Lock()
        self.acknowledged, self.refused, self.ended = [], [], False
        self.threads = [threading.Thread(target=self.submit, daemon=True) for _ in range(CLIENTS)]
        for thread in self.threads:
            thread.start()

    def submit(self):
        while not self.ended:
            with self.lock:
                size = ARRAY if self.draw.random() < 0.25 else 1
            words = ["-a", f"0-{size - 1}"] if size > 1 else []
            done = self.cluster.muster("submit", "--parsable", "-o", "/dev/null", *words, self.script, patience=600)
            with self.lock:
                if done.returncode == 0:
                    self.acknowledged.extend(range(int(done.stdout), int(done.stdout) + size))
                else:
                    self.refused.append((size, done.stderr))
            time.sleep(0.05)

    def join(self):
        self.ended = True
        for thread in self.threads:
            thread.join()


class Campaign:
    """Cuts drawn from a seed over a stream of submissions."""

    def __init__(self, seed, pause):
        self.draw = random.Random(seed)
        self.pause = pause
        self.cuts = {"controller": 0, "node": 0, "all": 0}
        self.lost = [0, 0]      # changes of names, pieces of files
        self.seen = {}          # ends that a reader saw before a cut
        self.unseen = []        # of these, what a cut took back
        self.cluster = PowerCluster()
        try:
            with open(os.path.join(self.cluster.root, "muster.toml"), "w", encoding="utf-8") as file:
                file.write("[policy]\nrequeues_max = 1000000\n")
            self.cluster.controller.arguments += ["--config", file.name]
            # Every third job lasts up to a second, so that some run when their node's power fails.
            self.script = self.cluster.script(
                f"[ $((MUSTER_JOB_ID % 3)) = 0 ] && sleep 0.$((MUSTER_JOB_ID % 10))\nfinish $((MUSTER_JOB_ID % {CODES}))")
            self.cluster.start()
        except BaseException:
            self.cluster.close(check=False)
            raise
        self.clients = Clients(self.cluster, self.script, seed + 1)

    def look(self):
        """What a reader sees of the newest ends."""
        rows = self.cluster._rows(  # pylint: disable=protected-access
            f"SELECT id, state, exit_code FROM history ORDER BY rowid DESC LIMIT {LOOKED}")
        return {row["id"]: (row["state"], row["exit_code"]) for row in rows}

    def note(self, lost):
        self.lost = [a + b for a, b in zip(self.lost, lost)]

    def cut_nodes(self, indexes):
        for index in indexes:
            self.note(self.cluster.cut_node(index, self.draw.getrandbits(63)))

    def cut(self):
        """One cut; whatever lost its power is started again."""
        kind = self.draw.choices(["controller", "node", "all"], [4, 3, 3])[0]
        node = self.draw.randrange(2)
        if kind == "node":
            self.cut_nodes([node])
        else:
            before = self.look()
            self.note(self.cluster.cut_controller(self.draw.getrandbits(63)))
            if kind == "all":
                time.sleep(self.draw.random() * 0.3)  # what was ordered begins
                self.cut_nodes([0, 1])
            time.sleep(self.draw.random() * 0.2)
            self.cluster.controller.start()
            self.seen.update(before)
        for agent in self.cluster.agents:
            if agent.process.poll() is not None:
                agent.start()
        self.cuts[kind] += 1

    def run(self, cuts, tell=lambda line: None):
        began = told = time.monotonic()
        while sum(self.cuts.values()) < cuts:
            time.sleep(self.draw.expovariate(1 / self.pause))
            self.cut()
            if time.monotonic() - told > 30:
                told = time.monotonic()
                tell(f"{told - began:.0f} s: cuts {self.cuts}, lost {self.lost[0]} changes of names and {self.lost[1]} "
                     f"pieces of files, {len(self.clients.acknowledged)} jobs acknowledged")
        self.clients.join()

    def judge(self, patience=900):
        """[(promise, examples of how it was broken)]."""
        cluster, acknowledged = self.cluster, self.clients.acknowledged
        trouble = []
        try:
            cluster.wait_ended(*set(acknowledged), patience=patience)
        except AssertionError as why:
            trouble.append(str(why))
        rows, given = cluster.history(), cluster.submitted()
        truth = cluster.truth()
        twice = [key for key, lines in truth.items() if [word for word, _, _ in lines].count("begin") > 1]
        places = {}
        for job, attempt, node in truth:
            places.setdefault((job, attempt), []).append(node)
        twice += [key for key, nodes in places.items() if len(nodes) > 1]
        codes = cluster.ended_by_themselves()
        wrong = [(job, row["state"], row["exit_code"], codes.get(job)) for job, row in sorted(rows.items())
                 if row["state"] in ("COMPLETED", "FAILED") and (row["exit_code"], codes.get(job)) != (job % CODES, job % CODES)]
        back = [(job, end, job in rows and (rows[job]["state"], rows[job]["exit_code"])) for job, end in self.seen.items()
                if job not in rows or (rows[job]["state"], rows[job]["exit_code"]) != end]
        asked = len(set(acknowledged)) + sum(size for size, _ in self.clients.refused)
        return [
            ("an acknowledged job was lost", sorted(set(acknowledged) - set(rows))[:20] + trouble),
            ("an attempt ran twice", twice),
            ("an id was given out twice", sorted({job for job in given if given.count(job) > 1})
             if len(given) != len(set(given)) else []),
            ("an id was acknowledged twice", [] if len(set(acknowledged)) == len(acknowledged) else ["see the clients"]),
            ("an end that was seen was taken back", back),
            ("a job has another end than it wrote", wrong),
            ("a job has no proper end", [job for job in acknowledged if job in rows and rows[job]["state"] not in ENDED]),
            ("a job is there that nobody asked for", sorted(rows)[asked:]),
        ]
