"""Ranks that are slower than their peers, end to end: sampled by the agent for a minute, judged, shown and warned of."""

import json
import os
import subprocess
import unittest

from cluster import BIN, Cluster, ClusterTest, program, wait_until

SPIN = "while :; do :; done"
# Says a step each 100 ms from within its own process; rank 1 each 200 ms.
STEPS = """
import os, socket, time
door = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
at = os.open(os.path.dirname(os.environ["MUSTER_REPORT_SOCKET"]), os.O_PATH)
door.connect(f"/proc/self/fd/{at}/" + os.path.basename(os.environ["MUSTER_REPORT_SOCKET"]))
pause = 0.2 if os.environ["MUSTER_PROCID"] == "1" else 0.1
for step in range(100000):
    time.sleep(pause)
    try:
        door.send(f"step={step}".encode())
    except OSError:
        pass
"""


class StragglerTest(ClusterTest):
    """One node with two GPUs, played, of which one clocks low; and its real CPUs."""

    @classmethod
    def make(cls):
        cluster = Cluster(nodes=1)
        gpus = os.path.join(cluster.root, "gpus.json")
        common = {"name": "NVIDIA H200", "memory": 1 << 37, "busy": 100, "clock_most": 1980, "pcie": [5, 16],
                  "nvlinks": ["switch", "switch"]}
        with open(gpus, "w", encoding="utf-8") as file:
            json.dump({"devices": [{**common, "uuid": "GPU-quick", "pci": [0, 1, 0], "clock": 1980, "reasons": 0},
                                   {**common, "uuid": "GPU-slow", "pci": [0, 2, 0], "clock": 1395, "reasons": 4}]}, file)
        config = os.path.join(cluster.root, "agent.toml")
        with open(config, "w", encoding="utf-8") as file:
            file.write('sample_interval = "5s"\n')
        cluster.agents[0].arguments += ["--config", config]
        cluster.agents[0].environment = {**cluster.environment, "MUSTER_FAKE_NVML_JSON": gpus,
                                         "MUSTER_NVML": os.path.join(BIN, "..", "tests", "libfake_nvml.so")}
        return cluster.start()

    def tearDown(self):
        for job in self.cluster.queue():
            self.cluster.muster("cancel", job)
            self.cluster.wait_ended(job)

    def start(self, *words):
        job = self.cluster.submit("-t", 10, *words[:-1], "--wrap", f"{program('muster')} run {words[-1]}")
        self.cluster.wait_state(job, "RUNNING")
        return job

    def detail(self, job):
        return json.loads(self.cluster.must("show", "--json", job))["jobs"][0]

    def found(self, job):
        return (self.detail(job)["stragglers"] or {}).get("found", [])

    def test_a_gpu_that_clocks_low_and_steps_that_come_late_name_their_ranks(self):
        gpus = self.start("-n", 2, "--gpus-per-task=1", "--mem=64M", "-n 2 sleep 1000")
        path = os.path.join(self.cluster.work, "steps.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(STEPS)
        wait_until(lambda: self.detail(gpus)["stragglers"], "the first samples")
        early = self.detail(gpus)["stragglers"]
        self.assertEqual((early["ranks"], early["judged"], early["found"]), (2, 0, []))
        self.assertIn("2 of 2 ranks: looked at for less than a minute", early["unknown"])
        self.assertRegex(self.cluster.must("show", gpus), r"peers +cannot tell yet: 2 of 2 ranks: looked at for less")
        wait_until(lambda: self.found(gpus), lambda: self.detail(gpus)["stragglers"], 120)
        (slow,) = self.found(gpus)
        self.assertEqual((slow["node"], slow["measure"], slow["gpu"], slow["value"], slow["median"], slow["percent"]),
                         ("node1", "gpu_clock", "GPU-slow", 1395, 1980, 29), slow)
        self.assertEqual((slow["brakes"], slow["link"]),
                         (["power limit"], {"pcie_generation": 5, "pcie_lanes": 16, "nvlinks": 2}))
        sheet = self.cluster.must("show", gpus)
        self.assertRegex(sheet, r"warning +a rank is slower than the peers: rank \d on node1: GPU clock 1395 MHz, 29 %")
        self.assertRegex(sheet, r"slower +rank \d on node1: GPU clock 1395 MHz, 29 % below the median of 2 GPUs of its step, "
                                r"1980 MHz; GPU-slow, which can do 1980 MHz, held down by: power limit; PCIe 5 x16, "
                                r"2 NVLinks up(, NIC \S+)?; since ")
        self.assertRegex(sheet, r"peers +1 of 2 ranks slower over the last minute, by GPU clock")
        self.assertRegex(sheet, r"not by +progress: its programs report no steps")
        table = self.cluster.must("top", "--once", gpus)
        self.assertRegex(table, r"node1 .* 1395 +yes *\n")
        self.assertRegex(table, r"(?m)^rank \d on node1: GPU clock 1395 MHz")
        rows = json.loads(self.cluster.must("top", "--json", gpus))["ranks"]
        clocks = {row["gpus"][0]: (row["gpu_clock"], row["slower"] != "") for row in rows if row["step"] not in (0, None)}
        self.assertEqual(clocks, {"GPU-quick": (1980, False), "GPU-slow": (1395, True)})
        wait_until(lambda: "Straggler" in self.cluster.must("alerts", "--json"), lambda: self.cluster.must("alerts"), 30)
        self.cluster.must("cancel", gpus)
        self.cluster.wait_ended(gpus)
        self.assertIsNone(self.detail(gpus)["stragglers"], "of a job that has ended nothing is judged")
        steps = self.start("-n", 2, "--mem=64M", f"-n 2 /usr/bin/python3 -B {path}")
        wait_until(lambda: self.found(steps), lambda: self.detail(steps)["stragglers"], 120)
        (slow,) = self.found(steps)
        self.assertEqual((slow["rank"], slow["measure"], slow["unit"]), (1, "progress", "steps/s"), slow)
        self.assertTrue(40 <= slow["percent"] <= 60, slow)

    def test_steps_that_a_shell_reports_are_those_of_its_rank(self):
        path = os.path.join(self.cluster.work, "steps.sh")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"""n=0
while :; do
  sleep $((1 + MUSTER_PROCID))
  n=$((n + 1)); {program('muster')} report step=$n
done
""")
        job = self.start("-n", 2, "--mem=64M", f"-n 2 sh {path}")
        wait_until(lambda: self.found(job), lambda: self.detail(job)["stragglers"], 150)
        (slow,) = self.found(job)
        self.assertEqual((slow["rank"], slow["measure"], slow["unit"]), (1, "progress", "steps/s"), slow)

    def need_a_quiet_machine(self, own):
        """Skips where others' load takes CPU time from the peer, too; `own` of the load is of this test."""
        others = os.getloadavg()[0] - own
        if others > 1.5:
            self.skipTest(f"the other rank needs a CPU with nothing else on it: the load of others is {others:.1f}")

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "two CPUs are needed")
    def test_a_rank_from_which_a_busy_neighbour_takes_the_cpu_is_named(self):
        self.need_a_quiet_machine(0)
        job = self.start("-n", 2, "--mem=64M", f"-n 2 sh -c '{SPIN}'")
        wait_until(lambda: len(self.detail(job)["attempts"][-1]["ranks"]) == 3, lambda: self.detail(job))
        places = {rank["rank"]: rank["found_cpus"] for rank in self.detail(job)["attempts"][-1]["ranks"] if rank["step"] == 1}
        neighbours = [subprocess.Popen(["taskset", "-c", places[1], "sh", "-c", SPIN]) for _ in range(4)]
        try:
            wait_until(lambda: self.found(job), lambda: self.detail(job)["stragglers"], 180)
            self.need_a_quiet_machine(6)
            (slow,) = self.found(job)
            self.assertEqual((slow["rank"], slow["measure"], slow["unit"]), (1, "cpu_time", "%"), slow)
            self.assertRegex(slow["text"], r"rank 1 on node1: CPU time \S+ %, \d+ % below the median of 2 ranks of its step")
        finally:
            for neighbour in neighbours:
                neighbour.kill()
                neighbour.wait()


if __name__ == "__main__":
    unittest.main()
