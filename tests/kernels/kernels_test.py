"""pctally on Debian's own kernels, booted in QEMU: of x86-64, and of aarch64 with programs that are compiled for it.

Engine timer and the historical calls, as root and as a plain user at kernel.perf_event_paranoid 3: threads, EINTR, xz -T2,
children. Call paths by every engine, as root: each kernel's verifier is another judge of the program of engine bpf. Where an engine
is refused, `engines` says the same as `record`. Emulation loses clock interrupts, so shares are judged, counts of EINTR, and what
is refused; never totals. Kernels are fetched by apt into the build directory (PCTALLY_KERNELS names another place, where they may
lie unpacked), those of other releases of Debian with lists of their own; one that cannot be had is skipped by name.
"""
import glob
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "lib"))
import pctally_test as p

# of a release of Debian, its suite and a package; without a suite: from this machine's own lists
KERNELS = {"debian_12": ("", "linux-image-cloud-amd64"), "debian_12_newer": ("", "linux-image-6.12-cloud-amd64"),
           "debian_11": ("bullseye-security", "linux-image-cloud-amd64"), "newest": ("trixie-backports", "linux-image-cloud-amd64")}
STORE = os.environ.get("PCTALLY_KERNELS", os.path.join(p.BUILD, "kernels"))

SCRIPT = r"""
sysctl -qw kernel.perf_event_paranoid=3
cd /tmp
uname -r
pctally engines --json >/out/engines.json
for engine in bpf ring timer trap; do
  pctally record -q -f -e $engine -o /out/$engine.pct -- /t/known_shares 0.3 >/dev/null 2>/out/$engine.err
  echo "engine $engine $?"
done
as() { [ $1 = root ] && bash -c "$2" || su u -s /bin/bash -c "$2"; }
for user in root u; do
  for name in "threads /t/spinner 4 0.5" "waiting /t/waiting_main 1" "shares /t/known_shares 1.5" \
              "blocked /t/signal_reader worker 0.4" "reader /t/signal_reader signalfd 0.4" "short /t/churn 2 0.6" \
              "children /t/forker fork 10 40" "xz xz -1 -T2 --block-size=250000 -c /t/data"; do
    set -- $name; what=$1; shift
    as $user "pctally record -q -f -e timer -o /out/$user.$what.pct -- $* >/out/$user.$what.out 2>/out/$user.$what.err"
    echo "$user $what $?"
    pctally report --json --limit 1000000 /out/$user.$what.pct >/out/$user.$what.json  # where the programs are
  done
  as $user "LD_PRELOAD=/p/lib/libpctally-glibc.so /t/profil_threads 0.4 >/out/$user.profil.out 2>&1"
  echo "$user profil $?"
done
"""

PATHS_SCRIPT = r"""
cd /tmp
uname -r
pctally engines --json >/out/engines.json
for engine in bpf ring timer trap; do
  for case in %s; do
    case $case.$engine in
      of_go.timer | of_go.trap | by_thread.timer | by_thread.trap) continue ;;  # static; in the kernel
      of_go.*) set -- /t/goroutines ;;
      by_thread.*) set -- /t/starts by_thread 0.5 ;;
      *) set -- /t/known_paths $case 0.5 ;;
    esac
    pctally record -q -f -g -e $engine -o $engine.pct -- "$@"
    echo "$engine $case $?"
    pctally report --json --limit 1000000 $engine.pct >/out/$engine.$case.json
    pctally report --json --tree --min-share 0 $engine.pct >/out/$engine.$case.tree.json
  done
done
for what in "flat -- /t/known_paths plain 0.5" "small -g --paths-memory 64K -- /t/known_paths plain 0.5" \
            "machine -g -a --for 1"; do
  set -- $what; name=$1; shift
  /t/known_paths plain 60 &
  pctally record -q -f -e bpf -o bpf.pct "$@"
  echo "bpf $name $?"
  kill $!
  pctally report --json --limit 1000000 bpf.pct >/out/bpf.$name.json
done
true
"""

# Where the machine's own unit tests cannot run otherwise; those that compare ticks with CPU time need real clock interrupts.
UNIT_SCRIPT = r"""
cd /tmp
for test in /t/*_test; do
  $test --gtest_brief=1 --gtest_filter=-BpfCounter.CgroupCountsItsOwn >/out/${test##*/}.log 2>&1
  echo "${test##*/} $?"
done
"""

