"""What was not counted is named and numbered: lost ticks, programs the kernel hides, a stopped recorder.

sampled + lost + unsampled = cpu: within a tenth at most and chance (four standard deviations: a false alarm in 16,000)."""
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

NOBODY = p.as_user()


def open_scratch():
    os.chmod(p.scratch(), 0o755)
    directory = tempfile.mkdtemp(dir=p.scratch())
    os.chmod(directory, 0o777)
    return directory


def has_ended(pid):
    """But its parent has not asked for its status."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return file.read().rpartition(") ")[2].startswith("Z")


def text_report(path):
    return subprocess.run([p.PCTALLY, "report", path], capture_output=True, text=True).stdout


def warnings(data, severity):
    return [warning["text"] for warning in data["warnings"] if warning["severity"] == severity]


class Honest(unittest.TestCase):
    def setUp(self):
        if not p.engine_available("ring"):
            self.skipTest("engine ring is not available")

    def test_the_account_has_no_more_cpu_time_than_was_used(self):
        """Who sleeps and wakes 20,000 times; the recorder's own time is in what is allowed."""
        for options in ([], ["-g"]):
            with self.subTest(options):
                path = os.path.join(open_scratch(), "c.pct")
                before, stolen = resource.getrusage(resource.RUSAGE_CHILDREN), p.stolen_s()
                recorder = subprocess.Popen([p.PCTALLY, "record", "-q", "-e", "ring", *options, "-o", path, "--", "cat"],
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
                for _ in range(20000):
                    recorder.stdin.write(b"x")
                    os.read(recorder.stdout.fileno(), 1)
                recorder.communicate()
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                data = p.report(path)
                p.assert_ledger(self, data)
                self.assertLess(data["cpu_s"], used + p.stolen_s() - stolen)

    def test_a_stopped_recorder_names_its_losses(self):
        work_s = p.scale(2)  # the rings hold one second of it
        path = os.path.join(open_scratch(), "s.pct")
        with p.Machine() as machine:
            recorder = subprocess.Popen([p.PCTALLY, "record", "-q", "-e", "ring", "-o", path, "-F", "10000", "--",
                                         p.program("spinner"), "1", str(work_s)])
            p.await_ticks(path, 1000, recorder)
            child = p.command_of(recorder.pid)
            recorder.send_signal(signal.SIGSTOP)
            while not has_ended(child):
                time.sleep(0.01)  # polls another process's doing: there is no event to wait for
            recorder.send_signal(signal.SIGCONT)
            self.assertEqual(recorder.wait(), 0)
        data = p.report(path)
        p.assert_ledger(self, data)
        print(f"stopped for {work_s} s of work: cpu {data['cpu_s']:.3f} = {data['sampled_s']:.3f} sampled + {data['lost_s']:.3f} "
              f"lost + {data['unsampled_s']:.3f} unsampled", flush=True)
        self.assertGreater(data["lost"], 0)
        self.assertGreater(data["lost_s"], 0.1 * data["cpu_s"])
        chance = data["chance_s"] / 1.96 * 4
        if machine.judges("what a stopped recorder leaves unsampled"):  # what the host takes looks like it
            self.assertLess(abs(data["unsampled_s"]), 0.1 * data["cpu_s"] + chance)  # 10,000 ticks a second take time
        self.assertFalse(data["complete"])
        self.assertIn("were lost", warnings(data, "incomplete")[0])
        lines = [line for line in text_report(path).splitlines() if line.startswith(("INCOMPLETE:", "WARNING:", "note:"))]
        self.assertTrue(lines[0].startswith("INCOMPLETE:"), lines[0])

    def flooded(self, engine, *words, until):
        """A recording whose recorder is stopped while more happens than its rings hold."""
        path = os.path.join(open_scratch(), f"{engine}.pct")
        command = [p.PCTALLY, "record", "-q", "-f", "-e", engine, "-o", path, "--", p.program("record_flood"), *words]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as recorder:
            child = p.command_of(recorder.pid)
            recorder.send_signal(signal.SIGSTOP)
            recorder.stdin.write(b"\n")
            recorder.stdin.flush()
            while not until(child):
                time.sleep(0.01)  # polls another process's doing: there is no event to wait for
            recorder.send_signal(signal.SIGCONT)
        self.assertEqual(recorder.returncode, 0)
        data = p.report(path)
        p.assert_ledger(self, data)
        return data

    @unittest.skipUnless(p.engine_available("bpf"), "engine bpf is not available here: pctally engines says why")
    def test_a_program_whose_exec_was_lost_is_not_taken_for_the_one_before(self):
        """Both lie at the same addresses. The record of its exec finds no room in the ring."""
        def has_run_for_a_second(child):
            with open(f"/proc/{child}/stat", encoding="ascii") as file:
                text = file.read()
            return "(spinner)" in text and int(text.rsplit(")", 1)[1].split()[11]) > os.sysconf("SC_CLK_TCK")

        with p.Machine() as machine:
            data = self.flooded("bpf", "exec", p.program("spinner"), "1", "1.5", until=has_run_for_a_second)
        spun, unknown = p.ticks_of(data, "spin_here"), p.ticks_of(data, "[code in no known mapping]")
        print(f"exec lost: {spun} of {data['ticks']} ticks named, {unknown} in no known mapping", flush=True)
        self.assertEqual(p.ticks_of(data, "spin_in_a_thread"), 0)
        self.assertGreater(spun + unknown, (0.7 * 1.5 - machine.stolen) / data["period_ns"] * 1e9)
        if machine.judges("that the new program is read at once"):
            self.assertGreater(spun, 0.7 * 1.5 / data["period_ns"] * 1e9)

    def test_a_process_whose_threads_starts_were_lost_is_sampled_further(self):
        """One ring is full of the starts and ends of threads, and loses starts whose ends come in the other."""
        def has_run_for_a_while(child):
            with open(f"/proc/{child}/stat", encoding="ascii") as file:
                used = [int(field) for field in file.read().rsplit(")", 1)[1].split()[11:13]]
            return sum(used) > 2.5 * os.sysconf("SC_CLK_TCK")

        with p.Machine() as machine:
            data = self.flooded("ring", "threads", "6", until=has_run_for_a_while)
        if machine.judges("a process whose threads are lost"):
            self.assertGreater(data["sampled_s"] + data["lost_s"], 0.75 * data["cpu_s"])

    def test_ticks_do_not_wake_a_program_into_their_step(self):
        """A tick of one clock ends a sleep that is due: of two equal functions one then got a fifth of the ticks in half of the runs.
        Some 380 ticks a run: within five standard deviations of what the program measured."""
        for engine in p.engines("bpf", "ring"):
            for _ in range(2):
                with p.Machine() as machine:
                    done = p.record([p.program("halves"), "3000"], "-e", engine)
                data = done.report()
                p.assert_ledger(self, data)
                first, second = (p.ticks_of(data, name) for name in ("first_half", "second_half"))
                if machine.judges(f"{engine}, sleeps of 0.2 ms"):
                    self.assertAlmostEqual(first / (first + second), float(done.stdout), delta=0.13, msg=(engine, first, second))

    def test_a_privileged_program_unprivileged(self):
        p.need_other_users(self)
        su = shutil.which("su")
        path = os.path.join(open_scratch(), "su.pct")
        script = f"{su} --help > /dev/null; {p.program('spinner')} 1 0.3"
        done = subprocess.run([*NOBODY, p.PCTALLY, "record", "-q", "-e", "ring", "-o", path, "--", "sh", "-c", script])
        self.assertEqual(done.returncode, 0)
        data = p.report(path)
        p.assert_ledger(self, data)
        row = next(row for row in data["processes"] if row["comm"] == "su")
        self.assertEqual(row["engine"], "")
        self.assertIn("setuid", row["note"])
        self.assertFalse(data["complete"])
        self.assertIn("(su)", warnings(data, "incomplete")[0])

    def test_a_privileged_command_unprivileged(self):
        p.need_other_users(self)
        path = os.path.join(open_scratch(), "su.pct")
        words = [*NOBODY, p.PCTALLY, "record", "-e", "ring", "-o", path, "--", "su", "--help"]
        done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 0)
        self.assertIn("pctally: no ticks", done.stderr)
        self.assertIn("pctally: warning: 1 process was not observed (su)", done.stderr)
        data = p.report(path)
        self.assertEqual([row["comm"] for row in data["processes"] if "setuid" in row["note"]], ["su"])
        self.assertFalse(data["complete"])

    def test_a_privileged_program_is_seen_as_root(self):
        if os.geteuid() != 0:
            self.skipTest("needs root")
        setuid = os.path.join(open_scratch(), "setuid_spinner")
        shutil.copy(p.program("spinner"), setuid)
        os.chown(setuid, 65534, 65534)
        os.chmod(setuid, 0o4755)
        data = p.record(["sh", "-c", f"{setuid} 1 0.4; true"], "-e", "ring").report()
        self.assertGreater(p.share_at_most(data, "spin_here"), 0.8)
        self.assertLess(abs(data["unsampled_s"]), 0.02 * data["cpu_s"] + data["chance_s"] * 2 + 0.01 + p.taken_s(data))
        self.assertTrue(data["complete"])


if __name__ == "__main__":
    p.main()
