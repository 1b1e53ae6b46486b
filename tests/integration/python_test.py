"""python3-muster as its package installs it, against real clusters: functions and scripts, arrays, events, history, wrong
input, a controller that restarts, certificates, MUNGE and tokens."""

import asyncio
import concurrent.futures
import doctest
import glob
import importlib.util
import os
import pkgutil
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

import cluster
import secured
from cluster import BIN, PATIENCE, Cluster, wait_until
from several import Several

BUILD = os.path.dirname(os.path.abspath(BIN))
SOURCE = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "proto", "python"))
# What a user's program does, as him.
CALL = "import muster; print(muster.submit(pow, 2, 10, output='/dev/null').result(60), muster.history()[0].user)"


def make_package():
    """The package of this build and where it is unpacked; without a whole build the modules alone."""
    place = tempfile.mkdtemp(prefix="mit-python-", dir="/tmp")
    unittest.addModuleCleanup(shutil.rmtree, place, ignore_errors=True)
    os.chmod(place, 0o755)
    if not os.path.exists(os.path.join(BUILD, "CPackConfig.cmake")):
        return None, os.path.join(BUILD, "python")
    made = subprocess.run(["cpack", "-G", "DEB", "-D", "CPACK_COMPONENTS_ALL=python", "-B", place], cwd=BUILD,
                          capture_output=True, text=True, timeout=5 * PATIENCE, check=False)
    if made.returncode != 0:
        raise AssertionError(made.stdout + made.stderr)
    package, = glob.glob(os.path.join(place, "python3-muster_*_all.deb"))
    subprocess.run(["dpkg-deb", "-x", package, os.path.join(place, "root")], check=True)
    return package, os.path.join(place, "root", "usr", "lib", "python3", "dist-packages")


def setUpModule():
    global muster, PACKAGE, MODULES
    for name in ("cloudpickle", "grpc"):
        if importlib.util.find_spec(name) is None:
            raise unittest.SkipTest(f"SKIPPED: {sys.executable} has no {name} "
                                    "(apt-get install python3-grpcio python3-cloudpickle)")
    PACKAGE, MODULES = make_package()
    sys.path.insert(0, MODULES)
    import muster


class Rude(Exception):
    """An exception that cannot be read again: it needs two arguments."""

    def __init__(self, one, two):
        super().__init__(one + two)


def wait_for(path, value):
    """What a job of a test does: returns the value once there is a file."""
    import os
    import time
    while not os.path.exists(path):
        time.sleep(0.05)
    return value


