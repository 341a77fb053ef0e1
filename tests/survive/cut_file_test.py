"""Somebody cuts the profile file of a recording that goes on: the program lives, and the recorder says what it is."""
import os
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

IN_PROGRAM = ("timer", "trap")
PAGE = os.sysconf("SC_PAGESIZE")

MASKED = """
import os, signal, time
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGBUS, signal.SIGSEGV])
def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass
work(0.1)
print('ready', flush=True)
input()
child = os.fork()
if child == 0:
    os._exit(3)
print('child:', os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
work(0.2)
print('lived')
"""

OWN_FAULT = """
import mmap, os
fd = os.memfd_create('x')
os.ftruncate(fd, 4096)
page = mmap.mmap(fd, 4096)
os.ftruncate(fd, 0)
page[0]
"""


class CutFile(unittest.TestCase):
    def recorded(self, engine, command, size):
        """Cuts the file once the command is ready; what the command printed then, and how the recorder ended."""
        path = os.path.join(p.scratch(), f"{engine}.{size}.pct")
        words = [p.PCTALLY, "record", "-q", "-f", "-e", engine, "-o", path, "--", *command]
        recorder = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                    text=True)
        self.assertEqual(recorder.stdout.readline(), "ready\n")
        os.truncate(path, size)
        said, complained = recorder.communicate("go\n")
        self.assertEqual(complained, f"pctally: {path}: somebody else cut the profile file while it was recorded: "
                                     "its ticks are gone\n")
        self.assertEqual(os.path.getsize(path), size, "it is left as it is")
        return path, said.splitlines(), recorder.returncode

    def test_the_program_and_its_children_live(self):
        spin = p.program("spinner")
        script = (f"{spin} 1 0.3 >/dev/null & {spin} 1 0.1 >/dev/null; echo ready; read go; wait $!; echo running: $?; "
                  f"{spin} 1 0.1 >/dev/null; echo started later: $?; exit 7")
        for engine in p.engines(*IN_PROGRAM, "ring", "bpf"):
            for size in (0, PAGE):  # nothing, or the header alone: few ticks may fit into some more
                with self.subTest(engine=engine, size=size):
                    path, said, code = self.recorded(engine, ["sh", "-c", script], size)
                    self.assertEqual((said, code), (["running: 0", "started later: 0"], 7))
                    report = subprocess.run([p.PCTALLY, "report", path], capture_output=True, text=True)
                    said = report.stderr if size < PAGE else report.stdout  # of a whole header there is a report
                    self.assertIn("is empty: no profile" if size < PAGE else "INCOMPLETE: the file is damaged", said, report)

    def test_a_program_that_blocks_the_signal_lives(self):
        for engine in p.engines(*IN_PROGRAM):
            with self.subTest(engine=engine):
                _, said, code = self.recorded(engine, [sys.executable, "-c", MASKED], 0)
                self.assertEqual((said, code), (["child: 3", "lived"], 0))

    def test_its_own_faults_end_a_program_as_before(self):
        self.assertEqual(p.record([sys.executable, "-c", OWN_FAULT], "-e", "timer").returncode, -signal.SIGBUS)

    def test_without_a_command_the_recorder_fails(self):
        if not p.engine_available("ring"):
            self.skipTest("engine ring (not available here: pctally engines says why)")
        path = os.path.join(p.scratch(), "attached.pct")
        target = subprocess.Popen([p.program("spinner"), "1", "1000"])
        self.addCleanup(target.wait)
        self.addCleanup(target.kill)
        recorder = subprocess.Popen([p.PCTALLY, "record", "-e", "ring", "-o", path, "-p", str(target.pid)],
                                    stderr=subprocess.PIPE, text=True)
        p.await_ticks(path, 100, recorder)
        os.truncate(path, 0)
        recorder.send_signal(signal.SIGINT)
        _, complained = recorder.communicate()
        self.assertEqual(recorder.returncode, 125)
        self.assertRegex(complained, r"its ticks are gone\n\Z")


if __name__ == "__main__":
    p.main()
