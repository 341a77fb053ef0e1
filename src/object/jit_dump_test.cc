#include "object/jit_dump.h"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <random>

#include "base/sanitizer.h"
#include "base/unique_fd.h"
#include "object/elf/demangle.h"

namespace pctally {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class... Values>
std::string bytes_of(Values... values) {
  std::string bytes;
  (bytes.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
  return bytes;
}

std::string head(uint32_t magic = 0x4a695444, uint32_t version = 1) {
  return bytes_of(magic, version, 40u, 62u, 0u, 7u, uint64_t{1}, uint64_t{0});
}

std::string record(uint32_t kind, uint64_t time, const std::string& body) {
  return bytes_of(kind, static_cast<uint32_t>(16 + body.size()), time) + body;
}

std::string load(uint64_t time, uint64_t address, uint64_t bytes, uint64_t index, const std::string& name) {
  return record(
      0, time,
      bytes_of(7u, 7u, address, address, bytes, index) + name + '\0' + std::string(bytes & 0xff, 'c'));
}

std::string move(uint64_t time, uint64_t from, uint64_t to, uint64_t bytes, uint64_t index) {
  return record(1, time, bytes_of(7u, 7u, to, from, to, bytes, index));
}

Result<JitDump> parsed(const std::string& bytes) {
  const UniqueFd file(memfd_create("jit-7.dump", 0));
  EXPECT_EQ(write(file.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  return JitDump::parse(file.get(), "jit-7.dump");
}

std::vector<std::string> names(const std::string& bytes, const std::vector<uint64_t>& addresses) {
  const auto dump = parsed(bytes);
  std::vector<std::string> list;
  if (!dump) return {dump.error().text};
  for (const NamedRange& range : dump->name(addresses)) list.push_back(range.function);
  return list;
}

TEST(JitDump, NamesLoadedCodeAndSkipsAllElse) {
  const std::string dump = head() + load(1, 0x1000, 0x100, 1, "first") + record(2, 2, std::string(40, 'd')) +
                           record(4, 3, std::string(24, 'u')) + record(99, 4, "") +
                           load(5, 0x2000, 0x80, 2, "second") + record(3, 6, "");
  EXPECT_THAT(names(dump, {0xfff, 0x1000, 0x10ff, 0x1100, 0x2000, 0x2080}),
              ElementsAre("[jit]", "first", "first", "[jit+0x1100]", "second", "[jit+0x2080]"));
}

TEST(JitDump, TheYoungestCodeNamesItsTextWhateverTheOrder) {
  const std::string older = load(1, 0x1000, 0x100, 1, "old"), younger = load(2, 0x1040, 0x20, 2, "new");
  for (const std::string& dump : {head() + older + younger, head() + younger + older})
    EXPECT_THAT(names(dump, {0x1000, 0x1040, 0x105f, 0x1060}), ElementsAre("old", "new", "new", "old"));
}

TEST(JitDump, CodeIsNamedWhereItWasMoved) {
  const std::string dump = head() + load(1, 0x1000, 0x100, 1, "f") + move(2, 0x1000, 0x3000, 0x100, 1) +
                           move(3, 0x1000, 0x5000, 0x100, 9);
  EXPECT_THAT(names(dump, {0x1000, 0x3010, 0x5000}), ElementsAre("f", "f", "[jit+0x3100]"));
}

TEST(JitDump, CodeThatWasMovedIsAsYoungAsTheMove) {
  const std::string dump = head() + load(1, 0x1000, 0x100, 1, "f") + load(2, 0x3000, 0x100, 2, "g") +
                           move(3, 0x1000, 0x3000, 0x100, 1);
  EXPECT_THAT(names(dump, {0x3010}), ElementsAre("f"));
}

std::string entry(uint64_t address, uint32_t line, const std::string& file) {
  return bytes_of(address, line, 0u) + file + '\0';
}

/// JIT_CODE_DEBUG_INFO: of the code that is loaded next.
std::string lines(uint64_t address, const std::vector<std::string>& entries) {
  std::string body = bytes_of(address, uint64_t{entries.size()});
  for (const std::string& one : entries) body += one;
  return record(2, 1, body);
}

/// "file:line" at each address; "-" where there is none.
std::vector<std::string> places(const std::string& bytes, const std::vector<uint64_t>& addresses) {
  const auto dump = parsed(bytes);
  std::vector<std::string> list;
  for (const std::vector<Frame>& frames : dump->frames(addresses))
    list.push_back(frames.empty() ? "-" : frames[0].file + ":" + std::to_string(frames[0].line));
  return list;
}

TEST(JitDump, HasTheLinesOfItsCode) {
  const std::string dump =
      head() + load(1, 0x3000, 0x10, 1, "bare") +
      lines(0x1000, {entry(0x1000, 7, "/src/A.java"), entry(0x1020, 9, "\xff"), entry(0x1010, 8, "B.java")}) +
      load(2, 0x1000, 0x100, 2, "f");
  EXPECT_THAT(places(dump, {0xfff, 0x1000, 0x100f, 0x1010, 0x1020, 0x10ff, 0x1100, 0x3000}),
              ElementsAre("-", "/src/A.java:7", "/src/A.java:7", "B.java:8", "/src/A.java:9", "/src/A.java:9",
                          "-", "-"));
  EXPECT_EQ(parsed(dump)->frames(std::vector<uint64_t>{0x1000})[0][0].function, "f");
}

TEST(JitDump, LinesGoWithCodeThatIsMovedAndAreOfTheYoungest) {
  const std::string f = lines(0x1000, {entry(0x1004, 7, "a.js")}) + load(1, 0x1000, 0x100, 1, "f");
  EXPECT_THAT(places(head() + f + move(2, 0x1000, 0x3000, 0x100, 1), {0x1000, 0x1004, 0x3004}),
              ElementsAre("-", "a.js:7", "a.js:7"));
  EXPECT_THAT(places(head() + f + load(3, 0x1000, 0x100, 2, "again"), {0x1004}), ElementsAre("-"));
  EXPECT_THAT(places(head() + f + lines(0x1000, {entry(0x1000, 1, "b.js")}) + load(3, 0x1000, 0x100, 2, "g"),
                     {0x1004}),
              ElementsAre("b.js:1"));
}

/// V8 adds the length of an ELF head to all addresses, and has freed the names of scripts.
TEST(JitDump, HasTheLinesOfV8) {
  const std::string name = "JS:*work /srv/my app.js:12:15", freed("\x99\x1e\0\0\x7f..........", 15);
  const auto dump_of = [&](const std::string& file) {
    return head() +
           lines(0x1000, {entry(0x1040, 13, file), entry(0x1060, 14, file), entry(0x1060, 15, file)}) +
           load(1, 0x1000, 0x100, 1, name);
  };
  EXPECT_THAT(places(dump_of(freed), {0x1000, 0x101f, 0x1020}),
              ElementsAre("/srv/my app.js:13", "/srv/my app.js:13", "/srv/my app.js:15"));
  EXPECT_THAT(places(dump_of("node:internal/util"), {0x1020}), ElementsAre("node:internal/util:15"));
  EXPECT_THAT(places(dump_of("file:///srv/a.mjs"), {0x1020}), ElementsAre("/srv/a.mjs:15"));
  const std::string other = lines(0x2000, {entry(0x2000, 1, "b.js")}) + load(2, 0x2000, 0x100, 2, "f");
  EXPECT_THAT(places(dump_of("a.js") + other, {0x1000, 0x1040, 0x2000}),
              ElementsAre("-", "a.js:13", "b.js:1"))
      << "another runtime's are what they say";
}

TEST(JitDump, HasTheBytesOfItsCode) {
  const auto code_of = [](const std::string& bytes, uint64_t start, uint64_t end) {
    const CodeBytes code = parsed(bytes)->code(start, end);
    if (!code.bytes.empty()) {
      EXPECT_EQ(code.address, start);
      EXPECT_EQ(code.machine, 62);
    }
    return std::string(code.bytes.begin(), code.bytes.end());
  };
  const std::string f = head() + load(1, 0x1000, 0x20, 1, "f"), all(0x20, 'c');
  EXPECT_EQ(code_of(f, 0x1000, 0x1020), all);
  EXPECT_EQ(code_of(f + move(2, 0x1000, 0x3000, 0x20, 1), 0x3000, 0x3020), all);
  EXPECT_EQ(code_of(f, 0x1000, 0x1010) + code_of(f, 0x1008, 0x1020) + code_of(f, 0x9000, 0x9020), "");
  EXPECT_EQ(code_of(f.substr(0, f.size() - 1), 0x1000, 0x1020), "");
  const std::string without =
      record(0, 1,
             bytes_of(7u, 7u, uint64_t{0x1000}, uint64_t{0x1000}, uint64_t{0x20}, uint64_t{1}) +
                 std::string("f\0ccc", 5));
  EXPECT_EQ(code_of(head() + without + load(2, 0x2000, 0x20, 2, "g"), 0x1000, 0x1020), "");
  EXPECT_EQ(code_of(f + move(2, 0x1000, 0x3000, 0x80, 1) + load(3, 0x5000, 0xf0, 2, "g"), 0x3000, 0x3080), "")
      << "moved more than was loaded";
}

TEST(JitDump, LinesThatAreNotWholeAreNone) {
  const std::string code = load(1, 0x1000, 0x100, 1, "f"), good = entry(0x1000, 7, "a.js");
  const auto body = [](uint64_t count, const std::string& entries) {
    return record(2, 1, bytes_of(uint64_t{0x1000}, count) + entries);
  };
  for (const std::string& bad :
       {body(2, good), body(UINT64_MAX, good), body(0, good), body(1, good + good), body(1, ""),
        record(2, 1, "short"), body(1, good.substr(0, good.size() - 1)), body(1, entry(0xfff, 7, "a.js")),
        body(1, entry(0x1000, 7, "")), body(1, entry(UINT64_MAX, 7, "a.js")),
        body(1, entry(0x1000, 0, "a.js")), body(1, entry(0x1000, UINT32_MAX, "a.js")),
        body(1, entry(0x1000, 7, "a\tb"))})
    EXPECT_THAT(places(head() + bad + code, {0x1000, 0x1008}), ElementsAre("-", "-"));
  EXPECT_THAT(places(head() + body(1, good) + code, {0x1000, 0x1008}), ElementsAre("a.js:7", "a.js:7"));
  EXPECT_THAT(places(head() + body(1, good + "pad") + code, {0x1000, 0x1008}),
              ElementsAre("a.js:7", "a.js:7"));
}

TEST(JitDump, RefusesWhatIsNone) {
  EXPECT_EQ(parsed("").error().code, ENOEXEC);
  EXPECT_EQ(parsed("1000 100 f, which is a perf map of forty bytes\n").error().code, ENOEXEC);
  EXPECT_THAT(names(head(0x4454694a), {1}), ElementsAre(HasSubstr("another byte order")));
  EXPECT_THAT(names(head(0x4a695444, 2), {1}), ElementsAre(HasSubstr("version 2; 1 is known")));
}

TEST(JitDump, DamageEndsItOrIsSkipped) {
  const std::string good = head() + load(1, 0x1000, 0x100, 1, "good");
  const std::string wraps = load(2, UINT64_MAX - 1, 0x1010, 2, "wraps");
  const std::string endless =
      record(0, 3, bytes_of(7u, 7u, uint64_t{1}, uint64_t{0x1000}, uint64_t{8}, uint64_t{3}) + "no end");
  const std::string last = load(4, 0x2000, 0x10, 4, "last");
  for (const std::string& bad : {wraps, endless, record(0, 3, ""), record(1, 3, "short"),
                                 load(3, 0x1000, 0, 3, "empty"), load(3, 0x1000, 8, 3, "")})
    EXPECT_THAT(names(good + bad + last, {0x1000, 0x2000}), ElementsAre("good", "last"));
  EXPECT_THAT(names(good + bytes_of(0u, 15u, uint64_t{1}) + last, {0x1000, 0x2000}),
              ElementsAre("good", "[jit+0x1100]"));
  for (size_t cut = 0; cut < last.size(); ++cut)
    EXPECT_EQ(names(good + last.substr(0, cut), {0x1000})[0], "good") << cut;
}

TEST(JitDump, RecordsLargerThanAPieceAreSkippedWhole) {
  const std::string large = record(4, 2, std::string(200'000, 'u'));
  const std::string name(10'000, 'n');
  EXPECT_THAT(names(head() + large + load(3, 0x1000, 8, 1, name) + large + load(4, 0x2000, 8, 2, "last"),
                    {0x1000, 0x2000}),
              ElementsAre(name.substr(0, kLongestName), "last"));
}

TEST(JitDump, AnyBytesAreRead) {
  std::mt19937 random(7);
  const std::string dump = head() + load(1, 0x1000, 0x100, 1, "f") + move(2, 0x1000, 0x3000, 0x100, 1) +
                           lines(0x2000, {entry(0x2000, 7, "a.js"), entry(0x2008, 8, "\xff")}) +
                           load(3, 0x2000, 0x20, 2, "g");
  for (int i = 0; i < (kSanitized ? 500 : 2000); ++i) {
    std::string bytes = dump;
    for (int changes = 0; changes < 4; ++changes)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    (void)names(bytes, {0x0, 0x1000, 0x3000, UINT64_MAX});
    if (const auto read = parsed(bytes))
      (void)read->frames(std::vector<uint64_t>{0, 0x2000, 0x2008, UINT64_MAX});
  }
}

}  // namespace
}  // namespace pctally
