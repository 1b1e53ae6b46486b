"""The gateway of a real cluster: REST, metrics and the page, tokens that open and texts that do not.

Prometheus and promtool are Debian's; OpenAPI's shape is judged by python3-jsonschema.
"""

import base64
import contextlib
import http.client
import http.server
import json
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import unittest

import cluster
from cluster import Cluster, program, wait_until
from door import Door

try:
    import jsonschema
except ImportError:
    jsonschema = None


class GatewayTest(Door):
    def test_nothing_is_answered_without_a_token(self):
        for path in ("/v1/jobs", "/v1/ListJobs", "/v1/nodes", "/metrics", "/v1/Nothing"):
            for token in (None, "", "x", "a.b.c", self.token[:-4] + "AAAA", self.token + ".x"):
                status, headers, body = self.ask("GET", path, token)
                self.assertIn(status, (401, 404) if path.endswith("Nothing") else (401,), (path, body))
                if status == 401:
                    self.assertEqual(headers["WWW-Authenticate"], 'Bearer realm="muster"')
                    self.assertEqual(headers["Content-Type"], "application/problem+json")
                    self.assertEqual(body["code"], "UNAUTHENTICATED")
        for path in (f"/v1/jobs?token={self.token}", f"/v1/jobs?access_token={self.token}"):
            self.assertEqual(self.ask("GET", path)[0], 401, "no token counts in an address")
        self.assertEqual(self.ask("GET", "/livez")[::2], (200, b"ok\n"))
        wait_until(lambda: self.ask("GET", "/readyz")[0] == 200, "ready")

    def test_jobs_are_submitted_listed_shown_and_cancelled(self):
        job = self.submit("--hold", "--job-name", "<b>ö\u202e🙂", "--wrap", "sleep 60")
        listed = self.get(f"/v1/jobs?state=PENDING&job={job}")["jobs"]
        self.assertEqual([one["id"] for one in listed], [job])
        self.assertEqual(listed[0]["name"], "<b>ö\u202e🙂")
        self.assertEqual(self.get(f"/v1/jobs/{job}")["jobs"][0]["job"]["state"], "PENDING")
        self.assertIn("held", self.get(f"/v1/jobs/{job}/explanation")["summary"].lower())
        self.assertEqual(self.get("/v1/nodes/node1")["nodes"][0]["name"], "node1")
        status, _, body = self.ask("POST", "/v1/Cancel", self.token, {"jobs": [{"job": job}]})
        self.assertEqual((status, body["errors"]), (200, []))
        wait_until(lambda: self.get(f"/v1/history?job={job}")["jobs"], "the job has ended")
        self.assertEqual(self.get(f"/v1/history?job={job}")["jobs"][0]["state"], "CANCELLED")

    def test_the_end_of_a_jobs_output_and_its_ranks_are_there(self):
        job = self.submit("--wrap", "printf 'one\\ntw\\303\\266\\n'; read line </dev/null; exec sleep 600")
        self.addCleanup(self.cluster.muster, "cancel", job)

        def tail(**query):
            words = "&".join(f"{name}={value}" for name, value in query.items())
            return self.get(f"/v1/jobs/{job}/output?{words}", self.reader)
        wait_until(lambda: tail(tail=1).get("data"), "no output")
        piece = tail(tail=1)
        self.assertEqual(base64.b64decode(piece["data"]).decode(), "twö\n")
        self.assertEqual((piece["offset"], piece["size"], piece["ended"]), ("4", "9", False))
        again = tail(offset=9, file=piece["file"])
        self.assertEqual((again["data"], again["offset"]), ("", "9"))
        ranks = self.get(f"/v1/jobs/{job}/ranks", self.reader)["ranks"]
        self.assertEqual([(one["node"], one["step"], one["rank"]) for one in ranks], [("node1", 0, 0)])
        status, _, body = self.ask("GET", "/v1/jobs/999999/output", self.token)
        self.assertEqual((status, body["code"]), (404, "NOT_FOUND"))

    def test_what_only_reads_changes_nothing(self):
        job = self.submit("--hold", "--wrap", "true")
        self.assertTrue(self.get(f"/v1/jobs?job={job}", self.reader)["jobs"])
        for method, path, body in (("POST", "/v1/Cancel", {"jobs": [{"job": job}]}),
                                   ("POST", "/v1/Hold", {"jobs": [{"job": job}]}),
                                   ("POST", "/v1/Drain", {"node": "node1", "drained": True}),
                                   ("POST", "/v1/CreateToken", {})):
            status, _, answer = self.ask(method, path, self.reader, body)
            self.assertEqual((status, answer["code"]), (403, "PERMISSION_DENIED"), path)
        self.assertEqual(self.ask("POST", "/v1/CreateToken", self.token, {})[0], 403, "no token makes one")
        self.assertEqual(self.ask("POST", "/v1/ChangePolicy", self.token, {"name": "x"})[0], 403)
        self.assertEqual(self.get(f"/v1/jobs/{job}")["jobs"][0]["job"]["state"], "PENDING")
        self.assertEqual(self.ask("GET", "/v1/Cancel", self.token)[0], 405)
        self.cluster.muster("cancel", job)

    def test_a_revoked_token_is_refused_at_once(self):
        token = self.make_token("--lifetime", "1h")
        self.assertTrue(self.get("/v1/ping", token))
        listed = json.loads(self.cluster.muster("token", "--list", "--json").stdout)["tokens"]
        newest = max(listed, key=lambda one: one["issued"])
        self.assertEqual(self.cluster.muster("token", "--revoke", newest["id"]).returncode, 0)
        self.assertEqual(self.ask("GET", "/v1/ping", token)[0], 401)
        self.assertEqual(self.cluster.muster("token", "--revoke", newest["id"]).returncode, 1)
        self.assertEqual(self.cluster.muster("token", "--lifetime", "2000d").returncode, 2)
        short = self.make_token("--lifetime", "1s")
        wait_until(lambda: self.ask("GET", "/v1/ping", short)[0] == 401, "the token ends")

    def test_no_token_stands_in_a_log_or_a_file(self):
        self.get("/v1/jobs")
        self.ask("GET", "/v1/jobs", self.token + "x")
        signature = self.token.rpartition(".")[2].encode()
        for directory, _, names in os.walk(self.cluster.state):
            for name in names:
                with contextlib.suppress(OSError):
                    self.assertNotIn(signature, cluster.read_file(os.path.join(directory, name)), name)

    def test_bad_requests_get_one_plain_answer(self):
        wrong = (("GET", "/v1/jobs/seven", None, 400), ("GET", "/v1/jobs/999999", None, 404),
                 ("GET", "/v1/jobs?usr=ada", None, 400), ("POST", "/v1/Cancel", b"{", 400),
                 ("POST", "/v1/Cancel", b"\xff\xfe", 400), ("POST", "/v1/Cancel", b"[" * 100000, 400),
                 ("POST", "/v1/Cancel", b'{"jbs":[]}', 400), ("DELETE", "/v1/jobs/1", None, 405),
                 ("GET", "/v1/SubmitMany", None, 404), ("POST", "/livez", b"{}", 405),
                 ("GET", "/../etc/passwd", None, 404), ("GET", "/v1/nodes/nothere", None, 404))
        for method, path, body, expected in wrong:
            status, headers, answer = self.ask(method, path, self.token, body)
            self.assertEqual(status, expected, (method, path, answer))
            self.assertEqual(headers["Content-Type"], "application/problem+json", path)
            self.assertEqual(answer["status"], status)
            self.assertNotIn("\n", answer["detail"])
        self.assertEqual(self.ask("POST", "/v1/Cancel", self.token, b"x", {"Content-Type": "text/plain"})[0], 415)

    def test_bad_bytes_cost_nobody_else_anything(self):
        head = b"POST /v1/Cancel HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + self.token.encode() + b"\r\n"
        cases = ((head + b"Content-Length: 99999999\r\n\r\n", b" 413 "),
                 (head + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b" 411 "),
                 (head + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}", b" 400 "),
                 (head + b"X: " + b"a" * 40000 + b"\r\n\r\n", b" 431 "),
                 (head + b"a: b\r\n" * 20000 + b"\r\n", b" 431 "),
                 (b"GET /v1/jobs/%ff HTTP/1.1\r\nHost: x\r\n\r\n", b" 400 "),
                 (b"GET /v1/jobs\xff HTTP/1.1\r\nHost: x\r\n\r\n", b" 400 "),
                 (b"\x00" * 1000, b""), (b"\x16\x03\x01" + b"x" * 300, b""))
        slow = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(40)]
        for caller in slow[:20]:
            caller.sendall(head + b"Content-Length: 1000\r\n\r\n{")
        for data, expected in cases:
            answer = self.raw(data)
            self.assertIn(expected, answer.split(b"\r\n")[0], data[:80])
            self.assertNotIn(b" 200 ", answer.split(b"\r\n")[0])
        self.assertTrue(self.get("/v1/ping")["cluster"])
        for caller in slow:
            caller.close()

    def test_the_description_is_openapi_and_fits_what_is_served(self):
        document = self.get("/v1/openapi.json")
        self.assertEqual(document["openapi"], "3.1.0")
        self.assertEqual(subprocess.run([program("muster-gateway"), "--print-openapi"], capture_output=True,
                                        check=True).stdout.decode(), self.text("/v1/openapi.json"))
        if jsonschema is None:
            self.skipTest("python3-jsonschema is not installed")
        jsonschema.Draft202012Validator.check_schema(document["components"]["schemas"])
        job = self.submit("--hold", "--wrap", "true")
        for path, described in (("/v1/jobs", "/v1/jobs"), (f"/v1/jobs/{job}", "/v1/jobs/{job.job}"),
                                ("/v1/nodes", "/v1/nodes"), ("/v1/shares", "/v1/shares"),
                                ("/v1/ReadMetrics", "/v1/ReadMetrics")):
            answer = document["paths"][described]["get"]["responses"]["200"]
            schema = {**answer["content"]["application/json"]["schema"], "components": document["components"]}
            jsonschema.Draft202012Validator(schema).validate(self.get(path))
        self.cluster.muster("cancel", job)

    def text(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=cluster.PATIENCE)
        with contextlib.closing(connection):
            connection.request("GET", path, headers={"Authorization": "Bearer " + self.token})
            return connection.getresponse().read().decode()

    def test_metrics_are_what_prometheus_reads(self):
        job = self.submit("--hold", "--wrap", "true")
        self.submit("--wrap", "true")
        wait_until(lambda: self.sample('muster_jobs_ended_total{state="COMPLETED"}') >= 1, "a job has ended")
        self.assertGreaterEqual(self.sample("slurm_jobs_hold"), 1)
        self.assertEqual(self.sample("slurm_nodes"), 1)
        self.assertEqual(self.sample("muster_cpus"), 64)
        self.assertGreaterEqual(self.sample("muster_cycle_seconds_count"), 1)
        self.assertGreaterEqual(self.sample("muster_commit_seconds_count"), 1)
        self.assertGreaterEqual(self.sample("muster_job_wait_seconds_count"), 1)
        self.assertGreaterEqual(self.sample('muster_call_seconds_count{method="Submit"}'), 2)
        if shutil.which("promtool"):
            checked = subprocess.run(["promtool", "check", "metrics"], input=self.text("/metrics"), text=True,
                                     capture_output=True)
            self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, ""))
        _, headers, _ = self.ask("GET", "/metrics", self.reader, headers={"Accept": "application/openmetrics-text"})
        self.assertTrue(headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0"))
        self.cluster.muster("cancel", job)

    def test_dashboards_ask_for_numbers_that_there_are(self):
        # A queue that is empty has no sample of some families; the names of all of them are there.
        there = set(re.findall(r"(?m)^# TYPE (\S+)", self.text("/metrics")))
        folder = os.path.join(os.path.dirname(__file__), "..", "..", "packaging", "grafana")
        uids = set()
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                board = json.load(file)
            self.assertIn("muster", board["tags"], name)
            uids.add(board["uid"])
            self.assertEqual(len({panel["id"] for panel in board["panels"]}), len(board["panels"]), name)
            lists = [{"title": one["name"], "targets": [{"expr": one["query"]}]}
                     for one in board["templating"]["list"] if one["type"] == "query"]
            for panel in board["panels"] + lists:
                for target in panel["targets"]:
                    asked = set(re.findall(r"\b(?:muster|slurm)_[a-z_]+", target["expr"]))
                    known = {one for one in asked if one in there or re.sub("_(total|bucket|count|sum)$", "", one) in there}
                    self.assertEqual(asked, known, f"{name}: {panel['title']}")
                    self.assertTrue(asked or "DCGM_FI_" in target["expr"], f"{name}: {panel['title']}")
        self.assertEqual(len(uids), len(os.listdir(folder)))

    def sample(self, name):
        """The newest value of a sample; the controller's numbers are at most a second old."""
        found = re.search(rf"(?m)^{re.escape(name)} (\S+)$", self.text("/metrics"))
        return float(found.group(1)) if found else -1

    @unittest.skipUnless(shutil.which("prometheus"), "prometheus is not installed")
    def test_a_real_prometheus_scrapes_with_a_token_in_a_file(self):
        directory = os.path.join(self.cluster.root, "prometheus")
        os.mkdir(directory)
        secret, settings = os.path.join(directory, "token"), os.path.join(directory, "prometheus.yml")
        with open(secret, "w", encoding="utf-8") as file:
            file.write(self.reader)
        with open(settings, "w", encoding="utf-8") as file:
            file.write(f"""global: {{scrape_interval: 1s}}
scrape_configs:
- job_name: muster
  authorization: {{credentials_file: {secret}}}
  static_configs: [{{targets: ["127.0.0.1:{self.port}"]}}]
""")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        log = open(os.path.join(directory, "log"), "wb")
        process = subprocess.Popen(
            ["prometheus", f"--config.file={settings}", f"--storage.tsdb.path={directory}/data",
             f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log, cwd=directory)
        self.addCleanup(log.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)

        def scraped(query):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            with contextlib.closing(connection):
                try:
                    connection.request("GET", "/api/v1/query?query=" + query)
                    result = json.loads(connection.getresponse().read())["data"]["result"]
                except (OSError, ValueError, KeyError):
                    return None
                return float(result[0]["value"][1]) if result else None
        wait_until(lambda: scraped("up") == 1.0, lambda: "scraped: " + cluster.read_file(log.name)[-800:].decode())
        wait_until(lambda: scraped("muster_nodes") is not None, "our numbers are there")
        self.assertEqual(scraped("muster_cpus"), 64)

    def test_the_page_is_ours_alone(self):
        status, headers, page = self.ask("GET", "/")
        self.assertEqual((status, headers["Content-Type"]), (200, "text/html; charset=utf-8"))
        policy = headers["Content-Security-Policy"]
        self.assertIn("default-src 'none'", policy)
        self.assertNotIn("unsafe", policy)
        self.assertIsNone(headers["Set-Cookie"])
        self.assertIsNone(headers["Access-Control-Allow-Origin"])
        self.assertNotRegex(page, rb"<script(?![^>]*src=\"/)|\son\w+=|<style|https?://")
        for path, kind in (("/js/app.js", "text/javascript"), ("/page.css", "text/css"), ("/mark.svg", "image/svg+xml")):
            status, headers, _ = self.ask("GET", path)
            self.assertEqual((status, headers["Content-Type"].split(";")[0]), (200, kind))

    def slurm(self, method, path, body=None):
        """As clients of slurmrestd ask."""
        status, _, answer = self.ask(method, path, body=body,
                                     headers={"X-SLURM-USER-NAME": "anybody", "X-SLURM-USER-TOKEN": self.token})
        return status, answer

    def test_portals_find_the_calls_of_slurmrestd(self):
        status, made = self.slurm("POST", "/slurm/v0.0.40/job/submit", {
            "script": "#!/bin/sh\nsleep 600\n",
            "job": {"name": "portal", "tasks": 1, "current_working_directory": self.cluster.root,
                    "environment": ["PATH=/bin:/usr/bin"], "time_limit": {"set": True, "number": 30}}})
        self.assertEqual(status, 200, made)
        self.assertEqual(made["errors"], [])
        job = made["job_id"]
        self.cluster.wait_state(job, "RUNNING")
        _, jobs = self.slurm("GET", "/slurm/v0.0.40/jobs")
        (row,) = [one for one in jobs["jobs"] if one["job_id"] == job]
        self.assertEqual(row["job_state"], ["RUNNING"])
        self.assertEqual(row["time_limit"], {"set": True, "infinite": False, "number": 30})
        _, shown = self.slurm("GET", f"/slurm/v0.0.40/job/{job}")
        self.assertEqual(shown["jobs"][0]["current_working_directory"], self.cluster.root)
        _, nodes = self.slurm("GET", "/slurm/v0.0.40/nodes/")
        self.assertEqual(nodes["nodes"][0]["partitions"], ["main"])
        name = nodes["nodes"][0]["name"]
        self.assertEqual(self.slurm("GET", f"/slurm/v0.0.40/node/{name}")[1]["nodes"][0]["name"], name)
        _, partitions = self.slurm("GET", "/slurm/v0.0.40/partitions")
        self.assertEqual(partitions["partitions"][0]["nodes"]["total"], len(nodes["nodes"]))
        self.assertEqual(self.slurm("GET", "/slurm/v0.0.40/ping")[1]["pings"][0]["pinged"], "UP")
        # What the controller measures is read for many at a time.
        wait_until(lambda: self.slurm("GET", "/slurm/v0.0.40/diag")[1]["statistics"]["jobs_running"] >= 1, "no job runs")
        self.assertEqual(self.slurm("DELETE", f"/slurm/v0.0.40/job/{job}")[0], 200)
        self.cluster.wait_ended(job)
        _, ended = self.slurm("GET", f"/slurmdb/v0.0.40/job/{job}")
        self.assertEqual(ended["jobs"][0]["state"]["current"], ["CANCELLED"])
        self.assertIn(job, [one["job_id"] for one in self.slurm("GET", "/slurmdb/v0.0.40/jobs")[1]["jobs"]])
        for kind in ("accounts", "associations", "qos", "users"):
            self.assertIn(kind, self.slurm("GET", f"/slurmdb/v0.0.40/{kind}")[1])
        status, missing = self.slurm("GET", "/slurm/v0.0.40/job/999999")
        self.assertEqual(status, 404)
        self.assertIn("no such job", missing["errors"][0]["error"])
        status, refused = self.slurm("POST", "/slurm/v0.0.40/job/submit", {"script": "#!/bin/sh", "job": {"x": 1}})
        self.assertEqual(status, 400, refused)
        self.assertEqual(self.ask("GET", "/slurm/v0.0.40/jobs")[0], 401)
        self.assertEqual(self.ask("GET", "/slurm/v0.0.40/jobs", headers={"X-SLURM-USER-TOKEN": "no"})[0], 401)

    def test_a_portals_submission_waits_and_is_told_of_as_it_asks(self):
        first = int(self.submit("--hold", "--wrap", "true"))
        job = {"name": "after", "current_working_directory": self.cluster.root, "environment": ["PATH=/bin:/usr/bin"],
               "dependency": f"afterany:{first}", "mail_type": ["END", "TIME=80%"], "mail_user": "ada", "nice": 5,
               "deadline": int(time.time()) + 86400, "time_limit": {"set": True, "number": 5}, "contiguous": True}
        status, made = self.slurm("POST", "/slurm/v0.0.40/job/submit", {"script": "#!/bin/sh\n", "job": job})
        self.assertEqual(status, 200, made)
        self.assertEqual([one["description"] for one in made["warnings"]], ["contiguous: has no effect here"])
        _, shown = self.slurm("GET", f"/slurm/v0.0.40/job/{made['job_id']}")
        (row,) = shown["jobs"]
        self.assertEqual((row["dependency"], row["nice"], row["mail_type"], row["mail_user"], row["job_resources"]),
                         (f"afterany:{first}", 5, ["END", "TIME=80%"], "ada", {}))
        self.assertEqual(row["deadline"]["number"], job["deadline"])
        self.assertTrue(shown["last_backfill"]["set"] and shown["last_update"]["set"], shown["last_backfill"])
        self.assertEqual(shown["meta"]["slurm"]["version"]["major"], "23")
        self.assertGreaterEqual(self.slurm("GET", "/slurm/v0.0.40/diag")[1]["statistics"]["bf_cycle_counter"], 1)
        for key, body in (("tasks", {"script": "#!/bin/sh\n", "job": job, "tasks": 2}),
                          ("job.colour", {"script": "#!/bin/sh\n", "job": {**job, "colour": "red"}})):
            status, refused = self.slurm("POST", "/slurm/v0.0.40/job/submit", body)
            self.assertEqual(status, 400, refused)
            self.assertTrue(refused["errors"][0]["error"].startswith(key + ": "), refused)
        self.cluster.muster("cancel", first, made["job_id"])

    def test_a_killed_gateway_changes_nothing(self):
        job = self.submit("--wrap", "sleep 5")
        self.gateway.kill()
        self.assertEqual(self.cluster.muster("queue").returncode, 0)
        self.gateway.start()
        wait_until(lambda: self.ask("GET", "/v1/ping", self.token)[0] == 200, "it is back")
        wait_until(lambda: [one["state"] for one in self.get(f"/v1/history?job={job}")["jobs"]] == ["COMPLETED"],
                   "the job has completed")

    def test_a_gateway_that_stands_still_changes_nothing(self):
        # Readers who wait for it are part of what it no longer serves.
        readers = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(20)]
        for reader in readers:
            self.addCleanup(reader.close)
            reader.sendall(f"GET /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.token}\r\n\r\n".encode())
        self.assertIn(b"200", readers[0].recv(100))
        self.gateway.process.send_signal(signal.SIGSTOP)
        try:
            begun = time.monotonic()
            jobs = [int(self.submit("--wrap", "true")) for _ in range(20)]
            for job in jobs:
                self.cluster.wait_ended(job)
            self.assertEqual({self.cluster.history()[job]["state"] for job in jobs}, {"COMPLETED"})
            self.assertEqual(self.cluster.muster("queue").returncode, 0)
            self.assertLess(time.monotonic() - begun, cluster.PATIENCE)
        finally:
            self.gateway.process.send_signal(signal.SIGCONT)
        wait_until(lambda: self.ask("GET", "/v1/ping", self.token)[0] == 200, "it goes on")
        self.assertEqual(self.get(f"/v1/history?job={jobs[-1]}")["jobs"][0]["state"], "COMPLETED")

    def test_a_restarted_controller_is_found_again(self):
        self.cluster.controller.kill()
        self.assertEqual(self.ask("GET", "/v1/ping", self.token)[0], 503)
        self.assertEqual(self.ask("GET", "/livez")[0], 200)
        self.cluster.controller.start()
        wait_until(lambda: self.ask("GET", "/v1/ping", self.token)[0] == 200, "the token still counts")


class UpWebTest(unittest.TestCase):
    """`muster up --web`: it says where the page is, and `muster web` opens it once."""

    def test_the_page_opens_by_a_link_that_works_once(self):
        state = os.path.join("/tmp", f"mit-web-{cluster.OURS}")
        environment = {key: value for key, value in os.environ.items() if not key.startswith("MUSTER_")}
        up = subprocess.Popen([program("muster"), "up", "--web", "--topology", cluster.WIDE, "--state", state],
                              stdout=subprocess.PIPE, text=True, env=environment)
        self.addCleanup(shutil.rmtree, state, True)
        self.addCleanup(up.stdout.close)
        self.addCleanup(up.wait)
        self.addCleanup(up.send_signal, signal.SIGINT)
        until, page = time.monotonic() + cluster.PATIENCE, None
        while page is None and time.monotonic() < until:
            page = re.match(r"page: http://127\.0\.0\.1:(\d+)/ ", up.stdout.readline())
        port = int(page.group(1))

        def ask(method, path, body=None, token=""):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=cluster.PATIENCE)
            with contextlib.closing(connection):
                connection.request(method, path, body, {"Content-Type": "application/json",
                                                        "Authorization": "Bearer " + token})
                answer = connection.getresponse()
                return answer.status, answer.read()

        def link(*options):
            made = subprocess.run([program("muster"), "web", "--state", state, *options], env=environment,
                                  capture_output=True, text=True, check=True).stdout.strip()
            self.assertTrue(made.startswith(f"http://127.0.0.1:{port}/#login="), made)
            return json.dumps({"code": made.partition("=")[2]})

        code = link()
        status, body = ask("POST", "/session", code)
        self.assertEqual(status, 200, body)
        session = json.loads(body)["session"]
        self.assertEqual(ask("POST", "/session", code)[0], 401, "a link works once")
        self.assertEqual(ask("GET", "/v1/jobs", token=session)[0], 200)
        self.assertEqual(ask("POST", "/session", json.dumps({"code": "x" * 32}))[0], 401)
        only_reads = json.loads(ask("POST", "/session", link("--read-only"))[1])["session"]
        self.assertEqual(ask("POST", "/v1/Drain", '{"node":"node1"}', only_reads)[0], 403)
        self.assertEqual(ask("POST", "/session/end", "", session)[0], 200)
        self.assertEqual(ask("GET", "/v1/jobs", token=session)[0], 401)
        self.assertEqual(os.stat(os.path.join(state, "gateway")).st_mode & 0o777, 0o700)
        # A killed gateway comes back on its port, which nobody could take; sessions went with it.
        again = json.loads(ask("POST", "/session", link())[1])["session"]
        pids = [pid for pid, command in cluster.processes_with(state).items() if "muster-gateway" in command]
        self.assertEqual(len(pids), 1)
        os.kill(pids[0], signal.SIGKILL)
        with socket.socket() as thief:
            with self.assertRaises(OSError):
                thief.bind(("127.0.0.1", port))

        def back():
            with contextlib.suppress(OSError, http.client.HTTPException):
                return ask("GET", "/livez")[0] == 200
            return False
        wait_until(back, "the gateway is back")
        self.assertEqual(ask("GET", "/v1/jobs", token=again)[0], 401)


