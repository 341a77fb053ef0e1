"""A text of 225 MiB, as browsers have: its directory of 3.6 MB is larger than a new profile file."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p


class HugeText(unittest.TestCase):
    def test_has_its_ticks(self):
        for engine in p.engines("bpf", "ring", "timer", "trap"):
            with self.subTest(engine=engine):
                name = os.path.join(p.scratch(), "big.bin")
                done = p.record([p.program("big_text"), "1", "225", name], "-e", engine)
                os.unlink(name)
                if done.returncode == 77:
                    self.skipTest("no code for this machine")
                data = done.report()
                p.assert_ledger(self, data)
                self.assertGreater(p.object_at_most(done.report("--by", "object"), "big.bin"), 0.85, (engine, data["rows"][:4]))
                # One tick a moment before the recorder has made the room may lie outside
                self.assertLess(data["outside"] + data["full"], (0.05 + p.stolen_share(data)) * data["ticks"], engine)


if __name__ == "__main__":
    p.main()
