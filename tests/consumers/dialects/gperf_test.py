"""A program in the Nintendo 64's style on one side, `pctally gperf` on the other: queries, server mode, hostile peers."""
import os
import re
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "lib"))
import pctally_test as pt

HERE = os.path.dirname(os.path.abspath(__file__))
INCLUDE = os.path.join(HERE, "..", "..", "..", "include", "pctally", "compat", "n64")
RULE = "-" * 61
REQUEST, RECEIVED, MAGIC = b"q", b"k", 0x4e363450


# Known ticks: half of them in `half`, the rest in `rest`, in code without a name, in no code and in no segment.
KNOWN = """#include <ultra64.h>
#include <unistd.h>
extern int pctally_count(void *pc, unsigned long long weight);
__attribute__((noinline, aligned(64))) int half(int a) { return a * 3; }
__attribute__((noinline, aligned(64))) int rest(int a) { return a * 5; }
static u16 bins[64] __attribute__((aligned(4))), none[4] __attribute__((aligned(4)));
int main(void)
{
    OSProf segments[2] = {{bins, 64, (u32 *)half, (u32 *)half + 64}, {none, 4, (u32 *)4096, (u32 *)4096 + 4}};
    osProfileInit(segments, 2);
    osProfileStart(20000);
    pctally_count((void *)half, 40);
    pctally_count((char *)half + 2, 10);
    pctally_count((void *)rest, 30);
    pctally_count((char *)half + 60, 5);
    pctally_count((void *)4104, 3);
    pctally_count((void *)8, 12);
    pause();
    return 0;
}
"""


def build(source, name):
    program = os.path.join(pt.scratch(), name)
    libraries = os.path.join(pt.BUILD, "lib")
    subprocess.run([os.environ.get("CC", "cc"), "-O1", "-isystem", INCLUDE, "-x", "c", source, "-o", program, "-L" + libraries,
                    "-Wl,-rpath," + libraries, "-Wl,--build-id", "-lpctally"], check=True)
    return program


def eventually(look, seconds=20):
    until = time.monotonic() + seconds
    while not (found := look()) and time.monotonic() < until:
        time.sleep(0.05)
    return found


