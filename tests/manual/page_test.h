// What the tests of all manual pages share: ticks by hand, memory with guard pages, code that burns CPU time.
#pragma once
#include <gtest/gtest.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <thread>
#include <type_traits>
#include <vector>

#include "pctally/pctally.h"
#include "tests/manual/turns.h"

namespace pctally::manual {

constexpr uintptr_t kText = 0x400000;  ///< no code of the test lies there: only forged ticks do

inline void tick_at(uintptr_t pc, uint64_t weight = 1) { pctally_count(reinterpret_cast<void*>(pc), weight); }

inline void* text(uintptr_t distance = 0) { return reinterpret_cast<void*>(kText + distance); }

/// No clock unless a test asks for it: every tick is then known.
class Page : public testing::Test {
 protected:
  void SetUp() override { setenv("PCTALLY_ENGINE", "manual", 1); }
  static void use_clock() { unsetenv("PCTALLY_ENGINE"); }
};

/// Memory between two pages that nobody may touch, its end flush with the second.
class Fenced {
 public:
  explicit Fenced(size_t bytes) : pages_((bytes + page() - 1) / page() * page()) {
    base_ =
        static_cast<char*>(mmap(nullptr, pages_ + 2 * page(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base_ + page(), pages_, PROT_READ | PROT_WRITE);
    start_ = base_ + page() + pages_ - bytes;
  }
  ~Fenced() { munmap(base_, pages_ + 2 * page()); }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;

  template <class Cell>
  [[nodiscard]] Cell* as() const {
    return reinterpret_cast<Cell*>(start_);
  }
  void protect(int protection) const { mprotect(base_ + page(), pages_, protection); }
  void unmap() const { munmap(base_ + page(), pages_); }

 private:
  static size_t page() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

  size_t pages_;
  char* base_;
  char* start_;
};

/// A function to find: aligned, so that it has counters of its own; runs for so much CPU time of its thread.
[[gnu::noinline, gnu::aligned(4096)]] inline uint64_t burn(uint64_t ns) {
  Turns turns(ns);
  volatile uint64_t work = 0;
  while (turns.next())
    for (int i = 0; i < 200000; ++i) work = work + 1;
  return work;
}

/// Where a function's code starts: a function pointer of big-endian ppc64 points to a descriptor.
template <class Address, class Function>
Address text_of(Function* function) {
  auto at = reinterpret_cast<uintptr_t>(function);
#if defined(__powerpc64__) && (!defined(_CALL_ELF) || _CALL_ELF == 1)
  at = *reinterpret_cast<uintptr_t*>(at);
#endif
  if constexpr (std::is_pointer_v<Address>)
    return reinterpret_cast<Address>(at);
  else
    return static_cast<Address>(at);
}

constexpr uint64_t kBurnBytes = 2048;  ///< of its text, at most, in any build

/// Runs `body` in a child and returns its exit status; -signal if it died.
template <class Body>
int in_child(Body body) {
  pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

template <class Cells>
uint64_t sum(const Cells& cells) {
  uint64_t total = 0;
  for (auto cell : cells) total += cell;
  return total;
}

/// Burns until the sum of `cells` has grown by `ticks`, for three seconds of CPU time at most. What it has
/// grown by. In slices that are long enough to sleep (see Turns).
template <class Cells>
uint64_t burn_for_ticks(const Cells& cells, uint64_t ticks) {
  const uint64_t before = sum(cells);
  for (int slice = 0; slice < 150 && sum(cells) < before + ticks; ++slice) burn(20'000'000);
  return sum(cells) - before;
}

}  // namespace pctally::manual
