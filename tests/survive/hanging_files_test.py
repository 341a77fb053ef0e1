"""A file system whose server is dead costs the objects on it their names, not the recording."""
import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

# The code is mapped, and not in memory.
MAPS_IT = [sys.executable, "-c", "import mmap; file = open('PROGRAM', 'rb'); "
           "code = mmap.mmap(file.fileno(), 8192, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)\nwhile True: pass"]


class FileSystem:
    """One with a file `program`, in a directory of its own, until the `with` ends. Once the file `stop` is there it answers nothing any more."""

    def __init__(self, served, *user):
        self.directory = tempfile.mkdtemp(dir=p.scratch())
        self.mounted, self.stop = os.path.join(self.directory, "mounted"), os.path.join(self.directory, "stop")
        self.program = os.path.join(self.mounted, "program")
        os.mkdir(self.mounted)
        if user:
            os.chmod(self.directory, 0o755)
        self.server = subprocess.Popen([p.program("hanging_files"), self.mounted, served, self.stop, *user], stdout=subprocess.PIPE, text=True)
        said = self.server.stdout.readline()
        self.server.stdout.close()
        if said != "mounted\n":
            raise unittest.SkipTest("may not mount a FUSE file system here")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.kill()  # whoever waits for it goes on
        self.server.wait()
        subprocess.run(["umount", "-l", self.mounted], check=True)

    def die(self):
        with open(self.stop, "w", encoding="ascii"):
            pass

    def is_mapped_by(self, pid):
        with open(f"/proc/{pid}/maps", encoding="ascii") as file:
            return self.program in file.read()


def cpu_ticks(pid):
    """In user mode."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return int(file.read().rsplit(")", 1)[1].split()[11])


def end(process):
    """Once the server has ended: what waits for it cannot be killed."""
    if process is not None:
        process.kill()
        process.wait()


def report_of(path):
    done = subprocess.run([p.PCTALLY, "report", path], capture_output=True, text=True, timeout=30)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout + done.stderr


def record_a_death(engine, served, report):
    """Records a command whose program's file system dies meanwhile: what the recorder said, its status, the profile, and with
    `report` what a report says while it is dead. 2 s wait for the dead, and 3 s in the report."""
    recorder = None
    try:
        with FileSystem(served) as files:
            path = os.path.join(files.directory, f"{engine}.pct")
            recorder = subprocess.Popen([p.PCTALLY, "record", "-e", engine, "-o", path, "--", "sh", "-c",
                                         f"{files.program} 0.3 && touch {files.stop} && {p.program('spinner')} 1 0.3; exit 3"],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            said = recorder.communicate(timeout=30)[1]
            return files.program, said, recorder.returncode, path, report_of(path) if report else ""
    finally:
        end(recorder)


def record_while_dead(command, served, *options):
    """Records the command, or (-a) all, once its file system answers nothing any more. The recorder's status, and the report."""
    target = recorder = None
    try:
        with FileSystem(served) as files:
            path = os.path.join(files.directory, "dead.pct")
            target = subprocess.Popen([word.replace("PROGRAM", files.program) for word in command], stdout=subprocess.DEVNULL)
            while target.poll() is None and (cpu_ticks(target.pid) < 5 or not files.is_mapped_by(target.pid)):
                time.sleep(0.01)  # polls another process's doing: there is no event to wait for; all code it runs is in memory then
            files.die()
            whom = [] if "-a" in options else ["-p", str(target.pid)]
            recorder = subprocess.Popen([p.PCTALLY, "record", "-q", "-f", "-o", path, *options, *whom, "--for", "1"])
            status = recorder.wait(timeout=30)
            target.kill()
    finally:
        end(target)
        end(recorder)
    return status, p.report(path)


def at_once(calls):
    """The results of calls that wait for the dead, made beside each other."""
    with concurrent.futures.ThreadPoolExecutor(len(calls)) as pool:
        made = [pool.submit(*call) for call in calls]
    return [one.result() for one in made]


class HangingFiles(unittest.TestCase):
    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to mount a file system")

    def test_costs_its_objects_their_names(self):
        engines = [engine for engine in ("ring", "timer") if p.engine_available(engine)]
        reports = []
        taken = at_once([(record_a_death, engine, p.program("known_shares"), engine == engines[0]) for engine in engines])
        for engine, (program, said, status, path, report) in zip(engines, taken):
            with self.subTest(engine):
                self.assertEqual(status, 3, said)
                self.assertIn(f"{program} has no names: its file system does not answer\n", said)
                data = p.report(path)
                p.assert_ledger(self, data)
                self.assertGreater(p.share_at_most(data, "spin_here"), 0.25)
                reports.append((program, report))
        self.assertIn(f"cannot open {reports[0][0]}: its file system does not answer", reports[0][1])

    def assert_recorded(self, status, data):
        self.assertEqual(status, 0)
        p.assert_ledger(self, data)
        self.assertGreater(data["ticks"], 0)

    @unittest.skipUnless(shutil.which("objcopy"), "needs objcopy to remove a build id")
    def test_does_not_hold_who_attaches_to_its_program(self):
        """Neither the recorder nor its helper waits for it: a file without a build id is asked for its size and time, one with call
        paths for its unwind tables, and who reads the memory of a process that has mapped a file reads the file."""
        bare = os.path.join(p.scratch(), "bare")
        subprocess.run(["objcopy", "--remove-section=.note.gnu.build-id", p.program("known_shares"), bare], check=True)
        whole, spins = p.program("known_shares"), ["PROGRAM", "60"]
        cases = [(command, served, "-e", *options) for command, served, *options in (
            (spins, whole, "ring"), (spins, bare, "ring"), (spins, whole, "ring", "-g"), (spins, whole, "bpf", "-g"), (MAPS_IT, whole, "ring"))
            if p.engine_available(options[0])]
        for case, taken in zip(cases, at_once([(record_while_dead, *case) for case in cases])):
            with self.subTest(case):
                self.assert_recorded(*taken)

    @unittest.skipUnless(p.engine_available("bpf"), "engine bpf is not available here")
    def test_does_not_hold_who_records_the_whole_machine(self):
        """By itself: it would meet the dead of the other recordings."""
        self.assert_recorded(*record_while_dead(MAPS_IT, p.program("known_shares"), "-e", "bpf", "-a"))

    @unittest.skipUnless(shutil.which("setpriv"), "needs setpriv to become another user")
    @unittest.skipUnless(p.engine_available("ring"), "engine ring is not available here")
    def test_of_another_user_say_why_root_has_no_names(self):
        os.chmod(p.scratch(), 0o755)
        with FileSystem(p.program("known_shares"), "65533") as files:
            path = os.path.join(files.directory, "others.pct")
            done = p.record([*p.as_user(65533), files.program, "0.2"], "-e", "ring", path=path)
            self.assertEqual(done.returncode, 0, done.stderr)
            said = " ".join(warning["text"] for warning in done.report()["warnings"])
        self.assertIn("Permission denied (FUSE without allow_other, or NFS, refuses even root)", said)


if __name__ == "__main__":
    p.main()
