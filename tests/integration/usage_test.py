"""What running jobs use, end to end: sampled by agents, shown while they run, forgotten when they have ended."""

import json
import os
import re
import signal
import subprocess
import unittest

from cluster import ClusterTest, program, wait_until

BUSY = "end=$(($(date +%s) + 600)); while [ $(date +%s) -lt $end ]; do :; done"


class UsageTest(ClusterTest):
    """Two nodes that look at their jobs every five seconds."""

    nodes = 2
    own = True

    def setUp(self):
        super().setUp()
        path = os.path.join(self.cluster.root, "agent.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write('sample_interval = "5s"\n')
        for agent in self.cluster.agents:
            agent.stop()
            agent.arguments += ["--config", path]
            agent.start()

    def live(self, job):
        (detail,) = json.loads(self.cluster.must("show", str(job), "--json"))["jobs"]
        return {node["node"]: node["usage"] for node in detail["live_usage"]}

    def worked(self, job, nodes):
        usage = self.live(job)
        return len(usage) == nodes and all(node["user_cpu"] + node["system_cpu"] > 0 for node in usage.values())

    def test_a_running_job_shows_what_it_has_used_on_each_node(self):
        script = self.cluster.script(f"{program('muster')} run sh -c '{BUSY}'")
        job = self.cluster.submit("-N", "2", "-n", "2", script)
        wait_until(lambda: self.worked(job, 2), lambda: self.live(job))
        sheet = self.cluster.must("show", str(job))
        self.assertRegex(sheet, r"used +by \S+ \S+: CPU time .*CPU efficiency \d+ %.*memory .* of ")
        self.assertRegex(sheet, r"NODE +CPUTIME +CPUS-BUSY +MEM")
        self.assertRegex(sheet, r"node1 .*\n +node2 ")
        self.assertTrue(all(node["group_memory"] > 0 for node in self.live(job).values()), self.live(job))
        self.cluster.agents[1].stop()
        wait_until(lambda: list(self.live(job)) == ["node1"], "what a lost node said is still shown")
        self.cluster.agents[1].start()
        wait_until(lambda: self.worked(job, 2), lambda: self.live(job))
        self.cluster.must("cancel", str(job))
        self.cluster.wait_ended(job)
        self.assertEqual(self.live(job), {})
        (row,) = json.loads(self.cluster.must("history", str(job), "--json"))["jobs"]
        self.assertGreater(row["usage"]["group_memory"], 0)
        self.assertRegex(self.cluster.must("history", str(job)), re.compile(r"CPU-TIME +EFF .*\n.* \d+ % ", re.S))

    def test_what_a_job_reads_and_writes_is_known_while_it_runs_and_when_it_has_ended(self):
        size = 8 << 20
        script = self.cluster.script("dd if=/dev/zero of=data bs=1M count=8 conv=fsync; dd if=data of=/dev/null "
                                     "bs=1M iflag=direct; touch read; while [ ! -e go ]; do sleep 0.1; done")
        job = self.cluster.submit("-w", "node1", script)
        if not self.counts_storage():
            self.skipTest("this kernel does not count storage, or the test's files are in memory")
        wait_until(lambda: int(self.live(job).get("node1", {}).get("read_bytes") or 0) >= size, lambda: self.live(job))
        self.assertGreaterEqual(int(self.live(job)["node1"]["written_bytes"]), size)
        (curve,) = json.loads(self.cluster.must("show", "--curve", "--json", str(job)))["curves"]
        self.assertGreater(sum(point.get("read") or 0 for point in curve["points"]), 0, curve)
        if not self.live(job)["node1"]["cpu_energy_mj"]:
            self.assertEqual({point["watts"] for point in curve["points"]}, {None}, "what is not metered is not 0 W")
        with open(os.path.join(self.cluster.work, "go"), "w", encoding="utf-8"):
            pass
        self.cluster.wait_ended(job)
        (row,) = json.loads(self.cluster.must("history", str(job), "--json"))["jobs"]
        self.assertGreaterEqual(int(row["usage"]["read_bytes"]), size)
        self.assertNotIn("sm_active", {key for key, value in row["usage"].items() if value is not None})
        sheet = self.cluster.must("show", str(job))
        self.assertRegex(sheet, r"I/O +\S+ MiB read \(.*/s\), \S+ MiB written \(.*/s\), waits for storage ")
        self.assertRegex(sheet, r"bound by +(waiting|input|output)")

    def read_from(self, job):
        return {one["mount"]: int(one["read"]) for one in self.live(job).get("node1", {}).get("file_systems", [])}

    def test_the_file_system_that_a_job_reads_is_named(self):
        if not self.counts_storage():
            self.skipTest("this kernel does not count storage, or the test's files are in memory")
        size = 8 << 20
        # stat(1) knows no mount of a part of a file system.
        with open("/proc/self/mountinfo", encoding="utf-8") as mounts:
            points = [line.split()[4] for line in mounts]
        mount = max((point for point in points if self.cluster.work.startswith(point.rstrip("/") + "/")), key=len)
        script = self.cluster.script("dd if=/dev/zero of=data bs=8M count=1 conv=fsync; dd if=data bs=8M iflag=direct "
                                     "| { while [ ! -e go ]; do sleep 0.1; done; cat > /dev/null; }")
        job = self.cluster.submit("-w", "node1", script)
        wait_until(lambda: self.read_from(job).get(mount, 0) >= size, lambda: self.live(job))
        self.assertEqual(list(self.read_from(job)), [mount])
        with open(os.path.join(self.cluster.work, "go"), "w", encoding="utf-8"):
            pass
        self.cluster.wait_ended(job)
        self.assertRegex(self.cluster.must("show", str(job)), rf"files +{re.escape(mount)} \S+ MiB read")
        (row,) = json.loads(self.cluster.must("history", str(job), "--json"))["jobs"]
        self.assertEqual([one["mount"] for one in row["usage"]["file_systems"]], [mount])
        self.assertGreaterEqual(int(row["usage"]["called_bytes"]), size)

    def counts_storage(self):
        kind = subprocess.run(["stat", "-f", "-c", "%T", self.cluster.work], capture_output=True, text=True, check=True)
        return os.access("/proc/self/io", os.R_OK) and kind.stdout.strip() != "tmpfs"

    def reported(self, job):
        shown = self.cluster.muster("show", "--curve", "--json", str(job))
        curves = json.loads(shown.stdout)["curves"] if shown.returncode == 0 else []
        return {one["name"]: one for curve in curves for one in curve["reported"]}

    def alerts(self):
        rules = json.loads(self.cluster.must("alerts", "test", "--json"))["rules"]
        return {rule["rule"]: [one["subject"] for one in rule["finds"]] for rule in rules if rule["finds"]}

    def test_what_a_job_says_of_itself_is_a_curve_and_an_alert(self):
        muster = program("muster")
        says = ("import os, socket; s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); "
                "s.sendto(b'from/python=7', os.environ['MUSTER_REPORT_SOCKET'])")
        job = self.cluster.submit("-w", "node1", "-J", "train", "--wrap",
                                  f"{muster} report loss=0.5 step=1 || exit 3; {muster} report loss=x && exit 4; "
                                  f"{muster} report step=2 loss=nan || exit 5; python3 -c \"{says}\" || exit 6; "
                                  "echo $WANDB_NAME $WANDB_TAGS $MLFLOW_RUN_CONTEXT; sleep 600")
        wait_until(lambda: len(self.reported(job)) == 3, lambda: self.reported(job))
        reported = self.reported(job)
        self.assertEqual(reported["step"]["last"], 2)
        self.assertEqual(reported["from/python"]["points"][-1]["last"], 7)
        self.assertIsNone(reported["loss"]["last"], "no number is null in JSON")
        self.assertIn("from/python", self.cluster.must("show", "--curve", str(job)))
        self.assertIn("loss is nan", self.cluster.must("show", str(job)))
        self.assertEqual(self.alerts().get("ValueNotANumber"), [f"job {job}"])
        self.cluster.must("cancel", str(job))
        self.cluster.wait_ended(job)
        self.assertNotIn("ValueNotANumber", self.alerts())
        outside = self.cluster.muster("report", "loss=1")
        self.assertEqual(outside.returncode, 1, outside.stderr)
        self.assertIn("programs of a job", outside.stderr)

    def test_what_a_job_used_outlives_its_supervisor(self):
        job = self.cluster.submit("-w", "node1", "--wrap", BUSY)
        wait_until(lambda: self.worked(job, 1), lambda: self.live(job))
        (supervisor,) = self.cluster.supervisors()
        os.kill(supervisor, signal.SIGKILL)
        self.cluster.wait_ended(job)
        (row,) = json.loads(self.cluster.must("history", str(job), "--json"))["jobs"]
        self.assertGreater(row["usage"]["user_cpu"] + row["usage"]["system_cpu"], 0)


if __name__ == "__main__":
    unittest.main()
