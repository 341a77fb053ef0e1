"""Programs that work against their recorder, while it records them: with each engine, as root and as a plain user, with call
paths, scopes, control groups of the whole machine. It ends in time, with the command's status or a refusal, within its memory;
its file is read or called damaged, and adds up; programs beside it live. PCTALLY_MINUTES=30 for the full figures."""
import collections
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

NOBODY = 65534
PATIENCE_S = 60
MOST_KIB = 160 << 10
SCRIBBLES = ("processes", "objects", "segments", "used", "limit", "ring", "keys", "words")


def adversaries(chance, place):
    """Commands that end by themselves within a second or two."""
    plugin, twin = p.program("plugin.so"), p.program("plugin_twin.so")
    spare = os.path.join(place, "sparse")
    return [f"{p.program('mischief')} {chance.choice((0.2, 0.5, 1))} {chance.randrange(1 << 30)}",
            f"{p.program('mischief')} {chance.choice((0.2, 0.5, 1))} {chance.randrange(1 << 30)}",
            f"{p.program('scribbler')} {chance.choice(SCRIBBLES)} {chance.choice((0, 0.2, 0.5))}",
            f"{p.program('scribbler')} {chance.choice(SCRIBBLES)} {chance.choice((0, 0.2, 0.5))}",
            f"{p.program('mapper')} {os.path.join(place, 'mapped')} {chance.choice((1000, 20000, 60000))} 0.2",
            f"{p.program('forker')} {chance.choice(('fork', 'vfork', 'spawn'))} {chance.choice((20, 200))} 1",
            f"{p.program('churner')} 1 0.3", f"{p.program('thief')} 0.3 {chance.choice(('ignore', 'one', 'trap', 'raw', 'close'))}",
            f"{p.program('unloader')} {plugin} {twin} 0.3", f"{p.program('jit')} 0.2 shared",
            f"timeout 0.4 {p.program('sprawl')} {chance.choice((1, 64, 1024))} {chance.choice((4, 64))} {spare}"]


class Trial:
    def __init__(self, seed, engines):
        chance = random.Random(seed)
        self.place = tempfile.mkdtemp(dir=p.scratch())
        self.user = chance.choice((0, NOBODY)) if os.geteuid() == 0 else os.geteuid()
        os.chown(self.place, self.user, -1)
        self.path = os.path.join(self.place, "p.pct")
        foes = [chance.choice(adversaries(chance, self.place)) for _ in range(chance.choice((1, 2, 3)))]
        spinner = f"{p.program('spinner')} 1 0.2 >/dev/null"
        script = " ".join(f"{foe} >/dev/null 2>&1 &" for foe in foes) + f" {spinner}; kept=$?; wait; exit $kept"
        engine = chance.choice(engines)
        options = ["-q", "-e", engine, "-o", self.path, *chance.choice(([], [], ["-g"], ["-F", "5000"], ["--scope", "program"],
                                                                        ["--scope", "thread"], ["--no-children"], ["--wait"]))]
        machine = engine in ("bpf", "ring") and self.user == 0 and chance.random() < 0.15
        self.script = script
        self.words = [p.PCTALLY, "record", *options, *(["-a", "--for", "1"] if machine else ["--", "sh", "-c", script])]
        self.beside = ["sh", "-c", script] if machine else None

    def run(self):
        """What is wrong, or None; and what became of it."""
        peak = os.path.join(self.place, "peak")
        beside = subprocess.Popen(self.beside, user=self.user, stdout=subprocess.DEVNULL) if self.beside else None
        as_user = {"user": self.user, "group": self.user, "extra_groups": []} if os.geteuid() == 0 else {}
        recorder = subprocess.Popen([p.program("peak"), peak, *self.words], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd=self.place,
                                    start_new_session=True, **as_user)
        try:
            said = recorder.communicate(timeout=PATIENCE_S)[1].decode(errors="replace")
        except subprocess.TimeoutExpired:
            os.killpg(recorder.pid, 9)
            recorder.communicate()
            return "hang", "hang"
        if beside and beside.wait() != 0:
            return "a program beside it ended badly", "recorded"
        if recorder.returncode in (2, 125) and said.startswith("pctally: ") and not os.path.exists(self.path):
            return None, "refused"
        if recorder.returncode != 0:
            return f"exit {recorder.returncode}: {said[-300:]}", "other"
        with open(peak, encoding="ascii") as file:
            kib = int(file.read())
        if kib > MOST_KIB:
            return f"memory: {kib} KiB", "recorded"
        return self.read_back()

    def read_back(self):
        report = subprocess.run([p.PCTALLY, "report", "--json", "--limit", "0", self.path], capture_output=True, timeout=PATIENCE_S)
        if report.returncode == 4:
            return None if report.stderr.startswith(b"pctally: ") else f"report: {report.stderr[-300:]}", "damaged"
        if report.returncode != 0:
            return f"report: exit {report.returncode}: {report.stderr[-300:]}", "recorded"
        data = p.json.loads(report.stdout)
        parts = data["counted"] + data["outside"] + data["full"] + data["lost"]
        sound = data["ticks"] == parts == sum(row["ticks"] for row in data["rows"])
        return None if sound else f"the sum: {data['ticks']} of {parts}", "recorded"


class HostileTargets(unittest.TestCase):
    def test_recorders_live(self):
        engines = p.engines("bpf", "ring", "timer", "trap")
        os.chmod(p.scratch(), 0o755)
        seed, counts, found = int(os.environ.get("PCTALLY_SEED", 0)), collections.Counter(), []
        minutes = float(os.environ.get("PCTALLY_MINUTES", 0))  # $MINUTES shortens those of scripts/check --all
        seconds = 60 * min(minutes, float(os.environ.get("MINUTES", minutes)))
        end, first = time.monotonic() + seconds, seed
        while time.monotonic() < end or seed < first + 4:
            trial = Trial(seed, engines)
            fault, became = trial.run()
            counts[became] += 1
            if fault:
                found.append(f"{seed}: {fault}: user {trial.user}: {' '.join(trial.words[:-1])} '{trial.script}'")
                print(found[-1], flush=True)
            shutil.rmtree(trial.place)
            seed += 1
            if (seed - first) % 100 == 0:
                print(f"{seed - first}: {dict(counts)}", flush=True)
        print(f"{seed - first} recordings: " + ", ".join(f"{count} {what}" for what, count in sorted(counts.items())), flush=True)
        self.assertEqual(found, [])


if __name__ == "__main__":
    p.main()
