"""Signals go where they would without a recorder: to the command, once; and a recorder that is not meant goes on."""
import os
import pty
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

PYTHON = sys.executable


class Signals(unittest.TestCase):
    def setUp(self):
        self.path = os.path.join(tempfile.mkdtemp(dir=p.scratch()), "a.pct")

    def words(self, *command, options=()):
        return [p.PCTALLY, "record", "-q", "-f", *options, "-o", self.path, "--", *command]

    def run_ignoring(self, number, words):
        """As it is where whoever starts us ignores that signal."""
        return subprocess.run([PYTHON, "-c", f"import os, signal, sys; signal.signal({int(number)}, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])",
                               *words], capture_output=True, text=True, timeout=60)

    def test_the_end_is_seen_where_sigchld_is_ignored(self):
        for engine in p.engines():
            result = self.run_ignoring(signal.SIGCHLD, self.words("sh", "-c", "exit 3", options=("-e", engine)))
            self.assertEqual((result.returncode, result.stderr), (3, ""), engine)

    def test_the_command_finds_sigchld_as_it_was(self):
        ask = (PYTHON, "-c", "import signal; print(signal.getsignal(signal.SIGCHLD).name)")
        self.assertEqual(self.run_ignoring(signal.SIGCHLD, self.words(*ask)).stdout, "SIG_IGN\n")
        self.assertEqual(subprocess.run(self.words(*ask), capture_output=True, text=True).stdout, "SIG_DFL\n")

    def test_what_the_command_executes_finds_faults_ignored_as_it_was(self):
        """Each process of the recording in its turn: exec(2) takes handlers away, of ours too. Stacks that are known are followed all the same."""
        ask = ("sh", "-c", f"exec {PYTHON} -c 'import signal; print(*(signal.getsignal(n).name for n in (signal.SIGSEGV, signal.SIGBUS)))'")
        both = "import os, signal, sys; [signal.signal(n, signal.SIG_IGN) for n in (signal.SIGSEGV, signal.SIGBUS)]; os.execv(sys.argv[1], sys.argv[1:])"
        for engine in p.engines("timer", "trap"):
            options = ("-e", engine, "-g")
            result = subprocess.run([PYTHON, "-c", both, *self.words(*ask, options=options)], capture_output=True, text=True, timeout=60)
            self.assertEqual((result.returncode, result.stdout), (0, "SIG_IGN SIG_IGN\n"), (engine, result.stderr))
            result = subprocess.run([PYTHON, "-c", both, *self.words(p.program("spinner"), "1", "0.5", options=options)], timeout=60)
            data = p.report(self.path)
            p.assert_ledger(self, data)
            self.assertEqual(result.returncode, 0)
            self.assertLess(sum(part["ticks"] for part in data["paths"]["cut"]), 0.1 * data["ticks"], engine)

    def test_a_program_that_is_executed_with_all_signals_blocked_is_sampled(self):
        """As posix_spawn(3) does it when it is asked to. No signal is free of its mask then."""
        script = ("import os, sys\npid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, setsigmask=range(1, 65))\n"
                  "sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))")
        for engine in p.engines("timer", "trap"):
            done = p.record([PYTHON, "-S", "-c", script, p.program("spinner"), "1", "0.5"], "-e", engine)
            self.assertEqual(done.returncode, 0, done.stderr)
            data = done.report()
            p.assert_ledger(self, data)
            self.assertGreater(p.seconds_at_most(data, "spin_here"), 0.4, engine)

    def test_names_are_added_where_sigchld_is_ignored(self):
        if "ring" not in p.engines() and "bpf" not in p.engines():
            self.skipTest("nothing that runs can be recorded here")
        with subprocess.Popen([p.program("spinner"), "1", "100"]) as target:
            result = self.run_ignoring(signal.SIGCHLD, [p.PCTALLY, "record", "-f", "-o", self.path, "-p", str(target.pid), "--for", "0.2"])
            target.kill()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("names", result.stderr)

    def test_all_that_a_process_may_be_sent_is_passed_on(self):
        """Where the recorder is process 1 of a container, whose STOPSIGNAL may be SIGWINCH."""
        for number in (signal.SIGWINCH, signal.SIGPWR, signal.SIGIO, signal.SIGRTMIN + 3, signal.SIGURG):
            recorder = subprocess.Popen(self.words(PYTHON, "-c", (
                f"import os, signal\nsignal.signal({int(number)}, lambda *_: os._exit(7))\nprint('ready', flush=True)\nwhile True: signal.pause()")),
                                        stdout=subprocess.PIPE)
            with recorder:
                self.assertEqual(recorder.stdout.readline(), b"ready\n")
                recorder.send_signal(number)
                self.assertEqual(recorder.wait(timeout=60), 7, number)

    def test_a_command_that_has_changed_its_user_is_signalled(self):
        """As gosu, setpriv and daemons do. The recorder may have given up root's rights by then."""
        p.need_other_users(self)
        script = ("import os, signal\nsignal.alarm(20)\nos.setgroups([])\nos.setresgid(65534, 65534, 65534)\nos.setresuid(65534, 65534, 65534)\n"
                  "signal.signal(signal.SIGTERM, lambda *_: os._exit(7))\nprint('ready', flush=True)\nwhile True: signal.pause()")
        for engine in p.engines("bpf", "ring", "timer"):
            recorder = subprocess.Popen(self.words(PYTHON, "-c", script, options=("-e", engine)), stdout=subprocess.PIPE)
            with recorder:
                self.assertEqual(recorder.stdout.readline(), b"ready\n", engine)
                recorder.send_signal(signal.SIGTERM)
                self.assertEqual(recorder.wait(timeout=60), 7, engine)

    def test_a_timer_set_before_us_is_the_commands(self):
        """alarm(2) survives exec(2), and would have been the command's."""
        script = "import os, signal, sys; signal.setitimer(signal.ITIMER_REAL, 3); os.execv(sys.argv[1], sys.argv[1:])"
        result = subprocess.run([PYTHON, "-c", script, *self.words("sleep", "60")], capture_output=True, timeout=50)
        self.assertEqual(result.returncode, -signal.SIGALRM)
        cancels = (PYTHON, "-c", "import signal, time; time.sleep(signal.setitimer(signal.ITIMER_REAL, 0)[0] + 0.2)")
        self.assertEqual(subprocess.run([PYTHON, "-c", script, *self.words(*cancels)], timeout=50).returncode, 0)

    def test_what_the_commands_tree_sends_to_its_group_does_not_end_the_recording(self):
        script = ("import os, signal, time\ncame = []\nsignal.signal(signal.SIGTERM, lambda *_: came.append(1))\n"
                  "for _ in range(3): os.kill(0, signal.SIGTERM)\n"
                  "end = time.monotonic() + 0.3\nwhile time.monotonic() < end: pass\nprint(len(came))\n")
        result = subprocess.run(self.words(PYTHON, "-c", script), capture_output=True, text=True, start_new_session=True, timeout=60)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertGreaterEqual(int(result.stdout), 3)  # and what is passed on

    def test_the_hang_up_of_a_terminal_reaches_the_command(self):
        """The kernel sends it to the leader of the session alone, which is us: ssh -t HOST pctally record."""
        words = self.words("sh", "-c", f"trap 'echo hup >{self.path}.hup; exit 4' HUP; echo ready; while :; do :; done")
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(words[0], words)
        self.assertIn(b"ready", os.read(terminal, 100))
        os.close(terminal)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 4)
        self.assertTrue(os.path.exists(self.path + ".hup"))

    def test_nohup_keeps_a_recording_of_what_runs(self):
        engine = next((name for name in ("ring", "bpf") if name in p.engines()), None)
        if engine is None:
            self.skipTest("nothing that runs can be recorded here")
        with subprocess.Popen([p.program("spinner"), "1", "100"]) as target:
            recorder = subprocess.Popen(["nohup", p.PCTALLY, "record", "-f", "-e", engine, "-o", self.path, "-p", str(target.pid), "--for", "1"],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while not os.path.exists(self.path):
                self.assertIsNone(recorder.poll())
                time.sleep(0.01)
            recorder.send_signal(signal.SIGHUP)
            self.assertEqual(recorder.wait(timeout=60), 0)
            target.kill()
        self.assertGreaterEqual(p.report(self.path)["wall_s"], 1)


if __name__ == "__main__":
    unittest.main()
