"""kill -9 of each daemon while jobs are submitted and run: nothing is lost, nothing runs twice."""

import os
import signal
import threading
import unittest

from cluster import (Cluster, ClusterTest, WIDE, processes_with, read_file, start_time, start_up,
                     wait_until)

SUBMISSIONS = int(os.environ.get("MUSTER_SUBMISSIONS", "500"))
CLIENTS = 5
CODES = 7  # job N ends with exit code N modulo this


class Submitters:
    """Client processes that submit one job after the other, as fast as they can."""

    def __init__(self, cluster, script, count):
        self.cluster, self.script, self.left = cluster, script, count
        self.lock = threading.Lock()
        self.acknowledged, self.refused = [], []
        self.threads = [threading.Thread(target=self._submit) for _ in range(CLIENTS)]

    def start(self):
        for thread in self.threads:
            thread.start()
        return self

    def _submit(self):
        while True:
            with self.lock:
                if self.left == 0:
                    return
                self.left -= 1
            done = self.cluster.muster("submit", "--parsable", "-o", "/dev/null", self.script)
            with self.lock:
                if done.returncode == 0:
                    self.acknowledged.append(int(done.stdout))
                else:
                    self.refused.append(done.stderr)

    def wait_for(self, count):
        wait_until(lambda: len(self.acknowledged) + len(self.refused) >= count,
                   lambda: f"{len(self.acknowledged)} submissions, {len(self.refused)} refused",
                   120)

    def join(self):
        for thread in self.threads:
            thread.join()


class CrashTest(ClusterTest):
    """Two nodes with 64 cores to place jobs on each; binding is not what is looked at here."""

    nodes = 2
    topology = WIDE
    own = True

    def check_crash(self, crash, crashes=2):
        """Runs 100 jobs, submits SUBMISSIONS more, crashes in the middle of that, and judges."""
        cluster = self.cluster
        body = cluster.gate() + f"\nfinish $((MUSTER_JOB_ID % {CODES}))"
        gated = cluster.script(body)
        first = cluster.submit("-a", "0-99", "-o", "/dev/null", gated)
        running = set(range(first, first + 100))
        wait_until(lambda: running <= set(cluster.begun()),
                   lambda: f"{len(cluster.begun())} of 100 jobs began; {cluster.logs()}")
        before = {job: start_time(pid) for job, pid in cluster.begun().items()}
        self.assertNotIn(None, before.values())
        submitters = Submitters(
            cluster, cluster.script(f"finish $((MUSTER_JOB_ID % {CODES}))"), SUBMISSIONS).start()
        try:
            for number in range(crashes):
                submitters.wait_for(SUBMISSIONS * (number + 1) // (crashes + 2))
                crash()
        finally:
            submitters.join()
        pids = cluster.begun()
        self.assertEqual({job: start_time(pids[job]) for job in running}, before,
                         "a job that ran did not live through it")
        self.judge(submitters, running)

    def judge(self, submitters, running):
        cluster = self.cluster
        expected = sorted(running | set(submitters.acknowledged))
        self.assertEqual(len(expected), len(running) + len(submitters.acknowledged),
                         "an id was acknowledged twice")
        cluster.open_gate(lambda: running <= set(cluster.ended_by_themselves()))
        cluster.wait_ended(*expected, patience=240)
        rows = cluster.history()
        # What was not acknowledged is there as a whole or not at all.
        self.assertLessEqual(len(set(rows) - set(expected)), len(submitters.refused))
        given = cluster.submitted()
        self.assertEqual(len(given), len(set(given)), "an id was given out twice")
        self.assertLessEqual(set(expected), set(given))
        began = cluster.begun()  # fails when one began twice
        self.assertEqual(sorted(set(expected) - set(began)), [], "ended without having run")
        codes = cluster.ended_by_themselves()
        wrong = {job: (row["state"], row["exit_code"], codes.get(job)) for job, row in rows.items()
                 if row["exit_code"] != job % CODES or codes.get(job) != job % CODES
                 or row["state"] != ("FAILED" if job % CODES else "COMPLETED")}
        self.assertEqual(wrong, {}, "(state, exit code, code that the job wrote)")
        for refusal in submitters.refused:
            self.assert_one_line(refusal)

    def test_a_killed_controller_loses_no_acknowledged_job_and_runs_none_twice(self):
        def crash():
            self.cluster.controller.kill()
            self.cluster.controller.start()
        self.check_crash(crash, crashes=4)
        for agent in self.cluster.agents:
            self.assertIsNone(agent.process.poll(), agent.last_words())

    def test_killed_agents_lose_no_job_and_run_none_twice(self):
        def crash():
            for agent in self.cluster.agents:
                agent.kill()
            for agent in self.cluster.agents:
                agent.start()
        self.check_crash(crash)

    def test_a_controller_and_agents_killed_together_lose_nothing_and_run_nothing_twice(self):
        def crash():
            self.cluster.controller.kill()
            for agent in self.cluster.agents:
                agent.kill()
            self.cluster.controller.start()
            for agent in self.cluster.agents:
                agent.start()
        self.check_crash(crash)

    def test_jobs_that_end_while_every_daemon_is_dead_keep_their_exit_codes(self):
        cluster = self.cluster
        first = cluster.submit("-a", "0-19", cluster.script(
            cluster.gate() + f"\nfinish $((MUSTER_JOB_ID % {CODES}))"))
        jobs = range(first, first + 20)
        wait_until(lambda: set(jobs) <= set(cluster.begun()), "20 jobs did not begin")
        for daemon in [cluster.controller, *cluster.agents]:
            daemon.kill()
        cluster.open_gate(lambda: set(jobs) <= set(cluster.ended_by_themselves()))
        wait_until(lambda: not cluster.supervisors(), "supervisors wait for somebody")
        for daemon in [cluster.controller, *cluster.agents]:
            daemon.start()
        rows = cluster.wait_ended(*jobs)
        self.assertEqual([row["exit_code"] for row in rows], [job % CODES for job in jobs])
        cluster.begun()

    def test_a_killed_supervisor_fails_its_job_and_leaves_none_of_its_processes(self):
        job = self.cluster.submit(self.cluster.script(
            "setsid sleep 1000 &\nsleep 1000 &\nsleep 1000"))
        wait_until(lambda: job in self.cluster.begun(), "the job did not begin")
        (supervisor,) = self.cluster.supervisors()
        os.kill(supervisor, signal.SIGKILL)
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "FAILED")
        (attempt,) = self.cluster.attempts(job)
        self.assertIn("supervisor", attempt["cause"] + attempt["detail"].decode(errors="replace"))

        def left():
            return [pid for pid in processes_with(self.cluster.state)
                    if f"MUSTER_JOB_ID={job}\0".encode() in read_file(f"/proc/{pid}/environ")]
        wait_until(lambda: not left(), lambda: f"of job {job} is left: {left()}", 10)
        self.assertIsNone(start_time(self.cluster.begun()[job]))


