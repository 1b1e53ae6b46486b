"""squeue, sinfo, sacct and scontrol on a real cluster: what Slurm itself said of the same jobs, and what its clients parse."""

import os
import re
import subprocess
import time
import unittest

from cluster import PATIENCE, ClusterTest, WIDE, program, wait_until

RECORDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "slurm")
ME = os.getuid()
# Of tests/fixtures/slurm/scenario.txt: what can be made here with `muster submit`.
ENDING = {
    "ok": ["--comment", "a comment", "--wrap", "echo done"],
    "fails": ["--wrap", "exit 3"],
    "killed": ["--wrap", "kill -9 $$"],
    "cancelled": ["--wrap", "sleep 300"],
}
WAITING = {
    "held": ["--hold", "--wrap", "true"],
    "tomorrow": ["--begin", "2031-02-03T04:05:06", "--wrap", "true"],
    "endless": ["--hold", "-t", "UNLIMITED", "--wrap", "true"],
    "weeks": ["--hold", "-t", "30-04:05:06", "--wrap", "true"],
    "few": ["--hold", "--array", "4-6", "--wrap", "true"],
}
# Muster refuses control characters in names itself.
ODD = {
    "bar": "a|b", "words": "two words", "quotes": "quo'te\"s", "unicode": "größe_日本語", "percent": "%j%",
}


