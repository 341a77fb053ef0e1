"""Whole-run CPU added by each profiler on real programs; profiler's own work included. Arguments: rounds, rate."""
import glob
import os
import sys

import measure
import samplers
import workloads
from measure import PCTALLY, SCRATCH, Run


def profilers(hertz=1000):
    """{name: (words before the command, environment)}"""
    out = os.path.join(SCRATCH, "profile")
    chosen = {}
    for engine in samplers.engines():
        chosen[f"pctally {engine}"] = (
            [PCTALLY, "record", "-q", "-f", "-e", engine, "-F", str(hertz), "-o", f"{out}.{engine}", "--"], {})
    near = str(hertz - 1)
    if measure.have("perf"):
        chosen[f"perf record -F {near}"] = (["perf", "record", "-q", "-F", near, "-o", out + ".perf", "--"], {})
        chosen[f"perf record -F {near} --no-bpf-event -e cpu-clock"] = (
            ["perf", "record", "-q", "--no-bpf-event", "-e", "cpu-clock", "-F", near, "-o", out + ".perf2", "--"], {})
    library = sorted(glob.glob("/usr/lib/*/libprofiler.so*"))
    if library:
        gperf = {"LD_PRELOAD": library[0], "CPUPROFILE": out + ".gperf", "CPUPROFILE_FREQUENCY": str(hertz)}
        chosen[f"gperftools {hertz} (delivers the kernel tick's rate)"] = ([], gperf)
        chosen[f"gperftools {hertz} REALTIME"] = ([], dict(gperf, CPUPROFILE=out + ".gperfrt", CPUPROFILE_REALTIME="1"))
    return chosen


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    hertz = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    print(f"machine: {measure.machine()}\n{rounds} interleaved rounds at {hertz} Hz\n")
    for workload, (words, stdin, beside) in workloads.make().items():
        configurations = {"bare": lambda: Run(words, stdin=stdin, beside=beside)}
        for name, (prefix, env) in profilers(hertz).items():
            configurations[name] = lambda prefix=prefix, env=env: Run(prefix + words, env, stdin, beside)
        results = measure.interleaved(configurations, rounds)
        bare = results["bare"]
        rows = []
        for name, runs in results.items():
            ratios = [run.cpu / base.cpu for run, base in zip(runs, bare)]
            added = [run.cpu - base.cpu for run, base in zip(runs, bare)]
            least = min(run.cpu for run in runs) - min(run.cpu for run in bare)
            rows.append((name, measure.spread([run.cpu for run in runs]), measure.spread(ratios),
                         measure.spread(added, 1e3, 1), f"{least * 1e3:.1f}", measure.spread([run.wall for run in runs])))
        print(f"### {workload}\n")
        measure.table(("configuration", "CPU s", "CPU ratio to bare", "CPU added, ms", "of the least runs", "wall s"), rows)


if __name__ == "__main__":
    main()
