"""What names in the profile cost: what record takes to add them, and the first report with and without them."""
import json
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
ADDED = re.compile(r"names added: ([\d.]+) ms")


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
    """Milliseconds of CPU time that record took to add names; None if there are none."""
    with open(stdin or os.devnull) as source:
        done = subprocess.run([PCTALLY, "record", "-v", "-f", "-o", path, "--", *words], stdin=source, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, check=True)
    found = ADDED.search(done.stderr)
    return float(found[1]) if found else None


def functions_in(path):
    done = subprocess.run([PCTALLY, "report", "--json", path], stdout=subprocess.PIPE, check=True)
    return len(json.loads(done.stdout)["rows"])


def programs():
    found = {name: what[:2] for name, what in workloads.make().items()
             if what[2] is None and measure.have(what[0][0])}
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
        adding = statistics.median(added)
        named, before = (statistics.median(run.cpu for run in results[which]) * 1e3 for which in ("named", "bare"))
        rows.append((name, str(functions_in(path)), f"{os.path.getsize(bare) / 1024:.0f}", f"{os.path.getsize(path) / 1024:.0f}", f"{adding:.1f}",
                     f"{before:.1f}", f"{named:.1f}", f"{adding + named - before:+.1f}"))
    print(f"### Names in the profile, {rounds} interleaved rounds\n")
    measure.table(("program", "functions hit", "file KB", "with names", "record adds them, CPU ms",
                   "report reads the executables", "report reads the names", "record and report"), rows)


if __name__ == "__main__":
    main()
