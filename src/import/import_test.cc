#include <gtest/gtest.h>
#include <zlib.h>

#include <bit>
#include <map>
#include <protozero/pbf_writer.hpp>

#include "import/imported_for_test.h"
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
  EXPECT_EQ(Imported(names + "nothing").error, "none");
}

TEST(ImportGperftools, EveryCutIsNamed) {
  const std::string bytes = gperftools<uint64_t>(false);
  for (size_t size = 40; size < 15 * 8; ++size)
    EXPECT_TRUE(Imported(bytes.substr(0, size)).error.starts_with("cut off")) << size;
}

/// A profile.proto in the making.
struct Proto {
  std::string bytes;
  std::vector<std::string> strings = {""};

  int64_t text(const std::string& string) {
    for (size_t i = 0; i < strings.size(); ++i)
      if (strings[i] == string) return static_cast<int64_t>(i);
    strings.push_back(string);
    return static_cast<int64_t>(strings.size() - 1);
  }
  void add(uint32_t tag, const std::string& part) { protozero::pbf_writer(bytes).add_message(tag, part); }
  void type(uint32_t tag, const std::string& type, const std::string& unit) {
    std::string part;
    protozero::pbf_writer writer(part);
    writer.add_int64(1, text(type));
    writer.add_int64(2, text(unit));
    add(tag, part);
  }
  void sample(std::vector<uint64_t> locations, std::vector<int64_t> values) {
    std::string part;
    protozero::pbf_writer writer(part);
    writer.add_packed_uint64(1, locations.begin(), locations.end());
    writer.add_packed_int64(2, values.begin(), values.end());
    add(2, part);
  }
  /// Function `id`, and location `id` in it with function `inlined` inlined there (0: none).
  void function(uint64_t id, const std::string& name, uint64_t inlined = 0, const std::string& system = "") {
    std::string part, location;
    protozero::pbf_writer writer(part), place(location);
    writer.add_uint64(1, id);
    writer.add_int64(2, text(name));
    if (!system.empty()) writer.add_int64(3, text(system));
    add(5, part);
    place.add_uint64(1, id);
    for (const uint64_t number : {inlined, id}) {
      if (number == 0) continue;
      std::string line;
      protozero::pbf_writer(line).add_uint64(1, number);
      protozero::pbf_writer(line).add_int64(2, 7);
      place.add_message(4, line);
    }
    add(4, location);
  }
  /// Location `id` without a name, in mapping `id` of a file.
  void place(uint64_t id, const std::string& file, const std::string& build_id) {
    std::string mapping, location;
    protozero::pbf_writer writer(mapping), place(location);
    writer.add_uint64(1, id);
    writer.add_uint64(2, 0x1000);
    writer.add_uint64(3, 0x9000);
    writer.add_int64(5, text(file));
    writer.add_int64(6, text(build_id));
    add(3, mapping);
    place.add_uint64(1, id);
    place.add_uint64(2, id);
    place.add_uint64(3, 0x1234);
    add(4, location);
  }
  std::string done(int64_t period = 0) {
    protozero::pbf_writer writer(bytes);
    if (period != 0) type(11, "cpu", "nanoseconds");
    if (period != 0) writer.add_int64(12, period);
    for (const std::string& string : strings) writer.add_string(6, string);
    return bytes;
  }
};

Proto two_stacks(const std::string& type, const std::string& unit) {
  Proto proto;
  proto.type(1, "samples", "count");
  proto.type(1, type, unit);
  proto.function(1, "main");
  proto.function(2, "leaf", 1);
  proto.sample({2, 1}, {3, 30});
  proto.sample({1}, {1, 10});
  return proto;
}

TEST(ImportPprof, TakesTheLastKindOfValueInTicksOfItsPeriod) {
  Imported read(two_stacks("cpu", "nanoseconds").done(10));
  EXPECT_EQ(read.error, "");
  EXPECT_TRUE(read.profile.counts_cpu_time());
  EXPECT_EQ(read.profile.period_ns, 10u);
  EXPECT_EQ(read.profile.ledger.counted, 4u);
  EXPECT_EQ(read.profile.ledger.samples, 4u);
  EXPECT_EQ(read.amounts(), (Sums{{"main", 10}, {"leaf", 30}}));
  EXPECT_EQ(read.stacks(), (Sums{{"file.name;main;leaf", 30}, {"file.name;main", 10}}));
}

