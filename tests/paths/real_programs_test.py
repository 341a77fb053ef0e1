"""Call paths of programs as the distribution ships them, against what others find: perf script on the same stacks, and a
disassembler at every return address. For the label `all`: both take a minute, and perf's files 65 MB for 1,000 samples."""
import collections
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

COMPLETE = "0"  # PathEnd::kComplete
SAME = "the same"


def write(directory, name, text):
    path = os.path.join(directory, name)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    return path


def programs(directory):
    """{name: (words, file of its standard input or None)}, each of one process: with several in one recording perf script 6.1 may
    stop in libc. Those that are not installed are named."""
    sql = write(directory, "queries.sql", "create table t(a integer primary key, b int, c text);\n"
                "with recursive n(x) as (select 1 union all select x + 1 from n where x < 400000)\n"
                "insert into t select x, x * 7919 % 100003, hex(x) from n;\ncreate index i on t(b);\n"
                "select b % 97, count(*), avg(a) from t group by 1 order by 2 desc limit 5;\n"
                "select count(*) from t where c like '%AB%';\n")
    script = write(directory, "work.py", "import json, re\n"
                   "rows = [{'id': i, 'name': 'n%d' % i, 'score': i * 7 % 101} for i in range(160000)]\n"
                   "back = json.loads(json.dumps(rows))\nsum(len(re.findall('n[0-9]+7', row['name'])) for row in back)\n"
                   "back.sort(key=lambda row: (row['score'], row['name']))\nsum(i * i % 7 for i in range(5000000))\n")
    text = write(directory, "text", "".join(f"{i * 7919 % 100003} {i:x} some words of text\n" for i in range(150000)))
    found = {"sqlite3": (["sqlite3", ":memory:"], sql), "python3": (["/usr/bin/python3", script], None), "xz": (["xz", "-T1", "-kc", text], None)}
    for name in [name for name, (words, _) in found.items() if shutil.which(words[0]) is None]:
        print(f"skipped: {name} (not installed)")
        del found[name]
    if shutil.which("g++"):
        source = write(directory, "templates.cc", "#include <functional>\n#include <map>\n#include <regex>\n#include <string>\n"
                       "std::map<std::string, std::vector<std::function<int(int)>>> table;\n"
                       "int main() { return std::regex_match(\"a\", std::regex(\"a+\")) && table[\"x\"].size(); }\n")
        subprocess.run(["g++", "-E", "-o", source + ".ii", source], check=True)
        compiler = subprocess.run(["g++", "-print-prog-name=cc1plus"], capture_output=True, text=True, check=True).stdout.strip()
        found["cc1plus"] = [compiler, "-quiet", "-fpreprocessed", "-O2", "-o", "/dev/null", source + ".ii"], None
    return found


class RealPrograms(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(dir=p.scratch())

    def run_below(self, recorder, program):
        words, source = program
        with open(source or os.devnull, encoding="ascii") as stdin:
            done = subprocess.run([*recorder, *words], stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def stacks_of_perf(self, data):
        """{(thread, time): [places, innermost first]}: perf script takes one off return addresses, as we do. None if it was ended by a
        signal: 6.1 aborts at times."""
        done = subprocess.run(["perf", "script", "-i", data, "--no-inline", "--max-stack", "1100", "--ns", "-F", "tid,time,ip,dso"],
                              capture_output=True, text=True)
        if done.returncode < 0:
            return None
        self.assertEqual(done.returncode, 0, done.stderr)
        stacks = {}
        for stack in done.stdout.strip("\n").split("\n\n"):
            head, *frames = stack.strip().split("\n")
            thread, time = head.strip().rstrip(":").split()
            seconds, nanoseconds = time.split(".")
            stacks[int(thread), int(seconds) * 10**9 + int(nanoseconds)] = ["".join(frame.split()) for frame in frames]
        return stacks

    def our_stacks(self, data):
        """{(thread, time): (how it ends, [places])}"""
        lines = subprocess.run([p.program("unwind_perf_data"), data], capture_output=True, text=True, check=True).stdout.splitlines()
        fields = [line.split() for line in lines]
        return {(int(thread), int(time)): (end, frames) for thread, time, end, *frames in fields}

    @staticmethod
    def kind_of(ours, theirs):
        """SAME, or what is different. Where perf knows no caller it may print what is none, as its last frame: "-1 [unknown]", or the
        heap."""
        end, frames = ours
        known = theirs[:-1] if theirs[-1].endswith(("([unknown])", "([heap])", "([stack])")) else theirs
        if frames == known:
            return SAME
        if frames[:len(known)] != known:
            return "another path"
        if end != COMPLETE:
            return "perf stops earlier, ours is cut too"
        return "perf stops earlier, ours is complete"

    def stacks_of(self, program):
        """Those of perf, and ours. perf script may abort on one recording and not on the next: two are tried."""
        data = os.path.join(self.directory, "perf.data")
        for _ in range(2):
            self.run_below(["perf", "record", "-q", "-B", "-N", "--no-bpf-event", "-e", "cpu-clock:u", "-c", "1000000", "--call-graph",
                            "dwarf,65528", "-o", data], program)
            theirs, ours = self.stacks_of_perf(data), self.our_stacks(data)
            os.remove(data)
            if theirs is not None:
                break
        return theirs, ours

    def test_paths_are_those_of_perf_script(self):
        if not p.engine_available("ring") or shutil.which("perf") is None:
            self.skipTest("perf (package linux-perf) is not installed, or perf events are refused")
        sums, aborted = collections.Counter(), []
        for name, program in programs(self.directory).items():
            theirs, ours = self.stacks_of(program)
            if theirs is None:
                print(f"skipped: {name} (perf script aborted)", flush=True)
                aborted.append(name)
                continue
            self.assertEqual(theirs.keys(), ours.keys())
            kinds = collections.Counter(self.kind_of(ours[key], theirs[key]) for key in theirs)
            if os.environ.get("PCTALLY_SHOW"):
                for key in theirs:
                    if self.kind_of(ours[key], theirs[key]) != SAME:
                        print(self.kind_of(ours[key], theirs[key]), "\n  ours", ours[key][0], *ours[key][1], "\n  perf", *theirs[key])
            print(f"{name}: {len(theirs)} stacks, {sum(len(frames) for _, frames in ours.values())} frames: {dict(kinds)}", flush=True)
            sums += kinds
        total = sum(sums.values())
        self.assertEqual(sums["another path"], 0)
        self.assertGreaterEqual(sums[SAME], 0.977 * total)
        if aborted and total <= 1000:
            self.skipTest(f"perf script aborted: {', '.join(aborted)}")
        self.assertGreater(total, 1000)

    def test_return_addresses_are_behind_calls(self):
        if not p.engine_available("ring") or not os.path.exists(p.program("return_addresses")):
            self.skipTest("perf events are refused, or Zydis (libzydis-dev) is not installed")
        profiles = []
        for name, program in programs(self.directory).items():
            for turn in range(p.scale(3)):
                profiles.append(os.path.join(self.directory, f"{name}.{turn}.pct"))
                self.run_below([p.PCTALLY, "record", "-q", "-g", "-e", "ring", "-F", "5000", "-o", profiles[-1], "--"], program)
        said = subprocess.run([p.program("return_addresses"), *profiles], capture_output=True, text=True, check=True).stdout
        print(said, flush=True)
        words = said.split()
        found = {words[i]: int(words[i + 1]) for i in range(0, 8, 2)}
        self.assertGreater(found["checked"], 500000)
        self.assertLessEqual(found["wrong"] + found["doubtful"], 1e-6 * found["checked"])


if __name__ == "__main__":
    p.main()
