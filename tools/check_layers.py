#!/usr/bin/env python3
"""Checks the #include lines of src/ and include/ against the layers of the design.

    check_layers.py [ROOT]      prints file:line and the rule broken; exit status 1 if there is any

Capture and analysis meet at the profile file (histfile/) and nowhere else; tick/ stands alone; public headers are C.
"""
import pathlib
import re
import sys

# folder -> the folders it may include, besides itself
ALLOWED = {
    "base": set(),
    "tick": set(),
    "histfile": {"tick", "base"},
    # capture: runs in, or beside, the program
    "engine": {"histfile", "tick", "base"},
    "dialect": {"engine", "histfile", "tick", "base"},
    "preload": {"engine", "histfile", "tick", "base"},
    "library": {"dialect", "engine", "histfile", "tick", "base"},
    # analysis: runs later, anywhere
    "object": {"base"},
    "profile": {"histfile", "tick", "base"},
    "report": {"profile", "object", "base"},
    "export": {"profile", "object", "base"},
    "import": {"profile", "object", "base"},
}
ALLOWED["tool"] = set(ALLOWED)

PUBLIC_USERS = {"library", "preload", "dialect", "tool"}
TICK_SYSTEM_HEADERS = {"stdint.h"}
TICK_FILE_HEADERS = {"context.h": {"ucontext.h"}}  # where the kernel keeps the interrupted program counter
PUBLIC_SYSTEM_HEADERS = {"stddef.h", "stdint.h", "stdbool.h", "sys/types.h"}
CPLUSPLUS_ONLY = re.compile(r"\b(class|namespace|template|constexpr|noexcept|using|nullptr)\b|::")
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


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
    return "_test." in path.name or "_for_test." in path.name


def broken_source_rule(folder, path, quoted, header):
    """The rule that one include of a file in src/ breaks, or None."""
    first = header.split("/")[0]
    if first == "pctally" and folder not in PUBLIC_USERS:
        return f"{folder}/ may not include the public headers ({header})"
    if first == "pctally":
        return None
    if not quoted:
        allowed = TICK_SYSTEM_HEADERS | TICK_FILE_HEADERS.get(path.name, set())
        if folder == "tick" and not is_test(path) and header not in allowed:
            return f"tick/ may include nothing but its own headers and <stdint.h> (<{header}>)"
        return None
    if "/" not in header or first not in ALLOWED:
        return f'a quoted include names a folder of src/ ("{header}")'
    allowed = layers_below(folder) if is_test(path) else ALLOWED[folder]
    if first != folder and first not in allowed:
        return f'{folder}/ may not include {first}/ ("{header}"); allowed: {", ".join(sorted(allowed)) or "itself only"}'
    return None


def check_sources(root):
    for folder in sorted(path for path in (root / "src").iterdir() if path.is_dir()):
        files = [p for p in sorted(folder.rglob("*")) if p.suffix in {".h", ".cc", ".c", ".inc"}]
        if files and folder.name not in ALLOWED:
            yield files[0], 1, f"{folder.name}/ is not a layer of the design"
            continue
        for path in files:
            for number, quoted, header in includes(path):
                rule = broken_source_rule(folder.name, path, quoted, header)
                if rule:
                    yield path, number, rule


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


def main(arguments):
    root = pathlib.Path(arguments[1] if len(arguments) > 1 else pathlib.Path(__file__).parent.parent)
    broken = [*check_sources(root), *check_public_headers(root)]
    for path, number, rule in broken:
        print(f"{path.relative_to(root)}:{number}: {rule}")
    if not broken:
        print("layers: every include is allowed")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
