"""scontrol update of waiting jobs, countable things, limits of processes, scripts that are written back, and one filter
for both front ends."""

import json
import os
import resource
import subprocess
import time
import unittest

from cluster import PATIENCE, Cluster, ClusterTest, WIDE, wait_until

NASTY = "a|b'\"\x1b[31m\nred"


class Slurm(ClusterTest):
    """A cluster whose nodes declare countable things, and our commands by Slurm's names."""
    nodes = 2
    topology = WIDE
    settings = ""

    @classmethod
    def make(cls):
        cluster = Cluster(nodes=cls.nodes, topology=cls.topology)
        if cls.settings:
            cluster.configure(cls.settings)
        for agent in cluster.agents:
            agent.arguments += ["--gres", "scratch:2,fpga:1"]
        return cluster.start()

    def setUp(self):
        super().setUp()
        self.names = os.path.join(self.cluster.root, "names")
        self.cluster.must("slurm", "install", self.names)
        self.environment = {**self.cluster.environment, "MUSTER_CONTROLLER": self.cluster.address,
                            "PATH": self.names + ":" + os.environ["PATH"]}

    def slurm(self, *words, **more):
        return subprocess.run([str(word) for word in words], cwd=self.cluster.work, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=PATIENCE, check=False, env={**self.environment, **more})

    def said(self, *words, **more):
        done = self.slurm(*words, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout

    def refused(self, *words):
        done = self.slurm(*words)
        self.assertNotEqual(done.returncode, 0, words)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def shown(self, job):
        words = {}
        for word in self.said("scontrol", "-o", "show", "job", job).split():
            key, _, value = word.partition("=")
            words[key] = value
        return words

    def held(self, *options):
        return int(self.said("sbatch", "--parsable", "-H", "-o", "/dev/null", *options, "--wrap", "true"))


class UpdateTest(Slurm):
    settings = "[licenses]\nansys = 4\n"

    @classmethod
    def make(cls):
        cluster = super().make()
        cluster.must("partition", "add", "short", "Nodes=node1")
        cluster.must("partition", "add", "long", "Default=YES")
        cluster.must("qos", "add", "gold", "Priority=5")
        cluster.must("accounts", "add", "physics")
        return cluster

    def update(self, job, *pairs):
        return self.said("scontrol", "update", f"JobId={job}", *pairs)

    def test_every_size_of_a_waiting_job_can_be_changed(self):
        job = self.held("-N", 1, "-n", 1, "-t", 60)
        self.update(job, "NumNodes=2", "NumTasks=4", "MinMemoryNode=512", "TimeLimit=30")
        shown = self.shown(job)
        self.assertEqual((shown["NumNodes"], shown["NumTasks"], shown["MinMemoryNode"], shown["TimeLimit"]),
                         ("2", "4", "512M", "00:30:00"))
        self.update(job, "NumCPUs=8", "MinMemoryCPU=100", "Features=", "MinTmpDiskNode=1")
        shown = self.shown(job)
        self.assertEqual((shown["NumCPUs"], shown["CPUs/Task"], shown["MinMemoryCPU"]), ("8", "2", "100M"))
        self.update(job, "ReqNodeList=node[1-2]", "Gres=scratch:2", "Licenses=ansys:2", "OverSubscribe=NO")
        shown = self.shown(job)
        self.assertEqual((shown["ReqNodeList"], shown["TresPerNode"], shown["Licenses"], shown["OverSubscribe"]),
                         ("node[1-2]", "gres:scratch:2", "ansys:2", "NO"))
        self.update(job, "ReqNodeList=", "Gres=", "Licenses=", "OverSubscribe=YES")
        shown = self.shown(job)
        self.assertEqual((shown["ReqNodeList"], shown["Licenses"], shown["OverSubscribe"]), ("(null)", "(null)", "OK"))
        self.assertNotIn("TresPerNode", shown)
        self.said("scancel", job)

    def test_where_and_under_whom_a_job_counts_can_be_changed(self):
        job = self.held()
        self.update(job, "Partition=short", "QOS=gold", "Account=physics", "Name=other", "Comment=seen", "Nice=7",
                    "StartTime=2031-02-03T04:05:06", "Requeue=0", "Prefer=big", "MailType=END", "Priority=9")
        shown = self.shown(job)
        self.assertEqual((shown["Partition"], shown["QOS"], shown["Account"], shown["JobName"], shown["Comment"],
                          shown["Nice"], shown["Requeue"], shown["Prefer"]),
                         ("short", "gold", "physics", "other", "seen", "7", "0", "big"))
        self.assertEqual(self.said("squeue", "-h", "-j", job, "-o", "%P %q %a"), "short gold physics\n")
        self.said("scancel", job)

    def test_files_and_the_directory_of_a_waiting_job_can_be_changed(self):
        there = os.path.join(self.cluster.work, "there")
        os.mkdir(there)
        job = int(self.said("sbatch", "--parsable", "-H", "-o", "/dev/null", "--wrap", "pwd; echo bad >&2"))
        self.update(job, "StdOut=out-%j", "StdErr=err-%j", f"WorkDir={there}")
        shown = self.shown(job)
        self.assertEqual((shown["WorkDir"], shown["StdOut"], shown["StdErr"]),
                         (there, f"{there}/out-{job}", f"{there}/err-{job}"))
        self.assertIn("the directory's path must begin with /",
                      self.refused("scontrol", "update", f"JobId={job}", "WorkDir=there"))
        self.said("scontrol", "release", job)
        self.cluster.wait_ended(job)
        self.assertEqual(self.read(f"there/out-{job}").strip(), there)
        self.assertEqual(self.read(f"there/err-{job}").strip(), "bad")
        self.assertEqual(self.shown(job)["WorkDir"], there)

    def test_nodes_of_one_users_jobs_alone_are_shown_and_shared_by_them(self):
        jobs = [int(self.said("sbatch", "--parsable", "-w", "node1", "--exclusive=user", "-o", "/dev/null", "--wrap",
                              "sleep 100")) for _ in range(2)]
        for job in jobs:
            self.cluster.wait_state(job, "RUNNING")
            self.assertEqual(self.shown(job)["OverSubscribe"], "USER")
        self.assertIn("beside jobs of the same user only", self.cluster.must("show", jobs[0]))
        self.said("scancel", *jobs)

    def test_licences_are_shown_with_how_many_are_held(self):
        job = int(self.said("sbatch", "--parsable", "-L", "ansys:3", "-o", "/dev/null", "--wrap", "sleep 100"))
        self.cluster.wait_state(job, "RUNNING")
        self.assertEqual(self.said("scontrol", "show", "lic"),
                         "LicenseName=ansys\n    Total=4 Used=3 Free=1 Reserved=0 Remote=no\n")
        (entry,) = json.loads(self.said("scontrol", "show", "licenses", "ansys", "--json"))["licenses"]
        self.assertEqual((entry["LicenseName"], entry["Total"], entry["Used"], entry["Free"]), ("ansys", 4, 3, 1))
        self.said("scancel", job)
        done = self.slurm("scontrol", "show", "lic", "nosuch")
        self.assertEqual((done.returncode, done.stdout), (1, "License nosuch not found\n"))

    def test_associations_are_shown_with_what_is_used_of_their_limits(self):
        self.cluster.must("qos", "set", "gold", "GrpJobs=3")
        job = int(self.said("sbatch", "--parsable", "-q", "gold", "-o", "/dev/null", "--wrap", "sleep 100"))
        self.cluster.wait_state(job, "RUNNING")
        page = self.said("scontrol", "-o", "show", "assoc_mgr", "flags=qos", "qos=gold")
        self.assertIn("QOS=gold GrpJobs=3(1) GrpSubmitJobs=N(1)", page)
        self.assertNotIn("Association Records", page)
        self.assertIn("Account=physics", self.said("scontrol", "show", "assoc_mgr", "accounts=physics"))
        self.assertRegex(self.refused("scontrol", "show", "assoc_mgr", "colour=red"), r"\A[^\n]*use users=[^\n]*\n\Z")
        self.said("scancel", job)

    def test_the_end_of_a_running_job_is_moved(self):
        job = int(self.said("sbatch", "--parsable", "-t", "60", "-o", "/dev/null", "--wrap", "sleep 100"))
        self.cluster.wait_state(job, "RUNNING")
        self.update(job, "EndTime=now+30minutes")
        limit = self.shown(job)["TimeLimit"]
        self.assertRegex(limit, r"\A00:30:\d\d\Z|\A00:31:00\Z")
        self.assertIn("Invalid time specified", self.refused("scontrol", "update", f"JobId={job}", "EndTime=2020-01-01"))
        self.assertEqual(self.shown(job)["TimeLimit"], limit)
        self.said("scancel", job)
        waits = self.held()
        self.assertIn("Job is not running", self.refused("scontrol", "update", f"JobId={waits}", "EndTime=now+1hour"))
        self.said("scancel", waits)

    def test_what_a_job_has_waited_can_be_forgotten(self):
        job = int(self.said("sbatch", "--parsable", "-o", "/dev/null", "-N2", "-L", "ansys:4", "-d", "afterok:" + str(self.held()),
                            "--wrap", "true"))
        before = self.shown(job)["EligibleTime"]
        wait_until(lambda: time.strftime("%Y-%m-%dT%H:%M:%S") > before, "the clock stands still")
        self.update(job, "ResetAccrueTime")
        self.assertGreater(self.shown(job)["EligibleTime"], before)
        self.said("scancel", job)

    def test_what_cannot_be_is_refused_in_slurms_words_and_changes_nothing(self):
        job = self.held()
        before = self.shown(job)
        for pair, text in (("Partition=nowhere", "Invalid partition name specified"),
                           ("QOS=lead", "Invalid qos specification"),
                           ("Colour=red", "Update of this parameter is not supported: Colour=red"),
                           ("NumNodes=0", "scontrol: error: "), ("Features=a&&", "scontrol: error: "),
                           ("Account=nobody", "Invalid account or account/partition combination specified")):
            self.assertIn(text, self.refused("scontrol", "update", f"JobId={job}", pair), pair)
        self.assertEqual(self.shown(job), before)
        self.assertIn("Invalid job id specified", self.refused("scontrol", "update", "JobId=99999", "Nice=1"))
        self.said("scancel", job)

    def test_a_job_that_runs_keeps_its_place_and_takes_a_throttle(self):
        job = int(self.said("sbatch", "--parsable", "-a", "0-3", "-o", "/dev/null", "--wrap", "sleep 100"))
        wait_until(lambda: self.said("squeue", "-h", "-t", "R", "-j", job, "-o", "%i").count("\n") == 4, "they do not run")
        self.assertIn("Job is no longer pending execution", self.refused("scontrol", "update", f"JobId={job}", "NumNodes=2"))
        self.update(job, "ArrayTaskThrottle=2")
        self.said("scancel", job)

    def test_priority_0_holds_and_another_lets_go(self):
        job = int(self.said("sbatch", "--parsable", "-o", "/dev/null", "--begin", "2031-01-01", "--wrap", "true"))
        for priority, reason in ((0, "JobHeldUser"), (10, "BeginTime")):
            self.update(job, f"Priority={priority}")
            wait_until(lambda reason=reason: self.said("squeue", "-h", "-j", job, "-o", "%r") == reason + "\n", f"it does not wait for {reason}")
        self.said("scancel", job)

    def test_muster_update_changes_the_same(self):
        job = self.held()
        self.cluster.must("update", job, "--partition", "short", "--nodes", 1, "--mem", "1G", "--gres", "fpga")
        shown = self.shown(job)
        self.assertEqual((shown["Partition"], shown["MinMemoryNode"], shown["TresPerNode"]), ("short", "1G", "gres:fpga:1"))
        done = self.cluster.muster("update", job, "--partition", "nowhere")
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no partition nowhere", done.stderr)
        self.said("scancel", job)

    def test_the_script_comes_back_byte_by_byte(self):
        text = "#!/bin/sh\n#SBATCH -J mine\nprintf '%s\\n' \"$1\"\n"
        path = os.path.join(self.cluster.work, "mine.sh")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        job = int(self.said("sbatch", "--parsable", "-H", "-o", "/dev/null", path))
        self.assertEqual(self.said("scontrol", "write", "batch_script", job, "-"), text)
        self.assertEqual(self.said("scontrol", "write", "batch_script", job),
                         f"batch script for job {job} written to slurm-{job}.sh\n")
        with open(os.path.join(self.cluster.work, f"slurm-{job}.sh"), encoding="utf-8") as file:
            self.assertEqual(file.read(), text)
        self.assertEqual(self.refused("scontrol", "write", "batch_script", 99999),
                         "scontrol: error: job script retrieval failed: Invalid job id specified\n")
        self.assertIn("invalid entity", self.refused("scontrol", "write", "nothing", job))
        self.said("scancel", job)


class GresTest(Slurm):
    def test_what_nodes_declare_is_shown_held_and_waited_for(self):
        self.assertEqual(self.said("sinfo", "-h", "-o", "%G").strip(), "fpga:1,scratch:2")
        self.assertIn("Gres=fpga:1,scratch:2", self.said("scontrol", "-o", "show", "node", "node1"))
        first = int(self.said("sbatch", "--parsable", "-N2", "--gres=scratch:2", "-o", "/dev/null", "--wrap", "sleep 100"))
        self.cluster.wait_state(first, "RUNNING")
        self.assertIn("gres/scratch=2", self.said("scontrol", "-o", "show", "node", "node1"))
        second = int(self.said("sbatch", "--parsable", "--gres=gres:scratch", "-o", "/dev/null", "--wrap", "true"))
        self.cluster.wait_reason(second, "short of 1 scratch")
        self.assertEqual(self.said("squeue", "-h", "-j", second, "-o", "%r"), "Resources\n")
        self.assertEqual(self.said("squeue", "-h", "-j", second, "-o", "%b"), "gres:scratch:1\n")
        self.said("scancel", first)
        (row,) = self.cluster.wait_ended(second)
        self.assertEqual(row["state"], "COMPLETED")

    def test_more_than_any_node_has_is_refused_by_sbatch_and_said_by_submit(self):
        for words in (("--gres=scratch:3",), ("--gres=quantum",), ("-n", 1000)):
            done = self.slurm("sbatch", *words, "--wrap", "true")
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (1, "", "sbatch: error: Batch job submission failed: "
                                     "Requested node configuration is not available\n"), words)
        done = self.cluster.muster("submit", "--gres", "scratch:3", "--wrap", "true")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"\Amuster submit: job \d+ waits: never on this cluster: .*short of 3 scratch.*\n\Z")
        self.cluster.must("cancel", done.stdout.split()[-1])
        self.assertEqual(self.cluster.muster("submit", "--test-only", "-n", 1000, "--wrap", "true").returncode, 1)
        for command in ("srun", "salloc"):
            done = self.slurm(command, "-n", 1000, "true")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("Requested node configuration is not available", done.stderr)


