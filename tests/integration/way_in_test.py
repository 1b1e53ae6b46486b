"""A way into a job: its output while it runs and afterwards, commands beside it, and what its ranks do."""

import calendar
import fcntl
import json
import os
import pty
import struct
import termios
import time
import unittest

from cluster import BIN, WIDE, ClusterTest, program, read_file, wait_until
from steps_test import read_some

MUSTER = f"{BIN}/muster"


class WayInTest(ClusterTest):
    """Two nodes of 64 cores to place on, whatever the machine has."""

    nodes = 2
    topology = WIDE

    def batch(self, body, *options):
        job = self.cluster.submit(*options, self.cluster.script(body))
        self.addCleanup(self.cluster.muster, "cancel", job)
        return job

    def running(self, body, *options):
        job = self.batch(body, *options)
        self.cluster.wait_state(job, "RUNNING")
        return job

    def gate(self):
        """Shell text that waits until open_gate(): each test has its own."""
        self.opened = os.path.join(self.cluster.work, self.id().rpartition(".")[2])
        return f"until [ -e {self.opened} ]; do sleep 0.05; done"

    def open_gate(self):
        with open(self.opened, "w", encoding="utf-8"):
            pass

    def refused(self, code, pattern, *arguments):
        with self.subTest(arguments=arguments):
            done = self.cluster.muster(*arguments)
            self.assertEqual(done.returncode, code, (done.stdout, done.stderr))
            self.assert_one_line(done.stderr)
            self.assertIn(pattern, done.stderr)

    # logs

    def test_output_is_followed_live_and_is_there_after_the_end(self):
        gate = self.gate()
        job = self.running(f"echo first; echo täglich; {gate}; echo last; finish 0", "-o", "live-%j.txt")
        follows = self.cluster.begin("logs", "-f", job)
        self.assertEqual(follows.stdout.readline(), "first\n")
        self.assertEqual(follows.stdout.readline(), "täglich\n")
        wait_until(lambda: self.cluster.must("logs", "--tail", 1, job) == "täglich", "not live")
        self.open_gate()
        self.cluster.wait_ended(job)
        out, err = follows.communicate(timeout=60)
        self.assertEqual((follows.returncode, out, err), (0, "last\n", ""))
        self.assertEqual(self.cluster.must("logs", job), "first\ntäglich\nlast")
        self.assertEqual(self.cluster.must("logs", "--head", 2, job), "first\ntäglich")
        self.assertEqual(self.cluster.must("logs", "last"), "first\ntäglich\nlast")
        self.assertEqual(self.cluster.must("logs", "-n", 0, job), "")
        document = json.loads(self.cluster.must("logs", "--json", job))
        self.assertEqual((document["data"], document["node"], document["state"], document["ended"]),
                         ("first\ntäglich\nlast\n", "node1", "COMPLETED", True))
        self.assertEqual(document["path"], os.path.join(self.cluster.work, f"live-{job}.txt"))
        os.rename(document["path"], document["path"] + ".gone")
        self.refused(1, f"live-{job}.txt: is not there: it was removed", "logs", job)

    def test_a_job_that_waits_is_waited_for_or_refused(self):
        job = self.batch("echo begun; finish 0", "--hold")
        self.refused(1, f"job {job}: is PENDING: ", "logs", job)
        follows = self.cluster.begin("logs", "--follow", job)
        time.sleep(0.5)
        self.assertIsNone(follows.poll())
        self.cluster.must("release", job)
        out, err = follows.communicate(timeout=60)
        self.assertEqual((follows.returncode, out, err), (0, "begun\n", ""))

    def test_more_than_a_piece_comes_whole_and_in_order(self):
        job = self.batch("i=0; while [ $i -lt 30000 ]; do echo \"line $i of many that are counted\"; i=$((i+1)); done; "
                         "finish 0")
        self.cluster.wait_ended(job)
        lines = self.cluster.must("logs", job).splitlines()
        self.assertEqual(len(lines), 30000)
        self.assertEqual(lines[29999], "line 29999 of many that are counted")
        self.assertEqual(self.cluster.must("logs", "--tail", 12000, job).splitlines(), lines[-12000:])

    def test_since_begins_at_a_line_that_says_when(self):
        job = self.batch("sleep 1.2; echo '2026-01-01 00:00:00,123 old'; echo more; date +'%Y-%m-%dT%H:%M:%S%:z new'; "
                         "echo end; finish 0")
        self.cluster.wait_ended(job)
        lines = self.cluster.must("logs", job).splitlines()
        # Younger than the job's start and older than the file's last change: the lines decide.
        document = json.loads(self.cluster.must("show", "--json", job))["jobs"][0]
        begun = document["attempts"][-1]["start_time"][:19]
        middle = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(
            calendar.timegm(time.strptime(begun, "%Y-%m-%dT%H:%M:%S")) + 1))
        self.assertEqual(self.cluster.must("logs", "--since", middle, job).splitlines(), lines[2:])
        self.assertEqual(self.cluster.must("logs", "--since", "2001-01-01", job).splitlines(), lines)

    def test_elements_errors_and_files_that_are_none(self):
        array = self.cluster.submit("-a", "0-1", "-e", "%A_%a.err", self.cluster.script(
            "echo element $MUSTER_ARRAY_TASK_ID; echo oops >&2; finish 0"))
        self.cluster.wait_ended(array, array + 1)
        self.assertEqual(self.cluster.must("logs", f"{array}_1"), "element 1")
        self.assertEqual(self.cluster.must("logs", "--error", f"{array}_1"), "oops")
        self.assertEqual(self.cluster.must("logs", "last_0"), "element 0")
        self.refused(1, f"job {array}: is an array; name an element, like {array}_0", "logs", array)
        nowhere = self.batch("finish 0", "-o", "/dev/null")
        self.cluster.wait_ended(nowhere)
        self.refused(1, f"job {nowhere}: its output goes to /dev/null", "logs", nowhere)
        one = self.batch("finish 0")
        self.cluster.wait_ended(one)
        self.refused(1, "its standard error goes where its output goes", "logs", "--error", one)
        for arguments, code in ((("999",), 1), (("x",), 1), (("1x",), 2), ((f"{array}_[0-1]",), 2),
                                ((nowhere, "--rank", "-1"), 2), ((nowhere, "--tail", "x"), 2), ((nowhere, "--tail", 1, "--head", 1), 2),
                                ((nowhere, "--json", "-f"), 2), ((nowhere, "--since", "soon"), 2), ((), 2)):
            done = self.cluster.muster("logs", *arguments)
            self.assertEqual(done.returncode, code, (arguments, done.stderr))
            self.assert_one_line(done.stderr)

    def test_a_file_that_a_job_cuts_is_shown_anew(self):
        gate = self.gate()
        job = self.running(f"echo a long line that goes; {gate}; : >$OUT; echo short; finish 0", "-o", "cut.txt",
                           f"--export=ALL,OUT={self.cluster.work}/cut.txt")
        follows = self.cluster.begin("logs", "-f", job)
        self.assertEqual(follows.stdout.readline(), "a long line that goes\n")
        self.open_gate()
        out, _ = follows.communicate(timeout=60)
        self.assertEqual(out, "short\n")

    def test_ranks_on_two_nodes_have_files_of_their_own(self):
        job = self.batch(f"{MUSTER} run -o 'rank-%t-%N.txt' sh -c 'echo rank $MUSTER_PROCID on $MUSTER_NODE_NAME'; "
                         f"{MUSTER} run -n 1 echo printed; finish 0", "-N", 2, "-n", 2)
        self.cluster.wait_ended(job)
        self.assertEqual(self.cluster.must("logs", "--rank", 1, f"{job}.1"), "rank 1 on node2")
        self.assertEqual(self.cluster.must("logs", f"{job}.1"), "rank 0 on node1")
        self.assertEqual(self.cluster.must("logs", f"{job}.batch"), "printed")
        self.refused(1, f"step {job}.1: has no rank 7", "logs", "--rank", 7, f"{job}.1")
        self.refused(1, f"step {job}.2: prints to the muster run that started it", "logs", f"{job}.2")
        self.refused(1, f"step {job}.9: no such step", "logs", f"{job}.9")

    def test_what_its_node_cannot_tell_is_one_line(self):
        job = self.batch("echo text; finish 0")
        self.cluster.wait_ended(job)
        self.cluster.agents[0].kill()
        try:
            wait_until(lambda: "its agent is not connected" in self.cluster.muster("logs", job).stderr,
                       "the node is there")
            self.refused(1, "node node1: its agent is not connected", "logs", job)
        finally:
            self.cluster.agents[0].start()
        wait_until(lambda: self.cluster.muster("logs", job).stdout == "text\n", "the node is not back")

    # exec

    def test_a_command_enters_the_job_with_its_environment_and_its_code_comes_back(self):
        job = self.running("exec sleep 1000", "-n", 2, "--export=ALL,DATA=of-the-job", "-J", "held")
        said = self.cluster.must("exec", job, "--", "sh", "-c", "echo $DATA $MUSTER_JOB_ID $MUSTER_NODE_NAME $PWD; cat",
                                 input="from here\n", environment={"DATA": "of-the-caller"})
        self.assertEqual(said, f"of-the-job {job} node1 {self.cluster.work}\nfrom here")
        self.assertEqual(self.cluster.muster("exec", job, "--", "sh", "-c", "exit 7").returncode, 7)
        self.assertEqual(self.cluster.muster("exec", job, "--", "sh", "-c", "kill -9 $$").returncode, 137)
        self.refused(127, "cannot run nothing-such: not found along PATH", "exec", job, "--", "nothing-such")
        steps = json.loads(self.cluster.must("show", "--json", job))["jobs"][0]["steps"]
        self.assertEqual(len(steps), 4, "its use is the job's")
        scripts = read_file(f"/proc/{self.cluster.begun()[job]}/cgroup").decode()
        entered = self.cluster.must("exec", job, "--", "cat", "/proc/self/cgroup")
        of_job = os.path.dirname(scripts.strip().split("::")[-1])
        if of_job not in ("", "/") and "batch" in scripts:
            self.assertIn(of_job, entered)
        self.refused(1, f"job {job}: --node: \"node9\" is none of its nodes; it has node1", "exec", "--node", "node9",
                     job, "--", "true")
        self.refused(1, f"job {job}: no step of it runs", "exec", "--rank", 0, job, "--", "true")
        self.refused(1, "--pty: standard input is not a terminal", "exec", "--pty", job, "--", "true")
        self.cluster.must("cancel", job)
        self.cluster.wait_ended(job)
        self.refused(1, f"job {job}: is CANCELLED; exec needs it running", "exec", job, "--", "true")
        self.refused(1, "job 999: no such job", "exec", 999, "--", "true")
        self.assertEqual(self.cluster.muster("exec", job).returncode, 2)

    def test_beside_a_rank_a_command_has_its_place_and_its_variables(self):
        gate = self.gate()
        job = self.running(f"WHO=script {MUSTER} run sh -c '{gate}'; finish 0", "-N", 2, "-n", 4, "-c", 2)

        def ranks():
            detail = json.loads(self.cluster.must("show", "--json", job))["jobs"][0]
            return {rank["rank"]: rank for rank in detail["attempts"][-1]["ranks"] if rank["step"] == 1}
        wait_until(lambda: len(ranks()) == 4, "the ranks do not run")
        say = "echo $MUSTER_PROCID $MUSTER_STEP_ID $MUSTER_NODE_NAME $WHO $WORLD_SIZE"
        for rank, place in ranks().items():
            said = self.cluster.must("exec", "--rank", rank, job, "--", "sh", "-c", say)
            self.assertEqual(said, f"{rank} 1 {place['node']} script 4")
        other = self.cluster.must("exec", "--node", "node2", job, "--", "sh", "-c", "echo $MUSTER_NODE_NAME")
        self.assertEqual(other, "node2")
        self.refused(1, "step 1 has no rank 9 that is known to run", "exec", "--rank", 9, f"{job}.1", "--", "true")
        self.open_gate()
        self.cluster.wait_ended(job)

    def test_a_shell_beside_the_job_has_a_terminal(self):
        job = self.running("exec sleep 1000")
        pid, ours = pty.fork()
        if pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
            os.chdir(self.cluster.work)
            os.execve(program("muster"), self.cluster.command("exec", "--pty", job, "--", "sh", "-i"),
                      {**self.cluster.environment, "TERM": "vt100"})
        try:
            os.write(ours, b"stty size; echo $TERM-$MUSTER_JOB_ID; echo done-$((2+2))\n")
            text = read_some(ours, "done-4")
            self.assertIn("30 100", text)
            self.assertIn(f"vt100-{job}", text)
            os.write(ours, b"exit 5\n")
            read_some(ours, "\0", patience=10)
            _, status = os.waitpid(pid, 0)
            self.assertEqual(os.waitstatus_to_exitcode(status), 5)
        finally:
            os.close(ours)
        self.assertEqual(self.cluster.queue()[job]["state"], "RUNNING")

    # top

    def test_top_tells_of_every_rank_on_every_node(self):
        gate = self.gate()
        job = self.running(f"{MUSTER} run sh -c '{gate}'; finish 0", "-N", 2, "-n", 2)

        def table():
            return json.loads(self.cluster.must("top", "--json", job))

        # A rank that began between the two looks has used nothing that they could compare.
        def whole(now):
            return now if len(now["ranks"]) == 3 and all(one["cpu_percent"] is not None for one in now["ranks"]) else None
        found = wait_until(lambda: whole(table()), table)
        self.assertEqual([(one["node"], one["step"], one["rank"]) for one in found["ranks"]],
                         [("node1", 0, 0), ("node1", 1, 0), ("node2", 1, 1)])
        self.assertEqual(found["silent"], [])
        for one in found["ranks"]:
            self.assertGreater(one["pid"], 1)
            self.assertGreater(one["memory"], 0)
            self.assertGreaterEqual(one["threads"], 1)
            self.assertIsNotNone(one["cpu_percent"])
        self.assertEqual(found["ranks"][0]["pid"], self.cluster.begun()[job])
        sheet = self.cluster.must("top", "--once", job)
        self.assertRegex(sheet, r"node2 +1\.1 ")
        self.open_gate()
        self.cluster.wait_ended(job)
        self.refused(1, "no such job", "top", job)
        held = self.batch("finish 0", "--hold")
        self.refused(1, f"job {held}: is PENDING; it has no processes", "top", held)


if __name__ == "__main__":
    unittest.main()
