"""A file system whose server is dead costs the objects on it their names, not the recording."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p


class HangingFiles(unittest.TestCase):
    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to mount a file system")
        self.directory = tempfile.mkdtemp(dir=p.scratch())
        self.mounted = os.path.join(self.directory, "mounted")
        self.stop = os.path.join(self.directory, "stop")
        os.mkdir(self.mounted)

    def serve(self, *user, served=None):
        server = subprocess.Popen([p.program("hanging_files"), self.mounted, served or p.program("known_shares"), self.stop, *user],
                                  stdout=subprocess.PIPE, text=True)
        said = server.stdout.readline()
        server.stdout.close()
        if said != "mounted\n":
            self.skipTest("may not mount a FUSE file system here")
        return server

    def end(self, server):
        server.kill()  # whoever waits for it goes on
        server.wait()
        subprocess.run(["umount", "-l", self.mounted], check=True)
        if os.path.exists(self.stop):
            os.unlink(self.stop)

    @staticmethod
    def cpu_ticks(pid):
        """In user mode."""
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return int(file.read().rsplit(")", 1)[1].split()[11])

    def maps_program(self, pid):
        with open(f"/proc/{pid}/maps", encoding="ascii") as file:
            return os.path.join(self.mounted, "program") in file.read()

    def report_of(self, path):
        done = subprocess.run([p.PCTALLY, "report", path], capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout + done.stderr

    def test_costs_its_objects_their_names(self):
        program = os.path.join(self.mounted, "program")
        reports = {}
        for engine in [engine for engine in ("ring", "timer") if p.engine_available(engine)]:  # 2 s each wait for the dead
            with self.subTest(engine):
                server = self.serve()
                recorder = None
                try:
                    path = os.path.join(self.directory, f"{engine}.pct")
                    recorder = subprocess.Popen([p.PCTALLY, "record", "-e", engine, "-o", path, "--", "sh", "-c",
                                                 f"{program} 0.3 && touch {self.stop} && {p.program('spinner')} 1 0.3; exit 3"],
                                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                    said = recorder.communicate(timeout=30)[1]
                    reports[engine] = self.report_of(path) if not reports else ""  # 3 s
                finally:
                    self.end(server)
                    if recorder is not None and recorder.poll() is None:
                        recorder.send_signal(signal.SIGKILL)
                        recorder.communicate()
                self.assertEqual(recorder.returncode, 3, said)
                self.assertIn(f"{program} has no names: its file system does not answer\n", said)
                data = p.report(path)
                p.assert_ledger(self, data)
                self.assertGreater(p.share_at_most(data, "spin_here"), 0.25)
        self.assertIn(f"cannot open {program}: its file system does not answer", next(iter(reports.values())))

    def record_while_dead(self, command, *options, served=None):
        """Records the command, or (-a) all, once its file system answers nothing any more."""
        server = self.serve(served=served)
        target = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        recorder = None
        try:
            path = os.path.join(self.directory, "dead.pct")
            while target.poll() is None and (self.cpu_ticks(target.pid) < 5 or not self.maps_program(target.pid)):
                time.sleep(0.01)  # polls another process's doing: there is no event to wait for; all code it runs is in memory then
            with open(self.stop, "w", encoding="ascii"):
                pass
            whom = [] if "-a" in options else ["-p", str(target.pid)]
            recorder = subprocess.Popen([p.PCTALLY, "record", "-q", "-f", "-o", path, *options, *whom, "--for", "1"])
            self.assertEqual(recorder.wait(timeout=30), 0)
        finally:
            target.kill()
            self.end(server)
            target.wait()
            if recorder is not None and recorder.poll() is None:
                recorder.kill()
                recorder.wait()
        data = p.report(path)
        p.assert_ledger(self, data)
        self.assertGreater(data["ticks"], 0)

    @unittest.skipUnless(shutil.which("objcopy"), "needs objcopy to remove a build id")
    def test_does_not_hold_who_attaches_to_its_program(self):
        """Neither the recorder nor its helper waits for it: a file without a build id is asked for its size and time, and one with
        call paths for its unwind tables."""
        bare = os.path.join(self.directory, "bare")
        subprocess.run(["objcopy", "--remove-section=.note.gnu.build-id", p.program("known_shares"), bare], check=True)
        whole = p.program("known_shares")
        for engine, served, options in (("ring", whole, []), ("ring", bare, []), ("ring", whole, ["-g"]), ("bpf", whole, ["-g"])):
            with self.subTest(engine=engine, served=os.path.basename(served), options=options):
                if not p.engine_available(engine):
                    self.skipTest(f"engine {engine} is not available here")
                self.record_while_dead([os.path.join(self.mounted, "program"), "60"], "-e", engine, *options, served=served)

    def test_does_not_hold_who_meets_code_that_is_not_in_memory(self):
        """Who reads the memory of a process that has mapped a file reads the file."""
        maps_it = "import mmap; file = open(%r, 'rb'); code = mmap.mmap(file.fileno(), 8192, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)\n" \
                  "while True: pass" % os.path.join(self.mounted, "program")
        for engine, options in (("ring", []), ("bpf", ["-a"])):
            with self.subTest(engine=engine, options=options):
                if not p.engine_available(engine):
                    self.skipTest(f"engine {engine} is not available here")
                self.record_while_dead([sys.executable, "-c", maps_it], "-e", engine, *options)

    @unittest.skipUnless(shutil.which("setpriv"), "needs setpriv to become another user")
    @unittest.skipUnless(p.engine_available("ring"), "engine ring is not available here")
    def test_of_another_user_say_why_root_has_no_names(self):
        os.chmod(self.directory, 0o755)
        os.chmod(p.scratch(), 0o755)
        server = self.serve("65533")
        try:
            path = os.path.join(self.directory, "others.pct")
            done = p.record([*p.as_user(65533),
                             os.path.join(self.mounted, "program"), "0.2"], "-e", "ring", path=path)
            self.assertEqual(done.returncode, 0, done.stderr)
            said = " ".join(warning["text"] for warning in done.report()["warnings"])
        finally:
            self.end(server)
        self.assertIn("Permission denied (FUSE without allow_other, or NFS, refuses even root)", said)


if __name__ == "__main__":
    p.main()
