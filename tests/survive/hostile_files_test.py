"""Damaged files of every kind through every reader: each ends in time, with 0 or 4, without a fault, within its memory, and
what it prints adds up. PCTALLY_RUNS=20000 for the full figures; PCTALLY_READER=build/fuzz/bin/pctally for a tool with
sanitizers, whose memory is not judged; PCTALLY_SEED for other damage. What fails is kept in PCTALLY_FOUND."""
import collections
import glob
import gzip
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import forged
import mutations
import pctally_test as p

READER = os.environ.get("PCTALLY_READER", p.PCTALLY)
SANITIZED = READER != p.PCTALLY
FOUND = os.environ.get("PCTALLY_FOUND")
CPU_S, WALL_S, FAULT = 20, 300, 99
CORPUS = os.path.join(os.path.dirname(__file__), "..", "..", "fuzz", "corpus")
ENVIRONMENT = {**os.environ, "NO_COLOR": "1", "UBSAN_OPTIONS": f"halt_on_error=1:exitcode={FAULT}:print_stacktrace=1",
               "ASAN_OPTIONS": f"exitcode={FAULT}:detect_leaks=0:allocator_may_return_null=1"}


def pctally(*words):
    done = subprocess.run([p.PCTALLY, *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{words}: {done.stderr}")


def of_corpus(name):
    for path in sorted(glob.glob(os.path.join(CORPUS, name, "*"))):
        with open(path, "rb") as file:
            yield os.path.basename(path), file.read()


class Seeds:
    """Sound files: (kind, bytes, suffix). Kinds that this machine cannot record are left out."""

    def __init__(self):
        self.directory = tempfile.mkdtemp(dir=p.scratch())
        self.files = []
        self.flat = self.recorded("flat")
        self.good = p.as_another_recording(self.flat, self.path("good"))  # which mutations of the seeds can be compared with
        engines = p.engines()
        for engine in engines:
            self.recorded(f"flat {engine}", "-e", engine)
            self.recorded(f"paths {engine}", "-e", engine, "-g")
        for scope in ("program", "thread", "cgroup"):
            if set(engines) - {"timer"}:
                self.recorded(f"scopes {scope}", "-e", "ring" if "ring" in engines else "bpf", "--scope", scope)
        self.made("without names", lambda path: p.without_names(self.flat, path))
        self.made("merged", lambda path: pctally("merge", "-q", "-o", path, self.flat, self.recorded("again")))
        self.made("archived", lambda path: pctally("archive", "-q", "-o", path, self.flat))
        self.made("archived paths", lambda path: pctally("archive", "-q", "-o", path, self.path(f"paths {engines[-1]}")))
        for kind in ("profile_file_fuzz", "pprof_import_fuzz", "gperftools_import_fuzz", "text_import_fuzz"):
            for name, data in of_corpus(kind):
                self.files.append((f"{kind[:-5]} {name}", data))
        for form in ("pprof", "folded"):
            self.made(form, lambda path, form=form: pctally("export", "--format", form, "-o", path, self.path(f"paths {engines[-1]}")))

    def path(self, kind):
        return os.path.join(self.directory, kind.replace(" ", "_"))

    def add(self, kind):
        with open(self.path(kind), "rb") as file:
            self.files.append((kind, file.read()))

    def recorded(self, kind, *options):
        pctally("record", "-q", "-o", self.path(kind), *options, "--", "sh", "-c",
                f"{p.program('known_shares')} 0.04 1 >/dev/null & {p.program('spinner')} 2 0.04 >/dev/null; wait")
        self.add(kind)
        return self.path(kind)

    def made(self, kind, make):
        make(self.path(kind))
        self.add(kind)


def readers(path, good, out):
    """The commands that read `path`; `good` is a sound profile, `out` where one may write."""
    report = [["report", "--json", "--limit", "0", *how, path] for how in ([], ["--by", "line"], ["--by", "process"], ["--by", "program"])]
    return report + [
        ["report", path], ["report", "--by", "object", "--names", "full", path, good], ["report", "--tree", path],
        ["report", "--callers", "main", path], ["report", "--html", out + ".html", path], ["report", "--flamegraph", out + ".svg", path],
        ["diff", good, path], ["diff", path, good, "--json"], ["merge", "-q", "-f", "-o", out, good, path],
        ["export", "--format", "pprof", "-o", out, path], ["export", "--format", "folded", "-o", out, path],
        ["export", "--format", "perf", "-o", out, path], ["export", "--format", "firefox", "-o", out, path],
        ["export", "--format", "callgrind", "-o", out, path], ["export", "--format", "gmon", "-o", out, path],
        ["archive", "-q", "-f", "-o", out, path], ["annotate", "main", path], ["annotate", "--json", "spin_here", path],
        ["snapshot", "-q", "-f", "-o", out, path], ["plan", path]]


def limits():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))


