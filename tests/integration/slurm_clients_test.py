"""Programs written for Slurm, unmodified, against our commands: MPI launchers, a workflow engine, tools of operators.

Those that are not installed are skipped, loudly.
"""

import os
import pwd
import re
import shutil
import subprocess
import unittest

from cluster import OPEN_MPI_AS_ROOT, PATIENCE, Cluster, ClusterTest, wait_until

ALL = sorted(os.sched_getaffinity(0))
# Each node has CPUs of its own. Hydra hands its own environment on, so that variables say nothing of the node.
SAY = """#!/bin/sh
cpus=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
echo "rank ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} of ${OMPI_COMM_WORLD_SIZE:-$PMI_SIZE} on cpus $cpus"
"""
SNAKEFILE = """
rule all:
    input: "sum.txt"
rule part:
    output: "part.{n}.txt"
    resources: mem_mb=50, runtime=5
    shell: "echo $SLURM_JOB_ID >job.{wildcards.n}; echo {wildcards.n} >{output}"
rule total:
    input: expand("part.{n}.txt", n=[1, 2, 3])
    output: "sum.txt"
    resources: mem_mb=50, runtime=5
    shell: "cat {input} | tr -d '\\n' >{output}"
rule broken:
    output: "never.txt"
    resources: mem_mb=50, runtime=5
    shell: "exit 3"
"""


class Clients(ClusterTest):
    """A cluster of two nodes, and our commands under Slurm's names."""
    nodes = 2

    @classmethod
    def make(cls):
        cluster = Cluster(nodes=cls.nodes)
        cluster.environment.update(OPEN_MPI_AS_ROOT)
        return cluster.start()

    def setUp(self):
        super().setUp()
        for needed in self.needed:
            if not shutil.which(needed):
                self.skipTest(f"THERE IS NO {needed}: it is not tested as a client of Slurm")
        if len(ALL) < self.nodes:
            self.skipTest(f"ONLY {len(ALL)} CPUS: {self.nodes} nodes need one each")
        self.names = os.path.join(self.cluster.root, "names")
        self.cluster.must("slurm", "install", self.names)
        self.environment = {
            **self.cluster.environment, "MUSTER_CONTROLLER": self.cluster.address,
            "PATH": self.names + ":" + os.environ["PATH"], "HOME": self.cluster.work, "USER": pwd.getpwuid(os.geteuid()).pw_name}

    def run_in(self, *words, patience=PATIENCE, **more):
        return subprocess.run(
            [str(word) for word in words], cwd=self.cluster.work, text=True, errors="replace", stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=patience, check=False,
            env={**self.environment, **more})

    def file(self, name, text):
        path = os.path.join(self.cluster.work, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)
        return path

    def batch(self, body, *options):
        """What a script said, which has to succeed."""
        job = self.file("batch.sh", "#!/bin/sh\n" + body)
        said = self.run_in("sbatch", "--parsable", "-o", "said.%j", *options, job)
        self.assertEqual((said.returncode, said.stderr), (0, ""))
        number = int(said.stdout)
        (row,) = self.cluster.wait_ended(number)
        text = self.read(f"said.{number}")
        self.assertEqual((row["state"], row["exit_code"]), ("COMPLETED", 0), text + self.cluster.logs())
        return text


class LaunchersTest(Clients):
    """Launchers that find themselves in a Slurm job start their daemons by srun."""
    needed = ("mpirun.openmpi", "mpiexec.mpich")

    def expect_a_rank_on_each_node(self, body):
        self.file("say.sh", SAY)
        text = self.batch(body, "-N", 2, "-n", 2)
        ranks = dict(re.findall(r"^rank (\d+) of 2 on cpus (\S+)$", text, re.M))
        self.assertEqual(sorted(ranks), ["0", "1"], text)
        self.assertNotEqual(ranks["0"], ranks["1"], text)

    def test_mpirun_of_open_mpi_starts_its_daemons_by_srun_on_two_nodes(self):
        self.expect_a_rank_on_each_node(
            "unset OMPI_MCA_orte_default_hostfile OMPI_MCA_plm_rsh_agent\n"
            "export OMPI_MCA_plm=slurm OMPI_MCA_ras=slurm OMPI_MCA_rtc_hwloc_vmhole=none\n"
            "mpirun.openmpi --map-by node --bind-to none ./say.sh\n")

    def test_mpiexec_of_mpich_starts_its_proxies_by_srun_on_two_nodes(self):
        self.expect_a_rank_on_each_node(
            "unset HYDRA_LAUNCHER HYDRA_LAUNCHER_EXEC HYDRA_LAUNCHER_AUTOFORK HYDRA_HOST_FILE HYDRA_RMK HYDRA_ENV\n"
            "mpiexec.mpich -rmk slurm -launcher slurm -n 2 ./say.sh\n")


