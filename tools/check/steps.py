"""The steps of scripts/check, in their order: name, modes, what to run, and the variables of the environment that it goes by. Each
takes the record and returns whether it passed; what it cannot do here it skips with the reason."""
import concurrent.futures
import glob
import os
import pathlib
import re
import shutil
import subprocess

import test_runs
import tidy
from record import output_of

EVERY = ("quick", "full", "all")
LONG = ("full", "all")


def have(record, program, package=None):
    if shutil.which(program):
        return True
    record.skip(f"{program} is not installed (package {package or program})")
    return False


def layers(record):
    return record.run("python3", "tools/check_layers.py")


def formatted(record):
    if not have(record, "clang-format-14"):
        return True
    files = {str(file) for folder in ("src", "include", "tests", "bench", "fuzz") for file in pathlib.Path(folder).rglob("*")
             if file.suffix in (".h", ".c", ".cc") and not file.is_relative_to("tests/consumers")}
    if not files:
        record.notes.append("no source is found")
        return False
    if record.mode == "quick":
        changed = tidy.changed()
        files &= files if changed is None else changed
    return not files or record.run("clang-format-14", "--dry-run", "-Werror", *sorted(files))


def release_build(record):
    """The full check builds the sanitized tests in the sanitizer step, not here. --quick has no such step, and --all runs them in both
    builds: these two build all here."""
    target = "pctally_all_but_sanitized_tests" if record.mode == "full" else "all"
    return record.run("scripts/build", "release", target, env={"TESTS": "ON"}, log="release build")


def same_bytes(record):
    """Nothing is left to build after a build, and a second one from nothing makes the same files: with what tests are built
    with, as the first was."""
    trees = ["build/release", "build/again"]
    shutil.rmtree(trees[1], ignore_errors=True)
    if "no work to do" not in output_of("ninja", "-C", trees[0]):  # not -n: it takes the look at globbed folders for work
        record.notes.append("a finished build finds more to build")
        return False
    built = record.run("cmake", "-S", ".", "-B", trees[1], "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DPCTALLY_TESTS=OFF",
                       log="second configuration")
    built = built and record.run("cmake", "--build", trees[1], log="second build", env={"CCACHE_DISABLE": "1"})
    files = {"bin/pctally", "lib/libpctally.so", "lib/libpctally-preload.so"}
    files |= {os.path.relpath(file, tree) for tree in trees for file in glob.glob(f"{tree}/lib/libpctally*.so")}  # libpctally-glibc.so, where it is made
    differ = [file for file in sorted(files) if built and subprocess.run(["cmp", "-s", *(f"{t}/{file}" for t in trees)], check=False).returncode]
    record.notes += [f"not the same when built again: {file}" for file in differ]
    return built and not differ


def html_page(record):
    """web/ still makes the page that is committed, byte for byte."""
    if not have(record, "npm"):
        return True
    built = os.path.abspath(record.path("html page", ".html"))
    made = record.run("npm", "--prefix", "web", "ci", log="npm ci") and record.run(
        "npm", "--prefix", "web", "run", "build", env={"PCTALLY_PAGE": built}, log="page build")
    if made and subprocess.run(["cmp", built, "src/report/html/page.html"], check=False).returncode == 0:
        return True
    record.notes.append("src/report/html/page.html is not what web/ makes; npm --prefix web run build")
    return False


def packages(record):
    """The Debian packages are built, and installed in a bare root the demo runs with them."""
    status = subprocess.run(["scripts/package"], stderr=subprocess.PIPE, text=True, check=False)
    said = [line.partition(": ")[2] for line in status.stderr.splitlines() if line.startswith("scripts/package: ")]
    if status.returncode == 77:
        record.skip(said[-1].removeprefix("skipped: "))
    else:
        record.notes += said[-1:] if status.returncode == 0 else [status.stderr]
    return status.returncode in (0, 77)


