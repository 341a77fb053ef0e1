"""Programs that record themselves with call paths: pctally_start() with PCTALLY_CALLERS, and no recorder beside it."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest

for folder in ("lib", "paths"):
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", folder))
import paths_test as known
import pctally_test as p

PATHS = {**known.PATHS, "coroutine": ["coroutine_body", "static_stack_body", "work"]}
# And what has no path of PATHS, but is followed or cut, or has to live.
OTHERS = ["very_deep", "sorting", "in_handler", *known.ON_OTHER_STACKS, "in_coroutine", "no_table", "in_kernel", "many_paths", "blocking_faults"]
SMALL_TREE = "65536"  # bytes, the least: 2,048 nodes


def tool(*words):
    done = subprocess.run([p.PCTALLY, *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"pctally {words[0]}: {done.stderr}")
    return done.stdout


def environment(path, engine="timer", path_bytes=None):
    own = {"SELF_PROFILE": path, "SELF_ENGINE": engine}
    return {**os.environ, **own, **({"SELF_PATH_BYTES": path_bytes} if path_bytes else {})}


class SelfPathsTest(unittest.TestCase):
    check_identities = known.PathsTest.check_identities
    check_innermost = known.PathsTest.check_innermost
    check_totals = known.PathsTest.check_totals

    def run_self(self, name, *words, **options):
        """The profile that the program has made of itself."""
        path = os.path.join(tempfile.mkdtemp(dir=p.scratch()), "self.pct")
        done = subprocess.run([p.program(name), *words], env=environment(path, **options), capture_output=True, text=True)
        if done.returncode == 77:
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, 0, done.stderr)
        data = p.report(path)
        self.check_identities(data, path)
        return path, data

    def test_known_paths(self):
        # A host that takes the CPU does so for 0.1 s at a time: the program is charged with them, and they are one tick's path.
        with p.Machine() as machine:
            path, data = self.run_self("known_paths_self", ",".join([*known.PATHS, *OTHERS]), "0.15")
        least = 30 if machine.judges("that every case of 0.15 s has ticks") else -1  # of 600
        self.assertEqual(data["engine"], "timer")
        paths = list(p.paths_of(known.tree(path)["nodes"]))
        for case, wanted in PATHS.items():
            with self.subTest(case):
                last = sum(ticks for found, ticks in paths if wanted[-2] in found and "work" in found)
                right = sum(ticks for found, ticks in paths if p.contains(found, wanted))
                self.assertGreater(right, least)
                if wanted[-2] not in ("main", "deep"):  # the frames of one case alone
                    self.assertGreaterEqual(right, 0.95 * last)
        for caller, callee in (("sorting", "compare"), ("in_handler", "handler")):
            inside = sum(ticks for found, ticks in paths if callee in found)
            self.assertGreater(inside, least)
            self.assertGreaterEqual(sum(ticks for found, ticks in paths if callee in found and caller in found), 0.95 * inside)
        for callers in known.ON_OTHER_STACKS.values():
            found = (known.interrupted_by(path) for path, ticks in paths for _ in range(ticks))
            self.assertGreater(sum(1 for path in found if path is not None and p.contains(path, (*callers, "with_stack_at"))), least)
        cut = {entry["reason"]: entry["ticks"] for entry in data["paths"]["cut"]}
        self.assertGreater(cut.get("no-unwind-table", 0), least)
        self.assertGreater(cut.get("too-many-frames", 0), least)
        self.assertEqual(data["paths"]["folded"], 0)

    def test_by_trap(self):
        """The walk and the count are the timer's: what is its own is how the tick comes."""
        _, data = self.run_self("known_paths_self", "recursion", "0.2", engine="trap")
        self.assertEqual(data["engine"], "trap")
        self.assertGreater(data["paths"]["complete"], 0.98 * data["ticks"])
        self.assertGreater(data["ticks"], 100)

    def test_a_tree_that_fills_up_folds_what_comes_late_and_totals_stay_exact(self):
        with p.Machine() as machine:
            path, data = self.run_self("self_paths", "many", "0.7", path_bytes=SMALL_TREE)
        self.assertTrue(data["paths"]["first_come"])
        own = 1 - machine.stolen / data["cpu_s"]  # what the host takes is one path's, which may have found room
        self.assertGreater(data["paths"]["folded"], 0.2 * own * data["ticks"])
        self.assertEqual(data["paths"]["no_room"], 0)
        self.assertIn("for they came when the tree was full", tool("report", path))
        rows = {row["function"]: row for row in data["rows"]}
        self.assertGreater(rows["many"]["total_ticks"], 0.95 * data["ticks"])
        self.assertLessEqual(rows["next"]["total_ticks"], rows["many"]["total_ticks"])
        if machine.judges("that nearly all ticks have each of three"):  # else one sample may stand for hundreds of ticks
            for name in ("first", "second", "third"):  # one path of 3,325 has none of it
                self.assertGreater(rows[name]["total_ticks"], (own - 0.05) * rows["next"]["total_ticks"])

    def test_every_reader_takes_it(self):
        path, data = self.run_self("self_paths", "threads", "0.8")  # 0.1 s a thread: beside busy programs some have no tick in less
        second, more = self.run_self("self_paths", "threads", "0.4")
        sum_of_both = os.path.join(p.scratch(), "sum.pct")
        folded = [line.rpartition(" ") for line in tool("export", "--format", "folded", path).splitlines()]
        self.assertEqual(sum(int(ticks) for _, _, ticks in folded), data["ticks"])
        self.assertTrue(any("in_thread;" in stack and "down;down" in stack for stack, _, _ in folded), folded[:3])
        for form in ("pprof", "speedscope", "firefox"):
            tool("export", "--format", form, "-o", os.path.join(p.scratch(), "x." + form), path)
        for name in ("x.svg", "x.html"):
            file = os.path.join(p.scratch(), name)
            tool("report", "--flamegraph", file, path)
            with open(file, encoding="utf-8") as written:
                self.assertIn("in_thread", written.read())
        self.assertIn("down", tool("report", "--callers", "work", path))
        tool("merge", "-f", "-o", sum_of_both, path, second)
        merged = p.report(sum_of_both)
        self.check_identities(merged, sum_of_both)
        self.assertGreater(merged["cpu_s"], data["cpu_s"] + more["cpu_s"] - 0.001)
        self.assertTrue(merged["paths"]["first_come"])
        self.assertIn("in_thread", tool("diff", "--limit", "0", path, second))  # totals that nothing decides are shown, too

    def test_a_snapshot_and_a_kill_leave_every_tick_with_a_path(self):
        path, copy = (os.path.join(p.scratch(), name) for name in ("killed.pct", "copy.pct"))
        for _ in range(p.scale(2)):
            with subprocess.Popen([p.program("self_paths"), "threads", "60"], env=environment(path), stdout=subprocess.PIPE) as program:
                program.stdout.readline()
                while p.report(path)["ticks"] < 1000:
                    pass
                tool("snapshot", "-f", "-o", copy, path)
                program.send_signal(signal.SIGKILL)
            for file in (copy, path):
                data = p.report(file)
                self.check_identities(data, file, finished=False)
                self.assertGreater(data["paths"]["complete"], 0.7 * data["ticks"])
                cut = {entry["reason"]: entry["ticks"] for entry in data["paths"]["cut"]}
                self.assertLess(cut.get("interrupted", 0), 0.3 * data["ticks"])  # at most one signal a thread, of some 16 ticks

    def test_forks_in_the_middle_of_ticks(self):
        """The recording goes on in the parent alone."""
        path, data = self.run_self("fork_storm_self", str(p.scale(60)))
        self.assertNotIn("interrupted", [cut["reason"] for cut in data["paths"]["cut"]])
        paths = list(p.paths_of(known.tree(path)["nodes"]))
        self.assertEqual([found for found, _ in paths if "in_child" in found], [])
        work = sum(ticks for found, ticks in paths if "work" in found)
        self.assertGreater(work, 30)
        self.assertGreater(sum(ticks for found, ticks in paths if p.contains(found, ("in_parent", "work"))), 0.98 * work)
        self.assertEqual(len(p.report(path, "--by", "process")["rows"]), 1)

    def test_code_loaded_later_is_a_cut_until_refresh(self):
        with p.Machine() as machine:
            path, data = self.run_self("self_paths", "loaded", "0.4", p.program("late_code.so"))
        cut = {entry["reason"]: entry["ticks"] for entry in data["paths"]["cut"]}
        paths = list(p.paths_of(known.tree(path)["nodes"]))
        after = sum(ticks for found, ticks in paths if p.contains(found, ("after_refresh", "late", "work")))
        if machine.judges("code loaded later"):  # else a half of 0.2 s may be without a tick
            self.assertGreater(cut["unknown-mapping"], 0.3 * data["ticks"])
            self.assertGreater(after, 0.3 * data["ticks"])
        self.assertEqual(sum(ticks for found, ticks in paths if "before_refresh" in found and "work" in found), 0)
        self.assertEqual(data["outside"], 0, "the flat part knows it even so")

    def test_a_cut_in_a_full_tree_is_no_complete_path(self):
        """Before refresh every path of the library's code is cut: that is a quarter of the time."""
        with p.Machine() as machine:
            path, data = self.run_self("self_paths", "full", "0.6", p.program("late_code.so"), path_bytes=SMALL_TREE)
        cut = {entry["reason"]: entry["ticks"] for entry in data["paths"]["cut"]}
        self.assertEqual(data["paths"]["no_room"], 0)
        if machine.judges("cuts in a full tree"):  # else a half of 0.6 s may be without a tick
            self.assertGreater(data["paths"]["folded"], 0)
            self.assertGreater(cut.get("unknown-mapping", 0), 0.1 * data["ticks"])
        self.assertTrue(all(entry["ticks"] > 0 for entry in data["paths"]["cut"]))
        self.assertEqual([node["function"] for node in known.tree(path)["nodes"] if node["ticks"] == 0], [])

    def test_small_stacks_live(self):
        with p.Machine() as machine:
            _, data = self.run_self("self_paths", "small_stacks", "0.3")
        cut = {entry["reason"]: entry["ticks"] for entry in data["paths"]["cut"]}
        if machine.judges("small stacks: that each half of 0.3 s has its ticks"):
            least = (0.3 - machine.stolen / data["cpu_s"]) * data["ticks"]
            complete = data["paths"]["complete"]
            if p.walks_on_least_signal_stack():
                self.assertGreater(complete, 2 * least)
            else:
                self.assertGreater(cut["no-room"], least, "on the alternate stack no path is followed")
                self.assertGreater(complete, least)


if __name__ == "__main__":
    p.main()
