#include "clock/own_process.h"

#include <unistd.h>

#include "clock/thread_hook.h"

namespace pctally {
namespace {

pid_t g_owner = 0;  ///< 0: no clock ran yet

}  // namespace

void note_own_process() noexcept { __atomic_store_n(&g_owner, getpid(), __ATOMIC_RELAXED); }

bool runs_in_lent_memory() noexcept {
  const pid_t owner = __atomic_load_n(&g_owner, __ATOMIC_RELAXED);
  return owner != 0 && !has_seccomp_filter() && getpid() != owner;
}

}  // namespace pctally
