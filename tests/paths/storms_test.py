"""record -g of programs that make it hard to follow a stack: they go on as if nobody looked, and no path is another one than it was."""
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import paths_test as known
import pctally_test as p

ENGINES = ("ring", "bpf", "timer", "trap")

# case: a function that is on every path to work() which is complete
STORMS = {
    "loaders": ("loader",),
    "vforks": ("vforker", "quick"),
    "execs": ("execs",),
    "clones": ("clones", "clone_body"),
    "coroutines": (),
    "small_coroutine": ("on_small_stack",),
    "unmapped": ("while_unmapped",),
    "jit": ("jit",),
    "end_of_memory": (),  # the frame of the fault that ends a walk found no room on the alternate stack
    "end_of_memory_with_tiles": (),
}


class Recorded(unittest.TestCase):
    check_identities = known.PathsTest.check_identities
    check_innermost = known.PathsTest.check_innermost
    check_totals = known.PathsTest.check_totals

    def record(self, engine, command):
        done = p.record(command, "-g", "-e", engine)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.check_identities(done.report(), done.path)
        return done.report(), list(known.paths_of(known.tree(done.path)["nodes"]))

    def check_complete(self, paths, callers):
        wrong = [path for path, ticks in paths if ticks and "work" in path and not path[0].startswith("[path cut") and callers
                 and not set(callers) & set(path)]
        self.assertEqual(wrong, [])


class Storms(Recorded):
    def test_storms(self):
        for engine in p.engines(*ENGINES):
            for case, callers in STORMS.items():
                with self.subTest(engine=engine, case=case):
                    data, paths = self.record(engine, [p.program("storms"), case, "0.2", p.program("late_code.so")])
                    self.assertGreater(data["ticks"], 0)
                    self.check_complete(paths, callers)
                    for path, ticks in paths:  # of a coroutine all is known but who has entered it
                        if ticks and "switch_deep" in path:
                            self.assertTrue(known.contains(path, ("coroutine", "switch_deep")), path)


class DamagedTables(Recorded):
    def test_damaged_unwind_tables(self):
        """Random bytes in .eh_frame and .eh_frame_hdr, which the program itself never reads."""
        with open(p.program("known_paths"), "rb") as file:
            sound = file.read()
        listed = subprocess.run(["readelf", "-SW", p.program("known_paths")], capture_output=True, text=True, check=True).stdout
        sections = [(int(offset, 16), int(size, 16)) for offset, size in
                    re.findall(r" \.eh_frame(?:_hdr)? +\S+ +[0-9a-f]+ +([0-9a-f]+) +([0-9a-f]+)", listed)]
        self.assertEqual(len(sections), 2)
        program = os.path.join(tempfile.mkdtemp(dir=p.scratch()), "damaged")
        complete = cut = 0
        for seed in range(p.scale(2)):
            chance = random.Random(seed)
            code = bytearray(sound)
            offset, size = chance.choice(sections)
            for _ in range(chance.choice((1, 20, 400, 10000))):
                code[offset + chance.randrange(size)] = chance.choice((0, 255, chance.randrange(256)))
            with open(program, "wb") as file:
                file.write(code)
            os.chmod(program, 0o755)
            for engine in p.engines(*ENGINES):
                case = chance.choice(("plain", "recursion", "sorting", "in_handler", "on_stack_below", "realigned"))
                with self.subTest(seed=seed, engine=engine, case=case):
                    data, paths = self.record(engine, [program, case, "0.1"])
                    self.check_complete(paths, ("main",))
                    complete += data["paths"]["complete"]
                    cut += sum(entry["ticks"] for entry in data["paths"]["cut"])
        print(f"{complete} paths complete, {cut} cut", flush=True)
        self.assertGreater(cut, 0)


if __name__ == "__main__":
    p.main()
