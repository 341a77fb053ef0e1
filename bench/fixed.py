"""What recording costs a program that does nothing: the fixed part, without and with call paths."""
import os
import sys

import measure
from cost import profilers
from measure import PROGRAMS, Run


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 25
    empty = [os.path.join(PROGRAMS, "empty")]
    configurations = {"bare": lambda: Run(empty)}
    for name, (prefix, env) in profilers(options=((), ("-g",))).items():
        configurations[name] = lambda prefix=prefix, env=env: Run(prefix + empty, env)
    results = measure.interleaved(configurations, rounds)
    rows = []
    for name, runs in results.items():
        rows.append((name, measure.spread([run.cpu - base.cpu for run, base in zip(runs, results["bare"])], 1e3, 2),
                     measure.spread([run.wall - base.wall for run, base in zip(runs, results["bare"])], 1e3, 2)))
    print(f"### An empty program, {rounds} interleaved rounds\n")
    measure.table(("configuration", "CPU added, ms", "wall added, ms"), rows)


if __name__ == "__main__":
    main()
