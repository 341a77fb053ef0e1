"""Runs ctest and passes its lines on: of a test's own output what a failed one said, and why one was skipped."""
import collections
import json
import os
import re
import shutil
import subprocess

import ctest_results

NOISE = re.compile(r"^(UpdateCTestConf|Internal ctest|Test project|Updating test list|Constructing|Done constr|Checking test|"
                   r"Added \d+ tests|Errors while|Output from these|Use \"--rerun)|^ *Start +\d+:|^$")


def jobs_by_default():
    return os.environ.get("JOBS") or str(os.cpu_count())


def jobs_that_wait():
    """For tests of the release build, which wait for a third of their time: for a program that runs, for a recorder's turn."""
    return os.environ.get("JOBS") or str((os.cpu_count() or 1) + 1)


def ctest(tree, *options, jobs=None):
    """ctest's command that fails where it finds no test, and the report that it will write. That of an earlier run is removed."""
    report = os.path.abspath(os.path.join(tree, "tests.xml"))
    if os.path.exists(report):
        os.remove(report)
    return ["ctest", "--test-dir", tree, "-j", jobs or jobs_by_default(), "--no-tests=error", *ctest_results.options(report), *options], report


def run(record, tree, *chosen, jobs=None, repeat=1, no_aslr=False, last=False):
    """True if there were tests and all passed. `repeat`: how often each may be tried. `last`: ctest's summary
    ends the output."""
    command, report = ctest(tree, *chosen, *(["--repeat", f"until-pass:{repeat}"] if repeat > 1 else []), jobs=jobs)
    if no_aslr and shutil.which("setarch") and subprocess.run(["setarch", "-R", "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
        command = ["setarch", "-R", *command]
    passed, tried, summary = stream(command)
    if not os.path.exists(report):
        record.notes.append("ctest has written no report")
        return False
    results = ctest_results.read(report)
    for name, said in results.failed:
        print(f"\nFAILED: {name}\n{said[-6000:]}")
    note(record, results, tried)
    if last:
        record.closing = closing(record, summary)
    else:
        print("\n".join(line for line in summary if "tests passed" in line or "(Failed)" in line))
    return passed


def stream(command):
    """ctest's verdict, how many times it started a test, and the lines of its summary."""
    started, summary = 0, []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        for line in process.stdout:
            started += bool(re.match(r" *Start +\d+:", line))
            if summary or re.match(r"\d+% tests passed", line):
                summary.append(line.rstrip("\n"))
            elif not NOISE.match(line):
                print(line, end="", flush=True)
    return process.returncode == 0, started, summary


def note(record, results, tried):
    tests = results.tests
    record.notes.append(f"{results.passed} passed, {len(results.failed)} failed, {len(results.skipped)} skipped by name"
                        + (f", {tried - tests} tests repeated" if tried > tests else ""))
    reasons = {}
    for name, reason in results.skipped:
        reasons.setdefault(reason, []).append(name)
    record.notes += [f"skipped: {', '.join(names)}: {reason}" for reason, names in reasons.items()]
    record.notes += unjudged(results.unjudged)


def unjudged(names):
    """A line for each test with assertions that ask for a calm machine, and had none."""
    return [f"not judged: machine busy: {name}: {times} assertion{'s' if times > 1 else ''}" for name, times in collections.Counter(names).items()]


def closing(record, summary):
    """The end of the output: what failed before, what was not judged, repeated and skipped, steps that did not run, and ctest's summary."""
    lines = [f"FAILED before: {', '.join(record.failed())}"] if record.failed() else []
    notes = [line for result in record.results for line in result["notes"]] + record.notes
    repeated = sum(int(match.group(1)) for line in notes for match in [re.search(r"(\d+) tests repeated", line)] if match)
    skipped = sum(int(match.group(1)) for line in notes for match in [re.search(r"(\d+) skipped by name", line)] if match)
    lines += [line for line in notes if line.startswith("not judged: ")]
    lines += [f"not run, or in part: {step}" for step in record.skipped_steps()]
    return lines + [f"repeated: {repeated} (tests labelled host alone may be); skipped: {skipped}, named above", *summary]


def often(record, tree, label, times):
    """Every test of a label so many times, never repeated to pass; the failures of each are counted. A round is kept as it ends:
    --resume goes on after the last one on the same sources. Without such a test there is no round, and nothing has passed."""
    if times < 1:
        record.notes.append(f"{times} rounds test nothing")
        return False
    rounds = Rounds(record)
    while len(rounds.ended) < times:
        command, report = ctest(tree, "-L", label)
        passed, _, _ = stream(command)
        results = ctest_results.read(report) if os.path.exists(report) else ctest_results.Results()
        if results.tests == 0:
            record.notes.append(f"no test of {tree} has a label {label}")
            return False
        for name, said in results.failed:
            print(f"\nFAILED: {name}\n{said[-4000:]}")
        rounds.end(passed, results)
    failures = collections.Counter(name for one in rounds.ended for name in one["failed"])
    record.notes += [f"{name} failed {count} times of {len(rounds.ended)}" for name, count in failures.items()]
    record.notes += unjudged(name for one in rounds.ended for name in one["unjudged"])
    record.notes.append(f"{len(rounds.ended)} times, {failures.total()} failures")
    return all(one["passed"] for one in rounds.ended)


class Rounds:
    """How each round on these sources ended, in a file beside the results of the steps."""

    def __init__(self, record):
        self.file, self.sources, self.ended = record.path("rounds", ".json"), record.sources, []
        if record.resume and os.path.exists(self.file):
            with open(self.file, encoding="utf-8") as file:
                kept = json.load(file)
            self.ended = kept["rounds"] if kept["sources"] == self.sources else []

    def end(self, passed, results):
        self.ended.append({"passed": passed, "failed": [name for name, _ in results.failed], "unjudged": results.unjudged})
        with open(self.file, "w", encoding="utf-8") as file:
            json.dump({"sources": self.sources, "rounds": self.ended}, file, indent=1)
