"""What the page draws of suspensions, parts of GPUs, the tree of switches, and jobs with very many ranks."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest

import cluster
import mig_test
from cluster import BIN, Cluster, program, wait_until
from page_test import BROWSER, DRIVER, Page, free_port, webdriver

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "topology")
GPUS = os.path.join(FIXTURES, "h200x4.xml") + "+" + os.path.join(FIXTURES, "h200x4.topo_m.txt")
TREE = """SwitchName=root Switches=left,right
SwitchName=left Nodes=node[1-2]
SwitchName=right Nodes=node3
"""


def page_of(test, here):
    """Starts a cluster with a gateway before it, and a browser that shows its page; they end with the test."""
    door = f"unix:{here.state}/gateway.sock"
    here.controller.arguments += ["--gateway-socket", door]
    here.start()
    port = free_port()
    gateway = here._daemon("muster-gateway", ["--controller", door, "--listen", f"127.0.0.1:{port}"], "muster-gateway")
    gateway.start()
    test.addCleanup(gateway.stop)
    page = Page(port, here.must("token"))
    test.addCleanup(page.close)
    return page


@unittest.skipUnless(webdriver and BROWSER and DRIVER, "chromium, chromium-driver or python3-selenium is not installed")
class PageViewsTest(unittest.TestCase):
    """Four nodes that play machines with GPUs, three of them on a map; jobs really run."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(nodes=4, topology=GPUS)
        cls.addClassCleanup(cls.cluster.close)
        with open(os.path.join(cls.cluster.root, "topology.conf"), "w", encoding="utf-8") as file:
            file.write(TREE)
        door = f"unix:{cls.cluster.state}/gateway.sock"
        cls.cluster.controller.arguments += ["--gateway-socket", door]
        cls.cluster.configure('network = "topology.conf"\n')
        cls.cluster.start()
        port = free_port()
        gateway = cls.cluster._daemon("muster-gateway", ["--controller", door, "--listen", f"127.0.0.1:{port}"],
                                      "muster-gateway")
        gateway.start()
        cls.addClassCleanup(gateway.stop)
        cls.page = Page(port, cls.cluster.must("token"))
        cls.addClassCleanup(cls.page.close)

    def tearDown(self):
        self.assertEqual(self.page.errors(), [])

    def run_job(self, *options):
        job = self.cluster.submit(*options, "-t", 60, "--wrap", "sleep 1000")
        self.addCleanup(self.cluster.muster, "cancel", job)
        self.cluster.wait_state(job, "RUNNING")
        return job

    def attempt(self, job):
        return json.loads(self.cluster.must("show", str(job), "--json"))["jobs"][0]["attempts"][-1]

    def await_suspensions(self, job, count, lasts):
        wait_until(lambda: [one["end"] is None for one in self.attempt(job)["suspensions"]] == [False] * (count - lasts) +
                   [True] * lasts, lambda: self.attempt(job))

    def test_a_jobs_line_shows_when_it_was_suspended(self):
        job = self.run_job()
        self.page.go(f"job/{job}")
        self.page.await_text(f"Job {job}")
        drawn = "return [...document.querySelectorAll('.life.suspended title')].map((one) => one.textContent)"
        self.assertEqual(self.page.js(drawn), [])
        self.cluster.must("suspend", job)
        self.await_suspensions(job, 1, 1)
        wait_until(lambda: len(self.page.js(drawn)) == 1, lambda: self.page.text()[:1500])
        self.assertRegex(self.page.js(drawn)[0], r"^suspended .* to now, .*: suspended by ")
        self.page.await_text("to now: suspended by ")
        self.cluster.must("resume", job)
        self.await_suspensions(job, 1, 0)
        self.page.await_text("to now", there=False)
        self.assertNotIn("to now", self.page.js(drawn)[0])
        self.cluster.must("suspend", job)
        self.await_suspensions(job, 2, 1)
        wait_until(lambda: len(self.page.js(drawn)) == 2, lambda: self.page.js(drawn))
        self.assertIn("2 suspensions", self.page.js("return document.querySelector('.timeline svg').getAttribute('aria-label')"))
        lines = [line for line in self.cluster.must("show", job).splitlines() if line.strip().startswith("suspended")]
        self.assertEqual(sum(": suspended by " in line for line in lines), 2, lines)

    def test_suspensions_are_kept_through_a_restart_and_beyond_the_end(self):
        job = self.run_job()
        self.cluster.must("suspend", job)
        self.await_suspensions(job, 1, 1)
        before = self.attempt(job)["suspensions"]
        self.cluster.controller.kill()
        self.cluster.controller.start()
        self.assertEqual(self.attempt(job)["suspensions"], before)
        self.cluster.must("cancel", job)
        self.cluster.wait_ended(job)
        (ended,) = self.attempt(job)["suspensions"]
        self.assertEqual((ended["begin"], ended["text"]), (before[0]["begin"], before[0]["text"]))
        self.assertEqual(ended["end"], self.attempt(job)["end_time"])
        self.page.go(f"job/{job}")
        wait_until(lambda: self.page.js("return document.querySelectorAll('.life.suspended').length") == 1,
                   lambda: self.page.text()[:1500])

    def test_each_holder_of_a_gpu_is_shown_with_its_part(self):
        half, other = (self.run_job("-w", "node2", "--gpu-share=0.5") for _ in range(2))
        quarter = self.run_job("-w", "node2", "--gpu-share=0.25")
        whole = self.run_job("-w", "node2", "-G", 1)
        node = next(one for one in json.loads(self.cluster.must("nodes", "--json"))["nodes"] if one["name"] == "node2")
        shares = {holder["label"]: holder["gpu_shares"][0] for holder in node["holders"] if holder["gpus"]}
        self.assertEqual([shares[str(job)]["share"] for job in (half, other, quarter, whole)], [500, 500, 250, 1000])
        self.assertEqual(shares[str(half)], shares[str(other)])
        self.assertIn(f"0.5 of it: job {half} ", self.cluster.must("topo", "node2"))
        self.page.go("gpus")
        parts = """return [...document.querySelectorAll('.gpu-part')].map((part) => [part.dataset.job,
            part.getBoundingClientRect().width / part.parentElement.clientWidth, part.parentElement.title])"""
        wait_until(lambda: len(self.page.js(parts)) == 4, lambda: self.page.js(parts))
        found = {job: (width, title) for job, width, title in self.page.js(parts)}
        for job, share in ((half, 0.5), (other, 0.5), (quarter, 0.25), (whole, 1)):
            self.assertAlmostEqual(found[str(job)][0], share, delta=0.03)
        self.assertIn(f"0.5 of it: job {half} ", found[str(half)][1])
        self.assertIn(f"0.5 of it: job {other} ", found[str(half)][1])
        self.assertNotIn("free", found[str(half)][1])
        self.assertIn(f"0.25 of it: job {quarter} ", found[str(quarter)][1])
        self.assertIn("0.75 free", found[str(quarter)][1])
        self.assertNotIn("of it", found[str(whole)][1])
        largest = self.page.js("return document.querySelector('[aria-label=\"By model\"] tbody tr').innerText").split("\t")
        self.assertEqual(largest[:3], ["NVIDIA H200", "16", "13"])
        self.assertTrue(all(cell.isdigit() for cell in largest[1:]), largest)
        gpu = shares[str(half)]["gpu"]
        self.page.go("node/node2")
        self.page.await_text(f"{gpu} (0.5)")
        self.assertIn(f"{shares[str(quarter)]['gpu']} (0.25)", self.page.text())
        chips = self.page.js("return [...document.querySelectorAll('.part-gpu.taken')].map((chip) => chip.title)")
        self.assertTrue(any(f"0.5 of it: job {half} " in chip and f"0.5 of it: job {other} " in chip for chip in chips), chips)

    def test_nodes_stand_below_their_switches(self):
        self.page.go("overview")
        tree = """return Object.fromEntries([...document.querySelectorAll('[data-switch]')].map((one) => [one.dataset.switch,
            [...one.querySelectorAll('a.cell')].map((cell) => cell.textContent)]))"""
        wait_until(lambda: self.page.js(tree), lambda: self.page.text()[:1500])
        self.assertEqual(self.page.js(tree), {"root": ["node1", "node2", "node3"], "left": ["node1", "node2"],
                                              "right": ["node3"], "on no map": ["node4"]})
        paths = {one["name"]: one["topology"] for one in json.loads(self.cluster.must("nodes", "--json"))["nodes"]}
        self.assertEqual(paths, {"node1": ["root", "left"], "node2": ["root", "left"], "node3": ["root", "right"], "node4": []})
        (only,) = json.loads(self.cluster.must("nodes", "node3", "--json"))["nodes"]
        self.assertEqual(only["topology"], ["root", "right"])

    def test_a_narrow_link_is_named_where_its_switches_and_nodes_are(self):
        rows = """return [...document.querySelectorAll('[aria-label="Narrow links between switches"] tbody tr')]
            .map((row) => [...row.cells].map((cell) => cell.innerText))"""
        state = "return document.querySelector(`[data-switch=${arguments[0]}]`)?.ariaLabel"
        self.page.go("overview")
        wait_until(lambda: self.page.js(state, "left"), lambda: self.page.text()[:1500])
        self.assertEqual(self.page.js(rows), [])
        self.cluster.must("drain", "--link", "left,right", "--reason", "one of two cables")
        self.addCleanup(self.cluster.muster, "resume", "--link", "left,right")
        (link,) = json.loads(self.cluster.must("nodes", "--json"))["narrow_links"]
        wait_until(lambda: self.page.js(rows), lambda: self.page.text()[:1500])
        for view in ("overview", "nodes"):
            self.page.go(view)
            wait_until(lambda: self.page.js(rows), lambda: self.page.text()[:1500])
            ((name, since, by, reason),) = self.page.js(rows)
            self.assertEqual((name, by, reason), ("left – right", link["by"], "one of two cables"))
            self.assertRegex(since, r"\d:\d\d")
        self.page.go("overview")
        wait_until(lambda: "narrow link to right" in (self.page.js(state, "left") or ""), lambda: self.page.js(state, "left"))
        self.assertIn("narrow link to left", self.page.js(state, "right"))
        self.assertNotIn("narrow", self.page.js(state, "root"))
        self.page.go("node/node3")
        self.page.await_text("left – right: one of two cables")
        self.page.go("node/node4")
        self.page.await_text("node4")
        self.assertNotIn("Narrow links", self.page.text())
        self.page.go("nodes")
        wait_until(lambda: self.page.js(rows), lambda: self.page.text()[:1500])
        self.cluster.must("resume", "--link", "left,right")
        wait_until(lambda: not self.page.js(rows), lambda: self.page.text()[:1500])


