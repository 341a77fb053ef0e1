"""Engines that run in the program: the program lives on, its clock is its own, and what is not seen is stated."""
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

SYS_RT_SIGSUSPEND = "130"  # on x86-64


def inside():
    return p.engines("timer", "trap")


class Inside(unittest.TestCase):
    def test_totals_and_names(self):
        for engine in inside():
            with p.Machine() as machine:
                data = p.record([p.program("spinner"), "4", "0.25"], "-e", engine).report()
            p.assert_ledger(self, data)
            self.assertEqual(data["engine"], engine)
            self.assertEqual({row["engine"] for row in data["processes"]}, {engine})
            if machine.judges("that nearly all of four threads is sampled"):  # which wait for each other's CPUs
                self.assertGreater(p.sampled_at_most(data), 0.85 * data["cpu_s"], engine)
            self.assertGreater(p.share_at_most(data, "spin_here"), 0.8, engine)

    def test_the_programs_cpu_clock_stays_fine(self):
        for engine in inside():
            step_us = float(p.record([p.program("cpu_clock"), "0.4"], "-e", engine).stdout)
            print(f"{engine}: nine of ten steps of the process's CPU clock below {step_us} us", flush=True)
            self.assertLess(step_us, 200)

    def test_the_old_name_of_timer_is_accepted(self):
        done = p.record([p.program("spinner"), "1", "0.1"], "-e", "thread-timer")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.report()["engine"], "timer")


class Names(unittest.TestCase):
    """A program may define what it likes under names that are POSIX's and not ISO C's: read(), open(), close()."""

    def setUp(self):
        bare = subprocess.run([p.program("own_names"), "0.01"], capture_output=True)
        if bare.returncode != 0:
            self.skipTest("this C library calls the program's functions itself")

    def test_functions_of_the_program_are_not_called(self):
        for engine in inside():
            for options in ((), ("-g",)):
                done = p.record([p.program("own_names"), "0.2"], "-e", engine, *options)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"none was called\n", b""), (engine, options))
                data = done.report()
                p.assert_ledger(self, data)
                self.assertEqual({row["engine"] for row in data["processes"]}, {engine})
                self.assertGreater(p.share_at_most(data, "work"), 0.8, (engine, options))

    def test_nor_are_those_of_a_library_of_its(self):
        """It calls its syscall(), which the dynamic linker binds to ours: that calls the library's."""
        for engine in inside():
            done = p.record([p.program("emulated"), "0.2"], "-e", engine)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"5\n", b""), engine)
            data = done.report()
            p.assert_ledger(self, data)
            self.assertGreater(p.sampled_at_most(data), 0.5 * data["cpu_s"], engine)

    def test_nor_by_the_library(self):
        for engine in inside():
            path = os.path.join(tempfile.mkdtemp(dir=p.scratch()), "a.pct")
            done = subprocess.run([p.program("own_names_library"), "0.2", path, engine], capture_output=True)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"none was called\n", b""), engine)
            self.assertGreater(p.share_at_most(p.report(path), "work"), 0.8, engine)


def most_sampled(machine):
    """Of the CPU time, of programs that end at once: beside others the kernel starts them at its ticks."""
    return 1.2 if machine.calm else 1.6


