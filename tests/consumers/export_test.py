"""Each format of pctally export is read by the tool it is for, and adds up to the profile's ticks."""
import collections
import csv
import gzip
import io
import json
import os
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p


def gmon_ticks(path):
    """Sum of all counters of a gmon.out."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:4] == b"gmon", data[:4]
    at, ticks = 20, 0
    while at < len(data):
        assert data[at] == 0, "a record that is no histogram"
        low, high, count = struct.unpack_from("<QQI", data, at + 1)
        ticks += sum(struct.unpack_from(f"<{count}H", data, at + 41))
        at += 41 + 2 * count
    return ticks


class Export(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(dir=p.scratch())
        cls.profile = os.path.join(cls.directory, "p.pct")
        done = p.record([p.program("known_shares"), "0.5", "1"], "-e", p.engines()[-1], path=cls.profile)
        assert done.returncode == 0, done.stderr
        cls.data = p.report(cls.profile)

    def export(self, name, *options):
        path = os.path.join(self.directory, "out." + name)
        done = subprocess.run([p.PCTALLY, "export", "--format", name, *options, "-o", path, self.profile],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return path

    def need(self, program):
        if shutil.which(program) is None:
            self.skipTest(f"{program} is not installed")

    def function_ticks(self):
        ticks = {}
        for row in self.data["rows"]:
            ticks[row["function"]] = ticks.get(row["function"], 0) + row["ticks"]
        return ticks

    def test_pprof_is_read_by_go_tool_pprof(self):
        self.need("go")
        path = self.export("pprof", "--no-lines")
        top = subprocess.run(["go", "tool", "pprof", "-top", "-nodecount=100000", "-nodefraction=0", "-sample_index=samples", path],
                             capture_output=True, text=True, env={**os.environ, "HOME": self.directory})
        self.assertEqual(top.returncode, 0, top.stderr)
        rows = re.findall(r"^ *(\d+) +[\d.]+% +[\d.]+% +\d+ +[\d.]+%  (.*)$", top.stdout, re.M)
        self.assertEqual(sum(int(ticks) for ticks, _ in rows), self.data["ticks"], top.stdout)
        self.assertEqual({name: int(ticks) for ticks, name in rows}["share_00"], self.function_ticks()["share_00"])

    def test_the_program_of_pprof_is_the_file_that_the_command_is_a_link_to(self):
        """As python3, awk and g++ are: go tool pprof takes the first mapping for it, and so does pctally."""
        link, profile, out = (os.path.join(self.directory, name) for name in ("interpreter", "link.pct", "link.pb.gz"))
        os.symlink(p.program("known_shares"), link)
        for options in ([], ["-g"]) if p.engine_available("ring") else ([],):
            self.assertEqual(p.record([link, "0.2", "1"], *options, path=profile).returncode, 0)
            subprocess.run([p.PCTALLY, "export", "--format", "pprof", "-o", out, profile], check=True)
            self.assertEqual(p.report(out)["command"], [os.path.realpath(link)])

    def test_callers_are_read_by_go_tool_pprof(self):
        """Cumulative figures of pprof are the totals of report --sort total, of functions in one piece."""
        self.need("go")
        p.need_call_paths(self)
        profile = os.path.join(self.directory, "g.pct")
        done = p.record([p.program("known_paths"), "recursion", "0.4"], "-g", path=profile)
        self.assertEqual(done.returncode, 0, done.stderr)
        out = os.path.join(self.directory, "g.pb.gz")
        subprocess.run([p.PCTALLY, "export", "--format", "pprof", "--no-lines", "-o", out, profile], check=True)
        top = subprocess.run(["go", "tool", "pprof", "-top", "-cum", "-nodecount=100000", "-nodefraction=0",
                              "-sample_index=samples", out], capture_output=True, text=True,
                             env={**os.environ, "HOME": self.directory})
        self.assertEqual(top.returncode, 0, top.stderr)
        totals = {name.strip(): int(ticks) for ticks, name in
                  re.findall(r"^ *\d+ +[\d.]+% +[\d.]+% +(\d+) +[\d.]+%  (.*)$", top.stdout, re.M)}
        rows = {row["function"]: row["total_ticks"] for row in p.report(profile)["rows"] if "total_ticks" in row}
        for function in ("main", "recursion", "deep", "work"):
            self.assertEqual(totals[function], rows[function], function)

    def functions_of(self, text):
        """Ticks of a folded profile by function, and by what stands for one; and those of paths that were folded."""
        ticks, nowhere, folded = collections.Counter(), collections.Counter(), 0
        for line in text.splitlines():
            stack, count = line.rsplit(" ", 1)
            frames = stack.split(";")
            (nowhere if re.match(r"\[(folded\]|lost\]|path |no room )", frames[-1]) else ticks)[frames[-1]] += int(count)
            folded += int(count) if "[folded]" in frames else 0
        return ticks, nowhere, folded

    def test_functions_keep_their_ticks_where_paths_were_folded(self):
        if not p.engine_available("ring") or shutil.which("g++") is None:
            self.skipTest("call paths need engine ring, and the test a program of many paths: g++")
        source, profile, path = (os.path.join(self.directory, name) for name in ("big.cc", "folded.pct", "folded.perf"))
        with open(source, "w") as file:
            file.write("#include <regex>\nint main() { return std::regex_match(\"a\", std::regex(\"a+b\")); }\n")
        done = p.record(["g++", "-c", source, "-o", "/dev/null"], "-g", "--paths-memory", "64K", "-F", "3000", path=profile)
        self.assertEqual(done.returncode, 0, done.stderr)
        report, rows = p.report(profile), collections.Counter()
        for row in report["rows"]:
            rows[re.sub(r" \[0x[0-9a-f]+\]$", "", row["linkage"] or row["function"])] += row["ticks"]
        said = subprocess.run([p.PCTALLY, "export", "--format", "folded", "--no-lines", "--names", "linkage", profile],
                              capture_output=True, text=True, check=True)
        ticks, nowhere, folded = self.functions_of(re.sub(r" \[0x[0-9a-f]+\] (\d+)$", r" \1", said.stdout, flags=re.M))
        self.assertEqual(folded, report["paths"]["folded"])
        self.assertGreater(folded, 0.3 * report["ticks"])
        # Ticks in no code are in no function: beside busy programs there may be some.
        unplaced = rows.pop("[outside]", 0) + rows.pop("[full]", 0)
        self.assertEqual(nowhere.pop("[lost]", 0), rows.pop("[lost]", 0))
        self.assertLessEqual(sum((ticks - rows).values()), unplaced)
        self.assertLessEqual(sum((rows - ticks).values()), sum(nowhere.values()))
        self.assertLessEqual(sum(count for name, count in nowhere.items() if not name.startswith("[path cut at code ")), unplaced)
        if shutil.which("perf") is None:
            return
        subprocess.run([p.PCTALLY, "export", "--format", "perf", "-o", path, profile], check=True)
        said = subprocess.run(["perf", "report", "-i", path, "--stdio", "--children", "-g", "none", "--sort", "sym", "-t", ";"],
                              capture_output=True, text=True)
        share = re.search(r"^ *([\d.]+)% *; *([\d.]+)% *;.*\[folded\]", said.stdout, re.M)
        self.assertAlmostEqual(float(share[1]), 100 * folded / report["ticks"], delta=0.01)
        self.assertAlmostEqual(float(share[2]), 100 * nowhere["[folded]"] / report["ticks"], delta=0.01)

    WORK = """
    __attribute__((noinline)) unsigned own_work(unsigned x) { for (int i = 0; i < 300; i++) x = x * 1664525 + 1013904223 + (x >> 16); return x; }
    __attribute__((noinline)) unsigned idle(unsigned x) { for (int i = 0; i < 3; i++) x = x * 31 + (x >> 3); return x; }
    int main(void) { unsigned x = idle(1); for (int i = 0; i < 400000; i++) x += own_work(x); return x == 0; }
    """

    def test_pprof_disassembles_the_function_that_ran(self):
        """Whichever way the linker lays out the file: places of code in it are its addresses, or they are not."""
        self.need("go")
        compilers = [("pie", ["gcc", "-pie"]), ("no-pie", ["gcc", "-no-pie"]), ("lld", ["clang", "-pie", "-fuse-ld=lld"])]
        for name, compiler in compilers:
            program = os.path.join(self.directory, name)
            words = [*compiler, "-x", "c", "-", "-O1", "-g", "-fno-inline", "-o", program]
            if shutil.which(compiler[0]) is None or subprocess.run(words, input=self.WORK, text=True, capture_output=True).returncode != 0:
                print(f"skipped: {' '.join(compiler)} (does not work here)")
                continue
            for paths in ([], ["-g"]) if p.engine_available("ring") else ([],):
                with self.subTest(program=name, paths=paths):
                    self.compare_with_disassembly(program, paths)

    def compare_with_disassembly(self, program, paths):
        profile, out = program + ".pct", program + ".pb.gz"
        self.assertEqual(p.record([program], "-e", "ring" if paths else p.engines()[-1], *paths, path=profile).returncode, 0)
        subprocess.run([p.PCTALLY, "export", "--format", "pprof", "-o", out, profile], check=True)
        ticks = sum(row["ticks"] for row in p.report(profile)["rows"] if row["function"] == "own_work")
        for view in ("-disasm=own_work", "-weblist=own_work"):
            said = subprocess.run(["go", "tool", "pprof", "-sample_index=samples", view, "-output", out + ".txt", program, out],
                                  capture_output=True, text=True, env={**os.environ, "HOME": self.directory})
            self.assertEqual(said.returncode, 0, said.stderr)
            with open(out + ".txt") as file:
                text = file.read()
            found = re.search(r"^ +(\d+) +(\d+) \(flat, cum\)|Total: +(\d+) +(\d+) \(flat, cum\)", text, re.M)
            self.assertIsNotNone(found, text[:500])
            self.assertEqual(int(found[1] or found[3]), ticks, view)
            self.assertIn("imul", text.lower())

    def test_perf_data_is_read_by_perf(self):
        """Names, and CPU time to the nanosecond; with call paths what perf calls children are the totals."""
        self.need("perf")
        path = self.export("perf")
        said = subprocess.run(["perf", "script", "-i", path, "-F", "ip,sym,period"], capture_output=True, text=True)
        self.assertEqual(said.returncode, 0, said.stderr)
        periods = [(int(period), name) for period, name in re.findall(r"^ *(\d+) *\n\s+[0-9a-f]+ (\S+)", said.stdout, re.M)]
        self.assertEqual(sum(period for period, _ in periods), self.data["ticks"] * self.data["period_ns"])
        self.assertEqual(sum(period for period, name in periods if name == "share_00"),
                         self.function_ticks()["share_00"] * self.data["period_ns"])
        p.need_call_paths(self)
        profile = os.path.join(self.directory, "perf.pct")
        self.assertEqual(p.record([p.program("known_paths"), "recursion", "0.4"], "-g", path=profile).returncode, 0)
        subprocess.run([p.PCTALLY, "export", "--format", "perf", "-o", path, profile], check=True)
        said = subprocess.run(["perf", "report", "-i", path, "--stdio", "--children", "-g", "none", "--sort", "sym", "-t", ";"],
                              capture_output=True, text=True)
        shares = {name.strip(): float(share) for share, name in re.findall(r"^ *([\d.]+)% *;.*?\[\.\] (\S+)", said.stdout, re.M)}
        report = p.report(profile)
        totals = {row["function"]: 100 * row["total_ticks"] / report["ticks"] for row in report["rows"] if "total_ticks" in row}
        for function in ("main", "recursion", "deep", "work"):
            self.assertAlmostEqual(shares[function], totals[function], delta=0.01, msg=function)

    def test_perf_script_prints_the_frames_of_events(self):
        self.need("perf")
        if not p.engine_available("ring"):
            self.skipTest("events need engine ring")
        profile, path = (os.path.join(self.directory, "faults." + end) for end in ("pct", "perf"))
        self.assertEqual(p.record([p.program("known_shares"), "0.1", "1"], "-g", "-e", "page-faults", path=profile).returncode, 0)
        subprocess.run([p.PCTALLY, "export", "--format", "perf", "-o", path, profile], check=True)
        said = subprocess.run(["perf", "script", "-i", path], capture_output=True, text=True)
        samples = [sample.split("\n") for sample in said.stdout.strip().split("\n\n")]
        for sample in samples:
            self.assertRegex(sample[0], r" page-faults: *$")
            self.assertRegex("\n".join(sample[1:2]), r"^\t *[0-9a-f]+ \S+.* \(.+\)$")
        report = p.report(profile)
        self.assertEqual(report["ticks"] - report["lost"], sum(int(re.search(r": +(\d+) page-faults:", s[0])[1]) for s in samples))

    def test_perf_says_that_kernel_code_of_another_boot_gets_wrong_names(self):
        path, other, out = (os.path.join(self.directory, "kernel." + end) for end in ("pct", "other.pct", "perf"))
        p.record(["dd", "if=/dev/zero", "of=/dev/null", "bs=1M", "count=10000"], path=path)
        share = sum(row["ticks"] for row in p.report(path)["rows"] if row["object"] == "[kernel]") / max(1, p.report(path)["ticks"])
        if share < 0.02:
            self.skipTest("kernel code is not visible here")
        with open(path, "rb") as file, open("/proc/sys/kernel/random/boot_id") as boot:
            data, boot_id = file.read(), bytes.fromhex(boot.read().strip().replace("-", ""))
        self.assertIn(boot_id, data)
        with open(other, "wb") as file:
            file.write(data.replace(boot_id, bytes(range(16))))
        for profile, line in ((path, ""), (other, f"pctally: warning: perf misnames {100 * share:.1f} % of the ticks: kernel code of another boot; "
                                                  "--format pprof has its names\n")):
            done = subprocess.run([p.PCTALLY, "export", "--format", "perf", "-o", out, profile], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, line))

    def test_functions_of_one_name_stay_apart(self):
        """Static functions of two files: folded has a name for each that the report has a row for."""
        directory = tempfile.mkdtemp(dir=self.directory)
        program, profile = (os.path.join(directory, name) for name in ("work", "work.pct"))
        for name in "ab":
            with open(os.path.join(directory, name + ".c"), "w") as file:
                file.write("static __attribute__((noinline)) unsigned work(unsigned x) { for (int i = 0; i < 300; ++i) x = x * 31 + (x >> 3); return x; }\n"
                           f"unsigned call_{name}(unsigned x) {{ return work(x) + 1; }}\n")
        with open(os.path.join(directory, "main.c"), "w") as file:
            file.write("unsigned call_a(unsigned), call_b(unsigned);\n"
                       "int main(void) { unsigned x = 1; for (int i = 0; i < 300000; ++i) x += call_a(x) + call_b(x); return x == 0; }\n")
        subprocess.run(["cc", "-O1", *(os.path.join(directory, name + ".c") for name in ("a", "b", "main")), "-o", program], check=True)
        self.assertEqual(p.record([program], "-e", p.engines()[-1], path=profile).returncode, 0)
        rows = {row["short"]: row["ticks"] for row in p.report(profile)["rows"] if row["function"] == "work"}
        self.assertEqual(len(rows), 2)
        for style in ("full", "short", "linkage"):
            done = subprocess.run([p.PCTALLY, "export", "--format", "folded", "--no-lines", "--names", style, profile], capture_output=True, text=True)
            ticks = collections.Counter()
            for name, count in re.findall(r";(work \[[^;]*) (\d+)$", done.stdout, re.M):
                ticks[name] += int(count)
            self.assertEqual(ticks, rows, style)

    def test_folded_adds_up(self):
        with open(self.export("folded")) as file:
            text = file.read()
        self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in text.splitlines()), self.data["ticks"])
        for words in ([], ["-o", "-"]):  # to standard output
            done = subprocess.run([p.PCTALLY, "export", "--format", "folded", *words, self.profile], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (0, text))

    def test_a_full_disk_leaves_the_old_file(self):
        """As a limit of a file's size does, which needs no root. The new file has the owner and mode of the old one."""
        path = os.path.join(self.directory, "full", "old")
        os.mkdir(os.path.dirname(path))
        with open(path, "w") as file:
            file.write("worth having")
        os.chmod(path, 0o640)
        words = [p.PCTALLY, "export", "--format", "csv", "-o", path, self.profile]
        done = subprocess.run(words, capture_output=True, text=True,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64)))
        self.assertEqual((done.returncode, done.stderr), (125, f"pctally: cannot write {path}: File too large\n"))
        self.assertEqual(os.listdir(os.path.dirname(path)), ["old"])
        with open(path) as file:
            self.assertEqual(file.read(), "worth having")
        self.assertEqual(subprocess.run(words).returncode, 0)
        with open(path) as file:
            self.assertIn("known_shares", file.read())
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o640)

    def test_links_and_devices_stay_what_they_are(self):
        path = os.path.join(self.directory, "target")
        os.symlink(path, path + ".link")
        for to in (path + ".link", "/dev/stdout"):
            done = subprocess.run([p.PCTALLY, "export", "--format", "csv", "-o", to, self.profile], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(os.path.islink(path + ".link"))
        with open(path) as file:
            self.assertEqual(file.read(), done.stdout)

    def test_callgrind_is_read_by_callgrind_annotate(self):
        self.need("callgrind_annotate")
        path = self.export("callgrind", "--no-lines")
        done = subprocess.run(["callgrind_annotate", "--threshold=100", path], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout.replace(",", ""), rf"(?m)^ *{self.data['ticks']} .*PROGRAM TOTALS")

    def test_callgrind_has_the_ticks_of_each_instruction(self):
        """Its own lines, read as addresses of the object: each function's lie where nm(1) says it is, to the tick."""
        self.need("nm")
        path = os.path.realpath(p.program("known_shares"))
        symbols = {words[-1]: (int(words[0], 16), int(words[1], 16)) for words in
                   map(str.split, subprocess.run(["nm", "-S", path], capture_output=True, text=True, check=True).stdout.splitlines())
                   if len(words) == 4}
        with open(self.export("callgrind")) as file:
            text = file.read()
        blocks = re.findall(r"^ob=(.*)\nfl=.*\nfn=(.*)\n((?:.+\n)*)", text, re.M)
        ticks = {}
        for object_path, function, lines in blocks:
            costs = [(int(address, 16), int(cost)) for address, cost in re.findall(r"^(0x[0-9a-f]+) \d+ (\d+)$", lines, re.M)]
            ticks[object_path] = ticks.get(object_path, 0) + sum(cost for _, cost in costs)
            if function.startswith("share_"):
                self.assertEqual(object_path, path)
                start, size = symbols[function]
                self.assertTrue(all(start <= address < start + size for address, _ in costs), (function, costs))
                self.assertEqual(sum(cost for _, cost in costs), self.function_ticks()[function])
        self.assertEqual(sum(ticks.values()), self.data["ticks"])

    def test_speedscope_adds_up(self):
        with open(self.export("speedscope")) as file:
            run = json.load(file)["profiles"][0]
        self.assertEqual(sum(run["weights"]), self.data["ticks"] * self.data["period_ns"])

    def profile_with_callers(self):
        p.need_call_paths(self)
        profile = os.path.join(self.directory, "paths.pct")
        if not os.path.exists(profile):
            done = p.record([p.program("known_paths"), "recursion", "0.4"], "-g", path=profile)
            self.assertEqual(done.returncode, 0, done.stderr)
        return profile

    def test_firefox_is_whole(self):
        """Every index leads into its table, every column has its table's length, stacks come after their prefixes."""
        for profile in (self.profile, self.profile_with_callers()):
            done = subprocess.run([p.PCTALLY, "export", "--format", "firefox", profile], capture_output=True, check=True)
            data = json.loads(done.stdout)
            weights = sum(sum(thread["samples"]["weight"]) for thread in data["threads"])
            self.assertEqual(weights, p.report(profile)["ticks"])
            thread = max(data["threads"], key=lambda thread: sum(thread["samples"]["weight"]))
            tables = {name: table for name, table in thread.items() if isinstance(table, dict) and "length" in table}
            for name, table in tables.items():
                for column, values in table.items():
                    if isinstance(values, list):
                        self.assertEqual(len(values), table["length"], (name, column))
            lengths = {name: table["length"] for name, table in tables.items()}
            lengths["stringArray"], lengths["libs"] = len(thread["stringArray"]), len(data["libs"])
            for table, column, into in (("samples", "stack", "stackTable"), ("stackTable", "frame", "frameTable"),
                                        ("frameTable", "func", "funcTable"), ("funcTable", "name", "stringArray"),
                                        ("funcTable", "resource", "resourceTable"), ("resourceTable", "lib", "libs"),
                                        ("resourceTable", "name", "stringArray")):
                for value in tables[table][column]:
                    self.assertTrue(value is None or -1 <= value < lengths[into], (table, column, value))
            for index, prefix in enumerate(tables["stackTable"]["prefix"]):
                self.assertTrue(prefix is None or prefix < index)

    def test_markdown_adds_up_and_stays_a_table(self):
        with open(self.export("markdown", "--limit", "3")) as file:
            text = file.read()
        rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ") and line[2].isdigit()]
        self.assertEqual(len(rows), 5)  # three, those left out, all
        ticks = [int(row[3]) for row in rows]
        self.assertEqual((sum(ticks[:-1]), ticks[-1]), (self.data["ticks"], self.data["ticks"]))

    def test_gmon_is_read_by_gprof(self):
        """To the tick: gprof -s writes the sum it has read, and known_shares' functions have their ticks' seconds."""
        self.need("gprof")
        path = os.path.join(self.directory, "gmon.out")
        done = subprocess.run([p.PCTALLY, "export", "--format", "gmon", "-o", path, self.profile], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        program = p.program("known_shares")
        own = sum(row["ticks"] for row in p.report(self.profile, "--by", "object")["rows"] if row["object"] == "known_shares")
        self.assertEqual(done.stderr, f"pctally: {own:,} of {self.data['ticks']:,} ticks, those of {os.path.realpath(program)}; --object NAME writes another's\n")
        subprocess.run(["gprof", "-s", program, path], cwd=self.directory, check=True, capture_output=True)
        self.assertEqual(gmon_ticks(os.path.join(self.directory, "gmon.sum")), own)
        flat = subprocess.run(["gprof", "-b", "-p", program, path], capture_output=True, text=True, check=True).stdout
        hertz = round(1e9 / self.data["period_ns"])
        seconds = {line.split()[-1]: float(line.split()[2]) for line in flat.splitlines() if line.endswith(tuple("0123456789"))}
        for name, ticks in self.function_ticks().items():
            if re.fullmatch(r"share_\d+", name):
                self.assertAlmostEqual(seconds.get(name, 0), ticks / hertz, delta=0.0051, msg=flat)

    def compiler(self):
        if os.uname().machine != "x86_64":
            self.skipTest("format llvm reads instructions of x86")
        for name in ("clang-19", "clang-16", "clang-14", "clang"):
            if shutil.which(name):
                return [name, "-O2", "-g", "-fdebug-info-for-profiling", os.path.join(os.path.dirname(__file__), "branches.c")]
        return self.skipTest("clang is not installed")

    def branches(self, *options):
        """A program of its own for each test, and its profile."""
        directory = tempfile.mkdtemp(dir=self.directory)
        program, profile = os.path.join(directory, "branches"), os.path.join(directory, "b.pct")
        subprocess.run([*self.compiler(), *options, "-o", program], check=True)
        done = p.record([program, "400000000"], "-e", p.engines()[-1], path=profile)
        self.assertEqual(done.returncode, 0, done.stderr)
        return program, profile

    def export_llvm(self, profile, *others):
        out = profile + ".prof"
        done = subprocess.run([p.PCTALLY, "export", "--format", "llvm", "-o", out, profile, *others], capture_output=True, text=True)
        return out, done

    def test_llvm_of_runs_of_other_periods_says_its_part_in_one_unit(self):
        program, profile = self.branches()
        done = p.record([program, "100000000"], "-F", "499", "-e", p.engines()[-1], path=profile + ".2")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.export_llvm(profile, profile + ".2")[1]
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"^pctally: (\d+\.\d of \d+\.\d ms|\d+\.\d\d of \d+\.\d\d s), those of ")

    def test_llvm_is_used_by_clang(self):
        """The weights of the branch in the loop: the way that 1023 of 1024 rounds take, against the other."""
        program, profile = self.branches()
        out, done = self.export_llvm(profile)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, rf"^pctally: [\d,]+ of [\d,]+ ticks, those of {os.path.realpath(program)}; --object NAME writes another's\n$")
        with open(out) as file:
            self.assertRegex(file.read(), r"(?m)^ 6(\.\d+)?: mix:[1-9]\d*\n  1: [1-9]")  # inlined in line 6 of work
        code = subprocess.run([*self.compiler(), "-fprofile-sample-use=" + out, "-S", "-emit-llvm", "-o", "-"],
                              capture_output=True, text=True, check=True)
        self.assertEqual(code.stderr, "")
        mark = re.search(r"^define [^\n]*@work\([^\n]* !prof (!\d+)", code.stdout, re.M)
        self.assertIsNotNone(mark, "work has no profile")
        self.assertRegex(code.stdout, rf'(?m)^{mark.group(1)} = !{{!"function_entry_count", i64 [1-9]')
        body = re.search(r"^define [^\n]*@work\(.*?^}", code.stdout, re.M | re.S).group()
        weights = {mark: [int(word) for word in re.findall(r"i32 (-?\d+)", rest)] for mark, rest in
                   re.findall(r'^(!\d+) = !{!"branch_weights", (.*)}$', code.stdout, re.M)}
        used = [weights[mark] for mark in re.findall(r"^  br i1 .*!prof (!\d+)", body, re.M)]
        self.assertTrue(any(max(pair) > 20 * min(pair) for pair in used), used)

    def test_llvm_is_read_by_llvm_profdata(self):
        tools = [path for path in (shutil.which("llvm-profdata-19"), "/usr/lib/llvm-19/bin/llvm-profdata",
                                   "/usr/lib/llvm-14/bin/llvm-profdata") if path and os.path.exists(path)]
        if not tools:
            self.skipTest("llvm-profdata is not installed (package llvm-19)")
        out, done = self.export_llvm(self.branches()[1])
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = subprocess.run([tools[0], "show", "--sample", out], capture_output=True, text=True)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertRegex(shown.stdout, r"(?m)^Function: work: \d+, \d+, \d+ sampled lines")

    def test_llvm_refuses_what_a_compiler_would_take_wrongly(self):
        program, profile = self.branches("-g0")
        out, done = self.export_llvm(profile)
        self.assertEqual(done.returncode, 4)
        self.assertIn("has no line information; compile it with -g -fdebug-info-for-profiling", done.stderr)
        subprocess.run([*self.compiler(), "-O1", "-o", program], check=True)
        out, done = self.export_llvm(profile)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (4, 1))
        self.assertIn("has been rebuilt since it was profiled", done.stderr)
        self.assertFalse(os.path.exists(out))

    def test_llvm_refuses_a_program_mostly_without_lines(self):
        """Its hot function is of an object that was compiled without -g."""
        directory = tempfile.mkdtemp(dir=self.directory)
        part, program, profile = (os.path.join(directory, name) for name in ("work.o", "branches", "b.pct"))
        subprocess.run([*self.compiler(), "-g0", "-DONLY_WORK", "-c", "-o", part], check=True)
        subprocess.run([*self.compiler(), "-DONLY_MAIN", part, "-o", program], check=True)
        self.assertEqual(p.record([program, "100000000"], "-e", p.engines()[-1], path=profile).returncode, 0)
        out, done = self.export_llvm(profile)
        self.assertEqual(done.returncode, 4)
        self.assertRegex(done.stderr, r"^pctally: only \d+ of \d+ ticks? of \S+ have lines; compile all of it with -g -fdebug-info-for-profiling\n$")
        self.assertFalse(os.path.exists(out))

    def test_llvm_does_not_count_stubs_of_the_linker(self):
        """They never have lines. Here they have more ticks than may be without."""
        directory = tempfile.mkdtemp(dir=self.directory)
        library, source, program, profile = (os.path.join(directory, name) for name in ("libnext.so", "calls.c", "calls", "c.pct"))
        compiler = self.compiler()[:-1]
        with open(source, "w") as file:
            file.write("int next(int x) { return x + 1; }\n")
        subprocess.run([*compiler, "-shared", "-fPIC", "-o", library, source], check=True)
        with open(source, "w") as file:
            file.write("int next(int x);\nint main() { int x = 0; for (long i = 0; i < 200000000; i++) x = next(x); return x == 3; }\n")
        subprocess.run([*compiler, "-o", program, source, library, "-Wl,-rpath," + directory], check=True)
        self.assertEqual(p.record([program], "-e", p.engines()[-1], path=profile).returncode, 0)
        out, done = self.export_llvm(profile, "--object", "calls")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = {row["function"]: row["ticks"] for row in p.report(profile)["rows"] if row["object"] == "calls"}
        self.assertGreater(rows["next@plt"], sum(rows.values()) / 20)

    def test_csv_adds_up(self):
        with open(self.export("csv"), newline="") as file:
            self.assertEqual(sum(int(row["ticks"]) for row in csv.DictReader(file)), self.data["ticks"])

    def test_wrong_usage(self):
        for words, status in ((["--format", "svg", self.profile], 2), ([self.profile], 2), (["--format", "csv", "no.pct"], 4),
                              (["--format", "csv", "-o", "/nowhere/x", self.profile], 125)):
            done = subprocess.run([p.PCTALLY, "export", *words], capture_output=True, text=True)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
