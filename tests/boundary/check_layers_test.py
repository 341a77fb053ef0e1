"""check_layers.py finds what is planted in a tree, and nothing in a sound one."""
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

CHECKER = sys.argv.pop(1)
sys.path.insert(0, str(pathlib.Path(CHECKER).parent))
sys.dont_write_bytecode = True
import check_layers

TEST = "TEST(Room, HasATest) {}\n"

class CheckLayers(unittest.TestCase):
    def check(self, files):
        with tempfile.TemporaryDirectory() as root:
            for folder in ("src", "include"):
                (pathlib.Path(root) / folder).mkdir()
            for name, text in files.items():
                path = pathlib.Path(root) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            with contextlib.redirect_stdout(io.StringIO()) as said:
                status = check_layers.main([CHECKER, root])
        return status, said.getvalue()

    def assert_found(self, name, text, line):
        status, said = self.check({name: text})
        self.assertEqual(status, 1, said)
        self.assertIn(f"{name}:{line}: ", said)

    def assert_sound(self, name, text):
        status, said = self.check({name: text})
        self.assertEqual(status, 0, said)

    def test_analysis_may_not_include_capture(self):
        self.assert_found("src/report/text.cc", '#include "report/text.h"\n#include "recorder/engine/engine.h"\n', 2)
        self.assert_found("src/object/elf/elf_file.cc", '#include "histfile/layout.h"\n', 1)

    def test_capture_may_not_include_analysis(self):
        self.assert_found("src/perf/ring.cc", '#include "object/elf/elf_file.h"\n', 1)
        self.assert_found("src/preload/entry.cc", '  #  include "profile/profile.h"\n', 1)

    def test_arrows_point_down(self):
        self.assert_found("src/histread/reader.h", '#include "profile/profile.h"\n', 1)
        self.assert_found("src/base/result.h", '#include "tick/tick.h"\n', 1)
        self.assert_sound("src/tool/report.cc", '#include "report/text.h"\n#include "histread/reader.h"\n')

    def whole_tree(self):
        """Each room includes a header of each that it may, and links it."""
        files = {"CMakeLists.txt": "\n"}
        for room, others in check_layers.ALLOWED.items():
            files[f"src/{room}/a.h"] = "#pragma once\n"
            files[f"src/{room}/a.cc"] = "".join(f'#include "{other}/a.h"\n' for other in sorted(others))
            targets = " ".join("pctally_" + other.replace("/", "_") for other in sorted(others))
            if not room.startswith("tick"):  # whose targets are made in another way
                files[f"src/{room}/CMakeLists.txt"] = f"pctally_folder({room.replace('/', '_')} CAPTURE\n  SOURCES a.cc\n  DEPENDS {targets}\n  TESTS a_test.cc)\n"
        return files

    def test_an_arrow_that_no_include_needs_is_none(self):
        files = self.whole_tree()
        self.assertEqual(self.check(files), (0, self.check({})[1]))
        files["src/perf/a.cc"] = files["src/perf/a.cc"].replace('#include "base/kernel/a.h"\n', "")
        files["src/perf/a_test.cc"] = '#include "base/kernel/a.h"\n' + TEST  # a test may look there anyhow
        status, said = self.check(files)
        self.assertEqual(status, 1, said)
        self.assertRegex(said, r"^tools/check_layers.py:\d+: perf/ includes nothing of base/kernel/, which it may\n$")
        with open(CHECKER, encoding="utf-8") as file:
            self.assertIn('"perf": ', file.read().splitlines()[int(said.split(":")[1]) - 1])

    def test_a_target_is_linked_with_what_its_room_may_include(self):
        files = self.whole_tree()
        right = files["src/perf/CMakeLists.txt"]
        for wrong, expected in ((right.replace(" pctally_base_kernel", ""), "too many: none; missing: base/kernel"),
                                (right.replace(" pctally_tick", " pctally_tick pctally_report_print"), "too many: report/print; missing: none"),
                                (right.replace(" pctally_tick", " pctally_tick pctally_gone"), "too many: gone; missing: none")):
            status, said = self.check(files | {"src/perf/CMakeLists.txt": "\n" + wrong})
            self.assertEqual((status, said), (1, f"src/perf/CMakeLists.txt:2: DEPENDS of perf are not what it may include: {expected}\n"))

    def test_tick_stands_alone(self):
        self.assert_found("src/tick/tick.cc", '#include "base/result.h"\n', 1)
        self.assert_found("src/tick/tick.cc", "#include <string.h>\n", 1)
        self.assert_sound("src/tick/tick.cc", '#include <stdint.h>\n#include "tick/region.h"\n')
        self.assert_sound("src/tick/tick_test.cc", "#include <gtest/gtest.h>\n" + TEST)

    def test_tests_may_look_further_down(self):
        self.assert_sound("src/report/text_test.cc", '#include "histfile/layout.h"\n' + TEST)
        self.assert_found("src/report/text_test.cc", '#include "recorder/engine/engine.h"\n' + TEST, 1)

    def test_what_is_for_tests_is_included_by_tests_alone(self):
        for name in ("text.cc", "text.h"):
            self.assert_found(f"src/report/{name}", '#include "report/fake_for_test.h"\n', 1)
        self.assert_sound("src/report/text_test.cc", '#include "report/fake_for_test.h"\n' + TEST)
        self.assert_sound("src/report/other_for_test.h", '#include "report/fake_for_test.h"\n')

    def test_a_source_lies_in_a_room(self):
        for name in ("text.cc", "text.h", "text_test.cc"):
            self.assert_found(f"src/{name}", TEST, 1)
        self.assert_sound("src/README.md", "\n")

    def test_a_folder_is_named_in_every_quoted_include(self):
        self.assert_found("src/report/text.cc", '#include "text.h"\n', 1)
        self.assert_found("src/utils/all.h", "\n", 1)

    def test_what_a_source_names_is_included(self):
        self.assert_found("src/report/text.cc", "#include <string>\nint text(const std::map<int, int>& words);\n", 2)
        self.assert_sound("src/report/text.cc", "#include <map>\nint text(const std::map<int, int>& words);  // no std::set\n")
        status, said = self.check({"src/report/text.h": "#pragma once\n#include <map>\n",
                                   "src/report/text.cc": '#include "report/text.h"\nint text(const std::map<int, int>& words);\n'})
        self.assertEqual(status, 0, said)

    def test_a_room_has_few_nouns(self):
        nouns = {f"src/perf/noun_{number}.{suffix}": "\n" for number in range(check_layers.MOST_NOUNS) for suffix in ("h", "cc")}
        nouns["src/perf/noun_20_test.cc"], nouns["src/perf/other_for_test.h"] = TEST, "\n"
        self.assertEqual(self.check(nouns), (0, self.check({})[1]))
        status, said = self.check(nouns | {"src/perf/one_more.cc": "\n"})
        self.assertEqual(status, 1, said)
        self.assertRegex(said, r"^src/perf:1: the room has 21 nouns, and may have 20: noun_0, .*, one_more\n$")

    def test_only_a_test_is_named_like_one(self):
        for name, text in (("change_test.h", "#pragma once\n"), ("change_test.h", TEST), ("change_test.cc", "bool test_change() { return TEST(); }\n"),
                           ("change_test.c", "\n")):
            self.assertEqual(self.check({f"src/report/{name}": text}), (1, f"src/report/{name}:1: is named like a test and is none\n"))
        for macro in ("TEST", "TEST_F", "TEST_P", "TYPED_TEST"):
            self.assert_sound("src/report/change_test.cc", f"#include <gtest/gtest.h>\n\n{macro}(Change, IsSeen) {{}}\n")

    def test_headers_make_no_circle(self):
        chain = {"src/report/a.h": '#include "report/b.h"\n', "src/report/b.h": "#pragma once\n#include \"report/c.h\"\n",
                 "src/report/c.h": "#pragma once\n", "src/report/a.cc": '#include "report/a.h"\n'}
        self.assertEqual(self.check(chain)[0], 0)
        status, said = self.check(chain | {"src/report/c.h": '#pragma once\n\n#include "report/a.h"\n'})
        self.assertEqual(status, 1)
        self.assertEqual(said, "src/report/c.h:3: closes a circle: report/a.h -> report/b.h -> report/c.h -> report/a.h\n")
        self.assert_found("src/report/own.h", '#include "report/own.h"\n', 1)

    def test_public_headers_are_c(self):
        guarded = '#ifdef __cplusplus\nextern "C" {\n#endif\nint pctally_stop(void); /* not a class */\n'
        self.assert_sound("include/pctally/pctally.h", "#include <stdint.h>\n" + guarded)
        self.assert_found("include/pctally/pctally.h", guarded + "namespace pctally {}\n", 5)
        self.assert_found("include/pctally/pctally.h", "#include <cstdint>\n", 1)

    def test_paths_in_the_first_pages_exist(self):
        for page in ("README.md", "CONTRIBUTING.md"):
            self.assertEqual(self.check({"src/perf/ring.h": "\n", page: "\n`perf/ring.h`\n"})[0], 0)
            status, said = self.check({"src/perf/ring.h": "\n", page: "\n`perf/rings.h`\n"})
            self.assertEqual((status, said), (1, f"{page}:2: src/perf/rings.h does not exist\n"))

    def test_paths_in_docs_exist(self):
        source = {"src/perf/ring.h": "\n", "src/tick/unwind/cfi.h": "\n"}
        sound = "`src/perf/ring.h`, `perf/ring`, `src/tick/unwind/`, `scripts/check`\n| before | now |\n|---|---|\n| `engine/perf_ring.h` | `perf/ring.h` |\n"
        self.assertEqual(self.check({**source, "docs/rooms.md": sound})[0], 0)
        for line in ("| `perf/ring.h` | `perf/rings.h` |", "\n`src/perf/rings.h`", "\nthe walk (`tick/unwind/walk`)", "\n`src/gone/ring.h`",
                     "\nthe period (`engine/period`)"):
            status, said = self.check({**source, "docs/rooms.md": sound + line})
            self.assertEqual(status, 1, line)
            self.assertRegex(said, "^docs/rooms.md:[56]: src/[a-z/]+(.h)? does not exist\n$")

    def test_paths_in_comments_exist(self):
        self.assert_sound("src/perf/ring.h", "// As perf/ring.h and tick.h do: https://example.org/perf/x.h\n")
        self.assert_found("src/perf/ring.h", "\nint a;  ///< see perf/rings.h\n", 2)
        self.assert_found("src/perf/ring.h", "/* A clock.\n * See (engine/period.h). */\n", 2)
        self.assert_found("src/perf/ring.h", "int a; /* see engine/period.h */\n", 1)

    def test_paths_in_comments_of_the_page_exist(self):
        header = {"src/report/statistics/interval.h": "#pragma once\n"}
        for name in ("bar.tsx", "views/bar.ts"):
            for comment in ("// As in src/report/{}.\n", "const a = 1; // report/{}\n", "/**\n * See report/{}.\n */\n", "  {{/* report/{} */}}\n"):
                page = {f"web/src/{name}": "import b from './b';\n" + comment.format("statistics/interval.h")}
                self.assertEqual(self.check(header | page)[0], 0, comment)
                page = {f"web/src/{name}": "import b from './b';\n" + comment.format("statistics.h")}
                status, said = self.check(header | page)
                self.assertEqual(status, 1, comment)
                self.assertRegex(said, rf"^web/src/{name}:[23]: src/report/statistics.h does not exist\n$")


if __name__ == "__main__":
    unittest.main()
