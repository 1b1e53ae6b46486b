"""The notifier with a real mail program, a real SMTP sink, a webhook receiver that fails twice, and Alertmanager."""

import base64
import contextlib
import email
import hashlib
import hmac
import http.client
import http.server
import json
import os
import shutil
import socket
import socketserver
import subprocess
import threading
import time
import unittest

import cluster
from cluster import Cluster, program, wait_until


class Sink(socketserver.StreamRequestHandler):
    """SMTP: refuses the first messages of `server.refusals` for now, and keeps the others."""

    def say(self, line):
        self.wfile.write(line.encode() + b"\r\n")

    def handle(self):
        self.say("220 sink")
        for line in self.rfile:
            word = line.strip().upper()
            if word.startswith((b"EHLO", b"HELO")):
                self.say("250 sink")
            elif word.startswith(b"DATA"):
                self.say("354 go on")
                text = b""
                for piece in self.rfile:
                    if piece == b".\r\n":
                        break
                    text += piece[1:] if piece.startswith(b"..") else piece
                self.server.tries += 1
                if self.server.tries <= self.server.refusals:
                    self.say("451 try again")
                else:
                    self.server.mails.append(email.message_from_bytes(text))
                    self.say("250 kept")
            elif word.startswith(b"QUIT"):
                self.say("221 bye")
                return
            else:
                self.say("250 ok")


class Receiver(http.server.BaseHTTPRequestHandler):
    """A webhook's receiver: 503 to the first two, then 204."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.tries += 1
        if self.server.tries <= 2:
            self.send_response(503)
        else:
            self.server.got.append((self.path, dict(self.headers), body))
            self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class NotifierTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(topology=cluster.WIDE)
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.configure("[alert.NodeDrained]\nfor = \"0s\"\n")
        cls.cluster.start()
        cls.sink = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Sink)
        cls.hook = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
        for server in (cls.sink, cls.hook):
            server.daemon_threads = True
            server.tries = 0
            threading.Thread(target=server.serve_forever, daemon=True).start()
            cls.addClassCleanup(server.server_close)
            cls.addClassCleanup(server.shutdown)
        cls.sink.mails, cls.sink.refusals, cls.hook.got = [], 2, []
        cls.state = os.path.join(cls.cluster.root, "notifier")
        cls.alert_port = free_port()
        sendmail = os.path.join(cls.cluster.root, "sendmail")
        with open(sendmail, "w", encoding="utf-8") as file:  # the machine's, told of our sink
            file.write(f"""#!/bin/sh
exec msmtp --host=127.0.0.1 --port={cls.sink.server_address[1]} --tls=off --auth=off "$@"
""")
        os.chmod(sendmail, 0o755)
        settings = os.path.join(cls.cluster.root, "notifier.toml")
        with open(settings, "w", encoding="utf-8") as file:
            file.write(f"""sendmail = "{sendmail}"
