"""record -g, against programs whose call paths are known, and the identities that hold for every profile with call paths.

Shares are of the ticks inside one function, all of which have one path but those in its first and last instructions, which
have the same one: they do not depend on chance. What may be cut is COMPLETE's."""
import collections
import contextlib
import glob
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

SECONDS = "0.3"
# Where a share is of all ticks: on a slow machine the start and the end of a process take some 20 ms, and more
# beside others.
LONG = "1"
PYTHONS = [*(f"{directory}/python3.{minor}" for directory in ("/usr/bin", "/usr/local/bin") for minor in range(12, 20)),
           *(f"~/.pyenv/versions/3.{minor}*/bin/python3" for minor in range(12, 20))]

IN_CODE_LOADED_LATER = """
import ctypes, time
library = ctypes.CDLL("libz.so.1")
data = bytes(1 << 20)
end = time.process_time() + 0.3
while time.process_time() < end: library.crc32(0, data, len(data))
"""

# case: the functions on the stack, from main on, as callers of the next one
PATHS = {
    "plain": ["main", "plain", "work"],
    "recursion": ["main", "recursion", "deep", "deep"],
    "allocating": ["main", "allocating", "varying_frame", "work"],
    "realigned": ["main", "realigned", "realigned_frame", "work"],
    "in_thread": ["thread_body", "work"],
    "frame_pointer": ["main", "frame_pointer", "with_frame_pointer", "work"],
    "goroutines": ["goroutine_end", "goroutine", "work"],  # of Go: the outermost function was not called
    "tail_call": ["main", "tail_call", "work"],      # the function between them ended by jumping to work()
    "inlining": ["main", "inlining", "inlined", "work"],  # inlined() is no frame of the stack: the debug information has it
}

AARCH64 = os.uname().machine == "aarch64"
if AARCH64:  # there a frame pointer does not say where the caller's stack pointer is
    del PATHS["frame_pointer"], PATHS["goroutines"]

# case with a handler on a stack of its own: what called the function that it interrupts
ON_OTHER_STACKS = {"on_stack_below": ("main", "on_stack_below"), "on_stack_above": ("start_thread", "below_other_stack")}


def interrupted_by(path):
    """What leads to interrupted(), if its handler runs above it and the kernel's frame alone is between the two; else None."""
    at = path.index("interrupted") if "interrupted" in path else len(path)
    return path[:at] if path[at + 2:at + 4] == ("other_handler", "work") else None


