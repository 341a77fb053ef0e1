#!/usr/bin/env python3
"""Behaviours of profil(3) and sprofil(3): the C library's own beside pctally's, from one binary.

    dialect_table_test.py            asserts what pctally does, and that docs/glibc-compared.md lists the same behaviours
    dialect_table_test.py --table    runs both, and prints the page's table

The programs are in this directory; each behaviour runs in a process of its own, bare and with libpctally-glibc.so preloaded.
"""
import os
import platform
import re
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import pctally_test as pt

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
PAGE = os.path.join(ROOT, "docs", "glibc-compared.md")
LIBRARY = os.path.join(pt.BUILD, "lib", "libpctally-glibc.so")
CC = os.environ.get("CC", "cc")


class Behaviour:
    """`words` turns the probe's values into words for either column; `holds` is what is asserted of pctally's."""

    def __init__(self, name, question, words, holds):
        self.name, self.question, self.words, self.holds = name, question, words, holds


def result(v):
    return "taken" if v["result"] == 0 else os.strerror(v["errno"])


B = Behaviour
BEHAVIOURS = [
    B("second_use", "`sprofil` on and off, three times", lambda v: f"{v['uses']} uses counted", lambda v: v["uses"] == 3),
    B("replacement", "`sprofil` while one is on: ticks in 0.2 s for the new regions, for the old ones",
      lambda v: f"{v['new']}, {v['old']}", lambda v: v["new"] > 10 and v["old"] == 0),
    B("profil_replacement", "`profil` while one is on: the same", lambda v: f"{v['new']}, {v['old']}",
      lambda v: v["new"] > 10 and v["old"] == 0),
    B("null_buffer", "`profil` with a null buffer: ticks before, after", lambda v: f"{v['on']}, {v['off']}",
      lambda v: v["result"] == 0 and v["on"] > 10 and v["off"] == 0),
    B("size_zero", "`profil` with size 0", lambda v: f"{result(v)}, {v['ticks']} ticks", lambda v: v["result"] == v["ticks"] == 0),
    B("scale_zero", "`profil` with scale 0, pc below the offset",
      lambda v: f"{v['first']} ticks in the first counter, {v['all'] - v['first']} elsewhere",
      lambda v: v["first"] > 10 and v["first"] == v["all"]),
    B("unknown_flag", "`sprofil` with a flag of no meaning (4)", result, lambda v: v["errno"] == 22),
    B("negative_count", "`sprofil` with a negative count", result, lambda v: v["errno"] == 22),
    B("unreadable_list", "`sprofil` with a list that cannot be read", result, lambda v: v["errno"] == 14),
    B("tiny_region", "a region smaller than one counter: ticks of its neighbour", lambda v: f"{v['neighbour']}",
      lambda v: v["result"] == 0 and v["neighbour"] > 10),
    B("alternating_regions", "two functions take turns, each with a region: ticks; those in a counter of the other function",
      lambda v: f"{v['ticks']}, {v['wrong']}", lambda v: v["ticks"] > 50 and v["wrong"] <= 0.05 * v["ticks"]),
    B("below_lowest", "a pc below the lowest region", lambda v: f"{v['ticks']} ticks counted", lambda v: v["ticks"] == 0),
    B("no_region", "a pc in no region, with an overflow entry: ticks; those in that entry",
      lambda v: f"{v['ticks']}, {v['overflow']}", lambda v: v["overflow"] == v["ticks"] > 10),
    B("any_order", "regions in descending order, the overflow entry first: ticks; those in the right entry",
      lambda v: f"{v['ticks']}, {v['low']}", lambda v: v["result"] == 0 and v["low"] > 10 and v["low"] >= 0.9 * v["ticks"]),
    B("far_away", "a pc 4 GB behind the offset", lambda v: f"{v['ticks']} ticks counted", lambda v: v["ticks"] == 0),
    B("profil_full", "`profil`, all counters at 65535: the least one after 0.3 s", lambda v: f"{v['least']} (wrapped)"
      if v["least"] < 65535 else "65535 (stays)", lambda v: v["least"] < 1000),
    B("sprofil_full", "`sprofil`, the same: counters of the region, of the overflow entry",
      lambda v: f"{v['region']}, {v['overflow']}", lambda v: v["region"] == 65535 and v["overflow"] < 1000),
    B("wide_counters", "32-bit counters: ticks above 65535", lambda v: f"{v['above']}", lambda v: v["above"] > 10),
    B("sixty_four_bits", "64-bit counters: ticks above 2³²", lambda v: f"{v['above']} (`pctally_hpux_sprofil`)",
      lambda v: v["above"] > 10),
    B("tick_length", "`sprofil`: the tick that the call reports, and ticks × that per CPU second",
      lambda v: f"{v['tick_us']} µs, {v['ratio']:.2f}", lambda v: v["tick_us"] == 10000 and 0.85 < v["ratio"] < 1.15),
    B("fast_ticks", "with `PROF_FAST`: the same", lambda v: f"{v['tick_us']} µs, {v['ratio']:.2f}",
      lambda v: v["tick_us"] == 1000 and 0.85 < v["ratio"] < 1.15),
    B("four_threads", "four busy threads: ticks per CPU second, of 100", lambda v: f"{v['per_second']}",
      lambda v: 85 < v["per_second"] < 115),
    B("older_threads", "four threads older than the call: the same", lambda v: f"{v['per_second']}",
      lambda v: 85 < v["per_second"] < 115),
    B("fork_child", "fork while on, 0.5 s each: ticks of parent, of child", lambda v: f"{v['parent']}, {v['child']}",
      lambda v: v["parent"] > 25 and v["child"] > 25),
    B("exec_next", "exec while on", lambda v: "the next program lives", lambda v: v["lived"] == 1),
    B("on_off_race", "on and off in one thread, four others work", lambda v: f"alive after {v['pairs']} pairs",
      lambda v: v["pairs"] > 100),
    B("unmapped_buffer", "a region's buffer is unmapped while on: ticks of its neighbour", lambda v: f"{v['neighbour']}",
      lambda v: v["neighbour"] > 10),
    B("older_handler", "the program's SIGPROF handler, older than the call: calls of 10, ticks in 0.3 s",
      lambda v: f"{v['mine']}, {v['ticks']}", lambda v: v["mine"] == 10 and v["ticks"] > 15),
    B("later_handler", "installed after the call: calls of 10, of signals it never asked for, ticks",
      lambda v: f"{v['mine']}, {v['strange']}, {v['ticks']}",
      lambda v: v["mine"] == 10 and v["strange"] == 0 and v["ticks"] > 15),
    B("own_itimer", "the program sets ITIMER_PROF to 20 ms after the call: alarms, ticks in 0.5 s",
      lambda v: f"{v['alarms']}, {v['ticks']}", lambda v: v["alarms"] >= 20 and v["ticks"] > 15),
    B("older_itimer", "the same, set before the call", lambda v: f"{v['alarms']}, {v['ticks']}",
      lambda v: v["alarms"] >= 20 and v["ticks"] > 15),
    B("interrupted_sleep", "main sleeps, a thread works: sleeps of 20 that end with EINTR, ticks",
      lambda v: f"{v['interrupted']}, {v['ticks']}", lambda v: v["ticks"] > 0),
    B("worker_blocks_signals", "the same, and the thread blocks all signals", lambda v: f"{v['interrupted']}, {v['ticks']}",
      lambda v: True),
]


