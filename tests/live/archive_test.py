"""pctally archive: a profile that is read elsewhere as it is here, and holds nothing that it should not."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import forged
import pctally_test as p

SOURCE = """
#line 2 "/etc/shadow"
__attribute__((noinline)) double shadow(int n) { double s = 0; for (int i = 0; i < n; i++) s += i * 0.50; return s; }
#line 2 "/dev/zero"
__attribute__((noinline)) double zero(int n) { double s = 0; for (int i = 0; i < n; i++) s += i * 0.25; return s; }
#line 2 "DIRECTORY/fifo"
__attribute__((noinline)) double fifo(int n) { double s = 0; for (int i = 0; i < n; i++) s += i * 0.13; return s; }
#line 2 "DIRECTORY/large.c"
__attribute__((noinline)) double large(int n) { double s = 0; for (int i = 0; i < n; i++) s += i * 0.14; return s; }
#line 2 "DIRECTORY/closed.c"
__attribute__((noinline)) double closed(int n) { double s = 0; for (int i = 0; i < n; i++) s += i * 0.15; return s; }
#line 2 "DIRECTORY/own.c"
__attribute__((noinline)) double own(int n) { double s = 0; for (int i = 0; i < n; i++) s += i * 0.16; return s; }
int main(void) {
  volatile double sum = 0;
  for (int i = 0; i < 200; i++) {
    int n = 300000 + i;  // another one each time: these functions are pure
    sum += shadow(n) + zero(n) + fifo(n) + large(n) + closed(n) + own(n);
  }
  return 0;
}
"""


def run(*words, **options):
    return subprocess.run([p.PCTALLY, *words], capture_output=True, text=True, **options)


def bytes_of(path):
    with open(path, "rb") as file:
        return file.read()


@unittest.skipIf(shutil.which("gcc") is None, "gcc is not installed")
class Archive(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(dir=p.scratch())
        cls.program = os.path.join(cls.directory, "named_by_dwarf")
        source = os.path.join(cls.directory, "main.c")
        with open(source, "w") as file:
            file.write(SOURCE.replace("DIRECTORY", cls.directory))
        subprocess.run(["gcc", "-O1", "-g", "-o", cls.program, source], check=True)
        os.mkfifo(cls.path("fifo"))
        for name, text in (("large.c", "x" * (5 << 20)), ("closed.c", "secret\n" * 3), ("own.c", "first line\nsecond line\n")):
            with open(cls.path(name), "w") as file:
                file.write(text)
            os.chmod(cls.path(name), 0o644)
        if os.geteuid() == 0:
            os.chmod(cls.path("closed.c"), 0o600)
        else:
            os.chmod(cls.path("closed.c"), 0)
        cls.profile = cls.path("a.pct")
        done = p.record([cls.program, "argument-of-mine"], path=cls.profile)
        assert done.returncode == 0, done.stderr

    @classmethod
    def path(cls, name):
        return os.path.join(cls.directory, name)

    def archive(self, name, *options):
        done = run("archive", "-f", "-o", self.path(name), *options, self.profile)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def elsewhere(self, path):
        """What is printed of a profile where its program and sources are gone."""
        hidden = self.directory + ".hidden"
        kept = tempfile.mkdtemp(dir=p.scratch())
        profile = shutil.copy(path, kept)
        os.rename(self.directory, hidden)
        try:
            return self.printed(profile)
        finally:
            os.rename(hidden, self.directory)

    def printed(self, profile):
        texts = []
        for words in (["report", "--limit", "0"], ["report", "--limit", "0", "--by", "line"], ["report", "--by", "line", "--json"],
                      ["annotate", "own"], ["annotate", "own", "--all"], ["annotate", "zero", "--json"], ["export", "--format", "callgrind"]):
            query = words[1:2] if words[0] == "annotate" else []
            done = run(words[0], *query, profile, *words[1 + len(query):])
            self.assertEqual(done.returncode, 0, (words, done.stderr))
            texts.append(done.stdout.replace(profile, "PROFILE"))
        return texts

    def test_it_is_read_elsewhere_as_it_is_here(self):
        here = self.printed(self.profile)
        self.archive("b.pct")
        for before, after in zip(here, self.elsewhere(self.path("b.pct"))):
            self.assertEqual(after, before)
        self.assertIn("second line", here[3])

    def test_call_paths_are_read_elsewhere_as_they_are_here(self):
        """The hot path has functions without ticks of their own, whose code is in no archive."""
        done = p.record([self.program], "-g", path=self.path("paths.pct"))
        self.assertEqual(done.returncode, 0, done.stderr)
        here = self.printed(self.path("paths.pct"))
        run("archive", "-f", "-o", self.path("paths.pct"), self.path("paths.pct"))
        for before, after in zip(here, self.elsewhere(self.path("paths.pct"))):
            self.assertEqual(after, before)
        self.assertIn("hot line", here[0])

    def test_a_sum_of_archives_is_one(self):
        """In any order, and of sums."""
        second = self.path("second.pct")
        self.assertEqual(p.record([self.program], "-F", "499", path=second).returncode, 0)
        files = [self.path("b1.pct"), self.path("b2.pct")]
        for profile, file in zip((self.profile, second), files):
            self.assertEqual(run("archive", "-q", "-f", "-o", file, profile).returncode, 0)

        def merged(name, *parts):
            done = run("merge", "-q", "-f", "-o", self.path(name), *parts)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            return self.path(name)

        here = self.printed(merged("plain.pct", self.profile, second))
        whole = merged("m.pct", *files)
        for before, after in zip(here, self.elsewhere(whole)):
            self.assertEqual(after, before)
        again = merged("n.pct", merged("one.pct", files[1]), files[0])
        self.assertTrue(bytes_of(again) == bytes_of(whole), "another order of the same runs")

    def test_what_not_everybody_may_read_is_left_out_and_nothing_is_waited_for(self):
        done = self.archive("c.pct")
        self.assertIn(f"source: {self.path('own.c')}\n", done.stderr)
        self.assertEqual(done.stderr.count("source: "), 1, done.stderr)
        for name in ("/etc/shadow", "/dev/zero", self.path("fifo"), self.path("large.c"), self.path("closed.c")):
            self.assertRegex(done.stderr, f"not in it: .*{name}")
        held = bytes_of(self.path("c.pct"))
        self.assertFalse(b"secret" in held)
        self.assertFalse(b"root:" in held)
        self.assertLess(len(held), 4 << 20)

    def test_the_largest_source_is_in_it_with_and_without_an_end_of_its_last_line(self):
        for end in ("", "\n"):
            text = "int main(void) { volatile long s = 0; for (long i = 0; i < 200000000; i++) s += i; }\n//"
            with open(self.path("full.c"), "w") as file:
                file.write(text + "x" * ((4 << 20) - len(text) - len(end)) + end)
            subprocess.run(["gcc", "-O1", "-g", "-o", self.path("full"), self.path("full.c")], check=True)
            self.assertEqual(p.record([self.path("full")], path=self.path("full.pct")).returncode, 0)
            done = run("archive", self.path("full.pct"))
            self.assertEqual((done.returncode, done.stderr.count("source: ")), (0, 1), done.stderr)
            os.unlink(self.path("full.c"))
            self.assertIn("s += i", run("annotate", "main", self.path("full.pct")).stdout)

    def test_sources_command_and_directories_stay_out_where_asked(self):
        done = self.archive("d.pct")
        self.assertIn("command line: ", done.stderr)
        held = bytes_of(self.path("d.pct"))
        for text in (b"second line", b"argument-of-mine", self.directory.encode()):
            self.assertTrue(text in held, text)
        done = self.archive("g.pct", "--no-sources", "--strip-paths")
        self.assertRegex(done.stderr, r"command line: [^/\s]+ .*argument-of-mine")
        held = bytes_of(self.path("g.pct"))
        self.assertTrue(b"argument-of-mine" in held)
        self.assertFalse(self.directory.encode() in held, "the command's directory stays out, too")
        done = self.archive("e.pct", "--no-sources", "--no-command", "--strip-paths")
        held = bytes_of(self.path("e.pct"))
        for text in (b"second line", b"argument-of-mine", self.directory.encode()):
            self.assertFalse(text in held, text)
        self.assertNotIn("command line", done.stderr)
        rows = run("report", "--limit", "0", "--by", "line", self.path("e.pct"))
        self.assertEqual(rows.returncode, 0, rows.stderr)
        self.assertRegex(rows.stdout, r"(?m) own\.c:2 +own")

    def test_the_command_lines_of_all_runs_of_a_sum_are_listed(self):
        """Each once: the file holds them all, and so does a page that is asked for them."""
        files = [self.profile]
        for argument in ("another argument", "argument-of-mine"):
            files.append(self.path(f"run{len(files)}.pct"))
            self.assertEqual(p.record([self.program, argument], path=files[-1]).returncode, 0)
        total, page = self.path("runs.pct"), self.path("runs.html")
        self.assertEqual(run("merge", "-q", "-f", "-o", total, *files).returncode, 0)
        for options, program in (((), self.program), (("--strip-paths",), os.path.basename(self.program))):
            done = run("archive", "-f", "-o", self.path("all.pct"), *options, total)
            self.assertEqual(sorted(re.findall("(?m)^pctally: command line: (.*)$", done.stderr)),
                             [f"{program} 'another argument'", f"{program} argument-of-mine"])
        self.assertNotIn("command line", run("archive", "-f", "-o", self.path("none.pct"), "--no-command", total).stderr)
        for held, said in ((total, "it holds 2 command lines of the recordings"), (self.profile, "it holds the command line of the recording"),
                           (self.path("none.pct"), "it holds no command line, as none was recorded")):
            self.assertIn(f"pctally: {said}\n", run("report", "--html", page, "--command", held).stderr)
        run("report", "--html", page, "--command", total)
        for argument in (b"another argument", b"argument-of-mine"):
            self.assertTrue(argument in bytes_of(page), argument)

    def stripped(self, *words):
        """A stripped archive of a command in a directory of its own, and what is in its bytes."""
        profile, out = self.path("whole.pct"), self.path("stripped.pct")
        done = p.record(words, path=profile, cwd=self.directory)
        self.assertEqual(done.returncode, 0)
        done = run("archive", "-q", "-f", "-o", out, "--strip-paths", profile, cwd=self.directory)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return out, bytes_of(out)

    def test_own_lines_are_the_same_without_directories(self):
        """Headers of the system were one's own then, for their paths were relative."""
        with open(self.path("compares.cc"), "w") as file:
            file.write("#include <algorithm>\n#include <numeric>\n#include <vector>\n"
                       "int main() { std::vector<unsigned> v(1 << 16); volatile unsigned sum = 0;\n"
                       "  for (int i = 0; i < 30; ++i) { std::iota(v.rbegin(), v.rend(), 0u); std::make_heap(v.begin(), v.end());\n"
                       "    std::sort(v.begin(), v.end());\n"
                       "    for (int k = 0; k < 10; ++k) for (unsigned x : v) sum = sum + x; } }\n")  # 0.05 s of its own
        subprocess.run(["g++", "-O1", "-g", "-o", self.path("compares"), self.path("compares.cc")], check=True)
        stripped, held = self.stripped("./compares")
        self.assertFalse(self.directory.encode() in held)

        def lines(profile):
            rows = p.report(profile, "--by", "line", "--own")["rows"]
            return sorted((os.path.basename(row["file"]), row["line"], row["ticks"]) for row in rows if row["file"])

        self.assertEqual(lines(stripped), lines(self.path("whole.pct")))
        self.assertTrue(any(file == "compares.cc" for file, _, _ in lines(stripped)))

    def test_sources_of_one_name_stay_two_without_their_directories(self):
        for part in ("first_part", "second_part"):
            os.makedirs(self.path(f"tree/{part}"), exist_ok=True)
            with open(self.path(f"tree/{part}/util.c"), "w") as file:
                file.write(f"/* text of {part[:5]} */\n__attribute__((noinline)) double {part[:-5]}(int n) "
                           "{ double s = 0; for (int i = 0; i < n; i++) s += i * 0.5; return s; }\n")
        with open(self.path("tree/main.c"), "w") as file:
            file.write("double first(int), second(int);\n"
                       "int main(void) { volatile double s; for (int i = 0; i < 200; i++) s = first(500000 + i) + second(500000 + i); }\n")
        subprocess.run(["gcc", "-O1", "-g", "-o", "tree/prog", "tree/main.c", "tree/first_part/util.c", "tree/second_part/util.c"], check=True,
                       cwd=self.directory)
        out, held = self.stripped("tree/prog")
        for directory in (self.directory.encode(), b"tree/", b"_part"):
            self.assertFalse(directory in held, directory)
        for function, other in (("first", "second"), ("second", "first")):
            done = run("annotate", function, out)
            self.assertIn("for (int i = 0; i < n; i++) s += i * 0.5", done.stdout, done.stderr)
            self.assertNotIn(f"double {other}(int", done.stdout)
        self.assertEqual(held.count(b"/util.c"), 1, "one of the two has a number before its name")

    @unittest.skipIf(shutil.which("node") is None, "node is not installed")
    def test_names_of_a_jit_have_no_directories(self):
        os.makedirs(self.path("my scripts"), exist_ok=True)
        with open(self.path("my scripts/n.js"), "w") as file:
            file.write("function slowKey(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003; return s; }\n"
                       "let t = 0; for (let i = 0; i < 300; i++) t += slowKey(100000); console.log(t);\n")
        for option in ("--perf-basic-prof", "--perf-prof"):  # names; names and lines
            with self.subTest(option):
                out, held = self.stripped("node", option, "my scripts/n.js")
                self.assertRegex(run("report", "--limit", "0", out).stdout, r"slowKey n\.js")
                self.assertFalse(self.directory.encode() in held)
                self.assertEqual(held.count(b"my scripts/"), 1, "in the command line alone")

    def test_a_sum_of_two_builds_shows_no_source_of_the_other(self):
        """Each was compiled at the same path, as a builder of releases does."""
        files = []
        for constant in ("0.25", "0.75"):
            with open(self.path("build.c"), "w") as file:
                file.write("__attribute__((noinline)) double work(int n) { double s = 0; for (int i = 0; i < n; i++) "
                           f"s += i * {constant}; return s; }}\n"
                           "int main(void) { volatile double s; for (int i = 0; i < 200; i++) s = work(500000 + i); }\n")
            subprocess.run(["gcc", "-O1", "-g", "-o", self.path("build"), self.path("build.c")], check=True)
            files.append(self.path(f"build{constant}.pct"))
            self.assertEqual(p.record([self.path("build")], path=files[-1]).returncode, 0)
            self.assertIn("source: ", run("archive", files[-1]).stderr)
        os.unlink(self.path("build"))
        total = self.path("builds.pct")
        self.assertEqual(run("merge", "-q", "-f", "-o", total, *files).returncode, 0)
        again = self.path("again.pct")
        done = run("archive", "-f", "-o", again, total)
        self.assertIn(f"not in it: {self.path('build.c')}: not kept: two texts of it differ\n", done.stderr)
        for profiles in ([total], [again]):
            names = [row["object"] for row in json.loads(run("report", "--json", *profiles).stdout)["rows"] if row["function"] == "work"]
            self.assertEqual(len(names), 2, "a row for each build")
            for name in names:
                done = run("annotate", "work", "--object", re.escape(name), *profiles)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("(source not kept: two texts of it differ)", done.stdout)
                self.assertNotIn("s += i", done.stdout)
        with open(self.path("build.c")) as file:
            self.assertIn("0.75", file.read())  # it is there, and not shown for the other build

    def test_it_can_be_archived_again_and_where_its_program_is_gone(self):
        self.archive("f.pct")
        first = bytes_of(self.path("f.pct"))
        self.assertEqual(run("archive", "-q", self.path("f.pct")).returncode, 0)
        self.assertTrue(bytes_of(self.path("f.pct")) == first)
        copy = shutil.copy(self.path("f.pct"), tempfile.mkdtemp(dir=p.scratch()))
        os.rename(self.directory, self.directory + ".hidden")
        try:
            self.assertEqual(run("archive", "-q", copy).returncode, 0)
            self.assertIn("second line", run("annotate", "own", copy).stdout)
        finally:
            os.rename(self.directory + ".hidden", self.directory)

    def test_code_that_never_had_lines_misses_none_where_its_program_is_gone(self):
        """That of a PLT."""
        program = shutil.copy(p.program("known_paths"), self.path("stubs"))
        profile = self.path("stubs.pct")
        self.assertEqual(p.record([program, "stubs", "0.3"], path=profile).returncode, 0)
        self.assertEqual(run("archive", "-q", profile).returncode, 0)
        os.unlink(program)
        done = run("report", "--by", "line", "--limit", "0", profile)
        self.assertRegex(done.stdout, r"pthread_mutex_lock@plt +stubs\n", "no tick in the stub: the test tests nothing")
        self.assertNotRegex(done.stdout + done.stderr, "note: stubs has")

    def test_a_file_whose_recorder_was_killed_stays_incomplete(self):
        killed = self.path("killed.pct")
        recorder = subprocess.Popen([p.PCTALLY, "record", "-q", "-f", "-o", killed, "--", p.program("spinner"), "1", "60"])
        p.await_ticks(killed, 1, recorder)
        child = p.command_of(recorder.pid)
        self.assertIn("is still being recorded", run("archive", killed).stderr)
        recorder.kill()
        recorder.wait()
        os.kill(child, 9)
        before = run("report", killed)
        self.assertEqual(run("archive", "-q", killed).returncode, 0)
        self.assertEqual(run("report", killed).stdout, before.stdout)


