"""GPUs of a captured machine, played: parts of them, what ranks see, what a placement is worth."""

import contextlib
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import unittest

from cluster import BIN, Cluster, ClusterTest, program, wait_until

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "topology")
# Four H200, every two joined by NVLink; one NUMA node.
MACHINE = os.path.join(FIXTURES, "h200x4.xml") + "+" + os.path.join(FIXTURES, "h200x4.topo_m.txt")


class LostGpuTest(ClusterTest):
    """A GPU that falls off the bus while the agent looks at it."""

    @classmethod
    def make(cls):
        cluster = Cluster(nodes=1)
        gpus = os.path.join(cluster.root, "gpus.json")
        with open(gpus, "w", encoding="utf-8") as file:
            json.dump({"devices": [{"uuid": "GPU-gone", "name": "NVIDIA H200", "memory": 1 << 37, "pci": [0, 1, 0],
                                    "lost_after": 1}]}, file)
        cluster.agents[0].environment = {**cluster.environment, "MUSTER_FAKE_NVML_JSON": gpus,
                                         "MUSTER_NVML": os.path.join(BIN, "..", "tests", "libfake_nvml.so")}
        return cluster.start()

    def node(self):
        (node,) = json.loads(self.cluster.must("nodes", "--json"))["nodes"]
        return node

    def test_it_drains_its_node_and_an_operators_reason_stays(self):
        self.assertEqual(self.node()["gpus"], 1)
        wait_until(lambda: self.node()["reason"] == "GPU GPU-gone has fallen off the bus (NVML: GPU is lost)",
                   lambda: self.node())
        self.cluster.must("drain", "node1", "--reason", "a new GPU is ordered")
        self.cluster.controller.kill()
        self.cluster.controller.start()
        wait_until(lambda: self.node()["state"] == "IDLE+DRAIN", lambda: self.node())
        self.assertEqual(self.node()["reason"], "a new GPU is ordered")


