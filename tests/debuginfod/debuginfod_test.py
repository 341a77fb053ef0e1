"""--debuginfod: lines and sources from servers on 127.0.0.1, asked only if one says so, within limits, and by nobody's leave else."""
import ctypes.util
import http.server
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

USAGE = 2
SOURCE = """volatile long n;
static __attribute__((noinline)) void spin(long end) {
  while (n < end) n++;
}
int main(void) {
  spin(100000000);
  return 0;
}
"""


class Server:
    """Serves `files` by path. `manner`: "honest"; "silent" answers nothing; "endless" sends more and more and says no length."""

    def __init__(self, files, manner="honest"):
        self.asked, server = [], self
        self.ended = threading.Event()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                server.asked.append(self.path)
                if manner == "silent":
                    server.ended.wait(60)
                elif manner == "endless":
                    self.send_response(200)
                    self.end_headers()
                    self.pour()
                elif self.path in files:
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(files[self.path])))
                    self.end_headers()
                    self.wfile.write(files[self.path])
                else:
                    self.send_error(404)

            def pour(self):
                try:
                    while not server.ended.is_set():
                        self.wfile.write(bytes(1 << 16))
                except OSError:
                    pass

            def log_message(self, *words):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.http.shutdown()
        self.http.server_close()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@unittest.skipIf(shutil.which("gcc") is None or shutil.which("objcopy") is None, "gcc or objcopy is not installed")
@unittest.skipIf(ctypes.util.find_library("debuginfod") is None and not os.path.exists("/usr/lib/x86_64-linux-gnu/libdebuginfod.so.1"),
                 "libdebuginfod1 is not installed")
