"""record -p, -a, --cgroup and --for: what they count, how they end, what they refuse, and that the target is left alone.

Where the whole machine may be observed, a tick finds the target or not: sums are compared within four standard deviations
(a false alarm in 16,000) and 2 %; the target's own CPU clock, read here, is the truth.
"""
import contextlib
import json
import math
import os
import pathlib
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


def users():
    """Who records and is recorded: ourselves (the whole machine, as root) and nobody (each thread)."""
    yield "self", []
    if p.has_other_users():
        yield "nobody", NOBODY
    else:
        print("skipped: an unprivileged user (needs root and setpriv to become one)")


def threads_cpu_s(pid):
    return time.clock_gettime((~pid << 3) | 2)  # the process's CPU clock, as clock_getcpuclockid(3) makes it


def with_children_s(pid):
    """What a process has used, and the children that it has waited for."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return sum(int(field) for field in fields[11:15]) / os.sysconf("SC_CLK_TCK")


class KernelTime:
    """What processes use in the kernel, which an unprivileged user does not see: interrupts, among them those of other recordings."""

    def __init__(self, *processes):
        self.processes, self.tick = processes, 1 / os.sysconf("SC_CLK_TCK")
        self.before = self.used_s()

    def used_s(self):
        return sum(int(pathlib.Path(f"/proc/{process.pid}/stat").read_text("ascii").rpartition(")")[2].split()[12]) * self.tick
                   for process in self.processes)

    def since_s(self):
        """At most: each clock is known to a tick."""
        return self.used_s() - self.before + len(self.processes) * self.tick


def executes(process, program):
    """Or has: a process whose main thread has ended has no link to its program."""
    try:
        return os.readlink(f"/proc/{process.pid}/exe") == os.path.realpath(program)
    except FileNotFoundError:
        return True


@contextlib.contextmanager
def running(command, prefix=()):
    process = subprocess.Popen([*prefix, *command], stdout=subprocess.DEVNULL)
    try:
        while not executes(process, command[0]):
            time.sleep(0.01)
        yield process
    finally:
        process.kill()
        process.wait()


class Attached:
    def __init__(self, options, prefix=(), before_end=None):
        directory = tempfile.mkdtemp(dir=p.scratch())
        os.chmod(p.scratch(), 0o755)
        os.chmod(directory, 0o777)
        self.path = os.path.join(directory, "a.pct")
        engine = [] if "-e" in options or "--event" in options else ["-e", "ring"]
        words = [*prefix, p.PCTALLY, "record", "-o", self.path, *engine, *options]
        self.held_before = p.held_s()
        self.process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)

    def wait_until_armed(self):
        self.wait_until(lambda data: data["command"])

    def wait_until_recording(self):
        self.wait_until(lambda data: data["ticks"] != 0)

    def wait_until(self, true_of):
        while True:
            with contextlib.suppress(AssertionError):  # no file yet, or not a whole one
                if true_of(p.report(self.path)):
                    return
            if self.process.poll() is not None:
                raise RuntimeError(self.process.stderr.read())
            time.sleep(0.02)

    def end(self):
        self.stderr = self.process.communicate()[1]
        self.returncode = self.process.returncode
        self.held_s = p.held_s() - self.held_before
        return self

    def report(self, *options):
        return {**p.report(self.path, *options), "held_s": self.held_s}


def attach(options, prefix=()):
    return Attached(options, prefix).end()


class Attach(unittest.TestCase):
    def assert_account(self, data, share=0.02, unseen_s=0):
        p.assert_ledger(self, data)
        chance = data["chance_s"] / 1.96 * 4
        few = 0.02 + 4 * data["period_ns"] * 1e-9 * os.cpu_count()  # ends of the recording under load
        allowed = share * data["cpu_s"] + unseen_s + chance + few + p.taken_s(data)  # the host's time is charged in part, and never ticks
        self.assertLess(abs(data["unsampled_s"]), allowed, {key: data.get(key) for key in ("cpu_s", "wall_s", "stolen_s", "held_s")})

    def test_a_name_means_to_root_the_processes_of_all_users(self):
        """A server's workers belong to another user than its main process."""
        p.need_other_users(self)
        directory = tempfile.mkdtemp(dir=p.scratch())
        os.chmod(directory, 0o755)
        server = shutil.copy(p.program("spinner"), os.path.join(directory, f"srv{os.getpid()}"))
        with running([server, "1", "30"]) as main, running([server, "1", "30"], NOBODY) as worker:
            name = os.path.basename(server)
            data = attach(["-p", name, "--for", "0.3"]).report()
            self.assertEqual(data["command"], ["@running", *(f"{pid}:{name}" for pid in sorted((main.pid, worker.pid)))], data["command"])
            data = attach(["-p", name, "--for", "0.3"], NOBODY).report()
            self.assertEqual(data["command"], ["@running", f"{worker.pid}:{name}"])

    def test_a_program_whose_file_was_deleted_has_names_and_paths(self):
        """Its path leads nowhere, but its process does."""
        for engine in p.engines("ring", "bpf"):
            for user, prefix in users() if engine == "ring" else [("self", [])]:
                directory = tempfile.mkdtemp(dir=p.scratch())
                os.chmod(directory, 0o755)
                spinner = shutil.copy(p.program("spinner"), directory)
                with self.subTest(engine=engine, user=user), running([spinner, "1", "30"], prefix) as target:
                    os.unlink(spinner)
                    done = attach(["-p", str(target.pid), "-e", engine, "-g", "--for", "0.5"], prefix)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertGreater(p.share_at_most(done.report(), "spin_here"), 0.8)
                    callers = subprocess.run([p.PCTALLY, "report", "--callers", "spin_here", done.path], capture_output=True, text=True)
                    self.assertRegex(callers.stdout, r" spin +spinner +(100|9\d)\.")

    def test_threads_older_and_younger_than_the_attach(self):
        for user, prefix in users():
            with self.subTest(user=user), running([p.program("spinner"), "3", "30"], prefix) as target:
                before, stolen, kernel = threads_cpu_s(target.pid), p.stolen_s(), KernelTime(target)
                done = attach(["-p", str(target.pid), "--for", "1"], prefix)
                used, stolen, unseen = threads_cpu_s(target.pid) - before, p.stolen_s() - stolen, kernel.since_s()
                self.assertEqual(done.returncode, 0, done.stderr)
                data = done.report()
                self.assert_account(data, 0.03, unseen if prefix else 0)
                self.assertGreater(p.share_at_most(data, "spin_here"), 0.8)
                # perf's clock runs on where the host has the CPU. What it took is known to 10 ms of each, and in the profile as of its end.
                self.assertLessEqual(data["cpu_s"], used + 0.01 + max(stolen, p.taken_s(data)) + 0.01 * os.cpu_count())
                self.assertGreater(data["cpu_s"], 0.5 * used)
                self.assertEqual([row["pid"] for row in data["processes"]], [target.pid])
                self.assertEqual(data["command"], ["@running", f"{target.pid}:spinner"])
                self.assertGreater(data["wall_s"], 0.99)

    def test_a_process_whose_main_thread_has_ended(self):
        """Its number leads to a zombie, which has no memory and takes no event."""
        for engine, more in [*((name, []) for name in p.engines("ring", "bpf")), ("ring", ["-g"])]:
            with self.subTest(engine=engine, more=more), running([p.program("ended_main"), "30"]) as target:
                while "\nState:\tZ" not in pathlib.Path(f"/proc/{target.pid}/status").read_text("ascii"):
                    time.sleep(0.01)  # polls another process's doing: there is no event to wait for
                done = attach(["-p", str(target.pid), "--for", "0.6", "-e", engine, *more])
                self.assertEqual(done.returncode, 0, done.stderr)
                data = done.report()
                p.assert_ledger(self, data)
                self.assertGreater(p.share_at_most(data, "spin_on"), 0.8)

    def test_children_started_after_the_attach_are_counted_and_older_ones_not(self):
        script = ("import os, subprocess, sys, time\n"
                  "old = subprocess.Popen([sys.argv[1], '1', '30'])\n"
                  "print('ready', flush=True)\nsys.stdin.readline()\n"
                  "subprocess.run([sys.argv[1], '1', '0.4'])\n"
                  "end, hold = os.pipe()\n"
                  "subprocess.run(['sh', '-c', sys.argv[1] + ' 1 0.3 & exit'], pass_fds=[hold])\n"
                  "os.close(hold); os.read(end, 1)\n"  # its end, although nobody waits for it
                  "print('done', flush=True)\ntime.sleep(60)")
        for user, prefix in users():
            with self.subTest(user=user):
                target = subprocess.Popen([*prefix, sys.executable, "-c", script, p.program("spinner")],
                                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                try:
                    target.stdout.readline()
                    with p.Machine() as machine:
                        recording = Attached(["-p", str(target.pid)], prefix)
                        recording.wait_until_armed()
                        target.stdin.write("\n")
                        target.stdin.flush()
                        target.stdout.readline()
                        recording.process.send_signal(signal.SIGINT)
                        data = recording.end().report()
                finally:
                    children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(target.pid)], capture_output=True)
                    for child in children.stdout.split():
                        os.kill(int(child), signal.SIGKILL)
                    target.kill()
                    target.communicate()
                # An unprivileged user does not see the kernel, which takes more of a busy machine.
                self.assert_account(data, (0.06 if user == "root" else 0.12) * (1 if machine.calm else 2))
                spun = sum(row["ticks"] for row in data["processes"] if row["comm"] == "spinner") * data["period_ns"] * 1e-9
                taken = p.taken_s(data)  # it has no ticks, and whoever starts or ends is charged with it
                self.assertTrue(0.7 - 0.12 - taken < spun < 0.7 + 0.12, (spun, taken))
                self.assertTrue(0.7 - 0.15 < data["cpu_s"] < 0.7 + 0.15 + taken, (data["cpu_s"], taken))

    def test_cpu_time_of_a_process_that_always_has_a_child(self):
        """perf counts no end of a process (Linux 6.18), and one child is older than the attach: /proc has the truth."""
        script = "import os\nwhile True:\n    if os.fork() == 0:\n        os._exit(0)\n    os.wait()\n"
        for user, prefix in users():
            with self.subTest(user=user), running([sys.executable, "-c", script], prefix) as target:
                before = with_children_s(target.pid)
                done = attach(["-p", str(target.pid), "--for", "2"], prefix)
                used = with_children_s(target.pid) - before
                data = done.report()
                # Not counted: the time between two readings in which the older child ended, some 0.1 s, and that of our own start and end.
                self.assertGreater(data["cpu_s"] + p.taken_s(data), 0.85 * used)
                self.assertLess(data["cpu_s"], used + 0.02 + p.taken_s(data))

    def test_two_processes(self):
        for user, prefix in users():
            with self.subTest(user=user), running([p.program("spinner"), "1", "30"], prefix) as one, \
                    running([p.program("known_shares"), "30"], prefix) as two:
                kernel = KernelTime(one, two)
                done = attach(["-p", f"{one.pid},{two.pid}", "--for", "800ms"], prefix)
                unseen = kernel.since_s()
                self.assertEqual(done.returncode, 0, done.stderr)
                data = done.report()
                self.assert_account(data, 0.03, unseen if prefix else 0)
                self.assertEqual(sorted(row["pid"] for row in data["processes"]), sorted([one.pid, two.pid]))
                for row in data["processes"]:
                    self.assertGreater(row["ticks"], 0.1 * data["ticks"])

    def test_signals_end_it_in_order(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number), running([p.program("spinner"), "1", "30"]) as target:
                recording = Attached(["-p", str(target.pid)])
                recording.wait_until_recording()
                recording.process.send_signal(number)
                done = recording.end()
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assert_account(done.report())
                self.assertIsNone(target.poll())

    def test_it_ends_with_its_targets(self):
        with running([p.program("spinner"), "1", "0.7"]) as one, running([p.program("spinner"), "2", "0.6"]) as two:
            done = attach(["-p", f"{one.pid},{two.pid}"])
            self.assertEqual(done.returncode, 0, done.stderr)
            data = done.report()
            self.assert_account(data, 0.05)
            self.assertGreater(data["cpu_s"], 1.0)

    def test_target_is_left_alone(self):
        kept = ("State", "TracerPid", "SigP", "SigB", "SigI", "SigC", "Shd", "Threads", "Cap", "Seccomp", "VmSize", "FDSize")

        def state(pid):
            with open(f"/proc/{pid}/status") as file:
                status = [line for line in file if line.startswith(kept)]
            with open(f"/proc/{pid}/maps") as file:
                return status, file.read(), sorted(os.listdir(f"/proc/{pid}/fd"))
        for user, prefix in users():
            with self.subTest(user=user), running([p.program("spinner"), "2", "30"], prefix) as target:
                while len(os.listdir(f"/proc/{target.pid}/task")) < 3 or "sleeping" not in state(target.pid)[0][0]:
                    time.sleep(0.01)  # until the main thread waits for the two
                before = state(target.pid)
                recording = Attached(["-p", str(target.pid)], prefix)
                recording.wait_until_recording()
                during = state(target.pid)
                recording.process.kill() if user == "self" else recording.process.send_signal(signal.SIGINT)
                recording.end()
                self.assertEqual(before[1:], during[1:])
                self.assertEqual(before[0][1:], during[0][1:])  # all but State, which may be running or runnable
                self.assertEqual(during[1:], state(target.pid)[1:])
                self.assertIsNone(target.poll())

    def test_for_leaves_a_command_running_and_passes_its_status_on(self):
        start = time.monotonic()
        path = os.path.join(p.scratch(), "for.pct")
        words = [p.PCTALLY, "record", "-f", "-o", path, "--for", "0.3", "-e", "ring", "--", "sh", "-c",
                 f"{p.program('spinner')} 1 1.2; exit 7"]
        done = subprocess.run(words, capture_output=True)
        self.assertEqual(done.returncode, 7, done.stderr)
        elapsed = time.monotonic() - start
        self.assertGreater(elapsed, 1.1)
        data = p.report(path)
        p.assert_ledger(self, data)
        self.assertLess(data["wall_s"], elapsed - 0.3)
        self.assertLess(data["cpu_s"], data["wall_s"] + 0.02)
        self.assert_account(data, 0.05)

    def test_whole_machine(self):
        if os.geteuid() != 0:
            self.skipTest("the whole machine is root's to observe")
        pid = 0

        def take():
            nonlocal pid
            with running([p.program("spinner"), "1", "30"]) as target:
                pid = target.pid
                return attach(["-a", "--for", "2"])

        data = take().report()
        self.assert_account(data)
        self.assertEqual(data["command"], ["@machine"])
        self.assertGreater(max(row["ticks"] for row in data["processes"] if row["pid"] == pid), 100)


