"""What scripts/check takes for passed, and says at its end about tests that were skipped, or judged in part only."""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
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
import tidy

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
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
<testcase name="boundary.bpf" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/><system-out>skipped: no clang</system-out></testcase>
</testsuite>"""


class CheckResults(unittest.TestCase):
    def setUp(self):
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as report:
            report.write(RUN)
            report.flush()
            self.results = ctest_results.read(report.name)
        self.record = types.SimpleNamespace(notes=[], results=[{"notes": ["not judged: machine busy: n64.two: 1 assertion"]}], failed=lambda: [],
                                            skipped_steps=lambda: ["format: no clang-format"])
        test_runs.note(self.record, self.results, self.results.tests)

    def test_what_a_busy_machine_left_unjudged_is_counted_by_test(self):
        self.assertEqual(self.results.unjudged, ["survive.reach", "survive.reach", "survive.inside"])

    def test_the_last_lines_name_it_for_all_steps(self):
        said = test_runs.closing(self.record, ["100% tests passed"])
        self.assertEqual(said[:3], ["not judged: machine busy: n64.two: 1 assertion", "not judged: machine busy: survive.reach: 2 assertions",
                                    "not judged: machine busy: survive.inside: 1 assertion"])
        self.assertEqual(said[3], "not run, or in part: format: no clang-format")
        self.assertIn("skipped: 2, named above", said[4])

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

    def test_a_test_whose_program_is_missing_has_failed(self):
        enter_empty_directory(self)
        machines = script("check-machines")
        for wrong in ("", 'add_test(gone "/nowhere/program")\n', 'add_test(fails "false")\n'):
            pathlib.Path("CTestTestfile.cmake").write_text(f"""add_test(passes "true")
