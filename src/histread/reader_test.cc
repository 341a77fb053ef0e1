#include "histread/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "histread/file_builder_for_test.h"

namespace pctally {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct Sample {
  FileBuilder file;
  uint32_t object, other, segment, kernel, process;

  Sample() {
    file.command(std::string_view("prog\0-x\0", 8));
    object = file.object("/usr/bin/prog", "0123456789abcdefghij");
    segment = file.segment(object, 0x1000, 1000);
    other = file.object("[kernel]", {}, ObjectKind::kKernel);
    kernel = file.segment(other, 0xffffffffffff0000, 0x10000);
    file.count(segment, 0x1000, 7);
    file.count(segment, 0x1001, 1);
    file.count(segment, 0x1000 + 999, 2);
    file.count(kernel, 0xffffffffffffffff, 5);
    process = file.process(10, "prog", 15);
    file.process(11, "a name of 16 by", 0, ProcessNote::kStatic);
  }
  uint32_t block() { return file.edit<uint32_t>(file.edit<SegmentRecord>(segment).directory); }
  uint32_t leaf() { return file.edit<uint32_t>(block()); }
};

uint64_t total(const FileContents& contents) {
  return std::accumulate(contents.cells.begin(), contents.cells.end(), uint64_t{0},
                         [](uint64_t sum, const WeightedPosition& cell) { return sum + cell.ticks; });
}

FileContents read(const std::vector<unsigned char>& bytes) {
  Result<FileContents> contents = read_file_contents(bytes);
  EXPECT_TRUE(contents.has_value()) << contents.error().text;
  return contents ? *contents : FileContents{};
}

std::string error(std::vector<unsigned char> bytes) {
  Result<FileContents> contents = read_file_contents(bytes);
  return contents ? "no error" : contents.error().text;
}

std::string damage(FileBuilder& file) {
  std::string all;
  for (const std::string& line : read(file.bytes()).damage) all += line + "; ";
  return all;
}

TEST(Reader, ReadsEverythingOfASoundFile) {
  Sample sample;
  FileContents contents = read(sample.file.bytes());
  EXPECT_THAT(contents.damage, IsEmpty());
  EXPECT_THAT(contents.command, ::testing::ElementsAre("prog", "-x"));
  ASSERT_EQ(contents.objects.size(), 2u);
  EXPECT_EQ(contents.objects[0].path, "[kernel]");
  EXPECT_EQ(contents.objects[1].path, "/usr/bin/prog");
  EXPECT_EQ(contents.objects[1].build_id.size(), 20u);
  EXPECT_EQ(contents.segments.size(), 2u);
  ASSERT_EQ(contents.cells.size(), 4u);
  EXPECT_EQ(contents.cells[0].position, UINT64_MAX);
  EXPECT_EQ(contents.cells[1].position, 0x1000u);
  EXPECT_EQ(contents.cells[1].ticks, 7u);
  EXPECT_EQ(contents.cells[3].position, 0x1000u + 999);
  EXPECT_EQ(total(contents), 15u);
  ASSERT_EQ(contents.processes.size(), 2u);
  EXPECT_EQ(contents.processes[0].comm, "a name of 16 by");
  EXPECT_EQ(contents.processes[0].note, ProcessNote::kStatic);
  EXPECT_EQ(contents.processes[1].ticks, 15u);
}

// Of many empty arguments each byte of the file would be 32 bytes of memory.
TEST(Reader, ArgumentsAreBoundedInNumber) {
  constexpr size_t kMost = 1 << 20;
  FileBuilder file(2 * kMost / kUnitBytes);
  file.command(std::string(kMost, '\0'));
  EXPECT_EQ(read(file.bytes()).command.size(), kMost);
  EXPECT_EQ(damage(file), "");
  const uint32_t run = pool_take(file.pool(), sizeof(RunRecord) / kUnitBytes);
  file.header().runs = run;
  file.edit<RunRecord>(run).header.command = file.text(std::string_view("prog\0", 5));
  const FileContents contents = read(file.bytes());
  EXPECT_EQ(contents.command.size(), kMost);
  ASSERT_EQ(contents.runs.size(), 1u);
  EXPECT_THAT(contents.runs[0].command, IsEmpty());
  EXPECT_EQ(damage(file), "1 name(s) cannot be read; ");
}

TEST(Reader, ReadsAFileThatWasNeverClosed) {
  Sample sample;
  sample.file.header().state = FileState::kRecording;
  sample.file.header().pool.used = 2;  // as if the header had been copied long before the rest
  FileContents contents = read(sample.file.all_bytes());
  EXPECT_THAT(contents.damage, IsEmpty());
  EXPECT_EQ(total(contents), 15u);
}

TEST(Reader, AClosedFileEndsWithWhatItsPoolHasUsed) {
  Sample sample;
  sample.file.header().pool.used = 2;
  EXPECT_EQ(total(read(sample.file.all_bytes())), 0u);
}

/// A private object is of a process, and is not found by its file; no other has an owner.
TEST(Reader, OnlyPrivateObjectsHaveAnOwner) {
  FileBuilder file;
  file.object("/usr/bin/prog", {}, ObjectKind::kFile, 7);
  file.object("//anon", {}, ObjectKind::kPrivate, 8);
  const FileContents contents = read(file.bytes());
  ASSERT_EQ(contents.objects.size(), 2u);
  EXPECT_EQ(contents.objects[0].owner, 8);
  EXPECT_EQ(contents.objects[1].owner, 0);
}

/// That of a recording is in its header: each object of a sum has its own.
TEST(Reader, ObjectsOfARecordingHaveNoBootOfTheirOwn) {
  Sample sample;
  memset(sample.file.edit<ObjectRecord>(sample.object).boot_id, 7, 16);
  EXPECT_TRUE(read(sample.file.bytes()).objects[1].boot_id.empty());
  sample.file.header().runs = pool_take(sample.file.pool(), sizeof(RunRecord) / kUnitBytes);
  EXPECT_EQ(read(sample.file.bytes()).objects[1].boot_id.size(), 16u);
}

TEST(Reader, SaysWhatIsWrongWithTheHeader) {
  Sample sample;
  EXPECT_THAT(error({}), HasSubstr("not a profile"));
  EXPECT_THAT(error({'g', 'm', 'o', 'n'}), HasSubstr("not a profile"));
  std::vector<unsigned char> bytes = sample.file.bytes();
  bytes.resize(kHeaderBytes - 1);
  EXPECT_THAT(error(bytes), HasSubstr("truncated"));
  sample.file.header().version = 7;
  EXPECT_THAT(error(sample.file.bytes()), HasSubstr("newer pctally (layout 7"));
  sample.file.header().version = 0;
  EXPECT_THAT(error(sample.file.bytes()), HasSubstr("damaged"));
  sample.file.header().byte_order = 0x04030201;
  EXPECT_THAT(error(sample.file.bytes()), HasSubstr("byte order"));
}

TEST(Reader, RefusesAHeaderOfOtherSizes) {
  for (uint32_t FileHeader::*field :
       {&FileHeader::header_bytes, &FileHeader::unit_bytes, &FileHeader::byte_order}) {
    Sample sample;
    sample.file.header().*field += 1;
    EXPECT_THAT(error(sample.file.bytes()), HasSubstr("damaged"));
  }
}

TEST(Reader, LeavesACircleOfObjects) {
  Sample sample;
  sample.file.edit<ObjectRecord>(sample.object).next = sample.other;
  EXPECT_EQ(total(read(sample.file.bytes())), 15u);
  EXPECT_THAT(damage(sample.file), HasSubstr("1 reference(s) lead to bytes already in use"));
}

TEST(Reader, LeavesCirclesOfSegmentsAndProcesses) {
  Sample sample;
  sample.file.edit<SegmentRecord>(sample.segment).next = sample.segment;
  sample.file.edit<ProcessRecord>(sample.process).next = sample.process;
  EXPECT_EQ(total(read(sample.file.bytes())), 15u);
  EXPECT_THAT(damage(sample.file), HasSubstr("2 reference(s) lead to bytes already in use"));
}

TEST(Reader, LeavesReferencesOutOfTheFile) {
  for (uint32_t wrong : {0x7fffffffu, 0xffffffffu, 4095u}) {
    Sample sample;
    uint32_t* directory =
        &sample.file.edit<uint32_t>(sample.file.edit<SegmentRecord>(sample.segment).directory);
    directory[1] = wrong;
    sample.file.edit<uint32_t>(sample.block()) = wrong;
    sample.file.edit<ObjectRecord>(sample.object).next = wrong;
    EXPECT_EQ(total(read(sample.file.bytes())), 7u) << wrong;
    EXPECT_THAT(damage(sample.file), HasSubstr("3 reference(s) lead outside the file")) << wrong;
  }
}

TEST(Reader, LeavesADirectoryLargerThanTheFile) {
  for (uint64_t wrong : {uint64_t{1} << 28, UINT64_MAX, UINT64_MAX - 0x1000, UINT64_MAX - 255}) {
    Sample sample;
    sample.file.edit<SegmentRecord>(sample.segment).bytes = wrong;
    EXPECT_EQ(total(read(sample.file.bytes())), 5u) << wrong;
    EXPECT_THAT(damage(sample.file), HasSubstr("text range(s) cannot exist")) << wrong;
  }
}

TEST(Reader, LeavesATextRangeOverTheEndOfTheAddressSpace) {
  Sample sample;
  sample.file.edit<SegmentRecord>(sample.segment).start = UINT64_MAX - 998;
  EXPECT_THAT(damage(sample.file), HasSubstr("text range(s) cannot exist"));
}

TEST(Reader, LeavesABlockThatRefersToItself) {
  Sample sample;
  sample.file.edit<uint32_t>(sample.block()) = sample.block();
  EXPECT_EQ(total(read(sample.file.bytes())), 7u);
  EXPECT_THAT(damage(sample.file), HasSubstr("already in use"));
}

TEST(Reader, CountsALeafSharedByTwoBlocksOnce) {
  Sample sample;
  (&sample.file.edit<uint32_t>(sample.block()))[5] = sample.leaf();
  EXPECT_EQ(total(read(sample.file.bytes())), 15u);
  EXPECT_THAT(damage(sample.file), HasSubstr("already in use"));
}

TEST(Reader, LeavesImpossibleCounts) {
  Sample sample;
  sample.file.edit<uint64_t>(sample.leaf()) = UINT64_MAX;
  sample.file.header().ledger.lost = UINT64_MAX;
  FileContents contents = read(sample.file.bytes());
  EXPECT_EQ(total(contents), 8u);
  EXPECT_EQ(contents.header.ledger.lost, 0u);
  EXPECT_THAT(damage(sample.file), HasSubstr("2 count(s) are impossibly large"));
}

/// Each of them may be, but no recording is so long: sums of them must not wrap.
TEST(Reader, LeavesCountsBeyondAllThatThereCanBe) {
  constexpr uint64_t kMany = kLargestCount - 100;
  Sample sample;
  for (uint64_t i = 0; i < 20; ++i) sample.file.count(sample.segment, 0x1010 + i, kMany);
  EXPECT_EQ(total(read(sample.file.bytes())), 15 + 16 * kMany);
  EXPECT_THAT(damage(sample.file), HasSubstr("impossibly large"));
  FileBuilder processes;
  for (int32_t pid = 1; pid <= 20; ++pid) processes.process(pid, "p", kMany);
  uint64_t claimed = 0;
  for (const FileProcess& process : read(processes.bytes()).processes) claimed += process.ticks;
  EXPECT_EQ(claimed, 16 * kMany);
}

TEST(Reader, LeavesTimesAndNumbersThatCannotBe) {
  Sample sample;
  FileHeader& header = sample.file.header();
  header.cpu_known = 1;
  header.cpu_user_ns = UINT64_MAX;
  header.ledger.resolved = UINT64_MAX;
  header.runs = pool_take(sample.file.pool(), sizeof(RunRecord) / kUnitBytes);
  sample.file.edit<RunRecord>(header.runs).measured_ticks = UINT64_MAX;
  const FileContents contents = read(sample.file.bytes());
  EXPECT_EQ(contents.header.cpu_known, 0u);
  EXPECT_EQ(contents.header.cpu_user_ns, 0u);
  EXPECT_EQ(contents.header.ledger.resolved, 0u);
  ASSERT_EQ(contents.runs.size(), 1u);
  EXPECT_EQ(contents.runs[0].measured_ticks, 0u);
}

TEST(Reader, LeavesCountsBehindTheTextRange) {
  Sample sample;
  sample.file.edit<SegmentRecord>(sample.segment).bytes = 999;
  EXPECT_EQ(total(read(sample.file.bytes())), 13u);
  EXPECT_THAT(damage(sample.file), HasSubstr("behind the end"));
}

TEST(Reader, AnEventsNameIsPrintableOrUnknown) {
  Sample sample;
  auto event = [&](std::string_view name) {
    memset(sample.file.header().event, 0, sizeof sample.file.header().event);
    memcpy(sample.file.header().event, name.data(), name.size());
    FileContents contents = read(sample.file.bytes());
    return std::string(contents.header.event, strnlen(contents.header.event, sizeof contents.header.event)) +
           (contents.damage.empty() ? "" : "!");
  };
  EXPECT_EQ(event(""), "");
  EXPECT_EQ(event("page-faults"), "page-faults");
  EXPECT_EQ(event("as-wide-as-the-field-is-"), "as-wide-as-the-field-is-");
  EXPECT_EQ(event(std::string_view("cycles\0\x1b[2J", 11)), "cycles");
  for (std::string_view wrong : {"\x1b[2J", "two words", "caf\xc3\xa9", "\x7f", "line\n"})
    EXPECT_EQ(event(wrong), "unknown-events!") << wrong;
  EXPECT_THAT(damage(sample.file), HasSubstr("1 name(s) cannot be read"));
}

TEST(Reader, LeavesUnreadableRecords) {
  Sample sample;
  sample.file.edit<ObjectRecord>(sample.object).build_id_bytes = 33;
  sample.file.edit<StringRecord>(sample.file.edit<ObjectRecord>(sample.object).path).bytes = 0xfffffff0;
  sample.file.edit<ObjectRecord>(sample.other).kind = static_cast<ObjectKind>(99);
  FileContents contents = read(sample.file.bytes());
  EXPECT_EQ(contents.objects.size(), 1u);
  EXPECT_EQ(contents.objects[0].path, "");
  EXPECT_EQ(contents.objects[0].build_id.size(), 0u);
  EXPECT_EQ(total(contents), 10u);
  EXPECT_EQ(contents.damage.size(), 3u);
}

// Half a million segments that all claim nearly the whole pool as their directory: linear time, or
// this never ends.
TEST(Reader, OverlappingDirectoriesCostLinearTime) {
  FileBuilder file(500'000);
  uint32_t object = file.object("x");
  for (int i = 0; i < 200'000; ++i) {
    file.segment(object, 0, 0);
    SegmentRecord& segment = file.edit<SegmentRecord>(file.edit<ObjectRecord>(object).segments);
    segment.bytes = uint64_t{290'000} * kUnitBytes / 4 * 256;
    segment.directory = 200'010 - i % 5;
  }
  file.header().pool.used = 500'000;
  EXPECT_EQ(total(read(file.bytes())), 0u);
}

TEST(Reader, NamesSharedByManyObjectsCostLinearMemory) {
  FileBuilder file(20'000);
  uint32_t name = file.text(std::string(500'000, 'n'));
  for (int i = 0; i < 3000; ++i) file.edit<ObjectRecord>(file.object("")).path = name;
  FileContents contents = read(file.bytes());
  EXPECT_EQ(contents.objects.size(), 3000u);
  EXPECT_THAT(contents.damage, Not(IsEmpty()));
}

TEST(Reader, SurvivesTruncationAnywhere) {
  Sample sample;
  std::vector<unsigned char> bytes = sample.file.bytes();
  for (size_t size = 0; size < bytes.size(); size += kUnitBytes) {
    std::vector<unsigned char> part(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    Result<FileContents> contents = read_file_contents(part);
    EXPECT_EQ(contents.has_value(), size >= kHeaderBytes);
    if (!contents) continue;
    EXPECT_LE(total(*contents), 15u);
    EXPECT_THAT(contents->damage, Not(IsEmpty()));
  }
}

TEST(Reader, SurvivesTenThousandMutants) {
  Sample sample;
  const std::vector<unsigned char> sound = sample.file.bytes();
  std::mt19937 random(1979);
  for (int mutant = 0; mutant < 10'000; ++mutant) {
    std::vector<unsigned char> bytes = sound;
    for (unsigned edits = 1 + random() % 8; edits > 0; --edits) {
      uint32_t value = random() % 2 ? random() : random() % 300;
      size_t at = random() % (bytes.size() / 4) * 4;
      if (at < sizeof kMagic || (random() % 4 && at < 32)) continue;
      memcpy(&bytes[at], &value, random() % 2 ? 4 : 1);
    }
    Result<FileContents> contents = read_file_contents(bytes);
    if (!contents) continue;
    EXPECT_LE(contents->cells.size(), bytes.size() / sizeof(uint64_t));
    EXPECT_LT(total(*contents), kLargestCount << 5);
  }
}

}  // namespace
}  // namespace pctally
