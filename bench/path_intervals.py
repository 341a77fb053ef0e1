"""Do the intervals of totals, callers and callees hold? python3 path_intervals.py [RUNS [ENGINE...]].

One program with the same work each time is recorded RUNS (100) times under `record -g`; all runs together are taken for the truth.
Printed is how many runs' 95 % intervals hold it, for each kind of figure, and for the row where they do so least often. A run without
a row stands for the interval from 0 to the share that none of its samples may have missed. Only rows between 2 and 98 % are judged,
callers and callees of the functions with a total above 5 %."""
import collections
import json
import os
import subprocess
import sys

import measure
from measure import PCTALLY, SCRATCH

FUNCTIONS = 8  # whose callers are looked at
Z2 = 1.96 ** 2  # of a 95 % interval
SQL = ("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 300000) "
       "SELECT x * 7919 % 1000 AS k, count(*), max(x), group_concat(x % 10) FROM c GROUP BY k ORDER BY 2, 3")


def report(path, *options):
    done = subprocess.run([PCTALLY, "report", "--json", *options, path], capture_output=True, check=True)
    return json.loads(done.stdout)


def rows_of_table(data):
    """{(kind, function, object): (ticks, of, low, high)}"""
    rows = {}
    for row in data["rows"]:
        key = row["function"], row["object"]
        rows["self", *key] = row["ticks"], data["ticks"], row["low"], row["high"]
        if "total" in row:
            rows["total", *key] = row["total_ticks"], data["ticks"], row["total_low"], row["total_high"]
    return rows


def rows_of_callers(path, function):
    done = subprocess.run([PCTALLY, "report", "--json", "--names", "full", "--callers", function, path], capture_output=True)
    if done.returncode != 0:
        return {}
    data, rows = json.loads(done.stdout), {}
    for kind in ("callers", "callees"):
        for row in data[kind]:
            rows[kind, function, row["function"], row["file"], row["line"]] = row["ticks"], data["ticks"], row["low"], row["high"]
    return rows


def group_of(key):
    """Rows that are shares of the same ticks: all of the run, or those of a function."""
    return key[:2] if key[0] in ("callers", "callees") else key[:1]


def high_without_row(whole, samples_per_tick):
    """Wilson's upper end for no sample of a whole: ticks that come four at a time are one sample."""
    return Z2 / (whole * samples_per_tick + Z2)


def judge(runs, weights, engine):
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
        measure.row((engine, kind, str(len(rows)), f"{100 * mean:.1f} %", f"{100 * worst[0]:.0f} %",
                     f"{worst[1][1]}{' ' + worst[1][2] if kind.startswith('call') else ''}, {100 * worst[2]:.1f} %"))


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    print(f"machine: {measure.machine()}\n")
    measure.header(("engine", "kind", "rows", "runs that hold, mean", "worst row", "which, and its share"))
    for engine in sys.argv[2:] or ["ring", "timer"]:
        runs, weights, functions = [], [], []
        for _ in range(count):
            path = os.path.join(SCRATCH, "intervals.pct")
            subprocess.run([PCTALLY, "record", "-q", "-f", "-g", "-e", engine, "-o", path, "--", "sqlite3", ":memory:", SQL],
                           stdout=subprocess.DEVNULL, check=True)
            data = report(path)
            run = rows_of_table(data)
            weights.append(data["effective_samples"] / data["ticks"])
            if not functions:
                totals = sorted(((row[0] / row[1], key[1]) for key, row in run.items() if key[0] == "total"), reverse=True)
                functions = [name for share, name in totals if 0.05 < share < 0.95][:FUNCTIONS]
            for function in functions:
                run.update(rows_of_callers(path, function))
            runs.append(run)
        judge(runs, weights, engine)


if __name__ == "__main__":
    main()
