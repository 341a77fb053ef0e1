"""What scripts/check says at its end about tests that were skipped, or judged in part only."""
import contextlib
import io
import os
import shutil
import sys
import tempfile
import types
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../tools/check"))
import ctest_results
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

    def test_rounds_go_on_where_they_were_cut_short(self):
        directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, directory)
        first, later, changed = (types.SimpleNamespace(path=lambda name, ending: os.path.join(directory, name + ending), sources=sources, resume=resume)
                                 for sources, resume in (("a1", False), ("a1", True), ("b2", True)))
        test_runs.Rounds(first).end(False, self.results)
        self.assertEqual(test_runs.Rounds(later).ended, [{"passed": False, "failed": ["survive.inside"], "unjudged": self.results.unjudged}])
        self.assertEqual([test_runs.Rounds(other).ended for other in (first, changed)], [[], []])


if __name__ == "__main__":
    unittest.main()
