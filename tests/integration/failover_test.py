"""Several controllers on one database: what jobs, clients and agents notice when the one that leads is lost."""

import contextlib
import http.client
import json
import os
import socket
import threading
import unittest

import patroni
from cluster import PATIENCE, wait_until
from several import Campaign, DISK_FAULTS, FAULTS, Several


class StandbyTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Several(controllers=2).start()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.close()

    def standby(self):
        leader = wait_until(self.cluster.leader, "nobody leads")
        return f"unix:{self.cluster.state}/c{3 - leader}/socket"

    def at_standby(self, *arguments):
        """Runs a verb that knows the standby alone."""
        everywhere, self.cluster.address = self.cluster.address, self.standby()
        try:
            return self.cluster.muster(*arguments)
        finally:
            self.cluster.address = everywhere

    def test_a_standby_answers_questions_and_says_how_old_its_answer_is(self):
        job = self.cluster.submit("--hold", "--wrap", "true")
        wait_until(lambda: str(job) in self.at_standby("queue").stdout, "the standby does not know the job")
        rows = json.loads(self.at_standby("controller", "status", "--json").stdout)["controllers"]
        self.assertFalse(rows[0]["leads"])
        self.assertLess(rows[0]["age_ms"], PATIENCE * 1000)
        self.cluster.must("cancel", job)

    def test_a_standby_refuses_a_change_in_one_line(self):
        done = self.at_standby("submit", "--wrap", "true")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"^muster submit: this controller is a standby: name all [^\n]*\n$")

    def test_a_handover_names_who_leads_then(self):
        before = wait_until(self.cluster.leader, "nobody leads")
        self.assertEqual(self.cluster.must("controller", "handover", f"c{3 - before}"), f"c{3 - before} leads")
        job = self.cluster.submit("-o", "/dev/null", self.cluster.script("finish 3"))
        self.assertEqual(self.cluster.wait_ended(job)[0]["exit_code"], 3)

    def test_a_handover_to_who_leads_already_is_refused(self):
        leader = wait_until(self.cluster.leader, "nobody leads")
        done = self.cluster.muster("controller", "handover", f"c{leader}")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, rf"^muster controller: c{leader} leads already\n$")


def change_leader(cluster, how, meanwhile=lambda: None):
    before = wait_until(cluster.leader, "nobody leads")

    def changed():
        return cluster.leader() not in (None, before)

    if how == "killed":
        cluster.controllers[before - 1].kill()
    else:
        # A standby that has just begun may not have followed far enough to take over; one that took over late is
        # not to hand it back.
        wait_until(lambda: changed() or cluster.muster("controller", "handover").returncode == 0, cluster.logs)
    meanwhile()
    wait_until(changed, cluster.logs)
    if how == "killed":
        cluster.controllers[before - 1].start()
        wait_until(lambda: len(cluster.statuses()) == 2, cluster.logs)


