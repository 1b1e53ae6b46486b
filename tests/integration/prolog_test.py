"""The site's prologs and epilogs, end to end: what drains a node, what its jobs become, what a script is given."""

import json
import os
import signal
import unittest

from cluster import ClusterTest, wait_until


class PrologTest(ClusterTest):
    """Two nodes, each with a configuration of its own."""

    nodes = 2
    own = True

    def setUp(self):
        super().setUp()
        self.configs = []
        for agent in self.cluster.agents:
            name = agent.arguments[agent.arguments.index("--name") + 1]
            path = os.path.join(self.cluster.root, f"{name}.toml")
            with open(path, "w", encoding="utf-8"):
                pass
            agent.stop()
            agent.arguments += ["--config", path]
            agent.start()
            self.configs.append(path)

    def script(self, name, body, mode=0o755):
        path = os.path.join(self.cluster.root, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + body + "\n")
        os.chmod(path, mode)
        return path

    def configure(self, node, text):
        """Gives the node a configuration; it is in force when this returns."""
        agent = self.cluster.agents[node]
        agent.stop()
        with open(self.configs[node], "w", encoding="utf-8") as file:
            file.write(text)
        agent.start()

    def node(self, name):
        nodes = json.loads(self.cluster.must("nodes", "--json"))["nodes"]
        return next(node for node in nodes if node["name"] == name)

    def wait_drained(self, name, reason):
        def drained():
            node = self.node(name)
            return node["state"].endswith("+DRAIN") and reason in node["reason"]
        wait_until(drained, lambda: self.node(name))

    def test_a_failed_prolog_drains_its_node_and_the_job_runs_on_another(self):
        failing = self.script("prolog", "echo looks; echo no scratch disk >&2; exit 3")
        self.configure(0, f'weight = 1\n[prolog]\nprogram = "{failing}"\n')
        self.configure(1, "weight = 2\n")
        job = self.cluster.submit("--wrap", "exit 0")
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "COMPLETED")
        self.wait_drained("node1", f"prolog {failing}: exit code 3: looks | no scratch disk")
        self.assertEqual([attempt["nodes"] for attempt in self.cluster.attempts(job)], ["node1", "node2"])
        self.assertIn("prolog failed", self.cluster.must("show", str(job)))
        self.cluster.must("resume", "node1")
        self.assertEqual(self.node("node1")["state"], "IDLE")

    def test_an_epilog_has_the_last_word_and_the_node_is_the_jobs_until_then(self):
        gate = os.path.join(self.cluster.root, "gate")
        begun = os.path.join(self.cluster.root, "begun")
        epilog = self.script("epilog", f"touch {begun}; while [ ! -e {gate} ]; do sleep 0.05; done; exit 1")
        self.configure(0, f'weight = 1\n[epilog]\nprogram = "{epilog}"\n')
        job = self.cluster.submit("-w", "node1", "--wrap", "exit 0")
        wait_until(lambda: os.path.exists(begun), "the epilog does not begin")
        self.assertEqual(self.cluster.queue()[job]["state"], "RUNNING")
        with open(gate, "w", encoding="utf-8"):
            pass
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "COMPLETED")
        self.wait_drained("node1", f"epilog {epilog}: exit code 1")

    def test_scripts_are_read_again_without_a_restart(self):
        notes = os.path.join(self.cluster.root, "notes")
        prolog = self.script("prolog", f'echo "$MUSTER_JOB_ID $MUSTER_JOB_USER $(id -un)" >>{notes}')
        with open(self.configs[0], "w", encoding="utf-8") as file:
            file.write(f'[prolog]\nprogram = "{prolog}"\n')
        agent = self.cluster.agents[0]
        os.kill(agent.process.pid, 1)

        def told():
            with open(agent.log, encoding="utf-8") as file:
                return "features, weight and scripts" in file.read()
        wait_until(told, "the agent does not read its configuration again")
        job = self.cluster.submit("-w", "node1", "--wrap", "true")
        self.cluster.wait_ended(job)
        user = self.cluster.must("show", str(job), "--json")
        with open(notes, encoding="utf-8") as file:
            (line,) = file.read().splitlines()
        self.assertEqual(line.split()[0], str(job))
        self.assertIn(line.split()[1], user)

    def test_an_agent_that_dies_in_a_prolog_leaves_it_running(self):
        gate = os.path.join(self.cluster.root, "gate")
        prolog = self.script("prolog", f"while [ ! -e {gate} ]; do sleep 0.05; done")
        self.configure(0, f'[prolog]\nprogram = "{prolog}"\n')
        job = self.cluster.submit("-w", "node1", "--wrap", "exit 0")
        wait_until(lambda: self.cluster.supervisors(), "the job is not launched")
        self.cluster.agents[0].kill()
        self.cluster.controller.kill()
        self.cluster.controller.start()
        self.cluster.agents[0].start()
        with open(gate, "w", encoding="utf-8"):
            pass
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "COMPLETED")
        self.assertEqual(len(self.cluster.attempts(job)), 1)

    def test_a_prolog_that_is_not_there_or_hangs_drains_its_node_and_the_job_runs_on_another(self):
        self.configure(1, "weight = 2\n")
        hanging = self.script("hanging", "sleep 1000")
        for program, reason in (("/no/such/prolog", "prolog /no/such/prolog: No such file"),
                                (hanging, f"prolog {hanging}: took longer than 1 s")):
            with self.subTest(program=program):
                self.configure(0, f'weight = 1\n[prolog]\nprogram = "{program}"\ntime_limit = "1s"\n')
                job = self.cluster.submit("--wrap", "exit 0")
                (row,) = self.cluster.wait_ended(job)
                self.assertEqual(row["state"], "COMPLETED")
                self.wait_drained("node1", reason)
                self.assertEqual([attempt["nodes"] for attempt in self.cluster.attempts(job)], ["node1", "node2"])
                self.cluster.must("resume", "node1")

    def lose_supervisor(self, epilog):
        """A job on node1 whose supervisor is killed, with that epilog; its id."""
        self.configure(0, f'weight = 1\n[epilog]\nprogram = "{epilog}"\n')
        job = self.cluster.submit("-w", "node1", "--wrap", "sleep 1000")
        self.cluster.wait_state(job, "RUNNING")
        (supervisor,) = wait_until(self.cluster.supervisors, "the job is not launched")
        os.kill(supervisor, signal.SIGKILL)
        return job

    def test_the_epilog_of_a_killed_supervisors_job_runs_once(self):
        notes = os.path.join(self.cluster.root, "notes")
        epilog = self.script("epilog", f'echo "$MUSTER_SCRIPT $MUSTER_JOB_ID $(id -u)" >>{notes}; sleep 1000 &')
        job = self.lose_supervisor(epilog)
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "FAILED")
        self.assertIn("its supervisor died", self.cluster.must("show", str(job)))
        with open(notes, encoding="utf-8") as file:
            self.assertEqual(file.read(), f"epilog {job} {os.getuid()}\n")
        self.assertEqual(self.node("node1")["state"], "IDLE")

    def test_an_agent_that_dies_meanwhile_lets_the_epilog_end_and_runs_no_other(self):
        gate = os.path.join(self.cluster.root, "gate")
        notes = os.path.join(self.cluster.root, "notes")
        epilog = self.script("epilog", f"echo begun >>{notes}; while [ ! -e {gate} ]; do sleep 0.05; done; exit 1")
        job = self.lose_supervisor(epilog)
        wait_until(lambda: os.path.exists(notes), "the epilog does not begin")
        self.cluster.agents[0].kill()
        self.cluster.agents[0].start()
        self.assertEqual(self.cluster.queue()[job]["state"], "RUNNING")
        with open(gate, "w", encoding="utf-8"):
            pass
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "FAILED")
        self.wait_drained("node1", f"epilog {epilog}: exit code 1")
        with open(notes, encoding="utf-8") as file:
            self.assertEqual(file.read(), "begun\n")

    def test_both_killed_at_once_the_next_agent_has_the_epilog_run(self):
        notes = os.path.join(self.cluster.root, "notes")
        epilog = self.script("epilog", f"echo once >>{notes}")
        self.configure(0, f'weight = 1\n[epilog]\nprogram = "{epilog}"\n')
        job = self.cluster.submit("-w", "node1", "--wrap", "sleep 1000")
        self.cluster.wait_state(job, "RUNNING")
        (supervisor,) = wait_until(self.cluster.supervisors, "the job is not launched")
        self.cluster.agents[0].kill()
        os.kill(supervisor, signal.SIGKILL)
        self.cluster.agents[0].start()
        self.cluster.wait_ended(job)
        with open(notes, encoding="utf-8") as file:
            self.assertEqual(file.read(), "once\n")

    def test_an_epilog_that_was_cut_off_is_not_begun_again_and_drains_the_node(self):
        notes = os.path.join(self.cluster.root, "notes")
        epilog = self.script("epilog", f"echo begun >>{notes}; sleep 1000")
        self.configure(0, f'[epilog]\nprogram = "{epilog}"\n')
        job = self.cluster.submit("-w", "node1", "--wrap", "exit 0")
        wait_until(lambda: os.path.exists(notes), "the epilog does not begin")
        (supervisor,) = self.cluster.supervisors()
        os.kill(supervisor, signal.SIGKILL)
        self.cluster.wait_ended(job)
        self.wait_drained("node1", f"epilog {epilog}: perhaps not run to its end")
        with open(notes, encoding="utf-8") as file:
            self.assertEqual(file.read(), "begun\n")

    def test_an_epilog_that_hangs_after_a_killed_supervisor_is_ended(self):
        epilog = self.script("epilog", "sleep 1000")
        self.configure(0, f'[epilog]\nprogram = "{epilog}"\ntime_limit = "1s"\n')
        job = self.cluster.submit("-w", "node1", "--wrap", "sleep 1000")
        self.cluster.wait_state(job, "RUNNING")
        (supervisor,) = wait_until(self.cluster.supervisors, "the job is not launched")
        os.kill(supervisor, signal.SIGKILL)
        self.cluster.wait_ended(job)
        self.wait_drained("node1", f"epilog {epilog}: took longer than 1 s")

    def test_a_job_that_says_requeue_runs_again_when_its_supervisor_is_killed(self):
        once = os.path.join(self.cluster.root, "once")
        job = self.cluster.submit("--requeue", "--wrap", f"[ -e {once} ] && exit 0; touch {once}; sleep 1000")
        wait_until(lambda: os.path.exists(once), "the job does not begin")
        (supervisor,) = self.cluster.supervisors()
        os.kill(supervisor, signal.SIGKILL)
        (row,) = self.cluster.wait_ended(job)
        self.assertEqual(row["state"], "COMPLETED")
        self.assertEqual(len(self.cluster.attempts(job)), 2)

    def test_a_mistake_in_the_configuration_is_one_line(self):
        for text, mistake in (('[prolog]\nas = "root"\n', "which program?"),
                              ('[prolog]\nprogram = "prolog"\n', "absolute path"),
                              ('[epilog]\nprogram = "/bin/true"\nas = "wheel"\n', "expected"),
                              ('[prolog]\nprogram = "/bin/true"\ntime = "5s"\n', "time")):
            agent = self.cluster.agents[0]
            agent.stop()
            with open(self.configs[0], "w", encoding="utf-8") as file:
                file.write(text)
            with self.assertRaises(AssertionError) as refused:
                agent.start()
            self.assertIn(mistake, str(refused.exception))
        with open(self.configs[0], "w", encoding="utf-8") as file:
            file.write("")
        agent.start()


if __name__ == "__main__":
    unittest.main()
