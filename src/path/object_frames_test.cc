#include "path/object_frames.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "path/elf_file_for_test.h"
#include "process/proc_maps.h"

#if PCTALLY_FOLLOWS_PATHS

namespace pctally {
namespace {

/// aarch64: the vdso has no tables.
bool has_tables(const std::string& path) { return !kReturnsInRegister || path != "[vdso]"; }

/// The first row above `position` is the end of its rule.
const UnwindRow& row_at(const std::vector<UnwindRow>& rows, uint64_t position) {
  const auto after = std::upper_bound(rows.begin(), rows.end(), position,
                                      [](uint64_t at, const UnwindRow& row) { return at < row.position; });
  return *std::prev(after);
}

template <class Visit>
void visit_mappings(Visit&& visit) {
  ProcMaps(0).visit([&](const ExecutableMapping& mapping) {
    if (mapping.object.kind != ObjectKind::kPrivate) visit(mapping);
  });
}

/// The objects that are mapped here, and what of them.
template <class Visit>
void visit_objects(Visit&& visit) {
  visit_mappings([&](const ExecutableMapping& mapping) {
    const bool is_vdso = mapping.object.kind == ObjectKind::kVdso;
    visit(*ObjectFrames::open(mapping.object), is_vdso ? 0 : mapping.file_offset, mapping.end - mapping.start,
          std::string(mapping.object.path));
  });
}

TEST(ObjectFrames, RowsSayWhatFindSays) {
  size_t objects = 0;
  visit_objects([&](const ObjectFrames& frames, uint64_t start, uint64_t bytes, const std::string& path) {
    const std::vector<UnwindRow> rows = *frames.rows();
    ASSERT_EQ(rows.empty(), !has_tables(path)) << path;
    if (rows.empty()) return;
    ++objects;
    size_t wrong = 0;
    const auto compare = [&](uint64_t position) {
      CfiFunction found;
      if (position < start || position >= start + bytes) return;
      (void)frames.find(position, &found);
      wrong += row_at(rows, position).rule == found.rule ? 0 : 1;
    };
    for (uint64_t at = start; at < start + bytes; at += 61) compare(at);
    for (size_t i = 0; i < rows.size(); i += 1 + rows.size() / 20000) {
      compare(rows[i].position);
      if (rows[i].position != 0) compare(rows[i].position - 1);
    }
    EXPECT_EQ(wrong, 0u) << path;
    EXPECT_GT(rows.size(), path == "[vdso]" ? 10u : 50u) << path;
  });
  EXPECT_GE(objects, 5u) << "libc, libstdc++, libm, ld.so, this program";
}

TEST(ObjectFrames, RowsAscendAndNeighboursDiffer) {
  visit_objects([](const ObjectFrames& frames, uint64_t, uint64_t, const std::string& path) {
    const std::vector<UnwindRow> rows = *frames.rows();
    for (size_t i = 1; i < rows.size(); ++i) {
      ASSERT_LT(rows[i - 1].position, rows[i].position) << path;
      ASSERT_FALSE(rows[i - 1].rule == rows[i].rule) << path;
    }
  });
}

/// This program without its PT_GNU_EH_FRAME, as the linker leaves it of static ones.
std::string without_header(const std::string& program) {
  std::ifstream file(program, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  Elf64_Ehdr header;
  memcpy(&header, bytes.data(), sizeof header);
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    auto* segment = reinterpret_cast<Elf64_Phdr*>(bytes.data() + header.e_phoff) + i;
    if (segment->p_type == PT_GNU_EH_FRAME) segment->p_type = PT_NULL;
  }
  return bytes;
}

TEST(ObjectFrames, WithoutAHeaderTheRulesAreTheSame) {
  size_t compared = 0;
  visit_mappings([&](const ExecutableMapping& mapping) {
    if (std::string(mapping.object.path) != std::filesystem::read_symlink("/proc/self/exe")) return;
    const std::string copy = testing::TempDir() + "no_eh_frame_hdr." + std::to_string(getpid());
    std::ofstream(copy, std::ios::binary) << without_header(std::string(mapping.object.path));
    ObjectIdentity identity = mapping.object;
    identity.path = copy;
    const auto whole = ObjectFrames::open(mapping.object), bare = ObjectFrames::open(identity);
    std::filesystem::remove(copy);
    size_t wrong = 0;
    for (uint64_t at = mapping.file_offset; at < mapping.file_offset + (mapping.end - mapping.start);
         at += 7) {
      CfiFunction one, other;
      wrong += whole->find(at, &one) == bare->find(at, &other) && one.rule == other.rule ? 0 : 1;
      compared += one.rule.cfa == CfaKind::kStack ? 1 : 0;
    }
    EXPECT_EQ(wrong, 0u);
  });
  EXPECT_GT(compared, 1000u);
}

/// As SBCL maps its core, a file of its own or the end of an executable.
TEST(ObjectFrames, CodeThatNoLoaderMapsIsBelieved) {
  const std::string path = testing::TempDir() + "core." + std::to_string(getpid());
  const std::string program = without_header(std::filesystem::read_symlink("/proc/self/exe"));
  for (const std::string& before : {std::string(), program}) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << before << std::string(1 << 16, '\0');
    const auto frames = ObjectFrames::open(identity_at(path));
    EXPECT_EQ(frames->returns_to(before.size() + 4096), ReturnsTo::kCaller);
    const auto is_doubtful = [&frames](uint64_t at) { return frames->returns_to(at) == ReturnsTo::kNoCall; };
    size_t doubtful = 0;
    for (uint64_t at = 0; at < before.size(); at += 61) doubtful += is_doubtful(at) ? 1 : 0;
    EXPECT_EQ(doubtful > 1000, !before.empty());
  }
  std::filesystem::remove(path);
}

#if defined(__x86_64__)
TEST(ObjectFrames, ALargeFrameHasARule) {
  ElfFile file;
  const uint64_t cie = file.put_cie("zR", {0x1b}),
                 fde = file.put_fde(cie, 0x100, 0x40, {0x0e, 0x90, 0xe0, 0x12});  // CFA = rsp + 307216
  file.put_header({{0x100, fde}});
  const auto frames = ObjectFrames::open(file.write());
  CfiFunction found;
  ASSERT_TRUE(frames->find(0x110, &found));
  EXPECT_EQ(found.rule.cfa, CfaKind::kStack);
  EXPECT_EQ(found.rule.far_words(), 38402);
  EXPECT_TRUE(row_at(*frames->rows(), 0x110).rule == found.rule);
}

/// An entry that is longer than its function, and one that starts before what the table says of it.
TEST(ObjectFrames, RowsOfEntriesThatOverlapSayWhatFindSays) {
  ElfFile file;
  const uint64_t cie = file.put_cie("zR", {0x1b}), longer = file.put_fde(cie, 0x100, 0x60, {0x0e, 16}),
                 early = file.put_fde(cie, 0x120, 0x20, {0x0e, 24, 0x48, 0x0e, 32}),
                 last = file.put_fde(cie, 0x150, 0x20, {0x0e, 40});
  file.put_header({{0x100, longer}, {0x124, early}, {0x160, last}});
  const auto frames = ObjectFrames::open(file.write());
  const std::vector<UnwindRow> rows = *frames->rows();
  for (uint64_t position = 0xf0; position < 0x180; ++position) {
    CfiFunction found;
    (void)frames->find(position, &found);
    EXPECT_EQ(row_at(rows, position).rule, found.rule) << position;
  }
}

/// As of glibc's vfork: CFA = rsp, return address in rdi.
TEST(ObjectFrames, AReturnAddressMayBeInARegister) {
  ElfFile file;
  const uint64_t cie = file.put_cie("zR", {0x1b}), rdi = file.put_fde(cie, 0x100, 0x40, {0x0e, 0, 9, 16, 5}),
                 rdx = file.put_fde(cie, 0x140, 0x40, {0x0e, 0, 9, 16, 1});
  file.put_header({{0x100, rdi}, {0x140, rdx}});
  const auto frames = ObjectFrames::open(file.write());
  CfiFunction found;
  ASSERT_TRUE(frames->find(0x110, &found));
  EXPECT_EQ(found.rule, (UnwindRule{.cfa = CfaKind::kLink}));
  EXPECT_EQ(row_at(*frames->rows(), 0x110).rule, found.rule);
  ASSERT_TRUE(frames->find(0x150, &found));
  EXPECT_EQ(found.rule.cfa, CfaKind::kUnsupported) << "rdx is not known";
}

/// glibc's clone: [0x100, 0x110) up to the system call, then ten bytes without an entry, then the child.
class CloneTest : public testing::Test {
 protected:
  static constexpr uint64_t kClone = 0x100, kReturn = 0x110, kChild = 0x11a, kCaller = 0x200;

