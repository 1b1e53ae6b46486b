"""What muster run sends to a rank in a container, of an image that the test makes itself."""

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


if __name__ == "__main__":
    unittest.main()
