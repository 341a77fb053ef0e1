"""Function, file, line and inline chain at random addresses of real programs, compared with addr2line -i of binutils and of LLVM.

The two differ from one another. pctally has to say what one of them says, frame by frame. Where that is not binutils, or a path is
written in another way, the reason is counted and printed.
"""
import collections
import glob
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

GNU = shutil.which("addr2line")
LLVM = next(filter(None, map(shutil.which, ("llvm-addr2line-19", "llvm-addr2line-16", "llvm-addr2line-14", "llvm-addr2line"))), None)
JSON = "/usr/include/nlohmann/json.hpp"

C = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static inline int digit(int c) { return c >= '0' && c <= '9' ? c - '0' : -1; }
static inline long number(const char** text) { long n = 0; while (digit(**text) >= 0) n = n * 10 + digit(*(*text)++); return n; }
static int by_value(const void* a, const void* b) { return *(const long*)a > *(const long*)b ? 1 : -1; }
long sum(const char* text) { long all = 0; for (; *text; text++) if (digit(*text) >= 0) all += number(&text); return all; }
int main(int argc, char** argv) {
  long numbers[64] = {0};
  for (int i = 1; i < argc && i < 64; i++) { numbers[i] = sum(argv[i]); printf("%ld %zu\\n", numbers[i], strlen(argv[i])); }
  qsort(numbers, 64, sizeof(long), by_value);
  return (int)numbers[63];
}
"""
CXX = """#include <nlohmann/json.hpp>
#include <iostream>
#include <regex>
int main(int argc, char** argv) {
  nlohmann::json json = nlohmann::json::parse(argc > 1 ? argv[1] : "[1, {\\"a\\": 2.5}]");
  json.push_back(std::regex_replace(json.dump(), std::regex("[0-9]+(a|b)*"), "x"));
  std::cout << json.dump(2) << json.size();
}
"""
GO = """package main

import (
	"fmt"
	"sort"
	"strings"
)

