"""What is seen: threads, children, libraries loaded later, code without a file; and what is not is named."""
import os
import resource
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p


class Reach(unittest.TestCase):
    def test_library_loaded_later_is_named(self):
        for engine in p.engines():
            data = p.record([p.program("loader"), p.program("plugin.so"), "0.6"], "-e", engine).report()
            p.assert_ledger(self, data)
            self.assertGreater(p.share_at_most(data, "plugin_work"), 0.35, engine)
            self.assertGreater(p.share_at_most(data, "own_work"), 0.15, engine)

    def test_code_without_a_file_is_named_by_its_map(self):
        for engine in p.engines():
            done = p.record([p.program("jit"), "0.6"], "-e", engine)
            if done.returncode == 77:
                self.skipTest("no machine code for this machine in programs/jit.c")
            data = done.report()
            p.assert_ledger(self, data)
            self.assertGreater(p.share_at_most(data, "jitted_loop"), 0.6, engine)
            self.assertEqual(data["outside"], 0)

    def test_masked_thread_is_seen_by_ring(self):
        if not p.engine_available("ring"):
            self.skipTest("engine ring is not available")
        data = p.record([p.program("threads_masked"), "1"], "-e", "ring").report()
        masked, unmasked = p.share_of(data, "spin_masked"), p.share_of(data, "spin_open")
        # Of their own: beside busy programs 0.1 is the kernel's. What the host takes of one has no ticks.
        self.assertAlmostEqual(masked / (masked + unmasked), 0.5, delta=0.07 + p.stolen_share(data))

    def test_sigprof_stays_the_programs_own(self):
        """A program with a profiling timer of its own gets its signals as without us: not twice as many, and not half. (The
        kernel counts its time by whole kernel ticks: beside busy programs it has twice as many in one run as in the next.)"""
        script = ("import signal, time\nn = [0]\nsignal.signal(signal.SIGPROF, lambda *a: n.__setitem__(0, n[0] + 1))\n"
                  "signal.setitimer(signal.ITIMER_PROF, .01, .01)\n"
                  "while time.process_time() < 0.45: pass\n"
                  "signal.setitimer(signal.ITIMER_PROF, 0)\nprint(n[0])")
        with p.Machine() as alone:
            bare = int(subprocess.run([sys.executable, "-c", script], capture_output=True).stdout)
        for engine in p.engines():
            with p.Machine() as machine:
                done = p.record([sys.executable, "-c", script], "-e", engine)
            self.assertEqual(done.returncode, 0)
            self.assertGreater(int(done.stdout), 0)
            if alone.judges("signals of a program's own timer") and machine.judges(f"{engine}, the same"):
                self.assertAlmostEqual(int(done.stdout), bare, delta=0.5 * bare)
                data = done.report()
                self.assertGreater(p.sampled_at_most(data), 0.85 * data["cpu_s"])


