"""record -e EVENT: ticks that stand for page faults, switches, cycles instead of CPU time, from the command line to
every report; and who refuses what."""
import json
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

PAGES = 4000
STARTUP = 600  # page faults of a program's own start and end: pages of its text, libraries, stack
TOUCHER = [p.program("toucher"), str(PAGES)]
ENGINES = p.engines("ring", "bpf")


def run(*words):
    return subprocess.run([p.PCTALLY, *words], capture_output=True, text=True)


def kernel_is_seen(engine):
    rows = json.loads(run("engines", "--json").stdout)
    return "kernel mode" not in next(row for row in rows if row["engine"] == engine)["misses"]


def may_lock_memory():
    """CAP_IPC_LOCK."""
    with open("/proc/self/status", encoding="utf-8") as status:
        return next(int(line.split()[1], 16) for line in status if line.startswith("CapEff:")) >> 14 & 1


@unittest.skipUnless(ENGINES, "no engine that counts events is available here: pctally engines says why")
class Events(unittest.TestCase):
    def recorded(self, engine, event, *options, command=TOUCHER):
        done = p.record(command, "-e", engine, "-e", event, *options)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        data = done.report()
        p.assert_ledger(self, data)
        self.assertEqual(data["engine"], engine)
        return done, data

    def test_page_faults_are_where_the_pages_are_touched(self):
        for engine in ENGINES:
            with self.subTest(engine=engine):
                done, data = self.recorded(engine, "page-faults")
                truth = int(done.stdout.split()[0])
                print(f"{engine}: {data['ticks']} page faults, {p.ticks_of(data, 'touch_pages')} of {truth} in "
                      f"touch_pages, {data['lost']} lost", flush=True)
                self.assertGreaterEqual(truth, PAGES)
                self.assertEqual(data["event"], "page-faults")
                self.assertEqual(data["period_events"], 1)
                self.assertGreaterEqual(p.ticks_of(data, "touch_pages") + data["lost"], 0.999 * truth)
                self.assertGreaterEqual(p.ticks_of(data, "touch_pages"), 0.95 * truth)
                self.assertLessEqual(p.ticks_of(data, "touch_pages"), truth + 5)
                self.assertLessEqual(data["ticks"], truth + STARTUP)

    def test_a_burst_of_events_with_their_paths(self):
        """Some 450 page faults in a few ms: the recorder may come late, and what it loses is said."""
        for engine in ENGINES:
            with self.subTest(engine=engine):
                done, data = self.recorded(engine, "page-faults", "-g", command=[p.program("toucher"), "300"])
                truth = int(done.stdout.split()[0])
                paths = data["paths"]
                self.assertEqual(data["ticks"], data["counted"] + data["outside"] + data["full"] + data["lost"])
                self.assertEqual(paths["complete"] + sum(cut["ticks"] for cut in paths["cut"]) + paths["no_room"],
                                 data["ticks"] - data["lost"])
                self.assertGreaterEqual(p.ticks_of(data, "touch_pages") + data["lost"], truth)
                if may_lock_memory() and os.cpu_count() <= 8:  # each CPU's ring has room for all of them
                    self.assertEqual(data["lost"], 0)
                    main = next(row for row in data["rows"] if row["function"] == "main")
                    self.assertGreaterEqual(main["total_ticks"], 0.95 * truth)

    def test_the_most_events_of_a_tick_can_be_read(self):
        """The number is drawn: above the one asked for in half of the recordings."""
        for _ in range(8):
            done = p.record(["true"], "-e", ENGINES[0], "-e", "faults", "-c", "1000000000000")
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            self.assertLessEqual(done.report()["period_events"], 1000000000000)

    def test_several_events_make_one_tick(self):
        for engine in ENGINES:
            for asked, fewest, most in ((7, 7, 7), (100, 92, 108)):
                with self.subTest(engine=engine, asked=asked):
                    _, data = self.recorded(engine, "faults", "-c", str(asked), command=[p.program("toucher"), "20000"])
                    self.assertTrue(fewest <= data["period_events"] <= most, data["period_events"])
                    period = data["period_events"]
                    # The last period of each CPU, and, at worst, who else faults decides at random which fault is the tick's:
                    # four standard deviations.
                    self.assertAlmostEqual(p.ticks_of(data, "touch_pages") * period, 20000,
                                           delta=period * (os.cpu_count() + 4 * (20000 / period) ** 0.5))

    def test_as_asked_if_the_period_shall_not_be_drawn(self):
        _, data = self.recorded(ENGINES[0], "page-faults", "-c", "1000", "--fixed-period")
        self.assertEqual(data["period_events"], 1000)

    def test_context_switches_are_in_the_kernel(self):
        for engine in ENGINES:
            with self.subTest(engine=engine):
                if not kernel_is_seen(engine):
                    self.skipTest("kernel mode may not be seen here")
                done, data = self.recorded(engine, "cs", command=[p.program("toucher"), "1", "300"])
                truth, since_start = (int(number) for number in done.stdout.split()[1:])  # a busy machine takes its CPU away at its start, too
                self.assertEqual(data["event"], "context-switches")
                self.assertGreater(truth, 200)  # a sleep that is over before the program is off its CPU is no switch
                self.assertGreaterEqual(data["ticks"], 0.95 * truth - 20)
                self.assertLessEqual(data["ticks"], 1.05 * since_start + 20)
                kernel = sum(row["share"] for row in data["rows"] if row["object"] == "[kernel]")
                self.assertGreater(kernel, 0.95)

    def test_reports_speak_of_events_and_not_of_time(self):
        done, data = self.recorded(ENGINES[0], "page-faults")
        for key in ("period_ns", "sampled_s", "lost_s", "unsampled_s"):
            self.assertIsNone(data[key], key)
        self.assertTrue(all(row["seconds"] is None and row["events"] == row["ticks"] for row in data["rows"]))
        self.assertFalse([warning for warning in data["warnings"] if "CPU time" in warning["text"]])
        text = run("report", done.path).stdout
        self.assertIn(f"{ENGINES[0]}, a tick per 1 page-faults", text)
        self.assertIn(f"events    {data['ticks']} page-faults = ", text)
        for time in ("seconds ", "unsampled", "CPU time  "):
            self.assertNotIn(time, text)
        self.assertIn("ticks of 1 page-faults; by", run("top", done.path).stdout)

    def test_the_recorder_says_what_it_counted(self):
        done = p.record(TOUCHER, "-e", "page-faults", quiet=False)
        self.assertRegex(done.stderr.decode(), r"pctally: ([\d,]+) page-faults in \1 ticks, .*; next: pctally report ")

    def test_a_snapshot_keeps_the_event(self):
        done, data = self.recorded(ENGINES[0], "page-faults")
        copy = os.path.join(p.scratch(), "copy.pct")
        self.assertEqual(run("snapshot", "-q", "-f", "-o", copy, done.path).returncode, 0)
        self.assertEqual(p.report(copy)["event"], "page-faults")
        self.assertEqual(p.report(copy)["ticks"], data["ticks"])

    def test_prof_has_no_column_for_it(self):
        done, _ = self.recorded(ENGINES[0], "page-faults")
        listing = run("prof", "-m", done.path, p.program("toucher"))
        self.assertEqual(listing.returncode, 4)
        self.assertRegex(listing.stderr, r"^pctally: .* counts page-faults, and prof lists seconds; .*\n$")
        self.assertEqual(listing.stdout, "")

    def test_cpu_time_by_its_own_names(self):
        for name in ("cpu-clock", "task-clock"):
            done, data = self.recorded(ENGINES[0], name, command=[p.program("spinner"), "1", "0.2"])
            self.assertNotIn("event", data)
            self.assertGreater(data["sampled_s"], 0.1)

    def test_top_records_events_too(self):
        shown = run("top", "--count", "1", "--interval", "0.5", "-e", ENGINES[0], "-e", "page-faults", "-c", "3", "--",
                    p.program("churn"), "10")
        self.assertIn("ticks of 3 page-faults", shown.stdout, shown.stderr)


