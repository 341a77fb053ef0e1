"""Whole-run CPU added by each profiler on real programs; profiler's own work included. Arguments: rounds, rate."""
import os

import measure
import samplers
import workloads
from measure import PCTALLY, SCRATCH


def profilers(hertz=1000, options=((),)):
    """{name: (words before the command, environment)}; each engine with each of the options."""
    out = os.path.join(SCRATCH, "profile")
    chosen = {}
    for engine in samplers.engines():
        for more in options:
            chosen[" ".join(("pctally", engine, *more))] = (
                [PCTALLY, "record", "-q", "-f", "-e", engine, *more, "-F", str(hertz), "-o", f"{out}.{engine}", "--"], {})
    near = str(hertz - 1)
    if measure.have("perf"):
        chosen[f"perf record -F {near}"] = (["perf", "record", "-q", "-F", near, "-o", out + ".perf", "--"], {})
        chosen[f"perf record -F {near} --no-bpf-event -e cpu-clock"] = (
            ["perf", "record", "-q", "--no-bpf-event", "-e", "cpu-clock", "-F", near, "-o", out + ".perf2", "--"], {})
    library = measure.gperftools_library()
    if library:
        gperf = {"LD_PRELOAD": library, "CPUPROFILE": out + ".gperf", "CPUPROFILE_FREQUENCY": str(hertz)}
        chosen[f"gperftools {hertz} (delivers the kernel tick's rate)"] = ([], gperf)
        chosen[f"gperftools {hertz} REALTIME"] = ([], dict(gperf, CPUPROFILE=out + ".gperfrt", CPUPROFILE_REALTIME="1"))
    return chosen


def cells(name, results):
    runs, bare = results[name], results["bare"]
    ratios = [run.cpu / base.cpu for run, base in zip(runs, bare)]
    least = min(run.cpu for run in runs) - min(run.cpu for run in bare)
    return (measure.spread(ratios), workloads.added_ms(runs, bare), f"{least * 1e3:.1f}", measure.spread([run.wall for run in runs]))


if __name__ == "__main__":
    workloads.compare(profilers, ("CPU ratio to bare", "CPU added, ms", "of the least runs", "wall s"), cells)
