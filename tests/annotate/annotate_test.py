"""pctally annotate on real programs: ticks are the report's, addresses objdump's, and what cannot be shown is one line."""
import bisect
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

HERE = os.path.dirname(os.path.abspath(__file__))
INPUT = 4
CLANG = shutil.which("clang-19") or shutil.which("clang-14")


def annotate(*words, **keywords):
    return subprocess.run([p.PCTALLY, "annotate", *words], capture_output=True, text=True, **keywords)


def annotate_json(function, profile, object_name, *options):
    done = annotate(function, profile, "--object", f"^{re.escape(object_name)}$", "--json", *options)
    if (done.returncode, done.stderr) != (0, ""):
        raise AssertionError(f"annotate {function}: {done.returncode}, {done.stderr}")
    return json.loads(done.stdout)


def write(directory, files):
    for name, text in files.items():
        with open(os.path.join(directory, name), "w") as file:
            file.write(text)


def archive(profile, to):
    """What it says of it."""
    done = subprocess.run([p.PCTALLY, "archive", "-o", to, profile], capture_output=True, text=True, check=True)
    return done.stdout + done.stderr


def build(directory, *flags):
    """table.cc as directory/table, compiled from a copy there."""
    shutil.copy(os.path.join(HERE, "table.cc"), directory)
    program = os.path.join(directory, "table")
    subprocess.run(["g++", "-O2", *flags, "-o", program, os.path.join(directory, "table.cc")], check=True)
    return program


def addresses_of_objdump(program, start, end):
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", f"--start-address={start}", f"--stop-address={end}", program],
                          capture_output=True, text=True, check=True).stdout
    return [int(address, 16) for address in re.findall(r"^ +([0-9a-f]+):\t", text, re.M)]


@unittest.skipIf(shutil.which("g++") is None, "g++ is not installed")
def report_rows(profile, *options):
    done = subprocess.run([p.PCTALLY, "report", "--json", "--limit", "0", *options, profile], capture_output=True, check=True)
    return json.loads(done.stdout)["rows"]


