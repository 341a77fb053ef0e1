#!/usr/bin/env python3
"""Checks the #include lines of src/ and include/ against the layers of the design, and the paths in README.md, CONTRIBUTING.md, docs/ and
comments of src/ and web/src/ against the files.

    check_layers.py [ROOT]      prints file:line and the rule broken; exit status 1 if there is any
    check_layers.py --draw      prints each room: where it runs, files, lines, nouns, and the rooms it includes

A room has at most MOST_NOUNS nouns: a noun is the files of one name without suffix (x.h, x.cc), tests aside. A test is x_test.cc, with
GoogleTest's TEST in it, or x_for_test.h: many rules leave tests out, and other files may not be named like one.

A source that names a class of the C++ library (NAMED_HEADERS) includes its header, itself or by headers of ours. Builds with tests have
precompiled headers and would not miss it; those of users have none.

An allowed arrow that no include of the room needs is reported, too, and a target whose DEPENDS in CMake are not the rooms allowed to it:
both in a whole tree alone, one with a CMakeLists.txt.

Capture and analysis meet at the profile file (histfile/) and nowhere else; tick/ stands alone; public headers are C; no headers include
each other.
"""
import pathlib
import re
import sys

# room -> the rooms it may include, besides itself. A room is a folder of src/, or a folder in it that is named here.
ALLOWED = {
    "base": set(),
    "base/kernel": {"base"},
    "base/file": {"base"},
    "tick/unwind": set(),
    "tick": {"tick/unwind"},
    "histfile": {"tick", "base/file", "base/kernel", "base"},
    "monfile": {"base/file"},  # the layout of the bytes
    "monfile/write": {"monfile", "tick", "base/file", "base"},
    # in the program: libc alone
    "fault": {"histfile", "tick", "base"},
    "clock": {"fault", "histfile", "tick", "base/file", "base/kernel", "base"},
    "process": {"histfile", "tick", "base/file", "base/kernel", "base"},
    "dialect": {"clock", "fault", "process", "histfile", "tick", "base/file", "base"},
    "dialect/monitor": {"dialect", "monfile/write", "monfile", "tick", "base/file", "base"},
    "dialect/n64": {"dialect", "tick", "histfile", "base/file", "base"},
    "library": {"dialect", "clock", "fault", "process", "histfile", "tick", "base/file", "base/kernel", "base"},
    "preload": {"clock", "fault", "process", "histfile", "base/kernel", "base"},
    # beside the program
    "perf": {"tick", "base/file", "base/kernel", "base"},
    "bpf": {"perf", "tick/unwind", "base/file", "base/kernel", "base"},
    "path": {"process", "histfile", "tick/unwind", "base/file", "base/kernel", "base"},
    "task": {"perf", "path", "process", "histfile", "tick/unwind", "tick", "base/file", "base/kernel", "base"},
    "recorder/engine": {"task", "perf", "bpf", "path", "clock", "process", "histfile", "tick", "base/kernel", "base"},
    "recorder": {"recorder/engine", "perf", "fault", "histfile", "base/file", "base/kernel", "base"},
    # analysis: runs later, anywhere
    "histread": {"histfile", "tick/unwind", "tick", "base/file", "base"},
    "monfile/read": {"monfile", "base"},
    "object/elf": {"base/file", "base"},
    "object/dwarf": {"object/elf", "base/file", "base"},
    "object/kernel": {"object/elf", "base/file", "base/kernel", "base"},
    "object": {"object/elf", "object/dwarf", "object/kernel", "base/file", "base/kernel", "base"},
    "names": {"object", "object/elf", "histfile", "base/file", "base"},
    "profile": {"histread", "histfile", "tick/unwind", "tick", "base"},
    "report/names": {"profile", "object", "object/elf", "base"},
    "report/print": set(),
    "report/statistics": set(),
    "report/account": {"report/statistics", "profile", "base", "report/print"},
    "report": {"report/account", "report/names", "report/statistics", "profile", "base", "report/print"},
    "report/live": {"report/names", "report/print", "report/account", "report", "profile", "base"},
    "report/prof": {"report/print", "monfile/read", "object/elf"},
    "report/paths": {"report/names", "report/statistics", "report/print", "report/account", "report", "profile", "base"},
    "report/diff": {"report/names", "report/statistics", "report/print", "report/account", "report", "profile", "object", "base", "base/file"},
    "report/annotate": {"report/names", "report/statistics", "report/print", "report/account", "report", "profile", "object/elf", "base/file", "base"},
    "report/html": {"report/names", "report/print", "report", "report/annotate", "report/diff", "report/paths", "profile", "base"},
    "import": {"profile", "object", "object/elf", "base/file", "base"},
    "export": {"monfile", "report/names", "report/print", "report/account", "report", "report/annotate", "report/paths", "profile", "object", "object/elf", "base"},
    "tool/terminal": {"recorder", "report/print", "base/file", "base"},
    "tool": {"tool/terminal", "recorder", "recorder/engine", "perf", "export", "import", "report/html", "report/annotate", "report/diff", "report/paths", "report", "report/account", "report/names", "report/print", "names", "profile", "object", "object/kernel", "histread", "histfile", "base/file", "base"},
    "tool/archive": {"tool", "tool/terminal", "report", "report/annotate", "report/names", "names", "profile", "histread", "histfile", "base", "report/print"},
    "tool/gperf": {"tool", "tool/terminal", "object", "object/elf", "dialect/n64", "process", "base", "report/print"},
    "tool/prof": {"tool", "tool/terminal", "report/prof", "profile", "monfile/read", "object/elf", "base"},
    "tool/record": {"tool", "tool/terminal", "recorder", "task", "perf", "report/account", "report/names", "profile", "histread", "object", "object/elf", "base", "report/print", "recorder/engine"},
    "tool/top": {"tool", "tool/terminal", "report/live", "report/paths", "report", "profile", "histread", "histfile", "base", "base/file", "report/print"},
}
MOST_NOUNS = 20
IN_PROGRAM = ("base", "base/kernel", "base/file", "tick/unwind", "tick", "histfile", "monfile", "monfile/write", "fault", "clock", "process", "dialect", "dialect/monitor",
              "dialect/n64", "library", "preload")

