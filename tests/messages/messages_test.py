"""Every message: a command line, the exact line it brings on stderr, and the exit status."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

NOBODY = 65534
LONGEST = 120

USAGE, INPUT, FAILED, CANNOT_RUN, NOT_FOUND = 2, 4, 125, 126, 127

# command line -> line, status. They run in a directory with the files that setUp makes.
TABLE = [
    ("recrod -- ls", "'recrod' is no pctally command; did you mean 'record'?", USAGE),
    ("xyzzy", "'xyzzy' is no pctally command; see pctally --help", USAGE),
    ("./slow 2", "'./slow' is a program, not a command; to profile it: pctally record -- ./slow 2", USAGE),
    ("ls -l", "'ls' is a program, not a command; to profile it: pctally record -- ls -l", USAGE),
    ("some.pct", "'some.pct' is a profile, not a command; to read it: pctally report some.pct", USAGE),
    ("-F 100", "'-F' is no option here; write the command first: pctally COMMAND -F, or see pctally --help", USAGE),
    ("help recrod", "'recrod' is no pctally command; did you mean 'record'?", USAGE),
    ("stat -- ls", "there is no 'stat' yet; pctally record -e EVENT counts events, and pctally report prints their sum",
     USAGE),

    # what other profilers call it
    ("flamegraph", "'flamegraph' is no pctally command; write pctally report --flamegraph FILE.html", USAGE),
    ("compare some.pct other.pct", "'compare' is no pctally command; write pctally diff OLD NEW", USAGE),
    ("script", "there is no 'script' yet; pctally export --format folded prints every stack, pctally report --json every row", USAGE),
    ("record -a -- sleep 10", "choose one: a command, -p, --cgroup or -a; a time goes with --for: --for 10", USAGE),
    ("record -p 1 sleep 5", "choose one: a command, -p, --cgroup or -a; a time goes with --for: --for 5", USAGE),
    ("record -a -- ls", "choose one: a command, -p, --cgroup or -a", USAGE),
    ("record --duration 5 -p 1", "--duration: for a time write --for SECONDS", USAGE),
    ("record --uid nobody", "--uid: users cannot be chosen; name processes: -p PID,PID or -p NAME", USAGE),
    ("record 4711", "cannot run '4711': not found in PATH; to record process 4711: pctally record -p 4711", NOT_FOUND),
    ("top 4711", "there is no file 4711; to watch process 4711: pctally top -p 4711", USAGE),
    ("top -d 2 -p 1", "-d: write --interval SECONDS", USAGE),
    ("report --stdio some.pct", "--stdio: the report is such a table; leave it out (--limit N: N rows)", USAGE),
    ("report -top some.pct", "-top: the report is such a table; leave it out (--limit N: N rows)", USAGE),
    ("report --no-children some.pct", "--no-children: rows are in the order of self time; leave it out", USAGE),
    ("report -g caller some.pct", "-g: write --callers FUNCTION, --tree or --bottom-up (profiles of record -g)", USAGE),
    ("report --call-graph=graph some.pct",
     "--call-graph: write --callers FUNCTION, --tree or --bottom-up (profiles of record -g)", USAGE),
    ("report -i some.pct", "-i: name the profile without an option: pctally report FILE", USAGE),
    ("report -cum some.pct", "-cum: write --sort total: the time with callees (profiles of record -g)", USAGE),
    ("report -list main some.pct", "-list: write pctally annotate FUNCTION FILE", USAGE),
    ("report -http=:8080 some.pct", "-http: write --html FILE.html: a page for a browser", USAGE),
    ("report -hide=main some.pct", "no option -hide; did you mean --hide?", USAGE),
    ("report -peek main some.pct", "-peek: write --callers FUNCTION (profiles of record -g)", USAGE),
    ("report -base other.pct some.pct", "-base: write pctally diff OLD NEW", USAGE),
    ("report --by comm some.pct", "--by comm: did you mean command? (choose function, object, line, process, command, program, thread or cgroup)", USAGE),
    ("report --comm ls some.pct", "--comm: write --program REGEX (profiles of record -g, or --scope program)", USAGE),
    ("report --sort dso,symbol some.pct",
     "--sort dso,symbol: --sort is the order of the rows; what a row is says --by: write --by object", USAGE),
    ("report --sort overhead some.pct", "--sort overhead: did you mean ticks? (choose ticks, total, name or object)", USAGE),
    ("report --by dso some.pct",
     "--by dso: did you mean object? (choose function, object, line, process, command, program, thread or cgroup)", USAGE),
    ("annotate --stdio main", "--stdio: that is how it is printed; leave it out", USAGE),
    ("annotate -s main", "-s: name the function without an option: pctally annotate FUNCTION", USAGE),
    ("annotate some.pct", "some.pct is a profile; name the function first: pctally annotate FUNCTION some.pct", USAGE),
    ("annotate some.pct main", "some.pct is a profile; name the function first: pctally annotate main some.pct", USAGE),
    ("diff --base some.pct other.pct", "--base: name the older first: pctally diff OLD NEW", USAGE),
    ("export -f folded some.pct", "-f: write --format FORMAT", USAGE),
    ("export --format csv --limit 5 some.pct", "--limit changes nothing with --format csv; leave it out", USAGE),
    ("export --format folded --object ls some.pct", "--object changes nothing with --format folded; leave it out", USAGE),
    ("export --format collapsed some.pct", "--format collapsed: did you mean folded?", USAGE),
    ("export --format svg some.pct",
     "--format svg: the report writes it: pctally report --flamegraph FILE.svg, or --html FILE.html", USAGE),

    ("record", "nothing to record; name a program after --, or use -p PID, --cgroup DIR or -a", USAGE),
    ("record --", "nothing to record; name a program after --, or use -p PID, --cgroup DIR or -a", USAGE),
    ("record --freq 100 -- ls", "no option --freq; did you mean --frequency (-F)?", USAGE),
    ("record --outptu=x -- ls", "no option --outptu; did you mean --output (-o)?", USAGE),
    ("record --nonsense ls", "no option --nonsense; see pctally record --help", USAGE),
    ("record -Q ls", "no option -Q; see pctally record --help", USAGE),
    ("record -g=dwarf -- ls", "-g takes no value; write -g alone", USAGE),
    ("record -F 9 -q=1 -- ls", "-q takes no value; write -q alone", USAGE),
    ("record -o", "--output (-o) needs a value; see pctally record --help", USAGE),
    ("record -F abc -- ls", "-F abc: not a number; write ticks per CPU second, 0.1 to 100000, for example -F 1000", USAGE),
    ("record -F 1k -- ls", "-F 1k: not a number; write ticks per CPU second, 0.1 to 100000, for example -F 1000", USAGE),
    ("record -F 0 -- ls", "-F 0: out of range; write ticks per CPU second, 0.1 to 100000, for example -F 1000", USAGE),
    ("record -F 9 -c 1ms -- ls", "-F and -c exclude each other: -F is ticks per second, -c the CPU time of one tick",
     USAGE),
    ("record -c 1us -- ls", "-c 1us: not a time from 10us to 10s; write 250us, 1ms or nanoseconds", USAGE),
    ("record -e faults -c 0 -- ls", "-c 0: not a number of page-faults; write 1 to 1000000000000", USAGE),
    ("record -e faults -F 9 -- ls", "-F is for CPU time; with page-faults write -c N: a tick after N of them", USAGE),
    ("record --for abc -- ls", "--for abc: not a time; write 10, 2.5s, 500ms, 5m or 1h", USAGE),
    ("record -p 1 -p 2 --for 1", "--pid was given twice; write -p PID,PID", USAGE),
    ("record -p --for 1", "-p needs a process id or name and got none; is the program running? ($(pidof NAME) was empty)",
     USAGE),
    ("record -p '' --for 1",
     "-p needs a process id or name and got none; is the program running? ($(pidof NAME) was empty)", USAGE),
    ("record -p 101 102 --for 1", "-p takes one list; separate the ids by commas: -p 101,102", USAGE),
    ("record -p 1 -- ls", "choose one: a command, -p, --cgroup or -a", USAGE),
    ("record -p no-such-name", "no running process is called no-such-name; give ids (-p 101,102) or start it under "
     "pctally record --", FAILED),
    ("record --cgroup /", "'/' is no control group; give a directory below /sys/fs/cgroup", USAGE),
    ("record -- nosuchcmd", "cannot run 'nosuchcmd': not found in PATH", NOT_FOUND),
    ("record -- ./nosuchcmd", "cannot run './nosuchcmd': not found", NOT_FOUND),
    ("record -- 'ls -l'", "cannot run 'ls -l': not found; do not quote a command with its arguments: record -- ls -l",
     NOT_FOUND),
    ("record -- 'ls -l; true'", "cannot run 'ls -l; true': not found; a shell runs it: record -- sh -c 'ls -l; true'", NOT_FOUND),
    ("record -- cd src", "cannot run 'cd': it is part of the shell; use: pctally record -- sh -c 'cd src'", NOT_FOUND),
    ("record -- ./a.sh", "cannot run ./a.sh: not executable; chmod +x ./a.sh, or record -- sh ./a.sh", CANNOT_RUN),
    ("record -- ./q.sql", "cannot run ./q.sql: not executable; if it is a program: chmod +x ./q.sql", CANNOT_RUN),
    ("record -- /", "cannot run /: it is a directory", CANNOT_RUN),
    ("record -q -- ./dos", "cannot run './dos': its lines end as in DOS, so that /bin/sh is not found; dos2unix it", NOT_FOUND),
    ("record -q -- ./lost", "cannot run './lost': it needs /nonexistent/python, which does not exist", NOT_FOUND),
    ("record -q -- ./lost2", "cannot run './lost2': it needs /nonexistent/python, which does not exist", NOT_FOUND),
    ("record -o - -- ls", "-o -: a profile must be a regular file; write one, as -o work.pct, then pctally export", USAGE),
    ("merge -o - a.pct b.pct", "--output -: a profile must be a regular file; write one, as -o work.pct, then pctally export", USAGE),
    ("archive -o - a.pct", "--output -: a profile must be a regular file; write one, as -o work.pct, then pctally export", USAGE),
    ("snapshot -o /dev/null a.pct", "--output /dev/null: a profile must be a regular file; write one, as -o work.pct, then pctally export", USAGE),
    ("record -o /dev/null -- ls", "-o /dev/null: a profile must be a regular file; write one, as -o work.pct, then pctally export",
     USAGE),
    ("record -o /dev/null -f -- ls", "-o /dev/null: a profile must be a regular file; write one, as -o work.pct, then pctally export",
     USAGE),
    ("record -e cylces -- ls", "'cylces' is no event or engine; did you mean 'cycles'? (all: man pctally-record)", USAGE),
    ("record -e warp -- ls", "'warp' is no event or engine; all: man pctally-record", USAGE),
    ("record -e ring -e bpf -- ls", "-e bpf: choose one event and one engine, not two of a kind", USAGE),
    ("record --scope pid -- ls", "--scope pid: choose program, thread or cgroup", USAGE),
    *((f"record --scope {scope} {more}-e {engine} -- ls",
       f"--scope {scope}: engine {engine} knows only programs; use -e ring, or --scope program", USAGE)
      for scope in ("thread", "cgroup") for engine in ("timer", "trap") for more in ("", "-g ")),
    ("record -g -a -e timer", "-e timer: it observes only programs that pctally record starts; write pctally record -- CMD, or use -e ring", USAGE),
    ("record -e trap -F 20001 true", "-e trap: it takes at most 20000 ticks a second; write -F 20000, or use -e ring", USAGE),
    ("record -p 1 -e trap", "-e trap: it observes only programs that pctally record starts; write pctally record -- CMD, or use -e ring", USAGE),
    ("record --paths-memory 8M -- ls", "--paths-memory is for call paths and scopes; add -g or --scope", USAGE),
    ("record -g --paths-memory 8 -- ls", "--paths-memory 8: not a size; write 64K to 24M", USAGE),
    ("record --call-graph sframe -- ls", "--call-graph sframe: choose fp, dwarf or lbr", USAGE),
    ("record --call-graph sframe,8 -- ls", "--call-graph sframe: choose fp, dwarf or lbr", USAGE),
    ("record --call-graph dwarf,65528", "nothing to record; name a program after --, or use -p PID, --cgroup DIR or -a", USAGE),

    ("report empty", "cannot open empty: No such file or directory", INPUT),
    ("report perf.data", "perf.data is a perf.data; pctally reads its text: perf script -i perf.data >perf.txt", INPUT),
    ("report gmon.out", "gmon.out is a gmon.out; pctally prof reads it: pctally prof -m gmon.out PROGRAM", INPUT),
    ("report perf.txt", "perf.txt: it lacks names, times or events; perf script -F comm,pid,tid,time,period,event,ip,sym,dso prints them", INPUT),
    ("report q.sql", "q.sql is no profile of pctally, pprof, gperftools or perf script, and no folded stacks", INPUT),
    ("diff --work 0 some.pct other.pct", "--work 0: not a number from 1e-15 to 1e15, or two: OLD,NEW", USAGE),
    ("diff --work 2,x some.pct other.pct", "--work 2,x: not a number from 1e-15 to 1e15, or two: OLD,NEW", USAGE),
    ("diff --color blue some.pct other.pct", "--color blue: choose auto, always or never", USAGE),
    ("diff --no-sources some.pct other.pct", "--no-sources is for a page; write diff --html FILE --no-sources", USAGE),
    ("diff --strip-paths some.pct other.pct", "--strip-paths is for a page; write diff --html FILE --strip-paths", USAGE),
    ("diff --junit some.pct other.pct", "--junit prints limits, and there are none; add --fail-if LIMIT or --budget FILE", USAGE),
    ("export --format gmon --debuginfod=http://127.0.0.1:1 some.pct", "--debuginfod changes nothing with --format gmon; leave it out", USAGE),
    ("plan", "no profile named; write pctally plan FILE...", USAGE),
    ("plan --runs 2.5 some.pct", "--runs 2.5: not a whole number from 1 to 1000000", USAGE),
    ("plan --runs 010 some.pct", "--runs 010: not a whole number from 1 to 1000000", USAGE),
    ("report --limit 08", "--limit 08: not a number of rows; write 20, or 0 for all", USAGE),
    ("plan --runs 0 some.pct", "--runs 0: not a whole number from 1 to 1000000", USAGE),
    ("plan --change 0 some.pct", "--change 0: not a number from 0.01 to 1000", USAGE),
    ("report some.pct some.pct", "some.pct and some.pct are of one recording, which would count twice; leave one out", INPUT),
    ("archive", "no profile named; write pctally archive FILE", USAGE),
    ("archive some.pct out.pct", "one profile at a time; out.pct is one too many", USAGE),
    ("archive nothing.pct", "cannot open nothing.pct: No such file or directory", INPUT),
    ("merge", "no file to write is named; write pctally merge -o OUT FILE...", USAGE),
    ("merge -o out.pct", "no profiles are named; write pctally merge -o OUT FILE...", USAGE),
    ("merge -o out.pct --memory lots some.pct", "--memory lots: not a size; write 512M or 4G", USAGE),
    ("merge -o out.pct --memory 17179869185G some.pct", "--memory 17179869185G: not a size; write 512M or 4G", USAGE),
    ("merge -o out.pct --memory 10K some.pct", "the sum takes more than 10 KiB from some.pct on; allow more with --memory, or merge fewer files", INPUT),
    ("report some.pct large.pct", "the sum takes more than 1 GiB from large.pct on; name fewer files, or add them up with pctally merge --memory", INPUT),
    ("report --by func some.pct", "--by func: did you mean function? (choose function, object, line, process, command, program, thread or cgroup)", USAGE),
    ("report --by day", "--by day: choose function, object, line, process, command, program, thread or cgroup", USAGE),
    ("report --by line,function", "--by line,function: choose program,function, thread,function or cgroup,function", USAGE),
    *((f"report --by {by} {view}some.pct", "some.pct has no ticks by program; record with pctally record --scope program" + more, INPUT)
      for by, more in (("program", ", or write --by command"), ("program,function", "")) for view in ("", "--json ", "--limit 0 ")),
    ("report --by thread,function some.pct", "some.pct has no ticks by thread; record with pctally record --scope thread", INPUT),
    ("report --thread x some.pct", "some.pct has no ticks by thread; record with pctally record --scope thread", INPUT),
    ("report --cgroup x some.pct", "some.pct has no ticks by control group; record with pctally record --scope cgroup", INPUT),
    ("report --program x --by process some.pct", "--program, --thread and --cgroup say nothing of processes; leave out --by process", USAGE),
    ("report --object x --by program some.pct", "--object: a program has no object; leave out --by program", USAGE),
    ("report --by program --tree some.pct", "--by is for the table; to choose a part of the paths write --program, --thread or --cgroup", USAGE),
    ("report --min-share 5% some.pct", "--min-share 5%: not a number from 0 to 100", USAGE),
    ("report --limit many", "--limit many: not a number of rows; write 20, or 0 for all", USAGE),
    ("report --colour always some.pct", "no option --colour; did you mean --color?", USAGE),
    ("diff --budget '' some.pct other.pct", "--budget needs a value; see pctally diff --help", USAGE),
    ("diff --budget= some.pct other.pct", "--budget needs a value; see pctally diff --help", USAGE),
    ("record --for '' -p 1", "--for needs a value; see pctally record --help", USAGE),
    ("record -o '' -- true", "--output (-o) needs a value; see pctally record --help", USAGE),
    ("archive -o '' some.pct", "--output (-o) needs a value; see pctally archive --help", USAGE),
    ("report ''", "an empty word stands where FILE is expected; see pctally report --help", USAGE),
    ("record -o other.pct -- true", "-o other.pct: a link, which a profile does not replace; name the file itself", USAGE),
    ("export --format markdown --limit -1 some.pct", "--limit -1: not a number of rows; write 20, or 0 for all", USAGE),
    ("merge --memory 100 -o sum.pct some.pct",
     "the sum takes more than 100 bytes from some.pct on; allow more with --memory, or merge fewer files", INPUT),
    ("report --filter 'a(b' some.pct", "--filter a(b: not a regular expression (Unmatched ( or \\()", USAGE),
    ("report --sort total --by process some.pct",
     "--sort total: only functions, objects, lines and programs have totals; leave out --by process", USAGE),
    ("report --object x --by process some.pct", "--object: a process has no object; leave out --by process", USAGE),
    ("report --own some.pct", "--own is for source lines; write report --by line --own", USAGE),
    ("report --program x some.pct", "some.pct has no ticks by program; record with pctally record --scope program", INPUT),
    ("report --callers some.pct", "--callers some.pct: a profile, not a name; write report --callers FUNCTION some.pct", USAGE),
    *((f"report {option} some.pct", f"{option} some.pct: a profile, not a name; write report {option} REGEX some.pct", USAGE)
      for option in ("--focus", "--ignore", "--hide", "--filter", "--object", "--program", "--thread", "--cgroup")),
    ("report --callers '' some.pct", "--callers '' is no function; pctally report --sort total lists them", USAGE),
    ("report --flamegraph x.png some.pct",
     "--flamegraph x.png: a flame graph is a page or a picture; name a file that ends in .html or .svg", USAGE),
    ("report --callers main --tree some.pct", "choose one: --callers, --tree, --flamegraph or --html", USAGE),
    *((f"report --callers main {option} some.pct", f"{option.split()[0]} changes nothing with --callers; leave it out", USAGE)
      for option in ("--filter x", "--sort name", "--min-share 2", "--by line")),
    *((f"report --tree {option} some.pct", f"{option.split()[0]} changes nothing with --tree; leave it out", USAGE)
      for option in ("--filter x", "--object x", "--sort name", "--limit 3", "--by line")),
    *((f"report --flamegraph x.svg {option} some.pct", f"{option.split()[0]} changes nothing with --flamegraph; leave it out", USAGE)
      for option in ("--filter x", "--object x", "--sort name", "--limit 3", "--min-share 2", "--by line", "--json")),
    ("report --html x.html --json some.pct", "--json changes nothing with --html; leave it out", USAGE),
    ("report --flamegraph x.html --bottom-up some.pct",
     "--bottom-up is for pictures (.svg); the page has a button for it, so leave it out", USAGE),
    ("diff --html x.svg a b", "--html x.svg: what is written is a page; name a file that ends in .html", USAGE),
    ("report --command some.pct", "--command is for a page; write report --html FILE --command", USAGE),
    ("report --html x.html --by object some.pct", "--html: the page has all functions, and is searched in the browser; leave out --by", USAGE),

    ("annotate", "no function named; write pctally annotate FUNCTION [FILE], or FILE:LINE", USAGE),
    ("annotate main some.pct other.pct", "one function at a time; other.pct is one word too many", USAGE),
    ("annotate main --source-path x some.pct",
     "--source-path x: write OLD=NEW, for example /build/src=/home/me/src", USAGE),
    ("annotate xyzzyxyzzy empty", "cannot open empty: No such file or directory", INPUT),

    ("snapshot", "no recording named; write pctally snapshot FILE", USAGE),
    ("snapshot some.pct out.pct", "the copy's name goes with -o: -o out.pct", USAGE),
    ("top", "nothing to watch; name a profile, or use -p PID, --cgroup DIR, -a or -- CMD", USAGE),
    ("top --window abc some.pct", "--window abc: not a number from 0.05 to 86400", USAGE),
    ("top -a some.pct", "choose one: a profile, -p, --cgroup, -a or -- CMD", USAGE),
    ("top --count 1.5 some.pct", "--count 1.5: not a whole number from 0 to 1000000000000000", USAGE),
    ("top --limit 2.5 some.pct", "--limit 2.5: not a number of rows; write 20, or 0 for all", USAGE),
    ("gperf -p 1e3 ./program", "--pid 1e3: not a whole number from 1 to 2147483647", USAGE),
    ("top sh -c 'sleep 1'", "sh is no profile; to watch a program: pctally top -- sh ARGS...", USAGE),
    ("top nothing.pct -F 100", "cannot open nothing.pct: No such file or directory", INPUT),
    ("prof", "cannot open a.out: No such file or directory; name the program: pctally prof [-m FILE] PROGRAM", INPUT),
    ("prof some.pct", "some.pct is a profile; name it with -m: pctally prof -m some.pct PROGRAM", INPUT),
    ("prof -t -c", "choose one order: -t, -c, -a or -n", USAGE),
    ("gperf", "no program named; write pctally gperf PROGRAM", USAGE),
]


class Messages(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(dir=p.scratch())
        os.chmod(p.scratch(), 0o755)
        os.chmod(self.directory, 0o777)
        for name, text, mode in (("slow", "#!/bin/sh\n", 0o755), ("a.sh", "echo\n", 0o644), ("q.sql", "select\n", 0o644),
                                 ("perf.data", "PERFILE2", 0o600), ("perf.txt", "ls 7/7\n\t5d0 f (/bin/ls)\n", 0o600),
                                 ("gmon.out", "gmon\1", 0o644), ("dos", "#!/bin/sh\r\n", 0o755),
                                 ("lost", "#!/nonexistent/python -u\n", 0o755), ("lost2", f"#!{self.directory}/lost\n", 0o755)):
            with open(os.path.join(self.directory, name), "w") as file:
                file.write(text)
            os.chmod(os.path.join(self.directory, name), mode)
        with open(os.path.join(self.directory, "large.pct"), "w") as file:
            file.truncate(200 << 20)
        for name in ("some.pct", "other.pct"):
            os.symlink(sample(), os.path.join(self.directory, name))

    def shell(self, words, cwd=None, prefix=(), **keywords):
        """The lines on stderr, each without its "pctally: ", the status, and what is on stdout."""
        done = subprocess.run([*prefix, "sh", "-c", f'"$0" {words}', p.PCTALLY], cwd=cwd or self.directory, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, **keywords)
        lines = done.stderr.splitlines()
        for line in lines:
            self.assertTrue(line.startswith("pctally: "), line)
            self.assertLessEqual(len(line), LONGEST + len("pctally: "), line)
        return [line[len("pctally: "):] for line in lines], done.returncode, done.stdout

    def expect(self, words, line, status, **keywords):
        lines, code, out = self.shell(words, **keywords)
        self.assertEqual((lines, code, out), ([line], status, ""), words)

    def test_table(self):
        for words, line, status in TABLE:
            with self.subTest(words):
                self.expect(words, line, status)


    def record(self, words, **keywords):
        lines, code, _ = self.shell("record " + words, **keywords)
        self.assertEqual(code, 0, lines)
        return [line for line in lines if " names are in " not in line]  # a busy machine may not find all in their second

    def test_a_profile_without_call_paths_names_its_command(self):
        again = "has no call paths; record again with -g: pctally record -g"
        self.record("-q -o a.pct -- ./slow 'a b'")
        self.record("-q -o long.pct -- ./slow " + 70 * "x")
        for view in ("--callers main", "--tree", "--focus main", "--sort total"):
            self.expect(f"report {view} a.pct", f"a.pct {again} -- ./slow 'a b'", INPUT)
        self.expect("report --callers main long.pct", f"long.pct {again}", INPUT)

    def test_a_recording_has_a_line_before_and_one_after(self):
        for engine in p.engines():
            path = f"{engine}.pct"
            lines = self.record(f"-e {engine} -o {path} -- {p.program('spinner')} 1 0.4")
            warnings = [line for line in lines if line.startswith("warning: ")]
            self.assertEqual(len(lines) - len(warnings), 2, lines)
            for warning in warnings:  # a busy machine gives few ticks, one whose host takes its CPUs away late ones
                self.assertRegex(warning, "^warning: (only |.* of the CPU time was not sampled|.* throttled sampling )")
            self.assertTrue(lines[0].startswith("recording user"), lines[0])
            self.assertRegex(lines[1], r"^[\d,]+ ticks, \d\.\d\d s of CPU time.*; next: pctally report " + re.escape(path) + "$")
            self.assertEqual(self.record(f"-q -f -e {engine} -o {path} -- {p.program('spinner')} 1 0.1"), [])

    def test_a_time_may_be_minutes_or_hours(self):
        for time in ("1m", "0.5h"):
            self.assertEqual(self.record(f"-q -f -o m.pct --for {time} -- true"), [])

    def test_processes_whose_names_begin_so_are_named(self):
        name = f"near{os.getpid()}"
        path = shutil.copy(shutil.which("sleep"), os.path.join(self.directory, name + ".5"))
        process = subprocess.Popen([path, "60"])
        try:
            self.expect(f"record -p {name}", f"no running process is called {name}; these begin so: {name}.5 ({process.pid})", FAILED)
        finally:
            process.kill()
            process.wait()

    def test_a_file_of_path_that_is_not_executable_is_named(self):
        self.expect("record -- q.sql", "cannot run ./q.sql: not executable; if it is a program: chmod +x ./q.sql", CANNOT_RUN,
                    env={**os.environ, "PATH": f"/nonexistent:.:{os.environ['PATH']}"})

    def test_a_file_system_without_programs(self):
        mounted = f"mount -t tmpfs -o noexec none {self.directory} && cp /bin/true {self.directory}/prog && cd {self.directory}"
        if subprocess.run(["unshare", "-m", "sh", "-c", mounted], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("needs root and unshare to mount one")
        self.expect("record -- ./prog", "cannot run ./prog: its file system is mounted noexec; copy it to another", CANNOT_RUN,
                    prefix=["unshare", "-m", "sh", "-c", f'{mounted}; exec "$@"', "sh"])

    def test_a_name_that_begins_with_a_hyphen(self):
        lines = self.record(f"-o-x.pct -- {p.program('spinner')} 1 0.1")
        self.assertTrue(lines[1].endswith("; next: pctally report ./-x.pct"), lines)
        lines, code, _ = self.shell("merge -o-y.pct ./-x.pct")
        self.assertEqual(code, 0, lines)
        self.assertTrue(lines[0].endswith("; next: pctally report ./-y.pct"), lines)

    def test_no_more_processes(self):
        p.need_other_users(self)
        done = subprocess.run([*p.as_user(), "prlimit", "--nproc=1", p.PCTALLY, "record", "-e", "timer", "-o", "few.pct", "--", "true"], cwd=self.directory,
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr),
                         (FAILED, "pctally: too many processes; raise ulimit -u, or pids.max of the control group\n"))

    def test_without_o_the_name_of_the_file_is_said(self):
        lines = self.record(f"-- {p.program('spinner')} 1 0.1")
        name = next(name for name in os.listdir(self.directory) if name.startswith("pctally.spinner."))
        size = round(os.path.getsize(os.path.join(self.directory, name)) / 1024)
        self.assertTrue(lines[1].endswith(f", in {name} ({size} KiB); next: pctally report"), lines)

    def test_v_says_which_engine_and_why(self):
        lines = self.record(f"-v -o v.pct -- {p.program('spinner')} 1 0.1")
        self.assertRegex(lines[1], r"^engine \w+, a tick per \d+ ns of CPU time$")

    def test_no_tick_and_few(self):
        """The first program has the tick of a second in 2 % of the runs where starts are slow; the second, of two
        threads, has up to three."""
        for command, used in (("true", r"\d+\.\d+ m?s"), (f"{p.program('spinner')} 2 0.3", r"0\.\d+ s")):
            with self.subTest(command):
                line, *warnings = self.record(f"-f -o a.pct -F 1 -- {command}")[1:]
                ticks = p.report(os.path.join(self.directory, "a.pct"))["ticks"]
                if ticks == 0:
                    self.assertRegex(line, rf"^no ticks: \w+ used {used}, less than one period \(1000 ms\); try -F \d+, or a longer run$")
                else:
                    s = "" if ticks == 1 else "s"
                    self.assertRegex(line, rf"^{ticks} tick{s}, {used} of CPU time.*; next: pctally report a\.pct$")
                    self.assertIn(f"warning: only {ticks} effective sample{s}: the shares are rough; record for longer or use a higher -F", warnings)

    def test_processes_too_short_for_a_tick(self):
        """Of less than 1 ms each, by events of single threads: each begins a period of 50 ms of its own."""
        if not p.engine_available("ring"):
            self.skipTest("engine ring is not available here")
        lines = self.record("-f -o a.pct -e ring -g -F 20 -- sh -c 'for i in $(seq 250); do /bin/true; done; :'")
        if not lines[-1].startswith("warning"):
            self.skipTest("not judged: a process had a tick, or all took less than one period")
        self.assertRegex(lines[-2], r"^no ticks, although sh used \d+\.\d+ s of CPU time: the next warning says why$")
        self.assertRegex(lines[-1], r"^warning: 100\.0 % of the CPU time was not sampled: \d+ processes without a tick "
                                    r"\(250 of true\); try -F 10000 or -e timer$")

    def test_a_file_that_is_there(self):
        with open(os.path.join(self.directory, "work.pct"), "w"):
            pass
        self.expect("record -o work.pct -- ls", "work.pct exists; choose another name with -o, or replace it with -f", FAILED)
        self.expect("record -o no/where.pct -- ls",
                    "cannot create no/where.pct: No such file or directory; name another place with -o", FAILED)

    def test_no_profile_here(self):
        empty = tempfile.mkdtemp(dir=p.scratch())
        self.expect("report", "no *.pct file in this directory; make one: pctally record -- ./prog", INPUT, cwd=empty)

    def test_a_damaged_profile_is_shown_and_is_exit_4(self):
        cut = os.path.join(self.directory, "cut.pct")
        with open(sample(), "rb") as source, open(cut, "wb") as file:
            bytes_there = source.read()
            file.write(bytes_there[:5000])
        size = 4096 + 64 * int.from_bytes(bytes_there[32:36], sys.byteorder)  # without the names behind the pool
        lines, code, out = self.shell("report cut.pct")
        self.assertEqual(code, INPUT)
        self.assertRegex(lines[0], r"^cut\.pct is damaged: 5000 of \d+ bytes are there; what follows is incomplete$")
        self.assertIn(str(size), lines[0])
        self.assertNotIn("lost before they could be counted", out)

    def test_what_comes_of_a_damaged_profile_is_exit_4(self):
        with open(sample(), "rb") as source, open(os.path.join(self.directory, "cut.pct"), "wb") as file:
            file.write(source.read()[:5000])
        for words in ("export --format folded -o x cut.pct", "export --format csv cut.pct", "annotate main cut.pct", "report --html x.html cut.pct",
                      "top --count 1 cut.pct", f"prof -m cut.pct {p.program('spinner')}"):
            lines, code, _ = self.shell(words)
            self.assertEqual(code, INPUT, words)
            self.assertRegex(lines[0], r"^cut\.pct is damaged: 5000 of \d+ bytes are there; what follows is incomplete$")
        lines, code, _ = self.shell("snapshot -o copy.pct cut.pct")
        self.assertEqual(code, INPUT)
        self.assertRegex(lines[-1], r"^cut\.pct is damaged: 5000 of \d+ bytes are there; so is the copy$")
        with open(sample(), "rb") as source, open(os.path.join(self.directory, "short.pct"), "wb") as file:
            file.write(source.read()[:-1])
        for words, end in (("snapshot -o named.pct short.pct", "the copy has no names"), ("top --count 1 short.pct", "what follows is incomplete")):
            lines, code, _ = self.shell(words)
            self.assertEqual(code, INPUT, words)
            self.assertIn(f"short.pct is damaged: the names in it cannot be read: they end too early; {end}", lines)
        for words in ("archive -o new.pct cut.pct", "archive cut.pct"):
            lines, code, _ = self.shell(words)
            self.assertEqual((len(lines), code), (1, INPUT), words)
            self.assertRegex(lines[0], r"^cut\.pct is damaged: 5000 of \d+ bytes are there; nothing is written$")
        self.assertFalse(os.path.exists(os.path.join(self.directory, "new.pct")))
        self.assertEqual(os.path.getsize(os.path.join(self.directory, "cut.pct")), 5000)

    def test_a_profile_is_not_replaced_by_what_is_written_of_it(self):
        """Nor by what is written of another, nor a file of another tool that was read."""
        for name in ("a.folded", "b.folded"):
            with open(os.path.join(self.directory, name), "w", encoding="ascii") as file:
                file.write("main;work 30\n")
        for name in ("own.pct", "own.html", "own.svg"):
            shutil.copy(sample(), os.path.join(self.directory, name))
        os.symlink("own.pct", os.path.join(self.directory, "link"))
        before = {name: pathlib.Path(self.directory, name).read_bytes() for name in os.listdir(self.directory)}
        for words, name in (("export --format folded -o own.pct own.pct", "own.pct"), ("export --format folded -o own.pct some.pct", "own.pct"),
                            ("export --format folded -o link some.pct", "link"), ("export --format folded -o a.folded a.folded", "a.folded"),
                            ("report --html own.html own.html", "own.html"), ("report --flamegraph own.svg a.folded", "own.svg"),
                            ("diff --html own.html a.folded b.folded", "own.html")):
            lines, code, _ = self.shell(words)
            self.assertEqual(lines[-1:] + [code], [f"{name} is a profile, which is not replaced; name another file", FAILED], words)
        self.assertEqual({name: pathlib.Path(self.directory, name).read_bytes() for name in os.listdir(self.directory)}, before)

    def test_every_view_says_what_makes_its_shares_less_sure(self):
        """Trees, callers and a listing have no account of the ticks, but the warnings."""
        profile = p.record([p.program("spinner"), "1", "0.2"], "-e", "timer", "-g").path
        for view in (["report"], ["report", "--tree"], ["report", "--callers", "spin_here"], ["annotate", "spin_here"]):
            done = subprocess.run([p.PCTALLY, *view, profile], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, (view, done.stderr))
            self.assertIn("note: ticks follow the kernel's", done.stdout, view)

    def test_a_process_is_found_by_its_name(self):
        if not p.engine_available("ring") and not p.engine_available("bpf"):
            self.skipTest("nothing can be attached to here (pctally engines)")
        name = f"named{os.getpid()}"
        os.symlink(p.program("spinner"), os.path.join(self.directory, name))
        with subprocess.Popen([os.path.join(self.directory, name), "1", "20"]) as target:
            try:
                lines = self.record(f"-p {name} --for 0.2 -o named.pct")
                self.assertRegex(lines[0], rf"^recording {name[:15]} \({target.pid}\), .*; Ctrl-C ends it$")
            finally:
                target.kill()

    def test_children_that_run_already_are_named(self):
        """The number in a pid file is the master's, who does nothing."""
        if not p.engine_available("ring") and not p.engine_available("bpf"):
            self.skipTest("nothing can be attached to here (pctally engines)")
        script = (f"{p.program('spinner')} 1 20 & {p.program('ended_main')} 20 & while grep -qs '^State:.[RSD]' /proc/$!/status; do :; done; "
                  "echo; wait")  # the main thread of one has ended, as Z says
        with subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, start_new_session=True) as master:
            try:
                master.stdout.readline()
                lines = self.record(f"-p {master.pid} --for 0.1 -o master.pct")
                self.assertRegex(lines[1], r"^2 children that run already are not included: \w+ \(\d+\) and 1 more; ")
                self.assertNotIn("not included", str(self.record(f"-p {master.pid} --no-children --for 0.1 -o master2.pct")))
                with open(f"/proc/{master.pid}/task/{master.pid}/children", encoding="ascii") as file:
                    all_of_them = ",".join([str(master.pid), *file.read().split()])
                self.assertNotIn("not included", str(self.record(f"-p {all_of_them} --for 0.1 -o master3.pct")))
            finally:
                os.killpg(master.pid, signal.SIGKILL)

    def test_what_is_not_there(self):
        self.expect("record -p 999999999 --for 1", "process 999999999 does not exist; it may have ended", FAILED)

    def test_a_process_that_has_ended(self):
        with subprocess.Popen(["true"]) as ended:
            os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
            self.expect(f"record -p {ended.pid}", f"process {ended.pid} has ended, and its parent has not asked how", FAILED)

    def test_as_a_plain_user(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to become another user")
        user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        if p.engine_available("ring"):
            self.expect("record -p 1 --for 1", "process 1 belongs to root; run as root, or choose a process of your own", FAILED,
                        **user)
        self.expect("record -a --for 1", "-a needs root, CAP_PERFMON or perf_event_paranoid 0; as a plain user record a program, "
                    "or -p of your own", FAILED, **user)

    def test_a_file_of_another_user(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to become another user")
        path = os.path.join(self.directory, "private.pct")
        shutil.copyfile(sample(), path)
        os.chmod(path, 0o600)
        self.expect("report private.pct", "cannot open private.pct: Permission denied; another user owns it: use sudo, or sudo chown it",
                    INPUT, user=NOBODY, group=NOBODY, extra_groups=[])

    def test_no_line_of_engines_or_warning_is_too_long(self):
        said = subprocess.run([p.PCTALLY, "engines"], capture_output=True, text=True).stdout.splitlines()
        golden = pathlib.Path(__file__).parent.parent / "golden"
        warnings = [line for page in golden.glob("*.txt") for line in page.read_text().splitlines() if line.startswith("WARNING: ")]
        self.assertGreater(len(said), 4)
        self.assertTrue(warnings)
        for line in said + warnings:
            self.assertLessEqual(len(line), 120, line)

    def test_in_a_container_that_forbids_perf(self):
        lines, code, _ = self.shell(f"record -p {os.getpid()} --for 1", prefix=[p.program("no_perf"), "EPERM"])
        self.assertEqual((lines, code), (["cannot attach: this container forbids it; start the program under "
                                          "pctally record -- CMD instead"], FAILED))


_sample = None


def sample():
    global _sample
    if _sample is None:
        _sample = p.record([p.program("spinner"), "1", "0.05"]).path
        os.chmod(os.path.dirname(_sample), 0o755)
        os.chmod(_sample, 0o644)
    return _sample


if __name__ == "__main__":
    p.main()
