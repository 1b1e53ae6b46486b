"""sbatch, srun, salloc and scancel by their own names, as scripts and tools written for Slurm call them."""

import os
import re
import subprocess

from cluster import PATIENCE, ClusterTest, WIDE, wait_until


class SlurmSubmitTest(ClusterTest):
    nodes = 2
    topology = WIDE

    def setUp(self):
        super().setUp()
        self.names = os.path.join(self.cluster.root, "names")
        said = self.cluster.must("slurm", "install", self.names)
        self.assertEqual(said, f"export PATH={self.names}:$PATH")
        self.environment = {
            **self.cluster.environment, "MUSTER_CONTROLLER": self.cluster.address,
            "PATH": self.names + ":" + os.environ["PATH"]}

    def run_in(self, *words, input=None, **more):
        return subprocess.run(
            [str(w) for w in words], cwd=self.cluster.work, text=True, errors="replace", env={**self.environment, **more},
            stdin=subprocess.DEVNULL if input is None else None, input=input,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, check=False)

    def said(self, *words, **more):
        """The standard output of a command that has to succeed and to write nothing on stderr."""
        done = self.run_in(*words, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout

    def refused(self, *words, **more):
        done = self.run_in(*words, **more)
        self.assertEqual((done.returncode, done.stdout), (1, ""), (words, done.stderr))
        return done.stderr

    def file(self, name, text):
        path = os.path.join(self.cluster.work, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def ended(self, job):
        (row,) = self.cluster.wait_ended(int(job))
        return row

    def output_of(self, job, name=None):
        self.ended(job)
        return self.read(name or f"slurm-{job}.out")

    def test_a_script_of_ten_years_runs_as_it_is(self):
        self.file("job.sh", """#!/bin/bash
#SBATCH --job-name=legacy --account=physics
#SBATCH\t-N 2 --ntasks-per-node=1   # two nodes
#SBATCH --cpus-per-task=2
#SBATCH --time=0:7200
#SBATCH --mem=100MB
#SBATCH --output="%x-%j.log"
#SBATCH --mail-type=END,FAIL --mail-user=someone@example.org
#SBATCH --wckey=x --profile=none --contiguous

echo name $SLURM_JOB_NAME nodes $SLURM_JOB_NUM_NODES tasks $SLURM_NTASKS cpus $SLURM_CPUS_PER_TASK
echo args "$@" where $SLURM_SUBMIT_DIR $ENVIRONMENT step ${SLURM_STEP_ID-none}
srun hostname >/dev/null && srun --label sh -c 'echo rank $SLURM_PROCID of $SLURM_NTASKS on $SLURMD_NODENAME' | sort
""")
        said = self.said("sbatch", "job.sh", "a b", "c")
        self.assertRegex(said, r"\ASubmitted batch job \d+\n\Z")
        job = said.split()[-1]
        text = self.output_of(job, f"legacy-{job}.log")
        self.assertIn("name legacy nodes 2 tasks 2 cpus 2\n", text)
        self.assertIn(f"args a b c where {self.cluster.work} BATCH step none\n", text)
        self.assertIn("0: rank 0 of 2 on node1\n1: rank 1 of 2 on node2\n", text)

    def test_muster_submit_takes_slurms_directives_too(self):
        self.file("job.sh", "#!/bin/sh\n#SBATCH --mail-type=END\n#SBATCH --tmp=1G\necho fine\n")
        job = self.cluster.submit("job.sh")
        self.assertIn("fine", self.output_of(job, f"muster-{job}.out"))

    def test_scripts_come_from_files_standard_input_and_the_command_line(self):
        script = "#!/bin/sh\necho here $SLURM_JOB_NAME ${SLURM_NTASKS-unset}\n"
        job = self.said("sbatch", "--parsable", input=script).strip()
        self.assertIn("here sbatch unset\n", self.output_of(job))
        job = self.said("sbatch", "--parsable", "/dev/stdin", input=script).strip()
        self.assertIn("here stdin unset\n", self.output_of(job))
        job = self.said("sbatch", "--parsable", "-n", 3, "--wrap=echo wrapped $SLURM_NTASKS").strip()
        self.assertIn("wrapped 3\n", self.output_of(job))
        path = self.file("gone.sh", script)
        job = self.said("sbatch", "--parsable", "-H", path).strip()
        os.unlink(path)
        self.cluster.must("release", job)
        self.assertIn("here gone.sh", self.output_of(job))

    def test_the_environment_stands_between_the_command_line_and_the_script(self):
        self.file("job.sh", "#!/bin/sh\n#SBATCH -J script -o %x.out\necho $SLURM_JOB_NAME\n")
        job = self.said("sbatch", "--parsable", "job.sh", SBATCH_JOB_NAME="variable").strip()
        self.assertEqual(self.output_of(job, "variable.out"), "variable\n")
        job = self.said("sbatch", "--parsable", "-Jline", "job.sh", SBATCH_JOB_NAME="variable").strip()
        self.assertEqual(self.output_of(job, "line.out"), "line\n")

    def test_fewer_tasks_than_nodes_have_as_many_nodes_and_a_warning(self):
        self.file("job.sh", "#!/bin/sh\n#SBATCH -N2\n#SBATCH -n1\necho $SLURM_JOB_NUM_NODES\nsrun -N2 -n1 hostname >/dev/null && echo ran\n")
        done = self.run_in("sbatch", "--parsable", "job.sh")
        warning = "Warning: can't run 1 processes on 2 nodes, setting nnodes to 1\n"
        self.assertEqual((done.returncode, done.stderr), (0, "sbatch: " + warning))
        self.assertEqual(self.output_of(done.stdout.strip()), f"1\nsrun: {warning}ran\n")
        done = self.run_in("srun", "-N2", "-n1", "echo", "one")
        self.assertEqual((done.returncode, done.stdout), (0, "one\n"))
        self.assertIn("srun: " + warning, done.stderr)

    def test_wait_gives_the_jobs_exit_code(self):
        self.assertEqual(self.run_in("sbatch", "--wait", "--wrap", "exit 3").returncode, 3)
        self.assertEqual(self.run_in("sbatch", "-W", "--array=0-2", "--wrap",
                                     "exit $SLURM_ARRAY_TASK_ID").returncode, 2)

    def test_arrays_and_dependencies(self):
        first = self.said("sbatch", "--parsable", "-a", "1,3%1", "--wrap",
                          "echo $SLURM_ARRAY_JOB_ID $SLURM_ARRAY_TASK_ID").strip()
        then = self.said("sbatch", "--parsable", f"--dependency=afterok:{first}", "--wrap", "echo then").strip()
        self.output_of(then)
        for index in (1, 3):
            self.assertEqual(self.read(f"slurm-{first}_{index}.out"), f"{first} {index}\n")
        self.assertEqual(self.refused("sbatch", "-d", "afterok:999999", "--wrap", "true"),
                         "sbatch: error: Batch job submission failed: Job dependency problem\n")

    def test_what_is_wrong_is_told_in_slurms_words(self):
        wrap = "--wrap=true"
        for words, line in (
                (["-n", "x", wrap], 'Invalid numeric value "x" for --ntasks.'),
                (["-t", "abc", wrap], "Invalid --time specification"),
                (["--mem=10Q", wrap], "Invalid --mem specification"),
                (["-N", "x", wrap], '"x" is not a valid node count'),
                (["/not/there"], "Unable to open file /not/there"),
                ([wrap, "job.sh"], "Script arguments not permitted with --wrap option"),
                (["-p", "nowhere", wrap], "Batch job submission failed: Invalid partition name specified"),
                (["--uid=5", wrap], "--uid only permitted by root user"),
                (["-n", "100000", wrap], "Batch job submission failed: Requested node configuration is not available"),
                (["-w", "nosuch", wrap], "Batch job submission failed: Invalid node name specified")):
            with self.subTest(words=words):
                self.assertEqual(self.refused("sbatch", *words), f"sbatch: error: {line}\n")
        self.assertEqual(self.refused("sbatch", "--unheard-of"), "sbatch: unrecognized option '--unheard-of'\n")
        self.file("job.sh", "#!/bin/sh\n#SBATCH --unheard-of\n")
        self.assertEqual(self.refused("sbatch", "job.sh"), "sbatch: unrecognized option '--unheard-of'\n")
        self.assertEqual(
            self.refused("sbatch", wrap, MUSTER_CONTROLLER="unix:/not/there"),
            "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)\n")

    def test_every_command_tells_its_version_without_a_controller(self):
        for name in ("sbatch", "srun", "salloc", "scancel"):
            for word in ("--version", "-V"):
                said = self.said(name, word, MUSTER_CONTROLLER="unix:/not/there")
                self.assertRegex(said, r"\Aslurm \d+\.\d+\.\d+\n\Z")

    def test_test_only_names_the_partition_and_submits_nothing(self):
        before = self.cluster.submitted()
        for name in ("sbatch", "srun"):
            words = ["--wrap=true"] if name == "sbatch" else ["true"]
            done = self.run_in(name, "--test-only", "-n", 2, *words)
            self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
            self.assertRegex(done.stderr, rf"\A{name}: Job \d+ to start at [-0-9T:]+ using 2 processors "
                                          r"on nodes node\S+ in partition main\n\Z")
        self.assertEqual(self.cluster.submitted(), before)

    def test_open_mode_and_patterns(self):
        self.file("out", "before\n")
        job = self.said("sbatch", "--parsable", "--open-mode=append", "-o", "out", "--wrap",
                        "echo $SLURM_OPEN_MODE").strip()
        self.assertEqual(self.output_of(job, "out"), "before\na\n")
        job = self.said("sbatch", "--parsable", "-o", "%u.%8j.%N.%n", "--wrap", "echo x").strip()
        self.assertEqual(self.output_of(job, f"{self.user_name()}.{int(job):08d}.node1.0"), "x\n")

    def user_name(self):
        return subprocess.run(["id", "-un"], text=True, stdout=subprocess.PIPE, check=True).stdout.strip()

    def test_scancel_ends_signals_and_selects(self):
        sleeper = "exec sleep 600"
        jobs = [self.said("sbatch", "--parsable", "-J", name, "--wrap", sleeper).strip() for name in ("a", "b", "c")]
        done = self.run_in("scancel", "-v", jobs[0])
        self.assertEqual((done.returncode, done.stderr), (0, f"scancel: Terminating job {jobs[0]}\n"))
        self.assertEqual(self.ended(jobs[0])["state"], "CANCELLED")
        self.assertEqual(self.said("scancel", jobs[0], 999999), "", "ended and unknown jobs are no error")
        self.assertEqual(self.said("scancel", "--name", "b"), "")
        self.assertEqual(self.ended(jobs[1])["state"], "CANCELLED")
        self.assertEqual(self.said("scancel", "--me", "-t", "PENDING"), "")
        self.assertEqual(self.said("scancel", "--me"), "")
        self.assertEqual(self.ended(jobs[2])["state"], "CANCELLED")
        self.assertEqual(self.refused("scancel"), "scancel: error: No job identification provided\n")
        self.assertEqual(self.refused("scancel", "abc"), "scancel: error: Invalid job id abc\n")
        self.assertNotEqual(self.run_in("scancel", "-s", "USR1", jobs[0]).returncode, 0)

    def test_a_signal_goes_to_the_script_with_batch(self):
        job = self.said("sbatch", "--parsable", "--wrap",
                        "trap 'echo got it; exit 0' USR2; touch ready; while :; do sleep 0.1; done").strip()
        wait_until(lambda: os.path.exists(os.path.join(self.cluster.work, "ready")), "the script runs")
        self.said("scancel", job, "--signal", "USR2", "-b")
        self.assertIn("got it\n", self.output_of(job))

    def test_srun_outside_of_a_job_makes_one(self):
        self.assertEqual(self.said("srun", "-n2", "sh", "-c", "echo $SLURM_NTASKS"), "2\n2\n")
        self.assertEqual(self.run_in("srun", "sh", "-c", "exit 7").returncode, 7)
        self.assertEqual(self.run_in("srun", "sh", "-c", "kill -TERM $$").returncode, 128 + 15)
        self.assertEqual(self.said("srun", "sh", "-s", input="echo read\n"), "read\n")
        done = self.run_in("srun", "no_such_command")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("No such file or directory", done.stderr)
        self.assertEqual(self.refused("srun"), "srun: fatal: No command given to execute.\n")

    def test_srun_in_a_job_starts_steps(self):
        self.file("job.sh", """#!/bin/sh
#SBATCH -N2 --ntasks-per-node=2 -c1
srun -N1 -n1 -w node2 --mpi=none --cpu-bind=q sh -c 'echo one $SLURMD_NODENAME $SLURM_NODEID'
srun -n2 --ntasks-per-node=1 --kill-on-bad-exit=1 -i none -o step.%t --mem=0 sh -c 'echo $SLURM_PROCID'
cat step.0 step.1
srun --overlap -N2 --ntasks-per-node=1 --exclude=node1 -N1 sh -c 'echo without $SLURMD_NODENAME'
srun -n1 sh -c 'exit 5' 2>/dev/null; echo code $?
unset SLURM_JOB_ID SLURM_JOBID
srun -n1 sh -c 'echo another $SLURM_JOB_ID'
""")
        job = self.said("sbatch", "--parsable", "job.sh").strip()
        text = self.output_of(job)
        self.assertIn("one node2 0\n0\n1\nwithout node2\ncode 5\n", text)
        other = re.search(r"another (\d+)", text)
        self.assertTrue(other and other[1] != job, text)

    def test_salloc_says_what_it_holds_and_srun_uses_it(self):
        done = self.run_in("salloc", "-N2", "srun", "-N2", "sh", "-c", "echo $SLURM_JOB_NAME")
        self.assertEqual((done.returncode, done.stdout), (0, "srun\nsrun\n"), done.stderr)
        job = re.search(r"Granted job allocation (\d+)", done.stderr)[1]
        self.assertEqual([line for line in done.stderr.splitlines() if "Pending" not in line and "queued" not in line], [
            f"salloc: Granted job allocation {job}", "salloc: Nodes node[1-2] are ready for job",
            f"salloc: Relinquishing job allocation {job}"])
        done = self.run_in("salloc", "sh", "-c", "exit 4")
        self.assertEqual(done.returncode, 4, done.stderr)

    def test_an_allocation_without_a_shell_is_joined_by_its_number(self):
        done = self.run_in("salloc", "--no-shell", "-n1")
        job = re.search(r"Granted job allocation (\d+)", done.stderr)[1]
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertEqual(self.said("srun", f"--jobid={job}", "--overlap", "sh", "-c", "echo $SLURM_JOB_ID"), f"{job}\n")
        self.said("scancel", job)
        self.assertEqual(self.ended(job)["state"], "CANCELLED")