PUBLIC_USERS = {"library", "preload", "dialect", "tool"}
TICK_SYSTEM_HEADERS = {"stdint.h"}
TICK_FILE_HEADERS = {"context.h": {"signal.h"}}  # where the kernel keeps the interrupted program counter
PUBLIC_SYSTEM_HEADERS = {"stddef.h", "stdint.h", "stdbool.h", "sys/types.h"}
CPLUSPLUS_ONLY = re.compile(r"\b(class|namespace|template|constexpr|noexcept|using|nullptr)\b|::")
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
TEST_CASE = re.compile(r"^(TYPED_)?TEST(_[FP])?\(", re.M)
CODE_WORD = re.compile(r"`([\w./-]+)`")
COMMENT = re.compile(r"(//|/\*|^\s*\*).*")
SOURCE_PATH = re.compile(r"(?<![\w./-])(?:src/)?(\w+)/[\w./-]*\w\.(?:h|cc|c)\b")
FOLDER = re.compile(r"\bpctally_folder\((\w+)([^)]*)\)")
OLD_ROOMS = {"engine"}  # what still names a file there is out of date


# name behind std:: -> its header, for what other headers of the library rarely bring along
NAMED_HEADERS = {"map": "map", "multimap": "map", "set": "set", "multiset": "set", "unordered_map": "unordered_map",
                 "unordered_set": "unordered_set", "optional": "optional", "nullopt": "optional", "variant": "variant",
                 "function": "functional", "not_fn": "functional", "array": "array", "deque": "deque", "vector": "vector", "span": "span",
                 "unique_ptr": "memory", "make_unique": "memory", "shared_ptr": "memory", "istringstream": "sstream",
                 "ostringstream": "sstream", "mutex": "mutex", "thread": "thread", "atomic": "atomic", "expected": "expected"}
NAMED = re.compile(r"\bstd::(" + "|".join(NAMED_HEADERS) + r")\b")