add_test(skips "sh" "-c" "echo skipped: no tool; exit 77")
add_test(off "false")
set_tests_properties(skips PROPERTIES SKIP_RETURN_CODE 77)
set_tests_properties(off PROPERTIES DISABLED TRUE)
{wrong}""")
            passed, results = machines.run(os.getcwd(), [])
            self.assertEqual((passed, results.passed, len(results.skipped), len(results.failed)), (not wrong, 1, 2, 1 if wrong else 0))
        pathlib.Path("CTestTestfile.cmake").write_text('add_test(passes "true")\nadd_test(one.fails_here "false")\n')
        others = [(f"Suite{number}.*:Suite{number}.Case-{number}/?", "") for number in range(20)]  # more than ctest knows parentheses
        self.assertEqual([machines.run(os.getcwd(), [*others, (pattern, "")])[0] for pattern in ("one.*_here", "*.fails_her?", "fails", "one.fails_here")],
                         [True, True, False, True])
        pathlib.Path("CTestTestfile.cmake").write_text("no command of ctest(\n")
        passed, results = machines.run(os.getcwd(), [])
        self.assertEqual((passed, results.tests), (False, 0))

    def test_rounds_without_a_test_have_not_passed(self):
        enter_empty_directory(self)
        pathlib.Path("CTestTestfile.cmake").write_text('add_test(here "true")\nset_tests_properties(here PROPERTIES LABELS here)\n')
        kept = types.SimpleNamespace(notes=[], path=lambda name, ending: name + ending, sources="a1", resume=False)
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertTrue(test_runs.often(kept, ".", "here", 2))  # leaves a report of a test
            self.assertFalse(test_runs.often(kept, ".", "nowhere", 2))
            pathlib.Path("CTestTestfile.cmake").write_text("no command of ctest(\n")
            self.assertFalse(test_runs.often(kept, ".", "here", 2))
            self.assertFalse(test_runs.often(kept, ".", "here", 0))
        self.assertEqual(kept.notes, ["2 times, 0 failures", "no test of . has a label nowhere", "no test of . has a label here", "0 rounds test nothing"])

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
            for said in ("stat::number_of_executed_units: 0\n", ""):
                pathlib.Path("log").write_text(said)
                self.assertFalse(steps.fuzz(kept))
        self.assertEqual(kept.notes, ["there is no build/fuzz/bin/*_fuzz", "cfi_fuzz: 7 inputs", "cfi_fuzz: 0 inputs", "cfi_fuzz: 0 inputs"])

    def test_no_machine_without_its_compiler_passes_unnamed(self):
        enter_empty_directory(self)
        os.mkdir("scripts")
        pathlib.Path("scripts/check-machines").write_text("#!/bin/sh\necho 'skipped: avr (avr-g++ is not here)'; echo '  skipped: one'; exit ${STATUS:-0}\n")
        os.chmod("scripts/check-machines", 0o755)
        with contextlib.redirect_stdout(io.StringIO()):
            kept = record.Record("all", False)
            kept.step("machines", steps.machines)
            with mock.patch.dict(os.environ, {"STATUS": "1"}):
                kept.step("again", steps.machines)
        self.assertEqual([(result["passed"], result["skipped"]) for result in kept.results],
                         [(True, ["avr (avr-g++ is not here)"]), (False, ["avr (avr-g++ is not here)"])])

    def test_pages_that_mandoc_does_not_read_have_not_passed(self):
        enter_empty_directory(self)
        kept = types.SimpleNamespace(notes=[])
        os.makedirs("build/release/man")
        os.mkdir("bin")
        with mock.patch.object(shutil, "which", lambda program: program), mock.patch.dict(os.environ, {"PATH": os.path.abspath("bin") + ":/usr/bin:/bin"}), \
                contextlib.redirect_stdout(io.StringIO()):
            self.assertFalse(steps.man_pages(kept))  # no page
            pathlib.Path("build/release/man/a.1").touch()
            for status, said, passed in ((0, "", True), (2, "a.1:1: WARNING: skipping paragraph macro: PP empty", True), (2, "a.1:1: WARNING: other", False),
                                         (3, "", False), (5, "", False), (6, "", False)):
                pathlib.Path("bin/mandoc").write_text(f"#!/bin/sh\necho '{said}'\nexit {status}\n" if said else f"#!/bin/sh\nexit {status}\n")
                os.chmod("bin/mandoc", 0o755)
                self.assertEqual(steps.man_pages(kept), passed, (status, said))

    def test_every_source_is_formatted_without_git_as_well(self):
        enter_empty_directory(self)
        asked = []
        kept = types.SimpleNamespace(notes=[], mode="full", run=lambda *command: asked.append(command[3:]) or True)
        with mock.patch.object(shutil, "which", lambda program: program if program != "git" else None):
            self.assertFalse(steps.formatted(kept))
            for name in ("src/base/a.h", "src/base/a.cc", "src/base/a.txt", "fuzz/b.h", "tests/consumers/c.cc", "build/d.cc", "include/e.h"):
                pathlib.Path(name).parent.mkdir(parents=True, exist_ok=True)
                pathlib.Path(name).touch()
            self.assertTrue(steps.formatted(kept))
            kept.mode = "quick"
            self.assertTrue(steps.formatted(kept))
        self.assertEqual(asked, [("fuzz/b.h", "include/e.h", "src/base/a.cc", "src/base/a.h")] * 2)

    def test_a_library_that_differs_when_built_again_is_found(self):
        enter_empty_directory(self)
        for tree in ("release", "again"):
            for name in ("bin/pctally", "lib/libpctally.so", "lib/libpctally-preload.so", "lib/libpctally-glibc.so"):
                pathlib.Path(f"build/{tree}/{name}").parent.mkdir(parents=True, exist_ok=True)
                pathlib.Path(f"build/{tree}/{name}").write_text("1")
        kept = types.SimpleNamespace(notes=[], run=lambda *command, **options: True)
        with mock.patch.object(steps, "output_of", lambda *command: "no work to do"), mock.patch.object(shutil, "rmtree"):
            self.assertTrue(steps.same_bytes(kept))
            pathlib.Path("build/again/lib/libpctally-glibc.so").write_text("2")
            self.assertFalse(steps.same_bytes(kept))
            os.remove("build/again/lib/libpctally-glibc.so")
            self.assertFalse(steps.same_bytes(kept))
        self.assertEqual(kept.notes, ["not the same when built again: lib/libpctally-glibc.so"] * 2)

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
        for words in (["init", "-b", "work"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-m", "first"]):
            subprocess.run(["git", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)

    def commit(self, name):
        pathlib.Path(name).touch()
        for words in (["add", name], ["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-m", name]):
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

    def steps_that_run(self, resume=True, says=lambda kept: True, variables=()):
        """Of a check with one step, whether that runs."""
        ran = []
        with contextlib.redirect_stdout(io.StringIO()):
            record.Record("full", resume).step("one", lambda kept: ran.append("one") or says(kept), variables)
        return ran

    def test_a_step_is_left_out_only_on_the_same_sources(self):
        self.make_repository()
        pathlib.Path("new.cc").write_text("1")
        self.assertEqual(self.steps_that_run(resume=False), ["one"])
        self.assertEqual(self.steps_that_run(), [])
        pathlib.Path("new.cc").write_text("2")
        self.assertEqual(self.steps_that_run(), ["one"])

    def test_a_step_with_other_parameters_is_another(self):
        self.make_repository()
        for seconds, ran in (("2", True), ("2", False), ("600", True), ("600", False), ("", True), ("", False)):
            os.environ["FUZZ_SECONDS"] = seconds
            self.assertEqual(self.steps_that_run(variables=["FUZZ_SECONDS"]), ["one"] if ran else [], seconds)

    def test_a_step_that_was_skipped_or_ended_early_has_not_passed_already(self):
        self.make_repository()
        self.assertEqual(self.steps_that_run(), ["one"])
        self.assertEqual(self.steps_that_run(resume=False, says=lambda kept: kept.skip("no such tool") or True), ["one"])
        self.assertEqual(self.steps_that_run(), ["one"])
        with self.assertRaises(ZeroDivisionError):
            self.steps_that_run(resume=False, says=lambda kept: 1 / 0)
        self.assertEqual(self.steps_that_run(), ["one"])
        self.assertEqual(self.steps_that_run(), [])
        file = pathlib.Path("build/check/full/one.json")  # what an older check left does not say whether the step was skipped
        file.write_text(json.dumps({key: value for key, value in json.loads(file.read_text()).items() if key != "skipped"}))
        self.assertEqual(self.steps_that_run(), ["one"])

    def test_the_summary_names_what_was_skipped_and_says_passed_at_the_end_alone(self):
        kept = record.Record("full", False)
        summary = pathlib.Path("build/check/full/summary.md")
        with contextlib.redirect_stdout(io.StringIO()):
            kept.step("format", lambda kept: kept.skip("no clang-format") or True)
        self.assertIn("scripts/check: passed so far, not ended\n", summary.read_text())
        kept.end()
        self.assertIn("scripts/check: passed\n", summary.read_text())
        self.assertIn("- format: skipped: no clang-format\n", summary.read_text())
        self.assertRegex(kept.lines()[0], r"^passed .* format  \(skipped: no clang-format\)$")
        self.assertEqual(kept.skipped_steps(), ["format: no clang-format"])

    def test_what_changed_is_known_or_said_to_be_unknown(self):
        self.assertIsNone(tidy.changed())  # no repository
        self.make_repository()
        self.assertIsNone(tidy.changed())  # no commit before
        self.commit("second.cc")
        self.assertEqual(tidy.changed(), {"second.cc"})
        self.commit("third.h")
        self.assertEqual(tidy.changed(), {"third.h"})
        for branch, commit in (("heads/main", "HEAD~"), ("remotes/origin/main", "HEAD~2")):
            subprocess.run(["git", "update-ref", f"refs/{branch}", commit], check=True)
        pathlib.Path("new.cc").touch()
        self.assertEqual(tidy.changed(), {"third.h", "new.cc"})  # from main
        subprocess.run(["git", "update-ref", "refs/heads/main", "HEAD"], check=True)
        self.assertEqual(tidy.changed(), {"second.cc", "third.h", "new.cc"})  # main from origin/main
        with mock.patch.object(shutil, "which", lambda program: None if program == "git" else program):
            self.assertIsNone(tidy.changed())

    def test_a_header_concerns_the_source_of_its_name(self):
        for name in ("a.cc", "b_test.cc"):
            pathlib.Path(name).touch()
        self.assertEqual(tidy.concerned({"a.h", "b.h", "c.h", "d.cc"}), {"a.h", "b.h", "c.h", "d.cc", "a.cc", "b_test.cc"})

    def test_tidying_without_git_is_skipped_by_name(self):
        kept = record.Record("full", False)
        with mock.patch.object(shutil, "which", lambda program: None if program == "git" else program), mock.patch.object(tidy, "commands", lambda: set()):
            self.assertTrue(tidy.check(kept))
        self.assertEqual(kept.skipped, ["git does not say what has changed"])

    def test_without_a_commit_no_step_is_left_out(self):
        for words in ([], ["init"], ["add", "."]):  # no repository; one whose files it does not know; and one that knows them
            if words:
                subprocess.run(["git", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
            self.assertEqual(record.sources(), "")
            self.assertEqual([self.steps_that_run() for _ in range(2)], [["one"], ["one"]])


def script(name):
    """A script of scripts/ that is written in Python, as a module."""
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), os.path.join(TOP, "scripts", name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def enter_empty_directory(test):
    directory = tempfile.mkdtemp()
    test.addCleanup(shutil.rmtree, directory)
    test.addCleanup(os.chdir, os.getcwd())
    os.chdir(directory)


if __name__ == "__main__":
    unittest.main()
