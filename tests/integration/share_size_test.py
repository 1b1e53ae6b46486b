"""A share of a GPU by its memory, asked for in every way that jobs are submitted."""

import importlib.util
import json
import os
import sys
import unittest

from cluster import BIN
from door import Door

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "topology")
GIB = 1 << 30


class ShareSizeTest(Door):
    """A node that plays a machine with four GPUs of 141 GB."""

    topology = os.path.join(FIXTURES, "h200x4.xml") + "+" + os.path.join(FIXTURES, "h200x4.topo_m.txt")

    def share_of(self, job):
        (shown,) = self.get(f"/v1/jobs/{job}")["jobs"]
        return shown["request"]

    def rest(self, gigabytes, **request):
        return self.ask("POST", "/v1/Submit", self.token, {
            "token": f"t{gigabytes}-{len(request)}",
            "spec": {"held": True, "request": {"gpu_share_memory": gigabytes * GIB, **request}},
            "program": {"script": "#!/bin/sh\ntrue\n", "work_dir": self.cluster.work}})

    def test_rest_and_the_command_line_make_the_same_of_it(self):
        by_command = self.submit("--hold", "--gpu-share=20G", "--wrap", "true")
        status, _, body = self.rest(20)
        self.assertEqual(status, 200, body)
        self.assertEqual(self.share_of(body["job"]), self.share_of(by_command))
        self.assertEqual(self.share_of(by_command)["gpu_share"], 144)

    def test_what_no_gpu_has_and_what_makes_no_sense_is_refused_in_the_same_words(self):
        done = self.cluster.muster("submit", "--gpu-share=500G", "--wrap", "true")
        self.assertEqual(done.returncode, 1)
        self.assertIn("--gpu-share: no GPU of this cluster has 500G of memory", done.stderr)
        status, _, body = self.rest(500)
        self.assertGreaterEqual(status, 400)
        self.assertIn("--gpu-share: no GPU of this cluster has 500G of memory; muster topo shows what there is",
                      json.dumps(body))
        status, _, body = self.rest(20, exclusive=True)
        self.assertGreaterEqual(status, 400)
        self.assertIn("--gpu-share: --exclusive takes whole nodes", json.dumps(body))

    def test_alternatives_and_components_may_have_sizes(self):
        job = self.submit("--hold", "--gpu-share=20G", "--alt=-n 1|-n 2", "--wrap", "true")
        self.assertEqual(self.share_of(job)["gpu_share"], 144)
        job = self.submit("--hold", "-n1", ":", "--gpu-share=20G", "--wrap", "true")
        _, second = self.get(f"/v1/jobs/{job}")["jobs"]
        self.assertEqual(second["request"]["gpu_share"], 144)

    def test_python_makes_the_same_of_it(self):
        for name in ("cloudpickle", "grpc"):
            if importlib.util.find_spec(name) is None:
                self.skipTest(f"SKIPPED: {sys.executable} has no {name}")
        sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(BIN)), "python"))
        os.environ["MUSTER_STATE"] = self.cluster.state
        self.addCleanup(os.environ.pop, "MUSTER_STATE")
        import muster
        mine = muster.submit("true", hold=True, gpu_share="20G")
        by_command = self.submit("--hold", "--gpu-share=20G", "--wrap", "true")
        self.assertEqual(self.share_of(mine.id), self.share_of(by_command))
        with self.assertRaisesRegex(Exception, "--gpu-share: no GPU of this cluster has 500G of memory"):
            muster.submit("true", gpu_share="500G")
        for wrong in ("20X", "20", "", 2):
            with self.assertRaisesRegex(ValueError, "part of a GPU|size"):
                muster.submit("true", gpu_share=wrong)


if __name__ == "__main__":
    unittest.main()