def room_of(path):
    """The room of a path below src/: the longest of its folders that is a room."""
    folders = path.split("/")[:-1]
    for length in range(len(folders), 0, -1):
        room = "/".join(folders[:length])
        if room in ALLOWED:
            return room
    return folders[0] if folders else ""


def layers_below(folder):
    """Everything that can be reached from a folder by allowed includes."""
    below, pending = set(), [folder]
    while pending:
        for other in ALLOWED[pending.pop()] - below:
            below.add(other)
            pending.append(other)
    return below


def includes(path):
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1) == '"', match.group(2)


def is_test(path):
    return "_test." in path.name


def only_named_like_a_test(path):
    return is_test(path) and "_for_test." not in path.name and (path.suffix != ".cc" or not TEST_CASE.search(path.read_text(errors="replace")))


def broken_source_rule(folder, path, quoted, header):
    """The rule that one include of a file in src/ breaks, or None."""
    first = header.split("/")[0]
    if first == "pctally" and folder.split("/")[0] not in PUBLIC_USERS:
        return f"{folder}/ may not include the public headers ({header})"
    if first == "pctally":
        return None
    if not quoted:
        allowed = TICK_SYSTEM_HEADERS | TICK_FILE_HEADERS.get(path.name, set())
        if folder.startswith("tick") and not is_test(path) and header not in allowed:
            return f"tick/ may include nothing but its own headers and <stdint.h> (<{header}>)"
        return None
    if "_test." in header and not is_test(path):
        return f'what is for tests alone is included by tests alone ("{header}")'
    room = room_of(header)
    if room not in ALLOWED:
        return f'a quoted include names a folder of src/ ("{header}")'
    whole = folder.split("/")[0]  # a test of one of its rooms may include them all
    allowed = layers_below(folder) | layers_below(whole) | {whole} if is_test(path) else ALLOWED[folder]
    if room != folder and room not in allowed:
        return f'{folder}/ may not include {room}/ ("{header}"); allowed: {", ".join(sorted(allowed)) or "itself only"}'
    return None


def check_sources(root):
    for path in sorted(path for path in (root / "src").glob("*") if path.suffix in {".h", ".cc", ".c", ".inc"}):
        yield path, 1, "a source lies in a room, and not beside them"
    for folder in sorted(path for path in (root / "src").iterdir() if path.is_dir()):
        files = [p for p in sorted(folder.rglob("*")) if p.suffix in {".h", ".cc", ".c", ".inc"}]
        if files and not any(room.split("/")[0] == folder.name for room in ALLOWED):
            yield files[0], 1, f"{folder.name}/ is not a layer of the design"
            continue
        for path in files:
            room = room_of(str(path.relative_to(root / "src")))
            if only_named_like_a_test(path):
                yield path, 1, "is named like a test and is none"
            for number, quoted, header in includes(path):
                rule = broken_source_rule(room, path, quoted, header)
                if rule:
                    yield path, number, rule


def line_of_arrows(room):
    own = pathlib.Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(own, 1) if line.startswith(f'    "{room}": '))


def check_unused_arrows(root):
    used = {room: set() for room in ALLOWED}
    for path in (root / "src").rglob("*"):
        room = room_of(str(path.relative_to(root / "src")))
        if path.suffix in {".h", ".cc", ".c", ".inc"} and not is_test(path) and room in used:
            used[room] |= {room_of(header) for _, quoted, header in includes(path) if quoted}
    for room, allowed in ALLOWED.items():
        for other in sorted(allowed - used[room]):
            yield root / "tools/check_layers.py", line_of_arrows(room), f"{room}/ includes nothing of {other}/, which it may"