class PackageTest(unittest.TestCase):
    def test_the_package_holds_each_module_and_needs_debians_packages(self):
        if PACKAGE is None:
            self.skipTest("SKIPPED: no package can be made of a build that is not whole")
        listed = subprocess.run(["dpkg-deb", "-c", PACKAGE], capture_output=True, text=True, check=True).stdout
        for path in sorted(os.listdir(os.path.join(SOURCE, "muster"))):
            if path != "__pycache__":
                self.assertIn(f"./usr/lib/python3/dist-packages/muster/{path}\n", listed)
        self.assertIn("muster/wire/controller_pb2.pyi", listed)
        needs = subprocess.run(["dpkg-deb", "-f", PACKAGE, "Depends"], capture_output=True, text=True, check=True).stdout
        self.assertEqual([word.split()[0] for word in needs.split(",")],
                         ["python3", "python3-grpcio", "python3-protobuf", "python3-cloudpickle"])

    def test_the_types_are_sound(self):
        if shutil.which("mypy") is None:
            self.skipTest("SKIPPED: NO mypy (apt-get install mypy)")
        done = subprocess.run(
            ["mypy", "--config-file", os.path.join(SOURCE, "mypy.ini"), "--cache-dir", os.devnull, "-p", "muster"],
            cwd=MODULES, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class PythonTest(unittest.TestCase):
    """A personal cluster over its socket."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(topology=cluster.WIDE).start()
        cls.addClassCleanup(cls.cluster.close)
        for name, value in (("MUSTER_STATE", cls.cluster.state), ("MUSTER_PYTHON_DIR", cls.cluster.work + "/python")):
            cls.addClassCleanup(os.environ.__setitem__, name, os.environ.get(name, ""))
            os.environ[name] = value
        cls.addClassCleanup(os.chdir, os.getcwd())
        os.chdir(cls.cluster.work)

    def test_each_example_in_the_documentation_holds(self):
        attempted = 0
        for module in pkgutil.iter_modules(muster.__path__):
            if module.ispkg:
                continue
            found = doctest.testmod(importlib.import_module("muster." + module.name), extraglobs={"muster": muster},
                                    verbose=False)
            self.assertEqual(found.failed, 0, module.name)
            attempted += found.attempted
        for name, found in (("muster", doctest.testmod(muster, verbose=False)),
                            ("README.md", doctest.testfile(os.path.join(SOURCE, "README.md"), module_relative=False,
                                                            verbose=False))):
            self.assertEqual(found.failed, 0, name)
            attempted += found.attempted
        self.assertGreater(attempted, 30)

    def test_a_script_has_its_arguments_and_its_directives(self):
        path = self.cluster.script("echo \"$MUSTER_NTASKS|$1|$2|$MUSTER_JOB_NAME\"", name="given.sh")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("#!/bin/sh\n", "#!/bin/sh\n#MUSTER --ntasks=3 --job-name=directed\n"))
        job = muster.submit(path, "a b", 7, time=1, output="given.out")
        self.assertEqual((job.wait(PATIENCE), job.output()), ("COMPLETED", "3|a b|7|directed\n"))
        self.assertIn(f"job {job}", self.cluster.must("show", job))
        over = muster.submit(path, time=1, ntasks=2, job_name="said", output="over.out")
        over.wait(PATIENCE)
        self.assertEqual(over.output(), "2|||said\n")

    def test_what_a_function_returns_or_raises_comes_back(self):
        kept = {"by": "value"}
        self.assertEqual(muster.submit(lambda n: (n, kept), 3).result(PATIENCE), (3, {"by": "value"}))
        with self.assertRaises(ZeroDivisionError) as raised:
            muster.submit(lambda: 1 / 0).result(PATIENCE)
        self.assertIn("ZeroDivisionError: division by zero", str(raised.exception.__cause__))
        with self.assertRaises(SystemExit):
            muster.submit(sys.exit, 3).result(PATIENCE)

        def rude():
            raise Rude("so ", "rude")
        with self.assertRaisesRegex(muster.RemoteError, "job .*so rude"):
            muster.submit(rude).result(PATIENCE)
        killed = muster.submit(lambda: os.kill(os.getpid(), 9))
        with self.assertRaisesRegex(muster.JobFailed, f"job {killed}: FAILED") as failed:
            killed.result(PATIENCE)
        self.assertEqual((failed.exception.job, failed.exception.state), (killed.id, "FAILED"))
        with self.assertRaisesRegex(TypeError, "cannot be carried to a job"):
            muster.submit(threading.Lock().acquire)

    def test_map_is_one_array_whose_results_come_in_order(self):
        before = len(self.cluster.submitted())
        with muster.Executor(4, time=1, output="/dev/null") as executor:
            self.assertEqual(list(executor.map(lambda x, y: x * y, range(8), range(8))), [x * x for x in range(8)])
            self.assertEqual(list(executor.map(str, range(5), chunksize=2)), list("01234"))
            wrong = executor.map(lambda x: 1 // x, [1, 0])
            self.assertEqual(next(wrong), 1)
            with self.assertRaises(ZeroDivisionError):
                next(wrong)
            future = executor.submit(max, 3, 9, key=lambda x: -x)
            self.assertEqual(future.result(PATIENCE), 3)
        self.assertEqual(len(self.cluster.submitted()) - before, 8 + 3 + 2 + 1)
        labels = {row.label.partition("_")[0] for row in muster.history(limit=14)}
        self.assertEqual(len(labels), 4)
        self.assertEqual(os.listdir(self.cluster.work + "/python").count("run.py"), 0)
        with self.assertRaisesRegex(RuntimeError, "after shutdown"):
            executor.submit(abs, 1)

    def test_a_future_is_cancelled_with_its_job(self):
        with muster.Executor(output="/dev/null") as executor:
            future = executor.submit(__import__("time").sleep, 600)
            wait_until(lambda: future.job.state == "RUNNING", "it does not run")
            self.assertTrue(future.cancel())
            self.assertEqual(future.job.wait(PATIENCE), "CANCELLED")
        self.assertTrue(future.cancelled())
        job = muster.submit("sleep 600", output="/dev/null")
        self.assertIn(job.state, ("PENDING", "CONFIGURING", "RUNNING"))
        with self.assertRaisesRegex(muster.TimedOut, f"job {job}: has not ended within 0.2 s; it goes on"):
            job.wait(0.2)
        self.assertNotEqual(job.explain(), "")
        job.cancel()
        with self.assertRaisesRegex(muster.JobFailed, f"job {job}: CANCELLED"):
            job.result(PATIENCE)
        job.cancel()

    def test_asyncio_sees_the_events_of_a_job_in_order(self):
        async def watch():
            seen, events = [], muster.events()
            job = muster.submit("true", output="/dev/null")
            async for event in events:
                if event.job == job.id:
                    seen.append(event.type.rpartition(".")[2])
                    if event.type == "muster.job.ended":
                        break
            return seen, await job
        seen, state = asyncio.run(asyncio.wait_for(watch(), PATIENCE))
        self.assertEqual(([seen[0], seen[1], seen[-1]], state), (["submitted", "started", "ended"], "COMPLETED"))

    def test_history_is_rows(self):
        job = muster.submit("exit 7", job_name="seven", time="0:10:00", output="/dev/null", comment="of Python")
        job.wait(PATIENCE)
        row, = muster.history(jobs=[job.id])
        self.assertEqual((row.cost, row.currency), (None, ""), "this cluster has no prices")
        self.assertEqual((row.name, row.state, row.exit_code, row.time_limit.total_seconds(), row.comment),
                         ("seven", "FAILED", 7, 600, "of Python"))
        self.assertLessEqual(row.submitted, row.ended)
        self.assertEqual([one.id for one in muster.history(since=row.ended, states=["FAILED"]) if one.id == job.id], [job.id])
        try:
            import pandas  # noqa: F401
        except ImportError:
            return
        self.assertEqual(list(muster.history(jobs=[job.id]).to_pandas()["exit_code"]), [7])

    def test_options_mean_what_they_mean_on_the_command_line(self):
        same = {
            "nodes": (2, "1-2", (1, 3)), "ntasks": (5,), "ntasks_per_node": (3,), "cpus_per_task": (2, "4"), "mem": (100, "3G"),
            "mem_per_cpu": ("20M",), "gpus": (2, "h100:3"), "gpus_per_node": (1,), "gpus_per_task": ("a100:1",),
            "time": (90, "1:30:00", "2-3", "1-02:03:04", "30:15", "UNLIMITED"), "time_min": ("5:00",),
            "array": ("0-9:3%2", "1,3,5"),
            "dependency": ("singleton", "after:1+5,afterany:1"), "constraint": ("a&b",), "prefer": ("c",),
            "nodelist": ("node1,n2",), "exclude": ("n3",), "nice": (7,), "comment": ("two words",),
            "exclusive": (True,), "exclusive_user": (True,), "overcommit": (True,), "no_kill": (True,), "requeue": (True,),
            "requeue_exit": (9,), "sockets_per_node": (2,), "mincpus": (4,), "tmp": ("1G",), "switches": (2,), "segment": (2,),
            "signal": ("B:USR1@120",), "open_mode": ("append",), "output": ("o-%j",), "error": ("e-%j",), "input": ("/dev/null",),
            "chdir": ("/",), "deadline": ("2030-01-31T08:00",), "begin": ("2030-01-31T08:00",),
            "progress_timeout": ("90s", "1h30m"),
            "kill_on_invalid_dep": ("no",), "mpi": ("pmix",), "gpu_share": (0.25,), "gpu_occupied": ("ok",),
        }
        for name, values in same.items():
            for value in values:
                with self.subTest(option=name, value=value):
                    self.assert_same(name, value)

    def assert_same(self, name, value):
        """Both held jobs look alike."""
        word = "-".join(map(str, value)) if isinstance(value, tuple) else str(value)
        flag = f"--{name.replace('_', '-')}" + ("" if value is True else "=" + word)
        more = {"gpu_share": {"gpus": 1}, "time_min": {"time": 10}}.get(name, {})
        said = [f"--{key}={one}" for key, one in more.items()]
        theirs = muster.Job(int(self.cluster.must("submit", "--parsable", "--hold", "--job-name=x", flag, *said, "--wrap", "true")
                                .split(";")[0]))
        mine = muster.submit("true", hold=True, job_name="x", **{name: value}, **more)
        seen = []
        for job in (mine, theirs):
            detail = job.details()[0]
            view = detail.job
            plain = [str(field) for field in (
                detail.request, detail.work_dir, detail.constraint, detail.prefer, detail.time_min, detail.requeue, view.state,
                view.reason.kind, view.tasks, view.cpus, view.gpus, view.memory, view.time_limit, view.begin_time, view.deadline,
                view.nice, view.comment, view.dependency, view.array_throttle, len(job.details()))]
            paths = [path.replace(view.label, "LABEL") for path in (detail.stdout_path, detail.stderr_path)]
            seen.append(plain + paths)
            job.cancel()
        self.assertEqual(seen[0], seen[1])

    def test_wrong_input_is_refused_before_anything_is_submitted(self):
        before = self.cluster.submitted()
        for wrong, kind, text in (
                (dict(ntask=4), TypeError, "'ntask' is not a job option: did you mean ntasks"),
                (dict(ntasks=0), ValueError, "ntasks: 0 is not a number from 1"),
                (dict(ntasks=True), ValueError, "ntasks: True is not"),
                (dict(time="soon"), ValueError, "time: 'soon' is not a time limit"),
                (dict(time=-5), ValueError, "time: -5 is not a time limit"),
                (dict(time="1-25:00"), ValueError, "time: .* is not a time limit"),
                (dict(mem="4 apples"), ValueError, "mem: '4 apples' is not a size"),
                (dict(mem=1, mem_per_cpu=1), ValueError, "mem and mem_per_cpu exclude each other"),
                (dict(gpus="all"), ValueError, "gpus: 'all' is not a number"),
                (dict(dependency="afterok"), ValueError, "dependency: 'afterok' is not a dependency"),
                (dict(constraint="a|b"), ValueError, "constraint: .* are no names"),
                (dict(container_mounts="a:b:c"), ValueError, "container_mounts: 'a:b:c' is no mount"),
                (dict(job_name="a\nb"), ValueError, "job_name: .* is not a text of one line"),
                (dict(export="HOME"), ValueError, "'HOME' are no variables"),
                (dict(array="0-3"), TypeError, "array: a function has one call a job"),
                (dict(partition="no-such-partition"), muster.Refused, "no-such-partition")):
            with self.subTest(wrong=wrong), self.assertRaisesRegex(kind, text) as raised:
                muster.submit(abs, -1, **wrong)
            self.assertNotIn("\n", str(raised.exception))
        for what, text in (("./no-such.sh", "cannot read the script"), ("/bin/true", "the script is not UTF-8|begin with #!"),
                           ("", "the command is empty")):
            with self.assertRaisesRegex(ValueError, text):
                muster.submit(what)
        with open("slurm.sh", "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n#SBATCH -n 2\ntrue\n")
        with self.assertRaisesRegex(ValueError, "slurm.sh:2: #SBATCH lines are read by `muster submit` alone"):
            muster.submit("slurm.sh")
        with self.assertRaisesRegex(muster.NotFound, "999999"):
            muster.Job(999999).state
        self.assertEqual(self.cluster.submitted(), before)
        self.assertEqual([place for place in os.listdir("python") if not os.path.exists(f"python/{place}/function.pickle")]
                         if os.path.isdir("python") else [], [])

    def test_paths_of_images_and_mounts_are_whole(self):
        from muster import options
        here = os.getcwd()
        for given, whole in (("debian:12", "debian:12"), ("a.sqsh", f"{here}/a.sqsh"), ("/b.sqsh", "/b.sqsh"),
                             ("oci:dir:tag", f"oci:{here}/dir:tag"), ("docker-archive:/c.tar", "docker-archive:/c.tar")):
            request = muster.connection.wire.SubmitRequest()
            options.fill(request, {"image": given, "container_mounts": "data:/data:ro,/scratch"})
            self.assertEqual(request.spec.container.image, whole)
            self.assertEqual([(mount.source, mount.destination, mount.read_only) for mount in request.spec.container.mounts],
                             [(f"{here}/data", "/data", True), ("/scratch", "/scratch", False)])

    def test_results_are_read_from_a_directory_of_ones_own_alone(self):
        job = muster.submit(abs, -5)
        job.wait(PATIENCE)
        place = job.carried().place
        os.chmod(place, 0o770)
        with self.assertRaisesRegex(muster.Error, "is not a directory of yours alone"):
            job.result()
        os.chmod(place, 0o700)
        self.assertEqual(job.result(), 5)
        job.discard()
        self.assertFalse(os.path.exists(place))

    def test_an_array_of_a_script_is_one_job_with_the_worst_end(self):
        job = muster.submit("echo", "x$MUSTER_ARRAY_TASK_ID", array=range(3), output="array-%a.out")
        self.assertEqual((job.wait(PATIENCE), len(job.rows), job.result()), ("COMPLETED", 3, None))
        bad = muster.submit("exit $MUSTER_ARRAY_TASK_ID", array=[0, 4], output="/dev/null")
        with self.assertRaisesRegex(muster.JobFailed, f"job {bad}: FAILED: exit code 4"):
            bad.result(PATIENCE)

    def test_a_forked_child_is_refused_and_does_not_wait_for_ever(self):
        muster.Client().ping()
        child = os.fork()
        if child == 0:
            try:
                muster.Client().ping()
            except muster.Error as error:
                os._exit(7 if "forked" in str(error) else 8)
            os._exit(9)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 7)

    def test_nobody_at_the_address_is_said_at_once(self):
        with self.assertRaisesRegex(muster.Unreachable, 'no controller at unix:/.*: start one with "muster up"'):
            muster.Client(state=os.path.join(self.cluster.work, "no-such")).ping()
        with self.assertRaisesRegex(muster.Error, "MUSTER_KEYS: .* has no ca.pem"):
            muster.Client("localhost:7117", environment={"MUSTER_KEYS": "/nowhere"})
        with self.assertRaisesRegex(ValueError, "'here' is not an address"):
            muster.Client("here")


class RestartTest(unittest.TestCase):
    def test_a_restarted_controller_loses_no_result_and_takes_a_submission_once(self):
        one = Cluster(topology=cluster.WIDE).start()
        self.addCleanup(one.close)
        client = muster.Client(state=one.state)
        gate = os.path.join(one.work, "gate")
        options = dict(client=client, directory=one.work + "/python", output="/dev/null")
        with muster.Executor(**options) as executor:
            futures = [executor.submit(wait_for, gate, n) for n in range(2)]
            mapped = executor.map(wait_for, [gate] * 3, range(3))
            job = muster.submit(wait_for, gate, "alone", **options)
            waits = concurrent.futures.ThreadPoolExecutor(2)
            result = waits.submit(job.result, PATIENCE)
            wait_until(lambda: len(muster.queue(states=["RUNNING"], client=client)) == 6, "six do not run")
            one.controller.kill()
            late = waits.submit(muster.submit, abs, -8, **options)  # while there is no controller
            open(gate, "w", encoding="utf-8").close()
            one.controller.start()
            self.assertEqual([future.result(PATIENCE) for future in futures], [0, 1])
            self.assertEqual((list(mapped), result.result(PATIENCE)), ([0, 1, 2], "alone"))
            self.assertEqual(late.result(PATIENCE).result(PATIENCE), 8)
            self.assertEqual(len(one.submitted()), 7)
            waits.shutdown()


class FailoverTest(unittest.TestCase):
    def test_another_controller_takes_over_and_nothing_is_missed(self):
        one = Several(controllers=2)
        one.start()
        self.addCleanup(one.close)
        client = muster.Client(one.address)
        options = dict(client=client, directory=one.work + "/python", output="/dev/null")
        gate = os.path.join(one.work, "gate")
        job = muster.submit(wait_for, gate, keywords={"value": 4}, **options)
        with muster.Executor(**options) as executor, concurrent.futures.ThreadPoolExecutor(1) as waits:
            future, result = executor.submit(wait_for, gate, 5), waits.submit(job.result, PATIENCE)
            leader = wait_until(one.leader, one.logs)
            one.controllers[leader - 1].kill()
            self.assertEqual(muster.submit(abs, -6, **options).result(PATIENCE), 6)
            open(gate, "w", encoding="utf-8").close()
            self.assertEqual((result.result(PATIENCE), future.result(PATIENCE)), (4, 5))
        one.controllers[leader - 1].start()
        self.assertEqual(len(one.submitted()), 3)


class KeyedTest(unittest.TestCase):
    """Over TCP."""

    def run_as(self, user, group, place, **variables):
        return subprocess.run(
            [sys.executable, "-B", "-c", CALL], cwd=place, capture_output=True, text=True, timeout=2 * PATIENCE, check=False,
            user=user, group=group, extra_groups=[],
            env={"PATH": os.environ["PATH"], "HOME": place, "PYTHONPATH": MODULES, "MUSTER_PYTHON_DIR": place + "/python",
                 **variables})

    def test_a_certificate_and_a_token_speak_for_a_user(self):
        one = secured.OneUsersCluster(topology=cluster.WIDE)
        self.addCleanup(one.close)
        one.start()
        user, group = one.user.pw_uid, one.user.pw_gid
        known = {"MUSTER_CONTROLLER": one.tcp, "MUSTER_KEYS": one.client_keys}
        done = self.run_as(user, group, one.work, **known)
        self.assertEqual((done.stdout, done.returncode), (f"1024 {one.user.pw_name}\n", 0), done.stderr)
        token = one.over_tcp("token").stdout.strip()
        trust = os.path.join(one.work, "trust")
        os.mkdir(trust)
        shutil.copy(os.path.join(one.client_keys, "ca.pem"), trust)
        os.chmod(os.path.join(trust, "ca.pem"), 0o644)
        done = self.run_as(user, group, one.work, MUSTER_CONTROLLER=one.tcp, MUSTER_KEYS=trust, MUSTER_TOKEN=token)
        self.assertEqual((done.stdout, done.returncode), (f"1024 {one.user.pw_name}\n", 0), done.stderr)
        done = self.run_as(user, group, one.work, MUSTER_CONTROLLER=one.tcp, MUSTER_KEYS=trust, MUSTER_TOKEN="x" + token)
        self.assertRegex(done.stderr, "muster.errors.NotAllowed: [^\n]+\n$")
        reader = one.over_tcp("token", "--read-only").stdout.strip()
        read = muster.Client(one.tcp, token=reader, environment={"MUSTER_KEYS": trust})
        self.assertEqual(read.ping()["nodes"], 1)
        with self.assertRaisesRegex(muster.NotAllowed, "^[^\n]+$"):
            muster.submit("true", client=read)
        with self.assertRaisesRegex(muster.Unreachable, "no controller at 127.0.0.1:1: check that musterd runs there"):
            muster.Client("127.0.0.1:1", token=token, environment={"MUSTER_KEYS": trust}).ping()
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ed25519", "-nodes", "-subj", "/CN=other", "-keyout", os.devnull,
                        "-out", os.path.join(trust, "ca.pem")], check=True, capture_output=True)
        with self.assertRaisesRegex(muster.NotAllowed, "is not the controller that .*ca.pem vouches for"):
            muster.Client(one.tcp, token=token, environment={"MUSTER_KEYS": trust}).ping()
        os.chmod(os.path.join(one.client_keys, "client.key"), 0o644)
        done = self.run_as(user, group, one.work, **known)
        self.assertRegex(done.stderr, r"NotAllowed: [^\n]*client.key: others may read or change it \(mode 0644\)")

    def test_munge_speaks_for_a_user(self):
        why = secured.why_not()
        if why is not None:
            self.skipTest(f"SKIPPED: {why}")
        one = secured.SecuredCluster(nodes=1)
        self.addCleanup(one.close)
        one.start()
        uid = secured.USERS["alice"]
        known = {"MUSTER_CONTROLLER": one.tcp, "MUSTER_KEYS": one.trust, "MUSTER_MUNGE_SOCKET": one.munge}
        done = self.run_as(uid, uid, one.place_of("alice"), **known)
        self.assertEqual((done.stdout, done.returncode), ("1024 alice\n", 0), done.stderr)
        done = self.run_as(uid, uid, one.place_of("alice"), **{**known, "MUSTER_MUNGE_SOCKET": "/nowhere"})
        self.assertRegex(done.stderr, "muster.errors.NotAllowed: MUNGE: [^\n]+; is munged running\\?\n$")


if __name__ == "__main__":
    unittest.main()
