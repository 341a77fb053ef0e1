"""pctally top: plain lines, the screen as a terminal shows it (tmux), and that the terminal is left as it was."""
import fcntl
import json
import os
import pty
import random
import re
import select
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

TICKS = re.compile(r"^ticks (\d+) = (\d+) counted \+ (\d+) outside \+ (\d+) full \+ (\d+) lost$", re.M)
NOBODY = 65534
ROW = re.compile(r"^ *(\d+\.\d\d)% +\d+\.\d\d +(?:[-+]\d+\.\d\d [▲▼ ]|-  ) +(\d+\.\d\d)%  ", re.M)


def wait_until(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)  # polls another process's doing: there is no event to wait for
    raise AssertionError(f"not within {seconds} s: {what}")


def kernel_functions():
    """Their names; that of known_paths's own is none."""
    with open("/proc/kallsyms", encoding="utf-8") as file:
        return {line.split()[2] for line in file} - {"work"} | {"[kernel]"}


class Live(unittest.TestCase):
    recordings = 0

    def recording(self, engine=None):
        Live.recordings += 1
        path = os.path.join(p.scratch(), f"live{Live.recordings}.pct")
        words = [p.PCTALLY, "record", "-q", "-f", *(["-e", engine] if engine else []), "-o", path, "--",
                 p.program("spinner"), "1", "1000"]
        recorder = subprocess.Popen(words, stderr=subprocess.DEVNULL)

        def end():
            if recorder.poll() is None:
                recorder.terminate()
            recorder.wait()
        self.addCleanup(end)
        wait_until(lambda: os.path.exists(path) and counted(path) > 50, "ticks in a profile file")
        return recorder, path


def counted(path):
    with open(path, "rb") as file:
        header = file.read(384)
    return struct.unpack_from("<Q", header, 320)[0] if len(header) == 384 else 0


def top(*words, **options):
    return subprocess.run([p.PCTALLY, "top", *words], capture_output=True, text=True, timeout=60, **options)


