"""What a frame of a call path costs, engine by engine: the length of an interruption of a program that is 12 calls deep and
of one that is 112 calls deep, and the CPU time that its recorder takes. Arguments: rounds, rate."""
import os
import sys

import measure
import samplers
from measure import PROGRAMS

SHALLOW, DEEP = 12, 112
SECONDS = "2"
SHORTEST = "10"  # of an interruption, in microseconds: those by the host of a virtual machine are shorter, and more


def configurations():
    chosen = [samplers.Bare()]
    for engine in samplers.engines():
        chosen += [samplers.Engine(engine), samplers.Engine(engine, ("-g",))]
    if measure.have("perf"):
        chosen.append(samplers.Perf(options=("--call-graph", "dwarf")))
    return chosen


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    hertz = int(sys.argv[2]) if len(sys.argv) > 2 else 4000
    print(f"machine: {measure.machine()}\n{rounds} interleaved rounds at {hertz} Hz, {SECONDS} s each\n")
    samplers_ = configurations()
    empty = [os.path.join(PROGRAMS, "empty")]
    starts = measure.interleaved({s.name: lambda s=s: s.record(empty, hertz) for s in samplers_}, rounds)
    results = measure.interleaved(
        {(s.name, frames): lambda s=s, frames=frames: s.record([os.path.join(PROGRAMS, "gaps"), SECONDS, str(frames), SHORTEST], hertz)
         for s in samplers_ for frames in (SHALLOW, DEEP)}, rounds)

    def costs(name, frames):
        """Of each round: ns of an interruption, ns a tick beside the program."""
        found = []
        for run, start in zip(results[name, frames], starts[name]):
            _, middle, _, _, cpu = (float(word) for word in run.program_says.split())
            beside = (run.cpu - start.cpu) * 1e9 - cpu
            found.append((middle, beside / run.samples if run.samples else 0))
        return found

    rows = []
    for sampler in samplers_:
        shallow, deep = costs(sampler.name, SHALLOW), costs(sampler.name, DEEP)
        cells = [sampler.name]
        for part in range(2):
            cells += [measure.spread([cost[part] for cost in shallow], 1e-3, 1),
                      measure.spread([(more[part] - less[part]) / (DEEP - SHALLOW) for less, more in zip(shallow, deep)], 1, 0)]
        rows.append(cells)
    measure.table(("configuration", f"an interruption, {SHALLOW} frames, µs", "a frame more, ns",
                   f"beside the program, {SHALLOW} frames, µs a tick", "a frame more, ns"), rows)


if __name__ == "__main__":
    main()
