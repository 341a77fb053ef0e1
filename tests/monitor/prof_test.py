"""pctally prof: the listing of prof(1), from mon.out, gmon.out and profiles, of programs with known ticks."""
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import monitored
import pctally_test as pt

HEADER = " %Time Seconds Cumsecs  #Calls   msec/call  Name\n"


class Prof(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.movable, cls.fixed = monitored.build_movable(), monitored.build_fixed()

    def setUp(self):
        self.directory = monitored.directory_of(self)

    def path(self, name):
        return os.path.join(self.directory, name)

    def monitored(self, call, *ticks, program=None):
        env = {name: value for name, value in os.environ.items() if name != "PROFDIR"}
        subprocess.run([program or self.movable, call, *ticks], cwd=self.directory, check=True,
                       stdout=subprocess.DEVNULL, env=dict(env, PCTALLY_ENGINE="manual"))

    def prof(self, *words):
        return subprocess.run([pt.PCTALLY, "prof", *words], cwd=self.directory, capture_output=True, text=True)

    def listing(self, *words):
        ran = self.prof(*words)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        return ran.stdout

    def test_mon_out_and_its_orders(self):
        for program in (self.movable, self.fixed):
            self.monitored("svr4", "alpha+4=123", "beta+2=456", "gamma_+60=21", program=program)
            by_time = ("  76.0    4.56    4.56                      beta\n"
                       "  20.5    1.23    5.79                      alpha\n"
                       "   3.5    0.21    6.00                      gamma_\n")
            self.assertEqual(self.listing(program), HEADER + by_time)
            self.assertEqual(self.listing("-t", "-h", program), by_time)
            self.assertEqual(self.listing("-n", "-h", "-m", "mon.out", program),
                             "  20.5    1.23    1.23                      alpha\n"
                             "  76.0    4.56    5.79                      beta\n"
                             "   3.5    0.21    6.00                      gamma_\n")
            self.assertEqual(self.listing("-a", "-h", program), self.listing("-n", "-h", program))
            address = int(re.search(r"(\w+) T beta", subprocess.run(["nm", program], capture_output=True,
                                                                    text=True).stdout).group(1), 16)
            self.assertIn(f"                      {address:#16x}  beta\n", self.listing("-x", program))
            self.assertIn(f"{'0%o' % address:>16}  beta\n", self.listing("-o", program))

    def test_a_out_is_the_usual_program(self):
        shutil.copy(self.movable, self.path("a.out"))
        self.monitored("aix", "alpha+4=123")
        self.assertEqual(self.listing(), HEADER + " 100.0    1.23    1.23                      alpha\n")

    def test_rate(self):
        self.monitored("tru64", "alpha+4=2048")
        self.assertIn(" 20.48 ", self.listing(self.movable))
        self.assertIn("  2.00 ", self.listing("--hz", "1024", self.movable))
        self.monitored("tru64-extended", "alpha+4=2048")  # gmon.out says it
        self.assertIn("  2.00 ", self.listing("--hz", "50", "-m", "gmon.out", self.movable))

    def test_unused_and_static_functions(self):
        self.monitored("svr4", "alpha+4=1")
        functions = lambda *words: self.listing("-h", *words, self.movable).split()[3::4]
        self.assertEqual(functions(), ["alpha"])
        self.assertEqual(set(functions("-z")) & {"alpha", "main", "burn", "fence"}, {"alpha", "main", "fence"})
        self.assertIn("burn", functions("-z", "-g"))
        self.monitored("aix-everything", "alpha+4=3", "fence+4=1")
        self.assertEqual(functions("-m", "gmon.out"), ["alpha", "fence"])

    def test_time_of_static_functions_is_one_line_or_one_each(self):
        """The whole text is profiled; a tick in the static function burn."""
        symbols = subprocess.run(["nm", self.movable], capture_output=True, text=True).stdout
        place = lambda name: int(re.search(rf"(\w+) \w {name}\n", symbols).group(1), 16)
        self.monitored("aix-everything", "alpha+4=3", f"alpha+{place('burn') + 8 - place('alpha')}=5")
        self.assertIn("  62.5    0.05    0.05                      [static functions]\n",
                      self.listing("-m", "gmon.out", self.movable))
        self.assertIn("  62.5    0.05    0.05                      burn\n",
                      self.listing("-g", "-m", "gmon.out", self.movable))

    def test_call_counts(self):
        """Nobody counts calls here; a program that does fills the buffer itself, and old files have them."""
        self.monitored("svr4", "alpha+4=120", "beta+4=30")
        data = bytearray(pathlib.Path(self.path("mon.out")).read_bytes())
        low = struct.unpack_from("Q", data)[0]
        struct.pack_into("QqQq", data, 24, low + 6, 3, low + 256 + 6, 5000)
        pathlib.Path(self.path("mon.out")).write_bytes(data)
        self.assertEqual(self.listing(self.movable), HEADER +
                         "  80.0    1.20    1.20       3    400.      alpha\n"
                         "  20.0    0.30    1.50    5000      0.060   beta\n")
        self.assertTrue(self.listing("-c", "-h", self.movable).splitlines()[0].endswith("beta"))

    def test_agrees_with_the_recording_of_the_same_ticks(self):
        for call in ("hpux-32", "hpux-64", "tru64-extended", "glibc-start"):
            self.monitored(call, "alpha+4=70001", "alpha+64=1", "gamma_+8=131075")
            seconds = self.listing("-h", "--hz", "1000", "-m", "gmon.out", self.movable)
            profile = self.listing("-h", "-m", "monitored.pct", self.movable)
            shares = lambda text: [(line.split()[0], line.split()[-1]) for line in text.splitlines()]
            self.assertEqual(shares(seconds), [("65.2", "gamma_"), ("34.8", "alpha")])
            self.assertEqual(shares(seconds), shares(profile), call)

    def test_a_recording_with_libraries(self):
        """Every tick has a line: the a.out's functions, and one for each other object."""
        path = self.path("k.pct")
        recorded = pt.record([pt.program("known_shares")], path=path)
        self.assertEqual(recorded.returncode, 0, recorded.stderr)
        data = recorded.report()
        lines = self.listing("-h", "-g", "-m", path, pt.program("known_shares")).splitlines()
        self.assertAlmostEqual(sum(float(line.split()[1]) for line in lines), data["sampled_s"] + data["lost_s"],
                               delta=0.02 + 0.005 * len(lines) + 0.01 * data["sampled_s"])
        rows = {row["function"]: row["share"] for row in data["rows"] if row["object"] == "known_shares"}
        hottest = max(rows, key=rows.get)
        (line,) = [line for line in lines if line.split()[-1] == hottest]
        self.assertAlmostEqual(float(line.split()[0]), 100 * rows[hottest], delta=0.051)

    def test_summary(self):
        self.monitored("svr4", "alpha+4=123", "beta+2=456")
        ran = self.prof("-s", self.movable)
        self.assertEqual(ran.returncode, 0)
        self.assertEqual(ran.stdout, self.listing(self.movable))
        self.assertRegex(ran.stderr, r"\Apctally: 579 ticks of 0.01 s: 5.79 s\n"
                         r"pctally: 2 of 384 counters used, in 1 ranges of text\n"
                         r"pctally: 2 of [0-9]+ functions have time, 0 ticks are in none\npctally: 0 call counts\n\Z")

    def test_wrong_files_are_one_line(self):
        self.monitored("svr4", "alpha+4=123")
        pathlib.Path(self.path("damaged")).write_bytes(b"gmon\1\0\0\0" + bytes(12) + b"\0")
        os.mkfifo(self.path("fifo"))
        for words, why in ((["/nonexistent"], "cannot open"), ([self.movable, "-m", "/nonexistent"], "cannot open"),
                           (["mon.out"], "ELF"), ([self.movable, "-m", "damaged"], "damaged"),
                           ([self.movable, "-m", self.movable], "not a mon.out"),
                           ([self.movable, "-m", "fifo"], "not a regular file"),
                           ([self.movable, "-m", "."], "not a regular file")):
            ran = self.prof(*words)
            self.assertEqual((ran.returncode, ran.stdout), (4, ""), words)
            self.assertRegex(ran.stderr, r"\Apctally: [^\n]*" + why + r"[^\n]*\n\Z")

    def test_wrong_usage(self):
        for words in (["-t", "-n"], ["-o", "-x"], ["--hz", "0"], ["--nonsense"], ["a", "b"]):
            ran = self.prof(*words)
            self.assertEqual((ran.returncode, ran.stdout), (2, ""), words)
            self.assertRegex(ran.stderr, r"\Apctally: [^\n]+\n\Z")
        self.assertIn("-m FILE", self.listing("--help"))

    def test_a_closed_standard_output_is_an_error(self):
        self.monitored("svr4", "alpha+4=123")
        ran = subprocess.run([pt.PCTALLY, "prof", self.movable], cwd=self.directory, stderr=subprocess.PIPE, text=True,
                             stdout=open("/dev/full", "w"))
        self.assertEqual(ran.returncode, 125)
        self.assertIn("cannot write to standard output", ran.stderr)


if __name__ == "__main__":
    pt.main()