class SlowStart(unittest.TestCase):
    """Programs with hundreds of libraries (ffmpeg, octave): their start takes long, and their texts need more room than a new file has."""

    def record(self, engine, script, *options, **variables):
        env = {**os.environ, "SLOW": p.program("slow_start.so"), "SPINNER": p.program("spinner"), **variables}
        return p.record(["sh", "-c", script], "-e", engine, *options, env=env, quiet=False)

    def test_is_counted_after_every_call_that_executes_a_program(self):
        """The older image was there for more than twice the 64 ms up to which its ticks say what it used. The slow constructor runs in both."""
        for how in ("execv", "execve", "execvp", "execvpe", "execl", "execlp", "execle", "fexecve", "execveat"):
            with self.subTest(how=how):
                done = self.record("timer", f'export SLOW_START_S=0.15 LD_PRELOAD="$LD_PRELOAD:$SLOW"; exec "$EXECUTER" {how} "$SPINNER" 1 0.01',
                                   EXECUTER=p.program("executer"))
                if done.returncode == 77:
                    continue
                self.assertEqual(done.returncode, 0, done.stderr)
                data = done.report()
                p.assert_ledger(self, data)
                self.assertGreaterEqual(p.ticks_of(data, "[process start]") * data["period_ns"], 0.28e9, (data["rows"][:3], data["warnings"]))

    def test_is_counted_after_exec_and_has_no_reason(self):
        for engine in p.engines("timer", "trap"):
            done = self.record(engine, 'SLOW_START_S=0.4 LD_PRELOAD="$LD_PRELOAD:$SLOW" exec "$SPINNER" 1 0.2')
            self.assertEqual(done.returncode, 0, done.stderr)
            data = done.report()
            p.assert_ledger(self, data)
            self.assertGreaterEqual(p.ticks_of(data, "[process start]") * data["period_ns"], 0.39e9, (engine, data["rows"][:3], data["warnings"]))
            self.assertEqual([row for row in data["processes"] if row["note"] or not row["engine"]], [], engine)
            self.assertNotIn("not-observed", [warning["id"] for warning in data["warnings"]], engine)
            # The start is read off a clock: 400 ticks, and no sample among the 50 (timer) or 200 (trap). A
            # timer's tick that the host held back weighs as much as the time it took of the 0.2 s.
            held = min(1, p.taken_s(data) / 0.2)
            due = 1 / (held ** 2 + (1 - held) ** 2 / data["samples"])
            self.assertGreater(data["effective_samples"], due / 4, engine)

    def test_an_end_that_takes_long_is_sampled(self):
        """Destructors of a library that the program links, which run after a preloaded one's."""
        for engine in p.engines("timer", "trap"):
            done = self.record(engine, 'SLOW_END_S=0.4 LD_PRELOAD="$LD_PRELOAD:$SLOW" exec "$SPINNER" 1 0.01')
            self.assertEqual(done.returncode, 0, done.stderr)
            data = done.report()
            p.assert_ledger(self, data)
            self.assertGreater(p.share_at_most(data, "turn_at_end"), 0.8, (engine, data["warnings"]))
            self.assertEqual([row for row in data["processes"] if row["note"] or not row["engine"]], [], engine)

    def test_of_much_text_does_not_take_the_room_of_ticks(self):
        for engine in p.engines("timer", "trap"):
            for options in ([], ["-g"]):
                name = os.path.join(p.scratch(), "text.bin")
                system = resource.getrusage(resource.RUSAGE_CHILDREN).ru_stime
                with p.Machine() as machine:
                    done = self.record(engine, f'SLOW_START_TEXT={name} LD_PRELOAD="$LD_PRELOAD:$SLOW" exec "$SPINNER" 1 0.4', *options)
                system = resource.getrusage(resource.RUSAGE_CHILDREN).ru_stime - system
                self.assertEqual(done.returncode, 0, done.stderr)
                os.unlink(name)
                data = done.report()
                p.assert_ledger(self, data)
                self.assertEqual(data["full"], 0, (engine, options))
                self.assertLess(data["outside"], 0.05 * data["ticks"], (engine, options))
                # Beside others timer has too few ticks; trap does not see the kernel.
                if engine == "trap" or machine.judges(f"{engine}, what follows a start of much text"):
                    unseen = min(system, 0.1) if engine == "trap" else 0
                    self.assertGreater(p.seconds_at_most(data, "spin_here") + unseen, 0.3)
                if options:
                    self.assertGreater(data["paths"]["complete"], 0.9 * data["ticks"], (engine, data["paths"]))


