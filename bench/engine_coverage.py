"""Coverage: CPU time the samples stand for against what the program really used, for threads, short threads and short
children. With -g: by the engines that record call paths from outside the program, with what they lose and cost."""
import os
import statistics
import sys

import measure
import samplers
import workloads as programs
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


def script(name, text):
    path = os.path.join(SCRATCH, name)
    with open(path, "w") as file:
        file.write(text)
    return ["sh", path]


CONFIGURE = """cd "$(dirname "$0")"
i=0
while [ $i -lt 12 ]; do
  printf '#include <stdio.h>\\nint main(void) { return puts("%d") < 0; }\\n' $i >conftest.c
  ${CC:-cc} -c conftest.c -o conftest.o
  for word in puts main stdio; do
    if grep -q $word conftest.c; then echo "$word yes" | sed s/yes/no/ >>conftest.log; fi
    test "$(expr $i + 1)" = 0 || cat conftest.c >/dev/null
  done
  rm -f conftest.c conftest.o
  i=$((i + 1))
done
"""


def workloads_of_paths():
    """{name: words}; a name that ends in an event is recorded by that."""
    program = lambda name, *args: [os.path.join(PROGRAMS, name), *map(str, args)]
    text = os.path.join(SCRATCH, "text")
    programs.text_file(text, 3)
    python = ["/usr/bin/python3", "-c", "print(sum(len(str(i * i)) for i in range(6000000)))"]
    children = script("children.sh", "i=0; while [ $i -lt 150 ]; do /bin/true; i=$((i+1)); done\n")
    return {"150 runs of true by a shell": children, "a script like configure": script("configure.sh", CONFIGURE),
            "make -j2": make_project(), "python3": python, "xz": ["sh", "-c", 'exec xz -T1 -c "$0" >/dev/null', text],
            "threads of 0.3 ms": program("churner", 0.3, 1.5), "threads of 2 ms": program("churner", 2, 1.5),
            "make -j2, by page-faults": make_project(), "150 runs of true, by page-faults": children}


def with_paths(engine, words, event):
    """What one recording says of itself, and the CPU time of the recorder and the command."""
    options = ["-g", *(["-e", event] if event else [])]
    sampler = samplers.Engine(engine, options)
    cpu = sampler.record(words, HERTZ, count=event is not None).cpu
    return sampler.last, cpu


def main_of_paths(rounds):
    engines = [name for name in samplers.engines() if name in ("ring", "bpf")]
    print(f"### Coverage of `-g` at {HERTZ} Hz, {rounds} interleaved rounds\n")
    measure.header(("workload", "engine", "sampled, % of the CPU time", "lost, % of the ticks", "ticks", "complete paths, %",
                    "CPU s of recorder and program", "more than the bare program, CPU s (median)"))
    for name, words in workloads_of_paths().items():
        event = name.partition(", by ")[2] or None
        runs = {engine: lambda engine=engine: with_paths(engine, words, event) for engine in engines}
        runs["bare"] = lambda: (None, samplers.Bare().record(words, HERTZ).cpu)
        found = measure.interleaved(runs, rounds)
        bare = [cpu for _, cpu in found["bare"]]
        for engine in engines:
            data = [data for data, _ in found[engine]]
            cpu = [cpu for _, cpu in found[engine]]
            sampled = "" if event else measure.spread([d["sampled_s"] / d["cpu_s"] for d in data if d["cpu_s"] > 0], 100, 1)
            lost = measure.spread([d["lost"] / max(1, d["ticks"]) for d in data], 100, 1)
            complete = measure.spread([d["paths"]["complete"] / max(1, d["counted"] + d["outside"]) for d in data], 100, 1)
            measure.row([name, engine, sampled, lost, f"{statistics.median(d['ticks'] for d in data):.0f}", complete,
                         measure.spread(cpu), f"{statistics.median(a - b for a, b in zip(cpu, bare)):+.3f}"])


def main():
    arguments = [word for word in sys.argv[1:] if word != "-g"]
    rounds = int(arguments[0]) if arguments else 3
    if "-g" in sys.argv:
        return main_of_paths(rounds)
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
