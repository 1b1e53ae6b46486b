"""What one no-op job costs in system calls: bounds that no change may pass without a word. Counts, not times."""

import collections
import os
import re
import shutil
import time
import unittest

from cluster import Cluster, WIDE

JOBS = 100
TRACED = ("execve,clone,clone3,fork,vfork,openat,open,creat,mkdir,mkdirat,link,linkat,symlink,symlinkat,bind,"
          "rename,renameat,renameat2,unlink,unlinkat,rmdir,fsync,fdatasync,sendmsg,socket")
# A line of strace: the call, its arguments, its result.
LINE = re.compile(r"^\d+ +(?:<\.\.\. )?(\w+)(?:\(| resumed>)(.*)\) += (-?\d+|\?)")
BEGUN = re.compile(r"^\d+ +(\w+)\((.*) <unfinished \.\.\.>$")

# For each job, on average over an array of many: at most so many. tests/bench/README.md has what they are.
BOUNDS = {
    "node": {"exec": 1.1, "fork": 2.1, "file made": 16.5, "name removed": 16.5, "rename": 2.2, "open": 19, "sync": 0.1,
             "send": 2},
    "controller": {"exec": 0.01, "fork": 0.01, "sync": 2, "send": 4},
}


def kind_of(call, arguments, result):
    """What the line is counted as, or nothing."""
    if result.startswith("-") or result == "?":
        return None
    if call == "execve":
        return "exec"
    if call in ("clone", "clone3", "fork", "vfork"):
        return None if "CLONE_THREAD" in arguments else "fork"
    if call in ("openat", "open", "creat"):
        return "file made" if "O_CREAT" in arguments else "open"
    if call in ("mkdir", "mkdirat", "link", "linkat", "symlink", "symlinkat"):
        return "file made"
    if call == "bind":
        return "file made" if 'sun_path="/' in arguments else None
    return {"unlink": "name removed", "unlinkat": "name removed", "rmdir": "name removed", "rename": "rename",
            "renameat": "rename", "renameat2": "rename", "fsync": "sync", "fdatasync": "sync",
            "sendmsg": "send"}.get(call)


def counts_in(path, after):
    """How often each kind happened in a trace from byte `after` on."""
    counts, begun = collections.Counter(), {}
    with open(path, encoding="utf-8", errors="replace") as file:
        file.seek(after)
        for line in file:
            pid = line.split(" ", 1)[0]
            half = BEGUN.match(line.rstrip("\n"))
            if half:
                begun[pid] = half.group(2)
                continue
            whole = LINE.match(line)
            if whole:
                call, arguments, result = whole.groups()
                if "resumed>" in line:
                    arguments = begun.pop(pid, "") + arguments
                counts[kind_of(call, arguments, result)] += 1
    return counts


class CountsTest(unittest.TestCase):

    @unittest.skipUnless(shutil.which("strace"), "strace is not installed (./run test installs it)")
    def test_a_no_op_job_stays_within_its_counts(self):
        cluster = Cluster(topology=WIDE)
        self.addCleanup(cluster.close)
        traces = {}
        for part, daemon in (("controller", cluster.controller), ("node", cluster.agents[0])):
            traces[part] = os.path.join(cluster.root, part + ".trace")
            daemon.before = ["strace", "-D", "-f", "-qq", "-s", "300", "-e", "trace=" + TRACED, "-e", "signal=none",
                             "-o", traces[part]]
        cluster.start()
        # The first ones prepare what the others use.
        self.run_jobs(cluster, 20)
        before = self.sizes_at_rest(traces)
        self.run_jobs(cluster, JOBS)
        self.sizes_at_rest(traces)
        for part, bounds in BOUNDS.items():
            counts = counts_in(traces[part], before[part])
            found = {kind: counts[kind] / JOBS for kind in bounds}
            print(f"{part}: " + ", ".join(f"{kind} {count:.2f}" for kind, count in found.items()), flush=True)
            for kind, most in bounds.items():
                self.assertLessEqual(found[kind], most, f"{part}: {kind} a job; {found}")

    @staticmethod
    def sizes_at_rest(paths):
        """The sizes once nothing was written for a while: what ended jobs leave is cleared a little later."""
        sizes = None
        while sizes != (sizes := {part: os.path.getsize(path) for part, path in paths.items()}):
            time.sleep(0.5)
        return sizes

    @staticmethod
    def run_jobs(cluster, count):
        first = cluster.submit("-a", f"0-{count - 1}", "-o", "/dev/null", "--wrap", "true")
        cluster.wait_ended(*range(first, first + count), patience=120)


if __name__ == "__main__":
    unittest.main()
