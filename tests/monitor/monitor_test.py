"""monitor, smonitor, monstartup: what they write is what gprof and pctally read, to the tick."""
import os
import pathlib
import re
import resource
import shutil
import stat
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import monitored
import pctally_test as pt

MOST = 2**31 - 1  # of one counter in gprof

ONE_REGION = ["svr4", "hpux", "bsd", "tru64", "aix"]  # write mon.out of themselves
REGIONS = ["hpux-32", "hpux-64", "tru64-extended", "tru64-start", "glibc-start"]  # counters of 32 bits or more
SMALL = ["hpux-16", "aix-array", "aix-start-pg", "bsd-start"]
NO_TEXT_OF_BETA = {"hpux-16", "hpux-32", "hpux-64", "tru64-extended", "aix-array"}


def hertz(call):
    return 1024 if call.startswith("tru64") else 100


def gprof(program, path):
    """Seconds by function."""
    result = subprocess.run(["gprof", "-b", "-p", program, path], capture_output=True, text=True)
    if result.returncode != 0 or result.stderr:
        raise AssertionError(f"gprof: {result.stderr}")
    rows = re.findall(r"^ *[\d.]+ +[\d.]+ +([\d.]+) +(\S+)$", result.stdout, re.MULTILINE)
    return {name: float(seconds) for seconds, name in rows}


def ticks_in_gmon(path):
    """The sum of all counters, by the format's own description."""
    data = pathlib.Path(path).read_bytes()
    assert data[:8] == b"gmon" + struct.pack("i", 1), data[:8]
    at, total = 20, 0
    while at < len(data):
        tag, _, _, length, _ = struct.unpack_from("=BQQii", data, at)
        assert tag == 0
        at += 41
        total += sum(struct.unpack_from(f"={length}H", data, at))
        at += 2 * length
    return total


