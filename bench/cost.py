"""Whole-run CPU added by each profiler at 1000 Hz, on real programs; profiler's own work included."""
import glob
import os
import sys

import measure
import workloads
from measure import PCTALLY, SCRATCH, Run


def profilers():
    """{name: (words before the command, environment)}"""
    out = os.path.join(SCRATCH, "profile")
    chosen = {
        "pctally ring": ([PCTALLY, "record", "-q", "-f", "-e", "ring", "-o", out + ".ring", "--"], {}),
        "pctally timer": ([PCTALLY, "record", "-q", "-f", "-e", "timer", "-o", out + ".timer", "--"], {}),
    }
    if measure.have("perf"):
        chosen["perf record -F 999"] = (["perf", "record", "-q", "-F", "999", "-o", out + ".perf", "--"], {})
        chosen["perf record -F 999 --no-bpf-event -e cpu-clock"] = (
            ["perf", "record", "-q", "--no-bpf-event", "-e", "cpu-clock", "-F", "999", "-o", out + ".perf2", "--"], {})
    library = sorted(glob.glob("/usr/lib/*/libprofiler.so*"))
    if library:
        gperf = {"LD_PRELOAD": library[0], "CPUPROFILE": out + ".gperf", "CPUPROFILE_FREQUENCY": "1000"}
        chosen["gperftools 1000 (delivers the kernel tick's rate)"] = ([], gperf)
        chosen["gperftools 1000 REALTIME"] = ([], dict(gperf, CPUPROFILE=out + ".gperfrt", CPUPROFILE_REALTIME="1"))
    return chosen


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    print(f"machine: {measure.machine()}\n{rounds} interleaved rounds\n")
    for workload, (words, stdin) in workloads.make().items():
        configurations = {"bare": lambda: Run(words, stdin=stdin)}
        for name, (prefix, env) in profilers().items():
            configurations[name] = lambda prefix=prefix, env=env: Run(prefix + words, env, stdin)
        results = measure.interleaved(configurations, rounds)
        bare = results["bare"]
        rows = []
        for name, runs in results.items():
            ratios = [run.cpu / base.cpu for run, base in zip(runs, bare)]
            added = [run.cpu - base.cpu for run, base in zip(runs, bare)]
            rows.append((name, measure.spread([run.cpu for run in runs]), measure.spread(ratios),
                         measure.spread(added, 1e3, 1), measure.spread([run.wall for run in runs])))
        print(f"### {workload}\n")
        measure.table(("configuration", "CPU s", "CPU ratio to bare", "CPU added, ms", "wall s"), rows)


if __name__ == "__main__":
    main()