def check_linked(root):
    """pctally_folder(NAME ... DEPENDS ...) links the targets of exactly the rooms that NAME may include; a room of
    headers alone has no target."""
    rooms = {room.replace("/", "_"): room for room in ALLOWED}
    folders = [(path, text.count("\n", 0, match.start()) + 1, *match.groups()) for path in sorted((root / "src").rglob("CMakeLists.txt"))
               for text in [path.read_text()] for match in FOLDER.finditer(text)]
    targets = {rooms.get(name) for _, _, name, _ in folders} | {"tick", "tick/unwind"}
    for path, number, name, words in folders:
        depends = re.search(r"\bDEPENDS\b(.*?)(?:\bTESTS\b|$)", words, re.DOTALL)
        linked = {rooms.get(target, target) for target in re.findall(r"\bpctally_(\w+)", depends.group(1) if depends else "")}
        wanted = ALLOWED.get(rooms.get(name), set()) & targets
        if linked != wanted:
            yield path, number, (f"DEPENDS of {name} are not what it may include: too many: {', '.join(sorted(linked - wanted)) or 'none'}; "
                                 f"missing: {', '.join(sorted(wanted - linked)) or 'none'}")


def check_named_headers(root):
    source, known = root / "src", {}

    def brought(path):
        if path not in known:
            known[path] = set()
            for _, _, header in includes(path):
                ours = next((place / header for place in (source, root / "include") if (place / header).is_file()), None)
                known[path] |= brought(ours) if ours else {header}
        return known[path]

    for path in sorted(p for p in source.rglob("*") if p.suffix in {".h", ".cc"} and not is_test(p)):
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            missing = [name for name in NAMED.findall(line.split("//")[0]) if NAMED_HEADERS[name] not in brought(path)]
            if missing:
                yield path, number, f"std::{missing[0]} needs #include <{NAMED_HEADERS[missing[0]]}>"


def check_circles(root):
    """Headers that include each other, in a room or across rooms: the line that closes each circle."""
    source = root / "src"
    arrows = {str(path.relative_to(source)): [(path, number, header) for number, quoted, header in includes(path) if quoted]
              for path in sorted(source.rglob("*.h"))}
    done, chain = set(), []

    def visit(header):
        chain.append(header)
        for path, number, other in arrows.get(header, []):
            if other in chain:
                yield path, number, "closes a circle: " + " -> ".join([*chain[chain.index(other):], other])
            elif other not in done:
                yield from visit(other)
        done.add(chain.pop())

    for header in arrows:
        if header not in done:
            yield from visit(header)


