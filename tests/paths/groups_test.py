"""record -g of control groups, of the whole machine and of processes, with every --scope, by engines that see them from outside:
flat ticks, paths and scopes agree, and a group's profile has nothing of another group.

What is in the group: spinner; named_threads in a group below it; a shell that enters it, starts known_paths (`plain`), leaves it and
starts known_paths (`recursion`); one that starts short processes; and a group below that comes and is removed, over and over."""
import itertools
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import paths_test as known
import pctally_test as p

SCOPES = ("", "program", "thread", "cgroup")
ENGINES = ("ring", "bpf")

# $GROUP: of beside_control_group(). Each line is a shell of its own, which ends with its group.
ACTORS = """
mkdir $GROUP/inner $GROUP/removed; top=${GROUP%/*}
sh -c 'echo $$ > $0/inner/cgroup.procs; exec NAMED_THREADS 1000000' $GROUP &
sh -c 'while :; do echo $$ > $0/cgroup.procs; KNOWN_PATHS plain 0.05; echo $$ > $1/cgroup.procs; KNOWN_PATHS recursion 0.02; done' $GROUP $top & mover=$!
sh -c 'echo $$ > $0/cgroup.procs; while :; do KNOWN_PATHS plain 0.002; done' $GROUP &
sh -c 'while :; do mkdir -p $0/removed; (read pid rest < /proc/self/stat; echo $pid > $0/removed/cgroup.procs; exec KNOWN_PATHS plain 0.03); rmdir $0/removed; done' $GROUP 2>/dev/null & remover=$!
"""
END = """
status=$?; kill -9 $mover $remover; wait $mover $remover; echo 1 > $GROUP/cgroup.kill
emptied() { rmdir $GROUP/inner $GROUP/removed; [ ! -e $GROUP/inner ] && [ ! -e $GROUP/removed ]; }
soon emptied
(exit $status)
"""


class GroupsTest(known.PathsTest):
    def setUp(self):
        pass

    def check(self, path, scope, names_stay=True):
        """The identities, and a table by scope that has every tick. `names_stay`: else files of programs may go between two reports."""
        data = p.report(path)
        p.assert_ledger(self, data)
        self.check_identities(data, path, names_stay)
        by = scope or "program"
        table = p.report(path, "--by", by)
        p.assert_ledger(self, table)
        return data, table["rows"]


