#!/usr/bin/env python3
"""Prints every sentence of the manual pages with its mark and the tests that pin it.

    manual_coverage.py [ROOT]     exit status 1 if a sentence has no mark, or names a test that does not exist

A page is tests/manual/<page>.txt: "@ suite", "[SECTION]", and lines "tests | sentence", where tests are
<section>.<name> of the page's suite or <suite>.<name> of another, or "- reason" where nothing can be tested.
"""
import pathlib
import re
import sys

TEST = re.compile(r"\bTEST(?:_F)?\(\s*(\w+)\s*,\s*(\w+)\s*\)")


def tests_of(folder):
    return {f"{suite}.{name}" for path in sorted(folder.glob("*.cc")) for suite, name in TEST.findall(path.read_text())}


def full_name(page, test, known):
    return test if test in known else f"{page}_{test}"


def read_page(path, known):
    """Yields (section, mark, tests or reason, sentence, complaint) for each line of a page."""
    page = section = ""
    for line in path.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("@ "):
            page = line[2:]
        elif line.startswith("["):
            section = line.strip("[]")
        else:
            what, bar, sentence = line.partition(" | ")
            if not bar:
                yield section, "?", "", line, "no mark"
            elif what.startswith("- "):
                yield section, "-", what[2:], sentence, None
            else:
                tests = [full_name(page, test, known) for test in what.split()]
                missing = [test for test in tests if test not in known]
                yield section, "+", " ".join(tests), sentence, f"no test {missing[0]}" if missing else None


def main(arguments):
    root = pathlib.Path(arguments[1] if len(arguments) > 1 else pathlib.Path(__file__).parent.parent)
    known = tests_of(root / "tests" / "manual")
    broken = 0
    for path in sorted((root / "tests" / "manual").glob("*.txt")):
        if path.name == "CMakeLists.txt":
            continue
        rows = list(read_page(path, known))
        print(f"{path.stem}: {len(rows)} sentences, {sum(mark == '+' for _, mark, *_ in rows)} tested")
        for section, mark, by, sentence, complaint in rows:
            print(f"  {mark} {section}: {sentence}\n      {by}")
            if complaint:
                broken += 1
                print(f"      {path.name}: {complaint}")
    return 1 if broken or not known else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
