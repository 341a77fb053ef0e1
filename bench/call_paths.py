"""What call paths cost: CPU added on real programs, size of the data, paths that are complete. Arguments: rounds, rate."""
import json
import os
import subprocess
import sys

import measure
import workloads
from measure import PCTALLY, SCRATCH, Run

PATIENCE = 60  # seconds for perf script
START = ("_start", "__libc_start_main", "__libc_start_call_main", "clone3", "start_thread")


def profilers(hertz):
    """{name: (words before the command, the file it writes, or None)}"""
    near = str(hertz - 1)
    chosen = {}
    for name, options in (("pctally ring", ()), ("pctally ring -g", ("-g",))):
        path = os.path.join(SCRATCH, name.replace(" ", "_"))
        chosen[name] = ([PCTALLY, "record", "-q", "-f", "-e", "ring", *options, "-F", str(hertz), "-o", path, "--"], path)
    if measure.have("perf"):
        perf = ["perf", "record", "-q", "--no-bpf-event", "-e", "cpu-clock", "-F", near]
        for graph in ("fp", "dwarf", "dwarf,65528"):
            path = os.path.join(SCRATCH, "perf." + graph)
            chosen[f"perf --call-graph {graph}"] = ([*perf, "--call-graph", graph, "-o", path, "--"], path)
    return chosen


def complete(name, path):
    """Share of the ticks with a path to the start of the program, or of the thread."""
    if name.startswith("pctally"):
        report = json.loads(subprocess.run([PCTALLY, "report", "--json", path], capture_output=True).stdout)
        return report["paths"]["complete"] / report["counted"] if "paths" in report else None
    try:
        script = subprocess.run(["perf", "script", "-i", path, "-F", "ip,sym"], capture_output=True, text=True, errors="replace",
                                timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return None
    stacks = [stack.split("\n") for stack in script.stdout.strip().split("\n\n")]
    # A stripped program's _start has no name: what calls main has.
    return sum(any(word in line for line in stack[-3:] for word in START) for stack in stacks) / max(1, len(stacks))


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    hertz = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    print(f"machine: {measure.machine()}\n{rounds} interleaved rounds at {hertz} Hz\n")
    for workload, (words, stdin, beside) in workloads.make().items():
        configurations = {"bare": lambda: Run(words, stdin=stdin, beside=beside)}
        chosen = profilers(hertz)
        for name, (prefix, _) in chosen.items():
            configurations[name] = lambda prefix=prefix: Run(prefix + words, None, stdin, beside)
        results = measure.interleaved(configurations, rounds)
        rows = []
        for name, runs in results.items():
            added = [run.cpu - base.cpu for run, base in zip(runs, results["bare"])]
            path = chosen[name][1] if name in chosen else None
            share = complete(name, path) if path else None
            rows.append((name, measure.spread([run.cpu for run in runs]), measure.spread(added, 1e3, 1),
                         f"{os.path.getsize(path) / 1e6:.2f}" if path else "", f"{100 * share:.2f} %" if share else ""))
        print(f"### {workload}\n")
        measure.table(("configuration", "CPU s", "CPU added, ms", "MB", "paths complete"), rows)


if __name__ == "__main__":
    main()
