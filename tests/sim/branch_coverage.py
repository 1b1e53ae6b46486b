"""Which branches of scheduler/core lives take: counted by clang in each process, merged, and printed by file.

A branch is one way out of a condition as it stands in the source, however often templates repeat it. Those of
MUSTER_CHECK are left out: no life may take the one that ends the process.
"""

import collections
import json
import os
import subprocess

FOLDER = "scheduler/core/"
CHECK = "MUSTER_CHECK"
EXPANSION = 1  # clang's number of a region that a macro makes
RAW = "%4m.profraw"  # four files, however many processes: each adds to one of them


class Branches:
    """The branches of one tree's core, in how many runs each was taken."""

    def __init__(self, root):
        self.root = root
        self.sources = {}
        self.taken = collections.defaultdict(int)  # by file, site and way

    def line(self, path, number):
        if path not in self.sources:
            with open(os.path.join(self.root, path), encoding="utf-8") as source:
                self.sources[path] = source.read().split("\n")
        return self.sources[path][number - 1]

    def path_of(self, name):
        at = name.rfind(FOLDER)
        return name[at:] if at >= 0 else None

    def add_function(self, function):
        """One instance of a function: its regions say which macro a branch came by."""
        names = function["filenames"]
        entered = {region[6]: (region[5], region[0], region[1]) for region in function["regions"] if region[7] == EXPANSION}
        for line, column, _, _, true, false, file, *_ in function["branches"]:
            site = [(line, column)]
            while file in entered:
                file, *where = entered[file]
                site.append(tuple(where))
            path = self.path_of(names[file])
            if path is None or self.line(path, site[-1][0])[site[-1][1] - 1:].startswith(CHECK):
                continue
            self.taken[(path, tuple(reversed(site)), True)] += true
            self.taken[(path, tuple(reversed(site)), False)] += false

    def by_file(self):
        """(path, branches, of which taken), the smallest part first."""
        files = collections.defaultdict(lambda: [0, 0])
        for (path, _, _), times in self.taken.items():
            files[path][0] += 1
            files[path][1] += times > 0
        return sorted(((path, *counts) for path, counts in files.items()), key=lambda row: (row[2] / row[1], row[0]))

    def untaken(self):
        """(path, line, column, "true" or "false", the line), in order of the source."""
        left = sorted((path, *site[0], site, way) for (path, site, way), times in self.taken.items() if times == 0)
        return [(path, line, column, "true" if way else "false", self.line(path, line).strip())
                for path, line, column, _, way in left]


def merge(folder):
    """One profile of all that processes left in the folder."""
    raw = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".profraw")]
    if not raw:
        raise OSError(f"{folder}: no life left a profile: is muster-dst of the preset coverage?")
    merged = os.path.join(folder, "merged.profdata")
    subprocess.run(["llvm-profdata-14", "merge", "-sparse", "-o", merged, *raw], check=True)
    return merged


def read(root, build, profile):
    """The branches of all of the core's code, whether a life links it or not."""
    branches = Branches(root)
    objects = sorted(os.path.join(folder, name) for folder, _, names in os.walk(os.path.join(build, FOLDER))
                     for name in names if name.endswith(".o"))
    for compiled in objects:
        export = subprocess.run(["llvm-cov-14", "export", "-instr-profile", profile, compiled], check=True,
                                capture_output=True, text=True)
        for unit in json.loads(export.stdout)["data"]:
            for function in unit["functions"]:
                branches.add_function(function)
    return branches


def print_table(branches, listed):
    """By file, then all together; with `listed` also each branch that no life took, into that file."""
    rows = branches.by_file()
    print(f"{'branches':>8} {'taken':>7} {'%':>6}")
    for path, count, taken in rows:
        print(f"{count:8} {taken:7} {100 * taken / count:6.1f}  {path}")
    count, taken = sum(row[1] for row in rows), sum(row[2] for row in rows)
    print(f"{count:8} {taken:7} {100 * taken / max(count, 1):6.1f}  all of {FOLDER}")
    with open(listed, "w", encoding="utf-8") as out:
        for path, line, column, way, text in branches.untaken():
            out.write(f"{path}:{line}:{column}: {way}: {text}\n")
    print(f"branches that no life took: {listed}")