class Short(unittest.TestCase):
    """Programs, children and threads that end at once."""

    def test_exec_chains(self):
        chain = "env nice " * 40
        for engine in inside():
            for _ in range(p.scale(1)):
                done = p.record(["sh", "-c", f"exec {chain} true"], "-e", engine, "-c", "100us")
                self.assertEqual(done.returncode, 0, (engine, done.stderr))

    def test_children_shorter_than_a_kernel_tick_are_counted_on_the_average(self):
        """Each that a kernel tick falls into counts for one that none does: about 450 of 600, so that chance is 4 %. A third and
        not all: beside a neighbour ticks come at other distances."""
        with p.Machine() as machine:
            data = p.record([p.program("forker"), "fork", "600", "3"], "-e", "timer").report()
        p.assert_ledger(self, data)
        self.assertLess(data["sampled_s"], most_sampled(machine) * data["cpu_s"])
        if machine.judges("children shorter than a kernel tick"):
            self.assertGreater(p.sampled_at_most(data), 0.33 * data["cpu_s"])
            self.assertGreater(p.share_at_most(data, "burn") * p.sampled_at_most(data), 0.8 * 600 * 0.003)

    def test_what_a_process_uses_before_the_engine_is_in_it_is_counted(self):
        """Half of the CPU time of so short programs. Known, not sampled; the ticks of burn are a binomial of 1 in 8 for 200
        kernel ticks' worth, with a standard deviation of 5 % of the whole."""
        for how in ("spawn", "vfork"):
            with p.Machine() as machine:
                data = p.record([p.program("forker"), how, "400", "0.5"], "-e", "timer").report()
            p.assert_ledger(self, data)
            self.assertGreater(p.share_at_most(data, "[process start]"), 0.2, how)
            self.assertLess(data["sampled_s"], most_sampled(machine) * data["cpu_s"], how)
            if machine.judges(f"short programs by {how}"):
                self.assertGreater(p.sampled_at_most(data), 0.6 * data["cpu_s"], how)

    def test_nothing_is_counted_twice_over_fork_and_exec(self):
        """A shell's children tick, and then become another program. Of 300 by `timer` a standard deviation is 5 %; `trap` is exact."""
        loop = "i=0; while [ $((i+=1)) -le %d ]; do (j=0; while [ $((j+=1)) -le 2000 ]; do :; done; exec true); done"
        for engine in inside():
            with p.Machine() as machine:
                data = p.record(["sh", "-c", loop % (300 if engine == "timer" else 100)], "-e", engine).report()
            p.assert_ledger(self, data)
            self.assertLess(data["sampled_s"], most_sampled(machine) * data["cpu_s"], engine)
            if engine == "timer" and machine.judges("a shell's children by timer"):
                self.assertGreater(p.sampled_at_most(data), 0.7 * data["cpu_s"])

    def test_a_shell_that_execs_after_hundreds_of_children_is_counted_once(self):
        """As build scripts and configure do: the shell's own record is behind those of its children. Half of the time is its own."""
        script = "i=0; while [ $((i+=1)) -le 300000 ]; do :; done; i=0; while [ $((i+=1)) -le 300 ]; do (:); done; exec true"
        with p.Machine() as machine:
            data = p.record(["sh", "-c", script], "-e", "timer").report()
        p.assert_ledger(self, data)
        if machine.judges("a shell that execs at last"):
            self.assertLess(data["sampled_s"], 1.2 * data["cpu_s"])

    def test_a_long_thread_takes_nothing_of_short_ones_with_its_start_routine(self):
        """It took two thirds of what they used: all threads of C++ have one routine. trap has no ticks of so short ones, and says so."""
        with p.Machine() as machine:
            done = p.record([p.program("one_routine"), "3"], "-e", "timer")
        data = done.report()
        p.assert_ledger(self, data)
        if machine.judges("short threads beside a long one"):
            self.assertGreater(p.share_at_most(data, "turn_shortly"), 0.75 * float(done.stdout), done.stdout)

    def test_short_threads_and_a_main_thread_that_leaves(self):
        """The process ends with its last own thread, and H holds: what was not sampled is stated."""
        for engine in inside():
            for milliseconds in ("2", "30"):
                with p.Machine() as machine:
                    done = p.record([p.program("churn"), milliseconds, "0.6"], "-e", engine)
                self.assertEqual(done.returncode, 0, (engine, done.stderr))
                data = done.report()
                p.assert_ledger(self, data)
                print(f"{engine}: threads of {milliseconds} ms: {data['sampled_s'] / data['cpu_s']:.1%} sampled", flush=True)
                self.assertLess(data["sampled_s"], 1.1 * data["cpu_s"])
                if engine == "timer" or milliseconds == "30":
                    least = 0.9 if engine == "timer" else 0.6  # timer: exact but for what threads do at their ends
                    least -= 0 if machine.calm else 0.2
                    self.assertGreater(p.sampled_at_most(data), least * data["cpu_s"], (engine, milliseconds))


