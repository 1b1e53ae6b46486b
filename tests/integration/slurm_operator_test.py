"""sacctmgr, scontrol, sprio, sstat, sreport, sdiag, sattach and sbcast as an operator uses them, and the documents of --json."""

import json
import os
import pwd
import re
import subprocess
import unittest

from cluster import PATIENCE, Cluster, ClusterTest, WIDE, program, wait_until


class SlurmOperatorTest(ClusterTest):
    """A cluster on which jobs wait with priorities."""

    nodes = 2
    topology = WIDE

    @classmethod
    def make(cls):
        cluster = Cluster(nodes=cls.nodes, topology=cls.topology)
        cluster.configure("[priority]\nweight_age = 1000\nweight_qos = 500\n")
        return cluster.start()

    def slurm(self, *words, environment=None, text=None):
        return subprocess.run(
            [program("muster-slurm"), *[str(word) for word in words]], input=text or "", capture_output=True, text=True,
            timeout=PATIENCE, check=False, cwd=self.cluster.work,
            env={**self.cluster.environment, "MUSTER_CONTROLLER": self.cluster.address, **(environment or {})})

    def said(self, *words, **keywords):
        done = self.slurm(*words, **keywords)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout

    def document(self, *words):
        return json.loads(self.said(*words, "--json"))

    def running(self, *words):
        """A job that runs until the test ends."""
        job = self.cluster.submit(*words, "--wrap", "sleep 600")
        self.addCleanup(self.cluster.wait_ended, job)
        self.addCleanup(self.cluster.must, "cancel", job)
        self.cluster.wait_state(job, "RUNNING")
        return job

    # sacctmgr.

    def test_accounts_users_and_qos_come_change_and_go(self):
        me = pwd.getpwuid(os.getuid()).pw_name
        self.said("sacctmgr", "-i", "add", "account", "maths", "Description=maths", "Organization=uni", "Fairshare=5")
        self.said("sacctmgr", "-i", "add", "qos", "urgent", "Priority=100")
        self.said("sacctmgr", "-i", "add", "user", me, "account=maths", "MaxJobs=3")
        self.assertEqual(self.said("sacctmgr", "-n", "-P", "show", "assoc", "format=account,user,share,maxjobs"),
                         f"maths||5|\nmaths|{me}|1|3\n")
        self.said("sacctmgr", "-i", "modify", "user", me, "where", "account=maths", "set", "MaxJobs=4", "Fairshare=7")
        self.assertEqual(self.said("sacctmgr", "-n", "-P", "show", "assoc", f"user={me}", "format=share,maxjobs"), "7|4\n")
        self.said("sacctmgr", "-i", "modify", "user", me, "set", "qos=urgent")
        self.assertEqual(self.said("sacctmgr", "-n", "-P", "show", "assoc", f"user={me}", "format=qos"), "urgent\n")
        done = self.slurm("sacctmgr", "-i", "modify", "user", me, "set", "qos=nosuch")
        self.assertEqual(done.returncode, 1)
        self.assert_one_line(done.stderr)
        done = self.slurm("sacctmgr", "-i", "add", "account", "maths")
        self.assertEqual((done.returncode, done.stdout), (1, " Nothing new added.\n"))
        self.assertIn("User - '" + me, self.dump())
        self.said("sacctmgr", "-i", "delete", "user", me)
        self.said("sacctmgr", "-i", "delete", "account", "maths")
        self.said("sacctmgr", "-i", "delete", "qos", "urgent")
        self.assertEqual(self.said("sacctmgr", "-n", "-P", "show", "account"), "")
        self.assertIn("Remove Accounts", self.said("sacctmgr", "-n", "-P", "show", "transactions", "format=action"))

    def dump(self):
        cluster = self.said("sacctmgr", "-n", "-P", "show", "cluster", "format=cluster").strip()
        self.said("sacctmgr", "dump", cluster, "file=dump.cfg")
        with open(os.path.join(self.cluster.work, "dump.cfg"), encoding="utf-8") as file:
            return file.read()

    def test_texts_about_a_job_are_kept_after_its_end(self):
        job = self.cluster.submit("--comment", "first", "--wrap", "true")
        self.cluster.wait_ended(job)
        where = ("sacctmgr", "-i", "update", "job", "where", f"jobid={job}")
        self.assertEqual(self.said(*where, "set", "AdminComment=JS1:H4sI=", "Comment=second"), f" Modified jobs...\n  {job}\n")
        self.said("sacctmgr", "-iQ", "modify", "job", f"jobid={job}", "set", "DerivedExitCode=4")
        self.assertEqual(self.said("sacct", "-nPX", "-j", job, "-o", "admincomment,comment,derivedexitcode"), "JS1:H4sI=|second|4:0\n")
        self.assertEqual(self.said("sacct", "-nPX", "-j", job, "-o", "comment"), "second\n")
        self.assertRegex(self.cluster.must("show", job), r"note +AdminComment: JS1:H4sI=")
        done = self.slurm("sacctmgr", "-i", "modify", "job", "jobid=99999", "set", "Comment=x")
        self.assertEqual((done.returncode, done.stdout), (1, " Nothing modified\n"))
        done = self.slurm("sacctmgr", "-i", "modify", "job", f"jobid={job}", "set", "Colour=red")
        self.assertEqual(done.returncode, 1)
        self.assertIn("Unknown option: Colour=red", done.stderr)
        done = self.slurm("sacctmgr", "modify", "job", f"jobid={job}", "set", "Comment=third", text="n\n")
        self.assertIn("Changes Discarded", done.stdout)
        self.assertEqual(self.said("sacct", "-nPX", "-j", job, "-o", "comment"), "second\n")

    def test_nothing_changes_before_it_is_agreed_to(self):
        self.assertIn("Changes Discarded", self.said("sacctmgr", "add", "qos", "asked"))
        self.assertNotIn("asked", self.said("sacctmgr", "-n", "-P", "show", "qos", "format=name"))
        self.said("sacctmgr", "add", "qos", "asked", text="y\n")
        self.assertIn("asked", self.said("sacctmgr", "-n", "-P", "show", "qos", "format=name"))
        self.said("sacctmgr", "-i", "delete", "qos", "asked")

    # What runs and what waits.

    def test_priorities_of_waiting_jobs_are_shown_with_what_they_are_made_of(self):
        self.running("-N", 2, "--exclusive")
        job = self.cluster.submit("-N", 2, "--wrap", "true")
        self.addCleanup(self.cluster.must, "cancel", job)
        wait_until(lambda: str(job) in self.slurm("sprio", "-h", "-o", "%i").stdout.split(), "it has no priority")
        header, *rows = self.said("sprio").splitlines()
        self.assertEqual(header.split(), ["JOBID", "PARTITION", "PRIORITY", "SITE", "AGE", "FAIRSHARE", "JOBSIZE", "PARTITION",
                                          "QOS"])
        self.assertEqual([row.split()[0] for row in rows], [str(job)])
        self.assertEqual(self.said("sprio", "-w").splitlines()[1].split()[:3], ["Weights", "1", "1000"])
        self.assertEqual(self.said("sprio", "-j", "99999"), "Unable to find jobs matching user/id(s) specified\n")

    def test_a_running_job_is_measured_attached_to_and_sent_a_file(self):
        job = self.running("-N", 2, "-n", 2)
        rows = wait_until(lambda: [row for row in self.slurm("sstat", "-a", "-n", "-P", "-j", job, "-o", "JobID,MaxRSS")
                                   .stdout.splitlines() if not row.endswith("|")], "nothing of it is measured")
        self.assertRegex(rows[0], rf"^{job}\.batch\|\d+K$")
        done = self.slurm("sattach", "--layout", f"{job}.9")
        self.assertEqual((done.returncode, done.stderr),
                         (1, "sattach: error: Could not get job step info: Invalid job id specified\n"))
        source = os.path.join(self.cluster.work, "sent")
        with open(source, "w", encoding="utf-8") as file:
            file.write("content\n")
        target = os.path.join(self.cluster.work, "received")
        done = self.slurm("sbcast", "--force", source, target, environment={"SLURM_JOB_ID": str(job)})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(target, encoding="utf-8") as file:
            self.assertEqual(file.read(), "content\n")
        self.assertRegex(self.said("scontrol", "listpids", job), r"(?m)^PID +JOBID +STEPID +LOCALID GLOBALID\n\d+ +%s " % job)

    def test_reports_and_figures_count_what_ran(self):
        job = self.cluster.submit("--wrap", "true")
        self.cluster.wait_ended(job)
        self.assertRegex(self.said("sdiag"), r"(?m)^Jobs completed: [1-9]\d*$")
        self.assertGreater(self.document("sdiag")["statistics"]["jobs_submitted"], 0)
        self.assertRegex(self.said("sreport", "-n", "-P", "-t", "seconds", "cluster", "utilization", "start=today", "end=now+1day"),
                         r"^\w+\|\d+\|\|\|\d+\|\|\d+\n$")
        done = self.slurm("sreport", "cluster", "nosuch")
        self.assertEqual(done.returncode, 1)
        self.assert_one_line(done.stderr)

    def test_a_limit_is_moved_and_jobs_are_held_by_name(self):
        job = self.cluster.submit("-J", "named", "-t", 60, "--begin", "2031-02-03T04:05:06", "--wrap", "true")
        self.said("scontrol", "update", f"JobId={job}", "TimeLimit=+30")
        self.assertEqual(self.said("squeue", "-h", "-j", job, "-o", "%l"), "1:30:00\n")
        self.said("scontrol", "update", f"JobId={job}", "TimeLimit-=60")
        self.assertEqual(self.said("squeue", "-h", "-j", job, "-o", "%l"), "30:00\n")
        self.said("scontrol", "hold", "name=named")
        wait_until(lambda: self.said("squeue", "-h", "-j", job, "-o", "%r") == "JobHeldUser\n", "it is not held")
        self.said("scancel", job)

    def test_a_drained_nodes_reason_changes_and_who_drained_it_is_not_made_up(self):
        self.said("scontrol", "update", "NodeName=node2", "State=DRAIN", "Reason=fan")
        self.said("scontrol", "update", "NodeName=ALL", "Reason=two fans")
        self.assertEqual(self.said("sinfo", "-h", "-N", "-n", "node2", "-o", "%E|%u"), "two fans|Unknown\n")
        self.said("scontrol", "update", "NodeName=node2", "State=RESUME")
        self.assertNotRegex(self.said("scontrol", "show", "config"), "MaxJobCount|PriorityType")

    def test_what_has_no_counterpart_is_refused_in_one_line(self):
        for words in (("reconfigure",), ("notify", "1", "hello"), ("shutdown",), ("takeover",)):
            done = self.slurm("scontrol", *words)
            self.assertEqual(done.returncode, 1, words)
            self.assert_one_line(done.stderr)

    # --json.

    def test_documents_have_what_their_readers_look_for(self):
        job = self.running("-J", "train", "-n", 2, "-t", 60)
        for words in (("squeue", "-j", job), ("scontrol", "show", "job", job)):
            (entry,) = self.document(*words)["jobs"]
            self.assertEqual((entry["job_id"], entry["name"], entry["job_state"]), (job, "train", ["RUNNING"]))
            self.assertEqual(entry["current_working_directory"], self.cluster.work)
            self.assertEqual(entry["time_limit"], {"set": True, "infinite": False, "number": 60})
            (allocation,) = entry["job_resources"]["nodes"]["allocation"]
            self.assertEqual((allocation["name"], allocation["cpus"]["count"]), ("node1", 2))
        (entry,) = self.document("sacct", "-j", job)["jobs"]
        self.assertEqual(entry["state"]["current"], "RUNNING")
        self.assertEqual(self.document("squeue", "-u", "nobody")["jobs"], [])
        nodes = {node["name"]: node for node in self.document("scontrol", "show", "nodes")["nodes"]}
        self.assertEqual(nodes["node1"]["alloc_cpus"], 2)
        (partition,) = self.document("scontrol", "show", "partition")["partitions"]
        self.assertEqual(partition["nodes"]["total"], 2)
        self.assertEqual(sum(line["nodes"]["total"] for line in self.document("sinfo")["sinfo"]), 2)
        self.assertEqual(self.document("sacctmgr", "show", "qos")["qos"][0]["name"], "normal")
        self.assertEqual(self.document("scontrol", "ping")["pings"][0]["pinged"], "UP")
        done = self.slurm("squeue", "--json=v0.0.38")
        self.assertEqual(done.returncode, 1)
        self.assertTrue(re.match(r"squeue: --json=v0.0.38: .*\n$", done.stderr), done.stderr)


if __name__ == "__main__":
    unittest.main()
