#include "path/unwinder.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <ucontext.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <vector>

#include "base/kernel/device_number.h"
#include "histfile/fresh_file_for_test.h"
#include "histfile/path_nodes_for_test.h"
#include "path/path_recorder.h"
#include "path/process_code_for_test.h"
#include "tick/context.h"

#if PCTALLY_FOLLOWS_PATHS

namespace pctally {
namespace {

uint64_t end_of_stack(uint64_t inside) {
  FILE* maps = fopen("/proc/self/maps", "re");
  uint64_t low = 0, high = 0, end = inside;
  char line[512];
  while (maps != nullptr && fgets(line, sizeof line, maps) != nullptr)
    if (sscanf(line, "%lx-%lx", &low, &high) == 2 && low <= inside && inside < high) end = high;
  if (maps != nullptr) fclose(maps);
  return end;
}

class UnwinderTest : public testing::Test {
 public:
  UnwinderTest() : code_(&fresh_.file(), &unwinder_) {}

  /// Unwinds from here, of a copy of `most` bytes of the stack, and compares with what
  /// libgcc's unwinder finds.
  __attribute__((noinline)) void compare_with_backtrace(size_t most = SIZE_MAX) {
    ucontext_t context{};
    getcontext(&context);
    void* addresses[512];
    const int count = backtrace(addresses, 512);
    StackSample sample;
    sample.registers = interrupted_registers(&context);
    const uint64_t end = end_of_stack(sample.registers.stack);
    const size_t bytes = std::min<size_t>(most, end - sample.registers.stack);
    sample.cut_off = bytes == most && !as_words_;
    const auto* stack = reinterpret_cast<const unsigned char*>(sample.registers.stack);
    const std::vector<unsigned char> copy(stack, stack + bytes);
    std::vector<uint64_t> words;
    if (as_words_) {
      for (size_t at = 0; at + 64 <= bytes; at += 64) {
        words.push_back((sample.registers.stack + at) | 7);
        words.insert(words.end(), reinterpret_cast<const uint64_t*>(copy.data() + at),
                     reinterpret_cast<const uint64_t*>(copy.data() + at) + 8);
      }
      sample.chunks = words;
    } else {
      sample.stack = copy;
    }
    sample.attempted = true;
    frames.clear();
    end_ = unwinder_.unwind(code_, sample, &frames);
    expected.clear();
    for (int i = 1; i < count; ++i) {  // the first is this function, at another pc
      CodeAddress address;
      ASSERT_TRUE(code_.find(reinterpret_cast<uint64_t>(addresses[i]) - 1, &address));
      expected.push_back(PathPlace::code(address.segment, address.index));
    }
  }

  /// The places of the calls, without the innermost frame.
  [[nodiscard]] std::vector<uint64_t> calls() const {
    std::vector<uint64_t> places;
    for (size_t i = 1; i < frames.size(); ++i) places.push_back(frames[i].place);
    return places;
  }

  FreshFile fresh_;
  Unwinder unwinder_;
  ProcessCode code_;
  std::vector<PathFrame> frames;
  std::vector<uint64_t> expected;
  PathEnd end_ = PathEnd::kNotAttempted;
  bool as_words_ = false;  ///< the copy is handed over as chunks of words

