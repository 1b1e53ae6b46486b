"""Services: servers as replicas that are probed, started again, scaled, rolled over, and told to a real nginx."""

import http.client
import os
import shutil
import signal
import threading
import unittest

from cluster import read_file, start_time, wait_until
from services import QUICK, Nginx, ServiceCase


class ServiceTest(ServiceCase):
    """What one service's commands do."""

    def test_replicas_are_jobs_with_ports_of_their_own(self):
        job = self.start(3)
        replicas = self.replicas()
        self.assertEqual([replica["job"] for replica in replicas], [f"{job}_{i}" for i in range(3)])
        self.assertEqual(len({replica["ports"]["http"] for replica in replicas}), 3)
        self.assertEqual(sorted(self.endpoints()), sorted(f"127.0.0.1:{each['ports']['http']}" for each in replicas))
        self.assertRegex(self.must("list"), rf"{self.name} +3 +3 +{job}_0 {job}_1 {job}_2")
        self.assertEqual(self.must("endpoints", self.name, "--format", "caddy"), "to " + " ".join(self.endpoints()))
        again = self.muster("start", self.name, *QUICK, self.server, "sick")
        self.assertEqual(again.returncode, 1)
        self.assertIn(f"service {self.name} runs already, as 3 replicas", again.stderr)
        self.assertEqual(self.must("stop", self.name), f"Stopped service {self.name}: 3 replicas")
        self.assertEqual(self.cluster.wait_ended(*(each["id"] for each in replicas))[0]["state"], "CANCELLED")
        self.assertEqual(self.muster("endpoints", self.name).returncode, 1)

    def test_a_replica_that_fails_its_probe_is_started_again(self):
        self.start(2)
        sick, well = self.replicas()
        marker = os.path.join(self.place, "sick0")
        with open(marker, "w", encoding="utf-8"):
            pass
        wait_until(lambda: len(self.ready()) == 1, self.replicas)
        self.assertEqual(self.endpoints(), [f"127.0.0.1:{well['ports']['http']}"])
        wait_until(lambda: self.replicas()[0]["starts"] > 1, self.replicas)
        os.remove(marker)
        self.wait_ready(2)
        now = self.replicas()
        self.assertNotEqual(now[0]["ports"], sick["ports"], "an address never means two programs")
        self.assertEqual((now[1]["starts"], now[1]["ports"]), (1, well["ports"]))
        self.assertIn("probe: it answers with the status 500 (3 of 3)",
                      self.cluster.must("logs", sick["job"]))

    def test_a_program_that_dies_is_started_again(self):
        self.start(1)
        address = self.endpoints()[0]
        connection = http.client.HTTPConnection(address, timeout=10)
        connection.request("GET", "/")
        pid = int(connection.getresponse().read().split()[1])
        connection.close()
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: [replica["starts"] for replica in self.ready()] == [2], self.replicas)
        self.assertIsNone(start_time(pid))
        self.assertNotEqual(self.endpoints(), [address])
        self.assertEqual(len(read_file(os.path.join(self.place, "starts")).split()), 2)

    def test_scaling_changes_the_file_that_is_followed(self):
        self.start(2)
        path = os.path.join(self.place, "web.conf")
        log = os.path.join(self.place, "reloads")
        self.follow(path, "--reload", f"wc -l <{path} >>{log}")

        def servers():
            return read_file(path).count(b"  server 127")
        wait_until(lambda: servers() == 2, "the file is not there")
        self.assertRegex(self.must("scale", self.name, 4), r"2 further replicas, job \d+")
        wait_until(lambda: servers() == 4, lambda: read_file(path))
        before = {replica["job"] for replica in self.replicas()}
        self.must("scale", self.name, 1, "--drain", "2s")
        wait_until(lambda: servers() == 1, lambda: read_file(path))
        wait_until(lambda: len(self.replicas()) == 1, self.replicas)
        self.assertEqual(self.replicas()[0]["job"], min(before))
        self.assertEqual(self.must("scale", self.name, 1), "1 replica already")
        sizes = read_file(log).split()
        self.assertEqual((sizes[0], sizes[-1]), (b"4", b"3"))
        self.assertEqual(len([size for i, size in enumerate(sizes) if i and size == sizes[i - 1]]), 0,
                         "it is run after changes alone")

    def test_stopping_while_replicas_end_is_no_error(self):
        self.start(3)
        self.must("scale", self.name, 1, "--drain", "0s")
        self.must("stop", self.name)

    def test_a_new_replica_that_is_not_ready_ends_the_rolling(self):
        self.start(2)
        before = self.replicas()
        broken = os.path.join(self.place, "broken")
        with open(broken, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nexit 3\n")
        done = self.muster("roll", self.name, broken, "--patience", "3s")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"the new replica, job \d+_0, was not ready within 3 s \(\w+\) and is cancelled; "
                                      r"the 2 old ones go on; muster logs \d+_0")
        self.assert_one_line(done.stderr)
        wait_until(lambda: self.replicas() == before, self.replicas)

    def test_several_are_rolled_at_a_time_as_the_service_was_started(self):
        job = self.start(3, "--rolling", 2)
        said = self.must("roll", self.name, "--drain", "0s")
        self.assertRegex(said, rf"jobs (\d+)_0, \1_1 in place of {job}_0, {job}_1 \(2 of 3\)\n"
                               rf"job \d+_0 in place of {job}_2 \(3 of 3\)")
        self.wait_ready(3)
        self.assertEqual(self.must("roll", self.name, "--rolling", 3, "--drain", "0s").count("in place of"), 1)

    @unittest.skipUnless(shutil.which("nginx"), "SKIPPED: nginx is not installed: services are not tested behind it")
    def test_requests_through_nginx_are_answered_while_it_is_rolled(self):
        self.start(2)
        upstream = os.path.join(self.place, "upstream.conf")
        self.must("endpoints", self.name, "--format", "nginx", "-o", upstream)
        nginx = Nginx(self.place, upstream, self.name)
        self.addCleanup(nginx.stop)
        wait_until(lambda: nginx.get()[0] == 200, nginx.get)
        self.follow(upstream, "--reload", nginx.reload())
        answers, over = [], threading.Event()

        def ask():
            while not over.wait(0.01):
                answers.append(nginx.get())
        asking = threading.Thread(target=ask)
        asking.start()
        try:
            said = self.must("roll", self.name, self.write("second", "2"), "--drain", "4s")
        finally:
            over.set()
            asking.join()
        self.assertRegex(said, r"job \d+_0 in place of \d+_0 \(1 of 2\)\njob \d+_0 in place of \d+_1 \(2 of 2\)")
        self.assertEqual([answer for answer in answers if answer[0] != 200], [])
        self.assertGreater(len(answers), 100)
        self.assertTrue(answers[0][1].startswith("v1 "), answers[0])
        self.wait_ready(2)
        wait_until(lambda: all(nginx.get()[1].startswith("v2 ") for _ in range(4)), nginx.get)

    def test_bad_words_are_refused_in_a_line(self):
        for words, says in (
                (("start", "a b", "--port", "http", self.server), '"a b" is no name of a service'),
                (("start", "web", self.server), "--port: is missing"),
                (("start", "web", "--port", "8080", self.server), '"8080" is no name of a port'),
                (("start", "web", "--port", "http", "--replicas", "0", self.server), '"0" is no number of replicas'),
                (("start", "web", "--port", "http", "--probe", "ftp", self.server), '"ftp" is no probe'),
                (("start", "web", "--port", "http"), "names too little"),
                (("endpoints", "web", "--format", "iis"), "--format: \"iis\" is none of"),
                (("endpoints", "web", "--follow"), "name it by -o FILE"),
                (("list", "--replicas", "3"), "--replicas: is not for muster service list"),
                (("start", "web", "--port", "http", "--rolling", "0", self.server), '--rolling: "0" is no number'),
                (("start", "web", "--port", "http", "--max", "3", self.server), "--metric: is missing"),
                (("start", "web", "--port", "http", "--replicas", 9, "--max", 3, "--metric", "a", "--target", 1,
                  self.server), "--replicas: 9 is not within --min 1 and --max 3"),
                (("scale", "web", "none"), '"none" is no number of replicas'),
                (("scale", "web"), "scale: say how many, or by which rule"),
                (("scale", "web", 3, "--max", 4), "scale: say how many, or by which rule"),
                (("scale", "web", "--max", 4, "--metric", "a", "--target", "much"), '"much" is no number above 0'),
                (("keep", "web", "--lost-after", "soon"), '--lost-after: "soon" is no time'),
                (("nonsense",), '"nonsense" is not a service command')):
            done = self.muster(*words)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(says, done.stderr)
            self.assert_one_line(done.stderr)
        for words in (("endpoints", "none"), ("scale", "none", 2), ("roll", "none"), ("stop", "none"),
                      ("list", "none"), ("keep", "none")):
            done = self.muster(*words)
            self.assertEqual(done.returncode, 1, done)
            self.assertIn('"none": no such service runs', done.stderr)
            self.assert_one_line(done.stderr)


if __name__ == "__main__":
    unittest.main()