class Children(unittest.TestCase):
    """However a child is made, and wherever; and whatever it executes."""

    def test_exec_chain_survives_and_is_counted(self):
        chain = "env nice " * 40
        for engine in p.engines():
            system = resource.getrusage(resource.RUSAGE_CHILDREN).ru_stime
            with p.Machine() as machine:
                done = p.record(["sh", "-c", f"exec {chain} {p.program('spinner')} 1 0.3"], "-e", engine)
            system = resource.getrusage(resource.RUSAGE_CHILDREN).ru_stime - system
            self.assertEqual(done.returncode, 0, done.stderr)
            data = done.report()
            # Beside others timer has too few ticks; trap does not see the kernel.
            unseen = min(system, 0.1) if engine == "trap" else 0
            if engine != "timer" or machine.judges("timer, a chain of programs"):
                self.assertGreater(p.seconds_at_most(data, "spin_here") + unseen, 0.8 * 0.3, engine)
            self.assertFalse([row for row in data["processes"] if row["note"] or not row["engine"]], engine)

    def test_children_of_every_kind_are_counted(self):
        for engine in p.engines():
            for how in ("fork", "vfork", "spawn"):
                with p.Machine() as machine:
                    data = p.record([p.program("forker"), how, "10", "25"], "-e", engine).report()
                p.assert_ledger(self, data)
                if engine in ("bpf", "ring") or machine.judges(f"{engine}, children by {how}"):
                    self.assertGreater(p.seconds_at_most(data, "burn"), 0.6 * 0.25, (engine, how))  # the rest reads its clock
                    self.assertGreater(p.sampled_at_most(data), 0.85 * data["cpu_s"], (engine, how))
                self.assertGreaterEqual(len(data["processes"]), 10)

    def test_the_time_of_children_that_nobody_waits_for_is_known(self):
        """wait4(2) has none of it where SIGCHLD is ignored."""
        script = ("import os, signal, sys\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
                  "for _ in range(2): os.spawnv(os.P_NOWAIT, sys.argv[1], [sys.argv[1], '1', '0.3'])\n"
                  "try: os.wait()\nexcept ChildProcessError: pass\n")
        ends = ("import os, signal, time\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
                "for _ in range(2):\n  if os.fork() == 0:\n    while time.process_time() < 0.3: pass\n    os._exit(0)\n"
                "try: os.wait()\nexcept ChildProcessError: pass\n")
        for engine in p.engines():
            for words in ([script, p.program("spinner")], [ends]):
                data = p.record([sys.executable, "-c", *words], "-e", engine).report()
                p.assert_ledger(self, data)
                self.assertGreater(data["cpu_s"] + p.taken_s(data), 0.5, (engine, words))

    def test_a_child_that_fork_has_not_made_is_sampled_or_named(self):
        for how in ("syscall", "calls", "clone", "nested"):
            for engine in p.engines("timer", "trap"):
                with p.Machine() as machine:
                    done = p.record([p.program("bare_fork"), how, "0.4"], "-e", engine)
                if done.returncode == 77:
                    self.skipTest("this machine gives no new pid namespace")
                data = done.report()
                p.assert_ledger(self, data)
                notes = [row["note"] for row in data["processes"] if "made by vfork, _Fork or a bare clone(2)" in row["note"]]
                if how in ("clone", "nested"):
                    self.assertTrue(notes, (how, engine, data["processes"]))
                    self.assertGreater(data["unsampled_s"], 0.35)
                elif machine.judges(f"{engine}, {how}"):
                    self.assertEqual(notes, [], (how, engine))
                    self.assertGreater(p.share_at_most(data, "spin_forked"), 0.7, (how, engine))
                    least = 0.7 if engine == "trap" else 0.85  # it leaves the kernel's code out
                    self.assertGreater(p.sampled_at_most(data), least * data["cpu_s"], (how, engine))

    def test_a_child_that_fork_has_not_made_exits_and_its_parent_is_sampled_on(self):
        for engine in p.engines("timer", "trap"):
            for options in ([], ["--no-children"]):
                with p.Machine() as machine:
                    data = p.record([p.program("bare_fork"), "exits", "0.4"], "-e", engine, *options).report()
                p.assert_ledger(self, data)
                self.assertEqual([row["note"] for row in data["processes"] if row["engine"]], [""], (engine, options, data["processes"]))
                if machine.judges(f"{engine}, exits"):
                    self.assertGreater(p.sampled_at_most(data), (0.7 if engine == "trap" else 0.85) * data["cpu_s"], (engine, options))

    def test_a_child_is_entered_once(self):
        """Also where another library's handler of fork(2) calls what is ours before our own handler."""
        for engine in p.engines("timer", "trap"):
            env = {**os.environ, "LD_PRELOAD": p.program("forks_loudly.so")}
            data = p.record([p.program("forker"), "fork", "3", "20"], "-e", engine, env=env).report()
            p.assert_ledger(self, data)
            pids = [row["pid"] for row in data["processes"] if row["comm"] == "forker"]
            self.assertEqual(sorted(set(pids)), sorted(pids), engine)


