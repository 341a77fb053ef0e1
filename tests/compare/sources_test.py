"""What diff says of programs that others wrote, compiled from Debian's sources: of sqlite3 with less optimisation, of zstd at a higher
level and of Lua with one line more, the functions on top are those that the compiler, zstd's own tables of levels and that line say. The
sources are read from Debian's mirror with a list of the test's own; nothing is installed."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p
from regression_test import compare

KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
SQLITE_C = r"""#include <sqlite3.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  sqlite3* db;
  if (argc != 2 || sqlite3_open(":memory:", &db) != SQLITE_OK) return 1;
  const char* make = "create table t(a integer primary key, b integer, c text);"
    "with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)"
    "insert into t select i, i * 7919 % 10007, 'text ' || (i * 31 % 997) from n; create index tb on t(b);";
  const char* ask = "select c, count(*), sum(b) from t where b % 7 < 5 group by c order by 3;"
    "select count(*) from t x, t y where x.b = y.a and x.c like '%9%'; update t set b = b + 1 where a % 3 = 0;";
  if (sqlite3_exec(db, make, NULL, NULL, NULL) != SQLITE_OK) return 1;
  for (int i = 0; i < atoi(argv[1]); i++)
    if (sqlite3_exec(db, ask, NULL, NULL, NULL) != SQLITE_OK) return 1;
  return sqlite3_close(db) != SQLITE_OK;
}
"""
ZSTD_C = r"""#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>
int main(int argc, char** argv) {  /* level, rounds */
  const size_t size = 4 << 20, room = ZSTD_compressBound(size);
  char *text = malloc(size), *out = malloc(room);
  unsigned seed = 1;
  size_t sum = 0;
  if (argc != 3) return 1;
  for (size_t i = 0; i < size;) {  /* words, and a number now and then */
    seed = seed * 1103515245u + 12345u;
    const int number = seed >> 28 == 0;
    i += (size_t)snprintf(text + i, size - i, number ? "%u " : "word%02u ", (seed >> 16) % (number ? 60000 : 97));
  }
  for (int i = 0; i < atoi(argv[2]); i++) sum += ZSTD_compress(out, room, text, size, atoi(argv[1]));
  return sum == 0;
}
"""


STATIONS = """local readings = {}
for i = 1, 600000 do readings[i] = "station-" .. i * 7919 % 50 end
table.sort(readings)
"""
COMPARES_STRINGS = r"l_strcmp|_*str(coll|cmp|len)\w*|\[libc.*"  # the C library may have no names of its own functions


@unittest.skipIf(shutil.which("gcc") is None, "gcc is not installed")
@unittest.skipIf(shutil.which("apt-get") is None or not os.path.exists(KEYS), "not a Debian system")
class Sources(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(dir=p.scratch())

    def path(self, *names):
        return os.path.join(self.directory, *names)

    def run_there(self, *words, where="."):
        return subprocess.run(words, cwd=self.path(where), capture_output=True, text=True)

    def fetch(self, package):
        """Its source, unpacked."""
        with open("/etc/os-release") as file:
            release = re.search(r'^VERSION_CODENAME="?(\w+)', file.read(), re.M)
        with open(self.path("list"), "w") as file:
            file.write(f"deb-src [signed-by={KEYS}] http://deb.debian.org/debian {release.group(1)} main\n")
        os.makedirs(self.path("lists", "partial"))
        own = [f"Dir::Etc::sourcelist={self.path('list')}", "Dir::Etc::sourceparts=/dev/null", f"Dir::State::lists={self.path('lists')}",
               f"Dir::Cache={self.path('cache')}", "APT::Sandbox::User=root", "Acquire::http::Timeout=30"]
        own = [word for option in own for word in ("-o", option)]
        for words in (("update",), ("source", "--download-only", package)):
            done = self.run_there("apt-get", "-qq", *own, *words)
            if done.returncode != 0:
                self.skipTest(f"apt-get {words[0]} of Debian's sources: {(done.stderr.splitlines() or ['failed'])[-1]}")
        archive = next(path for path in glob.glob(self.path("*.orig.tar.*")) if not path.endswith(".asc"))
        os.mkdir(self.path("source"))
        self.assertEqual(self.run_there("tar", "xf", archive, "-C", "source", "--strip-components=1").returncode, 0)

    def compile(self, name, text, *words):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path("main.c"), "w") as file:
            file.write(text)
        done = self.run_there("gcc", "main.c", *words, "-o", name)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.path(name)

    def functions(self, program):
        return set(re.findall(r"(?m) [tT] (\w+)", subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout))

    def test_sqlite3_with_less_optimisation(self):
        """With -O1 functions run that -O2 has inlined, so that it has no symbol of theirs: three of the first six rows are such, and no
        other is called new there. Others are of both: slower, or with less of their own, as what was inlined is another's now."""
        if shutil.which("tclsh") is None or shutil.which("make") is None:
            self.skipTest("tclsh or make is not installed, which make sqlite3.c")
        self.fetch("sqlite3")
        for words in (("./configure", "--disable-tcl", "--disable-readline"), ("make", "sqlite3.c")):
            done = self.run_there(*words, where="source")
            self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        less, more = (self.compile(os.path.join(level, "sqlite3"), SQLITE_C, f"-{level}", "-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION",
                                   "-Isource", "source/sqlite3.c", "-lm") for level in ("O1", "O2"))
        inlined = self.functions(less) - self.functions(more)
        diff = compare(self.directory, [more, "60"], [less, "60"])
        top = [(row["short"], row["verdict"]) for row in diff["rows"][:6]]
        new = {function for function, verdict in top if verdict == "new"}
        self.assertGreaterEqual(len(new), 3, (top, diff["verdict"]))
        self.assertLessEqual(new, inlined, (top, diff["verdict"]))
        self.assertNotIn("gone", {verdict for _, verdict in top}, (top, diff["verdict"]))
        self.assertTrue(any(function in diff["cause"] for function in new), (diff["cause"], top))

    def test_zstd_at_a_higher_level(self):
        """Level 3 is dfast, level 6 lazy: the search for matches of the one is gone, of the other is new (zstd's table of levels)."""
        self.fetch("libzstd")
        sources = glob.glob(self.path("source/lib/common/*.c")) + glob.glob(self.path("source/lib/compress/*.c"))
        program = self.compile("zstd", ZSTD_C, "-O2", "-DZSTD_DISABLE_ASM", "-Isource/lib", *sources, "-lpthread")
        diff = compare(self.directory, [program, "3", "30"], [program, "6", "20"], "--work", "30,20")
        verdicts = {row["short"]: row["verdict"] for row in diff["rows"]}
        self.assertRegex(diff["rows"][0]["short"], r"^ZSTD_(RowFindBestMatch|HcFindBestMatch|compressBlock_(lazy|greedy))")
        self.assertEqual(diff["rows"][0]["verdict"], "new")
        self.assertEqual([verdict for name, verdict in verdicts.items() if name.startswith("ZSTD_compressBlock_doubleFast")], ["gone"], verdicts)
        self.assertIn(diff["rows"][0]["short"], diff["cause"])

    def test_lua_with_one_line_more(self):
        """As docs/tutorial.md does it: equal short strings are one object, so nobody needs to compare them byte by byte."""
        self.fetch("lua5.4")
        with open(self.path("source/src/lua.c")) as file:
            main = file.read()
        sources = [os.path.join("source/src", name) for name in os.listdir(self.path("source/src"))
                   if name.endswith(".c") and name not in ("lua.c", "luac.c")]
        words = ["-O2", "-g", "-DLUA_USE_POSIX", "-DLUA_USE_DLOPEN", "-Isource/src", *sources, "-Wl,-E", "-lm", "-ldl"]
        old = self.compile("old/lua", main, *words)
        with open(self.path("source/src/lvm.c")) as file:
            text, changes = re.subn(r"(static int l_strcmp \(const TString \*(\w+), const TString \*(\w+)\) \{\n)",
                                    r"\1  if (\2 == \3) return 0;\n", file.read())
        self.assertEqual(changes, 1)
        with open(self.path("source/src/lvm.c"), "w") as file:
            file.write(text)
        new = self.compile("new/lua", main, *words)
        with open(self.path("stations.lua"), "w") as file:
            file.write(STATIONS)
        diff = compare(self.directory, [old, self.path("stations.lua")], [new, self.path("stations.lua")])
        rows = [(row["short"], row["verdict"]) for row in diff["rows"]]
        self.assertRegex(rows[0][0], f"^({COMPARES_STRINGS})$")
        self.assertIn(rows[0][1], ("less", "gone"), (rows[:5], diff["verdict"]))
        self.assertIn(rows[0][0], diff["cause"])
        compared = [row["share_percent"] for row in diff["rows"] if re.fullmatch(COMPARES_STRINGS, row["short"])]
        self.assertLess(sum(share["after"] for share in compared), 0.7 * sum(share["before"] for share in compared), rows[:10])
        self.assertEqual([name for name, verdict in rows if re.fullmatch(COMPARES_STRINGS, name) and verdict in ("more", "new")], [])


if __name__ == "__main__":
    p.main()
