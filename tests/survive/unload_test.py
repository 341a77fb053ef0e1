"""Libraries loaded and unloaded at one address: ticks go to the one that was mapped then, or to [code since unmapped].

unloader spends 3/4 of its time in plugin.so, 1/4 in plugin_twin.so, by turns, at one address. A share's bounds are five
standard deviations: a false alarm in a million."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

UNMAPPED = "[code since unmapped]"


def ticks_in(data, name):
    return sum(row["ticks"] for row in data["rows"] if os.path.basename(row["object"]) == name)


class Unload(unittest.TestCase):
    def record(self, engine, plugins, *turns):
        if not p.engine_available(engine):
            self.skipTest(f"engine {engine} is not available: pctally engines says why")
        done = p.record([p.program("unloader"), *(p.program(name) for name in plugins), *(turns or ["1.5"])], "-e", engine)
        if done.returncode == 3:
            self.skipTest("the libraries did not come to lie at one address")
        self.assertEqual(done.returncode, 0)
        data = done.report()
        p.assert_ledger(self, data)
        a, b, unknown = (ticks_in(data, name) for name in ("plugin.so", "plugin_twin.so", UNMAPPED))
        print(f"{engine}: {a} in A, {b} in B, {unknown} in {UNMAPPED}, of {data['ticks']}", flush=True)
        return data, a, b, unknown

    def test_ring(self):
        data, a, b, unknown = self.record("ring", ["plugin.so", "plugin_twin.so"])
        self.assertEqual(unknown, 0)
        self.assertAlmostEqual(a / (a + b), 0.75, delta=5 * (0.1875 / (a + b)) ** 0.5 + p.stolen_share(data))

    def test_bpf(self):
        """Unknown is what comes until it is seen that they take turns: in the first 0.1 s, and later where
        the recorder waits for a CPU."""
        with p.Machine() as machine:
            data, a, b, unknown = self.record("bpf", ["plugin.so", "plugin_twin.so"], "4")
        self.assertLess(unknown, 0.15 * data["ticks"])
        self.assertLess(unknown * data["period_ns"] * 1e-9, 0.225 + machine.waited + machine.stolen)
        self.assertAlmostEqual(a / (a + b), 0.75, delta=5 * (0.1875 / (a + b)) ** 0.5 + p.stolen_share(data))

    def test_engines_in_the_program(self):
        """They see that libraries take turns at the recorder's next look, 20 ms later or more."""
        for engine in ("timer", "trap"):
            with self.subTest(engine=engine):
                data, a, b, unknown = self.record(engine, ["plugin.so", "plugin_twin.so"])
                self.assertGreater(unknown, 0.3 * data["ticks"])
                # Until then each keeps at most its own work, three quarters and one; how soon that is, is the machine's.
                self.assertLess(a, 0.75 * (a + b + unknown))
                self.assertLess(b, 0.3 * (a + b + unknown))

    def test_libraries_that_stay_for_a_while_are_named(self):
        """Those of 60 and 180 ms have no name until the recorder's next look: 20 ms later, or a quarter of the time without
        news, 45 ms, and as long as it waits for a CPU. Ten of each are 0.65 s."""
        for engine in ("timer", "trap"):
            with self.subTest(engine=engine):
                with p.Machine() as machine:
                    data, a, b, unknown = self.record(engine, ["plugin.so", "plugin_twin.so"], "2.4", "60")
                bound = 5 * (0.1875 / data["effective_samples"]) ** 0.5 * data["ticks"]
                self.assertLess(a, 0.75 * data["ticks"] + bound)
                self.assertLess(b, 0.25 * data["ticks"] + bound)
                self.assertLess(unknown * data["period_ns"] * 1e-9, 0.65 + machine.waited + machine.stolen)
                if machine.judges(f"{engine}: libraries that stay for a while"):
                    self.assertGreater(a, 0.4 * data["ticks"])
                    self.assertGreater(b, 0.05 * data["ticks"])


if __name__ == "__main__":
    p.main()
