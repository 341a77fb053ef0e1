"""pctally record is transparent: status, signals, output; and says clearly when it cannot do its work."""
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

ONE_REQUEST_S = 0.5  # a second signal that comes sooner asks for nothing else


def run(words, **keywords):
    return subprocess.run([p.PCTALLY, *words], capture_output=True, **keywords)


def kill_if_there(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Passthrough(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(dir=p.scratch())

    def record(self, *words, **keywords):
        return run(["record", *words], cwd=self.directory, **keywords)

    def test_exit_status_of_the_command_is_ours(self):
        for status in (0, 1, 7, 125, 255):
            for engine in p.engines():
                result = self.record("-q", "-f", "-e", engine, "-o", "a.pct", "--", "sh", "-c", f"exit {status}")
                self.assertEqual(result.returncode, status)

    def test_the_report_says_how_the_command_ended(self):
        for engine in p.engines():
            for script, said in (("exit 7", b"exit status 7"), ("kill -9 $$", b"ended by signal 9")):
                self.record("-q", "-f", "-e", engine, "-o", "a.pct", "--", "sh", "-c", script)
                self.assertIn(said, run(["report", "a.pct"], cwd=self.directory).stdout, engine)

    def test_no_process_of_the_recorder_is_left_to_process_1(self):
        """Which in a container may never ask for it."""
        script = ("import ctypes, os, subprocess, sys\n"
                  "assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0  # PR_SET_CHILD_SUBREAPER\n"
                  "subprocess.run(sys.argv[1:], check=True)\n"
                  "try: print(os.waitpid(-1, 0))\n"
                  "except ChildProcessError: print('none')\n")
        for engine in p.engines():
            words = [p.PCTALLY, "record", "-q", "-f", "-e", engine, "-o", "left.pct", "--", p.program("spinner"), "1", "0.1"]
            done = subprocess.run([sys.executable, "-c", script, *words], cwd=self.directory, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (0, "none\n"), (engine, done.stderr))

    def test_signal_that_ended_the_command_ends_us(self):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGINT):
            result = self.record("-q", "-f", "-o", "a.pct", "--", "sh", "-c", f"kill -{int(number)} $$")
            self.assertEqual(result.returncode, -number)

    def test_a_signal_before_the_command_starts_is_no_fault_of_the_command(self):
        """As Ctrl-C comes, to all of us: to the command's process, too, which waits for its exec or is in it."""
        for engine in p.engines():
            for _ in range(p.scale(3)):
                with subprocess.Popen([p.PCTALLY, "record", "-f", "-e", engine, "-o", "a.pct", "--", "sleep", "60"], stderr=subprocess.PIPE,
                                      cwd=self.directory, start_new_session=True) as recorder:
                    children = f"/proc/{recorder.pid}/task/{recorder.pid}/children"
                    while not pathlib.Path(children).read_text("ascii"):  # polls another process's state: there is no event to wait for
                        pass
                    os.killpg(recorder.pid, signal.SIGTERM)
                    self.assertNotIn(b"cannot run", recorder.stderr.read(), engine)
                self.assertEqual(recorder.returncode, -signal.SIGTERM, engine)

    def test_signals_sent_to_us_reach_the_command(self):
        process = subprocess.Popen([p.PCTALLY, "record", "-q", "-o", os.path.join(self.directory, "a.pct"), "--", "sh", "-c",
                                    "trap 'echo got it; exit 3' USR1; echo ready; while :; do :; done"],
                                   stdout=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        process.send_signal(signal.SIGUSR1)
        self.assertEqual(process.stdout.read(), b"got it\n")
        self.assertEqual(process.wait(), 3)
        process.stdout.close()

    def test_a_command_that_asks_to_be_traced_goes_on(self):
        """By its parent, which is the recorder: some programs keep debuggers away so. It stops at its next signal, or exec."""
        ask = "import ctypes, os, signal, sys\nctypes.CDLL(None).ptrace(0, 0, None, None)\n"  # refused where it has more privileges
        scripts = ("os.kill(os.getpid(), signal.SIGCHLD)\nprint('goes on', flush=True)\nsys.exit(3)",
                   "os.execv('/bin/sh', ['sh', '-c', 'echo goes on; exit 3'])",
                   "signal.signal(signal.SIGUSR1, lambda *_: (print('goes on', flush=True), sys.exit(3)))\n"
                   "os.kill(os.getpid(), signal.SIGUSR1)\nsys.exit(1)",
                   "import threading\ndef ask():\n  ctypes.CDLL(None).ptrace(0, 0, None, None)\n"
                   "  signal.pthread_kill(threading.get_ident(), signal.SIGCHLD)\n"
                   "thread = threading.Thread(target=ask)\nthread.start()\nthread.join()\nprint('goes on', flush=True)\nsys.exit(3)")
        for words in (*(["-e", engine] for engine in p.engines()), ["--wait"]):
            for script in scripts:
                result = self.record("-q", "-f", *words, "-o", "a.pct", "--", sys.executable, "-c", ask + script, timeout=60)
                self.assertEqual((result.returncode, result.stdout), (3, b"goes on\n"), (words, script, result.stderr))

    def start(self, script, *words):
        """A recorder of a shell that has said that it is ready, and the shell's process. stderr is the recorder's alone."""
        recorder = subprocess.Popen([p.PCTALLY, "record", "-f", *words, "-o", "a.pct", "--", "sh", "-c",
                                     f"exec 2>/dev/null; {script}; echo ready; while :; do :; done"],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.directory)
        self.addCleanup(recorder.stdout.close)
        self.addCleanup(recorder.stderr.close)
        self.assertEqual(recorder.stdout.readline(), b"ready\n")
        command = p.command_of(recorder.pid)
        self.addCleanup(kill_if_there, command)
        return recorder, command

    def expect_left_running(self, recorder, command, number):
        self.assertEqual(recorder.wait(timeout=60), -number)
        os.kill(command, 0)
        last = recorder.stderr.read().decode().splitlines()[-1]
        self.assertEqual(last, f"pctally: warning: sh ({command}) still runs, unrecorded; record it with -p {command}")
        self.assertTrue(p.report(os.path.join(self.directory, "a.pct"))["wall_s"] < 60)

    def test_a_second_sigterm_ends_the_recording_of_a_command_that_stays(self):
        for engine in p.engines():
            for first, second in ((signal.SIGTERM, signal.SIGTERM), (signal.SIGINT, signal.SIGTERM)):
                with self.subTest((engine, first)):
                    recorder, command = self.start(f"trap '' {second.name[3:]}; trap 'echo got it' {first.name[3:]}", "-e", engine)
                    p.await_ticks(os.path.join(self.directory, "a.pct"), 10, recorder)
                    recorder.send_signal(first)
                    self.assertEqual(recorder.stdout.readline(), b"got it\n")
                    time.sleep(ONE_REQUEST_S)
                    recorder.send_signal(second)
                    self.expect_left_running(recorder, command, second)

    def test_two_at_once_are_one_request(self):
        """As timeout(1) sends them. The recorder is held until both have come. A shell may run the second trap before the first
        command of the first, so the one that comes last ends it."""
        for engine in p.engines():
            recorder, _ = self.start("got() { echo $1; n=x$n; [ $n != xx ] || exit 3; }; trap 'got int' INT; trap 'got term' TERM", "-e", engine)
            for number in (signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGCONT):
                recorder.send_signal(number)
            self.assertEqual(recorder.wait(timeout=60), 3)
            self.assertEqual(sorted(recorder.stdout.read().split()), [b"int", b"term"])

    def test_a_second_sigterm_ends_the_wait_after_for(self):
        recorder, command = self.start("trap 'echo got it' TERM", "--for", "10ms")
        while b"; next: pctally report" not in recorder.stderr.readline():  # the profile is closed then
            self.assertIsNone(recorder.poll())
        recorder.send_signal(signal.SIGTERM)
        self.assertEqual(recorder.stdout.readline(), b"got it\n")
        time.sleep(ONE_REQUEST_S)
        recorder.send_signal(signal.SIGTERM)
        self.expect_left_running(recorder, command, signal.SIGTERM)

    def test_a_profile_that_is_removed_or_renamed_meanwhile(self):
        """The command does it, once the file has its name."""
        spin = p.program("spinner") + " 1 0.05"
        lost = b"pctally: a.pct was removed or replaced during the recording: its ticks are lost"
        for engine in p.engines():
            for script, said in (("rm a.pct", lost), ("echo >b.pct; mv b.pct a.pct", lost), ("mv a.pct away.pct", None)):
                with self.subTest((engine, script)):
                    result = self.record("-f", "-e", engine, "-o", "a.pct", "--", "sh", "-c", f"{spin}; {script}; exit 3")
                    self.assertEqual(result.returncode, 3)
                    there = os.path.join(os.path.realpath(self.directory), "away.pct")
                    if said is None:
                        self.assertIn(f"pctally: warning: a.pct was renamed during the recording: it is {there} now\n".encode(), result.stderr)
                        self.assertIn(f"; next: pctally report {there}\n".encode(), result.stderr)
                        p.assert_ledger(self, p.report(there))
                    else:
                        self.assertIn(said, result.stderr.splitlines())
                        self.assertNotIn(b"next:", result.stderr)
                    for name in os.listdir(self.directory):
                        os.remove(os.path.join(self.directory, name))

    def test_the_commands_own_options_are_left_alone(self):
        for words in (["--", "echo", "-q", "--help"], ["echo", "-q", "--help"]):
            self.assertEqual(self.record("-q", "-f", "-o", "a.pct", *words).stdout, b"-q --help\n")
        self.assertEqual(self.record("-qfo", "a.pct", "-F", "500", "--", "echo", "--", "x").stdout, b"-- x\n")

    def test_output_is_untouched_and_ours_goes_to_stderr(self):
        for engine in p.engines():
            result = self.record("-f", "-e", engine, "-o", "a.pct", "--", "sh", "-c", "printf out; printf err >&2")
            self.assertEqual(result.stdout, b"out")
            for line in result.stderr.split(b"\n"):
                self.assertTrue(line in (b"",) or line.startswith((b"err", b"pctally: ")), line)

    def test_q_silences_us(self):
        result = self.record("-q", "-o", "a.pct", "--", "sh", "-c", "printf err >&2")
        self.assertEqual(result.stderr, b"err")

    def test_not_found_is_127_and_not_executable_126(self):
        self.assertEqual(self.record("no-such-command-here").returncode, 127)
        self.assertEqual(self.record("/etc/passwd").returncode, 126)
        self.assertEqual(self.record("/").returncode, 126)
        self.assertEqual(os.listdir(self.directory), [])

    def test_a_program_in_a_directory_that_may_not_be_searched_is_126(self):
        p.need_other_users(self)
        hidden = os.path.join(self.directory, "hidden")
        os.mkdir(hidden, 0o700)
        program = shutil.copy(shutil.which("true"), hidden)
        os.chmod(self.directory, 0o755)
        result = subprocess.run([*p.as_user(), p.PCTALLY, "record", "-o", os.path.join(self.directory, "a.pct"), "--", program],
                                capture_output=True)
        self.assertEqual((result.returncode, result.stderr.decode().strip()),
                         (126, f"pctally: cannot run {program}: this user may not search its directory"))

    def test_bad_executable_is_126_and_leaves_no_file(self):
        path = os.path.join(self.directory, "garbage")
        with open(path, "wb") as file:
            file.write(b"\x7fELF garbage")
        os.chmod(path, 0o755)
        result = self.record("-o", "a.pct", path)
        self.assertIn(result.returncode, (126, 127, 2))  # dash gets to see it as a script, as with execvp
        os.chmod(path, 0o644)

    def test_usage_errors_are_2(self):
        for words in ([], ["-F", "0", "true"], ["-c", "1", "true"], ["-c", "x", "true"], ["--nonsense", "true"],
                      ["-F", "10", "-c", "1ms", "true"]):
            result = self.record(*words)
            self.assertEqual(result.returncode, 2, words)
            self.assertTrue(result.stderr.startswith(b"pctally: "), words)

    def test_unknown_engine_is_refused_by_name(self):
        result = self.record("-e", "warp", "true")
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"warp", result.stderr)

    def test_own_failure_is_125(self):
        result = self.record("-o", "/no/such/directory/a.pct", "true")
        self.assertEqual(result.returncode, 125)
        self.assertIn(b"/no/such/directory/a.pct", result.stderr)

    def test_default_name_has_comm_and_pid(self):
        self.record("-q", "--", "sh", "-c", "echo $$ > pid")
        with open(os.path.join(self.directory, "pid")) as file:
            pid = file.read().strip()
        self.assertIn(f"pctally.sh.{pid}.pct", os.listdir(self.directory))

    def test_mode_is_0600_whatever_the_umask(self):
        for mask in (0, 0o022, 0o777):
            old = os.umask(mask)
            try:
                self.record("-q", "-f", "-o", "a.pct", "true")
            finally:
                os.umask(old)
            self.assertEqual(stat.S_IMODE(os.stat(os.path.join(self.directory, "a.pct")).st_mode), 0o600)

    def test_existing_file_is_kept_without_f(self):
        path = os.path.join(self.directory, "a.pct")
        with open(path, "w") as file:
            file.write("precious")
        result = self.record("-o", "a.pct", "true")
        self.assertEqual(result.returncode, 125)
        self.assertIn(b"-f", result.stderr)
        with open(path) as file:
            self.assertEqual(file.read(), "precious")

    def test_planted_links_and_devices_are_not_written_through(self):
        victim = os.path.join(self.directory, "victim")
        with open(victim, "w") as file:
            file.write("precious")
        path = os.path.join(self.directory, "a.pct")
        for plant in (lambda: os.symlink(victim, path), lambda: os.mkfifo(path), lambda: os.mkdir(path)):
            plant()
            for force in ([], ["-f"]):
                self.assertEqual(self.record(*force, "-o", "a.pct", "true").returncode, 2)
            os.rmdir(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
        os.link(victim, path)
        self.assertEqual(self.record("-f", "-o", "a.pct", "true").returncode, 125)  # no profile
        with open(victim) as file:
            self.assertEqual(file.read(), "precious")
        os.unlink(path)
        self.assertEqual(self.record("-q", "-o", "older.pct", "true").returncode, 0)
        older = os.path.join(self.directory, "older.pct")
        with open(older, "rb") as file:
            before = file.read()
        os.link(older, path)
        self.assertEqual(self.record("-q", "-f", "-o", "a.pct", "true").returncode, 0)  # the name is replaced,
        with open(older, "rb") as file:
            self.assertEqual(file.read(), before)  # the file it stood for is not

    def test_program_that_ignores_everything_sees_nothing(self):
        """Signal dispositions and mask as without us."""
        script = "grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status"
        bare = subprocess.run(["sh", "-c", script], capture_output=True).stdout
        if p.engine_available("ring"):
            result = self.record("-q", "-f", "-e", "ring", "-o", "a.pct", "--", "sh", "-c", script)
            self.assertEqual(result.stdout, bare)

    def test_no_children_stops_at_fork(self):
        """Also in the account: their time was called unsampled, with reasons, and "still runs" of one that goes on was warned of."""
        # The start of the shell and of the parent, and its calls of fork(2), are a tenth of it even where a start takes 30 ms.
        script = f"sleep 20 >/dev/null 2>&1 & {p.program('forker')} fork 10 60; exit 0"
        for engine in p.engines("bpf", "ring", "timer", "trap"):
            done = p.record(["sh", "-c", script], "--no-children", "-e", engine, quiet=False)
            alone = done.report()
            self.assertLess(alone["cpu_s"], 0.15, engine)  # of 0.6 s
            self.assertNotIn(b"still run", done.stderr, engine)
            whole = p.record(["sh", "-c", script], "-e", engine, quiet=False)
            followed = whole.report()
            self.assertGreater(followed["cpu_s"], 0.5, engine)
            self.assertLess(alone["ticks"], followed["ticks"] / 4, engine)
            self.assertIn(b"still run", whole.stderr, engine)


if __name__ == "__main__":
    p.main()
