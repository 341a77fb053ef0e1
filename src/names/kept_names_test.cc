#include "names/kept_names.h"

#include <gtest/gtest.h>
#include <stdio.h>

#include "names/names_writer.h"

namespace pctally {
namespace {

const ExecutableIdentity kBinary{.path = "/bin/a", .build_id = {1}};

/// An executable that has "static" where there is no name in its own symbol table, and counts what
/// it is asked.
class Executable : public Symbolizer {
 public:
  explicit Executable(int* asked, bool has_debug_file = true)
      : asked_(asked), has_debug_file_(has_debug_file) {}
  [[nodiscard]] const std::string& object_name() const override { return object_; }
  [[nodiscard]] const std::string& problem() const override { return object_; }
  std::vector<NamedRange> find_names(std::span<const uint64_t> positions) override {
    *asked_ += static_cast<int>(positions.size());
    return std::vector<NamedRange>(positions.size(), {"static", 0x200, 0x300});
  }
  [[nodiscard]] bool has_other_names() override { return has_debug_file_; }
  std::vector<std::vector<Frame>> find_frames(std::span<const uint64_t> positions) override {
    *asked_ += static_cast<int>(positions.size());
    return std::vector<std::vector<Frame>>(positions.size(), {{"here", "a.c", 1}});
  }
  SourceDigests digests(std::span<const uint64_t> positions) override {
    *asked_ += static_cast<int>(positions.size());
    return {};
  }
  [[nodiscard]] std::optional<uid_t> owner() const override { return kOwner; }
  static constexpr uid_t kOwner = 5;

 private:
  int* asked_;
  bool has_debug_file_;
  std::string object_ = "a";
};

class Kept : public testing::Test {
 protected:
  using Names = std::vector<std::pair<uint64_t, NamedRange>>;

  static std::vector<unsigned char> section(const Names& names,
                                            const ExecutableIdentity& identity = kBinary) {
    NamesWriter writer;
    writer.add_object(identity, {.machine = 62});
    std::vector<uint64_t> positions;
    std::vector<NamedRange> ranges;
    for (const auto& [position, range] : names) {
      positions.push_back(position);
      ranges.push_back(range);
    }
    writer.add_ranges(positions, ranges);
    return writer.bytes().value();
  }
  std::unique_ptr<Symbolizer> open(const ExecutableIdentity& identity = kBinary) {
    return names_.open(identity,
                       [this](const ExecutableIdentity&) { return std::make_unique<Executable>(&asked_); });
  }
  std::string name_at(uint64_t position) { return open()->name(std::vector{position})[0].function; }

  KeptNames names_;
  int asked_ = 0;
};

TEST_F(Kept, AreThoseThatWereWrittenAndNobodyIsAsked) {
  const NamedRange f{"f()", 0x100, 0x200, "_Zf", 0x1100};
  ASSERT_TRUE(names_.add(section({{0x110, f}, {0x130, f}})));
  const std::vector<NamedRange> found = open()->name(std::vector<uint64_t>{0x110, 0x130});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1].function, "f()");
  EXPECT_EQ(found[1].linkage, "_Zf");
  EXPECT_EQ(found[1].start, 0x100u);
  EXPECT_EQ(found[1].end, 0x200u);
  EXPECT_EQ(found[1].address, 0x1100u);
  EXPECT_EQ(asked_, 0);
  EXPECT_EQ(open()->object_name(), "a");
  EXPECT_EQ(open()->problem(), "");
}

/// A function inside another one: each position keeps the name that it was given.
TEST_F(Kept, AreExactWhereFunctionsOverlap) {
  const NamedRange outer{"outer", 0x100, 0x200}, inner{"inner", 0x140, 0x150};
  ASSERT_TRUE(names_.add(section({{0x110, outer}, {0x145, inner}, {0x190, outer}})));
  EXPECT_EQ(name_at(0x110), "outer");
  EXPECT_EQ(name_at(0x145), "inner");
  EXPECT_EQ(name_at(0x190), "outer");
  EXPECT_EQ(asked_, 0);
}

