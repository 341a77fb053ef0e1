// A pool in shared memory whose first byte beyond the limit cannot be touched: a store too far ends
// the test program.
#pragma once
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>

#include "tick/cell_tree.h"
#include "tick/ledger.h"

namespace pctally {

/// Zeroed memory that forked processes share with this one.
class SharedMemory {
 public:
  explicit SharedMemory(size_t bytes, int protection = PROT_READ | PROT_WRITE)
      : bytes_(bytes),
        base_(mmap(nullptr, bytes, protection, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (base_ == MAP_FAILED) throw std::bad_alloc();
  }
  SharedMemory(const SharedMemory&) = delete;
  ~SharedMemory() { munmap(base_, bytes_); }

  [[nodiscard]] unsigned char* data() const { return static_cast<unsigned char*>(base_); }

 private:
  size_t bytes_;
  void* base_;
};

class GuardedPool {
 public:
  /// `pages` pages may be used now, up to `most_pages` after grow(). Unit 0 is taken, as in a profile file.
  explicit GuardedPool(size_t pages, size_t most_pages = 4096)
      : head_(sizeof(Head)), memory_((most_pages + 1) * page_bytes(), PROT_NONE) {
    pool_.base = memory_.data();
    pool_.head = &head().pool;
    head().pool.used = 1;
    grow(pages);
  }

  /// As the recorder does: memory first, then the limit.
  void grow(size_t pages) {
    pages_ += pages;
    if (mprotect(memory_.data(), pages_ * page_bytes(), PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    __atomic_store_n(&head().pool.limit, static_cast<uint32_t>(pages_ * page_units()), __ATOMIC_RELEASE);
  }

  [[nodiscard]] uint32_t directory(uint64_t text_bytes) const {
    return pool_take(pool_, static_cast<uint32_t>(directory_units(text_bytes)));
  }

  /// Sum of all cells of a directory, read as another process would: through the slots alone.
  [[nodiscard]] uint64_t sum(uint32_t directory, uint64_t text_bytes) const {
    uint64_t total = 0;
    for (uint64_t slot = 0; slot <= (text_bytes - 1) >> kDirectoryShift; ++slot) {
      uint32_t block = pool_at<uint32_t>(pool_, directory)[slot];
      for (uint32_t line = 0; block != 0 && line < kFanOut; ++line) {
        uint32_t leaf = pool_at<uint32_t>(pool_, block)[line];
        for (uint32_t cell = 0; leaf != 0 && cell < kFanOut; ++cell)
          total += pool_at<uint64_t>(pool_, leaf)[cell];
      }
    }
    return total;
  }

  [[nodiscard]] const Pool& pool() const { return pool_; }
  [[nodiscard]] Ledger& ledger() const { return head().ledger; }
  [[nodiscard]] uint32_t used() const { return __atomic_load_n(&head().pool.used, __ATOMIC_RELAXED); }
  [[nodiscard]] uint32_t limit() const { return __atomic_load_n(&head().pool.limit, __ATOMIC_RELAXED); }

  static size_t page_bytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }
  static size_t page_units() { return page_bytes() / kUnitBytes; }

 private:
  struct Head {
    PoolHead pool;
    Ledger ledger;
  };
  [[nodiscard]] Head& head() const { return *reinterpret_cast<Head*>(head_.data()); }

  SharedMemory head_, memory_;
  size_t pages_ = 0;
  Pool pool_;
};

}  // namespace pctally
