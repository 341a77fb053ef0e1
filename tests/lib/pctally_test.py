"""What the whole-program tests share: where things are, how to record and to read a profile, how to skip by name."""
import functools
import json
import math
import os
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest

BUILD = os.environ.get("PCTALLY_BUILD", os.path.join(os.path.dirname(__file__), "..", "..", "build", "release"))
BUILD = os.path.abspath(BUILD)
PCTALLY = os.path.join(BUILD, "bin", "pctally")
PROGRAMS = os.path.join(BUILD, "programs")

# Tests leave nothing in anybody's cache directory. With none each of a thousand recordings would read the kernel's symbols again.
os.environ["XDG_CACHE_HOME"] = os.path.join(BUILD, "tests", "cache")
os.makedirs(os.environ["XDG_CACHE_HOME"], exist_ok=True)
# Reports have the signs of the locale, whatever the one is in which the tests run.
os.environ["LC_ALL"] = "C.UTF-8"


def program(name):
    return os.path.join(PROGRAMS, name)


def scale(default):
    """How often a statistical or random test repeats: PCTALLY_RUNS overrides for the full figures."""
    return int(os.environ.get("PCTALLY_RUNS", default))


def least_signal_stack():
    """Bytes that the kernel asks of an alternate stack: the largest frame of a handler that may come."""
    return os.sysconf(os.sysconf_names.get("SC_MINSIGSTKSZ", 249))


def walks_on_least_signal_stack():
    """With AMX the kernel asks for 8 KiB of registers, which only threads that use them save: others have room for a walk there."""
    return least_signal_stack() > 8192


ALL_ENGINES = ("bpf", "ring", "timer")


@functools.lru_cache
def engine_available(name):
    rows = json.loads(subprocess.run([PCTALLY, "engines", "--json"], capture_output=True, text=True).stdout)
    return next(row for row in rows if row["engine"] == name)["available"]


def engines(*wanted):
    """Those of the engines that work here; one that does not is named."""
    wanted = wanted or ALL_ENGINES
    for name in wanted:
        if not engine_available(name):
            print(f"skipped: engine {name} (not available here: pctally engines says why)")
    return [name for name in wanted if engine_available(name)]


def one_of_each_kind():
    """Of the engines that work here one that counts from outside, and one in the program: for what follows from the profile."""
    return [name for kind in (("ring", "bpf"), ("timer", "trap")) for name in engines(*kind)[:1]]


class Recorded:
    """A finished recording: how it ended, what it printed, and its report."""

    def __init__(self, path, result, usage, held_s):
        self.path = path
        self.held_s = held_s
        self.returncode = result.returncode
        self.stdout = result.stdout
        self.stderr = result.stderr
        self.cpu_s = usage

    def report(self, *options):
        """And how long the CPUs stood still meanwhile, which the recorder cannot know."""
        return {**report(self.path, *options), "held_s": self.held_s}


def report(path, *options):
    result = subprocess.run([PCTALLY, "report", "--json", "--limit", "1000000", *options, path], capture_output=True)
    if result.returncode != 0:
        raise AssertionError(f"report failed ({result.returncode}): {result.stderr.decode()}")
    return json.loads(result.stdout)


def report_of_several(paths, *options):
    result = subprocess.run([PCTALLY, "report", "--json", "--limit", "1000000", *options, *paths], capture_output=True)
    if result.returncode != 0:
        raise AssertionError(f"report failed ({result.returncode}): {result.stderr.decode()}")
    return json.loads(result.stdout)


def record(command, *options, path=None, env=None, cwd=None, quiet=True):
    path = path or os.path.join(tempfile.mkdtemp(dir=scratch()), "p.pct")
    held, before = held_s(), resource.getrusage(resource.RUSAGE_CHILDREN)
    words = [PCTALLY, "record", *(["-q"] if quiet else []), "-f", "-o", path, *options, "--", *command]
    result = subprocess.run(words, capture_output=True, env=env, cwd=cwd)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Recorded(path, result, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, held_s() - held)


def await_ticks(path, ticks, recorder=None):
    """Returns once the recording at `path` has as many ticks; raises if its recorder ends before, or after a minute."""
    end = time.monotonic() + 60
    while not os.path.exists(path) or report(path)["ticks"] < ticks:
        if recorder is not None and recorder.poll() is not None:
            raise AssertionError(f"the recorder ended early, with status {recorder.returncode}")
        if time.monotonic() > end:
            raise AssertionError(f"{path} has not {ticks} ticks after a minute")
        time.sleep(0.01)  # polls another process's doing: there is no event to wait for


