"""The library as other languages use it, and the examples: each dies or leaves, and goes on.

MUSTER_CHECKPOINT_FLUSH in the environment: the helper of local levels.
Usage: programs_test.py PI_BINARY LIBRARY PYTHON_MODULE_FOLDER EXAMPLES_FOLDER [PI_MPI_BINARY MPIEXEC]
"""

import array
import importlib.util
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PI, LIBRARY, MODULE, EXAMPLES = (os.path.abspath(path) for path in sys.argv[1:5])
PI_MPI, MPIEXEC = (os.path.abspath(sys.argv[5]), sys.argv[6]) if len(sys.argv) > 6 else ("", "")


def load_the_sanitizer_first():
    """Starts this program again with the runtime that a sanitized library needs; of Python's own the leaks are not ours."""
    linked = subprocess.run(["ldd", LIBRARY], capture_output=True, text=True, check=False).stdout
    runtime = re.search(r"libasan\.so\S* => (\S+)", linked)
    if runtime and "LD_PRELOAD" not in os.environ:
        os.execve(sys.executable, [sys.executable, "-B", *sys.argv],
                  {**os.environ, "LD_PRELOAD": runtime.group(1), "ASAN_OPTIONS": "detect_leaks=0"})


load_the_sanitizer_first()
os.environ["MUSTER_CHECKPOINT_LIBRARY"] = LIBRARY
sys.path.insert(0, MODULE)
sys.dont_write_bytecode = True
import muster_checkpoint  # noqa: E402  (its place comes from the command line)
# Thousands of flushes: in memory where there is such a place.
tempfile.tempdir = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def pi(directory, *arguments):
    return subprocess.run([PI, directory, "20000", *arguments], capture_output=True, text=True,
                          timeout=300)


