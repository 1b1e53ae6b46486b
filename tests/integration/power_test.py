"""Nodes that are switched off and on: by programs of the test's that really end agents and really start them."""

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import unittest

from cluster import Cluster, ClusterTest, processes_with, program, read_file, start_time, wait_until

CLONE_NEWNS = 0x20000
# Slurm's contract: one argument, a host list expression; for resume a JSON file beside it. What it does is asked of a
# real agent; the test holds it up by a file that must be there, and keeps a node from booting by another.
SWITCH = """#!/usr/bin/env python3
import os, re, signal, subprocess, sys, time
ROOT, WORD = {root!r}, {word!r}
lists = re.findall(r"[^,\\[]+(?:\\[[^]]*\\])?", sys.argv[1])
names = []
for text in lists:
    head, _, inside = text.partition("[")
    for piece in inside.rstrip("]").split(",") if inside else [""]:
        first, _, last = piece.partition("-")
        names += [head + first] if not last else [head + str(n) for n in range(int(first), int(last) + 1)]
with open(ROOT + "/called", "a") as file:
    path = os.environ.get("SLURM_RESUME_FILE", "")
    file.write(" ".join([WORD, sys.argv[1], open(path).read() if path else ""]).rstrip() + "\\n")
if WORD == "suspend":
    for name in names:
        state = f"{{ROOT}}/state/agents/{{name}}"
        for pid in [entry for entry in os.listdir("/proc") if entry.isdigit()]:
            try:
                words = open(f"/proc/{{pid}}/cmdline").read().split("\\0")
            except OSError:
                continue
            if os.path.basename(words[0]) == "muster-agent" and state in words:
                os.kill(int(pid), signal.SIGTERM)
    sys.exit(0)
while not os.path.exists(ROOT + "/power"):
    time.sleep(0.05)
for name in names:
    if not os.path.exists(f"{{ROOT}}/broken-{{name}}"):
        subprocess.Popen([{agent!r}, "--state", f"{{ROOT}}/state/agents/{{name}}", "--controller", {address!r},
                          "--name", name, "--slice", f"{{int(name[4:]) - 1}}/2"], stdin=subprocess.DEVNULL,
                         start_new_session=True)
"""

SETTINGS = """[power.all]
nodes = "node[1-2]"
idle = "{idle}"
suspend = "{root}/suspend"
resume = "{root}/resume"
suspend_timeout = "3s"
resume_timeout = "{resume_timeout}"
boot_time = "{boot_time}"
{more}
"""


