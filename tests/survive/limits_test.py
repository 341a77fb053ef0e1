"""Many threads, few descriptors; many mappings; many short processes: memory, file size, and the ledger."""
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

MOST_BYTES = 64 << 20  # kLargestBytes


def recorded(command, *options, limit=None):
    """Report, and the recorder's own peak memory in KiB and CPU seconds (those of its children taken off)."""
    path = os.path.join(tempfile.mkdtemp(dir=p.scratch()), "l.pct")
    words = [p.PCTALLY, "record", "-q", "-e", "ring", "-f", "-o", path, *options, "--", *command]
    if limit is not None:
        words = ["prlimit", f"--nofile={limit}:{limit}", *words]
    held = p.held_s()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    peak = own = 0
    while process.poll() is None:
        try:
            with open(f"/proc/{process.pid}/status") as file:
                peak = max(peak, next((int(line.split()[1]) for line in file if line.startswith("VmRSS")), 0))
            with open(f"/proc/{process.pid}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
                own = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except (FileNotFoundError, ProcessLookupError):
            pass
        time.sleep(0.02)
    assert process.returncode == 0, process.returncode
    return {**p.report(path), "held_s": p.held_s() - held}, peak, own, os.path.getsize(path)


class Limits(unittest.TestCase):
    def setUp(self):
        if not p.engine_available("ring"):
            self.skipTest("engine ring is not available")

    def assert_account(self, data, share=0.01):
        p.assert_ledger(self, data)
        chance = data["chance_s"] / 1.96 * 4
        self.assertLess(abs(data["unsampled_s"]), share * data["cpu_s"] + chance + 0.02 + p.taken_s(data))

    def test_a_thousand_threads_with_256_descriptors(self):
        """A command's events are inherited, or the machine's: neither needs one per thread."""
        data, peak, own, size = recorded([p.program("spinner"), "1000", "0.002"], limit=256)
        print(f"1000 threads: {data['cpu_s']:.2f} s CPU, recorder {peak} KiB, {own:.2f} s, file {size >> 10} KiB")
        # Without privilege half a period is lost on every CPU a thread runs on: most of threads that short.
        self.assert_account(data, 0.01 if data["chance_s"] else 1)
        self.assertEqual(data["rows"][0]["function"], "spin_here")  # a second of it; the rest is the kernel's mapping

    def test_attached_to_a_thousand_threads_with_256_descriptors(self):
        if os.geteuid() != 0:
            self.skipTest("needs the whole machine's events, which need root")
        path = os.path.join(p.scratch(), "many.pct")
        script = ("import threading\nthreading.stack_size(65536)\nhold = threading.Lock()\nhold.acquire()\n"
                  "for i in range(1000): threading.Thread(target=hold.acquire, daemon=True).start()\n"
                  "while True: pass")
        target = subprocess.Popen([sys.executable, "-c", script])
        try:
            while len(os.listdir(f"/proc/{target.pid}/task")) < 1000:
                time.sleep(0.05)
            words = ["prlimit", "--nofile=256:256", p.PCTALLY, "record", "-q", "-e", "ring", "-f", "-o", path, "-p", str(target.pid),
                     "--for", "1"]
            self.assertEqual(subprocess.run(words).returncode, 0)
        finally:
            target.kill()
            target.wait()
        data = p.report(path)
        p.assert_ledger(self, data)
        self.assert_account(data, 0.02)

    def test_sixty_thousand_mappings(self):
        with open("/proc/sys/vm/max_map_count") as file:
            count = min(60000, int(file.read()) - 1000)
        path = os.path.join(p.scratch(), "pages")
        data, peak, own, size = recorded([p.program("mapper"), path, str(count), "1"])
        os.unlink(path)
        print(f"{count} mappings: recorder {peak} KiB, {own:.2f} s CPU, file {size >> 10} KiB, lost {data['lost']}")
        self.assert_account(data, 0.05)
        # How long the kernel takes to make the mappings depends on the machine.
        self.assertGreater(p.seconds_at_most(data, "spin_here"), 0.9)
        self.assertLess(peak, 128 << 10)
        self.assertLess(own, 10)
        self.assertLess(size, MOST_BYTES)

    def test_many_short_processes(self):
        """The full figure is 60 s at 400 per second: PCTALLY_RUNS=60."""
        seconds = p.scale(3)
        # At least as many as have rows asked for below, however long a start takes on this machine.
        script = f"import os, time\nend = time.monotonic() + {seconds}\nn = 0\nstart = time.monotonic()\n" \
                 f"while time.monotonic() < end or n <= {20 * seconds}:\n" \
                 "    pid = os.posix_spawn('/bin/true', ['true'], {})\n    os.waitpid(pid, 0)\n    n += 1\n" \
                 "    time.sleep(max(0, start + n / 400 - time.monotonic()))\nprint(n)"
        data, peak, own, size = recorded([sys.executable, "-c", script])
        processes = len(data["processes"])
        print(f"{seconds} s of short processes: {processes} rows, {data['cpu_s']:.2f} s CPU, recorder {peak} KiB, "
              f"{own:.2f} s CPU, file {size >> 10} KiB")
        self.assert_account(data, 0.02 if data["chance_s"] else 1)
        self.assertGreater(processes, 20 * seconds)
        self.assertLess(peak, 64 << 10)
        self.assertLess(size, MOST_BYTES)

    def test_a_program_without_a_timer_has_the_reason(self):
        """Its limit of pending signals, which timers count against, is used up."""
        if p.engine_available("timer"):
            data = p.record(["prlimit", "--sigpending=0", p.program("spinner"), "1", "0.4"], "-e", "timer").report()
            p.assert_ledger(self, data)
            notes = [row["note"] for row in data["processes"] if row["note"]]
            self.assertEqual(notes, ["got no timer: its limit of pending signals is used up; raise ulimit -i, or use -e ring"])


class Descriptors(unittest.TestCase):
    """A recorder with few descriptors."""

    def record(self, limit, *words):
        path = os.path.join(tempfile.mkdtemp(dir=p.scratch()), "d.pct")
        return subprocess.run(["prlimit", f"--nofile={limit}", p.PCTALLY, "record", "-o", path, *words], capture_output=True, text=True)

    def test_the_command_has_its_own_soft_limit_and_the_recorder_all(self):
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        for engine in p.engines():
            done = self.record("16:", "-e", engine, "--", "sh", "-c", "ulimit -Sn; ulimit -Hn")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout, f"16\n{'unlimited' if hard == resource.RLIM_INFINITY else hard}\n")

    def test_too_few_to_attach_are_the_reason_given(self):
        if not p.engines("ring", "bpf"):
            self.skipTest("nothing that runs can be recorded here")
        targets = [subprocess.Popen(["sleep", "100"]) for _ in range(60)]
        try:
            for count, limits in ((1, range(4, 12)), (60, range(60, 80, 3))):
                pids = ",".join(str(target.pid) for target in targets[:count])
                for limit in limits:
                    done = self.record(f"{limit}:{limit}", "-p", pids, "--for", "0.01")
                    if done.returncode != 0:
                        self.assertEqual(done.stderr, "pctally: too many open files; raise ulimit -n\n", limit)
        finally:
            for target in targets:
                target.kill()
                target.wait()

    def test_too_few_are_the_reason_given(self):
        seen = set()
        for engine in p.engines():
            for limit in range(7, 25):
                lines = self.record(f"{limit}:{limit}", "-e", engine, "--", p.program("spinner"), "1", "0.02").stderr
                self.assertNotIn("/proc/self/fd/-1", lines, limit)
                self.assertNotIn("EMFILE", lines, limit)
                self.assertNotIn("does not accept the program", lines, limit)
                seen.update(line for line in lines.splitlines() if "too many open files" in line)
        self.assertTrue(any(line.endswith(" has no names: too many open files; raise ulimit -n") for line in seen), seen)
        if p.engine_available("bpf"):
            self.assertIn("pctally: too many open files; raise ulimit -n", seen)
            rows = subprocess.run(["prlimit", "--nofile=16:16", p.PCTALLY, "engines"], capture_output=True, text=True).stdout
            self.assertRegex(rows, r"^bpf +not available\n +why not:  too many open files\n +remedy:   raise ulimit -n\n")


if __name__ == "__main__":
    p.main()