# case: functions on the stack, each the caller of the next
KNOWN_PATHS = {
    "plain": ("main", "plain", "work"),
    "recursion": ("main", "recursion", "deep", "deep"),
    "allocating": ("main", "allocating", "varying_frame", "work"),
    "in_thread": ("thread_body", "work"),
    "in_handler": ("handler", "work"),
    "frame_pointer": ("main", "frame_pointer", "with_frame_pointer", "work"),
}
# There a frame pointer does not say where the caller's stack pointer is, and some code has no unwind table.
ON_AARCH64 = {**{case: path for case, path in KNOWN_PATHS.items() if case != "frame_pointer"},
              "in_vdso": ("main", "in_vdso"), "stubs": ("main", "stubs"), "on_stack_above": ("other_handler", "work"),
              "tail_call": ("main", "tail_call", "work"), "by_thread": ("main", "by_thread"),
              "of_go": ("main.run", "main.add", "main.sum")}  # both by ring and bpf

WAITS = ("poll", "nanosleep", "epoll_wait", "futex", "pthread_join", "sem_")


def apt_lists(suite):
    """Options of apt that make it see one suite of Debian alone, where this machine gets Debian from; or None and why."""
    if not suite:
        return [], ""
    wanted = "debian-security" if suite.endswith("-security") else "debian"
    places = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(SIGNED_BY)"], capture_output=True, text=True).stdout
    place = next((line.split() for line in places.splitlines() if re.search(rf"/{wanted}/? ", line + " ")), None)
    if place is None:
        return None, f"apt has no {wanted}"
    directory = os.path.join(STORE, "lists", suite)
    os.makedirs(os.path.join(directory, "state", "partial"), exist_ok=True)
    os.makedirs(os.path.join(directory, "cache", "archives", "partial"), exist_ok=True)
    source = os.path.join(directory, "sources.list")
    with open(source, "w") as file:
        file.write(f"deb {place[0]} {suite} main\n")
    options = ["-o", f"Dir::Etc::SourceList={source}", "-o", "Dir::Etc::SourceParts=-", "-o",
               f"Dir::State::Lists={directory}/state", "-o", f"Dir::Cache={directory}/cache"]
    said = subprocess.run(["apt-get", *options, "update"], capture_output=True, text=True)
    return (options, "") if said.returncode == 0 else (None, f"{suite} cannot be had: {said.stderr.strip()[-200:]}")


def depends(options, package):
    said = subprocess.run(["apt-cache", *options, "depends", package], capture_output=True, text=True).stdout
    return [line.split()[-1] for line in said.splitlines()
            if re.search(r" Depends: linux-(image|binary|modules)-\S+$", line) and "-cloud-" in line]


def unpacked(suite, package):
    """A directory with the kernel and its modules, or None and why."""
    directory = os.path.join(STORE, package + (f".{suite}" if suite else ""))
    if glob.glob(os.path.join(directory, "**", "vmlinuz*"), recursive=True):
        return directory, ""
    options, why = apt_lists(suite)
    if options is None:
        return None, why
    wanted, names = [package], []
    while wanted:
        more = depends(options, wanted.pop())
        wanted += [name for name in more if name not in names]
        names += more
    names = sorted({name for name in names if re.search(r"-\d+\.\d+\.", name)})
    if not names:
        return None, f"apt knows no {package}"
    os.makedirs(directory, exist_ok=True)
    subprocess.run(["apt-get", *options, "download", *names], cwd=directory, capture_output=True)
    files = glob.glob(os.path.join(directory, "*.deb"))
    if not files:
        return None, f"apt-get download {' '.join(names)} failed"
    for file in files:
        subprocess.run(["dpkg", "-x", file, directory], check=True)
        os.unlink(file)
    return directory, ""


def need(*tools):
    for tool in tools:
        if shutil.which(tool) is None:
            raise unittest.SkipTest(f"{tool} is not installed (scripts/deps all)")