class Namespaces(unittest.TestCase):
    """Children in a pid namespace, and where /proc is of another one."""

    def test_a_pid_namespace_is_no_reason_to_be_called_unobserved(self):
        if subprocess.run(["unshare", "-Urpf", "--mount-proc", "true"], capture_output=True).returncode != 0:
            self.skipTest("this machine gives no new pid namespace")
        for engine in p.engines():
            with p.Machine() as machine:
                done = p.record(["unshare", "-Urpf", "--mount-proc", p.program("spinner"), "1", "0.5"], "-e", engine, quiet=False)
            data = done.report()
            p.assert_ledger(self, data)
            if engine in ("bpf", "ring") or machine.judges(f"{engine}, in a pid namespace"):
                self.assertGreater(p.share_at_most(data, "spin_here"), 0.7, engine)
            self.assertNotIn("not observed", done.stderr.decode(), engine)
            self.assertNotIn("still run", done.stderr.decode(), engine)
            said = [warning["text"] for warning in data["warnings"] if "spinner" in warning["text"]]
            self.assertEqual(said, [], engine)

    def test_a_child_is_sampled_where_proc_is_of_another_namespace_or_missing(self):
        """A sandbox forks behind unshare(CLONE_NEWPID) or chroot(2): its threads' numbers are not those of /proc, or there is none."""
        for where in ("pids", "root"):
            for engine in p.engines() if where == "root" else p.engines("timer", "trap"):
                with p.Machine() as machine:
                    done = p.record([p.program("forks_inside"), where, "0.3"], "-e", engine, quiet=False)
                if done.returncode == 77:
                    self.skipTest("this machine gives no new pid namespace or no chroot")
                data = done.report()
                p.assert_ledger(self, data)
                self.assertNotIn("not observed", done.stderr.decode(), (where, engine))
                if engine in ("bpf", "ring") or machine.judges(f"{engine}, {where}"):
                    self.assertGreater(p.sampled_at_most(data), 0.85 * data["cpu_s"], (where, engine))
                    self.assertGreater(p.share_at_most(data, "spin_inside"), 0.7, (where, engine))

    def test_a_child_has_its_parents_number(self):
        """Process 1 of a namespace, whose child is process 1 of another: what the parent's threads had is none of the child's."""
        if subprocess.run(["unshare", "-Urpf", "--mount-proc", p.program("forks_inside"), "pids", "0"]).returncode != 0:
            self.skipTest("this machine gives no new pid namespace")
        for engine in p.engines("timer", "trap"):
            with p.Machine() as machine:
                data = p.record(["unshare", "-Urpf", "--mount-proc", p.program("forks_inside"), "pids", "0.3"], "-e", engine).report()
            p.assert_ledger(self, data)
            if machine.judges(f"{engine}, process 1 of process 1"):
                self.assertGreater(p.sampled_at_most(data), 0.8 * data["cpu_s"], engine)
                self.assertGreater(p.share_at_most(data, "spin_inside"), 0.7, engine)
            done = p.record(["unshare", "-Urpf", "--mount-proc", p.program("clones_inside"), "150"], "-e", engine)
            self.assertEqual((done.returncode, done.stdout), (0, b"0 hung\n"), (engine, done.stderr))

    def test_a_library_loaded_later_is_named_in_a_pid_namespace(self):
        """Where the number by which a process knows itself is another process's for the recorder."""
        if subprocess.run(["unshare", "-Urpf", "true"], capture_output=True).returncode != 0:
            self.skipTest("this machine gives no new pid namespace")
        for engine in p.engines("timer", "trap"):
            with p.Machine() as machine:
                data = p.record(["unshare", "-Urpf", p.program("loader"), p.program("plugin.so"), "0.6"], "-e", engine).report()
            p.assert_ledger(self, data)
            if machine.judges(f"{engine}, a library in a pid namespace"):
                self.assertGreater(p.share_at_most(data, "plugin_work"), 0.35, engine)


