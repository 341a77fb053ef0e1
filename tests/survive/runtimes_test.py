"""Programs whose runtimes take signals, threads or time into their own hands live under the engines in the program, and what
is not observed of them has its true reason (docs/engines.md has the table)."""
import json
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

PATIENCE_S = 120


def inside():
    return p.engines("timer", "trap")


def source(name, text):
    path = os.path.join(p.scratch(), name)
    with open(path, "w") as file:
        file.write(text)
    return path


class Runtimes(unittest.TestCase):
    bare = {}  # command -> what it does without us

    def need(self, *programs):
        for name in programs:
            if shutil.which(name) is None:
                self.skipTest(f"{name} is not installed")

    def check(self, command, engine):
        """Ends as without us, with the same output; the report."""
        if tuple(command) not in self.bare:
            self.bare[tuple(command)] = subprocess.run(command, capture_output=True, timeout=PATIENCE_S, stdin=subprocess.DEVNULL)
        bare = self.bare[tuple(command)]
        done = p.record(command, "-e", engine)
        self.assertEqual((done.returncode, done.stdout), (bare.returncode, bare.stdout), (command, engine, done.stderr))
        data = done.report()
        p.assert_ledger(self, data)
        return data

    def test_gfortran(self):
        self.need("gfortran")
        program = os.path.join(p.scratch(), "fort")
        subprocess.run(["gfortran", "-O1", "-o", program, source("f.f90", "program p\nreal(8) :: s\ninteger :: i, j\ns = 0\n"
                        "do j = 1, 30\ndo i = 1, 2000000\ns = s + sqrt(dble(i))\nend do\nend do\nprint *, s\nend program\n")], check=True)
        for engine in inside():
            self.assertGreater(p.share_at_most(self.check([program], engine), "MAIN__"), 0.8, engine)

    def test_node(self):
        self.need("node")
        script = source("n.js", "let s = 0; for (let i = 0; i < 1e7; i++) s += i * i % 7; console.log(s)")
        for engine in inside():
            self.assertGreater(self.check(["node", script], engine)["sampled_s"], 0, engine)

    def test_node_with_a_jitdump(self):
        """Its functions have names, and lose them to no other process's dump."""
        self.need("node")
        script = source("slow.js", "function slowKey(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003; return s; }\n"
                        "let t = 0; for (let i = 0; i < 600; i++) t += slowKey(100000); console.log(t);\n")
        for engine in p.one_of_each_kind():
            directory = os.path.join(p.scratch(), f"dump-{engine}")
            os.mkdir(directory)
            done = p.record(["node", "--perf-prof", script], "-e", engine, cwd=directory)
            self.assertEqual(done.returncode, 0, done.stderr)
            dumps = [name for name in os.listdir(directory) if name.startswith("jit-")]
            self.assertEqual(len(dumps), 1, "node wrote no dump")
            rows = [row for row in done.report()["rows"] if row["object"] == "[jit]"]
            named = sum(row["ticks"] for row in rows if "slowKey" in row["function"])
            self.assertGreater(named, 0.8 * sum(row["ticks"] for row in rows), (engine, rows[:3]))
            self.assertGreater(named, 0, engine)
            lines = {}
            for row in p.report(done.path, "--by", "line")["rows"]:
                if row["object"] == "[jit]" and row["file"] == script:
                    lines[row["line"]] = lines.get(row["line"], 0) + row["ticks"]
            self.assertGreater(lines.get(1, 0), 0.5 * named, (engine, lines))

    def test_a_jitdump_with_lines(self):
        """They are kept in the profile: the dump may be gone, and an archive has them, too."""
        for engine in p.one_of_each_kind():
            directory = os.path.join(p.scratch(), f"lines-{engine}")
            os.mkdir(directory)
            done = p.record([p.program("jit_dump"), "0.4"], "-e", engine, cwd=directory)
            if done.returncode == 77:
                self.skipTest("no machine code for this machine in programs/loop_code.h")
            self.assertEqual(done.returncode, 0, done.stderr)
            os.remove(os.path.join(directory, next(name for name in os.listdir(directory) if name.startswith("jit-"))))
            archive = os.path.join(directory, "archive.pct")
            subprocess.run([p.PCTALLY, "archive", "-o", archive, done.path], check=True, capture_output=True)
            for path in (done.path, archive):
                data = p.report(path, "--by", "line")
                made = {row["line"]: row for row in data["rows"] if row["object"] == "[jit]"}
                self.assertIn(11, made, data["rows"])
                self.assertLessEqual(set(made), {10, 11})
                self.assertEqual((made[11]["file"], made[11]["function"]), ("/made/up.src", "jitted_loop"))
                shown = subprocess.run([p.PCTALLY, "annotate", "--json", "jitted_loop", path], capture_output=True, text=True)
                self.assertEqual(shown.returncode, 0, shown.stderr)
                instructions = json.loads(shown.stdout)["instructions"]
                self.assertTrue(instructions[-1]["mnemonic"].startswith("ret"), instructions)
                self.assertEqual(sum(one["ticks"] for one in instructions), sum(row["ticks"] for row in made.values()))
                self.assertGreater(made[11]["ticks"], 0.9 * sum(row["ticks"] for row in made.values()))

    def test_java(self):
        self.need("java")
        script = source("J.java", "public class J { public static void main(String[] a) { long s = 0; for (int i = 0; i < 50000000; i++) "
                        "s += i * (long) i % 7; System.out.println(s); } }")
        for engine in inside():
            self.assertGreater(self.check(["java", script], engine)["sampled_s"], 0, engine)

    def test_go_without_the_c_library_has_the_reason(self):
        self.need("go")
        program = os.path.join(p.scratch(), "gostatic")
        go = source("g.go", 'package main\nimport "fmt"\nfunc main() { s := 0; for i := 0; i < 200000000; i++ { s += i * i % 7 }; fmt.Println(s) }\n')
        made = subprocess.run(["go", "build", "-o", program, go], capture_output=True, text=True,
                              env={**os.environ, "GO111MODULE": "off", "GOCACHE": os.path.join(p.scratch(), "go"), "CGO_ENABLED": "0"})
        if made.returncode != 0:
            self.skipTest(f"go does not build here: {made.stderr[:200]}")
        for engine in inside():
            rows = [row for row in self.check([program], engine)["processes"] if row["note"]]
            self.assertTrue(rows and "statically linked" in rows[0]["note"], rows)

    def test_a_guest_of_qemu_user_lives(self):
        """The guest's C library loads ours. Before qemu 9 a handler's stack is not aligned there: nothing in ours may ask for that."""
        self.need("qemu-x86_64-static")
        for engine in inside():
            self.check(["qemu-x86_64-static", p.program("spinner"), "1", "0.2"], engine)

    def test_valgrind_is_left_alone(self):
        """It hung under timer, and died under trap."""
        self.need("valgrind")
        for engine in inside():
            data = self.check(["valgrind", "-q", p.program("spinner"), "1", "0.4"], engine)  # the recorder has to see it once
            rows = [row for row in data["processes"] if row["note"]]
            self.assertTrue(rows and "runs in valgrind" in rows[0]["note"], rows)

    def test_a_debuggers_program_is_left_alone(self):
        """gdb stopped at the first tick, and killed the program."""
        self.need("gdb")
        for engine in inside():
            done = p.record(["gdb", "-q", "-nx", "-batch", "-ex", "run", "--args", p.program("spinner"), "1", "0.4"], "-e", engine)
            self.assertIn(b"exited normally", done.stdout, (engine, done.stdout))
            data = done.report()
            p.assert_ledger(self, data)
            rows = {row["comm"]: row["note"] for row in data["processes"]}
            self.assertIn("runs under a debugger", rows["spinner"], rows)

    def test_strace_is_no_debugger(self):
        self.need("strace")
        for engine in inside():
            done = p.record(["strace", "-f", "-o", "/dev/null", p.program("spinner"), "1", "0.6"], "-e", engine)
            self.assertEqual(done.returncode, 0)
            self.assertGreater(p.share_at_most(done.report(), "spin_here"), 0.02, engine)  # most of it is strace's; else none


if __name__ == "__main__":
    p.main()
