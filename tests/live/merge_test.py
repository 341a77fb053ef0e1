"""pctally merge, and report and export of several files: sums to the nanosecond, the same in any order."""
import collections
import itertools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import forged
import pctally_test as p


def run(*words, **options):
    return subprocess.run([p.PCTALLY, *words], capture_output=True, text=True, **options)


def amounts(*data):
    """Nanoseconds of each row, of all reports together."""
    sums = collections.Counter()
    for report in data:
        for row in report["rows"]:
            sums[row["object"], row["function"]] += row["ticks"] * report["period_ns"]
    return sums


def report_of(*files):
    done = run("report", "--json", "--names", "full", *files)
    assert done.returncode == 0, done.stderr
    import json
    return json.loads(done.stdout)


class Merge(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(dir=p.scratch())
        cls.files = []
        for index, (program, rate) in enumerate((("known_shares", "997"), ("known_shares", "1009"), ("spinner", "499"))):
            path = os.path.join(cls.directory, f"{index}.pct")
            words = [p.program(program), *(("0.3", "1") if program == "known_shares" else ("1", "0.3"))]
            done = p.record(words, "-F", rate, "-e", p.engines()[-1], path=path)
            assert done.returncode == 0, done.stderr
            cls.files.append(path)
        cls.reports = [p.report(path) for path in cls.files]

    def path(self, name):
        return os.path.join(self.directory, name)

    def merged(self, name, *files):
        done = run("merge", "-q", "-f", "-o", self.path(name), *files)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return self.path(name)

    def test_rows_and_account_are_sums_to_the_nanosecond(self):
        for files in (self.files, [self.merged("sum.pct", *self.files)]):
            data = report_of(*files)
            self.assertEqual(amounts(data), amounts(*self.reports))
            self.assertEqual(data["ticks"] * data["period_ns"],
                             sum(report["ticks"] * report["period_ns"] for report in self.reports))
            self.assertAlmostEqual(data["cpu_s"], sum(report["cpu_s"] for report in self.reports), places=6)
            self.assertEqual(data["samples"], sum(report["samples"] for report in self.reports))
            self.assertEqual(sorted((run["ticks"], run["period"]) for run in data["runs"]),
                             sorted((report["ticks"], report["period_ns"]) for report in self.reports))
            p.assert_ledger(self, data)
            self.assertTrue(data["complete"], data["warnings"])

    def test_intervals_rest_on_the_samples_of_all_runs(self):
        times = [report["effective_samples"] and report["sampled_s"] for report in self.reports]
        expected = sum(times) ** 2 / sum(t * t / report["effective_samples"]
                                         for t, report in zip(times, self.reports) if t)
        self.assertAlmostEqual(report_of(*self.files)["effective_samples"], expected, delta=1 + 0.01 * expected)

    def test_no_order_and_no_earlier_merge_shows_in_the_bytes(self):
        contents = set()
        for order in itertools.permutations(self.files):
            with open(self.merged("order.pct", *order), "rb") as file:
                contents.add(file.read())
        first, second, third = self.files
        for outer, inner in ((first, (second, third)), (third, (second, first))):
            with open(self.merged("outer.pct", self.merged("inner.pct", *inner), outer), "rb") as file:
                contents.add(file.read())
        self.assertEqual(len(contents), 1)

    def test_a_sum_grows_in_place(self):
        path = self.merged("grows.pct", self.files[0])
        self.merged("grows.pct", path, self.files[1])
        self.assertEqual(amounts(report_of(path)), amounts(*self.reports[:2]))

    def test_memory_is_bounded(self):
        """The parts of a sum and its file; an error leaves nothing behind."""
        refused = run("merge", "--memory", "64K", "-o", self.path("never.pct"), *self.files)
        self.assertEqual((refused.returncode, refused.stdout), (4, ""))
        self.assertRegex(refused.stderr, r"\Apctally: the sum('s file)? takes more than .*\n\Z")
        self.assertFalse(os.path.exists(self.path("never.pct")))

    def with_sources(self, name, mib, shared=False):
        """A profile that holds sources of so many MiB, of a path of its own each, and of a text of its own unless that is shared."""
        profile, names = forged.Profile(self.files[0]), forged.Names()
        profile.add_object(b"/nowhere/forged", bytes(range(20)), range(0x100, 0x101))
        text = names.add_text(b"/nowhere/forged")
        names.add_object(text, bytes(range(20)))
        names.add_range((0x100, 0x100), (0x100, 0x101), text)
        for number in range(mib // 4):
            source = source if shared and number else names.add_text(b"x" * (4 << 20))
            names.add_source(names.add_text(f"/{name}/{number}".encode()), source)
        return p.as_another_recording(profile.write(self.path("sources"), names.bytes()), self.path(name))

    def with_code(self, name, mib):
        """A profile that holds functions of so many MiB, whose code is one text."""
        profile, names = forged.Profile(self.files[0]), forged.Names()
        profile.add_object(b"/nowhere/forged", bytes(range(20)), range(0x100, 0x101))
        text = names.add_text(b"/nowhere/forged")
        names.add_object(text, bytes(range(20)))
        code = names.add_text(bytes(4 << 20))
        for start in range(0x100, 0x100 + mib // 4):
            names.add_range((start, start), (start, start + code[1]), text, code)
        return profile.write(self.path(name), names.bytes())

    def test_memory_for_names_is_bounded(self):
        """Their sections stay in memory, and the sum's is made of them."""
        files = [self.with_sources(f"s{number}.pct", 8) for number in range(12)]
        child = "import resource, subprocess, sys; code = subprocess.run(sys.argv[1:]).returncode; " \
                "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(code)"
        too_many = "the names of the sum take more than 100M"
        for some, said in ((files, f"the sum takes more than 100 MiB from {self.path('s')}"), (files[:4], too_many),
                           ([self.with_sources("shared.pct", 1000, shared=True)], too_many), ([self.with_code("code.pct", 1000)], too_many)):
            done = subprocess.run([sys.executable, "-c", child, p.PCTALLY, "merge", "--memory", "100M", "-o", self.path("never.pct"), *some],
                                  capture_output=True, text=True)
            self.assertIn(said, done.stderr)
            self.assertEqual(done.returncode, 4)
            self.assertLess(int(done.stdout), 150 << 10, "KiB, with the program's own")
            self.assertFalse(os.path.exists(self.path("never.pct")))
        done = run("merge", "-q", "-o", self.path("sum_of_sources.pct"), *files[:4])
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_names_beyond_what_a_file_holds(self):
        if os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") < 4 << 30:
            self.skipTest("less than 4 GiB of memory are free")
        shared = self.with_sources("shared.pct", 1040, shared=True)
        done = run("merge", "--memory", "8G", "-o", self.path("never.pct"), shared)
        self.assertEqual((done.returncode, done.stderr),
                         (125, f"pctally: {self.path('never.pct')} is not written; the names would take more than 1 GiB\n"))

    def test_exports_of_several_files_add_up(self):
        done = run("export", "--format", "folded", *self.files)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in done.stdout.splitlines()),
                         sum(report["ticks"] * report["period_ns"] for report in self.reports))

    def test_call_paths_add_up(self):
        if not p.engine_available("ring") or not os.path.exists(p.program("known_paths")):
            self.skipTest("call paths need engine ring and x86-64")
        files = []
        for rate in ("997", "1009"):
            files.append(self.path(f"paths{rate}.pct"))
            done = p.record([p.program("known_paths"), "recursion", "0.3"], "-g", "-F", rate, path=files[-1])
            self.assertEqual(done.returncode, 0, done.stderr)
        both, single = report_of(*files), [p.report(file) for file in files]
        totals = lambda data: {row["function"]: row["total_ticks"] * data["period_ns"] for row in data["rows"] if "total_ticks" in row}
        for function in ("main", "recursion", "deep", "work"):
            self.assertEqual(totals(both)[function], sum(totals(data)[function] for data in single), function)
        stacks = run("export", "--format", "folded", *files).stdout
        self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in stacks.splitlines()), both["ticks"])
        self.assertEqual(report_of(self.merged("paths.pct", *files)), both)
        refused = run("merge", "-o", self.path("mixed.pct"), files[0], self.files[0])
        self.assertEqual((refused.returncode, refused.stderr),
                         (4, f"pctally: {files[0]} has call paths and {self.files[0]} has none; record all with -g, or merge with --no-paths\n"))
        self.assertEqual(run("merge", "-q", "--no-paths", "-f", "-o", self.path("mixed.pct"), files[0], self.files[0]).returncode, 0)

    def test_views_of_runs_of_other_periods_have_times(self):
        if not p.engine_available("ring") or not os.path.exists(p.program("known_paths")):
            self.skipTest("call paths need engine ring and x86-64")
        files = []
        for rate in ("997", "1999"):
            files.append(self.path(f"paths.{rate}.pct"))
            done = p.record([p.program("known_paths"), "plain", "0.3"], "-g", "-F", rate, path=files[-1])
            self.assertEqual(done.returncode, 0, done.stderr)
        picture = self.path("sum.svg")
        self.assertEqual(run("report", "--flamegraph", picture, *files).returncode, 0)
        with open(picture) as file:
            texts = [file.read()]
        both = self.merged("periods.pct", *files)
        for view in (("report", "--callers", "work"), ("annotate", "work"), ("export", "--format", "markdown", "-o", "-")):
            done = run(*view, both)
            self.assertEqual(done.returncode, 0, done.stderr)
            texts.append(done.stdout)
        for text in texts:
            self.assertNotRegex(text, r"[0-9] ticks| ticks *(\||$)")
            self.assertRegex(text, r"[0-9.]+ (ms|s)\b")

    def test_what_is_damaged_or_incomplete_is_named(self):
        damaged = self.path("damaged.pct")
        shutil.copy(self.files[0], damaged)
        os.truncate(damaged, os.path.getsize(damaged) - 4096)
        refused = run("merge", "-o", self.path("never.pct"), self.files[1], damaged)
        self.assertEqual(refused.returncode, 4)
        self.assertIn(f"{damaged} is damaged: ", refused.stderr)
        self.assertFalse(os.path.exists(self.path("never.pct")))
        printed = run("report", self.files[1], damaged)
        self.assertEqual(printed.returncode, 4)
        self.assertIn(f"INCOMPLETE: the file is damaged: {damaged}: ", printed.stdout)

        killed = self.path("killed.pct")
        recorder = subprocess.Popen([p.PCTALLY, "record", "-q", "-o", killed, "--", p.program("spinner"), "1", "1000"])
        p.await_ticks(killed, 10, recorder)
        child = p.command_of(recorder.pid)
        recorder.kill()
        recorder.wait()
        os.kill(child, signal.SIGKILL)
        done = run("merge", "-o", self.path("some.pct"), self.files[1], killed)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{killed} is incomplete: its recorder was killed; what it has so far is added", done.stderr)
        self.assertIn("1 of 2 runs were cut off", run("report", self.path("some.pct")).stdout)


if __name__ == "__main__":
    p.main()