  CloneTest() {
    const unsigned char call[] = {0xe8, 0xfb, 0xfe, 0xff, 0xff};
    file_.put(kReturn, code_, sizeof code_);
    file_.put(kCaller, call, sizeof call);
  }
  void open() {
    const uint64_t cie = file_.put_cie("zR", {0x1b}), clone = file_.put_fde(cie, kClone, 0x10, before_),
                   child = file_.put_fde(cie, kChild, 0x10, child_),
                   caller = file_.put_fde(cie, kCaller, 0x10);
    file_.put_header({{kClone, clone}, {kChild, child}, {kCaller, caller}});
    frames_ = ObjectFrames::open(file_.write());
  }
  CfaKind kind_at(uint64_t position) {
    CfiFunction found;
    (void)frames_->find(position, &found);
    EXPECT_EQ(row_at(*frames_->rows(), position).rule, found.rule) << position;
    return found.rule.cfa;
  }

  ElfFile file_;
  std::unique_ptr<ObjectFrames> frames_;
  unsigned char code_[10] = {0x0f, 0x05, 0x48, 0x85, 0xc0, 0x7c, 0x20, 0x74, 0x01, 0xc3};
  std::vector<unsigned char> before_, child_ = {7, 16};  // the return address is undefined
};

TEST_F(CloneTest, TheReturnsOfCloneHaveACallerIfItCallsThem) {
  open();
  for (uint64_t position = kReturn; position < kChild; ++position)
    EXPECT_EQ(kind_at(position), CfaKind::kCalled) << position;
  EXPECT_EQ(kind_at(kReturn - 1), CfaKind::kStack);
  EXPECT_EQ(kind_at(kChild), CfaKind::kEnd);
  EXPECT_TRUE(frames_->is_call_of(kCaller + 5, kReturn + 2));
  EXPECT_FALSE(frames_->is_call_of(kCaller + 4, kReturn + 2));
  EXPECT_FALSE(frames_->is_call_of(kCaller + 5, kCaller)) << "another function";
}

TEST_F(CloneTest, OtherCodeBetweenEntriesHasNoRule) {
  file_.put(kReturn + 9, uint8_t{0x90});
  open();
  EXPECT_EQ(kind_at(kReturn + 2), CfaKind::kNone);
}

TEST_F(CloneTest, WhereItIsNoChildThatFollowsThereIsNoRule) {
  child_ = {};
  open();
  EXPECT_EQ(kind_at(kReturn + 2), CfaKind::kNone);
}

TEST_F(CloneTest, WhereSomethingIsOnTheStackThereIsNoRule) {
  before_ = {0x0e, 16};
  open();
  EXPECT_EQ(kind_at(kReturn + 2), CfaKind::kNone);
}

#else
/// The machine's own frame around what a handler interrupted has no table, and a PLT has none.
TEST(ObjectFrames, CodeWithoutATableIsKnownByItsInstructions) {
  size_t trampolines = 0, stubs = 0;
  visit_objects([&](const ObjectFrames& frames, uint64_t start, uint64_t bytes, const std::string& path) {
    for (uint64_t at = start; at < start + bytes; at += 4) {
      CfiFunction found;
      UnwindRule rule;
      if (!frames.find_by_code(at, &rule)) continue;
      EXPECT_FALSE(frames.find(at, &found)) << path << "+" << at;
      trampolines += frames.has_trampoline(at) == true ? 1 : 0;
      stubs += rule.cfa == CfaKind::kStack ? 1 : 0;
    }
  });
  EXPECT_GE(trampolines, 1u) << "the vdso's";
  EXPECT_GT(stubs, 1000u);
}
#endif

TEST(ObjectFrames, WithoutTablesThereAreNoRows) {
  ElfFile file;
  EXPECT_TRUE(ObjectFrames::open(file.write())->rows()->empty());
}

}  // namespace
}  // namespace pctally
#endif
