"""Bias: programs in step with the sampler or with the kernel's tick; the true share against the reported one."""
import os
import statistics
import sys

import measure
import samplers
from measure import PROGRAMS

HERTZ = 1000


def with_error(values, form):
    """The mean with its own 95 % interval, and the smallest and largest value."""
    error = 1.96 * statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else float("inf")
    return f"{statistics.mean(values):{form}} ±{error:.1f} ({min(values):{form}} .. {max(values):{form}})"


def lockstep(configurations, rounds):
    rows = []
    for cycle_us in (1000, 4000, 10000, 2 * 10**6 // HERTZ, 10**6 // HERTZ // 2):
        words = [os.path.join(PROGRAMS, "lockstep"), str(cycle_us), "1"]
        results = measure.interleaved({s.name: lambda s=s: s.record(words, HERTZ) for s in configurations}, rounds)
        row = [f"{cycle_us} us"]
        for sampler in configurations:
            errors = [100 * (seen.share.get("phase_a", 0) - float(seen.program_says)) for seen in results[sampler.name]]
            row.append(with_error(errors, "+.1f"))
        rows.append(row)
    print(f"### Lockstep, 30 % of each cycle in one function, asked {HERTZ} Hz: error in percent points, "
          f"mean ±its 95 % interval (smallest .. largest) of {rounds} runs of 1 s\n")
    measure.table(("cycle", *[s.name for s in configurations]), rows)


def evader(configurations, rounds):
    words = [os.path.join(PROGRAMS, "evader"), "1"]
    results = measure.interleaved({s.name: lambda s=s: s.record(words, HERTZ) for s in configurations}, rounds)
    row = ["evader"]
    for sampler in configurations:
        seen = [100 * run.seconds / float(run.program_says) for run in results[sampler.name]]
        row.append(with_error(seen, ".0f"))
    print(f"### Tick evader (asleep at every 4 ms tick): % of its CPU time seen, "
          f"mean ±its 95 % interval (smallest .. largest) of {rounds} runs\n")
    measure.table(("program", *[s.name for s in configurations]), [row])


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    configurations = [samplers.Engine(name) for name in samplers.engines()] + samplers.peers()
    lockstep(configurations, rounds)
    evader(configurations, rounds)


if __name__ == "__main__":
    print(f"machine: {measure.machine()}\n")
    main()
