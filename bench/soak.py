#!/usr/bin/env python3
"""Half an hour of the whole machine under a mixed load: is the recorder's memory flat, does every tick stay accounted for?

    soak.py [ENGINE...]     (default: each of bpf and ring that works here)

SOAK_SECONDS (default 1800) shortens it. Needs root. Every few seconds the recorder's resident memory, descriptors and
mappings are read from /proc. The first tenth is warm-up: the file grows with the text that ran (it is mapped, and counted
apart as shared memory), the table of processes with the processes there are. Afterwards, by the medians of the last quarter
and the first, private memory may grow by no more than 4 MiB, descriptors by none, mappings by no more than 8. The ledger
has to balance at every reading and at the end.
"""
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

BUILD = os.environ.get("PCTALLY_BUILD", os.path.join(os.path.dirname(__file__), "..", "build", "release"))
PCTALLY = os.path.join(BUILD, "bin", "pctally")
PROGRAMS = os.path.join(BUILD, "programs")
SECONDS = float(os.environ.get("SOAK_SECONDS", "1800"))

LOAD = [
    f"while :; do {PROGRAMS}/spinner 8 0.2; sleep 0.5; done",                 # threads that come and go
    "while :; do for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done; sleep 0.2; done",  # short processes
    f"while :; do {PROGRAMS}/jit 0.3; sleep 1; done",                          # code without a file
    f"while :; do {PROGRAMS}/loader {PROGRAMS}/plugin.so 0.3; sleep 1; done",  # dlopen
    f"while :; do {PROGRAMS}/mapper {{scratch}}/pages 2000 0.2 >/dev/null; sleep 2; done",
    "while :; do dd if=/dev/zero of=/dev/null bs=64k count=20000 2>/dev/null; sleep 1; done",  # kernel mode
]


def reading_of(pid, path):
    with open(f"/proc/{pid}/status") as file:
        status = dict(line.split(":", 1) for line in file)
    with open(f"/proc/{pid}/maps") as file:
        maps = sum(1 for _ in file)
    return {"anon_kib": int(status["RssAnon"].split()[0]), "rss_kib": int(status["VmRSS"].split()[0]),
            "fds": len(os.listdir(f"/proc/{pid}/fd")), "maps": maps,
            "file_mib": os.path.getsize(path) >> 20}


def report(path):
    text = subprocess.run([PCTALLY, "report", "--json", "--limit", "0", path], capture_output=True, check=True).stdout
    data = json.loads(text)
    assert data["ticks"] == data["counted"] + data["outside"] + data["full"] + data["lost"], "ledger"
    assert data["ticks"] == sum(row["ticks"] for row in data["rows"]) + data["hidden_ticks"], "rows"
    return data


def soak(engine, scratch):
    path = os.path.join(scratch, engine + ".pct")
    load = [subprocess.Popen(["nice", "-n", "19", "sh", "-c", script.replace("{scratch}", scratch)], process_group=0)
            for script in LOAD]
    recorder = subprocess.Popen([PCTALLY, "record", "-q", "-a", "-e", engine, "-f", "-o", path])
    readings = []
    try:
        start = time.monotonic()
        while time.monotonic() < start + SECONDS:
            time.sleep(max(1, SECONDS / 200))
            assert recorder.poll() is None, "the recorder ended"
            readings.append(reading_of(recorder.pid, path))
            if len(readings) % 20 == 0:
                report(path)
        with open(f"/proc/{recorder.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    finally:
        recorder.send_signal(signal.SIGINT)
        recorder.wait()
        for process in load:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return report(path), readings, cpu, os.path.getsize(path)


def main():
    rows = json.loads(subprocess.run([PCTALLY, "engines", "--json"], capture_output=True).stdout)
    engines = sys.argv[1:] or [row["engine"] for row in rows if row["available"] and row["engine"] in ("bpf", "ring")]
    good = True
    with tempfile.TemporaryDirectory(prefix="pctally-soak-") as scratch:
        for engine in engines:
            data, readings, cpu, size = soak(engine, scratch)
            steady = readings[len(readings) // 10:]
            quarter = len(steady) // 4
            first, last = ({name: int(statistics.median(reading[name] for reading in part)) for name in steady[0]}
                           for part in (steady[:quarter], steady[-quarter:]))
            grown = {name: last[name] - first[name] for name in first}
            gap = data["unsampled_s"] / data["cpu_s"]
            print(f"{engine}: {SECONDS:.0f} s, {data['ticks']} ticks ({data['outside']} outside, {data['full']} full, "
                  f"{data['lost']} lost), {len(data['processes'])} processes; unsampled {100 * gap:.2f} % of "
                  f"{data['cpu_s']:.1f} s CPU (± {100 * data['chance_s'] / data['cpu_s']:.2f} by chance); recorder: "
                  f"{cpu:.1f} s CPU, last quarter {last}, against first {grown}, file {size >> 10} KiB",
                  flush=True)
            flat = grown["anon_kib"] <= 4096 and grown["fds"] <= 0 and grown["maps"] <= 8
            balanced = abs(gap) <= 0.01 + 2 * data["chance_s"] / data["cpu_s"]
            print(f"{engine}: {'flat' if flat else 'GROWS'}, {'balanced' if balanced else 'NOT BALANCED'}", flush=True)
            good = good and flat and balanced
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
