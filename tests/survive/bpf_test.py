"""Engine bpf: what its recorder may still do, what its death leaves behind, and who may not use it."""
import json
import os
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

NOBODY = 65534
KILL = 1 << 5  # CAP_KILL


def capabilities(text):
    return dict(line.split(":\t") for line in text.splitlines() if line.startswith("Cap"))


@unittest.skipUnless(p.engine_available("bpf"), "engine bpf is not available here: pctally engines says why")
class Bpf(unittest.TestCase):
    def test_recorder_has_no_capability_but_to_signal_and_the_program_keeps_its_own(self):
        with open("/proc/self/status") as status:
            bare = capabilities(status.read())
        kept = f"{int(bare['CapPrm'], 16) & KILL:016x}"
        script = (f"i=0; until grep -q 'CapEff:.{kept}' /proc/$PPID/status || [ $((i += 1)) = 5000 ]; do :; done; "
                  "cat /proc/$PPID/status; echo; cat /proc/self/status")
        done = p.record(["sh", "-c", script], "-e", "bpf")
        recorder, program = map(capabilities, done.stdout.decode().split("\n\n"))
        self.assertEqual(recorder["CapEff"], kept)
        self.assertEqual(recorder["CapPrm"], kept)
        self.assertEqual(program["CapEff"], bare["CapEff"])

    def test_a_directory_of_another_user(self):
        """Only root's capabilities let it write there, and the recorder gives them up: sudo pctally record in one's home."""
        directory = os.path.join(p.scratch(), "home")
        os.mkdir(directory, 0o700)
        os.chown(directory, 65534, 65534)
        for options in ([], ["-f"], ["-p", str(os.getpid()), "--for", "0.1", "-f"]):
            command = [] if "-p" in options else ["--", p.program("spinner"), "1", "0.3"]
            done = subprocess.run([p.PCTALLY, "record", "-e", "bpf", "-o", "x.pct", *options, *command], cwd=directory,
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("next: pctally report x.pct" if command else "tick", done.stderr)
            self.assertEqual(os.listdir(directory), ["x.pct"])
            if command and " names are in " not in done.stderr:
                self.assertTrue(p.has_names(os.path.join(directory, "x.pct")))

    def test_killed_recorder_leaves_a_readable_file_and_the_program_running(self):
        path = os.path.join(p.scratch(), "killed.pct")
        recorder = subprocess.Popen([p.PCTALLY, "record", "-q", "-f", "-e", "bpf", "-o", path, "--", p.program("spinner"),
                                     "1", "1000"], stdout=subprocess.PIPE)
        p.await_ticks(path, 300, recorder)
        program = p.command_of(recorder.pid)
        recorder.send_signal(signal.SIGKILL)
        recorder.wait()
        data = p.report(path)
        self.assertEqual(data["engine"], "bpf")
        p.assert_ledger(self, data)
        with open(f"/proc/{program}/comm", encoding="ascii") as comm:
            self.assertEqual(comm.read(), "spinner\n")
        os.kill(program, signal.SIGKILL)
        with recorder.stdout:
            recorder.stdout.read()  # until the program has ended, too
        self.assertGreater(p.share_at_most(data, "spin_here"), 0.8)

    def test_short_lived_children_are_counted(self):
        for how in ("fork", "vfork", "spawn"):
            with self.subTest(how=how):
                done = p.record([p.program("forker"), how, "300", "2"], "-e", "bpf", "-F", "1000")
                data = done.report()
                p.assert_ledger(self, data)
                ticks = data["ticks"]
                # A tick finds the program on its CPU or not: four standard deviations, and 3 %. The host's time
                # has none.
                self.assertAlmostEqual(data["sampled_s"] / data["cpu_s"], 1, delta=0.03 + 4 / ticks ** 0.5 + p.stolen_share(data))
                # Each of 300 burns 2 ms. What starts them may take longer than that on a busy machine.
                burnt = (p.share_at_most(data, "burn") + p.share_of(data, "turn")) * data["sampled_s"]
                self.assertGreater(burnt, 0.3)

    @unittest.skipUnless(os.getuid() == 0, "needs root to become somebody else")
    def test_without_privilege_it_says_which_and_how_to_get_it(self):
        run = subprocess.run([p.PCTALLY, "engines", "--json"], capture_output=True, text=True, user=NOBODY, group=NOBODY)
        if run.returncode not in (0, 125):
            self.skipTest(f"nobody cannot run {p.PCTALLY}")
        row = next(row for row in json.loads(run.stdout) if row["engine"] == "bpf")
        self.assertFalse(row["available"])
        self.assertIn("CAP_BPF, CAP_PERFMON", row["reason"])
        self.assertIn("setcap", row["remedy"])

    def test_a_kernel_that_refuses_the_program_itself_has_no_engine_bpf(self):
        run = subprocess.run([p.program("old_bpf"), p.PCTALLY, "engines", "--json"], capture_output=True, text=True)
        row = next(row for row in json.loads(run.stdout) if row["engine"] == "bpf")
        self.assertFalse(row["available"], row)
        self.assertIn("bpf(2): EINVAL", row["reason"])

    def test_refused_by_a_sandbox_it_says_so(self):
        run = subprocess.run([p.program("no_perf"), "EPERM", p.PCTALLY, "engines", "--json"], capture_output=True, text=True)
        row = next(row for row in json.loads(run.stdout) if row["engine"] == "bpf")
        self.assertFalse(row["available"])
        self.assertIn("bpf(2): EPERM, under a seccomp filter", row["reason"])
        self.assertIn("seccomp profile", row["remedy"])
        self.assertIn("--cap-add SYS_ADMIN --pid host", row["remedy"])

    def test_the_kernels_functions_are_in_the_profile(self):
        """The recorder has no right to see the kernel's symbols when it puts the names in."""
        shown = subprocess.run(["grep", "-m1", " T vfs_read$", "/proc/kallsyms"], capture_output=True, text=True).stdout
        if not p.engine_available("bpf") or shown.startswith("0000000000000000 ") or not shown:
            self.skipTest("engine bpf, or the kernel's symbols are not available")
        done = p.record([p.program("toucher"), "40000", "0"], "-e", "bpf")
        script = ("import os, sys; os.setgroups([]); os.setgid(65534); os.setuid(65534); "
                  "text = open('/proc/kallsyms').read(40); print(text.split()[0])")
        if subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout.strip("0\n") != "":
            self.skipTest("everybody sees the kernel's symbols here")
        os.chmod(p.scratch(), 0o755)
        os.chmod(os.path.dirname(done.path), 0o755)
        os.chmod(done.path, 0o644)
        run = subprocess.run([p.PCTALLY, "report", "--json", "--limit", "0", done.path], capture_output=True, user=NOBODY, group=NOBODY)
        if run.returncode != 0:
            self.skipTest(f"nobody cannot run {p.PCTALLY}")
        kernel = [row for row in json.loads(run.stdout)["rows"] if row["object"] == "[kernel]"]
        self.assertTrue(kernel)
        self.assertNotIn("[kernel]", [row["function"] for row in kernel])


if __name__ == "__main__":
    p.main()
