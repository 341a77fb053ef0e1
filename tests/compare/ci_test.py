"""The shell form of docs/ci.md: a slower program fails the gate, a faster one passes it, and both leave what people and servers read."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

PAGE = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "ci.md")


class Ci(unittest.TestCase):
    """Both builds are fixed_work; ten times the work stands for a slower one."""

    def setUp(self):
        self.directory = tempfile.mkdtemp(dir=p.scratch())
        with open(PAGE, encoding="utf-8") as file:
            page = file.read()
        self.script = re.search(r"```sh\n(.*?)```", page, re.S).group(1)
        limits = re.search(r"\n\n((?:    .*\n)+)", page).group(1)
        with open(os.path.join(self.directory, "limits"), "w", encoding="utf-8") as file:
            file.write(re.sub("(?m)^    ", "", limits))
        for name, turns in (("small", 30), ("large", 300)):
            path = os.path.join(self.directory, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(f'#!/bin/sh\nexec {p.program("fixed_work")} {turns} "$@"\n')
            os.chmod(path, 0o755)

    def compare(self, old, new):
        """Where the host stopped a run its profile is in doubt: a limit that fails still does, one that passes
        is an error then."""
        shell = shutil.which("dash") or "/bin/sh"
        path = os.path.dirname(p.PCTALLY) + ":" + os.environ["PATH"]
        done = subprocess.run([shell, "-c", self.script, "compare.sh", f"./{old}", f"./{new}"], cwd=self.directory,
                              capture_output=True, text=True, env=dict(os.environ, PATH=path))
        suite = xml.parse(os.path.join(self.directory, "diff.xml")).getroot()
        with open(os.path.join(self.directory, "diff.md"), encoding="utf-8") as file:
            return done, suite, file.read()

    def test_a_slower_program_fails(self):
        done, suite, page = self.compare("small", "large")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("3", "3"))
        self.assertTrue(page.startswith("**CPU time rose by "), page)
        self.assertIn("| `total > +5%` |", page)

    def test_a_faster_program_passes(self):
        done, suite, page = self.compare("large", "small")
        in_doubt = "these profiles cannot be relied on (exit 3)\n" in done.stderr
        self.assertEqual(done.returncode, 3 if in_doubt else 0, done.stderr)
        self.assertEqual((suite.get("failures"), suite.get("errors")), ("0", "3" if in_doubt else "0"))
        self.assertIn("CPU time fell by ", page)


if __name__ == "__main__":
    unittest.main()
