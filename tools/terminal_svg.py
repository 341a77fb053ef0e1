#!/usr/bin/env python3
"""Draws what a terminal shows as an SVG picture.

    tmux capture-pane -e -p | terminal_svg.py TITLE >picture.svg

Reads lines with SGR escapes (bold, dim, reverse, the 16 colours) and draws each character in its cell.
"""
import re
import sys
from xml.sax.saxutils import escape

CELL, LINE, SIZE, MARGIN, BAR = 8.4, 18, 14, 14, 30  # pixels
PAPER, INK, TITLE = "#14171a", "#d8dce0", "#8b939c"
COLORS = ["#50565d", "#e5675c", "#7fc36f", "#e3b341", "#6ca8e8", "#c58ae0", "#5fc4c4", "#d8dce0"]
BRIGHT = ["#7b838c", "#ff8a80", "#a5e08f", "#ffd166", "#95c5ff", "#e0aef5", "#8fe3e3", "#ffffff"]
SGR = re.compile(r"\x1b\[([0-9;]*)m|\x1b[()][0-9A-B]|[\x0e\x0f]")


class Pen:
    def __init__(self):
        self.color, self.bold, self.dim, self.reverse = None, False, False, False

    def apply(self, codes):
        for code in [int(code or 0) for code in codes.split(";")]:
            if code == 0:
                self.__init__()
            elif code in (1, 2, 7):
                self.bold, self.dim, self.reverse = self.bold or code == 1, self.dim or code == 2, self.reverse or code == 7
            elif code in (22, 27, 39):
                if code == 22:
                    self.bold = self.dim = False
                elif code == 27:
                    self.reverse = False
                else:
                    self.color = None
            elif 30 <= code <= 37:
                self.color = COLORS[code - 30]
            elif 90 <= code <= 97:
                self.color = BRIGHT[code - 90]

    def key(self):
        return (self.color or INK, self.bold, self.dim, self.reverse)


def runs_of(line, pen):
    """(column, text, pen) of each stretch of one look. The pen goes on from line to line."""
    column, at, runs = 0, 0, []
    for match in [*SGR.finditer(line), None]:
        text = line[at:match.start() if match else len(line)]
        if text:
            runs.append((column, text, pen.key()))
            column += len(text)
        if match:
            at = match.end()
            if match.group(1) is not None:
                pen.apply(match.group(1))
    return runs, column


def drawn(runs, y):
    for column, text, (color, bold, dim, reverse) in runs:
        x = MARGIN + column * CELL
        width = len(text) * CELL
        if reverse:
            yield f'<rect x="{x:.1f}" y="{y - 13}" width="{width:.1f}" height="{LINE}" fill="{color}"/>'
        if not text.strip():
            continue
        style = f' fill="{PAPER if reverse else color}"' + (' font-weight="bold"' if bold else "") + (
            ' opacity="0.65"' if dim else "")
        yield (f'<text x="{x:.1f}" y="{y}" textLength="{width:.1f}" xml:space="preserve"{style}>{escape(text)}</text>')


def main():
    title = sys.argv[1] if len(sys.argv) > 1 else ""
    pen = Pen()
    lines = [runs_of(line, pen) for line in sys.stdin.read().rstrip("\n").split("\n")]
    columns = max(width for _, width in lines)
    width, height = 2 * MARGIN + columns * CELL, BAR + len(lines) * LINE + MARGIN
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" viewBox="0 0 {width:.0f} {height}" '
          f'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="{SIZE}">')
    print(f'<rect width="100%" height="100%" rx="6" fill="{PAPER}"/>')
    print(f'<text x="{MARGIN}" y="20" font-size="12" fill="{TITLE}">{escape(title)}</text>')
    for i, (runs, _) in enumerate(lines):
        for element in drawn(runs, BAR + 14 + i * LINE):
            print(element)
    print("</svg>")


if __name__ == "__main__":
    main()