# `entry` and `outer` have one start; without symbols both are one unwind entry.
NESTED = """
 .text
 .globl outer, entry
 .type outer,@function
 .type entry,@function
outer:
entry:
 .cfi_startproc
 mov $400000000,%rcx
1: dec %rcx
 jnz 1b
 .size entry,.-entry
 mov $300000000,%rcx
2: dec %rcx
 jnz 2b
 ret
 .size outer,.-outer
 .cfi_endproc
 .section .note.GNU-stack,"",@progbits
"""


@unittest.skipIf(shutil.which("gcc") is None or os.uname().machine != "x86_64", "needs gcc for x86-64")
class FunctionsWithOneStart(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(dir=p.scratch())
        with open(cls.path("nested.s"), "w") as file:
            file.write(NESTED)
        with open(cls.path("main.c"), "w") as file:
            file.write("void outer(void); int main(void) { outer(); }\n")
        subprocess.run(["gcc", "-o", cls.path("prog"), cls.path("main.c"), cls.path("nested.s")], check=True)
        cls.recorded("whole.pct")
        subprocess.run(["strip", cls.path("prog")], check=True)
        cls.recorded("stripped.pct")
        os.unlink(cls.path("prog"))

    @classmethod
    def path(cls, name):
        return os.path.join(cls.directory, name)

    @classmethod
    def recorded(cls, name):
        assert p.record([cls.path("prog")], path=cls.path(name)).returncode == 0
        done = run("archive", cls.path(name))
        assert done.returncode == 0, done.stderr

    def instructions(self, function, name):
        done = run("annotate", "--json", function, self.path(name))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return len(json.loads(done.stdout)["instructions"])

    def test_have_each_its_own_code_in_an_archive(self):
        self.assertEqual(run("report", self.path("whole.pct")).returncode, 0, "its names can be read")
        self.assertGreater(self.instructions("outer", "whole.pct"), self.instructions("entry", "whole.pct"))

    def test_a_sum_with_a_stripped_build_can_be_read(self):
        done = run("merge", "-q", "-o", self.path("sum.pct"), self.path("whole.pct"), self.path("stripped.pct"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        done = run("report", self.path("sum.pct"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for function in ("outer", "entry"):
            self.assertEqual(self.instructions(function, "sum.pct"), self.instructions(function, "whole.pct"))


class ProfilesFromElsewhere(unittest.TestCase):
    """Whoever makes a profile may write any names of sources into it. What is made of it may be given back to him."""

    def setUp(self):
        self.directory = tempfile.mkdtemp(dir=p.scratch())
        for path in (p.scratch(), self.directory):
            os.chmod(path, 0o755)
        os.mkdir(self.path("closed"))
        self.sources = {"secret.c": 0o600, "closed/readable.c": 0o644, "open.c": 0o644}
        for name, mode in self.sources.items():
            with open(self.path(name), "w") as file:
                file.write(f"text of {name}\n")
            os.chmod(self.path(name), mode)
        os.chmod(self.path("closed"), 0o700)
        self.forge()
        self.caller = p.as_user() if p.has_other_users() else []
        if self.caller:
            for name in (".", "closed", *self.sources, "forged.pct"):
                os.chown(self.path(name), 65534, 65534)
        self.pctally = shutil.copy(p.PCTALLY, self.directory)

    def path(self, name):
        return os.path.join(self.directory, name)

    def forge(self):
        done = p.record([p.program("spinner"), "1", "0.05"])
        self.assertEqual(done.returncode, 0, done.stderr)
        profile, names = forged.Profile(done.path), forged.Names()
        program, hits = b"/nowhere/forged", range(0x100, 0x100 + len(self.sources))
        profile.add_object(program, bytes(range(20)), hits)
        text = names.add_text(program)
        names.add_object(text, bytes(range(20)))
        names.add_range((hits[0], hits[-1]), (hits[0], hits[-1] + 1), names.add_text(b"busy"))
        for i, name in enumerate(self.sources):
            names.add_frame(text, names.add_text(self.path(name).encode()))
            names.add_place(hits[i], 1, i, 1)
        profile.write(self.path("forged.pct"), names.bytes())

    def run_there(self, *words):
        done = subprocess.run([*self.caller, self.pctally, *words], capture_output=True, text=True, cwd=self.directory)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_get_only_what_everybody_may_read_and_reach(self):
        said = self.run_there("archive", "-o", "out.pct", "forged.pct").stderr
        self.run_there("report", "--html", "out.html", "forged.pct")
        for made in ("out.pct", "out.html"):
            held = bytes_of(self.path(made))
            for name in self.sources:
                self.assertEqual(f"text of {name}".encode() in held, name == "open.c", (made, name))
        self.assertIn(f"not in it: {self.path('secret.c')}: not everybody may read it\n", said)
        self.assertIn("text of secret.c", self.run_there("annotate", "busy", "forged.pct", "--all").stdout, "the caller's own is shown")


if __name__ == "__main__":
    p.main()
