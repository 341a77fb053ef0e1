"""From data to a per-function text: time, peak memory and file size, pctally, perf and google-pprof on the same work."""
import glob
import os
import shutil
import sys

import measure
import workloads
from cost import profilers
from measure import PCTALLY, Run


def out_file(prefix, env):
    return env.get("CPUPROFILE") or prefix[prefix.index("-o") + 1]


def report_words(name, path, program):
    if name.startswith("pctally"):
        return [PCTALLY, "report", path]
    if name.startswith("perf"):
        return ["perf", "report", "--stdio", "-i", path]
    return ["google-pprof", "--text", shutil.which(program) or program, path] if measure.have("google-pprof") else None


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 11
    for workload, (words, stdin, beside) in workloads.make().items():
        configurations, sizes, peaks = {}, {}, {}
        for name, (prefix, env) in profilers().items():
            Run(prefix + words, env, stdin, beside)
            path = out_file(prefix, env)
            path = path if os.path.exists(path) else max(glob.glob(path + "*"), key=os.path.getmtime)
            command = report_words(name, path, words[0])
            if command is None:
                continue
            sizes[name] = os.path.getsize(path)
            peaks[name] = measure.peak_mb(command)
            configurations[name] = lambda command=command: Run(command)
        results = measure.interleaved(configurations, rounds)
        print(f"### {workload}: report, {rounds} interleaved rounds\n")
        measure.table(("configuration", "file KB", "wall ms", "CPU ms", "peak memory MB"),
                      [(name, f"{sizes[name] / 1024:.0f}", measure.spread([run.wall for run in runs], 1e3, 1),
                        measure.spread([run.cpu for run in runs], 1e3, 1), f"{peaks[name]:.1f}")
                       for name, runs in results.items()])


if __name__ == "__main__":
    main()
