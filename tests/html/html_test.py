"""The page of report --html, opened in headless Chromium: its figures are the report's, and no name does anything."""
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p
from browser import CHROMIUM, Browser

VOID = {"meta", "link", "input", "br", "img", "hr"}
ELEMENTS = {"html", "head", "meta", "title", "style", "body", "noscript", "script", "div", "header", "svg", "path", "rect", "b", "i",
            "u", "span", "p", "h1", "h2", "bdi", "ul", "li", "dl", "dt", "dd", "nav", "button", "input", "output", "main", "table",
            "thead", "tbody", "tr", "th", "td", "dialog", "kbd", "form", "select", "option", "label", "code", "small", "section", "s"}


class Dom(html.parser.HTMLParser):
    """What a browser has made of a page: its elements, the rows of its tables, its title."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.attributes, self.rows, self.stack, self.title = set(), [], [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.add(tag)
        self.attributes += [(tag, *attribute) for attribute in attrs]
        if tag not in VOID:
            self.stack.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th") and self.rows:
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        while self.stack and self.stack.pop() != tag:
            pass

    def handle_data(self, data):
        if "title" in self.stack:
            self.title += data
        if "td" in self.stack:
            self.rows[-1][-1] += data

    def table(self):
        return [row for row in self.rows if len(row) > 5 and row[1]]


class Page:
    """A page as it is after its script has run. `complaints`: what the browser said of it."""

    window = None  # one for all: a page keeps nothing that the next one could find

    def __init__(self, path, **address):
        Page.window = Page.window or Browser("about:blank", p.scratch())
        Page.window.go(f"file://{path}#{urllib.parse.urlencode(address)}")
        Page.window.drawn()
        self.text, self.complaints = Page.window.value("document.documentElement.outerHTML"), Page.window.complaints
        self.dom = Dom(self.text)


def percent(share):
    return f"{100 * share:.2f}"


@unittest.skipIf(CHROMIUM is None, "no browser: chromium-headless-shell is not installed")
class Long(unittest.TestCase):
    """A table of 3000 rows."""

    def test_rows_are_drawn_where_they_are_looked_at(self):
        directory = tempfile.mkdtemp(dir=p.scratch())
        path = os.path.join(directory, "long")
        with open(path + ".folded", "w", encoding="ascii") as file:
            file.writelines(f"main;f{i:04} {3001 - i}\n" for i in range(3000))
        subprocess.run([p.PCTALLY, "report", "--html", path + ".html", path + ".folded"], check=True, capture_output=True)
        rows = "[...document.querySelectorAll('tbody tr:not(.space)')]"
        with Browser(f"file://{path}.html#rows=all", p.scratch()) as page:
            page.drawn()

            def drawn():
                numbers = page.value(f"{rows}.map(row => Number(row.getAttribute('aria-rowindex')))")
                self.assertLess(len(numbers), 200)
                self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))))
                return numbers

            self.assertEqual(drawn()[0], 2)
            self.assertEqual(page.value("document.querySelector('table').getAttribute('aria-rowcount')"), "3002")
            page.value("scrollTo(0, document.documentElement.scrollHeight / 2)")
            page.drawn()
            self.assertTrue(drawn()[0] < 1500 < drawn()[-1])
            page.value(f"{rows}[9].click(), {rows}[9].focus()")
            focus = "document.activeElement.id"
            for key, expected in (("End", "row-3000"), ("ArrowUp", "row-2999"), ("Home", "row-0"), ("ArrowDown", "row-1")):
                page.press(key)
                self.assertEqual(page.value(focus), expected, key)
                drawn()
            stops = f"{rows}.filter(row => row.tabIndex === 0).length"
            self.assertEqual(page.value(stops), 1)
            page.value("scrollTo(0, document.documentElement.scrollHeight)")
            page.drawn()
            self.assertEqual((page.value("!!document.querySelector('[aria-selected=true].gap, tbody [aria-selected=true]')"), page.value(stops)), (False, 1),
                             "Tab leads to the first row drawn where the chosen one is not")
            page.value("dispatchEvent(new Event('beforeprint'))")
            self.assertEqual(page.value(f"{rows}.length"), 3001, "all are printed")
            page.value("dispatchEvent(new Event('afterprint'))")
            drawn()
            page.value("location.hash = '#rows=all&q=f2999'")
            page.drawn()
            self.assertIn("f2999", page.value(f"{rows}.map(row => row.textContent).join()"))
            self.assertEqual(len(drawn()), 1)


@unittest.skipIf(CHROMIUM is None, "no browser: chromium-headless-shell is not installed")
class Flame(unittest.TestCase):
    """The flame graph is zoomed, searched, turned, and walked by keys."""

    def setUp(self):
        self.path = path = os.path.join(tempfile.mkdtemp(dir=p.scratch()), "flame")
        with open(path + ".folded", "w", encoding="ascii") as file:
            file.write("main;read;parse 60\nmain;read;copy 30\nmain;write;copy 10\nmain;write;flush 5\n")
        subprocess.run([p.PCTALLY, "report", "--flamegraph", path + ".html", path + ".folded"], check=True, capture_output=True)
        self.page = Browser(f"file://{path}.html", p.scratch())
        self.addCleanup(self.page.__exit__)
        self.page.drawn()

    def names(self, which=".frame"):
        self.page.drawn()
        return self.page.value(f"[...document.querySelectorAll({json.dumps(which)})].map(frame => frame.querySelector('bdi').textContent)")

    def click(self, which, name):
        self.page.value(f"[...document.querySelectorAll({json.dumps(which)})]"
                        f".find(one => (one.querySelector('bdi') ?? one).textContent === {json.dumps(name)}).click()")
        self.page.drawn()

    def focus(self):
        return self.page.value("document.activeElement.querySelector('bdi')?.textContent")

    def test_a_click_zooms_in_and_a_crumb_out(self):
        everything = self.names()
        self.assertEqual(everything, ["all", "main", "read", "parse", "copy", "write", "copy", "flush"])
        self.click(".frame", "read")
        self.assertIn("parse", self.names())
        self.assertNotIn("write", self.names())
        self.assertIn("read", self.page.value("document.querySelector('.crumbs').textContent"))
        self.page.value("document.querySelector('.crumbs button').click()")
        self.assertEqual(self.names(), everything)

    def test_keys_walk_zoom_and_search(self):
        everything = self.names()
        self.page.value("document.querySelector('.frame[tabindex=\"0\"]').focus()")
        self.page.press("Home")
        for key, name in (("ArrowDown", "main"), ("ArrowDown", "read"), ("ArrowRight", "write"), ("ArrowLeft", "read"), ("ArrowDown", "parse"), ("ArrowUp", "read")):
            self.page.press(key)
            self.assertEqual(self.focus(), name, key)
        self.page.press("Enter")
        self.assertNotIn("write", self.names())
        self.page.press("Escape")
        self.assertIn("write", self.names())
        self.page.press("Enter")
        self.page.press("Home")
        self.assertEqual(self.names(), everything)
        self.page.press("/")
        self.assertEqual(self.page.value("document.activeElement.id"), "find")

    def test_a_search_marks_what_it_finds(self):
        self.page.value("location.hash = '#view=flame&q=copy'")
        self.assertEqual(self.names(".frame.hit"), ["copy", "copy"])

    def test_a_narrow_frame_of_a_function_without_a_name_shows_its_offset(self):
        self.page.value("location.hash = '#view=flame'")
        path = os.path.join(tempfile.mkdtemp(dir=p.scratch()), "unnamed")
        with open(path + ".folded", "w", encoding="ascii") as file:
            file.write("main;[libfoo.so+0x3f0] 5\nmain;wide 95\n")
        subprocess.run([p.PCTALLY, "report", "--flamegraph", path + ".html", path + ".folded"], check=True, capture_output=True)
        with Browser(f"file://{path}.html", p.scratch()) as page:
            page.drawn()
            shown = page.value("[...document.querySelectorAll('.frame')].map(frame => [frame.querySelector('bdi').textContent, frame.getAttribute('aria-label')])")
        narrow = [label for name, label in shown if name == "+0x3f0"]
        self.assertEqual(len(narrow), 1, shown)
        self.assertIn("([libfoo.so+0x3f0])", narrow[0])

    def test_enter_in_the_search_leads_to_what_was_found(self):
        for view, name in (("functions", ".name"), ("flame", "bdi"), ("map", "bdi")):
            self.page.value(f"location.hash = '#view={view}&q=flush'")
            self.page.drawn()
            self.page.value("document.getElementById('find').focus()")
            self.page.press("Enter")
            self.assertEqual(self.page.value(f"document.activeElement.querySelector('{name}')?.textContent"), "flush", view)

    def test_an_estimate_has_no_interval(self):
        """As if read's parse and copy were inlined."""
        with open(self.path + ".html", encoding="utf-8") as file:
            text = file.read()
        before, from_entry, after = text.partition('"from_entry":{')
        self.assertIn('"estimates":[]', after)
        with open(self.path + ".estimates.html", "w", encoding="utf-8") as file:
            file.write(before + from_entry + after.replace('"estimates":[]', '"estimates":[2,3]', 1))
        with Browser(f"file://{self.path}.estimates.html", p.scratch()) as page:
            def spoken(name):
                page.drawn()
                return page.value(f"[...document.querySelectorAll('.frame')].find(frame => frame.querySelector('bdi').textContent === '{name}').getAttribute('aria-label')")

            def tip(name):
                page.value(f"[...document.querySelectorAll('.frame')].find(frame => frame.querySelector('bdi').textContent === '{name}')"
                           ".dispatchEvent(new MouseEvent('mousemove', {bubbles: true}))")
                page.drawn()
                return page.value("[...document.querySelectorAll('.tip tr')].map(row => [...row.querySelectorAll('td')].slice(0, 3).map(cell => cell.textContent))")
            page.drawn()
            self.assertRegex(spoken("parse"), r": about 57\.14 % of all ticks, 60 ticks$")
            self.assertRegex(spoken("read"), r": 85\.71 % of all ticks, \d")
            self.assertEqual(tip("parse")[0], ["here", "about 57.14 %", ""])
            self.assertRegex(tip("read")[0][2], r"^\d")
            self.assertIn("\u201cAbout\u201d: inlined code.", page.value("document.querySelector('.note').textContent"))
            self.assertNotIn("\u201cAbout\u201d", self.page.value("document.querySelector('.note').textContent"))
            page.value("[...document.querySelectorAll('button')].find(one => one.textContent === 'certainty').click()")
            page.drawn()
            grey = page.value("getComputedStyle([...document.querySelectorAll('.legend i')].at(-1)).backgroundColor")
            drawn = page.value("Object.fromEntries([...document.querySelectorAll('.frame')].map(one => [one.querySelector('bdi').textContent, getComputedStyle(one).backgroundColor]))")
            self.assertEqual(drawn["parse"], grey)
            self.assertNotEqual(drawn["read"], grey)
            page.value("[...document.querySelectorAll('button')].find(one => one.textContent === 'leaf').click()")
            for name in ("parse", "read \u203a main"):
                self.assertRegex(spoken(name), r": about 57\.14 % of all ticks, ", "with the callers of what ran")
            self.assertRegex(spoken("flush"), r": 4\.76 % of all ticks, \d")

    def test_it_is_turned_to_start_from_what_ran(self):
        self.click("button", "leaf")
        inner = self.names('.frame[aria-level="2"]')
        self.assertEqual([name.split(" ")[0] for name in inner], ["parse", "copy", "flush"])


