"""Names in a profile: the rows are those that reading the executables gives, also where these are rebuilt or gone."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p


def run(*words, **options):
    return subprocess.run([p.PCTALLY, *words], capture_output=True, text=True, **options)


def text_of(*words):
    done = run("report", "--limit", "0", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Names(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(dir=p.scratch())
        self.program = shutil.copy(p.program("known_shares"), os.path.join(self.directory, "prog"))
        self.profile = self.record(self.program, "0.3", "1")

    def path(self, name):
        return os.path.join(self.directory, name)

    def record(self, *command, options=()):
        """On a busy machine a second may be too short for names: the recorder says so, and the test has nothing
        to judge."""
        with p.Machine() as machine:
            done = p.record(command, *options, path=self.path("a.pct"), quiet=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        if b"adding them was cut short" in done.stderr and not machine.judges("names in a profile"):
            self.skipTest("the machine was too busy to add names")
        self.assertNotIn(b"names", done.stderr)
        self.assertTrue(p.has_names(done.path))
        return done.path

    def test_rows_are_those_of_the_executables(self):
        bare = p.without_names(self.profile, self.path("bare.pct"))
        for words in (["--by", "function"], ["--by", "line"], ["--by", "object"], ["--json"], ["--names", "linkage"]):
            self.assertEqual(text_of(*words, self.profile), text_of(*words, bare), words)

    def test_no_executable_is_read_for_them(self):
        if shutil.which("strace") is None:
            self.skipTest("strace is not installed")
        done = subprocess.run(["strace", "-f", "-e", "trace=open,openat", p.PCTALLY, "report", "--object", "prog", self.profile],
                              capture_output=True, text=True)
        if done.returncode != 0:
            self.skipTest("strace does not work here")
        self.assertNotIn(f'"{self.program}"', done.stderr)

    def test_a_removed_or_rebuilt_executable_changes_nothing(self):
        before = text_of(self.profile)
        merged = self.path("merged.pct")
        self.assertEqual(run("merge", "-q", "-o", merged, self.profile).returncode, 0)
        sum_before = text_of(merged)
        self.assertIn("share_00", before)
        shutil.copy(p.program("spinner"), self.program)
        self.assertEqual(text_of(self.profile), before)
        os.remove(self.program)
        self.assertEqual(text_of(self.profile), before)
        self.assertEqual(text_of(merged), sum_before)
        bare = p.without_names(self.profile, self.path("bare.pct"))
        self.assertNotIn("share_00", text_of(bare))

    def test_missing_lines_are_no_missing_names(self):
        """The view by function has all it needs; only its hottest line is not there."""
        engines = [engine for engine in ("ring", "bpf") if p.engine_available(engine)]
        for options in [(), *(("-g", "-e", engine) for engine in engines)]:
            path = self.record(self.program, "0.3", "1", options=options)
            os.rename(self.program, self.path("away"))
            ids = {warning["id"] for warning in p.report(path)["warnings"]}
            self.assertFalse(ids & {"no-names", "no-lines"}, options)
            lines = p.report(path, "--by", "line")["warnings"]
            self.assertEqual([warning["id"] for warning in lines if "prog has no" in warning["text"]], ["no-lines"], lines)
            os.rename(self.path("away"), self.program)

    def test_a_copy_and_a_sum_of_sums_keep_them(self):
        os.remove(self.program)
        copy, one, two = self.path("copy.pct"), self.path("one.pct"), self.path("two.pct")
        self.assertEqual(run("snapshot", "-q", "-o", copy, self.profile).returncode, 0)
        self.assertEqual(run("merge", "-q", "-o", one, copy).returncode, 0)
        self.assertEqual(run("merge", "-q", "-o", two, one).returncode, 0)
        for file in (copy, one, two):
            self.assertIn("share_00", text_of(file))
        with open(one, "rb") as first, open(two, "rb") as second:
            self.assertEqual(first.read(), second.read())

    def test_diff_annotate_and_export_use_them(self):
        os.remove(self.program)
        done = run("export", "--format", "folded", self.profile)
        self.assertIn("share_00", done.stdout, done.stderr)
        self.assertIn("share_00", run("diff", self.profile, p.as_another_recording(self.profile, self.path("other.pct"))).stdout)
        done = run("annotate", "share_00", self.profile)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_damaged_names_are_said_to_be_and_cost_no_tick(self):
        size = os.path.getsize(self.profile)
        bare = text_of("--by", "object", p.without_names(self.profile, self.path("bare.pct")))
        os.truncate(self.profile, size - 1)
        done = run("report", "--by", "object", "--limit", "0", self.profile)
        self.assertEqual(done.returncode, 4)
        self.assertIn("names in it cannot be read", done.stdout)
        self.assertEqual(done.stdout.splitlines()[-3:], bare.splitlines()[-3:])


if __name__ == "__main__":
    p.main()
