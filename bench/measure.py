"""Paired, interleaved measurements: every configuration in every round, in an order that rotates, medians at the end."""
import atexit
import glob
import math
import os
import platform
import select
import shutil
import statistics
import sys
import tempfile
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), ".."))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import host  # noqa: E402

BUILD = os.environ.get("PCTALLY_BUILD", os.path.join(ROOT, "build", "release"))
PCTALLY = os.path.join(BUILD, "bin", "pctally")
PROGRAMS = os.path.join(BUILD, "programs")
SCRATCH = tempfile.mkdtemp(prefix="pctally-bench-")
atexit.register(shutil.rmtree, SCRATCH, True)  # up to 800 MB; children of a fork leave by exec or _exit
os.environ["XDG_CACHE_HOME"] = SCRATCH  # pctally's cache of kernel names, warm after the first round


class Run:
    """One run of a command and everything it started: seconds of wall and CPU time. `beside` is called while it runs."""

    def __init__(self, words, env=None, stdin=None, beside=None):
        environment = dict(os.environ, **(env or {}))
        start = time.monotonic()
        pid = os.fork()
        if pid == 0:
            null = os.open(os.devnull, os.O_RDWR)
            source = os.open(stdin, os.O_RDONLY) if stdin else null
            os.dup2(source, 0)
            os.dup2(null, 1)
            os.dup2(null, 2)
            try:
                os.execvpe(words[0], words, environment)
            finally:
                os._exit(127)
        if beside:
            beside()
        _, status, usage = os.wait4(pid, 0)
        self.wall = time.monotonic() - start
        self.cpu = usage.ru_utime + usage.ru_stime
        self.status = status
        if status != 0:
            raise SystemExit(f"bench: {' '.join(words)} ended with {status}")


def _unified_hierarchy():
    with open("/proc/mounts") as file:
        return next((line.split()[1] for line in file if line.split()[2] == "cgroup2"), None)


class ControlGroup:
    """Of its own for a run: knows the CPU time of all that a command started, also of what nobody waited for."""

    def __init__(self, path):
        self.path = path

    @classmethod
    def make(cls):
        """None where there is no hierarchy of version 2, or not for this user."""
        top = _unified_hierarchy()
        try:
            return cls(tempfile.mkdtemp(prefix="pctally-bench-", dir=top)) if top else None
        except OSError:
            return None

    def around(self, words):
        """The command that joins the group and becomes the given one."""
        return ["/bin/sh", "-c", 'echo $$ >"$0" && exec "$@"', os.path.join(self.path, "cgroup.procs"), *words]

    def end(self):
        """CPU seconds; the group is gone then, once what is left in it has ended."""
        with open(os.path.join(self.path, "cgroup.kill"), "w") as file:
            file.write("1")
        with open(os.path.join(self.path, "cgroup.events")) as file:
            while "populated 1" in file.read():
                select.select([], [], [file], 1)
                file.seek(0)
        with open(os.path.join(self.path, "cpu.stat")) as file:
            microseconds = next(int(line.split()[1]) for line in file if line.startswith("usage_usec "))
        os.rmdir(self.path)
        return microseconds * 1e-6


def peak_mb(words):
    """Peak resident memory of one run of a command."""
    path = os.path.join(SCRATCH, "peak")
    Run([os.path.join(PROGRAMS, "peak"), path, *words])
    with open(path) as file:
        return int(file.read()) / 1024


ATTEMPTS = int(os.environ.get("ATTEMPTS", 5))


def interleaved(configurations, rounds, prepare=None):
    """configurations: {name: function() -> Run}. Returns {name: [Run]}; the order rotates from round to round. A run of
    which the machine's host took a part is taken again, up to four times; how often is said."""
    names = list(configurations)
    results = {name: [] for name in names}
    again = kept = 0
    for number in range(rounds):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            for attempt in range(ATTEMPTS):
                if prepare:
                    prepare()
                result, fit = host.left_alone(configurations[name])
                if fit:
                    break
                again += attempt + 1 < ATTEMPTS
            kept += not fit
            results[name].append(result)
        print(f"\r{number + 1}/{rounds} rounds", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    if again:
        print(f"The machine's host took CPU time in {again} runs, which were taken again, and in {kept} that were kept.\n")
    return results


def quartiles(values):
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def spread(values, unit=1.0, digits=3):
    low, middle, high = quartiles([value * unit for value in values])
    return f"{middle:.{digits}f} [{low:.{digits}f}..{high:.{digits}f}]"


def middle(values, unit="", digits=1):
    """The median with its interval of at least 95 %: two of the values, whatever they are distributed like."""
    ordered, count = sorted(values), len(values)
    outside, below = 0.0, 0  # how likely the median is below the value `below`, in both directions
    while below < (count - 1) // 2 and outside + 2 * math.comb(count, below) / 2 ** count <= 0.05:
        outside += 2 * math.comb(count, below) / 2 ** count
        below += 1
    low, high = (ordered[below - 1], ordered[-below]) if below else (-math.inf, math.inf)
    return f"{statistics.median(ordered):+.{digits}f} [{low:+.{digits}f}..{high:+.{digits}f}]{unit}"


def row(cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def header(cells):
    row(cells)
    print("|" + "---|" * len(cells))


def table(names, rows):
    header(names)
    for cells in rows:
        row(cells)
    print(flush=True)


def machine():
    model = "unknown CPU"
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return f"{model}, {os.cpu_count()} CPUs, Linux {platform.release()}, {platform.platform()}"


def gperftools_library():
    """Where libprofiler is; None if it is not installed."""
    return next(iter(sorted(glob.glob("/usr/lib/*/libprofiler.so*"))), None)


def have(program):
    return any(os.access(os.path.join(directory, program), os.X_OK) for directory in os.environ["PATH"].split(":"))