@unittest.skipIf(CHROMIUM is None, "no browser: chromium-headless-shell is not installed")
class SmallPaths(unittest.TestCase):
    """malloc has 40 % of the ticks, below 8000 callers with a twentieth of a thousandth each."""

    def setUp(self):
        path = os.path.join(tempfile.mkdtemp(dir=p.scratch()), "small")
        with open(path + ".folded", "w", encoding="ascii") as file:
            file.write("main;big 600000\n")
            file.writelines(f"main;f{i};malloc 50\n" for i in range(8000))
        subprocess.run([p.PCTALLY, "report", "--flamegraph", path + ".html", path + ".folded"], check=True, capture_output=True)
        self.page = Browser(f"file://{path}.html", p.scratch())
        self.addCleanup(self.page.__exit__)
        self.page.drawn()

    def frames(self):
        self.page.drawn()
        return self.page.value("[...document.querySelectorAll('.frame')].map(frame => [frame.querySelector('bdi').textContent, frame.style.width])")

    def test_the_frames_left_out_are_one_as_wide_as_their_ticks(self):
        self.assertEqual(self.frames()[2:], [["big", "calc(60% - 1px)"], ["many small frames", "calc(40% - 1px)"]])
        self.assertIn("16\u202f000 frames with less than a ten-thousandth of all ticks each are not in this page; together they have 40.00 %",
                      self.page.value("document.querySelector('.note').textContent"))

    def test_from_the_leaf_a_function_has_all_its_ticks(self):
        self.page.value("[...document.querySelectorAll('button')].find(one => one.textContent === 'leaf').click()")
        frames = dict(self.frames())
        self.assertEqual([frames.get(name) for name in ("big", "malloc", "many small frames")], ["calc(60% - 1px)", "calc(40% - 1px)", "calc(40% - 1px)"])

    def test_a_search_counts_ticks_on_paths_that_are_not_in_the_page(self):
        for words, expected in (("malloc", "1 found: self 40.0 %, on the path 40.0 %"), ("main", "1 found: self 0.0 %, on the path 100.0 %"),
                                ("m", "2 found: self 40.0 %, on the path 100.0 %"), ("f7", "1111 found: self 0.0 %, on the path at least 0.0 %")):
            self.page.value(f"location.hash = '#view=flame&q={words}'")
            self.page.drawn()
            self.assertEqual(self.page.value("document.querySelector('.find output').textContent").replace("\u202f", ""), expected)


