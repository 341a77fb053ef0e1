"""Coverage: CPU time the samples stand for against what the program really used, for threads, short threads and short
children."""
import os
import sys

import measure
import samplers
from measure import PROGRAMS, SCRATCH

HERTZ = 1000


def workloads():
    """{name: (words, seconds the program itself says it uses)}; None: what the bare run used"""
    program = lambda name, *args: [os.path.join(PROGRAMS, name), *map(str, args)]
    found = {}
    for threads in (1, 4, 16, 64):
        found[f"{threads} threads"] = program("spinner", threads, 2 / threads)
    for ms in (0.3, 2, 10):
        found[f"threads of {ms} ms"] = program("churner", ms, 2)
    for how in ("fork", "spawn"):
        for ms in (0.5, 3, 20):
            found[f"{how}ed children of {ms} ms"] = program("forker", how, int(1500 / ms), ms)
    if measure.have("stress-ng"):
        for stressor in ("fork", "vfork", "spawn", "clone", "pthread"):
            found[f"stress-ng --{stressor}"] = ["stress-ng", "-q", f"--{stressor}", "1", "-t", "2"]
    else:
        print("skipped: stress-ng (not installed)")
    found["make -j2"] = make_project()
    return found


def make_project():
    directory = os.path.join(SCRATCH, "project")
    os.makedirs(directory, exist_ok=True)
    names = [f"part{i}" for i in range(24)]
    for name in names:
        with open(os.path.join(directory, name + ".c"), "w") as file:
            file.write("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n")
            for i in range(20):
                file.write(f"int {name}_{i}(int a) {{ int s = 0; for (int i = 0; i < a; ++i) s += i * {i} % 7; return s; }}\n")
    with open(os.path.join(directory, "Makefile"), "w") as file:
        file.write("OBJECTS = " + " ".join(name + ".o" for name in names) +
                   "\nall: $(OBJECTS)\n%.o: %.c\n\t$(CC) -O2 -c -o $@ $<\nclean:\n\trm -f *.o\n")
    return ["make", "-s", "-B", "-j2", "-C", directory]


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    configurations = [samplers.Engine(name) for name in samplers.engines()] + samplers.peers()
    print(f"### Coverage at {HERTZ} Hz: % of the CPU time the samples stand for, {rounds} rounds\n")
    measure.header(("workload", *[s.name for s in configurations]))
    for name, words in workloads().items():
        row = [name]
        results = measure.interleaved(dict(
            {"bare": lambda: samplers.Bare().record(words, HERTZ)},
            **{s.name: lambda s=s: (s.record(words, HERTZ), getattr(s, "last", None)) for s in configurations}), rounds)
        bare = sorted(run.cpu for run in results["bare"])[rounds // 2]
        for sampler in configurations:
            shares = []
            for seen, data in results[sampler.name]:
                # pctally's report has the CPU time of just that run, from wait4; for the others the bare run's is taken.
                cpu = data["cpu_s"] if data and data["cpu_s"] else bare
                shares.append(seen.seconds / cpu)
            row.append(measure.spread(shares, 100, 1))
        measure.row(row)


if __name__ == "__main__":
    print(f"machine: {measure.machine()}\n")
    main()
