"""Programs at the edges (filters, masks, signals that end threads): they end as without us. Each scene of `edges` ends itself if it hangs."""
import os
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p


def bare(*scene):
    """What it does without us: (status, output). Without work, on which neither depends."""
    done = subprocess.run([p.program("edges"), *scene], capture_output=True, env={**os.environ, "EDGES_IDLE": "1"})
    return done.returncode, done.stdout


class Edges(unittest.TestCase):
    def recorded(self, *scene, options=(), engines=("timer", "trap")):
        """(engine, report) of each recording; the program has done what it does alone."""
        status, output = bare(*scene)
        if status == 77:
            self.skipTest("the kernel does not permit it here")
        for engine in p.engines(*engines):
            with self.subTest(scene=scene, engine=engine):
                done = p.record([p.program("edges"), *scene], "-e", engine, *options)
                self.assertEqual((done.returncode, done.stdout), (status, output), done.stderr)
                data = done.report()
                p.assert_ledger(self, data)
                yield engine, data

    def lives(self, *scene, **how):
        for _ in self.recorded(*scene, **how):
            pass


class Calls(Edges):
    def test_a_first_call_while_another_thread_holds_the_dynamic_linkers_lock(self):
        """dlsym would wait for dlopen, which waits for the thread."""
        self.lives("load", p.program("first_calls.so"))

    def test_bad_pointers_are_the_kernels_to_answer(self):
        self.lives("bad_pointers")


    def test_errno_is_kept_where_no_timer_is_to_be_had(self):
        self.lives("kept_errno")


class Filters(Edges):
    def test_the_strict_mode_of_seccomp(self):
        """It leaves read, write, exit and rt_sigreturn."""
        for options in ((), ("-g",)):
            self.lives("strict", "blocked", options=options)
            for engine, data in self.recorded("strict", "open", options=options):
                self.assertGreater(p.share_at_most(data, "work_without_calls"), 0.5, engine)

    def test_a_crash_where_no_action_can_be_set(self):
        """With -g there is a handler of ours in front of SIGSEGV, too; of SIGBUS always. The fault came again and again."""
        for number in (signal.SIGSEGV, signal.SIGBUS):
            self.lives("crash", str(int(number)), options=("-g",))

    def test_filters_that_come_by_other_ways(self):
        for way in ("listener", "number"):
            self.lives("filtered", way)

    def test_a_filter_that_kills_for_a_mask(self):
        for engine, data in self.recorded("unmasked"):
            self.assertIn("installed a seccomp filter", " ".join(row["note"] for row in data["processes"]), engine)
            self.assertGreater(data["unsampled_s"], 0.1, engine)


    def test_a_filter_behind_which_no_handler_returns(self):
        """That of sshd, before a login: the first tick ended it."""
        for way, options in (("call", ()), ("call", ("-g",)), ("number", ()), ("listener", ()), ("second", ())):
            for engine, data in self.recorded("no_return", way, options=options):
                self.assertIn("installed a seccomp filter", " ".join(row["note"] for row in data["processes"]), (engine, way))
                self.assertGreater(data["unsampled_s"], 0.1, (engine, way))

    def test_a_filter_that_the_kernel_refuses(self):
        for engine, data in self.recorded("no_return", "refused"):
            self.assertGreater(p.share_at_most(data, "work"), 0.5, engine)
            self.assertLess(data["unsampled_s"], 0.1, engine)


class Handlers(Edges):
    def test_handlers_that_block_all_signals_are_sampled(self):
        """All of the work is in them. What they see of their masks is as it was set."""
        for way in ("call", "number"):
            for engine, data in self.recorded("masked_handler", way):
                self.assertGreater(p.share_at_most(data, "work_in_handler") + p.share_at_most(data, "work"), 0.8, engine)
                self.assertLess(p.share_at_least(data, "raise"), 0.1, engine)

    def test_signals_that_end_threads_and_processes_as_they_begin(self):
        """The lock of our threads was held for ever: 5 of 6 runs hung."""
        self.lives("ended_threads", "4000")
        self.lives("ended_processes", "400")

    def test_a_fault_that_is_sent_waits_while_it_is_blocked(self):
        """With -g the guard is in front of both."""
        for options in ((), ("-g",)):
            for number in (signal.SIGSEGV, signal.SIGBUS):
                self.lives("pending", str(int(number)), options=options)

    def test_small_stacks_that_the_program_brings(self):
        """By trap their ticks are blocked, whatever masks and alternate stacks the thread sets."""
        for way in ("mask", "alternate"):
            for engine, data in self.recorded("small_mask", way):
                self.assertEqual(p.ticks_of(data, "work"), 0, (engine, way))  # where a handler finds no room

    def test_destructors_of_a_threads_data_are_sampled(self):
        for engine, data in self.recorded("slow_ends"):
            self.assertGreater(p.share_at_most(data, "work"), 0.8, (engine, data["warnings"]))

    def test_an_alternate_stack_that_a_destructor_frees(self):
        """The ticks of trap go on until the thread has ended."""
        self.lives("freed_at_end", engines=("timer",))

    def test_a_small_stack_is_its_childs_too(self):
        """The child of fork has one thread, with the stack and the needs of the one that forked."""
        for engine, data in self.recorded("small_fork"):
            self.assertEqual(p.ticks_of(data, "work"), 0, engine)

    def test_an_action_that_is_asked_for_by_the_system_calls_number(self):
        self.lives("raw_action")

    def test_a_breakpoint_on_a_small_stack(self):
        """Only trap, which has SIGTRAP for itself, blocks it there."""
        self.lives("breakpoint", engines=("timer",))

    @unittest.skipUnless(os.uname().machine == "x86_64", "the kernel has it on x86 alone")
    def test_syscall_user_dispatch(self):
        """No handler can return from code whose system calls are refused. What follows is sampled again."""
        for way in ("call", "number"):
            for engine, data in self.recorded("dispatch", way):
                self.assertEqual(p.ticks_of(data, "work_without_calls"), 0, engine)
                self.assertGreater(p.ticks_of(data, "work"), 0, engine)
                if engine == "timer":
                    parts = {part["reason"]: part["seconds"] for part in data["unsampled_parts"]}
                    self.assertGreater(parts["blocked signals"], 0.01)
                else:
                    self.assertGreater(data["lost"], 0)

    def test_threads_that_are_cancelled_in_the_midst_of_ticks(self):
        """The end of the profile waits for ticks in flight."""
        if not os.path.exists(p.program("cancelled")):
            self.skipTest("built without the library")
        for engine in p.engines("timer", "trap"):
            path = os.path.join(tempfile.mkdtemp(dir=p.scratch()), "p.pct")
            done = subprocess.run([p.program("cancelled"), path, engine], capture_output=True)
            self.assertEqual((done.returncode, done.stdout), (0, b""), engine)
            p.assert_ledger(self, p.report(path))

    def test_threads_that_end_without_a_word_leave_room_for_others(self):
        """By the bare exit(2), and more of them than there is room for timers: a quarter of the limit."""
        done = p.record(["bash", "-c", f"ulimit -i 2000 && exec {p.program('edges')} raw_exits 700"], "-e", "timer")
        self.assertEqual((done.returncode, done.stdout), (0, b"lived\n"), done.stderr)
        data = done.report()
        p.assert_ledger(self, data)
        self.assertGreater(p.share_at_most(data, "work"), 0.5)
        self.assertNotIn("no timer left (ulimit -i)", [part["reason"] for part in data.get("unsampled_parts", ())])


if __name__ == "__main__":
    p.main()