class OccupiedGpuTest(ClusterTest):
    """A GPU that a process outside of all jobs uses."""

    @classmethod
    def make(cls):
        cluster = Cluster(nodes=1)
        cls.gpus = os.path.join(cluster.root, "gpus.json")
        cls.say([])
        config = os.path.join(cluster.root, "agent.toml")
        with open(config, "w", encoding="utf-8") as file:
            file.write('sample_interval = "5s"\n')
        cluster.agents[0].arguments += ["--config", config]
        cluster.agents[0].environment = {**cluster.environment, "MUSTER_FAKE_NVML_JSON": cls.gpus,
                                         "MUSTER_NVML": os.path.join(BIN, "..", "tests", "libfake_nvml.so")}
        return cluster.start()

    @classmethod
    def say(cls, pids):
        """These processes are on the GPU."""
        processes = [{"pid": pid, "memory": 12 << 30} for pid in pids]
        with open(cls.gpus + ".new", "w", encoding="utf-8") as file:
            json.dump({"devices": [{"uuid": "GPU-one", "name": "NVIDIA H200", "memory": 1 << 37, "pci": [0, 1, 0],
                                    "processes": processes}]}, file)
        os.rename(cls.gpus + ".new", cls.gpus)

    def other(self):
        """The pid of a process that is of no job."""
        process = subprocess.Popen(["sleep", "1000"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process.pid

    def occupants(self):
        (node,) = json.loads(self.cluster.must("nodes", "--json"))["nodes"]
        return node["gpu_occupants"]

    def test_it_is_kept_from_jobs_until_the_process_is_gone(self):
        other = self.other()
        self.say([other])
        wait_until(self.occupants, lambda: self.cluster.must("nodes"))
        (occupant,) = self.occupants()
        self.assertEqual((occupant["gpu"], occupant["pid"], occupant["program"]), (0, other, "sleep"))
        self.assertIn(f"1 GPU of node node1 is used by pid {other} (", self.cluster.must("nodes"))
        job = self.cluster.submit("-G", 1, "-t", 5, "--wrap", "true")
        words = f"short of 1 GPU (has 0); 1 GPU of node node1 is used by pid {other} ("
        self.cluster.wait_reason(job, words)
        explained = self.cluster.must("explain", job)
        self.assertIn("sleep, 12 GiB) outside Muster", explained)
        self.assertIn("--gpu-occupied=ok", explained)
        beside = self.cluster.submit("-G", 1, "-t", 5, "--gpu-occupied=ok", "--wrap", "true")
        self.assertEqual(self.cluster.wait_ended(beside)[0]["state"], "COMPLETED")
        self.cluster.controller.kill()
        self.cluster.controller.start()
        self.cluster.wait_reason(job, words)
        self.say([])
        self.assertEqual(self.cluster.wait_ended(job)[0]["state"], "COMPLETED")
        self.assertEqual(self.occupants(), [])

    def test_the_process_of_a_job_is_none(self):
        job = self.cluster.submit("-G", 1, "-t", 5, "-o", "pid.out", "--wrap", "sleep 1000 & echo $!; wait")
        self.cluster.wait_state(job, "RUNNING")
        path = os.path.join(self.cluster.work, "pid.out")
        wait_until(lambda: os.path.exists(path) and os.path.getsize(path), lambda: self.cluster.queue())
        other = self.other()
        with open(path, encoding="utf-8") as file:
            self.say([int(file.read()), other])
        wait_until(self.occupants, lambda: self.cluster.must("nodes"))
        self.assertEqual([one["pid"] for one in self.occupants()], [other])
        self.say([])
        self.cluster.muster("cancel", job)
        self.cluster.wait_ended(job)
        wait_until(lambda: not self.occupants(), lambda: self.cluster.must("nodes"))

    def test_an_unknown_word_is_refused_in_one_line(self):
        done = self.cluster.muster("submit", "-G", 1, "--gpu-occupied=maybe", "--wrap", "true")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"\A[^\n]*--gpu-occupied: \"maybe\" is not one of ok, no\n\Z")


class CountedGpuTest(ClusterTest):
    """A GPU with performance counters, which says that it copies."""

    @classmethod
    def make(cls):
        cluster = Cluster(nodes=1)
        gpus = os.path.join(cluster.root, "gpus.json")
        with open(gpus, "w", encoding="utf-8") as file:
            json.dump({"devices": [{"uuid": "GPU-hopper", "name": "NVIDIA H100", "memory": 1 << 36, "pci": [0, 1, 0],
                                    "busy": 100, "gpm": [{"2": 97, "5": 2, "10": 84, "60": 10, "61": 10}]}]}, file)
        cluster.agents[0].environment = {**cluster.environment, "MUSTER_FAKE_NVML_JSON": gpus,
                                         "MUSTER_NVML": os.path.join(BIN, "..", "tests", "libfake_nvml.so")}
        return cluster.start()

    def test_a_job_of_a_few_seconds_says_what_bounds_it(self):
        self.cluster.must("run", "-G", "1", "sleep", "5")
        sheet = self.cluster.must("show", "last")
        self.assertRegex(sheet, r"GPU use +100 % of 1 GPU")
        self.assertRegex(sheet, r"GPU work +SMs 97 %, tensor cores 2 %, device memory 84 % of its bandwidth, "
                                r"NVLink 20(\.0)? MiB/s a GPU")
        self.assertRegex(sheet, r"bound by +memory: SMs 97 %")
        (detail,) = json.loads(self.cluster.must("show", "last", "--json"))["jobs"]
        usage = detail["attempts"][0]["usage"]
        self.assertGreaterEqual(usage["gpu_counted"], 2, usage)
        self.assertIsNone(usage.get("pcie_bytes"), "what the GPU does not tell is not nothing")


class TwoGpus(ClusterTest):
    """Two GPUs, of which one has performance counters, and a file for the kernel's log."""

    @classmethod
    def make(cls):
        cluster = Cluster(nodes=1)
        gpus = os.path.join(cluster.root, "gpus.json")
        with open(gpus, "w", encoding="utf-8") as file:
            json.dump({"devices": [
                {"uuid": "GPU-hopper", "name": "NVIDIA H100", "memory": 1 << 36, "pci": [0, 0x3b, 0], "busy": 100,
                 "clock": 1980, "gpm": [{"2": 97, "5": 40, "10": 84, "60": 10, "61": 10}]},
                {"uuid": "GPU-plain", "name": "NVIDIA H100", "memory": 1 << 36, "pci": [0, 0x5e, 0], "busy": 100}]}, file)
        cls.log = os.path.join(cluster.root, "kmsg")
        with open(cls.log, "w", encoding="utf-8") as file:
            file.write("4,1,1,-;NVRM: Xid (PCI:0000:3b:00): 79, before the agent\n")
        cluster.agents[0].environment = {**cluster.environment, "MUSTER_FAKE_NVML_JSON": gpus,
                                         "MUSTER_KERNEL_LOG": cls.log,
                                         "MUSTER_NVML": os.path.join(BIN, "..", "tests", "libfake_nvml.so")}
        return cluster.start()

    def detail(self, job):
        (detail,) = json.loads(self.cluster.must("show", str(job), "--json"))["jobs"]
        return detail


class CountersOfRanksTest(TwoGpus):
    def ranks(self, job):
        return {rank["rank"]: rank for rank in json.loads(self.cluster.must("top", str(job), "--json"))["ranks"]
                if rank["step"]}

    def test_counters_are_told_by_rank_live_and_when_it_has_ended(self):
        run = self.cluster.begin("run", "-n", 2, "--gpus-per-task", 1, "sleep", 1000)
        job = wait_until(lambda: next(iter(json.loads(self.cluster.must("queue", "--json"))["jobs"]), None),
                         lambda: self.cluster.must("queue"))["id"]
        self.cluster.wait_state(job, "RUNNING")

        def counted():
            return {rank: one for rank, one in self.ranks(job).items() if one["gpu_work"]}
        wait_until(counted, lambda: self.ranks(job))
        with_counters = self.ranks(job)
        (number, one), = counted().items()
        self.assertEqual(one["gpus"], ["GPU-hopper"])
        self.assertAlmostEqual(one["gpu_work"]["sm_active"], 0.97, delta=0.01)
        self.assertAlmostEqual(one["gpu_work"]["tensor_active"], 0.4, delta=0.01)
        self.assertAlmostEqual(one["gpu_work"]["dram_active"], 0.84, delta=0.01)
        self.assertAlmostEqual(one["gpu_work"]["nvlink"], 20 << 20, delta=1 << 16)
        self.assertIsNone(one["gpu_work"]["pcie"], "what the GPU does not tell is not nothing")
        self.assertIsNone(with_counters[1 - number]["gpu_work"], "that GPU has no counters")
        self.assertRegex(self.cluster.must("top", str(job), "--once"), r"SM % +Tensor % +GPU band % +NVLink ")
        self.cluster.must("cancel", str(job))
        run.wait(timeout=60)
        self.cluster.wait_ended(job)
        ranks = {rank["rank"]: rank for rank in self.detail(job)["attempts"][0]["ranks"]}
        self.assertAlmostEqual(ranks[number]["gpu_work"]["sm_active"], 0.97, delta=0.01)
        self.assertGreaterEqual(ranks[number]["gpu_work"]["counted"], 1)
        self.assertIsNone(ranks[1 - number]["gpu_work"])
        self.assertRegex(self.cluster.must("show", str(job)), r"SMs 97 %, tensor 40 %, memory 84 %")


class ErrorsOfRanksTest(TwoGpus):
    def test_an_error_that_ends_a_job_between_two_samples_is_in_its_record_and_drains_the_node(self):
        job = self.cluster.submit("-G", 1, "-t", 5, "--wrap",
                                  f"printf '4,3,3,-;NVRM: Xid (PCI:0000:3b:00): 79, pid=1\\n4,3,3,-;NVRM: Xid "
                                  f"(PCI:0000:5e:00): 79, pid=1\\n' >> {self.log}; exit 9")
        self.cluster.wait_ended(job)
        self.assertEqual(self.detail(job)["state"], "FAILED")
        met = r"the script on node1 met XID 79 \(GPU has fallen off the bus\) on GPU GPU-(hopper|plain)"
        self.assertRegex(self.detail(job)["exit_text"], met)
        self.assertRegex(self.detail(job)["attempts"][0]["gpu_errors"][0], met)
        self.assertRegex(self.cluster.must("show", str(job)), "GPU error +" + met)
        (node,) = json.loads(self.cluster.must("nodes", "--json"))["nodes"]
        self.assertRegex(node["reason"], r"GPU GPU-\w+ is broken: XID 79 \(GPU has fallen off the bus\) by the "
                                         r"kernel's log; reset or replace it")


class LostLinkTest(ClusterTest):
    """An NVLink that goes down without an XID."""

    @classmethod
    def make(cls):
        cluster = Cluster(nodes=1)
        gpus = os.path.join(cluster.root, "gpus.json")
        with open(gpus, "w", encoding="utf-8") as file:
            json.dump({"devices": [{"uuid": "GPU-a", "name": "NVIDIA H200", "memory": 1 << 37, "pci": [0, 1, 0],
                                    "nvlinks": ["switch"] * 18, "link_down_after": 4}]}, file)
        config = os.path.join(cluster.root, "agent.toml")
        with open(config, "w", encoding="utf-8") as file:
            file.write('sample_interval = "5s"\n')
        cluster.agents[0].arguments += ["--config", config]
        cluster.agents[0].environment = {**cluster.environment, "MUSTER_FAKE_NVML_JSON": gpus,
                                         "MUSTER_NVML": os.path.join(BIN, "..", "tests", "libfake_nvml.so")}
        return cluster.start()

    def node(self):
        (node,) = json.loads(self.cluster.must("nodes", "--json"))["nodes"]
        return node

    def test_it_drains_its_node_with_words(self):
        wait_until(lambda: self.node()["reason"] == "GPU GPU-a is broken: 1 of its 18 NVLinks is down by NVML; "
                                                    "reset or replace it", lambda: self.node())
        wait_until(lambda: "GpuLinkLost" in {warning["rule"] for warning in self.node()["warnings"]},
                   lambda: self.node())
        self.assertEqual([warning["text"] for warning in self.node()["warnings"]],
                         ["GPU GPU-a: 1 NVLink that was up is down"])


class GpuMetricsTest(ClusterTest):
    """Both vendors' libraries, played: what they tell of GPUs is on /metrics, by node."""

    @classmethod
    def make(cls):
        cluster = Cluster(nodes=1)
        door = f"unix:{cluster.state}/gateway.sock"
        cluster.controller.arguments += ["--gateway-socket", door]
        nvidias = {"devices": [
            {"uuid": "GPU-a", "name": "NVIDIA H200", "memory": 1 << 37, "pci": [0, 1, 0], "used": 1 << 35, "busy": 100,
             "power": 650250, "celsius": 71, "energy": 7250, "ecc": 2, "ecc_corrected": 17, "xids": [31, 79]},
            {"uuid": "GPU-b", "name": "NVIDIA H200", "memory": 1 << 37, "pci": [0, 2, 0], "used": 5, "reserved": 2, "busy": 25,
             "power": 100000, "celsius": 40}]}
        amds = {"devices": [
            {"name": "AMD Instinct MI300X", "memory": 1 << 37, "unique_id": "c0ffee", "pci": [0, 3, 0, 0], "busy": 50,
             "power": 305000000, "temperatures": {"1": 48000}}]}
        agent = cluster.agents[0]
        agent.environment = dict(cluster.environment)
        for vendor, name, said in (("NVML", "libfake_nvml.so", nvidias), ("ROCM_SMI", "libfake_rocm_smi.so", amds)):
            path = os.path.join(cluster.root, vendor)
            with open(path, "w", encoding="utf-8") as file:
                json.dump(said, file)
            agent.environment |= {f"MUSTER_FAKE_{vendor}_JSON": path,
                                  f"MUSTER_{vendor}": os.path.join(BIN, "..", "tests", name)}
        cluster.start()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            cls.port = free.getsockname()[1]
        cls.gateway = cluster._daemon("muster-gateway", ["--controller", door, "--listen", f"127.0.0.1:{cls.port}"],
                                      "muster-gateway")
        cls.gateway.start()
        cls.token = cluster.must("token", "--read-only").strip()
        return cluster

    @classmethod
    def tearDownClass(cls):
        cls.gateway.stop()  # before the cluster, which is closed after this
        super().tearDownClass()

    def metrics(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with contextlib.closing(connection):
            connection.request("GET", "/metrics", headers={"Authorization": "Bearer " + self.token})
            return connection.getresponse().read().decode()

    def by_node(self, text):
        """{family: {node: value}} of the samples that name a node."""
        families = {}
        for name, node, value in re.findall(r'(?m)^(muster_gpu\w+){node="(\w+)"} (\S+)$', text):
            families.setdefault(name, {})[node] = float(value)
        return families

    def test_a_scrape_says_what_the_libraries_tell_and_nothing_else(self):
        wait_until(lambda: "muster_gpu_power_watts" in self.by_node(self.metrics()), self.metrics)
        text = self.metrics()
        self.assertEqual(self.by_node(text), {
            "muster_gpu_memory_bytes": {"node1": 3 << 37},
            "muster_gpu_memory_used_bytes": {"node1": (1 << 35) + 3},
            "muster_gpus_busy": {"node1": 1.75},
            "muster_gpu_power_watts": {"node1": 1055.25},
            "muster_gpu_temperature_celsius": {"node1": 71},
            "muster_gpu_node_energy_joules_total": {"node1": 7.25},
            "muster_gpu_ecc_corrected_errors_total": {"node1": 17},
            "muster_gpu_ecc_uncorrected_errors_total": {"node1": 2},
            "muster_gpu_xid_errors_total": {"node1": 2}})
        (node,) = json.loads(self.cluster.must("nodes", "--json"))["nodes"]
        self.assertIn("DRAIN", node["state"])
        self.assertEqual(node["reason"],
                         "GPU GPU-a is broken: XID 79 (GPU has fallen off the bus) by NVML; reset or replace it")
        if shutil.which("promtool"):
            checked = subprocess.run(["promtool", "check", "metrics"], input=text, text=True, capture_output=True)
            self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, ""))
        self.cluster.agents[0].kill()
        wait_until(lambda: list(self.by_node(self.metrics())) == ["muster_gpu_memory_bytes"], self.metrics)


