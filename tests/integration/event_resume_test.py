"""Readers of the gateway's events who come back, are far behind, or may not read any more."""

import contextlib
import http.client
import json
import socket
import time
import unittest
import uuid

import cluster
from cluster import wait_until
from door import Door


class Reader:
    """One connection to a stream of events; a context that ends it."""

    def __init__(self, port, token, query="", last=None, receive=None, path="/v1/events"):
        self.connection = socket.socket()
        if receive is not None:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        self.connection.settimeout(cluster.PATIENCE)
        self.connection.connect(("127.0.0.1", port))
        last = f"Last-Event-ID: {last}\r\n" if last is not None else ""
        self.connection.sendall(f"GET {path}{query} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n{last}"
                                "\r\n".encode())
        self.lines = self.connection.makefile("rb")
        self.status = int(self.lines.readline().split()[1])
        while self.lines.readline().strip():
            pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lines.close()
        self.connection.close()

    def blocks(self):
        """Whole blocks, until the connection ends."""
        block = {}
        with contextlib.suppress(ConnectionResetError):
            for line in self.lines:
                text = line.decode().rstrip("\n")
                if text and line.endswith(b"\n"):
                    key, _, value = text.partition(": ")
                    block[key] = value
                elif block and line == b"\n":
                    yield block
                    block = {}


class CutOffTest(Door):
    def told(self, first):
        """The numbers of the events from `first` on, as the controller tells them itself."""
        lines = self.cluster.must("events", "--json", "--from", first).splitlines()
        return [int(json.loads(line)["id"]) for line in lines]

    def make_events(self, count):
        """Large ones, of held jobs that say much of themselves."""
        notices = [f"notify=https://n{i}.example/" + "x" * 950 for i in range(4)]
        job = {"spec": {"name": "n" * 200, "held": True, "request": {"tasks": 1}, "recorded": notices},
               "program": {"script": "#!/bin/sh\n", "environment": ["PATH=/bin"], "workDir": "/tmp"}}
        headers = {"Authorization": "Bearer " + self.cluster.must("token"), "Content-Type": "application/json"}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=cluster.PATIENCE)
        with contextlib.closing(connection):
            for _ in range(count):
                connection.request("POST", "/v1/jobs", json.dumps(job | {"token": uuid.uuid4().hex}), headers)
                answer = connection.getresponse()
                text = answer.read()
                if answer.status == 429:  # so many requests a second and no more
                    time.sleep(0.5)
                self.assertIn(answer.status, (200, 429), text)

    def test_a_reader_who_is_cut_off_for_being_slow_resumes_and_misses_nothing(self):
        token = self.make_token("--read-only")
        got = []
        with Reader(self.port, token, receive=65536) as slow:
            last = int(next(slow.blocks())["id"])
            begin = last + 1
            self.make_events(4000)  # more than the ring and the kernel hold for him
            for block in slow.blocks():
                if "data" in block:
                    last = int(block["id"])
                    got.append(last)
        # He was cut off: the stream has an end.
        everything = self.told(begin)
        self.assertLess(len(got), len(everything))
        with Reader(self.port, token, last=last, receive=65536) as again:
            time.sleep(1)  # the controller would tell him all meanwhile
            for block in again.blocks():
                if "data" in block:
                    got.append(int(block["id"]))
                if got[-1:] == everything[-1:]:
                    break
        self.assertEqual(got, everything)
        # So does one who begins with everything behind him.
        with Reader(self.port, token, query=f"?from={begin}", receive=65536) as late:
            time.sleep(1)
            numbers = []
            for block in late.blocks():
                if "data" in block:
                    numbers.append(int(block["id"]))
                if len(numbers) == len(everything):
                    break
        self.assertEqual(numbers, everything)


class ArchivedTest(Door):
    settings = '[retention]\njournal = "10s"\njobs = "1d"\n'

    def test_who_comes_back_before_the_journals_beginning_is_told_where_it_begins(self):
        token = self.make_token("--read-only")
        job = self.cluster.submit("-o", "/dev/null", "--wrap", "true")
        self.cluster.wait_ended(job)

        def refused():
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=cluster.PATIENCE)
            with contextlib.closing(connection):
                connection.request("GET", "/v1/events", headers={"Authorization": "Bearer " + token, "Last-Event-ID": "1"})
                answer = connection.getresponse()
                return json.loads(answer.read()) if answer.status != 200 else None
        problem = wait_until(refused, "the journal did not begin again", 60)
        self.assertEqual((problem["status"], problem["code"]), (400, "OUT_OF_RANGE"))
        self.assertRegex(problem["detail"], "entries before [0-9]+ are in the archive; begin there")


class RevokedTest(Door):
    def test_a_stream_whose_token_is_revoked_ends_soon_though_nothing_happens(self):
        token = self.make_token("--read-only")
        listed = json.loads(self.cluster.must("token", "--list", "--json"))
        name = (listed["tokens"] if isinstance(listed, dict) else listed)[-1]["id"]
        with Reader(self.port, token) as reader, Reader(self.port, token, query="?job=1") as another:
            for each in (reader, another):
                self.assertIn("retry", next(each.blocks()))
            self.cluster.must("token", "--revoke", name)
            begun = time.monotonic()
            for each in (reader, another):
                self.assertEqual([block for block in each.blocks() if "data" in block], [])
            self.assertLess(time.monotonic() - begun, 5)  # a second, and a busy machine
        with Reader(self.port, token) as refused:
            self.assertEqual(refused.status, 401)

    def test_so_does_one_that_watches_a_job(self):
        token = self.make_token("--read-only")
        name = json.loads(self.cluster.must("token", "--list", "--json"))["tokens"][-1]["id"]
        job = self.submit("--hold", "--wrap", "true")
        with Reader(self.port, token, path=f"/v1/jobs/{job}/watch") as reader:
            self.assertEqual(next(reader.blocks())["event"], "job")
            self.cluster.must("token", "--revoke", name)
            self.assertEqual(list(reader.blocks()), [])


class WatchTest(Door):
    def test_a_job_is_told_at_each_change_until_it_is_over(self):
        job = self.submit("--hold", "--wrap", "exit 3")
        with Reader(self.port, self.reader, path=f"/v1/jobs/{job}/watch") as reader:
            blocks = reader.blocks()
            first = json.loads(next(blocks)["data"])["job"]
            self.assertEqual((first["id"], first["state"]), (job, "PENDING"))
            self.cluster.must("release", job)
            told = list(blocks)
        self.assertEqual(told[-1], {"event": "end", "data": "{}"})
        last = json.loads(told[-2]["data"])["job"]
        self.assertEqual((last["state"], last["exit_code"]), ("FAILED", 3))

    def test_what_cannot_be_watched_is_refused(self):
        for path, status in (("/v1/jobs/999999/watch", 404), ("/v1/jobs/x/watch", 404)):
            self.assertEqual(self.ask("GET", path, self.reader)[0], status, path)
        self.assertEqual(self.ask("GET", "/v1/jobs/1/watch")[0], 401)
        self.assertEqual(self.ask("POST", "/v1/jobs/1/watch", self.token, {})[0], 405)


if __name__ == "__main__":
    unittest.main()
