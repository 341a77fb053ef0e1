"""On a terminal scripts/deps asks before it installs, and obeys the answer. The tests install nothing: apt-get is a stand-in."""
import os
import pty
import subprocess
import tempfile
import unittest

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
STUBS = {
    "dpkg-query": "case \" ${MISSING:-zstd} \" in *\" $4 \"*) ;; *) echo installed ;; esac",
    "apt-cache": "echo '  Candidate: 1'",
    "apt-get": "echo \"apt-get $*, by way of ${https_proxy-no proxy}\" >>\"$LOG\"\nfor word; do [ \"$word\" != \"${BROKEN:-}\" ] || exit 100; done",
    "dpkg": "echo amd64",
    "id": "echo ${USER_ID:-0}",
    # Keeps no environment but what its own command sets. "-n true": whether it would ask for a password.
    "sudo": "[ \"$1\" = -n ] && exit ${SUDO_ASKS:-0}\nexec env -i PATH=\"$PATH\" LOG=\"$LOG\" BROKEN=\"${BROKEN:-}\" \"$@\"",
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

    def installs(self):
        """The packages of each call of apt-get install."""
        with open(self.log) as file:
            return [line.split("Use-Pty=0 ")[1].split(",")[0] for line in file if " install " in line]

    def run_deps(self, answer=None, task="check", **env):
        """With an answer: on a terminal where that is typed. The exit status, and what stood on standard error."""
        command = ["sh", os.path.join(TOP, "scripts", "deps"), task]
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

    def test_a_build_goes_on_without_optional_packages_where_nobody_can_be_asked(self):
        status, text = self.run_deps(task="build", MISSING="clang-19", USER_ID="1000", SUDO_ASKS="1")
        self.assertIn("not installed (no terminal where sudo could ask for a password; what needs them is left out): clang-19", text)
        self.assertEqual((status, self.installed()), (0, False))
        status, text = self.run_deps(task="build", MISSING="clang-19 cmake", USER_ID="1000", SUDO_ASKS="1")
        self.assertIn("run as root: apt-get update && apt-get install --no-install-recommends cmake clang-19", text)
        self.assertEqual((status, self.installed()), (1, False))

    def test_an_optional_package_that_cannot_be_installed_ends_nothing(self):
        status, text = self.run_deps(task="build", MISSING="make libbpf-dev clang-19", BROKEN="clang-19")
        self.assertEqual(status, 0, text)
        self.assertEqual(self.installs(), ["make", "clang-19 libbpf-dev", "clang-19 libbpf-dev", "clang-19", "libbpf-dev"])
        self.assertTrue(text.endswith("not installed (what needs them is left out): clang-19\n"), text)
        self.assertNotEqual(self.run_deps(task="build", MISSING="make", BROKEN="make")[0], 0)

    def test_viewers_are_for_all_checks_alone(self):
        missing = "hotspot kcachegrind xvfb"
        self.assertEqual((self.run_deps(task="check", MISSING=missing)[0], self.installed()), (0, False))
        status, text = self.run_deps(task="all", MISSING=missing)
        self.assertEqual((status, self.installs()), (0, [missing]), text)
        with open(os.path.join(TOP, "scripts", "check")) as file:
            self.assertIn("*\" --all \"*) packages=all ;; *) packages=check", file.read())

    def test_proxies_reach_apt_through_sudo(self):
        status, text = self.run_deps(USER_ID="1000", https_proxy="http://proxy:3128")
        self.assertEqual(status, 0, text)
        with open(self.log) as file:
            self.assertIn(" zstd, by way of http://proxy:3128", file.read())


if __name__ == "__main__":
    unittest.main()
