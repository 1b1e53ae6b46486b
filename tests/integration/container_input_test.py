"""What is said to get a container: options, directives, a bundle; and what muster run sends to a rank in it."""

import os
import subprocess
import unittest

from cluster import Cluster
from containers_test import Images


class ContainerInputTest(Images):
    """One node, as this machine is."""

    @classmethod
    def make(cls):
        return Cluster().start()

    def test_what_is_sent_while_the_container_is_made_reaches_its_rank(self):
        done = self.cluster.muster("run", "--container-image", self.oci, "cat", input="first\nlast\n")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "first\nlast\n", ""))
        text = "".join(f"line {number}\n" for number in range(300_000))  # more than is kept meanwhile
        done = self.cluster.muster("run", "--container-image", self.oci, "cat", input=text)
        self.assertEqual((done.returncode, done.stderr, len(done.stdout)), (0, "", len(text)))
        self.assertEqual(done.stdout, text)

    def test_a_bundle_is_run_as_its_description_says(self):
        bundle = os.path.join(self.place, "bundle")
        subprocess.run(["umoci", "unpack", "--rootless", "--image", "oci:v1", bundle], cwd=self.place, check=True,
                       stdout=subprocess.DEVNULL)
        done = self.cluster.muster("run", "--container", bundle, "sh", "-c", "pwd; cat inside; echo $OF_IMAGE")
        self.assertEqual((done.returncode, done.stdout), (0, "/srv\ninside\nyes\n"), done.stderr)
        os.remove(os.path.join(bundle, "config.json"))
        done = self.cluster.muster("run", "--container", bundle, "true")
        self.assertEqual(done.returncode, 1)
        self.assertIn("the directory is no OCI bundle", done.stderr)
        self.assert_one_line(done.stderr)

    def test_a_name_is_free_once_the_command_of_its_run_has_returned(self):
        for number in range(20):
            self.cluster.must("run", "--container-image", self.oci, "--container-name", "again", "sh", "-c",
                              f"echo {number} >>/srv/again")
        said = self.cluster.must("run", "--container-image", self.oci, "--container-name", "again", "cat", "/srv/again")
        self.assertEqual(said.split("\n"), [str(number) for number in range(20)])

    def test_directives_of_a_script_ask_for_one(self):
        for word in ("MUSTER", "SBATCH"):
            script = os.path.join(self.cluster.work, word)
            with open(script, "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\n#{word} --container-image={self.oci}\n#{word} --container-writable\n"
                           "cat inside; echo new >/srv/new && cat /srv/new\n")
            job = self.cluster.submit("-o", "said.%j", script)
            self.cluster.wait_ended(job)
            self.assertEqual(self.read(f"said.{job}"), "inside\nnew\n")


if __name__ == "__main__":
    unittest.main()
