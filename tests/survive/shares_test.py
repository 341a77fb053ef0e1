"""One user cannot take the room of a machine-wide recording from the others: 16 GB of code of one beside the ticks of another."""
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

PIECES = 1024
ENOUGH = 300  # ticks of the attack: pieces that have had one; their directories would fill the file


def mapped(pid, name):
    with open(f"/proc/{pid}/maps", encoding="ascii") as file:
        return sum(name in line for line in file)


def ticks_of_process(data, comm):
    return sum(process["ticks"] for process in data["processes"] if process["comm"] == comm)


class Shares(unittest.TestCase):
    def setUp(self):
        p.need_other_users(self)
        os.chmod(p.scratch(), 0o755)
        self.directory = tempfile.mkdtemp(dir=p.scratch())
        os.chmod(self.directory, 0o777)
        for name, copy in (("sprawl", "attacker"), ("spinner", "victim")):  # where other users may run them
            shutil.copy(p.program(name), os.path.join(self.directory, copy))

    def attack(self):
        """A running attack: all is mapped before the recording starts."""
        name = os.path.join(self.directory, "sparse")
        attack = subprocess.Popen([*p.as_user(65534), os.path.join(self.directory, "attacker"), "16", str(PIECES), name])
        self.addCleanup(attack.wait)
        self.addCleanup(attack.kill)
        while mapped(attack.pid, name) < PIECES:
            if attack.poll() == 77:
                self.skipTest("no code for this machine")
            time.sleep(0.01)

    def recorded(self, engine):
        path = os.path.join(self.directory, f"{engine}.pct")
        recorder = subprocess.Popen([p.PCTALLY, "record", "-q", "-a", "-e", engine, "-o", path])
        self.addCleanup(recorder.kill)
        while not os.path.exists(path) or ticks_of_process(p.report(path), "attacker") < ENOUGH:
            self.assertIsNone(recorder.poll())
            time.sleep(0.05)
        subprocess.run([*p.as_user(65533), os.path.join(self.directory, "victim"), "1", "0.3"], check=True)
        recorder.send_signal(signal.SIGINT)
        recorder.wait()
        return p.report(path)

    def test_another_users_ticks_have_their_places(self):
        self.attack()
        for engine in p.engines("bpf", "ring"):
            with self.subTest(engine=engine):
                data = self.recorded(engine)
                p.assert_ledger(self, data)
                victims = ticks_of_process(data, "victim")
                placed = sum(row["ticks"] for row in data["rows"] if row["object"] == "victim")
                refused = {row["function"]: row["ticks"] for row in data["rows"] if "no room" in row["function"]}
                print(f"{engine}: victim {placed} of {victims} ticks, attacker {ticks_of_process(data, 'attacker')}, "
                      f"full {data['full']}, refused {refused}", flush=True)
                self.assertGreater(placed, 0.5 * victims, "the rest is the kernel's and the libraries'")
                self.assertEqual(list(refused), ["[no room: user nobody]"], "the attacker")
                self.assertLessEqual(data["full"] + data["outside"], 0.02 * victims, "98 % of the victim's have a place")


if __name__ == "__main__":
    p.main()