def recorded(name, command):
    """(exit code, standard output, standard error) of a recorded command."""
    code, out, err, found = None, [], [], False
    with open(os.path.join(RECORDED, name + ".golden"), encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith("$ "):
                if found:
                    break
                found = line[2:] == command
            elif found and line.startswith("["):
                code = int(line[1:-1])
            elif found:
                (out if line[0] == "1" else err).append(line[2:])
    if not found:
        raise AssertionError(f"{name}.golden lacks {command}")
    return code, "".join(line + "\n" for line in out), "".join(line + "\n" for line in err)


def recorded_ids():
    """{name: id} of the scenario's jobs."""
    with open(os.path.join(RECORDED, "scenario.golden"), encoding="utf-8") as file:
        found = re.findall(r"^\$ \w+: sbatch .*?-J (\w+) .*\n\[0\]\n1\|Submitted batch job (\d+)$", file.read(), re.MULTILINE)
    return dict(found)


def recorded_rows(command):
    """{id: the other words} of a recorded squeue with %i first."""
    rows = {}
    for line in recorded("squeue", command)[1].splitlines():
        job, *rest = line.split(" ")
        rows[job] = rest
    return rows


class SlurmQueryTest(ClusterTest):
    """One cluster with the scenario's jobs; no test changes what another looks at."""

    nodes = 2
    topology = WIDE

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.ids = {}
        for name, words in ENDING.items():
            cls.ids[name] = cls.cluster.submit("-J", name, *words)
        cls.cluster.wait_state(cls.ids["cancelled"], "RUNNING")
        cls.cluster.must("cancel", cls.ids["cancelled"])
        cls.cluster.wait_ended(*cls.ids.values())
        cls.ids["train"] = cls.cluster.submit("-J", "train", "-n", 2, "-t", "2:00:00", "--mem", "100M", "--comment", "a=1;b|c",
                                              "--wrap", cls.cluster.gate())
        cls.cluster.wait_state(cls.ids["train"], "RUNNING")
        cls.ids["sweep"] = cls.cluster.submit("-J", "sweep", "--array", "0-9%2", "-t", 10, "--wrap", cls.cluster.gate())
        cls.ids["after"] = cls.cluster.submit("-J", "after", "-d", f"afterok:{cls.ids['train']}", "--wrap", "true")
        cls.ids["never"] = cls.cluster.submit("-J", "never", "-d", f"afterok:{cls.ids['fails']}",
                                              "--kill-on-invalid-dep=no", "--wrap", "true")
        for name, words in WAITING.items():
            cls.ids[name] = cls.cluster.submit("-J", name, *words)
        for name, text in ODD.items():
            cls.ids[name] = cls.cluster.submit("-J", text, "--hold", "--wrap", "true")
        cls.cluster.wait_reason(cls.ids["sweep"] + 2, "")
        cls.addClassCleanup(cls.cluster.open_gate)
        wait_until(lambda: cls.run_slurm("squeue", "-h", "-t", "R", "-n", "sweep", "-r", "-o", "%i").stdout.count("\n") == 2,
                   "the array does not run")

    @classmethod
    def run_slurm(cls, *words, environment=None):
        return subprocess.run(
            [program("muster-slurm"), *[str(word) for word in words]], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=PATIENCE, check=False, cwd=cls.cluster.work,
            env={**cls.cluster.environment, "MUSTER_CONTROLLER": cls.cluster.address, **(environment or {})})

    def said(self, *words, environment=None):
        """Standard output of a command that succeeds, and that writes nothing on stderr."""
        done = self.run_slurm(*words, environment=environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout

    def lines(self, *words):
        return self.said(*words).splitlines()

    def refused(self, *words):
        """Standard error of a command that fails with one line."""
        done = self.run_slurm(*words)
        self.assertEqual(done.returncode, 1, words)
        self.assert_one_line(done.stderr)
        return done.stderr

    def of_squeue(self, form):
        """{name: the words after it} of all jobs."""
        rows = {}
        for line in self.lines("squeue", "-h", "-t", "all", "-o", f"%j {form}"):
            name, *rest = line.split(" ")
            rows[name] = rest
        return rows

    # What Slurm said of the same jobs.

    def test_states_are_those_of_slurm(self):
        theirs, ours, ids = recorded_rows("squeue -t all -h -o '%i %t %T'"), self.of_squeue("%t %T"), recorded_ids()
        for name in [*ENDING, *WAITING, "train", "after", "never"]:
            with self.subTest(name):
                job = "38_[4-6]" if name == "few" else ids[name]
                self.assertEqual(ours[name], theirs[job])

    def test_reasons_are_those_of_slurm(self):
        theirs, ours, ids = recorded_rows("squeue -t PD -h -o '%i %r'"), self.of_squeue("%r"), recorded_ids()
        for name in [*WAITING, "after", "never"]:
            with self.subTest(name):
                job = "38_[4-6]" if name == "few" else ids[name]
                self.assertEqual(ours[name], theirs[job])

    def test_limits_are_those_of_slurm(self):
        theirs = recorded("squeue", "squeue -l")[1].splitlines()[2:]
        limits = {line.split()[2]: line.split()[6] for line in theirs if len(line.split()) > 7}
        ours = self.of_squeue("%l")
        for name in ("endless", "train"):  # "weeks": Slurm rounds up to minutes, Muster does not
            with self.subTest(name):
                self.assertEqual(ours[name], [limits[name]])

    def test_states_and_exit_codes_of_the_accounting_are_those_of_slurm(self):
        theirs = {}
        for line in recorded("sacct", "sacct -X -P -o JobID%4,JobName%20,State%5")[1].splitlines()[1:]:
            _, name, state = line.split("|")
            theirs[name] = state.partition(" by ")[0]
        codes = {line.split()[0]: line.split()[-1] for line in recorded("sacct", "sacct -b -n -X")[1].splitlines()}
        ids = recorded_ids()
        ours = {line.split("|")[0]: line.split("|")[1:] for line in
                self.lines("sacct", "-a", "-X", "-n", "-P", "-o", "JobName,State,ExitCode")}
        for name in [*ENDING, "train"]:
            with self.subTest(name):
                self.assertEqual(ours[name], [theirs[name], codes[ids[name]]])

    def test_headers_are_those_of_slurm(self):
        for command in ("squeue -j 14", "squeue -l", "squeue --start"):
            theirs = recorded("squeue", command)[1].splitlines()
            at = 1 if command == "squeue -l" else 0
            words = [str(self.ids["train"]) if word == "14" else word for word in command.split()]
            with self.subTest(command):
                self.assertEqual(self.lines(*words)[at], theirs[at])
        self.assertEqual(self.lines("sacct", "-a")[:2], recorded("sacct", "sacct")[1].splitlines()[:2])
        self.assertEqual(self.lines("sinfo")[0], recorded("sinfo", "sinfo")[1].splitlines()[0])

    def test_errors_are_those_of_slurm(self):
        for name, command in (
                ("squeue", "squeue -j 99999"), ("squeue", "squeue -j abc"), ("sacct", "sacct -j abc"),
                ("sacct", "sacct -X -o nosuch -j 1"), ("sacct", "sacct -s nosuch -X"), ("sacct", "sacct -u nobody_here -X -n"),
                ("scontrol", "scontrol show job 99999"), ("scontrol", "scontrol show job abc"),
                ("scontrol_change", "scontrol hold"), ("scontrol_change", "scontrol requeue 99999"),
                ("scontrol_change", "scontrol update"), ("scontrol_change", "scontrol update JobId=99999 TimeLimit=10")):
            with self.subTest(command):
                code, _, err = recorded(name, command)
                self.assertEqual(code, 1)
                self.assertEqual(self.refused(*command.split()), err)

    def test_an_unknown_option_format_or_field_is_one_line_and_never_waits(self):
        for words in (("squeue", "--nosuch"), ("squeue", "-o", "%~"), ("squeue", "-O", "nosuch"), ("squeue", "-t", "nosuch"),
                      ("sinfo", "--nosuch"), ("sinfo", "-o", "%~"), ("sinfo", "-O", "nosuch"), ("sinfo", "-t", "nosuch"),
                      ("sacct", "--nosuch"), ("sacct", "-o", "nosuch"), ("sacct", "-j", "1", "|", "tail", "-1"),
                      ("scontrol", "--nosuch"), ("scontrol", "nosuch"), ("scontrol", "show", "nosuch"), ("scontrol", "show")):
            with self.subTest(words):
                self.refused(*words)

    def test_one_unknown_id_is_an_error_and_two_are_not(self):
        self.assertEqual(self.said("squeue", "-h", "-j", "99999,99999"), "")
        train = self.ids["train"]
        self.assertEqual(self.lines("squeue", "-h", "-o", "%i", "-j", f"{train},99999"), [str(train)])
        self.assertEqual(self.said("sacct", "-n", "-j", "99999"), "")

    # Arrays.

    def test_elements_that_wait_together_are_one_line(self):
        sweep = self.ids["sweep"]
        self.assertEqual(self.lines("squeue", "-h", "-o", "%i %K", "-n", "sweep", "-t", "PD"),
                         [f"{sweep}_[2-9%2] 2-9%2"])
        self.assertEqual(self.lines("squeue", "-h", "-r", "-o", "%i", "-n", "sweep", "-t", "PD"),
                         [f"{sweep}_{i}" for i in range(2, 10)])
        self.assertEqual(self.lines("squeue", "-h", "-o", "%i", "-j", f"{sweep}_0"), [f"{sweep}_0"])
        rows = self.lines("sacct", "-a", "-X", "-n", "-P", "-j", sweep, "-o", "JobID,State")
        self.assertEqual(rows, [f"{sweep}_0|RUNNING", f"{sweep}_1|RUNNING", f"{sweep}_[2-9%2]|PENDING"])

    # Names.

    def test_no_name_breaks_columns_or_terminals(self):
        rows = self.lines("squeue", "-h", "-o", "%i|%j|%t")
        ids = self.lines("squeue", "-h", "-o", "%i")
        self.assertEqual(len(rows), len(ids))
        for row in rows:
            self.assertEqual(row.count("|"), 2, row)
            self.assertTrue(row.isprintable(), row)
        for row in self.lines("sacct", "-a", "-X", "-P", "-o", "JobID,JobName,State,Comment"):
            self.assertEqual(row.count("|"), 3, row)
            self.assertTrue(row.isprintable(), row)
        self.assertEqual(self.lines("squeue", "-h", "-o", "%j", "-j", self.ids["unicode"]), [ODD["unicode"]])

    # What clients parse.

    def test_two_words_a_line_for_workflow_engines(self):
        for line in self.lines("squeue", "--noheader", "-o", "%i %t", "-t", "all", "-u", ME):
            self.assertRegex(line, r"^\S+ (PD|R|CG|CD|F|CA|TO)$")
        for line in self.lines("squeue", "-O", "JobArrayID,StateCompact,Reason", "-t", "all", "--me", "-h"):
            self.assertEqual(len(line.split()), 3, line)

    def test_fourteen_fields_between_carets(self):
        form = "^^^".join(f"%{letter}" for letter in "itrBuDCRPlMSjV")
        train = self.ids["train"]
        (line,) = self.lines("squeue", "--noheader", "-o", form, f"--jobs={train},{train}")
        fields = line.split("^^^")
        self.assertEqual(fields[:8], [str(train), "R", "None", "node1", fields[4], "1", "2", "node1"])
        self.assertEqual((fields[9], fields[12]), ("2:00:00", "train"))
        self.assertEqual(len(fields), 14)

    def test_records_with_control_characters_as_separators(self):
        fields = ["Account", "JobID", "StateCompact", "Name", "NodeList", "TimeUsed", "tres-alloc", "WorkDir"]
        form = ",".join([f"{fields[0]}:\x1f", *(f"{name}:\x1f" for name in fields[1:]), ""])
        rows = self.lines("squeue", "--noheader", "-O", form, "-j", self.ids["train"])
        values = rows[0].split("\x1f")
        self.assertEqual((values[1], values[2], values[3]), (str(self.ids["train"]), "R", "train"))
        self.assertRegex(values[6], r"^cpu=2,mem=\d+[MG],node=1,billing=2$")
        self.assertEqual(values[7], self.cluster.work)

    def test_accounting_by_jobs_that_are_named_again_and_again(self):
        ok, fails = self.ids["ok"], self.ids["fails"]
        rows = self.lines("sacct", "-o", "JobID,State,NodeList", "--parsable2", "-j", ok, "-j", fails)
        self.assertEqual(rows[0], "JobID|State|NodeList")
        self.assertEqual([row.split("|")[:2] for row in rows[1:]],
                         [[f"{ok}", "COMPLETED"], [f"{ok}.batch", "COMPLETED"], [f"{fails}", "FAILED"],
                          [f"{fails}.batch", "FAILED"]])
        (row,) = self.lines("sacct", "-n", "-X", "-P", "-j", ok, "-o", "Start,End,Elapsed,TotalCPU,Comment")
        self.assertRegex(row, r"^\d{4}-\d\d-\d\dT[\d:]{8}\|\d{4}-\d\d-\d\dT[\d:]{8}\|00:00:\d\d\|\d\d:\d\d[.:]\d+\|a comment$")

    def test_the_names_that_help_lists_are_fields(self):
        names = self.said("sacct", "--helpformat").split()
        self.assertGreater(len(names), 90)
        (header, *_) = self.lines("sacct", "-P", "-j", self.ids["ok"], "-o", ",".join(names) + ",")
        self.assertEqual(header.split("|"), names)

    def test_moments_as_the_environment_wants_them(self):
        (row,) = self.lines_in({"SLURM_TIME_FORMAT": "%s"}, "sacct", "-n", "-X", "-P", "-j", self.ids["ok"], "-o", "Start,End")
        start, end = row.split("|")
        self.assertLess(abs(time.time() - int(start)), 600)
        self.assertLessEqual(int(start), int(end))
        (row,) = self.lines_in({"SLURM_TIME_FORMAT": ""}, "squeue", "-h", "-j", self.ids["tomorrow"], "-o", "%S")
        self.assertEqual(row, "2031-02-03T04:05:06")

    def lines_in(self, environment, *words):
        return self.said(*words, environment=environment).splitlines()

    def test_every_word_of_a_record_is_a_pair(self):
        for words in (("job", self.ids["train"]), ("job", self.ids["sweep"]), ("job", self.ids["words"]), ("node",),
                      ("partition",), ("jobid", "-dd", self.ids["ok"])):
            with self.subTest(words):
                for word in self.said("scontrol", "show", *words).split():
                    self.assertRegex(word, r"^[\w/:()]+=.*$")
        for word in self.said("scontrol", "show", "part", "-o").split():
            self.assertRegex(word, r"^\w+=.+$")
        (line,) = self.lines("scontrol", "-o", "show", "job", self.ids["train"])
        fields = dict(word.split("=", 1) for word in line.split())
        self.assertEqual((fields["JobId"], fields["JobName"], fields["JobState"], fields["TimeLimit"], fields["NumCPUs"]),
                         (str(self.ids["train"]), "train", "RUNNING", "02:00:00", "2"))
        self.assertEqual((fields["NodeList"], fields["BatchHost"], fields["WorkDir"]), ("node1", "node1", self.cluster.work))

    def test_nodes_and_partitions_as_portals_ask_for_them(self):
        self.assertRegex(self.said("sinfo", "-h", "-o", "%C"), r"^\d+/\d+/0/128\n$")
        self.assertRegex(self.said("sinfo", "-ahNO", "nodehost:100,gres:512,statelong"), r"(?m)^node1 +\(null\) +mixed +$")
        (header, *rows) = self.lines("sinfo", "-a", "-o", "%P %G %l %p %c %m")
        self.assertEqual(header, recorded("sinfo", "sinfo -a -o '%P %G %l %p %c %m'")[1].splitlines()[0])
        for row in rows:
            self.assertRegex(row, r"^\S+\*? \(null\) \S+ 1 64 \d+$")
        self.assertEqual(self.lines("sinfo", "-h", "-N", "-o", "%N %T")[1], "node2 idle")
        self.assertEqual(self.said("sinfo", "-h", "-p", "nosuch"), "")

    def test_hosts_are_listed_and_folded(self):
        for command in ("scontrol show hostnames n[1-3,7],rack1-n[08-10]", "scontrol show hostname n1",
                        "scontrol show hostlist n1,n2,n3,n7", "scontrol show hostlist n08,n09,n10,n11",
                        "scontrol show hostlistsorted n3,n1,n2", "scontrol show hostnames n1,n1"):
            with self.subTest(command):
                self.assertEqual(self.said(*command.split()), recorded("scontrol", command)[1])
        self.assertEqual(self.lines_in({"SLURM_NODELIST": "n[1-2]"}, "scontrol", "show", "hostnames"), ["n1", "n2"])

    def test_the_configuration_says_what_tools_look_for(self):
        said = self.said("scontrol", "show", "config")
        for name in ("MinJobAge", "MaxArraySize", "SchedulerTimeSlice", "AcctGatherNodeFreq", "ClusterName", "SLURM_VERSION"):
            self.assertRegex(said, rf"(?m)^{name} += \S+")

    def test_versions_need_no_controller(self):
        for command in ("squeue", "sinfo", "sacct", "scontrol"):
            done = self.run_slurm(command, "--version", environment={"MUSTER_CONTROLLER": "unix:/nowhere"})
            self.assertEqual(done.returncode, 0)
            self.assertRegex(done.stdout, r"^slurm \d+\.\d+\.\d+\n$")

    def test_a_controller_that_is_not_there_is_slurms_line(self):
        done = self.run_slurm("squeue", environment={"MUSTER_CONTROLLER": "unix:/nowhere"})
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (1, "", "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n"))
        done = self.run_slurm("scontrol", "ping", environment={"MUSTER_CONTROLLER": "unix:/nowhere"})
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"^Slurmctld\(primary\) at \S+ is DOWN\n$")
        self.assertRegex(self.said("scontrol", "ping"), r"^Slurmctld\(primary\) at \S+ is UP\n$")