def build():
    """The probe, and the program for what the C library has no name for; both in a scratch directory."""
    probe, wide = os.path.join(pt.scratch(), "probe"), os.path.join(pt.scratch(), "sixty_four_bits")
    sources = [os.path.join(HERE, f"{name}.c") for name in ("probe", "calls", "bins", "rates", "processes", "signals")]
    subprocess.run([CC, "-O1", "-no-pie", "-Wall", "-Wextra", "-Werror", "-pthread", *sources, "-o", probe], check=True)
    libraries = os.path.join(pt.BUILD, "lib")
    subprocess.run([CC, "-O1", "-I" + os.path.join(ROOT, "include"), os.path.join(HERE, "sixty_four_bits.c"), "-o", wide,
                    "-L" + libraries, "-Wl,-rpath," + libraries, "-lpctally"], check=True)
    return probe, wide


def values_of(text):
    return {name: float(value) if "." in value else int(value) for name, value in re.findall(r"(\w+)=(-?[\d.]+)", text)}


class Probe:
    def __init__(self):
        self.program, self.wide = build()

    def run(self, behaviour, preload, seconds=None):
        """(values, None), or (None, how it died)."""
        env = {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "PCTALLY_ENGINE")}
        if preload:
            env["LD_PRELOAD"] = LIBRARY
        if seconds:
            env["PROBE_SECONDS"] = str(seconds)
        words = [self.wide] if behaviour.name == "sixty_four_bits" else [self.program, behaviour.name]
        done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=300)
        if done.returncode == 0:
            return values_of(done.stdout), None
        if done.returncode > 0:
            return None, f"exit status {done.returncode}: {done.stderr.strip()}"
        said = re.sub(r".*(Assertion) .*", r"\1 failed", done.stderr.strip(), flags=re.S)
        return None, f"killed by {signal.Signals(-done.returncode).name}" + (f" ({said})" if said else "")


