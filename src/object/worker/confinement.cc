#include "object/worker/confinement.h"

#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <iterator>
#include <limits>

#include "base/sanitizer.h"

namespace pctally {
namespace {

constexpr uid_t kNobody = 65534;
constexpr rlim_t kMostMemory = rlim_t{4} << 30;
constexpr rlim_t kMostSeconds = 20;

#if defined(__x86_64__)
#define CONFINES_ON AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define CONFINES_ON AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define CONFINES_ON AUDIT_ARCH_RISCV64
#endif

#ifdef CONFINES_ON
constexpr uint32_t kMachine = CONFINES_ON;

/// The offset of the lower half of one argument.
constexpr uint32_t argument(unsigned number) {
  return static_cast<uint32_t>(offsetof(seccomp_data, args) + sizeof(uint64_t) * number);
}

constexpr int kAllowed[] = {
    SYS_read,         SYS_readv,         SYS_pread64,     SYS_recvfrom, SYS_recvmsg,      SYS_sendmsg,
    SYS_ppoll,        SYS_fstat,         SYS_newfstatat,  SYS_lseek,    SYS_close,        SYS_munmap,
    SYS_mremap,       SYS_madvise,       SYS_brk,         SYS_futex,    SYS_getpid,       SYS_gettid,
    SYS_geteuid,      SYS_clock_gettime, SYS_getrandom,   SYS_sysinfo,  SYS_rt_sigaction, SYS_rt_sigprocmask,
    SYS_rt_sigreturn, SYS_sigaltstack,   SYS_sched_yield, SYS_exit,     SYS_exit_group,
#ifdef SYS_poll
    SYS_poll,
#endif
};

/// Allowed without PROT_EXEC.
constexpr int kMapping[] = {SYS_mmap, SYS_mprotect};

/// All others fail with EPERM; another machine's calls end the process.
bool filter_calls() noexcept {
  constexpr size_t kMost = 4 + 2 * std::size(kAllowed) + 5 * std::size(kMapping) + 1;
  sock_filter program[kMost];
  unsigned short length = 0;
  auto add = [&](sock_filter step) { program[length++] = step; };
  add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)));
  add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kMachine, 1, 0));
  add(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
  for (int call : kAllowed) {
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 1));
    add(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  for (int call : kMapping) {
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 4));
    add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument(2)));
    add(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1));
    add(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
    add(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  add(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  const sock_fprog filter{length, program};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}

#else
bool filter_calls() noexcept { return false; }  // not written for this machine
#endif

bool limit(int resource, rlim_t most) noexcept {
  const rlimit both{most, most};
  rlimit now{};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &now) == 0 && now.rlim_max < most) return true;
  return setrlimit(static_cast<__rlimit_resource>(resource), &both) == 0;
}

bool limit_all() noexcept {
  // A sanitized process has mapped more than any limit.
  return limit(RLIMIT_CORE, 0) && limit(RLIMIT_FSIZE, 0) && limit(RLIMIT_CPU, kMostSeconds) &&
         (kSanitized || limit(RLIMIT_AS, kMostMemory));
}

/// Root without capabilities, as a recorder is in the end, cannot become another; it has no rights but root's
/// files, and opens none.
bool drop_rights() noexcept {
  if (geteuid() == 0) {
    (void)setgroups(0, nullptr);
    if (setresgid(kNobody, kNobody, kNobody) != 0 && errno != EPERM) return false;
    if (setresuid(kNobody, kNobody, kNobody) != 0 && errno != EPERM) return false;
  }
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2] = {};
  return syscall(SYS_capset, &header, none) == 0 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 &&
         prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

bool close_others(int kept) noexcept {
  const auto fd = static_cast<unsigned>(kept);
  return (fd == 0 || syscall(SYS_close_range, 0u, fd - 1, 0u) == 0) &&
         syscall(SYS_close_range, fd + 1, std::numeric_limits<unsigned>::max(), 0u) == 0;
}

}  // namespace

bool confine(int kept) noexcept {
  return close_others(kept) && limit_all() && drop_rights() && filter_calls();
}

}  // namespace pctally