class StepsTest(Slurm):
    def test_limits_of_the_submitter_travel_where_they_are_asked_for(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        asked = min(soft, 200)
        def batch(*options):
            return subprocess.run(
                ["sh", "-c", f"ulimit -S -n {asked}; exec sbatch --parsable -o limit.%j \"$@\" --wrap 'ulimit -n'", "sh", *options],
                cwd=self.cluster.work, env=self.environment, text=True, stdout=subprocess.PIPE, check=True, timeout=PATIENCE).stdout
        job = int(batch("--propagate=NOFILE"))
        self.cluster.wait_ended(job)
        self.assertEqual(self.read(f"limit.{job}").strip(), str(asked))
        self.assertIn("Invalid --propagate", self.refused("sbatch", "--propagate=COLOUR", "--wrap", "true"))

    def test_a_program_is_copied_to_the_nodes_before_it_runs(self):
        program = os.path.join(self.cluster.work, "hello.sh")
        with open(program, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho from $0\n")
        os.chmod(program, 0o755)
        target = os.path.join(self.cluster.work, "copied.sh")
        job = int(self.said("sbatch", "--parsable", "-n", 1, "-o", "cast.%j", "--wrap", f"srun --bcast={target} {program}"))
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "COMPLETED", self.read(f"cast.{job}"))
        self.assertEqual(self.read(f"cast.{job}").strip(), f"from {target}")
        os.remove(target)
        done = self.slurm("srun", "-n", 2, f"--bcast={target}", program)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, f"from {target}\n" * 2, ""))
        self.assertEqual(self.slurm("srun", "--bcast=/nowhere/at/all", program).returncode, 1)

    def test_variables_give_srun_its_options(self):
        self.assertEqual(self.said("srun", "sh", "-c", "echo $SLURM_PROCID", SLURM_NTASKS="2", SLURM_LABELIO="1").count(": "), 2)
        self.said("srun", "echo", "kept", SLURM_STDOUTMODE="mode.%j", SLURM_JOB_NAME="night")
        done = self.slurm("srun", "true", SLURM_NTASKS="many")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        text = "srun sh -c 'echo task $SLURM_CPUS_PER_TASK'\nSRUN_CPUS_PER_TASK=2 srun -n1 sh -c 'echo task $SLURM_CPUS_PER_TASK'"
        job = int(self.said("sbatch", "--parsable", "-n", 1, "-c", 2, "-o", "variables.%j", "--wrap", text))
        self.cluster.wait_ended(job)
        self.assertEqual(self.read(f"variables.{job}").split()[-2:], ["task", "2"])

    def test_none_carries_slurms_own_names_and_nil_not_even_those(self):
        for option, there in (("NONE", "mine\n"), ("NIL", "\n")):
            job = int(self.said("sbatch", "--parsable", f"--export={option}", "-o", "env.%j", "--wrap",
                                "echo $SLURM_TIME_FORMAT", SLURM_TIME_FORMAT="mine"))
            self.cluster.wait_ended(job)
            self.assertEqual(self.read(f"env.{job}"), there, option)