_CPU, _RECORDING_ID, _NAMES = 128, 384, 404  # offsets of the header's fields


def command_of(recorder):
    """The process that a recorder has started its command in, once it is executed. Other children are the recorder's own."""
    while True:  # polls another process's state: there is no event to wait for
        with open(f"/proc/{recorder}/task/{recorder}/children", encoding="ascii") as file:
            children = file.read().split()
        for child in children:
            try:
                if not os.path.samefile(f"/proc/{child}/exe", PCTALLY):
                    return int(child)
            except OSError:
                pass  # gone meanwhile


def has_names(path):
    with open(path, "rb") as file:
        file.seek(_NAMES)
        return file.read(4) != bytes(4)


def without_names(path, copy):
    """A copy whose header refers to no names."""
    shutil.copy(path, copy)
    with open(copy, "r+b") as file:
        file.seek(_NAMES)
        file.write(bytes(4))
    return copy


def without_gap(path):
    """Makes the CPU time of a recording what its ticks stand for. A host that stops the CPUs leaves time without
    ticks, which is a doubt of pctally diff: tests of it have none then but their own."""
    data = report(path)
    with open(path, "r+b") as file:
        file.seek(_CPU)
        # In user mode, and in the kernel.
        file.write(struct.pack("=QQ", round(1e9 * (data["sampled_s"] + data["lost_s"])), 0))


def as_another_recording(path, copy):
    """A copy that calls itself a recording of its own."""
    shutil.copy(path, copy)
    with open(copy, "r+b") as file:
        file.seek(_RECORDING_ID)
        file.write(os.urandom(16))
    return copy


def install_from_npm(folder, wanted, *options):
    """Installs the packages of tests/consumers/FOLDER/package.json. Returns the directory, which has node_modules/WANTED. Skips the test
    without npm, or if npm cannot install them."""
    if shutil.which("npm") is None:
        raise unittest.SkipTest("npm is not installed")
    directory = tempfile.mkdtemp(dir=scratch())
    shutil.copy(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "consumers", folder, "package.json"), directory)
    done = subprocess.run(["npm", "--prefix", directory, "install", *options, "--no-audit", "--no-fund", "--no-package-lock"],
                          capture_output=True, text=True)
    if done.returncode != 0 or not os.path.exists(os.path.join(directory, "node_modules", wanted)):
        raise unittest.SkipTest(f"npm cannot install {os.path.basename(wanted)}: {done.stderr[-200:]}")
    return directory


@functools.lru_cache
def witness():
    """The witness, which ends with this process, and the file it writes to."""
    path = os.path.join(scratch(), "held")
    process = subprocess.Popen([program("witness"), path], stdin=subprocess.PIPE)
    while not os.path.exists(path) or os.path.getsize(path) < 8:
        if process.poll() is not None:
            raise AssertionError(f"the witness ended with status {process.returncode}")
        time.sleep(0.001)  # polls another process's doing: there is no event to wait for
    return process, path


def held_s():
    """How long the CPUs have stood still since the first call, all together, by a witness beside the test: hosts that hold a
    virtual machine back for 0.1 s at a time need not show it as stolen."""
    with open(witness()[1], "rb") as file:
        return int.from_bytes(file.read(8), sys.byteorder) / 1e9


def stolen_s():
    """What the host of a virtual machine has taken of its CPUs since it started, as far as it says so."""
    with open("/proc/stat", encoding="ascii") as file:
        return int(file.readline().split()[8]) / os.sysconf("SC_CLK_TCK")


def waited_s():
    """How long tasks have waited for a CPU, of any program (pressure stall information); 0 where the kernel does not count it."""
    try:
        with open("/proc/pressure/cpu", encoding="ascii") as file:
            return int(file.readline().rpartition("total=")[2]) / 1e6
    except OSError:
        return 0


