"""What bounds a job, told by the processors' own counters: kernels whose answer is known."""

import ctypes
import json
import os
import platform
import re
import struct
import unittest

from cluster import KERNELS, PATIENCE, ClusterTest

PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}
INSTRUCTIONS, CACHE_MISSES = 1, 3  # of PERF_TYPE_HARDWARE (linux/perf_event.h)


def refusal(event):
    """Why the kernel does not count that of this very process; empty: it does."""
    number = PERF_EVENT_OPEN.get(platform.machine())
    if number is None:
        return f"not known how to ask on {platform.machine()}"
    kernel_and_hypervisor_left_out = 1 << 5 | 1 << 6
    attributes = struct.pack("<IIQQQQQ", 0, 112, event, 0, 0, 0, kernel_and_hypervisor_left_out).ljust(112, b"\0")
    libc = ctypes.CDLL(None, use_errno=True)
    counter = libc.syscall(ctypes.c_long(number), attributes, 0, -1, -1, ctypes.c_ulong(8))
    if counter < 0:
        return os.strerror(ctypes.get_errno())
    os.close(counter)
    return ""


class BoundTest(ClusterTest):
    nodes = 1

    def setUp(self):
        super().setUp()
        why = refusal(INSTRUCTIONS) or refusal(CACHE_MISSES)
        if why:
            self.skipTest(f"SKIPPED: NO HARDWARE COUNTERS HERE (perf_event_open: {why}): on a machine that shows them "
                          "this test says whether stream is called memory-bound and gemm compute-bound")

    def bound(self, kernel, *words):
        done = self.cluster.muster("run", "-n", 1, "-c", 2, os.path.join(KERNELS, kernel), *words,
                                   patience=4 * PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        (row,) = json.loads(self.cluster.must("history", "last", "--json"))["jobs"]
        if row["usage"].get("instructions") is None:
            self.skipTest("SKIPPED: NO CONTROL GROUPS HERE: counters are read of a job's control group, and "
                          "jobs have none: " + self.cluster.must("nodes"))
        sheet = self.cluster.must("show", "last")
        found = re.search(r"bound by +(.*)", sheet)
        self.assertIsNotNone(found, sheet)
        return found.group(1)

    def test_stream_is_called_memory_bound(self):
        self.assertRegex(self.bound("stream", "--n", "64M", "--repeat", 60),
                         r"^memory: CPUs busy \d+ %, .* cache misses in 1,000 instructions")

    def test_gemm_is_called_compute_bound(self):
        self.assertRegex(self.bound("gemm", "--n", "1024", "--repeat", 200),
                         r"^compute: CPUs busy \d+ %, .* cache misses in 1,000 instructions")


if __name__ == "__main__":
    unittest.main()