class UpCrashTest(unittest.TestCase):
    """The same daemons under `muster up`."""

    def setUp(self):
        self.cluster = Cluster()
        self.addCleanup(self.cluster.close)
        start_up(self.cluster, "--topology", WIDE)

    def test_up_starts_a_killed_daemon_again_and_jobs_go_on(self):
        cluster = self.cluster
        job = cluster.submit(cluster.script(cluster.gate() + "\nfinish 6"))
        wait_until(lambda: job in cluster.begun(), "the job did not begin")
        for name in ("musterd", "muster-agent"):
            (pid,) = cluster.daemons_of_up(name)
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda: [p for p in cluster.daemons_of_up(name) if p != pid],
                       f"{name} was not started again")
        cluster.open_gate(lambda: job in cluster.history())
        self.assertEqual(cluster.history()[job]["exit_code"], 6)
        cluster.begun()

    def test_jobs_outlive_up_and_the_next_up_adopts_them(self):
        cluster = self.cluster
        job = cluster.submit(cluster.script(cluster.gate() + "\nfinish 6"))
        wait_until(lambda: job in cluster.begun(), "the job did not begin")
        cluster.up.terminate()
        said, _ = cluster.up.communicate()
        self.assertEqual(cluster.up.returncode, 0)
        self.assertIn("1 job runs on under its supervisor", said)
        self.assertIsNotNone(start_time(cluster.begun()[job]))
        self.restart()
        cluster.open_gate(lambda: job in cluster.history())
        self.assertEqual(cluster.history()[job]["exit_code"], 6)
        cluster.begun()

    def restart(self):
        start_up(self.cluster, "--topology", WIDE, fresh=False)


if __name__ == "__main__":
    unittest.main()
