#include "clock/own_process.h"

#include <sys/mman.h>
#include <unistd.h>

#include "clock/thread_hook.h"

namespace pctally {
namespace {

pid_t g_owner = 0;  ///< 0: no clock ran yet

pid_t g_claimed_by = 0;
char* g_claim = nullptr;  ///< not 0 in that process

}  // namespace

void note_own_process() noexcept { __atomic_store_n(&g_owner, getpid(), __ATOMIC_RELAXED); }

bool runs_in_lent_memory() noexcept {
  const pid_t owner = __atomic_load_n(&g_owner, __ATOMIC_RELAXED);
  return owner != 0 && !has_seccomp_filter() && getpid() != owner;
}

void claim_memory() noexcept {
  if (g_claim == nullptr) g_claim = page_cleared_in_children();
  if (g_claim != nullptr) *g_claim = 1;
  g_claimed_by = getpid();
}

Memory memory_here() noexcept {
  if (has_seccomp_filter()) return Memory::kOwn;
  if (g_claim != nullptr && *g_claim == 0) return Memory::kCopied;
  if (g_claimed_by == getpid()) return Memory::kOwn;
  return g_claim != nullptr || runs_in_lent_memory() ? Memory::kLent : Memory::kOwn;
}

char* page_cleared_in_children() noexcept {
  constexpr size_t kBytes = 4096;
  void* page = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (madvise(page, kBytes, MADV_WIPEONFORK) == 0) return static_cast<char*>(page);
  munmap(page, kBytes);
  return nullptr;
}

}  // namespace pctally