class Gperf(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = build(os.path.join(HERE, "n64", "one_segment.c"), "one_segment")

    def setUp(self):
        self.runtime = os.path.join(pt.scratch(), self.id().rsplit(".", 1)[1][:12])
        os.makedirs(self.runtime, mode=0o700)
        self.env = dict(os.environ, XDG_RUNTIME_DIR=self.runtime)
        self.children = []

    def tearDown(self):
        for child in self.children:
            child.kill()
            child.communicate()
        shutil.rmtree(self.runtime, True)

    def start(self, *words, **options):
        child = subprocess.Popen(words, env=self.env, text=True, **options)
        self.children.append(child)
        return child

    def path(self, name):
        return os.path.join(self.runtime, "pctally", f"n64.{name}")

    def run_program(self):
        child = self.start(self.program, "forever", stdout=subprocess.DEVNULL)
        self.assertTrue(eventually(lambda: os.path.exists(self.path(child.pid))))
        return child

    def let_work(self, child, seconds=0.6):
        """Until the program has used so much CPU time: a busy machine gives it less than the clock on the wall."""
        def cpu_seconds():
            with open(f"/proc/{child.pid}/stat", encoding="ascii") as stat_file:
                return sum(map(int, stat_file.read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")
        self.assertTrue(eventually(lambda: cpu_seconds() >= seconds, 60))

    def gperf(self, *words):
        return subprocess.run([pt.PCTALLY, "gperf", *words], env=self.env, capture_output=True, text=True, timeout=60)

    def connect(self, child):
        peer = socket.socket(socket.AF_UNIX)
        peer.settimeout(10)
        peer.connect(self.path(child.pid))
        return peer

    def check_layout(self, report, unit=" %"):
        lines = report.split("\n")
        self.assertEqual(lines[0], RULE)
        self.assertEqual(lines[1], "Profile Report for osprof")
        self.assertRegex(lines[2], r"^Number of text symbols: [1-9]\d*$")
        self.assertEqual(lines[3], "Sample period: 10000 microseconds")
        self.assertEqual(lines[4], "Number of profiled segments: 1")
        self.assertRegex(lines[5], r"^Text segment 0, start = [0-9a-f]{8,}, size = 00001000$")
        self.assertEqual(lines[6:9], [RULE, "", ""])
        rows = lines[9:-1]
        for row in rows:
            self.assertEqual(len(row), 53 + 10 + len(unit), row)
            self.assertTrue(row.endswith(unit), row)
        self.assertTrue(rows[-1].startswith("Overflow  ..."), rows[-1])
        return {re.split(r"\.{2,}", row)[0].split()[-1]: float(row[53:63]) for row in rows}

    def test_query_names_the_hot_function(self):
        child = self.run_program()
        self.let_work(child)
        result = self.gperf(self.program)
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = self.check_layout(result.stdout)
        self.assertGreater(rows["updateWorld"], 80)
        self.assertAlmostEqual(sum(rows.values()), 100, delta=0.01)
        self.assertIsNone(child.poll())

    def test_a_relative_path_names_the_functions(self):
        child = self.run_program()
        self.let_work(child)
        folder, name = os.path.split(self.program)
        for cwd, a_out in ((folder, "./" + name), (folder, name), (os.path.join(folder, self.runtime), "../" + name)):
            result = subprocess.run([pt.PCTALLY, "gperf", a_out], env=self.env, cwd=cwd, capture_output=True, text=True)
            self.assertIn("updateWorld", self.check_layout(result.stdout), a_out)

    def test_counts_time_and_threshold(self):
        child = self.run_program()
        self.let_work(child)
        counts = self.check_layout(self.gperf("-c", "-p", str(child.pid), self.program).stdout, "")
        self.assertGreater(counts["updateWorld"], 20)
        seconds = self.check_layout(self.gperf("-r", self.program).stdout, " s")
        self.assertGreaterEqual(seconds["updateWorld"] + 0.001, 0.01 * counts["updateWorld"])
        self.assertNotIn("updateWorld", self.check_layout(self.gperf("-c", "-t", "100000000", self.program).stdout, ""))
        self.assertIn("updateWorld", self.check_layout(self.gperf("-t", "50", self.program).stdout))

    def run_known(self):
        source = os.path.join(self.runtime, "known.c")
        with open(source, "w") as file:
            file.write(KNOWN)
        self.env["PCTALLY_ENGINE"] = "manual"
        child = self.start(build(source, "known"))
        self.known = child.args[0]
        self.assertTrue(eventually(lambda: "half" in self.gperf(self.known).stdout))

    def rows_of_known(self, *options):
        """Name and figure of each row, in their order."""
        result = self.gperf(*options, self.known)
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = [re.split(r"\.{2,}", line) for line in result.stdout.split("\n")[10:-1]]
        return [(name.split()[-1].split("+")[0], figure.strip()) for name, figure in rows]

    def test_every_row_and_figure(self):
        self.run_known()
        self.assertEqual(self.rows_of_known(), [("[unknown]", "3.0000 %"), ("half", "50.0000 %"), ("[known", "5.0000 %"),
                                                ("rest", "30.0000 %"), ("Overflow", "12.0000 %")])
        self.assertEqual([figure for _, figure in self.rows_of_known("-c")], ["3", "50", "5", "30", "12"])
        self.assertEqual([figure for _, figure in self.rows_of_known("-r")],
                         ["0.0600 s", "1.0000 s", "0.1000 s", "0.6000 s", "0.2400 s"])
        report = self.gperf(self.known).stdout
        self.assertIn("Sample period: 20000 microseconds\nNumber of profiled segments: 2\n", report)
        self.assertRegex(report, r"Text segment 0, start = [0-9a-f]{8,}, size = 00000100\n"
                                 r"Text segment 1, start = 00001000, size = 00000010\n")

    def test_a_threshold_leaves_out_what_is_below_it(self):
        self.run_known()
        for unit in ((), ("-c",), ("-r",)):  # the ticks are 100: percent and counts are the same
            self.assertEqual([name for name, _ in self.rows_of_known(*unit, "-t", "30")], ["half", "rest", "Overflow"])
            self.assertEqual([name for name, _ in self.rows_of_known(*unit, "-t", "30.01")], ["half", "Overflow"])

    def test_a_program_that_is_not_the_one_that_runs_names_nothing(self):
        self.run_known()
        pid = str(self.children[-1].pid)
        copy = self.known + ".copy"
        shutil.copy(self.known, copy)
        self.assertIn("half", self.gperf("-p", pid, copy).stdout)
        source = os.path.join(self.runtime, "other.c")
        with open(source, "w") as file:
            file.write(KNOWN.replace("half", "wrong"))
        result = self.gperf("-p", pid, build(source, "other"))
        self.assertEqual(result.returncode, 0)
        self.assertNotIn("wrong", result.stdout)
        self.assertIn("85.0000", result.stdout)
        self.assertRegex(result.stderr, "^pctally: no names from .*/other: build id differs")

    def test_the_newest_process_is_asked_and_another_by_its_number(self):
        older, newer = self.run_program(), self.run_program()
        older.send_signal(signal.SIGSTOP)
        self.assertEqual(self.gperf(self.program).returncode, 0)
        newer.send_signal(signal.SIGSTOP)
        older.send_signal(signal.SIGCONT)
        self.assertEqual(self.gperf("-p", str(older.pid), self.program).returncode, 0)

    def test_what_cannot_be_asked(self):
        child = self.run_program()
        for words, said in (((self.known_text(),), "not an ELF file"), (("/nowhere",), "cannot open /nowhere"),
                            ((pt.PCTALLY,), pt.PCTALLY + " is not running, or has not called osProfileInit yet"),
                            (("-p", str(os.getpid()), self.program),
                             f"process {os.getpid()} is not running, or has not called osProfileInit yet")):
            result = self.gperf(*words)
            self.assertEqual((result.returncode, result.stdout), (4, ""), words)
            self.assertIn(said, result.stderr)
        for words in (("-c", "-r", self.program), (), ("-t", "-1", self.program), ("-p", "0", self.program)):
            self.assertEqual(self.gperf(*words).returncode, 2, words)
        self.assertIsNone(child.poll())

    def known_text(self):
        path = os.path.join(self.runtime, "text")
        with open(path, "w") as file:
            file.write(KNOWN)
        return path

    def test_a_report_that_cannot_be_written(self):
        self.run_program()
        with open("/dev/full", "w") as full:
            result = subprocess.run([pt.PCTALLY, "gperf", self.program], env=self.env, stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(result.returncode, 125)
        self.assertIn("No space left", result.stderr)

    def test_one_server_at_a_time(self):
        first = self.start(pt.PCTALLY, "gperf", "-s", self.program, stderr=subprocess.PIPE)
        self.assertIn("waiting for osProfileFlush", first.stderr.readline())
        result = self.gperf("-s", self.program)
        self.assertEqual(result.returncode, 125)
        self.assertIn("end the other gperf -s first", result.stderr)
        first.send_signal(signal.SIGINT)
        self.assertEqual(first.communicate(timeout=20)[1], "", "the second was no program with counters")

    def test_a_server_leaves_the_counters_of_other_processes_unread(self):
        for words, said in (((pt.PCTALLY,), f"does not run {pt.PCTALLY}:"), (("-p", str(os.getpid()), self.program), f"is not {os.getpid()}:")):
            server = self.start(pt.PCTALLY, "gperf", "-s", *words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertIn("waiting for osProfileFlush", server.stderr.readline())
            self.assertEqual(subprocess.run([self.program], env=self.env, stdout=subprocess.DEVNULL).returncode, 0)
            self.assertIn(said + " its counters are left unread", server.stderr.readline())
            server.send_signal(signal.SIGINT)
            self.assertEqual(server.communicate(timeout=20)[0], "")

    def test_a_server_of_one_process_ends_with_it(self):
        child = self.run_program()
        server = self.start(pt.PCTALLY, "gperf", "-s", "-p", str(child.pid), self.program, stderr=subprocess.PIPE)
        self.assertIn("waiting for osProfileFlush", server.stderr.readline())
        self.assertIsNone(server.poll())
        child.kill()
        child.wait()
        self.assertEqual(server.wait(timeout=20), 0)

    def test_server_prints_at_each_flush(self):
        server = self.start(pt.PCTALLY, "gperf", "-s", self.program, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.assertTrue(eventually(lambda: os.path.exists(self.path("gperf"))))
        self.assertEqual(stat.S_IMODE(os.stat(self.path("gperf")).st_mode), 0o600)
        self.run_program()
        text = ""
        while text.count("Overflow") < 2:
            text += server.stdout.readline()
        server.send_signal(signal.SIGINT)
        rest = server.communicate(timeout=10)[0]
        self.assertEqual(server.returncode, 0)
        self.assertGreater(self.check_layout(RULE + text.split(RULE, 1)[1].split("\n" + RULE + "\nProfile")[0].rstrip("\n") +
                                             "\n")["updateWorld"], 50)
        self.assertFalse(os.path.exists(self.path("gperf")), rest)

    def test_flush_without_gperf_is_harmless(self):
        begun = time.monotonic()
        result = subprocess.run([self.program], env=self.env, capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertLess(time.monotonic() - begun, 30)
        self.assertEqual(os.listdir(os.path.join(self.runtime, "pctally")), [], "the socket was left behind")

    def test_socket_is_the_users_own(self):
        child = self.run_program()
        self.assertEqual(stat.S_IMODE(os.stat(self.path(child.pid)).st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(os.stat(os.path.dirname(self.path(0))).st_mode), 0o700)

    def test_socket_of_a_killed_program_is_removed(self):
        child = self.run_program()
        child.kill()
        child.wait()
        result = self.gperf(self.program)
        self.assertEqual(result.returncode, 4)
        self.assertIn("not running", result.stderr)
        self.assertFalse(os.path.exists(self.path(child.pid)))

    def test_io_thread_blocks_all_signals(self):
        child = self.run_program()
        tasks = f"/proc/{child.pid}/task"
        thread = eventually(lambda: next((t for t in os.listdir(tasks) if open(f"{tasks}/{t}/comm").read() == "pctally-n64\n"), None))
        blocked = int(re.search(r"SigBlk:\s*(\w+)", open(f"{tasks}/{thread}/status").read()).group(1), 16)
        # all but KILL and STOP, which cannot be, and the two that the C library keeps
        self.assertEqual(blocked | 1 << 8 | 1 << 18 | 1 << 31 | 1 << 32, 2**64 - 1)

    def test_program_survives_hostile_peers(self):
        child = self.run_program()
        for noise in (b"", b"\0" * 4096, b"\xff" * 100000, RECEIVED, REQUEST + b"\xff" * 4096, REQUEST * 100):
            with self.connect(child) as peer:
                try:
                    peer.sendall(noise)
                    peer.recv(4)
                except OSError:
                    pass  # hung up on: as it should be
        silent = self.connect(child)  # says nothing, and stays
        result = self.gperf(self.program)
        silent.close()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIsNone(child.poll())

    def test_protocol_byte_by_byte(self):
        child = self.run_program()
        self.let_work(child)
        with self.connect(child) as peer:
            stream = peer.makefile("rb")

            def data(count):
                got = stream.read(count)
                self.assertEqual(len(got), count)
                return got

            peer.sendall(REQUEST)
            magic, segments, period, _ = struct.unpack(">IIII", data(16))
            start, counters = struct.unpack(">QI", data(12))
            self.assertEqual((magic, segments, period, counters, start % 4096), (MAGIC, 1, 10000, 1024, 0))
            self.assertIn(sum(struct.unpack(">1024H", data(2048))), range(20, 400))
            peer.sendall(RECEIVED)
            self.assertEqual(stream.read(), b"")

    def as_another_user(self, work):
        """Runs work() in a child of the user nobody; the file its bytes can be read from."""
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.setuid(65534)
                os.write(writer, work())
            finally:
                os._exit(0)
        os.close(writer)
        self.addCleanup(os.waitpid, child, 0)
        return os.fdopen(reader, "rb")

    def ask_as_another_user(self, path, sent):
        def exchange():
            try:
                with socket.socket(socket.AF_UNIX) as peer:
                    peer.settimeout(10)
                    peer.connect(path)
                    peer.sendall(sent)
                    return b"got:" + peer.recv(4096)
            except ConnectionError:
                return b"got:"
        with self.as_another_user(exchange) as answer:
            return answer.read()

    @unittest.skipIf(os.geteuid() != 0, "needs root, to become another user")
    def test_another_user_is_not_answered(self):
        """Whoever gets past the modes of directory and socket is refused by the kernel's word on who it is."""
        child = self.run_program()
        for path, mode in ((pt.scratch(), 0o755), (self.runtime, 0o755), (os.path.dirname(self.path(0)), 0o755), (self.path(child.pid), 0o666)):
            os.chmod(path, mode)
        self.assertEqual(self.ask_as_another_user(self.path(child.pid), REQUEST), b"got:")
        with self.connect(child) as peer:
            peer.sendall(REQUEST)
            self.assertEqual(len(peer.recv(4)), 4, "its own user is answered")
        self.assertIsNone(child.poll())

    def test_tcp_is_gone(self):
        result = self.gperf("--tcp", "5021", self.program)
        self.assertEqual(result.returncode, 2)
        self.assertIn("XDG_RUNTIME_DIR", result.stderr)

    def test_flush_to_a_silent_gperf_ends(self):
        os.makedirs(os.path.dirname(self.path("gperf")), mode=0o700)
        with socket.socket(socket.AF_UNIX) as silent:
            silent.bind(self.path("gperf"))
            silent.listen()
            result = subprocess.run([self.program], env=self.env, capture_output=True, text=True, timeout=60)
            self.assertEqual(result.returncode, 0, result.stdout)

    def test_server_hears_a_program_without_xdg_runtime_dir(self):
        """gperf -s in a session, the game from cron or su: it looks in /tmp alone."""
        fallback = f"/tmp/pctally-{os.geteuid()}/n64.gperf"
        with socket.socket(socket.AF_UNIX) as peer:
            if peer.connect_ex(fallback) == 0:
                self.skipTest("another gperf -s of this user waits in /tmp")
        server = self.start(pt.PCTALLY, "gperf", "-s", self.program, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for path in (self.path("gperf"), fallback):
            self.assertTrue(eventually(lambda: socket.socket(socket.AF_UNIX).connect_ex(path) == 0), path)
        bare = {name: value for name, value in os.environ.items() if name != "XDG_RUNTIME_DIR"}
        self.assertEqual(subprocess.run([self.program], env=bare, stdout=subprocess.DEVNULL, timeout=60).returncode, 0)
        server.send_signal(signal.SIGINT)
        self.assertEqual(server.communicate(timeout=10)[0].count("Profile Report"), 1)
        self.assertFalse(os.path.exists(fallback) or os.path.exists(self.path("gperf")))

    def hostile_program(self, *answers):
        """A server that takes this process for its program: what it prints and says of each answer."""
        server = self.start(pt.PCTALLY, "gperf", "-s", "-p", str(os.getpid()), self.program, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)
        self.assertTrue(eventually(lambda: os.path.exists(self.path("gperf"))))
        for answer in answers:
            with socket.socket(socket.AF_UNIX) as peer:
                # The socket is there a moment before it listens.
                self.assertTrue(eventually(lambda: peer.connect_ex(self.path("gperf")) == 0))
                try:
                    peer.sendall(answer)
                    peer.shutdown(socket.SHUT_WR)
                    peer.settimeout(10)
                    while peer.recv(4096):
                        pass
                except OSError:
                    pass
        server.send_signal(signal.SIGTERM)
        out, err = server.communicate(timeout=20)
        self.assertEqual(server.returncode, 0, err)
        return out, err

    def test_gperf_survives_hostile_programs(self):
        out, err = self.hostile_program(
            b"\xff" * 5000, struct.pack(">IIII", 0, 0, 7, 5), struct.pack(">IIII", MAGIC, 1, 0, 0) + struct.pack(">QI", 2**64 - 1, 2**32 - 1),
            struct.pack(">IIII", MAGIC, 4096, 1, 1), struct.pack(">IIII", MAGIC, 4097, 1, 1), struct.pack(">IIII", MAGIC, 0, 7, 5))
        self.assertEqual(out.count("Profile Report"), 1)
        self.assertIn("Sample period: 7 microseconds", out)
        self.assertIn("100.0000 %", out)
        self.assertIn("announces more counters", err)
        self.assertIn("announces more segments", err)
        self.assertIn("another version", err)

    def test_a_directory_of_others_is_not_used(self):
        os.makedirs(os.path.join(self.runtime, "pctally"))
        os.chmod(os.path.join(self.runtime, "pctally"), 0o777)
        child = self.start(self.program, "forever", stdout=subprocess.DEVNULL)
        fallback = f"/tmp/pctally-{os.geteuid()}/n64.{child.pid}"
        self.assertTrue(eventually(lambda: os.path.exists(fallback)))
        self.assertFalse(os.path.exists(self.path(child.pid)))
        child.kill()
        child.wait()
        os.unlink(fallback)


if __name__ == "__main__":
    pt.main()
