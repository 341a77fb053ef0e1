"""hotspot's own parser (hotspot-perfparser of Debian's package hotspot) reads what export --format perf writes: the sums of its samples are
the report's ticks, of all, of each function, and with call paths of each function's total."""
import collections
import glob
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

PARSER = shutil.which("hotspot-perfparser") or next(iter(glob.glob("/usr/lib/*/libexec/hotspot-perfparser")), None)
LOCATION, SYMBOL, STRING, SAMPLE = 3, 4, 5, 13  # kinds of its messages


class Message:
    """Numbers as Qt's QDataStream writes them."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        values = struct.unpack_from(">" + form, self.data, self.at)
        self.at += struct.calcsize(">" + form)
        return values[0] if len(values) == 1 else values

    def text(self):
        size = self.take("I")
        self.at += size
        return self.data[self.at - size:self.at].decode()


class Parsed:
    """What hotspot gets of a perf.data."""

    def __init__(self, stream):
        assert stream[:12] == b"QPERFSTREAM\0", stream[:16]
        self.parents, self.symbols, self.strings, self.samples = {}, {}, {}, []
        at = 16
        while at < len(stream):
            size, = struct.unpack_from("<I", stream, at)
            self.read(Message(stream[at + 4:at + 4 + size]))
            at += 4 + size

    def read(self, message):
        kind = message.take("B")
        if kind == LOCATION:  # address, file, pid, line and column; where it is inlined
            number, *_, parent = message.take("iQiiiii")
            self.parents[number] = parent
        elif kind == SYMBOL:
            number, name = message.take("ii")
            self.symbols[number] = name
        elif kind == STRING:
            number = message.take("i")
            self.strings[number] = message.text()
        elif kind == SAMPLE:
            message.take("IIQI")  # process, thread, time, CPU
            frames = [message.take("i") for _ in range(message.take("I"))]
            message.take("B")
            cost = sum(message.take("iQ")[1] for _ in range(message.take("I")))
            self.samples.append((frames, cost))

    def function(self, location):
        while location >= 0 and location not in self.symbols:
            location = self.parents[location]
        return self.strings.get(self.symbols.get(location))

    def total(self):
        return sum(cost for _, cost in self.samples)

    def selves(self):
        sums = collections.Counter()
        for frames, cost in self.samples:
            sums[self.function(frames[0])] += cost
        return sums

    def total_of(self, function):
        """Of a C function that is inlined in another, the parser makes one name of both: "recursioncpu_time"."""
        return sum(cost for frames, cost in self.samples if any((self.function(frame) or "").startswith(function) for frame in frames))


@unittest.skipIf(PARSER is None, "hotspot-perfparser is not installed (package hotspot)")
class Hotspot(unittest.TestCase):
    def parsed(self, profile):
        path = os.path.join(tempfile.mkdtemp(dir=p.scratch()), "perf.data")
        subprocess.run([p.PCTALLY, "export", "--format", "perf", "-o", path, profile], check=True)
        done = subprocess.run([PARSER, "--input", path], capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return Parsed(done.stdout)

    def test_ticks(self):
        """Of a program at a fixed address it has the sum, and no names."""
        profile = p.record([p.program("known_shares"), "0.3", "1"], "-e", p.engines()[-1]).path
        report = p.report(profile)
        self.assertEqual(self.parsed(profile).total(), report["ticks"] * report["period_ns"])

    def test_ticks_of_functions(self):
        if not os.path.exists(p.program("known_paths")):
            self.skipTest("known_paths needs x86-64")
        profile = p.record([p.program("known_paths"), "recursion", "0.4"], "-e", p.engines()[-1]).path
        report, parsed = p.report(profile), self.parsed(profile)
        self.assertEqual(parsed.total(), report["ticks"] * report["period_ns"])
        self.assertGreater(p.ticks_of(report, "work"), 0)
        self.assertEqual(parsed.selves()["work"], p.ticks_of(report, "work") * report["period_ns"])

    def test_totals_of_call_paths(self):
        p.need_call_paths(self)
        profile = p.record([p.program("known_paths"), "recursion", "0.4"], "-e", "ring", "-g").path
        report, parsed = p.report(profile), self.parsed(profile)
        self.assertEqual(parsed.total(), report["ticks"] * report["period_ns"])
        rows = {row["function"]: row for row in report["rows"] if "total_ticks" in row}
        for function in ("main", "recursion", "deep", "work"):
            self.assertEqual(parsed.total_of(function), rows[function]["total_ticks"] * report["period_ns"], function)
            self.assertEqual(parsed.selves()[function], rows[function]["ticks"] * report["period_ns"], function)


if __name__ == "__main__":
    p.main()
