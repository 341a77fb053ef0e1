#include "perf/record.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace pctally {
namespace {

/// Writes records the way the kernel does.
class RecordBytes {
 public:
  RecordBytes(uint32_t type, uint16_t misc) {
    perf_event_header header{type, misc, 0};
    put(header);
  }
  template <class T>
  RecordBytes& put(const T& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  RecordBytes& text(std::string text) {
    text.resize((text.size() / 8 + 1) * 8);
    bytes_.append(text);
    return *this;
  }
  RecordBytes& trailer(uint64_t time) { return put(int32_t{7}).put(int32_t{8}).put(time); }
  PerfRecord parse(bool stack = false) const { return parse_perf_record(data(), bytes_.size(), stack); }
  const unsigned char* data() const { return reinterpret_cast<const unsigned char*>(bytes_.data()); }

 private:
  std::string bytes_;
};

RecordBytes mmap_record(uint16_t misc, uint32_t protection = PROT_READ | PROT_EXEC) {
  RecordBytes record(PERF_RECORD_MMAP2, misc);
  record.put(int32_t{11}).put(int32_t{12}).put(uint64_t{0x7000}).put(uint64_t{0x2000}).put(uint64_t{0x1000});
  if (misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
    record.put(uint8_t{20}).put(uint8_t{0}).put(uint16_t{0});
    for (uint8_t i = 0; i < 20; ++i) record.put(i);
  } else {
    record.put(uint32_t{8}).put(uint32_t{1}).put(uint64_t{4242}).put(uint64_t{0});
  }
  return record.put(protection).put(uint32_t{0}).text("/usr/lib/libx.so").trailer(99);
}

/// A tick in the kernel, with `words` words of its call chain, registers and 16 bytes of stack.
RecordBytes stack_sample(uint64_t words) {
  RecordBytes record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
  record.put(uint64_t{0xffffffff81000000}).put(int32_t{5}).put(int32_t{6}).put(uint64_t{77}).put(words);
  for (uint64_t i = 0; i < std::min<uint64_t>(words, 4); ++i) record.put(0xffffffff81000000 + i);
  record.put(uint64_t{PERF_SAMPLE_REGS_ABI_64});
  for (uint64_t i = 0; i < std::size(kNumberedRegisters); ++i) record.put(100 + i);
  return record.put(uint64_t{16}).put(uint64_t{1}).put(uint64_t{2}).put(uint64_t{8}).trailer(99);
}

TEST(PerfRecords, SampleWithAStack) {
  RecordBytes bytes = stack_sample(4);
  PerfRecord record = bytes.parse(true);
  EXPECT_EQ(record.kind, PerfRecord::Kind::kSample);
  ASSERT_EQ(record.kernel_calls.size(), 2 * sizeof(uint64_t)) << "not the mark of the kernel, nor the pc";
  uint64_t calls[2];
  std::memcpy(calls, record.kernel_calls.data(), sizeof calls);
  EXPECT_EQ(calls[0], 0xffffffff81000002u);
  EXPECT_EQ(calls[1], 0xffffffff81000003u);
  EXPECT_TRUE(record.has_registers);
  for (uint64_t i = 0; i < std::size(kNumberedRegisters); ++i)
    EXPECT_EQ(record.registers[kNumberedRegisters[i].is], 100 + i) << "in the order of their numbers";
  EXPECT_EQ(record.stack.size(), 8u);
  EXPECT_FALSE(record.stack_cut_off);
}

/// Then there may have been more of it.
TEST(PerfRecords, AStackOfAllThatWasAskedForIsCutOff) {
  RecordBytes bytes(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
  bytes.put(uint64_t{1}).put(int32_t{5}).put(int32_t{6}).put(uint64_t{77}).put(uint64_t{0});
  bytes.put(uint64_t{PERF_SAMPLE_REGS_ABI_64});
  for (uint64_t i = 0; i < std::size(kNumberedRegisters); ++i) bytes.put(i);
  bytes.put(uint64_t{16}).put(uint64_t{1}).put(uint64_t{2}).put(uint64_t{16});
  const PerfRecord record = bytes.parse(true);
  EXPECT_EQ(record.stack.size(), 16u);
  EXPECT_TRUE(record.stack_cut_off);
}

TEST(PerfRecords, ThreadsWithoutUserModeAreNotThoseOfAnotherWordSize) {
  for (uint64_t abi : {PERF_SAMPLE_REGS_ABI_NONE, PERF_SAMPLE_REGS_ABI_32}) {
    RecordBytes bytes(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
    bytes.put(uint64_t{1}).put(int32_t{5}).put(int32_t{6}).put(uint64_t{77}).put(uint64_t{0}).put(abi);
    const size_t registers = abi == PERF_SAMPLE_REGS_ABI_NONE ? 0 : std::size(kNumberedRegisters);
    for (uint64_t i = 0; i < registers; ++i) bytes.put(i);
    const PerfRecord record = bytes.put(uint64_t{0}).parse(true);
    EXPECT_EQ(record.kind, PerfRecord::Kind::kSample);
    EXPECT_FALSE(record.has_registers);
    EXPECT_EQ(record.without_user_mode, abi == PERF_SAMPLE_REGS_ABI_NONE);
  }
}

TEST(PerfRecords, SampleWithAStackAndNoCallInTheKernel) {
  for (uint64_t words : {0, 1, 2}) {
    RecordBytes bytes = stack_sample(words);
    PerfRecord record = bytes.parse(true);
    EXPECT_EQ(record.kind, PerfRecord::Kind::kSample);
    EXPECT_TRUE(record.kernel_calls.empty());
    EXPECT_EQ(record.registers[kNumberedRegisters[2].is], 102u);
  }
}

TEST(PerfRecords, AChainLongerThanItsRecordIsNoSample) {
  for (uint64_t words : {uint64_t{1000}, uint64_t{1} << 61, ~uint64_t{0}})
    EXPECT_EQ(stack_sample(words).parse(true).kind, PerfRecord::Kind::kOther) << words;
}

TEST(PerfRecords, Sample) {
  PerfRecord record = RecordBytes(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL)
                          .put(uint64_t{0xffffffff81000000})
                          .put(int32_t{5})
                          .put(int32_t{6})
                          .put(uint64_t{77})
                          .parse();
  EXPECT_EQ(record.kind, PerfRecord::Kind::kSample);
  EXPECT_TRUE(record.kernel);
  EXPECT_EQ(record.pc, 0xffffffff81000000u);
  EXPECT_EQ(record.pid, 5);
  EXPECT_EQ(record.tid, 6);
  EXPECT_EQ(record.time, 77u);
}

// Samples there have the guest's program counter.
TEST(PerfRecords, TicksInAVirtualMachineAreMarked) {
  for (const uint16_t mode : {PERF_RECORD_MISC_KERNEL, PERF_RECORD_MISC_USER, PERF_RECORD_MISC_HYPERVISOR,
                              PERF_RECORD_MISC_GUEST_KERNEL, PERF_RECORD_MISC_GUEST_USER}) {
    RecordBytes bytes(PERF_RECORD_SAMPLE, mode | PERF_RECORD_MISC_EXACT_IP);
    const PerfRecord record =
        bytes.put(uint64_t{0x401000}).put(int32_t{5}).put(int32_t{6}).put(uint64_t{77}).parse();
    EXPECT_EQ(record.kernel, mode == PERF_RECORD_MISC_KERNEL) << mode;
    EXPECT_EQ(record.guest, mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER)
        << mode;
  }
}

// The kernel takes the number of a thread that ends before it takes the process's.
TEST(PerfRecords, AThreadWithoutANumberIsTheMainThread) {
  PerfRecord record = RecordBytes(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL)
                          .put(uint64_t{0xffffffff81000000})
                          .put(int32_t{5})
                          .put(int32_t{-1})
                          .put(uint64_t{77})
                          .parse();
  EXPECT_EQ(record.pid, 5);
  EXPECT_EQ(record.tid, 5);
}

TEST(PerfRecords, MmapWithAndWithoutBuildId) {
  for (uint16_t misc : {0, PERF_RECORD_MISC_MMAP_BUILD_ID}) {
    RecordBytes bytes = mmap_record(misc);
    PerfRecord record = bytes.parse();
    EXPECT_EQ(record.kind, PerfRecord::Kind::kMmap);
    EXPECT_EQ(record.pid, 11);
    EXPECT_EQ(record.start, 0x7000u);
    EXPECT_EQ(record.bytes, 0x2000u);
    EXPECT_EQ(record.offset, 0x1000u);
    EXPECT_TRUE(record.executable);
    EXPECT_EQ(record.text, "/usr/lib/libx.so");
    EXPECT_EQ(record.time, 99u);
    EXPECT_EQ(record.build_id_bytes, misc ? 20u : 0u);
    EXPECT_EQ(record.inode, misc ? 0u : 4242u);
    EXPECT_EQ(record.device, misc ? 0u : uint64_t{8} << 32 | 1);
    EXPECT_FALSE(mmap_record(misc, PROT_READ | PROT_WRITE).parse().executable);
  }
}

TEST(PerfRecords, CommForkExitLostThrottle) {
  RecordBytes comm(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
  comm.put(int32_t{1}).put(int32_t{1}).text("name").trailer(5);
  EXPECT_EQ(comm.parse().kind, PerfRecord::Kind::kComm);
  EXPECT_EQ(comm.parse().text, "name");
  EXPECT_TRUE(comm.parse().exec);
  RecordBytes fork(PERF_RECORD_FORK, 0);
  fork.put(int32_t{20}).put(int32_t{10}).put(int32_t{21}).put(int32_t{11}).put(uint64_t{3}).trailer(3);
  EXPECT_EQ(fork.parse().kind, PerfRecord::Kind::kFork);
  EXPECT_EQ(fork.parse().pid, 20);
  EXPECT_EQ(fork.parse().parent, 10);
  RecordBytes lost(PERF_RECORD_LOST, 0);
  lost.put(uint64_t{1}).put(uint64_t{123}).trailer(4);
  EXPECT_EQ(lost.parse().lost, 123u);
  RecordBytes throttle(PERF_RECORD_THROTTLE, 0);
  throttle.put(uint64_t{1}).put(uint64_t{2}).put(uint64_t{3}).trailer(4);
  EXPECT_EQ(throttle.parse().kind, PerfRecord::Kind::kThrottle);
  EXPECT_EQ(throttle.parse().stream, 3u);

  RecordBytes unthrottle(PERF_RECORD_UNTHROTTLE, 0);
  unthrottle.put(uint64_t{1}).put(uint64_t{2}).put(uint64_t{3}).trailer(4);
  EXPECT_EQ(unthrottle.parse().kind, PerfRecord::Kind::kUnthrottle);
  EXPECT_EQ(unthrottle.parse().stream, 3u);
  EXPECT_EQ(unthrottle.parse().time, 4u);
}

TEST(PerfRecords, ATooShortRecordIsNothing) {
  for (uint16_t misc : {0, PERF_RECORD_MISC_MMAP_BUILD_ID}) {
    RecordBytes whole = mmap_record(misc);
    for (size_t length = 0; length < 72; ++length)
      EXPECT_EQ(parse_perf_record(whole.data(), length).kind, PerfRecord::Kind::kOther) << length;
  }
}

TEST(PerfRecords, TextWithoutAnEndStaysInside) {
  RecordBytes record(PERF_RECORD_COMM, 0);
  record.put(int32_t{1}).put(int32_t{1});
  for (int i = 0; i < 16; ++i) record.put('x');
  record.trailer(1);
  EXPECT_EQ(record.parse().text.size(), 16u);
}

}  // namespace
}  // namespace pctally