class PowerTest(ClusterTest):
    nodes = 2
    own = True

    def setUp(self):
        self.cluster = Cluster(nodes=2)
        self.addCleanup(self.cluster.close)
        self.addCleanup(self.end_agents)
        for word in ("suspend", "resume"):
            path = self.path(word)
            with open(path, "w", encoding="utf-8") as file:
                file.write(SWITCH.format(root=self.cluster.root, word=word, agent=program("muster-agent"),
                                         address=self.cluster.address))
            os.chmod(path, 0o700)

    def begin(self, idle="2s", resume_timeout="120s", boot_time="2s", more=""):
        self.cluster.configure(SETTINGS.format(root=self.cluster.root, idle=idle, more=more,
                                               resume_timeout=resume_timeout, boot_time=boot_time))
        self.cluster.start()

    def path(self, name):
        return os.path.join(self.cluster.root, name)

    def switch_power_on(self, name="power"):
        with open(self.path(name), "w", encoding="utf-8"):
            pass

    def agents(self):
        return {pid for pid, command in processes_with(self.cluster.state, False).items()
                if os.path.basename(command.split(" ")[0]) == "muster-agent"}

    def end_agents(self):
        """Those that the resume program started: the cluster knows its own alone."""
        mine = {agent.process.pid for agent in self.cluster.agents if agent.process is not None}
        self.switch_power_on()
        for pid in self.agents() - mine:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        wait_until(lambda: not any(start_time(pid) for pid in self.agents() - mine), "agents do not end")

    def called(self, word):
        return [line.split(" ", 2)[1:] for line in read_file(self.path("called")).decode().splitlines()
                if line.startswith(word)]

    def states(self):
        return {node["name"]: node["state"] for node in json.loads(self.cluster.must("nodes", "--json"))["nodes"]}

    def wait_states(self, **states):
        wait_until(lambda: self.states() == states, lambda: f"{self.states()}; {self.cluster.logs()}")

    def test_idle_nodes_are_switched_off_and_a_job_has_one_switched_on_for_it(self):
        self.begin()
        self.wait_states(node1="POWERED_DOWN", node2="POWERED_DOWN")
        self.assertFalse(self.agents(), "their agents have ended")
        self.assertIn(sorted(nodes for (nodes,) in self.called("suspend")), (["node[1-2]"], ["node1", "node2"]))
        job = self.cluster.submit("-o", "/dev/null", "--wrap", "true")
        reason = self.cluster.wait_reason(job, "waits for node node1 to boot")
        self.assertIn("2 switched off", reason["text"])
        wait_until(lambda: self.called("resume"), "no program is called")
        ((nodes, file),) = self.called("resume")
        self.assertEqual(nodes, "node1")
        (resumed,) = json.loads(file)["jobs"]
        self.assertEqual((resumed["job_id"], resumed["nodes_alloc"], resumed["nodes_resume"]), (job, "node1", "node1"))
        self.assertEqual(self.states()["node1"], "POWERING_UP")
        self.switch_power_on()
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual((row["state"], row["nodes"]), ("COMPLETED", "node1"))
        self.assertEqual(self.states()["node2"], "POWERED_DOWN", "nobody needs it")
        self.wait_states(node1="POWERED_DOWN", node2="POWERED_DOWN")

    def test_a_job_for_more_nodes_than_may_be_on_at_once_is_told_so(self):
        self.begin(idle="1h", more="max_on = 1")
        told = "needs 2 nodes, at most 1 can be on at once (max_on of [power.all])"
        wide = ("--nodes=2", "--ntasks=2", "-o", "/dev/null", "--wrap", "true")
        answer = self.cluster.muster("submit", *wide)
        self.assertIn(told, answer.stdout + answer.stderr)
        self.cluster.controller.stop()
        with open(self.path("muster.toml"), "w", encoding="utf-8") as file:
            file.write(SETTINGS.format(root=self.cluster.root, idle="1h", more="", resume_timeout="120s", boot_time="2s"))
        self.cluster.controller.start()
        job = self.cluster.submit(*wide)
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "COMPLETED")

    def test_a_node_that_does_not_boot_is_drained_with_that_reason_and_the_job_runs_elsewhere(self):
        self.switch_power_on("broken-node1")
        self.switch_power_on()
        # A busy machine starts an agent within the timeout; while a boot is not that late no other node is tried.
        self.begin(resume_timeout="30s", boot_time="20s")
        self.wait_states(node1="POWERED_DOWN", node2="POWERED_DOWN")
        job = self.cluster.submit("-o", "/dev/null", "--wrap", "true")
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual((row["state"], row["nodes"]), ("COMPLETED", "node2"))
        node = json.loads(self.cluster.must("nodes", "node1", "--json"))["nodes"][0]
        self.assertEqual((node["state"], node["reason"]), ("DOWN+DRAIN", "did not boot within 30 s"))
        os.unlink(self.path("broken-node1"))
        self.cluster.must("resume", "node1")
        self.assertEqual(self.states()["node1"], "POWERED_DOWN")
        again = self.cluster.submit("-o", "/dev/null", "--nodelist", "node1", "--wrap", "true")
        (row,) = self.cluster.wait_ended(again)
        self.assertEqual(row["state"], "COMPLETED")

    def test_a_controller_that_was_killed_calls_again_for_what_was_under_way(self):
        self.begin()
        self.wait_states(node1="POWERED_DOWN", node2="POWERED_DOWN")
        job = self.cluster.submit("-o", "/dev/null", "--wrap", "true")
        wait_until(lambda: self.called("resume"), "no program is called")
        self.cluster.controller.kill()
        self.cluster.controller.start()
        wait_until(lambda: len(self.called("resume")) > 1, "it has forgotten")
        self.switch_power_on()
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "COMPLETED")

    def test_nodes_that_are_kept_on_or_excepted_or_have_a_job_stay_on(self):
        self.begin(idle="1s", more='except = "node2"')
        job = self.cluster.submit("-o", "/dev/null", "--nodelist", "node1", "--wrap", self.cluster.gate())
        self.cluster.wait_state(job, "RUNNING")
        other = self.cluster.submit("-o", "/dev/null", "--nodelist", "node2", "--wrap", "sleep 4")
        self.cluster.wait_ended(other)
        self.assertFalse(self.called("suspend"))
        self.cluster.open_gate()
        self.cluster.wait_ended(job)
        self.wait_states(node1="POWERED_DOWN", node2="IDLE")


