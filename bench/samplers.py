"""The samplers that are compared: pctally's engines as they work here, and the peers; each records a command and says
what it saw."""
import bisect
import collections
import glob
import json
import os
import resource
import struct
import subprocess
import sys

import measure
from measure import PCTALLY, PROGRAMS, SCRATCH

Seen = collections.namedtuple("Seen", "seconds samples share cpu program_says")
"""seconds: CPU time the samples stand for; samples: deliveries; share: function -> its share; cpu: of the command and the
sampler together; program_says: what the command printed"""


def _run(words, complain=False):
    """stdout, CPU seconds of everything."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run(words, stdout=subprocess.PIPE, stderr=None if complain else subprocess.DEVNULL, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if complain and result.returncode != 0:
        print(f"bench: {' '.join(words)} ended with {result.returncode}", file=sys.stderr, flush=True)
    return result.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def engines():
    """Those that work here; of them those of $ENGINES, if it is set."""
    rows = json.loads(subprocess.run([PCTALLY, "engines", "--json"], capture_output=True, text=True).stdout)
    for row in rows:
        if not row["available"]:
            print(f"skipped: engine {row['engine']}: {row['reason']}")
    wanted = os.environ.get("ENGINES", "").split()
    return [row["engine"] for row in rows if row["available"] and (not wanted or row["engine"] in wanted)]


class Bare:
    name = "bare"

    def record(self, words, hertz, around=list):
        stdout, cpu = _run(around(words))
        return Seen(0, 0, {}, cpu, stdout)


class Floor:
    """The interrupt alone."""

    def __init__(self, scope):
        self.scope = scope
        self.name = f"bare interrupt, {scope}"

    def record(self, words, hertz, around=list):
        stdout, cpu = _run([os.path.join(PROGRAMS, "bare_interrupt"), self.scope, str(int(1e9 / hertz)), *around(words)])
        return Seen(0, 0, {}, cpu, stdout)


class Engine:
    def __init__(self, engine, options=()):
        self.engine = engine
        self.options = options
        self.name = " ".join(("pctally", engine, *options))

    def record(self, words, hertz, around=list, count=False):
        """`count`: the options name an event, which is counted one by one."""
        path = os.path.join(SCRATCH, self.engine + ".pct")
        rate = [] if count else ["-F", str(hertz)]
        stdout, cpu = _run([PCTALLY, "record", "-q", "-f", "-e", self.engine, *self.options, *rate, "-o", path,
                            "--", *around(words)], complain=True)
        report = subprocess.run([PCTALLY, "report", "--json", "--limit", "1000000", path], capture_output=True)
        data = json.loads(report.stdout)
        share = collections.defaultdict(float)
        for row in data["rows"]:
            share[row["function"]] += row["share"]
        self.last = data
        return Seen(data["sampled_s"], data["samples"], share, cpu, stdout)


class Perf:
    def __init__(self, whole_machine=False, options=()):
        self.whole_machine = whole_machine
        self.options = (*options, *(["-a"] if whole_machine else []))
        self.name = " ".join(("perf record", *self.options))

    def record(self, words, hertz, around=list):
        path = os.path.join(SCRATCH, "perf.data")
        stdout, cpu = _run(["perf", "record", "-q", "-B", "--no-bpf-event", "-e", "cpu-clock", "-F", str(hertz), "-o", path,
                            *self.options, "--", *around(words)])
        text = subprocess.run(["perf", "script", "-i", path, "-G", "-F", "comm,ip,sym"], capture_output=True, text=True).stdout
        share, samples = collections.defaultdict(float), 0
        comm = os.path.basename(words[0])[:15]
        for line in text.splitlines():
            if self.whole_machine and not line.strip().startswith(comm):
                continue
            samples += 1
            share[line.split()[-1]] += 1
        for name in share:
            share[name] /= samples
        return Seen(samples / hertz, samples, share, cpu, stdout)


class Gperftools:
    def __init__(self, realtime=False):
        self.realtime = realtime
        self.name = "gperftools" + (" REALTIME" if realtime else "")
        self.library = measure.gperftools_library()

    def record(self, words, hertz, around=list):
        base = os.path.join(SCRATCH, "gperf")
        for old in glob.glob(base + "*"):
            os.unlink(old)
        env = [f"LD_PRELOAD={self.library}", f"CPUPROFILE={base}", f"CPUPROFILE_FREQUENCY={hertz}"]
        if self.realtime:
            env.append("CPUPROFILE_REALTIME=1")
        # What goes around the command would be profiled too, and die of the alarm it leaves behind.
        stdout, cpu = _run(around(["env", *env, *words]))
        samples, seconds, share = 0, 0.0, {}
        for path in glob.glob(base + "*"):
            counts, period_us = self._counts(path)
            samples += sum(counts.values())
            seconds += sum(counts.values()) * period_us * 1e-6
            if path == base:
                share = self._shares(words[0], counts)
        return Seen(seconds, samples, share, cpu, stdout)

    @staticmethod
    def _counts(path):
        """pc -> samples, and the period. Words of its file: 0 3 0 period 0, then count depth pc... until 0 1 0."""
        with open(path, "rb") as file:
            data = file.read()
        numbers = struct.unpack(f"<{len(data) // 8}Q", data[:len(data) // 8 * 8])
        if len(numbers) < 5:
            return {}, 0
        at, counts = 5, collections.Counter()
        while at + 2 < len(numbers) and numbers[at] != 0:
            counts[numbers[at + 2]] += numbers[at]
            at += 2 + numbers[at + 1]
        return counts, numbers[3]

    @staticmethod
    def _shares(program, counts):
        """By the symbols of a program at a fixed address: google-pprof gives what was inlined to the callee."""
        text = subprocess.run(["nm", "-n", "--defined-only", program], capture_output=True, text=True).stdout
        symbols = [line.split() for line in text.splitlines()]
        starts = [int(fields[0], 16) for fields in symbols if len(fields) == 3]
        names = [fields[2] for fields in symbols if len(fields) == 3]
        share, total = collections.defaultdict(float), sum(counts.values())
        for pc, count in counts.items():
            at = bisect.bisect_right(starts, pc) - 1
            share[names[at] if at >= 0 else "?"] += count / total
        return share


def peers():
    found = []
    if measure.have("perf"):
        found.append(Perf())
    else:
        print("skipped: perf (not installed)")
    if measure.gperftools_library() and measure.have("nm"):
        found += [Gperftools(), Gperftools(realtime=True)]
    else:
        print("skipped: gperftools (not installed)")
    return found
