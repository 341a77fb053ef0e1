"""How many call paths are complete, on programs as Debian ships them: python3 path_completeness.py [SECONDS [ENGINE...]].

Each program works for SECONDS (60) under `pctally record -g` of each engine (ring, timer), and, for $PEER_SECONDS (5, for
their data are large; 0: not at all), under perf record with stacks of 8 and of 64 KiB and with frame pointers, and under gperftools. Every reason of a path that is
not complete is listed with its ticks. $PROGRAMS chooses some of them ("xz;git")."""
import glob
import json
import os
import shutil
import subprocess
import sys
import threading
import time

import call_paths
import measure
import workloads
from measure import PCTALLY, SCRATCH

PEER_SECONDS = float(os.environ.get("PEER_SECONDS", 5))
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def write(name, text):
    path = os.path.join(SCRATCH, name)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    return path


def again(command):
    """The command over and over until the file STOP is there."""
    return ["sh", "-c", f"while [ ! -e {SCRATCH}/stop ]; do {command}; done >/dev/null 2>&1"]


def until_stop(ask):
    """Asks a server until the file STOP is there."""
    def beside():
        while not os.path.exists(f"{SCRATCH}/stop"):
            if subprocess.run(ask, **QUIET).returncode != 0:
                time.sleep(0.02)  # not there yet
    return beside


def redis():
    socket = os.path.join(SCRATCH, "completeness.sock")
    server = ["redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no"]
    ask = ["redis-benchmark", "-q", "-s", socket, "-n", "50000", "-c", "20", "-t", "set,get,incr,lpush,lrange_100"]
    return server, until_stop(ask), ["redis-cli", "-s", socket, "shutdown", "nosave"]


def nginx():
    page = write("index.html", "x" * 20000)
    conf = write("nginx.conf", f"daemon off; worker_processes 1; error_log /dev/null; pid {SCRATCH}/nginx.pid; events {{}}\n"
                 f"http {{ access_log off; gzip on; gzip_types *; server {{ listen 127.0.0.1:18080; root {SCRATCH}; }} }}\n")
    os.chmod(SCRATCH, 0o755)
    os.chmod(page, 0o644)
    ask = ["ab", "-q", "-n", "20000", "-c", "8", "-H", "Accept-Encoding: gzip", "http://127.0.0.1:18080/index.html"]
    return ["nginx", "-c", conf], until_stop(ask), ["nginx", "-c", conf, "-s", "quit"]


def postgres():
    """It refuses to run as root: it runs as its own user then, and so do recorders that work in it."""
    binaries = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
    data = os.path.join(SCRATCH, "postgres")
    user = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"] if os.geteuid() == 0 else []
    if user:
        os.chmod(SCRATCH, 0o777)
    place = ["-h", SCRATCH, "-p", "15432", "-U", "postgres"]
    subprocess.run([*user, f"{binaries}/initdb", "-U", "postgres", "-A", "trust", "-D", data], check=True, **QUIET)

    def ask():
        while not os.path.exists(f"{SCRATCH}/stop"):
            if subprocess.run([f"{binaries}/pgbench", *place, "-i", "-s", "2", "postgres"], **QUIET).returncode == 0:
                subprocess.run([f"{binaries}/pgbench", *place, "-c", "4", "-T", "5", "postgres"], **QUIET)
            else:
                time.sleep(0.2)  # not there yet
    server = [f"{binaries}/postgres", "-D", data, "-k", SCRATCH, "-p", "15432", "-c", "listen_addresses=", "-c", "fsync=off"]
    return server, ask, [*user, f"{binaries}/pg_ctl", "-D", data, "-m", "fast", "stop"], user


def programs():
    """{name: (command, what asks it meanwhile, what ends it[, what to start the recorder with])}"""
    made = workloads.make()
    bare = os.path.join(SCRATCH, "repository.git")
    subprocess.run(["git", "clone", "-q", "--bare", measure.ROOT, bare], check=True)
    source = write("templates.cc", "#include <functional>\n#include <map>\n#include <regex>\n#include <string>\n#include <vector>\n"
                   "std::map<std::string, std::vector<std::function<int(int)>>> table;\n"
                   "int main() { return std::regex_match(\"a\", std::regex(\"a+\")) && table[\"x\"].size(); }\n")
    script = write("work.js", "let o = []; for (let i = 0; i < 400000; i++) o.push({a: i, b: String(i)});\n"
                   "let s = JSON.stringify(o); JSON.parse(s); o.sort((x, y) => x.b < y.b ? -1 : 1);\n")
    sql = made["sqlite3"][1]
    text = made["bzip2"][0][-1]
    found = {
        "sqlite3": (again(f"sqlite3 :memory: < {sql}"), None, None),
        "python3.11": (again(" ".join(made["python3"][0])), None, None),
        "cc1plus": (again(f"g++ -O2 -c -o {SCRATCH}/templates.o {source}"), None, None),
        "cc1plus, plain": (again(f"g++ -O2 -c -o {SCRATCH}/plain.o {plain_source()}"), None, None),
        "git": (again(f"git -C {bare} -c pack.threads=1 repack -adfq"), None, None),
        "xz": (again(f"xz -T1 -kc {text}"), None, None),
        "node": (again(f"node {script}"), None, None),
    }
    if shutil.which("redis-benchmark"):
        found["redis-server"] = redis()
    if shutil.which("nginx") and shutil.which("ab"):
        found["nginx"] = nginx()
    if glob.glob("/usr/lib/postgresql/*/bin/pgbench"):
        found["postgres"] = postgres()
    for name in ("sqlite3", "git", "xz", "node", "redis-server", "nginx"):
        if shutil.which(name) is None:
            found.pop(name, None)
            print(f"skipped: {name} (not installed)")
    chosen = os.environ.get("PROGRAMS", ";".join(found)).split(";")
    return {name: found[name] for name in chosen}


