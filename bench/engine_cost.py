"""What a tick costs, engine by engine: CPU time added to a fixed loop, less that of the bare interrupt in the same round;
the recorder's own share; the rate that came; and what a context switch costs more."""
import os
import sys

import measure
import samplers
from measure import PROGRAMS


def rounds_of(configurations, words, hertz, rounds):
    return measure.interleaved(
        {s.name: lambda s=s: s.record(words, hertz) for s in configurations}, rounds)


def ticks():
    """Every configuration's ns per tick, from the program's own CPU clock."""
    work = [os.path.join(PROGRAMS, "fixed_work"), sys.argv[2] if len(sys.argv) > 2 else "4000"]
    configurations = [samplers.Bare(), samplers.Floor("machine"), samplers.Floor("inherit")]
    configurations += [samplers.Engine(name) for name in samplers.engines()] + samplers.peers()
    for hertz in (1000, 4000, 10000):
        results = rounds_of(configurations, work, hertz, ROUNDS)
        bare = [float(run.program_says) for run in results["bare"]]
        rows = []
        for name, runs in results.items():
            inside = [float(run.program_says) for run in runs]
            added, beside, rate = [], [], []
            for run, mine, base in zip(runs, inside, bare):
                # A sampler that does not say how often it ticked was asked for so many.
                count = run.samples or mine * 1e-9 * hertz
                added.append((mine - base) / count)
                beside.append((run.cpu * 1e9 - mine) / count)
                rate.append(run.samples / (mine * 1e-9))
            rows.append((name, measure.spread([1 + (m - b) / b for m, b in zip(inside, bare)], 1, 4),
                         measure.spread(added, 1, 0), measure.spread(beside, 1, 0), measure.spread(rate, 1, 0)))
        print(f"### A tick at {hertz} Hz, {ROUNDS} interleaved rounds\n")
        measure.table(("configuration", "program's CPU ratio to bare", "ns added to the program per tick",
                       "ns beside it per tick (start-up included)", "deliveries per CPU second"), rows)


def switches():
    configurations = [samplers.Bare(), samplers.Floor("machine"), samplers.Floor("inherit")]
    configurations += [samplers.Engine(name) for name in samplers.engines()] + samplers.peers()
    for kind in ("threads", "processes"):
        words = [os.path.join(PROGRAMS, "switcher"), kind, "100000"]
        results = rounds_of(configurations, words, 1000, ROUNDS)
        bare = [float(run.program_says) for run in results["bare"]]
        rows = []
        for name, runs in results.items():
            each = [float(run.program_says) for run in runs]
            rows.append((name, measure.spread(each, 1, 0),
                         measure.spread([mine - base for mine, base in zip(each, bare)], 1, 0)))
        print(f"### A switch between two {kind} on one CPU at 1000 Hz, {ROUNDS} interleaved rounds\n")
        measure.table(("configuration", "CPU ns per switch", "added"), rows)


ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 11

if __name__ == "__main__":
    print(f"machine: {measure.machine()}\n")
    ticks()
    switches()