@unittest.skipIf(CHROMIUM is None, "no browser: chromium-headless-shell is not installed")
class NotDrawn(unittest.TestCase):
    """Functions too small for a frame or a tile of their own: the keys lead into the view, and a search marks where they are."""

    @classmethod
    def setUpClass(cls):
        cls.path = os.path.join(tempfile.mkdtemp(dir=p.scratch()), "many")
        with open(cls.path + ".folded", "w", encoding="utf-8") as file:
            file.write("main;big 90000\nmain;other 9000\n")
            file.writelines(f"main;tiny{i} 11\n" for i in range(30))
            file.write("main;" + 250 * "a" + " 50\nmain;" + 199 * "b" + "\U0001f525b 60\n")
        subprocess.run([p.PCTALLY, "report", "--html", cls.path + ".html", cls.path + ".folded"], check=True, capture_output=True)

    def setUp(self):
        self.page = Browser(f"file://{self.path}.html", p.scratch())
        self.addCleanup(self.page.__exit__)
        self.page.drawn()

    def show(self, **address):
        self.page.value(f"location.hash = {json.dumps('#' + urllib.parse.urlencode(address))}")
        self.page.drawn()

    def names(self, which):
        return self.page.value(f"[...document.querySelectorAll({json.dumps(which)})].map(one => (one.querySelector('.name') ?? one.querySelector('bdi')).textContent)")

    def test_tab_leads_into_every_view(self):
        for address, expected in (({"view": "functions", "q": "other"}, "other"), ({"view": "flame"}, "all"), ({"view": "map"}, "big")):
            self.show(f="tiny5", **address)
            self.assertEqual(self.names("#panel [tabindex='0']"), [expected], address)
            self.assertEqual(self.page.value("document.querySelector('.chosen').textContent"), "tiny5")

    def test_a_search_marks_the_tile_that_it_is_in(self):
        self.show(view="map", q="tiny5")
        self.assertEqual(self.names(".tile.hit:not(.dim)"), ["30 more"])

    def test_a_link_leads_to_a_function_with_a_long_name(self):
        for q, which in (("aaaaaaaaaa", "a"), ("bbbbbbbbbb", "b")):
            self.show(q=q)
            self.page.value("document.querySelector('tbody tr').click()")
            self.page.drawn()
            address = self.page.value("location.hash").replace(f"q={q}", "")
            self.show(f="big")
            self.page.value(f"location.hash = {json.dumps(address)}")
            self.page.drawn()
            self.assertEqual(self.page.value("document.querySelector('.chosen').textContent")[:5], 5 * which)