class Plain(Live):
    def tables(self, result):
        self.assertEqual(result.returncode, 0, result)
        tables = result.stdout.split("\n\npctally top: ")
        for table in tables:
            ticks, counted, outside, full, lost = map(int, TICKS.search(table).groups())
            self.assertEqual(ticks, counted + outside + full + lost)
        return tables

    def test_a_closed_file_is_shown_once_and_said_to_be_closed(self):
        path = os.path.join(p.scratch(), "closed.pct")
        p.record([p.program("known_shares"), "0.4"], path=path)
        result = top(path, "--limit", "0")
        self.assertEqual(len(self.tables(result)), 1)
        self.assertIn("[finished recording]", result.stdout)
        self.assertAlmostEqual(sum(float(now) for now, _ in ROW.findall(result.stdout)), 100, delta=1)
        self.assertEqual(int(TICKS.search(result.stdout).group(1)), p.report(path)["ticks"])

    def test_a_recording_grows_from_table_to_table(self):
        for engine in p.engines():
            recorder, path = self.recording(engine=engine)
            tables = self.tables(top(path, "--count", "3", "--interval", "0.2", "--by", "object"))
            recorder.terminate()  # beside the next one it would be work that nobody asked for
            self.assertEqual(len(tables), 3)
            ticks = [int(TICKS.search(table).group(1)) for table in tables]
            self.assertEqual(ticks, sorted(ticks))
            self.assertGreater(ticks[-1], ticks[0])
            self.assertIn("by object", tables[0])
            self.assertIn("spinner", tables[-1])

    def test_a_command_is_recorded_and_its_end_is_the_end(self):
        place = os.path.join(p.scratch(), "runtime")
        os.makedirs(place, exist_ok=True)
        environment = dict(os.environ, XDG_RUNTIME_DIR=place)
        result = top("--interval", "0.2", "--", p.program("spinner"), "1", "0.7", env=environment)
        tables = self.tables(result)
        self.assertIn("[finished", tables[-1])
        self.assertGreater(int(TICKS.search(tables[-1]).group(1)), 100)
        self.assertEqual(os.listdir(place), [], "the temporary file is gone")

    def test_the_temporary_file_is_private_and_the_command_ends_with_top(self):
        place = os.path.join(p.scratch(), "runtime2")
        os.makedirs(place, exist_ok=True)
        process = subprocess.Popen([p.PCTALLY, "top", "--interval", "0.2", "--", p.program("spinner"), "1", "1000"], stdout=subprocess.PIPE,
                                   env=dict(os.environ, XDG_RUNTIME_DIR=place))
        process.stdout.readline()
        directory = os.path.join(place, os.listdir(place)[0])
        self.assertEqual(stat.S_IMODE(os.stat(directory).st_mode), 0o700)
        recorder = int(subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True,
                                      text=True).stdout.split()[0])
        process.terminate()
        process.communicate()
        self.assertEqual(process.returncode, 0)
        self.assertEqual(os.listdir(place), [])
        self.assertFalse(os.path.exists(f"/proc/{recorder}"))

    def test_what_a_killed_top_left_is_gone_after_the_next_start(self):
        place = os.path.join(p.scratch(), "runtime3")
        os.makedirs(place, exist_ok=True)
        words = [p.PCTALLY, "top", "--interval", "0.2", "--", p.program("spinner"), "1", "1000"]
        tops = []
        for _ in range(2):
            tops.append(subprocess.Popen(words, stdout=subprocess.PIPE, env=dict(os.environ, XDG_RUNTIME_DIR=place)))
            tops[-1].stdout.readline()
        self.assertEqual(len(os.listdir(place)), 2, "those that live stay")
        for top in tops:
            top.kill()
            top.communicate()
        process = subprocess.Popen(words, stdout=subprocess.PIPE, env=dict(os.environ, XDG_RUNTIME_DIR=place))
        process.stdout.readline()
        self.assertEqual(len(os.listdir(place)), 1)
        process.terminate()
        process.communicate()
        self.assertEqual(os.listdir(place), [])

    def test_a_command_that_outlives_top_may_still_write(self):
        """Its standard error is not ours: it would fill up, or end the command by SIGPIPE."""
        place = os.path.join(p.scratch(), "outlives")
        os.makedirs(place)
        go, said = os.path.join(place, "go"), os.path.join(place, "said")
        script = f"trap '' TERM; until [ -e {go} ]; do :; done; (head -c 200000 /dev/zero >&2; echo late >&2) && touch {said}"
        process = subprocess.Popen([p.PCTALLY, "top", "--interval", "0.2", "--", "sh", "-c", script], stdout=subprocess.PIPE)
        process.stdout.readline()
        process.terminate()
        process.communicate()
        open(go, "w", encoding="ascii").close()
        for _ in range(1000):
            if os.path.exists(said):
                break
            time.sleep(0.01)
        self.assertTrue(os.path.exists(said))

    def test_running_processes(self):
        if not p.engine_available("ring"):
            self.skipTest("engine ring (not available here: pctally engines says why)")
        process = subprocess.Popen([p.program("spinner"), "1", "1000"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        tables = self.tables(top("-p", str(process.pid), "--count", "2", "--interval", "0.25"))
        self.assertIn("spinner", tables[-1])
        self.assertIsNone(process.poll(), "the target goes on")

    def test_the_whole_machine(self):
        if os.geteuid() != 0:
            self.skipTest("the whole machine is root's to observe")
        process = subprocess.Popen([p.program("spinner"), "1", "1000"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        tables = self.tables(top("-a", "--count", "2", "--interval", "0.25", "--by", "process", "--limit", "0"))
        self.assertEqual(len(tables), 2)
        self.assertTrue(tables[-1].startswith("(the whole machine) [recording]\n"), tables[-1])
        self.assertRegex(tables[-1], rf"(?m)^ .*%  spinner +{process.pid}$")
        self.assertIsNone(process.poll(), "the target goes on")

    def test_call_paths_of_what_runs(self):
        """The total of a function that calls others, of a process and of the whole machine."""
        if not p.engine_available("ring"):
            self.skipTest("engine ring (not available here: pctally engines says why)")
        process = subprocess.Popen([p.program("known_paths"), "plain", "1000"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        for target in (["-p", str(process.pid)], ["-a"]):
            if target == ["-a"] and os.geteuid() != 0:
                self.skipTest("the whole machine is root's to observe")
            with self.subTest(target=target):
                table = self.tables(top(*target, "-g", "--count", "2", "--interval", "0.25", "--limit", "0"))[-1]
                self.assertRegex(table, r"(?m)^ .*\btotal\b")
                self.assertRegex(table, r"(?m)^ *\d.* plain .*known_paths$")
                self.assertIsNone(process.poll(), "the target goes on")

    def test_the_whole_machine_is_not_everybodys(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to become somebody else")
        with open("/proc/sys/kernel/perf_event_paranoid") as file:
            if int(file.read()) <= 0:
                self.skipTest("kernel.perf_event_paranoid lets everybody observe the whole machine")
        result = self.as_nobody("-a", place=self.place_of_nobody())
        self.assertEqual((result.returncode, result.stdout), (125, ""))
        self.assertRegex(result.stderr, r"\Apctally: -a needs root[^\n]*\n\Z")

    def place_of_nobody(self):
        path = tempfile.mkdtemp(prefix="pctally-test-")
        self.addCleanup(shutil.rmtree, path)
        os.chown(path, NOBODY, NOBODY)
        return path

    def as_nobody(self, *words, place):
        environment = {name: value for name, value in os.environ.items() if name != "XDG_RUNTIME_DIR"} | {"TMPDIR": place}
        try:
            return top(*words, "--count", "1", user=NOBODY, group=NOBODY, extra_groups=[], cwd="/", env=environment)
        except PermissionError:
            self.skipTest(f"nobody cannot run {p.PCTALLY}")

    def test_it_needs_a_directory_to_write_to(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to become somebody else")
        place = self.place_of_nobody()
        self.assertEqual(self.as_nobody("--", "true", place=place).returncode, 0)
        self.assertEqual(os.listdir(place), [])
        if os.stat("/tmp").st_mode & stat.S_IWOTH:
            self.skipTest("everybody can write to /tmp")
        result = self.as_nobody("--", "true", place="/nowhere")
        self.assertEqual((result.returncode, result.stdout), (125, ""))
        self.assertEqual(result.stderr, "pctally: cannot make a directory in /tmp: Permission denied; set TMPDIR to a directory that "
                         "you can write to\n")

    def test_a_control_group(self):
        result = p.beside_control_group(self, p.control_group_version() or 2,
                                        f"{p.PCTALLY} top --cgroup $GROUP --count 2 --interval 0.25 --limit 0")
        tables = self.tables(result)
        self.assertEqual(len(tables), 2)
        self.assertRegex(tables[-1], r"\A\(control group /\S+/pctally-test-\d+\) \[recording\]\n")
        self.assertIn("spin_here", tables[-1])
        self.assertNotIn("known_shares", tables[-1])

    def test_totals_and_callers_of_a_recording_with_call_paths(self):
        known_paths = p.program("known_paths")
        if not os.path.exists(known_paths):
            self.skipTest("call paths are for x86-64")
        for engine in p.one_of_each_kind():
            with self.subTest(engine):
                tables = self.tables(top("-g", "-e", engine, "--count", "2", "--interval", "0.5", "--", known_paths, "plain", "30"))
                self.assertRegex(tables[-1], r"(?m)^  total      now")
                # By timer and trap the recorder reads the paths ten times a second: the last ones are missing.
                self.assertRegex(tables[-1], r"(?m)^ *(100\.00|[5-9]\d\.\d\d)% +0\.00% .*%  main  ")

    def test_programs_and_threads_of_a_recording_that_keeps_them_apart(self):
        if not p.engine_available("ring") or not os.path.exists(p.program("known_paths")):
            self.skipTest("needs engine ring, which knows threads")
        functions = kernel_functions()
        for by, row in (("program", r"%  known_paths$"), ("thread,function", r"%  work +known_paths$")):
            tables = self.tables(top("--by", by, "--count", "2", "--interval", "0.4", "--limit", "0", "-e", "ring", "--",
                                     p.program("known_paths"), "plain", "30"))
            now = [(float(share), line) for share, line in re.findall(r"(?m)^ *(\d+\.\d\d)% (.*)$", tables[-1])]
            own = sum(share for share, line in now if re.search(row, line))
            # What interrupts the program is the kernel's: on a slow virtual machine a quarter of the time.
            kernel = sum(share for share, line in now if re.split(r"% +", line)[-1].split()[0] in functions)
            self.assertGreaterEqual(own, 0.9 * (100 - kernel), tables[-1])
            self.assertGreater(own, kernel, tables[-1])

    def test_no_such_control_group(self):
        result = top("--cgroup", "/nonexistent", "--count", "1")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertRegex(result.stderr, r"\Apctally: [^\n]*/nonexistent[^\n]*\n\Z")

    def test_what_cannot_be_shown(self):
        _, path = self.recording()
        for words, code, text in (([], 2, "nothing to watch"), (["/nonexistent"], 4, "cannot open"),
                                  (["/dev/null"], 4, "not a regular file"), ([p.PCTALLY], 4, "not a profile"),
                                  ([path, "-g"], 2, "choose how to record"), ([path, "--by", "program"], 4, "has no ticks by program"), ([path, "-a"], 2, "choose one"), ([path, "-F", "100"], 2, "choose how to record"),
                                  (["--", "/nonexistent"], 127, "not found"), (["--", "/dev/null"], 126, "cannot run")):
            result = top(*words)
            self.assertEqual(result.returncode, code, (words, result))
            self.assertIn(text, result.stderr)
            self.assertTrue(result.stderr.startswith("pctally: ") and result.stderr.count("\n") == 1, result.stderr)

    def test_damaged_files_never_crash_it(self):
        path = os.path.join(p.scratch(), "sound.pct")
        p.record([p.program("known_shares")], path=path)
        with open(path, "rb") as file:
            sound = file.read()
        generator = random.Random(1979)
        for turn in range(p.scale(40)):
            bad = bytearray(sound)
            for _ in range(12):
                bad[generator.randrange(8, min(len(bad), 30000))] = generator.randrange(256)
            with open(path + ".bad", "wb") as file:
                file.write(bad[:generator.randrange(len(bad))] if turn % 3 == 0 else bad)
            result = subprocess.run([p.PCTALLY, "top", "--count", "1", path + ".bad"], capture_output=True, timeout=60)
            self.assertIn(result.returncode, (0, 4), result)
            self.assertNotIn(b"\x1b", result.stdout + result.stderr)

    def test_a_reader_that_has_seen_enough(self):
        _, path = self.recording()
        process = subprocess.Popen([p.PCTALLY, "top", "--interval", "0.1", path], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual((process.wait(), process.stderr.read()), (0, b""))
        process.stderr.close()


@unittest.skipUnless(shutil.which("tmux"), "tmux is not installed")
class Screen(Live):
    """What a person sees, in 80 columns and 24 lines unless said otherwise."""

    def setUp(self):
        self.socket = f"pctally-{os.getpid()}"
        self.addCleanup(self.tmux, "kill-server")

    def tmux(self, *words):
        return subprocess.run(["tmux", "-u", "-L", self.socket, "-f", "/dev/null", *words], capture_output=True,
                              text=True, env=dict(os.environ, LC_ALL="C.UTF-8", SHELL="/bin/sh")).stdout

    def show(self, *words, columns=80, lines=24, prefix="exec "):
        command = prefix + " ".join([p.PCTALLY, "top", *words])
        self.tmux("new-session", "-d", "-c", p.scratch(), "-x", str(columns), "-y", str(lines), command)

    def screen(self):
        return self.tmux("capture-pane", "-p").split("\n")[:-1]

    def until(self, condition, what):
        def look():
            lines = self.screen()
            if len(lines) > 1 and condition(lines) and lines == self.screen():  # not one that is half drawn
                return lines
            return None
        return wait_until(look, what)

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def test_table_and_keys(self):
        _, path = self.recording()
        self.show("--interval", "0.2", path)
        lines = self.until(lambda lines: any("spin_here" in line for line in lines), "the hot function")
        self.assertEqual(len(lines), 24)
        self.assertRegex(lines[0], r"^pctally top: .*spinner 1 1000 +\[recording\]$")
        self.assertEqual(len(lines[0]), 80)
        self.assertRegex(lines[1], r"^last \d+\.\d s: [\d,]+ ticks, \d+\.\d\d CPUs; all \d+\.\d s: [\d,]+ ticks; by function$")
        self.assertRegex(lines[3], r"^    now      ± change       all  function +object$")
        self.assertRegex(lines[22], TICKS)
        self.assertIn("q quit", lines[23])
        self.keys("o")
        self.until(lambda lines: lines[1].endswith("by object") and "spinner" in "".join(lines[4:9]), "objects")
        self.keys("l")
        self.until(lambda lines: re.search(r"spin\w*\.[ch]:\d+", "".join(lines[4:9])), "lines")
        self.keys("p")
        self.until(lambda lines: lines[3].endswith("pid") and "spinner" in "".join(lines[4:9]), "processes")
        self.keys("f", "/", "SPIN_h")
        lines = self.until(lambda lines: "rows that contain: SPIN_h_" in lines[23], "the filter as it is typed")
        self.assertIn("spin_here", lines[4])
        self.assertEqual(lines[5], "")
        self.keys("Enter")
        self.until(lambda lines: 'rows contain "SPIN_h"' in lines[1] and "q quit" in lines[23], "the filter kept")
        self.keys("/", "Escape")
        self.until(lambda lines: lines[1].startswith("last"), "no filter")
        self.keys("?")
        self.until(lambda lines: "any other key: back" in lines[0], "help")
        self.keys("x")
        self.until(lambda lines: "[recording]" in lines[0], "the table again")
        self.keys("Space")
        frozen = self.until(lambda lines: "[frozen]" in lines[0], "frozen")
        p.await_ticks(path, p.report(path)["ticks"] + 500)  # of more than two intervals in which nothing may happen
        self.assertEqual(self.screen(), frozen)
        self.keys("Space")
        self.until(lambda lines: lines[22] != frozen[22], "moving again")
        self.keys("w")
        lines = self.until(lambda lines: lines[2].startswith("wrote "), "a snapshot")
        written = os.path.join(p.scratch(), lines[2].split()[1].rstrip(";"))
        self.assertGreater(p.report(written)["ticks"], 0)
        self.keys("q")
        wait_until(lambda: self.tmux("list-sessions") == "", "the end")

    def test_a_copy_of_a_finished_profile_has_its_names(self):
        path = p.record([p.program("spinner"), "1", "0.2"], path=os.path.join(p.scratch(), "finished.pct")).path
        if not p.has_names(path):
            self.skipTest("a busy machine has not found names in their second")
        self.show(path)
        self.until(lambda lines: "spin_here" in "".join(lines), "the table")
        self.keys("w")
        lines = self.until(lambda lines: lines[2].startswith("wrote "), "a copy")
        self.assertTrue(p.has_names(os.path.join(p.scratch(), lines[2].split()[1].rstrip(";"))), lines[2])

    def test_callers_of_a_row_are_those_of_the_report(self):
        if not p.engine_available("ring") or not os.path.exists(p.program("known_paths")):
            self.skipTest("needs engine ring, and call paths, which are for x86-64")
        path = p.record([p.program("known_paths"), "plain,allocating,tail_call,in_thread", "0.1"], "-g", "-e", "ring").path
        self.show(path, columns=120)
        lines = self.until(lambda lines: any(line.startswith("called by") for line in lines), "callers of the first row")
        self.assertIn("%  work  ", lines[4])
        report = json.loads(subprocess.run([p.PCTALLY, "report", "--json", "--callers", "work", path], capture_output=True, text=True, check=True).stdout)
        for word, rows in (("called by  ", report["callers"]), ("calls      ", report["callees"])):
            shown = next(line for line in lines if line.startswith(word)).removeprefix(word).rstrip()
            expected = ", ".join(f"{100 * row['share']:.0f} % {row['function']}" for row in rows[:4])
            self.assertEqual(shown, expected + (f", {len(rows) - 4} more" if len(rows) > 4 else ""))
        self.assertGreaterEqual(len(report["callers"]), 4, "work() has a caller a case")

    def test_narrow_and_resized(self):
        _, path = self.recording()
        self.show("--interval", "0.2", path, columns=40, lines=10)
        lines = self.until(lambda lines: "spin_here" in lines[4], "the hot function")
        self.assertEqual(lines[3], "    now      ±   function")
        self.assertRegex(lines[8], r"^\d+ ticks: 0 outside")
        for columns, height in ((100, 30), (20, 6), (2, 2), (80, 24)):
            self.tmux("resize-window", "-x", str(columns), "-y", str(height))
            if columns >= 20:
                lines = self.until(lambda lines: len(lines) == height and lines[0].startswith("pctally"),
                                   columns)
                self.assertTrue(all(len(line) <= columns for line in lines))
        self.until(lambda lines: "q quit" in lines[23], "80 x 24 again")

    def test_help_and_messages_stay_when_the_terminal_is_resized(self):
        _, path = self.recording()
        self.show("--interval", "0.2", path)
        self.until(lambda lines: "spin_here" in lines[4], "the hot function")
        self.keys("w")
        self.until(lambda lines: lines[2].startswith("wrote "), "a message")
        self.tmux("resize-window", "-x", "40", "-y", "26")
        resized = self.until(lambda lines: len(lines) == 26 and "q quit" in lines[25], "the table in the new size")
        lines = self.until(lambda lines: lines[24] != resized[24], "a refresh")
        self.assertTrue(lines[2].startswith("wrote "), lines)
        self.keys("?")
        self.until(lambda lines: "share in the whole recording" in lines[7], "help")
        self.tmux("resize-window", "-x", "100", "-y", "30")
        self.until(lambda lines: lines[5].endswith("mark a change that is"), "help in the new size")
        self.keys("?")  # would open it again if the resize had closed it
        self.until(lambda lines: "[recording]" in lines[0], "the table again")

    def test_the_recorder_dies(self):
        recorder, path = self.recording()
        self.show("--interval", "0.2", path)
        self.until(lambda lines: "spin_here" in lines[4], "the hot function")
        child = p.command_of(recorder.pid)
        recorder.kill()
        recorder.wait()
        os.kill(child, signal.SIGKILL)
        lines = self.until(lambda lines: "[recorder killed]" in lines[0], "that the recorder is gone")
        self.assertIn("INCOMPLETE: the recording was cut off", lines[2])

    def test_the_recording_ends(self):
        recorder, path = self.recording()
        self.show("--interval", "0.2", path)
        self.until(lambda lines: "spin_here" in lines[4], "the hot function")
        recorder.terminate()
        recorder.wait()
        lines = self.until(lambda lines: "[finished" in lines[0], "that it is closed")
        self.assertIn("spin_here", lines[4])

    def test_the_file_is_cut_and_filled_with_noise(self):
        _, path = self.recording()
        copy = path + ".victim"
        subprocess.run([p.PCTALLY, "snapshot", "-q", "-f", "-o", copy, path], check=True)
        with open(copy, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # as its recorder would
            file.seek(28)
            file.write(b"\1\0\0\0")
            file.flush()
            self.show("--interval", "0.1", copy)
            self.until(lambda lines: "spin_here" in lines[4], "the hot function")
            os.truncate(copy, 100)
            lines = self.until(lambda lines: "truncated" in lines[2], "a message")
            self.assertIn("spin_here", lines[4], "the last table stays")
            file.seek(0)
            file.write(os.urandom(200000))
            file.flush()
            lines = self.until(lambda lines: "not a profile" in lines[2], "another message")
            self.assertIn("spin_here", lines[4])
        self.keys("q")
        wait_until(lambda: self.tmux("list-sessions") == "", "the end")


class Terminal(Live):
    """A terminal of our own: what is written to it, and its modes before and after."""

    def start(self, path, **environment):
        master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (24, 80)) if hasattr(termios, "tcsetwinsize") else None
        self.addCleanup(os.close, slave)
        before = termios.tcgetattr(slave)
        process = subprocess.Popen([p.PCTALLY, "top", "--interval", "0.2", path], stdin=slave, stdout=slave,
                                   stderr=slave, start_new_session=True,
                                   env=dict(os.environ, TERM="xterm", **environment))
        return process, master, slave, before

    def read(self, master, process, until=None):
        text = b""
        while until is None or until not in text:
            ended = process.poll() is not None
            if select.select([master], [], [], 0.5)[0]:  # a terminal hands on in its own time what is written to it
                text += os.read(master, 65536)
            elif ended:
                break
        return text

    def test_every_way_out_restores_the_terminal(self):
        _, path = self.recording()
        for way in ("q", signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            with self.subTest(way=way):
                process, master, slave, before = self.start(path)
                text = self.read(master, process, b"recording")
                self.assertNotEqual(termios.tcgetattr(slave), before, text)
                if way == "q":
                    os.write(master, b"q")
                else:
                    process.send_signal(way)
                text = self.read(master, process, b"\x1b[?1049l")
                self.assertEqual(process.wait(10), 0)
                self.assertIn(b"\x1b[?1049l", text, "the screen from before is back")
                self.assertEqual(termios.tcgetattr(slave), before)
                os.close(master)

    def test_control_c_restores_the_terminal(self):
        _, path = self.recording()
        master, slave = pty.openpty()
        self.addCleanup(os.close, slave)
        before = termios.tcgetattr(slave)
        # a shell owns the terminal and outlives top: the terminal is hung up when its session ends
        shell = subprocess.Popen(["sh", "-c", 'trap : INT; "$@"; echo "exit $?"; read line', "sh", p.PCTALLY, "top", path],
                                 stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
                                 preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
                                 env=dict(os.environ, TERM="xterm"))
        self.read(master, shell, b"recording")
        os.write(master, b"\x03")
        text = self.read(master, shell, b"exit 0")
        self.assertIn(b"\x1b[?1049l", text, "the screen from before is back")
        self.assertEqual(termios.tcgetattr(slave), before)
        os.write(master, b"\n")
        self.assertEqual(shell.wait(10), 0)
        os.close(master)

    def test_in_the_background_it_runs_and_ends(self):
        """timeout(1) makes it a process group of its own, which does not own the terminal."""
        _, path = self.recording()
        master, slave = pty.openpty()
        self.addCleanup(os.close, slave)
        shell = subprocess.Popen(["sh", "-c", 'timeout 1 "$@"; echo "exit $?"; read line', "sh", p.PCTALLY, "top", path],
                                 stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
                                 preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
                                 env=dict(os.environ, TERM="xterm"))
        self.addCleanup(shell.kill)
        self.assertIn(b"recording", self.read(master, shell, b"recording"))
        self.assertIn(b"exit 124", self.read(master, shell, b"exit 124"), "the signal came")
        os.write(master, b"\n")
        self.assertEqual(shell.wait(10), 0)
        os.close(master)

    def test_a_stopped_top_takes_the_terminal_back(self):
        _, path = self.recording()
        process, master, slave, before = self.start(path)
        self.read(master, process, b"recording")
        self.addCleanup(process.kill)
        modes = termios.tcgetattr(slave)
        process.send_signal(signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)
        termios.tcsetattr(slave, termios.TCSANOW, before)  # as its shell does
        process.send_signal(signal.SIGCONT)
        wait_until(lambda: termios.tcgetattr(slave) == modes, "the modes of before the stop")
        text = self.read(master, process, b"recording")
        self.assertIn(b"\x1b[?1049h", text, "the whole screen again")
        os.write(master, b"q")
        self.assertEqual(process.wait(10), 0)
        self.assertEqual(termios.tcgetattr(slave), before)
        os.close(master)

    def test_a_terminal_that_goes_away_is_the_end(self):
        _, path = self.recording()
        process, master, _, _ = self.start(path)
        self.read(master, process, b"recording")
        os.close(master)
        self.assertEqual(process.wait(10), 0)

    def test_without_utf8_nothing_but_ascii_is_written(self):
        _, path = self.recording()
        process, master, _, _ = self.start(path, LC_ALL="C")
        text = self.read(master, process, b"q quit")
        os.write(master, b"q")
        process.wait(10)
        self.assertFalse(any(byte >= 0x80 for byte in text), text)
        self.assertIn(b"+-", text)
        os.close(master)

    def test_an_unknown_or_dumb_terminal_gets_plain_lines(self):
        path = os.path.join(p.scratch(), "plain.pct")
        p.record([p.program("spinner"), "1", "0.2"], path=path)
        for name in ("dumb", "no-such-terminal"):
            process, master, _, _ = self.start(path, **{})
            process.kill()
            process.wait()
            os.close(master)
            master, slave = pty.openpty()
            process = subprocess.Popen([p.PCTALLY, "top", path], stdin=slave, stdout=slave, stderr=slave,
                                       env=dict(os.environ, TERM=name))
            os.close(slave)
            text = b""
            try:
                while chunk := os.read(master, 65536):
                    text += chunk
            except OSError:  # the other side is closed
                pass
            self.assertEqual(process.wait(10), 0)
            self.assertIn(b"counted", text)
            self.assertNotIn(b"\x1b", text)
            os.close(master)


if __name__ == "__main__":
    p.main()