mail_from = "muster@cluster.example"
mail_domain = "site.example"
webhook_private = true
alertmanager = "http://127.0.0.1:{cls.alert_port}"
[webhook.chat]
url = "http://127.0.0.1:{cls.hook.server_address[1]}/chat/"
body = '{{"text": "{{subject}}", "of": "{{user}}", "what": {{event}}}}'
[webhook.line]
url = "http://127.0.0.1:{cls.hook.server_address[1]}/chat/line"
body = "{{news}} {{job}}"
type = "text/plain"
""")
        cls.notifier = cls.cluster._daemon(
            "muster-notifier", ["--controller", cls.cluster.address, "--state", cls.state, "--config", settings],
            "muster-notifier")
        cls.notifier.start()
        cls.addClassCleanup(cls.notifier.kill)

    def submit(self, *options):
        made = self.cluster.muster("submit", "--parsable", *options)
        self.assertEqual(made.returncode, 0, made.stderr)
        return made.stdout.strip()

    def await_mail(self, subject):
        found = wait_until(lambda: [mail for mail in list(self.sink.mails) if subject in str(
            email.header.make_header(email.header.decode_header(mail["Subject"])))],
            lambda: f"a mail about {subject}: {self.notifier.last_words()}")
        return found[0]

    def await_post(self, path):
        """Headers and body of the webhook there."""
        found = wait_until(lambda: [post for post in list(self.hook.got) if post[0] == path],
                           lambda: "the webhook: " + self.notifier.last_words())
        return found[0][1:]

    @unittest.skipUnless(shutil.which("msmtp"), "msmtp is not installed")
    def test_a_mail_arrives_though_the_first_two_tries_fail_and_says_why(self):
        job = self.submit("--mail-type", "ALL", "--mail-user", "ada", "--job-name", "träin\u202e", "--wrap", "exit 3")
        mail = self.await_mail("has begun")
        end = self.await_mail("has ended: FAILED, exit code 3")
        self.assertEqual(end["To"], "ada@site.example")
        self.assertEqual(end["Auto-Submitted"], "auto-generated")
        self.assertIn(f"muster-{job}.out", end.get_payload(decode=True).decode())
        self.assertGreaterEqual(self.sink.tries, 4)
        self.assertNotEqual(mail["Message-ID"], end["Message-ID"])

    @unittest.skipUnless(shutil.which("msmtp"), "msmtp is not installed")
    def test_an_array_makes_one_mail_and_no_news_makes_none(self):
        array = self.submit("--array", "0-3", "--mail-type", "END", "--wrap", "test $MUSTER_ARRAY_TASK_ID != 2")
        quiet = self.submit("--mail-type", "FAIL", "--wrap", "true")
        mail = self.await_mail(f"array {array} ")
        self.assertIn("3 COMPLETED, 1 FAILED", mail["Subject"].replace("\n", ""))
        text = mail.get_payload(decode=True).decode()
        for part in ("\nWhy:\n  1 FAILED: exit code 1", "lost work: ",
                     f"{array}_2  FAILED  exit code 1", f"muster-{array}_2.out", f"outputs: that of {array}_0 is /"):
            self.assertIn(part, text)
        time.sleep(1)
        texts = [str(mail["Subject"]) for mail in self.sink.mails]
        self.assertEqual(len([text for text in texts if f"array {array}" in text]), 1)
        self.assertFalse([text for text in texts if f"job {quiet} " in text])

    @unittest.skipUnless(shutil.which("msmtp"), "msmtp is not installed")
    def test_a_dependency_that_can_never_be_met_is_told_while_the_job_waits(self):
        first = self.submit("--hold", "--wrap", "exit 1")
        waits = self.submit("--mail-type", "INVALID_DEPEND", "--dependency", f"afterok:{first}", "--wrap", "true")
        self.cluster.must("release", first)
        mail = self.await_mail(f"job {waits} wrap can never start")
        self.assertIn(f"afterok:{first}", mail.get_payload(decode=True).decode())
        self.assertIn("DependencyNeverSatisfied", self.cluster.must("show", waits))
        self.cluster.must("cancel", waits)

    def test_a_webhook_arrives_signed_though_the_first_two_tries_fail(self):
        url = f"http://127.0.0.1:{self.hook.server_address[1]}/hook"
        job = self.submit("--notify", url, "--wrap", "true")
        headers, body = self.await_post("/hook")
        self.assertGreaterEqual(self.hook.tries, 3)
        told = json.loads(body)
        self.assertEqual((told["news"], told["event"]["data"]["label"]), ("END", job))
        who = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
        secret = subprocess.run([program("muster-notifier"), "--state", self.state, "--key-of", who],
                                capture_output=True, text=True, check=True).stdout.strip()
        key = base64.b64decode(secret.removeprefix("whsec_"))
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        code = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        self.assertEqual(headers["webhook-signature"], "v1," + code)

    def test_a_webhook_says_what_the_sites_template_for_its_address_says(self):
        base = f"http://127.0.0.1:{self.hook.server_address[1]}/chat/"
        name = '"} \\ träin'
        job = self.submit("--notify", base + "room", "--job-name", name, "--wrap", "true")
        line = self.submit("--notify", base + "line", "--wrap", "true")
        headers, body = self.await_post("/chat/room")
        told = json.loads(body)
        self.assertEqual(headers["Content-Type"], "application/json")
        self.assertEqual((set(told), told["what"]["data"]["label"]), ({"text", "of", "what"}, job))
        self.assertIn(name, told["text"])
        self.assertIn("webhook-signature", headers)
        headers, body = self.await_post("/chat/line")
        self.assertEqual((headers["Content-Type"], body.decode()), ("text/plain", f"END {line}"))

    def test_what_nobody_could_mean_is_refused_at_submission(self):
        for wrong in (("--mail-type", "SOON"), ("--mail-user", "-Xlog"), ("--notify", "file:///etc/passwd")):
            refused = self.cluster.muster("submit", *wrong, "--wrap", "true")
            self.assertEqual(refused.returncode, 2, wrong)
            self.assertEqual(len(refused.stderr.splitlines()), 1, refused.stderr)

    @unittest.skipUnless(shutil.which("prometheus-alertmanager"), "prometheus-alertmanager is not installed")
    def test_a_real_alertmanager_hears_of_a_drained_node(self):
        directory = os.path.join(self.cluster.root, "alertmanager")
        os.mkdir(directory)
        settings = os.path.join(directory, "a.yml")
        with open(settings, "w", encoding="utf-8") as file:
            file.write("route: {receiver: nobody}\nreceivers: [{name: nobody}]\n")
        log = open(os.path.join(directory, "log"), "wb")
        manager = subprocess.Popen(
            ["prometheus-alertmanager", f"--config.file={settings}", f"--storage.path={directory}/data",
             f"--web.listen-address=127.0.0.1:{self.alert_port}", "--cluster.listen-address="], stdout=log, stderr=log)
        self.addCleanup(log.close)
        self.addCleanup(manager.wait)
        self.addCleanup(manager.kill)

        def alerts():
            connection = http.client.HTTPConnection("127.0.0.1", self.alert_port, timeout=10)
            with contextlib.closing(connection), contextlib.suppress(OSError):
                connection.request("GET", "/api/v2/alerts")
                return [one["labels"] for one in json.loads(connection.getresponse().read())]
            return []
        wait_until(lambda: alerts() is not None, "alertmanager serves")
        self.assertEqual(self.cluster.muster("drain", "node1", "--reason", "fan").returncode, 0)
        self.addCleanup(self.cluster.muster, "resume", "node1")
        rules = json.loads(self.cluster.muster("alerts", "test", "--json").stdout)["rules"]
        found = {rule["rule"]: rule["finds"] for rule in rules}
        self.assertEqual(found["NodeDrained"][0]["subject"], "node1")
        wait_until(lambda: [one for one in alerts() if one["alertname"] == "NodeDrained" and one["node"] == "node1"],
                   lambda: "the alert: " + self.notifier.last_words())
        (alert,) = json.loads(self.cluster.muster("alerts", "--json").stdout)["alerts"]
        self.assertEqual((alert["rule"], alert["subject"], alert["severity"]), ("NodeDrained", "node1", "info"))
        wrong = os.path.join(directory, "wrong.toml")
        with open(wrong, "w", encoding="utf-8") as file:
            file.write("\n[alert.Nothing]\nfor = \"1s\"\n")
        refused = self.cluster.muster("alerts", "test", "--config", wrong)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("wrong.toml:2:", refused.stderr)


if __name__ == "__main__":
    unittest.main()
