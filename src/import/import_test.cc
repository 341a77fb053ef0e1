#include <gtest/gtest.h>
#include <zlib.h>

#include <bit>

#include "import/imported_for_test.h"
#include "import/proto_for_test.h"
#include "import/stack_sum.h"

namespace pctally {
namespace {

TEST(ImportFolded, CountsSamplesOfStacks) {
  Imported read("# made by hand\nmain;work item 7\nmain 3\n\nmain;work item;leaf 5\r\nmain;main 1\n");
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.profile.event, "samples");
  EXPECT_EQ(read.amounts(), (Sums{{"work item", 7}, {"main", 4}, {"leaf", 5}}));
  EXPECT_EQ(read.stacks(), (Sums{{"file.name;main;work item", 7},
                                 {"file.name;main", 3},
                                 {"file.name;main;main", 1},
                                 {"file.name;main;work item;leaf", 5}}));
}

TEST(ImportFolded, ACountIsAsManySamples) {
  const TickLedger ledger = Imported("main;f 7\nmain;g 3\n").profile.ledger;
  EXPECT_EQ(ledger.samples, 10u);
  EXPECT_DOUBLE_EQ(ledger.weight_squares, 10);
}

TEST(ImportFolded, OneCountALine) {
  EXPECT_EQ(Imported("a;b 4 7\na;c 0 2\n").error,
            "every line has two counts; write pctally diff OLD NEW; if one is of a name: a;f_5 7");
  EXPECT_EQ(Imported("a;phase 1 7\na;b 2\n").amounts(), (Sums{{"phase 1", 7}, {"b", 2}}));
  EXPECT_EQ(Imported("m;worker 1 30\nm;worker 2 40\n").amounts(), (Sums{{"worker 1", 30}, {"worker 2", 40}}));
}

TEST(ImportFolded, NoLineIsLost) {
  Imported read("# a comment 7\n#comment\n#<Class:Foo>#run;bar 5\n;;; 3\n");
  EXPECT_EQ(read.amounts(), (Sums{{"bar", 5}}));
  EXPECT_EQ(read.stacks()["file.name;#<Class:Foo>#run;bar"], 5u);
  EXPECT_EQ(read.profile.ledger.outside, 3u);
}

TEST(ImportFolded, TicksWithoutAPlaceAreWhatTheyWereBeforeAnExport) {
  Imported read("m;f 7\n[lost] 2\n[outside] 3\n[full] 4\nm;[lost] 5\n");
  EXPECT_EQ(read.amounts(), (Sums{{"f", 7}, {"[lost]", 5}}));
  const TickLedger& ledger = read.profile.ledger;
  EXPECT_EQ(std::tie(ledger.lost, ledger.outside, ledger.full), std::tuple(2u, 3u, 4u));
}

TEST(ImportFolded, BlanksMayStandAroundTheCount) {
  EXPECT_EQ(Imported("m;a\t5\nm;b  c \t 3 \nm;d 2.0\t\n").amounts(), (Sums{{"a", 5}, {"b  c", 3}, {"d", 2}}));
  EXPECT_EQ(Imported("m;a 5\nm;b 5.5\n").error,
            "line 2 has a count that is no whole number; multiply the counts");
  EXPECT_EQ(Imported("m;a 5.\nm;b .5\n").error, "none");
}

TEST(ImportFolded, ManyFirstStacksMayHaveOneFrame) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "f" + std::to_string(i) + " 1\n";
  EXPECT_EQ(Imported(text).error, "none");
  EXPECT_EQ(Imported(text + "main;g 7\n").amounts()["g"], 7u);
}

