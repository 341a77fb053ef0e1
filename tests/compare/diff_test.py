"""pctally diff and plan on real recordings: what they find, what they print, and their exit statuses."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p


def pctally(*words, cwd):
    return subprocess.run([p.PCTALLY, *words], capture_output=True, text=True, cwd=cwd)


class Compare(unittest.TestCase):
    """Two recordings of 150 million turns and one of 1,500 million: ten times the work is seen on a host that takes away half of the speed."""

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(dir=p.scratch())
        engine = p.engines()[0]  # of bpf and ring every tick is a sample of its own; of timer a kernel tick
        for name, work in (("a", "150"), ("b", "150"), ("c", "1500")):
            path = os.path.join(cls.directory, name + ".pct")
            done = p.record([p.program("fixed_work"), work], "-e", engine, path=path)
            assert done.returncode == 0, done.stderr
            p.without_gap(path)

    def run_diff(self, *words, status=0):
        done = pctally("diff", *words, cwd=self.directory)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def path(self, name):
        return os.path.join(self.directory, name)

    def test_a_recording_is_one_run(self):
        """Copies of a run have no variance: a change between them would always count."""
        shutil.copy(self.path("a.pct"), self.path("copy.pct"))
        pctally("merge", "-q", "-f", "-o", "sum.pct", "a.pct", "b.pct", cwd=self.directory)
        for words, pair in ((("diff", "a.pct", "a.pct"), "a.pct and a.pct"),
                            (("diff", "a.pct", "copy.pct", "--", "c.pct"), "a.pct and copy.pct"),
                            (("diff", "--fail-if", "total > +3%", "b.pct", "a.pct", "--", "c.pct", "copy.pct"), "a.pct and copy.pct"),
                            (("diff", "a.pct", "sum.pct"), "a.pct and sum.pct"),
                            (("plan", "a.pct", "b.pct", "copy.pct"), "a.pct and copy.pct")):
            done = pctally(*words, cwd=self.directory)
            said = f"pctally: {pair} are of one recording, which would count twice; leave one out\n"
            self.assertEqual((done.returncode, done.stdout, done.stderr), (4, "", said), words)

    def test_work_is_of_the_old_runs_and_of_the_new(self):
        """c does ten times the turns of a: a turn costs as much."""
        amount = json.loads(self.run_diff("--json", "--work", "150,1500", "a.pct", "c.pct").stdout)["total"]["amount"]
        self.assertLess(amount["after"], 3 * amount["before"])
        self.assertGreater(amount["after"], amount["before"] / 3)

    def test_the_schema_describes_every_key(self):
        """The published schema allows new keys; here each must be in it."""
        try:
            import jsonschema
        except ImportError:
            self.skipTest("python3-jsonschema is not installed")
        with open(os.path.join(os.path.dirname(__file__), "..", "..", "docs", "diff.schema.json"), encoding="utf-8") as file:
            schema = json.load(file)
        jsonschema.Draft202012Validator.check_schema(schema)
        for described in (schema, schema["properties"]["total"], *schema["$defs"].values()):
            if "properties" in described:
                described["additionalProperties"] = False
        limits = ["--fail-if", "total > +900%", "--fail-if", "seconds(work) > +1ms", "--fail-if", "share(work) > +99pp"]
        for words, status in ((["a.pct", "c.pct"], 0), ([*limits, "a.pct", "b.pct", "--", "c.pct"], 1),
                              (["--by", "line", "a.pct", "c.pct"], None), (["--by", "object", "--work", "150,1500", "a.pct", "c.pct"], 0)):
            with self.subTest(words):
                done = pctally("diff", "--json", *words, cwd=self.directory)
                self.assertIn(done.returncode, (0, 1, 3) if status is None else (status,), done.stderr)
                jsonschema.Draft202012Validator(schema).validate(json.loads(done.stdout))

    def test_more_work_is_named(self):
        data = json.loads(self.run_diff("--json", "a.pct", "c.pct").stdout)
        self.assertEqual(data["rows"][0]["name"], "work")
        self.assertEqual(data["rows"][0]["verdict"], "more")
        self.assertEqual(data["total"]["verdict"], "more")
        self.assertIn("CPU time rose by", data["verdict"])
        self.assertLess(data["rows"][0]["amount"]["p"], 0.001)

    def test_both_orders_agree(self):
        forth = json.loads(self.run_diff("--json", "a.pct", "c.pct").stdout)
        back = json.loads(self.run_diff("--json", "c.pct", "a.pct").stdout)
        self.assertEqual(back["rows"][0]["verdict"], "less")
        self.assertAlmostEqual(forth["rows"][0]["amount"]["difference"], -back["rows"][0]["amount"]["difference"])

    def test_rows_add_up_to_the_reports(self):
        data = json.loads(self.run_diff("--json", "a.pct", "c.pct").stdout)
        for side, name in (("old_ticks", "a.pct"), ("new_ticks", "c.pct")):
            self.assertEqual(sum(row[side] for row in data["rows"]), p.report(os.path.join(self.directory, name))["ticks"])

    def test_rows_may_be_commands(self):
        data = json.loads(self.run_diff("--json", "--by", "command", "a.pct", "c.pct").stdout)
        self.assertEqual((data["by"], data["rows"][0]["name"]), ("command", "fixed_work"))
        done = self.run_diff("--by", "program", "a.pct", "c.pct", status=4)
        self.assertEqual(done.stderr, "pctally: a.pct has no ticks by program; record with pctally record --scope program, or write --by command\n")

    def test_folded_stacks_without_programs_have_none_to_compare(self):
        """The file's name is in place of one: each was gone, and new."""
        for name in ("old.folded", "new.folded"):
            with open(os.path.join(self.directory, name), "w", encoding="utf-8") as file:
                file.write("main;work 100\n")
        done = self.run_diff("--by", "program", "old.folded", "new.folded", status=4)
        self.assertEqual(done.stderr, "pctally: old.folded is a profile of another tool and has no ticks by program\n")

    def test_rows_may_be_programs(self):
        if "ring" not in p.engines():
            self.skipTest("engine ring is not available")
        for name, work in (("old_programs", "150"), ("new_programs", "1500")):
            p.record([p.program("fixed_work"), work], "-e", "ring", "--scope", "program", path=self.path(name + ".pct"))
        data = json.loads(self.run_diff("--json", "--by", "program", "old_programs.pct", "new_programs.pct").stdout)
        self.assertEqual((data["rows"][0]["name"], data["rows"][0]["verdict"]), ("fixed_work", "more"))
        self.assertEqual(pctally("plan", "--by", "program", "old_programs.pct", cwd=self.directory).returncode, 0)

    def test_limits_decide_the_exit_status(self):
        self.assertIn("FAIL", self.run_diff("--fail-if", "total > +50%", "a.pct", "c.pct", status=1).stdout)
        self.assertIn("PASS", self.run_diff("--fail-if", "total > +9000%", "a.pct", "c.pct").stdout)
        self.assertIn("FAIL", self.run_diff("--fail-if", "seconds(work) > 1ms", "a.pct", "b.pct", status=1).stdout)
        self.assertIn("UNDECIDED", self.run_diff("--fail-if", "seconds(work) > +0ms", "a.pct", p.as_another_recording(self.path("a.pct"), self.path("like_a.pct")), status=3).stdout)
        self.run_diff("--fail-if", "total > +50%", "--fail-if", "total > +9000%", "a.pct", "c.pct", status=1)

    def test_a_limit_on_nothing_never_passes(self):
        done = self.run_diff("--fail-if", "share(wrok) > +2pp", "a.pct", "b.pct", status=2)
        self.assertIn("neither side has a row 'wrok'", done.stderr)

    def test_a_budget_file_holds_limits(self):
        with open(os.path.join(self.directory, "budget"), "w") as file:
            file.write("# the loop\nseconds(work) > +9000%\ntotal > +50%\n")
        done = self.run_diff("--budget", "budget", "a.pct", "c.pct", status=1)
        self.assertIn("1 limit exceeded (exit 1)", done.stderr)

    def test_a_budget_that_is_none_says_why(self):
        os.mkfifo(self.path("fifo"))
        for name, text in (("empty", ""), ("comment", "# none\n\n"), ("wrong", "# a\ntotal < 3\n"), ("large", " " * (1 << 20) + "\n")):
            with open(self.path(name), "w") as file:
                file.write(text)
        none = "has no limits; write one a line, for example: total > +3%"
        for name, said, status in (("no such file", "cannot open no such file: No such file or directory", 4),
                                   ("/dev/zero", "/dev/zero is not a regular file", 4), ("fifo", "fifo is not a regular file", 4),
                                   (".", ". is not a regular file", 4), ("large", "large is larger than 1 MiB: no file of limits", 4),
                                   ("empty", f"empty {none}", 2), ("comment", f"comment {none}", 2)):
            self.assertEqual(self.run_diff("--budget", name, "a.pct", "c.pct", status=status).stderr, f"pctally: {said}\n")
        self.assertIn("wrong: line 2: limit 'total < 3': it has no '>'", self.run_diff("--budget", "wrong", "a.pct", "c.pct", status=2).stderr)

    def junit(self, *words, status):
        """The cases: names, and what each has in it. What build servers rely on holds."""
        root = xml.fromstring(self.run_diff("--junit", *words, status=status).stdout)
        self.assertEqual(root.tag, "testsuites")
        self.assertEqual([suite.tag for suite in root], ["testsuite"])
        suite = root[0]
        for element in (root, suite):
            self.assertEqual(set(element.keys()), {"name", "tests", "failures", "errors", "time"})
            self.assertEqual(int(element.get("tests")), len(suite))
            for count in ("failure", "error"):
                self.assertEqual(int(element.get(count + "s")), len(suite.findall(f"testcase/{count}")))
        found = []
        for case in suite:
            self.assertEqual((case.tag, set(case.keys())), ("testcase", {"classname", "name", "time"}))
            for element in (root, suite, case):
                self.assertGreaterEqual(float(element.get("time")), 0)
            self.assertLessEqual(len(case), 1)
            for outcome in case:
                self.assertIn(outcome.tag, ("failure", "error"))
                self.assertEqual(set(outcome.keys()), {"type", "message"})
                self.assertTrue(outcome.get("message") and outcome.text.strip())
            found.append((case.get("name"), case[0].tag + " " + case[0].get("type") if len(case) else ""))
        self.assertEqual(len({name for name, _ in found}), len(found))
        return found

    def test_junit_has_the_structure_that_build_servers_read(self):
        exceeded, passed = "seconds(work) > +50%", "total > +900000%"
        undecided = "share(work) > 99.99%"
        limits = [word for limit in (exceeded, passed, undecided) for word in ("--fail-if", limit)]
        cases = dict(self.junit(*limits, "a.pct", "c.pct", status=1))
        self.assertEqual((cases[exceeded], cases[passed]), ("failure FAIL", ""))
        self.assertIn(cases[undecided], ("failure UNDECIDED", ""))

    def test_markdown_has_its_table(self):
        self.assertIn("| `work` | more |", self.run_diff("--markdown", "a.pct", "c.pct").stdout)

    def test_a_damaged_profile_never_passes_a_limit(self):
        with open(os.path.join(self.directory, "c.pct"), "rb") as file:
            data = file.read()
        with open(os.path.join(self.directory, "cut.pct"), "wb") as file:
            file.write(data[:(4096 + len(data)) // 2])  # the header, and half of what follows it
        for words in ((), ("--fail-if", "total > +900000%")):
            done = self.run_diff(*words, "a.pct", "cut.pct", status=4)
            self.assertIn("cut.pct is damaged: ", done.stderr)
            self.assertEqual("cannot be relied on (exit 4)" in done.stderr, bool(words), done.stderr)
            self.assertIn("warning: cut.pct: ", done.stdout)
        done = pctally("plan", "a.pct", "cut.pct", cwd=self.directory)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("warning: cut.pct: ", done.stderr)

    def patched(self, name, offset, value):
        """A recording like b.pct but for a field of 8 bytes in its header."""
        path = p.as_another_recording(self.path("b.pct"), self.path(name))
        with open(path, "r+b") as file:
            file.seek(offset)
            file.write(value.to_bytes(8, "little"))
        return name

    def is_in_doubt(self, name, why):
        limit = ("--fail-if", "seconds(work) > +900000%")
        self.run_diff(*limit, "a.pct", "b.pct")
        for files in (("a.pct", name), (name, "a.pct")):
            done = self.run_diff(*limit, *files, status=3)
            self.assertIn(f"warning: {name}: {why}", done.stdout)
            self.assertIn(f"pctally: warning: {name}: {why}", done.stderr)
            self.assertIn("these profiles cannot be relied on (exit 3)", done.stderr)
        self.assertEqual(self.junit(*limit, "a.pct", name, status=3), [(limit[1], "error UNRELIABLE")])
        root = xml.fromstring(self.run_diff("--junit", *limit, "a.pct", name, status=3).stdout)
        self.assertIn(f"{name}: {why}", root.find("testsuite/testcase/error").get("message"))
        self.assertIn(f"warning: {name}: {why}", pctally("plan", "a.pct", name, cwd=self.directory).stderr)

    def test_a_throttled_profile_never_passes_a_limit(self):
        self.is_in_doubt(self.patched("throttled.pct", 152, 3), "the kernel throttled sampling 3 times")

    def test_a_profile_without_half_of_its_time_never_passes_a_limit(self):
        cpu_ns = round(2e9 * p.report(self.path("b.pct"))["cpu_s"])
        self.is_in_doubt(self.patched("half.pct", 128, cpu_ns), "")
        p.as_another_recording(self.path("half.pct"), self.path("half_too.pct"))
        self.run_diff("--fail-if", "seconds(work) > +900000%", "half.pct", "half_too.pct")

    def test_a_snapshot_never_passes_a_limit(self):
        """Nor its sum with another: its recording went on."""
        path = self.path("snapshot.pct")
        recorder = subprocess.Popen([p.PCTALLY, "record", "-q", "-f", "-o", self.path("growing.pct"), "--", p.program("fixed_work"), "1000000"])
        program = p.command_of(recorder.pid)
        try:
            p.await_ticks(self.path("growing.pct"), 100, recorder)
            subprocess.run([p.PCTALLY, "snapshot", "-q", "-o", path, self.path("growing.pct")], check=True)
        finally:
            os.kill(program, signal.SIGKILL)
            recorder.wait()
        self.is_in_doubt("snapshot.pct", "a snapshot of the first ")
        subprocess.run([p.PCTALLY, "merge", "-q", "-o", self.path("snapshot_sum.pct"), path], check=True)
        self.is_in_doubt("snapshot_sum.pct", "1 of 1 runs are snapshots ")
        for form in ("folded", "pprof", "markdown"):
            done = subprocess.run([p.PCTALLY, "export", "--format", form, "-o", self.path("x." + form), path], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("pctally: warning: a snapshot of the first ", done.stderr)

    def test_a_profile_of_a_killed_recorder_never_passes_a_limit(self):
        path = self.path("killed.pct")
        recorder = subprocess.Popen([p.PCTALLY, "record", "-q", "-f", "-o", path, "--", p.program("fixed_work"), "1000000"])
        program = p.command_of(recorder.pid)
        try:
            p.await_ticks(path, 100, recorder)
        finally:
            recorder.kill()
            recorder.wait()
            os.kill(program, signal.SIGKILL)
        self.is_in_doubt("killed.pct", "the recording was cut off after ")

    def test_kernel_code_is_not_gone_where_an_engine_does_not_see_it(self):
        for engine in ("ring", "trap"):
            if not p.engine_available(engine):
                self.skipTest(f"engine {engine} is not available")
            p.record(["dd", "if=/dev/zero", "of=/dev/null", "bs=64k", "count=100000"], "-e", engine, path=self.path(engine + ".pct"))
        if not any(row["object"] == "[kernel]" for row in p.report(self.path("ring.pct"))["rows"]):
            self.skipTest("the kernel is not observed")
        done = self.run_diff("--json", "ring.pct", "trap.pct")
        self.assertNotIn("[kernel]", [row["object"] for row in json.loads(done.stdout)["rows"]])
        done = self.run_diff("ring.pct", "trap.pct")
        self.assertIn("\nUser code alone is compared: trap.pct does not see all kernel code.\n", done.stdout)
        done = self.run_diff("--fail-if", "seconds(read_zero) > +10%", "ring.pct", "trap.pct", status=2)
        self.assertIn("kernel code is left out", done.stderr)

    def test_a_time_is_no_limit_of_events(self):
        for name in ("faults", "more_faults"):
            done = p.record([p.program("toucher"), "2000"], "-e", "page-faults", "-c", "1", path=self.path(name + ".pct"))
            if done.returncode != 0:
                self.skipTest("page faults cannot be counted")
        done = self.run_diff("--fail-if", "total > 5s", "faults.pct", "more_faults.pct", status=2)
        self.assertIn("the profiles count page-faults, not time", done.stderr)
        self.run_diff("--fail-if", "total > +900%", "faults.pct", "more_faults.pct")
        done = pctally("plan", "faults.pct", "more_faults.pct", cwd=self.directory)
        self.assertNotIn("ms a run", done.stdout)
        self.assertIn("or page-faults a run, of 5 runs a side", done.stdout)

    def test_wrong_command_lines(self):
        self.assertIn("two profiles are compared", self.run_diff("a.pct", status=2).stderr)
        said = "pctally: --limit x: not a number of rows; write 20, or 0 for all\n"
        self.assertEqual(self.run_diff("--limit", "x", "a.pct", "c.pct", status=2).stderr, said)
        self.assertEqual(pctally("plan", "--limit", "x", "a.pct", cwd=self.directory).stderr, said)
        self.assertIn("options come first", self.run_diff("a.pct", "--", "c.pct", "--json", status=2).stderr)
        self.assertIn("a number follows", self.run_diff("--fail-if", "total > x", "a.pct", "c.pct", status=2).stderr)
        self.run_diff("a.pct", "missing.pct", status=4)

    def test_several_runs_a_side(self):
        data = json.loads(self.run_diff("--json", "a.pct", "b.pct", "--", "c.pct").stdout)
        self.assertEqual((data["old_runs"], data["new_runs"]), (2, 1))

    def test_a_merged_file_is_the_mean_of_its_runs(self):
        pctally("merge", "-q", "-o", "ab.pct", "a.pct", "b.pct", cwd=self.directory)
        runs = json.loads(self.run_diff("--json", "a.pct", "b.pct", "--", "c.pct").stdout)
        done = self.run_diff("--json", "ab.pct", "c.pct")
        data = json.loads(done.stdout)
        self.assertEqual((data["old_runs"], data["old_added"], data["new_added"]), (2, 2, 0))
        self.assertAlmostEqual(data["total"]["amount"]["before"], runs["total"]["amount"]["before"], places=6)
        before = {(row["name"], row["object"]): row["amount"]["before"] for row in runs["rows"]}
        for row in data["rows"]:
            self.assertAlmostEqual(row["amount"]["before"], before[row["name"], row["object"]], places=3, msg=row["name"])
        said = "2 runs are added up in their files: how rows vary between them is not known"
        self.assertIn(said, self.run_diff("ab.pct", "c.pct").stdout)
        self.assertIn(said, pctally("plan", "ab.pct", cwd=self.directory).stdout)

    def test_plan_asks_for_more_runs_for_less(self):
        done = pctally("plan", "--change", "10", "a.pct", "b.pct", cwd=self.directory)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("work", done.stdout)
        self.assertIn("Deviations are those of the 2 runs.", done.stdout)
        self.assertIn("or ms a run, of 5 runs a side", done.stdout)
        self.assertIn("One run a side, however long, shows changes from ", done.stdout)
        self.assertIn("The change is seen 80 times in 100, ", done.stdout)

    def test_plan_asks_for_more_runs_for_more_power(self):
        def runs(*words):
            done = pctally("plan", "--change", "1", *words, "a.pct", "b.pct", cwd=self.directory)
            return int(done.stdout.splitlines()[1].split()[2])
        self.assertGreater(runs("--power", "95"), runs())
        one = pctally("plan", "--runs", "1", "a.pct", "b.pct", cwd=self.directory).stdout
        self.assertIn("or ms a run, of one run a side", one)
        self.assertEqual(one.split("\n\n")[1].splitlines()[1].split()[2:], ["-", "-", "-", "total"])
        self.assertIn("of 12 runs a side", pctally("plan", "--runs", "12", "a.pct", cwd=self.directory).stdout)

    def test_columns_of_a_plan_hold_large_figures(self):
        for name, large in (("m.folded", 4 * 10**14), ("n.folded", 9 * 10**14)):
            with open(self.path(name), "w") as folded:
                folded.write(f"main;large {large}\nmain;small {large % 7000}\n")
        lines = pctally("plan", "m.folded", "n.folded", cwd=self.directory).stdout.split("\n\n")[0].splitlines()
        self.assertEqual(len(lines), 4, lines)
        ends = [[found.end() for found in re.finditer(r"[^ ]+", line)] for line in lines[1:]]
        for column in range(5):
            self.assertEqual(len({line[column] for line in ends}), 1, lines)
        self.assertTrue(lines[0][:ends[0][0]].endswith(" a run"), lines)

    def test_plan_names_no_runs_a_thousand_times_as_long(self):
        for name, large in (("m.folded", 400000), ("n.folded", 410000)):
            with open(self.path(name), "w") as folded:
                folded.write(f"main;large {large}\nmain;small 1\n")
        table = pctally("plan", "--change", "5", "m.folded", "n.folded", cwd=self.directory).stdout.split("\n\n")[1]
        length = {line.split()[-1]: line.split()[2] for line in table.splitlines()}
        self.assertEqual(length["small"], "-", table)
        self.assertGreater(float(length["large"]), 0, table)

    def test_undecided_says_what_would_decide(self):
        done = self.run_diff("--fail-if", "seconds(work) > +20%", "a.pct", p.as_another_recording(self.path("a.pct"), self.path("alike.pct")), status=3)
        self.assertRegex(done.stderr, r"^pctally: 1 limit undecided: about \d+ runs a side would decide it, [\d.]+ s of CPU time each side \(exit 3\)\n$")


HOT = """
static int twice(int x) {
  return 2 * x;
}
__attribute__((noinline)) long hot(long n) {
  volatile long sum = 0;
INSIDE  for (long i = 0; i < n; i++)
    sum += twice(i) % 7;
  return sum;
}
__attribute__((noinline)) long cold(long n) {
  volatile long sum = 0;
  for (long i = 0; i < n / 4; i++)
    sum += i % 5;
  return sum;
}
int main(void) {
  return hot(200000000) + cold(200000000) == 1;
}
"""


@unittest.skipIf(shutil.which("gcc") is None, "gcc is not installed")
class MovedLines(unittest.TestCase):
    """One program in three builds: as it is, with three lines more above it, and with one more within its hot function."""

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(dir=p.scratch())
        cls.engine = p.engines()[0]
        builds = {"old": HOT.replace("INSIDE", ""), "above": "\n\n\n" + HOT.replace("INSIDE", ""),
                  "within": HOT.replace("INSIDE", "  sum += 1;\n")}
        cls.sources = {name: text.splitlines() for name, text in builds.items()}
        for name, text in builds.items():
            os.mkdir(os.path.join(cls.directory, name))
            source, program = (os.path.join(cls.directory, name, file) for file in ("hot.c", "hot"))
            with open(source, "w", encoding="utf-8") as file:
                file.write(text)
            subprocess.run(["gcc", "-O1", "-g", "-Wl,--build-id", "-o", program, source], check=True)
            done = p.record([program], "-e", cls.engine, path=cls.profile(name))
            assert done.returncode == 0, done.stderr
            p.without_gap(done.path)

    @classmethod
    def profile(cls, name):
        return os.path.join(cls.directory, name + ".pct")

    def rows(self, new, *words):
        """The rows of lines with ticks enough to be judged."""
        done = pctally("diff", "--json", "--by", "line", *words, self.profile("old"), self.profile(new), cwd=self.directory)
        data = json.loads(done.stdout)
        self.assertEqual([doubt.split(":")[0] for doubt in data["doubts"]], ["hot"], data["doubts"])
        return data, [row for row in data["rows"] if row["object"] == "hot" and row["old_ticks"] + row["new_ticks"] >= 50]

    def text(self, build, place):
        return self.sources[build][int(place.rsplit(":", 1)[1]) - 1]

    def test_lines_below_an_edit_are_the_same_rows(self):
        data, rows = self.rows("above")
        self.assertGreaterEqual(len(rows), 2)
        for row in rows:
            self.assertNotIn(row["verdict"], ("gone", "new"), row)
            self.assertGreater(min(row["old_ticks"], row["new_ticks"]), 0, row)
            self.assertIn("/above/hot.c:", row["name"])
            self.assertIn("/old/hot.c:", row["old_place"])
            self.assertEqual(self.text("above", row["name"]), self.text("old", row["old_place"]))
        self.assertIn("lines are counted from the start of their function", data["doubts"][0])

    def test_so_they_are_where_an_archive_has_them(self):
        for name in ("old", "above"):
            done = pctally("archive", "-o", name + ".archive", self.profile(name), cwd=self.directory)
            self.assertEqual(done.returncode, 0, done.stderr)
            os.rename(os.path.join(self.directory, name), os.path.join(self.directory, name + ".away"))
        try:
            done = pctally("diff", "--json", "--by", "line", "old.archive", "above.archive", cwd=self.directory)
        finally:
            for name in ("old", "above"):
                os.rename(os.path.join(self.directory, name + ".away"), os.path.join(self.directory, name))
        for row in json.loads(done.stdout)["rows"]:
            if row["object"] == "hot" and row["old_ticks"] + row["new_ticks"] >= 50:
                self.assertGreater(min(row["old_ticks"], row["new_ticks"]), 0, row)

    def test_so_they_are_in_files_of_pprof(self):
        for name in ("old", "above"):
            done = pctally("export", "--format", "pprof", "-o", name + ".pb.gz", self.profile(name), cwd=self.directory)
            self.assertEqual(done.returncode, 0, done.stderr)
        data = json.loads(pctally("diff", "--json", "--by", "line", "old.pb.gz", "above.pb.gz", cwd=self.directory).stdout)
        rows = [row for row in data["rows"] if row["object"] == "hot" and row["old_ticks"] + row["new_ticks"] >= 50]
        self.assertGreaterEqual(len(rows), 2, data["rows"])
        for row in rows:
            self.assertGreater(min(row["old_ticks"], row["new_ticks"]), 0, row)

    def test_an_edit_within_a_function_moves_the_lines_below_it_there_alone(self):
        _, rows = self.rows("within")
        cold = [row for row in rows if "% 5" in self.text("within", row["name"])]
        self.assertEqual(len(cold), 1, rows)
        self.assertEqual(self.text("old", cold[0]["old_place"]), self.text("within", cold[0]["name"]))
        moved = [row for row in rows if row["new_ticks"] > 0 and "% 7" in self.text("within", row["name"])]
        self.assertEqual([row["old_ticks"] for row in moved], [0], rows)

    def test_a_limit_names_a_line_by_the_end_of_its_path(self):
        _, rows = self.rows("above")
        name = max(rows, key=lambda row: row["new_ticks"])["name"]
        results = []
        for place in (name, name.partition(self.directory + "/")[2], os.path.basename(name)):
            data, _ = self.rows("above", "--fail-if", f"share({place}) > +99pp")
            self.assertEqual(len(data["limits"]), 1)
            results.append([data["limits"][0][key] for key in ("outcome", "measured", "half_width")])
        self.assertEqual(results, results[:1] * 3)

    def test_no_limit_passes_on_them(self):
        done = pctally("diff", "--by", "line", "--fail-if", "total > +900000%", self.profile("old"), self.profile("above"), cwd=self.directory)
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn("an added line moves those below", done.stderr)


if __name__ == "__main__":
    unittest.main()
