"""muster run: its output, its exit code, MPI, steps inside a job, and a controller that dies meanwhile."""

import json
import os
import subprocess
import unittest

from cluster import BIN, KERNELS, ClusterTest, wait_until

CORES = len(os.sched_getaffinity(0))
# Open MPI keeps memory until the process ends; a leak of its own is not what these tests look for.
HEAT = ["env", "LSAN_OPTIONS=detect_leaks=0", os.path.join(KERNELS, "heat2d"), "--n", "200", "--steps", "50", "--json"]


@unittest.skipIf(CORES < 2, "THIS MACHINE HAS ONE CORE: two nodes cannot be made of it")
class TwoNodesTest(ClusterTest):
    """One core on each of two nodes, or more."""

    nodes = 2

    def test_steps_in_an_allocation_run_on_its_nodes_and_its_job_ends_with_the_commands_code(self):
        done = self.cluster.muster(
            "alloc", "-N", 2, "-n", 2, "sh", "-c",
            f"echo here ${{MUSTER_NODE_NAME:-nowhere}} in $SLURM_JOB_ID on $SLURM_JOB_NODELIST; "
            f"{BIN}/muster run --label sh -c 'echo $MUSTER_NODE_NAME'; exit 7")
        self.assertEqual(done.returncode, 7, done.stderr)
        job = self.cluster.newest()
        first, *lines = done.stdout.splitlines()
        self.assertEqual(first, f"here nowhere in {job} on node[1-2]")
        self.assertEqual([line.split()[0] for line in sorted(lines)], ["0:", "1:"])
        self.assertEqual(sorted(line.split()[1] for line in lines), ["node1", "node2"])
        self.assertIn(f"job {job} is allocated: node[1-2]", done.stderr)
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["exit_code"], 7)

    def test_each_rank_runs_on_its_node_and_its_lines_are_labelled(self):
        done = self.cluster.muster("run", "-N", 2, "-n", 2, "--label", "sh", "-c",
                                   "echo on $MUSTER_NODE_NAME rank $RANK of $WORLD_SIZE")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = sorted(done.stdout.splitlines())
        self.assertEqual(len(lines), 2)
        for rank, line in enumerate(lines):
            self.assertRegex(line, rf"^{rank}: on node[12] rank {rank} of 2$")
        self.assertEqual(len({line.split()[2] for line in lines}), 2, "both ranks on one node")

    def test_the_phases_that_ranks_mark_become_one_timeline(self):
        where = os.path.join(self.cluster.work, "phases")
        done = self.cluster.muster("run", "-N", 2, "-n", 2, os.path.join(BIN, "..", "tests", "marked_phases"),
                                   where + ".%r.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        joined = self.cluster.must("kernel", "timeline", where + ".json", where + ".0.json", where + ".1.json")
        first, *table = joined.splitlines()
        self.assertEqual(first, f"{where}.json: 26 events of 2 ranks")
        self.assertEqual([line.split()[0] for line in table], ["RANK", "0", "1"])
        for line in table[1:]:
            self.assertRegex(line, r"^ +\d +\S+ s( +-){5}  .*compute \d+ %")
        with open(where + ".json", encoding="utf-8") as file:
            events = json.load(file)
        for rank in (0, 1):
            own = [event for event in events if event["pid"] == rank]
            self.assertRegex(own[0]["args"]["name"], rf"^rank {rank} on ")
            phases = [event for event in own if event["ph"] == "X"]
            self.assertEqual(sorted(event["name"] for event in phases),
                             ["compute"] * 3 + ["prepare"] * 3 + ["step 0", "step 1", "step 2"] + ["wait"] * 3)
            self.assertEqual(len({event["tid"] for event in phases if event["name"] != "prepare"}), 1)
            self.assertFalse({event["tid"] for event in phases if event["name"] == "prepare"} &
                             {event["tid"] for event in phases if event["name"] == "compute"})

    def test_the_exit_code_is_the_highest_of_all_ranks(self):
        for codes, expected in (("0 4", 4), ("7 3", 7), ("0 0", 0)):
            with self.subTest(codes=codes):
                done = self.cluster.muster("run", "-n", 2, "sh", "-c",
                                           f'set -- {codes}; shift $RANK; exit $1')
                self.assertEqual(done.returncode, expected, done.stderr)

    def test_each_rank_has_a_file_and_the_ranks_that_were_named_have_the_input(self):
        text = "".join(f"line {i}\n" for i in range(100000))  # more than any pipe holds
        for takers, having in (("all", (0, 1)), ("1", (1,)), ("none", ()), ("0", (0,))):
            with self.subTest(takers=takers):
                self.cluster.must("run", "-N", 2, "-n", 2, "-i", takers, "-o", "%x-%s-%t.out", "-J", f"to{takers}",
                                  "cat", input=text)
                for rank in (0, 1):
                    path = f"to{takers}-1-{rank}.out"
                    there = os.path.exists(os.path.join(self.cluster.work, path))
                    self.assertEqual(self.read(path) if there else "", text if rank in having else "")

    def test_each_rank_runs_the_program_that_its_line_names(self):
        with open(os.path.join(self.cluster.work, "programs"), "w", encoding="utf-8") as file:
            file.write("0 echo \"it's\" rank %t\n1 sh -c 'echo other $RANK %o %%'\n")
        done = self.cluster.muster("run", "--label", "--multi-prog", "programs")
        self.assertEqual(sorted(done.stdout.splitlines()), ["0: it's rank 0", "1: other 1 0 %"], done.stderr)
        done = self.cluster.muster("run", "-n", 1, "--multi-prog", "programs")
        self.assertEqual(done.returncode, 2)
        self.assert_one_line(done.stderr)
        self.assertIn("programs:2: rank 1 is not there", done.stderr)

    def test_the_first_bad_exit_ends_the_ranks_of_every_node_when_asked_to(self):
        done = self.cluster.muster("run", "-K", "-N", 2, "-n", 2, "sh", "-c",
                                   "[ $RANK = 0 ] && exec sleep 1000; exit 5")
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertRegex(done.stderr, r"^muster: rank 1 on node[12]: exit code 5; the others are ended\n$")

    def test_both_ranks_are_bound_to_cores_of_their_own(self):
        done = self.cluster.muster("run", "-n", 2, "grep", "Cpus_allowed_list",
                                   "/proc/self/status")
        self.assertEqual(len(set(done.stdout.splitlines())), 2, done.stdout + done.stderr)
        job = self.cluster.newest()
        (attempt,) = self.cluster.attempts(job)
        self.assertRegex(attempt["binding"], r"^verified 2(/2)?$")
        shown = json.loads(self.cluster.must("show", job, "--json"))["jobs"][0]
        self.assertEqual(shown["binding"], "verified 2/2")


class OneNodeTest(ClusterTest):
    """The whole machine as one node."""

    def setUp(self):
        super().setUp()
        self.maxDiff = None

    def heat(self, ranks, *before):
        done = self.cluster.muster("run", "-N", 1, "-n", ranks, *before, *HEAT)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    @unittest.skipIf(CORES < 2, "THIS MACHINE HAS ONE CORE: no MPI job of two ranks fits on it")
    def test_an_mpi_program_has_its_two_ranks_and_finds_the_serial_solution(self):
        alone = json.loads(subprocess.run(HEAT, stdout=subprocess.PIPE, check=True, timeout=60,
                                          env=self.cluster.environment).stdout)
        self.assertEqual(alone["ranks"], 1)
        two = self.heat(2)
        self.assertEqual(two["ranks"], 2)
        self.assertEqual(two["residual_text"], alone["residual_text"])
        self.assertEqual(len({place["cpus"] for place in two["map"]}), 2)
        self.assertEqual(self.heat(1)["residual_text"], alone["residual_text"])

    @unittest.skipIf(CORES < 2, "THIS MACHINE HAS ONE CORE: no MPI job of two ranks fits on it")
    def test_a_step_inside_a_batch_script_starts_the_ranks(self):
        script = os.path.join(self.cluster.work, "step.sh")
        with open(script, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n"
                       f"{BIN}/muster run {' '.join(HEAT)} >heat.json || exit 20\n"
                       f"{BIN}/muster run -n 1 sh -c 'exit 9'\n"
                       "[ $? = 9 ] || exit 21\n"
                       "exit 11\n")
        job = self.cluster.submit("-n", 2, script)
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["exit_code"], 11, self.read(f"muster-{job}.out"))
        self.assertEqual(json.loads(self.read("heat.json"))["ranks"], 2)

    def test_an_allocation_ends_with_its_client_and_its_client_with_it(self):
        begun = os.path.join(self.cluster.work, "held")
        hold = f"echo $MUSTER_JOB_ID >{begun}.new; mv {begun}.new {begun}; exec cat"
        for end, code in (("kill", -9), ("cancel", 128 + 1)):
            with self.subTest(end=end):
                alloc = self.cluster.begin("alloc", "sh", "-c", hold, stdin=subprocess.PIPE)
                wait_until(lambda: os.path.exists(begun), "the allocation did not begin")
                job = int(self.read("held"))
                os.remove(begun)
                if end == "kill":
                    alloc.kill()
                else:
                    self.cluster.must("cancel", job)
                self.assertEqual(alloc.wait(60), code)
                self.cluster.wait_ended(job)
                _, err = alloc.communicate()  # the end of its input ends what a killed one leaves
                if end == "cancel":
                    self.assertIn(f"job {job} ended: CANCELLED", err)

    def test_standard_input_reaches_the_program_whole(self):
        text = "".join(f"line {i}\n" for i in range(20000))
        done = self.cluster.muster("run", "cat", input=text)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, text)

    def test_a_rank_killed_by_a_signal_is_128_and_the_signal(self):
        done = self.cluster.muster("run", "sh", "-c", "kill -KILL $$")
        self.assertEqual(done.returncode, 128 + 9, done.stderr)

    def test_a_program_that_is_not_there_is_refused_in_one_line(self):
        done = self.cluster.muster("run", "/no/such/program")
        self.assertEqual(done.returncode, 1)
        self.assert_one_line(done.stderr)

    def test_a_controller_killed_in_the_middle_changes_nothing_for_a_run(self):
        begun = os.path.join(self.cluster.work, "begun")
        run = self.cluster.begin(
            "run", "sh", "-c", f"echo before; touch {begun}; {self.cluster.gate()}; "
                               "echo after; exit 42")
        wait_until(lambda: os.path.exists(begun), "the run did not begin")
        self.cluster.controller.kill()
        self.cluster.controller.start()
        self.cluster.open_gate(lambda: run.poll() is not None)
        out, err = run.communicate()
        self.assertEqual((run.returncode, out), (42, "before\nafter\n"), err)

    def test_a_run_that_ends_while_the_controller_is_dead_still_ends_with_its_code(self):
        begun = os.path.join(self.cluster.work, "begun-2")
        run = self.cluster.begin("run", "sh", "-c", f"touch {begun}; sleep 2; exit 43")
        wait_until(lambda: os.path.exists(begun), "the run did not begin")
        self.cluster.controller.kill()
        try:
            wait_until(lambda: not self.cluster.supervisors(), "the supervisor is still there")
        finally:
            self.cluster.controller.start()
        _, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 43, err)


if __name__ == "__main__":
    unittest.main()