class FoldedRanges:
    """Where paths were folded, totals and calls are ranges: the page says them as report and report --json do."""

    ENGINE = None  # the first that works
    # Python compiles what it imports: many deep paths.
    WORK = ("-X", "pycache_prefix=/dev/null/none", "-c", "import json, unittest, http.client, xml.dom.minidom, sqlite3, asyncio")
    HAS_RANGES = True  # wider than chance
    ROWS = 6           # whose calls are looked at, beside the widest range

    @classmethod
    def setUpClass(cls):
        if cls.ENGINE is not None and not p.engine_available(cls.ENGINE):
            raise unittest.SkipTest(f"engine {cls.ENGINE} is not available")
        command = [sys.executable, *cls.WORK]
        cls.recorded = p.record(command, "-g", "--paths-memory", "64K", "-F", "4000", *(["-e", cls.ENGINE] if cls.ENGINE else []))
        cls.report = cls.recorded.report("--min-share", "0")
        if not cls.report.get("paths", {}).get("folded"):
            raise unittest.SkipTest("no path was folded here")
        path = os.path.join(tempfile.mkdtemp(dir=p.scratch()), "folded.html")
        subprocess.run([p.PCTALLY, "report", "--html", path, cls.recorded.path], check=True, capture_output=True)
        cls.page = Browser(f"file://{path}#rows=all", p.scratch())
        cls.addClassCleanup(cls.page.__exit__)
        cls.page.drawn()

    @staticmethod
    def words(low, high):
        return f"{100 * low:.1f} to {100 * high:.1f}\u00a0%"

    def is_wide(self, low, high, samples):
        """As is_wide_range() of src/report/statistics."""
        z2, share = 1.959963984540054 ** 2, low
        half = (z2 * (share * (1 - share) / samples + z2 / (4 * samples * samples))) ** 0.5
        middle = share + z2 / (2 * samples)
        around = max(share - max(0, (middle - half) / (1 + z2 / samples)), (middle + half) / (1 + z2 / samples) - share)
        return high - low >= 0.005 and high - low > around

    def texts(self, which):
        return self.page.value(f"[...document.querySelectorAll({json.dumps(which)})].map(one => one.textContent)")

    def show(self, **address):
        self.page.value(f"location.hash = {json.dumps(urllib.parse.urlencode(address))}")
        self.page.drawn()

    def test_totals_of_the_table(self):
        """Cell by cell: what the report shows, a share or a range."""
        self.show(view="functions", rows="all")
        data = self.page.value("document.getElementById('data').textContent")
        functions = json.loads(data)["functions"]
        names = [(row["short"], row["object"]) for row in self.report["rows"]]
        samples, all_ticks = self.report["effective_samples"], self.report["ticks"]
        ranges = set()
        shown = self.page.value("[...document.querySelectorAll('tbody tr:not(.space)')].map(row => [row.querySelector('.name').textContent,"
                                " row.querySelector('.object bdi').textContent, row.querySelector('.total').firstChild?.textContent ?? '',"
                                " row.querySelector('.total').title, row.id])")
        for name, thing, text, title, element in shown:
            rows = [row for row in self.report["rows"] if (row["short"], row["object"]) == (name, thing)]
            if len(rows) != 1 or "total" not in rows[0]:
                continue
            row, (low, high) = rows[0], functions[int(element.removeprefix("row-"))][6:8]
            self.assertEqual(row["total_ticks"], low, name)
            if self.is_wide(low / all_ticks, high / all_ticks, samples):
                ranges.add(name)
                self.assertEqual(text, self.words(row["total_low"], row["total_high"]), name)
                self.assertIn("folded paths may hold more", title)
                self.assertIn(f"{low} to {high} ticks", title.replace("\u202f", ""))
            else:
                self.assertEqual(text, percent(row["total"]), name)
            self.assertTrue(title.startswith(f"{percent(row['total_low'])}\u2013{percent(row['total_high'])} %, "), title)
        self.assertGreater(len(shown), 30)
        clipped = "[...document.querySelectorAll('td.total')].filter(cell => cell.scrollWidth > cell.clientWidth).map(cell => cell.textContent)"
        self.assertEqual(self.page.value(clipped), [], "totals have room")
        self.assertEqual(len(names), len(functions) - sum(row[9] for row in functions))
        self.assertTrue(ranges or not self.HAS_RANGES, "no total is a range")

    def with_a_range(self):
        """The function with the widest total."""
        rows = [row for row in self.report["rows"] if "total" in row and row["function"] and "[" not in row["short"]]
        return max(rows, key=lambda row: row["total_high"] - row["total_low"])

    def callers(self, row):
        done = subprocess.run([p.PCTALLY, "report", "--json", "--limit", "0", "--callers", f"{row['short']} ({row['object']})", self.recorded.path],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_the_selected_function_has_its_range(self):
        row = self.with_a_range()
        self.show(view="functions", f=row["short"], o=row["object"])
        words = self.words(row["total_low"], row["total_high"])
        callers = self.callers(row)
        low, folded, all_ticks = callers["ticks"], callers["folded"] + callers["unplaced"], self.report["ticks"]
        if not self.HAS_RANGES and not self.is_wide(low / all_ticks, (low + folded) / all_ticks, self.report["effective_samples"]):
            self.assertIn(f"total {percent(row['total'])}\u00a0%", self.texts(".selection")[0])
            return
        self.assertIn("total " + words, self.texts(".selection")[0])
        self.show(view="flame", f=row["short"], o=row["object"])
        spoken = self.page.value("[...document.querySelectorAll('.frame.same')].map(frame => frame.getAttribute('aria-label'))")
        for label in spoken:
            if " narrow frame" not in label:
                self.assertIn(f": everywhere {words}, here ", label)

    def test_callers_and_callees(self):
        rows = sorted((row for row in self.report["rows"] if "total" in row and "[" not in row["short"]), key=lambda row: -row["total_ticks"])
        met = 0
        for row in [self.with_a_range(), *rows[:self.ROWS]]:
            with self.subTest(row["function"]):
                met += self.check_callers(row)
        self.assertTrue(met or not self.HAS_RANGES, "no call is a range")

    def check_callers(self, row):
        """How many of its calls are ranges."""
        callers = self.callers(row)
        self.show(view="callers", f=row["short"], o=row["object"])
        low, high = callers["ticks"], callers["ticks"] + callers["folded"] + callers["unplaced"]
        head = self.texts(".callers-head span")[0].replace("\u202f", "")
        self.assertIn(f"{low} to {high} ticks" if high > low else f"share of the {low} tick", head)
        self.page.value("[...document.querySelectorAll('.side .more button')].forEach(button => button.click())")
        self.page.drawn()
        ranges = 0
        for side, key in (("Called by", "callers"), ("Goes to", "callees")):
            shown = self.page.value(f"[...document.querySelectorAll('.side[aria-label=\"{side}\"] .side-row')]"
                                    ".map(row => [row.querySelector('.who').textContent, row.querySelector('.value').textContent,"
                                    " row.querySelector('.value.where').textContent])")
            ticks = sorted(text.replace("\u202f", "") for _, _, text in shown)
            by_function = {}
            for each in callers[key]:
                if not each["ticks"] and not self.is_wide(0, min(1, each["ticks_high"] / low), low / self.report["ticks"] * self.report["effective_samples"]):
                    continue  # would be a row of 0.0 %
                by_function.setdefault((each["function"], each["object"]), []).append(each)
            self.assertEqual(len(shown), len(by_function), f"{side}: {shown}")
            for lines in by_function.values():
                if len(lines) > 1:
                    continue  # their sum, which the report has not
                each = lines[0]
                text = f"{each['ticks']} to {each['ticks_high']} tick" if each["ticks_high"] > each["ticks"] else f"{each['ticks']} tick"
                self.assertTrue(any(other.startswith(text) for other in ticks), f"{side}: {text} is not in {ticks}")
                whole, samples = (low, high), low / self.report["ticks"] * self.report["effective_samples"]
                if self.is_wide(each["ticks"] / whole[1], min(1, each["ticks_high"] / whole[0]), samples):
                    ranges += 1
                    words = self.words(each["low"], each["high"])
                    self.assertTrue(any(words in value for _, value, _ in shown), f"{side}: {words} is not in {shown}")
        return ranges


@unittest.skipIf(CHROMIUM is None, "no browser: chromium-headless-shell is not installed")
class Folded(FoldedRanges, unittest.TestCase):
    def test_seen_from_what_ran_the_flame_graph_has_every_tick_too(self):
        """Folded paths end in a frame of their own."""
        self.show(view="flame")
        self.page.value("[...document.querySelectorAll('button')].find(one => one.textContent === 'leaf').click()")
        self.page.drawn()
        spoken = self.page.value("[...document.querySelectorAll('.frame[aria-level=\"2\"]')].map(frame => frame.getAttribute('aria-label'))")
        self.assertTrue(any(label.startswith("[folded: deeper paths were not kept]") for label in spoken), spoken)
        ticks = [int(re.search(r"([\d\u202f]+) ticks?$", label).group(1).replace("\u202f", "")) for label in spoken]
        self.assertGreater(sum(ticks), 0.98 * (self.report["ticks"] - self.report["lost"]), "but frames below a ten-thousandth")

    def test_functions_that_look_alike_have_their_objects(self):
        data = json.loads(self.page.value("document.getElementById('data').textContent"))
        objects = {data["texts"][row[2]] for row in data["functions"] if data["texts"][row[0]] == "_start"}
        if len(objects) < 2:
            self.skipTest("no two objects have a _start with ticks here")
        self.show(view="flame")
        self.page.value("[...document.querySelectorAll('button')].find(one => one.textContent === 'entry').click()")
        self.page.drawn()
        names = [name for name in self.texts(".frame bdi") if name.startswith("_start")]
        self.assertTrue(names)
        for name in names:
            self.assertIn(name.split(" \u203a ")[0], [f"_start ({thing})" for thing in objects])


@unittest.skipIf(CHROMIUM is None, "no browser: chromium-headless-shell is not installed")
class FoldedByBpf(FoldedRanges, unittest.TestCase):
    ENGINE = "bpf"
    ROWS = 2


@unittest.skipIf(CHROMIUM is None, "no browser: chromium-headless-shell is not installed")
class FoldedByTimer(FoldedRanges, unittest.TestCase):
    ENGINE = "timer"
    ROWS = 2
    HAS_RANGES = False  # four ticks are one sample: chance may be wider


@unittest.skipIf(CHROMIUM is None, "no browser: chromium-headless-shell is not installed")
class Compared(unittest.TestCase):
    """The comparison of two profiles of folded stacks."""

    def page(self, *options, **stacks):
        path = os.path.join(tempfile.mkdtemp(dir=p.scratch()), "page.html")
        files = []
        for name, text in stacks.items():
            files.append(os.path.join(os.path.dirname(path), name + ".folded"))
            with open(files[-1], "w", encoding="ascii") as file:
                file.write(text)
        subprocess.run([p.PCTALLY, "diff", *options, "--html", path, *files], check=True, capture_output=True)
        return path

    def test_a_search_finds_what_is_gone(self):
        page = Page(self.page(old="main;kept 700\nmain;left 300\n", new="main;kept 700\n"), q="left")
        self.assertEqual([(row[0], row[6]) for row in page.dom.rows if len(row) == 9 and row[0]], [("left", "gone")])
        self.assertIn("1 found", page.text)

    def test_limits_stand_above_it(self):
        path = self.page("--fail-if", "share(left) > +2pp", old="main;kept 700\nmain;left 300\n", new="main;kept 700\n")
        with Browser(f"file://{path}", p.scratch()) as page:
            page.drawn()
            said = page.value("[...document.querySelectorAll('.limits .pass')].map(limit => limit.textContent)")
            self.assertRegex(" ".join(said), r"^PASS share\(left\) > \+2pp: -30.* pp.*; the new side has none of it: was it renamed or inlined\?$")

    def test_keys_walk_its_rows(self):
        path = self.page(old="main;kept 700\nmain;left 300\n", new="main;kept 800\nmain;came 300\n")
        with Browser(f"file://{path}", p.scratch()) as page:
            page.drawn()
            rows = page.value("[...document.querySelectorAll('tbody tr .name')].map(name => name.textContent)")
            self.assertIn("left", rows)
            self.assertEqual(page.value("document.querySelectorAll('tbody tr[tabindex=\"0\"]').length"), 1, "one stop for Tab")
            page.value("document.querySelector('tbody tr[tabindex=\"0\"]').focus()")
            for key, at in (("ArrowDown", 1), ("ArrowDown", 2), ("ArrowUp", 1), ("End", len(rows) - 1), ("Home", 0)):
                page.press(key)
                self.assertEqual(page.value("document.activeElement.querySelector('.name')?.textContent"), rows[at], key)
                if rows[at] != "left":
                    self.assertEqual(page.value("document.querySelector('.selection .chosen').textContent"), rows[at])

    def test_what_is_not_shown_has_its_largest_change_said(self):
        many = range(45)
        path = self.page(old="".join(f"main;came{i:02} 100\n" for i in many) + "main;wide 1000000\nmain;small 5000\n",
                         new="".join(f"main;came{i:02} 1000\n" for i in many) + "main;wide 1018000\nmain;small 5001\n")
        with Browser(f"file://{path}", p.scratch()) as page:
            page.drawn()
            verdicts = page.value("[...document.querySelectorAll('.verdict-cell:not(th)')].map(cell => cell.textContent)")
            self.assertEqual(verdicts, 40 * ["more"])
            self.assertIn("8 more rows, none above \u00b118000 samples a run.", page.value("document.querySelector('p.more').textContent"))
            page.value("[...document.querySelectorAll('button')].find(one => one.textContent === 'share').click()")
            page.drawn()
            changes = page.value("[...document.querySelectorAll('tbody .change')].map(cell => cell.textContent)")
            text = page.value("document.querySelector('p.more').textContent")
            page.value("document.querySelector('p.more button').click()")
            page.drawn()
            rest = page.value("[...document.querySelectorAll('tbody .change')].map(cell => cell.textContent)")[len(changes):]
            sizes = [float(re.sub("[^0-9.]", "", change)) for change in rest]
            said = float(re.search("none above \u00b1([0-9.]+) points", text).group(1))
            self.assertTrue(max(sizes) <= said <= max(sizes) + 0.1 + 1e-9, (text, rest))

    def test_rows_left_out_of_the_page_are_said(self):
        stacks = [f"main;f{i:04}" for i in range(2100)]
        path = self.page(old="".join(f"{stack} {100 + i}\n" for i, stack in enumerate(stacks)), new="".join(f"{stack} {101 + 2 * i}\n" for i, stack in enumerate(stacks)))
        with Browser(f"file://{path}#rows=all", p.scratch()) as page:
            page.drawn()
            self.assertRegex(page.value("document.querySelector('p.more').textContent"), r"^101 rows are not in this page, none above \u00b1[0-9]+ samples a run\.$")

    def test_a_row_is_its_functions_whatever_they_are_called(self):
        path = self.page("--names", "full", old="main;work.isra.0 1000\nmain;same 9000\n", new="main;work.isra.0 5000\nmain;same 9001\n")
        with Browser(f"file://{path}#q=work", p.scratch()) as page:
            page.drawn()
            self.assertEqual(page.value("document.querySelector('.find output').textContent.split(':')[0]"), "1 found")
            page.value("document.querySelector('.compare tbody tr').click()")
            page.drawn()
            self.assertEqual(page.value("document.querySelector('.selection .chosen').textContent"), "work.isra.0")
            self.assertEqual(page.value("document.querySelector('.compare tbody tr').getAttribute('aria-selected')"), "true")
            page.value("location.hash = '#view=flame'")
            page.drawn()
            page.value("[...document.querySelectorAll('button')].find(one => one.textContent === 'change').click()")
            page.drawn()
            colors = page.value("Object.fromEntries([...document.querySelectorAll('.frame')].map(one => [one.querySelector('bdi').textContent, getComputedStyle(one).backgroundColor]))")
            more = page.value("getComputedStyle(document.querySelector('.legend i')).backgroundColor")
        self.assertEqual(colors["work.isra.0"], more)
        self.assertNotEqual(colors["same"], more)

    def test_small_amounts_have_their_digits(self):
        path = self.page("--work", "1e6", old="main;rose 1000\nmain;stayed 300\n", new="main;rose 5000\nmain;stayed 301\n")
        with Browser(f"file://{path}", p.scratch()) as page:
            page.drawn()
            cells = page.value("[...document.querySelectorAll('.compare tbody tr')].map(row => [...row.querySelectorAll('.name, .side-value, .change')].map(cell => cell.textContent))")
            axis = page.value("[...document.querySelectorAll('.forest-axis span')].map(step => step.textContent)")
        self.assertEqual(cells[0], ["rose", "0.00100", "0.00500", "\u25b2 +0.00400"])
        self.assertEqual(len(set(axis)), len(axis), axis)
        self.assertEqual([step for step in axis if float(step.replace("\u2212", "-")) == 0], ["0.000"], axis)

    def test_what_changed_stands_out(self):
        path = self.page(old="main;rose 1000\nmain;fell 5000\nmain;stayed 3000\n", new="main;rose 5000\nmain;fell 1000\nmain;stayed 3001\n")
        with Browser(f"file://{path}", p.scratch()) as page:
            page.drawn()
            colors = page.value("Object.fromEntries([...document.querySelectorAll('.compare tbody .name')]"
                                ".map(name => [name.textContent, getComputedStyle(name).color]))")
        self.assertEqual(colors["rose"], colors["fell"])
        self.assertNotEqual(colors["rose"], colors["stayed"])


@unittest.skipIf(CHROMIUM is None, "no browser: chromium-headless-shell is not installed")
class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.mkdtemp(dir=p.scratch())
        cls.path, report = os.path.join(directory, "page.html"), os.path.join(directory, "report.json")
        subprocess.run([p.program("hostile_page"), cls.path, report], check=True)
        with open(report, encoding="utf-8") as file:
            cls.report = json.load(file)
        cls.page = Page(cls.path)

    def assert_unharmed(self, page):
        self.assertEqual(page.complaints, [])
        self.assertNotIn("executed", page.dom.title)
        self.assertEqual(page.dom.elements - ELEMENTS, set())
        self.assertEqual([entry for entry in page.dom.attributes if entry[1].startswith("on")], [])
        self.assertEqual([entry for entry in page.dom.attributes if entry[1] in ("src", "href", "action")], [])

    def test_nothing_of_a_name_is_executed(self):
        self.assert_unharmed(self.page)
        self.assertEqual(self.page.text.count("<script"), 2)

    def test_no_control_or_direction_reaches_the_page(self):
        body = self.page.text.split("</style>")[1]
        for byte in "\033\007\u202e\u202c\0\ufffd":
            self.assertNotIn(byte, body)

    def test_rows_are_those_of_the_report(self):
        rows = self.page.dom.table()
        self.assertEqual(len(rows), 40, "the first rows; the rest is one line")
        for shown, row in zip(rows, self.report["rows"]):
            self.assertEqual(shown[1], percent(row["share"]))
            self.assertEqual(shown[2], f"{percent(row['low'])}\u2013{percent(row['high'])}")
            self.assertEqual(shown[7], str(row["ticks"]))

    def test_rows_and_the_rest_are_all_ticks(self):
        found = Page(self.path, q="constructor").dom.table()  # the object of half of the functions, and a name of the others
        expected = [row["ticks"] for row in self.report["rows"] if "constructor" in (row["object"], row["function"])]
        self.assertEqual([int(row[7]) for row in found], expected)
        self.assertEqual(sum(row["ticks"] for row in self.report["rows"]), self.report["ticks"])

    def test_every_view_shows_names_as_text_alone(self):
        for view in ("flame", "callers", "source", "map"):
            page = Page(self.path, view=view, f="constructor")
            self.assert_unharmed(page)
            self.assertIn(("button", "aria-selected", "true"), page.dom.attributes)
            self.assertIn(("div", "aria-labelledby", f"tab-{view}"), page.dom.attributes)

    def test_frames_are_as_wide_as_their_ticks(self):
        page = Page(self.path, view="flame")
        spoken = [value for tag, name, value in page.dom.attributes if name == "aria-label" and tag == "div" and " ticks" in value]
        outer = [int(label.rsplit(" ", 2)[1].replace("\u202f", "")) for label in spoken]
        levels = [int(value) for _, name, value in page.dom.attributes if name == "aria-level"]
        self.assertEqual(len(outer), len(levels))
        self.assertEqual(sum(ticks for ticks, level in zip(outer, levels) if level == 2), self.report["ticks"])

    def test_source_has_the_lines_of_the_file(self):
        page = Page(self.path, view="source", f="constructor")
        self.assertIn("&lt;/title&gt;&lt;b&gt;title", page.text.split('id="data"')[0])
        self.assertNotIn("source: ", page.text.split('id="data"')[0].split("</style>")[1].split('class="block-head"')[1].split("</p>")[0])

    def test_tiles_are_all_ticks(self):
        page = Page(self.path, view="map")
        spoken = [value for tag, name, value in page.dom.attributes if name == "aria-label" and tag == "div" and " of all ticks" in value]
        self.assertEqual(sum(int(label.rsplit(" ", 2)[1].replace("\u202f", "")) for label in spoken), self.report["ticks"])

    def test_a_comparison(self):
        page = Page(self.path + ".diff.html")
        self.assert_unharmed(page)
        self.assertIn(("div", "aria-labelledby", "tab-compare"), page.dom.attributes)
        rows = [row for row in page.dom.rows if len(row) == 9 and row[0]]  # with the totals of its paths
        changed = [row for row in rows if row[6] == "more"]
        self.assertEqual([row[5] for row in changed], ["\u25b2 +400.0"])
        self.assertIn("onerror", changed[0][0])
        self.assertEqual({row[6] for row in rows}, {"more", "undecided"})

    def test_hostile_addresses(self):
        for address in ({"view": "__proto__", "f": "constructor"}, {"view": "<img src=x onerror=alert(1)>", "q": "(((((a+)+)+)+$"},
                        {"theme": "\"><script>", "f": "</script>"}, {"q": "\ud800".encode("utf-8", "surrogatepass")}):
            self.assert_unharmed(Page(self.path, **address))


class Written(unittest.TestCase):
    """What report and diff write of real recordings."""

    @classmethod
    def setUpClass(cls):
        cls.recorded = p.record([p.program("known_shares"), "0.3"])
        cls.again = p.record([p.program("known_shares"), "0.3"])

    def written(self, *words):
        path = os.path.join(tempfile.mkdtemp(dir=p.scratch()), "page.html")
        done = subprocess.run([p.PCTALLY, words[0], "--html", path, *words[1:]], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"wrote {path}", done.stderr)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.path = path
        return json.loads(text.split('id="data">')[1].split("</script>")[0]), text, done

    def test_figures_are_those_of_the_report(self):
        report = self.recorded.report()
        data, text, _ = self.written("report", self.recorded.path)
        for key in ("ticks", "effective_samples", "sampled_s", "lost_s", "cpu_s"):
            self.assertEqual(data["run"][key], report[key], key)
        self.assertEqual([row[5] for row in data["functions"]], [row["ticks"] for row in report["rows"]])
        self.assertNotIn(self.recorded.path, text)

    def test_the_order_of_a_table_changes_nothing(self):
        flat = p.record([p.program("known_shares"), "0.1"], "--no-callers")
        self.assertEqual(self.written("report", "--sort", "total", flat.path)[:2], self.written("report", flat.path)[:2])

    def test_a_profile_of_an_event_is_not_one_of_the_cpu_and_one_without_ticks_says_so(self):
        if CHROMIUM is None:
            self.skipTest("no browser: chromium-headless-shell is not installed")
        path = os.path.join(p.scratch(), "event.folded")
        with open(path, "w", encoding="ascii") as file:
            file.write("main;work 30\nmain;idle 10\n")
        self.written("report", path)
        answer = re.sub("<!--.*?-->", "", Page(self.path).text.split('class="answer"')[1].split("</p>")[0])
        self.assertIn("takes 75.0&nbsp;% of all samples (", answer)
        empty = p.record(["true"], "-F", "1", "-g")
        if empty.report()["ticks"] != 0:
            self.skipTest("true took a second of CPU time")
        self.written("report", empty.path)
        text = Page(self.path).text.split("</style>")[1].split('id="data"')[0]
        self.assertIn("No tick was recorded", text)
        self.assertNotIn("all of these words", text)

    def test_a_sum_of_several_programs_is_called_by_all_of_them(self):
        other = p.record(["sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"])
        data, _, _ = self.written("report", self.recorded.path, other.path)
        self.assertEqual(data["title"], "known_shares, sh")

    def test_every_part_adds_up_to_its_whole(self):
        data, _, _ = self.written("report", self.recorded.path)
        ticks = [row[5] for row in data["functions"]]
        self.assertEqual(sum(ticks), data["run"]["ticks"])
        for function, bins in data["bins"].items():
            self.assertEqual(sum(bins), ticks[int(function)])
        for source in data["sources"]:
            lines = [line for block in source["blocks"] for line in block["lines"]]
            self.assertEqual(sum(line[1] for line in lines), ticks[source["function"]])
            for line in lines:
                self.assertEqual(sum(instruction[2] for instruction in line[2]), line[1])

    def test_a_profile_of_another_tool_has_no_made_up_places(self):
        folded = os.path.join(p.scratch(), "other.folded")
        with open(folded, "w", encoding="utf-8") as file:
            file.write("main;work 30\nmain;idle 10\n")
        data, _, _ = self.written("report", folded)
        self.assertEqual(sorted(row[5] for row in data["functions"]), [0, 10, 30])
        self.assertEqual(data["bins"], {})
        self.assertEqual([line[2] for source in data["sources"] for block in source["blocks"] for line in block["lines"] if line[2]], [])
        self.assertEqual([len(data[tree]["nodes"]) for tree in ("from_entry", "small_from_leaf")], [3 * 4, 0])

    def test_sources_are_listed_and_can_be_left_out(self):
        if shutil.which("g++") is None:
            self.skipTest("g++ is not installed")
        source = shutil.copy(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "annotate", "table.cc"), p.scratch())
        os.chmod(source, 0o644)
        program = os.path.join(p.scratch(), "table")
        subprocess.run(["g++", "-O2", "-g", "-o", program, source], check=True)
        recorded = p.record([program])
        data, _, done = self.written("report", recorded.path)
        self.assertTrue(any(file["lines"] for file in data["files"]))
        for entry in data["sources"]:
            shown = [row for block in entry["blocks"] for line in block["lines"] for row in line[2]]
            self.assertLessEqual({row[3] for row in shown if row[2] > 0} - {-1}, {row[0] for row in shown}, "where jumps lead is there")
        if CHROMIUM and any(row[3] >= 0 for entry in data["sources"] for block in entry["blocks"] for line in block["lines"] for row in line[2]):
            page = Page(self.path, view="source", f="sum(std::vector&, int)")
            self.assertIn(("path", "class", "loop"), page.dom.attributes, "its loop is drawn")
            self.assertEqual(page.complaints, [])
        self.assertIn(f"pctally:   {source}\n", done.stderr)
        self.assertIn("--no-sources leaves them out", done.stderr)
        data, _, done = self.written("report", "--no-sources", recorded.path)
        self.assertEqual([file["lines"] for file in data["files"] if file["lines"]], [])
        self.assertNotIn("source file", done.stderr)

    def test_of_an_inlined_function_the_search_says_where_its_ticks_are(self):
        if CHROMIUM is None or shutil.which("g++") is None:
            self.skipTest("no browser, or g++ is not installed")
        program = os.path.join(p.scratch(), "inlined_caller")
        subprocess.run(["g++", "-O2", "-g", "-o", program, os.path.join(os.path.dirname(os.path.abspath(__file__)), "inlined_caller.cc")], check=True)
        recorded = p.record([program], "-g")
        if not recorded.report().get("paths"):
            self.skipTest("no engine records call paths here")
        self.written("report", recorded.path)
        page = Page(self.path, q="inner", view="functions")
        shown = page.text.split('id="data"')[0]
        self.assertRegex(shown, "<output[^>]*>1 found, inlined only: in the table its ticks count for the function around it")
        self.assertEqual(re.findall('class="note">([^<]*)<', shown)[0], "What has all of these words has no row: it was inlined, or stands for a path.")
        page = Page(self.path, view="source", f="step(unsigned int)")
        gap = page.text.split('class="code-gap"')[1].split("</div>")[0]
        self.assertRegex(re.sub("<[^>]*>", "", gap), r"⋯ \d+ lines without ticks$", "there is code, but none that ran")

    def test_a_comparison(self):
        data, _, done = self.written("diff", self.recorded.path, self.again.path)
        self.assertIn(data["diff"]["verdict"].split(":")[0], done.stdout)
        self.assertEqual((data["view"], data["diff"]["old_runs"], data["diff"]["new_runs"]), ("compare", 1, 1))
        self.assertIn("One run a side", data["diff"]["deviation"])
        paths = [bool(p.report(recorded.path).get("paths")) for recorded in (self.recorded, self.again)]
        for row in data["diff"]["rows"]:
            self.assertEqual(row["total"] is not None, all(paths))
            if row["total"]:
                self.assertGreaterEqual(row["total"]["after"], row["amount"]["after"] - 1e-6, row["name"])


if __name__ == "__main__":
    p.main()
