"""pctally annotate beside perf annotate and objdump, on the same ticks.

perf reads what `export --format perf` writes: there each instruction has the same share of its function, to perf's two decimals. objdump has
the same instructions at the same addresses, and the same lines, those of inlined functions too.
"""
import bisect
import functools
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p
from annotate_test import annotate_json, build

FUNCTIONS = 7  # those with most ticks
SQL = """CREATE TABLE reading(id INTEGER PRIMARY KEY, station TEXT, value REAL);
INSERT INTO reading WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150000)
  SELECT i, 'station ' || i * 7919 % 1009, i * 31 % 9973 / 7.0 FROM n;
SELECT station, printf('%.3f', avg(value)), group_concat(id) FROM reading GROUP BY station ORDER BY 2;
"""


def output_of(*words):
    """Without the settings and the servers of whoever runs the tests."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DEBUGINFOD")}
    done = subprocess.run(words, capture_output=True, text=True, env={**environment, "HOME": p.scratch(), "LC_ALL": "C.UTF-8"})
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(words)}: {done.stderr}")
    return done.stdout


def objdump(path, data, *options):
    """Its lines about the instructions that annotate shows."""
    rows = data["instructions"]
    end = rows[-1]["address"] + rows[-1]["length"]
    return output_of("objdump", "-d", "-w", "--no-show-raw-insn", f"--start-address={rows[0]['address']}", f"--stop-address={end}", *options,
                     path).splitlines()


INSTRUCTION = re.compile(r" +([0-9a-f]+):\t(.*)")
NOWHERE = ("", 0)


def places_of(lines):
    """{address: [(file, line), ...]} of the output of objdump -l --inlines: the innermost place first. It stands before the first
    instruction that has it; what it was inlined by is repeated before each."""
    places, innermost, outer = {}, NOWHERE, []
    for line in lines:
        if found := INSTRUCTION.match(line):
            places[int(found[1], 16)] = [innermost, *outer]
            outer = []
        elif found := re.fullmatch(r"inlined by (.*):(\d+) \(.*\)", line):
            outer.append((found[1], int(found[2])))
        elif line.endswith("():"):  # of another function, which may have no line
            innermost = NOWHERE
        elif found := re.fullmatch(r"(\S.*):(\d+)(?: \(discriminator \d+\))?", line):
            innermost = found[1], int(found[2])
    return places


def library_of(program, name):
    return os.path.realpath(re.search(rf"{re.escape(name)} => (\S+)", output_of("ldd", program))[1])


def differing_name(mine, other):
    """The known reason for which objdump calls an instruction otherwise; empty if it does not. None if they are two instructions."""
    name = " ".join(other.split()[:len(mine.split())])  # prefixes are words of their own
    if mine == name:
        return ""
    if mine == "nop" and re.match(r"(data16 |cs )*nop[wl]?\b|xchg +%?ax,%?ax$", other):
        return "whatever fills a gap is nop"
    if mine == "ret" and name == "repz":
        return "a prefix without effect is left out"
    if mine == "mov" and name == "movabs":
        return "Intel's manual has no movabs"
    if re.fullmatch(r"(rep\w* )?(movs|cmps|stos|lods|scas)[bwdlq]", mine) and name == mine[:-1]:
        return "string instructions: the operands of objdump have the size"
    relation = re.fullmatch(r"(v?p?cmp)(u?[bwdq]|[sp][sd])", mine)
    if relation and re.fullmatch(rf"{relation[1]}n?(eq|lt|le){relation[2]}", name):
        return "the relation is an operand, and a part of objdump's name"
    turned = re.fullmatch(r"f(sub|div)(r?)(p?)", mine)
    if turned and name == f"f{turned[1]}{'' if turned[2] else 'r'}{turned[3]}":
        return "AT&T's first assembler took these for one another, and objdump still does"
    return None


def differing_operands(row, other):
    """The same for operands in AT&T's syntax, of instructions with the same name."""
    mine = row["operands"].replace(", ", ",")
    if "target" in row:
        mine += ("," if mine else "") + f"{row['target']:x}"
    code, _, comment = other.partition("#")  # "# 1d4e70 <stderr>": where an operand relative to the instruction pointer lies
    theirs = " ".join(re.sub(r" <.*>", "", code).split()[len(row["mnemonic"].split()):])
    if mine == theirs and f"{row.get('memory', 0):x}" == (comment.split() or ["0"])[0]:
        return ""
    if differing_name(row["mnemonic"], other) in ("whatever fills a gap is nop", "a prefix without effect is left out"):
        return "nothing is left to compare"
    if re.search(r"\b(movs|cmps|stos|lods|scas)[bwlq]$", row["mnemonic"]) and not mine:
        return "string instructions: their operands are always the same"
    if re.match(r"(v?p?cmp|sh[lr]|sa[lr]|ro[lr]|rc[lr])", row["mnemonic"]) and mine.partition(",")[2] == theirs:
        return "the relation, or the 1 of a shift by one, is an operand"
    return None


def same_place(ours, other):
    """Paths as debug information has them; where the directory of compilation is relative, binutils puts it before them once more."""
    (file, line), (their_file, their_line) = ours, other
    same_file = os.path.normpath(file) == os.path.normpath(their_file) or not their_file.startswith("/") and their_file.endswith("/" + file)
    return same_file and line == their_line