/// What we have written: the outermost location is no function, where its system name says so.
TEST(ImportPprof, KnowsTheScopesOfOurFiles) {
  Proto proto = two_stacks("cpu", "nanoseconds");
  proto.function(3, "io", 0, "[thread]");
  proto.function(4, "prog", 3, "[program]");
  proto.function(5, "tool", 0, "[program]");
  proto.function(6, "prog");
  proto.sample({2, 1, 4}, {1, 5});
  proto.sample({1, 5}, {1, 6});
  proto.sample({1, 6}, {1, 7});
  Imported read(proto.done());
  EXPECT_EQ(read.stacks(), (Sums{{"file.name;main;leaf", 30},
                                 {"file.name;main", 10},
                                 {"prog;main;leaf", 5},
                                 {"tool;main", 6},
                                 {"file.name;prog;main", 7}}));
  EXPECT_EQ(read.profile.paths.scopes[1].thread, "io");
  EXPECT_EQ(read.profile.paths.scopes[1].kind, PathScopeKind::kThread);
}

TEST(ImportPprof, KnowsTheCutsOfOurFiles) {
  Proto proto = two_stacks("cpu", "nanoseconds");
  proto.function(3, "prog", 0, "[program]");
  const std::string cut = "[path cut where the stack could not be read]";
  proto.function(4, cut);
  proto.sample({2, 1, 4, 3}, {1, 5});
  proto.sample({1, 4, 3}, {1, 6});
  proto.sample({4, 3}, {1, 7});
  Imported read(proto.done());
  EXPECT_EQ(read.amounts(), (Sums{{"main", 16}, {"leaf", 35}, {cut, 7}})) << "what ran is not known";
  EXPECT_EQ(read.profile.ledger.outside, 0u) << "but it was code";
  EXPECT_EQ(read.stacks(), (Sums{{"file.name;main;leaf", 30},
                                 {"file.name;main", 10},
                                 {"prog;[stack-unreadable];main;leaf", 5},
                                 {"prog;[stack-unreadable];main", 6},
                                 {"prog;[stack-unreadable];" + cut, 7}}));
}

/// As of --scope without -g.
TEST(ImportPprof, KeepsScopesWithoutCallers) {
  Proto proto;
  proto.type(1, "samples", "count");
  proto.function(1, "inlined");
  proto.function(2, "f", 1);
  proto.function(3, "/a.slice", 0, "[control group]");
  proto.function(4, "/b.slice", 0, "[control group]");
  proto.sample({2}, {2});
  proto.sample({2, 3}, {5});
  proto.sample({2, 4}, {7});
  proto.sample({4}, {1});
  Imported read(proto.done());
  EXPECT_TRUE(read.profile.paths.one_frame);
  EXPECT_FALSE(read.profile.paths.recorded);
  EXPECT_EQ(read.stacks(),
            (Sums{{"file.name;f", 2}, {"/a.slice;f", 5}, {"/b.slice;f", 7}, {"/b.slice;[no-stack]", 1}}));
  for (const PathTreeNode& node : read.profile.paths.context)
    EXPECT_TRUE(node.kind != PathNodeKind::kCode || node.position == read.profile.positions[0].position);
  EXPECT_EQ(read.profile.paths.scopes[1].kind, PathScopeKind::kGroup);
}

/// Whoever adds files up, or chooses from them, keeps the comments.
TEST(ImportPprof, TakesTheEffectiveSamplesOfOurFilesIfTheyAreOfItsValues) {
  for (const auto& [comment, squares] :
       std::map<std::string, double>{{"pctally: 2.50 effective samples in 40 cpu nanoseconds", 1600 / 2.5},
                                     {"pctally: 2.50 effective samples in 41 cpu nanoseconds", 400},
                                     {"pctally: 90.00 effective samples in 40 cpu nanoseconds", 400},
                                     {"pctally: nan effective samples in 40 cpu nanoseconds", 400},
                                     {"built by hand", 400}}) {
    Proto proto = two_stacks("cpu", "nanoseconds");
    const int64_t number = proto.text(comment);
    protozero::pbf_writer(proto.bytes).add_packed_int64(13, &number, &number + 1);
    EXPECT_DOUBLE_EQ(Imported(proto.done()).profile.ledger.weight_squares, squares) << comment;
  }
}