def tree(path, *options):
    done = subprocess.run([p.PCTALLY, "report", "--json", "--tree", "--min-share", "0", *options, path],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


# Of one entry of the unwind table: which of them ran on a path may not be known.
SYMBOLS_OF_ONE = ("first_symbol", "second_symbol")

paths_of, contains = p.paths_of, p.contains


def perf_maps(data):
    """Where the processes of a report have theirs, if they write one."""
    return {f"/tmp/perf-{row['pid']}.map" for row in data["processes"]}


def placed(data):
    """Ticks that have a path, cut or not: those that the recorder of a busy machine lost have none."""
    return data["ticks"] - data["lost"]


class PathsTest(unittest.TestCase):
    ENGINE = None
    OFTEN = ("-F", "4000")
    COMPLETE = 0.98            # of ticks, at least
    COMPLETE_IN_PYTHON = 0.98  # where paths lead through trampolines
    COPIES_ONE_STACK = False   # that on which the thread runs at the tick
    KNOWS_THREADS = False
    SECONDS_ON_OTHER_STACKS = "0.4"
    SECONDS_OF_PROCESSES = "0.4"  # hundreds of ticks below the function that starts them, 20 have to be

    def setUp(self):
        if not p.engine_available(self.ENGINE):
            self.skipTest(f"engine {self.ENGINE} is not available")

    def record(self, command, *options):
        done = p.record(command, "-g", "-e", self.ENGINE, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done, done.report()

    def check_identities(self, data, path, finished=True):
        """Every tick has one path; no total is above 100 %, and none below the function's own share."""
        account = data["paths"]
        with_path = placed(data)
        self.assertEqual(account["complete"] + sum(cut["ticks"] for cut in account["cut"]) + account["no_room"], with_path)
        self.check_totals(data["rows"])
        top_down = tree(path)["nodes"]
        for nodes in top_down, tree(path, "--bottom-up")["nodes"]:
            self.assertEqual(sum(node["ticks"] for node in nodes if node["parent"] < 0), with_path - account["no_room"] + data["lost"])
        if finished:  # else the ticks of paths and those at the addresses may not be the same ones
            self.check_innermost(top_down, p.report(path))

    def check_totals(self, rows):
        for row in rows:
            if "total" not in row:
                continue
            self.assertLessEqual(row["total_high"], 1)
            self.assertGreaterEqual(row["total_ticks"], row["ticks"], row["function"])

    def check_innermost(self, nodes, data):
        """What a function has of its own is what the paths that end in it have. Folded paths, and those without a frame, may be
        of any function."""
        own, innermost = (collections.Counter() for _ in range(2))
        # A node of one of them alone is of a call: the kernel's code has ticks below it.
        several = {name: node["function"] for node in nodes for name in node["function"].split(", ")
                   if name in SYMBOLS_OF_ONE and node["function"] != name}
        for row in data["rows"]:
            if row["function"] == "[lost]":  # ticks whose place is not known have no path
                continue
            own[several.get(row["function"], row["function"]), row["object"]] += row["ticks"]
        for node in nodes:
            function = node
            while function["inlined"]:  # a row of the table is a function with what is inlined into it
                function = nodes[function["parent"]]
            innermost[function["function"], function["object"]] += node["self"]
        without = data["paths"]["folded"] + sum(cut["ticks"] for cut in data["paths"]["cut"]) + data["paths"]["no_room"]
        different = {key: (ticks, innermost[key]) for key, ticks in own.items()
                     if not ticks - without <= innermost[key] <= ticks}
        more = {key: (own[key], ticks) for key, ticks in innermost.items() if ticks > own[key]}
        self.assertEqual(different, {}, f"ticks of its own, ticks of paths that end in it; of more paths than ticks: {more}")

    def check_goroutines(self, mode):
        if shutil.which("go") is None:
            self.skipTest("go is not installed")
        source, program = os.path.join(os.path.dirname(__file__), "goroutines.go"), os.path.join(p.scratch(), "goroutines")
        subprocess.run(["go", "build", "-buildmode", mode, "-ldflags", "-s -w", "-o", program, source], check=True,
                       env={**os.environ, "GOCACHE": os.path.join(p.scratch(), "go"), "GO111MODULE": "off"})
        done, data = self.record([program], *self.OFTEN)
        self.check_identities(data, done.path)
        paths = list(paths_of(tree(done.path)["nodes"]))
        inside = sum(ticks for path, ticks in paths if "main.sum" in path)
        right = sum(ticks for path, ticks in paths if path[0] == "runtime.goexit" and contains(path, ("main.run", "main.add", "main.sum")))
        self.assertGreater(inside, 100)
        self.assertGreater(right, 0.95 * inside)
        self.assertGreater(data["paths"]["complete"], 0.9 * placed(data), data["paths"])  # the runtime has stacks of its own


class EveryEngine:
    """What holds whoever takes the paths."""

    def test_known_paths(self):
        done, data = self.record([p.program("known_paths"), ",".join(PATHS), SECONDS])
        self.check_identities(data, done.path)
        in_work = [(path, ticks) for path, ticks in paths_of(tree(done.path)["nodes"]) if "work" in path]
        lasts = {case: next(function for function in reversed(wanted) if function != "work") for case, wanted in PATHS.items()}  # of one case alone
        of_none = sum(ticks for path, ticks in in_work if not set(path) & set(lasts.values()))  # cut at work(): they may be any case's
        # Without the exec and the end of the process, which take a few ms each on a slow machine. Such a cut
        # of a tick in work() is in of_none.
        cut = {entry["reason"]: entry["ticks"] for entry in data["paths"]["cut"]}
        incomplete = placed(data) - data["paths"]["complete"] - cut.get("memory-gone", 0)
        for case, wanted in PATHS.items():
            with self.subTest(case):
                work = of_none + sum(ticks for path, ticks in in_work if lasts[case] in path)
                right = sum(ticks for path, ticks in in_work if contains(path, wanted))
                self.assertGreater(work, 100)
                self.assertGreater(right, self.COMPLETE * work, f"{case}: {right} of {work} ticks in work()")
                self.assertLess(incomplete, (1 - self.COMPLETE) * work)

    def test_a_function_with_much_on_the_stack_has_callers(self):
        """It has more than 256 KiB there. The engine ring copies at most 32 KiB of a stack."""
        done, data = self.record([p.program("known_paths"), "huge_frame", self.SECONDS_ON_OTHER_STACKS])
        self.check_identities(data, done.path)
        paths = [(path, ticks) for path, ticks in paths_of(tree(done.path)["nodes"]) if "work" in path]
        inside = sum(ticks for _, ticks in paths)
        self.assertGreater(inside, 100)
        if self.COPIES_ONE_STACK or AARCH64:
            cut = {entry["reason"]: entry["ticks"] for entry in data["paths"]["cut"]}
            reason = "unsupported-rule" if AARCH64 else "stack-too-deep"
            self.assertGreater(cut.get(reason, 0), self.COMPLETE * inside, cut)
        else:
            whole = sum(ticks for path, ticks in paths if contains(path, ("main", "huge_frame", "in_huge_frame", "work")))
            self.assertGreater(whole, 0.9 * inside)

    def test_unwind_tables_behind_a_gap_between_segments(self):
        _, data = self.record([p.program("known_paths_gaps"), "sorting", LONG])
        self.assertGreater(data["ticks"], 100)
        self.assertGreater(data["paths"]["complete"], self.COMPLETE * placed(data), data["paths"])

    def test_callers_through_libc_and_a_signal_handler(self):
        for case, caller, callee in (("sorting", "sorting", "compare"), ("in_handler", "in_handler", "handler")):
            with self.subTest(case):
                done, data = self.record([p.program("known_paths"), case, SECONDS])
                self.check_identities(data, done.path)
                nodes = tree(done.path)["nodes"]
                inside = sum(ticks for path, ticks in paths_of(nodes) if callee in path)
                under = sum(ticks for path, ticks in paths_of(nodes)
                            if caller in path and callee in path and path.index(caller) < path.index(callee))
                self.assertGreater(inside, 100)
                self.assertGreater(under, self.COMPLETE * inside)

    def test_a_coroutine_is_read_up_to_its_start(self):
        done, data = self.record([p.program("known_paths"), "in_coroutine", SECONDS])
        self.check_identities(data, done.path)
        nodes = tree(done.path)["nodes"]
        work = sum(ticks for path, ticks in paths_of(nodes) if "work" in path)
        right = sum(ticks for path, ticks in paths_of(nodes) if contains(path, ("coroutine_body", "static_stack_body", "work")))
        self.assertGreater(work, 100)
        self.assertGreater(right, self.COMPLETE * work)
        cut = {entry["reason"]: entry["ticks"] for entry in data["paths"]["cut"]}
        self.assertGreater(cut.get("doubtful", 0), self.COMPLETE * work, "no call leads to its start")

    def test_a_handler_on_a_stack_of_its_own_leads_to_what_it_interrupted(self):
        """On stacks below and above it. ring has a copy of one stack: its path ends at the function that was interrupted, and says so. bpf
        has that, too, until the kernel has the tables: 50 ms where it takes long."""
        for case, callers in ON_OTHER_STACKS.items():
            with self.subTest(case):
                done, data = self.record([p.program("known_paths"), case, self.SECONDS_ON_OTHER_STACKS])
                self.check_identities(data, done.path)
                paths = list(paths_of(tree(done.path)["nodes"]))
                inside = sum(ticks for path, ticks in paths if contains(path, ("other_handler", "work")))
                before = [(interrupted_by(path), ticks) for path, ticks in paths if interrupted_by(path) is not None]
                whole = sum(ticks for path, ticks in before if contains(path, (*callers, "with_stack_at")))
                self.assertGreater(inside, 100)
                self.assertGreater(sum(ticks for _, ticks in before), self.COMPLETE * inside)
                if self.COPIES_ONE_STACK:
                    cut = {entry["reason"]: entry["ticks"] for entry in data["paths"]["cut"]}
                    self.assertGreater(cut.get("stack-unreadable", 0), self.COMPLETE * inside, cut)
                    self.assertEqual(whole, 0)
                else:
                    self.assertGreater(whole, 0.9 * inside)

    def test_paths_lead_out_of_the_vdso(self):
        done, data = self.record([p.program("known_paths"), "in_vdso", SECONDS])
        self.check_identities(data, done.path)
        nodes = tree(done.path)["nodes"]
        inside = [(path, node["self"]) for (path, _), node in zip(paths_of(nodes), nodes) if node["object"] == "[vdso]"]
        ticks = sum(ticks for _, ticks in inside)
        if ticks < 20:
            self.skipTest("clock_gettime is a system call here: the machine's clock is not one that the vdso reads")
        right = sum(ticks for path, ticks in inside if contains(path, ("main", "in_vdso")))
        self.assertGreaterEqual(right, self.COMPLETE * ticks - 1)

    def check_starts(self, case, reason, seconds):
        """The path of a child's first moments may be cut: it has no caller. Its parent has one."""
        done, data = self.record([p.program("starts"), case, seconds], *self.OFTEN)
        # Each start runs the BPF programs of all recordings on this machine. Where one ends, its code's name is another's.
        self.check_identities(data, done.path, finished=False)
        paths = list(paths_of(tree(done.path)["nodes"]))
        below = sum(ticks for path, ticks in paths if contains(path, ("main", case)))
        cut = {entry["reason"]: entry["ticks"] for entry in data["paths"]["cut"]}
        self.assertGreater(below, 20)
        self.assertLess(cut.get(reason, 0), 0.2 * below, cut)

    def test_vfork_has_a_caller(self):
        """Its return address is in a register while the child runs."""
        self.check_starts("by_vfork", "unsupported-rule", self.SECONDS_OF_PROCESSES)

    def test_a_stub_of_the_plt_is_a_function(self):
        done, data = self.record([p.program("known_paths"), "stubs", "0.6"], *self.OFTEN)
        self.check_identities(data, done.path)
        stubs = {row["function"]: row["ticks"] for row in data["rows"]
                 if row["function"].startswith("pthread_mutex_") and row["function"].endswith("@plt")}
        self.assertGreater(sum(stubs.values()), 0)
        paths = list(paths_of(tree(done.path)["nodes"]))
        for stub, ticks in stubs.items():
            self.assertEqual(sum(ticks for path, ticks in paths if path[-1] == stub), ticks)
            out = subprocess.run([p.PCTALLY, "report", "--json", "--callers", stub, done.path], capture_output=True, text=True)
            self.assertEqual([row["function"] for row in json.loads(out.stdout)["callers"]], ["stubs"], out.stderr)

    @unittest.skipIf(AARCH64, "there no linker describes its stubs")
    def test_a_stub_without_unwind_table_has_a_caller(self):
        """lld's and mold's."""
        done, data = self.record([p.program("known_paths"), "bare_stubs", "0.4"], *self.OFTEN)
        self.check_identities(data, done.path)
        paths = [(path, ticks) for path, ticks in paths_of(tree(done.path)["nodes"]) if "bare_stub" in path]
        stubs = sum(ticks for path, ticks in paths)
        self.assertGreater(stubs, 0.5 * placed(data))
        self.assertEqual(sum(ticks for path, ticks in paths if contains(path, ("main", "bare_stubs", "bare_stub"))), stubs)

    def test_symbols_of_one_unwind_entry(self):
        """Where one of two ran all paths end in it; where both did it is not known which, and no total is another's."""
        for case, name in (("one_of_two", "second_symbol"), ("both_of_two", "first_symbol, second_symbol")):
            with self.subTest(case):
                done, data = self.record([p.program("known_paths"), case, SECONDS])
                self.check_identities(data, done.path)
                rows = {row["function"]: row for row in data["rows"] if row["function"] in SYMBOLS_OF_ONE}
                self.assertEqual(", ".join(sorted(function for function in rows if rows[function]["ticks"])), name)
                for row in rows.values():
                    self.assertGreaterEqual(1.1 * row["ticks"] + 5, row["total_ticks"], row)  # the kernel's below it
                for options in ((), ("--focus", "second_symbol")):
                    found = sum(ticks for path, ticks in paths_of(tree(done.path, *options)["nodes"]) if path[-1] == name)
                    self.assertEqual(found, sum(row["ticks"] for row in rows.values()))
                out = subprocess.run([p.PCTALLY, "report", "--json", "--callers", "second_symbol", done.path], capture_output=True,
                                     text=True)
                callers = json.loads(out.stdout)
                self.assertEqual([row["function"] for row in callers["callers"]], [case], out.stderr)
                self.assertGreaterEqual(callers["ticks"], rows["second_symbol"]["ticks"])

    def test_a_small_bound_folds_paths_and_keeps_totals(self):
        """Of 64 KiB, 2048 nodes, Python's import of its library needs more: paths are folded, and still every tick has one."""
        done, data = self.record([sys.executable, "-c", "import json, unittest, http.client, xml.dom.minidom, sqlite3, asyncio"],
                                 "--paths-memory", "64K", "-F", "4000")
        self.check_identities(data, done.path)
        main = [row for row in data["rows"] if row["function"] == "_PyEval_EvalFrameDefault"]
        if data["paths"]["folded"] and main:
            self.assertLess(main[0]["total_high"] - main[0]["total_low"], 0.5)

    def test_callers_are_those_of_the_table_where_paths_were_folded(self):
        """The call plane has them, whatever the context tree has lost."""
        done, data = self.record([p.program("known_paths"), "many_paths", "0.2"], "--paths-memory", "64K", "-F", "10000")
        self.assertGreater(data["paths"]["folded"], 0)
        for row in data["rows"]:
            if row["function"] in ("work", "turning", "left", "right", "turning_thread"):
                with self.subTest(row["function"]):
                    self.check_callers(done.path, row)

    def test_totals_of_eight_threads_are_exact_while_paths_are_folded(self):
        """Each thread has one outer function, all through its time, and one leaf: what the tree forgets the call plane has."""
        scope = ("--scope", "thread") if self.KNOWS_THREADS else ()
        done, data = self.record([p.program("eight_threads"), "0.25"], *scope, "--paths-memory", "64K")
        self.check_identities(data, done.path)
        account, rows = data["paths"], {row["function"]: row for row in data["rows"]}
        self.assertGreater(account["folded"], 0)
        nodes = tree(done.path)["nodes"]  # those of cut paths among them
        folded = sum(node["ticks"] for node in nodes if node["function"].startswith("[folded"))
        self.assertEqual(folded, account["folded"])
        self.assertEqual(sum(node["self"] for node in nodes) + account["no_room"], data["ticks"])  # also lost and folded ticks have a node
        cut = sum(reason["ticks"] for reason in account["cut"]) + account["no_room"]
        self.assertLess(cut, (1 - self.COMPLETE) * placed(data) + 1)
        calls = self.callers(done.path, "run")
        for i in range(8):
            outer, leaf = rows[f"outer_{i}"]["total_ticks"], rows[f"leaf_{i}"]
            self.assertGreater(outer, 0)
            self.assertLessEqual(leaf["ticks"], leaf["total_ticks"])
            self.assertLessEqual(leaf["ticks"], outer + cut)
            below = self.callers(done.path, f"outer_{i}")["callees"]
            self.assertEqual(sum(row["ticks"] for row in below), outer)
            self.assertEqual([row["ticks"] for row in calls["callers"] if row["function"] == f"outer_{i}"],
                             [row["ticks"] for row in below if row["function"] == "run"])
        self.assertEqual(sum(row["ticks"] for row in calls["callers"]), rows["run"]["total_ticks"])
        self.assertLessEqual(rows["turning"]["total_ticks"], rows["run"]["total_ticks"])
        if self.KNOWS_THREADS:  # a thread has its name while its outer function is on the stack, but for its change: 10 us of 250 ms
            for row in p.report(done.path, "--by", "thread")["rows"]:
                if re.fullmatch("t[0-7]", row["thread"]):
                    outer = rows["outer_" + row["thread"][1]]["total_ticks"]
                    self.assertTrue(row["ticks"] - cut <= outer <= row["ticks"] + 2, (row, outer, cut))

    @staticmethod
    def callers(path, function):
        done = subprocess.run([p.PCTALLY, "report", "--json", "--limit", "0", "--callers", function, path], capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return json.loads(done.stdout)

    def check_callers(self, path, row):
        callers = self.callers(path, row["function"])
        self.assertEqual([callers["ticks"], callers["low"], callers["high"]],
                         [row["total_ticks"], row["total_low"], row["total_high"]])
        for side in callers["callers"], callers["callees"]:
            self.assertGreaterEqual(sum(other["ticks_high"] for other in side), row["total_ticks"])
            for other in side:
                self.assertLessEqual(other["ticks"], row["total_ticks"])

    def test_as_a_plain_user(self):
        if os.geteuid() != 0 or shutil.which("setpriv") is None:
            self.skipTest("needs root and setpriv to become an unprivileged user")
        os.chmod(p.scratch(), 0o777)
        path = os.path.join(p.scratch(), f"nobody.{self.ENGINE}.pct")
        done = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", p.PCTALLY, "record",
                               "-q", "-g", "-e", self.ENGINE, "-o", path, "--", p.program("known_paths"), "plain", LONG],
                              capture_output=True, text=True)
        if done.returncode == 125:
            self.skipTest(f"engine {self.ENGINE} is refused to plain users here: " + done.stderr.strip())
        self.assertEqual(done.returncode, 0, done.stderr)
        data = p.report(path)
        self.check_identities(data, path)
        self.assertGreater(data["paths"]["complete"], self.COMPLETE * placed(data))

    def test_a_killed_recorder_leaves_every_tick_with_a_path(self):
        """At random moments, also while a tree of 64 KiB is pruned."""
        prunes = (["--paths-memory", "64K", "-F", "10000"], [p.program("known_paths"), "many_paths", "20"])
        plain = ([], [p.program("known_paths"), "recursion", "20"])
        seen = pruned = 0
        for seed in range(p.scale(4)):
            options, command = (plain, prunes)[seed % 2]
            path = os.path.join(p.scratch(), f"killed.{self.ENGINE}.{seed}.pct")
            recorder = subprocess.Popen([p.PCTALLY, "record", "-q", "-g", *options, "-e", self.ENGINE, "-o", path, "--", *command],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
            try:
                p.await_ticks(path, random.Random(seed).randrange(*((1, 500), (1500, 4000))[seed % 2]), recorder)
            finally:
                recorder.kill()
                recorder.wait()
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(recorder.pid, signal.SIGKILL)  # its command
            with self.subTest(seed=seed):
                data = p.report(path)
                self.check_identities(data, path, finished=False)
                seen += 1
                pruned += data["paths"]["folded"] > 0
        print(f"{self.ENGINE}: {seen} files of killed recorders, {pruned} with a pruned tree", flush=True)
        self.assertGreater(pruned, 0)

    def test_a_snapshot_of_a_growing_profile(self):
        path, copy = (os.path.join(p.scratch(), name) for name in ("growing.pct", "copy.pct"))
        with subprocess.Popen([p.PCTALLY, "record", "-q", "-f", "-g", "-e", self.ENGINE, "-o", path, "--", p.program("known_paths"),
                               "recursion", "0.8"]) as recorder:
            taken = 0
            while recorder.poll() is None:
                done = subprocess.run([p.PCTALLY, "snapshot", "-f", "-o", copy, path], capture_output=True, text=True)
                if done.returncode == 0 and p.report(copy)["ticks"] > 0:
                    self.check_identities(p.report(copy), copy, finished=False)
                    taken += 1
        self.assertGreater(taken, 0)

    def test_functions_of_python_are_on_the_path(self):
        """python -X perf, from 3.12 on: each call of a Python function goes through a trampoline without tables."""
        python = next((path for pattern in PYTHONS for path in sorted(glob.glob(os.path.expanduser(pattern)))), None)
        if python is None:
            self.skipTest("no Python of 3.12 or later here")
        script = os.path.join(p.scratch(), "two.py")
        with open(script, "w", encoding="ascii") as file:
            file.write("def inner(n):\n    return sum(i * i for i in range(n))\n"
                       "def outer():\n    for _ in range(200): inner(50000)\nouter()\n")
        older = set(glob.glob("/tmp/perf-*.map"))  # Python appends to the map of an ended process that had its number, anybody's
        done, data = self.record([python, "-X", "perf", script])
        while older & perf_maps(data):
            done, data = self.record([python, "-X", "perf", script])
        self.addCleanup(lambda: [os.remove(path) for path in perf_maps(data) if os.path.exists(path)])
        self.check_identities(data, done.path)
        self.assertGreater(data["paths"]["complete"], self.COMPLETE_IN_PYTHON * placed(data))
        total = {row["function"].split(":/")[0]: row["total"] for row in data["rows"] if "total" in row}
        self.assertGreater(total["py::inner"], 0.5)
        cut = 1 - data["paths"]["complete"] / placed(data)  # some of these may have been cut between the two
        self.assertGreaterEqual(total["py::outer"] + cut, total["py::inner"])
        self.assertNotIn("interpreter", [warning["id"] for warning in data["warnings"]])

    def test_short_children_are_whole(self):
        """Each child is gone before the recorder could ask for its mappings."""
        script = "for i in $(seq 40); do %s plain 0.01; done" % p.program("known_paths")
        done, data = self.record(["sh", "-c", script])
        self.check_identities(data, done.path)
        nodes = tree(done.path)["nodes"]
        work = sum(ticks for path, ticks in paths_of(nodes) if "work" in path)
        right = sum(ticks for path, ticks in paths_of(nodes) if contains(path, ("main", "plain", "work")))
        self.assertGreater(work, 0)
        self.assertEqual(right, work)


PATTERN = 2 * struct.pack("<QQ", 0x9d5f3c1b7e8a2461, (~0x9d5f3c1b7e8a2461 + 12345) % (1 << 64))  # known_paths filled


def children_called(parent, name):
    with open(f"/proc/{parent}/task/{parent}/children", encoding="utf-8") as children:
        return [int(child) for child in children.read().split() if os.path.basename(os.readlink(f"/proc/{child}/exe")) == name]


def dumped_memory_with(pid, pattern):
    """The mappings of a stopped process that a core dump would have, and that contain `pattern`: how often."""
    found = collections.Counter()
    with open(f"/proc/{pid}/smaps", encoding="utf-8") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            if re.match("[0-9a-f]+-", line):
                start, end = (int(word, 16) for word in line.split()[0].split("-"))
                name = (line.split() + ["[anonymous]"])[5]
            if line.startswith("VmFlags:") and "rd" in line.split() and "dd" not in line.split():
                with contextlib.suppress(OSError, OverflowError):
                    memory.seek(start)
                    found[name] += memory.read(end - start).count(pattern)
    return +found


class OutsideTheProgram(EveryEngine):
    """Engines that see the kernel's ticks too, and any process: the recorder unwinds what they have copied of a stack."""
    KNOWS_THREADS = True

    def test_goroutines_and_functions_without_a_frame(self):
        """Go's runtime knows how much a function has on the stack: sum has nothing, and no frame pointer. Stripped, too."""
        self.check_goroutines("exe")

    def test_what_starts_processes_and_threads_has_its_kernel_time(self):
        """It is in clone3, whose system call no entry of the unwind table covers."""
        for case, seconds in (("by_spawn", self.SECONDS_OF_PROCESSES), ("by_thread", LONG)):
            with self.subTest(case):
                self.check_starts(case, "no-unwind-table", seconds)

    def test_a_kernel_tick_hangs_below_the_function_that_called(self):
        done, data = self.record([p.program("known_paths"), "in_kernel", LONG])
        self.check_identities(data, done.path)
        kernel = {row["function"] for row in data["rows"] if row["object"] == "[kernel]"}
        if not kernel:
            self.skipTest("kernel code is not visible here")
        paths = [(path, ticks) for path, ticks in paths_of(tree(done.path)["nodes"]) if path[-1] in kernel]
        below = sum(ticks for _, ticks in paths)
        self.assertGreater(sum(ticks for path, ticks in paths if "in_kernel" in path), 0.9 * below)
        # All but ticks in the first and last instructions of a system call, and in interrupts of user code
        called = sum(ticks for path, ticks in paths if len(path) > 1 and path[-2] in kernel)
        self.assertGreater(called, 0.5 * below, paths[:20])

    def test_a_thread_of_io_uring_has_no_user_code(self):
        done = p.record([p.program("kernel_worker"), "0.4"], "-g", "-e", self.ENGINE)
        if done.returncode == 77:
            self.skipTest("no io_uring here")
        self.assertEqual(done.returncode, 0, done.stderr)
        data = done.report()
        self.check_identities(data, done.path)
        cut = {entry["reason"]: entry["ticks"] for entry in data["paths"]["cut"]}
        self.assertGreater(cut.get("no-user-code", 0), 0.8 * placed(data), cut)

    def test_a_path_that_cannot_be_continued_is_cut_with_its_reason(self):
        for case, reason in (("no_table", "no-unwind-table"), ("very_deep", "stack-too-deep")):
            with self.subTest(case):
                done, data = self.record([p.program("known_paths"), case, LONG])
                self.check_identities(data, done.path)
                cut = {entry["reason"]: entry["ticks"] for entry in data["paths"]["cut"]}
                reasons = (reason, "too-many-frames")
                self.assertGreater(sum(cut.get(name, 0) for name in reasons), 0.9 * placed(data), cut)

    def test_a_core_dump_of_the_recorder_has_no_stack_of_the_program(self):
        path = os.path.join(tempfile.mkdtemp(dir=p.scratch()), "secret.pct")
        words = [p.PCTALLY, "record", "-q", "-g", "-e", self.ENGINE, *self.OFTEN, "-o", path, "--",
                 p.program("known_paths"), "filled", "60"]
        with subprocess.Popen(words, stdout=subprocess.DEVNULL) as recorder:
            program = None
            try:
                while not os.path.exists(path) or p.report(path)["ticks"] < 500:
                    self.assertIsNone(recorder.poll())
                program, = children_called(recorder.pid, "known_paths")
                try:
                    self.assertGreater(dumped_memory_with(program, PATTERN)["[stack]"], 100)
                except PermissionError as error:
                    self.skipTest(f"the memory of children is not readable here: {error}")
                for _ in range(10):
                    recorder.send_signal(signal.SIGSTOP)
                    os.waitid(os.P_PID, recorder.pid, os.WSTOPPED)
                    found = dumped_memory_with(recorder.pid, PATTERN)
                    self.assertLessEqual(found.pop("[stack]", 0), 128)  # vector registers, which memcpy uses: 2 KiB, saved
                    self.assertEqual(found, {})
                    recorder.send_signal(signal.SIGCONT)
                    time.sleep(random.uniform(0, 0.02))
            finally:
                os.kill(program or recorder.pid, signal.SIGKILL)
                recorder.send_signal(signal.SIGCONT)

    def test_the_last_option_decides_whether_paths_are_recorded(self):
        for options, recorded in ((["--call-graph", "dwarf", "--no-callers"], False), (["--no-callers", "--call-graph", "dwarf"], True),
                                  (["--call-graph", "fp", "--no-callers", "-g"], True), (["-g", "--no-callers"], False)):
            with self.subTest(options):
                done = p.record([p.program("known_paths"), "plain", "0.05"], "-e", self.ENGINE, *options)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual("paths" in p.report(done.path), recorded)

    def test_messages(self):
        flat = p.record([p.program("known_paths"), "plain", "0.05"])
        with_paths, _ = self.record([p.program("known_paths"), "plain", "0.05"])
        for words, code, text in (
                (["report", "--focus", "work", flat.path], 4, "has no call paths; record again with -g: pctally record -g"),
                (["report", "--focus", "work", "--by", "line", with_paths.path], 2, "leave out --by line"),
                (["report", "--callers", "work", flat.path], 4, "has no call paths; record again with -g: pctally record -g"),
                (["report", "--callers", "nobody", with_paths.path], 4, "no function on a stack is called nobody"),
                (["report", "--focus", "nobody", with_paths.path], 4, "no function on a stack matches --focus"),
                (["report", "--tree", "--callers", "x", with_paths.path], 2, "choose one: --callers, --tree, --flamegraph or --html"),
                (["record", "-g", "--paths-memory", "1", "--", "true"], 2, "not a size")):
            done = subprocess.run([p.PCTALLY, *words], capture_output=True, text=True)
            self.assertEqual(done.returncode, code, words)
            self.assertIn(text, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)

    def test_attached_to_a_running_process(self):
        with subprocess.Popen([p.program("known_paths"), "plain", "30"]) as program:
            path = os.path.join(p.scratch(), "attached.pct")
            done = subprocess.run([p.PCTALLY, "record", "-q", "-f", "-g", "-e", self.ENGINE, "-o", path, "--for", "0.5", "-p",
                                   str(program.pid)], capture_output=True, text=True)
            program.kill()
        self.assertEqual(done.returncode, 0, done.stderr)
        data = p.report(path)
        self.check_identities(data, path)
        nodes = tree(path)["nodes"]
        work = sum(ticks for path_, ticks in paths_of(nodes) if "work" in path_)
        self.assertGreater(sum(ticks for path_, ticks in paths_of(nodes) if contains(path_, ("main", "plain", "work"))),
                           self.COMPLETE * work)

    def record_gone(self, prefix):
        """The profile of a program that runs a library whose file was deleted before the recording. Another file has its name now."""
        directory = tempfile.mkdtemp(dir=p.scratch())
        for name in (p.scratch(), directory):
            os.chmod(name, 0o777)
        plugin, path = shutil.copy(p.program("plugin.so"), directory), os.path.join(directory, "gone.pct")
        with subprocess.Popen([*prefix, p.program("loader"), plugin, "30"]) as program:
            while plugin not in pathlib.Path(f"/proc/{program.pid}/maps").read_text():
                time.sleep(0.01)  # polls another process's doing: there is no event to wait for
            os.remove(plugin)
            shutil.copy(p.program("loader"), plugin)
            done = subprocess.run([*prefix, p.PCTALLY, "record", "-q", "-g", "-e", self.ENGINE, "-o", path, "--for", "0.5",
                                   "-p", str(program.pid)], capture_output=True, text=True)
            program.kill()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_identities(p.report(path), path)
        return path

    def test_code_of_a_file_that_is_gone_has_names_and_callers_for_root(self):
        """Who may follow /proc/PID/map_files, that is."""
        try:
            os.stat("/proc/self/map_files/" + os.listdir("/proc/self/map_files")[0])
        except PermissionError:
            self.skipTest("needs CAP_CHECKPOINT_RESTORE")
        path = self.record_gone([])
        paths = list(paths_of(tree(path)["nodes"]))
        inside = sum(ticks for path_, ticks in paths if "plugin_work" in path_)
        self.assertGreater(inside, 0.8 * placed(p.report(path)))  # it reads a clock, too
        self.assertGreater(sum(ticks for path_, ticks in paths if contains(path_, ("main", "plugin_work"))), self.COMPLETE * inside)

    def test_a_program_that_is_no_file_on_disk_has_names_and_paths(self):
        """As container runtimes execute themselves: a memfd."""
        script = ("import os, sys\nfd = os.memfd_create('copy', 0)\nos.write(fd, open(sys.argv[1], 'rb').read())\n"
                  "os.execve(fd, ['known_paths', 'plain', sys.argv[2]], os.environ)")
        done, data = self.record([sys.executable, "-S", "-c", script, p.program("known_paths"), LONG])
        self.check_identities(data, done.path)
        paths = list(paths_of(tree(done.path)["nodes"]))
        work = sum(ticks for path, ticks in paths if "work" in path)
        self.assertGreater(work, 0.7 * placed(data))  # Python starts before it
        self.assertGreater(sum(ticks for path, ticks in paths if contains(path, ("main", "plain", "work"))), self.COMPLETE * work)

    def test_the_whole_machine(self):
        if os.geteuid() != 0:
            self.skipTest("needs root")
        with subprocess.Popen([p.program("known_paths"), "plain", "30"]) as program:
            path = os.path.join(p.scratch(), "machine.pct")
            done = subprocess.run([p.PCTALLY, "record", "-q", "-f", "-g", "-e", self.ENGINE, "-a", "-o", path, "--for", "0.5"],
                                  capture_output=True, text=True)
            program.kill()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_identities(p.report(path), path)
        nodes = tree(path)["nodes"]
        work = sum(ticks for path_, ticks in paths_of(nodes) if "work" in path_ and "plain" in path_)
        self.assertGreater(work, 0)


    def test_an_exec_is_cut_with_its_own_reason(self):
        """Its memory is the new program's, its registers are still the old one's."""
        inside, ticks = [], 0
        for _ in range(10):  # the faster the machine, the fewer ticks an exec has: 6 a recording at the least so far
            done, data = self.record(["sh", "-c", "i=0; while [ $i -lt 1200 ]; do /bin/true; i=$((i+1)); done"], *self.OFTEN)
            self.check_identities(data, done.path)
            inside += [(path, ticks) for path, ticks in paths_of(tree(done.path)["nodes"]) if "load_elf_binary" in path]
            if not inside and not any("[kernel]" in row["object"] for row in data["rows"]):
                self.skipTest("kernel code is not visible here")
            ticks = sum(ticks for _, ticks in inside)
            if ticks > 12:
                break
        self.assertGreater(ticks, 12)  # of some 60: one false alarm in 10^6
        for words, least, most in (("executed another program", 0.5, 1), ("no known mapping", 0, 0.05)):
            cut = sum(ticks for path, ticks in inside if any(words in name for name in path))
            self.assertTrue(least * ticks <= cut <= most * ticks, (words, cut, ticks))

    def test_a_static_program(self):
        """gcc -static leaves out the sorted table of .eh_frame_hdr."""
        _, data = self.record([p.program("spinner_static"), "1", LONG])
        self.assertGreater(data["paths"]["complete"], 0.95 * placed(data), data["paths"])
        self.assertGreater(max([0, *(row["total_ticks"] for row in data["rows"] if row["function"] == "spin")]), 0.9 * data["ticks"])

    def test_code_loaded_and_programs_executed_in_the_middle(self):
        """What a process loads, forks and executes while it runs."""
        program = ("import ctypes, json, os\n"
                   "for i in range(100): json.loads(json.dumps(list(range(20000))))\n"
                   "if os.fork() == 0:\n"
                   "    for i in range(100): json.loads(json.dumps(list(range(20000))))\n"
                   f"    os.execv({p.program('known_paths')!r}, ['known_paths', 'in_thread', '0.3'])\n"
                   "os.wait()\n")
        done, data = self.record([sys.executable, "-c", program])
        self.check_identities(data, done.path)
        self.assertGreater(data["paths"]["complete"], self.COMPLETE * placed(data))
        nodes = tree(done.path)["nodes"]
        work = sum(ticks for path, ticks in paths_of(nodes) if "work" in path)
        self.assertGreater(work, 100)
        self.assertGreater(sum(ticks for path, ticks in paths_of(nodes) if contains(path, PATHS["in_thread"])), self.COMPLETE * work)


class ByRing(OutsideTheProgram, PathsTest):
    ENGINE = "ring"
    COPIES_ONE_STACK = True
    SECONDS_OF_PROCESSES = LONG  # of short processes it has few ticks

    def test_the_end_of_a_process_is_no_thread_of_the_kernel(self):
        """Seen with the whole machine alone: an event of its own ends before its memory does."""
        if os.geteuid() != 0:
            self.skipTest("needs root")
        path = os.path.join(p.scratch(), "ends.pct")
        program = [sys.executable, "-S", "-c", "import os; x = bytearray(b'x') * (50 << 20); os._exit(0)"]
        with subprocess.Popen([p.PCTALLY, "record", "-q", "-f", "-g", "-e", "ring", "-a", "-o", path, "--for", "1"]) as recorder:
            while recorder.poll() is None:
                subprocess.run(program, check=True)
        data = p.report(path)
        self.check_identities(data, path)
        cut = {entry["reason"]: entry["ticks"] for entry in data["paths"]["cut"]}
        ticks = {row["program"]: row["ticks"] for row in p.report(path, "--by", "program")["rows"]}
        self.assertGreater(cut.get("memory-gone", 0) + cut.get("stack-unreadable", 0), 0, cut)  # older kernels give registers
        unknown = ticks.get("[program not known]", 0)
        self.assertLessEqual(cut.get("no-user-code", 0), ticks.get("[kernel]", 0) + unknown, (cut, ticks))

    def test_code_of_a_file_that_is_gone_is_a_cut_for_a_plain_user(self):
        """It has unwind tables, and no frame pointer: by its frame pointer its caller's caller would be called its caller."""
        data = p.report(self.record_gone(p.as_user() if p.has_other_users() else []))
        cut = {entry["reason"]: entry["ticks"] for entry in data["paths"]["cut"]}
        self.assertGreater(cut.get("file-unread", 0), 0.8 * placed(data), cut)

    LIMITED_USER = 65527  # of these tests alone: what a user has locked counts for all his processes

    def record_as_user(self, memory, case):
        """As a user without privilege who may lock `memory` bytes. The path of the profile, and its report."""
        path = os.path.join(tempfile.mkdtemp(dir=p.scratch()), "limited.pct")
        for directory in (p.scratch(), os.path.dirname(path)):
            os.chmod(directory, 0o777)
        done = subprocess.run(["prlimit", f"--memlock={memory}", "setpriv", "--reuid", str(self.LIMITED_USER), "--regid",
                               str(self.LIMITED_USER), "--clear-groups", p.PCTALLY, "record", "-q", "-g", "-e", "ring", "-o", path, "--",
                               p.program("known_paths"), case, LONG], capture_output=True, text=True)
        if done.returncode == 125:
            self.skipTest("engine ring is refused to plain users here: " + done.stderr.strip())
        self.assertEqual(done.returncode, 0, done.stderr)
        data = p.report(path)
        self.check_identities(data, path)
        return path, data

    def test_little_memory_to_lock_makes_the_copies_of_stacks_smaller(self):
        """What is cut for it is said, with the size of the copies. The inner part of a path, and small stacks, stay whole."""
        if os.geteuid() != 0 or shutil.which("setpriv") is None or shutil.which("prlimit") is None:
            self.skipTest("needs root, setpriv and prlimit to become a user with a small limit")
        most = resource.getrlimit(resource.RLIMIT_MEMLOCK)[1]
        if most == resource.RLIM_INFINITY or most >= (4 << 20) * os.cpu_count():  # rings of 4 MiB, and so copies of 32 KiB
            path, data = self.record_as_user("unlimited" if most == resource.RLIM_INFINITY else most, "large_frames")
            self.assertGreater(data["paths"]["complete"], self.COMPLETE * placed(data))
        path, data = self.record_as_user("0:0", "large_frames")
        cut = {entry["reason"]: entry["ticks"] for entry in data["paths"]["cut"]}
        self.assertGreater(cut.get("stack-too-deep", 0), 0.9 * placed(data), cut)  # the rest is its start
        text = subprocess.run([p.PCTALLY, "report", path], capture_output=True, text=True, check=True).stdout
        said = re.search(r"([\d,]+) cut where the stack is deeper than the (\d+) KiB copied of it", text)
        self.assertTrue(said, text)
        self.assertEqual(int(said.group(1).replace(",", "")), cut["stack-too-deep"])
        self.assertLess(int(said.group(2)), 24)
        paths = list(paths_of(tree(path)["nodes"]))
        work = sum(ticks for path_, ticks in paths if "work" in path_)
        inner = sum(ticks for path_, ticks in paths if contains(path_, ("in_large_frame",) * 3 + ("work",)))
        self.assertGreater(inner, self.COMPLETE * work)
        for case in ("plain", "recursion"):
            _, data = self.record_as_user("0:0", case)
            self.assertGreater(data["paths"]["complete"], self.COMPLETE * placed(data))


class ByBpf(OutsideTheProgram, PathsTest):
    ENGINE = "bpf"
    COMPLETE_IN_PYTHON = 0.8  # nobody may read a trampoline's code before the kernel has libpython's tables: 75 of 700 ms
    SECONDS_ON_OTHER_STACKS = "1"

    def test_what_lies_behind_512_frames_is_copied(self):
        """A KiB each: behind them 32 KiB are not enough. timer reads the stack where it is."""
        done, data = self.record([p.program("known_paths"), "nine_hundred", SECONDS])
        self.check_identities(data, done.path)
        cut = {entry["reason"]: entry["ticks"] for entry in data["paths"]["cut"]}
        self.assertGreater(cut.get("stack-too-deep", 0), 0.9 * placed(data), cut)
        self.assertGreater(max(path.count("in_large_frame") for path, _ in paths_of(tree(done.path)["nodes"])), 512)

    def test_programs_with_deep_stacks_are_sampled_more_rarely(self):
        """400 frames half of the time, 200 on average: one tick of two has its stack followed, and none is lost."""
        taken = {}
        for case in ("plain", "half_deep"):
            done, data = self.record([p.program("known_paths"), case, "1"])
            self.check_identities(data, done.path)
            taken[case] = data["samples"] / data["ticks"]
        self.assertEqual(taken["plain"], 1)
        self.assertLess(taken["half_deep"], 0.75)
        self.assertEqual([warning["id"] for warning in data["warnings"]].count("deep-stacks"), 1)
        paths = [(path, ticks) for path, ticks in paths_of(tree(done.path)["nodes"]) if "half_deep" in path and path[-1] == "work"]
        deep = sum(ticks for path, ticks in paths if "deep" in path) / sum(ticks for _, ticks in paths)
        self.assertLess(abs(deep - 0.5), 0.15)  # of 400 samples and more: beyond five standard deviations

    def test_it_is_taken_wherever_it_works(self):
        """As without -g. ring has no tick of most children of a millisecond, and loses ticks where events come in bursts."""
        path = os.path.join(p.scratch(), "taken.pct")
        with subprocess.Popen([p.program("spinner"), "1", "30"]) as running:
            self.addCleanup(running.kill)
            for target in (["-a", "--for", "0.2"], ["-p", str(running.pid), "--for", "0.2"], ["--", "true"],
                           ["--scope", "thread", "--", "true"], ["-e", "page-faults", "--", "true"]):
                for options in ([], ["-g"]):
                    with self.subTest(target=target, options=options):
                        done = subprocess.run([p.PCTALLY, "record", "-q", "-f", *options, "-o", path, *target], capture_output=True, text=True)
                        self.assertEqual(done.returncode, 0, done.stderr)
                        self.assertEqual(p.report(path)["engine"], "bpf")
            running.kill()

    def test_where_the_kernel_refuses_the_program_it_is_ring(self):
        """Linux 5.15 to 6.0 has all that the probe asks for, and not what the larger program for paths needs."""
        path = os.path.join(p.scratch(), "older.pct")
        done = subprocess.run([p.program("old_bpf"), p.PCTALLY, "record", "-v", "-f", "-g", "-o", path, "--", p.program("known_paths"), "plain",
                               SECONDS], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, "not taken: bpf: bpf: Invalid argument: ")
        data = p.report(path)
        self.assertEqual(data["engine"], "ring")
        self.check_identities(data, path)

    def test_children_of_a_millisecond_are_sampled(self):
        """By plain `record -g`. An event of a task begins a whole period with each child: ring had 10 to 20 % of their time."""
        done, data, stolen = p.record_and_stolen(lambda: p.record([p.program("forker"), "fork", "500", "1"], "-g"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_identities(data, done.path)
        missing = data["unsampled_s"] + data["lost_s"]  # four standard deviations, and 2 %
        self.assertLess(missing, 2 * data["chance_s"] + stolen + 0.02 * data["cpu_s"], data["sampled_s"] / data["cpu_s"])

    def test_the_end_of_a_process_is_cut_with_its_own_reason(self):
        """The kernel frees 200 MiB of it after its stack is gone: hundreds of ticks."""
        program = "import os; x = bytearray(b'x') * (200 << 20); os._exit(0)"
        done, data = self.record([sys.executable, "-S", "-c", program], "-F", "10000")
        self.check_identities(data, done.path)
        cut = {entry["reason"]: entry["ticks"] for entry in data["paths"]["cut"]}
        self.assertGreater(cut.get("memory-gone", 0), 20, cut)
        self.assertLess(cut.get("stack-unreadable", 0), 5 + cut["memory-gone"] / 10, cut)


class PositionIndependentGo(PathsTest):
    """Its standard library has to be compiled for that: half a minute where that takes long."""
    ENGINE = "ring"

    def test_goroutines_of_a_program_whose_place_is_random(self):
        self.check_goroutines("pie")
        # Its runtime takes SIGTRAP by system calls of its own, and its threads have no memory of the C library's.
        for engine in ("timer", "trap"):
            with self.subTest(engine):
                done = p.record([os.path.join(p.scratch(), "goroutines")], "-e", engine)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual([row["engine"] for row in done.report()["processes"] if "no C library" in row["note"]], [""])


class Reports(PathsTest):
    """What they say of call paths, whoever took them."""
    ENGINE = "timer"  # everybody has it

    def test_callers_says_who_calls_and_from_which_line(self):
        done, data = self.record([p.program("known_paths"), "plain", SECONDS])
        out = subprocess.run([p.PCTALLY, "report", "--json", "--callers", "work", done.path], capture_output=True, text=True)
        callers = json.loads(out.stdout)["callers"]
        self.assertEqual(out.stderr, "")
        self.assertEqual(callers[0]["function"], "plain")
        self.assertGreater(callers[0]["share"], 0.98)
        self.assertTrue(callers[0]["file"].endswith("known_paths.c"), callers[0])
        self.assertGreater(data["rows"][0]["ticks"], 0)
        line = data["paths"]["hot_line"]
        self.assertTrue(line["file"].endswith("known_paths.c"), line)
        self.assertEqual(line["function"], "work")
        self.assertGreater(line["share"], 0.3)
        self.assertNotIn("hot_line", p.report(done.path, "--focus", "plain")["paths"])  # its lines are not known

    def test_record_says_how_many_paths_are_complete_where_many_are_not(self):
        for case, said in (("no_table", "[0-9].[0-9] % with a complete call path"), ("plain", None)):
            with self.subTest(case):
                done = p.record([p.program("known_paths"), case, "0.2"], "-g", "-e", self.ENGINE, quiet=False)
                if said:
                    self.assertRegex(done.stderr.decode(), said)
                else:
                    self.assertNotIn(b"call path", done.stderr)

    def test_callers_by_a_part_of_a_name_are_said_to_be(self):
        """Where main is no name on a stack, `--callers main` may find dl_main, which is not what was asked for."""
        done, data = self.record([p.program("known_paths"), "plain", "0.1"])
        self.assertEqual([row["short"] for row in data["rows"] if "plai" in row["short"]], ["plain"])
        part, exact = (subprocess.run([p.PCTALLY, "report", "--callers", name, done.path], capture_output=True, text=True)
                       for name in ("plai", "plain"))
        self.assertEqual(part.stderr, "pctally: no function on a stack is called plai; only plain (known_paths) has that in its name\n")
        self.assertEqual((exact.stdout, exact.stderr), (part.stdout, ""))

    def test_functions_of_one_name_stay_apart_though_one_is_only_inlined(self):
        """The hash() of one file is inlined into its callers, that of the other has code."""
        directory = tempfile.mkdtemp(dir=p.scratch())
        loop = "unsigned hash(unsigned x) { for (int i = 0; i < 400; i++) x = x * 1664525 + (x >> 16); return x; }\n"
        for name, text in (("a.c", "static inline __attribute__((always_inline)) " + loop +
                            "unsigned work_b(unsigned);\n__attribute__((noinline)) unsigned work_a(unsigned x) { return hash(x) + 1; }\n"
                            "int main(void) { unsigned x = 1; for (int i = 0; i < 150000; i++) x += work_a(x) + work_b(x); return x == 0; }\n"),
                           ("b.c", "static __attribute__((noinline)) " + loop + "unsigned work_b(unsigned x) { return hash(x) + 2; }\n")):
            with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
                file.write(text)
        subprocess.run(["cc", "-O2", "-g", "-o", "statics", "a.c", "b.c"], cwd=directory, check=True)
        done, data = self.record([os.path.join(directory, "statics")])
        row = next(row for row in data["rows"] if row["short"] == "hash")
        ambiguous = subprocess.run([p.PCTALLY, "report", "--callers", "hash", done.path], capture_output=True, text=True)
        self.assertNotEqual(ambiguous.returncode, 0)
        self.assertIn("hash [a.c:1]", ambiguous.stderr)
        for name, caller, ticks in (("hash [b.c:1]", "work_b", row["total_ticks"]), ("hash [a.c:1]", "work_a", None)):
            found = p.report(done.path, "--callers", name)
            self.assertEqual({one["function"] for one in found["callers"]}, {caller})
            if ticks is not None:
                self.assertEqual(found["ticks"], ticks)

    def test_every_table_has_totals_and_the_schema_describes_all_views(self):
        done, _ = self.record([p.program("known_paths"), "recursion", LONG])
        for by in ("object", "line", "program", "program,function"):
            data = p.report(done.path, "--by", by)
            self.check_totals(data["rows"])
            self.assertGreater(max(row.get("total", 0) for row in data["rows"]), 0.9, by)
        sums = [sum(node["ticks"] for node in nodes["nodes"] if node["parent"] < 0)
                for nodes in (tree(done.path), tree(done.path, "--hide", "."))]
        self.assertEqual(sums[0], sums[1])
        try:
            import jsonschema
        except ImportError:
            self.skipTest("python3-jsonschema is not installed")
        with open(os.path.join(os.path.dirname(__file__), "..", "..", "docs", "report.schema.json"), encoding="utf-8") as file:
            check = jsonschema.Draft202012Validator(json.load(file)).validate
        views = ([], ["--by", "object"], ["--by", "line"], ["--by", "program,function"], ["--tree"], ["--tree", "--bottom-up"],
                 ["--tree", "--hide", "."], ["--callers", "work"], ["--callers", "deep"], ["--callers", "deep", "--limit", "1"])
        for view in views:
            with self.subTest(view):
                out = subprocess.run([p.PCTALLY, "report", "--json", *view, done.path], capture_output=True, text=True)
                check(json.loads(out.stdout))

    def test_focus_and_ignore_share_the_ticks_between_them(self):
        done, _ = self.record([p.program("known_paths"), "plain,recursion,in_thread,inlining", "0.1"])
        kept = []
        for option in ("--focus", "--ignore"):
            data = p.report(done.path, option, "^deep$")
            self.check_identities(data, done.path)
            rows = {row["function"]: row["ticks"] for row in data["rows"]}
            kept.append(data["ticks"] - rows.get("[paths left out]", 0))
        self.assertEqual(sum(kept), data["ticks"])
        self.assertGreater(kept[0], 0)
        hidden = p.report(done.path, "--hide", "^work$")
        self.assertEqual([row for row in hidden["rows"] if row["function"] == "work"], [])
        self.assertEqual(hidden["ticks"], data["ticks"])


class ManyFunctions(unittest.TestCase):
    """A hundred thousand of them. Each has one page fault of its own, and its call."""

    EVENTS = ("-g", "-e", "page-faults", "-c", "1")

    def setUp(self):
        self.engine = next((name for name in ("bpf", "ring") if p.engine_available(name)), None)
        if self.engine is None:
            self.skipTest("engines bpf and ring are not available")

    def test_of_a_command(self):
        done = p.record([p.program("many_functions")], "-e", self.engine, *self.EVENTS)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check(done.report())

    def test_of_the_whole_machine(self):
        if os.geteuid() != 0:
            self.skipTest("needs root")
        path = os.path.join(p.scratch(), "functions.pct")
        with subprocess.Popen([p.PCTALLY, "record", "-q", "-f", "-e", self.engine, *self.EVENTS, "-a", "-o", path]) as recorder:
            while not os.path.exists(path) and recorder.poll() is None:  # it is there when all is watched
                time.sleep(0.02)
            subprocess.run([p.program("many_functions")], check=True)
            recorder.send_signal(signal.SIGINT)
        self.assertEqual(recorder.returncode, 0)
        data = p.report(path)
        others = data["ticks"] - sum(row["ticks"] for row in data["rows"] if row["object"] == "many_functions")
        if others > 50000:  # the trees are the machine's, and hold little more than this program
            print(f"not judged: many functions of the whole machine: others had {others} page faults", flush=True)
            return
        self.check(data)

    def check(self, data):
        p.assert_ledger(self, data)
        rows = [row for row in data["rows"] if re.fullmatch(r"f_\d+", row["function"]) and row["object"] == "many_functions"]
        print(f"{self.engine}: {len(rows)} functions of {data['ticks']} ticks, {data['lost']} lost, {data['paths']['folded']} folded", flush=True)
        self.assertEqual((data["full"], data["paths"]["folded"]), (0, 0))
        self.assertEqual(len({row["function"] for row in rows}), len(rows))
        self.assertGreaterEqual(len(rows), 100000 - data["lost"])
        cut = sum(reason["ticks"] for reason in data["paths"]["cut"]) + data["paths"]["no_room"]
        caller = next(row for row in data["rows"] if row["function"] == "call_all")
        self.assertGreaterEqual(caller["total_ticks"] + cut, sum(row["ticks"] for row in rows))
        self.assertEqual({row["total_ticks"] - row["ticks"] for row in rows}, {0})


class InTheProgram(EveryEngine):
    """Engines whose ticks unwind their own stack: no copy bounds it, and what they must not do is harm the program."""

    def test_paths_of_a_program_with_thread_sanitizer(self):
        """Its sigaction puts handlers off until the thread makes a call that it knows, and had ticks with the callers of that call."""
        program = p.program("tsan_calls")
        if not os.path.exists(program) or subprocess.run([program], capture_output=True).returncode != 0:
            self.skipTest("the compiler has no -fsanitize=thread, or its programs do not run here")
        done, data = self.record([program], *self.OFTEN)
        p.assert_ledger(self, data)
        paths = list(paths_of(tree(done.path)["nodes"]))
        work = sum(ticks for path, ticks in paths if "work" in path)
        self.assertGreater(work, 0.9 * placed(data))
        self.assertGreater(sum(ticks for path, ticks in paths if contains(path, ("work", "caller_a", "spin_a"))), 0.5 * work)
        self.assertLess(sum(ticks for path, ticks in paths if "touch" in path), 0.05 * work)
        self.assertLess(data["unsampled_s"], (0.2 + p.stolen_share(data)) * data["cpu_s"])

    def test_a_path_that_cannot_be_continued_is_cut_with_its_reason(self):
        for case, reason in (("no_table", "no-unwind-table"), ("very_deep", "too-many-frames")):
            with self.subTest(case):
                done, data = self.record([p.program("known_paths"), case, "1"])
                self.check_identities(data, done.path)
                cut = {entry["reason"]: entry["ticks"] for entry in data["paths"]["cut"]}
                # One in twenty ticks falls into the way down, whose paths are whole; of timer's 250 samples about 31 are taken:
                # 10 of them are there, which may be 60 % of the ticks, in two runs of a million.
                self.assertGreater(cut.get(reason, 0), 0.4 * data["ticks"], cut)

    def test_deep_stacks_are_sampled_more_rarely(self):
        """1,023 frames: about one sample of eight is taken, and counts for those left out, but for the last 14."""
        samples, sampled_s = {}, {}
        with p.Machine() as machine:
            for case in ("plain", "very_deep"):
                done, data = self.record([p.program("known_paths"), case, "0.6"])
                self.check_identities(data, done.path)
                samples[case] = data["samples"] / data["ticks"]
                sampled_s[case] = p.sampled_at_most(data)
        if self.ENGINE == "trap" or machine.judges("how much of it"):  # beside others timer has too few ticks
            self.assertGreater(min(sampled_s.values()), 0.7 * 0.6, sampled_s)
        if machine.judges("how much more rarely"):  # beside others plain stacks are sampled rarely, too
            self.assertLess(samples["very_deep"], 0.4 * samples["plain"])
        self.assertIn("deep-stacks", [warning["id"] for warning in data["warnings"]])

    def test_a_thread_that_blocks_faults_has_its_paths(self):
        """SIGSEGV and SIGBUS: a fault while its signal is blocked would end the program."""
        done, data = self.record([p.program("known_paths"), "blocking_faults", SECONDS])
        self.check_identities(data, done.path)
        paths = list(paths_of(tree(done.path)["nodes"]))
        wanted = ("main", "blocking_faults", "while_blocked", "work")
        self.assertGreater(sum(ticks for path, ticks in paths if contains(path, wanted)), 0)
        cut = {entry["reason"]: entry["ticks"] for entry in data["paths"]["cut"]}
        self.assertGreater(cut.get("stack-unreadable", 0), 0, cut)  # in with_wrong_rule()
        self.assertGreater(data["paths"]["complete"] + cut["stack-unreadable"], self.COMPLETE * placed(data), cut)

    def test_code_loaded_later_has_its_place_in_paths(self):
        done, data = self.record([sys.executable, "-c", IN_CODE_LOADED_LATER])
        self.check_identities(data, done.path)
        inside = [(path, ticks) for path, ticks in paths_of(tree(done.path)["nodes"]) if any("crc32" in name for name in path)]
        work = sum(ticks for _, ticks in inside)
        right = sum(ticks for path, ticks in inside if "Py_BytesMain" in path)
        self.assertGreater(work, 100)
        self.assertGreater(right, self.COMPLETE * work)


class Forks:
    """Engines whose ticks run in the program."""

    def test_forks_in_the_middle_of_ticks(self):
        """A child has half a tick of the thread that forked, if there was one, and none of the others."""
        done, data = self.record([p.program("fork_storm"), str(p.scale(100))], "-F", "10000")
        self.check_identities(data, done.path)
        self.assertNotIn("interrupted", [cut["reason"] for cut in data["paths"]["cut"]])
        paths = list(paths_of(tree(done.path)["nodes"]))
        for caller, callers in (("in_child", ("main",)), ("in_parent", ("main", "beside"))):
            inside = sum(ticks for path, ticks in paths if contains(path, (caller, "work")))
            right = sum(ticks for path, ticks in paths if any(contains(path, (outer, caller, "work")) for outer in callers))
            self.assertEqual(right, inside)
        work = sum(ticks for path, ticks in paths if "work" in path)
        right = sum(ticks for path, ticks in paths if contains(path, ("in_child", "work")) or contains(path, ("in_parent", "work")))
        self.assertGreater(work, 100)
        self.assertGreater(right, self.COMPLETE * work)
        print(f"{self.ENGINE}: {data['ticks']} ticks, {data['paths']['complete']} complete", flush=True)


class ByTimer(InTheProgram, Forks, PathsTest):
    ENGINE = "timer"
    COMPLETE = COMPLETE_IN_PYTHON = 0.92  # 50 samples of four ticks and more: four of them may be cut

    def test_nine_hundred_frames_of_a_kibibyte_are_whole(self):
        done, data = self.record([p.program("known_paths"), "nine_hundred", "1"])
        self.check_identities(data, done.path)
        self.assertNotIn("stack-too-deep", [entry["reason"] for entry in data["paths"]["cut"]])
        self.assertGreater(data["paths"]["complete"], 0.5 * placed(data), data["paths"])


class ByTrap(Forks, PathsTest):
    """The walk is timer's: what is its own is how the tick comes."""
    ENGINE = "trap"
    test_known_paths = EveryEngine.test_known_paths
    test_a_stub_of_the_plt_is_a_function = EveryEngine.test_a_stub_of_the_plt_is_a_function
    test_a_coroutine_is_read_up_to_its_start = EveryEngine.test_a_coroutine_is_read_up_to_its_start
    callers = staticmethod(EveryEngine.callers)
    test_totals_of_eight_threads_are_exact_while_paths_are_folded = \
        EveryEngine.test_totals_of_eight_threads_are_exact_while_paths_are_folded
    test_a_handler_on_a_stack_of_its_own_leads_to_what_it_interrupted = \
        EveryEngine.test_a_handler_on_a_stack_of_its_own_leads_to_what_it_interrupted
    test_symbols_of_one_unwind_entry = EveryEngine.test_symbols_of_one_unwind_entry
    test_a_killed_recorder_leaves_every_tick_with_a_path = EveryEngine.test_a_killed_recorder_leaves_every_tick_with_a_path
    test_a_path_that_cannot_be_continued_is_cut_with_its_reason = \
        InTheProgram.test_a_path_that_cannot_be_continued_is_cut_with_its_reason
    test_deep_stacks_are_sampled_more_rarely = InTheProgram.test_deep_stacks_are_sampled_more_rarely


if __name__ == "__main__":
    p.main()