  static UnwinderTest* running;
};
UnwinderTest* UnwinderTest::running = nullptr;

TEST_F(UnwinderTest, FindsWhatLibgccFinds) {
  compare_with_backtrace();
  EXPECT_EQ(end_, PathEnd::kComplete);
  EXPECT_EQ(calls(), expected);
  EXPECT_GT(frames.size(), 5u);
}

__attribute__((noinline)) int recurse(int depth, const std::function<void()>& at_end) {
  if (depth == 0) {
    at_end();
    return 1;
  }
  return recurse(depth - 1, at_end) + 1;
}

TEST_F(UnwinderTest, ThroughRecursionAndFramesOfVaryingSize) {
  const auto grow = [this](size_t bytes) {
    auto* memory = static_cast<volatile char*>(alloca(bytes));
    memory[bytes - 1] = 1;
    compare_with_backtrace();
  };
  recurse(50, [&] { grow(5000); });
  EXPECT_EQ(end_, PathEnd::kComplete);
  EXPECT_EQ(calls(), expected);
  EXPECT_GT(frames.size(), 52u);
}

TEST_F(UnwinderTest, ThroughCodeOfLibc) {
  running = this;
  int numbers[] = {3, 1, 2};
  qsort(numbers, 3, sizeof numbers[0], [](const void* a, const void* b) {
    running->compare_with_backtrace();
    return *static_cast<const int*>(a) - *static_cast<const int*>(b);
  });
  EXPECT_EQ(end_, PathEnd::kComplete);
  EXPECT_EQ(calls(), expected);
}

TEST_F(UnwinderTest, ThroughASignalHandler) {
  running = this;
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) { running->compare_with_backtrace(); };
  sigaction(SIGUSR1, &action, &before);
  raise(SIGUSR1);
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_EQ(end_, PathEnd::kComplete);
  // libgcc gives the interrupted pc itself, and the test takes one off: that frame differs by one.
  ASSERT_EQ(calls().size(), expected.size());
  size_t different = 0;
  for (size_t i = 0; i < expected.size(); ++i) different += calls()[i] != expected[i] ? 1 : 0;
  EXPECT_EQ(different, 1u);
}

TEST_F(UnwinderTest, WhatAHandlerOnAnotherStackInterruptedIsTheLastFrame) {
  running = this;
  constexpr size_t kStack = 64 << 10, kCopied = 16 << 10;
  std::vector<char> memory(kStack + kCopied);  // what follows a stack may be copied with it
  const stack_t other{memory.data(), 0, kStack};
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) { running->compare_with_backtrace(kCopied); };
  action.sa_flags = SA_ONSTACK;
  ASSERT_EQ(sigaltstack(&other, nullptr), 0);
  sigaction(SIGUSR1, &action, &before);
  raise(SIGUSR1);
  sigaction(SIGUSR1, &before, nullptr);
  sigaltstack(&none, nullptr);
  EXPECT_EQ(end_, PathEnd::kUnreadable) << "a larger copy would not have it either";
  EXPECT_EQ(frames.size(), 4u) << "this, the handler, the kernel's frame, raise()";
}

TEST_F(UnwinderTest, ACopyThatIsTooShortCutsThePathThere) {
  recurse(50, [this] { compare_with_backtrace(1024); });
  EXPECT_EQ(end_, PathEnd::kShortDump);
  ASSERT_LT(calls().size(), expected.size());
  EXPECT_EQ(calls(), std::vector<uint64_t>(expected.begin(),
                                           expected.begin() + static_cast<ptrdiff_t>(calls().size())))
      << "what is known is right";
}

TEST_F(UnwinderTest, WordsOfAStackAreAsGoodAsTheStack) {
  as_words_ = true;
  recurse(50, [this] { compare_with_backtrace(); });
  EXPECT_EQ(end_, PathEnd::kComplete);
  EXPECT_EQ(calls(), expected);
}

TEST_F(UnwinderTest, AWordThatIsNotThereCutsThePath) {
  as_words_ = true;
  recurse(50, [this] { compare_with_backtrace(2048); });
  EXPECT_EQ(end_, PathEnd::kUnreadable) << "nobody says that the stack was cut off";
  ASSERT_LT(calls().size(), expected.size());
  EXPECT_EQ(calls(), std::vector<uint64_t>(expected.begin(),
                                           expected.begin() + static_cast<ptrdiff_t>(calls().size())));
}

