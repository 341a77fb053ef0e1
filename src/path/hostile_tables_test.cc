// Files whose unwind tables were made to cost their reader much time or memory.
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include "path/elf_file_for_test.h"
#include "path/unwinder.h"

#if defined(__x86_64__)

namespace pctally {
namespace {

constexpr unsigned char kAdvanceOne = 0x41;

/// The rule at a position: of find(), and of the rows, which have to say the same.
UnwindRule rule_at(const ObjectFrames& frames, uint64_t position) {
  CfiFunction found;
  (void)frames.find(position, &found);
  const auto rows = frames.rows();
  UnwindRule of_rows;
  for (const UnwindRow& row : *rows)
    if (row.position <= position) of_rows = row.rule;
  EXPECT_TRUE(of_rows == found.rule) << position;
  return found.rule;
}

TEST(HostileTables, MadeUpFilesAreReadAsOthers) {
  ElfFile file;
  const uint64_t cie = file.put_cie("zR", {0x1b}), fde = file.put_fde(cie, 0x100, 0x40);
  file.put_header({{0x100, fde}});
  const auto frames = ObjectFrames::open(file.write());
  EXPECT_EQ(rule_at(*frames, 0x110).cfa, CfaKind::kStack);
  EXPECT_EQ(rule_at(*frames, 0x140).cfa, CfaKind::kNone);
}

TEST(HostileTables, OneLongEntryThatEveryFunctionHasIsTooMuchWork) {
  ElfFile file;
  const uint64_t cie = file.put_cie("zR", {0x1b}, std::vector<unsigned char>(32700)),
                 fde = file.put_fde(cie, 0x100, 0x40);
  std::vector<ElfFile::Entry> entries;
  for (uint64_t i = 0; i < 100'000; ++i) entries.push_back({0x100 + i, fde});
  file.put_header(entries);
  EXPECT_FALSE(ObjectFrames::open(file.write())->rows());
}

TEST(HostileTables, IntervalsThatHaveToBeSortedAreBounded) {
  for (const bool in_order : {true, false}) {
    ElfFile file;
    if (!in_order) file.put_segments_out_of_order();
    const uint64_t cie = file.put_cie("zR", {0x1b}),
                   fde = file.put_fde(cie, 0x100, 40'000, std::vector<unsigned char>(32'000, kAdvanceOne));
    std::vector<ElfFile::Entry> entries;
    for (uint64_t i = 0; i < 500; ++i) entries.push_back({i % 2 == 0 ? 0x100 : 0x9000u, fde});
    file.put_header(entries);
    EXPECT_FALSE(ObjectFrames::open(file.write(100'000))->rows()) << in_order;
  }
}

/// A table of Go of functions that share one record.
TEST(HostileTables, OneRecordThatEveryFunctionOfGoHasIsTooMuchWork) {
  constexpr uint32_t kFunctions = 200, kBytes = 30'000, kNames = 72, kRuns = 80;
  ElfFile file;
  file.put(file.size(), uint64_t{0});
  file.add_section(".go.buildinfo", file.size() - 8);
  const uint64_t at = (file.size() + 31) & ~uint64_t{31};
  const std::vector<unsigned char> run(2 * kBytes, 1);  // each a byte long, and one less than before
  const uint64_t pairs = kRuns + 1 + run.size() + 7, record = kFunctions * 8 + 4;
  const uint64_t header[] = {0x0801'0000'ffff'fff0, kFunctions, 0, 0x100, kNames, 0, 0, kRuns, pairs};
  file.put(at, header);
  file.put(at + kRuns + 1, run.data(), run.size());
  for (uint32_t i = 0; i <= kFunctions; ++i) {
    file.put(at + pairs + i * 8, i * kBytes);
    if (i < kFunctions) file.put(at + pairs + i * 8 + 4, static_cast<uint32_t>(record));
  }
  const uint32_t words[12] = {0, 0, 0, 0, 1};
  file.put(at + pairs + record, words);
  file.add_section(".gopclntab", at);
  const auto frames = ObjectFrames::open(file.write(kFunctions * kBytes));
  CfiFunction found;
  EXPECT_TRUE(frames->find(0x100, &found)) << "the table itself is sound";
  EXPECT_FALSE(frames->rows());
}

TEST(HostileTables, AnEntryThatCannotBeReadIsNoGuess) {
  ElfFile file;
  const uint64_t cie = file.put_cie("zR", {0x1b}), fde = file.put_fde(cie, 0x100, 0x40);
  file.put_header({{0x100, fde}, {0x140, fde + 1}, {0x180, cie}});
  const auto frames = ObjectFrames::open(file.write());
  EXPECT_EQ(rule_at(*frames, 0x110).cfa, CfaKind::kStack);
  for (const uint64_t position : {0x140, 0x17f, 0x190})
    EXPECT_EQ(rule_at(*frames, position).cfa, CfaKind::kUnsupported) << position;
}

TEST(HostileTables, LettersThatAreNotKnownAreSteppedOverIfTheyAreTheLast) {
  ElfFile file;
  const uint64_t cie = file.put_cie("zRG", {0x1b, 1, 2, 3}), fde = file.put_fde(cie, 0x100, 0x40);
  const uint64_t many = file.put_cie("zR" + std::string(1 << 20, 'S'), {0x1b}),
                 other = file.put_fde(many, 0x140, 0x40);
  file.put_header({{0x100, fde}, {0x140, other}});
  const auto frames = ObjectFrames::open(file.write());
  EXPECT_EQ(rule_at(*frames, 0x110).cfa, CfaKind::kStack);
  EXPECT_EQ(rule_at(*frames, 0x150).cfa, CfaKind::kUnsupported) << "no compiler writes so many";
  ElfFile before;
  const uint64_t signal = before.put_cie("zXRS", {0x1b, 0x1b}),
                 of_signal = before.put_fde(signal, 0x100, 0x40);
  before.put_header({{0x100, of_signal}});
  EXPECT_EQ(rule_at(*ObjectFrames::open(before.write()), 0x110).cfa, CfaKind::kUnsupported);
}

TEST(HostileTables, OfTablesThatAreTooLargeTheFirstPartIsRead) {
  constexpr uint64_t kHole = 70 << 20;
  ElfFile file;
  const uint64_t cie = file.put_cie("zR", {0x1b}), fde = file.put_fde(cie, 0x100, 0x40);
  file.put_header({{0x100, fde}, {0x140, kHole}});
  const auto frames = ObjectFrames::open(file.write(kHole));
  EXPECT_EQ(rule_at(*frames, 0x110).cfa, CfaKind::kStack);
  EXPECT_EQ(rule_at(*frames, 0x150).cfa, CfaKind::kUnsupported);
}

TEST(HostileTables, MemoryOfAllIsBoundedAndWhatIsNeededIsReadAgain) {
  constexpr uint64_t kMost = 100'000, kHole = 40'000;
  ElfFile files[3];
  Unwinder unwinder(kMost);
  for (uint32_t i = 0; i < 3; ++i) {
    const uint64_t cie = files[i].put_cie("zR", {0x1b}), fde = files[i].put_fde(cie, 0x100, 0x40);
    files[i].put_header({{0x100, fde}});
    unwinder.add_segment(i + 1, 0, files[i].write(kHole));
  }
  const ObjectFrames* frames[3];
  const auto held = [&] {
    uint64_t bytes = 0;
    for (const ObjectFrames* of_one : frames) bytes += of_one->bytes();
    return bytes;
  };
  for (uint32_t i = 0; i < 3; ++i) frames[i] = unwinder.frames_of(i + 1);
  EXPECT_TRUE(frames[0]->is_dropped()) << "not used for longest";
  EXPECT_FALSE(frames[0]->rows()) << "nothing is known of it, not that it has no tables";
  for (uint32_t turn = 0; turn < 9; ++turn) {
    ASSERT_EQ(unwinder.frames_of(turn % 3 + 1), frames[turn % 3]);
    EXPECT_EQ(rule_at(*frames[turn % 3], 0x110).cfa, CfaKind::kStack);
    EXPECT_LT(held(), kMost);
  }
}

/// What may be a watchdog or a tape has to be left alone.
TEST(HostileTables, WhatIsNoFileIsNotOpened) {
  const std::string path = testing::TempDir() + "no_file." + std::to_string(getpid());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const UniqueFd events(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  ASSERT_GE(inotify_add_watch(events.get(), path.c_str(), IN_OPEN), 0);
  const auto opened = [&events] {
    char buffer[4096];
    return ::read(events.get(), buffer, sizeof buffer) > 0;
  };
  ObjectIdentity identity{};
  identity.kind = ObjectKind::kFile;
  identity.path = path;
  (void)ObjectFrames::open(identity);
  EXPECT_FALSE(opened());
  const UniqueFd ours(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  EXPECT_TRUE(opened()) << "it would have been seen";
  std::filesystem::remove(path);
}

/// Of a file that is not the one that was mapped nothing is believed, not that it has no tables either.
CfaKind kind_in(const ObjectIdentity& identity) {
  const auto frames = ObjectFrames::open(identity);
  CfiFunction found;
  EXPECT_TRUE(frames->find(0x110, &found));
  const bool is_read = found.rule.cfa != CfaKind::kUnread;
  EXPECT_EQ(frames->rows()->at(0).rule.cfa == CfaKind::kUnsupported, !is_read);
  return found.rule.cfa;
}

TEST(HostileTables, AFileWithoutABuildIdIsNotTheOneThatHadOne) {
  ElfFile file;
  const uint64_t cie = file.put_cie("zR", {0x1b}), fde = file.put_fde(cie, 0x100, 0x40);
  file.put_header({{0x100, fde}});
  ObjectIdentity identity = file.write();
  const uint8_t id[20] = {1, 2, 3};
  identity.build_id = id;
  identity.build_id_bytes = sizeof id;
  EXPECT_NE(kind_in(identity), CfaKind::kUnread) << "the inode says that it is the same";
  identity.device += 1;
  EXPECT_EQ(kind_in(identity), CfaKind::kUnread) << "on another device";
  identity.device -= 1;
  identity.inode = 0;
  EXPECT_EQ(kind_in(identity), CfaKind::kUnread);
}

/// As patchelf leaves it. The kernel finds it from 6.12 on, and tells no inode then.
TEST(HostileTables, ABuildIdBehindTheFirstPageIsFound) {
  const std::vector<unsigned char> id(20, 7);
  ElfFile file;
  const uint64_t cie = file.put_cie("zR", {0x1b}), fde = file.put_fde(cie, 0x100, 0x40);
  file.put_build_id(id);
  file.put_header({{0x100, fde}});
  ObjectIdentity identity = file.write();
  identity.build_id = id.data();
  identity.build_id_bytes = static_cast<uint32_t>(id.size());
  identity.inode = 0;
  EXPECT_NE(kind_in(identity), CfaKind::kUnread);
  const std::vector<unsigned char> other(20, 8);
  identity.build_id = other.data();
  EXPECT_EQ(kind_in(identity), CfaKind::kUnread);
}

}  // namespace
}  // namespace pctally
#endif