class Taken(unittest.TestCase):
    """A program may take every signal and descriptor, and a kernel's timers may not fire."""

    def test_few_pending_signals_are_left_to_the_program(self):
        """ulimit -i 64 leaves 16 timers for 41 threads; the program lives and the report says what is missing."""
        done = p.record(["bash", "-c", f"ulimit -i 64 && exec {p.program('spinner')} 40 0.02"], "-e", "timer")
        self.assertEqual(done.returncode, 0, done.stderr)
        data = done.report()
        p.assert_ledger(self, data)
        self.assertTrue(any("was not sampled" in warning["text"] for warning in data["warnings"]), data["warnings"])

    def test_a_signal_taken_behind_the_c_librarys_back_is_reported(self):
        done = p.record([p.program("thief"), "1", "raw"], "-e", "timer")
        self.assertEqual(done.returncode, 0, done.stderr)
        data = done.report()
        p.assert_ledger(self, data)
        self.assertEqual(p.ticks_of(data, "after_theft"), 0)
        self.assertIn("took the signal", " ".join(row["note"] for row in data["processes"]))
        warnings = [warning for warning in data["warnings"] if "took the signal" in warning["text"]]
        self.assertEqual([warning["severity"] for warning in warnings], ["incomplete"], data["warnings"])
        self.assertGreater(data["unsampled_s"], 0.7)

    def test_a_signal_taken_in_a_pid_namespace_is_reported(self):
        """There the process has another number than for the recorder, who looked at its own process 1."""
        command = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]
        if subprocess.run([*command, "true"], capture_output=True).returncode != 0:
            self.skipTest("this machine gives no new pid namespace")
        data = p.record([*command, p.program("thief"), "1", "raw"], "-e", "timer").report()
        notes = {row["comm"]: row["note"] for row in data["processes"] if row["note"]}
        self.assertIn("took the signal", notes.get("thief", ""), data["processes"])

    def test_the_program_may_use_every_signal(self):
        """It sees, and sets, what lies behind our handler; and its ticks go on."""
        for engine in inside():
            for what in ("all", "ignore", "one", "trap", "syscall"):
                with p.Machine() as machine:
                    done = p.record([p.program("thief"), "0.25", what], "-e", engine)
                self.assertEqual(done.returncode, 0, (engine, what, done.stderr))
                data = done.report()
                p.assert_ledger(self, data)
                self.assertEqual([(row["engine"], row["note"]) for row in data["processes"]], [(engine, "")], what)
                if engine == "trap" or machine.judges(f"{engine}, how much is sampled after {what}"):
                    self.assertGreater(p.sampled_at_most(data), 0.5 * data["cpu_s"], (engine, what))
                self.assertGreater(p.ticks_of(data, "after_theft"), 0.25 * data["ticks"], (engine, what))  # of 90 %; else none

    def test_a_child_that_resets_all_actions_by_system_calls_lives(self):
        """Chromium's do, before they execute a program: without a handler the next tick would be their end."""
        for engine in inside():
            for options in ([], ["-g"]):
                done = p.record([p.program("thief"), "0.3", "child"], "-e", engine, *options)
                self.assertEqual(done.returncode, 0, (engine, options, done.stderr))
                data = done.report()
                p.assert_ledger(self, data)
                self.assertEqual([row["note"] for row in data["processes"] if row["note"]], [], engine)
                self.assertGreater(p.ticks_of(data, "after_theft"), 0.25 * data["ticks"], engine)

    def test_what_the_program_took_is_replaced(self):
        """All descriptors: the trap's are replaced by a timer, which has none."""
        for engine, what, then in (("timer", "close", "timer"), ("trap", "close", "timer")):
            if not p.engine_available(engine):
                print(f"skipped: engine {engine} (not available here: pctally engines says why)")
                continue
            with p.Machine() as machine:
                done = p.record([p.program("thief"), "1", what], "-e", engine)
            self.assertEqual(done.returncode, 0, done.stderr)
            data = done.report()
            p.assert_ledger(self, data)
            self.assertEqual([row["engine"] for row in data["processes"]], [then], (engine, what))
            # Two looks, of 64 ms each, may pass, each when a busy machine lets the recorder look; and the last tick.
            if machine.judges(f"{engine}, how much is sampled after what it took"):
                self.assertGreater(p.sampled_at_most(data), 0.6 * data["cpu_s"], (engine, what))
            self.assertGreater(p.ticks_of(data, "after_theft"), 0.25 * data["ticks"], (engine, what))  # of 90 %; else none
            said = [(warning["severity"], "took the signal or descriptor" in warning["text"]) for warning in data["warnings"]]
            self.assertEqual(("note", True) in said, (engine, what) != ("timer", "close"), data["warnings"])

    def test_no_false_alarm(self):
        """Blocked signals and long system calls have no ticks either, and nobody took anything."""
        for command in ([p.program("threads_masked"), "0.6"], ["dd", "if=/dev/zero", "of=/dev/null", "bs=256M", "count=6"]):
            data = p.record(command, "-e", "timer").report()
            self.assertEqual([row["note"] for row in data["processes"]], [""] * len(data["processes"]), command)

    def test_a_busy_machine_is_not_a_kernel_whose_timers_do_not_fire(self):
        """Among others that sleep and wake all the time no kernel tick may fall on a process for 50 ms of its CPU time."""
        commands = [[p.program("switcher"), "processes", "100000000"]] * 2 + [[p.program("spinner"), "3", "1000"]]
        load = [subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
                for words in commands]
        try:
            for _ in range(p.scale(8)):
                done = p.record(["true"], "-e", "timer")
                self.assertEqual(done.returncode, 0, done.stderr)
        finally:
            for process in load:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def test_a_kernel_whose_timers_do_not_fire(self):
        broken = [p.program("no_timer"), p.PCTALLY, "record", "-f", "-o", os.path.join(p.scratch(), "b.pct")]
        asked = subprocess.run([*broken, "-e", "timer", "--", "true"], capture_output=True, text=True)
        self.assertEqual(asked.returncode, 125)
        self.assertIn("CPU timers do not fire", asked.stderr)
        if not p.engine_available("trap"):
            self.skipTest("engine trap is not available: nothing is below the timer")


