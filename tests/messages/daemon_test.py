"""A command that leaves a daemon behind: said; with --wait recorded to its end, or to Ctrl-C."""
import os
import shutil
import re
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

DAEMON = p.program("daemon")


class Daemon(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(dir=p.scratch())
        self.path = os.path.join(self.directory, "d.pct")

    def record(self, *words, command):
        return subprocess.run([p.PCTALLY, "record", "-o", self.path, *words, "--", *command], capture_output=True, text=True,
                              timeout=60)

    def test_what_still_runs_is_named_with_the_way_to_record_it(self):
        for engine in p.engines():
            with self.subTest(engine):
                ready = os.path.join(self.directory, engine)
                os.mkfifo(ready)
                # the shell ends once the daemon ticks: its name in the FIFO comes after its first turn
                done = self.record("-f", "-e", engine, command=["sh", "-c", f"{DAEMON} 30 {ready}; read pid <{ready}; "
                                                                f"echo $pid; {p.program('spinner')} 1 0.2"])
                pid = int(done.stdout)
                self.addCleanup(os.kill, pid, signal.SIGKILL)
                self.assertEqual(done.returncode, 0)
                self.assertEqual(done.stderr.splitlines()[-1], f"pctally: warning: daemon ({pid}) still runs, unrecorded; record it "
                                 f"to the end with --wait, or now with -p {pid}")

    def test_what_the_library_never_met_is_named_too(self):
        static = p.program("spinner_static")
        for engine in [engine for engine in p.engines() if engine in ("timer", "trap")]:
            with self.subTest(engine):
                done = self.record("-f", "-e", engine, command=["sh", "-c", f"{static} 1 30 >/dev/null 2>&1 & echo $!"])
                pid = int(done.stdout)
                self.addCleanup(os.kill, pid, signal.SIGKILL)
                self.assertRegex(done.stderr.splitlines()[-1], rf"warning: \w+ \({pid}\) still runs, unrecorded")

    def test_containers_out_of_reach_are_named(self):
        for name, engine, text in (("podman", "timer", "podman's containers are not observed by engine timer: use -e ring, or pctally "
                                    "inside them"),
                                   ("docker", "timer", "what docker starts is a daemon's child and not observed: use --cgroup, -p or -a"),
                                   ("podman", "ring", "")):
            if not p.engine_available(engine):
                continue
            tool = os.path.join(self.directory, name)
            shutil.copy(p.program("empty"), tool)
            done = self.record("-f", "-e", engine, command=[tool])
            said = [line for line in done.stderr.splitlines() if "not observed" in line]
            self.assertEqual(said, [f"pctally: warning: {text}"] if text else [], done.stderr)

    def test_nothing_is_said_where_nothing_is_left(self):
        done = self.record(command=["sh", "-c", f"{p.program('spinner')} 1 0.2"])
        self.assertNotIn("still run", done.stderr)

    def test_wait_records_to_the_end_of_the_last(self):
        for engine in p.engines():
            with self.subTest(engine):
                held, system = p.held_s(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_stime
                with p.Machine() as machine:
                    done = self.record("-f", "--wait", "-e", engine, command=["sh", "-c", f"{DAEMON} 0.6; exit 3"])
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertRegex(done.stderr, r"pctally: sh has ended; recording \w+ \(\d+\) until that ends, too; Ctrl-C ends it\n")
                self.assertNotIn("still run", done.stderr)
                data = {**p.report(self.path), "held_s": p.held_s() - held}
                p.assert_ledger(self, data)
                self.assertGreater(data["cpu_s"], 0.55)
                self.assertGreater(p.share_at_most(data, "spin_in_daemon"), 0.7, (data["rows"][:4], data["warnings"]))
                system = resource.getrusage(resource.RUSAGE_CHILDREN).ru_stime - system
                # By ring and bpf a tick finds the program on its CPU or not; beside others timer has too few
                # ticks; trap does not see the kernel.
                allowed = 0.2 * data["cpu_s"] + data["chance_s"] / 1.96 * 4 + p.taken_s(data) + (system if engine == "trap" else 0)
                if engine != "timer" or machine.judges(f"{engine}, what is sampled of a daemon"):
                    self.assertLess(abs(data["unsampled_s"]), allowed)

    def test_one_whose_main_thread_has_ended_still_runs(self):
        """Its command line is empty then, and its state is Z."""
        script = (f"{p.program('ended_main')} %s >/dev/null 2>&1 & while grep -qs '^State:.[RSD]' /proc/$!/status; do :; done; echo $!")
        for engine in p.engines():
            with self.subTest(engine):
                done = self.record("-f", "-e", engine, command=["sh", "-c", script % 60])
                pid = int(done.stdout)
                os.kill(pid, signal.SIGKILL)
                self.assertIn(f"ended_main ({pid}) still runs, unrecorded", done.stderr)
                done = self.record("-f", "--wait", "-e", engine, command=["sh", "-c", script % 0.6])
                self.assertNotIn("still run", done.stderr)
                data = p.report(self.path)
                p.assert_ledger(self, data)
                self.assertGreater(data["cpu_s"], 0.55)

    def test_the_status_is_the_commands_where_its_number_comes_again(self):
        for engine in p.engines():
            done = self.record("-f", "--wait", "-e", engine, command=[p.program("same_number")])
            self.assertEqual(done.returncode, 3, (engine, done.stderr))
            if done.stdout != "again\n":
                self.skipTest("no process may choose its number here")

    def test_what_a_script_has_started_before_is_not_the_commands(self):
        """As an entry point of a container does: job & exec pctally record --wait -- command."""
        for engine in p.engines():
            with self.subTest(engine):
                done, go, ready = (os.path.join(self.directory, f"{engine}.{name}") for name in ("done", "go", "ready"))
                for name in (done, go, ready):
                    os.mkfifo(name)
                script = (f"({p.program('spinner')} 1 0.4; echo >{done}) & (read x <{go}; sleep 1000 & echo >{ready}; wait) & "
                          f"exec {p.PCTALLY} record -f --wait -e {engine} -o {self.path} -- sh -c 'read x <{done}; echo >{go}; read x <{ready}'")
                with subprocess.Popen(["sh", "-c", script], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                      start_new_session=True) as recorder:
                    try:
                        self.assertEqual(recorder.wait(timeout=60), 0)
                    finally:
                        os.killpg(recorder.pid, signal.SIGKILL)
                self.assertLess(p.report(self.path)["cpu_s"], 0.2)

    def test_ctrl_c_ends_the_waiting_cleanly(self):
        for engine in p.engines():
            with self.subTest(engine):
                ready = os.path.join(self.directory, engine)
                os.mkfifo(ready)
                recorder = subprocess.Popen([p.PCTALLY, "record", "-f", "--wait", "-e", engine, "-o", self.path, "--", DAEMON,
                                             "30", ready], stderr=subprocess.PIPE, text=True)
                line = recorder.stderr.readline()
                while "has ended; recording" not in line:
                    self.assertNotEqual(line, "")
                    line = recorder.stderr.readline()
                pid = int(re.search(r"\((\d+)\)", line).group(1))
                self.addCleanup(os.kill, pid, signal.SIGKILL)
                with open(ready) as begun:  # its name comes after its first turn: by then the recorder knows it
                    self.assertEqual(int(begun.read()), pid)
                recorder.send_signal(signal.SIGINT)
                rest = recorder.communicate(timeout=60)[1]
                self.assertEqual(recorder.returncode, 0, rest)
                self.assertRegex(rest, r"pctally: (no ticks|[\d,]+ ticks?)")  # it may have had no tick yet
                self.assertIn(f"daemon ({pid}) still runs", rest)
                os.kill(pid, 0)  # and it lives
                self.assertTrue(p.report(self.path)["wall_s"] < 30)


if __name__ == "__main__":
    p.main()
