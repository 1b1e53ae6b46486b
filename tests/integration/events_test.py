"""Events of a real cluster: `muster events`, and server-sent events of the gateway."""

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import threading
import unittest

import cluster
from cluster import wait_until
from door import Door


class EventsTest(Door):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.token = cls.reader

    def submit(self, *options):
        return int(super().submit(*options))

    def events(self, *options):
        """What `muster events` prints and ends, as documents."""
        told = self.cluster.muster("events", "--json", *options)
        self.assertEqual((told.returncode, told.stderr), (0, ""))
        return [json.loads(line) for line in told.stdout.splitlines()]

    def await_end(self, job):
        wait_until(lambda: any(one["type"] == "muster.job.ended" for one in self.events("--job", job)), "it ended")

    def follow(self, *options):
        process = self.cluster.begin("events", "--follow", "--json", *options, stdout=subprocess.PIPE)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdout.close)
        return process

    def stream(self, path="/v1/events", **headers):
        """A generator of (id, event, data) of the gateway's stream."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=cluster.PATIENCE)
        self.addCleanup(connection.close)
        connection.request("GET", path, headers={"Authorization": "Bearer " + self.token,
                                                 **{key.replace("_", "-"): value for key, value in headers.items()}})
        answer = connection.getresponse()
        self.assertEqual(answer.status, 200, answer.msg)
        self.assertEqual(answer.headers["Content-Type"].split(";")[0], "text/event-stream")

        def blocks():
            block = {}
            for line in answer:
                line = line.decode().rstrip("\n")
                if line:
                    key, _, value = line.partition(": ")
                    block[key] = value
                elif block:
                    yield block
                    block = {}
        return blocks()

    def test_a_jobs_life_is_told_as_cloudevents_in_order(self):
        job = self.submit("--job-name", "<b>\u202e🙂", "--mail-type", "END", "--wrap", "exit 3")
        self.await_end(job)
        told = self.events("--job", job)
        kinds = [one["type"].removeprefix("muster.job.") for one in told]
        self.assertEqual(kinds[:2], ["submitted", "started"])
        self.assertEqual(kinds[-1], "ended")
        numbers = [int(one["id"]) for one in told]
        self.assertEqual(numbers, sorted(set(numbers)))
        for one in told:
            self.assertEqual(set(one), {"specversion", "id", "source", "type", "subject", "time", "datacontenttype",
                                        "data"})
            self.assertEqual((one["specversion"], one["subject"]), ("1.0", f"job/{job}"))
            self.assertEqual(one["data"]["name"], "<b>\u202e🙂")
            self.assertEqual(one["data"]["notices"], ["mail-type=END"])
        self.assertEqual((told[-1]["data"]["state"], told[-1]["data"]["exit_code"]), ("FAILED", 3))
        self.assertEqual([one["id"] for one in self.events("--from", numbers[1], "--job", job)],
                         [str(number) for number in numbers[1:]])
        text = self.cluster.muster("events", "--job", job).stdout
        self.assertIn("ended: FAILED, exit code 3", text)
        self.assertNotIn("\u202e", text)

    def test_a_follower_misses_nothing_while_the_controller_is_killed(self):
        follower = self.follow("--from", 1)
        seen = []
        reader = threading.Thread(target=lambda: seen.extend(json.loads(line) for line in follower.stdout))
        reader.start()
        first = self.submit("--wrap", "true")
        self.await_end(first)
        self.cluster.controller.kill()
        self.cluster.controller.start()
        second = self.submit("--wrap", "true")
        self.await_end(second)
        everything = self.events("--from", 1)
        wait_until(lambda: [one["type"] for one in list(seen) if one["data"].get("job") == second][-1:] ==
                   ["muster.job.ended"], lambda: f"the follower goes on: {seen[-3:]}")
        follower.send_signal(signal.SIGTERM)
        reader.join()
        self.assertEqual(seen[:len(everything)], everything)
        self.assertIn("muster.controller.started", [one["type"] for one in everything])

    def test_the_gateway_streams_and_resumes(self):
        blocks = self.stream("/v1/events")
        begin = next(blocks)
        self.assertEqual(begin["retry"], "2000")
        job = self.submit("--wrap", "true")
        got = []
        while not got or got[-1]["event"] != "muster.job.ended":
            block = next(blocks)
            if "data" in block:
                got.append(block)
        self.assertEqual(json.loads(got[-1]["data"])["data"]["job"], job)
        self.assertEqual([block["id"] for block in got], [json.loads(block["data"])["id"] for block in got])
        again = self.stream("/v1/events", Last_Event_ID=begin["id"])
        next(again)
        for block in got:
            self.assertEqual(next(again), block)
        old = self.stream("/v1/events?from=1")
        next(old)
        self.assertEqual(next(old)["event"], "muster.controller.started")
        alone = self.stream(f"/v1/events?from=1&job={job}")
        next(alone)
        self.assertEqual(next(alone)["event"], "muster.job.submitted")

    def test_many_readers_of_one_stream_miss_nothing(self):
        readers = [self.stream() for _ in range(300)]  # more than get each event at once, and than get theirs at a time
        for reader in readers:
            next(reader)
        job = self.submit("--array", "0-19", "--wrap", "true")
        for leaver in readers[:40]:
            leaver.close()
        del readers[:40]
        got = []
        for reader in readers:
            blocks = []
            while sum(block["event"] == "muster.job.ended" for block in blocks) < 20:
                block = next(reader)
                if "data" in block:
                    blocks.append(block)
            got.append(blocks)
        numbers = [int(block["id"]) for block in got[0]]
        self.assertEqual(numbers, sorted(set(numbers)))
        for blocks in got[1:]:
            self.assertEqual(blocks, got[0])
        told = [one["id"] for one in self.events("--job", job)]
        self.assertEqual([number for number in told if int(number) in numbers], told)

    def test_who_may_not_or_asks_nonsense_is_told(self):
        for path, token, expected in (("/v1/events", "", 401), ("/v1/events?from=x", self.token, 400),
                                      ("/v1/events?color=red", self.token, 400),
                                      ("/v1/events?from=999999999", self.token, 400)):
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=cluster.PATIENCE)
            with contextlib.closing(connection):
                connection.request("GET", path, headers={"Authorization": "Bearer " + token} if token else {})
                answer = connection.getresponse()
                self.assertEqual(answer.status, expected, path)
                self.assertEqual(json.loads(answer.read())["status"], expected)
        for wrong in (("--from", "0"), ("--from", "x"), ("--job", "7_3x")):
            self.assertEqual(self.cluster.muster("events", *wrong).returncode, 2, wrong)
        self.assertEqual(self.cluster.muster("events", "--from", "999999999").returncode, 1)

    def test_a_reader_who_does_not_read_holds_nobody_up(self):
        lazy = socket.create_connection(("127.0.0.1", self.port))
        self.addCleanup(lazy.close)
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        lazy.sendall(f"GET /v1/events?from=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.token}\r\n\r\n".encode())
        stopped = self.follow()
        os.kill(stopped.pid, signal.SIGSTOP)
        self.addCleanup(os.kill, stopped.pid, signal.SIGCONT)
        job = self.submit("--array", "0-199", "--wrap", "true")
        wait_until(lambda: self.cluster.muster("queue", "--json").stdout.count('"id"') == 0, "all have run")
        self.assertEqual(len([one for one in self.events("--job", job) if one["type"] == "muster.job.ended"]), 200)

    def test_a_job_shows_its_curve(self):
        job = self.submit("--wrap", "while :; do :; done")

        def curve():
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=cluster.PATIENCE)
            with contextlib.closing(connection):
                connection.request("GET", f"/v1/jobs/{job}/curve", headers={"Authorization": "Bearer " + self.token})
                answer = connection.getresponse()
                body = json.loads(answer.read())
                return body["curves"][0]["points"] if answer.status == 200 else None
        points = wait_until(curve, "samples came")
        self.assertGreater(max(point["cpus"] for point in points), 0.05)
        self.assertGreater(int(points[-1]["memory"]), 0)
        self.cluster.muster("cancel", job)


if __name__ == "__main__":
    unittest.main()