class GpuTest(ClusterTest):
    @classmethod
    def make(cls):
        return Cluster(nodes=1, topology=MACHINE).start()

    def tearDown(self):
        for job in self.cluster.queue():
            self.cluster.muster("cancel", job)
            self.cluster.wait_ended(job)

    def hold(self, *arguments):
        job = self.cluster.submit(*arguments, "-t", 60, "--wrap", "sleep 1000")
        self.cluster.wait_state(job, "RUNNING")
        return job

    def detail(self, job):
        return json.loads(self.cluster.must("show", "--json", job))["jobs"][0]

    def map_of(self, job):
        return json.loads(self.cluster.must("explain", "--json", job))["allocation"]["nodes"][0]

    def variables(self, *arguments):
        """{rank: its environment} of a run."""
        where = tempfile.mkdtemp(dir=self.cluster.work)
        self.cluster.must("run", *arguments, "sh", "-c", f"env >{where}/$RANK")
        ranks = {}
        for rank in os.listdir(where):
            with open(os.path.join(where, rank), encoding="utf-8") as file:
                pairs = [line.rstrip("\n").partition("=") for line in file]
            ranks[int(rank)] = {name: value for name, _, value in pairs}
        return ranks

    def largest(self):
        return json.loads(self.cluster.must("nodes", "--json"))["largest"][0]

    def test_two_halves_share_a_gpu_and_leave_the_others_whole(self):
        first = self.hold("--gpu-share=0.5")
        second = self.hold("--gpu-share=50%")
        grants = [self.map_of(job)["gpus"] for job in (first, second)]
        self.assertEqual(grants[0], [{"gpu": grants[0][0]["gpu"], "share": 500}])
        self.assertEqual(grants[0], grants[1])
        largest = self.largest()
        self.assertEqual([largest[key] for key in ("gpus", "free", "on_node", "on_nvlink")],
                         [4, 3, 3, 3])
        self.assertIn("LARGEST JOB NOW", self.cluster.must("nodes"))
        whole = self.cluster.submit("-G", 4, "-t", 5, "--wrap", "true")
        self.cluster.wait_reason(whole, "short of 4 GPUs (has 3)")

    def test_a_part_of_a_gpu_is_told_to_the_job(self):
        ranks = self.variables("--gpu-share=0.25")
        self.assertEqual(ranks[0]["MUSTER_GPU_SHARE"], "0.250")
        self.assertEqual(ranks[0]["CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"], "25")
        self.assertEqual(len(ranks[0]["CUDA_VISIBLE_DEVICES"].split(",")), 1)

    def test_an_estimate_submits_what_it_says_for_the_gpus_of_the_cluster(self):
        script = self.cluster.script("finish 0")
        words = ["--params", "7e9", "--gpus", "2", "--cluster", "--strategy", "zero3", "--submit", script]
        done = self.cluster.muster("estimate", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "muster submit --gpu-memory=58G --gpus-per-task=1 --ntasks=2 "
                                      "--parallel=tp=1,pp=1,dp=2 SCRIPT\n")
        job = int(done.stdout.split()[-1])
        (end,) = self.cluster.wait_ended(job)
        self.assertEqual((end["state"], end["gpus"]), ("COMPLETED", 2))
        done = self.cluster.muster("estimate", "--params", "70e9", "--gpus", "2", "--cluster", "--submit", script)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("no type of GPU has the", done.stderr)

    def test_too_large_a_part_waits_with_numbers(self):
        for _ in range(4):
            self.hold("--gpu-share=0.7")
        late = self.cluster.submit("--gpu-share=0.4", "-t", 5, "--wrap", "true")
        self.cluster.wait_reason(late, "short of 0.4 of one GPU (has 0.3)")

    def visible(self, *arguments):
        """CUDA_VISIBLE_DEVICES of each of four ranks."""
        ranks = self.variables("-n", 4, *arguments)
        return [ranks[rank]["CUDA_VISIBLE_DEVICES"].split(",") for rank in range(4)]

    def test_every_rank_sees_all_gpus_of_the_job_its_own_at_its_position(self):
        for asked in (["--gpus=4"], ["--gpus-per-node=4"], ["--gres=gpu:4"], ["--gpus-per-task=1", "--gpu-bind=none"]):
            seen = self.visible(*asked)
            self.assertEqual(len(set(seen[0])), 4, asked)
            self.assertEqual(seen, [seen[0]] * 4, asked)

    def test_a_rank_that_asked_for_its_own_gpu_sees_that_alone_and_is_read_back_so(self):
        everything = self.visible("--gpus=4")[0]
        self.assertEqual(self.visible("--gpus-per-task=1"), [[gpu] for gpu in everything])
        self.assertEqual(self.visible("--gpus=4", "--gpu-bind=single"), [[gpu] for gpu in everything])
        job = self.cluster.submit("-n", 4, "--gpus-per-task=1", "-o", "own.out", "--wrap",
                                  program("muster") + " run -n 4 printenv CUDA_VISIBLE_DEVICES")
        self.cluster.wait_ended(job)
        with open(os.path.join(self.cluster.work, "own.out"), encoding="utf-8") as file:
            self.assertEqual(sorted(file.read().split()), sorted(everything))
        ranks = self.detail(job)["attempts"][0]["ranks"]
        of_step = sorted((rank for rank in ranks if rank["step"] not in (0, "batch")), key=lambda rank: rank["rank"])
        self.assertEqual([rank["found_gpus"] for rank in of_step], [[gpu] for gpu in everything], ranks)

    def test_a_step_is_laid_out_as_it_asks(self):
        script = ("#!/bin/sh\n#SBATCH -n 4 --gres=gpu:4 -t 5\n"
                  "M run -n 2 --gpu-bind=map_gpu:3,1 printenv CUDA_VISIBLE_DEVICES\n"
                  "M run -n 1 --gpu-bind=map_gpu:4 true\n").replace("M ", program("muster") + " ")
        job = self.cluster.submit("-o", "steps.out", "-", input=script)
        self.cluster.wait_ended(job)
        with open(os.path.join(self.cluster.work, "steps.out"), encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.assertEqual(len(lines), 3, lines)
        self.assertNotEqual(lines[0], lines[1])
        self.assertTrue(all("," not in line for line in lines[:2]), lines)
        self.assertIn("--gpu-bind: GPU 4, but a node has at most 4 of the job's, counted from 0",
                      lines[2])

    def test_a_placement_says_what_it_is_worth(self):
        job = self.hold("-n", 4, "--gpus-per-task=1")
        worth = self.detail(job)["placement"]
        self.assertEqual((worth["local_ranks"], worth["ranks"]), (4, 4))
        self.assertEqual([one["name"] for one in worth["predicted"]],
                         ["allreduce", "allgather", "reducescatter"])
        compared = json.loads(self.cluster.must("explain", "--json", job))["placement"]
        reduce = compared["predicted"][0]
        self.assertEqual(reduce["nanoseconds"], reduce["default_nanoseconds"])
        self.assertIn("4/4 ranks local", self.cluster.must("show", job))
        self.assertRegex(self.cluster.must("explain", job),
                         r"all-reduce of 1 GiB in [0-9.]+ ms \(\w+\); in blocks [0-9.]+ ms")

    def test_what_cannot_be_is_refused_in_one_line(self):
        for arguments, words in ((["--gpu-share=2"], "is not a part of a GPU"),
                                 (["--gpu-share=0.5", "--gpus-per-task=2"], "one GPU"),
                                 (["--gpu-share=0.5", "--exclusive"], "--exclusive"),
                                 (["--gpu-bind=closest"], "asks for no GPUs"),
                                 (["--gpu-bind=nearest"], "is not one of"),
                                 (["--gres=mps:10"], "ask for it with --gpu-share")):
            done = self.cluster.muster("submit", *arguments, "--wrap", "true")
            self.assertNotEqual(done.returncode, 0, arguments)
            self.assertRegex(done.stderr, r"\A[^\n]+\n\Z")
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
