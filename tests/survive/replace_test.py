"""An older profile at the same path: it is lost only to a recording that runs, and nothing of it counts into that."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p


class Replace(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(dir=p.scratch())
        self.path = os.path.join(self.directory, "a.pct")

    def pctally(self, *words, limit=None):
        words = [p.PCTALLY, *words]
        if limit is not None:
            words = ["prlimit", f"--fsize={limit}:{limit}", *words]
        return subprocess.run(words, capture_output=True, text=True, cwd=self.directory)

    def traced(self, *words, options):
        """Under strace, which may make system calls fail. Returns its lines, too."""
        log = os.path.join(self.directory, "trace")
        if shutil.which("strace") is None or subprocess.run(["strace", "-o", log, "true"], capture_output=True).returncode != 0:
            self.skipTest("strace is not installed, or does not work here")
        done = subprocess.run(["strace", "-f", "-o", log, *options, p.PCTALLY, *words], capture_output=True, text=True,
                              cwd=self.directory)
        with open(log, encoding="utf-8") as file:
            lines = file.read()
        os.unlink(log)
        return done, lines

    def older(self):
        self.assertEqual(self.pctally("record", "-q", "-o", self.path, "--", "true").returncode, 0)
        return self.content()

    def content(self):
        with open(self.path, "rb") as file:
            return file.read()

    def test_it_stays_where_the_new_one_cannot_be_made_or_its_command_not_run(self):
        before = self.older()
        script = os.path.join(self.directory, "bad")
        with open(script, "w") as file:
            file.write("#!/nonexistent\n")
        os.chmod(script, 0o755)
        for engine in p.engines():
            failed = self.pctally("record", "-f", "-e", engine, "-o", self.path, "--", script)
            self.assertEqual(failed.returncode, 127, failed)
            self.assertEqual(self.content(), before)
        self.assertEqual(self.pctally("record", "-q", "-o", "b.pct", "--", "true").returncode, 0)
        for words in (["record", "-f", "-o", self.path, "--", "true"], ["snapshot", "-f", "-o", self.path, "b.pct"]):
            failed = self.pctally(*words, limit=2048)
            self.assertEqual(failed.returncode, 125, failed)
            self.assertEqual(self.content(), before)
        self.assertEqual(sorted(os.listdir(self.directory)), ["a.pct", "b.pct", "bad"])

    def test_it_stays_until_the_bytes_of_the_new_one_are_on_the_disk(self):
        before = self.older()
        calls = ["-e", "trace=fsync,?rename,?renameat,renameat2"]
        for words in (["merge", "-q", "-f", "-o", "a.pct", "a.pct"], ["archive", "-q", "a.pct"]):
            done, lines = self.traced(*words, options=[*calls, "-e", "inject=fsync:error=EIO"])
            self.assertEqual((done.returncode, done.stdout), (125, ""), done)
            self.assertRegex(done.stderr, r"\Apctally: cannot write a.pct: Input/output error; [^\n]*\n\Z")
            self.assertNotIn("rename", lines)
            self.assertEqual(self.content(), before)
            self.assertEqual(os.listdir(self.directory), ["a.pct"])
        for words in (["archive", "-q", "a.pct"], ["merge", "-q", "-f", "-o", "a.pct", "a.pct"]):
            done, lines = self.traced(*words, options=calls)
            self.assertEqual(done.returncode, 0, done)
            self.assertEqual(re.findall(r"fsync|rename", lines), ["fsync", "rename"], lines)

    def test_a_file_system_without_locks_is_named(self):
        """Without them nobody could tell a recording from an abandoned one, nor keep its file from being replaced."""
        for inject in ("inject=flock:error=ENOLCK", "inject=flock:error=EOPNOTSUPP"):
            done, _ = self.traced("record", "-o", "a.pct", "--", "echo", "ran", options=["-e", inject])
            self.assertEqual((done.returncode, done.stdout), (125, ""), done)
            self.assertRegex(done.stderr, r"\Apctally: cannot lock a.pct: (No locks available|Operation not supported); "
                                          r"name another place with -o\n\Z")
            self.assertEqual(os.listdir(self.directory), [])

    def test_a_recording_that_cannot_have_the_name_keeps_another(self):
        """Its temporary name is that of a left-over, which the next recording removes."""
        for engine in p.engines():
            self.older()
            done, _ = self.traced("record", "-q", "-f", "-e", engine, "-o", "a.pct", "--", "true",
                                  options=["-e", "inject=?rename,?renameat:error=EACCES:when=1"])
            self.assertEqual(done.returncode, 0, done)
            self.assertRegex(done.stderr, r"cannot create a.pct: Permission denied; the profile is (.a.pct.part\n.*the profile is )?a.1.pct")
            self.assertEqual(sorted(os.listdir(self.directory)), ["a.1.pct", "a.pct"])
            p.report(os.path.join(self.directory, "a.1.pct"))
            os.unlink(os.path.join(self.directory, "a.1.pct"))
            os.unlink(self.path)

    def test_what_is_no_profile_is_not_replaced(self):
        self.older()
        os.rename(self.path, os.path.join(self.directory, "b.pct"))
        with open(self.path, "w") as file:
            file.write("precious")
        for words in (["record", "-f", "-o", self.path, "--", "echo", "ran"], ["snapshot", "-f", "-o", self.path, "b.pct"]):
            refused = self.pctally(*words)
            self.assertEqual((refused.returncode, refused.stdout), (125, ""), refused)
            self.assertIn("is not a profile file: it is not replaced", refused.stderr)
            self.assertEqual(self.content(), b"precious")

    def test_an_empty_file_and_an_older_profile_are_replaced(self):
        open(self.path, "w").close()
        for _ in range(2):
            before = self.content()
            self.assertEqual(self.pctally("record", "-q", "-f", "-o", self.path, "--", "true").returncode, 0)
            self.assertNotEqual(self.content(), before)
        self.assertEqual(os.listdir(self.directory), ["a.pct"])

    def test_what_a_killed_recorder_left_is_removed(self):
        with open(os.path.join(self.directory, ".a.pct.part"), "w") as file:
            file.write("half a file")
        self.older()
        self.assertEqual(os.listdir(self.directory), ["a.pct"])

    def test_a_recording_that_goes_on_is_not_replaced(self):
        words = [p.PCTALLY, "record", "-q", "-o", self.path, "--", "sh", "-c", "echo ready; read go"]
        recorder = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.assertEqual(recorder.stdout.readline(), "ready\n")
        refused = self.pctally("record", "-f", "-o", self.path, "--", "echo", "ran")
        recorder.communicate("go\n")
        self.assertEqual((refused.returncode, refused.stdout), (125, ""), refused)
        self.assertIn("is being recorded", refused.stderr)

    def test_what_an_earlier_recording_left_running_is_not_in_the_next(self):
        go, done = (os.path.join(self.directory, name) for name in ("go", "done"))
        os.mkfifo(go)
        os.mkfifo(done)
        left = f"(read x < {go}; {p.program('spinner')} 1 0.2; echo > {done}) > /dev/null 2>&1 &"
        for engine in p.engines("timer", "trap"):
            for script, force in ((left, "-f"), (f"echo > {go}; read x < {done}; {p.program('fixed_work')} 50", "-f")):
                made = self.pctally("record", "-q", force, "-e", engine, "-o", self.path, "--", "sh", "-c", script)
                self.assertEqual(made.returncode, 0, made)
            rows = p.report(self.path, "--by", "process")["rows"]
            self.assertNotIn("spinner", [row["process"].split()[0] for row in rows], rows)


if __name__ == "__main__":
    p.main()
