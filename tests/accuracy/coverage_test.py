"""Coverage: ticks x period against the CPU time the kernel accounts, 1 to 16 threads, 100 to 4000 Hz, every engine.

Under timer a thread of T seconds gets T/period ticks, rounded: the bound is 2 %. Under ring, where it may observe each
thread alone, the program loses half a period on every CPU a thread ran on, so that the run must be long against threads x
CPUs x period. Where it may observe the machine, and under bpf, a tick finds the program on its CPU or does not: with N ticks
and the program's part p of the machine the ratio's standard deviation is sqrt((1 - p) / N). The bound is 1 % and four of
them: a false alarm in one of 1700 full runs. What the host of a
virtual machine takes meanwhile is allowed for.
"""
import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p


class Coverage(unittest.TestCase):
    def test_ticks_times_period_is_cpu_time(self):
        for engine in p.engines():
            for threads in (1, 4, 16):
                for hertz in (100, 1000, 4000):
                    with self.subTest(engine=engine, threads=threads, hertz=hertz):
                        total = 24 if hertz == 100 and threads == 16 else 8 if hertz == 100 else 3
                        done, data, stolen = p.record_and_stolen(lambda: p.record(
                            [p.program("spinner"), str(threads), str(total / threads)], "-e", engine, "-F", str(hertz)))
                        p.assert_ledger(self, data)
                        ratio = data["sampled_s"] / data["cpu_s"]
                        print(f"{engine:5} {threads:2} threads {hertz:4} Hz: {data['ticks']:6} ticks, "
                              f"{data['sampled_s']:.3f} s of {data['cpu_s']:.3f} s CPU, ratio {ratio:.4f}", flush=True)
                        part = min(1, data["cpu_s"] / (data["wall_s"] * os.cpu_count()))
                        chance = 4 * ((1 - part) / data["ticks"]) ** 0.5 + 0.01 if engine in ("ring", "bpf") else 0
                        self.assertAlmostEqual(ratio, 1, delta=max(0.02, chance) + stolen / data["cpu_s"])
                        self.assertAlmostEqual(data["cpu_s"], done.cpu_s, delta=0.02 * done.cpu_s + 0.02 + stolen)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("chrt"), "needs root and chrt to run beside nobody")
    def test_a_program_of_half_a_period_has_a_tick_every_other_time(self):
        """Where the first tick came a whole period after the start, such programs had none, however often they were recorded."""
        command = ["chrt", "-f", "1", p.program("spinner"), "1", "0.25"]  # no busy machine makes it last a period
        for engine in p.engines("bpf", "ring"):
            with self.subTest(engine=engine):
                self.assertTrue(any(p.record(command, "-e", engine, "-F", "2").report()["ticks"] for _ in range(40)))


if __name__ == "__main__":
    p.main()
