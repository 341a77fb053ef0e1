// A vector for bytes of other people's stacks and registers: core dumps leave its memory out, and nothing of
// it is left anywhere when it grows or ends.
#pragma once
#include <stddef.h>
#include <sys/mman.h>

#include <new>
#include <vector>

namespace pctally {

/// Mappings of their own. The kernel clears their pages before anybody gets them again.
template <class T>
struct UndumpedAllocator {
  using value_type = T;

  UndumpedAllocator() = default;
  template <class Other>
  UndumpedAllocator(const UndumpedAllocator<Other>&) noexcept {}

  T* allocate(size_t count) {
    const size_t bytes = count * sizeof(T);
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    madvise(memory, bytes, MADV_DONTDUMP);
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t count) noexcept { munmap(memory, count * sizeof(T)); }

  template <class Other>
  bool operator==(const UndumpedAllocator<Other>&) const noexcept {
    return true;
  }
};

template <class T>
using UndumpedVector = std::vector<T, UndumpedAllocator<T>>;

}  // namespace pctally