// Names are looked up in that build alone.
TEST(ImportPprof, AFileWithoutNamesKeepsItsBuildId) {
  Proto proto;
  proto.type(1, "samples", "count");
  proto.place(1, "/bin/x", "00ff10");
  proto.place(2, "/bin/x", "not hexadecimal");
  proto.sample({1}, {3});
  proto.sample({2}, {1});
  Imported read(proto.done());
  ASSERT_EQ(read.profile.executables.size(), 2u) << read.error;
  EXPECT_EQ(read.profile.executables[0].build_id, (std::vector<uint8_t>{0, 0xff, 0x10}));
  EXPECT_EQ(read.profile.executables[1].build_id, std::vector<uint8_t>{});
  EXPECT_EQ(read.profile.positions[0].position, 0x234u);
}

TEST(ImportPprof, KnowsUnitsAsGoToolPprofDoes) {
  EXPECT_EQ(Imported(two_stacks("cpu", "milliseconds").done()).amounts()["leaf"], 30'000'000u);
  EXPECT_EQ(Imported(two_stacks("inuse_space", "bytes").done()).profile.event, "inuse_space");
  EXPECT_EQ(Imported(two_stacks("delay", "nanoseconds").done()).profile.event, "delay-ns");
  EXPECT_EQ(Imported(two_stacks("delay", "ns").done()).profile.event_unit, "nanoseconds");
  for (const auto& [unit, ns] : std::map<std::string, uint64_t>{{"ns", 1},
                                                                {"us", 1000},
                                                                {"\u00b5s", 1000},
                                                                {"ms", 1000000},
                                                                {"microsecond", 1000},
                                                                {"MILLISECONDS", 1000000},
                                                                {"hrs", 3600000000000},
                                                                {"hours", 3600000000000},
                                                                {"S", 1000000000},
                                                                {"secs", 1000000000}})
    EXPECT_EQ(Imported(two_stacks("cpu", unit).done()).amounts()["leaf"], 30 * ns) << unit;
  for (const char* unit : {"kb", "kilobytes", "KBytes"}) {
    Imported read(two_stacks("heap", unit).done());
    EXPECT_EQ(read.amounts()["leaf"], 30u << 10) << unit;
    EXPECT_EQ(read.profile.event_unit, "bytes");
  }
  Imported other(two_stacks("cpu", "fortnights").done()), none(two_stacks("calls", "").done());
  EXPECT_EQ(other.profile.event, "cpu-fortnights");
  EXPECT_EQ(other.amounts()["leaf"], 30u);
  EXPECT_EQ(none.profile.event, "calls");
}

/// Decision 025: they are no time and no bytes, whatever their kind is called.
TEST(ImportPprof, CountsValuesOfAUnitThatNobodyKnowsAsThese) {
  for (const char* unit : {"furlongs", "FURLONGS", "days", "n", "%"}) {
    Imported read(two_stacks("cpu", unit).done());
    EXPECT_FALSE(read.profile.counts_cpu_time()) << unit;
    EXPECT_EQ(read.profile.event, std::string("cpu-") + unit);
    EXPECT_EQ(read.profile.event_unit, unit);
    EXPECT_EQ(read.amounts()["leaf"], 30u) << unit;
  }
  Imported none(two_stacks("cpu", "").done());
  EXPECT_FALSE(none.profile.counts_cpu_time());
  EXPECT_EQ(none.profile.event, "cpu");
  EXPECT_EQ(none.amounts()["leaf"], 30u);
}

/// As the kinds of Go's profiles of locks, or of Datadog's, which are all there and not all measured.
TEST(ImportPprof, ReadsTheLastKindThatIsNotZeroEverywhere) {
  Proto proto;
  for (const char* type : {"samples", "objects", "locks", "waits"}) proto.type(1, type, "count");
  proto.function(1, "f");
  proto.sample({1}, {1, 7, 0, 0});
  proto.sample({1}, {1, 0, 9, 0});
  Proto usual = proto, unused = proto;
  protozero::pbf_writer(usual.bytes).add_int64(14, usual.text("objects"));
  protozero::pbf_writer(unused.bytes).add_int64(14, unused.text("waits"));
  EXPECT_EQ(Imported(proto.done()).profile.event, "locks");
  EXPECT_EQ(Imported(usual.done()).profile.event, "objects");
  EXPECT_EQ(Imported(unused.done()).profile.event, "locks");
}