class PowerUserTest(ClusterTest):
    own = True

    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("NOT ROOT: no other user can be become")
        if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS) != 0:
            self.skipTest("NO MOUNT NAMESPACES HERE: a user cannot be made")
        subprocess.run(["mount", "--make-rprivate", "/"], check=True)
        self.cluster = Cluster(nodes=1)
        self.addCleanup(self.cluster.close)
        os.chmod(self.cluster.root, 0o711)

    def path(self, name):
        return os.path.join(self.cluster.root, name)

    def lay(self, place, lines):
        """A list of our own over the machine's."""
        path = self.path(os.path.basename(place))
        with open(path, "w", encoding="utf-8") as file:
            file.write(read_file(place).decode() + lines)
        os.chmod(path, 0o644)
        subprocess.run(["mount", "--bind", path, place], check=True)
        self.addCleanup(subprocess.run, ["umount", place], check=False)

    def test_a_program_runs_as_the_user_of_its_class_with_that_users_groups_and_no_right_of_ours(self):
        self.lay("/etc/passwd", "switcher:x:61007:61007::/var/switcher:/bin/sh\n")
        self.lay("/etc/group", "switcher:x:61007:\npower:x:61008:switcher\n")
        os.mkdir(self.path("shared"))
        os.chmod(self.path("shared"), 0o777)
        program_path = self.path("suspend")
        with open(program_path, "w", encoding="utf-8") as file:
            file.write(f"""#!/bin/sh
cd {self.path("shared")}
{{ id -u; id -G; echo $HOME $USER $LOGNAME; grep -E '^Cap(Inh|Prm|Eff|Amb)' /proc/self/status | cut -f2; }} >who
echo $1 >>who
mv who done
""")
        os.chmod(program_path, 0o755)
        self.cluster.configure('[power.all]\nnodes = "node1"\nidle = "1s"\nsuspend_timeout = "3s"\nuser = "switcher"\n'
                               f'suspend = "{program_path}"\nresume = "{program_path}"\n')
        self.cluster.start()
        wait_until(lambda: os.path.exists(self.path("shared/done")), lambda: self.cluster.logs())
        said = read_file(self.path("shared/done")).decode().splitlines()
        self.assertEqual(said, ["61007", "61007 61008", "/var/switcher switcher switcher", *["0" * 16] * 4, "node1"])


class PowerSettingsTest(unittest.TestCase):
    def test_a_mistake_in_the_configuration_is_one_line_with_its_place(self):
        cluster = Cluster(nodes=1)
        cluster.configure('[power.all]\nnodes = "node[1-2]"\nidle = "soon"\n')
        with self.assertRaises(AssertionError) as refused:
            cluster.start()
        self.assertRegex(str(refused.exception), r"muster\.toml:3: power\.all\.idle: ")

    def test_a_user_whom_nobody_knows_is_one_line_with_its_place(self):
        cluster = Cluster(nodes=1)
        cluster.configure('[power.all]\nnodes = "node1"\nuser = "nobody-of-that-name"\nsuspend = "/a"\nresume = "/b"\n')
        with self.assertRaises(AssertionError) as refused:
            cluster.start()
        self.assertRegex(str(refused.exception),
                         r'muster\.toml:3: power\.all\.user: "nobody-of-that-name" is no user of this machine')
