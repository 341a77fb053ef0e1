"""A dialect's profile in storms: on and off under load, fork, vfork and exec, threads that live for a moment.

PCTALLY_RUNS=10 gives the full figures of docs/dialects.md: 10 runs of 10,000 pairs, 200 chains, a million threads.
"""
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

STORM = p.program("dialect_storm")
RUNS = p.scale(1)
FULL = RUNS >= 10


def storm(*words):
    result = subprocess.run([STORM, *map(str, words)], capture_output=True, text=True)
    if result.returncode != 0:
        raise AssertionError(f"{words}: status {result.returncode}: {result.stderr}")
    print(*words, result.stdout.strip(), flush=True)
    return json.loads(result.stdout)


class DialectStorm(unittest.TestCase):
    def test_on_and_off_while_four_threads_spin(self):
        for _ in range(RUNS):
            result = storm("pairs", 10000 if FULL else 600)
            self.assertEqual((result["refused"], result["late"], result["unaccounted"]), (0, 0, 0))
            self.assertGreater(result["ticks"], 0, "the clock did tick")

    def test_no_program_dies_of_fork_vfork_or_exec(self):
        result = storm("chains", 200 if FULL else 10)
        self.assertEqual(result["died"], 0)
        self.assertEqual(result["silent"], 0, "a process of a fork that does not count")

    def test_exec_turns_it_off(self):
        for _ in range(200 if FULL else 5):
            result = storm("exec-self")
            self.assertEqual((result["timers"], result["ticks"]), (0, 0))

    def churn(self, life_us, threads, untimed=0.05):
        """The clock is one of CPU time, so that ticks * period is the CPU time but for the edges; no statistics. What the
        kernel needs to end a thread (about 20 us) is no time of that thread's timer: the share `untimed`. Nor are there
        ticks of what the host takes while a thread ends."""
        with p.Machine() as machine:
            result = storm("churn", life_us, threads)
        self.assertEqual(result["in_counters"], result["counted"])
        self.assertEqual(result["ticks"], result["counted"] + result["outside"] + result["full"] + result["lost"])
        self.assertEqual(result["lost"] + result["full"] + result["outside"], 0)
        self.assertAlmostEqual(result["ticks"] * 0.01, result["cpu_s"], delta=untimed * result["cpu_s"] + 0.05 + machine.stolen)

    def test_threads_that_live_300_us(self):
        self.churn(300, 100000 if FULL else 3000, untimed=0.15)

    def test_threads_that_live_2_ms(self):
        self.churn(2000, 10000 if FULL else 500)

    def test_threads_that_live_10_ms(self):
        self.churn(10000, 2000 if FULL else 100)

    def test_threads_that_do_nothing(self):
        self.churn(0, 1000000 if FULL else 20000, untimed=0.4)


if __name__ == "__main__":
    p.main()
