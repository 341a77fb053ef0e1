"""Do the intervals of totals, callers and callees hold? python3 path_intervals.py [RUNS [ENGINE...]].

A program with the same work each time is recorded RUNS (100) times under `record -g`; all runs together are taken for the truth.
Printed is how many runs' 95 % intervals hold it, for each kind of figure, and for the row where they do so least often. A run without
a row stands for the interval from 0 to the share that none of its samples may have missed. Only rows between 2 and 98 % are judged,
callers and callees of functions with a total above 5 %: first those with several callers.
WORK=sqlite3 or mixed: one of the two programs alone. The other is a shell that starts Python (recursion, system calls, functions with
many callers) and a program without unwind tables, whose paths are cut. How its time is shared between the two varies itself from run to
run. So the kind "of its run" compares the second one's share with the CPU time that the kernel booked for it in that very run."""
import collections
import json
import os
import subprocess
import sys

import measure
from measure import PCTALLY, SCRATCH

FUNCTIONS = 8  # whose callers are looked at
CANDIDATES = 40
Z2 = 1.96 ** 2  # of a 95 % interval
SQL = ("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 300000) "
       "SELECT x * 7919 % 1000 AS k, count(*), max(x), group_concat(x % 10) FROM c GROUP BY k ORDER BY 2, 3")


PYTHON = """
import json, os
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
data = {str(i): [i] * 5 for i in range(2000)}
for _ in range(12): json.loads(json.dumps(data))
fib(21)
for _ in range(12000): os.stat("/proc/self/status")
for _ in range(6000): os.listdir("/")
"""
MIXED = ('/usr/bin/python3 -c "$PYTHON"; TIMEFORMAT="%3U %3S"; '
         'time busybox awk "BEGIN { for (i = 0; i < 700000; i++) s += i % 7 }"')
PROGRAMS = {"sqlite3": ["sqlite3", ":memory:", SQL], "mixed": ["bash", "-c", MIXED]}
CUT = "[path cut at code without unwind table]"


def report(path, *options):
    done = subprocess.run([PCTALLY, "report", "--json", *options, path], capture_output=True, check=True)
    return json.loads(done.stdout)


def rows_of_table(data, recursive):
    """{(kind, function, object): (ticks, of, low, high)}"""
    rows = {}
    for row in data["rows"]:
        key = row["function"], row["object"]
        rows["self", *key] = row["ticks"], data["ticks"], row["low"], row["high"]
        if "total" in row:
            rows[kind_of_total(row, recursive), *key] = row["total_ticks"], data["ticks"], row["total_low"], row["total_high"]
    return rows


def rows_of_callers(path, function):
    done = subprocess.run([PCTALLY, "report", "--json", "--names", "full", "--callers", function, path], capture_output=True)
    if done.returncode != 0:
        return {}
    data, rows = json.loads(done.stdout), {}
    if function == CUT:
        return {("cut", function, ""): (data["ticks"], data["all_ticks"], data["low"], data["high"])}
    for kind in ("callers", "callees"):
        for row in data[kind]:
            rows[kind, function, row["function"], row["file"], row["line"]] = row["ticks"], data["ticks"], row["low"], row["high"]
    return rows


def recursive_functions(path):
    """Those that are twice on a path."""
    nodes, found = report(path, "--names", "full", "--tree", "--min-share", "0")["nodes"], set()
    above = []  # of each node the functions above it, and its own
    for node in nodes:
        outer = above[node["parent"]] if node["parent"] >= 0 else frozenset()
        own = node["function"], node["object"]
        if own in outer:
            found.add(own)
        above.append(outer | {own})
    return found


def kind_of_total(row, recursive):
    if (row["function"], row["object"]) in recursive:
        return "total, recursive"
    return "total, kernel" if row["object"] == "[kernel]" else "total"


def functions_to_look_at(path, run):
    """Those with several callers first."""
    totals = sorted(((row[0] / row[1], key[1]) for key, row in run.items() if key[0].startswith("total")), reverse=True)
    several, others = [], []
    for name in [name for share, name in totals if 0.05 < share < 0.95][:CANDIDATES]:
        rows = rows_of_callers(path, name)
        callers = sum(0.05 * of < ticks for (kind, *_), (ticks, of, _, _) in rows.items() if kind == "callers")
        (several if callers > 1 else others).append(name)
    return (several + others)[:FUNCTIONS]


