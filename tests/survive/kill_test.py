"""kill -9 of the recorder, of the program, of both, at random times: the file opens, counts only grow, nothing more
than stated is missing."""
import os
import random
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p


def wait_until(condition):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.001)  # polls another process's state: there is no event to wait for
    raise AssertionError("nothing happened in a minute")


class Kill(unittest.TestCase):
    runs = p.scale(2)

    def start(self, engine, path):
        recorder = subprocess.Popen([p.PCTALLY, "record", "-q", "-f", "-e", engine, "-o", path, "--",
                                     p.program("spinner"), "2", "20"], stderr=subprocess.DEVNULL)
        wait_until(lambda: os.path.exists(path))
        return recorder, p.command_of(recorder.pid)

    def counted(self, path):
        data = p.report(path)
        p.assert_ledger(self, data)
        return data["counted"]

    def one(self, engine, victims, seed):
        path = os.path.join(p.scratch(), f"{engine}.{'.'.join(victims)}.{seed}.pct")  # an older file stays for a moment
        with p.Machine() as machine:
            recorder, before = self.end(engine, victims, seed, path)
        after = self.counted(path)
        self.assertGreaterEqual(after, before)
        data = p.report(path)
        if "recorder" in victims:
            self.assertTrue(any(warning["id"] == "cut-off" for warning in data["warnings"]), data)
            return
        self.assertEqual(recorder.returncode, -signal.SIGKILL)  # the program's end is ours
        # Two threads: at most one tick each is missing, and what the kernel's tick had not delivered yet; beside others
        # several of its ticks may pass before one falls into the program.
        slack = 0.03 if engine == "ring" else 0.06 if machine.calm else 0.2
        # By ring and bpf a tick finds the program on its CPU or not: four standard deviations.
        chance = data["chance_s"] / 1.96 * 4
        self.assertAlmostEqual(data["unsampled_s"], 0, delta=slack + 0.02 * data["cpu_s"] + chance + machine.stolen)

    def end(self, engine, victims, seed, path):
        """The recorder, ended, and what had been counted before."""
        recorder, child = self.start(engine, path)
        time.sleep(random.Random(seed).uniform(0.0, 0.25))  # the random moment is the test
        before = self.counted(path)
        if "recorder" in victims:
            recorder.kill()
        if "program" in victims:
            os.kill(child, signal.SIGKILL)
        if "program" not in victims:  # the program goes on without its recorder
            time.sleep(0.02)
            os.kill(child, 0)
            os.kill(child, signal.SIGKILL)
        recorder.wait()
        return recorder, before

    def test_kill_at_random_times(self):
        for engine in p.engines():
            for victims in (("recorder",), ("program",), ("recorder", "program")):
                for seed in range(self.runs):
                    with self.subTest(engine=engine, victims=victims, seed=seed):
                        self.one(engine, victims, seed)


if __name__ == "__main__":
    p.main()
