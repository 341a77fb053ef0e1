"""Executables of other users are read by a process without rights: their names are there, and nothing else changes."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

OTHER_USER = 65533


class OtherUsers(unittest.TestCase):
    def setUp(self):
        p.need_other_users(self)
        self.directory = tempfile.mkdtemp(dir=p.scratch())
        self.program = os.path.join(self.directory, "program")
        shutil.copy(p.program("spinner"), self.program)
        os.chown(self.program, OTHER_USER, OTHER_USER)

    def recorded(self):
        done = p.record([self.program, "1", "0.3"])
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.path

    def test_have_their_names_and_lines(self):
        path = self.recorded()
        self.assertGreater(p.share_at_most(p.report(path), "spin_here"), 0.5, "written by record")
        bare = p.without_names(path, os.path.join(self.directory, "bare.pct"))
        for reader in ([], ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"]):
            with self.subTest(reader=reader):
                done = subprocess.run([*reader, p.PCTALLY, "report", "--by", "line", bare], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(done.stdout, r"spin\w*\.[ch]:\d+")
                self.assertNotIn("names are missing", done.stdout)
                self.assertNotIn("another user", done.stdout)

    def test_as_a_plain_user(self):
        os.chmod(p.scratch(), 0o755)
        os.chmod(self.directory, 0o755)
        bare = p.without_names(self.recorded(), os.path.join(self.directory, "bare.pct"))
        os.chmod(bare, 0o644)
        pctally = shutil.copy(p.PCTALLY, self.directory)
        done = subprocess.run([*p.as_user(), pctally, "report", bare],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("spin_here", done.stdout)

    def test_what_cannot_be_read_is_said(self):
        """No process may be started: nothing reads the file, and the report says so."""
        bare = p.without_names(self.recorded(), os.path.join(self.directory, "bare.pct"))
        os.chmod(p.scratch(), 0o755)
        os.chmod(self.directory, 0o755)
        os.chmod(bare, 0o644)
        pctally = shutil.copy(p.PCTALLY, self.directory)
        done = subprocess.run(["prlimit", "--nproc=0:0", *p.as_user(65531), pctally,
                               "report", bare], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("spin_here", done.stdout)
        self.assertIn("another user's file", done.stdout)


if __name__ == "__main__":
    p.main()
