"""Coverage: CPU time the samples stand for against what the program really used, for threads, short threads and short
children."""
import os
import sys

import measure
import samplers
from measure import PROGRAMS, SCRATCH

HERTZ = 1000


def workloads():
    """{name: words}"""
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
        nobody = ["unshare", "-U"] if os.geteuid() == 0 else []  # root may not run its spawn
        for stressor in ("fork", "vfork", "spawn", "clone", "pthread"):
            found[f"stress-ng --{stressor}"] = [*nobody, "stress-ng", "-q", f"--{stressor}", "1", "-t", "2"]
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


def coverage(sampler, words):
    """What the samples stand for, of the CPU time of the command and all it started in that same run."""
    group = measure.ControlGroup.make()
    if group is None:
        cpu = samplers.Bare().record(words, HERTZ).cpu
        return sampler.record(words, HERTZ).seconds / cpu
    seen = sampler.record(words, HERTZ, group.around)
    return seen.seconds / group.end()


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    configurations = [samplers.Engine(name) for name in samplers.engines()] + samplers.peers()
    print(f"### Coverage at {HERTZ} Hz: % of the CPU time the samples stand for, {rounds} rounds\n")
    if (group := measure.ControlGroup.make()) is None:
        print("skipped: the CPU time of the very run (no control groups here; that of a bare run is taken)\n")
    else:
        group.end()
    measure.header(("workload", *[s.name for s in configurations]))
    for name, words in workloads().items():
        shares = measure.interleaved({s.name: lambda s=s: coverage(s, words) for s in configurations}, rounds)
        measure.row([name, *[measure.spread(shares[s.name], 100, 1) for s in configurations]])


if __name__ == "__main__":
    print(f"machine: {measure.machine()}\n")
    main()
