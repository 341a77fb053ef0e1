"""A program damages the profile file that the engines of the program map into it: neither the recorder nor the programs
beside it hang or crash, and the recorder looks at no process that the damaging one may not look at itself."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

MODES = ("processes", "objects", "segments", "used", "limit", "ring", "keys")
MOST_BYTES = 4096 + (64 << 20)
PATIENCE_S = 40  # only for what would never end


class SharedFile(unittest.TestCase):
    def recorded(self, engine, *command, options=()):
        """Records; the recorder's own end is judged, and what it left."""
        path = os.path.join(tempfile.mkdtemp(dir=p.scratch()), "p.pct")
        recorder = subprocess.Popen([p.PCTALLY, "record", "-q", "-e", engine, *options, "-o", path, "--", *command],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(recorder.kill)
        out, err = recorder.communicate(timeout=PATIENCE_S)
        self.assertLessEqual(os.path.getsize(path), MOST_BYTES)
        report = subprocess.run([p.PCTALLY, "report", path], capture_output=True, timeout=PATIENCE_S)
        self.assertIn(report.returncode, (0, 4), report.stderr)
        return recorder.returncode, out, err, path

    def test_the_recorder_and_the_others_end_as_usual(self):
        spin = p.program("spinner")
        for engine in p.engines("timer", "trap"):
            for mode, seconds in [(mode, "0.1") for mode in MODES] + [("words", "0")]:
                with self.subTest(engine=engine, mode=mode):
                    script = (f"{spin} 1 0.1 & spinner=$!; {p.program('scribbler')} {mode} {seconds}; echo $?; "
                              f"wait $spinner; echo $?; {spin} 1 0.05; echo $?; exit 7")
                    code, out, _, _ = self.recorded(engine, "sh", "-c", script)
                    self.assertEqual((code, out.split()), (7, ["0", "0", "0"]))

    @unittest.skipUnless(os.uname().machine == "x86_64", "call paths are for x86-64")
    def test_so_do_they_with_call_paths(self):
        """What the trees of call paths hold changes while the recorder prunes them."""
        options = ("-g", "--paths-memory", "64K", "-F", "4000")
        script = (f"{p.program('known_paths')} many_paths 0.2 > /dev/null & paths=$!; {p.program('scribbler')} random 0.3; echo $?; "
                  "wait $paths; echo $?; exit 7")
        for engine in p.engines("timer", "trap"):
            with self.subTest(engine=engine):
                code, out, _, _ = self.recorded(engine, "sh", "-c", script, options=options)
                self.assertEqual((code, out.split()), (7, ["0", "0"]))

    def test_ticks_put_aside_for_ever_new_processes_cost_no_memory(self):
        path = os.path.join(p.scratch(), "keys.pct")
        words = [p.PCTALLY, "record", "-q", "-e", "timer", "-o", path, "--", p.program("scribbler"), "keys", "1"]
        script = "import os, sys; _, _, usage = os.wait4(os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:]), 0); print(usage.ru_maxrss)"
        most = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True).stdout
        self.assertLess(int(most), 48 << 10, "KiB")

    def test_a_signal_ends_the_recording_of_a_damaged_file(self):
        path = os.path.join(p.scratch(), "signal.pct")
        recorder = subprocess.Popen([p.PCTALLY, "record", "-q", "-e", "timer", "-o", path, "--", "sh", "-c",
                                     f"{p.program('scribbler')} processes 0; echo damaged; exec sleep 1000"],
                                    stdout=subprocess.PIPE, text=True)
        self.addCleanup(recorder.kill)
        self.assertEqual(recorder.stdout.readline(), "damaged\n")
        recorder.send_signal(signal.SIGTERM)
        self.assertEqual(recorder.wait(timeout=PATIENCE_S), -signal.SIGTERM, "that of the command")

    def test_who_dropped_root_makes_root_look_at_nobody(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, to give it up")
        place = tempfile.mkdtemp(dir=p.scratch())  # mode 0700: the path of what runs there is a secret
        secret = shutil.copy(p.program("spinner_named"), os.path.join(place, "secret"))
        victim = subprocess.Popen([secret, "1", "1000"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(victim.wait)
        self.addCleanup(victim.kill)
        self.assertEqual(victim.stdout.readline(), "ready\n")
        with open(f"/proc/{victim.pid}/maps") as maps:
            text = next(line for line in maps if " r-xp " in line and "secret" in line).split("-")[0]
        code, out, err, path = self.recorded("timer", p.program("scribbler"), "claim", "0", str(victim.pid), "0x" + text)
        self.assertEqual((code, out), (0, "counted 0\n"), err)
        with open(path, "rb") as file:
            self.assertNotIn(b"secret", file.read())


if __name__ == "__main__":
    p.main()
