"""Profiles of other tools are read to the last sample: what their producers wrote, and what their own readers say."""
import collections
import gzip
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

GO_PROGRAM = """package main

import ("os"; "runtime/pprof")

//go:noinline
func hot(n uint64) uint64 { s := uint64(1); for i := uint64(0); i < n; i++ { s = s*31 + i }; return s }

func main() {
	f, _ := os.Create(os.Args[1])
	pprof.StartCPUProfile(f)
	s := uint64(0)
	for i := 0; i < 20; i++ { s += hot(30000000) }
	pprof.StopCPUProfile()
	if s == 42 { println(s) }
}
"""

GO_HEAP = """package main

import ("os"; "runtime"; "runtime/pprof")

var kept [][]byte

//go:noinline
func fill() { for i := 0; i < 1000; i++ { kept = append(kept, make([]byte, 20000)) } }

func main() {
	f, _ := os.Create(os.Args[1])
	fill()
	runtime.GC()
	pprof.WriteHeapProfile(f)
}
"""


def run(*words, **options):
    return subprocess.run(words, capture_output=True, text=True, **options)


def by_function(data, period=True):
    sums = collections.Counter()
    for row in data["rows"]:
        sums[row["function"]] += row["ticks"] * ((data["period_ns"] or data["period_events"]) if period else 1)
    return sums