def man_pages(record):
    if not (have(record, "mandoc") and have(record, "scdoc")):
        return True
    pages = sorted(glob.glob("build/release/man/*.[1-8]"))
    if not pages:  # mandoc would read its input
        record.notes.append("there is no build/release/man/*.[1-8]")
        return False
    mandoc = subprocess.run(["mandoc", "-Tlint", "-Wwarning", *pages], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    # scdoc writes a paragraph macro at every turn; all else is a fault of the page.
    faults = [line for line in mandoc.stdout.splitlines() if "WARNING: skipping paragraph macro: PP" not in line]
    print("\n".join(faults))
    return not faults and mandoc.returncode in (0, 2)  # 2: there were warnings; otherwise errors, or it did not read all pages


def sanitizer_preset(record):
    """One build with clang serves the sanitizers and the fuzzers; without clang, gcc serves the first."""
    return "fuzz" if have(record, "clang++-19", "clang-19") else "asan-ubsan"


SANITIZED_TOO = ("histfile_test", "publish_test", "process_test", "oracle_test")  # in --all: what writes, and counts


def address_sanitizer(record):
    preset = sanitizer_preset(record)
    # The libraries are built for clang's analysis of the locks in them (-Wthread-safety).
    libraries = ("pctally_shared", "pctally_preload") if preset == "fuzz" else ()
    too = SANITIZED_TOO if record.mode == "all" else ()
    built = record.run("scripts/build", preset, "pctally_sanitized_tests", *too, *libraries, env={"TESTS": "ON"}, log="sanitized build")
    passed = built and test_runs.run(record, f"build/{preset}", "-L", "^sanitized$")
    return passed and (not too or test_runs.run(record, f"build/{preset}", "-R", f"^({'|'.join(too)})$"))


def thread_sanitizer(record):
    programs = ["tick_test", "publish_test", "histfile_test", "histread_test"]  # who publishes, and who reads meanwhile
    programs += ["clock_test", "fault_test"] if record.mode == "all" else []
    built = record.run("scripts/build", "tsan", *programs, env={"TESTS": "ON"}, log="tsan build")
    # ThreadSanitizer of gcc 12 cannot live with the address randomisation of newer kernels.
    return built and test_runs.run(record, "build/tsan", "-R", f"^({'|'.join(programs)})$", no_aslr=True)


def executed(log):
    with open(log, encoding="utf-8", errors="replace") as file:
        units = re.search(r"^stat::number_of_executed_units: +(\d+)", file.read(), re.M)
    return int(units.group(1)) if units else 0


FUZZ_SECONDS_OF_ALL = 600  # each reader


def fuzz(record):
    if not have(record, "clang++-19", "clang-19"):
        return True
    if not record.run("scripts/build", "fuzz", "fuzz/all", env={"TESTS": "ON"}, log="fuzz build"):
        return False
    programs = sorted(glob.glob("build/fuzz/bin/*_fuzz"))
    if not programs:
        record.notes.append("there is no build/fuzz/bin/*_fuzz")
        return False
    seconds = os.environ.get("FUZZ_SECONDS") or str(FUZZ_SECONDS_OF_ALL if record.mode == "all" else 2)
    with concurrent.futures.ThreadPoolExecutor(int(test_runs.jobs_by_default())) as pool:
        return all(list(pool.map(lambda program: fuzz_one(record, program, seconds), programs)))


def fuzz_one(record, program, seconds):
    name = os.path.basename(program)
    found = f"build/fuzz/found/{name}"
    os.makedirs(found, exist_ok=True)
    seeds = [f"fuzz/corpus/{name}"] if os.path.isdir(f"fuzz/corpus/{name}") else []
    passed = record.run(program, f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1",
                        f"-artifact_prefix=build/fuzz/{name}-", found, *seeds, log=name)
    inputs = executed(record.path(name, ".log"))
    record.notes.append(f"{name}: {inputs} inputs")
    return passed and inputs > 0


def run_with_skips(record, *command):
    """What the command says that it skipped is skipped by name."""
    passed, said = record.tell(*command)
    for line in said:
        if line.startswith("skipped: "):
            record.skip(line.removeprefix("skipped: "))
    return passed


def machines(record):
    """A machine without its compiler is skipped by name."""
    return run_with_skips(record, "scripts/check-machines", *(os.environ.get("MACHINES") or "all").split())


def tests_of_hosts(record):
    return test_runs.run(record, "build/release", "-L", "^host$", jobs="1", repeat=2)


def survive_often(record):
    return test_runs.often(record, "build/release", "survive|live", int(os.environ.get("RUNS") or "20"))


def long_tests(record):
    return test_runs.run(record, "build/release", "-L", "^all$", "-LE", "^host$", jobs="1")


def benchmarks(record):
    """Each once. Their figures mean nothing beside other work; that they run does: one had asked for an option that was gone."""
    return run_with_skips(record, "bench/run", "1")


def tests(record):
    chosen = {"quick": ["-L", "unit|manual|boundary"], "full": ["-LE", "^(all|sanitized)$"], "all": ["-LE", "^(host|all)$"]}[record.mode]
    return test_runs.run(record, "build/release", *chosen, jobs=test_runs.jobs_that_wait(), last=True)


STEPS = (
    ("layers", EVERY, layers),
    ("format", EVERY, formatted),
    ("release build", EVERY, release_build),
    ("the same bytes when built again", ("all",), same_bytes),
    ("the page of web/ when built again", ("all",), html_page),
    ("packages for Debian", ("all",), packages),
    ("man pages", EVERY, man_pages),
    ("clang-tidy", EVERY, tidy.check),
    ("address and undefined-behaviour sanitizers", LONG, address_sanitizer),
    ("thread sanitizer", LONG, thread_sanitizer),
    ("fuzz", LONG, fuzz, "FUZZ_SECONDS"),
    ("other machines under qemu-user", ("all",), machines, "MACHINES"),
    ("survive and live tests again and again", ("all",), survive_often, "RUNS"),
    ("tests that take long", ("all",), long_tests, "MINUTES"),
    ("tests that depend on the host", ("all",), tests_of_hosts),
    ("programs of bench/, once each", ("all",), benchmarks),
    ("tests of the release build", EVERY, tests),
)
