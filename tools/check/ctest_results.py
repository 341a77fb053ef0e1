"""Reads what ctest wrote of a run: which tests failed and why, which were skipped, cases of GoogleTest one by one, and which left
something unjudged."""
import re
import xml.etree.ElementTree as xml

CASE = re.compile(r"^\[ +(?:OK|FAILED|SKIPPED) +\] ([\w/.]+)(?:,.*)? \(\d+ ms\)$", re.M)


class Results:
    """Tests by how they ended. A program of GoogleTest counts as many tests as it has cases."""

    def __init__(self):
        self.tests = 0     # of ctest
        self.passed = 0
        self.failed = []   # (name, what it said)
        self.skipped = []  # (name, reason)
        self.unjudged = []  # name, once for each assertion that a busy machine kept from being judged (Machine.judges of tests/lib)


def options(report):
    """For ctest, so that read(report) finds everything."""
    return ["--output-junit", report, "--test-output-size-passed", "4000000", "--test-output-size-failed", "4000000"]


def read(report):
    results = Results()
    for test in xml.parse(report).getroot().iter("testcase"):
        results.tests += 1
        name, said = test.get("name"), test.findtext("system-out") or ""
        results.unjudged += [name] * sum(line.startswith("not judged: ") for line in said.splitlines())
        if "[==========]" in said:
            read_cases(name, said, test.get("status"), results)
        elif skipped(test):
            results.skipped.append((name, reasons(said)))
        elif test.get("status") != "run":  # or it could not be: its program is missing
            results.failed.append((name, said))
        else:
            results.passed += 1
            results.skipped += [(name, line[len("skipped:"):].strip()) for line in said.splitlines() if line.startswith("skipped:")]
    return results


def skipped(test):
    """Whether it skipped itself, or is disabled. A test without its program is "notrun" as well."""
    cause = test.find("skipped")
    return test.get("status") == "disabled" or cause is not None and cause.get("message", "").startswith("SKIP_")


def reasons(said):
    """Of a script that skipped itself."""
    lines = [line.strip() for line in said.splitlines()]
    return "; ".join(line[len("skipped:"):].strip() for line in lines if line.startswith("skipped:")) or "no reason given"


def read_cases(program, said, status, results):
    start, failed = 0, []
    for end in CASE.finditer(said):
        body, case = said[start:end.start()], f"{program}: {end.group(1)}"
        start = end.end()
        if "SKIPPED" in end.group(0)[:14]:
            results.skipped.append((case, body.split(": Skipped\n", 1)[-1].strip().split("\n")[0]))
        elif "FAILED" in end.group(0)[:14]:
            failed.append((case, body[max(body.find("[ RUN"), 0):]))
        else:
            results.passed += 1
    if status not in ("run", "notrun", "disabled") and not failed:  # it died, or ran out of time
        failed.append((program, said[start:][-6000:]))
    results.failed += failed