def in_words(behaviour, values, death):
    return f"**{death}**" if death else behaviour.words(values)


def of_the_c_library(probe, behaviour):
    if behaviour.name == "sixty_four_bits":
        return "no such counters"
    if behaviour.name != "on_off_race":
        return in_words(behaviour, *probe.run(behaviour, False))
    runs = [in_words(behaviour, *probe.run(behaviour, False, 30)) for _ in range(3)]
    return "three runs of 30 s: " + "; ".join(runs)


def of_pctally(probe, behaviour):
    if behaviour.name != "on_off_race":
        return in_words(behaviour, *probe.run(behaviour, True))
    return "three runs of 30 s: " + "; ".join(in_words(behaviour, *probe.run(behaviour, True, 30)) for _ in range(3))


def print_table():
    probe = Probe()
    c_library = " ".join(platform.libc_ver())
    print(f"| | behaviour | {c_library} | pctally |\n|---|---|---|---|")
    for number, behaviour in enumerate(BEHAVIOURS, 1):
        print(f"| {number} | {behaviour.question} | {of_the_c_library(probe, behaviour)} | {of_pctally(probe, behaviour)} |",
              flush=True)


class DialectTable(unittest.TestCase):
    """One test per behaviour is added below."""

    @classmethod
    def setUpClass(cls):
        cls.probe = Probe()

    def test_the_page_lists_these_behaviours(self):
        with open(PAGE, encoding="utf-8") as page:
            rows = re.findall(r"^\| \d+ \| (.*?) \|", page.read(), flags=re.M)
        self.assertEqual(rows, [behaviour.question for behaviour in BEHAVIOURS])


def asserted(behaviour):
    def test(self):
        with pt.Machine() as machine:
            values, death = self.probe.run(behaviour, True)
        self.assertIsNone(death)
        # Beside busy programs the kernel's ticks, by which CPU timers expire, may miss half of what runs for 0.3 s.
        self.assertTrue(behaviour.holds(values) or not machine.judges(f"{behaviour.name}: {values}"), values)
    return test


for one in BEHAVIOURS:
    setattr(DialectTable, f"test_{one.name}", asserted(one))


if __name__ == "__main__":
    if sys.argv[1:] == ["--table"]:
        print_table()
    elif sys.platform == "linux" and platform.libc_ver()[0] != "glibc":
        print("skipped: the C library is not glibc")
        sys.exit(77)
    else:
        pt.main()