class Outcome:
    """How one command ended on one file."""

    def __init__(self, words, inputs):
        with open(os.path.join(p.scratch(), "out"), "w+b") as out, open(os.path.join(p.scratch(), "err"), "w+b") as err:
            child = subprocess.Popen([READER, *words], stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=ENVIRONMENT, preexec_fn=limits)
            signal.alarm(WALL_S)
            try:
                _, status, usage = os.wait4(child.pid, 0)
            except TimeoutError:
                child.kill()
                _, status, usage = os.wait4(child.pid, 0)
                status = signal.SIGXCPU
            signal.alarm(0)
            child.returncode = self.code = os.waitstatus_to_exitcode(status)
            out.seek(0), err.seek(0)
            self.out, self.err = out.read(), err.read().decode(errors="replace")
        self.words, self.peak_kib = words, usage.ru_maxrss
        self.most_kib = (4 * inputs + (100 << 20)) >> 10

    def fault(self):
        """What is wrong with it, or None."""
        if self.code in (-signal.SIGXCPU, -signal.SIGKILL):
            return "hang"
        if self.code < 0 or self.code == FAULT:
            return "fault"
        if self.code not in (0, 4) and "cannot be compared" not in self.err:  # a period or event that is another now
            return "exit code"
        if self.code != 0 and not self.err.startswith("pctally: "):
            return "message"
        if not SANITIZED and self.peak_kib > self.most_kib:
            return "memory"
        return self.sum_fault() if self.out and "--json" in self.words and self.words[0] in ("report", "diff") else None

    def sum_fault(self):
        """What is printed of a damaged file adds up, too."""
        try:
            data = json.loads(self.out)
        except ValueError:
            return "json"
        if self.words[0] != "report":
            return None
        parts = data["counted"] + data["outside"] + data["full"] + data["lost"]
        return None if data["ticks"] == parts == sum(row["ticks"] for row in data["rows"]) else "sum"


class HostileFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.seeds = Seeds()

    def setUp(self):
        self.counts = collections.Counter()
        self.found = []
        signal.signal(signal.SIGALRM, self.time_is_up)

    @staticmethod
    def time_is_up(*_):
        raise TimeoutError

    def judge(self, kind, words, path, size, number):
        if os.path.exists(words[words.index("-o") + 1] if "-o" in words else ""):
            os.unlink(words[words.index("-o") + 1])  # -f replaces profiles alone
        outcome = Outcome(words, size)
        fault = outcome.fault()
        self.counts["read" if outcome.code == 0 else "refused" if outcome.code == 4 else "other"] += 1
        if fault is None:
            return
        self.counts[fault] += 1
        said = outcome.err.strip().splitlines()
        self.found.append(f"{fault}: {kind}, {number}: {' '.join(words)}: {outcome.code}, {outcome.peak_kib} KiB: {said[-1:]}")
        if FOUND:
            os.makedirs(FOUND, exist_ok=True)
            shutil.copy(path, os.path.join(FOUND, f"{fault.replace(' ', '_')}.{number}"))
            with open(os.path.join(FOUND, f"{fault.replace(' ', '_')}.{number}.txt"), "w", encoding="utf-8") as file:
                file.write(self.found[-1] + "\n" + outcome.err)

    def end(self, inputs):
        print(f"{inputs} files: " + ", ".join(f"{count} {what}" for what, count in sorted(self.counts.items())), flush=True)
        self.assertEqual(self.found, [])

    def rounds(self, default):
        first = int(os.environ.get("PCTALLY_SEED", 0))
        for number in range(first, first + p.scale(default)):
            if (number - first) % 1000 == 999:
                print(f"{number - first + 1}: {dict(self.counts)}", flush=True)
            yield number, random.Random(number)

    def test_profiles_and_what_other_tools_wrote(self):
        path, out = os.path.join(p.scratch(), "damaged"), os.path.join(p.scratch(), "written")
        inputs = 0
        for number, chance in self.rounds(40):
            kind, seed = chance.choice(self.seeds.files)
            packed = seed[:2] == b"\x1f\x8b" and chance.random() < 0.8
            text = seed[:64].isascii() and b"\0" not in seed[:64]
            data = mutations.damaged(gzip.decompress(seed) if packed else seed, chance, chance.choice(self.seeds.files)[1],
                                     mutations.TEXT if text else mutations.BINARY)
            data = gzip.compress(data, 1) if packed else data
            with open(path, "wb") as file:
                file.write(data)
            inputs += 1
            unpacked = len(data) if not packed else len(gzip.decompress(data))
            self.judge(kind, chance.choice(readers(path, self.seeds.good, out)), path, len(data) + unpacked + os.path.getsize(self.seeds.good), number)
        self.end(inputs)

    def test_executables(self):
        """What names are read from: its build id stays, so that it is believed to be the program that ran."""
        program, out = os.path.join(p.scratch(), "program"), os.path.join(p.scratch(), "written")
        profile = os.path.join(p.scratch(), "program.pct")
        with open(p.program("known_paths"), "rb") as file:
            seed = file.read()
        shutil.copy(p.program("known_paths"), program)
        pctally("record", "-q", "-f", "-o", profile + ".named", "--", program, "all", "0.02")
        p.without_names(profile + ".named", profile)
        good = p.as_another_recording(profile, profile + ".good")
        note = seed.find(b"GNU\0") - 12
        inputs = 0
        for number, chance in self.rounds(20):
            data = bytearray(mutations.damaged(seed, chance, seed))
            if chance.random() < 0.9 and len(data) > note + 36:
                data[note:note + 36] = seed[note:note + 36]
            with open(program, "wb") as file:
                file.write(data)
            inputs += 1
            commands = [words for words in readers(profile, good, out) if words[0] not in ("merge", "snapshot", "plan")]
            self.judge("executable", chance.choice(commands), program, len(data) + os.path.getsize(profile) * 2 + (4 << 20), number)
        self.end(inputs)

    def test_names_that_refer_to_each_other_in_great_numbers(self):
        """Each of the files takes a minute or more to read if any of its tables is searched for each record of another."""
        path, out = os.path.join(p.scratch(), "forged.pct"), os.path.join(p.scratch(), "written")
        for kind, make in (("objects of one identity", names_of_many_objects), ("ranges with code", names_with_much_code),
                           ("sources", names_of_many_sources), ("frames", names_with_many_frames)):
            make(self.seeds.flat, path)
            for words in (["report", "--by", "line", path], ["merge", "-q", "-f", "-o", out, path], ["archive", "-q", "-f", "-o", out, path]):
                self.judge(kind, words, path, os.path.getsize(path), 0)
        self.assertEqual(self.counts["refused"], 0, "all are sound")
        self.end(4)

    def test_places_with_more_frames_than_a_section_may_have(self):
        """The frames of a place would take 128 MiB: comparing them takes the time, copying them the memory."""
        path, out = os.path.join(p.scratch(), "forged.pct"), os.path.join(p.scratch(), "written")
        for kind, places in (("places that differ nowhere", 3000), ("copies", 8)):
            names_with_many_frames(self.seeds.flat, path, places=places, frames=1024, text=1 << 16)
            for words in (["report", "--by", "line", path], ["merge", "-q", "-f", "-o", out, path], ["archive", "-q", "-f", "-o", out, path]):
                self.judge(kind, words, path, os.path.getsize(path), 0)
        self.end(2)
        self.assertEqual(self.counts["refused"], 6)