/// Whose tables are the other's.
TEST(IdentityKey, IsEqualForEqualObjectsAlone) {
  const uint8_t id[20] = {1, 2, 3};
  ObjectIdentity object{};
  object.kind = ObjectKind::kFile;
  object.path = "/bin/a";
  const std::string key = identity_key(object);
  EXPECT_EQ(identity_key(object), key);
  for (uint64_t ObjectIdentity::*field :
       {&ObjectIdentity::device, &ObjectIdentity::inode, &ObjectIdentity::time_unix_ns}) {
    ObjectIdentity other = object;
    other.*field = 7;
    EXPECT_NE(identity_key(other), key);
  }
  object.build_id = id;
  object.build_id_bytes = sizeof id;
  EXPECT_NE(identity_key(object), key);
}

TEST(StackChunks, AreReadInAnyOrderAndNotBehindTheirEnd) {
  const uint64_t words[] = {0x1000 | 1, 10, 11, 0x2000, 20, 0x1010 | 7, 12};
  StackChunks chunks(words);
  uint64_t value = 0;
  for (const auto& [address, expected] : {std::pair{0x2000, 20}, {0x1008, 11}, {0x1000, 10}, {0x2000, 20}}) {
    EXPECT_TRUE(chunks.read(static_cast<uint64_t>(address), &value));
    EXPECT_EQ(value, static_cast<uint64_t>(expected));
  }
  for (const uint64_t address : {0x1010, 0x1018, 0x2008, 0x1004, 0xff8})
    EXPECT_FALSE(chunks.read(address, &value));
}

TEST(StackChunks, BytesMayReachOverWords) {
  const uint64_t words[] = {0x1000 | 1, 0x0706050403020100, 0x0f0e0d0c0b0a0908};
  StackChunks chunks(words);
  unsigned char bytes[5];
  ASSERT_TRUE(chunks.read(0x1006, bytes));
  for (unsigned i = 0; i < sizeof bytes; ++i) EXPECT_EQ(bytes[i], 6 + i);
  EXPECT_FALSE(chunks.read(0x100c, bytes));
}

/// Code that is not written again, so that paths may be remembered.
class LastingCode : public ProcessCode {
 public:
  using ProcessCode::ProcessCode;
  uint64_t version() override { return 1; }
};

class PathRecorderTest : public testing::Test {
 protected:
  PathRecorderTest() { EXPECT_TRUE(add_call_paths(&fresh_.file(), {})); }

  /// Counts a tick in the kernel twice, called from here; with `most` words of the stack.
  void count_twice(size_t most) {
    PathRecorder recorder(&fresh_.file());
    LastingCode code(&fresh_.file(), &recorder);
    ucontext_t context{};
    getcontext(&context);
    StackSample sample;
    sample.attempted = true;
    sample.registers = interrupted_registers(&context);
    const auto* stack = reinterpret_cast<const uint64_t*>(sample.registers.stack);
    const uint64_t end = end_of_stack(sample.registers.stack);
    for (size_t i = 0; i < most && reinterpret_cast<uint64_t>(stack + i + 8) <= end; i += 8) {
      words_.push_back(reinterpret_cast<uint64_t>(stack + i) | 7);
      words_.insert(words_.end(), stack + i, stack + i + 8);
    }
    sample.chunks = words_;
    const CodeAddress calls[] = {{1, 7}};
    for (size_t& nodes : nodes_) {
      recorder.count(1, code, sample, {.code = {1, 5}, .kernel = true, .kernel_calls = calls});
      nodes = nodes_of(fresh_.file().pool(), call_paths(fresh_.file())->context).size();
    }
  }

  [[nodiscard]] bool has(uint64_t place) {
    const auto nodes = nodes_of(fresh_.file().pool(), call_paths(fresh_.file())->context);
    return std::ranges::any_of(nodes, [&](const auto& node) { return node.second.place == place; });
  }

  FreshFile fresh_;
  std::vector<uint64_t> words_;
  size_t nodes_[2] = {};
};

TEST_F(PathRecorderTest, APathThatIsRememberedIsTheSame) {
  count_twice(SIZE_MAX);
  EXPECT_TRUE(has(PathPlace::code(1, 5)) && has(PathPlace::code(1, 7))) << "the kernel's";
  EXPECT_GT(nodes_[0], 5u);
  EXPECT_EQ(nodes_[1], nodes_[0]);
}