def perf_count(event, command):
    """What perf stat says of a run of its own; None without perf."""
    if shutil.which("perf") is None:
        return None
    said = subprocess.run(["perf", "stat", "-x,", "-e", event, "--", *command], capture_output=True, text=True).stderr
    counts = [line.split(",")[0] for line in said.splitlines() if f",{event}" in line]
    return int(counts[0]) if counts and counts[0].isdigit() else None


@unittest.skipUnless(ENGINES, "no engine that counts events is available here: pctally engines says why")
class Hardware(unittest.TestCase):
    """Wherever a PMU is. The bounds are those of separate runs: the program's work is the same in each."""
    WORK = [p.program("fixed_work"), "300"]

    def setUp(self):
        probe = run("record", "-q", "-f", "-o", os.path.join(p.scratch(), "probe.pct"), "-e", "cycles", "--", "true")
        if probe.returncode != 0:
            self.skipTest("no PMU: " + probe.stderr.strip())

    def test_a_known_loop(self):
        for engine in ENGINES:
            for event, bound in (("instructions", 0.03), ("branches", 0.03), ("cycles", 0.15)):
                with self.subTest(engine=engine, event=event):
                    done = p.record(self.WORK, "-e", engine, "-e", event)
                    self.assertEqual(done.returncode, 0, done.stderr.decode())
                    data = done.report()
                    p.assert_ledger(self, data)
                    self.assertEqual(data["event"], event)
                    self.assertGreater(p.share_at_most(data, "work"), 0.9)
                    truth = perf_count(event, self.WORK)
                    counted = data["sampled_events"] + data["lost_events"]
                    print(f"{engine}: {counted:.0f} {event}, perf stat {truth}", flush=True)
                    if truth is not None:
                        self.assertAlmostEqual(counted / truth, 1, delta=bound)


