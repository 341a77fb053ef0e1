"""Do the file and the recorder's memory grow with time? python3 path_growth.py [SECONDS...] (default: 10 60).

Records programs with -g by each engine ($ENGINES: ring bpf timer) for so many seconds, and prints the size of the file and
the recorder's largest private memory (RssAnon) and resident memory (VmHWM, with its rings and the mapped file) meanwhile. $MINUTES (0) adds a
recording of that many. sqlite3 and python3 run again and again. Every path of many_paths is new: its tree is bounded to 1 MiB, so that
it is full within seconds, and the coldest paths are folded from then on. $PROGRAMS chooses some of them. Exit status 1 if the longest
recording has a larger file or more private memory than the first, by more than 10 % and 2 MiB (bpf: 8 MiB).
"""
import json
import os
import subprocess
import sys
import time

import measure
import workloads
from measure import PCTALLY, PROGRAMS, SCRATCH

KNOWN = os.path.join(PROGRAMS, "known_paths")


def programs():
    """{name: (options of record, a shell command that goes on until it is terminated)}"""
    made = workloads.make()
    found = {
        "many_paths": (["--paths-memory", "1M"], f"exec {KNOWN} many_paths 100000"),
        "sqlite3": ([], f"while :; do sqlite3 :memory: <{made['sqlite3'][1]}; done"),
        "python3": ([], f"while :; do {' '.join(made['python3'][0])}; done"),
    }
    chosen = os.environ.get("PROGRAMS", " ".join(found)).split()
    return {name: found[name] for name in chosen}


def memory_kib(pid):
    """Private memory now, and the largest resident memory so far."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        status = dict(line.split(":", 1) for line in file)
    return int(status["RssAnon"].split()[0]), int(status["VmHWM"].split()[0])


def recorded(engine, program, seconds):
    """(bytes of the file, bytes of private memory, of resident memory, ticks, ticks folded)"""
    options, command = program
    path = os.path.join(SCRATCH, "growth.pct")
    with subprocess.Popen([PCTALLY, "record", "-q", "-f", "-g", "-e", engine, "-o", path, *options, "--", "timeout", str(seconds), "sh", "-c",
                           command], stdout=subprocess.DEVNULL) as recorder:
        private = resident = 0
        end = time.monotonic() + seconds - 0.2  # what it takes to add the names at the end is not of the recording
        while time.monotonic() < end:
            now = memory_kib(recorder.pid)
            private, resident = max(private, now[0]), max(resident, now[1])
            time.sleep(0.05)
    report = json.loads(subprocess.run([PCTALLY, "report", "--json", path], capture_output=True, check=True).stdout)
    return os.path.getsize(path), private << 10, resident << 10, report["ticks"], report["paths"]["folded"]


def main():
    lengths = [float(word) for word in sys.argv[1:]] or [10, 60]
    minutes = float(os.environ.get("MINUTES", 0))
    lengths += [60 * minutes] if minutes else []
    chosen = programs()
    print(f"machine: {measure.machine()}, load {os.getloadavg()[0]:.1f}\n")
    measure.header(("program", "engine", "seconds", "ticks", "ticks folded", "file, MiB", "private, MiB", "resident, MiB"))
    grown = []
    for name, program in chosen.items():
        for engine in os.environ.get("ENGINES", "ring bpf timer").split():
            sizes = []
            for seconds in lengths:
                *bytes_of, ticks, folded = recorded(engine, program, seconds)
                measure.row((name, engine, f"{seconds:.0f}", f"{ticks:,}", f"{folded:,}", *(f"{size / 2**20:.2f}" for size in bytes_of)))
                sizes.append(bytes_of[:2])
            room = (8 if engine == "bpf" else 2) << 20  # bpf fills a table of 4,096 paths found before, each of 52 frames here
            if any(last > 1.1 * first + room for first, last in zip(sizes[0], sizes[-1])):
                grown.append(f"{name}, {engine}")
    for what in grown:
        print(f"GROWS: {what}")
    sys.exit(1 if grown else 0)


if __name__ == "__main__":
    main()