class OnAnyMachine(unittest.TestCase):
    MACHINE = "x86_64"
    CASES = KNOWN_PATHS

    def kernel(self, name):
        kernel, why = unpacked(*KERNELS[name])
        if kernel is None:
            self.skipTest(f"kernel {name}: {why}")
        return kernel

    def boot(self, name, text=SCRIPT):
        kernel = self.kernel(name)
        script, out = os.path.join(p.scratch(), "script"), os.path.join(p.scratch(), name)
        with open(script, "w") as file:
            file.write(text)
        done = subprocess.run([os.path.join(here, "boot_and_run.sh"), kernel, self.image, script, out], capture_output=True,
                              text=True, env={**os.environ, "MACHINE": self.MACHINE})
        print(done.stdout, flush=True)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr)
        return out, done.stdout

    def engines(self, out):
        """Those that `engines` calls available."""
        with open(os.path.join(out, "engines.json")) as file:
            return {row["engine"]: row["available"] for row in json.load(file)}

    def may_be_cut(self, engine, case):
        """ring has a copy of one stack; bpf copies one until it has the tables of a program. A thread's first moments have no caller."""
        return case == "by_thread" or (case.startswith("on_stack") and engine in ("ring", "bpf"))

    def judge_refusals(self, out, said):
        for engine, available in self.engines(out).items():
            with self.subTest(engine):
                with open(os.path.join(out, f"{engine}.err")) as file:
                    error = file.read()
                print(f"{engine}: {'available' if available else error.strip()}", flush=True)
                self.assertEqual(f"engine {engine} 0" in said.splitlines(), available, error)

    def judge(self, package):
        out, said = self.boot(package)
        self.judge_refusals(out, said)
        for user in ("root", "u"):
            data = {}
            for what in ("threads", "waiting", "shares", "blocked", "reader", "short", "children", "xz"):
                self.assertIn(f"{user} {what} 0", said.splitlines())
                with open(os.path.join(out, f"{user}.{what}.json")) as file:
                    data[what] = json.load(file)
                p.assert_ledger(self, data[what])
                print(f"{package} {user} {what}: {data[what]['sampled_s']:.2f} of {data[what]['cpu_s']:.2f} s", flush=True)
            text = lambda what: pathlib.Path(out, f"{user}.{what}.out").read_text()
            self.assertGreater(p.share_of(data["threads"], "spin_here"), 0.6)
            self.assertEqual(text("waiting").split()[0], "0", "EINTR")
            for what in ("threads", "waiting", "blocked"):
                waiting = sum(row["ticks"] for row in data[what]["rows"] if any(w in (row["function"] or "") for w in WAITS))
                self.assertLess(waiting, 0.08 * data[what]["ticks"], what)
            self.assertEqual((text("blocked"), text("reader")), ("0\n", "0\n"))
            self.assertGreater(p.share_of(data["blocked"], "hidden_work"), 0.5)
            due = 0.6 / data["short"]["cpu_s"]  # the rest is what threads cost, most where the kernel is old
            self.assertGreater(p.share_of(data["short"], "churned"), 0.75 * due, data["short"]["rows"][:6])
            self.assertGreater(p.share_of(data["children"], "burn"), 0.4)  # the rest is mostly their start
            lzma = sum(row["share"] for row in data["xz"]["rows"] if "liblzma" in (row["object"] or ""))
            self.assertGreater(lzma, 0.8)
            inside, elsewhere = map(int, text("profil").split())
            self.assertGreater(inside, 10)
            self.assertLess(elsewhere, inside / 5)

    def judge_paths(self, package):
        out, said = self.boot(package, PATHS_SCRIPT % " ".join(self.CASES))

        def read(name):
            with open(os.path.join(out, f"{name}.json")) as file:
                return json.load(file)

        available = self.engines(out)
        for engine in [engine for engine in ("bpf", "ring", "timer", "trap") if available[engine]]:
            for case, wanted in self.CASES.items():
                if case in ("of_go", "by_thread") and engine in ("timer", "trap"):
                    continue
                with self.subTest(f"{engine} {case}"):
                    self.assertIn(f"{engine} {case} 0", said.splitlines())
                    data, paths = read(f"{engine}.{case}"), list(p.paths_of(read(f"{engine}.{case}.tree")["nodes"]))
                    p.assert_ledger(self, data)
                    work = sum(ticks for path, ticks in paths if wanted[-1] in path)
                    right = sum(ticks for path, ticks in paths if p.contains(path, wanted))
                    cut = sum(ticks for path, ticks in paths if path[0].startswith("[path cut") and not self.may_be_cut(engine, case))
                    print(f"{package} {engine} {case}: {right} of {work} ticks, {data['paths']['complete']} complete of"
                          f" {data['ticks']}", flush=True)
                    self.assertGreater(work, 50)
                    self.assertGreater(right, 0.95 * work)
                    self.assertLess(cut, (0.02 if case == "stubs" else 0.1) * work)
                    if case == "by_thread":  # clone's child is cut, its parent is not
                        self.assertGreater(sum(ticks for path, ticks in paths if "by_thread" in path and "clone" in path), 10)
        for name in ("flat", "small", "machine") if available["bpf"] else ():
            self.assertIn(f"bpf {name} 0", said.splitlines())
            p.assert_ledger(self, read(f"bpf.{name}"))
            self.assertGreater(p.share_of(read(f"bpf.{name}"), "work"), 0.3, name)