class Import(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(dir=p.scratch())
        cls.profile = os.path.join(cls.directory, "p.pct")
        done = p.record([p.program("known_shares"), "0.5", "1"], "-e", p.engines()[-1], path=cls.profile)
        assert done.returncode == 0, done.stderr
        cls.data = p.report(cls.profile)

    def path(self, name):
        return os.path.join(self.directory, name)

    def need(self, program):
        if shutil.which(program) is None:
            self.skipTest(f"{program} is not installed")

    def export(self, name, *options, profile=None):
        out = self.path(("again." if profile else "out.") + name)  # what is read is not replaced
        done = run(p.PCTALLY, "export", "--format", name, *options, "-o", out, profile or self.profile)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return out

    def go(self, *words):
        done = run("go", *words, env={**os.environ, "HOME": self.directory, "GOCACHE": self.path("cache"), "GOFLAGS": "-mod=mod"},
                   cwd=self.directory)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def raw_samples(self, path):
        """What go tool pprof reads: the sum of each kind of value."""
        text = self.go("tool", "pprof", "-raw", path)
        block = text.split("Samples:\n")[1].split("Locations\n")[0]
        rows = [[int(value) for value in match.split()] for match in re.findall(r"(?m)^ *((?:\d+ +)*\d+): ", block)]
        return [sum(column) for column in zip(*rows)]

    def test_standard_input_is_a_file_too(self):
        with open(self.profile, "rb") as file:
            bytes_of_it = file.read()

        def read(data, *words):
            return subprocess.run([p.PCTALLY, *words], input=data, capture_output=True)

        for words in (("report", "--json"), ("report", "--by", "line"), ("export", "--format", "folded"), ("plan",)):
            from_file, piped = read(b"", *words, self.profile), read(bytes_of_it, *words, "-")
            self.assertEqual((piped.returncode, piped.stderr), (0, b""), words)
            self.assertEqual(piped.stdout, from_file.stdout, words)
        stacks = read(b"main;work 3\nmain 1\n", "report", "--json", "-")
        self.assertEqual([(row["function"], row["ticks"]) for row in json.loads(stacks.stdout)["rows"]], [("work", 3), ("main", 1)])
        for data, said in ((b"", "standard input is empty: no profile"), (b"garbage", "standard input is no profile of pctally, pprof"),
                           (bytes_of_it[:3000], "pctally: standard input: truncated: ")):
            refused = read(data, "report", "-")
            self.assertEqual(refused.returncode, 4)
            self.assertIn(said, refused.stderr.decode())
        once = read(bytes_of_it, "diff", "-", "-")
        self.assertEqual((once.returncode, once.stdout), (4, b""), once.stderr)
        twice = read(b"main;work 3\n", "diff", "-", "-")
        self.assertEqual((twice.returncode, twice.stdout), (4, b""), twice.stderr)
        self.assertIn("one file, which would count twice", twice.stderr.decode())

    def test_pprof_round_trip_is_whole(self):
        """Ours, and the same written again by go tool pprof: functions, seconds, the ledger's sum."""
        path = self.export("pprof")
        files = [path]
        if shutil.which("go"):
            self.assertEqual(self.raw_samples(path), [self.data["ticks"], self.data["ticks"] * self.data["period_ns"]])
            files.append(self.path("again.pb.gz"))
            self.go("tool", "pprof", "-proto", "-output", files[-1], path)
        with gzip.open(path) as packed, open(self.path("plain.pb"), "wb") as plain:
            plain.write(packed.read())
        for file in (*files, self.path("plain.pb")):
            read = p.report(file)
            self.assertEqual((read["ticks"], read["period_ns"]), (self.data["ticks"], self.data["period_ns"]), file)
            self.assertEqual(by_function(read), by_function(self.data), file)
            p.assert_ledger(self, read)

    def test_pprof_of_call_paths_has_their_totals(self):
        p.need_call_paths(self)
        profile = self.path("g.pct")
        done = p.record([p.program("known_paths"), "recursion", "0.4"], "-g", path=profile)
        self.assertEqual(done.returncode, 0, done.stderr)
        own, read = p.report(profile), p.report(self.export("pprof", profile=profile))
        totals = lambda data: {row["function"]: row["total_ticks"] for row in data["rows"] if "total_ticks" in row}
        for function in ("main", "recursion", "deep", "work"):
            self.assertEqual(totals(read)[function], totals(own)[function], function)
        self.assertNotIn("known_paths", totals(read), "the program is no function")
        programs = lambda path: {row["program"]: row["ticks"] for row in p.report(path, "--by", "program")["rows"]}
        self.assertEqual(programs(self.export("pprof", profile=profile)), programs(profile))
        self.assertIn("known_paths", programs(profile))

    def test_cuts_of_our_own_exports_are_cuts_again(self):
        """No function: the same ticks on both sides are no change."""
        p.need_call_paths(self)
        profile = self.path("cut.pct")
        done = p.record([p.program("known_paths"), "no_table", "0.4"], "-g", path=profile)
        self.assertEqual(done.returncode, 0, done.stderr)
        cuts = p.report(profile)["paths"]["cut"]
        self.assertIn("no-unwind-table", [cut["reason"] for cut in cuts])
        for name in ("pprof", "folded"):
            file = self.export(name, profile=profile)
            read = p.report(file)
            self.assertEqual(read["paths"]["cut"], cuts, name)
            self.assertEqual([row["function"] for row in read["rows"] if row["function"].startswith("[path")], [], name)
        done = run(p.PCTALLY, "diff", "--json", self.export("pprof", profile=profile), profile)
        self.assertEqual(done.returncode, 0, done.stderr)
        names = [row["name"] for row in json.loads(done.stdout)["rows"]]
        self.assertIn("work", names)
        self.assertEqual([name for name in names if name.startswith("[path")], [])

    def test_a_cut_path_without_code_is_not_outside_all_code(self):
        file, cut = self.path("bare.folded"), "[path without room for the stack]"
        with open(file, "w") as text:
            text.write(f"prog;{cut} 20\nprog;[path cut at code without unwind table];f 10\nprog;main;f 5\n")
        done = run(p.PCTALLY, "report", "--json", file)
        read = json.loads(done.stdout)
        self.assertEqual((read["outside"], read["counted"]), (0, 35))
        self.assertEqual({row["function"]: row["ticks"] for row in read["rows"] if row["ticks"]}, {cut: 20, "f": 15})
        self.assertEqual({cut["reason"]: cut["ticks"] for cut in read["paths"]["cut"]}, {"no-room": 20, "no-unwind-table": 10})
        self.assertNotIn("outside", run(p.PCTALLY, "report", file).stdout + done.stderr)

    def test_profile_of_go(self):
        self.need("go")
        with open(self.path("hot.go"), "w") as file:
            file.write(GO_PROGRAM)
        self.go("build", "-o", self.path("hot"), self.path("hot.go"))
        subprocess.run([self.path("hot"), self.path("go.prof")], check=True)
        read = p.report(self.path("go.prof"))
        self.assertEqual([read["ticks"], read["ticks"] * read["period_ns"]], self.raw_samples(self.path("go.prof")))
        self.assertEqual((read["period_ns"], read["engine"]), (10000000, "pprof"))
        top = self.go("tool", "pprof", "-top", "-nodecount=100000", "-nodefraction=0", "-sample_index=samples", self.path("go.prof"))
        rows = {row["function"]: row for row in read["rows"]}
        functions = re.findall(r"(?m)^ *(\d+) +[\d.]+% +[\d.]+% +(\d+) +[\d.]+%  (main\.\S+)(?: \(inline\))?$", top)
        self.assertIn("main.hot", [name for _, _, name in functions])
        for flat, total, name in functions:
            self.assertEqual((rows[name]["ticks"], rows[name]["total_ticks"]), (int(flat), int(total)), top)

    def test_values_keep_their_kind_and_unit(self):
        """A profile of Go's heap, read and written again: bytes are bytes, and no column of samples is made of them."""
        self.need("go")
        with open(self.path("heap.go"), "w") as file:
            file.write(GO_HEAP)
        self.go("build", "-o", self.path("heap"), self.path("heap.go"))
        subprocess.run([self.path("heap"), self.path("heap.prof")], check=True)
        top = lambda file: re.findall(r"(?m)^.*main\.fill.*$", self.go("tool", "pprof", "-top", file))
        self.assertEqual(len(top(self.path("heap.prof"))), 1)
        self.assertEqual(top(self.export("pprof", profile=self.path("heap.prof"))), top(self.path("heap.prof")))
        raw = self.go("tool", "pprof", "-raw", self.export("pprof", profile=self.path("heap.prof")))
        self.assertIn("\ninuse_space/bytes[dflt]\n", raw)
        objects = p.report(self.path("heap.prof"), "--sample-index", "alloc_objects")
        self.assertEqual(objects["event"], "alloc_objects")
        for words in (["report"], ["diff", self.profile], ["plan"], ["export", "--format", "folded"]):
            done = run(p.PCTALLY, *words, "--sample-index", "cpu", self.profile)
            self.assertEqual((done.returncode, done.stderr), (4, f"pctally: {self.profile} has one kind of values; --sample-index is for files of pprof\n"))
        with open(self.export("speedscope", profile=self.path("heap.prof"))) as file:
            self.assertEqual(json.load(file)["profiles"][0]["unit"], "bytes")

    def test_made_up_positions_are_exported_by_no_format(self):
        """The pprof file has names for libc that is here: no address of that libc belongs to them."""
        path = self.export("pprof")
        with open(self.export("csv", profile=path)) as file:
            self.assertNotIn("0x", file.read())
        with open(self.export("callgrind", profile=path)) as file:
            self.assertIn("\npositions: line\n", file.read())
        with gzip.open(self.export("pprof", profile=path)) as again:
            self.assertNotIn(b"\x18\x81\x80\x80\x80\x10", again.read(), "address 0x100000001")
        for name in ("perf", "gmon", "llvm"):
            done = run(p.PCTALLY, "export", "--format", name, "-o", self.path("refused"), path)
            self.assertEqual(done.returncode, 4)
            self.assertEqual(done.stderr, f"pctally: {name} needs addresses, and a profile of another tool has names; write pprof or folded\n")

    def test_folded_round_trip(self):
        read = p.report(self.export("folded", "--no-lines"))
        self.assertEqual((read["event"], read["ticks"]), ("samples", self.data["ticks"]))
        self.assertEqual(by_function(read), by_function(self.data, False))

    def test_perf_script(self):
        self.need("perf")
        data = self.path("perf.data")
        done = run("perf", "record", "-q", "-g", "-e", "cpu-clock", "-o", data, p.program("known_shares"), "0.5", "1")
        if done.returncode != 0:
            self.skipTest("perf record is refused here")
        for options in ([], ["-F", "comm,pid,time,period,event,ip,sym,dso"]):
            script = run("perf", "script", *options, "-i", data)
            self.assertEqual(script.returncode, 0, script.stderr)
            with open(self.path("script.txt"), "w") as file:
                file.write(script.stdout)
            periods = [int(line) for line in run("perf", "script", "-F", "period", "-i", data).stdout.split()]
            read = p.report(self.path("script.txt"))
            self.assertEqual(read["ticks"] * read["period_ns"], sum(periods))
            self.assertEqual(read["samples"], len(periods))
            leaves = collections.Counter()
            for sample in re.split(r"\n\n+", script.stdout.strip()):
                leaf = sample.split("\n")[1]
                leaves[re.match(r"\s*[0-9a-f]+ (.*?)(\+0x[0-9a-f]+)? \(", leaf).group(1)] += 1
            shares = {name: count for name, count in leaves.items() if name.startswith("share_")}
            self.assertTrue(shares)
            counts = {name: amount // periods[0] for name, amount in by_function(read).items() if name in shares}
            self.assertEqual(counts, shares)

    def gperftools_file(self):
        """As gperftools writes it, of addresses in known_shares where it would be mapped at 0x10000000."""
        program = os.path.realpath(p.program("known_shares"))
        symbols = dict(reversed(line.split()[::2]) for line in run("nm", program).stdout.splitlines() if " share_0" in line)
        places = {name: int(symbols[name], 16) for name in ("share_00", "share_01")}
        base = 0x10000000
        words = [0, 3, 0, 4000, 0, 7, 2, base + places["share_00"] + 4, base + places["share_01"] + 9, 3, 1, base + places["share_01"] + 2]
        with open(self.path("gperf.prof"), "wb") as file:
            file.write(struct.pack(f"<{len(words) + 3}Q", *words, 0, 1, 0))
            for line in run("readelf", "-lW", program).stdout.splitlines():
                fields = line.split()
                if fields[:1] == ["LOAD"] and "E" in fields[6:8]:
                    offset, address, size = (int(fields[i], 16) for i in (1, 2, 4))
                    start = base + address & ~0xfff
                    file.write(f"{start:08x}-{base + address + size + 0xfff & ~0xfff:08x} r-xp {offset & ~0xfff:08x} 08:01 5   {program}\n".encode())
        return self.path("gperf.prof")

    def test_gperftools_file(self):
        self.need("nm")
        read = p.report(self.gperftools_file())
        self.assertEqual((read["ticks"], read["period_ns"]), (10, 4000000))
        self.assertEqual(by_function(read, False), {"share_00": 7, "share_01": 3})
        self.assertEqual({row["function"]: row["total_ticks"] for row in read["rows"]}, {"share_00": 7, "share_01": 10})
        if shutil.which("go"):
            self.assertEqual(self.raw_samples(self.path("gperf.prof")), [10, 10 * 4000000])

    def test_profile_of_gperftools(self):
        library = next((path for path in ("/usr/lib/x86_64-linux-gnu/libprofiler.so.0",) if os.path.exists(path)), None)
        if library is None:
            self.skipTest("libprofiler.so.0 (gperftools) is not installed")
        path = self.path("real.prof")
        subprocess.run([p.program("known_shares"), "0.5", "1"], check=True, env={**os.environ, "LD_PRELOAD": library, "CPUPROFILE": path},
                       capture_output=True)
        read = p.report(path)
        self.assertEqual([read["ticks"], read["ticks"] * read["period_ns"]], self.raw_samples(path))

    def test_they_are_compared_exported_and_added_up(self):
        path = self.export("pprof")
        folded = run(p.PCTALLY, "export", "--format", "folded", path)
        self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in folded.stdout.splitlines()), self.data["ticks"])
        os.mkdir(self.path("copy"))
        copies = self.export("folded"), self.path("copy/new.folded")  # two runs may be alike where no time is known
        shutil.copy(*copies)
        diff = run(p.PCTALLY, "diff", "--json", *copies)
        self.assertEqual(diff.returncode, 0, diff.stderr)
        self.assertFalse([row for row in json.loads(diff.stdout)["rows"] if row["old_ticks"] != row["new_ticks"]])
        both, one = p.report_of_several(copies), p.report(copies[0])
        self.assertEqual(by_function(both), by_function(one) + by_function(one))
        self.assertIn("are of one recording", run(p.PCTALLY, "diff", path, path).stderr)
        for command in (["diff"], ["report"], ["export", "--format", "folded"]):
            twice = run(p.PCTALLY, *command, copies[0], copies[0])
            self.assertEqual((twice.returncode, twice.stdout), (4, ""))
            self.assertIn("are one file", twice.stderr)
        merged = run(p.PCTALLY, "merge", "-o", self.path("no.pct"), path)
        self.assertEqual((merged.returncode, merged.stdout), (4, ""))
        self.assertIn("pctally report A B adds them up", merged.stderr)

    def test_sums_of_unlike_periods_keep_their_samples_and_intervals(self):
        """A tick of such a sum is a nanosecond, or an event: it says nothing of how many samples there were."""
        kinds = [(["-F", "900"], ["-F", "300"])]
        if p.engine_available("ring"):
            kinds.append((["-e", "page-faults", "-c", "1"], ["-e", "page-faults", "-c", "7"]))
        for kind in kinds:
            paths = [p.record([p.program("known_shares"), "0.3", "1"], *options).path for options in kind]
            out = self.path("sum.pb.gz")
            subprocess.run([p.PCTALLY, "export", "--format", "pprof", "-o", out, *paths], check=True)
            ours, read = p.report_of_several(paths), p.report(out)
            self.assertEqual(read["samples"], sum(p.report(path)["ticks"] for path in paths))
            self.assertAlmostEqual(read["effective_samples"], ours["effective_samples"], delta=0.01)
            self.assertEqual(by_function(read), by_function(ours))
            if shutil.which("go"):
                raw = run("go", "tool", "pprof", "-raw", out, env={**os.environ, "HOME": self.directory}).stdout
                self.assertIn("\nPeriod: 0\n", raw)
                again = self.path("rewritten.pb.gz")
                run("go", "tool", "pprof", "-proto", "-output", again, out, env={**os.environ, "HOME": self.directory})
                self.assertEqual(p.report(again)["effective_samples"], read["effective_samples"])
                self.assertEqual(sum(int(ticks) for ticks in re.findall(r"^ +(\d+) +\d+: [\d ]+$", raw, re.M)), read["samples"])

    def test_places_of_other_tools_stay_apart(self):
        """What is called name+0x12 is a function like any other."""
        for name, factor in (("old", 1), ("new", 2)):
            with open(self.path(name), "w", encoding="ascii") as file:
                for function in ("alpha", "beta", "gamma"):
                    file.write(f"main;{function}+0x11 {1000 * factor}\n")
        rows = json.loads(run(p.PCTALLY, "diff", "--json", self.path("old"), self.path("new")).stdout)["rows"]
        self.assertEqual({(row["name"], row["old_ticks"], row["new_ticks"]) for row in rows if row["new_ticks"]},
                         {(f"{name}+0x11", 1000, 2000) for name in ("alpha", "beta", "gamma")})

    def test_what_has_no_code_is_neither_annotated_nor_archived(self):
        for format in ("pprof", "folded"):
            path = self.export(format)
            hottest = p.report(path)["rows"][0]["short"]
            before = os.stat(path).st_mtime_ns
            for words, why in ((("annotate", hottest, path), "and has no code to annotate; pctally report has its ticks"),
                               (("annotate", "--json", hottest, path), "and has no code to annotate; pctally report has its ticks"),
                               (("archive", path), "archive needs one of pctally record"),
                               (("report", "--by", "thread", path), "and has no ticks by thread")):
                done = run(p.PCTALLY, *words)
                self.assertEqual((done.returncode, done.stdout), (4, ""), words)
                self.assertRegex(done.stderr, f"^pctally: {path} is a profile of another tool.*{why}\n$")
            self.assertEqual(os.stat(path).st_mtime_ns, before)

    def test_archive_knows_gperftools(self):
        """Its profiles have addresses, as ours: no name says whose they are."""
        path = self.path("g.prof")
        with open(path, "wb") as file:
            file.write(struct.pack("=11Q", 0, 3, 0, 10000, 0, 5, 1, 0x401000, 0, 1, 0) + b"400000-402000 r-xp 0 08:01 5 /bin/x\n")
        done = run(p.PCTALLY, "archive", path)
        self.assertEqual((done.returncode, done.stderr),
                         (4, f"pctally: {path} is a profile of another tool; archive needs one of pctally record\n"))

    def test_what_is_none_or_damaged_is_one_line(self):
        with open(self.export("pprof"), "rb") as file:
            packed = file.read()
        for name, content, message in (("text.txt", b"hello\n", " is no profile of pctally, pprof, gperftools or perf script, and no folded stacks"),
                                       ("page.speedscope", b'{"$schema": "https://www.speedscope.app/file-format-schema.json"}', " is no profile of pctally, "),
                                       ("empty.txt", b"", " is empty: no profile"),
                                       ("less.folded", b"a;b 5\na;c -5\n", ": line 2 counts less than nothing: differences of profiles are not read"),
                                       ("cut.pb.gz", packed[:-200], ": its compression is damaged, or it is cut off"),
                                       ("odd.pb.gz", gzip.compress(b"\x0a\x04\x08\x01\x10\x02\x32\x00"), ": damaged: ")):
            with open(self.path(name), "wb") as file:
                file.write(content)
            done = run(p.PCTALLY, "report", self.path(name))
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (4, "", 1), done.stderr)
            self.assertIn(f"{self.path(name)}{message}", done.stderr)
            self.assertLessEqual(len(done.stderr) - len(self.path(name)), 120)


if __name__ == "__main__":
    p.main()
