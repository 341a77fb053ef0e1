"""A report of 200,000 hot addresses in a program with 100 MB of DWARF: pctally beside perf report and llvm-symbolizer.

The program is one unit of templates, compiled once and linked many times under other names. It counts its own addresses by hand, so
that all of them are hot; perf report reads the same ticks, exported.
"""
import os
import re
import select
import subprocess
import sys

import measure
from measure import BUILD, PCTALLY, ROOT, SCRATCH, Run

UNITS, ADDRESSES, PARTS = 23, 200_000, 16
UNIT = """#include <algorithm>
#include <map>
#include <string>
#include <vector>
namespace {
template <int N> struct Item { int key[N % 7 + 1]; std::string name; bool operator<(const Item& other) const { return key[0] < other.key[0]; } };
template <int N> long work(long n) {
  std::map<Item<N>, std::vector<Item<N>>> table;
  for (long i = 0; i < n; i++) { Item<N> item{{int(i % N)}, std::to_string(i)}; table[item].push_back(item); }
  long sum = 0;
  for (auto& [item, items] : table) { std::sort(items.begin(), items.end()); sum += long(items.size() + item.name.size()); }
  return sum + (N > 1 ? work<(N > 1 ? N - 1 : 1)>(n) : 0);
}
}
long unit(long n) { return work<40>(n); }
"""
MAIN = """#include <pctally/pctally.h>
#include <stdio.h>
#include <stdlib.h>
extern char etext[], first_of_text[] __asm__("_start");
%s
int main(int argc, char** argv) {
  long sum = 0;
  if (argc > 5) { %s }
  struct pctally_options options = PCTALLY_OPTIONS_INIT;
  options.path = argv[1];
  options.flags = PCTALLY_OVERWRITE | PCTALLY_NO_TIMER;
  if (pctally_start(&options) != 0) { fprintf(stderr, "%%s\\n", pctally_error()); return 1; }
  const long count = atol(argv[2]), part = count / atol(argv[3]), first = part * atol(argv[4]);
  const char* low = first_of_text;
  for (long i = first; i < first + part; i++) pctally_count(low + (etext - low) * i / count, 1);
  struct pctally_tick_ledger ledger;
  if (pctally_ledger(&ledger) != 0 || ledger.counted != (unsigned long)part) { fprintf(stderr, "not all were counted\\n"); return 1; }
  return pctally_stop() != 0 || sum == 1;
}
"""


def call(*words, **options):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def path(name):
    return os.path.join(SCRATCH, name)


def write(name, text):
    with open(path(name), "w") as file:
        file.write(text)
    return path(name)


def dwarf_mb(program):
    sizes = re.findall(r"\] \.debug_\S+ +PROGBITS +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+)", call("readelf", "-SW", program))
    return sum(int(size, 16) for size in sizes) / 1e6


def build():
    call("g++", "-std=c++17", "-O1", "-g", "-c", write("unit.cc", UNIT), "-o", path("unit.o"))
    names = [f"unit_{i}" for i in range(UNITS)]
    for name in names:
        call("objcopy", "--redefine-sym", f"_Z4unitl={name}", path("unit.o"), path(name + ".o"))
    source = write("main.c", MAIN % ("".join(f"long {name}(long);\n" for name in names), "".join(f"sum += {name}(9);\n" for name in names)))
    call("gcc", "-O1", "-g", "-I", os.path.join(ROOT, "include"), "-c", source, "-o", path("main.o"))
    objects = [path(name + ".o") for name in ["main", *names]]
    call("g++", *objects, "-L", os.path.join(BUILD, "lib"), "-lpctally", "-Wl,-rpath," + os.path.join(BUILD, "lib"), "-Wl,--build-id",
         "-o", path("big"))
    return path("big")


