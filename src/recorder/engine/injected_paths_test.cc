#include "recorder/engine/injected_paths.h"

#include <execinfo.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>

#include "clock/tick_path.h"
#include "histfile/fresh_file_for_test.h"
#include "histfile/path_nodes_for_test.h"
#include "process/address_space.h"
#include "tick/context.h"
#include "tick/own_path.h"

#if PCTALLY_FOLLOWS_PATHS

namespace pctally {
namespace {

constexpr uint32_t kSlots = 64;

class InjectedPathsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_find_own_tables()) GTEST_SKIP() << "glibc before 2.35";
    ASSERT_TRUE(add_call_paths(&file(), {}));
    ASSERT_TRUE(add_path_slots(&file(), kSlots));
    space_.map_process(file(), 0);
    own_.slots = path_slots(file());
    own_.process = add_process(file(), getpid(), getppid(), "test", "timer");
    own_.find_tables = find_own_tables;
    table_ = space_.table(file(), own_.process);
    table_.paths = &own_;
    own_.program = find_region(table_, code(), &index_)->segment;
  }

  ProfileFile& file() { return fresh_.file(); }
  [[nodiscard]] PathRecord& paths() { return *call_paths(file()); }
  static uint64_t code() { return reinterpret_cast<uint64_t>(&kill); }
  [[nodiscard]] uint64_t place_of(uint64_t address) {
    uint64_t index = 0;
    const Region* region = find_region(table_, address, &index);
    return region == nullptr ? 0 : PathPlace::code(region->segment, index + region->tree_bias);
  }
  [[nodiscard]] unsigned free_slots() const {
    return static_cast<unsigned>(std::count(own_.slots.states, own_.slots.states + kSlots, 0u));
  }
  [[nodiscard]] std::map<uint32_t, PathNode> context() { return nodes_of(file().pool(), paths().context); }
  /// Ticks below the mark of a cut.
  uint64_t cut(PathEnd end) {
    uint64_t ticks = 0;
    const auto nodes = context();
    const uint64_t mark = PathPlace::mark(PathPlace::kCut, static_cast<uint32_t>(end));
    for (const auto& [number, node] : nodes)
      for (uint32_t at = number; at != 0; at = nodes.at(at).parent)
        if (nodes.at(at).place == mark) ticks += node.self + node.folded;
    return ticks;
  }
  void drain(InjectedPaths* injected) {
    injected->take();
    injected->count([this](uint32_t, uint64_t address) { return place_of(address); });
  }
  /// A ready path of the test's own.
  PathSlot& put(const std::vector<PathSlotFrame>& frames, uint64_t ticks = 1, bool by_table = true) {
    OwnPath path;
    EXPECT_TRUE(open_own_path(own_, ticks, &path));
    PathSlot& slot = own_.slots.slots[path.first];
    std::copy(frames.begin(), frames.end(), slot.frame);
    slot.frames = static_cast<uint32_t>(frames.size());
    path.end = PathEnd::kComplete;
    path.by_table = by_table;
    close_own_path(own_, path);
    return slot;
  }

  FreshFile fresh_;
  AddressSpace space_;
  OwnPaths own_;
  RegionTable table_{};
  uint64_t index_ = 0;
};

/// What libgcc's unwinder finds from the caller's caller on.
[[gnu::noinline]] std::vector<uint64_t> calls_here() {
  void* addresses[512];
  const int count = backtrace(addresses, 512);
  std::vector<uint64_t> calls;
  for (int i = 2; i < count; ++i) calls.push_back(reinterpret_cast<uint64_t>(addresses[i]) - 1);
  return calls;
}

OwnStack stack_of(const ucontext_t& context) {
  OwnStack stack;
  stack.registers = interrupted_registers(&context);
  stack.end = UINT64_MAX;
  return stack;
}

