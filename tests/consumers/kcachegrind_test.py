"""kcachegrind itself opens what export --format callgrind writes, on a screen that nobody sees."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

PROGRAMS = ("kcachegrind", "Xvfb", "dbus-run-session", "xwininfo")


class Kcachegrind(unittest.TestCase):
    def setUp(self):
        missing = [program for program in PROGRAMS if shutil.which(program) is None]
        if missing:
            self.skipTest(f"not installed: {', '.join(missing)}")
        self.directory = tempfile.mkdtemp(dir=p.scratch())
        numbers, to = os.pipe()
        self.screen = subprocess.Popen(["Xvfb", "-displayfd", str(to), "-screen", "0", "1200x900x24", "-nolisten", "tcp"], pass_fds=[to],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to)
        with os.fdopen(numbers) as file:
            self.display = ":" + file.readline().strip()
        self.addCleanup(self.end, self.screen)

    @staticmethod
    def end(process):
        process.terminate()
        process.wait()

    def titles(self, path, wanted):
        """Of its windows, once the one wanted is there, or after half a minute."""
        environment = {**os.environ, "HOME": self.directory, "DISPLAY": self.display, "XDG_RUNTIME_DIR": self.directory, "LC_ALL": "C.UTF-8"}
        viewer = subprocess.Popen(["dbus-run-session", "--", "kcachegrind", path], env=environment, start_new_session=True,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            end, titles = time.monotonic() + 30, []
            while time.monotonic() < end and wanted not in titles:
                tree = subprocess.run(["xwininfo", "-root", "-tree"], env=environment, capture_output=True, text=True).stdout
                titles = re.findall(r'"([^"]*KCachegrind)"', tree)
                if viewer.poll() is not None:
                    break
            return titles
        finally:
            os.killpg(viewer.pid, signal.SIGTERM)
            viewer.wait()

    def test_it_opens_the_profile(self):
        """The title names the command, which it has from the file."""
        profile = p.record([p.program("known_shares"), "0.2"]).path
        path = os.path.join(self.directory, "callgrind.out.work")
        subprocess.run([p.PCTALLY, "export", "--format", "callgrind", "-o", path, profile], check=True)
        with open(path) as file:
            command = re.search(r"^cmd: (.*)$", file.read(), re.M).group(1)
        expected = f"{path} [{command}] \u2014 KCachegrind"
        titles = self.titles(path, expected)
        self.assertIn(expected, titles)
        self.assertNotIn("Error \u2014 KCachegrind", titles)

    def test_it_would_say_that_it_cannot(self):
        path = os.path.join(self.directory, "callgrind.out.bad")
        with open(path, "w") as file:
            file.write("no profile\n")
        self.assertIn("Error \u2014 KCachegrind", self.titles(path, "Error \u2014 KCachegrind"))


if __name__ == "__main__":
    p.main()