def addresses_of(program):
    """The same addresses as the program counts."""
    symbols = dict((name, int(value, 16)) for value, name in re.findall(r"(?m)^([0-9a-f]+) \w (_start|etext)$", call("nm", program)))
    low = symbols["_start"]
    return [low + (symbols["etext"] - low) * i // ADDRESSES for i in range(ADDRESSES)]


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    program = build()
    parts = [path(f"part_{i}.pct") for i in range(PARTS)]  # the library's file has room for so many places at a time
    for i, part in enumerate(parts):
        call(program, part, str(ADDRESSES), str(PARTS), str(i))
    call(PCTALLY, "merge", "-q", "-f", "-o", path("big.pct"), *parts)
    call(PCTALLY, "export", "--format", "perf", "-o", path("perf.data"), path("big.pct"))
    asked = write("addresses", "".join(f"{program} {address:#x}\n" for address in addresses_of(program)))
    configurations = {"pctally report": [PCTALLY, "report", path("big.pct")],
                      "perf report": ["perf", "report", "--stdio", "-i", path("perf.data")],
                      "pctally report --by line": [PCTALLY, "report", "--by", "line", path("big.pct")],
                      "llvm-symbolizer": ["llvm-symbolizer"]}
    configurations = {name: words for name, words in configurations.items() if measure.have(words[0]) or os.path.exists(words[0])}
    inputs = {"llvm-symbolizer": asked}
    peaks = {name: anonymous_mb(words, inputs.get(name)) for name, words in configurations.items()}
    runs = measure.interleaved({name: lambda words=words, name=name: Run(words, stdin=inputs.get(name))
                                for name, words in configurations.items()}, rounds)
    print(f"### {ADDRESSES:,} hot addresses, {dwarf_mb(program):.0f} MB of DWARF, {rounds} interleaved rounds\n")
    measure.table(("command", "wall s", "CPU s", "most anonymous memory MB"),
                  [(name, measure.spread([run.wall for run in runs[name]]), measure.spread([run.cpu for run in runs[name]]),
                    f"{peaks[name]:.0f}") for name in runs])
    for ours, other in (("pctally report", "perf report"), ("pctally report --by line", "llvm-symbolizer")):
        if other in runs:
            ratios = [theirs.wall / mine.wall for mine, theirs in zip(runs[ours], runs[other])]
            print(f"{other} takes {measure.spread(ratios, 1, 2)} times as long as {ours}.\n")
    in_halves(parts, rounds)


def in_halves(parts, rounds):
    """What naming the addresses in two processes could bring at most: each has half of them, and nobody adds up what they say."""
    halves = []
    for name, own in (("first", parts[:PARTS // 2]), ("second", parts[PARTS // 2:])):
        call(PCTALLY, "merge", "-q", "-f", "-o", path(name + ".pct"), *own)
        halves.append([PCTALLY, "report", "--by", "line", path(name + ".pct")])
    whole = [PCTALLY, "report", "--by", "line", path("big.pct")]
    runs = measure.interleaved({"one process": lambda: Run(whole), "two at the same time": lambda: Run(halves[0], beside=lambda: Run(halves[1]))},
                               rounds)
    print("### Lines in two processes, each with half of the addresses\n")
    measure.table(("", "wall s"), [(name, measure.spread([run.wall for run in runs[name]])) for name in runs])
    ratios = [one.wall / two.wall for one, two in zip(*runs.values())]
    print(f"Two are {measure.spread(ratios, 1, 2)} times as fast; a half takes {anonymous_mb(halves[0], None):.0f} MB of anonymous memory.\n")


def anonymous_mb(words, stdin):
    """The most anonymous memory that it had when it was asked, all the time; file pages are not counted."""
    with open(stdin or os.devnull) as source, open(os.devnull, "w") as null:
        process = subprocess.Popen(words, stdin=source, stdout=null, stderr=null)
        most = 0
        while process.poll() is None:
            with open(f"/proc/{process.pid}/status") as file:
                found = re.search(r"RssAnon:\s+(\d+) kB", file.read())
            most = max(most, int(found[1]) if found else 0)
            select.select([], [], [], 0.002)
    return most / 1024


if __name__ == "__main__":
    main()
