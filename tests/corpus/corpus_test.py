"""250 ordinary commands under every engine: their output, errors and exit status are those of a bare run, and nearly all of their
CPU time has ticks. Nobody wrote these programs to be profiled. CORPUS_ENGINES and CORPUS_ONLY (a pattern) choose a part;
CORPUS_OPTIONS are more words for record, such as -g: then it also says how many ticks have a complete path."""
import collections
import os
import random
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

# What is left without ticks at most, as a part of all CPU time. Of many commands of a few milliseconds timer and trap see less:
# a process ticks from the moment on in which they are in it, until its last period. Trap sees no kernel code, a fifth here.
MOST_UNSAMPLED = {"bpf": 0.02, "ring": 0.02, "timer": 0.10, "trap": 0.30}
OPTIONS = os.environ.get("CORPUS_OPTIONS", "").split()
CANNOT_RUN, NOT_FOUND = 126, 127

PROGRAM_C = """#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static int compare(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }
int main(void) {
  enum { kNumbers = 300000 };
  int* numbers = malloc(kNumbers * sizeof *numbers);
  srand(1);
  for (int i = 0; i < kNumbers; ++i) numbers[i] = rand();
  qsort(numbers, kNumbers, sizeof *numbers, compare);
  printf("%d\\n", numbers[kNumbers / 2]);
  free(numbers);
}
"""
PROGRAM_CC = """#include <algorithm>
#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <vector>
int main() {
  std::map<std::string, int> words;
  for (int i = 0; i < 20000; ++i) ++words[std::to_string(i * 7919 % 1000)];
  try { std::regex("("); } catch (const std::exception&) { std::cout << words.size() << '\\n'; }
}
"""
SCRIPT_PY = """import collections, random
random.seed(1)
count = collections.Counter(random.randrange(1000) for _ in range(200000))
print(count.most_common(2), sum(sorted(count.values())[:100]))
"""


def write(directory, name, content):
    with open(os.path.join(directory, name), "w" if isinstance(content, str) else "wb") as file:
        file.write(content)


def make_files(directory):
    draw = random.Random(1)
    syllables = [a + b for a in "bcdfgklmnprst" for b in "aeiou"]
    word = lambda: "".join(draw.choices(syllables, k=draw.randint(1, 4))) + draw.choice(["", "", str(draw.randrange(10))])
    write(directory, "words.txt", "".join(word() + "\n" for _ in range(200000)))
    write(directory, "numbers.txt", "".join(f"{draw.randrange(10**6)}\n" for _ in range(50000)))
    write(directory, "table.csv", "".join(f"{i},{word()[:2]},{draw.randrange(1000)}\n" for i in range(20000)))
    write(directory, "data.json", "[" + ",".join(f'{{"n": {draw.randrange(1000)}, "w": "{word()}"}}' for _ in range(20000)) + "]")
    write(directory, "page.xml", "<page>" + "<item><a>1</a></item>" * 20000 + "</page>")
    write(directory, "data.bin", draw.randbytes(2 << 20) + bytes(draw.randrange(4) for _ in range(2 << 20)))
    write(directory, "program.c", PROGRAM_C)
    write(directory, "program.cc", PROGRAM_CC)
    write(directory, "script.py", SCRIPT_PY)
    shutil.copytree("/usr/include/linux", os.path.join(directory, "tree"))


def commands():
    with open(os.path.join(os.path.dirname(__file__), "commands.txt"), encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file if not line.startswith("#")]
    return [line for line in lines if re.search(os.environ.get("CORPUS_ONLY", ""), line)]


class Corpus(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = os.path.join(p.scratch(), "files")
        os.mkdir(cls.files)
        make_files(cls.files)

    def run_in_a_copy(self, words):
        """Standard output, standard error without numbers, and exit status."""
        directory = os.path.join(p.scratch(), "run")
        shutil.rmtree(directory, ignore_errors=True)
        subprocess.run(["cp", "-al", self.files, directory], check=True)
        done = subprocess.run(words, cwd=directory, capture_output=True, stdin=subprocess.DEVNULL, timeout=120)
        return done.stdout, re.sub(rb"\d+", b"N", done.stderr), done.returncode

    def engines(self):
        wanted = os.environ.get("CORPUS_ENGINES")
        return wanted.split() if wanted else p.engines(*p.ALL_ENGINES, "trap")

    def test_output_and_status_are_those_of_a_bare_run(self):
        times = {engine: [0.0, 0.0, 0.0] for engine in self.engines()}
        self.cuts = {engine: collections.Counter() for engine in times}
        tried, skipped = 0, []
        with p.Machine() as machine:
            for command in commands():
                bare = [self.run_in_a_copy(["bash", "-c", command]) for _ in range(2)]
                if bare[0] != bare[1] or bare[0][2] in (CANNOT_RUN, NOT_FOUND):
                    skipped.append(command)
                    continue
                tried += 1
                for engine in times:
                    with self.subTest(engine=engine, command=command):
                        self.compare(engine, command, bare[0], times[engine])
        print(f"{tried} commands; skipped, as they are not here or not the same twice: {skipped}")
        for engine, (cpu, sampled, lost) in times.items():
            print(f"{engine}: {cpu:.2f} s of CPU time, {100 * sampled / cpu:.2f} % sampled, {100 * lost / cpu:.2f} % lost")
            for what, ticks in self.cuts[engine].most_common():
                print(f"{engine}: {100 * ticks / self.cuts[engine].total():.2f} % of {self.cuts[engine].total()} paths: {what}")
        for engine, (cpu, sampled, lost) in times.items():
            if not os.environ.get("CORPUS_ONLY") and machine.judges(f"how much CPU time is sampled by {engine}"):
                self.assertGreater(sampled + lost, (1 - MOST_UNSAMPLED[engine]) * cpu, engine)

    def compare(self, engine, command, bare, time):
        path = os.path.join(p.scratch(), "corpus.pct")
        seen = self.run_in_a_copy([p.PCTALLY, "record", "-q", "-f", "-e", engine, *OPTIONS, "-o", path, "--", "bash", "-c", command])
        self.assertEqual(seen, bare)
        data = p.report(path)
        p.assert_ledger(self, data)
        for i, key in enumerate(("cpu_s", "sampled_s", "lost_s")):
            time[i] += data[key]
        if "paths" in data:
            self.cuts[engine]["complete"] += data["paths"]["complete"]
            for cut in data["paths"]["cut"]:
                self.cuts[engine][f"cut {cut['reason']}"] += cut["ticks"]


if __name__ == "__main__":
    p.main()
