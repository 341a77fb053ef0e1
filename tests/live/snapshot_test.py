"""pctally snapshot of a recording with four busy threads at 10 kHz, again and again, with each engine: every copy is sound, its
ledger is the sum of its cells to the tick, and no count falls from one to the next."""
import collections
import itertools
import os
import stat
import struct
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

LEDGER = 320


def ledger_of(path):
    """counted, outside, full, lost, deferred, resolved, samples, weight_squares as they stand in the file."""
    with open(path, "rb") as file:
        data = file.read(LEDGER + 64)
    assert data[:8] == b"pctally\n", data[:8]
    return struct.unpack_from("<8Q", data, LEDGER)


def field(path, offset):
    with open(path, "rb") as file:
        return struct.unpack_from("<I", file.read(400), offset)[0]


def snapshot(*words):
    return subprocess.run([p.PCTALLY, "snapshot", *words], capture_output=True, text=True)


class Snapshot(unittest.TestCase):
    runs = p.scale(7)

    def start(self, engine, path):
        recorder = subprocess.Popen([p.PCTALLY, "record", "-q", "-f", "-F", "10000", "-e", engine, "-o", path, "--",
                                     p.program("spinner"), "4", "1000"], stderr=subprocess.DEVNULL)
        self.addCleanup(recorder.wait)
        self.addCleanup(recorder.terminate)  # passed on to the program
        while recorder.poll() is None:  # until there is something to copy
            if os.path.exists(path) and os.path.getsize(path) >= 4096 and field(path, 0) != 0:
                if sum(ledger_of(path)[:4]) > 100:
                    return recorder
        raise AssertionError("the recorder ended early")

    def rows_of(self, path):
        data = p.report(path)
        p.assert_ledger(self, data)
        self.assertTrue(data["complete"], data["warnings"])
        self.assertTrue(any("snapshot" in warning["text"] for warning in data["warnings"]), data["warnings"])
        sums = collections.Counter()  # two functions of the kernel may have one name
        for row in data["rows"]:
            sums[row["object"], row["function"]] += row["ticks"]
        return data, sums

    def test_snapshots_of_a_busy_recording(self):
        for engine in p.engines():
            with self.subTest(engine=engine):
                path = os.path.join(p.scratch(), f"{engine}.pct")
                out = os.path.join(p.scratch(), f"{engine}.copy.pct")
                recorder = self.start(engine, path)
                last, last_rows, moments = (0,) * 8, {}, set()
                deadline = time.monotonic() + 20  # a fast machine takes several copies between two drains
                for turn in itertools.count():
                    if turn >= self.runs and (len(moments) > 5 or time.monotonic() > deadline):
                        break
                    result = snapshot("-q", "-f", "-o", out, path)
                    self.assertEqual((result.returncode, result.stderr), (0, ""))
                    ledger = ledger_of(out)
                    counted, outside, full, lost, deferred, resolved = ledger[:6]
                    self.assertEqual(deferred, resolved)
                    self.assertGreaterEqual(counted, last[0])
                    self.assertGreaterEqual(counted + outside + full + lost, sum(last[:4]))
                    data, rows = self.rows_of(out)  # its counted is the sum of the cells, whatever the file says
                    self.assertEqual([data[key] for key in ("counted", "outside", "full", "lost")],
                                     [counted, outside, full, lost])
                    for key, ticks in last_rows.items():
                        if key[0] != "" and not key[1].startswith("[outside"):
                            self.assertGreaterEqual(rows.get(key, 0), ticks, (turn, key))
                    last, last_rows = ledger, rows
                    moments.add(counted)
                self.assertIsNone(recorder.poll())
                self.assertGreater(len(moments), 5, "the recording went on meanwhile")
                recorder.terminate()
                recorder.wait()
                self.assertGreaterEqual(p.report(path)["counted"], last[0])

    def test_a_copy_is_a_closed_file_of_mode_0600(self):
        engine = p.engines()[0]
        path = os.path.join(p.scratch(), "mode.pct")
        self.start(engine, path)
        result = subprocess.run([p.PCTALLY, "snapshot", path], cwd=p.scratch(), capture_output=True, text=True)
        self.assertIn("pctally report mode.1.pct", result.stderr)
        out = os.path.join(p.scratch(), "mode.1.pct")
        self.assertEqual(stat.S_IMODE(os.stat(out).st_mode), 0o600)
        self.assertEqual((field(out, 28), field(out, 264), field(out, 268)), (2, 1, 1))
        self.assertEqual(os.path.getsize(out), 4096 + 64 * field(out, 32))
        result = subprocess.run([p.PCTALLY, "snapshot", path], cwd=p.scratch(), capture_output=True, text=True)
        self.assertIn("mode.2.pct", result.stderr)

    def test_refusals(self):
        path = os.path.join(p.scratch(), "done.pct")
        p.record([p.program("spinner"), "1", "0.1"], path=path)
        for words, code, text in (([], 2, "FILE"), (["/nonexistent.pct"], 4, "cannot open"), (["/dev/null"], 4, "regular"),
                                  (["-f", "-o", path, path], 125, "the recording itself"),
                                  (["-o", path, path], 125, "exists"), (["-o", "/nonexistent/x", path], 125, "create")):
            result = snapshot(*words)
            self.assertEqual(result.returncode, code, (words, result))
            self.assertIn(text, result.stderr)

    def test_a_closed_file_is_copied_as_it_is_and_an_abandoned_one_stays_abandoned(self):
        path = os.path.join(p.scratch(), "closed.pct")
        p.record([p.program("spinner"), "1", "0.2"], path=path)
        result = snapshot("-o", path + ".copy", path)
        self.assertIn("has ended: this is a plain copy", result.stderr)
        with open(path, "rb") as one, open(path + ".copy", "rb") as other:
            self.assertEqual(one.read(), other.read())
        left = os.path.join(p.scratch(), "left.pct")
        recorder = self.start(p.engines()[0], left)
        child = p.command_of(recorder.pid)
        recorder.kill()
        recorder.wait()
        os.kill(child, 9)
        self.assertIn("was killed; the copy says so too", snapshot("-o", left + ".copy", left).stderr)
        warnings = p.report(left + ".copy")["warnings"]
        self.assertIn("cut-off", [warning["id"] for warning in warnings])


if __name__ == "__main__":
    p.main()
