"""Real programs on input made here: bzip2, sqlite3, python3, pigz -p2, redis-server; one to three seconds of CPU time
each, so that what a profiler does at its start is seen and does not rule."""
import os
import random
import subprocess
import sys
import time

import measure
from measure import SCRATCH, Run


def text_file(path, megabytes):
    words = "the of and to in is that for it as was with be by on not he his but at are this have from or had".split()
    choice = random.Random(1)
    vocabulary = words + ["".join(choice.choice("etaoinshrdlu") for _ in range(choice.randint(3, 9))) for _ in range(5000)]
    with open(path, "w") as file:
        size = 0
        while size < megabytes << 20:
            line = " ".join(choice.choices(vocabulary, k=12)) + "\n"
            size += file.write(line)


def make():
    """{name: (words, stdin, what to do while it runs)}"""
    text = os.path.join(SCRATCH, "text")
    text_file(text, 24)
    large = os.path.join(SCRATCH, "large")
    with open(text, "rb") as source, open(large, "wb") as file:
        file.write(source.read() * 2)
    sql = os.path.join(SCRATCH, "queries.sql")
    with open(sql, "w") as file:
        file.write("create table t(a integer primary key, b int, c text);\n"
                   "with recursive n(x) as (select 1 union all select x + 1 from n where x < 1000000)\n"
                   "insert into t select x, x * 7919 % 100003, hex(x) from n;\n"
                   "create index i on t(b);\n"
                   "select count(*), sum(a) from t where b between 100 and 50000;\n"
                   "select b % 97, count(*), avg(a) from t group by 1 order by 2 desc limit 5;\n"
                   "select count(*) from t where c like '%AB%';\n")
    script = os.path.join(SCRATCH, "work.py")
    with open(script, "w") as file:
        file.write("import json, re\n"
                   "rows = [{'id': i, 'name': 'n%d' % i, 'score': i * 7 % 101} for i in range(240000)]\n"
                   "text = json.dumps(rows)\n"
                   "back = json.loads(text)\n"
                   "total = sum(len(re.findall('n[0-9]+7', row['name'])) for row in back)\n"
                   "back.sort(key=lambda row: (row['score'], row['name']))\n"
                   "print(total, sum(i * i % 7 for i in range(6000000)))\n")
    python = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else "python3"
    found = {
        "bzip2": (["bzip2", "-k", "-c", text], None, None),
        "sqlite3": (["sqlite3", ":memory:"], sql, None),
        "python3": ([python, script], None, None),
        "pigz -p2": (["pigz", "-p2", "-k", "-c", large], None, None),
    }
    for name in [name for name, (words, _, _) in found.items() if not measure.have(os.path.basename(words[0]))]:
        print(f"skipped: {name} (not installed)")
        del found[name]
    if measure.have("redis-server") and measure.have("redis-benchmark"):
        found["redis-server under redis-benchmark"] = (
            ["redis-server", "--port", "0", "--unixsocket", _SOCKET, "--save", "", "--appendonly", "no"], None, _ask_redis)
    else:
        print("skipped: redis (not installed)")
    return found


_SOCKET = os.path.join(SCRATCH, "redis.sock")


def _ask_redis():
    while not os.path.exists(_SOCKET):
        time.sleep(0.002)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(["redis-benchmark", "-q", "-s", _SOCKET, "-n", "80000", "-c", "20", "-t", "set,get,incr,lpush"], **quiet)
    subprocess.run(["redis-cli", "-s", _SOCKET, "shutdown", "nosave"], **quiet)


def compare(profilers, titles, cells):
    """As compare_runs(); profilers(hertz) -> {name: (words before the command, environment)}."""
    def configurations(words, stdin, beside, hertz):
        for name, (prefix, env) in profilers(hertz).items():
            yield name, lambda prefix=prefix, env=env: Run(prefix + words, env, stdin, beside)

    compare_runs(configurations, titles, cells)


def compare_runs(configurations, titles, cells):
    """A table for each program: bare beside configurations(words, stdin, beside, hertz), (name, function() -> Run) each. The
    script's arguments are the rounds and the rate. cells(name, {name: runs}): what stands behind a row's name and its CPU time, under titles."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    hertz = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    print(f"machine: {measure.machine()}\n{rounds} interleaved rounds at {hertz} Hz\n")
    for workload, (words, stdin, beside) in make().items():
        bare = {"bare": lambda: Run(words, stdin=stdin, beside=beside)}
        results = measure.interleaved({**bare, **dict(configurations(words, stdin, beside, hertz))}, rounds)
        print(f"### {workload}\n")
        measure.table(("configuration", "CPU s", *titles),
                      [(name, measure.spread([run.cpu for run in runs]), *cells(name, results))
                       for name, runs in results.items()])


def added_ms(runs, bare):
    return measure.spread([run.cpu - base.cpu for run, base in zip(runs, bare)], 1e3, 1)
