"""How often `pctally diff` is wrong, and how much it sees, on real recordings: python3 diff_rates.py [PAIRS [-g]].

With -g recordings have call paths, and totals are judged, too.

False alarms: each program is recorded twice PAIRS times (200), in pairs one after the other, and nothing was changed; a pair that
calls any row, or the total, changed is a false alarm. At a true rate of 5 % more than 20 of 200 come once in 1,000 times. With
five runs a side the sides are drawn from the same recordings, so those comparisons are not independent of each other.

Power: tests/programs' fixed_work does 5, 10 and 20 % more work in one function; how often it is called more, and how often any
other row is called anything."""
import json
import os
import random
import subprocess
import sys

import measure
import workloads
from measure import PCTALLY, PROGRAMS, SCRATCH

SIDES = (1, 5)  # runs
RECORD = sys.argv[2:]


def record(words, stdin, name):
    path = os.path.join(SCRATCH, name + ".pct")
    measure.Run([PCTALLY, "record", "-q", "-f", *RECORD, "-o", path, "--", *words], stdin=stdin)
    return path


def decided(before, after):
    """Names of the rows that are called changed, in themselves or with all they call; the whole is called "total"."""
    words = [PCTALLY, "diff", "--json", *before, "--", *after] if len(before) > 1 else [PCTALLY, "diff", "--json", *before, *after]
    diff = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
    names = [row["name"] for row in diff["rows"] if {row["verdict"], row.get("total_verdict", "undecided")} != {"undecided"}]
    return names + (["total"] if diff["total"]["verdict"] != "undecided" else [])


def short_programs():
    """{name: (words, stdin)}; 0.2 to 0.4 s each."""
    text = os.path.join(SCRATCH, "short-text")
    workloads.text_file(text, 3)
    sql = os.path.join(SCRATCH, "short.sql")
    with open(sql, "w", encoding="ascii") as file:
        file.write("create table t(a integer primary key, b int, c text);\n"
                   "with recursive n(x) as (select 1 union all select x + 1 from n where x < 120000)\n"
                   "insert into t select x, x * 7919 % 100003, hex(x) from n;\n"
                   "create index i on t(b);\nselect b % 97, count(*), avg(a) from t group by 1 order by 2 desc limit 5;\n")
    script = os.path.join(SCRATCH, "short.py")
    with open(script, "w", encoding="ascii") as file:
        file.write("import json\nrows = [{'id': i, 'name': 'n%d' % i} for i in range(60000)]\n"
                   "back = json.loads(json.dumps(rows))\nback.sort(key=lambda row: row['name'])\n")
    python = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else "python3"
    return {"bzip2": (["bzip2", "-k", "-c", text], None), "sqlite3": (["sqlite3", ":memory:"], sql), "python3": ([python, script], None)}


def drawn(chance, runs, side):
    """Two sides of so many runs, none in both."""
    chosen = chance.sample(runs, 2 * side)
    return chosen[:side], chosen[side:]


def false_alarms(pairs):
    print("### False alarms of diff: comparisons of unchanged programs that call any row, or the total, changed\n")
    measure.header(("program", *(f"{side} run{'s' if side > 1 else ''} a side" for side in SIDES)))
    for name, (words, stdin) in short_programs().items():
        runs = [record(words, stdin, f"null-{name}-{i}") for i in range(2 * pairs)]
        chance = random.Random(1)
        cells = []
        for side in SIDES:
            sides = [([runs[2 * i]], [runs[2 * i + 1]]) if side == 1 else drawn(chance, runs, side) for i in range(pairs)]
            alarms = [names for names in (decided(*both) for both in sides) if names]
            cells.append(f"{len(alarms)} of {pairs}")
        measure.row((name, *cells))
    print()


def power(comparisons):
    print("### What diff sees: one function does more work\n")
    measure.header(("more work", "runs a side", "called more", "another row called anything"))
    program = os.path.join(PROGRAMS, "fixed_work")
    amounts = {percent: str(400 * (100 + percent) // 100) for percent in (0, 5, 10, 20)}
    runs = {percent: [] for percent in amounts}
    for i in range(3 * max(SIDES)):  # interleaved, as somebody who compares would
        for percent, amount in amounts.items():
            runs[percent].append(record([program, amount], None, f"power-{percent}-{i}"))
    chance = random.Random(2)
    for percent in list(amounts)[1:]:
        for side in SIDES:
            seen = others = 0
            for _ in range(comparisons):
                names = decided(chance.sample(runs[0], side), chance.sample(runs[percent], side))
                seen += "work" in names
                others += any(name not in ("work", "total") for name in names)
            measure.row((f"{percent} %", str(side), f"{seen} of {comparisons}", f"{others} of {comparisons}"))
    print()


if __name__ == "__main__":
    print(f"machine: {measure.machine()}\n")
    false_alarms(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
    power(40)