/// Between the last hit before a function inside it and the next hit behind that nobody knows.
TEST_F(Kept, GoNoFurtherThanTheNextHit) {
  const NamedRange outer{"outer", 0x100, 0x200}, inner{"inner", 0x140, 0x150};
  ASSERT_TRUE(names_.add(section({{0x110, outer}, {0x145, inner}})));
  EXPECT_EQ(name_at(0x130), "outer");
  EXPECT_EQ(name_at(0x160), "static");
  EXPECT_EQ(asked_, 1);
}

TEST_F(Kept, StartNoEarlierThanTheRangeBeforeEnds) {
  ASSERT_TRUE(names_.add(section({{0x110, {"first", 0x100, 0x180}}, {0x190, {"second", 0x150, 0x200}}})));
  EXPECT_EQ(name_at(0x160), "first");
  EXPECT_EQ(name_at(0x185), "second");
}

/// Whoever has hit a place knows its name better than who has hit others of the function.
TEST_F(Kept, OfSeveralFilesAreThoseThatHitThePlace) {
  const auto one = section({{0x150, {"outer", 0x100, 0x200}}}),
             other = section({{0x145, {"inner", 0x140, 0x160}}});
  for (const bool turned : {false, true}) {
    names_ = KeptNames();
    ASSERT_TRUE(names_.add(turned ? other : one) && names_.add(turned ? one : other));
    EXPECT_EQ(name_at(0x150), "outer");
    EXPECT_EQ(name_at(0x151), "inner");
  }
}

/// One file is of the stripped build.
TEST_F(Kept, OfSeveralFilesAreThoseWithAName) {
  ASSERT_TRUE(names_.add(section({{0x150, {"[a+0x100]", 0x100, 0x200}}})));
  ASSERT_TRUE(names_.add(section({{0x110, {"f", 0x100, 0x200}}})));
  EXPECT_EQ(name_at(0x150), "f");
}

TEST_F(Kept, AddressesAreThoseOfTheirRanges) {
  ASSERT_TRUE(names_.add(section({{0x110, {"f", 0x100, 0x200, "", 0x1100}}})));
  EXPECT_EQ(open()->position(0x1130), 0x130u);
}

/// As of a boot that is not known, which is written as zeros.
TEST_F(Kept, OfAnUnknownBootAreFoundWithoutOne) {
  ExecutableIdentity kernel{.kind = ExecutableIdentity::Kind::kKernel, .path = "[kernel]"};
  ASSERT_TRUE(names_.add(section({{0x110, {"f", 0x100, 0x200}}}, kernel)));
  kernel.boot_id.assign(16, 0);
  EXPECT_NE(open(kernel), nullptr);
}

TEST_F(Kept, OfSeveralFilesDoNotDependOnTheirOrder) {
  const NamedRange outer{"outer", 0x100, 0x200}, inner{"inner", 0x140, 0x150};
  const auto one = section({{0x110, outer}, {0x190, outer}}), other = section({{0x145, inner}});
  ASSERT_TRUE(names_.add(one) && names_.add(other));
  EXPECT_EQ(name_at(0x145), "inner");
  names_ = KeptNames();
  ASSERT_TRUE(names_.add(other) && names_.add(one));
  EXPECT_EQ(name_at(0x145), "inner");
  EXPECT_EQ(name_at(0x190), "outer");
}

TEST_F(Kept, LeaveToTheExecutableWhatTheyDoNotHave) {
  ASSERT_TRUE(names_.add(section({{0x110, {"f", 0x100, 0x140}}})));
  EXPECT_EQ(name_at(0x250), "static");
  EXPECT_EQ(asked_, 1);
  const auto symbolizer = open();
  EXPECT_EQ(symbolizer->frames(std::vector<uint64_t>{0x110})[0][0].function, "here");
  EXPECT_EQ(symbolizer->line_problem(), "a");
  EXPECT_EQ(symbolizer->problem(), "");  // all names are here
  symbolizer->name(std::vector<uint64_t>{0x250});
  EXPECT_EQ(symbolizer->problem(), "a");
}