TEST(ImportFolded, AStackThatIsVeryDeepIsCut) {
  std::string text = "outermost;f";
  for (size_t i = 0; i < 100'000; ++i) text += ";f";
  const Profile profile = Imported(text + " 7\n").profile;
  ASSERT_EQ(profile.paths.context.size(), kMostImportedFrames + 2);
  EXPECT_EQ(profile.paths.context[1].kind, PathNodeKind::kCut);
  EXPECT_EQ(profile.paths.context[1].position, static_cast<uint64_t>(PathEnd::kTooDeep));
  EXPECT_EQ(profile.paths.context.back().self, 7u);
  Imported read(text + " 7\nonce;again 1\n");
  for (const auto& [stack, amount] : read.stacks())
    EXPECT_EQ(stack.find("outermost"), std::string::npos) << "the inner frames are kept";
}

/// What we have written: the frame of a cut is no function. Without frames of code behind it nobody knows
/// which code ran, but these are ticks of code.
TEST(ImportFolded, KnowsTheCutsOfOurFiles) {
  Imported read(
      "prog;[path cut at code without unwind table];f;g 3\nprog;main;g 1\n"
      "prog;io;[path cut at a doubtful return address];g 5\nprog;[path without room for the stack] 7\n");
  EXPECT_EQ(read.amounts(), (Sums{{"g", 9}, {"[path without room for the stack]", 7}}));
  EXPECT_EQ(read.profile.ledger.outside, 0u);
  EXPECT_EQ(read.stacks(), (Sums{{"file.name;[no-unwind-table];prog;f;g", 3},
                                 {"file.name;prog;main;g", 1},
                                 {"file.name;[doubtful];prog;io;g", 5},
                                 {"file.name;[no-room];prog;[path without room for the stack]", 7}}));
}

TEST(ImportFolded, APathThatOurRecorderHasNotReadIsNoneWithoutAStack) {
  Imported read("prog;[path not read by the recorder];f 3\nprog;f 1\n");
  EXPECT_EQ(read.stacks(), (Sums{{"file.name;[interrupted];prog;f", 3}, {"file.name;prog;f", 1}}));
}

TEST(ImportFolded, WhatAnotherToolCallsNoStackIsAFrame) {
  Imported read("x;[no stack] 7\nx;y 1\n");
  EXPECT_EQ(read.profile.ledger.outside, 0u);
  EXPECT_EQ(read.stacks(), (Sums{{"file.name;x;[no stack]", 7}, {"file.name;x;y", 1}}));
}

TEST(ImportFolded, TextThatIsNoneIsNone) {
  EXPECT_EQ(Imported("select 1").error, "none");
  EXPECT_EQ(Imported("a;b 1\nnot so\n").error, "none");
  EXPECT_EQ(Imported("a;b 1\na;c 2\na;cut o").error,
            "line 3 is not \"stack count\"; a folded profile has one a line");
  EXPECT_EQ(Imported("a;b 1\n#\nb;c -1\n").error,
            "line 3 counts less than nothing: differences of profiles are not read");
  EXPECT_EQ(Imported("a;b 1\nb;c --1\n").error, "none");
  EXPECT_EQ(Imported("").error, "none");
  std::string late;
  for (int i = 0; i < 100; ++i) late += "a;b 1\n";
  EXPECT_EQ(Imported(late + "oops\n").error,
            "line 101 is not \"stack count\"; a folded profile has one a line");
  EXPECT_EQ(Imported("a;b 0\n").error, "it has no samples");
  EXPECT_EQ(Imported("a;b 18446744073709551615\na 5\n").error, "its amounts are larger than any sum can be");
}

template <class Word>
std::string gperftools(bool swapped) {
  std::string bytes;
  for (Word word : {0, 3, 0, 10000, 0, 5, 2, 0x401008, 0x401101, 2, 1, 0x7000, 0, 1, 0}) {
    if (swapped) word = std::byteswap(word);
    bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  return bytes +
         "00400000-00402000 r-xp 00001000 08:01 5      /bin/a b\n00500000-00502000 rw-p 00000000 00:00 0\n";
}

TEST(ImportGperftools, OfBothWordSizesAndByteOrders) {
  for (const std::string& bytes : {gperftools<uint64_t>(false), gperftools<uint64_t>(true),
                                   gperftools<uint32_t>(false), gperftools<uint32_t>(true)}) {
    Imported read(bytes);
    EXPECT_EQ(read.error, "");
    EXPECT_EQ(read.profile.period_ns, 10'000'000u);
    EXPECT_EQ(read.profile.ledger.samples, 7u);
    EXPECT_EQ(read.amounts(), (Sums{{"/bin/a b+8200", 50'000'000}, {"[0x7000]", 20'000'000}}));
    EXPECT_EQ(read.stacks(), (Sums{{"file.name;/bin/a b+8448;/bin/a b+8200", 50'000'000},
                                   {"file.name;[0x7000]", 20'000'000}}));
  }
}

/// Old versions have the address of the tick twice. go tool pprof drops the second, too.
TEST(ImportGperftools, AFunctionIsNotItsOwnCaller) {
  std::string bytes;
  for (uint64_t word : {0, 3, 0, 10000, 0, 5, 3, 0x1000, 0x1000, 0x2001, 1, 1, 0x1000, 0, 1, 0})
    bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
  EXPECT_EQ(Imported(bytes).stacks(),
            (Sums{{"file.name;[0x2000];[0x1000]", 50'000'000}, {"file.name;[0x1000]", 10'000'000}}));
}

std::string words_of(std::initializer_list<uint64_t> words) {
  std::string bytes;
  for (const uint64_t word : words) bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
  return bytes;
}

/// Newer writers may have more words in it, which say how many they are.
TEST(ImportGperftools, TheHeaderIsAsLongAsItSays) {
  EXPECT_EQ(Imported(words_of({0, 5, 0, 10000, 0, 9, 9, 5, 1, 0x1000, 0, 1, 0})).amounts(),
            (Sums{{"[0x1000]", 50'000'000}}));
}

TEST(ImportGperftools, OnlyTheTrailerEndsIt) {
  EXPECT_EQ(Imported(words_of({0, 3, 0, 10000, 0, 0, 1, 0x1000, 5, 1, 0x2000, 0, 1, 0})).amounts(),
            (Sums{{"[0x2000]", 50'000'000}}));
}

TEST(ImportGperftools, AMappingEndsBeforeItsEnd) {
  Imported read(words_of({0, 3, 0, 10000, 0, 5, 1, 0x402000, 2, 1, 0x401fff, 1, 1, 0x7010, 0, 1, 0}) +
                "00400000-00402000 r-xp 00001000 08:01 5 /bin/a\n"
                "00007000-00008000 r-xp 00000000 00:00 0 [vdso]\n");
  EXPECT_EQ(read.amounts(),
            (Sums{{"[0x402000]", 50'000'000}, {"/bin/a+12287", 20'000'000}, {"[vdso]+16", 10'000'000}}));
}

/// As google-pprof --raw writes it: of a file without trailer and mappings, callers being calls already; and
/// of one it fetched, as that was.
TEST(ImportGperftools, HasTheNamesInFrontOfIt) {
  const std::string names =
      "--- symbol\nbinary=./prog\n0x0000000000001000 S::operator--(int)<0000000000000ff0>--leaf--in it\n"
      "0x2000 main<0000000000001ff0>\n0x3000 \nnoise\n---\n--- profile\n";
  const Sums stacks{{"file.name;main;S::operator--(int)", 50'000'000}, {"file.name;[0x4000]", 10'000'000}};
  Imported own(names + words_of({0, 3, 0, 10000, 0, 5, 2, 0x1000, 0x2000, 1, 1, 0x4000}));
  Imported fetched(names + words_of({0, 3, 0, 10000, 0, 5, 2, 0x1000, 0x2001, 1, 1, 0x4000, 0, 1, 0}));
  EXPECT_EQ(own.error, "");
  EXPECT_EQ(own.stacks(), stacks);
  EXPECT_EQ(fetched.stacks(), stacks);
  EXPECT_EQ(own.profile.command, std::vector<std::string>{"./prog"});
  EXPECT_EQ(Imported(names + words_of({0, 3, 0, 10000, 0, 5, 2, 0x1000})).error, "cut off within a stack");
  Imported without_period(names + words_of({0, 3, 0, 1, 0, 5, 2, 0x1000, 0x2000}));
  EXPECT_EQ(without_period.profile.event, "samples");
  EXPECT_EQ(without_period.stacks(), (Sums{{"file.name;main;S::operator--(int)", 5}}));
  EXPECT_EQ(Imported(names + "nothing").error, "none");
}

TEST(ImportGperftools, EveryCutIsNamed) {
  const std::string bytes = gperftools<uint64_t>(false);
  for (size_t size = 40; size < 15 * 8; ++size)
    EXPECT_TRUE(Imported(bytes.substr(0, size)).error.starts_with("cut off")) << size;
}

std::string gzipped(const std::string& text, int level = 9) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, level, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<unsigned>(text.size());
  stream.next_out = reinterpret_cast<unsigned char*>(out.data());
  stream.avail_out = static_cast<unsigned>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST(Gunzip, AnyFormatMayBeCompressedAndInSeveralMembers) {
  EXPECT_EQ(Imported(gzipped(two_stacks("cpu", "nanoseconds").done(10))).profile.ledger.counted, 4u);
  EXPECT_EQ(Imported(gzipped("a;b 1\n") + gzipped("a;c 2\n")).profile.ledger.counted, 3u);
  const std::string whole = gzipped("a;b 1\n");
  for (const std::string& bytes : {whole.substr(0, whole.size() - 9), whole + "x"})
    EXPECT_EQ(Imported(bytes).error, "its compression is damaged, or it is cut off");
}

TEST(Gunzip, StopsAtItsBound) {
  const std::string member = gzipped(std::string(1 << 20, 'a'));
  std::string bomb;
  for (int i = 0; i < 9; ++i) bomb += member;
  EXPECT_STREQ(gunzip(bytes_of(bomb), 8 << 20).error().text, "decompressed it is larger than 8 MiB");
  EXPECT_EQ(gunzip(bytes_of(bomb), 16 << 20)->size(), 9u << 20);
}

// The same function of the same object is one, whatever profile it came with.
TEST(ImportedNames, AreSharedByProfiles) {
  ImportedNames names;
  const Executable first = names.executable("/a", {1}), again = names.executable("/a", {1});
  EXPECT_EQ(first.stamp, again.stamp);
  EXPECT_NE(first.stamp, names.executable("/a", {2}).stamp);
  const uint64_t place = names.object(first).position({{"f", "x.c", 3}});
  EXPECT_EQ(place, names.object(again).position({{"f", "x.c", 3}}));
  EXPECT_NE(place, names.object(again).position({{"f", "x.c", 4}}));
  EXPECT_EQ(ImportedObject::function_start(place), names.object(again).position({{"f", "", 0}}));
  EXPECT_NE(names.object(first).position({{"f", "", 0, "_Z1fi"}}),
            names.object(first).position({{"f", "", 0, "_Z1fl"}}))
      << "overloads";
  EXPECT_TRUE(names.object(first).frames(UINT64_MAX).empty());
}

}  // namespace
}  // namespace pctally