class Actions(unittest.TestCase):
    def test_actions_of_a_child_of_vfork_are_not_its_parents(self):
        """It runs in the parent's memory, where ours keeps what is behind it: Ruby lost its handlers by system()."""
        for number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGTRAP, signal.SIGUSR1, signal.SIGRTMAX - 1):
            command = [p.program("lent_memory"), str(int(number))]
            self.assertEqual(subprocess.run(command, capture_output=True).stdout, b"handled\n")
            for engine in inside():  # with -g there is a handler of ours in front of each of these
                done = p.record(command, "-e", engine, "-g")
                self.assertEqual((done.returncode, done.stdout), (0, b"handled\n"), (engine, number))

    def test_a_signal_of_the_ticks_number_ends_what_has_no_handler_for_it(self):
        """But not what has blocked it and may wait for it, which we do not let it."""
        number = signal.SIGRTMAX - 1
        send = f"os.kill(os.getpid(), {number})\nprint('lived')"
        block = f"signal.pthread_sigmask(signal.SIG_BLOCK, [{number}])\n"
        for code, status, output in ((send, -number, b""), (block + send, 0, b"lived\n")):
            command = [sys.executable, "-c", "import os, signal\n" + code]
            self.assertEqual(subprocess.run(command).returncode, status)
            for engine in inside():
                done = p.record(command, "-e", engine)
                self.assertEqual((done.returncode, done.stdout), (status, output), (engine, done.stderr))

    @unittest.skipUnless(os.uname().machine == "x86_64", "an interrupted call is known on x86-64 alone")
    def test_calls_that_a_signal_interrupts_end_as_without_us(self):
        """A tick that waits in the kernel is handled first, and its SA_RESTART would be the call's. Some 5 % of the waits with
        300 children or 4,000 files meet one: without the mending all of 400 are right in 1 of a million runs."""
        for call, times in (("wait4", 400), ("ppoll", 400), ("restart", 200), ("read", 200), ("sigsuspend", 200), ("pselect", 200),
                            ("epoll_pwait", 200)):
            for engine in inside():
                done = p.record([p.program("interrupted_calls"), call, str(times)], "-e", engine)
                self.assertEqual((done.returncode, done.stdout), (0, f"{times} right, 0 wrong\n".encode()), (engine, call))

    @unittest.skipUnless(os.uname().machine == "x86_64", "the number of a system call")
    def test_the_old_names_of_sigsuspend_wait_as_it_does(self):
        """With the timers' signal in the mask, and none of the program's: by X/Open's name with a signal, by BSD's with a mask."""
        masks = {}
        for call in ("sigsuspend(bytes(128))", "__xpg_sigpause(10)", "__sigpause(10, 1)", "__sigpause(0, 0)", "sigpause(0)"):
            waits = ("import ctypes, signal; signal.signal(10, lambda *_: print('handled')); signal.pthread_sigmask(signal.SIG_BLOCK, [10])\n"
                     f"print(ctypes.CDLL(None).{call}, signal.pthread_sigmask(signal.SIG_BLOCK, []) == {{10}})")
            path = os.path.join(tempfile.mkdtemp(dir=p.scratch()), "p.pct")
            command = [p.PCTALLY, "record", "-q", "-f", "-o", path, "-e", "timer", "--", sys.executable, "-c", waits]
            with subprocess.Popen(command, stdout=subprocess.PIPE) as recorder:
                child = f"/proc/{p.command_of(recorder.pid)}"
                while self.first_word(f"{child}/syscall") != SYS_RT_SIGSUSPEND:
                    pass  # polls another process's state: there is no event to wait for
                with open(f"{child}/status", encoding="ascii") as status:
                    masks[call] = re.search("SigBlk:\t(.*)", status.read())[1]
                os.kill(int(child.split("/")[2]), signal.SIGUSR1)
                self.assertEqual(recorder.communicate()[0], b"handled\n-1 True\n", call)
        self.assertEqual(len(set(masks.values())), 1, masks)
        self.assertEqual(int(masks["sigpause(0)"], 16).bit_count(), 1, masks)

    def test_the_old_calls_for_signals_answer_as_without_us(self):
        """sigset, sighold, sigblock, ssignal and the others of BSD and System V: the ticks, which they would reach in the C library, go on."""
        command = [p.program("old_signals"), "0.3"]
        bare = subprocess.run(command, capture_output=True)
        self.assertEqual((bare.returncode, len(bare.stdout.splitlines())), (0, 6), bare)
        for engine in inside():
            done = p.record(command, "-e", engine)
            self.assertEqual((done.returncode, done.stdout), (0, bare.stdout), (engine, done.stderr))
            data = done.report()
            p.assert_ledger(self, data)
            self.assertEqual([(row["engine"], row["note"]) for row in data["processes"]], [(engine, "")])
            self.assertGreater(p.ticks_of(data, "with_all_blocked"), 0.25 * data["ticks"], engine)  # nearly all; else none

    @staticmethod
    def first_word(path):
        with open(path, encoding="ascii") as file:
            return file.read().split()[0]

    def test_a_fault_that_is_sent_comes_in_the_programs_code(self):
        """Not in our handler: Go's runtime, for one, ends with "unknown pc". Of 4,000, one may come at the last instructions of ours,
        and ten beside busy programs (three did; unmended, trap had 117 and more)."""
        for engine in inside():
            for options, number in (([], signal.SIGSEGV), (["-g"], signal.SIGSEGV), (["-g"], signal.SIGBUS)):
                with p.Machine() as machine:
                    done = p.record([p.program("sent_faults"), str(int(number)), "4000"], "-e", engine, "-F", "4999", *options)
                self.assertEqual(done.returncode, 0, done.stderr)
                came, foreign, wrong = (int(word) for word in done.stdout.split() if word.isdigit())
                self.assertEqual((came, wrong), (4000, 0), (engine, options, number))
                self.assertLessEqual(foreign, 1 if machine.calm else 10, (engine, options, number))

    def test_a_fault_beside_a_tick_that_is_blocked_comes_in_the_programs_code(self):
        """OCaml leaves its handler of stack overflows by a jump: ticks stay blocked, and the next overflow came with the one that
        waited, in our handler. By trap -g OCaml programs died of that."""
        command = [p.program("left_handlers"), "8"]
        self.assertEqual(subprocess.run(command, capture_output=True).stdout, b"8 0\n")
        for engine in inside():
            for options in ([], ["-g"]):
                with self.subTest(engine=engine, options=options):
                    done = p.record(command, "-e", engine, *options)
                    self.assertEqual((done.returncode, done.stdout), (0, b"8 0\n"), done.stderr)
                    p.assert_ledger(self, done.report())


if __name__ == "__main__":
    p.main()