TEST_F(Kept, CodeThatIsMissingMissesNoName) {
  ASSERT_TRUE(names_.add(section({{0x110, {"f", 0x100, 0x140}}})));
  const auto symbolizer = open();
  symbolizer->name(std::vector<uint64_t>{0x110});
  EXPECT_EQ(symbolizer->code_problem(), "");
  symbolizer->code(0x100, 0x140);
  EXPECT_EQ(symbolizer->code_problem(), "a");
  EXPECT_EQ(symbolizer->problem(), "");
}

/// Text without a name keeps its row where the executable is gone, and gets a name where there is one now.
TEST_F(Kept, GiveWayToABetterNameOfTheExecutable) {
  ASSERT_TRUE(names_.add(section({{0x210, {"[a+0x200]", 0x200, 0x240}}})));
  EXPECT_EQ(name_at(0x210), "static");
  const auto gone = names_.open(kBinary, &Symbolizer::open);
  EXPECT_EQ(gone->name(std::vector<uint64_t>{0x210})[0].function, "[a+0x200]");
  EXPECT_EQ(gone->problem(), "");
}

/// The executable alone has no name now that it had not when it ran.
TEST_F(Kept, AreAllThereIsWhereNoDebugFileHasCome) {
  ASSERT_TRUE(names_.add(section({{0x210, {"[a+0x200]", 0x200, 0x240}}})));
  const auto symbolizer = names_.open(
      kBinary, [this](const ExecutableIdentity&) { return std::make_unique<Executable>(&asked_, false); });
  EXPECT_EQ(symbolizer->name(std::vector<uint64_t>{0x210})[0].function, "[a+0x200]");
  EXPECT_EQ(asked_, 0);
  EXPECT_EQ(symbolizer->name(std::vector<uint64_t>{0x110, 0x210})[0].function, "static");
  EXPECT_EQ(asked_, 2);
}

TEST_F(Kept, AreOfOneBuildAndOneBootAlone) {
  const NamedRange f{"f", 0x100, 0x200};
  ExecutableIdentity kernel{.kind = ExecutableIdentity::Kind::kKernel, .path = "[kernel]"};
  kernel.boot_id.assign(16, 7);
  ASSERT_TRUE(names_.add(section({{0x110, f}})) && names_.add(section({{0x110, f}}, kernel)));
  ExecutableIdentity other = kBinary;
  other.build_id = {2};
  EXPECT_EQ(open(other), nullptr);
  EXPECT_NE(open(kernel), nullptr);
  kernel.boot_id.assign(16, 8);
  EXPECT_EQ(open(kernel), nullptr);
}

struct Place {
  uint64_t position;
  uint32_t bytes;
  std::vector<Frame> frames;
};

/// An archive: function f with its code, and places of a line each.
std::vector<unsigned char> archive(const std::vector<Place>& places, const std::vector<uint8_t>& code,
                                   const char* source = "text",
                                   const ExecutableIdentity& identity = kBinary) {
  NamesWriter writer;
  const std::vector<uint64_t> hits{places.front().position};
  const std::vector<NamedRange> ranges{{"f", 0x100, 0x200}};
  writer.add_object(identity, {.machine = 62, .changed_unix_ns = 5});
  writer.add_ranges(hits, ranges);
  writer.add_code({{{0x100, 0x200}, {.bytes = {reinterpret_cast<const char*>(code.data()), code.size()}}}});
  for (const Place& place : places) writer.add_place(place.position, place.bytes, place.frames);
  writer.add_source("a.c", source, 7);
  return writer.bytes().value();
}

std::vector<Frame> line(uint32_t number) { return {{"f", "a.c", number}}; }

/// "100+4:1 ": position, bytes and line of each place.
std::string text_of(const KeptParts& parts) {
  std::string text;
  for (const Piece<KeptLines>& place : parts.places) {
    char one[64];
    snprintf(one, sizeof one, "%llx+%u:%u ", static_cast<unsigned long long>(place.first),
             static_cast<uint32_t>(place.end - place.first), place.value.frames()[0].line);
    text += one;
  }
  return text;
}

