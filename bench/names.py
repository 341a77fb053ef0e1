"""What names in the profile cost: what record takes to add them, and the first report with and without them."""
import os
import re
import shutil
import statistics
import subprocess
import sys

import measure
import workloads
from measure import PCTALLY, Run

NAMES = 404  # offset of the header's field
ADDED = re.compile(r"names of (\d+) objects added in ([\d.]+) ms")


def without_names(path):
    """A copy that is what record wrote before it knew names."""
    bare = path + ".bare.pct"
    shutil.copy(path, bare)
    with open(bare, "r+b") as file:
        file.seek(32)
        used = int.from_bytes(file.read(4), sys.byteorder)
        file.seek(NAMES)
        file.write(bytes(4))
        file.truncate(4096 + 64 * used)
    return bare


def record(words, stdin, path):
    """Objects, and milliseconds that record took to name what was hit in them."""
    with open(stdin or os.devnull) as source:
        done = subprocess.run([PCTALLY, "record", "-v", "-f", "-o", path, "--", *words], stdin=source, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, check=True)
    found = ADDED.search(done.stderr)
    return (int(found[1]), float(found[2])) if found else None


def programs():
    found = {name: what[:2] for name, what in workloads.make().items() if what[2] is None}
    for compiler in ("g++", "clang++"):
        if measure.have(compiler):
            source = os.path.join(measure.SCRATCH, "all.cc")
            with open(source, "w") as file:
                file.write("#include <algorithm>\n#include <functional>\n#include <iostream>\n#include <map>\n#include <regex>\n")
            found[compiler + " -O2"] = ([compiler, "-O2", "-std=c++20", "-c", "-o", os.devnull, source], None)
    return found


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    rows = []
    for name, (words, stdin) in programs().items():
        path = os.path.join(measure.SCRATCH, "names.pct")
        added = [found for found in (record(words, stdin, path) for _ in range(5)) if found]
        if not added:
            print(f"skipped: {name} (no names within a second)")
            continue
        bare = without_names(path)
        results = measure.interleaved({"named": lambda: Run([PCTALLY, "report", path]),
                                       "bare": lambda: Run([PCTALLY, "report", bare])}, rounds)
        adding = statistics.median(ms for _, ms in added)
        named, before = (statistics.median(run.wall for run in results[which]) * 1e3 for which in ("named", "bare"))
        rows.append((name, added[0][0], f"{os.path.getsize(bare) / 1024:.0f}", f"{os.path.getsize(path) / 1024:.0f}", f"{adding:.1f}",
                     f"{before:.1f}", f"{named:.1f}", f"{adding + named - before:+.1f}"))
    print(f"### Names in the profile, {rounds} interleaved rounds\n")
    measure.table(("program", "objects hit", "file KB", "with names", "record adds them, ms", "report reads the executables, ms",
                   "report reads the names, ms", "record and report, ms"), rows)


if __name__ == "__main__":
    main()
