"""What scripts/check takes for passed, and says at its end about tests that were skipped, or judged in part only."""
import contextlib
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../tools/check"))
import ctest_results
import record
import steps
import test_runs

RUN = """<testsuite>
<testcase name="survive.reach" status="run"><system-out>.
not judged: timer, in a pid namespace: tasks waited 1.20 s for a CPU, the host took 0.00 s
not judged: trap, in a pid namespace: tasks waited 1.00 s for a CPU, the host took 0.00 s
skipped: test_one: needs bwrap
OK</system-out></testcase>
<testcase name="live.top" status="run"><system-out>a line about what is not judged: nothing
OK</system-out></testcase>
<testcase name="survive.inside" status="fail"><system-out>not judged: short programs: tasks waited 1 s
FAILED</system-out></testcase>
<testcase name="boundary.bpf" status="notrun"><system-out>skipped: no clang</system-out></testcase>
</testsuite>"""


class CheckResults(unittest.TestCase):
    def setUp(self):
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as report:
            report.write(RUN)
            report.flush()
            self.results = ctest_results.read(report.name)
        self.record = types.SimpleNamespace(notes=[], results=[{"notes": ["not judged: machine busy: n64.two: 1 assertion"]}], failed=lambda: [])
        test_runs.note(self.record, self.results, self.results.tests)

    def test_what_a_busy_machine_left_unjudged_is_counted_by_test(self):
        self.assertEqual(self.results.unjudged, ["survive.reach", "survive.reach", "survive.inside"])

    def test_the_last_lines_name_it_for_all_steps(self):
        said = test_runs.closing(self.record, ["100% tests passed"])
        self.assertEqual(said[:3], ["not judged: machine busy: n64.two: 1 assertion", "not judged: machine busy: survive.reach: 2 assertions",
                                    "not judged: machine busy: survive.inside: 1 assertion"])
        self.assertIn("skipped: 2, named above", said[3])

    def test_what_was_skipped_has_its_reason(self):
        self.assertIn("2 passed, 1 failed, 2 skipped by name", self.record.notes)
        self.assertIn("skipped: survive.reach: test_one: needs bwrap", self.record.notes)

    def test_a_step_that_finds_no_test_has_not_passed(self):
        with tempfile.TemporaryDirectory() as tree:
            with open(os.path.join(tree, "CTestTestfile.cmake"), "w", encoding="utf-8") as file:
                file.write('add_test(here "true")\nset_tests_properties(here PROPERTIES LABELS here)\n')
            with contextlib.redirect_stdout(io.StringIO()):
                passed = [test_runs.run(self.record, tree, "-L", label) for label in ("here", "nowhere")]
        self.assertEqual(passed, [True, False])

    def test_rounds_without_a_test_have_not_passed(self):
        enter_empty_directory(self)
        pathlib.Path("CTestTestfile.cmake").write_text('add_test(here "true")\nset_tests_properties(here PROPERTIES LABELS here)\n')
        kept = types.SimpleNamespace(notes=[], path=lambda name, ending: name + ending, sources="a1", resume=False)
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertTrue(test_runs.often(kept, ".", "here", 2))  # leaves a report of a test
            self.assertFalse(test_runs.often(kept, ".", "nowhere", 2))
            pathlib.Path("CTestTestfile.cmake").write_text("no command of ctest(\n")
            self.assertFalse(test_runs.often(kept, ".", "here", 2))
        self.assertEqual(kept.notes, ["2 times, 0 failures", "no test of . has a label nowhere", "no test of . has a label here"])

    def test_without_a_report_of_ctest_nothing_has_passed(self):
        enter_empty_directory(self)
        pathlib.Path("tests.xml").write_text(RUN)
        with mock.patch.object(test_runs, "stream", lambda command: (True, 0, [])):
            self.assertFalse(test_runs.run(self.record, ".", "-L", "here"))

    def test_fuzzing_without_a_fuzzer_has_not_passed(self):
        enter_empty_directory(self)
        kept = types.SimpleNamespace(notes=[], mode="full", run=lambda *command, **options: True, path=lambda name, ending: "log")
        pathlib.Path("log").write_text("stat::number_of_executed_units: 7\n")
        with mock.patch.object(shutil, "which", lambda program: program):
            self.assertFalse(steps.fuzz(kept))
            os.makedirs("build/fuzz/bin")
            pathlib.Path("build/fuzz/bin/cfi_fuzz").touch()
            self.assertTrue(steps.fuzz(kept))
        self.assertEqual(kept.notes, ["there is no build/fuzz/bin/*_fuzz", "cfi_fuzz: 7 inputs"])

    def test_rounds_go_on_where_they_were_cut_short(self):
        directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, directory)
        first, later, changed = (types.SimpleNamespace(path=lambda name, ending: os.path.join(directory, name + ending), sources=sources, resume=resume)
                                 for sources, resume in (("a1", False), ("a1", True), ("b2", True)))
        test_runs.Rounds(first).end(False, self.results)
        self.assertEqual(test_runs.Rounds(later).ended, [{"passed": False, "failed": ["survive.inside"], "unjudged": self.results.unjudged}])
        self.assertEqual([test_runs.Rounds(other).ended for other in (first, changed)], [[], []])