class Refusals(unittest.TestCase):
    def refused(self, code, *words, **options):
        done = run("record", "-o", os.path.join(p.scratch(), "refused.pct"), *words, "--", "true")
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertRegex(done.stderr, r"^pctally: [^\n]*\n$")
        self.assertFalse(os.path.exists(os.path.join(p.scratch(), "refused.pct")))
        return done.stderr

    def test_without_a_pmu(self):
        probe = run("record", "-q", "-f", "-o", os.path.join(p.scratch(), "probe.pct"), "-e", "cycles", "--", "true")
        if probe.returncode == 0:
            self.skipTest("this machine has a PMU")
        for event, name in (("cycles", "cycles"), ("branch-instructions", "branches"), ("cache-misses", "cache-misses")):
            line = self.refused(125, "-e", event)
            if "no hardware counter" not in line:
                self.skipTest("perf_event_open is not permitted here")
            self.assertEqual(line, f"pctally: {name}: this machine has no hardware counter for it; without -e, CPU time is "
                             "recorded\n")

    def test_engines_that_have_a_clock_alone(self):
        for engine in ("timer", "trap"):
            line = self.refused(2, "-e", engine, "-e", "page-faults")
            self.assertEqual(line, f"pctally: -e {engine}: it counts CPU time alone; use -e ring -e page-faults, or -e bpf -e page-faults\n")

    def test_a_frequency_is_for_cpu_time(self):
        line = self.refused(2, "-e", "page-faults", "-F", "100")
        self.assertIn("page-faults", line)
        self.assertIn("-c N", line)

    def test_a_number_of_events_is_one(self):
        for wrong in ("0", "1ms", "-1", "1.5", "1e3", "1000000000001", "99999999999999999999999"):
            line = self.refused(2, "-e", "page-faults", f"--period={wrong}")
            self.assertIn(f"-c {wrong}: not a number of page-faults; write 1 to 1000000000000", line)
        self.assertIn("not a time from 10us to 10s", self.refused(2, "-e", "ring", "-c", "7"))

    def test_one_of_each(self):
        for words in (["-e", "ring", "-e", "bpf"], ["-e", "page-faults", "-e", "cycles"], ["-e", "cpu-clock", "-e", "cs"],
                      ["-e", "ring", "-e", "cs", "-e", "ring"]):
            self.assertIn("choose one event and one engine, not two of a kind", self.refused(2, *words))

    def test_neither(self):
        for word in ("cycle", "Page-Faults", "r01c4"):
            self.assertIn(f"'{word}' is no event or engine; ", self.refused(2, "-e", word))

    def test_where_perf_is_refused(self):
        done = subprocess.run([p.program("no_perf"), "EPERM", p.PCTALLY, "record", "-e", "page-faults", "-o",
                               os.path.join(p.scratch(), "refused.pct"), "--", "true"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 125)
        self.assertEqual(done.stderr, "pctally: cannot count page-faults: this container forbids it; see pctally engines\n")


if __name__ == "__main__":
    p.main()