class Machine:
    """What the machine did beside a block of a test. A kernel whose tasks wait for a CPU changes them at its ticks: then ticks by
    CPU timers come too seldom for short processes (all of it is in the unsampled account)."""

    def __enter__(self):
        self.start = time.monotonic(), waited_s(), stolen_s(), held_s()
        return self

    def __exit__(self, *_):
        ended = time.monotonic(), waited_s(), stolen_s(), held_s()
        wall, self.waited, stolen, held = (now - then for now, then in zip(ended, self.start))
        self.stolen = max(stolen, held)
        self.calm = self.waited + self.stolen < 0.2 * wall

    def judges(self, what, most_stolen=math.inf):
        """Whether the machine was calm, and the host took no more seconds than that; if not, says that `what` is
        not judged."""
        judges = self.calm and self.stolen <= most_stolen
        if not judges:
            print(f"not judged: {what}: tasks waited {self.waited:.2f} s for a CPU, the host took {self.stolen:.2f} s", flush=True)
        return judges


def record_and_stolen(take):
    """take() -> Recorded, its report, and what the host took meanwhile: accounts may differ by as much."""
    with Machine() as machine:
        done = take()
    return done, done.report(), machine.stolen


_scratch = None


def scratch():
    global _scratch
    if _scratch is None:
        _scratch = tempfile.mkdtemp(prefix="pctally-test-")
        import atexit
        atexit.register(shutil.rmtree, _scratch, True)
    return _scratch


HIERARCHY = {1: "cgroup -o perf_event", 2: "cgroup2 -o rw"}


def as_user(user=65534):
    """The words before a command for another user to run it, without privilege (see need_other_users)."""
    return ["setpriv", "--reuid", str(user), "--regid", str(user), "--clear-groups"]


def has_other_users():
    return os.geteuid() == 0 and shutil.which("setpriv") is not None


def need_call_paths(test):
    """For tests that record known_paths with -g."""
    if not engine_available("ring") or not os.path.exists(program("known_paths")):
        test.skipTest("call paths need engine ring and x86-64")


def need_other_users(test):
    if not has_other_users():
        test.skipTest("needs root and setpriv to become another user")


def control_group_version():
    """Where the kernel has its perf_event controller now: the version of control groups, or None."""
    with open("/proc/cgroups") as file:
        hierarchy = next((line.split()[1] for line in file if line.startswith("perf_event\t")), None)
    return None if hierarchy is None else 2 if hierarchy == "0" else 1


