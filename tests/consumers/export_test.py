"""Each format of pctally export is read by the tool it is for, and adds up to the profile's ticks."""
import csv
import gzip
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

    def test_callers_are_read_by_go_tool_pprof(self):
        """Cumulative figures of pprof are the totals of report --sort total, of functions in one piece."""
        self.need("go")
        if not p.engine_available("ring") or not os.path.exists(p.program("known_paths")):
            self.skipTest("call paths need engine ring and x86-64")
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

    def test_folded_adds_up(self):
        with open(self.export("folded")) as file:
            self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in file), self.data["ticks"])

    def test_callgrind_is_read_by_callgrind_annotate(self):
        self.need("callgrind_annotate")
        path = self.export("callgrind", "--no-lines")
        done = subprocess.run(["callgrind_annotate", "--threshold=100", path], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout.replace(",", ""), rf"(?m)^ *{self.data['ticks']} .*PROGRAM TOTALS")

    def test_speedscope_adds_up(self):
        with open(self.export("speedscope")) as file:
            run = json.load(file)["profiles"][0]
        self.assertEqual(sum(run["weights"]), self.data["ticks"] * self.data["period_ns"])

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
