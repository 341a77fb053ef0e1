"""Real programs: every view of a profile and every file that is made of it has all of its ticks, to the last one."""
import csv
import gzip
import io
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p
from export_test import gmon_ticks

GIT = "git init -q . && git add . && git -c user.name=a -c user.email=a@b commit -qm a && git repack -qadf --depth=50"
SQL = """create table t(a integer primary key, b integer, c text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 120000) insert into t select i, i * 7919 % 10007, 'text ' || (i * 31 % 997) from n;
create index tb on t(b); select count(*) from t x, t y where x.b = y.a and x.c like '%9%';
select c, count(*), sum(b) from t where b % 7 < 5 group by c order by 3;"""
PROGRAMS = {
    "xz": ["xz", "-k", "-c", "-T2", "-3", "words"],
    "git": ["sh", "-c", GIT],
    "perl": ["perl", "-e", "my %n; for my $i (1 .. 400000) { $n{$i % 997 . 'x'} .= substr(sqrt($i), 0, 3); } print scalar keys %n"],
    "python3": ["python3", "-c", "import json\nfor i in range(12): json.loads(json.dumps([{'a': j, 'b': str(j)} for j in range(20000)]))"],
    "sqlite3": ["sqlite3", ":memory:", SQL],
}


def fields(message):
    """(number, value) of a message of protobuf; what is no number is bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        number, kind = divmod(varint(), 8)
        value = varint()
        if kind == 2:
            at += value
            value = message[at - value:at]
        yield number, value


def numbers(packed):
    return [value for _, value in fields(b"".join(b"\x08" + part for part in re.findall(rb"(?s)[\x80-\xff]*[\x00-\x7f]", packed)))]


def tool(*words):
    """What it prints. A line on standard error says what is written, or left out."""
    done = subprocess.run([p.PCTALLY, *words], capture_output=True)
    if done.returncode != 0:
        raise AssertionError(f"pctally {' '.join(words)}: {done.returncode}: {done.stderr.decode()}")
    return done.stdout


def page_data(path):
    with open(path, encoding="utf-8") as file:
        return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', file.read(), re.S).group(1))


class RealTotals(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(dir=p.scratch())

    def path(self, name):
        return os.path.join(self.directory, name)

    def exported(self, name, *options):
        return tool("export", "--format", name, *options, self.profile)

    def views(self, paths):
        """Name and ticks of all that report prints."""
        groups = ["function", "object", "line", "process", "command"]
        groups += ["program", "program,function"] if paths else []
        for by in groups:
            data = p.report(self.profile, "--by", by)
            p.assert_ledger(self, data)
            yield f"report --by {by}", sum(row["ticks"] for row in data["rows"])
            few = json.loads(tool("report", "--json", "--by", by, "--limit", "3", self.profile))
            yield f"report --by {by} --limit 3", sum(row["ticks"] for row in few["rows"]) + few["hidden_ticks"]
        text = tool("report", self.profile).decode()
        yield "report", int(re.search(r"(?m)^time .* ([\d,]+) ticks$", text).group(1).replace(",", ""))
        page = self.path("page.html")
        tool("report", "--html", page, self.profile)
        yield "report --html", sum(function[5] for function in page_data(page)["functions"])
        if not paths:
            return
        for view in ("--tree", "--bottom-up"):
            data = json.loads(tool("report", "--json", view, self.profile))
            yield f"report {view}", sum(node["self"] for node in data["nodes"])
        function = next(row["function"] for row in p.report(self.profile, "--sort", "total")["rows"] if not row["function"].startswith("["))
        yield "report --callers", json.loads(tool("report", "--json", "--callers", function, self.profile))["all_ticks"]
        for end in ("svg", "html"):
            tool("report", "--flamegraph", self.path("flame." + end), self.profile)
        with open(self.path("flame.svg"), encoding="utf-8") as file:
            picture = file.read()
        drawn = sum(int(own.replace(",", "")) for own in re.findall(r"ticks?, ([\d,]+) of them in itself", picture))
        left_out = sum(map(float, re.findall(r"; ([\d.]+) % (?:in frames too narrow to draw|below the)", picture)))
        yield "report --flamegraph svg", drawn + round(left_out / 100 * p.report(self.profile)["ticks"])
        yield "report --flamegraph html", sum(page_data(self.path("flame.html"))["from_entry"]["nodes"][3::4])

    def exports(self, period):
        """Name and ticks of all that export writes."""
        samples = [value for number, value in fields(gzip.decompress(self.exported("pprof"))) if number == 2]
        values = [numbers(value) for sample in samples for number, value in fields(sample) if number == 2]
        yield "pprof", sum(ticks for ticks, _ in values)
        yield "pprof, by its time", sum(ns for _, ns in values) / period
        for options in ((), ("--no-lines",)):
            yield " ".join(["folded", *options]), sum(int(line.rsplit(b" ", 1)[1]) for line in self.exported("folded", *options).splitlines())
        yield "speedscope", sum(sum(run["weights"]) for run in json.loads(self.exported("speedscope"))["profiles"]) / period
        yield "firefox", sum(sum(thread["samples"]["weight"]) for thread in json.loads(self.exported("firefox"))["threads"])
        callgrind = self.exported("callgrind").decode()
        yield "callgrind, its summary", int(re.search(r"(?m)^summary: (\d+)$", callgrind).group(1))
        yield "callgrind", sum(int(cost) for cost in re.findall(r"(?m)^(?:0x[0-9a-f]+ )?\d+ (\d+)$", callgrind))
        yield "csv", sum(int(row["ticks"]) for row in csv.DictReader(io.StringIO(self.exported("csv").decode())))
        for limit in ("3", "0"):
            rows = [line.split(" | ") for line in self.exported("markdown", "--limit", limit).decode().splitlines() if re.match(r"\| \d", line)]
            rows = [int(row[3].replace(",", "")) for row in rows]
            yield f"markdown --limit {limit}, its sum", rows[-1]
            yield f"markdown --limit {limit}", sum(rows[:-1])
        yield "gmon of each object", sum(self.gmon())
        yield from self.perf(period)

    def gmon(self):
        """Of files the counters of their gmon.out; of what is no file the ticks of the report."""
        for row in p.report(self.profile, "--by", "object")["rows"]:
            if row["object"].startswith("[") or row["ticks"] == 0:  # of call paths, code that only called
                yield row["ticks"]
                continue
            out = self.path("gmon.out")
            tool("export", "--format", "gmon", "--object", row["object"], "-o", out, self.profile)
            yield gmon_ticks(out)

    def perf(self, period):
        if shutil.which("perf") is None:
            print("skipped: perf script (package linux-perf is not installed)")
            return
        path = self.path("perf.data")
        tool("export", "--format", "perf", "-o", path, self.profile)
        said = subprocess.run(["perf", "script", "-i", path, "-F", "period"], capture_output=True, text=True)
        self.assertEqual(said.returncode, 0, said.stderr)
        yield "perf", sum(map(int, said.stdout.split())) / period

    def copies(self, ticks):
        """Name and ticks of files that pctally makes of one."""
        tool("snapshot", "-q", "-f", "-o", self.path("snapshot.pct"), self.profile)
        tool("archive", "-q", "-f", "-o", self.path("archive.pct"), self.profile)
        p.as_another_recording(self.profile, self.path("other.pct"))
        tool("merge", "-q", "-f", "-o", self.path("merged.pct"), self.profile, self.path("other.pct"))
        for name in ("snapshot", "archive"):
            yield name, p.report(self.path(name + ".pct"))["ticks"]
        yield "merge", p.report(self.path("merged.pct"))["ticks"] / 2
        yield "several files", p.report_of_several([self.profile, self.path("other.pct")])["ticks"] / 2
        for name, format in (("pprof", "pprof"), ("folded", "folded")):
            path = self.path("read." + name)
            tool("export", "--format", format, "-o", path, self.profile)
            yield f"report of {name}", p.report(path)["ticks"]

    def check(self, program, engine, paths):
        self.profile = self.path("p.pct")
        where = tempfile.mkdtemp(dir=self.directory)
        with open(os.path.join(where, "words"), "w") as file:
            file.write(" ".join(f"word{i * i % 9973} {i}" for i in range(120000)))
        done = p.record(PROGRAMS[program], "-e", engine, *(["-g"] if paths else []), path=self.profile, cwd=where)
        self.assertEqual(done.returncode, 0, done.stderr)
        data = p.report(self.profile)
        ticks, period = data["ticks"], data["period_ns"]
        found = [*self.views(paths), *self.exports(period), *self.copies(ticks)]
        print(f"{program}, {engine}{' -g' if paths else ''}: {ticks} ticks, {data['lost']} of them lost, in {len(found)} sums", flush=True)
        self.assertGreater(ticks, 100)
        self.assertEqual([(name, other) for name, other in found if other != ticks], [], ticks)


def test_of(program):
    def test(self):
        if shutil.which(program) is None:
            self.skipTest(f"{program} is not installed")
        for engine in p.one_of_each_kind():
            for paths in (False, True):
                with self.subTest(engine=engine, paths=paths):
                    self.check(program, engine, paths)

    return test


for name in PROGRAMS:
    setattr(RealTotals, f"test_{name}", test_of(name))

if __name__ == "__main__":
    p.main()
