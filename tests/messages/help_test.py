"""Help, manual page and completions of each command name the same options, and a page of help fits a screen."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import pctally_test as p

TOP = os.path.join(os.path.dirname(__file__), "..", "..")
COMMANDS = ("record", "report", "annotate", "diff", "plan", "top", "snapshot", "merge", "archive", "export", "engines", "prof", "gperf")
PAGES = {command: [command] for command in COMMANDS}  # of the manual, with what each covers
OPTION = re.compile(r"(?<![\w-])(--[a-z][\w-]*|-[a-zA-Z])\b")
USUAL = {"--help", "-h", "--"}


def text_of(*path):
    with open(os.path.join(TOP, *path)) as file:
        return file.read()


def options_of_help(command):
    """The page but for its examples and the options of other programs."""
    page = subprocess.run([p.PCTALLY, command, "--help"], capture_output=True, text=True).stdout
    lines = [line for line in page.splitlines() if not line.startswith("  pctally") and not line.startswith("  sudo")]
    body = "\n".join(line for line in lines[1:] if not line.startswith("Exit:"))
    # what stands in the column of explanations is not an option's own line
    return set(OPTION.findall(re.sub(r"\(.*?\)|https?:\S+", "", body))) - USUAL


def options_of_manual(command):
    page = text_of("man", f"pctally-{command}.1.scd").split("# OPTIONS\n")[1].split("\n# ")[0]
    terms = "\n".join(line for line in page.splitlines() if line.startswith("*-"))
    return set(re.findall(r"\*(--?[\w-]+)\*", terms)) - USUAL


def options_of_bash(command):
    words = text_of("completion", "pctally.bash").split(f"_pctally_{command}() {{")[1].split("\n}\n")[0]
    return set(re.findall(r"(?<![\w-])(--[a-z][\w-]*|-[a-zA-Z])(?=[\s'])", words.split("_pctally_words")[-1])) - USUAL


def options_of_fish(command):
    lines = [line for line in text_of("completion", "pctally.fish").splitlines() if f"-n '__pctally_is {command}'" in line]
    words = [re.findall(r" -(s|l) ([\w-]+)", line.split(" -d ")[0]) for line in lines]
    return {("-" if kind == "s" else "--") + name for pairs in words for kind, name in pairs} - USUAL


def options_of_zsh(command):
    words = text_of("completion", "_pctally").split(f"_pctally_{command}() {{")[1].split("\n}\n")[0]
    specs = [re.sub(r"[\[:].*", "", re.sub(r"^'?\([^)]*\)'?", "", line.strip().lstrip("'*"))) for line in words.splitlines()]
    return {option for spec in specs for option in re.findall(r"(?<![\w-])(--[a-z][\w-]*|-[a-zA-Z])(?![\w-])", spec)
            if not spec.startswith("_arguments")} - USUAL


class Help(unittest.TestCase):
    def test_manual_has_the_options_of_the_help(self):
        for page, commands in PAGES.items():
            with self.subTest(page):
                self.assertEqual(options_of_manual(page), set().union(*map(options_of_help, commands)))

    def test_every_command_has_a_manual_page(self):
        for command in COMMANDS:
            self.assertTrue(os.path.exists(os.path.join(TOP, "man", f"pctally-{command}.1.scd")), command)

    def test_completion_has_the_options_of_the_help(self):
        for options_of in (options_of_bash, options_of_fish, options_of_zsh):
            for command in COMMANDS:
                with self.subTest(options_of.__name__, command=command):
                    self.assertEqual(options_of(command), options_of_help(command))

    def test_fish_completes(self):
        """With fish itself: subcommands, options, their words, profiles, and the command that is recorded."""
        if not shutil.which("fish"):
            self.skipTest("fish is not installed")
        script = os.path.join(TOP, "completion", "pctally.fish")
        directory = tempfile.mkdtemp(dir=p.scratch())
        open(os.path.join(directory, "work.pct"), "w").close()
        for typed, expected in (("pctally rep", "report"), ("pctally report --so", "--sort"), ("pctally export --format ll", "llvm"),
                                ("pctally report wo", "work.pct"), ("pctally record -F 100 -- fis", "fish")):
            done = subprocess.run(["fish", "--no-config", "-c", f"source {script}; complete -C '{typed}'"], capture_output=True,
                                  text=True, cwd=directory, env={**os.environ, "HOME": directory})
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn(expected, [line.split("\t")[0] for line in done.stdout.splitlines()], typed)

    def test_bash_completes(self):
        """As above. bash takes `--by=fu` for three words."""
        script = os.path.join(TOP, "completion", "pctally.bash")
        directory = tempfile.mkdtemp(dir=p.scratch())
        open(os.path.join(directory, "work.pct"), "w").close()
        for typed, expected in (("pctally rep", "report"), ("pctally report --so", "--sort"), ("pctally report --by = fu", "function"),
                                ("pctally report --by =", "object"), ("pctally export --format ll", "llvm"), ("pctally report wo", "work.pct"),
                                ("pctally record --scope = th", "thread"), ("pctally record --frequency = 100 --sc", "--scope"),
                                ("pctally record -F 100 -- bas", "bash"), ("pctally record --for 5 bas", "bash"), ("pctally help re", "report")):
            asked = f". {script} || exit; complete -p pctally || exit; COMP_WORDS=({typed}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _pctally; " \
                    'printf "%s\\n" "${COMPREPLY[@]}"; exit 0'
            done = subprocess.run(["bash", "--norc", "-c", asked], capture_output=True, text=True, cwd=directory)
            self.assertEqual((done.returncode, done.stderr), (0, ""), typed)
            self.assertIn("complete -F _pctally pctally", done.stdout)
            self.assertIn(expected, done.stdout.splitlines()[1:], typed)

    def test_every_option_of_the_help_is_one(self):
        for command in COMMANDS:
            for option in options_of_help(command):
                done = subprocess.run([p.PCTALLY, command, option, "--help"], capture_output=True, text=True, timeout=20, cwd=p.scratch(),
                                      stdin=subprocess.DEVNULL)
                self.assertNotIn("no option", done.stderr, (command, option))

    def test_a_page_fits_a_screen(self):
        for words in (["--help"], *([command, "--help"] for command in COMMANDS)):
            lines = subprocess.run([p.PCTALLY, *words], capture_output=True, text=True).stdout.splitlines()
            self.assertLessEqual(len(lines), 26, words)
            for line in lines:
                self.assertLessEqual(len(line), 90, line)

    def test_help_is_one_page_by_every_way(self):
        for command in COMMANDS:
            pages = {subprocess.run([p.PCTALLY, *words], capture_output=True, text=True).stdout
                     for words in ([command, "--help"], ["help", command])}
            self.assertEqual(len(pages), 1)
            self.assertIn(f"  pctally {command} ", pages.pop())

    def test_without_words_help_is_printed_and_all_is_well(self):
        for words in ([], ["help"], ["-h"], ["--help"]):
            done = subprocess.run([p.PCTALLY, *words], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertTrue(done.stdout.startswith("pctally - "))

    def test_version_by_every_way(self):
        for word in ("--version", "-V", "version"):
            done = subprocess.run([p.PCTALLY, word], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertRegex(done.stdout, r"\Apctally \d+\.\d+\.\d+\n\Z")


if __name__ == "__main__":
    p.main()
