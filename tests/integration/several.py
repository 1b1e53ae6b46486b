"""A cluster with several controllers on one PostgreSQL database, faults of their lead, and the judgement of what came of
them by what the jobs themselves wrote."""

import json
import os
import random
import signal
import subprocess
import threading
import time

from cluster import BIN, Cluster, PATIENCE, WIDE, program, start_time, wait_until
from patroni import Patroni
from postgres import Postgres, SOCKET, Way

CODES = 7  # job N ends with exit code N modulo this
FAULTS = ("kill", "stop", "cut", "away", "handover", "upgrade", "silence", "edit")
DISK_FAULTS = (*FAULTS, "full")  # of a database that has a disk of its own
PATRONI_FAULTS = ("primary", "kill", "handover")  # of a database that is a primary and a standby


class Several(Cluster):
    def __init__(self, controllers=2, nodes=1, lease="2s", synced=False, patroni=False, disk=None, doors=False):
        """`doors`: agents and clients reach each controller by a way that can be cut."""
        self.postgres = Patroni() if patroni else Postgres(synced, disk)
        super().__init__(nodes=nodes, topology=WIDE)
        settings = os.path.join(self.root, "muster.toml")
        with open(settings, "w", encoding="utf-8") as file:
            file.write(f'lease = "{lease}"\n')
        self.controllers, self.ways, self.doors = [], [], []
        for i in range(controllers):
            name = f"c{i + 1}"
            if not patroni:
                self.ways.append(Way(os.path.join(self.postgres.directory, SOCKET),
                                     os.path.join(self.root, "way-" + name), SOCKET))
            state = os.path.join(self.state, name)
            self.controllers.append(self._daemon("musterd", [
                "--state", state, "--listen", f"unix:{state}/socket", "--config", settings, "--name", name,
                "--store", self.postgres.url(host=None if patroni else self.ways[i].directory)], name))
            os.makedirs(state, mode=0o700)
        alone = self.address
        places = [f"{self.state}/c{i + 1}" for i in range(controllers)]
        if doors:
            self.doors = [Way(f"{place}/socket", os.path.join(self.root, "door-" + os.path.basename(place)), "socket")
                          for place in places]
            places = [door.directory for door in self.doors]
        self.address = ",".join(f"unix:{place}/socket" for place in places)
        for agent in self.agents:
            agent.arguments = [self.address if word == alone else word for word in agent.arguments]
        self.controller = self.controllers[0]

    def start(self):
        try:
            for controller in self.controllers:
                controller.start()
            wait_until(self.leader, "nobody leads")
            for agent in self.agents:
                agent.start()
        except BaseException:
            self.close(check=False)
            raise
        return self

    def command(self, *arguments):
        verb, rest = arguments[0], list(arguments[1:])
        return [program("muster"), verb, "--controller", self.address, *[str(a) for a in rest]]

    def _rows(self, query, values=()):
        for value in values:
            query = query.replace("?", str(int(value)), 1)
        return self.postgres.ask(query)

    def statuses(self):
        """What each controller says, by name; those that do not answer are left out."""
        done = self.muster("controller", "status", "--json")
        return {row["name"]: row for row in json.loads(done.stdout)["controllers"] if row["answers"]}

    def leader(self):
        """The number of the controller that leads; None while none does. Numbers are from 1, for truth."""
        for name, row in self.statuses().items():
            if row["leads"]:
                return int(name[1:])
        return None

    def replay(self):
        done = subprocess.run([program("muster"), "replay", self.postgres.url(), "--verify", "--json"], text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=PATIENCE, env=self.environment, check=False)
        return json.loads(done.stdout)

    def logs(self):
        return "\n".join(f"--- {d.log}\n{d.last_words()}" for d in [*self.controllers, *self.agents])

    def close(self, check=True):
        try:
            if check:
                wait_until(self.leader, "nobody leads")
                self.muster("cancel", "--all")
                wait_until(lambda: not self.supervisors(), "supervisors are left")
                replay = self.replay()
                if not replay["same"]:
                    raise AssertionError(f"replayed, it is not the same: {replay}")
        finally:
            for daemon in [*self.agents, *self.controllers]:
                if daemon.process is not None and daemon.process.poll() is None:
                    daemon.process.send_signal(signal.SIGCONT)
            for controller in self.controllers[1:]:
                controller.stop()
            super().close(check=False)
            for way in (*self.ways, *self.doors):
                way.close()
            self.postgres.close()