class Kernels(OnAnyMachine):
    @classmethod
    def setUpClass(cls):
        need("qemu-system-x86_64", "busybox", "apt-cache", "mkfs.ext4")
        if os.uname().machine != "x86_64":
            raise unittest.SkipTest("the kernels are of x86-64")
        cls.image = os.path.join(p.scratch(), "root.img")
        subprocess.run([os.path.join(here, "make_root.sh"), p.BUILD, cls.image], check=True)

    def test_call_paths_on_debian_12(self):
        self.judge_paths("debian_12")

    def test_call_paths_with_a_newer_kernel(self):
        self.judge_paths("debian_12_newer")

    def test_call_paths_on_debian_11(self):
        self.judge_paths("debian_11")

    def test_call_paths_with_the_newest_kernel(self):
        self.judge_paths("newest")

    def test_debian_12(self):
        self.judge("debian_12")

    def test_debian_12_with_a_newer_kernel(self):
        self.judge("debian_12_newer")

    def test_debian_11(self):
        self.judge("debian_11")

    def test_the_newest_kernel(self):
        self.judge("newest")


class Aarch64(OnAnyMachine):
    """Of that machine the rest of the tests sees the capture side alone, under qemu-user, which has no perf_event_open."""
    MACHINE = "aarch64"
    CASES = ON_AARCH64

    @classmethod
    def setUpClass(cls):
        need("qemu-system-aarch64", "aarch64-linux-gnu-g++", "mmdebstrap", "busybox", "mkfs.ext4")
        if os.geteuid() != 0:
            raise unittest.SkipTest("mmdebstrap unpacks packages as root alone")
        cls.directory = os.path.join(STORE, "aarch64")
        cls.image = os.path.join(cls.directory, "root.img")
        cls.CASES = {case: path for case, path in ON_AARCH64.items() if case != "of_go" or shutil.which("go") is not None}
        made = subprocess.run([os.path.join(here, "make_aarch64.sh"), os.path.join(here, "..", ".."), cls.directory], capture_output=True, text=True)
        if made.returncode == 77:
            raise unittest.SkipTest(made.stderr.strip().splitlines()[-1])
        if made.returncode != 0:
            raise AssertionError(made.stdout + made.stderr)

    def kernel(self, name):
        return os.path.join(self.directory, "packages")

    def engines(self, out):
        available = super().engines(out)
        self.assertEqual(available, dict.fromkeys(("bpf", "ring", "timer", "trap"), True))
        return available

    def test_call_paths(self):
        self.judge_paths("debian_12")

    def test_unit_tests(self):
        out, said = self.boot("debian_12", UNIT_SCRIPT)
        results = dict(line.split() for line in said.splitlines() if "_test " in line)
        self.assertEqual(set(results), {"tick_test", "perf_test", "path_test", "bpf_test", "process_test"})
        for test, code in results.items():
            with self.subTest(test):
                self.assertEqual(code, "0", pathlib.Path(out, f"{test}.log").read_text()[-4000:])

    def test_everything_else(self):
        self.judge("debian_12")


if __name__ == "__main__":
    p.main()