def outside_cplusplus_guards(text):
    """The numbered lines of a header that a C compiler sees, without comments."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", lambda comment: re.sub(r"[^\n]", " ", comment.group()), text, flags=re.DOTALL)
    hidden = []  # one entry per open #if: does it hide its lines from C?
    for number, line in enumerate(text.splitlines(), 1):
        directive = re.match(r"\s*#\s*(if\w*|else|elif|endif)\b(.*)", line)
        if not directive:
            if not any(hidden):
                yield number, line
        elif directive.group(1).startswith("if"):
            hidden.append("__cplusplus" in directive.group(2) and directive.group(1) != "ifndef")
        elif directive.group(1) == "endif" and hidden:
            hidden.pop()
        elif hidden:
            hidden[-1] = False


def check_public_headers(root):
    for path in sorted((root / "include").rglob("*.h")):
        compat = "compat" in path.parts  # stands for a system's own header, and includes what that does
        for number, quoted, header in includes(path):
            if header.startswith("pctally/") or header in PUBLIC_SYSTEM_HEADERS or compat:
                continue
            yield path, number, f"a public header includes C's own headers only ({header})"
        for number, line in outside_cplusplus_guards(path.read_text(errors="replace")):
            match = CPLUSPLUS_ONLY.search(line)
            if match:
                yield path, number, f"a public header is C ({match.group().strip()})"


def rooms_ever(root):
    return {path.name for path in (root / "src").iterdir() if path.is_dir()} | OLD_ROOMS


def exists(root, path):
    return (root / "src" / path).exists() or any((root / "src").glob(path + ".*"))


def missing_paths(root, page):
    """The paths of files and folders of src/ that a page names in code quotes and that do not exist. The suffix may be left out; the first
    column of a table "before | now" names what was."""
    rooms = rooms_ever(root)
    moves = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        moves = line.startswith("|") and (moves or line.startswith("| before | now |"))
        words = CODE_WORD.findall(line.split("|", 2)[2] if moves else line)
        paths = {word.removeprefix("src/").rstrip("/") for word in words if word.startswith("src/") or ("/" in word and word.split("/")[0] in rooms)}
        for path in sorted(paths):
            if not exists(root, path):
                yield number, path


def check_paths_in_docs(root):
    pages = [root / name for name in ("README.md", "CONTRIBUTING.md") if (root / name).exists()]
    for page in pages + sorted((root / "docs").rglob("*.md")):
        for number, path in missing_paths(root, page):
            yield page, number, f"src/{path} does not exist"


def check_paths_in_comments(root):
    rooms = rooms_ever(root)
    sources = [path for path in (root / "src").rglob("*") if path.suffix in {".h", ".cc", ".c"}]
    sources += [path for path in (root / "web/src").rglob("*") if path.suffix in {".ts", ".tsx"}]
    for source in sorted(sources):
        for number, line in enumerate(source.read_text(errors="replace").splitlines(), 1):
            comment = COMMENT.search(line)
            for match in SOURCE_PATH.finditer(comment.group() if comment else ""):
                path = match.group().removeprefix("src/")
                if match.group(1) in rooms and not exists(root, path):
                    yield source, number, f"src/{path} does not exist"


def sizes(root):
    """The size of each room, and the rooms that its files really include."""
    rooms = {}
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in {".h", ".cc", ".c"} or "testdata" in path.parts:
            continue
        room = rooms.setdefault(room_of(str(path.relative_to(root / "src"))),
                                {"nouns": set(), "lines": 0, "tests": 0, "longest": 0, "arrows": set()})
        lines = len(path.read_text(errors="replace").splitlines())
        if is_test(path):
            room["tests"] += lines
            continue
        room["nouns"].add(re.sub(r"\.bpf$", "", path.stem))
        room["lines"] += lines
        room["longest"] = max(room["longest"], lines)
        room["arrows"] |= {room_of(header) for _, quoted, header in includes(path) if quoted}
    return rooms


def check_nouns(root):
    for name, room in sizes(root).items():
        if len(room["nouns"]) > MOST_NOUNS:
            yield root / "src" / name, 1, f"the room has {len(room['nouns'])} nouns, and may have {MOST_NOUNS}: {', '.join(sorted(room['nouns']))}"


def draw(root):
    rooms = sizes(root)
    print(f"{'room':16} {'runs':11} {'nouns':>5} {'lines':>6} {'tests':>6} {'longest':>7}  includes")
    for name in sorted(rooms, key=lambda name: list(ALLOWED).index(name)):
        room = rooms[name]
        where = "in program" if name in IN_PROGRAM else "recorder" if name in {"perf", "bpf", "path", "task", "recorder/engine", "recorder"} else "later"
        arrows = " ".join(sorted(room["arrows"] - {name, "pctally", ""}))
        print(f"{name:16} {where:11} {len(room['nouns']):5} {room['lines']:6} {room['tests']:6} {room['longest']:7}  {arrows}")
    return 0


def main(arguments):
    if arguments[1:2] in (["--help"], ["-h"]):
        print(__doc__.strip())
        return 0
    if arguments[1:2] == ["--draw"]:
        return draw(pathlib.Path(__file__).parent.parent)
    root = pathlib.Path(arguments[1] if len(arguments) > 1 else pathlib.Path(__file__).parent.parent)
    broken = [*check_sources(root), *check_named_headers(root), *check_circles(root), *check_public_headers(root), *check_paths_in_docs(root),
              *check_paths_in_comments(root), *check_nouns(root)]
    if (root / "CMakeLists.txt").exists():
        broken += [*check_unused_arrows(root), *check_linked(root)]
    for path, number, rule in broken:
        print(f"{path.relative_to(root)}:{number}: {rule}")
    if not broken:
        print(f"layers: every include is allowed and linked, none is missing, none closes a circle, no arrow is unused, every path in pages and in comments exists, nothing else is named like a test, no room has over {MOST_NOUNS} nouns")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
