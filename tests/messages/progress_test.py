"""What takes more than a second says on a terminal what it is doing and how far it is; elsewhere nothing. A preloaded library holds each
command at the opening of a file, until the test lets it go on: nothing depends on how long a second is."""
import contextlib
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

PATIENCE_S = 20  # for what never comes
ERASED = b"\r\033[K"
HOLD = r"""#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void hold(const char* path) {
  static int held;
  const char *name = getenv("HOLD_FILE"), *base = strrchr(path, '/');
  char byte = 0;
  if (held || !name || strcmp(base ? base + 1 : path, name)) return;
  held = 1;
  if (write(atoi(getenv("HOLD_SAY")), "x", 1) == 1) (void)!read(atoi(getenv("HOLD_WAIT")), &byte, 1);
}
#define OPEN(function)                                                       \
  int function(const char* path, int flags, ...) {                           \
    va_list rest;                                                            \
    va_start(rest, flags);                                                   \
    int mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, int) : 0;      \
    va_end(rest);                                                            \
    hold(path);                                                              \
    return ((int (*)(const char*, int, ...))dlsym(RTLD_NEXT, #function))(path, flags, mode); \
  }
OPEN(open)
OPEN(open64)
"""


@unittest.skipIf(shutil.which("gcc") is None, "gcc is not installed")
class Progress(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = directory = tempfile.mkdtemp(dir=p.scratch())
        cls.library = os.path.join(directory, "hold.so")
        source = os.path.join(directory, "hold.c")
        with open(source, "w") as file:
            file.write(HOLD)
        subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", cls.library, source], check=True)
        shutil.copy(p.program("spinner"), os.path.join(directory, "work"))
        for name in ("a.pct", "b.pct"):
            done = p.record([os.path.join(directory, "work"), "1", "0.1"], path=os.path.join(directory, name))
            assert done.returncode == 0, done.stderr
        cls.function = next(row["function"] for row in p.report(os.path.join(directory, "a.pct"))["rows"] if row["object"] == "work")

    def start(self, stack, words, hold, stderr, **env):
        """The process, once it is held, and what lets it go on."""
        here, say = os.pipe()
        wait, go = os.pipe()
        for fd in (here, go):
            stack.callback(os.close, fd)
        env = {**os.environ, "TERM": "xterm", **env, "LD_PRELOAD": self.library, "HOLD_FILE": hold, "HOLD_SAY": str(say), "HOLD_WAIT": str(wait)}
        process = subprocess.Popen([p.PCTALLY, *words], cwd=self.directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr,
                                   pass_fds=[say, wait], env=env, start_new_session=True)
        stack.callback(self.end, process)
        os.close(say)
        os.close(wait)
        self.assertEqual(os.read(here, 1), b"x", words)
        return process, lambda: os.write(go, b"x")

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
            process.communicate()

    def test_on_a_terminal(self):
        # Not all names are in a profile that a busy machine made.
        lines = rb"pctally: (lines|names): \d+ of \d+ addresses"
        code = rb"pctally: (names: \d+ of \d+ addresses|reading the code of work)"
        held = [("report --by line a.pct", "work", lines), (f"annotate {self.function} a.pct", "work", code),
                ("export --format pprof a.pct", "work", lines), ("archive -f -o c.pct a.pct", "work", code),
                ("diff --by line a.pct b.pct", "work", lines), ("report --html page.html a.pct", "work", lines),
                ("merge -f -o sum.pct a.pct b.pct", "b.pct", rb"pctally: reading b\.pct, 2 of 2 files"),
                ("report a.pct", "a.pct", rb"pctally: reading a\.pct")]
        with contextlib.ExitStack() as stack:
            running = []
            for words, hold, expected in held:
                screen, terminal = pty.openpty()
                stack.callback(os.close, screen)
                running.append((words, expected, screen, *self.start(stack, words.split(), hold, terminal)))
                os.close(terminal)
            for words, expected, screen, process, go_on in running:
                with self.subTest(words):
                    text = b""
                    while not re.search(expected, text) and select.select([screen], [], [], PATIENCE_S)[0]:
                        text += os.read(screen, 4096)
                    self.assertRegex(text, expected)
                    self.assertTrue(text.startswith(ERASED + b"pctally: "), text)
                    go_on()
                    with contextlib.suppress(OSError):  # how a terminal ends
                        while piece := os.read(screen, 4096):
                            text += piece
                    process.communicate()
                    self.assertEqual(process.returncode, 0)
                    *_, last = text.split(ERASED)
                    self.assertFalse(last.startswith((b"pctally: lines", b"pctally: names", b"pctally: reading", b"pctally: writing")), text)

    def said_on_a_terminal(self, *words, until=None, **env):
        """All that pctally record writes there, which is ended once that has come. PID is that of a program that runs."""
        screen, terminal = pty.openpty()
        with subprocess.Popen([os.path.join(self.directory, "work"), "1", "30"] if "PID" in words else ["sleep", "30"], stdout=subprocess.DEVNULL) as work:
            words = [str(work.pid) if word == "PID" else word for word in words]
            recorder = subprocess.Popen([p.PCTALLY, "record", "-f", "-o", os.path.join(self.directory, "said.pct"), *words], stdin=subprocess.DEVNULL,
                                        stdout=terminal, stderr=terminal, env={**os.environ, "TERM": "xterm", **env}, start_new_session=True)
            os.close(terminal)
            text = b""
            try:
                with contextlib.suppress(OSError):  # how a terminal ends
                    while piece := os.read(screen, 4096):
                        text += piece
                        if until is not None and re.search(until, text):
                            recorder.terminate()
                            until = None
                os.close(screen)
                self.assertEqual(recorder.wait(), 0, text)
            finally:
                work.kill()
        return text

    def test_of_a_recording_of_what_runs(self):
        if not p.engines("ring", "bpf"):
            self.skipTest("nothing that runs can be recorded here")
        text = self.said_on_a_terminal("-p", "PID", until=rb"pctally: \d+ s, \d+ ticks")
        self.assertRegex(text, rb"\r\n\r\x1b\[Kpctally: \d+ s, \d+ ticks\r\x1b\[K")
        self.assertIn(b"next: pctally report", text.split(ERASED)[-1])
        for words, env in ((("-p", "PID"), {"TERM": "dumb"}), (("-q", "-p", "PID"), {})):  # longer than until the line comes
            self.assertNotIn(b"\x1b[K", self.said_on_a_terminal(*words, "--for", "1.6", **env))

    def test_a_command_has_the_terminal_to_itself(self):
        text = self.said_on_a_terminal("--", os.path.join(self.directory, "work"), "1", "1.6")
        self.assertIn(b"next: pctally report", text)
        self.assertNotIn(ERASED, text)

    def test_nowhere_else(self):
        """The thread that would write the line is not there."""
        for words, where, env in (("report --by line a.pct", "pipe", {}), ("report --by line a.pct", "terminal", {"TERM": "dumb"}),
                                  ("report --by line a.pct", "terminal", {"TERM": ""}), ("archive -q -f -o d.pct a.pct", "terminal", {}),
                                  ("report --by line a.pct", "terminal", None)):
            with self.subTest(words + " " + where), contextlib.ExitStack() as stack:
                screen, terminal = pty.openpty() if where == "terminal" else os.pipe()
                stack.callback(os.close, screen)
                process, go_on = self.start(stack, words.split(), "work", terminal, **(env or {}))
                os.close(terminal)
                self.assertEqual(len(os.listdir(f"/proc/{process.pid}/task")), 1 if env is not None else 2)
                go_on()
                process.communicate()
                self.assertEqual(process.returncode, 0)


if __name__ == "__main__":
    p.main()