def group_of(key):
    """Rows that are shares of the same ticks: all of the run, or those of a function."""
    return key[:2] if key[0] in ("callers", "callees") else ("all",)


def high_without_row(whole, samples_per_tick):
    """Wilson's upper end for no sample of a whole: ticks that come four at a time are one sample."""
    return Z2 / (whole * samples_per_tick + Z2)


def judge(runs, weights, title):
    ticks, of = collections.Counter(), collections.Counter()
    wholes = [{group_of(key): row[1] for key, row in run.items()} for run in runs]
    for run in runs:
        for key, (count, _, _, _) in run.items():
            ticks[key] += count
    for key in ticks:
        of[key] = sum(whole.get(group_of(key), 0) for whole in wholes)
    held = collections.defaultdict(list)  # kind: (part of the runs, row)
    for key, count in ticks.items():
        truth = count / of[key]
        if not 0.02 <= truth <= 0.98:
            continue
        good = sum(run[key][2] <= truth <= run[key][3] if key in run else truth <= high_without_row(whole.get(group_of(key), 0), weight)
                   for run, whole, weight in zip(runs, wholes, weights))
        held[key[0]].append((good / len(runs), key, truth))
    for kind, rows in held.items():
        worst = min(rows)
        mean = sum(part for part, _, _ in rows) / len(rows)
        measure.row((title, kind, str(len(rows)), f"{100 * mean:.1f} %", f"{100 * worst[0]:.0f} %",
                     f"{worst[1][1]}{' ' + worst[1][2] if kind.startswith('call') else ''}, {100 * worst[2]:.1f} %"))


def row_of_its_run(path, seconds, all_seconds):
    """(is the share of CPU time within the interval?, that share)"""
    rows = [row for row in report(path, "--by", "process")["rows"] if row["process"] == "busybox"]
    truth = seconds / all_seconds
    return any(row["low"] <= truth <= row["high"] for row in rows), truth


def print_of_its_run(title, rows):
    held = sum(holds for holds, _ in rows) / len(rows)
    shares = sorted(truth for _, truth in rows)
    measure.row((title, "of its run", "1", f"{100 * held:.1f} %", f"{100 * held:.0f} %",
                 f"busybox, {100 * shares[0]:.1f} to {100 * shares[-1]:.1f} %"))


def look_at(work, engine, count):
    runs, weights, functions, recursive, of_their_run = [], [], [], set(), []
    for _ in range(count):
        path = os.path.join(SCRATCH, "intervals.pct")
        done = subprocess.run([PCTALLY, "record", "-q", "-f", "-g", "-e", engine, "-o", path, "--", *PROGRAMS[work]], check=True, text=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=dict(os.environ, PYTHON=PYTHON, PYTHONHASHSEED="0"))
        data = report(path)
        if work == "mixed" and engine in ("ring", "bpf"):  # the others do not observe a static program
            of_their_run.append(row_of_its_run(path, sum(map(float, done.stderr.splitlines()[-1].split())), data["cpu_s"]))
        recursive = recursive or recursive_functions(path)
        run = rows_of_table(data, recursive)
        weights.append(data["effective_samples"] / data["ticks"])
        functions = functions or functions_to_look_at(path, run)
        for function in [*functions, CUT]:
            run.update(rows_of_callers(path, function))
        runs.append(run)
    judge(runs, weights, f"{engine}, {work}")
    if of_their_run:
        print_of_its_run(f"{engine}, {work}", of_their_run)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    print(f"machine: {measure.machine()}\n")
    measure.header(("engine, program", "kind", "rows", "runs that hold, mean", "worst row", "which, and its share"))
    for work in [os.environ["WORK"]] if "WORK" in os.environ else PROGRAMS:
        for engine in sys.argv[2:] or ["ring", "timer"]:
            look_at(work, engine, count)


if __name__ == "__main__":
    main()
