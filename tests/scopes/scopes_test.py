"""record --scope and report --by program, thread, cgroup: every tick is in one row, and in the right one.

How CPU time is shared among threads is what the program takes, by the threads' own clocks; a busy machine changes the order of
things, not these shares."""
import gzip
import json
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

THREADS = p.program("named_threads")
NEAR = 0.08  # of all ticks: five standard deviations of a share of 60 % of 1000 ticks


def tool(*words):
    return subprocess.run([p.PCTALLY, *words], capture_output=True, text=True)


def version_of(path):
    with open(path, "rb") as file:
        return struct.unpack_from("I", file.read(12), 8)[0]


def shares(data, key):
    """Name: its part of the ticks of named rows."""
    ticks = {}
    for row in data["rows"]:
        ticks[row[key]] = ticks.get(row[key], 0) + row["ticks"]
    return {name: count / data["ticks"] for name, count in ticks.items()}


def own_group():
    with open("/proc/self/cgroup") as file:
        return max((line.rstrip("\n").split(":", 2)[2] for line in file), key=len)


class Recorded(unittest.TestCase):
    def record(self, command, *options, engine="ring"):
        if not p.engine_available(engine):
            self.skipTest(f"engine {engine} is not available")
        done = p.record(command, "-e", engine, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.held_s = done.held_s
        return done.path

    def report(self, path, *options):
        """Every report has every tick. With it: how long the CPUs stood still in the last recording."""
        data = {**p.report(path, *options), "held_s": getattr(self, "held_s", 0)}
        p.assert_ledger(self, data)
        self.assertEqual(sum(row["ticks"] for row in data["rows"]) + data["hidden_ticks"] + data.get("filtered_ticks", 0),
                         data["ticks"])
        return data


class Thousands(Recorded):
    def test_names_beyond_4096_are_one_row_with_all_their_ticks(self):
        """4,400 threads, one after another. Two in a hundred have no tick."""
        for engine in ("ring", "bpf"):
            with self.subTest(engine):
                path = self.record([THREADS, "many", "4400"], "--scope", "thread", "-F", "4000", engine=engine)
                rows = self.report(path, "--by", "thread")["rows"]
                named = {row["thread"] for row in rows if re.fullmatch(r"t\d+", row["thread"])}
                others = [row["ticks"] for row in rows if row["program"] == "(others)"]
                print(f"{engine}: {len(named)} names, {sum(row['ticks'] for row in rows)} ticks, {others} of others", flush=True)
                self.assertEqual(len(rows), 4096 + 1)
                self.assertGreater(len(named), 4080)
                self.assertEqual(len(others), 1)
                # The first names are the ones kept: what came last is in the row.
                self.assertEqual({f"t{i}" for i in range(4390, 4400)} & named, set())
                text = tool("report", "--by", "thread", path).stdout
                self.assertIn("(others): those that came after the first 4,096", text)


class Scopes(Recorded):
    def few_lost(self, data):
        """Whether the recorder got what came: one that waits for a CPU of a busy machine loses ticks of some threads, and the names of
        some, and has a row for each of the two."""
        if data["lost"] <= 0.02 * data["ticks"]:
            return True
        print(f"not judged: shares: the recorder had no CPU while {data['lost']} of {data['ticks']} ticks came", flush=True)
        return False

    def check_thread_shares(self, data, expected):
        """Of their sum: the main thread has the start of the process, which takes more of a busy machine."""
        by_thread = shares(data, "thread")
        named = sum(by_thread.get(name, 0) for name in expected)
        self.assertGreater(named, 0.8 - p.stolen_share(data), by_thread)
        for name, share in expected.items():
            self.assertAlmostEqual(by_thread.get(name, 0) / named, share, delta=NEAR + p.stolen_share(data), msg=by_thread)

    def test_threads_with_and_without_call_paths(self):
        # With stacks, 32 KiB each, at a rate that a ring holds for a tenth of a second: a host may take the CPU for as long.
        for options in (("-F", "4000"), ("-F", "1000", "-g")):
            if "-g" in options and os.uname().machine != "x86_64":
                continue
            with self.subTest(options):
                path = self.record([THREADS, "600"], "--scope", "thread", *options)
                programs = self.report(path, "--by", "program")
                beta = self.report(path, "--thread", "^beta$")
                others = sum(row["ticks"] for row in beta["rows"] if row["function"] == "[other threads]")
                functions = self.report(path, "--by", "thread,function")["rows"]
                if self.few_lost(programs):
                    self.check_thread_shares(self.report(path, "--by", "thread"), {"alpha": 0.6, "beta": 0.3, "gamma": 0.1})
                    self.assertGreater(shares(programs, "program")["named_threads"], 0.95 - p.stolen_share(programs))
                    self.assertEqual(programs["rows"][0]["program_path"], THREADS)
                    self.assertAlmostEqual(1 - others / beta["ticks"], 0.3, delta=NEAR + p.stolen_share(beta))
                    self.assertEqual({"alpha", "beta", "gamma"} - {row["thread"] for row in functions if row["function"] == "spin_for"}, set())
                table = self.report(path)
                self.assertEqual("paths" in table, "-g" in options)
                self.assertEqual(any("total" in row for row in table["rows"]), "-g" in options)
                callers = tool("report", "--callers", "spin_for", path)
                self.assertEqual(callers.returncode, 0 if "-g" in options else 4, callers.stderr)
                if "-g" not in options:
                    self.assertIn("has no call paths; record again with -g: pctally record -g", callers.stderr)
                    self.assertTrue(any(row["line"] for row in self.report(path, "--by", "line", "--thread", "beta")["rows"]))

    def test_threads_that_the_kernel_counts(self):
        for options in ((), ("-g",)):
            if "-g" in options and os.uname().machine != "x86_64":
                continue
            with self.subTest(options):
                path = self.record([THREADS, "600"], "--scope", "thread", *options, engine="bpf")
                self.check_thread_shares(self.report(path, "--by", "thread"), {"alpha": 0.6, "beta": 0.3, "gamma": 0.1})
                self.assertEqual("paths" in self.report(path), "-g" in options)

    def test_a_thread_that_renames_itself_is_two_rows(self):
        for engine in ("ring", "bpf"):
            with self.subTest(engine):
                path = self.record([THREADS, "rename", "200"], "--scope", "thread", "-F", "4000", engine=engine)
                data = self.report(path, "--by", "thread")
                if self.few_lost(data):
                    self.check_thread_shares(data, {"first": 0.5, "second": 0.5})

    def test_hundreds_of_thread_names(self):
        path = self.record([THREADS, "many", "500"], "--scope", "thread", "-F", "4000")
        by_name = shares(self.report(path, "--by", "thread"), "thread")
        self.assertGreater(len(by_name.keys() & {f"t{i}" for i in range(500)}), 300)
        # the kernel takes a thread's number back before its last instructions
        self.assertLess(by_name.get("[thread not known]", 0), 0.03)

    def test_programs_of_a_shell_script(self):
        script = f"{THREADS} 200; {p.program('known_shares')} 0.1 1; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"
        path = self.record(["sh", "-c", script], "--scope", "program", "-F", "2000")
        by_program = shares(self.report(path, "--by", "program"), "program")
        self.assertGreater(by_program["named_threads"], by_program["known_shares"])
        self.assertGreater(by_program["known_shares"], 0.05)
        self.assertGreater(sum(by_program.get(name, 0) for name in ("sh", "dash", "bash")), 0)
        functions = self.report(path, "--by", "program,function")["rows"]
        self.assertEqual({row["program"] for row in functions if row["function"].startswith("share_0")}, {"known_shares"})
        some = self.report(path, "--program", "known_shares")
        self.assertIn("share_00", {row["function"] for row in some["rows"]})
        self.assertNotIn("spin_for", {row["function"] for row in some["rows"]})

    def test_other_engines_tell_programs_apart(self):
        for engine in p.engines("bpf", "timer", "trap"):
            with self.subTest(engine):
                path = self.record(["sh", "-c", f"{THREADS} 150; {p.program('known_shares')} 0.1 1"], "--scope", "program", engine=engine)
                data = self.report(path, "--by", "program")
                self.assertEqual({"named_threads", "known_shares"} - shares(data, "program").keys(), set())
                self.assertNotIn("paths", self.report(path))
                functions = self.report(path, "--by", "program,function")["rows"]
                self.assertEqual({row["program"] for row in functions if row["function"].startswith("share_0")}, {"known_shares"})

    def test_what_cannot_be_kept_apart_says_so_in_a_line(self):
        out = os.path.join(tempfile.mkdtemp(dir=p.scratch()), "p.pct")
        done = subprocess.run([p.program("no_perf"), "EPERM", p.PCTALLY, "record", "--scope", "thread", "-o", out, "--", "true"],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr),
                         (125, "pctally: --scope thread: perf events are not allowed here (why: pctally engines); use --scope program\n"))

    def test_the_schema_describes_the_rows(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("python3-jsonschema is not installed")
        with open(os.path.join(os.path.dirname(__file__), "..", "..", "docs", "report.schema.json"), encoding="utf-8") as file:
            check = jsonschema.Draft202012Validator(json.load(file)).validate
        for scope, keys in (("thread", ("program", "program,function", "thread", "thread,function")), ("cgroup", ("cgroup", "cgroup,function"))):
            path = self.record([THREADS, "50"], "--scope", scope)
            for key in keys:
                check(self.report(path, "--by", key))

    def test_a_recorder_that_is_killed_leaves_every_tick_in_a_row(self):
        if not p.engine_available("ring"):
            self.skipTest("engine ring is not available")
        path = os.path.join(tempfile.mkdtemp(dir=p.scratch()), "p.pct")
        with subprocess.Popen([p.PCTALLY, "record", "-q", "-e", "ring", "--scope", "thread", "-o", path, "--", THREADS, "1000"],
                              process_group=0) as recorder:
            p.await_ticks(path, 100, recorder)
            os.killpg(recorder.pid, signal.SIGKILL)
        self.assertIn("alpha", {row["thread"] for row in self.report(path, "--by", "thread")["rows"]})

    def test_control_groups(self):
        for engine in ("ring", "bpf"):
            with self.subTest(engine):
                path = self.record([THREADS, "100"], "--scope", "cgroup", engine=engine)
                self.assertEqual([row["cgroup"] for row in self.report(path, "--by", "cgroup")["rows"]], [own_group()])
                self.assertEqual(tool("report", "--by", "program", path).returncode, 4)
                self.assertEqual(tool("archive", "-q", "--strip-paths", path).returncode, 0)
                self.assertEqual([row["cgroup"] for row in self.report(path, "--by", "cgroup")["rows"]], [own_group()])

    def test_processes_that_are_gone_count_for_their_parents_group(self):
        """Whatever they executed: of 200 short ones 80 % were in no group or, while they ended, in the root."""
        script = "i=0; while [ $i -lt 100 ]; do /bin/true; i=$((i+1)); done"
        for engine in ("ring", "bpf"):
            with self.subTest(engine):
                path = self.record(["sh", "-c", script], "--scope", "cgroup", engine=engine)
                self.assertEqual([row["cgroup"] for row in self.report(path, "--by", "cgroup")["rows"]], [own_group()])

    def test_a_flat_recording_stays_as_it_was(self):
        self.assertEqual(version_of(self.record([THREADS, "100"])), 1)
        self.assertEqual(version_of(self.record([THREADS, "100"], "--scope", "program")), 2)

    def test_the_whole_machine(self):
        if os.geteuid() != 0 or not p.engine_available("ring"):
            self.skipTest("needs root and perf events")
        path = os.path.join(tempfile.mkdtemp(dir=p.scratch()), "all.pct")
        with subprocess.Popen([THREADS, "100000"]) as busy:
            for scope in ("thread", "cgroup"):
                done = tool("record", "-q", "-f", "-o", path, "-a", "--scope", scope, "--for", "0.3")
                self.assertEqual(done.returncode, 0, done.stderr)
                rows = self.report(path, "--by", scope)["rows"]
                if scope == "thread":
                    self.assertIn(("named_threads", "alpha"), {(row["program"], row["thread"]) for row in rows})
            busy.kill()

    def test_sums_and_copies_and_exports_keep_the_scopes(self):
        one, two = (self.record([THREADS, "200"], "--scope", "thread") for _ in range(2))
        merged = os.path.join(os.path.dirname(one), "sum.pct")
        self.assertEqual(tool("merge", "-q", "-f", "-o", merged, one, two).returncode, 0)
        parts = [self.report(path, "--by", "thread") for path in (one, two)]
        whole = self.report(merged, "--by", "thread")
        def ticks(data):
            return next(row["seconds"] for row in data["rows"] if row["thread"] == "alpha")
        self.assertAlmostEqual(ticks(whole), sum(ticks(part) for part in parts), places=6)
        self.assertEqual(version_of(merged), 2)
        groups = self.record([THREADS, "50"], "--scope", "cgroup")
        refused = tool("merge", "-q", "-f", "-o", merged, one, groups)
        self.assertEqual(refused.returncode, 4)
        self.assertIn("is by thread", refused.stderr)
        folded = tool("export", "--format", "folded", one).stdout
        self.assertIn("named_threads;alpha;", folded)
        self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines()), parts[0]["ticks"])
        pprof = os.path.join(os.path.dirname(one), "out.pb.gz")
        self.assertEqual(tool("export", "--format", "pprof", "-o", pprof, one).returncode, 0)
        with gzip.open(pprof) as file:
            self.assertIn(b"alpha", file.read())
        self.assertEqual([(row["thread"], row["ticks"]) for row in self.report(pprof, "--by", "thread")["rows"]],
                         [(row["thread"], row["ticks"]) for row in parts[0]["rows"]])


if __name__ == "__main__":
    p.main()