def beside_control_group(test, version, command):
    """Runs a shell command while spinner runs in the control group "$GROUP" and known_shares outside of it. The
    hierarchy is mounted in a mount namespace of its own, so that nothing is left behind. `soon WORDS` waits, up to 10 s, until WORDS
    succeed: a group is empty a moment after its last process has ended."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        test.skipTest("needs root and unshare to mount a hierarchy of control groups")
    held = control_group_version()
    if held is None or version > held:
        test.skipTest(f"the kernel's perf_event controller is not in the hierarchy of version {version}")
    directory = tempfile.mkdtemp(dir=scratch())
    mount = f"mount -t {HIERARCHY[version]} none {directory}"
    # A hierarchy of version 1 is given up when it is unmounted without groups: one that is unmounted while a group
    # goes stays.
    script = ('soon() { i=0; until "$@" 2>/dev/null || [ $((i += 1)) = 500 ]; do sleep 0.02; done; }\n'
              'hierarchy() { grep ^perf_event /proc/cgroups | cut -f 2; }\n'
              f'given_up() {{ [ $(hierarchy) = $before ] || {{ {mount} && umount {directory}; false; }}; }}\n'
              'before=$(hierarchy)\n'
              f"{mount} && GROUP={directory}/pctally-test-{os.getpid()} && mkdir $GROUP || exit 77\n"
              f"sh -c \"echo \\$\\$ > $GROUP/cgroup.procs && exec {program('spinner')} 1 30\" & inside=$!\n"
              f"{program('known_shares')} 30 >/dev/null & outside=$!\n"
              "soon grep -q spinner /proc/$inside/comm\n"
              f"{command}; status=$?\n"
              f"kill -9 $inside $outside; wait $inside; soon rmdir $GROUP; umount {directory}; soon given_up\n"
              "exit $status")
    done = subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, text=True)
    if done.returncode == 77:
        test.skipTest(f"a perf_event hierarchy of version {version} cannot be mounted: {done.stderr.strip()}")
    return done


def assert_ledger(test, data):
    """ticks = counted + outside + full + lost; the rows add up to it; sampled + lost + unsampled = cpu, or events."""
    test.assertEqual(data["ticks"], data["counted"] + data["outside"] + data["full"] + data["lost"])
    test.assertEqual(data["ticks"], sum(row["ticks"] for row in data["rows"]))
    if "event" in data:
        test.assertEqual(data["ticks"] * data["period_events"], data["sampled_events"] + data["lost_events"])
    elif data["cpu_s"] is not None:
        test.assertAlmostEqual(data["cpu_s"], data["sampled_s"] + data["lost_s"] + data["unsampled_s"], places=6)


def share_of(data, function):
    return sum(row["share"] for row in data["rows"] if row["function"] == function)


def taken_s(data):
    """What the host took of the machine meanwhile, 0.1 s at a time: it is charged to whoever ran, without ticks from outside, as
    late ticks of one place from inside."""
    return max(data["stolen_s"], data.get("held_s", 0))


def stolen_share(data):
    """The same as a share of the CPU time recorded."""
    cpu = data["cpu_s"] or 0  # null where it is not known: a group of version 1, a killed recorder
    return taken_s(data) / cpu if cpu > 0 else 0


def share_at_most(data, function):
    """The upper end of its share's interval outside the kernel, were what the host took its own: for a share that a test expects at
    least. Beside other programs a sample stands for many ticks, the interval is wide, and the kernel takes a quarter of the time."""
    return _rows_at_most(data, lambda row: row["function"] == function)


def object_at_most(data, name):
    """The same of the object with that in its name, in a report by object."""
    return _rows_at_most(data, lambda row: name in (row["object"] or ""))


def _rows_at_most(data, wanted):
    kernel = sum(row["share"] for row in data["rows"] if row.get("object") == "[kernel]")
    high = sum(row["high"] for row in data["rows"] if wanted(row))
    return min(high / max(1 - kernel, 0.01), 1) + stolen_share(data)


def share_at_least(data, function):
    """The same for a share that a test expects at most: without what the host took, whose late ticks may all be of this function."""
    return sum(row["share"] for row in data["rows"] if row["function"] == function) - stolen_share(data)


def seconds_at_most(data, function):
    """The same of its CPU time, with the kernel's: what a program does before and beside it, the start of processes above all, takes
    more of a busy machine."""
    return (sum(row["high"] for row in data["rows"] if row["function"] == function) + stolen_share(data)) * data["sampled_s"]


def sampled_at_most(data):
    """The time sampled, were what the host took sampled: for what a test expects at least."""
    return data["sampled_s"] + taken_s(data)


def ticks_of(data, function):
    return sum(row["ticks"] for row in data["rows"] if row["function"] == function)


def paths_of(nodes):
    """(path, self ticks) of all nodes of the call tree of report --json --tree."""
    paths = []
    for node in nodes:  # a parent stands before its children
        paths.append((*(paths[node["parent"]] if node["parent"] >= 0 else ()), node["function"]))
        yield paths[-1], node["self"]


def contains(path, wanted):
    """True if `wanted` is a run of neighbours in `path`."""
    wanted, at = tuple(wanted), -1
    for _ in range(path.count(wanted[0])):  # few of a path of a thousand
        at = path.index(wanted[0], at + 1)
        if path[at:at + len(wanted)] == wanted:
            return True
    return False


def main():
    """Runs the module's tests, or those of the classes that are named: [class...] [--but class|class.test...]. ctest reads exit code
    77 as skipped. Without a test nothing has passed."""
    if "--but" in sys.argv:
        at = sys.argv.index("--but")
        for name in sys.argv[at + 1:]:
            owner, _, test = name.partition(".")
            if test:
                getattr(getattr(sys.modules["__main__"], owner), test)  # there is one
                setattr(getattr(sys.modules["__main__"], owner), test, None)
            else:
                delattr(sys.modules["__main__"], owner)
        del sys.argv[at:]
    result = unittest.main(exit=False).result
    for test, reason in result.skipped:
        print(f"skipped: {test}: {reason}")
    if not result.wasSuccessful() or not (result.testsRun or result.skipped):
        sys.exit(1)
    # Whole tests alone: not a part of one (a subTest), and not a class, whose tests do not run.
    whole = [test for test, _ in result.skipped if isinstance(test, unittest.TestCase) and not hasattr(test, "test_case")]
    sys.exit(77 if result.testsRun == len(whole) else 0)