TEST_F(InjectedPathsTest, AThreadFindsOnItsOwnStackWhatLibgccFinds) {
  ucontext_t context{};
  OwnPath path;
  ASSERT_TRUE(open_own_path(own_, 1, &path));
  getcontext(&context);
  const std::vector<uint64_t> expected = calls_here();
  walk_own_stack(table_, stack_of(context), &path);
  EXPECT_EQ(path.end, PathEnd::kComplete);
  EXPECT_TRUE(path.by_table);
  std::vector<uint64_t> places, wanted;
  for (uint32_t index = path.first;; index = own_.slots.slots[index].next - 1) {
    const PathSlot& slot = own_.slots.slots[index];
    for (uint32_t i = 0; i < slot.frames; ++i) places.push_back(slot.frame[i].place);
    if (slot.next == 0) break;
  }
  for (uint64_t address : expected) wanted.push_back(place_of(address));
  ASSERT_FALSE(places.empty());
  EXPECT_EQ(std::vector<uint64_t>(places.begin() + 1, places.end()), wanted);
}

TEST_F(InjectedPathsTest, APathIsCountedOnceAndItsSlotsAreFreeAgain) {
  InjectedPaths injected(&file());
  ucontext_t context{};
  OwnPath path;
  ASSERT_TRUE(open_own_path(own_, 7, &path));
  getcontext(&context);
  walk_own_stack(table_, stack_of(context), &path);
  drain(&injected);
  EXPECT_EQ(ticks_of(file().pool(), paths().context), 0u) << "not ready yet";
  close_own_path(own_, path);
  drain(&injected);
  drain(&injected);
  EXPECT_EQ(ticks_of(file().pool(), paths().context), 7u);
  EXPECT_EQ(free_slots(), kSlots);
}

TEST_F(InjectedPathsTest, AnAddressThatTheProcessDidNotKnowIsPlacedByTheRecorderOrCut) {
  InjectedPaths injected(&file());
  put({{place_of(code()), place_of(code())}}, 0);
  EXPECT_FALSE(injected.take()) << "it has no address to be looked up";
  const uint64_t known = code() | PathSlotFrame::kAddress, unknown = 0x1234000 | PathSlotFrame::kAddress;
  put({{known, known}}, 2);
  put({{known, known}, {unknown, unknown}}, 3);
  put({{known, known}, {unknown, unknown}}, 4, false);
  put({{known, known}, {known + 1, known}, {unknown, unknown}}, 5, false);
  put({{known, known}, {known, known}, {unknown, unknown}}, 6);
  EXPECT_TRUE(injected.take());
  EXPECT_EQ(free_slots(), kSlots) << "before they are looked up";
  drain(&injected);
  EXPECT_EQ(cut(PathEnd::kUnknownMapping), 3u + 5u) << "a table led there";
  EXPECT_EQ(cut(PathEnd::kNoUnwindTable), 4u + 6u) << "a frame pointer did, if it was one";
  uint64_t there = 0;
  for (const auto& [number, node] : context())
    if (node.place == place_of(code())) there += node.self;
  EXPECT_EQ(there, 2u + 3u + 4u + 5u + 6u) << "what lies inside of the cut is kept";
}

TEST_F(InjectedPathsTest, WhatFindsNoSlotIsWithoutRoom) {
  InjectedPaths injected(&file());
  OwnPath path;
  for (uint32_t i = 0; i < kSlots; ++i) ASSERT_TRUE(open_own_path(own_, 1, &path));
  EXPECT_FALSE(open_own_path(own_, 5, &path));
  drain(&injected);
  drain(&injected);
  EXPECT_EQ(cut(PathEnd::kNoRoom), 5u);
  EXPECT_FALSE(open_own_path(own_, 3, &path));
  drain(&injected);
  EXPECT_EQ(cut(PathEnd::kNoRoom), 8u);
}

/// Deep paths take several slots.
TEST_F(InjectedPathsTest, APathGoesOnInItsFurtherSlots) {
  InjectedPaths injected(&file());
  OwnPath further;
  ASSERT_TRUE(open_own_path(own_, 1, &further));
  PathSlot& rest = own_.slots.slots[further.first];
  rest.frame[0] = {place_of(code()) + 1, place_of(code())};
  rest.frames = 1;
  put({{place_of(code()), place_of(code())}}, 7).next = further.first + 1;
  drain(&injected);
  uint64_t below = 0;
  const auto nodes = context();
  for (const auto& [number, node] : nodes)
    if (node.parent != 0 && nodes.at(node.parent).place == place_of(code()) + 1) below += node.self;
  EXPECT_EQ(below, 7u);
  EXPECT_EQ(free_slots(), kSlots);
}