TEST(KeptParts, OfArchivesAreEachBytesGreatestAnswerInAnyOrder) {
  const auto one = archive({{0x100, 4, line(1)}, {0x104, 4, line(2)}}, {1, 2, 3});
  const auto other = archive({{0x102, 4, line(3)}, {0x110, 2, line(4)}}, {1, 2, 3, 4}, "zzzz");
  for (const bool turned : {false, true}) {
    KeptNames names;
    ASSERT_TRUE(names.add(turned ? other : one) && names.add(turned ? one : other));
    const KeptParts parts = names.parts(kBinary);
    EXPECT_EQ(text_of(parts), "100+2:1 102+2:3 104+2:3 106+2:2 110+2:4 ");
    EXPECT_EQ(parts.code.at({0x100, 0x200}).bytes, "\1\2\3\4");
    EXPECT_EQ(parts.positions, (std::vector<uint64_t>{0x100, 0x102}));
  }
}

/// An archive of a build with symbols, and one of the same build, stripped: there a function ends later.
TEST(KeptParts, KeepTheCodeOfEachOfTwoFunctionsWithOneStart) {
  const auto function = [](const char* name, uint64_t end) {
    NamesWriter writer;
    writer.add_object(kBinary, {.machine = 62});
    const std::vector<uint64_t> hits{0x104};
    const std::vector<NamedRange> ranges{{name, 0x100, end}};
    writer.add_ranges(hits, ranges);
    writer.add_code({{{0x100, end}, {.bytes = std::string(end - 0x100, 1)}}});
    return writer.bytes().value();
  };
  KeptNames names;
  ASSERT_TRUE(names.add(function("f", 0x110)) && names.add(function("[a+0x100]", 0x120)));
  const KeptParts parts = names.parts(kBinary);
  ASSERT_EQ(parts.code.size(), 2u);
  EXPECT_EQ(parts.code.at({0x100, 0x110}).bytes.size(), 0x10u);
  EXPECT_EQ(parts.code.at({0x100, 0x120}).bytes.size(), 0x20u);
  const auto symbolizer = names.open(kBinary, &Symbolizer::open);
  EXPECT_EQ(symbolizer->code(0x100, 0x110).bytes.size(), 0x10u);
  EXPECT_EQ(symbolizer->code(0x100, 0x120).bytes.size(), 0x20u);
  EXPECT_TRUE(symbolizer->code(0x100, 0x130).bytes.empty()) << "the beginning of a function is not its code";
}

/// Another function may have taken the place of what was made at run time, and may be shorter.
TEST(KeptParts, OfAJitAreNoCodeOfAShorterFunction) {
  const ExecutableIdentity jit{.kind = ExecutableIdentity::Kind::kPrivate, .path = "[jit]", .owner = 9};
  for (const ExecutableIdentity& identity : {kBinary, jit}) {
    KeptNames names;
    ASSERT_TRUE(names.add(archive({{0x100, 4, line(1)}}, {1, 2, 3}, "text", identity)));
    const auto symbolizer = names.open(identity, &Symbolizer::open);
    EXPECT_EQ(symbolizer->code(0x100, 0x200).bytes, (std::vector<uint8_t>{1, 2, 3}));
    EXPECT_EQ(symbolizer->code(0x100, 0x102).bytes.empty(), identity.path == "[jit]");
  }
}

TEST(KeptParts, OfSeveralFunctionsWithOneStartTheShortestHasTheCode) {
  NamesWriter writer;
  writer.add_object(kBinary, {.machine = 62});
  const std::vector<uint64_t> hits{0x104, 0x118};
  const std::vector<NamedRange> ranges{{"f", 0x100, 0x110}, {"outer", 0x100, 0x120}};
  writer.add_ranges(hits, ranges);
  writer.add_code(
      {{{0x100, 0x110}, {.bytes = std::string(0x10, 1)}}, {{0x100, 0x120}, {.bytes = std::string(0x20, 2)}}});
  KeptNames names;
  ASSERT_TRUE(names.add(writer.bytes().value()));
  EXPECT_EQ(names.open(kBinary, &Symbolizer::open)->code(0x100, 0x102).bytes, (std::vector<uint8_t>{1, 1}));
}

