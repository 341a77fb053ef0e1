"""A profile file costs its reader a bounded multiple of its size in memory; without that much it says so in one line."""
import array
import glob
import os
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

HEADER, UNIT, LARGEST = 4096, 64, 64 << 20
PEAK = ("import os, sys; child = os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:]); "
        "_, status, usage = os.wait4(child, 0); print(usage.ru_maxrss, file=sys.stderr); sys.exit(os.waitstatus_to_exitcode(status))")


def full_file(path, size, text_path):
    """A closed file of at most `size` bytes with one tick at every byte of one object's text."""
    seed = p.record([p.program("empty")], "-e", "timer").path
    with open(seed, "rb") as file:
        head = bytearray(file.read(HEADER))
    units = (size - HEADER) // UNIT - 64
    text = int(units / (2 / 16 + 1 / 256 + 1 / 4096)) // 4096 * 4096  # leaves, blocks, directory
    name = text_path.encode()
    record, segment, string = 1, 3, 4
    directory = string + (4 + len(name) + UNIT - 1) // UNIT
    block = directory + text // 4096
    leaf = block + text // 256
    used = leaf + 2 * (text // 16)
    pool = bytearray(used * UNIT)
    struct.pack_into("=IIII", pool, record * UNIT, 0, segment, string, 0)
    struct.pack_into("=IIQQ", pool, segment * UNIT, 0, directory, 0, text)
    struct.pack_into("=I", pool, string * UNIT, len(name))
    pool[string * UNIT + 4:string * UNIT + 4 + len(name)] = name
    pool[directory * UNIT:block * UNIT] = array.array("I", range(block, leaf)).tobytes().ljust((block - directory) * UNIT, b"\0")
    pool[block * UNIT:leaf * UNIT] = array.array("I", range(leaf, used, 2)).tobytes()
    pool[leaf * UNIT:] = array.array("Q", [1]).tobytes() * text
    struct.pack_into("=I", head, 28, 2)
    struct.pack_into("=IIIIII", head, 32, used, used, record, 0, 0, 0)
    struct.pack_into("=I", head, 56, 0)
    struct.pack_into("=8Q", head, 320, text, 0, 0, 0, 0, 0, text, text)
    struct.pack_into("=I", head, 404, 0)  # no names, which a seed with a tick has
    with open(path, "wb") as file:
        file.write(head + pool)
    return text


def sparse_files(directory, size):
    """Files of a few KiB on the disk, whose holes are a command of empty arguments, or names whose tables all lie in one place."""
    with open(p.record([p.program("empty")], "-e", "timer").path, "rb") as file:
        head = bytearray(file.read(HEADER))
    struct.pack_into("=I", head, 28, 2)
    struct.pack_into("=IIIII", head, 40, 0, 0, 0, 0, 0)
    struct.pack_into("=8Q", head, 320, *[0] * 8)
    command, names = os.path.join(directory, "command.pct"), os.path.join(directory, "names.pct")
    units = 1 + (4 + size + UNIT - 1) // UNIT
    struct.pack_into("=II", head, 32, units, units)
    struct.pack_into("=I", head, 52, 1)
    struct.pack_into("=I", head, 404, 0)
    with open(command, "wb") as file:
        file.write(head + bytes(UNIT) + struct.pack("=I", size))
        file.truncate(HEADER + units * UNIT)
    struct.pack_into("=II", head, 32, 1, 1)
    struct.pack_into("=I", head, 52, 0)
    struct.pack_into("=I", head, 404, 1)
    tables = [(128, (size - 128) // record if record else 0) for record in (0, 128, 0, 0, 32, 24)]
    with open(names, "wb") as file:
        file.write(head + bytes(UNIT) + struct.pack("=8sIIQ12Q", b"pctnames", 1, 0, size, *[n for table in tables for n in table]))
        file.truncate(HEADER + UNIT + size)
    return command, names


def peak_of(*words):
    """What became of it, and the bytes of memory that it took at most."""
    done = subprocess.run([sys.executable, "-c", PEAK, *words], capture_output=True, text=True)
    *lines, kib = done.stderr.splitlines()
    done.stderr = "\n".join(lines)
    return done, int(kib) << 10


class Memory(unittest.TestCase):
    def library(self):
        found = glob.glob("/usr/lib/*/libstdc++.so.6") + glob.glob("/usr/lib*/libstdc++.so.6")
        return os.path.realpath(found[0]) if found else p.PCTALLY

    def test_a_report_takes_four_times_the_file_and_100_mb(self):
        path = os.path.join(p.scratch(), "full.pct")
        ticks = full_file(path, LARGEST, self.library())
        self.assertGreater(ticks, 8000000)
        for by in ("function", "object"):
            done, peak = peak_of(p.PCTALLY, "report", "--by", by, path)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"{ticks} ticks", done.stdout.replace(",", ""))
            self.assertLess(peak, 4 * os.path.getsize(path) + 100000000)

    def test_so_does_a_sparse_file_whose_holes_are_arguments_or_names(self):
        for path, damage in zip(sparse_files(p.scratch(), 50000000), ("1 name(s) cannot be read", "the names in it cannot be read")):
            self.assertLess(os.stat(path).st_blocks * 512, 100000)
            done, peak = peak_of(p.PCTALLY, "report", path)
            self.assertIn(damage, done.stdout + done.stderr)
            self.assertLess(peak, 4 * os.path.getsize(path) + 100000000)

    def test_the_address_space_taken_in_a_program_is_as_documented(self):
        """pctally-engines(1): 72 MiB under timer, 65 under trap, which a program's own RLIMIT_AS has to allow."""
        script = ["grep", "VmSize", "/proc/self/status"]

        def size_kib(output):
            return int(output.split()[1])

        bare = size_kib(subprocess.run(script, capture_output=True, check=True).stdout)
        for engine, most_mib in (("timer", 72), ("trap", 65)):
            for engine in p.engines(engine):
                taken_mib = (size_kib(p.record(script, "-e", engine).stdout) - bare) / 1024
                self.assertGreater(taken_mib, 64, engine)  # the file's address range
                self.assertLess(taken_mib, most_mib, engine)

    def test_call_paths_where_address_space_is_limited(self):
        """Browsers and build servers set such limits: of 4 GB nothing was mapped but the start of the file."""
        path = os.path.join(p.scratch(), "limited.pct")

        def record(limit, engine, seconds="0.02"):
            return subprocess.run(["prlimit", limit, p.PCTALLY, "record", "-q", "-f", "-g", *engine, "-o", path, "--",
                                   p.program("known_paths"), "many_paths", seconds], capture_output=True, text=True)

        limits = (f"--as={400 << 20}", "ulimit -v is below 524288"), (f"--fsize={3000 << 10}", "ulimit -f allows 3000 KiB")
        if p.engines("bpf", "ring"):
            for limit, _ in limits:  # timer, which would be taken where these fail, does not ask for its room
                self.assertEqual(record(limit, []).stderr, "")
        for engine in p.engines("bpf", "ring", "timer", "trap"):
            with self.subTest(engine=engine):
                done = record(f"--as={4 << 30}", ["-e", engine], "0.2")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                data = p.report(path)
                p.assert_ledger(self, data)
                self.assertEqual(data["full"], 0)
                for limit, word in limits:
                    done = record(limit, ["-e", engine])
                    self.assertEqual(done.returncode, 125 if engine in ("timer", "trap") else 0, done.stderr)  # the others reserve little
                    if done.returncode != 0:
                        self.assertIn(word, done.stderr)

    def test_a_merge_of_small_files_needs_little_address_space(self):
        """And not the 1 GiB that it may take of memory."""
        paths = [p.record([p.program("empty")], "-e", "timer").path for _ in range(2)]
        done = subprocess.run(["prlimit", f"--as={512 << 20}", p.PCTALLY, "merge", "-o", os.path.join(p.scratch(), "sum.pct"), *paths],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_without_memory_it_says_so(self):
        small, large = os.path.join(p.scratch(), "small.pct"), os.path.join(p.scratch(), "large.pct")
        full_file(small, 200 << 10, "/nonexistent")
        full_file(large, 16 << 20, "/nonexistent")

        def report(path, limit):
            return subprocess.run(["prlimit", f"--as={limit}", p.PCTALLY, "report", path], capture_output=True, text=True)

        enough = next(limit for limit in range(8 << 20, 1 << 30, 8 << 20) if report(small, limit).returncode == 0)
        failed = report(large, enough + (8 << 20))
        self.assertEqual((failed.returncode, failed.stdout), (125, ""), failed)
        self.assertRegex(failed.stderr, r"\Apctally: out of memory[^\n]*\n\Z")
        self.assertEqual(report(large, enough + (200 << 20)).returncode, 0)


if __name__ == "__main__":
    p.main()
