"""Accuracy: twelve functions whose shares are known, 40 % to 0.2 %, recorded again and again.

The root mean square of the errors is compared with what a multinomial sample of the same effective size would show.
With 20 runs of twelve functions the ratio of a perfect sampler has a standard deviation below 0.08, so the bound of
1.35 gives a false alarm less than once in 100,000 runs of this test; the share of true values inside the printed 95 %
intervals (240 of them, a few functions dependent) falls below 0.88 less than once in 10,000.
PCTALLY_RUNS=N repeats N times.
"""
import math
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

TRUE = dict(zip((f"share_{i:02}" for i in range(12)), (.4, .2, .12, .08, .06, .05, .035, .025, .015, .008, .005, .002)))


def one_run(engine, seed):
    """Squared error, its expectation, intervals that hold the truth, over the twelve functions."""
    data = p.record([p.program("known_shares"), "1.5", str(seed)], "-e", engine).report()
    n = data["effective_samples"]
    rows = {row["function"]: row for row in data["rows"]}
    error = expected = inside = 0
    for function, true in TRUE.items():
        row = rows.get(function)
        share = row["share"] if row else 0
        error += (share - true) ** 2
        expected += true * (1 - true) / n
        inside += row is not None and row["low"] <= true <= row["high"]
        inside += row is None and true <= 3.8 / n  # not listed: zero ticks, whose interval ends there
    return error, expected, inside


class KnownShares(unittest.TestCase):
    def test_errors_are_those_of_honest_sampling(self):
        runs = p.scale(20)
        for engine in p.engines():
            error = expected = inside = 0
            for seed in range(runs):
                e, x, i = one_run(engine, seed)
                error, expected, inside = error + e, expected + x, inside + i
            ratio = math.sqrt(error / expected)
            held = inside / (12 * runs)
            print(f"{engine}: {runs} runs, RMS error {ratio:.3f} of the multinomial's, {held:.1%} inside the intervals",
                  flush=True)
            self.assertLess(ratio, 1.35, engine)
            self.assertGreater(held, 0.88, engine)


if __name__ == "__main__":
    p.main()
