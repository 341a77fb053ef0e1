"""clang-tidy with the checks of .clang-tidy as errors: on what differs from main, in --all on all."""
import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import sys

from record import output_of

TREE = "build/release"
SOURCE = re.compile(r"^(src|tests|fuzz|bench)/.*\.cc$")


def changed():
    """Files that differ from the merge base with main or, on main itself, with origin/main; where there is none but HEAD, what is not
    committed, or else the last commit. None if git does not know: without git, without a commit before."""
    head = output_of("git", "rev-parse", "HEAD").strip()
    base = next((base for base in (output_of("git", "merge-base", "HEAD", name).strip() for name in ("main", "origin/main"))
                 if base not in ("", head)), "")
    if not base:
        base = "HEAD" if output_of("git", "diff", "--name-only", "HEAD") else "HEAD~"
    if not output_of("git", "rev-parse", "--verify", base):
        return None
    files = output_of("git", "diff", "--name-only", "--diff-filter=d", base).split() + \
        output_of("git", "ls-files", "-o", "--exclude-standard").split()
    return {file for file in files if os.path.exists(file)}


def concerned(files):
    """With a header, the source or else the test of its name: clang-tidy looks at headers where a source includes them."""
    stems = [file.removesuffix(".h") for file in files if file.endswith(".h")]
    sources = [next((stem + end for end in (".cc", "_test.cc") if os.path.exists(stem + end)), None) for stem in stems]
    return files | {source for source in sources if source}


def sources_in(path):
    """Of a file of CMake's that joins sources."""
    with open(path, encoding="utf-8") as file:
        return re.findall(r'^#include "(.*)"$', file.read(), re.M)


def compiled():
    """The entries of the build's compile commands, one for each source, also where some are compiled together."""
    with open(os.path.join(TREE, "compile_commands.json"), encoding="utf-8") as file:
        for entry in json.load(file):
            joined = entry["file"]
            for source in sources_in(joined) if re.search(r"/unity_\d+_cxx\.cxx$", joined) else [joined]:
                yield {**entry, "file": source, "command": entry["command"].replace(joined, source)}
    # The release build has no fuzzers, and the one that has them is made later, if at all.
    for source in glob.glob(os.path.abspath("fuzz/*.cc")):
        yield {"directory": os.getcwd(), "command": f"c++ -std=c++23 -Isrc -Iinclude -c {source}", "file": source}


def commands():
    """The compile commands without what clang does not know: gcc's precompiled headers and some warnings. Their sources."""
    directory = os.path.join(TREE, "tidy")
    os.makedirs(directory, exist_ok=True)
    entries = list(compiled())
    for entry in entries:
        entry["command"] = re.sub(r" -Winvalid-pch| -include \S*cmake_pch\.hxx| -Werror", "", entry["command"])
        entry["command"] = re.sub(r"^.*?(?=\S*(c\+\+|g\+\+|gcc|cc) )", "", entry["command"], count=1)
    with open(os.path.join(directory, "compile_commands.json"), "w", encoding="utf-8") as file:
        json.dump(entries, file)
    return {os.path.relpath(entry["file"]) for entry in entries}


def check_one(file):
    done = subprocess.run(["clang-tidy-19", "-p", os.path.join(TREE, "tidy"), "--quiet", "--warnings-as-errors=*", file],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return file, done.returncode == 0, done.stdout


def check(record):
    if shutil.which("clang-tidy-19") is None:
        record.skip("clang-tidy-19 is not installed (package clang-tidy-19)")
        return True
    files = sorted(file for file in commands() if SOURCE.match(file))
    if record.mode != "all":
        differing = changed()
        if differing is None:
            record.skip("git does not say what has changed")
            return True
        files = sorted(set(files) & concerned(differing))
    passed = True
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS") or os.cpu_count())) as pool:
        for file, fine, said in pool.map(check_one, files):
            if not fine:
                print(said)
                sys.stdout.flush()
            passed = passed and fine
    record.notes.append(f"{len(files)} files")
    return passed