class Debuginfod(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """A stripped program whose debug information and source are only on a server."""
        cls.directory = directory = tempfile.mkdtemp(dir=p.scratch())
        source, cls.program = os.path.join(directory, "busy.c"), os.path.join(directory, "busy")
        cls.debug = os.path.join(directory, "served", "busy.debug")
        os.mkdir(os.path.dirname(cls.debug))
        with open(source, "w") as file:
            file.write(SOURCE)
        subprocess.run(["gcc", "-g", "-O1", "-Wl,--build-id=sha1", "-o", cls.program, source], check=True)
        subprocess.run(["objcopy", "--only-keep-debug", cls.program, cls.debug], check=True)
        subprocess.run(["objcopy", "--strip-all", cls.program], check=True)
        os.remove(source)
        notes = subprocess.run(["readelf", "-n", cls.program], capture_output=True, text=True, check=True).stdout
        cls.id = re.search(r"Build ID: ([0-9a-f]+)", notes).group(1)
        with open(cls.debug, "rb") as file:
            cls.files = {f"/buildid/{cls.id}/debuginfo": file.read(), f"/buildid/{cls.id}/source{source}": SOURCE.encode()}
        cls.profile = p.record([cls.program]).path

    def run_tool(self, *words, cache=None, **environment):
        """With an empty cache, where no other is named."""
        cache = cache or tempfile.mkdtemp(dir=p.scratch())
        usual = {name: value for name, value in os.environ.items() if not name.startswith("DEBUGINFOD_")}
        return subprocess.run([p.PCTALLY, *words], capture_output=True, text=True, timeout=60,
                              env={**usual, "DEBUGINFOD_CACHE_PATH": cache, "http_proxy": "http://127.0.0.1:9", **environment})

    def lines(self, *options, **environment):
        return self.run_tool("report", "--by", "line", "--object", "^busy$", self.profile, *options, **environment)

    def test_nobody_is_asked_who_was_not_named(self):
        with Server(self.files) as server:
            for words in (("report", "--by", "line"), ("annotate", "[busy+0x1000]"), ("export", "--format", "csv"), ("report", "--json")):
                self.run_tool(*words, self.profile, DEBUGINFOD_URLS=server.url)
            self.assertEqual(server.asked, [])

    def test_lines_and_names_come_from_the_server(self):
        with Server(self.files) as server:
            done = self.lines(f"--debuginfod={server.url}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"busy\.c:3\b")
            self.assertEqual(done.stderr, f"pctally: debuginfod: asks {server.url}; at most 512 MiB a file, 120 s in all\n")
            by_variable = self.lines("--debuginfod", DEBUGINFOD_URLS=server.url)
            self.assertEqual((by_variable.stdout, by_variable.stderr), (done.stdout, done.stderr))
            rows = json.loads(self.run_tool("report", "--json", self.profile, f"--debuginfod={server.url}").stdout)["rows"]
            self.assertIn("spin", [row["function"] for row in rows])
            csv = self.run_tool("export", "--format", "csv", self.profile, f"--debuginfod={server.url}")
            self.assertIn("busy.c", csv.stdout)
            self.assertFalse([path for path in server.asked if "/source/" in path])

    def test_annotate_has_the_source_and_an_archive_needs_no_server(self):
        archived = os.path.join(tempfile.mkdtemp(dir=p.scratch()), "busy.pct")
        with Server(self.files) as server:
            done = self.run_tool("annotate", "spin", self.profile, f"--debuginfod={server.url}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"busy\.c:3 .*while \(n < end\) n\+\+;")
            self.assertNotIn("warning", done.stdout)
            kept = self.run_tool("archive", "-o", archived, self.profile, f"--debuginfod={server.url}")
            self.assertEqual(kept.returncode, 0, kept.stderr)
        self.assertRegex(self.run_tool("report", "--by", "line", archived).stdout, r"busy\.c:3\b")
        self.assertRegex(self.run_tool("annotate", "spin", archived).stdout, r"busy\.c:3 .*while \(n < end\) n\+\+;")

    def test_a_page_has_the_source_unless_it_shall_have_none(self):
        page = os.path.join(tempfile.mkdtemp(dir=p.scratch()), "page.html")
        for options, has in (([], True), (["--no-sources"], False)):
            with Server(self.files) as server:
                done = self.run_tool("report", "--html", page, *options, self.profile, f"--debuginfod={server.url}")
                self.assertEqual(done.returncode, 0, done.stderr)
                with open(page) as file:
                    self.assertEqual("end) n++;" in file.read(), has)
                self.assertEqual(any("/source/" in path for path in server.asked), has)

    def test_without_an_answer_the_report_is_what_it_is_without_servers(self):
        plain = self.lines()
        missing = "pctally: debuginfod: {}; what the servers may have is missing"
        nobody = self.lines(f"--debuginfod=http://127.0.0.1:{free_port()}")
        self.assertEqual((nobody.returncode, nobody.stdout.split("\n")[:4]), (0, plain.stdout.split("\n")[:4]))
        self.assertEqual(nobody.stderr.split("\n")[1], missing.format("Connection refused"))
        with Server({}) as server:
            unknown = self.lines(f"--debuginfod={server.url}")
            self.assertEqual((unknown.returncode, unknown.stderr.count("\n")), (0, 1), unknown.stderr)
            self.assertEqual(sorted(server.asked), sorted(set(server.asked)), "once for each object with ticks")
            self.assertTrue(server.asked)

    def test_time_is_limited(self):
        with Server(self.files, "silent") as server:
            start = time.monotonic()
            done = self.run_tool("report", "--by", "line", self.profile, f"--debuginfod={server.url}", DEBUGINFOD_MAXTIME="1")
            took = time.monotonic() - start
        self.assertIn("at most 512 MiB a file, 1 s in all\n", done.stderr)
        self.assertIn("debuginfod: no answer within 1 s; what", done.stderr)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (0, 2), done.stderr)
        self.assertLess(took, 30)
        self.assertEqual(len(set(server.asked)), 1, "the others are not asked for when the time is up")

    def test_size_is_limited_whatever_the_server_says_of_it(self):
        for manner in ("honest", "endless"):
            cache = tempfile.mkdtemp(dir=p.scratch())
            with Server(self.files, manner) as server:
                done = self.lines(f"--debuginfod={server.url}", cache=cache, DEBUGINFOD_MAXSIZE="2000")
            self.assertIn("at most 2000 bytes a file", done.stderr)
            self.assertIn("debuginfod: the file is larger than the limit; what", done.stderr, manner)
            self.assertEqual(done.returncode, 0)
            sizes = [os.path.getsize(os.path.join(where, name)) for where, _, names in os.walk(cache) for name in names]
            self.assertLessEqual(max(sizes, default=0), 2000, manner)

    def test_what_is_no_debug_information_gives_no_lines(self):
        plain = self.lines()
        for bytes_sent in (b"", b"\x7fELF" + bytes(200), self.files[f"/buildid/{self.id}/debuginfo"][:3000]):
            with Server({f"/buildid/{self.id}/debuginfo": bytes_sent}) as server:
                done = self.lines(f"--debuginfod={server.url}")
            self.assertEqual((done.returncode, done.stdout.split("\n")[:4]), (0, plain.stdout.split("\n")[:4]), done.stderr)

    def test_other_servers_are_refused(self):
        for url in ("http://example.invalid", "ftp://127.0.0.1", "http://127.0.0.1@example.invalid/"):
            for words in (("report", self.profile), ("annotate", "main", self.profile), ("export", "--format", "csv", self.profile),
                          ("archive", "-o", "/nowhere/x", self.profile)):
                done = self.run_tool(*words, f"--debuginfod=https://example.invalid {url}")
                self.assertEqual((done.returncode, done.stdout), (USAGE, ""))
                self.assertEqual(done.stderr, f"pctally: debuginfod: {url} is refused: write https://HOST, or http:// and this "
                                              "machine (127.0.0.1)\n")
        done = self.lines("--debuginfod")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (USAGE, 1))
        self.assertIn("no server is named", done.stderr)

    @unittest.skipIf(shutil.which("debuginfod") is None, "debuginfod is not installed")
    def test_with_debians_server(self):
        port = free_port()
        served = os.path.dirname(self.debug)
        server = subprocess.Popen(["debuginfod", "-p", str(port), "-d", ":memory:", "-t", "0", "-F", served],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            end = time.monotonic() + 30
            while True:  # it has read its files once it has ours
                done = self.lines(f"--debuginfod=http://127.0.0.1:{port}")
                if re.search(r"busy\.c:3\b", done.stdout) or time.monotonic() > end or server.poll() is not None:
                    break
            self.assertRegex(done.stdout, r"busy\.c:3\b", done.stderr)
        finally:
            server.kill()
            server.wait()


if __name__ == "__main__":
    p.main()