class FilterTest(Slurm):
    def test_selectors_mean_the_same_in_both_front_ends(self):
        self.cluster.must("partition", "add", "short", "Nodes=node1")
        self.cluster.must("partition", "add", "long", "Default=YES")
        one = self.held("-J", "one", "-p", "short")
        two = self.held("-J", "two", "-p", "long")
        for option, value, job in (("--name", "one", one), ("--partition", "long", two), ("--partition", "short", one)):
            self.assertEqual(self.said("squeue", "-h", "-o", "%A", option, value), f"{job}\n")
            listed = json.loads(self.cluster.must("queue", "--json", option, value))["jobs"]
            self.assertEqual([row["id"] for row in listed], [job], option)
        listed = self.cluster.must("queue", "--me", "--noheader", "--sort=-name", "--format", "name,state")
        self.assertEqual([line.split() for line in listed.splitlines()], [["two", "PENDING"], ["one", "PENDING"]])
        done = self.cluster.muster("queue", "--format", "colour")
        self.assertEqual(done.returncode, 2)
        self.cluster.must("cancel", "--me", "--name", "two")
        self.assertEqual(self.said("squeue", "-h", "-o", "%A"), f"{one}\n")
        self.cluster.must("cancel", "--partition", "short", "--states", "PENDING")
        self.assertEqual(self.said("squeue", "-h", "-o", "%A"), "")
        gone = json.loads(self.cluster.must("history", "--json", "--name", "one,two"))["jobs"]
        self.assertEqual(sorted(row["id"] for row in gone), [one, two])

    def test_a_name_that_is_nasty_breaks_neither_columns_nor_terminals(self):
        job = self.held("-J", "a|b'\"x", "--comment", "semi; pipe | ünï")
        rows = self.said("squeue", "-h", "-j", job, "-o", "%i|%j|%T").splitlines()
        self.assertEqual(len(rows), 1)
        self.assertEqual(len(rows[0].split("|")), 3, rows)
        for words in (("squeue", "-h", "-o", "%j %k"), ("scontrol", "-o", "show", "job", job)):
            text = self.said(*words)
            self.assertEqual(text.count("\n"), 1, text)
            self.assertFalse([c for c in text if ord(c) < 32 and c != "\n"], text)
        self.assertEqual(json.loads(self.said("squeue", "--json"))["jobs"][0]["name"], "a|b'\"x")
        for option in ("-J", "--comment"):
            done = self.slurm("sbatch", option, NASTY, "--wrap", "true")
            self.assertEqual(done.stderr.count("\n") if done.returncode else 1, 1, done.stderr)
            self.assertNotIn("\x1b", done.stdout + done.stderr)
        done = subprocess.run(["sbatch", "-J", b"bad\xff\xfename", "--wrap", "true"], env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=PATIENCE,
                              cwd=self.cluster.work)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
        self.said("scancel", "--me")


if __name__ == "__main__":
    unittest.main()
