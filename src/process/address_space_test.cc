#include "process/address_space.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <thread>

#include "base/kernel/proc_file.h"
#include "histfile/fresh_file_for_test.h"
#include "process/deferred_resolver.h"
#include "process/proc_maps.h"
#include "tick/tick.h"

namespace pctally {
namespace {

class AddressSpaceTest : public testing::Test {
 protected:
  static ObjectIdentity object(const char* path) {
    ObjectIdentity identity;
    identity.path = path;
    return identity;
  }
  /// The position counted for pc in the object's own numbering, or -1.
  int64_t position(AddressSpace& space, uint64_t pc) {
    RegionTable table = space.table(file_, 0);
    uint64_t index = 0;
    const Region* region = find_region(table, pc, &index);
    if (region == nullptr) return -1;
    for (uint32_t unit = file_.header().objects; unit != 0;) {
      const auto* record = pool_at<ObjectRecord>(file_.pool(), unit);
      for (uint32_t at = record->segments; at != 0;) {
        const auto* segment = pool_at<SegmentRecord>(file_.pool(), at);
        if (segment->directory == region->directory)
          return static_cast<int64_t>(segment->start + region->tree_bias + index);
        at = segment->next;
      }
      unit = record->next;
    }
    return -1;
  }

  FreshFile fresh_{{.deferred = true}};
  ProfileFile& file_ = fresh_.file();
};

TEST_F(AddressSpaceTest, PositionsAreFileOffsets) {
  AddressSpace space;
  ASSERT_TRUE(space.map(file_, 0x401000, 0x403000, 0x1000, object("/a")));
  EXPECT_EQ(position(space, 0x401000), 0x1000);
  EXPECT_EQ(position(space, 0x402fff), 0x2fff);
  EXPECT_EQ(position(space, 0x403000), -1);
  EXPECT_EQ(position(space, 0x400fff), -1);
}

TEST_F(AddressSpaceTest, WhatWaitsTakesNothingUntilItHasASegment) {
  AddressSpace space;
  const uint32_t used = file_.header().pool.used;
  ASSERT_TRUE(space.map_later(file_, 0x401000, 0x403000, 0x1000, 7, {}));
  EXPECT_EQ(file_.header().pool.used, used);
  EXPECT_EQ(space.waiting_at(0x403000).object, 0u);
  const WaitingText text = space.waiting_at(0x402000);
  EXPECT_EQ(text.object, 7u);
  EXPECT_EQ(text.range.start, 0u);
  EXPECT_EQ(text.range.bytes, 0x10000u);
  EXPECT_EQ(tick(space.table(file_, 0), 0x402000, 1), TickOutcome::kFull);
  const uint32_t segment =
      find_or_add_segment(file_, find_or_add_object(file_, object("/a")), text.range.start, text.range.bytes);
  space.give_segment(file_, 0x402000, segment, text.range);
  EXPECT_EQ(position(space, 0x401000), 0x1000);
  EXPECT_EQ(position(space, 0x402fff), 0x2fff);
  EXPECT_EQ(space.waiting_at(0x402000).object, 0u);
}

TEST_F(AddressSpaceTest, WhatWaitsIsReplacedByAnotherFileOnly) {
  AddressSpace space;
  const uint32_t segment = find_or_add_segment(file_, find_or_add_object(file_, object("/a")), 0, 0x10000);
  ASSERT_TRUE(space.map_later(file_, 0x401000, 0x403000, 0x1000, 7, {}));
  ASSERT_TRUE(space.map_later(file_, 0x401000, 0x403000, 0x1000, 7, {}));
  EXPECT_EQ(space.replacements(), 0u);
  space.give_segment(file_, 0x402000, segment, {0, 0x10000});
  ASSERT_TRUE(space.map_later(file_, 0x401000, 0x403000, 0x1000, 7, {&segment, 1}));
  EXPECT_EQ(space.replacements(), 0u) << "its segment is known";
  ASSERT_TRUE(space.map_later(file_, 0x401000, 0x403000, 0x2000, 7, {&segment, 1}));
  EXPECT_EQ(space.replacements(), 1u) << "another part of it";
  ASSERT_TRUE(space.map_later(file_, 0x401000, 0x403000, 0x2000, 8, {}));
  EXPECT_EQ(space.replacements(), 2u) << "another file";
}

TEST_F(AddressSpaceTest, ASegmentHasAPartOfWhatIsVeryLong) {
  constexpr uint64_t kMost = uint64_t{4} << 20, kStart = uint64_t{1} << 40;
  AddressSpace space;
  ASSERT_TRUE(space.map_later(file_, kStart, kStart + 16 * kMost, 0x1000, 7, {}));
  const uint64_t pc = kStart + 3 * kMost + 5;
  const WaitingText text = space.waiting_at(pc);
  EXPECT_EQ(text.range.start, 3 * kMost);
  EXPECT_EQ(text.range.bytes, kMost);
  const uint32_t segment =
      find_or_add_segment(file_, find_or_add_object(file_, object("/a")), text.range.start, text.range.bytes);
  space.give_segment(file_, pc, segment, text.range);
  EXPECT_EQ(space.size(), 3u);
  EXPECT_EQ(position(space, pc), static_cast<int64_t>(3 * kMost + 0x1005));
  EXPECT_EQ(position(space, kStart + 3 * kMost - 0x1000), static_cast<int64_t>(3 * kMost));
  EXPECT_EQ(position(space, kStart + 4 * kMost - 0x1001), static_cast<int64_t>(4 * kMost - 1));
  for (uint64_t other :
       {kStart, kStart + 3 * kMost - 0x1001, kStart + 4 * kMost - 0x1000, kStart + 16 * kMost - 1})
    EXPECT_EQ(space.waiting_at(other).object, 7u) << std::hex << other;
}

/// The texts of a program with 200 libraries need more than a new file has. What the program leaves to the
/// recorder it finds there later.
TEST_F(AddressSpaceTest, AProgramLeavesTheLastOfTheRoomToItsTicks) {
  constexpr uint64_t kText = 8 << 20, kFirst = uint64_t{1} << 32;
  auto joined = ProfileFile::join(fresh_.path().c_str(), file_.recording_id().text);
  ASSERT_TRUE(joined);
  AddressSpace space, of_recorder;
  std::vector<std::string> left;
  uint64_t low = kFirst;
  for (unsigned i = 0; i < 64; ++i, low += 2 * kText) {
    const std::string path = "/lib" + std::to_string(i);
    if (space.map(*joined, low, low + kText, 0, object(path.c_str())) == 0) left.push_back(path);
  }
  ASSERT_GT(left.size(), 10u);
  const PoolHead& head = file_.header().pool;
  EXPECT_GT((head.limit - head.used) * kUnitBytes, 200u << 10);
  EXPECT_NE(add_process(*joined, 1, 0, "x", "timer"), 0u);
  EXPECT_NE(of_recorder.map(file_, low, low + kText, 0, object(left[0].c_str())), 0u);
  EXPECT_NE(space.map(*joined, low, low + kText, 0, object(left[0].c_str())), 0u);
}

TEST_F(AddressSpaceTest, ANewMappingCutsOlderOnes) {
  AddressSpace space;
  ASSERT_TRUE(space.map(file_, 0x10000, 0x20000, 0, object("/a")));
  ASSERT_TRUE(space.map(file_, 0x14000, 0x18000, 0x5000, object("/b")));
  EXPECT_EQ(space.size(), 3u);
  EXPECT_EQ(position(space, 0x13fff), 0x3fff);
  EXPECT_EQ(position(space, 0x14000), 0x5000);
  EXPECT_EQ(position(space, 0x18000), 0x8000);
  ASSERT_TRUE(space.map(file_, 0x0, 0x30000, 0, object("/c")));
  EXPECT_EQ(space.size(), 1u);
}

TEST_F(AddressSpaceTest, AgreesWithAMapOfBytes) {
  // Random mappings over a small range against a byte-by-byte model.
  AddressSpace space;
  std::map<uint64_t, int64_t> model;
  uint64_t state = 7;
  auto next = [&](uint64_t limit) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % limit;
  };
  file_.make_room(20000);
  for (int i = 0; i < 60; ++i) {
    uint64_t start = next(4000), bytes = 1 + next(1500), offset = next(8) * 512;
    ASSERT_TRUE(space.map(file_, start, start + bytes, offset, object("/x")));
    for (uint64_t j = 0; j < bytes; ++j) model[start + j] = static_cast<int64_t>(offset + j);
  }
  for (uint64_t pc = 0; pc < 6000; ++pc)
    EXPECT_EQ(position(space, pc), model.contains(pc) ? model[pc] : -1) << pc;
}

TEST_F(AddressSpaceTest, AWindowIsTheGapAroundThePc) {
  AddressSpace space;
  ASSERT_TRUE(space.map(file_, 0x10000, 0x11000, 0, object("/a")));
  ASSERT_TRUE(space.map_window(file_, 0x18000, private_object(42)));
  EXPECT_EQ(position(space, 0x18000), 0x18000);
  EXPECT_EQ(position(space, 0x11000), 0x11000);
  EXPECT_EQ(position(space, 0x10fff), 0xfff);
  EXPECT_EQ(position(space, 0x1ffff), 0x1ffff);
  EXPECT_EQ(position(space, 0x20000), -1);
}

TEST_F(AddressSpaceTest, OwnMappingsAreThoseOfProc) {
  AddressSpace space;
  ASSERT_TRUE(space.map_process(file_, 0));
  // A function's address may be that of its descriptor; where it returns to is text everywhere.
  EXPECT_GT(position(space, reinterpret_cast<uintptr_t>(__builtin_return_address(0))), 0);
  int local = 0;
  EXPECT_EQ(position(space, reinterpret_cast<uintptr_t>(&local)), -1);
}

TEST_F(AddressSpaceTest, BuildIdsAreReadFromMemory) {
  unsigned with_build_id = 0;
  ProcMaps maps(0);
  ASSERT_TRUE(maps.visit([&](const ExecutableMapping& mapping) {
    if (mapping.object.kind == ObjectKind::kFile && mapping.object.build_id_bytes == 20) ++with_build_id;
  }));
  EXPECT_GE(with_build_id, 1u) << "libc at least has one";
}

TEST_F(AddressSpaceTest, APathMayHoldAnEndOfLine) {
  FreshFile fresh;
  const std::string path = fresh.beside("two\nlines\n");
  std::filesystem::copy_file("/proc/self/exe", path);
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  constexpr size_t kBytes = 4096;
  void* code = mmap(nullptr, kBytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd.get(), 0);
  ASSERT_NE(code, MAP_FAILED);
  std::string found;
  ProcMaps maps(0);
  maps.visit([&](const ExecutableMapping& mapping) {
    if (mapping.start == reinterpret_cast<uintptr_t>(code)) found = mapping.object.path;
  });
  munmap(code, kBytes);
  EXPECT_EQ(found, path);
}

TEST_F(AddressSpaceTest, DeferredTicksAreResolvedOnceTheirMappingIsKnown) {
  void* code = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(code, MAP_FAILED);
  // Not the stack, which some machines can execute, and far from the code, whose window is 64 KiB.
  constexpr size_t kData = 256 << 10;
  void* data = mmap(nullptr, kData, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(data, MAP_FAILED);
  uintptr_t no_code = reinterpret_cast<uintptr_t>(data) + kData / 2;
  RegionTable nothing{};
  nothing.ledger = &file_.header().ledger;
  nothing.deferred = file_.deferred();
  nothing.deferred_capacity = kDeferredSlots;
  for (uint64_t i = 0; i < 2000; ++i) tick(nothing, reinterpret_cast<uintptr_t>(code) + i % 64, 2);
  tick(nothing, no_code, 5);  // the ring is full by then: outside at once
  const Ledger& ledger = file_.header().ledger;
  EXPECT_EQ(ledger.deferred, 2 * kDeferredSlots);
  KnownProcess self;
  ResolverState state;
  DeferredTick deferred;
  while (take_deferred(&file_, &state, false, &deferred)) resolve_tick(&file_, &self, deferred);
  EXPECT_EQ(ledger.counted, 2 * kDeferredSlots);
  EXPECT_EQ(ledger.resolved, ledger.deferred);
  EXPECT_EQ(ledger.counted + ledger.outside, 4005u);
  tick(nothing, no_code, 5);
  self.fresh = false;
  while (take_deferred(&file_, &state, false, &deferred)) resolve_tick(&file_, &self, deferred);
  EXPECT_EQ(ledger.counted + ledger.outside, 4010u);
  EXPECT_EQ(ledger.counted, 2 * kDeferredSlots) << "data is not code";
  munmap(data, kData);
  munmap(code, 4096);
}

TEST_F(AddressSpaceTest, AWriterThatDiedHalfWayCostsOneTickNotTheRing) {
  DeferredRing* ring = file_.deferred();
  ring->claimed = 1;  // claimed, never finished
  ResolverState state;
  DeferredTick deferred;
  EXPECT_FALSE(take_deferred(&file_, &state, false, &deferred));
  EXPECT_EQ(ring->drained, 0u) << "it may just be slow";
  for (int turn = 0; turn < 60; ++turn) EXPECT_FALSE(take_deferred(&file_, &state, false, &deferred));
  EXPECT_EQ(ring->drained, 1u);
  EXPECT_EQ(file_.header().ledger.lost, 0u) << "booked as deferred before, and reported once";
}

/// In a child: ends the main thread, and says by `ready` when the kernel knows.
void end_main_thread(int ready) {
  std::thread([ready] {
    ProcStat stat;
    while (read_proc_stat(0, &stat) && stat.state != 'Z') sched_yield();
    size_t found = 0;
    const bool read = ProcMaps(0).visit([&found](const ExecutableMapping& mapping) {
      if (mapping.object.build_id_bytes != 0) ++found;
    });
    const char answer = read && found > 0 ? 'y' : 'n';
    (void)!write(ready, &answer, 1);
    pause();
  }).detach();
  syscall(SYS_exit, 0);  // pthread_exit(3) would leave the test by an exception
}

// The files of the process are empty then: /proc/PID/maps as well as /proc/PID/mem.
TEST(ProcMapsTest, AProcessWhoseMainThreadHasEndedIsReadAllTheSame) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) end_main_thread(ready[1]);
  char answer = 0;
  ASSERT_EQ(read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y') << "by itself";
  size_t found = 0;
  EXPECT_TRUE(ProcMaps(child).visit([&found](const ExecutableMapping& mapping) {
    if (mapping.object.build_id_bytes != 0) ++found;
  }));
  EXPECT_GT(found, 0u) << "by another";
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace pctally