@unittest.skipUnless(webdriver and BROWSER and DRIVER, "chromium, chromium-driver or python3-selenium is not installed")
class WidePageTest(unittest.TestCase):
    """1,000 nodes below 25 racks' switches, and a job of 1,300 ranks: the real controller, with agents that are played."""

    @classmethod
    def setUpClass(cls):
        root = tempfile.mkdtemp(prefix="mit-wide-", dir="/tmp")
        cls.addClassCleanup(shutil.rmtree, root, True)
        cls.state = os.path.join(root, "state")
        environment = {key: value for key, value in os.environ.items() if not key.startswith("MUSTER_")}
        played = cluster.Daemon(os.path.join("..", "tests", "large_cluster"), [cls.state, "1000", "8", "100", "--switches"],
                                os.path.join(root, "log"), environment)
        played.start()
        cls.addClassCleanup(played.stop)
        cls.port = free_port()
        gateway = cluster.Daemon("muster-gateway", ["--controller", f"unix:{cls.state}/gateway.sock", "--listen",
                                                    f"127.0.0.1:{cls.port}"], os.path.join(root, "gateway.log"), environment)
        gateway.start()
        cls.addClassCleanup(gateway.stop)
        cls.page = Page(cls.port, cls.muster("token").strip())
        cls.addClassCleanup(cls.page.close)

    @classmethod
    def muster(cls, verb, *arguments):
        done = subprocess.run([program("muster"), verb, "--state", cls.state, *map(str, arguments)], capture_output=True,
                              text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def tearDown(self):
        self.assertEqual(self.page.errors(), [])

    def test_a_thousand_nodes_stand_below_their_switches(self):
        self.page.go("overview")
        wait_until(lambda: self.page.js("return document.querySelectorAll('.heat a.cell').length") == 1000,
                   lambda: self.page.text()[:500])
        racks = self.page.js("""return [...document.querySelectorAll('[data-switch]')].filter((one) => !one.querySelector('[data-switch]'))
            .map((one) => [one.dataset.switch, one.querySelectorAll('a.cell').length])""")
        self.assertEqual(racks, [[f"rack{i + 1}", 40] for i in range(25)])
        pods = self.page.js("return [...document.querySelectorAll('[data-switch=core] > .heat-below > *')].map((one) => one.dataset.switch)")
        self.assertEqual(pods, [f"pod{i + 1}" for i in range(5)])
        self.assertIn("200 nodes, ", self.page.js("return document.querySelector('[data-switch=pod1]').ariaLabel"))
        phone = Page(self.port, self.muster("token").strip(), size=(390, 844))
        self.addCleanup(phone.close)
        for page in (self.page, phone):
            wait_until(lambda: page.js("return document.querySelectorAll('.heat a.cell').length") == 1000, lambda: page.text()[:500])
            self.assertLessEqual(page.js("return document.documentElement.scrollWidth"),
                                 page.js("return document.documentElement.clientWidth"))

    def test_every_rank_of_a_wide_job_can_be_reached(self):
        job = self.muster("submit", "--parsable", "-n", 1300, "-N", 130, "--ntasks-per-node", 10, "--wrap", "true").strip()
        wait_until(lambda: json.loads(self.muster("show", job, "--json"))["jobs"][0]["attempts"],
                   lambda: self.muster("show", job)[:500])
        self.page.go(f"job/{job}")
        self.page.await_text("1,300 ranks, where each was planned and found")
        rows = "return [...document.querySelectorAll('details[data-key^=ranks] tbody tr')].map((row) => row.cells[0].textContent)"
        pictures = "return [...document.querySelectorAll('.place-of h3 a')].map((one) => one.textContent)"
        self.page.js("document.querySelector('details[data-key^=ranks]').open = true")
        seen, nodes = [], []
        for first, last, count in ((1, 512, 52), (513, 1024, 52), (1025, 1300, 28)):
            self.page.await_text(f"ranks {first:,} to {last:,} of 1,300")
            seen += self.page.js(rows)
            for begin in range(0, count, 8):
                self.page.await_text(f"nodes {begin + 1} to {min(begin + 8, count)} of {count}")
                wait_until(lambda: len(self.page.js(pictures)) == min(8, count - begin), lambda: self.page.js(pictures))
                nodes += self.page.js(pictures)
                if begin + 8 < count:
                    self.turn("nodes", "next")
            if last < 1300:
                self.turn("ranks", "next")
        self.assertEqual(seen, [f"1.{rank}" for rank in range(1300)])
        self.assertEqual(len(set(nodes)), 130)
        self.assertTrue(self.page.js("return document.querySelector('[data-key=\"ranks-1-next\"]').disabled"))
        self.turn("ranks", "previous")
        self.page.await_text("ranks 513 to 1,024 of 1,300")

    def turn(self, what, way):
        self.page.js("document.querySelector(`[data-key=\"${arguments[0]}-1-${arguments[1]}\"]`).click()", what, way)


@unittest.skipUnless(webdriver and BROWSER and DRIVER, "chromium, chromium-driver or python3-selenium is not installed")
class OccupiedGpuPageTest(unittest.TestCase):
    """A GPU that a process outside of all jobs uses, on a page."""

    def test_a_gpu_that_others_use_is_marked_with_who_they_are(self):
        here = Cluster(nodes=1)
        self.addCleanup(here.close)
        other = subprocess.Popen(["sleep", "1000"])
        self.addCleanup(other.wait)
        self.addCleanup(other.kill)
        gpus = os.path.join(here.root, "gpus.json")
        with open(gpus, "w", encoding="utf-8") as file:
            json.dump({"devices": [{"uuid": f"GPU-{i}", "name": "NVIDIA H200", "memory": 1 << 37, "pci": [0, i, 0],
                                    "processes": [{"pid": other.pid, "memory": 12 << 30}] if i == 1 else []}
                                   for i in range(2)]}, file)
        config = os.path.join(here.root, "agent.toml")
        with open(config, "w", encoding="utf-8") as file:
            file.write('sample_interval = "5s"\n')
        here.agents[0].arguments += ["--config", config]
        here.agents[0].environment = {**here.environment, "MUSTER_FAKE_NVML_JSON": gpus,
                                      "MUSTER_NVML": os.path.join(BIN, "..", "tests", "libfake_nvml.so")}
        page = page_of(self, here)
        wait_until(lambda: json.loads(here.must("nodes", "--json"))["nodes"][0]["gpu_occupants"],
                   lambda: here.must("nodes"))
        page.go("gpus")
        page.await_text("2 GPUs on 1 node, 1 free")
        (title,) = page.js("return [...document.querySelectorAll('.gpu.outside')].map((cell) => cell.title)")
        self.assertRegex(title, rf"^GPU 1: pid {other.pid} \(\w+, sleep, 12 GiB\) outside Muster$")
        page.go("node/node1")
        page.await_text(str(other.pid))
        self.assertEqual(page.errors(), [])


@unittest.skipUnless(webdriver and BROWSER and DRIVER, "chromium, chromium-driver or python3-selenium is not installed")
class MigPageTest(unittest.TestCase):
    """Two H200 that MIG divides for jobs, on a page. The library is a stand-in, as in mig_test."""

    def test_a_divided_gpu_is_shown_with_its_instances_and_what_becomes_of_it(self):
        here = Cluster(nodes=1)
        self.addCleanup(here.close)
        gpus = os.path.join(here.root, "gpus.json")
        mig_test.MigTest.say(gpus)
        here.configure('[mig.all]\nnodes = "ALL"\n')
        here.agents[0].environment = {**here.environment, "MUSTER_FAKE_NVML_JSON": gpus,
                                      "MUSTER_NVML": os.path.join(BIN, "..", "tests", "libfake_nvml.so")}
        page = page_of(self, here)
        rows = """return [...document.querySelectorAll('[aria-label="GPUs that MIG divides"] tbody tr')]
            .map((row) => [...row.cells].map((cell) => cell.innerText))"""
        page.go("node/node1")
        page.await_text("GPU 1")
        self.assertEqual(page.js(rows), [])
        beside, small = (here.submit(f"--gpus={what}", "-t", 5, "-c", 1, "--wrap", "sleep 1000")
                         for what in ("1", "1g.18gb:2"))
        here.wait_state(small, "RUNNING")
        here.wait_state(beside, "RUNNING")
        instances = "4 x 1g.18gb and 1 x 3g.71gb"
        page.await_text(instances)
        ((device, now, change),) = page.js(rows)
        self.assertIn(device, ("0", "1"))
        self.assertEqual(now, instances)
        # The change is forgotten at the first cycle after the job that it was made for has begun.
        self.assertIn(change, (f"was divided into {instances} for job {small}", ""))
        chips = page.js("return [...document.querySelectorAll('.part-gpu')].map((chip) => chip.textContent)")
        self.assertEqual(sorted(chip.split(" ", 2)[2] for chip in chips if chip.count(" ") > 1), 4 * ["1g.18gb"] + ["3g.71gb"])
        self.assertEqual(len(chips), 6)
        whole = here.submit("--gpus=1", "-t", 5, "--wrap", "true")
        words = f"is to be made whole for job {whole} once the jobs there have ended"
        page.await_text(words)
        page.go("nodes")
        page.await_text(f"GPU {device} {words}")
        self.assertIn(f"GPU {device} of node node1 {words}", here.must("nodes"))
        self.assertEqual(page.errors(), [])


if __name__ == "__main__":
    unittest.main()