class Clients:
    """Who submit one after the other, until they are told to end. `older`: the first does so by the programs of that
    folder, whatever the controllers run."""

    def __init__(self, cluster, script, count=3, older=None):
        self.cluster, self.script = cluster, script
        self.lock = threading.Lock()
        self.acknowledged, self.refusals, self.times = [], [], []
        self.ending = False
        self.threads = [threading.Thread(target=self._submit, args=(BIN if i else older or BIN,), daemon=True)
                        for i in range(count)]
        for thread in self.threads:
            thread.start()

    def _submit(self, programs):
        words = self.cluster.command("submit", "--parsable", "-o", "/dev/null", self.script)
        words[0] = os.path.join(programs, "muster")
        while not self.ending:
            begun = time.monotonic()
            done = subprocess.run(words, cwd=self.cluster.work, text=True, capture_output=True, check=False,
                                  stdin=subprocess.DEVNULL, timeout=300, env=self.cluster.environment)
            with self.lock:
                if done.returncode == 0:
                    self.acknowledged.append(int(done.stdout))
                    self.times.append((begun, time.monotonic()))
                else:
                    self.refusals.append(done.stderr)
            time.sleep(0.05)

    def end(self):
        self.ending = True
        for thread in self.threads:
            thread.join()

    def next_after(self, moment):
        """When the first of those that were begun after that moment was acknowledged: the answer to one that was under
        way may be on its way, whatever happens to who gave it."""
        def found():
            with self.lock:
                return min((at for begun, at in self.times if begun > moment), default=None)
        return wait_until(found, lambda: f"nothing is accepted: {self.refusals[-3:]}; {self.cluster.logs()}", pause=0.01)


