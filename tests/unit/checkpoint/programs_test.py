"""The library as other languages use it: the C example dies and goes on; Python saves and restores.

Usage: programs_test.py PI_BINARY LIBRARY PYTHON_MODULE_FOLDER
"""

import array
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

PI, LIBRARY, MODULE = sys.argv[1:4]
os.environ["MUSTER_CHECKPOINT_LIBRARY"] = LIBRARY
sys.path.insert(0, MODULE)
sys.dont_write_bytecode = True
import muster_checkpoint  # noqa: E402  (its place comes from the command line)


def pi(directory, *arguments):
    return subprocess.run([PI, directory, "20000", *arguments], capture_output=True, text=True,
                          timeout=60)


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

    def test_python_is_told_what_is_wrong(self):
        with self.assertRaises(muster_checkpoint.CheckpointError) as caught:
            muster_checkpoint.open(directory=self.directory, job="../x")
        self.assertEqual(caught.exception.code, muster_checkpoint.USAGE)
        with muster_checkpoint.open(directory=self.directory, job="job7") as checkpoint:
            with self.assertRaises(TypeError):
                checkpoint.protect("constant", b"bytes")
            with self.assertRaises(muster_checkpoint.CheckpointError):
                checkpoint.protect("a/b", bytearray(8))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