class Trees(unittest.TestCase):
    """sampled + lost + unsampled = cpu also for what nobody waits for."""

    def recorded(self, script):
        if os.geteuid() != 0:
            self.skipTest("the whole machine is root's to observe")
        for engine in p.engines("bpf", "ring"):
            _, data, stolen = p.record_and_stolen(lambda: p.record(["sh", "-c", script], "-e", engine))
            p.assert_ledger(self, data)
            chance = data["chance_s"] / 1.96 * 4
            self.assertGreater(data["chance_s"], 0)
            self.assertLess(abs(data["unsampled_s"]), 0.01 * data["cpu_s"] + chance + 0.02 + stolen, (engine, script))
        return data, stolen  # where the host stole as much as a daemon used, the command's own time is taken for all

    def test_disowned_child(self):
        spinner = p.program("spinner")
        data, stolen = self.recorded(f"{spinner} 1 0.5 & sleep 1.5; exit 0")
        self.assertGreater(data["cpu_s"] + stolen, 0.1)  # what it gets beside others in that time; the shell uses next to nothing

    def test_double_fork(self):
        spinner = p.program("spinner")
        data, stolen = self.recorded(f"(({spinner} 1 0.5 &) &); {spinner} 1 0.5; sleep 1")
        self.assertGreater(data["cpu_s"] + stolen, 0.6)

    def test_daemon_that_outlives_the_command(self):
        spinner = p.program("spinner")
        pidfile = os.path.join(p.scratch(), "daemon.pid")
        data, stolen = self.recorded(f"setsid sh -c 'echo $$ >> {pidfile}.all; exec {spinner} 1 30' >/dev/null 2>&1 & "
                             f"{spinner} 1 0.6; exit 0")  # as much again, or what it gets beside others
        with open(pidfile + ".all") as file:
            for line in file:
                os.kill(int(line), signal.SIGKILL)
        self.assertGreater(data["cpu_s"] + stolen, 0.65)
        self.assertEqual(2, len([row for row in data["processes"] if row["comm"] == "spinner"]))


