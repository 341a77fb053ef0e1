"""The page of report --html says what it leaves out, and what it does not know."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p
from browser import CHROMIUM, Browser


@unittest.skipIf(CHROMIUM is None, "no browser: chromium-headless-shell is not installed")
class LeftOut(unittest.TestCase):
    """A page with call paths and sources, whose data is changed."""

    @classmethod
    def setUpClass(cls):
        cls.path = os.path.join(tempfile.mkdtemp(dir=p.scratch()), "page.html")
        subprocess.run([p.program("hostile_page"), cls.path, cls.path + ".json"], check=True)
        with open(cls.path, encoding="utf-8") as file:
            cls.before, rest = file.read().split('id="data">')
        cls.data, cls.after = rest.split("</script>", 1)

    def page(self, address="", **changes):
        """`changes`: of parts of the data, by name."""
        data = json.loads(self.data)
        for name, change in changes.items():
            change(data[name])
        text = re.sub("[<>&]", lambda found: f"\\u{ord(found.group()):04x}", json.dumps(data))
        with open(self.path + ".changed.html", "w", encoding="utf-8") as file:
            file.write(f'{self.before}id="data">{text}</script>{self.after}')
        page = Browser(f"file://{self.path}.changed.html#{address}", p.scratch())
        self.addCleanup(page.__exit__)
        page.drawn()
        return page

    def text(self, page, which):
        return page.value(f"document.querySelector({json.dumps(which)}).textContent").replace("\u202f", "")

    def choose(self, page, label):
        page.value(f"[...document.querySelectorAll('button')].find(one => one.textContent === {json.dumps(label)}).click()")
        page.drawn()

    def paths(self, **changes):
        page = self.page(paths=lambda paths: paths.update(changes))
        return page.value("[...document.querySelectorAll('dt')].find(one => one.textContent === 'Call paths').nextSibling.textContent").replace("\u202f", "")

    def test_parts_of_the_paths_are_all_there(self):
        cut = [{"reason": "cut here", "ticks": 5}, {"reason": "cut there", "ticks": 6}]
        self.assertEqual(self.paths(complete=1200, cut=cut), "1200 complete, 11 cut")
        self.assertEqual(self.paths(complete=1200, cut=cut, no_room=3, folded=7, no_total=9),
                         "1200 complete, 11 cut, 3 without room; 7 folded into their callers; "
                         "9 of calls without room: their totals are ranges (record --paths-memory)")

    def test_calls_that_are_not_in_the_page(self):
        for calls, ticks, expected in ((0, 0, None), (1, 1, "1 call of this profile is not in this page, none with more than 1 tick."),
                                       (2003, 4, "2003 calls of this profile are not in this page, none with more than 4 ticks.")):
            note = self.text(self.page("view=callers", edges_left_out=lambda left: left.update(calls=calls, ticks=ticks)), ".note")
            self.assertIn(expected or "walk on to it.", note)
            self.assertEqual("not in this page" in note, expected is not None)

    def test_a_function_without_source_has_its_reason(self):
        data = json.loads(self.data)
        number = next(i for i, row in enumerate(data["functions"]) if data["texts"][row[0]] == "constructor")
        address = "view=source&f=constructor"

        def gone(sources):
            sources[:] = [source for source in sources if source["function"] != number]

        for reason in ("it is kernel code, which cannot be annotated", "nothing in libx.so has a name: it is <b>stripped</b>"):
            page = self.page(address, sources=gone, no_source=lambda reasons: reasons.update({str(number): reason}))
            self.assertIn(f"constructor has no source here: {reason}. Show ", self.text(page, ".note"))
            self.assertEqual(page.complaints, [])
        self.assertIn("constructor has no source here: its code is not known.", self.text(self.page(address, sources=gone), ".note"))
        page = self.page(address, sources=gone, functions=lambda rows: rows[number].__setitem__(5, 1))
        self.assertIn("constructor has no source here: it has less than 0.5 % of the ticks.", self.text(page, ".note"))
        page = self.page(address, sources=gone, functions=lambda rows: rows[number].__setitem__(9, 1))
        self.assertIn("constructor has no source here: it was inlined, or stands for a path.", self.text(page, ".note"))

    def test_instructions_that_are_not_shown(self):
        def all_read(sources):
            for source in sources:
                source.update(problem="", left_out=12)

        page = self.page("view=source", sources=all_read)
        note = "#panel > .note"
        self.assertIn("lines with at least 5 % of the function's ticks: those with ticks, jumps", self.text(page, note))
        self.choose(page, "all")
        self.assertIn("12 instructions without ticks are left out: all but three on either side", self.text(page, note))
        self.choose(page, "none")
        self.assertTrue(self.text(page, note).endswith("a loop."), self.text(page, note))
        page = self.page("view=source", sources=lambda sources: [source.update(problem="", left_out=0) for source in sources])
        self.choose(page, "all")
        self.assertNotIn("left out", self.text(page, note))

    def test_the_part_of_the_time_that_was_sampled(self):
        self.assertRegex(self.text(self.page(), ".answer"), r"% of the CPU time \(")
        page = self.page(run=lambda run: run.update(sampled_part=0.5))
        self.assertRegex(self.text(page, ".answer"), r"% of the 50 % of the CPU time that was sampled \(")

    def test_object_and_place_stand_beside_a_name(self):
        page = self.page("view=callers&f=constructor")
        line = self.text(page, ".middle p")
        self.assertIn(" \u00b7 ", line)
        self.assertEqual(self.text(page, ".selection .chosen + span"), line)
        self.choose(page, "Map")
        page.value("document.querySelector('.tile.current').dispatchEvent(new MouseEvent('mousemove', {bubbles: true}))")
        page.drawn()
        self.assertEqual(self.text(page, ".tip p"), line)

    def test_tiles_and_frames_have_the_same_colours(self):
        page = self.page("f=--%3E")  # its file is one of the eight largest

        def colors(view, which):
            self.choose(page, view)
            found = {}
            for by in ("file", "object", "certainty"):
                self.choose(page, by)
                found[by] = page.value(f"[...document.querySelectorAll({json.dumps(which)})].map(one => getComputedStyle(one).backgroundColor)")
            return found

        steps = colors("Flame graph", ".legend i")["certainty"]
        tile, frames = colors("Map", ".tile.current"), colors("Flame graph", ".frame.same")
        for by in ("file", "object"):
            self.assertEqual(len(tile[by]), 1)
            self.assertEqual(set(tile[by]), set(frames[by]), by)
        self.assertTrue(set(tile["certainty"] + frames["certainty"]) <= set(steps))
        self.assertEqual(len(set(sum(tile.values(), []))), 3, tile)


@unittest.skipIf(CHROMIUM is None, "no browser: chromium-headless-shell is not installed")
class Deep(unittest.TestCase):
    def test_a_path_of_thousands_of_frames_is_drawn_in_full(self):
        path = os.path.join(tempfile.mkdtemp(dir=p.scratch()), "deep")
        with open(path + ".folded", "w", encoding="ascii") as file:
            file.write("main;" + ";".join(f"f{i}" for i in range(4000)) + " 100\nmain;other 5\n")
        subprocess.run([p.PCTALLY, "report", "--flamegraph", path + ".html", path + ".folded"], check=True, capture_output=True)
        frames = "[...document.querySelectorAll('.frame')]"
        with Browser(f"file://{path}.html", p.scratch()) as page:
            page.drawn()
            page.value("[...document.querySelectorAll('button')].find(one => one.textContent === 'in full').click()")
            page.drawn()
            self.assertEqual(page.value(f"{frames}.length"), 4003)
            self.assertEqual(page.value(f"Math.max(...{frames}.map(frame => Number(frame.getAttribute('aria-level'))))"), 4002)
            page.value(f"{frames}.find(frame => frame.querySelector('bdi').textContent === 'f3990').click()")
            page.drawn()
            self.assertRegex(page.value("document.querySelector('.crumbs').textContent"), r"^all \u203a f3983 \u203a .* \u203a f3990$")
            self.assertEqual(page.complaints, [])


if __name__ == "__main__":
    p.main()
