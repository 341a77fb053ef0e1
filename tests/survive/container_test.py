"""Programs with another root: pids are the recorder's, and binaries that exist only there still have names."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p


class Container(unittest.TestCase):
    """The container: a pid and a mount namespace, a root of its own on a file system nobody else sees."""

    def setUp(self):
        if os.geteuid() != 0 or shutil.which("unshare") is None:
            self.skipTest("needs root and unshare to make a container")
        self.root = tempfile.mkdtemp(dir=p.scratch())
        inside = (f"mount -t tmpfs none {self.root} && mkdir {self.root}/proc && "
                  f"cp {p.program('spinner_named')} {self.root}/only_inside && cd {self.root} && "
                  f"exec chroot . /only_inside 1 60")
        self.target = subprocess.Popen(["unshare", "-m", "-p", "-f", "--kill-child", "sh", "-c", inside],
                                       stdout=subprocess.PIPE)
        self.target.stdout.readline()  # it runs
        children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.target.pid)], capture_output=True, text=True)
        self.pid = int(children.stdout)

    def tearDown(self):
        if hasattr(self, "target"):
            self.target.kill()
            self.target.communicate()

    def test_attached_from_outside(self):
        path = os.path.join(p.scratch(), "container.pct")
        words = [p.PCTALLY, "record", "-q", "-e", "ring", "-f", "-o", path, "-p", str(self.pid), "--for", "1"]
        self.assertEqual(subprocess.run(words).returncode, 0)
        data = p.report(path)
        p.assert_ledger(self, data)
        self.assertFalse(os.path.exists("/only_inside"))
        self.assertEqual([row["pid"] for row in data["processes"]], [self.pid])
        self.assertGreater(p.share_at_most(data, "spin_here"), 0.8, data["rows"][:3])
        bare = p.without_names(path, os.path.join(p.scratch(), "bare.pct"))
        os.kill(self.pid, signal.SIGKILL)  # once it is gone its files are out of reach: the names are in the profile
        self.target.wait()
        if p.has_names(path):
            self.assertGreater(p.share_at_most(p.report(path), "spin_here"), 0.8)
        data = p.report(bare)
        p.assert_ledger(self, data)
        self.assertEqual(p.share_of(data, "spin_here"), 0)
        self.assertTrue(any(warning["id"] == "no-names" for warning in data["warnings"]), data["warnings"])

    def test_whole_machine(self):
        path = os.path.join(p.scratch(), "machine.pct")
        words = [p.PCTALLY, "record", "-q", "-e", "ring", "-f", "-o", path, "-a", "--for", "1"]
        self.assertEqual(subprocess.run(words).returncode, 0)
        data = p.report(path)
        p.assert_ledger(self, data)
        rows = [row for row in data["rows"] if row["function"] == "spin_here" and "only_inside" in row["object"]]
        self.assertTrue(rows, data["rows"][:5])


class Cpus(unittest.TestCase):
    """A container that may use CPU 1 alone: it sees one CPU, whose number is not 0."""

    def test_a_cpu_whose_number_is_their_count_has_ticks(self):
        if os.geteuid() != 0 or shutil.which("unshare") is None or shutil.which("taskset") is None:
            self.skipTest("needs root, unshare and taskset to make a container of one CPU")
        if 1 not in os.sched_getaffinity(0):
            self.skipTest("needs a CPU 1")
        system = "/sys/devices/system/cpu"
        for engine in [engine for engine in ("ring", "bpf") if p.engine_available(engine)]:
            for listed in (f"echo 1 >{system}/possible", "true"):  # without the file the count is of directories
                with self.subTest(engine, listed=listed):
                    path = os.path.join(tempfile.mkdtemp(dir=p.scratch()), "one.pct")
                    inside = (f"mount -t tmpfs none {system} && mkdir {system}/cpu1 && echo 1 >{system}/online && {listed} && "
                              f"exec taskset -c 1 {p.PCTALLY} record -q -e {engine} -o {path} -- {p.program('known_shares')} 0.3")
                    done = subprocess.run(["unshare", "-m", "sh", "-c", inside], capture_output=True, text=True)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    data = p.report(path)
                    p.assert_ledger(self, data)
                    self.assertGreater(p.sampled_at_most(data), 0.15, data["sampled_s"])


    def test_a_cpu_that_came_later_is_named(self):
        """The kernel is not asked to switch one on, which every recording beside this one would meet: its list is another."""
        if os.geteuid() != 0 or shutil.which("unshare") is None:
            self.skipTest("needs root and unshare to show another list of CPUs")
        online = "/sys/devices/system/cpu/online"
        with open("/sys/devices/system/cpu/possible", encoding="ascii") as file:
            later = int(re.split("[-,]", file.read())[-1]) + 1
        for engine in p.engines("ring", "bpf"):
            path = os.path.join(tempfile.mkdtemp(dir=p.scratch()), "later.pct")
            inside = (f"echo $(cat {online}),{later} >{path}.cpus && mount --bind {path}.cpus {online} && "
                      f"exec {p.PCTALLY} record -e {engine} -o {path} -- {p.program('known_shares')} 0.1")
            done = subprocess.run(["unshare", "-m", "sh", "-c", inside], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"CPU {later} was switched on meanwhile (hotplug, suspend); what ran there since was not sampled\n",
                          done.stderr)


class Chroot(unittest.TestCase):
    def test_recorded_command_that_changes_its_root(self):
        """It ends 0.2 s before the command: the recorder, which looks every 0.1 s, has to know by then what it
        needs of that root."""
        if os.geteuid() != 0:
            self.skipTest("needs root to change a root")
        root = tempfile.mkdtemp(dir=p.scratch())
        shutil.copy(p.program("spinner_named"), os.path.join(root, "only_inside"))
        done = p.record(["sh", "-c", f"chroot {root} /only_inside 1 0.5 >/dev/null; sleep 0.2; true"], "-e", "ring")
        data = done.report("--by", "object")
        p.assert_ledger(self, data)
        self.assertEqual(data["outside"], 0)
        self.assertGreater(p.object_at_most(data, "only_inside"), 0.6, data["rows"])


class NewRoot(unittest.TestCase):
    """Programs executed in another root directory, where our library and the profile file may be missing."""

    def small_root(self):
        """A root directory that holds the spinner, as /only_inside, and the libraries it needs."""
        root = tempfile.mkdtemp(dir=p.scratch())
        shutil.copy(p.program("spinner"), os.path.join(root, "only_inside"))
        for path in re.findall(r"(/\S+) \(0x", subprocess.run(["ldd", p.program("spinner")], capture_output=True, text=True).stdout):
            os.makedirs(root + os.path.dirname(path), exist_ok=True)
            shutil.copy(path, root + path)
        return root

    def test_the_dynamic_linker_says_nothing_of_us_there(self):
        root = self.small_root()
        commands = [[p.program("new_root"), root, "/only_inside", "1", "0.5"]]
        if os.geteuid() == 0:
            commands.append(["chroot", root, "/only_inside", "1", "0.5"])
        for command in commands:
            for engine in p.engines("timer", "trap"):
                with self.subTest(engine=engine, command=command):
                    with p.Machine() as machine:
                        done = p.record(command, "-e", engine)
                    if done.returncode == 77:
                        self.skipTest("this machine gives no new mount namespace")
                    self.assertEqual((done.returncode, done.stdout), (0, b""))
                    self.assertNotIn(b"LD_PRELOAD", done.stderr)
                    data = done.report()
                    p.assert_ledger(self, data)
                    if machine.judges("another root: that the recorder comes in time to name it"):
                        self.assertIn("another root", " ".join(row["note"] for row in data["processes"]))

    def test_nor_where_another_user_may_not_read_the_library(self):
        """An installation in one's home directory. A child of vfork(2) gives up the rights there, and its parent keeps the library. The
        environment may be the program's own, or another; other libraries stay in it."""
        p.need_other_users(self)
        prefix = tempfile.mkdtemp(dir=p.scratch())  # 0700
        for name in ("bin/pctally", "lib/libpctally-preload.so"):
            os.makedirs(os.path.join(prefix, os.path.dirname(name)))
            shutil.copy(os.path.join(p.BUILD, name), os.path.join(prefix, name))
        script = ("import os, subprocess, sys\n"
                  "other = dict(os.environ, LD_PRELOAD=os.environ['LD_PRELOAD'] + ':/lib/nothing.so')\n"
                  "for env in None, dict(os.environ):\n"
                  "    subprocess.run(sys.argv[1:], user=65534, group=65534, extra_groups=[], env=env)\n"
                  "print(subprocess.run(['env'], user=65534, group=65534, extra_groups=[], env=other, capture_output=True, text=True))\n"
                  "subprocess.run(sys.argv[1:])")
        spinner = [p.program("spinner"), "1", "0.3"]
        for command in ([*p.as_user(), *spinner], [sys.executable, "-S", "-c", script, *spinner]):
            for engine in p.engines("timer", "trap"):
                path = os.path.join(prefix, "a.pct")
                done = subprocess.run([os.path.join(prefix, "bin/pctally"), "record", "-q", "-f", "-e", engine, "-o", path, "--", *command],
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertNotIn("ld.so", done.stderr)
                if command[0] == sys.executable:
                    self.assertIn("LD_PRELOAD=/lib/nothing.so\\n", done.stdout)
                    self.assertGreater(p.seconds_at_most(p.report(path), "spin_here"), 0.2, engine)

    def test_where_the_old_root_comes_back_the_library_does(self):
        """As in bwrap, which changes the root directory twice."""
        for engine in p.engines("timer", "trap"):
            with p.Machine() as machine:
                done = p.record([p.program("new_root"), self.small_root(), "again", p.program("spinner"), "1", "0.5"], "-e", engine)
            if done.returncode == 77:
                self.skipTest("this machine gives no new mount namespace")
            self.assertEqual((done.returncode, done.stdout), (0, b""), done.stderr)
            self.assertNotIn(b"LD_PRELOAD", done.stderr)
            data = done.report()
            p.assert_ledger(self, data)
            self.assertEqual([row["note"] for row in data["processes"] if row["note"]], [])
            if machine.judges(f"{engine}, a root that comes back"):
                self.assertGreater(p.share_at_most(data, "spin_here"), 0.7, engine)

    def test_a_profile_file_that_is_read_only_there_is_the_reason(self):
        """bwrap --ro-bind / /"""
        if subprocess.run(["unshare", "-Urm", "true"], capture_output=True).returncode != 0:
            self.skipTest("this machine gives no new mount namespace")
        directory = tempfile.mkdtemp(dir=p.scratch())
        script = f"mount -o bind,ro {directory} {directory} && exec {p.program('spinner')} 1 0.6"
        for engine in p.engines("timer", "trap"):
            path = os.path.join(directory, engine + ".pct")
            data = p.record(["unshare", "-Urm", "sh", "-c", script], "-e", engine, path=path).report()
            p.assert_ledger(self, data)
            self.assertIn("runs where the profile file is read-only", " ".join(row["note"] for row in data["processes"]), engine)


@unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare"), "needs root and unshare to make a container")
class Gone(unittest.TestCase):
    """What is named though it is gone when the recording ends: each with the engines that see it from outside."""

    def container(self, program, *arguments):
        """A command: the program in a container that ends with it, on a file system that nobody else sees."""
        root = tempfile.mkdtemp(dir=p.scratch())
        script = (f"mount -t tmpfs none {root} && mkdir {root}/proc {root}/tmp && mount -t proc none {root}/proc && "
                  f"cp {p.program(program)} {root}/inside && cd {root} && exec chroot . /inside {' '.join(arguments)}")
        return ["unshare", "-m", "-p", "-f", "sh", "-c", script]

    def test_the_container_of_the_command(self):
        for engine in p.engines("bpf", "ring"):
            data = p.record(self.container("spinner_named", "1", "0.5"), "-e", engine).report()
            p.assert_ledger(self, data)
            self.assertGreater(p.share_at_most(data, "spin_here"), 0.5, data["rows"][:4])

    def with_libraries(self, program, *arguments):
        """Of a program that is linked dynamically: the host's libraries are there, too."""
        command = self.container(program, *arguments)
        root = command[-1].split(" none ")[1].split(" ")[0]
        binds = f"for lib in /lib64 /lib /usr/lib; do [ ! -e $lib ] || {{ mkdir -p {root}$lib && mount --bind $lib {root}$lib; }}; done; cp "
        return [*command[:-1], command[-1].replace("cp ", binds, 1)]

    def test_its_call_paths(self):
        for engine in p.engines("bpf", "ring"):
            data = p.record(self.with_libraries("known_paths", "plain", "0.5"), "-e", engine, "-g").report()
            p.assert_ledger(self, data)
            callers = [row["total_ticks"] for row in data["rows"] if row["function"] == "main"]
            # Of the program's own: a dozen programs make the container, and each may take 20 ms.
            own = sum(row["ticks"] for row in data["processes"] if row["comm"] == "inside") - data["lost"]
            self.assertGreater(own, 100, data["processes"])
            self.assertGreater(max([0, *callers]), 0.5 * own, data["rows"][:4])

    def test_a_jit_in_it(self):
        for engine in p.engines("bpf", "ring"):
            data = p.record(self.with_libraries("jit", "0.5"), "-e", engine).report()
            self.assertGreater(p.share_at_most(data, "jitted_loop"), 0.4, (data["rows"][:4], data["warnings"]))

    def test_attached_and_stopped_meanwhile(self):
        for engine in p.engines("bpf", "ring"):
            target = subprocess.Popen(self.container("spinner_named", "1", "60"), stdout=subprocess.PIPE)
            self.addCleanup(target.communicate)
            self.assertTrue(target.stdout.readline())
            pid = int(subprocess.run(["pgrep", "-P", str(target.pid)], capture_output=True, text=True).stdout)
            path = os.path.join(p.scratch(), f"stopped.{engine}.pct")
            recorder = subprocess.Popen([p.PCTALLY, "record", "-e", engine, "-o", path, "-p", str(pid)], stderr=subprocess.PIPE)
            self.assertIn(b"recording", recorder.stderr.readline())
            p.await_ticks(path, 100, recorder)
            os.kill(pid, signal.SIGKILL)
            recorder.communicate()
            data = p.report(path)
            p.assert_ledger(self, data)
            self.assertGreater(p.share_at_most(data, "spin_here"), 0.8, data["rows"][:4])


class Replaced(unittest.TestCase):
    """A program whose file goes while it runs: its functions are named all the same, and the file in its place names nothing."""

    ENDS = {"renamed over": "mv {0}.new {0}", "removed": "rm {0}"}

    def test_under_every_engine(self):
        for engine in p.engines("bpf", "ring", "timer", "trap"):
            for end, command in self.ENDS.items():
                place = os.path.join(tempfile.mkdtemp(dir=p.scratch()), "program")
                shutil.copy(p.program("spinner"), place)
                shutil.copy(p.program("fixed_work"), place + ".new")
                with p.Machine() as machine:
                    data = p.record(["sh", "-c", f"{place} 1 0.45 & sleep 0.3; {command.format(place)}; wait"], "-e", engine).report()
                # On a busy machine the recorder may come to its file when that is gone, and says so.
                reason = [warning["text"] for warning in data["warnings"] if "the file was replaced since" in warning["text"]]
                if not reason or machine.judges(f"{engine}, {end}: that the recorder comes in time to hold the file"):
                    self.assertGreater(p.share_at_most(data, "spin_here"), 0.8, (engine, end, data["rows"][:4], data["warnings"]))


if __name__ == "__main__":
    p.main()