def plain_source():
    """C++ without templates: 3,000 functions with loops, branches and calls."""
    body = "".join(f"static int f{i}(int *a, int n) {{ int s = {i}; for (int k = 0; k < n; ++k) {{ if (a[k] % {i + 2}) s += a[k] * {i % 7};"
                   f" else s ^= k; switch (s & 3) {{ case 0: a[k] = s; break; case 1: s -= k; break; default: s += n; }} }}"
                   f" return {f'f{i - 1}(a, n - 1) + s' if i % 5 else 's'}; }}\n" for i in range(3000))
    calls = " + ".join(f"f{i}(a, n)" for i in range(0, 3000, 50))
    return write("plain.cc", body + f"int work(int *a, int n) {{ return {calls}; }}\n")


def work(prefix, program, seconds, as_user=True):
    command, beside, end, *user = program
    command = command if as_user else [*sum(user, []), *command]
    stop = f"{SCRATCH}/stop"
    if os.path.exists(stop):
        os.remove(stop)
    process = subprocess.Popen([*(sum(user, []) if as_user else []), *prefix, *command], **QUIET)
    asking = threading.Thread(target=beside) if beside else None
    if asking:
        asking.start()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        pass
    write("stop", "")
    if asking:
        asking.join()
    if end:
        subprocess.run(end, **QUIET)
    return process.wait()


def measured(name, program, engine, seconds):
    path = os.path.join(SCRATCH, "completeness.pct")
    if os.path.exists(path):
        os.remove(path)
    work([PCTALLY, "record", "-q", "-f", "-g", "-e", engine, "-o", path, "--"], program, seconds, engine in ("timer", "trap"))
    if not os.path.exists(path):
        print(f"skipped: {name} by {engine} (it cannot be recorded so: pctally engines)")
        return
    report = json.loads(subprocess.run([PCTALLY, "report", "--json", path], capture_output=True).stdout)
    account = report["paths"]
    ticks = account["complete"] + sum(cut["ticks"] for cut in account["cut"]) + account["no_room"]
    missing = "; ".join(f"{cut['ticks']} {cut['reason']}" for cut in account["cut"])
    measure.row((name, f"pctally {engine}", f"{report['cpu_s'] or 0:.1f}", str(ticks), f"{100 * account['complete'] / max(1, ticks):.2f} %",
                 missing, f"{os.path.getsize(path) / 1e6:.2f}"))


def gperftools(name, program):
    """Each process writes a file of its own as it ends; pctally reads them, for the names of the outermost functions."""
    path = os.path.join(SCRATCH, "gperftools")
    for old in glob.glob(path + "*"):
        os.remove(old)
    work(["env", f"LD_PRELOAD={measure.gperftools_library()}", f"CPUPROFILE={path}", "CPUPROFILE_FREQUENCY=1000"], program, PEER_SECONDS)
    ticks = complete = size = without = 0
    for file in glob.glob(path + "*"):
        size += os.path.getsize(file)
        folded = subprocess.run([PCTALLY, "export", "--format", "folded", file], capture_output=True, text=True)
        without += folded.returncode != 0
        for line in folded.stdout.splitlines():
            stack, _, count = line.rpartition(" ")
            ticks += int(count)
            # The first is the program; a stripped program's _start has no name.
            complete += int(count) * any(call_paths.is_start(frame) for frame in stack.split(";")[1:4])
    said = f"{without} files without samples" if without else ""
    measure.row((name, "gperftools", "", str(ticks), f"{100 * complete / max(1, ticks):.2f} %", said, f"{size / 1e6:.1f}"))


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60
    engines = sys.argv[2:] or ["ring", "timer"]
    print(f"machine: {measure.machine()}\n")
    measure.header(("program", "recorder", "CPU s", "ticks", "paths complete", "the others", "MB"))
    for name, program in programs().items():
        for engine in engines:
            measured(name, program, engine, seconds)
        if PEER_SECONDS != 0 and measure.gperftools_library():
            gperftools(name, program)
        if PEER_SECONDS == 0 or not measure.have("perf"):
            continue
        for peer, (prefix, _) in call_paths.profilers(1000).items():
            if not peer.startswith("perf"):
                continue
            path = call_paths.file_of(peer)
            work(prefix, program, PEER_SECONDS)
            share = call_paths.complete(peer, path)
            shown = "" if share is None else f"{100 * share:.2f} %"
            said = "" if share is not None else f"perf script took more than {call_paths.PATIENCE} s"
            measure.row((name, peer, "", "", shown, said, f"{os.path.getsize(path) / 1e6:.1f}"))


if __name__ == "__main__":
    main()