class SlurmChangeTest(ClusterTest):
    """scontrol where it changes something: a cluster for itself."""

    def slurm(self, *words):
        return subprocess.run(
            [program("muster-slurm"), *[str(word) for word in words]], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=PATIENCE, check=False, env={**self.cluster.environment, "MUSTER_CONTROLLER": self.cluster.address})

    def said(self, *words):
        done = self.slurm(*words)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout.strip()

    def test_steps_that_run_are_listed(self):
        job = int(self.said("sbatch", "--parsable", "-J", "stepper", "-n1", "-o", "/dev/null", "--wrap", f"{program('muster-slurm')} srun -J nap sleep 100"))
        wait_until(lambda: f"{job}.1" in self.said("squeue", "-h", "-s", "-o", "%i"), "no step runs")
        self.assertEqual(self.said("squeue", "-s").split("\n")[0].strip(), "STEPID     NAME PARTITION     USER      TIME NODELIST")
        self.assertEqual(self.said("squeue", "-h", "-j", job, "--steps", "-o", "%i %j %N"),
                         f"{job}.batch batch node1\n{job}.1 nap node1")
        self.assertEqual(self.said("squeue", "-h", f"--steps={job}.1", "-o", "%i"), f"{job}.1")
        self.assertIn(f"StepId={job}.1", self.said("scontrol", "show", "step"))
        self.said("scancel", job)

    def test_a_job_is_held_changed_and_released(self):
        job = self.cluster.submit("--begin", "2031-02-03T04:05:06", "--wrap", "true")
        self.said("scontrol", "hold", job)
        wait_until(lambda: self.said("squeue", "-h", "-j", job, "-o", "%r") == "JobHeldUser", "it is not held")
        self.said("scontrol", "update", "job", job, "Comment=changed", "TimeLimit=30", "JobName=renamed", "Nice=5")
        self.assertEqual(self.said("squeue", "-h", "-j", job, "-o", "%j %k %l %y"), "renamed changed 30:00 5")
        self.said("scontrol", "release", f"{job}")
        wait_until(lambda: self.said("squeue", "-h", "-j", job, "-o", "%r") == "BeginTime", "it is not released")
        done = self.slurm("scontrol", "update", f"JobId={job}", "NoSuchThing=3")
        self.assertEqual((done.returncode, done.stderr.splitlines()[-1]), (1, "Request aborted"))
        done = self.slurm("scontrol", "update", f"JobId={job}", "TimeLimit=garbage")
        self.assertEqual((done.returncode, done.stderr), (1, "scontrol: error: Invalid TimeLimit value\n"))

    def test_a_job_is_requeued_and_waited_for(self):
        job = self.cluster.submit("--wrap", self.cluster.gate())
        self.said("scontrol", "wait_job", job)
        self.said("scontrol", "requeue", job)
        wait_until(lambda: "Restarts=1" in self.said("scontrol", "show", "job", job), "it does not run again")
        self.said("scontrol", "wait_job", job)
        self.cluster.open_gate()
        self.cluster.wait_ended(job)
        done = self.slurm("scontrol", "wait_job", job)
        self.assertEqual((done.returncode, done.stderr), (1, f"scontrol: Job {job} no longer running\n"))
        self.assertEqual(self.slurm("scontrol", "wait_job", 99999).stderr, "scontrol: Problem running job 99999\n")

    def test_a_node_is_drained_and_comes_back(self):
        done = self.slurm("scontrol", "update", "NodeName=node1", "State=DRAIN")
        self.assertEqual((done.returncode, done.stderr), recorded("scontrol_root", "scontrol update NodeName=n1 State=DRAIN")[::2])
        self.said("scontrol", "update", "NodeName=node1", "State=DRAIN", "Reason=bad | fan")
        self.assertEqual(self.said("sinfo", "-h", "-N", "-o", "%t|%E"), "drain|bad \\x7c fan")
        self.assertIn("State=IDLE+DRAIN", self.said("scontrol", "show", "node", "node1"))
        self.said("scontrol", "update", "NodeName=node1", "State=RESUME")
        self.assertEqual(self.said("sinfo", "-h", "-N", "-o", "%t"), "idle")


if __name__ == "__main__":
    unittest.main()
