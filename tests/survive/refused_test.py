"""Where the kernel or a sandbox refuses perf_event_open, record falls back, says so in one line, and works."""
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p


def refused(error, words):
    return subprocess.run([p.program("no_perf"), error, p.PCTALLY, *words], capture_output=True, text=True)


class Refused(unittest.TestCase):
    def test_record_takes_the_next_engine_and_says_why(self):
        for error in ("EPERM", "EACCES", "ENOSYS"):
            path = os.path.join(p.scratch(), error + ".pct")
            with p.Machine() as machine:
                result = refused(error, ["record", "-v", "-f", "-o", path, "--", p.program("spinner"), "2", "0.4"])
            self.assertEqual(result.returncode, 0, result.stderr)
            lines = result.stderr.splitlines()
            self.assertTrue(lines[0].startswith("pctally: recording user code only"), lines[0])
            self.assertTrue(lines[1].startswith("pctally: engine timer, "), lines[1])
            self.assertRegex(lines[2], f"pctally: not taken: .*{error}")
            self.assertTrue(lines[3].startswith("pctally: timer cannot see: "), lines[3])
            data = p.report(path)
            p.assert_ledger(self, data)
            self.assertEqual(data["engine"], "timer")
            self.assertGreater(p.share_at_most(data, "spin_here"), 0.75)
            if machine.judges(f"two threads by timer, after {error}"):
                self.assertGreater(p.sampled_at_most(data), 0.93 * data["cpu_s"])

    def test_engines_says_why_and_what_to_do(self):
        result = refused("EPERM", ["engines", "--json"])
        rows = {row["engine"]: row for row in json.loads(result.stdout)}
        self.assertFalse(rows["bpf"]["available"])
        self.assertFalse(rows["ring"]["available"])
        self.assertIn("EPERM", rows["ring"]["reason"])
        self.assertIn("seccomp=unconfined, or --cap-add SYS_ADMIN", rows["ring"]["remedy"])

    def test_a_target_that_no_engine_can_observe_is_refused_in_a_whole_line(self):
        path = os.path.join(p.scratch(), "a.pct")
        for target in (["-a"], ["-p", str(os.getpid())]):
            result = refused("EPERM", ["record", *target, "--for", "0.1", "-o", path])
            self.assertEqual((result.returncode, os.path.exists(path)), (125, False), result)
            self.assertEqual(result.stderr, "pctally: cannot attach: this container forbids it; "
                             "start the program under pctally record -- CMD instead\n")

    def test_asking_for_a_refused_engine_fails_with_the_remedy(self):
        result = refused("EPERM", ["record", "-e", "ring", "-o", os.path.join(p.scratch(), "r.pct"), "true"])
        self.assertEqual(result.returncode, 125)
        self.assertIn("EPERM", result.stderr)
        self.assertIn("seccomp", result.stderr)
        self.assertFalse(os.path.exists(os.path.join(p.scratch(), "r.pct")))


if __name__ == "__main__":
    p.main()