class SnakemakeTest(Clients):
    needed = ("snakemake",)

    def snakemake(self, *targets):
        self.file("Snakefile", SNAKEFILE)
        return self.run_in("snakemake", "--slurm", "--jobs", 3, "--default-resources", "slurm_partition=main",
                           "--nolock", *targets, patience=max(PATIENCE, 300))

    def test_a_workflow_runs_by_its_jobs(self):
        done = self.snakemake()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.read("sum.txt"), "123")
        jobs = {self.read(f"job.{part}") for part in (1, 2, 3)}
        self.assertEqual(len(jobs), 3, "each rule is a job of its own")

    def test_a_rule_that_fails_fails_the_workflow(self):
        done = self.snakemake("never.txt")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("FAILED", {row["state"] for row in self.cluster.history().values()}, done.stderr)


class ClusterShellTest(Clients):
    needed = ("nodeset",)

    def test_groups_of_nodes_come_from_sinfo_and_squeue(self):
        configuration = self.file("groups.conf", """[Main]
default: slurmpart
confdir: /usr/share/doc/clustershell/examples/none
[slurmpart]
map: sinfo -h -o "%N" -p $GROUP
all: sinfo -h -o "%N"
list: sinfo -h -o "%R"
reverse: sinfo -h -N -o "%R" -n $NODE
[slurmstate]
map: sinfo -h -o "%N" -t $GROUP
list: sinfo -h -o "%T" | tr -d '*~#$@+'
[slurmjob]
map: squeue -h -j $GROUP -o "%N"
list: squeue -h -o "%i" -t R
""")
        folder = os.path.dirname(configuration)
        os.makedirs(os.path.join(folder, ".config", "clustershell"), exist_ok=True)
        shutil.copy(configuration, os.path.join(folder, ".config", "clustershell", "groups.conf"))

        def nodeset(*words):
            done = self.run_in("nodeset", *words)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)
            return done.stdout.split()

        self.assertEqual(nodeset("-f", "-s", "slurmpart", "-a"), ["node[1-2]"])
        self.assertEqual(nodeset("-s", "slurmpart", "-l"), ["@slurmpart:main"])
        self.assertEqual(nodeset("-f", "@slurmstate:idle"), ["node[1-2]"])
        job = self.cluster.submit("-N", 1, "--wrap", "sleep 100")
        self.cluster.wait_state(job, "RUNNING")
        self.assertRegex(nodeset("-f", f"@slurmjob:{job}")[0], r"^node[12]$")
        self.cluster.must("cancel", job)
        self.cluster.wait_ended(job)


