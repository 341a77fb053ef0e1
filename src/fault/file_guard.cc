#include "fault/file_guard.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>

#include "fault/fault_guard.h"

namespace pctally {
namespace {

uintptr_t g_start = 0;  ///< of the guarded memory; 0: none
size_t g_bytes = 0;

/// True if the fault was the guarded file's; it will not come again. Replaces all of the file at once: with
/// parts of it left, the account could no longer be balanced.
bool replace_cut_file(siginfo_t* info, void*) noexcept {
  if (info->si_signo != SIGBUS) return false;
  const uintptr_t start = __atomic_load_n(&g_start, __ATOMIC_ACQUIRE);
  if (start == 0 || reinterpret_cast<uintptr_t>(info->si_addr) - start >= g_bytes) return false;
  const int before = errno;
  void* memory = mmap(reinterpret_cast<void*>(start), g_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  errno = before;
  if (memory == MAP_FAILED) return false;
  __atomic_store_n(&static_cast<FileHeader*>(memory)->ended, 1, __ATOMIC_RELEASE);
  return true;
}

}  // namespace

Status guard_file(const ProfileFile& file) noexcept {
  unguard_file();
  claim_faults_first(replace_cut_file);
  g_bytes = file.mapping().size();
  __atomic_store_n(&g_start, reinterpret_cast<uintptr_t>(file.mapping().data()), __ATOMIC_RELEASE);
  return install_fault_guard_unless_ignored(SIGBUS);
}

void unguard_file() noexcept { __atomic_store_n(&g_start, 0, __ATOMIC_RELEASE); }

}  // namespace pctally
