"""On a terminal scripts/deps asks before it installs, and obeys the answer. The tests install nothing: apt-get is a stand-in."""
import os
import pty
import subprocess
import tempfile
import unittest

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
STUBS = {
    "dpkg-query": "[ \"$4\" != zstd ] && echo installed",  # all is here but one
    "apt-cache": "echo '  Candidate: 1'",
    "apt-get": "echo apt-get \"$@\" >>\"$LOG\"",
    "dpkg": "echo amd64",
    "id": "echo 0",
}


class Deps(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.log = os.path.join(directory.name, "log")
        self.env = {"PATH": directory.name + ":" + os.environ["PATH"], "LOG": self.log}
        for name, body in STUBS.items():
            path = os.path.join(directory.name, name)
            with open(path, "w") as file:
                file.write(f"#!/bin/sh\n{body}\n")
            os.chmod(path, 0o755)

    def installed(self):
        return os.path.exists(self.log)

    def run_deps(self, answer=None, **env):
        """With an answer: on a terminal where that is typed. The exit status, and what stood on standard error."""
        command = ["sh", os.path.join(TOP, "scripts", "deps"), "check"]
        env = {**self.env, **env}
        if answer is None:
            done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            return done.returncode, done.stderr
        master, slave = pty.openpty()
        with subprocess.Popen(command, env=env, stdin=slave, stderr=slave) as process:
            os.close(slave)
            os.write(master, answer)
            text = b""
            try:
                while piece := os.read(master, 4096):
                    text += piece
            except OSError:  # how a terminal ends
                pass
        os.close(master)
        return process.returncode, text.decode()

    def test_on_a_terminal_it_asks(self):
        status, text = self.run_deps(b"n\n")
        self.assertIn("install as root: zstd [Y/n]", text)
        self.assertEqual((status, self.installed()), (1, False))

    def test_yes_installs(self):
        for answer in (b"y\n", b"\n"):
            status, text = self.run_deps(answer)
            self.assertEqual((status, self.installed()), (0, True), text)
            os.remove(self.log)

    def test_without_a_terminal_it_does_what_it_was_started_for(self):
        status, text = self.run_deps()
        self.assertNotIn("[Y/n]", text)
        self.assertEqual((status, self.installed()), (0, True))

    def test_the_answer_may_be_given_before(self):
        status, text = self.run_deps(b"", DEPS="yes")
        self.assertNotIn("[Y/n]", text)
        self.assertEqual((status, self.installed()), (0, True))
        os.remove(self.log)
        self.assertEqual(self.run_deps(DEPS="no")[0], 1)
        self.assertFalse(self.installed())


if __name__ == "__main__":
    unittest.main()
