"""Mozilla's own loader, npm's @firefox-devtools/profiler-cli, reads what export --format firefox writes, to the tick. It needs Node
24, which npm has too; both are installed into a directory of the test's own."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p


class Firefox(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # with scripts: npm's package "node" fetches the program for this machine by one
        cls.directory = p.install_from_npm("firefox", os.path.join(".bin", "profiler-cli"))
        programs = os.path.join(cls.directory, "node_modules", ".bin")
        cls.env = {**os.environ, "HOME": cls.directory, "PATH": programs + os.pathsep + os.environ["PATH"]}

    def ask(self, *words):
        done = subprocess.run(["profiler-cli", *words], capture_output=True, text=True, env=self.env, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def load(self, profile, *options):
        out = os.path.join(tempfile.mkdtemp(dir=self.directory), "firefox.json")
        subprocess.run([p.PCTALLY, "export", "--format", "firefox", "-o", out, *options, profile], check=True)
        self.addCleanup(subprocess.run, ["profiler-cli", "stop", "--all"], env=self.env, capture_output=True)
        self.ask("load", out)

    def test_totals_of_call_paths(self):
        p.need_call_paths(self)
        profile = p.record([p.program("known_paths"), "recursion", "0.4"], "-e", "ring", "-g").path
        self.load(profile)
        said = self.ask("thread", "functions")
        rows = {row["function"]: row for row in p.report(profile)["rows"]}
        for function in ("work", "recursion"):
            self.assertRegex(said, rf"{function}\b.*\b{100 * rows[function]['total']:.1f}%", said)

    def test_each_thread_has_its_own_ticks(self):
        if not p.engine_available("ring"):
            self.skipTest("scopes of threads need engine ring")
        profile = p.record([p.program("named_threads"), "400"], "-e", "ring", "-g", "--scope", "thread").path
        self.load(profile, "--no-lines")  # what is inlined into a function is the function's own there
        ticks = {row["thread"]: row["ticks"] for row in p.report(profile, "--by", "thread,function")["rows"] if row["function"] == "spin_for"}
        threads = dict(re.findall(r"(t-\d+): (\w+) \[", self.ask("profile", "info")))
        self.assertLessEqual({"alpha", "beta", "gamma"}, set(threads.values()))
        for handle, name in threads.items():
            if name in ticks:
                self.assertRegex(self.ask("thread", "functions", "--thread", handle), rf"!spin_for - self: {ticks[name]} \(", name)


if __name__ == "__main__":
    p.main()