@unittest.skipUnless(shutil.which("git"), "git is not installed")
class Sources(unittest.TestCase):
    """The name of what is checked differs where a file does, also one that git does not know yet."""

    def setUp(self):
        enter_empty_directory(self)
        environment = mock.patch.dict(os.environ)  # a hook of git's, which may have started this, names its own repository there
        environment.start()
        self.addCleanup(environment.stop)
        for name in [name for name in os.environ if name.startswith("GIT_")]:
            del os.environ[name]

    def make_repository(self):
        pathlib.Path(".gitignore").write_text("/build/\n")
        pathlib.Path("known.cc").write_text("1")
        for words in (["init"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-m", "first"]):
            subprocess.run(["git", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)

    def test_a_new_file_counts_with_its_content(self):
        self.make_repository()
        seen = [record.sources()]
        self.assertRegex(seen[0], "^[0-9a-f]{12}$")

        def see():
            seen.append(record.sources())

        for name in (b"new.cc", b'two\nlines\r and a "quote".cc', b"-\xff.cc", b"in/a/folder.cc", b"known.cc"):
            pathlib.Path(os.fsdecode(name)).parent.mkdir(parents=True, exist_ok=True)
            for content in (b"2", b"\xff", b""):
                with open(name, "wb") as file:
                    file.write(content)
                see()
        os.chmod("new.cc", 0o755)
        see()
        for target in ("nowhere", "elsewhere"):
            if os.path.lexists("link"):
                os.remove("link")
            os.symlink(target, "link")
            see()
        os.remove("new.cc")
        see()
        self.assertEqual(len(set(seen)), len(seen), seen)
        pathlib.Path("new.cc").touch(0o755)
        self.assertEqual(record.sources(), seen[-2])
        os.makedirs("build")
        pathlib.Path("build/made.cc").write_text("1")
        self.assertEqual(record.sources(), seen[-2])

    def test_many_new_files_count(self):
        self.make_repository()
        for number in range(3000):
            pathlib.Path(f"{number}-{'x' * 200}.cc").touch()
        before = record.sources()
        pathlib.Path(f"2999-{'x' * 200}.cc").write_text("1")
        self.assertNotEqual(record.sources(), before)

    def test_a_file_that_goes_meanwhile_is_no_error(self):
        self.make_repository()
        subprocess.run(["git", "init", "inner"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        listed = record.bytes_of
        with mock.patch.object(record, "bytes_of", lambda *command: listed(*command) + (b"gone.cc\0inner/\0" if "ls-files" in command else b"")):
            self.assertRegex(record.sources(), "^[0-9a-f]{12}-[0-9a-f]{8}$")

    def steps_that_run(self, resume=True):
        """Of a check with one step, whether that runs."""
        ran = []
        with contextlib.redirect_stdout(io.StringIO()):
            record.Record("full", resume).step("one", lambda kept: ran.append("one") or True)
        return ran

    def test_a_step_is_left_out_only_on_the_same_sources(self):
        self.make_repository()
        pathlib.Path("new.cc").write_text("1")
        self.assertEqual(self.steps_that_run(resume=False), ["one"])
        self.assertEqual(self.steps_that_run(), [])
        pathlib.Path("new.cc").write_text("2")
        self.assertEqual(self.steps_that_run(), ["one"])

    def test_without_a_commit_no_step_is_left_out(self):
        for words in ([], ["init"], ["add", "."]):  # no repository; one whose files it does not know; and one that knows them
            if words:
                subprocess.run(["git", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
            self.assertEqual(record.sources(), "")
            self.assertEqual([self.steps_that_run() for _ in range(2)], [["one"], ["one"]])


def enter_empty_directory(test):
    directory = tempfile.mkdtemp()
    test.addCleanup(shutil.rmtree, directory)
    test.addCleanup(os.chdir, os.getcwd())
    os.chdir(directory)


if __name__ == "__main__":
    unittest.main()