PROGRAM, BUILD = b"/nowhere/forged", bytes(range(20))


def names_of_many_objects(sound, path, many=50_000):
    profile, names = forged.Profile(sound), forged.Names()
    hits = range(0x100, 0x100 + 4 * many)
    profile.add_object(PROGRAM, BUILD, hits)
    program = names.add_text(PROGRAM)
    names.add_object(program, BUILD, times=many)
    names.add_frame(program, program)
    for i in range(many):
        names.add_range((hits[i], hits[i]), (hits[0], hits[-1] + 1), program, object_index=i)
        names.add_place(hits[i], len(hits) - i, 0, 1, object_index=i)
    profile.write(path, names.bytes())


def names_with_much_code(sound, path, many=200_000):
    profile, names = forged.Profile(sound), forged.Names()
    profile.add_object(PROGRAM, BUILD, range(0x100, 0x101))
    program = names.add_text(PROGRAM)
    names.add_object(program, BUILD)
    for i in range(0x100, 0x100 + many):
        names.add_range((i, i), (i, i + 1), program, (0, 1))
    profile.write(path, names.bytes())


def names_with_many_frames(sound, path, places=800, frames=250, text=64):
    """Two objects of one identity say the same of each place, in other records and by texts elsewhere."""
    profile, names = forged.Profile(sound), forged.Names()
    hits = range(0x100, 0x100 + places)
    profile.add_object(PROGRAM, BUILD, hits)
    program = names.add_text(PROGRAM)
    names.add_object(program, BUILD, times=2)
    start, _ = names.add_text(b"x" * (text + frames))
    for i in range(frames + 1):
        names.add_frame((start + i, text), (start + i, text))
    for i in range(2):
        names.add_range((hits[0], hits[-1]), (hits[0], hits[-1] + 1), program, object_index=i)
        for position in hits:
            names.add_place(position, 1, i, frames, object_index=i)
    profile.write(path, names.bytes())


def names_of_many_sources(sound, path, many=80_000):
    profile, names = forged.Profile(sound), forged.Names()
    hits = range(0x100, 0x100 + many)
    profile.add_object(PROGRAM, BUILD, hits)
    program = names.add_text(PROGRAM)
    names.add_object(program, BUILD)
    names.add_range((hits[0], hits[-1]), (hits[0], hits[-1] + 1), program)
    for i, position in enumerate(hits):
        source = names.add_text(b"/s/%07d" % i)
        names.add_frame(program, source)
        names.add_place(position, 1, i, 1)
        names.add_source(source, (0, 1))
    profile.write(path, names.bytes())


if __name__ == "__main__":
    p.main()