func main() {
	words := strings.Fields("the table of the runtime names them")
	sort.Slice(words, func(a, b int) bool { return words[a] < words[b] })
	fmt.Println(words)
}
"""
RUST = """use std::collections::HashMap;
fn main() {
    let mut words: HashMap<String, Vec<usize>> = HashMap::new();
    for (i, word) in std::env::args().enumerate() { words.entry(word).or_default().push(i); }
    let mut all: Vec<_> = words.iter().collect();
    all.sort();
    println!("{:?} {}", all, all.iter().map(|(_, places)| places.len()).sum::<usize>());
}
"""


def text_sections(path):
    rows = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=True).stdout
    return [(int(start, 16), int(size, 16)) for start, size in re.findall(r"\] \.text\s+PROGBITS\s+([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", rows)]


def debug_file_of(path):
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True).stdout
    build_id = re.search(r"Build ID: ([0-9a-f]+)", notes)
    return f"/usr/lib/debug/.build-id/{build_id[1][:2]}/{build_id[1][2:]}.debug" if build_id else ""


def some_addresses(path, count):
    (start, size), = text_sections(path)
    return sorted(random.Random(os.path.basename(path)).sample(range(start, start + size), min(count, size)))


def ours(path, addresses):
    """{address: ["symbol file:line", ...]}"""
    text = "\n".join(map(hex, addresses))
    done = subprocess.run([p.program("frames_of"), path], input=text, capture_output=True, text=True, check=True)
    frames = {}
    for line in done.stdout.splitlines():
        if line.startswith("0x"):
            frames[int(line, 16)] = chain = []
        else:
            chain.append(line)
    return frames


def theirs(tool, path, addresses):
    text = "\n".join(map(hex, addresses))
    done = subprocess.run([tool, "-a", "-f", "-i", "-e", path], input=text, capture_output=True, text=True, check=True)
    frames = {}
    function = None
    for line in done.stdout.splitlines():
        if function is None and re.fullmatch("0x[0-9a-f]+", line):
            frames[int(line, 16)] = chain = []
        elif function is None:
            function = line
        else:
            place = re.sub(r" \(discriminator \d+\)$", "", line)
            chain.append(f"{function} {re.sub(':[?]$', ':0', place)}")
            function = None
    return frames


def parts(frame):
    symbol, place = frame.split(" ", 1)
    file, line = place.rsplit(":", 1)
    return symbol, file, int(line)


class Symbols:
    """Which names a program has for one address."""

    def __init__(self, *files):
        self.places = collections.defaultdict(set)
        for file in files:
            rows = subprocess.run(["readelf", "-sW", file], capture_output=True, text=True, check=True).stdout
            for value, name in re.findall(r"(?m)^ *\d+: ([0-9a-f]+) +\S+ +(?:FUNC|IFUNC|NOTYPE) .* (\S+)$", rows):
                self.places[name.split("@")[0]].add(value)

    def difference(self, ours, other):
        """Empty if there is none; None if they are two functions."""
        if ours == other:
            return ""
        if other.startswith(ours + "."):
            return "the symbol of a part of the function"
        return "another name of the same symbol" if self.places[ours] & self.places[other] else None


def differences(mine, other, symbols):
    """The known reasons for which two chains differ; None if they are two answers."""
    reasons = set()
    if len(mine) != len(other):
        return None
    for (symbol, file, line), (their_symbol, their_file, their_line) in zip(map(parts, mine), map(parts, other)):
        alias = symbols.difference(symbol, their_symbol)
        if alias is None or line != their_line:
            return None
        reasons |= {alias} - {""}
        if os.path.normpath(file) == os.path.normpath(their_file):
            continue
        if len(mine) == 1 and file == "??" and line == 0:
            reasons.add("with the symbol table's name of the file, without a line")
        elif not their_file.startswith("/") and their_file.endswith("/" + file):
            reasons.add("the path is joined with a relative directory of compilation")
        else:
            return None
    return reasons


@unittest.skipIf(GNU is None, "addr2line is not installed")
class Comparison(unittest.TestCase):
    count = p.scale(1000)

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(dir=p.scratch())

    def built(self, name, compiler, text, suffix, *flags):
        if shutil.which(compiler) is None:
            self.skipTest(f"{compiler} is not installed")
        source, program = os.path.join(self.directory, name + suffix), os.path.join(self.directory, name)
        with open(source, "w") as file:
            file.write(text)
        done = subprocess.run([compiler, source, *flags, "-o", program], capture_output=True, text=True)
        if done.returncode != 0:
            self.skipTest(f"{compiler} {' '.join(flags)}: {done.stderr.splitlines()[-1] if done.stderr else 'failed'}")
        return program

    def compare(self, path):
        addresses = some_addresses(path, self.count)
        mine, gnu = ours(path, addresses), theirs(GNU, path, addresses)
        llvm = theirs(LLVM, path, addresses) if LLVM else {}
        symbols = Symbols(path, *filter(os.path.exists, [debug_file_of(path)]))
        kinds, unexplained = collections.Counter(), []
        for address in addresses:
            kind = why(mine.get(address, []), gnu[address], llvm.get(address, []), symbols)
            kinds[kind] += 1
            if kind is None:
                unexplained.append(f"{address:#x}\n  pctally {mine.get(address)}\n  binutils {gnu[address]}\n  llvm {llvm.get(address)}")
        for kind, times in kinds.most_common():
            print(f"{os.path.basename(path)}: {times:5} {kind or 'unexplained'}", flush=True)
        self.assertEqual(unexplained[:5], [], f"{len(unexplained)} of {len(addresses)} addresses")


def why(mine, gnu, llvm, symbols):
    """Who says what pctally says, and what of it differs for a known reason; None if nobody does."""
    reasons = differences(mine, gnu, symbols)
    if reasons is not None:
        return ", but ".join(["as binutils", *sorted(reasons)])
    reasons = differences(mine, llvm, symbols)
    return None if reasons is None else ", but ".join(["as LLVM", *sorted(reasons), against_binutils(mine, gnu)])


def against_binutils(mine, gnu):
    """What binutils says there instead."""
    if mine[-1].startswith("?? ") and not gnu[-1].startswith("?? "):
        return "binutils counts padding to the function before it"
    if len(mine) != len(gnu):
        return "binutils has another inline chain"
    symbols = [parts(frame)[0] for frame in mine] == [parts(frame)[0] for frame in gnu]
    lines = [parts(frame)[2] for frame in mine] == [parts(frame)[2] for frame in gnu]
    if symbols:
        return "binutils has another file of the unit for the line" if lines else "binutils has another line"
    return "binutils has another symbol" + ("" if lines else " and another line")


class Quick(Comparison):
    def test_a_program_in_c(self):
        self.compare(self.built("c", "gcc", C, ".c", "-O2", "-g"))

    def test_a_separate_debug_file(self):
        libc = next(filter(os.path.exists, (f"/lib/{machine}-linux-gnu/libc.so.6" for machine in ("x86_64", "aarch64", "riscv64"))), None)
        if libc is None or not os.path.exists(debug_file_of(libc)):
            self.skipTest("libc6-dbg is not installed")
        self.compare(libc)


class Whole(Quick):
    def test_a_program_in_cxx(self):
        self.compare(self.built("cxx", "g++", CXX, ".cc", "-O2", "-g"))

    def test_a_program_of_clang(self):
        self.compare(self.built("cxx_clang", "clang++", CXX, ".cc", "-O2", "-g"))

    def test_a_program_in_rust(self):
        self.compare(self.built("rust", "rustc", RUST, ".rs", "-O", "-g"))

    def test_a_program_of_many_units(self):
        sections = subprocess.run(["readelf", "-SW", p.PCTALLY], capture_output=True, text=True, check=True).stdout
        if ".debug_info" not in sections:
            self.skipTest("pctally is built without debug information")
        self.compare(p.PCTALLY)

    def test_libllvm(self):
        """110 MB, which are read for names alone where a file has no lines."""
        library = next((path for path in map(os.path.realpath, sorted(glob.glob("/usr/lib/*/libLLVM*.so*"))) if os.path.isfile(path)), None)
        if library is None:
            self.skipTest("no libLLVM is installed")
        self.compare(library)

    def test_a_stripped_go_program(self):
        """Its functions are those of the symbols before they were stripped, named by the table that Go's runtime keeps, which writes [...] for
        lengths and type arguments."""
        if shutil.which("go") is None:
            self.skipTest("go is not installed")
        source = os.path.join(self.directory, "words.go")
        with open(source, "w") as file:
            file.write(GO)
        programs = [os.path.join(self.directory, name) for name in ("words", "stripped")]
        for program, flags in zip(programs, ("", "-s -w")):
            subprocess.run(["go", "build", "-ldflags", flags, "-o", program, source], check=True,
                           env={**os.environ, "GOCACHE": os.path.join(self.directory, "cache"), "GO111MODULE": "off"})
        rows = subprocess.run(["readelf", "-sW", programs[0]], capture_output=True, text=True, check=True).stdout
        functions = [(int(value, 16), int(size), re.sub(r"\[[^]]*\]", "[...]", name.removesuffix(".abi0"))) for value, size, name in
                     re.findall(r"(?m)^ *\d+: ([0-9a-f]+) +(\d+) FUNC +\S+ +\S+ +\d+ (.+)$", rows) if int(size)]
        self.assertGreater(len(functions), 1000)
        chosen = random.Random(1).sample(functions, min(self.count, len(functions)))
        inside = {value + size // 2: name for value, size, name in chosen}
        named = ours(programs[1], sorted(inside))
        wrong = [(hex(address), name, named.get(address)) for address, name in inside.items() if named.get(address) != [name + " ??:0"]]
        self.assertEqual(wrong[:5], [], f"{len(wrong)} of {len(inside)}")

    def test_a_static_pie(self):
        self.compare(self.built("static_pie", "g++", CXX, ".cc", "-O2", "-g", "-static-pie"))


if __name__ == "__main__":
    p.main()
