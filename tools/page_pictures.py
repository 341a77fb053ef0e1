#!/usr/bin/env python3
"""Pictures of the pages of report --html and diff --html: Lua, before and after the change of docs/tutorial.md.

    page_pictures.py DIRECTORY

Lua's source comes by apt-get, as in bench/pgo.py. Needs gcc, make and chromium-headless-shell (or chromium)."""
import base64
import glob
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), ".."))
sys.path[:0] = [os.path.join(ROOT, "bench"), os.path.join(ROOT, "tests", "lib")]
import pgo  # noqa: E402
from browser import CHROMIUM, Browser  # noqa: E402
from measure import PCTALLY  # noqa: E402

RUNS, WIDTH, HEIGHT = 8, 1280, 800
SCRIPT = """local readings = {}
for i = 1, 1000000 do
  readings[i] = "station-" .. i * 7919 % 50
end
table.sort(readings)
"""
CHANGED, CHANGE = "  const char *l = getstr(ls);\n", "  if (ls == rs) return 0;  /* short strings are interned */\n"  # in lvm.c
PICTURES = {"html-report.png": "report.html#theme=light",
            "html-dark.png": "report.html#theme=dark",
            "html-source.png": "report.html#view=source&f=l_strcmp&theme=light",
            "flame-graph.png": "report.html#view=flame&theme=light",
            "html-compare.png": "compare.html#theme=light"}


def run(*words, **options):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, **options)


def build(source, name):
    run("make", "-s", "-C", source, "linux", "MYCFLAGS=-g")
    os.makedirs(name)
    return shutil.copy(os.path.join(source, "lua"), name)


def make_pages(directory):
    """report.html of the old Lua, with call paths; compare.html of several runs of both."""
    os.chdir(directory)
    if not pgo.fetch(os.path.join(directory, "sources")):
        sys.exit("page_pictures: apt-get has no source of Lua")
    source = os.path.join(glob.glob("sources/lua*/")[0], "src")
    with open("stations.lua", "w") as file:
        file.write(SCRIPT)
    old = build(source, "old")
    with open(os.path.join(source, "lvm.c")) as file:
        text = file.read()
    assert text.count(CHANGED) == 1
    changed = text.replace(CHANGED, CHANGE + CHANGED)
    run(PCTALLY, "record", "-q", "-g", "-F", "4000", "-o", "report.pct", "--", old, "stations.lua")
    run(PCTALLY, "report", "--html", "report.html", "report.pct")
    with open(os.path.join(source, "lvm.c"), "w") as file:
        file.write(changed)
    new = build(source, "new")
    for i in range(RUNS):
        for side in old, new:
            run(PCTALLY, "record", "-q", "-g", "-o", f"{os.path.dirname(side)}.{i}.pct", "--", side, "stations.lua")
    run(PCTALLY, "diff", "--html", "compare.html", *sorted(glob.glob("old.*.pct")), "--", *sorted(glob.glob("new.*.pct")))


def take(address, path, scratch):
    with Browser(address, scratch) as page:
        page.call("Emulation.setDeviceMetricsOverride", width=WIDTH, height=HEIGHT, deviceScaleFactor=1, mobile=False)
        page.value("document.documentElement.style.scrollbarWidth = 'none'")
        page.drawn()
        picture = page.call("Page.captureScreenshot", format="png")["data"]
    with open(path, "wb") as file:
        file.write(base64.b64decode(picture))


def main():
    missing = [name for name in ("gcc", "make") if shutil.which(name) is None] + ([] if CHROMIUM else ["chromium-headless-shell"])
    if missing:
        sys.exit(f"page_pictures: {missing[0]} is not installed")
    to = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="pctally-pictures-") as directory:
        make_pages(directory)
        for name, page in PICTURES.items():
            take(f"file://{directory}/{page}", os.path.join(to, name), directory)


if __name__ == "__main__":
    main()