TEST(ImportPprof, ReadsTheKindOfValueThatIsAskedFor) {
  const std::string bytes = two_stacks("cpu", "nanoseconds").done(10);
  ImportedNames names;
  const auto samples = import_profile(bytes_of(bytes), "x", &names, "samples");
  EXPECT_EQ((*samples)->event, "samples");
  EXPECT_EQ((*samples)->ledger.counted, 4u);
  const auto none = import_profile(bytes_of(bytes), "x", &names, "wall");
  EXPECT_STREQ(none->error().text, "it has no values called wall; its kinds are samples, cpu");
}

/// Intervals rest on their number: 40 ticks of one sample each are not two samples.
TEST(ImportPprof, CountsSamplesWhateverTheyAreCalled) {
  for (const char* type : {"sample", "cpu-samples", "contentions"}) {
    Proto proto;
    proto.type(1, type, "count");
    proto.type(1, "other", "count");
    proto.type(1, "delay", "nanoseconds");
    proto.function(1, "f");
    proto.function(2, "g");
    proto.sample({1}, {30, 0, 3000});
    proto.sample({2}, {10, 0, 1000});
    EXPECT_EQ(Imported(proto.done()).profile.ledger.samples, 40u) << type;
  }
  Proto proto;
  proto.type(1, "other", "count");
  proto.type(1, "cpu", "nanoseconds");
  proto.function(1, "f");
  proto.sample({1}, {7, 3000});
  EXPECT_EQ(Imported(proto.done(100)).profile.ledger.samples, 30u) << "by the period";
}

TEST(ImportPprof, WhatIsNoProfileIsAnError) {
  Proto negative = two_stacks("cpu", "nanoseconds"), dangling = negative, few = negative;
  negative.sample({1}, {1, -1});
  dangling.sample({9}, {1, 1});
  few.sample({1}, {1});
  EXPECT_EQ(Imported(negative.done()).error,
            "it has values below 0: a difference is no profile; export the two profiles");
  EXPECT_EQ(Imported(dangling.done()).error, "damaged: a location is not in its table");
  EXPECT_EQ(Imported(few.done()).error, "damaged: a sample has not one value of each kind");
  const std::string whole = two_stacks("cpu", "nanoseconds").done(10);
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(Imported(whole.substr(0, size)).error, "") << size;
}

// A field of another wire type than profile.proto's is skipped, as every reader of protobuf does.
TEST(ImportPprof, FieldsOfAnotherTypeAreSkipped) {
  Proto proto = two_stacks("cpu", "nanoseconds");
  std::string part;
  for (uint32_t tag = 1; tag < 15; ++tag) {
    protozero::pbf_writer(part).add_fixed32(tag, 7);
    protozero::pbf_writer(proto.bytes).add_fixed64(tag, 7);
  }
  for (const uint32_t tag : {3, 4, 5}) proto.add(tag, part);
  protozero::pbf_writer(proto.bytes).add_uint64(6, 7);
  protozero::pbf_writer(proto.bytes).add_message(12, part);
  ImportedNames names;
  EXPECT_EQ(import_pprof(bytes_of(proto.done(10)), "x", &names)->ledger.counted, 4u);
}

// One long name, used by each of many places.
TEST(ImportPprof, NamesAreBoundedByHowOftenTheyAreUsed) {
  Proto proto;
  proto.type(1, "samples", "count");
  const std::string name(4 << 20, 'n');
  for (uint64_t id = 1; id <= 200; ++id) {
    proto.function(id, name);
    proto.sample({id}, {1});
  }
  EXPECT_EQ(Imported(proto.done()).error,
            "damaged: its names take more than 512 MiB, each as often as it is used");
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
  EXPECT_TRUE(names.object(first).frames(UINT64_MAX).empty());
}

}  // namespace
}  // namespace pctally
