"""speedscope itself (npm's package) opens what export --format speedscope writes, in headless Chromium: its sandwich view has the report's
self times and totals. The file is given to it as its own command line gives it."""
import base64
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p
from browser import CHROMIUM, Browser

UNITS = {"s": 1e9, "ms": 1e6, "µs": 1e3, "ns": 1}
# Its rows, as [total, self, name], once they are there; or what the page says after half a minute.
ROWS = """new Promise(done => {
  const rows = () => [...document.querySelectorAll("tr")].map(row => [...row.cells].map(cell => cell.innerText.trim()))
                                                         .filter(cells => cells.length === 3 && /%/.test(cells[0]));
  const look = () => { if (rows().length) done(rows()); };
  new MutationObserver(look).observe(document, {childList: true, subtree: true});
  setTimeout(() => done(document.body.innerText), 30000);
  look();
})"""


@unittest.skipIf(CHROMIUM is None, "no browser: chromium-headless-shell is not installed")
class Speedscope(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        wanted = os.path.join("speedscope", "dist", "release", "index.html")
        cls.directory = p.install_from_npm("speedscope", wanted, "--ignore-scripts")
        cls.page = os.path.join(cls.directory, "node_modules", wanted)

    def rows(self, text):
        """{function: (total, self)}, each with its last digit and its percentage."""
        script = os.path.join(tempfile.mkdtemp(dir=self.directory), "profile.js")
        with open(script, "w") as file:
            file.write(f'speedscope.loadFileFromBase64("p.json", "{base64.b64encode(text.encode()).decode()}")')
        with Browser(f"file://{self.page}#localProfilePath={script}&view=sandwich", self.directory) as browser:
            rows = browser.call("Runtime.evaluate", expression=ROWS, awaitPromise=True, returnByValue=True)["result"]["value"]
        self.assertIsInstance(rows, list, rows)
        return {name: (self.figure(total), self.figure(own)) for total, own, name in rows}

    def figure(self, text):
        """"1.20ms (4.0%)"; beside 0 and 100 % it has "(<0.01%)" and "(>99%)"."""
        value, decimals, unit, sign, percent, more = re.fullmatch(
            r"(\d+(?:\.(\d+))?)(s|ms|µs|ns) \(([<>]?)(\d+(?:\.(\d+))?)%\)", text).groups()
        return {"ns": float(value) * UNITS[unit], "off": 0.51 * UNITS[unit] / 10 ** len(decimals or ""),
                "percent": float(percent), "percent_off": 1 if sign else 0.51 / 10 ** len(more or "")}

    def compare(self, figure, ticks, report):
        self.assertAlmostEqual(figure["ns"], ticks * report["period_ns"], delta=figure["off"])
        self.assertAlmostEqual(figure["percent"], 100 * ticks / report["ticks"], delta=figure["percent_off"])

    def export(self, profile, *options):
        return subprocess.run([p.PCTALLY, "export", "--format", "speedscope", *options, profile], capture_output=True, text=True, check=True).stdout

    def test_self_times(self):
        profile = p.record([p.program("known_shares"), "0.5", "1"], "-e", p.engines()[-1]).path
        report = p.report(profile)
        rows = self.rows(self.export(profile, "--no-lines"))
        hot = max(report["rows"], key=lambda row: row["ticks"])["function"]
        for function in (hot, "share_00"):
            self.compare(rows[function][1], p.ticks_of(report, function), report)

    def test_totals_of_call_paths(self):
        p.need_call_paths(self)
        profile = p.record([p.program("known_paths"), "recursion", "0.4"], "-e", "ring", "-g").path
        report = p.report(profile)
        rows = self.rows(self.export(profile, "--no-lines"))
        for row in report["rows"]:
            if row["function"] in ("main", "recursion", "deep", "work"):
                self.compare(rows[row["function"]][0], row["total_ticks"], report)
                self.compare(rows[row["function"]][1], row["ticks"], report)


if __name__ == "__main__":
    p.main()