class Refusals(unittest.TestCase):
    def refused(self, options, *words, prefix=(), code=125):
        done = attach([*options, "--for", "0.1"], prefix)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertFalse(os.path.exists(done.path))

    def test_no_such_process(self):
        self.refused(["-p", "999999999"], "process 999999999 does not exist; it may have ended")

    def test_a_name_means_the_processes_that_live(self):
        """One of them that had ended, and was not waited for, refused the recording of all."""
        spinner = shutil.copy(p.program("spinner"), os.path.join(p.scratch(), f"srv{os.getpid()}"))
        name = os.path.basename(spinner)
        ended = subprocess.Popen([spinner, "1", "0"])
        self.addCleanup(ended.wait)
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        with running([spinner, "1", "30"]) as living:
            done = attach(["-p", name, "--for", "0.3"])
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.report()["command"], ["@running", f"{living.pid}:{name}"])
            self.refused(["-p", f"{name},{ended.pid}"], f"process {ended.pid} has ended, and its parent has not asked how")
        self.refused(["-p", name], f"process {ended.pid} has ended, and its parent has not asked how")

    def test_a_thread(self):
        with running([p.program("spinner"), "2", "20"]) as target:
            while len(os.listdir(f"/proc/{target.pid}/task")) < 3:
                time.sleep(0.02)
            thread = next(name for name in os.listdir(f"/proc/{target.pid}/task") if int(name) != target.pid)
            self.refused(["-p", str(thread)], f"thread of process {target.pid}")

    def test_another_users_process(self):
        p.need_other_users(self)
        with running([p.program("spinner"), "1", "20"]) as target:
            self.refused(["-p", str(target.pid)], "belongs to root; run as root", prefix=NOBODY)

    def test_whole_machine_unprivileged(self):
        p.need_other_users(self)
        self.refused(["-a"], "-a needs root, CAP_PERFMON or perf_event_paranoid 0", prefix=NOBODY)

    def test_control_groups(self):
        for path in ("nonexistent", "/", "//", tempfile.mkdtemp(dir=p.scratch())):
            self.refused(["--cgroup", path], f"'{path}' is no control group", code=2)

    def test_only_a_program_can_be_entered(self):
        self.refused(["-p", str(os.getpid()), "-e", "timer"], "pctally record --", code=2)

    def test_too_many_threads_for_the_descriptors(self):
        p.need_other_users(self)
        limit = ["prlimit", "--nofile=64:64", *NOBODY]
        with running([p.program("spinner"), "100", "20"], NOBODY) as target:
            while len(os.listdir(f"/proc/{target.pid}/task")) < 100:
                time.sleep(0.02)
            self.refused(["-p", str(target.pid)], "ulimit -n", prefix=limit)

    def test_wrong_command_lines(self):
        for words in (["-p", ""], ["-p", ","], ["-p", "1", "2"], ["-p", "1", "-a"], ["-a", "--", "true"], ["--for", "1"],
                      ["--for", "x", "true"], ["--cgroup", "a", "-a"]):
            done = subprocess.run([p.PCTALLY, "record", *words], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, words)
            self.assertEqual(len(done.stderr.splitlines()), 1, words)


