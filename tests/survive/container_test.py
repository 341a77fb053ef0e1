"""Programs with another root: pids are the recorder's, and binaries that exist only there still have names."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p


class Container(unittest.TestCase):
    """The container: a pid and a mount namespace, a root of its own on a file system nobody else sees."""

    def setUp(self):
        if os.geteuid() != 0 or shutil.which("unshare") is None:
            self.skipTest("needs root and unshare to make a container")
        self.root = tempfile.mkdtemp(dir=p.scratch())
        inside = (f"mount -t tmpfs none {self.root} && mkdir {self.root}/proc && "
                  f"cp {p.program('spinner_named')} {self.root}/only_inside && cd {self.root} && "
                  f"exec chroot . /only_inside 1 60")
        self.target = subprocess.Popen(["unshare", "-m", "-p", "-f", "--kill-child", "sh", "-c", inside],
                                       stdout=subprocess.PIPE)
        self.target.stdout.readline()  # it runs
        children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.target.pid)], capture_output=True, text=True)
        self.pid = int(children.stdout)

    def tearDown(self):
        if hasattr(self, "target"):
            self.target.kill()
            self.target.communicate()

    def test_attached_from_outside(self):
        path = os.path.join(p.scratch(), "container.pct")
        words = [p.PCTALLY, "record", "-q", "-e", "ring", "-f", "-o", path, "-p", str(self.pid), "--for", "1"]
        self.assertEqual(subprocess.run(words).returncode, 0)
        data = p.report(path)
        p.assert_ledger(self, data)
        self.assertFalse(os.path.exists("/only_inside"))
        self.assertEqual([row["pid"] for row in data["processes"]], [self.pid])
        self.assertGreater(p.share_of(data, "spin_here"), 0.8, data["rows"][:3])
        bare = p.without_names(path, os.path.join(p.scratch(), "bare.pct"))
        os.kill(self.pid, signal.SIGKILL)  # once it is gone its files are out of reach: the names are in the profile
        self.target.wait()
        if p.has_names(path):
            self.assertGreater(p.share_of(p.report(path), "spin_here"), 0.8)
        data = p.report(bare)
        p.assert_ledger(self, data)
        self.assertEqual(p.share_of(data, "spin_here"), 0)
        self.assertTrue(any(warning["id"] == "no-names" for warning in data["warnings"]), data["warnings"])

    def test_whole_machine(self):
        path = os.path.join(p.scratch(), "machine.pct")
        words = [p.PCTALLY, "record", "-q", "-e", "ring", "-f", "-o", path, "-a", "--for", "1"]
        self.assertEqual(subprocess.run(words).returncode, 0)
        data = p.report(path)
        p.assert_ledger(self, data)
        rows = [row for row in data["rows"] if row["function"] == "spin_here" and "only_inside" in row["object"]]
        self.assertTrue(rows, data["rows"][:5])


class Chroot(unittest.TestCase):
    def test_recorded_command_that_changes_its_root(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to change a root")
        root = tempfile.mkdtemp(dir=p.scratch())
        shutil.copy(p.program("spinner_named"), os.path.join(root, "only_inside"))
        data = p.record(["sh", "-c", f"chroot {root} /only_inside 1 0.5 >/dev/null; sleep 0.2; true"], "-e", "ring").report()
        p.assert_ledger(self, data)
        self.assertEqual(data["outside"], 0)
        self.assertGreater(sum(row["share"] for row in data["rows"] if "only_inside" in row["object"]), 0.6)


if __name__ == "__main__":
    p.main()
