"""A service of replicas that run a small server, for tests, and a real nginx in front of it."""

import http.client
import json
import os
import signal
import socket
import subprocess

from cluster import ClusterTest, wait_until

# A small server. Its health is bad while the file named by the first word and its number is there; it reports the
# number in the file named by the first word and "load", if there is one; each start writes to "starts".
SERVER = """#!/usr/bin/env python3
import http.server, os, signal, socket, sys, threading, time
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        sick = os.path.exists(sys.argv[1] + os.environ["MUSTER_ARRAY_TASK_ID"])
        status = 500 if self.path == "/health" and sick else 200
        body = f"VERSION {os.getpid()}\\n".encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *words):
        pass
assert os.environ["PORT"] == os.environ["MUSTER_PORT_HTTP"]
with open("starts", "a") as starts:
    starts.write(os.environ["MUSTER_JOB_ID"] + "\\n")
def report():
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as to:
        while True:
            with open(sys.argv[1] + "load") as file:
                to.sendto(b"inflight=" + file.read().encode(), os.environ["MUSTER_REPORT_SOCKET"])
            time.sleep(0.5)
if os.path.exists(sys.argv[1] + "load"):
    threading.Thread(target=report, daemon=True).start()
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler)
signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
server.serve_forever()
"""
QUICK = ("--port", "http", "--probe", "http:/health,500ms", "--mem", "64M")


class Nginx:
    """A real one of the test's own, on the loopback, in front of the upstream of a file."""

    def __init__(self, place, upstream, service):
        self.place = place
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            self.port = taken.getsockname()[1]
        self.path = os.path.join(place, "nginx.conf")
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(f"""daemon off;
worker_processes 1;
pid {place}/nginx.pid;
error_log {place}/error.log;
events {{ worker_connections 64; }}
http {{
  access_log off;
  client_body_temp_path {place}/body;
  proxy_temp_path {place}/proxy;
  fastcgi_temp_path {place}/fastcgi;
  uwsgi_temp_path {place}/uwsgi;
  scgi_temp_path {place}/scgi;
  include {upstream};
  server {{
    listen 127.0.0.1:{self.port};
    location / {{ proxy_pass http://{service}; }}
  }}
}}
""")
        self.process = subprocess.Popen(["nginx", "-p", place, "-c", self.path], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def reload(self):
        """The command that has it read its file again."""
        return f"nginx -p {self.place} -c {self.path} -s reload 2>/dev/null"

    def get(self):
        """The status and the body of an answer; 0 without one."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("GET", "/")
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except OSError as error:
            return 0, str(error)
        finally:
            connection.close()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=20)


class ServiceCase(ClusterTest):
    """A service of the test's own; its replicas are jobs of a small cluster that this machine plays."""

    topology = "pack:1 core:8 pu:1"

    def setUp(self):
        super().setUp()
        self.name = self.id().rsplit(".", 1)[1].replace("test_", "")[:20]
        self.place = os.path.join(self.cluster.work, self.name)
        os.mkdir(self.place)
        os.chmod(self.place, 0o777)  # the jobs may be another user's
        self.server = self.write("serve", "1")
        self.addCleanup(self.end)

    def end(self):
        self.muster("stop", self.name)
        wait_until(lambda: self.cluster.queue() == {}, "replicas are left")

    def write(self, name, version):
        path = os.path.join(self.place, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(SERVER.replace("VERSION", f"v{version}"))
        return path

    def muster(self, *words):
        return self.cluster.muster("service", *words, cwd=self.place)

    def must(self, *words):
        return self.cluster.must("service", *words, cwd=self.place)

    def start(self, replicas, *options):
        said = json.loads(self.must("start", self.name, "--replicas", replicas, *QUICK, "--json", *options,
                                    self.server, os.path.join(self.place, "sick")))
        self.assertEqual(said["replicas"], replicas)
        self.wait_ready(replicas)
        return said["job"]

    def replicas(self):
        services = json.loads(self.must("list", "--json"))["services"]
        return next((service["jobs"] for service in services if service["name"] == self.name), [])

    def ready(self):
        return [replica for replica in self.replicas() if replica["state"] == "ready"]

    def wait_ready(self, count):
        def so_many():
            replicas = self.replicas()
            return len(replicas) == count and all(replica["state"] == "ready" for replica in replicas)
        wait_until(so_many, lambda: f"{count} are not ready: {self.replicas()}", pause=0.2)

    def endpoints(self):
        return self.must("endpoints", self.name).split()

    def follow(self, path, *options):
        follower = self.cluster.begin("service", "endpoints", self.name, "--format", "nginx", "-o", path, "--follow",
                                      *options)

        def stop():
            follower.send_signal(signal.SIGTERM)
            out, error = follower.communicate(timeout=20)
            self.assertEqual((follower.returncode, out, error), (0, "", ""))
        self.addCleanup(stop)

    def keep(self, *options):
        """Begins a keeper; a function that ends it and returns what it said."""
        keeper = self.cluster.begin("service", "keep", self.name, *options)

        def stop():
            if keeper.poll() is None:
                keeper.send_signal(signal.SIGTERM)
            if not keeper.stdout.closed:
                stop.said, error = keeper.communicate(timeout=30)
                self.assertEqual((keeper.returncode, error), (0, ""))
            return stop.said
        self.addCleanup(stop)
        stop.process = keeper
        return stop
