"""The account of one run of scripts/check: each step's result in a file of its own as it ends, and a summary of them."""
import hashlib
import json
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import time


def bytes_of(*command):
    """Nothing if there is no such program."""
    if shutil.which(command[0]) is None:
        return b""
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout


def output_of(*command):
    return bytes_of(*command).decode(errors="replace")


def content(file):
    """Of a file, which may be gone by now, or a link's target. Git names a whole repository within this one as a folder; that has none."""
    try:
        if os.path.islink(file):
            return os.readlink(file)
        with open(file, "rb") as opened:
            return opened.read()
    except OSError:
        return b""


def untracked():
    """For each file that git does not know and does not ignore: its name, whether it can be executed, a hash of its content."""
    files = bytes_of("git", "ls-files", "-oz", "--exclude-standard").split(b"\0")[:-1]
    return b"".join(b"%s\0%d %s\n" % (file, os.access(file, os.X_OK), hashlib.sha256(content(file)).hexdigest().encode()) for file in files)


def sources():
    """What is checked: the commit, and a hash of what differs from it. Nothing where git knows no commit."""
    commit = output_of("git", "rev-parse", "--short=12", "HEAD").strip()
    if not commit:
        return ""
    changes = bytes_of("git", "diff", "HEAD") + untracked()
    return commit + ("-" + hashlib.sha256(changes).hexdigest()[:8] if changes else "")


def children_cpu_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Record:
    def __init__(self, mode, resume):
        self.mode = mode
        self.directory = os.path.join("build", "check", mode)
        self.sources = sources()
        self.resume = resume and self.sources != ""  # without git any sources would seem to be the same
        self.results = []
        self.closing = []  # lines a step wants at the very end of the output
        self.notes = []    # lines of the step that runs: what was skipped, what was repeated
        self.skipped = []  # why it, or a part of it, did not run
        self.ended = False
        os.makedirs(self.directory, exist_ok=True)

    def path(self, name, ending):
        return os.path.join(self.directory, re.sub(r"\W+", "-", name) + ending)

    def step(self, name, run, variables=()):
        """run(self) -> true if it passed. What it said is in its notes. `variables`: those of the environment that it goes by."""
        file = self.path(name, ".json")
        parameters = {variable: os.environ[variable] for variable in variables if os.environ.get(variable)}
        earlier = self.earlier(file, parameters)
        if earlier:
            print(f"\n== {name}: passed already", flush=True)
            self.results.append(earlier)
            return
        if os.path.exists(file):  # a step that does not come to its end has not passed
            os.remove(file)
        print(f"\n== {name}", flush=True)
        self.notes, self.skipped = [], []
        began, cpu = time.monotonic(), children_cpu_s()
        passed = bool(run(self))
        result = {"step": name, "passed": passed, "wall_s": round(time.monotonic() - began, 1),
                  "cpu_s": round(children_cpu_s() - cpu, 1), "notes": self.notes, "skipped": self.skipped,
                  "sources": self.sources, "parameters": parameters}
        for note in self.notes:
            print("   " + note)
        print(f"-- {name}: {'passed' if passed else 'FAILED'} in {result['wall_s']} s ({result['cpu_s']} s of CPU time)", flush=True)
        self.results.append(result)
        with open(file, "w", encoding="utf-8") as kept:
            json.dump(result, kept, indent=1)
        self.write_summary()

    def earlier(self, file, parameters):
        """The result of an earlier run that need not be repeated: the whole step passed, on these sources, with these parameters."""
        if not self.resume or not os.path.exists(file):
            return None
        with open(file, encoding="utf-8") as kept:
            result = json.load(kept)
        same = result["sources"] == self.sources and result.get("parameters") == parameters
        return result if result["passed"] and same and result.get("skipped") == [] else None

    def skip(self, reason):
        """The step that runs, or a part of it, cannot be done here. It may pass, and --resume tries it again."""
        self.notes.append("skipped: " + reason)
        self.skipped.append(reason)

    def skipped_steps(self):
        return [f"{result['step']}: {'; '.join(result['skipped'])}" for result in self.results if result["skipped"]]

    def end(self):
        self.ended = True
        self.write_summary()

    def write_summary(self):
        with open(os.path.join(self.directory, "summary.md"), "w", encoding="utf-8") as summary:
            summary.write(self.summary())

    def run(self, *command, env=None, log=None):
        """Runs a command; with `log`, into that file, of which the end is shown if it fails."""
        env = {**os.environ, **(env or {})}
        sys.stdout.flush()
        if log is None:
            return subprocess.run(command, env=env, check=False).returncode == 0
        with open(self.path(log, ".log"), "w", encoding="utf-8") as file:
            passed = subprocess.run(command, env=env, stdout=file, stderr=subprocess.STDOUT, check=False).returncode == 0
        if not passed:
            with open(self.path(log, ".log"), encoding="utf-8", errors="replace") as file:
                print("".join(file.readlines()[-40:]))
        return passed

    def tell(self, *command):
        """Runs a command and passes its lines on: whether it passed, and these lines."""
        sys.stdout.flush()
        said = []
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                print(line, end="", flush=True)
                said.append(line.rstrip("\n"))
        return process.returncode == 0, said

    def failed(self):
        return [result["step"] for result in self.results if not result["passed"]]

    def lines(self):
        rows = [f"{'passed' if r['passed'] else 'FAILED'}  {r['wall_s']:7.1f} s  {r['cpu_s']:7.1f} s CPU  {r['step']}"
                + (f"  (skipped: {'; '.join(r['skipped'])})" if r["skipped"] else "")
                for r in self.results]
        wall, cpu = (sum(r[key] for r in self.results) for key in ("wall_s", "cpu_s"))
        return rows + [f"{'FAILED' if self.failed() else 'passed'}  {wall:7.1f} s  {cpu:7.1f} s CPU  all steps"]

    def summary(self):
        verdict = "FAILED: " + ", ".join(self.failed()) if self.failed() else "passed" if self.ended else "passed so far, not ended"
        head = (f"# scripts/check{'' if self.mode == 'full' else ' --' + self.mode}: {verdict}\n\n"
                f"Sources {self.sources}, {time.strftime('%Y-%m-%d')}, {os.cpu_count()} CPUs, Linux {platform.release()}, "
                f"{platform.machine()}.\n\n| step | result | wall s | CPU s |\n|---|---|---|---|\n")
        rows = [f"| {r['step']} | {'passed' if r['passed'] else 'FAILED'} | {r['wall_s']} | {r['cpu_s']} |" for r in self.results]
        notes = [f"- {r['step']}: {note}" for r in self.results for note in r["notes"]]
        return head + "\n".join(rows) + "\n\n" + "\n".join(notes) + "\n"
