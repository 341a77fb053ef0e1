"""pctally diff and plan on real recordings: what they find, what they print, and their exit statuses."""
import json
import os
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
            done = p.record([p.program("fixed_work"), work], "-e", engine, path=os.path.join(cls.directory, name + ".pct"))
            assert done.returncode == 0, done.stderr

    def run_diff(self, *words, status=0):
        done = pctally("diff", *words, cwd=self.directory)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

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

    def test_limits_decide_the_exit_status(self):
        self.assertIn("FAIL", self.run_diff("--fail-if", "total > +50%", "a.pct", "c.pct", status=1).stdout)
        self.assertIn("PASS", self.run_diff("--fail-if", "total > +9000%", "a.pct", "c.pct").stdout)
        self.assertIn("FAIL", self.run_diff("--fail-if", "seconds(work) > 1ms", "a.pct", "b.pct", status=1).stdout)
        self.assertIn("UNDECIDED", self.run_diff("--fail-if", "seconds(work) > +0ms", "a.pct", "a.pct", status=3).stdout)
        self.run_diff("--fail-if", "total > +50%", "--fail-if", "total > +9000%", "a.pct", "c.pct", status=1)

    def test_a_limit_on_nothing_never_passes(self):
        done = self.run_diff("--fail-if", "share(wrok) > +2pp", "a.pct", "b.pct", status=2)
        self.assertIn("neither side has a row 'wrok'", done.stderr)

    def test_a_budget_file_holds_limits(self):
        with open(os.path.join(self.directory, "budget"), "w") as file:
            file.write("# the loop\nseconds(work) > +9000%\ntotal > +50%\n")
        done = self.run_diff("--budget", "budget", "a.pct", "c.pct", status=1)
        self.assertIn("1 limit exceeded (exit 1)", done.stderr)
        self.run_diff("--budget", "no such file", "a.pct", "c.pct", status=4)

    def test_junit_is_xml_and_markdown_has_its_table(self):
        done = self.run_diff("--junit", "--fail-if", "seconds(work) > +50%", "a.pct", "c.pct", status=1)
        suite = xml.fromstring(done.stdout)
        self.assertEqual((suite.tag, suite.get("tests"), suite.get("failures")), ("testsuite", "1", "1"))
        self.assertIn("| `work` | more |", self.run_diff("--markdown", "a.pct", "c.pct").stdout)

    def test_a_damaged_profile_never_passes_a_limit(self):
        with open(os.path.join(self.directory, "c.pct"), "rb") as file:
            data = file.read()
        with open(os.path.join(self.directory, "cut.pct"), "wb") as file:
            file.write(data[:len(data) - 4096])
        done = pctally("diff", "--fail-if", "total > +9000%", "a.pct", "cut.pct", cwd=self.directory)
        self.assertNotEqual(done.returncode, 0, done.stdout)

    def test_wrong_command_lines(self):
        self.assertIn("two profiles are compared", self.run_diff("a.pct", status=2).stderr)
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


if __name__ == "__main__":
    unittest.main()