class Programs(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.directory = self.place.name

    def tearDown(self):
        self.place.cleanup()

    def test_a_killed_program_goes_on_and_ends_with_the_answer_of_an_undisturbed_one(self):
        with tempfile.TemporaryDirectory() as other:
            undisturbed = pi(other)
        self.assertEqual(undisturbed.returncode, 0, undisturbed.stderr)
        for row in ("7000", "13000", "19999"):
            self.assertEqual(pi(self.directory, row).returncode, -signal.SIGKILL)
        last = pi(self.directory)
        self.assertEqual(last.returncode, 0, last.stderr)
        self.assertIn("going on at row", last.stderr)
        self.assertEqual(last.stdout, undisturbed.stdout)

    def test_a_directory_that_is_not_there_is_one_line(self):
        end = pi(self.directory + "/none")
        self.assertEqual(end.returncode, 1)
        self.assertEqual(end.stderr, f"pi: {self.directory}/none: No such file or directory\n")

    def test_python_saves_and_restores_memory_and_files(self):
        model = pathlib.Path(self.directory, "model.bin")
        model.write_bytes(b"first")
        step = array.array("Q", [41])
        with muster_checkpoint.open(directory=self.directory, job="job7") as checkpoint:
            checkpoint.protect("step", step)
            checkpoint.protect_file("model", model)
            self.assertFalse(checkpoint.restore_latest())
            self.assertEqual(checkpoint.should(), muster_checkpoint.NOT_NOW)
            checkpoint.save()
        model.write_bytes(b"second")
        step[0] = 0
        with muster_checkpoint.open(directory=self.directory, job="job7") as checkpoint:
            checkpoint.protect("step", step)
            checkpoint.protect_file("model", model)
            self.assertTrue(checkpoint.restore_latest())
            checkpoint.confirm()
        self.assertEqual(step[0], 41)
        self.assertEqual(model.read_bytes(), b"first")

    def test_python_saves_and_restores_tensors_of_the_host_and_of_a_gpu(self):
        # Each library loads its driver once, so each case is a process of its own.
        saves = """
import ctypes, sys
import muster_checkpoint

class Tensor:  # what is asked of one of PyTorch's
    def __init__(self, values, is_cuda):
        self.memory, self.is_cuda = (ctypes.c_uint32 * len(values))(*values), is_cuda
    def is_contiguous(self): return True
    def data_ptr(self): return ctypes.addressof(self.memory)
    def nelement(self): return len(self.memory)
    def element_size(self): return 4

here, there = Tensor([1, 2], False), Tensor([3, 4, 5], True)
with muster_checkpoint.open(directory=sys.argv[1], job="job7") as checkpoint:
    checkpoint.protect("here", here)
    checkpoint.protect("there", there)
    checkpoint.save()
    here.memory[0] = there.memory[0] = 0
    checkpoint.restore_latest()
print(list(here.memory), list(there.memory))
"""

        def run(driver):
            return subprocess.run(
                [sys.executable, "-B", "-c", saves, self.directory], capture_output=True, text=True,
                env={**os.environ, "PYTHONPATH": MODULE, "MUSTER_CHECKPOINT_CUDA": driver}, timeout=60)
        self.assertEqual(run(os.environ["FAKE_CUDA"]).stdout, "[1, 2] [3, 4, 5]\n")
        self.assertIn("CheckpointError: no CUDA driver: ", run("/none/libcuda.so").stderr)

    def test_python_is_told_what_is_wrong(self):
        with self.assertRaises(muster_checkpoint.CheckpointError) as caught:
            muster_checkpoint.open(directory=self.directory, job="../x")
        self.assertEqual(caught.exception.code, muster_checkpoint.USAGE)
        with muster_checkpoint.open(directory=self.directory, job="job7") as checkpoint:
            with self.assertRaises(TypeError):
                checkpoint.protect("constant", b"bytes")
            with self.assertRaises(muster_checkpoint.CheckpointError):
                checkpoint.protect("a/b", bytearray(8))

    def test_what_the_scheduler_names_is_made_and_python_uses_it(self):
        os.environ["MUSTER_CHECKPOINT_DIR"] = self.directory + "/muster-7.checkpoint"
        self.addCleanup(os.environ.pop, "MUSTER_CHECKPOINT_DIR")
        with muster_checkpoint.open() as checkpoint:
            checkpoint.protect("step", bytearray(8))
            checkpoint.save()
        self.assertTrue(os.path.exists(self.directory + "/muster-7.checkpoint/gen-0000000001"))

    def test_with_a_local_level_a_killed_program_goes_on_though_its_node_is_lost(self):
        with tempfile.TemporaryDirectory() as other:
            undisturbed = pi(other)
        local = tempfile.TemporaryDirectory()
        self.addCleanup(local.cleanup)
        os.environ["MUSTER_CHECKPOINT_LOCAL_DIR"] = local.name
        self.addCleanup(os.environ.pop, "MUSTER_CHECKPOINT_LOCAL_DIR")
        def wait_for_helper():
            own = pathlib.Path(local.name, os.listdir(local.name)[0])
            deadline = time.monotonic() + 300
            while list(own.glob("flush-0*")) + list(own.glob("flushing-*")):
                self.assertLess(time.monotonic(), deadline, "the helper did not end its work")
                time.sleep(0.01)
            return own

        for row in ("7000", "13000"):
            self.assertEqual(pi(self.directory, row).returncode, -signal.SIGKILL)
            own = wait_for_helper()
            self.assertTrue(list(own.glob("gen-*")))
            shutil.rmtree(own)  # as a node that is lost
        last = pi(self.directory)
        wait_for_helper()  # which writes into the directory that is removed now
        self.assertEqual((last.returncode, last.stdout), (0, undisturbed.stdout), last.stderr)
        self.assertIn("going on at row", last.stderr)

    def test_python_is_told_that_nothing_reaches_the_shared_directory(self):
        local = tempfile.TemporaryDirectory()
        self.addCleanup(local.cleanup)
        helper = os.environ["MUSTER_CHECKPOINT_FLUSH"]
        self.addCleanup(os.environ.__setitem__, "MUSTER_CHECKPOINT_FLUSH", helper)
        os.environ["MUSTER_CHECKPOINT_FLUSH"] = "/no/such/helper"
        step = array.array("Q", [41])
        with muster_checkpoint.open(directory=self.directory, local_directory=local.name) as checkpoint:
            checkpoint.protect("step", step)
            with self.assertRaises(muster_checkpoint.CheckpointError) as caught:
                checkpoint.save()
            self.assertEqual(caught.exception.code, muster_checkpoint.NOT_SHARED)
            self.assertIn("/no/such/helper: No such file", str(caught.exception))
            step[0] = 0
            self.assertTrue(checkpoint.restore_latest())
        self.assertEqual(step[0], 41)


class Conventions(unittest.TestCase):
    """Programs without the library: a directory, a signal, exit code 85."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.work = place.name
        self.environment = dict(os.environ, MUSTER_CHECKPOINT_DIR=os.path.join(place.name, "state"))
        self.environment.pop("MUSTER_JOB_ID", None)

    def begin(self, *words, **more):
        return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.work,
                                env={**self.environment, **more})

    def end(self, run):
        out, err = run.communicate(timeout=120)
        return run.returncode, out, err

    def example(self, name):
        return os.path.join(EXAMPLES, name)

    def state(self, name="count"):
        try:
            with open(os.path.join(self.work, "state", name), encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def wait_for_state(self, run):
        before = self.state()
        deadline = time.monotonic() + 60
        while self.state() == before:
            self.assertIsNone(run.poll(), "it ended")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def test_a_shell_script_leaves_with_85_or_is_killed_and_goes_on(self):
        command = [self.example("count.sh"), "60000"]
        for number in (signal.SIGUSR1, signal.SIGKILL, signal.SIGTERM):
            run = self.begin(*command)
            self.wait_for_state(run)
            run.send_signal(number)
            code, out, _ = self.end(run)
            self.assertEqual((code, out), (-number if number == signal.SIGKILL else 85, ""))
        code, out, err = self.end(self.begin(*command, MUSTER_RESTART_COUNT="3"))
        self.assertEqual((code, out), (0, f"{60000 * 60001 // 2}\n"), err)
        self.assertIn("going on at", err)
        self.assertIn("(restart 3)", err)

    def test_a_script_without_a_directory_says_so(self):
        code, _, err = self.end(self.begin(self.example("count.sh"), "5", MUSTER_CHECKPOINT_DIR=""))
        self.assertNotEqual(code, 0)
        self.assertIn("names no directory", err)

    def test_again_sends_the_job_back_to_the_queue_when_the_program_says_85(self):
        fake = os.path.join(self.work, "fake")
        with open(fake, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho asked: \"$@\"\n")
        os.chmod(fake, 0o700)
        job = {"MUSTER": fake, "MUSTER_JOB_ID": "12"}
        again = self.example("again.sh")
        for code, words in ((85, "asked: requeue 12\n"), (0, ""), (7, "")):
            self.assertEqual(self.end(self.begin(again, "sh", "-c", f"exit {code}", **job))[:2], (code, words))
        run = self.begin(again, self.example("count.sh"), "100000000", **job)
        self.wait_for_state(run)
        run.send_signal(signal.SIGTERM)
        self.assertEqual(self.end(run)[:2], (85, "asked: requeue 12\n"))

    @unittest.skipUnless(PI_MPI, "THERE IS NO MPI HERE: its example is not tested")
    def test_mpi_ranks_killed_in_the_middle_go_on_together(self):
        mpi = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
               "LSAN_OPTIONS": "detect_leaks=0"}
        command = [MPIEXEC, "-n", "3", PI_MPI, self.work]
        with tempfile.TemporaryDirectory() as other:
            undisturbed = self.end(self.begin(PI, other, "15000"))
        self.assertNotEqual(self.end(self.begin(*command, "15000", "7001", **mpi))[0], 0)
        self.assertNotEqual(self.end(self.begin(*command, "15000", "13001", **mpi))[0], 0)
        code, out, err = self.end(self.begin(*command, "15000", **mpi))
        self.assertEqual((code, out), undisturbed[:2], err)
        self.assertIn("going on at round", err)

    @unittest.skipUnless(importlib.util.find_spec("torch"),
                         "THERE IS NO PyTorch HERE: examples/train.py is only compiled, not run")
    def test_a_pytorch_training_killed_and_asked_to_leave_ends_with_the_loss_of_an_undisturbed_one(self):
        train = [sys.executable, self.example("train.py"), "--steps", "2000"]
        undisturbed = self.end(self.begin(*train, MUSTER_CHECKPOINT_DIR=self.work + "/other"))
        self.assertEqual(undisturbed[0], 0, undisturbed[2])
        self.assertEqual(self.end(self.begin(*train, "--die-at", "750"))[0], -signal.SIGKILL)
        run = self.begin(*train)
        self.assertIn("going on at step 700", run.stderr.readline())
        run.send_signal(signal.SIGUSR1)
        code, out, err = self.end(run)
        self.assertEqual((code, out), (85, ""), err)
        code, out, err = self.end(self.begin(*train))
        self.assertEqual((code, out), undisturbed[:2], err)

    def test_the_pytorch_example_compiles(self):
        with open(self.example("train.py"), encoding="utf-8") as file:
            compile(file.read(), "train.py", "exec")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
