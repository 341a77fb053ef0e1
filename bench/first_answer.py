"""From the command to the first answer to "who calls it?": a recording with call paths and its report, beside the bare program.
Arguments: rounds, rate. $PATIENCE: seconds that a report may take."""
import glob
import os
import shutil
import subprocess
import time

import measure
import workloads
from measure import PCTALLY, SCRATCH, Run

PATIENCE = float(os.environ.get("PATIENCE", 120))


class Answer:
    """A recording and its report: seconds of wall and CPU time together. `ended`: there was an answer in time."""

    def __init__(self, record, report, env, stdin, beside):
        recorded = Run(record, env, stdin, beside)
        began = time.monotonic()
        before = os.times()
        try:
            subprocess.run(report(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=PATIENCE, check=True)
            self.ended = True
        except subprocess.TimeoutExpired:
            self.ended = False
        after = os.times()
        self.wall = recorded.wall + time.monotonic() - began
        self.cpu = recorded.cpu + after.children_user + after.children_system - before.children_user - before.children_system


def tools(hertz, program):
    """{name: (words before the command, environment, report())}"""
    chosen = {}
    for engine in ("ring", "bpf", "timer"):
        path = os.path.join(SCRATCH, engine)
        chosen[f"pctally {engine} -g"] = ([PCTALLY, "record", "-q", "-f", "-g", "-e", engine, "-F", str(hertz), "-o", path, "--"], {},
                                          lambda path=path: [PCTALLY, "report", path])
    for graph in ("fp", "dwarf", "dwarf,65528") if measure.have("perf") else ():
        path = os.path.join(SCRATCH, "perf." + graph)
        chosen[f"perf --call-graph {graph}"] = (["perf", "record", "-q", "-e", "cpu-clock", "-F", str(hertz - 1), "--call-graph", graph, "-o", path, "--"], {},
                                                lambda path=path: ["perf", "report", "--stdio", "-i", path])
    library = measure.gperftools_library()
    if library and measure.have("google-pprof"):
        path = os.path.join(SCRATCH, "gperftools")
        environment = {"LD_PRELOAD": library, "CPUPROFILE": path, "CPUPROFILE_FREQUENCY": str(hertz)}
        newest = lambda: max(glob.glob(path + "*"), key=os.path.getmtime)  # children write files of their own
        chosen["gperftools"] = ([], environment, lambda: ["google-pprof", "--text", "--cum", shutil.which(program) or program, newest()])
    return chosen


def cells(name, results):
    runs, bare = results[name], results["bare"]
    late = sum(not run.ended for run in runs) if name != "bare" else 0
    added = measure.spread([run.wall - base.wall for run, base in zip(runs, bare)], 1e3, 0)
    cpu = measure.spread([run.cpu - base.cpu for run, base in zip(runs, bare)], 1e3, 0)
    return (f"over {added}" if late else added, cpu, f"{late} of {len(runs)} had none" if late else "")


def main():
    def configurations(words, stdin, beside, hertz):
        for name, (prefix, env, report) in tools(hertz, words[0]).items():
            yield name, lambda prefix=prefix, env=env, report=report: Answer(prefix + words, report, env, stdin, beside)

    workloads.compare_runs(configurations, ("wall ms until the answer, beside the bare run", "CPU ms", f"no answer in {PATIENCE:.0f} s"), cells)


if __name__ == "__main__":
    main()