@functools.lru_cache
def rows_of_readelf(path):
    """(address, file name, line) of the line tables, in order."""
    decoded = output_of("readelf", "-W", "--debug-dump=decodedline", path)
    return sorted((int(at, 16), name, int(line)) for name, line, at in re.findall(r"(?m)^(\S+) +(\d+) +0x([0-9a-f]+)\b", decoded))


def is_by_readelf(path, at, place):
    """Whether the line tables have `place` for the address: binutils 2.40 reads them right in readelf, but in objdump it takes the
    unit's own file where a line program names none (glibc's pwd/getpwuid_r.c is ../nss/getXXbyYY_r.c all over)."""
    rows = rows_of_readelf(path)
    before = bisect.bisect_right(rows, at, key=lambda row: row[0])
    start = rows[before - 1][0] if before else None
    return any(row == (start, os.path.basename(place[0]), place[1]) for row in rows[max(0, before - 8):before])


@functools.lru_cache
def of_sqlite3():
    return p.record([shutil.which("sqlite3"), ":memory:", SQL])


@unittest.skipIf(platform.machine() != "x86_64", "the two syntaxes are those of x86")
@unittest.skipIf(shutil.which("objdump") is None, "objdump is not installed")
class Instructions:
    """Of the functions with most ticks in one object."""

    @classmethod
    def annotate(cls, recorded, path):
        cls.recorded, cls.path, cls.object = recorded, path, os.path.basename(path)
        rows = [row for row in cls.recorded.report()["rows"] if row["object"] == cls.object]
        cls.functions = [annotate_json(row["linkage"], cls.recorded.path, cls.object) for row in rows[:FUNCTIONS]]

    def setUp(self):
        self.assertGreaterEqual(len(self.functions), 3)
        for data in self.functions:
            if data["problem"]:
                self.skipTest(data["problem"])

    def test_instructions_are_those_of_objdump(self):
        for syntax, options in (("att", []), ("intel", ["--intel"])):
            for function in self.functions:
                data = annotate_json(function["linkage"], self.recorded.path, self.object, *options)
                rows = data["instructions"]
                theirs = [(int(found[1], 16), found[2]) for found in map(INSTRUCTION.match, objdump(self.path, data, "-M", syntax)) if found]
                self.assertEqual([row["address"] for row in rows], [at for at, _ in theirs], data["function"])
                differ = [(hex(row["address"]), row["mnemonic"], row["operands"], other) for row, (_, other) in zip(rows, theirs)
                          if differing_name(row["mnemonic"], other) is None or (syntax == "att" and differing_operands(row, other) is None)]
                self.assertEqual(differ[:5], [], (data["function"], syntax))


class Named(Instructions):
    """Of functions that perf has names for, and lines."""

    def setUp(self):
        super().setUp()
        for data in self.functions:
            if data["function"].startswith("["):
                self.skipTest(f"{self.object} has no names here (the C library's are in libc6-dbg)")
        self.assertTrue(any(row["frames"] for data in self.functions for row in data["instructions"]), "no lines")

    @unittest.skipIf(shutil.which("perf") is None, "perf is not installed")
    def test_shares_are_those_of_perf_annotate(self):
        path = os.path.join(tempfile.mkdtemp(dir=p.scratch()), "perf.data")
        output_of(p.PCTALLY, "export", "--format", "perf", "-o", path, self.recorded.path)
        said = output_of("perf", "annotate", "--stdio", "--percent-type", "local-period", "--no-source", "-i", path, "-d", self.object)
        shares = {int(address, 16): float(share) for share, address in re.findall(r"(?m)^ +([0-9.]+) +: +([0-9a-f]+):", said)}
        for data in self.functions:
            rows = data["instructions"]
            self.assertEqual([row["address"] for row in rows], [at for at in sorted(shares) if rows[0]["address"] <= at <= rows[-1]["address"]])
            differ = [row for row in rows if abs(100 * row["ticks"] / data["ticks"] - shares[row["address"]]) > 0.00501]
            self.assertEqual(differ, [], data["function"])

    def test_lines_are_those_of_objdump(self):
        for data in self.functions:
            places = places_of(objdump(self.path, data, "-l", "--inlines"))
            pairs = [(row["address"], [(frame["file"], frame["line"]) for frame in row["frames"]] or [NOWHERE], places[row["address"]])
                     for row in data["instructions"]]
            differ = [(hex(at), ours, theirs) for at, ours, theirs in pairs if len(ours) != len(theirs) or
                      not all(map(same_place, ours[1:], theirs[1:])) or
                      not (same_place(ours[0], theirs[0]) or is_by_readelf(self.path, at, ours[0]))]
            self.assertEqual(differ[:5], [], data["function"])


@unittest.skipIf(shutil.which("g++") is None, "g++ is not installed")
class OfOwn(Named, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program = build(tempfile.mkdtemp(dir=p.scratch()), "-g")
        cls.annotate(p.record([program]), program)


@unittest.skipIf(shutil.which("sqlite3") is None, "sqlite3 is not installed")
class OfTheCLibrary(Named, unittest.TestCase):
    """Names and lines of Debian's C library are in a package of their own, libc6-dbg."""

    @classmethod
    def setUpClass(cls):
        cls.annotate(of_sqlite3(), library_of(shutil.which("sqlite3"), "libc.so.6"))


@unittest.skipIf(shutil.which("sqlite3") is None, "sqlite3 is not installed")
class OfStrippedCode(Instructions, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.annotate(of_sqlite3(), library_of(shutil.which("sqlite3"), "libsqlite3.so.0"))


if __name__ == "__main__":
    p.main()
