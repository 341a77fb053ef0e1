#!/usr/bin/env python3
"""What a profile of `timer` is worth to clang: Lua and Duktape, compiled plainly (-O2), with a sampled profile that pctally has
exported, and with an instrumented one. Beside them the same objects with their sections in other orders: the effect of chance in the layout.

    bench/pgo.py [ROUNDS]      15; each variant runs in each round, the order rotating

The profile is of another script than the one that is timed. Sources are Debian's, by apt-get source with a list of its own."""
import glob
import os
import random
import shutil
import statistics
import subprocess
import sys

import measure

CLANG = next((name for name in ("clang-19", "clang-14") if shutil.which(name)), None)
LAYOUTS = 5
WARM = ["-O2", "-g", "-fdebug-info-for-profiling"]  # as the program that is sampled has to be compiled

LUA_TRAIN = """
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local words, out = {}, {}
for i = 1, 6000 do words[i] = string.format("%x-%d", (i * 7919) % 65521, i) end
for round = 1, ROUNDS do
  fib(24)
  table.sort(words, function(a, b) return a:sub(2) < b:sub(2) end)
  for i = 1, #words do out[i] = words[i]:upper():gsub("[0-9]", "x") end
  local count = {}
  for w in table.concat(words, " "):gmatch("%w+") do count[w] = (count[w] or 0) + 1 end
end
"""
LUA_RUN = """
local function queens(n, row, cols, up, down)
  if row > n then return 1 end
  local sum = 0
  for c = 1, n do
    if not cols[c] and not up[row + c] and not down[row - c + n] then
      cols[c], up[row + c], down[row - c + n] = true, true, true
      sum = sum + queens(n, row + 1, cols, up, down)
      cols[c], up[row + c], down[row - c + n] = nil, nil, nil
    end
  end
  return sum
end
for round = 1, ROUNDS do
  queens(7, 1, {}, {}, {})
  local points = {}
  for i = 1, 3000 do points[i] = {x = i % 97, y = i * i % 89, name = "p" .. i} end
  table.sort(points, function(a, b) if a.x ~= b.x then return a.x < b.x end return a.y < b.y end)
  local text = {}
  for i, point in ipairs(points) do text[i] = point.name:rep(2):find("1", 1, true) or 0 end
end
"""
DUKTAPE_TRAIN = """
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
for (var round = 0; round < ROUNDS; ++round) {
  fib(17);
  var words = [];
  for (var i = 0; i < 1500; ++i) words.push(((i * 7919) % 65521).toString(16) + '-' + i);
  words.sort();
  var count = {};
  words.join(' ').split(/[ -]/).forEach(function (w) { count[w] = (count[w] || 0) + 1; });
  JSON.parse(JSON.stringify(count));
}
"""
DUKTAPE_RUN = """
function queens(n, row, cols, up, down) {
  if (row === n) return 1;
  var sum = 0;
  for (var c = 0; c < n; ++c) {
    if (cols[c] || up[row + c] || down[row - c + n]) continue;
    cols[c] = up[row + c] = down[row - c + n] = true;
    sum += queens(n, row + 1, cols, up, down);
    cols[c] = up[row + c] = down[row - c + n] = false;
  }
  return sum;
}
for (var round = 0; round < ROUNDS; ++round) {
  queens(6, 0, [], [], []);
  var points = [];
  for (var i = 0; i < 800; ++i) points.push({ x: i % 97, y: i * i % 89, name: 'p' + i });
  points.sort(function (a, b) { return a.x - b.x || a.y - b.y; });
  points.map(function (p) { return p.name.replace(/[0-9]/g, '#').toUpperCase(); });
}
"""


class Program:
    """Its sources, and two scripts for it: one to profile, one to time. `rounds`: of each, about ten seconds and one."""

    def __init__(self, package, sources, flags, scripts, suffix, rounds):
        self.package, self.sources, self.flags = package, sources, flags
        self.scripts, self.suffix, self.rounds = scripts, suffix, rounds

    def prepare(self, directory):
        self.root = next(iter(glob.glob(os.path.join(directory, self.package.rstrip("0123456789.") + "-*", ""))), None)
        if self.root is None:
            return False
        self.files = sorted(path for pattern in self.sources for path in glob.glob(os.path.join(self.root, pattern))
                            if os.path.basename(path) not in ("luac.c", "onelua.c"))
        self.train, self.run = (os.path.join(measure.SCRATCH, f"{self.package}-{i}{self.suffix}") for i in range(2))
        for path, text, rounds in zip((self.train, self.run), self.scripts, self.rounds):
            with open(path, "w") as file:
                file.write(text.replace("ROUNDS", str(rounds)))
        return True

    def build(self, name, *flags):
        path = os.path.join(measure.SCRATCH, f"{self.package}-{name}")
        subprocess.run([CLANG, "-w", *flags, *[flag.replace("ROOT", self.root.rstrip("/")) for flag in self.flags], *self.files, "-lm", "-ldl",
                        "-o", path], check=True)
        return path