class BatchtoolsTest(Clients):
    """R's batchtools, with the registry and the cluster functions that it brings along."""
    needed = ("Rscript",)
    TEMPLATE = """#!/bin/bash
#SBATCH --job-name=<%= job.name %>
#SBATCH --output=<%= log.file %>
#SBATCH --error=<%= log.file %>
#SBATCH --time=<%= ceiling(resources$walltime / 60) %>
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=<%= resources$ncpus %>
#SBATCH --mem-per-cpu=<%= resources$memory %>
<%= if (array.jobs) sprintf("#SBATCH --array=1-%i", nrow(jobs)) else "" %>
Rscript -e 'batchtools::doJobCollection("<%= uri %>")'
"""
    REGISTRY = """library(batchtools)
reg <- makeRegistry(file.dir = "registry", make.default = TRUE)
reg$cluster.functions <- makeClusterFunctionsSlurm("slurm.tmpl")
asked <- list(walltime = 300, ncpus = 1, memory = 200)
"""

    def setUp(self):
        super().setUp()
        if self.run_in("Rscript", "-e", "library(batchtools)").returncode != 0:
            self.skipTest("THERE IS NO r-cran-batchtools: it is not tested as a client of Slurm")
        self.file("slurm.tmpl", self.TEMPLATE)
        shutil.rmtree(os.path.join(self.cluster.work, "registry"), ignore_errors=True)

    def rscript(self, body):
        done = self.run_in("Rscript", self.file("run.R", self.REGISTRY + body), patience=max(PATIENCE, 300))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_an_array_of_jobs_runs_and_is_reduced_and_one_that_fails_is_found(self):
        said = self.rscript("""ids <- batchMap(function(x) if (x == 3) stop("three") else x * x, 1:4)
ids$chunk <- 1
submitJobs(ids, resources = c(asked, list(chunks.as.arrayjobs = TRUE)))
cat("well", waitForJobs(timeout = 200), "\\n")
cat("failed", findErrors()$job.id, "\\n")
cat("sum", sum(unlist(reduceResultsList(findDone()))), "\\n")
""")
        self.assertRegex(said, r"(?m)^well FALSE *$")
        self.assertRegex(said, r"(?m)^failed 3 *$")
        self.assertRegex(said, r"(?m)^sum 21 *$")

    def test_a_job_that_is_killed_is_no_longer_on_the_system(self):
        said = self.rscript("""batchMap(function(x) Sys.sleep(600), 1)
submitJobs(resources = asked)
cat("there", nrow(findOnSystem()), "\\n")
killJobs()
for (i in 1:50) if (nrow(findOnSystem()) > 0) Sys.sleep(1)
cat("left", nrow(findOnSystem()), "\\n")
""")
        self.assertRegex(said, r"(?m)^there 1 *$")
        self.assertRegex(said, r"(?m)^left 0 *$")


class BatchspawnerTest(Clients):
    """What JupyterHub's batchspawner gives to Slurm, word for word, and what it looks for in the answers."""
    needed = ()
    SCRIPT = """#!/bin/bash
#SBATCH --output={home}/jupyterhub_slurmspawner_%j.log
#SBATCH --job-name=spawner-jupyterhub
#SBATCH --chdir={home}
#SBATCH --export=PATH,HOME,JUPYTERHUB_API_TOKEN
#SBATCH --get-user-env=L
#SBATCH --time=8:00:00
#SBATCH --mem=64M
#SBATCH --cpus-per-task=1

set -euo pipefail

trap 'echo SIGTERM received' TERM

which sleep
srun sh -c 'echo token $JUPYTERHUB_API_TOKEN; exec sleep 1000'
echo "jupyterhub-singleuser ended gracefully"
"""

    def state_of(self, job):
        done = self.run_in("squeue", "-h", "-j", job, "-o", "%T %B")
        return done.stdout.strip() if done.returncode == 0 else ""

    def test_a_server_is_started_found_and_stopped(self):
        done = subprocess.run(["sbatch", "--parsable"], input=self.SCRIPT.format(home=self.cluster.work), text=True,
                              cwd=self.cluster.work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              timeout=PATIENCE, env={**self.environment, "JUPYTERHUB_API_TOKEN": "tok-1"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        job = done.stdout.split(";")[0].strip()
        self.assertRegex(job, r"^\d+$")
        log = f"jupyterhub_slurmspawner_{job}.log"
        wait_until(lambda: "token tok-1" in self.read(log), lambda: f"it does not begin: {self.state_of(job)}")
        self.assertRegex(self.state_of(job), r"^(?:RUNNING|COMPLETING)\s+((?:[\w_-]+\.?)+)$")
        self.assertEqual(self.run_in("scancel", job).returncode, 0)
        wait_until(lambda: not re.match(r"^(?:PENDING|CONFIGURING|RUNNING|COMPLETING)", self.state_of(job)),
                   "it is not stopped")
        self.assertIn("SIGTERM received", self.read(log))


if __name__ == "__main__":
    unittest.main()