TEST_F(PathRecorderTest, APathThatWasCutIsCutTheNextTimeToo) {
  count_twice(64);
  EXPECT_EQ(nodes_[1], nodes_[0]);
}

TEST_F(PathRecorderTest, ATickWithoutAStackHasItsPlace) {
  PathRecorder recorder(&fresh_.file());
  LastingCode code(&fresh_.file(), &recorder);
  recorder.count(1, code, StackSample{}, {.code = {1, 5}});
  EXPECT_TRUE(has(PathPlace::code(1, 5)));
}

TEST_F(UnwinderTest, DeeperThanTheLimitIsACutWithItsReason) {
  recurse(10000, [this] { compare_with_backtrace(); });
  EXPECT_EQ(end_, PathEnd::kTooDeep);
  EXPECT_EQ(frames.size(), kMostFrames);
}

TEST_F(UnwinderTest, AThreadWithoutUserCodeHasNoPath) {
  EXPECT_EQ(unwinder_.unwind(code_, StackSample{}, &frames), PathEnd::kNotAttempted);
  EXPECT_TRUE(frames.empty());
}

TEST_F(UnwinderTest, AReturnAddressThatNoCallPrecedesIsACut) {
  // A stack with the address of a function, where no call ends, in place of a return address.
  uint64_t words[64] = {};
  StackSample sample;
  sample.attempted = true;
  CodeAddress address;
  const auto pc = reinterpret_cast<uint64_t>(&recurse);
  ASSERT_TRUE(code_.find(pc, &address));
  const uint64_t back = words[0] = reinterpret_cast<uint64_t>(&qsort) + 1;
  // At its first byte the return address is on top, or in x30
  sample.registers = {.pc = pc, .stack = 0x1000, .base = back};
  sample.stack = {reinterpret_cast<const unsigned char*>(words), sizeof words};
  EXPECT_EQ(unwinder_.unwind(code_, sample, &frames), PathEnd::kDoubtful);
  EXPECT_EQ(frames.size(), 1u);
}

#if defined(__x86_64__)
/// Code of libc at one address and code that nobody added at another.
class LibcAndJit : public CodeSpace {
 public:
  static constexpr uint64_t kLibc = 0x10000000, kJit = 0x20000000;
  bool find(uint64_t address, CodeAddress* found) override {
    const uint64_t start = address < kJit ? kLibc : kJit;
    *found = {start == kLibc ? 1u : 2u, address - start};
    return address >= kLibc;
  }
};

/// clone(2) comes back in the child with the address of a JIT's code on the stack.
TEST(Unwinder, CodeThatWasNeverAddedHasNoTables) {
  ObjectIdentity libc;
  Dl_info info;
  ASSERT_NE(dladdr(reinterpret_cast<void*>(&qsort), &info), 0);
  libc.path = info.dli_fname;
  struct stat status;
  ASSERT_EQ(stat(info.dli_fname, &status), 0);
  libc.inode = status.st_ino;
  libc.device = device_number(status.st_dev);
  std::ifstream file(info.dli_fname, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  const std::string way_back = {"\x0f\x05\x48\x85\xc0\x7c", 6};  // syscall; test %rax, %rax; jl
  const size_t clone = bytes.find(way_back);
  if (clone == std::string::npos) GTEST_SKIP() << "another clone(2)";
  Unwinder unwinder;
  unwinder.add_segment(1, 0, libc);
  const uint64_t words[4] = {LibcAndJit::kJit + 0x100};
  StackSample sample;
  sample.registers.pc = LibcAndJit::kLibc + clone + 2;
  sample.registers.stack = 0x7000;
  sample.stack = {reinterpret_cast<const unsigned char*>(words), sizeof words};
  sample.attempted = true;
  LibcAndJit code;
  std::vector<PathFrame> frames;
  (void)unwinder.unwind(code, sample, &frames);
  EXPECT_EQ(unwinder.frames_of(2), nullptr);
}
#endif

}  // namespace
}  // namespace pctally
#endif