class OfControlGroups(GroupsTest):
    """Two scopes by each engine; EveryScope has all of both."""

    SCOPES_OF = {"ring": ("", "cgroup"), "bpf": ("program", "thread")}

    @classmethod
    def setUpClass(cls):
        cls.engines = p.engines(*ENGINES)

    def record_group(self):
        """Beside the same programs: engine, scope -> profile."""
        directory = tempfile.mkdtemp(dir=p.scratch())
        profiles = {(engine, scope): os.path.join(directory, f"{engine}.{scope}.pct")
                    for engine in self.engines for scope in self.SCOPES_OF[engine]}
        if not profiles:
            self.skipTest("engines ring and bpf are not available")
        commands = [f"{p.PCTALLY} record -q -g -F 2000 -e {engine} {'--scope ' + scope if scope else ''} -o {path} --cgroup $GROUP --for 0.5"
                    for (engine, scope), path in profiles.items()]
        actors = ACTORS.replace("NAMED_THREADS", p.program("named_threads")).replace("KNOWN_PATHS", p.program("known_paths"))
        done = p.beside_control_group(self, 2, actors + " && ".join(commands) + END.rstrip())
        self.assertEqual(done.returncode, 0, done.stderr)
        return profiles

    def test_every_scope_of_a_group_that_processes_enter_and_leave(self):
        for (engine, scope), path in self.record_group().items():
            with self.subTest(engine=engine, scope=scope or "none"):
                data, rows = self.check(path, scope)
                comms = {row["comm"] for row in data["processes"]}
                self.assertLessEqual({"spinner", "named_threads"}, comms)
                self.assertNotIn("known_shares", comms)
                total = {row["function"]: row["total_ticks"] for row in data["rows"] if "total_ticks" in row}
                self.assertEqual(total.get("recursion", 0), 0, "that ran outside")
                self.assertGreater(data["paths"]["complete"], 0.6 * (data["ticks"] - data["lost"]), data["paths"])  # the rest: execs, ends
                if scope == "cgroup":
                    groups = {row["cgroup"].rpartition("/")[2].rpartition("pctally-test-")[2] or "top" for row in rows}
                    self.assertIn("inner", groups)
                    self.assertEqual([name for name in groups if "deleted" in name], [])
                elif scope == "thread":
                    self.assertIn(("named_threads", "alpha"), {(os.path.basename(row["program"]), row["thread"]) for row in rows})
                else:
                    self.assertLessEqual({"spinner", "named_threads", "known_paths"}, {os.path.basename(row["program"]) for row in rows})

    def test_a_process_that_comes_back_as_another_program(self):
        """It leaves as a shell; nothing is reported of what it executes outside."""
        python = ("import os, sys, time\n"
                  "open(sys.argv[1] + '/cgroup.procs', 'w').write(str(os.getpid()))\n"
                  "end = time.process_time() + 0.3\n"
                  "while time.process_time() < end: sum(range(1000))\n")
        script = "/".join((tempfile.mkdtemp(dir=p.scratch()), "back.py"))
        with open(script, "w", encoding="ascii") as file:
            file.write(python)
        for engine in self.engines:
            path = os.path.join(os.path.dirname(script), f"{engine}.pct")
            command = (f"{p.PCTALLY} record -q -g -F 2000 -e {engine} -o {path} --cgroup $GROUP & recorder=$!\n"
                       f"until [ -e {path} ] || ! kill -0 $recorder; do sleep 0.02; done\n"  # it is there when all is watched
                       "sh -c 'echo $$ > $0/cgroup.procs; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done;"
                       f" echo $$ > ${{0%/*}}/cgroup.procs; exec {sys.executable} -S {script} $0' $GROUP\n"
                       "kill -INT $recorder; wait $recorder")
            with self.subTest(engine):
                done = p.beside_control_group(self, 2, command)
                self.assertEqual(done.returncode, 0, done.stderr)
                data, rows = self.check(path, "program")
                ticks = {os.path.basename(row["program"]): row["ticks"] for row in rows}
                name = os.path.basename(os.path.realpath(sys.executable))
                self.assertGreater(ticks.get(name, 0), 300, ticks)  # of 600
                self.assertNotIn("[program not known]", ticks)
                self.assertLess(p.ticks_of(data, "[code in no known mapping]"), 50)


class EveryScope(OfControlGroups):
    SCOPES_OF = {engine: SCOPES for engine in ENGINES}
    test_a_process_that_comes_back_as_another_program = None


class OfOthers(GroupsTest):
    def test_every_scope_of_processes_and_of_the_machine(self):
        if os.geteuid() != 0:
            self.skipTest("needs root")
        path = os.path.join(p.scratch(), "others.pct")
        with subprocess.Popen([p.program("named_threads"), "1000000"]) as threads, \
                subprocess.Popen([p.program("known_paths"), "plain", "1000"]) as paths:
            for engine, scope, target in itertools.product(p.engines(*ENGINES), SCOPES, (["-a"], ["-p", f"{threads.pid},{paths.pid}"])):
                with self.subTest(engine=engine, scope=scope or "none", target=target[0]):
                    words = [p.PCTALLY, "record", "-q", "-f", "-g", "-e", engine, *(["--scope", scope] if scope else []), "-o", path, *target]
                    done = subprocess.run([*words, "--for", "0.4"], capture_output=True, text=True)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    data, rows = self.check(path, scope, target[0] == "-p")
                    if target[0] == "-p":
                        self.assertEqual({row["comm"] for row in data["processes"]}, {"named_threads", "known_paths"})
                        self.assertGreater(data["paths"]["complete"], 0.8 * (data["ticks"] - data["lost"]), data["paths"])
                    if target[0] == "-p" and scope == "thread":
                        self.assertLessEqual({"alpha", "beta", "gamma", "known_paths"}, {row["thread"] for row in rows})
            threads.kill()
            paths.kill()


if __name__ == "__main__":
    p.main()
