"""An unprivileged user at kernel.perf_event_paranoid from -1 to 3: the engine chosen, and what record says about it.

Sets the machine's own setting for a moment and puts it back; needs root for that. A kernel of Debian's or Ubuntu's refuses
perf_event_open at 3, the mainline does not: the test takes what the kernel answers, and asks whether pctally tells it.
"""
import json
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

SETTING = "/proc/sys/kernel/perf_event_paranoid"
NOBODY = p.as_user()
# Of a user without other recordings: the memory they lock counts together.
LOCKS_NOTHING = ["prlimit", "--memlock=0:0", *p.as_user(60000 + os.getpid() % 5000)]


def reachable_by_nobody(path):
    return subprocess.run([*NOBODY, "test", "-x", path], capture_output=True).returncode == 0


@unittest.skipUnless(os.geteuid() == 0 and os.access(SETTING, os.W_OK), "needs root to set kernel.perf_event_paranoid")
@unittest.skipUnless(shutil.which("setpriv"), "needs setpriv(1)")
class Permission(unittest.TestCase):
    def setUp(self):
        if not reachable_by_nobody(p.PCTALLY):
            self.skipTest("the build directory is closed to other users")
        with open(SETTING) as file:
            before = file.read()
        try:
            self.set(before)
        except OSError as error:
            self.skipTest(f"kernel.perf_event_paranoid cannot be set: {error}")
        self.addCleanup(self.set, before)
        self.directory = os.path.join(p.scratch(), "open")
        os.makedirs(self.directory, exist_ok=True)
        os.chmod(self.directory, 0o777)
        os.chmod(p.scratch(), 0o755)

    @staticmethod
    def set(value):
        with open(SETTING, "w") as file:
            file.write(str(value))

    def ladder(self):
        result = subprocess.run([*NOBODY, p.PCTALLY, "engines", "--json"], capture_output=True, text=True)
        return json.loads(result.stdout)

    def record(self, name):
        path = os.path.join(self.directory, name)
        result = subprocess.run([*NOBODY, p.PCTALLY, "record", "-v", "-o", path, "--", p.program("spinner"), "1", "0.5"],
                                capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        os.chown(path, 0, 0)
        data = p.report(path)
        p.assert_ledger(self, data)
        return data, result.stderr

    def test_every_level(self):
        for level in (-1, 0, 1, 2, 3):
            with self.subTest(paranoid=level):
                self.set(level)
                probes = {probe["engine"]: probe for probe in self.ladder()}
                first = next(name for name, probe in probes.items() if probe["available"])
                data, said = self.record(f"level{level}.pct")
                print(f"paranoid {level}: {first}: {said.splitlines()[0]}", flush=True)
                self.assertEqual(data["engine"], first)
                self.assertFalse(probes["bpf"]["available"])
                self.assertIn("CAP_BPF", probes["bpf"]["reason"] + probes["bpf"]["remedy"])
                if probes["ring"]["available"]:
                    self.assertEqual(first, "ring")
                    self.assertEqual("kernel mode" in probes["ring"]["misses"], level >= 2)
                    self.assertEqual("half a period" in probes["ring"]["misses"], level >= 1)
                    self.assertIn(f"ring cannot see: {probes['ring']['misses']}\n", said)
                else:
                    self.assertGreaterEqual(level, 3)
                    self.assertIn(f"kernel.perf_event_paranoid = {level}", probes["ring"]["reason"])
                    self.assertIn("sysctl kernel.perf_event_paranoid=2", probes["ring"]["remedy"])
                    self.assertRegex(said, r"pctally: not taken: .*ring: ")

    def test_memory_that_is_refused_is_not_kernel_mode(self):
        """Two rings of a CPU take more than a user may lock without a limit of his own: the last ones are smaller, and no more."""
        self.set(1)
        path = os.path.join(self.directory, "little.pct")
        done = subprocess.run([*LOCKS_NOTHING, p.PCTALLY, "record", "-v", "-e", "ring", "-o", path, "--",
                               p.program("spinner"), "1", "0.1"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("ring cannot see: ", done.stderr)
        self.assertNotIn("kernel mode", done.stderr)

    def test_the_whole_machine_needs_permission(self):
        for level, allowed in ((-1, True), (2, False)):
            self.set(level)
            path = os.path.join(self.directory, f"all{level}.pct")
            result = subprocess.run([*NOBODY, p.PCTALLY, "record", "-a", "--for", "0.3", "-o", path],
                                    capture_output=True, text=True)
            print(f"paranoid {level}, -a: {result.returncode}: {result.stderr.strip()}", flush=True)
            self.assertEqual(result.returncode, 0 if allowed else 125)
            if not allowed:
                self.assertEqual(len(result.stderr.splitlines()), 1)
                self.assertIn("-a needs root, CAP_PERFMON or perf_event_paranoid 0", result.stderr)
                self.assertFalse(os.path.exists(path))


if __name__ == "__main__":
    p.main()