/// As of code that no unwind table covers any more when the recorder comes.
TEST_F(InjectedPathsTest, APlaceOfAnUnknownFunctionIsItsOwn) {
  InjectedPaths injected(&file());
  put({{place_of(code()), 0x1234000 | PathSlotFrame::kAddress}}, 7);
  drain(&injected);
  for (const PathTreeHead* tree : {&paths().context, &paths().plane}) {
    uint64_t there = 0;
    for (const auto& [number, node] : nodes_of(file().pool(), *tree))
      if (node.place == place_of(code())) there += node.self;
    EXPECT_EQ(there, 7u);
  }
}

TEST_F(InjectedPathsTest, SlotsOfAProcessThatDiedHalfWayAreFreedAndThoseOfALivingOneKept) {
  InjectedPaths injected(&file());
  const pid_t child = fork();
  if (child == 0) _exit(0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  OwnPath path;
  ASSERT_TRUE(open_own_path(own_, 1, &path));
  own_.process = add_process(file(), child, getpid(), "dead", "timer");
  ASSERT_TRUE(open_own_path(own_, 1, &path));
  for (int turn = 0; turn < 60; ++turn) drain(&injected);
  EXPECT_EQ(free_slots(), kSlots - 1);
}

/// Its threads may have been in their handlers, and its pid lives on.
TEST_F(InjectedPathsTest, SlotsOfAProcessThatExecutedAnotherProgramAreFreed) {
  InjectedPaths injected(&file());
  OwnPath path;
  ASSERT_TRUE(open_own_path(own_, 1, &path));
  own_.process = add_process(file(), getpid(), getppid(), "next", "timer");
  ASSERT_TRUE(open_own_path(own_, 1, &path));
  for (int turn = 0; turn < 60; ++turn) drain(&injected);
  EXPECT_EQ(free_slots(), kSlots - 1);
  EXPECT_EQ(own_.slots.states[path.first], own_.process) << "that of the program now";
}

/// Programs write the slots. 200 bounded drains of nonsense: the sum is right, and nothing hangs.
TEST_F(InjectedPathsTest, HostileSlotsCostTheirOwnTicksAlone) {
  InjectedPaths injected(&file());
  PathSlot& circle = put({{place_of(code()), place_of(code())}}, 11);
  circle.next = static_cast<uint32_t>(&circle - own_.slots.slots) + 1;
  put({{PathPlace::mark(PathPlace::kScope, 3), 5}}, 13);
  PathSlot& wild = put({{PathPlace::code(0xfffff0, 1), 1}}, 17);
  wild.next = 0xfffffff0;
  wild.frames = 0xfffffff0;
  wild.program = 0xfffffff0;
  wild.end = static_cast<PathEnd>(200);
  put({{place_of(code()), place_of(code())}}, 19).end = static_cast<PathEnd>(200);
  drain(&injected);
  EXPECT_EQ(ticks_of(file().pool(), paths().context), 60u);
  EXPECT_EQ(cut(PathEnd::kDoubtful), 19u);
  EXPECT_EQ(free_slots(), kSlots);
}

/// Each search of one chain within the other took as long as one times the other.
TEST_F(InjectedPathsTest, ChainsThatLeadBackToThemselvesAreWalkedOnceADrain) {
  const Pool pool = file().pool();
  for (uint32_t unit = file().header().objects; unit != 0;) {
    auto* object = pool_at<ObjectRecord>(pool, unit);
    pool_at<SegmentRecord>(pool, object->segments)->next = object->segments;
    const uint32_t next = object->next;
    if (next == 0) object->next = file().header().objects;
    unit = next;
  }
  InjectedPaths injected(&file());
  for (uint32_t program = 1; program <= 20; ++program)
    put({{place_of(code()), place_of(code())}}).program = 1'000'000 + program;
  drain(&injected);
  put({{place_of(code()), place_of(code())}});
  drain(&injected);
  EXPECT_EQ(ticks_of(pool, paths().context), 21u);
}

}  // namespace
}  // namespace pctally

#endif