TEST(KeptParts, HaveTheFirstAndTheLastHit) {
  NamesWriter writer;
  writer.add_object(kBinary, {.machine = 62});
  const std::vector<uint64_t> hits{0x104, 0x108, 0x10c};
  writer.add_ranges(hits, std::vector<NamedRange>(3, {"f", 0x100, 0x110}));
  writer.add_code({{{0x100, 0x110}, {.bytes = std::string(0x10, 1)}}});
  KeptNames names;
  ASSERT_TRUE(names.add(writer.bytes().value()));
  EXPECT_EQ(names.parts(kBinary).positions, (std::vector<uint64_t>{0x104, 0x10c}));
}

/// Files of one build whose code differs: one of them was damaged, or forged.
TEST(KeptParts, TheGreaterOfTwoCodesOfAFunctionIsItsCodeInAnyOrder) {
  const auto lesser = archive({{0x100, 4, line(1)}}, {1, 2, 3}),
             greater = archive({{0x100, 4, line(1)}}, {7, 2});
  for (const bool turned : {false, true}) {
    KeptNames names;
    ASSERT_TRUE(names.add(turned ? greater : lesser) && names.add(turned ? lesser : greater));
    EXPECT_EQ(names.open(kBinary, &Symbolizer::open)->code(0x100, 0x200).bytes, (std::vector<uint8_t>{7, 2}));
    EXPECT_EQ(names.parts(kBinary).code.at({0x100, 0x200}).bytes, "\7\2");
  }
}

std::vector<unsigned char> with_source(const char* text, uint64_t changed_unix_ns) {
  NamesWriter writer;
  writer.add_object(kBinary, {});
  writer.add_source("a.c", text, changed_unix_ns);
  return writer.bytes().value();
}

/// The functions of one build would have the lines of the other.
TEST(KeptNames, OfTwoTextsWithOnePathNeitherCounts) {
  for (const uint64_t changed_unix_ns : {0, 9}) {
    const auto one = with_source("one", 0), other = with_source("other", changed_unix_ns);
    KeptNames names, turned, again;
    ASSERT_TRUE(names.add(one) && names.add(other) && turned.add(other) && turned.add(one));
    for (const KeptNames* kept : {&names, &turned}) {
      EXPECT_TRUE(kept->source("a.c")->differs());
      EXPECT_EQ(kept->sources().at("a.c").text, "");
    }
    NamesWriter sum;
    sum.add_object(kBinary, {});
    for (const auto& [path, text] : names.sources())
      sum.add_source(std::string(path), text.text, text.changed_unix_ns);
    ASSERT_TRUE(again.add(sum.bytes().value()) && again.add(one));
    EXPECT_TRUE(again.source("a.c")->differs()) << "what was merged before makes no difference";
  }
}

TEST(KeptNames, ASourceThatIsOnceKnownToBeTheCompiledOneIs) {
  KeptNames names;
  ASSERT_TRUE(names.add(with_source("text", 9)) && names.add(with_source("text", 5)));
  EXPECT_EQ(names.source("a.c")->changed_unix_ns, 5u);
  ASSERT_TRUE(names.add(with_source("text", 0)));
  EXPECT_EQ(names.source("a.c")->text, "text");
  EXPECT_EQ(names.source("a.c")->changed_unix_ns, 0u);
}

