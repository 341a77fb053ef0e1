"""A program in step with 1 ms or 4 ms of the clock, 30 % of whose time goes into phase_a.

ring, trap and bpf must say the true share (which the program measures and prints; 30 % on an idle machine) within 3 points every time.
With about 3,000 ticks an honest random sampler would have a standard deviation of 0.84 points, so each run alone has a false
alarm rate below 0.04 %; the drawn period spreads the ticks over the cycle more evenly than chance, which makes it rarer
still. On a machine so busy that fewer ticks come, the bound is four standard deviations. timer cannot do better than the kernel's tick; its report must say so.
"""
import itertools
import math
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p


class Lockstep(unittest.TestCase):
    def test_ring_trap_and_bpf_report_the_true_share_every_time(self):
        engines = p.engines("ring", "trap", "bpf")
        if not engines:
            self.skipTest("none of the engines ring, trap and bpf is available")
        for engine, cycle in itertools.product(engines, ("1000", "4000")):
            for run in range(p.scale(3)):
                done = p.record([p.program("lockstep"), cycle, "3"], "-e", engine)
                data = done.report()
                share, true = p.share_of(data, "phase_a"), float(done.stdout)
                print(f"{engine}, cycle {cycle} us: phase_a {share:.2%} (true {true:.2%}) of {data['ticks']} ticks", flush=True)
                bound = max(0.03, 4 * math.sqrt(true * (1 - true) / data["ticks"]))
                self.assertAlmostEqual(share, true, delta=bound)

    def test_timer_says_that_it_is_tied_to_the_tick(self):
        for cycle in ("1000", "4000"):
            data = p.record([p.program("lockstep"), cycle, "1"], "-e", "timer").report()
            print(f"timer, cycle {cycle} us: phase_a {p.share_of(data, 'phase_a'):.2%}", flush=True)
            self.assertTrue(any("kernel's" in warning["text"] and "tick" in warning["text"] for warning in data["warnings"]),
                            data["warnings"])


if __name__ == "__main__":
    p.main()