class ControlGroups(unittest.TestCase):
    def run_in(self, version):
        path = os.path.join(p.scratch(), f"group{version}.pct")
        held = p.held_s()
        done = p.beside_control_group(
            self, version, f"{p.PCTALLY} record -q -f -o {path} -e ring --cgroup $GROUP --for 1")
        self.assertEqual(done.returncode, 0, done.stderr)
        data = {**p.report(path), "held_s": p.held_s() - held}
        p.assert_ledger(self, data)
        self.assertEqual({row["comm"] for row in data["processes"]}, {"spinner"})
        self.assertGreater(p.share_at_most(data, "spin_here"), 0.8)
        return data

    def test_a_relative_name(self):
        """It is that of the group itself, wherever we stand."""
        version = p.control_group_version()
        path = os.path.join(p.scratch(), "relative.pct")
        done = p.beside_control_group(self, version or 2, f"cd $GROUP && {p.PCTALLY} record -f --scope cgroup -o {path} -e ring --cgroup . --for 0.3; "
                                      "s=$?; cd /; (exit $s)")
        self.assertEqual(done.returncode, 0, done.stderr)
        data = p.report(path)
        self.assertTrue(data["command"][-1].endswith(f"/pctally-test-{os.getpid()}"), data["command"])
        names = json.loads(subprocess.run([p.PCTALLY, "report", "--json", "--by", "cgroup", path], capture_output=True).stdout)
        self.assertIn(f"pctally-test-{os.getpid()}", json.dumps(names["rows"]))

    def test_the_name_in_a_report(self):
        """"/a/b", as /proc/PID/cgroup and --by cgroup have it."""
        version = p.control_group_version()
        path = os.path.join(p.scratch(), "named.pct")
        done = p.beside_control_group(
            self, version or 2, f"mount --bind ${{GROUP%/*}} /sys/fs/cgroup && {p.PCTALLY} record -f -o {path} -e ring "
            "--cgroup /${GROUP##*/} --for 0.3; s=$?; umount /sys/fs/cgroup; (exit $s)")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({row["comm"] for row in p.report(path)["processes"]}, {"spinner"})

    def test_a_version_2(self):  # before version 1 takes the controller
        data = self.run_in(2)
        if data["cpu_s"] is not None:
            self.assertLess(abs(data["unsampled_s"]), 0.02 * data["cpu_s"] + 0.03 + p.taken_s(data))

    def test_b_version_1(self):
        self.run_in(1)


if __name__ == "__main__":
    p.main()
