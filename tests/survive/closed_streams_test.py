"""Standard streams that are closed (daemons, cron, service managers do that): no file takes the number of one, so that
no message goes into a profile, and the command meets them closed as it would without pctally."""
import itertools
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

CLOSINGS = [closed for count in (1, 2, 3) for closed in itertools.combinations((0, 1, 2), count)]


def without_streams(closed, words):
    """Its stdout and stderr where they are open."""
    def close_them():
        for fd in closed:
            os.close(fd)
    return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=close_them)


class ClosedStreams(unittest.TestCase):
    def test_a_profile_is_whole(self):
        for engine, closed in itertools.product(p.engines("bpf", "ring", "timer", "trap"), CLOSINGS):
            with self.subTest(engine=engine, closed=closed):
                path = os.path.join(p.scratch(), "closed.pct")
                with p.Machine() as machine:
                    done = without_streams(closed, [p.PCTALLY, "record", "-f", "-e", engine, "-o", path, "--", p.program("spinner"), "1", "0.1"])
                self.assertEqual(done.returncode, 0, done.stderr)
                data = p.report(path)
                p.assert_ledger(self, data)
                said = (done.stderr, data["warnings"], data.get("unsampled_parts"), data["processes"])
                if machine.judges(f"{engine}: what 0.1 s has most of"):
                    self.assertGreater(p.share_at_most(data, "spin_here"), 0.5, said)
                if machine.judges(f"{engine}: that a second is enough for names"):
                    self.assertTrue(p.has_names(path))

    def test_the_command_meets_them_closed(self):
        words = ["sh", "-c", "for fd in 0 1 2; do [ -e /proc/$$/fd/$fd ] && n=$n$fd; done; exit ${n:-9}"]
        for engine, closed in itertools.product(p.engines("ring", "timer"), CLOSINGS):
            with self.subTest(engine=engine, closed=closed):
                path = os.path.join(p.scratch(), "command.pct")
                recorded = without_streams(closed, [p.PCTALLY, "record", "-q", "-f", "-e", engine, "-o", path, "--", *words])
                self.assertEqual(recorded.returncode, without_streams(closed, words).returncode)

    def test_a_reader_of_messages_that_goes_away_ends_no_recording(self):
        if not p.engines("ring", "bpf"):
            self.skipTest("nothing that runs can be recorded here")
        path = os.path.join(p.scratch(), "unread.pct")
        reading, writing = os.pipe()
        os.close(reading)
        with subprocess.Popen([p.program("spinner"), "1", "100"]) as target:
            try:
                done = subprocess.run([p.PCTALLY, "record", "-f", "-o", path, "-p", str(target.pid), "--for", "0.2"], stderr=writing)
            finally:
                target.kill()
        os.close(writing)
        self.assertEqual(done.returncode, 0)
        self.assertNotIn("cut off", "".join(warning["text"] for warning in p.report(path)["warnings"]))

    def test_what_is_written_elsewhere_is_whole_too(self):
        path = p.record([p.program("spinner"), "1", "0.1"]).path
        for command in (["export", "--format", "folded"], ["merge"]):
            whole, under_test = (os.path.join(p.scratch(), f"{name}.{command[0]}") for name in ("whole", "streamless"))
            subprocess.run([p.PCTALLY, *command, "-o", whole, path], check=True, stderr=subprocess.DEVNULL)
            self.assertEqual(without_streams((0, 1, 2), [p.PCTALLY, *command, "-o", under_test, path]).returncode, 0)
            with open(whole, "rb") as one, open(under_test, "rb") as other:
                self.assertEqual(one.read(), other.read())

    def test_output_that_cannot_be_written_is_an_error(self):
        path = p.record([p.program("spinner"), "1", "0.1"]).path
        done = without_streams((1,), [p.PCTALLY, "report", path])
        self.assertEqual(done.returncode, 125)
        self.assertIn("cannot write to standard output", done.stderr)

    def test_who_has_read_enough_is_told_nothing(self):
        """As of pctally report | head."""
        path = p.record([p.program("spinner"), "1", "0.1"]).path
        for words in (["report", path], ["report", "--json", path], ["export", "--format", "folded", path], ["annotate", "spin_here", path]):
            reading, writing = os.pipe()
            os.close(reading)
            done = subprocess.run([p.PCTALLY, *words], stdout=writing, stderr=subprocess.PIPE, text=True)
            os.close(writing)
            self.assertEqual((done.returncode, done.stderr), (125, ""), words)


if __name__ == "__main__":
    p.main()