class Unobserved(unittest.TestCase):
    """Programs that an engine does not enter are named, and seen from outside."""

    def unobserved(self, command, words):
        done = p.record(command, "-e", "timer", quiet=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(words, done.stderr.decode())
        data = done.report()
        p.assert_ledger(self, data)
        rows = [row for row in data["processes"] if row["note"]]
        self.assertTrue(rows and words in rows[0]["note"], data["processes"])
        return data

    def test_another_users_program_is_named(self):
        """A container's entrypoint gives up its user and executes the program: the recording is not for that one."""
        p.need_other_users(self)
        another = p.as_user()
        os.chmod(p.scratch(), 0o755)
        spinner = shutil.copy(p.program("spinner"), os.path.join(p.scratch(), "of_another"))
        for engine in p.engines("timer", "trap"):
            done = p.record([*another, spinner, "1", "0.6"], "-e", engine, quiet=False)
            data = done.report()
            p.assert_ledger(self, data)
            self.assertRegex(done.stderr.decode(), r": 1 process was not observed \(of_another, over \d\.\d\d s\): "
                             r"runs as another user; use: gosu USER pctally record -- CMD, or -e ring\n")
            if data["ticks"] > 0:  # of setpriv's own start; else the reason alone is said. The time is what was seen last of the process
                self.assertRegex(done.stderr.decode(), "processes that were not observed\n|: unobserved processes, ")
            self.assertNotIn("took the signal", done.stderr.decode())
            self.assertGreater(data["unsampled_s"], 0.5)
            rows = [row for row in data["processes"] if row["note"]]
            self.assertEqual([row["comm"] for row in rows], ["of_another"])

    def test_a_user_given_up_without_exec_goes_on_being_seen(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to become another user")
        script = "import os, time\nos.setuid(65534)\nwhile time.process_time() < 0.8: pass"
        with p.Machine() as machine:
            data = p.record([sys.executable, "-c", script], "-e", "timer").report()
        p.assert_ledger(self, data)
        self.assertGreater(p.sampled_at_most(data), (0.85 if machine.calm else 0.5) * data["cpu_s"])
        self.assertFalse([row for row in data["processes"] if row["note"]], data["processes"])

    def test_static_program_is_named_unobserved(self):
        data = self.unobserved([p.program("spinner_static"), "1", "0.3"], "static")
        self.assertGreater(data["unsampled_s"], 0.25)

    def test_a_static_program_whose_parent_has_ended_is_named(self):
        """Nobody waits for it, so its CPU time is in no account but its row's."""
        done = p.record(["sh", "-c", f"({p.program('spinner_static')} 1 0.5 &) | cat"], "-e", "timer", quiet=False)
        rows = [row for row in done.report()["processes"] if row["comm"] == "spinner_static"]
        self.assertTrue(rows and "static" in rows[0]["note"], done.report()["processes"])
        self.assertIn(b"1 process was not observed", done.stderr)
        self.assertNotIn(b"all accounted for", done.stderr)

    def test_static_program_is_seen_by_ring(self):
        if not p.engine_available("ring"):
            self.skipTest("engine ring is not available")
        data = p.record([p.program("spinner_static"), "1", "0.5"], "-e", "ring").report()
        self.assertGreater(p.share_at_most(data, "spin_here"), 0.8)

    def test_musl_program_is_named_and_runs(self):
        if shutil.which("musl-gcc") is None:
            self.skipTest("musl-gcc is not installed")
        path = os.path.join(p.scratch(), "musl_hello")
        source = os.path.join(p.scratch(), "hello.c")
        with open(source, "w") as file:
            file.write("int main(void) { return 0; }")
        subprocess.run(["musl-gcc", "-o", path, source], check=True)
        self.unobserved([path], "musl")

    def test_other_word_size_is_named_and_runs(self):
        path = os.path.join(p.scratch(), "m32")
        source = os.path.join(p.scratch(), "m32.c")
        with open(source, "w") as file:
            file.write("int main(void) { return 0; }")
        if subprocess.run(["gcc", "-m32", "-o", path, source], capture_output=True).returncode != 0:
            self.skipTest("gcc -m32 does not work here")
        try:
            subprocess.run([path], check=True)
        except OSError:
            self.skipTest("the kernel runs no 32-bit programs here")
        self.unobserved([path], "word size")

    def test_library_is_inert_in_privileged_programs(self):
        """AT_SECURE: a setuid program of another user ignores everything of ours."""
        p.need_other_users(self)
        path = os.path.join(p.scratch(), "setuid_spinner")
        shutil.copy(p.program("spinner"), path)
        os.chown(path, 65534, 65534)
        os.chmod(path, 0o4755)
        os.chmod(p.scratch(), 0o755)
        done = p.record([path, "1", "0.2"], "-e", "timer", quiet=False)
        self.assertEqual(done.returncode, 0)
        self.assertIn("setuid", done.stderr.decode())
        self.assertEqual(done.report()["counted"], 0)

    def test_cleaned_environment_is_named(self):
        done = p.record(["env", "-i", p.program("spinner"), "1", "0.8"], "-e", "timer")
        data = done.report()
        p.assert_ledger(self, data)
        self.assertGreater(data["unsampled_s"], 0.25)
        self.assertTrue(any(row["note"] for row in data["processes"]), data["processes"])

    def test_unreachable_child_gets_a_row_with_the_reason(self):
        done = p.record(["sh", "-c", f"{p.program('spinner_static')} 1 0.8; true"], "-e", "timer")
        rows = [row for row in done.report()["processes"] if row["note"]]
        self.assertTrue(rows and "static" in rows[0]["note"], done.report()["processes"])

    def test_a_child_that_ends_soon_has_its_reason_too(self):
        """Seen once while it runs: its file or its environment says enough. Two of three, as a busy machine may not run the recorder in time."""
        for engine in p.engines("timer", "trap"):
            for command, words in ((p.program("spinner_static"), "statically linked"), ("env -i " + p.program("spinner"), "LD_PRELOAD or environment")):
                named = 0
                with p.Machine() as machine:
                    for _ in range(3):
                        done = p.record(["sh", "-c", f"{command} 1 0.08; true"], "-e", engine)
                        named += any(words in row["note"] for row in done.report()["processes"])
                if machine.judges(f"{engine}, {command}: that the recorder comes in time"):
                    self.assertGreaterEqual(named, 2, (engine, command))


if __name__ == "__main__":
    p.main()