TEST_F(Kept, FramesKnowWhereTheirFunctionStarts) {
  const auto start_line = [this] { return open()->frames(std::vector<uint64_t>{0x100})[0][0].start_line; };
  std::vector<Frame> frames = line(9);
  ASSERT_TRUE(names_.add(archive({{0x100, 4, frames}}, {1, 2, 3})));
  EXPECT_EQ(start_line(), 0u) << "of an older version";
  frames[0].start_line = 7;
  ASSERT_TRUE(names_.add(archive({{0x100, 4, frames}}, {1, 2, 3})));
  EXPECT_EQ(start_line(), 7u);
  EXPECT_EQ(names_.parts(kBinary).places.at(0).value.frames()[0].start_line, 7u);
}

TEST_F(Kept, FramesAreOfWhoeverOwnsTheProfileOrTheExecutable) {
  ASSERT_TRUE(names_.add(archive({{0x100, 4, line(1)}}, {1, 2, 3}), 7));
  const auto owner_after = [this](std::vector<uint64_t> positions) {
    const auto names = open();
    names->frames(positions);
    return names->owner();
  };
  EXPECT_EQ(owner_after({0x100}), 7u);
  EXPECT_EQ(owner_after({0x180}), Executable::kOwner);
  EXPECT_EQ(owner_after({0x100, 0x180}), std::nullopt);
  EXPECT_EQ(owner_after({}), std::nullopt);
  const auto names = open();
  names->frames(std::vector<uint64_t>{0x180});
  EXPECT_EQ(names->owner_to_share(), Executable::kOwner);
  names->frames(std::vector<uint64_t>{0x100, 0x180});
  EXPECT_TRUE(names->is_from_profile());
  EXPECT_EQ(names->owner_to_share(), std::nullopt) << "a profile may be from anywhere";
  ASSERT_TRUE(names_.add(archive({{0x104, 4, line(2)}}, {1, 2, 3}), 8));
  EXPECT_EQ(owner_after({0x100}), std::nullopt) << "of two profiles";
}

TEST_F(Kept, FramesInARootsArchiveAreNotRoots) {
  ASSERT_TRUE(names_.add(archive({{0x100, 4, line(1)}}, {1, 2, 3}), 0));
  const auto names = open();
  names->frames(std::vector<uint64_t>{0x100});
  EXPECT_EQ(names->owner(), std::nullopt) << "root archives what others have made";
}

TEST_F(Kept, FramesOfAJitAreNotRoots) {
  const ExecutableIdentity jit{.kind = ExecutableIdentity::Kind::kPrivate, .path = "[jit]", .owner = 9};
  const auto owner_of_frames = [&](uid_t owner) {
    names_ = KeptNames();
    EXPECT_TRUE(names_.add(archive({{0x100, 4, line(1)}}, {}, "text", jit), owner));
    const auto names = open(jit);
    EXPECT_EQ(names->frames(std::vector<uint64_t>{0x100})[0][0].line, 1u);
    return names->owner();
  };
  EXPECT_EQ(owner_of_frames(7), 7u);
  EXPECT_EQ(owner_of_frames(0), std::nullopt);
}

TEST_F(Kept, CodeThatIsKnownToHaveNoLineMissesNone) {
  ASSERT_TRUE(names_.add(archive({{0x100, 4, {}}, {0x104, 4, line(2)}}, {1, 2, 3})));
  const auto symbolizer = open();
  const auto frames = symbolizer->frames(std::vector<uint64_t>{0x100, 0x104});
  EXPECT_TRUE(frames[0].empty());
  EXPECT_EQ(frames[1].size(), 1u);
  EXPECT_EQ(symbolizer->line_problem(), "");
  symbolizer->digests(std::vector<uint64_t>{0x100, 0x104});
  EXPECT_EQ(asked_, 0);
  symbolizer->digests(std::vector<uint64_t>{0x180});
  EXPECT_EQ(asked_, 1);
}

TEST_F(Kept, NamesAloneAddNoParts) {
  ASSERT_TRUE(names_.add(section({{0x110, {"f", 0x100, 0x200}}})));
  const KeptParts parts = names_.parts(kBinary);
  EXPECT_TRUE(parts.positions.empty() && parts.code.empty() && parts.places.empty());
}

}  // namespace
}  // namespace pctally
