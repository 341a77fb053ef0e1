"""Containers of podman, as root and rootless, seen from outside: names of programs whose container is gone, while files of
the host's lie at the same paths. Skipped by name where podman cannot run one."""
import glob
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

# Some virtual machines let nobody set the limits that podman asks for.
RUNTIME = """#!/usr/bin/python3
import json, os, sys
words = sys.argv[1:]
for name, word in zip(words, words[1:] + [""]):
    if name in ("-b", "--bundle"):
        path = os.path.join(word, "config.json")
        with open(path) as file:
            config = json.load(file)
        config["process"].pop("rlimits", None)
        config["process"].pop("oomScoreAdj", None)
        config["linux"].pop("resources", None)
        with open(path, "w") as file:
            json.dump(config, file)
os.execv("/usr/bin/crun", ["crun", *words])
"""


def rootless_user():
    """Somebody with subordinate users, or None."""
    try:
        with open("/etc/subuid", encoding="ascii") as file:
            names = [line.split(":")[0] for line in file]
        return next((pwd.getpwnam(name) for name in names if name != "root" and os.path.isdir(pwd.getpwnam(name).pw_dir)), None)
    except (OSError, KeyError):
        return None


class Podman(unittest.TestCase):
    user = None
    prefix = []

    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0 or shutil.which("podman") is None or not os.path.exists("/usr/bin/crun"):
            raise unittest.SkipTest("needs root, podman and crun")
        os.chmod(p.scratch(), 0o755)
        cls.place = tempfile.mkdtemp(dir=p.scratch())
        os.chmod(cls.place, 0o755)
        cls.root = os.path.join(cls.place, "root")
        for name in ("proc", "tmp", "dev", "sys", "etc", "run", cls.place.lstrip("/")):
            os.makedirs(os.path.join(cls.root, name), exist_ok=True)
        for host, inside, path in (("twin_here", "twin_away", "twin"), ("twin_here", "spinner_named", "spinner")):
            shutil.copy(p.program(host), os.path.join(cls.place, path))  # another program at the same path
            shutil.copy(p.program(inside), cls.root + os.path.join(cls.place, path))
        cls.runtime = os.path.join(cls.place, "crun")
        with open(cls.runtime, "w", encoding="ascii") as file:
            file.write(RUNTIME)
        os.chmod(cls.runtime, 0o755)
        cls.prepare()
        tried = subprocess.run(cls.podman("twin", "0"), capture_output=True, text=True)
        if "hybrid" in tried.stderr:  # crun wants control groups of one version
            cls.prefix = ["unshare", "-m", "sh", "-c", "umount -R -l /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup && exec \"$@\"", "sh"]
            cls.prepare()  # a user's podman goes on where its first process was, whose run directory says which that is
            tried = subprocess.run(cls.podman("twin", "0"), capture_output=True, text=True)
        if tried.returncode != 0:
            raise unittest.SkipTest(f"podman cannot run a container here: {tried.stderr.strip()[-200:]}")

    @classmethod
    def prepare(cls):
        """For who runs containers."""

    @classmethod
    def user_words(cls):
        return []

    @classmethod
    def podman(cls, program, *arguments, name=None):
        return [*cls.prefix, *cls.user_words(), "podman", "--events-backend=file", f"--runtime={cls.runtime}", "run", "--rm", "--cgroups=disabled", "--network=none",
                "--log-driver=none", *([f"--name={name}"] if name else []), "--rootfs", cls.root, os.path.join(cls.place, program),
                *arguments]

    def test_what_a_container_ran_has_its_own_names(self):
        for engine in p.engines("bpf", "ring"):
            data = p.record(self.podman("twin", "0.6"), "-e", engine).report()
            p.assert_ledger(self, data)
            self.assertEqual(p.share_of(data, "work_here"), 0, data["rows"][:4])
            self.assertGreater(p.share_at_most(data, "work_away"), 0.4, data["rows"][:4])

    def test_of_the_whole_machine_and_started_later(self):
        for engine in p.engines("bpf", "ring"):
            path = os.path.join(self.place, f"{engine}.pct")
            recorder = subprocess.Popen([p.PCTALLY, "record", "-f", "-e", engine, "-o", path, "-a"], stderr=subprocess.PIPE)
            self.addCleanup(recorder.communicate)
            self.addCleanup(recorder.kill)
            self.assertIn(b"recording", recorder.stderr.readline())
            self.assertEqual(subprocess.run(self.podman("spinner", "1", "0.5"), stdout=subprocess.DEVNULL).returncode, 0)
            recorder.send_signal(signal.SIGINT)
            recorder.wait()
            data = p.report(path)
            p.assert_ledger(self, data)
            rows = [row for row in data["rows"] if os.path.basename(row["object"].split(" (")[0]) == "spinner"]
            named = sum(row["ticks"] for row in rows if row["function"] == "spin_here")
            self.assertGreater(named, 300, rows[:4])
            self.assertGreater(named, 0.9 * sum(row["ticks"] for row in rows), rows[:4])

    def test_attached_and_removed_meanwhile(self):
        for engine in p.engines("bpf", "ring"):
            name = f"pctally-{os.getpid()}-{engine}"
            container = subprocess.Popen(self.podman("spinner", "1", "60", name=name), stdout=subprocess.PIPE)
            self.addCleanup(container.communicate)
            self.assertTrue(container.stdout.readline())
            pid = next(int(pid) for pid in os.listdir("/proc") if pid.isdigit() and self.runs_spinner(pid))
            path = os.path.join(self.place, f"attached.{engine}.pct")
            recorder = subprocess.Popen([p.PCTALLY, "record", "-f", "-e", engine, "-o", path, "-p", str(pid)], stderr=subprocess.PIPE)
            self.addCleanup(recorder.communicate)
            self.assertIn(b"recording", recorder.stderr.readline())
            p.await_ticks(path, 100, recorder)
            os.kill(pid, signal.SIGKILL)
            container.wait()
            recorder.wait()
            data = p.report(path)
            p.assert_ledger(self, data)
            self.assertGreater(p.share_at_most(data, "spin_here"), 0.8, data["rows"][:4])

    def runs_spinner(self, pid):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                return file.read() == b"\0".join((os.path.join(self.place, "spinner").encode(), b"1", b"60", b""))
        except OSError:
            return False


