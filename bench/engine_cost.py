"""What a tick costs, engine by engine: the length of an interruption, less that of the bare interrupt in the same round;
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
    """What an interruption costs the program, by its own look at the clock: a run varies by more
    than its ticks cost, the median of thousands of interruptions does not."""
    work = [os.path.join(PROGRAMS, "gaps"), "1"]
    configurations = [samplers.Bare(), samplers.Floor("machine"), samplers.Floor("inherit")]
    configurations += [samplers.Engine(name) for name in samplers.engines()] + samplers.peers()
    nothing = [os.path.join(PROGRAMS, "empty")]
    starts = rounds_of(configurations, nothing, 1000, ROUNDS)
    start_up = {name: [run.cpu * 1e9 for run in runs] for name, runs in starts.items()}
    print(f"### A program that does nothing, {ROUNDS} interleaved rounds\n")
    measure.table(("configuration", "CPU ms in all"),
                  [(name, measure.spread(cpu, 1e-6, 1)) for name, cpu in start_up.items()])
    for hertz in (1000, 4000, 10000):
        results = rounds_of(configurations, work, hertz, ROUNDS)
        said = {name: [[float(word) for word in run.program_says.split()] for run in runs] for name, runs in results.items()}
        rows = []
        for name, runs in results.items():
            lengths, rate, beside = [], [], []
            for run, (_, median, _, _, cpu), start in zip(runs, said[name], start_up[name]):
                lengths.append(median)
                rate.append(run.samples / (cpu * 1e-9))
                beside.append((run.cpu * 1e9 - cpu - start) / (run.samples or cpu * 1e-9 * hertz))
            # What ticks at the kernel's own rate rides on its tick; the others bring an interrupt of their own.
            own = name not in ("bare", *RIDERS)
            floor = "bare interrupt, machine" if own else "bare"
            above = [mine - other[1] for mine, other in zip(lengths, said[floor])]
            rows.append((name, measure.spread(lengths, 1, 0), floor, measure.spread(above, 1, 0),
                         measure.spread(beside, 1, 0), measure.spread(rate, 1, 0)))
        print(f"### A tick at {hertz} Hz, {ROUNDS} interleaved rounds\n")
        measure.table(("configuration", "interruption, ns", "compared with", "ns above it",
                       "CPU ns beside the program per tick, start-up not included", "deliveries per CPU second"), rows)


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


RIDERS = ("pctally timer", "gperftools")
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 11

if __name__ == "__main__":
    print(f"machine: {measure.machine()}\n")
    ticks()
    switches()