@unittest.skipUnless(shutil.which("gprof"), "gprof is not installed")
class Monitor(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.programs = [monitored.build_fixed(), monitored.build_movable()]

    def setUp(self):
        self.directory = monitored.directory_of(self)

    def run_program(self, call, *ticks, program=None, engine="manual", **env):
        program = program or self.programs[1]
        base = {name: value for name, value in os.environ.items() if name not in ("PROFDIR", "GMON_OUT_PREFIX")}
        for name in os.listdir(self.directory):
            if ".out" in name and not os.path.islink(self.path(name)):
                os.unlink(self.path(name))
        return subprocess.run([program, call, *ticks], cwd=self.directory, capture_output=True, text=True,
                              env=dict(base, PCTALLY_ENGINE=engine, **env))

    def path(self, name):
        return os.path.join(self.directory, name)

    def files(self):
        return sorted(name for name in os.listdir(self.directory) if name != "monitored.pct")

    def counted(self, call, ticks, **env):
        """Runs with these ticks by function, and compares gprof with them and with the recording's report."""
        for program in self.programs:
            words = [f"{name}+{offset}={count}" for (name, offset), count in ticks.items()]
            ran = self.run_program(call, *words, program=program, **env)
            self.assertEqual((ran.returncode, ran.stderr), (0, ""), call)
            expected = {}
            for (name, _), count in ticks.items():
                expected[name] = expected.get(name, 0) + count
            report = pt.report(self.path("monitored.pct"))
            self.assertEqual({name: pt.ticks_of(report, name) for name in expected}, expected)
            self.assertEqual(ticks_in_gmon(self.path("gmon.out")), sum(expected.values()), call)
            seconds = gprof(program, self.path("gmon.out"))
            self.assertEqual(sorted(seconds), sorted(expected), call)
            for name, count in expected.items():
                self.assertAlmostEqual(seconds[name], count / hertz(call), delta=0.0051, msg=f"{call} {name}")

    def test_one_region_as_gmon_out(self):
        ticks = {("alpha", 0): 3, ("alpha", 8): 20000, ("beta", 0): 1, ("beta", 13): 7, ("gamma_", 31): 32767}
        for call in ONE_REGION:
            with self.subTest(call):
                self.counted(call, ticks, PCTALLY_MONITOR="gmon.out")

    def test_coarse_counters(self):
        """A buffer smaller than the text: 768 bytes in 96 counters of 8 bytes each."""
        ticks = {("alpha", 8): 20000, ("beta", 16): 7, ("gamma_", 31): 11}
        for call, words in (("hpux", 12 + 96), ("bsd", 12 + 96), ("tru64", 96), ("svr4", 12 + 16 + 96)):
            with self.subTest(call):
                self.counted(call, ticks, PCTALLY_MONITOR="gmon.out", WORDS=str(words))

    def test_counts_above_16_bits(self):
        ticks = {("alpha", 4): 65535, ("alpha", 8): 65536, ("alpha", 12): 70000, ("alpha", 40): 1, ("gamma_", 0): 131071,
                 ("gamma_", 64): 1000000007}
        for call in REGIONS:
            with self.subTest(call):
                self.counted(call, ticks)

    def test_16_bit_counters_of_several_regions(self):
        for call in SMALL:
            with self.subTest(call):
                ticks = {("alpha", 4): 65535, ("alpha", 64): 2, ("gamma_", 64): 9}
                if call not in NO_TEXT_OF_BETA:
                    ticks["beta", 8] = 5
                self.counted(call, ticks)

    def test_what_gprof_cannot_hold_is_reported(self):
        ran = self.run_program("hpux-64", f"gamma_+8={MOST + 12345}", "alpha+4=5")
        self.assertEqual(ran.returncode, 0)
        self.assertEqual(ran.stderr, "pctally: 12345 ticks of counters above 2147483647 are not in gmon.out: "
                         "gprof could not add them up\n")
        self.assertEqual(ticks_in_gmon(self.path("gmon.out")), MOST + 5)
        self.assertEqual(gprof(self.programs[1], self.path("gmon.out")), {"alpha": 0.05, "gamma_": 21474836.47})

    def test_real_ticks(self):
        """The account of the profil underneath, the counters and gprof have the same total."""
        for call in ("hpux-16", "hpux-32", "hpux-64"):
            with pt.Machine() as machine:
                ran = self.run_program(call, "burn", engine="timer")
            total, counted = map(int, ran.stdout.split())
            self.assertEqual(total, counted)
            self.assertGreater(total, 10)
            self.assertEqual(ticks_in_gmon(self.path("gmon.out")), total)
            seconds = gprof(self.programs[1], self.path("gmon.out"))
            self.assertAlmostEqual(sum(seconds.values()), total / 100, delta=0.0051 * len(seconds))
            if machine.judges("which function of three uses most of a second"):  # a signal stands for many ticks else
                self.assertGreater(seconds["alpha"], 2 * seconds.get("gamma_", 0))

    def test_mon_out_of_svr4(self):
        ran = self.run_program("svr4", "alpha+4=5", "beta+2=7")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertEqual(self.files(), ["mon.out"])
        data = pathlib.Path(self.path("mon.out")).read_bytes()
        low, high, functions = struct.unpack_from("QQQ", data)
        self.assertEqual((high - low, functions), (768, 2))  # link-time addresses of a movable program
        symbols = subprocess.run(["nm", self.programs[1]], capture_output=True, text=True).stdout
        self.assertIn(f"{low:016x} T alpha", symbols)
        counters = struct.unpack_from(f"{768 // 2}H", data, 24 + 2 * 16)
        self.assertEqual({i: count for i, count in enumerate(counters) if count}, {2: 5, 128 + 1: 7})
        self.assertEqual(len(data), 24 + 2 * 16 + 768)

    def test_one_file_per_object(self):
        """monstartup of everything: gprof reads one object, so every library has a file of its own."""
        for call in ("aix-everything", "tru64-everything"):
            ran = self.run_program(call, "alpha+4=5")
            self.assertEqual((ran.returncode, ran.stderr), (0, ""), call)
            self.assertEqual(gprof(self.programs[1], self.path("gmon.out")), {"alpha": round(5 / hertz(call), 2)}, call)
            self.assertIn("gmon.out.libpctally.so.0", self.files(), call)

    def test_profdir(self):
        os.mkdir(self.path("d"))
        ran = self.run_program("svr4", "alpha+4=5", PROFDIR="d")
        self.assertEqual((self.files(), ran.stderr), (["d"], ""))
        (name,) = os.listdir(self.path("d"))
        self.assertRegex(name, r"^[0-9]+\.movable$")
        self.run_program("bsd-start", "alpha+4=5", PROFDIR="")
        self.assertEqual(self.files(), ["d"])
        self.run_program("glibc-start", "alpha+4=5", PROFDIR="d")  # not a variable of glibc's
        self.assertEqual(self.files(), ["d", "gmon.out"])
        self.run_program("glibc-start", "alpha+4=5", GMON_OUT_PREFIX="d/x")
        self.assertEqual(len([name for name in os.listdir(self.path("d")) if re.fullmatch(r"x\.[0-9]+", name)]), 1)

    def test_both_sides_of_a_fork_write(self):
        os.mkdir(self.path("d"))
        self.run_program("hpux-32", "alpha+4=5", PROFDIR="d", FORK="1")
        self.assertEqual(len(os.listdir(self.path("d"))), 2)
        sums = sorted(ticks_in_gmon(self.path("d/" + name)) for name in os.listdir(self.path("d")))
        self.assertEqual(sums, [5, 5])  # beta, which the child adds, is in none of the two regions
        self.assertEqual(self.files(), ["d"])

    def test_the_end_of_the_process_writes_for_monitor_of_aix(self):
        """Whatever moncontrol() says; elsewhere the end of the process writes nothing."""
        for halt in ({}, {"HALT": "1"}):
            self.run_program("aix", "alpha+4=5", EXIT="1", **halt)
            self.assertEqual(struct.unpack_from("384H", pathlib.Path(self.path("mon.out")).read_bytes(), 24)[2], 5)
            self.run_program("aix-array", "alpha+4=5", EXIT="1", **halt)
            self.assertEqual(ticks_in_gmon(self.path("gmon.out")), 5)
        for call in ("svr4", "hpux-32", "bsd", "tru64-extended"):
            self.run_program(call, "alpha+4=5", EXIT="1")
            self.assertEqual(self.files(), [], call)

    def test_a_child_of_vfork_that_exits_leaves_its_parents_monitor_on(self):
        ran = self.run_program("glibc-start", "alpha+4=5", VFORK="1", NO_RECORDING="1")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertEqual(ticks_in_gmon(self.path("gmon.out")), 10)

    def test_mode_is_0600_even_of_an_older_file(self):
        open(self.path("older"), "w").close()
        os.chmod(self.path("older"), 0o666)
        os.rename(self.path("older"), self.path("mon.out"))
        umask = os.umask(0)
        try:
            subprocess.run([self.programs[1], "svr4", "alpha+4=5"], cwd=self.directory, check=True, stdout=subprocess.DEVNULL,
                           env=dict(os.environ, PCTALLY_ENGINE="manual"))
        finally:
            os.umask(umask)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("mon.out")).st_mode), 0o600)
        self.assertGreater(os.path.getsize(self.path("mon.out")), 0)

    def refused(self, why, **env):
        for call in ("svr4", "hpux-32"):
            ran = self.run_program(call, "alpha+4=5", **env)
            self.assertEqual(ran.returncode, 0, call)
            self.assertRegex(ran.stderr, r"\Apctally: [^\n]*" + why + r"[^\n]*\n\Z")

    def test_links_and_other_files_are_refused(self):
        with open(self.path("victim"), "w") as victim:
            victim.write("precious")
        for name in ("mon.out", "gmon.out"):
            os.symlink("victim", self.path(name))
        self.refused("symbolic links")
        for plant in (lambda name: os.link(self.path("victim"), name), os.mkfifo, os.mkdir):
            for name in ("mon.out", "gmon.out"):
                (os.rmdir if os.path.isdir(self.path(name)) else os.unlink)(self.path(name))
                plant(self.path(name))
            for call in ("svr4", "hpux-32"):
                ran = subprocess.run([self.programs[1], call, "alpha+4=5"], cwd=self.directory, capture_output=True,
                                     text=True, env=dict(os.environ, PCTALLY_ENGINE="manual"))
                self.assertEqual((ran.returncode, ran.stderr.count("\n")), (0, 1), ran.stderr)
                self.assertTrue(ran.stderr.startswith("pctally: "))
        self.assertEqual(pathlib.Path(self.path("victim")).read_text(), "precious")

    def test_a_directory_that_is_not_there(self):
        self.refused("No such file or directory", PROFDIR="/nonexistent")

    def test_a_file_size_limit_is_no_death(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        for call in ("svr4", "hpux-32"):
            ran = subprocess.run([self.programs[1], call, "alpha+4=70000"], cwd=self.directory, capture_output=True,
                                 text=True, preexec_fn=limit,
                                 env=dict(os.environ, PCTALLY_ENGINE="manual", NO_RECORDING="1"))
            self.assertEqual(ran.returncode, 0)
            self.assertRegex(ran.stderr, r"\Apctally: cannot write g?mon.out: File too large; raise ulimit -f\n\Z")
        self.assertEqual(self.files(), [])

    def test_a_full_disk(self):
        os.mkdir(self.path("disk"))
        for call, variable, place in (("svr4", "PROFDIR", "disk"), ("hpux-32", "PROFDIR", "disk"),
                                      ("glibc-start", "GMON_OUT_PREFIX", "disk/x")):
            script = f"""mount -t tmpfs -o size=4k none disk || exit 99
                         head -c 4096 /dev/zero > disk/filler
                         {variable}={place} {self.programs[1]} {call} alpha+4=70000 > /dev/null; echo $?; ls disk"""
            ran = subprocess.run(["unshare", "-m", "-r", "sh", "-c", script], cwd=self.directory, capture_output=True,
                                 text=True, env=dict(os.environ, PCTALLY_ENGINE="manual", NO_RECORDING="1"))
            if ran.returncode == 99 or "unshare failed" in ran.stderr:
                self.skipTest("no mount namespace can be made here")
            self.assertRegex(ran.stderr, r"\Apctally: [^\n]*No space left on device; "
                             rf"set {variable} to a place with room\n\Z")
            self.assertEqual(ran.stdout, "0\nfiller\n")

    @unittest.skipUnless(os.geteuid() == 0, "needs root, for a program with another user's rights")
    def test_a_privileged_program_does_not_look_at_the_environment(self):
        program = self.path("privileged")
        shutil.copy(self.programs[1], program)
        os.chmod(self.directory, 0o777)
        for directory in (pt.scratch(), self.directory):
            os.chmod(directory, 0o777)
        os.chown(program, 65534, 65534)
        os.chmod(program, 0o4755)
        os.mkdir(self.path("d"))
        os.chmod(self.path("d"), 0o777)
        self.run_program("svr4", "alpha+4=5", program=program, PROFDIR="d", PCTALLY_MONITOR="gmon.out", NO_RECORDING="1")
        self.assertEqual(os.listdir(self.path("d")), [])
        self.assertIn("mon.out", self.files())


if __name__ == "__main__":
    pt.main()