class SiteTokenTest(unittest.TestCase):
    """Tokens that the site's own issuer signed, whose keys stand at an address of this machine."""

    @classmethod
    def setUpClass(cls):
        if shutil.which("openssl") is None:
            raise unittest.SkipTest("openssl(1) is not installed: nothing signs as an issuer would")
        cls.cluster = Cluster(topology=cluster.WIDE)
        cls.addClassCleanup(cls.cluster.close)
        cls.keys = {"old": cls.make_key("old")}
        issuer = http.server.ThreadingHTTPServer(("127.0.0.1", 0), cls.Issuer)
        issuer.keys = cls.keys
        cls.addClassCleanup(issuer.server_close)
        cls.addClassCleanup(issuer.shutdown)
        threading.Thread(target=issuer.serve_forever, daemon=True).start()
        cls.config = config = os.path.join(cls.cluster.root, "musterd.toml")
        cls.said = ('[oidc]\nissuer = "https://login.example.org"\naudience = "muster"\noperators = true\n'
                    f'jwks = "http://127.0.0.1:{issuer.server_port}/keys"\n')
        with open(config, "w", encoding="utf-8") as file:
            file.write(cls.said)
        door = f"unix:{cls.cluster.state}/gateway.sock"
        cls.cluster.controller.arguments += ["--gateway-socket", door, "--config", config]
        cls.cluster.start()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            cls.port = free.getsockname()[1]
        gateway = cls.cluster._daemon("muster-gateway", ["--controller", door], "muster-gateway")
        gateway.arguments += ["--listen", f"127.0.0.1:{cls.port}"]
        gateway.start()
        cls.addClassCleanup(gateway.stop)

    class Issuer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            keys = [{"kty": "OKP", "crv": "Ed25519", "kid": name, "x": text64(public)}
                    for name, (_, public) in self.server.keys.items()]
            body = json.dumps({"keys": keys}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    @classmethod
    def make_key(cls, name):
        path = os.path.join(cls.cluster.root, name + ".pem")
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", path], check=True, capture_output=True)
        public = subprocess.run(["openssl", "pkey", "-in", path, "-pubout", "-outform", "DER"], check=True,
                                capture_output=True).stdout
        return path, public[-32:]

    def make_token(self, key, header=None, **claims):
        said = {"iss": "https://login.example.org", "aud": "muster", "sub": pwd.getpwuid(os.geteuid()).pw_name,
                "exp": int(time.time()) + 300, **claims}
        text = ".".join(text64(json.dumps(part).encode())
                        for part in ({"alg": "EdDSA", "kid": key, **(header or {})}, said))
        path = os.path.join(self.cluster.root, "text")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        signature = subprocess.run(["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", self.keys[key][0], "-in", path],
                                   check=True, capture_output=True).stdout
        return text + "." + text64(signature)

    def ask(self, token):
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=cluster.PATIENCE)) as caller:
            caller.request("GET", "/v1/jobs", headers={"Authorization": "Bearer " + token})
            answer = caller.getresponse()
            return answer.status, answer.read().decode()

    def test_a_token_of_the_issuer_opens_and_any_other_does_not(self):
        wait_until(lambda: self.ask(self.make_token("old"))[0] == 200, lambda: self.ask(self.make_token("old")))
        for bad in (self.make_token("old", aud="grafana"), self.make_token("old", iss="https://evil.example.org"),
                    self.make_token("old", exp=int(time.time()) - 3600), self.make_token("old", sub="nobody-here"),
                    self.make_token("old", header={"alg": "none"}), self.make_token("old", header={"alg": "HS256"}),
                    self.make_token("old")[:-8] + "AAAAAAAA"):
            status, body = self.ask(bad)
            self.assertEqual(status, 401, body)
            self.assertNotIn(bad.split(".")[1], body, "an answer repeats the token")
        with open(self.cluster.controller.log, encoding="utf-8") as log:
            self.assertNotIn(text64(b'{"iss"')[:8], log.read(), "a token stands in the log")

    def reload(self, text):
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(text)
        self.cluster.controller.process.send_signal(signal.SIGHUP)

    def test_a_reload_puts_another_issuer_in_force_or_none_and_a_mistake_changes_nothing(self):
        self.addCleanup(self.reload, self.said)
        wait_until(lambda: self.ask(self.make_token("old"))[0] == 200, lambda: self.ask(self.make_token("old")))
        self.reload(self.said.replace("muster", "grafana"))
        wait_until(lambda: self.ask(self.make_token("old", aud="grafana"))[0] == 200, "the other audience counts")
        self.assertEqual(self.ask(self.make_token("old"))[0], 401)
        self.reload("[oidc]\nissuer = 7\n")
        wait_until(lambda: b"musterd.toml:2: oidc.issuer" in cluster.read_file(self.cluster.controller.log),
                   "the mistake is named")
        self.assertEqual(self.ask(self.make_token("old", aud="grafana"))[0], 200)
        self.reload("")
        wait_until(lambda: self.ask(self.make_token("old", aud="grafana"))[0] == 401, "there is no issuer")


def text64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

if __name__ == "__main__":
    unittest.main()