class Annotate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(dir=p.scratch())
        cls.program = build(cls.directory, "-g")
        cls.recorded = p.record([cls.program])
        cls.profile, cls.data = cls.recorded.path, cls.recorded.report()

    def rows(self):
        return [row for row in self.data["rows"] if row["object"] == "table"]

    def json(self, function, *options):
        return annotate_json(function, self.profile, "table", *options)

    def test_an_object_that_is_not_there_is_the_cause(self):
        done = annotate("count", self.profile, "--object", "zzz")
        self.assertEqual((done.returncode, done.stdout), (INPUT, ""))
        self.assertRegex(done.stderr, r"^pctally: no ticks in an object called 'zzz'; they are in .*table.*\n$")

    def test_ticks_are_those_of_the_report(self):
        self.assertGreaterEqual(len(self.rows()), 3)
        for row in self.rows():
            if row["function"].startswith("["):
                continue
            data = self.json(row["linkage"])
            self.assertEqual(data["ticks"], row["ticks"], row["function"])
            self.assertEqual(data["short"], row["short"])
            self.assertEqual(data["share"], row["share"])
            for part in ("instructions", "lines"):
                self.assertEqual(sum(entry["ticks"] for entry in data[part]), row["ticks"], (part, row["function"]))

    @unittest.skipIf(shutil.which("objdump") is None, "objdump is not installed")
    def test_addresses_are_those_of_objdump(self):
        for row in self.rows():
            data = self.json(row["linkage"])
            if data["problem"]:
                self.skipTest(data["problem"])
            rows = data["instructions"]
            end = rows[-1]["address"] + rows[-1]["length"]
            self.assertEqual([entry["address"] for entry in rows],
                             addresses_of_objdump(self.program, rows[0]["address"], end), row["function"])

    def test_each_tick_is_at_its_instruction(self):
        """export has every place with its ticks; gcc lays code out so that a place in the file is its address."""
        done = subprocess.run([p.PCTALLY, "export", "--format", "csv", "--names", "linkage", "--no-lines", self.profile],
                              capture_output=True, text=True, check=True)
        for row in self.rows():
            data = self.json(row["linkage"])
            if data["problem"]:
                self.skipTest(data["problem"])
            starts = [entry["address"] for entry in data["instructions"]]
            expected = [0] * len(starts)
            for place in csv.DictReader(io.StringIO(done.stdout)):
                if (place["object"], place["function"]) == ("table", row["linkage"]):
                    expected[bisect.bisect_right(starts, int(place["position"], 0)) - 1] += int(place["ticks"])
            self.assertEqual([entry["ticks"] for entry in data["instructions"]], expected, row["function"])

    def test_the_text_has_lines_instructions_and_inlined_frames(self):
        done = annotate("count", self.profile)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^count   table   \d")
        self.assertRegex(done.stdout, r"(?m)^table\.cc:19 .* \+\+table\[")
        self.assertRegex(done.stdout, r"(?m)^  \S+:\d+ .* > std::map::operator\[\]")
        self.assertRegex(done.stdout, r"(?m)^.*>.* [0-9a-f]+  \w+")
        self.assertIn("\nskid: ", done.stdout)
        self.assertNotIn("warning", done.stdout)

    def test_by_place_and_by_part_of_the_name(self):
        line = max((entry for entry in self.json("sum(std::vector&, int)")["lines"]), key=lambda entry: entry["ticks"])
        both = annotate(f"table.cc:{line['line']}", self.profile)
        self.assertEqual(both.returncode, INPUT)
        self.assertRegex(both.stderr, r"^pctally: 'table\.cc:\d+' is sum\(.* %\), sum\(.*; name one in full\n$")
        self.assertEqual(annotate("table.cc:19", self.profile).stdout, annotate("count", self.profile).stdout)

    def test_a_place_is_meant_before_a_part_of_a_name(self):
        """Names of code made at run time hold the place of the function: "other app.c:131"."""
        with tempfile.TemporaryDirectory(dir=p.scratch()) as directory:
            body = "{ for (unsigned i = 0; i < 200000000; i++) x = (x * 1664525 + i) ^ (x >> 7); return x; }\n"
            with open(os.path.join(directory, "app.c"), "w", encoding="utf-8") as source:
                source.write("\n" * 12 + f"__attribute__((noinline)) unsigned hot(unsigned x) {body}"
                             f"__attribute__((noinline)) unsigned other(unsigned x) {body}"
                             "int main() { return hot(1) + other(2) == 3; }\n")
            run = {"cwd": directory, "check": True}
            subprocess.run(["gcc", "-O1", "-g", "-c", "app.c"], **run)
            subprocess.run(["objcopy", "--redefine-sym", "other=other app.c:131", "app.o"], **run)
            subprocess.run(["gcc", "-o", "app", "app.o"], **run)
            recorded = p.record([os.path.join(directory, "app")])
            self.assertEqual(annotate_json("app.c:13", recorded.path, "app")["function"], "hot")
            self.assertRegex(annotate("app.c:131", recorded.path).stderr, r"only other app\.c:131 \(app\) has that in its name")

    def test_a_part_of_a_name_is_said_to_be_one(self):
        by_part = annotate("coun", self.profile, "--object", "^table$")
        self.assertEqual(by_part.stderr, "pctally: no function with ticks in objects of --object ^table$ is called coun; "
                                         "only count (table) has that in its name\n")
        exact = annotate("count", self.profile)
        self.assertEqual((exact.stdout, exact.stderr), (by_part.stdout, ""))

    def test_another_symbol_of_the_same_code(self):
        directory = tempfile.mkdtemp(dir=p.scratch())
        program = os.path.join(directory, "two")
        text = ("volatile long n;\n__attribute__((noinline)) void hot(void) { while (n < 200000000) n++; }\n"
                'void hot_too(void) __attribute__((alias("hot")));\nint main(void) { hot(); return 0; }\n')
        subprocess.run(["gcc", "-x", "c", "-", "-O1", "-o", program], input=text, text=True, check=True)
        profile = p.record([program]).path
        itself, other = annotate("hot", profile), annotate("hot_too", profile)
        self.assertEqual((itself.returncode, itself.stderr), (0, ""))
        self.assertEqual((other.stdout, other.stderr), (itself.stdout, "pctally: hot_too is another name of hot (two)\n"))

    def test_of_what_was_inlined_it_says_where(self):
        inlined = {frame["function"] for instruction in self.json("count")["instructions"] if instruction["ticks"]
                   for frame in instruction["frames"][:-1]}
        inlined -= {row["function"] for row in self.data["rows"]}
        self.assertTrue(inlined)
        for function in inlined:
            done = annotate(function, self.profile)
            self.assertEqual((done.returncode, done.stdout), (INPUT, ""))
            self.assertRegex(done.stderr, rf"^pctally: '{re.escape(function)}' was inlined into .*\(.* %\).*; name what it is in\n$")
            self.assertIn("count (", done.stderr)

    def test_a_source_that_moved_is_found_and_a_newer_one_is_reported(self):
        directory = tempfile.mkdtemp(dir=p.scratch())
        program = build(directory, "-g")
        profile = p.record([program, "4000"]).path
        moved = os.path.join(directory, "moved")
        os.mkdir(moved)
        os.rename(os.path.join(directory, "table.cc"), os.path.join(moved, "table.cc"))
        lost = annotate("count", profile)
        self.assertIn("(source not found)", lost.stdout)
        self.assertIn("--source-path OLD=NEW", lost.stdout)
        found = annotate("count", profile, "--source-path", f"{directory}={moved}")
        self.assertIn("++table[", found.stdout)
        later = os.stat(program).st_mtime + 10
        os.utime(os.path.join(moved, "table.cc"), (later, later))
        newer = annotate("count", profile, "--source-path", f"{directory}={moved}")
        self.assertRegex(newer.stdout, r"warning: .*table\.cc is newer than table: lines may have moved")
        self.assertLess(newer.stdout.index("warning: "), newer.stdout.index("++table["), "before the lines it is about")

    def test_a_source_compiled_by_a_relative_path(self):
        directory = tempfile.mkdtemp(dir=p.scratch())
        os.mkdir(os.path.join(directory, "sub"))
        shutil.copy(os.path.join(HERE, "table.cc"), os.path.join(directory, "sub"))
        subprocess.run(["g++", "-O2", "-g", "-o", "table", "sub/table.cc"], cwd=directory, check=True)
        recorded = p.record([os.path.join(directory, "table")])
        done = annotate("count", recorded.path, "--object", "^table$")
        self.assertIn("++table[", done.stdout)
        source = os.path.join(directory, "sub", "table.cc")
        own = recorded.report("--by", "line", "--own")
        self.assertIn(source, {row["file"] for row in own["rows"]})
        self.assertIn(f"source: {source}\n", archive(recorded.path, os.path.join(directory, "archived.pct")))

    def test_an_archive_has_the_source_of_a_function_that_only_calls(self):
        directory = tempfile.mkdtemp(dir=p.scratch())
        write(directory, {"caller.c": "void busy(long);\nint main(void) {\n  busy(30000000);  // the call\n  return 0;\n}\n",
                          "busy.c": "volatile long n;\nvoid busy(long most) {\n  while (n < most) n++;\n}\n"})
        subprocess.run(["gcc", "-O1", "-g", "-o", "busy", "caller.c", "busy.c"], cwd=directory, check=True)
        profile, archived = p.record([os.path.join(directory, "busy")], "-g").path, os.path.join(directory, "archived.pct")
        self.assertIn(f"source: {os.path.join(directory, 'caller.c')}\n", archive(profile, archived))
        os.remove(os.path.join(directory, "caller.c"))
        self.assertIn("// the call", annotate("main", archived).stdout)

    def test_code_of_a_jit_that_is_gone_is_one_line(self):
        """Two processes made the function, and one of them has nearly all ticks."""
        directory = tempfile.mkdtemp(dir=p.scratch())
        runs = [p.record([p.program("jit"), seconds], path=os.path.join(directory, seconds + ".pct")) for seconds in ("0.02", "1")]
        if runs[0].returncode == 77:
            self.skipTest("no machine code for this machine in programs/jit.c")
        both = os.path.join(directory, "sum.pct")
        subprocess.run([p.PCTALLY, "merge", "-q", "-o", both, *(run.path for run in runs)], check=True)
        done = annotate("jitted_loop", both)
        self.assertEqual((done.returncode, done.stdout), (INPUT, ""))
        self.assertRegex(done.stderr, r"^pctally: jitted_loop \[0x[0-9a-f]+\] was made by a JIT, whose code is gone; pctally report has its ticks\n$")

    def test_an_archive_has_the_source_of_inlined_code_that_never_ran(self):
        directory = tempfile.mkdtemp(dir=p.scratch())
        write(directory, {"rare.h": "static inline void rare(volatile long* n) {\n  *n = 7;  // hardly ever\n}\n",
                          "often.c": '#include "rare.h"\nvolatile long n;\nint main(void) {\n  while (n < 30000000)\n    if (++n < 0) rare(&n);\n}\n'})
        subprocess.run(["gcc", "-O2", "-g", "-o", "often", "often.c"], cwd=directory, check=True)
        profile, archived = p.record([os.path.join(directory, "often")]).path, os.path.join(directory, "archived.pct")
        archive(profile, archived)
        shown = annotate("main", profile, "--all").stdout
        self.assertIn("// hardly ever", shown)
        os.remove(os.path.join(directory, "rare.h"))
        self.assertEqual(annotate("main", archived, "--all").stdout, shown)

    def test_own_lines_have_their_hottest_chain_beside_them(self):
        """As --inlines has it, whose rows are chains; the rows are no others than without."""
        chains = {}
        for row in self.recorded.report("--by", "line", "--own", "--inlines")["rows"]:
            self.assertNotIn("hot_chain", row)
            if "inside" in row:
                chains.setdefault((row["object"], row["function"], row["file"], row["line"]), []).append((row["ticks"], row["inside"]))
        self.assertTrue(chains, "nothing is inlined: the test tests nothing")
        for row in self.recorded.report("--by", "line", "--own")["rows"]:
            own = chains.pop((row["object"], row["function"], row["file"], row["line"]), [])
            self.assertEqual("hot_chain" in row, bool(own), row)
            if own:
                self.assertEqual((row["hot_chain"]["ticks"], row["hot_chain"]["others"]), (max(own, key=lambda chain: chain[0])[0], len(own) - 1))
                self.assertIn([row["hot_chain"]["ticks"], row["hot_chain"]["inside"]], [list(chain) for chain in own])
                self.assertLessEqual(sum(ticks for ticks, _ in own), row["ticks"])
        self.assertEqual(chains, {})
        text = subprocess.run([p.PCTALLY, "report", "--by", "line", "--own", self.profile], capture_output=True, text=True).stdout
        self.assertRegex(text, r"/table\.cc:\d+( < \w[^ ]*:\d+)+( \(\d+ %(, \d+ more)?\))?  ")

    @unittest.skipIf(CLANG is None, "clang 14 or newer is not installed")
    def test_a_source_is_known_by_its_md5(self):
        """Clang writes MD5s with DWARF 5, unless one of the files has none, as some headers of C++."""
        directory = tempfile.mkdtemp(dir=p.scratch())
        program, source = os.path.join(directory, "busy"), os.path.join(directory, "busy.c")
        text = "volatile long n;\nint main(void) {\n  while (n < 30000000) n++;\n  return 0;\n}\n"
        with open(source, "w") as file:
            file.write(text)
        subprocess.run([CLANG, "-O1", "-gdwarf-5", "-o", program, source], check=True)
        profile, built = p.record([program]).path, os.stat(source)
        os.utime(source, (built.st_mtime + 3600,) * 2)
        self.assertNotIn("warning", annotate("main", profile).stdout, "newer, and yet the same")
        archived = os.path.join(directory, "archived.pct")
        self.assertIn("busy.c", archive(profile, archived))
        self.assertNotIn("warning", annotate("main", archived).stdout)
        with open(source, "w") as file:
            file.write("\n" + text)
        os.utime(source, ns=(built.st_atime_ns, built.st_mtime_ns))
        changed = r"warning: .*busy\.c has another MD5 than when it was compiled into busy: lines may have moved"
        self.assertRegex(annotate("main", profile).stdout, changed)
        data = json.loads(annotate("main", profile, "--json").stdout)
        self.assertEqual(data["changed_sources"], [{"file": source, "change": "differs"}])
        self.assertIn("  while", annotate("main", archived).stdout, "the archive has the text that was compiled")
        again = os.path.join(directory, "again.pct")
        self.assertRegex(archive(profile, again), r"busy\.c: changed since it was compiled")

    def test_without_debug_information_and_stripped(self):
        directory = tempfile.mkdtemp(dir=p.scratch())
        for flags, query in ((["-g0"], "count"), (["-g0", "-s"], None)):
            program = build(directory, *flags)
            recorded = p.record([program])
            row = max((row for row in recorded.report()["rows"] if row["object"] == "table"), key=lambda row: row["ticks"])
            done = annotate(query or row["function"], recorded.path, "--json")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(sum(entry["ticks"] for entry in json.loads(done.stdout)["instructions"]),
                             json.loads(done.stdout)["ticks"])
            text = annotate(query or row["function"], recorded.path).stdout
            self.assertIn("no source lines: ", text)

    @unittest.skipIf(os.geteuid() != 0, "only root may read what others may not, and give files to others")
    def test_a_program_of_another_user_shows_no_file_that_its_owner_may_not_read(self):
        directory, profiles = tempfile.mkdtemp(dir=p.scratch()), tempfile.mkdtemp(dir=p.scratch())
        os.chmod(p.scratch(), 0o755)
        os.chmod(directory, 0o755)
        user, program, kept = 12345, os.path.join(directory, "evil"), os.path.join(profiles, "kept.pct")
        files = {"secret.h": (0, 0o600, False), "own.h": (user, 0o600, True), "open.h": (0, 0o644, True)}
        text = "int main(void) { volatile long i = 0;\n"
        for number, (name, (owner, mode, _)) in enumerate(files.items()):
            path = os.path.join(directory, name)
            with open(path, "w") as file:
                file.write(f"text of {name}\n")
            os.chown(path, owner, owner)
            os.chmod(path, mode)
            text += f'#line 1 "{path}"\nwhile (i < {number + 1}00000000) i++;\n'
        subprocess.run(["gcc", "-x", "c", "-", "-g", "-O1", "-o", program], input=text + "return 0; }\n", text=True, check=True)
        os.chown(program, user, user)
        recorded = p.record([program], path=os.path.join(profiles, "p.pct"))
        page = os.path.join(profiles, "page.html")
        subprocess.run([p.PCTALLY, "report", "--html", page, recorded.path], check=True, capture_output=True)
        with open(page) as file:
            in_page = file.read()
        shown = annotate("main", recorded.path, "--all")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("the owner of the program that names it may not read it", shown.stdout)
        data = annotate("main", recorded.path, "--json").stdout
        said = archive(recorded.path, kept)
        for name, (owner, _, allowed) in files.items():
            self.assertEqual(f"text of {name}" in shown.stdout, allowed, name)
            self.assertEqual(f"text of {name}" in data, allowed, name)
            # A page and an archive may be given away: they hold what everybody may read.
            self.assertEqual(f"text of {name}" in in_page, allowed and owner == 0, name)
            self.assertEqual(f"source: {directory}/{name}\n" in said, allowed and owner == 0, said)
        shown = annotate("main", kept, "--all").stdout + subprocess.run([p.PCTALLY, "report", kept], capture_output=True, text=True).stdout
        self.assertNotIn("text of secret.h", shown, "an archive that root made is not root's word")
        self.assertIn("text of open.h", shown)
        os.chown(program, 0, 0)
        self.assertIn("text of secret.h", annotate("main", recorded.path, "--all").stdout, "root's own program")

    def test_a_file_name_in_debug_information_that_is_no_file(self):
        directory = tempfile.mkdtemp(dir=p.scratch())
        os.mkfifo(os.path.join(directory, "fifo.h"))
        source = os.path.join(directory, "evil.c")
        with open(source, "w") as file:
            file.write(f'int main(void) {{ volatile long i = 0;\n#line 1 "{directory}/fifo.h"\nwhile (i < 400000000) i++;\n'
                       '#line 1 "/dev/zero"\nwhile (i < 500000000) i++;\nreturn 0; }\n')
        program = os.path.join(directory, "evil")
        subprocess.run(["g++", "-x", "c", "-g", "-O1", "-o", program, source], check=True)
        done = annotate("main", p.record([program]).path, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("is not a regular file", done.stdout)

    def test_a_call_of_another_instance_of_the_template_is_no_recursion(self):
        directory = tempfile.mkdtemp(dir=p.scratch())
        source, program = os.path.join(directory, "instances.cc"), os.path.join(directory, "instances")
        with open(source, "w") as file:
            file.write("volatile long sum;\n"
                       "template <int N> __attribute__((noinline)) void turn() {\n"
                       "  for (int i = 0; i < 10000; i++) sum = sum + i;\n"
                       "  if constexpr (N > 1) turn<N - 1>();\n  sum = sum + 1;\n}\n"
                       "int main() { for (int i = 0; i < 10000; i++) turn<2>(); }\n")
        subprocess.run(["g++", "-std=c++17", "-O1", "-o", program, source], check=True)
        shown = annotate("turn<2>", p.record([program]).path, "--all").stdout
        self.assertRegex(shown, r"call\b.* turn<1>\(\)")

    def test_what_cannot_be_shown_is_one_line(self):
        for words, start in ((["sum", self.profile], "pctally: 'sum' is sum("),
                             (["coutn", self.profile], "pctally: no ticks in 'coutn'; did you mean 'count'?"),
                             (["xyzzyxyzzy", self.profile], "pctally: no ticks in 'xyzzyxyzzy'; most are in "),
                             (["table", self.profile], "pctally: 'table' is an object; name a function of it: "),
                             (["table.cc:2", self.profile], "pctally: no ticks in 'table.cc:2'"),
                             (["main", "/nowhere/x.pct"], "pctally: cannot open /nowhere/x.pct")):
            done = annotate(*words)
            self.assertEqual((done.returncode, done.stdout), (INPUT, ""), words)
            self.assertTrue(done.stderr.startswith(start), done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        kernel = [row for row in self.data["rows"] if row["object"] == "[kernel]" and not row["function"].startswith("[")]
        if kernel:
            done = annotate(kernel[0]["function"], self.profile, "--object", "kernel")
            self.assertEqual(done.returncode, INPUT)
            self.assertIn("is kernel code", done.stderr)
            done = annotate("[kernel]", self.profile)
            self.assertEqual((done.returncode, done.stdout), (INPUT, ""))
            self.assertEqual(done.stderr, "pctally: the kernel's code cannot be annotated; pctally report --object kernel has its ticks\n")

    def test_a_function_that_only_calls_others_has_its_lines(self):
        """With call paths a line counts what it calls, and is that of report --by line. A tick lands behind a call where the processor
        has mispredicted the return: of 100 returns one in 60 recordings, so here are two."""
        directory = tempfile.mkdtemp(dir=p.scratch())
        program = os.path.join(directory, "caller")
        with open(program + ".c", "w", encoding="utf-8") as file:
            file.write("#define KEPT __attribute__((noinline, noclone))\n"
                       "KEPT unsigned work(unsigned x) { for (int i = 0; i < 50000000; i++) x = x * 31 + (x >> 3); return x; }\n"
                       "KEPT unsigned calls(unsigned x) {\n  x = work(x);\n  return work(x + 1) + 1;\n}\n"
                       "int main(void) { return calls(1) == 0; }\n")
        subprocess.run(["cc", "-O1", "-g", "-o", program, program + ".c"], check=True)
        profile = p.record([program], "-g").path
        lines = [row for row in report_rows(profile, "--by", "line") if row["file"] and row["object"] == "caller"]
        caller = next(row for row in report_rows(profile) if row["ticks"] == 0 and row["function"] == "calls")
        done = annotate(caller["function"], profile)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no instructions: it has no ticks of its own, only its callees have", done.stdout)
        by_line = {(os.path.basename(row["file"]), row["line"]): row for row in lines if row["function"] == caller["function"]}
        data = json.loads(annotate(caller["function"], profile, "--json").stdout)
        self.assertEqual(data["total_ticks"], caller["total_ticks"])
        self.assertEqual(len(data["lines"]), 2)
        for line in data["lines"]:
            self.assertEqual(line["total_ticks"], by_line[os.path.basename(line["file"]), line["line"]]["total_ticks"], line)
        place = f"{os.path.basename(data['lines'][0]['file'])}:{data['lines'][0]['line']}"
        self.assertIn(place, annotate(place, profile).stdout, "and the line of a call is a place")

    def test_a_program_that_was_rebuilt(self):
        directory = tempfile.mkdtemp(dir=p.scratch())
        program = build(directory, "-g")
        profile = p.record([program, "4000"]).path
        archived = os.path.join(directory, "archived.pct")
        subprocess.run([p.PCTALLY, "archive", "-q", "-o", archived, profile], check=True)
        before = annotate("count", archived, "--object", "^table$").stdout
        build(directory, "-g", "-O1")
        replaced = "build id differs: the file was replaced since, or unmapped while it was read\n"
        if p.has_names(profile):  # the function is known, and its code is not
            done = annotate("count", profile, "--object", "^table$")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("no instructions: " + replaced, done.stdout)
        self.assertEqual(annotate("count", archived, "--object", "^table$").stdout, before)
        bare = p.without_names(profile, os.path.join(directory, "bare.pct"))
        for name, start in (("count", "no ticks in 'count'; "), ("[table]", "nothing is known of the code of table: ")):
            done = annotate(name, bare, "--object", "^table$")
            self.assertEqual((done.returncode, done.stdout), (INPUT, ""))
            self.assertTrue(done.stderr.startswith("pctally: " + start), done.stderr)
            self.assertIn(replaced, done.stderr)


if __name__ == "__main__":
    p.main()