def fetch(directory):
    """Debian's sources; False where there are none."""
    keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"
    if not (os.path.exists(keyring) and shutil.which("apt-get")):
        return False
    for folder in ("lists/partial", "cache/archives/partial"):
        os.makedirs(os.path.join(directory, folder))
    with open(os.path.join(directory, "sources.list"), "w") as file:
        file.write(f"deb-src [signed-by={keyring}] http://deb.debian.org/debian bookworm main\n")
    apt = ["apt-get", "-qq", "-o", f"Dir::Etc::sourcelist={directory}/sources.list", "-o", "Dir::Etc::sourceparts=/dev/null",
           "-o", f"Dir::State::lists={directory}/lists", "-o", f"Dir::Cache={directory}/cache"]
    quiet = {"cwd": directory, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "timeout": 300}
    for words in ("update",), ("source", "--download-only", "lua5.4", "duktape"):
        if subprocess.run([*apt, *words], **quiet).returncode != 0:
            return False
    for archive in glob.glob(os.path.join(directory, "*.orig.tar.*")):  # as their authors made them
        subprocess.run(["tar", "xf", archive], cwd=directory, check=True)
    return True


def sampled(program):
    """Flags that use a profile of `timer`, and how many ticks it has."""
    binary = program.build("sampled-base", *WARM)
    profile, made = (os.path.join(measure.SCRATCH, f"{program.package}{end}") for end in (".pct", ".prof"))
    subprocess.run([measure.PCTALLY, "record", "-q", "-e", "timer", "-F", "4000", "-o", profile, "--", binary, program.train], check=True,
                   stdout=subprocess.DEVNULL)
    done = subprocess.run([measure.PCTALLY, "export", "--format", "llvm", "-o", made, profile], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"bench: {program.package}: {done.stderr.strip()}")
    return [*WARM, f"-fprofile-sample-use={made}"], done.stderr.split(":", 1)[1].split(" of ")[0].strip()


def instrumented(program):
    """Flags that use counts; None without llvm-profdata of the same version."""
    tool = shutil.which(f"llvm-profdata-{CLANG.split('-')[1]}")
    if tool is None:
        print(f"skipped: instrumented (no llvm-profdata-{CLANG.split('-')[1]} here)")
        return None
    binary = program.build("counting", "-O2", "-fprofile-generate")
    raw, made = (os.path.join(measure.SCRATCH, f"{program.package}{end}") for end in (".profraw", ".profdata"))
    subprocess.run([binary, program.train], check=True, stdout=subprocess.DEVNULL, env={**os.environ, "LLVM_PROFILE_FILE": raw})
    subprocess.run([tool, "merge", "-o", made, raw], check=True)
    return ["-O2", f"-fprofile-use={made}"]


def variants(program):
    flags, ticks = sampled(program)
    built = {"-O2": program.build("plain", "-O2"), f"sampled, {ticks} ticks": program.build("sampled", *flags)}
    counted = instrumented(program)
    if counted:
        built["instrumented"] = program.build("instrumented", *counted)
    if shutil.which("ld.lld-" + CLANG.split("-")[1]) is None:
        print("skipped: layouts (no lld of this version here)")
        return built
    for seed in range(1, LAYOUTS + 1):
        built[f"layout {seed}"] = program.build(f"layout-{seed}", "-O2", "-ffunction-sections", "-fuse-ld=lld",
                                                f"-Wl,--shuffle-sections=.text*={seed}")
    return built


def gain(times, plain):
    """Percent of speed over plain: median and quartiles of the rounds, and of the least runs, which others disturbed least."""
    low, middle, high = measure.quartiles([100 * (base / time - 1) for time, base in zip(times, plain)])
    return f"{middle:+.1f} [{low:+.1f}..{high:+.1f}]", 100 * (min(plain) / min(times) - 1)


def compare(program, rounds):
    built = variants(program)
    times = {name: [] for name in built}
    order = list(built)
    for turn in range(rounds):
        random.Random(turn).shuffle(order)
        for name in order:
            times[name].append(measure.Run([built[name], program.run]).cpu)
    plain = times["-O2"]
    print(f"\n### {program.package}, {CLANG}, {rounds} interleaved rounds of {statistics.median(plain):.2f} s\n")
    print("| variant | speed over -O2, % | of the least runs, % |\n|---|---|---|")
    for name in built:
        if name != "-O2":
            text, least = gain(times[name], plain)
            print(f"| {name} | {text} | {least:+.1f} |")
    sys.stdout.flush()


PROGRAMS = (
    Program("lua5.4", ["src/*.c"], ["-DLUA_USE_POSIX", "-DLUA_USE_DLOPEN", "-Wl,-E"], (LUA_TRAIN, LUA_RUN), ".lua", (330, 70)),
    Program("duktape", ["src/duktape.c", "examples/cmdline/duk_cmdline.c", "extras/print-alert/duk_print_alert.c"],
            ["-IROOT/src", "-IROOT/examples/cmdline", "-IROOT/extras/print-alert", "-DDUK_CMDLINE_PRINTALERT_SUPPORT"],
            (DUKTAPE_TRAIN, DUKTAPE_RUN), ".js", (600, 120)))


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    if CLANG is None:
        return print("skipped: pgo (neither clang-19 nor clang-14 is installed)")
    directory = os.path.join(measure.SCRATCH, "sources")
    os.mkdir(directory)
    if not fetch(directory):
        return print("skipped: pgo (apt-get source got no sources of Lua and Duktape)")
    for program in PROGRAMS:
        if program.prepare(directory):
            compare(program, rounds)
        else:
            print(f"skipped: {program.package} (its sources are not there)")
    return None


if __name__ == "__main__":
    main()