class Campaign:
    """Faults one after the other under a stream of submissions, with jobs that run from the first to the last."""

    def __init__(self, seed, status=8, away=5.0, controllers=2, synced=False, faults=FAULTS, older=None):
        """`older`: a folder of programs that all run until the first upgrade."""
        self.draw = random.Random(seed)
        self.away = away  # seconds that the database is
        self.cluster = Several(controllers, nodes=2, synced=synced, patroni="primary" in faults,
                               disk="256m" if "full" in faults else None, doors="silence" in faults)
        for daemon in [*self.cluster.controllers, *self.cluster.agents]:
            daemon.programs = older or BIN
        self.cluster.start()
        self.taken = {fault: [] for fault in faults}  # seconds until the next submission was accepted
        script = self.cluster.script(self.cluster.gate() + f"\nfinish $((MUSTER_JOB_ID % {CODES}))")
        first = self.cluster.submit("-a", f"0-{status - 1}", "-o", "/dev/null", script)
        self.status = set(range(first, first + status))
        wait_until(lambda: self.status <= set(self.cluster.begun()), "the status jobs did not begin")
        self.before = {job: start_time(pid) for job, pid in self.cluster.begun().items()}
        self.clients = Clients(self.cluster, self.cluster.script(f"finish $((MUSTER_JOB_ID % {CODES}))"), older=older)

    def upgrade(self):
        """Each controller in turn, who leads last, then each agent. A newer controller that may not begin yet, because an
        older one leads, is started again, as systemd does; else nobody is stopped before all answer."""
        leader = self.cluster.controllers[self.cluster.leader() - 1]
        order = sorted(self.cluster.controllers, key=lambda controller: controller is leader)
        newer = leader.programs != BIN
        starts = []
        for controller in order:
            controller.stop()
            controller.programs = BIN
            starts.append(threading.Thread(target=self._start_again, args=(controller,)))
            starts[-1].start()
            if not newer:
                starts[-1].join()
                self._wait_all_answer()
        for start in starts:
            start.join()
        self._wait_all_answer()
        for agent in self.cluster.agents:
            agent.stop()
            agent.programs = BIN
            agent.start()

    def _start_again(self, controller):
        def started():
            try:
                controller.start()
                return True
            except AssertionError:
                return False
        wait_until(started, self.cluster.logs, pause=0.5)

    def _wait_all_answer(self):
        wait_until(lambda: len(self.cluster.statuses()) == len(self.cluster.controllers), self.cluster.logs)

    def strike(self, fault):
        """One fault, and what was broken put right again."""
        number = wait_until(self.cluster.leader, self.cluster.logs)
        leader = self.cluster.controllers[number - 1]
        way = self.cluster.ways[number - 1] if self.cluster.ways else None
        moment = time.monotonic()

        def another_leads():
            found = self.cluster.leader()
            return found is not None and found != number
        if fault == "kill":
            leader.kill()
            moment = time.monotonic()
        elif fault == "stop":
            os.kill(leader.process.pid, signal.SIGSTOP)
            moment = time.monotonic()
            wait_until(another_leads, self.cluster.logs)
        elif fault == "cut":
            way.cut = True
            wait_until(another_leads, self.cluster.logs)
        elif fault == "away":
            self.cluster.postgres.stop()
            time.sleep(self.away)
            self.cluster.postgres.start()
            moment = time.monotonic()
        elif fault == "upgrade":
            self.upgrade()
        elif fault == "silence":
            self.cluster.doors[number - 1].cut = True
            time.sleep(self.away)
            self.cluster.doors[number - 1].cut = False
            moment = time.monotonic()
        elif fault == "full":
            self.cluster.postgres.fill()
            time.sleep(self.away)
            self.cluster.postgres.free()
            moment = time.monotonic()
        elif fault == "edit":
            self.cluster.postgres.ask("UPDATE muster_leader SET epoch = epoch + 1, holder = 'somebody', "
                                      "successor = '', lease_end = clock_timestamp() + interval '3 seconds'")
        elif fault == "primary":
            member, _ = self.cluster.postgres.fail_over()
        else:
            # A standby that has just begun may not have followed far enough to take over.
            wait_until(lambda: self.cluster.muster("controller", "handover").returncode == 0, self.cluster.logs)
        accepted = self.clients.next_after(moment)
        self.taken[fault].append(accepted - moment)
        if fault == "kill":
            leader.start()
        elif fault == "stop":
            os.kill(leader.process.pid, signal.SIGCONT)
        elif fault == "cut":
            way.cut = False
        elif fault == "primary":
            member.start()
            self.cluster.postgres.wait(self.cluster.postgres.is_whole, "the old primary does not follow")
        self._wait_all_answer()

    def judge(self):
        """[(promise, the cases in which it was broken)]."""
        self.clients.end()
        cluster = self.cluster
        pids, twice = {}, []
        for (job, attempt, node), lines in cluster.truth().items():
            for word, value, _ in lines:
                if word == "begin":
                    if job in pids:
                        twice.append((job, attempt, node))
                    pids[job] = value
        ended = [job for job in self.status if start_time(pids.get(job, 0)) != self.before[job]]
        cluster.open_gate(lambda: self.status <= set(cluster.ended_by_themselves()))
        expected = self.status | set(self.clients.acknowledged)
        cluster.wait_ended(*expected, patience=300)
        rows, codes, given = cluster.history(), cluster.ended_by_themselves(), cluster.submitted()
        wrong = [(job, row["state"], row["exit_code"], codes.get(job)) for job, row in sorted(rows.items())
                 if (row["exit_code"], codes.get(job)) != (job % CODES, job % CODES)]
        acknowledged = self.clients.acknowledged
        return [
            ("an acknowledged job was lost", sorted(expected - set(rows))),
            ("a job began twice", twice),
            ("an id was given out twice", sorted({job for job in given if given.count(job) > 1})),
            ("an id was acknowledged twice", sorted({job for job in acknowledged if acknowledged.count(job) > 1})),
            ("a running job ended", ended),
            ("a job has another end than it wrote", wrong),
        ]
