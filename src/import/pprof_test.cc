#include <gtest/gtest.h>

#include <map>
#include <protozero/pbf_writer.hpp>

#include "import/imported_for_test.h"
#include "import/proto_for_test.h"

namespace pctally {
namespace {

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

/// They are of the size of a tick, not of a nanosecond.
TEST(ImportPprof, EffectiveSamplesAreAsManyAsTicksOfOneSampleEach) {
  const TickLedger ledger = Imported(two_stacks("cpu", "nanoseconds").done(10)).profile.ledger;
  EXPECT_DOUBLE_EQ(ledger.weight_squares, 4);
}

TEST(ImportPprof, NoAmountIsRoundedToTicks) {
  Proto proto = two_stacks("cpu", "nanoseconds");
  proto.sample({1}, {1, 7});
  Imported read(proto.done(10));
  EXPECT_EQ(read.amounts(), (Sums{{"main", 17}, {"leaf", 30}}));
  EXPECT_EQ(read.profile.period_asked_ns, 0u);
}

TEST(ImportPprof, LinesOfAFunctionAreOneNode) {
  Proto proto;
  proto.type(1, "samples", "count");
  proto.function(1, "main");
  proto.function(2, "inlined");
  proto.function(3, "f", 2);
  proto.function(4, "f");
  proto.sample({3, 1}, {5});
  proto.sample({4, 1}, {7});
  Imported read(proto.done());
  EXPECT_EQ(read.profile.positions.size(), 2u);
  EXPECT_EQ(read.profile.paths.context.size(), 3u);
  EXPECT_EQ(read.profile.paths.context.back().self, 12u);
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

TEST(ImportPprof, ACutMakesNoCallers) {
  Proto proto;
  proto.type(1, "samples", "count");
  proto.function(1, "f");
  proto.function(2, "prog", 0, "[program]");
  proto.function(3, "[path cut at code without unwind table]");
  proto.sample({1, 2}, {2});
  proto.sample({1, 3, 2}, {5});
  proto.sample({3, 2}, {7});
  Imported read(proto.done());
  EXPECT_TRUE(read.profile.paths.one_frame);
  EXPECT_FALSE(read.profile.paths.recorded);
  EXPECT_EQ(read.stacks(), (Sums{{"prog;f", 7}, {"prog;[path cut at code without unwind table]", 7}}));
}

/// Whoever adds files up, or chooses from them, keeps the comments.
TEST(ImportPprof, TakesTheEffectiveSamplesOfOurFilesIfTheyAreOfItsValues) {
  for (const auto& [comment, squares] :
       std::map<std::string, double>{{"pctally: 2.50 effective samples in 40 cpu nanoseconds", 1600 / 2.5},
                                     {"pctally: 2.50 effective samples in 41 cpu nanoseconds", 400},
                                     {"pctally: 90.00 effective samples in 40 cpu nanoseconds", 400},
                                     {"pctally: nan effective samples in 40 cpu nanoseconds", 400},
                                     {"built by hand", 400}}) {
    Proto packed = two_stacks("cpu", "nanoseconds"), single = packed;
    const int64_t number = packed.text(comment);
    protozero::pbf_writer(packed.bytes).add_packed_int64(13, &number, &number + 1);
    protozero::pbf_writer(single.bytes).add_int64(13, single.text(comment));  // as Go writes few
    EXPECT_DOUBLE_EQ(Imported(packed.done()).profile.ledger.weight_squares, squares) << comment;
    EXPECT_DOUBLE_EQ(Imported(single.done()).profile.ledger.weight_squares, squares) << comment;
  }
}

// Names are looked up in that build alone.
TEST(ImportPprof, AFileWithoutNamesKeepsItsBuildId) {
  Proto proto;
  proto.type(1, "samples", "count");
  proto.place(1, "/bin/x", "00ff10");
  proto.place(2, "/bin/x", "not hexadecimal");
  proto.place(3, "/bin/y", "000102030405060708090a0b0c0d0e0f10111213", 0x5000);
  proto.place(4, "/bin/z", "", 0, 0x800);
  proto.sample({1}, {3});
  proto.sample({2}, {1});
  proto.sample({3}, {1});
  proto.sample({4}, {1});
  Imported read(proto.done());
  ASSERT_EQ(read.profile.executables.size(), 4u) << read.error;
  EXPECT_EQ(read.profile.executables[0].build_id, (std::vector<uint8_t>{0, 0xff, 0x10}));
  EXPECT_EQ(read.profile.executables[1].build_id, std::vector<uint8_t>{});
  EXPECT_EQ(read.profile.positions[0].position, 0x234u);
  EXPECT_EQ(read.profile.executables[2].build_id.size(), 20u);
  EXPECT_EQ(read.profile.positions[2].position, 0x5234u) << "in the file";
  EXPECT_EQ(read.amounts()["[0x800]"], 1u) << "before its mapping";
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
  proto.sample({1}, {7, 30});
  EXPECT_EQ(Imported(proto.done(100)).profile.ledger.samples, 31u) << "there was one";
}

/// What is counted before the value is more likely to be what it was measured with; a period says it best.
TEST(ImportPprof, SamplesAreTheNearestKindThatMayCountThem) {
  Proto proto;
  proto.type(1, "cpu-samples", "count");
  proto.type(1, "cpu", "nanoseconds");
  proto.type(1, "heap-samples", "count");
  proto.function(1, "f");
  proto.sample({1}, {7, 3000, 9});
  proto.sample({1}, {5, 0, 9});
  Proto usual = proto;
  protozero::pbf_writer(usual.bytes).add_int64(14, usual.text("cpu"));
  Proto with_period = usual;
  EXPECT_EQ(Imported(usual.done()).profile.ledger.samples, 7u) << "not those of no amount";
  EXPECT_EQ(Imported(with_period.done(100)).profile.ledger.samples, 30u);
}

TEST(ImportPprof, AnAmountThatIsTooLargeIsAnError) {
  Proto proto = two_stacks("cpu", "hours");
  proto.sample({1}, {1, int64_t{1} << 60});
  EXPECT_EQ(Imported(proto.done()).error, "its amounts are larger than any sum can be");
}

TEST(ImportPprof, WhatIsNoProfileIsAnError) {
  Proto negative = two_stacks("cpu", "nanoseconds"), dangling = negative, few = negative;
  negative.sample({1}, {1, -1});
  Proto fewer_samples = dangling;
  fewer_samples.sample({1}, {-1, 1});
  EXPECT_EQ(Imported(fewer_samples.done()).error,
            "it has values below 0: a difference is no profile; export the two profiles");
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

}  // namespace
}  // namespace pctally