class StreamsTest(unittest.TestCase):
    """What clients hear who have a stream open to a leader that leads no more."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = Several(controllers=2).start()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.close()

    def gate_of(self, name):
        return os.path.join(self.cluster.work, name)

    def waits_for(self, gate):
        return f"while [ ! -e {self.gate_of(gate)} ]; do sleep 0.05; done"

    def open(self, gate):
        with open(self.gate_of(gate), "w", encoding="utf-8"):
            pass

    def ended(self, client):
        out, err = client.communicate(timeout=PATIENCE)
        return client.returncode, out, err

    def test_run_and_a_waiting_submission_end_as_their_jobs_do_whoever_leads_then(self):
        for how in ("handed_over", "killed"):
            with self.subTest(how=how):
                script = f"echo begun; {self.waits_for(how)}; echo done; exit 3"
                run = self.cluster.begin("run", "sh", "-c", script)
                submit = self.cluster.begin("submit", "--wait", "--parsable", "-o", "/dev/null", "--wrap",
                                            f"{self.waits_for(how)}; exit 4")
                wait_until(lambda: len([job for job in self.cluster.queue().values()
                                        if job["state"] == "RUNNING"]) == 2, self.cluster.logs)
                change_leader(self.cluster, how)
                self.open(how)
                self.assertEqual(self.ended(run)[:2], (3, "begun\ndone\n"))
                self.assertEqual(self.ended(submit)[0], 4)

    def test_a_submission_that_waits_ends_though_its_job_ended_while_nobody_led(self):
        submit = self.cluster.begin("submit", "--wait", "--parsable", "-o", "/dev/null", "--wrap",
                                    f"{self.waits_for('alone')}; exit 5")
        wait_until(lambda: [job for job in self.cluster.queue().values() if job["state"] == "RUNNING"],
                   self.cluster.logs)
        leader = self.cluster.controllers[wait_until(self.cluster.leader, "nobody leads") - 1]
        leader.kill()
        self.open("alone")
        self.assertEqual(self.ended(submit)[0], 5)
        leader.start()

    def test_a_batch_of_submissions_goes_on_at_the_next_leader_and_makes_each_job_once(self):
        path = os.path.join(self.cluster.work, "batch")
        count = 3000
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"-H --wrap true -J b{i}\n" for i in range(count))
        batch = self.cluster.begin("submit", "--parsable", "--batch", path)
        wait_until(self.cluster.queue, "none is submitted", pause=0.01)
        change_leader(self.cluster, "handed_over")
        code, out, err = self.ended(batch)
        self.assertEqual((code, err), (0, ""))
        jobs = [int(line) for line in out.split()]
        self.assertEqual(len(set(jobs)), count)
        names = {row["id"]: row["name"] for row in self.cluster.queue().values()}
        self.assertEqual([names[job] for job in jobs], [f"b{i}" for i in range(count)])
        self.assertEqual(len(names), count)
        self.cluster.must("cancel", "--all")

    def test_a_reader_of_events_misses_none_and_is_told_none_twice(self):
        reader = self.cluster.begin("events", "--follow", "--json")
        heard = []
        listening = threading.Thread(
            target=lambda: heard.extend(json.loads(line) for line in reader.stdout), daemon=True)
        listening.start()
        wait_until(lambda: self.cluster.submit("-H", "--wrap", "true") and heard, self.cluster.logs)
        for how in ("handed_over", "killed", "handed_over"):
            self.cluster.submit("-H", "--wrap", "true")
            change_leader(self.cluster, how)
            last = self.cluster.submit("-H", "--wrap", "true")
            wait_until(lambda: [event for event in heard if event["type"] == "muster.job.submitted"
                                and event["subject"] == f"job/{last}"], lambda: f"{heard[-3:]} {last}")
        told = [int(event["id"]) for event in heard]
        written = [int(json.loads(line)["id"]) for line in
                   self.cluster.must("events", "--json", "--from", told[0]).splitlines()]
        self.assertEqual(told, written[:len(told)])
        reader.kill()
        reader.communicate()
        self.cluster.must("cancel", "--all")


class GatewayTest(unittest.TestCase):
    """Callers over HTTP, who know one gateway and hold a token."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = Several(controllers=2)
        doors = [f"unix:{cls.cluster.state}/c{i + 1}/gateway" for i in range(2)]
        for controller, door in zip(cls.cluster.controllers, doors):
            controller.arguments += ["--gateway-socket", door]
        cls.cluster.start()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            cls.port = free.getsockname()[1]
        cls.gateway = cls.cluster._daemon(
            "muster-gateway", ["--controller", ",".join(doors), "--listen", f"127.0.0.1:{cls.port}"], "gateway")
        cls.gateway.start()

    @classmethod
    def tearDownClass(cls):
        cls.gateway.stop()
        cls.cluster.close()

    def ask(self, method, path, token, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        with contextlib.closing(connection):
            connection.request(method, path, None if body is None else json.dumps(body),
                               {"Authorization": "Bearer " + token, "Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())

    def submit(self, token):
        status, body = self.ask("POST", "/v1/Submit", token, {
            "spec": {"kind": "JOB_KIND_BATCH", "name": "web", "held": True},
            "program": {"script": "#!/bin/sh\n", "argv": ["web"], "work_dir": "/"}})
        self.assertEqual(status, 200, body)
        return int(body["job"])

    def test_a_token_is_good_and_a_request_is_done_whoever_leads(self):
        token = self.cluster.must("token")
        jobs = [self.submit(token)]
        for how in ("handed_over", "killed"):
            change_leader(self.cluster, how, lambda: jobs.append(self.submit(token)))
            jobs.append(self.submit(token))
        self.assertEqual(sorted(set(jobs)), jobs, "each request made one job")
        listed = self.ask("GET", "/v1/jobs?state=PENDING", token)[1]["jobs"]
        self.assertEqual({int(job["id"]) for job in listed if job["name"] == "web"}, set(jobs))
        ids = [row["id"] for row in json.loads(self.cluster.must("token", "--list", "--json"))["tokens"]]
        self.assertEqual(len(ids), 1)
        self.cluster.must("token", "--revoke", ids[0])
        # A controller that does not lead reads the list again every second.
        wait_until(lambda: self.ask("GET", "/v1/jobs", token)[0] == 401, "a revoked token counts")
        self.cluster.must("cancel", "--all")


ROUNDS = (*FAULTS, "kill", "cut")


class FailoverTest(unittest.TestCase):
    def test_no_job_is_lost_run_twice_or_ended_whatever_happens_to_the_lead(self):
        campaign = Campaign(seed=25)
        try:
            for number, fault in enumerate(ROUNDS, 1):
                with self.subTest(number=number, fault=fault):
                    campaign.strike(fault)
            for promise, broken in campaign.judge():
                self.assertEqual(broken, [], promise)
        except BaseException:
            campaign.clients.ending = True
            campaign.cluster.close(check=False)
            raise
        campaign.cluster.close()


@unittest.skipUnless(os.geteuid() == 0, "a disk of the database's own takes root")
class FullDiskTest(unittest.TestCase):
    def test_a_submission_is_refused_in_words_while_the_databases_disk_is_full_and_nothing_is_lost(self):
        campaign = Campaign(seed=25, faults=DISK_FAULTS, away=15)
        try:
            campaign.strike("full")
            refused = campaign.clients.refusals
            self.assertTrue(refused)
            for line in refused:
                self.assertRegex(line, r"\Amuster submit: [^\n]+\n\Z")
            for promise, broken in campaign.judge():
                self.assertEqual(broken, [], promise)
        except BaseException:
            campaign.clients.ending = True
            campaign.cluster.close(check=False)
            raise
        campaign.cluster.close()


@unittest.skipUnless(patroni.PROGRAM and patroni.ETCD, "patroni or etcd is not installed")
class PatroniTest(unittest.TestCase):
    def test_no_job_is_lost_when_the_databases_primary_dies_and_its_standby_takes_over(self):
        campaign = Campaign(seed=25, faults=("primary",))
        try:
            campaign.strike("primary")
            for promise, broken in campaign.judge():
                self.assertEqual(broken, [], promise)
        except BaseException:
            campaign.clients.ending = True
            campaign.cluster.close(check=False)
            raise
        campaign.cluster.close()


if __name__ == "__main__":
    unittest.main()
