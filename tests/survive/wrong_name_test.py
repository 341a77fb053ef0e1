"""Never a wrong name: a file of the host's in place of a container's, another file where one without a build id was,
a perf map of an older process, text that is not known."""
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p


def share_in(data, name):
    return sum(row["share"] for row in data["rows"] if os.path.basename(row["object"]) == name)


@unittest.skipUnless(os.geteuid() == 0, "needs root to change a root")
class WrongName(unittest.TestCase):
    def setUp(self):
        os.chmod(p.scratch(), 0o755)
        self.directory = tempfile.mkdtemp(dir=p.scratch())

    def put(self, twin, root=""):
        """A program without a build id; the same path in the root and here."""
        path = os.path.join(self.directory, "twin")
        os.makedirs(root + self.directory, exist_ok=True)
        shutil.copy(p.program(twin), root + path)
        return path

    def test_the_hosts_file_does_not_name_the_containers(self):
        root = tempfile.mkdtemp(dir=p.scratch())
        path = self.put("twin_here")
        self.put("twin_away", root)
        for engine in p.engines("bpf", "ring"):
            # One that lives while its root is asked for, and one whose parent has it and that is gone by then
            done = p.record(["chroot", root, path, "0.4"], "-e", engine)
            data = done.report()
            p.assert_ledger(self, data)
            self.assertEqual(p.share_of(data, "work_here"), 0, data["rows"][:4])
            self.assertGreater(p.share_at_most(data, "work_away"), 0.5, data["rows"][:4])

    def test_the_same_program_at_home_is_named(self):
        path = self.put("twin_here")
        for engine in p.engines("bpf", "ring"):
            data = p.record(["sh", "-c", f"{path} 0.3; true"], "-e", engine).report()
            self.assertGreater(p.share_at_most(data, "work_here"), 0.5, data["rows"][:4])

    def test_another_file_without_a_build_id_is_another(self):
        path = self.put("twin_here")
        for engine in p.engines("bpf", "ring", "timer"):
            if engine == "timer":
                continue  # it cannot be put into a static program
            done = p.record([path, "0.3"], "-e", engine)
            self.assertGreater(p.share_at_most(done.report(), "work_here"), 0.5)
            self.put("twin_away")
            if p.has_names(done.path):
                self.assertGreater(p.share_at_most(done.report(), "work_here"), 0.5)
            data = p.report(p.without_names(done.path, done.path + ".bare"))
            self.assertEqual(p.share_of(data, "work_here") + p.share_of(data, "work_away"), 0)
            self.assertTrue([row for row in data["warnings"] if "not the file that ran" in row["text"]], data["warnings"])
            self.put("twin_here")

    def test_code_of_a_process_whose_maps_are_not_to_be_read(self):
        program = os.path.join(self.directory, "of_nobody")
        shutil.copy(p.program("spinner"), program)
        os.chmod(self.directory, 0o755)
        os.chown(program, 65534, 65534)
        os.chmod(program, 0o4755)
        for engine in p.engines("bpf"):
            done = p.record(["sh", "-c", f"{program} 1 0.4; true"], "-e", engine, quiet=False)
            if b"more than the measured CPU time" in done.stderr:
                self.assertNotIn(b"all accounted for", done.stderr)
            data = done.report()
            p.assert_ledger(self, data)
            self.assertLess(share_in(data, "[jit]"), 0.01, data["rows"][:4])
            self.assertGreater(p.share_at_most(data, "spin_here"), 0.5, data["rows"][:4])

    def test_shared_memory_may_hold_a_jits_code(self):
        for engine in p.engines("bpf", "ring"):
            for memory in ("shared", "double"):  # as .NET maps it
                with self.subTest(engine, memory=memory):
                    data = p.record([p.program("jit"), "0.3", memory], "-e", engine).report()
                    self.assertGreater(p.share_at_most(data, "jitted_loop"), 0.5, data["rows"][:4])

    def test_a_map_older_than_the_process_names_nothing(self):
        for engine in p.engines("bpf", "ring"):
            done = p.record(["sh", "-c", f"{p.program('jit')} 0.3 & echo $!; wait"], "-e", engine)
            name = f"/tmp/perf-{int(done.stdout)}.map"
            self.assertGreater(p.share_at_most(done.report(), "jitted_loop"), 0.5)
            os.utime(name, (time.time() - 3600,) * 2)
            data = p.report(p.without_names(done.path, done.path + ".bare"))
            os.unlink(name)
            self.assertEqual(p.share_of(data, "jitted_loop"), 0)
            self.assertTrue([row for row in data["warnings"] if "older than the process" in row["text"]], data["warnings"])

    def test_a_jit_in_a_pid_namespace_is_named_while_it_lives(self):
        program = subprocess.Popen(["unshare", "-m", "-p", "-f", "--mount-proc", "--kill-child", p.program("jit"), "60"])
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        def child():
            text = subprocess.run(["ps", "-o", "pid=", "--ppid", str(program.pid)], capture_output=True, text=True).stdout
            return text.strip()
        while not child() or open(f"/proc/{child()}/comm").read() != "jit\n":
            time.sleep(0.01)
        for engine in p.engines("bpf", "ring"):
            path = os.path.join(self.directory, engine + ".pct")
            words = [p.PCTALLY, "record", "-q", "-e", engine, "-o", path, "-p", child(), "--for", "0.4"]
            self.assertEqual(subprocess.run(words).returncode, 0)
            data = p.report(path)
            self.assertGreater(p.share_at_most(data, "jitted_loop"), 0.5, data["rows"][:4])

    def test_processes_outside_the_pid_namespace_are_called_so(self):
        for engine in p.engines("ring"):
            path = os.path.join(self.directory, "a.pct")
            outside = subprocess.Popen([p.program("spinner"), "1", "30"], stdout=subprocess.DEVNULL)
            try:
                done = subprocess.run(["unshare", "-m", "-p", "-f", "--mount-proc", p.PCTALLY, "record", "-q", "-e", engine, "-o",
                                       path, "-a", "--for", "0.5"])
            finally:
                outside.kill()
                outside.wait()
            self.assertEqual(done.returncode, 0)
            data = p.report(path)
            p.assert_ledger(self, data)
            self.assertGreater(p.share_at_most(data, "[processes outside this pid namespace]"), 0.2, data["rows"][:4])
            self.assertEqual(share_in(data, "[jit]"), 0, data["rows"][:4])


if __name__ == "__main__":
    p.main()