class Rootless(Podman):
    prefix = []

    @classmethod
    def prepare(cls):
        cls.user = rootless_user()
        if cls.user is None or shutil.which("newuidmap") is None or shutil.which("setpriv") is None:
            raise unittest.SkipTest("nobody has subordinate users here (/etc/subuid; useradd gives them), or newuidmap is missing")
        cls.run_directory = tempfile.mkdtemp(dir=cls.place)
        cls.addClassCleanup(cls.end_pause, cls.run_directory)
        for top, directories, files in os.walk(cls.root):
            for path in [top, *(os.path.join(top, name) for name in directories + files)]:
                os.chown(path, cls.user.pw_uid, cls.user.pw_gid)
        os.chown(cls.run_directory, cls.user.pw_uid, cls.user.pw_gid)

    @staticmethod
    def end_pause(directory):
        """podman leaves a process behind that holds the user's namespaces."""
        for path in glob.glob(os.path.join(directory, "**", "pause.pid"), recursive=True):
            with open(path, encoding="ascii") as file:
                os.kill(int(file.read()), signal.SIGKILL)

    @classmethod
    def user_words(cls):
        return ["setpriv", f"--reuid={cls.user.pw_uid}", f"--regid={cls.user.pw_gid}", "--init-groups", "--inh-caps=-all", "env", "-i",
                "-C", "/", f"HOME={cls.run_directory}", f"PATH={os.environ['PATH']}", f"XDG_RUNTIME_DIR={cls.run_directory}"]


if __name__ == "__main__":
    p.main()
