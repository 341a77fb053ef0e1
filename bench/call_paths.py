"""What call paths cost: CPU added on real programs, the recorder's own CPU time a tick, size of the data, paths that are
complete. Arguments: rounds, rate. $ENGINES (ring timer) and $GRAPHS (of perf; fp dwarf dwarf,65528) choose the configurations."""
import json
import os
import re
import subprocess

import measure
import workloads
from measure import PCTALLY, SCRATCH

PATIENCE = 60  # seconds for perf script
START = ("_start", "__libc_start_main", "__libc_start_call_main", "clone3", "start_thread")


def file_of(name):
    return os.path.join(SCRATCH, re.sub(r"\W+", "_", name))


def profilers(hertz):
    """{name: (words before the command, environment)}; each writes file_of(name)."""
    chosen = {}
    for engine in os.environ.get("ENGINES", "ring timer").split():
        for options in ((), ("-g",)):
            chosen[" ".join(("pctally", engine, *options))] = [PCTALLY, "record", "-q", "-f", "-e", engine, *options, "-F", str(hertz)]
    if measure.have("perf"):
        for graph in os.environ.get("GRAPHS", "fp dwarf dwarf,65528").split():
            chosen[f"perf --call-graph {graph}"] = ["perf", "record", "-q", "--no-bpf-event", "-e", "cpu-clock",
                                                    "-F", str(hertz - 1), "--call-graph", graph]
    return {name: ([*words, "-o", file_of(name), "--"], {}) for name, words in chosen.items()}


def report_of(path):
    return json.loads(subprocess.run([PCTALLY, "report", "--json", path], capture_output=True).stdout)


def is_start(frame):
    """Whether the frame is the start of the program or of a thread."""
    return any(word in frame for word in START)


def complete(name, path):
    """Share of the ticks with a path to the start of the program, or of the thread."""
    if name.startswith("pctally"):
        report = report_of(path)
        return report["paths"]["complete"] / report["counted"] if "paths" in report else None
    try:
        script = subprocess.run(["perf", "script", "-f", "--no-inline", "-i", path, "-F", "ip,sym"], capture_output=True, text=True, errors="replace",
                                timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return None
    stacks = [stack.split("\n") for stack in script.stdout.strip().split("\n\n")]
    # A stripped program's _start has no name: what calls main has.
    return sum(any(is_start(line) for line in stack[-3:]) for stack in stacks) / max(1, len(stacks))


def recorder_us(name, run):
    """Of the last run, all but the program's own time: also the recorder's start and end."""
    if not name.startswith("pctally"):
        return ""
    report = report_of(file_of(name))
    return f"{1e6 * (run.cpu - report['cpu_s']) / report['counted']:.1f}"


def with_paths(name, results):
    """How much more CPU time a run takes with -g than without."""
    without = results.get(name.removesuffix(" -g"))
    if not name.endswith(" -g") or without is None:
        return ""
    return measure.middle([100 * (run.cpu / base.cpu - 1) for run, base in zip(results[name], without)], " %")


def cells(name, results):
    runs, added = results[name], workloads.added_ms(results[name], results["bare"])
    if name == "bare":
        return (added, "", "", "", "")
    share = complete(name, file_of(name))
    return (added, with_paths(name, results), recorder_us(name, runs[-1]), f"{os.path.getsize(file_of(name)) / 1e6:.2f}", f"{100 * share:.2f} %" if share else "")


if __name__ == "__main__":
    workloads.compare(profilers, ("CPU added, ms", "by -g, with its 95 % interval", "recorder, µs a tick", "MB", "paths complete"), cells)
