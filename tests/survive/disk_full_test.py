"""A full disk, or ulimit -f, is an error before the start, never a SIGBUS or SIGXFSZ during the run."""
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p


class DiskFull(unittest.TestCase):
    def setUp(self):
        self.mount = os.path.join(p.scratch(), "small")
        os.makedirs(self.mount, exist_ok=True)

    def inside(self, megabytes, script):
        """Runs a shell script in a mount namespace of its own with a tmpfs of that size at self.mount."""
        own = ["-m"] if os.geteuid() == 0 else ["-m", "-r"]
        words = ["unshare", *own, "sh", "-c",
                 f"mount -t tmpfs -o size={megabytes}M none {self.mount} || exit 99\n{script}"]
        result = subprocess.run(words, capture_output=True, text=True)
        if result.returncode == 99 or "unshare failed" in result.stderr:
            self.skipTest("no mount namespace can be made here")
        return result

    def test_full_before_the_start_is_a_clear_error(self):
        result = self.inside(1, f"{p.PCTALLY} record -o {self.mount}/a.pct -- echo ran; echo rc=$?; ls {self.mount}")
        self.assertIn("rc=125", result.stdout)
        self.assertNotIn("ran", result.stdout)
        self.assertIn("no room", result.stderr)
        self.assertNotIn("a.pct", result.stdout)

    def test_a_file_beyond_ulimit_f_is_a_clear_error(self):
        directory = os.path.join(p.scratch(), "limited")
        os.makedirs(directory)
        words = ["prlimit", "--fsize=1024:1024", p.PCTALLY, "record", "-o", os.path.join(directory, "a.pct")]
        targets = [["--", "echo", "ran"]]
        if p.engine_available("ring"):
            targets.append(["-e", "ring", "-p", str(os.getpid()), "--for", "0.1"])
        else:
            print("skipped: -p (engine ring is not available here: pctally engines says why)")
        for target in targets:
            result = subprocess.run([*words, *target], capture_output=True, text=True)
            self.assertEqual((result.returncode, result.stdout), (125, ""), result)
            self.assertRegex(result.stderr, r"\Apctally: no room for the profile: [^\n]*ulimit -f[^\n]*; raise it\n\Z")
            self.assertEqual(os.listdir(directory), [])

    def test_a_report_or_copy_beyond_ulimit_f_is_a_clear_error(self):
        path, out = p.record([p.program("spinner"), "1", "0.1"]).path, os.path.join(p.scratch(), "limited.out")
        limited = ["prlimit", "--fsize=64:64", p.PCTALLY]
        with open(out, "w") as file:
            for words in (["report", path], ["report", "--json", path], ["engines", "--json"]):
                result = subprocess.run([*limited, *words], stdout=file, stderr=subprocess.PIPE, text=True)
                self.assertEqual(result.returncode, 125, result)
                self.assertRegex(result.stderr, r"\Apctally: cannot write [^\n]*File too large\n\Z")
        os.unlink(out)
        result = subprocess.run([*limited, "snapshot", "-o", out, path], capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stdout), (125, ""), result)
        self.assertRegex(result.stderr, r"\Apctally: [^\n]*\n\Z")
        self.assertFalse(os.path.exists(out))

    def test_full_during_the_run_harms_nobody(self):
        for engine in p.engines():
            result = self.inside(3, f"""
                {p.PCTALLY} record -q -F 20000 -e {engine} -o {self.mount}/a.pct -- sh -c '
                  head -c 10M /dev/zero > {self.mount}/filler 2>/dev/null
                  {p.program("spinner")} 2 0.3; {sys.executable} -c "sum(i*i for i in range(2000000))"; echo lived'
                echo rc=$?
                {p.PCTALLY} report --json {self.mount}/a.pct > {p.scratch()}/full.json; echo report=$?""")
            self.assertIn("lived", result.stdout, result.stderr)
            self.assertIn("rc=0", result.stdout)
            self.assertIn("report=0", result.stdout)


if __name__ == "__main__":
    p.main()
